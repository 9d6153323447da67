//! GGUF files become the folders that they could have been made of.

use super::random_model::{Rope, Spec, Storage, tiny_tokenizer};
use super::{affine, json, read, run};
use mlxrocm::formats::{Format, ScalarType};
use mlxrocm::model::weights::Source;
use serde_json::json;
use std::path::{Path, PathBuf};

/// A model and the folder made of it.
fn quantized(spec: &Spec, scratch: &Path) -> (Source, PathBuf) {
    let path = spec.write(scratch);
    let target = scratch.join(format!("{}-quantized", spec.name));
    run(&path, &target, &affine(8, 32)).unwrap_or_else(|e| panic!("{}: {e}", spec.name));
    (Source::open(&path).unwrap(), target)
}

fn spec(family: &'static str, scalar: ScalarType, change: impl FnOnce(&mut Spec)) -> Spec {
    let name = format!("{family}-{scalar:?}.gguf");
    let mut spec = Spec::new(name, family, Storage::Gguf(3, Format::Dense(scalar)));
    change(&mut spec);
    spec
}

#[test]
fn rows_names_and_configs_are_those_of_folders() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path();
    for (family, scalar) in [
        ("llama", ScalarType::F16),
        ("llama", ScalarType::BF16),
        ("qwen2", ScalarType::F32),
        ("qwen3", ScalarType::BF16),
    ] {
        for tied in [false, true] {
            let mut spec = spec(family, scalar, |spec| spec.tied = tied);
            spec.name = format!("{tied}-{}", spec.name);
            let (gguf, target) = quantized(&spec, scratch);
            let folder = Source::open(&target).unwrap();
            let (g, f) = (gguf.config(), folder.config());
            assert_eq!(
                (f.family, f.tied_embeddings),
                (g.family, tied),
                "{}",
                spec.name
            );
            assert_eq!((f.norm_eps, f.rope_theta), (g.norm_eps, g.rope_theta));
            assert_eq!(
                f.stop_tokens,
                [tiny_tokenizer::EOS, tiny_tokenizer::TURN_END]
            );
            assert!(!f.rope_interleaved && g.rope_interleaved == (family == "llama"));
            let config = json(&target.join("config.json"));
            assert_eq!(config["num_hidden_layers"], 2);
            assert_eq!(config["rms_norm_eps"], 1e-5);
            let dtype = match scalar {
                ScalarType::F32 => "float32",
                ScalarType::F16 => "float16",
                ScalarType::BF16 => "bfloat16",
            };
            assert_eq!(config["torch_dtype"], dtype);
            close(&gguf, &folder, &spec);
            assert_eq!(gguf.chat_template(), folder.chat_template());
            let (a, b) = (gguf.tokenizer().unwrap(), folder.tokenizer().unwrap());
            for text in [
                "",
                "Hello <|im_end|> wörld 1920\n\n",
                "the then in   the",
                "\u{1f600} \0",
            ] {
                for special in [false, true] {
                    assert_eq!(
                        a.encode(text, true, special),
                        b.encode(text, true, special),
                        "{text}"
                    );
                }
            }
            assert_eq!((a.bos(), a.eos()), (b.bos(), b.eos()));
            assert_eq!(
                (a.vocab_size(), a.end_tokens()),
                (b.vocab_size(), b.end_tokens())
            );
        }
    }
}

/// Each row of the folder is that of the file (in the order that the converter found it in), to 8 bits.
fn close(gguf: &Source, folder: &Source, spec: &Spec) {
    let c = gguf.config();
    let (q, kv) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
    for (path, rows, columns) in [
        ("model.embed_tokens", c.vocab_size, c.hidden_size),
        ("lm_head", c.vocab_size, c.hidden_size),
        ("model.layers.1.self_attn.q_proj", q, c.hidden_size),
        ("model.layers.0.self_attn.k_proj", kv, c.hidden_size),
        ("model.layers.0.self_attn.v_proj", kv, c.hidden_size),
        ("model.layers.1.self_attn.o_proj", c.hidden_size, q),
        (
            "model.layers.1.mlp.down_proj",
            c.hidden_size,
            c.intermediate_size,
        ),
    ] {
        let turned = c.rope_interleaved && (path.ends_with("q_proj") || path.ends_with("k_proj"));
        let (from, to) = (
            gguf.linear(path, rows, columns),
            folder.linear(path, rows, columns),
        );
        let (from, to) = (from.unwrap(), to.unwrap());
        assert_eq!(to.weight.format.to_string(), "affine 8-bit g32");
        let (mut a, mut b) = (vec![0.0; columns], vec![0.0; columns]);
        for row in 0..rows {
            let half = c.head_dim / 2;
            let (head, at) = (row / c.head_dim * c.head_dim, row % c.head_dim);
            // Pair i of a head lies at rows 2i and 2i + 1.
            let theirs = match turned {
                true => head + at % half * 2 + at / half,
                false => row,
            };
            from.weight.dequantize_row(theirs, &mut a).unwrap();
            to.weight.dequantize_row(row, &mut b).unwrap();
            let largest = a.iter().fold(0f32, |most, x| most.max(x.abs()));
            let far = a
                .iter()
                .zip(&b)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(
                far <= largest * 0.012,
                "{} {path} {row}: {far} of {largest}",
                spec.name
            );
            if let (Some(from), Some(to)) = (&from.bias, &to.bias) {
                assert!((from[theirs] - to[row]).abs() <= from[theirs].abs() / 128.0);
            }
        }
        assert_eq!(from.bias.is_some(), to.bias.is_some());
    }
}

#[test]
fn rope_is_written_as_configs_have_it() {
    let scratch = tempfile::tempdir().unwrap();
    for (rope, expected) in [
        (
            Rope::Linear,
            json!({"rope_type": "linear", "type": "linear", "factor": 4.0}),
        ),
        (
            Rope::Yarn,
            json!({
                "rope_type": "yarn", "type": "yarn", "factor": 4.0, "beta_fast": 32.0,
                "beta_slow": 1.0, "original_max_position_embeddings": 128
            }),
        ),
    ] {
        let spec = spec("qwen2", ScalarType::F16, |spec| {
            spec.rope = rope;
            spec.name = format!("{rope:?}.gguf");
        });
        let (_, target) = quantized(&spec, scratch.path());
        assert_eq!(json(&target.join("config.json"))["rope_scaling"], expected);
    }
    // Factors of frequencies that are nobody's.
    let spec = spec("llama", ScalarType::F16, |spec| spec.rope = Rope::Llama3);
    let path = spec.write(scratch.path());
    let error = run(&path, &scratch.path().join("other"), &affine(8, 32)).unwrap_err();
    assert!(error.to_string().contains("rope_freqs.weight"), "{error}");
}

#[test]
fn vectors_get_the_type_of_the_matrices() {
    let scratch = tempfile::tempdir().unwrap();
    let spec = spec("qwen2", ScalarType::BF16, |_| ());
    let (_, target) = quantized(&spec, scratch.path());
    let types: std::collections::HashSet<String> = read(&target)
        .values()
        .map(|(dtype, ..)| format!("{dtype:?}"))
        .collect();
    assert_eq!(types, ["U32", "BF16"].map(String::from).into());
}
