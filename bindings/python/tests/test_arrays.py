"""Arrays against numpy."""

import array as packed
import copy
import ctypes
import gc
import inspect
import json
import operator
import os
import pickle
import tempfile
import threading
import unittest
import weakref
from pathlib import Path

import mlxrocm
import mlxrocm.core as mx
import numpy as np
from mlxrocm import _operations, dtypes

RNG = np.random.default_rng(20261122)


def same(test, made, wanted, tolerance=2e-5):
    made = np.asarray(made)
    test.assertEqual(made.shape, np.shape(wanted))
    np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tolerance)


class Values(unittest.TestCase):
    def test_every_dtype_there_and_back(self):
        for dtype in dtypes.ALL:
            if not dtype.numpy:
                continue
            wanted = RNG.integers(0, 2, (3, 4, 2)).astype(dtype.numpy)
            made = mx.array(wanted)
            self.assertIs(made.dtype, dtype)
            self.assertEqual(made.nbytes, wanted.nbytes)
            np.testing.assert_array_equal(np.asarray(made), wanted)
            self.assertEqual(made.tolist(), wanted.tolist())

    def test_python_values(self):
        self.assertIs(mx.array([1, 2]).dtype, mx.int32)
        self.assertIs(mx.array([1, 2.5]).dtype, mx.float32)
        self.assertIs(mx.array([True]).dtype, mx.bool_)
        self.assertIs(mx.array(2j).dtype, mx.complex64)
        self.assertEqual(mx.array(2 - 3j).item(), 2 - 3j)
        self.assertEqual(mx.array([]).shape, (0,))
        self.assertEqual(mx.array(2**63, mx.uint64).item(), 2**63)
        self.assertEqual(mx.array([1, 2**40]).tolist(), [1, 2**40])
        self.assertIs(mx.array(-(2**31)).dtype, mx.int32)
        self.assertEqual(mx.array([[1.5, 2]], mx.bfloat16).tolist(), [[1.5, 2.0]])

    def test_floats_beyond_a_dtype_are_infinities_as_in_mlx(self):
        self.assertEqual(mx.array([1e6, 0.1, -1e6], mx.float16).tolist(), [np.inf, float(np.float16(0.1)), -np.inf])
        self.assertEqual((mx.ones(1, mx.float16) * -1e9).tolist(), [-np.inf])
        self.assertEqual(mx.where(mx.array([True, False]), 1e300, mx.zeros(2, mx.bfloat16)).tolist(), [np.inf, 0])
        self.assertEqual(mx.array(1e300).item(), np.inf)
        for value, dtype in [(300, mx.uint8), (-1, mx.uint32), (10**400, mx.float32), (1e300j, None)]:
            with self.assertRaises((mlxrocm.InvalidArgumentError, OverflowError)):
                mx.array(value, dtype)

    def test_arrays_of_arrays_and_of_memory(self):
        a = RNG.standard_normal((2, 3)).astype(np.float32)
        for value in ([mx.array(a), mx.array(a)], [a, mx.array(a)], [[mx.array(row) for row in a]] * 2):
            np.testing.assert_array_equal(np.asarray(mx.array(value)), np.stack([a, a]))
        self.assertIs(mx.array([mx.array([1]), mx.array([2.5])], mx.int32).dtype, mx.int32)
        for value, dtype in [(b"\1\2", mx.uint8), (bytearray(b"\1"), mx.uint8), (packed.array("d", [1.5]), mx.float64),
                             (memoryview(np.arange(6, dtype=np.int64).reshape(2, 3)[:, ::-1]), mx.int64),
                             ((ctypes.c_int16 * 2)(3, -4), mx.int16)]:  # fmt: skip
            made = mx.array(value)
            self.assertIs(made.dtype, dtype)
            np.testing.assert_array_equal(np.asarray(made), np.asarray(memoryview(value)))
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "format"):
            mx.array(memoryview(b"ab").cast("c"))

    def test_printing_as_mlx(self):
        for x, wanted in [
            (mx.array(1.5), "array(1.5, dtype=float32)"), (mx.array([True]), "array([True], dtype=bool)"),
            (mx.array([[1, 2.25], [1 / 3, -4e10]]), "array([[1, 2.25],\n       [0.333333, -4e+10]], dtype=float32)"),
            (mx.array([1 - 2j]), "array([1-2j], dtype=complex64)"), (mx.zeros((0,)), "array([], dtype=float32)"),
            (mx.arange(8).reshape(2, 2, 2), "array([[[0, 1],\n        [2, 3]],\n       [[4, 5],\n        [6, 7]]], dtype=int32)"),
            (mx.arange(2000), "array([0, 1, 2, ..., 1997, 1998, 1999], dtype=int32)"),
            (mx.broadcast_to(mx.array(1.0), (2, 2**40)), "array([[1, 1, 1, ..., 1, 1, 1],\n       [1, 1, 1, ..., 1, 1, 1]], dtype=float32)"),
        ]:  # fmt: skip
            self.assertEqual(repr(x), wanted)
            self.assertEqual(str(x), wanted)
        self.assertEqual(f"{mx.array(2.5):.2f} {mx.array(7)} {mx.array([1])}", "2.50 7 array([1], dtype=int32)")
        with self.assertRaises((TypeError, ValueError)):
            f"{mx.array([1, 2]):.2f}"

    def test_pickled_and_bytes(self):
        for x in (mx.array(RNG.standard_normal((2, 3)).astype("f4")).T, mx.array([1.5, 2], mx.bfloat16), mx.array(True), mx.zeros((0, 2))):
            made = pickle.loads(pickle.dumps(x))
            self.assertEqual((made.dtype, made.shape, made.tolist()), (x.dtype, x.shape, x.tolist()))
        self.assertEqual(bytes(mx.array([1, 2], mx.uint8)), b"\1\2")

    def test_numpy_views_big_endian_and_scalars(self):
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        for view in (base[::2, ::-1], base.T, np.asfortranarray(base), base.astype(">f4"), base[1, 1], base[:0]):
            np.testing.assert_array_equal(np.asarray(mx.array(view)), view)

    def test_damaged_input_is_an_error(self):
        for value in ([[1], [1, 2]], [1, [2]], [[], [1]]):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                mx.array(value)
        for value in ("text", [None], object(), np.array(["a"])):
            with self.assertRaises(TypeError):
                mx.array(value)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            mx.array(300, mx.uint8)
        with self.assertRaises(TypeError):
            mx.zeros(3, "float32")

    def test_copies_do_not_share_a_handle(self):
        x = mx.array([1.0])
        for made in (copy.copy(x), copy.deepcopy([x])[0], mx.array(x)):
            x.close()
            self.assertEqual(made.tolist(), [1.0])
            x = mx.array([1.0])
        with self.assertRaises(TypeError):
            copy.copy(mlxrocm.Device(0))

    def test_to_device(self):
        a = RNG.standard_normal((3, 4)).astype(np.float32)
        x = mx.array(a)
        with mlxrocm.Device(0) as cpu:
            moved = x.to_device(cpu)
        x.close()
        self.assertIs(moved.dtype, mx.float32)
        same(self, moved, a)
        same(self, mx.sum(moved @ moved.T + 1, axis=-1), (a @ a.T + 1).sum(-1))
        same(self, moved * mx.array(a), a * a)
        for wrong in (0, None, moved):
            with self.assertRaisesRegex(TypeError, "Device"):
                moved.to_device(wrong)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            moved.to_device(cpu)


class Operators(unittest.TestCase):
    def test_operators_as_numpy(self):
        a = RNG.standard_normal((3, 4)).astype(np.float32)
        b = RNG.standard_normal((3, 4)).astype(np.float32)
        x, y = mx.array(a), mx.array(b)
        for made, wanted in [
            (x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (x // y, a // b), (x % y, a % b),
            (abs(x) ** y, abs(a) ** b), (x @ y.T, a @ b.T), (-x, -a), (2 - x, 2 - a), (1 / x, 1 / a), (x * 2.5, a * 2.5),
            (x < y, a < b), (x >= 0, a >= 0), (x == x, a == a), (x != y, a != b), (b + x, b + a), (x + b, a + b),
        ]:  # fmt: skip
            same(self, made, wanted)
        i = mx.array([12, 10, 7])
        n = np.array([12, 10, 7], np.int32)
        for made, wanted in [(i & 6, n & 6), (i | 1, n | 1), (i ^ 5, n ^ 5), (i << 2, n << 2), (i >> 1, n >> 1), (~i, ~n)]:
            np.testing.assert_array_equal(np.asarray(made), wanted)

    def test_numbers_are_weak_as_in_mlx(self):
        self.assertIs((mx.zeros(2, mx.float16) + 1.5).dtype, mx.float16)
        self.assertIs((mx.zeros(2, mx.int8) + 1).dtype, mx.int8)
        self.assertIs((mx.zeros(2, mx.int32) + 1.5).dtype, mx.float32)
        self.assertIs((mx.zeros(2, mx.bool_) + 1).dtype, mx.int32)
        self.assertIs(mx.maximum(mx.zeros(2, mx.bfloat16), 1).dtype, mx.bfloat16)

    def test_indexing_as_numpy(self):
        a = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
        x = mx.array(a)
        places = np.array([[2, 0], [1, -1]])
        for key in [
            0, -1, (1, 2, 3), slice(None), (slice(None), slice(None, None, -1)), (Ellipsis, 2), (0, Ellipsis, slice(1, 4, 2)),
            (None, 1), (slice(2, 0, -1), None, Ellipsis), slice(5, 2), (slice(None), [3, 1]), places, (Ellipsis, places),
            (0, places), (slice(None), 1, [0, 4]), (slice(None), slice(3, None, -2), 4),
        ]:  # fmt: skip
            np.testing.assert_array_equal(np.asarray(x[key]), a[key], err_msg=str(key))
        i, j = np.array([2, 0]), np.array([1, 3])
        for key in [
            (i, j), (i, slice(None), j), (slice(None), i, j), (1, slice(None), i), (0, None, i), (i, None, j), (slice(None), 0, i),
            (None, i, Ellipsis, None), (i[:, None], j), (i, slice(1, 3), j), (slice(None, None, -1), [0, 2], 3), ([0, 1], [1, 2]),
            (i, j, [4, 4]), (i, 1, None), (slice(1, None), None, i), np.int64(1), (places, None, 0),
        ]:  # fmt: skip
            np.testing.assert_array_equal(np.asarray(x[key]), a[key], err_msg=str(key))
        self.assertEqual(x[mx.array(1), :, mx.array([2, 0])].shape, (2, 4))
        for key in [3, (0, 0, 5), (0, 0, 0, 0)]:
            with self.assertRaises(IndexError):
                x[key]
        with self.assertRaises(mlxrocm.UnsupportedError):
            x[x > 3]
        for key in (True, 1.0, "a", (0, 2.5)):
            with self.assertRaisesRegex(TypeError, "index"):
                x[key]

    def test_assignment_as_numpy(self):
        i, j = np.array([2, 0]), np.array([1, 3])
        mask, rows = RNG.random((3, 4, 5)) < 0.4, np.array([True, False, True])
        for key, shape in [(0, (4, 5)), ((slice(None), 1), (3, 5)), ((1, 2, 3), ()), ((Ellipsis, slice(0, 5, 2)), (3,)),
                           ((slice(None), 0, slice(None)), (5,)), ((slice(None, None, -1), 2), (3, 1)), (i, (2, 4, 5)), (i, (5,)),
                           ((i, j), (2, 5)), ((slice(None), i), (3, 2, 5)), ((i, slice(None), j), (2, 4)), ((0, i), (2, 1)),
                           ((Ellipsis, i), (4, 2)), ((i, slice(1, 3)), (2, 2, 5)), (None, (1, 3, 4, 5)), (([0, 2], None), (2, 1, 4, 5)),
                           (0, (1, 1, 4, 5)), (mask, ()), (mask, (int(mask.sum()),)), (rows, (4, 5)), (rows, (2, 4, 5)), (-1, ()),
                           ([-1], (1, 4, 5)), ((), ()), (np.zeros(0, int), ())]:  # fmt: skip
            a = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
            x = mx.array(a)
            value = RNG.standard_normal(shape).astype(np.float32)
            before = x + 0
            a[key] = value
            x[key] = value
            np.testing.assert_array_equal(np.asarray(x), a, err_msg=str(key))
            same(self, before, np.arange(60).reshape(3, 4, 5))
        for key, shape in [(0, (3,)), (i, (3, 5)), (slice(None), (2, 3, 4, 5)), (np.ones((3, 3), bool), ())]:
            with self.assertRaises((mlxrocm.Error, IndexError), msg=str(key)):
                x[key] = mx.zeros(shape)
        with self.assertRaises(mlxrocm.UnsupportedError):
            x[0, mask[0]] = 1

    def test_places_that_come_twice_are_joined_by_at(self):
        a = RNG.uniform(1, 2, (4, 3)).astype(np.float32)
        i, j = np.array([0, 2, 0, -1]), np.array([1, 1, 1, 2])
        for key, shape in [(i, (4, 3)), ((i, j), (4,)), ((slice(None), j), (3, 1)[:0]), (slice(1, 3), (3,)), (Ellipsis, ())]:
            value = RNG.uniform(1, 2, shape).astype(np.float32)
            for name, join in [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide),
                               ("maximum", np.maximum), ("minimum", np.minimum)]:  # fmt: skip
                wanted = a.copy()
                join.at(wanted, key, value)
                same(self, getattr(mx.array(a).at[key], name)(value), wanted)
        same(self, mx.zeros(3, mx.int32).at[mx.array([0, 0, 2])].add(1), [2, 0, 1])

    def test_operators_that_assign_change_the_array(self):
        a = np.array([[5, 3], [2, 7]], np.int32)
        for name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift matmul".split():
            given = a.astype(np.float32) if name == "matmul" else a
            x = mx.array(given)
            other, before = x, x + 0
            by = given if name == "matmul" else 2
            self.assertIs(getattr(operator, f"i{name}".removesuffix("_"))(x, by), other)
            same(self, other, getattr(operator, name)(given, by))
            same(self, before, a)
        x = mx.array([1, 2])
        x += 0.5
        self.assertIs(x.dtype, mx.float32)
        with self.assertRaises(TypeError):
            x += "a"

    def test_what_is_queued_is_there_after_a_wait(self):
        x = mx.array(np.arange(6, dtype=np.float32)) * 2
        mx.async_eval(x, [x + 1])
        mx.wait(x)
        same(self, x, np.arange(6) * 2)


class Operations(unittest.TestCase):
    def test_every_operation_is_there(self):
        tree = Path(os.environ["MLXROCM_TREE"])
        names = {f["name"] for f in json.loads((tree / "include/mlxrocm.json").read_text())["functions"]}
        made = {name for name, _ in inspect.getmembers(_operations, inspect.isfunction) if not name.startswith("_")}
        methods = "from_data from_borrowed from_buffer buffer clone to_device to_stream dtype rank size bytes shape eval eval_async wait read item_f64 item_i64 free".split()
        wanted = {name.removeprefix("mlxrocm_array_") for name in names if name.startswith("mlxrocm_array_")} - set(methods)
        wanted = {name for name in wanted if not name.startswith(("map_", "kernel_"))}  # other objects
        self.assertEqual(made, wanted)
        # What all transforms call for their norm.
        for name in wanted - {"fft_normed"}:
            module, _, short = name.partition("_")
            if module in ("linalg", "fft", "fast", "random"):
                owner = getattr(mx, module)
                for end in ("_num_samples", "_shape", "_arange", "_l2", "_matrix", "_values"):
                    short = short.removesuffix(end)
                self.assertTrue(callable(getattr(owner, short)), name)
            else:
                self.assertTrue(callable(getattr(mx, name)), name)

    def test_reductions_and_shapes(self):
        a = RNG.standard_normal((2, 3, 4)).astype(np.float32)
        x = mx.array(a)
        for made, wanted in [
            (x.sum(), a.sum()), (mx.sum(x, axis=1), a.sum(1)), (x.mean(axis=(0, -1), keepdims=True), a.mean((0, -1), keepdims=True)),
            (x.var(axis=0, ddof=1), a.var(0, ddof=1)), (x.std(), a.std()), (x.argmax(axis=-1), a.argmax(-1)),
            (mx.argmin(x), a.argmin()), (mx.cumsum(x, axis=1), a.cumsum(1)), (mx.sort(x), np.sort(a)),
            (mx.argsort(x, axis=0), a.argsort(0)), (x.transpose(2, 0, 1), a.transpose(2, 0, 1)), (x.T, a.T),
            (x.reshape(-1, 6), a.reshape(-1, 6)), (mx.flatten(x, 1), a.reshape(2, 12)), (x.squeeze(), a),
            (mx.expand_dims(x, (0, 2)), np.expand_dims(a, (0, 2))), (mx.moveaxis(x, 0, 2), np.moveaxis(a, 0, 2)),
            (mx.concatenate([x, x], axis=1), np.concatenate([a, a], 1)), (mx.stack([x, x], -1), np.stack([a, a], -1)),
            (mx.pad(x, 1), np.pad(a, 1)), (mx.pad(x, [(0, 1), (2, 0), (1, 1)], "edge"), np.pad(a, [(0, 1), (2, 0), (1, 1)], "edge")),
            (mx.pad(x, (1, 2), constant_values=3), np.pad(a, (1, 2), constant_values=3)),
            (mx.roll(x, 2), np.roll(a, 2)), (mx.roll(x, 1, 2), np.roll(a, 1, 2)), (mx.tile(x, (2, 1)), np.tile(a, (2, 1))),
            (mx.repeat(x, 2, axis=1), np.repeat(a, 2, 1)), (mx.flip(x, 1), np.flip(a, 1)), (mx.median(x, 1), np.median(a, 1)),
            (mx.where(x > 0, x, 0.0), np.where(a > 0, a, 0)), (mx.clip(x, -0.5, None), np.clip(a, -0.5, None)),
            (mx.trace(x[0]), np.trace(a[0])), (mx.diagonal(x, 0, 1, 2), np.diagonal(a, 0, 1, 2)), (mx.tril(x, -1), np.tril(a, -1)),
            (mx.tensordot(x, x.transpose(1, 2, 0), 2), np.tensordot(a, a.transpose(1, 2, 0), 2)),
            (mx.take(x, mx.array([2, 0]), axis=1), a.take([2, 0], 1)), (mx.outer(x[0, 0], x[1, 0]), np.outer(a[0, 0], a[1, 0])),
            (mx.full((2, 2), 1.5), np.full((2, 2), 1.5)), (mx.arange(2, 9, 3), np.arange(2, 9, 3)), (mx.arange(4), np.arange(4)),
            (mx.linspace(0, 1, 5), np.linspace(0, 1, 5)), (mx.eye(3, k=1), np.eye(3, k=1)), (mx.tri(3, 4), np.tri(3, 4)),
            (mx.zeros_like(x), np.zeros_like(a)), (mx.ones(()), np.ones(())),
        ]:  # fmt: skip
            same(self, made, wanted)
        for made, wanted in [(mx.split(x, 2, axis=2), np.split(a, 2, 2)), (mx.split(x, [1, 3], axis=2), np.split(a, [1, 3], 2)),
                             (mx.meshgrid(mx.arange(3), mx.arange(2)), np.meshgrid(np.arange(3), np.arange(2))),
                             (mx.broadcast_arrays(x, mx.ones((3, 1))), np.broadcast_arrays(a, np.ones((3, 1)))),
                             (mx.divmod(x, 0.3), np.divmod(a, np.float32(0.3)))]:  # fmt: skip
            self.assertEqual(len(made), len(wanted))
            for one, two in zip(made, wanted):
                same(self, one, two)

    def test_mlx_s_other_names_and_forms(self):
        a = RNG.uniform(0.1, 0.9, (3, 4)).astype(np.float32)
        x, z = mx.array(a), a * (1 + 2j)
        for name in "acos asin asinh atan atanh".split():
            same(self, getattr(mx, name)(x), getattr(np, name)(a))
        i = mx.array([3, 5], mx.int8)
        for made, wanted in [
            (mx.acosh(x + 1), np.arccosh(a + 1)), (mx.atan2(x, 0.5), np.arctan2(a, np.float32(0.5))), (mx.conj(z), z.conj()),
            (mx.array(z).conj(), z.conj()), (mx.array(z).real, z.real), (mx.array(z).imag, z.imag), (x.mT, a.T), (+x, a),
            (mx.bitwise_left_shift(i, 1), [6, 10]), (mx.bitwise_right_shift(i, 1), [1, 2]), (mx.empty((2, 0)), np.empty((2, 0))),
            (mx.empty_like(x).shape, a.shape), (mx.zeros_like(x, dtype=mx.int8), np.zeros_like(a)), (mx.euler_gamma, np.euler_gamma),
            (mx.concatenate([x, x[0]], axis=None), np.concatenate([a, a[0]], axis=None)), (x.flatten(start_axis=1), a),
            (mx.linspace(0, 1, 5, endpoint=False), np.linspace(0, 1, 5, endpoint=False)), (mx.arange(stop=3), [0, 1, 2]),
            (mx.cumsum(i * 40, dtype=mx.int32), [120, 64]), (mx.cumsum(mx.array([100, 100], mx.int8), dtype=mx.int32), [100, 200]),
            (mx.cumulative_prod(x, axis=1), a.cumprod(1)), (mx.pad(x, [(1, 2)]), np.pad(a, [(1, 2)])),
            (mx.searchsorted(mx.array([1.0, 2, 2, 3]), mx.array([2.0, 0])), [1, 0]), (mx.trace(mx.full((3, 3), 100, mx.int8)), 300),
            (mx.searchsorted(mx.array([1.0, 2, 2, 3]), mx.array([2.0, 0]), side="right"), [3, 0]),
            (mx.fft.fftshift(x, axes=[1]), np.fft.fftshift(a, axes=[1])), (mx.fft.ifftshift(x, axes=0), np.fft.ifftshift(a, axes=0)),
        ]:  # fmt: skip
            same(self, made, wanted)
        for one, two in zip(x.split(2, axis=1), np.split(a, 2, 1)):
            same(self, one, two)
        large = mx.arange(2**31, 2**31 + 3)
        self.assertEqual((large.dtype, large.tolist()), (mx.int64, [2**31, 2**31 + 1, 2**31 + 2]))
        mx.eval(x, None, [1, {"a": x, "b": "text"}], "text")
        for wrong, what in [(lambda: mx.topk(x, 2.5), "^topk: 2.5 is"), (lambda: mx.softmax(x, axis="a"), "'str'"),
                            (lambda: mx.nan_to_num(x, nan=None), "^nan_to_num: None is"), (lambda: x + None, "NoneType")]:  # fmt: skip
            with self.assertRaisesRegex(TypeError, what):
                wrong()
        self.assertEqual((x == None, x != None), (False, True))  # noqa: E711

    def test_experts(self):
        w, x = RNG.standard_normal((3, 5, 64)).astype("f4"), RNG.standard_normal((4, 1, 1, 64)).astype("f4")
        chosen = np.array([[0, 2], [1, 1], [2, 0], [0, 1]])
        wanted = np.einsum("toi,nti->nto", w, np.broadcast_to(x[:, 0], (4, 3, 64)))[np.arange(4)[:, None], chosen][:, :, None]
        same(self, mx.gather_mm(x, w.swapaxes(1, 2), rhs_indices=chosen, sorted_indices=False), wanted, 1e-4)
        codes = mx.quantize(w)
        by_hand = np.asarray(mx.dequantize(*codes))
        self.assertEqual(mx.dequantize(*codes, dtype=mx.float16).dtype, mx.float16)
        wanted = np.einsum("toi,nti->nto", by_hand, np.broadcast_to(x[:, 0], (4, 3, 64)))[np.arange(4)[:, None], chosen][:, :, None]
        for more in ({}, {"group_size": None, "bits": None, "mode": "affine", "sorted_indices": False}):
            same(self, mx.gather_qmm(x, *codes, rhs_indices=chosen, transpose=True, **more), wanted, 1e-4)

    def test_elementwise(self):
        a = RNG.uniform(0.1, 0.9, (4, 5)).astype(np.float32)
        x = mx.array(a)
        for name in "exp log log2 log10 log1p expm1 sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh sqrt square \
                     floor ceil sign degrees radians reciprocal isnan isfinite".split():
            same(self, getattr(mx, name)(x), getattr(np, name)(a))
        same(self, mx.sigmoid(x), 1 / (1 + np.exp(-a)))
        same(self, mx.softmax(x, axis=-1), np.exp(a) / np.exp(a).sum(-1, keepdims=True))
        same(self, mx.round(x, 1), np.round(a, 1))

    def test_linear_algebra_and_transforms(self):
        a = (RNG.standard_normal((4, 4)) + 4 * np.eye(4)).astype(np.float32)
        x = mx.array(a)
        same(self, mx.linalg.inv(x) @ x, np.eye(4), 1e-4)
        same(self, mx.linalg.det(x), np.linalg.det(a), 1e-4)
        same(self, mx.linalg.svd(x, compute_uv=False), np.linalg.svd(a, compute_uv=False), 1e-4)
        for order, axis in [(None, None), (1, 0), (np.inf, (0, 1)), ("fro", None), ("nuc", (0, 1))]:
            same(self, mx.linalg.norm(x, order, axis), np.linalg.norm(a, order, axis), 1e-4)
        values, vectors = mx.linalg.eigh(x + x.T)
        same(self, (x + x.T) @ vectors, np.asarray(vectors * values), 1e-4)
        same(self, mx.linalg.cholesky(x @ x.T), np.linalg.cholesky(a @ a.T), 1e-3)
        same(self, mx.linalg.solve(x, x[0]), np.linalg.solve(a, a[0]), 1e-4)
        for name in "fft ifft rfft fft2 ifft2 rfft2 fftn".split():
            same(self, getattr(mx.fft, name)(x), getattr(np.fft, name)(a), 1e-4)
            for norm in ("backward", "ortho", "forward"):
                same(self, getattr(mx.fft, name)(x, norm=norm), getattr(np.fft, name)(a, norm=norm), 1e-4)
        same(self, mx.fft.irfft(mx.fft.rfft(x)), a, 1e-4)
        same(self, mx.fft.fft(x, n=6, axis=0), np.fft.fft(a, 6, 0), 1e-4)
        same(self, mx.fft.ifftshift(mx.fft.fftshift(x[:3])), a[:3])
        same(self, mx.fft.fftshift(x[:3]), np.fft.fftshift(a[:3]))

    def test_layers(self):
        a = RNG.standard_normal((1, 2, 5, 8)).astype(np.float32)
        q, k, v = mx.array(a), mx.array(a[..., ::-1].copy()), mx.array(a * 2)
        scores = np.where(np.tri(5, dtype=bool), a @ a[..., ::-1].swapaxes(-1, -2) * 0.5, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        wanted = weights / weights.sum(-1, keepdims=True) @ (a * 2)
        for mask in ("causal", mx.tri(5, dtype=mx.bool_)):
            same(self, mx.fast.scaled_dot_product_attention(q, k, v, scale=0.5, mask=mask), wanted)
        same(self, mx.fast.rms_norm(q, None, 1e-5), a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-5))
        turned = np.asarray(mx.fast.rope(q, 8, traditional=False, base=10000.0, scale=1.0, offset=3))
        angle = (np.arange(5) + 3)[:, None] * 10000.0 ** (-np.arange(4) / 4)
        same(self, turned[..., :4], a[..., :4] * np.cos(angle) - a[..., 4:] * np.sin(angle))
        signal, kernel = RNG.standard_normal((1, 9, 1)).astype(np.float32), RNG.standard_normal((1, 3, 1)).astype(np.float32)
        same(self, mx.conv1d(signal, kernel, padding=1)[0, :, 0], np.correlate(signal[0, :, 0], kernel[0, :, 0], "same"))
        w = RNG.standard_normal((8, 64)).astype(np.float32)
        packed = mx.quantize(w, bits=8)
        same(self, mx.dequantize(*packed, bits=8), w, 0.03)
        y = RNG.standard_normal((2, 64)).astype(np.float32)
        same(self, mx.quantized_matmul(y, *packed, bits=8), y @ np.asarray(mx.dequantize(*packed, bits=8)).T, 1e-3)

    def test_random(self):
        key = mx.random.key(7)
        same(self, mx.random.normal((5,), key=key), mx.random.normal((5,), key=key))
        drawn = np.asarray(mx.random.uniform(-1, 3, (2000,), key=key))
        self.assertTrue(-1 <= drawn.min() < -0.9 and 2.9 < drawn.max() < 3 and abs(drawn.mean() - 1) < 0.1)
        self.assertEqual(sorted(mx.random.permutation(9, key=key).tolist()), list(range(9)))
        self.assertEqual(mx.random.categorical(mx.zeros((3, 4)), num_samples=5).shape, (3, 5))
        bounded = np.asarray(mx.random.truncated_normal(-0.5, mx.array([0.5, 1]), (100, 2), key=key))
        self.assertTrue(-0.5 <= bounded.min() and bounded[:, 0].max() <= 0.5 < bounded[:, 1].max() <= 1)
        self.assertEqual(mx.random.split(key, 3).shape, (3, 2))

    def test_shapes_that_do_not_fit(self):
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "add") as caught:
            mx.zeros((2, 3)) + mx.zeros((4,))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            mx.zeros((2, 3)).item()
        x = mx.zeros(3)
        x.close()
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            x + 1
        with self.assertRaises(mlxrocm.Error):
            mx.linalg.cholesky(mx.array([[-1.0]])).eval()


class Dlpack(unittest.TestCase):
    def test_in_shares_memory_whatever_the_strides(self):
        a = np.arange(24, dtype=np.float32).reshape(4, 6)
        for view in (a, a.T, a[::2, ::-1], a[1:3, 2], a[:0], np.array(7, np.float32)):
            made = mx.from_dlpack(view)
            np.testing.assert_array_equal(np.asarray(made), view)
        shared = mx.from_dlpack(a)
        a[0, 0] = 99  # before it is read
        self.assertEqual(shared[0, 0].item(), 99)

    def test_memory_lives_as_long_as_arrays_need_it(self):
        class Source(np.ndarray):
            pass

        a = np.arange(1000, dtype=np.int32).view(Source)
        alive = weakref.ref(a)
        late = mx.from_dlpack(a) + 1
        del a
        gc.collect()
        self.assertIsNotNone(alive())
        self.assertEqual(late.sum().item(), 500500)
        del late
        gc.collect()
        self.assertIsNone(alive())

    def test_out(self):
        x = mx.arange(12).reshape(3, 4).T
        made = np.from_dlpack(x)
        np.testing.assert_array_equal(made, np.arange(12).reshape(3, 4).T)
        del x
        gc.collect()
        self.assertEqual(made.sum(), 66)
        for _ in range(200):  # capsules that nobody takes are freed
            mx.zeros(1000).__dlpack__()
        from mlxrocm import _dlpack

        del made
        gc.collect()
        self.assertEqual(len(_dlpack._alive), 0)


class Files(unittest.TestCase):
    def test_npy_is_numpy_s(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.npy"
            for numbers in [np.arange(12).reshape(3, 4), np.float32(2.5), np.zeros((0, 3), bool), RNG.normal(size=7)]:
                np.save(path, numbers)
                made = np.asarray(mx.load(path))
                self.assertEqual(made.dtype, np.asarray(numbers).dtype)
                np.testing.assert_array_equal(made, numbers)
                mx.save(path, mx.array(numbers))
                np.testing.assert_array_equal(np.load(path), numbers)
            path.write_bytes(path.read_bytes()[:-1])
            with self.assertRaisesRegex(mlxrocm.InvalidFileError, "x.npy"):
                mx.load(path)
            with self.assertRaises(ValueError):
                mx.load(Path(folder) / "x.pickle")

    def test_safetensors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.safetensors"
            arrays = {"b": mx.arange(5), "a.weight": mx.ones((2, 3), mx.bfloat16)}
            mx.save_safetensors(path, arrays, {"format": "mlx"})
            made, metadata = mx.load(path, return_metadata=True)
            self.assertEqual((list(made), metadata), (["a.weight", "b"], {"format": "mlx"}))
            self.assertEqual(made["a.weight"].dtype, mx.bfloat16)
            for name, x in arrays.items():
                self.assertTrue(mx.array_equal(made[name], x).item())

    def test_gguf(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x"
            mx.save_gguf(path, {"a": mx.ones((2, 3), mx.float16), "b": mx.arange(5)}, {"who": "me"})
            made, metadata = mx.load(f"{path}.gguf", return_metadata=True)
            self.assertEqual(metadata["who"], "me")
            self.assertEqual((made["a"].dtype, made["a"].shape, made["b"].tolist()), (mx.float16, (2, 3), [0, 1, 2, 3, 4]))
            with self.assertRaisesRegex(TypeError, "who"):
                mx.save_gguf(path, {}, {"who": 1})

    def test_einsum(self):
        a, b = RNG.normal(size=(2, 3, 4)).astype("f4"), RNG.normal(size=(4, 5)).astype("f4")
        same(self, mx.einsum("...ij,jk->...ki", a, b), np.einsum("...ij,jk->...ki", a, b), 1e-5)


class Threads(unittest.TestCase):
    def test_many_threads_share_arrays(self):
        x = mx.array(RNG.standard_normal((64, 64)).astype(np.float32))
        lazy = x @ x.T
        wanted = np.asarray(x) @ np.asarray(x).T
        failed = []

        def work():
            try:
                for _ in range(20):
                    same(self, lazy + 0, wanted, 1e-3)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main()
