//! What a model's files leave open: where a generation ends, which tokens may be chosen, how much
//! memory a session takes, how far the context goes.

#[path = "support/log_lines.rs"]
mod log_lines;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::Error;
use mlxrocm::formats::ScalarType;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model, PAGE_TOKENS};
use mlxrocm::session::{
    Event, FinishReason, Generation, Next, Request, Sampling, Session, SessionOptions,
};
use random_model::{CONTEXT, Spec, Storage, tiny_tokenizer};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn spec() -> Spec {
    Spec::new("defaults", "llama", Storage::Dense(ScalarType::F16))
}

/// Changes a JSON file of a model folder.
fn edit(folder: &Path, name: &str, change: impl FnOnce(&mut Value)) {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    change(&mut value);
    std::fs::write(&path, value.to_string()).unwrap();
}

fn load(path: &Path) -> Arc<Model> {
    let options = LoadOptions {
        threads: 2,
        device: DeviceChoice::Cpu,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None).unwrap()
}

fn finish(generation: &Generation) -> (Vec<u32>, FinishReason, Option<Error>) {
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(120))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, .. }) => tokens.push(token),
            Next::Event(Event::Finished { reason, error, .. }) => return (tokens, reason, error),
            other => panic!("{other:?}"),
        }
    }
}

/// mlx-lm (`TokenizerWrapper`): where the configs name no EOS, the tokenizer's ends a generation.
#[test]
fn the_tokenizers_eos_ends_a_generation() {
    let folder = tempfile::tempdir().unwrap();
    let path = spec().write(folder.path());
    let remove = |value: &mut Value| {
        value.as_object_mut().unwrap().remove("eos_token_id");
    };
    edit(&path, "config.json", remove);
    edit(&path, "generation_config.json", remove);
    let model = load(&path);
    assert_eq!(model.tokenizer().eos(), Some(tiny_tokenizer::EOS));
    assert_eq!(model.stop_tokens(), [tiny_tokenizer::EOS]);
    let session = Session::new(model, SessionOptions::default()).unwrap();
    let request = Request {
        prompt: vec![1, 2, 3],
        sampling: Sampling {
            logit_bias: vec![(tiny_tokenizer::EOS, 1e6)],
            ..Sampling::default()
        },
        max_tokens: 5,
        ..Request::default()
    };
    let (tokens, reason, error) = finish(&session.submit(request).unwrap());
    assert_eq!(error, None);
    assert_eq!(
        (tokens, reason),
        (vec![tiny_tokenizer::EOS], FinishReason::StopToken)
    );
    // What the configs say goes first.
    edit(&path, "config.json", |config| {
        config["eos_token_id"] = 7.into()
    });
    assert_eq!(load(&path).stop_tokens(), [7]);
}

/// Rows of the embedding that the tokenizer has no token for: at the end, and one in the middle.
#[test]
fn what_is_no_token_is_never_chosen() {
    const PADDED: [u32; 4] = [316, 317, 318, 319];
    let folder = tempfile::tempdir().unwrap();
    let path = spec().write(folder.path());
    edit(&path, "tokenizer.json", |tokenizer| {
        tokenizer["added_tokens"] = Value::Array(Vec::new());
        let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        // A token that no merge makes or takes.
        vocabulary.retain(|_, id| id.as_u64() != Some(7));
    });
    edit(&path, "generation_config.json", |config| {
        config.as_object_mut().unwrap().clear();
    });
    edit(&path, "config.json", |config| {
        config["eos_token_id"] = Value::Null
    });
    let model = load(&path);
    assert_eq!(model.info().vocab_size, 320);
    let session = Session::new(model, SessionOptions::default()).unwrap();
    let most = |sampling: Sampling| Sampling {
        logit_bias: PADDED.iter().chain(&[7]).map(|id| (*id, 1e3)).collect(),
        ..sampling
    };
    let hot = Sampling {
        temperature: 1e4,
        seed: 5,
        ..Sampling::default()
    };
    let (top_k, top_p, min_p) = (
        Sampling {
            top_k: 300,
            ..hot.clone()
        },
        Sampling {
            top_p: 0.99,
            ..hot.clone()
        },
        Sampling {
            min_p: 1e-6,
            ..hot.clone()
        },
    );
    let penalty = Sampling {
        presence_penalty: 1.0,
        repetition_penalty: 1.5,
        ..hot.clone()
    };
    let logprobs = Sampling {
        logprobs: 20,
        ..hot.clone()
    };
    let kinds = [
        Sampling::default(),
        hot,
        top_k,
        top_p,
        min_p,
        penalty,
        logprobs,
    ];
    let mut seen = 0;
    for sampling in kinds.iter().cloned().chain(kinds.iter().cloned().map(most)) {
        let request = Request {
            prompt: vec![1, 2, 319],
            max_tokens: 300,
            sampling: sampling.clone(),
            ..Request::default()
        };
        let (tokens, reason, error) = finish(&session.submit(request).unwrap());
        assert_eq!(
            (reason, error),
            (FinishReason::Length, None),
            "{sampling:?}"
        );
        assert_eq!(tokens.len(), 300);
        let bad = tokens.iter().find(|id| PADDED.contains(id) || **id == 7);
        assert_eq!(bad, None, "{sampling:?}");
        seen += tokens
            .iter()
            .collect::<std::collections::HashSet<_>>()
            .len();
    }
    assert!(seen > 1000, "too few tokens to tell: {seen}");
    // The raw logits have all columns.
    assert_eq!(session.logits(&[1, 2]).unwrap().len(), 640);
}

/// Such tokens are not among the alternatives either, and the probabilities of the others sum to 1.
#[test]
fn what_is_no_token_is_no_alternative() {
    let folder = tempfile::tempdir().unwrap();
    let path = spec().write(folder.path());
    edit(&path, "tokenizer.json", |tokenizer| {
        tokenizer["added_tokens"] = Value::Array(Vec::new());
        let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        vocabulary.retain(|_, id| id.as_u64().is_some_and(|id| id < 12 && id != 7));
        tokenizer["model"]["merges"] = Value::Array(Vec::new());
    });
    let session = Session::new(load(&path), SessionOptions::default()).unwrap();
    let request = Request {
        prompt: vec![1, 2, 3],
        max_tokens: 1,
        sampling: Sampling {
            logprobs: 20,
            ..Sampling::default()
        },
        ..Request::default()
    };
    let generation = session.submit(request).unwrap();
    let logits = session.logits(&[1, 2, 3]).unwrap();
    let row = &logits[640..];
    loop {
        match generation.next(Some(Duration::from_secs(60))).unwrap() {
            Next::Event(Event::Token { top, .. }) => {
                let ids: Vec<u32> = (0..12).filter(|id| *id != 7).collect();
                let sum: f64 = ids
                    .iter()
                    .map(|id| f64::from(row[*id as usize]).exp())
                    .sum();
                let mut got: Vec<u32> = top.iter().map(|t| t.token).collect();
                got.sort_unstable();
                assert_eq!(got, ids);
                for top in &top {
                    let wanted = f64::from(row[top.token as usize]) - sum.ln();
                    assert!((f64::from(top.logprob) - wanted).abs() < 1e-4, "{top:?}");
                }
            }
            Next::Event(Event::Finished { error, .. }) => {
                assert_eq!(error, None);
                return;
            }
            Next::Event(Event::Prompt { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_session_takes_memory_by_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = load(&spec().write(folder.path()));
    let bytes = |options: SessionOptions| {
        let pages = Session::new(model.clone(), options.clone())
            .unwrap()
            .status()
            .pages;
        (pages * PAGE_TOKENS) as u64 * model.kv_bytes_per_token(options.kv_type)
    };
    // Eight contexts of a model as small as this.
    let all = 8 * CONTEXT as u64 * model.info().kv_bytes_per_token;
    assert_eq!(bytes(SessionOptions::default()), all);
    // Many requests of it: no more than a small model is worth.
    let many = SessionOptions {
        max_requests: 1024,
        ..SessionOptions::default()
    };
    assert!(1024 * CONTEXT as u64 * model.info().kv_bytes_per_token > 256 << 20);
    let bytes = bytes(many);
    assert!(bytes <= 256 << 20, "{bytes}");
}

/// RoPE has an angle for every position, so a longer context works; that it was not trained for is said.
#[test]
fn a_context_above_the_trained_one_is_allowed_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = spec().write(folder.path());
    let lines = log_lines::capture();
    let options = SessionOptions {
        context: 700,
        ..SessionOptions::default()
    };
    let trained = load(&path);
    let session = Session::new(trained.clone(), options.clone()).unwrap();
    assert_eq!(session.context(), 700);
    let warnings = lines.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("700") && warnings[0].contains("512"),
        "{warnings:?}"
    );
    let tokens: Vec<u32> = (0..650).map(|i| i * 7 % 316).collect();
    let logits = session.logits(&tokens).unwrap();
    // The same weights, said to be trained for more.
    edit(&path, "config.json", |c| {
        c["max_position_embeddings"] = 1024.into()
    });
    let session = Session::new(load(&path), options).unwrap();
    assert_eq!(session.logits(&tokens).unwrap(), logits);
    assert_eq!(lines.warnings().len(), 1);
    // What no position can be is an error still.
    let absurd = SessionOptions {
        context: usize::MAX,
        ..SessionOptions::default()
    };
    let error = Session::new(trained, absurd).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
    assert!(error.to_string().contains("context"), "{error}");
}

/// Frequencies that follow each text's length cannot be those of keys that are kept: said by name, not left out.
#[test]
fn a_context_above_the_trained_one_is_refused_where_rope_would_follow_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = spec().write(folder.path());
    edit(&path, "config.json", |config| {
        config["rope_scaling"] = serde_json::json!({"rope_type": "dynamic", "factor": 2.0});
    });
    let model = load(&path);
    let session = |context| {
        let options = SessionOptions {
            context,
            ..SessionOptions::default()
        };
        Session::new(model.clone(), options)
    };
    assert_eq!(session(CONTEXT).unwrap().context(), CONTEXT);
    let error = session(CONTEXT + 1).err().unwrap();
    let named = error.to_string().contains("rope_scaling \"dynamic\"");
    assert!(
        matches!(error, Error::InvalidArgument(_)) && named,
        "{error}"
    );
}
