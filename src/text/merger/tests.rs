//! Merges: their order, unknown characters, short words and long ones.

use super::super::vocabulary::{Form, Kind};
use super::*;

fn vocabulary(tokens: &[&str]) -> Vocabulary {
    let mut v = Vocabulary::new(Form::ByteLevel);
    v.reserve(tokens.len(), tokens.len(), "x").unwrap();
    for (id, token) in tokens.iter().enumerate() {
        v.set(id as u32, token, Kind::Piece, "x").unwrap();
    }
    v.index("x").unwrap();
    v
}

fn encode(v: &Vocabulary, merger: &Merger, word: &str) -> Vec<u32> {
    let mut out = Vec::new();
    merger.encode_chars(v, word, &mut Space::default(), &mut out);
    out
}

#[test]
fn the_first_merge_then_the_leftmost() {
    let v = vocabulary(&["a", "b", "c", "ab", "bc", "abc", "aa"]);
    let merges = [("b", "c"), ("a", "b"), ("a", "bc"), ("a", "a")];
    let m = Merger::new(&v, merges.into_iter(), &Options::default(), "x").unwrap();
    assert_eq!(encode(&v, &m, "abc"), [5]);
    assert_eq!(encode(&v, &m, "abab"), [3, 3]);
    assert_eq!(encode(&v, &m, "aaa"), [6, 0]);
    assert_eq!(encode(&v, &m, ""), [0u32; 0]);
    assert_eq!(encode(&v, &m, "axb"), [3]);
}

#[test]
fn unknown_characters() {
    let v = vocabulary(&["a", "<unk>", "<0xC3>", "<0xA9>"]);
    let none = || {
        std::iter::empty::<(&str, &str)>()
            .collect::<Vec<_>>()
            .into_iter()
    };
    let mut options = Options {
        unknown: Some("<unk>".into()),
        ..Options::default()
    };
    let m = Merger::new(&v, none(), &options, "x").unwrap();
    assert_eq!(encode(&v, &m, "xxaé"), [1, 1, 0, 1]);
    options.fuse_unknown = true;
    options.byte_fallback = true;
    let m = Merger::new(&v, none(), &options, "x").unwrap();
    assert_eq!(encode(&v, &m, "xxaéè"), [1, 0, 2, 3, 1]);
    options.unknown = Some("none".into());
    assert!(Merger::new(&v, none(), &options, "x").is_err());
}

#[test]
fn a_merge_without_a_token_is_an_error() {
    let v = vocabulary(&["a", "b"]);
    for pair in [("a", "b"), ("a", "c"), ("c", "a")] {
        let error = Merger::new(&v, [pair].into_iter(), &Options::default(), "file");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("file: merge 0"), "{error}");
    }
}

#[test]
fn short_and_long_words_merge_alike() {
    // Random merges over three letters; both ways on the same words.
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut tokens: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
    let mut merges = Vec::new();
    while merges.len() < 60 {
        let (left, right) = (below(tokens.len()), below(tokens.len()));
        let product = format!("{}{}", tokens[left], tokens[right]);
        if product.len() <= 12 && !tokens.contains(&product) {
            merges.push((tokens[left].clone(), tokens[right].clone()));
            tokens.push(product);
        }
    }
    let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let v = vocabulary(&names);
    let pairs = merges.iter().map(|(a, b)| (a.as_str(), b.as_str()));
    let m = Merger::new(&v, pairs, &Options::default(), "x").unwrap();
    for _ in 0..3000 {
        let word: String = (0..below(SHORT + 1))
            .map(|_| ['a', 'b', 'c'][below(3)])
            .collect();
        let symbols: Vec<u32> = word.chars().map(|c| c as u32 - 97).collect();
        let mut long = Vec::new();
        m.merge_long(&symbols, &mut long);
        assert_eq!(encode(&v, &m, &word), long, "{word}");
    }
}

#[test]
fn pairs_that_look_alike_are_kept_apart() {
    let mut pairs = Pairs::new(40_000);
    let merge = |n: u32| Merge { rank: n, token: n };
    for left in 0..200 {
        for right in 0..200 {
            pairs.insert(left << 8, right << 8, merge(left * 200 + right));
        }
    }
    for left in 0..200 {
        for right in 0..200 {
            assert_eq!(pairs.get(left << 8, right << 8), merge(left * 200 + right));
        }
    }
    assert_eq!(pairs.get(1, 1).rank, NONE);
}
