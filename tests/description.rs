//! `include/mlxrocm.json`: the interface as data, from which bindings are made. It is what the header
//! says, and a compiler finds every number and type of it in the header.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/interface.rs"]
mod interface;

use cc::{C_WARNINGS, command, root, scratch, succeed};
use serde_json::{Value, json};

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
