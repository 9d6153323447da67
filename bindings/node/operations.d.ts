// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

import type { ArrayLike, Dtype, NDArray } from './index.js';

/** Absolute value of each element; of complex ones the modulus, as float32. */
export function abs(x: ArrayLike): NDArray;

/** Inverse cosine of each element. */
export function arccos(x: ArrayLike): NDArray;

/** Inverse hyperbolic cosine of each element. */
export function arccosh(x: ArrayLike): NDArray;

/** Inverse sine of each element. */
export function arcsin(x: ArrayLike): NDArray;

/** Inverse hyperbolic sine of each element. */
export function arcsinh(x: ArrayLike): NDArray;

/** Inverse tangent of each element. */
export function arctan(x: ArrayLike): NDArray;

/** Inverse hyperbolic tangent of each element. */
export function arctanh(x: ArrayLike): NDArray;

/** Each bit of integers or truth values turned round. */
export function bitwiseInvert(x: ArrayLike): NDArray;

/** Each element rounded up. */
export function ceil(x: ArrayLike): NDArray;

/** Complex conjugate of each element. */
export function conjugate(x: ArrayLike): NDArray;

/** Cosine of each element. */
export function cos(x: ArrayLike): NDArray;

/** Hyperbolic cosine of each element. */
export function cosh(x: ArrayLike): NDArray;

/** Error function of each element. */
export function erf(x: ArrayLike): NDArray;

/** Inverse of the error function of each element. */
export function erfinv(x: ArrayLike): NDArray;

/** Exponential of each element. */
export function exp(x: ArrayLike): NDArray;

/** Exponential minus one of each element, exact near 0. */
export function expm1(x: ArrayLike): NDArray;

/** Each element rounded down. */
export function floor(x: ArrayLike): NDArray;

/** Imaginary part of each element; zeros of real ones. */
export function imag(x: ArrayLike): NDArray;

/** Natural logarithm of each element. */
export function log(x: ArrayLike): NDArray;

/** Logarithm to base 2 of each element. */
export function log2(x: ArrayLike): NDArray;

/** Logarithm to base 10 of each element. */
export function log10(x: ArrayLike): NDArray;

/** Logarithm of one plus each element, exact near 0. */
export function log1p(x: ArrayLike): NDArray;

/** Whether each element is 0. */
export function logicalNot(x: ArrayLike): NDArray;

/** The negative of each element; not of truth values. */
export function negative(x: ArrayLike): NDArray;

/** Real part of each element. */
export function real(x: ArrayLike): NDArray;

/** One by the square root of each element. */
export function rsqrt(x: ArrayLike): NDArray;

/** 1 / (1 + exp(-x)) of each element. */
export function sigmoid(x: ArrayLike): NDArray;

/** -1, 0 or 1 by the sign of each element; of complex ones x / |x|. */
export function sign(x: ArrayLike): NDArray;

/** Sine of each element. */
export function sin(x: ArrayLike): NDArray;

/** Hyperbolic sine of each element. */
export function sinh(x: ArrayLike): NDArray;

/** Square root of each element. */
export function sqrt(x: ArrayLike): NDArray;

/** Square of each element. */
export function square(x: ArrayLike): NDArray;

/** Tangent of each element. */
export function tan(x: ArrayLike): NDArray;

/** Hyperbolic tangent of each element. */
export function tanh(x: ArrayLike): NDArray;

/** Radians as degrees. */
export function degrees(x: ArrayLike): NDArray;

/** Degrees as radians. */
export function radians(x: ArrayLike): NDArray;

/** One by each element. */
export function reciprocal(x: ArrayLike): NDArray;

/** Each element rounded to decimals, halves to the even neighbour. */
export function round(x: ArrayLike, decimals?: number): NDArray;

/** Each element without its fraction. */
export function trunc(x: ArrayLike): NDArray;

/** Whether each element is NaN. */
export function isnan(x: ArrayLike): NDArray;

/** Whether each element is infinite. */
export function isinf(x: ArrayLike): NDArray;

/** Whether each element is neither NaN nor infinite. */
export function isfinite(x: ArrayLike): NDArray;

/** Whether each element is plus infinity. */
export function isposinf(x: ArrayLike): NDArray;

/** Whether each element is minus infinity. */
export function isneginf(x: ArrayLike): NDArray;

/** Each element, with numbers for NaN and infinities. */
export function nanToNum(x: ArrayLike, nan?: number, posinf?: number, neginf?: number): NDArray;

/** The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true. */
export function astype(x: ArrayLike, dtype: Dtype): NDArray;

/** The same bytes as another dtype; the last axis grows or shrinks with the size of an element. */
export function view(x: ArrayLike, dtype: Dtype): NDArray;

/** Sum. */
export function add(a: ArrayLike, b: ArrayLike): NDArray;

/** Angle of the point (b, a). */
export function arctan2(a: ArrayLike, b: ArrayLike): NDArray;

/** And of the bits of integers or truth values. */
export function bitwiseAnd(a: ArrayLike, b: ArrayLike): NDArray;

/** Or of the bits of integers or truth values. */
export function bitwiseOr(a: ArrayLike, b: ArrayLike): NDArray;

/** Exclusive or of the bits of integers or truth values. */
export function bitwiseXor(a: ArrayLike, b: ArrayLike): NDArray;

/** Bits of integers moved up by b; 0 beyond the dtype's bits. */
export function leftShift(a: ArrayLike, b: ArrayLike): NDArray;

/** Bits of integers moved down by b; by more than the dtype's bits as by all of them. */
export function rightShift(a: ArrayLike, b: ArrayLike): NDArray;

/** Quotient, a fraction. */
export function divide(a: ArrayLike, b: ArrayLike): NDArray;

/** Quotient, rounded down, but of complex numbers. An integer by 0 is 0. */
export function floorDivide(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether a = b. */
export function equal(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether a > b. */
export function greater(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether a >= b. */
export function greaterEqual(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether a < b. */
export function less(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether a <= b. */
export function lessEqual(a: ArrayLike, b: ArrayLike): NDArray;

/** log(exp(a) + exp(b)) without overflow. */
export function logaddexp(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether both are not 0. */
export function logicalAnd(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether one is not 0. */
export function logicalOr(a: ArrayLike, b: ArrayLike): NDArray;

/** The larger; NaN if one is NaN. */
export function maximum(a: ArrayLike, b: ArrayLike): NDArray;

/** The smaller; NaN if one is NaN. */
export function minimum(a: ArrayLike, b: ArrayLike): NDArray;

/** Product. */
export function multiply(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether a and b differ. */
export function notEqual(a: ArrayLike, b: ArrayLike): NDArray;

/** a to the power of b. Integers to a negative power are 0, but 1 and -1. */
export function power(a: ArrayLike, b: ArrayLike): NDArray;

/** Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0. */
export function remainder(a: ArrayLike, b: ArrayLike): NDArray;

/** Difference. */
export function subtract(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether one is 0 and the other is not. */
export function logicalXor(a: ArrayLike, b: ArrayLike): NDArray;

/** Quotient, rounded down, and remainder, with b's sign. */
export function divmod(a: ArrayLike, b: ArrayLike): [NDArray, NDArray];

/** Elements of a where the condition is not 0, of b elsewhere. */
export function where(condition: ArrayLike, a: ArrayLike, b: ArrayLike): NDArray;

/** Elements between a minimum and a maximum. */
export function clip(x: ArrayLike, minimum?: ArrayLike | null, maximum?: ArrayLike | null): NDArray;

/** Whether |a - b| <= atol + rtol |b|; equal infinities are close. */
export function isclose(a: ArrayLike, b: ArrayLike, rtol?: number, atol?: number, equalNan?: boolean): NDArray;

/** Whether all elements are close, as by isclose. */
export function allclose(a: ArrayLike, b: ArrayLike, rtol?: number, atol?: number, equalNan?: boolean): NDArray;

/** Whether shapes and all elements are equal. */
export function arrayEqual(a: ArrayLike, b: ArrayLike, equalNan?: boolean): NDArray;

/** The value, broadcast to a shape. */
export function full(shape: number | number[], value: ArrayLike, dtype?: Dtype): NDArray;

/** Zeros. */
export function zeros(shape: number | number[], dtype?: Dtype): NDArray;

/** Ones. */
export function ones(shape: number | number[], dtype?: Dtype): NDArray;

/** Zeros of the shape of an array, on its device. */
export function zerosLike(x: ArrayLike, dtype?: Dtype | null): NDArray;

/** Ones of the shape of an array, on its device. */
export function onesLike(x: ArrayLike, dtype?: Dtype | null): NDArray;

/** The value, broadcast to the shape of an array, on its device. */
export function fullLike(x: ArrayLike, value: ArrayLike, dtype?: Dtype | null): NDArray;

/** A scalar. */
export function number(value: number, dtype?: Dtype): NDArray;

/** Start, start + step and so on, before stop; not of truth values. */
export function arange(start: number, stop: number, step: number, dtype?: Dtype): NDArray;

/** Numbers from start to stop, evenly spaced. */
export function linspace(start: number, stop: number, count: number, dtype?: Dtype): NDArray;

/** Ones on a diagonal of a matrix of zeros. */
export function eye(n: number, m: number, k?: number, dtype?: Dtype): NDArray;

/** The identity matrix. */
export function identity(n: number, dtype?: Dtype): NDArray;

/** Ones on and below a diagonal, zeros above. */
export function tri(n: number, m: number, k?: number, dtype?: Dtype): NDArray;

/** The last two axes with zeros above a diagonal. */
export function tril(x: ArrayLike, k?: number): NDArray;

/** The last two axes with zeros below a diagonal. */
export function triu(x: ArrayLike, k?: number): NDArray;

/** A matrix with a vector on a diagonal, or a diagonal of a matrix. */
export function diag(x: ArrayLike, k?: number): NDArray;

/** Diagonals of the matrices of two axes, as a last axis. */
export function diagonal(x: ArrayLike, offset?: number, axis1?: number, axis2?: number): NDArray;

/** Sum of a diagonal. */
export function trace(x: ArrayLike, dtype: Dtype, offset?: number, axis1?: number, axis2?: number): NDArray;

/** Products of every element of a with every one of b. */
export function outer(a: ArrayLike, b: ArrayLike): NDArray;

/** Kronecker product. */
export function kron(a: ArrayLike, b: ArrayLike): NDArray;

/** Whether all elements are not 0. */
export function all(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Whether some element is not 0. */
export function any(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Sum. Small integers and truth values become 32-bit integers. */
export function sum(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Product. Small integers and truth values become 32-bit integers. */
export function prod(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** The smallest; NaN if there is one. */
export function min(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** The largest; NaN if there is one. */
export function max(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Logarithm of the sum of exponentials, without overflow. */
export function logsumexp(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Mean. */
export function mean(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Variance. */
export function variance(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean, ddof?: number): NDArray;

/** Standard deviation. */
export function std(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean, ddof?: number): NDArray;

/** Median; the mean of the middle two of an even number. */
export function median(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** How many elements are not 0. */
export function countNonzero(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** The place (uint32) of the first smallest element; of NaN if there is one. */
export function argmin(x: ArrayLike, axis?: number | null, keepdims?: boolean): NDArray;

/** The place (uint32) of the first largest element; of NaN if there is one. */
export function argmax(x: ArrayLike, axis?: number | null, keepdims?: boolean): NDArray;

/** Softmax: exp(x) over its sum along axes, without overflow. */
export function softmax(x: ArrayLike, axes?: number | number[] | null, precise?: boolean): NDArray;

/** How many elements axes have, as a scalar. */
export function numberOfElements(x: ArrayLike, axes?: number | number[] | null, inverted?: boolean, dtype?: Dtype): NDArray;

/** Running sum. */
export function cumsum(x: ArrayLike, axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;

/** Running product. */
export function cumprod(x: ArrayLike, axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;

/** Running maximum. */
export function cummax(x: ArrayLike, axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;

/** Running minimum. */
export function cummin(x: ArrayLike, axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;

/** Running logarithm of the sum of exponentials. */
export function logcumsumexp(x: ArrayLike, axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;

/** Sorted, NaN last. */
export function sort(x: ArrayLike, axis?: number | null): NDArray;

/** The places (uint32) of the sorted elements; equal ones stay in order. */
export function argsort(x: ArrayLike, axis?: number | null): NDArray;

/** With the kth element where sorting would put it, none larger before it and none smaller behind. */
export function partition(x: ArrayLike, kth: number, axis?: number | null): NDArray;

/** The places (uint32) that partition takes elements from. */
export function argpartition(x: ArrayLike, kth: number, axis?: number | null): NDArray;

/** The k largest, in no particular order. */
export function topk(x: ArrayLike, k: number, axis?: number | null): NDArray;

/** Where values would be put into a sorted vector (uint32). */
export function searchsorted(sorted: ArrayLike, values: ArrayLike, right?: boolean): NDArray;

/** The same elements, row after row, in another shape; one size may be -1: what is left. */
export function reshape(x: ArrayLike, shape: number | number[]): NDArray;

/** Neighbouring axes as one. */
export function flatten(x: ArrayLike, start?: number, end?: number): NDArray;

/** An axis as several; one size may be -1: what is left. */
export function unflatten(x: ArrayLike, axis: number, shape: number | number[]): NDArray;

/** New axes of size 1. */
export function expandDims(x: ArrayLike, axes: number | number[]): NDArray;

/** Axes of size 1 taken away. */
export function squeeze(x: ArrayLike, axes?: number | number[] | null): NDArray;

/** Repeated along axes of size 1, and along new ones in front. */
export function broadcastTo(x: ArrayLike, shape: number | number[]): NDArray;

/** Axes in another order. */
export function transpose(x: ArrayLike, axes?: number | number[] | null): NDArray;

/** Two axes in each other's place. */
export function swapaxes(x: ArrayLike, axis1?: number, axis2?: number): NDArray;

/** An axis at another place. */
export function moveaxis(x: ArrayLike, source: number, destination: number): NDArray;

/** At least one axis. */
export function atleast1d(x: ArrayLike): NDArray;

/** At least two axes. */
export function atleast2d(x: ArrayLike): NDArray;

/** At least three axes. */
export function atleast3d(x: ArrayLike): NDArray;

/** Elements from start to before stop by step. Negative places count from the end, those beyond the array are its ends; a negative step goes backwards. */
export function slice(x: ArrayLike, start: number | number[], stop: number | number[], step: number | number[]): NDArray;

/** Elements at the places, among the array's elements row after row, that strides and an offset give. */
export function asStrided(x: ArrayLike, shape: number | number[], strides: number | number[], offset?: number): NDArray;

/** Row after row in memory. */
export function contiguous(x: ArrayLike): NDArray;

/** The array, as one that derivatives do not pass. */
export function stopGradient(x: ArrayLike): NDArray;

/** The array, computed after others. */
export function depends(x: ArrayLike, others: ArrayLike[]): NDArray;

/** Arrays one after the other along an axis. */
export function concatenate(arrays: ArrayLike[], axis?: number): NDArray;

/** Arrays of one shape along a new axis. */
export function stack(arrays: ArrayLike[], axis?: number): NDArray;

/** Each element several times, one after the other. */
export function repeat(x: ArrayLike, repeats: number, axis?: number | null): NDArray;

/** The whole array several times along each axis. */
export function tile(x: ArrayLike, reps: number | number[]): NDArray;

/** Surrounded along every axis. */
export function pad(x: ArrayLike, low: number | number[], high: number | number[], mode?: number, value?: ArrayLike | null): NDArray;

/** Moved round; what leaves at an end comes in at the other. */
export function roll(x: ArrayLike, shifts: number | number[], axes?: number | number[] | null): NDArray;

/** Axes turned round: the last element first. */
export function flip(x: ArrayLike, axes?: number | number[] | null): NDArray;

/** Cuts an array before places of an axis. */
export function split(x: ArrayLike, places: number | number[], axis?: number): NDArray[];

/** Cuts an axis into equal parts. */
export function splitParts(x: ArrayLike, parts: number, axis?: number): NDArray[];

/** Broadcasts arrays to the shape that all of them fit. */
export function broadcastArrays(arrays: ArrayLike[]): NDArray[];

/** Coordinates of a grid: each vector along an axis of its own, repeated along the others. */
export function meshgrid(arrays: ArrayLike[], sparse?: boolean, swapped?: boolean): NDArray[];

/** Slices of one axis at indices, which take the axis' place. Negative indices count from the end. */
export function take(x: ArrayLike, indices: ArrayLike, axis?: number | null): NDArray;

/** The element at each index along an axis. Other axes are broadcast. */
export function takeAlongAxis(x: ArrayLike, indices: ArrayLike, axis?: number | null): NDArray;

/** Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes. */
export function gather(x: ArrayLike, indices: ArrayLike[], axes: number | number[], sizes: number | number[]): NDArray;

/** A slice of given sizes that begins at computed places. */
export function sliceDynamic(x: ArrayLike, start: ArrayLike, axes: number | number[], sizes: number | number[]): NDArray;

/** With an update in place of the slice that begins at computed places. */
export function sliceUpdateDynamic(x: ArrayLike, update: ArrayLike, start: ArrayLike, axes: number | number[]): NDArray;

/** With elements of source, in order, where the mask is not 0. */
export function maskedScatter(x: ArrayLike, mask: ArrayLike, source: ArrayLike): NDArray;

/** With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices of x's rank. Where places meet the last update stays. */
export function scatter(x: ArrayLike, indices: ArrayLike[], updates: ArrayLike, axes: number | number[]): NDArray;

/** With the elements of a slice replaced by an update, which is broadcast to it. */
export function sliceUpdate(x: ArrayLike, update: ArrayLike, start: number | number[], stop: number | number[], step: number | number[]): NDArray;

/** With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterAdd(x: ArrayLike, indices: ArrayLike[], updates: ArrayLike, axes: number | number[]): NDArray;

/** With the elements of a slice joined by sum with an update, which is broadcast to it. */
export function sliceUpdateAdd(x: ArrayLike, update: ArrayLike, start: number | number[], stop: number | number[], step: number | number[]): NDArray;

/** With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterProd(x: ArrayLike, indices: ArrayLike[], updates: ArrayLike, axes: number | number[]): NDArray;

/** With the elements of a slice joined by product with an update, which is broadcast to it. */
export function sliceUpdateProd(x: ArrayLike, update: ArrayLike, start: number | number[], stop: number | number[], step: number | number[]): NDArray;

/** With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterMax(x: ArrayLike, indices: ArrayLike[], updates: ArrayLike, axes: number | number[]): NDArray;

/** With the elements of a slice joined by maximum with an update, which is broadcast to it. */
export function sliceUpdateMax(x: ArrayLike, update: ArrayLike, start: number | number[], stop: number | number[], step: number | number[]): NDArray;

/** With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterMin(x: ArrayLike, indices: ArrayLike[], updates: ArrayLike, axes: number | number[]): NDArray;

/** With the elements of a slice joined by minimum with an update, which is broadcast to it. */
export function sliceUpdateMin(x: ArrayLike, update: ArrayLike, start: number | number[], stop: number | number[], step: number | number[]): NDArray;

/** With values put at indices along an axis. Values are broadcast to the indices. */
export function putAlongAxis(x: ArrayLike, indices: ArrayLike, values: ArrayLike, axis?: number | null): NDArray;

/** With values added at indices along an axis. Values are broadcast to the indices. */
export function scatterAddAxis(x: ArrayLike, indices: ArrayLike, values: ArrayLike, axis?: number | null): NDArray;

/** Product of the last two axes; the others are broadcast together. A vector is a row on the left and a column on the right. */
export function matmul(a: ArrayLike, b: ArrayLike): NDArray;

/** alpha · a·b + beta · c; c is broadcast to the product. */
export function addmm(c: ArrayLike, a: ArrayLike, b: ArrayLike, alpha?: number, beta?: number): NDArray;

/** Product of matrices whose blocks are multiplied by masks (truth values or numbers) first. */
export function blockMaskedMm(a: ArrayLike, b: ArrayLike, blockSize: number, maskOut?: ArrayLike | null, maskLhs?: ArrayLike | null, maskRhs?: ArrayLike | null): NDArray;

/** Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b. */
export function gatherMm(a: ArrayLike, b: ArrayLike, lhsIndices?: ArrayLike | null, rhsIndices?: ArrayLike | null): NDArray;

/** Products of parts of two matrices. */
export function segmentedMm(a: ArrayLike, b: ArrayLike, segments: ArrayLike): NDArray;

/** Sums of products over pairs of axes. */
export function tensordot(a: ArrayLike, b: ArrayLike, axesA: number | number[], axesB: number | number[]): NDArray;

/** Sums of products over the last axes. */
export function inner(a: ArrayLike, b: ArrayLike): NDArray;

/** Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters that appear once, in the order of the alphabet. */
export function einsum(subscripts: string, operands: ArrayLike[]): NDArray;

/** Codes, scales and biases of groups along the last axis, in the affine mode. */
export function quantize(w: ArrayLike, groupSize?: number, bits?: number): [NDArray, NDArray, NDArray];

/** Codes and scales of groups along the last axis, in a mode without biases. */
export function quantizeFloat(w: ArrayLike, mode: string, globalScale?: ArrayLike | null): [NDArray, NDArray];

/** The numbers of codes. */
export function dequantize(w: ArrayLike, scales: ArrayLike, biases?: ArrayLike | null, groupSize?: number, bits?: number, mode?: string, globalScale?: ArrayLike | null, dtype?: Dtype | null): NDArray;

/** Product with a quantized matrix. */
export function quantizedMatmul(x: ArrayLike, w: ArrayLike, scales: ArrayLike, biases?: ArrayLike | null, transpose?: boolean, groupSize?: number, bits?: number, mode?: string): NDArray;

/** Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w. */
export function gatherQmm(x: ArrayLike, w: ArrayLike, scales: ArrayLike, biases?: ArrayLike | null, lhsIndices?: ArrayLike | null, rhsIndices?: ArrayLike | null, transpose?: boolean, groupSize?: number, bits?: number, mode?: string): NDArray;

/** Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales. */
export function qqmm(x: ArrayLike, w: ArrayLike, scales?: ArrayLike | null, mode?: string, globalScaleX?: ArrayLike | null, globalScaleW?: ArrayLike | null): NDArray;

/** As qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w. */
export function gatherQqmm(x: ArrayLike, w: ArrayLike, scales?: ArrayLike | null, lhsIndices?: ArrayLike | null, rhsIndices?: ArrayLike | null, mode?: string, globalScaleX?: ArrayLike | null, globalScaleW?: ArrayLike | null): NDArray;

/** E4M3 codes (uint8) of numbers. */
export function toFp8(x: ArrayLike): NDArray;

/** Numbers of E4M3 codes (uint8). */
export function fromFp8(x: ArrayLike, dtype?: Dtype): NDArray;

/** Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial axes. A list holds a number for each of these, one for all, or none for the usual. */
export function convGeneral(x: ArrayLike, weight: ArrayLike, stride: number | number[], paddingLow: number | number[], paddingHigh: number | number[], kernelDilation: number | number[], inputDilation: number | number[], groups?: number, flip?: boolean): NDArray;

/** Transposed convolution: back to the size of what a convolution with these numbers is made of. */
export function convTranspose(x: ArrayLike, weight: ArrayLike, stride: number | number[], padding: number | number[], dilation: number | number[], outputPadding: number | number[], groups?: number): NDArray;

/** Convolution of [batch, length, channels] with [channels out, length, channels / groups]. */
export function conv1d(x: ArrayLike, weight: ArrayLike, stride?: number, padding?: number, dilation?: number, groups?: number): NDArray;

/** Transposed convolution of 1 spatial axis: back to the size of what conv1d with these numbers is made of. */
export function convTranspose1d(x: ArrayLike, weight: ArrayLike, stride?: number, padding?: number, dilation?: number, outputPadding?: number, groups?: number): NDArray;

/** Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups]. */
export function conv2d(x: ArrayLike, weight: ArrayLike, stride: number | number[], padding: number | number[], dilation: number | number[], groups?: number): NDArray;

/** Transposed convolution of 2 spatial axes: back to the size of what conv2d with these numbers is made of. */
export function convTranspose2d(x: ArrayLike, weight: ArrayLike, stride: number | number[], padding: number | number[], dilation: number | number[], outputPadding: number | number[], groups?: number): NDArray;

/** Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups]. */
export function conv3d(x: ArrayLike, weight: ArrayLike, stride: number | number[], padding: number | number[], dilation: number | number[], groups?: number): NDArray;

/** Transposed convolution of 3 spatial axes: back to the size of what conv3d with these numbers is made of. */
export function convTranspose3d(x: ArrayLike, weight: ArrayLike, stride: number | number[], padding: number | number[], dilation: number | number[], outputPadding: number | number[], groups?: number): NDArray;

/** Discrete Fourier transform along an axis. */
export function fftFft(x: ArrayLike, n?: number, axis?: number): NDArray;

/** Inverse discrete Fourier transform along an axis. */
export function fftIfft(x: ArrayLike, n?: number, axis?: number): NDArray;

/** Discrete Fourier transform of real numbers along an axis: half of the frequencies. */
export function fftRfft(x: ArrayLike, n?: number, axis?: number): NDArray;

/** The real numbers whose fft_rfft this is. */
export function fftIrfft(x: ArrayLike, n?: number, axis?: number): NDArray;

/** Discrete Fourier transform along two axes. */
export function fftFft2(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** Inverse discrete Fourier transform along two axes. */
export function fftIfft2(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies. */
export function fftRfft2(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** The real numbers whose fft_rfft2 this is. */
export function fftIrfft2(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** Moves the frequency 0 from the first place of axes to the middle. */
export function fftFftshift(x: ArrayLike, axes?: number | number[] | null): NDArray;

/** Undoes fft_fftshift. */
export function fftIfftshift(x: ArrayLike, axes?: number | number[] | null): NDArray;

/** The frequencies of the results of fft_fft, float32. */
export function fftFftfreq(n: number, d?: number): NDArray;

/** The frequencies of the results of fft_rfft, float32. */
export function fftRfftfreq(n: number, d?: number): NDArray;

/** Discrete Fourier transform along axes. */
export function fftFftn(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** Inverse discrete Fourier transform along axes. */
export function fftIfftn(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** Discrete Fourier transform of real numbers; of the last axis only half of the frequencies. */
export function fftRfftn(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** The real numbers whose fft_rfftn this is. */
export function fftIrfftn(x: ArrayLike, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n. */
export function fftNormed(x: ArrayLike, norm: string, inverse: boolean, real: boolean, sizes?: number | number[] | null, axes?: number | number[] | null): NDArray;

/** Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28. */
export function hadamardTransform(x: ArrayLike, scale?: number): NDArray;

/** x · rsqrt(mean(x²) + eps) · weight over the last axis. */
export function fastRmsNorm(x: ArrayLike, weight?: ArrayLike | null, eps?: number): NDArray;

/** (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis. */
export function fastLayerNorm(x: ArrayLike, weight?: ArrayLike | null, bias?: ArrayLike | null, eps?: number): NDArray;

/** Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale. */
export function fastRope(x: ArrayLike, dims: number, traditional: boolean, base: number, scale: number, offset: ArrayLike, freqs?: ArrayLike | null): NDArray;

/** softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim]. */
export function fastScaledDotProductAttention(q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: number, causal: boolean, mask?: ArrayLike | null, sinks?: ArrayLike | null): NDArray;

/** Q with orthogonal columns and R, upper triangular. */
export function linalgQr(x: ArrayLike): [NDArray, NDArray];

/** U, the singular values (the largest first) and Vᴴ. */
export function linalgSvd(x: ArrayLike): [NDArray, NDArray, NDArray];

/** The singular values, the largest first. */
export function linalgSvdValues(x: ArrayLike): NDArray;

/** The inverse. Singular matrices fail when they are evaluated. */
export function linalgInv(x: ArrayLike): NDArray;

/** The inverse of triangular matrices. */
export function linalgTriInv(x: ArrayLike, upper?: boolean): NDArray;

/** L of L·Lᵀ. What is not positive definite fails when it is evaluated. */
export function linalgCholesky(x: ArrayLike, upper?: boolean): NDArray;

/** The inverse of the matrix whose factor this is. */
export function linalgCholeskyInv(x: ArrayLike, upper?: boolean): NDArray;

/** The pseudoinverse. */
export function linalgPinv(x: ArrayLike): NDArray;

/** Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices. */
export function linalgEigh(x: ArrayLike, upper?: boolean): [NDArray, NDArray];

/** Eigenvalues of Hermitian matrices, ascending. */
export function linalgEigvalsh(x: ArrayLike, upper?: boolean): NDArray;

/** Eigenvalues and eigenvectors (columns), complex. */
export function linalgEig(x: ArrayLike): [NDArray, NDArray];

/** Eigenvalues, complex. */
export function linalgEigvals(x: ArrayLike): NDArray;

/** The row of L·U that each row is, L and U. */
export function linalgLu(x: ArrayLike): [NDArray, NDArray, NDArray];

/** L and U in one array, and the row that each step changed places with. */
export function linalgLuFactor(x: ArrayLike): [NDArray, NDArray];

/** x of a·x = b. */
export function linalgSolve(a: ArrayLike, b: ArrayLike): NDArray;

/** x of a·x = b with a triangular a. */
export function linalgSolveTriangular(a: ArrayLike, b: ArrayLike, upper?: boolean): NDArray;

/** The determinant. */
export function linalgDet(x: ArrayLike): NDArray;

/** The determinant's sign and the logarithm of its size. */
export function linalgSlogdet(x: ArrayLike): [NDArray, NDArray];

/** Vector product along an axis of 2 or 3 elements. */
export function linalgCross(a: ArrayLike, b: ArrayLike, axis?: number): NDArray;

/** Root of the sum of squares. */
export function linalgNormL2(x: ArrayLike, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Norm of vectors (one axis) or matrices (two). */
export function linalgNorm(x: ArrayLike, p: number, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Norm of matrices. */
export function linalgNormMatrix(x: ArrayLike, order: string, axes?: number | number[] | null, keepdims?: boolean): NDArray;

/** Starts the sequence of keys again that calls without a key take theirs from. It is the process' own. */
export function randomSeed(seed: number | bigint): void;

/** The key of a seed. */
export function randomKey(seed: number): NDArray;

/** New keys of a key: [count, 2]. */
export function randomSplit(key: ArrayLike, count?: number): NDArray;

/** Random bits: unsigned integers. */
export function randomBits(shape: number | number[], width?: number, key?: ArrayLike | null): NDArray;

/** Numbers evenly spread from low up to, but not, high. */
export function randomUniform(low: ArrayLike, high: ArrayLike, shape: number | number[], dtype?: Dtype, key?: ArrayLike | null): NDArray;

/** Normally distributed numbers. */
export function randomNormal(shape: number | number[], dtype?: Dtype, loc?: ArrayLike | null, scale?: ArrayLike | null, key?: ArrayLike | null): NDArray;

/** Normally distributed vectors. */
export function randomMultivariateNormal(mean: ArrayLike, cov: ArrayLike, shape: number | number[], dtype?: Dtype, key?: ArrayLike | null): NDArray;

/** Integers from low up to, but not, high. */
export function randomRandint(low: ArrayLike, high: ArrayLike, shape: number | number[], dtype?: Dtype, key?: ArrayLike | null): NDArray;

/** Truth values, each true with probability p. */
export function randomBernoulli(p: ArrayLike, shape: number | number[], key?: ArrayLike | null): NDArray;

/** Normally distributed numbers between two bounds. */
export function randomTruncatedNormal(lower: ArrayLike, upper: ArrayLike, shape: number | number[], dtype?: Dtype, key?: ArrayLike | null): NDArray;

/** Numbers of the standard Gumbel distribution. */
export function randomGumbel(shape: number | number[], dtype?: Dtype, key?: ArrayLike | null): NDArray;

/** Laplace distributed numbers. */
export function randomLaplace(shape: number | number[], dtype?: Dtype, loc?: number, scale?: number, key?: ArrayLike | null): NDArray;

/** A place (uint32) along an axis for each row, with the probability of the softmax of its logits. */
export function randomCategorical(logits: ArrayLike, axis?: number, key?: ArrayLike | null): NDArray;

/** As random_categorical, several places for each row as a last axis. */
export function randomCategoricalNumSamples(logits: ArrayLike, numSamples: number, axis?: number, key?: ArrayLike | null): NDArray;

/** As random_categorical, in a shape that the rows are broadcast to. */
export function randomCategoricalShape(logits: ArrayLike, shape: number | number[], axis?: number, key?: ArrayLike | null): NDArray;

/** Slices along an axis in random order. */
export function randomPermutation(x: ArrayLike, axis?: number, key?: ArrayLike | null): NDArray;

/** The numbers (uint32) below a count in random order. */
export function randomPermutationArange(count: number, key?: ArrayLike | null): NDArray;

/** The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it meanwhile; save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and UNSUPPORTED (elements of no dtype). */
export function load(path: string): NDArray;

/** Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet. */
export function save(array: ArrayLike, path: string): void;

export interface Methods {
  abs(): NDArray;
  conjugate(): NDArray;
  cos(): NDArray;
  exp(): NDArray;
  log(): NDArray;
  log2(): NDArray;
  log10(): NDArray;
  log1p(): NDArray;
  negative(): NDArray;
  rsqrt(): NDArray;
  sin(): NDArray;
  sqrt(): NDArray;
  square(): NDArray;
  reciprocal(): NDArray;
  round(decimals?: number): NDArray;
  astype(dtype: Dtype): NDArray;
  view(dtype: Dtype): NDArray;
  add(b: ArrayLike): NDArray;
  arctan2(b: ArrayLike): NDArray;
  bitwiseAnd(b: ArrayLike): NDArray;
  bitwiseOr(b: ArrayLike): NDArray;
  bitwiseXor(b: ArrayLike): NDArray;
  leftShift(b: ArrayLike): NDArray;
  rightShift(b: ArrayLike): NDArray;
  divide(b: ArrayLike): NDArray;
  floorDivide(b: ArrayLike): NDArray;
  equal(b: ArrayLike): NDArray;
  greater(b: ArrayLike): NDArray;
  greaterEqual(b: ArrayLike): NDArray;
  less(b: ArrayLike): NDArray;
  lessEqual(b: ArrayLike): NDArray;
  logaddexp(b: ArrayLike): NDArray;
  logicalAnd(b: ArrayLike): NDArray;
  logicalOr(b: ArrayLike): NDArray;
  maximum(b: ArrayLike): NDArray;
  minimum(b: ArrayLike): NDArray;
  multiply(b: ArrayLike): NDArray;
  notEqual(b: ArrayLike): NDArray;
  power(b: ArrayLike): NDArray;
  remainder(b: ArrayLike): NDArray;
  subtract(b: ArrayLike): NDArray;
  logicalXor(b: ArrayLike): NDArray;
  divmod(b: ArrayLike): [NDArray, NDArray];
  diag(k?: number): NDArray;
  diagonal(offset?: number, axis1?: number, axis2?: number): NDArray;
  outer(b: ArrayLike): NDArray;
  kron(b: ArrayLike): NDArray;
  all(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  any(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  sum(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  prod(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  min(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  max(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  logsumexp(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  mean(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  variance(axes?: number | number[] | null, keepdims?: boolean, ddof?: number): NDArray;
  std(axes?: number | number[] | null, keepdims?: boolean, ddof?: number): NDArray;
  median(axes?: number | number[] | null, keepdims?: boolean): NDArray;
  argmin(axis?: number | null, keepdims?: boolean): NDArray;
  argmax(axis?: number | null, keepdims?: boolean): NDArray;
  softmax(axes?: number | number[] | null, precise?: boolean): NDArray;
  cumsum(axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;
  cumprod(axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;
  cummax(axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;
  cummin(axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;
  logcumsumexp(axis?: number | null, reverse?: boolean, inclusive?: boolean): NDArray;
  sort(axis?: number | null): NDArray;
  reshape(shape: number | number[]): NDArray;
  flatten(start?: number, end?: number): NDArray;
  squeeze(axes?: number | number[] | null): NDArray;
  transpose(axes?: number | number[] | null): NDArray;
  swapaxes(axis1?: number, axis2?: number): NDArray;
  moveaxis(source: number, destination: number): NDArray;
  matmul(b: ArrayLike): NDArray;
  inner(b: ArrayLike): NDArray;
}
