//! Log-probabilities, which are those of the model's own logits.

use super::exp::sum_exp;
use super::sampler::{Sampled, Sampler, Scratch, not_finite};
use super::select::{Candidate, block_maxima, top_k};
use crate::Result;
use crate::session::TokenLogprob;

impl Sampler {
    /// Whether log-probabilities are asked for.
    pub fn rates(&self) -> bool {
        self.params.logprobs > 0
    }

    /// [`Error::InvalidFile`] where a logit of the model is not finite.
    pub fn check_finite(&self, logits: &[f32], scratch: &mut Scratch) -> Result<()> {
        let found = block_maxima(logits, &mut scratch.maxima);
        found.map(drop).map_err(|at| not_finite(logits, at))
    }

    /// A token that was chosen by other logits than the model's `logits`, which are changed: with the
    /// log-probabilities that these give.
    pub fn rated(&self, token: u32, logits: &mut [f32], scratch: &mut Scratch) -> Result<Sampled> {
        let columns = self.tokens.end().min(logits.len());
        let logits = &mut logits[..columns];
        self.hide_holes(logits);
        scratch.undo.clear();
        let max = block_maxima(logits, &mut scratch.maxima).map_err(|at| not_finite(logits, at))?;
        let n = self.params.logprobs as usize;
        let (logprob, top) = self.logprobs(logits, token, n, max, scratch);
        Ok(Sampled {
            token,
            logprob,
            top,
        })
    }

    pub(super) fn logprobs(
        &self,
        logits: &mut [f32],
        token: u32,
        n: usize,
        edited_max: f32,
        scratch: &mut Scratch,
    ) -> (Option<f32>, Vec<TokenLogprob>) {
        let mut max = edited_max;
        if !scratch.undo.is_empty() {
            for (id, old) in scratch.undo.drain(..).rev() {
                if let Some(l) = logits.get_mut(id as usize) {
                    *l = old;
                }
            }
            // The old values were finite, so there is a maximum.
            max = block_maxima(logits, &mut scratch.maxima).unwrap_or(edited_max);
        }
        let log_sum = f64::from(max) + sum_exp(logits, max, 1.0).ln();
        let logprob = |l: f32| (f64::from(l) - log_sum) as f32;
        top_k(
            logits,
            &scratch.maxima,
            n,
            &mut scratch.candidates,
            &mut scratch.floats,
        );
        let is_token = |(_, id): &&Candidate| self.tokens.holes().binary_search(id).is_err();
        let top = scratch
            .candidates
            .iter()
            .filter(is_token)
            .map(|&(l, token)| TokenLogprob {
                token,
                logprob: logprob(l),
            })
            .collect();
        (logits.get(token as usize).map(|&l| logprob(l)), top)
    }
}
