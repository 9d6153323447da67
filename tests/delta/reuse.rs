//! Prompts that go on after a snapshot give the logits, to the bit, that they give in a session of their own.

use super::golden_family::{tiny_tokenizer, variants, write};
use super::session::{CONTEXT_OF_REUSE, NoText, prompt_below};
use super::{executor_of, folders};
use mlxrocm::graph::Rules;
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model, StateSize};
use mlxrocm::session::{
    Event, Generation, LogitsProcessor, Next, Request, Session, SessionOptions,
};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SLOTS: usize = 3;
const PIECE: usize = 64;
/// All of the families have more tokens.
pub const VOCABULARY: u32 = 61;

pub fn session(model: &Path, snapshots: usize) -> Session {
    let size = StateSize {
        sequences: SLOTS,
        snapshots,
        ..StateSize::any(PIECE + SLOTS, 40, KvType::F16)
    };
    let options = SessionOptions {
        context: CONTEXT_OF_REUSE,
        max_requests: SLOTS,
        prefill_chunk: PIECE,
        ..Default::default()
    };
    let forward = Box::new(executor_of(model, Rules::All, 2, size));
    Session::with_forward(forward, Arc::new(NoText), options, vec![], CONTEXT_OF_REUSE).unwrap()
}

/// A request under way, and the logits that it sees.
pub struct Asked {
    generation: Generation,
    logits: Arc<Mutex<Vec<u32>>>,
}

/// What a request gave: tokens, bits of all logits, and how many tokens of its prompt were not run.
pub type Answer = (Vec<u32>, Vec<u32>, usize);

pub fn ask(session: &Session, prompt: &[u32], max_tokens: usize) -> Asked {
    let logits = Arc::new(Mutex::new(Vec::new()));
    let seen = logits.clone();
    let request = Request {
        prompt: prompt.to_vec(),
        max_tokens,
        ignore_eos: true,
        logits_processor: Some(LogitsProcessor::new(move |_, logits| {
            let bits = logits.iter().map(|logit| logit.to_bits());
            seen.lock().unwrap().extend(bits);
            Ok(())
        })),
        ..Default::default()
    };
    let generation = session.submit(request).unwrap();
    Asked { generation, logits }
}

impl Asked {
    pub fn answer(self) -> Answer {
        let mut tokens = Vec::new();
        loop {
            match self.generation.next(Some(Duration::from_secs(60))).unwrap() {
                Next::Event(Event::Token { token, .. }) => tokens.push(token),
                Next::Event(Event::Finished { usage, error, .. }) => {
                    assert_eq!(error, None);
                    let logits = self.logits.lock().unwrap().clone();
                    return (tokens, logits, usage.cached_tokens);
                }
                Next::Event(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Asks, compares with a session of its own, and gives the answer and how much of the prompt was not run.
#[track_caller]
fn compare(name: &str, model: &Path, session: &Session, prompt: &[u32], count: usize) -> Answer {
    let answer = ask(session, prompt, count).answer();
    same(name, model, prompt, &answer);
    answer
}

#[track_caller]
fn same(name: &str, model: &Path, prompt: &[u32], answer: &Answer) {
    let fresh = self::session(model, 0);
    let (tokens, logits, cached) = ask(&fresh, prompt, answer.0.len()).answer();
    assert_eq!(tokens, answer.0, "{name}");
    assert!(logits == answer.1, "{name}: other logits");
    assert!(cached == 0 && !logits.is_empty());
}

#[test]
fn what_is_gone_on_after_changes_no_bit() {
    for (name, model, _place) in folders() {
        // Pages are enough where nothing is recurrent.
        let pages_only = name == "glm4";
        let session = session(&model, 8);
        let system = prompt_below(VOCABULARY, 1, 140);
        let chat = |seed, rest| [&system[..], &prompt_below(VOCABULARY, seed, rest)].concat();
        let run = |prompt: &[u32], count| compare(&name, &model, &session, prompt, count);
        let (answer, _, cached) = run(&chat(2, 60), 30);
        assert_eq!(cached, 0, "{name}");
        // Another chat with the same beginning, and the next turn of the first one.
        let (_, _, cached) = run(&chat(3, 15), 3);
        assert_eq!(cached, 128, "{name}");
        let first = [chat(2, 60), answer, prompt_below(VOCABULARY, 4, 20)].concat();
        let (answer, _, cached) = run(&first, 40);
        assert_eq!(cached, if pages_only { 224 } else { 128 }, "{name}");
        // The turn after that finds what was left where the last one ended.
        let second = [&first[..], &answer, &prompt_below(VOCABULARY, 8, 20)].concat();
        let (_, _, cached) = run(&second, 5);
        assert_eq!(cached, 288, "{name}");
        // Several at once.
        let chats = [chat(5, 70), chat(6, 20), chat(7, 50), first.clone()];
        let asked: Vec<Asked> = chats
            .iter()
            .map(|prompt| ask(&session, prompt, 12))
            .collect();
        for (asked, prompt) in asked.into_iter().zip(&chats) {
            let answer = asked.answer();
            assert!(answer.2 >= 128, "{name}: {}", answer.2);
            same(&name, &model, prompt, &answer);
        }
    }
}

/// A session keeps snapshots without being told to.
#[test]
fn sessions_of_models_keep_snapshots() {
    let place = tempfile::tempdir().unwrap();
    let jamba = include_str!("../golden/families/jamba.json");
    write(place.path(), &variants(jamba)["plain"]);
    tiny_tokenizer::write_files(place.path());
    let options = LoadOptions {
        device: DeviceChoice::Cpu,
        threads: 1,
        ..LoadOptions::default()
    };
    let model = Model::load(place.path(), &options, None).unwrap();
    let session = Session::new(model, SessionOptions::default()).unwrap();
    let prompt = prompt_below(VOCABULARY, 1, 200);
    let (tokens, logits, cached) = ask(&session, &prompt, 4).answer();
    assert_eq!(cached, 0);
    // The second one leaves what the third one finds.
    for cached in [0, 192] {
        let expected = (tokens.clone(), logits.clone(), cached);
        assert_eq!(ask(&session, &prompt, 4).answer(), expected);
    }
}
