"""A kernel of one's own, and arrays, on the first GPU: run by test.sh with the software GPU, or by hand with a real one."""

import array
import unittest
from ctypes import c_float, c_uint32

import mlxrocm
import mlxrocm.core as mx
from mlxrocm import Device, engine

SOURCE = r"""
extern "C" __global__ void scaled_sum(float *c, const float *a, const float *b, float scale, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + scale * b[i];
}
"""
COUNT, BLOCK = 1000, 256
GRID = [(COUNT + BLOCK - 1) // BLOCK]


def floats(buffer):
    made = array.array("f")
    made.frombytes(buffer.read())
    return list(made)


class Engine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gpu = Device(1)
        cls.kernel = engine.Module(cls.gpu, SOURCE, flags=["-DUNUSED=1"], name="sum.hip").kernel("scaled_sum")
        cls.a, cls.b, cls.c = (engine.Buffer(cls.gpu, 4 * COUNT) for _ in range(3))
        cls.a.write(array.array("f", range(COUNT)))
        cls.b.write(array.array("f", [0.25]) * COUNT)
        cls.stream = engine.Stream(cls.gpu)
        cls.arguments = (engine.Out(cls.c), engine.In(cls.a), engine.In(cls.b), c_float(2), c_uint32(COUNT))

    def test_launch(self):
        self.stream.launch(self.kernel, GRID, [BLOCK], *self.arguments)
        self.stream.wait(60)
        self.assertEqual(floats(self.c), [i + 0.5 for i in range(COUNT)])
        self.assertEqual(self.kernel.info["name"], "scaled_sum")

    def test_program(self):
        program = engine.Program(self.gpu)
        program.launch(self.kernel, GRID, [BLOCK], *self.arguments)
        again = engine.Out(self.c), engine.In(self.c), engine.In(self.b), c_float(4), c_uint32(COUNT)
        program.launch(self.kernel, GRID, [BLOCK], *again)
        program.end()
        self.assertIn("2 launches", program.explain())
        for _ in range(2):
            self.stream.run(program)
        self.stream.wait()
        self.assertEqual(floats(self.c), [i + 1.5 for i in range(COUNT)])

    def test_fill_and_copy(self):
        target = engine.Buffer(self.gpu, 16)
        self.stream.fill(target, 7)
        self.stream.copy(target, self.b, 4, target_offset=8)
        self.stream.wait()
        self.assertEqual(target.read(), b"\7" * 8 + self.b.read(4) + b"\7" * 4)
        self.assertGreater(self.gpu.memory["active"], 0)

    def test_mistakes(self):
        with self.assertRaises(mlxrocm.Error) as caught:
            engine.Module(self.gpu, "nonsense", name="wrong.hip")
        self.assertIn("error", caught.exception.details)
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "5 arguments"):
            self.stream.launch(self.kernel, GRID, [BLOCK], self.arguments[0])
        with self.assertRaises(TypeError):
            self.stream.launch(self.kernel, GRID, [BLOCK], 5)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.a.write(b"1234", offset=4 * COUNT)


class Arrays(unittest.TestCase):
    def test_to_device(self):
        gpu = Device(1)
        count = 1 << 10
        there = mx.arange(count, dtype=mx.float32).to_device(gpu)
        before = gpu.memory["active"]
        made = (there * 2 + 1).eval()
        self.assertGreaterEqual(gpu.memory["active"] - before, 4 * count)
        self.assertEqual(made.tolist(), [2.0 * i + 1 for i in range(count)])
        self.assertEqual(mx.sum(made).item(), count * count)
        self.assertEqual(made.to_device(Device(0)).tolist()[-1], 2.0 * count - 1)

    def test_memory_and_streams(self):
        gpu = Device(1)
        kernel = engine.Module(gpu, SOURCE).kernel("scaled_sum")
        stream, other = engine.Stream(gpu), engine.Stream(gpu)
        memory, sums = (engine.Buffer(gpu, 4 * COUNT) for _ in range(2))
        memory.write(array.array("f", range(COUNT)))
        x = mx.array.from_buffer(memory, (10, 50), mx.float32, offset=4 * 500)
        self.assertEqual(mx.sum(x).item(), sum(range(500, 1000)))
        doubled = x.to_stream(stream) * 2
        there, offset = doubled.buffer(other)
        of_it = engine.In(there, offset)
        other.launch(kernel, GRID, [BLOCK], engine.Out(sums), of_it, of_it, c_float(0.5), c_uint32(500))
        other.wait()
        self.assertEqual(floats(sums)[:500], [3.0 * (500 + i) for i in range(500)])
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "memory of an array"):
            there.write(b"1234")
        with self.assertRaises(TypeError):
            x.to_stream(gpu)
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "multiples of 4"):
            mx.array.from_buffer(memory, [1], mx.float32, offset=2)
        with self.assertRaises(mlxrocm.UnsupportedError):
            mx.ones([2]).buffer()
        again, begin = doubled.buffer()
        self.assertEqual(again.read(8, begin), array.array("f", [1000, 1002]).tobytes())


if __name__ == "__main__":
    unittest.main()
