"""Products of matrices, of dense and of quantized ones."""
import mlx.core as mx
import numpy as np

from cases import ROOM, numpy_of, run, wide
from library import DTYPES, Text

FLOATS = ["float16", "bfloat16", "float32"]
MODES = ["mxfp4", "mxfp8", "nvfp4"]


def least(inner):
    """Sums of so many products of numbers below 4: what is near 0 is no more exact than the terms."""
    return 8.0 * max(inner, 1) ** 0.5


def dense(t, table):
    op = t.library.op
    pairs = [((3, 5), (5, 4)), ((5,), (2, 5, 3)), ((2, 3, 5), (5,)), ((5,), (5,)), ((2, 3, 3, 40), (2, 1, 40, 30)),
             ((3, 11, 70), (70, 19)), ((1, 300), (300, 7)), ((0, 4), (4, 3)), ((3, 0), (0, 2)), ((3, 4), (5, 2))]
    adds = [((3, 4), (3, 5), (5, 4)), ((30,), (2, 3, 40), (40, 30)), ((4,), (5,), (5, 4)), ((3,), (3, 5), (5,)),
            ((2, 1, 30), (2, 3, 40), (40, 30)), ((1, 1), (40, 33), (33, 17))]
    for dtype in DTYPES:
        for n, (one, two) in enumerate(pairs):
            for layout in t.layouts(n):
                a, b = t.input(one, dtype, layout, "finite"), t.input(two, dtype, "transposed", "finite")
                table("Matmul", "matmul", dtype, layout,
                      run(lambda: op("matmul", a.ours, b.ours), lambda: wide(mx.matmul, a, b), least=least(one[-1])))
        for n, shapes in enumerate(adds):
            for layout in t.layouts(n):
                c, a, b = (t.input(shape, dtype, layout, "finite") for shape in shapes)
                table("AddMM", "addmm", dtype, layout,
                      run(lambda: op("addmm", c.ours, a.ours, b.ours, 0.5, -2.0),
                          lambda: wide(lambda *x: mx.addmm(*x, 0.5, -2.0), c, a, b), least=least(shapes[1][-1])))
        for layout in t.layouts(2):
            a, b = t.input((2, 3, 4), dtype, layout, "finite"), t.input((4, 3, 5), dtype, "contiguous", "finite")
            table("Matmul", "tensordot", dtype, layout,
                  run(lambda: op("tensordot", a.ours, b.ours, [1, 2], [1, 0]),
                      lambda: wide(lambda a, b: mx.tensordot(a, b, [[1, 2], [1, 0]]), a, b), least=least(12)))
            b = t.input((7, 4), dtype, layout, "finite")
            table("Matmul", "inner", dtype, layout,
                  run(lambda: op("inner", a.ours, b.ours), lambda: wide(mx.inner, a, b), least=least(4)))


def chosen(t, table):
    """Products of chosen blocks, matrices and parts."""
    op = t.library.op
    for dtype in FLOATS:
        for block in [32, 64]:
            a, b = t.input((70, 133), dtype, "contiguous", "finite"), t.input((133, 65), dtype, "transposed", "finite")
            tiles = [-(-size // block) for size in (70, 133, 65)]
            shapes = [(tiles[0], tiles[2]), (tiles[0], tiles[1]), (tiles[1], tiles[2])]
            for kind in ["bool", dtype]:
                masks = [t.input(shape, kind, "contiguous", "few") for shape in shapes]
                for given in [masks, [masks[0], None, None], [None, masks[1], masks[2]]]:
                    ours = [mask and mask.ours for mask in given]
                    table("BlockMaskedMM", "block_masked_mm", dtype, "contiguous",
                          run(lambda: op("block_masked_mm", a.ours, b.ours, block, *ours),
                              lambda: wide(lambda *x: mx.block_masked_mm(x[0], x[1], block, *x[2:]), a, b, *given),
                              least=16 * least(133)))
        for layout in t.layouts():
            a, b = t.input((3, 2, 5), dtype, layout, "finite"), t.input((2, 2, 5, 4), dtype, layout, "finite")
            left, right = places(t, (2, 3), 3), places(t, (2, 1), 4)
            table("GatherMM", "gather_mm", dtype, layout,
                  run(lambda: op("gather_mm", a.ours, b.ours, left.ours, right.ours),
                      lambda: wide(lambda a, b: mx.gather_mm(a, b, left.mlx, right.mlx), a, b), least=least(5)))
            one = t.input((1, 7, 40), dtype, layout, "finite")
            many = t.input((5, 40, 33), dtype, layout, "finite")
            right = places(t, (6,), 5)
            first = places(t, (6,), 1)
            table("GatherMM", "gather_mm", dtype, layout,
                  run(lambda: op("gather_mm", one.ours, many.ours, first.ours, right.ours),
                      lambda: wide(lambda a, b: mx.gather_mm(a, b, first.mlx, right.mlx), one, many), least=least(40)))
            a, b = t.input((3, 50), dtype, layout, "finite"), t.input((50, 4), dtype, layout, "finite")
            ends = np.sort(t.rng.integers(0, 51, (2, 2, 2)), -1).astype("uint32")
            segments = t.of(ends, "uint32")
            table("SegmentedMM", "segmented_mm", dtype, layout,
                  run(lambda: op("segmented_mm", a.ours, b.ours, segments.ours),
                      lambda: wide(lambda a, b: mx.segmented_mm(a, b, segments.mlx), a, b), least=least(50)))


def places(t, shape, size):
    return t.of(t.rng.integers(0, size, shape).astype("uint32"), "uint32")


def codes(t, table):
    """Numbers to codes and back, bit for bit, on whatever groups: any, all negative, all positive, zeros, wide."""
    op = t.library.op
    for dtype in FLOATS:
        numbers = t.rng.standard_normal((5, 256)).astype("float32")
        numbers[1], numbers[2] = -np.abs(numbers[1]), np.abs(numbers[2])
        numbers[3, :64], numbers[4, 17] = 0, 300
        w = t.of(numbers, dtype)
        for bits in [2, 3, 4, 5, 6, 8]:
            for group in [32, 64, 128]:
                q, s, b = mx.quantize(w.mlx, group, bits)
                table("Quantize", "quantize", dtype, "contiguous",
                      run(lambda: op("quantize", w.ours, group, bits, results=3), lambda: (q, s, b), exact=True))
                parts = [t.same(q), t.same(s), t.same(b)]
                table("Quantize", "dequantize", dtype, "contiguous",
                      run(lambda: op("dequantize", *ours(parts), group, bits, Text("affine"), None, -1),
                          lambda: mx.dequantize(q, s, b, group, bits), least=1.0))
        for mode in MODES:
            for scale in [None, t.of(np.array(3.5, "float32"), "float32")] if mode == "nvfp4" else [None]:
                kept = scale and scale.mlx
                q, s = mx.quantize(w.mlx, mode=mode, global_scale=kept)
                # Ties between two codes go the way of the dtype's own division in MLX, of single precision here.
                table("Quantize", "quantize_float", dtype, "contiguous",
                      run(lambda: op("quantize_float", w.ours, Text(mode), scale and scale.ours, results=2),
                          lambda: (q, s), exact=True))
                parts = [t.same(q), t.same(s)]
                table("Quantize", "dequantize", dtype, "contiguous",
                      run(lambda: op("dequantize", *ours(parts), None, 0, 0, Text(mode), scale and scale.ours,
                                     DTYPES.index(dtype)),
                          # MLX's CPU gives float32 for a global scale, whatever was asked for.
                          lambda: mx.dequantize(q, s, mode=mode, global_scale=kept, dtype=mxd(dtype)).astype(mxd(dtype)),
                          least=1.0))
        wild = t.rng.standard_normal(300) * 10.0 ** t.rng.integers(-5, 4, 300)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 449, 1e9, 2**-6, 2**-9, 2**-10, 1e-30]
        x = t.of(np.concatenate([special, wild]).astype("float32"), dtype)
        table("ConvertFP8", "to_fp8", dtype, "contiguous",
              run(lambda: op("to_fp8", x.ours), lambda: mx.to_fp8(x.mlx), exact=True))
        every = t.of(np.arange(256).astype("uint8"), "uint8")
        table("ConvertFP8", "from_fp8", dtype, "contiguous",
              run(lambda: op("from_fp8", every.ours, dtype), lambda: mx.from_fp8(every.mlx, mxd(dtype)), exact=True))


def mxd(dtype):
    return getattr(mx, dtype)


def ours(pairs):
    return [pair.ours for pair in pairs]


def packed(t, shape, dtype, mode, group, bits):
    """Quantized numbers: the parts, and the numbers in float64."""
    numbers = t.input(shape, dtype, "contiguous", "finite").mlx
    if mode == "affine":
        parts = mx.quantize(numbers, group, bits)
        # Scale and bias exact, so that only the product rounds.
        exact = mx.dequantize(parts[0], *[p.astype(mx.float32) for p in parts[1:]], group, bits)
    else:
        parts = mx.quantize(numbers, mode=mode)
        exact = mx.dequantize(*parts, mode=mode, dtype=mx.float32)
    return [t.same(part) for part in parts], np.array(exact).astype("f8")


def there_and_back(x, mode):
    """The numbers of x's codes in a product of two quantized matrices: ties go to even codes there."""
    scales = mx.quantize(x, mode=mode)[1]
    scales = np.array(mx.from_fp8(scales, mx.float32)) if mode == "nvfp4" else 2.0 ** (np.array(scales) - 127.0)
    groups = numpy_of(x).astype("f8").reshape(scales.shape + (-1,))
    scales = scales[..., None]
    sizes = np.divide(groups, scales, out=np.zeros_like(groups), where=scales != 0)
    if mode == "mxfp8":
        sizes = np.array(mx.from_fp8(mx.to_fp8(mx.array(sizes.astype("f4"))), mx.float32)).astype("f8")
    else:
        codes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        # Even codes first: the first of two that are as near wins.
        codes = np.concatenate([codes[::2], codes[1::2]])
        nearest = np.abs(np.abs(sizes)[..., None] - codes).argmin(-1)
        sizes = np.sign(sizes) * codes[nearest]
    return (sizes * scales).reshape(x.shape)


def quantized(t, table):
    """MLX sums 16-bit products of quantized numbers in 16 bits, so that f64 is what these are compared with."""
    op = t.library.op
    kinds = [("affine", 64, 4), ("affine", 32, 3), ("affine", 128, 8), ("affine", 64, [2, 5, 6][t.turn % 3])]
    for dtype in FLOATS:
        room = {"float32": 3e-5, "float16": 2e-3, "bfloat16": 1.6e-2}[dtype] / max(1.0, ROOM[dtype] / ROOM["float32"])
        for mode, group, bits in kinds + [(mode, 0, 0) for mode in MODES]:
            more = [parts_none(mode), group, bits, Text(mode)]

            def both(primitive, name, ours, exact):
                table(primitive, name, dtype, "contiguous",
                      run(ours, lambda: mx.array(exact.astype("float32")).astype(mxd(dtype)), room=room, least=least(256)))

            for rows in [1, 7]:
                x = t.input((rows, 256), dtype, t.layouts(rows)[0], "finite")
                a = numpy_of(x.mlx).astype("f8")
                for turned, shape in [(True, (9, 256)), (False, (256, 128))]:
                    parts, w = packed(t, shape, dtype, mode, group, bits)
                    both("QuantizedMatmul", "quantized_matmul",
                         lambda: op("quantized_matmul", x.ours, *ours(parts), *more[0], turned, *more[1:]),
                         a @ (w.T if turned else w))
            x = t.input((2, 3, 2, 128), dtype, "contiguous", "finite")
            parts, w = packed(t, (5, 32, 128), dtype, mode, group, bits)
            left, right = places(t, (2, 3), 6), places(t, (2, 1), 5)
            a = numpy_of(x.mlx).astype("f8").reshape(6, 2, 128)[np.array(left.mlx)]
            both("GatherQMM", "gather_qmm",
                 lambda: op("gather_qmm", x.ours, *ours(parts), *more[0], left.ours, right.ours, True, *more[1:]),
                 a @ np.swapaxes(w[np.array(right.mlx)], -1, -2))
            if mode == "affine":
                continue
            # Both sides quantized, x on the way.
            x = t.input((3, 128), dtype, "contiguous", "finite")
            parts, w = packed(t, (6, 128), dtype, mode, group, bits)
            a = there_and_back(x.mlx, mode)
            both("QQMatmul", "qqmm", lambda: op("qqmm", x.ours, *ours(parts), Text(mode), None, None), a @ w.T)
            x = t.input((4, 3, 128), dtype, "contiguous", "finite")
            parts, w = packed(t, (5, 6, 128), dtype, mode, group, bits)
            left, right = places(t, (7,), 4), places(t, (7,), 5)
            a = there_and_back(x.mlx, mode)
            both("GatherQQMM", "gather_qqmm",
                 lambda: op("gather_qqmm", x.ours, *ours(parts), left.ours, right.ours, Text(mode), None, None),
                 a[np.array(left.mlx)] @ np.swapaxes(w[np.array(right.mlx)], -1, -2))


def parts_none(mode):
    """The biases that a mode has not."""
    return [] if mode == "affine" else [None]
