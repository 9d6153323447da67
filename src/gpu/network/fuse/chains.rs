//! Functions of each element become part of the product before them, or of the norm behind them.

use super::super::activations::{Activation, activations};
use super::super::steps::Step;
use super::Fuser;
use crate::ir::Layout;
use crate::step::{Argument, Call, Chain, Function, ItemSource};

/// All of a buffer.
fn whole(buffer: usize, count: usize) -> ItemSource {
    ItemSource {
        buffer,
        layout: Layout::rows(&[count]),
    }
}

impl Fuser<'_> {
    pub(super) fn chain(&mut self, chain: &Chain) {
        if self.join_scores(chain) {
            return;
        }
        let rest = self.join_product(&chain.calls, chain.count);
        let calls = rest.unwrap_or_else(|| chain.calls.clone());
        if calls.is_empty() {
            return;
        }
        let vectors = calls.iter().map(|call| {
            let [a, b] = &call.arguments;
            [a, b].map(|argument| match argument {
                Argument::Known(numbers) => Some(self.vector(numbers)),
                _ => None,
            })
        });
        let vectors = vectors.collect();
        let count = chain.count;
        self.plan.steps.push(Step::Chain {
            chain: Chain { calls, count },
            vectors,
        });
    }

    /// Makes a factor of all scores part of the product that they are.
    fn join_scores(&mut self, chain: &Chain) -> bool {
        let Some(Step::Scores { scale, out, .. }) = self.plan.steps.last_mut() else {
            return false;
        };
        let [call] = chain.calls.as_slice() else {
            return false;
        };
        let (Function::Multiply, Some(to)) = (call.function, call.out) else {
            return false;
        };
        let [Argument::Buffer(source, cycle), Argument::Number(factor)] = &call.arguments else {
            return false;
        };
        let is_all = *cycle == chain.count && source.layout.offset == 0;
        if source.buffer != *out || !is_all || self.readers[*out] != 1 {
            return false;
        }
        (*scale, *out) = (*factor, to);
        true
    }

    /// Makes the first calls of a chain part of the product before it; what is left of them.
    fn join_product(&mut self, calls: &[Call], count: usize) -> Option<Vec<Call>> {
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
    pub(super) fn sum_before(&mut self, x: &ItemSource) -> (ItemSource, Option<(usize, f32)>) {
        let plain = (x.clone(), None);
        let Some(Step::Chain { chain, .. }) = self.plan.steps.last() else {
            return plain;
        };
        let (calls, count) = (chain.calls.as_slice(), chain.count);
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
}
