//! Many threads, random actions, few pages.

use crate::fake::*;
use crate::harness::*;
use crate::tokens::sampled;
use mlxrocm::session::{FinishReason, Next, Request, Sampling, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CONTEXT: usize = 300;

fn request(random: &mut Random) -> Request {
    // Few different beginnings, so that pages are shared.
    let mut prompt = Random(random.below(3) as u64).prompt(random.below(150));
    let n = 1 + random.below(60);
    prompt.extend(random.prompt(n));
    Request {
        prompt,
        sampling: match random.below(3) {
            0 => sampled(random.below(10) as u64),
            _ => Sampling::default(),
        },
        max_tokens: random.below(150),
        ignore_eos: random.below(2) == 0,
        ..Default::default()
    }
}

fn hammer(session: &Session, guesses: bool, seed: u64, end: Instant, completed: &AtomicUsize) {
    let expected = |request: &Request| match guesses {
        true => expected_repeating(request, CONTEXT),
        false => expected(request, CONTEXT),
    };
    let assert_right = |request: &Request, output: &Output| {
        assert_output(request, expected(request), output);
    };
    let mut random = Random(seed);
    let mut kept = Vec::new();
    while Instant::now() < end {
        let request = request(&mut random);
        let generation = session.submit(request.clone()).unwrap();
        match random.below(8) {
            0 => drop(generation),
            1 => {
                std::thread::sleep(Duration::from_micros(random.below(2000) as u64));
                generation.cancel();
                let output = collect(&generation);
                let (want, _) = expected(&request);
                assert_eq!(output.tokens, want[..output.tokens.len()]);
                if output.reason != FinishReason::Cancelled {
                    assert_right(&request, &output);
                }
            }
            2 => {
                // Read by one thread, cancelled by another.
                let pause = Duration::from_micros(random.below(3000) as u64);
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        std::thread::sleep(pause);
                        generation.cancel();
                    });
                    let output = collect(&generation);
                    let (want, _) = expected(&request);
                    assert_eq!(output.tokens, want[..output.tokens.len()]);
                });
            }
            3 => {
                for _ in 0..random.below(40) {
                    if generation.next(Some(Duration::ZERO)).unwrap() == Next::End {
                        break;
                    }
                }
            }
            4 if kept.len() < 6 => kept.push((request, generation)),
            5 => {
                let n = 1 + random.below(CONTEXT);
                let tokens = random.prompt(n);
                let rows = session.logits(&tokens).unwrap();
                let wanted = match guesses {
                    true => repeating_logits(&tokens),
                    false => logits_after(&tokens),
                };
                assert_eq!(rows[(n - 1) * VOCAB..], wanted);
            }
            _ => {
                assert_right(&request, &collect(&generation));
                completed.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    // Never read until now.
    for (request, generation) in kept {
        assert_right(&request, &collect(&generation));
    }
}

#[test]
fn four_threads_hammer() {
    for (pages, pipelined, recurrent, guesses) in [
        (10, false, None, false),
        (40, false, None, true),
        (10, true, None, true),
        (40, true, None, false),
        (10, true, Some((5, 3, 3)), true),
        (40, false, Some((5, 20, 6)), true),
        (40, true, Some((3, 20, 20)), false),
    ] {
        let (session, control) = session(Setup {
            pages,
            max_tokens: 40,
            context: CONTEXT,
            max_requests: 5,
            prefill_chunk: 32,
            pipelined,
            recurrent,
            guesses,
            ..Default::default()
        });
        let completed = AtomicUsize::new(0);
        let end = Instant::now() + Duration::from_millis(2500);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|i| {
                    let (session, completed) = (&session, &completed);
                    scope.spawn(move || hammer(session, guesses, 1000 + i, end, completed))
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert!(completed.load(Ordering::SeqCst) > 20);
        let ahead = control.ahead.load(Ordering::SeqCst);
        assert_eq!(ahead > if guesses { 0 } else { 100 }, pipelined);
        let kept = control.kept.load(Ordering::SeqCst);
        assert_eq!(kept > 20, recurrent.is_some(), "{kept} states were kept");
        assert_no_page_held(&session);
        drop(session);
        assert!(control.dropped.load(Ordering::SeqCst));
    }
}

/// Sessions that end while their generations are used elsewhere.
#[test]
fn sessions_come_and_go() {
    let end = Instant::now() + Duration::from_millis(1500);
    let mut random = Random(42);
    let mut rounds = 0;
    while Instant::now() < end {
        let (session, control) = session(Setup {
            pages: 12,
            context: CONTEXT,
            pipelined: random.below(2) == 0,
            recurrent: [None, Some((8, 4, 4))][random.below(2)],
            ..Default::default()
        });
        if random.below(3) == 0 {
            control
                .panic_at
                .store(1 + random.below(60), Ordering::SeqCst);
        }
        let session = Arc::new(session);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let session = session.clone();
                let mut random = Random(random.below(1 << 30) as u64);
                scope.spawn(move || {
                    let generation = session.submit(request(&mut random));
                    drop(session);
                    match generation {
                        Ok(generation) if random.below(2) == 0 => {
                            collect(&generation);
                        }
                        _ => {}
                    }
                });
            }
            drop(session);
        });
        assert!(control.dropped.load(Ordering::SeqCst));
        rounds += 1;
    }
    assert!(rounds > 5);
}
