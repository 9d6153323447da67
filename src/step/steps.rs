//! Steps over buffers.

use crate::ir::{self, Op, Symbol, Type};
pub use crate::ir::{Attention, Input, MatrixId, Norm, PAGE_TOKENS, VectorId};

/// An activation buffer of the program's arena, by its place in [`Schedule::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId(pub usize);

/// How many rows an activation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rows {
    /// One for each token of the batch.
    Tokens,
    /// One for each token whose logits are wanted.
    Wanted,
    /// One, whatever the batch is.
    Once,
}

impl From<Option<Symbol>> for Rows {
    fn from(symbol: Option<Symbol>) -> Rows {
        match symbol {
            Some(Symbol::Tokens) => Rows::Tokens,
            Some(Symbol::Wanted) => Rows::Wanted,
            None => Rows::Once,
        }
    }
}

/// An activation in the arena: `[rows, width]` of 32 bits, usually f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Rows.
    pub rows: Rows,
    /// Columns.
    pub width: usize,
    /// First column of the arena: the buffer starts at `offset · max_rows` floats.
    pub offset: usize,
}

/// One product of a [`Step::Matmul`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product {
    /// `W` `[out, in]`.
    pub weight: MatrixId,
    /// `b` `[out]`.
    pub bias: Option<VectorId>,
    /// `[rows, out]`; `None`: the logits.
    pub out: Option<BufferId>,
}

/// What happens to the results of a [`Step::Matmul`] before they are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Epilogue {
    /// Nothing.
    Store,
    /// One product: `out = residual + W·x`.
    Add(BufferId),
    /// Two products (gate, up): `out = silu(gate) · up`, stored to the first product's `out`.
    SwiGlu,
}

/// How the KV cache keeps numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum KvType {
    /// f16.
    #[default]
    F16,
    /// Per token, head and [`KV_GROUP`] columns: codes of 8 bits with a sign and an f16 scale.
    Q8,
    /// The same with codes of 4 bits, an f16 scale and an f16 minimum.
    Q4,
}

/// How much a forward state takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateSize {
    /// Tokens of a call.
    pub tokens: usize,
    /// Sequences (slices) of a call.
    pub sequences: usize,
    /// Tokens of a sequence.
    pub context: usize,
    /// Copies of a sequence's recurrent state that can be kept, where layers are recurrent. Each takes memory when it
    /// is first used.
    pub snapshots: usize,
    /// Pages of the KV cache.
    pub pages: usize,
    /// Its kind.
    pub kv: KvType,
}

impl StateSize {
    /// For any calls of so many tokens over so many pages.
    pub fn any(tokens: usize, pages: usize, kv: KvType) -> StateSize {
        StateSize {
            tokens,
            sequences: tokens.max(1),
            context: pages.saturating_mul(PAGE_TOKENS),
            snapshots: 0,
            pages,
            kv,
        }
    }

    /// For a session of so many requests at once, each of up to `context` tokens, whose prompts run by `chunk` tokens.
    pub fn of_session(
        (requests, chunk): (usize, usize),
        context: usize,
        pages: usize,
        kv: KvType,
    ) -> StateSize {
        let any = StateSize::any(chunk + requests, pages, kv);
        StateSize {
            sequences: requests,
            // A step that is queued ahead may be one past the end.
            context: any.context.min(context.saturating_add(PAGE_TOKENS)),
            ..any
        }
    }
}

/// Columns of a head that share a scale in a quantized KV cache.
pub const KV_GROUP: usize = 32;

impl KvType {
    /// Bytes that the key of a token, or its value, takes in a head of `dim` columns.
    pub fn head_bytes(self, dim: usize) -> usize {
        let groups = dim.div_ceil(KV_GROUP);
        match self {
            KvType::F16 => dim.next_multiple_of(8) * 2,
            KvType::Q8 => groups * (KV_GROUP + 2),
            KvType::Q4 => groups * (KV_GROUP / 2 + 4),
        }
    }
}

impl Attention {
    /// Bytes that the keys, or the values, of one head take in a page of the KV cache.
    pub fn tokens_bytes(&self, kv: KvType) -> usize {
        PAGE_TOKENS * kv.head_bytes(self.head_dim)
    }

    /// Bytes of one layer in a page of the KV cache.
    pub fn layer_bytes(&self, kv: KvType) -> usize {
        self.kv_heads * 2 * self.tokens_bytes(kv)
    }
}

/// Rotary position embedding of the first `2·inv_freq.len()` dimensions of a head.
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    /// Angle per position of each pair.
    pub inv_freq: Vec<f32>,
    /// Pairs are (2i, 2i+1) instead of (i, i + dims/2).
    pub interleaved: bool,
    /// cos and sin are multiplied by this (YaRN).
    pub magnitude: f32,
}

/// What a [`Step::Attend`] attends to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attend {
    /// `[rows, heads · head_dim]`; rows are the tokens, or those whose logits are wanted.
    pub q: BufferId,
    /// `[tokens, kv_heads · head_dim]`.
    pub k: BufferId,
    /// `[tokens, kv_heads · head_dim]`.
    pub v: BufferId,
    /// As `q`.
    pub out: BufferId,
    /// Norm of each query head.
    pub q_norm: Option<Norm>,
    /// Norm of each key head.
    pub k_norm: Option<Norm>,
    /// `[heads]`: scores that only the sum of the softmax sees.
    pub sinks: Option<VectorId>,
    /// Which of the schedule's ropes turns queries and keys.
    pub rope: Option<usize>,
    /// Which of the schedule's states: the layer's keys and values.
    pub state: usize,
    /// Shape.
    pub shape: Attention,
}

/// Products of rows with the matrices of stacks that each row chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpertProducts {
    /// `[rows, in]`, or `[rows, chosen · in]`.
    pub x: BufferId,
    /// Each of a row's matrices has an x of its own.
    pub own: bool,
    /// Normalises x first.
    pub norm: Option<Norm>,
    /// `[rows, chosen]` u32.
    pub index: BufferId,
    /// `[rows, chosen]`: the results of a row are summed with these.
    pub weights: Option<BufferId>,
    /// `[rows, out]`: added to the sums.
    pub residual: Option<BufferId>,
    /// Stacks `[experts · out, in]`: one, or gate and up (`silu(gate) · up`).
    pub products: Vec<Product>,
    /// Of gate and up, which is then gpt-oss' function: see [`ir::Gathered::SwiGlu`].
    pub limit: Option<f32>,
    /// Matrices of a stack.
    pub experts: usize,
    /// Matrices of a row.
    pub chosen: usize,
    /// `[rows, chosen · out]`, or `[rows, out]` where there are weights.
    pub out: BufferId,
}

/// A causal convolution over few tokens of each sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortConv {
    /// `[tokens, channels]`.
    pub x: BufferId,
    /// `[taps · channels]`.
    pub weight: VectorId,
    /// As `x`.
    pub out: BufferId,
    /// Shape and state.
    pub shape: ir::ShortConv,
}

/// The gated delta rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatedDelta {
    /// Where q, k and v are columns.
    pub qkv: [BufferId; 3],
    /// `[tokens, value_heads]`: decay (of each column, where the shape says so) and beta, or the a and b that `gates`
    /// makes them of.
    pub decay: BufferId,
    /// As `decay`.
    pub beta: BufferId,
    /// `rate` and `floor`, `[value_heads]` each.
    pub gates: Option<[VectorId; 2]>,
    /// `[tokens, value_heads · value_dim]`.
    pub out: BufferId,
    /// Shape and state.
    pub shape: ir::GatedDelta,
}

/// A norm of each head, times the SiLU of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatedNorm {
    /// `[rows, heads · dim]`.
    pub x: BufferId,
    /// `[dim]`, and ε.
    pub norm: Norm,
    /// As `x`.
    pub z: BufferId,
    /// As `x`.
    pub out: BufferId,
    /// Width of a head.
    pub dim: usize,
}

/// What a plain operation reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Where it is.
    pub place: Place,
    /// Dtype and shape; symbols are the batch's sizes.
    pub ty: Type,
}

/// Where the input of a plain operation is, row after row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the arena.
    Buffer(BufferId),
    /// It is given with the batch.
    Input(Input),
    /// Among the weights.
    Vector(VectorId),
}

/// One parallel operation of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `out[t] = table[token[t]]`.
    Embed {
        /// `[vocab, width]`.
        table: MatrixId,
        /// `[tokens, width]`.
        out: BufferId,
    },
    /// `y_i = W_i · norm(x) + b_i` for all products, then the epilogue.
    Matmul {
        /// `[rows, in]`.
        x: BufferId,
        /// Normalises `x` first.
        norm: Option<Norm>,
        /// The products, all of the same `x`.
        products: Vec<Product>,
        /// What is stored.
        epilogue: Epilogue,
    },
    /// Per-head norm and RoPE of q and k, KV cache write, causal attention over the cache.
    Attend(Attend),
    /// Products with the experts of each row.
    Experts(ExpertProducts),
    /// A causal convolution over few tokens of each sequence.
    ShortConv(ShortConv),
    /// The gated delta rule.
    GatedDelta(GatedDelta),
    /// A norm of each head, times the SiLU of a gate.
    GatedNorm(GatedNorm),
    /// An operation by its plain form.
    Plain {
        /// Which.
        op: Op,
        /// What it reads.
        inputs: Vec<Source>,
        /// Its results, row after row.
        outputs: Vec<(BufferId, Type)>,
    },
    /// The logits are in a buffer.
    Logits {
        /// `[wanted, vocab]`.
        x: BufferId,
    },
    /// `out` = the rows of `x` whose logits are wanted.
    SelectWanted {
        /// `[tokens, width]`.
        x: BufferId,
        /// `[wanted, width]`.
        out: BufferId,
    },
}
