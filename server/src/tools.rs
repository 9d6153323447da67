//! Calls of tools that a model writes into its answer in the form of Hermes and Qwen:
//! `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`. Whatever has another form stays text.

use serde::Deserialize;
use serde_json::value::RawValue;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// A part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// The arguments are JSON, as the model wrote it.
    Call {
        name: String,
        arguments: String,
    },
}

/// Takes an answer apart as it comes.
#[derive(Default)]
pub struct ToolCalls {
    /// Blanks and the beginning of a tag, or what follows a tag.
    held: String,
    open: bool,
}

impl ToolCalls {
    /// The parts that are complete. Blanks around calls are left out.
    pub fn push(&mut self, text: &str) -> Vec<Part> {
        self.held.push_str(text);
        let mut parts = Vec::new();
        loop {
            if self.open {
                let Some(at) = self.held.find(CLOSE) else { return parts };
                parts.push(read(&self.held[..at]).unwrap_or_else(|| {
                    let end = at + CLOSE.len();
                    Part::Text(format!("{OPEN}{}", &self.held[..end]))
                }));
                self.held.drain(..at + CLOSE.len());
                self.open = false;
            } else if let Some(at) = self.held.find(OPEN) {
                push_text(&mut parts, self.held[..at].trim_end());
                self.held.drain(..at + OPEN.len());
                self.open = true;
            } else {
                let begun = (1..OPEN.len()).rev().find(|length| self.held.ends_with(&OPEN[..*length]));
                let before = &self.held[..self.held.len() - begun.unwrap_or(0)];
                let safe = before.trim_end().len();
                push_text(&mut parts, &self.held[..safe]);
                self.held.drain(..safe);
                return parts;
            }
        }
    }

    /// What is left at the end. Models often stop instead of closing the tag.
    pub fn finish(&mut self) -> Option<Part> {
        let held = std::mem::take(&mut self.held);
        if !self.open {
            return Some(Part::Text(held)).filter(|part| *part != Part::Text(String::new()));
        }
        self.open = false;
        Some(read(&held).unwrap_or_else(|| Part::Text(format!("{OPEN}{held}"))))
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.into()));
    }
}

fn read(json: &str) -> Option<Part> {
    #[derive(Deserialize)]
    struct Call<'a> {
        name: String,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let call: Call<'_> = serde_json::from_str(json.trim()).ok()?;
    let arguments = call.arguments.map_or("{}", |arguments| arguments.get());
    // Some write the arguments as a text of JSON.
    let arguments = serde_json::from_str::<String>(arguments).unwrap_or_else(|_| arguments.into());
    Some(Part::Call { name: call.name, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of an answer that comes in pieces of `size` bytes, texts put together.
    fn parts(answer: &str, size: usize) -> Vec<Part> {
        let (mut calls, mut parts) = (ToolCalls::default(), Vec::new());
        let mut found: Vec<Part> =
            answer.as_bytes().chunks(size).flat_map(|piece| calls.push(std::str::from_utf8(piece).unwrap())).collect();
        found.extend(calls.finish());
        for part in found {
            match (parts.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => parts.push(part),
            }
        }
        parts
    }

    #[test]
    fn the_same_in_pieces_of_any_size() {
        let text = |text: &str| Part::Text(text.into());
        let call = |name: &str, arguments: &str| Part::Call { name: name.into(), arguments: arguments.into() };
        let cases = [
            ("Hi.\n", vec![text("Hi.\n")]),
            (" a < b <tool <tool_cal", vec![text(" a < b <tool <tool_cal")]),
            ("", vec![]),
            (
                "Wait.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":  [1, \"}</x>\"]}}\n</tool_call>",
                vec![text("Wait."), call("f", "{\"a\":  [1, \"}</x>\"]}")],
            ),
            (
                "<tool_call>{\"name\": \"f\"}</tool_call>\n<tool_call>{\"arguments\": \"{}\", \"name\": \"g\"}</tool_call> z",
                vec![call("f", "{}"), call("g", "{}"), text(" z")],
            ),
            // Another form, and one that is cut off.
            ("<tool_call><function=f></tool_call>!", vec![text("<tool_call><function=f></tool_call>!")]),
            ("<tool_call>{\"name\": \"f\", ", vec![text("<tool_call>{\"name\": \"f\", ")]),
            ("<tool_call>{\"name\": \"f\", \"arguments\": {}}\n", vec![call("f", "{}")]),
        ];
        for (answer, wanted) in cases {
            for size in 1..=answer.len().max(1) {
                assert_eq!(parts(answer, size), wanted, "{answer} in pieces of {size}");
            }
        }
    }
}
