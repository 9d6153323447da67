//! Which workgroup goes where: places on units, and the order in which workgroups are handed out.

use super::card::Card;
use super::memory::{Server, TICKS};
use super::occupancy::Occupancy;

/// The part of a card that is simulated, and the part of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Units simulated, of those that the grid keeps busy.
    pub units: u32,
    pub active: u32,
    /// Workgroups of the grid that fall to them.
    pub groups: u64,
    /// Of these, how many are simulated.
    pub simulated: u64,
}

impl Slice {
    /// Chooses how much to simulate: the whole card for a few rounds of workgroups if `budget` instructions
    /// allow it, else fewer units.
    pub fn choose(
        card: &Card,
        occupancy: &Occupancy,
        groups: u64,
        per_group: usize,
        budget: u64,
    ) -> Slice {
        let per_group = per_group.max(1) as u64;
        let affordable = (budget / per_group).max(1);
        let active = u64::from(card.units).min(groups);
        let resident = active * u64::from(occupancy.groups);
        // A grid that can be simulated whole is.
        if groups <= affordable || affordable >= ROUNDS * resident {
            let simulated = groups.min(affordable.min(4 * ROUNDS * resident));
            return Slice {
                units: card.units,
                active: card.units,
                groups,
                simulated,
            };
        }
        let per_unit = u64::from(occupancy.groups);
        let units = (affordable / (ROUNDS * per_unit)).clamp(1, active);
        let share = (groups * units).div_ceil(active);
        let simulated = share.min(ROUNDS * per_unit * units).max(1);
        Slice {
            units: units as u32,
            active: active as u32,
            groups: share,
            simulated,
        }
    }

    /// The simulated part of everything that the active units share.
    pub fn share(&self) -> f64 {
        f64::from(self.units) / f64::from(self.active)
    }

    /// All of the card is simulated.
    pub fn is_whole(&self, card: &Card) -> bool {
        self.units == card.units
    }

    /// The number in the whole grid of the slice's workgroup `i`.
    pub fn number(&self, i: u64, all: u64) -> u64 {
        let units = u64::from(self.units);
        (i / units * u64::from(self.active) + i % units) % all
    }
}

/// Rounds of resident workgroups after which the rate counts as steady.
const ROUNDS: u64 = 4;

/// Hands out workgroups.
pub struct Dispatcher {
    /// Next workgroup of each die, and by how much it grows.
    next: Vec<u64>,
    end: u64,
    server: Server,
    wave_ticks: u64,
    start_ticks: u64,
}

impl Dispatcher {
    pub fn new(card: &Card, slice: &Slice) -> Dispatcher {
        let dies = if slice.is_whole(card) {
            u64::from(card.l2_count)
        } else {
            1
        };
        let share = slice.share();
        Dispatcher {
            next: (0..dies).collect(),
            end: slice.simulated,
            server: Server::default(),
            wave_ticks: (TICKS as f64 / (card.start_waves * share)) as u64,
            start_ticks: (card.start_ns * card.clock_mhz * 1e-3 * TICKS as f64) as u64,
        }
    }

    /// The next workgroup for a unit that has a free place at `at`, and when its waves begin.
    pub fn hand_out(&mut self, unit: usize, at: u64, waves: u32) -> Option<(u64, u64)> {
        let dies = self.next.len();
        let next = &mut self.next[unit % dies];
        if *next >= self.end {
            return None;
        }
        let group = *next;
        *next += dies as u64;
        let work = self.wave_ticks * u64::from(waves);
        Some((group, self.server.take(at, work) + work + self.start_ticks))
    }
}
