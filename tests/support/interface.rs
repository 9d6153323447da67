//! The C interface as data: what `include/mlxrocm.h` declares, read from its text. cbindgen writes it
//! in few forms; anything else here is a panic, not left out.
#![allow(dead_code)] // each test program uses a part

#[path = "interface_lengths.rs"]
mod interface_lengths;

use interface_lengths::{field_lengths, parameter_lengths};
use serde_json::{Value, json};

/// A declaration and the comment above it.
struct Declared {
    comment: String,
    code: String,
}

/// The text of a comment: paragraphs and lists as they are written.
fn comment(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("* ").unwrap_or(line);
        if line == "*" { "" } else { line }
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_string()
}

/// Everything with a comment of its own, in order.
fn declarations(text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("/**") {
        let (words, code) = after.split_once("*/").expect("the end of a comment");
        let code = code.trim_start_matches('\n');
        let end = match code.split('\n').next().expect("a line") {
            line if line.starts_with("#define") => line.len(),
            // A struct or the statuses, to the brace that closes it; the members are read later.
            line if line.ends_with('{') => {
                let close = code.find("\n}").expect("a brace");
                close + code[close..].find(';').expect("a semicolon") + 1
            }
            _ => code.find(';').expect("a semicolon") + 1,
        };
        let mut end = end;
        if let Some(list) = code[end..].strip_prefix("\nenum {") {
            end = code.len() - list.len() + list.find("};").expect("a brace") + 2;
        }
        found.push(Declared {
            comment: comment(words),
            code: code[..end].to_string(),
        });
        rest = &code[end..];
    }
    found
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A type as C spells it, without `struct`.
fn type_of(text: &str) -> String {
    squeeze(&text.replace("struct ", ""))
}

/// `const char *name`, `uint32_t grid[3]`: type, name, elements.
fn variable(text: &str) -> (String, String, Option<u64>) {
    let text = squeeze(text);
    let (text, count) = match text.split_once('[') {
        Some((text, count)) => (
            text.to_string(),
            Some(count.trim_end_matches(']').parse().expect("a number")),
        ),
        None => (text, None),
    };
    let at = text.rfind([' ', '*']).expect("a type and a name") + 1;
    (type_of(&text[..at]), text[at..].to_string(), count)
}

/// Of a comment: what it says of one parameter.
fn bullet(comment: &str, name: &str) -> String {
    let start = format!("- `{name}`:");
    let Some((_, after)) = comment.split_once(&start) else {
        return String::new();
    };
    let lines = after.lines().enumerate();
    let item = lines.take_while(|(i, line)| *i == 0 || line.starts_with("  "));
    squeeze(&item.map(|(_, line)| line).collect::<Vec<_>>().join(" "))
}

/// Whether what is said of a pointer allows NULL.
fn nullable(words: &str) -> bool {
    let allowed = [
        "NULL is fine",
        "nullable",
        "Nullable",
        "NULL:",
        "NULL means",
        "else NULL",
    ];
    allowed.iter().any(|allowed| words.contains(allowed))
}

/// Which way a parameter goes: `in`, `out`, or `inout` for a struct whose size the caller sets.
fn direction(type_: &str, words: &str) -> &'static str {
    let pointer = type_.ends_with('*');
    if !pointer
        || type_.contains("const ")
        || words.starts_with("consumed")
        || type_ == "void *" && !words.contains("receives")
    {
        return "in";
    }
    match words.contains("`struct_size` must be set") {
        true => "inout",
        false => "out",
    }
}

fn parameters(list: &str, comment: &str) -> Vec<Value> {
    let list = squeeze(list);
    if list == "void" {
        return Vec::new();
    }
    let one = |parameter: &str| {
        let (type_, name, _) = variable(parameter);
        let words = bullet(comment, &name);
        let mut value =
            json!({"name": name, "type": type_, "direction": direction(&type_, &words)});
        // A callback's parameters have no lines of their own.
        if nullable(&words) || name == "user_data" && words.is_empty() {
            value["nullable"] = json!(true);
        }
        if words.starts_with("consumed") {
            value["consumed"] = json!(true);
        }
        if let Some((_, free)) = words.split_once("owned: free it with ") {
            let end = free.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            value["free"] = json!(&free[..end.unwrap_or(free.len())]);
        }
        if !words.is_empty() {
            value["doc"] = json!(words);
        }
        value
    };
    let mut all: Vec<Value> = list.split(',').map(one).collect();
    parameter_lengths(&mut all);
    all
}

/// The words after `Errors:` that are names of statuses, in full.
fn errors(comment: &str, statuses: &[String]) -> Vec<String> {
    let Some((_, after)) = comment.split_once("Errors: ") else {
        return Vec::new();
    };
    let paragraph = after.split("\n\n").next().unwrap_or_default();
    let words = paragraph.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    let names = words.map(|word| format!("MLXROCM_ERROR_{word}"));
    names.filter(|name| statuses.contains(name)).collect()
}

/// Bytes of a type on the 64-bit machines that the library is built for.
fn size(type_: &str, callbacks: &[String], structs: &[Value]) -> u64 {
    match type_ {
        _ if type_.ends_with('*') || callbacks.iter().any(|name| name == type_) => 8,
        "uint8_t" | "char" => 1,
        "uint32_t" | "int32_t" | "float" | "mlxrocm_status" => 4,
        "uint64_t" | "int64_t" | "double" | "size_t" => 8,
        _ => {
            let found = structs.iter().find(|s| s["name"] == type_);
            let found = found.unwrap_or_else(|| panic!("the size of {type_}"));
            found["size"].as_u64().expect("a size")
        }
    }
}

fn fields(code: &str, callbacks: &[String], structs: &[Value]) -> (Vec<Value>, u64) {
    let body = code.split_once('{').expect("a brace").1;
    let body = &body[..body.rfind('}').expect("a brace")];
    let mut offset = 0;
    let mut fields = Vec::new();
    for field in declarations(body) {
        let (type_, name, count) = variable(field.code.trim_end_matches(';'));
        let bytes = size(&type_, callbacks, structs) * count.unwrap_or(1);
        let mut value =
            json!({"name": name, "type": type_, "offset": offset, "doc": squeeze(&field.comment)});
        if let Some(count) = count {
            value["count"] = json!(count);
        }
        if type_.ends_with('*') && nullable(&field.comment) || callbacks.contains(&type_) {
            value["nullable"] = json!(true);
        }
        fields.push(value);
        offset += bytes; // no struct has padding (tests/abi.rs)
    }
    field_lengths(&mut fields);
    (fields, offset)
}

/// A constant's type and value; a macro has no type of its own.
fn number(text: &str) -> (&'static str, Value) {
    match text {
        "UINT32_MAX" => ("uint32_t", json!(u32::MAX)),
        "INT64_MIN" => ("int64_t", json!(i64::MIN)),
        "SIZE_MAX" => ("size_t", json!(u64::MAX)),
        text => {
            let value: i64 = text.parse().unwrap_or_else(|_| panic!("the number {text}"));
            ("uint32_t", json!(value))
        }
    }
}

/// The interface that a header declares.
pub fn read(header: &str) -> Value {
    let (_, text) = header.split_once("#include <stdint.h>").expect("includes");
    let all = declarations(text);
    let (mut constants, mut integers, mut handles) = (Vec::new(), Vec::new(), Vec::new());
    let (mut callbacks, mut structs, mut functions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut callback_names, mut statuses) = (Vec::new(), Vec::new());
    for Declared { comment, code } in &all {
        let doc = comment;
        let line = squeeze(code);
        if let Some(constant) = line.strip_prefix("#define ") {
            let (name, value) = constant.split_once(' ').expect("a value");
            let (type_, value) = number(value);
            constants.push(json!({"name": name, "type": type_, "value": value, "doc": doc}));
        } else if let Some((typedef, list)) = code.split_once("\nenum {") {
            let (type_, name, _) =
                variable(typedef.trim_start_matches("typedef ").trim_end_matches(';'));
            for one in declarations(&list.replace(",\n", ";\n").replace("\n};", ";\n")) {
                let code = one.code.trim_end_matches(';');
                let (constant, value) = code.trim().split_once(" = ").expect("a value");
                statuses.push(constant.to_string());
                let (_, value) = number(value);
                constants.push(
                    json!({"name": constant, "type": name, "value": value, "doc": one.comment}),
                );
            }
            integers.push(json!({"name": name, "type": type_, "doc": doc}));
        } else if code.starts_with("typedef struct") && code.contains('{') {
            let name = line
                .rsplit(' ')
                .next()
                .expect("a name")
                .trim_end_matches(';');
            let (fields, size) = fields(code, &callback_names, &structs);
            structs.push(json!({"name": name, "size": size, "fields": fields, "doc": doc}));
        } else if let Some(names) = line.strip_prefix("typedef struct ") {
            let name = names.split(' ').next().expect("a name");
            handles.push(json!({"name": name, "free": format!("{name}_free"), "doc": doc}));
        } else if let Some(typedef) = line.strip_prefix("typedef ") {
            let (returns, rest) = typedef.split_once("(*").expect("a function pointer");
            let (name, list) = rest.split_once(")(").expect("parameters");
            callback_names.push(name.to_string());
            callbacks.push(json!({
                "name": name, "returns": type_of(returns),
                "parameters": parameters(list.trim_end_matches(");"), ""), "doc": doc
            }));
        } else {
            let (head, list) = line.split_once('(').expect("a function");
            let (returns, name, _) = variable(head);
            let mut function = json!({
                "name": name, "returns": returns,
                "parameters": parameters(list.trim_end_matches(");"), comment),
                "errors": errors(comment, &statuses), "doc": doc
            });
            if returns == "const char *" {
                function["returns_length"] = json!("length");
                function["returns_nullable"] = json!(doc.contains("NULL if"));
            }
            functions.push(function);
        }
    }
    // "mlxrocm_session_options.kv_type: ...": a value of that field or parameter, of its type.
    for constant in &mut constants {
        let place = constant["doc"]
            .as_str()
            .and_then(|doc| doc.split_once(": "));
        let Some((owner, name)) = place.and_then(|(place, _)| place.split_once('.')) else {
            continue;
        };
        let owner = structs
            .iter()
            .chain(&functions)
            .find(|o| o["name"] == owner);
        let members = owner.and_then(|o| o["fields"].as_array().or(o["parameters"].as_array()));
        let member = members.and_then(|m| m.iter().find(|m| m["name"] == name));
        if let Some(member) = member {
            constant["type"] = member["type"].clone();
        }
    }
    json!({
        "constants": constants, "integers": integers, "handles": handles, "callbacks": callbacks,
        "structs": structs, "functions": functions
    })
}
