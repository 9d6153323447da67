//! The memory of steps with experts beside the arena, and how much of it they need.

use super::matmul::{BLOCK_ROWS, FEW_ROWS, GROUP_ROWS, SET_ROWS, has_warpgroups, operand_stride};
use super::routed::MOST_ROUTED;
use crate::Result;
use crate::driver::DeviceFacts;
use crate::gpu::constants::experts_sum::PARTS;
use crate::gpu::{Device, DeviceBuffer};
use crate::step::{ExpertProducts, Schedule, Step};
use std::sync::Arc;

/// What steps with experts need besides the arena.
pub struct ExpertMemory {
    /// Pairs (row, choice), by expert.
    pub(super) order: DeviceBuffer,
    /// Runs of them with the same expert.
    pub(super) runs: DeviceBuffer,
    /// `[pairs]`: where rows lie among those of `hip/ops/matmul/experts_warpgroup.h`.
    pub(super) places: DeviceBuffer,
    /// `[pairs][columns]`: results before they are summed.
    pub(super) sums: DeviceBuffer,
    /// `[routers][MOST_ROUTED]` zeros: logits of `hip/ops/matmul/experts_routed.h`.
    pub(super) slots: DeviceBuffer,
}

/// Runs of up to `most` pairs of one expert, at the most.
pub(super) fn run_count(pairs: usize, experts: usize, most: usize) -> usize {
    pairs / most + experts.min(pairs)
}

impl ExpertMemory {
    /// For steps of up to so many rows; none if there are no experts.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        rows: usize,
    ) -> Result<Option<ExpertMemory>> {
        let Some(bytes) = Self::bytes(device.facts(), schedule, rows) else {
            return Ok(None);
        };
        let [order, runs, places, sums, slots] = bytes;
        let buffer = |bytes: usize| device.alloc(bytes as u64);
        Ok(Some(ExpertMemory {
            order: buffer(order)?,
            runs: buffer(runs)?,
            places: buffer(places)?,
            sums: buffer(sums)?,
            slots: buffer(slots)?,
        }))
    }

    /// Bytes of each part.
    pub fn bytes(facts: &DeviceFacts, schedule: &Schedule, rows: usize) -> Option<[usize; 5]> {
        let [mut pairs, mut runs, mut sums] = [0; 3];
        for step in steps(schedule) {
            let of_step = rows * step.chosen;
            pairs = pairs.max(of_step);
            let grouped = rows.min(FEW_ROWS) * step.chosen;
            runs = runs
                .max(run_count(of_step, step.experts, BLOCK_ROWS))
                .max(run_count(
                    of_step.min(tiled_pairs(facts, step)),
                    step.experts,
                    SET_ROWS,
                ))
                .max(run_count(grouped, step.experts, GROUP_ROWS));
            if step.weights.is_some() {
                let width = schedule.buffers[step.out.0].width;
                sums = sums
                    .max(of_step * width)
                    .max(rows.min(FEW_ROWS) * PARTS * width);
            }
        }
        let slots = steps(schedule).count() * MOST_ROUTED;
        (pairs > 0).then_some([pairs * 4, runs * 16, pairs * 4, sums.max(1) * 4, slots * 4])
    }

    /// Bytes of the operand of products with experts, and how many scales it has, for so many rows.
    pub fn operand(facts: &DeviceFacts, schedule: &Schedule, rows: usize) -> (usize, usize) {
        let is_in_places = has_warpgroups(facts);
        let steps = steps(schedule).filter(|step| step.own || is_in_places);
        let sizes = steps.map(|step| {
            let copies = if step.own { step.chosen.max(1) } else { 1 };
            let width = schedule.buffers[step.x.0].width / copies;
            let pairs = rows * step.chosen;
            // Of experts_tiles.h, whose rows have a scale and a sum for every 16 columns at the most.
            let in_groups = pairs
                .min(tiled_pairs(facts, step))
                .next_multiple_of(SET_ROWS);
            let stride = operand_stride(width);
            let bytes = pairs.next_multiple_of(SET_ROWS) * stride * 2;
            let places = match is_in_places {
                true => run_count(pairs, step.experts, BLOCK_ROWS) * BLOCK_ROWS,
                false => 0,
            };
            let bytes = bytes + in_groups * (stride / 16 + 1) * 8;
            (bytes.max(places * stride * 2), pairs.max(places))
        });
        sizes.fold((0, 0), |most, size| {
            (most.0.max(size.0), most.1.max(size.1))
        })
    }
}

/// The most pairs that `hip/ops/matmul/experts_tiles.h` takes: with more, runs of [`SET_ROWS`] read many matrices twice. (Blocks of
/// warpgroups are faster from 4 an expert on: by 1.25 and 1.7 times on an H200 with 8 and 16 an expert, 30B-A3B's shape.)
pub(super) fn tiled_pairs(facts: &DeviceFacts, step: &ExpertProducts) -> usize {
    let pairs = if has_warpgroups(facts) { 4 } else { 16 };
    pairs * step.experts
}

fn steps(schedule: &Schedule) -> impl Iterator<Item = &ExpertProducts> {
    schedule.steps.iter().filter_map(|step| match step {
        Step::Experts(step) => Some(step),
        _ => None,
    })
}
