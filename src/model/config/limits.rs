//! Upper bounds of what a config may say: far above any real model, low enough that products of
//! two of them fit 64 bits and that a damaged file cannot ask for absurd memory.

use std::ops::RangeInclusive;

/// Largest width of anything: residual stream, MLP, all heads together.
pub(super) const WIDTH: usize = 1 << 20;
pub(super) const WIDTHS: RangeInclusive<u64> = 1..=WIDTH as u64;
pub(super) const LAYERS: RangeInclusive<u64> = 1..=1024;
pub(super) const HEADS: RangeInclusive<u64> = 1..=4096;
pub(super) const EXPERTS: RangeInclusive<u64> = 1..=1 << 16;
pub(super) const HEAD_DIM: RangeInclusive<u64> = 2..=4096;
pub(super) const VOCABULARY: RangeInclusive<u64> = 1..=1 << 24;
pub(super) const CONTEXT: RangeInclusive<u64> = 1..=1 << 30;
pub(super) const NORM_EPS: RangeInclusive<f64> = 0.0..=0.1;
pub(super) const ROPE_THETA: RangeInclusive<f64> = 1e-3..=1e20;
pub(super) const ROPE_FACTOR: RangeInclusive<f64> = 1e-3..=1e6;
