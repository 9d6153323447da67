//! Calls of tools that a model writes into its answer, in the form that its chat template has for them. Whatever has
//! another form stays text.

mod calls;
mod channels;
mod choice;
mod written;

use channels::Channels;
pub use choice::ToolChoice;
use serde_json::Value;
pub use written::Written;

/// A part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// What the model thinks, where its form tells that from the answer.
    Reasoning(String),
    /// The arguments are JSON, as the model wrote it where it wrote JSON.
    Call {
        name: String,
        arguments: String,
    },
}

/// How a model writes calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`: Hermes, Qwen 2.5 and 3.
    #[default]
    Json,
    /// `<tool_call><function=f><parameter=a>...</parameter></function></tool_call>`: Qwen3-Coder, Qwen 3.5.
    Functions,
    /// `<tool_call>f<arg_key>a</arg_key><arg_value>...</arg_value></tool_call>`: GLM 4.5 on.
    Keys,
    /// `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>` in a section: Kimi K2.
    Section,
    /// `<invoke name="f"><parameter name="a">...</parameter></invoke>` in `<minimax:tool_call>`: MiniMax M2.
    Invokes,
    /// `[TOOL_CALLS][{"name": ..., "arguments": {...}}]` or `[TOOL_CALLS]f[ARGS]{...}`: Mistral.
    List,
    /// `{"name": ..., "parameters": {...}}` as the whole answer: Llama 3.
    Object,
    /// Channels with a recipient: gpt-oss (harmony).
    Channels,
}

impl Form {
    /// The form of a chat template, by what only templates of that form hold.
    pub fn of(template: &str) -> Form {
        let has = |mark: &str| template.contains(mark);
        match () {
            () if has("<minimax:tool_call>") => Form::Invokes,
            () if has("<arg_key>") => Form::Keys,
            () if has("<tool_call>") && has("<function=") => Form::Functions,
            () if has("<|tool_calls_section_begin|>") => Form::Section,
            () if has("[TOOL_CALLS]") => Form::List,
            () if has("<|channel|>") && has("<|call|>") => Form::Channels,
            () if has("<|python_tag|>") || has("\"parameters\": dictionary of argument name") => Form::Object,
            () => Form::Json,
        }
    }

    /// What begins and ends calls; without an end they go on to the end of the answer.
    fn tags(self) -> (&'static str, Option<&'static str>) {
        match self {
            Form::Json | Form::Functions | Form::Keys => ("<tool_call>", Some("</tool_call>")),
            Form::Section => ("<|tool_calls_section_begin|>", Some("<|tool_calls_section_end|>")),
            Form::Invokes => ("<minimax:tool_call>", Some("</minimax:tool_call>")),
            Form::List => ("[TOOL_CALLS]", None),
            Form::Object => ("<|python_tag|>", None),
            Form::Channels => ("", None),
        }
    }

    /// Special tokens that belong to the form: the reader needs their spelling, which answers leave out.
    pub fn marks(self) -> &'static [&'static str] {
        match self {
            Form::Json | Form::Functions => &["<tool_call>", "</tool_call>"],
            Form::Keys => &["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
            Form::Section => &calls::SECTION,
            Form::Invokes => &["<minimax:tool_call>", "</minimax:tool_call>"],
            Form::List => &["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
            Form::Object => &["<|python_tag|>"],
            Form::Channels => &channels::MARKS,
        }
    }
}

/// Takes an answer apart as it comes.
pub struct ToolCalls {
    form: Form,
    /// OpenAI's list of tools: types of arguments that are written without them.
    tools: Value,
    /// Blanks and the beginning of a tag, or what follows a tag.
    held: String,
    /// The tag that stands before it.
    open: Option<&'static str>,
    begun: bool,
    channels: Channels,
}

impl ToolCalls {
    pub fn new(form: Form, tools: Value) -> ToolCalls {
        ToolCalls { form, tools, held: String::new(), open: None, begun: false, channels: Channels::default() }
    }

    /// The parts that are complete. Blanks around calls are left out.
    pub fn push(&mut self, text: &str) -> Vec<Part> {
        if self.form == Form::Channels {
            return self.channels.push(text);
        }
        self.held.push_str(text);
        let (tag, close) = self.form.tags();
        let mut parts = Vec::new();
        loop {
            if self.form == Form::Object && !self.begun && self.open.is_none() {
                match self.held.trim_start().chars().next() {
                    None => return parts,
                    Some('{') => self.open = Some(""),
                    Some(_) => self.begun = true,
                }
            }
            if let Some(tag) = self.open {
                let end = close.and_then(|close| Some((self.held.find(close)?, close)));
                let Some((at, close)) = end else { return parts };
                let read = calls::read(self.form, &self.held[..at], &self.tools);
                let end = at + close.len();
                parts.extend(read.unwrap_or_else(|| vec![Part::Text(format!("{tag}{}", &self.held[..end]))]));
                self.held.drain(..end);
                self.open = None;
            } else if let Some(at) = self.held.find(tag) {
                push_text(&mut parts, self.held[..at].trim_end());
                self.held.drain(..at + tag.len());
                self.open = Some(tag);
            } else {
                let begun = (1..tag.len()).rev().find(|length| self.held.ends_with(&tag[..*length]));
                let before = &self.held[..self.held.len() - begun.unwrap_or(0)];
                let safe = before.trim_end().len();
                push_text(&mut parts, &self.held[..safe]);
                self.held.drain(..safe);
                return parts;
            }
        }
    }

    /// What is left at the end. Models often stop instead of closing the tag.
    pub fn finish(&mut self) -> Vec<Part> {
        if self.form == Form::Channels {
            return self.channels.finish();
        }
        let held = std::mem::take(&mut self.held);
        let mut parts = Vec::new();
        match self.open.take() {
            None => push_text(&mut parts, &held),
            Some(tag) => match calls::read(self.form, &held, &self.tools) {
                Some(calls) => parts = calls,
                None => push_text(&mut parts, &format!("{tag}{held}")),
            },
        }
        parts
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.into()));
    }
}

#[cfg(test)]
mod tests;
