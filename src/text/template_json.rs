//! Python's `json.dumps`, as chat templates expect it of `tojson`.

use super::chat_template::{CLOSE, OPEN};
use super::template_meter::{Text, fail, number};
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, Value};
use std::fmt::Write;

/// How to write.
struct Style {
    indent: Option<usize>,
    item: String,
    key: String,
    ascii: bool,
    sort: bool,
}

/// The filter. Differs from Jinja's own in that nothing is escaped for HTML.
pub(super) fn tojson(
    value: &Value,
    indent: Option<Value>,
    options: Kwargs,
) -> Result<Value, Error> {
    let ascii: Option<bool> = options.get("ensure_ascii")?;
    let sort: Option<bool> = options.get("sort_keys")?;
    let separators: Option<Value> = options.get("separators")?;
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get::<Option<Value>>("indent")?,
    };
    options.assert_all_used()?;
    let indent = match indent.filter(|indent| !indent.is_none() && !indent.is_undefined()) {
        None => None,
        Some(indent) => {
            let count = indent.as_usize().filter(|count| *count <= 100);
            Some(count.ok_or_else(|| fail("tojson: indent must be a number up to 100"))?)
        }
    };
    let mut style = Style {
        indent,
        item: if indent.is_some() { "," } else { ", " }.into(),
        key: ": ".into(),
        ascii: ascii.unwrap_or(false),
        sort: sort.unwrap_or(false),
    };
    if let Some(separators) = separators.filter(|s| !s.is_none() && !s.is_undefined()) {
        let part = |index| {
            let part = separators.get_item_by_index(index)?;
            let part = part.as_str().filter(|part| part.len() <= 100);
            part.map(str::to_string)
                .ok_or_else(|| fail("tojson: separators must be two short texts"))
        };
        (style.item, style.key) = (part(0)?, part(1)?);
    }
    let mut text = Text(String::new());
    write_value(&mut text, value, &style, 0)?;
    Ok(Value::from(text.0))
}

fn write_value(out: &mut Text, value: &Value, style: &Style, depth: usize) -> Result<(), Error> {
    if depth > 64 {
        return Err(fail("tojson: a value is nested too deep"));
    }
    match value.kind() {
        ValueKind::None => out.push("null"),
        ValueKind::Bool => out.push(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => match number(value).as_str() {
            "nan" => out.push("NaN"),
            "inf" => out.push("Infinity"),
            "-inf" => out.push("-Infinity"),
            text => out.push(text),
        },
        ValueKind::String => write_string(out, value.as_str().unwrap_or_default(), style.ascii),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            let write = |out: &mut Text, item: &Value| write_value(out, item, style, depth + 1);
            write_items(out, ["[", "]"], &items, style, depth, write)
        }
        ValueKind::Map => {
            let mut keys: Vec<Value> = value.try_iter()?.collect();
            if style.sort {
                keys.sort();
            }
            write_items(out, ["{", "}"], &keys, style, depth, |out, key| {
                write_key(out, key, style.ascii)?;
                out.push(&style.key)?;
                write_value(out, &value.get_item(key)?, style, depth + 1)
            })
        }
        kind => Err(fail(format!("tojson: {kind} cannot be written as JSON"))),
    }
}

fn write_items(
    out: &mut Text,
    brackets: [&str; 2],
    items: &[Value],
    style: &Style,
    depth: usize,
    mut write: impl FnMut(&mut Text, &Value) -> Result<(), Error>,
) -> Result<(), Error> {
    let line = |out: &mut Text, depth: usize| match style.indent {
        Some(indent) if !items.is_empty() => {
            out.push("\n")?;
            out.push(&" ".repeat(indent * depth))
        }
        _ => Ok(()),
    };
    out.push(brackets[0])?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(&style.item)?;
        }
        line(out, depth + 1)?;
        write(out, item)?;
    }
    line(out, depth)?;
    out.push(brackets[1])
}

/// Keys are always texts in JSON.
fn write_key(out: &mut Text, key: &Value, ascii: bool) -> Result<(), Error> {
    match key.kind() {
        ValueKind::String => write_string(out, key.as_str().unwrap_or_default(), ascii),
        ValueKind::None => out.push("\"null\""),
        ValueKind::Bool => out.push(if key.is_true() {
            "\"true\""
        } else {
            "\"false\""
        }),
        ValueKind::Number => out.push(&format!("\"{}\"", number(key))),
        kind => Err(fail(format!("tojson: {kind} cannot be a key"))),
    }
}

fn write_string(out: &mut Text, text: &str, ascii: bool) -> Result<(), Error> {
    // Charged before it is copied; escapes are charged as they come.
    out.push("\"")?;
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let mut escape = String::new();
        match c {
            '"' => escape.push_str("\\\""),
            '\\' => escape.push_str("\\\\"),
            '\n' => escape.push_str("\\n"),
            '\r' => escape.push_str("\\r"),
            '\t' => escape.push_str("\\t"),
            '\u{8}' => escape.push_str("\\b"),
            '\u{c}' => escape.push_str("\\f"),
            // Marks of the encoder stay marks.
            OPEN | CLOSE => continue,
            c if (c as u32) < 0x20 || (ascii && !c.is_ascii()) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escape, "\\u{unit:04x}");
                }
            }
            _ => continue,
        }
        out.push(text.get(plain..at).unwrap_or_default())?;
        out.push(&escape)?;
        plain = at + c.len_utf8();
    }
    out.push(text.get(plain..).unwrap_or_default())?;
    out.push("\"")
}
