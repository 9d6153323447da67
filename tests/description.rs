//! `include/mlxrocm.json`: the interface as data, from which bindings are made. It is what the header
//! says, and a compiler finds every number and type of it in the header.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/interface.rs"]
mod interface;
#[path = "support/source_rules.rs"]
mod source_rules;

use cc::{C_WARNINGS, command, root, scratch, succeed};
use serde_json::{Value, json};
use source_rules::{implied, sources};

fn header() -> String {
    std::fs::read_to_string(root().join("include/mlxrocm.h")).expect("the header")
}

fn description() -> Value {
    let mut description = interface::read(&header());
    description["library"] =
        json!({"soname": "libmlxrocm.so.0", "version": env!("CARGO_PKG_VERSION")});
    description
}

#[test]
fn the_description_is_what_the_header_says() {
    let made = description();
    let path = root().join("include/mlxrocm.json");
    if std::env::var("MLXROCM_BLESS").is_ok_and(|bless| bless == "1") {
        let text = serde_json::to_string_pretty(&made).unwrap() + "\n";
        std::fs::write(&path, text).expect("write the description");
    }
    let committed = std::fs::read_to_string(&path).expect("include/mlxrocm.json");
    let committed: Value = serde_json::from_str(&committed).expect("JSON");
    for (group, made) in made.as_object().unwrap() {
        assert!(
            made == &committed[group],
            "{group} of include/mlxrocm.json is not what the header says: \
             MLXROCM_BLESS=1 cargo test --test description rewrites it"
        );
    }
    assert_eq!(made, committed);
}

fn list<'a>(value: &'a Value, group: &str) -> &'a [Value] {
    value[group].as_array().expect("a list")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().expect("a text")
}

/// `(uint32_t level, const char *message)` without names.
fn types(function: &Value) -> String {
    let types: Vec<&str> = list(function, "parameters")
        .iter()
        .map(|parameter| text(parameter, "type"))
        .collect();
    match types.is_empty() {
        true => "void".into(),
        false => types.join(", "),
    }
}

#[test]
fn a_compiler_finds_all_of_it_in_the_header() {
    let all = description();
    let mut code = String::from("#include <mlxrocm.h>\n");
    for constant in list(&all, "constants") {
        let (name, value) = (text(constant, "name"), &constant["value"]);
        // C has no literal of its lowest number.
        let value = match value.as_i64() {
            Some(i64::MIN) => "-9223372036854775807 - 1".to_owned(),
            None => format!("{value}u"),
            _ => value.to_string(),
        };
        code += &format!("_Static_assert({name} == {value}, \"{name}\");\n");
    }
    for one in list(&all, "structs") {
        let name = text(one, "name");
        code += &format!(
            "_Static_assert(sizeof({name}) == {}, \"{name}\");\n",
            one["size"]
        );
        for field in list(one, "fields") {
            let (field_name, offset) = (text(field, "name"), &field["offset"]);
            let count = field["count"].as_u64();
            let array = count.map_or(String::new(), |count| format!("[{count}]"));
            code += &format!(
                "_Static_assert(offsetof({name}, {field_name}) == {offset}, \"{name}.{field_name}\");\n\
                 _Static_assert(_Generic(&(({name} *)0)->{field_name}, {} (*){array}: 1), \"{field_name}\");\n",
                text(field, "type"),
            );
        }
    }
    for callback in list(&all, "callbacks") {
        code += &format!(
            "_Static_assert(_Generic(({})0, {} (*)({}): 1), \"{0}\");\n",
            text(callback, "name"),
            text(callback, "returns"),
            types(callback)
        );
    }
    for handle in list(&all, "handles") {
        let (name, free) = (text(handle, "name"), text(handle, "free"));
        code += &format!("_Static_assert(_Generic({free}, void (*)({name} *): 1), \"{free}\");\n");
    }
    for function in list(&all, "functions") {
        code += &format!(
            "_Static_assert(_Generic({0}, {1} (*)({2}): 1), \"{0}\");\n",
            text(function, "name"),
            text(function, "returns"),
            types(function)
        );
    }
    let source = scratch().join("description.c");
    std::fs::write(&source, &code).unwrap();
    let include = format!("-I{}", root().join("include").display());
    let mut gcc = command("gcc", &["-std=c11", "-fsyntax-only", &include]);
    succeed(gcc.args(C_WARNINGS).arg(&source));
    // Nothing is left out: every name of the header is in it.
    let described = all.to_string();
    let header = header();
    for (at, _) in header.match_indices("mlxrocm_") {
        let name: String = header[at..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let before = header[..at].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric()) || name.ends_with('_') {
            continue;
        }
        assert!(described.contains(&name), "{name} is not described");
    }
    let functions = list(&all, "functions");
    assert!(functions.len() >= 92, "{}", functions.len());
    for function in functions {
        let name = text(function, "name");
        // What a caller must know of each parameter, and how a call may fail.
        for parameter in list(function, "parameters") {
            assert!(parameter["doc"].is_string(), "{name}: {parameter}");
        }
        let last = list(function, "parameters").last();
        let fails = last.is_some_and(|last| last["type"] == "mlxrocm_error **");
        assert_eq!(fails, !list(function, "errors").is_empty(), "{name}");
    }
}

/// The statuses are constants of the type that functions return, as bindgen and other readers of C
/// see them: enumerators. A macro has no type, and a positive one becomes unsigned.
#[test]
fn statuses_have_a_type() {
    let all = description();
    let statuses: Vec<&Value> = list(&all, "constants")
        .iter()
        .filter(|constant| constant["type"] == "mlxrocm_status")
        .collect();
    assert!(statuses.len() >= 19);
    let mut code = String::from("#include <mlxrocm.h>\n");
    for status in statuses {
        let name = text(status, "name");
        code += &format!("#ifdef {name}\n#error \"{name} is a macro\"\n#endif\n");
        code += &format!("_Static_assert(_Generic({name}, mlxrocm_status: 1), \"{name}\");\n");
    }
    let source = scratch().join("statuses.c");
    std::fs::write(&source, &code).unwrap();
    let include = format!("-I{}", root().join("include").display());
    let mut gcc = command("gcc", &["-std=c11", "-fsyntax-only", &include]);
    succeed(gcc.args(C_WARNINGS).arg(&source));
}

/// A macro has no type in C: the constants are of the types that the sources give them.
#[test]
fn constants_have_the_types_of_the_sources() {
    let all = description();
    let mut seen = 0;
    for (path, source) in sources() {
        for line in source
            .lines()
            .filter_map(|l| l.strip_prefix("pub const MLXROCM_"))
        {
            let (name, rest) = line.split_once(": ").expect("a type");
            let type_ = match rest.split(' ').next().expect("a type") {
                "u32" => "uint32_t",
                "u64" => "uint64_t",
                "i64" => "int64_t",
                "usize" => "size_t",
                other => other,
            };
            let name = format!("MLXROCM_{name}");
            let constants = list(&all, "constants");
            let constant = constants.iter().find(|c| c["name"] == name.as_str());
            let constant = constant.unwrap_or_else(|| panic!("{name} of {path}"));
            assert_eq!(constant["type"], type_, "{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, list(&all, "constants").len());
}

fn named<'a>(list: &'a [Value], name: &str) -> Option<&'a Value> {
    list.iter().find(|one| one["name"] == name)
}

/// What the description says of directions, NULL and lengths is what the library does with them.
#[test]
fn directions_and_lengths_are_those_of_the_sources() {
    let all = description();
    let (mut compared, mut operations) = (0, 0);
    for (path, source) in sources() {
        for function in list(&all, "functions") {
            let name = text(function, "name");
            let Some((_, body)) = source.split_once(&format!(" fn {name}(")) else {
                continue;
            };
            let parameters = list(function, "parameters");
            if source.contains("array_functions! {") && !source.contains(&format!("C\" fn {name}("))
            {
                let (head, _) = body.split_once(')').expect("parameters");
                for parameter in head.split(',').map(str::trim).filter(|p| !p.is_empty()) {
                    let (kind, rest) = parameter.split_once(' ').expect("a kind");
                    let (name, length) = rest.split_once('[').unwrap_or((rest, ""));
                    let described = named(parameters, name).expect("a parameter");
                    assert_eq!(described["direction"], "in", "{path}: {parameter}");
                    let length = length.trim_end_matches(']');
                    assert_eq!(
                        described["length"].as_str().unwrap_or_default(),
                        length,
                        "{path}: {parameter}"
                    );
                    let nullable = ["optional", "axes"].contains(&kind);
                    assert_eq!(
                        described["nullable"] == true,
                        nullable,
                        "{path}: {parameter}"
                    );
                    operations += 1;
                }
                continue;
            }
            let (_, body) = body.split_once('{').expect("a body");
            let body = body.split("\n}\n").next().expect("a body");
            for (parameter, key, value) in implied(body) {
                // What is no parameter of this function is a local.
                let Some(described) = named(parameters, &parameter) else {
                    continue;
                };
                let is_local = |value: &Value| {
                    value.as_str().is_some_and(|v| {
                        !["in", "out", "inout"].contains(&v) && named(parameters, v).is_none()
                    })
                };
                if is_local(&value) {
                    continue;
                }
                // Buffers measure with NULL.
                let measures = key == "nullable" && described.get("needed").is_some();
                assert!(
                    measures || described[key] == value,
                    "{path}: {name}: {described}: {key} {value}"
                );
                compared += 1;
            }
        }
        for (prefix, of) in [
            ("c.", "mlxrocm_request"),
            ("message.", "mlxrocm_message"),
            ("options.", "mlxrocm_compile_options"),
        ] {
            let fields = list(
                named(list(&all, "structs"), of).expect("a struct"),
                "fields",
            );
            for (field, key, value) in implied(&source) {
                let Some(described) = field.strip_prefix(prefix).and_then(|f| named(fields, f))
                else {
                    continue;
                };
                let value = value.as_str().and_then(|v| v.strip_prefix(prefix));
                if let Some(value) = value.filter(|_| key.starts_with("length")) {
                    assert_eq!(described[key], value, "{path}: {of}.{field}");
                    compared += 1;
                }
            }
        }
    }
    assert!(
        compared > 150 && operations > 300,
        "{compared} and {operations} compared"
    );
}

/// A generator of bindings never has to guess: every list and text has its length, in and out.
#[test]
fn every_list_and_text_has_a_length() {
    let all = description();
    let structs: Vec<&str> = list(&all, "structs")
        .iter()
        .map(|s| text(s, "name"))
        .collect();
    // Their lengths follow from `shape` and `dtype`.
    let by_shape = [
        "mlxrocm_array_from_data.data",
        "mlxrocm_array_from_borrowed.data",
    ];
    let (mut texts, mut lists) = (0, 0);
    let mut check = |owner: &str, one: &Value| {
        let (type_, name) = (text(one, "type"), text(one, "name"));
        let element = type_
            .strip_prefix("const ")
            .and_then(|t| t.strip_suffix('*'));
        let Some(element) = element.map(str::trim) else {
            return;
        };
        let is_object = element.starts_with("mlxrocm_")
            && !element.contains('*')
            && (!structs.contains(&element)
                || one["doc"]
                    .as_str()
                    .is_none_or(|doc| !doc.contains("count`")));
        let name = format!("{owner}.{name}");
        if is_object || by_shape.contains(&name.as_str()) {
            return;
        }
        assert!(one["length"].is_string(), "{name}: {one}");
        if element == "char *const" {
            assert!(one["lengths"].is_string(), "{name}: {one}");
        }
        *if element.contains("char") {
            &mut texts
        } else {
            &mut lists
        } += 1;
    };
    for (group, members) in [
        ("functions", "parameters"),
        ("callbacks", "parameters"),
        ("structs", "fields"),
    ] {
        for owner in list(&all, group) {
            for one in list(owner, members) {
                check(text(owner, "name"), one);
                if one["type"] == "char *" {
                    assert!(
                        one["length"].is_string() && one["needed"].is_string(),
                        "{one}"
                    );
                }
                if let Some(length) = one["length"].as_str() {
                    let name = length.split(' ').next().expect("a part");
                    let known = named(list(owner, members), name);
                    assert!(known.is_some() || name.parse::<u32>().is_ok(), "{one}");
                }
            }
        }
    }
    assert!(texts >= 38 && lists >= 127, "{texts} texts, {lists} lists");
    for function in list(&all, "functions") {
        if function["returns"] == "const char *" {
            let length = text(function, "returns_length");
            let parameter = named(list(function, "parameters"), length).expect("a parameter");
            assert_eq!(
                (&parameter["direction"], &parameter["nullable"]),
                (&json!("out"), &json!(true))
            );
        }
    }
}
