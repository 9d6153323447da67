//! The session over the demo model: what else runs must not change a single token.

#[path = "support/demo_model.rs"]
mod demo_model;

use demo_model::demo_model;
use mlxrocm::model::{LoadOptions, Model};
use mlxrocm::session::{
    Event, FinishReason, Generation, Next, Request, Sampling, Session, SessionOptions, Usage,
};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

fn model() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    MODEL
        .get_or_init(|| Model::load(&demo_model(), &LoadOptions::default(), None).unwrap())
        .clone()
}

fn collect(generation: &Generation) -> (Vec<u32>, String, FinishReason, Usage) {
    let (mut tokens, mut all) = (Vec::new(), String::new());
    loop {
        match generation.next(Some(Duration::from_secs(300))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, text, .. }) => {
                tokens.push(token);
                all += &text;
            }
            Next::Event(Event::Finished {
                reason,
                text,
                usage,
                error,
            }) => {
                assert_eq!(error, None);
                return (tokens, all + &text, reason, usage);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Four prompts of different length with different sampling.
fn requests() -> Vec<Request> {
    let texts = [
        "The capital of France is".to_string(),
        "Once upon a time, in a small village by the sea, there lived".to_string(),
        "def fibonacci(n):".to_string(),
        "One two three four five six seven eight nine ten. ".repeat(8),
    ];
    texts
        .iter()
        .enumerate()
        .map(|(i, text)| Request {
            prompt: model().tokenizer().encode(text, true, true).unwrap(),
            sampling: Sampling {
                temperature: if i % 2 == 0 { 0.0 } else { 0.8 },
                top_k: 40,
                top_p: 0.95,
                seed: i as u64,
                ..Default::default()
            },
            max_tokens: 40,
            ignore_eos: true,
            ..Default::default()
        })
        .collect()
}

fn session(options: SessionOptions) -> Session {
    Session::new(model(), options).unwrap()
}

#[test]
fn together_restarted_or_cached_as_alone() {
    // A session each: nothing is shared.
    let alone: Vec<_> = requests()
        .into_iter()
        .map(|request| collect(&session(SessionOptions::default()).submit(request).unwrap()))
        .collect();
    for (tokens, text, reason, usage) in &alone {
        assert_eq!((tokens.len(), *reason), (40, FinishReason::Length));
        assert_eq!(usage.cached_tokens, 0);
        assert!(!text.is_empty());
    }
    assert!(alone[0].1.contains("Paris"), "{}", alone[0].1);

    // Together, with prompts cut in pieces; so few pages that some are restarted; and again, with
    // what the first round left in the cache.
    for (kv_tokens, prefill_chunk) in [(0, 0), (160, 16)] {
        let session = session(SessionOptions {
            context: 160,
            kv_tokens,
            prefill_chunk,
            ..Default::default()
        });
        for round in 0..2 {
            let generations: Vec<_> = requests()
                .into_iter()
                .map(|request| session.submit(request).unwrap())
                .collect();
            for (i, (generation, want)) in generations.iter().zip(&alone).enumerate() {
                let (tokens, text, reason, usage) = collect(generation);
                assert_eq!(
                    (&tokens, &text, reason),
                    (&want.0, &want.1, want.2),
                    "request {i}, round {round}, {kv_tokens} KV tokens"
                );
                if kv_tokens == 0 && i == 3 {
                    assert_eq!(usage.cached_tokens > 0, round == 1);
                }
            }
        }
    }
}

#[test]
fn greedy_tokens_are_the_largest_logits() {
    let session = session(SessionOptions::default());
    let request = requests().remove(0);
    let prompt = request.prompt.clone();
    let (tokens, text, ..) = collect(&session.submit(request.clone()).unwrap());
    let mut all = prompt.clone();
    all.extend(&tokens[..39]);
    let vocab = model().info().vocab_size;
    let logits = session.logits(&all).unwrap();
    assert_eq!(logits.len(), all.len() * vocab);
    for (row, &token) in logits.chunks(vocab).skip(prompt.len() - 1).zip(&tokens) {
        let largest = row.iter().copied().fold(f32::MIN, f32::max);
        // Rows of a batch may differ from a single one in the last bits.
        assert!(row[token as usize] >= largest - 1e-3);
    }
    // A stop string cuts the same text.
    let stop: String = text.chars().skip(20).take(5).collect();
    let (_, cut, reason, _) = collect(
        &session
            .submit(Request {
                stop: vec![stop.clone()],
                ..request
            })
            .unwrap(),
    );
    assert_eq!(reason, FinishReason::StopString);
    assert_eq!(cut, text[..text.find(&stop).unwrap()]);
}
