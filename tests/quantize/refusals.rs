//! What cannot be quantized is refused, and leaves nothing that looks like a model.

use super::{Tensor, affine, models, random_model, read, run, with, write_tensors};
use mlxrocm::Error;
use mlxrocm::ir::Quantization;
use mlxrocm::model::quantize::{QuantizeOptions, Rule};
use random_model::{Spec, Storage};
use safetensors::tensor::Dtype;
use serde_json::{Value, json};
use std::path::Path;

/// A small model whose files a case changes.
struct Case {
    scratch: tempfile::TempDir,
    source: std::path::PathBuf,
    tensors: Vec<Tensor>,
    config: Value,
}

impl Case {
    fn new(model: &str) -> Case {
        let scratch = tempfile::tempdir().unwrap();
        let model = &models()[model];
        Case {
            source: model.write(scratch.path()),
            scratch,
            tensors: model.source(),
            config: model.config.clone(),
        }
    }

    fn write(&self) {
        let path = self.source.join("model.safetensors");
        write_tensors(&path, &self.tensors);
        std::fs::write(self.source.join("config.json"), self.config.to_string()).unwrap();
    }

    /// The error, of the source as it is now.
    fn refused(&self, options: &QuantizeOptions) -> Error {
        let target = self.scratch.path().join("target");
        let error = run(&self.source, &target, options).unwrap_err();
        assert!(!target.exists(), "{error}");
        let partial = self.scratch.path().join("target.partial");
        assert!(!partial.exists(), "{error}");
        error
    }

    fn says(&self, kind: fn(&Error) -> bool, parts: &[&str]) {
        self.write();
        let error = self.refused(&affine(4, 64));
        assert!(kind(&error), "{error:?}");
        for part in parts {
            assert!(error.to_string().contains(part), "no {part}: {error}");
        }
    }
}

fn invalid_file(error: &Error) -> bool {
    matches!(error, Error::InvalidFile(_))
}

fn unsupported(error: &Error) -> bool {
    matches!(error, Error::Unsupported(_))
}

#[test]
fn sources_that_cannot_be() {
    let find = |case: &Case, name: &str| {
        case.tensors
            .iter()
            .position(|t| t.0.contains(name))
            .unwrap()
    };
    let mut case = Case::new("tied");
    let place = find(&case, "0.mlp.up_proj");
    case.tensors[place].1 = Dtype::I16;
    case.says(
        unsupported,
        &["model.safetensors", "0.mlp.up_proj.weight", "I16"],
    );
    case.tensors.remove(place);
    case.says(invalid_file, &["0.mlp.up_proj.weight is missing"]);

    let mut case = Case::new("tied");
    case.tensors.push((
        "model.layers.0.self_attn.sinks".into(),
        Dtype::F16,
        vec![4],
        vec![0; 8],
    ));
    case.says(unsupported, &["self_attn.sinks"]);

    let mut case = Case::new("tied");
    let place = find(&case, "1.self_attn.k_proj");
    case.tensors[place].2 = vec![128, 64];
    case.says(invalid_file, &["1.self_attn.k_proj.weight", "shape"]);

    let mut case = Case::new("qwen3_moe");
    for part in [
        "model-00001-of-00003",
        "model-00002-of-00003",
        "model-00003-of-00003",
    ] {
        std::fs::remove_file(case.source.join(format!("{part}.safetensors"))).unwrap();
    }
    let place = find(&case, "1.mlp.experts.2.up_proj");
    let expert = case.tensors.remove(place);
    case.says(invalid_file, &["1.mlp.experts.", "3 experts"]);
    case.tensors.push((
        expert.0.replace("experts.2", "experts.x"),
        expert.1,
        expert.2,
        expert.3,
    ));
    case.says(invalid_file, &["experts.x", "no number"]);

    // Rows of gate and up by turns.
    let mut case = Case::new("tied");
    case.config["model_type"] = "gpt_oss".into();
    case.config["num_local_experts"] = 2.into();
    case.config["num_experts_per_tok"] = 1.into();
    case.config["sliding_window"] = 8.into();
    let place = find(&case, "0.mlp.up_proj");
    let (name, _, shape, _) = &mut case.tensors[place];
    *name = "model.layers.0.mlp.experts.gate_up_proj".into();
    *shape = vec![2, shape[0] / 2, shape[1]];
    case.says(unsupported, &["0.mlp.experts.gate_up_proj", "mlx-lm"]);

    let mut case = Case::new("tied");
    case.config["quantization"] = json!({"bits": 4, "group_size": 64});
    case.says(unsupported, &["config.json", "is quantized"]);
    case.config["quantization"] = Value::Null;
    case.config["model_type"] = "gpt_neo".into();
    case.says(unsupported, &["gpt_neo"]);
    case.config["model_type"] = "llama".into();
    case.config["rope_scaling"] = json!({"type": "other", "factor": 2.0});
    case.says(unsupported, &["other"]);
}

#[test]
fn damaged_files() {
    let case = Case::new("tied");
    let path = case.source.join("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for len in [0, 7, 8, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).unwrap();
        let error = case.refused(&affine(4, 64));
        assert!(
            matches!(error, Error::InvalidFile(_) | Error::Io(_)),
            "{len}: {error}"
        );
        assert!(error.to_string().contains("model.safetensors"), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(case.refused(&affine(4, 64)), Error::Io(_)));
    let target = case.scratch.path().join("target");
    for source in ["/no/such/folder", "/dev/null", "/", "/proc/self/exe"] {
        let error = run(Path::new(source), &target, &affine(4, 64)).unwrap_err();
        assert!(
            matches!(error, Error::InvalidFile(_) | Error::Io(_)),
            "{source}: {error}"
        );
        assert!(!target.exists());
    }
}

#[test]
fn names_that_are_paths_are_names() {
    let mut case = Case::new("tied");
    for name in [
        "../../evil.weight",
        "/etc/evil.weight",
        "model.layers.0.mlp/../x.weight",
    ] {
        case.tensors
            .push((name.into(), Dtype::F16, vec![64, 64], vec![0; 8192]));
        case.write();
        let error = case.refused(&affine(4, 64));
        assert!(unsupported(&error) || invalid_file(&error), "{error}");
        case.tensors.pop();
    }
}

#[test]
fn places_that_cannot_be() {
    let case = Case::new("tied");
    let options = affine(4, 64);
    let refused = |target: &Path, part: &str| {
        let error = run(&case.source, target, &options).unwrap_err();
        assert!(
            error.to_string().contains(part),
            "{}: {error}",
            target.display()
        );
    };
    refused(&case.source, "exists already");
    refused(case.scratch.path(), "exists already");
    let file = case.scratch.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    refused(&file, "exists already");
    refused(&file.join("below"), "file/below");
    refused(Path::new("/no/such/folder/target"), "/no/such/folder");
    refused(Path::new(""), "no name");
    refused(Path::new("/"), "exists already");
    let link = case.scratch.path().join("link");
    std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    refused(&link, "exists already");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    // A source where the result would be written.
    let partial = case.scratch.path().join("target.partial");
    std::fs::rename(&case.source, &partial).unwrap();
    let error = run(&partial, &case.scratch.path().join("target"), &options).unwrap_err();
    assert!(
        error.to_string().contains("the source lies where"),
        "{error}"
    );
    assert!(partial.join("config.json").exists());
}

#[test]
fn settings_that_do_not_fit() {
    let case = Case::new("tied");
    let says = |options: QuantizeOptions, part: &str| {
        let error = case.refused(&options);
        assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let recipe = |name: &str, base| QuantizeOptions {
        recipe: Some(name.into()),
        ..with(base)
    };
    says(
        recipe("mixed_9_9", affine(4, 64).base),
        "mixed_2_6, mixed_3_4",
    );
    let mxfp4 = Quantization::named("mxfp4", 0, 0).unwrap();
    says(recipe("mixed_3_6", mxfp4), "affine");
    let rule = |text: &str| QuantizeOptions {
        rules: vec![Rule::parse(text, affine(4, 64).base).unwrap()],
        ..affine(4, 64)
    };
    // Rows of 192 numbers.
    says(
        rule("*.down_proj=4:128"),
        "model.layers.0.mlp.down_proj: rows of 192",
    );
    says(rule("*=none"), "nothing would be quantized");
    let starcoder = Case::new("starcoder2");
    let error = starcoder.refused(&recipe("mixed_3_6", affine(4, 64).base));
    assert!(error.to_string().contains("down_proj"), "{error}");
}

#[test]
fn quantized_gguf_files_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let spec = Spec::new(
        "q.gguf",
        "llama",
        Storage::Gguf(3, mlxrocm::formats::Format::Q8_0),
    );
    let path = spec.write(scratch.path());
    let target = scratch.path().join("target");
    let error = run(&path, &target, &affine(4, 64)).unwrap_err();
    assert!(
        unsupported(&error) && error.to_string().contains("Q8_0"),
        "{error}"
    );
    assert!(!target.exists() && !scratch.path().join("target.partial").exists());
}

#[test]
fn an_untied_head_that_no_key_names_stays() {
    // mlx-lm would take the table for it, because its default is another one than transformers'.
    let mut case = Case::new("single");
    case.config
        .as_object_mut()
        .unwrap()
        .remove("tie_word_embeddings");
    case.write();
    let target = case.scratch.path().join("target");
    run(&case.source, &target, &affine(4, 64)).unwrap();
    assert!(read(&target).contains_key("lm_head.scales"));
    let config = super::json(&target.join("config.json"));
    assert_eq!(config["tie_word_embeddings"], false);
}

#[test]
fn families_that_nothing_was_compared_for() {
    let mut case = Case::new("tied");
    let text = include_str!("../golden/families/mamba2.json");
    let mamba: Value = serde_json::from_str(text).unwrap();
    case.config = mamba["plain"]["config"].clone();
    case.says(|e| matches!(e, Error::Unsupported(_)), &["mamba2"]);
}
