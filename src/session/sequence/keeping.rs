//! What a sequence of a recurrent model goes on after, and which of its states it leaves to others.

use super::{Sequence, Work};
use crate::Result;
use crate::model::{Forward, PAGE_TOKENS};
use crate::session::pages::{Known, PagePool};
use crate::session::snapshots::Snapshots;

/// Tokens after the last snapshot that are worth the next one, and a step of their own.
const WORTH_KEEPING: usize = 4 * PAGE_TOKENS;

/// A sequence's snapshots.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    /// The one that its slot gets before the next step.
    pub resumed: Option<u32>,
    /// Tokens that its prompt shares with another one, whose state there nobody has kept.
    pub branch: usize,
    /// Tokens of the last one that it began with or left to others…
    tokens: usize,
    /// …and the page of a later one, which is for when it ends.
    passing: Option<u32>,
}

impl Sequence {
    /// How many of the next `tokens` tokens to run, so that a step ends where the state is to be kept. A step of its
    /// own costs a device as much as some hundred tokens of a prompt do: it is there only where a second prompt was seen
    /// to go another way.
    pub(super) fn cut(&self, tokens: usize, snapshots: &Snapshots) -> usize {
        let inside = self.computed + 1..self.computed + tokens;
        let branch = self.keeping.branch;
        match inside.contains(&branch) && self.keeps(branch, snapshots.piece) {
            true => branch - self.computed,
            false => tokens,
        }
    }

    /// The last end of a page that a request with the same prompt can go on after.
    fn last_border(&self) -> usize {
        (self.tokens.len() - 1) / PAGE_TOKENS * PAGE_TOKENS
    }

    /// Whether its recurrent state after so many tokens is to be kept for other requests: at the end of a page, if it
    /// is worth it, and that is where its tokens end (a request with the same prompt, and while it generates the next
    /// turn of a conversation), where another prompt began to differ, or after 1, 2, 4, … whole pieces, as they end
    /// there anyway.
    pub fn keeps(&self, end: usize, piece: usize) -> bool {
        let pieces = end / piece;
        let is_place = end >= self.last_border()
            || end == self.keeping.branch
            || (end.is_multiple_of(piece) && pieces.is_power_of_two());
        matches!(self.work, Work::Generate(_))
            && end.is_multiple_of(PAGE_TOKENS)
            && end >= self.keeping.tokens + WORTH_KEEPING
            && is_place
    }

    /// The known pages that it can go on after, and how many there are: in a model with recurrent state, up to the last
    /// one with a snapshot.
    pub(super) fn usable_pages(&self, pool: &PagePool) -> (Vec<Known>, usize) {
        let mut found: Vec<Known> = self.known_pages(pool).collect();
        let known = found.len();
        if let Some(snapshots) = &pool.snapshots {
            let last = found
                .iter()
                .rposition(|known| snapshots.is_kept(known.page));
            found.truncate(last.map_or(0, |last| last + 1));
        }
        (found, known)
    }

    /// Its slot gets the state at the end of a page, where it was kept.
    pub(super) fn go_on_after(&mut self, page: u32, pool: &mut PagePool) {
        if let Some(snapshots) = &mut pool.snapshots {
            let found = snapshots.find(page);
            let former = std::mem::replace(&mut self.keeping.resumed, found);
            pool.give_back(former);
            self.keeping.tokens = self.computed;
        }
    }

    /// Its slot gets this state before the next step, which is its own from before the last one.
    pub fn go_back(&mut self, snapshot: Option<u32>) {
        self.keeping.resumed = snapshot;
    }

    /// Gives its slot the state of the snapshot that it goes on after.
    pub fn resume(&mut self, pool: &mut PagePool, forward: &mut dyn Forward) -> Result<()> {
        let Some(id) = self.keeping.resumed.take() else {
            return Ok(());
        };
        pool.give_back(Some(id));
        forward.restore(id, self.slot)
    }

    /// Leaves the state at the end of its last page, where it is, to others; whether they have it.
    pub fn leave(&mut self, pool: &mut PagePool, forward: &mut dyn Forward) -> Result<bool> {
        let (Some(snapshots), Some(last)) = (&mut pool.snapshots, self.pages.last()) else {
            return Ok(false);
        };
        if snapshots.is_kept(*last) {
            return Ok(true);
        }
        while let Some(id) = snapshots.take() {
            match forward.keep(self.slot, id) {
                Ok(true) => {
                    self.attach(id, false, pool);
                    return Ok(true);
                }
                Ok(false) => snapshots.lose(id),
                Err(error) => {
                    snapshots.lose(id);
                    return Err(error);
                }
            }
        }
        Ok(false)
    }

    /// Its state after the tokens that are computed was kept. `passing`: it is of use when the sequence ends, and
    /// not after the next one was kept.
    pub fn attach(&mut self, id: u32, passing: bool, pool: &mut PagePool) {
        let Some(snapshots) = &mut pool.snapshots else {
            return;
        };
        let last = self.registered.checked_sub(1);
        let Some(&page) = last.and_then(|last| self.pages.get(last)) else {
            return snapshots.give_back(id);
        };
        snapshots.attach(id, page, passing);
        if let Some(former) = self.keeping.passing.take() {
            snapshots.pass(former);
        }
        match passing {
            true => self.keeping.passing = Some(page),
            false => self.keeping.tokens = self.registered * PAGE_TOKENS,
        }
    }
}
