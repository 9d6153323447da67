//! The tokenizer: text to token ids and back.

use super::added::{AddedTokens, Segment};
use super::bpe::Bpe;
use super::grammar::Grammars;
use super::spm::Spm;
use super::vocabulary::{Kind, SPACE_MARK, Vocabulary};
use crate::formats::gguf::{Gguf, Value};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

/// The longest text that is encoded in one call, in bytes: where a text is one word, the work space
/// is some forty times its size.
pub const MAX_TEXT: usize = 64 << 20;

/// The model behind a tokenizer.
pub(super) enum Encoder {
    /// Merges by rank.
    Bpe(Box<Bpe>),
    /// Merges by score.
    Spm(Box<SpmEncoder>),
}

/// SentencePiece with the control tokens around it.
pub(super) struct SpmEncoder {
    pub(super) spm: Spm,
    /// Control tokens, found in the text as it is.
    pub(super) control: AddedTokens,
    /// Whether text begins with a space.
    pub(super) space_prefix: bool,
}

impl SpmEncoder {
    fn encode(&self, text: &str, parse_special: bool, out: &mut Vec<u32>) {
        for segment in self.control.split(text, parse_special) {
            match segment {
                Segment::Token(id) => out.push(id),
                Segment::Text(text) => {
                    // The text after a control token begins anew, with its space.
                    let mut marked = String::with_capacity(text.len() + 3);
                    if self.space_prefix {
                        marked.push(SPACE_MARK);
                    }
                    let mark = |c| if c == ' ' { SPACE_MARK } else { c };
                    marked.extend(text.chars().map(mark));
                    self.spm.encode(&marked, out);
                }
            }
        }
    }
}

/// What a tokenizer is made of.
pub(super) struct Parts {
    pub(super) vocabulary: Vocabulary,
    pub(super) encoder: Encoder,
    /// What `add_special` puts in front.
    pub(super) prefix: Vec<u32>,
    /// What `add_special` puts behind.
    pub(super) suffix: Vec<u32>,
    pub(super) bos: Option<u32>,
    pub(super) eos: Option<u32>,
    /// Whether decoding takes one space from the beginning of a text.
    pub(super) strip_space: bool,
    /// The file, for messages.
    pub(super) source: String,
}

/// Text to token ids and back. Immutable: any thread.
pub struct Tokenizer {
    parts: Parts,
    end: Vec<u32>,
    /// Made when the first grammar is asked for.
    grammars: Mutex<Option<Arc<Grammars>>>,
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer")
            .field("source", &self.parts.source)
            .field("vocab_size", &self.vocab_size())
            .field("bos", &self.parts.bos)
            .field("eos", &self.parts.eos)
            .finish_non_exhaustive()
    }
}

/// Control tokens that end a turn or a text, by the spellings that models use.
const END_SPELLINGS: [&str; 17] = [
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<end_of_turn>",
    "<turn|>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<｜end▁of▁sentence｜>",
];

impl Tokenizer {
    pub(super) fn from_parts(parts: Parts) -> Tokenizer {
        let mut tokenizer = Tokenizer {
            parts,
            end: Vec::new(),
            grammars: Mutex::default(),
        };
        let spelled = END_SPELLINGS.map(|text| tokenizer.token_to_id(text));
        let spelled = spelled.into_iter().flatten();
        let mut end: Vec<u32> = spelled
            .filter(|id| tokenizer.is_special(*id))
            .chain(tokenizer.parts.eos)
            .collect();
        // Where a call or a return ends the text, `<|end|>` only ends a message within it.
        let has = |text| tokenizer.token_to_id(text).is_some();
        if has("<|return|>") && has("<|call|>") {
            let message = tokenizer.token_to_id("<|end|>");
            end.retain(|id| Some(*id) != message);
        }
        end.sort_unstable();
        end.dedup();
        tokenizer.end = end;
        tokenizer
    }

    /// Reads `tokenizer.json` (+ `tokenizer_config.json`) of a model folder.
    ///
    /// # Errors
    /// `Io` where the file is missing, `InvalidFile` where it is damaged, `Unsupported` where it
    /// describes something other than BPE; the message names the file and the field.
    pub fn from_folder(folder: &Path) -> Result<Tokenizer> {
        super::folder::read(folder).map(Tokenizer::from_parts)
    }

    /// Reads the content of a `tokenizer.json` and, where not empty, a `tokenizer_config.json`.
    /// `source` names the origin in messages. Errors as [`Tokenizer::from_folder`].
    pub fn from_json(json: &str, config: &str, source: &str) -> Result<Tokenizer> {
        super::folder::parse(json, config, source).map(Tokenizer::from_parts)
    }

    /// Builds the tokenizer that a GGUF file's metadata describes.
    ///
    /// # Errors
    /// `InvalidFile` where the metadata is missing or contradicts itself, `Unsupported` for
    /// tokenizer models other than `gpt2` and `llama`; the message names the file and the key.
    pub fn from_gguf(gguf: &Gguf) -> Result<Tokenizer> {
        let source = gguf.path().display().to_string();
        Tokenizer::from_metadata(&source, &|key| gguf.get(key))
    }

    /// Builds the tokenizer from metadata under GGUF's keys (`tokenizer.ggml.…`), wherever they
    /// come from. `source` names the origin in messages. Errors as [`Tokenizer::from_gguf`].
    pub fn from_metadata<'a>(
        source: &str,
        get: &dyn Fn(&str) -> Option<&'a Value>,
    ) -> Result<Tokenizer> {
        super::metadata::read(source, get).map(Tokenizer::from_parts)
    }

    /// Text to ids. `add_special` adds what the model wants around a raw prompt (BOS…);
    /// `parse_special` reads special tokens spelled out in the text as those tokens. Added tokens
    /// that are not special, such as `<tool_call>` of some models, are always read as themselves.
    ///
    /// # Errors
    /// `InvalidArgument` for a text longer than [`MAX_TEXT`] bytes.
    pub fn encode(&self, text: &str, add_special: bool, parse_special: bool) -> Result<Vec<u32>> {
        if text.len() > MAX_TEXT {
            return Err(Error::InvalidArgument(format!(
                "the text has {} bytes; at most {MAX_TEXT} are encoded at once",
                text.len()
            )));
        }
        let parts = &self.parts;
        let mut ids = Vec::new();
        if add_special {
            ids.extend_from_slice(&parts.prefix);
        }
        match &parts.encoder {
            Encoder::Bpe(bpe) => bpe
                .encode(&parts.vocabulary, text, parse_special, &mut ids)
                .map_err(|error| {
                    Error::InvalidArgument(format!("{}: encoding failed: {error}", parts.source))
                })?,
            Encoder::Spm(spm) => spm.encode(text, parse_special, &mut ids),
        }
        if add_special {
            ids.extend_from_slice(&parts.suffix);
        }
        Ok(ids)
    }

    /// The text with `open` and `close` around each special token that it spells out.
    pub(super) fn mark_special(&self, text: &str, open: char, close: char) -> String {
        let added = match &self.parts.encoder {
            Encoder::Bpe(bpe) => vec![Some(&bpe.added), bpe.normalized.as_ref()],
            Encoder::Spm(spm) => vec![Some(&spm.control)],
        };
        let mut out = text.to_string();
        for added in added.into_iter().flatten() {
            out = added.mark_special(&out, open, close);
        }
        out
    }

    /// Ids to text; bytes that are not UTF-8 become U+FFFD. `skip_special` leaves control tokens
    /// out.
    ///
    /// # Errors
    /// `InvalidArgument` for an id that has no token.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<String> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for id in ids {
            self.push_bytes(*id, skip_special, &mut bytes)?;
        }
        let text = match bytes.first() {
            Some(b' ') if self.parts.strip_space => bytes.get(1..).unwrap_or_default(),
            _ => &bytes,
        };
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Appends the bytes of a token as decoding gives them out.
    pub(super) fn push_bytes(&self, id: u32, skip: bool, out: &mut Vec<u8>) -> Result<()> {
        if skip && self.is_special(id) || self.parts.vocabulary.push_bytes(id, out) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "{}: there is no token {id}; ids are below {}",
            self.parts.source,
            self.vocab_size()
        )))
    }

    /// Whether decoding takes one space from the beginning of a text.
    pub(super) fn strips_space(&self) -> bool {
        self.parts.strip_space
    }

    /// The raw bytes one token stands for (`None`: no such id; special tokens give their spelling).
    pub fn token_bytes(&self, id: u32) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let known = self.parts.vocabulary.push_bytes(id, &mut bytes);
        known.then_some(bytes)
    }

    /// The id of a token by its exact spelling in the vocabulary.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.parts.vocabulary.id(token)
    }

    /// The spelling of a token in the vocabulary.
    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.parts.vocabulary.spelling(id).map(str::to_string)
    }

    /// Whether the id has a token.
    pub fn has(&self, id: u32) -> bool {
        self.parts.vocabulary.spelling(id).is_some()
    }

    /// Ids are `0..vocab_size`. A few of them may have no token.
    pub fn vocab_size(&self) -> usize {
        self.parts.vocabulary.len()
    }

    /// Whether the id is a control token that ordinary text never contains.
    pub fn is_special(&self, id: u32) -> bool {
        self.parts.vocabulary.kind(id) == Some(Kind::Control)
    }

    /// Begin-of-text token, where the model has one.
    pub fn bos(&self) -> Option<u32> {
        self.parts.bos
    }

    /// End-of-text token, where the model has one.
    pub fn eos(&self) -> Option<u32> {
        self.parts.eos
    }

    /// Compiles grammars for its tokens. The first call takes about as long as reading the tokenizer's file.
    pub fn grammars(&self) -> Result<Arc<Grammars>> {
        let mut grammars = self.grammars.lock();
        if let Some(grammars) = &*grammars {
            return Ok(grammars.clone());
        }
        let made = Arc::new(Grammars::new(self)?);
        *grammars = Some(made.clone());
        Ok(made)
    }

    /// All tokens that end a generation by default, sorted: EOS and the control tokens whose
    /// spelling says that they end a turn or a text.
    pub fn end_tokens(&self) -> &[u32] {
        &self.end
    }
}
