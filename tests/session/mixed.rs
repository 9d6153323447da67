//! Steps of a device that chooses tokens, in which some rows are chosen by the host: only these come to it, each request's
//! tokens are its own, and the others do not wait longer than it is worth.

use crate::fake::*;
use crate::harness::*;
use crate::submit::{apart, at_once};
use crate::tokens::sampled;
use mlxrocm::Error;
use mlxrocm::session::{Event, FinishReason, Generation, LogitsProcessor, Request, Sampling};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bans a part of the tokens, which depends on those so far.
fn edit(tokens: &[u32], logits: &mut [f32]) {
    let last = tokens[tokens.len() - 1] as usize;
    for (token, logit) in logits.iter_mut().enumerate() {
        match (token * 7 + last + tokens.len()) % 3 {
            0 => *logit = f32::NEG_INFINITY,
            1 => *logit += 0.5,
            _ => {}
        }
    }
}

fn processor() -> Option<LogitsProcessor> {
    Some(LogitsProcessor::new(|tokens, logits| {
        edit(tokens, logits);
        Ok(())
    }))
}

/// What a request must give.
fn wanted(request: &Request, context: usize) -> (Vec<u32>, FinishReason) {
    match request.logits_processor {
        Some(_) => expected_by(request, context, &edit),
        None => expected(request, context),
    }
}

fn request(seed: u64, prompt: usize, max_tokens: usize) -> Request {
    Request {
        prompt: Random(seed).prompt(prompt),
        sampling: match seed % 2 {
            0 => Sampling::default(),
            _ => sampled(seed),
        },
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// More biases than a device adds.
fn many_biases(seed: u64) -> Vec<(u32, f32)> {
    let token = |i: u64| ((i * 13 + seed) % VOCAB as u64) as u32;
    (0..70).map(|i| (token(i), (i % 5) as f32 - 2.0)).collect()
}

/// Tokens, log-probabilities and the best tokens' as well.
type Rated = Vec<(u32, Option<f32>, Vec<(u32, f32)>)>;

fn rated(generation: &Generation) -> Rated {
    let mut all = Vec::new();
    while let Some(event) = next(generation) {
        match event {
            Event::Token {
                token,
                logprob,
                top,
                ..
            } => {
                let top = top.iter().map(|best| (best.token, best.logprob));
                all.push((token, logprob, top.collect()));
            }
            Event::Finished { error, .. } => assert_eq!(error, None),
            Event::Prompt { .. } => {}
        }
    }
    all
}

#[test]
fn only_rows_that_the_host_needs_come_to_it() {
    let (session, control) = session(Setup {
        pipelined: true,
        ..Default::default()
    });
    let plain = [request(0, 40, 90), request(1, 40, 90)];
    let processed = Request {
        logits_processor: processor(),
        ..request(3, 20, 50)
    };
    let biased = Request {
        sampling: Sampling {
            logit_bias: many_biases(4),
            ..Default::default()
        },
        ..request(4, 20, 40)
    };
    // Long after the first tokens, which are few enough for the device.
    let long = Request {
        sampling: Sampling {
            penalty_window: 100,
            ..sampled(5)
        },
        ..request(5, 50, 60)
    };
    let penalized = Request {
        sampling: Sampling {
            logit_bias: vec![(3, 2.0), (4, f32::NEG_INFINITY)],
            logprobs: 4,
            ..sampled(6)
        },
        ..request(6, 20, 30)
    };
    let (of_long, of_device) = (60 - (64 - 50 + 1), 0);
    let all = [
        (&plain[0], of_device),
        (&plain[1], of_device),
        (&processed, 50),
        (&biased, 40),
        (&long, of_long),
        (&penalized, 30),
    ];
    // Those that give the device something to choose begin first and end last.
    let generations: Vec<_> = all
        .iter()
        .map(|(request, _)| session.submit((*request).clone()).unwrap())
        .collect();
    let mut rows = 0;
    for ((request, of_it), generation) in all.iter().zip(&generations) {
        let output = collect(generation);
        assert_eq!(
            (output.tokens, output.reason, output.error),
            (wanted(request, 512).0, FinishReason::Length, None)
        );
        rows += of_it;
    }
    assert_eq!(control.rows.load(Ordering::SeqCst), rows);
    assert_no_page_held(&session);
}

/// Beside biases and penalties too, the numbers that the host alone gives.
#[test]
fn log_probabilities_are_the_hosts() {
    let requests = || {
        (0..8).map(|seed| Request {
            sampling: Sampling {
                logit_bias: match seed % 3 {
                    0 => Vec::new(),
                    1 => vec![(9, f32::NEG_INFINITY), (3, 1.5), (3, 0.5)],
                    _ => many_biases(seed),
                },
                logprobs: 1 + seed as u32 % 4,
                ..match seed % 4 {
                    0 => Sampling::default(),
                    _ => sampled(seed),
                }
            },
            logits_processor: processor().filter(|_| seed == 6),
            ..request(seed, 30 + seed as usize, 40)
        })
    };
    let [host, device] = [false, true].map(|pipelined| {
        let (session, control) = session(Setup {
            pipelined,
            ..Default::default()
        });
        let generations: Vec<_> = requests().map(|r| session.submit(r).unwrap()).collect();
        let all: Vec<Rated> = generations.iter().map(rated).collect();
        assert_eq!(control.ahead.load(Ordering::SeqCst) > 0, pipelined);
        all
    });
    assert_eq!(host, device);
    for (request, found) in requests().zip(&device) {
        let tokens: Vec<u32> = found.iter().map(|(token, ..)| *token).collect();
        assert_eq!(tokens, wanted(&request, 512).0);
        assert!(found.iter().all(|(_, logprob, top)| {
            logprob.is_some() && top.len() == request.sampling.logprobs as usize
        }));
    }
}

/// How often a processor that takes so long was called until two other requests had their tokens.
fn calls_beside(tokens: usize, step: Duration, processor: Duration) -> usize {
    let (session, control) = session(Setup {
        pipelined: true,
        ..Default::default()
    });
    let step = u64::try_from(step.as_micros()).unwrap();
    control.delay_us.store(step, Ordering::SeqCst);
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let slow = Request {
        logits_processor: Some(LogitsProcessor::new(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(processor);
            Ok(())
        })),
        ..request(2, 5, 2 * tokens)
    };
    control.shut();
    let slow = session.submit(slow).unwrap();
    let others = [0, 1].map(|seed| session.submit(request(seed, 5, tokens)).unwrap());
    control.open();
    for (seed, other) in (0..).zip(&others) {
        assert_right(&request(seed, 5, tokens), 512, &collect(other));
    }
    let calls = calls.load(Ordering::SeqCst);
    let output = collect(&slow);
    assert_eq!(output.tokens, expected(&request(2, 5, 2 * tokens), 512).0);
    calls
}

#[test]
fn others_go_on_while_a_slow_processor_runs() {
    let calls = calls_beside(60, Duration::ZERO, Duration::from_millis(4));
    assert!((25..40).contains(&calls), "{calls} of 60");
}

#[test]
fn all_wait_for_a_quick_processor() {
    let calls = calls_beside(30, Duration::from_millis(10), Duration::ZERO);
    assert!(calls >= 24, "{calls} of 30");
}

/// All kinds of requests, of ends, of models; evaluations beside them.
#[test]
fn requests_of_every_kind_give_what_they_give_alone() {
    for seed in 0..12 {
        let mut random = Random(seed + 1);
        let recurrent = seed % 3 == 1;
        let (session, control) = session(Setup {
            pages: [14, 30, 200][random.below(3)],
            context: 192,
            max_requests: 6,
            prefill_chunk: 48,
            pipelined: true,
            invariant_rows: (seed % 3 == 2).then_some(4),
            recurrent: recurrent.then_some((6, 9, 5)),
            ..Default::default()
        });
        for _ in 0..5 {
            // So that sometimes all wait, and sometimes some go on.
            let delay = [0, 0, 200][random.below(3)];
            control.delay_us.store(delay, Ordering::SeqCst);
            let requests: Vec<Request> = (0..9).map(|_| any_request(&mut random)).collect();
            let generations = apart(&session, &mut random, 400, &requests);
            let text = random.prompt(40);
            let logits = session.logits(&text).unwrap();
            let rows = (1..=40).flat_map(|end| logits_after(&text[..end]));
            assert_eq!(logits, rows.collect::<Vec<f32>>());
            for (request, generation) in requests.iter().zip(&generations) {
                let cancelled = random.below(6) == 0;
                if cancelled {
                    generation.cancel();
                }
                let output = collect(generation);
                let (tokens, reason) = wanted(request, 192);
                assert_eq!(output.error, None);
                if let Some(stop) = request.stop.first() {
                    // Ends where the string is there, if nothing else ended it before.
                    let text = text_of(&tokens);
                    let text = text.find(stop).map_or(&*text, |at| &text[..at]);
                    assert!(text.starts_with(&output.text), "{request:?}");
                    assert!(cancelled || text == output.text, "{request:?}");
                    continue;
                }
                let found = output.tokens.len();
                assert_eq!(output.tokens, tokens[..found], "{request:?}");
                assert!(cancelled || (found == tokens.len() && output.reason == reason));
            }
            assert_no_page_held(&session);
        }
    }
}

fn any_request(random: &mut Random) -> Request {
    let seed = random.below(1000) as u64;
    let prompt = 1 + random.below(70);
    let mut request = request(seed, prompt, random.below(80));
    match random.below(6) {
        0 => request.logits_processor = processor(),
        1 => request.sampling.logit_bias = many_biases(seed),
        2 => request.sampling.penalty_window = 200,
        3 => request.sampling.logprobs = 3,
        _ => {}
    }
    match random.below(4) {
        0 => request.ignore_eos = false,
        1 => request.stop = vec![text_of(&random.prompt(2))],
        2 => request.stop_tokens = random.prompt(2),
        _ => {}
    }
    request
}

/// A step that fails ends those that are in it, and nobody else.
#[test]
fn a_failing_step_ends_those_in_it() {
    let mut survivors = 0;
    for (refuse, at) in [(false, 8), (false, 9), (true, 8), (true, 9), (true, 20)] {
        let (session, control) = session(Setup {
            pipelined: true,
            ..Default::default()
        });
        let place = match refuse {
            true => &control.refuse_at,
            false => &control.fail_at,
        };
        place.store(at, Ordering::SeqCst);
        let slow = LogitsProcessor::new(|_, _| {
            std::thread::sleep(Duration::from_millis(2));
            Ok(())
        });
        let all: Vec<Request> = (0..3).map(|seed| request(seed, 5, 40)).collect();
        let mut slowed = all.clone();
        slowed[2].logits_processor = Some(slow);
        let generations = at_once(&session, &control, &slowed);
        let mut ended = [false; 3];
        for ((request, generation), ended) in all.iter().zip(&generations).zip(&mut ended) {
            let output = collect(generation);
            let (tokens, _) = expected(request, 512);
            assert_eq!(output.tokens, tokens[..output.tokens.len()]);
            *ended = output.error.is_some();
            assert!(*ended || output.tokens.len() == 40);
            assert!(
                output
                    .error
                    .is_none_or(|error| matches!(error, Error::DeviceFailed(_)))
            );
        }
        assert!(ended[0] && ended[1], "{ended:?}");
        survivors += usize::from(!ended[2]);
        for request in &all {
            assert_right(
                request,
                512,
                &collect(&session.submit(request.clone()).unwrap()),
            );
        }
        assert_no_page_held(&session);
    }
    // The one that waits for the host is in every second step.
    assert!((1..5).contains(&survivors), "{survivors}");
}
