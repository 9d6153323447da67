//! Byte-pair encoding of one word with a list of merges.
//!
//! Formula: start with one symbol a character (or byte); while two neighbours are a merge, join the
//! pair whose merge stands first in the list, the leftmost of equals. Source: Sennrich, Haddow and
//! Birch 2016; what becomes of unknown characters follows Hugging Face's `tokenizers`.

use super::vocabulary::{Vocabulary, char_of_byte};
use crate::formats::brief;
use crate::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasher, RandomState};

/// No token.
const NONE: u32 = u32::MAX;

/// Words up to this many symbols are searched through for each merge; longer ones have a queue.
const SHORT: usize = 64;

/// A merge: its place in the list and the token it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Merge {
    rank: u32,
    token: u32,
}

/// Merges by their two halves: a hash table with open addressing, a quarter full at most.
#[derive(Debug)]
struct Pairs {
    slots: Vec<(u64, Merge)>,
    /// Odd and random, so that no file can be made to collide.
    factor: u64,
    shift: u32,
}

/// A free slot's key: no pair has two tokens of this id.
const FREE: u64 = u64::MAX;

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Pairs {
    fn new(count: usize) -> Pairs {
        let bits = (count * 4).next_power_of_two().trailing_zeros().max(4);
        let free = Merge {
            rank: NONE,
            token: NONE,
        };
        Pairs {
            slots: vec![(FREE, free); 1 << bits],
            factor: RandomState::new().hash_one(count) | 1,
            shift: 64 - bits,
        }
    }

    /// The slot where the pair is or belongs.
    fn slot(&self, key: u64) -> usize {
        // The upper half folded in: a product alone would lose the left token's high bits.
        let mixed = (key ^ key >> 29).wrapping_mul(self.factor);
        let mut at = (mixed >> self.shift) as usize;
        while let Some((found, _)) = self.slots.get(at) {
            if *found == key || *found == FREE {
                break;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// A pair that is there already takes the new merge, as in a map.
    fn insert(&mut self, left: u32, right: u32, merge: Merge) {
        let key = key(left, right);
        let at = self.slot(key);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = (key, merge);
        }
    }

    fn get(&self, left: u32, right: u32) -> Merge {
        let at = self.slot(key(left, right));
        self.slots.get(at).map_or(
            Merge {
                rank: NONE,
                token: NONE,
            },
            |(_, merge)| *merge,
        )
    }
}

/// Options of the model besides vocabulary and merges.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// What stands for a character without a token; without it such characters vanish.
    pub(super) unknown: Option<String>,
    /// Whether neighbouring unknown characters become one token.
    pub(super) fuse_unknown: bool,
    /// Whether a character without a token becomes its bytes, spelled `<0x..>`.
    pub(super) byte_fallback: bool,
    /// Whether a word that is itself a token is taken without merging.
    pub(super) ignore_merges: bool,
}

/// The merges of a vocabulary. Immutable: any thread.
#[derive(Debug)]
pub(super) struct Merger {
    pairs: Pairs,
    /// The token of each byte in byte-level spelling.
    bytes: Box<[u32; 256]>,
    /// The tokens `<0x00>` to `<0xFF>`, where bytes stand in for unknown characters.
    fallback: Option<Box<[u32; 256]>>,
    unknown: Option<u32>,
    fuse_unknown: bool,
    ignore_merges: bool,
}

/// Work space, so that words need no allocation each.
#[derive(Debug, Default)]
pub(super) struct Space {
    symbols: Vec<u32>,
    ranks: Vec<Merge>,
    spelling: String,
}

impl Merger {
    /// `merges` are (left, right) in order; `source` names the file in errors.
    pub(super) fn new<'a>(
        vocabulary: &Vocabulary,
        merges: impl ExactSizeIterator<Item = (&'a str, &'a str)>,
        options: &Options,
        source: &str,
    ) -> Result<Merger> {
        let mut pairs = Pairs::new(merges.len());
        let mut product = String::new();
        for (rank, (left, right)) in merges.enumerate() {
            product.clear();
            product.push_str(left);
            product.push_str(right);
            let find = |token: &str| {
                vocabulary.id(token).ok_or_else(|| {
                    Error::InvalidFile(format!(
                        "{source}: merge {rank} ({:?} with {:?}): there is no token {:?}",
                        brief(left),
                        brief(right),
                        brief(token)
                    ))
                })
            };
            let merge = Merge {
                rank: rank as u32,
                token: find(&product)?,
            };
            pairs.insert(find(left)?, find(right)?, merge);
        }
        let unknown = match &options.unknown {
            None => None,
            Some(token) => Some(vocabulary.id(token).ok_or_else(|| {
                Error::InvalidFile(format!(
                    "{source}: the unknown token {:?} is not in the vocabulary",
                    brief(token)
                ))
            })?),
        };
        let mut bytes = Box::new([NONE; 256]);
        for (byte, slot) in bytes.iter_mut().enumerate() {
            let spelling = char_of_byte(byte as u8);
            *slot = vocabulary
                .piece(spelling.encode_utf8(&mut [0; 4]))
                .unwrap_or(NONE);
        }
        let mut fallback = options.byte_fallback.then(|| Box::new([NONE; 256]));
        for (byte, slot) in fallback.iter_mut().flat_map(|f| f.iter_mut()).enumerate() {
            *slot = vocabulary.piece(&format!("<0x{byte:02X}>")).unwrap_or(NONE);
        }
        Ok(Merger {
            pairs,
            bytes,
            fallback,
            unknown,
            fuse_unknown: options.fuse_unknown,
            ignore_merges: options.ignore_merges,
        })
    }

    /// How many of the 256 bytes have no token.
    pub(super) fn missing_bytes(&self) -> usize {
        self.bytes.iter().filter(|id| **id == NONE).count()
    }

    /// Appends the tokens of a word whose bytes are spelled by GPT-2's table.
    pub(super) fn encode_bytes(
        &self,
        vocabulary: &Vocabulary,
        word: &str,
        space: &mut Space,
        out: &mut Vec<u32>,
    ) {
        if self.ignore_merges {
            space.spelling.clear();
            space.spelling.extend(word.bytes().map(char_of_byte));
            if let Some(id) = vocabulary.piece(&space.spelling) {
                out.push(id);
                return;
            }
        }
        space.symbols.clear();
        let mut after_unknown = false;
        for byte in word.bytes() {
            let id = self.bytes.get(usize::from(byte)).copied();
            match id.filter(|id| *id != NONE) {
                Some(id) => {
                    space.symbols.push(id);
                    after_unknown = false;
                }
                None => self.push_unknown(&mut after_unknown, &mut space.symbols),
            }
        }
        self.merge(space, out);
    }

    /// Appends the tokens of a word that is spelled as it is.
    pub(super) fn encode_chars(
        &self,
        vocabulary: &Vocabulary,
        word: &str,
        space: &mut Space,
        out: &mut Vec<u32>,
    ) {
        if let Some(id) = vocabulary.piece(word).filter(|_| self.ignore_merges) {
            out.push(id);
            return;
        }
        space.symbols.clear();
        let mut after_unknown = false;
        for c in word.chars() {
            let mut buffer = [0; 4];
            let c = &*c.encode_utf8(&mut buffer);
            if let Some(id) = vocabulary.piece(c) {
                space.symbols.push(id);
                after_unknown = false;
                continue;
            }
            let token = |byte: u8| Some(*self.fallback.as_ref()?.get(usize::from(byte))?);
            if c.bytes()
                .all(|byte| token(byte).is_some_and(|id| id != NONE))
            {
                space.symbols.extend(c.bytes().filter_map(token));
                after_unknown = false;
            } else {
                self.push_unknown(&mut after_unknown, &mut space.symbols);
            }
        }
        self.merge(space, out);
    }

    fn push_unknown(&self, after_unknown: &mut bool, symbols: &mut Vec<u32>) {
        if let Some(unknown) = self.unknown {
            if !(*after_unknown && self.fuse_unknown) {
                symbols.push(unknown);
            }
            *after_unknown = true;
        }
    }

    /// Merges the symbols and appends what they become.
    fn merge(&self, space: &mut Space, out: &mut Vec<u32>) {
        if space.symbols.len() > SHORT {
            return self.merge_long(&space.symbols, out);
        }
        let Space { symbols, ranks, .. } = space;
        ranks.clear();
        let pairs = symbols.iter().zip(symbols.iter().skip(1));
        ranks.extend(pairs.map(|(left, right)| self.pairs.get(*left, *right)));
        while let Some((at, merge)) = ranks
            .iter()
            .copied()
            .enumerate()
            .min_by_key(|(_, merge)| merge.rank)
            .filter(|(_, merge)| merge.rank != NONE)
        {
            // `at` is a pair, so `at + 1` is a symbol.
            symbols.remove(at + 1);
            ranks.remove(at);
            if let Some(symbol) = symbols.get_mut(at) {
                *symbol = merge.token;
            }
            if let (Some(next), Some(rank)) = (symbols.get(at + 1), ranks.get_mut(at)) {
                *rank = self.pairs.get(merge.token, *next);
            }
            if let Some(before) = at.checked_sub(1)
                && let (Some(left), Some(rank)) = (symbols.get(before), ranks.get_mut(before))
            {
                *rank = self.pairs.get(*left, merge.token);
            }
        }
        out.extend_from_slice(symbols);
    }

    /// The same with a queue: time n log n for a word of n symbols.
    fn merge_long(&self, word: &[u32], out: &mut Vec<u32>) {
        struct Symbol {
            id: u32,
            previous: usize,
            next: usize,
        }
        const END: usize = usize::MAX;
        let last = word.len().saturating_sub(1);
        let mut symbols: Vec<Symbol> = word
            .iter()
            .enumerate()
            .map(|(at, id)| Symbol {
                id: *id,
                previous: at.checked_sub(1).unwrap_or(END),
                next: if at == last { END } else { at + 1 },
            })
            .collect();
        let pair = |symbols: &[Symbol], at: usize| {
            let left = symbols.get(at).filter(|left| left.id != NONE)?;
            let right = symbols.get(left.next)?;
            let merge = self.pairs.get(left.id, right.id);
            (merge.rank != NONE).then_some(merge)
        };
        let mut queue: BinaryHeap<Reverse<(u32, usize)>> = (0..symbols.len())
            .filter_map(|at| Some(Reverse((pair(&symbols, at)?.rank, at))))
            .collect();
        while let Some(Reverse((rank, at))) = queue.pop() {
            // The pair may have become another since it was queued.
            let Some(merge) = pair(&symbols, at).filter(|merge| merge.rank == rank) else {
                continue;
            };
            let right = symbols.get(at).map_or(END, |left| left.next);
            let after = symbols.get(right).map_or(END, |right| right.next);
            let mut previous = END;
            if let Some(left) = symbols.get_mut(at) {
                (left.id, left.next) = (merge.token, after);
                previous = left.previous;
            }
            if let Some(right) = symbols.get_mut(right) {
                right.id = NONE;
            }
            if let Some(after) = symbols.get_mut(after) {
                after.previous = at;
            }
            for at in [previous, at] {
                if let Some(merge) = pair(&symbols, at) {
                    queue.push(Reverse((merge.rank, at)));
                }
            }
        }
        out.extend(symbols.iter().map(|s| s.id).filter(|id| *id != NONE));
    }
}

#[cfg(test)]
mod tests;
