// Logits processors: functions of the program that a session's thread has the event loop call.

import { callback, prototype, viewOf } from './library.js';

// By the numbers that the library has as `user_data`, until it says that it needs them no more.
const live = new Map();
let fresh = 1;
// For all time: a session's thread may be in one when its generation goes.
let functions = null;

function made() {
  const takes = 'void *tokens, size_t count, void *logits, size_t vocab, uint64_t number';
  return {
    process: callback(prototype(`int32_t mlxrocm_process(${takes})`), (tokens, count, logits, vocab, number) => {
      const processor = live.get(Number(number));
      try {
        // Copies, as the library's memory is lent for this call only and the function may keep what it gets.
        const changed = new Float32Array(viewOf(logits, 4 * Number(vocab)));
        const copy = changed.slice();
        const result = processor.run(new Uint32Array(viewOf(tokens, 4 * Number(count))).slice(), copy);
        if (typeof result?.then === 'function') throw new TypeError('a logits processor is no async function');
        changed.set(copy);
        return 0;
      } catch (error) {
        processor.thrown = { error };
        return 1;
      }
    }),
    forget: callback(prototype('void mlxrocm_forget(uint64_t number)'), (number) => {
      live.delete(Number(number));
    }),
  };
}

/** Puts a function into a request, which must be submitted then: the library frees it in any case. */
export function lend(run, request) {
  if (typeof run !== 'function') throw new TypeError(`a logits processor is a function, not ${typeof run}`);
  if (functions === null) {
    functions = made();
    process.on('beforeExit', end);
  }
  const processor = { run, thrown: null, generation: null };
  live.set(fresh, processor);
  Object.assign(request, {
    logits_processor: functions.process, user_data_free: functions.forget, user_data: BigInt(fresh++),
  });
  return processor;
}

// A thread that calls into a loop that has ended does not come back.
function end() {
  if (live.size === 0) return;
  for (const { generation } of live.values()) generation?.deref()?.cancel();
  setTimeout(() => {}, 5);
}
