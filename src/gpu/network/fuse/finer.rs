//! What a network in f16 keeps finer than that: results of heads in f32, and what rounding left of the rows that many
//! layers add to.

use super::super::steps::{Norm, Plan, Step};
use crate::gpu::constants::network_norm;

/// Columns of rows that a block keeps in registers.
const MOST_COLUMNS: usize = 8 * network_norm::FINER_TEAM;

/// Marks results as f32 that only steps with a form for it make and read, on the way to an output.
pub fn widen(plan: &mut Plan) {
    let mut reads = vec![Vec::new(); plan.counts.len()];
    let mut writes = vec![Vec::new(); plan.counts.len()];
    for (at, step) in plan.steps.iter().enumerate() {
        step.read().into_iter().for_each(|x| reads[x].push(at));
        step.written().into_iter().for_each(|x| writes[x].push(at));
    }
    plan.wide = vec![false; plan.counts.len()];
    for step in plan.steps.iter().rev() {
        for buffer in step.written() {
            let made = |&at: &usize| plan.steps[at].can_write_wide();
            let read = |&at: &usize| plan.steps[at].can_read_wide();
            let towards = |&at: &usize| {
                let written = plan.steps[at].written();
                written.into_iter().any(|other| plan.wide[other])
            };
            let is_asked = plan.outputs.contains(&buffer) || reads[buffer].iter().any(towards);
            let wide =
                is_asked && writes[buffer].iter().all(made) && reads[buffer].iter().all(read);
            plan.wide[buffer] = wide;
        }
    }
}

/// Gives norms that add to another norm's result what rounding left of it.
pub fn keep_low(plan: &mut Plan) {
    for at in 0..plan.steps.len() {
        let Step::Norm(norm) = &plan.steps[at] else {
            continue;
        };
        let (made, count) = (norm.out, plan.counts[norm.out]);
        let fits = |norm: &Norm| {
            let columns = norm.weight.len;
            columns.is_multiple_of(8) && columns <= MOST_COLUMNS && count.is_multiple_of(8)
        };
        if !fits(norm) {
            continue;
        }
        let adds = |step: &Step| match step {
            Step::Norm(norm) => norm.beside.is_some() && norm.x.buffer == made && fits(norm),
            _ => false,
        };
        let readers: Vec<usize> = (at + 1..plan.steps.len())
            .filter(|&later| adds(&plan.steps[later]))
            .collect();
        if readers.is_empty() {
            continue;
        }
        // Two bits for each number.
        plan.counts.push(count / 8);
        plan.wide.push(false);
        let low = Some(plan.counts.len() - 1);
        if let Step::Norm(norm) = &mut plan.steps[at] {
            norm.out_low = low;
        }
        for reader in readers {
            if let Step::Norm(norm) = &mut plan.steps[reader] {
                norm.x_low = low;
            }
        }
    }
}
