//! The demo model's file: opens, binds, and its numbers read both ways agree.

#[path = "support/demo_model.rs"]
mod demo_model;

use demo_model::demo_model;
use mlxrocm::formats::{Format, RowGroups, Weight};
use mlxrocm::model::config::RopeScaling;
use mlxrocm::model::weights::Source;
use std::time::Instant;

/// All matrices of the model, by path.
fn bind(source: &Source) -> Vec<Weight> {
    let c = source.config().clone();
    let (q, kv) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
    let mut weights = vec![
        source
            .embedding("model.embed_tokens", c.vocab_size, c.hidden_size)
            .unwrap(),
    ];
    for layer in 0..c.layers {
        for (module, rows, cols) in [
            ("self_attn.q_proj", q, c.hidden_size),
            ("self_attn.k_proj", kv, c.hidden_size),
            ("self_attn.v_proj", kv, c.hidden_size),
            ("self_attn.o_proj", c.hidden_size, q),
            ("mlp.gate_proj", c.intermediate_size, c.hidden_size),
            ("mlp.up_proj", c.intermediate_size, c.hidden_size),
            ("mlp.down_proj", c.hidden_size, c.intermediate_size),
        ] {
            let path = format!("model.layers.{layer}.{module}");
            let linear = source.linear(&path, rows, cols).unwrap();
            assert!(linear.bias.is_none());
            weights.push(linear.weight);
        }
        for module in ["input_layernorm", "post_attention_layernorm"] {
            let path = format!("model.layers.{layer}.{module}");
            let norm = source.norm(&path, c.hidden_size).unwrap();
            assert!(norm.iter().all(|v| v.is_finite()));
        }
    }
    source.norm("model.norm", c.hidden_size).unwrap();
    weights
}

#[test]
fn config_and_binding() {
    let source = Source::open(&demo_model()).unwrap();
    let c = source.config();
    assert_eq!(c.family.name, "llama");
    assert_eq!(
        (c.layers, c.hidden_size, c.intermediate_size),
        (30, 576, 1536)
    );
    assert_eq!((c.heads, c.kv_heads, c.head_dim), (9, 3, 64));
    assert_eq!((c.vocab_size, c.context_length), (49152, 8192));
    assert_eq!(
        (c.norm_eps, c.rope_theta, c.rope_dims),
        (1e-5, 100_000.0, 64)
    );
    assert_eq!(c.rope_scaling, RopeScaling::None);
    assert!(
        c.rope_interleaved && c.tied_embeddings && c.form.qk_norm.is_none() && !c.attention_bias
    );
    let mut stop = c.stop_tokens.clone();
    stop.sort_unstable();
    assert_eq!(stop, [0, 2]);
    assert_eq!(source.parameters(), 134_515_008);
    assert_eq!(source.quantization(), "Q4_1");
    assert!(source.chat_template().unwrap().contains("<|im_start|>"));
    let weights = bind(&source);
    let head = source
        .linear("lm_head", c.vocab_size, c.hidden_size)
        .unwrap();
    assert_eq!(head.weight.data.as_ptr(), weights[0].data.as_ptr());
    assert_eq!(source.unused(), Vec::<String>::new());
    let error = source
        .embedding("model.embed_tokens", 49152, 575)
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("token_embd.weight") && message.contains("[49152, 575]"),
        "{message}"
    );
}

#[test]
fn group_form_agrees_with_the_plain_one() {
    let start = Instant::now();
    let source = Source::open(&demo_model()).unwrap();
    println!("open: {:?}", start.elapsed());
    let weights = bind(&source);
    let (mut groups, mut row_values) = (RowGroups::default(), Vec::new());
    let mut count = 0;
    for weight in &weights {
        let Some(form) = weight.format.group_form() else {
            assert!(matches!(weight.format, Format::Dense(_)));
            continue;
        };
        row_values.resize(weight.cols, 0.0);
        for row in (0..weight.rows).step_by(61) {
            weight.dequantize_row(row, &mut row_values).unwrap();
            weight.read_groups(row, &mut groups).unwrap();
            for (k, expected) in row_values.iter().enumerate() {
                let (scale, bias) = groups.scale_bias(form, k / form.group).unwrap();
                let product = scale * f32::from(groups.codes[k]);
                let error = (product + bias - expected).abs();
                assert!(error <= product.abs().max(bias.abs()) * f32::EPSILON);
                count += 1;
            }
        }
    }
    assert!(count > 1_000_000);
    let start = Instant::now();
    let mut sum = 0u64;
    for weight in weights.iter().filter(|w| w.format.group_form().is_some()) {
        for row in 0..weight.rows {
            weight.read_groups(row, &mut groups).unwrap();
            sum += u64::from(groups.codes[row % weight.cols]);
        }
    }
    println!(
        "read_groups of the whole model: {:?} ({sum})",
        start.elapsed()
    );
}
