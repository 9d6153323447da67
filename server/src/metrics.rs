//! What the server counts, in the text form of Prometheus.

use crate::app::App;
use mlxrocm_rs::Finished;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A number of things that are there.
#[derive(Default)]
pub struct Gauge(AtomicI64);

/// One of the things; dropped, it is gone.
pub struct Counted<'a>(&'a Gauge);

impl Gauge {
    pub fn count(&self) -> Counted<'_> {
        self.0.fetch_add(1, Relaxed);
        Counted(self)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

#[derive(Default)]
pub struct Metrics {
    pub connections: Gauge,
    /// Generations with a thread that reads them.
    pub generations: Gauge,
    /// By path and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    prompt_tokens: AtomicU64,
    cached_tokens: AtomicU64,
    generated_tokens: AtomicU64,
    guessed_tokens: AtomicU64,
    accepted_tokens: AtomicU64,
    embedded_tokens: AtomicU64,
    prompt_microseconds: AtomicU64,
    decode_microseconds: AtomicU64,
}

impl Metrics {
    /// `path`: one of the server's, so that there are not many.
    pub fn request(&self, path: &'static str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((path, status)).or_default() += 1;
    }

    pub fn finished(&self, finished: &Finished) {
        let microseconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default().as_micros() as u64;
        self.prompt_tokens.fetch_add(finished.prompt_tokens, Relaxed);
        self.cached_tokens.fetch_add(finished.cached_tokens, Relaxed);
        self.generated_tokens.fetch_add(finished.generated_tokens, Relaxed);
        self.guessed_tokens.fetch_add(finished.guessed_tokens, Relaxed);
        self.accepted_tokens.fetch_add(finished.accepted_tokens, Relaxed);
        self.prompt_microseconds.fetch_add(microseconds(finished.prompt_seconds), Relaxed);
        self.decode_microseconds.fetch_add(microseconds(finished.decode_seconds), Relaxed);
    }

    pub fn embedded(&self, tokens: u64) {
        self.embedded_tokens.fetch_add(tokens, Relaxed);
    }

    pub fn text(&self, app: &App) -> String {
        let mut out = String::new();
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            let _ = write!(out, "# HELP mlxrocm_{name} {help}\n# TYPE mlxrocm_{name} {kind}\nmlxrocm_{name} {value}\n");
        };
        let load = |number: &AtomicU64| number.load(Relaxed) as f64;
        let prompt = load(&self.prompt_tokens);
        one("prompt_tokens_total", "counter", "Tokens of prompts.", prompt);
        let cached = load(&self.cached_tokens);
        one("prompt_tokens_cached_total", "counter", "Of these, tokens that the KV cache had already.", cached);
        let generated = load(&self.generated_tokens);
        one("generated_tokens_total", "counter", "Tokens generated.", generated);
        let guessed = load(&self.guessed_tokens);
        one("guessed_tokens_total", "counter", "Tokens guessed by speculation.", guessed);
        let accepted = load(&self.accepted_tokens);
        one("guessed_tokens_accepted_total", "counter", "Of these, the right ones.", accepted);
        let embedded = load(&self.embedded_tokens);
        one("embedded_tokens_total", "counter", "Tokens of texts that were embedded.", embedded);
        let seconds = load(&self.prompt_microseconds) * 1e-6;
        one("prompt_seconds_total", "counter", "Seconds from prompts' starts to first tokens.", seconds);
        let seconds = load(&self.decode_microseconds) * 1e-6;
        one("decode_seconds_total", "counter", "Seconds from first tokens to last ones.", seconds);
        let connections = self.connections.0.load(Relaxed) as f64;
        one("connections", "gauge", "Open connections.", connections);
        let generations = self.generations.0.load(Relaxed) as f64;
        one("generations", "gauge", "Generations that are being read.", generations);
        if let Ok(info) = app.session.info() {
            one("requests_running", "gauge", "Requests that run in the session.", info.running as f64);
            one("requests_waiting", "gauge", "Requests that wait for their turn.", info.waiting as f64);
            one("kv_tokens", "gauge", "Tokens that the KV cache holds.", info.kv_tokens as f64);
            one("kv_tokens_used", "gauge", "Of these, tokens of running requests.", info.kv_used as f64);
            one(
                "kv_tokens_cached",
                "gauge",
                "Of these, tokens kept for prompts that begin alike.",
                info.kv_cached as f64,
            );
            one("kv_bytes", "gauge", "Bytes of the KV cache.", info.kv_bytes as f64);
        }
        out.push_str("# HELP mlxrocm_http_requests_total Requests by path and status.\n");
        out.push_str("# TYPE mlxrocm_http_requests_total counter\n");
        for ((path, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(out, "mlxrocm_http_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}");
        }
        out
    }
}
