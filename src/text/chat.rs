//! Chats in JSON as OpenAI's API writes them, made into variables of a chat template as vLLM and mlx-lm make them.

use crate::formats::one_line;
use crate::{Error, Result};
use minijinja::Value;
use minijinja::value::ValueKind;

/// The members of an object in their order.
type Members = Vec<(String, Value)>;

/// Reads a JSON object: `messages` and `tools` in OpenAI's form, other members as they are. `template` is the
/// template's source, which decides what some things are called.
///
/// # Errors
/// `InvalidArgument`, naming the place.
pub(super) fn read(json: &str, template: &str) -> Result<Members> {
    // Read as template values, which keep the order of keys.
    let object: Value = serde_json::from_str(json).map_err(|error| invalid(one_line(error)))?;
    let mut variables = members(&object).ok_or_else(|| invalid("not a JSON object"))?;
    if let Some(messages) = get(&variables, "messages") {
        let list = items(messages).ok_or_else(|| invalid("messages is no array"))?;
        let list = list.iter().enumerate();
        let list = list.map(|(index, item)| message(item, &format!("messages[{index}]"), template));
        let list = list.collect::<Result<Vec<Value>>>()?;
        set(&mut variables, "messages", Value::from(list));
    }
    if let Some(tools) = get(&variables, "tools").filter(|tools| !tools.is_none()) {
        let list = items(tools).ok_or_else(|| invalid("tools is no array"))?;
        if let Some(index) = list.iter().position(|tool| tool.kind() != ValueKind::Map) {
            return Err(invalid(format!("tools[{index}] is no object")));
        }
        // Templates ask whether there are tools by asking whether there is a list.
        if list.is_empty() {
            set(&mut variables, "tools", Value::from(()));
        }
    }
    Ok(variables)
}

/// A message as templates expect it: content that is a text, arguments of calls that are objects.
fn message(value: &Value, place: &str, template: &str) -> Result<Value> {
    let mut fields = members(value).ok_or_else(|| invalid(format!("{place} is no object")))?;
    let role = get(&fields, "role").and_then(|role| role.as_str());
    let role = role.ok_or_else(|| invalid(format!("{place} has no role")))?;
    // OpenAI's newer name; most templates know only the older one.
    if role == "developer" && !template.contains("developer") {
        set(&mut fields, "role", Value::from("system"));
    }
    let content = content(get(&fields, "content"), place)?;
    set(&mut fields, "content", content);
    if let Some(calls) = get(&fields, "tool_calls").filter(|calls| !calls.is_none()) {
        let place = format!("{place}.tool_calls");
        let list = items(calls).ok_or_else(|| invalid(format!("{place} is no array")))?;
        let list = list.iter().enumerate();
        let list = list.map(|(index, item)| tool_call(item, &format!("{place}[{index}]")));
        let list = list.collect::<Result<Vec<Value>>>()?;
        set(&mut fields, "tool_calls", Value::from(list));
    }
    // gpt-oss calls it so.
    let other_name = template.contains("thinking") && !template.contains("reasoning_content");
    if other_name
        && get(&fields, "thinking").is_none()
        && let Some(reasoning) = get(&fields, "reasoning_content").cloned()
    {
        fields.push(("thinking".into(), reasoning));
    }
    Ok(fields.into_iter().collect())
}

/// A message's content: parts are put together, none is "".
fn content(value: Option<&Value>, place: &str) -> Result<Value> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(Value::from(""));
    };
    match value.kind() {
        // Some templates write a tool's answer that is an object as JSON.
        ValueKind::String | ValueKind::Map => return Ok(value.clone()),
        _ => {}
    }
    let parts = items(value).ok_or_else(|| {
        invalid(format!(
            "{place}.content is neither a text nor an array of parts"
        ))
    })?;
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        let place = format!("{place}.content[{index}]");
        let fields = members(part).ok_or_else(|| invalid(format!("{place} is no object")))?;
        let kind = get(&fields, "type")
            .and_then(|kind| kind.as_str())
            .unwrap_or("none");
        if kind != "text" {
            return Err(invalid(format!(
                "{place} is of type {kind}: only text can be read"
            )));
        }
        let part = get(&fields, "text").and_then(|part| part.as_str());
        text.push_str(part.ok_or_else(|| invalid(format!("{place} has no text")))?);
    }
    Ok(Value::from(text))
}

/// A call of a tool: the arguments, which OpenAI's API writes as a text of JSON, become what that says.
fn tool_call(value: &Value, place: &str) -> Result<Value> {
    let mut call = members(value).ok_or_else(|| invalid(format!("{place} is no object")))?;
    let Some(mut function) = get(&call, "function").and_then(members) else {
        return Ok(value.clone());
    };
    if let Some(arguments) = get(&function, "arguments").and_then(|text| text.as_str()) {
        let arguments = if arguments.trim().is_empty() {
            "{}"
        } else {
            arguments
        };
        let read: Value = serde_json::from_str(arguments)
            .map_err(|error| invalid(format!("{place}.function.arguments: {}", one_line(error))))?;
        set(&mut function, "arguments", read);
    }
    set(&mut call, "function", function.into_iter().collect());
    Ok(call.into_iter().collect())
}

/// Changes each text in a value, also in keys. Values come from JSON, which does not nest deep.
pub(super) fn map_texts(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    if let Some(text) = value.as_str() {
        return Value::from(change(text));
    }
    if let Some(fields) = members(value) {
        let fields = fields.into_iter();
        return fields
            .map(|(key, value)| (change(&key), map_texts(&value, change)))
            .collect();
    }
    match items(value) {
        Some(items) => items
            .iter()
            .map(|item| map_texts(item, change))
            .collect::<Vec<_>>()
            .into(),
        None => value.clone(),
    }
}

fn invalid(what: impl std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("the chat in JSON: {what}"))
}

fn members(value: &Value) -> Option<Members> {
    if value.kind() != ValueKind::Map {
        return None;
    }
    let member = |key: Value| Some((key.as_str()?.to_string(), value.get_item(&key).ok()?));
    value.try_iter().ok()?.map(member).collect()
}

fn items(value: &Value) -> Option<Vec<Value>> {
    if value.kind() != ValueKind::Seq {
        return None;
    }
    Some(value.try_iter().ok()?.collect())
}

fn get<'a>(members: &'a Members, key: &str) -> Option<&'a Value> {
    members
        .iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}

fn set(members: &mut Members, key: &str, value: Value) {
    match members.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => members.push((key.to_string(), value)),
    }
}
