//! The router of a mixture of experts.

use super::{Out, View, input, missing};
use crate::Result;
use crate::ir::Op;

/// Softmax, its largest entries, their weights.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let (Op::Route(route), [index, weight]) = (op, outputs) else {
        return Err(missing(op));
    };
    let logits = input(op, inputs, 0)?;
    let experts = logits.sizes().last().copied().unwrap_or(1).max(1);
    let values = logits.values::<f32>();
    let rows = values.chunks_exact(experts);
    let chosen = index.values::<u32>().chunks_exact_mut(route.chosen);
    let weights = weight.values::<f32>().chunks_exact_mut(route.chosen);
    let mut order: Vec<u32> = Vec::new();
    for (logits, (chosen, weights)) in rows.zip(chosen.zip(weights)) {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let power = |&x: &f32| f64::from(x - largest).exp();
        let total: f64 = logits.iter().map(power).sum();
        order.clear();
        order.extend(0..experts as u32);
        // NaN last, and the first of equal ones first.
        let key = |&e: &u32| {
            let x = logits[e as usize];
            if x.is_nan() { f32::NEG_INFINITY } else { x }
        };
        order.sort_by(|a, b| key(b).total_cmp(&key(a)).then(a.cmp(b)));
        chosen.copy_from_slice(&order[..route.chosen]);
        let share = |&e: &u32| power(&logits[e as usize]) / total;
        let sum: f64 = match route.normalize {
            true => chosen.iter().map(share).sum(),
            false => 1.0,
        };
        for (weight, e) in weights.iter_mut().zip(chosen.iter()) {
            *weight = (share(e) / sum) as f32;
        }
    }
    Ok(())
}
