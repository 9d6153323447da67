//! Operations as launches: `hip/ops/arrays/`.

use super::complex::{complex_number, is_of_complex};
use super::doubles::is_of_f64;
use super::numbers::{CAST, binary_number, is_known, place_number, reduction_number};
use super::walk::{Walk, has_many_axes};
use super::wide::of_its_own;
use super::{Elements, Place};
use crate::Result;
use crate::driver::Overlap;
use crate::gpu::{Args, Kernel, LaunchOptions};
use crate::ir::{Dtype, Layout, Op, ScatterReduce, Shape, Type, Unary};
use smallvec::SmallVec;
use std::sync::Arc;

/// Threads of a block of all these kernels.
pub(super) const THREADS: u32 = 256;
/// Elements of a block of the kernels of single elements.
pub(super) const BLOCK: u32 = crate::gpu::constants::arrays_elementwise::BLOCK as u32;

/// What kernels of elements call that many inputs.
pub(super) fn names_of(inputs: usize) -> &'static [&'static str] {
    match inputs {
        1 => &["x"],
        2 => &["a", "b"],
        _ => &["c", "a", "b"],
    }
}

impl Place {
    /// Queues an operation whose inputs are here; `None` if GPUs have no form of it.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`; `Unsupported` if there is no kernel for this GPU and none can be compiled.
    pub fn run(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        outputs: &[Type],
    ) -> Result<Option<Vec<Elements>>> {
        if let Op::CustomKernel(custom) = op {
            return self.custom(custom, inputs, outputs).map(Some);
        }
        let ([ty], Some(&x)) = (outputs, inputs.first()) else {
            return self.several(op, inputs, outputs);
        };
        let Some(sizes) = ty.shape.numbers() else {
            return Ok(None);
        };
        if op.may_be_view()
            && let Some(layout) = x.layout().view(op, &ty.shape)
        {
            return Ok(Some(vec![x.with(ty.dtype, layout)?]));
        }
        // Kernels count through so many axes.
        if inputs.iter().any(|x| has_many_axes(&[x.layout()])) {
            let Some(rows) = self.all_rows(inputs)? else {
                return Ok(None);
            };
            return self.run(op, &rows.iter().collect::<Vec<_>>(), outputs);
        }
        let made = match op {
            Op::Unary(Unary::Conjugate) if x.dtype() != Dtype::C64 => Some(x.clone()),
            Op::Unary(Unary::ErfInv) => self.erf_inverse(x, ty.dtype)?,
            Op::Unary(function) => match complex_number(*function) {
                Some(function) => self.unary(function, x, ty.dtype)?,
                None => None,
            },
            Op::AsType => self.unary(CAST, x, ty.dtype)?,
            Op::Binary(function) => match (binary_number(*function), inputs) {
                (Some(_), [a, _]) if a.dtype() == Dtype::C64 && !is_of_complex(*function) => None,
                (Some(_), [a, _]) if a.dtype() == Dtype::F64 && !is_of_f64(*function) => None,
                (Some(function), [a, b]) => self.binary(function, a, b, ty.dtype)?,
                _ => None,
            },
            Op::Select => match inputs {
                [c, a, b] => self.select(c, a, b)?,
                _ => None,
            },
            Op::Contiguous | Op::Copy => self.rows(x)?,
            Op::View => self.as_dtype(x, ty.dtype, &sizes)?,
            Op::Full if x.dtype() == ty.dtype => self.fill(x, &sizes)?,
            op if op.may_be_view() => match self.rows(x)? {
                Some(rows) => match rows.layout().view(op, &ty.shape) {
                    Some(layout) => Some(rows.with(ty.dtype, layout)?),
                    None => None,
                },
                None => None,
            },
            Op::Reduce(kind, axes) => self.reduce(reduction_number(*kind), x, axes, ty, 0.0)?,
            Op::ArgReduce(kind, axis) => self.reduce(place_number(*kind), x, &[*axis], ty, 0.0)?,
            Op::Softmax { .. } => match of_its_own(x.dtype()) {
                Some(of) => self.wide_softmax(x, of)?,
                None => self.by_rows("mlxrocm_array_softmax", x, &[], None)?,
            },
            Op::RmsNorm(eps) => {
                let weight = [inputs.get(1).copied()];
                self.by_rows("mlxrocm_array_rms_norm", x, &weight, Some(*eps))?
            }
            Op::LayerNorm { eps, weight, bias } => {
                let mut more = inputs.iter().skip(1).copied();
                let weight = weight.then(|| more.next()).flatten();
                let more = [weight, bias.then(|| more.next()).flatten()];
                self.by_rows("mlxrocm_array_layer_norm", x, &more, Some(*eps))?
            }
            Op::Matmul
            | Op::AddMm { .. }
            | Op::BlockMaskedMm { .. }
            | Op::GatherMm
            | Op::SegmentedMm => self.matmul(op, inputs, &sizes)?,
            Op::Gather { axes, sizes: slice } => match (axes.as_slice(), inputs) {
                ([axis], [x, index]) if slice[*axis] == 1 => {
                    self.take(x, index, *axis, slice, ty)?
                }
                _ => self.scattered(op, inputs, ty)?,
            },
            Op::SliceUpdate(_, reduce) if *reduce != ScatterReduce::None => {
                self.scattered(op, inputs, ty)?
            }
            Op::Scatter(..)
            | Op::ScatterAxis(..)
            | Op::MaskedScatter
            | Op::DynamicSlice(_)
            | Op::DynamicSliceUpdate(_) => self.scattered(op, inputs, ty)?,
            Op::SearchSorted { right } => match inputs {
                [x, values] => self.search_sorted(x, values, *right)?,
                _ => None,
            },
            Op::RandomBits { width } => self.random_bits(x, *width, ty)?,
            Op::NumberOfElements { axes, inverted } => {
                self.number_of_elements(x, axes, *inverted, ty)?
            }
            Op::GatherAxis(axis) => match inputs {
                [x, index] => self.take_along(x, index, *axis)?,
                _ => None,
            },
            Op::Concatenate(_) | Op::Pad(_) | Op::SliceUpdate(..) => {
                self.put_together(op, inputs, ty)?
            }
            Op::Scan {
                kind,
                axis,
                reverse,
                inclusive,
            } => self.scan(x, *axis, *kind, (*reverse, *inclusive), ty.dtype)?,
            // What is sorted is also parted.
            Op::Sort(axis) | Op::Partition { axis, .. } => self.sort(x, *axis, ty.dtype, false)?,
            Op::ArgSort(axis) | Op::ArgPartition { axis, .. } => {
                self.sort(x, *axis, ty.dtype, true)?
            }
            Op::QuantizedMatmul { .. }
            | Op::GatherQmm { .. }
            | Op::QqMatmul(_)
            | Op::GatherQqmm(_) => self.quantized(op, inputs, &sizes)?,
            Op::Convolution(conv) => self.convolution(conv, inputs, &sizes)?,
            Op::Hadamard(scale) => self.hadamard(x, *scale)?,
            Op::Fft(fft) => self.fft(fft, x, &sizes)?,
            Op::Dequantize(q) => self.dequantize(q, inputs, ty.dtype, &sizes)?,
            Op::ConvertFp8(way) => self.fp8(*way, x, ty.dtype)?,
            Op::ScaledDotProductAttention { .. } => self.attention(op, inputs, ty.dtype, &sizes)?,
            Op::Rope(rope) => self.rope(inputs, rope, &sizes)?,
            _ => None,
        };
        let layout = Layout::rows(&sizes);
        made.map(|made| match made.layout().sizes == sizes {
            true => Ok(vec![made]),
            // Kernels write row after row, whatever the axes are.
            false => Ok(vec![made.with(ty.dtype, layout)?]),
        })
        .transpose()
    }

    /// The same of an operation with one result.
    pub(super) fn run_one(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let made = self.run(op, inputs, std::slice::from_ref(ty))?;
        Ok(made.and_then(|mut made| made.pop()))
    }

    pub(super) fn launch(&self, kernel: &str, grid: [u32; 3], args: &Args) -> Result<()> {
        let kernel = self.device.kernel(kernel)?;
        self.launch_blocks(&kernel, grid, ([THREADS, 1, 1], 0), args)
    }

    /// Queues a launch of one of our kernels, or records it; a block's threads and its bytes of dynamic shared memory. A
    /// kernel that waits for the launch before it itself may begin while that one drains.
    pub(super) fn launch_blocks(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: ([u32; 3], u32),
        args: &Args,
    ) -> Result<()> {
        // (Under all that it follows is no faster here: docs/performance.md.)
        let overlap = kernel.overlap().min(Overlap::Last);
        let options = LaunchOptions {
            overlap,
            ..LaunchOptions::default()
        };
        self.launch_with(kernel, grid, block, args, options)
    }

    /// The same of any kernel.
    pub(super) fn launch_with(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        (block, shared): ([u32; 3], u32),
        args: &Args,
        options: LaunchOptions,
    ) -> Result<()> {
        match super::replay::record(kernel, grid, (block, shared), args, options)? {
            true => Ok(()),
            false => self
                .stream
                .launch_with(kernel, grid, block, shared, args, options),
        }
    }

    /// New elements row after row, and how many; `None` if there are too many to count.
    pub(super) fn new_rows(
        self: &Arc<Self>,
        sizes: &[usize],
        dtype: Dtype,
    ) -> Result<Option<(Elements, u32)>> {
        let layout = Layout::rows(sizes);
        let Ok(count) = u32::try_from(layout.count()) else {
            return Ok(None);
        };
        let memory = self.memory(layout.count(), dtype)?;
        Ok(Some((
            Elements::new(self.clone(), memory, dtype, layout)?,
            count,
        )))
    }

    /// A function of each element of arrays that have the same sizes.
    pub(super) fn elementwise(
        self: &Arc<Self>,
        kernel: &str,
        inputs: &[&Elements],
        dtype: Dtype,
        numbers: &[(&'static str, u32)],
    ) -> Result<Option<Elements>> {
        let made = self.new_rows(&inputs[0].layout().sizes, dtype)?;
        let Some((out, count)) = made else {
            return Ok(None);
        };
        if self.elementwise_into(kernel, inputs, &out, count, numbers)? {
            return Ok(Some(out));
        }
        // They lie so differently that kernels cannot count through all of them.
        let Some(rows) = self.all_rows(inputs)? else {
            return Ok(None);
        };
        let rows: SmallVec<[&Elements; 3]> = rows.iter().collect();
        let done = self.elementwise_into(kernel, &rows, &out, count, numbers)?;
        Ok(done.then_some(out))
    }

    /// Each of the arrays row after row.
    pub(super) fn all_rows(
        self: &Arc<Self>,
        inputs: &[&Elements],
    ) -> Result<Option<SmallVec<[Elements; 3]>>> {
        inputs.iter().map(|x| self.rows(x)).collect()
    }

    /// The same into `count` elements of `out`; false if there are too many axes.
    fn elementwise_into(
        &self,
        kernel: &str,
        inputs: &[&Elements],
        out: &Elements,
        count: u32,
        numbers: &[(&'static str, u32)],
    ) -> Result<bool> {
        let layouts: SmallVec<[&Layout; 3]> = inputs.iter().map(|x| x.layout()).collect();
        let Some(walk) = Walk::of_layouts(&layouts) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(true);
        }
        let mut args = Args::new();
        let names = names_of(inputs.len());
        for (input, name) in inputs.iter().zip(names) {
            args = args.buffer(*name, input.buffer(), input.offset());
        }
        args = args.buffer("out", out.buffer(), 0).u32("count", count);
        for &(name, number) in numbers {
            args = args.u32(name, number);
        }
        let grid = [count.div_ceil(BLOCK), 1, 1];
        self.launch(kernel, grid, &walk.add(args, names.iter().copied()))?;
        Ok(true)
    }

    pub(super) fn unary(
        self: &Arc<Self>,
        function: u32,
        x: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        if x.dtype() == Dtype::F64 || to == Dtype::F64 {
            return self.f64_unary(function, x, to);
        }
        if x.dtype() == Dtype::C64 || to == Dtype::C64 {
            return self.complex_unary(function, x, to);
        }
        if !is_known(x.dtype()) || !is_known(to) {
            return Ok(None);
        }
        if let Some(made) = self.unary_vectors(function, x, to)? {
            return Ok(Some(made));
        }
        let numbers = [
            ("function", function),
            ("from", x.dtype() as u32),
            ("to", to as u32),
        ];
        self.elementwise("mlxrocm_array_unary", &[x], to, &numbers)
    }

    pub(super) fn binary(
        self: &Arc<Self>,
        function: u32,
        a: &Elements,
        b: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        if a.dtype() == Dtype::C64 && b.dtype() == Dtype::C64 {
            return self.complex_binary(function, a, b, to);
        }
        if a.dtype() == Dtype::F64 && b.dtype() == Dtype::F64 {
            return self.f64_binary(function, a, b, to);
        }
        if !is_known(a.dtype()) || a.dtype() != b.dtype() || !is_known(to) {
            return Ok(None);
        }
        if let Some(made) = self.binary_vectors(function, a, b, to)? {
            return Ok(Some(made));
        }
        let numbers = [
            ("function", function),
            ("from", a.dtype() as u32),
            ("to", to as u32),
        ];
        self.elementwise("mlxrocm_array_binary", &[a, b], to, &numbers)
    }

    fn select(
        self: &Arc<Self>,
        c: &Elements,
        a: &Elements,
        b: &Elements,
    ) -> Result<Option<Elements>> {
        if let Some(made) = self.select_vectors(c, a, b)? {
            return Ok(Some(made));
        }
        let size = [("size", a.dtype().size() as u32)];
        self.elementwise("mlxrocm_array_select", &[c, a, b], a.dtype(), &size)
    }

    /// The elements row after row: themselves if they lie so; `None` if they are too many or too entangled to copy.
    pub(super) fn rows(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
        match x.layout().is_rows() {
            true => Ok(Some(x.clone())),
            false => self.copy_of(x),
        }
    }

    /// A copy row after row.
    pub(super) fn copy_of(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
        let Some((out, count)) = self.new_rows(&x.layout().sizes, x.dtype())? else {
            return Ok(None);
        };
        let size = [("size", x.dtype().size() as u32)];
        let done = count == 0
            || self.copy_number(x, &out)?
            || self.copy_well(x, &out, out.layout())?
            || self.elementwise_into("mlxrocm_array_copy", &[x], &out, count, &size)?
            || self.put(x, &out, out.layout())?;
        Ok(done.then_some(out))
    }

    /// The same bytes as another dtype.
    fn as_dtype(
        self: &Arc<Self>,
        x: &Elements,
        dtype: Dtype,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let Some(rows) = self.rows(x)? else {
            return Ok(None);
        };
        let before = rows.layout().offset * x.dtype().size();
        if !before.is_multiple_of(dtype.size()) {
            return Ok(None);
        }
        let layout = Layout {
            offset: before / dtype.size(),
            ..Layout::rows(sizes)
        };
        rows.with(dtype, layout).map(Some)
    }

    /// Elements repeated along axes of size 1 and new ones in front.
    pub(super) fn fill(
        self: &Arc<Self>,
        x: &Elements,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let shape = Shape::new(sizes.iter().copied());
        match x.layout().view(&Op::Broadcast, &shape) {
            Some(everywhere) => x.with(x.dtype(), everywhere).map(Some),
            None => Ok(None),
        }
    }
}

impl Elements {
    /// Whether the first lies at a multiple of so many bytes.
    pub(super) fn is_aligned(&self, bytes: usize) -> bool {
        (self.buffer().address() + self.offset()).is_multiple_of(bytes as u64)
    }

    /// Bytes before the first.
    pub(super) fn offset(&self) -> u64 {
        (self.layout().offset * self.dtype().size()) as u64
    }
}
