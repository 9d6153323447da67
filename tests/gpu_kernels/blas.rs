//! What goes before and after a product by a BLAS. Decoded weights: to the bit what the words of
//! `hip/common/quant.h` say, rounded as block.h rounds, for every form. Finished sums: exact.

use crate::matmul::matrix::code;
use crate::prng::Prng;
use crate::{Bench, on_every_target};
use half::{bf16, f16};
use mlxrocm::formats::Values;
use mlxrocm::gpu::Args;

const POISON: u32 = 0x7fc0_dead;
const BACK: f32 = 1.0 / 16.0;

/// Any sixteen numbers.
const TABLE: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// `enum Scales`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scales {
    F16,
    Bf16,
    F32,
    Zero,
    SuperZero,
    SuperMin,
    Power,
    Point,
    Float8,
    Single,
    Table16,
    Table8,
}

#[derive(Debug, Clone, Copy)]
struct Form {
    bits: usize,
    scales: Scales,
    group: usize,
}

/// Every form that there are kernels for.
fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    let mut add = |bits, scales, group| {
        forms.push(Form {
            bits,
            scales,
            group,
        });
    };
    for bits in [2, 3, 4, 5, 6, 8] {
        for scales in [Scales::F16, Scales::Bf16] {
            add(bits, scales, 32);
            add(bits, scales, 64);
        }
        add(bits, Scales::F32, 32);
    }
    for (bits, scales, group) in [
        (4, Scales::Zero, 32),
        (5, Scales::Zero, 32),
        (8, Scales::Zero, 32),
        (3, Scales::SuperZero, 16),
        (6, Scales::SuperZero, 16),
        (2, Scales::SuperMin, 16),
        (4, Scales::SuperMin, 32),
        (5, Scales::SuperMin, 32),
        (4, Scales::Power, 32),
        (4, Scales::Point, 64),
        (4, Scales::Float8, 16),
        (4, Scales::Table16, 32),
        (3, Scales::Table8, 16),
        (8, Scales::Power, 32),
        (8, Scales::Single, 64),
    ] {
        add(bits, scales, group);
    }
    forms
}

impl Form {
    /// Bits of the planes.
    fn planes(self) -> [usize; 2] {
        match self.bits {
            3 => [2, 1],
            5 => [4, 1],
            6 => [4, 2],
            bits => [bits, 0],
        }
    }

    /// Blocks of a unit: what one 16-byte read of the thinnest plane spans, or a K-quant's 256 columns.
    fn unit_blocks(self) -> usize {
        use Scales::{SuperMin, SuperZero, Table8, Table16};
        if matches!(self.scales, SuperZero | SuperMin | Table16 | Table8) {
            return 4;
        }
        let thinnest = self.planes().into_iter().filter(|bits| *bits > 0).min();
        (4 / thinnest.unwrap()).max(1)
    }

    fn code_bytes(self) -> usize {
        self.unit_blocks() * 64 * 16 * self.bits / 8
    }

    /// Scales of a unit.
    fn scales(self, random: &mut Prng) -> Vec<u8> {
        let groups = self.unit_blocks() * 64 / self.group;
        let mut number = |most: f64| random.uniform(-most, most) as f32;
        let mut halves = |count: usize, most| -> Vec<u8> {
            let half = |_| f16::from_f32(number(most)).to_le_bytes();
            (0..count).flat_map(half).collect()
        };
        match self.scales {
            Scales::F16 => halves(groups * 32, 0.1),
            Scales::Zero => halves(groups * 16, 0.1),
            Scales::Bf16 => {
                let number = |_| bf16::from_f32(number(0.1)).to_le_bytes();
                (0..groups * 32).flat_map(number).collect()
            }
            Scales::F32 => {
                let number = |_| number(0.1).to_le_bytes();
                (0..groups * 32).flat_map(number).collect()
            }
            Scales::SuperZero => [halves(16, 0.01), random.bytes(groups * 16)].concat(),
            Scales::SuperMin => [halves(32, 0.01), random.bytes(groups * 32)].concat(),
            // Zero points 0 to 15.
            Scales::Point => {
                let mut pairs = halves(groups * 32, 0.1);
                for pair in pairs.chunks_exact_mut(4) {
                    let zero = f16::from_f32(f32::from(pair[0] & 15));
                    pair[2..].copy_from_slice(&zero.to_le_bytes());
                }
                pairs
            }
            // From 2^-5 to 15/16, some below 0.
            Scales::Float8 => {
                let byte = |b: &u8| 16 + b % 40 + (b & 0x80);
                random.bytes(groups * 16).iter().map(byte).collect()
            }
            Scales::Single => {
                let number = |_| number(0.02).to_le_bytes();
                (0..groups * 16).flat_map(number).collect()
            }
            Scales::Table16 => {
                let scales = [halves(16, 0.01), halves(groups * 16, 1.0)].concat();
                [scales, TABLE.map(|v| v as u8).to_vec()].concat()
            }
            Scales::Table8 => {
                let scales = [halves(16, 0.01), random.bytes(groups * 16)].concat();
                [scales, TABLE.map(|v| v as u8).to_vec()].concat()
            }
            // Powers from 2^-8 to 2^-1.
            Scales::Power => random
                .bytes(groups * 16)
                .iter()
                .map(|b| 119 + b % 8)
                .collect(),
        }
    }

    /// Scale and bias of a column of the unit.
    fn scale_bias(self, scales: &[u8], row: usize, col: usize) -> (f32, f32) {
        let place = row % 8 * 2 + row / 8;
        let half = |at: usize| f16::from_le_bytes([scales[at], scales[at + 1]]).to_f32();
        let group = col / self.group;
        let at = group * 16 + place;
        match self.scales {
            Scales::F16 => (half(at * 4), half(at * 4 + 2)),
            Scales::Bf16 => {
                let number = |at: usize| bf16::from_le_bytes([scales[at], scales[at + 1]]).to_f32();
                (number(at * 4), number(at * 4 + 2))
            }
            Scales::F32 => {
                let number = |at: usize| f32::from_le_bytes(scales[at..at + 4].try_into().unwrap());
                (number(at * 8), number(at * 8 + 4))
            }
            Scales::Zero => {
                let zero =
                    [8.0, 16.0, 128.0][[4, 5, 8].iter().position(|b| *b == self.bits).unwrap()];
                (half(at * 2), -zero * half(at * 2))
            }
            Scales::SuperZero => {
                let scale = half(place * 2) * f32::from(scales[32 + at] as i8);
                (scale, -scale * if self.bits == 6 { 32.0 } else { 4.0 })
            }
            Scales::SuperMin => {
                let (scale, min) = (scales[64 + at * 2], scales[64 + at * 2 + 1]);
                let minimum = half(place * 4 + 2) * f32::from(min);
                (half(place * 4) * f32::from(scale), -minimum)
            }
            Scales::Power => (2f32.powi(i32::from(scales[at]) - 127), 0.0),
            Scales::Point => (half(at * 4), -half(at * 4) * half(at * 4 + 2)),
            Scales::Float8 => (Values::E4M3.value(scales[at]), 0.0),
            Scales::Single => {
                let bytes = scales[at * 4..at * 4 + 4].try_into().unwrap();
                (f32::from_le_bytes(bytes), 0.0)
            }
            Scales::Table16 => (half(place * 2) * half(32 + at * 2), 0.0),
            Scales::Table8 => (
                half(place * 2) * (f32::from(scales[32 + at] as i8) / 8.0),
                0.0,
            ),
        }
    }

    /// A weight divided by `BACK`, as block.h rounds it.
    fn weight(self, unit: &[u8], row: usize, col: usize) -> u16 {
        let code = code(unit, self.planes(), self.unit_blocks(), row, col);
        let (scale, bias) = self.scale_bias(&unit[self.code_bytes()..], row, col);
        let (scale, bias) = (scale / BACK, bias / BACK);
        let number = match (self.scales, self.bits) {
            (Scales::Power | Scales::Float8, 4) => {
                let size = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][code as usize % 8];
                Some(if code < 8 { size } else { -size })
            }
            (Scales::Power | Scales::Single, 8) => Some(Values::E4M3.value(code as u8)),
            (Scales::Table16 | Scales::Table8, _) => Some(f32::from(TABLE[code as usize])),
            _ => None,
        };
        if let Some(number) = number {
            // A bias of 0 is added: there is no -0.
            return f16::from_f32(number * scale + 0.0).to_bits();
        }
        let weight = match self.scales {
            Scales::F16 | Scales::Bf16 | Scales::Zero => {
                let [scale, bias] = [scale, bias].map(|v| f16::from_f32(v).to_f64());
                // Exact in f64: one rounding.
                f16::from_f64(f64::from(code).mul_add(scale, bias))
            }
            _ => f16::from_f32((code as f32).mul_add(scale, bias)),
        };
        weight.to_bits()
    }
}

#[test]
fn decoded_weights_are_right_to_the_bit() {
    on_every_target(|bench| {
        let mut random = Prng::new(71);
        let kernel = bench.device.kernel("mlxrocm_matmul_decode").unwrap();
        for form in forms() {
            for (tiles, cols) in [(1_usize, 8_usize), (3, 360), (2, 512)] {
                let unit_cols = form.unit_blocks() * 64;
                let units = tiles * cols.div_ceil(unit_cols);
                let units: Vec<Vec<u8>> = (0..units)
                    .map(|_| [random.bytes(form.code_bytes()), form.scales(&mut random)].concat())
                    .collect();
                let weights = bench.buffer(&crate::gpu::words_of(&units.concat()));
                // Some more than there are.
                let out = bench.buffer(&vec![POISON; tiles * 16 * cols / 2 + 64]);
                let args = Args::new()
                    .buffer("weights", &weights, 0)
                    .buffer("out", &out, 0)
                    .u32("bits", form.bits as u32)
                    .u32("scales", form.scales as u32)
                    .u32("group", form.group as u32)
                    .f32("back", BACK)
                    .u32("cols", cols as u32);
                let grid = [tiles as u32, cols.div_ceil(128) as u32, 1];
                bench.launch(&kernel, grid, 256, 0, &args);
                let words = bench.values(&out);
                let (there, past) = words.split_at(tiles * 16 * cols / 2);
                assert!(past.iter().all(|w| *w == POISON), "{form:?} {cols}");
                let halves = there.iter().flat_map(|w| [*w as u16, (*w >> 16) as u16]);
                for (at, half) in halves.enumerate() {
                    let (row, col) = (at / cols, at % cols);
                    let unit = row / 16 * cols.div_ceil(unit_cols) + col / unit_cols;
                    let expected = form.weight(&units[unit], row % 16, col % unit_cols);
                    assert_eq!(half, expected, "{form:?} {cols}: row {row} column {col}");
                }
            }
        }
    });
}

/// `silu(gate) · up` of the sums' pairs, or what is stored or added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Epilogue {
    Store,
    Add,
    Silu,
}

#[test]
fn finished_sums_are_exact() {
    on_every_target(|bench| {
        let mut random = Prng::new(72);
        for (epilogue, widths, in_place) in [
            (Epilogue::Store, [72, 40, 56, 0], false),
            (Epilogue::Store, [1072, 0, 0, 0], true),
            (Epilogue::Add, [1100, 0, 0, 0], false),
            (Epilogue::Silu, [72, 0, 0, 0], false),
            (Epilogue::Silu, [1500, 0, 0, 0], false),
        ] {
            for (rows, with_bias) in [(1, true), (5, false)] {
                let what = format!("{epilogue:?} {widths:?} {rows}");
                finish(
                    bench,
                    &mut random,
                    &what,
                    epilogue,
                    widths,
                    rows,
                    with_bias,
                    in_place,
                );
            }
        }
    });
}

#[allow(clippy::too_many_arguments)] // a case
fn finish(
    bench: &Bench,
    random: &mut Prng,
    what: &str,
    epilogue: Epilogue,
    widths: [usize; 4],
    rows: usize,
    with_bias: bool,
    in_place: bool,
) {
    let mut multiples = |count: usize| -> Vec<f32> {
        let number = |_| (random.below(4097) as f32 - 2048.0) / 1024.0;
        (0..count).map(number).collect()
    };
    let silu = epilogue == Epilogue::Silu;
    let ends: Vec<usize> = widths.iter().map(|w| w.div_ceil(16)).collect();
    let tiles = ends.iter().sum::<usize>() * if silu { 2 } else { 1 };
    let (sums, bias) = (multiples(rows * tiles * 16), multiples(tiles * 16));
    let residual = multiples(rows * widths[0]);
    let scales: Vec<f32> = (0..rows).map(|r| [1.0, 4.0, 0.5][r % 3]).collect();
    let floats =
        |values: &[f32]| bench.buffer(&values.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
    let on_device = floats(&sums);
    // A row more than there are.
    let outs = widths.map(|w| match in_place {
        true => on_device.clone(),
        false => bench.buffer(&vec![POISON; (rows + 1) * w.max(1)]),
    });
    let (bias_there, residual_there) = (floats(&bias), floats(&residual));
    let args = Args::new()
        .buffer("sums", &on_device, 0)
        .buffer("scales", &floats(&scales), 0);
    let args = match with_bias {
        true => args.buffer("bias", &bias_there, 0),
        false => args.null("bias"),
    };
    let args = match epilogue {
        Epilogue::Add => args.buffer("residual", &residual_there, 0),
        _ => args.null("residual"),
    };
    let named = ["out0", "out1", "out2"].into_iter().zip(&outs);
    let args = named.fold(args, |args, (name, out)| args.buffer(name, out, 0));
    let args = args
        .u32("end0", ends[0] as u32)
        .u32("end1", (ends[0] + ends[1]) as u32);
    let named = ["width0", "width1", "width2"].into_iter().zip(&widths);
    let args = named.fold(args, |args, (name, w)| args.u32(name, *w as u32));
    let args = args
        .f32("back", BACK)
        .u32("tiles", tiles as u32)
        .u32("epilogue", epilogue as u32)
        .u32("end2", (ends[0] + ends[1] + ends[2]) as u32)
        .u32("width3", widths[3] as u32)
        .buffer("out3", &outs[3], 0);
    let kernel = bench.device.kernel("mlxrocm_matmul_finish").unwrap();
    let grid = [rows as u32, (tiles * 16).div_ceil(1024) as u32, 1];
    bench.launch(&kernel, grid, 256, 0, &args);
    let sum = |row: usize, tile: usize, column: usize| -> f64 {
        let at = tile * 16 + column;
        let bias = if with_bias { bias[at] } else { 0.0 };
        f64::from(sums[row * tiles * 16 + at] * scales[row] * BACK) + f64::from(bias)
    };
    let mut first = 0;
    for (i, width) in widths
        .into_iter()
        .enumerate()
        .filter(|(_, width)| *width > 0)
    {
        let values = bench.values(&outs[i]);
        let (there, past) = values.split_at(rows * width);
        assert!(
            past.iter().all(|w| in_place || *w == POISON),
            "{what}: output {i}"
        );
        for (at, bits) in there.iter().enumerate() {
            let (row, tile, column) = (at / width, first + at % width / 16, at % width % 16);
            let got = f64::from(f32::from_bits(*bits));
            let (expected, near) = match epilogue {
                Epilogue::Store => (sum(row, tile, column), 0.0),
                Epilogue::Add => (sum(row, tile, column) + f64::from(residual[at]), 0.0),
                Epilogue::Silu => {
                    let gate = sum(row, 2 * tile, column);
                    let product = gate / (1.0 + (-gate).exp()) * sum(row, 2 * tile + 1, column);
                    // The exponential function has errors.
                    (product, 2e-5 * product.abs() + 1e-7)
                }
            };
            assert!(
                (got - expected).abs() <= near,
                "{what}: {i} {at}: {got} for {expected}"
            );
        }
        first += ends[i];
    }
}
