// Devices, the log of the process, and what the library says about itself.

import { constants } from './interface.js';
import {
  call, callAsync, callback, filledText, info, invalid, make, numberOf, Owned, prototype, released, said, sized, stringAt,
  unsigned,
} from './library.js';

/** The library's version, like "0.1.0". */
export const version = () => said('mlxrocm_version_string');

/** One line about how the library was built, for bug reports. */
export const buildInfo = () => said('mlxrocm_build_info');

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

const lines = prototype('void mlxrocm_log_line(uint32_t level, void *message, size_t length, void *data)');
const levels = ['', 'error', 'warn', 'info', 'debug'];
let hears = null;
// One for all time: a call on another thread may still wait for the main one.
let line = null;

/**
 * Sends the process' log lines of a level ('error' to 'debug') and more severe ones to a function; null restores the
 * default. A call on another thread waits with its line for the event loop.
 */
export function setLog(level, hear) {
  line ??= callback(lines, (number, message, length) => {
    hears?.(levels[number] ?? String(number), stringAt(message, length));
  });
  call('mlxrocm_log_set_callback', Math.max(levels.indexOf(level), 0), hear ? line : null, null, null);
  hears = hear;
}

const graphs = { auto: constants.GRAPHS_AUTO, on: constants.GRAPHS_ON, off: constants.GRAPHS_OFF };
const reportLines = prototype('int32_t mlxrocm_report_line(void *line, size_t length, void *data)');

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

  /** Sets the counter `peak` to what is in use now. */
  resetPeakMemory() {
    call('mlxrocm_device_reset_peak_memory', this.handle);
  }

  /** When programs run as graphs on a GPU: 'auto' (where these were found right and faster), 'on' or 'off'. */
  setGraphs(when) {
    call('mlxrocm_device_set_graphs', this.handle, numberOf(graphs, when, 'graphs'));
  }

  /**
   * Compares the built-in kernels of a GPU with plain forms, on another thread; SELFTEST_FAILED if it computes wrong
   * results. `report(line)` hears a text to attach to a bug; what it throws ends the test and comes out here.
   */
  async selftest({ report = null, quick = false, measure = true, seed = 0 } = {}) {
    let thrown = null;
    const hears = report && callback(reportLines, (line, length) => {
      try {
        report(stringAt(line, length));
        return 0;
      } catch (error) {
        thrown = { error };
        return 1;
      }
    });
    const flags = (quick ? constants.SELFTEST_QUICK : 0) | (measure ? 0 : constants.SELFTEST_NO_MEASUREMENTS);
    const options = sized('mlxrocm_selftest_options', { flags, seed: unsigned(seed, 'seed', 64), report: hears });
    try {
      await callAsync(this, 'mlxrocm_device_selftest', this.handle, options);
    } catch (error) {
      throw thrown ? thrown.error : error;
    } finally {
      if (hears) released(hears);
    }
  }

  /** Gives a GPU's freed memory back to the driver. */
  trim() {
    call('mlxrocm_device_trim', this.handle);
  }
}
