//! Which tokens the recurrent state of each slot, and of each copy that was kept of one, has seen, on any device.

use super::Slice;
use crate::{Error, Result};

/// What a slot holds after a step that failed: no tokens of any sequence.
const NOTHING_KNOWN: usize = usize::MAX;

/// The tokens that each state has seen: those of slots, and snapshots of them.
#[derive(Debug, Default)]
pub struct SlotBook {
    seen: Vec<usize>,
    kept: Vec<usize>,
}

impl SlotBook {
    /// Empty slots, none where no layer is recurrent, and snapshots.
    pub fn new(slots: usize, snapshots: usize) -> SlotBook {
        SlotBook {
            seen: vec![0; slots],
            kept: vec![NOTHING_KNOWN; snapshots],
        }
    }

    /// Slots.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// The snapshot becomes a copy of the slot's state.
    ///
    /// # Errors
    /// `InvalidArgument` if one of them is not there or the slot's state is not known.
    pub fn keep(&mut self, slot: u32, snapshot: u32) -> Result<()> {
        let seen = self.seen.get(slot as usize);
        let kept = self.kept.get_mut(snapshot as usize);
        copy(seen, kept, || format!("slot {slot} to snapshot {snapshot}"))
    }

    /// The slot's state becomes that of the snapshot.
    ///
    /// # Errors
    /// `InvalidArgument` if one of them is not there or the snapshot is of nothing.
    pub fn restore(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        let kept = self.kept.get(snapshot as usize);
        let seen = self.seen.get_mut(slot as usize);
        copy(kept, seen, || format!("snapshot {snapshot} to slot {slot}"))
    }

    /// The tokens that a slot's state has seen.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there or not known.
    pub fn seen(&self, slot: u32) -> Result<usize> {
        let mut seen = 0;
        let from = self.seen.get(slot as usize);
        copy(from, Some(&mut seen), || format!("reading slot {slot}"))?;
        Ok(seen)
    }

    /// Nothing is known of a slot's state any more.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there.
    pub fn lose(&mut self, slot: u32) -> Result<()> {
        self.write(slot, 0)?;
        self.seen[slot as usize] = NOTHING_KNOWN;
        Ok(())
    }

    /// The slot's state becomes one of so many tokens.
    ///
    /// # Errors
    /// `InvalidArgument` if it is not there.
    pub fn write(&mut self, slot: u32, tokens: usize) -> Result<()> {
        let to = self.seen.get_mut(slot as usize);
        copy(Some(&tokens), to, || format!("writing slot {slot}"))
    }

    /// Checks that the slices go on where their slots are; until [`SlotBook::end`] says otherwise nothing is known
    /// of these slots.
    ///
    /// # Errors
    /// `InvalidArgument` for a slot that is not there, is another slice's too, or holds another state.
    pub fn begin(&mut self, slices: &[Slice<'_>]) -> Result<()> {
        if self.seen.is_empty() {
            return Ok(());
        }
        for (place, slice) in slices.iter().enumerate() {
            let slot = slice.slot;
            let bad = |what: String| Err(Error::InvalidArgument(format!("slot {slot}: {what}")));
            let Some(&seen) = self.seen.get(slot as usize) else {
                return bad(format!("there are {}", self.seen.len()));
            };
            if slices[..place].iter().any(|other| other.slot == slot) {
                return bad("two sequences of a batch".into());
            }
            if slice.start > 0 && seen != slice.start {
                return bad(match seen {
                    NOTHING_KNOWN => "what it held was lost in a step that failed".into(),
                    seen => format!(
                        "it holds {seen} tokens, the slice begins at {}",
                        slice.start
                    ),
                });
            }
        }
        for slice in slices {
            self.seen[slice.slot as usize] = NOTHING_KNOWN;
        }
        Ok(())
    }

    /// The step of [`SlotBook::begin`] is done.
    pub fn end(&mut self, slices: &[Slice<'_>]) {
        for slice in slices {
            if let Some(seen) = self.seen.get_mut(slice.slot as usize) {
                *seen = slice.start + slice.tokens.len();
            }
        }
    }
}

fn copy(from: Option<&usize>, to: Option<&mut usize>, what: impl Fn() -> String) -> Result<()> {
    match (from, to) {
        (Some(&from), Some(to)) if from != NOTHING_KNOWN => *to = from,
        _ => {
            let what = what();
            let message = format!("{what}: not there, or nothing is known of what it holds");
            return Err(Error::InvalidArgument(message));
        }
    }
    Ok(())
}
