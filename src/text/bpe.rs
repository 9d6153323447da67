//! Byte-pair encoding with a list of merges, as Hugging Face's `tokenizers` does it.

use super::added::{AddedTokens, Segment};
use crate::{Error, Result};
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::{
    AddedVocabulary, Model, Normalizer, NormalizerWrapper, OffsetType, PreTokenizedString,
    PreTokenizer, PreTokenizerWrapper,
};

/// How added tokens are found in the text.
pub(super) enum Finder {
    /// As they stand.
    Plain(Box<AddedTokens>),
    /// With the flags of a `tokenizer.json` (normalized, single words, stripped spaces).
    Flags {
        /// Finds all added tokens.
        all: Box<AddedVocabulary>,
        /// Finds those that are not special.
        ordinary: Box<AddedVocabulary>,
    },
}

/// The encoder. Immutable: any thread.
pub(super) struct Bpe {
    pub(super) model: BPE,
    pub(super) normalizer: Option<NormalizerWrapper>,
    pub(super) pre_tokenizer: Option<PreTokenizerWrapper>,
    pub(super) finder: Finder,
}

/// Options of the model besides vocabulary and merges.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) unknown: Option<String>,
    pub(super) fuse_unknown: bool,
    pub(super) byte_fallback: bool,
    pub(super) ignore_merges: bool,
}

/// Builds the model; `source` names the file in errors.
pub(super) fn build(
    vocab: Vocab,
    merges: Vec<(String, String)>,
    options: Options,
    source: &str,
) -> Result<BPE> {
    let invalid = |what: String| Error::InvalidFile(format!("{source}: {what}"));
    // The crate copies both halves of a merge into a buffer as long as the longest token.
    let longest = vocab.keys().map(String::len).max().unwrap_or(0);
    if let Some((rank, (a, b))) = merges
        .iter()
        .enumerate()
        .find(|(_, (a, b))| a.len() + b.len() > longest)
    {
        return Err(invalid(format!(
            "merge {rank} ({a:?} with {b:?}) makes a token that is not in the vocabulary"
        )));
    }
    if let Some(unknown) = options.unknown.as_ref().filter(|u| !vocab.contains_key(*u)) {
        return Err(invalid(format!(
            "the unknown token {unknown:?} is not in the vocabulary"
        )));
    }
    // No cache: it would live in each calling thread and outlast the tokenizer.
    let mut builder = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .cache_capacity(0)
        .fuse_unk(options.fuse_unknown)
        .byte_fallback(options.byte_fallback)
        .ignore_merges(options.ignore_merges);
    if let Some(unknown) = options.unknown {
        builder = builder.unk_token(unknown);
    }
    builder
        .build()
        .map_err(|error| invalid(format!("merges: {error}")))
}

impl Bpe {
    /// Appends the tokens of the text.
    pub(super) fn encode(
        &self,
        text: &str,
        parse_special: bool,
        out: &mut Vec<u32>,
    ) -> tokenizers::Result<()> {
        match &self.finder {
            Finder::Plain(added) => {
                for segment in added.split(text, parse_special) {
                    match segment {
                        Segment::Token(id) => out.push(id),
                        Segment::Text(text) => {
                            let mut words = PreTokenizedString::from(text);
                            if let Some(normalizer) = &self.normalizer {
                                words.normalize(|word| normalizer.normalize(word))?;
                            }
                            self.words(words, out)?;
                        }
                    }
                }
                Ok(())
            }
            Finder::Flags { all, ordinary } => {
                let finder = if parse_special { all } else { ordinary };
                let words = finder.extract_and_normalize(self.normalizer.as_ref(), text);
                self.words(words, out)
            }
        }
    }

    fn words(&self, mut words: PreTokenizedString, out: &mut Vec<u32>) -> tokenizers::Result<()> {
        if let Some(pre_tokenizer) = &self.pre_tokenizer {
            pre_tokenizer.pre_tokenize(&mut words)?;
        }
        words.tokenize(|word| self.model.tokenize(word.get()))?;
        let encoding = words.into_encoding(None, 0, OffsetType::None)?;
        out.extend_from_slice(encoding.get_ids());
        Ok(())
    }
}
