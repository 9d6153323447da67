//! What a step of the model reads besides weights and cache: tokens, positions, page tables. One
//! block, which the host writes to pinned memory and which comes to the device in one piece: a program that is
//! replayed takes it itself, before others it is copied.

use crate::gpu::PinnedBuffer;
use crate::gpu::constants::{attention_flash, attention_paged, recurrent_conv, rows_sample};
use crate::step::{CHOSEN, Choice, MAX_BIASES, MAX_RECENT, Slice, top_p_bits};
use crate::{Error, Result};

/// A row of the batch, or of the wanted logits, that is not used.
pub const UNUSED: u32 = attention_paged::UNUSED as u32;

/// The sizes that a program is recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// Tokens of the batch.
    pub rows: usize,
    /// Sequences of the batch: page lists.
    pub slots: usize,
    /// Rows of logits.
    pub wanted: usize,
    /// Pages of the longest sequence.
    pub pages: usize,
    /// Whether there are runs of [`TILE_QUERIES`] tokens and more, which are attended to in tiles of queries.
    pub tiled: bool,
    /// Rows that are attended to one by one: all, or those of shorter runs.
    pub singles: usize,
    /// Whether each sequence has one token and wants its logits: decoding.
    pub decode: bool,
    /// Whether layers are recurrent: they ask which rows are a sequence's.
    pub recurrent: bool,
    pub output: Output,
    /// Of a program that is replayed: the turn whose memory it takes its inputs from and tells its tokens to.
    pub turn: Option<usize>,
}

/// What a step gives for each wanted row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    Logits,
    /// The hidden state after the final norm.
    Hidden,
    /// The token of the largest one.
    Largest,
    /// The token of the row's choice.
    Sampled,
}

/// Numbers of a choice, whose lists have a place for all that a session may give.
const CHOICE_WORDS: usize = rows_sample::CHOICE_WORDS;
const _: () = assert!(MAX_RECENT == rows_sample::LIST && MAX_BIASES == rows_sample::LIST);

/// Numbers that a thread takes over the bus.
const PIECE: usize = 4;

/// Numbers of a sequence.
pub const SEQUENCE_WORDS: usize = recurrent_conv::SEQUENCE_WORDS;

/// Tokens of a sequence from which on they are attended to in tiles.
const TILE_QUERIES: usize = 16;
/// Queries of a tile.
pub const QUERIES: usize = attention_flash::QUERIES;

/// Places in the block, in 32-bit numbers.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    pub tokens: usize,
    pub positions: usize,
    pub slots: usize,
    /// The rows that are attended to one by one.
    pub singles: usize,
    /// `[tiles][first row, rows]`.
    pub tiles: usize,
    pub wanted: usize,
    /// `[slots][SEQUENCE_WORDS]`, if layers are recurrent.
    pub sequences: usize,
    /// `[wanted][CHOICE_WORDS]`, if tokens are sampled.
    pub choices: usize,
    /// `[slots][pages]`.
    pub pages: usize,
    pub end: usize,
}

impl Bucket {
    pub fn places(self) -> Places {
        let rows = self.rows;
        let wanted = 3 * rows + self.singles + 2 * self.tiles();
        let sequences = wanted + self.wanted;
        let choices = match self.recurrent {
            true => sequences + self.slots * SEQUENCE_WORDS,
            false => sequences,
        };
        let pages = match self.output {
            Output::Sampled => choices + self.wanted * CHOICE_WORDS,
            _ => choices,
        };
        Places {
            tokens: 0,
            positions: rows,
            slots: 2 * rows,
            singles: 3 * rows,
            tiles: 3 * rows + self.singles,
            wanted,
            sequences,
            choices,
            pages,
            end: (pages + self.slots * self.pages).next_multiple_of(PIECE),
        }
    }

    /// The most tiles of queries there can be: runs of 16 and more, and one of the rows at the end that
    /// are not used.
    pub fn tiles(self) -> usize {
        match self.tiled {
            true => self.rows / TILE_QUERIES + 1,
            false => 0,
        }
    }

    /// Whether a slice is attended to in tiles.
    pub fn is_tiled(slice: &Slice<'_>) -> bool {
        slice.tokens.len() >= TILE_QUERIES
    }

    /// Bytes of the block.
    pub fn bytes(self) -> u64 {
        (self.places().end * 4) as u64
    }

    /// Writes a batch to `host`, from which nothing is read meanwhile; returns how many bytes are in use.
    pub fn write(
        self,
        slices: &[Slice<'_>],
        choices: &[Choice<'_>],
        sequences: &[[u32; SEQUENCE_WORDS]],
        host: &mut PinnedBuffer,
    ) -> Result<u64> {
        let (bucket, places) = (self, self.places());
        let (numbers, _) = host.as_mut_slice().as_chunks_mut::<4>();
        let numbers = numbers
            .get_mut(..places.end)
            .ok_or_else(|| Error::Internal("a batch larger than its bucket".into()))?;
        let mut put = |at: usize, value: u32| numbers[at] = value.to_le_bytes();
        let (mut row, mut wanted, mut single, mut tile) = (0, 0, 0, 0);
        for (slot, slice) in slices.iter().enumerate() {
            let tiled = Bucket::is_tiled(slice);
            for first in (0..slice.tokens.len()).step_by(QUERIES).filter(|_| tiled) {
                put(places.tiles + 2 * tile, (row + first) as u32);
                let count = QUERIES.min(slice.tokens.len() - first);
                put(places.tiles + 2 * tile + 1, count as u32);
                tile += 1;
            }
            for (i, &token) in slice.tokens.iter().enumerate() {
                put(places.tokens + row, token);
                put(places.positions + row, (slice.start + i) as u32);
                put(places.slots + row, slot as u32);
                if !tiled {
                    put(places.singles + single, row as u32);
                    single += 1;
                }
                row += 1;
            }
            let first = row - slice.tokens.len();
            for token in slice.wanted_runs().flatten() {
                put(places.wanted + wanted, (first + token) as u32);
                wanted += 1;
            }
            for (i, &page) in slice.pages.iter().take(bucket.pages).enumerate() {
                put(places.pages + slot * bucket.pages + i, page);
            }
        }
        if bucket.tiled {
            put(places.tiles + 2 * tile, row as u32);
            put(places.tiles + 2 * tile + 1, (bucket.rows - row) as u32);
            for tile in tile + 1..bucket.tiles() {
                put(places.tiles + 2 * tile, 0);
                put(places.tiles + 2 * tile + 1, 0);
            }
        }
        for row in row..bucket.rows {
            put(places.tokens + row, UNUSED);
            put(places.positions + row, UNUSED);
            put(places.slots + row, 0);
            if !bucket.tiled {
                put(places.singles + row, row as u32);
            }
        }
        for single in (single..bucket.singles).filter(|_| bucket.tiled) {
            put(places.singles + single, UNUSED);
        }
        for wanted in wanted..bucket.wanted {
            put(places.wanted + wanted, UNUSED);
        }
        if self.recurrent {
            let numbers = sequences.iter().flatten().copied();
            let numbers = numbers.chain(std::iter::repeat(0));
            let places = places.sequences..places.choices;
            places.zip(numbers).for_each(|(at, value)| put(at, value));
        }
        if self.output == Output::Sampled {
            for row in 0..self.wanted {
                let choice = choices.get(row).unwrap_or(&Choice::GREEDY);
                let first = places.choices + row * CHOICE_WORDS;
                put_choice(choice, |at, value| put(first + at, value));
            }
        }
        let used = places.pages + slices.len() * bucket.pages;
        Ok((used * 4) as u64)
    }
}

/// `struct Choice` of `hip/ops/rows/sample.hip` and its lists.
fn put_choice(choice: &Choice<'_>, mut put: impl FnMut(usize, u32)) {
    let numbers = [
        choice.temperature.to_bits(),
        choice.top_k,
        top_p_bits(choice.top_p).unwrap_or(0),
        choice.min_p.ln().to_bits(),
        (choice.random >> 32) as u32,
        choice.random as u32,
        choice.repetition.to_bits(),
        choice.presence.to_bits(),
        choice.frequency.to_bits(),
        choice.recents() as u32,
        choice.biases.len() as u32,
        0,
    ];
    let own = choice.own_is_recent.then_some(CHOSEN);
    let recent = choice.recent.into_iter().flatten().copied().chain(own);
    let recent = (numbers.len()..).zip(recent);
    let biases = (numbers.len() + MAX_RECENT..).step_by(2);
    let biases = biases.zip(choice.biases);
    let biases = biases.flat_map(|(at, &(token, bias))| [(at, token), (at + 1, bias.to_bits())]);
    let numbers = (0..).zip(numbers);
    numbers
        .chain(recent)
        .chain(biases)
        .for_each(|(at, value)| put(at, value));
}
