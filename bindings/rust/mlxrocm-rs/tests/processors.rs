//! Logits processors, waiting for any of several generations, and quantized models.

use mlxrocm_rs::{
    Array, DType, Device, Event, FinishReason, Generation, Model, QuantizeOptions, Request, Session, SessionOptions,
    Status, list_tensors, load_arrays, quantize, quantize_with, save_safetensors, wait_any,
};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn model() -> Model {
    let path = std::env::var_os("MLXROCM_DEMO_MODEL").expect("MLXROCM_DEMO_MODEL names the demo model");
    Model::load_on(path, Some(&Device::open(0).unwrap()), 0).unwrap()
}

fn session(model: &Model) -> Session {
    Session::with_options(model, SessionOptions { context: 512, max_requests: 4, ..Default::default() }).unwrap()
}

#[test]
fn what_a_processor_writes_is_chosen_from() {
    let model = model();
    let session = session(&model);
    let tokenizer = model.tokenizer().unwrap();
    let prompt = tokenizer.encode("One two", false, false).unwrap();
    let comma = tokenizer.encode(",", false, false).unwrap()[0];
    let seen = Arc::new(Mutex::new(Vec::new()));
    let writes = seen.clone();
    let request = Request::tokens(&prompt).max_tokens(3).logits_processor(move |tokens, logits| {
        writes.lock().unwrap().push((tokens.to_vec(), logits.to_vec(), thread::current().id()));
        logits[comma as usize] += 1000.0;
        true
    });
    assert_eq!(session.submit(&request).unwrap().text().unwrap(), ",,,");
    let first = session.logits_at(&prompt, &[]).unwrap();
    let seen: Vec<_> = std::mem::take(&mut seen.lock().unwrap());
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0].1, first);
    for (i, (tokens, logits, thread)) in seen.iter().enumerate() {
        assert_eq!(tokens[..prompt.len()], prompt);
        assert_eq!(tokens[prompt.len()..], vec![comma; i]);
        assert_eq!(logits.len(), model.info().unwrap().vocab_size);
        assert_ne!(*thread, thread::current().id());
    }
    // A request that several generations have, and a fork.
    assert_eq!(session.batch(&[request.clone(), request.clone()]).unwrap(), [",,,", ",,,"]);
    let generation = session.submit(&Request::tokens(&prompt).max_tokens(1)).unwrap();
    let fork = generation.fork(&Request::more().max_tokens(2).logits_processor(move |_, logits| {
        logits[comma as usize] = 1000.0;
        true
    }));
    assert_eq!(fork.unwrap().text().unwrap(), ",,");
}

#[test]
fn texts_are_what_they_must_be() {
    let model = model();
    let session = session(&model);
    let asked = || Request::text("Is the sky blue? As JSON:").max_tokens(30);
    let answer = |request: &Request| session.submit(request).unwrap().text().unwrap();
    let word = answer(&asked().json_schema(r#"{"enum": ["yes", "no"]}"#));
    assert!(["\"yes\"", "\"no\""].contains(&word.as_str()), "{word}");
    let word = answer(&asked().regex("[A-Z]{3}!"));
    assert!(word.len() == 4 && word.ends_with('!'), "{word}");
    let word = answer(&asked().grammar(r#"start: "ja" | "nein""#));
    assert!(["ja", "nein"].contains(&word.as_str()), "{word}");
    let wrong = session.submit(&asked().json_schema("{")).unwrap_err();
    assert!(wrong.status == Status::InvalidArgument && wrong.to_string().contains("not JSON"), "{wrong}");
    let ends = session.submit(&asked().regex("a")).unwrap();
    let reason = ends.filter_map(|event| match event.unwrap() {
        Event::Finished(finished) => Some(finished.reason),
        _ => None,
    });
    assert_eq!(reason.last(), Some(FinishReason::Grammar));
}

#[test]
fn what_ends_a_processor_comes_out() {
    let model = model();
    let session = session(&model);
    let run = |request: Request| session.submit(&request.max_tokens(3)).and_then(Generation::text);
    let ended = run(Request::text("One").logits_processor(|_, _| false));
    assert_eq!(ended.unwrap_err().status, Status::Cancelled);
    let no_number = run(Request::text("One").logits_processor(|_, logits| {
        logits[0] = f32::NAN;
        true
    }));
    assert_eq!(no_number.unwrap_err().status, Status::InvalidArgument);
    // As a panic, without its message.
    let panics = Request::text("One").logits_processor(|_, _| resume_unwind(Box::new("enough")));
    let panicked = catch_unwind(AssertUnwindSafe(|| run(panics.clone()))).unwrap_err();
    assert_eq!(panicked.downcast_ref(), Some(&"enough"));
    // The session goes on.
    assert!(!run(Request::text("The")).unwrap().is_empty());
    // A processor that is never called is freed all the same.
    let owned = Arc::new(AtomicUsize::new(0));
    let kept = owned.clone();
    let refused = Request::text("").logits_processor(move |_, _| kept.load(Ordering::Relaxed) == 0);
    assert_eq!(session.submit(&refused).unwrap_err().status, Status::InvalidArgument);
    drop(refused);
    assert_eq!(Arc::strong_count(&owned), 1);
}

#[test]
fn the_library_forgets_processors() {
    let model = model();
    let session = session(&model);
    let owned = Arc::new(AtomicUsize::new(0));
    let calls = owned.clone();
    let request = Request::text("Count:").max_tokens(400).ignore_eos().logits_processor(move |_, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        true
    });
    let mut generation = session.submit(&request).unwrap();
    drop(request);
    assert!(generation.next().unwrap().is_ok());
    drop(generation);
    let start = Instant::now();
    while Arc::strong_count(&owned) > 1 {
        assert!(start.elapsed() < Duration::from_secs(60));
        thread::yield_now();
    }
    assert!(owned.load(Ordering::Relaxed) < 400);
}

#[test]
fn any_of_several_generations() {
    let model = model();
    let (one, other) = (session(&model), session(&model));
    let requests = ["The capital of France is", "Once upon a time", "Water boils at"]
        .map(|prompt| Request::text(prompt).max_tokens(5));
    let submit = |(i, request): (usize, &Request)| [&one, &other][i % 2].submit(request).unwrap();
    let mut generations: Vec<Generation> = requests.iter().enumerate().map(submit).collect();
    let mut texts = vec![String::new(); 3];
    let mut ends = 0;
    while let Some(ready) = wait_any(&generations, None) {
        let index = ready.unwrap().expect("an event");
        let event = generations[index].next_within(Duration::ZERO).unwrap().unwrap().expect("an event");
        texts[index].push_str(event.text());
        ends += usize::from(matches!(event, Event::Finished(_)));
    }
    assert_eq!(ends, 3);
    for (text, request) in texts.iter().zip(&requests) {
        assert_eq!(*text, one.submit(request).unwrap().text().unwrap());
    }
    let none: [&Generation; 0] = [];
    assert!(wait_any(&none, None).is_none());
    let waiting = one.submit(&Request::text("Count: ".repeat(120)).max_tokens(1)).unwrap();
    assert!(wait_any(&[&waiting], Some(Duration::ZERO)).unwrap().unwrap().is_none());
}

/// A llama of one layer.
fn folder(path: &Path) -> HashMap<String, Array> {
    std::fs::create_dir(path).unwrap();
    let config = r#"{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 96, "rms_norm_eps": 1e-5,
        "max_position_embeddings": 128, "tie_word_embeddings": true}"#;
    std::fs::write(path.join("config.json"), config).unwrap();
    let mut state = 1u32;
    let mut random = |shape: &[usize]| {
        let numbers: Vec<f32> = (0..shape.iter().product())
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / f32::powi(2.0, 24) - 0.5
            })
            .collect();
        Array::new(&numbers, shape).unwrap()
    };
    let layer = "model.layers.0.";
    let mut tensors = HashMap::from([
        ("model.embed_tokens.weight".to_string(), random(&[96, 64])),
        ("model.norm.weight".to_string(), random(&[64])),
    ]);
    for name in ["input_layernorm", "post_attention_layernorm"] {
        tensors.insert(format!("{layer}{name}.weight"), random(&[64]));
    }
    for name in ["self_attn.q", "self_attn.k", "self_attn.v", "self_attn.o"] {
        tensors.insert(format!("{layer}{name}_proj.weight"), random(&[64, 64]));
    }
    for (name, shape) in [("gate", [128, 64]), ("up", [128, 64]), ("down", [64, 128])] {
        tensors.insert(format!("{layer}mlp.{name}_proj.weight"), random(&shape));
    }
    let named = tensors.iter().map(|(name, array)| (name.as_str(), array));
    save_safetensors(path.join("model.safetensors"), named, []).unwrap();
    tensors
}

#[test]
fn quantized_models() {
    let place = std::env::temp_dir().join(format!("mlxrocm-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir(&place).unwrap();
    let (source, made) = (place.join("model"), place.join("made"));
    let tensors = folder(&source);
    let options = QuantizeOptions { bits: 8, group_size: 32, ..Default::default() };
    let mut seen = Vec::new();
    let result = quantize_with(&source, &made, &options, |done, total| {
        seen.push((done, total));
        true
    });
    let result = result.unwrap();
    let arrays = load_arrays(made.join("model.safetensors")).unwrap().arrays;
    let floats = |name: &str| arrays[name].astype(DType::Float32).unwrap().to_vec::<f32>().unwrap();
    for (name, weight) in &tensors {
        let wanted = weight.to_vec::<f32>().unwrap();
        if weight.shape().len() == 1 {
            assert_eq!(floats(name), wanted);
            continue;
        }
        // By hand: four codes in each number, the lowest bits first, in groups of 32.
        let module = name.strip_suffix(".weight").unwrap();
        let (scales, biases) = (floats(&format!("{module}.scales")), floats(&format!("{module}.biases")));
        let codes = arrays[name].to_vec::<u32>().unwrap();
        for (i, value) in wanted.iter().enumerate() {
            let code = (codes[i / 4] >> (8 * (i % 4)) & 255) as f32;
            let (scale, bias) = (scales[i / 32], biases[i / 32]);
            // The end of a group may be off by a whole step: 0 is one of the codes' numbers.
            assert!((code * scale + bias - value).abs() <= 1.01 * scale.abs(), "{name} {i}");
        }
    }
    assert_eq!(result.files, 1);
    assert_eq!(result.bytes, list_tensors(&made).unwrap().iter().map(|tensor| tensor.bytes).sum::<u64>());
    assert_eq!(seen.last().map(|last| last.0), seen.last().map(|last| last.1));

    let other = place.join("other");
    let ended = quantize_with(&source, &other, &options, |_, _| false);
    assert_eq!(ended.unwrap_err().status, Status::Cancelled);
    let panics = catch_unwind(|| quantize_with(&source, &other, &options, |_, _| resume_unwind(Box::new("enough"))));
    assert_eq!(panics.unwrap_err().downcast_ref(), Some(&"enough"));
    assert!(!other.exists());
    for wrong in [
        QuantizeOptions { bits: 7, ..Default::default() },
        QuantizeOptions { mode: Some("int4".into()), ..Default::default() },
        QuantizeOptions { mode: Some("affine\0".into()), ..Default::default() },
        QuantizeOptions { rules: vec!["*=4".into(), "nonsense".into()], ..Default::default() },
    ] {
        assert_eq!(quantize(&source, place.join("none"), &wrong).unwrap_err().status, Status::InvalidArgument);
    }
    assert_eq!(quantize(&source, &made, &options).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(quantize(&made, place.join("again"), &options).unwrap_err().status, Status::Unsupported);
    assert_eq!(quantize("/nowhere", &other, &options).unwrap_err().status, Status::Io);
    std::fs::remove_dir_all(&place).unwrap();
}
