//! Sessions over the fake model, what they must generate, and what comes out.

use crate::fake::{Control, EOS, Fake, REPEATS, VOCAB, hash, logits_after, repeating_logits};
use mlxrocm::model::{Forward, KvType, PAGE_TOKENS};
use mlxrocm::session::sampling::{Sampler, Scratch};
use mlxrocm::session::{
    Detokenizer, Event, FinishReason, Generation, Next, Request, Session, SessionOptions,
    TextStream, Usage,
};
use mlxrocm::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// The session guesses tokens of a model whose text repeats itself.
    pub guesses: bool,
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
            guesses: false,
        }
    }
}

fn fake(setup: &Setup, repeats: Option<f32>) -> (Fake, Arc<Control>) {
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
        repeats,
        pipelined: setup.pipelined,
        queue: VecDeque::new(),
        after_failure: false,
        chosen: Vec::new(),
        rated: Vec::new(),
    };
    (fake, control)
}

pub fn session(setup: Setup) -> (Session, Arc<Control>) {
    let (session, control, _) = session_with(setup, None);
    (session, control)
}

/// The same with a draft model, and how that is controlled.
pub fn session_with(setup: Setup, draft: Option<&Setup>) -> (Session, Arc<Control>, Arc<Control>) {
    let repeats = setup.guesses || draft.is_some();
    let (forward, control) = fake(&setup, repeats.then_some(REPEATS));
    // It does not know of the rest.
    let (drafting, draft_control) = fake(draft.unwrap_or(&setup), Some(0.0));
    let options = SessionOptions {
        context: setup.context,
        max_requests: setup.max_requests,
        prefill_chunk: setup.prefill_chunk,
        batch_invariant: setup.invariant_rows.is_some(),
        prompt_lookup: setup.guesses,
        ..Default::default()
    };
    let drafting: Option<Box<dyn Forward>> = match draft {
        Some(_) => Some(Box::new(drafting)),
        None => None,
    };
    let session = Session::with_forwards(
        (Box::new(forward), drafting),
        Arc::new(Letters),
        options,
        vec![EOS],
        setup.context,
    )
    .unwrap();
    (session, control, draft_control)
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
            .sample(&mut row, new.len() as u64, None, &mut scratch)
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

/// The same where the model's text repeats itself.
pub fn expected_repeating(request: &Request, context: usize) -> (Vec<u32>, FinishReason) {
    expected_by(request, context, &|tokens, row| {
        row.copy_from_slice(&repeating_logits(tokens));
    })
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
    assert_output(request, expected(request, context), output);
}

pub fn assert_output(
    request: &Request,
    (tokens, reason): (Vec<u32>, FinishReason),
    output: &Output,
) {
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
