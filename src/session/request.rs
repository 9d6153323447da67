//! What a caller asks for.

/// How the next token is chosen. `Default` is greedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// 0: greedy.
    pub temperature: f32,
    /// 0: off.
    pub top_k: u32,
    /// 1 (or 0): off.
    pub top_p: f32,
    /// 0: off.
    pub min_p: f32,
    /// 1 (or 0): off. Divides positive and multiplies negative logits of recent tokens.
    pub repetition_penalty: f32,
    /// Subtracted once from the logit of every recent token.
    pub presence_penalty: f32,
    /// Subtracted from the logit of a token as often as it occurred recently.
    pub frequency_penalty: f32,
    /// Tokens that count as recent, prompt included; 0: 64.
    pub penalty_window: u32,
    /// Added to logits.
    pub logit_bias: Vec<(u32, f32)>,
    /// Same seed, same tokens.
    pub seed: u64,
    /// 0: none; n: the log-probability of the token and the n most probable ones, at most 20.
    pub logprobs: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            penalty_window: 0,
            logit_bias: Vec::new(),
            seed: 0,
            logprobs: 0,
        }
    }
}

/// One prompt and how to continue it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The prompt; at least one token.
    pub prompt: Vec<u32>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// 0: until the context is full.
    pub max_tokens: usize,
    /// Strings that end the generation; not part of the text.
    pub stop: Vec<String>,
    /// Tokens that end the generation besides the model's own.
    pub stop_tokens: Vec<u32>,
    /// Go on past the model's own stop tokens.
    pub ignore_eos: bool,
}
