// Networks of Leela Chess Zero.

import type { Device } from './index.js';
import { Owned } from './library.js';

/** Where a game has come to: where it began (a FEN; null: the usual start) and the moves since, like "e2e4". */
export interface Position {
  fen?: string | null;
  moves?: string[];
}

/** A legal move: UCI's name and its place in the policy. */
export interface Legal {
  name: string;
  policyIndex: number;
}

/** A network's input: 112 masks of squares and the numbers that their bits stand for; the legal moves. */
export interface Planes {
  masks: BigUint64Array;
  values: Float32Array;
  moves?: Legal[];
}

export interface Move extends Legal {
  chance: number;
}

/** Chances of the side to move (of networks that tell a value q only: (1 + q) / 2, 0, (1 - q) / 2). */
export interface Evaluation {
  win: number;
  draw: number;
  loss: number;
  /** Plies; 0 of networks that do not tell. */
  movesLeft: number;
  /** None if the game is over. */
  moves: Move[];
  /** 1,858 logits of moves, legal or not. */
  policy: Float32Array;
}

export interface NetInfo {
  /** As Leela Chess Zero numbers its formats. */
  inputFormat: number;
  body: 'residual' | 'attention';
  depth: number;
  width: number;
  policy: 'classical' | 'convolution' | 'attention';
  hasDraws: boolean;
  hasMovesLeft: boolean;
  parameters: number;
}

export class Net extends Owned {
  private constructor();
  static load(
    path: string,
    options?: {
      device?: Device | null;
      threads?: number;
      policyHead?: 'vanilla' | 'optimistic' | 'soft' | 'opponent';
      valueHead?: 'winner' | 'q' | 'st';
      precision?: 'default' | 'f16' | 'f32';
    },
  ): Promise<Net>;
  readonly info: NetInfo;
  planes(position?: Position): Required<Planes>;
  /** Up to 1,024 positions at once. */
  evaluate(positions: (Position | Planes)[], options?: { temperature?: number }): Promise<Evaluation[]>;
}

/** Batches that a network evaluates one after the other. */
export class Queue extends Owned {
  constructor(net: Net);
  /** The batch's number; null if the queue holds 64 already. */
  submit(positions: (Position | Planes)[], options?: { temperature?: number }): number | null;
  /** The oldest batch when it is done; null when the queue holds none. */
  next(): Promise<{ number: number; evaluations: Evaluation[] } | null>;
  [Symbol.asyncIterator](): AsyncGenerator<{ number: number; evaluations: Evaluation[] }>;
}

/** A move of the policy as White would play it. */
export function moveName(policyIndex: number): string;
