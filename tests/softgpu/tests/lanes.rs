//! Instructions that move data between lanes, index registers or address LDS, one by one.

use softgpu::isa::testing::{State, run_asm};

const RDNA: [&str; 7] = [
    "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
];
const CDNA: [&str; 2] = ["gfx90a", "gfx942"];

/// v1 = 100 + lane, v2 = 7 * lane mod 64.
fn state(target: &str) -> State {
    let mut s = State::new(target);
    s.v[1] = std::array::from_fn(|l| 100 + l as u32);
    s.v[2] = std::array::from_fn(|l| 7 * l as u32 % 64);
    s
}

/// v0 after `asm`, lane by lane.
#[track_caller]
fn check(target: &str, asm: &str, input: &State, want: impl Fn(u32) -> u32) {
    let out = run_asm(target, asm, input).unwrap_or_else(|e| panic!("{target}: {asm}: {e}"));
    for lane in 0..input.lanes {
        assert_eq!(
            out.v[0][lane],
            want(lane as u32),
            "{target}: {asm}: lane {lane}"
        );
    }
}

#[test]
fn dpp_controls() {
    for target in RDNA {
        let s = state(target);
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_share:3 row_mask:0xf bank_mask:0xf",
            &s,
            |l| 100 + (l & 16) + 3,
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_xmask:5 row_mask:0xf bank_mask:0xf",
            &s,
            |l| 100 + (l ^ 5),
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 dpp8:[7,0,1,2,3,4,5,6]",
            &s,
            |l| 100 + (l & !7) + ((l + 7) & 7),
        );
        // In place: all lanes read before any is written.
        check(
            target,
            "v_mov_b32 v0, v1\nv_add_nc_u32_dpp v0, v0, v0 row_ror:1 row_mask:0xf bank_mask:0xf",
            &s,
            |l| 200 + l + (l & 16) + ((l + 15) & 15),
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0x2 bank_mask:0x5",
            &s,
            |l| {
                if l >= 16 && l / 4 % 2 == 0 {
                    100 + (l ^ 3)
                } else {
                    0
                }
            },
        );
        let mut half = state(target);
        half.exec = 0x0000_ffff;
        half.v[0] = [9; 64];
        // Inactive sources: zero with bound_ctrl, nothing written without.
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_mirror row_mask:0xf bank_mask:0xf",
            &half,
            |l| {
                if l < 16 { 100 + 15 - l } else { 9 }
            },
        );
        half.exec = 0x0000_00ff;
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_shl:4 row_mask:0xf bank_mask:0xf",
            &half,
            |l| {
                if l < 4 { 104 + l } else { 9 }
            },
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_shl:4 row_mask:0xf bank_mask:0xf bound_ctrl:1",
            &half,
            |l| match l {
                0..4 => 104 + l,
                4..8 => 0,
                _ => 9,
            },
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_shl:4 row_mask:0xf bank_mask:0xf fi:1",
            &half,
            |l| {
                if l < 8 { 104 + l } else { 9 }
            },
        );
    }
    for target in CDNA {
        let s = state(target);
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf",
            &s,
            |l| {
                if l / 16 % 2 == 1 {
                    100 + (l & 48) - 1
                } else {
                    0
                }
            },
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_bcast:31 row_mask:0xc bank_mask:0xf",
            &s,
            |l| if l >= 32 { 131 } else { 0 },
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 wave_shr:1 row_mask:0xf bank_mask:0xf",
            &s,
            |l| if l > 0 { 99 + l } else { 0 },
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_newbcast:2 row_mask:0xf bank_mask:0xf",
            &s,
            |l| 102 + (l & 48),
        );
        check(
            target,
            "v_mov_b32_dpp v0, v1 row_half_mirror row_mask:0xf bank_mask:0xf",
            &s,
            |l| 100 + (l ^ 7),
        );
    }
}

#[test]
fn permutes() {
    for target in RDNA.into_iter().chain(CDNA) {
        let mut s = state(target);
        let n = s.lanes as u32;
        s.v[3] = std::array::from_fn(|l| 4 * (l as u32 ^ 9));
        check(target, "ds_bpermute_b32 v0, v3, v1", &s, |l| 100 + (l ^ 9));
        s.v[3] = std::array::from_fn(|l| 4 * (l as u32 + 5));
        check(target, "ds_permute_b32 v0, v3, v1", &s, |l| {
            100 + (l + n - 5) % n
        });
        check(
            target,
            "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)",
            &s,
            |l| 100 + (l ^ 16),
        );
        check(
            target,
            "ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,1,1,3,3)",
            &s,
            |l| 100 + (l | 1),
        );
        check(
            target,
            "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,3)",
            &s,
            |l| 100 + (l & !7) + 3,
        );
        check(
            target,
            "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"0pi1p\")",
            &s,
            |l| 100 + ((l & 0x2d) ^ 4 | 2),
        );
        s.exec = 0xfff0;
        s.s[4] = 3;
        let out = run_asm(
            target,
            "v_readfirstlane_b32 s0, v1\nv_readlane_b32 s1, v1, 2\nv_writelane_b32 v0, s4, 1",
            &s,
        )
        .unwrap();
        assert_eq!(
            (out.s[0], out.s[1], out.v[0][1], out.v[0][2]),
            (104, 102, 3, 0),
            "{target}"
        );
        s.exec = if n == 64 { u64::MAX } else { 0xffff_ffff };
        let count = if n == 64 {
            "v_mbcnt_lo_u32_b32 v0, s0, 0\nv_mbcnt_hi_u32_b32 v0, s1, v0"
        } else {
            "v_mbcnt_lo_u32_b32 v0, s0, 0"
        };
        (s.s[0], s.s[1]) = (0xf0f0_1111, 0x8000_0001);
        let bits = 0x8000_0001_f0f0_1111u64;
        check(target, count, &s, |l| {
            (bits & ((1u64 << l) - 1)).count_ones()
        });
    }
    for target in RDNA {
        let mut s = state(target);
        (s.s[0], s.s[1]) = (0x0123_4567, 0x89ab_cdef);
        let pick = |l: u32| (0x89ab_cdef_0123_4567u64 >> (4 * (l & 15)) & 15) as u32;
        check(target, "v_permlane16_b32 v0, v1, s0, s1", &s, |l| {
            100 + (l & 16) + pick(l)
        });
        check(target, "v_permlanex16_b32 v0, v1, s0, s1", &s, |l| {
            100 + (l & 16 ^ 16) + pick(l)
        });
        if target.starts_with("gfx12") {
            check(target, "v_permlanex16_var_b32 v0, v1, v2", &s, |l| {
                100 + (l & 16 ^ 16) + 7 * l % 16
            });
        }
        if !target.starts_with("gfx10") {
            let mut wide = State::wide(target);
            wide.v[1] = std::array::from_fn(|l| l as u32);
            check(target, "v_permlane64_b32 v0, v1", &wide, |l| l ^ 32);
        }
    }
}

#[test]
fn indexed_registers() {
    let mut s = state("gfx1100");
    s.m0 = 1;
    for target in RDNA {
        check(target, "v_movrels_b32 v0, v1", &s, |l| 7 * l % 64);
        let out = run_asm(target, "v_movreld_b32 v4, v1", &s).unwrap();
        assert_eq!((out.v[4][3], out.v[5][3]), (0, 103));
    }
    let mut s = state("gfx90a");
    s.s[2] = 1;
    for target in CDNA {
        check(
            target,
            "s_set_gpr_idx_on s2, gpr_idx(SRC0)\nv_mov_b32 v0, v1\ns_set_gpr_idx_off",
            &s,
            |l| 7 * l % 64,
        );
        let e = run_asm(
            target,
            "s_set_gpr_idx_on s2, gpr_idx(SRC0)\nv_add_f32 v0, v1, v1\ns_set_gpr_idx_off",
            &s,
        );
        assert!(e.unwrap_err().contains("relative register"));
    }
}

#[test]
fn byte_and_word_selections() {
    for target in ["gfx90a", "gfx942", "gfx1030"] {
        let mut s = state(target);
        s.v[3] = [0x80ff_7f01; 64];
        s.v[4] = [0x1234_5678; 64];
        s.v[0] = [0xaaaa_bbbb; 64];
        let add = if target == "gfx1030" {
            "v_add_nc_u32_sdwa"
        } else {
            "v_add_u32_sdwa"
        };
        let run = |tail: &str, want: u32| {
            check(target, &format!("{add} v0, v3, v4 {tail}"), &s, |_| want)
        };
        run(
            "dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1",
            0x7f + 0x1234,
        );
        run(
            "dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_3",
            0x0013_bbbb,
        );
        run(
            "dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_0",
            0x7900,
        );
        run(
            "dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_3 src1_sel:BYTE_2",
            0xffff_ffb4,
        );
        let text = format!(
            "{add} v0, sext(v3), v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:DWORD"
        );
        check(target, &text, &s, |_| 0x1234_5677);
    }
}

#[test]
fn lds_forms() {
    for target in RDNA.into_iter().chain(CDNA) {
        let mut s = state(target);
        s.v[3] = std::array::from_fn(|l| 16 * l as u32);
        for (i, b) in s.lds.iter_mut().enumerate() {
            *b = (i * 7 % 251) as u8;
        }
        let lds = s.lds.clone();
        let at = |a: u32| u32::from_le_bytes(lds[a as usize..a as usize + 4].try_into().unwrap());
        let new = target.starts_with("gfx11") || target.starts_with("gfx12");
        let word = |old: &str, text: &str| {
            if new {
                text.to_string()
            } else {
                old.to_string()
            }
        };
        let asm = word(
            "ds_read2_b32 v[4:5], v3 offset0:1 offset1:3",
            "ds_load_2addr_b32 v[4:5], v3 offset0:1 offset1:3",
        );
        check(target, &format!("{asm}\nv_xor_b32 v0, v4, v5"), &s, |l| {
            at(16 * l + 4) ^ at(16 * l + 12)
        });
        let asm = word(
            "ds_read2st64_b32 v[4:5], v3 offset0:1 offset1:2",
            "ds_load_2addr_stride64_b32 v[4:5], v3 offset0:1 offset1:2",
        );
        check(target, &format!("{asm}\nv_xor_b32 v0, v4, v5"), &s, |l| {
            at(16 * l + 256) ^ at(16 * l + 512)
        });
        let asm = word(
            "ds_read_b128 v[4:7], v3 offset:32",
            "ds_load_b128 v[4:7], v3 offset:32",
        );
        check(target, &format!("{asm}\nv_xor_b32 v0, v4, v7"), &s, |l| {
            at(16 * l + 32) ^ at(16 * l + 44)
        });
        let asm = word("ds_read_i8 v0, v3 offset:5", "ds_load_i8 v0, v3 offset:5");
        check(target, &asm, &s, |l| {
            i32::from(lds[16 * l as usize + 5] as i8) as u32
        });
        let asm = word(
            "ds_read_u16_d16_hi v0, v3 offset:2",
            "ds_load_u16_d16_hi v0, v3 offset:2",
        );
        s.v[0] = [0x5555; 64];
        check(target, &asm, &s, |l| (at(16 * l) & 0xffff_0000) | 0x5555);
        let asm = word(
            "ds_add_rtn_u32 v0, v3, v1 offset:4",
            "ds_add_rtn_u32 v0, v3, v1 offset:4",
        );
        let out = run_asm(target, &asm, &s).unwrap();
        assert_eq!(out.v[0][3], at(52));
        assert_eq!(out.lds[52..56], at(52).wrapping_add(103).to_le_bytes());
        let asm = word(
            "ds_cmpst_rtn_b32 v0, v3, v4, v1",
            "ds_cmpstore_rtn_b32 v0, v3, v1, v4",
        );
        s.v[4] = std::array::from_fn(|l| if l % 2 == 0 { at(16 * l as u32) } else { 1 });
        let out = run_asm(target, &asm, &s).unwrap();
        assert_eq!(out.lds[32..36], 102u32.to_le_bytes(), "{target}");
        assert_eq!(out.lds[48..52], at(48).to_le_bytes(), "{target}");
    }
}

#[test]
fn what_is_missing_says_so() {
    let e = run_asm(
        "gfx1201",
        "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[16:23], v24",
        &State::new("gfx1201"),
    );
    assert!(
        e.unwrap_err()
            .contains("v_swmmac_f32_16x16x32_f16 is not implemented")
    );
}
