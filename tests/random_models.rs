//! Writes the collection of small random models and checks that each opens, binds and reads right.
//!
//! With `MLXROCM_WRITE_RANDOM_MODELS=<folder>` (and `MLXROCM_WRITE_LATER_FORMATS=<folder>` for the formats that
//! came later) the files stay in that folder for other programs.

#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::formats::{Format, RowGroups, Weight};
use mlxrocm::model::config::RopeScaling;
use mlxrocm::model::weights::Source;
use random_model::{Rope, Spec, Storage};
use std::path::Path;

/// Mean and standard deviation of a matrix; checks that its group form agrees with the plain one.
fn check_matrix(weight: &Weight) -> (f64, f64) {
    let mut values = vec![0.0; weight.cols];
    let mut groups = RowGroups::default();
    let (mut sum, mut squares) = (0.0, 0.0);
    for row in 0..weight.rows {
        weight.dequantize_row(row, &mut values).unwrap();
        for value in &values {
            sum += f64::from(*value);
            squares += f64::from(*value).powi(2);
        }
        let Some(form) = weight.format.group_form() else {
            assert!(weight.read_groups(row, &mut groups).is_err());
            continue;
        };
        weight.read_groups(row, &mut groups).unwrap();
        assert_eq!(groups.codes.len(), weight.cols);
        for (k, value) in values.iter().enumerate() {
            let (scale, bias) = groups.scale_bias(form, k / form.group).unwrap();
            let code = groups.codes[k];
            assert!(u32::from(code) < 1 << form.bits);
            let product = scale * form.values.value(code);
            let bound = product.abs().max(bias.abs()) * f32::EPSILON;
            assert!(
                (product + bias - value).abs() <= bound,
                "{} {row} {k}",
                weight.name
            );
        }
    }
    let count = (weight.rows * weight.cols) as f64;
    let mean = sum / count;
    (mean, (squares / count - mean * mean).sqrt())
}

/// Opens a written model, binds everything and checks the numbers' spread.
fn check(spec: &Spec, path: &Path) {
    let source = Source::open(path).unwrap_or_else(|e| panic!("{}: {e}", spec.name));
    let c = source.config().clone();
    let family = spec.family.replace("mistral", "llama");
    assert_eq!(c.family.name, family, "{}", spec.name);
    assert_eq!((c.hidden_size, c.vocab_size, c.layers), (256, 320, 2));
    assert_eq!((c.heads, c.kv_heads, c.head_dim), (4, 2, spec.head_dim));
    assert_eq!(c.tied_embeddings, spec.tied);
    assert_eq!(c.attention_bias, family == "qwen2");
    assert_eq!(c.form.qk_norm.is_some(), family == "qwen3");
    assert_eq!(c.sliding_window, spec.window);
    assert_eq!(c.stop_tokens, [317, 319]);
    let gguf = matches!(spec.storage, Storage::Gguf(..));
    assert_eq!(c.rope_interleaved, gguf && family == "llama");
    match (spec.rope, &c.rope_scaling) {
        (Rope::Plain, RopeScaling::None)
        | (Rope::Linear, RopeScaling::Linear { factor: 4.0 })
        | (Rope::Llama3, RopeScaling::Llama3 { .. })
        | (Rope::Yarn, RopeScaling::Yarn { factor: 4.0, .. }) => {}
        (Rope::Llama3, RopeScaling::Factors(factors)) if gguf => {
            assert_eq!(factors.len(), spec.head_dim / 2)
        }
        other => panic!("{}: {other:?}", spec.name),
    }
    assert!(source.chat_template().unwrap().contains("<|im_start|>"));

    let tokenizer = source.tokenizer().unwrap();
    assert_eq!(tokenizer.vocab_size(), 320);
    let (ids, text) = (reference_ids(), TEXT);
    assert_eq!(
        tokenizer.encode(text, false, true).unwrap(),
        ids,
        "{}",
        spec.name
    );
    assert_eq!(tokenizer.decode(&ids, false).unwrap(), text);
    assert_eq!(tokenizer.bos(), Some(random_model::tiny_tokenizer::BOS));
    assert_eq!(tokenizer.eos(), Some(random_model::tiny_tokenizer::EOS));

    let (q, kv) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
    let mut matrices = vec![
        source.embedding("model.embed_tokens", 320, 256).unwrap(),
        source.linear("lm_head", 320, 256).unwrap().weight,
    ];
    for layer in 0..c.layers {
        let path = |module: &str| format!("model.layers.{layer}.{module}");
        for (module, rows, cols) in [
            ("self_attn.q_proj", q, 256),
            ("self_attn.k_proj", kv, 256),
            ("self_attn.v_proj", kv, 256),
            ("self_attn.o_proj", 256, q),
            ("mlp.gate_proj", 512, 256),
            ("mlp.up_proj", 512, 256),
            ("mlp.down_proj", 256, 512),
        ] {
            let linear = source.linear(&path(module), rows, cols).unwrap();
            let biased = family == "qwen2"
                && matches!(&module[..11], "self_attn.q" | "self_attn.k" | "self_attn.v");
            assert_eq!(linear.bias.map(|b| b.len()), biased.then_some(rows));
            matrices.push(linear.weight);
        }
        for norm in ["input_layernorm", "post_attention_layernorm"] {
            assert_eq!(source.norm(&path(norm), 256).unwrap().len(), 256);
        }
        if c.form.qk_norm.is_some() {
            for norm in ["self_attn.q_norm", "self_attn.k_norm"] {
                let values = source.norm(&path(norm), c.head_dim).unwrap();
                assert!(values.iter().all(|v| (0.0..3.0).contains(v)));
            }
        }
    }
    source.norm("model.norm", 256).unwrap();
    assert_eq!(source.unused(), Vec::<String>::new(), "{}", spec.name);
    for matrix in &matrices {
        let (mean, std) = check_matrix(matrix);
        let wanted = match matrix.cols {
            _ if matrix.rows == 320 => 0.125,
            cols => 1.0 / (cols as f64).sqrt(),
        };
        assert!(
            (0.7..1.5).contains(&(std / wanted)) && mean.abs() < 0.2 * wanted,
            "{}: {} has mean {mean} and standard deviation {std}, not {wanted}",
            spec.name,
            matrix.name
        );
    }
    if let Storage::Gguf(_, format) = spec.storage {
        assert!(matrices.iter().all(|m| m.format == format));
    }
    if let Storage::Folder(format) = spec.storage {
        let name = format.to_string();
        let tables = if name.starts_with("mx") || name.starts_with("nv") {
            0
        } else {
            2
        };
        assert!(
            matrices[tables..]
                .iter()
                .all(|m| m.format.to_string() == name)
        );
    }
    if spec.storage == Storage::Mixed {
        let bits = |m: &Weight| m.format.group_form().map(|form| (form.bits, form.group));
        assert_eq!(bits(&matrices[0]), Some((8, 32)));
        assert!(matrices.iter().any(|m| bits(m) == Some((3, 128))));
        assert!(
            matrices
                .iter()
                .any(|m| matches!(m.format, Format::Dense(_)))
        );
    }
}

/// Writes and checks models, in the folder that `variable` names or in one that is deleted.
fn write_and_check(specs: Vec<Spec>, variable: &str) {
    let kept = std::env::var_os(variable);
    for spec in specs {
        match &kept {
            Some(folder) => {
                std::fs::create_dir_all(folder).unwrap();
                check(&spec, &spec.write(Path::new(folder)));
            }
            None => {
                let folder = tempfile::tempdir().unwrap();
                check(&spec, &spec.write(folder.path()));
            }
        }
    }
}

#[test]
fn write() {
    write_and_check(random_model::all(), "MLXROCM_WRITE_RANDOM_MODELS");
}

#[test]
fn write_later_formats() {
    let specs = random_model::later_formats();
    write_and_check(specs, "MLXROCM_WRITE_LATER_FORMATS");
}

const TEXT: &str = "<|im_start|>the rain\n\n in 1920 — ünï 🎈<|im_end|>";

/// The ids of `TEXT` by the tokenizers crate.
fn reference_ids() -> Vec<u32> {
    let json = random_model::tiny_tokenizer::tokenizer_json().to_string();
    let tokenizer: tokenizers::Tokenizer = json.parse().unwrap();
    assert_eq!(tokenizer.get_vocab_size(true), 320);
    let ids = tokenizer.encode(TEXT, false).unwrap().get_ids().to_vec();
    assert_eq!(tokenizer.decode(&ids, false).unwrap(), TEXT);
    assert_eq!(ids[0], 318);
    assert!(ids.iter().any(|id| (256..316).contains(id)));
    ids
}

#[test]
fn models_are_the_same_on_every_run() {
    let spec = &random_model::all()[4];
    let folder = tempfile::tempdir().unwrap();
    let first = std::fs::read(spec.write(folder.path())).unwrap();
    let second = std::fs::read(spec.write(folder.path())).unwrap();
    assert_eq!(first, second);
    // A change of the generator changes every golden file made from its models.
    let sum = first
        .iter()
        .fold(0u64, |sum, b| sum.rotate_left(5) ^ u64::from(*b));
    assert_eq!(
        format!("{} {sum:016x}", spec.name),
        "llama-q4_1.gguf b81b17a2b3f49b9a"
    );
}
