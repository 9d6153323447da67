//! Random numbers: the same as MLX's from the same key.

use super::functions::array_functions;
use crate::array::ops::random::{self, Draws};
use crate::capi::boundary::boundary;
use crate::capi::error::mlxrocm_error;
use crate::capi::status::mlxrocm_status;
use crate::capi::symbols::since_0_1;
use crate::{Error, Result};

fn count(name: &str, count: i64) -> Result<usize> {
    let no = |_| Error::InvalidArgument(format!("{name}: {count} of them"));
    usize::try_from(count).map_err(no)
}

/// Starts the sequence of keys again that calls without a key take theirs from. It is the process' own.
///
/// - `seed`: any number.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: none but INTERNAL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_random_seed(
    seed: u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        random::seed(seed);
        Ok(())
    })
}

since_0_1! { mlxrocm_array_random_seed }

array_functions! {
    /// The key of a seed.
    /// - `seed`: any number; negative ones are taken as unsigned.
    fn mlxrocm_array_random_key(int seed) -> result = random::key(seed as u64);
    /// New keys of a key: [count, 2].
    /// - `count`: how many.
    fn mlxrocm_array_random_split(array key, int count) -> result = random::split(&key, self::count("split", count)?);
    /// Random bits: unsigned integers.
    /// - `width`: bytes of each: 1, 2 or 4.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_bits(shape shape[rank], int width, optional key) -> result
        = random::bits(shape, self::count("bits", width)?, key.as_ref());
    /// Numbers evenly spread from low up to, but not, high.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_uniform(array low, array high, shape shape[rank], dtype dtype, optional key) -> result
        = random::uniform(&low, &high, shape, dtype, key.as_ref());
    /// Normally distributed numbers.
    /// - `loc`: borrowed; their mean; NULL: 0.
    /// - `scale`: borrowed; their deviation; NULL: 1.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_normal(shape shape[rank], dtype dtype, optional loc, optional scale, optional key) -> result
        = random::normal(shape, dtype, loc.as_ref(), scale.as_ref(), key.as_ref());
    /// Normally distributed vectors.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_multivariate_normal(array mean, array cov, shape shape[rank], dtype dtype, optional key) -> result
        = random::multivariate_normal(&mean, &cov, shape, dtype, key.as_ref());
    /// Integers from low up to, but not, high.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_randint(array low, array high, shape shape[rank], dtype dtype, optional key) -> result
        = random::randint(&low, &high, shape, dtype, key.as_ref());
    /// Truth values, each true with probability p.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_bernoulli(array p, shape shape[rank], optional key) -> result
        = random::bernoulli(&p, Some(shape), key.as_ref());
    /// Normally distributed numbers between two bounds.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_truncated_normal(array lower, array upper, shape shape[rank], dtype dtype, optional key) -> result
        = random::truncated_normal(&lower, &upper, Some(shape), dtype, key.as_ref());
    /// Numbers of the standard Gumbel distribution.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_gumbel(shape shape[rank], dtype dtype, optional key) -> result
        = random::gumbel(shape, dtype, key.as_ref());
    /// Laplace distributed numbers.
    /// - `loc`: their mean.
    /// - `scale`: how far they spread.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_laplace(shape shape[rank], dtype dtype, number loc, number scale, optional key) -> result
        = random::laplace(shape, dtype, loc, scale, key.as_ref());
    /// A place (uint32) along an axis for each row, with the probability of the softmax of its logits.
    /// - `axis`: negative ones count from the end.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_categorical(array logits, int axis, optional key) -> result
        = random::categorical(&logits, axis, Draws::One, key.as_ref());
    /// As mlxrocm_array_random_categorical, several places for each row as a last axis.
    /// - `axis`: negative ones count from the end.
    /// - `num_samples`: how many.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_categorical_num_samples(array logits, int axis, int num_samples, optional key) -> result
        = random::categorical(&logits, axis, Draws::Count(self::count("categorical", num_samples)?), key.as_ref());
    /// As mlxrocm_array_random_categorical, in a shape that the rows are broadcast to.
    /// - `axis`: negative ones count from the end.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_categorical_shape(array logits, int axis, shape shape[rank], optional key) -> result
        = random::categorical(&logits, axis, Draws::Of(shape), key.as_ref());
    /// Slices along an axis in random order.
    /// - `axis`: negative ones count from the end.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_permutation(array x, int axis, optional key) -> result
        = random::permutation(&x, axis, key.as_ref());
    /// The numbers (uint32) below a count in random order.
    /// - `count`: how many.
    /// - `key`: borrowed; NULL: the process' next.
    fn mlxrocm_array_random_permutation_arange(int count, optional key) -> result
        = random::permutation_of(self::count("permutation", count)?, key.as_ref());
}
