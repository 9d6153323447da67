//! What sessions on a GPU give beside tokens: logits of chosen positions, embeddings, saved states, and the choices
//! of logits processors.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::model::{DeviceChoice, Model};
use mlxrocm::session::{
    Embedding, Event, LogitsProcessor, Next, Pooling, Request, Session, SessionOptions,
};
use on_gpu::{TOLERANCE, device, farthest, load};
use std::sync::Arc;
use std::time::Duration;

fn session(model: &Arc<Model>) -> Session {
    let options = SessionOptions {
        context: 128,
        max_requests: 2,
        ..Default::default()
    };
    Session::new(model.clone(), options).unwrap()
}

/// Tokens of a greedy request, and how many of its prompt were cached.
fn run(session: &Session, prompt: &[u32], processor: Option<LogitsProcessor>) -> (Vec<u32>, usize) {
    let request = Request {
        prompt: prompt.to_vec(),
        max_tokens: 5,
        ignore_eos: true,
        logits_processor: processor,
        ..Default::default()
    };
    let generation = session.submit(request).unwrap();
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(300))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, .. }) => tokens.push(token),
            Next::Event(Event::Finished { usage, error, .. }) => {
                assert_eq!(error, None);
                return (tokens, usage.cached_tokens);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_gpu_gives_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    let gpu = device("gfx1151");
    let (cpu, model) = (
        load(&path, DeviceChoice::Cpu),
        load(&path, DeviceChoice::Gpu(0)),
    );
    assert_eq!(cpu.identity(), model.identity());
    let text: Vec<u32> = (0..70u32).map(|i| (i * 77 + 13) % 250).collect();
    let (on_cpu, on_gpu) = (session(&cpu), session(&model));

    let positions = [3, 4, 40, 69];
    let logits = on_gpu.logits_at(&text, &positions).unwrap();
    let expected = on_cpu.logits_at(&text, &positions).unwrap();
    assert!(farthest(&logits, &expected) < TOLERANCE);
    let poolings = [Pooling::None, Pooling::Mean, Pooling::Last, Pooling::Cls];
    for (pooling, normalize) in poolings.into_iter().zip([false, true, false, true]) {
        let how = Embedding {
            pooling,
            normalize,
            ..Default::default()
        };
        let expected = on_cpu.embed(&text, &how).unwrap();
        let found = on_gpu.embed(&text, &how).unwrap();
        assert!(farthest(&found, &expected) < TOLERANCE, "{pooling:?}");
    }

    let state = on_gpu.save_state(&text).unwrap();
    let refused = on_cpu.load_state(&state).unwrap_err().to_string();
    assert!(refused.contains("saved on a GPU"), "{refused}");
    let (expected, cached) = run(&on_gpu, &text, None);
    assert_eq!(cached, 64);
    let other = session(&model);
    assert_eq!(other.load_state(&state).unwrap(), text);
    assert_eq!(run(&other, &text, None), (expected, 64));
    assert_eq!(other.save_state(&text).unwrap(), state);

    let only = LogitsProcessor::new(|tokens, logits| {
        logits.fill(f32::NEG_INFINITY);
        logits[tokens.len()] = 0.0;
        Ok(())
    });
    assert_eq!(run(&other, &text, Some(only)).0, [70, 71, 72, 73, 74]);
    drop((on_gpu, other, model));
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]");
    }
}
