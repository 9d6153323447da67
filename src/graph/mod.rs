//! Rules: fusions that rewrite operations into fused ones of the same graph. A rule only makes things
//! faster: with any of them off the graph computes the same.

mod matching;
mod rules;

pub use rules::{RULES, Rule, Rules, fuse};
