//! Chat templates (Jinja) with Python's string methods, bounded by fuel.

use super::chat_functions;
use crate::{Error, Result};
use minijinja::{Environment, Value};

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

/// The name of the one template in its environment.
const NAME: &str = "chat";

/// The longest template, in bytes. The longest in use have some 20 KB.
const MAX_SOURCE: usize = 1 << 20;

/// Instructions a rendering may take: a second at most.
const FUEL: u64 = 2_000_000;

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
        let mut environment = Environment::new();
        // What transformers' apply_chat_template sets.
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(64);
        chat_functions::register(&mut environment);
        environment
            .add_template_owned(NAME, source.to_string())
            .map_err(|error| {
                Error::InvalidFile(format!("the chat template does not compile: {error}"))
            })?;
        Ok(ChatTemplate {
            source: source.to_string(),
            bos: bos.to_string(),
            eos: eos.to_string(),
            environment,
        })
    }

    /// The text of the prompt. `add_generation_prompt` opens the assistant's turn. `extra` is a
    /// JSON object of further template variables (e.g. `{"enable_thinking": false}`), or empty.
    pub fn render(
        &self,
        messages: &[Message],
        add_generation_prompt: bool,
        extra: &str,
    ) -> Result<String> {
        let mut variables = serde_json::Map::new();
        for name in ["tools", "documents"] {
            variables.insert(name.into(), serde_json::Value::Null);
        }
        variables.insert("bos_token".into(), self.bos.clone().into());
        variables.insert("eos_token".into(), self.eos.clone().into());
        let messages = messages
            .iter()
            .map(|m| serde_json::json!({"role": m.role, "content": m.content}))
            .collect();
        variables.insert("messages".into(), serde_json::Value::Array(messages));
        variables.insert("add_generation_prompt".into(), add_generation_prompt.into());
        if !extra.trim().is_empty() {
            let extra: serde_json::Map<String, serde_json::Value> = serde_json::from_str(extra)
                .map_err(|error| {
                    Error::InvalidArgument(format!(
                        "the extra template variables are no JSON object: {error}"
                    ))
                })?;
            variables.extend(extra);
        }
        let fail = |error: minijinja::Error| {
            Error::InvalidArgument(format!("the chat template failed: {error:#}"))
        };
        let template = self.environment.get_template(NAME).map_err(fail)?;
        let mut out = Bounded(Vec::new());
        let variables = Value::from_serialize(&variables);
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
