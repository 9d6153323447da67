//! What a session has room for: its options with their defaults.

use super::SessionOptions;
use crate::log::{self, Level};
use crate::model::{DEFAULT_CONTEXT, DEFAULT_REQUESTS, PAGE_TOKENS};
use crate::{Error, Result};

const MAX_REQUESTS: usize = 1024;
const DEFAULT_CHUNK: usize = 512;
/// The KV cache of a session takes no more by default than the weights do, or this, if that is more; a part of
/// the free memory at most; and one context in any case. (`gpu/model/beside.rs` leaves room for what this and the next give.)
const DEFAULT_KV_BYTES: u64 = 256 << 20;
const DEFAULT_KV_PART: u64 = 4;
/// Snapshots of recurrent states take no more than this part of what the weights do, or the bytes above, if that is
/// more; and this part of the free memory at most. They are taken as they are needed.
const SNAPSHOTS_PART: u64 = 8;
/// More tokens than any position can have.
const MAX_CONTEXT: usize = 1 << 30;

/// The options with their defaults.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub context: usize,
    pub requests: usize,
    pub chunk: usize,
    pub batch_invariant: bool,
    pub prompt_lookup: bool,
}

impl Limits {
    pub(super) fn new(options: &SessionOptions, model_context: usize) -> Result<Limits> {
        let context = match options.context {
            0 => model_context.min(DEFAULT_CONTEXT),
            n if n > MAX_CONTEXT => {
                return Err(Error::InvalidArgument(format!(
                    "context is {n}; at most {MAX_CONTEXT} tokens have a position"
                )));
            }
            n => n,
        };
        if options.max_requests > MAX_REQUESTS {
            return Err(Error::InvalidArgument(format!(
                "max_requests is {}; at most {MAX_REQUESTS} can run at once",
                options.max_requests
            )));
        }
        if context > model_context {
            log::write(Level::Warn, || {
                format!(
                    "a session's context of {context} tokens is longer than the {model_context} that the model \
                     was trained for: what it writes beyond them may be poor"
                )
            });
        }
        let or = |value: usize, default: usize| if value == 0 { default } else { value };
        Ok(Limits {
            context,
            requests: or(options.max_requests, DEFAULT_REQUESTS),
            // A prompt is never longer than the context.
            chunk: or(options.prefill_chunk, DEFAULT_CHUNK).min(context.max(1)),
            batch_invariant: options.batch_invariant,
            prompt_lookup: options.prompt_lookup,
        })
    }

    /// Pages for so many tokens, at least a context.
    pub(super) fn pages(&self, tokens: usize) -> usize {
        tokens.max(self.context).div_ceil(PAGE_TOKENS)
    }

    /// Pages where nobody asks for a number: each token takes `kv_bytes`, the model `weight_bytes`, and `free`
    /// bytes are free, if that is known.
    pub(super) fn default_pages(
        &self,
        kv_bytes: u64,
        weight_bytes: u64,
        free: Option<u64>,
    ) -> usize {
        let part = free.map_or(u64::MAX, |free| free / DEFAULT_KV_PART);
        let bytes = weight_bytes.max(DEFAULT_KV_BYTES).min(part);
        let affordable = usize::try_from(bytes / kv_bytes.max(1)).unwrap_or(usize::MAX);
        self.pages(self.context.saturating_mul(self.requests).min(affordable))
    }
}

/// How many snapshots of states of `bytes` are kept, with weights of `weight_bytes` and `free` bytes of memory, if
/// that is known.
pub(super) fn snapshots(bytes: u64, weight_bytes: u64, free: Option<u64>) -> usize {
    let part = free.map_or(u64::MAX, |free| free / SNAPSHOTS_PART);
    let all = (weight_bytes / SNAPSHOTS_PART).max(DEFAULT_KV_BYTES);
    all.min(part).checked_div(bytes).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_and_limits() {
        let limits = |options: SessionOptions, model| Limits::new(&options, model);
        let small = limits(SessionOptions::default(), 2048).unwrap();
        assert_eq!((small.context, small.requests, small.chunk), (2048, 8, 512));
        let large = limits(SessionOptions::default(), 131_072).unwrap();
        assert_eq!(large.context, 8192);
        let asked = SessionOptions {
            context: 100,
            max_requests: 2,
            prefill_chunk: 7000,
            ..SessionOptions::default()
        };
        let asked = limits(asked, 131_072).unwrap();
        assert_eq!((asked.context, asked.requests, asked.chunk), (100, 2, 100));
        let error = |options| match limits(options, 2048) {
            Err(Error::InvalidArgument(m)) => m,
            other => panic!("{other:?}"),
        };
        let longer = SessionOptions {
            context: 4096,
            ..Default::default()
        };
        assert_eq!(limits(longer, 2048).unwrap().context, 4096);
        let context = error(SessionOptions {
            context: MAX_CONTEXT + 1,
            ..Default::default()
        });
        assert!(context.contains("context is 1073741825"), "{context}");
        let requests = error(SessionOptions {
            max_requests: 100_000,
            ..Default::default()
        });
        assert!(requests.contains("max_requests is 100000"));
    }

    #[test]
    fn snapshots_have_a_limit_of_their_own() {
        // Qwen 3.5 with 35 B parameters: 66 MB of state; LFM2 with 1.2 B: 160 KiB; a model without.
        assert_eq!(snapshots(66 << 20, 20 << 30, Some(64 << 30)), 38);
        assert_eq!(snapshots(66 << 20, 20 << 30, Some(1 << 30)), 1);
        assert_eq!(snapshots(66 << 20, 20 << 30, Some(0)), 0);
        assert_eq!(snapshots(160 << 10, 700 << 20, None), 1638);
        assert_eq!(snapshots(0, 20 << 30, None), 0);
    }

    #[test]
    fn pages_fit_the_memory() {
        let limits = Limits::new(&SessionOptions::default(), 8192).unwrap();
        let small = |kv_bytes| limits.default_pages(kv_bytes, 94 << 20, Some(16 << 30));
        assert_eq!(small(1), 8 * 8192 / PAGE_TOKENS);
        assert_eq!(small(0), 8 * 8192 / PAGE_TOKENS);
        // SmolLM2-135M: 94 MiB of weights, 23,040 bytes a token.
        assert_eq!(
            small(23_040),
            ((256 << 20) / 23_040usize).div_ceil(PAGE_TOKENS)
        );
        // One context always fits.
        assert_eq!(small(1 << 20), 8192 / PAGE_TOKENS);
        // As much as the weights of a larger model; a quarter of the free memory; one context.
        let large = |free| limits.default_pages(1 << 17, 4 << 30, free) * PAGE_TOKENS;
        assert_eq!(large(None), (4 << 30) >> 17);
        assert_eq!(large(Some(64 << 30)), (4 << 30) >> 17);
        assert_eq!(large(Some(8 << 30)), (2 << 30) >> 17);
        assert_eq!(large(Some(1 << 20)), 8192);
        assert_eq!(limits.pages(10), 8192 / PAGE_TOKENS);
        assert_eq!(limits.pages(8193), 8192 / PAGE_TOKENS + 1);
    }
}
