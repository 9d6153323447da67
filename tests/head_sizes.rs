//! Attention over heads of every width, also widths that no SIMD register fits: prefill, decode, each
//! kind of KV cache, against a plain forward pass in f64.

#[path = "support/plain_llama.rs"]
mod plain_llama;

use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model};
use mlxrocm::session::{Event, Next, Request, Session, SessionOptions};
use plain_llama::{PlainLlama, VOCABULARY};
use std::sync::Arc;
use std::time::Duration;

const KINDS: [KvType; 3] = [KvType::F16, KvType::Q8, KvType::Q4];

/// How far logits may be from the reference, as a share of their spread. What a quantized cache keeps of a number
/// may be the code beside the reference's, or all of a group's where the scale is rounded to the other side.
fn tolerance(kv: KvType) -> f64 {
    match kv {
        KvType::F16 => 5e-3,
        KvType::Q8 => 5e-2,
        // A code is a fifteenth of its group's range.
        KvType::Q4 => 0.2,
    }
}

/// More than a page of the KV cache, and no multiple of one.
const TOKENS: usize = 75;

fn load(model: &PlainLlama) -> (tempfile::TempDir, Arc<Model>) {
    let folder = tempfile::tempdir().unwrap();
    let path = model.write(folder.path());
    let options = LoadOptions {
        threads: 2,
        device: DeviceChoice::Cpu,
        ..LoadOptions::default()
    };
    let loaded = Model::load(&path, &options, None)
        .unwrap_or_else(|e| panic!("head size {}: {e}", model.head_dim));
    (folder, loaded)
}

fn session(model: &Arc<Model>, kv_type: KvType, prefill_chunk: usize) -> Session {
    let options = SessionOptions {
        context: 128,
        max_requests: 2,
        prefill_chunk,
        kv_type,
        ..SessionOptions::default()
    };
    Session::new(model.clone(), options).unwrap()
}

/// The largest difference of two rows, as a share of the reference's spread.
fn distance(got: &[f32], wanted: &[f64]) -> f64 {
    let n = wanted.len() as f64;
    let mean = wanted.iter().sum::<f64>() / n;
    let spread = (wanted.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / n).sqrt();
    let far = got.iter().zip(wanted);
    far.map(|(g, w)| (f64::from(*g) - w).abs())
        .fold(0.0, f64::max)
        / spread
}

/// Logits of a prompt, and each row of a decode that follows it, are those of the reference.
fn check(model: &PlainLlama) {
    let dim = model.head_dim;
    let (_folder, loaded) = load(model);
    let tokens: Vec<u32> = (0..TOKENS as u32).map(|i| (i * i + 3 * i) % 61).collect();
    for kv in KINDS {
        let wanted = model.logits(&tokens, kv);
        // Many rows at once (rows in the lanes), then few (columns in the lanes).
        for chunk in [0, 2] {
            let logits = session(&loaded, kv, chunk).logits(&tokens).unwrap();
            for (at, row) in logits.chunks(VOCABULARY).enumerate() {
                let far = distance(row, &wanted[at]);
                assert!(
                    far < tolerance(kv),
                    "heads of {dim}, {kv:?}, chunk {chunk}, row {at}: {far}"
                );
            }
        }
        let mut request = Request {
            prompt: tokens[..33].to_vec(),
            max_tokens: 40,
            ignore_eos: true,
            ..Request::default()
        };
        request.sampling.logprobs = 4;
        let generation = session(&loaded, kv, 0).submit(request).unwrap();
        let (mut all, mut tops) = (tokens[..33].to_vec(), Vec::new());
        loop {
            match generation.next(Some(Duration::from_secs(60))).unwrap() {
                Next::Event(Event::Token { token, top, .. }) => {
                    all.push(token);
                    tops.push(top);
                }
                Next::Event(Event::Finished { error, .. }) => {
                    assert_eq!(error, None, "heads of {dim}, {kv:?}");
                    break;
                }
                Next::Event(Event::Prompt { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(tops.len(), 40);
        let wanted = model.logits(&all, kv);
        for (top, row) in tops.iter().zip(&wanted[32..]) {
            let sum = row.iter().map(|l| l.exp()).sum::<f64>().ln();
            for best in top {
                let far = (f64::from(best.logprob) - (row[best.token as usize] - sum)).abs();
                assert!(far < tolerance(kv), "heads of {dim}, {kv:?}: {far}");
            }
        }
    }
}

#[test]
fn even_sizes() {
    for dim in [2, 4, 8, 10, 16, 20, 24, 40, 64, 72, 100, 120] {
        check(&PlainLlama::new(dim, dim));
    }
}

/// An odd head is rotated in part: RoPE needs pairs.
#[test]
fn odd_sizes() {
    for dim in [3, 5, 17, 31, 33, 63, 81, 127] {
        check(&PlainLlama::new(dim, dim - 1));
    }
}

#[test]
fn large_sizes() {
    for (dim, rotated) in [(264, 264), (511, 510), (1000, 1000)] {
        check(&PlainLlama::new(dim, rotated));
    }
    // The largest that a config may ask for.
    let model = PlainLlama::new(4096, 4096);
    let (_folder, loaded) = load(&model);
    let tokens = [1, 2, 3, 4, 5];
    let logits = session(&loaded, KvType::F16, 0).logits(&tokens).unwrap();
    let wanted = model.logits(&tokens, KvType::F16);
    for (row, wanted) in logits.chunks(VOCABULARY).zip(&wanted) {
        let far = distance(row, wanted);
        assert!(far < 2e-3, "{far}");
    }
}
