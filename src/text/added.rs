//! Tokens that are found in the text before it is split into words: control tokens and
//! user-defined ones.

use crate::{Error, Result};
use std::sync::LazyLock;
use tokenizers::utils::SysRegex;

/// No token of this sort is longer; bounds the work a hostile vocabulary can cause per character.
const MAX_BYTES: usize = 4096;

/// One such token.
#[derive(Debug, Clone)]
pub(super) struct Added {
    pub(super) text: String,
    pub(super) id: u32,
    /// Found only where special tokens are parsed.
    pub(super) special: bool,
    /// Found only where no word character stands beside it.
    pub(super) single_word: bool,
    /// Takes the spaces before it along.
    pub(super) lstrip: bool,
    /// Takes the spaces after it along.
    pub(super) rstrip: bool,
}

impl Added {
    /// A token that is found as it stands.
    pub(super) fn new(text: String, id: u32, special: bool) -> Added {
        Added {
            text,
            id,
            special,
            single_word: false,
            lstrip: false,
            rstrip: false,
        }
    }
}

/// A set of added tokens. Immutable: any thread.
#[derive(Debug)]
pub(super) struct AddedTokens {
    /// Sorted by text, no text twice.
    tokens: Vec<Added>,
    /// Which bytes begin a token.
    first: [bool; 256],
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// Ordinary text, never empty.
    Text(&'a str),
    /// An added token.
    Token(u32),
}

/// Whether `\w` matches it.
fn is_word(c: char) -> bool {
    static WORD: LazyLock<Option<SysRegex>> = LazyLock::new(|| SysRegex::new(r"\w").ok());
    let word = |pattern: &SysRegex| {
        let mut buffer = [0; 4];
        pattern
            .find_iter(c.encode_utf8(&mut buffer))
            .next()
            .is_some()
    };
    WORD.as_ref().is_some_and(word)
}

impl AddedTokens {
    /// `source` names the file. Empty texts are never found; of equal texts the lowest id is.
    pub(super) fn new(mut tokens: Vec<Added>, source: &str) -> Result<AddedTokens> {
        let mut first = [false; 256];
        tokens.retain(|token| !token.text.is_empty());
        for token in &tokens {
            if token.text.len() > MAX_BYTES {
                return Err(Error::InvalidFile(format!(
                    "{source}: token {} is an added token of {} bytes; {MAX_BYTES} at most",
                    token.id,
                    token.text.len()
                )));
            }
            let byte = token.text.as_bytes().first().copied().unwrap_or_default();
            if let Some(first) = first.get_mut(usize::from(byte)) {
                *first = true;
            }
        }
        tokens.sort_by(|a, b| a.text.cmp(&b.text).then(a.id.cmp(&b.id)));
        tokens.dedup_by(|b, a| a.text == b.text);
        Ok(AddedTokens { tokens, first })
    }

    /// The id of the token with this text.
    pub(super) fn id(&self, text: &str) -> Option<u32> {
        let at = self.tokens.binary_search_by(|t| (*t.text).cmp(text)).ok()?;
        self.tokens.get(at).map(|t| t.id)
    }

    /// The longest token that `text` begins with: its id and length in bytes.
    pub(super) fn longest(&self, text: &str, parse_special: bool) -> Option<(u32, usize)> {
        let token = self.find(text, parse_special)?;
        Some((token.id, token.text.len()))
    }

    fn find(&self, text: &str, parse_special: bool) -> Option<&Added> {
        let bytes = text.as_bytes();
        if !*self.first.get(usize::from(*bytes.first()?))? {
            return None;
        }
        let mut candidates = &self.tokens[..];
        let mut found = None;
        for (at, byte) in bytes.iter().enumerate() {
            // Keep the tokens that agree with the text up to and including `at`.
            let low = candidates.partition_point(|t| t.text.as_bytes().get(at) < Some(byte));
            let high = candidates.partition_point(|t| t.text.as_bytes().get(at) <= Some(byte));
            candidates = candidates.get(low..high).unwrap_or_default();
            let Some(shortest) = candidates.first() else {
                break;
            };
            if shortest.text.len() == at + 1 && (parse_special || !shortest.special) {
                found = Some(shortest);
            }
        }
        found
    }

    /// Cuts the text at the leftmost, longest added tokens.
    pub(super) fn split<'a>(&self, text: &'a str, parse_special: bool) -> Vec<Segment<'a>> {
        let mut segments = Vec::new();
        // Text before `start` is given out.
        let (mut start, mut at) = (0, 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let Some(token) = self.find(rest, parse_special) else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            let before = text.get(start..at).unwrap_or_default();
            let after = rest.get(token.text.len()..).unwrap_or_default();
            at += token.text.len();
            if token.single_word {
                let left = text.get(..at - token.text.len()).unwrap_or_default();
                if left.chars().next_back().is_some_and(is_word) || after.starts_with(is_word) {
                    continue;
                }
            }
            let before = if token.lstrip {
                before.trim_end()
            } else {
                before
            };
            if !before.is_empty() {
                segments.push(Segment::Text(before));
            }
            segments.push(Segment::Token(token.id));
            if token.rstrip {
                at += after.len() - after.trim_start().len();
            }
            start = at;
        }
        if let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            segments.push(Segment::Text(rest));
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> AddedTokens {
        let list = [
            ("<a>", 1, true),
            ("<a>b", 2, true),
            ("<tool>", 3, false),
            ("<a", 4, false),
            ("é", 5, false),
        ];
        let list = list
            .map(|(t, i, s)| Added::new(t.to_string(), i, s))
            .to_vec();
        AddedTokens::new(list, "x").unwrap()
    }

    #[test]
    fn leftmost_longest() {
        use Segment::*;
        let t = tokens();
        assert_eq!(t.split("", true), []);
        assert_eq!(t.split("x<a>by", true), [Text("x"), Token(2), Text("y")]);
        assert_eq!(t.split("<a><a", true), [Token(1), Token(4)]);
        assert_eq!(t.split("<tool", true), [Text("<tool")]);
        assert_eq!(t.split("aé<", true), [Text("a"), Token(5), Text("<")]);
    }

    #[test]
    fn special_tokens_are_text_unless_parsed() {
        use Segment::*;
        let t = tokens();
        assert_eq!(t.split("<a>b", false), [Token(4), Text(">b")]);
        assert_eq!(t.split("<tool>", false), [Token(3)]);
        assert_eq!(t.id("<a>"), Some(1));
        assert_eq!(t.id("<"), None);
    }

    #[test]
    fn stripped_spaces_and_single_words() {
        use Segment::*;
        let mut left = Added::new("<l>".into(), 1, true);
        left.lstrip = true;
        let mut right = Added::new("<r>".into(), 2, true);
        right.rstrip = true;
        let mut word = Added::new("yes".into(), 3, false);
        word.single_word = true;
        let t = AddedTokens::new(vec![left, right, word], "x").unwrap();
        assert_eq!(
            t.split("a \n<l> b", true),
            [Text("a"), Token(1), Text(" b")]
        );
        assert_eq!(t.split(" <l>", true), [Token(1)]);
        assert_eq!(
            t.split("a <r> \nb", true),
            [Text("a "), Token(2), Text("b")]
        );
        assert_eq!(t.split("<r>  <l>", true), [Token(2), Token(1)]);
        assert_eq!(
            t.split("yes, eyes yesyes", true),
            [Token(3), Text(", eyes yesyes")]
        );
    }

    #[test]
    fn an_overlong_token_is_refused() {
        let list = vec![Added::new("x".repeat(MAX_BYTES + 1), 0, true)];
        assert!(AddedTokens::new(list, "x").is_err());
    }
}
