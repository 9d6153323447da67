"""The deterministic strings of the tokenizer tests; tests/text_strings/mod.rs makes the same ones."""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
MASK = (1 << 64) - 1
ATOMS = json.load(open(os.path.join(HERE, "strings.json"), encoding="utf-8"))


class Random:
    """splitmix64"""

    def __init__(self, seed):
        self.state = seed & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return (self.next() >> 16) % n


def part(r):
    def pick(name):
        atoms = ATOMS[name]
        return atoms[r.below(len(atoms))]

    kind = r.below(20)
    if kind <= 3:
        return pick("words")
    if kind <= 5:
        return " " + pick("words")
    if kind == 6:
        return " "
    if kind == 7:
        return "".join(pick("white") for _ in range(1 + r.below(6)))
    if kind == 8:
        return " " * (1 + r.below(20))
    if kind == 9:
        return "".join(chr(48 + r.below(10)) for _ in range(1 + r.below(12)))
    if kind <= 12:
        low, high = ATOMS["ranges"][r.below(len(ATOMS["ranges"]))]
        return "".join(chr(low + r.below(high - low + 1)) for _ in range(1 + r.below(8)))
    if kind == 13:
        return pick("emoji")
    if kind == 14:
        return pick("code")
    if kind == 15:
        return chr(97 + r.below(26)) + "".join(pick("marks") for _ in range(1 + r.below(4)))
    if kind == 16:
        code = r.below(65)
        return chr(code if code < 32 else code - 32 + 127)
    if kind == 17:
        if r.below(4) > 0:
            return pick("words")
        unit = pick("words") if r.below(2) == 0 else chr(97 + r.below(26))
        return unit * (20 + r.below(60))
    if kind == 18:
        return pick("special")
    # Bytes that are seldom UTF-8, converted as the API's edge does.
    starts = [0xC3, 0xE4, 0xF0, 0x80, 0xFF, 0xED]
    out = bytearray()
    for _ in range(1 + r.below(5)):
        out.append(starts[r.below(6)] if r.below(2) == 0 else r.below(256))
    return bytes(out).decode("utf-8", "replace")


def string(index):
    r = Random(index * 0x2545F4914F6CDD1D + 1)
    return "".join(part(r) for _ in range(1 + r.below(10)))


def fnv(data):
    """FNV-1a, 32 bits."""
    h = 0x811C9DC5
    for byte in data:
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def fnv_ids(ids):
    return fnv(b"".join(int(i).to_bytes(4, "little") for i in ids))
