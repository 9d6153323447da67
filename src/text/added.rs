//! Tokens that are found in the text before it is split into words: control tokens and
//! user-defined ones.

use crate::{Error, Result};

/// No token of this sort is longer; bounds the work a hostile vocabulary can cause per character.
const MAX_BYTES: usize = 4096;

#[derive(Debug)]
struct Added {
    text: Box<str>,
    id: u32,
    special: bool,
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

impl AddedTokens {
    /// `tokens` are (text, id, special); special ones are found only where special tokens are
    /// parsed. `source` names the file.
    pub(super) fn new(tokens: Vec<(String, u32, bool)>, source: &str) -> Result<AddedTokens> {
        let mut first = [false; 256];
        let mut list = Vec::with_capacity(tokens.len());
        for (text, id, special) in tokens {
            let Some(&byte) = text.as_bytes().first() else {
                continue;
            };
            if text.len() > MAX_BYTES {
                return Err(Error::InvalidFile(format!(
                    "{source}: token {id} is a special token of {} bytes; {MAX_BYTES} at most",
                    text.len()
                )));
            }
            if let Some(first) = first.get_mut(usize::from(byte)) {
                *first = true;
            }
            list.push(Added {
                text: text.into_boxed_str(),
                id,
                special,
            });
        }
        list.sort_by(|a, b| a.text.cmp(&b.text).then(a.id.cmp(&b.id)));
        list.dedup_by(|b, a| a.text == b.text);
        Ok(AddedTokens {
            tokens: list,
            first,
        })
    }

    /// The id of the token with this text.
    pub(super) fn id(&self, text: &str) -> Option<u32> {
        let at = self.tokens.binary_search_by(|t| (*t.text).cmp(text)).ok()?;
        self.tokens.get(at).map(|t| t.id)
    }

    /// The longest token that `text` begins with: its id and length in bytes.
    pub(super) fn longest(&self, text: &str, parse_special: bool) -> Option<(u32, usize)> {
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
                found = Some((shortest.id, at + 1));
            }
        }
        found
    }

    /// Cuts the text at the leftmost, longest added tokens.
    pub(super) fn split<'a>(&self, text: &'a str, parse_special: bool) -> Vec<Segment<'a>> {
        let mut segments = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((id, len)) = self.longest(rest, parse_special) else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            if start < at {
                segments.extend(text.get(start..at).map(Segment::Text));
            }
            segments.push(Segment::Token(id));
            at += len;
            start = at;
        }
        if start < text.len() {
            segments.extend(text.get(start..).map(Segment::Text));
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
        let list = list.map(|(t, i, s)| (t.to_string(), i, s)).to_vec();
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
    fn an_overlong_token_is_refused() {
        let list = vec![("x".repeat(MAX_BYTES + 1), 0, true)];
        assert!(AddedTokens::new(list, "x").is_err());
    }
}
