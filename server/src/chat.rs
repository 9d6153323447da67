//! POST /v1/chat/completions.

use crate::answers::{Answers, Piece};
use crate::app::App;
use crate::error::{ApiError, Result};
use crate::fields::Fields;
use crate::format::Format;
use crate::logprobs;
use crate::respond::{self, Form};
use crate::tools::{self, Part, ToolCalls, ToolChoice};
use crate::usage::{Usage, reason};
use axum::body::Body;
use axum::extract::State;
use axum::http::Request as HttpRequest;
use axum::response::Response;
use mlxrocm_rs::Request;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Answers to one chat.
pub const MOST_CHOICES: u32 = 16;

/// Fields that would change the answer, with the values that do not.
const REFUSED: &[(&str, &str)] = &[
    ("audio", "null"),
    ("function_call", "\"none\""),
    ("functions", "[]"),
    ("modalities", "[\"text\"]"),
    ("prediction", "null"),
    ("web_search_options", "null"),
];

pub async fn complete(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Result<Response> {
    let body = app.read_body(request).await?;
    let fields = Fields::read(&body)?;
    fields.check_model(&app.name)?;
    fields.refuse(REFUSED)?;
    let choice = ToolChoice::read(&fields)?;
    let format = choice.format(&fields, app.calls.as_ref(), Format::read(&fields)?)?;
    let top = fields.count("top_logprobs", 0..=20)?;
    let logprobs = fields.get::<bool>("logprobs")?.unwrap_or(false);
    if top.is_some_and(|top| top > 0) && !logprobs {
        return Err(ApiError::field("top_logprobs", "needs logprobs to be true"));
    }
    let has_tools = choice != ToolChoice::None;
    let most = fields.count("max_completion_tokens", 1..=u32::MAX)?;
    let most = most.or(fields.count("max_tokens", 1..=u32::MAX)?).unwrap_or(0);
    let mut request = fields.sampling(Request::chat_json(chat_json(&fields, has_tools)?), most)?;
    if let Some(format) = &format {
        request = format.add_to(request);
    }
    let seed = fields.seed()?;
    if logprobs {
        request = request.logprobs(top.unwrap_or(0).max(1));
    }
    let count = fields.count("n", 1..=MOST_CHOICES)?.unwrap_or(1);
    let stream = fields.get::<bool>("stream")?.unwrap_or(false);
    // Channels tell more than calls.
    let reads = has_tools || app.tools == tools::Form::Channels;
    let tools = fields.get::<Value>("tools")?.unwrap_or_default();
    let marks = if reads { app.tools.marks() } else { &[] };
    let form = Chat {
        id: app.id("chatcmpl"),
        created: crate::now(),
        stream,
        include_usage: include_usage(&fields, stream)?,
        top: logprobs.then_some(top.unwrap_or(0) as usize),
        choices: (0..count).map(|_| Choice::new(reads.then(|| ToolCalls::new(app.tools, tools.clone())))).collect(),
        usage: Usage::default(),
        app: app.clone(),
    };
    // Each has a seed of its own.
    let requests = (0..u64::from(count)).map(|index| request.clone().seed(seed.wrapping_add(index))).collect();
    let answers = Answers::start(&app, requests, format.as_ref(), logprobs, marks).await?;
    if stream { Ok(respond::stream(answers, form)) } else { respond::whole(answers, form).await }
}

/// stream_options.include_usage.
pub fn include_usage(fields: &Fields, stream: bool) -> Result<bool> {
    let options = fields.get::<Map<String, Value>>("stream_options")?;
    match options {
        Some(_) if !stream => Err(ApiError::field("stream_options", "needs stream to be true")),
        Some(options) => match options.get("include_usage") {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(wanted)) => Ok(*wanted),
            Some(_) => Err(ApiError::field("stream_options", "include_usage is true or false")),
        },
        None => Ok(false),
    }
}

/// What the chat template is given: later members go before earlier ones of the same name.
fn chat_json(fields: &Fields, has_tools: bool) -> Result<String> {
    let messages = fields.raw("messages").ok_or_else(|| ApiError::field("messages", "missing"))?;
    let mut object = match fields.raw("chat_template_kwargs") {
        // The same object without its closing brace.
        Some(variables) => match fields.get::<Map<String, Value>>("chat_template_kwargs")? {
            Some(map) if !map.is_empty() => variables.trim_end().strip_suffix('}').unwrap_or("{").to_string() + ",",
            _ => "{".into(),
        },
        None => "{".into(),
    };
    if let Some(effort) = fields.raw("reasoning_effort") {
        object.push_str(&format!("\"reasoning_effort\":{effort},"));
    }
    if has_tools {
        object.push_str(&format!("\"tools\":{},", fields.raw("tools").unwrap_or("null")));
    }
    object.push_str(&format!("\"messages\":{messages}}}"));
    Ok(object)
}

/// One of the answers.
struct Choice {
    /// Takes calls out of the text, where there are tools.
    tools: Option<ToolCalls>,
    content: String,
    reasoning: String,
    calls: Vec<Value>,
    logprobs: Vec<Value>,
    finish: Option<&'static str>,
}

impl Choice {
    fn new(tools: Option<ToolCalls>) -> Choice {
        let (content, reasoning) = (String::new(), String::new());
        Choice { tools, content, reasoning, calls: Vec::new(), logprobs: Vec::new(), finish: None }
    }

    /// The deltas of a text.
    fn add(&mut self, text: &str, end: bool, app: &App) -> Vec<Value> {
        let parts = match &mut self.tools {
            Some(tools) => {
                let mut parts = tools.push(text);
                if end {
                    parts.extend(tools.finish());
                }
                parts
            }
            None if text.is_empty() => Vec::new(),
            None => vec![Part::Text(text.into())],
        };
        let mut deltas = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => {
                    self.content.push_str(&text);
                    deltas.push(json!({"content": text}));
                }
                Part::Reasoning(text) => {
                    self.reasoning.push_str(&text);
                    deltas.push(json!({"reasoning_content": text}));
                }
                Part::Call { name, arguments } => {
                    let function = json!({"name": name, "arguments": arguments});
                    let call = json!({"id": app.id("call"), "type": "function", "function": function});
                    let mut delta = call.clone();
                    delta["index"] = json!(self.calls.len());
                    deltas.push(json!({"tool_calls": [delta]}));
                    self.calls.push(call);
                }
            }
        }
        deltas
    }

    fn message(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.content, "refusal": null});
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = json!(self.reasoning);
        }
        if !self.calls.is_empty() {
            message["tool_calls"] = json!(self.calls);
            if self.content.is_empty() {
                message["content"] = Value::Null;
            }
        }
        message
    }
}

struct Chat {
    app: Arc<App>,
    id: String,
    created: u64,
    stream: bool,
    include_usage: bool,
    /// How many probable tokens are told with each, where they are wanted.
    top: Option<usize>,
    choices: Vec<Choice>,
    usage: Usage,
}

impl Chat {
    fn object(&self, kind: &str, choices: Value) -> Value {
        json!({"id": self.id, "object": kind, "created": self.created, "model": self.app.name, "choices": choices})
    }

    fn chunk(&self, choices: Value) -> Value {
        let mut chunk = self.object("chat.completion.chunk", choices);
        if self.include_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }
}

impl Form for Chat {
    fn begin(&self) -> Vec<Value> {
        let delta = json!({"role": "assistant", "content": ""});
        let chunk = |index| self.chunk(json!([{"index": index, "delta": delta, "finish_reason": null}]));
        (0..self.choices.len()).map(chunk).collect()
    }

    fn take(&mut self, index: usize, piece: Piece) -> Result<Vec<Value>> {
        let finished = piece.end.transpose()?;
        let tokens = piece.tokens.iter().map(|token| {
            let top = self.top.unwrap_or(0);
            logprobs::chat(&self.app.tokenizer, token, top)
        });
        let tokens: Vec<Value> = tokens.collect();
        let Some(choice) = self.choices.get_mut(index) else { return Ok(Vec::new()) };
        let mut deltas = choice.add(&piece.text, finished.is_some(), &self.app);
        if let Some(finished) = &finished {
            self.usage.add(finished, index == 0);
            let called = !choice.calls.is_empty();
            choice.finish = Some(if called { "tool_calls" } else { reason(finished) });
        }
        if !self.stream {
            choice.logprobs.extend(tokens);
            return Ok(Vec::new());
        }
        if deltas.is_empty() && !tokens.is_empty() {
            deltas.push(json!({"content": ""}));
        }
        let mut chunks: Vec<Value> =
            deltas.iter().map(|delta| json!({"index": index, "delta": delta, "finish_reason": null})).collect();
        if let (Some(first), true) = (chunks.first_mut(), self.top.is_some()) {
            first["logprobs"] = json!({"content": tokens, "refusal": null});
        }
        if finished.is_some() {
            chunks.push(json!({"index": index, "delta": {}, "finish_reason": self.choices[index].finish}));
        }
        Ok(chunks.into_iter().map(|choice| self.chunk(json!([choice]))).collect())
    }

    fn end(&self) -> Vec<Value> {
        if !self.include_usage {
            return Vec::new();
        }
        let mut chunk = self.chunk(json!([]));
        chunk["usage"] = self.usage.json();
        vec![chunk]
    }

    fn whole(self) -> Value {
        let choices = self.choices.iter().enumerate().map(|(index, choice)| {
            let logprobs = self.top.map(|_| json!({"content": choice.logprobs, "refusal": null}));
            json!({
                "index": index, "message": choice.message(), "logprobs": logprobs, "finish_reason": choice.finish,
            })
        });
        let mut answer = self.object("chat.completion", choices.collect());
        answer["usage"] = self.usage.json();
        answer
    }
}
