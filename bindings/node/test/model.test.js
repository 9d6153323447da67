// Chat, batch, cancel and errors with the demo model.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Device, deviceCount, listTensors, Model, MlxrocmError, Session, setLog, version } from 'mlxrocm';

const path = process.env.MLXROCM_DEMO_MODEL;
let model;
let session;
let tokenizer;
const refused = (code) => (error) => error instanceof MlxrocmError && error.code === code && error.message.length > 0;

before(async () => {
  model = await Model.load(path, { device: new Device(0) });
  session = new Session(model, { context: 512, maxRequests: 4 });
  tokenizer = model.tokenizer;
});
after(() => {
  session.close();
  model.close();
});

test('tensors of a file', async () => {
  const tensors = await listTensors(path);
  // 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
  assert.equal(new Set(tensors.map((tensor) => tensor.name)).size, 30 * 9 + 2);
  const named = Object.fromEntries(tensors.map((tensor) => [tensor.name, tensor]));
  const norm = { name: 'output_norm.weight', format: 'F32', shape: [576], bytes: 4 * 576 };
  assert.deepEqual(named['output_norm.weight'], norm);
  assert.deepEqual(named['blk.29.ffn_down.weight'].shape, [576, 1536]);
  const numbers = tensors.map((tensor) => tensor.shape.reduce((a, b) => a * b, 1));
  const sum = (values) => values.reduce((a, b) => a + b);
  assert.equal(sum(numbers), model.info.parameters);
  assert.equal(sum(tensors.map((tensor) => tensor.bytes)), model.info.weight_bytes);
  await assert.rejects(listTensors('/nowhere/model.gguf'), refused('IO'));
});

test('guesses change no text', async () => {
  const prompt = 'one two three one two three one two three one';
  const plain = await session.submit(prompt, { maxTokens: 30 }).text();
  for (const options of [{ promptLookup: true }, { draftModel: model }]) {
    const guessing = new Session(model, { context: 128, ...options });
    const generation = guessing.submit(prompt, { maxTokens: 30 });
    assert.equal(await generation.text(), plain);
    assert.ok(generation.finished.guessedTokens > 0);
    assert.ok(generation.finished.acceptedTokens <= generation.finished.guessedTokens);
  }
});

test('streaming chat', async () => {
  const messages = [{ role: 'user', content: 'What is the capital of France?' }];
  const generation = session.chat(messages, { maxTokens: 24 });
  const tokens = [];
  let streamed = '';
  let last;
  for await (const event of generation) {
    if (event.type === 'token') tokens.push(event.token);
    streamed += event.text;
    last = event;
  }
  assert.equal(last.type, 'finished');
  assert.equal(last.generatedTokens, tokens.length);
  assert.equal(streamed, tokenizer.decode(tokens, { skipSpecial: true }));
  assert.match(streamed, /Paris/);
  assert.equal(await generation.next(), null);
  const prompt = tokenizer.encode(model.renderChat(messages), { parseSpecial: true });
  assert.equal(await session.submit(prompt, { maxTokens: 24 }).text(), streamed);
  const content = [{ type: 'text', text: 'What is the capital' }, { type: 'text', text: ' of France?' }];
  const chat = { messages: [{ role: 'user', content }], tools: [] };
  assert.equal(await session.chat(chat, { maxTokens: 24 }).text(), streamed);
});

test('greedy takes the largest logit', async () => {
  const prompt = Array.from(tokenizer.encode('Water boils at'));
  const made = [];
  for await (const event of session.submit(prompt, { maxTokens: 5, logprobs: 2 })) if (event.type === 'token') made.push(event);
  const logits = await session.logits([...prompt, ...made.map((event) => event.token)]);
  const width = model.info.vocab_size;
  made.forEach((event, i) => {
    const row = logits.subarray((prompt.length + i - 1) * width, (prompt.length + i) * width);
    const best = row.indexOf(row.reduce((a, b) => Math.max(a, b)));
    const total = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0));
    assert.equal(event.token, best);
    assert.ok(Math.abs(event.logprob - (row[best] - total)) < 1e-3);
    assert.equal(event.top[0].token, best);
  });
  assert.equal(made.length, 5);
});

test('a batch is as one by one, and the loop goes on meanwhile', async () => {
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  const prompts = ['The capital of France is', 'Once upon a time', 'Water boils at', 'The sea', 'Two and two'];
  const found = await session.batch(prompts, { maxTokens: 8 });
  clearInterval(ticking);
  assert.ok(ticks > 3);
  for (const [i, prompt] of prompts.entries()) assert.equal(found[i], await session.submit(prompt, { maxTokens: 8 }).text());
});

test('stop strings, biases and seeds', async () => {
  const stopped = await session.submit('One, two, three, four,', { maxTokens: 20, stop: [' six'] }).text();
  assert.match(stopped, /five/);
  assert.doesNotMatch(stopped, /six/);
  const logitBias = new Map([[tokenizer.encode(',')[0], 1000]]);
  assert.equal(await session.submit('One two', { maxTokens: 3, logitBias }).text(), ',,,');
  const options = { maxTokens: 10, temperature: 1, seed: 2n ** 63n + 1n };
  assert.equal(await session.submit('Once', options).text(), await session.submit('Once', options).text());
});

test('cancel, abort signals, and leaving the loop', async () => {
  const options = { maxTokens: 400, ignoreEos: true };
  const generation = session.submit('Count:', options);
  setTimeout(() => generation.cancel(), 50);
  await generation.text();
  assert.equal(generation.finished.reason, 'cancelled');

  const stop = new AbortController();
  const aborted = session.submit('Count:', { ...options, signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 50);
  await assert.rejects(aborted.text(), /enough/);
  assert.throws(() => session.submit('Count:', { signal: stop.signal }), /enough/);

  const left = session.submit('Count:', options);
  for await (const event of left) if (event.type === 'token') break;
  let event;
  while ((event = await left.next()) !== null) assert.notEqual(event.type, undefined);
  assert.equal(left.finished.reason, 'cancelled');
  left.close();
  await assert.rejects(left.next(), refused('INVALID_ARGUMENT'));
});

test('errors', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mlxrocm-'));
  try {
    const damaged = join(folder, 'damaged.gguf');
    writeFileSync(damaged, readFileSync(path).subarray(0, 5000));
    await assert.rejects(Model.load(damaged), refused('INVALID_FILE'));
  } finally {
    rmSync(folder, { recursive: true });
  }
  await assert.rejects(Model.load('/nowhere/model.gguf'), (e) => refused('IO')(e) && e.message.includes('/nowhere/model.gguf'));
  assert.throws(() => session.submit(new Uint32Array(600)), refused('CONTEXT_FULL'));
  assert.throws(() => session.submit([]), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit(5), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit('a', { maxTokens: -1 }), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit('a', { temperature: NaN }), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit([0.5]), refused('INVALID_ARGUMENT'));
  assert.throws(() => new Device(deviceCount()), refused('NO_DEVICE'));
  assert.throws(() => new Session(model, { kvType: 'q2' }), refused('INVALID_ARGUMENT'));
  assert.equal(version(), '0.1.0');
});

test('objects may be closed in any order', async () => {
  const other = await Model.load(path, { device: new Device(0) });
  const short = new Session(other, { context: 64 });
  const generation = short.submit('The capital of France is', { maxTokens: 3 });
  other.close();
  short.close();
  assert.match(await generation.text(), /Paris/);
  assert.throws(() => short.submit('a'), refused('INVALID_ARGUMENT'));
});

test('log and progress', async () => {
  const lines = [];
  setLog('info', (level, line) => lines.push([level, line]));
  const bytes = [];
  const device = new Device(0);
  const other = await Model.load(path, { device, progress: (done, total) => bytes.push([done, total]) });
  setLog('info', null);
  other.close();
  assert.ok(bytes.length > 0 && bytes.at(-1)[0] === bytes.at(-1)[1]);
  assert.ok(bytes.every(([done], i) => i === 0 || done >= bytes[i - 1][0]));
  assert.ok(lines.length > 0 && lines.every(([level, line]) => ['error', 'warn', 'info'].includes(level) && line.length > 0));
  const heard = lines.length;
  const enough = new Error('enough');
  const ended = Model.load(path, { device, progress: () => { throw enough; } });
  await assert.rejects(ended, (error) => error === enough);
  assert.equal(lines.length, heard);
  assert.throws(() => setLog('loud', () => {}), refused('INVALID_ARGUMENT'));
});
