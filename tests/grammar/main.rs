//! Grammars: which tokens may come next, over the demo model's tokenizer and in its session.

#[path = "../support/demo_model.rs"]
mod demo_model;
mod errors;
mod masks;
#[path = "../support/prng.rs"]
#[allow(dead_code)] // of other tests
mod prng;
mod session;
mod walks;

use demo_model::demo_model;
use mlxrocm::Result;
use mlxrocm::model::{LoadOptions, Model};
use mlxrocm::text::{Grammar, GrammarSource};
use prng::Prng;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

fn model() -> Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    MODEL
        .get_or_init(|| Model::load(&demo_model(), &LoadOptions::default(), None).unwrap())
        .clone()
}

fn compile(source: GrammarSource<'_>) -> Result<Grammar> {
    model().tokenizer().grammars()?.compile(source)
}

fn random() -> Prng {
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    Prng::new(seed)
}

/// The ids of tokens that are text, with their bytes.
fn texts() -> Vec<(u32, Vec<u8>)> {
    let tokenizer = model().tokenizer().clone();
    (0..tokenizer.vocab_size() as u32)
        .filter(|id| !tokenizer.is_special(*id))
        .filter_map(|id| Some((id, tokenizer.token_bytes(id)?)))
        .filter(|(_, bytes)| !bytes.is_empty())
        .collect()
}

/// An id that stands for the end in these tests: no text.
fn end() -> u32 {
    let tokenizer = model().tokenizer().clone();
    tokenizer.eos().unwrap()
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Person {
    name: String,
    age: u8,
    #[serde(default)]
    likes: Vec<Like>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Like {
    Tea,
    Coffee,
}

const PERSON: &str = r#"{"type": "object", "additionalProperties": false, "required": ["name", "age"], "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 9},
    "age": {"type": "integer", "minimum": 0, "maximum": 130},
    "likes": {"type": "array", "maxItems": 3, "items": {"enum": ["tea", "coffee"]}}}}"#;
