//! Matrix instructions (manuals: CDNA "Matrix Arithmetic Instructions" with its register layouts; RDNA 3 and
//! 4 "Wave Matrix Multiply Accumulate"). Factors are whole numbers whose sums are exact in every order.

use crate::convert::Small;
use crate::harness::{Case, generation};
use crate::numbers::{BF16, F16, Random};
use softgpu::isa::testing::State;

/// What factors are made of.
#[derive(Clone, Copy)]
enum Element {
    F32,
    F16,
    Bf16,
    Eight(Small),
    /// Width, signed.
    Int(u32, bool),
}

impl Element {
    fn bits(self) -> u32 {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::Eight(_) => 8,
            Element::Int(bits, _) => bits,
        }
    }

    /// A number and its code.
    fn random(self, random: &mut Random) -> (f64, u32) {
        // Sixteen products of these and a sum below 128 fit even bfloat16's eight digits.
        let small = random.below(5) as f64 - 2.0;
        match self {
            Element::F32 => (small, (small as f32).to_bits()),
            Element::F16 => (small, F16.encode(small)),
            Element::Bf16 => (small, BF16.encode(small)),
            Element::Eight(format) => (small, format.encode(small) as u32),
            Element::Int(bits, signed) => {
                let code = random.next() as u32 & ((1 << bits) - 1);
                let negative = signed && code >> (bits - 1) == 1;
                (
                    f64::from(code) - if negative { f64::from(1 << bits) } else { 0.0 },
                    code,
                )
            }
        }
    }
}

/// What sums are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sum {
    F32,
    F16,
    Bf16,
    I32,
}

impl Sum {
    fn random(self, random: &mut Random) -> (f64, u32) {
        let small = random.below(41) as f64 - 20.0;
        match self {
            Sum::F32 => (small, (small as f32).to_bits()),
            Sum::F16 => (small, F16.encode(small)),
            Sum::Bf16 => (small, BF16.encode(small)),
            Sum::I32 => {
                let v = random.next() as u32;
                (f64::from(v as i32), v)
            }
        }
    }

    fn encode(self, v: f64, clamp: bool) -> u32 {
        match self {
            Sum::F32 => (v as f32).to_bits(),
            Sum::F16 => F16.encode(v),
            Sum::Bf16 => BF16.encode(v),
            Sum::I32 if clamp => v.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32,
            Sum::I32 => v as i64 as u32,
        }
    }
}

/// Places of one kind of instruction's elements: register (from the operand's first), bit and lanes.
struct Layout {
    n: usize,
    k: usize,
    blocks: usize,
    a: Element,
    b: Element,
    sum: Sum,
    /// Register and first bit, and the lanes that hold element (block, row, k).
    factor: fn(&Layout, usize, usize, usize, u32) -> (usize, u32, Vec<usize>),
    /// Register, first bit and lane of result (block, row, column).
    result: fn(&Layout, usize, usize, usize) -> (usize, u32, usize),
    clamp: bool,
}

/// First registers of D, A, B and C.
type Registers = [usize; 4];

fn set(s: &mut State, r: usize, first: u32, bits: u32, lane: usize, v: u32) {
    let mask = if bits == 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    };
    s.v[r][lane] = s.v[r][lane] & !(mask << first) | (v & mask) << first;
}

impl Layout {
    fn result_bits(&self) -> u32 {
        if matches!(self.sum, Sum::F16 | Sum::Bf16) {
            16
        } else {
            32
        }
    }

    /// Fills the sources and gives the results' values.
    fn fill(&self, s: &mut State, random: &mut Random, at: Registers) -> Vec<f64> {
        let (n, k) = (self.n, self.k);
        let mut results = vec![0.0; self.blocks * n * n];
        let mut factors = Vec::new();
        for (element, first) in [(self.a, at[1]), (self.b, at[2])] {
            let mut matrix = vec![0.0; self.blocks * n * k];
            for (i, value) in matrix.iter_mut().enumerate() {
                let (v, code) = element.random(random);
                let (block, row, place) = (i / (n * k), i / k % n, i % k);
                *value = v;
                let (r, bit, lanes) = (self.factor)(self, block, row, place, element.bits());
                for lane in lanes {
                    set(s, first + r, bit, element.bits(), lane, code);
                }
            }
            factors.push(matrix);
        }
        for (i, value) in results.iter_mut().enumerate() {
            let (block, row, column) = (i / (n * n), i / n % n, i % n);
            let (v, code) = self.sum.random(random);
            let (r, bit, lane) = (self.result)(self, block, row, column);
            set(s, at[3] + r, bit, self.result_bits(), lane, code);
            *value = v
                + (0..k)
                    .map(|p| {
                        factors[0][(block * n + row) * k + p]
                            * factors[1][(block * n + column) * k + p]
                    })
                    .sum::<f64>();
        }
        results
    }

    fn case(self, asm: String, at: Registers, registers: usize, on: fn(&str) -> bool) -> Case {
        let shared = std::sync::Arc::new(self);
        let other = shared.clone();
        // The expectation makes the same numbers again from the run's seed, kept in s0.
        Case::new(
            asm,
            move |s, random, run| {
                while s.v.len() < registers {
                    s.v.push(std::array::from_fn(|_| random.next() as u32));
                }
                if s.lanes == 32 {
                    s.exec = 0xffff_ffff;
                }
                s.s[0] = 77 + run as u32;
                shared.fill(s, &mut Random::new(s.s[0].into()), at);
            },
            move |_, before, after| {
                let mut scratch = before.clone();
                let results = other.fill(&mut scratch, &mut Random::new(before.s[0].into()), at);
                let n = other.n;
                for (i, v) in results.iter().enumerate() {
                    let (r, bit, lane) = (other.result)(&other, i / (n * n), i / n % n, i % n);
                    set(
                        after,
                        at[0] + r,
                        bit,
                        other.result_bits(),
                        lane,
                        other.sum.encode(*v, other.clamp),
                    );
                }
            },
        )
        .runs(3)
        .on(on)
    }
}

/// CDNA: rows of A go over the lanes, then blocks, or groups of consecutive k where there is one block.
fn mfma_factor(
    p: &Layout,
    block: usize,
    row: usize,
    k: usize,
    bits: u32,
) -> (usize, u32, Vec<usize>) {
    let per_lane = p.n * p.k * p.blocks / 64;
    let lane = row + p.n * (block + k / per_lane);
    let (j, in_word) = (k % per_lane, (32 / bits) as usize);
    (j / in_word, (j % in_word) as u32 * bits, vec![lane])
}

/// CDNA: four consecutive rows in four registers; the lanes' groups of four rows alternate.
fn mfma_result(p: &Layout, block: usize, row: usize, column: usize) -> (usize, u32, usize) {
    match p.n {
        4 => (row, 0, column + 4 * block),
        16 => (4 * block + row % 4, 0, column + 16 * (row / 4)),
        _ => (
            16 * block + 4 * (row / 8) + row % 4,
            0,
            column + 32 * (row / 4 % 2),
        ),
    }
}

fn mfma(cases: &mut Vec<Case>) {
    let eight = |name: &str| Element::Eight(Small::new(name == "bf8", true));
    let (f32, f16, bf16, i8) = (
        Element::F32,
        Element::F16,
        Element::Bf16,
        Element::Int(8, true),
    );
    let mut all: Vec<(String, Option<String>, [usize; 3], [Element; 2], Sum)> = Vec::new();
    // Name on CDNA 2 and, where it differs, on CDNA 3; rows, k, blocks.
    let mut add = |old: &str, new: Option<&str>, shape: [usize; 3], e: Element, sum: Sum| {
        all.push((old.into(), new.map(String::from), shape, [e, e], sum));
    };
    add(
        "f32_32x32x1f32",
        Some("f32_32x32x1_2b_f32"),
        [32, 1, 2],
        f32,
        Sum::F32,
    );
    add(
        "f32_16x16x1f32",
        Some("f32_16x16x1_4b_f32"),
        [16, 1, 4],
        f32,
        Sum::F32,
    );
    add(
        "f32_4x4x1f32",
        Some("f32_4x4x1_16b_f32"),
        [4, 1, 16],
        f32,
        Sum::F32,
    );
    add(
        "f32_32x32x2f32",
        Some("f32_32x32x2_f32"),
        [32, 2, 1],
        f32,
        Sum::F32,
    );
    add(
        "f32_16x16x4f32",
        Some("f32_16x16x4_f32"),
        [16, 4, 1],
        f32,
        Sum::F32,
    );
    add(
        "f32_32x32x4f16",
        Some("f32_32x32x4_2b_f16"),
        [32, 4, 2],
        f16,
        Sum::F32,
    );
    add(
        "f32_16x16x4f16",
        Some("f32_16x16x4_4b_f16"),
        [16, 4, 4],
        f16,
        Sum::F32,
    );
    add(
        "f32_4x4x4f16",
        Some("f32_4x4x4_16b_f16"),
        [4, 4, 16],
        f16,
        Sum::F32,
    );
    add(
        "f32_32x32x8f16",
        Some("f32_32x32x8_f16"),
        [32, 8, 1],
        f16,
        Sum::F32,
    );
    add(
        "f32_16x16x16f16",
        Some("f32_16x16x16_f16"),
        [16, 16, 1],
        f16,
        Sum::F32,
    );
    add("f32_32x32x2bf16", None, [32, 2, 2], bf16, Sum::F32);
    add("f32_16x16x2bf16", None, [16, 2, 4], bf16, Sum::F32);
    add("f32_4x4x2bf16", None, [4, 2, 16], bf16, Sum::F32);
    add("f32_32x32x4bf16", None, [32, 4, 1], bf16, Sum::F32);
    add("f32_16x16x8bf16", None, [16, 8, 1], bf16, Sum::F32);
    add(
        "f32_32x32x4bf16_1k",
        Some("f32_32x32x4_2b_bf16"),
        [32, 4, 2],
        bf16,
        Sum::F32,
    );
    add(
        "f32_16x16x4bf16_1k",
        Some("f32_16x16x4_4b_bf16"),
        [16, 4, 4],
        bf16,
        Sum::F32,
    );
    add(
        "f32_4x4x4bf16_1k",
        Some("f32_4x4x4_16b_bf16"),
        [4, 4, 16],
        bf16,
        Sum::F32,
    );
    add(
        "f32_32x32x8bf16_1k",
        Some("f32_32x32x8_bf16"),
        [32, 8, 1],
        bf16,
        Sum::F32,
    );
    add(
        "f32_16x16x16bf16_1k",
        Some("f32_16x16x16_bf16"),
        [16, 16, 1],
        bf16,
        Sum::F32,
    );
    add(
        "i32_32x32x4i8",
        Some("i32_32x32x4_2b_i8"),
        [32, 4, 2],
        i8,
        Sum::I32,
    );
    add(
        "i32_16x16x4i8",
        Some("i32_16x16x4_4b_i8"),
        [16, 4, 4],
        i8,
        Sum::I32,
    );
    add(
        "i32_4x4x4i8",
        Some("i32_4x4x4_16b_i8"),
        [4, 4, 16],
        i8,
        Sum::I32,
    );
    add("i32_32x32x8i8", None, [32, 8, 1], i8, Sum::I32);
    add("i32_16x16x16i8", None, [16, 16, 1], i8, Sum::I32);
    for (name, shape) in [("i32_32x32x16", [32, 16, 1]), ("i32_16x16x32", [16, 32, 1])] {
        add("", Some(&format!("{name}_i8")), shape, i8, Sum::I32);
        add("", Some(&format!("{name}i8")), shape, i8, Sum::I32);
    }
    for (name, shape) in [("f32_32x32x16", [32, 16, 1]), ("f32_16x16x32", [16, 32, 1])] {
        for a in ["fp8", "bf8"] {
            for b in ["fp8", "bf8"] {
                let name = format!("{name}_{a}_{b}");
                all.push((
                    String::new(),
                    Some(name),
                    shape,
                    [eight(a), eight(b)],
                    Sum::F32,
                ));
            }
        }
    }
    for (old, new, [n, k, blocks], [a, b], sum) in all {
        let dwords = (n * k * blocks / 64) as u32 * a.bits() / 32;
        let factor = |r: u32| {
            if dwords == 1 {
                format!("v{r}")
            } else {
                format!("v[{r}:{}]", r + dwords - 1)
            }
        };
        let results = n * n * blocks / 64;
        let operands = format!(
            "v[64:{}], {}, {}, v[32:{}]",
            63 + results,
            factor(2),
            factor(6),
            31 + results
        );
        let mut names: Vec<(String, fn(&str) -> bool)> = Vec::new();
        if !old.is_empty() {
            names.push((
                old.clone(),
                if new.is_none() {
                    |t| t == "gfx90a"
                } else {
                    |t| generation(t) == 9
                },
            ));
        }
        // CDNA 3's assembler takes the newer bfloat16 forms without their old ending.
        if let Some(stem) = old.strip_suffix("_1k") {
            names.push((stem.into(), |t| t == "gfx942"));
        }
        if let Some(new) = new {
            names.push((new, |t| t == "gfx942"));
        }
        for (name, on) in names {
            let layout = Layout {
                n,
                k,
                blocks,
                a,
                b,
                sum,
                factor: mfma_factor,
                result: mfma_result,
                clamp: false,
            };
            cases.push(layout.case(format!("v_mfma_{name} {operands}"), [64, 2, 6, 32], 96, on));
        }
    }
}

/// RDNA 3: each lane of both halves of the wave holds a whole row.
fn wmma11_factor(
    _: &Layout,
    _: usize,
    row: usize,
    k: usize,
    bits: u32,
) -> (usize, u32, Vec<usize>) {
    let in_word = (32 / bits) as usize;
    (
        k / in_word,
        (k % in_word) as u32 * bits,
        vec![row, row + 16],
    )
}

fn wmma11_result(_: &Layout, _: usize, row: usize, column: usize) -> (usize, u32, usize) {
    (row / 2, 0, column + 16 * (row % 2))
}

/// 16-bit results in the high halves.
fn wmma11_result_high(_: &Layout, _: usize, row: usize, column: usize) -> (usize, u32, usize) {
    (row / 2, 16, column + 16 * (row % 2))
}

/// RDNA 4: the halves of the wave hold the halves of k, and rows 0 to 7 and 8 to 15 of the results.
fn wmma12_factor(
    p: &Layout,
    _: usize,
    row: usize,
    k: usize,
    bits: u32,
) -> (usize, u32, Vec<usize>) {
    let (half, j, in_word) = (k / (p.k / 2), k % (p.k / 2), (32 / bits) as usize);
    (
        j / in_word,
        (j % in_word) as u32 * bits,
        vec![row + 16 * half],
    )
}

fn wmma12_result(p: &Layout, _: usize, row: usize, column: usize) -> (usize, u32, usize) {
    let (half, i) = (row / 8, row % 8);
    let lane = column + 16 * half;
    if p.result_bits() == 16 {
        (i / 2, 16 * (i as u32 % 2), lane)
    } else {
        (i, 0, lane)
    }
}

fn wmma(cases: &mut Vec<Case>) {
    let eight = |name: &str| Element::Eight(Small::new(name == "bf8", false));
    let mut all: Vec<(String, usize, [Element; 2], Sum, String, bool)> = Vec::new();
    for (name, e, sum) in [
        ("f32_16x16x16_f16", Element::F16, Sum::F32),
        ("f32_16x16x16_bf16", Element::Bf16, Sum::F32),
        ("f16_16x16x16_f16", Element::F16, Sum::F16),
        ("bf16_16x16x16_bf16", Element::Bf16, Sum::Bf16),
    ] {
        all.push((name.into(), 16, [e, e], sum, String::new(), false));
    }
    for (name, k, bits) in [
        ("i32_16x16x16_iu8", 16, 8),
        ("i32_16x16x16_iu4", 16, 4),
        ("i32_16x16x32_iu4", 32, 4),
    ] {
        for (sa, sb) in [(false, false), (true, false), (false, true), (true, true)] {
            for clamp in [false, true] {
                let tail = format!(
                    " neg_lo:[{},{},0]{}",
                    u8::from(sa),
                    u8::from(sb),
                    if clamp { " clamp" } else { "" }
                );
                let elements = [Element::Int(bits, sa), Element::Int(bits, sb)];
                all.push((name.into(), k, elements, Sum::I32, tail, clamp));
            }
        }
    }
    for a in ["fp8", "bf8"] {
        for b in ["fp8", "bf8"] {
            let name = format!("f32_16x16x16_{a}_{b}");
            all.push((
                name,
                16,
                [eight(a), eight(b)],
                Sum::F32,
                String::new(),
                false,
            ));
        }
    }
    for (name, k, [a, b], sum, tail, clamp) in all {
        for twelve in [false, true] {
            let only_twelve = matches!(a, Element::Eight(_)) || k == 32;
            if only_twelve && !twelve {
                continue;
            }
            let narrow = matches!(sum, Sum::F16 | Sum::Bf16);
            let dwords = k as u32 * a.bits() / 32 / if twelve { 2 } else { 1 };
            let factor = |r: u32| {
                if dwords == 1 {
                    format!("v{r}")
                } else {
                    format!("v[{r}:{}]", r + dwords - 1)
                }
            };
            let results = if narrow && twelve { 4 } else { 8 };
            let operands = format!(
                "v[0:{}], {}, {}, v[24:{}]",
                results - 1,
                factor(8),
                factor(16),
                23 + results
            );
            let highs = if narrow && !twelve {
                vec![false, true]
            } else {
                vec![false]
            };
            for high in highs {
                let select = if high { " op_sel:[0,0,1]" } else { "" };
                let layout = Layout {
                    n: 16,
                    k,
                    blocks: 1,
                    a,
                    b,
                    sum,
                    factor: if twelve { wmma12_factor } else { wmma11_factor },
                    result: match (twelve, high) {
                        (true, _) => wmma12_result,
                        (_, true) => wmma11_result_high,
                        _ => wmma11_result,
                    },
                    clamp,
                };
                let on: fn(&str) -> bool = if twelve {
                    |t| generation(t) == 12
                } else {
                    |t| generation(t) == 11
                };
                cases.push(layout.case(
                    format!("v_wmma_{name} {operands}{tail}{select}"),
                    [0, 8, 16, 24],
                    40,
                    on,
                ));
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    mfma(&mut cases);
    wmma(&mut cases);
    cases
}
