"""Reductions, running totals, orders."""
import mlx.core as mx
import numpy as np

from cases import ROOM as INEXACT, run
from library import AXIS_NONE, DTYPES, Axes

REDUCE = {  # name: (MLX's primitive, kind of numbers)
    "all": ("Reduce", "few"), "any": ("Reduce", "few"), "sum": ("Reduce", "finite"),
    "prod": ("Reduce", "unit"), "min": ("Reduce", "any"), "max": ("Reduce", "any"),
    "logsumexp": ("LogSumExp", "finite"), "mean": ("NumberOfElements", "finite"),
    "var": ("Square", "finite"), "std": ("Sqrt", "finite"), "median": ("Sort", "finite"),
    "count_nonzero": ("Reduce", "few"),
}
PLACES = [((3, 5), None), ((3, 5), [0]), ((3, 5), [-1]), ((2, 3, 4), [0, 2]), ((1, 2, 2, 3, 1, 2), [1, 3, 5]),
          ((), None), ((300,), [0]), ((2, 0, 3), [2]), ((2, 0, 3), [1])]
# 16-bit sums of MLX are made in 16 bits.
ROOM = {"mean": 1e-5, "var": 4e-5, "std": 4e-5, "sum": 1e-5, "prod": 1e-5, "logsumexp": 1e-5}
# What is near 0 is no more exact than the larger numbers that MLX adds in the dtype, a maximum and a logarithm.
LEAST = {"mean": 0.1, "std": 1.0, "var": 1.0, "logsumexp": 1.0}


def least_of(name, x, axes):
    """The size that a result counts with if it is smaller. A sum near 0 came by larger totals: of 300 numbers up to 4
    MLX's, made in single precision, is up to 3e-5 off the exact one."""
    if name != "sum":
        return LEAST.get(name, 1e-3)
    added = x.size if axes is None else np.prod([x.shape[axis] for axis in axes])
    return max(1.0, float(added) ** 0.5)


def reductions(t, table):
    op = t.library.op
    for name, (primitive, kind) in REDUCE.items():
        reference = getattr(mx, name)
        for dtype in DTYPES:
            for n, (shape, axes), layout in t.cases(PLACES):
                # MLX's logsumexp of truth values is wrong (more than log(n) + 1).
                if name == "logsumexp" and dtype == "bool":
                    continue
                # MLX stops the process for a median of nothing.
                if name == "median" and 0 in shape:
                    continue
                keep = n % 2 == 1
                # MLX does not end for an empty axis that lies otherwise.
                if shape == (2, 0, 3) and axes == [1]:
                    layout = "steps"
                if dtype in ("float16", "bfloat16") and shape == (300,):
                    shape = (30,)
                x = t.input(shape, dtype, layout, kind)
                more = {"ddof": 1} if name in ("var", "std") else {}
                room = ROOM.get(name)
                table(primitive, name, dtype, layout,
                      run(lambda: op(name, x.ours, Axes(axes), keep, *more.values()),
                          lambda: reference(x.mlx, axis=axes, keepdims=keep, **more),
                          room=room, least=least_of(name, x.mlx, axes)))
    for dtype in DTYPES:
        rows = [((3, 5), 0), ((3, 5), None), ((2, 3, 4), -2), ((70,), 0), ((0, 3), 1)]
        for n, (shape, axis), layout in t.cases(rows):
            x = t.input(shape, dtype, layout, "few")
            for name in ["argmin", "argmax"]:
                table("ArgReduce", name, dtype, layout,
                      run(lambda: op(name, x.ours, AXIS_NONE if axis is None else axis, n % 2 == 0),
                          lambda: getattr(mx, name)(x.mlx, axis, n % 2 == 0)))
        for n, (shape, axes), layout in t.cases(PLACES[:7]):
            # Over other axes than the last MLX casts softmax of integers back to integers: all 0.
            last = axes in ([-1], [len(shape) - 1])
            if dtype not in INEXACT and not last:
                continue
            if dtype in ("float16", "bfloat16") and shape == (300,):
                shape = (30,)
            x = t.input(shape, dtype, layout, "finite")
            for precise in [False, True]:
                table("Softmax", "softmax", dtype, layout,
                      run(lambda: op("softmax", x.ours, Axes(axes), precise),
                          lambda: mx.softmax(x.mlx, axes, precise=precise),
                          # MLX's is of single precision, also in float64.
                          room=2e-5, least=1e-2))


SCANS = {"cumsum": "finite", "cumprod": "unit", "cummax": "any", "cummin": "any", "logcumsumexp": "finite"}


def orders(t, table):
    op = t.library.op
    rows = [((3, 5), 0), ((3, 5), 1), ((3, 5), None), ((2, 3, 4), -2), ((40,), 0), ((0, 3), 1), ((2, 0), 1)]
    for dtype in DTYPES:
        for n, (shape, axis), layout in t.cases(rows):
            place = AXIS_NONE if axis is None else axis
            for name, kind in SCANS.items():
                # MLX's running extremes of 16-bit numbers forget NaN, others keep it.
                if dtype in ("float16", "bfloat16"):
                    kind = "finite"
                x = t.input(shape, dtype, layout, kind)
                # MLX rounds 16-bit totals, of up to 4 an element, at every step, as the CPU does; GPUs only the result.
                exact = t.library.device is not None and dtype in ("float16", "bfloat16")
                least, room = (16.0, 1e-4) if exact else (1.0, 2e-5)
                for reverse, inclusive in [(False, True), (True, True), (False, False), (True, False)]:
                    table("Scan", name, dtype, layout,
                          run(lambda: op(name, x.ours, place, reverse, inclusive),
                              lambda: getattr(mx, name)(x.mlx, axis, reverse=reverse, inclusive=inclusive),
                              room=room, least=least))
            x = t.input(shape, dtype, layout, "any")
            for name in ["sort", "argsort"]:
                primitive = {"sort": "Sort", "argsort": "ArgSort"}[name]
                table(primitive, name, dtype, layout,
                      run(lambda: op(name, x.ours, place), lambda: getattr(mx, name)(x.mlx, axis)))
            size = x.mlx.size if axis is None else x.mlx.shape[axis]
            if size > 1:
                parted(t, table, x, dtype, layout, axis, place, size)
        for right in [False, True]:
            kept = mx.sort(t.input((9,), dtype, "contiguous", "few").mlx)
            exact = kept.astype(mx.float32) if dtype == "bfloat16" else kept
            numbers = np.array(exact).astype("float32" if dtype == "float16" else np.array(exact).dtype)
            kept = t.of(numbers, dtype)
            values = t.input((4, 3), dtype, "transposed", "few")
            table("SearchSorted", "searchsorted", dtype, "transposed",
                  run(lambda: op("searchsorted", kept.ours, values.ours, right),
                      lambda: mx.searchsorted(kept.mlx, values.mlx, "right" if right else "left")))


def parted(t, table, x, dtype, layout, axis, place, size):
    """The order within parts is free: both are sorted, part by part."""
    op, kth = t.library.op, size // 2
    end = -1 if axis is None else axis

    def sorted_parts(array):
        parts = mx.split(array, [kth], end)
        return mx.concatenate([mx.sort(part, end) for part in parts], end)

    def ours_parts(array):
        parts = op("split", array, [kth], end, results=(2,))
        return op("concatenate", [op("sort", part, end) for part in parts], end)

    table("Partition", "partition", dtype, layout,
          run(lambda: ours_parts(op("partition", x.ours, kth, place)),
              lambda: sorted_parts(mx.partition(x.mlx, kth, axis))))
    table("Partition", "topk", dtype, layout,
          run(lambda: op("sort", op("topk", x.ours, kth, place), end),
              lambda: mx.sort(mx.topk(x.mlx, kth, axis), end)))

    def taken():
        flat = op("reshape", x.ours, [-1]) if axis is None else x.ours
        return ours_parts(op("take_along_axis", flat, op("argpartition", x.ours, kth, place), end))

    table("ArgPartition", "argpartition", dtype, layout,
          run(taken, lambda: sorted_parts(mx.partition(x.mlx, kth, axis))))
