//! Guesses of a second, smaller model: it writes on from what each sequence has, by the sequence's own sampler and random
//! numbers, so that both models choose the same token wherever their logits are alike.

use super::MOST_ROWS;
use crate::Result;
use crate::model::{CHOSEN, Choice, Forward, PAGE_TOKENS, Slice, Wanted};
use crate::session::sampling::Scratch;
use crate::session::sequence::Sequence;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What the model has of a sequence.
#[derive(Debug, Default)]
struct Text {
    /// The tokens in its cache.
    tokens: Vec<u32>,
    pages: Vec<u32>,
    /// Of its recurrent state, and of the copy of it after so many tokens.
    slot: u32,
    kept: Option<usize>,
}

/// A model that guesses for the sequences of a session. One thread at a time.
pub struct Draft {
    forward: Box<dyn Forward>,
    pages: Vec<u32>,
    /// Numbers of slots, and of snapshots.
    slots: Vec<u32>,
    texts: HashMap<u64, Text>,
    logits: Vec<f32>,
    tokens: Vec<u32>,
}

impl Draft {
    /// For at most `sequences` at once. A state of recurrent layers needs as many snapshots.
    pub fn new(forward: Box<dyn Forward>, sequences: usize) -> Draft {
        Draft {
            pages: (0..forward.page_count() as u32).rev().collect(),
            slots: (0..sequences as u32).rev().collect(),
            forward,
            texts: HashMap::new(),
            logits: Vec::new(),
            tokens: Vec::new(),
        }
    }

    /// The sequence is over, or sent back to wait.
    pub fn forget(&mut self, id: u64) {
        if let Some(text) = self.texts.remove(&id) {
            self.pages.extend(text.pages);
            self.slots.push(text.slot);
        }
    }

    /// At most `count` tokens for each sequence; none where there is no room. The session's vocabulary has `vocab` columns.
    pub fn guess(
        &mut self,
        sequences: &[&Sequence],
        count: usize,
        vocab: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<u32>>> {
        let mut all = vec![Vec::new(); sequences.len()];
        let mut places = Vec::with_capacity(sequences.len());
        for (place, sequence) in sequences.iter().enumerate() {
            if self.begin(sequence, count)? {
                places.push(place);
            }
        }
        let least = (self.forward.max_tokens() / places.len().max(1)).clamp(1, MOST_ROWS);
        for &place in &places {
            self.catch_up(sequences[place], least)?;
        }
        if !places.is_empty() {
            let sequences: Vec<&Sequence> = places.iter().map(|place| sequences[*place]).collect();
            let found = self.write_on(&sequences, count, scratch)?;
            for (place, tokens) in places.into_iter().zip(found) {
                let known = tokens
                    .into_iter()
                    .take_while(|token| (*token as usize) < vocab);
                all[place] = known.collect();
            }
        }
        Ok(all)
    }

    /// Goes back to what the sequence still has, and takes pages. Whether there are enough.
    fn begin(&mut self, sequence: &Sequence, count: usize) -> Result<bool> {
        let tokens = &sequence.tokens;
        let text = match self.texts.entry(sequence.id) {
            Entry::Occupied(text) => text.into_mut(),
            Entry::Vacant(place) => {
                let Some(slot) = self.slots.pop() else {
                    return Ok(false);
                };
                place.insert(Text {
                    slot,
                    ..Text::default()
                })
            }
        };
        let alike = text.tokens.iter().zip(tokens).take_while(|(a, b)| a == b);
        // The last one's row is wanted.
        let mut alike = alike.count().min(tokens.len() - 1);
        if alike < text.tokens.len() && self.forward.slots().is_some() {
            alike = text.kept.filter(|kept| *kept <= alike).unwrap_or(0);
            if alike > 0 {
                self.forward.restore(text.slot, text.slot)?;
            }
        }
        text.tokens.truncate(alike);
        let needed = (tokens.len() + count).div_ceil(PAGE_TOKENS);
        if needed > text.pages.len() + self.pages.len() {
            self.forget(sequence.id);
            return Ok(false);
        }
        while text.pages.len() < needed {
            text.pages.extend(self.pages.pop());
        }
        Ok(true)
    }

    /// Runs tokens that the sequence has and the model has not, but for at most `least`.
    fn catch_up(&mut self, sequence: &Sequence, least: usize) -> Result<()> {
        let most = self.forward.max_tokens();
        let Some(text) = self.texts.get_mut(&sequence.id) else {
            return Ok(());
        };
        while sequence.tokens.len() - text.tokens.len() > least {
            let start = text.tokens.len();
            let end = (start + most).min(sequence.tokens.len() - 1);
            let slice = Slice {
                tokens: &sequence.tokens[start..end],
                start,
                pages: &text.pages,
                wanted: Wanted::Nothing,
                slot: text.slot,
            };
            self.forward.forward(&[slice], &mut self.logits)?;
            text.tokens.extend(&sequence.tokens[start..end]);
        }
        Ok(())
    }

    /// Chooses `count` tokens after each sequence's.
    fn write_on(
        &mut self,
        sequences: &[&Sequence],
        count: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<u32>>> {
        let mut found: Vec<Vec<u32>> = vec![Vec::with_capacity(count); sequences.len()];
        let mut on_device = true;
        let mut queued = 0;
        for step in 0..count {
            let next: Vec<[u32; 1]> = (0..)
                .zip(&found)
                .map(|(row, found): (u32, _)| {
                    let last = found.last().filter(|_| !on_device);
                    [last.copied().unwrap_or(CHOSEN + row)]
                })
                .collect();
            let mut slices = Vec::with_capacity(sequences.len());
            for (sequence, next) in sequences.iter().zip(&next) {
                let Some(text) = self.texts.get(&sequence.id) else {
                    continue;
                };
                let (tokens, start) = match step {
                    0 => (&sequence.tokens[text.tokens.len()..], text.tokens.len()),
                    _ => (next.as_slice(), sequence.tokens.len() + step - 1),
                };
                slices.push(Slice {
                    tokens,
                    start,
                    pages: &text.pages,
                    wanted: Wanted::Last,
                    slot: text.slot,
                });
            }
            if on_device {
                let choices: Vec<Choice> = sequences.iter().map(|s| self.choice(s, step)).collect();
                on_device = self.forward.queue(&slices, &choices)?;
                if !on_device && queued > 0 {
                    break;
                }
                queued += usize::from(on_device);
            }
            if !on_device {
                self.forward.forward(&slices, &mut self.logits)?;
                let columns = self.forward.vocab_size();
                for ((sequence, row), found) in sequences
                    .iter()
                    .zip(self.logits.chunks(columns))
                    .zip(&mut found)
                {
                    found.push(sequence.draft(row, step, scratch));
                }
            }
            if step == 0 {
                self.keep(sequences)?;
            }
            if queued == 2 {
                self.collect(&mut found)?;
                queued -= 1;
            }
        }
        if queued > 0 {
            self.collect(&mut found)?;
        }
        for (sequence, found) in sequences.iter().zip(&found) {
            if let Some(text) = self.texts.get_mut(&sequence.id) {
                text.tokens.clone_from(&sequence.tokens);
                // The last one was not run.
                text.tokens.extend(&found[..found.len().saturating_sub(1)]);
            }
        }
        Ok(found)
    }

    /// As the sequence's own choice, where the device can.
    fn choice<'a>(&self, sequence: &'a Sequence, step: usize) -> Choice<'a> {
        let columns = self.forward.vocab_size();
        let is_known = |choice: &Choice| {
            let recent = choice.recent.into_iter().flatten();
            let mut tokens = recent.chain(choice.biases.iter().map(|(token, _)| token));
            tokens.all(|token| (*token as usize) < columns)
        };
        let own = sequence.choice(step).filter(is_known);
        let own = own.unwrap_or(Choice::GREEDY);
        Choice {
            rated: false,
            ..own
        }
    }

    /// Keeps the states after what the sequences have.
    fn keep(&mut self, sequences: &[&Sequence]) -> Result<()> {
        if self.forward.slots().is_none() {
            return Ok(());
        }
        for sequence in sequences {
            if let Some(text) = self.texts.get_mut(&sequence.id) {
                let kept = self.forward.keep(text.slot, text.slot)?;
                text.kept = kept.then_some(sequence.tokens.len());
            }
        }
        Ok(())
    }

    fn collect(&mut self, found: &mut [Vec<u32>]) -> Result<()> {
        self.forward.collect(&mut self.tokens)?;
        for (found, token) in found.iter_mut().zip(&self.tokens) {
            found.push(*token);
        }
        Ok(())
    }
}
