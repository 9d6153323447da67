//! Tensors and configs are mlx-lm's, bit for bit.

use super::{Way, affine, files, json, models, read, run, with, write_tensors};
use mlxrocm::ir::Quantization;
use mlxrocm::model::quantize::{QuantizeOptions, Rule, dtype_named};
use mlxrocm::model::weights::Source;
use safetensors::tensor::Dtype;
use serde_json::{Value, json};

/// CRC-32 as zlib has it.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn options(way: &Way) -> QuantizeOptions {
    let text = |key: &str| way.options.get(key).and_then(Value::as_str);
    let number = |key: &str| way.options.get(key).and_then(Value::as_i64).unwrap_or(0);
    let mode = text("q_mode").unwrap_or("affine");
    QuantizeOptions {
        recipe: text("quant_predicate").map(str::to_string),
        dtype: text("dtype").map(|name| dtype_named(name).unwrap()),
        ..with(Quantization::named(mode, number("q_group_size"), number("q_bits")).unwrap())
    }
}

#[test]
fn tensors_and_configs_are_those_of_mlx_lm() {
    let mut ways = 0;
    for (name, model) in models() {
        let scratch = tempfile::tempdir().unwrap();
        let source = model.write(scratch.path());
        for (title, way) in &model.ways {
            let target = scratch.path().join(title);
            let made = run(&source, &target, &options(way))
                .unwrap_or_else(|e| panic!("{name} {title}: {e}"));
            assert_eq!(made.resumed_bytes, 0);
            let found = read(&target);
            let names: Vec<_> = found.keys().collect();
            assert_eq!(
                names,
                way.tensors.keys().collect::<Vec<_>>(),
                "{name} {title}"
            );
            for (tensor, (dtype, shape, crc)) in &way.tensors {
                let (own_dtype, own_shape, bytes) = &found[tensor];
                let own_dtype = match own_dtype {
                    Dtype::U32 => "uint32",
                    Dtype::U8 => "uint8",
                    Dtype::F32 => "float32",
                    Dtype::F16 => "float16",
                    Dtype::BF16 => "bfloat16",
                    other => panic!("{other:?}"),
                };
                let own = (own_dtype, own_shape, crc32(bytes));
                assert_eq!(
                    own,
                    (dtype.as_str(), shape, *crc),
                    "{name} {title} {tensor}"
                );
            }
            let mut config = json(&target.join("config.json"));
            assert_eq!(config["quantization"], way.quantization, "{name} {title}");
            assert_eq!(config["quantization_config"], way.quantization);
            let fields = config.as_object_mut().unwrap();
            assert!(fields.keys().is_sorted(), "{name} {title}");
            fields.retain(|key, _| !key.starts_with("quantization"));
            if way.options.contains_key("dtype") {
                // mlx-lm leaves the old name, which nothing reads.
                assert_eq!(fields["torch_dtype"], way.options["dtype"]);
                fields["torch_dtype"] = way.config["torch_dtype"].clone();
            }
            assert_eq!(config, way.config, "{name} {title}");
            Source::open(&target).unwrap();
            ways += 1;
        }
    }
    assert_eq!(ways, 34);
}

#[test]
fn rules_come_before_recipes() {
    let model = &models()["llama"];
    let scratch = tempfile::tempdir().unwrap();
    let source = model.write(scratch.path());
    let target = scratch.path().join("target");
    let base = affine(4, 64);
    let rule = |text| Rule::parse(text, base.base).unwrap();
    let options = QuantizeOptions {
        recipe: Some("mixed_2_6".into()),
        rules: vec![
            rule("lm_head=none"),
            rule("*.1.self_attn.v_proj=8:32"),
            rule("*.self_attn.?_proj=mxfp4"),
            rule("*.self_attn.v_proj=3"),
        ],
        ..base
    };
    run(&source, &target, &options).unwrap();
    let found = read(&target);
    let q = &json(&target.join("config.json"))["quantization"];
    assert_eq!(found["lm_head.weight"].0, Dtype::BF16);
    assert!(!found.contains_key("lm_head.scales") && q.get("lm_head").is_none());
    let layer = |layer, module| format!("model.layers.{layer}.{module}");
    let entry = |module: &str| q.get(module).cloned().unwrap_or_default();
    let affine = |bits, group| json!({"bits": bits, "group_size": group, "mode": "affine"});
    assert_eq!(entry(&layer(1, "self_attn.v_proj")), affine(8, 32));
    let mxfp4 = json!({"bits": 4, "group_size": 32, "mode": "mxfp4"});
    assert_eq!(entry(&layer(2, "self_attn.v_proj")), mxfp4);
    assert_eq!(entry(&layer(1, "self_attn.q_proj")), mxfp4);
    assert_eq!(entry(&layer(0, "mlp.down_proj")), affine(6, 64));
    assert_eq!(entry(&layer(2, "mlp.down_proj")), affine(2, 64));
    // With the same settings a module is the same, whoever asked for it.
    let other = scratch.path().join("other");
    let alone = with(Quantization::named("mxfp4", 0, 0).unwrap());
    run(&source, &other, &alone).unwrap();
    for part in ["weight", "scales"] {
        let name = format!("{}.{part}", layer(2, "self_attn.v_proj"));
        assert_eq!(found[&name], read(&other)[&name], "{part}");
    }
}

#[test]
fn threads_and_files_change_nothing() {
    let model = &models()["qwen3_moe"];
    let scratch = tempfile::tempdir().unwrap();
    let source = model.write(scratch.path());
    let mut all = Vec::new();
    for (threads, shard_bytes) in [(1, 0), (5, 0), (2, 100_000), (2, 1)] {
        let target = scratch.path().join(format!("{threads}-{shard_bytes}"));
        let options = QuantizeOptions {
            threads,
            shard_bytes,
            ..affine(4, 64)
        };
        let made = run(&source, &target, &options).unwrap();
        let shards = files(&target)
            .iter()
            .filter(|f| f.ends_with(".safetensors"))
            .count();
        assert_eq!(made.files, shards);
        assert!((shards > 1) == (shard_bytes > 0), "{shard_bytes}: {shards}");
        Source::open(&target).unwrap();
        all.push(read(&target));
    }
    assert!(all.iter().all(|one| one == &all[0]));
}

#[test]
fn files_beside_tensors_are_copied() {
    let model = &models()["tied"];
    let scratch = tempfile::tempdir().unwrap();
    let source = model.write(scratch.path());
    let copied = [
        "chat_template.jinja",
        "generation_config.json",
        "merges.txt",
        "modeling.py",
        "tokenizer.json",
        "tokenizer_config.json",
    ];
    for name in copied
        .iter()
        .chain(&["README.md", "notes.txt", "pytorch_model.bin"])
    {
        std::fs::write(
            source.join(name),
            format!("{{\"eos_token_id\": [5, 6], \"a\": \"{name}\"}}"),
        )
        .unwrap();
    }
    let target = scratch.path().join("target");
    run(&source, &target, &affine(4, 64)).unwrap();
    for name in copied {
        let bytes = |folder: &std::path::Path| std::fs::read(folder.join(name)).unwrap();
        assert_eq!(bytes(&source), bytes(&target));
    }
    let mut expected = copied.to_vec();
    expected.extend([
        "config.json",
        "model.safetensors",
        "model.safetensors.index.json",
    ]);
    expected.sort_unstable();
    assert_eq!(files(&target), expected);
    assert_eq!(
        json(&target.join("config.json"))["eos_token_id"],
        json!([5, 6])
    );
    assert!(!scratch.path().join("target.partial").exists());
}

#[test]
fn numbers_that_are_none_are_written_as_they_are_read() {
    // NaN and infinities are no reason to stop: mlx-lm does not either.
    let model = &models()["tied"];
    let scratch = tempfile::tempdir().unwrap();
    let source = model.write(scratch.path());
    let mut tensors = model.source();
    for (name, _, _, data) in &mut tensors {
        if name.ends_with("q_proj.weight") {
            data[..4].copy_from_slice(&[0x00, 0x7c, 0x00, 0x7e]);
        }
    }
    write_tensors(&source.join("model.safetensors"), &tensors);
    run(&source, &scratch.path().join("target"), &affine(4, 64)).unwrap();
}
