//! The parts of a `tokenizer.json` besides its model: normalizer, pre-tokenizer, post-processor.

use super::normalizer::Normalizer;
use super::pre_tokenizer::GPT2;
use super::vocabulary::Vocabulary;
use super::words::{Prepend, SpaceMark, Step};
use crate::{Error, Result};
use serde_json::Value;
use tokenizers::PreTokenizerWrapper;

/// How many steps a normalizer or pre-tokenizer may have.
const MAX_STEPS: usize = 64;

/// How many times longer a normalizer's replacements may make a text.
const MAX_GROWTH: usize = 64;

/// How many tokens may stand around a raw prompt.
const MAX_EDGE: usize = 64;

/// Normalizers that cannot fail or grow a text without end.
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

/// Pre-tokenizers that cannot fail.
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

/// The `type` of a component.
pub(super) fn type_of(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or("")
}

/// The steps of a component: those of a sequence (of sequences), or itself.
fn steps<'a>(value: &'a Value, list: &str, out: &mut Vec<&'a Value>) {
    if type_of(value) == "Sequence" {
        for step in value
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            steps(step, list, out);
        }
    } else if !value.is_null() {
        out.push(value);
    }
}

/// The steps, all of types on a list.
fn allowed_steps<'a>(
    value: &'a Value,
    name: &str,
    list: &str,
    allowed: &[&str],
    source: &str,
) -> Result<Vec<&'a Value>> {
    let mut found = Vec::new();
    steps(value, list, &mut found);
    if let Some(other) = found
        .iter()
        .map(|s| type_of(s))
        .find(|t| !allowed.contains(t))
    {
        return Err(Error::Unsupported(format!(
            "{source}: {name} of type {other:?} is not supported; supported are Sequence, {}",
            allowed.join(", ")
        )));
    }
    if found.len() > MAX_STEPS {
        return Err(Error::InvalidFile(format!(
            "{source}: {name} has {} steps; {MAX_STEPS} at most",
            found.len()
        )));
    }
    Ok(found)
}

/// Reads the `normalizer`.
pub(super) fn normalizer(value: &Value, source: &str) -> Result<Normalizer> {
    let invalid = |what: String| Error::InvalidFile(format!("{source}: normalizer: {what}"));
    let list = allowed_steps(value, "normalizer", "normalizers", &NORMALIZERS, source)?;
    let mut growth = 1usize;
    for step in list {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::len);
        match type_of(step) {
            "Replace" => {
                let pattern = step.get("pattern");
                // What a regular expression matches may be empty, which stands between characters.
                let from = text(pattern.and_then(|p| p.get("String"))).unwrap_or(0);
                let to = text(step.get("content")).unwrap_or(0);
                let factor = if from == 0 {
                    to + 1
                } else {
                    to.div_ceil(from).max(1)
                };
                growth = growth.saturating_mul(factor);
            }
            "Prepend" if text(step.get("prepend")).unwrap_or(0) > MAX_GROWTH => {
                return Err(invalid("the text to prepend is too long".into()));
            }
            _ => {}
        }
    }
    if growth > MAX_GROWTH {
        return Err(invalid(format!(
            "its replacements could make a text more than {MAX_GROWTH} times longer"
        )));
    }
    if value.is_null() {
        return Ok(Normalizer::default());
    }
    serde_json::from_value(value.clone())
        .map(Normalizer::new)
        .map_err(|error| invalid(error.to_string()))
}

/// How text is cut into words.
pub(super) struct Cutting {
    pub(super) steps: Vec<Step>,
    /// Whether words are spelled byte by byte with GPT-2's table.
    pub(super) byte_level: bool,
}

/// Reads the `pre_tokenizer`.
pub(super) fn cutting(value: &Value, source: &str) -> Result<Cutting> {
    let invalid = |what: String| Error::InvalidFile(format!("{source}: pre_tokenizer: {what}"));
    let list = allowed_steps(
        value,
        "pre_tokenizer",
        "pretokenizers",
        &PRE_TOKENIZERS,
        source,
    )?;
    let mut cutting = Cutting {
        steps: Vec::new(),
        byte_level: false,
    };
    let last = list.len().saturating_sub(1);
    for (index, step) in list.into_iter().enumerate() {
        let text = |key: &str| step.get(key).and_then(Value::as_str);
        let flag = |key: &str, default| step.get(key).and_then(Value::as_bool).unwrap_or(default);
        let pattern = match type_of(step) {
            "Split" if text("behavior") == Some("Isolated") && !flag("invert", false) => step
                .get("pattern")
                .and_then(|p| p.get("Regex"))
                .and_then(Value::as_str),
            "Digits" if flag("individual_digits", false) => Some(r"\p{N}"),
            // The change of bytes into characters is left to the merges.
            "ByteLevel" if index == last && !flag("add_prefix_space", true) => {
                cutting.byte_level = true;
                if !flag("use_regex", true) {
                    continue;
                }
                Some(GPT2)
            }
            "Metaspace" if text("replacement") == Some("\u{2581}") => {
                let old = flag("add_prefix_space", true);
                let prepend = match text("prepend_scheme") {
                    Some("always") => Prepend::Always,
                    Some("first") => Prepend::First,
                    Some("never") => Prepend::Never,
                    None if old => Prepend::Always,
                    None => Prepend::Never,
                    Some(other) => {
                        return Err(invalid(format!("the prepend_scheme {other:?} is unknown")));
                    }
                };
                cutting.steps.push(Step::SpaceMark(SpaceMark {
                    prepend,
                    split: flag("split", true),
                }));
                continue;
            }
            _ => None,
        };
        cutting.steps.push(match pattern {
            Some(pattern) => Step::split(pattern).map_err(invalid)?,
            None => {
                let other: PreTokenizerWrapper = serde_json::from_value(step.clone())
                    .map_err(|error| invalid(error.to_string()))?;
                Step::Other(Box::new(other))
            }
        });
    }
    Ok(cutting)
}

/// What the post-processor puts around a raw prompt.
pub(super) fn edges(
    processor: &Value,
    vocabulary: &Vocabulary,
    source: &str,
) -> Result<(Vec<u32>, Vec<u32>)> {
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
