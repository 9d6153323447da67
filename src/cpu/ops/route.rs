//! The router of a mixture of experts.

use super::{Out, View, input, missing};
use crate::Result;
use crate::ir::{Groups, Op, Route, Scores};

/// Scores, the largest entries, their weights.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let (Op::Route(route), [index, weight]) = (op, outputs) else {
        return Err(missing(op));
    };
    let logits = input(op, inputs, 0)?;
    let all = logits.sizes().last().copied().unwrap_or(1).max(1);
    let experts = all.saturating_sub(route.shared.into());
    let correction = inputs.get(1).map(|view| view.values::<f32>());
    let values = logits.values::<f32>();
    let rows = values.chunks_exact(all);
    let chosen = index.values::<u32>().chunks_exact_mut(route.all());
    let weights = weight.values::<f32>().chunks_exact_mut(route.all());
    let mut order: Vec<u32> = Vec::new();
    for (logits, (chosen, weights)) in rows.zip(chosen.zip(weights)) {
        let (logits, shared) = logits.split_at(experts);
        let (chosen, of_shared) = chosen.split_at_mut(route.chosen);
        of_shared.fill(experts as u32);
        let ranks = ranks(route, logits, correction.as_deref());
        order.clear();
        order.extend(0..experts as u32);
        // NaN last, and the first of equal ones first.
        let key = |&e: &u32| {
            let x = ranks[e as usize];
            if x.is_nan() { f64::NEG_INFINITY } else { x }
        };
        order.sort_by(|a, b| key(b).total_cmp(&key(a)).then(a.cmp(b)));
        chosen.copy_from_slice(&order[..route.chosen]);
        let shares = shares(route, logits, chosen);
        let sum: f64 = match route.normalize {
            true => shares.iter().sum(),
            false => 1.0,
        };
        let shares = shares.iter().map(|share| share / sum * route.factor.get());
        let of_shared = shared.iter().map(|&x| sigmoid(x.into()));
        for (weight, share) in weights.iter_mut().zip(shares.chain(of_shared)) {
            *weight = share as f32;
        }
    }
    Ok(())
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What decides.
fn ranks(route: &Route, logits: &[f32], correction: Option<&[f32]>) -> Vec<f64> {
    let all: Vec<u32> = (0..logits.len() as u32).collect();
    let mut ranks: Vec<f64> = match (route.scores, correction, route.groups) {
        // Their order is that of the logits, which do not underflow.
        (Scores::Band(_), ..) | (Scores::Softmax, None, None) => {
            logits.iter().map(|&x| x.into()).collect()
        }
        _ => shares(route, logits, &all),
    };
    for (rank, &correction) in ranks.iter_mut().zip(correction.unwrap_or_default()) {
        *rank += f64::from(correction);
    }
    let Some(Groups { count, kept, best }) = route.groups else {
        return ranks;
    };
    let width = ranks.len() / count;
    let of_group = |group: &[f64]| {
        let mut group = group.to_vec();
        group.sort_by(|a, b| b.total_cmp(a));
        group.iter().take(best).sum::<f64>()
    };
    let groups: Vec<f64> = ranks.chunks_exact(width).map(of_group).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| groups[b].total_cmp(&groups[a]).then(a.cmp(&b)));
    for &group in &order[kept..] {
        ranks[group * width..(group + 1) * width].fill(0.0);
    }
    ranks
}

/// The scores of these experts, in the order in which they were chosen.
fn shares(route: &Route, logits: &[f32], chosen: &[u32]) -> Vec<f64> {
    let of = |e: u32| f64::from(logits[e as usize]);
    match route.scores {
        Scores::Sigmoid => chosen.iter().map(|&e| sigmoid(of(e))).collect(),
        Scores::Softmax => {
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let power = |x: f32| f64::from(x - largest).exp();
            let total: f64 = logits.iter().map(|&x| power(x)).sum();
            let share = |&e: &u32| power(logits[e as usize]) / total;
            chosen.iter().map(share).collect()
        }
        Scores::Band(limit) => {
            let share = |(place, &e): (usize, &u32)| {
                let (most, before) = (of(e), &chosen[..place]);
                let in_band = |other: &u32| {
                    let x = of(*other);
                    let distance = (most - x) / x.abs().max(most);
                    !before.contains(other) && (distance <= limit.get() || distance.is_nan())
                };
                let others = (0..logits.len() as u32).filter(in_band);
                1.0 / others.map(|other| (of(other) - most).exp()).sum::<f64>()
            };
            chosen.iter().enumerate().map(share).collect()
        }
    }
}
