import * as chess from './chess.js';
import * as engine from './engine.js';
import { Owned } from './library.js';
import * as operations from './operations.js';
import type { Methods } from './operations.js';
import type { ArrayLikeOfNumbers } from './session.js';

export { MlxrocmError } from './library.js';
export * from './session.js';
export { chess, engine, operations };

export type Dtype =
  | 'bool' | 'uint8' | 'uint16' | 'uint32' | 'uint64' | 'int8' | 'int16' | 'int32' | 'int64'
  | 'float16' | 'float32' | 'float64' | 'bfloat16' | 'complex64';
export type Nested = number | bigint | boolean | Nested[];
export type Elements =
  | Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Int8Array | Int16Array | Int32Array | BigInt64Array
  | Float32Array | Float64Array;
export type ArrayLike = NDArray | Nested | Elements;

/** The library's constants without MLXROCM_. */
export const constants: Readonly<Record<string, number | bigint>>;

export function version(): string;
/** One line about how the library was built, for bug reports. */
export function buildInfo(): string;
export function deviceCount(): number;
export function whyNoGpu(kind: 'hip' | 'cuda'): string;

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
/** Sends the process' log lines of a level and more severe ones to a function; null restores the default. */
export function setLog(level: LogLevel, hear: ((level: LogLevel, message: string) => void) | null): void;

export interface NDArray extends Methods {}
export class NDArray extends Owned {
  private constructor();
  readonly dtype: Dtype;
  readonly shape: number[];
  readonly size: number;
  data(): Promise<Elements>;
  dataSync(): Elements;
  toDevice(device: Device): NDArray;
  toStream(stream: engine.Stream): NDArray;
  /** An array in a GPU's memory from a byte on, not a copy: nothing may write it as long as arrays see it. */
  static fromBuffer(buffer: engine.Buffer, shape: number[], dtype: Dtype, offset?: number): NDArray;
  /** The memory of a GPU in which the elements lie, to be read, and the byte at which they begin. */
  buffer(stream?: engine.Stream | null): { buffer: engine.Buffer; offset: number };
  toList(): unknown;
  item(): number | bigint | boolean;
  toString(): string;
}
export function array(value: ArrayLike, options?: { dtype?: Dtype; shape?: number[] }): NDArray;
export function evaluate(...arrays: NDArray[]): Promise<void>;

export type Metadata = string | string[] | NDArray;
/** The arrays and the metadata of a safetensors or GGUF file. */
export function loadArrays(path: string): Promise<{ arrays: Record<string, NDArray>; metadata: Record<string, Metadata> }>;
/** The file is there whole or not at all. */
export function saveSafetensors(
  path: string, arrays: Record<string, ArrayLike>, metadata?: Record<string, string>,
): Promise<void>;
export function saveGguf(path: string, arrays: Record<string, ArrayLike>, metadata?: Record<string, string>): Promise<void>;

/** A kernel of one's own on arrays, on a GPU: the body of a function in HIP's language. */
export class ArrayKernel extends Owned {
  constructor(
    device: Device, name: string,
    options: { inputs?: string[]; outputs: string[]; source: string; header?: string | null; strided?: boolean },
  );
  apply(
    inputs: ArrayLike[],
    options: {
      outputs: { shape: number[]; dtype: Dtype }[];
      /** Work items in all, and of a block: in x, or x, y and z. */
      grid: number | number[];
      block: number | number[];
      templates?: Record<string, Dtype | number | boolean>;
      initial?: number | null;
    },
  ): Promise<NDArray[]>;
}

export class Device extends Owned {
  constructor(index: number);
  readonly info: Record<string, string | number>;
  /** A GPU's counters, in bytes. */
  readonly memory: Record<string, number>;
  setMemoryLimit(bytes: number): void;
  resetPeakMemory(): void;
  setGraphs(when: 'auto' | 'on' | 'off'): void;
  /** SELFTEST_FAILED if the GPU computes wrong results. */
  selftest(
    options?: { report?: ((line: string) => void) | null; quick?: boolean; measure?: boolean; seed?: number | bigint },
  ): Promise<void>;
  trim(): void;
}

export interface Message {
  role: string;
  content: string;
}

export type Progress = (done: number, total: number) => void;

export class Model extends Owned {
  private constructor();
  static load(
    path: string,
    options?: { device?: Device | null; threads?: number; gpuWeightBytes?: number | bigint; progress?: Progress | null },
  ): Promise<Model>;
  readonly info: Record<string, string | number>;
  readonly tokenizer: Tokenizer;
  readonly chatTemplate: ChatTemplate;
  renderChat(messages: Message[], extra?: object): string;
}

export class ChatTemplate extends Owned {
  private constructor();
  static compile(source: string, options?: { bos?: string; eos?: string }): ChatTemplate;
  readonly source: string;
  render(messages: Message[], extra?: object, options?: { generationPrompt?: boolean }): string;
}

export interface TensorInfo {
  name: string;
  /** As the file spells it: "Q4_K", "BF16", "U32" ... */
  format: string;
  /** Outermost first. */
  shape: number[];
  bytes: number;
}
export function listTensors(path: string): Promise<TensorInfo[]>;

/** Makes a folder in MLX's format of a model of 16- or 32-bit floats, as mlx-lm does. */
export function quantize(
  source: string,
  destination: string,
  options?: {
    bits?: number;
    groupSize?: number;
    mode?: 'affine' | 'mxfp4' | 'mxfp8' | 'nvfp4' | null;
    recipe?: string | null;
    dtype?: 'float16' | 'bfloat16' | 'float32' | null;
    /** What modules become, like "*.v_proj=6". */
    rules?: string[];
    threads?: number;
    progress?: Progress | null;
  },
): Promise<{ files: number; parameters: number; bytes: number; resumedBytes: number }>;

export class Tokenizer extends Owned {
  private constructor();
  readonly info: { vocabSize: number; bos: number | null; eos: number | null };
  /** The token of exactly this spelling, or null. */
  find(spelling: string): number | null;
  isSpecial(token: number): boolean;
  /** Maybe a part of a character. */
  tokenBytes(token: number): Uint8Array;
  encode(text: string, options?: { addSpecial?: boolean; parseSpecial?: boolean }): Uint32Array;
  decode(tokens: ArrayLikeOfNumbers, options?: { skipSpecial?: boolean }): string;
}
