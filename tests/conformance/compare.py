"""Drives the library's C API and MLX's CPU device with the same inputs.

    compare.py LIBRARY TABLE [SEED] [NAME]     TABLE is compared; with MLXROCM_BLESS=1 it is written.

MLXROCM_CONFORMANCE_DEVICE is the device that the arrays are on. On the CPU (0) the table's dtypes and cases are compared,
on a GPU the column of what it computes itself, whatever the layout; what is computed by way of the CPU must be in the list
of table.py. With MLXROCM_TEST_ALL=1 nothing takes turns.

Where MLX differs on purpose or by chance, the case says so beside it.
"""
import os
import sys
import time
from pathlib import Path

import mlx.core as mx

import algebra
import arrangement
import elements
import files
import gathering
import names
import networks
import products
import rows
import table
import totals
from cases import Tester
from library import Library

FAMILIES = [elements.unary, elements.binary, totals.reductions, totals.orders, arrangement.creation,
            arrangement.shapes, gathering.reads, gathering.writes, files.files, files.einsum, files.refusals,
            products.dense, products.chosen, products.codes, products.quantized, networks.convolutions,
            networks.transforms, networks.layers, networks.moves, algebra.inexact, algebra.random, rows.many,
            rows.deep]


def main():
    path, table_path = sys.argv[1], Path(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns() % 2**32
    only = sys.argv[4] if len(sys.argv) > 4 else None
    print(f"seed {seed}, MLX {mx.__version__}", flush=True)
    mx.set_default_device(mx.cpu)
    found, failures, said, lacking = {}, [], [0], set()

    def note(primitive, name, dtype, layout, outcome, counted=True):
        if only and name != only:
            return
        takes, wrong = outcome
        by_cpu, said[0] = tester.library.by_cpu[said[0]:], len(tester.library.by_cpu)
        found.setdefault((primitive, name), table.Row()).count(dtype, takes, bool(by_cpu), counted)
        lacking.update(f"{name} of {dtype}, {layout}: the CPU computed {what} ({', '.join(dtypes)}) for the GPU"
                       for what, dtypes in by_cpu if not table.may_be_of_cpu(what))
        if wrong:
            failures.append(f"{name} {dtype} {layout}: {wrong}")

    device = int(os.environ.get("MLXROCM_CONFORMANCE_DEVICE", "0"))
    whole = os.environ.get("MLXROCM_TEST_ALL") == "1"
    tester = Tester(Library(path, device), seed, whole)
    for family in FAMILIES:
        family(tester, note)
    tester.library.close()
    # A few of each function.
    seen = {}
    for failure in failures:
        name = failure.split(" ")[0]
        seen[name] = seen.get(name, 0) + 1
    shown = [f for name in seen for f in [f for f in failures if f.split(" ")[0] == name][:3]]
    for failure in shown[:90]:
        print(failure)
    rest, wrong = names.section(Path(__file__).parents[2] / "include/mlxrocm.h")
    for what in wrong:
        print(what)
    for what in sorted(lacking)[:90]:
        print(what)
    print(f"{sum(row.cases for row in found.values())} cases, {len(failures)} wrong")
    if failures or wrong or lacking or not (only or table.compared(table_path, found, device, whole, rest)):
        sys.exit(1)


main()
