"""Drives the library's C API and MLX's CPU device with the same inputs.

    compare.py LIBRARY TABLE [SEED] [NAME]     TABLE is compared; with MLXROCM_BLESS=1 it is written.

MLXROCM_CONFORMANCE_DEVICE is the device that the arrays are on. On the CPU (0) the table's dtypes and cases are compared,
on a GPU the column of what it computes itself, whatever the layout.

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


def named(dtypes):
    """A set of dtypes in few words."""
    lacking = [dtype for dtype in DTYPES if dtype not in dtypes]
    if 0 < len(lacking) < 5:
        return "all but " + ", ".join(lacking)
    return ", ".join(d for d in DTYPES if d in dtypes) if lacking else "all"


def column(path):
    """What the table says of GPUs, by primitive and function."""
    lines = path.read_text().splitlines() if path.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {(row[0], row[1].strip("`")): row[3] for row in cells if len(row) == 5 and row[1].startswith("`")}


def main():
    path, table_path = sys.argv[1], Path(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns() % 2**32
    only = sys.argv[4] if len(sys.argv) > 4 else None
    print(f"seed {seed}, MLX {mx.__version__}", flush=True)
    mx.set_default_device(mx.cpu)
    rows, failures, said = {}, [], [0]

    def table(primitive, name, dtype, layout, outcome):
        if only and name != only:
            return
        takes, wrong = outcome
        row = rows.setdefault((primitive, name), [set(), 0, set()])
        by_cpu, said[0] = tester.library.by_cpu - said[0], tester.library.by_cpu
        if takes:
            row[0].add(dtype)
            if by_cpu:
                row[2].add(dtype)
        row[1] += 1
        if wrong:
            failures.append(f"{name} {dtype} {layout}: {wrong}")

    device = int(os.environ.get("MLXROCM_CONFORMANCE_DEVICE", "0"))
    tester = Tester(Library(path, device), seed)
    for family in FAMILIES:
        family(tester, table)
    cases = sum(count for _, count, _ in rows.values())
    # A few of each function.
    seen = {}
    for failure in failures:
        name = failure.split(" ")[0]
        seen[name] = seen.get(name, 0) + 1
    shown = [f for name in seen for f in [f for f in failures if f.split(" ")[0] == name][:3]]
    for failure in shown[:90]:
        print(failure)
    print(f"{cases} cases, {len(failures)} wrong")
    gpu = column(table_path)
    if device:
        made = {key: named(row[0] - row[2]) for key, row in rows.items()}
        gpu, before = {**gpu, **made}, gpu
        if only or failures:
            sys.exit(1 if failures else 0)
        if os.environ.get("MLXROCM_BLESS") != "1":
            for key in sorted(made):
                if made[key] != before.get(key):
                    print(f"{table_path.name}: {key[1]} on a GPU: {made[key] or 'none'}, not {before.get(key)}")
            sys.exit(1 if any(made[key] != before.get(key) for key in made) else 0)
        lines = table_path.read_text().splitlines()
        for at, line in enumerate(lines):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            key = (cells[0], cells[1].strip("`")) if len(cells) == 5 else None
            if key in made:
                cells[3] = made[key]
                lines[at] = "| " + " | ".join(cells) + " |"
        table_path.write_text("\n".join(lines) + "\n")
        return
    lines = ["# Operations", "",
             "Made by `tests/conformance` (`MLXROCM_BLESS=1 cargo test --test conformance`): every case runs on "
             "the library's CPU device and on MLX's with the same fresh random inputs, and again on a GPU. GPU: the "
             "dtypes of which a GPU computes every case itself; the CPU computes others for it.", "",
             "| MLX's primitive | function `mlxrocm_array_…` | dtypes | GPU | cases |", "|---|---|---|---|---|"]
    for (primitive, name), (dtypes, count, _) in sorted(rows.items()):
        on_gpu = gpu.get((primitive, name), "")
        lines.append(f"| {primitive} | `{name}` | {named(dtypes)} | {on_gpu} | {count} |")
    made = "\n".join(lines) + "\n"
    if only or failures:
        sys.exit(1 if failures else 0)
    if os.environ.get("MLXROCM_BLESS") == "1":
        table_path.write_text(made)
    elif not table_path.exists() or table_path.read_text() != made:
        print(f"{table_path.name} is not what this run gives: MLXROCM_BLESS=1 rewrites it")
        sys.exit(1)


main()
