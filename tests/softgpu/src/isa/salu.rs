//! Scalar ALU: integers, bits, masks; control flow is in `branch`, floats in `salu_float`.

use super::branch;
use super::decode::{Map, Target};
use super::disassembly::Text;
use super::operand::{EXEC, Src, Ty};
use super::wave::{Flow, Run};

pub use super::salu_float::decode_scalar_float;

type Logic = fn(u64, u64) -> u64;

/// Bitwise operations of two sources, for both widths.
fn logic(name: &str) -> Option<Logic> {
    Some(match name {
        "s_and" => |a, b| a & b,
        "s_or" => |a, b| a | b,
        "s_xor" => |a, b| a ^ b,
        "s_andn2" | "s_and_not1" => |a, b| a & !b,
        "s_orn2" | "s_or_not1" => |a, b| a | !b,
        "s_nand" => |a, b| !(a & b),
        "s_nor" => |a, b| !(a | b),
        "s_xnor" => |a, b| !(a ^ b),
        _ => return None,
    })
}

/// The new EXEC of `s_<op>_saveexec` from the source and the old EXEC.
fn save(name: &str) -> Option<Logic> {
    Some(match name {
        "s_and_saveexec" => |a, e| a & e,
        "s_or_saveexec" => |a, e| a | e,
        "s_xor_saveexec" => |a, e| a ^ e,
        "s_andn2_saveexec" | "s_and_not1_saveexec" => |a, e| a & !e,
        "s_orn2_saveexec" | "s_or_not1_saveexec" => |a, e| a | !e,
        "s_nand_saveexec" => |a, e| !(a & e),
        "s_nor_saveexec" => |a, e| !(a | e),
        "s_xnor_saveexec" => |a, e| !(a ^ e),
        "s_andn1_saveexec" | "s_and_not0_saveexec" => |a, e| !a & e,
        "s_orn1_saveexec" | "s_or_not0_saveexec" => |a, e| !a | e,
        _ => return None,
    })
}

/// 32-bit result and SCC from two sources and the old SCC.
type Two = fn(u32, u32, bool) -> (u32, Option<bool>);

fn set(v: u32) -> (u32, Option<bool>) {
    (v, Some(v != 0))
}

fn add(a: u32, b: u32, c: bool) -> (u32, Option<bool>) {
    let wide = u64::from(a) + u64::from(b) + u64::from(c);
    (wide as u32, Some(wide >> 32 != 0))
}

fn sub(a: u32, b: u32, c: bool) -> (u32, Option<bool>) {
    let borrow = u64::from(b) + u64::from(c) > u64::from(a);
    (a.wrapping_sub(b).wrapping_sub(u32::from(c)), Some(borrow))
}

fn shift_add(a: u32, n: u32, b: u32) -> (u32, Option<bool>) {
    let wide = (u64::from(a) << n) + u64::from(b);
    (wide as u32, Some(wide >> 32 != 0))
}

fn bfe_u(a: u64, b: u32, bits: u32) -> u64 {
    let (offset, width) = (b & (bits - 1), b >> 16 & 0x7f);
    if width == 0 {
        0
    } else {
        a >> offset & (u64::MAX >> (64 - width.min(64)))
    }
}

fn bfe_i(a: i64, b: u32, bits: u32) -> i64 {
    let (offset, width) = (b & (bits - 1), b >> 16 & 0x7f);
    if width == 0 {
        return 0;
    }
    let v = a >> offset;
    if width >= bits {
        v
    } else {
        v << (64 - width) >> (64 - width)
    }
}

fn two(name: &str) -> Option<Two> {
    Some(match name {
        "s_add_u32" | "s_add_co_u32" => |a, b, _| add(a, b, false),
        "s_sub_u32" | "s_sub_co_u32" => |a, b, _| sub(a, b, false),
        "s_addc_u32" | "s_add_co_ci_u32" => add,
        "s_subb_u32" | "s_sub_co_ci_u32" => sub,
        "s_add_i32" | "s_add_co_i32" => |a, b, _| {
            let (v, o) = (a as i32).overflowing_add(b as i32);
            (v as u32, Some(o))
        },
        "s_sub_i32" | "s_sub_co_i32" => |a, b, _| {
            let (v, o) = (a as i32).overflowing_sub(b as i32);
            (v as u32, Some(o))
        },
        "s_min_i32" => |a, b, _| ((a as i32).min(b as i32) as u32, Some((a as i32) < b as i32)),
        "s_min_u32" => |a, b, _| (a.min(b), Some(a < b)),
        "s_max_i32" => |a, b, _| ((a as i32).max(b as i32) as u32, Some(a as i32 >= b as i32)),
        "s_max_u32" => |a, b, _| (a.max(b), Some(a >= b)),
        "s_cselect_b32" => |a, b, scc| (if scc { a } else { b }, None),
        "s_lshl_b32" => |a, b, _| set(a << (b & 31)),
        "s_lshr_b32" => |a, b, _| set(a >> (b & 31)),
        "s_ashr_i32" => |a, b, _| set((a as i32 >> (b & 31)) as u32),
        "s_bfm_b32" => |a, b, _| (((1u32 << (a & 31)) - 1) << (b & 31), None),
        "s_mul_i32" => |a, b, _| (a.wrapping_mul(b), None),
        "s_mul_hi_u32" => |a, b, _| (((u64::from(a) * u64::from(b)) >> 32) as u32, None),
        "s_mul_hi_i32" => |a, b, _| {
            (
                ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
                None,
            )
        },
        "s_bfe_u32" => |a, b, _| set(bfe_u(u64::from(a), b, 32) as u32),
        "s_bfe_i32" => |a, b, _| set(bfe_i(i64::from(a as i32), b, 32) as u32),
        "s_absdiff_i32" => |a, b, _| set((a as i32).wrapping_sub(b as i32).unsigned_abs()),
        "s_lshl1_add_u32" => |a, b, _| shift_add(a, 1, b),
        "s_lshl2_add_u32" => |a, b, _| shift_add(a, 2, b),
        "s_lshl3_add_u32" => |a, b, _| shift_add(a, 3, b),
        "s_lshl4_add_u32" => |a, b, _| shift_add(a, 4, b),
        "s_pack_ll_b32_b16" => |a, b, _| (a & 0xffff | b << 16, None),
        "s_pack_lh_b32_b16" => |a, b, _| (a & 0xffff | b & 0xffff_0000, None),
        "s_pack_hh_b32_b16" => |a, b, _| (a >> 16 | b & 0xffff_0000, None),
        "s_pack_hl_b32_b16" => |a, b, _| (a >> 16 | b << 16, None),
        _ => return None,
    })
}

/// 32-bit result and SCC from one source.
type One = fn(u32) -> (u32, Option<bool>);

fn one(name: &str) -> Option<One> {
    Some(match name {
        "s_mov_b32" => |a| (a, None),
        "s_not_b32" => |a| set(!a),
        "s_brev_b32" => |a| (a.reverse_bits(), None),
        "s_bcnt0_i32_b32" => |a| set(a.count_zeros()),
        "s_bcnt1_i32_b32" => |a| set(a.count_ones()),
        "s_ff0_i32_b32" => |a| {
            (
                if a == u32::MAX {
                    u32::MAX
                } else {
                    a.trailing_ones()
                },
                None,
            )
        },
        "s_ff1_i32_b32" | "s_ctz_i32_b32" => {
            |a| (if a == 0 { u32::MAX } else { a.trailing_zeros() }, None)
        }
        "s_flbit_i32_b32" | "s_clz_i32_u32" => {
            |a| (if a == 0 { u32::MAX } else { a.leading_zeros() }, None)
        }
        "s_flbit_i32" | "s_cls_i32" => |a| {
            let flipped = if (a as i32) < 0 { !a } else { a };
            (
                if flipped == 0 {
                    u32::MAX
                } else {
                    flipped.leading_zeros()
                },
                None,
            )
        },
        "s_sext_i32_i8" => |a| (i32::from(a as i8) as u32, None),
        "s_sext_i32_i16" => |a| (i32::from(a as i16) as u32, None),
        "s_abs_i32" => |a| set((a as i32).unsigned_abs()),
        "s_wqm_b32" => |a| {
            let quads = (0..8).fold(0, |m, q| {
                m | if a >> (4 * q) & 15 != 0 {
                    15 << (4 * q)
                } else {
                    0
                }
            });
            set(quads)
        },
        _ => return None,
    })
}

type Wide = fn(u64, u64, bool) -> (u64, Option<bool>);

fn set64(v: u64) -> (u64, Option<bool>) {
    (v, Some(v != 0))
}

/// 64-bit results: sources' types and the operation.
fn wide(name: &str) -> Option<([Ty; 2], usize, Wide)> {
    use Ty::{B32, B64, I64};
    let b = [B64, B64];
    Some(match name {
        "s_mov_b64" => (b, 1, |a, _, _| (a, None)),
        "s_not_b64" => (b, 1, |a, _, _| set64(!a)),
        "s_brev_b64" => (b, 1, |a, _, _| (a.reverse_bits(), None)),
        "s_cselect_b64" => (b, 2, |a, b, scc| (if scc { a } else { b }, None)),
        "s_lshl_b64" => ([B64, B32], 2, |a, b, _| set64(a << (b & 63))),
        "s_lshr_b64" => ([B64, B32], 2, |a, b, _| set64(a >> (b & 63))),
        "s_ashr_i64" => ([I64, B32], 2, |a, b, _| {
            set64((a as i64 >> (b & 63)) as u64)
        }),
        "s_bfm_b64" => ([B32, B32], 2, |a, b, _| {
            (((1u64 << (a & 63)) - 1) << (b & 63), None)
        }),
        "s_bfe_u64" => ([B64, B32], 2, |a, b, _| set64(bfe_u(a, b as u32, 64))),
        "s_bfe_i64" => ([I64, B32], 2, |a, b, _| {
            set64(bfe_i(a as i64, b as u32, 64) as u64)
        }),
        "s_mul_u64" => (b, 2, |a, b, _| (a.wrapping_mul(b), None)),
        "s_add_u64" | "s_add_nc_u64" => (b, 2, |a, b, _| (a.wrapping_add(b), None)),
        "s_sub_u64" | "s_sub_nc_u64" => (b, 2, |a, b, _| (a.wrapping_sub(b), None)),
        "s_wqm_b64" => (b, 1, |a, _, _| {
            set64((0..16).fold(0, |m, q| {
                m | if a >> (4 * q) & 15 != 0 {
                    15 << (4 * q)
                } else {
                    0
                }
            }))
        }),
        _ => return None,
    })
}

type Narrow = fn(u64) -> (u32, Option<bool>);

/// 32-bit results of a 64-bit source.
fn narrow(name: &str) -> Option<Narrow> {
    Some(match name {
        "s_bcnt0_i32_b64" => |a| set(a.count_zeros()),
        "s_bcnt1_i32_b64" => |a| set(a.count_ones()),
        "s_ff0_i32_b64" => |a| {
            (
                if a == u64::MAX {
                    u32::MAX
                } else {
                    a.trailing_ones()
                },
                None,
            )
        },
        "s_ff1_i32_b64" | "s_ctz_i32_b64" => {
            |a| (if a == 0 { u32::MAX } else { a.trailing_zeros() }, None)
        }
        "s_flbit_i32_b64" | "s_clz_i32_u64" => {
            |a| (if a == 0 { u32::MAX } else { a.leading_zeros() }, None)
        }
        _ => return None,
    })
}

/// Comparisons into SCC.
fn compare(name: &str) -> Option<fn(u64, u64) -> bool> {
    fn i(v: u64) -> i32 {
        v as u32 as i32
    }
    fn u(v: u64) -> u32 {
        v as u32
    }
    Some(match name {
        "eq_i32" | "eq_u32" => |a, b| u(a) == u(b),
        "lg_i32" | "lg_u32" => |a, b| u(a) != u(b),
        "gt_i32" => |a, b| i(a) > i(b),
        "ge_i32" => |a, b| i(a) >= i(b),
        "lt_i32" => |a, b| i(a) < i(b),
        "le_i32" => |a, b| i(a) <= i(b),
        "gt_u32" => |a, b| u(a) > u(b),
        "ge_u32" => |a, b| u(a) >= u(b),
        "lt_u32" => |a, b| u(a) < u(b),
        "le_u32" => |a, b| u(a) <= u(b),
        "eq_u64" => |a, b| a == b,
        "lg_u64" => |a, b| a != b,
        _ => return None,
    })
}

/// Decodes a scalar instruction, or None when the name is unknown.
pub fn decode(
    t: &Text,
    target: &Target,
    pc: u64,
    size: u64,
    map: &Map,
) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    if let Some(run) = branch::decode(t, target, pc, size, map)? {
        return Ok(Some(run));
    }
    if let Some(run) = masks(t)? {
        return Ok(Some(run));
    }
    if let Some(rest) = name.strip_prefix("s_cmp_")
        && let Some(f) = compare(rest)
    {
        let ty = if rest.ends_with("64") {
            Ty::B64
        } else {
            Ty::B32
        };
        let (a, b) = (t.operand(0)?.src(ty)?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            w.scc = f(w.s64(a), w.s64(b));
            Ok(Flow::Next)
        })));
    }
    if let Some(rest) = name.strip_prefix("s_cmpk_")
        && let Some(f) = compare(rest)
    {
        let (a, k) = (t.operand(0)?.src(Ty::B32)?, t.operand(1)?.int()?);
        let k = if rest.ends_with("u32") {
            u64::from(k as u16)
        } else {
            i64::from(k as i16) as u64
        };
        return Ok(Some(Box::new(move |w, _| {
            w.scc = f(u64::from(w.s32(a)), k);
            Ok(Flow::Next)
        })));
    }
    if let Some(f) = one(name) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
        return Ok(Some(Box::new(move |w, _| {
            let (v, scc) = f(w.s32(a));
            w.set_s32(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some(f) = two(name) {
        let dst = t.operand(0)?.sgpr()?;
        let (a, b) = (t.operand(1)?.src(Ty::B32)?, t.operand(2)?.src(Ty::B32)?);
        return Ok(Some(Box::new(move |w, _| {
            let (v, scc) = f(w.s32(a), w.s32(b), w.scc);
            w.set_s32(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some((ty, n, f)) = wide(name) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(ty[0])?);
        let b = if n == 2 {
            t.operand(2)?.src(ty[1])?
        } else {
            Src::K(0)
        };
        let narrow_b = ty[1] == Ty::B32;
        let narrow_a = ty[0] == Ty::B32;
        return Ok(Some(Box::new(move |w, _| {
            let a = if narrow_a {
                u64::from(w.s32(a))
            } else {
                w.s64(a)
            };
            let b = if narrow_b {
                u64::from(w.s32(b))
            } else {
                w.s64(b)
            };
            let (v, scc) = f(a, b, w.scc);
            w.set_pair(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some(f) = narrow(name) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B64)?);
        return Ok(Some(Box::new(move |w, _| {
            let (v, scc) = f(w.s64(a));
            w.set_s32(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some(run) = odd(t)? {
        return Ok(Some(run));
    }
    decode_scalar_float(t)
}

/// Bitwise operations and EXEC saves, both widths.
fn masks(t: &Text) -> Result<Option<Run>, String> {
    let (stem, broad) = match (t.name.strip_suffix("_b32"), t.name.strip_suffix("_b64")) {
        (Some(s), _) => (s, false),
        (_, Some(s)) => (s, true),
        _ => return Ok(None),
    };
    let ty = if broad { Ty::B64 } else { Ty::B32 };
    if let Some(f) = logic(stem) {
        let dst = t.operand(0)?.sgpr()?;
        let (a, b) = (t.operand(1)?.src(ty)?, t.operand(2)?.src(ty)?);
        return Ok(Some(if broad {
            Box::new(move |w, _| {
                let v = f(w.s64(a), w.s64(b));
                w.set_pair(dst, v);
                w.scc = v != 0;
                Ok(Flow::Next)
            })
        } else {
            Box::new(move |w, _| {
                let v = f(u64::from(w.s32(a)), u64::from(w.s32(b))) as u32;
                w.set_s32(dst, v);
                w.scc = v != 0;
                Ok(Flow::Next)
            })
        }));
    }
    if let Some(f) = save(stem) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            if broad {
                let (old, a) = (w.pair(EXEC), w.s64(a));
                w.set_pair(dst, old);
                w.set_pair(EXEC, f(a, old));
                w.scc = w.pair(EXEC) != 0;
            } else {
                let (old, a) = (w.s[EXEC as usize], w.s32(a));
                w.set_s32(dst, old);
                w.set_s32(EXEC, f(u64::from(a), u64::from(old)) as u32);
                w.scc = w.s[EXEC as usize] != 0;
            }
            Ok(Flow::Next)
        })));
    }
    // The *_wrexec forms give the new EXEC to the destination as well.
    let wrexec: Option<Logic> = match stem {
        "s_andn1_wrexec" | "s_and_not0_wrexec" => Some(|a, e| !a & e),
        "s_andn2_wrexec" | "s_and_not1_wrexec" => Some(|a, e| a & !e),
        _ => None,
    };
    if let Some(f) = wrexec {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            if broad {
                let v = f(w.s64(a), w.pair(EXEC));
                w.set_pair(EXEC, v);
                w.set_pair(dst, v);
                w.scc = v != 0;
            } else {
                let v = f(u64::from(w.s32(a)), u64::from(w.s[EXEC as usize])) as u32;
                w.set_s32(EXEC, v);
                w.set_s32(dst, v);
                w.scc = v != 0;
            }
            Ok(Flow::Next)
        })));
    }
    Ok(None)
}

/// Immediates in the instruction, conditional moves, single bits.
fn odd(t: &Text) -> Result<Option<Run>, String> {
    let run: Run = match t.name.as_str() {
        "s_movk_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16) as u32,
            );
            Box::new(move |w, _| {
                w.set_s32(dst, k);
                Ok(Flow::Next)
            })
        }
        "s_cmovk_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16) as u32,
            );
            Box::new(move |w, _| {
                if w.scc {
                    w.set_s32(dst, k);
                }
                Ok(Flow::Next)
            })
        }
        "s_addk_i32" | "s_addk_co_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16),
            );
            Box::new(move |w, _| {
                let (v, overflow) = (w.s[dst as usize] as i32).overflowing_add(k);
                w.set_s32(dst, v as u32);
                w.scc = overflow;
                Ok(Flow::Next)
            })
        }
        "s_mulk_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16),
            );
            Box::new(move |w, _| {
                w.s[dst as usize] = (w.s[dst as usize] as i32).wrapping_mul(k) as u32;
                Ok(Flow::Next)
            })
        }
        "s_cmov_b32" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                if w.scc {
                    w.set_s32(dst, w.s32(a));
                }
                Ok(Flow::Next)
            })
        }
        "s_cmov_b64" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B64)?);
            Box::new(move |w, _| {
                if w.scc {
                    w.set_pair(dst, w.s64(a));
                }
                Ok(Flow::Next)
            })
        }
        "s_bitcmp0_b32" | "s_bitcmp1_b32" | "s_bitcmp0_b64" | "s_bitcmp1_b64" => {
            let broad = t.name.ends_with("64");
            let want = t.name.contains('1');
            let ty = if broad { Ty::B64 } else { Ty::B32 };
            let (a, b) = (t.operand(0)?.src(ty)?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let v = if broad {
                    w.s64(a) >> (w.s32(b) & 63)
                } else {
                    u64::from(w.s32(a) >> (w.s32(b) & 31))
                };
                w.scc = (v & 1 != 0) == want;
                Ok(Flow::Next)
            })
        }
        "s_bitset0_b32" | "s_bitset1_b32" => {
            let one = t.name.contains("set1");
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let bit = 1 << (w.s32(a) & 31);
                let r = &mut w.s[dst as usize];
                *r = if one { *r | bit } else { *r & !bit };
                Ok(Flow::Next)
            })
        }
        "s_bitset0_b64" | "s_bitset1_b64" => {
            let one = t.name.contains("set1");
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let bit = 1u64 << (w.s32(a) & 63);
                let old = w.pair(dst);
                w.set_pair(dst, if one { old | bit } else { old & !bit });
                Ok(Flow::Next)
            })
        }
        "s_bitreplicate_b64_b32" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let a = w.s32(a);
                let v = (0..32).fold(0u64, |v, i| v | ((u64::from(a >> i & 1) * 3) << (2 * i)));
                w.set_pair(dst, v);
                Ok(Flow::Next)
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(run))
}
