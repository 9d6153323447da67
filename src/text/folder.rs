//! The tokenizer of a model folder: `tokenizer.json`, with `tokenizer_config.json` beside it.
//!
//! Only what language models use is read: BPE models, the normalizers and pre-tokenizers named
//! below, and decoders that turn tokens into bytes one by one, so that streaming equals decoding
//! at once.

use super::added::{Added, AddedTokens};
use super::bpe::Bpe;
use super::components::{self, type_of};
use super::merger::Merger;
use super::tokenizer::{Encoder, Parts};
use super::tokenizer_json::{File, Settings, TokenFields};
use super::vocabulary::{Form, Kind, Vocabulary, byte_token};
use crate::formats::{brief, read_text};
use crate::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// The largest files read, in bytes; the largest `tokenizer.json` in use has some 35 MB.
const MAX_FILE: u64 = 256 << 20;

/// Reads the tokenizer's parts.
pub(super) fn read(folder: &Path) -> Result<Parts> {
    let path = folder.join("tokenizer.json");
    let source = path.display().to_string();
    let text = read_text(&path, MAX_FILE)?.ok_or_else(|| {
        Error::Io(format!(
            "{source}: no such file; a model folder needs it to read text"
        ))
    })?;
    let file = parse_file(&text, &source)?;
    drop(text);
    let settings = Settings::read(folder)?;
    build(file, settings, source)
}

/// Reads the parts from the content of the files; an empty `config` is none.
pub(super) fn parse(json: &str, config: &str, source: &str) -> Result<Parts> {
    let config = if config.is_empty() { "{}" } else { config };
    let config = serde_json::from_str(config).map_err(|error| {
        Error::InvalidFile(format!("{source}: tokenizer_config.json: {}", brief(error)))
    })?;
    let settings = Settings::from_objects(&config, &Default::default(), source)?;
    build(parse_file(json, source)?, settings, source.to_string())
}

fn parse_file(json: &str, source: &str) -> Result<File> {
    serde_json::from_str(json)
        .map_err(|error| Error::InvalidFile(format!("{source}: {}", brief(error))))
}

fn build(file: File, settings: Settings, source: String) -> Result<Parts> {
    let normalizer = components::normalizer(&file.normalizer, &source)?;
    let cutting = components::cutting(&file.pre_tokenizer, &source)?;
    let decoding = Decoding::read(&file.decoder, &source)?;
    let model = file.model.into_bpe(&source)?;

    let highest = model.vocab.iter().map(|(_, id)| *id as usize + 1).max();
    let tokens = model.vocab.len() + file.added_tokens.len() + settings.added.len();
    let mut vocabulary = Vocabulary::new(decoding.form);
    vocabulary.reserve(highest.unwrap_or(0), tokens, &source)?;
    for (token, id) in &model.vocab {
        // A key that stands twice in the file counts once, as in any JSON object.
        if let Some(other) = vocabulary.spelling(*id).filter(|other| other != token) {
            return Err(Error::InvalidFile(format!(
                "{source}: tokens {:?} and {:?} both have id {id}",
                brief(other),
                brief(token)
            )));
        }
        let byte = byte_token(token).filter(|_| decoding.byte_tokens);
        let kind = byte.map_or(Kind::Piece, Kind::Byte);
        vocabulary.set(*id, token, kind, &source)?;
    }
    vocabulary.index(&source)?;
    let merges = model.merges.iter();
    let merges = merges.map(|merge| (merge.left.as_str(), merge.right.as_str()));
    let merger = Merger::new(&vocabulary, merges, &model.options, &source)?;
    let mut added = file.added_tokens;
    // The configuration's list completes the file's: a token in both is the file's.
    let known: std::collections::HashSet<u32> = added.iter().map(|token| token.id).collect();
    added.extend(
        settings
            .added
            .into_iter()
            .filter(|token| !known.contains(&token.id)),
    );
    let mut lists = [Vec::new(), Vec::new()];
    for token in added {
        let id = set_added(&mut vocabulary, &token, tokens, &source)?;
        let normalized = token.normalized.unwrap_or(!token.special);
        let mut text = token.content;
        if normalized {
            let form = normalizer.apply(&text);
            let form =
                form.map_err(|e| Error::InvalidFile(format!("{source}: added token {id}: {e}")))?;
            text = form.unwrap_or(text);
        }
        let list = if normalized {
            &mut lists[1]
        } else {
            &mut lists[0]
        };
        list.push(Added {
            text,
            id,
            special: token.special,
            single_word: token.single_word,
            lstrip: token.lstrip,
            rstrip: token.rstrip,
        });
    }
    vocabulary.index(&source)?;

    let [as_is, normalized] = lists;
    let bos = settings.bos.as_deref().and_then(|t| vocabulary.id(t));
    let eos = settings.eos.as_deref().and_then(|t| vocabulary.id(t));
    let (mut prefix, mut suffix) = components::edges(&file.post_processor, &vocabulary, &source)?;
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
    let normalized = match normalized.is_empty() {
        true => None,
        false => Some(AddedTokens::new(normalized, &source)?),
    };
    Ok(Parts {
        vocabulary,
        encoder: Encoder::Bpe(Box::new(Bpe {
            added: AddedTokens::new(as_is, &source)?,
            normalizer,
            normalized,
            steps: cutting.steps,
            byte_level: cutting.byte_level,
            merger,
        })),
        prefix,
        suffix,
        bos,
        eos,
        strip_space: decoding.strip_space,
        source,
    })
}

/// Enters an added token into the vocabulary and returns its id.
fn set_added(
    vocabulary: &mut Vocabulary,
    token: &TokenFields,
    tokens: usize,
    source: &str,
) -> Result<u32> {
    // A token that the model has too keeps the model's id.
    let id = vocabulary.id(&token.content).unwrap_or(token.id);
    if let Some(other) = vocabulary.spelling(id).filter(|s| *s != token.content) {
        return Err(Error::InvalidFile(format!(
            "{source}: added_tokens: {:?} has id {id}, which is that of {:?}",
            brief(&token.content),
            brief(other)
        )));
    }
    let kind = if token.special {
        Kind::Control
    } else {
        Kind::UserDefined
    };
    vocabulary.reserve(id as usize + 1, tokens, source)?;
    vocabulary.set(id, &token.content, kind, source)?;
    Ok(id)
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
