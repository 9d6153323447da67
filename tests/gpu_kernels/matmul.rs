//! Products of many rows, split and not, against sums of whole numbers, which no order of additions changes:
//! results are exact. What a kernel must not read or write is poisoned.
//!
//! A gfx11 itself (not the software GPU) is granted what its dot2 and WMMA lose: of a product whose sign is not the
//! accumulator's, one unit of the largest addend's last place (rocm-systems issue 12056), even where the sum is exact.

pub mod matrix;

use crate::prng::Prng;
use crate::{Bench, gpu, on_every_target};
use matrix::{Form, Matrix};
use mlxrocm::gpu::{Args, DeviceBuffer};

const POISON: u32 = 0x7fc0_dead;
/// `WARPGROUP_BYTES` of `hip/ops/matmul/warpgroup.h`.
const WARPGROUP_BYTES: u32 = 5 * 16384 + 1024 + 2 * 5 * 8;
/// Floats of the largest part of a block (`hip/ops/matmul/split.h`).
const PART: usize = 128 * 256;
/// x, biases and residuals are multiples of this.
const STEP: f64 = 1.0 / 4096.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Epilogue {
    /// To outputs of these widths.
    Store([usize; 4]),
    Add,
    Silu,
}

#[derive(Debug, Clone, Copy)]
struct Case {
    rows: usize,
    cols: usize,
    /// At most; there are no more than units.
    splits: usize,
    /// How many columns of blocks are not split where others are, a multiple of `splits` (`Share` of
    /// `hip/ops/matmul/block_registers.h`; elsewhere none).
    whole: usize,
    epilogue: Epilogue,
}

/// One product, with what it must give.
struct Product {
    case: Case,
    matrix: Matrix,
    x: Vec<f32>,
    bias: Option<Vec<f32>>,
    residual: Vec<f32>,
    widths: [usize; 4],
}

fn multiples(random: &mut Prng, count: usize, most: u64) -> Vec<f32> {
    let mut number = |_| (random.below(2 * most + 1) as f64 - most as f64) * STEP;
    (0..count).map(|i| number(i) as f32).collect()
}

impl Product {
    fn new(random: &mut Prng, form: Form, case: Case) -> Product {
        let widths = match case.epilogue {
            Epilogue::Store(widths) => widths,
            Epilogue::Add => [152, 0, 0, 0],
            Epilogue::Silu => [72, 0, 0, 0],
        };
        let tiles: usize = widths.iter().map(|w| w.div_ceil(16)).sum();
        let tiles = match case.epilogue {
            Epilogue::Silu => 2 * tiles,
            _ => tiles,
        };
        Product {
            case,
            matrix: Matrix::new(random, form, tiles, case.cols),
            x: multiples(random, case.rows * case.cols, 8),
            bias: (random.below(2) == 0).then(|| multiples(random, tiles * 16, 4096)),
            residual: multiples(random, case.rows * widths[0], 4096),
            widths,
        }
    }

    /// W · x and the bias, of a row of a tile, and by how much it may be off where each product may lose a `unit`.
    fn sum(&self, row: usize, tile: usize, in_tile: usize, unit: f64) -> [f64; 2] {
        let x = &self.x[row * self.case.cols..][..self.case.cols];
        let term = |(col, x): (usize, &f32)| self.matrix.weight(tile, in_tile, col) * f64::from(*x);
        let (mut sum, mut most) = (0.0, 0.0);
        for term in x.iter().enumerate().map(term) {
            sum += term;
            most += term.abs();
        }
        if let Some(bias) = &self.bias {
            sum += f64::from(bias[tile * 16 + in_tile]);
        }
        [sum, self.case.cols as f64 * unit * most]
    }

    /// Row after row of each output, with what each may be off.
    fn expected(&self, unit: f64) -> Vec<Vec<[f64; 2]>> {
        let mut first = 0;
        let outputs = self.widths.iter().map(|&width| {
            let begin = first;
            first += width.div_ceil(16);
            let number = |(row, column): (usize, usize)| {
                let (tile, in_tile) = (begin + column / 16, column % 16);
                match self.case.epilogue {
                    Epilogue::Store(_) => self.sum(row, tile, in_tile, unit),
                    Epilogue::Add => {
                        let residual = self.residual[row * width + column];
                        let [sum, off] = self.sum(row, tile, in_tile, unit);
                        [sum + f64::from(residual), off]
                    }
                    Epilogue::Silu => {
                        let [gate, gate_off] = self.sum(row, 2 * tile, in_tile, unit);
                        let [up, up_off] = self.sum(row, 2 * tile + 1, in_tile, unit);
                        let product = gate / (1.0 + (-gate).exp()) * up;
                        // Silu is never steeper than 1.1. The exponential function has errors.
                        let off = 1.1 * gate_off * (up.abs() + up_off) + gate.abs() * up_off;
                        [product, off + 2e-5 * product.abs() + 1e-7]
                    }
                }
            };
            let rows = 0..self.case.rows;
            let places = rows.flat_map(|row| (0..width).map(move |column| (row, column)));
            places.map(number).collect()
        });
        outputs.collect()
    }

    fn floats(bench: &Bench, values: &[f32]) -> DeviceBuffer {
        bench.buffer(&values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
    }

    /// x as the kernel takes it, and its scales.
    fn operand(&self, bench: &Bench, kernel: &str) -> [DeviceBuffer; 2] {
        let Case { rows, cols, .. } = self.case;
        let words = rows.next_multiple_of(128) * cols.next_multiple_of(256) / 2;
        let operand = bench.buffer(&vec![u32::MAX; words]);
        let scales = bench.buffer(&vec![POISON; rows]);
        let args = Args::new()
            .buffer("x", &Self::floats(bench, &self.x), 0)
            .null("norm")
            .buffer("operand", &operand, 0)
            .buffer("scales", &scales, 0)
            .u32("cols", cols as u32)
            .f32("eps", 0.0)
            .f32("norm_scale", 1.0);
        let kernel = bench.device.kernel(kernel).unwrap();
        bench.launch(&kernel, [rows as u32, 1, 1], 256, 0, &args);
        [operand, scales]
    }

    /// Launches it twice over the same scratch memory; gives the bits of the outputs.
    fn run(&self, bench: &Bench, kernel: &str, operand: &str, lds: u32) -> Vec<Vec<u32>> {
        let Case {
            rows,
            cols,
            splits,
            whole,
            epilogue,
        } = self.case;
        let [x, scales] = self.operand(bench, operand);
        let weights = bench.buffer(&crate::gpu::words_of(&self.matrix.bytes));
        let residual = Self::floats(bench, &self.residual);
        // A row more than there are.
        let outs = self
            .widths
            .map(|width| bench.buffer(&vec![POISON; (rows + 1) * width.max(1)]));
        let arch = bench.device.facts().arch.as_str();
        let wide = ["gfx90a", "gfx942", "gfx1200", "gfx1201"].contains(&arch);
        let block_tiles = if wide { 16 } else { 8 };
        let (across, down) = (rows.div_ceil(128), self.matrix.tiles.div_ceil(block_tiles));
        let blocks = across * down;
        let whole = if wide { whole } else { 0 };
        assert!(whole.is_multiple_of(splits) && whole <= down);
        let counters = bench.buffer(&vec![0; blocks * splits]);
        let parts = bench.buffer(&vec![u32::MAX; blocks * splits * PART]);
        let bias = self.bias.as_ref().map(|bias| Self::floats(bench, bias));
        let args = Args::new()
            .buffer("weights", &weights, 0)
            .buffer("x", &x, 0)
            .buffer("scales", &scales, 0);
        let args = match &bias {
            Some(bias) => args.buffer("bias", bias, 0),
            None => args.null("bias"),
        };
        let args = match epilogue {
            Epilogue::Add => args.buffer("residual", &residual, 0),
            _ => args.null("residual"),
        };
        let named = ["out0", "out1", "out2"].into_iter().zip(&outs);
        let args = named.fold(args, |args, (name, out)| args.buffer(name, out, 0));
        let ends = self.widths.map(|width| width.div_ceil(16));
        let args = args
            .u32("end0", ends[0] as u32)
            .u32("end1", (ends[0] + ends[1]) as u32);
        let named = ["width0", "width1", "width2"].into_iter().zip(&self.widths);
        let args = named.fold(args, |args, (name, w)| args.u32(name, *w as u32));
        let number = match epilogue {
            Epilogue::Store(_) => 0,
            Epilogue::Add => 1,
            Epilogue::Silu => 2,
        };
        let args = args
            .f32("back", self.matrix.back)
            .u32("rows", rows as u32)
            .u32("cols", cols as u32)
            .u32("tiles", self.matrix.tiles as u32)
            .u32("epilogue", number);
        let args = match splits {
            1 => args.null("parts").null("counters"),
            _ => args
                .buffer("parts", &parts, 0)
                .buffer("counters", &counters, 0),
        };
        let args = args
            .u32("end2", (ends[0] + ends[1] + ends[2]) as u32)
            .u32("width3", self.widths[3] as u32)
            .buffer("out3", &outs[3], 0);
        let kernel = bench.device.kernel(kernel).unwrap();
        let along_y = down - whole / splits * (splits - 1);
        let grid = [across as u32, along_y as u32, splits as u32];
        let mut results = Vec::new();
        for _ in 0..2 {
            bench.launch(&kernel, grid, 256, lds, &args);
            assert_eq!(bench.values(&counters), vec![0; blocks * splits]);
            results.push(outs.each_ref().map(|out| bench.values(out)));
        }
        assert!(results[0] == results[1], "two runs differ");
        results.remove(0).into()
    }

    fn check(&self, bench: &Bench, what: &str, outs: &[Vec<u32>]) {
        let is_ieee = !(gpu::is_real() && bench.device.facts().arch.starts_with("gfx11"));
        let unit = if is_ieee {
            0.0
        } else {
            f64::from(f32::EPSILON)
        };
        for (i, (bits, expected)) in outs.iter().zip(self.expected(unit)).enumerate() {
            let (there, past) = bits.split_at(expected.len());
            assert!(past.iter().all(|w| *w == POISON), "{what}: output {i}");
            for (at, (bits, [expected, off])) in there.iter().zip(expected).enumerate() {
                let (got, width) = (f64::from(f32::from_bits(*bits)), self.widths[i]);
                let (row, column) = (at / width, at % width);
                assert!(
                    (got - expected).abs() <= off,
                    "{what}: output {i} row {row} column {column}: {got} for {expected}"
                );
            }
        }
    }
}

/// Rows, columns, blocks that share a product, and what becomes of it.
const CASES: [(usize, usize, usize, Epilogue); 10] = [
    (17, 392, 1, THREE),
    (17, 392, 2, Epilogue::Add),
    (33, 392, 2, Epilogue::Silu),
    (100, 392, 2, THREE),
    (130, 392, 2, Epilogue::Silu),
    (130, 392, 1, Epilogue::Add),
    (32, 1000, 3, ONE),
    (64, 1000, 4, Epilogue::Silu),
    (33, 1000, 11, THREE),
    (130, 1000, 7, Epilogue::Add),
];
const THREE: Epilogue = Epilogue::Store([72, 40, 56, 0]);
const ONE: Epilogue = Epilogue::Store([200, 0, 0, 0]);

#[test]
fn products_of_many_rows_are_exact_however_they_are_split() {
    on_every_target(|bench| {
        let mut random = Prng::new(31);
        for form in Form::ALL {
            for (rows, cols, splits, epilogue) in CASES {
                let case = Case {
                    rows,
                    cols,
                    splits: splits.min(form.units(cols)),
                    whole: 0,
                    epilogue,
                };
                let product = Product::new(&mut random, form, case);
                let name = format!("mlxrocm_matmul_block_{}", form.name());
                let outs = product.run(bench, &name, "mlxrocm_matmul_operand", 0);
                product.check(bench, &format!("{name} {case:?}"), &outs);
                if bench.device.facts().arch == "sm_90" && form != Form::Bf16 {
                    let name = format!("mlxrocm_matmul_warpgroup_{}", form.name());
                    let operand = "mlxrocm_matmul_operand_tiles";
                    let outs = product.run(bench, &name, operand, WARPGROUP_BYTES);
                    product.check(bench, &format!("{name} {case:?}"), &outs);
                }
            }
        }
    });
}

#[test]
fn products_of_many_rows_are_exact_where_only_the_last_blocks_are_split() {
    on_every_target(|bench| {
        let mut random = Prng::new(37);
        for (splits, whole, outs) in [(2, 2, 530), (3, 3, 780)] {
            let case = Case {
                rows: 130,
                cols: 264,
                splits,
                whole,
                epilogue: Epilogue::Store([outs, 0, 0, 0]),
            };
            let product = Product::new(&mut random, Form::Pairs4, case);
            let name = "mlxrocm_matmul_block_q4_f16_g64";
            let outs = product.run(bench, name, "mlxrocm_matmul_operand", 0);
            product.check(bench, &format!("{name} {case:?}"), &outs);
        }
    });
}

/// Every case of one form, for the tests of waits and fences.
pub fn products_of_four_bits(bench: &Bench) {
    let mut random = Prng::new(31);
    for (rows, cols, splits, epilogue) in CASES {
        let case = Case {
            rows,
            cols,
            splits: splits.min(Form::Pairs4.units(cols)),
            whole: 0,
            epilogue,
        };
        let product = Product::new(&mut random, Form::Pairs4, case);
        let name = "mlxrocm_matmul_block_q4_f16_g64";
        let outs = product.run(bench, name, "mlxrocm_matmul_operand", 0);
        product.check(bench, name, &outs);
    }
}
