//! The operations: one entry for each of MLX's primitives, those that models add, and fused forms.
//!
//! An operation's inputs and the types of its results are its node's. Sizes are those of the types
//! wherever they tell enough, so that a graph is alike for every batch.

use super::functions::{ArgReduce, Binary, Reduce, Scan, ScatterReduce, Unary};
use super::model::{Attend, MatrixId, Products, Rotary, VectorId};
use super::parameters::{Conv, Fft, Fp8, LinearAlgebra, Number, Quantization, Rope, SliceSpec};
use super::{CustomKernel, Experts, GatedDelta, GatedNorm, Route, ShortConv};
use smallvec::SmallVec;
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// What a model's forward pass is given for each batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// `[tokens]` u32: token ids.
    Tokens,
    /// `[tokens]` i32: each token's place in its sequence.
    Positions,
    /// `[wanted]` u32: rows of the batch whose logits are wanted.
    Wanted,
}

type Axes = SmallVec<[usize; 4]>;

/// An operation on arrays.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    // What is given.
    /// An array that has its elements already: the graph's `n`th.
    Leaf(usize),
    /// A model's input.
    Input(Input),
    /// A model's vector, f32.
    Vector(VectorId),

    // Elements.
    /// One function of each element.
    Unary(Unary),
    /// One function of each pair; inputs have the result's shape.
    Binary(Binary),
    /// Quotient and remainder.
    DivMod,
    /// `(condition, a, b)`: a where the condition holds, else b.
    Select,
    /// To the result's dtype.
    AsType,
    /// The same bits as the result's dtype.
    View,
    /// fp8.
    ConvertFp8(Fp8),

    // Creation.
    /// The scalar input everywhere.
    Full,
    /// `start + i·step`.
    Arange {
        /// First.
        start: Number,
        /// Step.
        step: Number,
    },
    /// Threefry bits of a key `[…, 2]` u32; `width` bytes each.
    RandomBits {
        /// Bytes of a number: 1, 2 or 4.
        width: usize,
    },

    // Shapes.
    /// The same elements with other sizes.
    Reshape,
    /// Neighbouring axes become one.
    Flatten,
    /// An axis becomes several.
    Unflatten,
    /// New axes of size 1.
    ExpandDims,
    /// Axes of size 1 go.
    Squeeze,
    /// Axes of size 1, or new ones in front, repeat.
    Broadcast,
    /// Axes in another order.
    Transpose(Axes),
    /// Elements at regular places.
    Slice(SliceSpec),
    /// A run of one axis.
    Split {
        /// The axis.
        axis: usize,
        /// First element.
        at: usize,
    },
    /// Elements at given places of the array's elements in order.
    AsStrided {
        /// Elements from one to the next.
        strides: SmallVec<[isize; 4]>,
        /// Before the first.
        offset: usize,
    },
    /// Row after row in memory of its own.
    Contiguous,
    /// A copy.
    Copy,
    /// The first input, once the others are there.
    Depends,
    /// The input.
    StopGradient,
    /// Arrays one after the other.
    Concatenate(usize),
    /// `(x, value)`: the value around x; zeros before along every axis.
    Pad(SmallVec<[usize; 4]>),
    /// `(x, update)`: x with a slice replaced, or joined with the update.
    SliceUpdate(SliceSpec, ScatterReduce),
    /// `(x, start)`: a slice that begins where `start` says, along these axes.
    DynamicSlice(Axes),
    /// `(x, update, start)`.
    DynamicSliceUpdate(Axes),
    /// Elements along axes, as a number (its inverse if so).
    NumberOfElements {
        /// The axes.
        axes: Axes,
        /// 1 / the number.
        inverted: bool,
    },

    // Reductions and order.
    /// Along axes.
    Reduce(Reduce, Axes),
    /// The place along an axis, u32.
    ArgReduce(ArgReduce, usize),
    /// Running totals along an axis.
    Scan {
        /// Of what.
        kind: Scan,
        /// The axis.
        axis: usize,
        /// From the end.
        reverse: bool,
        /// With the element itself.
        inclusive: bool,
    },
    /// Over the last axis, in f32 if so.
    Softmax {
        /// f32 within.
        precise: bool,
    },
    /// Along an axis.
    Sort(usize),
    /// The places of the sorted, u32.
    ArgSort(usize),
    /// Smaller ones before the `kth`, others behind.
    Partition {
        /// The axis.
        axis: usize,
        /// The place.
        kth: usize,
    },
    /// The places of that.
    ArgPartition {
        /// The axis.
        axis: usize,
        /// The place.
        kth: usize,
    },
    /// `(sorted, values)`: where values would be put.
    SearchSorted {
        /// Behind equal ones.
        right: bool,
    },

    // Places.
    /// `(x, index of each axis…)`: slices of sizes `sizes` at index arrays.
    Gather {
        /// The axis of each index.
        axes: Axes,
        /// Sizes of the slices.
        sizes: Axes,
    },
    /// `(x, index)` along an axis, index as large as the result.
    GatherAxis(usize),
    /// `(x, index of each axis…, updates)`.
    Scatter(Axes, ScatterReduce),
    /// `(x, index, updates)` along an axis.
    ScatterAxis(usize, ScatterReduce),
    /// `(x, mask, source)`: elements of source, in order, where the mask holds.
    MaskedScatter,

    // Products.
    /// Of the last two axes.
    Matmul,
    /// `(c, a, b)`: `alpha·a·b + beta·c`.
    AddMm {
        /// Of the product.
        alpha: Number,
        /// Of c.
        beta: Number,
    },
    /// `(a, b, masks…)` in blocks.
    BlockMaskedMm {
        /// Rows and columns of a block.
        block: usize,
        /// Whether there is a mask of the result.
        out: bool,
        /// Whether there are masks of a and b.
        operands: bool,
    },
    /// `(a, b, left places, right places)`.
    GatherMm,
    /// `(a, b, segments)`.
    SegmentedMm,
    /// `(x, w, scales, [biases])`.
    QuantizedMatmul {
        /// Of w.
        quantization: Quantization,
        /// w is `[out, in]`.
        transpose: bool,
    },
    /// `(x, w, scales, [biases], left places, right places)`.
    GatherQmm {
        /// Of w.
        quantization: Quantization,
        /// w is `[…, out, in]`.
        transpose: bool,
    },
    /// `(x, w, [scales])`, x quantized too.
    QqMatmul(Quantization),
    /// `(x, w, [scales], left places, right places)`, x quantized too.
    GatherQqmm(Quantization),
    /// `(w)` to `(codes, scales, [biases])`.
    Quantize(Quantization),
    /// `(codes, scales, [biases])` to numbers.
    Dequantize(Quantization),
    /// `(x, w)`: `[batch, …, channels in]`, `[channels out, …, channels in / groups]`.
    Convolution(Box<Conv>),
    /// Discrete Fourier transform.
    Fft(Fft),
    /// Walsh–Hadamard transform of the last axis.
    Hadamard(Number),
    /// LAPACK.
    LinearAlgebra(LinearAlgebra),

    // Layers.
    /// `(x, [weight])` over the last axis.
    RmsNorm(Number),
    /// `(x, [weight], [bias])` over the last axis.
    LayerNorm {
        /// ε.
        eps: Number,
        /// Whether there is a weight.
        weight: bool,
        /// Whether there is a bias.
        bias: bool,
    },
    /// `(x, offset, [frequencies])`.
    Rope(Rope),
    /// `(q, k, v, [mask], [sinks])`.
    ScaledDotProductAttention {
        /// Of scores.
        scale: Number,
        /// Query i sees keys up to i + (keys − queries).
        causal: bool,
        /// Whether there is a mask.
        mask: bool,
        /// Whether there are sinks.
        sinks: bool,
    },

    /// A kernel of the application; GPUs only.
    CustomKernel(Arc<CustomKernel>),

    // What models add.
    /// `(tokens)`: rows of a table of weights.
    Embedding(MatrixId),
    /// `(x, [residual])`: products with matrices of weights.
    Products(Products),
    /// `(x [rows, heads, dim], positions [rows], frequencies [pairs])`.
    Rotary(Rotary),
    /// Which experts a row goes to.
    Route(Route),
    /// Products with the experts of each row.
    Experts(Experts),
    /// `(q, k, v, [sinks])`: attention over the paged cache, to which k and v are added first.
    Attend(Box<Attend>),
    /// A causal convolution over few tokens.
    ShortConv(ShortConv),
    /// The gated delta rule.
    GatedDelta(GatedDelta),
    /// A norm of each head, times the SiLU of a gate.
    GatedNorm(GatedNorm),
}

/// An operation's name, made where it is shown.
#[derive(Clone, Copy)]
pub struct OpName<'a>(&'a Op);

impl fmt::Display for OpName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let debug = match self.0 {
            Op::Unary(kind) => format!("{kind:?}"),
            Op::Binary(kind) => format!("{kind:?}"),
            Op::Reduce(kind, _) => format!("{kind:?}"),
            Op::ArgReduce(kind, _) => format!("Arg{kind:?}"),
            Op::Scan { kind, .. } => format!("Cum{kind:?}"),
            Op::LinearAlgebra(kind) => format!("{kind:?}"),
            op => format!("{op:?}"),
        };
        let name = debug.chars().take_while(|c| c.is_alphanumeric());
        for (place, c) in name.enumerate() {
            if c.is_uppercase() && place > 0 {
                f.write_char('_')?;
            }
            f.write_char(c.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

impl Op {
    /// Its name, for messages and tables: MLX's, in lower case with underscores.
    pub fn name(&self) -> OpName<'_> {
        OpName(self)
    }

    /// Whether the result depends on nothing but elements at the same place of the inputs.
    pub fn is_elementwise(&self) -> bool {
        matches!(
            self,
            Op::Unary(_) | Op::Binary(_) | Op::Select | Op::AsType | Op::ConvertFp8(_)
        )
    }

    /// Whether the result is the first input with a part replaced by what other inputs say, so that doing it once more
    /// changes nothing.
    pub fn replaces_a_part(&self) -> bool {
        use ScatterReduce::None;
        matches!(
            self,
            Op::SliceUpdate(_, None)
                | Op::DynamicSliceUpdate(_)
                | Op::Scatter(_, None)
                | Op::ScatterAxis(_, None)
        )
    }

    /// Whether the result may be another layout of the first input's elements.
    pub fn may_be_view(&self) -> bool {
        matches!(
            self,
            Op::Reshape
                | Op::Flatten
                | Op::Unflatten
                | Op::ExpandDims
                | Op::Squeeze
                | Op::Broadcast
                | Op::Transpose(_)
                | Op::Slice(_)
                | Op::Split { .. }
                | Op::AsStrided { .. }
                | Op::StopGradient
                | Op::Depends
        )
    }
}
