//! What the accuracy tests share: where the models and the references are, and the comparisons.
//!
//! The references were made with MLX's CPU build, all weights dequantized to float32 and all arithmetic in
//! float32 (`tests/golden/models/make_references.py` says how, and describes the files).

#![allow(dead_code, unused_imports)] // each test binary uses a part

#[path = "../support/demo_model.rs"]
mod demo_model;

pub use demo_model::demo_model;
use mlxrocm::model::{KvType, LoadOptions, Model};
use mlxrocm::session::{Event, FinishReason, Generation, Next, Request, Session, SessionOptions};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Largest allowed difference of a first-step logit from the reference.
pub const LOGIT_TOLERANCE: f32 = 5e-2;
/// Largest allowed mean KL divergence from the reference, in nats.
pub const KL_LIMIT: f64 = 5e-4;
/// Largest allowed relative difference of the perplexity.
pub const PERPLEXITY_TOLERANCE: f64 = 1e-3;
/// Greedy tokens must agree where the reference's best two logits are farther apart than this.
pub const GREEDY_MARGIN: f32 = 0.1;
/// Generous: a test machine may be busy. A generation that is silent this long hangs.
const SILENCE: Duration = Duration::from_secs(300);

/// The repository's root.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file of `tests/golden/models`.
pub fn golden(name: &str) -> PathBuf {
    root().join("tests/golden/models").join(name)
}

/// A model folder made from the demo GGUF; `make test` makes them.
pub fn folder(name: &str) -> PathBuf {
    let models = match std::env::var_os("MLXROCM_TEST_MODELS") {
        Some(path) => PathBuf::from(path),
        None => root().join(".cache/models"),
    };
    let path = models.join(name);
    assert!(
        path.is_dir(),
        "the model folder {} is missing: run `make test`, which makes it \
         (tests/golden/models/make_folders.py), or set MLXROCM_TEST_MODELS",
        path.display()
    );
    path
}

/// Loads a model with the default options: the accuracy of the default path is what is tested.
pub fn load(path: &Path) -> Arc<Model> {
    Model::load(path, &LoadOptions::default(), None)
        .unwrap_or_else(|error| panic!("loading {}: {error}", path.display()))
}

/// A session for `max_requests` requests of at most `context` tokens.
pub fn session(model: &Arc<Model>, context: usize, max_requests: usize) -> Session {
    session_over(model, context, max_requests, KvType::F16)
}

/// The same over a kind of KV cache.
pub fn session_over(
    model: &Arc<Model>,
    context: usize,
    max_requests: usize,
    kv_type: KvType,
) -> Session {
    let options = SessionOptions {
        context,
        max_requests,
        kv_type,
        ..SessionOptions::default()
    };
    Session::new(model.clone(), options).expect("a session")
}

/// What follows a prompt, by the reference.
#[derive(Debug, Deserialize)]
pub struct PromptReference {
    /// The prompt.
    pub ids: Vec<u32>,
    /// log Σ exp(logit) after the prompt.
    pub logsumexp: f32,
    /// The 64 tokens with the largest logits, falling.
    pub top_ids: Vec<u32>,
    /// Their logits.
    pub top_logits: Vec<f32>,
    /// Logits of tokens 0, 128, 256, …
    pub every_128th_logit: Vec<f32>,
    /// 64 greedy tokens.
    pub greedy: Vec<u32>,
    /// At each of them: largest logit minus second.
    pub margins: Vec<f32>,
    /// At each of them: its log-probability.
    pub logprobs: Vec<f32>,
}

/// The prompts' references of a model, by prompt name.
pub fn prompt_references(model: &str) -> BTreeMap<String, PromptReference> {
    let path = golden(&format!("{model}.prompts.json"));
    let text = std::fs::read_to_string(&path).expect("the prompt references");
    serde_json::from_str(&text).expect("prompt references in the expected form")
}

/// What the reference expects at one position of a text.
pub struct Position {
    /// log Σ exp(logit).
    pub logsumexp: f32,
    /// Log-probability of the token that does follow.
    pub target_logprob: f32,
    /// The most probable tokens and their logits, falling.
    pub top: Vec<(u16, f32)>,
}

/// Reads `NAME.text.bin` (format: `make_references.py`).
pub fn text_reference(model: &str) -> Vec<Position> {
    let bytes = std::fs::read(golden(&format!("{model}.text.bin"))).expect("the text reference");
    assert_eq!(&bytes[..8], b"MLXRREF1", "magic");
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let f32_at = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (positions, k) = (u32_at(8), u32_at(12));
    let record = 8 + 6 * k;
    assert_eq!(bytes.len(), 24 + positions * record, "size");
    (0..positions)
        .map(|i| {
            let at = 24 + i * record;
            let ids = at + 8;
            let logits = ids + 2 * k;
            Position {
                logsumexp: f32_at(at),
                target_logprob: f32_at(at + 4),
                top: (0..k)
                    .map(|j| {
                        let id = u16::from_le_bytes(
                            bytes[ids + 2 * j..ids + 2 * j + 2].try_into().unwrap(),
                        );
                        (id, f32_at(logits + 4 * j))
                    })
                    .collect(),
            }
        })
        .collect()
}

/// log Σ exp(x), in f64.
pub fn log_sum_exp(row: &[f32]) -> f64 {
    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max) as f64;
    assert!(top.is_finite(), "logits are not finite: largest is {top}");
    top + row
        .iter()
        .map(|&x| (x as f64 - top).exp())
        .sum::<f64>()
        .ln()
}

/// KL divergence of `row` from the reference at one position, in nats, over the reference's top tokens and one
/// bucket for all others. Merging tokens into a bucket can only lower the divergence, so this is a lower bound of
/// the divergence over the full vocabulary (`full_kl.py` computes that).
pub fn kl_divergence(reference: &Position, row: &[f32], row_lse: f64) -> f64 {
    let (mut kl, mut p_rest, mut q_rest) = (0.0, 1.0, 1.0);
    for &(id, logit) in &reference.top {
        let log_p = logit as f64 - reference.logsumexp as f64;
        let log_q = row[id as usize] as f64 - row_lse;
        let p = log_p.exp();
        kl += p * (log_p - log_q);
        p_rest -= p;
        q_rest -= log_q.exp();
    }
    // Below this the rest is rounding noise of the numbers in the file.
    if p_rest > 1e-6 {
        kl += p_rest * (p_rest / q_rest.max(1e-12)).ln();
    }
    kl
}

/// Figures of a text against its reference.
pub struct TextFigures {
    /// Mean of [`kl_divergence`].
    pub mean_kl: f64,
    /// The largest one.
    pub worst_kl: f64,
    /// exp(−mean log-probability of the tokens that follow).
    pub perplexity: f64,
    /// The same by the reference.
    pub reference_perplexity: f64,
}

/// Runs the reference's text in one context and compares.
pub fn compare_text(model: &Arc<Model>, reference: &[Position], ids: &[u32]) -> TextFigures {
    let vocab = model.info().vocab_size;
    let logits = session(model, ids.len() + 64, 1)
        .logits(ids)
        .expect("logits of the text");
    assert_eq!(logits.len(), ids.len() * vocab, "rows × vocabulary");
    let (mut sum_kl, mut worst_kl) = (0.0, 0.0f64);
    let (mut ours, mut theirs) = (0.0, 0.0);
    for (i, (position, row)) in reference.iter().zip(logits.chunks_exact(vocab)).enumerate() {
        let lse = log_sum_exp(row);
        let kl = kl_divergence(position, row, lse);
        sum_kl += kl;
        worst_kl = worst_kl.max(kl);
        if let Some(&next) = ids.get(i + 1) {
            ours += row[next as usize] as f64 - lse;
            theirs += position.target_logprob as f64;
        }
    }
    let targets = (ids.len() - 1) as f64;
    TextFigures {
        mean_kl: sum_kl / ids.len() as f64,
        worst_kl,
        perplexity: (-ours / targets).exp(),
        reference_perplexity: (-theirs / targets).exp(),
    }
}

/// Largest difference of the logits after the prompt from the reference.
pub fn compare_first_step(row: &[f32], reference: &PromptReference) -> f32 {
    let top = reference.top_ids.iter().zip(&reference.top_logits);
    let spread = reference
        .every_128th_logit
        .iter()
        .enumerate()
        .map(|(i, x)| (row[128 * i], *x));
    top.map(|(&id, &x)| (row[id as usize], x))
        .chain(spread)
        .map(|(ours, theirs)| (ours - theirs).abs())
        .fold(0.0, f32::max)
}

/// Index of the largest logit, the first of equals.
pub fn argmax(row: &[f32]) -> u32 {
    let mut best = 0;
    for (i, &x) in row.iter().enumerate() {
        if x > row[best] {
            best = i;
        }
    }
    best as u32
}

/// A greedy request that goes on past stop tokens.
pub fn greedy_request(prompt: &[u32], max_tokens: usize) -> Request {
    Request {
        prompt: prompt.to_vec(),
        max_tokens,
        ignore_eos: true,
        ..Request::default()
    }
}

/// What `pick` finds in the events of a generation that must end by length.
pub fn collect_with<T>(generation: &Generation, pick: impl Fn(&Event) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    loop {
        match generation.next(Some(SILENCE)).expect("an event") {
            Next::Event(Event::Finished { reason, error, .. }) => {
                assert_eq!(reason, FinishReason::Length, "error: {error:?}");
                return found;
            }
            Next::Event(event) => found.extend(pick(&event)),
            Next::Pending => panic!("no event for {SILENCE:?}"),
            Next::End => panic!("the end without a Finished event"),
        }
    }
}

/// The tokens of a generation that must end by length.
pub fn collect(generation: &Generation) -> Vec<u32> {
    collect_with(generation, |event| match event {
        Event::Token { token, .. } => Some(*token),
        _ => None,
    })
}

/// Generates greedily (the decode path), compares tokens and log-probabilities with the reference. A difference of
/// tokens is allowed only where the reference's margin is small; generation then goes on from the reference's
/// tokens. Returns the number of such places and the largest difference of a log-probability.
pub fn compare_greedy(
    session: &Session,
    name: &str,
    prompt: &[u32],
    greedy: &[u32],
    margins: &[f32],
    logprobs: &[f32],
) -> Result<(usize, f32), String> {
    let (mut done, mut differences, mut worst) = (0, 0, 0.0f32);
    while done < greedy.len() {
        let mut ids = prompt.to_vec();
        ids.extend(&greedy[..done]);
        let mut request = greedy_request(&ids, greedy.len() - done);
        request.sampling.logprobs = 1;
        let generation = session.submit(request).map_err(|e| e.to_string())?;
        let tokens = collect_with(&generation, |event| match event {
            Event::Token { token, logprob, .. } => {
                Some((*token, logprob.expect("a log-probability")))
            }
            _ => None,
        });
        assert_eq!(
            tokens.len(),
            greedy.len() - done,
            "{name}: tokens generated"
        );
        for (token, logprob) in tokens {
            let at = done;
            done += 1;
            if token == greedy[at] {
                // NaN must not pass.
                let difference = (logprob - logprobs[at]).abs();
                worst = if difference.is_nan() {
                    f32::INFINITY
                } else {
                    worst.max(difference)
                };
                continue;
            }
            if margins[at] > GREEDY_MARGIN {
                return Err(format!(
                    "{name}: greedy token {at} is {token}, the reference has {} with a margin of {}",
                    greedy[at], margins[at],
                ));
            }
            differences += 1;
            break;
        }
    }
    Ok((differences, worst))
}
