//! A tiny GGUF model, small enough to damage every byte of it.

#[path = "gguf_writer.rs"]
pub mod gguf_writer;

use gguf_writer::GgufWriter;
use mlxrocm::model::weights::Source;
use std::path::PathBuf;
use tempfile::TempDir;

/// Metadata of a tiny llama: hidden 32, one layer, two heads of 16, four tokens.
pub fn metadata(version: u32) -> GgufWriter {
    let tokens = ["a", "b", "<|im_end|>", "</s>"].map(String::from);
    let mut writer = GgufWriter::new(version);
    writer
        .text("general.architecture", "llama")
        .text("general.name", "tiny")
        .u32("llama.context_length", 64)
        .u32("llama.embedding_length", 32)
        .u32("llama.block_count", 1)
        .u32("llama.feed_forward_length", 32)
        .u32("llama.attention.head_count", 2)
        .u32("llama.attention.head_count_kv", 1)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5)
        .texts("tokenizer.ggml.tokens", &tokens)
        .u32("tokenizer.ggml.eos_token_id", 3);
    writer
}

pub fn tensors(writer: &mut GgufWriter) {
    let f32s = |n: usize| {
        (0..n)
            .flat_map(|i| (i as f32).to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let q4_0 = |rows: u64| vec![0x35; rows as usize * 18];
    writer
        .tensor("token_embd.weight", &[32, 4], 2, q4_0(4))
        .tensor("output_norm.weight", &[32], 0, f32s(32))
        .tensor("blk.0.attn_norm.weight", &[32], 0, f32s(32))
        .tensor("blk.0.ffn_norm.weight", &[32], 0, f32s(32));
    for (name, rows) in [
        ("attn_q", 32),
        ("attn_k", 16),
        ("attn_v", 16),
        ("attn_output", 32),
        ("ffn_gate", 32),
        ("ffn_up", 32),
        ("ffn_down", 32),
    ] {
        let name = format!("blk.0.{name}.weight");
        writer.tensor(&name, &[32, rows], 2, q4_0(rows));
    }
}

pub fn tiny(version: u32) -> Vec<u8> {
    let mut writer = metadata(version);
    tensors(&mut writer);
    writer.bytes()
}

pub struct Scratch {
    _folder: TempDir,
    pub path: PathBuf,
}

pub fn write(bytes: &[u8]) -> Scratch {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    std::fs::write(&path, bytes).unwrap();
    Scratch {
        _folder: folder,
        path,
    }
}

/// The error of opening a file of these bytes.
pub fn refused(bytes: &[u8]) -> String {
    let file = write(bytes);
    let error = Source::open(&file.path).unwrap_err().to_string();
    assert!(error.contains("tiny.gguf"), "{error}");
    error
}

/// The error of the tiny model with a change of its metadata or tensors.
pub fn refused_with(change: impl FnOnce(&mut GgufWriter)) -> String {
    let mut writer = metadata(3);
    change(&mut writer);
    tensors(&mut writer);
    refused(&writer.bytes())
}
