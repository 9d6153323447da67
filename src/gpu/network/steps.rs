//! What a network does on a GPU, step by step.

use super::activations::Activation;
use crate::ir::Layout;
use crate::step::{Chain, ItemSource};

/// A vector of f32 numbers: its place among those of a network, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorId {
    pub first: usize,
    pub len: usize,
}

/// The right side of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Constants whose columns follow each other: `[inner, columns]`, or kernels `[out, 3, 3, in]`.
    pub parts: Vec<usize>,
    /// Numbers of a row of x.
    pub inner: usize,
    /// 1, or 9 for kernels.
    pub taps: usize,
    /// Of all parts together.
    pub columns: usize,
}

impl Matrix {
    /// Whether the sums of an item's one row have four parts where warpgroups make them (`product_warpgroup_split`), which is
    /// the same in any batch.
    pub fn sums_have_parts(&self) -> bool {
        let is_long = self.inner >= 1024 && self.inner.is_multiple_of(256);
        self.taps == 1 && is_long && self.columns <= 512
    }
}

/// A product and what follows it.
#[derive(Debug, Clone)]
pub struct Product {
    /// Row after row.
    pub x: ItemSource,
    /// Its place in [`Plan::matrices`].
    pub matrix: usize,
    pub bias: Option<VectorId>,
    /// What is added, as large as the result.
    pub residual: Option<usize>,
    pub activation: Activation,
    pub out: usize,
}

/// Rows that are normalized, of a sum perhaps.
#[derive(Debug, Clone)]
pub struct Norm {
    pub x: ItemSource,
    /// What is added to x and the factor that it is added with.
    pub beside: Option<(usize, f32)>,
    pub weight: VectorId,
    pub bias: VectorId,
    pub eps: f32,
    /// What rounding left of x, two bits a number.
    pub x_low: Option<usize>,
    pub out: usize,
    /// The same of the result.
    pub out_low: Option<usize>,
}

/// Where elements are copied from.
#[derive(Debug, Clone)]
pub enum Origin {
    Item(ItemSource),
    /// The same vector for every item, row after row.
    Vector(VectorId),
}

#[derive(Debug, Clone)]
pub enum Step {
    Product(Product),
    Norm(Norm),
    /// Two products; nothing else reads what the first one makes.
    Pair(Product, Product),
    Attention {
        attention: Box<crate::step::ItemAttention>,
        /// Results lie `[rows][heads][width]`.
        rows_first: bool,
        out: usize,
    },
    Chain {
        chain: Chain,
        /// Those of its calls' arguments that are known.
        vectors: Vec<[Option<VectorId>; 2]>,
    },
    Copy {
        from: Origin,
        /// Where in the result.
        to: Layout,
        out: usize,
    },
    Take {
        x: ItemSource,
        /// Its place in [`Plan::places`].
        places: usize,
        count: usize,
        out: usize,
    },
    Sums {
        x: ItemSource,
        columns: usize,
        out: usize,
    },
    Softmax {
        x: ItemSource,
        row: usize,
        out: usize,
    },
    /// `scale · a · bᵀ`, rows of `cols` numbers; f32 in any network.
    Scores {
        a: ItemSource,
        b: ItemSource,
        rows: usize,
        columns: usize,
        cols: usize,
        scale: f32,
        out: usize,
    },
}

/// The steps of a network.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// Elements of an item, of every buffer.
    pub counts: Vec<usize>,
    /// Whether a buffer has f32 numbers where others have f16.
    pub wide: Vec<bool>,
    /// Numbers of an item before each buffer, multiples of 8; a wide one's count twice.
    pub offsets: Vec<usize>,
    /// Numbers of an item's arena.
    pub width: usize,
    pub matrices: Vec<Matrix>,
    /// All vectors one after the other, each from a multiple of 8 on.
    pub vectors: Vec<f32>,
    pub places: Vec<Vec<u32>>,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

impl Step {
    /// In the place of one that is not needed any more.
    pub fn nothing() -> Step {
        Step::Chain {
            chain: Chain {
                calls: Vec::new(),
                count: 0,
            },
            vectors: Vec::new(),
        }
    }

    /// Whether it does nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Step::Chain { chain, .. } if chain.calls.is_empty())
    }

    /// The buffers that it reads.
    pub fn read(&self) -> Vec<usize> {
        match self {
            Step::Product(product) => {
                let x = Some(product.x.buffer);
                x.into_iter().chain(product.residual).collect()
            }
            Step::Norm(norm) => {
                let beside = norm.beside.map(|(buffer, _)| buffer);
                let others = beside.into_iter().chain(norm.x_low);
                [norm.x.buffer].into_iter().chain(others).collect()
            }
            Step::Pair(first, _) => vec![first.x.buffer],
            Step::Attention { attention, .. } => {
                let sources = attention.sides.iter().chain(&attention.mask);
                sources.map(|source| source.buffer).collect()
            }
            Step::Chain { chain, .. } => chain.read(),
            Step::Copy { from, .. } => match from {
                Origin::Item(source) => vec![source.buffer],
                Origin::Vector(_) => Vec::new(),
            },
            Step::Take { x, .. } | Step::Sums { x, .. } | Step::Softmax { x, .. } => vec![x.buffer],
            Step::Scores { a, b, .. } => vec![a.buffer, b.buffer],
        }
    }

    /// The buffers that it writes.
    pub fn written(&self) -> Vec<usize> {
        match self {
            Step::Product(Product { out, .. })
            | Step::Attention { out, .. }
            | Step::Copy { out, .. }
            | Step::Take { out, .. }
            | Step::Sums { out, .. }
            | Step::Softmax { out, .. }
            | Step::Scores { out, .. } => vec![*out],
            Step::Norm(norm) => [norm.out].into_iter().chain(norm.out_low).collect(),
            Step::Pair(first, second) => vec![first.out, second.out],
            Step::Chain { chain, .. } => chain.calls.iter().filter_map(|call| call.out).collect(),
        }
    }

    /// The products that it makes.
    pub fn products(&self) -> Vec<&Product> {
        match self {
            Step::Product(product) => vec![product],
            Step::Pair(first, second) => vec![first, second],
            _ => Vec::new(),
        }
    }

    /// Whether its results may be f32 in a network of f16.
    pub fn can_write_wide(&self) -> bool {
        self.can_read_wide() || matches!(self, Step::Scores { .. })
    }

    /// Whether what it reads may be.
    pub fn can_read_wide(&self) -> bool {
        matches!(
            self,
            Step::Chain { .. } | Step::Copy { .. } | Step::Take { .. }
        )
    }
}
