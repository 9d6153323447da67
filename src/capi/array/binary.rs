//! Functions of two or three arrays, element by element, broadcast to one shape.

use super::functions::array_functions;
use crate::ir::{Binary, Reduce};

array_functions! {
    /// Sum.
    fn mlxrocm_array_add(array a, array b) -> result = a.binary(Binary::Add, &b);
    /// Angle of the point (b, a).
    fn mlxrocm_array_arctan2(array a, array b) -> result = a.binary(Binary::ArcTan2, &b);
    /// And of the bits of integers or truth values.
    fn mlxrocm_array_bitwise_and(array a, array b) -> result = a.binary(Binary::BitwiseAnd, &b);
    /// Or of the bits of integers or truth values.
    fn mlxrocm_array_bitwise_or(array a, array b) -> result = a.binary(Binary::BitwiseOr, &b);
    /// Exclusive or of the bits of integers or truth values.
    fn mlxrocm_array_bitwise_xor(array a, array b) -> result = a.binary(Binary::BitwiseXor, &b);
    /// Bits of integers moved up by b; 0 beyond the dtype's bits.
    fn mlxrocm_array_left_shift(array a, array b) -> result = a.binary(Binary::LeftShift, &b);
    /// Bits of integers moved down by b; by more than the dtype's bits as by all of them.
    fn mlxrocm_array_right_shift(array a, array b) -> result = a.binary(Binary::RightShift, &b);
    /// Quotient, a fraction.
    fn mlxrocm_array_divide(array a, array b) -> result = a.binary(Binary::Divide, &b);
    /// Quotient, rounded down, but of complex numbers. An integer by 0 is 0.
    fn mlxrocm_array_floor_divide(array a, array b) -> result = a.binary(Binary::FloorDivide, &b);
    /// Whether a = b.
    fn mlxrocm_array_equal(array a, array b) -> result = a.binary(Binary::Equal, &b);
    /// Whether a > b.
    fn mlxrocm_array_greater(array a, array b) -> result = a.binary(Binary::Greater, &b);
    /// Whether a >= b.
    fn mlxrocm_array_greater_equal(array a, array b) -> result = a.binary(Binary::GreaterEqual, &b);
    /// Whether a < b.
    fn mlxrocm_array_less(array a, array b) -> result = a.binary(Binary::Less, &b);
    /// Whether a <= b.
    fn mlxrocm_array_less_equal(array a, array b) -> result = a.binary(Binary::LessEqual, &b);
    /// log(exp(a) + exp(b)) without overflow.
    fn mlxrocm_array_logaddexp(array a, array b) -> result = a.binary(Binary::LogAddExp, &b);
    /// Whether both are not 0.
    fn mlxrocm_array_logical_and(array a, array b) -> result = a.binary(Binary::LogicalAnd, &b);
    /// Whether one is not 0.
    fn mlxrocm_array_logical_or(array a, array b) -> result = a.binary(Binary::LogicalOr, &b);
    /// The larger; NaN if one is NaN.
    fn mlxrocm_array_maximum(array a, array b) -> result = a.binary(Binary::Maximum, &b);
    /// The smaller; NaN if one is NaN.
    fn mlxrocm_array_minimum(array a, array b) -> result = a.binary(Binary::Minimum, &b);
    /// Product.
    fn mlxrocm_array_multiply(array a, array b) -> result = a.binary(Binary::Multiply, &b);
    /// Whether a and b differ.
    fn mlxrocm_array_not_equal(array a, array b) -> result = a.binary(Binary::NotEqual, &b);
    /// a to the power of b. Integers to a negative power are 0, but 1 and -1.
    fn mlxrocm_array_power(array a, array b) -> result = a.binary(Binary::Power, &b);
    /// Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0.
    fn mlxrocm_array_remainder(array a, array b) -> result = a.binary(Binary::Remainder, &b);
    /// Difference.
    fn mlxrocm_array_subtract(array a, array b) -> result = a.binary(Binary::Subtract, &b);
    /// Whether one is 0 and the other is not.
    fn mlxrocm_array_logical_xor(array a, array b) -> result = a.logical_xor(&b);
    /// Quotient, rounded down, and remainder, with b's sign.
    fn mlxrocm_array_divmod(array a, array b) -> quotient, remainder = a.divmod(&b);
    /// Elements of a where the condition is not 0, of b elsewhere.
    fn mlxrocm_array_where(array condition, array a, array b) -> result = condition.select(&a, &b);
    /// Elements between a minimum and a maximum.
    /// - `minimum`: borrowed; NULL: no minimum.
    /// - `maximum`: borrowed; NULL: no maximum.
    fn mlxrocm_array_clip(array x, optional minimum, optional maximum) -> result
        = x.clip(minimum.as_ref(), maximum.as_ref());
    /// Whether |a - b| <= atol + rtol |b|; equal infinities are close.
    /// - `rtol`: relative tolerance.
    /// - `atol`: absolute tolerance.
    /// - `equal_nan`: not 0: NaN is close to NaN.
    fn mlxrocm_array_isclose(array a, array b, number rtol, number atol, flag equal_nan) -> result
        = a.isclose(&b, rtol, atol, equal_nan);
    /// Whether all elements are close, as by mlxrocm_array_isclose.
    /// - `rtol`: relative tolerance.
    /// - `atol`: absolute tolerance.
    /// - `equal_nan`: not 0: NaN is close to NaN.
    fn mlxrocm_array_allclose(array a, array b, number rtol, number atol, flag equal_nan) -> result
        = a.isclose(&b, rtol, atol, equal_nan)?.reduce(Reduce::All, None, false);
    /// Whether shapes and all elements are equal.
    /// - `equal_nan`: not 0: NaN is equal to NaN.
    fn mlxrocm_array_array_equal(array a, array b, flag equal_nan) -> result
        = a.array_equal(&b, equal_nan);
}
