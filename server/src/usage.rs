//! How many tokens an answer took, and why it ended.

use mlxrocm_rs::{FinishReason, Finished};
use serde_json::{Value, json};

/// Tokens of one HTTP request.
#[derive(Default)]
pub struct Usage {
    prompt: u64,
    cached: u64,
    generated: u64,
    guessed: u64,
    accepted: u64,
}

impl Usage {
    /// Counts a generation; of several with the same prompt only the first counts it.
    pub fn add(&mut self, finished: &Finished, first: bool) {
        if first {
            self.prompt += finished.prompt_tokens;
            self.cached += finished.cached_tokens;
        }
        self.generated += finished.generated_tokens;
        self.guessed += finished.guessed_tokens;
        self.accepted += finished.accepted_tokens;
    }

    pub fn json(&self) -> Value {
        json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.generated,
            "total_tokens": self.prompt + self.generated,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {
                "accepted_prediction_tokens": self.accepted,
                "rejected_prediction_tokens": self.guessed - self.accepted,
            },
        })
    }
}

/// OpenAI's word for the end of an answer.
pub fn reason(finished: &Finished) -> &'static str {
    match finished.reason {
        FinishReason::Length | FinishReason::Context => "length",
        _ => "stop",
    }
}
