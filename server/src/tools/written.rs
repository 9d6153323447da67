//! Grammars of calls, in Lark's notation, for the forms whose calls are JSON.

use super::Form;
use super::calls::named;
use crate::error::{ApiError, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One of OpenAI's list.
#[derive(Deserialize)]
pub struct Tool<'a> {
    #[serde(borrow)]
    pub function: Function<'a>,
}

#[derive(Deserialize)]
pub struct Function<'a> {
    pub name: String,
    /// A JSON schema.
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
}

pub fn read(json: &str) -> serde_json::Result<Vec<Tool<'_>>> {
    serde_json::from_str(json)
}

/// What stands before the name of a call, between that and the arguments, and after these: parts of a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    before: String,
    between: String,
    after: String,
}

/// Models choose between none and one blank: with more of them they may never come to an end.
const LAYOUT: &str = r#""x-guidance": {"whitespace_pattern": " "}"#;

impl Written {
    /// `None`: arguments are not JSON, or were not seen to be forced. `control` finds control tokens, which are no
    /// text for a grammar.
    pub fn of(form: Form, template: &str, control: impl Fn(&str) -> Option<u32>) -> Option<Written> {
        let mark = |mark: &str| control(mark).map_or_else(|| literal(mark), |token| format!("<[{token}]>"));
        let (before, between, after) = match form {
            Form::Json => (
                format!("{} {}", mark("<tool_call>"), literal("\n{\"name\": \"")),
                literal("\", \"arguments\": "),
                format!("{} {}", literal("}\n"), mark("</tool_call>")),
            ),
            Form::List if template.contains("[ARGS]") => (mark("[TOOL_CALLS]"), mark("[ARGS]"), String::new()),
            Form::List => (
                format!("{} {}", mark("[TOOL_CALLS]"), literal("[{\"name\": \"")),
                literal("\", \"arguments\": "),
                literal("}]"),
            ),
            Form::Object => (literal("{\"name\": \""), literal("\", \"parameters\": "), literal("}")),
            Form::Functions | Form::Keys | Form::Section | Form::Invokes | Form::Channels => return None,
        };
        Some(Written { before, between, after })
    }

    /// Whether its first character is none that JSON begins with.
    pub fn can_be_told_from_json(&self) -> bool {
        self.before.starts_with('<') || self.before.starts_with("\"<")
    }

    /// A text that is a call of one of the tools, or JSON that a schema accepts.
    pub fn grammar(&self, tools: &[Tool], or: Option<&str>) -> Result<String> {
        let wrong = |message| Err(ApiError::field("tools", message));
        let mut calls = Vec::new();
        for Tool { function: Function { name, parameters } } in tools {
            if named(name).is_none() {
                return wrong(format!("the name {name:?} is not of letters, digits and _-.:/"));
            }
            let arguments = match parameters.map(RawValue::get) {
                // As OpenAI's API has it.
                None => literal("{}"),
                Some(schema) if schema.starts_with('{') => json(schema, r#""type": "object", "#),
                Some(_) => return wrong(format!("the parameters of {name:?} are no object")),
            };
            let Written { before, between, after } = self;
            calls.push(format!("{before} {} {between} {arguments} {after}", literal(name)));
        }
        calls.extend(or.map(|schema| json(schema, "")));
        Ok(format!("start: {}\n", calls.join("\n  | ")))
    }
}

/// A text in a rule.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// JSON by a schema, which keeps the order of its properties, with more members, which its own go before.
fn json(schema: &str, more: &str) -> String {
    match schema.strip_prefix('{').map(str::trim_start) {
        Some(rest) if rest.starts_with('}') => format!("%json {{{more}{LAYOUT}}}"),
        Some(rest) => format!("%json {{{more}{LAYOUT}, {rest}"),
        None => format!("%json {{{more}{LAYOUT}, \"allOf\": [{schema}]}}"),
    }
}
