"""Convolutions, transforms and layers of networks."""
import mlx.core as mx
import numpy as np

from cases import run, wide
from library import DTYPES, Axes, Text

FLOATS = ["float16", "bfloat16", "float32"]
# MLX has no convolutions and Hadamard transforms of float64; the library's are beside those of float32.
DOUBLE = [mx.float64]

CONVOLUTIONS = [  # shape of x, of the kernel; stride, low, high, kernel dilation, input dilation, groups, flip
    ((2, 9, 4), (6, 3, 2), [2], [1], [1], [2], [1], 2, False),
    ((1, 12, 3), (5, 4, 3), [1], [0], [3], [1], [2], 1, True),
    ((2, 7, 6, 4), (6, 3, 2, 4), [2, 1], [1, 2], [1, 2], [1, 2], [1, 1], 1, False),
    ((2, 7, 6, 4), (6, 3, 2, 2), [1, 2], [2, 0], [1, 3], [2, 1], [1, 2], 2, True),
    ((1, 9, 8, 6), (6, 3, 3, 1), [1, 1], [1, 1], [1, 1], [1, 1], [1, 1], 6, False),
    ((1, 5, 4, 5, 2), (3, 2, 3, 2, 2), [1, 2, 1], [1, 0, 1], [1, 0, 1], [1, 1, 2], [1, 1, 1], 1, False),
    ((1, 4, 4, 3, 4), (2, 2, 2, 2, 2), [2, 1, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1], [2, 1, 1], 2, False),
    ((2, 3, 4), (6, 5, 4), [1], [0], [0], [1], [1], 1, False),
]
TRANSPOSED = [  # shape of x, of the kernel; stride, padding, dilation, output padding, groups
    ((2, 5, 4), (6, 3, 2), [3], [1], [2], [2], 2),
    ((2, 4, 5, 3), (2, 3, 2, 3), [2, 1], [1, 0], [1, 2], [1, 0], 1),
    ((1, 3, 4, 2, 2), (3, 2, 2, 2, 2), [2, 2, 2], [1, 1, 1], [1, 1, 1], [1, 1, 1], 1),
]


def convolutions(t, table):
    op = t.library.op
    for dtype in DTYPES:
        for n, (x, w, stride, low, high, spread, gaps, groups, flip) in enumerate(CONVOLUTIONS):
            for layout in t.layouts(n):
                a, b = t.input(x, dtype, layout, "finite"), t.input(w, dtype, "contiguous", "finite")
                room = 8.0 * np.prod(w[1:]) ** 0.5
                table("Convolution", "conv_general", dtype, layout,
                      run(lambda: op("conv_general", a.ours, b.ours, stride, low, high, spread, gaps, groups, flip),
                          lambda: wide(lambda a, b: convolution(a, b, stride, (low, high), spread, gaps, groups, flip), a, b,
                                       also=DOUBLE),
                          room=2e-5, least=room))
        for n, (x, w, stride, padding, spread, more, groups) in enumerate(TRANSPOSED):
            name = f"conv_transpose{len(x) - 2}d"
            plain = (lambda v: v[0]) if len(x) == 3 else tuple
            for layout in t.layouts(n):
                a, b = t.input(x, dtype, layout, "finite"), t.input(w, dtype, "contiguous", "finite")
                table("Convolution", "conv_transpose", dtype, layout,
                      run(lambda: op("conv_transpose", a.ours, b.ours, stride, padding, spread, more, groups),
                          lambda: wide(lambda a, b: getattr(mx, name)(a, b, *map(plain, (stride, padding, spread, more)),
                                                                      groups), a, b, also=DOUBLE),
                          room=2e-5, least=8.0 * np.prod(w[1:]) ** 0.5))


def convolution(x, w, stride, padding, spread, gaps, groups, flip):
    """MLX's; the groups of three axes, which it has not, one after another."""
    if x.ndim < 5 or groups == 1:
        return mx.conv_general(x, w, stride, padding, spread, gaps, groups, flip)
    parts = zip(mx.split(x, groups, -1), mx.split(w, groups, 0))
    return mx.concatenate([mx.conv_general(a, b, stride, padding, spread, gaps, 1, flip) for a, b in parts], -1)


def transforms(t, table):
    op = t.library.op
    cases = [((2, 1), None, [-1]), ((2, 7), None, [1]), ((3, 12), [9], [-1]), ((3, 31), [40], [1]), ((2, 64), None, [1]),
             ((3, 4, 5), None, None), ((3, 4, 5), None, [0, 2]), ((3, 4, 5), [6, 3], [1, 2]), ((3, 4, 6), [2, 9], [0, -1]),
             ((2, 30, 17), None, [1])]
    for dtype in DTYPES:
        for n, (shape, sizes, axes) in enumerate(cases):
            for layout in t.layouts(n):
                x = t.input(shape, dtype, layout, "finite")
                for name in ["fftn", "ifftn", "rfftn", "irfftn"]:
                    # MLX makes the transforms of integers of what they are as float32; sums of numbers below 10.
                    table("FFT", f"fft_{name}", dtype, layout,
                          run(lambda: op(f"fft_{name}", x.ours, Axes(sizes), Axes(axes)),
                              lambda: getattr(mx.fft, name)(x.mlx, sizes, axes),
                              room=2e-5, least=10.0 * np.prod(shape) ** 0.5))
        for n, norm in enumerate(["backward", "ortho", "forward"]):
            x = t.input((3, 10), dtype, t.layouts(n)[0], "finite")
            for name in ["fftn", "ifftn", "rfftn", "irfftn"]:
                table("FFT", "fft_normed", dtype, norm,
                      run(lambda: op("fft_normed", x.ours, Axes(None), Axes([1]), Text(norm), name[0] == "i", "r" in name),
                          lambda: getattr(mx.fft, name)(x.mlx, None, [1], norm=norm), room=2e-5, least=60.0))
        for n, size in enumerate([1, 8, 12, 24, 40, 56, 128]):
            for layout in t.layouts(n):
                x = t.input((2, size), dtype, layout, "finite")
                for scale in [None, 0.5]:
                    table("Hadamard", "hadamard_transform", dtype, layout,
                          run(lambda: op("hadamard_transform", x.ours, float("nan") if scale is None else scale),
                              lambda: wide(lambda x: mx.hadamard_transform(x, scale), x, also=DOUBLE), room=2e-5,
                              least=4.0 * size**0.5))


def layers(t, table):
    op = t.library.op
    for dtype in FLOATS:
        for n, (rows, width) in enumerate([((3,), 40), ((2, 5), 33), ((1,), 300), ((0,), 8), ((), 7)]):
            for layout in t.layouts(n):
                x = t.input(rows + (width,), dtype, layout, "finite")
                w, b = t.input((width,), dtype, layout, "finite"), t.input((width,), dtype, "contiguous", "finite")
                for weight in [w, None]:
                    table("RMSNorm", "fast_rms_norm", dtype, layout,
                          run(lambda: op("fast_rms_norm", x.ours, weight and weight.ours, 1e-5),
                              lambda: wide(lambda x, w: mx.fast.rms_norm(x, w, 1e-5), x, weight), least=4.0))
                    for bias in [b, None]:
                        table("LayerNorm", "fast_layer_norm", dtype, layout,
                              run(lambda: op("fast_layer_norm", x.ours, weight and weight.ours, bias and bias.ours, 0.01),
                                  # A deviation of 0 makes ten times the mean's last places, MLX's too.
                                  lambda: wide(lambda x, w, b: mx.fast.layer_norm(x, w, b, 0.01), x, weight, bias),
                                  least=24.0))
        for n, (dims, traditional, base, scale) in enumerate([(12, False, 1e4, 1.0), (8, True, 1e4, 0.5), (8, False, None, 1.0)]):
            for layout in t.layouts(n):
                x = t.input((2, 3, 4, 12), dtype, layout, "finite")
                periods = t.of(np.abs(t.rng.standard_normal(dims // 2)).astype("float32") + 0.5, "float32")
                freqs = periods if base is None else None
                for offset in [t.of(np.array(5, "int32"), "int32"), t.of(np.array([7, 2], "int32"), "int32")]:
                    table("RoPE", "fast_rope", dtype, layout,
                          run(lambda: op("fast_rope", x.ours, dims, traditional, float("nan") if base is None else base,
                                         scale, offset.ours, freqs and freqs.ours),
                              lambda: wide(lambda x: mx.fast.rope(x, dims, traditional=traditional, base=base, scale=scale,
                                                                  offset=offset.mlx, freqs=freqs and freqs.mlx), x),
                              room=1e-4, least=4.0))
        for n, (heads, kept, rows, keys, wide_of, deep) in enumerate([(4, 2, 3, 5, 8, 6), (4, 4, 1, 33, 64, 64),
                                                                      (6, 2, 7, 40, 40, 40), (3, 1, 5, 2, 16, 16)]):
            for layout in t.layouts(n):
                q = t.input((2, heads, rows, wide_of), dtype, layout, "unit")
                k = t.input((2, kept, keys, wide_of), dtype, layout, "unit")
                v = t.input((2, kept, keys, deep), dtype, "contiguous", "finite")
                seen = t.input((2, 1, rows, keys), "bool", "contiguous", "few")
                added, sinks = t.input((rows, keys), dtype, layout, "finite"), t.input((heads,), dtype, "contiguous", "finite")
                for causal, mask, sink in [(False, None, None), (True, None, None), (False, seen, None),
                                           (False, added, None), (False, None, sinks), (True, None, sinks)]:
                    def attend(q, k, v, mask, sinks):
                        return mx.fast.scaled_dot_product_attention(
                            q, k, v, scale=0.2, mask="causal" if causal else mask, sinks=sinks)

                    # Weights of scores whose exponents are off by a few units.
                    table("ScaledDotProductAttention", "fast_scaled_dot_product_attention", dtype, layout,
                          run(lambda: op("fast_scaled_dot_product_attention", q.ours, k.ours, v.ours, 0.2, causal,
                                         mask and mask.ours, sink and sink.ours),
                              lambda: wide(attend, q, k, v, mask, sink), room=3e-5, least=4.0))


def moves(t, table):
    """From the CPU and back, or to a device and back."""
    op, cpu = t.library.op, t.library.cpu
    for dtype in DTYPES:
        for layout in t.layouts() + ["contiguous"]:
            for shape in [(3, 5), (), (0, 3), (2, 1, 3, 2, 2, 3)]:
                x = t.input(shape, dtype, layout, "any")
                home = t.library.device or cpu
                table("Copy", "to_device", dtype, layout,
                      run(lambda: op("to_device", op("to_device", x.ours, cpu), home), lambda: x.mlx, exact=True))
