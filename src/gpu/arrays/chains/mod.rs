//! Chains of elementwise operations as one kernel: found in a graph, generated, compiled off the caller's path, and run.
//! Until its kernel is there, and where no compiler is, a chain's operations run one after the other, with the same bits.

mod find;
mod kernels;
mod source;

pub use find::Chain;
pub(super) use kernels::{ChainKernel, Kernels};

use super::joined::{Joined, Parts};
use super::planes::Plane;
use super::run::THREADS;
use super::walk::Walk;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::{Args, MAX_ARGS};
use crate::ir::{Graph, Layout};
use source::Form;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// When chains become kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Chains {
    /// Never.
    Off,
    /// Once another thread has compiled them.
    On,
    /// The caller waits for the compiler: for tests.
    Wait,
}

static MODE: AtomicU8 = AtomicU8::new(u8::MAX);

/// When chains become kernels, for all threads.
pub fn use_chains(mode: Chains) {
    MODE.store(mode as u8, Ordering::Relaxed);
}

/// As told; `MLXROCM_ARRAY_CHAINS=off` turns chains off, `wait` waits for the compiler.
fn mode() -> Chains {
    match MODE.load(Ordering::Relaxed) {
        0 => Chains::Off,
        1 => Chains::On,
        2 => Chains::Wait,
        _ => {
            let mode = match std::env::var("MLXROCM_ARRAY_CHAINS").as_deref() {
                Ok("off") => Chains::Off,
                Ok("wait") => Chains::Wait,
                _ => Chains::On,
            };
            use_chains(mode);
            mode
        }
    }
}

/// A graph, some of whose nodes are parts already, with its chains as one node each: their last one, with the chain's inputs;
/// `None` if it has none, or they are turned off.
pub(super) fn chained(graph: &Graph, parts: &Parts) -> Option<Joined> {
    match mode() {
        Chains::Off => None,
        _ => find::chained(graph, parts),
    }
}

impl Place {
    /// Queues a chain; `None` if an operation has no form here. Kernels that are not compiled yet are added to
    /// `waiting`.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub(super) fn chain(
        self: &Arc<Self>,
        chain: &Chain,
        inputs: &[&Elements],
        waiting: &mut Vec<Arc<ChainKernel>>,
    ) -> Result<Option<Elements>> {
        if let Some(made) = self.chain_kernel(chain, inputs, waiting)? {
            return Ok(Some(made));
        }
        chain.one_by_one(inputs, |op, inputs, ty| self.run_one(op, inputs, ty))
    }

    fn chain_kernel(
        self: &Arc<Self>,
        chain: &Chain,
        inputs: &[&Elements],
        waiting: &mut Vec<Arc<ChainKernel>>,
    ) -> Result<Option<Elements>> {
        let ty = chain.ty();
        let (Some(sizes), Some(first)) = (ty.shape.numbers(), inputs.first()) else {
            return Ok(None);
        };
        if first.count() == 0 || u32::try_from(first.count()).is_err() {
            return Ok(None);
        }
        let width = chain.width();
        let plane = width.and_then(|width| Plane::of(inputs, width));
        let layouts: Vec<&Layout> = inputs.iter().map(|x| x.layout()).collect();
        let walk = match plane {
            Some(_) => None,
            None => Walk::of_layouts(&layouts),
        };
        let (form, sizes_and_steps) = match (&plane, &walk) {
            (Some(plane), _) => {
                let numbers = plane.numbers();
                (Form::Vectors { numbers }, 2 + 2 * inputs.len())
            }
            (_, Some(_)) => (Form::Anyhow, 6 + 6 * inputs.len()),
            _ => return Ok(None),
        };
        if inputs.len() + 1 + sizes_and_steps > MAX_ARGS {
            return Ok(None);
        }
        let kernel = chain.kernel(form, || {
            let source = chain.source(form);
            self.compiled.chains.of(&self.device, source, mode())
        });
        let Some(compiled) = kernel.get(&self.device) else {
            if !kernel.is_done() {
                waiting.push(kernel.clone());
            }
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&sizes, ty.dtype)? else {
            return Ok(None);
        };
        let mut args = Args::new();
        for input in inputs {
            args = args.buffer("x", input.buffer(), input.offset());
        }
        args = args.buffer("out", out.buffer(), 0).u32("count", count);
        let (args, blocks) = match (&plane, &walk, width) {
            (Some(plane), _, Some(width)) => {
                let groups = chain.groups(plane.numbers());
                let blocks = (count / width as u32).div_ceil(THREADS * groups as u32);
                let args = args.u32("columns", plane.columns(count));
                (plane.add(args, std::iter::repeat("x")), blocks)
            }
            (_, Some(walk), _) => {
                let args = walk.add(args, std::iter::repeat("x"));
                (args, count.div_ceil(super::run::BLOCK))
            }
            _ => return Ok(None),
        };
        self.launch_blocks(compiled, [blocks, 1, 1], ([THREADS, 1, 1], 0), &args)?;
        super::joined::count(chain.operations());
        Ok(Some(out))
    }
}
