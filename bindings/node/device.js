// Devices, and the log of the process.

import { constants } from './interface.js';
import { call, callback, filledText, info, invalid, make, Owned, prototype } from './library.js';

/** Devices of this machine: the CPU, then GPUs. */
export function deviceCount() {
  const count = new BigUint64Array(1);
  call('mlxrocm_device_count', count);
  return Number(count[0]);
}

/** Why there is no GPU of a kind, 'hip' or 'cuda', and what to do about it; '' if there is one. */
export function whyNoGpu(kind) {
  return filledText('mlxrocm_device_why_none', { hip: constants.DEVICE_HIP, cuda: constants.DEVICE_CUDA }[kind] ?? 0);
}

const lines = prototype('void mlxrocm_log_line(uint32_t level, const char *message, size_t length, void *data)');
const levels = ['', 'error', 'warn', 'info', 'debug'];
let hears = null;
// One for all time: a call on another thread may still wait for the main one.
let line = null;

/**
 * Sends the process' log lines of a level ('error' to 'debug') and more severe ones to a function; null restores the
 * default. A call on another thread waits with its line for the event loop.
 */
export function setLog(level, hear) {
  line ??= callback(lines, (number, message) => hears?.(levels[number] ?? String(number), message));
  call('mlxrocm_log_set_callback', Math.max(levels.indexOf(level), 0), hear ? line : null, null, null);
  hears = hear;
}

/** An open device: 0 is the CPU, GPUs follow from 1. */
export class Device extends Owned {
  constructor(index) {
    if (!Number.isInteger(index) || index < 0) throw invalid(`there is no device ${index}: the CPU is 0, GPUs follow`);
    super(make('mlxrocm_device_open', index), 'mlxrocm_device_free');
  }

  get info() {
    return info('mlxrocm_device_info', 'mlxrocm_device_get_info', this.handle);
  }
  /** A GPU's counters, in bytes. */
  get memory() {
    return info('mlxrocm_device_memory', 'mlxrocm_device_get_memory', this.handle);
  }

  /** Sets the most memory of a GPU that this process uses through the library. */
  setMemoryLimit(bytes) {
    call('mlxrocm_device_set_memory_limit', this.handle, bytes);
  }

  /** Gives a GPU's freed memory back to the driver. */
  trim() {
    call('mlxrocm_device_trim', this.handle);
  }
}
