// Files of arrays, and quantized models.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { array, listTensors, loadArrays, MlxrocmError, operations as mx, quantize, saveGguf, saveSafetensors } from 'mlxrocm';

let folder;
const refused = (code) => (error) => error instanceof MlxrocmError && error.code === code && error.message.length > 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mlxrocm-'));
});
after(() => rm(folder, { recursive: true }));

test('arrays and their metadata', async () => {
  const x = array(Int32Array.of(1, 2, 3, 4, 5, 6), { shape: [2, 3] });
  const metadata = { format: 'mlx', empty: '', nul: 'one\0two' };
  for (const [save, name] of [[saveSafetensors, 'x.safetensors'], [saveGguf, 'x.gguf']]) {
    const path = join(folder, name);
    await save(path, { x, 'y.weight': [[0.5]] }, metadata);
    const found = await loadArrays(path);
    assert.deepEqual(Object.keys(found.arrays).sort(), ['x', 'y.weight']);
    assert.deepEqual(found.arrays.x.toList(), [[1, 2, 3], [4, 5, 6]]);
    assert.equal(found.arrays.x.dtype, 'int32');
    assert.deepEqual(found.arrays['y.weight'].toList(), [[0.5]]);
    for (const [key, value] of Object.entries(metadata)) assert.equal(found.metadata[key], value);
  }
  // The format's own form: the length of a header in JSON, then that, then the elements.
  const bytes = await readFile(join(folder, 'x.safetensors'));
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  assert.deepEqual(header.__metadata__, metadata);
  const [begin] = header.x.data_offsets;
  const elements = bytes.subarray(8 + Number(bytes.readBigUInt64LE()) + begin);
  assert.deepEqual(Array.from({ length: 6 }, (_, i) => elements.readInt32LE(4 * i)), [1, 2, 3, 4, 5, 6]);

  await assert.rejects(saveSafetensors(join(folder, 'a'), { x: null }), TypeError);
  await assert.rejects(saveSafetensors(join(folder, 'a'), { x }, { key: 5 }), TypeError);
  await assert.rejects(saveGguf('a\0b', { x }), refused('INVALID_ARGUMENT'));
  await assert.rejects(loadArrays('/nowhere/x.gguf'), refused('IO'));
  const short = join(folder, 'short.safetensors');
  await writeFile(short, bytes.subarray(0, 40));
  await assert.rejects(loadArrays(short), refused('INVALID_FILE'));
  x.close();
  await assert.rejects(saveSafetensors(join(folder, 'a'), { x }), refused('INVALID_ARGUMENT'));
});

test('quantized models', async () => {
  const [source, made] = [join(folder, 'model'), join(folder, 'made')];
  await mkdir(source);
  await writeFile(join(source, 'config.json'), JSON.stringify({
    model_type: 'llama', hidden_size: 64, intermediate_size: 128, num_hidden_layers: 1, num_attention_heads: 2,
    num_key_value_heads: 2, vocab_size: 96, rms_norm_eps: 1e-5, max_position_embeddings: 128, tie_word_embeddings: true,
  }));
  const layer = 'model.layers.0.';
  const shapes = {
    'model.embed_tokens.weight': [96, 64], 'model.norm.weight': [64], [`${layer}input_layernorm.weight`]: [64],
    [`${layer}post_attention_layernorm.weight`]: [64], [`${layer}self_attn.q_proj.weight`]: [64, 64],
    [`${layer}self_attn.k_proj.weight`]: [64, 64], [`${layer}self_attn.v_proj.weight`]: [64, 64],
    [`${layer}self_attn.o_proj.weight`]: [64, 64], [`${layer}mlp.gate_proj.weight`]: [128, 64],
    [`${layer}mlp.up_proj.weight`]: [128, 64], [`${layer}mlp.down_proj.weight`]: [64, 128],
  };
  const tensors = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => {
    const count = shape.reduce((a, b) => a * b);
    return [name, array(Float32Array.from({ length: count }, () => Math.random() - 0.5), { shape })];
  }));
  await saveSafetensors(join(source, 'model.safetensors'), tensors);
  const seen = [];
  const result = await quantize(source, made, {
    bits: 8, groupSize: 32, rules: ['*.v_proj=4'], progress: (done, total) => seen.push([done, total]),
  });
  const { arrays } = await loadArrays(join(made, 'model.safetensors'));
  for (const [name, weight] of Object.entries(tensors)) {
    const found = await arrays[name].data();
    const wanted = await weight.data();
    if (weight.shape.length === 1) {
      assert.deepEqual(found, wanted);
      continue;
    }
    // By hand: the lowest bits first, in groups of 32.
    const module = name.slice(0, -'.weight'.length);
    const [scales, biases] = [await arrays[`${module}.scales`].data(), await arrays[`${module}.biases`].data()];
    const bits = name.includes('v_proj') ? 4 : 8;
    const codes = new Uint8Array(found.buffer, found.byteOffset, found.byteLength);
    wanted.forEach((value, i) => {
      const code = bits === 8 ? codes[i] : (codes[i >> 1] >> (4 * (i & 1))) & 15;
      const group = i >> 5;
      // The end of a group may be off by a whole step: 0 is one of the codes' numbers.
      assert.ok(Math.abs(code * scales[group] + biases[group] - value) <= 1.01 * Math.abs(scales[group]), `${name} ${i}`);
    });
  }
  assert.equal(result.files, 1);
  assert.equal(result.parameters, Object.values(shapes).reduce((sum, shape) => sum + shape.reduce((a, b) => a * b), 0));
  assert.equal(result.bytes, (await listTensors(made)).reduce((sum, tensor) => sum + tensor.bytes, 0));
  assert.ok(seen.length > 0 && seen.at(-1)[0] === seen.at(-1)[1]);

  const enough = new Error('enough');
  const other = join(folder, 'other');
  await assert.rejects(quantize(source, other, { progress: () => { throw enough; } }), (error) => error === enough);
  await assert.rejects(stat(other));
  for (const wrong of [{ bits: 7 }, { bits: -1 }, { mode: 'int4' }, { recipe: 'x' }, { rules: ['nonsense'] }, { dtype: 'f8' }]) {
    await assert.rejects(quantize(source, join(folder, 'none'), wrong), refused('INVALID_ARGUMENT'));
  }
  await assert.rejects(quantize(source, made), refused('INVALID_ARGUMENT'));
  await assert.rejects(quantize(made, join(folder, 'again')), refused('UNSUPPORTED'));
  await assert.rejects(quantize('/nowhere', other), refused('IO'));
  assert.equal(mx.sum(tensors['model.norm.weight']).shape.length, 0);
});
