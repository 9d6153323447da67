//! Operations that steps have a form of: products, convolutions, norms, attention, elements at known places.

use super::{Known, Planner, refused};
use crate::Result;
use crate::cpu::Elements;
use crate::ir::{Conv, Dtype, Layout, Node, NodeId, Op, Reduce, Value};
use crate::step::{AttentionSizes, ItemAttention, ItemSource, ItemWork};

impl Planner<'_> {
    /// A form of an f32 operation that programs have.
    pub(super) fn fast(&mut self, node: &Node) -> Result<Option<ItemWork>> {
        let inputs = node.inputs.as_slice();
        let sizes = |value: Value| self.graph.ty(value).shape.numbers().unwrap_or_default();
        Ok(match (&node.op, inputs) {
            (Op::Matmul, &[a, b]) => {
                let (Known::Elements(elements), &[inner, columns]) =
                    (self.known(b)?, sizes(b).as_slice())
                else {
                    return Ok(None);
                };
                let negative = elements.layout().strides.iter().any(|&stride| stride < 0);
                if negative || inner * columns == 0 {
                    return Ok(None);
                }
                let matrix = self.keep(elements.clone());
                Some(ItemWork::Product(self.rows(a)?, matrix))
            }
            (Op::Convolution(conv), &[x, w]) => {
                let result = node.outputs.first().and_then(|ty| ty.shape.numbers());
                self.convolution(conv, (x, w), &result.unwrap_or_default())?
            }
            (Op::LayerNorm { eps, .. }, &[x, weight, bias]) => {
                let vectors = (self.constant(weight), self.constant(bias));
                let (Some(weight), Some(bias)) = vectors else {
                    return Ok(None);
                };
                Some(ItemWork::LayerNorm(self.rows(x)?, [weight, bias], *eps))
            }
            (Op::Softmax { .. }, &[x]) => match sizes(x).last() {
                Some(&row) if row > 0 => Some(ItemWork::Softmax(self.rows(x)?, row)),
                _ => None,
            },
            (Op::Reduce(Reduce::Sum, axes), &[x]) => {
                // All axes but the last one, and others of size 1.
                let sizes = sizes(x);
                let columns = *sizes.last().unwrap_or(&0);
                let kept = (0..sizes.len()).filter(|axis| !axes.contains(axis));
                let kept: usize = kept.map(|axis| sizes[axis]).product();
                let last = sizes.len().checked_sub(1);
                let fits = last.is_some_and(|last| !axes.contains(&last)) && kept == columns;
                match fits && columns > 0 {
                    true => Some(ItemWork::Sums(self.rows(x)?)),
                    false => None,
                }
            }
            (op @ Op::ScaledDotProductAttention { .. }, &[q, k, v, ref mask @ ..]) => {
                let Some(of) = AttentionSizes::of(op, &sizes(q), &sizes(k), &sizes(v)) else {
                    return Ok(None);
                };
                // Queries' columns are neighbours; keys and values may lie in any way.
                let mut side = |value: Value| match self.known(value)? {
                    Known::Item(source) if source.layout.strides[3] == 1 => Ok(source.clone()),
                    _ => self.rows(value),
                };
                let sides = [side(q)?, side(k)?, side(v)?];
                let mask = match mask.first() {
                    Some(&mask) => Some(self.rows(mask)?),
                    None => None,
                };
                Some(ItemWork::Attention(Box::new(ItemAttention {
                    sizes: of,
                    sides,
                    mask,
                })))
            }
            _ => None,
        })
    }

    /// A convolution by a constant; one that looks at single places is a product.
    fn convolution(
        &mut self,
        conv: &Conv,
        (x, w): (Value, Value),
        result: &[usize],
    ) -> Result<Option<ItemWork>> {
        let Known::Elements(weights) = self.known(w)? else {
            return Ok(None);
        };
        let around = conv.low.iter().chain(&conv.high).all(|&n| n == 0);
        let single = around && conv.groups == 1 && conv.stride.iter().all(|&n| n == 1);
        let dilated = conv.input_dilation.iter().any(|&n| n != 1);
        let sizes = weights.layout().sizes.clone();
        if let &[outputs, 1, 1, inputs] = sizes.as_slice()
            && single
            && !dilated
            && inputs * outputs > 0
        {
            let rows = match weights.layout().is_rows() {
                true => weights.clone(),
                false => Elements::from_slice(&weights.to_vec::<f32>(), Dtype::F32, &sizes)?,
            };
            let turned = Layout {
                sizes: [inputs, outputs].into_iter().collect(),
                strides: [1, inputs as isize].into_iter().collect(),
                offset: rows.layout().offset,
            };
            let matrix = rows.with(Dtype::F32, turned)?;
            let matrix = self.keep(matrix);
            return Ok(Some(ItemWork::Product(self.rows(x)?, matrix)));
        }
        let weights = weights.clone();
        let weights = self.keep(weights);
        Ok(Some(ItemWork::Convolution {
            conv: conv.clone(),
            x: self.board(x)?,
            w: weights,
            sizes: result.into(),
        }))
    }

    /// As [`Planner::rows`], in a buffer that is nothing else.
    fn board(&mut self, value: Value) -> Result<ItemSource> {
        let source = self.rows(value)?;
        match self.items.buffers[source.buffer].count == source.layout.count() {
            true => Ok(source),
            false => Err(refused("a convolution of part of a buffer")),
        }
    }

    /// Elements of a row at places that are known.
    pub(super) fn take(&mut self, id: NodeId, node: &Node) -> Result<bool> {
        let (Op::Gather { axes, sizes }, &[x, index]) = (&node.op, node.inputs.as_slice()) else {
            return Ok(false);
        };
        let Known::Elements(places) = self.known(index)? else {
            return Ok(false);
        };
        let row = self.graph.ty(x).shape.numbers().unwrap_or_default();
        let (&[1, count], [1], [1, 1], Dtype::U32) = (
            row.as_slice(),
            axes.as_slice(),
            sizes.as_slice(),
            places.dtype(),
        ) else {
            return Ok(false);
        };
        let places = places.to_vec::<u32>();
        if places.iter().any(|&place| place as usize >= count) || self.graph.ty(x).dtype.size() != 4
        {
            return Ok(false);
        }
        let x = self.rows(x)?;
        self.push(id, ItemWork::Take(x, places))?;
        Ok(true)
    }

    /// The elements of a constant row after row.
    fn constant(&self, value: Value) -> Option<Vec<f32>> {
        match self.values.get(&value) {
            Some(Known::Elements(elements)) if elements.dtype() == Dtype::F32 => {
                Some(elements.to_vec())
            }
            _ => None,
        }
    }
}
