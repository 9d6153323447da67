// Kernels of one's own on a GPU.

import type { Device } from './index.js';
import { Owned } from './library.js';

export class Buffer extends Owned {
  constructor(device: Device, size: number, options?: { pinned?: boolean });
  readonly size: number;
  write(elements: ArrayBufferView, offset?: number): Promise<void>;
  read<T extends ArrayBufferView>(into: T | ElementsClass<T>, offset?: number): Promise<T>;
}
export type ElementsClass<T> = { new (length: number): T; readonly BYTES_PER_ELEMENT: number };

/** An argument of a kernel; a Buffer is one too, which is read and written. */
export interface Argument {
  readonly kind: number;
}
export function input(buffer: Buffer, offset?: number): Argument;
export function output(buffer: Buffer, offset?: number): Argument;
export function both(buffer: Buffer, offset?: number): Argument;
export function u32(value: number): Argument;
export function i32(value: number): Argument;
export function f32(value: number): Argument;
export function u64(value: number | bigint): Argument;
export function i64(value: number | bigint): Argument;
export function f64(value: number): Argument;

export class Module extends Owned {
  private constructor();
  static compile(device: Device, source: string, options?: { flags?: string[]; name?: string }): Promise<Module>;
  /** Code that was compiled for the device: an ELF code object (AMD), a cubin or PTX (NVIDIA). */
  static load(device: Device, code: ArrayBufferView): Promise<Module>;
  kernel(name: string): Kernel;
}
export class Kernel extends Owned {
  private constructor();
  /** One of the library's own, like "mlxrocm_vector_add_f32". */
  static ofLibrary(device: Device, name: string): Kernel;
  readonly info: Record<string, string | number>;
}
/** Blocks, and work items of a block: in x, or x, y and z. */
export interface Launch {
  grid: number | number[];
  block: number | number[];
  dynamicLds?: number;
}
/** A mark in a stream's queue. */
export class Event extends Owned {
  constructor(device: Device);
  /** Whether the work before the mark is done. */
  readonly done: boolean;
  wait(options?: { signal?: AbortSignal }): Promise<void>;
  /** The GPU's time between two marks that it has passed. */
  millisecondsSince(earlier: Event): number;
}
export class Stream extends Owned {
  constructor(device: Device);
  launch(kernel: Kernel, how: Launch, ...args: (Argument | Buffer)[]): void;
  copy(target: Buffer, source: Buffer, size: number, options?: { targetOffset?: number; sourceOffset?: number }): void;
  fill(buffer: Buffer, value: number, options?: { offset?: number; size?: number }): void;
  /** Queues a write, whose elements are taken at once. */
  write(buffer: Buffer, elements: ArrayBufferView, offset?: number): void;
  /** Reads after the work that is queued. */
  read<T extends ArrayBufferView>(buffer: Buffer, into: T | ElementsClass<T>, offset?: number): Promise<T>;
  record(event: Event): void;
  /** What is queued from now on starts after the work before the event's mark. */
  waitFor(event: Event): void;
  /** Whether all queued work is done. */
  readonly done: boolean;
  run(program: Program): void;
  wait(options?: { signal?: AbortSignal }): Promise<void>;
}
export class Program extends Owned {
  constructor(device: Device);
  launch(kernel: Kernel, how: Launch, ...args: (Argument | Buffer)[]): void;
  copy(target: Buffer, source: Buffer, size: number, options?: { targetOffset?: number; sourceOffset?: number }): void;
  fill(buffer: Buffer, value: number, options?: { offset?: number; size?: number }): void;
  /** What is recorded after this runs after all that was before. */
  barrier(): void;
  end(): void;
  readonly info: Record<string, string | number>;
  explain(): string;
}
