//! The group form that all kernels are written against.

use super::ScalarType;

/// The group form of a quantized format: `w = scale·q + bias`, `q` unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupForm {
    /// Bits a code: 2, 3, 4, 5, 6 or 8.
    pub bits: u8,
    /// Consecutive weights of a row that share scale and bias: 16, 32, 64 or 128.
    pub group: usize,
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
    /// `Stored`/`Zero`: the scale of each group. `Super*`: `d` of each 256 weights.
    pub scales: Vec<f32>,
    /// `Stored`: the bias of each group. `SuperMin`: `dmin` of each 256 weights. Else empty.
    pub biases: Vec<f32>,
    /// `Super*`: `sub` of each group (signed for `SuperZero`). Else empty.
    pub sub_scales: Vec<i8>,
    /// `SuperMin`: `sub_min` of each group. Else empty.
    pub sub_mins: Vec<u8>,
}

impl RowGroups {
    /// Sets the lengths of all parts; contents are unspecified until written.
    pub(super) fn resize(&mut self, codes: usize, scales: usize, biases: usize) {
        self.codes.resize(codes, 0);
        self.scales.resize(scales, 0.0);
        self.biases.resize(biases, 0.0);
        self.sub_scales.clear();
        self.sub_mins.clear();
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
    }

    /// The scale and bias of one group, as the kernels use them: `w = scale·q + bias`.
    ///
    /// `None` when the parts are too short for `group`.
    pub fn scale_bias(&self, form: GroupForm, group: usize) -> Option<(f32, f32)> {
        let block = group * form.group / 256;
        Some(match form.scale {
            ScaleForm::Stored(_) => (*self.scales.get(group)?, *self.biases.get(group)?),
            ScaleForm::Zero(_, zero) => {
                let scale = *self.scales.get(group)?;
                (scale, -scale * f32::from(zero))
            }
            ScaleForm::SuperZero(zero) => {
                let scale = self.scales.get(block)? * f32::from(*self.sub_scales.get(group)?);
                (scale, -scale * f32::from(zero))
            }
            ScaleForm::SuperMin => {
                let scale = self.scales.get(block)? * f32::from(*self.sub_scales.get(group)?);
                let min = self.biases.get(block)? * f32::from(*self.sub_mins.get(group)?);
                (scale, -min)
            }
        })
    }
}
