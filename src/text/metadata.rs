//! The tokenizer that GGUF metadata (`tokenizer.ggml.…`) describes.

use super::added::{Added, AddedTokens};
use super::bpe::Bpe;
use super::merger::{Merger, Options};
use super::pre_tokenizer;
use super::spm::{Piece, Spm};
use super::tokenizer::{Encoder, Parts, SpmEncoder};
use super::vocabulary::{Form, Kind, Vocabulary, byte_token};
use crate::formats::brief;
use crate::formats::gguf::Value;
use crate::log::{self, Level};
use crate::{Error, Result};
use std::collections::HashMap;

/// GGUF's numbers for what a token is.
pub(super) mod token_type {
    pub const UNKNOWN: i64 = 2;
    pub const CONTROL: i64 = 3;
    pub const USER_DEFINED: i64 = 4;
    pub const UNUSED: i64 = 5;
    pub const BYTE: i64 = 6;
}

/// Metadata with its origin.
pub(super) struct Metadata<'a, 'b> {
    pub(super) source: &'b str,
    pub(super) get: &'b dyn Fn(&str) -> Option<&'a Value>,
}

impl<'a> Metadata<'a, '_> {
    fn invalid(&self, what: String) -> Error {
        Error::InvalidFile(format!("{}: {what}", self.source))
    }

    /// A value of one kind: `None` where the key is missing, an error where it is of another kind.
    fn value<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = (self.get)(key) else {
            return Ok(None);
        };
        read(value).map(Some).ok_or_else(|| {
            self.invalid(format!("metadata {key} is {}, not {wanted}", value.kind()))
        })
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>> {
        self.value(key, "a text", Value::as_str)
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.value(key, "a flag", Value::as_bool)
    }

    fn texts(&self, key: &str) -> Result<&'a [String]> {
        self.value(key, "an array of texts", Value::texts)?
            .ok_or_else(|| self.invalid(format!("metadata {key} is missing")))
    }

    /// A token id. One outside the vocabulary is ignored with a warning, as files in use have it.
    fn token(&self, key: &str, vocab_size: usize) -> Result<Option<u32>> {
        let id = self.value(key, "an integer", |value| match value {
            Value::Unsigned(id) => Some(i128::from(*id)),
            Value::Signed(id) => Some(i128::from(*id)),
            _ => None,
        })?;
        let inside = id
            .and_then(|id| u32::try_from(id).ok())
            .filter(|id| (*id as usize) < vocab_size);
        if let (Some(id), None) = (id, inside) {
            let source = self.source;
            log::write(Level::Warn, || {
                format!("{source}: {key} is {id}, which is no token; ignored")
            });
        }
        Ok(inside)
    }
}

/// Reads the tokenizer's parts. `source` names the file in messages.
pub(super) fn read<'a>(source: &str, get: &dyn Fn(&str) -> Option<&'a Value>) -> Result<Parts> {
    let metadata = Metadata { source, get };
    let model = metadata
        .text("tokenizer.ggml.model")?
        .ok_or_else(|| metadata.invalid("metadata tokenizer.ggml.model is missing".into()))?;
    match model {
        "gpt2" => read_bpe(&metadata),
        "llama" => read_spm(&metadata),
        other => Err(Error::Unsupported(format!(
            "{source}: the tokenizer model {:?} is not supported; supported are \"gpt2\" \
             (byte-level BPE) and \"llama\" (SentencePiece BPE)",
            brief(other)
        ))),
    }
}

/// The tokens and their types.
pub(super) fn tokens<'a>(metadata: &Metadata<'a, '_>) -> Result<(&'a [String], Option<&'a [i64]>)> {
    let tokens = metadata.texts("tokenizer.ggml.tokens")?;
    if tokens.is_empty() {
        return Err(metadata.invalid("metadata tokenizer.ggml.tokens is empty".into()));
    }
    let key = "tokenizer.ggml.token_type";
    let types = metadata.value(key, "an array of integers", Value::integers)?;
    if let Some(types) = types.filter(|types| types.len() < tokens.len()) {
        return Err(metadata.invalid(format!(
            "metadata {key} has {} elements for {} tokens",
            types.len(),
            tokens.len()
        )));
    }
    Ok((tokens, types))
}

/// The spelling of token `id`: an empty one gets a name, so that it is never found in text.
pub(super) fn spelling(id: usize, token: &str) -> std::borrow::Cow<'_, str> {
    if token.is_empty() {
        format!("[EMPTY_{id}]").into()
    } else {
        token.into()
    }
}

pub(super) fn type_of(types: Option<&[i64]>, id: usize) -> i64 {
    types.and_then(|t| t.get(id)).copied().unwrap_or(1)
}

/// BOS, EOS and what goes around a raw prompt.
pub(super) struct Edges {
    pub(super) bos: Option<u32>,
    pub(super) eos: Option<u32>,
    pub(super) prefix: Vec<u32>,
    pub(super) suffix: Vec<u32>,
}

pub(super) fn edges(
    metadata: &Metadata,
    vocab_size: usize,
    defaults: (Option<u32>, Option<u32>),
    add_bos: bool,
) -> Result<Edges> {
    let token = |key, default: Option<u32>| {
        let id = metadata.token(key, vocab_size)?;
        Ok::<_, Error>(id.or(default.filter(|id| (*id as usize) < vocab_size)))
    };
    let bos = token("tokenizer.ggml.bos_token_id", defaults.0)?;
    let eos = token("tokenizer.ggml.eos_token_id", defaults.1)?;
    let add_bos = metadata
        .flag("tokenizer.ggml.add_bos_token")?
        .unwrap_or(add_bos);
    let add_eos = metadata
        .flag("tokenizer.ggml.add_eos_token")?
        .unwrap_or(false);
    Ok(Edges {
        bos,
        eos,
        prefix: bos.filter(|_| add_bos).into_iter().collect(),
        suffix: eos.filter(|_| add_eos).into_iter().collect(),
    })
}

/// How a byte-level BPE cuts text.
pub(super) fn kind(metadata: &Metadata) -> Result<pre_tokenizer::Kind> {
    let source = metadata.source;
    let pre = metadata.text("tokenizer.ggml.pre")?;
    Ok(match pre.map(pre_tokenizer::find) {
        Some(Some(Ok(kind))) => kind,
        Some(Some(Err(what))) => {
            return Err(Error::Unsupported(format!(
                "{source}: the pre-tokenizer {:?} ({what}) is not supported",
                brief(pre.unwrap_or_default())
            )));
        }
        Some(None) | None => {
            log::write(Level::Warn, || match pre {
                Some(pre) => format!(
                    "{source}: unknown pre-tokenizer {:?}; the default is used, and the \
                     model's answers may suffer",
                    brief(pre)
                ),
                None => format!(
                    "{source}: metadata tokenizer.ggml.pre is missing; the default is used, and \
                     the model's answers may suffer"
                ),
            });
            pre_tokenizer::DEFAULT
        }
    })
}

/// `gpt2`: byte-level BPE with a list of merges.
fn read_bpe(metadata: &Metadata) -> Result<Parts> {
    let source = metadata.source;
    let kind = kind(metadata)?;
    let (tokens, types) = tokens(metadata)?;
    let mut vocabulary = Vocabulary::new(Form::ByteLevel);
    vocabulary.reserve(tokens.len(), tokens.len(), source)?;
    let mut added = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let id = index as u32;
        let spelling = spelling(index, token);
        let kind = match type_of(types, index) {
            token_type::CONTROL | token_type::UNKNOWN => Kind::Control,
            token_type::USER_DEFINED => Kind::UserDefined,
            _ => Kind::Piece,
        };
        vocabulary.set(id, &spelling, kind, source)?;
        if kind != Kind::Piece {
            added.push(Added::new(spelling.into_owned(), id, kind == Kind::Control));
        }
    }
    vocabulary.index(source)?;
    let options = Options {
        ignore_merges: kind.ignore_merges,
        ..Options::default()
    };
    let merges = merges(metadata)?;
    let merger = Merger::new(&vocabulary, merges.into_iter(), &options, source)?;
    let missing = merger.missing_bytes();
    if missing > 0 {
        log::write(Level::Info, || {
            format!("{source}: {missing} bytes have no token; they vanish from encoded text")
        });
    }
    let steps = kind
        .steps()
        .map_err(|error| Error::Internal(format!("pre-tokenizer {error}")))?;
    let edges = edges(metadata, tokens.len(), (None, None), kind.add_bos)?;
    Ok(Parts {
        vocabulary,
        encoder: Encoder::Bpe(Box::new(Bpe {
            added: AddedTokens::new(added, source)?,
            normalizer: kind.normalizer(),
            normalized: None,
            steps,
            byte_level: true,
            merger,
        })),
        prefix: edges.prefix,
        suffix: edges.suffix,
        bos: edges.bos,
        eos: edges.eos,
        strip_space: false,
        source: source.to_string(),
    })
}

/// The merges, "left right" each.
pub(super) fn merges<'a>(metadata: &Metadata<'a, '_>) -> Result<Vec<(&'a str, &'a str)>> {
    let key = "tokenizer.ggml.merges";
    let lines = metadata.texts(key)?;
    let mut merges = Vec::with_capacity(lines.len());
    for (rank, line) in lines.iter().enumerate() {
        // The left half may itself begin with a space.
        let space = line.bytes().skip(1).position(|byte| byte == b' ');
        let halves = space.and_then(|at| Some((line.get(..at + 1)?, line.get(at + 2..)?)));
        let halves = halves.filter(|(_, right)| !right.is_empty());
        merges.push(halves.ok_or_else(|| {
            metadata.invalid(format!(
                "metadata {key}[{rank}] is {:?}, not two tokens with a space between",
                brief(line)
            ))
        })?);
    }
    Ok(merges)
}

/// The scores of SentencePiece's pieces.
pub(super) fn scores(metadata: &Metadata, tokens: usize) -> Result<Vec<f32>> {
    let key = "tokenizer.ggml.scores";
    // Some writers store the scores as integers.
    let scores = metadata.value(key, "an array of numbers", |value| match value {
        Value::Floats(scores) => Some(scores.iter().map(|s| *s as f32).collect::<Vec<_>>()),
        Value::Integers(scores) => Some(scores.iter().map(|s| *s as f32).collect()),
        _ => None,
    })?;
    let scores = scores.ok_or_else(|| metadata.invalid(format!("metadata {key} is missing")))?;
    if scores.len() < tokens {
        return Err(metadata.invalid(format!(
            "metadata {key} has {} elements for {} tokens",
            scores.len(),
            tokens
        )));
    }
    Ok(scores)
}

/// `llama`: SentencePiece BPE with scores.
fn read_spm(metadata: &Metadata) -> Result<Parts> {
    let source = metadata.source;
    let (tokens, types) = tokens(metadata)?;
    let scores = scores(metadata, tokens.len())?;
    let mut vocabulary = Vocabulary::new(Form::SpaceMark);
    vocabulary.reserve(tokens.len(), tokens.len(), source)?;
    let mut pieces = HashMap::with_capacity(tokens.len());
    let (mut control, mut whole) = (Vec::new(), Vec::new());
    let mut bytes = [None; 256];
    let mut unknown = None;
    for (index, (token, score)) in tokens.iter().zip(scores).enumerate() {
        let id = index as u32;
        let spelling = spelling(index, token);
        let token_type = type_of(types, index);
        let byte = byte_token(token).filter(|_| token_type == token_type::BYTE);
        let kind = match (token_type, byte) {
            (_, Some(byte)) => Kind::Byte(byte),
            (token_type::CONTROL | token_type::UNKNOWN, _) => Kind::Control,
            (token_type::USER_DEFINED, _) => Kind::UserDefined,
            _ => Kind::Piece,
        };
        vocabulary.set(id, &spelling, kind, source)?;
        match kind {
            Kind::Byte(byte) => {
                if let Some(slot) = bytes.get_mut(usize::from(byte)) {
                    *slot = Some(id);
                }
            }
            Kind::Control => {
                if token_type == token_type::UNKNOWN {
                    unknown.get_or_insert(id);
                }
                control.push(Added::new(spelling.into_owned(), id, true));
            }
            Kind::UserDefined => whole.push(Added::new(spelling.into_owned(), id, false)),
            Kind::Piece if token.is_empty() => {}
            Kind::Piece => {
                let piece = Piece {
                    id,
                    score: if score.is_nan() { f32::MIN } else { score },
                    unused: token_type == token_type::UNUSED,
                };
                pieces.insert(token.clone(), piece);
            }
        }
    }
    vocabulary.index(source)?;
    let bytes = all_bytes(&bytes);
    let space_prefix = metadata
        .flag("tokenizer.ggml.add_space_prefix")?
        .unwrap_or(true);
    if metadata.flag("tokenizer.ggml.remove_extra_whitespaces")? == Some(true) {
        log::write(Level::Warn, || {
            format!("{source}: tokenizer.ggml.remove_extra_whitespaces is ignored")
        });
    }
    let unknown = match metadata.token("tokenizer.ggml.unknown_token_id", tokens.len())? {
        Some(id) => Some(id),
        None => unknown,
    };
    let edges = edges(metadata, tokens.len(), (Some(1), Some(2)), true)?;
    let whole = AddedTokens::new(whole, source)?;
    Ok(Parts {
        vocabulary,
        encoder: Encoder::Spm(Box::new(SpmEncoder {
            spm: Spm::new(pieces, whole, bytes, unknown),
            control: AddedTokens::new(control, source)?,
            space_prefix,
        })),
        prefix: edges.prefix,
        suffix: edges.suffix,
        bos: edges.bos,
        eos: edges.eos,
        strip_space: space_prefix,
        source: source.to_string(),
    })
}

/// The byte tokens, if there are all 256.
fn all_bytes(bytes: &[Option<u32>; 256]) -> Option<Box<[u32; 256]>> {
    let ids: Option<Vec<u32>> = bytes.iter().copied().collect();
    ids?.try_into().ok().map(Box::new)
}
