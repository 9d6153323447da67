// Convolutions of one to three dimensions (axes that are not there have size 1):
//
//   out[b][o][c] = Σ_t Σ_i x[b][p(o, t)][i] · w[c][t][i],  p = (o · stride - low + t · kernel dilation) / input dilation
//
// where p is whole and inside; else x counts as 0. With flip, taps t of w are taken from the end. Channels come in groups
// that do not see each other: w has those of one group. x, w and out lie row after row, channels fastest.
#pragma once

#include "dtype.h"

struct Convolution {
    u32 x0, x1, x2, channels, k0, k1, k2, o0, o1, o2, s0, s1, s2;
    i32 l0, l1, l2;
    u32 d0, d1, d2, g0, g1, g2, flip, groups, width;

    METHOD u32 group_channels() const { return channels / groups; }
    METHOD u32 group_width() const { return width / groups; }
    METHOD u32 taps() const { return k0 * k1 * k2; }
    DEVICE i32 along(u32 o, u32 t, u32 taps, u32 stride, i32 low, u32 dilation, u32 gap, u32 size, u32 flip) {
        if (flip) t = taps - 1 - t;
        const i32 p = (i32)(o * stride) - low + (i32)(t * dilation);
        if (p < 0 || (gap > 1 && (u32)p % gap != 0)) return -1;
        const u32 at = gap > 1 ? (u32)p / gap : (u32)p;
        return at < size ? (i32)at : -1;
    }
    // The element of x where the channels begin that a tap meets at row `row` of out; -1: none.
    METHOD i64 source(u32 row, u32 tap) const {
        const u32 c2 = row % o2, c1 = row / o2 % o1, c0 = row / o2 / o1 % o0, image = row / o2 / o1 / o0;
        const i32 p0 = along(c0, tap / k2 / k1, k0, s0, l0, d0, g0, x0, flip);
        const i32 p1 = along(c1, tap / k2 % k1, k1, s1, l1, d1, g1, x1, flip);
        const i32 p2 = along(c2, tap % k2, k2, s2, l2, d2, g2, x2, flip);
        if (p0 < 0 || p1 < 0 || p2 < 0) return -1;
        return (((i64)image * x0 + p0) * x1 + p1) * (i64)x2 * channels + (i64)p2 * channels;
    }
};
#define CONVOLUTION_PARAMETERS                                                                                       \
    const void *x, const void *w, void *out, u32 rows, u32 across, u32 dtype, u32 x0, u32 x1, u32 x2, u32 channels,  \
        u32 k0, u32 k1, u32 k2, u32 o0, u32 o1, u32 o2, u32 s0, u32 s1, u32 s2, i32 l0, i32 l1, i32 l2, u32 d0, u32 d1, \
        u32 d2, u32 g0, u32 g1, u32 g2, u32 flip, u32 groups, u32 width
#define CONVOLUTION_ARGUMENTS \
    {x0, x1, x2, channels, k0, k1, k2, o0, o1, o2, s0, s1, s2, l0, l1, l2, d0, d1, d2, g0, g1, g2, flip, groups, width}
