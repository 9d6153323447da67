//! What blocks are made of, where a model's differ.

use super::limits;

/// The parts of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// It has attention.
    pub attention: bool,
    /// It has a layer of the model's recurrent kind; beside attention their results are added.
    pub recurrent: bool,
    /// What follows.
    pub mlp: Feed,
}

/// What follows attention in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// Nothing.
    None,
    /// An MLP of this width for all tokens.
    Dense(usize),
    /// The model's experts.
    Experts,
}

/// Attention over keys and values that are made of one narrow vector a token (multi-head latent attention).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latent {
    /// Queries are made of a vector of this width; `None`: of x.
    pub query: Option<usize>,
    /// Width of the vector that keys and values are made of.
    pub rank: usize,
    /// Columns of a head's queries and keys that do not turn.
    pub still: usize,
    /// Columns that turn; of keys all heads share them.
    pub turned: usize,
    /// Columns of a head's values.
    pub value: usize,
    /// ε of the norms of the vectors.
    pub eps: f32,
}

impl Latent {
    /// What is wrong with its numbers in a model of so many heads.
    pub(super) fn wrong(&self, heads: usize) -> Option<String> {
        let width = heads.saturating_mul(self.rank + self.still + self.turned + self.value);
        (width > limits::WIDTH).then(|| format!("heads {width} wide together"))
    }
}

/// The recurrent layers of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recurrent {
    /// `out(c · conv(b · x))` with b, c and x from one product.
    Conv {
        /// Tokens that the convolution sees.
        taps: usize,
        /// All of it has biases.
        bias: bool,
    },
    /// A state space model whose heads decay as one (Mamba 2).
    Heads(StateSpace),
    /// One whose every number decays on its own (Mamba).
    Channels {
        /// Channels.
        width: usize,
        /// Columns of each channel's state.
        state: usize,
        /// Tokens that the convolution sees.
        taps: usize,
        /// Width of the vector that steps are made of.
        rank: usize,
        /// The convolution has a bias.
        conv_bias: bool,
        /// The products before and behind have biases.
        bias: bool,
        /// The file has `−exp(A_log)` in place of `A_log`: it is llama.cpp's.
        exponentiated: bool,
    },
    /// Kimi's delta rule, whose state's columns decay on their own.
    Delta {
        /// Heads.
        heads: usize,
        /// Width of a head.
        dim: usize,
        /// Tokens that the convolutions see.
        taps: usize,
        /// The file has `−exp(A_log)` in place of `A_log`: it is llama.cpp's.
        exponentiated: bool,
    },
}

/// A state space model whose heads decay as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateSpace {
    /// Heads.
    pub heads: usize,
    /// Columns of a head.
    pub dim: usize,
    /// Groups of heads that share B and C; divides `heads`.
    pub groups: usize,
    /// Columns of B and C.
    pub state: usize,
    /// Tokens that the convolution sees.
    pub taps: usize,
    /// The convolution has a bias.
    pub conv_bias: bool,
    /// The products before and behind have biases.
    pub biases: [bool; 2],
    /// The least and the largest step.
    pub steps: (f32, f32),
    /// The weights must be as mlx-lm converts them, with the model's multipliers in them.
    pub converted: bool,
    /// The file has `−exp(A_log)` in place of `A_log`: it is llama.cpp's.
    pub exponentiated: bool,
    /// The norm of the result.
    pub norm: GateNorm,
    /// Its ε.
    pub eps: f32,
}

/// The norm behind a state space model, and its gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateNorm {
    /// `silu(z) · y` without a norm.
    None,
    /// `norm(silu(z) · y)`, in so many parts.
    After(usize),
    /// `silu(z) · norm(y)`.
    Before,
}

impl Recurrent {
    /// Whether the products before and behind have biases.
    pub fn biases(&self) -> [bool; 2] {
        match *self {
            Recurrent::Conv { bias, .. } | Recurrent::Channels { bias, .. } => [bias; 2],
            Recurrent::Heads(space) => space.biases,
            Recurrent::Delta { .. } => [false; 2],
        }
    }

    /// What is wrong with its numbers.
    pub(super) fn wrong(&self) -> Option<String> {
        let (width, state) = match *self {
            Recurrent::Conv { .. } => return None,
            Recurrent::Heads(space) if !space.heads.is_multiple_of(space.groups) => {
                return Some(format!(
                    "{} heads are no multiple of {} groups",
                    space.heads, space.groups
                ));
            }
            Recurrent::Heads(space) => (space.heads * space.dim, space.groups * space.state),
            Recurrent::Channels { width, state, .. } => (width, state),
            Recurrent::Delta { heads, dim, .. } => (heads * dim, dim),
        };
        (width > limits::WIDTH || state > limits::WIDTH)
            .then(|| format!("recurrent layers {width} wide with {state} columns"))
    }
}

impl StateSpace {
    /// Columns of all heads.
    pub fn width(&self) -> usize {
        self.heads * self.dim
    }

    /// Columns that the convolution sees: x, B, C.
    pub fn widths(&self) -> [usize; 3] {
        [
            self.width(),
            self.groups * self.state,
            self.groups * self.state,
        ]
    }
}
