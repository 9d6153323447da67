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

/// A token as the completions' API spells it: its text, or its bytes where these are no text, so that tokens that are
/// parts of a character can be told apart.
fn spelled(tokenizer: &Tokenizer, token: u32) -> (Vec<u8>, String) {
    let (bytes, text) = spelling(tokenizer, token);
    let text = match std::str::from_utf8(&bytes) {
        Ok(_) => text,
        Err(_) => bytes.iter().fold("bytes:".into(), |all, byte| format!("{all}\\x{byte:02x}")),
    };
    (bytes, text)
}

/// Whether a byte goes on with a character of UTF-8.
fn goes_on(byte: &u8) -> bool {
    byte & 0xc0 == 0x80
}

/// `logprobs` of a completion; `offset`: characters that begin in the text before, which grow.
pub fn text(tokenizer: &Tokenizer, tokens: &[Token], top: usize, offset: &mut usize) -> Value {
    let (mut texts, mut logprobs, mut tops, mut offsets) = (vec![], vec![], vec![], vec![]);
    for token in tokens {
        let (bytes, text) = spelled(tokenizer, token.token);
        // Of the character that the token begins in.
        offsets.push(offset.saturating_sub(bytes.first().is_some_and(goes_on).into()));
        *offset += bytes.iter().filter(|byte| !goes_on(byte)).count();
        texts.push(text);
        logprobs.push(number(token.logprob.unwrap_or(f32::MIN)));
        let best = token.top.iter().take(top);
        let best = best.map(|(id, logprob)| (spelled(tokenizer, *id).1, json!(number(*logprob))));
        tops.push(best.collect::<Map<String, Value>>());
    }
    json!({"tokens": texts, "token_logprobs": logprobs, "top_logprobs": tops, "text_offset": offsets})
}
