"""Elements by index, read and replaced."""
import mlx.core as mx
import numpy as np

from cases import LAYOUTS, numpy_of, run
from library import AXIS_NONE, DTYPES

INDEX = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]


def indices(t, shape, size, n):
    """Places of an axis, negative ones too where the dtype has them."""
    dtype = INDEX[n % len(INDEX)]
    low = -size if dtype.startswith("int") else 0
    return t.of(t.rng.integers(low, size, shape).astype(dtype), dtype)


def reads(t, table):
    op = t.library.op
    for d, dtype in enumerate(DTYPES):
        for n, layout in enumerate(LAYOUTS):
            n += d
            x = t.input((4, 5, 3), dtype, layout, "any")

            def both(primitive, name, ours, mlx):
                table(primitive, name, dtype, layout, run(ours, mlx, signs=True))

            for axis in [None, 0, 1, -1]:
                size = 60 if axis is None else (4, 5, 3)[axis]
                place = AXIS_NONE if axis is None else axis
                for shape in [(), (3,), (2, 2), (0,)]:
                    i = indices(t, shape, size, n)
                    both("Gather", "take", lambda: op("take", x.ours, i.ours, place),
                         lambda: mx.take(x.mlx, i.mlx, axis))
                shape = (7,) if axis is None else tuple(2 if a == axis % 3 else s for a, s in enumerate((4, 5, 3)))
                i = indices(t, shape, size, n)
                both("GatherAxis", "take_along_axis", lambda: op("take_along_axis", x.ours, i.ours, place),
                     lambda: mx.take_along_axis(x.mlx, i.mlx, axis))
                if axis is not None:
                    i = indices(t, tuple(2 if a == axis % 3 else 1 for a in range(3)), size, n)
                    both("GatherAxis", "take_along_axis", lambda: op("take_along_axis", x.ours, i.ours, place),
                         lambda: mx.take_along_axis(x.mlx, i.mlx, axis))
            i, j = indices(t, (2, 1), 4, n), indices(t, (3,), 3, n)
            both("Gather", "gather", lambda: op("gather", x.ours, [i.ours, j.ours], [0, 2], [1, 5, 1]),
                 lambda: x.mlx[i.mlx, :, j.mlx][:, :, None, :, None])
            both("Gather", "gather", lambda: op("gather", x.ours, [i.ours], [0], [1, 2, 2]),
                 lambda: x.mlx[i.mlx][..., None, :, :][..., :2, :2])
            start = t.of(np.array([1, 2], "int32"), "int32")
            both("DynamicSlice", "slice_dynamic",
                 lambda: op("slice_dynamic", x.ours, start.ours, [0, 1], [2, 3, 2]),
                 lambda: mx.slice(x.mlx, start.mlx, [0, 1], [2, 3, 2]))


def writes(t, table):
    op = t.library.op
    kinds = {"": None, "_add": "add", "_prod": "multiply", "_max": "maximum", "_min": "minimum"}
    for d, dtype in enumerate(DTYPES):
        for n, layout in enumerate(LAYOUTS):
            n += d
            x = t.input((4, 5, 3), dtype, layout, "few")

            def both(primitive, name, ours, mlx, **how):
                table(primitive, name, dtype, layout, run(ours, mlx, **how))

            cut = ((3, 0, -1), (-9, 9, -9), (-2, 2, -1))
            places = tuple(map(slice, *cut))
            update = t.input((3, 3), dtype, layout, "few")
            # Without a reduction the order of writes is free: places are all different.
            several = t.of(t.rng.permutation(4)[:3].astype(INDEX[n % 8]), INDEX[n % 8])
            double = indices(t, (6,), 4, n)
            rows = t.input((3, 1, 5, 3), dtype, layout, "few")
            more = t.input((6, 1, 5, 3), dtype, layout, "few")
            i, j = indices(t, (2, 1), 4, n), indices(t, (3,), 3, n)
            columns = t.input((2, 3, 1, 5, 1), dtype, layout, "few")
            for kind, method in kinds.items():
                name = "slice_update" + kind
                at = lambda places, update: getattr(x.mlx.at[places], method)(update)

                def replaced(places, update):
                    result = mx.array(x.mlx)
                    result[places] = update
                    return result

                write = at if method else replaced
                both("SliceUpdate", name, lambda: op(name, x.ours, update.ours, *map(list, cut)),
                     lambda: write(places, update.mlx))
                name = "scatter" + kind
                index, values = (double, more) if method else (several, rows)
                both("Scatter", name, lambda: op(name, x.ours, [index.ours], values.ours, [0]),
                     lambda: write(index.mlx, values.mlx[:, 0]), room=1e-4)
                if method:
                    both("Scatter", name, lambda: op(name, x.ours, [i.ours, j.ours], columns.ours, [0, 2]),
                         lambda: write((i.mlx, slice(None), j.mlx), columns.mlx[:, :, 0, :, 0]), room=1e-4)
            for axis in [None, 0, 1, -1]:
                place = AXIS_NONE if axis is None else axis
                size = 60 if axis is None else (4, 5, 3)[axis]
                order = t.rng.permutation(size)[: min(size, 3)]
                if axis is None:
                    shape = (3,)
                    numbers = order
                else:
                    shape = [4, 5, 3]
                    shape[axis] = len(order)
                    line = [1, 1, 1]
                    line[axis] = len(order)
                    numbers = np.broadcast_to(order.reshape(line), shape)
                k = t.of(numbers.astype("int32"), "int32")
                values = t.input(tuple(shape), dtype, layout, "any")
                both("ScatterAxis", "put_along_axis", lambda: op("put_along_axis", x.ours, k.ours, values.ours, place),
                     lambda: mx.put_along_axis(x.mlx, k.mlx, values.mlx, axis))
            # MLX's python has no name for the sum along an axis; the reference is a loop of numpy.
            if dtype in ("int32", "float32"):
                k = indices(t, (4, 2, 3), 5, n)
                values = t.input((4, 2, 3), dtype, layout, "few")
                sums = np.array(x.mlx)
                for a, b, c in np.ndindex(4, 2, 3):
                    sums[a, int(np.array(k.mlx)[a, b, c]), c] += np.array(values.mlx)[a, b, c]
                both("ScatterAxis", "scatter_add_axis",
                     lambda: op("scatter_add_axis", x.ours, k.ours, values.ours, 1), lambda: mx.array(sums))
            mask, source = t.input((4, 5), "bool", layout), t.input((70,), dtype, layout, "any")

            def masked():
                # numpy's own: MLX's python stops the process for some masks that are broadcast.
                result, keep = numpy_of(x.mlx).copy(), np.array(mask.mlx)
                result[keep] = numpy_of(source.mlx)[: 3 * keep.sum()].reshape(-1, 3)
                return mx.array(result).astype(x.mlx.dtype) if result.dtype != "f8" else mx.array(result, mx.float64)

            both("MaskedScatter", "masked_scatter", lambda: op("masked_scatter", x.ours, mask.ours, source.ours), masked)
            start = t.of(np.array([1, 0], "int32"), "int32")
            block = t.input((2, 3, 2), dtype, layout, "any")
            both("DynamicSliceUpdate", "slice_update_dynamic",
                 lambda: op("slice_update_dynamic", x.ours, block.ours, start.ours, [0, 2]),
                 lambda: mx.slice_update(x.mlx, block.mlx, start.mlx, [0, 2]))
