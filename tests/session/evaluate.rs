//! Logits and embeddings of given tokens, alone and while requests run.

use crate::fake::*;
use crate::harness::*;
use mlxrocm::Error;
use mlxrocm::session::{Embedding, Pooling, Request, Session};

/// Positions of a text, each with a chance.
fn some(random: &mut Random, tokens: usize) -> Vec<u32> {
    let one_in = 1 + random.below(20);
    let mut positions: Vec<u32> = (0..tokens as u32)
        .filter(|_| random.below(one_in) == 0)
        .collect();
    if positions.is_empty() {
        positions.push(random.below(tokens) as u32);
    }
    positions
}

fn rows_of(positions: &[u32], row: impl Fn(usize) -> Vec<f32>) -> Vec<f32> {
    positions
        .iter()
        .flat_map(|p| row(*p as usize + 1))
        .collect()
}

fn embedding(pooling: Pooling, normalize: bool) -> Embedding {
    Embedding {
        pooling,
        normalize,
        ..Default::default()
    }
}

fn mean(tokens: &[u32]) -> Vec<f32> {
    let mut sums = [0.0f64; HIDDEN];
    for end in 1..=tokens.len() {
        for (sum, x) in sums.iter_mut().zip(hidden_after(&tokens[..end])) {
            *sum += f64::from(x);
        }
    }
    sums.iter()
        .map(|sum| (sum / tokens.len() as f64) as f32)
        .collect()
}

/// Everything about a random text.
fn check(session: &Session, random: &mut Random, longest: usize) {
    let length = 1 + random.below(longest);
    let tokens = random.prompt(length);
    let positions = some(random, length);
    let logits = |end: usize| logits_after(&tokens[..end]);
    let hidden = |end: usize| hidden_after(&tokens[..end]);
    let all: Vec<u32> = (0..length as u32).collect();
    match random.below(6) {
        0 => assert_eq!(session.logits(&tokens).unwrap(), rows_of(&all, logits)),
        1 => {
            let found = session.logits_at(&tokens, &positions).unwrap();
            assert_eq!(found, rows_of(&positions, logits), "{positions:?}");
        }
        2 => {
            let how = Embedding {
                positions: positions.clone(),
                ..Default::default()
            };
            let found = session.embed(&tokens, &how).unwrap();
            assert_eq!(found, rows_of(&positions, hidden), "{positions:?}");
        }
        3 => {
            let found = session.embed(&tokens, &embedding(Pooling::Mean, false));
            assert_eq!(found.unwrap(), mean(&tokens));
        }
        4 => {
            let found = session
                .embed(&tokens, &embedding(Pooling::Last, true))
                .unwrap();
            let plain = hidden(length);
            let size = plain.iter().map(|x| x * x).sum::<f32>().sqrt();
            for (found, plain) in found.iter().zip(plain) {
                assert!((found - plain / size).abs() < 1e-6);
            }
        }
        _ => {
            let found = session.embed(&tokens, &embedding(Pooling::Cls, false));
            assert_eq!(found.unwrap(), hidden(1));
            let found = session.embed(&tokens, &Embedding::default());
            assert_eq!(found.unwrap(), rows_of(&all, hidden));
        }
    }
}

#[test]
fn rows_are_those_of_the_tokens_before_them() {
    for (seed, setup) in [
        Setup::default(),
        Setup {
            pipelined: true,
            ..Default::default()
        },
        Setup {
            max_tokens: 1,
            ..Default::default()
        },
        Setup {
            max_tokens: 400,
            prefill_chunk: 390,
            ..Default::default()
        },
    ]
    .into_iter()
    .enumerate()
    {
        let mut random = Random(seed as u64);
        let (session, _) = session(setup);
        for _ in 0..40 {
            check(&session, &mut random, 400);
        }
        assert_no_page_held(&session);
    }
}

/// Many threads evaluate while requests run, and pages are few, so that some begin again.
#[test]
fn beside_requests() {
    for pipelined in [false, true] {
        let (session, _) = session(Setup {
            pages: 34,
            pipelined,
            ..Default::default()
        });
        std::thread::scope(|scope| {
            let session = &session;
            for thread in 0..4 {
                scope.spawn(move || {
                    let mut random = Random(100 + thread);
                    for _ in 0..12 {
                        check(session, &mut random, 300);
                    }
                });
                scope.spawn(move || {
                    let mut random = Random(200 + thread);
                    for _ in 0..4 {
                        let length = 1 + random.below(100);
                        let request = Request {
                            prompt: random.prompt(length),
                            max_tokens: 1 + random.below(60),
                            ignore_eos: true,
                            ..Default::default()
                        };
                        let generation = session.submit(request.clone()).unwrap();
                        assert_right(&request, 512, &collect(&generation));
                    }
                });
            }
        });
        assert_no_page_held(&session);
    }
}

#[test]
fn only_what_is_asked_for_is_run() {
    let (session, control) = session(Setup::default());
    let tokens = Random(3).prompt(300);
    session.logits_at(&tokens, &[9]).unwrap();
    assert_eq!(control.tokens(), 10);
    session
        .embed(&tokens, &embedding(Pooling::Cls, false))
        .unwrap();
    assert_eq!(control.tokens(), 11);
    session.logits_at(&tokens, &[0, 299]).unwrap();
    let log = control.log.lock().unwrap();
    assert_eq!(log.iter().flatten().map(|slice| slice.1).sum::<usize>(), 4);
}

#[test]
fn what_cannot_be_is_refused() {
    let (session, _) = session(Setup::default());
    let tokens = Random(4).prompt(20);
    let refused = |positions: &[u32], part: &str| match session.logits_at(&tokens, positions) {
        Err(Error::InvalidArgument(message)) => assert!(message.contains(part), "{message}"),
        other => panic!("{other:?}"),
    };
    refused(&[], "positions is empty");
    refused(&[20], "positions[0] is 20, there are 20 tokens");
    refused(&[3, 3], "positions[1] is 3");
    refused(&[4, 3], "must rise");
    let how = Embedding {
        positions: vec![1],
        ..embedding(Pooling::Mean, false)
    };
    assert!(matches!(
        session.embed(&tokens, &how),
        Err(Error::InvalidArgument(_))
    ));
    assert!(matches!(
        session.embed(&[], &Embedding::default()),
        Err(Error::InvalidArgument(_))
    ));
    let long = Random(5).prompt(513);
    assert!(matches!(
        session.embed(&long, &Embedding::default()),
        Err(Error::ContextFull(_))
    ));
}
