//! `mlxrocm quantize`.

use super::{mlxrocm, plain_model, refused, run_with, scratch, succeed};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A place where nothing is.
fn target(name: &str) -> PathBuf {
    let path = scratch().join(name);
    for path in [path.clone(), path.with_extension("partial")] {
        let _ = std::fs::remove_dir_all(path);
    }
    path
}

fn config(target: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(target.join("config.json")).unwrap()).unwrap()
}

#[test]
fn a_file_becomes_a_folder_that_runs() {
    let (_, model) = plain_model();
    let target = target("quantized");
    let name = target.to_str().unwrap();
    let out = succeed(&["quantize", "--json", "-b8", "-g", "32", model, name], "");
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&said["target"], &said["files"]), (&name.into(), &1.into()));
    assert_eq!(said["resumed_bytes"], 0);
    let bits = said["bits_per_weight"].as_f64().unwrap();
    // 8 bits and two numbers of 32 for each 32, but for some vectors.
    assert!((10.0..10.2).contains(&bits), "{bits}");
    let info: Value = serde_json::from_str(&succeed(&["info", "--json", name], "")).unwrap();
    let original: Value = serde_json::from_str(&succeed(&["info", "--json", model], "")).unwrap();
    assert_eq!(info["quantization"], "affine 8-bit g32");
    for key in [
        "family",
        "layers",
        "parameters",
        "context_length",
        "bos",
        "eos",
        "chat_template",
    ] {
        assert_eq!(info[key], original[key], "{key}");
    }
    let template = |model| succeed(&["info", "--template", model], "");
    assert_eq!(template(name), template(model));
    // It says much the same.
    let text = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all.";
    let nats = |model: &str| {
        let said = super::run(&["perplexity", "--json", "-w", "32", model, "-"], text);
        let found: Value = serde_json::from_str(&said.out).unwrap();
        found["nats_per_token"].as_f64().unwrap()
    };
    let (a, b) = (nats(model), nats(name));
    assert!((a - b).abs() < 0.02 && a != b, "{a} {b}");
}

#[test]
fn options_are_heard() {
    let (_, model) = plain_model();
    let target = target("options");
    let name = target.to_str().unwrap();
    let arguments = [
        "quantize",
        "-g32",
        "--recipe",
        "mixed_2_6",
        "--rule",
        "*.o_proj=mxfp4",
        "--rule",
        "*embed*=none",
        "--dtype=bfloat16",
        "-t1",
        model,
        name,
    ];
    let said = succeed(&arguments, "");
    assert!(
        said.starts_with(&format!("{name}: ")) && said.ends_with(" bits a weight\n"),
        "{said}"
    );
    let config = config(&target);
    let q = &config["quantization"];
    assert_eq!(config["torch_dtype"], "bfloat16");
    assert_eq!(
        (&q["bits"], &q["group_size"], &q["mode"]),
        (&4.into(), &32.into(), &"affine".into())
    );
    let module = |module: &str| &q[format!("model.layers.1.{module}")];
    assert_eq!(
        *module("self_attn.o_proj"),
        json!({"bits": 4, "group_size": 32, "mode": "mxfp4"})
    );
    assert_eq!(
        *module("mlp.down_proj"),
        json!({"bits": 6, "group_size": 32, "mode": "affine"})
    );
    assert_eq!(
        *module("mlp.up_proj"),
        json!({"bits": 2, "group_size": 32, "mode": "affine"})
    );
    assert_eq!(q["model.embed_tokens"], Value::Null);
    let said = succeed(&["run", "-n4", "--raw", name, "Hello"], "");
    assert!(!said.is_empty());
}

#[test]
fn what_cannot_be_is_refused() {
    let (_, model) = plain_model();
    let target = target("refused");
    let name = target.to_str().unwrap();
    for (arguments, status, why) in [
        (&["quantize", model][..], 2, "wanted: SOURCE TARGET"),
        (
            &["quantize", "-b9", model, name],
            2,
            "'9' is no whole number from 2 to 8",
        ),
        (
            &["quantize", "-m", "int4", model, name],
            2,
            "none of affine|mxfp4|mxfp8|nvfp4",
        ),
        (&["quantize", "-b7", model, name], 1, "7 bits"),
        (
            &["quantize", "--rule", "lm_head", model, name],
            1,
            "lm_head",
        ),
        (
            &[
                "quantize",
                "-m",
                "mxfp4",
                "--recipe",
                "mixed_2_6",
                model,
                name,
            ],
            1,
            "affine",
        ),
        (&["quantize", &super::demo_model(), name], 1, "Q4_1"),
        (&["quantize", "/no/such/model", name], 1, "/no/such/model"),
        (
            &["quantize", model, "/no/such/folder/target"],
            1,
            "/no/such/folder",
        ),
        (&["quantize", model, model], 1, "exists already"),
        (
            &["quantize", model, scratch().to_str().unwrap()],
            1,
            "exists already",
        ),
    ] {
        refused(status, arguments, "", why);
        assert!(!target.exists() && !target.with_extension("partial").exists());
    }
}

/// A file that cannot be as long ends it before anything is done.
#[test]
fn a_full_disk_leaves_nothing_that_looks_whole() {
    let (_, model) = plain_model();
    let target = target("full");
    let program = super::program().to_str().unwrap();
    // Blocks of 512 bytes; the signal would end the program before it can say why.
    let script = "trap '' XFSZ; ulimit -f 40; exec \"$@\"";
    let name = target.to_str().unwrap();
    let arguments = ["-c", script, "sh", program, "quantize", "-g32", model, name];
    let said = run_with(&mut super::command("sh", &arguments), "");
    assert_eq!(said.status, Some(1), "{}", said.errors);
    assert!(
        said.errors.contains("full.partial/") && said.errors.contains("too large"),
        "{}",
        said.errors
    );
    // The files are laid out before any number is read.
    assert!(!target.exists() && !target.with_extension("partial").exists());
    succeed(&["quantize", "-g32", model, name], "");
    assert_eq!(config(&target)["model_type"], "llama");
    assert!(!target.with_extension("partial").exists());
}

#[test]
fn a_bar_is_for_terminals() {
    let (_, model) = plain_model();
    let target = target("bar");
    let name = target.to_str().unwrap();
    let (status, text) =
        super::terminal::on_terminal(&mut mlxrocm(&["quantize", "-g32", model, name]));
    assert_eq!(status, Some(0), "{text:?}");
    let full = format!("\rquantizing [{}] 100 %", "#".repeat(30));
    assert!(
        text.contains("\rquantizing [") && text.contains(&full),
        "{text:?}"
    );
    for option in ["-v", "-q"] {
        std::fs::remove_dir_all(&target).unwrap();
        let said = super::run(&["quantize", option, "-g32", model, name], "");
        assert_eq!(said.status, Some(0));
        assert!(!said.errors.contains("quantizing ["), "{}", said.errors);
        assert_eq!(said.out.is_empty(), option == "-q", "{}", said.out);
    }
}
