//! Mixtures of experts: which matrices of a stack a row is multiplied with, and the products.

use super::{Factor, Norm, Number};

/// gpt-oss: `gate · sigmoid(1.702·gate) · (up + 1)`.
pub const CLAMPED_ALPHA: f32 = 1.702;

/// `(logits [rows, experts])` to `(index [rows, chosen] u32, weight [rows, chosen] f32)`: the softmax of the
/// logits, its largest entries, the largest first, the first of equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Route {
    /// Experts of a row.
    pub chosen: usize,
    /// The weights of a row are divided by their sum.
    pub normalize: bool,
}

/// What becomes of the products of a row's experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gathered {
    /// `(x [rows, in], index)` to `[rows, chosen, out]`: two factors (gate, up), `silu(gate) · up`, or that of
    /// [`CLAMPED_ALPHA`] where there is a limit.
    SwiGlu {
        /// gate is at most this, up at most this away from 0.
        limit: Option<Number>,
    },
    /// `(x [rows, chosen, in], index, weight)` to `[rows, out]`: one factor, `Σ weight_k · (W_k·x_k + b_k)`, and a
    /// fourth input is added.
    Sum,
}

/// Products of rows with the matrices of stacks `[experts · out, in]` that `index` `[rows, chosen]` u32
/// names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Experts {
    /// Normalises x first ([`Gathered::SwiGlu`] only).
    pub norm: Option<Norm>,
    /// Matrices of a stack.
    pub experts: usize,
    /// The stacks; biases are `[experts · out]`.
    pub factors: Vec<Factor>,
    /// What is stored.
    pub gathered: Gathered,
}
