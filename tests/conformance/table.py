"""The table docs/operations.md: what ran, of which dtypes, and what of it a GPU computed itself."""
import os

from library import DTYPES

# What GPUs have no form of: the CPU computes it (LAPACK's operations).
OF_CPU = ["cholesky", "eig", "eigh", "inverse", "luf", "qrf", "svd"]


def may_be_of_cpu(operation):
    """Whether it is documented that the CPU computes an operation for GPUs."""
    return operation in OF_CPU


HEAD = """# Operations

Made by `tests/conformance` (`MLXROCM_BLESS=1 cargo test --test conformance`): every case runs on the library's CPU device \
and on MLX's with the same fresh random inputs, and again on a GPU. GPU: the dtypes of which a GPU computes every case \
itself; where there is none, those of which it computes a part; the CPU computes the rest for it. That is LAPACK's operations \
(""" + ", ".join(OF_CPU) + """): the run on a GPU fails if the CPU computes any other. Layouts and keys are other \
ones on every run; `MLXROCM_TEST_ALL=1` takes all layouts of all shapes at once, and an operation with more than 2^16 rows, \
which else takes turns.

| MLX's primitive | function `mlxrocm_array_…` | dtypes | GPU | cases |
|---|---|---|---|---|
"""


def named(dtypes):
    """A set of dtypes in few words."""
    lacking = [dtype for dtype in DTYPES if dtype not in dtypes]
    if 0 < len(lacking) < 5:
        return "all but " + ", ".join(lacking)
    return ", ".join(d for d in DTYPES if d in dtypes) if lacking else "all"


class Row:
    """What a function did."""

    def __init__(self):
        self.dtypes, self.by_cpu, self.by_gpu, self.cases = set(), set(), set(), 0

    def count(self, dtype, takes, by_cpu, counted):
        if takes:
            self.dtypes.add(dtype)
            (self.by_cpu if by_cpu else self.by_gpu).add(dtype)
        self.cases += counted

    def on_gpu(self):
        """The column of GPUs: dtypes that never needed the CPU, or in part."""
        whole = self.by_gpu - self.by_cpu
        if whole or not self.by_gpu:
            return named(whole)
        return f"{len(self.by_gpu)} in part" if len(self.by_gpu) > 4 else f"{named(self.by_gpu)} in part"


def read(path):
    """The table's cells by primitive and function."""
    lines = path.read_text().splitlines() if path.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {(row[0], row[1].strip("`")): row[2:] for row in cells if len(row) == 5 and row[1].startswith("`")}


def compared(path, rows, device, whole, rest):
    """Whether the table is what this run gives, or it is written; `rest` follows it."""
    before = read(path)
    made = {}
    for key, row in rows.items():
        dtypes, gpu, cases = before.get(key, [None, "", None])
        if device:
            made[key] = [dtypes, row.on_gpu(), cases]
        else:
            # A whole run has more cases, and is not written.
            made[key] = [named(row.dtypes), gpu, cases if whole else str(row.cases)]
    if os.environ.get("MLXROCM_BLESS") == "1" and not whole:
        lines = [f"| {key[0]} | `{key[1]}` | {' | '.join(map(str, cells))} |" for key, cells in sorted(made.items())]
        path.write_text(HEAD + "\n".join(lines) + "\n" + rest)
        return True
    for key in sorted(made.keys() | before.keys()):
        if made.get(key) != before.get(key):
            print(f"{path.name}: {key[1]} of {key[0]}: {made.get(key)}, not {before.get(key)}")
    if not path.exists() or not path.read_text().endswith(rest):
        print(f"{path.name}: the section of what is left out is not up to date")
        return False
    return made == before
