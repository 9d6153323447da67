// Requests: how to continue a prompt.

import { constants } from './interface.js';
import { sized, text, texts, unsigned } from './library.js';
import { chat } from './model.js';
import { lend } from './processor.js';

export const ids = (tokens, name) => Uint32Array.from(tokens, (token) => unsigned(token, name));

/** A struct of a prompt (null: none) and options, and its logits processor or null. It must be submitted. */
export function request(prompt, options) {
  const made = sized('mlxrocm_request');
  if (prompt === null) made.text = null;
  else if (typeof prompt === 'string') [made.text, made.text_length] = text(prompt);
  else if (ArrayBuffer.isView(prompt) || typeof prompt[0] === 'number') made.tokens = ids(prompt, 'a token');
  else if (Array.isArray(prompt)) made.messages = chat(prompt);
  else [made.chat_json, made.chat_json_length] = text(JSON.stringify(prompt));
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
  const { jsonSchema, regex, grammar } = options;
  const schema = jsonSchema == null || typeof jsonSchema === 'string' ? jsonSchema : JSON.stringify(jsonSchema);
  for (const [field, value] of Object.entries({ json_schema: schema, regex, grammar })) {
    if (value != null) [made[field], made[`${field}_length`]] = text(value);
    else made[field] = null;
  }
  made.flags = options.ignoreEos ? constants.REQUEST_IGNORE_EOS : 0;
  [made.stop, made.stop_lengths, made.stop_count] = texts(options.stop ?? [], 'a stop string');
  made.stop_tokens = ids(options.stopTokens ?? [], 'a stop token');
  made.stop_token_count = made.stop_tokens.length;
  const biases = [...(options.logitBias ?? new Map()).entries()];
  made.bias_tokens = ids(biases.map(([token]) => token), 'a token');
  made.bias_values = Float32Array.from(biases, ([, value]) => value);
  made.bias_count = biases.length;
  return [made, options.logitsProcessor ? lend(options.logitsProcessor, made) : null];
}
