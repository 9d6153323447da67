//! Layers of networks.

use super::functions::array_functions;
use crate::ir::{Number, Rope};
use crate::{Error, Result};

fn rope(dims: i64, traditional: bool, base: f64, scale: f64) -> Result<Rope> {
    let dims = usize::try_from(dims);
    Ok(Rope {
        dims: dims.map_err(|_| Error::InvalidArgument("rope: negative dims".into()))?,
        traditional,
        base: (!base.is_nan()).then(|| Number::new(base)),
        scale: Number::new(scale),
    })
}

array_functions! {
    /// x · rsqrt(mean(x²) + eps) · weight over the last axis.
    /// - `eps`: added to the mean.
    fn mlxrocm_array_fast_rms_norm(array x, optional weight, number eps) -> result
        = x.rms_norm(weight.as_ref(), eps);
    /// (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis.
    /// - `eps`: added to the variance.
    fn mlxrocm_array_fast_layer_norm(array x, optional weight, optional bias, number eps) -> result
        = x.layer_norm(weight.as_ref(), bias.as_ref(), eps);
    /// Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale.
    /// - `dims`: how many dimensions are rotated; even.
    /// - `traditional`: not 0: pairs are (2i, 2i + 1), else (i, i + dims / 2).
    /// - `base`: pair i turns by position · base^(−2i / dims); NaN: by position / freqs[i].
    /// - `scale`: of positions.
    /// - `offset`: borrowed; an integer, or one for each of the batch.
    /// - `freqs`: borrowed; [dims / 2] instead of base; NULL: none.
    fn mlxrocm_array_fast_rope(array x, int dims, flag traditional, number base, number scale, array offset,
        optional freqs) -> result
        = x.rope(rope(dims, traditional, base, scale)?, &offset, freqs.as_ref());
    /// softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim].
    /// - `scale`: of scores.
    /// - `causal`: not 0: row i sees keys up to i + keys − rows.
    /// - `mask`: borrowed; truth values (seen or not) or numbers (added), broadcast to the scores; NULL: none.
    /// - `sinks`: borrowed; one more score for each head, without a value; NULL: none.
    fn mlxrocm_array_fast_scaled_dot_product_attention(array q, array k, array v, number scale, flag causal,
        optional mask, optional sinks) -> result
        = q.scaled_dot_product_attention(&k, &v, scale, causal, mask.as_ref(), sinks.as_ref());
}
