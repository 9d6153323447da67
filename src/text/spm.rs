//! SentencePiece's BPE: merges by score instead of by a list of merges.
//!
//! Formula: start with one symbol a character (user-defined pieces stay whole and never merge).
//! While two neighbours together spell a piece, merge the pair whose piece has the highest score,
//! the leftmost of equals. Pieces marked unused take part in merging but are taken apart again at
//! the end. A symbol that is no piece becomes its bytes `<0x..>`, or one unknown token where the
//! vocabulary has no bytes (neighbouring unknown symbols become one).
//! Source: Kudo and Richardson 2018, and the behaviour of the published library.

use super::added::AddedTokens;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// Marks an end of the list of symbols.
const NONE: usize = usize::MAX;

/// A piece of the vocabulary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Its token.
    pub(super) id: u32,
    /// Higher merges earlier.
    pub(super) score: f32,
    /// Whether it must not come out.
    pub(super) unused: bool,
}

/// The encoder. Immutable: any thread.
#[derive(Debug)]
pub(super) struct Spm {
    pieces: HashMap<String, Piece>,
    /// User-defined pieces, found in the normalized text.
    whole: AddedTokens,
    /// The token of each byte, where the vocabulary has all 256.
    bytes: Option<Box<[u32; 256]>>,
    unknown: Option<u32>,
    longest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Symbol {
    start: usize,
    /// 0 after it was merged into its left neighbour.
    len: usize,
    previous: usize,
    next: usize,
    frozen: bool,
}

/// A possible merge of two neighbours.
#[derive(Debug, PartialEq)]
struct Pair {
    score: f32,
    left: usize,
    right: usize,
    /// Bytes of both when it was found: tells whether it is out of date.
    len: usize,
}

impl Eq for Pair {}

impl Ord for Pair {
    fn cmp(&self, other: &Pair) -> Ordering {
        let score = self.score.total_cmp(&other.score);
        score.then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Pair) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The merges that produced unused pieces: piece → length of its left part.
type Origins<'a> = HashMap<&'a str, usize>;

impl Spm {
    pub(super) fn new(
        pieces: HashMap<String, Piece>,
        whole: AddedTokens,
        bytes: Option<Box<[u32; 256]>>,
        unknown: Option<u32>,
    ) -> Spm {
        let longest = pieces.keys().map(String::len).max().unwrap_or(0);
        Spm {
            pieces,
            whole,
            bytes,
            unknown,
            longest,
        }
    }

    /// Appends the tokens of a text whose spaces are already U+2581.
    pub(super) fn encode(&self, text: &str, out: &mut Vec<u32>) {
        let mut symbols = self.symbols(text);
        let mut queue = BinaryHeap::new();
        let mut origins = Origins::new();
        for right in 1..symbols.len() {
            self.consider(text, &symbols, right - 1, right, &mut queue, &mut origins);
        }
        while let Some(pair) = queue.pop() {
            let (Some(&left), Some(&right)) = (symbols.get(pair.left), symbols.get(pair.right))
            else {
                continue;
            };
            if left.len == 0 || right.len == 0 || left.len + right.len != pair.len {
                continue;
            }
            if let Some(left) = symbols.get_mut(pair.left) {
                left.len = pair.len;
                left.next = right.next;
            }
            if let Some(right) = symbols.get_mut(pair.right) {
                right.len = 0;
            }
            if let Some(next) = symbols.get_mut(right.next) {
                next.previous = pair.left;
            }
            let (before, at, after) = (left.previous, pair.left, right.next);
            self.consider(text, &symbols, before, at, &mut queue, &mut origins);
            self.consider(text, &symbols, at, after, &mut queue, &mut origins);
        }
        let mut after_unknown = false;
        let mut at = 0;
        while let Some(symbol) = symbols.get(at) {
            if let Some(piece) = text.get(symbol.start..symbol.start + symbol.len) {
                self.emit(piece, &origins, &mut after_unknown, out);
            }
            at = symbol.next;
        }
    }

    /// One symbol a character or user-defined piece.
    fn symbols(&self, text: &str) -> Vec<Symbol> {
        let mut symbols = Vec::with_capacity(text.len());
        let mut start = 0;
        while let Some(c) = text.get(start..).and_then(|rest| rest.chars().next()) {
            let whole = text.get(start..).and_then(|r| self.whole.longest(r, true));
            let len = whole.map_or(c.len_utf8(), |(_, len)| len);
            let index = symbols.len();
            symbols.push(Symbol {
                start,
                len,
                previous: index.checked_sub(1).unwrap_or(NONE),
                next: index + 1,
                frozen: whole.is_some(),
            });
            start += len;
        }
        if let Some(last) = symbols.last_mut() {
            last.next = NONE;
        }
        symbols
    }

    /// Queues the merge of two neighbours if together they spell a piece.
    fn consider<'a>(
        &self,
        text: &'a str,
        symbols: &[Symbol],
        left: usize,
        right: usize,
        queue: &mut BinaryHeap<Pair>,
        origins: &mut Origins<'a>,
    ) {
        let (Some(l), Some(r)) = (symbols.get(left), symbols.get(right)) else {
            return;
        };
        let len = l.len + r.len;
        if l.frozen || r.frozen || len > self.longest {
            return;
        }
        let Some(spelling) = text.get(l.start..l.start + len) else {
            return;
        };
        let Some(piece) = self.pieces.get(spelling) else {
            return;
        };
        queue.push(Pair {
            score: piece.score,
            left,
            right,
            len,
        });
        if piece.unused {
            origins.insert(spelling, l.len);
        }
    }

    /// Appends the tokens of one symbol.
    fn emit(&self, text: &str, origins: &Origins, after_unknown: &mut bool, out: &mut Vec<u32>) {
        // A stack instead of recursion: unused pieces may nest as deep as a piece is long.
        let mut stack = vec![text];
        while let Some(text) = stack.pop() {
            let piece = self.pieces.get(text);
            if let Some(piece) = piece.filter(|piece| !piece.unused) {
                out.push(piece.id);
                *after_unknown = false;
                continue;
            }
            let parts = origins
                .get(text)
                .and_then(|len| text.split_at_checked(*len));
            if let (Some(_), Some((left, right))) = (piece, parts) {
                stack.push(right);
                stack.push(left);
                continue;
            }
            if let (None, Some(id)) = (piece, self.whole.id(text)) {
                out.push(id);
                *after_unknown = false;
            } else if let Some(piece) = piece {
                // An unused single character: there is nothing to take it apart into.
                out.push(piece.id);
                *after_unknown = false;
            } else if let Some(bytes) = &self.bytes {
                let ids = text.bytes().filter_map(|b| bytes.get(usize::from(b)));
                out.extend(ids);
                *after_unknown = false;
            } else if let Some(unknown) = self.unknown {
                if !*after_unknown {
                    out.push(unknown);
                }
                *after_unknown = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::added::Added;
    use super::*;

    fn spm(pieces: &[(&str, f32, bool)], whole: &[&str], unknown: Option<u32>) -> Spm {
        let list = pieces
            .iter()
            .enumerate()
            .map(|(id, (text, score, unused))| {
                let piece = Piece {
                    id: id as u32,
                    score: *score,
                    unused: *unused,
                };
                (text.to_string(), piece)
            });
        let whole = whole.iter().enumerate();
        let whole = whole.map(|(n, text)| Added::new(text.to_string(), 100 + n as u32, true));
        let whole = AddedTokens::new(whole.collect(), "x").unwrap();
        Spm::new(list.collect(), whole, None, unknown)
    }

    fn ids(spm: &Spm, text: &str) -> Vec<u32> {
        let mut out = Vec::new();
        spm.encode(text, &mut out);
        out
    }

    #[test]
    fn the_highest_score_then_the_leftmost_merges_first() {
        let pieces = [
            ("a", 0., false),
            ("b", 0., false),
            ("ab", -2., false),
            ("ba", -1., false),
        ];
        let s = spm(&pieces, &[], None);
        assert_eq!(ids(&s, "aba"), [0, 3]);
        assert_eq!(ids(&s, "abab"), [0, 3, 1]);
        let s = spm(&[("a", 0., false), ("aa", -1., false)], &[], None);
        assert_eq!(ids(&s, "aaaaa"), [1, 1, 0]);
        assert_eq!(ids(&s, ""), [0u32; 0]);
    }

    #[test]
    fn unused_pieces_are_taken_apart() {
        let pieces = [
            ("a", 0., false),
            ("b", 0., false),
            ("ab", -1., true),
            ("abab", -2., true),
            ("c", 0., false),
            ("ababc", -3., false),
        ];
        let s = spm(&pieces, &[], None);
        assert_eq!(ids(&s, "abab"), [0, 1, 0, 1]);
        assert_eq!(ids(&s, "ababc"), [5]);
    }

    #[test]
    fn user_defined_pieces_stay_whole() {
        let pieces = [("a", 0., false), ("aa", -1., false), ("<x", -2., false)];
        let s = spm(&pieces, &["<x>", "aaa"], Some(9));
        assert_eq!(ids(&s, "aaaa<x>a"), [101, 0, 100, 0]);
    }

    #[test]
    fn unknown_characters_become_one_token() {
        let s = spm(&[("a", 0., false)], &[], Some(9));
        assert_eq!(ids(&s, "xyazz"), [9, 0, 9]);
        let s = spm(&[("a", 0., false)], &[], None);
        assert_eq!(ids(&s, "xay"), [0]);
    }

    #[test]
    fn a_megabyte_without_a_space_is_not_quadratic() {
        let pieces: Vec<(String, f32, bool)> = (1..=16)
            .map(|n| ("a".repeat(n), -(n as f32), false))
            .collect();
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(t, s, u)| (t.as_str(), *s, *u))
            .collect();
        let s = spm(&pieces, &[], None);
        let start = std::time::Instant::now();
        // 2 + 2 → 4 → …: the pairs merge from the left, then their products in turn.
        let text = "a".repeat(1_000_000);
        let tokens = ids(&s, &text);
        // Quadratic would be many minutes.
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
        let total: usize = tokens.iter().map(|id| *id as usize + 1).sum();
        assert_eq!(total, 1_000_000);
    }
}
