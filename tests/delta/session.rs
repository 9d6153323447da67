//! Sessions over a model with recurrent state: every request gives what it gives alone.

use super::{Slice, VOCABULARY, Wanted, executor};
use mlxrocm::Result;
use mlxrocm::cpu::CpuExecutor;
use mlxrocm::graph::Rules;
use mlxrocm::model::Forward;
use mlxrocm::session::{
    Detokenizer, Event, FinishReason, Generation, Next, Request, Session, SessionOptions,
    TextStream, Usage,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const MODEL: &str = "dense.gguf";
const CONTEXT: usize = 128;
pub const CONTEXT_OF_REUSE: usize = 512;
const SLOTS: usize = 3;
const WATCHDOG: Duration = Duration::from_secs(60);

pub struct NoText;

impl Detokenizer for NoText {
    fn stream(&self, _prompt: &[u32]) -> Box<dyn TextStream> {
        Box::new(NoText)
    }
}

impl TextStream for NoText {
    fn push(&mut self, _token: u32) -> Result<String> {
        Ok(String::new())
    }
    fn finish(&mut self) -> String {
        String::new()
    }
}

/// The model, with a count of how often a sequence began.
struct Counted {
    model: CpuExecutor,
    begun: Arc<AtomicUsize>,
}

impl Forward for Counted {
    fn vocab_size(&self) -> usize {
        Forward::vocab_size(&self.model)
    }
    fn max_tokens(&self) -> usize {
        self.model.max_tokens()
    }
    fn page_count(&self) -> usize {
        self.model.page_count()
    }
    fn slots(&self) -> Option<usize> {
        Forward::slots(&self.model)
    }
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        assert!(slices.len() <= SLOTS);
        let begun = slices.iter().filter(|slice| slice.start == 0).count();
        self.begun.fetch_add(begun, Ordering::SeqCst);
        self.model.forward(slices, logits)
    }
}

/// A session that would run more requests than there are slots.
fn session() -> (Session, Arc<AtomicUsize>) {
    let begun = Arc::new(AtomicUsize::new(0));
    let forward = Counted {
        model: executor(MODEL, Rules::All, 2, SLOTS),
        begun: begun.clone(),
    };
    let options = SessionOptions {
        context: CONTEXT,
        max_requests: 8,
        prefill_chunk: 24,
        ..Default::default()
    };
    let session = Session::with_forward(
        Box::new(forward),
        Arc::new(NoText),
        options,
        vec![],
        CONTEXT,
    );
    (session.unwrap(), begun)
}

fn prompt(seed: u32, len: usize) -> Vec<u32> {
    prompt_below(VOCABULARY as u32, seed, len)
}

pub fn prompt_below(vocabulary: u32, seed: u32, len: usize) -> Vec<u32> {
    let mut x = seed.wrapping_mul(2_654_435_761) | 1;
    let mut token = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x % vocabulary
    };
    (0..len).map(|_| token()).collect()
}

fn request(prompt: &[u32], max_tokens: usize) -> Request {
    Request {
        prompt: prompt.to_vec(),
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// What the model writes after a prompt, the likeliest token each time, without a session.
fn expected(prompt: &[u32], count: usize) -> Vec<u32> {
    let mut model = executor(MODEL, Rules::All, 1, 1);
    let (mut tokens, mut row, mut start) = (prompt.to_vec(), Vec::new(), 0);
    while tokens.len() < prompt.len() + count {
        // As much as fits a call.
        let end = tokens.len().min(start + 64);
        let slice = Slice {
            tokens: &tokens[start..end],
            start,
            pages: &[0, 1, 2, 3],
            wanted: Wanted::Last,
            slot: 0,
        };
        model.run(&[slice], &mut row).unwrap();
        start = end;
        if end == tokens.len() {
            let best = (0..VOCABULARY)
                .rev()
                .max_by(|&a, &b| row[a].total_cmp(&row[b]));
            tokens.push(best.unwrap() as u32);
        }
    }
    tokens.split_off(prompt.len())
}

/// Tokens and how it ended.
fn collect(generation: &Generation) -> (Vec<u32>, FinishReason, Usage) {
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(WATCHDOG)).unwrap() {
            Next::Event(Event::Token { token, .. }) => tokens.push(token),
            Next::Event(Event::Finished {
                reason,
                usage,
                error,
                ..
            }) => {
                assert_eq!(error, None);
                return (tokens, reason, usage);
            }
            Next::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// More requests than slots, over so few pages that some have to begin again; every third is cancelled.
#[test]
fn requests_give_what_they_give_alone() {
    let (session, begun) = session();
    let requests: Vec<(Vec<u32>, usize)> = (0..14)
        .map(|i| (prompt(i, 5 + 17 * i as usize % 60), 30 + i as usize))
        .collect();
    let all: Vec<Generation> = requests
        .iter()
        .map(|(prompt, count)| session.submit(request(prompt, *count)).unwrap())
        .collect();
    for (place, (generation, (prompt, count))) in all.iter().zip(&requests).enumerate() {
        if place % 3 == 2 {
            generation.cancel();
        }
        let (tokens, reason, usage) = collect(generation);
        let expected = expected(prompt, *count);
        match reason {
            FinishReason::Cancelled => assert!(expected.starts_with(&tokens), "request {place}"),
            reason => {
                assert_eq!(reason, FinishReason::Length);
                assert_eq!(tokens, expected, "request {place}");
            }
        }
        // What an earlier one left in the pages is not all that its tokens leave behind, and nothing else is kept here.
        assert_eq!(usage.cached_tokens, 0);
    }
    let begun = begun.load(Ordering::SeqCst);
    assert!(
        begun > 12,
        "{begun} of 14 requests began: none was sent back"
    );
    let status = session.status();
    assert_eq!((status.running, status.pages_cached), (0, 0), "{status:?}");
}

#[test]
fn a_chat_of_two_turns() {
    let (session, _) = session();
    let first = prompt(77, 40);
    let answer = collect(&session.submit(request(&first, 20)).unwrap()).0;
    assert_eq!(answer, expected(&first, 20));
    let second = [first, answer, prompt(78, 15)].concat();
    let again = collect(&session.submit(request(&second, 25)).unwrap()).0;
    assert_eq!(again, expected(&second, 25));
    // Evaluations take a slot too.
    let rows = session.logits(&second).unwrap();
    assert_eq!(rows.len(), second.len() * VOCABULARY);
    let last = rows.chunks(VOCABULARY).next_back().unwrap();
    let best = (0..VOCABULARY)
        .rev()
        .max_by(|&a, &b| last[a].total_cmp(&last[b]));
    assert_eq!(best.unwrap() as u32, again[0]);
}

/// The context ends a request as in other models.
#[test]
fn the_context_ends_a_request() {
    let (session, _) = session();
    let long = prompt(5, CONTEXT - 6);
    let (tokens, reason, _) = collect(&session.submit(request(&long, 0)).unwrap());
    assert_eq!(
        (tokens, reason),
        (expected(&long, 6), FinishReason::Context)
    );
}
