// Lazy arrays, and what operations turn their arguments into.

import { Device } from './device.js';
import { Buffer as Memory, Stream } from './engine.js';
import { constants } from './interface.js';
import { call, callAsync, filled, invalid, make, native, Owned } from './library.js';

// Name, number, bytes of an element, and the typed array that holds it.
const table = [
  ['bool', constants.DTYPE_BOOL, 1, Uint8Array],
  ['uint8', constants.DTYPE_UINT8, 1, Uint8Array],
  ['uint16', constants.DTYPE_UINT16, 2, Uint16Array],
  ['uint32', constants.DTYPE_UINT32, 4, Uint32Array],
  ['uint64', constants.DTYPE_UINT64, 8, BigUint64Array],
  ['int8', constants.DTYPE_INT8, 1, Int8Array],
  ['int16', constants.DTYPE_INT16, 2, Int16Array],
  ['int32', constants.DTYPE_INT32, 4, Int32Array],
  ['int64', constants.DTYPE_INT64, 8, BigInt64Array],
  ['float16', constants.DTYPE_FLOAT16, 2, null],
  ['float32', constants.DTYPE_FLOAT32, 4, Float32Array],
  ['float64', constants.DTYPE_FLOAT64, 8, Float64Array],
  ['bfloat16', constants.DTYPE_BFLOAT16, 2, null],
  ['complex64', constants.DTYPE_COMPLEX64, 8, Float32Array],
];
const byName = new Map(table.map((row) => [row[0], row]));
const byNumber = new Map(table.map((row) => [row[1], row]));
const byTyped = new Map(table.filter((row) => !['bool', 'complex64'].includes(row[0])).map((row) => [row[3], row]));
byTyped.set(Uint8ClampedArray, byName.get('uint8'));
byTyped.set(Buffer, byName.get('uint8'));

// What an operation takes for the dtype that it finds itself.
export function dtypeOrNone(name) {
  return name == null ? -1 : dtypeNumber(name);
}

export function dtypeNumber(name) {
  const row = byName.get(name);
  if (!row) throw new TypeError(`a dtype is one of ${[...byName.keys()].join(', ')}, not ${String(name)}`);
  return row[1];
}

/** An n-dimensional array. Operations are lazy; arrays never change. Make one with `array()`. */
export class NDArray extends Owned {
  constructor(handle) {
    super(handle, 'mlxrocm_array_free');
  }

  get dtype() {
    return byNumber.get(native('mlxrocm_array_dtype')(this.handle))[0];
  }

  get shape() {
    return Array.from(filled(BigInt64Array, 'mlxrocm_array_shape', this.handle), Number);
  }

  get size() {
    return Number(native('mlxrocm_array_size')(this.handle));
  }

  /** The elements row after row as a typed array; halves become float32, truth values bytes, complex pairs. */
  async data() {
    const [source, elements] = this.#place();
    await callAsync(source, 'mlxrocm_array_read', source.handle, elements, elements.byteLength);
    return elements;
  }

  /** The same, on this thread. */
  dataSync() {
    const [source, elements] = this.#place();
    call('mlxrocm_array_read', source.handle, elements, elements.byteLength);
    return elements;
  }

  #place() {
    const half = byName.get(this.dtype)[3] === null;
    const source = half ? one('mlxrocm_array_astype', this, constants.DTYPE_FLOAT32) : this;
    const [, , bytes, Kind] = byName.get(source.dtype);
    return [source, new Kind((source.size * bytes) / Kind.BYTES_PER_ELEMENT)];
  }

  /** The array on a device: what is computed of it is computed there. Lazy; reading works wherever it is. */
  toDevice(device) {
    if (!(device instanceof Device)) throw new TypeError(`an array moves to a Device, not to ${String(device)}`);
    return one('mlxrocm_array_to_device', this, device.handle);
  }

  /** The array on a stream of a GPU: what is computed of it is queued there. Lazy; reading works wherever it is. */
  toStream(stream) {
    if (!(stream instanceof Stream)) throw new TypeError(`an array moves to a Stream, not to ${String(stream)}`);
    return one('mlxrocm_array_to_stream', this, stream.handle);
  }

  /**
   * An array in a GPU's memory, a part of a buffer from a byte on, not a copy: nothing may write it as long as arrays see
   * it.
   */
  static fromBuffer(buffer, shape, dtype, offset = 0) {
    return one('mlxrocm_array_from_buffer', buffer.handle, offset, ...ints(shape), dtypeNumber(dtype));
  }

  /**
   * The memory of a GPU in which the elements lie row after row, to be read (`engine.input(buffer, offset)`), and the byte
   * at which they begin: there for work that is queued on `stream` from now on, or without one when this returns.
   */
  buffer(stream = null) {
    const [memory, offset] = [new BigUint64Array(1), new BigUint64Array(1)];
    call('mlxrocm_array_buffer', this.handle, stream?.handle ?? null, memory, offset);
    return { buffer: new Memory(memory[0]), offset: Number(offset[0]) };
  }

  /** The elements as nested lists of numbers (BigInts for 64-bit integers, booleans for truth values). */
  toList() {
    const dtype = this.dtype;
    let values = Array.from(this.dataSync());
    if (dtype === 'bool') values = values.map(Boolean);
    if (dtype === 'complex64') values = values.flatMap((v, i) => (i % 2 ? [] : [[v, values[i + 1]]]));
    const nest = (shape, from, step) => {
      if (shape.length === 0) return values[from];
      const inner = shape[0] ? step / shape[0] : 0;
      return Array.from({ length: shape[0] }, (_, i) => nest(shape.slice(1), from + i * inner, inner));
    };
    return nest(this.shape, 0, values.length);
  }

  /** The only element. */
  item() {
    if (this.size !== 1) throw invalid(`item: an array of shape [${this.shape}] has ${this.size} elements, not one`);
    return this.shape.reduce((inner) => inner[0], this.toList());
  }

  toString() {
    return `array(${JSON.stringify(this.toList(), (_, v) => (typeof v === 'bigint' ? String(v) : v))}, ${this.dtype})`;
  }

  /** What console.log shows: of long arrays the shape only. */
  [Symbol.for('nodejs.util.inspect.custom')]() {
    return this.size > 1000 ? `array of shape [${this.shape.join(', ')}], ${this.dtype}` : this.toString();
  }
}

/** An array of a number, nested lists of numbers, or a typed array, which are copied. */
export function array(value, { dtype, shape } = {}) {
  if (value instanceof NDArray) {
    const same = !dtype || dtype === value.dtype;
    return same ? one('mlxrocm_array_clone', value) : one('mlxrocm_array_astype', value, dtypeNumber(dtype));
  }
  if (ArrayBuffer.isView(value)) {
    const row = byTyped.get(value.constructor);
    if (!row) throw new TypeError(`no dtype is like ${value.constructor.name}`);
    return converted(fromData(value, shape ?? [value.length], row[1]), dtype);
  }
  const sizes = [];
  for (let first = value; Array.isArray(first); first = first[0]) sizes.push(first.length);
  const numbers = [];
  flatten(value, sizes, 0, numbers);
  const kind = dtype ?? (numbers.length && numbers.every((n) => typeof n === 'boolean') ? 'bool' : 'float32');
  const Kind = byName.get(kind)?.[3];
  if (kind === 'complex64') throw new TypeError('complex64: give pairs in a Float32Array to view(x, "complex64")');
  if (!Kind) return dtypeNumber(kind) && converted(array(value, { shape }), kind);
  const big = Kind === BigInt64Array || Kind === BigUint64Array;
  const elements = Kind.from(numbers, big ? BigInt : Number);
  return fromData(elements, shape ?? sizes, dtypeNumber(kind));
}

function flatten(value, sizes, depth, numbers) {
  if (!Array.isArray(value)) {
    if (!['number', 'bigint', 'boolean'].includes(typeof value)) {
      throw new TypeError(`an array is made of numbers, not of ${typeof value}`);
    }
    if (depth !== sizes.length) throw invalid('nested lists of different depths are no array');
    numbers.push(value);
    return;
  }
  if (depth >= sizes.length || value.length !== sizes[depth]) {
    throw invalid('nested lists of different lengths are no array');
  }
  for (const item of value) flatten(item, sizes, depth + 1, numbers);
}

function fromData(elements, shape, dtype) {
  const count = shape.reduce((a, b) => a * b, 1);
  if (count !== elements.length || shape.some((n) => n < 0)) {
    throw invalid(`${elements.length} elements do not fill the shape [${shape}]`);
  }
  return new NDArray(make('mlxrocm_array_from_data', elements, ...ints(shape), dtype));
}

function converted(made, dtype) {
  return dtype && dtype !== made.dtype ? one('mlxrocm_array_astype', made, dtypeNumber(dtype)) : made;
}

/** Computes the elements of arrays, all of them in one go, on another thread. */
export async function evaluate(...arrays) {
  await callAsync(arrays, 'mlxrocm_array_eval', ...list(arrays));
}

/** An array of a value. A number takes the dtype of the array it meets, where that holds it. */
export function toArray(value, ...like) {
  if (value === null || value === undefined) return null;
  if (value instanceof NDArray) return value;
  const other = like.find((item) => item instanceof NDArray)?.dtype;
  if (typeof value === 'number' && other && other !== 'bool') {
    const real = other.includes('float') || other === 'complex64';
    if (other === 'complex64') return array(value);
    if (real || Number.isInteger(value)) return array(value, { dtype: other });
  }
  return array(value);
}

const handleOf = (value) => (value instanceof NDArray ? value.handle : value);

export function one(name, ...args) {
  return new NDArray(make(name, ...args.map(handleOf)));
}

export function tuple(count, name, ...args) {
  const places = Array.from({ length: count }, () => new BigUint64Array(1));
  call(name, ...args.map(handleOf), ...places);
  return places.map((place) => new NDArray(place[0]));
}

export function many(count, name, ...args) {
  if (!Number.isInteger(count) || count < 0 || count > 1 << 24) throw invalid(`${count} is no number of parts`);
  const places = new BigUint64Array(Math.max(count, 1));
  call(name, ...args.map(handleOf), places);
  return Array.from(places.subarray(0, count), (place) => new NDArray(place));
}

/** Addresses of arrays, and how many. Nothing is collected before a call on this thread returns. */
export function list(values) {
  const arrays = values.map((value) => toArray(value));
  const handles = BigUint64Array.from(arrays.length ? arrays.map(handleOf) : [0n]);
  return [handles, arrays.length];
}

export function ints(values) {
  if (values === null || values === undefined) return [null, 0];
  const numbers = typeof values === 'number' ? [values] : Array.from(values);
  // An empty list is not NULL.
  return [BigInt64Array.from(numbers.length ? numbers : [0], BigInt), numbers.length];
}

export const axisOrNone = (axis) => (axis === null || axis === undefined ? constants.AXIS_NONE : BigInt(axis));
