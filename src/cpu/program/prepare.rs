//! Steps become a program: constants are packed.

use super::chain::Chain;
use super::{Input, Program, Step, Work};
use crate::cpu::elements::Elements;
use crate::cpu::products::Panels;
use crate::cpu::winograd::Winograd;
use crate::ir::{Conv, Op};
use crate::step::{ItemInput, ItemSource, ItemWork, Items};
use crate::{Error, Result};
use smallvec::SmallVec;

impl Program {
    /// Of the steps of a graph and its constants.
    ///
    /// # Errors
    /// `Internal` if a step names what is not there.
    pub fn new(items: Items, constants: &[Elements]) -> Result<Program> {
        let Items {
            steps,
            buffers,
            width,
            inputs,
            outputs,
        } = items;
        let constant = |number: usize| {
            let constant = constants.get(number);
            constant.ok_or_else(|| Error::Internal("a program without one of its constants".into()))
        };
        let prepare = |work: ItemWork| {
            Ok(match work {
                ItemWork::Chain(chain) => Work::Chain(Chain::new(&chain)),
                ItemWork::Copy(x) => Work::Copy(x),
                ItemWork::Product(x, matrix) => Work::Product(x, panels(constant(matrix)?)?),
                ItemWork::Convolution { conv, x, w, sizes } => {
                    convolution(conv, x, constant(w)?, sizes)
                }
                ItemWork::LayerNorm(x, vectors, eps) => {
                    Work::LayerNorm(x, vectors, eps.get() as f32)
                }
                ItemWork::Softmax(x, row) => Work::Softmax(x, row),
                ItemWork::Sums(x) => Work::Sums(x),
                ItemWork::Take(x, places) => Work::Take(x, places),
                ItemWork::Attention(attention) => Work::Attention(attention),
                ItemWork::Call(op, inputs, sizes) => {
                    let inputs = inputs.into_iter().map(|input| match input {
                        ItemInput::Known(number) => constant(number).cloned().map(Input::Known),
                        ItemInput::Item(source) => Ok(Input::Item(source)),
                    });
                    Work::Call(op, inputs.collect::<Result<_>>()?, sizes)
                }
            })
        };
        let steps = steps.into_iter().map(|step| {
            Ok(Step {
                work: prepare(step.work)?,
                outputs: step.outputs,
            })
        });
        Ok(Program {
            steps: steps.collect::<Result<_>>()?,
            buffers,
            width,
            inputs,
            outputs,
        })
    }
}

/// A matrix `[inner, columns]`, packed.
fn panels(matrix: &Elements) -> Result<Panels> {
    let layout = matrix.layout();
    let (&[inner, columns], &[k, n]) = (layout.sizes.as_slice(), layout.strides.as_slice()) else {
        return Err(Error::Internal("a product with no matrix".into()));
    };
    let numbers = bytemuck::try_cast_slice(matrix.bytes()).ok();
    let numbers = numbers.and_then(|numbers: &[f32]| numbers.get(layout.offset..));
    let numbers = numbers.ok_or_else(|| Error::Internal("a matrix without numbers".into()))?;
    Ok(Panels::pack(
        numbers,
        inner,
        columns,
        (k.unsigned_abs(), n.unsigned_abs()),
    ))
}

/// A convolution of boards by its fast form, any other as arrays compute it.
fn convolution(conv: Conv, x: ItemSource, w: &Elements, result: SmallVec<[usize; 4]>) -> Work {
    let sizes = &w.layout().sizes;
    match Winograd::prepare(&conv, &x.layout.sizes, sizes, &w.to_vec::<f32>()) {
        Some(winograd) => Work::Winograd(x, winograd),
        None => {
            let inputs = vec![Input::Item(x), Input::Known(w.clone())];
            Work::Call(Op::Convolution(Box::new(conv)), inputs, vec![result])
        }
    }
}
