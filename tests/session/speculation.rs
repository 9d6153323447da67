//! Tokens that are guessed and checked in one step: what is generated is what comes without, in fewer steps.

use crate::fake::*;
use crate::harness::*;
use crate::submit::at_once;
use crate::tokens::sampled;
use mlxrocm::Error;
use mlxrocm::session::{LogitsProcessor, Request, Sampling, Session};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const CONTEXT: usize = 1024;

/// Each kind of model that there are guesses for.
fn setups() -> Vec<Setup> {
    let mut setups = Vec::new();
    for pipelined in [false, true] {
        for recurrent in [None, Some((8, 20, 20))] {
            setups.push(Setup {
                pages: 400,
                context: CONTEXT,
                pipelined,
                recurrent,
                guesses: true,
                ..Default::default()
            });
        }
    }
    setups
}

/// A session whose steps take as long with some more rows.
fn slow(setup: Setup) -> (Session, Arc<Control>) {
    let (session, control) = session(setup);
    control.delay_us.store(300, Ordering::SeqCst);
    (session, control)
}

fn request(seed: u64, sampling: Sampling, max_tokens: usize) -> Request {
    Request {
        prompt: Random(seed).prompt(30 + seed as usize % 50),
        sampling,
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// Samplings that a device takes, that it takes for a token at a time, and that it does not take.
fn samplings() -> Vec<Sampling> {
    let plain = Sampling {
        temperature: 0.15,
        seed: 3,
        ..Default::default()
    };
    let biases = (0..70).map(|i| (i * 13 % VOCAB as u32, (i % 5) as f32 * 0.02));
    vec![
        Sampling::default(),
        Sampling {
            logprobs: 3,
            ..plain.clone()
        },
        Sampling {
            repetition_penalty: 1.02,
            penalty_window: 20,
            ..plain.clone()
        },
        Sampling {
            logit_bias: biases.collect(),
            ..plain
        },
        sampled(4),
    ]
}

/// Steps with guesses are of the sizes in which devices give each row the same bits.
fn assert_small_steps(control: &Control) {
    for step in control.log.lock().unwrap().iter() {
        if step.iter().any(|(_, rows)| *rows > 1) {
            assert!(
                step.iter().map(|(tokens, _)| tokens).sum::<usize>() <= 16,
                "{step:?}"
            );
            assert!(step.iter().all(|(tokens, _)| *tokens < 16), "{step:?}");
        }
    }
}

#[test]
fn guesses_change_steps_and_no_token() {
    for setup in setups() {
        let (session, control) = slow(setup);
        let mut saved = 0;
        for (seed, sampling) in (0..).zip(samplings()) {
            let request = request(seed, sampling, 400);
            let (calls, tokens) = (control.calls(), control.tokens());
            let output = collect(&session.submit(request.clone()).unwrap());
            assert_output(&request, expected_repeating(&request, CONTEXT), &output);
            let usage = output.usage;
            assert!(usage.accepted_tokens <= usage.guessed_tokens);
            // Each right guess saves a step; one more may be queued ahead, and prompts take two.
            let steps = 400 - usage.accepted_tokens;
            assert!((steps..steps + 4).contains(&(control.calls() - calls)));
            let run = control.tokens() - tokens;
            assert!(
                run >= request.prompt.len() + 399 + usage.guessed_tokens - usage.accepted_tokens
            );
            saved += usage.accepted_tokens;
        }
        assert!(saved > 50, "{saved}");
        assert_no_page_held(&session);
    }
}

#[test]
fn requests_beside_each_other_have_guesses_each() {
    for setup in setups() {
        for invariant_rows in [None, Some(16)] {
            let (session, control) = slow(Setup {
                invariant_rows,
                ..setup
            });
            let all: Vec<Request> = (0..6)
                .zip(samplings().into_iter().cycle())
                .map(|(seed, sampling)| request(seed, sampling, 150 + 20 * seed as usize))
                .collect();
            let outputs: Vec<Output> = at_once(&session, &control, &all)
                .iter()
                .map(collect)
                .collect();
            let mut right = 0;
            for (request, output) in all.iter().zip(&outputs) {
                assert_output(request, expected_repeating(request, CONTEXT), output);
                right += output.usage.accepted_tokens;
            }
            // A batch-invariant session keeps no snapshots, so there are no guesses where they are needed.
            let guesses = setup.recurrent.is_none() || invariant_rows.is_none();
            assert_eq!(right > 30, guesses, "{right}");
            assert_small_steps(&control);
        }
    }
}

#[test]
fn every_end_is_where_it_would_be() {
    for setup in setups() {
        let (session, _) = session(setup);
        for seed in 0..40 {
            let (prompt, max_tokens) = match seed % 4 {
                // The context ends it.
                0 => (CONTEXT - 20 - seed as usize, 0),
                _ => (seed as usize, 1 + seed as usize * 7),
            };
            let request = Request {
                prompt: Random(seed % 5).prompt(prompt.max(1)),
                max_tokens,
                stop_tokens: match seed % 3 {
                    0 => vec![17],
                    _ => Vec::new(),
                },
                ignore_eos: seed % 4 == 0,
                ..Default::default()
            };
            let output = collect(&session.submit(request.clone()).unwrap());
            assert_output(&request, expected_repeating(&request, CONTEXT), &output);
        }
        assert_no_page_held(&session);
    }
}

#[test]
fn a_processor_sees_known_tokens_only() {
    let edit = |tokens: &[u32], logits: &mut [f32]| {
        let last = tokens[tokens.len() - 1] as usize;
        logits[(last * 5 + 1) % VOCAB] += 3.0;
    };
    for setup in setups() {
        let (session, _) = slow(setup);
        let request = Request {
            logits_processor: Some(LogitsProcessor::new(move |tokens, logits| {
                edit(tokens, logits);
                Ok(())
            })),
            ..request(9, Sampling::default(), 300)
        };
        let output = collect(&session.submit(request.clone()).unwrap());
        let wanted = expected_by(&request, CONTEXT, &|tokens, row| {
            row.copy_from_slice(&repeating_logits(tokens));
            edit(tokens, row);
        });
        assert_output(&request, wanted, &output);
        assert!(output.usage.accepted_tokens > 20);
    }
}

#[test]
fn failures_and_cancelling_leave_the_session_usable() {
    for setup in setups() {
        let (session, control) = session(setup);
        for (round, broken) in [&control.fail_at, &control.nan_at].into_iter().enumerate() {
            let request = request(round as u64, Sampling::default(), 300);
            control.shut();
            let generation = session.submit(request.clone()).unwrap();
            broken.store(control.calls() + 8, Ordering::SeqCst);
            control.open();
            let output = collect(&generation);
            assert!(matches!(
                output.error,
                Some(Error::DeviceFailed(_) | Error::InvalidFile(_))
            ));
            let (wanted, _) = expected_repeating(&request, CONTEXT);
            assert_eq!(output.tokens, wanted[..output.tokens.len()]);
            assert_no_page_held(&session);
        }
        let request = request(5, Sampling::default(), 0);
        let generation = session.submit(request.clone()).unwrap();
        wait_until("tokens", || control.calls() > 60);
        generation.cancel();
        collect(&generation);
        assert_no_page_held(&session);
        let again = Request {
            max_tokens: 200,
            ..request
        };
        let output = collect(&session.submit(again.clone()).unwrap());
        assert_output(&again, expected_repeating(&again, CONTEXT), &output);
    }
}

/// Draft models of each kind, for each kind of model.
fn drafts() -> Vec<(Setup, Setup)> {
    let mut all = Vec::new();
    for setup in setups() {
        for draft in setups() {
            let setup = Setup {
                guesses: all.len() % 3 == 0,
                ..setup
            };
            all.push((setup, draft));
        }
    }
    all
}

#[test]
fn a_draft_model_saves_steps_and_changes_no_token() {
    for (setup, draft) in drafts() {
        let (session, control, drafting) = session_with(setup, Some(&draft));
        control.delay_us.store(500, Ordering::SeqCst);
        let mut right = 0;
        for (seed, sampling) in (0..).zip(samplings()) {
            let request = request(seed, sampling, 120);
            let output = collect(&session.submit(request.clone()).unwrap());
            assert_output(&request, expected_repeating(&request, CONTEXT), &output);
            right += output.usage.accepted_tokens;
        }
        let all: Vec<Request> = (0..6)
            .zip(samplings().into_iter().cycle())
            .map(|(seed, sampling)| request(seed, sampling, 60 + 20 * seed as usize))
            .collect();
        let outputs: Vec<Output> = at_once(&session, &control, &all)
            .iter()
            .map(collect)
            .collect();
        for (request, output) in all.iter().zip(&outputs) {
            assert_output(request, expected_repeating(request, CONTEXT), output);
            right += output.usage.accepted_tokens;
        }
        assert!(right > 50, "{right}");
        assert_small_steps(&control);
        assert_eq!(drafting.ahead.load(Ordering::SeqCst) > 50, draft.pipelined);
        assert_no_page_held(&session);
    }
}

#[test]
fn a_draft_model_may_fail_or_be_short_of_room() {
    for (setup, draft) in drafts() {
        let small = Setup {
            pages: 5,
            max_tokens: 9,
            ..draft
        };
        for (draft, fails_at) in [(small, 0), (draft, 40), (draft, 1)] {
            let (session, control, drafting) = session_with(setup, Some(&draft));
            control.delay_us.store(200, Ordering::SeqCst);
            drafting.fail_at.store(fails_at, Ordering::SeqCst);
            let all: Vec<Request> = (0..3)
                .map(|seed| request(seed, Sampling::default(), 150))
                .collect();
            let outputs: Vec<Output> = at_once(&session, &control, &all)
                .iter()
                .map(collect)
                .collect();
            for (request, output) in all.iter().zip(&outputs) {
                assert_output(request, expected_repeating(request, CONTEXT), output);
            }
            assert_eq!(drafting.dropped.load(Ordering::SeqCst), fails_at > 0);
            drop(session);
            assert!(drafting.dropped.load(Ordering::SeqCst));
        }
    }
}

#[test]
fn nothing_is_guessed_unless_asked() {
    let (session, control) = session(Setup {
        context: CONTEXT,
        ..Default::default()
    });
    let text = Request {
        prompt: [7, 8, 9, 10].repeat(20),
        ..request(1, Sampling::default(), 40)
    };
    let output = collect(&session.submit(text).unwrap());
    assert_eq!(output.usage.guessed_tokens, 0);
    assert!(
        control
            .log
            .lock()
            .unwrap()
            .iter()
            .flatten()
            .all(|(_, rows)| *rows <= 1)
    );
}
