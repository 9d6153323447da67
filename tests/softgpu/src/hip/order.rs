//! Does the program order its work? Two operations that touch the same memory, one of them writing,
//! must be ordered by a stream, an event, a graph edge or a host wait. Whatever order they happened
//! to run in here, the other one is possible on a GPU.
//!
//! Each operation has a clock: for each stream the newest operation that comes before it. Host waits
//! feed the host's clock, from which every later operation starts (that of all host threads: what
//! one thread waited for counts for the others too, so a bug between host threads can be missed, but
//! nothing that is ordered is reported).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::operation::{OperationId, Source, Work};
use crate::isa::{Footprint, READ, WRITE};

/// Accesses that are remembered at most; older ones are forgotten first.
const REMEMBERED: usize = 2048;

/// For each stream (by handle) the newest operation that comes before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(BTreeMap<u64, OperationId>);

impl Clock {
    /// Takes over everything that `other` knows.
    pub fn join(&mut self, other: &Clock) {
        for (stream, id) in &other.0 {
            let known = self.0.entry(*stream).or_default();
            *known = (*known).max(*id);
        }
    }

    /// Adds one operation.
    pub fn see(&mut self, stream: u64, id: OperationId) {
        let known = self.0.entry(stream).or_default();
        *known = (*known).max(id);
    }

    /// Whether an operation comes before.
    pub fn covers(&self, stream: u64, id: OperationId) -> bool {
        self.0.get(&stream).is_some_and(|known| *known >= id)
    }
}

/// Which nodes of a graph come before which: one row of bits for each node.
#[derive(Debug, Default)]
pub struct Ancestors {
    words: usize,
    bits: Vec<u64>,
}

impl Ancestors {
    /// From each node's direct predecessors, which have lower indices.
    pub fn new<'a>(after: impl ExactSizeIterator<Item = &'a [usize]>) -> Ancestors {
        let words = after.len().div_ceil(64);
        let mut bits = vec![0; words * after.len()];
        for (node, before) in after.enumerate() {
            for &one in before.iter().filter(|one| **one < node) {
                let (done, rest) = bits.split_at_mut(node * words);
                let row = done.get(one * words..(one + 1) * words).unwrap_or_default();
                for (mine, theirs) in rest.iter_mut().zip(row) {
                    *mine |= theirs;
                }
                if let Some(word) = rest.get_mut(one / 64) {
                    *word |= 1 << (one % 64);
                }
            }
        }
        Ancestors { words, bits }
    }

    /// Whether `before` comes before `node`.
    pub fn has(&self, node: usize, before: usize) -> bool {
        self.bits
            .get(node * self.words + before / 64)
            .is_some_and(|word| word >> (before % 64) & 1 == 1)
    }
}

/// One executed piece of work.
#[derive(Debug)]
pub struct Access {
    /// Handle of its stream.
    pub stream: u64,
    /// Its operation.
    pub operation: OperationId,
    /// What comes before its operation.
    pub clock: Arc<Clock>,
    /// Node of a graph run, and the graph's order.
    pub node: Option<(usize, Arc<Ancestors>)>,
    /// For messages.
    pub name: String,
    /// What it touched.
    pub footprint: Footprint,
}

impl Access {
    /// Whether `earlier`, which ran before, is ordered before this.
    fn comes_after(&self, earlier: &Access) -> bool {
        if self.operation != earlier.operation {
            return self.clock.covers(earlier.stream, earlier.operation);
        }
        match (&self.node, &earlier.node) {
            (Some((mine, order)), Some((theirs, _))) => order.has(*mine, *theirs),
            _ => true,
        }
    }
}

/// The accesses that later work could still conflict with.
#[derive(Debug, Default)]
pub struct Accesses {
    known: VecDeque<Access>,
}

impl Accesses {
    /// Adds an access; gives a message for the first earlier one that conflicts and is not ordered.
    pub fn add(&mut self, access: Access) -> Option<String> {
        if access.footprint.is_empty() {
            return None;
        }
        let found = self.known.iter().find_map(|earlier| {
            if access.comes_after(earlier) {
                return None;
            }
            let (address, both_write) = access.footprint.conflict(&earlier.footprint)?;
            let verb = if both_write {
                "both write"
            } else {
                "one writes and one reads"
            };
            Some(format!(
                "{} and {}{}: {verb} {address:#x}, and nothing orders them",
                earlier.name,
                access.name,
                if access.operation == earlier.operation {
                    " of one graph"
                } else {
                    ""
                },
            ))
        });
        if self.known.len() == REMEMBERED {
            self.known.pop_front();
        }
        self.known.push_back(access);
        found
    }

    /// Forgets what comes before everything that can still come: what `host` and all `pending`
    /// clocks cover.
    pub fn forget<'a>(&mut self, host: &Clock, pending: impl Iterator<Item = &'a Clock> + Clone) {
        self.known.retain(|access| {
            let covered = |clock: &Clock| clock.covers(access.stream, access.operation);
            !(covered(host) && pending.clone().all(covered))
        });
    }
}

/// What a copy, fill or product touches; a kernel's footprint is known only after it ran.
pub fn footprint(work: &Work) -> Footprint {
    let mut footprint = Footprint::default();
    match work {
        Work::Copy(call) => {
            footprint.add(WRITE, call.to, call.to + call.bytes);
            if let Source::Address(from) = call.from {
                footprint.add(READ, from, from + call.bytes);
            }
        }
        Work::Fill(call) => footprint.add(WRITE, call.to, call.to + call.count * call.element),
        Work::Product(call) => {
            let [a, b, c] = call.ends();
            let mut read = [a, b];
            read.sort_unstable();
            for (start, bytes, _) in read {
                footprint.add(READ, start, start + bytes);
            }
            footprint.add(WRITE, c.0, c.0 + c.1);
        }
        Work::Kernel(_) | Work::Empty => {}
    }
    footprint
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(stream: u64, operation: u64, clock: &Clock, write: (u64, u64)) -> Access {
        let mut footprint = Footprint::default();
        footprint.add(WRITE, write.0, write.1);
        let (clock, name) = (Arc::new(clock.clone()), format!("operation {operation}"));
        Access {
            stream,
            operation,
            clock,
            node: None,
            name,
            footprint,
        }
    }

    #[test]
    fn clocks_decide_what_is_ordered() {
        let mut accesses = Accesses::default();
        let mut clock = Clock::default();
        assert_eq!(accesses.add(access(1, 10, &clock, (0, 8))), None);
        assert_eq!(accesses.add(access(2, 11, &clock, (8, 16))), None);
        let message = accesses.add(access(2, 12, &clock, (4, 5))).unwrap();
        assert!(
            message.contains("operation 10 and operation 12: both write 0x4"),
            "{message}"
        );
        clock.see(1, 10);
        clock.see(2, 12);
        assert_eq!(accesses.add(access(3, 13, &clock, (0, 16))), None);
        accesses.forget(&clock, std::iter::empty());
        assert_eq!(accesses.known.len(), 1);
        accesses.forget(&clock, std::iter::empty());
        clock.see(3, 13);
        accesses.forget(&clock, [Clock::default()].iter());
        assert_eq!(accesses.known.len(), 1);
        accesses.forget(&clock, [clock.clone()].iter());
        assert_eq!(accesses.known.len(), 0);
    }

    #[test]
    fn ancestors_are_transitive() {
        let after: [&[usize]; 4] = [&[], &[0], &[], &[1, 2]];
        let order = Ancestors::new(after.into_iter());
        assert!(order.has(3, 0) && order.has(3, 2) && order.has(1, 0));
        assert!(!order.has(2, 0) && !order.has(0, 3) && !order.has(1, 2));
        let chain: Vec<Vec<usize>> = (0..200)
            .map(|i: usize| i.checked_sub(1).into_iter().collect())
            .collect();
        let order = Ancestors::new(chain.iter().map(Vec::as_slice));
        assert!(order.has(199, 0) && order.has(130, 64) && !order.has(64, 130));
    }
}
