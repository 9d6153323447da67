"""Factorizations, compared by what their factors make again, and random numbers, bit for bit."""
import mlx.core as mx
import numpy as np

from cases import MX, numpy_of, run
from library import DTYPES, Failure

ROUND = {"float32": 1e-4, "float64": 1e-11, "complex64": 1e-4}


def inexact(t, table):
    """Functions with one answer are compared with MLX's; factors that are free in signs or order by products."""
    op = t.library.op
    for dtype in DTYPES:
        room = ROUND.get(dtype)
        for n, shape in enumerate([(2, 5, 3), (3, 5), (4, 4), (1, 1), (9, 9)]):
            for layout in t.layouts(n):
                x = t.input(shape, dtype, layout, "finite")
                if dtype in ("float32", "float64"):
                    factors(t, table, x, dtype, layout)
                else:
                    refuse(t, table, x, dtype, layout)
                if shape[-1] != shape[-2] or dtype not in ("float32", "float64"):
                    continue
                size = shape[-1]
                b = t.input(shape[:-1] + (2,), dtype, layout, "finite")
                # Far from singular: what an inverse of others is off by depends on how near they are.
                well = t.of((numpy_of(x.mlx) / (4 * size) + np.eye(size)).astype(dtype), dtype)
                square = numpy_of(well.mlx)
                positive = t.of(square @ np.swapaxes(square, -1, -2), dtype)
                for primitive, name, ours, mlx in [
                    ("Inverse", "linalg_inv", lambda: op("linalg_inv", well.ours), lambda: mx.linalg.inv(well.mlx)),
                    ("Inverse", "linalg_tri_inv", lambda: op("linalg_tri_inv", well.ours, True),
                     lambda: mx.linalg.tri_inv(well.mlx, upper=True)),
                    ("LUF", "linalg_solve", lambda: op("linalg_solve", well.ours, b.ours),
                     lambda: mx.linalg.solve(well.mlx, b.mlx)),
                    ("LUF", "linalg_det", lambda: op("linalg_det", well.ours),
                     # MLX's of float64 is of single precision.
                     lambda: mx.array(np.asarray(np.linalg.det(square), dtype), MX[dtype])),
                    ("Cholesky", "linalg_cholesky", lambda: op("linalg_cholesky", positive.ours, False),
                     lambda: mx.linalg.cholesky(positive.mlx)),
                    ("Cholesky", "linalg_cholesky", lambda: op("linalg_cholesky", positive.ours, True),
                     lambda: mx.linalg.cholesky(positive.mlx, upper=True)),
                    ("Eigh", "linalg_eigvalsh", lambda: op("linalg_eigvalsh", positive.ours, False),
                     lambda: mx.linalg.eigvalsh(positive.mlx)),
                ]:
                    table(primitive, name, dtype, layout, run(ours, mlx, room=room, least=1.0))
                table("Eigh", "linalg_eigh", dtype, layout,
                      made(lambda: op("linalg_eigh", positive.ours, False, results=2),
                           lambda values, vectors: (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2),
                           positive, dtype))
                table("Eig", "linalg_eig", dtype, layout,
                      made(lambda: op("linalg_eig", well.ours, results=2),
                           lambda values, vectors: (vectors * values[..., None, :]) @ np.linalg.inv(vectors),
                           # The factors are of single precision, as MLX's.
                           well, "complex64", of=lambda values, vectors: values.dtype.kind == "c"))


def factors(t, table, x, dtype, layout):
    op = t.library.op

    def orthogonal(q):
        return np.allclose(np.swapaxes(q, -1, -2) @ q, np.eye(q.shape[-1]), atol=ROUND[dtype])

    table("QRF", "linalg_qr", dtype, layout,
          made(lambda: op("linalg_qr", x.ours, results=2), lambda q, r: q @ r, x, dtype,
               of=lambda q, r: orthogonal(q) and np.array_equal(r, np.triu(r))))
    table("SVD", "linalg_svd", dtype, layout,
          made(lambda: op("linalg_svd", x.ours, results=3),
               lambda u, s, vt: (u[..., : s.shape[-1]] * s[..., None, :]) @ vt[..., : s.shape[-1], :], x, dtype,
               of=lambda u, s, vt: orthogonal(u) and orthogonal(np.swapaxes(vt, -1, -2)) and (np.diff(s) <= 0).all()))
    table("SVD", "linalg_svd_values", dtype, layout,
          run(lambda: op("linalg_svd_values", x.ours), lambda: mx.linalg.svd(x.mlx, compute_uv=False),
              room=ROUND[dtype], least=8.0))
    table("LUF", "linalg_lu", dtype, layout,
          made(lambda: op("linalg_lu", x.ours, results=3),
               lambda rows, low, high: np.take_along_axis(low @ high, rows[..., None].astype("i8"), -2), x, dtype,
               of=lambda rows, low, high: np.abs(low).max() <= 1))


def made(ours, product, x, dtype, of=lambda *parts: True):
    """Whether factors make the matrix again and are what they have to be."""
    try:
        parts = [part.numpy() for part in ours()]
    except Failure as refused:
        return True, f"refused: {refused}"
    matrix = numpy_of(x.mlx)
    off = np.abs(product(*parts) - matrix).max(initial=0.0) / max(np.abs(matrix).max(initial=0.0), 1e-30)
    if off > ROUND[dtype]:
        return True, f"the factors make another matrix, {off:.2e} off"
    return True, None if of(*parts) else "the factors are not what they have to be"


def refuse(t, table, x, dtype, layout):
    """Of other dtypes MLX has none, or not all."""
    op = t.library.op
    for primitive, name, ours, mlx in [
        ("QRF", "linalg_qr", lambda: op("linalg_qr", x.ours, results=2), lambda: mx.linalg.qr(x.mlx)),
        ("Inverse", "linalg_inv", lambda: op("linalg_inv", x.ours), lambda: mx.linalg.inv(x.mlx)),
        ("Cholesky", "linalg_cholesky", lambda: op("linalg_cholesky", x.ours, False), lambda: mx.linalg.cholesky(x.mlx)),
    ]:
        if dtype != "complex64":
            table(primitive, name, dtype, layout, run(ours, mlx))


def random(t, table):
    op, random = t.library.op, mx.random
    # A GPU rounds on its own way to the inverse of the error function, as in `erfinv`.
    normal = {"exact": True} if t.library.device is None else {"room": 1e-4}
    for _ in range(3):
        seed = int(t.rng.integers(0, 2**63))
        key = t.same(random.key(seed))
        table("RandomBits", "random_key", "uint32", "contiguous",
              run(lambda: op("random_key", seed), lambda: random.key(seed), exact=True))
        for count in [1, 2, 5, 64]:
            table("RandomBits", "random_split", "uint32", "contiguous",
                  run(lambda: op("random_split", key.ours, count), lambda: random.split(key.mlx, count), exact=True))
        for shape in [(), (1,), (7,), (3, 5), (0, 2), (2, 500)]:
            sizes = list(shape)
            for kind in ["uint8", "uint16", "uint32"]:
                width = np.dtype(kind).itemsize
                table("RandomBits", "random_bits", kind, "contiguous",
                      run(lambda: op("random_bits", sizes, width, key.ours),
                          lambda: bits(key.mlx, shape, width), exact=True))
            low, high = t.input((), "float32", kind="finite"), t.input((), "float32", kind="finite")
            for dtype in ["float32", "float16", "bfloat16"]:
                zero, one = t.of(np.array(0.0, "float32"), dtype), t.of(np.array(1.0, "float32"), dtype)
                for a, b in [(zero, one), (low, high)]:
                    table("RandomBits", "random_uniform", dtype, "contiguous",
                          run(lambda: op("random_uniform", a.ours, b.ours, sizes, dtype, key.ours),
                              lambda: random.uniform(a.mlx, b.mlx, shape, MX[dtype], key.mlx), exact=True))
                table("RandomBits", "random_normal", dtype, "contiguous",
                      run(lambda: op("random_normal", sizes, dtype, None, None, key.ours),
                          lambda: random.normal(shape, MX[dtype], key=key.mlx), **normal))
                table("RandomBits", "random_gumbel", dtype, "contiguous",
                      run(lambda: op("random_gumbel", sizes, dtype, key.ours),
                          lambda: random.gumbel(shape, MX[dtype], key.mlx), least=1.0))
            p = t.input((), "float32", kind="unit")
            table("RandomBits", "random_bernoulli", "bool", "contiguous",
                  run(lambda: op("random_bernoulli", p.ours, sizes, key.ours),
                      lambda: random.bernoulli(p.mlx, shape, key.mlx), exact=True))
            least, most = t.of(np.array(-5, "int32"), "int32"), t.of(np.array(1000, "int32"), "int32")
            table("RandomBits", "random_randint", "int32", "contiguous",
                  run(lambda: op("random_randint", least.ours, most.ours, sizes, "int32", key.ours),
                      lambda: random.randint(-5, 1000, shape, mx.int32, key.mlx), exact=True))
        table("RandomBits", "random_permutation_arange", "uint32", "contiguous",
              run(lambda: op("random_permutation_arange", 17, key.ours), lambda: random.permutation(17, key=key.mlx),
                  exact=True))


def bits(key, shape, width):
    """MLX's bits, which Python does not show: of width 4 they are those of a split, narrower ones their bytes."""
    count = int(np.prod(shape, dtype=int))
    words = -(-count * width // 4)
    if words == 0:
        return mx.zeros(shape, [mx.uint8, mx.uint16, None, mx.uint32][width - 1])
    # A split of n keys is the 2 n words of the same counters.
    raw = threefry(np.array(key), words).tobytes()[: count * width]
    return mx.array(np.frombuffer(raw, f"u{width}").reshape(shape))


def threefry(key, count):
    """Threefry-2x32 of 20 rounds over the counters that MLX takes."""
    half = (count + 1) // 2
    first = np.arange(half, dtype=np.uint32)
    second = np.where(first + half < count, first + half, 0).astype(np.uint32)
    keys = [key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
    with np.errstate(over="ignore"):
        a, b = first + keys[0], second + keys[1]
        for turn in range(5):
            for rotation in ([13, 15, 26, 6], [17, 29, 16, 24])[turn % 2]:
                a = a + b
                b = ((b << np.uint32(rotation)) | (b >> np.uint32(32 - rotation))) ^ a
            a, b = a + keys[(turn + 1) % 3], b + keys[(turn + 2) % 3] + np.uint32(turn + 1)
    return np.concatenate([a, b])[:count]
