//! What makes two graphs alike, and a cache of what was made of those that were seen.

use super::{Graph, Layout, QuickHasher, QuickMap};
use crate::Result;
use std::hash::{Hash, Hasher};

/// A leaf of a graph: where its elements lie, not what they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeafForm {
    /// In a GPU's memory.
    pub on_device: bool,
    /// How its elements lie.
    pub layout: Layout,
}

/// Graphs that are kept at most; the one that was not used for the longest time goes.
const KEPT: usize = 64;

/// What was made of graphs, found again by their operations, dtypes, shapes and the layouts of their leaves. One
/// thread at a time.
pub struct Alike<T> {
    entries: QuickMap<u64, Entry<T>>,
    clock: u64,
}

struct Entry<T> {
    graph: Graph,
    leaves: Vec<LeafForm>,
    used: u64,
    made: T,
}

impl<T> Default for Alike<T> {
    fn default() -> Self {
        Alike {
            entries: QuickMap::default(),
            clock: 0,
        }
    }
}

impl<T: Default> Alike<T> {
    /// What was made of a graph like this one; a new one begins with the default.
    pub fn of(&mut self, graph: &Graph, leaves: &[LeafForm]) -> &mut T {
        self.clock += 1;
        let mut hasher = QuickHasher::default();
        graph.hash(&mut hasher);
        leaves.hash(&mut hasher);
        let key = hasher.finish();
        let known = self.entries.get(&key);
        if known.is_none_or(|entry| entry.graph != *graph || entry.leaves != leaves) {
            if self.entries.len() >= KEPT {
                let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
                if let Some(key) = oldest.map(|(key, _)| *key) {
                    self.entries.remove(&key);
                }
            }
            self.entries.remove(&key);
        }
        let clock = self.clock;
        let entry = self.entries.entry(key).or_insert_with(|| Entry {
            graph: graph.clone(),
            leaves: leaves.to_vec(),
            used: clock,
            made: T::default(),
        });
        entry.used = clock;
        &mut entry.made
    }

    /// Lets go of everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// How often a graph was met, and what was made of it when it came again.
#[derive(Default)]
pub enum Met<T> {
    /// Never before.
    #[default]
    New,
    /// Once; a note of that time.
    Once(Vec<u64>),
    /// There is a plan.
    Planned(T),
    /// There can be none.
    Unplanned,
}

impl<T: Clone> Met<T> {
    /// The plan, made now if the graph comes for the second time; `None` the first time, of which `note` tells what
    /// `make` is given, and if there can be none.
    ///
    /// # Errors
    /// Those of `make`: there will be no plan then.
    pub fn plan(
        &mut self,
        note: impl FnOnce() -> Vec<u64>,
        make: impl FnOnce(&[u64]) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match self {
            Met::New => *self = Met::Once(note()),
            Met::Once(note) => {
                let made = make(note);
                *self = match &made {
                    Ok(Some(plan)) => Met::Planned(plan.clone()),
                    _ => Met::Unplanned,
                };
                return made;
            }
            Met::Planned(plan) => return Ok(Some(plan.clone())),
            Met::Unplanned => {}
        }
        Ok(None)
    }
}
