"""Makes src/formats/quantization/grid_tables.rs: the grids of GGUF's I-quants.

    python3 -m venv venv && venv/bin/pip install numpy gguf && venv/bin/python make_grids.py

The grids are facts of the file format: which four or eight numbers an index stands for. They are read from the
PyPI package `gguf` (MIT licence, Copyright (c) 2023 Georgi Gerganov) and written as places among the magnitudes
that src/formats/quantization/values.rs lists, 2 or 3 bits a number, the first number lowest.
"""

from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).parent
OUT = HERE.parents[2] / "src/formats/quantization/grid_tables.rs"
GRIDS = [
    ("IQ2_XXS", gguf.quants.IQ2_XXS, (8, 25, 43), 2),
    ("IQ2_XS", gguf.quants.IQ2_XS, (8, 25, 43), 2),
    ("IQ2_S", gguf.quants.IQ2_S, (8, 25, 43), 2),
    ("IQ3_XXS", gguf.quants.IQ3_XXS, (4, 12, 20, 28, 36, 44, 52, 62), 3),
    ("IQ3_S", gguf.quants.IQ3_S, (1, 3, 5, 7, 9, 11, 13, 15), 3),
    ("IQ1", gguf.quants.IQ1_S, (-1, 0, 1), 2),
]
lines = [
    "//! The grids of GGUF's I-quants, written by `tests/golden/formats/make_grids.py` from the tables of",
    "//! the PyPI package `gguf` (MIT licence, Copyright (c) 2023 Georgi Gerganov): facts of the format.",
    "//!",
    "//! An entry holds the places of its numbers among the grid's magnitudes, 2 bits each (IQ3: 3), the",
    "//! first number lowest.",
]
for name, kind, magnitudes, bits in GRIDS:
    kind.init_grid()
    grid = kind.grid.reshape(kind.grid_shape).astype(int)
    place = {m: i for i, m in enumerate(magnitudes)}
    entries = [sum(place[int(v)] << (bits * k) for k, v in enumerate(row)) for row in grid]
    assert len(set(entries)) == len(entries) and max(entries) < 1 << 16
    lines += ["", "#[rustfmt::skip]", f"pub(super) const {name}: [u16; {len(entries)}] = ["]
    for i in range(0, len(entries), 16):
        lines.append("    " + " ".join(f"{e:#06x}," for e in entries[i : i + 16]))
    lines.append("];")
# Seven bits of signs stand for eight, an even number of which are set: this library computes them.
ksigns = np.frombuffer(gguf.quants.IQ2_XXS.ksigns, dtype=np.uint8)
assert all(s == i | (i.bit_count() & 1) << 7 for i, s in enumerate(ksigns.tolist()))
OUT.write_text("\n".join(lines) + "\n")
