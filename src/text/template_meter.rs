//! What a running chat template has used up, and how Python writes values as text.

use super::template_operators::is_tuple;
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};
use std::cell::Cell;
use std::fmt::Write;

/// Containers may nest so deep.
const MAX_DEPTH: usize = 64;

/// What one element of a container costs, besides its bytes.
const NODE: usize = 8;

thread_local! {
    /// What the rendering on this thread may still use, in bytes.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

/// A running rendering: its budget is gone when this is dropped.
pub(super) struct Meter;

impl Meter {
    /// Starts a rendering on this thread with a budget.
    pub(super) fn start(budget: usize) -> Meter {
        LEFT.set(budget);
        Meter
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        LEFT.set(0);
    }
}

/// An error of a template.
pub(super) fn fail(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Takes `bytes` from the budget.
pub(super) fn charge(bytes: usize) -> Result<(), Error> {
    match LEFT.get().checked_sub(bytes) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => {
            LEFT.set(0);
            Err(fail("the template uses too much memory or time"))
        }
    }
}

/// Whether the value is a `namespace()`.
fn is_namespace(value: &Value) -> bool {
    let object = value.as_object();
    object.is_some_and(|object| object.type_name().contains("Namespace"))
}

/// Takes the whole size of a value from the budget. A namespace inside a container is an error: it
/// could contain itself.
pub(super) fn weigh(value: &Value) -> Result<(), Error> {
    weigh_at(value, 0)
}

fn weigh_at(value: &Value, depth: usize) -> Result<(), Error> {
    charge(NODE)?;
    match value.kind() {
        ValueKind::String | ValueKind::Bytes => charge(value.len().unwrap_or(0)),
        ValueKind::Seq | ValueKind::Iterable => {
            check_depth(depth)?;
            for item in value.try_iter()? {
                weigh_at(&item, depth + 1)?;
            }
            Ok(())
        }
        ValueKind::Map => {
            if is_namespace(value) {
                return if depth == 0 {
                    Err(fail("a namespace can only be used by its attributes"))
                } else {
                    Err(fail("a namespace cannot be put into a container"))
                };
            }
            check_depth(depth)?;
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                weigh_at(&key, depth + 1)?;
                weigh_at(&item, depth + 1)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_depth(depth: usize) -> Result<(), Error> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    Err(fail("a value is nested too deep"))
}

/// Text that is charged as it grows.
pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn push(&mut self, text: &str) -> Result<(), Error> {
        charge(text.len())?;
        self.0.push_str(text);
        Ok(())
    }

    /// Python's `str(value)`. Undefined values are empty.
    pub(super) fn value(&mut self, value: &Value) -> Result<(), Error> {
        match value.as_str() {
            Some(text) => self.push(text),
            None => self.repr(value),
        }
    }

    /// Python's `repr(value)`.
    pub(super) fn repr(&mut self, value: &Value) -> Result<(), Error> {
        self.repr_at(value, 0)
    }

    fn repr_at(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        charge(NODE)?;
        match value.kind() {
            ValueKind::Undefined => Ok(()),
            ValueKind::None => self.push("None"),
            ValueKind::Bool => self.push(if value.is_true() { "True" } else { "False" }),
            ValueKind::Number => self.push(&number(value)),
            ValueKind::String => self.quoted(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => {
                check_depth(depth)?;
                let [open, close] = match (is_tuple(value), value.len()) {
                    (false, _) => ["[", "]"],
                    (true, Some(1)) => ["(", ",)"],
                    (true, _) => ["(", ")"],
                };
                self.push(open)?;
                for (index, item) in value.try_iter()?.enumerate() {
                    self.push(if index > 0 { ", " } else { "" })?;
                    self.repr_at(&item, depth + 1)?;
                }
                self.push(close)
            }
            ValueKind::Map => {
                check_depth(depth)?;
                if is_namespace(value) {
                    return self.push("<Namespace>");
                }
                self.push("{")?;
                for (index, key) in value.try_iter()?.enumerate() {
                    self.push(if index > 0 { ", " } else { "" })?;
                    self.repr_at(&key, depth + 1)?;
                    self.push(": ")?;
                    self.repr_at(&value.get_item(&key)?, depth + 1)?;
                }
                self.push("}")
            }
            // Functions, loops and other objects: their text is short.
            _ => self.push(&value.to_string()),
        }
    }

    fn quoted(&mut self, text: &str) -> Result<(), Error> {
        let quote = if text.contains('\'') && !text.contains('"') {
            '"'
        } else {
            '\''
        };
        let mut out = String::from(quote);
        for c in text.chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c == quote => {
                    out.push('\\');
                    out.push(c);
                }
                c if (c as u32) < 0x20 || c as u32 == 0x7F => {
                    let _ = write!(out, "\\x{:02x}", c as u32);
                }
                c => out.push(c),
            }
        }
        out.push(quote);
        self.push(&out)
    }
}

/// A number as Python writes it.
pub(super) fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let number = f64::try_from(value.clone()).unwrap_or(f64::NAN);
    if number.is_nan() {
        return "nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.into();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        // 1e+16, 1.5e-05: Python writes a sign and at least two digits.
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((digits, power)) => match power.strip_prefix('-') {
                Some(power) => format!("{digits}e-{power:0>2}"),
                None => format!("{digits}e+{power:0>2}"),
            },
            None => text,
        };
    }
    format!("{number:?}")
}
