//! A model that fails.

use crate::fake::*;
use crate::harness::*;
use crate::submit::at_once;
use crate::tokens::sampled;
use mlxrocm::Error;
use mlxrocm::session::{FinishReason, Request, Session};
use std::sync::atomic::Ordering;

fn request(seed: u64) -> Request {
    Request {
        prompt: Random(seed).prompt(70),
        sampling: sampled(seed),
        max_tokens: 60,
        ignore_eos: true,
        ..Default::default()
    }
}

fn assert_prefix(request: &Request, tokens: &[u32]) {
    let (want, _) = expected(request, 512);
    assert_eq!(*tokens, want[..tokens.len()]);
}

#[test]
fn an_error_ends_the_batch_only() {
    for at in [1, 2, 3, 10, 40] {
        let (session, control) = session(Setup {
            max_requests: 3,
            ..Default::default()
        });
        control.fail_at.store(at, Ordering::SeqCst);
        let requests: Vec<Request> = (0..6).map(request).collect();
        an_error_ends_its_batch_only(&session, &control, &requests);
    }
}

/// Of requests that are there at once, those of a failing step end with the injected error.
pub fn an_error_ends_its_batch_only(session: &Session, control: &Control, requests: &[Request]) {
    let error = Error::DeviceFailed("injected error".into());
    let generations = at_once(session, control, requests);
    let mut failed = 0;
    for (request, generation) in requests.iter().zip(&generations) {
        let output = collect(generation);
        if output.reason == FinishReason::Error {
            failed += 1;
            assert_eq!(output.error.as_ref(), Some(&error));
            assert_eq!(output.usage.generated_tokens, output.tokens.len());
            assert_prefix(request, &output.tokens);
        } else {
            assert_right(request, 512, &output);
        }
    }
    assert!((1..=3).contains(&failed), "{failed} failed");
    // The session goes on, and nothing undefined is left in the cache.
    for request in requests {
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_right(request, 512, &output);
    }
    assert_no_page_held(session);
}

#[test]
fn logits_report_an_error() {
    let (session, control) = session(Setup::default());
    control.fail_at.store(2, Ordering::SeqCst);
    let tokens = Random(1).prompt(200);
    assert_eq!(
        session.logits(&tokens),
        Err(Error::DeviceFailed("injected error".into()))
    );
    assert_eq!(session.logits(&tokens).unwrap().len(), 200 * VOCAB);
    assert_no_page_held(&session);
}

#[test]
fn bad_logits_end_one_generation() {
    let (session, control) = session(Setup::default());
    control.nan_at.store(20, Ordering::SeqCst);
    let requests: Vec<Request> = (0..3).map(request).collect();
    let generations = at_once(&session, &control, &requests);
    let outputs: Vec<Output> = generations.iter().map(collect).collect();
    assert_eq!(outputs[0].reason, FinishReason::Error);
    assert!(
        matches!(&outputs[0].error, Some(Error::InvalidFile(m)) if m.contains("token 3 is NaN"))
    );
    assert_prefix(&requests[0], &outputs[0].tokens);
    assert_right(&requests[1], 512, &outputs[1]);
    assert_right(&requests[2], 512, &outputs[2]);
    // What a broken model left in the cache is not used again.
    let again = collect(&session.submit(requests[0].clone()).unwrap());
    assert_right(&requests[0], 512, &again);
    assert_eq!(again.usage.cached_tokens, 0);
    assert_no_page_held(&session);
}

#[test]
fn a_panic_poisons_the_session() {
    for at in [1, 2, 25] {
        let (session, control) = session(Setup {
            max_requests: 2,
            ..Default::default()
        });
        control.panic_at.store(at, Ordering::SeqCst);
        control.shut();
        let generations: Vec<_> = (0..5)
            .map(|i| session.submit(request(i)).unwrap())
            .collect();
        let logits = std::thread::scope(|scope| {
            let logits = scope.spawn(|| session.logits(&[1, 2, 3]));
            wait_until("the evaluation waits", || {
                session.status().running > 0 || control.calls() == 0
            });
            control.open();
            logits.join().unwrap()
        });
        // It was younger than the others, or came after the panic.
        assert!(
            matches!(&logits, Err(Error::Internal(m) | Error::Poisoned(m)) if m.contains("injected panic")),
            "{logits:?}"
        );
        for (i, generation) in generations.iter().enumerate() {
            let output = collect(generation);
            assert_eq!(output.reason, FinishReason::Error);
            assert!(
                matches!(&output.error, Some(Error::Internal(m)) if m.contains("injected panic"))
            );
            assert_prefix(&request(i as u64), &output.tokens);
        }
        for _ in 0..2 {
            match session.submit(request(1)) {
                Err(Error::Poisoned(m)) => assert!(m.contains("injected panic"), "{m}"),
                other => panic!("{other:?}"),
            }
        }
        assert!(matches!(session.logits(&[1]), Err(Error::Poisoned(_))));
        drop(session);
        drop(generations);
        assert!(control.dropped.load(Ordering::SeqCst));
    }
}
