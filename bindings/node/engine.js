// Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs.

import { Device } from './device.js';
import { constants } from './interface.js';
import {
  bytesOf, call, callAsync, filledText, info, invalid, make, makeAsync, native, Owned, sized, text, texts,
} from './library.js';

const WAIT_NS = 20_000_000;

/** Memory of a GPU, or (`pinned`) host memory that it can reach. */
export class Buffer extends Owned {
  #size;

  // `device` is a handle where an array gives its memory.
  constructor(device, size, { pinned = false } = {}) {
    super(typeof device === 'bigint' ? device : allocated(device, size, pinned), 'mlxrocm_buffer_free');
    this.#size = size ?? info('mlxrocm_buffer_info', 'mlxrocm_buffer_get_info', device).size;
  }

  /** Bytes. */
  get size() {
    return this.#size;
  }

  /** Copies a typed array to a byte offset, on another thread; it must not change meanwhile. */
  async write(elements, offset = 0) {
    const bytes = bytesOf(elements);
    await callAsync(this, 'mlxrocm_buffer_write', this.handle, offset, bytes, bytes.length);
  }

  /** Fills a typed array, this one or a new one of a class, from a byte offset. It does not wait for queued work. */
  async read(into, offset = 0) {
    const elements = typeof into === 'function' ? new into((this.#size - offset) / into.BYTES_PER_ELEMENT) : into;
    const bytes = bytesOf(elements);
    await callAsync(this, 'mlxrocm_buffer_read', this.handle, offset, bytes, bytes.length);
    return elements;
  }
}

function allocated(device, size, pinned) {
  const kind = pinned ? constants.BUFFER_PINNED : constants.BUFFER_DEVICE;
  if (!Number.isSafeInteger(size) || size < 0) throw invalid(`a buffer has a number of bytes, not ${String(size)}`);
  return make('mlxrocm_buffer_new', device.handle, kind, size);
}

const handleOf = (buffer) => {
  if (!(buffer instanceof Buffer)) throw new TypeError(`a kernel takes a Buffer, not ${String(buffer)}`);
  return buffer.handle;
};

/** Arguments of kernels: buffers that they read, write or both, from a byte offset on, and numbers. */
export const input = (buffer, offset = 0) => native('mlxrocm_arg_input')(handleOf(buffer), offset);
export const output = (buffer, offset = 0) => native('mlxrocm_arg_output')(handleOf(buffer), offset);
export const both = (buffer, offset = 0) => native('mlxrocm_arg_buffer')(handleOf(buffer), offset);
export const u32 = (value) => native('mlxrocm_arg_u32')(value);
export const i32 = (value) => native('mlxrocm_arg_i32')(value);
export const f32 = (value) => native('mlxrocm_arg_f32')(value);
export const u64 = (value) => native('mlxrocm_arg_u64')(value);
export const i64 = (value) => native('mlxrocm_arg_i64')(value);
export const f64 = (value) => native('mlxrocm_arg_f64')(value);

/** A function that a GPU runs. */
export class Kernel extends Owned {
  /** One of the library's own, like "mlxrocm_vector_add_f32"; what it takes is in the comment of its source. */
  static ofLibrary(device, name) {
    return new Kernel(make('mlxrocm_device_get_kernel', device.handle, ...text(name, 'the name')), 'mlxrocm_kernel_free');
  }

  get info() {
    return info('mlxrocm_kernel_info', 'mlxrocm_kernel_get_info', this.handle);
  }
}

/** Code on a GPU. */
export class Module extends Owned {
  /** Compiles a source in HIP's language, on another thread; an error's `details` are the compiler's log. */
  static async compile(device, source, { flags = [], name = 'kernel source' } = {}) {
    if (!(device instanceof Device)) throw new TypeError(`a module is compiled for a Device, not for ${String(device)}`);
    const options = sized('mlxrocm_compile_options');
    [options.flags, options.flag_lengths, options.flag_count] = texts(flags, 'a flag');
    [options.name, options.name_length] = text(name, 'the name');
    const given = [device.handle, ...text(source, 'the source'), options];
    return new Module(await makeAsync(device, 'mlxrocm_module_compile', ...given), 'mlxrocm_module_free');
  }

  /** Code that was compiled for the device, as bytes: an ELF code object (AMD), a cubin or PTX (NVIDIA). */
  static async load(device, code) {
    const bytes = bytesOf(code);
    const handle = await makeAsync(device, 'mlxrocm_module_load', device.handle, bytes, bytes.length);
    return new Module(handle, 'mlxrocm_module_free');
  }

  kernel(name) {
    const handle = make('mlxrocm_module_get_kernel', this.handle, ...text(name, 'the name'));
    return new Kernel(handle, 'mlxrocm_kernel_free');
  }
}

/** `grid`, `block`: x, y and z, or x. An argument is what `input` … `f64` give, or a Buffer (read and written). */
function launch(name, owner, kernel, { grid, block, dynamicLds = 0 }, args) {
  const three = (sizes) => Array.from({ length: 3 }, (_, i) => [].concat(sizes)[i] ?? 1);
  const made = args.map((arg) => (arg instanceof Buffer ? both(arg) : arg));
  for (const arg of made) {
    if (typeof arg?.kind === 'number') continue;
    throw new TypeError(`an argument is a Buffer or one of u32(5) …, not ${String(arg)}`);
  }
  const how = sized('mlxrocm_launch', {
    dynamic_lds: dynamicLds, grid: three(grid), block: three(block), args: made, arg_count: made.length,
  });
  call(name, owner.handle, kernel.handle, how);
}

/** Waits a while at a time, or until `signal` ends the waiting. */
async function waits(owner, name, signal) {
  for (;;) {
    signal?.throwIfAborted();
    try {
      await callAsync(owner, name, owner.handle, WAIT_NS);
      return;
    } catch (error) {
      if (error.code !== 'TIMEOUT') throw error;
    }
  }
}

/** A mark in a stream's queue: `stream.record(event)`. */
export class Event extends Owned {
  constructor(device) {
    super(make('mlxrocm_gpu_event_new', device.handle), 'mlxrocm_gpu_event_free');
  }

  /** Whether the work before the mark is done. */
  get done() {
    return call('mlxrocm_gpu_event_query', this.handle) === constants.OK;
  }

  /** Waits until the work before the mark is done, or until `signal` (AbortSignal) ends the waiting. */
  wait({ signal } = {}) {
    return waits(this, 'mlxrocm_gpu_event_wait', signal);
  }

  /** The GPU's time between two marks that it has passed, in milliseconds. */
  millisecondsSince(earlier) {
    const time = new Float64Array(1);
    call('mlxrocm_gpu_event_elapsed', earlier.handle, this.handle, time);
    return time[0];
  }
}

/** A queue of work that a GPU does in order. What fails while it runs comes out of the next wait. */
export class Stream extends Owned {
  constructor(device) {
    super(make('mlxrocm_stream_new', device.handle), 'mlxrocm_stream_free');
  }

  launch(kernel, how, ...args) {
    launch('mlxrocm_stream_launch', this, kernel, how, args);
  }

  copy(target, source, size, { targetOffset = 0, sourceOffset = 0 } = {}) {
    call('mlxrocm_stream_copy', this.handle, handleOf(target), targetOffset, handleOf(source), sourceOffset, size);
  }

  fill(buffer, value, { offset = 0, size = buffer.size - offset } = {}) {
    call('mlxrocm_stream_fill', this.handle, handleOf(buffer), offset, size, value);
  }

  /** Queues a write of a typed array, whose elements are taken at once. */
  write(buffer, elements, offset = 0) {
    const bytes = bytesOf(elements);
    call('mlxrocm_stream_write', this.handle, handleOf(buffer), offset, bytes, bytes.length);
  }

  /** Fills a typed array, this one or a new one of a class, after the work that is queued. */
  async read(buffer, into, offset = 0) {
    const elements = typeof into === 'function' ? new into((buffer.size - offset) / into.BYTES_PER_ELEMENT) : into;
    const bytes = bytesOf(elements);
    const given = [this.handle, handleOf(buffer), offset, bytes, bytes.length];
    await callAsync([this, buffer], 'mlxrocm_stream_read', ...given);
    return elements;
  }

  /** Marks this point of the queue; an earlier mark of the event is forgotten. */
  record(event) {
    call('mlxrocm_stream_record', this.handle, event.handle);
  }

  /** What is queued from now on starts after the work before the event's mark, on whatever stream that was. */
  waitFor(event) {
    call('mlxrocm_stream_wait_for', this.handle, event.handle);
  }

  /** Whether all queued work is done. A fault of it is kept for the next wait. */
  get done() {
    return call('mlxrocm_stream_query', this.handle) === constants.OK;
  }

  run(program) {
    call('mlxrocm_program_run', program.handle, this.handle);
  }

  /** Waits for all queued work, or until `signal` (AbortSignal) ends the waiting; the work goes on then. */
  wait({ signal } = {}) {
    return waits(this, 'mlxrocm_stream_wait', signal);
  }
}

const modes = { [constants.PROGRAM_DIRECT]: 'direct', [constants.PROGRAM_GRAPH]: 'graph' };
const reasons = {
  [constants.REASON_SETTING]: 'setting', [constants.REASON_COMPARED]: 'compared',
  [constants.REASON_NOT_COMPARED]: 'not compared', [constants.REASON_NOT_BUILT]: 'not built',
};

/** Launches that are recorded once, ordered by what each reads and writes, and run often. */
export class Program extends Owned {
  constructor(device) {
    super(make('mlxrocm_program_new', device.handle), 'mlxrocm_program_free');
  }

  launch(kernel, how, ...args) {
    launch('mlxrocm_program_launch', this, kernel, how, args);
  }

  copy(target, source, size, { targetOffset = 0, sourceOffset = 0 } = {}) {
    call('mlxrocm_program_copy', this.handle, handleOf(target), targetOffset, handleOf(source), sourceOffset, size);
  }

  fill(buffer, value, { offset = 0, size = buffer.size - offset } = {}) {
    call('mlxrocm_program_fill', this.handle, handleOf(buffer), offset, size, value);
  }

  /** What is recorded after this runs after all that was before. */
  barrier() {
    call('mlxrocm_program_barrier', this.handle);
  }

  /** Ends the recording; from then on it can be run. */
  end() {
    call('mlxrocm_program_end', this.handle);
  }

  /** Facts under the names of mlxrocm_program_info; `mode` is 'direct' or 'graph'. */
  get info() {
    const facts = info('mlxrocm_program_info', 'mlxrocm_program_get_info', this.handle);
    return { ...facts, mode: modes[facts.mode], reason: reasons[facts.reason] };
  }

  /** How the next run goes, and why. */
  explain() {
    return filledText('mlxrocm_program_explain', this.handle);
  }
}
