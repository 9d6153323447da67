// Chess networks beside what Leela Chess Zero itself says (the golden files).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chess, constants, Device, MlxrocmError } from 'mlxrocm';

const golden = join(process.env.MLXROCM_TREE, 'tests/golden/chess');
const read = (name) => readFileSync(join(golden, name));
const games = read('games.txt').toString().trim().split('\n').map((line) => line.split('|'));
const refused = (code) => (error) => error instanceof MlxrocmError && error.code === code && error.message.length > 0;
const near = (found, wanted, tolerance, what) => assert.ok(Math.abs(found - wanted) <= tolerance, `${what}: ${found}, not ${wanted}`);

const positions = read('positions.txt').toString().trim().split('\n').map((line) => {
  const [game, plies] = line.split('|').map(Number);
  return { fen: games[game][0], moves: games[game][1].split(' ').slice(0, plies) };
});

function fnv(bytes) {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

test('planes as lc0 makes them', async () => {
  const hashes = read('planes.bin');
  const all = games.flatMap(([fen, moves]) => {
    const played = moves.split(' ');
    return Array.from({ length: played.length + 1 }, (_, plies) => ({ fen, moves: played.slice(0, plies) }));
  });
  assert.equal(hashes.length, all.length * 32);
  for (const [place, name] of [[0, 'classical'], [3, 'no_gates'], [6, 'multihead']]) {
    const net = await chess.Net.load(join(golden, `${name}.pb.gz`));
    for (let i = 0; i < all.length; i += 31) {
      const { masks, values, moves } = net.planes(all[i]);
      const bytes = Buffer.alloc(112 * 12);
      masks.forEach((mask, k) => bytes.writeFloatLE(values[k], bytes.writeBigUInt64LE(mask, 12 * k)));
      const wanted = hashes.readUInt32LE(32 * i + 4 * place);
      if (wanted !== 0) assert.equal(fnv(bytes), wanted);
      const indices = Uint16Array.from(moves, (move) => move.policyIndex).sort();
      if (place === 0) assert.equal(fnv(Buffer.from(indices.buffer)), hashes.readUInt32LE(32 * i + 28));
    }
    net.close();
  }
});

async function compared(net, name) {
  const answers = read(name);
  let at = 0;
  const number = () => answers.readFloatLE((at += 4) - 4);
  const found = await net.evaluate(positions);
  found.forEach((of, i) => {
    const [q, d, m] = [number(), number(), number()];
    near(of.win - of.loss, q, 1e-3, `q of ${i}`);
    near(of.draw, d, 1e-3, `d of ${i}`);
    near(of.movesLeft, m, 2e-3 * Math.max(1, Math.abs(m)), `m of ${i}`);
    for (let place = i % 8; place < 1858; place += 8) near(of.policy[place], number(), 2e-3, `logit ${place} of ${i}`);
    const largest = Math.max(...of.moves.map((move) => of.policy[move.policyIndex]));
    const shares = of.moves.map((move) => Math.exp(of.policy[move.policyIndex] - largest));
    const total = shares.reduce((a, b) => a + b, 0);
    of.moves.forEach((move, k) => near(move.chance, shares[k] / total, 1e-5, `${move.name} of ${i}`));
  });
  assert.equal(at, answers.length);
  return found;
}

test('evaluations as lc0 gives them', async () => {
  const net = await chess.Net.load(join(golden, 'attention.pb.gz'));
  const { body, policy, hasDraws, hasMovesLeft, parameters } = net.info;
  assert.deepEqual([body, policy, hasDraws, hasMovesLeft], ['attention', 'attention', true, true]);
  assert.ok(parameters > 0);
  const found = await compared(net, 'attention.out');
  const alone = await Promise.all(positions.map((position) => net.evaluate([position])));
  assert.deepEqual(alone.flat(), found);
  assert.deepEqual(await net.evaluate(positions.map((position) => net.planes(position))), found);
  const [hot] = await net.evaluate([{}], { temperature: 1e6 });
  hot.moves.forEach((move) => near(move.chance, 1 / 20, 1e-5, move.name));
  for (const [name, options] of [
    ['classical.out', {}], ['multihead.opponent.winner.out', {}],
    ['multihead.soft.st.out', { threads: 1, precision: 'f32' }], ['hybrid_dense.optimistic.q.out', {}],
  ]) {
    const [file, policyHead, valueHead] = name.slice(0, -4).split('.');
    const heads = policyHead ? { policyHead, valueHead } : {};
    const device = new Device(0);
    await compared(await chess.Net.load(join(golden, `${file}.pb.gz`), { device, ...heads, ...options }), name);
  }
});

test('queues', async () => {
  const net = await chess.Net.load(join(golden, 'attention.pb.gz'));
  const wanted = await net.evaluate(positions);
  const planes = positions.map((position) => net.planes(position));
  const queue = new chess.Queue(net);
  assert.equal(await queue.next(), null);
  positions.forEach((_, i) => assert.equal(queue.submit(positions.slice(0, i + 1)), i));
  net.close(); // the queue keeps it
  let taken = 0;
  for await (const { number, evaluations } of queue) {
    assert.equal(number, taken++);
    assert.deepEqual(evaluations, wanted.slice(0, number + 1));
  }
  assert.equal(taken, 8);
  let handed = 0;
  while (queue.submit(planes.slice(0, 1)) !== null) handed++;
  assert.equal(handed, constants.CHESS_QUEUE_BATCHES);
  // Several takers get a batch each.
  const both = await Promise.all(Array.from({ length: handed }, () => queue.next()));
  assert.deepEqual(both.map(({ number }) => number).sort((a, b) => a - b), Array.from({ length: handed }, (_, i) => 8 + i));
  both.forEach(({ evaluations }) => assert.deepEqual(evaluations, wanted.slice(0, 1)));
  assert.throws(() => queue.submit([]), refused('INVALID_ARGUMENT'));
  assert.throws(() => queue.submit(planes, { temperature: 0 }), refused('INVALID_ARGUMENT'));
  assert.throws(() => queue.submit(new Array(1025).fill(planes[0])), refused('INVALID_ARGUMENT'));
  queue.submit(planes);
  queue.close();
  await assert.rejects(queue.next(), refused('INVALID_ARGUMENT'));
});

test('mistakes', async () => {
  const path = join(golden, 'attention.pb.gz');
  const net = await chess.Net.load(path, { threads: 1 });
  const [mate] = await net.evaluate([{ moves: 'f2f3 e7e5 g2g4 d8h4'.split(' ') }]);
  assert.deepEqual(mate.moves, []);
  assert.deepEqual(await net.evaluate([]), []);
  for (const position of [{ fen: 'x' }, { fen: '' }, { moves: ['e2e5'] }, { moves: ['e2e4\0'] }]) {
    await assert.rejects(net.evaluate([position]), refused('INVALID_ARGUMENT'));
  }
  const good = net.planes();
  for (const wrong of [
    { masks: good.masks.subarray(1) }, { masks: new Float64Array(112) }, { values: new Float64Array(112) },
    { values: new Float32Array(112).fill(NaN) }, { moves: [{ name: 'e2e4', policyIndex: 1858 }] },
  ]) {
    await assert.rejects(net.evaluate([{ ...good, ...wrong }]), refused('INVALID_ARGUMENT'));
  }
  for (const temperature of [0, -1, NaN]) {
    await assert.rejects(net.evaluate([good], { temperature }), refused('INVALID_ARGUMENT'));
  }
  await assert.rejects(net.evaluate(new Array(1025).fill(good)), refused('INVALID_ARGUMENT'));
  net.close();
  await assert.rejects(net.evaluate([good]), refused('INVALID_ARGUMENT'));
  for (const wrong of [{ policyHead: 'soft' }, { policyHead: 'best' }, { valueHead: 'x' }, { precision: 'f64' }, { threads: -1 }]) {
    await assert.rejects(chess.Net.load(path, wrong), refused('INVALID_ARGUMENT'));
  }
  await assert.rejects(chess.Net.load(path, { precision: 'f16' }), refused('UNSUPPORTED'));
  await assert.rejects(chess.Net.load('/nowhere'), refused('IO'));
  await assert.rejects(chess.Net.load(join(golden, 'games.txt')), refused('INVALID_FILE'));
  assert.equal(chess.moveName(0), 'a1b1');
  assert.equal(chess.moveName(1857), 'h7h8b');
  for (const index of [-1, 1858, 0.5]) assert.throws(() => chess.moveName(index), refused('INVALID_ARGUMENT'));
});
