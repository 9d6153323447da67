//! What a step of the fake model does: it looks at every page that it is given.

use crate::fake::{Fake, VOCAB, hash, hidden_row, repeating_row, row};
use crate::queued::Copy;
use mlxrocm::model::{PAGE_TOKENS, Slice};
use mlxrocm::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

impl Fake {
    pub fn check(&self, slices: &[Slice]) {
        let total: usize = slices.iter().map(|s| s.tokens.len()).sum();
        assert!(
            !slices.is_empty() && total <= self.max_tokens,
            "{total} tokens"
        );
        for (i, slice) in slices.iter().enumerate() {
            assert!(!slice.tokens.is_empty());
            let end = slice.start + slice.tokens.len();
            assert!(slice.pages.len() * PAGE_TOKENS >= end);
            let used = &slice.pages[..end.div_ceil(PAGE_TOKENS)];
            assert!(used.iter().all(|&p| (p as usize) < self.pages.len()));
            let mut distinct = slice.pages.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), slice.pages.len(), "a page twice");
            if !self.states.is_empty() {
                assert!((slice.slot as usize) < self.states.len());
                let same = slices.iter().filter(|other| other.slot == slice.slot);
                assert_eq!(same.count(), 1, "a slot twice");
            }
            for &written in &used[slice.start / PAGE_TOKENS..] {
                for (j, other) in slices.iter().enumerate() {
                    assert!(
                        i == j || !other.pages.contains(&written),
                        "page {written} is written by one sequence and held by another"
                    );
                }
            }
        }
    }

    pub fn count_rows(&self, numbers: usize) {
        let rows = numbers / VOCAB;
        self.control.rows.fetch_add(rows, Ordering::SeqCst);
    }

    /// After the steps that are queued.
    pub fn later(&mut self, copy: Copy) {
        match self.queue.back_mut() {
            Some(step) => step.copies.push(copy),
            None => self.copy(copy),
        }
    }

    pub fn copy(&mut self, copy: Copy) {
        match copy {
            Copy::Keep(slot, snapshot) => {
                self.kept[snapshot as usize] = self.states[slot as usize];
            }
            Copy::Restore(snapshot, slot) => {
                self.states[slot as usize] = self.kept[snapshot as usize];
            }
        }
    }

    pub fn run(&mut self, slices: &[Slice], logits: &mut Vec<f32>, hidden: bool) -> Result<()> {
        logits.clear();
        self.check(slices);
        let control = self.control.clone();
        let mut gate = control.gate.lock().unwrap();
        while *gate {
            gate = control.opened.wait(gate).unwrap();
        }
        drop(gate);
        let delay = control.delay_us.load(Ordering::SeqCst);
        if delay > 0 {
            std::thread::sleep(Duration::from_micros(delay));
        }
        let call = control.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let entry = slices
            .iter()
            .map(|s| (s.tokens.len(), s.wanted_rows()))
            .collect();
        control.log.lock().unwrap().push(entry);
        let broken = |at: &AtomicUsize| at.load(Ordering::SeqCst) == call;
        assert!(!broken(&control.panic_at), "injected panic");
        for slice in slices {
            control
                .tokens
                .fetch_add(slice.tokens.len(), Ordering::SeqCst);
            for (i, &token) in slice.tokens.iter().enumerate() {
                let position = slice.start + i;
                let page = slice.pages[position / PAGE_TOKENS] as usize;
                let stored = match broken(&control.fail_at) {
                    // Undefined after an error.
                    true => (usize::MAX, 0),
                    false => (position, token),
                };
                self.pages[page][position % PAGE_TOKENS] = Some(stored);
            }
        }
        if broken(&control.fail_at) {
            for slice in slices {
                if let Some(state) = self.states.get_mut(slice.slot as usize) {
                    *state = None;
                }
            }
            return Err(Error::DeviceFailed("injected error".into()));
        }
        for slice in slices {
            let undefined = self.after_failure;
            if let Some(state) = self.states.get_mut(slice.slot as usize) {
                let before = match slice.start {
                    0 => Some((0, 1)),
                    _ => *state,
                };
                assert!(undefined || before.is_some_and(|(seen, _)| seen == slice.start));
                let mut value = before.map_or(0, |(_, value)| value);
                for &token in slice.tokens {
                    value = hash(value, u64::from(token));
                }
                *state = Some((slice.start + slice.tokens.len(), value));
            }
            let mut state = 1;
            for position in 0..slice.start + slice.tokens.len() {
                let page = slice.pages[position / PAGE_TOKENS] as usize;
                let (stored, token) =
                    self.pages[page][position % PAGE_TOKENS].expect("an empty place is read");
                let undefined = self.after_failure && stored == usize::MAX;
                assert!(
                    stored == position || undefined,
                    "page {page} holds position {stored}, not {position}"
                );
                state = hash(state, u64::from(token));
                let place = position.checked_sub(slice.start);
                let wanted = |place| slice.wanted_runs().any(|run| run.contains(&place));
                if place.is_some_and(wanted) {
                    match (hidden, self.repeats) {
                        (true, _) => logits.extend(hidden_row(state)),
                        (false, Some(part)) => logits.extend(repeating_row(part, state, token)),
                        (false, None) => logits.extend(row(state)),
                    }
                }
            }
            // The pages and the recurrent state are of the same tokens.
            if let Some(Some((_, value))) = self.states.get(slice.slot as usize) {
                assert!(undefined || *value == state, "another sequence's state");
            }
        }
        if broken(&control.nan_at) {
            logits[3] = f32::NAN;
        }
        Ok(())
    }
}
