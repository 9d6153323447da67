//! Python's methods of objects and lists, as chat templates call them.

use super::template_meter::{charge, fail, weigh};
use super::template_operators::{sequence, tuple};
use super::template_texts::string;
use minijinja::value::{ValueKind, from_args};
use minijinja::{Error, ErrorKind, State, Value};

/// Calls a method that Jinja itself does not know.
pub(super) fn call(
    state: &State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        charge(text.len())?;
        return string(state, value, text, method, args);
    }
    match (value.kind(), method) {
        (ValueKind::Map, "get") => {
            let (key, default): (&Value, Option<Value>) = from_args(args)?;
            weigh(key)?;
            let found = value.get_item(key)?;
            Ok(if found.is_undefined() {
                default.unwrap_or_else(|| Value::from(()))
            } else {
                found
            })
        }
        (ValueKind::Map, "keys" | "values" | "items") => {
            let () = from_args(args)?;
            let mut list = Vec::new();
            for key in value.try_iter()? {
                charge(64)?;
                let item = value.get_item(&key)?;
                list.push(match method {
                    "keys" => key,
                    "values" => item,
                    _ => tuple(vec![key, item]),
                });
            }
            Ok(Value::from(list))
        }
        (ValueKind::Seq, "count" | "index") => {
            let (what,): (&Value,) = from_args(args)?;
            weigh(value)?;
            weigh(what)?;
            let mut items = value.try_iter()?;
            if method == "count" {
                return Ok(Value::from(items.filter(|item| item == what).count()));
            }
            let at = items.position(|item| item == *what);
            at.map(Value::from)
                .ok_or_else(|| fail("index: the list does not hold the value"))
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// `value | items`: pairs of an object; nothing for an undefined value.
pub(super) fn items(state: &State, value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(Value::from(Vec::<Value>::new())),
        _ => call(state, value, "items", &[]),
    }
}

/// Python's `value[start:stop:step]` of a text or list, as a new value.
pub(super) fn slice(
    value: &Value,
    start: &Value,
    stop: &Value,
    step: &Value,
) -> Result<Value, Error> {
    let number = |value: &Value| match value.is_none() {
        true => Ok(None),
        false => value
            .as_i64()
            .map(Some)
            .ok_or_else(|| fail("slices take whole numbers")),
    };
    let (start, stop, step) = (number(start)?, number(stop)?, number(step)?.unwrap_or(1));
    if step == 0 {
        return Err(fail("the step of a slice must not be 0"));
    }
    if let Some(text) = value.as_str() {
        charge(text.len() * 4)?;
        let chars: Vec<char> = text.chars().collect();
        let part: String = places(chars.len(), start, stop, step)
            .filter_map(|at| chars.get(at))
            .collect();
        return Ok(Value::from(part));
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err(fail(format!("{} cannot be sliced", value.kind())));
    }
    let mut list = Vec::new();
    for item in value.try_iter()? {
        charge(16)?;
        list.push(item);
    }
    let part = places(list.len(), start, stop, step).filter_map(|at| list.get(at).cloned());
    Ok(sequence(value, part.collect()))
}

/// The places that a slice of a list of `len` elements takes.
fn places(
    len: usize,
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
) -> impl Iterator<Item = usize> {
    let len = len as i64;
    // Forwards places are in 0..=len, backwards in -1..len.
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clamp = |at: i64| (if at < 0 { at.saturating_add(len) } else { at }).clamp(low, high);
    let (first, end) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, stop) = (start.map_or(first, clamp), stop.map_or(end, clamp));
    std::iter::from_fn(move || {
        if if step > 0 { at >= stop } else { at <= stop } {
            return None;
        }
        let place = usize::try_from(at).ok();
        at = at.saturating_add(step);
        place
    })
}
