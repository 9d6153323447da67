//! Products of many rows: by the matrix unit in a kernel of our own, or by the vendor's BLAS with a kernel
//! before and one after.

use super::matmul::{
    BLOCK_THREADS, MatrixForm, Operand, operand_stride, scalar_name, scales_number,
};
use super::pack::TILE_ROWS;
use super::record::Recorder;
use super::split::split_grid;
use super::weights::{GpuMatrix, Launch};
use crate::formats::ScalarType;
use crate::gpu::constants::matmul_blas;
use crate::gpu::{Args, Device, DeviceBuffer, Range};
use crate::step::{BufferId, Norm};
use crate::{Error, Result};
use std::sync::Arc;

/// How a product of many rows is computed.
pub(super) enum Way {
    /// By this kernel, which takes x so.
    Kernel(String, Operand),
    Blas,
}

impl Way {
    /// How it takes x.
    pub fn operand(&self) -> Operand {
        match self {
            Way::Kernel(_, operand) => *operand,
            Way::Blas => Operand::Rows,
        }
    }
}

/// `struct Outputs` of `hip/ops/matmul/epilogue.h`, without its epilogue and limit: as arguments, and what they refer to.
pub(super) struct Outputs {
    pub args: Args,
    /// Those that come last of all.
    pub last: Args,
    pub reads: Vec<Range>,
    pub writes: Vec<Range>,
    pub epilogue: u32,
}

impl Outputs {
    /// All rows of a matrix's tiles to `[rows][tiles · 16]`.
    pub fn plain(sums: &DeviceBuffer, matrix: &GpuMatrix, rows: usize) -> Outputs {
        let (tiles, width) = (matrix.tiles as u32, matrix.tiles * TILE_ROWS);
        let args = Args::new()
            .null("bias")
            .null("residual")
            .buffer("out0", sums, 0)
            .null("out1")
            .null("out2");
        let args = args.u32("end0", tiles).u32("end1", tiles);
        let widths = ["width0", "width1", "width2"];
        Outputs {
            args: args.u32s(widths, [width as u32, 0, 0]),
            last: Args::new().u32("end2", 0).u32("width3", 0).null("out3"),
            reads: Vec::new(),
            writes: vec![sums.range(0, (rows * width * 4) as u64)],
            epilogue: 0,
        }
    }
}

/// Columns of a block of the kernel that decodes, and numbers of one of the kernel that finishes.
const DECODE_COLS: usize = matmul_blas::DECODE_COLS;
const FINISH_NUMBERS: usize = matmul_blas::FINISH_NUMBERS;

/// Our own kernel for products of many rows with a matrix of so many columns, and how it takes x.
pub(super) fn own_kernel(
    device: &Arc<Device>,
    form: MatrixForm,
    cols: usize,
) -> Option<(String, Operand)> {
    let kernels = form.many_rows_kernels(device.facts(), cols);
    let mut kernels = kernels.into_iter();
    kernels.find(|(name, _)| device.kernel(name).is_ok())
}

impl Recorder<'_> {
    /// How a product of many rows is computed; none for one of few, unless the kernels for few rows have no
    /// room for its columns.
    pub(super) fn way(&self, launch: &Launch, x: BufferId) -> Option<Way> {
        let (device, matrix) = (&self.weights.device, &launch.matrix);
        if matrix.is_for_few(device.facts(), self.rows(x)) {
            return None;
        }
        if self.is_by_tiles(matrix, launch.silu, self.rows(x)) {
            return None;
        }
        let (kernel, operand) = own_kernel(device, matrix.form, matrix.cols)?;
        Some(match self.is_by_blas(launch, x) {
            true => Way::Blas,
            false => Way::Kernel(kernel, operand),
        })
    }

    /// Makes the rows of `x` into what the matrix unit takes.
    pub(super) fn operand(
        &mut self,
        operand: Operand,
        x: BufferId,
        norm: Option<Norm>,
    ) -> Result<()> {
        let sizes = (self.rows(x), self.width(x));
        self.operand_rows(operand, (x, norm), sizes)
    }

    /// The same of a buffer whose rows are cut otherwise: `rows` of `cols` columns.
    pub(super) fn operand_rows(
        &mut self,
        operand: Operand,
        (x, norm): (BufferId, Option<Norm>),
        (rows, cols): (usize, usize),
    ) -> Result<()> {
        let (to, scales) = (&self.memory.operand, &self.memory.scales);
        let from = self.at(x, 0);
        let args = Args::new().buffer("x", &self.memory.arena, from);
        let norm_scale = norm.and_then(|n| self.weights.norm_scales.get(n.weight.0));
        let args = self.norm_of(args, "norm", norm);
        let mut args = args
            .buffer("operand", to, 0)
            .buffer("scales", scales, 0)
            .u32("cols", cols as u32)
            .f32("eps", norm.map_or(0.0, |n| n.eps))
            .f32("norm_scale", norm_scale.copied().unwrap_or(1.0));
        let mut reads = vec![self.memory.arena.range(from, (rows * cols * 4) as u64)];
        if let Operand::Places { copies } = operand {
            let places = &self.expert_memory()?.places;
            reads.push(places.whole());
            args = args
                .buffer("places", places, 0)
                .u32("copies", copies as u32);
        }
        let writes = [to.whole(), scales.whole()];
        let grid = [rows as u32, 1, 1];
        self.launch(operand.kernel(), grid, 256, 0, args, &reads, &writes)
    }

    /// A product by the matrix unit, of what [`Recorder::operand`] made.
    pub(super) fn matmul_kernel(
        &mut self,
        matrix: &GpuMatrix,
        rows: usize,
        kernel: &str,
        operand: Operand,
        to: Outputs,
    ) -> Result<()> {
        let (x, scales) = (&self.memory.operand, &self.memory.scales);
        let args = Args::new()
            .buffer("weights", &matrix.data, 0)
            .buffer("x", x, 0)
            .buffer("scales", scales, 0);
        let (mut reads, mut writes) = (to.reads, to.writes);
        reads.extend([x.whole(), scales.whole()]);
        let args = args
            .append(to.args)
            .f32("back", matrix.back())
            .u32("rows", rows as u32)
            .u32("cols", matrix.cols as u32)
            .u32("tiles", matrix.tiles as u32)
            .u32("epilogue", to.epilogue);
        let facts = self.weights.device.facts();
        let grid = split_grid(facts, rows, (matrix.tiles, matrix.cols));
        let args = if grid[2] > 1 {
            let (parts, counters) = (&self.memory.parts, &self.memory.counters);
            writes.extend([parts.whole(), counters.whole()]);
            args.buffer("parts", parts, 0)
                .buffer("counters", counters, 0)
        } else {
            args.null("parts").null("counters")
        };
        let args = args.append(to.last);
        let lds = operand.shared_bytes();
        self.launch(kernel, grid, BLOCK_THREADS, lds, args, &reads, &writes)
    }

    /// The same by the vendor's BLAS, of [`Operand::Rows`].
    pub(super) fn matmul_blas(
        &mut self,
        matrix: &GpuMatrix,
        rows: usize,
        to: Outputs,
    ) -> Result<()> {
        let memory = self.memory;
        let Some(scratch) = &memory.scratch else {
            return Err(Error::Internal("a BLAS has no memory".into()));
        };
        let outs = matrix.tiles * TILE_ROWS;
        let (weights, back) = match matrix.form {
            // As it is in memory.
            MatrixForm::Dense(ScalarType::F16) => (&matrix.data, 1.0),
            _ => {
                self.decode(matrix, &scratch.weights)?;
                (&scratch.weights, matrix.back())
            }
        };
        let x = (&memory.operand, operand_stride(matrix.cols) as u32);
        let shape = [rows, outs, matrix.cols].map(|n| n as u32);
        self.encoder.multiply(weights, x, &scratch.sums, shape)?;
        let args = Args::new()
            .buffer("sums", &scratch.sums, 0)
            .buffer("scales", &memory.scales, 0)
            .append(to.args)
            .f32("back", back)
            .u32("tiles", matrix.tiles as u32)
            .u32("epilogue", to.epilogue)
            .append(to.last);
        let mut reads = to.reads;
        let sums = scratch.sums.range(0, (rows * outs * 4) as u64);
        reads.extend([sums, memory.scales.whole()]);
        let grid = [rows as u32, outs.div_ceil(FINISH_NUMBERS) as u32, 1];
        let kernel = "mlxrocm_matmul_finish";
        self.launch(kernel, grid, 256, 0, args, &reads, &to.writes)
    }

    /// A matrix as rows of f16.
    fn decode(&mut self, matrix: &GpuMatrix, to: &DeviceBuffer) -> Result<()> {
        let count = matrix.tiles * TILE_ROWS * matrix.cols;
        let args = Args::new()
            .buffer("weights", &matrix.data, 0)
            .buffer("out", to, 0);
        let (kernel, args, grid) = match matrix.form {
            MatrixForm::Quant(form) => {
                let args = args
                    .u32("bits", form.bits as u32)
                    .u32("scales", scales_number(form.scales))
                    .u32("group", form.group as u32)
                    .f32("back", matrix.back())
                    .u32("cols", matrix.cols as u32);
                let down = matrix.cols.div_ceil(DECODE_COLS);
                let grid = [matrix.tiles as u32, down as u32, 1];
                ("mlxrocm_matmul_decode".to_owned(), args, grid)
            }
            MatrixForm::Dense(ty) => {
                let args = args.f32("back", matrix.back()).u64("count", count as u64);
                let blocks = count.div_ceil(8 * BLOCK_THREADS as usize);
                let kernel = format!("mlxrocm_matmul_decode_{}", scalar_name(ty));
                (kernel, args, [blocks as u32, 1, 1])
            }
        };
        let writes = [to.range(0, (count * 2) as u64)];
        self.launch(&kernel, grid, BLOCK_THREADS, 0, args, &[], &writes)
    }
}
