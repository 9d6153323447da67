// Devices.

import { call, info, invalid, make, Owned } from './library.js';

/** Devices of this machine: the CPU, then GPUs. */
export function deviceCount() {
  const count = new BigUint64Array(1);
  call('mlxrocm_device_count', count);
  return Number(count[0]);
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
}
