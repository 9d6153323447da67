//! What all requests share, and which path leads where.

use crate::error::{ApiError, Result, json_response};
use crate::metrics::Metrics;
use crate::tools;
use crate::{chat, completions, embeddings};
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;
use mlxrocm_rs::{Pooling, Session, Tokenizer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub struct App {
    pub session: Arc<Session>,
    pub tokenizer: Tokenizer,
    /// How the model writes calls of tools.
    pub tools: tools::Form,
    /// How it can be made to write one.
    pub calls: Option<tools::Written>,
    /// What requests call the model.
    pub name: String,
    /// The model's facts that /v1/models tells.
    pub facts: Value,
    pub created: u64,
    /// Numbers of an embedding.
    pub hidden_size: u64,
    /// What makes an embedding.
    pub pooling: Pooling,
    /// What clients must know.
    pub key: Option<String>,
    /// One for each generation that may run or wait, or whose answer is being sent.
    pub slots: Arc<Semaphore>,
    pub most_slots: u32,
    /// Bytes of a body.
    pub max_body: usize,
    /// That a body may take to come.
    pub client_timeout: Duration,
    /// That an answer may take to be written.
    pub max_time: Duration,
    pub metrics: Metrics,
    pub stopping: AtomicBool,
    /// Makes ids unlike those of other runs.
    pub run: u64,
    pub ids: AtomicU64,
}

/// The paths that are counted by name.
const PATHS: &[&str] =
    &["/health", "/metrics", "/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models", "/v1/models/*"];

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/completions", post(completions::complete))
        .route("/v1/embeddings", post(embeddings::embed))
        .route("/v1/models", get(models))
        .route("/v1/models/{*id}", get(model))
        .route("/metrics", get(metrics))
        .route("/health", get(health))
        .fallback(|| async { ApiError::new(StatusCode::NOT_FOUND, "there is nothing at this path").code("not_found") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this path has another method").code("method_not_allowed")
        })
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// Lets in who knows the key, and counts.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let path = if path.starts_with("/v1/models/") { "/v1/models/*" } else { path };
    let path = PATHS.iter().find(|known| **known == path).copied().unwrap_or("other");
    let response = if path == "/health" || app.lets_in(&request) {
        next.run(request).await
    } else {
        let message = "the API key is wrong or missing: send Authorization: Bearer KEY";
        ApiError::new(StatusCode::UNAUTHORIZED, message).code("invalid_api_key").into_response()
    };
    app.metrics.request(path, response.status().as_u16());
    response
}

impl App {
    fn lets_in(&self, request: &Request) -> bool {
        let Some(key) = &self.key else { return true };
        let given = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
        let given = given.and_then(|value| value.split_at_checked(7));
        match given {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => same(given, key.as_bytes()),
            _ => false,
        }
    }

    /// Room for so many generations.
    pub fn take_slots(&self, count: u32) -> Result<OwnedSemaphorePermit> {
        if count > self.most_slots {
            let message = format!("{count} answers are asked for; this server has room for {}", self.most_slots);
            return Err(ApiError::invalid(message));
        }
        self.slots.clone().try_acquire_many_owned(count).map_err(|_| {
            let message = "too many requests run and wait already: try again later";
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, message).code("rate_limit_exceeded")
        })
    }

    /// The error of an answer that takes longer than it may.
    pub fn too_slow(&self) -> ApiError {
        let message = format!("the answer took longer than {} seconds", self.max_time.as_secs());
        ApiError::new(StatusCode::GATEWAY_TIMEOUT, message).code("timeout")
    }

    /// A name for something that is made.
    pub fn id(&self, prefix: &str) -> String {
        format!("{prefix}-{:016x}{:08x}", self.run, self.ids.fetch_add(1, Relaxed))
    }

    /// The whole body of a request, which must be JSON: a web page cannot send that to another place unasked.
    pub async fn read_body(&self, request: Request<Body>) -> Result<Vec<u8>> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = "the body must be JSON, with Content-Type: application/json";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let too_large = || {
            let message = format!("the body is longer than {} bytes", self.max_body);
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        };
        let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > self.max_body as u64) {
            return Err(too_large());
        }
        let read = async {
            let (mut body, mut pieces) = (Vec::new(), request.into_body().into_data_stream());
            while let Some(piece) = pieces.next().await {
                let piece =
                    piece.map_err(|error| ApiError::invalid(format!("the body did not come whole: {error}")))?;
                if body.len() + piece.len() > self.max_body {
                    return Err(too_large());
                }
                body.extend_from_slice(&piece);
            }
            Ok(body)
        };
        let late = || ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to come");
        tokio::time::timeout(self.client_timeout, read).await.unwrap_or_else(|_| Err(late()))
    }

    fn model(&self) -> Value {
        let mut model = json!({"id": self.name, "object": "model", "created": self.created, "owned_by": "mlxrocm"});
        model["meta"] = self.facts.clone();
        model
    }
}

/// Takes as long for a key that is nearly right.
fn same(given: &[u8], key: &[u8]) -> bool {
    let differ = given.iter().zip(key).fold(0, |bits, (a, b)| bits | (a ^ b));
    std::hint::black_box(differ) == 0 && given.len() == key.len()
}

async fn models(State(app): State<Arc<App>>) -> Response {
    json_response(StatusCode::OK, json!({"object": "list", "data": [app.model()]}).to_string())
}

async fn model(State(app): State<Arc<App>>, id: std::result::Result<Path<String>, PathRejection>) -> Result<Response> {
    let Path(id) = id.map_err(|error| ApiError::invalid(error.to_string()))?;
    if id != app.name {
        return Err(ApiError::no_model(&id, &app.name));
    }
    Ok(json_response(StatusCode::OK, app.model().to_string()))
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, app.metrics.text(&app)).into_response()
}

async fn health(State(app): State<Arc<App>>) -> Response {
    if app.stopping.load(Relaxed) {
        return json_response(StatusCode::SERVICE_UNAVAILABLE, json!({"status": "stopping"}).to_string());
    }
    json_response(StatusCode::OK, json!({"status": "ok"}).to_string())
}
