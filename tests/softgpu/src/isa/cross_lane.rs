//! Instructions that move data between lanes: DPP, permlane, readlane, writelane.

use super::decode::Target;
use super::disassembly::{Text, list};
use super::operand::{M0, Src, Ty};
use super::wave::{Fail, Flow, Row, Run, Step, Wave};

/// A DPP control: for each lane the lane it reads.
#[derive(Clone, Debug)]
pub struct Dpp {
    /// Source lane, or -1 where it lies outside the row or wave.
    map: [i8; 64],
    /// Lanes that row_mask and bank_mask leave on.
    enabled: u64,
    /// Invalid sources read as zero instead of disabling the lane.
    zero: bool,
    fetch_inactive: bool,
}

fn number(v: &str) -> Result<i8, String> {
    v.parse()
        .map_err(|_| format!("DPP control {v} is no number"))
}

impl Dpp {
    /// Reads the control from the instruction's modifiers.
    pub fn parse(t: &Text, target: &Target) -> Result<Dpp, String> {
        let row_mask = t
            .value("row_mask")
            .map_or(Ok(15), |_| t.number("row_mask"))?;
        let bank_mask = t
            .value("bank_mask")
            .map_or(Ok(15), |_| t.number("bank_mask"))?;
        let mut enabled = 0u64;
        for lane in 0..64 {
            if row_mask >> (lane / 16) & 1 != 0 && bank_mask >> (lane % 16 / 4) & 1 != 0 {
                enabled |= 1 << lane;
            }
        }
        let fetch_inactive = t.number("fi")? != 0;
        if let Some(v) = t.value("dpp8") {
            let sel = list(v)
                .filter(|l| l.len() == 8)
                .ok_or("dpp8 needs eight lanes")?;
            let map = std::array::from_fn(|i| (i & !7) as i8 + (sel[i & 7] & 7) as i8);
            return Ok(Dpp {
                map,
                enabled: u64::MAX,
                zero: true,
                fetch_inactive,
            });
        }
        let zero = t.has("bound_ctrl");
        let row = |f: &dyn Fn(i8) -> i8| -> [i8; 64] {
            std::array::from_fn(|i| {
                let to = f((i & 15) as i8);
                if (0..16).contains(&to) {
                    (i & !15) as i8 + to
                } else {
                    -1
                }
            })
        };
        let map = if let Some(v) = t.value("quad_perm") {
            let sel = list(v)
                .filter(|l| l.len() == 4)
                .ok_or("quad_perm needs four lanes")?;
            std::array::from_fn(|i| (i & !3) as i8 + (sel[i & 3] & 3) as i8)
        } else if let Some(v) = t.value("row_shl") {
            let n = number(v)?;
            row(&|i| i + n)
        } else if let Some(v) = t.value("row_shr") {
            let n = number(v)?;
            row(&|i| i - n)
        } else if let Some(v) = t.value("row_ror") {
            let n = number(v)?;
            row(&|i| (i - n) & 15)
        } else if let Some(v) = t.value("row_share").or(t.value("row_newbcast")) {
            let n = number(v)?;
            row(&|_| n)
        } else if let Some(v) = t.value("row_xmask") {
            let n = number(v)?;
            row(&|i| i ^ n)
        } else if t.has("row_mirror") {
            row(&|i| 15 - i)
        } else if t.has("row_half_mirror") {
            row(&|i| (i & 8) + 7 - (i & 7))
        } else if target.generation != 9 {
            return Err(format!("unknown DPP control {:?}", t.modifiers));
        } else if let Some(v) = t.value("row_bcast") {
            match v {
                "15" => std::array::from_fn(|i| if i >= 16 { (i & !15) as i8 - 1 } else { -1 }),
                "31" => std::array::from_fn(|i| if i >= 32 { 31 } else { -1 }),
                _ => return Err(format!("unknown DPP row_bcast:{v}")),
            }
        } else if t.has("wave_shl") {
            std::array::from_fn(|i| if i < 63 { i as i8 + 1 } else { -1 })
        } else if t.has("wave_shr") {
            std::array::from_fn(|i| i as i8 - 1)
        } else if t.has("wave_rol") {
            std::array::from_fn(|i| ((i + 1) & 63) as i8)
        } else if t.has("wave_ror") {
            std::array::from_fn(|i| ((i + 63) & 63) as i8)
        } else {
            return Err(format!("unknown DPP control {:?}", t.modifiers));
        };
        Ok(Dpp {
            map,
            enabled,
            zero,
            fetch_inactive,
        })
    }

    /// The permuted row; lanes that must not be written are cleared in `enable`.
    pub fn fetch(&self, w: &Wave, register: u16, h: usize, row: &mut Row, enable: &mut u32) {
        let exec = w.exec();
        *enable &= (self.enabled >> (32 * h)) as u32;
        let map = &self.map[32 * h..32 * h + 32];
        // All lanes that there are take part, each from its own half.
        let all = self.fetch_inactive || exec == w.all();
        if all && map.iter().all(|from| *from < 0 || *from as usize / 32 == h) {
            let source = &w.rows[w.at(register, h)];
            let mut valid = 0;
            for (i, from) in map.iter().enumerate() {
                let inside = *from >= 0;
                row[i] = if inside {
                    source[*from as usize & 31]
                } else {
                    0
                };
                valid |= u32::from(inside) << i;
            }
            if !self.zero {
                *enable &= valid;
            }
            return;
        }
        for (i, out) in row.iter_mut().enumerate() {
            let from = map[i];
            let valid = from >= 0 && (self.fetch_inactive || exec >> from & 1 != 0);
            if valid {
                *out = w.lane(Src::V(register), from as usize);
            } else {
                *out = 0;
                if !self.zero {
                    *enable &= !(1 << i);
                }
            }
        }
    }
}

/// Decodes a cross-lane instruction, or None when the name is another family's.
pub fn decode(t: &Text, target: &Target) -> Result<Option<Run>, String> {
    let run: Run = match t.name.as_str() {
        "v_readfirstlane_b32" => {
            let (dst, src) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let v = w.lane(src, w.first_lane());
                w.set_s32(dst, v);
                Ok(Flow::Next)
            })
        }
        "v_readlane_b32" => {
            let (dst, src) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            let lane = t.operand(2)?.src(Ty::B32)?;
            Box::new(move |w, _| {
                let lane = w.s32(lane) as usize & (w.lanes - 1);
                let v = w.lane(src, lane);
                w.set_s32(dst, v);
                Ok(Flow::Next)
            })
        }
        "v_writelane_b32" => {
            let dst = t.operand(0)?.vgpr()?;
            let (value, lane) = (t.operand(1)?.src(Ty::B32)?, t.operand(2)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let (v, lane) = (w.s32(value), w.s32(lane) as usize & (w.lanes - 1));
                w.set_lane(dst, lane, v);
                Ok(Flow::Next)
            })
        }
        "v_permlane16_b32"
        | "v_permlanex16_b32"
        | "v_permlane16_var_b32"
        | "v_permlanex16_var_b32" => permlane16(t)?,
        "v_permlane64_b32" => {
            let (dst, src) = (t.operand(0)?.vgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                // In a wave of 32 there is no other half: nothing happens.
                if w.lanes == 64 {
                    let rows: [Row; 2] = std::array::from_fn(|h| {
                        let mut buffer = [0; 32];
                        *w.row(src, 1 - h, &mut buffer)
                    });
                    for (h, row) in rows.iter().enumerate() {
                        w.put(dst, h, row, w.exec_half(h));
                    }
                }
                Ok(Flow::Next)
            })
        }
        "v_swap_b32" => {
            let (a, b) = (t.operand(0)?.vgpr()?, t.operand(1)?.vgpr()?);
            Box::new(move |w, _| {
                for h in 0..w.halves {
                    let (ra, rb) = (w.rows[w.at(a, h)], w.rows[w.at(b, h)]);
                    w.put(a, h, &rb, w.exec_half(h));
                    w.put(b, h, &ra, w.exec_half(h));
                }
                Ok(Flow::Next)
            })
        }
        "v_nop" | "v_pipeflush" => Box::new(|_, _| Ok(Flow::Next)),
        "v_movrels_b32" | "v_movreld_b32" | "v_movrelsd_b32" => {
            let (dst, src) = (t.operand(0)?.vgpr()?, t.operand(1)?.src(Ty::B32)?);
            let from = t.name.contains("rels");
            let to = t.name.contains("reld") || t.name.contains("relsd");
            if t.dpp || t.sdwa {
                return Err("DPP or SDWA on a relative move is not implemented".into());
            }
            Box::new(move |w, _| {
                let by = w.s[M0 as usize];
                move_relative(
                    w,
                    dst,
                    src,
                    if from { by } else { 0 },
                    if to { by } else { 0 },
                )
            })
        }
        // gfx9: moves between s_set_gpr_idx_on and _off add M0's low byte to register numbers.
        "v_mov_b32" if target.generation == 9 && !t.dpp && !t.sdwa => {
            let (dst, src) = (t.operand(0)?.vgpr()?, t.operand(1)?.src(Ty::B32)?);
            let plain = super::valu::build(super::valu_int::plain_move(), t, target)?;
            Box::new(move |w, g| match w.gpr_index {
                None => plain(w, g),
                Some((mode, by)) => {
                    let pick = |bit: u32| if mode & bit != 0 { by } else { 0 };
                    move_relative(w, dst, src, pick(1), pick(8))
                }
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(run))
}

/// A move whose source and destination register numbers are raised.
fn move_relative(w: &mut Wave, dst: u16, src: Src, from: u32, to: u32) -> Step {
    let last = (w.rows.len() / w.halves) as u32;
    let raise = |r: u16, by: u32| {
        let r = u32::from(r).wrapping_add(by);
        // AccVGPRs are no continuation of the VGPRs.
        if r < last.min(256) {
            Ok(r as u16)
        } else {
            Err(Fail::lane(
                0,
                format!("relative move of v{r}, past the registers"),
            ))
        }
    };
    let src = match src {
        Src::V(r) => Src::V(raise(r, from)?),
        other => other,
    };
    let dst = raise(dst, to)?;
    for h in 0..w.halves {
        let mut buffer = [0; 32];
        let row = *w.row(src, h, &mut buffer);
        w.put(dst, h, &row, w.exec_half(h));
    }
    Ok(Flow::Next)
}

/// `v_permlane16`: each lane reads its row (the other row of the pair for x16) at the index that
/// eight 4-bit fields in two scalars (or the lane's own value, `_var`) name.
fn permlane16(t: &Text) -> Result<Run, String> {
    let exchange = t.name.contains("lanex16");
    let var = t.name.contains("_var");
    let (dst, src) = (t.operand(0)?.vgpr()?, t.operand(1)?.src(Ty::B32)?);
    let low = t.operand(2)?.src(Ty::B32)?;
    let high = if var {
        Src::K(0)
    } else {
        t.operand(3)?.src(Ty::B32)?
    };
    // op_sel bit 0 is FI, bit 1 is bound control.
    let sel = t.bits("op_sel")?.unwrap_or(0);
    let (fetch_inactive, zero) = (sel & 1 != 0, sel & 2 != 0);
    Ok(Box::new(move |w, _| {
        let exec = w.exec();
        let select = u64::from(w.s32(low)) | u64::from(w.s32(high)) << 32;
        let mut rows = [[0; 32]; 2];
        let mut masks = [0u32; 2];
        for lane in 0..w.lanes {
            if exec >> lane & 1 == 0 {
                continue;
            }
            let index = if var {
                w.lane(low, lane) as usize & 15
            } else {
                (select >> (4 * (lane & 15)) & 15) as usize
            };
            let row = if exchange {
                lane & !15 ^ 16
            } else {
                lane & !15
            };
            let from = row + index;
            let valid = fetch_inactive || exec >> from & 1 != 0;
            if valid || zero {
                rows[lane >> 5][lane & 31] = if valid { w.lane(src, from) } else { 0 };
                masks[lane >> 5] |= 1 << (lane & 31);
            }
        }
        for h in 0..w.halves {
            w.put(dst, h, &rows[h], masks[h]);
        }
        Ok(Flow::Next)
    }))
}
