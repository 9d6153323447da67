//! Convolutions, Fourier and Hadamard transforms.

use super::functions::array_functions;
use crate::array::Array;
use crate::array::ops::ConvOptions;
use crate::ir::FftNorm;
use crate::{Error, Result};

/// Groups of channels; a negative number fits no channels.
fn groups(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A number that says "the usual" by 0.
fn given(number: i64) -> Option<i64> {
    (number != 0).then_some(number)
}

/// The last two axes where none are said.
fn two(axes: Option<&[i64]>) -> Option<&[i64]> {
    axes.or(Some(&[-2, -1]))
}

/// Checks that both are of so many spatial axes.
fn spatial(x: &Array, weight: &Array, axes: usize) -> Result<()> {
    match x.rank() == axes + 2 && weight.rank() == axes + 2 {
        true => Ok(()),
        false => Err(Error::InvalidArgument(format!(
            "conv{axes}d: x of shape {} with a weight of shape {}, both have {} axes",
            x.shape(),
            weight.shape(),
            axes + 2
        ))),
    }
}

/// A convolution of so many spatial axes with the same padding on both sides.
fn convolve(
    (x, weight, axes): (&Array, &Array, usize),
    [stride, padding, dilation]: [&[i64]; 3],
    groups: i64,
) -> Result<Array> {
    spatial(x, weight, axes)?;
    let options = ConvOptions {
        stride: stride.to_vec(),
        low: padding.to_vec(),
        high: padding.to_vec(),
        kernel_dilation: dilation.to_vec(),
        input_dilation: Vec::new(),
        groups: self::groups(groups),
        flip: false,
    };
    x.conv_general(weight, &options)
}

/// A transposed one.
fn transposed(
    (x, weight, axes): (&Array, &Array, usize),
    [stride, padding, dilation, output_padding]: [&[i64]; 4],
    groups: i64,
) -> Result<Array> {
    spatial(x, weight, axes)?;
    x.conv_transpose(
        weight,
        stride,
        padding,
        dilation,
        output_padding,
        self::groups(groups),
    )
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
    /// Convolution of [batch, length, channels] with [channels out, length, channels / groups].
    /// - `stride`: steps of the kernel.
    /// - `padding`: zeros on both sides.
    /// - `dilation`: distances of the kernel's elements.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv1d(array x, array weight, int stride, int padding, int dilation, int groups) -> result
        = convolve((&x, &weight, 1), [&[stride], &[padding], &[dilation]], groups);
    /// Transposed convolution of 1 spatial axis: back to the size of what mlxrocm_array_conv1d with these numbers is made of.
    /// - `stride`: steps of the kernel.
    /// - `padding`: zeros on both sides.
    /// - `dilation`: distances of the kernel's elements.
    /// - `output_padding`: more elements behind.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv_transpose1d(array x, array weight, int stride, int padding, int dilation, int output_padding, int groups) -> result
        = transposed((&x, &weight, 1), [&[stride], &[padding], &[dilation], &[output_padding]], groups);
    /// Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups].
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv2d(array x, array weight, ints stride[stride_count], ints padding[padding_count],
        ints dilation[dilation_count], int groups) -> result
        = convolve((&x, &weight, 2), [stride, padding, dilation], groups);
    /// Transposed convolution of 2 spatial axes: back to the size of what mlxrocm_array_conv2d with these numbers is made of.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `output_padding`: `output_padding_count` more elements behind; 0.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv_transpose2d(array x, array weight, ints stride[stride_count], ints padding[padding_count],
        ints dilation[dilation_count], ints output_padding[output_padding_count], int groups) -> result
        = transposed((&x, &weight, 2), [stride, padding, dilation, output_padding], groups);
    /// Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups].
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv3d(array x, array weight, ints stride[stride_count], ints padding[padding_count],
        ints dilation[dilation_count], int groups) -> result
        = convolve((&x, &weight, 3), [stride, padding, dilation], groups);
    /// Transposed convolution of 3 spatial axes: back to the size of what mlxrocm_array_conv3d with these numbers is made of.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `output_padding`: `output_padding_count` more elements behind; 0.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    fn mlxrocm_array_conv_transpose3d(array x, array weight, ints stride[stride_count], ints padding[padding_count],
        ints dilation[dilation_count], ints output_padding[output_padding_count], int groups) -> result
        = transposed((&x, &weight, 3), [stride, padding, dilation, output_padding], groups);
    /// Discrete Fourier transform along an axis.
    /// - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_fft_fft(array x, int n, int axis) -> result = x.fft(given(n), axis, false, false);
    /// Inverse discrete Fourier transform along an axis.
    /// - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_fft_ifft(array x, int n, int axis) -> result = x.fft(given(n), axis, true, false);
    /// Discrete Fourier transform of real numbers along an axis: half of the frequencies.
    /// - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_fft_rfft(array x, int n, int axis) -> result = x.fft(given(n), axis, false, true);
    /// The real numbers whose mlxrocm_array_fft_rfft this is.
    /// - `n`: the size of the result; 0: twice one less than the axis has.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_fft_irfft(array x, int n, int axis) -> result = x.fft(given(n), axis, true, true);
    /// Discrete Fourier transform along two axes.
    /// - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    fn mlxrocm_array_fft_fft2(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, two(axes), false, false);
    /// Inverse discrete Fourier transform along two axes.
    /// - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    fn mlxrocm_array_fft_ifft2(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, two(axes), true, false);
    /// Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies.
    /// - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    fn mlxrocm_array_fft_rfft2(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, two(axes), false, true);
    /// The real numbers whose mlxrocm_array_fft_rfft2 this is.
    /// - `sizes`: `sizes_count` sizes of the result; NULL: the array's, of the last axis twice one less.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    fn mlxrocm_array_fft_irfft2(array x, axes sizes[sizes_count], axes axes[axes_count]) -> result
        = x.fftn(sizes, two(axes), true, true);
    /// Moves the frequency 0 from the first place of axes to the middle.
    fn mlxrocm_array_fft_fftshift(array x, axes axes[axes_count]) -> result = x.fftshift(axes, false);
    /// Undoes mlxrocm_array_fft_fftshift.
    fn mlxrocm_array_fft_ifftshift(array x, axes axes[axes_count]) -> result = x.fftshift(axes, true);
    /// The frequencies of the results of mlxrocm_array_fft_fft, float32.
    /// - `n`: samples.
    /// - `d`: from one sample to the next.
    fn mlxrocm_array_fft_fftfreq(int n, number d) -> result = Array::fftfreq(n, d, false);
    /// The frequencies of the results of mlxrocm_array_fft_rfft, float32.
    /// - `n`: samples.
    /// - `d`: from one sample to the next.
    fn mlxrocm_array_fft_rfftfreq(int n, number d) -> result = Array::fftfreq(n, d, true);
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
    /// A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as
    /// mlxrocm_array_fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    /// - `norm`: UTF-8, borrowed for the call: "backward", "ortho" or "forward".
    /// - `inverse`: not 0: as mlxrocm_array_fft_ifftn.
    /// - `real`: not 0: as mlxrocm_array_fft_rfftn or, inverse, mlxrocm_array_fft_irfftn.
    fn mlxrocm_array_fft_normed(array x, axes sizes[sizes_count], axes axes[axes_count], text norm[norm_length], flag inverse,
        flag real) -> result
        = x.fft_normed(sizes, axes, (inverse, real), FftNorm::named(norm)?);
    /// Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
    /// - `scale`: of the result; NaN: one by the root of the elements.
    fn mlxrocm_array_hadamard_transform(array x, number scale) -> result
        = x.hadamard_transform((!scale.is_nan()).then_some(scale));
}
