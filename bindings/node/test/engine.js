// A kernel of one's own, and arrays, on the first GPU: run by test.sh with the software GPU, or by hand with a real one.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { array, ArrayKernel, Device, engine, MlxrocmError, NDArray, operations as mx, whyNoGpu } from 'mlxrocm';

const source = `
extern "C" __global__ void scaled_sum(float *c, const float *a, const float *b, float scale, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + scale * b[i];
}
`;
const count = 1000;
const how = { grid: Math.ceil(count / 256), block: [256] };
const { f32, input, output, u32 } = engine;
const refused = (code) => (error) => error instanceof MlxrocmError && error.code === code && error.message.length > 0;
const numbers = (added) => Float32Array.from({ length: count }, (_, i) => i + added);
let gpu, kernel, a, b, c, stream;

/** c = from + scale * b. */
const args = (from, scale) => [output(c), input(from), input(b), f32(scale), u32(count)];

before(async () => {
  gpu = new Device(1);
  kernel = (await engine.Module.compile(gpu, source, { flags: ['-DUNUSED=1'], name: 'sum.hip' })).kernel('scaled_sum');
  [a, b, c] = [1, 2, 3].map(() => new engine.Buffer(gpu, 4 * count));
  await a.write(numbers(0));
  await b.write(new Float32Array(count).fill(0.25));
  stream = new engine.Stream(gpu);
});

test('launch', async () => {
  stream.launch(kernel, how, ...args(a, 2));
  await stream.wait({ signal: AbortSignal.timeout(60_000) });
  assert.deepEqual(await c.read(Float32Array), numbers(0.5));
  assert.deepEqual(await c.read(new Float32Array(2), 8), Float32Array.of(2.5, 3.5));
  assert.equal(kernel.info.name, 'scaled_sum');
  assert.equal(gpu.info.wave_size, kernel.info.wave_size);
  assert.equal(whyNoGpu('hip'), '');
  await assert.rejects(stream.wait({ signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('program', async () => {
  const program = new engine.Program(gpu);
  program.launch(kernel, how, ...args(a, 2));
  program.launch(kernel, how, ...args(c, 4));
  program.end();
  assert.match(program.explain(), /2 launches/);
  for (let run = 0; run < 2; run++) stream.run(program);
  await stream.wait();
  assert.deepEqual(await c.read(Float32Array), numbers(1.5));
});

test('events and queued copies', async () => {
  const [first, last] = [new engine.Event(gpu), new engine.Event(gpu)];
  assert.equal(first.done, true);
  const other = new engine.Stream(gpu);
  const target = new engine.Buffer(gpu, 4 * count);
  stream.record(first);
  stream.write(target, numbers(0));
  stream.launch(kernel, how, ...args(target, 2));
  stream.record(last);
  other.waitFor(last);
  assert.deepEqual(await other.read(c, new Float32Array(2), 4), Float32Array.of(1.5, 2.5));
  await last.wait();
  await stream.wait();
  assert.deepEqual([first.done, last.done, stream.done], [true, true, true]);
  assert.ok(last.millisecondsSince(first) >= 0);
  assert.throws(() => last.millisecondsSince(new engine.Event(gpu)), refused('INVALID_ARGUMENT'));
  assert.throws(() => stream.write(target, numbers(0), 4), refused('INVALID_ARGUMENT'));
});

test('recorded copies', async () => {
  const program = new engine.Program(gpu);
  const target = new engine.Buffer(gpu, 16);
  program.fill(target, 7);
  program.barrier();
  program.copy(target, b, 4, { targetOffset: 8 });
  assert.throws(() => program.info, refused('INVALID_ARGUMENT'));
  program.end();
  assert.deepEqual([program.info.nodes, program.info.edges], [2, 1]);
  assert.ok(['direct', 'graph'].includes(program.info.mode));
  stream.run(program);
  const found = await stream.read(target, Uint8Array);
  assert.deepEqual([...found], [...new Array(8).fill(7), ...new Uint8Array(Float32Array.of(0.25).buffer), 7, 7, 7, 7]);
});

test("the library's own kernels, settings and the self-test", async () => {
  stream.launch(engine.Kernel.ofLibrary(gpu, 'mlxrocm_vector_add_f32'), how, output(c), input(a), input(b), u32(count));
  assert.deepEqual(await stream.read(c, Float32Array), numbers(0.25));
  assert.throws(() => engine.Kernel.ofLibrary(gpu, 'none'), refused('UNSUPPORTED'));
  await assert.rejects(engine.Module.load(gpu, Buffer.from('no code')), refused('INVALID_FILE'));
  gpu.resetPeakMemory();
  assert.equal(gpu.memory.peak, gpu.memory.active);
  for (const when of ['on', 'off', 'auto']) gpu.setGraphs(when);
  assert.throws(() => gpu.setGraphs('maybe'), refused('INVALID_ARGUMENT'));
  const heard = [];
  const enough = new Error('enough');
  const report = (line) => {
    heard.push(line);
    throw enough;
  };
  await assert.rejects(gpu.selftest({ report, quick: true, measure: false, seed: 1 }), (error) => error === enough);
  assert.equal(heard.length, 1);
  await assert.rejects(new Device(0).selftest(), refused('UNSUPPORTED'));
});

test('arrays in memory, on streams and in kernels', async () => {
  const memory = new engine.Buffer(gpu, 4 * count);
  await memory.write(numbers(0));
  const x = NDArray.fromBuffer(memory, [10, 50], 'float32', 4 * 500);
  assert.equal(mx.sum(x).item(), (500 * (500 + 999)) / 2);
  const other = new engine.Stream(gpu);
  const doubled = x.toStream(stream).multiply(2);
  const { buffer, offset } = doubled.buffer(other);
  other.launch(kernel, how, output(c), input(buffer, offset), input(buffer, offset), f32(0.5), u32(500));
  assert.deepEqual((await other.read(c, Float32Array)).slice(0, 500), numbers(0).slice(500).map((i) => 3 * i));
  await assert.rejects(buffer.write(Float32Array.of(1)), refused('INVALID_ARGUMENT'));
  assert.throws(() => x.toStream(gpu), TypeError);
  assert.throws(() => array([1]).buffer(), refused('UNSUPPORTED'));

  const body = `
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= x_shape[0] * x_shape[1]) return;
    y[i] = NEGATE ? -(T)x[i] * FACTOR : twice(x[i]);
    even[i] = (int)x[i] % 2 == 0;
  `;
  const options = { inputs: ['x'], outputs: ['y', 'even'], source: body, header: '__device__ float twice(float a) { return 2 * a; }' };
  const own = new ArrayKernel(gpu, 'scale', options);
  const given = array(numbers(0), { shape: [20, 50] });
  for (const [NEGATE, factor] of [[false, 2], [true, -3]]) {
    const [y, even] = await own.apply([given.transpose()], {
      outputs: [{ shape: [50, 20], dtype: 'float32' }, { shape: [count], dtype: 'bool' }], grid: count, block: 64,
      templates: { T: 'float32', FACTOR: 3, NEGATE }, initial: 0,
    });
    assert.deepEqual(y.toList(), given.transpose().multiply(factor).toList());
    assert.deepEqual(even.toList(), given.transpose().reshape([-1]).toList().map((value) => value % 2 === 0));
  }
  const wrong = new ArrayKernel(gpu, 'wrong', { outputs: ['y'], source: 'y[0] = nonsense;' });
  const call = { outputs: [{ shape: [1], dtype: 'float32' }], grid: 1, block: 1 };
  await assert.rejects(wrong.apply([], call), (error) => refused('INVALID_ARGUMENT')(error) && error.details.includes('nonsense'));
  await assert.rejects(own.apply([], call), refused('INVALID_ARGUMENT'));
  assert.throws(() => new ArrayKernel(new Device(0), 'scale', options), refused('UNSUPPORTED'));
});

test('fill and copy', async () => {
  const target = new engine.Buffer(gpu, 16);
  const pinned = new engine.Buffer(gpu, 16, { pinned: true });
  stream.fill(target, 7);
  stream.copy(target, b, 4, { targetOffset: 8 });
  stream.copy(pinned, target, 16);
  await stream.wait();
  const wanted = new Uint8Array(16).fill(7);
  wanted.set(new Uint8Array(Float32Array.of(0.25).buffer), 8);
  assert.deepEqual(await target.read(Uint8Array), wanted);
  assert.deepEqual(await pinned.read(Uint8Array), wanted);
});

test('mistakes', async () => {
  await assert.rejects(engine.Module.compile(gpu, 'nonsense', { name: 'wrong.hip' }), (error) => {
    return refused('INVALID_ARGUMENT')(error) && error.details.includes('error');
  });
  assert.throws(() => stream.launch(kernel, how, output(c)), /5 arguments/);
  assert.throws(() => stream.launch(kernel, how, 5), TypeError);
  await assert.rejects(a.write(new Uint8Array(4), 4 * count), refused('INVALID_ARGUMENT'));
  assert.throws(() => new engine.Stream(new Device(0)), refused('UNSUPPORTED'));
  assert.throws(() => new engine.Buffer(gpu, -1), refused('INVALID_ARGUMENT'));
});

test('memory, and closed buffers', async () => {
  const { active, limit } = gpu.memory;
  const large = new engine.Buffer(gpu, 1 << 20);
  assert.ok(gpu.memory.active >= active + (1 << 20));
  large.close();
  assert.equal(gpu.memory.active, active);
  gpu.trim();
  gpu.setMemoryLimit(limit);
  await assert.rejects(large.read(Uint8Array), /closed/);
  assert.throws(() => stream.launch(kernel, how, ...args(large, 2)), /closed/);
  // What is queued keeps its memory.
  const copy = new engine.Buffer(gpu, 4 * count);
  await copy.write(numbers(1));
  stream.launch(kernel, how, ...args(copy, 2));
  copy.close();
  await stream.wait();
  assert.deepEqual(await c.read(Float32Array), numbers(1.5));
});

test('arrays', async () => {
  const x = array([[1, 2], [3, 4]]).toDevice(gpu);
  assert.deepEqual(x.matmul(x).toList(), [[7, 10], [15, 22]]);
});
