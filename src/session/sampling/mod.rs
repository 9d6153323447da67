//! Sampling: one row of logits to the next token.
//!
//! The order is llama.cpp's default chain. `l` is a logit:
//! 1. logit bias: `l += bias`; a bias of −∞ bans the token;
//! 2. penalties, for each token that occurs `c > 0` times in the last `penalty_window` tokens
//!    (prompt included): `l = l > 0 ? l / repetition : l · repetition`, then
//!    `l −= c · frequency + presence`;
//! 3. temperature 0: the largest `l`, the lowest id among equals. Otherwise:
//! 4. top-k: the `k` largest;
//! 5. top-p: the shortest run of the largest whose softmax (over what top-k left, without
//!    temperature) reaches `p`;
//! 6. min-p: those with `l ≥ l_max + ln(min_p)`, i.e. at least `min_p` times the best probability;
//! 7. temperature: `l / temperature`;
//! 8. a draw from the softmax of what is left.
//!
//! The random number of step 8 is a function of the seed and of the token's position in the
//! generation only ([`philox`]): neither the batch nor the time matters.
//!
//! A device that chooses tokens itself is told how by a [`Choice`](crate::model::Choice), and gives the
//! same token for the same logits: every rounding is the same, sums are of integers, and the draw goes
//! through what is left in the order of the vocabulary, there and here. Log-probabilities, more than 64 biases and penalties of more than 64 tokens
//! are left to the host, which samples all rows of such a step.
//!
//! Log-probabilities are `ln softmax` of the model's own logits, before step 1.

mod draw;
mod exp;
pub mod philox;
mod rated;
mod sampler;
mod select;

pub use sampler::{Sampled, Sampler, Scratch};
