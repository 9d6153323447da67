//! gpt-oss with mxfp4 experts in the three forms that it comes in, beside mlx-lm in f32, however its tokens are cut
//! into steps; and what is wrong with such files, by name.

#[path = "support/golden_family.rs"]
mod golden_family;
#[path = "support/gpt_oss.rs"]
mod gpt_oss;
#[path = "support/in_steps.rs"]
mod in_steps;

use golden_family::{TOKENS, farthest, kept, tokens};
use gpt_oss::{EXPERTS, Form, HEADS, Tensor, VOCABULARY, WIDTH, config, write, write_gguf};
use in_steps::{executor, in_steps};
use mlxrocm::graph::{RULES, Rules};
use mlxrocm::model::families;
use mlxrocm::model::weights::Source;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// At logits of deviation 1.
const TOLERANCE: f32 = 2e-3;

#[derive(Deserialize)]
struct Golden {
    config: Value,
    /// Of folders.
    logits: Vec<f32>,
    /// Of GGUF files, which do not say that YaRN's ramp ends between pairs.
    truncated: Vec<f32>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/gpt_oss/logits.json")).unwrap()
}

/// Logits of all tokens, in steps of these sizes, then one by one.
fn logits(path: &Path, rules: Rules, threads: usize, steps: &[usize]) -> Vec<f32> {
    let mut executor = executor(path, rules, threads);
    let tokens = tokens(VOCABULARY);
    in_steps(&tokens, steps, |slice, rows| executor.run(&[slice], rows)).unwrap()
}

/// Writes a folder in a form.
fn folder(form: Form, golden: &Golden) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = config(form, &golden.config);
    write(folder.path(), &config, &gpt_oss::tensors(form));
    folder
}

#[test]
fn logits_are_those_of_mlx_lm() {
    let golden = golden();
    let [mlx, published] = [Form::Mlx, Form::Published].map(|form| folder(form, &golden));
    let gguf = write_gguf(mlx.path(), &golden.config, "");
    let forms: [(&str, PathBuf, &[f32]); 3] = [
        ("mlx", mlx.path().into(), &golden.logits),
        ("published", published.path().into(), &golden.logits),
        ("gguf", gguf, &golden.truncated),
    ];
    for (form, path, reference) in forms {
        let compare = |what: &str, rules, threads, steps: &[usize]| {
            let logits = kept(&logits(&path, rules, threads, steps), VOCABULARY);
            let far = farthest(&logits, reference);
            println!("{form}, {what}: {far:.1e}");
            assert!(far <= TOLERANCE, "{form}, {what}: {far}");
        };
        compare("at once", Rules::All, 2, &[TOKENS]);
        compare("in pieces", Rules::All, 1, &[19, 1, 16]);
        compare("one by one", Rules::All, 1, &[]);
        compare("without rules", Rules::Nothing, 1, &[30]);
        for rule in RULES {
            let what = format!("without the rule {}", rule.name);
            compare(&what, Rules::Without(rule.name), 1, &[TOKENS]);
        }
    }
}

#[test]
fn steps_and_threads_change_no_bit() {
    let golden = golden();
    let folder = folder(Form::Published, &golden);
    let whole = logits(folder.path(), Rules::All, 2, &[TOKENS]);
    for (threads, steps) in [(1, &[TOKENS][..]), (2, &[7, 30]), (1, &[])] {
        let other = logits(folder.path(), Rules::All, threads, steps);
        let bits = |logits: &[f32]| logits.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(&whole) == bits(&other), "{threads} threads, {steps:?}");
    }
}

/// What binding a changed folder says.
fn refused(form: Form, change: impl FnOnce(&mut Value, &mut Vec<Tensor>)) -> String {
    let golden = golden();
    let folder = tempfile::tempdir().unwrap();
    let (mut config, mut tensors) = (config(form, &golden.config), gpt_oss::tensors(form));
    change(&mut config, &mut tensors);
    write(folder.path(), &config, &tensors);
    bound(folder.path())
}

fn bound(path: &Path) -> String {
    let bound = Source::open(path).and_then(|source| {
        families::schedule(&source, Rules::All)?;
        source.check_unused()
    });
    bound.expect_err("it was taken").to_string()
}

/// Makes a tensor other than it should be.
fn other(tensors: &mut [Tensor], name: &str, shape: &[usize]) {
    let tensor = tensors.iter_mut().find(|(other, ..)| other == name);
    let (_, _, old, data) = tensor.unwrap();
    let size = data.len() / old.iter().product::<usize>();
    data.resize(shape.iter().product::<usize>() * size, 0);
    *old = shape.to_vec();
}

#[test]
fn what_is_wrong_is_named() {
    for form in [Form::Mlx, Form::Published] {
        let names: Vec<String> = gpt_oss::tensors(form)
            .into_iter()
            .map(|(name, ..)| name)
            .filter(|name| name.contains("layers.1."))
            .collect();
        for gone in names {
            let error = refused(form, |_, all| all.retain(|(name, ..)| *name != gone));
            // Half of a pair that lies together is missed under its own name.
            let part = gone.split("layers.1.").last().unwrap();
            let part = part.replace("gate_up_proj_bias", "gate_proj.bias");
            let part = part.replace("gate_up_proj_blocks", "gate_proj.weight");
            let part = part.replace("_blocks", ".weight").replace("_bias", ".bias");
            // Codes without scales are dense numbers of the wrong type or shape.
            let part = part.replace(".scales", ".weight");
            let named = error.contains(&part) || error.contains(&gone);
            assert!(named, "without {gone}: {error}");
        }
    }
    let sinks = "model.layers.0.self_attn.sinks";
    let error = refused(Form::Mlx, |_, all| other(all, sinks, &[HEADS + 1]));
    assert!(error.contains(sinks), "{error}");
    let both = "model.layers.0.mlp.experts.gate_up_proj";
    let odd = [EXPERTS, 2 * WIDTH - 1];
    let error = refused(Form::Published, |_, all| {
        other(all, &format!("{both}_bias"), &odd);
    });
    assert!(error.contains("gate_up_proj_bias"), "{error}");
    let error = refused(Form::Published, |_, all| {
        other(
            all,
            &format!("{both}_blocks"),
            &[EXPERTS, 2 * WIDTH - 1, 2, 16],
        );
        other(all, &format!("{both}_scales"), &[EXPERTS, 2 * WIDTH - 1, 2]);
    });
    assert!(error.contains("gate_up_proj_blocks"), "{error}");
    let error = refused(Form::Published, |_, all| {
        other(all, &format!("{both}_bias"), &[EXPERTS * 2 * WIDTH]);
    });
    assert!(error.contains("[experts, rows]"), "{error}");
    for (key, value) in [
        ("num_experts_per_tok", json!(EXPERTS + 1)),
        ("num_local_experts", Value::Null),
        ("sliding_window", Value::Null),
        ("swiglu_limit", json!("7")),
        ("swiglu_alpha", json!(1.5)),
        (
            "layer_types",
            json!(["full_attention", "chunked_attention"]),
        ),
    ] {
        let error = refused(Form::Mlx, |config, _| config[key] = value);
        assert!(error.contains(key), "{key}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    for gone in [
        "blk.1.attn_sinks.weight",
        "blk.0.ffn_gate_exps.bias",
        "blk.1.ffn_up_exps.weight",
        "blk.0.post_attention_norm.weight",
    ] {
        let path = write_gguf(folder.path(), &golden().config, gone);
        let error = bound(&path);
        assert!(error.contains(gone), "without {gone}: {error}");
    }
}
