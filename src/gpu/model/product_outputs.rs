//! Where results of products go, and what is done with them there.

use super::many::Outputs;
use super::matmul::{ADD, SILU, STORE, STORE_FOUR};
use super::pack::TILE_ROWS;
use super::record::Recorder;
use super::weights::Launch;
use crate::driver::{DeviceFacts, Platform};
use crate::gpu::{Args, DeviceBuffer};
use crate::step::{BufferId, Epilogue, Norm, Product};
use crate::{Error, Result};

/// The most matrices of one launch: an output each (`hip/ops/matmul/epilogue.h`).
const OUTPUTS: usize = 4;

/// How many there may be.
pub(super) fn outputs(facts: &DeviceFacts) -> usize {
    match facts.platform {
        Platform::Cuda => OUTPUTS,
        Platform::Hip => OUTPUTS - 1,
    }
}

/// What a step multiplies.
#[derive(Clone, Copy)]
pub(super) struct Multiply<'a> {
    pub x: BufferId,
    pub norm: Option<Norm>,
    pub products: &'a [Product],
    pub epilogue: Epilogue,
}

/// What kernels call it.
fn epilogue_number(launch: &Launch, epilogue: Epilogue) -> u32 {
    match epilogue {
        Epilogue::Add(_) => ADD,
        Epilogue::SwiGlu if launch.silu => SILU,
        Epilogue::Store if launch.count == OUTPUTS => STORE_FOUR,
        Epilogue::Store | Epilogue::SwiGlu => STORE,
    }
}

/// Where rows of a product go.
struct Target {
    buffer: DeviceBuffer,
    offset: u64,
    bytes: u64,
    width: usize,
}

impl Recorder<'_> {
    /// Where rows of a product go.
    fn target(&self, product: &Product, index: usize, row: usize, rows: usize) -> Result<Target> {
        let Some(id) = product.out else {
            let width = self.schedule.vocab_size;
            let bytes = |rows: usize| (rows * width * 4) as u64;
            return Ok(Target {
                buffer: self.memory.logits.clone(),
                offset: bytes(row),
                bytes: bytes(rows),
                width,
            });
        };
        let (width, mut offset) = (self.width(id), self.at(id, row));
        let mut buffer = &self.memory.arena;
        if index == 1
            && let Some(up) = &self.memory.up
        {
            buffer = up;
            offset = (row * width * 4) as u64;
        }
        Ok(Target {
            buffer: buffer.clone(),
            offset,
            bytes: (rows * width * 4) as u64,
            width,
        })
    }

    /// Where `rows` rows of a product go, from `row` on.
    pub(super) fn outputs(
        &self,
        launch: &Launch,
        product: Multiply<'_>,
        (row, rows): (usize, usize),
    ) -> Result<Outputs> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let epilogue = product.epilogue;
        let args = Args::new().buffer_or_null("bias", launch.bias.as_ref().map(|bias| (bias, 0)));
        let mut args = match epilogue {
            Epilogue::Add(residual) => {
                reads.push(self.range(residual, row, rows));
                args.buffer("residual", &self.memory.arena, self.at(residual, row))
            }
            _ => args.null("residual"),
        };
        const OUTS: [&str; 3] = ["out0", "out1", "out2"];
        // A matrix of gate and up has one output.
        let outs = if launch.silu { 1 } else { launch.count };
        let (mut ends, mut widths, mut tiles) = ([0u32; OUTPUTS], [0u32; OUTPUTS], 0);
        let mut fourth = Args::new().null("out3");
        for i in 0..OUTPUTS {
            let index = launch.first + i;
            match product.products.get(index).filter(|_| i < outs) {
                Some(of) => {
                    let unfused = epilogue == Epilogue::SwiGlu && !launch.silu;
                    let place = if unfused { index } else { 0 };
                    let target = self.target(of, place, row, rows)?;
                    match OUTS.get(i) {
                        Some(&name) => args = args.buffer(name, &target.buffer, target.offset),
                        None => {
                            fourth = Args::new().buffer("out3", &target.buffer, target.offset);
                        }
                    }
                    writes.push(target.buffer.range(target.offset, target.bytes));
                    widths[i] = target.width as u32;
                    tiles += target.width.div_ceil(TILE_ROWS) as u32;
                }
                None => {
                    if let Some(&name) = OUTS.get(i) {
                        args = args.null(name);
                    }
                }
            }
            ends[i] = tiles;
        }
        Ok(Outputs {
            args: args.u32("end0", ends[0]).u32("end1", ends[1]).u32s(
                ["width0", "width1", "width2"],
                [widths[0], widths[1], widths[2]],
            ),
            last: Args::new()
                .u32("end2", ends[2])
                .u32("width3", widths[3])
                .append(fourth),
            reads,
            writes,
            epilogue: epilogue_number(launch, epilogue),
        })
    }

    /// `silu(gate) · up` where the product could not do it.
    pub(super) fn silu(&mut self, products: &[Product]) -> Result<()> {
        let (Some(gate), Some(up)) = (
            products.first().and_then(|p| p.out),
            self.memory.up.as_ref(),
        ) else {
            return Err(Error::Internal("gate and up have no place".into()));
        };
        let rows = self.rows(gate);
        let count = rows * self.width(gate);
        let args = Args::new()
            .buffer("gate", &self.memory.arena, self.at(gate, 0))
            .buffer("up", up, 0)
            .buffer("out", &self.memory.arena, self.at(gate, 0))
            .u32("count", count as u32);
        let reads = [self.range(gate, 0, rows), up.whole()];
        let writes = [self.range(gate, 0, rows)];
        let grid = [count.div_ceil(256) as u32, 1, 1];
        self.launch("mlxrocm_silu_mul_f32", grid, 256, 0, args, &reads, &writes)
    }
}
