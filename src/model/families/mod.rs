//! Model families: the forward pass of each as array operations.

mod dense;
mod mlp;

use super::bind::Bound;
use super::weights::Source;
use crate::Result;
use crate::array;
use crate::graph::{Rules, fuse};
use crate::log::{self, Level};
use crate::plan;
use crate::step::Schedule;

/// Binds the weights of `source` and plans its family's forward pass.
///
/// # Errors
/// `InvalidFile` for a tensor that is missing or has another shape than the config says.
pub fn schedule(source: &Source, rules: Rules) -> Result<(Bound, Schedule)> {
    let mut bound = Bound::default();
    let logits = dense::logits(source, &mut bound)?;
    let mut graph = array::trace(&logits)?;
    let counts = fuse(&mut graph, rules);
    log::write(Level::Debug, || format!("fusions: {counts:?}"));
    let schedule = plan::schedule(&graph, &bound.vectors)?;
    Ok((bound, schedule))
}
