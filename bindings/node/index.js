// mlxrocm: quantized language models and lazy arrays.

import { constants } from './interface.js';
import {
  call, callAsync, callback, filled, filledText, info, invalid, make, makeAsync, MlxrocmError, native, numbersAt, Owned,
  prototype, released, sized, stringAt, structsAt, text,
} from './library.js';
import * as operations from './operations.js';

export { array, evaluate, NDArray } from './array.js';
export { Device, deviceCount, setLog, whyNoGpu } from './device.js';
export * as engine from './engine.js';
export { constants, MlxrocmError, operations };

/** The library's version, like "0.1.0". */
export const version = () => native('mlxrocm_version_string')(null);

const reports = prototype('int32_t mlxrocm_progress(uint64_t done, uint64_t total, void *data)');

/** A loaded model, immutable. */
export class Model extends Owned {
  /**
   * Loads a GGUF file or an MLX folder on another thread. `progress(done, total)` hears bytes; what it throws ends
   * loading and comes out here.
   */
  static async load(path, { device = null, threads = 0, progress = null } = {}) {
    let thrown = null;
    const hears = progress && callback(reports, (done, total) => {
      try {
        progress(Number(done), Number(total));
        return 0;
      } catch (error) {
        thrown = { error };
        return 1;
      }
    });
    const options = sized('mlxrocm_model_options', { threads, device: device?.handle ?? null, progress: hears });
    try {
      return new Model(await makeAsync(device, 'mlxrocm_model_load', text(path, 'the path'), constants.NUL, options), 'mlxrocm_model_free');
    } catch (error) {
      throw thrown ? thrown.error : error;
    } finally {
      if (hears) released(hears);
    }
  }

  get info() {
    return info('mlxrocm_model_info', 'mlxrocm_model_get_info', this.handle);
  }

  get tokenizer() {
    return new Tokenizer(make('mlxrocm_model_get_tokenizer', this.handle), 'mlxrocm_tokenizer_free');
  }

  /** A chat as the text of a prompt that the model answers; encode it with parseSpecial. */
  renderChat(messages, extra = {}) {
    const template = make('mlxrocm_model_get_chat_template', this.handle);
    try {
      const flags = constants.RENDER_GENERATION_PROMPT;
      const structs = chat(messages);
      return filledText('mlxrocm_chat_template_render', template, structs, structs.length, flags, JSON.stringify(extra), constants.NUL);
    } finally {
      native('mlxrocm_chat_template_free')(template);
    }
  }
}

/**
 * The tensors of a GGUF file, a safetensors file or a model folder, in its order. Nothing is loaded: models that do not run
 * here can be looked at.
 */
export async function listTensors(path) {
  const file = await makeAsync(null, 'mlxrocm_model_file_open', text(path, 'the path'), constants.NUL);
  try {
    return Array.from({ length: Number(native('mlxrocm_model_file_tensor_count')(file)) }, (_, index) => {
      const facts = sized('mlxrocm_tensor_info');
      call('mlxrocm_model_file_get_tensor', file, index, facts);
      const shape = numbersAt(facts.shape, 'int64_t', facts.rank);
      return { name: facts.name, format: facts.format, shape, bytes: Number(facts.bytes) };
    });
  } finally {
    native('mlxrocm_model_file_free')(file);
  }
}

/** A model's tokenizer, immutable. */
export class Tokenizer extends Owned {
  /** Tokens of a text. `parseSpecial` reads spelled-out special tokens: not for text of strangers. */
  encode(string, { addSpecial = false, parseSpecial = false } = {}) {
    const bytes = Buffer.from(string);
    const flags = (addSpecial ? constants.ENCODE_ADD_SPECIAL : 0) | (parseSpecial ? constants.ENCODE_PARSE_SPECIAL : 0);
    return filled(Uint32Array, 'mlxrocm_tokenizer_encode', this.handle, bytes, bytes.length, flags);
  }

  decode(tokens, { skipSpecial = false } = {}) {
    const flags = skipSpecial ? constants.DECODE_SKIP_SPECIAL : 0;
    return filledText('mlxrocm_tokenizer_decode', this.handle, Uint32Array.from(tokens), tokens.length, flags);
  }
}

const kvTypes = { f16: constants.KV_F16, q8: constants.KV_Q8, q4: constants.KV_Q4 };
const reasons = {
  [constants.FINISH_STOP_TOKEN]: 'stop_token',
  [constants.FINISH_STOP_STRING]: 'stop_string',
  [constants.FINISH_LENGTH]: 'length',
  [constants.FINISH_CONTEXT]: 'context',
  [constants.FINISH_CANCELLED]: 'cancelled',
};

function chat(messages) {
  return messages.map(({ role, content }) => ({ role: text(role, 'a role'), content: text(content, 'a message') }));
}

function unsigned(value, name, bits = 32) {
  if (bits === 64 && typeof value === 'bigint' && value >= 0n && value < 1n << 64n) return value;
  if (Number.isSafeInteger(value) && value >= 0 && value < 2 ** bits) return value;
  throw invalid(`${name} is an integer from 0 that ${bits} bits hold, not ${value}`);
}

const ids = (tokens, name) => Uint32Array.from(tokens, (token) => unsigned(token, name));

function request(prompt, options) {
  const made = sized('mlxrocm_request');
  if (typeof prompt === 'string') made.text = text(prompt, 'the prompt');
  else if (ArrayBuffer.isView(prompt) || typeof prompt[0] === 'number') made.tokens = ids(prompt, 'a token');
  else if (Array.isArray(prompt)) made.messages = chat(prompt);
  else made.chat_json = text(JSON.stringify(prompt), 'the chat');
  made.token_count = made.tokens?.length ?? 0;
  made.message_count = made.messages?.length ?? 0;
  for (const [name, field] of Object.entries({
    maxTokens: 'max_tokens', topK: 'top_k', penaltyWindow: 'penalty_window', logprobs: 'logprobs',
  })) made[field] = unsigned(options[name] ?? 0, name);
  made.seed = unsigned(options.seed ?? 0, 'seed', 64);
  for (const [name, field] of Object.entries({
    temperature: 'temperature', topP: 'top_p', minP: 'min_p', repetitionPenalty: 'repetition_penalty',
    presencePenalty: 'presence_penalty', frequencyPenalty: 'frequency_penalty',
  })) made[field] = Number(options[name] ?? 0);
  made.flags = options.ignoreEos ? constants.REQUEST_IGNORE_EOS : 0;
  made.stop = (options.stop ?? []).map((string) => text(string, 'a stop string'));
  made.stop_count = made.stop.length;
  made.stop_tokens = ids(options.stopTokens ?? [], 'a stop token');
  made.stop_token_count = made.stop_tokens.length;
  const biases = [...(options.logitBias ?? new Map()).entries()];
  made.bias_tokens = ids(biases.map(([token]) => token), 'a token');
  made.bias_values = Float32Array.from(biases, ([, value]) => value);
  made.bias_count = biases.length;
  return made;
}

/** Several requests at once over one KV cache. */
export class Session extends Owned {
  constructor(model, { context = 0, maxRequests = 0, prefillChunk = 0, kvTokens = 0, kvType = 'f16',
    batchInvariant = false } = {}) {
    if (!(kvType in kvTypes)) throw invalid(`kvType is one of ${Object.keys(kvTypes).join(', ')}, not ${kvType}`);
    const options = sized('mlxrocm_session_options', {
      context: unsigned(context, 'context'),
      max_requests: unsigned(maxRequests, 'maxRequests'),
      prefill_chunk: unsigned(prefillChunk, 'prefillChunk'),
      kv_tokens: unsigned(kvTokens, 'kvTokens', 64),
      kv_type: kvTypes[kvType],
      batch_invariant: batchInvariant ? 1 : 0,
    });
    super(make('mlxrocm_session_new', model.handle, options), 'mlxrocm_session_free');
  }

  get info() {
    return info('mlxrocm_session_info', 'mlxrocm_session_get_info', this.handle);
  }

  /** Queues a request (a text, tokens, or messages) and returns at once. `signal` (AbortSignal) cancels it. */
  submit(prompt, { signal, ...options } = {}) {
    signal?.throwIfAborted();
    return new Generation(make('mlxrocm_session_submit', this.handle, request(prompt, options)), signal);
  }

  /** Lets the model answer a chat; a string is one message of the user. */
  chat(messages, options = {}) {
    return this.submit(typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages, options);
  }

  /** Runs all prompts at once: their texts in order. If one fails, the others are cancelled. */
  async batch(prompts, options = {}) {
    const generations = [];
    try {
      for (const prompt of prompts) generations.push(this.submit(prompt, options));
      return await Promise.all(generations.map((generation) => generation.text()));
    } finally {
      for (const generation of generations) generation.close();
    }
  }

  /** Raw logits, a row for each token: row i is about the token that follows the first i + 1. */
  async logits(tokens) {
    const list = ids(tokens, 'a token');
    const needed = new BigUint64Array(1);
    call('mlxrocm_session_logits', this.handle, list, list.length, null, 0, needed);
    const logits = new Float32Array(Number(needed[0]));
    await callAsync(this, 'mlxrocm_session_logits', this.handle, list, list.length, logits, logits.length, needed);
    return logits;
  }
}

// A wait takes one of the process' few worker threads: not for longer than this.
const WAIT_NS = 20_000_000;

/** A running request: an async iterable of events. Leaving the loop cancels it. */
export class Generation extends Owned {
  #signal;
  #abort;
  #last = Promise.resolve();
  finished = null;

  constructor(handle, signal) {
    super(handle, 'mlxrocm_generation_free');
    this.#signal = signal;
    const self = new WeakRef(this);
    this.#abort = () => self.deref()?.cancel();
    signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Ends the generation soon; its last event still comes. */
  cancel() {
    if (!this.closed) call('mlxrocm_generation_cancel', this.handle);
  }

  close() {
    this.#signal?.removeEventListener('abort', this.#abort);
    super.close();
  }

  /** The next event, or null after the last one. Calls follow each other. */
  next() {
    const turn = this.#last.then(() => this.#next());
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #next() {
    const struct = sized('mlxrocm_event');
    let status = call('mlxrocm_generation_next', this.handle, 0, struct);
    while (status === constants.PENDING) {
      status = await callAsync(this, 'mlxrocm_generation_next', this.handle, WAIT_NS, struct);
    }
    return status === constants.END ? null : this.#event(struct);
  }

  // At once, as the next call makes what it points to invalid.
  #event(struct) {
    if (struct.kind === constants.EVENT_PROMPT) {
      return { type: 'prompt', text: '', done: Number(struct.prompt_done), total: Number(struct.prompt_total) };
    }
    const piece = stringAt(struct.text, struct.text_length);
    if (struct.kind === constants.EVENT_TOKEN) {
      const top = structsAt(struct.top, 'mlxrocm_token_logprob', Number(struct.top_count));
      const event = { type: 'token', text: piece, token: struct.token };
      return top.length ? { ...event, logprob: struct.logprob, top } : event;
    }
    this.#signal?.removeEventListener('abort', this.#abort);
    if (struct.finish_reason === constants.FINISH_ERROR) throw new MlxrocmError(struct.error_status, struct.error_message);
    if (struct.finish_reason === constants.FINISH_CANCELLED) this.#signal?.throwIfAborted();
    this.finished = {
      type: 'finished',
      text: piece,
      reason: reasons[struct.finish_reason] ?? String(struct.finish_reason),
      promptTokens: Number(struct.prompt_tokens),
      cachedTokens: Number(struct.cached_tokens),
      generatedTokens: Number(struct.generated_tokens),
      promptSeconds: struct.prompt_seconds,
      decodeSeconds: struct.decode_seconds,
    };
    return this.finished;
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (let event = await this.next(); event !== null; event = await this.next()) yield event;
    } finally {
      if (!this.finished) this.cancel();
    }
  }

  /** The pieces of the text as they become complete. */
  async *texts() {
    for await (const event of this) if (event.text) yield event.text;
  }

  /** Waits for the end: all text that is still to come. */
  async text() {
    let all = '';
    for await (const piece of this.texts()) all += piece;
    return all;
  }
}
