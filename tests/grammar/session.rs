//! A session that keeps to a grammar.

use super::{PERSON, Person, compile, end, model};
use mlxrocm::session::{Event, FinishReason, Next, Request, Sampling, Session, SessionOptions};
use mlxrocm::text::GrammarSource;
use std::time::Duration;

/// A request's tokens, text and end.
fn run(session: &Session, request: Request) -> (Vec<(u32, Option<f32>)>, String, FinishReason) {
    let generation = session.submit(request).unwrap();
    let (mut tokens, mut all) = (Vec::new(), String::new());
    loop {
        match generation.next(Some(Duration::from_secs(300))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token {
                token,
                text,
                logprob,
                ..
            }) => {
                tokens.push((token, logprob));
                all += &text;
            }
            Next::Event(Event::Finished {
                reason,
                text,
                error,
                ..
            }) => {
                assert_eq!(error, None);
                return (tokens, all + &text, reason);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn request(source: GrammarSource<'_>, max_tokens: usize) -> Request {
    let prompt = "Anna is 31 years old and likes tea. As JSON:";
    Request {
        prompt: model().tokenizer().encode(prompt, true, true).unwrap(),
        max_tokens,
        grammar: Some(compile(source).unwrap()),
        ..Default::default()
    }
}

#[test]
fn a_session_keeps_to_the_grammar_alone_and_beside_others() {
    let session = Session::new(model(), SessionOptions::default()).unwrap();
    let schema = || request(GrammarSource::JsonSchema(PERSON), 40);
    let (tokens, text, reason) = run(&session, schema());
    let person: Person = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert!(reason == FinishReason::Grammar && !person.name.is_empty());
    // Biases and penalties do not lead out of it, and a seed gives the same beside others.
    let end = end();
    let odd = |seed| Request {
        sampling: Sampling {
            temperature: 1.5,
            seed,
            logit_bias: vec![(end, f32::MAX), (tokens[0].0, f32::NEG_INFINITY)],
            repetition_penalty: 0.01,
            ..Default::default()
        },
        ..schema()
    };
    let alone: Vec<_> = (0..4).map(|seed| run(&session, odd(seed))).collect();
    let together = std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|seed| {
            scope.spawn({
                let session = &session;
                move || run(session, odd(seed))
            })
        });
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(alone, together);
    for (tokens, text, reason) in alone {
        match reason {
            FinishReason::Grammar => drop(serde_json::from_str::<Person>(&text).unwrap()),
            FinishReason::Length => assert_eq!(tokens.len(), 40),
            other => panic!("{other:?}: {text}"),
        }
        assert!(tokens.iter().all(|(token, _)| *token != end), "{text}");
    }
}

#[test]
fn where_a_text_may_end_and_go_on_the_model_chooses() {
    let session = Session::new(model(), SessionOptions::default()).unwrap();
    let end = end();
    let with_bias = |bias: f32| Request {
        sampling: Sampling {
            logit_bias: vec![(end, bias)],
            ..Default::default()
        },
        ..request(GrammarSource::Regex("(ab|cd)*"), 12)
    };
    // At once, and never.
    let (tokens, text, reason) = run(&session, with_bias(1e9));
    assert_eq!(
        (tokens.len(), text.as_str(), reason),
        (1, "", FinishReason::StopToken)
    );
    let (tokens, text, reason) = run(&session, with_bias(f32::NEG_INFINITY));
    assert_eq!((tokens.len(), reason), (12, FinishReason::Length));
    let whole = text.trim_end_matches(['a', 'c']);
    assert!(
        text.len() >= 12
            && whole
                .as_bytes()
                .chunks(2)
                .all(|two| [b"ab", b"cd"].contains(&two.try_into().unwrap())),
        "{text}"
    );
    // Without tokens that end it the end of the text is the end.
    let forever = Request {
        ignore_eos: true,
        ..request(GrammarSource::Regex("(ab|cd){3}"), 12)
    };
    let (_, text, reason) = run(&session, forever);
    assert_eq!((text.len(), reason), (6, FinishReason::Grammar), "{text}");
}

#[test]
fn log_probabilities_are_the_models_own() {
    let session = Session::new(model(), SessionOptions::default()).unwrap();
    let mut with = request(GrammarSource::Regex("zebra|quagga"), 1);
    with.sampling.logprobs = 1;
    let (tokens, _, _) = run(&session, with.clone());
    let token = tokens[0].0;
    // The same token by a bias, which log-probabilities do not see.
    let without = Request {
        grammar: None,
        sampling: Sampling {
            logit_bias: vec![(token, 1e9)],
            ..with.sampling.clone()
        },
        ..with
    };
    assert_eq!(run(&session, without).0, tokens);
}
