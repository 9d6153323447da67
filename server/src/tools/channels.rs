//! The channels of gpt-oss (harmony): `<|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final
//! <|message|>...`; a message with a recipient (`to=functions.f`) is a call.

use super::{Part, push_text};

const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// What ends a message; the last two begin the next one's head.
const ENDS: [&str; 5] = ["<|end|>", "<|call|>", "<|return|>", START, CHANNEL];
/// All tokens of the form.
pub const MARKS: [&str; 7] = ["<|end|>", "<|call|>", "<|return|>", START, CHANNEL, MESSAGE, "<|constrain|>"];

#[derive(Default)]
pub struct Channels {
    held: String,
    message: Option<Message>,
}

enum Message {
    Text,
    Reasoning,
    /// To whom, and the arguments so far.
    Call(String, String),
}

impl Message {
    /// By the head: `assistant<|channel|>commentary to=functions.f <|constrain|>json`.
    fn of(head: &str) -> Message {
        let word = |after: &str| {
            let (_, rest) = head.split_once(after)?;
            rest.split(|c: char| c.is_whitespace() || c == '<').next()
        };
        match (word("to="), word(CHANNEL)) {
            (Some(to), _) => Message::Call(to.strip_prefix("functions.").unwrap_or(to).into(), String::new()),
            (None, Some("analysis")) => Message::Reasoning,
            (None, _) => Message::Text,
        }
    }

    fn add(&mut self, text: &str, parts: &mut Vec<Part>) {
        match self {
            Message::Text => push_text(parts, text),
            Message::Reasoning if text.is_empty() => {}
            Message::Reasoning => parts.push(Part::Reasoning(text.into())),
            Message::Call(_, arguments) => arguments.push_str(text),
        }
    }

    fn end(self, parts: &mut Vec<Part>) {
        if let Message::Call(name, arguments) = self {
            let arguments = arguments.trim();
            let arguments = if arguments.is_empty() { "{}" } else { arguments };
            parts.push(Part::Call { name, arguments: arguments.into() });
        }
    }
}

impl Channels {
    pub fn push(&mut self, text: &str) -> Vec<Part> {
        self.held.push_str(text);
        let mut parts = Vec::new();
        loop {
            let Some(message) = &mut self.message else {
                // The head's beginning is the prompt's end.
                if let Some(at) = self.held.find(MESSAGE) {
                    self.message = Some(Message::of(&self.held[..at]));
                    self.held.drain(..at + MESSAGE.len());
                } else if self.is_head() {
                    return parts;
                } else {
                    self.message = Some(Message::Text);
                }
                continue;
            };
            let end = ENDS.iter().filter_map(|end| Some((self.held.find(end)?, *end))).min();
            if let Some((at, end)) = end {
                message.add(&self.held[..at], &mut parts);
                let begins = end == START || end == CHANNEL;
                self.held.drain(..if begins { at } else { at + end.len() });
                self.take_message(&mut parts);
            } else {
                let begun = |end: &str| (1..end.len()).rev().find(|length| self.held.ends_with(&end[..*length]));
                let begun = ENDS.iter().filter_map(|end| begun(end)).max();
                let safe = self.held.len() - begun.unwrap_or(0);
                message.add(&self.held[..safe], &mut parts);
                self.held.drain(..safe);
                return parts;
            }
        }
    }

    /// Whether it can be the beginning of a head.
    fn is_head(&self) -> bool {
        let held = self.held.trim_start();
        ["<|", "to="].iter().any(|mark| held.starts_with(mark) || mark.starts_with(held))
    }

    fn take_message(&mut self, parts: &mut Vec<Part>) {
        if let Some(message) = self.message.take() {
            message.end(parts);
        }
    }

    pub fn finish(&mut self) -> Vec<Part> {
        let (held, mut parts) = (std::mem::take(&mut self.held), Vec::new());
        match &mut self.message {
            Some(message) => message.add(&held, &mut parts),
            None => push_text(&mut parts, &held),
        }
        self.take_message(&mut parts);
        parts
    }
}
