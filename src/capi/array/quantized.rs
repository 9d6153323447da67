//! Quantized numbers and products with them. Modes: "affine" (groups of 32, 64 or 128; 2, 3, 4, 5, 6 or 8
//! bits), "mxfp4", "mxfp8", "nvfp4"; 0 for a group size or bits means the mode's own.

use super::dtype::optional_dtype;
use super::functions::array_functions;
use crate::array::Array;
use crate::ir::Quantization;
use crate::{Error, Result};

/// The results of an affine quantization.
fn three(parts: Vec<Array>) -> Result<(Array, Array, Array)> {
    let parts: [Array; 3] = parts
        .try_into()
        .map_err(|_| Error::InvalidArgument("quantize: this mode has no biases".into()))?;
    let [codes, scales, biases] = parts;
    Ok((codes, scales, biases))
}

/// The results of the other modes.
fn two(parts: Vec<Array>) -> Result<(Array, Array)> {
    let parts: [Array; 2] = parts
        .try_into()
        .map_err(|_| Error::InvalidArgument("quantize: this mode has biases".into()))?;
    let [codes, scales] = parts;
    Ok((codes, scales))
}

/// Both scales, or neither.
fn both<'a>(x: Option<&'a Array>, w: Option<&'a Array>) -> Result<Option<(&'a Array, &'a Array)>> {
    match (x, w) {
        (Some(x), Some(w)) => Ok(Some((x, w))),
        (None, None) => Ok(None),
        _ => Err(Error::InvalidArgument(
            "qqmm: one global scale of two; give both or neither".into(),
        )),
    }
}

array_functions! {
    /// Codes, scales and biases of groups along the last axis, in the affine mode.
    /// - `group_size`: numbers that share a scale; 0: 64.
    /// - `bits`: of a code; 0: 4.
    fn mlxrocm_array_quantize(array w, int group_size, int bits) -> codes, scales, biases
        = w.quantize(Quantization::named("affine", group_size, bits)?, None).and_then(three);
    /// Codes and scales of groups along the last axis, in a mode without biases.
    /// - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
    /// - `global_scale`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    fn mlxrocm_array_quantize_float(array w, text mode[mode_length], optional global_scale) -> codes, scales
        = w.quantize(Quantization::named(mode, 0, 0)?, global_scale.as_ref()).and_then(two);
    /// The numbers of codes.
    /// - `group_size`: numbers that share a scale; 0: the mode's own.
    /// - `bits`: of a code; 0: the mode's own.
    /// - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
    /// - `global_scale`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the scales, bfloat16 for floating modes.
    fn mlxrocm_array_dequantize(array w, array scales, optional biases, int group_size, int bits, text mode[mode_length],
        optional global_scale, int dtype_or_none) -> result
        = w.dequantize(&scales, biases.as_ref(), Quantization::named(mode, group_size, bits)?, global_scale.as_ref(), optional_dtype(dtype_or_none)?);
    /// Product with a quantized matrix.
    /// - `transpose`: not 0: w is [out, in], else [in, out].
    /// - `group_size`: numbers that share a scale; 0: the mode's own.
    /// - `bits`: of a code; 0: the mode's own.
    /// - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
    fn mlxrocm_array_quantized_matmul(array x, array w, array scales, optional biases, flag transpose,
        int group_size, int bits, text mode[mode_length]) -> result
        = x.quantized_matmul(&w, &scales, biases.as_ref(), transpose, Quantization::named(mode, group_size, bits)?);
    /// Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
    /// - `lhs_indices`: borrowed; NULL: all in order.
    /// - `rhs_indices`: borrowed; NULL: all in order.
    /// - `transpose`: not 0: matrices of w are [out, in], else [in, out].
    /// - `group_size`: numbers that share a scale; 0: the mode's own.
    /// - `bits`: of a code; 0: the mode's own.
    /// - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
    fn mlxrocm_array_gather_qmm(array x, array w, array scales, optional biases, optional lhs_indices,
        optional rhs_indices, flag transpose, int group_size, int bits, text mode[mode_length]) -> result
        = x.gather_qmm(&w, &scales, biases.as_ref(), lhs_indices.as_ref(), rhs_indices.as_ref(), transpose, Quantization::named(mode, group_size, bits)?);
    /// Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales.
    /// - `scales`: borrowed; of w, if it is quantized; NULL: w is not.
    /// - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
    /// - `global_scale_x`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `global_scale_w`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    fn mlxrocm_array_qqmm(array x, array w, optional scales, text mode[mode_length], optional global_scale_x,
        optional global_scale_w) -> result
        = x.qqmm(&w, scales.as_ref(), Quantization::named(mode, 0, 0)?, both(global_scale_x.as_ref(), global_scale_w.as_ref())?);
    /// As mlxrocm_array_qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
    /// - `scales`: borrowed; of w, if it is quantized; NULL: w is not.
    /// - `lhs_indices`: borrowed; NULL: all in order.
    /// - `rhs_indices`: borrowed; NULL: all in order.
    /// - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
    /// - `global_scale_x`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `global_scale_w`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    fn mlxrocm_array_gather_qqmm(array x, array w, optional scales, optional lhs_indices, optional rhs_indices,
        text mode[mode_length], optional global_scale_x, optional global_scale_w) -> result
        = x.gather_qqmm(&w, scales.as_ref(), (lhs_indices.as_ref(), rhs_indices.as_ref()), Quantization::named(mode, 0, 0)?, both(global_scale_x.as_ref(), global_scale_w.as_ref())?);
    /// E4M3 codes (uint8) of numbers.
    fn mlxrocm_array_to_fp8(array x) -> result = x.to_fp8();
    /// Numbers of E4M3 codes (uint8).
    fn mlxrocm_array_from_fp8(array x, dtype dtype) -> result = x.from_fp8(dtype);
}
