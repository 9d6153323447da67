//! What the functions in `src/capi` do with their parameters, read from their bodies: an own witness for what
//! the description says of directions, NULL and lengths.

use super::cc::root;
use serde_json::{Value, json};

/// Parameters by their places, with a key of the description and its value.
type Found = Vec<(usize, &'static str, Value)>;

/// The files of `src/capi`, whole and with operations written out.
pub fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["src/capi", "src/capi/array"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let source = std::fs::read_to_string(&path).expect("a source");
                found.push((path.display().to_string(), source));
            }
        }
    }
    assert!(found.len() > 30);
    found
}

/// The arguments of each call of `function` in a body, without casts and conversions.
fn calls(body: &str, function: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in body.match_indices(&format!("{function}(")) {
        let before = body[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let inside = &body[at + function.len() + 1..];
        let (mut depth, mut arguments) = (0, vec![String::new()]);
        for c in inside.chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth == 0 => break,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => arguments.push(String::new()),
                _ => {}
            }
            if c != ',' || depth > 0 {
                arguments.last_mut().expect("one").push(c);
            }
        }
        let plain = arguments.iter().map(|argument| {
            let argument = argument
                .trim()
                .strip_prefix("field_length(")
                .unwrap_or(argument.trim());
            let argument = argument.split(".cast").next().expect("a part");
            argument.trim_end_matches(')').to_string()
        });
        found.push(plain.collect());
    }
    found
}

/// What a body must be described as: name, key, value.
pub fn implied(body: &str) -> Vec<(String, &'static str, Value)> {
    let mut found = Vec::new();
    let yes = Value::Bool(true);
    let mut each = |function: &str, rule: &dyn Fn(&[String]) -> Found| {
        for arguments in calls(body, function) {
            for (at, key, value) in rule(&arguments) {
                found.push((arguments[at].clone(), key, value));
            }
        }
    };
    each("Output::new", &|_| {
        vec![(0, "direction", json!("out")), (0, "nullable", Value::Null)]
    });
    each("OutputStruct::new", &|_| {
        vec![
            (0, "direction", json!("inout")),
            (0, "nullable", Value::Null),
        ]
    });
    each("tell_length", &|_| {
        vec![(0, "direction", json!("out")), (0, "nullable", yes.clone())]
    });
    each("options::read", &|_| {
        vec![(0, "direction", json!("in")), (0, "nullable", yes.clone())]
    });
    each("boundary_on", &|_| {
        vec![(0, "direction", json!("in")), (0, "nullable", Value::Null)]
    });
    each("Buffer::new", &|a| {
        let mut rules = vec![(0, "direction", json!("out")), (0, "length", json!(a[1]))];
        if a[2] != "null_mut(" {
            rules.push((0, "needed", json!(a[2])));
            rules.push((2, "direction", json!("out")));
            rules.push((2, "nullable", yes.clone()));
        }
        rules
    });
    each("bytes_mut", &|a| {
        vec![(0, "direction", json!("out")), (0, "length", json!(a[1]))]
    });
    each("array", &|a| match a {
        [_, length, _] => vec![(0, "direction", json!("in")), (0, "length", json!(length))],
        _ => Vec::new(), // another function of this name
    });
    for function in ["utf8", "text", "path"] {
        each(function, &|a| match a {
            [_, length, _] => vec![
                (0, "direction", json!("in")),
                (0, "length", json!(length)),
                (0, "nullable", Value::Null),
            ],
            _ => Vec::new(),
        });
    }
    each("optional_utf8", &|a| {
        vec![
            (0, "direction", json!("in")),
            (0, "length", json!(a[1])),
            (0, "nullable", yes.clone()),
        ]
    });
    each("texts", &|a| {
        vec![
            (0, "direction", json!("in")),
            (0, "lengths", json!(a[1])),
            (0, "length", json!(a[2])),
        ]
    });
    found
}
