//! The case of the quantized matrix products (`hip/ops/matmul`): one row, 4 bits in groups of 64.

use super::case::{Argument, Case, Expected, Trial, bytes_of_floats};
use super::random::Random;
use crate::driver::DeviceFacts;
use crate::gpu::model::{MatrixForm, PackForm, Scales};
use half::f16;

/// Kernels of `hip/ops/matmul`.
pub const CASES: &[Case] = &[Case {
    kernel: "mlxrocm_matmul_rows_q4_f16_g64_r1",
    trials: product,
}];

const FORM: MatrixForm = MatrixForm::Quant(PackForm {
    bits: 4,
    scales: Scales::PairF16,
    group: 64,
});

/// Rows of a tile, columns of a block and of a group.
const TILE: usize = 16;
const GROUP: usize = 64;

/// A quantized matrix: `w = scale · code + bias`.
struct Matrix {
    rows: usize,
    cols: usize,
    codes: Vec<u8>,
    /// (scale, bias) of each group.
    groups: Vec<(f16, f16)>,
}

impl Matrix {
    fn new(random: &mut Random, rows: usize, cols: usize) -> Matrix {
        let codes = (0..rows * cols).map(|_| (random.bits() >> 60) as u8);
        let codes = codes.collect();
        let pair = |random: &mut Random| {
            let (scale, bias) = (random.unit() / 16.0, random.unit());
            (f16::from_f32(scale), f16::from_f32(bias))
        };
        let groups = (0..rows * cols / GROUP).map(|_| pair(random)).collect();
        Matrix {
            rows,
            cols,
            codes,
            groups,
        }
    }

    /// 0 outside the matrix.
    fn code(&self, row: usize, col: usize) -> u32 {
        self.codes
            .get(row * self.cols + col)
            .map_or(0, |c| u32::from(*c))
    }

    fn group(&self, row: usize, col: usize) -> (f16, f16) {
        let at = (row * self.cols + col) / GROUP;
        self.groups.get(at).copied().unwrap_or_default()
    }

    /// The layout that `hip/common/quant.h` describes, written from its description.
    fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for tile in (0..self.rows).step_by(TILE) {
            for block in (0..self.cols).step_by(GROUP) {
                for lane in 0..32 {
                    let (g, t) = (lane / 4, lane % 4);
                    let mut words = [0_u32; 4];
                    for pair in 0..16 {
                        let (step, i) = (pair / 4, pair % 4);
                        let row = tile + g + 8 * (i % 2);
                        let col = block + 32 * (step / 2) + 8 * t + 4 * (step % 2) + 2 * (i / 2);
                        let both = self.code(row, col) | self.code(row, col + 1) << 16;
                        if let Some(word) = words.get_mut(pair / 4) {
                            *word |= both << (4 * (pair % 4));
                        }
                    }
                    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                }
                for g in 0..8 {
                    for row in [tile + g, tile + g + 8] {
                        let (scale, bias) = self.group(row, block);
                        bytes.extend([scale.to_le_bytes(), bias.to_le_bytes()].concat());
                    }
                }
            }
        }
        bytes
    }

    /// A row's product with `x`, and how far from it is still right: `x` becomes integers of 16 bits.
    fn product(&self, row: usize, x: &[f32]) -> (f64, f64) {
        let largest = x
            .iter()
            .fold(0.0, |most: f64, x| most.max(f64::from(x.abs())));
        let (mut sum, mut size) = (0.0, 0.0);
        for (col, x) in x.iter().enumerate() {
            let (scale, bias) = self.group(row, col);
            let scaled = scale.to_f64() * f64::from(self.code(row, col));
            sum += (scaled + bias.to_f64()) * f64::from(*x);
            size += scaled.abs() + bias.to_f64().abs();
        }
        (sum, size * largest / 16384.0)
    }
}

fn product(random: &mut Random, facts: &DeviceFacts) -> Vec<Trial> {
    // The second tile is not full.
    let (rows, cols) = (21, 192);
    let matrix = Matrix::new(random, rows, cols);
    let x = random.units(cols);
    let tiles = rows.div_ceil(TILE);
    let input = |bytes| Argument::Input { bytes, skew: 0 };
    let expected = (0..rows).map(|row| matrix.product(row, &x)).collect();
    vec![Trial {
        label: format!("{rows} x {cols}"),
        grid: [FORM.blocks(facts, (1, cols), tiles), 1, 1],
        block: FORM.threads(facts),
        shared: FORM.shared_bytes(facts, 1, cols) as u32,
        args: vec![
            ("weights", input(matrix.packed())),
            ("x", input(bytes_of_floats(&x))),
            // No norm, bias or residual, and one output.
            ("norm", Argument::Null),
            ("bias", Argument::Null),
            ("residual", Argument::Null),
            (
                "out0",
                Argument::Output {
                    size: rows * 4,
                    skew: 0,
                    expected: Expected::Near(expected),
                },
            ),
            ("out1", Argument::Null),
            ("out2", Argument::Null),
            // The tiles of the first outputs, and the widths of all.
            ("end0", Argument::U32(tiles as u32)),
            ("end1", Argument::U32(tiles as u32)),
            ("width0", Argument::U32(rows as u32)),
            ("width1", Argument::U32(0)),
            ("width2", Argument::U32(0)),
            // Of the norm.
            ("eps", Argument::F32(0.0)),
            ("rows", Argument::U32(1)),
            ("cols", Argument::U32(cols as u32)),
            ("tiles", Argument::U32(tiles as u32)),
            // Stored as it is.
            ("epilogue", Argument::U32(0)),
            // What a fourth output has.
            ("end2", Argument::U32(0)),
            ("width3", Argument::U32(0)),
            ("out3", Argument::Null),
        ],
    }]
}
