"""What the bindings are made from: include/mlxrocm.json, and in it the array operations by what each
parameter means.

Which list has what for its length follows from the interface's conventions; `operations` fails where a parameter
follows none of them.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "mlxrocm_array_"

# Functions of an array as an object: each language writes these by hand.
OBJECT = {
    "from_data", "from_borrowed", "from_buffer", "buffer", "clone", "to_device", "to_stream", "dtype", "rank", "size",
    "bytes", "shape", "eval", "eval_async", "wait", "read", "item_f64", "item_i64", "free",
}  # fmt: skip

# Objects beside arrays whose names begin alike.
OTHERS = ("map_", "kernel_")

SCALARS = {"int64_t": "int", "double": "float", "int32_t": "flag", "uint64_t": "seed", "size_t": "count"}


@dataclass
class Parameter:
    name: str
    # array, arrays, ints, string, dtype, int, float, flag, seed, count
    kind: str
    nullable: bool
    doc: str


@dataclass
class Operation:
    name: str
    parameters: list
    outputs: list
    # How many arrays a single output receives: "count", "parts" or "places_count + 1"; "" where it is one.
    many: str
    doc: str

    @property
    def function(self):
        return PREFIX + self.name

    @property
    def summary(self):
        return self.doc.split("\n\n")[0].replace("\n", " ").replace(PREFIX, "")


def load():
    return json.loads((ROOT / "include/mlxrocm.json").read_text())


def _operation(function):
    parameters, outputs, many = [], [], ""
    todo = list(function["parameters"])
    if todo.pop()["type"] != "mlxrocm_error **" or function["returns"] != "mlxrocm_status":
        raise SystemExit(f"{function['name']}: not a function that can fail")
    while todo:
        parameter = todo.pop(0)
        name, kind = parameter["name"], parameter["type"]
        doc = " ".join(parameter["doc"].split())
        nullable = parameter.get("nullable", False)
        if kind == "mlxrocm_array **":
            outputs.append(name)
            if match := re.match(r"receives `(\w+)`( \+ 1)? arrays", doc):
                many = match[1] + (match[2] or "")
            continue
        if kind in ("const int64_t *", "const mlxrocm_array *const *"):
            length = todo.pop(0)
            if length["type"] != "size_t":
                raise SystemExit(f"{function['name']}: `{name}` has no length")
            kind = "ints" if kind == "const int64_t *" else "arrays"
        elif kind == "const mlxrocm_array *":
            kind = "array"
        elif kind == "const char *":
            if todo.pop(0)["name"] != f"{name}_length":
                raise SystemExit(f"{function['name']}: `{name}` has no length")
            kind = "string"
        elif kind == "uint32_t" and name == "dtype":
            kind = "dtype"
        elif kind == "int64_t" and name == "dtype_or_none":
            name, kind, nullable = "dtype", "dtype", True
        elif kind in SCALARS:
            nullable = "MLXROCM_AXIS_NONE" in doc
            kind = SCALARS[kind]
        else:
            raise SystemExit(f"{function['name']}: the type of `{name}` is new: {kind}")
        parameters.append(Parameter(name, kind, nullable, doc))
    return Operation(function["name"][len(PREFIX) :], parameters, outputs, many, function["doc"])


def operations(description):
    return [
        _operation(function)
        for function in description["functions"]
        if function["name"].startswith(PREFIX)
        and function["name"][len(PREFIX) :] not in OBJECT
        and not function["name"].startswith(OTHERS, len(PREFIX))
    ]


def statuses(description):
    """Name and value of each error, `INVALID_ARGUMENT` for `MLXROCM_ERROR_INVALID_ARGUMENT`."""
    return [
        (constant["name"].removeprefix("MLXROCM_ERROR_"), constant["value"])
        for constant in description["constants"]
        if constant["type"] == "mlxrocm_status" and constant["value"] < 0
    ]


def camel(name):
    return "".join(part.capitalize() for part in name.lower().split("_"))
