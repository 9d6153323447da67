// Model files: what is in them, and quantized ones made of them; files of arrays.

import { NDArray, one, toArray } from './array.js';
import { constants } from './interface.js';
import {
  call, callAsync, info, make, makeAsync, native, numbersAt, Owned, reporting, said, sized, stringAt, text, texts, unsigned,
} from './library.js';

const place = (path) => text(path, 'the path');

/**
 * The tensors of a GGUF file, a safetensors file or a model folder, in its order. Nothing is loaded: models that do not run
 * here can be looked at.
 */
export async function listTensors(path) {
  const file = await makeAsync(null, 'mlxrocm_model_file_open', ...place(path));
  try {
    return Array.from({ length: Number(native('mlxrocm_model_file_tensor_count')(file)) }, (_, index) => {
      const facts = sized('mlxrocm_tensor_info');
      call('mlxrocm_model_file_get_tensor', file, index, facts);
      const shape = numbersAt(facts.shape, 'int64_t', facts.rank);
      const [name, format] = [stringAt(facts.name, facts.name_length), stringAt(facts.format, facts.format_length)];
      return { name, format, shape, bytes: Number(facts.bytes) };
    });
  } finally {
    native('mlxrocm_model_file_free')(file);
  }
}

/**
 * Quantizes a model folder or GGUF file of 16- or 32-bit floats into a new folder in MLX's format, on another thread.
 * `rules` say what modules become, like "*.v_proj=6"; `progress(done, total)` hears bytes of the source. What that throws
 * ends the work and comes out here.
 */
export async function quantize(source, destination, { bits = 0, groupSize = 0, threads = 0, mode = null, recipe = null,
  dtype = null, rules = [], progress = null } = {}) {
  const options = sized('mlxrocm_quantize_options', {
    bits: unsigned(bits, 'bits'), group_size: unsigned(groupSize, 'groupSize'), threads: unsigned(threads, 'threads'),
  });
  [options.mode, options.mode_length] = text(mode, 'the mode');
  [options.recipe, options.recipe_length] = text(recipe, 'the recipe');
  [options.dtype, options.dtype_length] = text(dtype, 'the dtype');
  [options.rules, options.rules_lengths, options.rules_count] = texts(rules, 'a rule');
  const made = sized('mlxrocm_quantize_result');
  await reporting(progress, (hears) => {
    options.progress = hears;
    return callAsync(null, 'mlxrocm_model_quantize', ...place(source), ...place(destination), options, made);
  });
  const { files, parameters, bytes, resumed_bytes: resumed } = made;
  return { files, parameters: Number(parameters), bytes: Number(bytes), resumedBytes: Number(resumed) };
}

class ArrayMap extends Owned {
  constructor(handle) {
    super(handle, 'mlxrocm_array_map_free');
  }

  names(count, name) {
    return Array.from({ length: Number(native(count)(this.handle)) }, (_, index) => said(name, this.handle, index));
  }

  get arrays() {
    const names = this.names('mlxrocm_array_map_count', 'mlxrocm_array_map_name');
    return Object.fromEntries(names.map((name) => [name, one('mlxrocm_array_map_get', this.handle, ...text(name))]));
  }

  get metadata() {
    const keys = this.names('mlxrocm_array_map_metadata_count', 'mlxrocm_array_map_metadata_key');
    return Object.fromEntries(keys.map((key) => [key, this.#entry(key)]));
  }

  #entry(key) {
    const read = (index) => said('mlxrocm_array_map_metadata_text', this.handle, ...text(key), index);
    const kind = native('mlxrocm_array_map_metadata_kind')(this.handle, ...text(key));
    if (kind === constants.METADATA_TEXT) return read(0);
    const numbers = one('mlxrocm_array_map_metadata_array', this.handle, ...text(key));
    if (kind !== constants.METADATA_TEXTS) return numbers;
    return Array.from({ length: Number(numbers.item()) }, (_, index) => read(index));
  }
}

/**
 * The arrays of a safetensors or GGUF file by their names, and its metadata: texts, lists of texts, arrays. Elements stay
 * in the file until they are needed: do not truncate it meanwhile.
 */
export async function loadArrays(path) {
  const map = new ArrayMap(await makeAsync(null, 'mlxrocm_array_map_load', ...place(path)));
  const { arrays, metadata } = map;
  map.close();
  return { arrays, metadata };
}

async function save(name, path, arrays, metadata) {
  const map = new ArrayMap(make('mlxrocm_array_map_new'));
  try {
    for (const [key, value] of Object.entries(arrays)) {
      const given = toArray(value);
      if (!(given instanceof NDArray)) throw new TypeError(`the array ${key} is ${String(value)}`);
      call('mlxrocm_array_map_set', map.handle, ...text(key), given.handle);
    }
    for (const [key, value] of Object.entries(metadata)) {
      call('mlxrocm_array_map_set_metadata', map.handle, ...text(key), ...text(value, `the metadata ${key}`));
    }
    await callAsync(map, name, map.handle, ...place(path));
  } finally {
    map.close();
  }
}

/** Saves arrays and texts by their names, on another thread: the file is there whole or not at all. */
export function saveSafetensors(path, arrays, metadata = {}) {
  return save('mlxrocm_array_map_save_safetensors', path, arrays, metadata);
}

/** The same to a GGUF file. */
export function saveGguf(path, arrays, metadata = {}) {
  return save('mlxrocm_array_map_save_gguf', path, arrays, metadata);
}
