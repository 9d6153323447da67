//! Running totals and orders along an axis.

use super::functions::array_functions;
use crate::ir::Scan;

array_functions! {
    /// Running sum.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    fn mlxrocm_array_cumsum(array x, axis axis, flag reverse, flag inclusive) -> result
        = x.scan(Scan::Sum, axis, reverse, inclusive);
    /// Running product.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    fn mlxrocm_array_cumprod(array x, axis axis, flag reverse, flag inclusive) -> result
        = x.scan(Scan::Prod, axis, reverse, inclusive);
    /// Running maximum.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    fn mlxrocm_array_cummax(array x, axis axis, flag reverse, flag inclusive) -> result
        = x.scan(Scan::Max, axis, reverse, inclusive);
    /// Running minimum.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    fn mlxrocm_array_cummin(array x, axis axis, flag reverse, flag inclusive) -> result
        = x.scan(Scan::Min, axis, reverse, inclusive);
    /// Running logarithm of the sum of exponentials.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    fn mlxrocm_array_logcumsumexp(array x, axis axis, flag reverse, flag inclusive) -> result
        = x.scan(Scan::LogAddExp, axis, reverse, inclusive);
    /// Sorted, NaN last.
    fn mlxrocm_array_sort(array x, axis axis) -> result = x.sort(axis);
    /// The places (uint32) of the sorted elements; equal ones stay in order.
    fn mlxrocm_array_argsort(array x, axis axis) -> result = x.argsort(axis);
    /// With the kth element where sorting would put it, none larger before it and none smaller behind.
    /// - `kth`: a place; negative ones count from the end.
    fn mlxrocm_array_partition(array x, int kth, axis axis) -> result = x.partition(kth, axis);
    /// The places (uint32) that mlxrocm_array_partition takes elements from.
    /// - `kth`: a place; negative ones count from the end.
    fn mlxrocm_array_argpartition(array x, int kth, axis axis) -> result = x.argpartition(kth, axis);
    /// The k largest, in no particular order.
    /// - `k`: how many.
    fn mlxrocm_array_topk(array x, int k, axis axis) -> result = x.topk(k, axis);
    /// Where values would be put into a sorted vector (uint32).
    /// - `sorted`: borrowed; a vector.
    /// - `right`: not 0: behind equal ones, else before them.
    fn mlxrocm_array_searchsorted(array sorted, array values, flag right) -> result
        = sorted.searchsorted(&values, right);
}
