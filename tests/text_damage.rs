//! Damaged, contradictory and hostile tokenizer files: an error that names file and field, never a
//! crash, a hang or a large allocation.

use mlxrocm::Error;
use mlxrocm::formats::gguf::Value;
use mlxrocm::text::{DecodeStream, Tokenizer};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// The folder of the golden files.
fn golden() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text")
}

type Metadata = HashMap<String, Value>;

fn texts(list: &[&str]) -> Value {
    Value::Texts(list.iter().map(|text| text.to_string()).collect())
}

fn metadata(entries: &[(&str, Value)]) -> Metadata {
    let entries = entries.iter();
    entries
        .map(|(key, value)| (format!("tokenizer.ggml.{key}"), value.clone()))
        .collect()
}

fn bpe() -> Metadata {
    metadata(&[
        ("model", Value::Text("gpt2".into())),
        ("pre", Value::Text("gpt-2".into())),
        ("tokens", texts(&["a", "b", "ab", "<end>", ""])),
        ("token_type", Value::Integers(vec![1, 1, 1, 3, 1])),
        ("merges", texts(&["a b"])),
        ("bos_token_id", Value::Unsigned(3)),
        ("eos_token_id", Value::Unsigned(3)),
    ])
}

fn spm() -> Metadata {
    metadata(&[
        ("model", Value::Text("llama".into())),
        ("tokens", texts(&["<unk>", "<s>", "</s>", "a", "b", "ab"])),
        (
            "scores",
            Value::Floats(vec![0.0, 0.0, 0.0, -1.0, -2.0, -3.0]),
        ),
        ("token_type", Value::Integers(vec![2, 3, 3, 1, 1, 1])),
    ])
}

fn read(metadata: &Metadata) -> mlxrocm::Result<Tokenizer> {
    Tokenizer::from_metadata("file.gguf", &|key| metadata.get(key))
}

/// The error must name the file and `part`.
fn refused(metadata: &Metadata, part: &str) {
    let error = read(metadata).expect_err(part).to_string();
    assert!(
        error.starts_with("file.gguf: ") && error.contains(part),
        "{part}: {error}"
    );
}

#[test]
fn damaged_metadata() {
    assert_eq!(
        read(&bpe()).unwrap().encode("abxa", false, false).unwrap(),
        [2, 0]
    );
    assert_eq!(
        read(&spm()).unwrap().encode("ab", true, false).unwrap(),
        [1, 0, 5]
    );
    for base in [bpe(), spm()] {
        for key in ["model", "tokens", "merges", "scores", "token_type"] {
            let key = format!("tokenizer.ggml.{key}");
            if !base.contains_key(&key) {
                continue;
            }
            // Missing (types may be), and of every wrong kind.
            let mut damaged = base.clone();
            damaged.remove(&key);
            if !key.ends_with("token_type") {
                refused(&damaged, &key);
            }
            for value in [
                Value::Unsigned(1),
                Value::Signed(-1),
                Value::Float(0.5),
                Value::Bool(true),
                Value::Bools(vec![true]),
                Value::Texts(vec![]),
                Value::Integers(vec![]),
                Value::Floats(vec![]),
            ] {
                // No merges at all is a vocabulary of characters; no text is no kind of tokenizer.
                if key.ends_with("merges") && value == Value::Texts(vec![]) {
                    continue;
                }
                damaged.insert(key.clone(), value);
                refused(&damaged, &key);
            }
        }
    }
    let with = |base: Metadata, key: &str, value: Value| {
        let mut damaged = base;
        damaged.insert(format!("tokenizer.ggml.{key}"), value);
        damaged
    };
    for model in ["bert", "t5", "rwkv", "no_vocab", ""] {
        let damaged = with(bpe(), "model", Value::Text(model.into()));
        refused(&damaged, &format!("{model:?}"));
        assert!(matches!(read(&damaged), Err(Error::Unsupported(_))));
    }
    refused(&with(bpe(), "pre", Value::Text("gemma4".into())), "gemma4");
    refused(
        &with(bpe(), "pre", Value::Unsigned(3)),
        "tokenizer.ggml.pre",
    );
    // An unknown kind, or none, is a warning only.
    assert!(read(&with(bpe(), "pre", Value::Text("new".into()))).is_ok());
    for merges in [
        ["a"],
        ["a "],
        [" "],
        [""],
        ["a  b"],
        ["a c"],
        ["b a"],
        ["é"],
        ["é b"],
    ] {
        refused(&with(bpe(), "merges", texts(&merges)), "merge");
    }
    refused(
        &with(bpe(), "tokens", texts(&["a", "b", "ab", "a", "c"])),
        "0 and 3",
    );
    refused(
        &with(spm(), "tokens", texts(&["a", "b", "c", "d", "a", "f"])),
        "0 and 4",
    );
    refused(
        &with(bpe(), "token_type", Value::Integers(vec![1, 1])),
        "2 elements for 5 tokens",
    );
    refused(
        &with(spm(), "scores", Value::Floats(vec![1.0])),
        "1 elements for 6 tokens",
    );
    refused(
        &with(bpe(), "add_bos_token", Value::Unsigned(1)),
        "add_bos_token",
    );
    refused(
        &with(bpe(), "eos_token_id", Value::Text("x".into())),
        "eos_token_id",
    );
    // Ids outside the vocabulary are ignored, as files in use have them.
    for id in [
        Value::Unsigned(u64::MAX),
        Value::Unsigned(5),
        Value::Signed(-1),
    ] {
        let tokenizer = read(&with(bpe(), "bos_token_id", id)).unwrap();
        assert_eq!(tokenizer.bos(), None);
    }
    let strange = Value::Floats(vec![
        f64::NAN,
        f64::INFINITY,
        f64::NAN,
        1e300,
        -1e300,
        f64::NAN,
    ]);
    let tokenizer = read(&with(spm(), "scores", strange)).unwrap();
    assert!(tokenizer.encode("abab", false, false).is_ok());
    let types = Value::Integers(vec![i64::MIN, i64::MAX, 0, 6, 6, 99]);
    for base in [bpe(), spm()] {
        let tokenizer = read(&with(base, "token_type", types.clone())).unwrap();
        assert!(tokenizer.encode("abab<s>", true, true).is_ok());
    }
}

#[test]
fn defaults_of_each_kind() {
    let tokenizer = read(&spm()).unwrap();
    assert_eq!((tokenizer.bos(), tokenizer.eos()), (Some(1), Some(2)));
    assert_eq!(tokenizer.end_tokens(), [2]);
    assert_eq!(read(&bpe()).unwrap().encode("a", true, false).unwrap(), [0]);
    let mut llama3 = bpe();
    llama3.insert("tokenizer.ggml.pre".into(), Value::Text("llama-bpe".into()));
    assert_eq!(
        read(&llama3).unwrap().encode("a", true, false).unwrap(),
        [3, 0]
    );
    llama3.insert("tokenizer.ggml.add_bos_token".into(), Value::Bool(false));
    llama3.insert("tokenizer.ggml.add_eos_token".into(), Value::Bool(true));
    assert_eq!(
        read(&llama3).unwrap().encode("a", true, false).unwrap(),
        [0, 3]
    );
    let mut bare = spm();
    bare.insert("tokenizer.ggml.add_space_prefix".into(), Value::Bool(false));
    bare.insert("tokenizer.ggml.add_bos_token".into(), Value::Bool(false));
    assert_eq!(read(&bare).unwrap().encode("ab", true, false).unwrap(), [5]);
}

#[test]
fn control_tokens_in_user_text_stay_text() {
    let tokenizer = read(&bpe()).unwrap();
    assert_eq!(tokenizer.encode("a<end>b", false, true).unwrap(), [0, 3, 1]);
    assert_eq!(tokenizer.encode("a<end>b", false, false).unwrap(), [0, 1]);
    let tokenizer = read(&spm()).unwrap();
    assert_eq!(tokenizer.encode("a</s>", false, true).unwrap(), [0, 3, 2]);
    assert!(
        !tokenizer
            .encode("a</s>", false, false)
            .unwrap()
            .contains(&2)
    );
    // Even where the pre-tokenizer makes one word of it, and words are looked up whole.
    let mut llama3 = bpe();
    llama3.insert("tokenizer.ggml.pre".into(), Value::Text("llama-bpe".into()));
    llama3.insert(
        "tokenizer.ggml.tokens".into(),
        texts(&["a", "b", "ab", "baab", ""]),
    );
    let tokenizer = read(&llama3).unwrap();
    assert_eq!(tokenizer.encode("baab", false, false).unwrap(), [1, 0, 2]);
    assert_eq!(tokenizer.encode("baab", false, true).unwrap(), [3]);
}

fn folder(tokenizer: &str, config: Option<&str>) -> mlxrocm::Result<Tokenizer> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer).unwrap();
    if let Some(config) = config {
        std::fs::write(folder.path().join("tokenizer_config.json"), config).unwrap();
    }
    Tokenizer::from_folder(folder.path())
}

fn small() -> serde_json::Value {
    json!({
        "model": {
            "type": "BPE",
            "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3},
            "merges": [["a", "b"]]
        },
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": [{"id": 4, "content": "<e>", "special": true}]
    })
}

#[test]
fn damaged_folders() {
    assert_eq!(
        folder(&small().to_string(), None)
            .unwrap()
            .encode("ab a<e>", true, true)
            .unwrap(),
        [2, 3, 0, 4]
    );
    let missing = tempfile::tempdir().unwrap();
    let error = Tokenizer::from_folder(missing.path()).unwrap_err();
    assert!(
        matches!(&error, Error::Io(text) if text.contains("tokenizer.json")),
        "{error}"
    );
    std::fs::create_dir(missing.path().join("tokenizer.json")).unwrap();
    assert!(Tokenizer::from_folder(missing.path()).is_err());

    let cases = [
        ("/model/vocab/b", json!(0), "id 0"),
        ("/model/vocab/b", json!(-1), "tokenizer.json"),
        ("/model/vocab/b", json!(4294967295u32), "highest token id"),
        ("/model/vocab/b", json!(1e30), "tokenizer.json"),
        ("/model/vocab/b", json!("x"), "tokenizer.json"),
        ("/model/vocab", json!([["a", 0.5]]), "vocabulary"),
        ("/model/vocab", json!(7), "object of token: id"),
        ("/model/vocab", json!({}), "merge 0"),
        ("/model/type", json!("Unigram"), "Unigram"),
        ("/model/merges", json!([["a"]]), "merge"),
        ("/model/merges", json!([["a", "b", "c"]]), "merge"),
        ("/model/merges", json!(["a b c"]), "merge"),
        ("/model/merges", json!(["ab"]), "merge"),
        ("/model/merges", json!([["b", "a"]]), "merge 0"),
        ("/model/merges", json!([["ab", "ab"]]), "merge 0"),
        ("/model/merges", json!([["x", "y"]]), "merge 0"),
        ("/model/merges", json!(5), "tokenizer.json"),
        ("/model", json!(null), "tokenizer.json"),
        ("/decoder", json!(null), "decoder"),
        ("/decoder", json!({"type": "WordPiece"}), "WordPiece"),
        (
            "/decoder",
            json!({"type": "Sequence", "decoders": [{"type": "CTC"}]}),
            "CTC",
        ),
        (
            "/pre_tokenizer",
            json!({"type": "FixedLength", "length": 0}),
            "FixedLength",
        ),
        (
            "/pre_tokenizer",
            json!({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": false}),
            "pre_tokenizer",
        ),
        (
            "/pre_tokenizer",
            json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "x"}),
            "prepend_scheme",
        ),
        ("/added_tokens/0/id", json!(0), "id 0"),
        (
            "/added_tokens/0/id",
            json!(4294967295u32),
            "highest token id",
        ),
        ("/added_tokens/0/content", json!("x".repeat(5000)), "4096"),
        ("/added_tokens", json!(5), "tokenizer.json"),
    ];
    for (pointer, value, part) in cases {
        let mut damaged = small();
        *damaged.pointer_mut(pointer).unwrap() = value.clone();
        let error = folder(&damaged.to_string(), None)
            .expect_err(pointer)
            .to_string();
        assert!(
            error.contains("tokenizer.json: ") && error.contains(part),
            "{pointer} {value}: {error}"
        );
    }
    let normalizers = [
        json!({"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        json!({"type": "Replace", "pattern": {"String": "a"}, "content": "a".repeat(100)}),
        json!({"type": "Replace", "pattern": {"String": ""}, "content": "a".repeat(100)}),
        json!({"type": "Prepend", "prepend": "a".repeat(100)}),
        json!({"type": "Sequence", "normalizers": vec![
            json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}); 20]}),
        json!({"type": "Sequence", "normalizers": vec![json!({"type": "NFC"}); 100]}),
        json!({"type": "Replace", "pattern": {"Regex": "("}, "content": "x"}),
    ];
    for value in normalizers {
        let mut damaged = small();
        damaged["normalizer"] = value.clone();
        let error = folder(&damaged.to_string(), None)
            .expect_err("normalizer")
            .to_string();
        assert!(error.contains("normalizer"), "{value}: {error}");
    }
    for text in ["", "{", "[]", "null", "\u{feff}{}", &"[".repeat(100_000)] {
        assert!(folder(text, None).is_err(), "{text:.20}");
    }
    for config in [
        "{",
        "[]",
        "{\"added_tokens_decoder\": {\"x\": {\"content\": \"y\"}}}",
    ] {
        let error = folder(&small().to_string(), Some(config))
            .unwrap_err()
            .to_string();
        assert!(error.contains("tokenizer_config.json"), "{error}");
    }
    let config = json!({"added_tokens_decoder": {"7": {"content": "<x>", "special": false}},
        "eos_token": {"content": "<e>"}, "bos_token": "<none>", "add_bos_token": true});
    let tokenizer = folder(&small().to_string(), Some(&config.to_string())).unwrap();
    assert_eq!(tokenizer.encode("<x>", true, false).unwrap(), [7]);
    assert_eq!((tokenizer.bos(), tokenizer.eos()), (None, Some(4)));
    assert_eq!(tokenizer.vocab_size(), 8);
    assert!(tokenizer.decode(&[6], false).is_err());
    assert_eq!(tokenizer.id_to_token(6), None);
}

#[test]
fn hostile_patterns_and_flags_end_soon() {
    let patterns = [
        "(a*)*b",
        "(a|aa)+$",
        "(?=(a+))a*b",
        "a*",
        "",
        "(a?){30}a{30}",
        ".*.*.*x",
    ];
    for pattern in patterns {
        let mut hostile = small();
        hostile["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]});
        let tokenizer = folder(&hostile.to_string(), None).unwrap();
        let start = std::time::Instant::now();
        let ids = tokenizer.encode(&"a".repeat(3000), false, false).unwrap();
        assert_eq!(ids.len(), 3000, "{pattern}");
        assert!(
            start.elapsed().as_secs() < 60,
            "{pattern}: {:?}",
            start.elapsed()
        );
    }
    // Stripping spaces beside each of many tokens must not look at the whole text each time.
    let mut hostile = small();
    hostile["added_tokens"][0]["lstrip"] = json!(true);
    hostile["added_tokens"][0]["rstrip"] = json!(true);
    hostile["added_tokens"][0]["single_word"] = json!(true);
    let tokenizer = folder(&hostile.to_string(), None).unwrap();
    let ids = tokenizer
        .encode(&" <e> ".repeat(200_000), false, true)
        .unwrap();
    assert_eq!(ids.len(), 200_000);
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
