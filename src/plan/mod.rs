//! Plans: a graph in order, every result at a fixed place in one arena.

mod memory;
mod schedule;

pub use schedule::schedule;
