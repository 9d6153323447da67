//! Steps of a graph become those of a network: what follows a product becomes part of it, sums part of the norms of
//! them, products of the same rows that attention takes one product.

mod chains;
mod finer;
mod pairs;
mod sides;

use super::activations::Activation;
use super::steps::{Matrix, Norm, Origin, Plan, Product, Step, VectorId};
use super::{Constant, Precision, missing};
use crate::ir::{Layout, Op};
use crate::step::{ItemInput, ItemSource, ItemStep, ItemWork, Items, place_items};
use crate::{Error, Result};

/// Places of buffers and vectors begin at multiples of so many numbers.
pub const ALIGNED: usize = 8;

struct Fuser<'a> {
    constants: &'a [Constant<'a>],
    readers: Vec<usize>,
    plan: Plan,
}

/// The plan of a network.
///
/// # Errors
/// `Unsupported` for operations that networks have no form of; `Internal` for steps that do not fit together.
pub fn plan(items: &Items, constants: &[Constant<'_>], precision: Precision) -> Result<Plan> {
    let mut fuser = Fuser {
        constants,
        readers: items.readers(),
        plan: Plan {
            counts: items.buffers.iter().map(|buffer| buffer.count).collect(),
            inputs: items.inputs.clone(),
            outputs: items.outputs.clone(),
            ..Plan::default()
        },
    };
    for step in &items.steps {
        fuser.add(step)?;
    }
    fuser.merge_sides();
    let mut plan = fuser.plan;
    plan.steps.retain(|step| !step.is_nothing());
    plan.wide = vec![false; plan.counts.len()];
    if precision == Precision::F16 {
        finer::widen(&mut plan);
        finer::keep_low(&mut plan);
        pairs::join(&mut plan);
        let narrow = |step: &Step| matches!(step, Step::Scores { out, .. } if !plan.wide[*out]);
        if plan.steps.iter().any(narrow) {
            return Err(missing("a product of two results that layers read"));
        }
    }
    let touched = |step: &Step| [step.read(), step.written()].concat();
    let touched: Vec<Vec<usize>> = plan.steps.iter().map(touched).collect();
    let widths: Vec<usize> = plan
        .counts
        .iter()
        .zip(&plan.wide)
        .map(|(count, &wide)| (count * if wide { 2 } else { 1 }).next_multiple_of(ALIGNED))
        .collect();
    (plan.offsets, plan.width) = place_items(&touched, &widths, &plan.inputs, &plan.outputs);
    Ok(plan)
}

fn lost(what: &str) -> Error {
    Error::Internal(format!("a network with {what}"))
}

impl Fuser<'_> {
    fn constant(&self, number: usize) -> Result<Constant<'_>> {
        let constant = self.constants.get(number).copied();
        constant.ok_or_else(|| lost("a constant that is not there"))
    }

    fn vector(&mut self, numbers: &[f32]) -> VectorId {
        let vectors = &mut self.plan.vectors;
        vectors.resize(vectors.len().next_multiple_of(ALIGNED), 0.0);
        let first = vectors.len();
        vectors.extend(numbers);
        // Kernels read whole pieces.
        vectors.resize(vectors.len().next_multiple_of(ALIGNED), 0.0);
        VectorId {
            first,
            len: numbers.len(),
        }
    }

    fn matrix(&mut self, matrix: Matrix) -> usize {
        self.plan.matrices.push(matrix);
        self.plan.matrices.len() - 1
    }

    fn product(&mut self, x: &ItemSource, matrix: Matrix, out: usize) {
        let matrix = self.matrix(matrix);
        self.plan.steps.push(Step::Product(Product {
            x: x.clone(),
            matrix,
            bias: None,
            residual: None,
            activation: Activation::None,
            out,
        }));
    }

    fn add(&mut self, step: &ItemStep) -> Result<()> {
        let out = step.outputs.first().copied();
        let out_of = || out.ok_or_else(|| lost("a step without a result"));
        let step = match &step.work {
            ItemWork::Chain(chain) => {
                self.chain(chain);
                return Ok(());
            }
            ItemWork::Product(x, matrix) => {
                let &[inner, columns] = self.constant(*matrix)?.layout.sizes.as_slice() else {
                    return Err(lost("a product with no matrix"));
                };
                let matrix = Matrix {
                    parts: vec![*matrix],
                    inner,
                    taps: 1,
                    columns,
                };
                self.product(x, matrix, out_of()?);
                return Ok(());
            }
            ItemWork::Convolution { conv, x, w, .. } => {
                let w_sizes = self.constant(*w)?.layout.sizes.clone();
                let is = |numbers: &[usize]| numbers.iter().all(|&n| n == 1);
                let around = conv.low.iter().chain(&conv.high).all(|&n| n == 1);
                let plain =
                    is(&conv.stride) && is(&conv.kernel_dilation) && is(&conv.input_dilation);
                let (&[_, 8, 8, inner], &[columns, 3, 3, _]) =
                    (x.layout.sizes.as_slice(), w_sizes.as_slice())
                else {
                    return Err(missing("a convolution other than of 8×8 by 3×3"));
                };
                if !around || !plain || conv.groups != 1 || conv.flip {
                    return Err(missing("a convolution with strides, dilation or groups"));
                }
                let matrix = Matrix {
                    parts: vec![*w],
                    inner,
                    taps: 9,
                    columns,
                };
                self.product(x, matrix, out_of()?);
                return Ok(());
            }
            ItemWork::LayerNorm(x, [weight, bias], eps) => {
                let (weight, bias) = (self.vector(weight), self.vector(bias));
                let (x, beside) = self.sum_before(x);
                Step::Norm(Norm {
                    x,
                    beside,
                    weight,
                    bias,
                    eps: eps.get() as f32,
                    x_low: None,
                    out: out_of()?,
                    out_low: None,
                })
            }
            ItemWork::Copy(x) => Step::Copy {
                to: Layout::rows(&x.layout.sizes),
                from: Origin::Item(x.clone()),
                out: out_of()?,
            },
            ItemWork::Softmax(x, row) => Step::Softmax {
                x: x.clone(),
                row: *row,
                out: out_of()?,
            },
            ItemWork::Sums(x) => Step::Sums {
                x: x.clone(),
                columns: self.plan.counts[out_of()?],
                out: out_of()?,
            },
            ItemWork::Take(x, places) => {
                self.plan.places.push(places.clone());
                Step::Take {
                    x: x.clone(),
                    places: self.plan.places.len() - 1,
                    count: places.len(),
                    out: out_of()?,
                }
            }
            ItemWork::Attention(attention) => {
                let sizes = &attention.sizes;
                if sizes.rows > 64 || sizes.keys > 64 || sizes.heads % sizes.kv_heads != 0 {
                    return Err(missing("attention over more than 64 rows or keys"));
                }
                Step::Attention {
                    attention: attention.clone(),
                    rows_first: false,
                    out: out_of()?,
                }
            }
            ItemWork::Call(op, inputs, sizes) => {
                let sizes = sizes.first().cloned().unwrap_or_default();
                return self.call(op, inputs, &sizes, out_of()?);
            }
        };
        // A copy of attention's results turned over is where they are written at once.
        if let Step::Copy {
            from: Origin::Item(x),
            out,
            ..
        } = &step
            && let Some(Step::Attention {
                attention,
                rows_first,
                out: made,
            }) = self.plan.steps.last_mut()
            && x.buffer == *made
            && self.readers[*made] == 1
            && !*rows_first
        {
            let of = &attention.sizes;
            let turned = [of.rows, of.heads, of.width];
            let strides = [of.width, of.rows * of.width, 1].map(|n| n as isize);
            let is_turned = x
                .layout
                .sizes
                .iter()
                .filter(|&&size| size != 1)
                .eq(turned.iter().filter(|&&size| size != 1))
                && x.layout.sizes.len() == 4
                && x.layout.strides[1..] == strides
                && x.layout.offset == 0;
            if is_turned {
                (*rows_first, *made) = (true, *out);
                return Ok(());
            }
        }
        self.plan.steps.push(step);
        Ok(())
    }

    /// Operations without a form of their own among the steps.
    fn call(&mut self, op: &Op, inputs: &[ItemInput], sizes: &[usize], out: usize) -> Result<()> {
        match (op, inputs) {
            (Op::Matmul, [ItemInput::Item(a), ItemInput::Item(b)]) => {
                let (&[1, rows, cols], &[1, _, columns]) =
                    (a.layout.sizes.as_slice(), b.layout.sizes.as_slice())
                else {
                    return Err(missing("a product of these shapes"));
                };
                let turned = Layout {
                    sizes: [1, columns, cols].into_iter().collect(),
                    strides: [0, 2, 1]
                        .map(|axis| b.layout.strides[axis])
                        .into_iter()
                        .collect(),
                    offset: b.layout.offset,
                };
                if !a.layout.is_rows() || !turned.is_rows() {
                    return Err(missing("a product of matrices that lie another way"));
                }
                self.plan.steps.push(Step::Scores {
                    a: a.clone(),
                    b: ItemSource {
                        buffer: b.buffer,
                        layout: turned,
                    },
                    rows,
                    columns,
                    cols,
                    scale: 1.0,
                    out,
                });
            }
            (Op::Concatenate(axis), inputs) => {
                let strides = Layout::rows(sizes).strides;
                let mut offset = 0;
                for input in inputs {
                    let (from, sizes) = match input {
                        ItemInput::Item(source) => {
                            (Origin::Item(source.clone()), source.layout.sizes.clone())
                        }
                        ItemInput::Known(number) => {
                            let constant = self.constant(*number)?;
                            let sizes = constant.layout.sizes.clone();
                            let numbers = in_rows(constant)?;
                            (Origin::Vector(self.vector(&numbers)), sizes)
                        }
                    };
                    let along = sizes.get(*axis).copied().unwrap_or(0);
                    let to = Layout {
                        sizes,
                        strides: strides.clone(),
                        offset,
                    };
                    self.plan.steps.push(Step::Copy { from, to, out });
                    offset += along * strides.get(*axis).map_or(0, |s| s.unsigned_abs());
                }
            }
            _ => return Err(missing(op.name())),
        }
        Ok(())
    }
}

/// A constant's numbers row after row.
fn in_rows(constant: Constant<'_>) -> Result<Vec<f32>> {
    let layout = constant.layout;
    let count = layout.count();
    let numbers = match layout.is_rows() {
        true => constant.numbers.get(layout.offset..layout.offset + count),
        false => None,
    };
    numbers
        .map(<[f32]>::to_vec)
        .ok_or_else(|| missing("a constant of another dtype or in another order"))
}
