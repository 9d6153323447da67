//! Recording launches into a program.

use super::args::Args;
use super::buffer::{DeviceBuffer, Range};
use super::device::Device;
use super::early;
use super::hazards::{Addresses, Hazards, Part};
use super::module::Kernel;
use super::program::{Node, Operation, Program};
use crate::driver::{Launch, Overlap, Packed, Product};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Settings of one launch.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaunchOptions {
    /// What the launch may begin under, while it drains (NVIDIA: programmatic dependent launch; ignored elsewhere). Only
    /// for kernels that wait themselves (`griddepcontrol.wait`), in each launch and before they touch memory that an
    /// earlier one writes, or write what an earlier one touches.
    pub overlap: Overlap,
    /// How many equal works the blocks along x share out, if any number of them gives the same results: of such launches the
    /// next one may get room beside this one.
    pub works: Option<u32>,
    /// Blocks of a cluster, along x, of which the grid is a multiple (NVIDIA); up to 1: no clusters.
    pub cluster: u32,
    /// Whether the launch prepares much before it waits, so that it wants room beside the one in front (`early.rs`).
    pub wants_room: bool,
}

/// Records launches; given to the closure of [`Device::record`], or made by [`Device::encoder`].
pub struct Encoder {
    device: Arc<Device>,
    nodes: Vec<Node>,
    hazards: Hazards,
    buffers: HashMap<u64, DeviceBuffer, Addresses>,
    /// What the program writes, by allocation.
    written: Vec<Part>,
    /// Whether every launch says what it writes.
    declared: bool,
    /// Works of the node added last, if it is a launch that shares them out.
    shared_out: Option<u32>,
    /// The parts of the launch at hand.
    reads: Vec<Part>,
    writes: Vec<Part>,
}

impl Encoder {
    pub(super) fn new(device: &Arc<Device>) -> Self {
        Encoder {
            device: device.clone(),
            nodes: Vec::new(),
            hazards: Hazards::default(),
            buffers: HashMap::default(),
            written: Vec::new(),
            declared: true,
            shared_out: None,
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Records one launch. `reads` and `writes` are all that it touches on the device; a launch that
    /// declares none is ordered after everything before it and before everything after it. A grid or
    /// block with a zero is skipped.
    ///
    /// # Errors
    /// `InvalidArgument` for ranges outside their buffer, a block too large, too much local memory.
    #[allow(clippy::too_many_arguments)] // the launch's natural parameters
    pub fn launch(
        &mut self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
        args: Args,
        reads: &[Range],
        writes: &[Range],
    ) -> Result<()> {
        let options = LaunchOptions::default();
        self.launch_with(
            kernel,
            grid,
            block,
            dynamic_lds,
            args,
            reads,
            writes,
            options,
        )
    }

    /// [`Self::launch`] with options.
    #[allow(clippy::too_many_arguments)] // the launch's natural parameters
    pub fn launch_with(
        &mut self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
        args: Args,
        reads: &[Range],
        writes: &[Range],
        options: LaunchOptions,
    ) -> Result<()> {
        kernel.check_args(&self.device, &args)?;
        if !kernel.check(&self.device, grid, block, dynamic_lds)? {
            return Ok(());
        }
        let wrong = |range: &Range| {
            kernel.wrong(&format!(
                "{} bytes from {} are outside a buffer of {} bytes, or it is on another device",
                range.len,
                range.offset,
                range.buffer.len()
            ))
        };
        self.reads.clear();
        self.writes.clear();
        for range in reads {
            let part = self.part(range).ok_or_else(|| wrong(range))?;
            self.reads.push(part);
            self.keep(&range.buffer);
        }
        for range in writes {
            let part = self.part(range).ok_or_else(|| wrong(range))?;
            self.writes.push(part);
            self.keep(&range.buffer);
        }
        args.buffers().iter().for_each(|buffer| self.keep(buffer));
        self.declared &= !reads.is_empty() || !writes.is_empty();
        let launch = Launch {
            function: kernel.function(),
            grid,
            block,
            lds_bytes: dynamic_lds,
            overlap: options.overlap,
            cluster: options.cluster,
        };
        let operation = Operation::Launch {
            launch,
            args: Packed::new(args.values()),
            kernel: kernel.clone(),
        };
        if options.overlap != Overlap::None && options.wants_room {
            self.leave_room(grid.iter().product());
        }
        self.add(operation);
        self.shared_out = options.works;
        Ok(())
    }

    /// Records a copy of `len` bytes between device buffers; the parts do not overlap.
    pub fn copy(
        &mut self,
        source: &DeviceBuffer,
        source_offset: u64,
        target: &DeviceBuffer,
        target_offset: u64,
        len: u64,
    ) -> Result<()> {
        let from = self.checked("copy", &source.range(source_offset, len))?;
        let to = self.checked("copy", &target.range(target_offset, len))?;
        if len == 0 {
            return Ok(());
        }
        if from.base == to.base && from.start < to.end && to.start < from.end {
            return Err(Error::InvalidArgument(
                "recording a copy: the parts overlap".into(),
            ));
        }
        self.keep(source);
        self.keep(target);
        let operation = Operation::Copy {
            target: to.base + to.start,
            source: from.base + from.start,
            bytes: usize::try_from(len).unwrap_or(usize::MAX),
        };
        (self.reads, self.writes) = (vec![from], vec![to]);
        self.add(operation);
        Ok(())
    }

    /// Records a fill of `len` bytes with `value`.
    pub fn fill(&mut self, target: &DeviceBuffer, offset: u64, len: u64, value: u8) -> Result<()> {
        let part = self.checked("fill", &target.range(offset, len))?;
        if len == 0 {
            return Ok(());
        }
        self.keep(target);
        let operation = Operation::Fill {
            target: part.base + part.start,
            value,
            bytes: usize::try_from(len).unwrap_or(usize::MAX),
        };
        (self.reads, self.writes) = (vec![], vec![part]);
        self.add(operation);
        Ok(())
    }

    /// Records a product by the vendor's BLAS: `sums[r][o] = Σ_c weights[o][c] · x[r][c]`, f16 but for the
    /// sums, which are f32; rows of x begin `stride` numbers apart, all else lies without gaps. The program
    /// is never a graph.
    pub(super) fn multiply(
        &mut self,
        weights: &DeviceBuffer,
        (x, stride): (&DeviceBuffer, u32),
        sums: &DeviceBuffer,
        [rows, outs, cols]: [u32; 3],
    ) -> Result<()> {
        if rows == 0 || outs == 0 || cols == 0 {
            return Ok(());
        }
        let x_numbers = u64::from(rows - 1) * u64::from(stride) + u64::from(cols);
        let parts = [
            (weights, u64::from(outs) * u64::from(cols) * 2),
            (x, x_numbers * 2),
            (sums, u64::from(rows) * u64::from(outs) * 4),
        ];
        for (buffer, _) in parts {
            self.keep(buffer);
        }
        let [weights, x, sums] =
            parts.map(|(buffer, bytes)| self.checked("product", &buffer.range(0, bytes)));
        let (weights, x, sums) = (weights?, x?, sums?);
        let product = Product {
            weights: weights.base,
            x: x.base,
            sums: sums.base,
            rows,
            outs,
            cols,
            x_stride: stride,
        };
        (self.reads, self.writes) = (vec![weights, x], vec![sums]);
        self.add(Operation::Multiply(product));
        Ok(())
    }

    /// Everything after this is ordered after everything before it.
    pub fn barrier(&mut self) {
        self.hazards.barrier();
    }

    /// Keeps `buffer` alive as long as the program, for one that only a pointer in memory refers to.
    pub fn keep(&mut self, buffer: &DeviceBuffer) {
        self.buffers
            .entry(buffer.address())
            .or_insert_with(|| buffer.clone());
    }

    /// Takes blocks from the launch added last, if it shares out its works, for so many of the one that comes now.
    fn leave_room(&mut self, blocks: u32) {
        let units = self.device.facts().compute_units;
        let fewer = self
            .shared_out
            .and_then(|works| early::blocks_in_front(units, works, blocks));
        if let (Some(fewer), Some(node)) = (fewer, self.nodes.last_mut())
            && let Operation::Launch { launch, .. } = &mut node.operation
        {
            launch.grid[0] = launch.grid[0].min(fewer);
        }
    }

    /// Adds an operation that touches `reads` and `writes`.
    fn add(&mut self, operation: Operation) {
        self.shared_out = None;
        let after = self.hazards.add(&self.reads, &self.writes);
        let written = self.writes.iter().filter(|part| part.start < part.end);
        self.written.extend(written);
        self.nodes.push(Node { operation, after });
    }

    fn part(&self, range: &Range) -> Option<Part> {
        let end = range.offset.checked_add(range.len)?;
        let inside = end <= range.buffer.len() && range.buffer.is_on(&self.device);
        inside.then(|| Part {
            base: range.buffer.address(),
            start: range.offset,
            end,
        })
    }

    fn checked(&self, what: &str, range: &Range) -> Result<Part> {
        self.part(range).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "recording a {what}: {} bytes from {} are outside a buffer of {} bytes, or it is on \
                 another device",
                range.len,
                range.offset,
                range.buffer.len()
            ))
        })
    }

    /// The program of what was recorded.
    pub fn finish(self) -> Program {
        let written = self.declared.then(|| merged(self.written));
        let buffers = self.buffers.into_values().collect();
        Program::new(self.device, self.nodes, buffers, written)
    }
}

/// The parts without overlaps.
fn merged(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_unstable_by_key(|part| (part.base, part.start));
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last) if last.base == part.base && part.start <= last.end => {
                last.end = last.end.max(part.end);
            }
            _ => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_parts_are_merged() {
        let part = |base, start, end| Part { base, start, end };
        let parts = vec![
            part(2, 0, 4),
            part(1, 8, 16),
            part(1, 0, 8),
            part(1, 20, 30),
            part(1, 22, 24),
        ];
        assert_eq!(
            merged(parts),
            [part(1, 0, 16), part(1, 20, 30), part(2, 0, 4)]
        );
    }
}
