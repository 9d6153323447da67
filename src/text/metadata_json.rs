//! The files of a folder's tokenizer, made from GGUF metadata: `tokenizer.json` and `tokenizer_config.json`, which
//! give the same tokens here and in Hugging Face's `tokenizers`.

use super::metadata::{self, Edges, Metadata, token_type};
use super::pre_tokenizer::Kind;
use super::vocabulary::SPACE_MARK;
use crate::formats::gguf::Gguf;
use crate::{Error, Result};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The two files.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenizerFiles {
    /// `tokenizer.json`.
    pub tokenizer: Value,
    /// `tokenizer_config.json`.
    pub config: Value,
}

impl TokenizerFiles {
    /// Of a GGUF file's tokenizer.
    ///
    /// # Errors
    /// `InvalidFile`, and `Unsupported` for tokenizers that `tokenizer.json` cannot describe.
    pub fn from_gguf(gguf: &Gguf) -> Result<TokenizerFiles> {
        let source = gguf.path().display().to_string();
        TokenizerFiles::from_metadata(&source, &|key| gguf.get(key))
    }

    /// As [`TokenizerFiles::from_gguf`], of values by key. `source` names them in messages.
    ///
    /// # Errors
    /// As [`TokenizerFiles::from_gguf`].
    pub fn from_metadata<'a>(
        source: &str,
        get: &dyn Fn(&str) -> Option<&'a crate::formats::gguf::Value>,
    ) -> Result<TokenizerFiles> {
        // Whatever is damaged is refused there, with its own words.
        metadata::read(source, get)?;
        let metadata = Metadata { source, get };
        let parts = match metadata.text("tokenizer.ggml.model")? {
            Some("gpt2") => byte_level(&metadata)?,
            _ => sentence_piece(&metadata)?,
        };
        let added = parts.added.iter().map(|(id, text, special)| {
            json!({
                "id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": special
            })
        });
        let spelled = |id: Option<u32>| id.and_then(|id| parts.tokens.get(id as usize));
        let mut config = Map::new();
        let mut set = |key: &str, value: Value| config.insert(key.into(), value);
        set("tokenizer_class", "PreTrainedTokenizerFast".into());
        set("clean_up_tokenization_spaces", false.into());
        for (key, id) in [
            ("bos_token", parts.edges.bos),
            ("eos_token", parts.edges.eos),
            ("unk_token", parts.unknown),
        ] {
            if let Some(text) = spelled(id) {
                set(key, text.clone().into());
            }
        }
        if let Some(template) = metadata.text("tokenizer.chat_template")? {
            set("chat_template", template.into());
        }
        Ok(TokenizerFiles {
            tokenizer: json!({
                "version": "1.0", "truncation": null, "padding": null,
                "added_tokens": added.collect::<Vec<_>>(),
                "normalizer": parts.normalizer, "pre_tokenizer": parts.pre_tokenizer,
                "post_processor": around(&parts),
                "decoder": parts.decoder, "model": parts.model
            }),
            config: Value::Object(config),
        })
    }
}

/// What the kinds of tokenizers differ in.
struct Parts {
    /// Spellings.
    tokens: Vec<String>,
    edges: Edges,
    unknown: Option<u32>,
    /// Id, spelling, whether it is special.
    added: Vec<(usize, String, bool)>,
    normalizer: Value,
    pre_tokenizer: Value,
    decoder: Value,
    model: Value,
}

/// The tokens around a text.
fn around(parts: &Parts) -> Value {
    let edges = &parts.edges;
    if edges.prefix.is_empty() && edges.suffix.is_empty() {
        return Value::Null;
    }
    let text = |id: &u32| parts.tokens.get(*id as usize).cloned().unwrap_or_default();
    let special = |id: &u32| json!({"SpecialToken": {"id": text(id), "type_id": 0}});
    let sequence = |name: &str| json!({"Sequence": {"id": name, "type_id": 0}});
    let wrapped = |name: &str| {
        let before = edges.prefix.iter().map(special);
        let after = edges.suffix.iter().map(special);
        before
            .chain([sequence(name)])
            .chain(after)
            .collect::<Vec<_>>()
    };
    let tokens = edges.prefix.iter().chain(&edges.suffix);
    let tokens: Map<String, Value> = tokens
        .map(|id| {
            (
                text(id),
                json!({"id": text(id), "ids": [id], "tokens": [text(id)]}),
            )
        })
        .collect();
    json!({
        "type": "TemplateProcessing",
        "single": wrapped("A"),
        "pair": ([wrapped("A"), wrapped("B")].concat()),
        "special_tokens": tokens
    })
}

/// Byte-level BPE.
fn byte_level(metadata: &Metadata) -> Result<Parts> {
    let kind: Kind = metadata::kind(metadata)?;
    let (spellings, types) = metadata::tokens(metadata)?;
    let type_of = |id: usize| metadata::type_of(types, id);
    let is_added = |id: usize| {
        use token_type::{CONTROL, UNKNOWN, USER_DEFINED};
        matches!(type_of(id), CONTROL | UNKNOWN | USER_DEFINED)
    };
    let tokens: Vec<String> = spellings
        .iter()
        .enumerate()
        .map(|(id, token)| metadata::spelling(id, token).into_owned())
        .collect();
    // Behind the last token there are at times names for rows of the embedding table that stand for nothing.
    let is_used = |id: &usize| type_of(*id) != token_type::UNUSED;
    let end = (0..tokens.len()).rev().find(is_used).map_or(0, |id| id + 1);
    // Added tokens behind all others get their ids by themselves; those between keep them in the vocabulary.
    let pieces = (0..end)
        .rev()
        .find(|id| !is_added(*id))
        .map_or(0, |id| id + 1);
    let vocabulary: Map<String, Value> = tokens[..pieces]
        .iter()
        .enumerate()
        .map(|(id, token)| (token.clone(), id.into()))
        .collect();
    let added = (0..end).filter(|id| is_added(*id)).map(|id| {
        let special = type_of(id) != token_type::USER_DEFINED;
        (id, tokens[id].clone(), special)
    });
    let merges = metadata::merges(metadata)?;
    let merges: Vec<[&str; 2]> = merges
        .into_iter()
        .map(|(left, right)| [left, right])
        .collect();
    let byte_level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false
    });
    let splits = kind.splits().iter().map(|pattern| {
        json!({
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false
        })
    });
    let steps: Vec<Value> = splits.chain([byte_level.clone()]).collect();
    Ok(Parts {
        edges: metadata::edges(metadata, tokens.len(), (None, None), kind.add_bos)?,
        unknown: None,
        added: added.collect(),
        normalizer: match kind.is_nfc() {
            true => json!({"type": "NFC"}),
            false => Value::Null,
        },
        pre_tokenizer: json!({"type": "Sequence", "pretokenizers": steps}),
        decoder: byte_level,
        model: json!({
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": kind.ignore_merges, "vocab": vocabulary, "merges": merges
        }),
        tokens,
    })
}

/// SentencePiece BPE, as Hugging Face's converter writes it: the merges are all ways to make a piece of two others,
/// those of higher scores first.
fn sentence_piece(metadata: &Metadata) -> Result<Parts> {
    let unsupported = |what: &str| {
        Err(Error::Unsupported(format!(
            "{}: tokenizer.json cannot describe its SentencePiece tokenizer ({what}); quantize the folder that the \
             file was made of",
            metadata.source
        )))
    };
    let (spellings, types) = metadata::tokens(metadata)?;
    let scores = metadata::scores(metadata, spellings.len())?;
    let type_of = |id: usize| metadata::type_of(types, id);
    let mut added = Vec::new();
    let mut pieces = HashMap::new();
    let (mut bytes, mut unknown) = (0, None);
    for (id, token) in spellings.iter().enumerate() {
        match type_of(id) {
            token_type::CONTROL => added.push((id, token.clone(), true)),
            token_type::UNKNOWN => {
                unknown.get_or_insert(id as u32);
                added.push((id, token.clone(), true));
            }
            token_type::USER_DEFINED => return unsupported("user-defined tokens"),
            token_type::UNUSED => return unsupported("unused tokens"),
            token_type::BYTE => bytes += 1,
            _ => _ = pieces.insert(token.as_str(), scores[id]),
        }
        if token.is_empty() {
            return unsupported("tokens without a spelling");
        }
    }
    if bytes != 256 || unknown.is_none() {
        return unsupported("tokens for some bytes only");
    }
    let mut merges = Vec::new();
    for (id, token) in spellings.iter().enumerate() {
        let Some(score) = pieces
            .get(token.as_str())
            .filter(|_| matches!(type_of(id), 0 | 1))
        else {
            continue;
        };
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if pieces.contains_key(left) && pieces.contains_key(right) {
                merges.push((*score, left, right));
            }
        }
    }
    merges.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    let merges: Vec<[&str; 2]> = merges.into_iter().map(|(_, l, r)| [l, r]).collect();
    let tokens = spellings.to_vec();
    let vocabulary: Map<String, Value> = tokens
        .iter()
        .enumerate()
        .map(|(id, token)| (token.clone(), id.into()))
        .collect();
    let space_prefix = metadata.flag("tokenizer.ggml.add_space_prefix")? != Some(false);
    let mark = SPACE_MARK.to_string();
    let mut normalizers =
        vec![json!({"type": "Replace", "pattern": {"String": " "}, "content": mark})];
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": mark}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if space_prefix {
        normalizers.insert(0, json!({"type": "Prepend", "prepend": mark}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    let unknown_text = unknown.and_then(|id: u32| tokens.get(id as usize)).cloned();
    Ok(Parts {
        edges: metadata::edges(metadata, tokens.len(), (Some(1), Some(2)), true)?,
        unknown,
        added,
        normalizer: json!({"type": "Sequence", "normalizers": normalizers}),
        pre_tokenizer: Value::Null,
        decoder: json!({"type": "Sequence", "decoders": decoders}),
        model: json!({
            "type": "BPE", "dropout": null, "unk_token": unknown_text,
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": true,
            "byte_fallback": true, "ignore_merges": false, "vocab": vocabulary, "merges": merges
        }),
        tokens,
    })
}
