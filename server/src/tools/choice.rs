//! tool_choice: whether the model may or must call tools, and what its answer must be for that.

use super::written::{self, Tool, Written};
use crate::error::{ApiError, Result};
use crate::fields::Fields;
use crate::format::{Format, RESPONSE_FORMAT};
use serde_json::Value;

#[derive(Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model is told of no tools.
    None,
    Auto,
    /// Any of the tools.
    Required,
    /// The tool of this name.
    Function(String),
}

impl ToolChoice {
    pub fn read(fields: &Fields) -> Result<ToolChoice> {
        let choice = fields.get::<Value>("tool_choice")?.unwrap_or_else(|| "auto".into());
        let function = choice["function"]["name"].as_str().filter(|_| choice["type"] == "function");
        match (choice.as_str(), function) {
            (Some("auto"), _) if fields.raw("tools").is_some() => Ok(ToolChoice::Auto),
            (Some("auto" | "none"), _) => Ok(ToolChoice::None),
            (Some("required"), _) => Ok(ToolChoice::Required),
            (_, Some(name)) => Ok(ToolChoice::Function(name.into())),
            _ => Err(unsupported("tool_choice", "none of none, auto, required and a function")),
        }
    }

    /// What the whole text must be, calls included, where the answer must be `answer` unless it is a call.
    pub fn format<'a>(
        &self,
        fields: &Fields<'a>,
        written: Option<&Written>,
        answer: Option<Format<'a>>,
    ) -> Result<Option<Format<'a>>> {
        let wanted = match self {
            ToolChoice::None => return Ok(answer),
            ToolChoice::Auto => return or_calls(fields, written, answer),
            ToolChoice::Required => None,
            ToolChoice::Function(name) => Some(name),
        };
        if let Some(answer) = answer.filter(|answer| answer.field != RESPONSE_FORMAT) {
            return Err(ApiError::field(answer.field, "tool_choice says already what the text must be"));
        }
        let message = "a call cannot be forced in the form that this model's chat template has for calls";
        let written = written.ok_or_else(|| unsupported("tool_choice", message))?;
        let mut tools = tools(fields)?;
        tools.retain(|tool| wanted.is_none_or(|name| tool.function.name == *name));
        match (tools.is_empty(), wanted) {
            (false, _) => Ok(Some(Format::of_grammar("tools", written.grammar(&tools, None)?))),
            (true, None) => Err(ApiError::field("tool_choice", "there are no tools")),
            (true, Some(name)) => Err(ApiError::field("tool_choice", format!("there is no tool {name:?}"))),
        }
    }
}

/// Formats of answers leave the model free to call a tool instead. The other fields say what the whole text is.
fn or_calls<'a>(
    fields: &Fields<'a>,
    written: Option<&Written>,
    answer: Option<Format<'a>>,
) -> Result<Option<Format<'a>>> {
    let schema = answer.as_ref().and_then(Format::response_schema);
    let tools = if schema.is_some() { tools(fields)? } else { Vec::new() };
    if tools.is_empty() {
        return Ok(answer);
    }
    let message = "cannot be followed beside tools in the form that this model's chat template has for calls: set \
                   tool_choice to none, or ask without it until there is no call";
    let written = written.filter(|written| written.can_be_told_from_json());
    let written = written.ok_or_else(|| unsupported(RESPONSE_FORMAT, message))?;
    Ok(Some(Format::of_grammar(RESPONSE_FORMAT, written.grammar(&tools, schema)?)))
}

fn tools<'a>(fields: &Fields<'a>) -> Result<Vec<Tool<'a>>> {
    written::read(fields.raw("tools").unwrap_or("[]")).map_err(|error| ApiError::field("tools", error))
}

fn unsupported(field: &str, message: &str) -> ApiError {
    ApiError::field(field, message).code("unsupported_parameter")
}
