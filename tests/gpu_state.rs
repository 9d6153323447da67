//! What sessions on a GPU give beside tokens: logits of chosen positions, embeddings, saved states, and the choices
//! of logits processors; what they never choose, what they say of weights that are no numbers, and the memory they take.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::Error;
use mlxrocm::formats::ScalarType;
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model, PAGE_TOKENS};
use mlxrocm::session::{
    Embedding, Event, FinishReason, LogitsProcessor, Next, Pooling, Request, Sampling, Session,
    SessionOptions,
};
use on_gpu::{TOLERANCE, device, farthest, load};
use random_model::{Spec, Storage};
use serde_json::Value;
use std::path::Path;
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

/// Changes a JSON file of a model folder.
fn edit(folder: &Path, name: &str, change: impl FnOnce(&mut Value)) {
    let path = folder.join(name);
    let mut value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(&path, value.to_string()).unwrap();
}

/// Tokens of a request and how it ended.
fn finish(session: &Session, request: Request) -> (Vec<u32>, FinishReason, Option<Error>) {
    let generation = session.submit(request).unwrap();
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(300))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, .. }) => tokens.push(token),
            Next::Event(Event::Finished { reason, error, .. }) => return (tokens, reason, error),
            other => panic!("{other:?}"),
        }
    }
}

/// Rows of the embedding that the tokenizer has no token for: those at the end, which the device leaves out where it
/// chooses itself, and one in the middle.
#[test]
fn what_is_no_token_is_never_chosen() {
    const PADDED: [u32; 4] = [316, 317, 318, 319];
    let folder = tempfile::tempdir().unwrap();
    for hole in [None, Some(7)] {
        let name = format!("padded-{hole:?}");
        let path = Spec::new(name, "llama", Storage::Dense(ScalarType::F16)).write(folder.path());
        edit(&path, "tokenizer.json", |tokenizer| {
            tokenizer["added_tokens"] = Value::Array(Vec::new());
            let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
            vocabulary.retain(|_, id| id.as_u64().map(|id| id as u32) != hole);
        });
        edit(&path, "generation_config.json", |config| {
            config.as_object_mut().unwrap().clear();
        });
        edit(&path, "config.json", |config| {
            config["eos_token_id"] = Value::Null
        });
        let gpu = device("gfx1151");
        let session = session(&load(&path, DeviceChoice::Gpu(0)));
        let hot = Sampling {
            temperature: 1e4,
            seed: 5,
            ..Sampling::default()
        };
        let most = |sampling: &Sampling| Sampling {
            logit_bias: PADDED.into_iter().chain(hole).map(|id| (id, 1e3)).collect(),
            ..sampling.clone()
        };
        let nucleus = Sampling {
            top_p: 0.99,
            top_k: 300,
            ..hot.clone()
        };
        let kinds = [Sampling::default(), hot, nucleus];
        let mut seen = std::collections::HashSet::new();
        for sampling in kinds.iter().cloned().chain(kinds.iter().map(most)) {
            let request = Request {
                prompt: vec![1, 2, 319],
                max_tokens: 24,
                sampling: sampling.clone(),
                ..Request::default()
            };
            let (tokens, reason, error) = finish(&session, request);
            assert_eq!(
                (reason, error),
                (FinishReason::Length, None),
                "{sampling:?}"
            );
            let bad = tokens
                .iter()
                .find(|id| PADDED.contains(id) || Some(**id) == hole);
            assert_eq!(bad, None, "{sampling:?}");
            seen.extend(tokens);
        }
        assert!(seen.len() > 40, "too few tokens to tell: {}", seen.len());
        drop(session);
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]");
        }
    }
}

/// Numbers that are none are the file's fault, when it is loaded or each time that it is asked; other models on the
/// device notice nothing.
#[test]
fn a_model_without_numbers_says_so_and_harms_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let spec = |name: &str| Spec::new(name, "llama", Storage::Dense(ScalarType::F32));
    let gpu = device("gfx1151");
    let whole = session(&load(
        &spec("whole").write(folder.path()),
        DeviceChoice::Gpu(0),
    ));
    let text: Vec<u32> = (0..40).collect();
    let expected = run(&whole, &text, None).0;
    let is_fault = |error: &Error| assert!(matches!(error, Error::InvalidFile(_)), "{error:?}");
    let mut loaded = 0;
    for (tensor, number) in [
        ("model.norm.weight", f32::NAN),
        ("model.embed_tokens.weight", f32::NAN),
        ("model.layers.0.mlp.down_proj.weight", f32::NAN),
        ("model.layers.1.self_attn.v_proj.weight", f32::INFINITY),
    ] {
        let path = spec(&format!("{tensor}-{number}")).write(folder.path());
        let weights = path.join("model.safetensors");
        let mut bytes = std::fs::read(&weights).unwrap();
        let (length, rest) = bytes.split_first_chunk_mut::<8>().unwrap();
        let (head, data) = rest.split_at_mut(u64::from_le_bytes(*length) as usize);
        let head: Value = serde_json::from_slice(head).unwrap();
        let at = |end: usize| head[tensor]["data_offsets"][end].as_u64().unwrap() as usize;
        for place in data[at(0)..at(1)].chunks_exact_mut(4) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        std::fs::write(&weights, bytes).unwrap();
        let options = LoadOptions {
            device: DeviceChoice::Gpu(0),
            ..LoadOptions::default()
        };
        let broken = match Model::load(&path, &options, None) {
            Ok(model) => session(&model),
            Err(error) => {
                is_fault(&error);
                assert!(error.to_string().contains(tensor), "{error}");
                continue;
            }
        };
        loaded += 1;
        for (temperature, logprobs) in [(0.0, 0), (1.0, 0), (0.0, 2)] {
            for prompt in [&text[..3], &text[..]] {
                let request = Request {
                    prompt: prompt.to_vec(),
                    max_tokens: 4,
                    sampling: Sampling {
                        temperature,
                        logprobs,
                        ..Sampling::default()
                    },
                    ..Request::default()
                };
                let (tokens, reason, error) = finish(&broken, request);
                assert_eq!((tokens.len(), reason), (0, FinishReason::Error), "{tensor}");
                is_fault(&error.expect("an error"));
            }
        }
        assert_eq!(run(&whole, &text, None).0, expected);
        assert_eq!(broken.status().running, 0);
    }
    println!("{loaded} models were loaded");
    drop(whole);
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]");
    }
}

/// A session that names no number of tokens takes a quarter of the memory that is free, where the weights, or 256 MiB,
/// are more.
#[test]
fn a_session_takes_a_quarter_of_the_free_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = Spec::new("quarter", "llama", Storage::Dense(ScalarType::F16)).write(folder.path());
    let _gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=320");
    let model = load(&path, DeviceChoice::Gpu(0));
    let free = model.free_memory().expect("the device says");
    assert!(free / 4 < 256 << 20 && free > 64 << 20, "{free}");
    // More contexts than would fit.
    let options = SessionOptions {
        max_requests: 1000,
        prefill_chunk: 32,
        ..SessionOptions::default()
    };
    let page = model.kv_bytes_per_token(KvType::F16) * PAGE_TOKENS as u64;
    let pages = Session::new(model, options).unwrap().status().pages as u64;
    let taken = pages * page;
    assert!(
        taken <= free / 4 + page && taken + page >= free / 4,
        "{taken} of {free}"
    );
}
