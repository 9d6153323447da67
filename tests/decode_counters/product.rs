//! One product of a row on the software GPU, as the executor launches it, and its counters.

use crate::gpu;
use crate::mapped::mapped;
use mlxrocm::formats::{Format, ScalarType, Weight};
use mlxrocm::gpu::Device;
use mlxrocm::gpu::model::{GpuExecutor, GpuWeights, Room};
use mlxrocm::step::{
    Attention, Buffer, BufferId, Epilogue, KvType, MatrixId, Product, Rope, Rows, Schedule, Slice,
    StateSize, Step, Wanted,
};
use serde_json::Value;
use std::sync::Arc;

/// Counters of the kernel of the product, of waves.
#[derive(Debug, Clone, Copy)]
pub struct Counters {
    pub workgroups: u64,
    pub waves: u64,
    /// Vector instructions, of which dot products and the matrix unit's.
    pub valu: u64,
    pub dot: u64,
    pub lds: u64,
    pub wide: Loads,
    pub narrow: Loads,
}

/// Global loads of 128 bits, or of less: instructions, bytes that lanes asked for, 64-byte lines.
#[derive(Debug, Clone, Copy)]
pub struct Loads {
    pub count: u64,
    pub bytes: u64,
    pub lines: u64,
}

impl Loads {
    fn of(kernel: &Value, widths: std::ops::Range<usize>) -> Loads {
        let sum = |name: &str| widths.clone().map(|i| number(&kernel[name][i])).sum();
        Loads {
            count: sum("load_widths"),
            bytes: sum("load_bytes"),
            lines: sum("load_lines"),
        }
    }

    fn minus(self, other: Loads) -> Loads {
        Loads {
            count: self.count - other.count,
            bytes: self.bytes - other.bytes,
            lines: self.lines - other.lines,
        }
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

impl Counters {
    fn of(kernel: &Value) -> Counters {
        let class = |name: &str| number(&kernel["instructions"][name]);
        // Dot products and the matrix unit are vector instructions in classes of their own.
        let dot = class("dot") + class("matrix");
        Counters {
            workgroups: number(&kernel["workgroups"]),
            waves: number(&kernel["waves"]),
            valu: class("valu") + dot,
            dot,
            lds: class("lds"),
            wide: Loads::of(kernel, 5..6),
            narrow: Loads::of(kernel, 0..5),
        }
    }

    /// What this launch did more than another on the same grid.
    pub fn minus(&self, other: &Counters) -> Counters {
        Counters {
            valu: self.valu - other.valu,
            dot: self.dot - other.dot,
            lds: self.lds - other.lds,
            wide: self.wide.minus(other.wide),
            narrow: self.narrow.minus(other.narrow),
            ..*self
        }
    }
}

/// Bytes of a row in the file, scales and biases included.
pub fn row_bytes(format: Format, cols: usize) -> usize {
    let codes = format.row_bytes(cols).expect("whole blocks");
    match format {
        Format::Affine { group, scale, .. } => {
            codes + cols / usize::from(group) * 2 * scale.bytes()
        }
        _ => codes,
    }
}

/// A matrix of zeros: what is counted does not depend on the numbers.
fn matrix(format: Format, rows: usize, cols: usize) -> Weight {
    let codes = vec![0; rows * format.row_bytes(cols).expect("whole blocks")];
    let scales = match format {
        Format::Affine { group, scale, .. } => {
            Some(vec![0; rows * cols / usize::from(group) * scale.bytes()])
        }
        _ => None,
    };
    let part = || scales.as_deref().map(mapped);
    Weight::new("w", format, rows, cols, mapped(&codes), part(), part()).expect("a weight")
}

/// Embed, then the product to the logits.
fn schedule(rows: usize, cols: usize) -> Schedule {
    let buffer = |rows: Rows, offset: usize| Buffer {
        rows,
        width: cols,
        offset,
    };
    Schedule {
        hidden: None,
        steps: vec![
            Step::Embed {
                table: MatrixId(0),
                out: BufferId(0),
            },
            Step::SelectWanted {
                x: BufferId(0),
                out: BufferId(1),
            },
            Step::Matmul {
                x: BufferId(1),
                norm: None,
                products: vec![Product {
                    weight: MatrixId(1),
                    bias: None,
                    out: None,
                }],
                epilogue: Epilogue::Store,
            },
        ],
        buffers: vec![buffer(Rows::Tokens, 0), buffer(Rows::Wanted, cols)],
        width: 2 * cols,
        ropes: vec![Rope {
            inv_freq: vec![1.0; 32],
            interleaved: false,
            magnitude: 1.0,
        }],
        turns: Vec::new(),
        vocab_size: rows,
        states: vec![Attention {
            heads: 1,
            kv_heads: 1,
            head_dim: 64,
            scale: 0.125,
            window: None,
            chunk: None,
            cap: None,
        }],
        recurrent: Vec::new(),
    }
}

/// The product of a matrix `[rows, cols]` and so many rows.
pub fn run(device: &Arc<Device>, format: Format, (rows, cols): (usize, usize), count: u32) {
    let schedule = schedule(rows, cols);
    let table = matrix(Format::Dense(ScalarType::F16), 1, cols);
    let matrices = [table, matrix(format, rows, cols)];
    let weights = GpuWeights::new(device, &schedule, &matrices, &[], 0, Room::All, &mut |_| {
        Ok(())
    })
    .expect("weights");
    let slots = count as usize;
    let size = StateSize::any(slots, slots, KvType::F16);
    let mut executor = GpuExecutor::new(Arc::new(weights), schedule, size).expect("an executor");
    let pages: Vec<u32> = (0..count).collect();
    let slices: Vec<Slice<'_>> = pages
        .iter()
        .map(|page| Slice {
            tokens: &[0],
            start: 0,
            pages: std::slice::from_ref(page),
            wanted: Wanted::Last,
            slot: 0,
        })
        .collect();
    let mut logits = Vec::new();
    executor.run(&slices, &mut logits).expect("a step");
    assert_eq!(logits, vec![0.0; rows * slots]);
}

/// Counters of the product of a matrix `[rows, cols]` and one row, on a chip of so many compute units.
pub fn counters(
    target: &str,
    compute_units: u32,
    format: Format,
    rows: usize,
    cols: usize,
) -> Counters {
    // Without the race checks, which other tests do: they cost most of the time.
    let gpu = gpu::soft(&format!(
        "devices={target};compute_units={compute_units};checks=0"
    ));
    let before = gpu.report();
    run(&gpu.device(), format, (rows, cols), 1);
    let report = gpu.report();
    let kernels = report["kernels"].as_object().expect("kernels");
    let products: Vec<_> = kernels
        .iter()
        .filter(|(name, _)| name.starts_with("mlxrocm_matmul_rows_"))
        .collect();
    let [(name, kernel)] = products[..] else {
        panic!("not one kernel of products: {products:?}");
    };
    assert_eq!(before["kernels"][name], Value::Null, "{name} ran before");
    assert_eq!(kernel["launches"], 1, "{name}");
    gpu.clean();
    Counters::of(kernel)
}
