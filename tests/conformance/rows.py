"""More than 2^16 rows, where a grid of blocks has more than an axis holds: which operations, by turns on a GPU."""
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
