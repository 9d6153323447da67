//! Random damage, and random sequences of tokens.

use crate::{metadata, read};
use mlxrocm::formats::gguf::Value;
use mlxrocm::text::{DecodeStream, Tokenizer};
use serde_json::json;
use std::sync::Arc;

/// The folder of the golden files.
fn golden() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text")
}

/// A small generator, so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// All places in a JSON value, as pointers.
fn places(value: &serde_json::Value, at: String, out: &mut Vec<String>) {
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        serde_json::Value::Object(map) => {
            // Of a large vocabulary a few entries are enough.
            for (key, value) in map.iter().take(12) {
                places(value, format!("{at}/{}", escape(key)), out);
            }
        }
        serde_json::Value::Array(list) => {
            for (index, value) in list.iter().enumerate().take(4) {
                places(value, format!("{at}/{index}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

#[test]
fn random_damage_never_panics() {
    let mut random = Random(7);
    for name in ["llama3", "qwen2", "llama2"] {
        let text = std::fs::read_to_string(golden().join(name).join("tokenizer.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut pointers = Vec::new();
        places(&json, String::new(), &mut pointers);
        let mut loaded = 0;
        for round in 0..400 {
            let damaged = if round % 2 == 0 {
                // One value replaced by another value of the file, or by a strange one.
                let mut damaged = json.clone();
                let from = &pointers[random.below(pointers.len())];
                let strange = [
                    json!(null),
                    json!(-1),
                    json!(1u64 << 40),
                    json!(""),
                    json!([]),
                    json!({}),
                ];
                let value = match random.below(2) {
                    0 => strange[random.below(6)].clone(),
                    _ => json.pointer(from).unwrap().clone(),
                };
                let to = &pointers[random.below(pointers.len())];
                *damaged.pointer_mut(to).unwrap() = value;
                damaged.to_string().into_bytes()
            } else {
                let mut damaged = text.clone().into_bytes();
                for _ in 0..1 + random.below(3) {
                    let (from, to) = (random.below(damaged.len()), random.below(damaged.len()));
                    match random.below(3) {
                        0 => damaged[to] = damaged[from],
                        1 => damaged.truncate(to.max(damaged.len() / 2)),
                        _ => drop(damaged.remove(to)),
                    }
                }
                damaged
            };
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("tokenizer.json"), damaged).unwrap();
            if let Ok(tokenizer) = Tokenizer::from_folder(folder.path()) {
                loaded += 1;
                for text in ["Hello, world! 123\n\n  <|eot_id|>é中😀\0", "", " "] {
                    if let Ok(ids) = tokenizer.encode(text, true, true) {
                        let _ = tokenizer.decode(&ids, false);
                    }
                }
            }
        }
        assert!(loaded > 20, "{name}: {loaded}");
    }
}

#[test]
fn any_sequence_of_tokens_streams_as_it_decodes() {
    let spm = {
        let text = std::fs::read_to_string(golden().join("spm/metadata.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let list = |key: &str| json[key].as_array().unwrap().clone();
        let tokens = list("tokens")
            .iter()
            .map(|t| t.as_str().unwrap().to_string())
            .collect();
        metadata(&[
            ("model", Value::Text("llama".into())),
            ("tokens", Value::Texts(tokens)),
            (
                "scores",
                Value::Floats(list("scores").iter().map(|s| s.as_f64().unwrap()).collect()),
            ),
            (
                "token_type",
                Value::Integers(list("types").iter().map(|t| t.as_i64().unwrap()).collect()),
            ),
        ])
    };
    let tokenizers = [
        Tokenizer::from_folder(&golden().join("llama3")).unwrap(),
        Tokenizer::from_folder(&golden().join("llama2")).unwrap(),
        read(&spm).unwrap(),
    ];
    let mut random = Random(3);
    for tokenizer in tokenizers.map(Arc::new) {
        let mut replaced = 0;
        for round in 0..4000 {
            let skip = round % 2 == 0;
            // Bytes lie at low ids: half of the tokens are drawn from there.
            let ids: Vec<u32> = (0..random.below(12))
                .map(|_| match random.below(2) {
                    0 => random.below(tokenizer.vocab_size()) as u32,
                    _ => random.below(300) as u32,
                })
                .collect();
            let whole = tokenizer.decode(&ids, skip).unwrap();
            let mut stream = DecodeStream::new(tokenizer.clone(), &[], skip);
            let mut parts = String::new();
            for id in &ids {
                parts += &stream.push(*id).unwrap();
            }
            parts += &stream.finish();
            assert_eq!(parts, whole, "{ids:?}");
            replaced += usize::from(whole.contains('\u{FFFD}'));
            let bytes: Vec<u8> = ids
                .iter()
                .flat_map(|id| tokenizer.token_bytes(*id).unwrap())
                .collect();
            let all = String::from_utf8_lossy(&bytes).into_owned();
            if !skip {
                assert!(
                    all == whole || all.strip_prefix(' ') == Some(&whole),
                    "{ids:?}"
                );
            }
            // A stream after a prompt goes on where the prompt's text ends.
            let cut = random.below(ids.len() + 1);
            let before = tokenizer.decode(&ids[..cut], skip).unwrap();
            if !before.contains('\u{FFFD}') {
                let mut stream = DecodeStream::new(tokenizer.clone(), &ids[..cut], skip);
                let mut rest = String::new();
                for id in &ids[cut..] {
                    rest += &stream.push(*id).unwrap();
                }
                assert_eq!(before + &rest + &stream.finish(), whole, "{cut} {ids:?}");
            }
        }
        assert!(replaced > 500, "{replaced}");
        let mut stream = DecodeStream::new(tokenizer.clone(), &[], false);
        assert!(stream.push(u32::MAX).is_err());
    }
}
