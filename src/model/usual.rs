//! What most sessions are: a model that is larger than a GPU leaves room for one.

use crate::step::{KvType, PAGE_TOKENS, Schedule, StateSize, Step};

/// Tokens of context of a session that names no number, unless the model was trained for fewer.
pub const DEFAULT_CONTEXT: usize = 8192;
/// Requests at once of a session that names no number.
pub const DEFAULT_REQUESTS: usize = 8;

/// Prompt tokens that a step of a model takes on a GPU by default: enough for its products to be fast.
pub(super) fn gpu_chunk(schedule: &Schedule, is_cuda: bool) -> usize {
    let is_mixture = |step: &Step| matches!(step, Step::Experts(_));
    match is_cuda && schedule.steps.iter().any(is_mixture) {
        // Each expert has a part of the rows only. (Measured on NVIDIA alone.)
        true => 2048,
        false => 1024,
    }
}

/// The forward state on a GPU of a session with default options, with pages for one context.
pub(super) fn usual_state(schedule: &Schedule, is_cuda: bool, trained: usize) -> StateSize {
    let context = trained.min(DEFAULT_CONTEXT);
    let chunk = gpu_chunk(schedule, is_cuda).min(context.max(1));
    let pages = context.div_ceil(PAGE_TOKENS);
    StateSize::of_session((DEFAULT_REQUESTS, chunk), context, pages, KvType::F16)
}
