#!/usr/bin/env python3
"""The shapes of array_shapes.c on the CPU beside MLX and numpy, by turns:
    array_shapes_cpu.py PROGRAM [ROUNDS [SECONDS [NAMES]]]     PROGRAM: array_shapes, built
A table: microseconds here, of MLX and of numpy (the least of the rounds' medians), MLX's over ours; then the geometric
mean. With --numpy NAMES SECONDS: numpy's shapes, in the lines that the other two print. Threads are each library's own
choice, of the processors that this process may run on."""
import math
import os
import subprocess
import sys
import time

SIDE, WEIGHT, PRODUCT = 2048, 2048, 1024


def with_numpy(only, seconds):
    import numpy as np

    random = np.random.default_rng(1)

    def numbers(*shape, dtype=np.float32):
        return random.uniform(-1, 1, shape).astype(np.float32).astype(dtype)

    def measure(name, make):
        if only not in name:
            return
        times, begin = [], time.perf_counter()
        for round_ in range(400):
            start = time.perf_counter()
            made = make()
            took = time.perf_counter() - start
            del made
            if round_:
                times.append(took)
            passed = time.perf_counter() - begin
            if passed > 2 + seconds or (len(times) >= 5 and passed > seconds):
                break
        print(f"{name:34} {sorted(times or [took])[len(times) // 2] * 1e6:12.1f} us", flush=True)

    half = np.float16
    x, y = numbers(SIDE, SIDE), numbers(SIDE, SIDE)
    h, g = numbers(2 * SIDE, SIDE, dtype=half), numbers(2 * SIDE, SIDE, dtype=half)
    row, column, row16 = numbers(SIDE), numbers(SIDE, 1), numbers(SIDE, dtype=half)
    three, holds = numbers(64, SIDE // 8, SIDE // 8), x < y
    i = random.integers(0, 1000, (SIDE, SIDE), dtype=np.int32)

    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def norm(x, weight, eps=1e-5):
        return (x / np.sqrt(np.mean(np.square(x, dtype=np.float32), -1, keepdims=True) + eps)).astype(x.dtype) * weight

    def layer_norm(x, weight, bias, eps=1e-5):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight + bias

    def chain(begin):
        x = begin
        for step in range(100):
            x = x * np.float32(0.5) if step % 2 else x + begin
        return x

    def swiglu(h, g):
        return 1 / (1 + np.exp(-h)) * h * g

    def logsumexp(x):
        most = x.max(1, keepdims=True)
        return np.log(np.exp(x - most).sum(1)) + most[:, 0]

    measure("add_f32", lambda: x + y)
    measure("add_f16", lambda: h + g)
    measure("divide_f32", lambda: x / y)
    measure("maximum_f32", lambda: np.maximum(x, y))
    measure("less_f32", lambda: x < y)
    measure("add_i32", lambda: i + i)
    measure("exp_f32", lambda: np.exp(x))
    measure("exp_f16", lambda: np.exp(h))
    measure("sin_f32", lambda: np.sin(x))
    measure("tanh_f32", lambda: np.tanh(x))
    measure("square_f16", lambda: np.square(h))
    measure("cast_f32_f16", lambda: x.astype(half))
    measure("where_f32", lambda: np.where(holds, x, y))
    measure("add_row_f32", lambda: x + row)
    measure("add_column_f32", lambda: x + column)
    measure("multiply_row_f16", lambda: h * row16)
    measure("multiply_number_f16", lambda: h * half(0.5))
    measure("transpose_f32", lambda: np.ascontiguousarray(x.T))
    measure("transpose_f16", lambda: np.ascontiguousarray(h.T))
    measure("transpose_3d_f32", lambda: np.ascontiguousarray(three.transpose(2, 0, 1)))
    measure("concatenate_f32", lambda: np.concatenate([x, y], 1))
    measure("swiglu_f16", lambda: swiglu(h, g))
    for size in (256, 65536):
        small = numbers(size)
        measure(f"chain_100_f32_{size}", lambda: chain(small))
    tiny = numbers(1024, 1024)
    measure("add_f32_1M", lambda: tiny + tiny)
    measure("sum_all_f32", lambda: x.sum())
    measure("max_all_f16", lambda: h.max())
    measure("sum_rows_f32", lambda: x.sum(1))
    measure("sum_columns_f32", lambda: x.sum(0))
    measure("max_rows_f16", lambda: h.max(1))
    measure("sum_first_of_3_f32", lambda: three.sum(0))
    measure("sum_middle_of_3_f32", lambda: three.sum(1))
    measure("sum_last_of_3_f32", lambda: three.sum(2))
    measure("logsumexp_rows_f32", lambda: logsumexp(x))
    measure("argmax_rows_f32", lambda: x.argmax(1))
    measure("softmax_f32", lambda: softmax(x))
    measure("softmax_f16", lambda: softmax(h))
    measure("rms_norm_f16", lambda: norm(h, row16))
    measure("layer_norm_f32", lambda: layer_norm(x, row, row))
    measure("cumsum_rows_f32", lambda: x.cumsum(1))
    measure("cumsum_columns_f32", lambda: x.cumsum(0))
    narrow, weight = numbers(65536, 128, dtype=half), numbers(128, dtype=half)
    measure("softmax_narrow_f16", lambda: softmax(narrow))
    measure("rms_norm_narrow_f16", lambda: norm(narrow, weight))
    measure("sum_narrow_f16", lambda: narrow.sum(1))
    x, y, z = numbers(1024, 2048), numbers(16, 32768), numbers(1, 1048576)
    measure("sort_f32_2048", lambda: np.sort(x, 1))
    measure("argsort_f32_2048", lambda: np.argsort(x, 1, kind="stable"))
    measure("sort_f32_1M", lambda: np.sort(z, 1))
    measure("topk_32_f32_32768", lambda: np.partition(y, y.shape[1] - 32, 1)[:, -32:])
    table, rows = numbers(16384, 1024, dtype=half), random.integers(0, 16384, 8192)
    along, updates = random.integers(0, 2048, (1024, 2048)), numbers(8192, 1024, dtype=half)
    measure("take_rows_f16", lambda: np.take(table, rows, 0))
    measure("take_along_f32", lambda: np.take_along_axis(x, along, 1))

    def scatter(add):
        copy = table.copy()
        if add:
            np.add.at(copy, rows, updates)
        else:
            copy[rows] = updates
        return copy

    measure("scatter_f16", lambda: scatter(False))
    measure("scatter_add_f16", lambda: scatter(True))
    a, b = numbers(PRODUCT, PRODUCT), numbers(PRODUCT, PRODUCT)
    measure(f"matmul_f32_{PRODUCT}", lambda: a @ b)
    w = numbers(WEIGHT, WEIGHT)
    measure(f"rfft_f32_{WEIGHT}", lambda: np.fft.rfft(w))


def lines(command):
    """The medians by name, in microseconds."""
    found = {}
    for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        words = line.split()
        if "us" in words and "(mx.compile)" not in words:
            found[words[0]] = float(words[words.index("us") - 1])
    return found


def main(program, rounds=3, seconds=0.3, names=""):
    here = os.path.dirname(os.path.abspath(__file__))
    commands = [
        [program, "0", names, str(seconds)],
        [sys.executable, os.path.join(here, "array_shapes_mlx.py"), names, str(seconds)],
        [sys.executable, os.path.abspath(__file__), "--numpy", names, str(seconds)],
    ]
    best = [{}, {}, {}]
    for _ in range(int(rounds)):
        for command, of in zip(commands, best):
            for name, time_ in lines(command).items():
                of[name] = min(time_, of.get(name, time_))
    ratios = []
    print(f"{'shape':26} {'here':>10} {'MLX':>10} {'numpy':>10} {'MLX/here':>9}")
    for name, ours in best[0].items():
        mlx, numpy = best[1].get(name), best[2].get(name)
        ratios += [mlx / ours] if mlx else []
        cells = [f"{x:10.1f}" if x else f"{'-':>10}" for x in (ours, mlx, numpy)]
        print(f"{name:26} {' '.join(cells)} {f'{mlx / ours:9.2f}' if mlx else '-':>9}")
    print(f"geometric mean of {len(ratios)}: {math.exp(sum(map(math.log, ratios)) / max(1, len(ratios))):.2f}")


if sys.argv[1:2] == ["--numpy"]:
    with_numpy(sys.argv[2], float(sys.argv[3]))
else:
    main(*sys.argv[1:])
