// Networks of Leela Chess Zero, which evaluate chess positions.

import { constants } from './interface.js';
import {
  call, callAsync, info, invalid, make, makeAsync, numberOf, Owned, said, sized, text, texts, unsigned,
} from './library.js';

const planes = constants.CHESS_PLANES;
const moves = constants.CHESS_MOVES;
const WAIT_NS = 20_000_000;
// Bytes of a move: its place in the policy, the length of its name, the name.
const MOVE_BYTES = 16;

const policyHeads = {
  vanilla: constants.CHESS_POLICY_HEAD_VANILLA, optimistic: constants.CHESS_POLICY_HEAD_OPTIMISTIC,
  soft: constants.CHESS_POLICY_HEAD_SOFT, opponent: constants.CHESS_POLICY_HEAD_OPPONENT,
};
const valueHeads = {
  winner: constants.CHESS_VALUE_HEAD_WINNER, q: constants.CHESS_VALUE_HEAD_Q, st: constants.CHESS_VALUE_HEAD_ST,
};
const precisions = {
  default: constants.CHESS_PRECISION_DEFAULT, f16: constants.CHESS_PRECISION_F16, f32: constants.CHESS_PRECISION_F32,
};
const bodies = { [constants.CHESS_BODY_RESIDUAL]: 'residual', [constants.CHESS_BODY_ATTENTION]: 'attention' };
const policies = {
  [constants.CHESS_POLICY_CLASSICAL]: 'classical', [constants.CHESS_POLICY_CONVOLUTION]: 'convolution',
  [constants.CHESS_POLICY_ATTENTION]: 'attention',
};

/** A move of the policy as White would play it; castling is the king taking its rook. */
export function moveName(policyIndex) {
  const name = Number.isInteger(policyIndex) && policyIndex >= 0 && policyIndex < moves
    ? said('mlxrocm_chess_net_move_name', policyIndex) : null;
  if (name === null) throw invalid(`moves of the policy are 0 to ${moves - 1}, not ${policyIndex}`);
  return name;
}

/** A network, immutable. */
export class Net extends Owned {
  /**
   * Loads a .pb.gz file or the same unpacked, on another thread. `device`: null is the CPU. The network must have the heads
   * that are asked for; `precision` 'default' is 'f16' on GPUs and 'f32' on the CPU.
   */
  static async load(path, { device = null, threads = 0, policyHead = 'vanilla', valueHead = 'winner',
    precision = 'default' } = {}) {
    const options = sized('mlxrocm_chess_net_options', {
      threads: unsigned(threads, 'threads'), policy_head: numberOf(policyHeads, policyHead, 'policyHead'),
      value_head: numberOf(valueHeads, valueHead, 'valueHead'), device: device?.handle ?? null,
      precision: numberOf(precisions, precision, 'precision'),
    });
    const handle = await makeAsync(device, 'mlxrocm_chess_net_load', ...text(path, 'the path'), options);
    return new Net(handle, 'mlxrocm_chess_net_free');
  }

  get info() {
    const facts = info('mlxrocm_chess_net_info', 'mlxrocm_chess_net_get_info', this.handle);
    return {
      inputFormat: facts.input_format, body: bodies[facts.body], depth: facts.depth, width: facts.width,
      policy: policies[facts.policy], hasDraws: facts.has_draws !== 0, hasMovesLeft: facts.has_moves_left !== 0,
      parameters: facts.parameters,
    };
  }

  /**
   * A position as the network's input: 112 masks of squares (bit 0 is a1, bit 63 h8, seen from the side to move), numbers
   * that their bits stand for, and the legal moves, none if the game is over.
   */
  planes({ fen = null, moves: played = [] } = {}) {
    const [masks, values] = [new BigUint64Array(planes), new Float32Array(planes)];
    const legal = Buffer.alloc(256 * MOVE_BYTES); // no position has more than 218
    const found = new BigUint64Array(1);
    const given = [...text(fen, 'the FEN'), ...texts(played, 'a move')];
    call('mlxrocm_chess_net_get_input', this.handle, ...given, masks, values, legal, 256, found);
    const made = Array.from({ length: Number(found[0]) }, (_, i) => {
      const begin = i * MOVE_BYTES + 8;
      const name = legal.toString('utf8', begin, begin + legal.readUInt32LE(begin - 4));
      return { name, policyIndex: legal.readUInt32LE(begin - 8) };
    });
    return { masks, values, moves: made };
  }

  /**
   * Evaluates up to 1,024 positions (or what `planes` gives) at once, on another thread; one gets the same alone and in any
   * batch. Temperatures above 1 make the chances of moves more alike. Several calls may run at the same time.
   */
  async evaluate(positions, { temperature = 1 } = {}) {
    if (positions.length === 0) return [];
    const batch = new Batch(this, positions, temperature);
    const results = new Results(batch.count);
    const given = [this.handle, batch.masks, batch.values, batch.count, ...results.places];
    await callAsync([this, batch], 'mlxrocm_chess_net_evaluate', ...given);
    return batch.evaluations(results);
  }
}

class Batch {
  constructor(net, positions, temperature) {
    this.count = positions.length;
    this.temperature = temperature;
    this.masks = new BigUint64Array(planes * this.count);
    this.values = new Float32Array(planes * this.count);
    this.legal = Array.from(positions, (position, i) => {
      const { masks, values, moves: legal = [] } = position.masks === undefined ? net.planes(position) : position;
      copied('masks', masks, this.masks, i);
      copied('values', values, this.values, i);
      return legal;
    });
  }

  evaluations({ policy, wdl, movesLeft }) {
    return this.legal.map((legal, i) => {
      const logits = policy.subarray(moves * i, moves * (i + 1));
      const [win, draw, loss] = wdl.subarray(3 * i, 3 * i + 3);
      return { win, draw, loss, movesLeft: movesLeft[i], moves: this.#chances(legal, logits), policy: logits };
    });
  }

  #chances(legal, logits) {
    const structs = Buffer.alloc(Math.max(legal.length, 1) * MOVE_BYTES);
    legal.forEach((move, i) => structs.writeUInt32LE(unsigned(move.policyIndex, 'policyIndex'), i * MOVE_BYTES));
    const chances = new Float32Array(Math.max(legal.length, 1));
    call('mlxrocm_chess_net_get_chances', logits, structs, legal.length, this.temperature, chances);
    return legal.map(({ name, policyIndex }, i) => ({ name, policyIndex, chance: chances[i] }));
  }
}

class Results {
  constructor(count) {
    this.policy = new Float32Array(moves * count);
    this.wdl = new Float32Array(3 * count);
    this.movesLeft = new Float32Array(count);
    this.places = [this.policy, this.wdl, this.movesLeft];
  }
}

function copied(what, given, target, place) {
  if (!(given instanceof target.constructor) || given.length !== planes) {
    throw invalid(`${what} of a position are a ${target.constructor.name} of ${planes}, not ${given?.constructor.name} of `
      + `${given?.length}`);
  }
  target.set(given, planes * place);
}

/** Batches that a network evaluates one after the other; small ones that wait together are evaluated together. */
export class Queue extends Owned {
  #net;
  // By their numbers, those that were not taken yet.
  #batches = new Map();
  #largest = 1;

  constructor(net) {
    super(make('mlxrocm_chess_queue_create', net.handle), 'mlxrocm_chess_queue_free');
    this.#net = net;
  }

  /**
   * Hands in 1 to 1,024 positions and returns at once: the batch's number, 0, 1, 2 … of this queue; null if it holds 64
   * already, those whose results wait included.
   */
  submit(positions, { temperature = 1 } = {}) {
    if (!(temperature > 0 && temperature < Infinity)) throw invalid(`a temperature is above 0, not ${temperature}`);
    const batch = new Batch(this.#net, positions, temperature);
    const number = new BigUint64Array(1);
    const status = call('mlxrocm_chess_queue_submit', this.handle, batch.masks, batch.values, batch.count, number);
    if (status === constants.PENDING) return null;
    this.#largest = Math.max(this.#largest, batch.count);
    this.#batches.set(Number(number[0]), batch);
    return Number(number[0]);
  }

  /** The oldest batch, `{ number, evaluations }`, when it is done; null when the queue holds none. */
  async next() {
    const [count, number] = [new BigUint64Array(1), new BigUint64Array(1)];
    for (;;) {
      const capacity = this.#largest;
      const results = new Results(capacity);
      const given = [capacity, ...results.places, count, number];
      let status = constants.PENDING;
      try {
        status = await callAsync(this, 'mlxrocm_chess_queue_next', this.handle, WAIT_NS, ...given);
      } catch (error) {
        // One that was handed in meanwhile.
        if (error.code !== 'BUFFER_TOO_SMALL' || this.#largest === capacity) throw error;
      }
      if (status === constants.END) return null;
      if (status !== constants.OK) continue;
      const batch = this.#batches.get(Number(number[0]));
      this.#batches.delete(Number(number[0]));
      return { number: Number(number[0]), evaluations: batch.evaluations(results) };
    }
  }

  /** Takes what the queue holds. */
  async *[Symbol.asyncIterator]() {
    for (let taken = await this.next(); taken !== null; taken = await this.next()) yield taken;
  }
}
