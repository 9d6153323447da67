//! The form of a family's blocks, where families differ in more than sizes.

/// What a model is made of. [`Form::LLAMA`] is the most usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// The norms but those of heads.
    pub norm: NormKind,
    /// Added to the weights of all norms, which some folders keep as differences from 1.
    pub norm_offset: f32,
    /// The norm before attention, by its module.
    pub before_attention: Option<&'static str>,
    /// The norm of the attention's result.
    pub after_attention: Option<&'static str>,
    /// The norm before the MLP.
    pub before_mlp: Option<&'static str>,
    /// The norm of the MLP's result.
    pub after_mlp: Option<&'static str>,
    /// The MLP takes what attention takes, not its result: `x + attention(norm(x)) + mlp(norm(x))`.
    pub parallel: bool,
    /// The norm of queries and keys.
    pub qk_norm: Option<HeadNorm>,
    /// How q, k and v are stored.
    pub qkv: Qkv,
    /// gate and up are one matrix, `gate_up_proj`, one after the other.
    pub gate_up: bool,
    /// `down(act(gate(x)) · up(x))`, or `down(act(up(x)))`.
    pub gated: bool,
    /// The MLP's function.
    pub activation: Activation,
    /// Embeddings are multiplied by this.
    pub embedding_scale: f32,
    /// Logits are multiplied by this.
    pub logit_scale: f32,
    /// Scores are `q·k` times this; `None`: 1 / √width.
    pub score_scale: Option<f32>,
    /// A learned number for each query head joins its scores, but not their values.
    pub sinks: bool,
    /// Scores become `cap · tanh(score / cap)`.
    pub score_cap: Option<f32>,
    /// Logits become `cap · tanh(logit / cap)`.
    pub logit_cap: Option<f32>,
    /// Queries grow with their position.
    pub query_growth: Option<Growth>,
    /// Layers that turn see only tokens of the same run of so many.
    pub chunk: Option<usize>,
    /// The RoPE base of layers with a window, where it is another one; their frequencies are not scaled.
    pub local_rope_theta: Option<f32>,
}

impl Form {
    /// `h = x + o(attention(norm(x)))`, `x = h + down(silu(gate(norm(h))) · up(norm(h)))`.
    pub const LLAMA: Form = Form {
        norm: NormKind::Rms,
        norm_offset: 0.0,
        before_attention: Some("input_layernorm"),
        after_attention: None,
        before_mlp: Some("post_attention_layernorm"),
        after_mlp: None,
        parallel: false,
        qk_norm: None,
        qkv: Qkv::Apart,
        gate_up: false,
        gated: true,
        activation: Activation::Silu,
        embedding_scale: 1.0,
        logit_scale: 1.0,
        score_scale: None,
        sinks: false,
        score_cap: None,
        logit_cap: None,
        query_growth: None,
        chunk: None,
        local_rope_theta: None,
    };
}

/// Queries at position p are multiplied by `1 + beta·ln(1 + ⌊(p + from) / length⌋)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// β.
    pub beta: f32,
    /// Positions of a step.
    pub length: f32,
    /// Added to positions.
    pub from: f32,
    /// Only in layers that do not turn.
    pub still_only: bool,
}

/// What a norm computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// `x · rsqrt(mean(x²) + ε) · w`.
    Rms,
    /// The same with `+ b`.
    RmsBias,
    /// `(x − mean) · rsqrt(variance + ε) · w`.
    Layer,
    /// The same with `+ b`.
    LayerBias,
}

/// The norm of queries and keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadNorm {
    /// RMS of each head before it turns, one weight for all heads.
    Heads,
    /// The same after it has turned.
    Turned,
    /// RMS of all heads together, before they turn.
    Width,
    /// Layer norm of each head before it turns, with a weight of its own.
    LayerEach,
    /// RMS of each head without a weight, in layers that turn.
    Weightless,
}

/// How q, k and v are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Qkv {
    /// Three matrices.
    Apart,
    /// One, `qkv_proj`: all queries, all keys, all values.
    Together,
    /// One: for each key head its queries, its key, its value.
    Groups,
}

/// The function of an MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x · sigmoid(x)`.
    Silu,
    /// `x · Φ(x)`.
    Gelu,
    /// GELU with tanh in place of erf.
    GeluTanh,
    /// `max(x, 0)²`.
    ReluSquared,
    /// xIELU, with two learned numbers.
    Xielu,
}

impl Activation {
    /// By the name that configs have.
    pub(super) fn named(name: &str) -> Option<Activation> {
        Some(match name {
            "silu" | "swish" => Activation::Silu,
            "gelu" => Activation::Gelu,
            "gelu_pytorch_tanh" | "gelu_new" | "gelu_fast" => Activation::GeluTanh,
            "relu2" => Activation::ReluSquared,
            "xielu" => Activation::Xielu,
            _ => return None,
        })
    }
}
