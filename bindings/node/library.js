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
  throw new MlxrocmError(
    status,
    native('mlxrocm_error_message')(error, null),
    native('mlxrocm_error_details')(error, null),
    native('mlxrocm_error_vendor_code')(error),
  );
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
  for (const key of Object.keys(facts)) if (typeof facts[key] === 'string') delete facts[`${key}_length`];
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

export function filledText(name, ...args) {
  const bytes = filled(Uint8Array, name, ...args);
  return Buffer.from(bytes.buffer, 0, Math.max(bytes.length - 1, 0)).toString('utf8');
}

/** C cannot see what follows a NUL inside. */
export function text(value, what = 'the text') {
  if (typeof value !== 'string') throw new TypeError(`${what} is a string, not ${typeof value}`);
  if (value.includes('\0')) throw invalid(`${what} holds a NUL character, which C cannot pass on: take it out`);
  return value;
}

export function stringAt(address, length) {
  return length === 0 ? '' : koffi.decode.string(address, Number(length));
}

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

const forgotten = new FinalizationRegistry(({ handle, free }) => native(free)(handle));

/** An owned handle: freed by close(), or by the garbage collector some time after the last use. */
export class Owned {
  #handle;
  #free;

  constructor(handle, free) {
    this.#handle = handle;
    this.#free = free;
    forgotten.register(this, { handle, free }, this);
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
    const handle = this.#handle;
    this.#handle = null;
    forgotten.unregister(this);
    native(this.#free)(handle);
  }
}
if (Symbol.dispose) {
  Owned.prototype[Symbol.dispose] = function () {
    this.close();
  };
}
