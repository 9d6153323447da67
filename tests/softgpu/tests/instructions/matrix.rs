//! Matrix instructions (manuals: CDNA "Matrix Arithmetic Instructions" with its register layouts; RDNA 3 and
//! 4 "Wave Matrix Multiply Accumulate"). Factors are whole numbers whose sums are exact in every order.

use crate::convert::Small;
use crate::harness::Case;
use crate::numbers::{BF16, F16, Random};
use softgpu::isa::testing::State;

/// What factors are made of.
#[derive(Clone, Copy)]
pub enum Element {
    F32,
    F16,
    Bf16,
    Eight(Small),
    /// Width, signed.
    Int(u32, bool),
}

impl Element {
    pub fn bits(self) -> u32 {
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
pub enum Sum {
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

/// Register, first bit, and the lanes that hold an element.
pub type Factor = fn(&Layout, usize, usize, usize, u32) -> (usize, u32, Vec<usize>);

/// Places of one kind of instruction's elements: register (from the operand's first), bit and lanes.
pub struct Layout {
    pub n: usize,
    pub k: usize,
    pub blocks: usize,
    pub a: Element,
    pub b: Element,
    pub sum: Sum,
    /// Register and first bit, and the lanes that hold element (block, row, k).
    pub factor: Factor,
    /// Register, first bit and lane of result (block, row, column).
    pub result: fn(&Layout, usize, usize, usize) -> (usize, u32, usize),
    pub clamp: bool,
}

/// First registers of D, A, B and C.
pub type Registers = [usize; 4];

fn set(s: &mut State, r: usize, first: u32, bits: u32, lane: usize, v: u32) {
    let mask = if bits == 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    };
    s.v[r][lane] = s.v[r][lane] & !(mask << first) | (v & mask) << first;
}

impl Layout {
    pub fn result_bits(&self) -> u32 {
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

    pub fn case(self, asm: String, at: Registers, registers: usize, on: fn(&str) -> bool) -> Case {
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
