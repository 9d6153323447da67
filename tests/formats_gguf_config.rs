//! Configs from GGUF metadata: the forms of each key, and each key wrong.

#[path = "support/tiny_gguf.rs"]
#[allow(dead_code)]
mod tiny_gguf;

use mlxrocm::model::config::{Config, RopeScaling};
use mlxrocm::model::weights::Source;
use tiny_gguf::gguf_writer::GgufWriter;
use tiny_gguf::{metadata, refused, tensors, write};

/// The config of the tiny model with further metadata or tensors.
fn config(change: impl FnOnce(&mut GgufWriter)) -> Config {
    let mut writer = metadata(3);
    change(&mut writer);
    tensors(&mut writer);
    let file = write(&writer.bytes());
    let source = Source::open(&file.path).unwrap();
    source.config().clone()
}

#[test]
fn plain_values() {
    let c = config(|_| {});
    assert_eq!((c.family.name, c.name.as_str()), ("llama", "tiny"));
    assert_eq!((c.hidden_size, c.intermediate_size, c.layers), (32, 32, 1));
    assert_eq!(
        (c.heads, c.kv_heads, c.head_dim, c.rope_dims),
        (2, 1, 16, 16)
    );
    assert_eq!((c.vocab_size, c.context_length), (4, 64));
    assert_eq!((c.norm_eps, c.rope_theta), (1e-5, 10_000.0));
    assert_eq!(
        (c.rope_scaling, c.sliding_window),
        (RopeScaling::None, None)
    );
    assert!(
        c.tied_embeddings && c.rope_interleaved && !c.attention_bias && c.form.qk_norm.is_none()
    );
    assert_eq!(c.stop_tokens, [3, 2]);
    let c = config(|w| {
        w.u32("llama.rope.dimension_count", 8)
            .f32("llama.rope.freq_base", 5e5)
            .u32("llama.attention.sliding_window", 7)
            .u32("tokenizer.ggml.eot_token_id", 1)
            .tensor("output.weight", &[32, 4], 2, vec![0; 72])
            .tensor("blk.0.attn_q.bias", &[32], 0, vec![0; 128]);
    });
    assert_eq!(
        (c.rope_dims, c.rope_theta, c.sliding_window),
        // llama.cpp knows no window in these families.
        (8, 5e5, None)
    );
    assert!(!c.tied_embeddings && c.attention_bias);
    assert_eq!(c.stop_tokens, [3, 1, 2]);
    // Ids outside the vocabulary can never be generated.
    let c = config(|w| {
        w.u32("tokenizer.ggml.eot_token_id", 4)
            .u32("tokenizer.ggml.eom_token_id", u32::MAX);
    });
    assert_eq!(c.stop_tokens, [3, 2]);
}

#[test]
fn per_layer_arrays_that_agree_are_one_number() {
    let mut writer = metadata(3);
    writer.rename("llama.attention.head_count_kv", "unrelated");
    writer.i32s("llama.attention.head_count_kv", &[2, 2, 2]);
    tensors(&mut writer);
    let file = write(&writer.bytes());
    assert_eq!(Source::open(&file.path).unwrap().config().kv_heads, 2);
}

#[test]
fn rope_scaling_forms() {
    let scaling = |kind: &str, change: fn(&mut GgufWriter)| {
        config(|w| {
            if !kind.is_empty() {
                w.text("llama.rope.scaling.type", kind);
            }
            change(w);
        })
        .rope_scaling
    };
    assert_eq!(scaling("none", |_| {}), RopeScaling::None);
    assert_eq!(scaling("linear", |_| {}), RopeScaling::None);
    let linear = RopeScaling::Linear { factor: 4.0 };
    let factor = |w: &mut GgufWriter| {
        w.f32("llama.rope.scaling.factor", 4.0);
    };
    assert_eq!(scaling("linear", factor), linear);
    assert_eq!(scaling("", factor), linear);
    assert_eq!(
        scaling("", |w| {
            w.f32("llama.rope.scale_linear", 4.0);
        }),
        linear
    );
    assert_eq!(scaling("none", factor), RopeScaling::None);
    assert_eq!(
        scaling("yarn", factor),
        RopeScaling::Yarn {
            factor: 4.0,
            original_context: 64,
            beta_fast: 32.0,
            beta_slow: 1.0,
            truncate: true,
            attention_factor: 0.0
        }
    );
    let yarn = scaling("yarn", |w| {
        w.f32("llama.rope.scaling.factor", 4.0)
            .f32("llama.rope.scaling.yarn_attn_factor", 0.5)
            .f32("llama.rope.scaling.yarn_ext_factor", 1.0)
            .u32("llama.rope.scaling.original_context_length", 16);
    });
    let RopeScaling::Yarn {
        original_context: 16,
        attention_factor,
        ..
    } = yarn
    else {
        panic!("{yarn:?}");
    };
    assert!((attention_factor - 0.5 * (0.1 * 4f32.ln() + 1.0)).abs() < 1e-6);
    let factors: Vec<f32> = (1..=8).map(|i| i as f32).collect();
    assert_eq!(
        scaling("", |w| {
            let data = (1..=8).flat_map(|i| (i as f32).to_le_bytes()).collect();
            w.tensor("rope_freqs.weight", &[8], 0, data);
        }),
        RopeScaling::Factors(factors)
    );
}

#[test]
fn impossible_configs_are_named() {
    type Change = fn(&mut GgufWriter);
    let cases: &[(&str, Change)] = &[
        ("llama.embedding_length", |w| {
            w.u32("llama.embedding_length", 0);
        }),
        ("llama.embedding_length", |w| {
            w.text("llama.embedding_length", "32");
        }),
        ("llama.embedding_length", |w| {
            w.u32("llama.embedding_length", u32::MAX);
        }),
        ("llama.block_count", |w| {
            w.u32("llama.block_count", 1 << 20);
        }),
        ("llama.block_count", |w| {
            w.raw("llama.block_count", 5, &(-1i32).to_le_bytes());
        }),
        ("llama.attention.head_count", |w| {
            w.u32("llama.attention.head_count", 0);
        }),
        ("llama.attention.head_count", |w| {
            w.u32("llama.attention.head_count", 3);
        }),
        ("llama.attention.head_count", |w| {
            w.i32s("llama.attention.head_count", &[1, 2]);
        }),
        ("llama.attention.head_count", |w| {
            w.i32s("llama.attention.head_count", &[]);
        }),
        ("key/value heads", |w| {
            w.u32("llama.attention.head_count_kv", 4);
        }),
        ("llama.attention.layer_norm_rms_epsilon", |w| {
            w.f32("llama.attention.layer_norm_rms_epsilon", f32::NAN);
        }),
        ("llama.rope.freq_base", |w| {
            w.f32("llama.rope.freq_base", f32::INFINITY);
        }),
        ("llama.rope.freq_base", |w| {
            w.f32("llama.rope.freq_base", -1.0);
        }),
        ("RoPE", |w| {
            w.u32("llama.rope.dimension_count", 17);
        }),
        ("RoPE", |w| {
            w.u32("llama.rope.dimension_count", 64);
        }),
        ("llama.rope.scaling.type", |w| {
            w.text("llama.rope.scaling.type", "longrope");
        }),
        ("llama.rope.scaling.type", |w| {
            w.u32("llama.rope.scaling.type", 1);
        }),
        ("llama.rope.scaling.factor", |w| {
            w.f32("llama.rope.scaling.factor", 0.0);
        }),
        ("llama.attention.value_length", |w| {
            w.u32("llama.attention.value_length", 8);
        }),
        ("llama.expert_used_count", |w| {
            w.u32("llama.expert_count", 8);
        }),
        ("rope_freqs.weight", |w| {
            w.tensor("rope_freqs.weight", &[8], 0, vec![0xff; 32]);
        }),
        ("RoPE", |w| {
            w.tensor("rope_freqs.weight", &[7], 0, 1f32.to_le_bytes().repeat(7));
        }),
        ("rope_freqs.weight", |w| {
            w.tensor("rope_freqs.weight", &[4, 2], 0, vec![0; 32]);
        }),
    ];
    for (field, change) in cases {
        let mut writer = GgufWriter::new(3);
        change(&mut writer);
        for (key, value) in [
            ("llama.context_length", 64),
            ("llama.embedding_length", 32),
            ("llama.block_count", 1),
            ("llama.feed_forward_length", 32),
            ("llama.attention.head_count", 2),
            ("llama.attention.head_count_kv", 1),
        ] {
            if !writer.has(key) {
                writer.u32(key, value);
            }
        }
        writer.text("general.architecture", "llama");
        if !writer.has("llama.attention.layer_norm_rms_epsilon") {
            writer.f32("llama.attention.layer_norm_rms_epsilon", 1e-5);
        }
        tensors(&mut writer);
        let error = refused(&writer.bytes());
        assert!(error.contains(field), "{field}: {error}");
    }
    for key in [
        "context_length",
        "embedding_length",
        "block_count",
        "feed_forward_length",
    ] {
        let mut writer = metadata(3);
        writer.rename(&format!("llama.{key}"), "unrelated");
        tensors(&mut writer);
        let error = refused(&writer.bytes());
        assert!(error.contains(key) && error.contains("missing"), "{error}");
    }
    let family = |name: &str| {
        let mut writer = GgufWriter::new(3);
        writer.text("general.architecture", name);
        refused(&writer.bytes())
    };
    let error = family("bloom");
    for part in ["bloom", "llama", "mistral", "qwen2", "qwen3"] {
        assert!(error.contains(part), "{error}");
    }
    let mut no_embedding = metadata(3);
    assert!(refused(&no_embedding.u32("x", 1).bytes()).contains("token_embd.weight"));
}
