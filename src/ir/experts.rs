//! Mixtures of experts: which matrices of a stack a row is multiplied with, and the products.

use super::{Factor, Norm, Number};

/// gpt-oss: `gate · sigmoid(1.702·gate) · (up + 1)`.
pub const CLAMPED_ALPHA: f32 = 1.702;

/// `(logits [rows, experts], [correction [experts]])` to `(index [rows, chosen] u32, weight [rows, chosen] f32)`: the
/// scores of the logits, the largest entries of scores and correction together, the largest first, the first of equal
/// ones; their scores are the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Route {
    /// Experts of a row.
    pub chosen: usize,
    /// The weights of a row are divided by their sum.
    pub normalize: bool,
    /// What logits become.
    pub scores: Scores,
    /// Only experts of a row's best groups are chosen; `None`: all are one group.
    pub groups: Option<Groups>,
    /// The weights are multiplied by this in the end.
    pub factor: Number,
    /// Behind the chosen ones every row has the last expert, whose weight is the sigmoid of its logit.
    pub shared: bool,
}

impl Route {
    /// By a softmax of all logits.
    pub fn softmax(chosen: usize, normalize: bool) -> Route {
        Route {
            chosen,
            normalize,
            scores: Scores::Softmax,
            groups: None,
            factor: Number::new(1.0),
            shared: false,
        }
    }

    /// Experts of a row, with the one that every row has.
    pub fn all(&self) -> usize {
        self.chosen + usize::from(self.shared)
    }
}

/// What a router's logits become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scores {
    /// The softmax of all.
    Softmax,
    /// The sigmoid of each.
    Sigmoid,
    /// Sparsemixer's: choices are made one after the other; the weight of one with logit m is its share in a softmax
    /// of those not chosen before whose logit x has `(m − x) / max(|x|, m)` up to this number.
    Band(Number),
}

/// Neighbouring experts as groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Groups {
    /// How many groups; divides the experts.
    pub count: usize,
    /// How many of them a row keeps; in the others what decides is 0.
    pub kept: usize,
    /// A group's rank is the sum of so many of its largest entries.
    pub best: usize,
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
    /// `(x [rows, chosen, in], index)` to `[rows, chosen, out]`: one factor, `W_k·x_k + b_k`.
    Each,
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
