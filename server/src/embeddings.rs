//! POST /v1/embeddings.

use crate::app::App;
use crate::error::{ApiError, Result, json_response};
use crate::fields::{Fields, Prompt};
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request as HttpRequest, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Texts of one request.
const MOST_INPUTS: usize = 2048;

/// How the numbers of an embedding are written.
#[derive(Clone, Copy)]
enum Encoding {
    Float,
    /// The bytes of little-endian f32.
    Base64,
}

pub async fn embed(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Result<Response> {
    let body = app.read_body(request).await?;
    let fields = Fields::read(&body)?;
    fields.check_model(&app.name)?;
    let inputs = fields.prompts("input", MOST_INPUTS)?;
    let encoding = match fields.get::<String>("encoding_format")?.as_deref() {
        None | Some("float") => Encoding::Float,
        Some("base64") => Encoding::Base64,
        Some(other) => {
            return Err(ApiError::field("encoding_format", format!("{other:?} is neither float nor base64")));
        }
    };
    if fields.get::<u64>("dimensions")?.is_some_and(|dimensions| dimensions != app.hidden_size) {
        let message = format!("the model's embeddings have {} and cannot be shortened", app.hidden_size);
        return Err(ApiError::field("dimensions", message));
    }
    let permit = app.take_slots(1)?;
    // Dropped with this future when the client goes away.
    let gone = Gone(Arc::new(AtomicBool::new(false)));
    let (worker, flag) = (app.clone(), gone.0.clone());
    let run = move || {
        let _permit = permit;
        run(&worker, inputs, encoding, &flag)
    };
    let (data, tokens) = tokio::task::spawn_blocking(run)
        .await
        .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))??;
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    let answer = json!({"object": "list", "data": data, "model": app.name, "usage": usage});
    Ok(json_response(StatusCode::OK, answer.to_string()))
}

struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The embeddings, one after the other, and how many tokens their texts have.
fn run(app: &App, inputs: Vec<Prompt>, encoding: Encoding, gone: &AtomicBool) -> Result<(Vec<Value>, usize)> {
    let _counted = app.metrics.generations.count();
    let begin = Instant::now();
    let (mut data, mut count) = (Vec::new(), 0);
    for (index, input) in inputs.into_iter().enumerate() {
        let tokens = match input {
            Prompt::Text(text) => app.tokenizer.encode(&text, true, false)?,
            Prompt::Tokens(tokens) => tokens,
        };
        if gone.load(Relaxed) || begin.elapsed() > app.max_time {
            return Err(app.too_slow());
        }
        let embedding = app.session.embed(&tokens, app.pooling, true)?;
        let embedding = match encoding {
            Encoding::Float => json!(embedding),
            Encoding::Base64 => json!(base64(&embedding)),
        };
        data.push(json!({"object": "embedding", "index": index, "embedding": embedding}));
        count += tokens.len();
    }
    app.metrics.embedded(count as u64);
    Ok((data, count))
}

fn base64(numbers: &[f32]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word) & 0xff_ffff;
        // The first byte of the word is empty: three bytes are four digits.
        for digit in 0..4 {
            let shown = digit <= chunk.len();
            let value = (word >> (18 - 6 * digit)) & 63;
            text.push(if shown { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_as_python_writes_it() {
        assert_eq!(super::base64(&[]), "");
        // base64.b64encode(struct.pack("<f", 1.5)), and of two and three numbers.
        assert_eq!(super::base64(&[1.5]), "AADAPw==");
        assert_eq!(super::base64(&[1.5, -2.0]), "AADAPwAAAMA=");
        assert_eq!(super::base64(&[1.5, -2.0, 0.1]), "AADAPwAAAMDNzMw9");
    }
}
