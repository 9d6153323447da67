//! What other waves and workgroups may rely on: an instruction's effect on memory is ordered by a
//! barrier or an atomic only if its counter was waited for before, stores must be written back where
//! a cache holds them, and loads must come after an invalidation where a cache may be stale.
//!
//! | | other waves of the workgroup | other workgroups |
//! |---|---|---|
//! | gfx9 | one L1 in order: the barrier does | waited for; gfx942: and written back (`buffer_wbl2 sc1`); then `buffer_wbinvl1_vol`, `buffer_inv sc1` by any wave of the workgroup |
//! | gfx10, gfx11 | waited for before the barrier, `buffer_gl0_inv` after it | waited for; then `buffer_gl1_inv`, `buffer_gl0_inv` |
//! | gfx12 | the same with `global_inv` | waited for and written back (`global_wb`), then `global_inv`, both of the device's scope |
//!
//! (gfx10 and later in WGP mode; in CU mode the workgroup has one L0.) The rules are those by which
//! LLVM's memory model for AMDGPU places the instructions.

use super::effect::{Effect, Issue, Queue, Reach};
use super::flight::{DID, Touch};
use super::race::interval;
use super::wave::Wave;
use super::workgroup::{Access, Group};

/// Instructions in flight when their wave passed the last barrier, and write-backs since.
#[derive(Clone, Debug)]
pub struct Open {
    pub wave: u32,
    pub queue: Queue,
    pub number: u32,
    pub touches: Vec<Touch>,
    /// Its own wave may not rely on it either (LDS that a vector load fills).
    own: bool,
}

/// A store that no write-back has carried on.
#[derive(Clone, Debug)]
pub struct Dirty {
    pub wave: u32,
    pub queue: Queue,
    pub number: u32,
    interval: u64,
    pub touches: Vec<Touch>,
}

/// What a launch needs of this, decided once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub lds: bool,
    pub global: bool,
    /// The waves of a workgroup have several L0 caches.
    pub near_caches: bool,
    /// One L1 for the workgroup: an invalidation by one wave serves all.
    pub shared_cache: bool,
}

/// A workgroup's part.
#[derive(Debug, Default)]
pub struct Visible {
    pub rules: Rules,
    /// What the running instruction touches.
    pub trail: Vec<Touch>,
    pub open: Vec<Open>,
    pub dirty: Vec<Dirty>,
    /// For each instruction that orders memory, what it did so far (bits of `flight`).
    pub did: Vec<u8>,
}

impl Visible {
    pub fn begin(&mut self) {
        self.trail.clear();
        self.open.clear();
        self.dirty.clear();
    }

    /// Notes bytes that the running instruction touches.
    #[inline(always)]
    pub fn touch(&mut self, start: u64, len: u64, lds: bool, access: Access) {
        let (writes, atomic) = (!access.reads(), access.is_atomic());
        if let Some(last) = self.trail.last_mut()
            && last.end == start
            && last.writes == writes
            && last.lds == lds
        {
            last.end = start + len;
            return;
        }
        self.trail.push(Touch {
            start,
            end: start + len,
            lds,
            writes,
            atomic,
        });
    }

    /// Whether an instruction on bytes of LDS within these was in flight at the barrier.
    pub fn open_in_lds(&self, start: u64, end: u64) -> bool {
        let mut touches = self.open.iter().flat_map(|o| &o.touches);
        touches.any(|t| t.meets(start, end, true))
    }

    /// The wave that still had an instruction on these bytes in flight at the barrier.
    pub fn open_at(&self, me: u32, start: u64, end: u64, lds: bool, access: Access) -> Option<u32> {
        let conflicts = |t: &Touch| {
            t.meets(start, end, lds)
                && (t.writes || !access.reads())
                && !(t.atomic && access.is_atomic())
        };
        let found = self
            .open
            .iter()
            .find(|o| (o.wave != me || o.own) && o.touches.iter().any(conflicts));
        found.map(|o| o.wave)
    }
}

/// Carries out what an instruction means for the order of memory.
pub fn apply(g: &mut Group, w: &mut Wave, at: usize, effect: &Effect) {
    let did = match effect {
        Effect::Issue(issue) => {
            begin(g, w, at, issue);
            return;
        }
        Effect::Arrive => {
            w.flight.at_barrier = w.flight.done;
            return;
        }
        Effect::Wait(left) => {
            let ended = w.flight.wait(left);
            if ended != 0 {
                let (wave, done) = (w.index, w.flight.done);
                for o in g
                    .visible
                    .open
                    .iter_mut()
                    .filter(|o| o.own && o.wave == wave)
                {
                    o.own = o.number > done[o.queue as usize];
                }
            }
            ended
        }
        Effect::Invalidate(reach) => {
            let mut news = raise(&mut w.near, interval(g));
            if *reach == Reach::Device {
                news |= raise(&mut w.seen, w.flight.acquired);
            }
            news
        }
        Effect::InvalidateMiddle => raise(&mut w.middle, w.flight.acquired),
        Effect::InvalidateNear => {
            let middle = w.middle;
            raise(&mut w.near, interval(g)) | raise(&mut w.seen, middle)
        }
        Effect::WriteBack(queue) => write_back(g, w, at, *queue),
        Effect::InvalidateScalar => {
            w.scalar_fresh = true;
            DID
        }
    };
    if let Some(all) = g.visible.did.get_mut(at) {
        *all |= did;
    }
}

fn raise(to: &mut u64, value: u64) -> u8 {
    if value > *to {
        *to = value;
        DID
    } else {
        0
    }
}

fn begin(g: &mut Group, w: &mut Wave, at: usize, issue: &Issue) {
    let (wave, interval) = (w.index, interval(g));
    let v = &mut g.visible;
    let stores = issue.dirty && v.rules.global && v.trail.iter().any(|t| !t.lds);
    let copy = if stores { v.trail.clone() } else { Vec::new() };
    let fills = issue.queue == Queue::Load && v.trail.iter().any(|t| t.lds);
    let filled = if fills {
        v.trail.iter().filter(|t| t.lds).copied().collect()
    } else {
        Vec::new()
    };
    let number = w.flight.begin(issue, at, &mut v.trail, w.moment);
    if stores {
        v.dirty.push(Dirty {
            wave,
            queue: issue.queue,
            number,
            interval,
            touches: copy,
        });
    }
    if fills && !issue.flat {
        v.open.push(Open {
            wave,
            queue: issue.queue,
            number,
            touches: filled,
            own: true,
        });
    }
}

/// Carries on this wave's stores, and those that other waves had ended before the last barrier.
fn write_back(g: &mut Group, w: &mut Wave, at: usize, queue: Queue) -> u8 {
    let (wave, now) = (w.index, interval(g));
    let v = &mut g.visible;
    let mut carried = Vec::new();
    let open = &v.open;
    v.dirty.retain(|d| {
        let in_flight = || {
            open.iter()
                .any(|o| (o.wave, o.queue, o.number) == (d.wave, d.queue, d.number))
        };
        let reached = d.wave == wave || (d.interval < now && !in_flight());
        if reached {
            carried.extend_from_slice(&d.touches);
        }
        !reached
    });
    let issue = Issue {
        queue,
        flat: false,
        result: None,
        merges: false,
        acquires: false,
        dirty: false,
    };
    let did = if carried.is_empty() { 0 } else { DID };
    let touches = carried.clone();
    let number = w.flight.begin(&issue, at, &mut carried, 0);
    if did != 0 {
        // Others may rely on it when this wave has waited for it and come to a barrier.
        v.open.push(Open {
            wave,
            queue,
            number,
            touches,
            own: false,
        });
    }
    did
}

/// All waves have come to the barrier and pass it.
pub fn pass_barrier(g: &mut Group, waves: &mut [Wave]) {
    let v = &mut g.visible;
    let still = |o: &Open| {
        let wave = waves.get(o.wave as usize);
        wave.is_some_and(|w| o.number > w.flight.at_barrier[o.queue as usize])
    };
    v.open.retain(still);
    for w in waves.iter().filter(|w| w.flight.is_busy()) {
        for queue in [Queue::Load, Queue::Store, Queue::Lds, Queue::Scalar] {
            for f in &w.flight.queues[queue as usize] {
                let known = |o: &Open| (o.wave, o.queue, o.number) == (w.index, queue, f.number);
                if !f.touches.is_empty() && !v.open.iter().any(known) {
                    v.open.push(Open {
                        wave: w.index,
                        queue,
                        number: f.number,
                        touches: f.touches.clone(),
                        own: false,
                    });
                }
            }
        }
    }
    if !v.rules.global {
        return;
    }
    // What one wave knows of other workgroups the others know too, and share the caches they share.
    let most = |f: fn(&Wave) -> u64| waves.iter().map(f).max().unwrap_or(0);
    let (acquired, middle, seen) = (
        most(|w| w.flight.acquired),
        most(|w| w.middle),
        most(|w| w.seen),
    );
    for w in waves {
        w.flight.acquired = acquired;
        w.middle = middle;
        if v.rules.shared_cache {
            w.seen = seen;
        }
    }
}
