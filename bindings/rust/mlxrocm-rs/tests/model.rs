//! Chat, batch, cancel and errors with the demo model.

use mlxrocm_rs::{
    Device, Event, FinishReason, Finished, Generation, LogLevel, Message, Model, Pooling, Request, Session,
    SessionOptions, Status, Token, list_tensors, set_log, state_tokens,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

fn path() -> PathBuf {
    std::env::var_os("MLXROCM_DEMO_MODEL").expect("MLXROCM_DEMO_MODEL names the demo model").into()
}

fn load() -> Model {
    Model::load_on(path(), Some(&Device::open(0).unwrap()), 0).unwrap()
}

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(load)
}

fn session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    let options = SessionOptions { context: 512, max_requests: 8, ..Default::default() };
    SESSION.get_or_init(|| Session::with_options(model(), options).unwrap())
}

fn run(request: &Request) -> String {
    session().submit(request).unwrap().text().unwrap()
}

fn long() -> Request {
    Request::text("Count:").max_tokens(400).ignore_eos()
}

/// Tokens and the end of a generation.
fn all(generation: Generation) -> (Vec<Token>, Finished) {
    let (mut tokens, mut end) = (Vec::new(), None);
    for event in generation {
        match event.unwrap() {
            Event::Token(token) => tokens.push(token),
            Event::Finished(finished) => end = Some(finished),
            _ => {}
        }
    }
    (tokens, end.expect("an end"))
}

#[test]
fn tensors_of_a_file() {
    let tensors = list_tensors(path()).unwrap();
    // 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
    assert_eq!(tensors.len(), 30 * 9 + 2);
    let named = |name: &str| tensors.iter().find(|tensor| tensor.name == name).unwrap();
    let norm = named("output_norm.weight");
    assert_eq!((&*norm.format, &*norm.shape, norm.bytes), ("F32", &[576][..], 4 * 576));
    assert_eq!(named("blk.29.ffn_down.weight").shape, [576, 1536]);
    let info = model().info().unwrap();
    let numbers = tensors.iter().map(|tensor| tensor.shape.iter().product::<usize>() as u64);
    assert_eq!(numbers.sum::<u64>(), info.parameters);
    assert_eq!(tensors.iter().map(|tensor| tensor.bytes).sum::<u64>(), info.weight_bytes);
    assert_eq!(list_tensors("/nowhere/model.gguf").unwrap_err().status, Status::Io);
}

#[test]
fn guesses_change_no_text() {
    let request = Request::text("one two three one two three one two three one").max_tokens(30);
    let plain = run(&request);
    for prompt_lookup in [true, false] {
        let options = SessionOptions {
            context: 128,
            prompt_lookup,
            draft_model: (!prompt_lookup).then(model),
            ..SessionOptions::default()
        };
        let guessing = Session::with_options(model(), options).unwrap();
        let mut text = String::new();
        for event in guessing.submit(&request).unwrap() {
            let event = event.unwrap();
            text.push_str(event.text());
            if let Event::Finished(end) = event {
                assert!(end.guessed_tokens > 0 && end.accepted_tokens <= end.guessed_tokens);
            }
        }
        assert_eq!(text, plain);
    }
}

#[test]
fn streaming_chat() {
    let messages = [Message::user("What is the capital of France?")];
    let request = Request::chat(&messages).max_tokens(24);
    let mut streamed = String::new();
    for event in session().submit(&request).unwrap() {
        streamed.push_str(event.unwrap().text());
    }
    assert!(streamed.contains("Paris"), "{streamed}");
    let (tokens, end) = all(session().submit(&request).unwrap());
    assert_eq!(end.generated_tokens, tokens.len() as u64);
    let tokenizer = model().tokenizer().unwrap();
    let ids: Vec<u32> = tokens.iter().map(|token| token.token).collect();
    assert_eq!(tokenizer.decode(&ids, true).unwrap(), streamed);
    let prompt = model().render_chat(&messages).unwrap();
    let prompt = tokenizer.encode(&prompt, false, true).unwrap();
    assert_eq!(run(&Request::tokens(&prompt).max_tokens(24)), streamed);
}

#[test]
fn a_chat_in_json_is_as_its_messages() {
    let parts = r#"{"messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is the capital"}, {"type": "text", "text": " of France?"}]}]}"#;
    let messages = [Message::user("What is the capital of France?")];
    let found = run(&Request::chat_json(parts).max_tokens(24));
    assert_eq!(found, run(&Request::chat(&messages).max_tokens(24)));
    let image = r#"{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}"#;
    let error = session().submit(&Request::chat_json(image)).unwrap_err();
    assert_eq!(error.status, Status::InvalidArgument);
    assert!(error.message.contains("image_url"), "{error}");
}

#[test]
fn facts_about_sessions_and_tokens() {
    let info = session().info().unwrap();
    assert_eq!(info.context, 512);
    assert!(info.kv_tokens >= 512 && info.kv_bytes > 0);
    let tokenizer = model().tokenizer().unwrap();
    let tokens = tokenizer.encode("Grüße 😀", false, false).unwrap();
    let bytes: Vec<u8> = tokens.iter().flat_map(|token| tokenizer.token_bytes(*token).unwrap()).collect();
    assert_eq!(bytes, "Grüße 😀".as_bytes());
    assert_eq!(tokenizer.token_bytes(u32::MAX).unwrap_err().status, Status::InvalidArgument);
    let (info, end) = (tokenizer.info().unwrap(), tokenizer.find("<|im_end|>").unwrap());
    assert_eq!((info.vocab_size, info.eos), (49152, end));
    assert!(end.is_some() && tokenizer.is_special(end.unwrap()).unwrap());
    assert_eq!(tokenizer.find("no such token").unwrap(), None);
    assert_eq!(tokenizer.is_special(info.vocab_size).unwrap_err().status, Status::InvalidArgument);
}

#[test]
fn embeddings() {
    let tokens = |text: &str| model().tokenizer().unwrap().encode(text, false, false).unwrap();
    let embed = |text, pooling| session().embed(&tokens(text), pooling, true).unwrap();
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let cat = embed("A cat sleeps on the sofa.", Pooling::Mean);
    assert_eq!(cat.len(), model().info().unwrap().hidden_size);
    assert!((product(&cat, &cat) - 1.0).abs() < 1e-5);
    let (kitten, law) = (embed("A kitten naps on the couch.", Pooling::Mean), embed("x = 5; return x", Pooling::Mean));
    assert!(product(&cat, &kitten) > product(&cat, &law));
    // The first token knows nothing of the others.
    assert_eq!(embed("A cat", Pooling::Cls), embed("A", Pooling::Last));
    let (plain, unit) = (session().embed(&tokens("A"), Pooling::Last, false).unwrap(), embed("A", Pooling::Last));
    let length = product(&plain, &plain).sqrt();
    assert!(plain.iter().zip(unit).all(|(plain, unit)| (plain / length - unit).abs() < 1e-6));
    assert_eq!(session().embed(&[], Pooling::Mean, true).unwrap_err().status, Status::InvalidArgument);
}

#[test]
fn greedy_takes_the_largest_logit() {
    let prompt = model().tokenizer().unwrap().encode("Water boils at", false, false).unwrap();
    let (tokens, _) = all(session().submit(&Request::tokens(&prompt).max_tokens(5).logprobs(2)).unwrap());
    assert_eq!(tokens.len(), 5);
    let sequence: Vec<u32> = prompt.iter().copied().chain(tokens.iter().map(|token| token.token)).collect();
    let logits = session().logits(&sequence).unwrap();
    let rows = logits.chunks(model().info().unwrap().vocab_size);
    for (row, token) in rows.skip(prompt.len() - 1).zip(&tokens) {
        let best = (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
        let total: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
        assert_eq!(token.token as usize, best);
        assert!((f64::from(row[best]) - total.ln() - f64::from(token.logprob.unwrap())).abs() < 1e-3);
        assert_eq!(token.top[0].0, token.token);
    }
}

#[test]
fn a_batch_is_as_one_by_one() {
    let prompts = ["The capital of France is", "Once upon a time", "Water boils at", "The sea", "Two and two"];
    let requests = prompts.map(|prompt| Request::text(prompt).max_tokens(8));
    let found = session().batch(&requests).unwrap();
    assert_eq!(found, requests.each_ref().map(run));
}

#[test]
fn stop_strings_biases_and_seeds() {
    let stopped = run(&Request::text("One, two, three, four,").max_tokens(20).stop(" six"));
    assert!(stopped.contains("five") && !stopped.contains("six"), "{stopped}");
    let comma = model().tokenizer().unwrap().encode(",", false, false).unwrap()[0];
    assert_eq!(run(&Request::text("One two").max_tokens(3).bias(comma, 1000.0)), ",,,");
    let drawn = Request::text("Once").max_tokens(10).temperature(1.0).seed(u64::MAX);
    assert_eq!(run(&drawn), run(&drawn));
}

#[test]
fn cancel_from_another_thread() {
    let generation = session().submit(&long()).unwrap();
    let canceller = generation.canceller();
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        canceller.cancel();
        canceller
    });
    let (tokens, end) = all(generation);
    assert_eq!(end.reason, FinishReason::Cancelled);
    assert!(tokens.len() < 400);
    thread.join().unwrap().cancel();
}

#[test]
fn dropping_cancels_and_waits_have_timeouts() {
    let own =
        Session::with_options(model(), SessionOptions { context: 512, max_requests: 1, ..Default::default() }).unwrap();
    let mut first = own.submit(&long()).unwrap();
    let mut second = own.submit(&Request::text("Two").max_tokens(1)).unwrap();
    assert!(first.next().unwrap().is_ok());
    // It waits for the first.
    assert_eq!(second.next_within(Duration::from_millis(20)), Some(Ok(None)));
    drop(first);
    assert_eq!(all(second).1.reason, FinishReason::Length);
}

#[test]
fn descriptors_for_event_loops() {
    let generation = session().submit(&Request::text("One").max_tokens(1)).unwrap();
    let fd = generation.fd().unwrap();
    assert_eq!(fd, generation.fd().unwrap());
    let kind = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
    assert!(kind.to_string_lossy().contains("eventfd"), "{kind:?}");
    // The library's count of what is to be taken, which is 0 when all is: the kernel tells it.
    let count = || {
        let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap();
        let line = facts.lines().find(|line| line.starts_with("eventfd-count:")).unwrap().to_owned();
        u64::from_str_radix(line["eventfd-count:".len()..].trim(), 16).unwrap()
    };
    while count() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut generation = generation;
    while let Some(event) = generation.next_within(Duration::from_secs(60)) {
        event.unwrap();
    }
    assert_eq!(count(), 0);
}

#[test]
fn errors() {
    let file = std::env::temp_dir().join(format!("mlxrocm-rs-{}.gguf", std::process::id()));
    std::fs::write(&file, &std::fs::read(path()).unwrap()[..5000]).unwrap();
    let damaged = Model::load(&file).unwrap_err();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(damaged.status, Status::InvalidFile);
    let missing = Model::load("/nowhere/model.gguf").unwrap_err();
    assert_eq!(missing.status, Status::Io);
    assert!(missing.message.contains("/nowhere/model.gguf"), "{missing}");
    let refused = |request: Request| session().submit(&request).unwrap_err().status;
    assert_eq!(refused(Request::tokens(&[1; 600])), Status::ContextFull);
    assert_eq!(refused(Request::tokens(&[])), Status::InvalidArgument);
    assert_eq!(Model::load("a\0b").unwrap_err().status, Status::InvalidArgument);
    assert_eq!(Model::load("").unwrap_err().message, "path is empty: no file is called so");
    // Refused before there is memory for it.
    assert_eq!(session().logits(&[1; 600]).unwrap_err().status, Status::ContextFull);
    assert_eq!(session().logits(&[]).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(refused(Request::text("a").temperature(f32::NAN)), Status::InvalidArgument);
    assert_eq!(refused(Request::chat(&[])), Status::InvalidArgument);
    assert_eq!(Device::open(Device::count().unwrap()).unwrap_err().status, Status::NoDevice);
}

#[test]
fn texts_may_hold_nuls() {
    let prompt = "One two\0 three four";
    let tokens = model().tokenizer().unwrap().encode(prompt, true, false).unwrap();
    let request = Request::text(prompt).max_tokens(1).stop("never\0ever").stop("");
    assert_eq!(all(session().submit(&request).unwrap()).1.prompt_tokens, tokens.len() as u64);
    assert!(!run(&Request::chat(&[Message::user("a\0b")]).max_tokens(2)).is_empty());
}

#[test]
fn states() {
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(9);
    let tokens = model().tokenizer().unwrap().encode(&text, false, false).unwrap();
    let request = Request::tokens(&tokens).max_tokens(6).logprobs(1);
    let (expected, _) = all(session().submit(&request).unwrap());
    let state = session().save_state(&tokens).unwrap();
    assert_eq!(state_tokens(&state).unwrap(), tokens);
    let file = std::env::temp_dir().join(format!("mlxrocm-rs-{}.state", std::process::id()));
    session().save_state_file(&tokens, &file).unwrap();
    for from_file in [false, true] {
        let options = SessionOptions { context: 512, ..Default::default() };
        let other = Session::with_options(model(), options).unwrap();
        if from_file { other.load_state_file(&file) } else { other.load_state(&state) }.unwrap();
        let (found, end) = all(other.submit(&request).unwrap());
        assert_eq!(found, expected);
        assert!(end.cached_tokens >= 32, "{end:?}");
        assert_eq!(other.load_state(&state[..state.len() / 2]).unwrap_err().status, Status::InvalidFile);
        assert_eq!(other.load_state(&[]).unwrap_err().status, Status::InvalidFile);
    }
    std::fs::remove_file(&file).unwrap();
    let gone = session().load_state_file(&file).unwrap_err();
    assert!(gone.status == Status::Io && gone.message.ends_with("No such file or directory"), "{gone}");
    assert_eq!(session().save_state(&[1; 600]).unwrap_err().status, Status::ContextFull);
}

#[test]
fn forks_and_logits_of_positions() {
    let whole = run(&Request::text("One two three").max_tokens(8));
    let mut generation = session().submit(&Request::text("One two three").max_tokens(8)).unwrap();
    let (mut begin, mut tokens) = (String::new(), 0);
    while tokens < 3 {
        let event = generation.next().unwrap().unwrap();
        begin.push_str(event.text());
        tokens += usize::from(matches!(event, Event::Token(_)));
    }
    let fork = generation.fork(&Request::more().max_tokens(5)).unwrap();
    assert_eq!(begin.clone() + &fork.text().unwrap(), whole);
    assert_eq!(generation.fork(&Request::text("a")).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(begin + &generation.text().unwrap(), whole);

    let tokens = model().tokenizer().unwrap().encode("The capital of France is", false, false).unwrap();
    let rows = session().logits(&tokens).unwrap();
    let columns = model().info().unwrap().vocab_size;
    let row = |at: usize| &rows[at * columns..][..columns];
    assert_eq!(session().logits_at(&tokens, &[1, 3]).unwrap(), [row(1), row(3)].concat());
    assert_eq!(session().logits_at(&tokens, &[]).unwrap(), row(tokens.len() - 1));
}

#[test]
fn objects_may_be_dropped_in_any_order() {
    let model = load();
    let session = Session::with_options(&model, SessionOptions { context: 64, ..Default::default() }).unwrap();
    let generation = session.submit(&Request::text("The capital of France is").max_tokens(3)).unwrap();
    drop(model);
    drop(session);
    assert!(generation.text().unwrap().contains("Paris"));
}

#[test]
fn log_and_progress() {
    let lines: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    let hear = |level, line: &str| {
        assert!(level <= LogLevel::Info);
        lines.lock().unwrap().push(line.to_owned());
    };
    set_log(LogLevel::Info, Some(Box::new(hear))).unwrap();
    let cpu = Device::open(0).unwrap();
    let mut bytes = vec![(0, 1)];
    let loaded = Model::load_with(path(), Some(&cpu), 0, |done, total| {
        bytes.push((done, total));
        true
    });
    drop(loaded.unwrap());
    assert!(bytes.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    assert!(bytes.last().is_some_and(|(done, total)| done == total));
    set_log(LogLevel::Info, None).unwrap();
    assert!(!lines.lock().unwrap().is_empty());
    let ended = Model::load_with(path(), Some(&cpu), 0, |_, _| false).map(drop);
    assert_eq!(ended.unwrap_err().status, Status::Cancelled);
    let cpu = AssertUnwindSafe(cpu);
    let panicked = catch_unwind(|| Model::load_with(path(), Some(&cpu), 0, |_, _| panic!("enough")).map(drop));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"enough"));
}
