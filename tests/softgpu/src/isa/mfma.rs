//! MFMA of gfx90a and gfx942 (waves of 64): M x N tiles, some in several blocks.
//!
//! Factors: lane l holds row l % M (column of B); what remains of l / M counts blocks, or groups of
//! consecutive k in single-block forms. Results: column l % N; four consecutive rows a register
//! group, the groups of a lane 4 * 64/N rows apart (4x4 tiles: a block every four lanes).
//! EXEC does not matter. gfx90a's f16 and bf16 forms flush subnormal factors, sums that come in and
//! sums that go out (AMD's notes on MI200; not gfx942, and not f32's forms).

use super::decode::Target;
use super::disassembly::Text;
use super::half::{LEAST_F16, flush};
use super::lanes::fast;
use super::matrix::{Element, FACTOR, Factor, Layout, RESULT, multiply};
use super::operand::{Src, Ty};
use super::wave::{Flow, Row, Run, Wave};

/// Rows and columns, k, and the number of matrices.
#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    k: usize,
    blocks: usize,
}

struct Plan {
    sizes: Sizes,
    a: Factor,
    b: Factor,
    c: Src,
    dst: u16,
    results: Layout,
    /// The least normal factor, where subnormals are flushed.
    flush: Option<f32>,
}

/// `32x32x8f16`, `32x32x8bf16_1k`, `32x32x8_f16`, `4x4x4_16b_f16`, `16x16x32_fp8_bf8` ...
fn shape(text: &str) -> Option<([usize; 3], Option<usize>, Vec<String>)> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != 'x')
        .unwrap_or(text.len());
    let dims: Vec<usize> = text[..digits]
        .split('x')
        .map(|d| d.parse().ok())
        .collect::<Option<_>>()?;
    let rest = text[digits..]
        .trim_start_matches('_')
        .trim_end_matches("_1k");
    let mut types: Vec<String> = rest.split('_').map(String::from).collect();
    let mut blocks = None;
    if let Some(b) = types
        .first()
        .and_then(|t| t.strip_suffix('b'))
        .and_then(|b| b.parse().ok())
    {
        blocks = Some(b);
        types.remove(0);
    }
    Some((dims.try_into().ok()?, blocks, types))
}

fn element(name: &str) -> Option<Element> {
    Some(match name {
        "f32" => Element::F32,
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "i8" => Element::I8,
        "fp8" => Element::Fp8,
        "bf8" => Element::Bf8,
        _ => return None,
    })
}

/// The blocks of the old spellings, which do not say: those with K too small to use 64 lanes.
fn implied_blocks(m: usize, k: usize, element: Element, is_1k: bool) -> usize {
    let per_lane = match element {
        Element::F32 => 1,
        Element::Bf16 if !is_1k => 2,
        _ => 4,
    };
    (64 * per_lane / (m * k)).max(1)
}

/// Decodes `v_mfma_<out>_<shape><types>`.
pub fn decode(t: &Text, target: &Target) -> Result<Run, String> {
    let bad = || format!("instruction {} is not implemented", t.name);
    let rest = t.name.strip_prefix("v_mfma_").ok_or_else(bad)?;
    let (out, rest) = rest.split_once('_').ok_or_else(bad)?;
    if !matches!(out, "f32" | "i32") {
        return Err(bad());
    }
    let ([m, n, k], blocks, types) = shape(rest).ok_or_else(bad)?;
    let first = types.first().ok_or_else(bad)?;
    let second = types.get(1).unwrap_or(first);
    let (a, b) = (
        element(first).ok_or_else(bad)?,
        element(second).ok_or_else(bad)?,
    );
    if m != n || !matches!(m, 4 | 16 | 32) || a.is_integer() != (out == "i32") {
        return Err(bad());
    }
    for modifier in ["cbsz", "abid", "blgp", "neg"] {
        if t.has(modifier) {
            return Err(format!("{} with {modifier} is not implemented", t.name));
        }
    }
    let blocks = blocks.unwrap_or_else(|| implied_blocks(m, k, a, t.name.ends_with("_1k")));
    let per_lane = m * k * blocks / 64;
    if per_lane == 0 || per_lane * a.bits() < 32 || 64 / m % blocks != 0 {
        return Err(bad());
    }
    let sizes = Sizes { n, k, blocks };
    if n * k * blocks > FACTOR || n * n * blocks > RESULT {
        return Err(bad());
    }
    let factor = |src, element| Factor {
        src,
        element,
        layout: Layout::new(64, n.min(32), per_lane, |lane, j| {
            Some(sizes.place(lane, j))
        }),
        fnuz: true,
    };
    let plan = Plan {
        sizes,
        a: factor(t.operand(1)?.vgpr()?, a),
        b: factor(t.operand(2)?.vgpr()?, b),
        c: t.operand(3)?
            .src(if out == "i32" { Ty::B32 } else { Ty::F32 })?,
        dst: t.operand(0)?.vgpr()?,
        results: Layout::new(64, n.min(32), n * n * blocks / 64, |lane, r| {
            Some(sizes.result(lane, r))
        }),
        flush: match a {
            Element::F16 if target.name == "gfx90a" => Some(LEAST_F16),
            Element::Bf16 if target.name == "gfx90a" => Some(f32::MIN_POSITIVE),
            _ => None,
        },
    };
    Ok(Box::new(move |w, _| {
        plan.run(w);
        Ok(Flow::Next)
    }))
}

impl Sizes {
    /// Where a lane's element of a factor belongs in `[block][k][row of A, column of B]`.
    fn place(self, lane: usize, j: usize) -> usize {
        let (row, rest) = (lane % self.n, lane / self.n);
        let groups = 64 / self.n / self.blocks;
        let per_lane = self.n * self.k * self.blocks / 64;
        let (block, k) = (rest / groups, rest % groups * per_lane + j);
        (block * self.k + k) * self.n + row
    }

    /// Where a lane's result register belongs in `[block][row][column]`.
    fn result(self, lane: usize, r: usize) -> usize {
        let n = self.n;
        let (column, high) = (lane % n, lane / n);
        let (block, row) = if n == 4 {
            (high, r)
        } else {
            let per_block = n * n / 64;
            let (block, r) = (r / per_block, r % per_block);
            (block, r / 4 * 4 * (64 / n) + 4 * high + r % 4)
        };
        (block * n + row) * n + column
    }
}

impl Plan {
    fn run(&self, w: &mut Wave) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        fn wide(plan: &Plan, w: &mut Wave) {
            plan.body(w);
        }
        #[cfg(target_arch = "x86_64")]
        if fast() {
            // SAFETY: the host has these features.
            return unsafe { wide(self, w) };
        }
        self.body(w);
    }

    /// What a half of the lanes has as result r of C.
    #[inline(always)]
    fn c(&self, w: &Wave, r: usize, half: usize) -> Row {
        match self.c {
            Src::V(c) => w.rows[w.at(c + r as u16, half)],
            other => [w.s32(other); 32],
        }
    }

    #[inline(always)]
    fn body(&self, w: &mut Wave) {
        let Sizes { n, k, blocks } = self.sizes;
        let (factors, results) = (n * k * blocks, n * n * blocks);
        let registers = || (0..results / 64).flat_map(|r| [(r, 0), (r, 1)]);
        if self.a.element.is_integer() {
            let (mut a, mut b) = ([0; FACTOR], [0; FACTOR]);
            self.a.integers(w, &mut a);
            self.b.integers(w, &mut b);
            let mut c = [0i32; RESULT];
            for (r, half) in registers() {
                let values = self.c(w, r, half).map(|v| v as i32);
                self.results.put(&mut c, r, half, &values);
            }
            for (block, c) in c[..results].chunks_exact_mut(n * n).enumerate() {
                let of = block * n * k..(block + 1) * n * k;
                multiply((&a[of.clone()], &b[of]), c, n, |a: i32, b, c| {
                    c.wrapping_add(a * b)
                });
            }
            for (r, half) in registers() {
                let at = w.at(self.dst + r as u16, half);
                w.rows[at] = self.results.get(&c, r, half).map(|v| v as u32);
            }
            return;
        }
        let (mut a, mut b) = ([0.0; FACTOR], [0.0; FACTOR]);
        self.a.floats(w, &mut a);
        self.b.floats(w, &mut b);
        let mut c = [0.0f32; RESULT];
        for (r, half) in registers() {
            let values = self.c(w, r, half).map(f32::from_bits);
            self.results.put(&mut c, r, half, &values);
        }
        let flushed = |values: &mut [f32], least: f32| {
            if self.flush.is_some() {
                values.iter_mut().for_each(|v| *v = flush(*v, least));
            }
        };
        let least = self.flush.unwrap_or_default();
        flushed(&mut a[..factors], least);
        flushed(&mut b[..factors], least);
        flushed(&mut c[..results], f32::MIN_POSITIVE);
        for (block, c) in c[..results].chunks_exact_mut(n * n).enumerate() {
            let of = block * n * k..(block + 1) * n * k;
            multiply((&a[of.clone()], &b[of]), c, n, f32::mul_add);
        }
        flushed(&mut c[..results], f32::MIN_POSITIVE);
        for (r, half) in registers() {
            let at = w.at(self.dst + r as u16, half);
            w.rows[at] = self.results.get(&c, r, half).map(f32::to_bits);
        }
    }
}
