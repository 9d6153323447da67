//! The tokens are right whatever else runs.

use crate::fake::*;
use crate::harness::*;
use mlxrocm::model::PAGE_TOKENS;
use mlxrocm::session::{Event, Request, Sampling, Session};
use std::sync::atomic::Ordering;

pub fn sampled(seed: u64) -> Sampling {
    Sampling {
        temperature: 0.9,
        top_k: 20,
        top_p: 0.95,
        min_p: 0.01,
        repetition_penalty: 1.1,
        presence_penalty: 0.1,
        seed,
        ..Default::default()
    }
}

fn request(random: &mut Random, longest: usize) -> Request {
    let n = 1 + random.below(longest);
    Request {
        prompt: random.prompt(n),
        sampling: match random.below(2) {
            0 => Sampling::default(),
            _ => sampled(random.below(1000) as u64),
        },
        max_tokens: 1 + random.below(120),
        ignore_eos: random.below(2) == 0,
        ..Default::default()
    }
}

#[test]
fn one_request() {
    let (session, control) = session(Setup::default());
    let request = Request {
        prompt: Random(1).prompt(150),
        max_tokens: 40,
        ignore_eos: true,
        ..Default::default()
    };
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_right(&request, 512, &output);
    assert_eq!(output.text, text_of(&output.tokens));
    assert_eq!(output.prompt_done, [64, 128, 150]);
    assert_eq!(output.usage.cached_tokens, 0);
    assert!(output.usage.prompt_seconds > 0.0 && output.usage.decode_seconds > 0.0);
    // The last token is never run.
    assert_eq!(control.tokens(), 150 + 39);
    assert_no_page_held(&session);
}

#[test]
fn batch_equals_alone() {
    for (seed, setup) in [
        Setup::default(),
        Setup {
            max_requests: 3,
            prefill_chunk: 7,
            ..Default::default()
        },
        Setup {
            max_tokens: 1,
            ..Default::default()
        },
        Setup {
            max_tokens: 2,
            ..Default::default()
        },
        Setup {
            max_tokens: 9,
            prefill_chunk: 1000,
            ..Default::default()
        },
    ]
    .into_iter()
    .enumerate()
    {
        let (session, _) = session(setup);
        let mut random = Random(seed as u64);
        let requests: Vec<Request> = (0..20).map(|_| request(&mut random, 200)).collect();
        let generations: Vec<_> = requests
            .iter()
            .map(|r| session.submit(r.clone()).unwrap())
            .collect();
        for (request, generation) in requests.iter().zip(&generations) {
            assert_right(request, setup.context, &collect(generation));
        }
        assert_no_page_held(&session);
    }
}

#[test]
fn seeds() {
    let (session, _) = session(Setup::default());
    let run = |seed| {
        let generation = session
            .submit(Request {
                prompt: vec![1, 2, 3],
                sampling: sampled(seed),
                max_tokens: 30,
                ignore_eos: true,
                ..Default::default()
            })
            .unwrap();
        collect(&generation).tokens
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

/// So few pages that sequences lose theirs again and again.
#[test]
fn preempted_requests_give_the_same_tokens() {
    let mut restarts = 0;
    for pages in [8, 9, 11, 16] {
        let setup = Setup {
            pages,
            context: 256,
            ..Default::default()
        };
        let (session, control) = session(setup);
        let mut random = Random(pages as u64);
        let requests: Vec<Request> = (0..8)
            .map(|_| Request {
                max_tokens: 180,
                ignore_eos: true,
                ..request(&mut random, 70)
            })
            .collect();
        let generations: Vec<_> = requests
            .iter()
            .map(|r| session.submit(r.clone()).unwrap())
            .collect();
        let mut fewest = 0;
        for (request, generation) in requests.iter().zip(&generations) {
            let output = collect(generation);
            assert_right(request, setup.context, &output);
            // Reported once, although some prompts were run several times.
            assert_eq!(output.prompt_done.last(), Some(&request.prompt.len()));
            assert!(output.prompt_done.is_sorted());
            fewest += request.prompt.len() + output.tokens.len() - 1;
        }
        restarts += control.tokens() - fewest;
        assert_no_page_held(&session);
    }
    assert!(
        restarts > 0,
        "nothing was preempted: the test shows nothing"
    );
}

#[test]
fn prompts_that_begin_alike_share_pages() {
    let (session, control) = session(Setup::default());
    let mut random = Random(3);
    let ask = |prompt: Vec<u32>| {
        let request = Request {
            prompt,
            sampling: sampled(1),
            max_tokens: 50,
            ignore_eos: true,
            ..Default::default()
        };
        let before = control.tokens();
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_right(&request, 512, &output);
        let run = control.tokens() - before;
        let prompt = request.prompt.len();
        assert_eq!(run, prompt - output.usage.cached_tokens + 49);
        (output.usage.cached_tokens, output.tokens)
    };
    let first = random.prompt(100);
    assert_eq!(ask(first.clone()).0, 0);
    let (cached, answer) = ask(first.clone());
    assert_eq!(cached, 96);
    // The next turn of a chat: prompt, answer and something new. 149 of 150 tokens were run.
    let mut turn = first.clone();
    turn.extend(&answer);
    turn.extend(random.prompt(5));
    assert_eq!(ask(turn).0, 128);
    // A prompt that is cached completely still has its last token run.
    assert_eq!(ask(first[..96].to_vec()).0, 64);
    assert_eq!(ask(first[..97].to_vec()).0, 96);
    // One different token: only what is before its page.
    let mut other = first.clone();
    other[40] = (other[40] + 1) % VOCAB as u32;
    assert_eq!(ask(other).0, 32);
    let mut other = first;
    other[0] = (other[0] + 1) % VOCAB as u32;
    assert_eq!(ask(other).0, 0);
    assert!(session.status().pages_cached > 0);
    assert_no_page_held(&session);
}

#[test]
fn equal_prompts_at_once_share_work() {
    let (session, control) = session(Setup::default());
    let request = Request {
        prompt: Random(4).prompt(400),
        max_tokens: 20,
        ignore_eos: true,
        ..Default::default()
    };
    control.shut();
    let generations: Vec<_> = (0..4)
        .map(|_| session.submit(request.clone()).unwrap())
        .collect();
    control.open();
    for generation in &generations {
        assert_right(&request, 512, &collect(generation));
    }
    assert!(
        control.tokens() < 800,
        "{} tokens for four times the same prompt of 400",
        control.tokens()
    );
    assert_no_page_held(&session);
}

#[test]
fn old_prompts_make_room() {
    let setup = Setup {
        pages: 10,
        context: 256,
        ..Default::default()
    };
    let (session, _) = session(setup);
    let mut random = Random(5);
    let ask = |prompt: &[u32]| {
        let request = Request {
            prompt: prompt.to_vec(),
            max_tokens: 2,
            ignore_eos: true,
            ..Default::default()
        };
        let output = collect(&session.submit(request.clone()).unwrap());
        assert_right(&request, 256, &output);
        output.usage.cached_tokens
    };
    let prompts: Vec<Vec<u32>> = (0..4).map(|_| random.prompt(4 * PAGE_TOKENS + 1)).collect();
    assert_eq!(ask(&prompts[0]), 0);
    assert_eq!(ask(&prompts[1]), 0);
    assert_eq!(ask(&prompts[0]), 128);
    // Pages for it are taken from the one that was used longest ago.
    assert_eq!(ask(&prompts[2]), 0);
    assert_eq!(ask(&prompts[0]), 128);
    assert!(ask(&prompts[1]) < 128);
    assert_no_page_held(&session);
}

#[test]
fn logits_of_every_position() {
    let setup = Setup {
        pages: 17,
        ..Default::default()
    };
    let (session, control) = session(setup);
    control.delay_us.store(50, Ordering::SeqCst);
    let mut random = Random(6);
    let others: Vec<Request> = (0..3)
        .map(|_| Request {
            max_tokens: 150,
            ignore_eos: true,
            ..request(&mut random, 50)
        })
        .collect();
    let generations: Vec<_> = others
        .iter()
        .map(|r| session.submit(r.clone()).unwrap())
        .collect();
    for n in [1, 2, 33, 300, 512] {
        let tokens = random.prompt(n);
        let want: Vec<f32> = (0..n).flat_map(|i| logits_after(&tokens[..=i])).collect();
        assert_eq!(session.logits(&tokens).unwrap(), want, "{n} tokens");
    }
    for (request, generation) in others.iter().zip(&generations) {
        assert_right(request, 512, &collect(generation));
    }
    assert_no_page_held(&session);
}

/// From the host's sampler and where the device chooses, alone and beside another request.
#[test]
fn logprobs_come_with_tokens() {
    for pipelined in [false, true] {
        let setup = Setup {
            pipelined,
            ..Default::default()
        };
        let (session, control) = session(setup);
        logprobs_are_right(&session);
        let queued = control.queued.load(Ordering::SeqCst);
        assert_eq!(queued >= 5, pipelined, "{queued}");
        let other = Request {
            prompt: vec![9],
            max_tokens: 40,
            ignore_eos: true,
            ..Default::default()
        };
        let generation = session.submit(other.clone()).unwrap();
        logprobs_are_right(&session);
        assert_right(&other, 512, &collect(&generation));
    }
}

fn logprobs_are_right(session: &Session) {
    let request = Request {
        prompt: vec![5, 6],
        sampling: Sampling {
            logprobs: 3,
            ..Default::default()
        },
        max_tokens: 5,
        ignore_eos: true,
        ..Default::default()
    };
    let generation = session.submit(request.clone()).unwrap();
    let mut tokens = request.prompt;
    let mut count = 0;
    while let Some(event) = next(&generation) {
        if let Event::Token {
            token,
            logprob,
            top,
            ..
        } = event
        {
            let row = logits_after(&tokens);
            let sum: f64 = row.iter().map(|&l| f64::from(l).exp()).sum();
            let want = f64::from(row[token as usize]) - sum.ln();
            assert!((f64::from(logprob.unwrap()) - want).abs() < 1e-5);
            assert_eq!(top.len(), 3);
            assert_eq!((top[0].token, Some(top[0].logprob)), (token, logprob));
            tokens.push(token);
            count += 1;
        }
    }
    assert_eq!(count, 5);
}
