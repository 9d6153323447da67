//! A graph of one item (a position, an image) as steps that run for any number of items at once: each item is
//! computed as if it were alone. Constants are named by their number; devices pack them as they need them.

use super::lives::place;
use crate::ir::{Conv, Dtype, Layout, Number, Op};
use smallvec::SmallVec;

/// Elements of the buffer of a result.
#[derive(Debug, Clone, Copy)]
pub struct ItemBuffer {
    /// Theirs.
    pub dtype: Dtype,
    /// Elements of an item.
    pub count: usize,
    /// Before it, in numbers of an item; set by [`Items::place`].
    pub offset: usize,
}

/// Elements of an item in a buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemSource {
    /// Which.
    pub buffer: usize,
    /// Where in an item's part of it.
    pub layout: Layout,
}

/// What an operation takes.
#[derive(Debug, Clone)]
pub enum ItemInput {
    /// A constant.
    Known(usize),
    /// Each item's own.
    Item(ItemSource),
}

/// A function of one element or of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// `a + b`.
    Add,
    /// `a − b`.
    Subtract,
    /// `a · b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// The larger; NaN if either is.
    Maximum,
    /// The smaller; NaN if either is.
    Minimum,
    /// `e^a`.
    Exp,
    /// `e^a − 1`.
    Expm1,
    /// `−a`.
    Negative,
    /// `1 / (1 + e^−a)`.
    Sigmoid,
    /// `a · a`.
    Square,
    /// The hyperbolic tangent.
    Tanh,
}

/// What a function of a chain takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A number.
    Number(f32),
    /// Numbers that are known; their count is the cycle.
    Known(Vec<f32>),
    /// Numbers of a buffer, so many of them again and again.
    Buffer(ItemSource, usize),
    /// The result of an earlier function.
    Made(usize),
}

/// A function of a chain.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which.
    pub function: Function,
    /// Its arguments; functions of one element do not look at the second.
    pub arguments: [Argument; 2],
    /// The buffer of its result, unless only the chain reads it.
    pub out: Option<usize>,
}

/// Functions of each element that follow each other.
#[derive(Debug, Clone)]
pub struct Chain {
    /// In order.
    pub calls: Vec<Call>,
    /// Elements of an item.
    pub count: usize,
}

/// The sizes of attention: queries `[heads, rows, dim]`, keys `[kv heads, keys, dim]`, values
/// `[kv heads, keys, width]`.
#[derive(Debug, Clone, Copy)]
pub struct AttentionSizes {
    /// Of queries and results.
    pub heads: usize,
    /// Of keys and values.
    pub kv_heads: usize,
    /// Queries.
    pub rows: usize,
    /// Keys.
    pub keys: usize,
    /// Of a query.
    pub dim: usize,
    /// Of a value.
    pub width: usize,
    /// What scores are multiplied with.
    pub scale: f32,
}

impl AttentionSizes {
    /// The sizes, if this is attention without causality and sinks.
    pub fn of(op: &Op, q: &[usize], k: &[usize], v: &[usize]) -> Option<AttentionSizes> {
        let Op::ScaledDotProductAttention {
            scale,
            causal: false,
            sinks: false,
            ..
        } = op
        else {
            return None;
        };
        let (&[_, heads, rows, dim], &[_, kv_heads, keys, _], &[.., width]) = (q, k, v) else {
            return None;
        };
        (heads * rows * dim * kv_heads * keys * width > 0).then_some(AttentionSizes {
            heads,
            kv_heads,
            rows,
            keys,
            dim,
            width,
            scale: scale.get() as f32,
        })
    }
}

/// Attention over the values of an item.
#[derive(Debug, Clone)]
pub struct ItemAttention {
    /// Its sizes.
    pub sizes: AttentionSizes,
    /// Queries, keys, values.
    pub sides: [ItemSource; 3],
    /// What is added to the scores, row after row.
    pub mask: Option<ItemSource>,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum ItemWork {
    /// Functions of each element.
    Chain(Chain),
    /// Row after row.
    Copy(ItemSource),
    /// Rows times a constant, `[inner, columns]`.
    Product(ItemSource, usize),
    /// A convolution of `[1, …, in]` by a constant `[out, …, in]`.
    Convolution {
        /// Which.
        conv: Conv,
        /// Alone in its buffer.
        x: ItemSource,
        /// The constant.
        w: usize,
        /// Of the result.
        sizes: SmallVec<[usize; 4]>,
    },
    /// Rows, normalized: weight, bias and ε.
    LayerNorm(ItemSource, [Vec<f32>; 2], Number),
    /// The softmax of rows of this size.
    Softmax(ItemSource, usize),
    /// The sums of columns.
    Sums(ItemSource),
    /// Elements at places.
    Take(ItemSource, Vec<u32>),
    /// Without causality and sinks.
    Attention(Box<ItemAttention>),
    /// Any other operation, item by item, and the sizes of its results.
    Call(Op, Vec<ItemInput>, Vec<SmallVec<[usize; 4]>>),
}

/// A step and the buffers of its results. Those of chains are named by their calls.
#[derive(Debug, Clone)]
pub struct ItemStep {
    /// What it does.
    pub work: ItemWork,
    /// Where its results go.
    pub outputs: Vec<usize>,
}

/// The steps of a graph of one item.
#[derive(Debug, Clone, Default)]
pub struct Items {
    /// In order.
    pub steps: Vec<ItemStep>,
    /// Of all results.
    pub buffers: Vec<ItemBuffer>,
    /// Numbers of an item's arena.
    pub width: usize,
    /// The buffers of what is given.
    pub inputs: Vec<usize>,
    /// The buffers of what is asked for.
    pub outputs: Vec<usize>,
}

impl Chain {
    /// The buffers that it reads.
    pub fn read(&self) -> Vec<usize> {
        let arguments = self.calls.iter().flat_map(|call| &call.arguments);
        let read = arguments.filter_map(|argument| match argument {
            Argument::Buffer(source, _) => Some(source.buffer),
            _ => None,
        });
        let mut read: Vec<usize> = read.collect();
        read.sort_unstable();
        read.dedup();
        read
    }
}

impl ItemStep {
    /// The buffers that it reads, each once.
    pub fn read(&self) -> Vec<usize> {
        let mut read: Vec<usize> = match &self.work {
            ItemWork::Chain(chain) => return chain.read(),
            ItemWork::Copy(x)
            | ItemWork::Product(x, _)
            | ItemWork::Convolution { x, .. }
            | ItemWork::LayerNorm(x, ..)
            | ItemWork::Softmax(x, _)
            | ItemWork::Sums(x)
            | ItemWork::Take(x, _) => vec![x.buffer],
            ItemWork::Attention(of) => {
                let sources = of.sides.iter().chain(&of.mask);
                sources.map(|source| source.buffer).collect()
            }
            ItemWork::Call(_, inputs, _) => {
                let items = inputs.iter().filter_map(|x| match x {
                    ItemInput::Item(source) => Some(source.buffer),
                    ItemInput::Known(_) => None,
                });
                items.collect()
            }
        };
        read.sort_unstable();
        read.dedup();
        read
    }

    /// The buffers that it writes.
    pub fn written(&self) -> Vec<usize> {
        match &self.work {
            ItemWork::Chain(chain) => chain.calls.iter().filter_map(|call| call.out).collect(),
            _ => self.outputs.clone(),
        }
    }
}

impl Items {
    /// How many steps read each buffer; a result that is asked for counts as one.
    pub fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.buffers.len()];
        let read = self.steps.iter().flat_map(ItemStep::read);
        read.chain(self.outputs.iter().copied())
            .for_each(|buffer| readers[buffer] += 1);
        readers
    }

    /// Results of chains that nobody but their chain reads get no buffer.
    pub fn drop_inner_results(&mut self) {
        let readers = self.readers();
        for step in &mut self.steps {
            if let ItemWork::Chain(chain) = &mut step.work {
                for call in &mut chain.calls {
                    call.out = call.out.filter(|&buffer| readers[buffer] > 0);
                }
            }
        }
    }

    /// Gives every buffer that is used its place.
    pub fn place(&mut self) {
        let touched = |step: &ItemStep| [step.read(), step.written()].concat();
        let touched = self.steps.iter().map(touched).collect::<Vec<_>>();
        let widths: Vec<usize> = self.buffers.iter().map(|buffer| buffer.count).collect();
        let (offsets, width) = place_items(&touched, &widths, &self.inputs, &self.outputs);
        for (buffer, offset) in self.buffers.iter_mut().zip(offsets) {
            buffer.offset = offset;
        }
        self.width = width;
    }
}

/// The offsets of buffers of these widths and the arena's size, by the buffers that each step touches. Inputs are
/// there from the start, outputs until the end.
pub fn place_items(
    touched: &[Vec<usize>],
    widths: &[usize],
    inputs: &[usize],
    outputs: &[usize],
) -> (Vec<usize>, usize) {
    let mut lives = vec![None; widths.len()];
    let mut touch = |buffer: usize, step: usize| {
        let life: &mut Option<(usize, usize)> = &mut lives[buffer];
        *life = Some((life.map_or(step, |life| life.0), step));
    };
    inputs.iter().for_each(|&input| touch(input, 0));
    for (at, step) in touched.iter().enumerate() {
        step.iter().for_each(|&buffer| touch(buffer, at));
    }
    outputs
        .iter()
        .for_each(|&output| touch(output, touched.len()));
    place(&lives, widths)
}
