//! Control flow: branches, calls, barriers, the end, mode registers, and what has no effect here.

use super::decode::{Map, Target};
use super::disassembly::Text;
use super::operand::{M0, Src, Ty, VCC};
use super::wave::{Fail, Flow, Run, Wave};

/// Instructions that only order, delay or hint: in-order execution needs none of them.
pub fn has_no_effect(name: &str) -> bool {
    name.starts_with("s_wait_")
        || name.starts_with("s_waitcnt")
        || matches!(
            name,
            "s_nop"
                | "s_clause"
                | "s_delay_alu"
                | "s_sleep"
                | "s_sleep_var"
                | "s_sendmsg"
                | "s_icache_inv"
                | "s_inst_prefetch"
                | "s_set_inst_prefetch_distance"
                | "s_setprio"
                | "s_incperflevel"
                | "s_decperflevel"
                | "s_ttracedata"
                | "s_ttracedata_imm"
                | "s_code_end"
                | "s_wait_idle"
                | "s_wakeup"
                | "s_version"
                | "s_round_mode"
                | "s_denorm_mode"
                | "s_wait_alu"
                | "s_singleuse_vdst"
                | "s_prefetch_inst"
                | "s_prefetch_inst_pc_rel"
                | "s_prefetch_data"
                | "s_prefetch_data_pc_rel"
                | "s_buffer_prefetch_data"
        )
}

type Condition = fn(&Wave) -> bool;

fn condition(name: &str) -> Option<Condition> {
    Some(match name {
        "s_branch" => |_| true,
        "s_cbranch_scc0" => |w| !w.scc,
        "s_cbranch_scc1" => |w| w.scc,
        "s_cbranch_vccz" => |w| w.mask(Src::S(VCC)) == 0,
        "s_cbranch_vccnz" => |w| w.mask(Src::S(VCC)) != 0,
        "s_cbranch_execz" => |w| w.exec() == 0,
        "s_cbranch_execnz" => |w| w.exec() != 0,
        _ => return None,
    })
}

/// Decodes control flow, or None.
pub fn decode(
    t: &Text,
    _target: &Target,
    pc: u64,
    size: u64,
    map: &Map,
) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    if name == "s_round_mode" && t.operand(0)?.int()? & 15 != 0 {
        return Err("rounding modes other than nearest even are not implemented".into());
    }
    if name == "s_denorm_mode" && t.operand(0)?.int()? & 15 != 15 {
        return Err("flushing denormals is not implemented".into());
    }
    if has_no_effect(name) {
        return Ok(Some(Box::new(|_, _| Ok(Flow::Next))));
    }
    let next = pc + size;
    let to = |i: usize| -> Result<usize, String> {
        let words = i64::from(t.operand(i)?.int()? as i16);
        let pc = next.wrapping_add_signed(words * 4);
        map.find(pc)
            .ok_or_else(|| format!("branch to {pc:#x}, where no instruction begins"))
    };
    if let Some(f) = condition(name) {
        let to = to(0)?;
        return Ok(Some(Box::new(move |w, _| {
            if f(w) {
                w.pc = to;
            }
            Ok(Flow::Next)
        })));
    }
    let run: Run = match name {
        "s_endpgm" | "s_endpgm_saved" => Box::new(|_, _| Ok(Flow::End)),
        "s_trap" => Box::new(|_, _| Err(Fail::lane(0, "the kernel trapped (assertion or abort)"))),
        "s_barrier" => Box::new(|_, _| Ok(Flow::Barrier)),
        "s_barrier_signal" => {
            whole_group(t)?;
            Box::new(|w, _| {
                if w.signalled {
                    return Err(Fail::lane(0, "barrier signalled twice without a wait"));
                }
                w.signalled = true;
                Ok(Flow::Next)
            })
        }
        "s_barrier_wait" => {
            whole_group(t)?;
            Box::new(|w, _| {
                if !w.signalled {
                    return Err(Fail::lane(0, "barrier wait without a signal"));
                }
                Ok(Flow::Barrier)
            })
        }
        "s_set_gpr_idx_on" => {
            let by = t.operand(0)?.src(Ty::B32)?;
            let text = t.odd.first().map(String::as_str).unwrap_or("");
            let mut mode = 0u32;
            for (name, bit) in [("SRC0", 1), ("SRC1", 2), ("SRC2", 4), ("DST", 8)] {
                mode |= if text.contains(name) { bit } else { 0 };
            }
            Box::new(move |w, _| {
                let by = w.s32(by) & 0xff;
                w.set_s32(M0, w.s[M0 as usize] & !0xf0ff | by | mode << 12);
                w.gpr_index = Some((mode, by));
                Ok(Flow::Next)
            })
        }
        "s_set_gpr_idx_off" => Box::new(|w, _| {
            w.gpr_index = None;
            Ok(Flow::Next)
        }),
        "s_getpc_b64" => {
            let dst = t.operand(0)?.sgpr()?;
            Box::new(move |w, g| {
                w.set_pair(dst, g.base().wrapping_add(next));
                Ok(Flow::Next)
            })
        }
        "s_setpc_b64" => {
            let a = t.operand(0)?.src(Ty::B64)?;
            Box::new(move |w, g| {
                w.pc = g.instruction_at(w.s64(a))?;
                Ok(Flow::Next)
            })
        }
        "s_swappc_b64" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B64)?);
            Box::new(move |w, g| {
                w.pc = g.instruction_at(w.s64(a))?;
                w.set_pair(dst, g.base().wrapping_add(next));
                Ok(Flow::Next)
            })
        }
        "s_call_b64" => {
            let (dst, to) = (t.operand(0)?.sgpr()?, to(1)?);
            Box::new(move |w, g| {
                w.set_pair(dst, g.base().wrapping_add(next));
                w.pc = to;
                Ok(Flow::Next)
            })
        }
        "s_getreg_b32" => {
            let (dst, register) = (
                t.operand(0)?.sgpr()?,
                t.odd.first().cloned().unwrap_or_default(),
            );
            // Places of the wave on the chip: there is one place here.
            let known = [
                "HW_REG_HW_ID",
                "HW_REG_XCC_ID",
                "HW_REG_STATUS",
                "HW_REG_IB_STS",
                "HW_REG_SHADER_CYCLES",
            ];
            if !known.iter().any(|k| register.contains(k)) {
                return Err(format!("s_getreg of {register} is not implemented"));
            }
            Box::new(move |w, _| {
                w.set_s32(dst, 0);
                Ok(Flow::Next)
            })
        }
        "s_setreg_b32" | "s_setreg_imm32_b32" => {
            let register = t.odd.first().cloned().unwrap_or_default();
            let harmless = register.contains("HW_REG_FLAT_SCR")
                || register.contains("HW_REG_WAVE_SCHED_MODE")
                || register.contains("HW_REG_SCHED_MODE")
                || keeps_mode(&register, t);
            if !harmless {
                return Err(format!("s_setreg of {register} is not implemented"));
            }
            Box::new(|_, _| Ok(Flow::Next))
        }
        _ => return Ok(None),
    };
    Ok(Some(run))
}

/// Writes of the MODE register that ask for what is done anyway (denormals kept, nearest even).
fn keeps_mode(register: &str, t: &Text) -> bool {
    let Some(inner) = register
        .strip_prefix("hwreg(HW_REG_")
        .and_then(|r| r.strip_suffix(')'))
    else {
        return false;
    };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    if !matches!(parts.first(), Some(&"MODE" | &"WAVE_MODE")) {
        return false;
    }
    let number = |i: usize| parts.get(i).and_then(|p| p.parse::<u32>().ok());
    let value = t.operands.iter().find_map(|o| o.int().ok());
    match (number(1), number(2), value) {
        // Denormal bits 4..8 all on, or rounding bits 0..4 all off.
        (Some(offset), Some(width), Some(value)) if offset >= 4 && offset + width <= 8 => {
            value == (1 << width) - 1
        }
        (Some(offset), Some(width), Some(value)) if offset + width <= 4 => value == 0,
        _ => false,
    }
}

fn whole_group(t: &Text) -> Result<(), String> {
    match t.operand(0)?.int()? as i16 {
        -1 => Ok(()),
        other => Err(format!(
            "barrier {other} is not implemented (only the workgroup's, -1)"
        )),
    }
}
