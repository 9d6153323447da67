//! Functions of each element. Where a function gives fractions, integers and truth values become
//! float32 first.

use super::functions::array_functions;
use crate::ir::Unary;

array_functions! {
    /// Absolute value of each element; of complex ones the modulus, as float32.
    fn mlxrocm_array_abs(array x) -> result = x.unary(Unary::Abs);
    /// Inverse cosine of each element.
    fn mlxrocm_array_arccos(array x) -> result = x.unary(Unary::ArcCos);
    /// Inverse hyperbolic cosine of each element.
    fn mlxrocm_array_arccosh(array x) -> result = x.unary(Unary::ArcCosh);
    /// Inverse sine of each element.
    fn mlxrocm_array_arcsin(array x) -> result = x.unary(Unary::ArcSin);
    /// Inverse hyperbolic sine of each element.
    fn mlxrocm_array_arcsinh(array x) -> result = x.unary(Unary::ArcSinh);
    /// Inverse tangent of each element.
    fn mlxrocm_array_arctan(array x) -> result = x.unary(Unary::ArcTan);
    /// Inverse hyperbolic tangent of each element.
    fn mlxrocm_array_arctanh(array x) -> result = x.unary(Unary::ArcTanh);
    /// Each bit of integers or truth values turned round.
    fn mlxrocm_array_bitwise_invert(array x) -> result = x.unary(Unary::BitwiseInvert);
    /// Each element rounded up.
    fn mlxrocm_array_ceil(array x) -> result = x.unary(Unary::Ceil);
    /// Complex conjugate of each element.
    fn mlxrocm_array_conjugate(array x) -> result = x.unary(Unary::Conjugate);
    /// Cosine of each element.
    fn mlxrocm_array_cos(array x) -> result = x.unary(Unary::Cos);
    /// Hyperbolic cosine of each element.
    fn mlxrocm_array_cosh(array x) -> result = x.unary(Unary::Cosh);
    /// Error function of each element.
    fn mlxrocm_array_erf(array x) -> result = x.unary(Unary::Erf);
    /// Inverse of the error function of each element.
    fn mlxrocm_array_erfinv(array x) -> result = x.unary(Unary::ErfInv);
    /// Exponential of each element.
    fn mlxrocm_array_exp(array x) -> result = x.unary(Unary::Exp);
    /// Exponential minus one of each element, exact near 0.
    fn mlxrocm_array_expm1(array x) -> result = x.unary(Unary::Expm1);
    /// Each element rounded down.
    fn mlxrocm_array_floor(array x) -> result = x.unary(Unary::Floor);
    /// Imaginary part of each element; zeros of real ones.
    fn mlxrocm_array_imag(array x) -> result = x.unary(Unary::Imag);
    /// Natural logarithm of each element.
    fn mlxrocm_array_log(array x) -> result = x.unary(Unary::Log);
    /// Logarithm to base 2 of each element.
    fn mlxrocm_array_log2(array x) -> result = x.unary(Unary::Log2);
    /// Logarithm to base 10 of each element.
    fn mlxrocm_array_log10(array x) -> result = x.unary(Unary::Log10);
    /// Logarithm of one plus each element, exact near 0.
    fn mlxrocm_array_log1p(array x) -> result = x.unary(Unary::Log1p);
    /// Whether each element is 0.
    fn mlxrocm_array_logical_not(array x) -> result = x.unary(Unary::LogicalNot);
    /// The negative of each element; not of truth values.
    fn mlxrocm_array_negative(array x) -> result = x.unary(Unary::Negative);
    /// Real part of each element.
    fn mlxrocm_array_real(array x) -> result = x.unary(Unary::Real);
    /// One by the square root of each element.
    fn mlxrocm_array_rsqrt(array x) -> result = x.unary(Unary::Rsqrt);
    /// 1 / (1 + exp(-x)) of each element.
    fn mlxrocm_array_sigmoid(array x) -> result = x.unary(Unary::Sigmoid);
    /// -1, 0 or 1 by the sign of each element; of complex ones x / |x|.
    fn mlxrocm_array_sign(array x) -> result = x.unary(Unary::Sign);
    /// Sine of each element.
    fn mlxrocm_array_sin(array x) -> result = x.unary(Unary::Sin);
    /// Hyperbolic sine of each element.
    fn mlxrocm_array_sinh(array x) -> result = x.unary(Unary::Sinh);
    /// Square root of each element.
    fn mlxrocm_array_sqrt(array x) -> result = x.unary(Unary::Sqrt);
    /// Square of each element.
    fn mlxrocm_array_square(array x) -> result = x.unary(Unary::Square);
    /// Tangent of each element.
    fn mlxrocm_array_tan(array x) -> result = x.unary(Unary::Tan);
    /// Hyperbolic tangent of each element.
    fn mlxrocm_array_tanh(array x) -> result = x.unary(Unary::Tanh);
    /// Radians as degrees.
    fn mlxrocm_array_degrees(array x) -> result = x.degrees();
    /// Degrees as radians.
    fn mlxrocm_array_radians(array x) -> result = x.radians();
    /// One by each element.
    fn mlxrocm_array_reciprocal(array x) -> result = x.reciprocal();
    /// Each element rounded to decimals, halves to the even neighbour.
    /// - `decimals`: digits behind the point that stay; negative ones: before it.
    fn mlxrocm_array_round(array x, int decimals) -> result = x.round(decimals);
    /// Each element without its fraction.
    fn mlxrocm_array_trunc(array x) -> result = x.trunc();
    /// Whether each element is NaN.
    fn mlxrocm_array_isnan(array x) -> result = x.isnan();
    /// Whether each element is infinite.
    fn mlxrocm_array_isinf(array x) -> result = x.isinf();
    /// Whether each element is neither NaN nor infinite.
    fn mlxrocm_array_isfinite(array x) -> result = x.isfinite();
    /// Whether each element is plus infinity.
    fn mlxrocm_array_isposinf(array x) -> result = x.is_infinity(f64::INFINITY);
    /// Whether each element is minus infinity.
    fn mlxrocm_array_isneginf(array x) -> result = x.is_infinity(f64::NEG_INFINITY);
    /// Each element, with numbers for NaN and infinities.
    /// - `nan`: instead of NaN.
    /// - `posinf`: instead of plus infinity; NaN: the dtype's largest number.
    /// - `neginf`: instead of minus infinity; NaN: the dtype's smallest number.
    fn mlxrocm_array_nan_to_num(array x, number nan, number posinf, number neginf) -> result = x.nan_to_num(nan, posinf, neginf);
    /// The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true.
    fn mlxrocm_array_astype(array x, dtype dtype) -> result = Ok(x.astype(dtype));
    /// The same bytes as another dtype; the last axis grows or shrinks with the size of an element.
    fn mlxrocm_array_view(array x, dtype dtype) -> result = x.view(dtype);
}
