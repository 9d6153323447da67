//! MLX mxfp4, mxfp8 and nvfp4: `w = scale·v`, `v` a 4-bit (E2M1) or 8-bit (E4M3) float.
//!
//! Codes are one little-endian bit stream a row, as in the affine formats: of 4 bits, the low nibble
//! first. Scales lie apart, a byte a group: of mxfp4 and mxfp8 the exponent of a power of two (E8M0),
//! of nvfp4 a float (E4M3).

use super::RowGroups;
use super::values::{e2m1, e4m3, e8m0};

/// The parts in which the three differ.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// 8-bit codes, else 4-bit ones.
    pub(super) wide: bool,
    /// Scales are floats, else powers of two.
    pub(super) float_scales: bool,
    /// Weights a group.
    pub(super) group: usize,
}

pub(super) const MXFP4: Kind = Kind {
    wide: false,
    float_scales: false,
    group: 32,
};
pub(super) const MXFP8: Kind = Kind {
    wide: true,
    float_scales: false,
    group: 32,
};
pub(super) const NVFP4: Kind = Kind {
    wide: false,
    float_scales: true,
    group: 16,
};

impl Kind {
    fn scale(self, byte: u8) -> f32 {
        if self.float_scales {
            e4m3(byte)
        } else {
            e8m0(byte)
        }
    }

    fn unpack(self, packed: &[u8], codes: &mut [u8]) {
        if self.wide {
            codes.copy_from_slice(packed);
            return;
        }
        for (codes, byte) in codes.as_chunks_mut::<2>().0.iter_mut().zip(packed) {
            *codes = [byte & 15, byte >> 4];
        }
    }

    /// One row, bit-exact.
    pub(super) fn dequantize(self, packed: &[u8], scales: &[u8], out: &mut [f32]) {
        let group_bytes = if self.wide {
            self.group
        } else {
            self.group / 2
        };
        let mut codes = [0u8; 32];
        let codes = &mut codes[..self.group];
        let parts = packed.chunks_exact(group_bytes).zip(scales);
        for (out, (packed, scale)) in out.chunks_exact_mut(self.group).zip(parts) {
            self.unpack(packed, codes);
            let scale = self.scale(*scale);
            for (out, code) in out.iter_mut().zip(&*codes) {
                let value = if self.wide { e4m3(*code) } else { e2m1(*code) };
                *out = scale * value;
            }
        }
    }

    /// One row in its group form; `false` where a weight is no finite number.
    pub(super) fn read_groups(self, packed: &[u8], scales: &[u8], out: &mut RowGroups) -> bool {
        let cols = if self.wide {
            packed.len()
        } else {
            packed.len() * 2
        };
        out.resize(cols, scales.len(), 0);
        self.unpack(packed, &mut out.codes);
        out.points.extend_from_slice(scales);
        for (to, byte) in out.scales.iter_mut().zip(scales) {
            *to = self.scale(*byte);
        }
        let finite = out.scales.iter().all(|scale| scale.is_finite());
        finite && !(self.wide && holds_nan(&out.codes))
    }
}

/// Whether some E4M3 number is NaN.
pub(super) fn holds_nan(codes: &[u8]) -> bool {
    codes.iter().any(|code| code & 0x7f == 0x7f)
}
