//! Tokenizers against Hugging Face's `tokenizers` and Google's `sentencepiece`, on 11,000 strings.
//! tests/golden/text/make_tokenizers.py made the references.

mod text_strings;

use mlxrocm::formats::gguf::Value;
use mlxrocm::text::{DecodeStream, Tokenizer, TokenizerFiles};
use std::collections::HashMap;
use std::sync::Arc;
use text_strings::{Atoms, compare, fnv, fnv_ids, golden};

type Metadata = HashMap<&'static str, Value>;

fn from(metadata: &Metadata) -> Tokenizer {
    Tokenizer::from_metadata("test", &|key| metadata.get(key)).unwrap()
}

/// The same by way of the files that a folder gets of the metadata, which Hugging Face's `tokenizers` reads alike.
fn by_files(metadata: &Metadata, strings: &[String]) -> Tokenizer {
    let files = TokenizerFiles::from_metadata("test", &|key| metadata.get(key)).unwrap();
    let (json, config) = (files.tokenizer.to_string(), files.config.to_string());
    let tokenizer = Tokenizer::from_json(&json, &config, "test").unwrap();
    let theirs: tokenizers::Tokenizer = json.parse().unwrap();
    for text in strings.iter().step_by(29) {
        let ids = theirs.encode_fast(text.as_str(), true).unwrap();
        assert_eq!(
            tokenizer.encode(text, true, true).unwrap(),
            ids.get_ids(),
            "{text:?}"
        );
    }
    tokenizer
}

/// The hash of the ids of every string.
fn hashes(tokenizer: &Tokenizer, strings: &[String], parse_special: bool) -> Vec<u32> {
    let ids = |s: &String| fnv_ids(&tokenizer.encode(s, false, parse_special).unwrap());
    strings.iter().map(ids).collect()
}

/// Decoding gives the text back, at once and token by token.
fn round_trip(tokenizer: Tokenizer, strings: &[String], exact: bool) {
    let tokenizer = Arc::new(tokenizer);
    for (index, text) in strings.iter().enumerate() {
        let ids = tokenizer.encode(text, true, index % 2 == 0).unwrap();
        for skip in [false, true] {
            let whole = tokenizer.decode(&ids, skip).unwrap();
            let mut stream = DecodeStream::new(tokenizer.clone(), &[], skip);
            let mut parts = String::new();
            for id in &ids {
                parts += &stream.push(*id).unwrap();
            }
            parts += &stream.finish();
            assert_eq!(parts, whole, "string {index}");
            if exact && index % 2 == 1 && skip {
                assert_eq!(&whole, text, "string {index}");
            }
        }
    }
}

/// The metadata that a GGUF file made from a `tokenizer.json` of this folder would have.
fn metadata_of(folder: &str, pre: &str) -> Metadata {
    let text = std::fs::read_to_string(golden().join(folder).join("tokenizer.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut tokens = Vec::new();
    for (token, id) in json["model"]["vocab"].as_object().unwrap() {
        tokens.push((id.as_u64().unwrap(), token.clone(), 1));
    }
    for token in json["added_tokens"].as_array().unwrap() {
        let kind = if token["special"] == true { 3 } else { 4 };
        let content = token["content"].as_str().unwrap().to_string();
        tokens.push((token["id"].as_u64().unwrap(), content, kind));
    }
    tokens.sort();
    let merges = json["model"]["merges"].as_array().unwrap().iter();
    let merges = merges.map(|m| format!("{} {}", m[0].as_str().unwrap(), m[1].as_str().unwrap()));
    Metadata::from([
        ("tokenizer.ggml.model", Value::Text("gpt2".into())),
        ("tokenizer.ggml.pre", Value::Text(pre.into())),
        ("tokenizer.ggml.merges", Value::Texts(merges.collect())),
        (
            "tokenizer.ggml.token_type",
            Value::Integers(tokens.iter().map(|t| t.2).collect()),
        ),
        (
            "tokenizer.ggml.tokens",
            Value::Texts(tokens.into_iter().map(|t| t.1).collect()),
        ),
    ])
}

#[test]
fn the_strings_are_those_of_the_references() {
    let strings = Atoms::strings();
    let hashes: Vec<u32> = strings.iter().map(|s| fnv(s.bytes())).collect();
    compare("strings.bin", &hashes, 10);
    let distinct: std::collections::HashSet<_> = strings.iter().collect();
    assert!(distinct.len() > 10_000, "{}", distinct.len());
}

#[test]
fn llama3() {
    let strings = Atoms::strings();
    let folder = Tokenizer::from_folder(&golden().join("llama3")).unwrap();
    let metadata = metadata_of("llama3", "llama-bpe");
    let gguf = from(&metadata);
    let files = by_files(&metadata, &strings);
    for tokenizer in [&folder, &gguf, &files] {
        compare("llama3/ids.bin", &hashes(tokenizer, &strings, true), 10);
        compare(
            "llama3/ids_plain.bin",
            &hashes(tokenizer, &strings, false),
            10,
        );
    }
    let bos = folder.bos().unwrap();
    assert_eq!(folder.id_to_token(bos).unwrap(), "<|begin_of_text|>");
    assert_eq!(folder.encode("", true, false).unwrap(), [bos]);
    assert_eq!(folder.end_tokens().len(), 2);
    round_trip(folder, &strings, true);
    round_trip(gguf, &strings, true);
}

#[test]
fn qwen2() {
    let strings = Atoms::strings();
    let folder = Tokenizer::from_folder(&golden().join("qwen2")).unwrap();
    let metadata = metadata_of("qwen2", "qwen2");
    let gguf = from(&metadata);
    let files = by_files(&metadata, &strings);
    for tokenizer in [&folder, &gguf, &files] {
        compare("qwen2/ids.bin", &hashes(tokenizer, &strings, true), 10);
        compare(
            "qwen2/ids_plain.bin",
            &hashes(tokenizer, &strings, false),
            10,
        );
    }
    assert_eq!(folder.bos(), None);
    assert_eq!(folder.encode("a", true, true).unwrap().len(), 1);
    // Form C changes some strings, so only streaming is compared.
    round_trip(folder, &strings, false);
}

#[test]
fn the_other_pre_tokenizers() {
    let strings = Atoms::strings();
    for pre in [
        "gpt-2",
        "olmo",
        "starcoder",
        "dbrx",
        "stablelm2",
        "qwen35",
        "tekken",
        "gpt-4o",
        "deepseek-coder",
        "deepseek-v3",
    ] {
        let metadata = metadata_of("qwen2", pre);
        let file = format!("pre_{pre}.bin");
        for tokenizer in [from(&metadata), by_files(&metadata, &strings)] {
            compare(&file, &hashes(&tokenizer, &strings, true), 50);
        }
    }
}

fn spm_metadata() -> Metadata {
    let text = std::fs::read_to_string(golden().join("spm/metadata.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let list = |key: &str| json[key].as_array().unwrap().iter();
    let tokens = list("tokens").map(|t| t.as_str().unwrap().to_string());
    Metadata::from([
        ("tokenizer.ggml.model", Value::Text("llama".into())),
        ("tokenizer.ggml.tokens", Value::Texts(tokens.collect())),
        (
            "tokenizer.ggml.scores",
            Value::Floats(list("scores").map(|s| s.as_f64().unwrap()).collect()),
        ),
        (
            "tokenizer.ggml.token_type",
            Value::Integers(list("types").map(|t| t.as_i64().unwrap()).collect()),
        ),
    ])
}

#[test]
fn sentencepiece() {
    let strings = Atoms::strings();
    let mut metadata = spm_metadata();
    let tokenizer = from(&metadata);
    assert_eq!((tokenizer.bos(), tokenizer.eos()), (Some(1), Some(2)));
    compare("spm/ids.bin", &hashes(&tokenizer, &strings, false), 10);
    // A user's text that spells U+2581 comes back with a space.
    let plain = |s: &&String| !s.contains('\u{2581}');
    let exact: Vec<String> = strings.iter().filter(plain).cloned().collect();
    round_trip(tokenizer, &exact, true);

    let Some(Value::Integers(types)) = metadata.get_mut("tokenizer.ggml.token_type") else {
        panic!();
    };
    for kind in types.iter_mut().filter(|kind| **kind == 6) {
        *kind = 3;
    }
    let tokenizer = from(&metadata);
    compare(
        "spm/ids_unknown.bin",
        &hashes(&tokenizer, &strings, false),
        10,
    );
}

#[test]
fn sentencepiece_by_files() {
    let strings = Atoms::strings();
    let mut metadata = spm_metadata();
    let refused = TokenizerFiles::from_metadata("test", &|key| metadata.get(key));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("user-defined tokens"), "{error}");
    // Without what tokenizer.json cannot say: pieces of either kind become ordinary ones.
    let Some(Value::Integers(types)) = metadata.get_mut("tokenizer.ggml.token_type") else {
        panic!();
    };
    for kind in types.iter_mut().filter(|kind| matches!(**kind, 4 | 5)) {
        *kind = 1;
    }
    let from_gguf = from(&metadata);
    let by_files = by_files(&metadata, &strings);
    assert_eq!(by_files.bos(), Some(1));
    for text in &strings {
        let ids = from_gguf.encode(text, true, true).unwrap();
        assert_eq!(by_files.encode(text, true, true).unwrap(), ids, "{text:?}");
        assert_eq!(
            by_files.decode(&ids, true),
            from_gguf.decode(&ids, true),
            "{text:?}"
        );
    }
}

#[test]
fn llama2_folder() {
    let strings = Atoms::strings();
    let tokenizer = Tokenizer::from_folder(&golden().join("llama2")).unwrap();
    compare("llama2/ids.bin", &hashes(&tokenizer, &strings, true), 10);
    assert_eq!(tokenizer.encode("", true, false).unwrap(), [1]);
    let ids = tokenizer.encode("Hello world", true, false).unwrap();
    assert_eq!(ids[0], 1);
    assert_eq!(tokenizer.decode(&ids, true).unwrap(), "Hello world");
    round_trip(tokenizer, &strings, false);
}
