//! Recurrent layers: operations that carry a state of fixed size from one token of a sequence to the next.

use super::Number;

/// `(x [tokens, channels], weight [taps · channels])`: every channel's causal convolution over the tokens of its
/// sequence, `y_t = Σ_j weight_j · x_{t + j − (taps − 1)}`, zeros before the first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShortConv {
    /// Which recurrent state: the last `taps − 1` rows of x.
    pub state: usize,
    /// Columns of x.
    pub channels: usize,
    /// Tokens that a result sees, at least one; the last is its own.
    pub taps: usize,
    /// The result is `y · sigmoid(y)`.
    pub silu: bool,
}

impl ShortConv {
    /// Numbers of the state.
    pub fn floats(&self) -> usize {
        (self.taps - 1) * self.channels
    }
}

/// `(q, k [tokens, key_heads · key_dim], v [tokens, value_heads · value_dim], decay, beta [tokens, value_heads])` to
/// `[tokens, value_heads · value_dim]`: the gated delta rule. With `gates` the inputs are
/// `(q, k, v, a, b, rate, floor)` instead: `decay = exp(rate · log(exp(a) + exp(floor)))`, `beta = sigmoid(b)`, with
/// vectors `[value_heads]` of the model. With ε q and k get length 1 (`x · rsqrt(Σx² + eps)`), q is
/// divided by `√key_dim` besides. Then for every value head, with the state `S` `[value_dim, key_dim]` f32, zero
/// before the first token: `S ← decay · S`, `S ← S + beta · (v − S·k) kᵀ`, `y = S·q`. Without `corrects` it is a state
/// space model's: `S ← S + beta · v kᵀ`. With `columnwise` each column of S has a decay of its own, `[tokens,
/// value_heads · key_dim]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatedDelta {
    /// Which recurrent state: `S` of every value head.
    pub state: usize,
    /// Heads of q and k; divides `value_heads`.
    pub key_heads: usize,
    /// Heads of v.
    pub value_heads: usize,
    /// Width of a head of q and k.
    pub key_dim: usize,
    /// Width of a head of v.
    pub value_dim: usize,
    /// Value head h goes with key head `h mod key_heads`, instead of with `h / (value_heads / key_heads)`.
    pub tiled: bool,
    /// ε of the lengths; `None`: q and k are taken as they are.
    pub eps: Option<Number>,
    /// What the state gives for k is taken from v.
    pub corrects: bool,
    /// Each column of the state decays on its own.
    pub columnwise: bool,
    /// Whether decay and beta are computed from a and b.
    pub gates: bool,
    /// The first columns of q, k and v in their inputs.
    pub columns: [usize; 3],
}

impl GatedDelta {
    /// Numbers of the state.
    pub fn floats(&self) -> usize {
        self.value_heads * self.value_dim * self.key_dim
    }

    /// Columns of decay.
    pub fn decays(&self) -> usize {
        match self.columnwise {
            true => self.value_heads * self.key_dim,
            false => self.value_heads,
        }
    }

    /// The key head of a value head.
    pub fn key_head(&self, value_head: usize) -> usize {
        match self.tiled {
            true => value_head % self.key_heads,
            false => value_head / (self.value_heads / self.key_heads),
        }
    }

    /// Columns of q, k and v.
    pub fn widths(&self) -> [usize; 3] {
        let keys = self.key_heads * self.key_dim;
        [keys, keys, self.value_heads * self.value_dim]
    }
}

/// `(x [rows, heads, dim], weight [dim], z [rows, heads · dim])` to `[rows, heads · dim]`: `norm(x) · weight · silu(z)`,
/// with an RMS norm of each head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatedNorm {
    /// Width of a head.
    pub dim: usize,
    /// ε of the norm.
    pub eps: Number,
}
