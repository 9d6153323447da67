//! What stands between the tags of a call, in each form.

use super::{Form, Part};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Tokens of Kimi K2's section.
pub const SECTION: [&str; 5] = ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", BEGIN, ARGUMENTS, END];
const BEGIN: &str = "<|tool_call_begin|>";
const ARGUMENTS: &str = "<|tool_call_argument_begin|>";
const END: &str = "<|tool_call_end|>";

/// The calls of a text between tags, all or none.
pub fn read(form: Form, text: &str, tools: &Value) -> Option<Vec<Part>> {
    let calls = match form {
        Form::Json => vec![object(text.trim())?],
        Form::Functions => functions(text, tools)?,
        Form::Keys => vec![keys(text.trim(), tools)?],
        Form::Section => section(text)?,
        Form::Invokes => invokes(text, tools)?,
        Form::List => list(text.trim())?,
        Form::Object => objects(text)?,
        Form::Channels => return None,
    };
    (!calls.is_empty()).then_some(calls)
}

#[derive(Deserialize)]
struct Call<'a> {
    name: String,
    #[serde(borrow, alias = "parameters")]
    arguments: Option<&'a RawValue>,
}

impl Call<'_> {
    fn part(self) -> Part {
        Part::Call { name: self.name, arguments: written(self.arguments) }
    }
}

/// Arguments as they were written; some write them as a text of JSON.
fn written(arguments: Option<&RawValue>) -> String {
    let arguments = arguments.map_or("{}", |arguments| arguments.get());
    serde_json::from_str::<String>(arguments).unwrap_or_else(|_| arguments.into())
}

fn object(json: &str) -> Option<Part> {
    serde_json::from_str::<Call<'_>>(json).ok().map(Call::part)
}

/// Objects one after the other, or with semicolons between.
fn objects(text: &str) -> Option<Vec<Part>> {
    let (mut rest, mut parts) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Call<'_>>();
        parts.push(values.next()?.ok()?.part());
        rest = rest[values.byte_offset()..].trim_start_matches([';', ' ', '\n', '\r', '\t']);
    }
    Some(parts)
}

/// An array of objects, or names before their arguments.
fn list(text: &str) -> Option<Vec<Part>> {
    if text.starts_with('[') {
        let calls: Vec<Call<'_>> = serde_json::from_str(text).ok()?;
        return Some(calls.into_iter().map(Call::part).collect());
    }
    let (mut rest, mut parts) = (text, Vec::new());
    while !rest.is_empty() {
        let (head, after) = rest.split_once("[ARGS]")?;
        let name = head.split("[CALL_ID]").next()?.trim();
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<&RawValue>();
        parts.push(Part::Call { name: named(name)?, arguments: written(Some(values.next()?.ok()?)) });
        rest = after[values.byte_offset()..].trim_start();
        rest = rest.strip_prefix("[TOOL_CALLS]").unwrap_or(rest).trim_start();
    }
    Some(parts)
}

/// What can be a name.
pub fn named(name: &str) -> Option<String> {
    let fits = |c: char| c.is_alphanumeric() || "_-.:/".contains(c);
    (!name.is_empty() && name.chars().all(fits)).then(|| name.into())
}

/// The text up to `end`, and what follows it.
fn until<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(end)
}

fn functions(text: &str, tools: &Value) -> Option<Vec<Part>> {
    let (mut rest, mut parts) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let (head, after) = until(rest.strip_prefix("<function=")?, ">")?;
        let (body, after) = until(after, "</function>")?;
        let name = named(head.trim())?;
        let mut arguments = Arguments::new(tools, &name, false);
        let mut body = body.trim();
        while !body.is_empty() {
            let (key, after) = until(body.strip_prefix("<parameter=")?, ">")?;
            let (value, after) = until(after, "</parameter>")?;
            arguments.add(key.trim(), lines(value));
            body = after.trim_start();
        }
        parts.push(arguments.call(name));
        rest = after.trim_start();
    }
    Some(parts)
}

/// Without the ends of lines that only lay it out.
fn lines(value: &str) -> &str {
    let value = value.strip_prefix('\n').unwrap_or(value);
    value.strip_suffix('\n').unwrap_or(value)
}

fn keys(text: &str, tools: &Value) -> Option<Part> {
    let (head, mut rest) = text.split_at(text.find("<arg_key>").unwrap_or(text.len()));
    let name = named(head.trim())?;
    let mut arguments = Arguments::new(tools, &name, true);
    while !rest.is_empty() {
        let (key, after) = until(rest.strip_prefix("<arg_key>")?, "</arg_key>")?;
        let (value, after) = until(after.trim_start().strip_prefix("<arg_value>")?, "</arg_value>")?;
        arguments.add(key.trim(), value);
        rest = after.trim_start();
    }
    Some(arguments.call(name))
}

fn section(text: &str) -> Option<Vec<Part>> {
    let (mut rest, mut parts) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let (head, after) = until(rest.strip_prefix(BEGIN)?, ARGUMENTS)?;
        // The last one's end is missing where the model stopped early.
        let (arguments, after) = until(after, END).unwrap_or((after, ""));
        let head = head.trim();
        let head = head.strip_prefix("functions.").unwrap_or(head);
        let name = head.rsplit_once(':').map_or(head, |(name, _)| name);
        let json: &RawValue = serde_json::from_str(arguments.trim()).ok()?;
        parts.push(Part::Call { name: named(name)?, arguments: written(Some(json)) });
        rest = after.trim_start();
    }
    Some(parts)
}

fn invokes(text: &str, tools: &Value) -> Option<Vec<Part>> {
    let quoted = |name: &str| name.trim().trim_matches(['"', '\'']).to_string();
    let (mut rest, mut parts) = (text.trim(), Vec::new());
    while !rest.is_empty() {
        let (head, after) = until(rest.strip_prefix("<invoke name=")?, ">")?;
        let (body, after) = until(after, "</invoke>")?;
        let name = named(&quoted(head))?;
        let mut arguments = Arguments::new(tools, &name, false);
        let mut body = body.trim();
        while !body.is_empty() {
            let (key, after) = until(body.strip_prefix("<parameter name=")?, ">")?;
            let (value, after) = until(after, "</parameter>")?;
            arguments.add(&quoted(key), lines(value));
            body = after.trim_start();
        }
        parts.push(arguments.call(name));
        rest = after.trim_start();
    }
    Some(parts)
}

/// Arguments that are written as texts, with the types that the tool's schema says.
struct Arguments<'a> {
    properties: Option<&'a Value>,
    /// What has no type is taken for JSON where it is some, else it is a text.
    guess: bool,
    json: Vec<String>,
}

impl<'a> Arguments<'a> {
    fn new(tools: &'a Value, function: &str, guess: bool) -> Arguments<'a> {
        let tools = tools.as_array().map_or(&[][..], |tools| tools);
        let found = tools.iter().map(|tool| &tool["function"]).find(|tool| tool["name"] == function);
        let properties = found.map(|tool| &tool["parameters"]["properties"]);
        Arguments { properties, guess, json: Vec::new() }
    }

    fn add(&mut self, key: &str, text: &str) {
        let schema = self.properties.and_then(|properties| properties.get(key));
        let mut kinds = Vec::new();
        if let Some(schema) = schema {
            add_kinds(schema, &mut kinds);
        }
        let value = match (&kinds[..], self.guess) {
            ([], false) => None,
            ([], true) => literal(text),
            (kinds, _) => literal(text).filter(|value| kinds.iter().any(|kind| is(value, kind))),
        };
        let value = value.unwrap_or_else(|| text.into());
        self.json.push(format!("{}: {value}", Value::from(key)));
    }

    fn call(self, name: String) -> Part {
        Part::Call { name, arguments: format!("{{{}}}", self.json.join(", ")) }
    }
}

/// The types that a schema allows.
fn add_kinds<'a>(schema: &'a Value, kinds: &mut Vec<&'a str>) {
    match &schema["type"] {
        Value::String(kind) => kinds.push(kind),
        Value::Array(all) => kinds.extend(all.iter().filter_map(Value::as_str)),
        _ => {}
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for choice in schema[key].as_array().into_iter().flatten() {
            add_kinds(choice, kinds);
        }
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || kind == "integer" && !number.is_f64(),
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        // One in quotes is a text with quotes.
        Value::String(_) => false,
    }
}

/// A value as JSON or Python writes it.
fn literal(text: &str) -> Option<Value> {
    match text.trim() {
        "True" => Some(true.into()),
        "False" => Some(false.into()),
        "None" => Some(Value::Null),
        text => serde_json::from_str(text).ok(),
    }
}
