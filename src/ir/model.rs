//! What models add to MLX's operations: weights in a file's own form, and the paged cache.

use super::Number;

/// Tokens of one KV cache page.
pub const PAGE_TOKENS: usize = 32;

/// A weight matrix of the model, by its place in the model's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixId(pub usize);

/// A weight vector (norm weight, bias, frequencies) of the model, by its place in the model's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VectorId(pub usize);

/// RMSNorm `x · rsqrt(mean(x²) + eps) · weight`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Norm {
    /// The weight.
    pub weight: VectorId,
    /// ε.
    pub eps: f32,
}

// Compared and hashed by bits: ε is a parameter, not a result.
impl Eq for Norm {}
impl std::hash::Hash for Norm {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.weight, self.eps.to_bits()).hash(state);
    }
}

/// A matrix that x is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Factor {
    /// `W` `[out, in]`.
    pub weight: MatrixId,
    /// `b` `[out]`.
    pub bias: Option<VectorId>,
}

/// What happens to products before they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Nothing: a result for each factor.
    Store,
    /// One factor: the second input is added.
    Add,
    /// Two factors (gate, up): `silu(gate) · up`, one result.
    SwiGlu,
}

/// `y_i = W_i · norm(x) + b_i`, then the ending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Products {
    /// Normalises x first.
    pub norm: Option<Norm>,
    /// The matrices.
    pub factors: Vec<Factor>,
    /// What is stored.
    pub ending: Ending,
}

impl Products {
    /// One product as it is.
    pub fn one(weight: MatrixId) -> Products {
        Products {
            norm: None,
            factors: vec![Factor { weight, bias: None }],
            ending: Ending::Store,
        }
    }
}

/// Rotary position embedding of the first `2 · pairs` columns of each head, at given positions:
/// pair i turns by `position · frequency_i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rotary {
    /// Pairs are (2i, 2i+1) instead of (i, i + pairs).
    pub interleaved: bool,
    /// cos and sin are multiplied by this (YaRN).
    pub magnitude: Number,
}

/// Shape and kind of an attention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attention {
    /// Query heads.
    pub heads: usize,
    /// Key/value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Scores are `q·k · scale`.
    pub scale: f32,
    /// Only the last `window` tokens are seen.
    pub window: Option<usize>,
    /// Only tokens of the same run of `chunk` tokens are seen.
    pub chunk: Option<usize>,
    /// Scores become `cap · tanh(score / cap)`.
    pub cap: Option<f32>,
}

// Compared and hashed by bits, as Norm.
impl Eq for Attention {}
impl std::hash::Hash for Attention {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let sizes = (self.heads, self.kv_heads, self.head_dim);
        (
            sizes,
            self.window,
            self.chunk,
            self.scale.to_bits(),
            self.cap.map(f32::to_bits),
        )
            .hash(state);
    }
}

/// The rotation of queries and keys on their way to an attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Frequencies: `[pairs]`.
    pub frequencies: VectorId,
    /// How pairs turn.
    pub rotary: Rotary,
}

/// Causal attention of `q` `[rows, heads · dim]` over the cache of a layer, to which `k` and `v`
/// `[tokens, kv_heads · dim]` are added first: `softmax(scale · q·kᵀ)·v`, query head `h` with key head
/// `h / (heads / kv_heads)`. Queries are all tokens or the wanted ones. A fourth input, sinks `[heads]`, are
/// scores that only the sum of the softmax sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attend {
    /// Which state: the layer's keys and values.
    pub state: usize,
    /// Shape.
    pub shape: Attention,
    /// Norm of each query head before it turns.
    pub q_norm: Option<Norm>,
    /// Norm of each key head before it turns.
    pub k_norm: Option<Norm>,
    /// Rotation of queries and keys.
    pub turn: Option<Turn>,
}
