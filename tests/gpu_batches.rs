//! Requests of a session on a GPU alone and beside others: the same tokens, and the same log-probabilities to the bit, in a
//! batch-invariant session with any number of requests and prompts.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::model::{DeviceChoice, Model};
use mlxrocm::session::{Event, Generation, Next, Request, Sampling, Session, SessionOptions};
use on_gpu::{device, load};
use std::sync::Arc;
use std::time::Duration;

/// Requests at once; more than up to which batches change nothing by themselves.
const REQUESTS: u32 = 21;

fn session(model: &Arc<Model>, batch_invariant: bool) -> Session {
    let options = SessionOptions {
        context: 96,
        max_requests: REQUESTS as usize,
        kv_tokens: 96 * REQUESTS as usize,
        batch_invariant,
        ..Default::default()
    };
    Session::new(model.clone(), options).unwrap()
}

/// The first are short, so that they write tokens while the last ones' prompts are read. Every second one is greedy and
/// chosen by the device; the others tell log-probabilities.
fn request(i: u32) -> Request {
    let length = if i < 17 { 1 + i % 3 } else { 30 + i };
    Request {
        prompt: (0..length).map(|k| (i * 31 + k * 77 + 13) % 250).collect(),
        sampling: Sampling {
            temperature: if i.is_multiple_of(2) { 0.0 } else { 1.5 },
            seed: 7 + u64::from(i),
            logprobs: i % 2 * 2,
            ..Default::default()
        },
        max_tokens: if i < 17 { 12 } else { 5 },
        ignore_eos: true,
        ..Default::default()
    }
}

/// Tokens, and what makes of each log-probability its bits.
fn collect(generation: &Generation) -> Vec<(u32, Option<u32>)> {
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(300))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, logprob, .. }) => {
                tokens.push((token, logprob.map(f32::to_bits)));
            }
            Next::Event(Event::Finished { error, .. }) => {
                assert_eq!(error, None);
                return tokens;
            }
            other => panic!("{other:?}"),
        }
    }
}

fn together(session: &Session) -> Vec<Vec<(u32, Option<u32>)>> {
    let all: Vec<_> = (0..REQUESTS)
        .map(|i| session.submit(request(i)).unwrap())
        .collect();
    all.iter().map(collect).collect()
}

#[test]
fn requests_give_the_same_alone_and_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    for target in gpu::by_turns(&["gfx1151", "gfx942", "gfx1201"]) {
        let gpu = device(target);
        let model = load(&path, DeviceChoice::Gpu(0));
        let invariant = session(&model, true);
        let alone: Vec<_> = (0..REQUESTS)
            .map(|i| collect(&invariant.submit(request(i)).unwrap()))
            .collect();
        for _ in 0..2 {
            assert!(together(&invariant) == alone, "{target}");
        }
        // Else this would show nothing: steps of more rows sum otherwise.
        let usual = together(&session(&model, false));
        assert!(usual != alone, "{target}: the usual session is as good");
        drop((invariant, model));
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
        }
    }
}
