// Sessions and generations.

import type { Message, Model } from './index.js';
import { Owned } from './library.js';

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
  /** What the generated text must be, at most one: JSON that fits a JSON schema, */
  jsonSchema?: string | object | boolean;
  /** what a regular expression matches, all of it, */
  regex?: string;
  /** what the rule `start` of a grammar in Lark's notation derives. See mlxrocm_request. */
  grammar?: string;
  /**
   * Called before each token is chosen with the tokens so far and the logits of the next one, which it changes in place.
   * What it throws ends the generation and comes out of it.
   */
  logitsProcessor?: (tokens: Uint32Array, logits: Float32Array) => void;
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
  /** Tokens that were guessed, and of these the right ones: each saved a step. */
  guessedTokens: number;
  acceptedTokens: number;
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
      /** Next tokens are guessed from what followed the same few earlier: the same text, sooner where guesses are right. */
      promptLookup?: boolean;
      /** A smaller model with the same tokens that guesses. */
      draftModel?: Model;
    },
  );
  readonly info: Record<string, number>;
  submit(prompt: Prompt, options?: Request): Generation;
  chat(messages: string | Message[] | Chat, options?: Request): Generation;
  batch(prompts: Prompt[], options?: Request): Promise<string[]>;
  /** A row for each token, or for each of `positions`, which rise; negative ones count from the end. */
  logits(tokens: ArrayLikeOfNumbers, options?: { positions?: ArrayLikeOfNumbers }): Promise<Float32Array>;
  /** The embedding of a text, usually the mean of its hidden states at length 1; 'none': a row for each token or position. */
  embed(
    tokens: ArrayLikeOfNumbers,
    options?: { pooling?: 'mean' | 'cls' | 'last' | 'none'; normalize?: boolean; positions?: ArrayLikeOfNumbers },
  ): Promise<Float32Array>;
  /** What was computed of tokens, to go on after them in another session of the model, also in another process. */
  saveState(tokens: ArrayLikeOfNumbers): Promise<Uint8Array>;
  /** The file is there whole or not at all. */
  saveStateFile(tokens: ArrayLikeOfNumbers, path: string): Promise<void>;
  /** Load only states of those whom you would let write the prompt. */
  loadState(state: Uint8Array): Promise<void>;
  loadStateFile(path: string): Promise<void>;
}
/** The tokens of a saved state. */
export function stateTokens(state: Uint8Array): Uint32Array;

export class Generation extends Owned implements AsyncIterable<Event> {
  readonly finished: Finished | null;
  cancel(): void;
  next(): Promise<Event | null>;
  /** Goes on after the tokens whose events were taken, beside this one, which may have ended. */
  fork(options?: Request): Promise<Generation>;
  texts(): AsyncGenerator<string>;
  text(): Promise<string>;
  [Symbol.asyncIterator](): AsyncGenerator<Event>;
}

/** One that has an event; null when all have given out their last one. */
export function waitAny(generations: Generation[], options?: { signal?: AbortSignal }): Promise<Generation | null>;
