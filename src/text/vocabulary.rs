//! The spellings of all tokens and the bytes they stand for.

use crate::formats::brief;
use crate::{Error, Result};
use std::hash::{BuildHasher, RandomState};

/// The mark that SentencePiece vocabularies spell a space with: U+2581.
pub(super) const SPACE_MARK: char = '\u{2581}';

/// How many ids a vocabulary may leave unused, so that one huge id cannot ask for gigabytes.
const MAX_HOLES: usize = 1 << 20;

/// How the pieces of a vocabulary spell bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Each byte is one printable character (GPT-2's table).
    ByteLevel,
    /// Text, with U+2581 for a space.
    SpaceMark,
    /// Text as it is.
    Plain,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of ordinary text, spelled in the vocabulary's [`Form`].
    Piece,
    /// Matched as it stands and given out as it stands, for example `<tool_call>`.
    UserDefined,
    /// A control token that ordinary text never contains, for example `<|im_end|>`.
    Control,
    /// One raw byte, spelled `<0x0A>`.
    Byte(u8),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    end: u32,
    kind: Option<Kind>,
    /// Whether the model may make it from ordinary text.
    piece: bool,
}

/// All tokens by id.
#[derive(Debug)]
pub(super) struct Vocabulary {
    form: Form,
    spellings: String,
    entries: Vec<Entry>,
    /// A hash table with open addressing: ids by spelling. Half of it at least is free.
    slots: Vec<u32>,
    hasher: RandomState,
}

/// A free slot.
const FREE: u32 = u32::MAX;

impl Vocabulary {
    /// An empty vocabulary.
    pub(super) fn new(form: Form) -> Vocabulary {
        Vocabulary {
            form,
            spellings: String::new(),
            entries: Vec::new(),
            slots: Vec::new(),
            hasher: RandomState::new(),
        }
    }

    /// Makes room for ids `0..len`. `tokens` is how many of them exist; `source` names the file.
    pub(super) fn reserve(&mut self, len: usize, tokens: usize, source: &str) -> Result<()> {
        if len > tokens.saturating_add(MAX_HOLES) || len > u32::MAX as usize {
            return Err(Error::InvalidFile(format!(
                "{source}: the highest token id is {}, but there are only {tokens} tokens",
                len.saturating_sub(1)
            )));
        }
        if len > self.entries.len() {
            let hole = Entry {
                start: 0,
                end: 0,
                kind: None,
                piece: false,
            };
            self.entries.resize(len, hole);
        }
        Ok(())
    }

    /// Sets the token `id`, which must lie inside the reserved range. Once a token is a piece or a
    /// byte, the model may make it, even if it is set again as an added token.
    pub(super) fn set(&mut self, id: u32, spelling: &str, kind: Kind, source: &str) -> Result<()> {
        let start = self.spellings.len();
        let end = start + spelling.len();
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else {
            return Err(Error::InvalidFile(format!(
                "{source}: the spellings of the tokens exceed 4 GiB"
            )));
        };
        let Some(entry) = self.entries.get_mut(id as usize) else {
            return Err(Error::InvalidFile(format!(
                "{source}: token id {id} lies outside the vocabulary"
            )));
        };
        self.spellings.push_str(spelling);
        *entry = Entry {
            start,
            end,
            kind: Some(kind),
            piece: entry.piece || matches!(kind, Kind::Piece | Kind::Byte(_)),
        };
        Ok(())
    }

    /// Makes tokens findable by spelling, after the last `set`. Two tokens with one spelling are
    /// an error.
    pub(super) fn index(&mut self, source: &str) -> Result<()> {
        let size = (self.entries.len() * 2 + 1).next_power_of_two();
        self.slots = vec![FREE; size];
        for id in 0..self.entries.len() as u32 {
            let Some(spelling) = self.spelling(id) else {
                continue;
            };
            let (at, found) = self.find(spelling);
            if let Some(first) = found {
                return Err(Error::InvalidFile(format!(
                    "{source}: tokens {first} and {id} are both spelled {:?}",
                    brief(spelling)
                )));
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = id;
            }
        }
        Ok(())
    }

    /// The slot where the spelling is or belongs, and its id.
    fn find(&self, spelling: &str) -> (usize, Option<u32>) {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = self.hasher.hash_one(spelling) as usize & mask;
        while let Some(id) = self.slots.get(at).filter(|id| **id != FREE) {
            if self.spelling(*id) == Some(spelling) {
                return (at, Some(*id));
            }
            at = (at + 1) & mask;
        }
        (at, None)
    }

    /// The id of a spelling.
    pub(super) fn id(&self, spelling: &str) -> Option<u32> {
        self.find(spelling).1
    }

    /// The id of a spelling that the model may make from ordinary text.
    pub(super) fn piece(&self, spelling: &str) -> Option<u32> {
        let id = self.id(spelling)?;
        self.entries.get(id as usize)?.piece.then_some(id)
    }

    /// Ids are `0..len`.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the token is; `None` where the id has no token.
    pub(super) fn kind(&self, id: u32) -> Option<Kind> {
        self.entries.get(id as usize)?.kind
    }

    /// The spelling; `None` where the id has no token.
    pub(super) fn spelling(&self, id: u32) -> Option<&str> {
        let entry = self.entries.get(id as usize)?;
        entry.kind?;
        self.spellings.get(entry.start as usize..entry.end as usize)
    }

    /// Appends the bytes that the token stands for. False where the id has no token.
    pub(super) fn push_bytes(&self, id: u32, out: &mut Vec<u8>) -> bool {
        let (Some(kind), Some(spelling)) = (self.kind(id), self.spelling(id)) else {
            return false;
        };
        match (kind, self.form) {
            (Kind::Byte(byte), _) => out.push(byte),
            (Kind::Piece, Form::ByteLevel) => push_byte_level(spelling, out),
            (Kind::Piece | Kind::UserDefined, Form::SpaceMark) => {
                let mut rest = spelling;
                while let Some((text, after)) = rest.split_once(SPACE_MARK) {
                    out.extend_from_slice(text.as_bytes());
                    out.push(b' ');
                    rest = after;
                }
                out.extend_from_slice(rest.as_bytes());
            }
            _ => out.extend_from_slice(spelling.as_bytes()),
        }
        true
    }
}

/// The byte of a spelling like `<0x0A>`.
pub(super) fn byte_token(spelling: &str) -> Option<u8> {
    let hex = spelling.strip_prefix("<0x")?.strip_suffix('>')?;
    if hex.len() != 2 || !hex.bytes().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    u8::from_str_radix(hex, 16).ok()
}

/// Appends the bytes that a byte-level spelling stands for. A spelling that holds any other
/// character stands for itself.
fn push_byte_level(spelling: &str, out: &mut Vec<u8>) {
    let start = out.len();
    for c in spelling.chars() {
        match byte_of_char(c) {
            Some(byte) => out.push(byte),
            None => {
                out.truncate(start);
                out.extend_from_slice(spelling.as_bytes());
                return;
            }
        }
    }
}

/// The byte that a character of GPT-2's table stands for. The table keeps the printable Latin-1
/// characters and numbers the other 68 bytes, in order, from U+0100.
fn byte_of_char(c: char) -> Option<u8> {
    match c as u32 {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        // 0x00–0x20, then 0x7F–0xA0, then 0xAD.
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8),
        0x143 => Some(0xAD),
        _ => None,
    }
}

/// The character that stands for a byte in GPT-2's table.
pub(super) fn char_of_byte(byte: u8) -> char {
    let code = match byte {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => u32::from(byte),
        0x00..=0x20 => u32::from(byte) + 0x100,
        0x7F..=0xA0 => u32::from(byte) - 0x7F + 0x121,
        0xAD => 0x143,
    };
    // The codes above are all below the surrogates.
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_table_is_a_bijection() {
        let mut seen = std::collections::HashSet::new();
        for byte in 0..=255u8 {
            let c = char_of_byte(byte);
            assert!(seen.insert(c), "{c} twice");
            assert!(!c.is_whitespace() && !c.is_control(), "{byte:#x} → {c:?}");
            assert_eq!(byte_of_char(c), Some(byte));
        }
        // Fixed points everyone knows: a space, a newline.
        assert_eq!(char_of_byte(b' '), 'Ġ');
        assert_eq!(char_of_byte(b'\n'), 'Ċ');
        assert_eq!(byte_of_char(' '), None);
        assert_eq!(byte_of_char('\u{144}'), None);
    }

    #[test]
    fn byte_tokens_are_read_strictly() {
        assert_eq!(byte_token("<0x0A>"), Some(10));
        assert_eq!(byte_token("<0xff>"), Some(255));
        for wrong in ["<0x>", "<0x1>", "<0x+1>", "<0x100>", "0x0A", "<0x0A", ""] {
            assert_eq!(byte_token(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_huge_id_does_not_allocate() {
        let mut vocabulary = Vocabulary::new(Form::ByteLevel);
        let error = vocabulary.reserve(u32::MAX as usize, 10, "x").unwrap_err();
        assert!(matches!(error, Error::InvalidFile(_)), "{error}");
        assert_eq!(vocabulary.len(), 0);
        assert!(vocabulary.set(0, "a", Kind::Piece, "x").is_err());
    }

    #[test]
    fn spellings_are_found_and_doubles_refused() {
        let mut v = Vocabulary::new(Form::ByteLevel);
        assert_eq!(v.id("a"), None);
        v.reserve(1003, 1000, "x").unwrap();
        for id in 0..1000 {
            v.set(id, &format!("t{id}"), Kind::Piece, "x").unwrap();
        }
        v.index("x").unwrap();
        for id in 0..1000 {
            assert_eq!(v.id(&format!("t{id}")), Some(id));
        }
        assert_eq!(v.id("t1000"), None);
        assert_eq!(v.id(""), None);
        v.set(1001, "t7", Kind::Piece, "x").unwrap();
        let error = v.index("x").unwrap_err().to_string();
        assert!(error.contains("7 and 1001"), "{error}");
    }

    #[test]
    fn bytes_follow_the_kind() {
        let mut v = Vocabulary::new(Form::SpaceMark);
        v.reserve(5, 4, "x").unwrap();
        v.set(0, "<s>\u{2581}", Kind::Control, "x").unwrap();
        v.set(1, "\u{2581}a\u{2581}", Kind::Piece, "x").unwrap();
        v.set(2, "<0xE4>", Kind::Byte(0xE4), "x").unwrap();
        v.set(4, "\u{2581}\u{2581}", Kind::UserDefined, "x")
            .unwrap();
        let bytes = |id| {
            let mut out = Vec::new();
            v.push_bytes(id, &mut out).then_some(out)
        };
        assert_eq!(bytes(0).unwrap(), "<s>\u{2581}".as_bytes());
        assert_eq!(bytes(1).unwrap(), b" a ");
        assert_eq!(bytes(2).unwrap(), [0xE4]);
        assert_eq!(bytes(3), None);
        assert_eq!(bytes(4).unwrap(), b"  ");
        assert_eq!(v.spelling(3), None);
        assert_eq!(v.spelling(5), None);
    }
}
