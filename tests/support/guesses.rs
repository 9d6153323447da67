//! Requests of sessions that guess tokens beside those of sessions that do not.

use mlxrocm::model::Model;
use mlxrocm::session::{
    Event, Generation, Next, Request, Sampling, Session, SessionOptions, Usage,
};
use std::sync::Arc;
use std::time::Duration;

/// Tokens of a request, and how many each writes.
const CONTEXT: usize = 160;
const WRITES: usize = 48;

/// Tokens, and the bits of each one's log-probability.
type Tokens = Vec<(u32, Option<u32>)>;

/// Greedy and sampled; some tell log-probabilities or have penalties. Their prompts repeat themselves.
fn requests(vocabulary: u32) -> Vec<Request> {
    let sampled = Sampling {
        temperature: 0.3,
        seed: 11,
        ..Default::default()
    };
    let samplings = [
        Sampling::default(),
        Sampling {
            logprobs: 2,
            ..Default::default()
        },
        sampled.clone(),
        Sampling {
            repetition_penalty: 1.01,
            penalty_window: 30,
            ..sampled
        },
    ];
    let request = |(i, sampling): (u32, Sampling)| Request {
        prompt: (0..40 + 9 * i)
            .map(|k| (k % (5 + 2 * i) * 7 + 3 * i) % vocabulary)
            .collect(),
        sampling,
        max_tokens: WRITES,
        ignore_eos: true,
        ..Default::default()
    };
    (0..).zip(samplings).map(request).collect()
}

fn collect(generation: &Generation) -> (Tokens, Usage) {
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(600))).unwrap() {
            Next::Event(Event::Token { token, logprob, .. }) => {
                tokens.push((token, logprob.map(f32::to_bits)));
            }
            Next::Event(Event::Finished { usage, error, .. }) => {
                assert_eq!(error, None);
                return (tokens, usage);
            }
            Next::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What is written is, to the bit of its log-probabilities, what is written alone and without guesses, with guesses
/// looked up and with those of a draft model. How many of each were right.
pub fn change_nothing(name: &str, model: &Arc<Model>, draft: &Arc<Model>) -> [usize; 2] {
    let session = |prompt_lookup: bool, draft: Option<&Arc<Model>>| {
        let options = SessionOptions {
            context: CONTEXT,
            max_requests: 4,
            prefill_chunk: 64,
            prompt_lookup,
            draft: draft.cloned(),
            ..Default::default()
        };
        Session::new(model.clone(), options).unwrap()
    };
    let plain = session(false, None);
    let requests = requests(model.info().vocab_size as u32);
    let expected: Vec<Tokens> = requests
        .iter()
        .map(|request| collect(&plain.submit(request.clone()).unwrap()).0)
        .collect();
    [(true, None), (false, Some(draft))].map(|(lookup, draft)| {
        let guessing = session(lookup, draft);
        let mut right = 0;
        // Alone, where prompts are run as they were, then together.
        for (i, request) in requests.iter().enumerate() {
            let (tokens, usage) = collect(&guessing.submit(request.clone()).unwrap());
            assert!(tokens == expected[i], "{name}, alone, {lookup}: {i}");
            right += usage.accepted_tokens;
        }
        let together: Vec<_> = requests
            .iter()
            .map(|request| guessing.submit(request.clone()).unwrap())
            .collect();
        for (i, generation) in together.iter().enumerate() {
            let (tokens, usage) = collect(generation);
            assert!(tokens == expected[i], "{name}, together, {lookup}: {i}");
            right += usage.accepted_tokens;
        }
        right
    })
}
