#!/usr/bin/env python3
"""Results of MLX's CPU build for tests/array_families/main.rs.

    pip install "mlx[cpu]==0.32.4" numpy
    python3 make.py

Every case is a few arrays `case/name` in families.safetensors; what was asked of MLX stands in the test
beside the same call. Complex arrays are stored as f32 with a last axis of 2.
"""
import os
import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
rng = np.random.default_rng(12)
store = {}
TYPES = {"f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16}


def keep(case, **arrays):
    for name, value in arrays.items():
        if value.dtype == mx.complex64:
            value = mx.stack([mx.real(value), mx.imag(value)], axis=-1)
        if value.dtype == mx.float64:
            # Safetensors files of MLX hold no f64: both halves of it.
            value = mx.array(np.ascontiguousarray(np.array(value)).view(np.uint32))
        key = f"{case}/{name}"
        assert key not in store, key
        store[key] = mx.contiguous(value)


def normal(*shape, dtype=mx.float32):
    return mx.array(rng.standard_normal(shape).astype(np.float32)).astype(dtype)


def complex_normal(*shape):
    return mx.array((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64))


def products():
    for name, (a, b) in {
        "plain": ((3, 5), (5, 4)),
        "outer": ((2, 1, 3, 4), (3, 4, 2)),
        "row": ((5,), (2, 5, 3)),
        "column": ((2, 3, 5), (5,)),
        "dot": ((5,), (5,)),
        "flat": ((2, 2, 3, 5), (5, 2)),
    }.items():
        for key, dtype in TYPES.items():
            a_, b_ = normal(*a, dtype=dtype), normal(*b, dtype=dtype)
            keep(f"matmul.{name}.{key}", a=a_, b=b_, out=mx.matmul(a_, b_))
    a, b = complex_normal(3, 4), complex_normal(4, 2)
    keep("matmul.complex", a=a, b=b, out=a @ b)
    for name, (c, a, b) in {
        "matrix": ((3, 4), (3, 5), (5, 4)),
        "bias": ((4,), (2, 3, 5), (5, 4)),
        "row": ((4,), (5,), (5, 4)),
        "column": ((3,), (3, 5), (5,)),
        "batch": ((2, 1, 4), (2, 3, 5), (5, 4)),
    }.items():
        c, a, b = normal(*c), normal(*a), normal(*b)
        keep(f"addmm.{name}", c=c, a=a, b=b, out=mx.addmm(c, a, b, 0.5, -2.0))
    a, b = normal(40, 70), normal(70, 33)
    masks = [mx.array(rng.integers(0, 2, s).astype(bool)) for s in ((2, 2), (2, 3), (3, 2))]
    keep("block.truth", a=a, b=b, out=mx.block_masked_mm(a, b, 32, *masks),
         **{f"mask{i}": m for i, m in enumerate(masks)})
    numbers = [normal(*m.shape) for m in masks]
    keep("block.numbers", out=mx.block_masked_mm(a, b, 32, *numbers),
         **{f"mask{i}": m for i, m in enumerate(numbers)})
    keep("block.left", out=mx.block_masked_mm(a, b, 32, None, numbers[1], None))
    a, b = normal(3, 2, 5), normal(2, 2, 5, 4)
    left, right = mx.array([[0, 2], [1, 1]], mx.uint32), mx.array([3, 0], mx.uint32)
    keep("gather_mm", a=a, b=b, left=left, right=right, out=mx.gather_mm(a, b, left, right),
         only=mx.gather_mm(a, b[0], None, mx.array([1, 0, 1])))
    a, b = normal(3, 10), normal(10, 4)
    segments = mx.array([[[0, 4], [4, 4]], [[3, 10], [9, 10]]], mx.uint32)
    keep("segmented_mm", a=a, b=b, segments=segments, out=mx.segmented_mm(a, b, segments))
    a, b = normal(2, 3, 4), normal(4, 3, 5)
    keep("tensordot", a=a, b=b, out=mx.tensordot(a, b, [[1, 2], [1, 0]]))
    a, b = normal(2, 3), normal(4, 3)
    keep("kron", a=a, b=b, out=mx.kron(a, b), inner=mx.inner(a, b), outer=mx.outer(a, b),
         line=mx.kron(a[0], b))


def quantized():
    # Groups of all signs: any, all negative, all positive, zeros, and one with a large number.
    w = rng.standard_normal((4, 128)).astype(np.float32)
    w[1] = -np.abs(w[1])
    w[2] = np.abs(w[2])
    w[3, :32] = 0
    w[3, 64] = 300
    for key, dtype in TYPES.items():
        x = mx.array(w).astype(dtype)
        keep(f"quantize.{key}", w=x)
        for bits in (2, 3, 4, 5, 6, 8):
            for group in (32, 64, 128):
                q, s, b = mx.quantize(x, group, bits)
                back = mx.dequantize(q, s, b, group, bits)
                keep(f"affine.{key}.{bits}.{group}", q=q, s=s, b=b)
                if bits in (3, 4, 8) and group == 64:
                    keep(f"affine.{key}.{bits}.{group}", back=back)
        for mode in ("mxfp4", "mxfp8", "nvfp4"):
            q, s = mx.quantize(x, mode=mode)
            keep(f"{mode}.{key}", q=q, s=s, back=mx.dequantize(q, s, mode=mode, dtype=dtype))
        scale = mx.array(3.5)
        q, s = mx.quantize(x, mode="nvfp4", global_scale=scale)
        back = mx.dequantize(q, s, mode="nvfp4", global_scale=scale, dtype=dtype)
        # MLX's CPU gives f32 here whatever was asked for; its GPUs give what was.
        keep(f"global.{key}", q=q, s=s, back=back.astype(dtype))
    codes = mx.arange(256).astype(mx.uint8)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 448, 449, 1e9, 2**-6, 2**-9, 2**-10, 1e-30], np.float32)
    x = mx.array(np.concatenate([special, (rng.standard_normal(200) * 10.0 ** rng.integers(-4, 3, 200))]).astype(np.float32))
    keep("fp8", codes=codes, x=x, to=mx.to_fp8(x), half=mx.to_fp8(x.astype(mx.float16)),
         **{f"from.{k}": mx.from_fp8(codes, d) for k, d in TYPES.items()})
    x = normal(3, 128)
    w, u = normal(6, 128), normal(128, 64)
    for bits in (3, 4, 8):
        q, s, b = mx.quantize(w, 64, bits)
        p, t, c = mx.quantize(u, 64, bits)
        keep(f"qmm.{bits}", q=q, s=s, b=b, p=p, t=t, c=c,
             across=mx.quantized_matmul(x, q, s, b, True, 64, bits),
             along=mx.quantized_matmul(x, p, t, c, False, 64, bits))
    keep("qmm", x=x)
    for mode in ("mxfp4", "mxfp8", "nvfp4"):
        q, s = mx.quantize(w, mode=mode)
        keep(f"qmm.{mode}", q=q, s=s, across=mx.quantized_matmul(x, q, s, mode=mode))
        # Products of both sides quantized: MLX's CPU does one row at a time.
        rows = [mx.qqmm(x[i : i + 1], q, s, mode=mode) for i in range(3)]
        keep(f"qqmm.{mode}", out=mx.concatenate(rows))
    keep("qqmm", w=w)
    x, w = normal(2, 3, 2, 64), normal(5, 32, 64)
    q, s, b = mx.quantize(w, 32, 4)
    left, right = mx.array([0, 5, 3], mx.uint32), mx.array([[4], [0]], mx.uint32)
    keep("gather_qmm", x=x, q=q, s=s, b=b, left=left, right=right,
         both=mx.gather_qmm(x, q, s, b, left, right, True, 32, 4),
         right_only=mx.gather_qmm(x[0], q, s, b, None, right[:, 0][None, :1], True, 32, 4))
    x = normal(2, 3, 2, 64)
    batch = mx.quantized_matmul(x, q[None, :3], s[None, :3], b[None, :3], True, 32, 4)
    keep("qmm.batch", x=x, out=batch)


def convolutions():
    for key, dtype in TYPES.items():
        x, w = normal(2, 9, 4, dtype=dtype), normal(6, 3, 2, dtype=dtype)
        keep(f"conv1d.{key}", x=x, w=w, out=mx.conv1d(x, w, 2, 1, 2, 2))
    x, w = normal(2, 7, 6, 4), normal(6, 3, 2, 4)
    keep("conv2d", x=x, w=w, plain=mx.conv2d(x, w), out=mx.conv2d(x, w, (2, 1), (1, 2), (1, 2)),
         flip=mx.conv_general(x, w, [1, 2], ([2, 0], [1, 3]), [2, 1], [1, 2], 1, True),
         cut=mx.conv_general(x, w, 1, ([-1, 1], [0, -2]), 1, 1))
    x, w = normal(1, 5, 4, 5, 2), normal(3, 2, 3, 2, 2)
    keep("conv3d", x=x, w=w, out=mx.conv3d(x, w, (1, 2, 1), (1, 0, 1)),
         turned=mx.conv_transpose3d(x, w, 2, 1, 1, 1))
    x, w = normal(2, 5, 4), normal(6, 3, 2)
    keep("conv_transpose1d", x=x, w=w, out=mx.conv_transpose1d(x, w, 3, 1, 2, 2, 2))
    x, w = normal(2, 4, 5, 3), normal(2, 3, 2, 3)
    keep("conv_transpose2d", x=x, w=w, out=mx.conv_transpose2d(x, w, (2, 1), (1, 0), (1, 2), (1, 0)))


def transforms():
    for n in (1, 2, 7, 12, 31, 64):
        x = complex_normal(2, n)
        y = normal(3, n)
        keep(f"fft.{n}", x=x, y=y, fft=mx.fft.fft(x), ifft=mx.fft.ifft(x), rfft=mx.fft.rfft(y),
             irfft=mx.fft.irfft(x, n))
    x, y = complex_normal(3, 4, 5), normal(3, 4, 5)
    keep("fftn", x=x, y=y, all=mx.fft.fftn(x), some=mx.fft.ifftn(x, axes=[0, 2]),
         real=mx.fft.rfftn(y, axes=[1, 0]), back=mx.fft.irfftn(x, axes=[2, 1]),
         sized=mx.fft.fftn(y, s=[6, 3], axes=[1, 2]), real_sized=mx.fft.irfftn(x, s=[2, 9], axes=[0, 1]))
    for n in (1, 8, 12, 24, 40, 56):
        for key, dtype in TYPES.items():
            x = normal(2, n, dtype=dtype)
            keep(f"hadamard.{n}.{key}", x=x, out=mx.hadamard_transform(x), scaled=mx.hadamard_transform(x, 0.5))


def layers():
    for key, dtype in TYPES.items():
        x, w, b = normal(3, 40, dtype=dtype), normal(40, dtype=dtype), normal(40, dtype=dtype)
        keep(f"norm.{key}", x=x, w=w, b=b,
             rms=mx.fast.rms_norm(x, w, 1e-5), rms_plain=mx.fast.rms_norm(x, None, 1e-5),
             layer=mx.fast.layer_norm(x, w, b, 1e-5), layer_w=mx.fast.layer_norm(x, w, None, 1e-5),
             layer_b=mx.fast.layer_norm(x, None, b, 1e-5), wide=mx.fast.rms_norm(x, w.astype(mx.float32), 1e-5))
        x = normal(2, 3, 4, 12, dtype=dtype)
        periods = mx.array([1.0, 3.0, 10.0, float("inf")])
        keep(f"rope.{key}", x=x, periods=periods,
             plain=mx.fast.rope(x, 12, traditional=False, base=10000.0, scale=1.0, offset=5),
             pairs=mx.fast.rope(x, 8, traditional=True, base=10000.0, scale=0.5, offset=3),
             each=mx.fast.rope(x, 8, traditional=False, base=None, scale=1.0, offset=mx.array([7, 2]), freqs=periods),
             three=mx.fast.rope(x[0], 4, traditional=False, base=100.0, scale=1.0, offset=0))
        q, k, v = normal(2, 4, 3, 8, dtype=dtype), normal(2, 2, 5, 8, dtype=dtype), normal(2, 2, 5, 6, dtype=dtype)
        truth = rng.integers(0, 2, (2, 1, 3, 5)).astype(bool)
        truth[0, 0, 1] = False
        truth = mx.array(truth)
        numbers, sinks = normal(3, 5, dtype=dtype), normal(4, dtype=dtype)
        attend = mx.fast.scaled_dot_product_attention
        keep(f"attention.{key}", q=q, k=k, v=v, truth=truth, numbers=numbers, sinks=sinks,
             plain=attend(q, k, v, scale=0.3), causal=attend(q, k, v, scale=0.3, mask="causal"),
             masked=attend(q, k, v, scale=0.3, mask=truth), added=attend(q, k, v, scale=0.3, mask=numbers),
             sunk=attend(q, k, v, scale=0.3, sinks=sinks),
             all=attend(q, k, v, scale=0.3, mask="causal", sinks=sinks),
             # More queries than keys: the first see nothing.
             short=attend(q, k[:, :, :2], v[:, :, :2], scale=0.3, mask="causal"))


def linear_algebra():
    for key, dtype in (("f32", mx.float32), ("f64", mx.float64)):
        for name, shape in {"tall": (2, 5, 3), "wide": (3, 5), "square": (4, 4)}.items():
            x = mx.array(rng.standard_normal(shape), dtype=dtype)
            q, r = mx.linalg.qr(x)
            both, pivots = mx.linalg.lu_factor(x)
            rows, low, high = mx.linalg.lu(x)
            keep(f"linalg.{name}.{key}", x=x, q=q, r=r, lu=both, pivots=pivots, rows=rows, low=low, high=high,
                 s=mx.linalg.svd(x, compute_uv=False), pinv=mx.linalg.pinv(x))
        x = mx.array(rng.standard_normal((2, 4, 4)), dtype=dtype)
        b = mx.array(rng.standard_normal((2, 4, 3)), dtype=dtype)
        pd = x @ mx.swapaxes(x, -1, -2) + mx.eye(4, dtype=dtype)
        sign, log = mx.linalg.slogdet(x)
        low = mx.linalg.cholesky(pd)
        keep(f"linalg.{key}", x=x, b=b, pd=pd, inv=mx.linalg.inv(x), low=low,
             high=mx.linalg.cholesky(pd, upper=True), tri=mx.linalg.tri_inv(x, upper=True),
             tri_low=mx.linalg.tri_inv(x), solve=mx.linalg.solve(x, b), solve_row=mx.linalg.solve(x[0], b[0, :, 0]),
             cholesky_inv=mx.linalg.cholesky_inv(low), det=mx.linalg.det(x), sign=sign, log=log,
             det3=mx.linalg.det(x[:, :3, :3]), values=mx.linalg.eigvalsh(x), values_up=mx.linalg.eigvalsh(x, UPLO="U"))
    x = complex_normal(2, 4, 3)
    keep("linalg.complex", x=x, s=mx.linalg.svd(x, compute_uv=False), values=mx.linalg.eigvalsh(x[:, :3]))
    x = normal(3, 4, 5)
    norms = {}
    for p in (None, 0, 1, 2, 3, -1.5, float("inf"), float("-inf")):
        norms[f"vector.{p}"] = mx.linalg.norm(x, p, axis=1)
    for p in (None, 1, -1, 2, -2, float("inf"), float("-inf"), "fro", "nuc"):
        norms[f"matrix.{p}"] = mx.linalg.norm(x, p, axis=[2, 0], keepdims=True)
    keep("norm", x=x, all=mx.linalg.norm(x), **norms)
    a, b, c = normal(2, 3), normal(4, 1, 3), normal(2, 2)
    keep("cross", a=a, b=b, c=c, both=mx.linalg.cross(a, b), flat=mx.linalg.cross(c, c),
         left=mx.linalg.cross(c, a), right=mx.linalg.cross(a, c))


def random():
    key = mx.random.key(7)
    r = mx.random
    for n in (0, 1, 2, 3, 5, 8):
        keep(f"split.{n}", out=r.split(key, n)) if n else None
        keep(f"uniform.{n}", out=r.uniform(shape=[n], key=key))
    seeds = [r.key(s) for s in (0, 1, 2**40 + 5)]
    keep("key", out=mx.stack(seeds))
    r.seed(42)
    keep("sequence", first=r.uniform(shape=[3]), second=r.uniform(shape=[2, 2]))
    low, high = mx.array([-3.0, 0.5]), mx.array([1.0, 9.0])
    for name, dtype in TYPES.items():
        keep(f"random.{name}", uniform=r.uniform(low, high, [4, 2], dtype, key=key),
             normal=r.normal([9], dtype, key=key), moved=r.normal([9], dtype, loc=2.0, scale=0.25, key=key),
             laplace=r.laplace([9], dtype, loc=1.0, scale=3.0, key=key), gumbel=r.gumbel([9], dtype, key=key),
             truncated=r.truncated_normal(mx.array(-1.0), mx.array(0.5), [9], dtype, key=key))
    keep("random", complex=r.normal([4], mx.complex64, key=key),
         bernoulli=r.bernoulli(mx.array([0.2, 0.5, 1.0, 0.0]), [5, 4], key=key),
         randint=r.randint(-5, 1000, [20], key=key), small=r.randint(0, 3, [20], mx.uint8, key=key),
         permutation=r.permutation(17, key=key), rows=r.permutation(mx.arange(12).reshape(4, 3), 1, key=key))
    logits = normal(3, 7)
    keep("categorical", logits=logits, rows=r.categorical(logits, key=key),
         columns=r.categorical(logits, 0, key=key), many=r.categorical(logits, num_samples=4, key=key),
         shaped=r.categorical(logits, shape=[5, 3], key=key), one=r.categorical(logits[0], num_samples=30, key=key),
         scalar=r.categorical(logits[0], key=key))
    cov = mx.array([[2.0, 0.3], [0.3, 1.0]])
    keep("multivariate", mean=mx.array([1.0, -1.0]), cov=cov,
         out=r.multivariate_normal(mx.array([1.0, -1.0]), cov, [200], key=key))


for family in (products, quantized, convolutions, transforms, layers, linear_algebra, random):
    family()
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "families.safetensors")
mx.save_safetensors(out, store)
print(f"{len(store)} arrays, {os.path.getsize(out)} bytes")
