//! WMMA of gfx11 and gfx12 (waves of 32): 16x16 tiles.
//!
//! gfx11: lane l holds row l % 16 of A (column of B) with all k, both halves of the wave alike;
//! result register i of lane l is row 2i + l/16, column l % 16.
//! gfx12: lane l holds k from (l / 16) * K/2 on; result register i is row i + 8 (l / 16).

// Several rows are walked at one index; the plain loop is what the compiler vectorises best.
#![allow(clippy::needless_range_loop)]

use super::decode::Target;
use super::disassembly::Text;
use super::half::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use super::lanes::fast;
use super::matrix::{Element, FACTOR, Factor, Layout, multiply};
use super::operand::{Src, Ty};
use super::wave::{Fail, Flow, Row, Run, Wave};

const N: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    F32,
    F16,
    Bf16,
    I32,
}

struct Plan {
    out: Out,
    k: usize,
    a: Factor,
    b: Factor,
    c: Src,
    dst: u16,
    /// Where the eight results of each lane belong.
    results: Layout,
    gfx12: bool,
    /// gfx11 16-bit results: which half of the registers.
    high: bool,
    clamp: bool,
}

fn element(name: &str, signed: bool) -> Option<Element> {
    Some(match name {
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "fp8" => Element::Fp8,
        "bf8" => Element::Bf8,
        "iu8" if signed => Element::I8,
        "iu8" => Element::U8,
        "iu4" if signed => Element::I4,
        "iu4" => Element::U4,
        _ => return None,
    })
}

/// Decodes `v_wmma_<out>_16x16x<k>_<a>[_<b>]`.
pub fn decode(t: &Text, target: &Target) -> Result<Run, String> {
    let bad = || format!("instruction {} is not implemented", t.name);
    let parts: Vec<&str> = t.name.split('_').collect();
    let [_, _, out, shape, types @ ..] = parts.as_slice() else {
        return Err(bad());
    };
    let out = match *out {
        "f32" => Out::F32,
        "f16" => Out::F16,
        "bf16" => Out::Bf16,
        "i32" => Out::I32,
        _ => return Err(bad()),
    };
    let k: usize = shape
        .strip_prefix("16x16x")
        .and_then(|k| k.parse().ok())
        .ok_or_else(bad)?;
    let signs = t.bits("neg_lo")?.unwrap_or(0);
    let first = types.first().ok_or_else(bad)?;
    let second = types.get(1).unwrap_or(first);
    let a = element(first, signs & 1 != 0).ok_or_else(bad)?;
    let b = element(second, signs & 2 != 0).ok_or_else(bad)?;
    if (!a.is_integer() && signs != 0) || t.has("neg_hi") {
        return Err("negated WMMA operands are not implemented".into());
    }
    if t.has("index_key") {
        return Err(bad());
    }
    let gfx12 = target.generation >= 12;
    if !(4..=32).contains(&k) {
        return Err(bad());
    }
    let factor = |src, element| Factor {
        src,
        element,
        layout: factor_layout(k, gfx12),
        fnuz: false,
    };
    let plan = Plan {
        out,
        k,
        a: factor(t.operand(1)?.vgpr()?, a),
        b: factor(t.operand(2)?.vgpr()?, b),
        c: t.operand(3)?
            .src(if out == Out::F16 { Ty::F16 } else { Ty::F32 })?,
        dst: t.operand(0)?.vgpr()?,
        results: Layout::new(32, N, 8, |lane, i| {
            let row = if gfx12 {
                i + 8 * (lane / N)
            } else {
                2 * i + lane / N
            };
            Some(row * N)
        }),
        gfx12,
        high: t.bits("op_sel")?.unwrap_or(0) & 4 != 0,
        clamp: t.has("clamp"),
    };
    Ok(Box::new(move |w, _| {
        if w.lanes != 32 {
            return Err(Fail::lane(0, "WMMA in waves of 64 is not implemented"));
        }
        if w.exec() != w.all() {
            return Err(Fail::lane(0, "WMMA with inactive lanes"));
        }
        plan.check_copies(w)?;
        plan.run(w);
        Ok(Flow::Next)
    }))
}

/// gfx11: the first half of the lanes has all k, the second copies it; gfx12: each has its half of them.
fn factor_layout(k: usize, gfx12: bool) -> Layout {
    let per_lane = if gfx12 { k / 2 } else { k };
    Layout::new(32, N, per_lane, |lane, j| match (lane / N, gfx12) {
        (0, _) => Some(j * N),
        (_, true) => Some((k / 2 + j) * N),
        (_, false) => None,
    })
}

impl Plan {
    /// gfx11 wants both halves of the wave to hold the same factors.
    fn check_copies(&self, w: &Wave) -> Result<(), Box<Fail>> {
        if self.gfx12 {
            return Ok(());
        }
        for f in [&self.a, &self.b] {
            for r in 0..(self.k * f.element.bits() / 32) as u16 {
                let row = &w.rows[w.at(f.src + r, 0)];
                if row[..N] == row[N..] {
                    continue;
                }
                let l = (0..N).find(|l| row[*l] != row[l + N]).unwrap_or(0);
                return Err(Fail::lane(
                    l as u32 + 16,
                    format!(
                        "WMMA factor v{}: lane {} differs from lane {l}, which it must copy",
                        f.src + r,
                        l + N
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Where result i of a lane lies: register and shift.
    #[inline(always)]
    fn slot(&self, i: usize) -> (u16, u32) {
        match (self.out, self.gfx12) {
            (Out::F32 | Out::I32, _) => (i as u16, 0),
            (_, true) => ((i / 2) as u16, 16 * (i as u32 % 2)),
            (_, false) => (i as u16, if self.high { 16 } else { 0 }),
        }
    }

    /// What all lanes have as result i of C.
    #[inline(always)]
    fn c(&self, w: &Wave, i: usize) -> Row {
        let (r, shift) = self.slot(i);
        match self.c {
            Src::V(c) => w.rows[w.at(c + r, 0)].map(|v| v >> shift),
            // Constants go to every element.
            other => [w.s32(other); 32],
        }
    }

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

    #[inline(always)]
    fn body(&self, w: &mut Wave) {
        let size = self.k * N;
        if self.out == Out::I32 {
            let (mut a, mut b) = ([0; FACTOR], [0; FACTOR]);
            self.a.integers(w, &mut a);
            self.b.integers(w, &mut b);
            let (mut sums, mut c) = ([0; N * N], [0; N * N]);
            multiply((&a[..size], &b[..size]), &mut sums, N, |a, b, sum| {
                a * b + sum
            });
            for i in 0..8 {
                let values = self.c(w, i).map(|v| v as i32);
                self.results.put(&mut c, i, 0, &values);
            }
            for (c, sum) in c.iter_mut().zip(sums) {
                *c = if self.clamp {
                    c.saturating_add(sum)
                } else {
                    c.wrapping_add(sum)
                };
            }
            for i in 0..8 {
                let at = w.at(self.dst + i as u16, 0);
                w.rows[at] = self.results.get(&c, i, 0).map(|v| v as u32);
            }
            return;
        }
        let (mut a, mut b) = ([0.0; FACTOR], [0.0; FACTOR]);
        self.a.floats(w, &mut a);
        self.b.floats(w, &mut b);
        let mut c = [0.0; N * N];
        for i in 0..8 {
            let bits = self.c(w, i);
            let mut values = [0.0; 32];
            for l in 0..32 {
                values[l] = match self.out {
                    Out::F16 => f16_to_f32(bits[l] & 0xffff),
                    Out::Bf16 => bf16_to_f32(bits[l]),
                    _ => f32::from_bits(bits[l]),
                };
            }
            self.results.put(&mut c, i, 0, &values);
        }
        multiply((&a[..size], &b[..size]), &mut c, N, f32::mul_add);
        for i in 0..8 {
            let values = self.results.get(&c, i, 0);
            let (r, shift) = self.slot(i);
            let at = w.at(self.dst + r, 0);
            let row = &mut w.rows[at];
            for l in 0..32 {
                let keep = !(0xffff << shift);
                row[l] = match self.out {
                    Out::F16 => row[l] & keep | f16_from_f32(values[l]) << shift,
                    Out::Bf16 => row[l] & keep | bf16_from_f32(values[l]) << shift,
                    _ => values[l].to_bits(),
                };
            }
        }
    }
}
