"""The C++ header of array operations: include/mlxrocm_operations.hpp, which mlxrocm_array.hpp includes."""

import textwrap

from . import description as d
from .python import ordered

TYPES = {
    "array": "const Array &", "arrays": "const std::vector<Array> &", "ints": "const std::vector<std::int64_t> &",
    "string": "const std::string &", "dtype": "DType ", "int": "std::int64_t ", "float": "double ", "flag": "bool ",
    "seed": "std::uint64_t ", "count": "std::size_t ",
}  # fmt: skip

VALUES = {
    "None": "{}", "True": "true", "False": "false", "FLOAT32": "DType::float32", "INT32": "DType::int32",
    "float('nan')": "std::numeric_limits<double>::quiet_NaN()",
}  # fmt: skip

HEAD = """\
// mlxrocm_operations.hpp: made by bindings/generate.py from include/mlxrocm.json; do not edit. Include
// mlxrocm_array.hpp.
#ifndef MLXROCM_OPERATIONS_HPP
#define MLXROCM_OPERATIONS_HPP

namespace mlxrocm {
namespace ops {
"""


def _comment(text):
    return "".join(f"// {line}\n" for line in textwrap.wrap(text, 105))


def _joined(head, items, tail):
    """A call or a head of a function in lines of at most 110 characters."""
    line = head + ", ".join(items) + tail
    if len(line) <= 110:
        return line
    body = textwrap.wrap(", ".join(items), 100, break_long_words=False, break_on_hyphens=False)
    return head + "\n" + "\n".join("        " + part for part in body) + tail


def _operation(operation):
    signature, arguments = [], []
    for p, default in ordered(operation):
        kind = TYPES[p.kind]
        if p.nullable and p.kind == "ints":
            kind = "const Axes &"
        elif p.nullable and p.kind == "int":
            kind = "Axis "
        elif p.nullable and p.kind == "dtype":
            kind = "std::optional<DType> "
        value = VALUES.get(default, default)
        signature.append(f"{kind}{p.name}" + ("" if default is None else f" = {value}"))
    for p in operation.parameters:
        arguments += {
            "array": [f"{p.name}.get()"],
            "arrays": [f"detail::handles({p.name}).data()", f"{p.name}.size()"],
            "ints": [f"{p.name}.data()", f"{p.name}.size()"],
            "string": [f"{p.name}.data()", f"{p.name}.size()"],
            "dtype": [f"detail::or_none({p.name})" if p.nullable else f"static_cast<std::uint32_t>({p.name})"],
            "flag": [f"std::int32_t{{{p.name}}}"],
        }.get(p.kind, [f"{p.name}.number()" if p.nullable else p.name])
    if operation.many:
        count = {"count": "arrays.size()", "places_count + 1": "places.size() + 1"}.get(operation.many, operation.many)
        result, maker, arguments = "std::vector<Array>", "detail::many(", [count, f"{operation.function}", *arguments]
    elif len(operation.outputs) == 1:
        result, maker, arguments = "Array", "detail::one(", [operation.function, *arguments]
    elif operation.outputs:
        count = len(operation.outputs)
        result = f"std::array<Array, {count}>"
        maker, arguments = f"detail::several<{count}>(", [operation.function, *arguments]
    else:
        result, maker, arguments = "void", "detail::call(", [operation.function, *arguments]
    head = _joined(f"inline {result} {operation.name}(", signature, ") {\n")
    back = "return " if operation.outputs else ""
    return _comment(operation.summary) + head + _joined(f"    {back}{maker}", arguments, ");\n") + "}\n"


def header(description):
    made = "\n".join(_operation(operation) for operation in d.operations(description))
    return HEAD + made + "\n} // namespace ops\n} // namespace mlxrocm\n\n#endif // MLXROCM_OPERATIONS_HPP\n"


def files(description):
    return {"include/mlxrocm_operations.hpp": header(description)}
