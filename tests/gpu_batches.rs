//! Requests of a session on a GPU alone and beside others: the same tokens, and the same log-probabilities to the bit, in a
//! batch-invariant session with any number of requests and prompts.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::gpu::GraphPolicy;
use mlxrocm::model::{Choice, DeviceChoice, KvType, Model, Slice, Wanted};
use mlxrocm::session::{
    Event, Generation, LogitsProcessor, Next, Request, Sampling, Session, SessionOptions,
};
use mlxrocm::text::GrammarSource;
use on_gpu::{device, load};
use std::sync::Arc;
use std::time::Duration;

/// Requests at once; more than up to which batches change nothing by themselves.
const REQUESTS: u32 = 21;

/// As many as are promised to give the same.
const MOST: u32 = 64;

fn session(model: &Arc<Model>, requests: u32, batch_invariant: bool) -> Session {
    let options = SessionOptions {
        context: 96,
        max_requests: requests as usize,
        kv_tokens: 96 * requests as usize,
        batch_invariant,
        ..Default::default()
    };
    Session::new(model.clone(), options).unwrap()
}

/// The first are short, so that they write tokens while the last ones' prompts are read. Every second one is greedy and
/// chosen by the device; the others tell log-probabilities.
fn request(i: u32) -> Request {
    let length = if i < 17 { 1 + i % 3 } else { 30 + i };
    Request {
        prompt: (0..length).map(|k| (i * 31 + k * 77 + 13) % 250).collect(),
        sampling: Sampling {
            temperature: if i.is_multiple_of(2) { 0.0 } else { 1.5 },
            seed: 7 + u64::from(i),
            logprobs: i % 2 * 2,
            ..Default::default()
        },
        max_tokens: if i < 17 { 12 } else { 5 },
        ignore_eos: true,
        ..Default::default()
    }
}

/// Tokens, and the bits of each one's log-probability.
type Tokens = Vec<(u32, Option<u32>)>;

fn collect(generation: &Generation) -> Tokens {
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(300))).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, logprob, .. }) => {
                tokens.push((token, logprob.map(f32::to_bits)));
            }
            Next::Event(Event::Finished { error, .. }) => {
                assert_eq!(error, None);
                return tokens;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Which requests have other results: their number, the place of the first other token, both sides from there.
fn others(found: &[Tokens], expected: &[Tokens]) -> Vec<(usize, usize, Tokens, Tokens)> {
    let pairs = found.iter().zip(expected).enumerate();
    pairs
        .filter(|(_, (found, expected))| found != expected)
        .map(|(i, (found, expected))| {
            let same = found.iter().zip(expected).take_while(|(a, b)| a == b);
            let from = same.count();
            (i, from, found[from..].to_vec(), expected[from..].to_vec())
        })
        .collect()
}

fn together(session: &Session, all: Vec<Request>) -> Vec<Tokens> {
    let all = all.into_iter().map(|request| session.submit(request));
    let all: Vec<_> = all.map(Result::unwrap).collect();
    all.iter().map(collect).collect()
}

/// One of many: few tokens of them all, the last ones' prompts longer.
fn one_of_many(i: u32) -> Request {
    let length = if i < MOST - 4 { 1 + i % 2 } else { 34 + i % 7 };
    Request {
        prompt: (0..length).map(|k| (i * 57 + k * 91 + 5) % 250).collect(),
        max_tokens: 2 + i as usize % 2,
        ..request(i)
    }
}

/// Every request beside 63 others and prompts that come late; some of them alone.
#[test]
fn the_most_requests_and_late_prompts_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    let target = gpu::todays(&["gfx1151", "gfx942", "gfx1201"]);
    let gpu = device(target);
    let model = load(&path, DeviceChoice::Gpu(0));
    let invariant = session(&model, MOST, true);
    let found = together(&invariant, (0..MOST).map(one_of_many).collect());
    // The last ones, and some of the rest.
    for i in (0..MOST).rev().step_by(9).chain([MOST - 2]) {
        let alone = collect(&invariant.submit(one_of_many(i)).unwrap());
        assert!(found[i as usize] == alone, "{target}: {i}");
    }
    drop((invariant, model));
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
    }
}

#[test]
fn requests_give_the_same_alone_and_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    for target in gpu::by_turns(&["gfx1151", "gfx942", "gfx1201"]) {
        let gpu = device(target);
        let model = load(&path, DeviceChoice::Gpu(0));
        let invariant = session(&model, REQUESTS, true);
        let all = || (0..REQUESTS).map(request).collect();
        let alone: Vec<_> = (0..REQUESTS)
            .map(|i| collect(&invariant.submit(request(i)).unwrap()))
            .collect();
        for _ in 0..2 {
            assert_eq!(others(&together(&invariant, all()), &alone), [], "{target}");
        }
        // Else this would show nothing: steps of more rows sum otherwise.
        let usual = together(&session(&model, REQUESTS, false), all());
        assert!(usual != alone, "{target}: the usual session is as good");
        drop((invariant, model));
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
        }
    }
}

/// Requests of which some need the host.
const MIXED: u32 = 10;

fn mixed(i: u32, model: &Model) -> Request {
    let token = |k: u32| (i * 31 + k * 77 + 13) % 250;
    let mut request = Request {
        // The device chooses after up to 64 recent tokens, the host after more.
        prompt: (0..if i == 4 { 60 } else { 2 + i }).map(token).collect(),
        max_tokens: 10,
        ..request(2 * (i / 2))
    };
    let sampling = &mut request.sampling;
    match i {
        1 | 2 => {
            request.logits_processor = Some(LogitsProcessor::new(|tokens, logits| {
                let parity = tokens.len() % 2;
                let banned = logits.iter_mut().skip(parity).step_by(2);
                banned.for_each(|logit| *logit = f32::NEG_INFINITY);
                Ok(())
            }));
        }
        3 => sampling.logit_bias = (0..90).map(|k| (token(k), (k % 4) as f32 - 2.0)).collect(),
        4 => (sampling.penalty_window, sampling.frequency_penalty) = (80, 0.5),
        5 | 6 => {
            sampling.logit_bias = vec![(7, f32::NEG_INFINITY), (9, 3.0), (9, -0.25)];
            (sampling.repetition_penalty, sampling.presence_penalty) = (1.25, 0.5);
            (sampling.temperature, sampling.logprobs) = ((i % 2) as f32, 3);
        }
        7 => sampling.temperature = 1.5,
        // The longest: when it is alone the device chooses nothing.
        8 => {
            request.logits_processor = Some(LogitsProcessor::new(|_, _| Ok(())));
            request.max_tokens = 24;
        }
        9 => {
            let grammars = model.tokenizer().grammars().unwrap();
            let words = GrammarSource::Regex("([a-z]{1,3} )*");
            request.grammar = Some(grammars.compile(words).unwrap());
            sampling.temperature = 1.0;
        }
        _ => {}
    }
    request
}

/// The device chooses for the rows that it can choose for, whatever the others need; and the host would choose the same.
#[test]
fn rows_that_need_the_host_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    let target = gpu::todays(&["gfx1151", "gfx942", "gfx1201"]);
    let gpu = device(target);
    let model = load(&path, DeviceChoice::Gpu(0));
    let session = session(&model, MIXED, true);
    let alone = |request| collect(&session.submit(request).unwrap());
    let each: Vec<_> = (0..MIXED).map(|i| alone(mixed(i, &model))).collect();
    let text: Vec<u32> = each[9].iter().map(|(token, _)| *token).collect();
    let text = model.tokenizer().decode(&text, false).unwrap();
    let is_word = |c: char| c.is_ascii_lowercase() || c == ' ';
    assert!(!text.is_empty() && text.chars().all(is_word), "{text:?}");
    for (i, each) in (0..).zip(&each) {
        let mut request = mixed(i, &model);
        let processor = LogitsProcessor::new(|_, _| Ok(()));
        request.logits_processor.get_or_insert(processor);
        assert!(alone(request) == *each, "{target}: {i}");
    }
    let launches = || {
        let kernels = &gpu.report()["kernels"];
        let of = |name: &str| kernels[name]["launches"].as_u64().unwrap_or(0);
        of("mlxrocm_sample_draw") + of("mlxrocm_argmax_f32")
    };
    let before = if gpu::is_real() { 0 } else { launches() };
    for _ in 0..2 {
        let found = together(
            &session,
            (0..MIXED).rev().map(|i| mixed(i, &model)).collect(),
        );
        let found: Vec<_> = found.into_iter().rev().collect();
        assert!(found == each, "{target}");
    }
    drop((session, model));
    if !gpu::is_real() {
        // Steps of tokens, all of them beside the longest one.
        assert!(launches() >= before + 2 * 9, "{target}");
        assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
    }
}

/// Tokens that decoding of so many sequences at once chooses in each of some steps, and the graphs that were launched.
fn decoded(gpu: &gpu::Gpu, model: &Model, sequences: u32, policy: GraphPolicy) -> (Vec<u32>, u64) {
    gpu.device().set_graph_policy(policy);
    let pages: Vec<[u32; 1]> = (0..sequences).rev().map(|page| [page]).collect();
    let mut forward = model
        .new_forward(sequences as usize, sequences as usize, KvType::F16)
        .unwrap();
    let launched = || gpu.calls("hipGraphLaunch");
    let (before, mut all, mut chosen) = (launched(), Vec::new(), Vec::new());
    let mut tokens: Vec<[u32; 1]> = (0..sequences).map(|i| [(i * 57 + 5) % 250]).collect();
    for start in 0..STEPS {
        let of = |i: usize| Slice {
            tokens: &tokens[i],
            start,
            pages: &pages[i],
            wanted: Wanted::Last,
            slot: i as u32,
        };
        let slices: Vec<Slice> = (0..tokens.len()).map(of).collect();
        let choices = vec![Choice::GREEDY; tokens.len()];
        assert!(forward.queue(&slices, &choices).unwrap());
        forward.collect(&mut chosen).unwrap();
        all.extend(&chosen);
        for (token, chosen) in tokens.iter_mut().zip(&chosen) {
            token[0] = *chosen;
        }
    }
    (all, launched() - before)
}

const STEPS: usize = 4;

/// Steps of up to 64 sequences replay as graphs, which choose the tokens of direct launches.
#[test]
fn many_sequences_replay_as_graphs() {
    if gpu::is_real() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    let target = gpu::todays(&["gfx1151", "gfx942", "gfx1201"]);
    let gpu = device(target);
    let model = load(&path, DeviceChoice::Gpu(0));
    for sequences in [17, 33, MOST] {
        let (direct, none) = decoded(&gpu, &model, sequences, GraphPolicy::Off);
        let (replayed, launches) = decoded(&gpu, &model, sequences, GraphPolicy::On);
        assert_eq!((none, launches), (0, STEPS as u64), "{target}: {sequences}");
        assert!(direct == replayed, "{target}: {sequences}");
        assert_eq!(direct.len(), STEPS * sequences as usize);
    }
    gpu.clean();
}

/// A session with room for a million tokens takes the memory of their keys and values more than a small one, and
/// nothing else: the rest goes by its requests and the length of one.
#[test]
fn much_room_for_keys_and_values_takes_only_theirs() {
    if gpu::is_real() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = random_model::all().remove(0).write(folder.path());
    let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=8192;checks=0");
    let device = gpu.device();
    let model = load(&path, DeviceChoice::Gpu(0));
    let taken = |kv_tokens: usize| {
        let before = device.memory().unwrap().active;
        let options = SessionOptions {
            context: 512,
            max_requests: 4,
            kv_tokens,
            kv_type: KvType::Q4,
            ..Default::default()
        };
        let session = Session::new(model.clone(), options).unwrap();
        let taken = device.memory().unwrap().active - before;
        drop(session);
        taken - kv_tokens as u64 * model.kv_bytes_per_token(KvType::Q4)
    };
    let (few, many) = (taken(4 * 512), taken(1 << 20));
    // Sizes are rounded up a little.
    assert!(
        many < few + (4 << 20),
        "{few} and {many} bytes beside the cache"
    );
}
