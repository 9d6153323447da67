//! Vector instructions without modifiers: one closure type for each combination of source kinds.

use super::lanes::{C2, Carry, L1, L2, L3, select};
use super::operand::{EXEC, Src, Ty};
use super::valu::{Fun, Plan};
use super::wave::{Flow, Row, Row64, Run, Wave};

/// A source without modifiers, as a type so that each combination has its own code.
trait Source: Send + Sync + 'static {
    /// The row's address; scalars are spread in `buffer`.
    fn row(&self, w: &Wave, h: usize, buffer: &mut Row) -> *const Row;
}

struct Vector(u16);
struct Scalar(u16);
struct Constant(Box<Row>);

impl Source for Vector {
    #[inline(always)]
    fn row(&self, w: &Wave, h: usize, _: &mut Row) -> *const Row {
        &raw const w.rows[w.at(self.0, h)]
    }
}

impl Source for Scalar {
    #[inline(always)]
    fn row(&self, w: &Wave, _: usize, buffer: &mut Row) -> *const Row {
        *buffer = [w.s[self.0 as usize]; 32];
        buffer
    }
}

impl Source for Constant {
    #[inline(always)]
    fn row(&self, _: &Wave, _: usize, _: &mut Row) -> *const Row {
        &raw const *self.0
    }
}

macro_rules! with {
    ($src:expr, $x:ident => $body:expr) => {
        match $src {
            Src::V(r) => {
                let $x = Vector(r);
                $body
            }
            Src::S(r) => {
                let $x = Scalar(r);
                $body
            }
            Src::K(v) => {
                let $x = Constant(Box::new([v as u32; 32]));
                $body
            }
            Src::Scc => return None,
        }
    };
}

fn one(dst: u16, f: L1, a: impl Source) -> Run {
    Box::new(move |w, g| {
        for h in 0..w.halves {
            let pa = a.row(w, h, &mut g.buffers[0]);
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: rows of this wave, and buffers; the function reads all before it writes.
            unsafe { f(pa, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

fn two(dst: u16, f: L2, a: impl Source, b: impl Source) -> Run {
    Box::new(move |w, g| {
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            unsafe { f(pa, pb, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

fn three(dst: u16, f: L3, a: impl Source, b: impl Source, c: impl Source) -> Run {
    Box::new(move |w, g| {
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let pc = c.row(w, h, &mut g.buffers[2]);
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            unsafe { f(pa, pb, pc, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

fn compare(dst: u16, f: C2, writes_exec: bool, a: impl Source, b: impl Source) -> Run {
    Box::new(move |w, g| {
        let mut mask = 0u64;
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            // SAFETY: as in `one`.
            let m = unsafe { f(pa, pb) };
            mask |= u64::from(m & w.exec_half(h)) << (32 * h);
        }
        w.set_mask(dst, mask);
        if writes_exec {
            w.set_mask(EXEC, mask);
        }
        Ok(Flow::Next)
    })
}

fn carrying(dst: u16, f: Carry, masks: (Option<Src>, u16), a: impl Source, b: impl Source) -> Run {
    let (carry_in, carry_out) = masks;
    Box::new(move |w, g| {
        let before = carry_in.map_or(0, |s| w.mask(s));
        let mut after = 0u64;
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            let m = unsafe {
                f(
                    pa,
                    pb,
                    (before >> (32 * h)) as u32,
                    &raw mut w.rows[at],
                    mask,
                )
            };
            after |= u64::from(m & mask) << (32 * h);
        }
        w.set_mask(carry_out, after);
        Ok(Flow::Next)
    })
}

fn selecting(dst: u16, pick: Src, a: impl Source, b: impl Source) -> Run {
    let f = select();
    Box::new(move |w, g| {
        let pick = w.mask(pick);
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            unsafe { f(pa, pb, (pick >> (32 * h)) as u32, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

/// The quick form without modifiers.
pub fn plain_run(plan: &Plan) -> Option<Run> {
    let dst = plan.post.dst;
    let [a, b, c] = plan.prep.map(|p| p.src);
    let mask_dst = plan.mask_dst;
    Some(match plan.op.fun {
        Fun::A1(f) => with!(a, a => one(dst, f, a)),
        Fun::A2(f) => with!(a, a => with!(b, b => two(dst, f, a, b))),
        Fun::A3(f) => with!(a, a => with!(b, b => with!(c, c => three(dst, f, a, b, c)))),
        Fun::C(f) => {
            let exec = plan.writes_exec;
            with!(a, a => with!(b, b => compare(mask_dst, f, exec, a, b)))
        }
        Fun::Carry(f, reads) => {
            let masks = (reads.then_some(plan.mask_src), mask_dst);
            with!(a, a => with!(b, b => carrying(dst, f, masks, a, b)))
        }
        Fun::Select => {
            let pick = plan.mask_src;
            with!(a, a => with!(b, b => selecting(dst, pick, a, b)))
        }
        Fun::D(f, n) => {
            let broad = plan.op.src.map(Ty::is_64);
            let to_64 = plan.op.dst.is_64();
            Box::new(move |w, _| {
                for h in 0..w.halves {
                    let read = |k: usize, src: Src| -> Row64 {
                        if k >= n {
                            [0; 32]
                        } else if broad[k] {
                            w.row64(src, h)
                        } else {
                            let mut buffer = [0; 32];
                            w.row(src, h, &mut buffer).map(u64::from)
                        }
                    };
                    let (x, y, z) = (read(0, a), read(1, b), read(2, c));
                    let mut out = [0; 32];
                    // SAFETY: the host has the features that the function was chosen by.
                    unsafe { f(&x, &y, &z, &mut out) };
                    let mask = w.exec_half(h);
                    if to_64 {
                        w.put64(dst, h, &out, mask);
                    } else {
                        w.put(dst, h, &out.map(|v| v as u32), mask);
                    }
                }
                Ok(Flow::Next)
            })
        }
        _ => return None,
    })
}
