//! Prefix reuse in a model with recurrent state: a request goes on where the pages and the state of its beginning
//! are both there.

use crate::fake::*;
use crate::harness::*;
use crate::tokens::sampled;
use mlxrocm::session::{FinishReason, Request, Session};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const CONTEXT: usize = 1024;

fn recurrent(pipelined: bool, piece: usize, snapshots: usize) -> (Session, Arc<Control>) {
    session(Setup {
        context: CONTEXT,
        max_tokens: piece + 8,
        prefill_chunk: piece,
        pipelined,
        recurrent: Some((8, snapshots, snapshots)),
        ..Default::default()
    })
}

fn request(prompt: Vec<u32>, max_tokens: usize) -> Request {
    Request {
        prompt,
        sampling: sampled(4),
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// How many tokens of a prompt were not run, and what was written; all of it right.
fn ask(session: &Session, control: &Control, request: &Request) -> (usize, Vec<u32>) {
    let before = control.tokens();
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_right(request, CONTEXT, &output);
    let cached = output.usage.cached_tokens;
    let run = control.tokens() - before;
    // The last token is not run; one more may be queued ahead.
    let least = request.prompt.len() - cached + output.tokens.len() - 1;
    assert!(
        (least..least + 2).contains(&run),
        "{run} instead of {least}"
    );
    (cached, output.tokens)
}

#[test]
fn a_prompt_is_cut_where_its_state_is_kept() {
    for pipelined in [false, true] {
        let (session, control) = recurrent(pipelined, 512, 20);
        // The cuts of the first and of the second time, and what the second and the third one find.
        for (length, first, second, cached) in [
            (600, vec![512, 600], vec![600], [512, 512]),
            (512, vec![512], vec![480, 512], [0, 480]),
            (200, vec![200], vec![192, 200], [0, 192]),
            (161, vec![161], vec![160, 161], [0, 160]),
            (129, vec![129], vec![128, 129], [0, 128]),
            // Not worth it.
            (128, vec![128], vec![128], [0, 0]),
            (20, vec![20], vec![20], [0, 0]),
        ] {
            let request = request(Random(length as u64).prompt(length), 3);
            for (cuts, cached) in [(first, 0), (second, cached[0])] {
                let output = collect(&session.submit(request.clone()).unwrap());
                assert_right(&request, CONTEXT, &output);
                assert_eq!(output.prompt_done.last(), cuts.last());
                assert!(
                    output.prompt_done.ends_with(&cuts),
                    "{length}: {:?}",
                    output.prompt_done
                );
                assert_eq!(output.usage.cached_tokens, cached, "{length}");
            }
            assert_eq!(ask(&session, &control, &request).0, cached[1], "{length}");
        }
        assert_no_page_held(&session);
    }
}

#[test]
fn the_next_turn_goes_on_after_the_last_one() {
    for pipelined in [false, true] {
        let (session, control) = recurrent(pipelined, 512, 20);
        let mut history = Random(1).prompt(200);
        let mut kept = 0;
        for turn in 0..4 {
            let (cached, answer) = ask(&session, &control, &request(history.clone(), 150));
            assert_eq!(cached, kept, "turn {turn}");
            history.extend(answer);
            // The last token was not run.
            kept = (history.len() - 1) / 32 * 32;
            history.extend(Random(turn + 7).prompt(20));
        }
        // One that takes back the last answers finds the state of the turn before them.
        let shorter = [&history[..520], &Random(3).prompt(30)].concat();
        assert_eq!(ask(&session, &control, &request(shorter, 5)).0, 512);
    }
}

#[test]
fn prompts_that_begin_alike_share_a_state() {
    for pipelined in [false, true] {
        let system = Random(1).prompt(150);
        let chat = |i: u64, rest: usize| [&system[..], &Random(i).prompt(rest)].concat();
        // Where pieces end anyway.
        let (session, control) = recurrent(pipelined, 64, 20);
        let cached: Vec<usize> = (10..13)
            .map(|i| ask(&session, &control, &request(chat(i, 100), 5)).0)
            .collect();
        assert_eq!(cached, [0, 128, 128]);
        // Where the second one turned out to differ.
        let (session, control) = recurrent(pipelined, 512, 20);
        let cached: Vec<usize> = (10..13)
            .map(|i| ask(&session, &control, &request(chat(i, 300), 5)).0)
            .collect();
        assert_eq!(cached, [0, 0, 128]);
        // The first one's rest, now that it comes again.
        let again = || ask(&session, &control, &request(chat(10, 300), 5)).0;
        assert_eq!([again(), again()], [128, 448]);
        // Several at once, each with a slot of its own.
        control.shut();
        let requests: Vec<Request> = (20..26).map(|i| request(chat(i, 40), 40)).collect();
        let all = requests
            .iter()
            .map(|request| session.submit(request.clone()));
        let all: Vec<_> = all.map(|generation| generation.unwrap()).collect();
        control.open();
        for (generation, request) in all.iter().zip(&requests) {
            let output = collect(generation);
            assert_right(request, CONTEXT, &output);
            assert_eq!(output.usage.cached_tokens, 128);
        }
    }
}

#[test]
fn snapshots_have_a_limit_and_go_by_age() {
    for memory in [2, 20] {
        let (session, control) = session(Setup {
            context: CONTEXT,
            max_tokens: 520,
            prefill_chunk: 512,
            // The limit, or as many as there is memory for.
            recurrent: Some((8, if memory == 2 { 20 } else { 2 }, memory)),
            ..Default::default()
        });
        let requests: Vec<Request> = (0..3).map(|i| request(Random(i).prompt(200), 5)).collect();
        for request in requests.iter().chain(&requests) {
            assert_eq!(ask(&session, &control, request).0, 0);
        }
        let cached = |i: usize| ask(&session, &control, &requests[i]).0;
        assert_eq!([cached(2), cached(1), cached(0)], [192, 192, 0]);
        assert_eq!([cached(1), cached(0), cached(2)], [192, 192, 0]);
    }
}

#[test]
fn without_snapshots_all_of_a_prompt_is_run() {
    for snapshots in [(8, 0, 0), (8, 20, 0)] {
        let (session, control) = session(Setup {
            context: CONTEXT,
            recurrent: Some(snapshots),
            ..Default::default()
        });
        for _ in 0..3 {
            let request = request(Random(1).prompt(300), 100);
            assert_eq!(ask(&session, &control, &request).0, 0);
        }
    }
}

#[test]
fn snapshots_go_with_their_pages() {
    for pipelined in [false, true] {
        let (session, control) = session(Setup {
            pages: 20,
            context: 600,
            max_tokens: 520,
            prefill_chunk: 512,
            pipelined,
            recurrent: Some((8, 20, 20)),
            ..Default::default()
        });
        let short = request(Random(1).prompt(300), 5);
        let three_times = || [0; 3].map(|_| ask(&session, &control, &short).0);
        assert_eq!(three_times(), [0, 0, 288]);
        let long = request(Random(2).prompt(590), 5);
        assert_eq!(ask(&session, &control, &long).0, 0);
        assert_eq!(three_times(), [0, 0, 288]);
        assert_no_page_held(&session);
    }
}

#[test]
fn what_a_cancelled_prompt_left_is_of_use() {
    for pipelined in [false, true] {
        let (session, control) = recurrent(pipelined, 64, 20);
        control.delay_us.store(5000, Ordering::SeqCst);
        let long = request(Random(1).prompt(900), 5);
        let generation = session.submit(long.clone()).unwrap();
        wait_until("a state is kept", || {
            control.kept.load(Ordering::SeqCst) > 1
        });
        generation.cancel();
        assert_eq!(collect(&generation).reason, FinishReason::Cancelled);
        assert_no_page_held(&session);
        control.delay_us.store(0, Ordering::SeqCst);
        let cached = ask(&session, &control, &long).0;
        // The last one may be of the step that it was cancelled in.
        assert!([128, 256, 512].contains(&cached), "{cached}");
    }
}

/// A step that fails leaves nothing to others.
#[test]
fn what_failed_is_not_kept() {
    for call in 1..12 {
        let (session, control) = recurrent(call % 2 == 0, 64, 20);
        control.fail_at.store(call, Ordering::SeqCst);
        let request = request(Random(1).prompt(500), 60);
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_eq!(output.reason, FinishReason::Error);
        assert_no_page_held(&session);
        control.fail_at.store(0, Ordering::SeqCst);
        let again = collect(&session.submit(request.clone()).unwrap());
        assert_right(&request, CONTEXT, &again);
        assert_eq!(again.usage.cached_tokens, 0);
        assert_eq!(ask(&session, &control, &request).0, 256);
        assert!(ask(&session, &control, &request).0 >= 448);
    }
}

/// A sequence that lost its place goes on after the last state that was kept of it.
#[test]
fn a_restart_begins_at_its_last_state() {
    let (session, control) = session(Setup {
        max_requests: 1,
        recurrent: Some((1, 4, 4)),
        ..Default::default()
    });
    let restarted = request(vec![1, 2], 0);
    let generation = session.submit(restarted.clone()).unwrap();
    let paused = || {
        let calls = control.calls();
        std::thread::sleep(std::time::Duration::from_millis(20));
        calls > 200 && calls == control.calls()
    };
    wait_until("it pauses", paused);
    let other = request(vec![3, 4], 5);
    let output = collect(&session.submit(other.clone()).unwrap());
    assert_right(&other, 512, &output);
    let output = collect(&generation);
    assert_right(&restarted, 512, &output);
    assert_eq!(output.usage.cached_tokens, 0, "its own pages do not count");
    assert!(control.tokens() < 511 + 6 + 32, "{}", control.tokens());
}
