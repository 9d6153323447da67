//! Who runs when: fairness, and callers that do not read.

use crate::harness::*;
use crate::submit::at_once;
use crate::tokens::sampled;
use mlxrocm::model::PAGE_TOKENS;
use mlxrocm::session::{Event, FinishReason, Request};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Steps of a generation that nobody reads: two events of the first and one of each other step make
/// 255, and a step is not begun unless two more have room in the queue of 256.
const UNREAD_STEPS: usize = 254;

fn request(prompt: Vec<u32>, max_tokens: usize) -> Request {
    Request {
        prompt,
        sampling: sampled(2),
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// A long prompt does not hold up a running generation, nor a short prompt.
#[test]
fn prompts_take_turns_and_tokens_flow() {
    let (session, control) = session(Setup {
        context: 4096,
        prefill_chunk: 32,
        ..Default::default()
    });
    // Slow enough that it is still running when the gate is shut.
    control.delay_us.store(2000, Ordering::SeqCst);
    let running = session.submit(request(vec![1], 250)).unwrap();
    while !matches!(next(&running), Some(Event::Token { .. })) {}
    control.shut();
    let long = session.submit(request(Random(1).prompt(3000), 3)).unwrap();
    let short = session.submit(request(Random(2).prompt(40), 3)).unwrap();
    let tiny = session.submit(request(Random(3).prompt(5), 3)).unwrap();
    let first = control.calls();
    control.open();
    for generation in [&tiny, &short] {
        assert_eq!(collect(generation).tokens.len(), 3);
    }
    let done = next(&long).unwrap();
    assert!(
        matches!(
            done,
            Event::Prompt {
                done: 32,
                total: 3000
            }
        ),
        "{done:?}"
    );
    assert_eq!(collect(&running).tokens.len(), 249);
    assert_eq!(collect(&long).tokens.len(), 3);
    let log = control.log.lock().unwrap();
    let prompts: Vec<_> = log[first + 1..]
        .iter()
        .filter(|call| call.iter().any(|s| s.0 > 1))
        .take(60)
        .collect();
    assert!(prompts.len() == 60);
    for call in &prompts {
        assert_eq!(call[0], (1, 1), "a step without its token");
        let tokens: usize = call.iter().map(|s| s.0).filter(|&n| n > 1).sum();
        assert!(tokens <= 32, "{tokens} prompt tokens in a step");
    }
    // The short prompts need two turns and one, and are not behind the long one.
    let short_done = prompts
        .iter()
        .position(|call| call.contains(&(8, 1)))
        .unwrap();
    assert!(short_done <= 4, "the short prompt took {short_done} steps");
}

/// However a prompt is cut, it is the same with and without others.
#[test]
fn cuts_do_not_depend_on_others() {
    let (session, control) = session(Setup {
        prefill_chunk: 48,
        ..Default::default()
    });
    control.shut();
    let blocker = session.submit(request(vec![1], 1)).unwrap();
    let lengths = [200, 60, 10, 100, 48, 20];
    let generations: Vec<_> = lengths
        .iter()
        .enumerate()
        .map(|(i, &n)| {
            session
                .submit(request(Random(i as u64).prompt(n), 1))
                .unwrap()
        })
        .collect();
    control.open();
    collect(&blocker);
    for (generation, n) in generations.iter().zip(lengths) {
        let mut want: Vec<usize> = (1..).map(|i| i * 48).take_while(|&d| d < n).collect();
        want.push(n);
        assert_eq!(collect(generation).prompt_done, want);
    }
}

#[test]
fn a_caller_that_does_not_read_stops_nobody() {
    let setup = Setup {
        // Room for two at most, and fewer places than silent callers.
        pages: 34,
        max_requests: 4,
        context: 512,
        ..Default::default()
    };
    let (session, control) = session(setup);
    let silent: Vec<_> = (0..6)
        .map(|i| session.submit(request(vec![i, 2], 0)).unwrap())
        .collect();
    for i in 0..10 {
        let request = request(Random(100 + i).prompt(90), 300);
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_right(&request, 512, &output);
    }
    wait_until("everything pauses", || {
        let calls = control.calls();
        std::thread::sleep(Duration::from_millis(20));
        calls == control.calls()
    });
    // They go on where they stopped, and never lost or repeated a token.
    for (i, generation) in silent.iter().enumerate().skip(1) {
        let request = request(vec![i as u32, 2], 0);
        let output = collect(generation);
        assert_right(&request, 512, &output);
        assert_eq!(output.reason, FinishReason::Context);
    }
    // Ends although nobody ever read it.
    silent[0].cancel();
    assert_eq!(collect(&silent[0]).reason, FinishReason::Cancelled);
    assert_no_page_held(&session);
}

#[test]
fn a_queue_is_bounded() {
    let (session, control) = session(Setup::default());
    let generation = session.submit(request(vec![1], 0)).unwrap();
    wait_until("it pauses", || control.calls() >= UNREAD_STEPS);
    std::thread::sleep(Duration::from_millis(20));
    let paused = control.calls();
    assert_eq!(paused, UNREAD_STEPS);
    // Reading a few does not start it yet; reading half does.
    for _ in 0..10 {
        next(&generation);
    }
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(control.calls(), paused);
    for _ in 0..130 {
        next(&generation);
    }
    wait_until("it goes on", || control.calls() > paused);
}

#[test]
fn requests_start_in_order() {
    let (session, control) = session(Setup {
        max_requests: 1,
        ..Default::default()
    });
    control.delay_us.store(20, Ordering::SeqCst);
    let generations: Vec<_> = (0..6)
        .map(|i| session.submit(request(vec![i], 10)).unwrap())
        .collect();
    let last = generations.last().unwrap();
    while next(last).is_some() {}
    for generation in &generations[..5] {
        // All of it is there already.
        let mut events = 0;
        while let mlxrocm::session::Next::Event(_) = generation.next(Some(Duration::ZERO)).unwrap()
        {
            events += 1;
        }
        assert_eq!(events, 12);
    }
}

/// A sequence that lost its place and pages finds its pages again, and what it adds to the cache
/// afterwards is filed under the right beginning.
#[test]
fn a_restart_keeps_the_cache_right() {
    let (session, control) = session(Setup {
        max_requests: 1,
        ..Default::default()
    });
    let restarted = request(vec![1, 2], 0);
    let generation = session.submit(restarted.clone()).unwrap();
    wait_until("it pauses", || control.calls() >= UNREAD_STEPS);
    let other = request(vec![3, 4], 5);
    assert_right(
        &other,
        512,
        &collect(&session.submit(other.clone()).unwrap()),
    );
    let output = collect(&generation);
    assert_right(&restarted, 512, &output);
    assert_eq!(output.usage.cached_tokens, 0, "its own pages do not count");
    // 511 tokens of its own and 6 of the other, and less than a page twice.
    assert!(control.tokens() < 511 + 6 + PAGE_TOKENS);
    let history = [&restarted.prompt[..], &output.tokens].concat();
    for page in 1..history.len() / PAGE_TOKENS {
        let middle = request(history[page * PAGE_TOKENS..].to_vec(), 1);
        let output = collect(&session.submit(middle.clone()).unwrap());
        assert_right(&middle, 512, &output);
        assert_eq!(output.usage.cached_tokens, 0);
    }
    let all = request(history[..511].to_vec(), 1);
    let output = collect(&session.submit(all.clone()).unwrap());
    assert_right(&all, 512, &output);
    assert_eq!(output.usage.cached_tokens, 480);
}

/// In a batch-invariant session each step is a piece of one prompt, or single tokens of few sequences; nothing is computed
/// twice, though there is not room for all requests at once, and nothing is taken from others.
#[test]
fn steps_are_of_one_kind_where_nothing_may_depend_on_others() {
    for pipelined in [false, true] {
        let (session, control) = session(Setup {
            pages: 60,
            max_requests: 6,
            prefill_chunk: 48,
            pipelined,
            invariant_rows: Some(4),
            ..Default::default()
        });
        let lengths = [200, 1, 60, 10, 100, 48, 20, 3, 200, 61];
        let mut all = 0;
        let requests: Vec<Request> = (0..30)
            .map(|i| {
                // Every prompt comes three times.
                let n = lengths[i % lengths.len()];
                let new = 1 + i * 7 % 40;
                all += n + new - 1;
                request(Random((i % lengths.len()) as u64).prompt(n), new)
            })
            .collect();
        let generations = at_once(&session, &control, &requests);
        for (generation, request) in generations.iter().zip(&requests) {
            let output = collect(generation);
            assert_right(request, 512, &output);
            assert_eq!(output.usage.cached_tokens, 0);
            let n = request.prompt.len();
            let mut want: Vec<usize> = (1..).map(|i| i * 48).take_while(|&d| d < n).collect();
            want.push(n);
            assert_eq!(output.prompt_done, want);
        }
        let log = control.log.lock().unwrap();
        for call in log.iter() {
            let singles = call.iter().all(|slice| slice.0 == 1) && call.len() <= 4;
            assert!(singles || call.len() == 1, "{call:?}");
        }
        assert!(log.iter().any(|call| call.len() == 4));
        drop(log);
        // What was queued ahead for those that ended meanwhile is no token of theirs.
        assert!(
            pipelined || control.tokens() == all,
            "{} of {all}",
            control.tokens()
        );
        let refused = session
            .save_state(&requests[0].prompt)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("batch-invariant"), "{refused}");
    }
}
