//! POST /v1/completions.

use crate::answers::{Answers, Piece};
use crate::app::App;
use crate::chat::{MOST_CHOICES, include_usage};
use crate::error::Result;
use crate::fields::{Fields, Prompt};
use crate::format::Format;
use crate::logprobs;
use crate::respond::{self, Form};
use crate::usage::{Usage, reason};
use axum::body::Body;
use axum::extract::State;
use axum::http::Request as HttpRequest;
use axum::response::Response;
use mlxrocm_rs::{Request, Token};
use serde_json::{Value, json};
use std::sync::Arc;

/// Prompts of one request, each with its answers.
const MOST_PROMPTS: usize = 64;

/// Tokens of an answer, where the request does not say.
const MAX_TOKENS: u32 = 16;

/// Fields that would change the answer, with the values that do not.
const REFUSED: &[(&str, &str)] = &[("best_of", "1"), ("echo", "false"), ("suffix", "\"\"")];

pub async fn complete(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Result<Response> {
    let body = app.read_body(request).await?;
    let fields = Fields::read(&body)?;
    fields.check_model(&app.name)?;
    fields.refuse(REFUSED)?;
    let format = Format::read(&fields)?;
    let prompts = fields.prompts("prompt", MOST_PROMPTS)?;
    let most = fields.count("max_tokens", 1..=u32::MAX)?.unwrap_or(MAX_TOKENS);
    let top = fields.count("logprobs", 0..=20)?;
    let count = fields.count("n", 1..=MOST_CHOICES)?.unwrap_or(1);
    let seed = fields.seed()?;
    let mut requests = Vec::new();
    for prompt in prompts {
        let prompt = match prompt {
            Prompt::Text(text) => Request::text(text),
            Prompt::Tokens(tokens) => Request::tokens(&tokens),
        };
        let mut request = fields.sampling(prompt, most)?;
        if let Some(format) = &format {
            request = format.add_to(request);
        }
        if let Some(top) = top {
            request = request.logprobs(top.max(1));
        }
        // Each has a seed of its own.
        requests.extend((0..u64::from(count)).map(|index| request.clone().seed(seed.wrapping_add(index))));
    }
    let stream = fields.get::<bool>("stream")?.unwrap_or(false);
    let form = Completion {
        id: app.id("cmpl"),
        created: crate::now(),
        stream,
        include_usage: include_usage(&fields, stream)?,
        top: top.map(|top| top as usize),
        count: count as usize,
        choices: requests.iter().map(|_| Choice::default()).collect(),
        usage: Usage::default(),
        app: app.clone(),
    };
    let answers = Answers::start(&app, requests, format.as_ref(), top.is_some(), &[]).await?;
    if stream { Ok(respond::stream(answers, form)) } else { respond::whole(answers, form).await }
}

/// One of the answers.
#[derive(Default)]
struct Choice {
    text: String,
    tokens: Vec<Token>,
    /// Characters of the tokens that were told already.
    offset: usize,
    finish: Option<&'static str>,
}

struct Completion {
    app: Arc<App>,
    id: String,
    created: u64,
    stream: bool,
    include_usage: bool,
    /// How many probable tokens are told with each, where they are wanted.
    top: Option<usize>,
    /// Answers to each prompt.
    count: usize,
    choices: Vec<Choice>,
    usage: Usage,
}

impl Completion {
    fn object(&self, choices: Value) -> Value {
        json!({
            "id": self.id, "object": "text_completion", "created": self.created, "model": self.app.name,
            "choices": choices,
        })
    }
}

impl Form for Completion {
    fn begin(&self) -> Vec<Value> {
        Vec::new()
    }

    fn take(&mut self, index: usize, mut piece: Piece) -> Result<Vec<Value>> {
        let finished = piece.end.transpose()?;
        let Some(choice) = self.choices.get_mut(index) else { return Ok(Vec::new()) };
        if let Some(finished) = &finished {
            self.usage.add(finished, index % self.count == 0);
            choice.finish = Some(reason(finished));
        }
        if !self.stream {
            choice.text.push_str(&piece.text);
            choice.tokens.append(&mut piece.tokens);
            return Ok(Vec::new());
        }
        let logprobs = self.top.map(|top| logprobs::text(&self.app.tokenizer, &piece.tokens, top, &mut choice.offset));
        let finish = choice.finish;
        let mut chunk = self.object(json!([
            {"index": index, "text": piece.text, "logprobs": logprobs, "finish_reason": finish}
        ]));
        if self.include_usage {
            chunk["usage"] = Value::Null;
        }
        Ok(vec![chunk])
    }

    fn end(&self) -> Vec<Value> {
        if !self.include_usage {
            return Vec::new();
        }
        let mut chunk = self.object(json!([]));
        chunk["usage"] = self.usage.json();
        vec![chunk]
    }

    fn whole(self) -> Value {
        let choices = self.choices.iter().enumerate().map(|(index, choice)| {
            let logprobs = self.top.map(|top| logprobs::text(&self.app.tokenizer, &choice.tokens, top, &mut 0));
            json!({"index": index, "text": choice.text, "logprobs": logprobs, "finish_reason": choice.finish})
        });
        let mut answer = self.object(choices.collect());
        answer["usage"] = self.usage.json();
        answer
    }
}
