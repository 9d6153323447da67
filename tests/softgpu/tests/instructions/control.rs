//! Program flow (manuals: "Program Flow Control", SOPP, SOP1, SOPK), and the instructions that only order
//! or hint and so change nothing.

use crate::harness::{Case, Close, Reg, TARGETS, generation};
use softgpu::isa::testing::{State, run_asm};

/// What a branch decides by.
type Condition = fn(&State) -> bool;

fn low_if_narrow(s: &State, mask: u64) -> u64 {
    if s.lanes == 64 {
        mask
    } else {
        mask & 0xffff_ffff
    }
}

fn branches(cases: &mut Vec<Case>) {
    let all: [(&str, Condition); 7] = [
        ("s_branch", |_| true),
        ("s_cbranch_scc0", |s| !s.scc),
        ("s_cbranch_scc1", |s| s.scc),
        ("s_cbranch_vccz", |s| low_if_narrow(s, s.vcc) == 0),
        ("s_cbranch_vccnz", |s| low_if_narrow(s, s.vcc) != 0),
        ("s_cbranch_execz", |s| low_if_narrow(s, s.exec) == 0),
        ("s_cbranch_execnz", |s| low_if_narrow(s, s.exec) != 0),
    ];
    for (name, taken) in all {
        for wave64 in [false, true] {
            // Forward over an instruction, then backward once.
            // Local labels: others would stand in the disassembly instead of numbers.
            let l = format!(".L{name}_{wave64}");
            let asm = format!(
                "s_mov_b32 s0, 0\ns_mov_b32 s1, 0\n{name} {l}_f\ns_mov_b32 s0, 7\n{l}_f:\ns_branch {l}_t\n\
                 {l}_b:\ns_mov_b32 s1, 9\ns_branch {l}_e\n{l}_t:\n{name} {l}_b\n{l}_e:"
            );
            let case = Case::new(
                asm,
                |s, random, run| {
                    s.scc = run % 2 == 0;
                    // One half of a mask may be empty; waves of 32 have only the low one.
                    let half = [0, u64::MAX, 0xffff_ffff, 1 << 63 | 1 << 32];
                    s.vcc = half[run % 4] & random.next();
                    s.exec = half[run / 4 % 4] & if s.lanes == 64 { u64::MAX } else { 0xffff_ffff };
                },
                move |_, before, after| {
                    after.s[0] = if taken(before) { 0 } else { 7 };
                    after.s[1] = if taken(before) { 9 } else { 0 };
                },
            )
            .runs(16);
            cases.push(if wave64 { case.wave64() } else { case });
        }
    }
}

/// Calls; addresses of instructions are not compared.
fn calls(cases: &mut Vec<Case>) {
    let mut add = |asm: &str, registers: &[usize]| {
        let mut case = Case::new(
            asm,
            |_, _, _| {},
            |_, _, after| (after.s[0], after.s[1]) = (7, 5),
        );
        case.close = registers.iter().map(|r| (Reg::S(*r), Close::Any)).collect();
        cases.push(case.runs(2));
    };
    add(
        "s_mov_b32 s0, 0\ns_call_b64 s[4:5], .Lcall_f\ns_mov_b32 s1, 5\ns_branch .Lcall_e\n\
         .Lcall_f:\ns_mov_b32 s0, 7\ns_setpc_b64 s[4:5]\n.Lcall_e:",
        &[4, 5],
    );
    // Program counters count bytes from the next instruction; the called code is 20 bytes on.
    for add_low in ["s_add_u32", "s_add_co_u32"] {
        let add_high = if add_low == "s_add_u32" {
            "s_addc_u32"
        } else {
            "s_add_co_ci_u32"
        };
        let label = format!(".L{add_low}");
        let asm = format!(
            "s_getpc_b64 s[4:5]\n{add_low} s4, s4, 20\n{add_high} s5, s5, 0\ns_swappc_b64 s[6:7], s[4:5]\n\
             s_mov_b32 s1, 5\ns_branch {label}_e\ns_mov_b32 s0, 7\ns_setpc_b64 s[6:7]\n{label}_e:"
        );
        let mut case = Case::new(
            asm,
            |_, _, _| {},
            |_, _, after| {
                (after.s[0], after.s[1], after.scc) = (7, 5, false);
            },
        );
        case.close = (4..8).map(|r| (Reg::S(r), Close::Any)).collect();
        cases.push(case.runs(2));
    }
    // The end: nothing after it runs.
    for name in ["s_endpgm", "s_endpgm_saved"] {
        let asm = format!(
            "s_branch .L{name}_1\n.L{name}_0:\ns_mov_b32 s1, 5\n{name}\n.L{name}_1:\ns_mov_b32 s0, 7\ns_branch .L{name}_0"
        );
        let case = Case::new(
            asm,
            |_, _, _| {},
            |_, _, after| (after.s[0], after.s[1]) = (7, 5),
        );
        if name != "s_endpgm" {
            cases.push(case.runs(2));
        }
    }
}

/// Instructions without an effect on registers and memory.
fn quiet(cases: &mut Vec<Case>) {
    let all = [
        "s_nop 3",
        "s_clause 0x1",
        "s_delay_alu instid0(VALU_DEP_1)",
        "s_sleep 1",
        "s_sleep_var s2",
        "s_sendmsg sendmsg(MSG_INTERRUPT)",
        "s_icache_inv",
        "s_inst_prefetch 0x1",
        "s_set_inst_prefetch_distance 0x1",
        "s_setprio 1",
        "s_incperflevel 1",
        "s_decperflevel 1",
        "s_ttracedata",
        "s_ttracedata_imm 1",
        "s_code_end",
        "s_wait_idle",
        "s_wakeup",
        "s_version 0x2006",
        "s_round_mode 0x0",
        "s_denorm_mode 15",
        "s_wait_alu 0xfffe",
        "s_singleuse_vdst 0x1",
        "s_prefetch_inst s[2:3], 100, s8, 7",
        "s_prefetch_inst_pc_rel 100, s8, 7",
        "s_prefetch_data s[2:3], 100, s8, 7",
        "s_prefetch_data_pc_rel 100, s8, 7",
        "s_buffer_prefetch_data s[4:7], 100, s8, 7",
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        "s_waitcnt_vscnt null, 0x0",
        "s_waitcnt_vmcnt null, 0x0",
        "s_waitcnt_expcnt null, 0x0",
        "s_waitcnt_lgkmcnt null, 0x0",
        "s_waitcnt_depctr 0xfffe",
        "s_wait_event 0x3",
        "s_wait_loadcnt 0x0",
        "s_wait_storecnt 0x0",
        "s_wait_samplecnt 0x0",
        "s_wait_bvhcnt 0x0",
        "s_wait_expcnt 0x0",
        "s_wait_dscnt 0x0",
        "s_wait_kmcnt 0x0",
        "s_wait_loadcnt_dscnt 0x0",
        "s_wait_storecnt_dscnt 0x0",
        "s_dcache_inv",
        "s_dcache_wb",
        "s_dcache_inv_vol",
        "s_dcache_wb_vol",
        "s_dcache_discard s[2:3], 0x0",
        "s_dcache_discard_x2 s[2:3], 0x0",
        "s_gl1_inv",
        "buffer_gl0_inv",
        "buffer_gl1_inv",
        "buffer_inv sc1",
        "buffer_invl2",
        "buffer_wbl2",
        "buffer_wbl2 sc1",
        "buffer_wbinvl1",
        "buffer_wbinvl1_vol",
        "global_inv scope:SCOPE_DEV",
        "global_wb scope:SCOPE_SYS",
        "global_wbinv scope:SCOPE_SYS",
        "ds_nop",
        "v_nop",
        "v_pipeflush",
    ];
    for text in all {
        let case = Case::new(text, |_, _, _| {}, |_, _, _| {}).runs(1);
        cases.push(match text {
            // CDNA 2 knows no scopes here, CDNA 3 wants them.
            "buffer_wbl2" => case.on(|t| t == "gfx90a"),
            "buffer_wbl2 sc1" | "buffer_inv sc1" => case.on(|t| t == "gfx942"),
            _ => case,
        });
    }
    // One wave is the whole workgroup: its barrier opens at once.
    let lines = "s_barrier_signal -1\ns_barrier_wait -1";
    for text in ["s_barrier", lines] {
        let case = Case::new(text, |_, _, _| {}, |_, _, _| {}).runs(1);
        cases.push(if text == lines {
            case
        } else {
            case.on(|t| generation(t) < 12)
        });
    }
}

/// Mode and hardware registers: what the software GPU models of them.
fn registers(cases: &mut Vec<Case>) {
    let mut add = |text: &str, on: fn(&str) -> bool, zero: bool| {
        let case = Case::new(
            text,
            |_, _, _| {},
            move |_, _, after| {
                if zero {
                    after.s[0] = 0;
                }
            },
        );
        cases.push(case.runs(2).on(on));
    };
    // The first wave slot of the first unit.
    add(
        "s_getreg_b32 s0, hwreg(HW_REG_HW_ID)",
        |t| generation(t) == 9,
        true,
    );
    add(
        "s_getreg_b32 s0, hwreg(HW_REG_HW_ID1)",
        |t| generation(t) >= 10,
        true,
    );
    // Writing the modes that are already set: denormals kept, round to nearest even.
    add(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15",
        |_| true,
        false,
    );
    add(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
        |_| true,
        false,
    );
    add(
        "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s2",
        |t| generation(t) == 10,
        false,
    );
}

/// Register indexing by M0.
fn indexed(cases: &mut Vec<Case>) {
    for (name, from, to) in [
        ("v_movrels_b32", true, false),
        ("v_movreld_b32", false, true),
        ("v_movrelsd_b32", true, true),
    ] {
        cases.push(Case::new(
            format!("{name} v1, v2"),
            |s, _, run| s.m0 = run as u32,
            move |_, before, after| {
                let by = before.m0 as usize;
                let (from, to) = (2 + if from { by } else { 0 }, 1 + if to { by } else { 0 });
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    after.v[to][lane] = before.v[from][lane];
                }
            },
        ));
    }
    for (mode, from, to) in [
        ("SRC0", true, false),
        ("DST", false, true),
        ("SRC0,DST", true, true),
    ] {
        cases.push(Case::new(
            format!("s_set_gpr_idx_on s2, gpr_idx({mode})\nv_mov_b32 v1, v2\ns_set_gpr_idx_off\nv_mov_b32 v0, v1"),
            |s, random, run| s.s[2] = (random.next() as u32) << 8 | run as u32,
            move |_, before, after| {
                let by = (before.s[2] & 0xff) as usize;
                let (from, to) = (2 + if from { by } else { 0 }, 1 + if to { by } else { 0 });
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    after.v[to][lane] = before.v[from][lane];
                    after.v[0][lane] = after.v[1][lane];
                }
                // The index goes to M0's low byte, the mode to bits 12 to 15.
                let bits = u32::from(mode.contains("SRC0")) | u32::from(mode.contains("DST")) << 3;
                after.m0 = before.m0 & !0xf0ff | by as u32 | bits << 12;
            },
        ));
    }
}

/// The software GPU has one mode: denormals kept, to nearest even.
#[test]
fn other_modes_are_refused() {
    for target in TARGETS {
        for asm in [
            "s_setreg_b32 hwreg(HW_REG_MODE), s2",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3",
        ] {
            let error = run_asm(target, asm, &State::new(target));
            assert!(
                error.is_err_and(|e| e.contains("is not implemented")),
                "{target}: {asm}"
            );
        }
        for asm in ["s_round_mode 0x3", "s_denorm_mode 0"] {
            if generation(target) >= 10 {
                let error = run_asm(target, asm, &State::new(target));
                assert!(
                    error.is_err_and(|e| e.contains("not implemented")),
                    "{target}: {asm}"
                );
            }
        }
    }
}

#[test]
fn traps_stop_the_wave() {
    for target in TARGETS {
        let error = run_asm(target, "s_trap 2", &State::new(target));
        assert!(error.is_err_and(|e| e.contains("trapped")), "{target}");
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    branches(&mut cases);
    calls(&mut cases);
    quiet(&mut cases);
    registers(&mut cases);
    indexed(&mut cases);
    cases
}
