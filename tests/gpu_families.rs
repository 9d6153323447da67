//! Models of every family on the software GPU (or a real one): what mlx-lm gives, or a refusal that names what is
//! missing.

#[path = "support/golden_family.rs"]
mod golden_family;
#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;

use golden_family::{Variant, farthest, kept, tiny_tokenizer, tokens, variants, write};
use mlxrocm::Error;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use on_gpu::{TOLERANCE, device};
use std::path::Path;

/// Families that GPUs refuse, and what they name.
const REFUSED: &[(&str, &str)] = &[
    ("apertus", "expm1"),
    ("cohere2", "layer_norm"),
    ("deepseek_v2", "concatenate"),
    ("deepseek_v3", "concatenate"),
    ("dots1", "a router"),
    ("ernie4_5_moe", "quantized"),
    ("falcon_h1", "recurrent"),
    ("gemma2", "soft cap"),
    ("glm4_moe", "a router"),
    ("glm4_moe_lite", "concatenate"),
    ("gpt_oss", "quantized"),
    ("granitemoe", "quantized"),
    ("granitemoehybrid", "recurrent"),
    ("jamba", "recurrent"),
    ("kimi_linear", "recurrent"),
    ("lfm2_moe", "a router"),
    ("llama4", "runs of tokens"),
    ("mamba2", "recurrent"),
    ("minimax", "a router"),
    ("ministral3", "as_type"),
    ("mixtral", "quantized"),
    ("nemotron", "layer_norm"),
    ("nemotron_h", "recurrent"),
    ("olmoe", "quantized"),
    ("phimoe", "layer_norm"),
    ("qwen2_moe", "quantized"),
    ("stablelm", "layer_norm"),
    ("starcoder2", "layer_norm"),
];

/// Logits of the text in pieces, the last ones token by token.
fn logits(path: &Path) -> Result<Vec<f32>, Error> {
    let options = LoadOptions {
        device: DeviceChoice::Gpu(0),
        threads: 1,
        ..LoadOptions::default()
    };
    let model = Model::load(path, &options, None)?;
    let vocabulary = model.info().vocab_size;
    let all = on_gpu::logits(&model, &tokens(vocabulary), &[21, 21])?;
    Ok(kept(&all, vocabulary))
}

fn compare(family: &str, variant: &Variant, failures: &mut Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), variant);
    tiny_tokenizer::write_files(folder.path());
    let refused = REFUSED.iter().find(|(refused, _)| *refused == family);
    match (logits(folder.path()), refused) {
        (Ok(found), None) => {
            let far = farthest(&found, &variant.logits);
            println!("{family}: {far:.1e}");
            if far.is_nan() || far > TOLERANCE {
                failures.push(format!("{family}: {far}"));
            }
        }
        (Err(Error::Unsupported(message)), Some((_, what))) if message.contains(what) => {}
        (result, _) => failures.push(format!("{family}: {:?}", result.map(|all| all.len()))),
    }
}

#[test]
fn families_on_a_gpu_give_what_mlx_lm_gives() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families");
    let files = std::fs::read_dir(golden).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    assert!(files.len() > 20);
    let gpu = device("gfx1151");
    let mut failures = Vec::new();
    for file in files {
        let family = file.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        compare(family, &variants(&text)["plain"], &mut failures);
    }
    assert!(failures.is_empty(), "{failures:#?}");
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]");
    }
}
