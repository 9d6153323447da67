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
/// looked up and with those of a draft model. How many of each were right. `invariant`: requests beside each other are in
/// batch-invariant sessions, as GPUs promise the same bits beside prompts there only.
pub fn change_nothing(
    name: &str,
    model: &Arc<Model>,
    draft: &Arc<Model>,
    invariant: bool,
) -> [usize; 2] {
    let session = |prompt_lookup: bool, draft: Option<&Arc<Model>>, batch_invariant: bool| {
        let options = SessionOptions {
            context: CONTEXT,
            max_requests: 4,
            prefill_chunk: 64,
            batch_invariant,
            prompt_lookup,
            draft: draft.cloned(),
            ..Default::default()
        };
        Session::new(model.clone(), options).unwrap()
    };
    let requests = requests(model.info().vocab_size as u32);
    let alone = |session: Session, expected: Option<&Vec<Tokens>>| -> (Vec<Tokens>, usize) {
        let mut right = 0;
        let each = requests.iter().enumerate().map(|(i, request)| {
            let (tokens, usage) = collect(&session.submit(request.clone()).unwrap());
            assert!(
                expected.is_none_or(|all| all[i] == tokens),
                "{name}, alone: {i}"
            );
            right += usage.accepted_tokens;
            tokens
        });
        (each.collect(), right)
    };
    let (plain, _) = alone(session(false, None, false), None);
    let (beside, _) = alone(session(false, None, invariant), None);
    [(true, None), (false, Some(draft))].map(|(lookup, draft)| {
        let (_, mut right) = alone(session(lookup, draft, false), Some(&plain));
        let guessing = session(lookup, draft, invariant);
        let together = requests
            .iter()
            .map(|request| guessing.submit(request.clone()).unwrap());
        let together: Vec<_> = together.collect();
        for (i, generation) in together.iter().enumerate() {
            let (tokens, usage) = collect(generation);
            assert!(
                tokens == beside[i],
                "{name}, together, lookup {lookup}: {i}"
            );
            right += usage.accepted_tokens;
        }
        right
    })
}
