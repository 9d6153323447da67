//! `mlxrocm info`, `devices` and `selftest`.

use super::{cc, demo_model, mlxrocm, plain_model, refused, run_with, scratch, succeed};
use crate::gpu_env;
use crate::plain_llama::gguf_writer::GgufWriter;
use serde_json::Value;

pub fn json(arguments: &[&str]) -> Value {
    let out = succeed(arguments, "");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {out}"))
}

#[test]
fn info_says_what_is_in_a_model() {
    let model = demo_model();
    let info = json(&["info", "--json", &model]);
    // As published: 30 layers of 576 columns, 3 KV heads of 64 columns.
    assert_eq!(info["family"], "llama");
    assert_eq!(info["quantization"], "Q4_1");
    assert_eq!(info["layers"], 30);
    assert_eq!(info["hidden_size"], 576);
    assert_eq!(info["context_length"], 8192);
    assert_eq!(info["vocab_size"], 49152);
    assert_eq!(info["parameters"], 134_515_008);
    assert_eq!(info["kv_bytes_per_token"], 30 * 3 * 64 * 2 * 2);
    assert_eq!((&info["bos"], &info["eos"]), (&1.into(), &2.into()));
    assert_eq!(info["chat_template"], true);
    let text = succeed(&["info", &model], "");
    for needed in [
        "134.5 million",
        "8192 tokens",
        "2 <|im_end|>",
        "22.5 KiB a token",
    ] {
        assert!(text.contains(needed), "no {needed}: {text}");
    }
    let (_, plain) = plain_model();
    let source = succeed(&["info", "--template", plain], "");
    assert_eq!(
        source.trim_end(),
        crate::plain_llama::tiny_tokenizer::CHAT_TEMPLATE
    );
    refused(1, &["info", "/dev/null"], "", "/dev/null");
}

#[test]
fn tensors_are_listed() {
    let model = demo_model();
    let info = json(&["info", "--json", &model]);
    let listed = json(&["info", "--tensors", "--json", &model]);
    let tensors = listed["tensors"].as_array().unwrap();
    // 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
    assert_eq!(tensors.len(), 30 * 9 + 2);
    let named = |name: &str| tensors.iter().find(|t| t["name"] == name).unwrap();
    let norm = serde_json::json!(
        {"name": "output_norm.weight", "format": "F32", "shape": [576], "bytes": 4 * 576}
    );
    assert_eq!(named("output_norm.weight"), &norm);
    let down = &named("blk.29.ffn_down.weight");
    assert_eq!(down["shape"], serde_json::json!([576, 1536]));
    // Blocks of 32 weights: 16 bytes of codes, a scale and a minimum of two bytes each.
    assert_eq!(
        (&down["format"], &down["bytes"]),
        (&"Q4_1".into(), &(576 * 1536 / 32 * 20).into())
    );
    let sum = |of: &dyn Fn(&Value) -> u64| tensors.iter().map(of).sum::<u64>();
    let numbers = |t: &Value| {
        t["shape"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .product()
    };
    assert_eq!(sum(&numbers), info["parameters"].as_u64().unwrap());
    assert_eq!(
        sum(&|t| t["bytes"].as_u64().unwrap()),
        info["weight_bytes"].as_u64().unwrap()
    );

    let text = succeed(&["info", "--tensors", &model], "");
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 30 * 9 + 2 + 1);
    assert!(
        lines.contains(&vec!["output_norm.weight", "F32", "2304", "[576]"]),
        "{text}"
    );
    assert!(
        text.contains("272 tensors of 134.5 million numbers in "),
        "{text}"
    );
    refused(1, &["info", "--tensors", "/dev/null"], "", "/dev/null");
    refused(1, &["info", "--tensors", "/nowhere"], "", "/nowhere");
    refused(
        2,
        &["info", "--tensors", "--template", &model],
        "",
        "exclude each other",
    );
}

/// Models that cannot be loaded, in each kind of file.
#[test]
fn tensors_of_any_model_are_listed() {
    use safetensors::tensor::{Dtype, TensorView};
    let folder = scratch().join("unknown");
    std::fs::create_dir_all(&folder).unwrap();
    let bytes = [0u8; 24];
    let tensors = [
        (
            "a.weight",
            TensorView::new(Dtype::U32, vec![2, 3], &bytes).unwrap(),
        ),
        ("b", TensorView::new(Dtype::F64, vec![3], &bytes).unwrap()),
        (
            "c",
            TensorView::new(Dtype::BF16, vec![], &bytes[..2]).unwrap(),
        ),
    ];
    let file = folder.join("model.safetensors");
    safetensors::serialize_to_file(tensors, None, &file).unwrap();
    std::fs::write(folder.join("config.json"), r#"{"model_type": "unknown"}"#).unwrap();
    for path in [&folder, &file] {
        let path = path.to_str().unwrap();
        let found = json(&["info", "--tensors", "--json", path]);
        let mut found = found["tensors"].as_array().unwrap().clone();
        found.sort_by_key(|tensor| tensor["name"].to_string());
        let wanted = serde_json::json!([
            {"name": "a.weight", "format": "U32", "shape": [2, 3], "bytes": 24},
            {"name": "b", "format": "F64", "shape": [3], "bytes": 24},
            {"name": "c", "format": "BF16", "shape": [], "bytes": 2}
        ]);
        assert_eq!(Value::from(found), wanted);
        refused(1, &["info", path], "", path);
    }

    let mut writer = GgufWriter::new(3);
    writer.text("general.architecture", "unknown");
    // I32, F32, and a type of next year.
    writer.tensor("numbers", &[5, 2], 26, vec![0; 40]);
    writer.tensor("matrix", &[4, 3, 2], 0, vec![0; 96]);
    writer.tensor("later", &[64], 99, vec![0; 64]);
    let path = scratch().join("unknown.gguf");
    std::fs::write(&path, writer.bytes()).unwrap();
    let path = path.to_str().unwrap();
    let found = json(&["info", "--tensors", "--json", path]);
    let wanted = serde_json::json!({"tensors": [
        {"name": "numbers", "format": "I32", "shape": [2, 5], "bytes": 40},
        {"name": "matrix", "format": "F32", "shape": [2, 3, 4], "bytes": 96},
        {"name": "later", "format": "number 99", "shape": [64], "bytes": 0}
    ]});
    assert_eq!(found, wanted);
    refused(1, &["info", path], "", "unknown");
}

#[test]
fn devices_are_listed() {
    let out = succeed(&["devices"], "");
    assert!(out.starts_with("0  ") && out.contains("   CPU, "), "{out}");
    assert!(out.contains("/nonexistent/hip.so") && out.contains("/nonexistent/cuda.so"));
    let mut command = mlxrocm(&["devices", "--json"]);
    gpu_env::software(&mut command, "devices=gfx1151,gfx1201;integrated=0");
    let said = run_with(&mut command, "");
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let devices = found["devices"].as_array().unwrap();
    let isas: Vec<&str> = devices.iter().map(|d| d["isa"].as_str().unwrap()).collect();
    assert_eq!(isas[1..], ["gfx1151", "gfx1201"], "{found}");
    assert_eq!(devices[2]["number"], 2);
    assert_eq!(devices[2]["kind"], "AMD GPU");
    assert_eq!(found["why_no_amd_gpu"], "");
    assert!(
        found["why_no_nvidia_gpu"]
            .as_str()
            .unwrap()
            .contains("cuda.so")
    );
}

#[test]
fn gpus_are_tested() {
    let run = |arguments: &[&str], config: &str| {
        let mut command = mlxrocm(arguments);
        gpu_env::software(&mut command, config);
        run_with(&mut command, "")
    };
    let said = run(
        &["selftest", "--no-measurements", "--seed", "5"],
        "devices=gfx1151;integrated=0",
    );
    assert_eq!(said.status, Some(0), "{}{}", said.out, said.errors);
    assert!(said.out.contains("seed: 5") && said.out.contains("ok    mlxrocm_vector_add_f32"));
    assert!(said.out.contains(" passed in "), "{}", said.out);
    let said = run(
        &["selftest", "-d", "2", "--quick"],
        "devices=gfx1151;integrated=0",
    );
    assert_eq!(said.status, Some(1), "{}", said.errors);
    refused(77, &["selftest"], "", "/nonexistent/hip.so");
    refused(1, &["selftest", "-d", "cpu"], "", "the CPU");
}

/// A model's products by the vendor's BLAS: compared, timed and remembered; that a library ended the process is, too.
#[test]
fn products_are_tried() {
    let folder = tempfile::tempdir().unwrap();
    let specs = crate::random_model::all();
    let spec = specs.iter().find(|spec| spec.name == "llama-q4_1.gguf");
    let path = spec.unwrap().write(folder.path());
    let run = |arguments: &[&str], faults: &str, cache: &str| {
        let mut command = mlxrocm(arguments);
        let config = format!("devices=gfx1151;integrated=0;vram_mib=4096;faults={faults}");
        gpu_env::software(&mut command, &config);
        let library = std::env::current_exe().unwrap();
        command
            .env(
                "MLXROCM_BLAS_LIBRARY",
                library.with_file_name("libsoftgpu.so"),
            )
            .env("XDG_CACHE_HOME", folder.path().join(cache));
        run_with(&mut command, "")
    };
    let kept = |cache: &str| {
        let files = std::fs::read_dir(folder.path().join(cache).join("mlxrocm/blas"));
        files.map_or(0, |files| files.count())
    };
    let model = path.to_str().unwrap();
    let test = ["selftest", "-d", "1", "--quick", "--no-measurements", model];
    let said = run(&test, "none", "right");
    assert_eq!(said.status, Some(0), "{}{}", said.out, said.errors);
    assert_eq!(said.out.matches("product q4_").count(), 4, "{}", said.out);
    assert_eq!(kept("right"), 4);
    let said = run(&test, "blas_wrong@1+", "wrong");
    assert_eq!(said.status, Some(0), "{}{}", said.out, said.errors);
    assert!(
        said.out.contains("wrong results of product"),
        "{}",
        said.out
    );
    assert_eq!(kept("wrong"), 4);
    let said = run(&test, "blas_dies@1", "dead");
    assert_eq!(said.status, None, "{}{}", said.out, said.errors);
    assert_eq!(kept("dead"), 1);
    for faults in ["blas_dies@1", "none"] {
        let said = run(&test, faults, "dead");
        assert_eq!(said.status, Some(0), "{}{}", said.out, said.errors);
        assert_eq!(
            said.out.matches("ended the process").count(),
            1,
            "{}",
            said.out
        );
        assert_eq!(kept("dead"), 1);
    }
}

/// Nothing is leaked, and nothing read that was not written.
#[test]
fn valgrind_finds_nothing() {
    let (_, model) = plain_model();
    assert!(
        cc::exists("valgrind"),
        "valgrind is needed: `make test` installs it as root"
    );
    let chat = scratch().join("valgrind.json");
    let _ = std::fs::remove_file(&chat);
    let quantized = scratch().join("valgrind");
    let _ = std::fs::remove_dir_all(&quantized);
    let quantized = quantized.to_str().unwrap();
    let talk = format!(
        "Hello\n\"\"\"two\nlines\"\"\"\n/system Be brief\n/save {0}\n/clear\n/load {0}\n/load {1}\n",
        chat.display(),
        model
    );
    for (arguments, input, status) in [
        (&["info", "--json", model][..], "", 0),
        (&["run", "-n4", "--raw", "-v", model], "Hello\n", 0),
        (&["bench", "-p4", "-n4", "-r1", model], "", 0),
        (&["perplexity", "-w", "8", model, "-"], "QXZJVKWYQQXZJ", 0),
        (&["chat", "-n4", model], &talk, 1),
        (
            &["quantize", "-g32", "--rule=lm_head=8", model, quantized],
            "",
            0,
        ),
    ] {
        let suppressions = cc::root().join("tests/c/valgrind.supp");
        let mut command = cc::command(
            "valgrind",
            &["--quiet", "--error-exitcode=99", "--leak-check=full"],
        );
        command
            .args([
                "--errors-for-leak-kinds=definite,indirect,possible",
                "--fair-sched=yes",
            ])
            .arg(format!("--suppressions={}", suppressions.display()))
            .arg(super::program())
            .args(arguments);
        gpu_env::none(&mut command).env("MLXROCM_CPU_SIMD", "avx2");
        let said = run_with(&mut command, input);
        assert_eq!(said.status, Some(status), "{arguments:?}: {}", said.errors);
    }
}
