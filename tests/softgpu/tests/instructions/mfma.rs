//! MFMA of CDNA 2 and 3 (manuals: "Matrix Arithmetic Instructions").

use crate::convert::Small;
use crate::harness::{Case, On, generation};
use crate::matrix::{Element, Layout, Sum};

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

/// Name on CDNA 2 and, where it differs, on CDNA 3; rows, k, blocks; factors and sum.
type Form = (String, Option<String>, [usize; 3], [Element; 2], Sum);

fn mfma(cases: &mut Vec<Case>) {
    let eight = |name: &str| Element::Eight(Small::new(name == "bf8", true));
    let (f32, f16, bf16, i8) = (
        Element::F32,
        Element::F16,
        Element::Bf16,
        Element::Int(8, true),
    );
    let mut all: Vec<Form> = Vec::new();
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
        let mut names: Vec<(String, On)> = Vec::new();
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

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    mfma(&mut cases);
    cases
}
