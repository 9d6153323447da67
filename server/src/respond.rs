//! Answers as one JSON object or as a stream of events.

use crate::answers::{Answers, Piece};
use crate::error::{Result, json_response};
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::convert::Infallible;
use std::fmt::Write;

/// How an API writes answers.
pub trait Form: Send + 'static {
    /// Chunks that come before all others.
    fn begin(&self) -> Vec<Value>;
    /// Takes what a generation has written; gives the chunks of that.
    ///
    /// # Errors
    /// That of the generation.
    fn take(&mut self, index: usize, piece: Piece) -> Result<Vec<Value>>;
    /// Chunks that come after all others.
    fn end(&self) -> Vec<Value>;
    /// Everything that was taken, as one object.
    fn whole(self) -> Value;
}

/// Waits for the whole answer.
pub async fn whole(mut answers: Answers, mut form: impl Form) -> Result<Response> {
    while let Some(pieces) = answers.next().await {
        for (index, piece) in pieces {
            form.take(index, piece)?;
        }
    }
    Ok(json_response(StatusCode::OK, form.whole().to_string()))
}

/// Server-sent events. What is written while the client reads nothing comes in one event later.
pub fn stream(answers: Answers, form: impl Form) -> Response {
    let first = events(form.begin());
    let state = Some((answers, form, first));
    let body = futures_util::stream::unfold(state, |state| async {
        let (mut answers, mut form, mut text) = state?;
        if !text.is_empty() {
            return Some((Ok::<_, Infallible>(text), Some((answers, form, String::new()))));
        }
        // A piece may give no event yet.
        while text.is_empty() {
            let Some(pieces) = answers.next().await else {
                text = events(form.end());
                text.push_str("data: [DONE]\n\n");
                return Some((Ok(text), None));
            };
            for (index, piece) in pieces {
                match form.take(index, piece) {
                    Ok(chunks) => text.push_str(&events(chunks)),
                    Err(error) => {
                        // Too late for a status.
                        let _ = write!(text, "data: {}\n\n", error.body());
                        return Some((Ok(text), None));
                    }
                }
            }
        }
        Some((Ok(text), Some((answers, form, String::new()))))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(body)).into_response()
}

fn events(chunks: Vec<Value>) -> String {
    chunks.iter().fold(String::new(), |mut text, chunk| {
        let _ = write!(text, "data: {chunk}\n\n");
        text
    })
}
