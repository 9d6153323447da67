//! (under construction)

mod facts;

pub use facts::{CpuFacts, facts};
