//! Logits processors: an application's code between the model and the choice of a token.

use crate::{Error, Result, panics};
use std::sync::Arc;

/// Edits the logits of a request's next token before one is chosen. Called on the session's thread, which starts no
/// step of the model meanwhile; it must not wait for this session itself.
#[derive(Clone)]
pub struct LogitsProcessor(Arc<Edit>);

type Edit = dyn Fn(&[u32], &mut [f32]) -> Result<()> + Send + Sync;

impl LogitsProcessor {
    /// `edit` is given the tokens so far, prompt and generated, and a logit of each token of the vocabulary: all
    /// finite. It may leave −∞, which bans a token. An error, and a panic, ends the request with it.
    pub fn new(edit: impl Fn(&[u32], &mut [f32]) -> Result<()> + Send + Sync + 'static) -> Self {
        LogitsProcessor(Arc::new(edit))
    }

    /// Runs it on finite logits, and leaves finite ones.
    pub(super) fn edit(&self, tokens: &[u32], logits: &mut [f32]) -> Result<()> {
        panics::caught(|| (self.0)(tokens, logits)).unwrap_or_else(|panic| {
            let what = format!("the logits processor panicked: {panic}");
            Err(Error::InvalidArgument(what))
        })?;
        // No look for the place before it is known that there is one, so that vectors can look at all.
        let is_bad = |logit: &f32| logit.is_nan() | (*logit == f32::INFINITY);
        if logits.iter().fold(false, |bad, logit| bad | is_bad(logit))
            && let Some(token) = logits.iter().position(is_bad)
        {
            return Err(Error::InvalidArgument(format!(
                "the logits processor made the logit of token {token} {}; it must be a number below infinity",
                logits[token]
            )));
        }
        logits
            .iter_mut()
            .for_each(|logit| *logit = logit.max(f32::MIN));
        Ok(())
    }
}

impl std::fmt::Debug for LogitsProcessor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogitsProcessor")
    }
}
