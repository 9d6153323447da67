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

    def test_events_and_queued_copies(self):
        first, last = engine.Event(self.gpu), engine.Event(self.gpu)
        self.assertTrue(first.done)
        other = engine.Stream(self.gpu)
        target = engine.Buffer(self.gpu, 4 * COUNT)
        self.stream.record(first)
        self.stream.write(target, array.array("f", range(COUNT)))
        self.stream.launch(self.kernel, GRID, [BLOCK], engine.Out(self.c), engine.In(target), *self.arguments[2:])
        self.stream.record(last)
        other.wait_for(last)
        self.assertEqual(array.array("f", other.read(self.c, 8, 4)).tolist(), [1.5, 2.5])
        last.wait(60)
        self.stream.wait(60)
        self.assertTrue(first.done and last.done and self.stream.done)
        self.assertGreaterEqual(last.seconds_since(first), 0)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            last.seconds_since(engine.Event(self.gpu))
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.stream.write(target, b"1234", 4 * COUNT)

    def test_recorded_copies(self):
        program, target = engine.Program(self.gpu), engine.Buffer(self.gpu, 16)
        program.fill(target, 7)
        program.barrier()
        program.copy(target, self.b, 4, target_offset=8)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            program.info
        program.end()
        self.assertEqual((program.info["nodes"], program.info["edges"]), (2, 1))
        self.assertIn(program.info["mode"], ("direct", "graph"))
        self.stream.run(program)
        self.assertEqual(self.stream.read(target), b"\7" * 8 + self.b.read(4) + b"\7" * 4)

    def test_the_library_s_own_kernel(self):
        kernel = engine.Kernel.of_library(self.gpu, "mlxrocm_vector_add_f32")
        self.stream.launch(kernel, GRID, [BLOCK], *self.arguments[:3], c_uint32(COUNT))
        self.stream.wait(60)
        self.assertEqual(floats(self.c), [i + 0.25 for i in range(COUNT)])
        with self.assertRaises(mlxrocm.UnsupportedError):
            engine.Kernel.of_library(self.gpu, "none")
        with self.assertRaises(mlxrocm.InvalidFileError):
            engine.Module.load(self.gpu, b"no code")

    def test_settings_and_selftest(self):
        self.gpu.reset_peak_memory()
        self.assertEqual(self.gpu.memory["peak"], self.gpu.memory["active"])
        for graphs in ("on", "off", "auto"):
            self.gpu.set_graphs(graphs)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            self.gpu.set_graphs("maybe")
        heard = []

        def enough(line):
            heard.append(line)
            raise KeyError(line)

        with self.assertRaises(KeyError):
            self.gpu.selftest(enough, quick=True, measure=False, seed=1)
        self.assertEqual(len(heard), 1)
        with self.assertRaises(mlxrocm.UnsupportedError):
            Device(0).selftest()

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

    def test_a_kernel_of_ones_own(self):
        gpu = Device(1)
        source = """
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= x_shape[0] * x_shape[1]) return;
            const T scaled = x[i] * FACTOR;
            y[i] = NEGATE ? -scaled : twice(scaled);
            even[i] = (int)x[i] % 2 == 0;
        """
        kernel = mx.fast.hip_kernel("scale", ["x"], ["y", "even"], source, "__device__ float twice(float a) { return 2 * a; }",
                                    device=gpu)  # fmt: skip
        x = mx.arange(300, dtype=mx.float32).reshape(30, 10).T
        for negate, factor in ((False, 6), (True, -3)):
            y, even = kernel(
                inputs=[x], template=[("T", mx.float32), ("FACTOR", 3), ("NEGATE", negate)], grid=[300], threadgroup=[64],
                output_shapes=[(10, 30), [300]], output_dtypes=[mx.float32, mx.bool_], init_value=0,
            )  # fmt: skip
            self.assertEqual(y.tolist(), (x * factor).tolist())
            self.assertEqual(even.tolist(), (x % 2 == 0).reshape(-1).tolist())
            self.assertEqual((y + 1).to_device(Device(0)).tolist(), (x * factor + 1).tolist())
        with self.assertRaises(mlxrocm.InvalidArgumentError) as caught:
            mx.fast.hip_kernel("wrong", ["x"], ["y"], "y[0] = nonsense;", device=gpu)(
                inputs=[x], grid=[1], threadgroup=[1], output_shapes=[[1]], output_dtypes=[mx.float32])  # fmt: skip
        self.assertIn("nonsense", caught.exception.details)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            kernel(inputs=[], grid=[1], threadgroup=[1], output_shapes=[[1]] * 2, output_dtypes=[mx.float32] * 2)
        with self.assertRaises(mlxrocm.UnsupportedError):
            mx.fast.hip_kernel("scale", ["x"], ["y"], source, device=Device(0))

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
