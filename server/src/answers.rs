//! Running generations, each read by a thread of its own, and what they have written and nobody has taken yet.
//!
//! The threads never wait for the client: what a slow one has not taken is kept as text, which a generation writes
//! no more of than its context allows, and the session goes on with others.

use crate::app::App;
use crate::error::{ApiError, Result};
use crate::format::Format;
use axum::http::StatusCode;
use mlxrocm_rs::{Canceller, Event, FinishReason, Finished, Generation, Request, Token};
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// Special tokens that give their spelling.
pub type Marks = &'static [&'static str];

/// What a generation has written since the last time.
#[derive(Default)]
pub struct Piece {
    pub text: String,
    /// With their log-probabilities, where the request asked for them.
    pub tokens: Vec<Token>,
    pub end: Option<Result<Finished>>,
}

struct Shared {
    pieces: Mutex<Vec<Piece>>,
    changed: Notify,
}

impl Shared {
    fn pieces(&self) -> MutexGuard<'_, Vec<Piece>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, index: usize, change: impl FnOnce(&mut Piece)) {
        if let Some(piece) = self.pieces().get_mut(index) {
            change(piece);
        }
        self.changed.notify_one();
    }
}

/// The generations of one HTTP request; dropped, they are cancelled.
pub struct Answers {
    shared: Arc<Shared>,
    cancellers: Vec<Canceller>,
    /// Generations whose end was not given out.
    left: usize,
    _permit: OwnedSemaphorePermit,
}

impl Answers {
    /// Submits the requests, all or none; `format`: what was added to them, which errors may be about; `logprobs`:
    /// whether the pieces have tokens; `marks`: special tokens that give their spelling.
    ///
    /// # Errors
    /// 429 when too many run and wait; what the library says of a request.
    pub async fn start(
        app: &Arc<App>,
        requests: Vec<Request>,
        format: Option<&Format<'_>>,
        logprobs: bool,
        marks: Marks,
    ) -> Result<Answers> {
        let count = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        let permit = app.take_slots(count)?;
        let session = app.session.clone();
        // Encoding a long prompt takes a while.
        let submit = move || requests.iter().map(|request| session.submit(request)).collect();
        let submitted: mlxrocm_rs::Result<Vec<Generation>> =
            tokio::task::spawn_blocking(submit).await.map_err(|error| internal(&error))?;
        let generations = submitted.map_err(|error| match format {
            Some(format) => format.name(error.into()),
            None => error.into(),
        })?;
        let left = generations.len();
        let pieces = Mutex::new((0..left).map(|_| Piece::default()).collect());
        let shared = Arc::new(Shared { pieces, changed: Notify::new() });
        let cancellers = generations.iter().map(Generation::canceller).collect();
        for (index, generation) in generations.into_iter().enumerate() {
            let (app, shared) = (app.clone(), shared.clone());
            tokio::task::spawn_blocking(move || read(&app, generation, (&shared, index), logprobs, marks));
        }
        Ok(Answers { shared, cancellers, left, _permit: permit })
    }

    /// What was written since the last time, with the index of the request; waits until there is something.
    /// `None` after all ends.
    pub async fn next(&mut self) -> Option<Vec<(usize, Piece)>> {
        while self.left > 0 {
            let found: Vec<(usize, Piece)> = {
                let mut pieces = self.shared.pieces();
                let pieces = pieces.iter_mut().map(take).enumerate();
                pieces.filter(|(_, p)| !p.text.is_empty() || !p.tokens.is_empty() || p.end.is_some()).collect()
            };
            if !found.is_empty() {
                self.left -= found.iter().filter(|(_, piece)| piece.end.is_some()).count();
                return Some(found);
            }
            self.shared.changed.notified().await;
        }
        None
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        for canceller in &self.cancellers {
            canceller.cancel();
        }
    }
}

fn internal(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// Reads a generation to its end.
fn read(app: &App, generation: Generation, (shared, index): (&Shared, usize), logprobs: bool, marks: Marks) {
    let _counted = app.metrics.generations.count();
    let end = read_events(app, generation, (shared, index), logprobs, marks);
    if let Ok(finished) = &end {
        app.metrics.finished(finished);
    }
    shared.add(index, |piece| piece.end = Some(end));
}

fn read_events(
    app: &App,
    mut generation: Generation,
    (shared, index): (&Shared, usize),
    logprobs: bool,
    marks: Marks,
) -> Result<Finished> {
    let begin = Instant::now();
    // Tokens that wrote nothing yet; the one that stops the model never does and is not told.
    let mut silent = Vec::new();
    loop {
        let time = app.max_time.saturating_sub(begin.elapsed());
        let event = if time == Duration::ZERO { Some(Ok(None)) } else { generation.next_within(time) };
        match event {
            Some(Ok(Some(Event::Token(mut token)))) => {
                if token.text.is_empty() && !marks.is_empty() {
                    let spelled = app.tokenizer.decode(&[token.token], false)?;
                    if marks.contains(&spelled.as_str()) {
                        token.text = spelled;
                    }
                }
                if logprobs {
                    silent.push(token.clone());
                }
                if !token.text.is_empty() {
                    shared.add(index, |piece| {
                        piece.text.push_str(&token.text);
                        piece.tokens.append(&mut silent);
                    });
                }
            }
            Some(Ok(Some(Event::Finished(finished)))) => {
                if finished.reason == FinishReason::StopToken {
                    silent.pop();
                }
                shared.add(index, |piece| {
                    piece.text.push_str(&finished.text);
                    piece.tokens.append(&mut silent);
                });
                return match finished.reason {
                    // By nobody who still reads.
                    FinishReason::Cancelled => Err(internal(&"the generation was cancelled")),
                    _ => Ok(finished),
                };
            }
            Some(Ok(Some(_))) => {}
            Some(Ok(None)) => {
                return Err(app.too_slow());
            }
            Some(Err(error)) => return Err(error.into()),
            None => return Err(internal(&"the generation ended without an end")),
        }
    }
}
