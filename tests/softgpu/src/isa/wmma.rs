//! WMMA of gfx11 and gfx12 (waves of 32): 16x16 tiles.
//!
//! gfx11: lane l holds row l % 16 of A (column of B) with all k, both halves of the wave alike;
//! result register i of lane l is row 2i + l/16, column l % 16.
//! gfx12: lane l holds k from (l / 16) * K/2 on; result register i is row i + 8 (l / 16).

use super::decode::Target;
use super::disassembly::Text;
use super::half::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use super::matrix::{Element, Product, read_factor, read_integers};
use super::operand::{Src, Ty};
use super::wave::{Fail, Flow, Run, Wave};

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
    a: (u16, Element),
    b: (u16, Element),
    c: Src,
    dst: u16,
    gfx12: bool,
    /// gfx11 16-bit results: which half of the registers.
    high: bool,
    clamp: bool,
    /// Signs of A, B and C (`neg_lo`, and `neg_hi` of C is its absolute value).
    negate: u32,
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
    let plan = Plan {
        out,
        k,
        a: (t.operand(1)?.vgpr()?, a),
        b: (t.operand(2)?.vgpr()?, b),
        c: t.operand(3)?
            .src(if out == Out::F16 { Ty::F16 } else { Ty::F32 })?,
        dst: t.operand(0)?.vgpr()?,
        gfx12: target.generation >= 12,
        high: t.bits("op_sel")?.unwrap_or(0) & 4 != 0,
        clamp: t.has("clamp"),
        negate: signs,
    };
    debug_assert!(plan.negate < 8);
    Ok(Box::new(move |w, _| {
        if w.lanes != 32 {
            return Err(Fail::lane(0, "WMMA in waves of 64 is not implemented"));
        }
        if w.exec() != w.all() {
            return Err(Fail::lane(0, "WMMA with inactive lanes"));
        }
        plan.run(w)?;
        Ok(Flow::Next)
    }))
}

impl Plan {
    fn per_lane(&self) -> usize {
        if self.gfx12 { self.k / 2 } else { self.k }
    }

    /// Row (column of B) and k of a lane's element.
    fn place(&self, lane: usize, j: usize) -> (usize, usize) {
        if self.gfx12 {
            (lane % N, lane / N * (self.k / 2) + j)
        } else {
            (lane % N, j)
        }
    }

    fn row(&self, lane: usize, i: usize) -> usize {
        if self.gfx12 {
            i + 8 * (lane / N)
        } else {
            2 * i + lane / N
        }
    }

    /// gfx11 wants both halves of the wave to hold the same factors.
    fn check_copies(&self, w: &Wave) -> Result<(), Box<Fail>> {
        if self.gfx12 {
            return Ok(());
        }
        for (src, e) in [self.a, self.b] {
            for r in 0..(self.k * e.bits() / 32) as u16 {
                let row = &w.rows[w.at(src + r, 0)];
                if let Some(l) = (0..N).find(|l| row[*l] != row[l + N]) {
                    return Err(Fail::lane(
                        l as u32 + 16,
                        format!(
                            "WMMA factor v{}: lane {} differs from lane {l}, which it must copy",
                            src + r,
                            l + N
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Where result i of a lane lies: register and half.
    fn slot(&self, i: usize) -> (u16, u32) {
        match (self.out, self.gfx12) {
            (Out::F32 | Out::I32, _) => (i as u16, 0),
            (_, true) => ((i / 2) as u16, 16 * (i as u32 % 2)),
            (_, false) => (i as u16, if self.high { 16 } else { 0 }),
        }
    }

    fn read_c(&self, w: &Wave, lane: usize, i: usize) -> u32 {
        let (r, shift) = self.slot(i);
        match self.c {
            Src::V(c) => w.lane(Src::V(c + r), lane) >> shift,
            // Constants go to every element.
            other => w.s32(other),
        }
    }

    fn run(&self, w: &mut Wave) -> Result<(), Box<Fail>> {
        self.check_copies(w)?;
        let lanes = w.lanes;
        if self.out == Out::I32 {
            self.integers(w);
            return Ok(());
        }
        let mut p = Product::new(N, N, self.k);
        let k = self.k;
        read_factor(
            w,
            self.a.0,
            self.a.1,
            self.per_lane(),
            false,
            |lane, j, v| {
                let (row, at) = self.place(lane, j);
                p.a[row * k + at] = v;
            },
        );
        read_factor(
            w,
            self.b.0,
            self.b.1,
            self.per_lane(),
            false,
            |lane, j, v| {
                let (column, at) = self.place(lane, j);
                p.b[at * N + column] = v;
            },
        );
        let mut c = [0f32; N * N];
        for lane in 0..lanes {
            for i in 0..8 {
                let raw = self.read_c(w, lane, i);
                c[self.row(lane, i) * N + lane % N] = match self.out {
                    Out::F16 => f16_to_f32(raw & 0xffff),
                    Out::Bf16 => bf16_to_f32(raw & 0xffff),
                    _ => f32::from_bits(raw),
                };
            }
        }
        p.add_to(&mut c);
        for lane in 0..lanes {
            for i in 0..8 {
                let v = c[self.row(lane, i) * N + lane % N];
                let (r, shift) = self.slot(i);
                let bits = match self.out {
                    Out::F16 => f16_from_f32(v),
                    Out::Bf16 => bf16_from_f32(v),
                    _ => {
                        w.set_lane(self.dst + r, lane, v.to_bits());
                        continue;
                    }
                };
                let old = w.lane(Src::V(self.dst + r), lane);
                w.set_lane(self.dst + r, lane, old & !(0xffff << shift) | bits << shift);
            }
        }
        Ok(())
    }

    fn integers(&self, w: &mut Wave) {
        let k = self.k;
        let (mut a, mut b) = (vec![0i32; N * k], vec![0i32; N * k]);
        read_integers(w, self.a.0, self.a.1, self.per_lane(), |lane, j, v| {
            let (row, at) = self.place(lane, j);
            a[row * k + at] = v;
        });
        read_integers(w, self.b.0, self.b.1, self.per_lane(), |lane, j, v| {
            let (column, at) = self.place(lane, j);
            b[column * k + at] = v;
        });
        let mut results = [[0u32; 8]; 32];
        for (lane, out) in results.iter_mut().enumerate() {
            for (i, out) in out.iter_mut().enumerate() {
                let (row, column) = (self.row(lane, i), lane % N);
                let sum: i64 = a[row * k..row * k + k]
                    .iter()
                    .zip(&b[column * k..column * k + k])
                    .map(|(a, b)| i64::from(*a) * i64::from(*b))
                    .sum();
                let c = self.read_c(w, lane, i);
                *out = if self.clamp {
                    (sum + i64::from(c as i32)).clamp(i64::from(i32::MIN), i64::from(i32::MAX))
                        as u32
                } else {
                    (sum as u32).wrapping_add(c)
                };
            }
        }
        for (lane, out) in results.iter().enumerate() {
            for (i, v) in out.iter().enumerate() {
                w.set_lane(self.dst + i as u16, lane, *v);
            }
        }
    }
}
