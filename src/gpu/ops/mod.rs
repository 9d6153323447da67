//! Operations of a graph as launches, one by one: what no rule has fused. f32, and 32-bit elements where
//! they are only moved.

mod elementwise;
mod layers;
mod moves;

use crate::gpu::{Args, DeviceBuffer};
use crate::ir::{Dtype, Op};
use crate::{Error, Result};

/// An array in device memory, row after row.
#[derive(Clone)]
pub struct Operand {
    pub buffer: DeviceBuffer,
    /// Bytes before the first element.
    pub offset: u64,
    pub dtype: Dtype,
    pub sizes: Vec<usize>,
}

impl Operand {
    /// Elements.
    pub fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        (self.count() * self.dtype.size()) as u64
    }
}

/// What a rotation needs beside its inputs: `[positions][pairs]` of (cos, sin).
#[derive(Clone)]
pub struct Angles {
    pub table: DeviceBuffer,
    pub positions: usize,
}

/// One launch.
pub struct Launch {
    pub kernel: &'static str,
    pub grid: [u32; 3],
    pub args: Args,
}

/// Threads of a block of all these kernels.
pub const THREADS: u32 = 256;

/// The launch of an operation; none where there is nothing to do.
///
/// # Errors
/// `Unsupported` naming the operation if GPUs have no form of it.
pub fn launch(
    op: &Op,
    inputs: &[Operand],
    out: &Operand,
    angles: Option<&Angles>,
) -> Result<Option<Launch>> {
    let types = || inputs.iter().map(|input| input.dtype);
    if !is_supported(op, types(), out.dtype) {
        return Err(missing(op));
    }
    if out.count() == 0 {
        return Ok(None);
    }
    let launch = match op {
        Op::Unary(_) | Op::Binary(_) | Op::AsType => elementwise::launch(op, inputs, out),
        Op::RmsNorm(_) | Op::LayerNorm { .. } | Op::Rotary(_) => {
            layers::launch(op, inputs, out, angles)
        }
        _ => moves::launch(op, inputs, out),
    };
    launch.map(Some)
}

/// Whether GPUs have a form of an operation over these dtypes.
pub fn is_supported(op: &Op, inputs: impl IntoIterator<Item = Dtype>, out: Dtype) -> bool {
    let inputs: Vec<Dtype> = inputs.into_iter().collect();
    let all = |dtype: Dtype| inputs.iter().chain([&out]).all(|other| *other == dtype);
    match op {
        Op::Unary(function) => elementwise::unary_number(*function).is_some() && all(Dtype::F32),
        Op::Binary(function) => elementwise::binary_number(*function).is_some() && all(Dtype::F32),
        Op::AsType => inputs == [Dtype::I32] && out == Dtype::F32,
        Op::RmsNorm(_) | Op::LayerNorm { .. } => all(Dtype::F32),
        Op::Concatenate(_) => inputs.len() == 2 && out.size() == 4,
        Op::Arange { .. } => out == Dtype::U32,
        Op::Rotary(_) => out == Dtype::F32,
        Op::Gather { .. } => out.size() == 4,
        op => moves::is_move(op) && out.size() == 4,
    }
}

/// The refusal of an operation.
pub fn missing(op: &Op) -> Error {
    Error::Unsupported(format!(
        "{}: GPUs have no form of this operation; use the CPU",
        op.name()
    ))
}

/// The input at `place`.
fn input<'a>(op: &Op, inputs: &'a [Operand], place: usize) -> Result<&'a Operand> {
    inputs
        .get(place)
        .ok_or_else(|| Error::Internal(format!("{} without input {place}", op.name())))
}

/// A count as kernels take it.
fn number(op: &Op, count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| {
        Error::Unsupported(format!(
            "{}: {count} elements are more than GPUs take at once",
            op.name()
        ))
    })
}
