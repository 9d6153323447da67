"""Arrays of numbers that a rule gives; other shapes; arrays put together."""
import mlx.core as mx

from cases import LAYOUTS, MX, SHAPES, run
from library import AXIS_NONE, DTYPES, Axes, Size


def creation(t, table):
    op = t.library.op

    def both(primitive, name, dtype, ours, mlx, **how):
        table(primitive, name, dtype, "contiguous", run(ours, mlx, **how))

    for dtype in DTYPES:
        kind = MX[dtype]
        for shape in SHAPES:
            both("Full", "zeros", dtype, lambda: op("zeros", list(shape), dtype), lambda: mx.zeros(shape, kind))
            both("Full", "ones", dtype, lambda: op("ones", list(shape), dtype), lambda: mx.ones(shape, kind))
            row = t.input(shape[-1:], dtype, "backwards", "any")
            both("Full", "full", dtype, lambda: op("full", list(shape), row.ours, dtype),
                 lambda: mx.full(shape, row.mlx, kind))
        for start, stop, step in [(0, 7, 1), (3, 20, 4), (9, 1, -3), (0.5, 4, 0.25), (5, 1, 1), (1.5, 7.9, 2)]:
            if dtype.startswith("uint") and step < 0:
                continue
            both("Arange", "arange", dtype, lambda: op("arange", float(start), float(stop), float(step), dtype),
                 lambda: mx.arange(start, stop, step, kind))
        for count in [0, 1, 2, 7]:
            if dtype != "bool":
                both("Arange", "linspace", dtype, lambda: op("linspace", 1.0, 9.0, count, dtype),
                     lambda: mx.linspace(1, 9, count, dtype=kind))
        for n, m, k in [(3, 3, 0), (3, 5, 1), (5, 3, -2), (2, 2, 7), (4, 0, 0)]:
            both("Equal", "eye", dtype, lambda: op("eye", n, m, k, dtype), lambda: mx.eye(n, m, k, kind))
            both("GreaterEqual", "tri", dtype, lambda: op("tri", n, m, k, dtype), lambda: mx.tri(n, m, k, kind))
        both("Equal", "identity", dtype, lambda: op("identity", 4, dtype), lambda: mx.identity(4, kind))
        for n, layout in enumerate(LAYOUTS):
            x = t.input((2, 4, 5), dtype, layout, "any")
            for k in [0, -1, 2, 9]:
                both("Select", "tril", dtype, lambda: op("tril", x.ours, k), lambda: mx.tril(x.mlx, k))
                both("Select", "triu", dtype, lambda: op("triu", x.ours, k), lambda: mx.triu(x.mlx, k))
            for k in [0, -1, 2]:
                a, b = [(0, 1), (1, 2), (2, 0), (-1, 1), (1, 0)][n]
                both("Gather", "diagonal", dtype, lambda: op("diagonal", x.ours, k, a, b),
                     lambda: mx.diagonal(x.mlx, k, a, b))
                v, m = t.input((4,), dtype, layout, "any"), t.input((4, 6), dtype, layout, "finite")
                both("Scatter", "diag", dtype, lambda: op("diag", v.ours, k), lambda: mx.diag(v.mlx, k))
                both("Gather", "diag", dtype, lambda: op("diag", m.ours, k), lambda: mx.diag(m.mlx, k))
                both("Reduce", "trace", dtype, lambda: op("trace", m.ours, k, 0, 1, "float32"),
                     lambda: mx.trace(m.mlx, k, 0, 1, dtype=mx.float32), room=1e-4)
            v, w = t.input((3, 2), dtype, layout, "finite"), t.input((4,), dtype, layout, "finite")
            both("Multiply", "outer", dtype, lambda: op("outer", v.ours, w.ours), lambda: mx.outer(v.mlx, w.mlx))
            both("Multiply", "kron", dtype, lambda: op("kron", v.ours, w.ours), lambda: mx.kron(v.mlx, w.mlx))


PADS = ["constant", "edge", "reflect", "symmetric"]


def shapes(t, table):
    op = t.library.op
    for dtype in DTYPES:
        for n, layout in enumerate(LAYOUTS):
            x = t.input((2, 3, 4), dtype, layout, "any")
            y = t.input((2, 3, 4), DTYPES[n * 2], "contiguous", "few")
            one = t.input((1, 3, 1, 2), dtype, layout, "any")
            tiny = t.input((), dtype, layout, "any")

            def both(primitive, name, ours, mlx):
                table(primitive, name, dtype, layout, run(ours, mlx, signs=True))

            for sizes in [[6, 4], [-1], [4, -1, 3], [2, 3, 2, 2], [1, 24, 1], [5, 5]]:
                both("Reshape", "reshape", lambda: op("reshape", x.ours, sizes), lambda: mx.reshape(x.mlx, sizes))
            for a, b in [(0, -1), (1, 2), (0, 1), (-2, -1), (0, 9), (2, 1)]:
                both("Flatten", "flatten", lambda: op("flatten", x.ours, a, b), lambda: mx.flatten(x.mlx, a, b))
            both("Flatten", "flatten", lambda: op("flatten", tiny.ours, 0, -1), lambda: mx.flatten(tiny.mlx, 0, -1))
            for axis, sizes in [(2, [2, 2]), (-1, [-1, 2]), (1, [3, 1]), (0, [5])]:
                both("Unflatten", "unflatten", lambda: op("unflatten", x.ours, axis, sizes),
                     lambda: mx.unflatten(x.mlx, axis, sizes))
            for axes in [[0], [-1], [1, 3], [0, 4], [5, 5]]:
                both("ExpandDims", "expand_dims", lambda: op("expand_dims", x.ours, axes),
                     lambda: mx.expand_dims(x.mlx, axes))
            for axes in [None, [0], [-2, 0], [1]]:
                both("Squeeze", "squeeze", lambda: op("squeeze", one.ours, Axes(axes)),
                     lambda: mx.squeeze(one.mlx, axes))
            for sizes in [(5, 3, 7, 2), (2, 1, 3, 4, 2), (3, 2)]:
                both("Broadcast", "broadcast_to", lambda: op("broadcast_to", one.ours, list(sizes)),
                     lambda: mx.broadcast_to(one.mlx, sizes))
            for order in [None, [2, 0, 1], [0, 2, 1], [-1, -2, -3], [0, 1], [0, 0, 1]]:
                both("Transpose", "transpose", lambda: op("transpose", x.ours, Axes(order)),
                     lambda: mx.transpose(x.mlx, order))
            for a, b in [(0, 2), (-1, 1), (1, 1), (0, 3)]:
                both("Transpose", "swapaxes", lambda: op("swapaxes", x.ours, a, b), lambda: mx.swapaxes(x.mlx, a, b))
                both("Transpose", "moveaxis", lambda: op("moveaxis", x.ours, a, b), lambda: mx.moveaxis(x.mlx, a, b))
            for rank in [1, 2, 3]:
                for array in [tiny, t.input((3,), dtype), t.input((3, 2), dtype), one]:
                    name = f"atleast_{rank}d"
                    both("Reshape", name, lambda: op(name, array.ours), lambda: getattr(mx, name)(array.mlx))
            for cut in [((0, 0, 0), (2, 3, 4), (1, 1, 1)), ((1, 0, -3), (9, -1, -1), (1, 2, 1)),
                        ((1, 2, 3), (-9, -9, -9), (-1, -1, -2)), ((0, 2, 0), (2, 1, 4), (1, 1, 3))]:
                both("Slice", "slice", lambda: op("slice", x.ours, *map(list, cut)),
                     lambda: x.mlx[tuple(map(slice, *cut))])
            # MLX's own refuses what does not lie row after row.
            whole = t.input((2, 3, 4), dtype, "contiguous", "any")
            for sizes, strides, offset in [((2, 3), (1, 2), 1), ((4,), (0,), 5), ((3, 3), (-1, 4), 6)]:
                both("AsStrided", "as_strided", lambda: op("as_strided", whole.ours, list(sizes), list(strides), offset),
                     lambda: mx.as_strided(whole.mlx, sizes, strides, offset))
            both("Contiguous", "contiguous", lambda: op("contiguous", x.ours), lambda: mx.contiguous(x.mlx))
            both("StopGradient", "stop_gradient", lambda: op("stop_gradient", x.ours),
                 lambda: mx.stop_gradient(x.mlx))
            both("Depends", "depends", lambda: op("depends", x.ours, [y.ours]), lambda: mx.depends(x.mlx, y.mlx))
            for axis in [0, 1, -1, 3]:
                both("Concatenate", "concatenate", lambda: op("concatenate", [x.ours, y.ours, x.ours], axis),
                     lambda: mx.concatenate([x.mlx, y.mlx, x.mlx], axis))
                both("Concatenate", "stack", lambda: op("stack", [x.ours, y.ours], axis),
                     lambda: mx.stack([x.mlx, y.mlx], axis))
                both("Split", "split_parts", lambda: op("split_parts", x.ours, Size(2), axis, results=(2,)),
                     lambda: mx.split(x.mlx, 2, axis))
                both("Split", "split", lambda: op("split", x.ours, [1, 2], axis, results=(3,)),
                     lambda: mx.split(x.mlx, [1, 2], axis))
            for axis in [None, 0, -1]:
                for count in [0, 1, 3]:
                    both("Broadcast", "repeat",
                         lambda: op("repeat", x.ours, count, AXIS_NONE if axis is None else axis),
                         lambda: mx.repeat(x.mlx, count, axis))
            for reps in [[2], [1, 3], [2, 1, 2], [2, 1, 1, 2], [0, 1, 1]]:
                both("Broadcast", "tile", lambda: op("tile", x.ours, reps), lambda: mx.tile(x.mlx, reps))
            for mode, kind in enumerate(PADS):
                for low, high in [([1, 0, 2], [0, 2, 1]), ([0, 0, 0], [0, 0, 1]), ([1, 1, 1], [1, 1, 1])]:
                    both("Pad", "pad", lambda: op("pad", x.ours, low, high, mode, None),
                         lambda: mx.pad(x.mlx, list(zip(low, high)), kind))
            for shifts, axes in [([1], [0]), ([-2, 5], [1, 2]), ([7], None), ([1], [0, 2])]:
                both("Slice", "roll", lambda: op("roll", x.ours, shifts, Axes(axes)),
                     lambda: mx.roll(x.mlx, tuple(shifts) if len(shifts) > 1 else shifts[0], axes))
            for axes in [None, [0], [-1, 1]]:
                both("Slice", "flip", lambda: op("flip", x.ours, Axes(axes)), lambda: mx.flip(x.mlx, axes))
            row, column = t.input((4,), dtype, layout, "any"), t.input((2, 1), dtype, layout, "any")
            both("Broadcast", "broadcast_arrays",
                 lambda: op("broadcast_arrays", [row.ours, column.ours], results=(2,)),
                 lambda: mx.broadcast_arrays(row.mlx, column.mlx))
            other = t.input((3,), dtype, layout, "any")
            for sparse, swapped in [(False, False), (True, False), (False, True), (True, True)]:
                both("Broadcast", "meshgrid",
                     lambda: op("meshgrid", [row.ours, other.ours], sparse, swapped, results=(2,)),
                     lambda: mx.meshgrid(row.mlx, other.mlx, sparse=sparse, indexing="xy" if swapped else "ij"))
