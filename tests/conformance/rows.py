"""More than 2^16 rows, where a grid of blocks has more than an axis holds: which operations, by turns on a GPU. More axes
than kernels count through."""
import mlx.core as mx

from cases import run
from library import Axes
from products import least, places

ROWS = 65539


def many(t, table):
    op = t.library.op
    thin, one = t.input((ROWS, 3), "float32", "contiguous", "finite"), t.input((ROWS, 1), "float32", "contiguous", "finite")
    short, wide = t.input((3, 2), "float32", "contiguous", "finite"), t.input((3,), "float32", "contiguous", "finite")
    numbers = t.input((ROWS, 3), "int8", "contiguous", "any")
    small, index = t.input((7, 3), "float16", "contiguous", "any"), places(t, (ROWS,), 7)
    cases = [
        ("Exp", "exp", lambda: op("exp", thin.ours), lambda: mx.exp(thin.mlx)),
        ("Add", "add", lambda: op("add", one.ours, wide.ours), lambda: mx.add(one.mlx, wide.mlx)),
        ("Reduce", "sum", lambda: op("sum", thin.ours, Axes([1]), False), lambda: mx.sum(thin.mlx, 1)),
        ("Reduce", "max", lambda: op("max", numbers.ours, Axes([0]), False), lambda: mx.max(numbers.mlx, 0)),
        ("ArgReduce", "argmax", lambda: op("argmax", thin.ours, 1, False), lambda: mx.argmax(thin.mlx, 1)),
        ("Softmax", "softmax", lambda: op("softmax", thin.ours, Axes([1]), False), lambda: mx.softmax(thin.mlx, 1)),
        ("Scan", "cumsum", lambda: op("cumsum", thin.ours, 1, False, True), lambda: mx.cumsum(thin.mlx, 1)),
        ("Sort", "sort", lambda: op("sort", numbers.ours, 1), lambda: mx.sort(numbers.mlx, 1)),
        ("Gather", "take", lambda: op("take", small.ours, index.ours, 0), lambda: mx.take(small.mlx, index.mlx, 0)),
        ("Transpose", "transpose", lambda: op("contiguous", op("transpose", numbers.ours, Axes([1, 0]))),
         lambda: mx.transpose(numbers.mlx)),
        ("Concatenate", "concatenate", lambda: op("concatenate", [numbers.ours, numbers.ours], 1),
         lambda: mx.concatenate([numbers.mlx, numbers.mlx], 1)),
        ("Matmul", "matmul", lambda: op("matmul", thin.ours, short.ours), lambda: mx.matmul(thin.mlx, short.mlx)),
        ("RMSNorm", "fast_rms_norm", lambda: op("fast_rms_norm", thin.ours, wide.ours, 0.01),
         lambda: mx.fast.rms_norm(thin.mlx, wide.mlx, 0.01)),
    ]
    if t.library.device and not t.whole:
        cases = [cases[(t.turn + n) % len(cases)] for n in range(3)]
    for primitive, name, ours, mlx in cases:
        dtype = "float16" if name == "take" else "int8" if name in ("max", "sort", "transpose", "concatenate") else "float32"
        table(primitive, name, dtype, "contiguous", run(ours, mlx, least=least(3)), counted=False)


DEEP = (2, 3, 2, 2, 3, 2, 2, 2)


def deep(t, table):
    op = t.library.op
    for dtype in ["float32", "bfloat16", "int64", "float64", "complex64"]:
        turned = t.input(DEEP, dtype, "transposed", "finite")
        gaps = t.input(DEEP, dtype, "steps", "finite")
        part = t.input((1, 3, 1, 2, 2, 2, 1, 2), dtype, "transposed", "finite")
        start, stop = [1, 0, 0, 0, 1, 0, 1, 0], [2, 3, 1, 2, 3, 2, 2, 2]
        wanted, steps = tuple(map(slice, start, stop)), [1] * 8
        index = places(t, (5,), 3)
        along = places(t, DEEP, 3)
        low, high = [1, 0, 1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1, 0, 1]

        def replaced():
            result = mx.array(turned.mlx)
            result[wanted] = part.mlx
            return result

        cases = [
            ("Square", "square", lambda: op("square", turned.ours), lambda: mx.square(turned.mlx)),
            ("Add", "add", lambda: op("add", turned.ours, gaps.ours), lambda: mx.add(turned.mlx, gaps.mlx)),
            ("Less", "less", lambda: op("less", turned.ours, gaps.ours), lambda: mx.less(turned.mlx, gaps.mlx)),
            ("Reduce", "sum", lambda: op("sum", turned.ours, Axes([0, 2, 4, 6]), False),
             lambda: mx.sum(turned.mlx, [0, 2, 4, 6])),
            ("Reduce", "max", lambda: op("max", gaps.ours, Axes([1, 3, 5, 7]), False),
             lambda: mx.max(gaps.mlx, [1, 3, 5, 7])),
            ("ArgReduce", "argmax", lambda: op("argmax", gaps.ours, 4, False), lambda: mx.argmax(gaps.mlx, 4)),
            ("Scan", "cumsum", lambda: op("cumsum", gaps.ours, 4, False, True), lambda: mx.cumsum(gaps.mlx, 4)),
            ("Sort", "sort", lambda: op("sort", turned.ours, 3), lambda: mx.sort(turned.mlx, 3)),
            ("Gather", "take", lambda: op("take", gaps.ours, index.ours, 1), lambda: mx.take(gaps.mlx, index.mlx, 1)),
            ("GatherAxis", "take_along_axis", lambda: op("take_along_axis", gaps.ours, along.ours, 1),
             lambda: mx.take_along_axis(gaps.mlx, along.mlx, 1)),
            ("Concatenate", "concatenate", lambda: op("concatenate", [turned.ours, gaps.ours], 4),
             lambda: mx.concatenate([turned.mlx, gaps.mlx], 4)),
            ("Pad", "pad", lambda: op("pad", turned.ours, low, high, 0, None),
             lambda: mx.pad(turned.mlx, list(zip(low, high)))),
            ("SliceUpdate", "slice_update", lambda: op("slice_update", turned.ours, part.ours, start, stop, steps),
             replaced),
            ("SliceUpdate", "slice_update_add",
             lambda: op("slice_update_add", gaps.ours, part.ours, start, stop, steps),
             lambda: gaps.mlx.at[wanted].add(part.mlx)),
        ]
        if dtype not in ("int64",):
            cases.append(("Matmul", "matmul", lambda: op("matmul", turned.ours, gaps.ours),
                          lambda: mx.matmul(turned.mlx, gaps.mlx)))
        for primitive, name, ours, mlx in cases:
            table(primitive, name, dtype, "8 axes", run(ours, mlx, least=least(3)), counted=False)
