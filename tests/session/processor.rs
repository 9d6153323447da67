//! Logits processors: what they leave decides the token, of their request only.

use crate::fake::*;
use crate::harness::*;
use crate::tokens::sampled;
use mlxrocm::Error;
use mlxrocm::session::{Event, FinishReason, LogitsProcessor, Request, Sampling};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

fn request(seed: u64, processor: Option<LogitsProcessor>) -> Request {
    Request {
        prompt: Random(seed).prompt(70),
        sampling: match seed % 2 {
            0 => Sampling::default(),
            _ => sampled(seed),
        },
        max_tokens: 30,
        ignore_eos: true,
        logits_processor: processor,
        ..Default::default()
    }
}

#[test]
fn it_is_given_the_raw_logits_and_the_tokens_so_far() {
    for pipelined in [false, true] {
        let (session, _) = session(Setup {
            pipelined,
            ..Default::default()
        });
        for seed in 0..2 {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let keep = seen.clone();
            let look = LogitsProcessor::new(move |tokens, logits| {
                assert_eq!(logits, logits_after(tokens));
                keep.lock().unwrap().push(tokens.to_vec());
                Ok(())
            });
            let request = request(seed, Some(look));
            let output = collect(&session.submit(request.clone()).unwrap());
            assert_right(&request, 512, &output);
            let seen = seen.lock().unwrap();
            assert_eq!(seen.len(), 30);
            for (i, tokens) in seen.iter().enumerate() {
                assert_eq!(tokens[..70], request.prompt);
                assert_eq!(tokens[70..], output.tokens[..i]);
            }
        }
    }
}

/// Tokens of one parity only: a small grammar.
#[test]
fn what_it_bans_is_never_chosen_and_others_notice_nothing() {
    for pipelined in [false, true] {
        let (session, control) = session(Setup {
            pipelined,
            ..Default::default()
        });
        let grammar = LogitsProcessor::new(|tokens, logits| {
            for (token, logit) in logits.iter_mut().enumerate() {
                if token % 2 != tokens.len() % 2 {
                    *logit = f32::NEG_INFINITY;
                }
            }
            Ok(())
        });
        let constrained: Vec<_> = (0..4)
            .map(|seed| {
                session
                    .submit(request(seed, Some(grammar.clone())))
                    .unwrap()
            })
            .collect();
        let free: Vec<_> = (4..8)
            .map(|seed| session.submit(request(seed, None)).unwrap())
            .collect();
        for generation in &constrained {
            let output = collect(generation);
            assert_eq!((output.tokens.len(), output.error), (30, None));
            for (i, token) in output.tokens.iter().enumerate() {
                assert_eq!(*token as usize % 2, (70 + i) % 2);
            }
        }
        for (seed, generation) in (4..).zip(&free) {
            assert_right(&request(seed, None), 512, &collect(generation));
        }
        // When none is left the device chooses again.
        let before = control.queued.load(Ordering::SeqCst);
        collect(&session.submit(request(9, None)).unwrap());
        assert_eq!(control.queued.load(Ordering::SeqCst) > before, pipelined);
    }
}

#[test]
fn log_probabilities_stay_the_models() {
    let (session, _) = session(Setup::default());
    let rated = |processor| {
        let mut request = request(0, processor);
        request.sampling.logprobs = 3;
        request.max_tokens = 1;
        let generation = session.submit(request).unwrap();
        loop {
            if let Event::Token {
                token,
                logprob,
                top,
                ..
            } = next(&generation).unwrap()
            {
                return (token, logprob.unwrap(), top);
            }
        }
    };
    let (best, _, top) = rated(None);
    let only = top[1].token;
    let (token, logprob, edited_top) = rated(Some(LogitsProcessor::new(move |_, logits| {
        logits.fill(f32::NEG_INFINITY);
        logits[only as usize] = 5.0;
        Ok(())
    })));
    assert_eq!((token, logprob, edited_top), (only, top[1].logprob, top));
    assert_ne!(best, only);
}

#[test]
fn a_failure_ends_its_request_only() {
    let (session, _) = session(Setup::default());
    let failing: [(LogitsProcessor, &str); 5] = [
        (
            LogitsProcessor::new(|_, _| Err(Error::Cancelled("enough".into()))),
            "enough",
        ),
        (
            LogitsProcessor::new(|_, _| panic!("a mistake")),
            "a mistake",
        ),
        (
            LogitsProcessor::new(|_, logits| {
                logits[7] = f32::NAN;
                Ok(())
            }),
            "the logit of token 7 NaN",
        ),
        (
            LogitsProcessor::new(|_, logits| {
                logits[3] = f32::INFINITY;
                Ok(())
            }),
            "the logit of token 3 inf",
        ),
        (
            LogitsProcessor::new(|_, logits| {
                logits.fill(f32::NEG_INFINITY);
                Ok(())
            }),
            "every token",
        ),
    ];
    let other = session.submit(request(1, None)).unwrap();
    for (processor, message) in failing {
        let output = collect(&session.submit(request(0, Some(processor))).unwrap());
        assert_eq!(output.reason, FinishReason::Error);
        let error = output.error.unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert_right(&request(1, None), 512, &collect(&other));
    assert_no_page_held(&session);
}
