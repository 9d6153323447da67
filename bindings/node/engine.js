// Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs.

import { Device } from './device.js';
import { constants } from './interface.js';
import { call, callAsync, filledText, info, invalid, make, makeAsync, native, Owned, sized, text } from './library.js';

const WAIT_NS = 20_000_000;

function bytesOf(elements) {
  if (!ArrayBuffer.isView(elements)) throw new TypeError(`a typed array, not ${String(elements)}`);
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}

/** Memory of a GPU, or (`pinned`) host memory that it can reach. */
export class Buffer extends Owned {
  #size;

  constructor(device, size, { pinned = false } = {}) {
    const kind = pinned ? constants.BUFFER_PINNED : constants.BUFFER_DEVICE;
    if (!Number.isSafeInteger(size) || size < 0) throw invalid(`a buffer has a number of bytes, not ${String(size)}`);
    super(make('mlxrocm_buffer_new', device.handle, kind, size), 'mlxrocm_buffer_free');
    this.#size = size;
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
  get info() {
    return info('mlxrocm_kernel_info', 'mlxrocm_kernel_get_info', this.handle);
  }
}

/** Code on a GPU. */
export class Module extends Owned {
  /** Compiles a source in HIP's language, on another thread; an error's `details` are the compiler's log. */
  static async compile(device, source, { flags = [], name = 'kernel source' } = {}) {
    if (!(device instanceof Device)) throw new TypeError(`a module is compiled for a Device, not for ${String(device)}`);
    const options = sized('mlxrocm_compile_options', {
      flags: flags.map((flag) => text(flag, 'a flag')), flag_count: flags.length, name: text(name, 'the name'),
    });
    const source_ = text(source, 'the source');
    return new Module(
      await makeAsync(device, 'mlxrocm_module_compile', device.handle, source_, constants.NUL, options),
      'mlxrocm_module_free',
    );
  }

  kernel(name) {
    const handle = make('mlxrocm_module_get_kernel', this.handle, text(name, 'the name'), constants.NUL);
    return new Kernel(handle, 'mlxrocm_kernel_free');
  }
}

/** `grid`, `block`: x, y and z, or x. An argument is what `input` … `f64` give, or a Buffer (read and written). */
function launch(name, owner, kernel, { grid, block, dynamicLds = 0 }, args) {
  const three = (sizes) => Array.from({ length: 3 }, (_, i) => [].concat(sizes)[i] ?? 1);
  const made = args.map((arg) => (arg instanceof Buffer ? both(arg) : arg));
  for (const arg of made) {
    if (typeof arg?.kind !== 'number') throw new TypeError(`an argument is a Buffer or one of u32(5) …, not ${String(arg)}`);
  }
  const how = sized('mlxrocm_launch', {
    dynamic_lds: dynamicLds, grid: three(grid), block: three(block), args: made, arg_count: made.length,
  });
  call(name, owner.handle, kernel.handle, how);
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

  run(program) {
    call('mlxrocm_program_run', program.handle, this.handle);
  }

  /** Waits for all queued work, or until `signal` (AbortSignal) ends the waiting; the work goes on then. */
  async wait({ signal } = {}) {
    for (;;) {
      signal?.throwIfAborted();
      try {
        await callAsync(this, 'mlxrocm_stream_wait', this.handle, WAIT_NS);
        return;
      } catch (error) {
        if (error.code !== 'TIMEOUT') throw error;
      }
    }
  }
}

/** Launches that are recorded once, ordered by what each reads and writes, and run often. */
export class Program extends Owned {
  constructor(device) {
    super(make('mlxrocm_program_new', device.handle), 'mlxrocm_program_free');
  }

  launch(kernel, how, ...args) {
    launch('mlxrocm_program_launch', this, kernel, how, args);
  }

  /** Ends the recording; from then on it can be run. */
  end() {
    call('mlxrocm_program_end', this.handle);
  }

  /** How the next run goes, and why. */
  explain() {
    return filledText('mlxrocm_program_explain', this.handle);
  }
}
