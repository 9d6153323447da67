//! What scalar instructions compute, by their names.

use super::operand::Ty;

pub(super) type Logic = fn(u64, u64) -> u64;

/// Bitwise operations of two sources, for both widths.
pub(super) fn logic(name: &str) -> Option<Logic> {
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
pub(super) fn save(name: &str) -> Option<Logic> {
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
pub(super) type Two = fn(u32, u32, bool) -> (u32, Option<bool>);

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

pub(super) fn two(name: &str) -> Option<Two> {
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
pub(super) type One = fn(u32) -> (u32, Option<bool>);

pub(super) fn one(name: &str) -> Option<One> {
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

pub(super) type Wide = fn(u64, u64, bool) -> (u64, Option<bool>);

fn set64(v: u64) -> (u64, Option<bool>) {
    (v, Some(v != 0))
}

/// 64-bit results: sources' types and the operation.
pub(super) fn wide(name: &str) -> Option<([Ty; 2], usize, Wide)> {
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

pub(super) type Narrow = fn(u64) -> (u32, Option<bool>);

/// 32-bit results of a 64-bit source.
pub(super) fn narrow(name: &str) -> Option<Narrow> {
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
pub(super) fn compare(name: &str) -> Option<fn(u64, u64) -> bool> {
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
