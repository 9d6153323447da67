//! Chat templates (Jinja) with Python's string methods, bounded by fuel.

use super::Tokenizer;
use super::chat;
use super::chat_functions;
use super::template_guard::guard;
use super::template_meter::Meter;
use super::tokenizer_json::read_object;
use crate::formats::gguf::Gguf;
use crate::formats::one_line;
use crate::formats::read_text;
use crate::{Error, Result};
use minijinja::{Environment, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`…
    pub role: String,
    /// The text.
    pub content: String,
}

/// A compiled chat template. Immutable: any thread.
#[derive(Debug)]
pub struct ChatTemplate {
    source: String,
    bos: String,
    eos: String,
    environment: Environment<'static>,
}

/// Noncharacters: no text has them.
pub(super) const OPEN: char = '\u{FDD0}';
pub(super) const CLOSE: char = '\u{FDD1}';

/// The name of the one template in its environment.
const NAME: &str = "chat";

/// The longest template, in bytes. The longest in use have some 20 KB.
const MAX_SOURCE: usize = 1 << 20;

/// Instructions that a rendering may take, and those that each message adds.
const FUEL: u64 = 1_000_000;
const FUEL_PER_MESSAGE: u64 = 2_000;

/// Bytes that a rendering may read and make, and how often it may read and make its input.
const BUDGET: usize = 64 << 20;
const BUDGET_PER_BYTE: usize = 64;

/// How deep macros may call each other.
const MAX_DEPTH: usize = 100;

/// The longest rendered prompt, in bytes.
const MAX_OUTPUT: usize = 64 << 20;

impl ChatTemplate {
    /// Compiles `source`; `bos` and `eos` are the spellings of those tokens.
    pub fn new(source: &str, bos: &str, eos: &str) -> Result<ChatTemplate> {
        if source.len() > MAX_SOURCE {
            return Err(Error::InvalidFile(format!(
                "the chat template has {} bytes; {MAX_SOURCE} at most",
                source.len()
            )));
        }
        let invalid = |error: String| {
            Error::InvalidFile(format!("the chat template is invalid: {}", one_line(error)))
        };
        let guarded = guard(source).map_err(invalid)?;
        let mut environment = Environment::new();
        environment.set_recursion_limit(MAX_DEPTH);
        chat_functions::register(&mut environment);
        environment
            .add_template_owned(NAME, guarded)
            .map_err(|error| invalid(format!("{error:#}")))?;
        Ok(ChatTemplate {
            source: source.to_string(),
            bos: bos.to_string(),
            eos: eos.to_string(),
            environment,
        })
    }

    /// The template of a model folder: `chat_template.jinja`, else `chat_template.json`, else the
    /// one (or the one named `default`) of `tokenizer_config.json`. `None` where there is none.
    ///
    /// # Errors
    /// `Io` and `InvalidFile`, naming the file.
    pub fn from_folder(folder: &Path, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>> {
        let jinja = folder.join("chat_template.jinja");
        if let Some(source) = read_text(&jinja, MAX_SOURCE as u64)? {
            return ChatTemplate::of(&source, tokenizer, &jinja.display().to_string());
        }
        for name in ["chat_template.json", "tokenizer_config.json"] {
            let object = read_object(folder, name)?;
            let entry = match object.get("chat_template") {
                Some(serde_json::Value::Array(list)) => {
                    let named = |entry: &&serde_json::Value| {
                        entry.get("name").and_then(|n| n.as_str()) == Some("default")
                    };
                    let entry = list.iter().find(named).or(list.first());
                    entry.and_then(|entry| entry.get("template"))
                }
                entry => entry,
            };
            if let Some(source) = entry.and_then(|entry| entry.as_str()) {
                let file = folder.join(name).display().to_string();
                return ChatTemplate::of(source, tokenizer, &file);
            }
        }
        Ok(None)
    }

    /// The template of a GGUF file; `None` where it has none. Errors as [`ChatTemplate::from_folder`].
    pub fn from_gguf(gguf: &Gguf, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>> {
        match gguf.get("tokenizer.chat_template").and_then(|v| v.as_str()) {
            Some(source) => ChatTemplate::of(source, tokenizer, &gguf.path().display().to_string()),
            None => Ok(None),
        }
    }

    /// Compiles a template found in `file`.
    fn of(source: &str, tokenizer: &Tokenizer, file: &str) -> Result<Option<ChatTemplate>> {
        let spelling = |id: Option<u32>| id.and_then(|id| tokenizer.id_to_token(id));
        let bos = spelling(tokenizer.bos()).unwrap_or_default();
        let eos = spelling(tokenizer.eos()).unwrap_or_default();
        ChatTemplate::new(source, &bos, &eos)
            .map(Some)
            .map_err(|error| Error::InvalidFile(format!("{file}: {error}")))
    }

    /// The tokens of the prompt: [`ChatTemplate::render`], encoded so that only the template makes
    /// control tokens. Control tokens spelled out in `messages` and `chat_json` stay text, whatever
    /// the user typed.
    ///
    /// # Errors
    /// As [`ChatTemplate::render`] and [`Tokenizer::encode`], and where there are no messages.
    pub fn encode(
        &self,
        tokenizer: &Tokenizer,
        messages: &[Message],
        add_generation_prompt: bool,
        chat_json: &str,
    ) -> Result<Vec<u32>> {
        // Each control token in a text is set between two characters that no text uses, and is
        // encoded as text where they come out of the template.
        let mark = |text: &str| {
            let text = text.replace([OPEN, CLOSE], "");
            tokenizer.mark_special(&text, OPEN, CLOSE)
        };
        let text = self.render_with(messages, add_generation_prompt, chat_json, Some(&mark))?;
        let mut ids = Vec::new();
        for part in text.split(OPEN) {
            // A template may have cut a marked token apart: a mark without its partner is dropped.
            let (inside, outside) = part.split_once(CLOSE).unwrap_or(("", part));
            ids.extend(tokenizer.encode(inside, false, false)?);
            ids.extend(tokenizer.encode(&outside.replace(CLOSE, ""), false, true)?);
        }
        Ok(ids)
    }

    /// The text of the prompt. `add_generation_prompt` opens the assistant's turn. `chat_json` is
    /// empty or a JSON object: `messages` and `tools` as OpenAI's API writes them, and further
    /// template variables (e.g. `{"enable_thinking": false}`), which go before everything else.
    /// Messages are given here or in `messages`. Parts of content must be texts and are put together;
    /// arguments of tool calls that are texts are read as JSON; a role `developer` that the template
    /// does not know is `system`; `reasoning_content` is also called `thinking` where the template
    /// knows only that name.
    ///
    /// # Errors
    /// `InvalidArgument` where `chat_json` is not such an object, messages are given twice, or the
    /// template fails, raises an error itself, or uses too much time or memory.
    pub fn render(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        chat_json: &str,
    ) -> Result<String> {
        self.render_with(messages, add_generation_prompt, chat_json, None)
    }

    /// The same, with every text of the messages and of the JSON changed by `mark`.
    fn render_with(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        chat_json: &str,
        mark: Option<&dyn Fn(&str) -> String>,
    ) -> Result<String> {
        let mut variables = BTreeMap::<String, Value>::new();
        let mut set = |name: &str, value: Value| variables.insert(name.to_string(), value);
        set("tools", Value::from(()));
        set("documents", Value::from(()));
        set("bos_token", Value::from(self.bos.as_str()));
        set("eos_token", Value::from(self.eos.as_str()));
        set("add_generation_prompt", Value::from(add_generation_prompt));
        let marked = |value: Value| match mark {
            Some(mark) => chat::map_texts(&value, mark),
            None => value,
        };
        let list = messages.iter().map(|message| {
            let fields = [("role", &message.role), ("content", &message.content)];
            let fields = fields.map(|(name, text)| (name, Value::from(text.as_str())));
            fields.into_iter().collect::<Value>()
        });
        set("messages", marked(list.collect()));
        let mut count = messages.len();
        if !chat_json.trim().is_empty() {
            for (name, value) in chat::read(chat_json, &self.source)? {
                if name == "messages" {
                    if !messages.is_empty() {
                        return Err(Error::InvalidArgument(
                            "messages are given twice: beside the chat in JSON and in it".into(),
                        ));
                    }
                    count = value.len().unwrap_or(0);
                }
                set(&name, marked(value));
            }
        }
        if mark.is_some() && count == 0 {
            return Err(Error::InvalidArgument("the chat has no messages".into()));
        }
        let fail = |error: minijinja::Error| {
            Error::InvalidArgument(format!(
                "the chat template failed: {}",
                one_line(format_args!("{error:#}"))
            ))
        };
        // Cheap: the compiled template is shared.
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(FUEL + FUEL_PER_MESSAGE * count as u64));
        let input = chat_json.len()
            + messages
                .iter()
                .map(|m| m.content.len() + m.role.len())
                .sum::<usize>();
        let _meter = Meter::start(BUDGET + BUDGET_PER_BYTE * input.min(MAX_OUTPUT));
        let template = environment.get_template(NAME).map_err(fail)?;
        let mut out = Bounded(Vec::new());
        let variables = Value::from(variables);
        template
            .render_captured_to(variables, &mut out)
            .map_err(fail)?;
        String::from_utf8(out.0)
            .map_err(|_| Error::Internal("the chat template rendered invalid UTF-8".into()))
    }

    /// The template's source.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// A writer that refuses what goes beyond [`MAX_OUTPUT`].
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(std::io::Error::other(format!(
                "the rendered text is longer than {MAX_OUTPUT} bytes"
            )));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
