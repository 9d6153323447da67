//! Plans: a graph in order, every result at a fixed place in one arena.

mod items;
mod memory;
mod schedule;

pub use items::items;
pub use schedule::schedule;
