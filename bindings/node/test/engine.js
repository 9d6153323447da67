// A kernel of one's own, and arrays, on the first GPU: run by test.sh with the software GPU, or by hand with a real one.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { array, Device, engine, MlxrocmError, whyNoGpu } from 'mlxrocm';

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
