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
use super::matrix::{Element, Product, read_factor, read_integers};
use super::operand::{Src, Ty};
use super::wave::{Flow, Run, Wave};

struct Plan {
    m: usize,
    n: usize,
    k: usize,
    blocks: usize,
    a: (u16, Element),
    b: (u16, Element),
    c: Src,
    dst: u16,
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
    let plan = Plan {
        m,
        n,
        k,
        blocks,
        a: (t.operand(1)?.vgpr()?, a),
        b: (t.operand(2)?.vgpr()?, b),
        c: t.operand(3)?
            .src(if out == "i32" { Ty::B32 } else { Ty::F32 })?,
        dst: t.operand(0)?.vgpr()?,
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

impl Plan {
    fn per_lane(&self) -> usize {
        self.m * self.k * self.blocks / 64
    }

    /// Block, row (column of B) and k of a lane's element.
    fn place(&self, lane: usize, j: usize) -> (usize, usize, usize) {
        let (row, rest) = (lane % self.m, lane / self.m);
        let groups = 64 / self.m / self.blocks;
        (rest / groups, row, rest % groups * self.per_lane() + j)
    }

    /// Block, row and column of a lane's result register.
    fn result(&self, lane: usize, r: usize) -> (usize, usize, usize) {
        let (column, high) = (lane % self.n, lane / self.n);
        if self.m == 4 {
            return (high, r, column);
        }
        let per_block = self.m * self.n / 64;
        let (block, r) = (r / per_block, r % per_block);
        let groups = 64 / self.n;
        (block, r / 4 * 4 * groups + 4 * high + r % 4, column)
    }

    fn run(&self, w: &mut Wave) {
        let registers = self.m * self.n * self.blocks / 64;
        let c = |w: &Wave, lane: usize, r: usize| match self.c {
            Src::V(c) => w.lane(Src::V(c + r as u16), lane),
            other => w.s32(other),
        };
        let (m, n, k) = (self.m, self.n, self.k);
        let mut results = vec![0u32; m * n * self.blocks];
        for lane in 0..64 {
            for r in 0..registers {
                let (block, row, column) = self.result(lane, r);
                results[(block * m + row) * n + column] = c(w, lane, r);
            }
        }
        if self.a.1.is_integer() {
            let (mut a, mut b) = (
                vec![0i32; m * k * self.blocks],
                vec![0i32; n * k * self.blocks],
            );
            read_integers(w, self.a.0, self.a.1, self.per_lane(), |lane, j, v| {
                let (block, row, at) = self.place(lane, j);
                a[(block * m + row) * k + at] = v;
            });
            read_integers(w, self.b.0, self.b.1, self.per_lane(), |lane, j, v| {
                let (block, column, at) = self.place(lane, j);
                b[(block * n + column) * k + at] = v;
            });
            for (i, out) in results.iter_mut().enumerate() {
                let (block, row, column) = (i / (m * n), i / n % m, i % n);
                let a = &a[(block * m + row) * k..][..k];
                let b = &b[(block * n + column) * k..][..k];
                let sum = a
                    .iter()
                    .zip(b)
                    .fold(0i32, |s, (a, b)| s.wrapping_add(a * b));
                *out = out.wrapping_add(sum as u32);
            }
        } else {
            let mut products: Vec<Product> =
                (0..self.blocks).map(|_| Product::new(m, n, k)).collect();
            read_factor(
                w,
                self.a.0,
                self.a.1,
                self.per_lane(),
                true,
                |lane, j, v| {
                    let (block, row, at) = self.place(lane, j);
                    products[block].a[row * k + at] = v;
                },
            );
            read_factor(
                w,
                self.b.0,
                self.b.1,
                self.per_lane(),
                true,
                |lane, j, v| {
                    let (block, column, at) = self.place(lane, j);
                    products[block].b[at * n + column] = v;
                },
            );
            if let Some(least) = self.flush {
                for p in &mut products {
                    let factors = p.a.iter_mut().chain(&mut p.b);
                    factors.for_each(|v| *v = flush(*v, least));
                }
            }
            for (p, out) in products.iter().zip(results.chunks_exact_mut(m * n)) {
                let mut c: Vec<f32> = out.iter().map(|v| f32::from_bits(*v)).collect();
                if self.flush.is_some() {
                    c.iter_mut().for_each(|v| *v = flush(*v, f32::MIN_POSITIVE));
                }
                p.add_to(&mut c);
                if self.flush.is_some() {
                    c.iter_mut().for_each(|v| *v = flush(*v, f32::MIN_POSITIVE));
                }
                out.iter_mut()
                    .zip(c)
                    .for_each(|(out, v)| *out = v.to_bits());
            }
        }
        for lane in 0..64 {
            for r in 0..registers {
                let (block, row, column) = self.result(lane, r);
                w.set_lane(
                    self.dst + r as u16,
                    lane,
                    results[(block * m + row) * n + column],
                );
            }
        }
    }
}
