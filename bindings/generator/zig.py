"""The Zig package's array operations and errors."""

from . import description as d

HEAD = "//! Made by bindings/generate.py from include/mlxrocm.json. Do not edit.\n\n"

TYPES = {
    "array": "Array", "arrays": "[]const Array", "ints": "[]const i64", "string": "[]const u8", "dtype": "DType",
    "int": "i64", "float": "f64", "flag": "bool", "seed": "u64", "count": "usize",
}  # fmt: skip

# Zig keeps these words for itself.
TAKEN = {"and", "or", "error", "test", "align", "var", "const", "struct", "enum", "union", "type"}


def _camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _quoted(name):
    return f'@"{name}"' if name in TAKEN else name


def _operation(operation):
    name = _quoted(_camel(operation.name))
    signature, arguments = [], []
    for p in operation.parameters:
        # `_` tells parameters from the functions of the same name.
        n = f"{p.name}_"
        signature.append(f"{n}: {'?' if p.nullable else ''}{TYPES[p.kind]}")
        arguments += {
            "array": [f"if ({n}) |given| given.handle else null" if p.nullable else f"{n}.handle"],
            "arrays": [f"array.handles({n})", f"{n}.len"],
            "ints": [f"if ({n}) |given| given.ptr else null", f"if ({n}) |given| given.len else 0"] if p.nullable
            else [f"{n}.ptr", f"{n}.len"],
            "string": [f"{n}.ptr", f"{n}.len"],
            "dtype": [f"if ({n}) |given| @as(i64, @intFromEnum(given)) else -1" if p.nullable else f"@intFromEnum({n})"],
            "flag": [f"@intFromBool({n})"],
        }.get(p.kind, [f"{n} orelse c.MLXROCM_AXIS_NONE" if p.nullable else n])  # fmt: skip
    out = [f"/// {operation.summary}\n"]
    before = []
    if operation.many:
        count = {"count": "arrays_.len", "places_count + 1": "places_.len + 1", "parts": "parts_"}[operation.many]
        signature.insert(0, "results: []Array")
        out.append("/// Fills `results`, which has room for all of them.\n")
        before.append(f"    try array.room(results, {count});\n")
        arguments.append("array.places(results)")
        result, done = "void", ""
    elif len(operation.outputs) == 1:
        before.append("    var result: ?*c.mlxrocm_array = null;\n")
        arguments.append("&result")
        result, done = "Array", "    return .{ .handle = result };\n"
    elif operation.outputs:
        count = len(operation.outputs)
        before.append(f"    var results = [_]?*c.mlxrocm_array{{null}} ** {count};\n")
        arguments += [f"&results[{i}]" for i in range(count)]
        items = ", ".join(f".{{ .handle = results[{i}] }}" for i in range(count))
        result, done = f"[{count}]Array", f"    return .{{ {items} }};\n"
    else:
        result, done = "void", ""
    out.append(f"pub fn {name}({', '.join(signature)}) Error!{result} {{\n")
    out += before
    out.append("    var failure: ?*c.mlxrocm_error = null;\n")
    out.append(f"    try check(c.{operation.function}({', '.join(arguments + ['&failure'])}), failure);\n{done}}}\n")
    return "".join(out)


def operations(description):
    out = [HEAD, 'const c = @import("c.zig").c;\nconst errors = @import("errors.zig");\nconst array = @import("array.zig");\n',
           "const Array = array.Array;\nconst DType = array.DType;\nconst Error = errors.Error;\nconst check = errors.check;\n"]  # fmt: skip
    for operation in d.operations(description):
        out.append("\n" + _operation(operation))
    return "".join(out)


def errors(description):
    names = [(d.camel(name), value) for name, value in d.statuses(description)]
    out = [HEAD, "/// What calls fail with, one for each status.\npub const Error = error{\n"]
    out += [f"    {name},\n" for name, _ in names]
    out.append("    /// A status of a newer library.\n    Other,\n};\n\npub fn ofStatus(status: i32) Error {\n    return switch (status) {\n")
    out += [f"        {value} => error.{name},\n" for name, value in names]
    out.append("        else => error.Other,\n    };\n}\n")
    return "".join(out)


def files(description):
    return {"bindings/zig/src/operations.zig": operations(description),
            "bindings/zig/src/statuses.zig": errors(description)}  # fmt: skip
