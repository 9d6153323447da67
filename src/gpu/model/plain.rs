//! Records operations that no rule has fused.

use super::experts;
use super::inputs::Bucket;
use super::record::Recorder;
use super::recurrent;
use super::route;
use crate::gpu::Range;
use crate::gpu::ops::{self, Angles, Operand, THREADS};
use crate::ir::{Dtype, Input, Op, Symbol, Turn, Type};
use crate::step::{BufferId, Place, Rows, Schedule, Source, Step};
use crate::{Error, Result};

/// Why GPUs cannot run a model, if they cannot.
pub fn refusal(schedule: &Schedule) -> Option<Error> {
    schedule.steps.iter().find_map(refusal_of_step)
}

fn refusal_of_step(step: &Step) -> Option<Error> {
    match step {
        Step::Plain {
            op: Op::Route(route),
            inputs,
            ..
        } => route::refusal(*route, inputs),
        Step::Plain {
            op,
            inputs,
            outputs,
        } => {
            let types = inputs.iter().map(|input| input.ty.dtype);
            let supported = match outputs.as_slice() {
                [(_, ty)] => ops::is_supported(op, types, ty.dtype),
                _ => false,
            };
            (!supported).then(|| ops::missing(op))
        }
        Step::Experts(step) => experts::refusal(step),
        Step::GatedDelta(step) => recurrent::refusal(step),
        _ => None,
    }
}

impl Recorder<'_> {
    /// Records an operation by its plain form.
    pub(super) fn plain(
        &mut self,
        op: &Op,
        inputs: &[Source],
        outputs: &[(BufferId, Type)],
    ) -> Result<()> {
        if let Op::Route(route) = op {
            return self.route(*route, inputs, outputs);
        }
        let [(out, ty)] = outputs else {
            return Err(ops::missing(op));
        };
        let operands = inputs.iter().map(|input| self.operand_of(input));
        let operands = operands.collect::<Result<Vec<Operand>>>()?;
        let out = Operand {
            buffer: self.memory.arena.clone(),
            offset: self.at(*out, 0),
            dtype: ty.dtype,
            sizes: sizes(self.bucket, ty)?,
        };
        let angles = self.angles(op, inputs);
        self.one(op, &operands, &out, angles.as_ref())
    }

    /// Copies logits that are no product to their place.
    pub(super) fn copy_logits(&mut self, x: BufferId) -> Result<()> {
        let sizes = match self.schedule.buffers[x.0].rows {
            Rows::Wanted => vec![self.bucket.wanted, self.schedule.vocab_size],
            _ => {
                return Err(Error::Internal(
                    "logits of other rows than the wanted".into(),
                ));
            }
        };
        let from = Operand {
            buffer: self.memory.arena.clone(),
            offset: self.at(x, 0),
            dtype: Dtype::F32,
            sizes,
        };
        let to = Operand {
            buffer: self.memory.logits.clone(),
            offset: 0,
            ..from.clone()
        };
        self.one(&Op::Copy, &[from], &to, None)
    }

    fn one(
        &mut self,
        op: &Op,
        inputs: &[Operand],
        out: &Operand,
        angles: Option<&Angles>,
    ) -> Result<()> {
        let Some(launch) = ops::launch(op, inputs, out, angles)? else {
            return Ok(());
        };
        let range = |operand: &Operand| operand.buffer.range(operand.offset, operand.bytes());
        let reads: Vec<Range> = inputs.iter().map(range).collect();
        let (kernel, args) = (launch.kernel, launch.args);
        self.launch(kernel, launch.grid, THREADS, 0, args, &reads, &[range(out)])
    }

    pub(super) fn operand_of(&self, source: &Source) -> Result<Operand> {
        let places = self.places();
        let byte = |place: usize| (place * 4) as u64;
        let (buffer, offset) = match source.place {
            Place::Buffer(id) => (&self.memory.arena, self.at(id, 0)),
            Place::Input(Input::Tokens) => (self.inputs, byte(places.tokens)),
            Place::Input(Input::Positions) => (self.inputs, byte(places.positions)),
            Place::Input(Input::Wanted) => (self.inputs, byte(places.wanted)),
            Place::Vector(id) => {
                let vector = self.weights.vectors.get(id.0);
                let missing = || Error::Internal("a vector of the model is missing".into());
                (vector.ok_or_else(missing)?, 0)
            }
        };
        Ok(Operand {
            buffer: buffer.clone(),
            offset,
            dtype: source.ty.dtype,
            sizes: sizes(self.bucket, &source.ty)?,
        })
    }

    /// The table of a rotation.
    fn angles(&self, op: &Op, inputs: &[Source]) -> Option<Angles> {
        let (Op::Rotary(rotary), Some(Place::Vector(frequencies))) =
            (op, inputs.get(2).map(|input| input.place))
        else {
            return None;
        };
        let turn = Turn {
            frequencies,
            rotary: *rotary,
        };
        let rope = self
            .schedule
            .turns
            .iter()
            .position(|other| *other == turn)?;
        let table = self.memory.ropes.get(rope)?.clone();
        let pairs = self.schedule.ropes.get(rope)?.inv_freq.len();
        let positions = table.len() as usize / (8 * pairs.max(1));
        Some(Angles { table, positions })
    }
}

/// A type's sizes in a bucket.
fn sizes(bucket: Bucket, ty: &Type) -> Result<Vec<usize>> {
    let bound = ty.shape.bind(&|symbol| match symbol {
        Symbol::Tokens => bucket.rows,
        Symbol::Wanted => bucket.wanted,
    });
    let numbers = bound.numbers().map(|numbers| numbers.to_vec());
    numbers.ok_or_else(|| Error::Internal(format!("a size of {} is not known", ty.shape)))
}
