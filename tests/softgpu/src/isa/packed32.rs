//! Packed f32 of gfx90a and gfx942: two 32-bit operations on the words that op_sel picks.

use super::disassembly::Text;
use super::lanes::{L2, L3, f2, f3, l2, write_row};
use super::operand::{Src, Ty};
use super::wave::{Flow, Row, Run, Wave};

/// One word of a source pair: which one, and its sign.
#[derive(Clone, Copy)]
struct Word {
    src: Src,
    neg: bool,
}

impl Word {
    /// The row's address; constants, scalars and negated rows are made in `buffer`.
    #[inline(always)]
    fn row(&self, w: &Wave, h: usize, buffer: &mut Row) -> *const Row {
        let plain = match self.src {
            Src::V(r) => &w.rows[w.at(r, h)],
            other => {
                *buffer = [w.s32(other); 32];
                &*buffer
            }
        };
        if self.neg {
            let flipped = plain.map(|v| v ^ 0x8000_0000);
            *buffer = flipped;
            return buffer;
        }
        plain
    }
}

/// The operations; a move takes its low word from the first source and its high word from the second.
#[derive(Clone, Copy)]
enum Fun {
    Two(L2),
    Three(L3),
    Move(L2),
}

/// Decodes `v_pk_{add,mul,fma}_f32` and `v_pk_mov_b32`, or None.
pub fn decode(t: &Text) -> Result<Option<Run>, String> {
    let fun = match t.name.as_str() {
        "v_pk_add_f32" => Fun::Two(f2(|a, b| a + b)),
        "v_pk_mul_f32" => Fun::Two(f2(|a, b| a * b)),
        "v_pk_fma_f32" => Fun::Three(f3(f32::mul_add)),
        "v_pk_mov_b32" => Fun::Move(l2(|a, _| a)),
        _ => return Ok(None),
    };
    if t.has("clamp") || t.dpp {
        return Err("clamp or DPP on packed f32 is not implemented".into());
    }
    let dst = t.operand(0)?.vgpr()?;
    let bits = |name: &str, default: u32| t.bits(name).map(|b| b.unwrap_or(default));
    let (low, high) = (bits("op_sel", 0)?, bits("op_sel_hi", 7)?);
    let (neg_low, neg_high) = (bits("neg_lo", 0)?, bits("neg_hi", 0)?);
    let n = if matches!(fun, Fun::Three(_)) { 3 } else { 2 };
    // Words of the low and of the high operation.
    let nothing = Word {
        src: Src::K(0),
        neg: false,
    };
    let mut words = [[nothing; 3]; 2];
    t.operand(n)?;
    for (k, o) in t.operands.iter().skip(1).take(n).enumerate() {
        if o.neg || o.abs {
            return Err("a sign on a packed operand is not implemented".into());
        }
        for (half, (pick, neg)) in [(low, neg_low), (high, neg_high)].into_iter().enumerate() {
            let word = (pick >> k & 1) as u16;
            words[half][k] = Word {
                src: match o.src(Ty::PF32)? {
                    Src::V(r) => Src::V(r + word),
                    Src::S(r) => Src::S(r + word),
                    other => other,
                },
                neg: neg >> k & 1 != 0,
            };
        }
    }
    if let Fun::Move(_) = fun {
        // op_sel alone decides: bit 0 for the first source, bit 1 for the second.
        words[1][0] = words[0][1];
    }
    Ok(Some(Box::new(move |w, g| {
        for h in 0..w.halves {
            let mut low = [0; 32];
            let mask = w.exec_half(h);
            let (at, above) = (w.at(dst, h), w.at(dst + 1, h));
            for (half, words) in words.iter().enumerate() {
                let [ba, bb, bc] = &mut g.buffers;
                let (a, b) = (words[0].row(w, h, ba), words[1].row(w, h, bb));
                // The low result waits: its register may be a source of the high operation.
                let (out, lanes) = if half == 0 {
                    (&raw mut low, u32::MAX)
                } else {
                    (&raw mut w.rows[above], mask)
                };
                // SAFETY: rows of this wave and buffers; all sources are read before the write.
                unsafe {
                    match fun {
                        Fun::Two(f) | Fun::Move(f) => f(a, b, out, lanes),
                        Fun::Three(f) => f(a, b, words[2].row(w, h, bc), out, lanes),
                    }
                }
            }
            // SAFETY: a row of this wave.
            unsafe { write_row(&raw mut w.rows[at], &low, mask) };
        }
        Ok(Flow::Next)
    })))
}
