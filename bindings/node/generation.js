// Generations: the events of a request.

import { constants } from './interface.js';
import { call, callAsync, make, MlxrocmError, Owned, sized, stringAt, structsAt } from './library.js';
import { request } from './request.js';

const reasons = {
  [constants.FINISH_STOP_TOKEN]: 'stop_token',
  [constants.FINISH_STOP_STRING]: 'stop_string',
  [constants.FINISH_LENGTH]: 'length',
  [constants.FINISH_CONTEXT]: 'context',
  [constants.FINISH_CANCELLED]: 'cancelled',
  [constants.FINISH_GRAMMAR]: 'grammar',
};

// A wait takes one of the process' few worker threads: not for longer than this.
const WAIT_NS = 20_000_000;

/** A running request: an async iterable of events. Leaving the loop cancels it. */
export class Generation extends Owned {
  #signal;
  #abort;
  #last = Promise.resolve();
  #manner;
  #processor;
  finished = null;

  /** What a function makes of an object and a request. `manner` is the session's. */
  static of(name, handle, manner, prompt, { signal, ...options }) {
    signal?.throwIfAborted();
    const [struct, processor] = request(prompt, options);
    if (processor) manner.waits = true;
    return new Generation(make(name, handle, struct), signal, manner, processor);
  }

  constructor(handle, signal, manner, processor) {
    super(handle, 'mlxrocm_generation_free', manner);
    this.#signal = signal;
    this.#manner = manner;
    this.#processor = processor;
    const self = new WeakRef(this);
    if (processor) processor.generation = self;
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
    if (struct.finish_reason === constants.FINISH_ERROR) {
      if (this.#processor?.thrown) throw this.#processor.thrown.error;
      throw new MlxrocmError(struct.error_status, stringAt(struct.error_message, struct.error_message_length));
    }
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
      guessedTokens: Number(struct.guessed_tokens),
      acceptedTokens: Number(struct.accepted_tokens),
    };
    return this.finished;
  }

  /** Goes on after the tokens whose events were taken, beside this one, which may have ended. The options are its own. */
  fork(options = {}) {
    // Not while an event is waited for.
    const turn = this.#last.then(() => {
      return Generation.of('mlxrocm_generation_fork', this.handle, this.#manner, null, options);
    });
    this.#last = turn.catch(() => {});
    return turn;
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

/**
 * One of several generations, of any sessions, that has an event; where several have, they take turns. Null when all have
 * given out their last one. `signal` (AbortSignal) ends the waiting.
 */
export async function waitAny(generations, { signal } = {}) {
  const index = new BigUint64Array(1);
  for (;;) {
    signal?.throwIfAborted();
    const handles = BigUint64Array.from(generations.length ? generations.map((generation) => generation.handle) : [0n]);
    const given = [handles, generations.length];
    const status = await callAsync(generations, 'mlxrocm_generation_wait_any', ...given, WAIT_NS, index);
    if (status === constants.END) return null;
    if (status === constants.OK) return generations[Number(index[0])];
  }
}
