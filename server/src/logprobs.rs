//! Log-probabilities as OpenAI's two APIs write them.

use mlxrocm_rs::{Token, Tokenizer};
use serde_json::{Map, Value, json};

/// JSON has no infinity.
fn number(logprob: f32) -> f32 {
    logprob.max(-9999.0)
}

/// The bytes of a token, and these as text.
fn spelling(tokenizer: &Tokenizer, token: u32) -> (Vec<u8>, String) {
    let bytes = tokenizer.token_bytes(token).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (bytes, text)
}

/// An entry of `logprobs.content` of a chat completion.
pub fn chat(tokenizer: &Tokenizer, token: &Token, top: usize) -> Value {
    let entry = |id: u32, logprob: f32| {
        let (bytes, text) = spelling(tokenizer, id);
        json!({"token": text, "bytes": bytes, "logprob": number(logprob)})
    };
    let mut found = entry(token.token, token.logprob.unwrap_or(f32::MIN));
    found["top_logprobs"] = token.top.iter().take(top).map(|(id, logprob)| entry(*id, *logprob)).collect();
    found
}

/// `logprobs` of a completion; `offset`: characters of the text before, which grow.
pub fn text(tokenizer: &Tokenizer, tokens: &[Token], top: usize, offset: &mut usize) -> Value {
    let (mut texts, mut logprobs, mut tops, mut offsets) = (vec![], vec![], vec![], vec![]);
    for token in tokens {
        let (_, text) = spelling(tokenizer, token.token);
        offsets.push(*offset);
        *offset += text.chars().count();
        texts.push(text);
        logprobs.push(number(token.logprob.unwrap_or(f32::MIN)));
        let best = token.top.iter().take(top);
        let best = best.map(|(id, logprob)| (spelling(tokenizer, *id).1, json!(number(*logprob))));
        tops.push(best.collect::<Map<String, Value>>());
    }
    json!({"tokens": texts, "token_logprobs": logprobs, "top_logprobs": tops, "text_offset": offsets})
}
