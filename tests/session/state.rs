//! Saved states: what is loaded is gone on after, what is damaged or of something else is refused.

use crate::fake::*;
use mlxrocm::Error;
use mlxrocm::model::{KvType, PAGE_TOKENS};
use mlxrocm::session::{Request, Session, state_tokens};

fn request(prompt: &[u32]) -> Request {
    Request {
        prompt: prompt.to_vec(),
        max_tokens: 20,
        ignore_eos: true,
        ..Default::default()
    }
}

/// Tokens of a prompt that were in the cache.
fn cached(session: &Session, prompt: &[u32]) -> usize {
    let request = request(prompt);
    let output = collect(&session.submit(request.clone()).unwrap());
    assert_right(&request, 512, &output);
    output.usage.cached_tokens
}

#[test]
fn another_session_goes_on_after_it() {
    for (length, pipelined) in [
        (1, false),
        (31, false),
        (32, true),
        (33, false),
        (200, true),
        (512, false),
    ] {
        let tokens = Random(length as u64).prompt(length);
        let setup = Setup {
            pipelined,
            ..Default::default()
        };
        let (first, saved) = session(setup);
        let state = first.save_state(&tokens).unwrap();
        let whole = length / PAGE_TOKENS * PAGE_TOKENS;
        assert_eq!(saved.tokens(), whole);
        assert_eq!(state.len(), first.state_size(length).unwrap());
        assert_eq!(state_tokens(&state).unwrap(), tokens);
        // What is in the cache is not run again.
        assert_eq!(first.save_state(&tokens).unwrap(), state);
        assert_eq!(saved.tokens(), whole);

        let (second, loaded) = session(setup);
        assert_eq!(second.load_state(&state).unwrap(), tokens);
        assert_eq!(loaded.calls(), 0, "nothing is run");
        assert_no_page_held(&second);
        if length < 480 {
            let mut prompt = tokens.clone();
            prompt.extend(Random(99).prompt(10));
            assert_eq!(cached(&second, &prompt), whole);
        }
        assert_eq!(second.save_state(&tokens).unwrap(), state);
        // What it has already it keeps.
        assert_eq!(second.load_state(&state).unwrap(), tokens);
        assert_no_page_held(&second);
    }
}

#[test]
fn requests_run_meanwhile_and_pages_are_few() {
    for pipelined in [false, true] {
        let setup = Setup {
            pages: 24,
            pipelined,
            ..Default::default()
        };
        let (session, _) = session(setup);
        std::thread::scope(|scope| {
            let session = &session;
            for thread in 0..3u64 {
                scope.spawn(move || {
                    for round in 0..15 {
                        let tokens = Random(thread * 3 + round % 3).prompt(300);
                        let state = session.save_state(&tokens).unwrap();
                        assert_eq!(session.load_state(&state).unwrap(), tokens);
                    }
                });
                scope.spawn(move || {
                    for round in 0..15 {
                        cached(session, &Random(thread * 3 + round % 4).prompt(290));
                    }
                });
            }
        });
        assert_no_page_held(&session);
    }
}

#[test]
fn a_fork_shares_pages() {
    let (session, control) = session(Setup::default());
    let prompt = Random(8).prompt(160);
    let first = session.submit(request(&prompt)).unwrap();
    let output = collect(&first);
    let tokens = first.tokens();
    assert_eq!(tokens, [prompt, output.tokens].concat());
    let before = control.tokens();
    let mut fork = request(&tokens);
    fork.sampling.temperature = 1.0;
    let output = collect(&session.submit(fork.clone()).unwrap());
    assert_right(&fork, 512, &output);
    // 180 tokens: 5 pages are known, the 20 of the sixth are run, and all new ones but the last.
    assert_eq!(output.usage.cached_tokens, 160);
    assert_eq!(control.tokens() - before, 20 + 19);
}

#[track_caller]
fn refused(session: &Session, state: &[u8], part: &str) {
    let error = session.load_state(state).expect_err(part).to_string();
    assert!(error.contains(part) && !error.contains('\n'), "{error}");
}

#[test]
fn what_is_damaged_is_refused() {
    let (session, control) = session(Setup::default());
    let tokens = Random(5).prompt(70);
    let state = session.save_state(&tokens).unwrap();
    let run = control.tokens();
    for length in 0..state.len() {
        assert!(matches!(
            session.load_state(&state[..length]),
            Err(Error::InvalidFile(_))
        ));
    }
    refused(&session, &state[..4], "no saved state");
    refused(&session, &state[..40], "ends after 40 bytes");
    refused(&session, &state[..100], "it has 100 bytes instead of");
    let mut longer = state.clone();
    longer.push(0);
    assert!(matches!(
        session.load_state(&longer),
        Err(Error::InvalidFile(_))
    ));
    // Any changed bit of any byte.
    for at in 0..state.len() {
        let mut changed = state.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(session.load_state(&changed).is_err(), "byte {at}");
        assert!(state_tokens(&changed).is_err(), "byte {at}");
    }
    // Headers that promise more than there is, with no room to add up.
    for at in [24, 48, 56] {
        for huge in [u64::MAX, 1 << 62, 1 << 40] {
            let mut hostile = state.clone();
            hostile[at..at + 8].copy_from_slice(&huge.to_le_bytes());
            assert!(session.load_state(&hostile).is_err(), "{huge} at {at}");
        }
    }
    assert_eq!(control.tokens(), run);
    assert_no_page_held(&session);
}

#[test]
fn what_is_of_something_else_is_refused_by_name() {
    let (first, _) = session(Setup::default());
    let tokens = Random(6).prompt(400);
    let state = first.save_state(&tokens).unwrap();
    let change = |at: usize| {
        let mut changed = state.clone();
        changed[at] ^= 2;
        changed
    };
    refused(&first, &change(8), "version 3");
    refused(&first, &change(12), "saved on another device");
    refused(&first, &change(32), "of another model");
    let (quantized, _) = session(Setup {
        kv: KvType::Q8,
        ..Default::default()
    });
    refused(
        &quantized,
        &state,
        "KV cache of F16, the session's is of Q8",
    );
    let (short, _) = session(Setup {
        context: 300,
        ..Default::default()
    });
    assert!(matches!(
        short.load_state(&state),
        Err(Error::ContextFull(_))
    ));
}

#[test]
fn files_are_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (session, _) = session(Setup::default());
    let tokens = Random(7).prompt(100);
    session.save_state_file(&tokens, &path).unwrap();
    session.save_state_file(&tokens, &path).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        session.save_state(&tokens).unwrap()
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(session.load_state_file(&path).unwrap(), tokens);
    let error = |path: &std::path::Path| session.load_state_file(path).unwrap_err().to_string();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..200]).unwrap();
    assert!(
        error(&path).contains("state: the state is damaged: it has 200 bytes"),
        "{}",
        error(&path)
    );
    std::fs::write(&path, b"").unwrap();
    assert!(error(&path).contains("no saved state"), "{}", error(&path));
    assert!(
        error(folder.path()).contains("not a regular file"),
        "{}",
        error(folder.path())
    );
    let missing = folder.path().join("missing/state");
    assert!(error(&missing).contains("no such file"));
    assert!(matches!(
        session.save_state_file(&tokens, &missing),
        Err(Error::Io(_))
    ));
    assert!(matches!(
        session.save_state_file(&tokens, folder.path()),
        Err(Error::Io(_))
    ));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
