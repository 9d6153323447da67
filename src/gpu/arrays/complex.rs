//! Complex numbers: `hip/ops/arrays/complex*.hip`.

use super::matrices::Extra;
use super::numbers::{is_known, unary_number};
use super::{Elements, Place};
use crate::Result;
use crate::gpu::constants::arrays_complex;
use crate::ir::{Binary, Dtype, Layout, Unary};
use smallvec::SmallVec;
use std::sync::Arc;

/// Of `enum ComplexFunction`.
const TIMES_I: u32 = arrays_complex::TIMES_I;

/// `enum UnaryFunction` and `enum ComplexFunction`.
pub(super) fn complex_number(function: Unary) -> Option<u32> {
    match function {
        Unary::Conjugate => Some(32),
        Unary::Real => Some(33),
        Unary::Imag => Some(34),
        function => unary_number(function),
    }
}

/// Whether there is such a function of two complex numbers.
pub(super) fn is_of_complex(function: Binary) -> bool {
    use Binary::*;
    !matches!(
        function,
        ArcTan2 | BitwiseAnd | BitwiseOr | BitwiseXor | LeftShift | RightShift | Remainder
    )
}

impl Place {
    /// A function of complex numbers, or a cast to them; `None` for numbers that kernels do not know.
    pub(super) fn complex_unary(
        self: &Arc<Self>,
        function: u32,
        x: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let known = |dtype| dtype == Dtype::C64 || is_known(dtype);
        if !known(x.dtype()) || !known(to) {
            return Ok(None);
        }
        let numbers = [
            ("function", function),
            ("from", x.dtype() as u32),
            ("to", to as u32),
        ];
        self.elementwise("mlxrocm_array_complex_unary", &[x], to, &numbers)
    }

    /// A function of two complex numbers each.
    pub(super) fn complex_binary(
        self: &Arc<Self>,
        function: u32,
        a: &Elements,
        b: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let numbers = [("function", function), ("to", to as u32)];
        self.elementwise("mlxrocm_array_complex_binary", &[a, b], to, &numbers)
    }

    /// As [`Place::product`], of complex numbers: as a product of real matrices.
    pub(super) fn complex_product(
        self: &Arc<Self>,
        a: &Elements,
        b: &Elements,
        sizes: &[usize],
        extra: &Extra<'_>,
    ) -> Result<Option<Elements>> {
        let plus = match extra.plus {
            Some((c, beta)) if c.dtype() == Dtype::C64 => self.paired(c)?.map(|c| (c, beta)),
            _ => None,
        };
        // Segments count complex columns.
        if extra.segments.is_some() || plus.is_some() != extra.plus.is_some() {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (self.paired(a)?, self.stacked_pairs(b)?) else {
            return Ok(None);
        };
        let mut real: SmallVec<[usize; 6]> = sizes.into();
        if let Some(columns) = real.last_mut() {
            *columns *= 2;
        }
        let extra = Extra {
            plus: plus.as_ref().map(|(c, beta)| (c, *beta)),
            alpha: extra.alpha,
            places: extra.places,
            segments: None,
        };
        let made = self.product(&a, &b, &real, &extra)?;
        made.map(|made| made.with(Dtype::C64, Layout::rows(sizes)))
            .transpose()
    }

    /// `[…, k, n]` as `[…, 2k, 2n]` real numbers: each row r is two, r and i·r. With rows whose parts are neighbours on its
    /// left this makes the parts of complex products.
    fn stacked_pairs(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
        let mut sizes = x.layout().sizes.clone();
        let Some(axis) = sizes.len().checked_sub(1).filter(|&axis| axis > 0) else {
            return Ok(None);
        };
        let Some(turned) = self.complex_unary(TIMES_I, x, Dtype::C64)? else {
            return Ok(None);
        };
        sizes.insert(axis, 2);
        let Some((both, _)) = self.new_rows(&sizes, Dtype::C64)? else {
            return Ok(None);
        };
        sizes.remove(axis);
        for (place, half) in [x, &turned].into_iter().enumerate() {
            let mut part = both.layout().clone();
            part.sizes.remove(axis);
            part.strides.remove(axis);
            part.offset += place * sizes[axis];
            if !self.put(half, &both, &part)? {
                return Ok(None);
            }
        }
        sizes[axis - 1] *= 2;
        sizes[axis] *= 2;
        both.with(Dtype::F32, Layout::rows(&sizes)).map(Some)
    }

    /// Complex numbers row after row, their parts as twice as many columns.
    fn paired(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let mut sizes = x.layout().sizes.clone();
        let Some(last) = sizes.last_mut() else {
            return Ok(None);
        };
        *last *= 2;
        let layout = Layout {
            offset: x.layout().offset * 2,
            ..Layout::rows(&sizes)
        };
        x.with(Dtype::F32, layout).map(Some)
    }
}
