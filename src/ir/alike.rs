//! What makes two graphs alike, and a cache of what was made of those that were seen.

use super::{Graph, Layout, QuickHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// A leaf of a graph: where its elements lie, not what they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeafForm {
    /// In a GPU's memory.
    pub on_device: bool,
    /// How its elements lie.
    pub layout: Layout,
    /// Nobody else has it: an operation may write into it.
    pub is_given: bool,
}

/// Graphs that are kept at most; the one that was not used for the longest time goes.
const KEPT: usize = 64;

/// What was made of graphs, found again by their operations, dtypes, shapes and the layouts of their leaves. One
/// thread at a time.
pub struct Alike<T> {
    /// By hash. (A hash table's memory is pointed to behind its beginning: a static one looks lost to leak checkers.)
    entries: BTreeMap<u64, Entry<T>>,
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
            entries: BTreeMap::new(),
            clock: 0,
        }
    }
}

impl<T: Default> Alike<T> {
    /// What was made of a graph like this one; a new one begins with the default.
    pub fn of(&mut self, graph: &Graph, leaves: &[LeafForm]) -> &mut T {
        let mut hasher = QuickHasher::default();
        graph.hash(&mut hasher);
        leaves.hash(&mut hasher);
        self.at(hasher.finish(), graph, leaves)
    }

    /// The same of a graph with this hash. Of two graphs with one hash the later one stays.
    fn at(&mut self, key: u64, graph: &Graph, leaves: &[LeafForm]) -> &mut T {
        self.clock += 1;
        let known = self.entries.get(&key);
        if known.is_none_or(|entry| entry.graph != *graph || entry.leaves != leaves) {
            self.entries.remove(&key);
            if self.entries.len() >= KEPT {
                let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
                if let Some(key) = oldest.map(|(key, _)| *key) {
                    self.entries.remove(&key);
                }
            }
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

    /// Of the graphs with so many operations that were made what `is` says, the one that was used last.
    pub fn latest(
        &mut self,
        operations: usize,
        is: impl Fn(&T) -> bool,
    ) -> Option<(&Graph, &[LeafForm], &T)> {
        let entries = self.entries.values_mut();
        let like = |entry: &&mut Entry<T>| {
            entry.graph.nodes.len() - entry.leaves.len() == operations && is(&entry.made)
        };
        let entry = entries.filter(like).max_by_key(|entry| entry.used)?;
        self.clock += 1;
        entry.used = self.clock;
        Some((&entry.graph, &entry.leaves, &entry.made))
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// How often a graph was met, and what was made of it when it came again.
#[derive(Debug, Default, PartialEq)]
pub enum Met<T> {
    /// Never before.
    #[default]
    New,
    /// Once; a note of that time.
    Once(Vec<u64>),
    /// There is a plan.
    Planned(T),
    /// There is none: it is being made, or there can be none.
    Unplanned,
}

/// What to do with a graph.
#[derive(Debug, PartialEq)]
pub enum Next<T> {
    /// It is run by its plan.
    Run(T),
    /// A plan is to be made, and [`Met`] told of it; the note of the time before. Nobody else is told to make it.
    Make(Vec<u64>),
    /// It is run without a plan.
    Without,
}

impl<T: Clone> Met<T> {
    /// What to do with the graph that came now; of the first time `note` tells what the second time is given.
    pub fn next(&mut self, note: impl FnOnce() -> Vec<u64>) -> Next<T> {
        match self {
            Met::New => *self = Met::Once(note()),
            Met::Once(note) => {
                let note = std::mem::take(note);
                *self = Met::Unplanned;
                return Next::Make(note);
            }
            Met::Planned(plan) => return Next::Run(plan.clone()),
            Met::Unplanned => {}
        }
        Next::Without
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dtype, Node, Op, Shape, Type};
    use super::*;

    /// A graph of one leaf with so many elements.
    fn graph(elements: usize) -> Graph {
        let mut graph = Graph::default();
        graph.push(Node {
            op: Op::Leaf(0),
            inputs: Vec::new(),
            outputs: vec![Type {
                dtype: Dtype::F32,
                shape: Shape::new([elements]),
            }],
        });
        graph
    }

    fn leaf(on_device: bool) -> [LeafForm; 1] {
        let layout = Layout::rows(&[1]);
        [LeafForm {
            on_device,
            layout,
            is_given: false,
        }]
    }

    #[test]
    fn graphs_with_one_hash_are_not_confused() {
        let mut alike: Alike<u32> = Alike::default();
        *alike.at(7, &graph(1), &leaf(false)) = 1;
        assert_eq!(*alike.at(7, &graph(1), &leaf(false)), 1);
        assert_eq!(*alike.at(7, &graph(2), &leaf(false)), 0);
        *alike.at(7, &graph(2), &leaf(false)) = 2;
        // Nor are leaves.
        assert_eq!(*alike.at(7, &graph(2), &leaf(true)), 0);
        assert_eq!(*alike.at(7, &graph(1), &leaf(false)), 0);
        assert_eq!(alike.entries.len(), 1);
    }

    #[test]
    fn the_graph_that_was_not_used_for_the_longest_time_goes() {
        let mut alike: Alike<usize> = Alike::default();
        let leaf = leaf(false);
        for i in 0..KEPT {
            *alike.of(&graph(i), &leaf) = i + 1;
        }
        // The first is used again: the second is the oldest now.
        assert_eq!(*alike.of(&graph(0), &leaf), 1);
        for i in KEPT..KEPT + 3 {
            *alike.of(&graph(i), &leaf) = i + 1;
            assert_eq!(alike.entries.len(), KEPT);
        }
        let kept = |elements: usize| {
            let mut entries = alike.entries.values();
            entries.any(|entry| entry.graph == graph(elements))
        };
        let gone: Vec<usize> = (0..KEPT + 3).filter(|&i| !kept(i)).collect();
        assert_eq!(gone, [1, 2, 3]);
    }

    #[test]
    fn a_plan_is_made_once_the_second_time() {
        let mut met: Met<u32> = Met::default();
        assert_eq!(met.next(|| vec![3]), Next::Without);
        assert_eq!(met.next(Vec::new), Next::Make(vec![3]));
        // While it is made others go without.
        assert_eq!(met.next(Vec::new), Next::Without);
        met = Met::Planned(5);
        assert_eq!(met.next(Vec::new), Next::Run(5));
    }
}
