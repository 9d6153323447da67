//! `mlxrocm bench` and `perplexity`.

use super::facts::json;
use super::{plain_model, refused, scratch, succeed};
use mlxrocm::model::KvType;
use serde_json::Value;

#[test]
fn speeds_are_measured() {
    let (_, model) = plain_model();
    let arguments = [
        "bench", "--json", "-p", "40", "-n", "20", "-r", "4", "-t", "1", model,
    ];
    let found = json(&arguments);
    assert_eq!((&found["runs"], &found["threads"]), (&4.into(), &1.into()));
    assert_eq!(found["prefill_tokens"], 40);
    assert_eq!(found["decode_tokens"], 20);
    let cpu = json(&["devices", "--json"]);
    assert_eq!(found["device"], cpu["devices"][0]["name"]);
    for kind in ["prefill", "decode"] {
        let number = |of: &str| found[format!("{kind}_{of}")].as_f64().unwrap();
        let median = number("tokens_per_second");
        assert!(number("least") > 0.0 && number("least") <= median);
        assert!(median <= number("most") && number("most").is_finite());
    }
    let text = succeed(&["bench", "-p", "8", "-n", "4", "-r", "1", model], "");
    assert!(
        text.contains("prefill 8 ") && text.contains("decode 4 "),
        "{text}"
    );
    assert_eq!(text.matches(" tokens/s (").count(), 2, "{text}");
}

/// -ln p of each token but the first by the plain forward pass in f64: a token is scored in the first
/// window that has it.
fn surprises(
    tokens: &[u32],
    bos: Option<u32>,
    window: usize,
    stride: usize,
    kv: KvType,
) -> Vec<f64> {
    let (model, _) = plain_model();
    let room = window - usize::from(bos.is_some());
    let mut scored = Vec::new();
    for start in (0..tokens.len()).step_by(stride) {
        let end = (start + room).min(tokens.len());
        let piece: Vec<u32> = bos
            .into_iter()
            .chain(tokens[start..end].iter().copied())
            .collect();
        let logits = model.logits(&piece, kv);
        // Tokens of the text that an earlier window had.
        let known = if start == 0 {
            0
        } else {
            (start - stride + room).min(end)
        };
        for at in known.max(usize::from(bos.is_none()))..end {
            let row = &logits[piece.len() - (end - at) - 1];
            let sum: f64 = row.iter().map(|x| x.exp()).sum();
            scored.push(sum.ln() - row[tokens[at] as usize]);
        }
        if end == tokens.len() {
            break;
        }
    }
    scored
}

/// Letters that no merge joins: each token is a byte.
fn letters(count: usize) -> String {
    let mut state = 12345u64;
    let letters = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        char::from(b"QXZJVKWY"[(state >> 60) as usize % 8])
    });
    letters.take(count).collect()
}

#[test]
fn perplexity_is_that_of_the_plain_forward_pass() {
    let (_, model) = plain_model();
    // The same model, with a tokenizer that begins texts with a token.
    let with_bos = scratch().join("bos.gguf");
    let mut bytes = std::fs::read(model).unwrap();
    let key = b"tokenizer.ggml.add_bos_token";
    let at = bytes
        .windows(key.len())
        .position(|part| part == key)
        .unwrap();
    let flag = at + key.len() + 4;
    assert_eq!(bytes[flag], 0);
    bytes[flag] = 1;
    std::fs::write(&with_bos, bytes).unwrap();
    let with_bos = with_bos.to_str().unwrap();
    let file = scratch().join("letters.txt");
    for (count, window, stride) in [
        (2, 16, 8),
        (16, 16, 8),
        (17, 16, 8),
        (90, 16, 8),
        (61, 20, 3),
        (75, 30, 28),
    ] {
        let text = letters(count);
        std::fs::write(&file, &text).unwrap();
        let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
        for (path, bos) in [
            (model, None),
            (with_bos, Some(crate::plain_llama::tiny_tokenizer::BOS)),
        ] {
            let (window_text, stride_text) = (window.to_string(), stride.to_string());
            let arguments = [
                "perplexity",
                "--json",
                "-w",
                &window_text,
                "--stride",
                &stride_text,
            ];
            let found = json(&[&arguments[..], &[path, file.to_str().unwrap()]].concat());
            let expected = surprises(&tokens, bos, window, stride, KvType::F16);
            let n = expected.len() as f64;
            assert_eq!(expected.len(), count - usize::from(bos.is_none()));
            assert_eq!(found["tokens"], expected.len());
            let mean = expected.iter().sum::<f64>() / n;
            let close = |key: &str, wanted: f64| {
                let found = found[key].as_f64().unwrap();
                let difference = (found - wanted).abs() / wanted.max(1e-9);
                assert!(
                    difference < 2e-3,
                    "{count} {window} {stride} {bos:?} {key}: {found}, not {wanted}"
                );
            };
            close("nats_per_token", mean);
            close("perplexity", mean.exp());
            if expected.len() > 2 {
                let variance = expected.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
                close("standard_error", mean.exp() * (variance / n).sqrt());
            }
        }
    }
    // The cache's type is used.
    let text = letters(60);
    let arguments = ["perplexity", "--json", "-w", "60", "--kv", "q4", model, "-"];
    let said = super::run(&arguments, &text);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
    let mean = |kv| surprises(&tokens, None, 60, 30, kv).iter().sum::<f64>() / 59.0;
    let nats = found["nats_per_token"].as_f64().unwrap();
    assert!(
        (nats - mean(KvType::Q4)).abs() < (nats - mean(KvType::F16)).abs(),
        "{nats}"
    );
    refused(1, &["perplexity", model, "-"], "Q", "too few");
    refused(1, &["perplexity", model, "/no/such"], "", "/no/such");
}
