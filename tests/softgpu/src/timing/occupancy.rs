//! How many workgroups of a kernel fit on a unit, and why not more.

use super::card::Card;
use crate::isa::Launch;

/// Residency of a kernel on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Workgroups on a unit (CU or WGP).
    pub groups: u32,
    /// Waves on each SIMD.
    pub waves: u32,
    pub waves_per_group: u32,
    /// "registers", "LDS", "wave slots" or "workgroup slots".
    pub limit: &'static str,
    /// Each workgroup stays on one CU of a pair.
    pub cu_mode: bool,
}

impl Occupancy {
    /// What the launch's registers, LDS and workgroup size permit.
    pub fn of(launch: &Launch, card: &Card) -> Occupancy {
        let kernel = launch.kernel;
        let threads: u32 = launch.block.iter().product();
        let waves = threads.div_ceil(kernel.wave_size).max(1);
        let generation = kernel.program.target.generation;
        // A wave of 64 on RDNA takes twice the registers.
        let wide = generation >= 10 && kernel.wave_size == 64;
        let (all, granule) = if wide {
            (card.vgprs / 2, card.vgpr_granule / 2)
        } else {
            (card.vgprs, card.vgpr_granule)
        };
        let used = kernel.vgprs.max(1).next_multiple_of(granule);
        let by_registers = (all / used).clamp(1, card.wave_slots);
        let cu_mode = card.cus_per_unit > 1 && kernel.descriptor.rsrc1 >> 29 & 1 == 0;
        let cus = if cu_mode { 1 } else { card.cus_per_unit };
        let lds = (kernel.lds_bytes + launch.dynamic_lds).next_multiple_of(card.lds_granule);
        let simds = cus * card.simds_per_cu;
        // Waves of one workgroup spread over the SIMDs; the rest is packed.
        let wave_room = simds * by_registers / waves;
        let lds_place = card.lds_bytes / (card.cus_per_unit / cus);
        let lds_room = lds_place.checked_div(lds).unwrap_or(u32::MAX);
        let slots = card.workgroup_slots / (card.cus_per_unit / cus);
        let per_place = wave_room.min(lds_room).min(slots).max(1);
        let limit = match per_place {
            n if n == wave_room && by_registers < card.wave_slots => "registers",
            n if n == wave_room => "wave slots",
            n if n == lds_room => "LDS",
            _ => "workgroup slots",
        };
        Occupancy {
            groups: per_place * card.cus_per_unit / cus,
            waves: (per_place * waves).div_ceil(simds),
            waves_per_group: waves,
            limit,
            cu_mode,
        }
    }
}
