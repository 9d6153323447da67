"""The Python package's files that are made from the description: _abi.py and _operations.py."""

import ast
import textwrap

from . import description as d

HEAD = '"""Made by bindings/generate.py from include/mlxrocm.json. Do not edit."""\n\n'

CTYPES = {
    "void": "None", "double": "C.c_double", "float": "C.c_float", "char": "C.c_char",
    "int32_t": "C.c_int32", "int64_t": "C.c_int64", "uint8_t": "C.c_uint8",
    "uint32_t": "C.c_uint32", "uint64_t": "C.c_uint64", "size_t": "C.c_size_t", "mlxrocm_status": "C.c_int32",
}  # fmt: skip

# Usual values, as MLX has them. "-" says that a parameter has none in this function.
DEFAULTS = {
    "keepdims": "False", "ddof": "0", "decimals": "0", "rtol": "1e-5", "atol": "1e-8", "equal_nan": "False",
    "dtype": "FLOAT32", "key": "None", "k": "0", "offset": "0", "axis1": "0", "axis2": "1", "precise": "False",
    "reverse": "False", "inclusive": "True", "right": "False", "upper": "False", "alpha": "1.0", "beta": "1.0",
    "start": "0", "end": "-1", "inverted": "False", "sparse": "False", "swapped": "False", "transpose": "True",
    "group_size": "0", "bits": "0", "mode": '"affine"', "groups": "1", "flip": "False", "nan": "0.0",
    "posinf": "float('nan')", "neginf": "float('nan')", "scale": "float('nan')", "eps": "1e-5",
}  # fmt: skip
SPECIAL = {
    "topk.k": "-", "astype.dtype": "-", "view.dtype": "-", "trace.dtype": "-", "slice.start": "-",
    "quantize_float.mode": "-", "qqmm.mode": '"nvfp4"', "gather_qqmm.mode": '"nvfp4"',
    "fast_rope.offset": "-", "fast_rope.scale": "-", "fast_scaled_dot_product_attention.k": "-",
    "fast_scaled_dot_product_attention.scale": "-", "sort.axis": "-1", "argsort.axis": "-1",
    "partition.axis": "-1", "argpartition.axis": "-1", "topk.axis": "-1", "concatenate.axis": "0",
    "stack.axis": "0", "split.axis": "0", "split_parts.axis": "0", "linalg_cross.axis": "-1",
    "random_categorical.axis": "-1", "random_categorical_num_samples.axis": "-1",
    "random_categorical_shape.axis": "-1", "random_permutation.axis": "0", "random_randint.dtype": "INT32",
    "random_bits.width": "4", "arange.start": "-", "linspace.start": "-",
    "slice_dynamic.start": "-", "slice_update_dynamic.start": "-", "gather_mm.lhs_indices": "None",
    "gather_mm.rhs_indices": "None", "linalg_eigh.upper": "False", "random_laplace.loc": "0.0",
    "zeros_like.dtype": "None", "ones_like.dtype": "None", "full_like.dtype": "None",
    "fft_fft.n": "0", "fft_ifft.n": "0", "fft_rfft.n": "0", "fft_irfft.n": "0", "fft_fft.axis": "-1",
    "fft_ifft.axis": "-1", "fft_rfft.axis": "-1", "fft_irfft.axis": "-1", "fft_fftfreq.d": "1.0",
    "fft_rfftfreq.d": "1.0", "conv1d.stride": "1", "conv1d.padding": "0", "conv1d.dilation": "1",
    "conv_transpose1d.stride": "1", "conv_transpose1d.padding": "0", "conv_transpose1d.dilation": "1",
    "conv_transpose1d.output_padding": "0", "random_laplace.scale": "1.0", "random_split.count": "2", "pad.mode": "0", "random_split.key": "-",
}  # fmt: skip

# Arrays whose dtype says nothing about that of the numbers beside them.
NOT_ELEMENTS = {
    "key", "condition", "indices", "lhs_indices", "rhs_indices", "mask", "offset", "freqs", "segments", "start",
    "mask_out", "mask_lhs", "mask_rhs",
}  # fmt: skip

TYPES = {
    "array": "ArrayLike", "arrays": "Sequence[ArrayLike]", "ints": "int | Sequence[int]", "string": "str",
    "dtype": "Dtype", "int": "int", "float": "float", "flag": "bool", "seed": "int", "count": "int",
}  # fmt: skip


def _ctype(kind, description):
    if kind in CTYPES:
        return CTYPES[kind]
    if kind in {callback["name"] for callback in description["callbacks"]}:
        return kind.removeprefix("mlxrocm_")
    if kind in {struct["name"] for struct in description["structs"]}:
        return kind.removeprefix("mlxrocm_")
    if not kind.endswith("*"):
        raise SystemExit(f"no ctypes type for {kind}")
    # char pointers that go in; buffers, handles and structs are addresses.
    return "C.c_char_p" if kind == "const char *" else "C.c_void_p"


def abi(description):
    out = [HEAD, "import ctypes as C\n\n"]
    out.append(f"SONAME = {description['library']['soname']!r}\n")
    out.append(f"LIBRARY_VERSION = {description['library']['version']!r}\n\n")
    for constant in description["constants"]:
        out.append(f"{constant['name'].removeprefix('MLXROCM_')} = {constant['value']}\n")
    out.append("\n")
    for callback in description["callbacks"]:
        kinds = [callback["returns"]] + [p["type"] for p in callback["parameters"]]
        types = ", ".join("C.c_void_p" if kind == "const char *" else _ctype(kind, description) for kind in kinds)
        out.append(f"{callback['name'].removeprefix('mlxrocm_')} = C.CFUNCTYPE({types})\n")
    for struct in description["structs"]:
        out.append(f"\n\nclass {struct['name'].removeprefix('mlxrocm_')}(C.Structure):\n    _fields_ = [\n")
        for field in struct["fields"]:
            kind = _ctype(field["type"], description)
            count = f" * {field['count']}" if "count" in field else ""
            out.append(f'        ("{field["name"]}", {kind}{count}),\n')
        out.append("    ]\n")
    out.append("\n\n# Bytes of each struct and of its fields' offsets, as the compiler of the library lays them out.\nLAYOUT = {\n")
    for struct in description["structs"]:
        offsets = {field["name"]: field["offset"] for field in struct["fields"]}
        out.append(f"    {struct['name'].removeprefix('mlxrocm_')}: ({struct['size']}, {offsets!r}),\n")
    out.append("}\n\n# Result and parameters of each function.\nFUNCTIONS = {\n")
    for function in description["functions"]:
        types = ", ".join(_ctype(p["type"], description) for p in function["parameters"])
        # A text has its length beside it: ctypes would end one that comes out at its first NUL.
        result = "C.c_void_p" if function["returns"] == "const char *" else _ctype(function["returns"], description)
        comma = "," if len(function["parameters"]) == 1 else ""
        out.append(f'    "{function["name"]}": ({result}, ({types}{comma})),\n')
    out.append("}\n\nERRORS = {\n")
    for name, value in d.statuses(description):
        out.append(f'    {value}: "{name}",\n')
    out.append("}\n")
    return "".join(out)


def _default(operation, parameter):
    special = SPECIAL.get(f"{operation.name}.{parameter.name}")
    if special is not None:
        return None if special == "-" else special
    if parameter.nullable:
        return "None"
    return None if parameter.kind in ("array", "arrays", "ints") else DEFAULTS.get(parameter.name)


def ordered(operation):
    """Parameters and their usual values (or None): those without one first, in C's order otherwise."""
    pairs = [(parameter, _default(operation, parameter)) for parameter in operation.parameters]
    return [pair for pair in pairs if pair[1] is None] + [pair for pair in pairs if pair[1] is not None]


def _signature(operation):
    out = []
    for parameter, default in ordered(operation):
        kind = TYPES[parameter.kind] + (" | None" if parameter.nullable else "")
        out.append(f"{_name(parameter)}: {kind}" + ("" if default is None else f" = {default}"))
    return ", ".join(out)


def _name(parameter):
    # MLX says `axis` also where there may be several.
    return "axis" if parameter.name == "axes" and parameter.kind == "ints" else parameter.name


def _arguments(operation):
    out = []
    arrays = [p for p in operation.parameters if p.kind == "array" and p.name not in NOT_ELEMENTS]
    for parameter in operation.parameters:
        name = _name(parameter)
        if parameter.kind == "array":
            like = ", ".join(_name(p) for p in arrays if p is not parameter and parameter in arrays)
            out.append(f"_array({name}{', ' + like if like else ''})")
        elif parameter.kind == "arrays":
            out.append(f"*_arrays({name})")
        elif parameter.kind == "ints":
            out.append(f"*_ints({name})")
        elif parameter.kind == "string":
            out.append(f"*_utf8({name})")
        elif parameter.kind == "dtype":
            out.append(f"-1 if {name} is None else _dtype({name})" if parameter.nullable else f"_dtype({name})")
        elif parameter.kind == "int" and parameter.nullable:
            out.append(f"_axis({name})")
        elif parameter.kind == "flag":
            out.append(f"bool({name})")
        else:
            out.append(name)
    return out


def operations(description):
    out = [HEAD.replace('Do not edit."""', 'Do not edit.\n\nThe array operations in the C interface\'s form; core, linalg, fft, fast and random have MLX\'s.\n"""')]
    out.append("from __future__ import annotations\n\nimport sys\nfrom collections.abc import Sequence\n\nfrom . import _methods\n")
    out.append("from ._array import (ArrayLike, Dtype, array, _array, _arrays, _axis, _dtype, _ints, _many, _one,\n"
               "                     _operate, _tuple, _update)\n")
    out.append("from ._library import utf8 as _utf8\n")
    out.append("from .dtypes import float32 as FLOAT32, int32 as INT32\n")
    for operation in d.operations(description):
        arguments = ", ".join([f'"{operation.function}"'] + _arguments(operation))
        if operation.many:
            result, count = "list[array]", operation.many
            count = {"count": "len(arrays)", "places_count + 1": "len(_ints(places)[0] or ()) + 1"}.get(count, count)
            body = f"_many({count}, {arguments})"
        elif len(operation.outputs) > 1:
            result = f"tuple[{', '.join(['array'] * len(operation.outputs))}]"
            body = f"_tuple({len(operation.outputs)}, {arguments})"
        elif operation.outputs:
            result, body = "array", f"_one({arguments})"
        else:
            result, body = "None", f"_tuple(0, {arguments})"
        summary = operation.summary.replace('"', "'")
        out.append(f"\n\ndef {operation.name}({_signature(operation)}) -> {result}:\n")
        out.append(f'    """{summary}"""\n')
        out.append(f"    {'return ' if operation.outputs else ''}{body}\n")
    out.append("\n\n_methods._o = sys.modules[__name__]\n")
    return "".join(out)


# Operations that are methods of arrays too, as in MLX.
METHODS = """abs all any argmax argmin astype conjugate cos cummax cummin cumprod cumsum diag diagonal exp flatten log
log10 log1p log2 logcumsumexp logsumexp max mean median min moveaxis prod reciprocal round rsqrt sin square squeeze sqrt
std sum swapaxes var view""".split()


BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
UNARY = {"neg": "negative", "abs": "abs", "invert": "bitwise_invert"}


def _operators():
    for python, name in (BINARY | COMPARISONS).items():
        # object's own say bool.
        ignore = "  # type: ignore[override]" if python in ("eq", "ne") else ""
        yield f"    def __{python}__(self, other: Any) -> array:{ignore}\n        return _o._operate(\"mlxrocm_array_{name}\", self, other)\n\n"
    for python, name in BINARY.items():
        yield f"    def __r{python}__(self, other: Any) -> array:\n        return _o._operate(\"mlxrocm_array_{name}\", self, other, True)\n\n"
    for python, name in BINARY.items():
        yield f"    def __i{python}__(self, other: Any) -> Any:\n        return _o._update(\"mlxrocm_array_{name}\", self, other)\n\n"
    for python, name in UNARY.items():
        yield f"    def __{python}__(self) -> array:\n        return _o.{name}(self)\n\n"


def methods(description):
    out = [HEAD.replace('Do not edit."""', 'Do not edit.\n\nOperations as methods of arrays.\n"""')]
    out.append("from __future__ import annotations\n\nfrom collections.abc import Sequence\nfrom typing import TYPE_CHECKING, Any\n\n")
    out.append("if TYPE_CHECKING:\n    from ._array import array\n    from .dtypes import Dtype\n\n")
    out.append("# _operations, which cannot be imported before arrays are there.\n_o: Any = None\n\n\nclass Methods:\n")
    named = {operation.name: operation for operation in d.operations(description)}
    for name in METHODS:
        # Its parameters have other names in MLX: _array.py has it.
        if name == "flatten":
            continue
        operation = named[name]
        parameters = _signature(operation).split(", ", 1)[1:]
        names = [p.split(":")[0] for p in parameters[0].split(", ")] if parameters else []
        out.append(f"    def {name}(self, {parameters[0]}) -> array:\n" if parameters else f"    def {name}(self) -> array:\n")
        summary = operation.summary.replace('"', "'")
        out.append(f'        """{summary}"""\n')
        out.append(f"        return _o.{name}({', '.join(['self'] + names)})\n\n")
    out.extend(_operators())
    out.append("    # Elements are compared: arrays are no keys.\n    __hash__ = None  # type: ignore[assignment]\n")
    return "".join(out)


def core(description):
    """MLX's names: those of _forms.py, and of _operations.py what has MLX's form already."""
    forms = ast.parse((d.ROOT / "bindings/python/src/mlxrocm/_forms.py").read_text())
    own = set()
    for node in forms.body:
        if isinstance(node, ast.FunctionDef):
            own.add(node.name)
        elif isinstance(node, (ast.Assign, ast.ImportFrom)):
            names = [alias.asname or alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else [
                name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            own.update(names)
    own = sorted(name for name in own if not name.startswith("_") and name.upper() != name and name not in ("annotations", "Sequence", "Any"))
    rest = [o.name for o in d.operations(description)
            if o.name not in own and o.name.split("_")[0] not in ("linalg", "fft", "fast", "random")]
    doc = ast.get_docstring(forms, clean=False)
    modules = ["fast", "fft", "linalg", "random"]
    out = [f'"""{doc}Made by bindings/generate.py. Do not edit.\n"""\n\n', f"from . import {', '.join(modules)}\n"]
    for module, names in (("_forms", own), ("_operations", rest)):
        out.append(f"from .{module} import (\n" + _wrapped(names, str) + ")  # fmt: skip\n")
    out.append("\n__all__ = [\n" + _wrapped(sorted(own + rest + modules), lambda name: f'"{name}"') + "]  # fmt: skip\n")
    return "".join(out)


def _wrapped(names, form):
    return "\n".join(textwrap.wrap(", ".join(form(name) for name in names) + ",", 116, initial_indent="    ", subsequent_indent="    ")) + "\n"


def files(description):
    package = "bindings/python/src/mlxrocm"
    return {f"{package}/_abi.py": abi(description), f"{package}/_operations.py": operations(description),
            f"{package}/_methods.py": methods(description), f"{package}/core.py": core(description)}
