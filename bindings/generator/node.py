"""The Node package's files that are made from the description."""

import json

from . import description as d
from .python import METHODS, NOT_ELEMENTS, ordered

HEAD = "// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.\n"

TYPES = {
    "array": "ArrayLike", "arrays": "ArrayLike[]", "ints": "number | number[]", "string": "string", "dtype": "Dtype",
    "int": "number", "float": "number", "flag": "boolean", "seed": "number | bigint", "count": "number",
}  # fmt: skip

VALUES = {
    "None": "null", "True": "true", "False": "false", "FLOAT32": "'float32'", "INT32": "'int32'",
    "float('nan')": "NaN",
}  # fmt: skip

# Structs of which koffi makes lists where a struct points to them.
LISTS = {"mlxrocm_message", "mlxrocm_arg", "mlxrocm_array_type", "mlxrocm_array_template"}

# Structs of which functions take and fill lists: JavaScript reads and writes their bytes.
BYTES = {"mlxrocm_chess_move"}

# Names that JavaScript keeps for itself.
TAKEN = {"var": "variance", "in": "in_", "delete": "delete_"}


def _name(name):
    first, *rest = name.split("_")
    made = first + "".join(part.capitalize() for part in rest)
    return TAKEN.get(made, made)


def _type(kind, description):
    """How koffi passes a C type: typed arrays, buffers and addresses (BigInt) are `void *`. Texts too: they may hold NULs."""
    structs = {struct["name"] for struct in description["structs"]} - BYTES
    inner = kind.removeprefix("const ").removesuffix(" *")
    if inner in structs:
        return ("in " if kind.startswith("const ") else "inout ") + inner if kind.endswith("*") else inner
    if kind.endswith("*") or kind in {callback["name"] for callback in description["callbacks"]}:
        return "void *"
    return "int32_t" if kind == "mlxrocm_status" else kind


def _field(struct, field):
    kind = field["type"]
    if "count" in field:
        return ["array", kind, field["count"]]
    # A text has a length beside it, and so has what an event points to.
    if kind in ("const char *", "const char *const *") or (struct["name"], field["name"]) == ("mlxrocm_event", "top"):
        return "void *"
    if kind.endswith("*") and kind.removeprefix("const ").startswith("mlxrocm_") and not LISTS & set(kind.split()):
        return "void *"
    if kind.startswith("mlxrocm_") and not kind.endswith("*"):
        return "int32_t" if kind == "mlxrocm_status" else "void *"
    return kind


def interface(description):
    constants = {c["name"].removeprefix("MLXROCM_"): c["value"] for c in description["constants"]}
    out = [HEAD, "\nexport const constants = Object.freeze({\n"]
    # Numbers that a double does not hold are BigInts.
    out += [f"  {name}: {value}{'n' if abs(value) > 2**53 else ''},\n" for name, value in constants.items()]
    out.append("});\n\n// Fields of each struct, and their offsets as the library's compiler lays them out.\nexport const structs = {\n")
    order = sorted(description["structs"], key=lambda struct: struct["name"] not in LISTS)
    for struct in order:
        out.append(f"  {struct['name']}: {{\n    size: {struct['size']},\n    fields: {{\n")
        for field in struct["fields"]:
            out.append(f"      {field['name']}: [{field['offset']}, {json.dumps(_field(struct, field))}],\n")
        out.append("    },\n  },\n")
    out.append("};\n\n// Result and parameters of each function.\nexport const functions = {\n")
    for function in description["functions"]:
        types = [_type(p["type"], description) for p in function["parameters"]]
        result = _type(function["returns"], description)
        out.append(f"  {function['name']}: {json.dumps([result, types])},\n")
    out.append("};\n\nexport const errors = {\n")
    out += [f"  '{value}': '{name}',\n" for name, value in d.statuses(description)]
    out.append("};\n")
    return "".join(out)


def _argument(operation, parameter):
    name = _name(parameter.name)
    if parameter.kind == "array":
        like = []
        if parameter.name not in NOT_ELEMENTS:
            like = [_name(p.name) for p in operation.parameters
                    if p.kind == "array" and p is not parameter and p.name not in NOT_ELEMENTS]  # fmt: skip
        return f"toArray({', '.join([name] + like)})"
    forms = {"arrays": "...list({})", "ints": "...ints({})", "string": "...text({})", "dtype": "dtypeNumber({})",
             "flag": "{} ? 1 : 0"}  # fmt: skip
    if parameter.kind == "int" and parameter.nullable:
        return f"axisOrNone({name})"
    if parameter.kind == "dtype" and parameter.nullable:
        return f"dtypeOrNone({name})"
    return forms.get(parameter.kind, "{}").format(name)


def _parts(operation):
    """The function's name, its parameters in JavaScript and in TypeScript, and its result's type."""
    plain, typed = [], []
    for parameter, default in ordered(operation):
        name, kind = _name(parameter.name), TYPES[parameter.kind] + (" | null" if parameter.nullable else "")
        value = VALUES.get(default, default)
        plain.append(name if default is None else f"{name} = {value}".replace('"', "'"))
        typed.append(f"{name}: {kind}" if default is None else f"{name}?: {kind}")
    result = "NDArray"
    if operation.many:
        result = "NDArray[]"
    elif len(operation.outputs) != 1:
        result = f"[{', '.join(['NDArray'] * len(operation.outputs))}]" if operation.outputs else "void"
    return _name(operation.name), plain, typed, result


def operations(description):
    out = [HEAD, "\nimport {\n  axisOrNone, dtypeNumber, dtypeOrNone, ints, list, many, NDArray, one, toArray, tuple,\n} from './array.js';\nimport { text } from './library.js';\n"]
    types = [HEAD, "\nimport type { ArrayLike, Dtype, NDArray } from './index.js';\n"]
    methods = []
    for operation in d.operations(description):
        name, plain, typed, result = _parts(operation)
        arguments = ", ".join(_argument(operation, parameter) for parameter in operation.parameters)
        if operation.many:
            count = {"count": "arrays.length", "places_count + 1": "ints(places)[1] + 1"}.get(operation.many, operation.many)
            body = f"return many({count}, '{operation.function}', {arguments});"
        elif len(operation.outputs) == 1:
            body = f"return one('{operation.function}', {arguments});"
        else:
            body = f"{'return ' if operation.outputs else ''}tuple({len(operation.outputs)}, '{operation.function}', {arguments});"
        summary = operation.summary.replace("*/", "* /")
        out.append(f"\n/** {summary} */\nexport function {name}({', '.join(plain)}) {{\n  {body}\n}}\n")
        types.append(f"\n/** {summary} */\nexport function {name}({', '.join(typed)}): {result};\n")
        binary = [p.kind for p in operation.parameters] == ["array", "array"]
        if operation.name in METHODS or binary or operation.name in ("negative", "reshape", "transpose", "sort", "softmax"):
            if operation.parameters[0].kind == "array" and not operation.name.startswith(("linalg_", "random_")):
                methods.append((name, ", ".join(typed[1:]), result))
    out.append("\n// Operations that are methods of arrays too.\n")
    out.append("for (const method of [\n" + "".join(f"  {name},\n" for name, _, _ in methods))
    out.append("]) {\n  NDArray.prototype[method.name] = function (...rest) {\n    return method(this, ...rest);\n  };\n}\n")
    types.append("\nexport interface Methods {\n")
    types += [f"  {name}({typed}): {result};\n" for name, typed, result in methods]
    types.append("}\n")
    return "".join(out), "".join(types)


def files(description):
    code, types = operations(description)
    folder = "bindings/node"
    return {f"{folder}/interface.js": interface(description), f"{folder}/operations.js": code,
            f"{folder}/operations.d.ts": types}  # fmt: skip
