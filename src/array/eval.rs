//! Eval: what arrays wait for is computed.

use super::Array;
use super::collect::{Calls, Collected, collect};
use super::follow::Found;
use super::home::{Data, Home};
use super::plans;
use super::settle::settle;
use crate::cpu::{self, Elements, Program};
use crate::gpu::arrays::{self, Joined, Place};
use crate::gpu::network::{Constant, Network, Precision};
use crate::gpu::{DeviceBuffer, Stream};
use crate::ir::{Dtype, Node, Op};
use crate::log::{self, Level};
use crate::plan::items;
use crate::{Error, Result};
use std::sync::Arc;

/// Computes the elements of all `arrays` that do not have them yet. Work of GPUs is waited for.
///
/// # Errors
/// Those of the operations; arrays that were not reached stay lazy and usable.
pub fn eval(arrays: &[Array]) -> Result<()> {
    compute(arrays)?;
    wait(arrays)
}

/// Waits for what GPUs compute for those of the arrays that were queued.
///
/// # Errors
/// The first fault of the work; `DeviceLost`.
pub fn wait(arrays: &[Array]) -> Result<()> {
    for array in arrays {
        if let Home::Gpu(place) = array.home()
            && let Some(Data::Device(elements)) = array.data()
        {
            place.join(&elements)?;
        }
    }
    places_of(arrays).iter().try_for_each(|place| place.wait())
}

/// Where on GPUs arrays are.
fn places_of(arrays: &[Array]) -> Vec<&Arc<Place>> {
    let mut places: Vec<&Arc<Place>> = Vec::new();
    for array in arrays {
        if let Home::Gpu(place) = array.home()
            && !places.iter().any(|other| Arc::ptr_eq(other, place))
        {
            places.push(place);
        }
    }
    places
}

/// As [`eval`], but what GPUs compute is only queued. What is queued behind that does not delay who reads these arrays.
///
/// # Errors
/// As [`eval`], but for faults of the work.
pub fn queue(arrays: &[Array]) -> Result<()> {
    compute(arrays)?;
    let mut places = places_of(arrays).into_iter();
    places.try_for_each(|place| place.note_end())
}

/// Computes arrays on the CPU, and queues what GPUs compute.
fn compute(arrays: &[Array]) -> Result<()> {
    let mut found = Found::default();
    let mut collected = Collected::default();
    let mut calls = Calls::of(arrays);
    let plan = plans::known(&mut calls, &mut found)?;
    if plan.is_none() {
        calls.hand(&mut collected)?;
    }
    drop(calls);
    if let Some(plan) = plan {
        if let Some(results) = plan.run(&found.leaves)? {
            set(&found.arrays, results);
            return Ok(());
        }
        collected = collect(arrays)?;
    }
    settle(&mut collected)?;
    let graph = &collected.graph;
    let results = match plans::run(&collected)? {
        Some(results) => results,
        None => graph.compute(&collected.leaves, |id, inputs| {
            let node = graph.node(id);
            match &collected.homes[id.0] {
                Home::Cpu => on_host(node, inputs),
                Home::Gpu(gpu) => on_gpu(gpu, node, inputs),
            }
        })?,
    };
    set(&collected.arrays, results);
    Ok(())
}

/// Gives arrays their elements.
fn set(arrays: &[Array], results: Vec<Data>) {
    for (array, data) in arrays.iter().zip(results) {
        array.set(data);
    }
}

/// One operation on the CPU.
pub(super) fn on_host(node: &Node, inputs: &[&Data]) -> Result<Vec<Data>> {
    let inputs: Result<Vec<Elements>> = inputs.iter().map(|input| input.to_host()).collect();
    let inputs = inputs?;
    let results = cpu::results(node, &inputs.iter().collect::<Vec<_>>())?;
    Ok(results.into_iter().map(Data::Host).collect())
}

/// What `run` makes of inputs that are moved to a GPU, once its work is queued there.
fn queued(
    gpu: &Arc<Place>,
    inputs: &[&Data],
    run: impl FnOnce(&[&arrays::Elements]) -> Result<Option<Vec<arrays::Elements>>>,
) -> Result<Option<Vec<Data>>> {
    let here: Result<Vec<_>> = inputs.iter().map(|input| input.to_device(gpu)).collect();
    let here = here?;
    let here: Vec<&arrays::Elements> = here.iter().map(|x| &**x).collect();
    let queued = |made: arrays::Elements| Data::Device(made.queued());
    Ok(run(&here)?.map(|made| made.into_iter().map(queued).collect()))
}

/// One operation on a GPU; what it has no form of is computed by the CPU and moved there.
fn on_gpu(gpu: &Arc<Place>, node: &Node, inputs: &[&Data]) -> Result<Vec<Data>> {
    let foreign = |input: &&&Data| match input {
        Data::Device(elements) => !Arc::ptr_eq(elements.place().device(), gpu.device()),
        Data::Host(_) => false,
    };
    if node.op != Op::Copy && inputs.iter().any(|input| foreign(&input)) {
        return Err(Error::InvalidArgument(format!(
            "{}: its inputs are on different GPUs; move them to one (array_to_device)",
            node.op.name()
        )));
    }
    let results = queued(gpu, inputs, |here| {
        let results = gpu.run(&node.op, here, &node.outputs)?;
        if results.is_none() {
            log::write(Level::Debug, || {
                let dtypes: Vec<String> = here.iter().map(|x| x.dtype().to_string()).collect();
                format!(
                    "arrays: the CPU computes {} ({}) for a GPU",
                    node.op.name(),
                    dtypes.join(", ")
                )
            });
        }
        Ok(results)
    })?;
    if let Some(results) = results {
        return Ok(results);
    }
    let results = on_host(node, inputs)?;
    let moved = results
        .iter()
        .map(|result| Ok(Data::Device(result.to_device(gpu)?.into_owned())));
    moved.collect()
}

/// A graph some of whose operations are joined, one after the other; `None` if GPUs have no form of joined ones.
pub(super) fn run_joined(
    gpu: &Arc<Place>,
    joined: &Joined,
    leaves: &[Data],
) -> Result<Option<Vec<Data>>> {
    let mut has_forms = true;
    let made = joined.graph.compute(leaves, |id, inputs| {
        let node = joined.graph.node(id);
        if let Some(part) = joined.part(id) {
            let made = queued(gpu, inputs, |here| gpu.run_part(part, here))?;
            has_forms = made.is_some();
            return made.ok_or_else(|| {
                Error::Internal("joined operations that GPUs have no form of".into())
            });
        }
        on_gpu(gpu, node, inputs)
    });
    match has_forms {
        true => made.map(Some),
        false => Ok(None),
    }
}

/// A graph of one item that runs for any number of items at once.
pub enum Compiled {
    /// On the CPU, in f32.
    Cpu(Program),
    /// On a GPU.
    Gpu(Box<Network>),
}

/// What makes `outputs` of `inputs`: arrays that have elements, which only tell dtype and shape. All are of one item.
/// The CPU computes in f32, whatever `precision` says.
///
/// # Errors
/// `Internal` if an input has no elements or an output is one that there is no place for; `Unsupported` for
/// operations that networks on GPUs have no form of; `OutOfMemory`, `DeviceLost`.
pub fn compile(
    inputs: &[Array],
    outputs: &[Array],
    home: &Home,
    precision: Precision,
) -> Result<Compiled> {
    let mut collected = collect(outputs)?;
    // What the caller still holds is not asked for.
    collected.graph.outputs.truncate(outputs.len());
    let leaf = |input: &Array| collected.leaf_of(input);
    let leaves: Option<Vec<usize>> = inputs.iter().map(leaf).collect();
    let leaves = leaves
        .ok_or_else(|| Error::Internal("a program with an input that nothing is made of".into()))?;
    let constants = plans::host(&collected.leaves)
        .ok_or_else(|| Error::Internal("a program of the CPU with an array of a GPU".into()))?;
    let (items, constants) = items(&collected.graph, &constants, &leaves)?;
    match home {
        Home::Cpu => Program::new(items, &constants).map(Compiled::Cpu),
        Home::Gpu(place) => {
            fn constant(elements: &Elements) -> Constant<'_> {
                Constant {
                    numbers: match elements.dtype() {
                        Dtype::F32 => {
                            bytemuck::try_cast_slice(elements.bytes()).unwrap_or_default()
                        }
                        _ => &[],
                    },
                    layout: elements.layout(),
                }
            }
            let constants: Vec<Constant<'_>> = constants.iter().map(constant).collect();
            Network::new(place.device(), &items, &constants, precision)
                .map(|network| Compiled::Gpu(Box::new(network)))
        }
    }
}

impl Array {
    /// The memory of a GPU in which the elements lie row after row, and the byte at which they begin. What is not
    /// computed is queued, what lies otherwise is copied. The elements are there when this returns or, with a stream,
    /// for the work that is queued on it from now on.
    ///
    /// # Errors
    /// As [`queue`]; `Unsupported` for an array of the CPU; `InvalidArgument` for a stream of another device.
    pub fn buffer(&self, stream: Option<&Stream>) -> Result<(DeviceBuffer, u64)> {
        let Home::Gpu(place) = self.home() else {
            return Err(Error::Unsupported(
                "the array is on the CPU, which has no buffers: move it to a GPU (array_to_device)"
                    .into(),
            ));
        };
        compute(std::slice::from_ref(self))?;
        match self.data() {
            Some(Data::Device(elements)) => place.to_buffer(&elements, stream),
            _ => Err(Error::Internal(
                "an array of a GPU has no elements there".into(),
            )),
        }
    }

    /// The elements in host memory, computed if they are not there yet.
    ///
    /// # Errors
    /// As [`eval`].
    pub fn read(&self) -> Result<Elements> {
        if self.data().is_none() {
            compute(std::slice::from_ref(self))?;
        }
        let data = self.data();
        let lost = || Error::Internal("an evaluated array has no elements".into());
        data.ok_or_else(lost)?.to_host()
    }
}
