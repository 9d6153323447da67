import * as operations from './operations.js';
import type { Methods } from './operations.js';

export { operations };

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

/** A failed call. `code` is like "INVALID_FILE". */
export class MlxrocmError extends Error {
  readonly status: number;
  readonly code: string;
  /** The long form, like a compiler's log, or "". */
  readonly details: string;
  readonly vendorCode: number;
}

export function version(): string;
export function deviceCount(): number;
export function whyNoGpu(kind: 'hip' | 'cuda'): string;

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
/** Sends the process' log lines of a level and more severe ones to a function; null restores the default. */
export function setLog(level: LogLevel, hear: ((level: LogLevel, message: string) => void) | null): void;

declare class Owned {
  readonly handle: bigint;
  readonly closed: boolean;
  close(): void;
}

export interface NDArray extends Methods {}
export class NDArray extends Owned {
  readonly dtype: Dtype;
  readonly shape: number[];
  readonly size: number;
  data(): Promise<Elements>;
  dataSync(): Elements;
  toDevice(device: Device): NDArray;
  toList(): unknown;
  item(): number | bigint | boolean;
  toString(): string;
}
export function array(value: ArrayLike, options?: { dtype?: Dtype; shape?: number[] }): NDArray;
export function evaluate(...arrays: NDArray[]): Promise<void>;

export class Device extends Owned {
  constructor(index: number);
  readonly info: Record<string, string | number>;
  /** A GPU's counters, in bytes. */
  readonly memory: Record<string, number>;
  setMemoryLimit(bytes: number): void;
  trim(): void;
}

/** Kernels of one's own on a GPU. */
export namespace engine {
  class Buffer extends Owned {
    constructor(device: Device, size: number, options?: { pinned?: boolean });
    readonly size: number;
    write(elements: ArrayBufferView, offset?: number): Promise<void>;
    read<T extends ArrayBufferView>(into: T | ElementsClass<T>, offset?: number): Promise<T>;
  }
  type ElementsClass<T> = { new (length: number): T; readonly BYTES_PER_ELEMENT: number };

  /** An argument of a kernel; a Buffer is one too, which is read and written. */
  interface Argument {
    readonly kind: number;
  }
  function input(buffer: Buffer, offset?: number): Argument;
  function output(buffer: Buffer, offset?: number): Argument;
  function both(buffer: Buffer, offset?: number): Argument;
  function u32(value: number): Argument;
  function i32(value: number): Argument;
  function f32(value: number): Argument;
  function u64(value: number | bigint): Argument;
  function i64(value: number | bigint): Argument;
  function f64(value: number): Argument;

  class Module extends Owned {
    private constructor();
    static compile(device: Device, source: string, options?: { flags?: string[]; name?: string }): Promise<Module>;
    kernel(name: string): Kernel;
  }
  class Kernel extends Owned {
    private constructor();
    readonly info: Record<string, string | number>;
  }
  /** Blocks, and work items of a block: in x, or x, y and z. */
  interface Launch {
    grid: number | number[];
    block: number | number[];
    dynamicLds?: number;
  }
  class Stream extends Owned {
    constructor(device: Device);
    launch(kernel: Kernel, how: Launch, ...args: (Argument | Buffer)[]): void;
    copy(target: Buffer, source: Buffer, size: number, options?: { targetOffset?: number; sourceOffset?: number }): void;
    fill(buffer: Buffer, value: number, options?: { offset?: number; size?: number }): void;
    run(program: Program): void;
    wait(options?: { signal?: AbortSignal }): Promise<void>;
  }
  class Program extends Owned {
    constructor(device: Device);
    launch(kernel: Kernel, how: Launch, ...args: (Argument | Buffer)[]): void;
    end(): void;
    explain(): string;
  }
}

export interface Message {
  role: string;
  content: string;
}

export class Model extends Owned {
  static load(
    path: string,
    options?: { device?: Device | null; threads?: number; progress?: ((done: number, total: number) => void) | null },
  ): Promise<Model>;
  readonly info: Record<string, string | number>;
  readonly tokenizer: Tokenizer;
  renderChat(messages: Message[], extra?: object): string;
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

export class Tokenizer extends Owned {
  encode(text: string, options?: { addSpecial?: boolean; parseSpecial?: boolean }): Uint32Array;
  decode(tokens: ArrayLikeOfNumbers, options?: { skipSpecial?: boolean }): string;
}
export type ArrayLikeOfNumbers = number[] | Uint32Array;

/** A chat in the form of OpenAI's API; other members are variables of the chat template. */
export interface Chat {
  messages: object[];
  tools?: object[];
  [variable: string]: unknown;
}

export type Prompt = string | ArrayLikeOfNumbers | Message[] | Chat;

/** How to continue a prompt. Zero is each default: greedy, until the model stops. */
export interface Request {
  maxTokens?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  penaltyWindow?: number;
  seed?: number | bigint;
  stop?: string[];
  stopTokens?: number[];
  logitBias?: Map<number, number>;
  logprobs?: number;
  ignoreEos?: boolean;
  signal?: AbortSignal;
}

export type Event =
  | { type: 'prompt'; text: ''; done: number; total: number }
  | { type: 'token'; text: string; token: number; logprob?: number; top?: { token: number; logprob: number }[] }
  | Finished;

export interface Finished {
  type: 'finished';
  text: string;
  reason: string;
  promptTokens: number;
  cachedTokens: number;
  generatedTokens: number;
  promptSeconds: number;
  decodeSeconds: number;
}

export class Session extends Owned {
  constructor(
    model: Model,
    options?: {
      context?: number;
      maxRequests?: number;
      prefillChunk?: number;
      kvTokens?: number;
      kvType?: 'f16' | 'q8' | 'q4';
      /** What a request gives never depends on what runs beside it, on GPUs too. */
      batchInvariant?: boolean;
    },
  );
  readonly info: Record<string, number>;
  submit(prompt: Prompt, options?: Request): Generation;
  chat(messages: string | Message[] | Chat, options?: Request): Generation;
  batch(prompts: Prompt[], options?: Request): Promise<string[]>;
  logits(tokens: ArrayLikeOfNumbers): Promise<Float32Array>;
}

export class Generation extends Owned implements AsyncIterable<Event> {
  readonly finished: Finished | null;
  cancel(): void;
  next(): Promise<Event | null>;
  texts(): AsyncGenerator<string>;
  text(): Promise<string>;
  [Symbol.asyncIterator](): AsyncGenerator<Event>;
}
