//! Many elements become one.

use super::functions::array_functions;
use crate::ir::{ArgReduce, Reduce};

array_functions! {
    /// Whether all elements are not 0.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_all(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::All, axes, keepdims);
    /// Whether some element is not 0.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_any(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::Any, axes, keepdims);
    /// Sum. Small integers and truth values become 32-bit integers.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_sum(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::Sum, axes, keepdims);
    /// Product. Small integers and truth values become 32-bit integers.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_prod(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::Prod, axes, keepdims);
    /// The smallest; NaN if there is one.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_min(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::Min, axes, keepdims);
    /// The largest; NaN if there is one.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_max(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::Max, axes, keepdims);
    /// Logarithm of the sum of exponentials, without overflow.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_logsumexp(array x, axes axes[axes_count], flag keepdims) -> result
        = x.reduce(Reduce::LogSumExp, axes, keepdims);
    /// Mean.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_mean(array x, axes axes[axes_count], flag keepdims) -> result
        = x.mean(axes, keepdims);
    /// Variance.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `ddof`: is taken from the number of elements.
    fn mlxrocm_array_var(array x, axes axes[axes_count], flag keepdims, int ddof) -> result
        = x.var(axes, keepdims, ddof);
    /// Standard deviation.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `ddof`: is taken from the number of elements.
    fn mlxrocm_array_std(array x, axes axes[axes_count], flag keepdims, int ddof) -> result
        = x.std(axes, keepdims, ddof);
    /// Median; the mean of the middle two of an even number.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_median(array x, axes axes[axes_count], flag keepdims) -> result
        = x.median(axes, keepdims);
    /// How many elements are not 0.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_count_nonzero(array x, axes axes[axes_count], flag keepdims) -> result
        = x.count_nonzero(axes, keepdims);
    /// The place (uint32) of the first smallest element; of NaN if there is one.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_argmin(array x, axis axis, flag keepdims) -> result
        = x.arg_reduce(ArgReduce::Min, axis, keepdims);
    /// The place (uint32) of the first largest element; of NaN if there is one.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_argmax(array x, axis axis, flag keepdims) -> result
        = x.arg_reduce(ArgReduce::Max, axis, keepdims);
    /// Softmax: exp(x) over its sum along axes, without overflow.
    /// - `precise`: not 0: in float32 within, whatever the dtype.
    fn mlxrocm_array_softmax(array x, axes axes[axes_count], flag precise) -> result
        = x.softmax(axes, precise);
    /// How many elements axes have, as a scalar.
    /// - `inverted`: not 0: one by that.
    fn mlxrocm_array_number_of_elements(array x, axes axes[axes_count], flag inverted, dtype dtype) -> result
        = x.number_of_elements(axes, inverted, dtype);
}
