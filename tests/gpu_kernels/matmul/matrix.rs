//! Random matrices as the kernels take them, of small whole numbers, and what is in them by the words of
//! `hip/common/quant.h`.

use crate::prng::Prng;
use half::{bf16, f16};

/// How a matrix lies in memory; of each number of blocks that make a unit there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `q4_f16_g64`: a block a unit.
    Pairs4,
    /// `q6_f16_g32`: two.
    Pairs6,
    /// `q4_min_g32`: four.
    Min4,
    /// Not quantized: one.
    Bf16,
}

impl Form {
    pub const ALL: [Form; 4] = [Form::Pairs4, Form::Pairs6, Form::Min4, Form::Bf16];

    pub fn name(self) -> &'static str {
        match self {
            Form::Pairs4 => "q4_f16_g64",
            Form::Pairs6 => "q6_f16_g32",
            Form::Min4 => "q4_min_g32",
            Form::Bf16 => "bf16",
        }
    }

    fn unit_blocks(self) -> usize {
        match self {
            Form::Pairs4 | Form::Bf16 => 1,
            Form::Pairs6 => 2,
            Form::Min4 => 4,
        }
    }

    pub fn units(self, cols: usize) -> usize {
        cols.div_ceil(64 * self.unit_blocks())
    }

    /// Bits of the planes.
    fn planes(self) -> [usize; 2] {
        match self {
            Form::Pairs6 => [4, 2],
            _ => [4, 0],
        }
    }

    fn code_bytes(self) -> usize {
        let bits: usize = self.planes().iter().sum();
        self.unit_blocks() * 64 * 16 * bits / 8
    }

    fn scale_bytes(self) -> usize {
        match self {
            Form::Pairs4 => 64,
            Form::Pairs6 => 4 * 64,
            Form::Min4 => 64 + 8 * 32,
            Form::Bf16 => 0,
        }
    }
}

/// The code of row `row` of a tile at column `col` of a unit of so many blocks, whose planes have these bits.
pub fn code(unit: &[u8], planes: [usize; 2], blocks: usize, row: usize, col: usize) -> u32 {
    let (g, high, in_block) = (row % 8, row / 8, col % 64);
    let (t, r) = (in_block % 32 / 8, in_block % 8);
    let (step, i) = (in_block / 32 * 2 + r / 4, r % 4 / 2 * 2 + high);
    let (lane, pair) = (4 * g + t, (col / 64 * 4 + step) * 4 + i);
    let (mut plane, mut code, mut shift) = (unit, 0, 0);
    for bits in planes.into_iter().filter(|bits| *bits > 0) {
        let (word, place) = (pair / (16 / bits), bits * (pair % (16 / bits)));
        let at = (word / 4 * 32 + lane) * 16 + word % 4 * 4;
        let word = u32::from_le_bytes(plane[at..at + 4].try_into().unwrap());
        code |= (word >> (place + 16 * (r % 2)) & ((1 << bits) - 1)) << shift;
        (plane, shift) = (&plane[blocks * bits * 128..], shift + bits);
    }
    code
}

pub struct Matrix {
    form: Form,
    cols: usize,
    pub tiles: usize,
    pub bytes: Vec<u8>,
    /// The largest power of two that keeps weights, divided by it, below 8192.
    pub back: f32,
}

impl Matrix {
    pub fn new(random: &mut Prng, form: Form, tiles: usize, cols: usize) -> Matrix {
        let bytes = match form {
            Form::Bf16 => {
                let number = |_| bf16::from_f32(random.below(255) as f32 - 127.0).to_le_bytes();
                (0..tiles * 16 * cols).flat_map(number).collect()
            }
            _ => {
                let units = tiles * form.units(cols);
                let unit = |_| [random.bytes(form.code_bytes()), scales(random, form)].concat();
                (0..units).flat_map(unit).collect()
            }
        };
        // Weights are below 256.
        let back = 1.0 / 32.0;
        Matrix {
            form,
            cols,
            tiles,
            bytes,
            back,
        }
    }

    /// The weight of row `row` of a tile.
    pub fn weight(&self, tile: usize, row: usize, col: usize) -> f64 {
        let form = self.form;
        if form == Form::Bf16 {
            let at = ((tile * 16 + row) * self.cols + col) * 2;
            return bf16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).to_f64();
        }
        let (g, high, blocks) = (row % 8, row / 8, form.unit_blocks());
        let (block, in_block) = (col / 64, col % 64);
        let unit_bytes = form.code_bytes() + form.scale_bytes();
        let at = (tile * form.units(self.cols) + block / blocks) * unit_bytes;
        let unit = &self.bytes[at..at + unit_bytes];
        let in_unit = block % blocks * 64 + in_block;
        let q = f64::from(code(unit, form.planes(), blocks, row, in_unit));
        let scales = &unit[form.code_bytes()..];
        let f16_at = |at: usize| f16::from_le_bytes([scales[at], scales[at + 1]]).to_f64();
        if form == Form::Min4 {
            let super_at = (g * 2 + high) * 4;
            let sub_at = 64 + ((in_unit / 32 * 8 + g) * 2 + high) * 2;
            let (s, m) = (f64::from(scales[sub_at]), f64::from(scales[sub_at + 1]));
            return f16_at(super_at) * s * q - f16_at(super_at + 2) * m;
        }
        let group = in_unit / if form == Form::Pairs4 { 64 } else { 32 };
        let at = ((group * 8 + g) * 2 + high) * 4;
        f16_at(at) * q + f16_at(at + 2)
    }
}

/// Scales of a unit that make whole numbers.
fn scales(random: &mut Prng, form: Form) -> Vec<u8> {
    let pair = |random: &mut Prng, scales: [f32; 3], bias: u64| {
        let scale = scales[random.below(3) as usize];
        let bias = random.below(2 * bias + 1) as f32 - bias as f32;
        [scale, bias]
            .map(|v| f16::from_f32(v).to_le_bytes())
            .concat()
    };
    if form != Form::Min4 {
        let pairs = form.scale_bytes() / 4;
        return (0..pairs)
            .flat_map(|_| pair(random, [1.0, 2.0, -1.0], 60))
            .collect();
    }
    let mut bytes = Vec::new();
    for _ in 0..16 {
        bytes.extend([1.0, 2.0].map(|v| f16::from_f32(v).to_le_bytes()).concat());
    }
    bytes.extend((0..8 * 16).flat_map(|_| [1 + random.below(4) as u8, random.below(30) as u8]));
    bytes
}
