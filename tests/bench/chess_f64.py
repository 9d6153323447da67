"""What libmlxrocm and the engine lc0 say of positions, each beside the same network in f64: whose error is a difference.

    chess_f64.py LIBRARY NET FILE     FILE: of `chess_beside.py answers`; needs numpy

The network (f32 weights as the file's formula gives them, then all in f64, convolutions summed directly) is written here
from the format's facts and shares nothing with the library. It is maia's kind: blocks with squeeze and excitation,
policy of move planes, win, draw and loss.
"""

import ctypes
import gzip
import sys
from array import array

import numpy
from chess_beside import MOVES, PLANES, load

BATCH_NORM_EPS = 1e-5


def fields(data):
    """Number and value of a message's fields."""
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte, at = data[at], at + 1
            number, shift = number | (byte & 127) << shift, shift + 7
            if byte < 128:
                return number

    while at < len(data):
        tag = varint()
        size = {0: 0, 1: 8, 5: 4}.get(tag & 7)
        if size == 0:
            yield tag >> 3, varint()
            continue
        size = varint() if size is None else size
        yield tag >> 3, data[at : at + size]
        at += size


def layer(data):
    part = dict(fields(data))
    low, high = (numpy.frombuffer(part[i], "<f4")[0] for i in (1, 2))
    t = numpy.frombuffer(part[3], "<u2").astype(numpy.float32) / numpy.float32(65535)
    return (low * (1 - t) + high * t).astype(float)


def dense(message, weights, x):
    b = layer(message[weights + 1])
    return x @ layer(message[weights]).reshape(b.size, -1).T + b


def conv(data, x, side):
    """Of [batch, channels, 8, 8], batch norm folded into it."""
    part = dict(fields(data))
    weights = layer(part[1]).reshape(-1, x.shape[1], side, side)
    bias = layer(part[2]) if part.get(2) else numpy.zeros(len(weights))
    if 3 in part:
        mean, variance = layer(part[3]), layer(part[4])
        gamma, beta = (layer(part[i]) if i in part else neutral for i, neutral in ((5, 1.0), (6, 0.0)))
        scale = gamma / numpy.sqrt(variance + BATCH_NORM_EPS)
        weights, bias = weights * scale[:, None, None, None], beta - scale * (mean - bias)
    around = side // 2
    padded = numpy.pad(x, ((0, 0), (0, 0), (around, around), (around, around)))
    sums = 0.0
    for row in range(side):
        for column in range(side):
            window = padded[:, :, row : row + 8, column : column + 8]
            sums = sums + numpy.tensordot(weights[:, :, row, column], window, axes=([1], [1]))
    return sums.swapaxes(0, 1) + bias[:, None, None]


def move_places():
    """For each move of the policy its place in [plane][square]."""
    lines = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
    planes = {(dx * n, dy * n): p * 7 + n - 1 for p, (dx, dy) in enumerate(lines) for n in range(1, 8)}
    planes |= {jump: 56 + p for p, jump in enumerate(jumps)}
    steps = [(a, (b % 8 - a % 8, b // 8 - a // 8)) for a in range(64) for b in range(64)]
    places = [planes[step] * 64 + a for a, step in steps if step in planes]
    for a in range(8):
        for b in range(max(a - 1, 0), min(a + 1, 7) + 1):
            places += [(64 + (b - a + 1) * 3 + "rbq".index(piece)) * 64 + 48 + a for piece in "qrb"]
    return places


def relu(x):
    return numpy.maximum(x, 0)


def exact(net, x):
    """Q, D and logits."""
    with gzip.open(net) as file:
        weights = next(value for number, value in fields(file.read()) if number == 10)
    one = dict(fields(weights))
    x = relu(conv(one[1], x, 3))
    for block in (dict(fields(value)) for number, value in fields(weights) if number == 2):
        y = conv(block[2], relu(conv(block[1], x, 3)), 3)
        gates = dict(fields(block[3]))
        both = dense(gates, 3, relu(dense(gates, 1, y.mean((2, 3)))))
        factor, summand = numpy.split(both[:, :, None, None], 2, axis=1)
        x = relu(x + y / (1 + numpy.exp(-factor)) + summand)
    policy = conv(one[3], relu(conv(one[11], x, 3)), 3).reshape(len(x), -1)[:, move_places()]
    value = relu(conv(one[6], x, 1)).reshape(len(x), -1)
    value = numpy.exp(dense(one, 9, relu(dense(one, 7, value))))
    win, draw, loss = (value / value.sum(1, keepdims=True)).T
    return numpy.column_stack([win - loss, draw, policy])


def main():
    library, net, file = sys.argv[1:]
    with gzip.open(file) as opened:
        data = opened.read()
    count = len(data) // (12 * PLANES + 4 * (3 + MOVES))
    masks, values = array("Q"), array("f")
    masks.frombytes(data[: 8 * PLANES * count])
    values.frombytes(data[8 * PLANES * count : 12 * PLANES * count])
    engine = numpy.frombuffer(data[12 * PLANES * count :], "<f4").reshape(count, -1)
    engine = numpy.delete(engine, 2, 1)
    policy, wdl, _ = load(ctypes.CDLL(library), net, None, True)(masks, values)
    wdl = numpy.array(wdl).reshape(count, 3)
    ours = numpy.column_stack([wdl[:, 0] - wdl[:, 2], wdl[:, 1], numpy.array(policy).reshape(count, -1)])
    bits = numpy.array(masks, numpy.uint64)[:, None] >> numpy.arange(64, dtype=numpy.uint64) & numpy.uint64(1)
    planes = (bits * numpy.array(values, float)[:, None]).reshape(count, PLANES, 8, 8)
    parts = [exact(net, planes[at : at + 50]) for at in range(0, count, 50)]
    in_f64 = numpy.concatenate(parts)
    print(count, f"positions, logits up to {abs(in_f64[:, 2:]).max():.1f}")
    for name, found, beside in [("libmlxrocm", ours, in_f64), ("lc0", engine, in_f64), ("one and other", ours, engine)]:
        far = abs(found - beside)
        root = numpy.sqrt((far[:, 2:] ** 2).mean())
        print(f"{name:13}: logits {far[:, 2:].max():.1e} (root of mean square {root:.1e}), value {far[:, :2].max():.1e}, "
              f"over 5e-4 {(far[:, 2:].max(1) > 5e-4).sum()} positions")


main()
