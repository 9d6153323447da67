//! Operations of a model by their plain forms, over the program's arena.

use super::arena::ArenaView;
use super::executor::wanted_rows;
use super::ops::{self, Out, View};
use crate::ir::{Input, Op, Symbol, Type};
use crate::step::{BufferId, Place, Slice, Source};
use crate::{Error, Result};
use smallvec::SmallVec;

/// Runs an operation on a batch. No worker runs meanwhile.
///
/// # Errors
/// Those of the operation.
pub fn run(
    op: &Op,
    inputs: &[Source],
    outputs: &[(BufferId, Type)],
    arena: &ArenaView<'_>,
    vectors: &[Vec<f32>],
    slices: &[Slice<'_>],
) -> Result<()> {
    // The arena is one of 32-bit words.
    if outputs.iter().any(|(_, ty)| ty.dtype.size() == 8) {
        let what = format!(
            "{}: a program has no place for elements of 64 bits",
            op.name()
        );
        return Err(Error::Unsupported(what));
    }
    let tokens = slices.iter().map(|slice| slice.tokens.len()).sum();
    let wanted = slices.iter().map(Slice::wanted_rows).sum();
    let sizes = |ty: &Type| -> Result<SmallVec<[usize; 4]>> {
        let bound = ty.shape.bind(&|symbol| match symbol {
            Symbol::Tokens => tokens,
            Symbol::Wanted => wanted,
        });
        bound
            .numbers()
            .ok_or_else(|| Error::Internal(format!("{}: a size is not known", op.name())))
    };
    let input_sizes = inputs.iter().map(|input| sizes(&input.ty));
    let input_sizes = input_sizes.collect::<Result<Vec<_>>>()?;
    let given: Vec<Vec<u32>> = inputs
        .iter()
        .map(|input| given(input.place, slices))
        .collect();
    let views = inputs.iter().zip(&input_sizes).zip(&given);
    let views = views.map(|((input, sizes), given)| {
        let bytes = sizes.iter().product::<usize>() * input.ty.dtype.size();
        let bytes = match input.place {
            // SAFETY: only this operation uses the arena now, and its results lie elsewhere.
            Place::Buffer(id) => unsafe { arena.bytes(id, bytes) },
            Place::Vector(id) => bytemuck::cast_slice(&vectors[id.0]),
            Place::Input(_) => bytemuck::cast_slice(given),
        };
        View::rows(bytes, input.ty.dtype, sizes)
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let output_sizes = outputs.iter().map(|(_, ty)| sizes(ty));
    let output_sizes = output_sizes.collect::<Result<Vec<_>>>()?;
    let outs = outputs.iter().zip(&output_sizes).map(|((id, ty), sizes)| {
        let bytes = sizes.iter().product::<usize>() * ty.dtype.size();
        // SAFETY: only this operation uses the arena now; the planner keeps results apart from each
        // other and from inputs.
        Out::new(unsafe { arena.bytes_mut(*id, bytes) }, ty.dtype, sizes)
    });
    let mut outs = outs.collect::<Result<Vec<_>>>()?;
    ops::run(op, &views, &mut outs)
}

/// What is given with the batch, as 32-bit numbers.
fn given(place: Place, slices: &[Slice<'_>]) -> Vec<u32> {
    match place {
        Place::Input(Input::Tokens) => {
            let tokens = slices.iter().flat_map(|slice| slice.tokens);
            tokens.copied().collect()
        }
        Place::Input(Input::Positions) => {
            let positions = |slice: &Slice<'_>| slice.start..slice.start + slice.tokens.len();
            let positions = slices.iter().flat_map(positions);
            positions.map(|position| position as u32).collect()
        }
        Place::Input(Input::Wanted) => wanted_rows(slices).map(|row| row as u32).collect(),
        Place::Buffer(_) | Place::Vector(_) => Vec::new(),
    }
}
