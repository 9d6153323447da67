//! A model that is a hash function: it keeps the tokens in its KV pages and computes logits from
//! what the pages hold, so a page that is mixed up, lost or overwritten changes the tokens. What the
//! session must give is computed here without pages and without a session.

use crate::queued::{Copy, OwnedChoice, OwnedSlice, Queued};
use mlxrocm::model::{CHOSEN, Choice, Forward, KvType, PAGE_TOKENS, Slice, StateForm};
use mlxrocm::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

pub const VOCAB: usize = 61;
/// Ends a generation unless the request ignores it.
pub const EOS: u32 = 60;

pub fn hash(state: u64, value: u64) -> u64 {
    let mut x = state ^ value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

pub fn row(state: u64) -> impl Iterator<Item = f32> {
    (0..VOCAB as u64).map(move |i| (hash(state, i + 1000) % 4096) as f32 / 512.0 - 4.0)
}

pub fn state_after(tokens: &[u32]) -> u64 {
    tokens.iter().fold(1, |s, &t| hash(s, u64::from(t)))
}

/// Logits after `tokens`.
pub fn logits_after(tokens: &[u32]) -> Vec<f32> {
    row(state_after(tokens)).collect()
}

/// How much of a row of a model whose text repeats itself is what all tokens make of it, where the last one makes the rest.
pub const REPEATS: f32 = 0.03;

/// A row of such a model.
pub fn repeating_row(part: f32, state: u64, last: u32) -> impl Iterator<Item = f32> {
    let rows = row(hash(1, u64::from(last))).zip(row(state));
    rows.map(move |(of_last, of_all)| of_last + part * of_all)
}

/// The same after `tokens`.
pub fn repeating_logits(tokens: &[u32]) -> Vec<f32> {
    repeating_row(REPEATS, state_after(tokens), tokens[tokens.len() - 1]).collect()
}

/// Columns of a hidden state.
pub const HIDDEN: usize = 5;

pub fn hidden_row(state: u64) -> impl Iterator<Item = f32> {
    (0..HIDDEN as u64).map(move |i| (hash(state, i + 5000) % 4096) as f32 / 512.0 - 4.0)
}

/// The hidden state of the last of `tokens`.
pub fn hidden_after(tokens: &[u32]) -> Vec<f32> {
    hidden_row(state_after(tokens)).collect()
}

/// What happens in the model, and what it has seen.
#[derive(Default)]
pub struct Control {
    /// The call that returns an error (from 1), 0: none.
    pub fail_at: AtomicUsize,
    /// The call that panics.
    pub panic_at: AtomicUsize,
    /// The call whose first row is NaN.
    pub nan_at: AtomicUsize,
    /// The queueing that returns an error.
    pub refuse_at: AtomicUsize,
    /// Steps queued, and how many of them while another one was not collected.
    pub queued: AtomicUsize,
    pub ahead: AtomicUsize,
    /// Every call sleeps so many microseconds.
    pub delay_us: AtomicU64,
    pub calls: AtomicUsize,
    pub tokens: AtomicUsize,
    /// Rows of logits that the session was given.
    pub rows: AtomicUsize,
    /// States that were kept.
    pub kept: AtomicUsize,
    pub dropped: AtomicBool,
    /// (tokens, rows wanted) of each slice of each call.
    pub log: Mutex<Vec<Vec<(usize, usize)>>>,
    pub gate: Mutex<bool>,
    pub opened: Condvar,
}

impl Control {
    /// Calls wait from now on, until [`Control::open`].
    pub fn shut(&self) {
        *self.gate.lock().unwrap() = true;
    }
    pub fn open(&self) {
        *self.gate.lock().unwrap() = false;
        self.opened.notify_all();
    }
    pub fn tokens(&self) -> usize {
        self.tokens.load(Ordering::SeqCst)
    }
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

pub struct Fake {
    pub control: Arc<Control>,
    /// (position, token) that each place of each page holds.
    pub pages: Vec<[Option<(usize, u32)>; PAGE_TOKENS]>,
    pub max_tokens: usize,
    pub kv: KvType,
    pub invariant_rows: Option<usize>,
    /// How its text repeats itself, if it does.
    pub repeats: Option<f32>,
    /// Whether it chooses tokens itself. Queued steps run as late as they may: when they are collected.
    pub pipelined: bool,
    pub queue: VecDeque<Queued>,
    /// Recurrent states: of slots, and kept ones. None of both: the model is not recurrent.
    pub states: Vec<State>,
    pub kept: Vec<State>,
    /// Only so many snapshots have memory.
    pub memory: usize,
    /// The queued step follows one that failed: it may read what that one left.
    pub after_failure: bool,
    /// Tokens that the step collected last chose.
    pub chosen: Vec<u32>,
    /// The rows that the last step's choices asked for.
    pub rated: Vec<f32>,
}

/// The tokens that a recurrent state has seen, and what it makes of them; `None`: nobody knows.
pub type State = Option<(usize, u64)>;

impl Drop for Fake {
    fn drop(&mut self) {
        self.control.dropped.store(true, Ordering::SeqCst);
    }
}

impl Forward for Fake {
    fn vocab_size(&self) -> usize {
        VOCAB
    }
    fn max_tokens(&self) -> usize {
        self.max_tokens
    }
    fn page_count(&self) -> usize {
        self.pages.len()
    }
    fn invariant_rows(&self) -> Option<usize> {
        self.invariant_rows
    }
    fn slots(&self) -> Option<usize> {
        (!self.states.is_empty()).then_some(self.states.len())
    }
    fn snapshots(&self) -> usize {
        self.kept.len()
    }
    fn keep(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        if snapshot as usize >= self.memory {
            return Ok(false);
        }
        self.control.kept.fetch_add(1, Ordering::SeqCst);
        self.later(Copy::Keep(slot, snapshot));
        Ok(true)
    }
    fn restore(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        self.later(Copy::Restore(snapshot, slot));
        Ok(())
    }
    fn queue(&mut self, slices: &[Slice], choices: &[Choice]) -> Result<bool> {
        if !self.pipelined {
            return Ok(false);
        }
        self.check(slices);
        assert!(self.queue.len() < 2, "three steps at once");
        let unseen = self.queue.back().map_or(0, |step| step.choices.len());
        for token in slices.iter().flat_map(|s| s.tokens) {
            let known = token
                .checked_sub(CHOSEN)
                .is_none_or(|i| (i as usize) < unseen);
            assert!(known, "a token of no step");
        }
        let wanted: usize = slices.iter().map(Slice::wanted_rows).sum();
        assert_eq!(choices.len(), wanted);
        let call = self.control.queued.fetch_add(1, Ordering::SeqCst) + 1;
        if self.control.refuse_at.load(Ordering::SeqCst) == call {
            return Err(Error::DeviceFailed("injected error".into()));
        }
        let ahead = usize::from(!self.queue.is_empty());
        self.control.ahead.fetch_add(ahead, Ordering::SeqCst);
        let own = |slice: &Slice| OwnedSlice {
            tokens: slice.tokens.to_vec(),
            start: slice.start,
            pages: slice.pages.to_vec(),
            slot: slice.slot,
            wanted: {
                let wanted = slice.wanted_runs().flatten();
                wanted.map(|place| (slice.start + place) as u32).collect()
            },
        };
        self.queue.push_back(Queued {
            slices: slices.iter().map(own).collect(),
            choices: choices.iter().map(OwnedChoice::new).collect(),
            copies: Vec::new(),
        });
        Ok(true)
    }
    fn collect(&mut self, tokens: &mut Vec<u32>) -> Result<()> {
        let mut step = self.queue.pop_front().expect("no step is queued");
        for token in step.slices.iter_mut().flat_map(|slice| &mut slice.tokens) {
            if let Some(place) = token.checked_sub(CHOSEN) {
                *token = self.chosen[place as usize];
            }
        }
        let slices: Vec<Slice> = step.slices.iter().map(OwnedSlice::slice).collect();
        let mut logits = Vec::new();
        let result = self.run(&slices, &mut logits, false);
        self.chosen.clear();
        self.rated.clear();
        self.after_failure = result.is_err() && !self.queue.is_empty();
        match result {
            Ok(()) => {
                let rows = step.choices.iter().zip(logits.chunks(VOCAB));
                let rated = rows.filter(|(choice, _)| choice.rated);
                self.rated = rated.flat_map(|(_, row)| row).copied().collect();
                self.count_rows(self.rated.len());
                let tokens = |s: &Slice| -> Vec<u32> {
                    s.wanted_runs().flatten().map(|i| s.tokens[i]).collect()
                };
                let wanted = slices.iter().flat_map(tokens);
                let rows = wanted.zip(&step.choices).zip(logits.chunks(VOCAB));
                let chosen = rows.map(|((token, choice), row)| choice.token(token, row));
                self.chosen.extend(chosen);
            }
            // Undefined after an error.
            Err(_) => self.chosen.resize(step.choices.len(), 7),
        }
        tokens.clone_from(&self.chosen);
        step.copies.into_iter().for_each(|copy| self.copy(copy));
        result
    }
    fn rated(&mut self, rows: &mut Vec<f32>) {
        rows.clone_from(&self.rated);
    }
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        assert!(self.queue.is_empty(), "a call while a step is queued");
        self.run(slices, logits, false)?;
        self.count_rows(logits.len());
        Ok(())
    }
    fn state_form(&self) -> Option<StateForm> {
        Some(StateForm {
            layout: 1,
            kv: self.kv,
            page_bytes: PAGE_TOKENS * 16,
            slot_bytes: if self.states.is_empty() { 0 } else { 16 },
        })
    }
    fn read_slot(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        assert!(self.queue.is_empty(), "a call while a step is queued");
        let (seen, value) = self.states[slot as usize].expect("an unknown state is saved");
        to[..8].copy_from_slice(&seen.to_le_bytes());
        to[8..].copy_from_slice(&value.to_le_bytes());
        Ok(())
    }
    fn write_slot(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        assert!(self.queue.is_empty(), "a call while a step is queued");
        let number = |at: usize| u64::from_le_bytes(from[at..at + 8].try_into().unwrap());
        assert_eq!(number(0) as usize, tokens);
        self.states[slot as usize] = Some((tokens, number(8)));
        Ok(())
    }
    fn read_page(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        assert!(self.queue.is_empty(), "a call while a step is queued");
        for (to, place) in to.chunks_mut(16).zip(&self.pages[page as usize]) {
            let (position, token) = place.expect("an empty place is saved");
            to[..8].copy_from_slice(&position.to_le_bytes());
            to[8..].copy_from_slice(&u64::from(token).to_le_bytes());
        }
        Ok(())
    }
    fn write_page(&mut self, page: u32, from: &[u8]) -> Result<()> {
        assert!(self.queue.is_empty(), "a call while a step is queued");
        for (from, place) in from.chunks(16).zip(&mut self.pages[page as usize]) {
            let number = |at: usize| u64::from_le_bytes(from[at..at + 8].try_into().unwrap());
            *place = Some((number(0) as usize, number(8) as u32));
        }
        Ok(())
    }
    fn hidden_size(&self) -> usize {
        HIDDEN
    }
    fn hidden(&mut self, slices: &[Slice], rows: &mut Vec<f32>) -> Result<()> {
        assert!(self.queue.is_empty(), "a call while a step is queued");
        self.run(slices, rows, true)
    }
}
