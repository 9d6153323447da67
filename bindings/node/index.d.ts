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
}

export interface Message {
  role: string;
  content: string;
}

export class Model extends Owned {
  static load(path: string, options?: { device?: Device | null; threads?: number }): Promise<Model>;
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
