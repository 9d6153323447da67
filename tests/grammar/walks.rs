//! Texts of tokens that are drawn among those that are allowed.

use super::{PERSON, Person, compile, end, model, random, texts};
use crate::prng::Prng;
use mlxrocm::text::{Grammar, GrammarSource};

/// A text of tokens that are drawn among those that are allowed; none: it ended after `steps` without being complete.
fn walk(mut grammar: Grammar, random: &mut Prng, steps: usize) -> Option<String> {
    let (tokenizer, end) = (model().tokenizer().clone(), end());
    let all: Vec<u32> = texts().into_iter().map(|(id, _)| id).collect();
    let mut bytes = Vec::new();
    for _ in 0..steps {
        let allowed = grammar.allowed(&[end]).unwrap();
        let can: Vec<u32> = all
            .iter()
            .copied()
            .filter(|id| allowed.contains(*id))
            .collect();
        if grammar.is_complete()
            || allowed.contains(end) && (can.is_empty() || random.below(4) == 0)
        {
            return Some(String::from_utf8(bytes).expect("UTF-8"));
        }
        // Short ones often, so that ends are found.
        let token = *(0..1 + random.below(3))
            .map(|_| &can[random.below(can.len() as u64) as usize])
            .min_by_key(|id| tokenizer.token_bytes(**id).unwrap().len())
            .unwrap();
        bytes.extend(tokenizer.token_bytes(token).unwrap());
        grammar.accept(token).unwrap();
    }
    None
}

#[test]
fn walks_by_a_schema_are_texts_that_it_accepts() {
    let mut random = random();
    let grammar = compile(GrammarSource::JsonSchema(PERSON)).unwrap();
    let (mut ended, mut liked) = (0, 0);
    for _ in 0..60 {
        let Some(text) = walk(grammar.clone(), &mut random, 200) else {
            continue;
        };
        let person: Person = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert!((1..=9).contains(&person.name.chars().count()), "{text}");
        assert!(person.age <= 130 && person.likes.len() <= 3, "{text}");
        (ended, liked) = (ended + 1, liked + person.likes.len());
    }
    assert!(ended >= 50 && liked > 0, "{ended} {liked}");
    // Anything that is an object; anything at all.
    for schema in [r#"{"type": "object", "maxProperties": 2}"#, "{}", "true"] {
        let grammar = compile(GrammarSource::JsonSchema(schema)).unwrap();
        let texts = (0..30).filter_map(|_| walk(grammar.clone(), &mut random, 60));
        let texts: Vec<String> = texts.collect();
        assert!(!texts.is_empty(), "{schema}");
        for text in texts {
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(value) => assert!(value.is_object() || schema.len() < 5, "{text}"),
                // 1e999 is JSON.
                Err(e) => assert!(e.to_string().contains("number out of range"), "{e}: {text}"),
            }
        }
    }
}

#[test]
fn walks_by_a_grammar_are_what_it_derives() {
    let grammar = r#"
        start: sum
        sum: product ("+" product)*
        product: number ("*" number)*
        number: /[0-9]/ | "(" sum ")"
    "#;
    let grammar = compile(GrammarSource::Lark(grammar)).unwrap();
    let mut random = random();
    let texts = (0..60).filter_map(|_| walk(grammar.clone(), &mut random, 30));
    let texts: Vec<String> = texts.collect();
    assert!(texts.len() > 10);
    for text in texts {
        assert_eq!(sum(text.as_bytes()), Some(&b""[..]), "{text}");
    }
}

/// What is left behind a sum.
fn sum(text: &[u8]) -> Option<&[u8]> {
    let mut rest = product(text)?;
    while let [b'+', more @ ..] = rest {
        rest = product(more)?;
    }
    Some(rest)
}

fn product(text: &[u8]) -> Option<&[u8]> {
    let mut rest = number(text)?;
    while let [b'*', more @ ..] = rest {
        rest = number(more)?;
    }
    Some(rest)
}

fn number(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'0'..=b'9', rest @ ..] => Some(rest),
        [b'(', rest @ ..] => sum(rest)?.strip_prefix(b")"),
        _ => None,
    }
}
