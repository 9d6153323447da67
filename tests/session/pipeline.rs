//! Steps that are queued before the tokens of the step before them are known.

use crate::failures::an_error_ends_its_batch_only;
use crate::fake::*;
use crate::harness::*;
use crate::submit::{apart, at_once};
use crate::tokens::sampled;
use mlxrocm::Error;
use mlxrocm::model::PAGE_TOKENS;
use mlxrocm::session::{FinishReason, Request, Sampling};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn pipelined(setup: Setup) -> Setup {
    Setup {
        pipelined: true,
        ..setup
    }
}

fn greedy(prompt: Vec<u32>, max_tokens: usize) -> Request {
    Request {
        prompt,
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// Every parameter is used now and then.
fn any_sampling(random: &mut Random) -> Sampling {
    let mut off = |value: f32, off: f32| match random.below(2) {
        0 => value,
        _ => off,
    };
    let sampling = Sampling {
        temperature: 0.9,
        top_k: off(20.0, 0.0) as u32,
        top_p: off(0.9, 1.0),
        min_p: off(0.05, 0.0),
        repetition_penalty: off(1.3, 1.0),
        presence_penalty: off(0.4, 0.0),
        frequency_penalty: off(0.2, 0.0),
        penalty_window: off(5.0, 0.0) as u32,
        logit_bias: vec![(3, off(2.0, -1.0)), (9, off(f32::NEG_INFINITY, 0.5))],
        ..Default::default()
    };
    Sampling {
        seed: random.below(1000) as u64,
        ..sampling
    }
}

fn ahead(control: &Control) -> usize {
    control.ahead.load(Ordering::SeqCst)
}

#[test]
fn every_token_but_the_first_is_queued_ahead() {
    let (session, control) = session(pipelined(Setup::default()));
    let request = greedy(Random(1).prompt(150), 40);
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_right(&request, 512, &output);
    assert_eq!(output.prompt_done, [64, 128, 150]);
    assert_eq!(ahead(&control), 39);
    // That the last token ends it was known before.
    assert_eq!((control.calls(), control.tokens()), (3 + 39, 150 + 39));
    assert_no_page_held(&session);
}

#[test]
fn what_a_sequence_that_ended_computed_is_thrown_away() {
    let (session, control) = session(pipelined(Setup::default()));
    let mut random = Random(3);
    let mut thrown = 0;
    for i in 0..60 {
        let before = control.tokens();
        let length = 1 + random.below(40);
        let request = Request {
            prompt: random.prompt(length),
            stop_tokens: random.prompt(2),
            max_tokens: 100,
            ..Default::default()
        };
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_right(&request, 512, &output);
        assert_no_page_held(&session);
        let known = output.reason == FinishReason::Length;
        let most = request.prompt.len() + output.tokens.len();
        // The last step may not be over yet.
        wait_until("each token was run once", || {
            let all = control.queued.load(Ordering::SeqCst) == control.calls();
            all && control.tokens() - before == most - usize::from(known)
        });
        thrown += usize::from(!known);
        // All that is known of it is right: what it said, and what it would not have gone on with.
        let mut history = [&request.prompt[..], &output.tokens].concat();
        let cached = (history.len() - 1) / PAGE_TOKENS * PAGE_TOKENS;
        history.extend(random.prompt(20));
        let again = greedy(history, 20);
        let output = collect(&session.submit(again.clone()).unwrap());
        assert_right(&again, 512, &output);
        assert_eq!(output.usage.cached_tokens, cached, "{i}");
    }
    assert!(thrown > 20, "{thrown}");
}

/// Greedy requests and others, few pages, ends of every kind.
#[test]
fn tokens_are_those_of_the_plain_loop() {
    for (seed, pages) in [9, 12, 16, 40, 200].into_iter().enumerate() {
        let setup = pipelined(Setup {
            pages,
            context: 128,
            max_requests: 4,
            ..Default::default()
        });
        let (session, control) = session(setup);
        let mut random = Random(seed as u64);
        for _ in 0..8 {
            let logprobs = random.below(3) == 0;
            let request = |random: &mut Random| {
                let length = 1 + random.below(60);
                Request {
                    prompt: random.prompt(length),
                    sampling: match random.below(5) {
                        0 => Default::default(),
                        1 if logprobs => Sampling {
                            logprobs: 2,
                            ..sampled(1)
                        },
                        2 if logprobs => Sampling {
                            logprobs: 3,
                            ..any_sampling(random)
                        },
                        _ => any_sampling(random),
                    },
                    max_tokens: random.below(90),
                    ignore_eos: random.below(2) == 0,
                    ..Default::default()
                }
            };
            let requests: Vec<Request> = (0..8).map(|_| request(&mut random)).collect();
            let generations = apart(&session, &mut random, 500, &requests);
            for (request, generation) in requests.iter().zip(&generations) {
                if random.below(6) == 0 {
                    generation.cancel();
                    let output = collect(generation);
                    let (want, _) = expected(request, 128);
                    assert_eq!(output.tokens, want[..output.tokens.len()]);
                } else {
                    assert_right(request, 128, &collect(generation));
                }
            }
            assert_no_page_held(&session);
        }
        assert!(ahead(&control) > 100, "{}", ahead(&control));
    }
}

/// A caller that does not read: its queue is full after one more step than without.
#[test]
fn a_queue_is_bounded() {
    let (session, control) = session(pipelined(Setup::default()));
    let silent = session.submit(greedy(vec![1], 0)).unwrap();
    wait_until("it pauses", || control.calls() >= 255);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(control.calls(), 255);
    // The others go on.
    let other = greedy(vec![2], 100);
    let output = collect(&session.submit(other.clone()).unwrap());
    assert_right(&other, 512, &output);
    assert_eq!(control.calls(), 355);
    assert_eq!(ahead(&control), 254 + 99);
    assert_eq!(collect(&silent).reason, FinishReason::Context);
}

/// Many that wait do not keep those that run from being queued ahead.
#[test]
fn waiting_requests_change_nothing() {
    let (session, control) = session(pipelined(Setup {
        max_requests: 2,
        ..Default::default()
    }));
    let requests: Vec<Request> = (0..6).map(|i| greedy(vec![i, 9], 50)).collect();
    let generations = at_once(&session, &control, &requests);
    for (request, generation) in requests.iter().zip(&generations) {
        assert_right(request, 512, &collect(generation));
    }
    // Each has 49 steps of one token; those of two requests are one step, but the first request may
    // begin alone.
    let steps = ahead(&control);
    assert!((3 * 47..=3 * 49 + 3).contains(&steps), "{steps}");
}

/// The step that runs fails, or the one behind it cannot be queued: those that it was for end, with all
/// tokens from before it.
#[test]
fn an_error_ends_the_batch_only() {
    for refuse in [false, true] {
        for at in [1, 2, 3, 4, 10, 40, 61] {
            let (session, control) = session(pipelined(Setup {
                max_requests: 3,
                ..Default::default()
            }));
            let place = if refuse {
                &control.refuse_at
            } else {
                &control.fail_at
            };
            place.store(at, Ordering::SeqCst);
            let requests: Vec<Request> = (0..6)
                .map(|i| greedy(Random(i).prompt(30), 40 + i as usize))
                .collect();
            an_error_ends_its_batch_only(&session, &control, &requests);
        }
    }
}

#[test]
fn a_refused_step_loses_no_token() {
    let (session, control) = session(pipelined(Setup::default()));
    // The prompt, and nine steps after it.
    control.refuse_at.store(11, Ordering::SeqCst);
    let request = greedy(vec![1, 2, 3], 40);
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_eq!(output.reason, FinishReason::Error);
    assert_eq!(output.tokens, expected(&request, 512).0[..10]);
}

#[test]
fn bad_logits_end_one_generation() {
    let (session, control) = session(pipelined(Setup::default()));
    control.nan_at.store(20, Ordering::SeqCst);
    let requests: Vec<Request> = (0..3).map(|i| greedy(Random(i).prompt(70), 60)).collect();
    let generations = at_once(&session, &control, &requests);
    let outputs: Vec<Output> = generations.iter().map(collect).collect();
    let bad = outputs.iter().filter(|output| output.error.is_some());
    for output in bad.clone() {
        let message = output.error.as_ref().unwrap().to_string();
        assert!(message.contains("a token is not finite"), "{message}");
    }
    assert_eq!(bad.count(), 1);
    for (request, output) in requests.iter().zip(&outputs) {
        match &output.error {
            Some(_) => {
                let (want, _) = expected(request, 512);
                assert_eq!(output.tokens, want[..output.tokens.len()]);
                // What a broken model left in the cache is not used again.
                let again = collect(&session.submit(request.clone()).unwrap());
                assert_right(request, 512, &again);
                assert_eq!(again.usage.cached_tokens, 0);
            }
            None => assert_right(request, 512, output),
        }
    }
    assert_no_page_held(&session);
}

#[test]
fn a_panic_poisons_the_session() {
    for at in [1, 2, 25] {
        let (session, control) = session(pipelined(Setup::default()));
        control.panic_at.store(at, Ordering::SeqCst);
        let request = greedy(vec![4, 5], 60);
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_eq!(output.reason, FinishReason::Error);
        assert_eq!(output.tokens, expected(&request, 512).0[..at - 1]);
        let refused = session.submit(request);
        assert!(matches!(refused, Err(Error::Poisoned(_))));
        drop(session);
        assert!(control.dropped.load(Ordering::SeqCst));
    }
}
