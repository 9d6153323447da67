//! How generations end: limits, stop tokens and strings, handles dropped in any order.

use crate::harness::*;
use crate::tokens::sampled;
use mlxrocm::Error;
use mlxrocm::session::{Event, FinishReason, Next, Request};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn endless(prompt: Vec<u32>) -> Request {
    Request {
        prompt,
        sampling: sampled(9),
        ignore_eos: true,
        ..Default::default()
    }
}

#[test]
fn the_context_ends_it() {
    let (session, _) = session(Setup::default());
    let request = endless(Random(1).prompt(30));
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_right(&request, 512, &output);
    assert_eq!(output.reason, FinishReason::Context);
    assert_eq!(output.tokens.len(), 512 - 30);
    // The largest prompt gives one token; at that number of tokens, the limit asked for counts.
    let mut largest = endless(Random(2).prompt(511));
    let output = collect(&session.submit(largest.clone()).unwrap());
    assert_eq!(
        (output.tokens.len(), output.reason),
        (1, FinishReason::Context)
    );
    largest.max_tokens = 1;
    let output = collect(&session.submit(largest).unwrap());
    assert_eq!(
        (output.tokens.len(), output.reason),
        (1, FinishReason::Length)
    );
    for n in [512, 513, 10_000] {
        match session.submit(endless(Random(3).prompt(n))) {
            Err(Error::ContextFull(m)) => {
                assert!(m.contains(&n.to_string()) && m.contains("512"), "{m}");
            }
            other => panic!("{other:?}"),
        }
    }
    match session.logits(&Random(3).prompt(513)) {
        Err(Error::ContextFull(m)) => assert!(m.contains("513") && m.contains("512"), "{m}"),
        other => panic!("{other:?}"),
    }
}

/// Fewer pages than the context asks for: the pages are the limit.
#[test]
fn the_pages_end_it() {
    let (session, _) = session(Setup {
        pages: 3,
        ..Default::default()
    });
    assert_eq!(session.context(), 96);
    let requests = [
        endless(Random(1).prompt(10)),
        endless(Random(2).prompt(95)),
        endless(Random(3).prompt(60)),
    ];
    let generations: Vec<_> = requests
        .iter()
        .map(|r| session.submit(r.clone()).unwrap())
        .collect();
    for (request, generation) in requests.iter().zip(&generations) {
        assert_right(request, 96, &collect(generation));
    }
    assert!(matches!(
        session.submit(endless(Random(4).prompt(96))),
        Err(Error::ContextFull(_))
    ));
    assert_no_page_held(&session);
}

#[test]
fn requests_are_checked() {
    let (session, control) = session(Setup::default());
    let good = endless(vec![1]);
    let cases = [
        (
            "prompt has no tokens",
            Request {
                prompt: vec![],
                ..good.clone()
            },
        ),
        (
            "prompt[1] is token 61",
            Request {
                prompt: vec![1, 61],
                ..good.clone()
            },
        ),
        (
            "stop_tokens[0] is token 4294967295",
            Request {
                stop_tokens: vec![u32::MAX],
                ..good.clone()
            },
        ),
        (
            "logprobs is 21",
            Request {
                sampling: mlxrocm::session::Sampling {
                    logprobs: 21,
                    ..Default::default()
                },
                ..good
            },
        ),
    ];
    for (message, request) in cases {
        match session.submit(request) {
            Err(Error::InvalidArgument(m)) => assert!(m.contains(message), "{m}"),
            other => panic!("{message}: {other:?}"),
        }
    }
    assert!(matches!(
        session.logits(&[]),
        Err(Error::InvalidArgument(_))
    ));
    match session.logits(&[1, 99]) {
        Err(Error::InvalidArgument(m)) => assert!(m.contains("tokens[1] is token 99"), "{m}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(control.calls(), 0);
}

#[test]
fn stop_tokens_give_no_text() {
    let (session, _) = session(Setup::default());
    let mut request = endless(Random(7).prompt(20));
    request.max_tokens = 60;
    let (tokens, _) = expected(&request, 512);
    let stop = tokens[25];
    let first = tokens.iter().position(|&t| t == stop).unwrap();
    request.stop_tokens = vec![stop];
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_right(&request, 512, &output);
    assert_eq!(output.reason, FinishReason::StopToken);
    assert_eq!(output.tokens, tokens[..=first]);
    assert_eq!(output.text, text_of(&tokens[..first]));
    // The model's own stop token, respected and ignored.
    let seed = (0..500)
        .find(|&seed| {
            let request = Request {
                prompt: vec![4],
                sampling: sampled(seed),
                max_tokens: 40,
                ..Default::default()
            };
            expected(&request, 512).1 == FinishReason::StopToken
        })
        .unwrap();
    for ignore_eos in [false, true] {
        let request = Request {
            prompt: vec![4],
            sampling: sampled(seed),
            max_tokens: 40,
            ignore_eos,
            ..Default::default()
        };
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_right(&request, 512, &output);
        assert_eq!(output.tokens.len() == 40, ignore_eos);
    }
}

#[test]
fn stop_strings_end_the_text() {
    let (session, _) = session(Setup::default());
    let mut request = endless(Random(8).prompt(20));
    request.max_tokens = 60;
    let (tokens, _) = expected(&request, 512);
    let text = text_of(&tokens);
    let stop = text[20..23].to_string();
    let end = text.find(&stop).unwrap();
    request.stop = vec!["not there".into(), stop];
    let generation = session.submit(request.clone()).unwrap();
    let output = collect(&generation);
    assert_eq!(output.reason, FinishReason::StopString);
    assert_eq!(output.text, text[..end]);
    assert_eq!(output.tokens, tokens[..end + 3]);
    assert_eq!(output.usage.generated_tokens, end + 3);
    // Text that may begin a stop string is held back, and given out at the end.
    request.stop = vec![format!("{}!", &text[50..60])];
    let output = collect(&session.submit(request).unwrap());
    assert_eq!(output.reason, FinishReason::Length);
    assert_eq!(output.text, text);
}

#[test]
fn cancelled_while_running_waiting_and_done() {
    let (session, control) = session(Setup {
        max_requests: 1,
        ..Default::default()
    });
    control.delay_us.store(200, Ordering::SeqCst);
    let running = session.submit(endless(vec![1])).unwrap();
    let waiting = session.submit(endless(vec![2])).unwrap();
    assert!(matches!(next(&running), Some(Event::Prompt { .. })));
    waiting.cancel();
    let output = collect(&waiting);
    assert_eq!(output.reason, FinishReason::Cancelled);
    assert!(output.tokens.is_empty());
    assert_eq!(output.usage.prompt_tokens, 1);
    running.cancel();
    running.cancel();
    let output = collect(&running);
    assert_eq!(output.reason, FinishReason::Cancelled);
    assert_eq!(output.text, text_of(&output.tokens));
    let (tokens, _) = expected(&endless(vec![1]), 512);
    assert_eq!(output.tokens, tokens[..output.tokens.len()]);
    running.cancel();
    assert_eq!(running.next(None).unwrap(), Next::End);
    assert_no_page_held(&session);
}

#[test]
fn timeouts() {
    let (session, control) = session(Setup::default());
    control.shut();
    let generation = session.submit(endless(vec![1])).unwrap();
    for timeout in [Duration::ZERO, Duration::from_millis(5)] {
        assert_eq!(generation.next(Some(timeout)).unwrap(), Next::Pending);
    }
    control.open();
    assert!(next(&generation).is_some());
    assert!(matches!(
        generation.next(Some(Duration::MAX)).unwrap(),
        Next::Event(_)
    ));
}

#[test]
fn the_session_may_go_first() {
    let (session, control) = session(Setup::default());
    let requests: Vec<Request> = (0..5).map(|i| endless(vec![i, 1])).collect();
    let generations: Vec<_> = requests
        .iter()
        .map(|r| session.submit(r.clone()).unwrap())
        .collect();
    drop(session);
    for (request, generation) in requests.iter().zip(&generations) {
        assert_right(request, 512, &collect(generation));
    }
    // All are done: the thread ends although the handles are there.
    wait_until("the model is freed", || {
        control.dropped.load(Ordering::SeqCst)
    });
    assert_eq!(generations[0].next(None).unwrap(), Next::End);
}

#[test]
fn handles_dropped_in_any_order() {
    for order in 0..24 {
        let (session, control) = session(Setup::default());
        let a = session.submit(endless(vec![1])).unwrap();
        let b = session.submit(endless(vec![2])).unwrap();
        let done = session
            .submit(Request {
                max_tokens: 1,
                ..endless(vec![3])
            })
            .unwrap();
        collect(&done);
        let mut handles: Vec<Box<dyn std::any::Any>> =
            vec![Box::new(session), Box::new(a), Box::new(b), Box::new(done)];
        let mut n = order;
        while !handles.is_empty() {
            assert!(handles.len() < 4 || !control.dropped.load(Ordering::SeqCst));
            let at = n % handles.len();
            n /= handles.len().max(1);
            drop(handles.swap_remove(at));
        }
        // The last one waits for the thread.
        assert!(control.dropped.load(Ordering::SeqCst), "order {order}");
    }
}

#[test]
fn a_paused_generation_does_not_keep_a_dropped_session() {
    let (session, control) = session(Setup::default());
    let generation = session.submit(endless(vec![1])).unwrap();
    wait_until("it pauses", || {
        control.calls() >= 254 && session.status().running == 1
    });
    drop(session);
    assert!(!control.dropped.load(Ordering::SeqCst));
    let request = endless(vec![1]);
    assert_right(&request, 512, &collect(&generation));
    drop(generation);
    assert!(control.dropped.load(Ordering::SeqCst));
}

/// Who has seen the end finds nothing of the request in the session's counts; who has submitted one finds
/// it there until then.
#[test]
fn counts_agree_with_the_events_seen() {
    let (session, _) = session(Setup::default());
    for round in 0..300 {
        let request = Request {
            prompt: Random(round).prompt(40),
            max_tokens: 3,
            ignore_eos: true,
            ..Default::default()
        };
        let generation = session.submit(request).unwrap();
        let status = session.status();
        // It may be over already.
        if status.running + status.waiting == 0 {
            let last = std::iter::from_fn(|| match generation.next(Some(Duration::ZERO)) {
                Ok(Next::Event(event)) => Some(event),
                _ => None,
            })
            .last();
            assert!(
                matches!(last, Some(Event::Finished { .. })),
                "{round}: {last:?}"
            );
            continue;
        }
        assert_eq!(status.running + status.waiting, 1, "{round}");
        assert_eq!(collect(&generation).tokens.len(), 3);
        let status = session.status();
        assert_eq!((status.running, status.waiting), (0, 0), "{round}");
        assert_eq!(status.pages_used, 0, "{round}");
    }
    // Also those that never ran.
    let (session, control) = crate::harness::session(Setup {
        max_requests: 1,
        ..Default::default()
    });
    control.shut();
    let first = session.submit(endless(Random(1).prompt(9))).unwrap();
    wait_until("the first one runs", || session.status().running == 1);
    let second = session.submit(endless(Random(2).prompt(9))).unwrap();
    assert_eq!(session.status().waiting, 1);
    second.cancel();
    control.open();
    assert_eq!(collect(&second).reason, FinishReason::Cancelled);
    assert_eq!(session.status().waiting, 0);
    first.cancel();
    collect(&first);
    assert_eq!(session.status().running, 0);
}
