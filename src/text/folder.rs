//! The tokenizer of a model folder: `tokenizer.json`, with `tokenizer_config.json` beside it.
//!
//! Only what language models use is read: BPE models, the normalizers and pre-tokenizers named
//! below, and decoders that turn tokens into bytes one by one, so that streaming equals decoding
//! at once.

use super::bpe::{self, Bpe, Finder};
use super::tokenizer::{Encoder, Parts};
use super::tokenizer_json::{File, Settings};
use super::vocabulary::{Form, Kind, Vocabulary, byte_token};
use crate::log::{self, Level};
use crate::{Error, Result};
use serde_json::Value;
use std::path::Path;
use tokenizers::{AddedToken, AddedVocabulary, Model, NormalizerWrapper, PreTokenizerWrapper};

/// The largest files read, in bytes; the largest `tokenizer.json` in use has some 35 MB.
const MAX_FILE: u64 = 256 << 20;

/// How many tokens may stand around a raw prompt.
const MAX_EDGE: usize = 64;

/// Reads a file of at most `limit` bytes as text. `None` where there is no such file.
pub(super) fn read_text(path: &Path, limit: u64) -> Result<Option<String>> {
    use std::io::Read;
    let io = |error: std::io::Error| Error::Io(format!("{}: {error}", path.display()));
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    if !file.metadata().map_err(io)?.is_file() {
        return Err(Error::Io(format!("{}: not a regular file", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > limit {
        return Err(Error::InvalidFile(format!(
            "{}: longer than {limit} bytes",
            path.display()
        )));
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| Error::InvalidFile(format!("{}: not UTF-8", path.display())))
}

/// Reads the tokenizer's parts.
pub(super) fn read(folder: &Path) -> Result<Parts> {
    let path = folder.join("tokenizer.json");
    let source = path.display().to_string();
    let text = read_text(&path, MAX_FILE)?.ok_or_else(|| {
        Error::Io(format!(
            "{source}: no such file; a model folder needs it to read text"
        ))
    })?;
    let file: File = serde_json::from_str(&text)
        .map_err(|error| Error::InvalidFile(format!("{source}: {error}")))?;
    drop(text);
    let settings = Settings::read(folder)?;
    build(file, &settings, source)
}

/// One part of a `tokenizer.json`, of a type that is on the list.
fn component<T: serde::de::DeserializeOwned>(
    value: &Value,
    name: &str,
    allowed: &[&str],
    source: &str,
) -> Result<Option<T>> {
    if value.is_null() {
        return Ok(None);
    }
    check_types(value, name, allowed, source)?;
    serde_json::from_value(value.clone())
        .map(Some)
        .map_err(|error| Error::InvalidFile(format!("{source}: {name}: {error}")))
}

/// Checks the `type` of a component and, in a sequence, of its steps.
fn check_types(value: &Value, name: &str, allowed: &[&str], source: &str) -> Result<()> {
    let kind = type_of(value);
    if kind == "Sequence" {
        for list in ["normalizers", "pretokenizers"] {
            for step in value
                .get(list)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                check_types(step, name, allowed, source)?;
            }
        }
        return Ok(());
    }
    // Lengths of 0 and the like make the crate fail while encoding.
    if allowed.contains(&kind) {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "{source}: {name} of type {kind:?} is not supported; supported are Sequence, {}",
        allowed.join(", ")
    )))
}

fn type_of(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or("")
}

const NORMALIZERS: [&str; 10] = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "Prepend",
    "Replace",
    "Strip",
    "StripAccents",
    "ByteLevel",
];

const PRE_TOKENIZERS: [&str; 8] = [
    "ByteLevel",
    "Digits",
    "Metaspace",
    "Punctuation",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
];

fn build(file: File, settings: &Settings, source: String) -> Result<Parts> {
    let normalizer: Option<NormalizerWrapper> =
        component(&file.normalizer, "normalizer", &NORMALIZERS, &source)?;
    let pre_tokenizer: Option<PreTokenizerWrapper> = component(
        &file.pre_tokenizer,
        "pre_tokenizer",
        &PRE_TOKENIZERS,
        &source,
    )?;
    let decoding = Decoding::read(&file.decoder, &source)?;
    let (vocab, merges, options) = file.model.into_bpe(&source)?;

    let highest = vocab.values().max().map_or(0, |id| *id as usize + 1);
    let tokens = vocab.len() + file.added_tokens.len() + settings.added.len();
    let mut vocabulary = Vocabulary::new(decoding.form);
    vocabulary.reserve(highest, tokens, &source)?;
    for (token, id) in &vocab {
        if let Some(other) = vocabulary.spelling(*id) {
            return Err(Error::InvalidFile(format!(
                "{source}: tokens {other:?} and {token:?} both have id {id}"
            )));
        }
        let byte = byte_token(token).filter(|_| decoding.byte_tokens);
        let kind = byte.map_or(Kind::Piece, Kind::Byte);
        vocabulary.set(*id, token, kind, &source)?;
    }
    let model = bpe::build(vocab, merges, options, &source)?;

    let added = added_tokens(
        &file.added_tokens,
        settings,
        &model,
        normalizer.as_ref(),
        &source,
    )?;
    let list = added.get_added_tokens_decoder();
    let highest = list.keys().max().map_or(0, |id| *id as usize + 1);
    vocabulary.reserve(highest, tokens, &source)?;
    for (id, token) in list {
        let kind = if added.is_special_token(&token.content) {
            Kind::Control
        } else {
            Kind::UserDefined
        };
        vocabulary.set(*id, &token.content, kind, &source)?;
    }
    vocabulary.index(&source)?;

    let bos = settings.bos.as_deref().and_then(|t| vocabulary.id(t));
    let eos = settings.eos.as_deref().and_then(|t| vocabulary.id(t));
    let (mut prefix, mut suffix) = edges(&file.post_processor, &vocabulary, &source)?;
    // What the configuration says outright goes before the post-processor.
    if let (Some(add), Some(bos)) = (settings.add_bos, bos) {
        prefix.retain(|id| *id != bos);
        if add {
            prefix.insert(0, bos);
        }
    }
    if let (Some(add), Some(eos)) = (settings.add_eos, eos) {
        suffix.retain(|id| *id != eos);
        if add {
            suffix.push(eos);
        }
    }
    let mut ordinary = added.clone();
    ordinary.set_encode_special_tokens(true);
    Ok(Parts {
        vocabulary,
        encoder: Encoder::Bpe(Box::new(Bpe {
            model,
            normalizer,
            pre_tokenizer,
            finder: Finder::Flags {
                all: Box::new(added),
                ordinary: Box::new(ordinary),
            },
        })),
        prefix,
        suffix,
        bos,
        eos,
        strip_space: decoding.strip_space,
        source,
    })
}

/// The added tokens of both files, under the ids that the files give them.
fn added_tokens(
    listed: &[(u32, AddedToken)],
    settings: &Settings,
    model: &impl Model,
    normalizer: Option<&NormalizerWrapper>,
    source: &str,
) -> Result<AddedVocabulary> {
    let mut added = AddedVocabulary::new();
    let mut wanted: Vec<&(u32, AddedToken)> = listed.iter().collect();
    // The configuration's list completes the file's: a token in both is the file's.
    let known = |id: u32| listed.iter().any(|(listed, _)| *listed == id);
    wanted.extend(settings.added.iter().filter(|(id, _)| !known(*id)));
    wanted.sort_by_key(|(id, _)| *id);
    let tokens = wanted.iter().map(|(_, token)| token.clone());
    added
        .add_tokens(tokens, model, normalizer)
        .map_err(|error| Error::InvalidFile(format!("{source}: added_tokens: {error}")))?;
    for (id, token) in wanted {
        let actual = added.token_to_id(&token.content, model);
        if actual.is_some_and(|actual| actual != *id) {
            let text = &token.content;
            log::write(Level::Warn, || {
                format!(
                    "{source}: the added token {text:?} is listed with id {id}, but its place \
                     gives it id {}",
                    actual.unwrap_or_default()
                )
            });
        }
    }
    Ok(added)
}

/// How tokens become text.
#[derive(Debug)]
struct Decoding {
    form: Form,
    byte_tokens: bool,
    strip_space: bool,
}

impl Decoding {
    /// Reads the `decoder`, which must treat tokens one by one.
    fn read(decoder: &Value, source: &str) -> Result<Decoding> {
        let mut decoding = Decoding {
            form: Form::Plain,
            byte_tokens: false,
            strip_space: false,
        };
        let single = std::slice::from_ref(decoder);
        let steps = match type_of(decoder) {
            "Sequence" => decoder.get("decoders").and_then(Value::as_array),
            _ => None,
        };
        for step in steps.map_or(single, Vec::as_slice) {
            decoding.step(step).ok_or_else(|| {
                Error::Unsupported(format!(
                    "{source}: the decoder step {step} is not supported; supported are ByteLevel, \
                     Metaspace, ByteFallback, Fuse, Replace of U+2581 by a space, and Strip of one \
                     leading space"
                ))
            })?;
        }
        Ok(decoding)
    }

    fn step(&mut self, step: &Value) -> Option<()> {
        let text = |key: &str| step.get(key).and_then(Value::as_str);
        match type_of(step) {
            "ByteLevel" => self.form = Form::ByteLevel,
            "Metaspace" => {
                if text("replacement") != Some("\u{2581}") {
                    return None;
                }
                self.form = Form::SpaceMark;
                let old = step.get("add_prefix_space").and_then(Value::as_bool);
                self.strip_space = match text("prepend_scheme") {
                    Some(scheme) => scheme != "never",
                    None => old.unwrap_or(true),
                };
            }
            "ByteFallback" => self.byte_tokens = true,
            "Fuse" => {}
            "Replace" => {
                let pattern = step.get("pattern")?.get("String")?.as_str();
                if pattern != Some("\u{2581}") || text("content") != Some(" ") {
                    return None;
                }
                self.form = Form::SpaceMark;
            }
            "Strip" => {
                let count = |key: &str| step.get(key).and_then(Value::as_u64);
                match (text("content"), count("start"), count("stop")) {
                    (Some(" "), Some(1), Some(0)) => self.strip_space = true,
                    (_, Some(0), Some(0)) => {}
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// What the post-processor puts around a raw prompt.
fn edges(processor: &Value, vocabulary: &Vocabulary, source: &str) -> Result<(Vec<u32>, Vec<u32>)> {
    let (mut prefix, mut suffix) = (Vec::new(), Vec::new());
    let invalid = |what: &str| Error::InvalidFile(format!("{source}: post_processor: {what}"));
    match type_of(processor) {
        "" | "ByteLevel" => {}
        "Sequence" => {
            let steps = processor.get("processors").and_then(Value::as_array);
            for step in steps.into_iter().flatten() {
                // Each step wraps what the steps before made.
                let (before, after) = edges(step, vocabulary, source)?;
                prefix.splice(0..0, before);
                suffix.extend(after);
            }
        }
        "TemplateProcessing" => {
            let steps = processor.get("single").and_then(Value::as_array);
            let mut seen_text = false;
            for step in steps.ok_or_else(|| invalid("no template for single texts"))? {
                if step.get("Sequence").is_some() {
                    seen_text = true;
                    continue;
                }
                let name = step.get("SpecialToken").and_then(|t| t.get("id"));
                let name = name.and_then(Value::as_str);
                let name = name.ok_or_else(|| invalid("a step that is no token"))?;
                let ids = processor
                    .get("special_tokens")
                    .and_then(|tokens| tokens.get(name))
                    .and_then(|token| token.get("ids"))
                    .and_then(Value::as_array)
                    .ok_or_else(|| invalid(&format!("no ids for the token {name:?}")))?;
                for id in ids {
                    let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
                    let id = id.filter(|id| vocabulary.kind(*id).is_some());
                    let id = id.ok_or_else(|| invalid(&format!("bad ids for {name:?}")))?;
                    if seen_text { &mut suffix } else { &mut prefix }.push(id);
                }
            }
        }
        kind @ ("BertProcessing" | "RobertaProcessing") => {
            for (key, list) in [("cls", &mut prefix), ("sep", &mut suffix)] {
                let id = processor.get(key).and_then(|pair| pair.get(1));
                let id = id
                    .and_then(Value::as_u64)
                    .and_then(|id| u32::try_from(id).ok());
                let id = id.filter(|id| vocabulary.kind(*id).is_some());
                list.push(id.ok_or_else(|| invalid(&format!("{kind} without {key}")))?);
            }
        }
        other => {
            return Err(Error::Unsupported(format!(
                "{source}: post_processor of type {other:?} is not supported"
            )));
        }
    }
    if prefix.len() > MAX_EDGE || suffix.len() > MAX_EDGE {
        return Err(invalid("too many special tokens"));
    }
    Ok((prefix, suffix))
}
