//! Convolutions, Fourier and Hadamard transforms.

use super::functions::array_functions;
use crate::array::ops::ConvOptions;

/// Groups of channels; a negative number fits no channels.
fn groups(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

array_functions! {
    /// Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial
    /// axes. A list holds a number for each of these, one for all, or none for the usual.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `padding_low`: `padding_low_count` zeros before; negative ones cut; 0.
    /// - `padding_high`: `padding_high_count` zeros behind; negative ones cut; 0.
    /// - `kernel_dilation`: `kernel_dilation_count` distances of the kernel's elements; 1.
    /// - `input_dilation`: `input_dilation_count` distances of the input's elements; 1.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `flip`: not 0: the kernel is turned round.
    fn mlxrocm_array_conv_general(array x, array weight, ints stride[stride_count], ints padding_low[padding_low_count],
        ints padding_high[padding_high_count], ints kernel_dilation[kernel_dilation_count],
        ints input_dilation[input_dilation_count], int groups, flag flip) -> result
        = x.conv_general(&weight, &ConvOptions { stride: stride.to_vec(), low: padding_low.to_vec(), high: padding_high.to_vec(), kernel_dilation: kernel_dilation.to_vec(), input_dilation: input_dilation.to_vec(), groups: self::groups(groups), flip });
    /// Transposed convolution: back to the size of what a convolution with these numbers is made of.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `output_padding`: `output_padding_count` more elements behind; 0.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv_transpose(array x, array weight, ints stride[stride_count], ints padding[padding_count],
        ints dilation[dilation_count], ints output_padding[output_padding_count], int groups) -> result
        = x.conv_transpose(&weight, stride, padding, dilation, output_padding, self::groups(groups));
    /// Discrete Fourier transform along axes.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    fn mlxrocm_array_fft_fftn(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, axes, false, false);
    /// Inverse discrete Fourier transform along axes.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    fn mlxrocm_array_fft_ifftn(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, axes, true, false);
    /// Discrete Fourier transform of real numbers; of the last axis only half of the frequencies.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    fn mlxrocm_array_fft_rfftn(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, axes, false, true);
    /// The real numbers whose mlxrocm_array_fft_rfftn this is.
    /// - `sizes`: `sizes_count` sizes of the result; NULL: the array's, of the last axis twice one less.
    fn mlxrocm_array_fft_irfftn(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, axes, true, true);
    /// Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
    /// - `scale`: of the result; NaN: one by the root of the elements.
    fn mlxrocm_array_hadamard_transform(array x, number scale) -> result
        = x.hadamard_transform((!scale.is_nan()).then_some(scale));
}
