//! Which parameter or field holds the length of what a pointer points to, in elements: its name, a number,
//! or both (`count * 112`, `places_count + 1`). Found in names and in what the manual says; what follows
//! neither form has no length, and tests/description.rs asks for one.
#![allow(dead_code)] // each test program uses a part

use serde_json::{Value, json};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The digits that a text begins with; one digit alone is no length but a value ("receives 1 or 0").
fn digits(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    (end > 1 || end == 1 && text.starts_with("3 ")).then(|| &text[..end])
}

/// "`count` times 112 masks", "receives `parts` arrays", "receives 112 masks".
fn said(words: &str, names: &[String]) -> Option<String> {
    let words = words.strip_prefix("nullable; ").unwrap_or(words);
    let words = words.strip_prefix("receives ").unwrap_or(words);
    let Some(rest) = words.strip_prefix('`') else {
        return digits(words).map(str::to_string);
    };
    let (name, rest) = rest.split_once('`')?;
    if !names.iter().any(|known| known == name) {
        return None;
    }
    if let Some(times) = rest.strip_prefix(" times ") {
        return Some(format!("{name} * {}", digits(times)?));
    }
    match rest.strip_prefix(" + ") {
        Some(more) => Some(format!("{name} + {}", more.split(' ').next()?)),
        None => Some(name.to_string()),
    }
}

pub fn parameter_lengths(parameters: &mut [Value]) {
    let names: Vec<String> = parameters
        .iter()
        .map(|p| text(p, "name").to_string())
        .collect();
    for i in 0..parameters.len() {
        let (name, type_) = (names[i].clone(), text(&parameters[i], "type").to_string());
        if !type_.ends_with('*') {
            continue;
        }
        let named = |name: String| names.contains(&name).then_some(name);
        let following = |at: usize| names.get(at).map(String::as_str).unwrap_or_default();
        let following_type = parameters
            .get(i + 1)
            .map_or("", |p| text(p, "type"))
            .to_string();
        let is_capacity = |name: &str| name == "capacity" || name.ends_with("_capacity");
        let words = text(&parameters[i], "doc").to_string();
        if type_ == "const char *" {
            // A callback's text has the length behind it.
            let length = named(format!("{name}_length"));
            let length = length.or((following(i + 1) == "length").then(|| "length".to_string()));
            parameters[i]["length"] =
                json!(length.unwrap_or_else(|| panic!("the length of {name}")));
        } else if parameters[i]["direction"] == "out" && is_capacity(following(i + 1)) {
            parameters[i]["length"] = json!(following(i + 1));
            parameters[i]["needed"] = json!(following(i + 2));
            // Capacity 0 only measures.
            parameters[i]["nullable"] = json!(true);
        } else if words.is_empty() && following_type == "size_t" {
            // A callback's list likewise; what is not const is to be changed.
            parameters[i]["length"] = json!(following(i + 1));
            if parameters[i]["direction"] == "out" {
                parameters[i]["direction"] = json!("inout");
            }
        } else if let Some(length) = said(&words, &names) {
            parameters[i]["length"] = json!(length);
        } else if let Some(list) = words.strip_prefix("bytes of each of `") {
            let list = list.split('`').next().expect("a name");
            let at = names
                .iter()
                .position(|name| name == list)
                .expect("the list");
            parameters[i]["length"] = parameters[at]["length"].clone();
            parameters[at]["lengths"] = json!(name);
        }
    }
}

/// "Elements of `bias_tokens` and of `bias_values`.": the names of what a field counts.
fn counted(doc: &str) -> Vec<String> {
    let doc = doc
        .split_once(": ")
        .map_or(doc, |(kind, rest)| match kind.contains(' ') {
            true => doc,
            false => rest,
        });
    let Some((noun, rest)) = doc.split_once(' ') else {
        return Vec::new();
    };
    let nouns = ["elements", "ids", "messages", "strings"];
    if !nouns.contains(&noun.to_ascii_lowercase().as_str()) || !rest.contains('`') {
        return Vec::new();
    }
    let sentence = rest.split([';', ',', '.']).next().expect("a part");
    sentence
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_string)
        .collect()
}

pub fn field_lengths(fields: &mut [Value]) {
    let of = |fields: &[Value], name: &str| fields.iter().position(|f| text(f, "name") == name);
    for i in 0..fields.len() {
        let name = text(&fields[i], "name").to_string();
        let doc = text(&fields[i], "doc").to_string();
        if let Some(text) = name
            .strip_suffix("_length")
            .and_then(|text| of(fields, text))
        {
            fields[text]["length"] = json!(name);
        }
        if !text(&fields[i], "type").ends_with('*') {
            for list in counted(&doc) {
                let at = of(fields, &list).unwrap_or_else(|| panic!("{name} counts {list}"));
                fields[at]["length"] = json!(name);
            }
        }
    }
    for i in 0..fields.len() {
        let name = text(&fields[i], "name").to_string();
        let doc = text(&fields[i], "doc").to_string();
        if let Some(list) = doc.strip_prefix("Bytes of each of `") {
            let at = of(fields, list.split('`').next().expect("a name")).expect("the list");
            fields[i]["length"] = fields[at]["length"].clone();
            fields[at]["lengths"] = json!(name);
        }
    }
}
