//! A model that is a hash function: it keeps the tokens in its KV pages and computes logits from
//! what the pages hold, so a page that is mixed up, lost or overwritten changes the tokens. What the
//! session must give is computed here without pages and without a session.

use mlxrocm::model::{
    ALL_BANNED, CHOSEN, Choice, Forward, KvType, NO_TOKEN, PAGE_TOKENS, Slice, StateForm, Wanted,
};
use mlxrocm::session::sampling::{Sampler, Scratch};
use mlxrocm::session::{
    Detokenizer, Event, FinishReason, Generation, Next, Request, Sampling, Session, SessionOptions,
    TextStream, Usage,
};
use mlxrocm::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

pub const VOCAB: usize = 61;
/// Ends a generation unless the request ignores it.
pub const EOS: u32 = 60;

fn hash(state: u64, value: u64) -> u64 {
    let mut x = state ^ value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn row(state: u64) -> impl Iterator<Item = f32> {
    (0..VOCAB as u64).map(move |i| (hash(state, i + 1000) % 4096) as f32 / 512.0 - 4.0)
}

pub fn state_after(tokens: &[u32]) -> u64 {
    tokens.iter().fold(1, |s, &t| hash(s, u64::from(t)))
}

/// Logits after `tokens`.
pub fn logits_after(tokens: &[u32]) -> Vec<f32> {
    row(state_after(tokens)).collect()
}

/// Columns of a hidden state.
pub const HIDDEN: usize = 5;

fn hidden_row(state: u64) -> impl Iterator<Item = f32> {
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
    gate: Mutex<bool>,
    opened: Condvar,
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
    control: Arc<Control>,
    /// (position, token) that each place of each page holds.
    pages: Vec<[Option<(usize, u32)>; PAGE_TOKENS]>,
    max_tokens: usize,
    kv: KvType,
    invariant_rows: Option<usize>,
    /// Whether it chooses tokens itself. Queued steps run as late as they may: when they are collected.
    pipelined: bool,
    queue: VecDeque<Queued>,
    /// Recurrent states: of slots, and kept ones. None of both: the model is not recurrent.
    states: Vec<State>,
    kept: Vec<State>,
    /// Only so many snapshots have memory.
    memory: usize,
    /// The queued step follows one that failed: it may read what that one left.
    after_failure: bool,
    /// Tokens that the step collected last chose.
    chosen: Vec<u32>,
    /// The rows that the last step's choices asked for.
    rated: Vec<f32>,
}

/// The tokens that a recurrent state has seen, and what it makes of them; `None`: nobody knows.
type State = Option<(usize, u64)>;

/// A copy of a state.
enum Copy {
    Keep(u32, u32),
    Restore(u32, u32),
}

/// A queued step, and what is copied after it.
struct Queued {
    slices: Vec<OwnedSlice>,
    choices: Vec<OwnedChoice>,
    copies: Vec<Copy>,
}

/// A row's choice: what a sampler needs, but for the row's own token.
struct OwnedChoice {
    sampling: Sampling,
    recent: Vec<u32>,
    own: bool,
    random: u64,
    rated: bool,
}

impl OwnedChoice {
    fn new(choice: &Choice) -> Self {
        OwnedChoice {
            sampling: Sampling {
                temperature: choice.temperature,
                top_k: choice.top_k,
                top_p: choice.top_p,
                min_p: choice.min_p,
                repetition_penalty: choice.repetition,
                presence_penalty: choice.presence,
                frequency_penalty: choice.frequency,
                penalty_window: u32::MAX,
                logit_bias: choice.biases.to_vec(),
                seed: 0,
                logprobs: 0,
            },
            recent: choice.recent.concat(),
            own: choice.own_is_recent,
            random: choice.random,
            rated: choice.rated,
        }
    }

    fn token(&self, own: u32, row: &[f32]) -> u32 {
        let mut recent = self.recent.clone();
        recent.extend(self.own.then_some(own));
        if recent.contains(&NO_TOKEN) {
            // Of no use to anybody.
            return 0;
        }
        let sampler = Sampler::new(self.sampling.clone(), VOCAB, &recent).unwrap();
        let mut scratch = Scratch::default();
        match sampler.sample_by(&mut row.to_vec(), self.random, &mut scratch) {
            Ok(sampled) => sampled.token,
            Err(Error::InvalidFile(_)) => NO_TOKEN,
            Err(_) => ALL_BANNED,
        }
    }
}

/// A slice of a queued step.
struct OwnedSlice {
    tokens: Vec<u32>,
    start: usize,
    pages: Vec<u32>,
    /// Positions.
    wanted: Vec<u32>,
    slot: u32,
}

impl OwnedSlice {
    fn slice(&self) -> Slice<'_> {
        Slice {
            tokens: &self.tokens,
            start: self.start,
            pages: &self.pages,
            wanted: Wanted::At(&self.wanted),
            slot: self.slot,
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.control.dropped.store(true, Ordering::SeqCst);
    }
}

impl Fake {
    fn check(&self, slices: &[Slice]) {
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

impl Fake {
    fn count_rows(&self, numbers: usize) {
        let rows = numbers / VOCAB;
        self.control.rows.fetch_add(rows, Ordering::SeqCst);
    }

    /// After the steps that are queued.
    fn later(&mut self, copy: Copy) {
        match self.queue.back_mut() {
            Some(step) => step.copies.push(copy),
            None => self.copy(copy),
        }
    }

    fn copy(&mut self, copy: Copy) {
        match copy {
            Copy::Keep(slot, snapshot) => {
                self.kept[snapshot as usize] = self.states[slot as usize];
            }
            Copy::Restore(snapshot, slot) => {
                self.states[slot as usize] = self.kept[snapshot as usize];
            }
        }
    }

    fn run(&mut self, slices: &[Slice], logits: &mut Vec<f32>, hidden: bool) -> Result<()> {
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
                    match hidden {
                        true => logits.extend(hidden_row(state)),
                        false => logits.extend(row(state)),
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

/// Token 3 is `d`: letters, one a token; the end token has none.
pub struct Letters;

pub fn letter(token: u32) -> String {
    char::from(b'a' + (token % 26) as u8).to_string()
}

pub fn text_of(tokens: &[u32]) -> String {
    tokens.iter().map(|&t| letter(t)).collect()
}

impl Detokenizer for Letters {
    fn stream(&self, _prompt: &[u32]) -> Box<dyn TextStream> {
        Box::new(Letters)
    }
}

impl TextStream for Letters {
    fn push(&mut self, token: u32) -> Result<String> {
        Ok(letter(token))
    }
    fn finish(&mut self) -> String {
        String::new()
    }
}

#[derive(Clone, Copy)]
pub struct Setup {
    pub pages: usize,
    pub max_tokens: usize,
    pub context: usize,
    pub max_requests: usize,
    pub prefill_chunk: usize,
    pub kv: KvType,
    pub pipelined: bool,
    /// The session is batch-invariant, and results would depend on others in steps of more rows.
    pub invariant_rows: Option<usize>,
    /// The model is recurrent: slots, snapshots, and how many of those have memory.
    pub recurrent: Option<(usize, usize, usize)>,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            pages: 200,
            max_tokens: 72,
            context: 512,
            max_requests: 8,
            prefill_chunk: 64,
            kv: KvType::F16,
            pipelined: false,
            invariant_rows: None,
            recurrent: None,
        }
    }
}

pub fn session(setup: Setup) -> (Session, Arc<Control>) {
    let control = Arc::new(Control::default());
    let (slots, snapshots, memory) = setup.recurrent.unwrap_or_default();
    let fake = Fake {
        states: vec![None; slots],
        kept: vec![None; snapshots],
        memory,
        control: control.clone(),
        pages: vec![[None; PAGE_TOKENS]; setup.pages],
        max_tokens: setup.max_tokens,
        kv: setup.kv,
        invariant_rows: setup.invariant_rows,
        pipelined: setup.pipelined,
        queue: VecDeque::new(),
        after_failure: false,
        chosen: Vec::new(),
        rated: Vec::new(),
    };
    let options = SessionOptions {
        context: setup.context,
        max_requests: setup.max_requests,
        prefill_chunk: setup.prefill_chunk,
        batch_invariant: setup.invariant_rows.is_some(),
        ..Default::default()
    };
    let session = Session::with_forward(
        Box::new(fake),
        Arc::new(Letters),
        options,
        vec![EOS],
        setup.context,
    )
    .unwrap();
    (session, control)
}

/// Random numbers for tests.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = hash(self.0, 77);
        (self.0 % n as u64) as usize
    }
    pub fn prompt(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.below(VOCAB) as u32).collect()
    }
}

/// What a session with that context must generate for the request, which has no logits processor.
pub fn expected(request: &Request, context: usize) -> (Vec<u32>, FinishReason) {
    expected_by(request, context, &|_, _| {})
}

/// The same where its logits processor does this.
pub fn expected_by(
    request: &Request,
    context: usize,
    edit: &dyn Fn(&[u32], &mut [f32]),
) -> (Vec<u32>, FinishReason) {
    let mut tokens = request.prompt.clone();
    let mut sampler = Sampler::new(request.sampling.clone(), VOCAB, &tokens).unwrap();
    let mut scratch = Scratch::default();
    let mut new = Vec::new();
    loop {
        let mut row = logits_after(&tokens);
        edit(&tokens, &mut row);
        // An infinity would be the model's fault.
        row.iter_mut()
            .for_each(|logit| *logit = logit.max(f32::MIN));
        let token = sampler
            .sample(&mut row, new.len() as u64, &mut scratch)
            .unwrap()
            .token;
        sampler.accept(token);
        tokens.push(token);
        new.push(token);
        if request.stop_tokens.contains(&token) || (token == EOS && !request.ignore_eos) {
            return (new, FinishReason::StopToken);
        }
        if new.len() == request.max_tokens {
            return (new, FinishReason::Length);
        }
        if tokens.len() == context {
            return (new, FinishReason::Context);
        }
    }
}

/// All that came out of a generation.
#[derive(Debug)]
pub struct Output {
    pub prompt_done: Vec<usize>,
    pub tokens: Vec<u32>,
    pub text: String,
    pub reason: FinishReason,
    pub usage: Usage,
    pub error: Option<Error>,
}

pub const WATCHDOG: Duration = Duration::from_secs(60);

pub fn next(generation: &Generation) -> Option<Event> {
    match generation.next(Some(WATCHDOG)).unwrap() {
        Next::Event(event) => Some(event),
        Next::End => None,
        Next::Pending => panic!("nothing for {WATCHDOG:?}: deadlock"),
    }
}

pub fn collect(generation: &Generation) -> Output {
    let mut output = Output {
        prompt_done: Vec::new(),
        tokens: Vec::new(),
        text: String::new(),
        reason: FinishReason::Error,
        usage: Usage::default(),
        error: None,
    };
    let mut finished = false;
    while let Some(event) = next(generation) {
        assert!(!finished, "{event:?} after the end");
        match event {
            Event::Prompt { done, .. } => output.prompt_done.push(done),
            Event::Token { token, text, .. } => {
                output.tokens.push(token);
                output.text += &text;
            }
            Event::Finished {
                reason,
                text,
                usage,
                error,
            } => {
                output.text += &text;
                output.reason = reason;
                output.usage = usage;
                output.error = error;
                finished = true;
            }
        }
    }
    assert!(finished);
    output
}

/// The output is what the request must give.
pub fn assert_right(request: &Request, context: usize, output: &Output) {
    let (tokens, reason) = expected(request, context);
    assert_eq!(output.tokens, tokens, "{request:?}");
    assert_eq!(output.reason, reason);
    assert_eq!(output.error, None);
    assert_eq!(output.usage.prompt_tokens, request.prompt.len());
    assert_eq!(output.usage.generated_tokens, tokens.len());
}

/// Waits until nothing runs; then no page is held.
pub fn assert_no_page_held(session: &Session) {
    let start = Instant::now();
    loop {
        let status = session.status();
        if status.running == 0 && status.waiting == 0 && status.pages_used == 0 {
            return;
        }
        assert!(start.elapsed() < WATCHDOG, "{status:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until `condition`.
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < WATCHDOG, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
