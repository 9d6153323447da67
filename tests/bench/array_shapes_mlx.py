#!/usr/bin/env python3
"""The shapes of array_shapes.c with mlx.core: array_shapes_mlx.py [NAMES [SECONDS]]. Same names, same lines;
on a machine without a GPU the shapes of its CPU."""
import sys
import time

import mlx.core as mx

ONLY = sys.argv[1] if len(sys.argv) > 1 else ""
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.3
CPU = mx.default_device() == mx.Device(mx.cpu)
SIDE, WEIGHT, PRODUCT, PART = (2048, 2048, 1024, 4) if CPU else (4096, 4096, 4096, 1)
M = float(SIDE * SIDE)
F16, F32, BF16 = mx.float16, mx.float32, mx.bfloat16


def measure(name, bytes_, flops, make):
    if ONLY not in name:
        return
    times, count, round_, begin = [], 1, -3, time.perf_counter()
    try:
        while len(times) < 400:
            start = time.perf_counter()
            made, quarter = [], (count + 3) // 4
            for i in range(count):
                made.append(make())
                if (i + 1) % quarter == 0:
                    mx.async_eval(made[-quarter:])
            mx.eval(made)
            took = time.perf_counter() - start
            del made
            if round_ == -1:
                count = int(max(1, min(64, 3e-3 / took, 2e10 / (bytes_ + 1))))
            if round_ >= 3:
                times.append(took / count)
            round_ += 1
            if round_ <= 0:  # The first rounds compile, some for half a minute.
                begin = time.perf_counter()
            passed = time.perf_counter() - begin
            if passed > 2 + SECONDS or (len(times) >= 5 and passed > SECONDS):
                break
    except Exception as error:  # What this device lacks is told.
        print(f"{name:34} {error}".replace("\n", " ")[:120], flush=True)
        return
    median = sorted(times or [took / count])[len(times) // 2]
    rate = f"{flops / median * 1e-12:10.2f} TFLOPS" if flops else f"{bytes_ / median * 1e-9:10.1f} GB/s" if bytes_ else ""
    print(f"{name:34} {median * 1e6:12.1f} us {rate}", flush=True)


def numbers(dtype, *shape):
    x = mx.random.uniform(-1, 1, shape).astype(dtype)
    mx.eval(x)
    return x


def indices(limit, *shape):
    x = mx.random.randint(0, limit, shape).astype(mx.uint32)
    mx.eval(x)
    return x


def elements():
    x, y = numbers(F32, SIDE, SIDE), numbers(F32, SIDE, SIDE)
    h, g = numbers(F16, 2 * SIDE, SIDE), numbers(F16, 2 * SIDE, SIDE)
    b, c = numbers(BF16, 2 * SIDE, SIDE), numbers(BF16, 2 * SIDE, SIDE)
    row, column, row16 = numbers(F32, SIDE), numbers(F32, SIDE, 1), numbers(F16, SIDE)
    half, three, holds = mx.array(0.5, F16), numbers(F32, 64, SIDE // 8, SIDE // 8), x < y
    i = indices(1000, SIDE, SIDE).astype(mx.int32)
    mx.eval(holds, i, half)
    measure("add_f32", 12 * M, 0, lambda: x + y)
    measure("add_f16", 12 * M, 0, lambda: h + g)
    measure("multiply_bf16", 12 * M, 0, lambda: b * c)
    measure("divide_f32", 12 * M, 0, lambda: x / y)
    measure("maximum_f32", 12 * M, 0, lambda: mx.maximum(x, y))
    measure("less_f32", 9 * M, 0, lambda: x < y)
    measure("add_i32", 12 * M, 0, lambda: i + i)
    measure("exp_f32", 8 * M, 0, lambda: mx.exp(x))
    measure("exp_f16", 8 * M, 0, lambda: mx.exp(h))
    measure("sin_f32", 8 * M, 0, lambda: mx.sin(x))
    measure("tanh_f32", 8 * M, 0, lambda: mx.tanh(x))
    measure("sigmoid_bf16", 8 * M, 0, lambda: mx.sigmoid(b))
    measure("square_f16", 8 * M, 0, lambda: mx.square(h))
    measure("cast_f32_f16", 6 * M, 0, lambda: x.astype(F16))
    measure("cast_bf16_f32", 12 * M, 0, lambda: b.astype(F32))
    measure("where_f32", 13 * M, 0, lambda: mx.where(holds, x, y))
    measure("add_row_f32", 8 * M, 0, lambda: x + row)
    measure("add_column_f32", 8 * M, 0, lambda: x + column)
    measure("multiply_row_f16", 8 * M, 0, lambda: h * row16)
    measure("multiply_number_f16", 8 * M, 0, lambda: h * half)
    measure("transpose_f32", 8 * M, 0, lambda: mx.contiguous(x.T))
    measure("transpose_f16", 8 * M, 0, lambda: mx.contiguous(h.T))
    measure("transpose_3d_f32", 8 * M, 0, lambda: mx.contiguous(mx.transpose(three, (2, 0, 1))))
    measure("concatenate_f32", 16 * M, 0, lambda: mx.concatenate([x, y], axis=1))
    root, unit, half32 = mx.array(0.70710678), mx.array(1.0), mx.array(0.5)
    gelu = lambda x: (mx.erf(x * root) + unit) * x * half32
    swiglu = lambda h, g: mx.sigmoid(h) * h * g
    measure("gelu_f32", 8 * M, 0, lambda: gelu(x))
    measure("swiglu_f16", 12 * M, 0, lambda: swiglu(h, g))
    # What MLX does if the application asks for it.
    fused_gelu, fused_swiglu = mx.compile(gelu), mx.compile(swiglu)
    measure("gelu_f32 (mx.compile)", 8 * M, 0, lambda: fused_gelu(x))
    measure("swiglu_f16 (mx.compile)", 12 * M, 0, lambda: fused_swiglu(h, g))

    def chain(begin):
        x = begin
        for step in range(100):
            x = x * half32 if step % 2 else x + begin
        return x

    fused = mx.compile(chain)
    for size in (256, 65536):
        small = numbers(F32, size)
        measure(f"chain_100_f32_{size}", 0, 0, lambda: chain(small))
        measure(f"chain_100_f32_{size} (mx.compile)", 0, 0, lambda: fused(small))
    tiny = numbers(F32, 1024, 1024)
    measure("add_f32_1M", 12 * 1048576.0, 0, lambda: tiny + tiny)
    measure("sum_all_f32", 4 * M, 0, lambda: mx.sum(x))
    measure("max_all_f16", 4 * M, 0, lambda: mx.max(h))
    measure("sum_rows_f32", 4 * M, 0, lambda: mx.sum(x, axis=1))
    measure("sum_columns_f32", 4 * M, 0, lambda: mx.sum(x, axis=0))
    measure("max_rows_f16", 4 * M, 0, lambda: mx.max(h, axis=1))
    measure("mean_columns_bf16", 4 * M, 0, lambda: mx.mean(b, axis=0))
    measure("sum_first_of_3_f32", 4 * M, 0, lambda: mx.sum(three, axis=0))
    measure("sum_middle_of_3_f32", 4 * M, 0, lambda: mx.sum(three, axis=1))
    measure("sum_last_of_3_f32", 4 * M, 0, lambda: mx.sum(three, axis=2))
    measure("logsumexp_rows_f32", 4 * M, 0, lambda: mx.logsumexp(x, axis=1))
    measure("argmax_rows_f32", 4 * M, 0, lambda: mx.argmax(x, axis=1))
    measure("softmax_f32", 8 * M, 0, lambda: mx.softmax(x, axis=-1))
    measure("softmax_f16", 8 * M, 0, lambda: mx.softmax(h, axis=-1))
    measure("rms_norm_f16", 8 * M, 0, lambda: mx.fast.rms_norm(h, row16, 1e-5))
    measure("layer_norm_f32", 8 * M, 0, lambda: mx.fast.layer_norm(x, row, row, 1e-5))
    measure("cumsum_rows_f32", 8 * M, 0, lambda: mx.cumsum(x, axis=1))
    measure("cumsum_columns_f32", 8 * M, 0, lambda: mx.cumsum(x, axis=0))
    narrow, weight = numbers(F16, 262144 // PART, 128), numbers(F16, 128)
    measure("softmax_narrow_f16", 8 * M, 0, lambda: mx.softmax(narrow, axis=-1))
    measure("rms_norm_narrow_f16", 8 * M, 0, lambda: mx.fast.rms_norm(narrow, weight, 1e-5))
    measure("sum_narrow_f16", 4 * M, 0, lambda: mx.sum(narrow, axis=1))


def places():
    N = 1048576.0 / PART
    x, y, z = numbers(F32, 4096 // PART, 2048), numbers(F32, 64 // PART, 32768), numbers(F32, 4 // PART, 1048576)
    measure("sort_f32_2048", 64 * N, 0, lambda: mx.sort(x, axis=1))
    measure("argsort_f32_2048", 64 * N, 0, lambda: mx.argsort(x, axis=1))
    measure("sort_f32_1M", 32 * N, 0, lambda: mx.sort(z, axis=1))
    measure("topk_32_f32_32768", 8 * N, 0, lambda: mx.topk(y, 32, axis=1))
    table, rows = numbers(F16, 65536 // PART, 1024), indices(65536 // PART, 32768 // PART)
    measure("take_rows_f16", 128 * N, 0, lambda: mx.take(table, rows, axis=0))
    along = indices(2048, 4096 // PART, 2048)
    measure("take_along_f32", 96 * N, 0, lambda: mx.take_along_axis(x, along, axis=1))
    updates = numbers(F16, 32768 // PART, 1024)

    def scatter():
        copy = table[:]
        copy[rows] = updates
        return copy

    measure("scatter_f16", 320 * N, 0, scatter)
    measure("scatter_add_f16", 320 * N, 0, lambda: table.at[rows].add(updates))


def products():
    N, heads, tokens = float(WEIGHT), 32 // PART, WEIGHT // 2
    for name, dtype in (("f32", F32), ("f16", F16), ("bf16", BF16)):
        a, b = numbers(dtype, PRODUCT, PRODUCT), numbers(dtype, PRODUCT, PRODUCT)
        measure(f"matmul_{name}_{PRODUCT}", 0, 2.0 * PRODUCT**3, lambda: a @ b)
    w, one_row = numbers(F16, WEIGHT, WEIGHT), numbers(F16, 1, WEIGHT)
    many, other = numbers(F16, 64 // PART, 1024 // PART, 128), numbers(F16, 64 // PART, 128, 1024 // PART)
    measure(f"matvec_f16_{WEIGHT}", 2 * N * N, 0, lambda: one_row @ w)
    measure("matmul_f16_batched", 0, 2.0 * 64 * 1024 * 1024 * 128 / PART**3, lambda: many @ other)
    w32 = numbers(F32, WEIGHT, WEIGHT)
    codes, scales, biases = mx.quantize(w32.astype(F16), 64, 4)
    mx.eval(codes, scales, biases)
    for rows in (1, 4, 16, 64, 512, 4096)[:3 if CPU else 6]:
        x = numbers(F16, rows, WEIGHT)
        measure(f"quantized_f16_{rows}_rows", N * N * 4.5 / 8, 2.0 * rows * N * N if rows >= 64 else 0,
                lambda: mx.quantized_matmul(x, codes, scales, biases, True, 64, 4))
    image, filter_ = numbers(F16, 8 // PART, 64 // PART, 64, 128), numbers(F16, 256, 3, 3, 128)
    measure("conv2d_f16", 0, 2.0 * 8 * 64 * 64 * 256 * 9 * 128 / PART**2, lambda: mx.conv_general(image, filter_, 1, 1))
    line, taps = numbers(F16, 8 // PART, 4096, 1024), numbers(F16, 1024, 4, 1)
    measure("conv1d_depthwise_f16", 128 * 1048576.0 / PART, 0,
            lambda: mx.conv_general(line, taps, 1, ([3], [0]), groups=1024))
    q, k, v = numbers(F16, 1, heads, tokens, 128), numbers(F16, 1, heads // 4, tokens, 128), numbers(F16, 1, heads // 4, tokens, 128)
    attend = mx.fast.scaled_dot_product_attention
    measure(f"sdpa_f16_{tokens}_causal", 0, 2.0 * 2 * heads * tokens * (tokens // 2) * 128,
            lambda: attend(q, k, v, scale=0.08838834764, mask="causal"))
    q1, k8, v8 = numbers(F16, 1, 32, 1, 128), numbers(F16, 1, 8, 8192, 128), numbers(F16, 1, 8, 8192, 128)
    measure("sdpa_f16_1_of_8192", 4.0 * 8 * 8192 * 128, 0, lambda: attend(q1, k8, v8, scale=0.08838834764))
    measure("rope_f16", 4.0 * heads * tokens * 128, 0,
            lambda: mx.fast.rope(q, 128, traditional=False, base=10000.0, scale=1.0, offset=7))
    measure(f"rfft_f32_{WEIGHT}", 8 * N * N, 0, lambda: mx.fft.rfft(w32))


elements()
places()
products()
