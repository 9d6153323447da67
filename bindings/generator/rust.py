"""The Rust crates' files that are made from the description: mlxrocm-sys and the array operations."""

from . import description as d

HEAD = "// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.\n\n"

PLAIN = {
    "void": "c_void", "char": "c_char", "double": "f64", "float": "f32", "int32_t": "i32", "int64_t": "i64",
    "uint8_t": "u8", "uint32_t": "u32", "uint64_t": "u64", "size_t": "usize",
}  # fmt: skip


def _type(kind):
    """C's type in Rust; `const` belongs to what is left of it."""
    kind = kind.strip()
    if kind.endswith("*const *"):
        return "*const " + _type(kind.removesuffix("const *"))
    if kind.endswith("*"):
        inner = kind[:-1].strip()
        if inner.startswith("const ") and not inner.endswith("*"):
            return "*const " + _type(inner.removeprefix("const "))
        return "*mut " + _type(inner)
    return PLAIN.get(kind, kind)


def _doc(text, indent=""):
    return "".join(f"{indent}///{' ' + line if line else ''}\n" for line in text.split("\n"))


def _value(constant):
    return f"{constant['value']}", _type(constant["type"])


def sys(description):
    out = ["//! The C interface of libmlxrocm, as it is: `include/mlxrocm.h` is the manual.\n\n", HEAD]
    out.append("#![no_std]\n#![allow(non_camel_case_types)]\n\nuse core::ffi::{c_char, c_void};\n\n")
    for integer in description["integers"]:
        out.append(_doc(integer["doc"]) + f"pub type {integer['name']} = {PLAIN[integer['type']]};\n\n")
    for constant in description["constants"]:
        value, kind = _value(constant)
        out.append(_doc(constant["doc"]) + f"pub const {constant['name']}: {kind} = {value};\n")
    for handle in description["handles"]:
        out.append("\n" + _doc(handle["doc"]) + f"#[repr(C)]\npub struct {handle['name']} {{\n    _private: [u8; 0],\n}}\n")
    for callback in description["callbacks"]:
        types = ", ".join(f"{p['name']}: {_type(p['type'])}" for p in callback["parameters"])
        result = "" if callback["returns"] == "void" else f" -> {_type(callback['returns'])}"
        out.append("\n" + _doc(callback["doc"]) + f"pub type {callback['name']} = Option<unsafe extern \"C\" fn({types}){result}>;\n")
    for struct in description["structs"]:
        out.append("\n" + _doc(struct["doc"]) + f"#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {struct['name']} {{\n")
        for field in struct["fields"]:
            kind = f"[{_type(field['type'])}; {field['count']}]" if "count" in field else _type(field["type"])
            out.append(_doc(field["doc"], "    ") + f"    pub {field['name']}: {kind},\n")
        out.append("}\n")
        checks = [f"    assert!(size_of::<{struct['name']}>() == {struct['size']});\n"]
        checks += [f"    assert!(core::mem::offset_of!({struct['name']}, {f['name']}) == {f['offset']});\n" for f in struct["fields"]]
        out.append("const _: () = {\n    use core::mem::size_of;\n" + "".join(checks) + "};\n")
    out.append('\nunsafe extern "C" {\n')
    for function in description["functions"]:
        parameters = ", ".join(f"{p['name']}: {_type(p['type'])}" for p in function["parameters"])
        result = "" if function["returns"] == "void" else f" -> {_type(function['returns'])}"
        out.append(_doc(function["doc"], "    ") + f"    pub fn {function['name']}({parameters}){result};\n\n")
    return "".join(out).rstrip() + "\n}\n"


TYPES = {
    "array": "&Array", "arrays": "&[&Array]", "ints": "&[i64]", "string": "&str", "dtype": "DType", "int": "i64",
    "float": "f64", "flag": "bool", "seed": "u64", "count": "usize",
}  # fmt: skip


def _operation(operation):
    parameters = operation.parameters
    method = bool(parameters) and parameters[0].kind == "array" and not parameters[0].nullable
    method = method and not operation.name.startswith(("random_", "where"))
    name = {"where": "where_"}.get(operation.name, operation.name)
    signature, before, arguments = ["&self"] if method else [], [], []
    for i, p in enumerate(parameters):
        n = "self" if method and i == 0 else p.name
        kind = TYPES[p.kind]
        kind = f"Option<{kind}>" if p.nullable else kind
        if n != "self":
            signature.append(f"{n}: {kind}")
        if p.kind == "array":
            arguments.append(f"{n}.map_or(null(), Array::as_ptr)" if p.nullable else f"{n}.as_ptr()")
        elif p.kind == "arrays":
            before.append(f"    let {n}_list: Vec<_> = {n}.iter().map(|array| array.as_ptr()).collect();\n")
            arguments.append(f"{n}_list.as_ptr(), {n}.len()")
        elif p.kind == "ints":
            arguments.append(f"{n}.map_or(null(), <[i64]>::as_ptr), {n}.map_or(0, <[i64]>::len)" if p.nullable
                             else f"{n}.as_ptr(), {n}.len()")  # fmt: skip
        elif p.kind == "string":
            arguments.append(f"{n}.as_ptr().cast(), {n}.len()")
        elif p.kind == "int" and p.nullable:
            arguments.append(f"{n}.unwrap_or(sys::MLXROCM_AXIS_NONE)")
        elif p.kind == "dtype" and p.nullable:
            arguments.append(f"{n}.map_or(-1, |{n}| {n} as i64)")
        else:
            arguments.append({"dtype": f"{n} as u32", "flag": f"i32::from({n})"}.get(p.kind, n))
    if operation.many:
        count = {"count": "arrays.len()", "places_count + 1": "places.len() + 1"}.get(operation.many, operation.many)
        before.append(f"    let mut out = room({count})?;\n")
        arguments.append("out.as_mut_ptr()")
        result, done = "Vec<Array>", "own_all(out)"
    else:
        before += [f"    let mut {o}_out = null_mut();\n" for o in operation.outputs]
        arguments += [f"&mut {o}_out" for o in operation.outputs]
        owned = ", ".join(f"Array::own({o}_out)" for o in operation.outputs)
        result, done = "Array", owned
        if len(operation.outputs) != 1:
            result, done = f"({', '.join(['Array'] * len(operation.outputs))})", f"({owned})"
    text = [f"/// {operation.summary}\n"]
    if any(p.nullable for p in parameters):
        text.append(f"///\n/// `None`: {'; '.join(_none(p) for p in parameters if p.nullable)}.\n")
    text.append(f"pub fn {name}({', '.join(signature)}) -> Result<{result}> {{\n")
    text += before
    text.append("    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.\n")
    text.append(f"    call(|error| unsafe {{ sys::{operation.function}({', '.join(arguments + ['error'])}) }})?;\n")
    text.append(f"    Ok({done})\n}}\n")
    return method, "".join(text)


def _none(parameter):
    _, none, said = parameter.doc.partition("negative: " if parameter.kind == "dtype" else "NULL: ")
    said = said if none else "the array made flat"
    return f"{parameter.name}: {said.rstrip('.')}"


def operations(description):
    made = [_operation(operation) for operation in d.operations(description)]
    out = [HEAD, "#![allow(clippy::too_many_arguments)]\n\n",
           "use crate::array::{Array, DType, own_all, room};\nuse crate::error::{Result, call};\n",
           "use mlxrocm_sys as sys;\nuse std::ptr::{null, null_mut};\n\n"]  # fmt: skip
    out.append("impl Array {\n" + "\n".join(_indented(text) for method, text in made if method) + "}\n\n")
    out.append("\n".join(text for method, text in made if not method))
    return "".join(out)


def _indented(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def enums(description):
    out = [HEAD, "/// What a call failed with.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum Status {\n"]
    docs = {c["name"]: c["doc"] for c in description["constants"]}
    for name, _ in d.statuses(description):
        out.append(_doc(docs[f"MLXROCM_ERROR_{name}"], "    ") + f"    {d.camel(name)},\n")
    out.append("    /// A status of a newer library.\n    Other(i32),\n}\n\nimpl From<i32> for Status {\n    fn from(number: i32) -> Status {\n        match number {\n")
    out += [f"            {value} => Status::{d.camel(name)},\n" for name, value in d.statuses(description)]
    out.append("            other => Status::Other(other),\n        }\n    }\n}\n\n")
    out.append("/// The dtype of an array's elements.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(u32)]\n#[non_exhaustive]\npub enum DType {\n")
    dtypes = [c for c in description["constants"] if c["name"].startswith("MLXROCM_DTYPE_") and not c["name"].endswith("_NONE")]
    for c in dtypes:
        out.append(_doc(c["doc"], "    ") + f"    {d.camel(c['name'].removeprefix('MLXROCM_DTYPE_'))} = {c['value']},\n")
    out.append("}\n\nimpl DType {\n    pub(crate) fn from_number(number: u32) -> Option<DType> {\n        Some(match number {\n")
    out += [f"            {c['value']} => DType::{d.camel(c['name'].removeprefix('MLXROCM_DTYPE_'))},\n" for c in dtypes]
    out.append("            _ => return None,\n        })\n    }\n}\n")
    return "".join(out)


def files(description):
    return {
        "bindings/rust/mlxrocm-sys/src/lib.rs": sys(description),
        "bindings/rust/mlxrocm-rs/src/operations.rs": operations(description),
        "bindings/rust/mlxrocm-rs/src/enums.rs": enums(description),
    }
