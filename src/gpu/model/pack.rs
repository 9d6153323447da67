//! Weights in the layout of the GPU kernels (`hip/common/quant.h` says what it is): the file's own codes and
//! scales, only moved, by the kernels of `hip/ops/pack`.

use super::matmul::{MatrixForm, scales_number};
use crate::formats::{Format, GroupForm, ScalarType, ScaleForm, Table, Values};
use crate::gpu::constants::matmul_rows_q4;

/// Rows of a tile.
pub const TILE_ROWS: usize = matmul_rows_q4::TILE_ROWS;
/// Columns of a block.
pub const BLOCK: usize = matmul_rows_q4::BLOCK_COLS;

/// `enum Scales` of `quant.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scales {
    /// A scale and a bias of a group, f16.
    PairF16,
    /// The same, bf16.
    PairBf16,
    /// The same, f32.
    PairF32,
    /// A scale of a group, f16; the bias is a multiple of it that the kernel knows.
    Zero,
    /// A scale of 256 columns, f16, times one of a group, a byte.
    SuperZero,
    /// The same, with a least value beside each.
    SuperMin,
    /// A power of two of a group, a byte.
    Power,
    /// A scale and a zero point of a group, f16.
    Point,
    /// A scale of a group, an 8-bit float.
    Float8,
    /// A scale of a group, f32.
    Single,
    /// A scale of a group, f16, and a table of 16 numbers.
    Table16,
    /// As [`Scales::SuperZero`], and a table of 8 numbers.
    Table8,
}

/// `struct Quant` of `quant.h`: what a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackForm {
    /// Bits of a code.
    pub bits: usize,
    /// What its group's scales are.
    pub scales: Scales,
    /// Columns that share their scales here; a divisor of the file's group.
    pub group: usize,
}

impl PackForm {
    /// `None` for forms that the kernels do not have.
    pub fn of(form: GroupForm) -> Option<PackForm> {
        let pairs = |ty| match ty {
            ScalarType::F16 => Scales::PairF16,
            ScalarType::BF16 => Scales::PairBf16,
            ScalarType::F32 => Scales::PairF32,
        };
        let is_whole = form.group >= BLOCK;
        let scales = match (form.values, form.scale) {
            (Values::Table(Table::E2M1) | Values::E4M3, ScaleForm::Power) => Scales::Power,
            (Values::Table(Table::E2M1), ScaleForm::Float8) => Scales::Float8,
            (Values::E4M3, ScaleForm::Zero(..)) if is_whole => Scales::Single,
            (Values::Table(Table::Iq4), ScaleForm::Zero(..) | ScaleForm::SuperZero(_)) => {
                Scales::Table16
            }
            // Of entries of eight columns there are three magnitudes and a sign.
            (Values::Grid(grid), ScaleForm::SuperZero(_)) if grid.columns() == 8 => Scales::Table8,
            (Values::Grid(_), ScaleForm::SuperZero(_)) => Scales::Table16,
            (Values::Code, ScaleForm::Stored(ty)) => pairs(ty),
            (Values::Code, ScaleForm::Zero(ScalarType::F16, _)) if form.group == 32 => Scales::Zero,
            // The bias is the scale times a power of two: as exact as the scale.
            (Values::Code, ScaleForm::Zero(ty, _)) => pairs(ty),
            (Values::Code, ScaleForm::Points(_)) if is_whole => Scales::Point,
            (Values::Code, ScaleForm::Points(_)) => Scales::PairF32,
            (Values::Code, ScaleForm::SuperZero(_)) => Scales::SuperZero,
            (Values::Code, ScaleForm::SuperMin) => Scales::SuperMin,
            _ => return None,
        };
        let most = match scales {
            Scales::PairF32 => 32,
            Scales::Table8 => 16,
            _ => BLOCK,
        };
        let bits = match scales {
            Scales::Table8 => 3,
            _ => form.bits.into(),
        };
        Some(PackForm {
            bits,
            scales,
            group: form.group.min(most),
        })
    }

    /// Bits of the first plane; the second has the rest.
    pub fn first(self) -> usize {
        match self.bits {
            3 => 2,
            5 | 6 => 4,
            bits => bits,
        }
    }

    /// Whether groups have a scale in common, too.
    pub fn is_super(self) -> bool {
        use Scales::{SuperMin, SuperZero, Table8, Table16};
        matches!(self.scales, SuperZero | SuperMin | Table16 | Table8)
    }

    /// Whether codes are 8-bit floats: their products with x are of f16.
    pub fn is_e4m3(self) -> bool {
        match self.scales {
            Scales::Single => true,
            Scales::Power => self.bits == 8,
            _ => false,
        }
    }

    /// Whether products of a group are added as integers on CDNA (`WHOLE_GROUPS` of `hip/ops/matmul/rows_x.h`; a test compares).
    pub fn adds_whole_groups(self) -> bool {
        match self.bits {
            4 | 8 => self.group >= 32 && !self.is_e4m3(),
            _ => self.group == 32 && self.scales != Scales::PairF32,
        }
    }

    /// Bytes of a column in either of the two parts of x (`X_BYTES` of `hip/ops/matmul/rows_x.h`).
    pub fn bytes_of_x(self) -> usize {
        if self.is_e4m3() { 2 } else { 1 }
    }

    /// Blocks of a unit.
    pub fn unit_blocks(self) -> usize {
        match (self.first(), self.bits - self.first()) {
            _ if self.is_super() => 4,
            (_, 1) => 4,
            (2, _) | (_, 2) => 2,
            _ => 1,
        }
    }

    /// Columns of whole units.
    pub fn padded(self, cols: usize) -> usize {
        self.units(cols) * self.unit_blocks() * BLOCK
    }

    /// Units of a tile.
    pub fn units(self, cols: usize) -> usize {
        cols.div_ceil(self.unit_blocks() * BLOCK)
    }

    /// Bytes of a unit's codes.
    pub fn code_bytes(self) -> usize {
        self.unit_blocks() * BLOCK * TILE_ROWS / 8 * self.bits
    }

    /// Bytes of the scales of a group of a tile's rows.
    pub fn group_bytes(self) -> usize {
        match self.scales {
            Scales::PairF16 | Scales::PairBf16 | Scales::Point | Scales::Single => 64,
            Scales::PairF32 => 128,
            Scales::Zero | Scales::SuperMin | Scales::Table16 => 32,
            Scales::SuperZero | Scales::Power | Scales::Float8 | Scales::Table8 => 16,
        }
    }

    /// Bytes of a unit's scales that groups have in common.
    pub fn super_bytes(self) -> usize {
        match self.scales {
            Scales::SuperZero | Scales::Table16 | Scales::Table8 => 32,
            Scales::SuperMin => 64,
            _ => 0,
        }
    }

    fn table_bytes(self) -> usize {
        match self.scales {
            Scales::Table16 | Scales::Table8 => 16,
            _ => 0,
        }
    }

    /// Bytes of a unit.
    pub fn unit_bytes(self) -> usize {
        self.code_bytes()
            + self.super_bytes()
            + self.unit_blocks() * BLOCK / self.group * self.group_bytes()
            + self.table_bytes()
    }

    /// Bytes of a tile of so many columns.
    pub fn tile_bytes(self, cols: usize) -> usize {
        self.units(cols) * self.unit_bytes()
    }

    /// `q4_bf16_g64`, as kernels are named.
    pub fn name(self) -> String {
        let scales = match self.scales {
            Scales::PairF16 => "f16",
            Scales::PairBf16 => "bf16",
            Scales::PairF32 => "f32",
            Scales::Zero => "zero",
            Scales::SuperZero => "sub",
            Scales::SuperMin => "min",
            Scales::Power => "power",
            Scales::Point => "point",
            Scales::Float8 => "float",
            Scales::Single => "single",
            Scales::Table16 | Scales::Table8 => "table",
        };
        format!("q{}_{scales}_g{}", self.bits, self.group)
    }
}

/// The kernel that moves rows of a file into tiles (`hip/ops/pack`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileForm {
    pub kernel: &'static str,
    /// The number of its kind of scales.
    pub kind: u32,
    /// Columns of a group in the file; 0: it has none.
    pub group: usize,
}

impl FileForm {
    pub fn of(format: Format, form: MatrixForm) -> FileForm {
        let kernel = match format {
            Format::Dense(_) => "mlxrocm_pack_dense",
            Format::Affine { bits, .. } | Format::Centered { bits, .. } => match bits {
                2 => "mlxrocm_pack_apart_2",
                3 => "mlxrocm_pack_apart_3",
                4 => "mlxrocm_pack_apart_4",
                5 => "mlxrocm_pack_apart_5",
                6 => "mlxrocm_pack_apart_6",
                _ => "mlxrocm_pack_apart_8",
            },
            Format::Mxfp4 | Format::Nvfp4 => "mlxrocm_pack_apart_4",
            Format::Mxfp8 | Format::Float8 { .. } => "mlxrocm_pack_apart_8",
            Format::Gptq { plus: 0, .. } => "mlxrocm_pack_gptq_v2",
            Format::Gptq { .. } => "mlxrocm_pack_gptq",
            Format::Awq { .. } => "mlxrocm_pack_awq",
            Format::GgufMxfp4 => "mlxrocm_pack_mxfp4",
            Format::GgufNvfp4 => "mlxrocm_pack_nvfp4",
            Format::Q4_0 => "mlxrocm_pack_q4_0",
            Format::Q4_1 => "mlxrocm_pack_q4_1",
            Format::Q5_0 => "mlxrocm_pack_q5_0",
            Format::Q5_1 => "mlxrocm_pack_q5_1",
            Format::Q8_0 => "mlxrocm_pack_q8_0",
            Format::Q8_1 => "mlxrocm_pack_q8_1",
            Format::Q2K => "mlxrocm_pack_q2_k",
            Format::Q3K => "mlxrocm_pack_q3_k",
            Format::Q4K => "mlxrocm_pack_q4_k",
            Format::Q5K => "mlxrocm_pack_q5_k",
            Format::Q6K => "mlxrocm_pack_q6_k",
            Format::Iq4Nl => "mlxrocm_pack_iq4_nl",
            Format::Iq4Xs => "mlxrocm_pack_iq4_xs",
            Format::Iq3Xxs => "mlxrocm_pack_iq3_xxs",
            Format::Iq3S => "mlxrocm_pack_iq3_s",
            Format::Iq2Xxs => "mlxrocm_pack_iq2_xxs",
            Format::Iq2Xs => "mlxrocm_pack_iq2_xs",
            Format::Iq2S => "mlxrocm_pack_iq2_s",
            Format::Iq1S => "mlxrocm_pack_iq1_s",
            Format::Iq1M => "mlxrocm_pack_iq1_m",
            Format::Tq1_0 => "mlxrocm_pack_tq1_0",
            Format::Tq2_0 => "mlxrocm_pack_tq2_0",
        };
        let scales = match form {
            MatrixForm::Quant(form) => form.scales,
            // As in pairs: `hip/ops/pack/dense.hip`.
            MatrixForm::Dense(ScalarType::F16) => Scales::PairF16,
            MatrixForm::Dense(ScalarType::BF16) => Scales::PairBf16,
            MatrixForm::Dense(ScalarType::F32) => Scales::PairF32,
        };
        let group = match format {
            // As `parts.rs` gives them.
            Format::Float8 { .. } => BLOCK,
            _ => format.group_form().map_or(0, |form| form.group),
        };
        FileForm {
            kernel,
            kind: scales_number(scales),
            group,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernels for several rows were compiled to, by the table that the tests of kernels keep.
    #[test]
    fn forms_that_add_whole_groups_are_those_of_the_kernels() {
        use Scales::*;
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/kernels.tsv");
        let table = std::fs::read_to_string(path).expect("the table of kernels");
        let all = [
            PairF16, PairBf16, PairF32, Zero, SuperZero, SuperMin, Power, Point, Float8, Single,
            Table16, Table8,
        ];
        let forms: Vec<PackForm> = [2, 3, 4, 5, 6, 8]
            .into_iter()
            .flat_map(|bits| all.map(|scales| (bits, scales)))
            .flat_map(|(bits, scales)| {
                [16, 32, 64].map(|group| PackForm {
                    bits,
                    scales,
                    group,
                })
            })
            .collect();
        let mut found = [0, 0];
        for line in table.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            let [kernel, "gfx90a" | "gfx942", .., units, _] = columns[..] else {
                continue;
            };
            let name = kernel.strip_prefix("mlxrocm_matmul_rows_");
            let Some(name) = name.and_then(|name| name.strip_suffix("_rn")) else {
                continue;
            };
            let form = forms.iter().find(|form| form.name() == name);
            let adds = form.expect(name).adds_whole_groups();
            assert_eq!(adds, units.split(',').any(|unit| unit == "mfma"), "{line}");
            found[usize::from(adds)] += 1;
        }
        assert!(found[0] > 10 && found[1] > 10, "{found:?}");
    }
}
