//! Kernels of the application: compiled for the device once, launched as operations.

use super::{Elements, Place};
use crate::gpu::{Args, Kernel, LaunchOptions, Module, UNNAMED};
use crate::ir::{CustomKernel, Layout, Type};
use crate::{Error, Result};
use std::sync::Arc;

/// Types of dtypes that HIP's language has none of; stands before every source.
pub const PRELUDE: &str = include_str!("prelude.h");

/// Compiled kernels that are kept: an application with more compiles (from the disk cache) again.
const KEPT: usize = 256;

impl Place {
    /// The kernel, compiled if it is not yet.
    ///
    /// # Errors
    /// `InvalidArgument` with the compiler's log; `Unsupported` if there is no compiler.
    pub fn custom_kernel(&self, custom: &CustomKernel) -> Result<Kernel> {
        if let Some(kernel) = self.compiled.custom.lock().get(&custom.source) {
            return Ok(kernel.clone());
        }
        // Not under the lock: it takes long.
        let module = Module::compile(&self.device, &custom.name, &custom.source, &[])?;
        let kernel = module.kernel(&custom.name)?;
        let mut kept = self.compiled.custom.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(custom.source.clone(), kernel.clone());
        Ok(kernel)
    }

    /// Queues a kernel of the application.
    ///
    /// # Errors
    /// As [`Place::custom_kernel`]; `OutOfMemory`, `DeviceLost`.
    pub(super) fn custom(
        self: &Arc<Self>,
        custom: &CustomKernel,
        inputs: &[&Elements],
        outputs: &[Type],
    ) -> Result<Vec<Elements>> {
        let kernel = self.custom_kernel(custom)?;
        let too_large = |what: &str| {
            Error::Unsupported(format!(
                "{}: {what} is larger than kernels here take",
                custom.name
            ))
        };
        let mut given = Vec::with_capacity(inputs.len());
        for &input in inputs {
            given.push(match custom.rows {
                true => self.rows(input)?.ok_or_else(|| too_large("an input"))?,
                false => input.clone(),
            });
        }
        let mut results = Vec::with_capacity(outputs.len());
        for (place, ty) in outputs.iter().enumerate() {
            let initial = custom.initial.get(place).map(Vec::as_slice);
            let result = self.result(initial, ty)?;
            results.push(result.ok_or_else(|| too_large("a result"))?);
        }
        let mut args = Args::new();
        for elements in given.iter().chain(&results) {
            args = args.buffer(UNNAMED, elements.buffer(), elements.offset());
        }
        let small = |size: usize| u32::try_from(size).map_err(|_| too_large("a size"));
        for input in custom.sizes.iter().filter_map(|&place| given.get(place)) {
            for &size in &input.layout().sizes {
                args = args.u32(UNNAMED, small(size)?);
            }
        }
        for input in custom.strides.iter().filter_map(|&place| given.get(place)) {
            for &stride in &input.layout().strides {
                args = args.u64(UNNAMED, (stride as i64).cast_unsigned());
            }
        }
        let block = (custom.block, 0);
        self.launch_with(&kernel, custom.grid, block, &args, LaunchOptions::default())?;
        Ok(results)
    }

    /// Room for a result, with its first content.
    fn result(self: &Arc<Self>, initial: Option<&[u8]>, ty: &Type) -> Result<Option<Elements>> {
        let sizes = ty.shape.numbers().unwrap_or_default();
        let Some(number) = initial else {
            return Ok(self.new_rows(&sizes, ty.dtype)?.map(|(made, _)| made));
        };
        let one = self.upload(number, ty.dtype, &Layout::rows(&[]))?;
        match self.fill(&one, &sizes)? {
            // A copy of its own: the kernel writes to it.
            Some(everywhere) if everywhere.count() != 1 => self.rows(&everywhere),
            _ => one.with(ty.dtype, Layout::rows(&sizes)).map(Some),
        }
    }
}
