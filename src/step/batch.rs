//! The batch that steps run on, and whether a forward state takes it.

use super::steps::{PAGE_TOKENS, StateSize};
use crate::{Error, Result};
use std::ops::Range;

/// Which rows of a slice want logits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// None: prefill that is not finished.
    #[default]
    Nothing,
    /// The last token of the slice.
    Last,
    /// Every token (evaluation).
    All,
    /// The tokens at these positions of the sequence: they rise, and all are in the slice.
    At(&'a [u32]),
}

/// As a token of a slice, `CHOSEN + i` stands for the `i`th token that the step queued before
/// chooses. Vocabularies are smaller.
pub const CHOSEN: u32 = 1 << 31;

/// A run of consecutive tokens of one sequence.
#[derive(Debug, Clone, Default)]
pub struct Slice<'a> {
    /// The tokens to run.
    pub tokens: &'a [u32],
    /// Position of the first of them in its sequence.
    pub start: usize,
    /// KV pages of the sequence, enough for `start + tokens.len()` positions. Page ids are below
    /// the page count the forward state was made with.
    pub pages: &'a [u32],
    /// Which rows want logits.
    pub wanted: Wanted<'a>,
    /// Where a model with recurrent layers keeps the sequence's state; others do not look at it. It is below the
    /// number of sequences that the forward state was made for, and no other slice's of the batch. A sequence
    /// stays in its slot from its first token (`start` 0, which needs no state) on.
    pub slot: u32,
}

impl Slice<'_> {
    /// Rows of logits this slice asks for.
    pub fn wanted_rows(&self) -> usize {
        self.wanted_runs().map(|run| run.len()).sum()
    }

    /// The tokens that rows are asked for, by their places in the slice: runs of consecutive ones.
    pub fn wanted_runs(&self) -> impl Iterator<Item = Range<usize>> {
        let (start, end) = (self.start, self.tokens.len());
        let (run, at): (Range<usize>, &[u32]) = match self.wanted {
            Wanted::Nothing => (0..0, &[]),
            Wanted::Last => (end.saturating_sub(1)..end, &[]),
            Wanted::All => (0..end, &[]),
            Wanted::At(positions) => (0..0, positions),
        };
        let place = move |position: u32| (position as usize).saturating_sub(start);
        let runs = at
            .chunk_by(|a, b| b.checked_sub(*a) == Some(1))
            .map(move |run| place(run[0])..place(run[0]) + run.len());
        (!run.is_empty()).then_some(run).into_iter().chain(runs)
    }

    /// Whether [`Wanted::At`] keeps its promise.
    pub fn wants_its_own(&self) -> bool {
        match self.wanted {
            Wanted::At(positions) => {
                let own =
                    |p: &u32| (self.start..self.start + self.tokens.len()).contains(&(*p as usize));
                positions.is_sorted_by(|a, b| a < b) && positions.iter().all(own)
            }
            _ => true,
        }
    }
}

impl StateSize {
    /// Rows of a batch, and how many of them are wanted, if a state of this size takes it: `vocab` tokens
    /// are known, and the step before chose `chosen`.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn check(
        &self,
        slices: &[Slice<'_>],
        vocab: usize,
        chosen: usize,
    ) -> Result<(usize, usize)> {
        let refused = |what: String| Err(Error::InvalidArgument(what));
        let rows = slices.iter().map(|slice| slice.tokens.len()).sum();
        if rows > self.tokens || slices.len() > self.sequences {
            return refused(format!(
                "a batch of {rows} tokens of {} sequences, at most {} of {} fit",
                slices.len(),
                self.tokens,
                self.sequences
            ));
        }
        let is_known = |token: u32| match token.checked_sub(CHOSEN) {
            Some(place) => (place as usize) < chosen,
            None => (token as usize) < vocab,
        };
        for slice in slices {
            let end = slice.start + slice.tokens.len();
            if end > self.context {
                let most = self.context;
                return refused(format!("a sequence of {end} tokens, at most {most} fit"));
            }
            let pages = end.div_ceil(PAGE_TOKENS);
            if slice.pages.len() < pages || slice.pages.iter().any(|p| *p as usize >= self.pages) {
                let given = slice.pages.len();
                return refused(format!(
                    "a sequence of {end} tokens without {pages} valid KV pages ({given} given)"
                ));
            }
            if !slice.wants_its_own() {
                return refused("a slice wants rows of other tokens than its own".into());
            }
            if let Some(token) = slice.tokens.iter().find(|token| !is_known(**token)) {
                return refused(format!(
                    "token {token} is outside the vocabulary of {vocab}"
                ));
            }
        }
        Ok((rows, slices.iter().map(Slice::wanted_rows).sum()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{KvType, Wanted};

    const SIZE: StateSize = StateSize {
        tokens: 40,
        sequences: 2,
        context: 3 * PAGE_TOKENS,
        snapshots: 0,
        pages: 7,
        kv: KvType::F16,
    };

    fn slice<'a>(tokens: &'a [u32], start: usize, pages: &'a [u32]) -> Slice<'a> {
        Slice {
            tokens,
            start,
            pages,
            wanted: Wanted::Last,
            slot: 0,
        }
    }

    #[test]
    fn what_fits_is_counted() {
        let (all, one) = (
            slice(&[0, 9, 5], 0, &[6]),
            slice(&[CHOSEN + 1], 70, &[0, 3, 1]),
        );
        let all = Slice {
            wanted: Wanted::All,
            ..all
        };
        assert_eq!(SIZE.check(&[all, one], 10, 2), Ok((4, 4)));
        assert_eq!(SIZE.check(&[], 10, 0), Ok((0, 0)));
        let last = SIZE.context - 1;
        let last = slice(&[1], last, &[1, 2, 3]);
        assert_eq!(SIZE.check(&[last], 10, 0), Ok((1, 1)));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_what_is_wrong() {
        let (many, page) = ([1; 41], [6]);
        let good = || slice(&[1], 0, &page);
        let other = Slice {
            wanted: Wanted::At(&[1]),
            ..good()
        };
        for (slices, what) in [
            (
                vec![slice(&many, 0, &[0, 1, 2])],
                "41 tokens of 1 sequences",
            ),
            (vec![good(), good(), good()], "3 tokens of 3 sequences"),
            (vec![slice(&[1], SIZE.context, &[0; 9])], "at most 96 fit"),
            (
                vec![good(), slice(&[1], PAGE_TOKENS, &page)],
                "without 2 valid",
            ),
            (vec![slice(&[1], 0, &[7])], "without 1 valid"),
            (vec![other], "other tokens"),
            (vec![slice(&[1, 10], 0, &page)], "token 10"),
            (
                vec![slice(&[CHOSEN + 2], 0, &page)],
                "outside the vocabulary",
            ),
        ] {
            match SIZE.check(&slices, 10, 2) {
                Err(Error::InvalidArgument(text)) => assert!(text.contains(what), "{text}"),
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}
