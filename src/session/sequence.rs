//! One request as the scheduler sees it: its tokens, how far they are computed, its pages.

mod guessed;
mod keeping;

use super::FinishReason;
use super::channel::Channel;
use super::evaluation::{Evaluation, Output};
use super::generating::{Generating, Row};
use super::pages::{Known, PagePool, ROOT};
use super::sampling::Scratch;
use super::speculation::Lookup;
use super::state::StateWork;
use crate::model::{Choice, Forward, PAGE_TOKENS, Wanted};
use crate::{Error, Result};
use keeping::Keeping;
use std::sync::Arc;
use std::time::Instant;

/// Why a sequence is over.
pub(super) type End = (FinishReason, Option<Error>);

/// What the tokens are computed for.
pub(super) enum Work {
    /// To be continued.
    Generate(Box<Generating>),
    /// For their logits or hidden states.
    Evaluate(Evaluation),
    /// For their pages, to be saved; or nothing is, and their pages are given.
    State(StateWork),
}

/// One request. One thread at a time.
pub(super) struct Sequence {
    /// Rises with age's fall: the youngest has the largest.
    pub id: u64,
    /// The prompt and what was generated.
    pub tokens: Vec<u32>,
    /// How many of them have keys and values in the pages.
    pub computed: usize,
    /// Enough for `computed` tokens; more while a prompt is under way.
    pub pages: Vec<u32>,
    /// Where the model keeps its recurrent state, while it runs; 0 where models keep none.
    pub slot: u32,
    /// How many pages are known to the pool by their content, and their chain.
    registered: usize,
    chain: u64,
    keeping: Keeping,
    /// When it last had a chunk of its prompt run.
    pub turn: u64,
    /// Finds guesses in its tokens; empty where nobody asks.
    lookup: Lookup,
    /// Tokens that it has are run again, as its recurrent state was that of wrong guesses.
    pub taken_back: bool,
    /// The caller does not read: nothing is computed until there is room for events.
    pub stalled: bool,
    pub work: Work,
}

impl Sequence {
    pub fn new(tokens: Vec<u32>, work: Work) -> Sequence {
        Sequence {
            id: 0,
            tokens,
            computed: 0,
            pages: Vec::new(),
            slot: 0,
            registered: 0,
            chain: ROOT,
            keeping: Keeping::default(),
            turn: 0,
            lookup: Lookup::default(),
            taken_back: false,
            stalled: false,
            work,
        }
    }

    /// Tokens to run before the next one can be chosen.
    pub fn pending(&self) -> usize {
        self.tokens.len() - self.computed
    }

    /// The most tokens to run at once.
    pub fn chunk(&self, limit: usize, pool: &PagePool) -> usize {
        let limit = match &self.work {
            Work::Generate(_) | Work::State(_) => limit,
            Work::Evaluate(work) => work.chunk(self.computed, limit),
        };
        let tokens = self.pending().min(limit);
        match &pool.snapshots {
            Some(snapshots) => self.cut(tokens, snapshots),
            None => tokens,
        }
    }

    /// Which rows a run of the next `n` tokens must give.
    pub fn wanted(&self, n: usize) -> Wanted<'_> {
        match &self.work {
            Work::Evaluate(work) => work.wanted(self.computed, n),
            Work::Generate(_) if n == self.pending() => Wanted::Last,
            Work::Generate(_) | Work::State(_) => Wanted::Nothing,
        }
    }

    /// How many these are.
    pub fn rows(&self, n: usize) -> usize {
        match self.wanted(n) {
            Wanted::Nothing => 0,
            Wanted::Last => 1,
            Wanted::All => n,
            Wanted::At(positions) => positions.len(),
        }
    }

    /// What its rows are.
    pub fn output(&self) -> Output {
        match &self.work {
            Work::Evaluate(work) => work.output(),
            Work::Generate(_) | Work::State(_) => Output::Logits,
        }
    }

    pub fn is_cancelled(&self) -> bool {
        match &self.work {
            Work::Generate(work) => work.channel().is_cancelled(),
            Work::Evaluate(_) | Work::State(_) => false,
        }
    }

    /// Looks whether the caller's queue has room for a step; keeps the answer in `stalled`.
    pub fn check_room(&mut self) -> bool {
        self.stalled = match &self.work {
            Work::Generate(work) => !work.channel().has_room(),
            Work::Evaluate(_) | Work::State(_) => false,
        };
        !self.stalled
    }

    /// Pages that hold the first of the uncomputed tokens already; where logits are wanted, at most up to the last
    /// token, which must be run to have them.
    fn known_pages<'a>(&'a self, pool: &'a PagePool) -> impl Iterator<Item = Known> + 'a {
        let end = match self.work {
            Work::Generate(_) => (self.tokens.len() - 1) / PAGE_TOKENS,
            Work::State(_) => self.tokens.len() / PAGE_TOKENS,
            Work::Evaluate(_) => self.registered,
        };
        let end = match self.computed == self.registered * PAGE_TOKENS {
            true => end,
            false => self.registered,
        };
        let mut chain = self.chain;
        (self.registered..end).map_while(move |i| {
            let tokens = self.tokens.get(i * PAGE_TOKENS..(i + 1) * PAGE_TOKENS)?;
            let known = pool.find(chain, tokens)?;
            chain = known.chain;
            Some(known)
        })
    }

    /// Pages that it begins with.
    pub fn first_pages(&self) -> usize {
        self.tokens.len().div_ceil(PAGE_TOKENS)
    }

    /// The most pages that it may come to have.
    pub fn most_pages(&self) -> usize {
        let tokens = match &self.work {
            // One more where a step is queued ahead.
            Work::Generate(work) => work.most_tokens() + 1,
            Work::Evaluate(_) | Work::State(_) => self.tokens.len(),
        };
        tokens
            .max(self.tokens.len())
            .div_ceil(PAGE_TOKENS)
            .max(self.pages.len())
    }

    /// Takes pages for all tokens, those with known content first, if `reserve` more would be left.
    /// The sequence has no pages yet.
    pub fn take_pages(&mut self, pool: &mut PagePool, reserve: usize) -> bool {
        let total = self.first_pages();
        let (found, known) = self.usable_pages(pool);
        let unused = found.iter().filter(|known| pool.is_unused(known.page));
        if pool.available() < total - found.len() + unused.count() + reserve {
            return false;
        }
        if known > found.len() {
            self.keeping.branch = known * PAGE_TOKENS;
        }
        self.reuse(pool);
        while self.pages.len() < total
            && let Some(page) = pool.take()
        {
            self.pages.push(page);
        }
        true
    }

    /// Goes on after the pages whose content is known, instead of computing them again. Another
    /// sequence may have just computed the same prompt.
    pub fn reuse(&mut self, pool: &mut PagePool) {
        let first = self.registered;
        let (found, _) = self.usable_pages(pool);
        for (i, known) in found.iter().enumerate() {
            pool.retain(known.page);
            match self.pages.get_mut(first + i) {
                Some(page) => pool.release(std::mem::replace(page, known.page)),
                None => self.pages.push(known.page),
            }
            self.chain = known.chain;
        }
        self.registered += found.len();
        self.computed += found.len() * PAGE_TOKENS;
        if let Some(last) = found.last() {
            self.go_on_after(last.page, pool);
        }
        if let Work::Generate(work) = &mut self.work {
            work.reused(found.len() * PAGE_TOKENS);
        }
    }

    /// Gives all pages back. It ends.
    pub fn release_pages(&mut self, pool: &mut PagePool) {
        pool.release_all(&mut self.pages);
        pool.give_back(self.keeping.resumed.take());
    }

    /// Gives all pages back; everything has to be computed again (what is still known is reused).
    pub fn drop_pages(&mut self, pool: &mut PagePool) {
        self.release_pages(pool);
        self.computed = 0;
        self.registered = 0;
        self.chain = ROOT;
        self.keeping = Keeping::default();
        self.taken_back = false;
        match &mut self.work {
            Work::Generate(work) => work.restarted(),
            Work::Evaluate(work) => work.restarted(),
            Work::State(_) => {}
        }
    }

    /// How a device has to choose its next token, if it can; with an `ahead` that is not 0 the one so many tokens later,
    /// whose predecessors are not known here yet.
    pub fn choice(&self, ahead: usize) -> Option<Choice<'_>> {
        match &self.work {
            Work::Generate(work) if work.chooses_itself() => None,
            // Penalties look at all predecessors; the device adds one of them.
            Work::Generate(work) if ahead > 1 && work.sampler.has_penalties() => None,
            Work::Generate(work) => {
                let next = self.tokens.len() - work.prompt_tokens + ahead;
                work.sampler.choice(next as u64, ahead > 0)
            }
            Work::Evaluate(_) | Work::State(_) => None,
        }
    }

    /// Whether it goes on with one token, which is known.
    pub fn is_resting(&self) -> bool {
        matches!(self.work, Work::Generate(_)) && self.pending() == 1
    }

    /// Whether the next token is its last one, whatever that is.
    pub fn ends_next(&self) -> bool {
        match &self.work {
            Work::Generate(work) => work.ends_at(self.tokens.len() + 1),
            Work::Evaluate(_) | Work::State(_) => false,
        }
    }

    /// The run of the next tokens begins.
    pub fn begin(&mut self, now: Instant) {
        if let Work::Generate(work) = &mut self.work {
            work.begin(now);
        }
    }

    /// The next `n` tokens were run and gave this. Reports, chooses the next token where
    /// it is time, and says whether that was the end.
    pub fn advance(
        &mut self,
        n: usize,
        rows: Row<'_>,
        pool: &mut PagePool,
        scratch: &mut Scratch,
        now: Instant,
    ) -> Option<End> {
        self.computed += n;
        self.taken_back = false;
        if !matches!(self.work, Work::Evaluate(_)) {
            self.register(pool);
        }
        match &mut self.work {
            Work::State(_) => (self.pending() == 0).then_some((FinishReason::Length, None)),
            Work::Generate(work) => {
                work.advance(&mut self.tokens, self.computed, rows, scratch, now)
            }
            Work::Evaluate(work) => {
                if let Row::Logits(rows) = rows {
                    work.take(rows);
                }
                (self.computed == self.tokens.len()).then_some((FinishReason::Length, None))
            }
        }
    }

    /// Makes pages that are full now known.
    fn register(&mut self, pool: &mut PagePool) {
        while (self.registered + 1) * PAGE_TOKENS <= self.computed
            && let Some(page) = self.pages.get_mut(self.registered)
        {
            let first = self.registered * PAGE_TOKENS;
            let Some(tokens) = self.tokens.get(first..first + PAGE_TOKENS) else {
                return;
            };
            let known = pool.register(*page, self.chain, tokens);
            *page = known.page;
            self.chain = known.chain;
            self.registered += 1;
        }
    }

    /// Whether it is a state that needs no more steps: its pages are known, or were given with it.
    pub fn is_settled(&mut self, pool: &mut PagePool, forward: &mut dyn Forward) -> Result<bool> {
        if !matches!(self.work, Work::State(_)) {
            return Ok(false);
        }
        self.reuse(pool);
        let found = self.registered;
        while let Work::State(work) = &self.work
            && let Some(page) = self.pages.get(self.registered)
            && let Some(bytes) = work.page(self.registered)
        {
            forward.write_page(*page, bytes)?;
            self.computed += PAGE_TOKENS;
            self.register(pool);
        }
        if self.registered > found
            && let Work::State(work) = &self.work
            && let Some(bytes) = work.slot(self.registered)
        {
            // Instead of that of the pages which it found.
            pool.give_back(self.keeping.resumed.take());
            forward.write_slot(self.slot, self.computed, bytes)?;
        }
        Ok(self.pending() == 0)
    }

    /// What is left to do before its pages are given back, where it ends well.
    pub fn complete(&mut self, pool: &mut PagePool, forward: &mut dyn Forward) -> Result<()> {
        if !matches!(self.work, Work::State(_)) {
            return Ok(());
        }
        // All of it may have been found.
        self.resume(pool, forward)?;
        let is_kept = self.leave(pool, forward)?;
        let Work::State(work) = &mut self.work else {
            return Ok(());
        };
        if !is_kept {
            work.not_kept()?;
        }
        work.save(&self.pages, self.slot, forward)
    }

    /// Tells the caller that it is over. Pages were given back before.
    pub fn finish(self, (reason, error): End) {
        debug_assert!(self.pages.is_empty());
        match self.work {
            Work::Generate(work) => work.finish(self.tokens.len(), reason, error),
            Work::Evaluate(work) => work.finish(error),
            Work::State(work) => work.finish(error),
        }
    }
}

/// The sending end of a generation's events: whatever happens, the last one is `Finished`.
pub(super) struct Sender(pub Arc<Channel>);

impl Drop for Sender {
    fn drop(&mut self) {
        // The queue ignores it after a proper end.
        self.0.push(super::Event::Finished {
            reason: FinishReason::Error,
            text: String::new(),
            usage: Default::default(),
            error: Some(Error::Internal("the scheduler dropped a request".into())),
        });
    }
}
