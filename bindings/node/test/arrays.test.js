// Arrays against plain loops.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { array, Device, evaluate, MlxrocmError, operations as mx } from 'mlxrocm';

const near = (found, wanted, tolerance = 1e-5) => {
  assert.equal(found.length, wanted.length);
  found.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) <= tolerance, `${i}: ${value}, not ${wanted[i]}`));
};
const refused = (code) => (error) => error instanceof MlxrocmError && error.code === code && error.message.length > 0;

test('typed arrays there and back', async () => {
  for (const values of [
    Uint8Array.of(0, 255), Uint16Array.of(1, 65535), Uint32Array.of(1, 2 ** 32 - 1), BigUint64Array.of(1n, 2n ** 64n - 1n),
    Int8Array.of(-128, 127), Int16Array.of(-5, 5), Int32Array.of(-(2 ** 31), 3), BigInt64Array.of(-(2n ** 63n), 3n),
    Float32Array.of(-1.5, 3), Float64Array.of(Math.PI, -1e300), new Float32Array(0),
  ]) {
    const x = array(values);
    assert.equal(`${x.dtype}array`, values.constructor.name.toLowerCase().replace('big', ''));
    assert.deepEqual(await x.data(), values);
    assert.deepEqual(x.dataSync(), values);
  }
  assert.deepEqual(array([[true, false]]).toList(), [[true, false]]);
  for (const half of ['float16', 'bfloat16']) assert.deepEqual(array([1.5, -2], { dtype: half }).toList(), [1.5, -2]);
  assert.deepEqual(array(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }).toList(), [[1, 2], [3, 4]]);
  assert.equal(array(7).item(), 7);
  assert.deepEqual(array([]).shape, [0]);
});

test('dtypes that an operation finds', () => {
  const x = array(new Float32Array(64), { shape: [1, 64] });
  assert.equal(mx.zerosLike(x).dtype, 'float32');
  assert.equal(mx.onesLike(x, 'int8').dtype, 'int8');
  const [codes, scales, biases] = mx.quantize(x, 64, 4);
  assert.equal(mx.dequantize(codes, scales, biases, 64, 4).dtype, 'float32');
  assert.equal(mx.dequantize(codes, scales, biases, 64, 4, 'affine', null, 'float16').dtype, 'float16');
});

test('products, reductions and softmax', async () => {
  const [rows, inner, columns] = [5, 7, 3];
  const a = Float32Array.from({ length: rows * inner }, () => Math.random() - 0.5);
  const b = Float32Array.from({ length: inner * columns }, () => Math.random() - 0.5);
  const product = array(a, { shape: [rows, inner] }).matmul(array(b, { shape: [inner, columns] }));
  assert.deepEqual(product.shape, [rows, columns]);
  const wanted = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += a[i * inner + k] * b[k * columns + j];
      wanted.push(sum);
    }
  }
  near(await product.data(), wanted);
  const row = (i) => wanted.slice(i * columns, (i + 1) * columns);
  near(await product.sum(-1).data(), Array.from({ length: rows }, (_, i) => row(i).reduce((x, y) => x + y)));
  near(await mx.mean(product).data(), [wanted.reduce((x, y) => x + y) / wanted.length]);
  const shares = wanted.map((value, i) => {
    const all = row(Math.floor(i / columns)).map(Math.exp);
    return Math.exp(value) / all.reduce((x, y) => x + y);
  });
  near(await product.softmax(-1).data(), shares);
});

test('numbers, lists, flags and several results', async () => {
  const x = array(Int32Array.of(5, 3, 1, 4, 2, 0), { shape: [2, 3] });
  assert.equal(x.add(1).dtype, 'int32');
  assert.equal(x.add(1.5).dtype, 'float32');
  assert.equal(mx.subtract(10, x).dtype, 'int32');
  assert.deepEqual(mx.subtract(10, x).toList(), [[5, 7, 9], [6, 8, 10]]);
  assert.deepEqual(mx.sort(x, null).toList(), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(x.transpose().toList(), [[5, 4], [3, 2], [1, 0]]);
  assert.deepEqual(x.reshape([3, -1]).shape, [3, 2]);
  const parts = mx.split(x, [1], 1);
  assert.deepEqual(parts.map((part) => part.shape), [[2, 1], [2, 2]]);
  assert.deepEqual(mx.concatenate([parts[1], parts[0]], 1).toList(), [[3, 1, 5], [2, 0, 4]]);
  assert.deepEqual(mx.clip(x, null, 3).toList(), [[3, 3, 1], [3, 2, 0]]);
  assert.deepEqual(mx.slice(x, [0, 2], [2, -4], [1, -2]).toList(), [[1, 5], [0, 4]]);
  const [quotient, remainder] = mx.divmod(x, 2);
  assert.deepEqual([quotient.toList(), remainder.toList()], [[[2, 1, 0], [2, 1, 0]], [[1, 1, 1], [0, 0, 0]]]);
  assert.deepEqual(mx.zeros([2], 'int8').toList(), [0, 0]);
  assert.equal(mx.sum(x).item(), 15);
  const made = [x.add(x), x.multiply(x)];
  await evaluate(...made);
  assert.deepEqual(made[1].toList(), [[25, 9, 1], [16, 4, 0]]);
  near(await mx.fftRfftn(array([1, 0, 0, 0]), null, null).abs().data(), [1, 1, 1]);
  near(await mx.linalgInv(array([[2, 0], [0, 4]])).data(), [0.5, 0, 0, 0.25]);
});

test('operations that take texts', async () => {
  const x = array([[1, 2], [3, 4]]);
  assert.deepEqual(mx.einsum('ij,kj->ik', [x, x]).toList(), [[5, 11], [11, 25]]);
  assert.equal(mx.linalgNormMatrix(x, 'fro').item(), Math.fround(Math.sqrt(30)));
  const ones = mx.ones([2, 64]);
  const codes = mx.quantize(ones, 32, 8);
  near(await mx.quantizedMatmul(ones, ...codes, true, 32, 8).data(), [64, 64, 64, 64], 1e-3);
  const folder = await mkdtemp(join(tmpdir(), 'mlxrocm-'));
  const path = join(folder, 'x.npy');
  mx.save(x, path);
  assert.deepEqual(mx.load(path).toList(), x.toList());
  await rm(folder, { recursive: true });
  assert.throws(() => mx.einsum('i->i\0', [x]), refused('INVALID_ARGUMENT'));
});

test('printing', () => {
  assert.equal(inspect({ x: array([1, 2]) }), '{ x: array([1,2], float32) }');
  assert.equal(inspect(mx.zeros([2, 1000])), 'array of shape [2, 1000], float32');
});

test('arrays move to a device', async () => {
  const cpu = new Device(0);
  const x = array([[1, 2], [3, 4]]);
  const moved = x.toDevice(cpu);
  cpu.close();
  assert.equal(moved.dtype, 'float32');
  assert.deepEqual(moved.toList(), [[1, 2], [3, 4]]);
  const square = moved.matmul(x).add(1);
  x.close();
  assert.deepEqual(await square.data(), Float32Array.of(8, 11, 16, 23));
  for (const wrong of [0, null, undefined, moved]) assert.throws(() => moved.toDevice(wrong), TypeError);
  assert.throws(() => moved.toDevice(cpu), refused('INVALID_ARGUMENT'));
});

test('mistakes are errors', () => {
  const x = array([1, 2, 3]);
  assert.throws(() => x.add(array([1, 2])), refused('INVALID_ARGUMENT'));
  assert.throws(() => x.add(null), refused('NULL_ARGUMENT'));
  assert.throws(() => array([[1], [1, 2]]), refused('INVALID_ARGUMENT'));
  assert.throws(() => array(Float32Array.of(1, 2), { shape: [3] }), refused('INVALID_ARGUMENT'));
  assert.throws(() => array('text'), TypeError);
  assert.throws(() => mx.zeros([2], 'float128'), TypeError);
  assert.throws(() => x.item(), refused('INVALID_ARGUMENT'));
  assert.throws(() => mx.splitParts(x, -1), refused('INVALID_ARGUMENT'));
  assert.throws(() => mx.reshape(x, [0.5]), RangeError);
  x.close();
  x.close();
  assert.throws(() => x.exp?.() ?? mx.exp(x), refused('INVALID_ARGUMENT'));
});

test('arrays that are forgotten are freed, and those in use are not', async () => {
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 100; i++) {
    const x = mx.full([1 << 20], 1, 'float32');
    if (i % 20 === 0) {
      const reading = x.add(i).data();
      globalThis.gc();
      const data = await reading;
      assert.equal(data[data.length - 1], 1 + i);
    } else {
      x.dataSync();
    }
    if (i % 10 === 0) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
  // 100 of them and their elements are 800 MB.
  assert.ok(process.memoryUsage().rss - before < 400e6, `${process.memoryUsage().rss - before} bytes more`);
});
