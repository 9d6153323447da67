//! Every family of one kind of block beside mlx-lm in f32, with its features on and off, however its tokens are
//! cut into steps.
//!
//! `golden/families/make.py` made the references; weights follow from the names of their tensors.

#[path = "support/golden_family.rs"]
mod golden_family;

use golden_family::{TOKENS, Variant, farthest, kept, tokens, variants, write, write_gguf};
use mlxrocm::Error;
use mlxrocm::cpu::{CpuExecutor, CpuWeights, ThreadPool};
use mlxrocm::graph::Rules;
use mlxrocm::model::weights::Source;
use mlxrocm::model::{KvType, Slice, Wanted, families};
use std::path::Path;
use std::sync::Arc;

/// At logits of deviation 1.
const TOLERANCE: f32 = 2e-3;

/// Logits and hidden states of all tokens, in steps of these sizes, then one by one.
fn results(path: &Path, rules: Rules, steps: &[usize]) -> [Vec<f32>; 2] {
    let source = Source::open(path).unwrap();
    let (bound, schedule) = families::schedule(&source, rules).unwrap();
    assert_eq!(source.unused(), Vec::<String>::new());
    let mut pool = ThreadPool::new(2);
    let weights = CpuWeights::new(bound.matrices, bound.vectors, &mut pool, &mut |_| Ok(()));
    let weights = Arc::new(weights.unwrap());
    let mut executor = CpuExecutor::new(weights, schedule, 64, 4, KvType::F16, 2).unwrap();
    let vocabulary = source.config().vocab_size;
    let tokens = tokens(vocabulary);
    [false, true].map(|hidden| {
        let (mut all, mut some, mut start) = (Vec::new(), Vec::new(), 0);
        let mut steps = steps.iter().copied();
        while start < TOKENS {
            let end = (start + steps.next().unwrap_or(1)).min(TOKENS);
            let slice = Slice {
                tokens: &tokens[start..end],
                start,
                pages: &[2, 0],
                wanted: Wanted::All,
                slot: 0,
            };
            match hidden {
                true => executor.run_hidden(&[slice], &mut some).unwrap(),
                false => executor.run(&[slice], &mut some).unwrap(),
            }
            all.extend_from_slice(&some);
            start = end;
        }
        let columns = match hidden {
            true => executor.hidden_columns(),
            false => vocabulary,
        };
        kept(&all, columns)
    })
}

/// Compares all variants of a family.
#[track_caller]
fn check(family: &str, text: &str) {
    let variants = variants(text);
    let mut failures = Vec::new();
    for (name, variant) in &variants {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), variant);
        let mut compare = |what: &str, path: &Path, rules, steps: &[usize]| {
            let [logits, hidden] = results(path, rules, steps);
            let far = farthest(&logits, &variant.logits).max(farthest(&hidden, &variant.hidden));
            println!("{family} {name}, {what}: {far:.1e}");
            if far.is_nan() || far > TOLERANCE {
                failures.push(format!("{name}, {what}: {far}"));
            }
        };
        compare("at once", folder.path(), Rules::All, &[TOKENS]);
        compare("in pieces", folder.path(), Rules::All, &[19, 1, 16]);
        compare("one by one", folder.path(), Rules::All, &[]);
        compare("without rules", folder.path(), Rules::Nothing, &[TOKENS]);
        if let Some(gguf) = &variant.gguf {
            let path = write_gguf(folder.path(), variant, gguf);
            compare("as GGUF", &path, Rules::All, &[30]);
        }
    }
    assert!(failures.is_empty(), "{family}: {failures:#?}");
    let (_, variant) = variants.iter().next().unwrap();
    refuses(family, variant);
}

/// What would change the results, and nothing here reads, is refused by name.
fn refuses(family: &str, variant: &Variant) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), variant);
    let path = folder.path().join("config.json");
    for (key, value) in [
        ("clip_qkv", serde_json::json!(8.0)),
        ("use_alibi", serde_json::json!(true)),
        ("kv_lora_rank", serde_json::json!(16)),
        ("hidden_act", serde_json::json!("quick_gelu")),
    ] {
        let mut config = variant.config.clone();
        let text = match config.get("text_config") {
            Some(_) => &mut config["text_config"],
            None => &mut config,
        };
        text[key] = value;
        std::fs::write(&path, config.to_string()).unwrap();
        let error = match Source::open(folder.path()) {
            Err(error) => error,
            Ok(_) => panic!("{family} with {key} was opened"),
        };
        let named = error.to_string().contains(key);
        assert!(matches!(error, Error::Unsupported(_)) && named, "{error}");
    }
    // A tensor that is missing is named.
    let mut less = variant.clone();
    let gone = variant
        .tensors
        .keys()
        .find(|name| name.contains("layers.1.") && name.contains("norm"));
    let gone = gone.unwrap();
    less.tensors.remove(gone);
    write(folder.path(), &less);
    let source = Source::open(folder.path()).unwrap();
    let error = families::schedule(&source, Rules::All).unwrap_err();
    assert!(error.to_string().contains(gone.as_str()), "{error}");
}

macro_rules! families {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let text = include_str!(concat!("golden/families/", stringify!($name), ".json"));
            check(stringify!($name), text);
        })*
    };
}

families! {
    gemma gemma2 gemma3 phi3 olmo2 olmo3 smollm3 granite glm4 ministral3 cohere2 exaone4 starcoder2 stablelm
    seed_oss internlm2 internlm3 hunyuan_v1_dense ernie4_5 apertus helium nemotron mistral3 mixtral olmoe
    gpt_oss
}
