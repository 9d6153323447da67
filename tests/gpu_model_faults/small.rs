//! A random llama that an emulated GPU runs in milliseconds: hidden 64, one head, two layers, Q4_1.

use crate::random_model::gguf_writer::GgufWriter;
use crate::random_model::prng::Prng;
use crate::random_model::{random_matrix, tiny_tokenizer};
use mlxrocm::formats::{Format, ScalarType};

const HIDDEN: usize = 64;
const LAYERS: usize = 2;
/// Tokens of the vocabulary.
pub const VOCABULARY: usize = 320;

/// The GGUF file.
pub fn gguf() -> Vec<u8> {
    let mut prng = Prng::new(7);
    let mut writer = GgufWriter::new(3);
    writer
        .text("general.architecture", "llama")
        .text("general.name", "small")
        .u32("llama.context_length", 128)
        .u32("llama.embedding_length", HIDDEN as u32)
        .u32("llama.block_count", LAYERS as u32)
        .u32("llama.feed_forward_length", HIDDEN as u32)
        .u32("llama.attention.head_count", 1)
        .u32("llama.attention.head_count_kv", 1)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5);
    tiny_tokenizer::write_gguf(&mut writer);
    let mut matrix = |name: &str, rows: usize, std: f64| {
        let data = random_matrix::gguf_matrix(&mut prng, Format::Q4_1, rows, HIDDEN, std);
        let kind = random_matrix::ggml_type(Format::Q4_1);
        writer.tensor(name, &[HIDDEN as u64, rows as u64], kind, data);
    };
    // Logits of a standard deviation of 2, and other products of 1, for a normed input.
    let std = 1.0 / (HIDDEN as f64).sqrt();
    matrix("token_embd.weight", VOCABULARY, 2.0 * std);
    for layer in 0..LAYERS {
        for part in [
            "attn_q",
            "attn_k",
            "attn_v",
            "attn_output",
            "ffn_gate",
            "ffn_up",
            "ffn_down",
        ] {
            matrix(&format!("blk.{layer}.{part}.weight"), HIDDEN, std);
        }
    }
    let mut norm = |name: &str| {
        let ones = std::iter::repeat_n(1.0, HIDDEN);
        let data = random_matrix::dense(ScalarType::F32, ones);
        writer.tensor(name, &[HIDDEN as u64], 0, data);
    };
    norm("output_norm.weight");
    for layer in 0..LAYERS {
        norm(&format!("blk.{layer}.attn_norm.weight"));
        norm(&format!("blk.{layer}.ffn_norm.weight"));
    }
    writer.bytes()
}
