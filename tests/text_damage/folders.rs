//! Damaged and hostile folders.

use mlxrocm::Error;
use mlxrocm::text::Tokenizer;
use serde_json::json;

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
