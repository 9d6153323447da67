// States, forks, logits of positions, embeddings, waiting and texts with NULs, with the demo model.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildInfo, ChatTemplate, Device, Model, MlxrocmError, Session, stateTokens, waitAny } from 'mlxrocm';

let model;
let session;
let tokenizer;
const refused = (code) => (error) => error instanceof MlxrocmError && error.code === code && error.message.length > 0;
const near = (found, wanted, tolerance) => {
  assert.equal(found.length, wanted.length);
  wanted.forEach((value, i) => assert.ok(Math.abs(value - found[i]) <= tolerance, `${i}: ${found[i]}, not ${value}`));
};

before(async () => {
  model = await Model.load(process.env.MLXROCM_DEMO_MODEL, { device: new Device(0) });
  session = new Session(model, { context: 512, maxRequests: 4 });
  tokenizer = model.tokenizer;
});
after(() => {
  session.close();
  model.close();
});

async function run(of, tokens) {
  const logprobs = [];
  let last;
  for await (const event of of.submit(tokens, { maxTokens: 6, logprobs: 1 })) {
    if (event.type === 'token') logprobs.push(event.logprob);
    last = event;
  }
  return [last, logprobs];
}

test('states', async () => {
  const tokens = tokenizer.encode('The quick brown fox jumps over the lazy dog. '.repeat(9));
  const [, expected] = await run(session, tokens);
  const state = await session.saveState(tokens);
  assert.deepEqual(stateTokens(state), tokens);
  const folder = await mkdtemp(join(tmpdir(), 'mlxrocm-'));
  const path = join(folder, 'stäte');
  await session.saveStateFile(tokens, path);
  assert.ok(state instanceof Uint8Array && Buffer.from(state).equals(await readFile(path)));
  for (const load of [
    (other) => other.loadState(state), async (other) => other.loadState(await readFile(path)),
    (other) => other.loadStateFile(path),
  ]) {
    const other = new Session(model, { context: 512 });
    await load(other);
    const [last, logprobs] = await run(other, tokens);
    assert.ok(last.cachedTokens >= 32);
    assert.deepEqual(logprobs, expected);
    other.close();
    await assert.rejects(load(other), refused('INVALID_ARGUMENT'));
  }
  await rm(folder, { recursive: true });
  const changed = Uint8Array.from(state);
  changed[changed.length >> 1] ^= 1;
  for (const damaged of [state.subarray(0, state.length / 2), state.subarray(0, -1), changed, new Uint8Array(0)]) {
    await assert.rejects(session.loadState(damaged), refused('INVALID_FILE'));
  }
  assert.throws(() => stateTokens(state.subarray(0, 10)), refused('INVALID_FILE'));
  await assert.rejects(new Session(model, { kvType: 'q8', context: 512 }).loadState(state), refused('INVALID_ARGUMENT'));
  await assert.rejects(new Session(model, { context: 64 }).loadState(state), refused('CONTEXT_FULL'));
  await assert.rejects(session.loadStateFile('/nowhere/state'), refused('IO'));
  await assert.rejects(session.loadState('text'), TypeError);
  await assert.rejects(session.saveState([]), refused('INVALID_ARGUMENT'));
  await assert.rejects(session.saveStateFile(tokens, 'a\0b'), refused('INVALID_ARGUMENT'));
});

test('forks', async () => {
  const whole = await session.submit('One two three', { maxTokens: 8 }).text();
  const generation = session.submit('One two three', { maxTokens: 8 });
  let begin = '';
  for (let tokens = 0; tokens < 3;) {
    const event = await generation.next();
    begin += event.text;
    if (event.type === 'token') tokens++;
  }
  const fork = await generation.fork({ maxTokens: 5 });
  assert.equal(begin + await fork.text(), whole);
  assert.equal(begin + await generation.text(), whole);
  const longer = await session.submit('One two three', { maxTokens: 11 }).text();
  assert.equal(whole + await (await generation.fork({ maxTokens: 3 })).text(), longer);
  await assert.rejects(generation.fork({ signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  generation.close();
  await assert.rejects(generation.fork(), refused('INVALID_ARGUMENT'));
});

test('any of several generations', async () => {
  const prompts = ['The capital of France is', 'Once upon a time', 'Water boils at'];
  const other = new Session(model, { context: 64 });
  const generations = prompts.map((prompt, i) => (i === 1 ? other : session).submit(prompt, { maxTokens: 4 + i }));
  const texts = new Map(generations.map((generation) => [generation, '']));
  for (let ready = await waitAny(generations); ready !== null; ready = await waitAny(generations)) {
    texts.set(ready, texts.get(ready) + (await ready.next()).text);
  }
  for (const [i, prompt] of prompts.entries()) {
    assert.equal(texts.get(generations[i]), await session.submit(prompt, { maxTokens: 4 + i }).text());
  }
  assert.equal(await waitAny([]), null);
  await assert.rejects(waitAny(generations, { signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  generations[0].close();
  await assert.rejects(waitAny(generations), refused('INVALID_ARGUMENT'));
});

test('logits of positions and embeddings', async () => {
  const tokens = tokenizer.encode('The capital of France is');
  const all = await session.logits(tokens);
  const width = model.info.vocab_size;
  const row = (i) => all.slice(i * width, (i + 1) * width);
  assert.deepEqual(await session.logits(tokens, { positions: [1, 3] }), Float32Array.of(...row(1), ...row(3)));
  assert.deepEqual(await session.logits(tokens, { positions: [-1] }), row(tokens.length - 1));
  for (const positions of [[], [tokens.length], [-tokens.length - 1], [3, 1], [0.5]]) {
    await assert.rejects(session.logits(tokens, { positions }), refused('INVALID_ARGUMENT'));
  }
  await assert.rejects(session.logits(new Uint32Array(600), { positions: [0] }), refused('CONTEXT_FULL'));

  const hidden = model.info.hidden_size;
  const states = await session.embed(tokens, { pooling: 'none', normalize: false });
  assert.equal(states.length, tokens.length * hidden);
  const state = (i) => states.slice(i * hidden, (i + 1) * hidden);
  const mean = Float32Array.from({ length: hidden }, (_, i) => {
    let sum = 0;
    for (let t = 0; t < tokens.length; t++) sum += states[t * hidden + i];
    return sum / tokens.length;
  });
  for (const [pooling, wanted] of [['mean', mean], ['cls', state(0)], ['last', state(tokens.length - 1)]]) {
    near(await session.embed(tokens, { pooling, normalize: false }), wanted, 1e-4);
    const length = Math.hypot(...wanted);
    near(await session.embed(tokens, { pooling }), wanted.map((x) => x / length), 1e-5);
  }
  const some = await session.embed(tokens, { pooling: 'none', positions: [0, -1], normalize: false });
  assert.deepEqual(some, Float32Array.of(...state(0), ...state(tokens.length - 1)));
  for (const wrong of [{ pooling: 'max' }, { pooling: 'toString' }, { positions: [0] }, { pooling: 'none', positions: [] }]) {
    await assert.rejects(session.embed(tokens, wrong), refused('INVALID_ARGUMENT'));
  }
  await assert.rejects(session.embed([]), refused('INVALID_ARGUMENT'));
});

test('texts are what they must be', async () => {
  const answer = (options) => session.submit('Is the sky blue? As JSON:', { maxTokens: 30, ...options }).text();
  const schema = { enum: ['yes', 'no'] };
  assert.match(await answer({ jsonSchema: schema }), /^"(yes|no)"$/);
  assert.match(await answer({ jsonSchema: JSON.stringify(schema) }), /^"(yes|no)"$/);
  assert.match(await answer({ regex: '[A-Z]{3}!' }), /^[A-Z]{3}!$/);
  assert.match(await answer({ grammar: 'start: "ja" | "nein"' }), /^(ja|nein)$/);
  assert.throws(() => session.submit('One', { jsonSchema: '{' }), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit('One', { jsonSchema: {}, regex: 'a' }), refused('INVALID_ARGUMENT'));
  const generation = session.submit('One', { regex: 'a' });
  await generation.text();
  assert.equal(generation.finished.reason, 'grammar');
});

test('logits processors', async () => {
  const prompt = Array.from(tokenizer.encode('One two'));
  const comma = tokenizer.encode(',')[0];
  const seen = [];
  const onlyCommas = (tokens, logits) => {
    seen.push([...tokens]);
    logits[comma] += 1000;
  };
  assert.equal(await session.submit(prompt, { maxTokens: 3, logitsProcessor: onlyCommas }).text(), ',,,');
  assert.deepEqual(seen, [prompt, [...prompt, comma], [...prompt, comma, comma]]);
  // It sees what the session gives, and may keep it.
  const width = model.info.vocab_size;
  const row = (await session.logits(prompt)).slice(-width);
  const kept = [];
  const negate = (tokens, logits) => {
    kept.push(tokens, logits.slice(), logits);
    logits.forEach((logit, i) => (logits[i] = -logit));
  };
  const made = [];
  for await (const event of session.submit(prompt, { maxTokens: 1, logitsProcessor: negate })) made.push(event);
  assert.deepEqual(kept[1], row);
  const smallest = row.subarray(0, tokenizer.info.vocabSize).reduce((a, b) => Math.min(a, b));
  assert.equal(made.find(({ type }) => type === 'token').token, row.indexOf(smallest));
  kept[2].fill(0);
  kept[0].fill(0);

  const enough = new Error('enough');
  const fails = () => { throw enough; };
  const same = (error) => error === enough;
  await assert.rejects(session.submit('One', { maxTokens: 3, logitsProcessor: fails }).text(), same);
  const fork = await session.submit('One', { maxTokens: 1 }).fork({ maxTokens: 3, logitsProcessor: fails });
  await assert.rejects(fork.text(), same);
  await assert.rejects(session.submit('One', { logitsProcessor: async () => {} }).text(), TypeError);
  const noNumber = (_, logits) => { logits[0] = NaN; };
  await assert.rejects(session.submit('One', { logitsProcessor: noNumber }).text(), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit('', { logitsProcessor: fails }), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit('One', { logitsProcessor: 5 }), TypeError);
  // Whoever closes all of it while the session's thread waits for the loop does not wait for that.
  const other = new Session(model, { context: 512 });
  const running = other.submit('Count:', { maxTokens: 400, ignoreEos: true, logitsProcessor: () => {} });
  for (let i = 0; i < 3; i++) await running.next();
  const until = Date.now() + 50;
  while (Date.now() < until); // the thread calls meanwhile
  other.close();
  running.close();
  assert.ok(await session.submit('The', { maxTokens: 2 }).text());
});

test('a program may end while its logits processor is called', () => {
  const program = fileURLToPath(new URL('ends.js', import.meta.url));
  for (const way of ['', 'closes', 'exits', 'throws']) {
    const done = spawnSync(process.execPath, [program, way], { encoding: 'utf8', timeout: 60_000 });
    assert.deepEqual([done.stdout, done.signal, done.status], ['so far\n', null, way === 'throws' ? 1 : 0], way + done.stderr);
  }
});

test('texts may hold NULs', async () => {
  const whole = 'One two\0 three four';
  const count = tokenizer.encode(whole, { addSpecial: true }).length;
  for (const prompt of [whole, [{ role: 'user', content: 'a\0b' }], { messages: [{ role: 'user', content: 'a\0b' }] }]) {
    const generation = session.submit(prompt, { maxTokens: 2, stop: ['never\0ever', ''] });
    assert.ok(await generation.text());
    if (prompt === whole) assert.equal(generation.finished.promptTokens, count);
  }
  assert.match(model.renderChat([{ role: 'user', content: 'a\0b' }]), /a\0b<\|im_end\|>/);
  const template = ChatTemplate.compile('{{ bos_token }}\0{{ messages[0].content }}', { bos: '<\0>' });
  assert.equal(template.source, '{{ bos_token }}\0{{ messages[0].content }}');
  assert.equal(template.render([{ role: 'user', content: '' }]), '<\0>\0');
  assert.throws(() => ChatTemplate.compile('{% if %}'), refused('INVALID_FILE'));
  assert.equal(tokenizer.find('a\0b'), null);
  // "five" alone does not stop.
  assert.match(await session.submit('One, two, three, four,', { maxTokens: 20, stop: [' five\0'] }).text(), /six/);
  assert.throws(() => session.submit(''), refused('INVALID_ARGUMENT'));
  assert.throws(() => session.submit([{ role: 'user' }]), TypeError);
});

test('facts about tokens and sessions', () => {
  const end = tokenizer.find('<|im_end|>');
  assert.deepEqual(tokenizer.info.vocabSize, 49152);
  assert.equal(tokenizer.info.eos, end);
  assert.equal(tokenizer.isSpecial(end), true);
  assert.throws(() => tokenizer.isSpecial(49152), refused('INVALID_ARGUMENT'));
  assert.equal(tokenizer.find('no such token'), null);
  const bytes = Array.from(tokenizer.encode('Zoë 🙂'), (token) => Buffer.from(tokenizer.tokenBytes(token)));
  assert.equal(Buffer.concat(bytes).toString(), 'Zoë 🙂');
  assert.equal(session.info.context, 512);
  assert.ok(session.info.kv_bytes > 0);
  assert.equal(model.info.family, 'llama');
  assert.match(buildInfo(), /mlxrocm/);
});
