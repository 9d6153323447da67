"""Drives the library's C API and MLX's CPU device with the same inputs.

    compare.py LIBRARY TABLE [SEED] [NAME]     TABLE is compared; with MLXROCM_BLESS=1 it is written.

MLXROCM_CONFORMANCE_DEVICE is the device that the arrays are on (0: the CPU, whose table it is).

Where MLX differs on purpose or by chance, the case says so beside it.
"""
import os
import sys
import time
from pathlib import Path

import mlx.core as mx

import arrangement
import elements
import files
import gathering
import totals
from cases import Tester
from library import DTYPES, Library

FAMILIES = [elements.unary, elements.binary, totals.reductions, totals.orders, arrangement.creation,
            arrangement.shapes, gathering.reads, gathering.writes, files.files, files.einsum, files.refusals]


def main():
    path, table_path = sys.argv[1], Path(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns() % 2**32
    only = sys.argv[4] if len(sys.argv) > 4 else None
    print(f"seed {seed}, MLX {mx.__version__}", flush=True)
    mx.set_default_device(mx.cpu)
    rows, failures = {}, []

    def table(primitive, name, dtype, layout, outcome):
        if only and name != only:
            return
        takes, wrong = outcome
        row = rows.setdefault((primitive, name), [set(), 0])
        if takes:
            row[0].add(dtype)
        row[1] += 1
        if wrong:
            failures.append(f"{name} {dtype} {layout}: {wrong}")

    device = int(os.environ.get("MLXROCM_CONFORMANCE_DEVICE", "0"))
    tester = Tester(Library(path, device), seed)
    for family in FAMILIES:
        family(tester, table)
    cases = sum(count for _, count in rows.values())
    # A few of each function.
    seen = {}
    for failure in failures:
        name = failure.split(" ")[0]
        seen[name] = seen.get(name, 0) + 1
    shown = [f for name in seen for f in [f for f in failures if f.split(" ")[0] == name][:3]]
    for failure in shown[:90]:
        print(failure)
    print(f"{cases} cases, {len(failures)} wrong")
    lines = ["# Operations", "",
             "Made by `tests/conformance` (`MLXROCM_BLESS=1 cargo test --test conformance`): every case runs on "
             "the library's CPU device and on MLX's with the same fresh random inputs.", "",
             "| MLX's primitive | function `mlxrocm_array_…` | dtypes | cases |", "|---|---|---|---|"]
    for (primitive, name), (dtypes, count) in sorted(rows.items()):
        lacking = [dtype for dtype in DTYPES if dtype not in dtypes]
        said = "all" if not lacking else ", ".join(d for d in DTYPES if d in dtypes)
        if 0 < len(lacking) < 5:
            said = "all but " + ", ".join(lacking)
        lines.append(f"| {primitive} | `{name}` | {said} | {count} |")
    made = "\n".join(lines) + "\n"
    if only or failures or device:
        sys.exit(1 if failures else 0)
    if os.environ.get("MLXROCM_BLESS") == "1":
        table_path.write_text(made)
    elif not table_path.exists() or table_path.read_text() != made:
        print(f"{table_path.name} is not what this run gives: MLXROCM_BLESS=1 rewrites it")
        sys.exit(1)


main()
