//! Grammars: what a generated text must be, as a JSON schema, a regular expression or a grammar, and which tokens may
//! come next so that it will be. The grammars and their matching are llguidance's.

use super::Tokenizer;
use crate::{Error, Result, log, panics};
use llguidance::api::{ParserLimits, TopLevelGrammar};
use llguidance::toktrie::{
    ApproximateTokEnv, InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie,
};
use llguidance::{Matcher, ParserFactory, earley::SlicedBiasComputer};
use std::fmt::Display;
use std::sync::Arc;

/// Bytes of the longest token that a grammar may choose: the trie of tokens is 1,024 deep at most.
const LONGEST_TOKEN: usize = 1_000;

/// Grammars are compiled by recursion, as deep as rules name rules: some 3.5 KB a rule.
const STACK: usize = 256 << 20;

/// Bytes of the longest grammar, whose rules fit the stack: one that names another has eight bytes.
const LONGEST_GRAMMAR: usize = 256 << 10;

/// States of an automaton that a request may have made, each of one or two KB; schemas as they are used make thousands.
const MOST_STATES: usize = 50_000;

/// Between the parts of a JSON text: nothing, a space, or up to two new lines and an indentation. Without a limit,
/// models that are not sure write white space until the end.
const JSON_SPACE: &str = r" |\n{1,2}[ \t]{0,20}";

/// What a text must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarSource<'a> {
    /// A JSON text that a JSON schema accepts.
    JsonSchema(&'a str),
    /// What a regular expression matches from its beginning to its end.
    Regex(&'a str),
    /// What the rule `start` of a grammar in llguidance's form of Lark derives.
    Lark(&'a str),
}

/// Compiles grammars for a tokenizer. Immutable: any thread.
pub struct Grammars {
    factory: ParserFactory,
    /// Stands for the end of the text: an id that no token has.
    end: u32,
}

/// A grammar and what of a text was matched. A clone goes on by itself. One thread at a time.
#[derive(Clone)]
pub struct Grammar {
    matcher: Matcher,
    end: u32,
}

/// The tokens that may come next.
#[derive(Debug)]
pub struct Allowed(SimpleVob);

impl Grammars {
    /// Reads the tokenizer's tokens: takes about as long as reading its file.
    pub fn new(tokenizer: &Tokenizer) -> Result<Grammars> {
        panics::caught(|| Grammars::build(tokenizer)).unwrap_or_else(|panic| failed(&panic))
    }

    fn build(tokenizer: &Tokenizer) -> Result<Grammars> {
        // Ids are 32 bits.
        let end = tokenizer.vocab_size() as u32;
        let mut words: Vec<Vec<u8>> = (0..end).map(|id| word(tokenizer, id)).collect();
        words.push(b"\xFF<end of the text>".to_vec());
        let trie = TokTrie::from(&TokRxInfo::new(end + 1, end), &words);
        let tokens: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let slices = SlicedBiasComputer::general_slices();
        let mut factory = ParserFactory::new(&tokens, InferenceCapabilities::default(), &slices)
            .or_else(failed)?;
        factory.quiet();
        *factory.limits_mut() = ParserLimits {
            verbose_errors: false,
            max_lexer_states: MOST_STATES,
            ..ParserLimits::default()
        };
        Ok(Grammars { factory, end })
    }

    /// A grammar at the beginning of a text. [`Error::InvalidArgument`] names the field of a request that holds it
    /// and says what is wrong.
    pub fn compile(&self, source: GrammarSource<'_>) -> Result<Grammar> {
        let field = match source {
            GrammarSource::JsonSchema(_) => "json_schema",
            GrammarSource::Regex(_) => "regex",
            GrammarSource::Lark(_) => "grammar",
        };
        let wrong = |what: &dyn Display| Error::InvalidArgument(format!("{field}: {}", line(what)));
        let grammar = match source {
            GrammarSource::JsonSchema(text) => TopLevelGrammar::from_json_schema(schema(text)?),
            GrammarSource::Regex(text) => TopLevelGrammar::from_regex(text),
            GrammarSource::Lark(text) if text.len() > LONGEST_GRAMMAR => {
                let what = format!("{} bytes; it may have {LONGEST_GRAMMAR}", text.len());
                return Err(wrong(&what));
            }
            GrammarSource::Lark(text) => TopLevelGrammar::from_lark(text.into()),
        };
        let parser = std::thread::scope(|scope| {
            let compile = || panics::caught(|| self.factory.create_parser(grammar));
            let thread = std::thread::Builder::new().stack_size(STACK);
            let thread = thread.spawn_scoped(scope, || log::on_worker(compile));
            let thread = thread.map_err(|error| {
                Error::OutOfMemory(format!("{field}: no thread could be started: {error}"))
            })?;
            let parser = thread.join().unwrap_or_else(|_| Err(String::new()));
            parser.map_err(|panic| wrong(&panic))
        })?;
        let parser = parser.map_err(|error| wrong(&error))?;
        let matcher = Matcher::new(Ok(parser));
        Ok(Grammar {
            matcher,
            end: self.end,
        })
    }
}

impl Grammar {
    /// Which tokens may come next; where the text may end here, `ends` too.
    pub fn allowed(&mut self, ends: &[u32]) -> Result<Allowed> {
        let matcher = &mut self.matcher;
        let mask = panics::caught(|| matcher.compute_mask_or_eos());
        let mut mask = mask.or_else(|panic| failed(&panic))?.or_else(failed)?;
        if mask.is_allowed(self.end) {
            mask.disallow_token(self.end);
            ends.iter()
                .filter(|token| **token < self.end)
                .for_each(|token| mask.allow_token(*token));
        }
        Ok(Allowed(mask))
    }

    /// Goes on behind a token that was allowed and does not end the text.
    pub fn accept(&mut self, token: u32) -> Result<()> {
        let matcher = &mut self.matcher;
        panics::caught(|| matcher.consume_token(token))
            .or_else(|panic| failed(&panic))?
            .or_else(failed)
    }

    /// Whether the text is complete and nothing may follow.
    pub fn is_complete(&self) -> bool {
        self.matcher.is_stopped() && !self.matcher.is_error()
    }
}

impl Allowed {
    /// Puts `banned` in place of the logits of all other tokens.
    pub fn ban_others(&self, logits: &mut [f32], banned: f32) {
        let words = self.0.as_slice();
        for (logits, word) in logits.chunks_mut(32).zip(words) {
            match *word {
                u32::MAX => {}
                0 => logits.fill(banned),
                word => {
                    for (i, logit) in logits.iter_mut().enumerate() {
                        if word >> i & 1 == 0 {
                            *logit = banned;
                        }
                    }
                }
            }
        }
        // Columns behind the tokenizer's tokens.
        if let Some(rest) = logits.get_mut(words.len() * 32..) {
            rest.fill(banned);
        }
    }

    /// Whether a token is one of them.
    pub fn contains(&self, token: u32) -> bool {
        (token as usize) < self.0.len() && self.0.is_allowed(token)
    }
}

/// What a grammar reads where the token stands; empty: it never chooses it.
fn word(tokenizer: &Tokenizer, id: u32) -> Vec<u8> {
    let Some(bytes) = tokenizer.token_bytes(id) else {
        return Vec::new();
    };
    if bytes.len() > LONGEST_TOKEN {
        return Vec::new();
    }
    match tokenizer.is_special(id) {
        // So that no text reads as a control token, which grammars name by its spelling: <|spelling|>.
        true => [&[TokTrie::SPECIAL_TOKEN_MARKER][..], &bytes].concat(),
        false => bytes,
    }
}

fn schema(text: &str) -> Result<serde_json::Value> {
    let mut schema: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Error::InvalidArgument(format!("json_schema is not JSON: {error}")))?;
    if let Some(object) = schema.as_object_mut() {
        let space = serde_json::json!({ "whitespace_pattern": JSON_SPACE });
        object.entry("x-guidance").or_insert(space);
    }
    Ok(schema)
}

fn failed<T>(what: impl Display) -> Result<T> {
    Err(Error::InvalidArgument(format!(
        "the grammar cannot go on: {}",
        line(&what)
    )))
}

/// An error and its reasons as one line, without most of a long text that it may show.
fn line(what: &dyn Display) -> String {
    let mut line = format!("{what:#}").replace('\n', " ");
    if let Some((at, _)) = line.char_indices().nth(500) {
        line.truncate(at);
        line.push('…');
    }
    line
}

impl std::fmt::Debug for Grammars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grammars").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grammar").finish_non_exhaustive()
    }
}
