//! The content of `tokenizer.json` and `tokenizer_config.json`.

use super::merger::Options;
use crate::formats::brief;
use crate::formats::read_text;
use crate::{Error, Result};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::path::Path;

/// The largest `tokenizer_config.json` read, in bytes.
const MAX_CONFIG: u64 = 64 << 20;

/// A `tokenizer.json`.
#[derive(Deserialize)]
pub(super) struct File {
    #[serde(default)]
    pub(super) normalizer: Value,
    #[serde(default)]
    pub(super) pre_tokenizer: Value,
    #[serde(default)]
    pub(super) post_processor: Value,
    #[serde(default)]
    pub(super) decoder: Value,
    #[serde(default, deserialize_with = "listed_tokens")]
    pub(super) added_tokens: Vec<TokenFields>,
    pub(super) model: ModelFields,
}

/// Its `model`.
#[derive(Deserialize)]
pub(super) struct ModelFields {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    dropout: Option<f32>,
    #[serde(default)]
    unk_token: Option<String>,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    fuse_unk: bool,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
    vocab: VocabField,
    #[serde(default)]
    merges: Vec<Merge>,
}

/// A BPE model.
pub(super) struct BpeModel {
    pub(super) vocab: Vec<(String, u32)>,
    pub(super) merges: Vec<Merge>,
    pub(super) options: Options,
}

impl ModelFields {
    /// The fields of a BPE model.
    pub(super) fn into_bpe(self, source: &str) -> Result<BpeModel> {
        let unsupported = |what: &str| {
            Err(Error::Unsupported(format!(
                "{source}: model: {what} not supported; supported is BPE"
            )))
        };
        // Old files name no type; those with merges are BPE.
        match self.kind.as_deref() {
            Some("BPE") | None => {}
            Some(other) => return unsupported(&format!("the type {:?} is", brief(other))),
        }
        let VocabField(Some(vocab)) = self.vocab else {
            return unsupported("a vocabulary that is no object of token: id is");
        };
        for affix in [self.continuing_subword_prefix, self.end_of_word_suffix] {
            if affix.is_some_and(|affix| !affix.is_empty()) {
                return unsupported("continuing_subword_prefix or end_of_word_suffix is");
            }
        }
        if self.dropout.is_some_and(|dropout| dropout != 0.0) {
            return unsupported("dropout is");
        }
        let options = Options {
            unknown: self.unk_token,
            fuse_unknown: self.fuse_unk,
            byte_fallback: self.byte_fallback,
            ignore_merges: self.ignore_merges,
        };
        Ok(BpeModel {
            vocab,
            merges: self.merges,
            options,
        })
    }
}

/// A vocabulary; `None` where it is a list, as in Unigram models.
struct VocabField(Option<Vec<(String, u32)>>);

impl<'de> Deserialize<'de> for VocabField {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<VocabField, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = VocabField;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object of token: id")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VocabField, A::Error> {
                let mut vocab = Vec::new();
                while let Some((token, id)) = map.next_entry::<String, u32>()? {
                    vocab.push((token, id));
                }
                Ok(VocabField(Some(vocab)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<VocabField, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(VocabField(None))
            }
        }
        deserializer.deserialize_any(Fields)
    }
}

/// A merge: `"left right"` or `["left", "right"]`.
pub(super) struct Merge {
    pub(super) left: String,
    pub(super) right: String,
}

impl<'de> Deserialize<'de> for Merge {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Merge, D::Error> {
        struct Halves;
        impl<'de> Visitor<'de> for Halves {
            type Value = Merge;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a merge, \"left right\" or [\"left\", \"right\"]")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Merge, E> {
                match text.split_once(' ') {
                    Some((left, right)) if !right.contains(' ') => Ok(Merge {
                        left: left.to_string(),
                        right: right.to_string(),
                    }),
                    _ => Err(E::custom(format!(
                        "{:?} is no merge of two tokens",
                        brief(text)
                    ))),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merge, A::Error> {
                use serde::de::Error;
                let short = || A::Error::custom("a merge of fewer than two tokens");
                let left = list.next_element()?.ok_or_else(short)?;
                let right = list.next_element()?.ok_or_else(short)?;
                if list.next_element::<IgnoredAny>()?.is_some() {
                    return Err(A::Error::custom("a merge of more than two tokens"));
                }
                Ok(Merge { left, right })
            }
        }
        deserializer.deserialize_any(Halves)
    }
}

/// An added token as both files write it. `id` is only in `tokenizer.json`.
#[derive(Deserialize)]
pub(super) struct TokenFields {
    #[serde(default)]
    pub(super) id: u32,
    pub(super) content: String,
    #[serde(default)]
    pub(super) single_word: bool,
    #[serde(default)]
    pub(super) lstrip: bool,
    #[serde(default)]
    pub(super) rstrip: bool,
    /// Found in the normalized text; without it, where the token is not special.
    pub(super) normalized: Option<bool>,
    #[serde(default)]
    pub(super) special: bool,
}

fn listed_tokens<'de, D>(deserializer: D) -> Result<Vec<TokenFields>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let list: Option<Vec<TokenFields>> = Deserialize::deserialize(deserializer)?;
    Ok(list.unwrap_or_default())
}

/// What is used of `tokenizer_config.json` and `special_tokens_map.json`.
#[derive(Default)]
pub(super) struct Settings {
    /// Spelling.
    pub(super) bos: Option<String>,
    /// Spelling.
    pub(super) eos: Option<String>,
    pub(super) add_bos: Option<bool>,
    pub(super) add_eos: Option<bool>,
    /// `added_tokens_decoder`.
    pub(super) added: Vec<TokenFields>,
}

type Object = serde_json::Map<String, Value>;

/// One of the JSON objects beside `tokenizer.json`; empty where the file is missing.
pub(super) fn read_object(folder: &Path, name: &str) -> Result<Object> {
    let path = folder.join(name);
    let Some(text) = read_text(&path, MAX_CONFIG)? else {
        return Ok(Object::new());
    };
    serde_json::from_str(&text)
        .map_err(|error| Error::InvalidFile(format!("{}: {}", path.display(), brief(error))))
}

/// The spelling of a token that a configuration gives as text or as an object.
pub(super) fn token_text(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let text = value.as_str().or_else(|| value.get("content")?.as_str());
    text.map(str::to_string)
}

impl Settings {
    /// Reads them; missing files and fields are fine.
    pub(super) fn read(folder: &Path) -> Result<Settings> {
        let name = "tokenizer_config.json";
        let config = read_object(folder, name)?;
        let map = read_object(folder, "special_tokens_map.json")?;
        Settings::from_objects(&config, &map, &folder.join(name).display().to_string())
    }

    /// The settings of both files' content; `source` names the configuration.
    pub(super) fn from_objects(config: &Object, map: &Object, source: &str) -> Result<Settings> {
        let spelling = |key: &str| token_text(config.get(key)).or_else(|| token_text(map.get(key)));
        let mut added = Vec::new();
        let list = config
            .get("added_tokens_decoder")
            .and_then(Value::as_object);
        for (id, fields) in list.into_iter().flatten() {
            let invalid = |what: String| {
                Error::InvalidFile(format!("{source}: added_tokens_decoder: {what}"))
            };
            let number = id
                .parse()
                .map_err(|_| invalid(format!("{:?} is no id", brief(id))))?;
            let mut fields: TokenFields = serde_json::from_value(fields.clone())
                .map_err(|error| invalid(format!("{id}: {}", brief(error))))?;
            fields.id = number;
            added.push(fields);
        }
        Ok(Settings {
            bos: spelling("bos_token"),
            eos: spelling("eos_token"),
            add_bos: config.get("add_bos_token").and_then(Value::as_bool),
            add_eos: config.get("add_eos_token").and_then(Value::as_bool),
            added,
        })
    }
}
