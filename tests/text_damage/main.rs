//! Damaged, contradictory and hostile tokenizer files: an error that names file and field, never a
//! crash, a hang or a large allocation.

mod folders;
mod random;

use mlxrocm::Error;
use mlxrocm::formats::gguf::Value;
use mlxrocm::text::Tokenizer;
use std::collections::HashMap;

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
