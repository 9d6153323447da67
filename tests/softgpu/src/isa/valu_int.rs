//! Vector integer and bit operations.

use super::decode::Target;
use super::disassembly::Text;
use super::lanes::{Carry, carry, d3, l1, l2, l3};
use super::operand::Ty::{B16, B32, B64, F16, I64};
use super::valu::{Fun, Op, a1, a2, a3, wide};
use super::wave::Row64;

/// Sign-extends the low 24 bits.
#[inline(always)]
fn i24(v: u32) -> i32 {
    (v << 8) as i32 >> 8
}

#[inline(always)]
fn i16of(v: u32) -> i32 {
    i32::from(v as i16)
}

#[inline(always)]
fn u16of(v: u32) -> u32 {
    v & 0xffff
}

fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.min(b).max(a.max(b).min(c))
}

/// Leading bits equal to the sign, minus one; all-equal gives -1.
fn cls(v: u32) -> u32 {
    let flipped = if (v as i32) < 0 { !v } else { v };
    if flipped == 0 {
        u32::MAX
    } else {
        flipped.leading_zeros()
    }
}

/// `v_perm_b32`: each selector byte takes a byte of {a, b} or a constant.
#[inline(always)]
fn perm(a: u32, b: u32, select: u32) -> u32 {
    let data = u64::from(a) << 32 | u64::from(b);
    let mut out = 0;
    for i in 0..4 {
        let s = select >> (8 * i) & 0xff;
        let byte = match s {
            0..=7 => (data >> (8 * s)) as u32 & 0xff,
            // 8..=11 replicate the sign of bytes 1, 3, 5 and 7.
            8..=11 => (data >> (16 * (s - 8) + 15) & 1) as u32 * 0xff,
            12 => 0,
            _ => 0xff,
        };
        out |= byte << (8 * i);
    }
    out
}

/// Bit field, signed.
fn bfe_signed(a: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    match width {
        0 => 0,
        _ if offset + width < 32 => ((a << (32 - offset - width)) as i32 >> (32 - width)) as u32,
        _ => (a as i32 >> offset) as u32,
    }
}

#[inline(always)]
fn bfe_unsigned(a: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    a >> offset & ((1u32 << width) - 1)
}

fn sad_u8(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, i| {
        sum.wrapping_add((a >> (8 * i) & 0xff).abs_diff(b >> (8 * i) & 0xff))
    })
}

fn mad_u64(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) -> u32 {
    let mut mask = 0;
    for i in 0..32 {
        let (v, carry) = (u64::from(a[i] as u32) * u64::from(b[i] as u32)).overflowing_add(c[i]);
        out[i] = v;
        mask |= u32::from(carry) << i;
    }
    mask
}

fn mad_i64(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) -> u32 {
    let mut mask = 0;
    for i in 0..32 {
        let product = i64::from(a[i] as i32) * i64::from(b[i] as i32);
        let (v, carry) = product.overflowing_add(c[i] as i64);
        out[i] = v as u64;
        mask |= u32::from(carry) << i;
    }
    mask
}

/// Names of 32-bit additions without carry differ between gfx9 and later.
fn saturated(name: &str) -> Option<Op> {
    let op = match name {
        "v_add_u32" | "v_add_nc_u32" => a2(B32, l2(u32::saturating_add)),
        "v_sub_u32" | "v_sub_nc_u32" => a2(B32, l2(u32::saturating_sub)),
        "v_subrev_u32" | "v_subrev_nc_u32" => a2(B32, l2(|a, b| b.saturating_sub(a))),
        "v_add_i32" | "v_add_nc_i32" => {
            a2(B32, l2(|a, b| (a as i32).saturating_add(b as i32) as u32))
        }
        "v_sub_i32" | "v_sub_nc_i32" => {
            a2(B32, l2(|a, b| (a as i32).saturating_sub(b as i32) as u32))
        }
        "v_add_u16" | "v_add_nc_u16" => a2(
            B16,
            l2(|a, b| u32::from((a as u16).saturating_add(b as u16))),
        ),
        "v_sub_u16" | "v_sub_nc_u16" => a2(
            B16,
            l2(|a, b| u32::from((a as u16).saturating_sub(b as u16))),
        ),
        "v_add_i16" | "v_add_nc_i16" => a2(
            B16,
            l2(|a, b| u32::from((a as i16).saturating_add(b as i16) as u16)),
        ),
        "v_sub_i16" | "v_sub_nc_i16" => a2(
            B16,
            l2(|a, b| u32::from((a as i16).saturating_sub(b as i16) as u16)),
        ),
        "v_mad_u32_u24" => a3(
            B32,
            l3(|a, b, c| {
                let v = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) + u64::from(c);
                v.min(u64::from(u32::MAX)) as u32
            }),
        ),
        "v_mad_i32_i24" => a3(
            B32,
            l3(|a, b, c| {
                let v = i64::from(i24(a)) * i64::from(i24(b)) + i64::from(c as i32);
                v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
            }),
        ),
        _ => return None,
    };
    // The signed 16-bit ones are new with gfx9 and keep the high half there.
    Some(if name.ends_with("_i16") {
        op.saturating().keeps()
    } else {
        op.saturating()
    })
}

/// The operation of this name.
pub fn find(t: &Text, target: &Target) -> Result<Option<Op>, String> {
    let name = t.name.as_str();
    if t.has("clamp")
        && let Some(op) = saturated(name)
    {
        return Ok(Some(op));
    }
    Ok(bits(name)
        .or_else(|| arithmetic(name))
        .or_else(|| short(name, target))
        .or_else(|| with_masks(name)))
}

/// `v_mov_b32`.
pub fn plain_move() -> Op {
    a1(B32, l1(|a| a))
}

fn bits(name: &str) -> Option<Op> {
    Some(match name {
        "v_mov_b32" | "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => {
            a1(B32, l1(|a| a))
        }
        "v_mov_b16" => a1(B16, l1(|a| a)),
        "v_mov_b64" => wide(1, B64, d3(|a, _, _| a)),
        "v_not_b32" => a1(B32, l1(|a| !a)),
        "v_not_b16" => a1(B16, l1(|a| u16of(!a))),
        "v_and_b32" => a2(B32, l2(|a, b| a & b)),
        "v_or_b32" => a2(B32, l2(|a, b| a | b)),
        "v_xor_b32" => a2(B32, l2(|a, b| a ^ b)),
        "v_xnor_b32" => a2(B32, l2(|a, b| !(a ^ b))),
        "v_and_b16" => a2(B16, l2(|a, b| u16of(a & b))),
        "v_or_b16" => a2(B16, l2(|a, b| u16of(a | b))),
        "v_xor_b16" => a2(B16, l2(|a, b| u16of(a ^ b))),
        "v_bfrev_b32" => a1(B32, l1(u32::reverse_bits)),
        "v_bcnt_u32_b32" => a2(B32, l2(|a, b| a.count_ones().wrapping_add(b))),
        "v_ffbh_u32" | "v_clz_i32_u32" => a1(
            B32,
            l1(|a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        ),
        "v_ffbl_b32" | "v_ctz_i32_b32" => a1(
            B32,
            l1(|a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        ),
        "v_ffbh_i32" | "v_cls_i32" => a1(B32, l1(cls)),
        "v_bfm_b32" => a2(B32, l2(|a, b| ((1u32 << (a & 31)) - 1) << (b & 31))),
        "v_bfe_u32" => a3(B32, l3(bfe_unsigned)),
        "v_bfe_i32" => a3(B32, l3(bfe_signed)),
        "v_bfi_b32" => a3(B32, l3(|a, b, c| a & b | !a & c)),
        "v_alignbit_b32" => a3(
            B32,
            l3(|a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32),
        ),
        "v_alignbyte_b32" => a3(
            B32,
            l3(|a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32),
        ),
        "v_perm_b32" => a3(B32, l3(perm)),
        "v_and_or_b32" => a3(B32, l3(|a, b, c| a & b | c)),
        "v_or3_b32" => a3(B32, l3(|a, b, c| a | b | c)),
        "v_xor3_b32" => a3(B32, l3(|a, b, c| a ^ b ^ c)),
        "v_xad_u32" => a3(B32, l3(|a, b, c| (a ^ b).wrapping_add(c))),
        "v_lshl_or_b32" => a3(B32, l3(|a, b, c| a << (b & 31) | c)),
        "v_lshl_add_u32" => a3(B32, l3(|a, b, c| (a << (b & 31)).wrapping_add(c))),
        "v_add_lshl_u32" => a3(B32, l3(|a, b, c| a.wrapping_add(b) << (c & 31))),
        "v_lshlrev_b32" => a2(B32, l2(|a, b| b << (a & 31))),
        "v_lshrrev_b32" => a2(B32, l2(|a, b| b >> (a & 31))),
        "v_ashrrev_i32" => a2(B32, l2(|a, b| (b as i32 >> (a & 31)) as u32)),
        "v_lshlrev_b64" => wide(2, B64, d3(|a, b, _| b << (a & 63))).src(B32, B64, B32),
        "v_lshrrev_b64" => wide(2, B64, d3(|a, b, _| b >> (a & 63))).src(B32, B64, B32),
        "v_ashrrev_i64" => {
            wide(2, B64, d3(|a, b, _| (b as i64 >> (a & 63)) as u64)).src(B32, I64, B32)
        }
        "v_lshl_add_u64" => {
            wide(3, B64, d3(|a, b, c| (a << (b & 7)).wrapping_add(c))).src(B64, B32, B64)
        }
        "v_pack_b32_f16" => a2(B32, l2(|a, b| u16of(a) | b << 16)).src(F16, F16, F16),
        "v_sat_pk_u8_i16" => a1(
            B16,
            l1(|a| {
                let one = |v: u32| i16of(v).clamp(0, 255) as u32;
                one(a) | one(a >> 16) << 8
            }),
        )
        .src(B32, B32, B32),
        _ => return None,
    })
}

fn arithmetic(name: &str) -> Option<Op> {
    Some(match name {
        "v_add_u32" | "v_add_nc_u32" | "v_add_i32" | "v_add_nc_i32" => {
            a2(B32, l2(u32::wrapping_add))
        }
        "v_sub_u32" | "v_sub_nc_u32" | "v_sub_i32" | "v_sub_nc_i32" => {
            a2(B32, l2(u32::wrapping_sub))
        }
        "v_subrev_u32" | "v_subrev_nc_u32" => a2(B32, l2(|a, b| b.wrapping_sub(a))),
        "v_add3_u32" => a3(B32, l3(|a, b, c| a.wrapping_add(b).wrapping_add(c))),
        "v_mul_lo_u32" | "v_mul_lo_i32" => a2(B32, l2(u32::wrapping_mul)),
        "v_mul_hi_u32" => a2(B32, l2(|a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32)),
        "v_mul_hi_i32" => a2(
            B32,
            l2(|a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32),
        ),
        "v_mul_u32_u24" => a2(B32, l2(|a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff))),
        "v_mul_i32_i24" => a2(B32, l2(|a, b| i24(a).wrapping_mul(i24(b)) as u32)),
        "v_mul_hi_u32_u24" => a2(
            B32,
            l2(|a, b| ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 32) as u32),
        ),
        "v_mul_hi_i32_i24" => a2(
            B32,
            l2(|a, b| ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as u32),
        ),
        "v_mad_u32_u24" => a3(
            B32,
            l3(|a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)),
        ),
        "v_mad_i32_i24" => a3(
            B32,
            l3(|a, b, c| (i24(a).wrapping_mul(i24(b)) as u32).wrapping_add(c)),
        ),
        "v_mad_u32_u16" => {
            a3(B32, l3(|a, b, c| (u16of(a) * u16of(b)).wrapping_add(c))).src(B16, B16, B32)
        }
        "v_mad_i32_i16" => a3(
            B32,
            l3(|a, b, c| ((i16of(a) * i16of(b)) as u32).wrapping_add(c)),
        )
        .src(B16, B16, B32),
        "v_min_u32" => a2(B32, l2(u32::min)),
        "v_max_u32" => a2(B32, l2(u32::max)),
        "v_min_i32" => a2(B32, l2(|a, b| (a as i32).min(b as i32) as u32)),
        "v_max_i32" => a2(B32, l2(|a, b| (a as i32).max(b as i32) as u32)),
        "v_min3_u32" => a3(B32, l3(|a, b, c| a.min(b).min(c))),
        "v_max3_u32" => a3(B32, l3(|a, b, c| a.max(b).max(c))),
        "v_med3_u32" => a3(B32, l3(median)),
        "v_min3_i32" => a3(
            B32,
            l3(|a, b, c| (a as i32).min(b as i32).min(c as i32) as u32),
        ),
        "v_max3_i32" => a3(
            B32,
            l3(|a, b, c| (a as i32).max(b as i32).max(c as i32) as u32),
        ),
        "v_med3_i32" => a3(
            B32,
            l3(|a, b, c| median(a as i32, b as i32, c as i32) as u32),
        ),
        "v_maxmin_u32" => a3(B32, l3(|a, b, c| a.max(b).min(c))),
        "v_minmax_u32" => a3(B32, l3(|a, b, c| a.min(b).max(c))),
        "v_maxmin_i32" => a3(
            B32,
            l3(|a, b, c| (a as i32).max(b as i32).min(c as i32) as u32),
        ),
        "v_minmax_i32" => a3(
            B32,
            l3(|a, b, c| (a as i32).min(b as i32).max(c as i32) as u32),
        ),
        "v_sad_u8" => a3(B32, l3(sad_u8)),
        "v_sad_hi_u8" => a3(B32, l3(|a, b, c| (sad_u8(a, b, 0) << 16).wrapping_add(c))),
        "v_sad_u16" => a3(
            B32,
            l3(|a, b, c| {
                let low = u16of(a).abs_diff(u16of(b));
                c.wrapping_add(low)
                    .wrapping_add((a >> 16).abs_diff(b >> 16))
            }),
        ),
        "v_sad_u32" => a3(B32, l3(|a, b, c| c.wrapping_add(a.abs_diff(b)))),
        "v_msad_u8" => a3(
            B32,
            l3(|a, b, c| {
                (0..4).fold(c, |sum, i| {
                    let (x, y) = (a >> (8 * i) & 0xff, b >> (8 * i) & 0xff);
                    sum.wrapping_add(if y == 0 { 0 } else { x.abs_diff(y) })
                })
            }),
        ),
        "v_lerp_u8" => a3(
            B32,
            l3(|a, b, c| {
                (0..4).fold(0, |out, i| {
                    let s = 8 * i;
                    out | (((a >> s & 0xff) + (b >> s & 0xff) + (c >> s & 1)) >> 1) << s
                })
            }),
        ),
        _ => return None,
    })
}

/// 16-bit integers. VOP3-only ones keep the high half on gfx9 as well.
fn short(name: &str, target: &Target) -> Option<Op> {
    let op = match name {
        "v_add_u16" | "v_add_nc_u16" | "v_add_i16" | "v_add_nc_i16" => {
            a2(B16, l2(|a, b| u16of(a.wrapping_add(b))))
        }
        "v_sub_u16" | "v_sub_nc_u16" | "v_sub_i16" | "v_sub_nc_i16" => {
            a2(B16, l2(|a, b| u16of(a.wrapping_sub(b))))
        }
        "v_subrev_u16" => a2(B16, l2(|a, b| u16of(b.wrapping_sub(a)))),
        "v_mul_lo_u16" => a2(B16, l2(|a, b| u16of(a.wrapping_mul(b)))),
        "v_min_u16" => a2(B16, l2(|a, b| u16of(a).min(u16of(b)))),
        "v_max_u16" => a2(B16, l2(|a, b| u16of(a).max(u16of(b)))),
        "v_min_i16" => a2(B16, l2(|a, b| i16of(a).min(i16of(b)) as u16 as u32)),
        "v_max_i16" => a2(B16, l2(|a, b| i16of(a).max(i16of(b)) as u16 as u32)),
        "v_lshlrev_b16" => a2(B16, l2(|a, b| u16of(b << (a & 15)))),
        "v_lshrrev_b16" => a2(B16, l2(|a, b| u16of(b) >> (a & 15))),
        "v_ashrrev_i16" => a2(B16, l2(|a, b| u16of((i16of(b) >> (a & 15)) as u32))),
        "v_mad_u16" | "v_mad_i16" | "v_mad_legacy_u16" | "v_mad_legacy_i16" => {
            a3(B16, l3(|a, b, c| u16of(a.wrapping_mul(b).wrapping_add(c))))
        }
        "v_min3_u16" => a3(B16, l3(|a, b, c| u16of(a).min(u16of(b)).min(u16of(c)))),
        "v_max3_u16" => a3(B16, l3(|a, b, c| u16of(a).max(u16of(b)).max(u16of(c)))),
        "v_med3_u16" => a3(B16, l3(|a, b, c| median(u16of(a), u16of(b), u16of(c)))),
        "v_min3_i16" => a3(
            B16,
            l3(|a, b, c| u16of(i16of(a).min(i16of(b)).min(i16of(c)) as u32)),
        ),
        "v_max3_i16" => a3(
            B16,
            l3(|a, b, c| u16of(i16of(a).max(i16of(b)).max(i16of(c)) as u32)),
        ),
        "v_med3_i16" => a3(
            B16,
            l3(|a, b, c| u16of(median(i16of(a), i16of(b), i16of(c)) as u32)),
        ),
        _ => return None,
    };
    // Those with a 32-bit encoding on gfx9 clear the high half there.
    let vop2 = !name.contains('3')
        && (!name.contains("mad") || name.contains("legacy"))
        && !name.contains("_nc_")
        && !name.ends_with("_i16")
        || matches!(
            name,
            "v_min_i16" | "v_max_i16" | "v_ashrrev_i16" | "v_mad_legacy_i16"
        );
    Some(if target.generation == 9 && vop2 {
        op
    } else {
        op.keeps()
    })
}

fn with_masks(name: &str) -> Option<Op> {
    let new = |f: Carry, reads: bool| Op::new(Fun::Carry(f, reads), B32);
    Some(match name {
        "v_add_co_u32" => new(carry(|a, b, _c| a + b), false),
        "v_sub_co_u32" => new(carry(|a, b, _c| a.wrapping_sub(b)), false),
        "v_subrev_co_u32" => new(carry(|a, b, _c| b.wrapping_sub(a)), false),
        "v_addc_co_u32" | "v_add_co_ci_u32" => new(carry(|a, b, c| a + b + c), true),
        "v_subb_co_u32" | "v_sub_co_ci_u32" => {
            new(carry(|a, b, c| a.wrapping_sub(b).wrapping_sub(c)), true)
        }
        "v_subbrev_co_u32" | "v_subrev_co_ci_u32" => {
            new(carry(|a, b, c| b.wrapping_sub(a).wrapping_sub(c)), true)
        }
        "v_mad_u64_u32" | "v_mad_co_u64_u32" => {
            Op::new(Fun::WideCarry(mad_u64), B64).src(B32, B32, B64)
        }
        "v_mad_i64_i32" | "v_mad_co_i64_i32" => {
            Op::new(Fun::WideCarry(mad_i64), B64).src(B32, B32, I64)
        }
        "v_cndmask_b32" => Op::new(Fun::Select, B32),
        "v_cndmask_b16" => Op::new(Fun::Select, B16),
        "v_mbcnt_lo_u32_b32" => Op::new(
            Fun::Lane(|a, b, lane| {
                let below = if lane >= 32 {
                    u32::MAX
                } else {
                    (1 << lane) - 1
                };
                (a & below).count_ones().wrapping_add(b)
            }),
            B32,
        ),
        "v_mbcnt_hi_u32_b32" => Op::new(
            Fun::Lane(|a, b, lane| {
                let below = if lane < 32 { 0 } else { (1 << (lane - 32)) - 1 };
                (a & below).count_ones().wrapping_add(b)
            }),
            B32,
        ),
        _ => return None,
    })
}
