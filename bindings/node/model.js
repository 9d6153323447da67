// Models, tokenizers and chat templates.

import { constants } from './interface.js';
import { call, filled, filledText, info, make, makeAsync, Owned, reporting, sized, text, unsigned } from './library.js';

/** A loaded model, immutable. */
export class Model extends Owned {
  /**
   * Loads a GGUF file or an MLX folder on another thread. `device`: null is the best GPU, else the CPU; `gpuWeightBytes`:
   * of a GPU's memory that weights take at most. `progress(done, total)` hears bytes; what it throws ends loading and
   * comes out here.
   */
  static async load(path, { device = null, threads = 0, gpuWeightBytes = 0, progress = null } = {}) {
    const options = sized('mlxrocm_model_options', {
      threads: unsigned(threads, 'threads'), device: device?.handle ?? null,
      gpu_weight_bytes: unsigned(gpuWeightBytes, 'gpuWeightBytes', 64),
    });
    return reporting(progress, async (hears) => {
      options.progress = hears;
      const handle = await makeAsync(device, 'mlxrocm_model_load', ...text(path, 'the path'), options);
      return new Model(handle, 'mlxrocm_model_free');
    });
  }

  get info() {
    return info('mlxrocm_model_info', 'mlxrocm_model_get_info', this.handle);
  }

  get tokenizer() {
    return new Tokenizer(make('mlxrocm_model_get_tokenizer', this.handle), 'mlxrocm_tokenizer_free');
  }

  get chatTemplate() {
    return new ChatTemplate(make('mlxrocm_model_get_chat_template', this.handle), 'mlxrocm_chat_template_free');
  }

  /** A chat as the text of a prompt that the model answers; encode it with parseSpecial. */
  renderChat(messages, extra = {}) {
    const template = this.chatTemplate;
    try {
      return template.render(messages, extra);
    } finally {
      template.close();
    }
  }
}

/** A model's tokenizer, immutable. */
export class Tokenizer extends Owned {
  /** Tokens of a text. `parseSpecial` reads spelled-out special tokens: not for text of strangers. */
  encode(string, { addSpecial = false, parseSpecial = false } = {}) {
    const flags = (addSpecial ? constants.ENCODE_ADD_SPECIAL : 0) | (parseSpecial ? constants.ENCODE_PARSE_SPECIAL : 0);
    return filled(Uint32Array, 'mlxrocm_tokenizer_encode', this.handle, ...text(string), flags);
  }

  decode(tokens, { skipSpecial = false } = {}) {
    const flags = skipSpecial ? constants.DECODE_SKIP_SPECIAL : 0;
    return filledText('mlxrocm_tokenizer_decode', this.handle, Uint32Array.from(tokens), tokens.length, flags);
  }

  /** Tokens are 0 to vocabSize - 1; bos and eos begin and end a text, null if there is none. */
  get info() {
    const { vocab_size: vocabSize, bos, eos } = info('mlxrocm_tokenizer_info', 'mlxrocm_tokenizer_get_info', this.handle);
    return { vocabSize, bos: tokenOrNull(bos), eos: tokenOrNull(eos) };
  }

  /** The token of exactly this spelling, like "<|im_end|>", or null. */
  find(spelling) {
    const token = new Uint32Array(1);
    call('mlxrocm_tokenizer_find_token', this.handle, ...text(spelling, 'the spelling'), token);
    return tokenOrNull(token[0]);
  }

  /** Whether a token is a control token that ordinary text never contains. */
  isSpecial(token) {
    const special = new Uint32Array(1);
    call('mlxrocm_tokenizer_is_special', this.handle, unsigned(token, 'a token'), special);
    return special[0] !== 0;
  }

  /** The bytes that a token stands for, maybe a part of a character. */
  tokenBytes(token) {
    return filled(Uint8Array, 'mlxrocm_tokenizer_token_bytes', this.handle, unsigned(token, 'a token')).slice(0, -1);
  }
}

const tokenOrNull = (token) => (token === constants.NO_TOKEN ? null : token);

/** A compiled chat template (Jinja), immutable: a model's, or one of a source. */
export class ChatTemplate extends Owned {
  /** `bos`, `eos`: spellings of the tokens that begin and end a text. */
  static compile(source, { bos = '', eos = '' } = {}) {
    const made = make('mlxrocm_chat_template_new', ...text(source, 'the template'), ...text(bos), ...text(eos));
    return new ChatTemplate(made, 'mlxrocm_chat_template_free');
  }

  get source() {
    return filledText('mlxrocm_chat_template_source', this.handle);
  }

  /** A chat as the text of a prompt; encode it with parseSpecial. `extra`: more variables of the template. */
  render(messages, extra = {}, { generationPrompt = true } = {}) {
    const flags = generationPrompt ? constants.RENDER_GENERATION_PROMPT : 0;
    const structs = chat(messages);
    const given = [structs, structs.length, flags, ...text(JSON.stringify(extra))];
    return filledText('mlxrocm_chat_template_render', this.handle, ...given);
  }
}

/** Messages as C takes them. */
export function chat(messages) {
  return messages.map((message) => {
    const [role, roleLength] = text(message.role, 'a role');
    const [content, contentLength] = text(message.content, 'a message');
    return { role, role_length: roleLength, content, content_length: contentLength };
  });
}
