"""Inputs of every dtype and layout, made alike in the library and in MLX, and the comparison of results."""
import numpy as np
import mlx.core as mx

from library import DTYPES, Failure

MX = {name: getattr(mx, name + "_" if name == "bool" else name) for name in DTYPES}
LAYOUTS = ["contiguous", "transposed", "broadcast", "steps", "backwards"]
SHAPES = [(3, 5), (7,), (2, 3, 4), (), (0, 3), (2, 1, 3, 2, 2, 3), (17, 33), (1, 9)]
# What results of the library's functions and MLX's may differ by, relatively: a few units of the last
# place for what is exact in principle, more where MLX sums in the dtype itself (the library in f64).
ROOM = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-11, "complex64": 1e-4}
# Denormals, the least one and one of more bits.
SMALL = {"float16": [6e-8, -3.1e-5], "bfloat16": [9.2e-41, -1e-39], "float32": [1.4e-45, -1e-39],
         "float64": [5e-324, -1e-310]}


def is_float(dtype):
    return dtype in ROOM and dtype != "complex64"


class Pair:
    """The same array in the library and in MLX."""

    def __init__(self, ours, mlx):
        self.ours, self.mlx = ours, mlx


class Tester:
    """Makes inputs. What a run leaves out another one takes: which, its seed decides."""

    def __init__(self, library, seed, whole=False):
        self.library, self.rng = library, np.random.default_rng(seed)
        self.turn, self.whole = seed, whole

    def layouts(self, place=0):
        """The layouts of a case: one, by turns, or all in a whole run."""
        return LAYOUTS if self.whole else [LAYOUTS[(self.turn + place) % len(LAYOUTS)]]

    def cases(self, cases):
        """Cases with their places and layouts."""
        return [(n, case, layout) for n, case in enumerate(cases) for layout in self.layouts(n)]

    def arranged(self, shapes, count):
        """Shapes with layouts: so many pairs, other ones in every run, or all in a whole run."""
        if self.whole:
            return [(shape, layout) for shape in shapes for layout in LAYOUTS]
        layouts = (LAYOUTS + ["contiguous"] * count)[:count]
        return [(shapes[(n + self.turn) % len(shapes)], layout) for n, layout in enumerate(layouts)]

    def numbers(self, shape, dtype, kind):
        """Numpy's numbers of a kind: any, finite, unit, positive, nonzero, few, truth."""
        rng = self.rng
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool) | (kind == "nonzero")
        if dtype == "complex64":
            both = [self.numbers(shape, "float32", "finite" if kind == "any" else kind) for _ in "ri"]
            return (both[0] + 1j * both[1]).astype(np.complex64)
        if not is_float(dtype):
            info = np.iinfo(dtype)
            low, high = info.min, info.max
            if kind in ("few", "positive", "unit", "nonzero", "finite"):
                low, high = (max(low, -9), 9)
            if kind in ("positive",):
                low = 0
            numbers = rng.integers(low, high, shape, dtype, endpoint=True)
            return np.where(numbers == 0, 1, numbers).astype(dtype) if kind == "nonzero" else numbers
        scale = {"unit": 0.99, "few": 4, "nonzero": 4, "finite": 4}.get(kind, 20)
        numbers = rng.uniform(-scale, scale, shape)
        if kind == "few":
            numbers = np.round(numbers)
        if kind == "positive":
            numbers = np.abs(numbers)
        if kind == "any":
            special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 0.5, -2.5] + SMALL[dtype])
            at = rng.uniform(size=shape) < 0.3
            numbers = np.where(at, rng.choice(special, shape), numbers)
        return np.asarray(numbers).astype("float64" if dtype == "float64" else "float32")

    def of(self, numbers, dtype):
        """A pair of these numbers."""
        if dtype in ("float16", "bfloat16"):
            mlx = mx.array(numbers).astype(MX[dtype])
            bits = np.array(mlx.view(mx.uint16)) if mlx.ndim else np.array(mlx.reshape(1).view(mx.uint16)).reshape(())
            return Pair(self.library.array(bits, dtype), mlx)
        return Pair(self.library.array(numbers, dtype), mx.array(numbers, dtype=MX[dtype]))

    def same(self, mlx):
        """A pair of MLX's array, whose elements lie row after row."""
        dtype = dtype_of(mlx)
        numbers = np.array(mlx.view(mx.uint16)) if dtype in ("float16", "bfloat16") else np.array(mlx)
        return Pair(self.library.array(numbers, dtype), mlx)

    def input(self, shape, dtype, layout="contiguous", kind="any"):
        """A pair of a shape, whose elements lie in some layout."""
        op, rank = self.library.op, len(shape)
        if rank == 0 or layout == "contiguous":
            return self.of(self.numbers(shape, dtype, kind), dtype)
        if layout == "transposed":
            base = self.of(self.numbers(shape[::-1], dtype, kind), dtype)
            order = list(range(rank))[::-1]
            return Pair(op("transpose", base.ours, order), mx.transpose(base.mlx, order))
        if layout == "broadcast":
            axis = int(self.rng.integers(rank))
            small = tuple(1 if place == axis and size else size for place, size in enumerate(shape))
            if axis == 0 and shape[0]:
                small = small[1:]
            base = self.of(self.numbers(small, dtype, kind), dtype)
            return Pair(op("broadcast_to", base.ours, list(shape)), mx.broadcast_to(base.mlx, shape))
        if layout == "steps":
            base = self.of(self.numbers(tuple(2 * s + 1 for s in shape), dtype, kind), dtype)
            ours = op("slice", base.ours, [1] * rank, [2 * s + 1 for s in shape], [2] * rank)
            return Pair(ours, base.mlx[tuple(slice(1, None, 2) for _ in shape)])
        base = self.of(self.numbers(shape, dtype, kind), dtype)
        ours = op("slice", base.ours, [s - 1 for s in shape], [-s - 1 for s in shape], [-1] * rank)
        return Pair(ours, base.mlx[tuple(slice(None, None, -1) for _ in shape)])


def dtype_of(mlx):
    return str(mlx.dtype).split(".")[-1].rstrip("_")


def wide(function, *pairs, also=()):
    """A function of MLX, of 16-bit numbers in single precision, rounded at the end: MLX's CPU sums in 16 bits. So of
    dtypes besides that MLX has none for."""
    given = [pair and pair.mlx for pair in pairs]
    dtype = given[0].dtype
    if dtype not in (mx.float16, mx.bfloat16, *also):
        return function(*given)
    widened = [x if x is None or x.dtype != dtype else x.astype(mx.float32) for x in given]
    return function(*widened).astype(dtype)


def numpy_of(mlx):
    """MLX's elements; bfloat16 ones as float32."""
    return np.array(mlx.astype(mx.float32) if mlx.dtype == mx.bfloat16 else mlx)


def difference(ours, mlx, room=None, signs=False, least=1e-3, exact=False):
    """What is wrong with a result, or None: elements that differ by more than a share of themselves, or
    of `least` where they are smaller; `exact`: elements that differ at all, zeros in their sign too."""
    dtype = dtype_of(mlx)
    if ours.dtype() != dtype or ours.shape() != tuple(mlx.shape):
        return f"{ours.dtype()} {ours.shape()}, not {dtype} {tuple(mlx.shape)}"
    a, b = ours.numpy(), numpy_of(mlx)
    if dtype not in ROOM:
        wrong = a != b
    elif exact:
        wrong = ~((np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a.real) == np.signbit(b.real))))
    else:
        limit = ROOM[dtype] if room is None else room * max(1.0, ROOM[dtype] / ROOM["float32"])
        parts = [(a.real, b.real), (a.imag, b.imag)] if dtype == "complex64" else [(a, b)]
        size = np.abs(b)
        wrong = np.zeros(a.shape, bool)
        with np.errstate(all="ignore"):
            for x, y in parts:
                both_nan = np.isnan(x) & np.isnan(y)
                close = (x == y) | (np.abs(x.astype("f8") - y) <= limit * np.maximum(size, least))
                if signs:
                    close &= (np.signbit(x) == np.signbit(y)) | np.isnan(x)
                wrong |= ~(both_nan | close)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return f"{int(wrong.sum())} of {wrong.size} elements, at {at} {a[at]!r}, not {b[at]!r}"


def run(ours, mlx, **how):
    """Runs both; returns whether MLX can do it, and what is wrong or None."""
    try:
        expected = mlx()
        expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
        mx.eval(expected)
    except Exception as refused:  # MLX raises several kinds
        expected, why = None, str(refused).strip().splitlines()[0]
    try:
        results = ours()
        results = results if isinstance(results, list) else [results]
        for result in results:
            result.numpy()
    except Failure as refused:
        return expected is not None, None if expected is None else f"refused: {refused}"
    if expected is None:
        return False, f"works, but MLX says: {why}"
    if len(results) != len(expected):
        return True, f"{len(results)} results, not {len(expected)}"
    wrong = [difference(a, b, **how) for a, b in zip(results, expected)]
    return True, next((w for w in wrong if w), None)
