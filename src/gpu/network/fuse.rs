//! Steps of a graph become those of a network: what follows a product becomes part of it, sums part of the norms of
//! them, products of the same rows that attention takes one product.

use super::activations::{Activation, activations};
use super::steps::{Matrix, Norm, Origin, Plan, Product, Step, VectorId};
use super::{Constant, missing};
use crate::ir::{Layout, Op, Unary};
use crate::step::{
    Argument, Call, Function, ItemInput, ItemSource, ItemStep, ItemWork, Items, place_items,
};
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
pub fn plan(items: &Items, constants: &[Constant<'_>]) -> Result<Plan> {
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
    let touched = |step: &Step| [step.read(), step.written()].concat();
    let touched: Vec<Vec<usize>> = plan.steps.iter().map(touched).collect();
    let widths: Vec<usize> = plan
        .counts
        .iter()
        .map(|count| count.next_multiple_of(ALIGNED))
        .collect();
    (plan.offsets, plan.width) = place_items(&touched, &widths, &plan.inputs, &plan.outputs);
    Ok(plan)
}

fn lost(what: &str) -> Error {
    Error::Internal(format!("a network with {what}"))
}

/// All of a buffer.
fn whole(buffer: usize, count: usize) -> ItemSource {
    ItemSource {
        buffer,
        layout: Layout::rows(&[count]),
    }
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
            ItemWork::Chain(chain) => return self.chain(&chain.calls, chain.count),
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
                    out: out_of()?,
                })
            }
            ItemWork::Copy(x) => Step::Copy {
                sizes: x.layout.sizes.clone(),
                strides: Layout::rows(&x.layout.sizes).strides,
                from: Origin::Item(x.clone()),
                out: out_of()?,
                first: 0,
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
            (Op::Unary(Unary::Tanh), [ItemInput::Item(x)]) if x.layout.is_rows() => {
                let x = x.clone();
                self.plan.steps.push(Step::Tanh { x, out });
            }
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
                    out,
                });
            }
            (Op::Concatenate(axis), inputs) => {
                let strides = Layout::rows(sizes).strides;
                let mut first = 0;
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
                    self.plan.steps.push(Step::Copy {
                        from,
                        sizes,
                        out,
                        strides: strides.clone(),
                        first,
                    });
                    first += along * strides.get(*axis).map_or(0, |s| s.unsigned_abs());
                }
            }
            _ => return Err(missing(&op.name())),
        }
        Ok(())
    }

    fn chain(&mut self, calls: &[Call], count: usize) -> Result<()> {
        let rest = self.into_product(calls, count);
        let calls = rest.as_deref().unwrap_or(calls);
        if calls.is_empty() {
            return Ok(());
        }
        let vectors = calls.iter().map(|call| {
            let [a, b] = &call.arguments;
            [a, b].map(|argument| match argument {
                Argument::Known(numbers) => Some(self.vector(numbers)),
                _ => None,
            })
        });
        let vectors = vectors.collect();
        self.plan.steps.push(Step::Chain {
            calls: calls.to_vec(),
            count,
            vectors,
        });
        Ok(())
    }

    /// Makes the first calls of a chain part of the product before it; what is left of them.
    fn into_product(&mut self, calls: &[Call], count: usize) -> Option<Vec<Call>> {
        let Some(Step::Product(product)) = self.plan.steps.last() else {
            return None;
        };
        let (made, columns) = (product.out, self.plan.matrices.get(product.matrix)?.columns);
        let fresh = product.bias.is_none() && product.activation == Activation::None;
        if !fresh || self.readers[made] != 1 || self.plan.counts[made] != count {
            return None;
        }
        let is_whole = |argument: &Argument, buffer: Option<usize>| match argument {
            Argument::Buffer(source, cycle) => {
                *cycle == count
                    && source.layout.offset == 0
                    && buffer.is_none_or(|buffer| buffer == source.buffer)
            }
            _ => false,
        };
        let first = calls.first()?;
        let [a, b] = &first.arguments;
        let (sum, bias) = match b {
            Argument::Known(_) => (a, b),
            _ => (b, a),
        };
        let Argument::Known(bias) = bias else {
            return None;
        };
        let reads_it_again = calls[1..].iter().flat_map(|call| &call.arguments).any(
            |argument| matches!(argument, Argument::Buffer(source, _) if source.buffer == made),
        );
        if first.function != Function::Add
            || !is_whole(sum, Some(made))
            || bias.len() != columns
            || reads_it_again
        {
            return None;
        }
        // Calls up to here may go if nothing behind asks for more than the last one's result.
        let closed = |last: usize| {
            let inner = calls[..last].iter().all(|call| call.out.is_none());
            let asked = calls[last + 1..].iter().flat_map(|call| &call.arguments);
            inner
                && asked
                    .into_iter()
                    .all(|argument| !matches!(argument, Argument::Made(n) if *n < last))
        };
        let (mut last, mut residual, mut activation) = (0, None, Activation::None);
        if let Some(Call {
            function: Function::Add,
            arguments: [a, b],
            ..
        }) = calls.get(1)
        {
            let other = match (a, b) {
                (Argument::Made(0), other) | (other, Argument::Made(0)) => Some(other),
                _ => None,
            };
            if let Some(Argument::Buffer(source, _)) = other.filter(|other| is_whole(other, None))
                && closed(1)
            {
                (last, residual) = (1, Some(source.buffer));
            }
        }
        let found = activations(calls, last + 1, last).into_iter();
        if let Some((found, len)) = found.into_iter().find(|(_, len)| closed(last + len)) {
            (last, activation) = (last + len, found);
        }
        let bias = bias.clone();
        let bias = self.vector(&bias);
        let out = calls[last].out.unwrap_or(made);
        if let Some(Step::Product(product)) = self.plan.steps.last_mut() {
            product.bias = Some(bias);
            product.residual = residual;
            product.activation = activation;
            product.out = out;
        }
        let result = whole(out, count);
        let rest = calls[last + 1..].iter().map(|call| {
            let mut call = call.clone();
            for argument in &mut call.arguments {
                match argument {
                    Argument::Made(n) if *n == last => {
                        *argument = Argument::Buffer(result.clone(), count);
                    }
                    Argument::Made(n) => *n -= last + 1,
                    _ => {}
                }
            }
            call
        });
        Some(rest.collect())
    }

    /// If x is nothing but `a + b` or `a + b · number`: a, and b with its factor.
    fn sum_before(&mut self, x: &ItemSource) -> (ItemSource, Option<(usize, f32)>) {
        let plain = (x.clone(), None);
        let Some(Step::Chain { calls, count, .. }) = self.plan.steps.last() else {
            return plain;
        };
        let (calls, count) = (calls.as_slice(), *count);
        let whole_buffer = |argument: &Argument| match argument {
            Argument::Buffer(source, cycle) if *cycle == count && source.layout.offset == 0 => {
                (self.plan.counts[source.buffer] == count).then_some(source.buffer)
            }
            _ => None,
        };
        let (factor, sum) = match calls {
            [sum] => (None, sum),
            [factor, sum] if factor.out.is_none() && factor.function == Function::Multiply => {
                (Some(factor), sum)
            }
            _ => return plain,
        };
        let is_x = sum.out == Some(x.buffer) && self.readers[x.buffer] == 1;
        if sum.function != Function::Add || !is_x || self.plan.counts[x.buffer] != count {
            return plain;
        }
        let [a, b] = &sum.arguments;
        let found = match factor {
            None => whole_buffer(a)
                .zip(whole_buffer(b))
                .map(|(a, b)| (a, b, 1.0)),
            Some(factor) => {
                let a = match (a, b) {
                    (a, Argument::Made(0)) | (Argument::Made(0), a) => whole_buffer(a),
                    _ => None,
                };
                let scaled = match &factor.arguments {
                    [b, Argument::Number(number)] | [Argument::Number(number), b] => {
                        whole_buffer(b).map(|b| (b, *number))
                    }
                    _ => None,
                };
                a.zip(scaled).map(|(a, (b, number))| (a, b, number))
            }
        };
        let Some((a, b, number)) = found else {
            return plain;
        };
        self.plan.steps.pop();
        let x = ItemSource {
            buffer: a,
            layout: x.layout.clone(),
        };
        (x, Some((b, number)))
    }

    /// Products of the same rows whose results only one attention takes become one.
    fn merge_sides(&mut self) {
        for at in 0..self.plan.steps.len() {
            let Some(Step::Attention { attention, .. }) = self.plan.steps.get(at) else {
                continue;
            };
            let buffers = attention.sides.each_ref().map(|side| side.buffer);
            let made = buffers.map(|buffer| {
                self.plan.steps.iter().position(|step| match step {
                    Step::Product(product) => product.out == buffer,
                    _ => false,
                })
            });
            if let [Some(q), Some(k), Some(v)] = made {
                self.merge(at, [q, k, v]);
            }
        }
    }

    fn merge(&mut self, attention: usize, made: [usize; 3]) {
        let mut products = Vec::new();
        for at in made {
            match self.plan.steps.get(at) {
                Some(Step::Product(product)) => products.push(product.clone()),
                _ => return,
            }
        }
        let alike = |product: &Product| {
            product.x == products[0].x
                && product.bias.is_some() == products[0].bias.is_some()
                && product.residual.is_none()
                && product.activation == Activation::None
                && self.readers[product.out] == 1
                && self.plan.matrices[product.matrix].taps == 1
        };
        let Some(Step::Attention { attention: of, .. }) = self.plan.steps.get(attention) else {
            return;
        };
        let columns: Vec<usize> = products
            .iter()
            .map(|product| self.plan.matrices[product.matrix].columns)
            .collect();
        let by_rows = of.sides.iter().zip(&columns).all(|(side, &columns)| {
            side.layout.strides.get(2) == Some(&(columns as isize)) && side.layout.offset < columns
        });
        let distinct = made[0] != made[1] && made[1] != made[2] && made[0] != made[2];
        if !products.iter().all(alike) || !by_rows || !distinct {
            return;
        }
        let total: usize = columns.iter().sum();
        let rows = self.plan.counts[products[0].out] / columns[0];
        let parts = products
            .iter()
            .flat_map(|product| self.plan.matrices[product.matrix].parts.clone());
        let matrix = Matrix {
            parts: parts.collect(),
            inner: self.plan.matrices[products[0].matrix].inner,
            taps: 1,
            columns: total,
        };
        let bias: Option<Vec<f32>> = products
            .iter()
            .map(|product| product.bias)
            .map(|bias| bias.map(|of| self.plan.vectors[of.first..of.first + of.len].to_vec()))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.concat());
        let bias = bias.map(|bias| self.vector(&bias));
        let matrix = self.matrix(matrix);
        self.plan.counts.push(rows * total);
        self.readers.push(1);
        let out = self.plan.counts.len() - 1;
        let first = made.iter().copied().min().unwrap_or_default();
        let merged = Product {
            matrix,
            bias,
            out,
            ..products[0].clone()
        };
        if let Some(Step::Attention { attention: of, .. }) = self.plan.steps.get_mut(attention) {
            let mut before = 0;
            for (side, columns) in of.sides.iter_mut().zip(&columns) {
                side.buffer = out;
                side.layout.offset += before;
                side.layout.strides[2] = total as isize;
                before += columns;
            }
        }
        // Places of the others stay, so that those found before still hold.
        for at in made {
            self.plan.steps[at] = match at == first {
                true => Step::Product(merged.clone()),
                false => Step::nothing(),
            };
        }
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
