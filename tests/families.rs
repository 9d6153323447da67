//! Every family of one kind of block beside mlx-lm in f32, with its features on and off, however its tokens are
//! cut into steps.
//!
//! `golden/families/make.py` made the references; weights follow from the names of their tensors.

#[path = "support/golden_family.rs"]
mod golden_family;
#[path = "support/in_steps.rs"]
mod in_steps;

use golden_family::{TOKENS, Variant, farthest, kept, tokens, variants, write, write_gguf};
use in_steps::{executor, in_steps};
use mlxrocm::Error;
use mlxrocm::cpu::{CpuExecutor, CpuWeights, ThreadPool};
use mlxrocm::graph::{RULES, Rules};
use mlxrocm::model::weights::Source;
use mlxrocm::model::{KvType, Slice, Wanted, families};
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;
use std::sync::Arc;

/// At logits of deviation 1.
const TOLERANCE: f32 = 2e-3;

/// Logits and hidden states of all tokens, in steps of these sizes, then one by one.
fn results(path: &Path, rules: Rules, steps: &[usize]) -> [Vec<f32>; 2] {
    let mut executor = executor(path, rules, 2);
    let vocabulary = executor.vocab_size();
    let tokens = tokens(vocabulary);
    [false, true].map(|hidden| {
        let all = in_steps(&tokens, steps, |slice, rows| match hidden {
            true => executor.run_hidden(&[slice], rows),
            false => executor.run(&[slice], rows),
        });
        let columns = match hidden {
            true => executor.hidden_columns(),
            false => vocabulary,
        };
        kept(&all.unwrap(), columns)
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
        for rule in RULES {
            let what = format!("without the rule {}", rule.name);
            compare(&what, folder.path(), Rules::Without(rule.name), &[TOKENS]);
        }
        if let Some(gguf) = &variant.gguf {
            let path = write_gguf(folder.path(), variant, gguf);
            compare("as GGUF", &path, Rules::All, &[30]);
        }
    }
    assert!(failures.is_empty(), "{family}: {failures:#?}");
    let (_, variant) = variants.iter().next().unwrap();
    refuses(family, variant);
}

/// Experts of Gemma 4 as its makers publish them: gate and up of each one after the other, without modules.
#[test]
fn experts_of_gemma4_as_published() {
    let variant = &variants(include_str!("golden/families/gemma4.json"))["experts"];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), variant);
    let path = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors = Vec::new();
    for (name, view) in file.tensors() {
        let Some((module, part)) = name.split_once(".switch_glu.") else {
            tensors.push((name, view.shape().to_vec(), view.data().to_vec()));
            continue;
        };
        let mut shape = view.shape().to_vec();
        let mut data = view.data().to_vec();
        let part = part.strip_suffix(".weight").unwrap();
        if part == "up_proj" {
            continue;
        }
        if part == "gate_proj" {
            let up = file.tensor(&format!("{module}.switch_glu.up_proj.weight"));
            let up = up.unwrap();
            let each = data.len() / shape[0];
            let both = data.chunks(each).zip(up.data().chunks(each));
            data = both.flat_map(|(gate, up)| [gate, up].concat()).collect();
            shape[1] *= 2;
        }
        let part = part.replace("gate_proj", "gate_up_proj");
        tensors.push((format!("{module}.{part}"), shape, data));
    }
    let views = tensors.iter().map(|(name, shape, data)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), data).unwrap();
        (name.as_str(), view)
    });
    std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    for rules in [Rules::All, Rules::Nothing] {
        let [logits, hidden] = results(folder.path(), rules, &[30]);
        let far = farthest(&logits, &variant.logits).max(farthest(&hidden, &variant.hidden));
        println!("{rules:?}: {far:.1e}");
        assert!(far < TOLERANCE, "{rules:?}: {far}");
    }
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
        // What the family reads is no change to it.
        if text.get(key).is_some_and(|given| given.is_number()) {
            continue;
        }
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

/// Python writes a limit that is none in a word that JSON does not have.
#[test]
fn an_infinite_number_in_a_config_is_read() {
    let variants = variants(include_str!("golden/families/mamba2.json"));
    let variant = &variants["plain"];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), variant);
    let path = folder.path().join("config.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let infinite = text.replace("1000.0", "Infinity");
    assert_ne!(infinite, text);
    let noted = infinite.replacen('{', r#"{"_note": "\"-Infinity, \\","#, 1);
    std::fs::write(&path, noted).unwrap();
    let [logits, _] = results(folder.path(), Rules::All, &[TOKENS]);
    assert!(farthest(&logits, &variant.logits) <= TOLERANCE);
    std::fs::write(&path, text.replace("1000.0", "Infinit")).unwrap();
    let error = Source::open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::InvalidFile(_)), "{error}");
}

/// Layers behind the last one that predict further tokens are left out where the config tells of them.
#[test]
fn layers_that_predict_further_tokens_are_left_out() {
    for (family, text) in [
        ("glm4_moe", include_str!("golden/families/glm4_moe.json")),
        (
            "deepseek_v3",
            include_str!("golden/families/deepseek_v3.json"),
        ),
    ] {
        let mut variant = variants(text)["plain"].clone();
        let layers = variant.config["num_hidden_layers"].as_u64().unwrap();
        let name = format!("model.layers.{layers}.eh_proj.weight");
        variant.tensors.insert(name.clone(), (vec![8, 8], 0.0, 1.0));
        let folder = tempfile::tempdir().unwrap();
        for (key, left_out) in [("num_nextn_predict_layers", true), ("_nothing", false)] {
            variant.config[key] = 1.into();
            write(folder.path(), &variant);
            variant.config.as_object_mut().unwrap().remove(key);
            let source = Source::open(folder.path()).unwrap();
            families::schedule(&source, Rules::All).unwrap();
            match (source.check_unused(), left_out) {
                (Ok(()), true) => {}
                (Err(error), false) => assert!(error.to_string().contains(&name), "{error}"),
                (result, _) => panic!("{family}, {key}: {result:?}"),
            }
        }
    }
}

/// Other libraries keep convolutions with their axes in another order.
#[test]
fn convolutions_as_published_are_read() {
    for (family, text) in [
        ("mamba2", include_str!("golden/families/mamba2.json")),
        ("lfm2", include_str!("golden/families/lfm2.json")),
        ("jamba", include_str!("golden/families/jamba.json")),
        ("falcon_h1", include_str!("golden/families/falcon_h1.json")),
    ] {
        let mut variant = variants(text)["plain"].clone();
        let mut changed = 0;
        for (name, (shape, ..)) in &mut variant.tensors {
            if let [channels, taps, 1] = shape[..]
                && name.contains("conv")
            {
                *shape = vec![channels, 1, taps];
                changed += 1;
            }
        }
        assert!(changed > 0, "{family}");
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &variant);
        if family == "falcon_h1" {
            // There the multipliers are not in the weights yet.
            let source = Source::open(folder.path()).unwrap();
            let error = families::schedule(&source, Rules::All).unwrap_err();
            let named = error.to_string().contains("multipliers");
            assert!(matches!(error, Error::Unsupported(_)) && named, "{error}");
            continue;
        }
        let [logits, _] = results(folder.path(), Rules::All, &[TOKENS]);
        let far = farthest(&logits, &variant.logits);
        assert!(far <= TOLERANCE, "{family}: {far}");
    }
}

/// What a sequence gives does not depend on what runs beside it, to the bit.
#[test]
fn sequences_beside_each_other_change_no_bit() {
    for (family, text) in FAMILIES {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &variants(text)["plain"]);
        let source = Source::open(folder.path()).unwrap();
        let vocabulary = source.config().vocab_size;
        let tokens = tokens(vocabulary);
        let run = |batches: &[&[(std::ops::Range<usize>, u32)]]| {
            let (bound, schedule) = families::schedule(&source, Rules::All).unwrap();
            let mut pool = ThreadPool::new(2);
            let weights =
                CpuWeights::new(bound.matrices, bound.vectors, &mut pool, &mut |_| Ok(()));
            let weights = Arc::new(weights.unwrap());
            let mut executor = CpuExecutor::new(weights, schedule, 64, 6, KvType::F16, 2).unwrap();
            let (mut of_first, mut rows) = (Vec::new(), Vec::new());
            for batch in batches {
                let slices = batch.iter().map(|(range, slot)| Slice {
                    tokens: &tokens[range.clone()],
                    start: range.start,
                    pages: [&[4, 1][..], &[0, 3], &[5, 2]][*slot as usize],
                    wanted: Wanted::All,
                    slot: *slot,
                });
                executor
                    .run(&slices.collect::<Vec<_>>(), &mut rows)
                    .unwrap();
                let mut first = 0;
                for (range, slot) in *batch {
                    let end = first + range.len() * vocabulary;
                    if *slot == 0 {
                        of_first.extend_from_slice(&rows[first..end]);
                    }
                    first = end;
                }
            }
            of_first.iter().map(|x| x.to_bits()).collect::<Vec<u32>>()
        };
        let alone = run(&[&[(0..45, 0)]]);
        let beside = run(&[
            &[(0..13, 1), (0..20, 0)],
            &[(20..21, 0), (13..30, 1), (0..5, 2)],
            &[(30..31, 1), (5..6, 2), (21..45, 0)],
        ]);
        assert!(alone == beside, "{family}");
    }
}

macro_rules! families {
    ($($name:ident)*) => {
        /// Each with its variants.
        const FAMILIES: &[(&str, &str)] = &[$((
            stringify!($name),
            include_str!(concat!("golden/families/", stringify!($name), ".json")),
        )),*];

        $(#[test]
        fn $name() {
            let text = include_str!(concat!("golden/families/", stringify!($name), ".json"));
            check(stringify!($name), text);
        })*
    };
}

families! {
    llama qwen2 qwen3 gemma gemma2 gemma3 gemma4 phi3 olmo2 olmo3 smollm3 granite glm4 ministral3 cohere2 exaone4
    starcoder2 stablelm seed_oss internlm2 internlm3 hunyuan_v1_dense ernie4_5 apertus helium nemotron mistral3
    mixtral olmoe qwen3_moe gpt_oss qwen2_moe glm4_moe dots1 ernie4_5_moe granitemoe phimoe minimax llama4 lfm2
    lfm2_moe deepseek_v2 deepseek_v3 glm4_moe_lite mamba2 nemotron_h granitemoehybrid falcon_h1 jamba kimi_linear
    qwen3_next
}
