//! The order between workgroups: atomics release what was done before them and acquire what other
//! atomics released, as far as waits, write-backs and invalidations make it so.

use super::effect::Queue;
use super::flight::Touch;
use super::race::{Who, interval};
use super::wave::Wave;
use super::workgroup::{Access, Group};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// One atomic of a workgroup.
#[derive(Clone, Copy, Debug)]
struct Release {
    moment: u64,
    wave: u32,
    interval: u64,
}

/// An instruction that an atomic came before the end of: released only from a later one on.
#[derive(Clone, Debug)]
struct Late {
    group: u32,
    wave: u32,
    queue: Option<Queue>,
    number: u32,
    touches: Vec<Touch>,
    /// Number of the workgroup's atomic that releases it.
    from: Option<usize>,
}

#[derive(Default)]
pub struct Releases {
    clock: AtomicU64,
    /// Held while an atomic is noted and carried out, so that moments are in the order of its effects.
    turn: Mutex<()>,
    atomics: Mutex<HashMap<u32, Vec<Release>>>,
    late: Mutex<Vec<Late>>,
}

impl Releases {
    /// Notes that a workgroup performs an atomic (once a wave instruction), which is to be carried out
    /// before the result is dropped.
    pub fn atomic(&self, g: &mut Group, w: &mut Wave) -> MutexGuard<'_, ()> {
        let turn = self.atomic_read(g, w);
        let mut atomics = self.atomics.lock();
        let mine = atomics.entry(g.number).or_default();
        self.book_late(g, w, mine.len());
        mine.push(Release {
            moment: w.moment,
            wave: w.index & 31,
            interval: interval(g),
        });
        g.atomics += 1;
        turn
    }

    /// The same for an atomic load, which acquires and does not release.
    pub fn atomic_read(&self, g: &mut Group, w: &mut Wave) -> MutexGuard<'_, ()> {
        let turn = self.turn.lock();
        w.moment = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        g.acquired = w.moment;
        turn
    }

    /// Books what atomic number `now` of this workgroup does not release, and what it now does.
    fn book_late(&self, g: &Group, w: &Wave, now: usize) {
        let v = &g.visible;
        let mut all = self.late.lock();
        if all.is_empty() && v.open.is_empty() && v.dirty.is_empty() && !w.flight.is_busy() {
            return;
        }
        let mut found: Vec<(u32, Option<Queue>, u32, &[Touch])> = Vec::new();
        for queue in [Queue::Load, Queue::Store, Queue::Scalar] {
            for f in &w.flight.queues[queue as usize] {
                found.push((w.index, Some(queue), f.number, &f.touches));
            }
        }
        for o in v
            .open
            .iter()
            .filter(|o| o.wave != w.index && o.queue != Queue::Lds)
        {
            found.push((o.wave, Some(o.queue), o.number, &o.touches));
        }
        found.extend(
            v.dirty
                .iter()
                .map(|d| (d.wave, None, d.number, &d.touches[..])),
        );
        found.retain(|(_, _, _, touches)| !touches.is_empty());
        let is = |l: &Late, f: &(u32, Option<Queue>, u32, &[Touch])| {
            (l.wave, l.queue, l.number) == (f.0, f.1, f.2)
        };
        for l in all
            .iter_mut()
            .filter(|l| l.group == g.number && l.from.is_none())
        {
            if !found.iter().any(|f| is(l, f)) {
                l.from = Some(now);
            }
        }
        for f in &found {
            if !all.iter().any(|l| l.group == g.number && is(l, f)) {
                all.push(Late {
                    group: g.number,
                    wave: f.0,
                    queue: f.1,
                    number: f.2,
                    touches: f.3.to_vec(),
                    from: None,
                });
            }
        }
    }

    /// Whether what another workgroup did (`before`, at these bytes) is ordered before what the
    /// current wave does now.
    ///
    /// # Errors
    /// What is missing, in words.
    pub fn check(
        &self,
        g: &Group,
        w: &Wave,
        before: Who,
        (start, end): (u64, u64),
        access: Access,
        wrote: bool,
    ) -> Result<(), &'static str> {
        let atomics = self.atomics.lock();
        let all = atomics.get(&before.group()).map_or(&[][..], |a| &a[..]);
        let after = all.get(before.atomics()..).unwrap_or(&[]);
        if after.first().is_none_or(|r| r.moment >= g.acquired) {
            return Err("nothing orders the two");
        }
        // The first atomic behind which it was ended, and by the same wave or past a barrier.
        let met = |l: &Late| {
            l.group == before.group()
                && l.touches
                    .iter()
                    .any(|t| t.meets(start, end, false) && (t.writes == wrote || t.atomic))
        };
        let late = self.late.lock();
        let from = late
            .iter()
            .filter(|l| met(l))
            .map(|l| l.from.unwrap_or(usize::MAX))
            .max();
        let from = from.unwrap_or(0).saturating_sub(before.atomics());
        let by = |r: &&Release| r.wave == before.wave() || r.interval > before.interval();
        let Some(release) = after.iter().skip(from).find(by) else {
            return Err(if from > 0 {
                "it was not waited for (or written back) before the atomic that follows it"
            } else {
                "no barrier lies between it and the atomic that follows it"
            });
        };
        if release.moment >= w.flight.acquired {
            return Err(
                "this wave has not waited for an atomic's result (or passed a barrier) since",
            );
        }
        if wrote && access == Access::Read && release.moment >= w.seen {
            return Err(
                "no cache was invalidated since the atomic, and it may hold what was before",
            );
        }
        Ok(())
    }
}
