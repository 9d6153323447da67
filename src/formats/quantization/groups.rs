//! The group form that all kernels are written against.

use super::{ScalarType, Values};

/// The group form of a quantized format: `w = scale·value(q) + bias`, `q` unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupForm {
    /// Bits a code: 2, 3, 4, 5, 6 or 8.
    pub bits: u8,
    /// Consecutive weights of a row that share scale and bias: 16, 32, 64, 128 or 256.
    pub group: usize,
    /// What a code stands for.
    pub values: Values,
    /// Where scale and bias come from.
    pub scale: ScaleForm,
}

/// Where a group's scale and bias come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleForm {
    /// Both stored per group as `ScalarType`: `w = scale·q + bias`.
    Stored(ScalarType),
    /// Scale stored per group, fixed zero point: `w = scale·(q − zero)`.
    Zero(ScalarType, u8),
    /// Scale and a zero point stored per group: `w = scale·(q − zero)`.
    Points(ScalarType),
    /// A power of two stored per group as its 8-bit exponent (E8M0): `w = 2^(byte − 127)·value(q)`.
    Power,
    /// An 8-bit float (E4M3) stored per group: `w = scale·value(q)`.
    Float8,
    /// K-quant: one f16 `d` per 256 weights, one signed `sub` per group: `w = d·sub·(q − zero)`.
    SuperZero(u8),
    /// K-quant: f16 `d`, `dmin` per 256 weights, 6-bit `sub`, `sub_min` per group:
    /// `w = d·sub·q − dmin·sub_min`.
    SuperMin,
}

/// One row of a quantized weight, taken apart into its group form.
#[derive(Debug, Default, Clone)]
pub struct RowGroups {
    /// One code a weight, unpacked; length = columns.
    pub codes: Vec<u8>,
    /// `Super*`: `d` of each 256 weights. Else the scale of each group.
    pub scales: Vec<f32>,
    /// `Stored`: the bias of each group. `SuperMin`: `dmin` of each 256 weights. Else empty.
    pub biases: Vec<f32>,
    /// `Super*`: `sub` of each group (signed for `SuperZero`). Else empty.
    pub sub_scales: Vec<i8>,
    /// `SuperMin`: `sub_min` of each group. Else empty.
    pub sub_mins: Vec<u8>,
    /// `Points`: the zero point of each group. `Power`, `Float8`: the scale's byte. Else empty.
    pub points: Vec<u8>,
    /// Grids: the entries that the codes come from, in the order of the columns. Else empty.
    pub indices: Vec<u16>,
    /// Grids: for each eight columns the fourth bits of their codes, the first column's lowest.
    /// Else empty.
    pub signs: Vec<u8>,
}

impl RowGroups {
    /// Sets the lengths of codes, scales and biases; contents are unspecified until written. All
    /// other parts are empty.
    pub(super) fn resize(&mut self, codes: usize, scales: usize, biases: usize) {
        self.resize_super(codes, scales, biases, 0, 0);
    }

    /// As [`RowGroups::resize`], with second-level scales.
    pub(super) fn resize_super(
        &mut self,
        codes: usize,
        scales: usize,
        biases: usize,
        sub_scales: usize,
        sub_mins: usize,
    ) {
        self.codes.resize(codes, 0);
        self.scales.resize(scales, 0.0);
        self.biases.resize(biases, 0.0);
        self.sub_scales.resize(sub_scales, 0);
        self.sub_mins.resize(sub_mins, 0);
        self.points.clear();
        self.indices.clear();
        self.signs.clear();
    }

    /// The scale and bias of one group: `w = scale·value(q) + bias`.
    ///
    /// `None` when the parts are too short for `group`.
    pub fn scale_bias(&self, form: GroupForm, group: usize) -> Option<(f32, f32)> {
        let block = group * form.group / 256;
        let around = |scale: f32, zero: u8| (scale, -scale * f32::from(zero));
        Some(match form.scale {
            ScaleForm::Stored(_) => (*self.scales.get(group)?, *self.biases.get(group)?),
            ScaleForm::Zero(_, zero) => around(*self.scales.get(group)?, zero),
            ScaleForm::Points(_) => around(*self.scales.get(group)?, *self.points.get(group)?),
            ScaleForm::Power | ScaleForm::Float8 => (*self.scales.get(group)?, 0.0),
            ScaleForm::SuperZero(zero) => {
                let scale = self.scales.get(block)? * f32::from(*self.sub_scales.get(group)?);
                around(scale, zero)
            }
            ScaleForm::SuperMin => {
                let scale = self.scales.get(block)? * f32::from(*self.sub_scales.get(group)?);
                let min = self.biases.get(block)? * f32::from(*self.sub_mins.get(group)?);
                (scale, -min)
            }
        })
    }
}
