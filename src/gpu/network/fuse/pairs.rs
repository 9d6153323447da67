//! Pairs: two products one after the other that one launch makes for few items.

use super::super::activations::Activation;
use super::super::steps::{Plan, Product, Step};
use crate::gpu::constants::{network_pair, network_product};

/// Rows of an item of the first one's x.
const ROWS: usize = 64;
/// Numbers of such a row: with its weights they fill shared memory.
const MOST_INNER: usize = 1152;

/// Joins pairs of which nothing else reads what the first one makes. Other products of the same rows come next behind them: they
/// need not wait for what is made of a pair, whose launches began early and hold multiprocessors.
pub fn join(plan: &mut Plan) {
    for at in 0..plan.steps.len() {
        let Some((later, pair)) = pair(plan, at) else {
            continue;
        };
        let Step::Pair(first, _) = &pair else {
            continue;
        };
        let x = first.x.buffer;
        plan.steps[at] = pair;
        plan.steps.remove(later);
        let same = |step: &Step| matches!(step, Step::Product(other) if other.x.buffer == x && other.residual.is_none());
        if let Some(distance) = plan.steps[at + 1..].iter().position(same) {
            plan.steps[at + 1..=at + 1 + distance].rotate_right(1);
        }
    }
}

/// The pair that begins with the step at `at`, and where its second product is.
fn pair(plan: &Plan, at: usize) -> Option<(usize, Step)> {
    let Some(Step::Product(first)) = plan.steps.get(at) else {
        return None;
    };
    let reads = |step: &Step| step.read().contains(&first.out);
    let mut readers = (0..plan.steps.len()).filter(|&at| reads(&plan.steps[at]));
    let (Some(later), None) = (readers.next(), readers.next()) else {
        return None;
    };
    let Step::Product(second) = &plan.steps[later] else {
        return None;
    };
    let inside = !plan.outputs.contains(&first.out) && later > at;
    let buffers = [first.x.buffer, first.out, second.out];
    let narrow = buffers.iter().all(|&buffer| !plan.wide[buffer]);
    let fits = inside && narrow && fits(plan, first, second);
    fits.then(|| (later, Step::Pair(first.clone(), second.clone())))
}

/// Whether `hip/ops/network/pair.hip` takes them.
fn fits(plan: &Plan, first: &Product, second: &Product) -> bool {
    let [a, b] = [first, second].map(|product| &plan.matrices[product.matrix]);
    let whole = |product: &Product| plan.counts[product.x.buffer] == product.x.layout.count();
    let plain = first.bias.is_none()
        && first.residual.is_none()
        && first.activation == Activation::None
        && second.residual.is_none();
    let one = a.taps == 1
        && a.columns == network_pair::PAIR_COLUMNS
        && a.inner.is_multiple_of(network_product::STEP_COLS)
        && a.inner <= MOST_INNER
        && first.x.layout.count() == ROWS * a.inner;
    let two = b.sums_have_parts()
        && b.inner == ROWS * a.columns
        && b.columns.is_multiple_of(network_pair::PAIR_COLUMNS);
    plain && whole(first) && whole(second) && one && two
}
