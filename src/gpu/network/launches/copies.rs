//! Copies: of layouts, of positions into inputs, of results to the host.

use super::super::steps::Origin;
use super::super::{Precision, missing};
use super::{Batch, SQUARES, THREADS};
use crate::Result;
use crate::gpu::arrays::walk::merged;
use crate::gpu::{Args, DeviceBuffer};
use crate::ir::Layout;

impl Batch<'_> {
    pub(super) fn copy(&mut self, from: &Origin, to: &Layout, out: usize) -> Result<()> {
        let (of, layout, item, args, reads) = match from {
            Origin::Item(x) => {
                let item = self.network.plan.counts[x.buffer];
                let args = self.place(Args::new(), "x", x.buffer);
                let own = self.numbers(x.buffer);
                (own, x.layout.clone(), item, args, vec![x.buffer])
            }
            Origin::Vector(vector) => {
                let args = self.vector(Args::new(), "x", *vector);
                let layout = Layout::rows(&to.sizes);
                (Precision::F32, layout, 0, args, Vec::new())
            }
        };
        let args = self.place(args, "out", out);
        let items = [item, self.network.plan.counts[out]];
        let args = copied(args, [&layout, to], items)
            .ok_or_else(|| missing("a copy along more than four axes"))?;
        let kernel = self
            .network
            .device
            .kernel(&converting("copy", of, self.numbers(out)))?;
        self.by_elements(&kernel, to.count(), args, &reads, out)
    }

    /// Masks and their values at these places of `from` become an input.
    pub fn planes(
        &mut self,
        input: usize,
        from: &DeviceBuffer,
        [masks, values]: [u64; 2],
    ) -> Result<()> {
        let count = self.network.plan.counts[input] as u32;
        let args = Args::new()
            .buffer("masks", from, masks)
            .buffer("values", from, values);
        let args = self.place(args, "out", input).u32("count", count / SQUARES);
        let planes = u64::from(count / SQUARES) * self.items as u64;
        let reads = [
            from.range(masks, planes * 8),
            from.range(values, planes * 4),
        ];
        let grid = [count.div_ceil(THREADS), self.items as u32, 1];
        let kernel = self.kernel("planes")?;
        let writes = self.ranges(&[input]);
        self.launch_of(&kernel, grid, (THREADS, 0), args, &reads, &writes)
    }

    /// A result becomes f32 numbers from `at` of `to` on; the bytes that they take.
    pub fn output(&mut self, output: usize, to: &DeviceBuffer, at: u64) -> Result<u64> {
        let count = self.network.plan.counts[output];
        let bytes = (count * self.items * 4) as u64;
        let row = Layout::rows(&[count]);
        let args = self.place(Args::new(), "x", output).buffer("out", to, at);
        let args = copied(args, [&row, &row], [count, count])
            .ok_or_else(|| missing("a result of so many numbers"))?;
        let kernel = converting("copy", self.numbers(output), Precision::F32);
        let kernel = self.network.device.kernel(&kernel)?;
        let grid = [(count as u32).div_ceil(THREADS), self.items as u32, 1];
        let (reads, writes) = (self.ranges(&[output]), [to.range(at, bytes)]);
        self.launch_of(&kernel, grid, (THREADS, 0), args, &reads, &writes)?;
        Ok(bytes)
    }
}

/// The kernel that moves numbers, and converts them.
pub(super) fn converting(name: &str, from: Precision, to: Precision) -> String {
    let both = match from == to {
        true => from.name().to_string(),
        false => format!("{}_{}", from.name(), to.name()),
    };
    format!("mlxrocm_network_{name}_{both}")
}

/// Adds how a copy counts, by what is read and what is written and their numbers of an item. `None`: along more than
/// four axes.
fn copied(args: Args, layouts: [&Layout; 2], items: [usize; 2]) -> Option<Args> {
    let axes = merged(&layouts[1].sizes, &layouts);
    let front = 4usize.checked_sub(axes.len())?;
    let mut args = args.u32("count", u32::try_from(layouts[1].count()).ok()?);
    for (of, (layout, item)) in ["x_", "out_"].into_iter().zip(layouts.iter().zip(items)) {
        args = args
            .u32((of, "item"), u32::try_from(item).ok()?)
            .u32((of, "first"), u32::try_from(layout.offset).ok()?);
    }
    let mut counting = [[1; 4], [0; 4], [0; 4]];
    for (place, (size, strides)) in axes.iter().enumerate() {
        counting[0][front + place] = u32::try_from(*size).ok()?;
        for (to, &stride) in counting[1..].iter_mut().zip(strides) {
            to[front + place] = u32::try_from(stride).ok()?;
        }
    }
    for (name, numbers) in ["s", "a", "b"].into_iter().zip(counting) {
        for (axis, n) in ["0", "1", "2", "3"].into_iter().zip(numbers) {
            args = args.u32((name, axis), n);
        }
    }
    Some(args)
}
