//! The numbers that describe a dense transformer, read from `config.json` or GGUF metadata.

/// How RoPE frequencies are scaled for long contexts.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// Plain RoPE.
    None,
    /// Positions divided by the factor.
    Linear {
        /// Positions are divided by this.
        factor: f32,
    },
    /// Llama 3: low frequencies divided, high kept, smooth between.
    Llama3 {
        /// Divisor of low frequencies.
        factor: f32,
        /// Wavelengths above `original_context / low` are divided.
        low_freq_factor: f32,
        /// Wavelengths below `original_context / high` are kept.
        high_freq_factor: f32,
        /// Context of the original training.
        original_context: usize,
    },
    /// YaRN.
    Yarn {
        /// Context extension.
        factor: f32,
        /// Context of the original training.
        original_context: usize,
        /// Ramp start in rotations.
        beta_fast: f32,
        /// Ramp end in rotations.
        beta_slow: f32,
        /// Multiplier of q·k magnitude (`mscale`); 0: 0.1·ln(factor)+1.
        attention_factor: f32,
    },
    /// Divisor of each frequency, given by the file (`rope_freqs.weight` of GGUF; longrope).
    Factors(Vec<f32>),
}

/// The numbers of a dense transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// `llama`, `qwen2` or `qwen3`.
    pub family: String,
    /// The name the file gives itself.
    pub name: String,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the MLP.
    pub intermediate_size: usize,
    /// Blocks.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key/value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Rows of the embedding table.
    pub vocab_size: usize,
    /// Trained context.
    pub context_length: usize,
    /// ε of RMSNorm.
    pub norm_eps: f32,
    /// RoPE base.
    pub rope_theta: f32,
    /// Dimensions of a head that are rotated (the first ones).
    pub rope_dims: usize,
    /// Pairs are (2i, 2i+1) instead of (i, i+dims/2): GGUF files of the llama family.
    pub rope_interleaved: bool,
    /// Scaling of frequencies.
    pub rope_scaling: RopeScaling,
    /// Output head shares the embedding table.
    pub tied_embeddings: bool,
    /// q, k and v have biases (qwen2).
    pub attention_bias: bool,
    /// RMSNorm of each q and k head before RoPE (qwen3).
    pub qk_norm: bool,
    /// Keys further back than this are not seen (Mistral v0.1); `None`: all are.
    pub sliding_window: Option<usize>,
    /// Tokens that end a generation.
    pub stop_tokens: Vec<u32>,
}
