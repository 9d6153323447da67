// Opens the library and calls it.

import koffi from 'koffi';
import { constants, errors, functions, structs } from './interface.js';

// The library's own calls need more than the 128 KiB that asynchronous calls have otherwise.
koffi.config({ sync_stack_size: 8 << 20, async_stack_size: 8 << 20 });

const types = {};
for (const [name, { size, fields }] of Object.entries(structs)) {
  const members = {};
  for (const [field, [, kind]] of Object.entries(fields)) {
    members[field] = Array.isArray(kind) ? koffi.array(kind[1], kind[2]) : kind;
  }
  types[name] = koffi.struct(name, members);
  if (koffi.sizeof(types[name]) !== size) throw new Error(`${name} is not laid out as the library has it`);
}

function passed(kind) {
  const [direction, name] = kind.split(' ');
  if (direction === 'in') return koffi.pointer(types[name]);
  return direction === 'inout' ? koffi.inout(koffi.pointer(types[name])) : kind;
}

const path = process.env.MLXROCM_LIBRARY || 'libmlxrocm.so.0';
const library = koffi.load(path);
const bound = {};

/** The C function, bound when it is first used. */
export function native(name) {
  bound[name] ??= library.func(name, passed(functions[name][0]), functions[name][1].map(passed));
  return bound[name];
}

/** A failed call. `code` is like "INVALID_FILE", `status` the library's number. */
export class MlxrocmError extends Error {
  constructor(status, message, details = '', vendorCode = 0) {
    super(message);
    this.name = 'MlxrocmError';
    this.status = status;
    this.code = errors[status] ?? `STATUS_${status}`;
    this.details = details;
    this.vendorCode = vendorCode;
  }
}

export function invalid(message) {
  return new MlxrocmError(constants.ERROR_INVALID_ARGUMENT, message);
}

function checked(status, place) {
  if (status >= 0) return status;
  try {
    return raise(status, place[0]);
  } finally {
    native('mlxrocm_error_free')(place[0]);
  }
}

function raise(status, error) {
  const [message, details] = [said('mlxrocm_error_message', error), said('mlxrocm_error_details', error)];
  throw new MlxrocmError(status, message, details, native('mlxrocm_error_vendor_code')(error));
}

/** Calls a function that can fail with the arguments and a place for its error; throws that. */
export function call(name, ...args) {
  const place = new BigUint64Array(1);
  return checked(native(name)(...args, place), place);
}

// What calls on other threads need, so that it is not collected meanwhile.
const needed = new Set();

/** The same on another thread; `keep` is what the addresses in the arguments belong to. */
export function callAsync(keep, name, ...args) {
  const place = new BigUint64Array(1);
  const needs = { keep, args };
  needed.add(needs);
  return new Promise((resolve, reject) => {
    native(name).async(...args, place, (failure, status) => {
      needed.delete(needs);
      try {
        if (failure) throw failure;
        resolve(checked(status, place));
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** A call that makes an object: its address. */
export function make(name, ...args) {
  const place = new BigUint64Array(1);
  call(name, ...args, place);
  return place[0];
}

export async function makeAsync(keep, name, ...args) {
  const place = new BigUint64Array(1);
  await callAsync(keep, name, ...args, place);
  return place[0];
}

/** A struct that a function fills, without its size. */
export function info(struct, name, ...args) {
  const facts = sized(struct);
  call(name, ...args, facts);
  delete facts.struct_size;
  // A string has its own length.
  for (const key of Object.keys(facts)) {
    const length = facts[`${key}_length`];
    if (length === undefined) continue;
    facts[key] = stringAt(facts[key], length);
    delete facts[`${key}_length`];
  }
  for (const key of Object.keys(facts)) if (typeof facts[key] === 'bigint') facts[key] = Number(facts[key]);
  return facts;
}

/** All fields of a struct at zero, but its size. */
export function sized(struct, values = {}) {
  const made = {};
  for (const [name, [, kind]] of Object.entries(structs[struct].fields)) {
    made[name] = Array.isArray(kind) ? new Array(kind[2]).fill(0) : /\*|str/.test(kind) ? null : 0;
  }
  made.struct_size = structs[struct].size;
  return Object.assign(made, values);
}

/** Measures, then fills: a typed array. */
export function filled(Kind, name, ...args) {
  const length = new BigUint64Array(1);
  call(name, ...args, null, 0, length);
  const elements = new Kind(Number(length[0]));
  if (elements.length > 0) call(name, ...args, elements, elements.length, length);
  return elements;
}

/** The same, filled on another thread: measuring takes no time. */
export async function filledAsync(Kind, keep, name, ...args) {
  const length = new BigUint64Array(1);
  call(name, ...args, null, 0, length);
  const elements = new Kind(Number(length[0]));
  if (elements.length > 0) await callAsync(keep, name, ...args, elements, elements.length, length);
  return elements;
}

export function filledText(name, ...args) {
  const bytes = filled(Uint8Array, name, ...args);
  return Buffer.from(bytes.buffer, 0, Math.max(bytes.length - 1, 0)).toString('utf8');
}

/** UTF-8 and how many bytes, which C functions take for a text: it may hold NULs. Null is none. */
export function text(value, what = 'the text') {
  if (value === null) return [null, 0];
  if (typeof value !== 'string') throw new TypeError(`${what} is a string, not ${typeof value}`);
  // Of an empty buffer there would be no address.
  const bytes = Buffer.from(`${value}\0`);
  return [bytes, bytes.length - 1];
}

/** The same of a list: addresses, lengths, and how many. */
export function texts(values, what = 'a text') {
  const pairs = Array.from(values, (value) => text(value, what));
  const addresses = new BigUint64Array(Math.max(pairs.length, 1));
  pairs.forEach(([bytes], i) => (addresses[i] = koffi.address(bytes)));
  // They live as long as their addresses are used.
  addresses.texts = pairs;
  return [addresses, BigUint64Array.from(pairs.length ? pairs : [[null, 0]], ([, length]) => BigInt(length)), pairs.length];
}

export function stringAt(address, length) {
  return address === null || Number(length) === 0 ? '' : koffi.decode.string(address, Number(length));
}

/** A text that a function returns and keeps; null if it has none. */
export function said(name, ...args) {
  const length = new BigUint64Array(1);
  const address = native(name)(...args, length);
  return address === null ? null : stringAt(address, length[0]);
}

/** An integer from 0 that so many bits hold. */
export function unsigned(value, name, bits = 32) {
  if (bits === 64 && typeof value === 'bigint' && value >= 0n && value < 1n << 64n) return value;
  if (Number.isSafeInteger(value) && value >= 0 && value < 2 ** bits) return value;
  throw invalid(`${name} is an integer from 0 that ${bits} bits hold, not ${value}`);
}

/** The number of a name that an option has. */
export function numberOf(table, value, name) {
  if (Object.hasOwn(table, value)) return table[value];
  throw invalid(`${name} is one of ${Object.keys(table).join(', ')}, not ${value}`);
}

/** A typed array's bytes. */
export function bytesOf(elements) {
  if (!ArrayBuffer.isView(elements)) throw new TypeError(`a typed array, not ${String(elements)}`);
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}

const reports = koffi.pointer(koffi.proto('int32_t mlxrocm_progress(uint64_t done, uint64_t total, void *data)'));

/**
 * Runs `work` with a callback for C that calls `progress(done, total)`, or with null. What that throws ends the work and
 * comes out here.
 */
export async function reporting(progress, work) {
  let thrown = null;
  const hears = progress && callback(reports, (done, total) => {
    try {
      progress(Number(done), Number(total));
      return 0;
    } catch (error) {
      thrown = { error };
      return 1;
    }
  });
  try {
    return await work(hears);
  } catch (error) {
    throw thrown ? thrown.error : error;
  } finally {
    if (hears) released(hears);
  }
}

/** Memory of the library as an ArrayBuffer, for as long as it is lent. */
export const viewOf = (address, bytes) => koffi.view(address, bytes);

export function structsAt(address, struct, count) {
  return count === 0 ? [] : koffi.decode(address, types[struct], count);
}

export function numbersAt(address, kind, count) {
  return count === 0 ? [] : Array.from(koffi.decode(address, kind, count), Number);
}

/** A C function that calls a JavaScript one on the main thread, until `released`. */
export const callback = (type, run) => koffi.register(run, type);
export const prototype = (declaration) => koffi.pointer(koffi.proto(declaration));
export const released = (address) => koffi.unregister(address);

const forgotten = new FinalizationRegistry(release);

function release({ handle, free, manner }) {
  if (manner?.waits) native(free).async(handle, () => {});
  else native(free)(handle);
}

/** An owned handle: freed by close(), or by the garbage collector some time after the last use. */
export class Owned {
  #handle;
  #release;

  // With `manner.waits` it is freed on another thread, as that may wait for a thread that waits for the event loop.
  constructor(handle, free, manner = null) {
    this.#handle = handle;
    this.#release = { handle, free, manner };
    forgotten.register(this, this.#release, this);
  }

  /** The address of the C object. */
  get handle() {
    if (this.#handle === null) throw invalid(`this ${this.constructor.name} is closed`);
    return this.#handle;
  }

  get closed() {
    return this.#handle === null;
  }

  /** Frees the object; what was made from it goes on working. */
  close() {
    if (this.#handle === null) return;
    this.#handle = null;
    forgotten.unregister(this);
    release(this.#release);
  }
}
if (Symbol.dispose) {
  Owned.prototype[Symbol.dispose] = function () {
    this.close();
  };
}
