// Sessions: requests in, generations out.

import { Generation } from './generation.js';
import { constants } from './interface.js';
import {
  bytesOf, callAsync, filled, filledAsync, info, invalid, make, numberOf, Owned, sized, text, unsigned,
} from './library.js';
import { ids } from './request.js';

const kvTypes = { f16: constants.KV_F16, q8: constants.KV_Q8, q4: constants.KV_Q4 };
const poolings = {
  none: constants.POOLING_NONE, mean: constants.POOLING_MEAN, cls: constants.POOLING_CLS, last: constants.POOLING_LAST,
};

/** Several requests at once over one KV cache. */
export class Session extends Owned {
  // Whether freeing it, or a generation, may wait for the event loop.
  #manner;

  constructor(model, { context = 0, maxRequests = 0, prefillChunk = 0, kvTokens = 0, kvType = 'f16',
    batchInvariant = false, promptLookup = false, draftModel = null } = {}) {
    const options = sized('mlxrocm_session_options', {
      context: unsigned(context, 'context'),
      max_requests: unsigned(maxRequests, 'maxRequests'),
      prefill_chunk: unsigned(prefillChunk, 'prefillChunk'),
      kv_tokens: unsigned(kvTokens, 'kvTokens', 64),
      kv_type: numberOf(kvTypes, kvType, 'kvType'),
      batch_invariant: batchInvariant ? 1 : 0,
      prompt_lookup: promptLookup ? 1 : 0,
      draft_model: draftModel?.handle ?? null,
    });
    const manner = { waits: false };
    super(make('mlxrocm_session_new', model.handle, options), 'mlxrocm_session_free', manner);
    this.#manner = manner;
  }

  get info() {
    return info('mlxrocm_session_info', 'mlxrocm_session_get_info', this.handle);
  }

  /** Queues a request (a text, tokens, or messages) and returns at once. `signal` (AbortSignal) cancels it. */
  submit(prompt, options = {}) {
    return Generation.of('mlxrocm_session_submit', this.handle, this.#manner, prompt, options);
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

  /**
   * Raw logits, a row for each token: row i is about the token that follows the first i + 1. With `positions`, which rise,
   * only their rows, which takes less memory and time; negative ones count from the end.
   */
  async logits(tokens, { positions } = {}) {
    const list = ids(tokens, 'a token');
    if (positions === undefined) return this.#rows('mlxrocm_session_logits', list, list.length);
    const places = positionsOf(positions, list.length);
    return this.#rows('mlxrocm_session_logits_at', list, list.length, places, places.length);
  }

  /**
   * The embedding of a text: hidden states after the final norm, pooled ('mean', 'cls': the first token, 'last'); 'none': a
   * row for each token, or for each of `positions`, which rise. `normalize` divides each row by its length.
   */
  async embed(tokens, { pooling = 'mean', normalize = true, positions } = {}) {
    const list = ids(tokens, 'a token');
    const options = sized('mlxrocm_embed_options', {
      pooling: numberOf(poolings, pooling, 'pooling'), flags: normalize ? constants.EMBED_NORMALIZE : 0,
    });
    if (positions !== undefined) {
      options.positions = positionsOf(positions, list.length);
      options.position_count = options.positions.length;
    }
    return this.#rows('mlxrocm_session_embed', list, list.length, options);
  }

  /**
   * What was computed of tokens, as bytes, to go on after them without running them again: in another session of the same
   * model, device and kvType too, also in another process.
   */
  async saveState(tokens) {
    const list = ids(tokens, 'a token');
    return filledAsync(Uint8Array, this, 'mlxrocm_session_save_state', this.handle, list, list.length);
  }

  /** `saveState` to a file, which is there whole or not at all. */
  async saveStateFile(tokens, path) {
    const list = ids(tokens, 'a token');
    const place = text(path, 'the path');
    await callAsync(this, 'mlxrocm_session_save_state_file', this.handle, list, list.length, ...place);
  }

  /** Keeps a state for prompts that begin with its tokens. Load only those of whom you would let write the prompt. */
  async loadState(state) {
    const bytes = bytesOf(state);
    await callAsync(this, 'mlxrocm_session_load_state', this.handle, bytes, bytes.length);
  }

  /** `loadState` from a file. */
  async loadStateFile(path) {
    await callAsync(this, 'mlxrocm_session_load_state_file', this.handle, ...text(path, 'the path'));
  }

  #rows(name, ...args) {
    return filledAsync(Float32Array, this, name, this.handle, ...args);
  }
}

/** The tokens of a saved state. */
export function stateTokens(state) {
  const bytes = bytesOf(state);
  return filled(Uint32Array, 'mlxrocm_state_get_tokens', bytes, bytes.length);
}

function positionsOf(positions, count) {
  const places = Array.from(positions, (place) => (place < 0 ? place + count : place));
  // To the library no positions are the last one, or all.
  if (places.length === 0 || !places.every((place) => Number.isInteger(place) && place >= 0 && place < count)) {
    throw invalid(`positions are some of ${count} tokens, not [${positions}]`);
  }
  return Uint32Array.from(places);
}
