//! Saved states: what is loaded is gone on after, what is damaged or of something else is refused.

use crate::fake::*;
use crate::harness::*;
use mlxrocm::Error;
use mlxrocm::model::{KvType, PAGE_TOKENS};
use mlxrocm::session::{Request, Session, state_tokens};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A model with pages only, and one with a recurrent state beside them.
const KINDS: [Option<(usize, usize, usize)>; 2] = [None, Some((8, 20, 20))];

fn of_kind(recurrent: Option<(usize, usize, usize)>) -> (Session, Arc<Control>) {
    session(Setup {
        recurrent,
        ..Default::default()
    })
}

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
    let lengths = [
        (1, false),
        (31, false),
        (32, true),
        (33, false),
        (200, true),
        (512, false),
    ];
    for (length, pipelined, recurrent) in KINDS
        .into_iter()
        .flat_map(|kind| lengths.map(|(length, is)| (length, is, kind)))
    {
        let tokens = Random(length as u64).prompt(length);
        let setup = Setup {
            pipelined,
            recurrent,
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
    for (pipelined, recurrent) in [false, true].into_iter().zip(KINDS) {
        let setup = Setup {
            pages: 24,
            pipelined,
            recurrent,
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
    KINDS.into_iter().for_each(fork);
}

fn fork(kind: Option<(usize, usize, usize)>) {
    let (session, control) = of_kind(kind);
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
    // 180 tokens: 5 pages are known, the 20 of the sixth are run, and all new ones but the last. A recurrent state was
    // kept where the second piece of the prompt ended.
    let cached = if kind.is_some() { 128 } else { 160 };
    assert_eq!(output.usage.cached_tokens, cached);
    assert_eq!(control.tokens() - before, 180 - cached + 19);
}

#[track_caller]
fn refused(session: &Session, state: &[u8], part: &str) {
    let error = session.load_state(state).expect_err(part).to_string();
    assert!(error.contains(part) && !error.contains('\n'), "{error}");
}

#[test]
fn what_is_damaged_is_refused() {
    KINDS.into_iter().for_each(damage);
}

fn damage(kind: Option<(usize, usize, usize)>) {
    let (session, control) = of_kind(kind);
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
    let sizes = if kind.is_some() { 4 } else { 3 };
    for at in [24, 48, 56, 64].into_iter().take(sizes) {
        for huge in [u64::MAX, 1 << 62, 1 << 40, 0] {
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
    KINDS.into_iter().for_each(files);
}

fn files(kind: Option<(usize, usize, usize)>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (session, _) = of_kind(kind);
    let tokens = Random(7).prompt(100);
    session.save_state_file(&tokens, &path).unwrap();
    session.save_state_file(&tokens, &path).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        session.save_state(&tokens).unwrap()
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(session.load_state_file(&path).unwrap(), tokens);
    // What a link leads to is replaced, not the link, and nothing that is no file.
    let (link, fifo) = (folder.path().join("link"), folder.path().join("fifo"));
    std::os::unix::fs::symlink("state", &link).unwrap();
    std::fs::write(&path, b"").unwrap();
    session.save_state_file(&tokens, &link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(session.load_state_file(&path).unwrap(), tokens);
    let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let refused = session.save_state_file(&tokens, &fifo).unwrap_err();
    assert!(
        refused.to_string().contains("not a regular file"),
        "{refused}"
    );
    assert!(!std::fs::metadata(&fifo).unwrap().is_file());
    std::fs::remove_file(&link).unwrap();
    std::fs::remove_file(&fifo).unwrap();
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
    assert!(error(&missing).ends_with(": No such file or directory"));
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

/// A state's bytes, made by what the format says.
fn by_hand(tokens: &[u32], recurrent: bool) -> Vec<u8> {
    let pages = tokens.len() / PAGE_TOKENS;
    let mut bytes = b"MLXRSTAT".to_vec();
    let version = if recurrent { 2 } else { 1 };
    for word in [version, 1, 0, PAGE_TOKENS as u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend((PAGE_TOKENS as u64 * 16).to_le_bytes());
    bytes.extend([0; 16]);
    for long in [tokens.len(), pages] {
        bytes.extend((long as u64).to_le_bytes());
    }
    if recurrent {
        bytes.extend(16u64.to_le_bytes());
    }
    bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
    for (position, &token) in tokens[..pages * PAGE_TOKENS].iter().enumerate() {
        bytes.extend((position as u64).to_le_bytes());
        bytes.extend(u64::from(token).to_le_bytes());
    }
    if recurrent && pages > 0 {
        bytes.extend((pages * PAGE_TOKENS).to_le_bytes());
        bytes.extend(state_after(&tokens[..pages * PAGE_TOKENS]).to_le_bytes());
    }
    let sum = Sha256::digest(&bytes);
    bytes.extend(sum);
    bytes
}

/// Files of earlier versions stay readable: those of models without recurrent state are as they ever were.
#[test]
fn the_format_is_what_it_says() {
    for (kind, length) in KINDS
        .into_iter()
        .flat_map(|kind| [5, 96, 203].map(|n| (kind, n)))
    {
        let tokens = Random(3).prompt(length);
        let written = by_hand(&tokens, kind.is_some());
        let (session, _) = of_kind(kind);
        assert_eq!(session.load_state(&written).unwrap(), tokens);
        let whole = length / PAGE_TOKENS * PAGE_TOKENS;
        assert_eq!(cached(&session, &[&tokens[..], &[1, 2]].concat()), whole);
        assert_eq!(of_kind(kind).0.save_state(&tokens).unwrap(), written);
        // One of the other kind of model is of other sizes.
        let other = by_hand(&tokens, kind.is_none());
        refused(&session, &other, "a recurrent state of");
    }
}

/// Without room for snapshots a recurrent state is saved, but there is nowhere to load it to.
#[test]
fn a_recurrent_state_needs_a_place() {
    let tokens = Random(4).prompt(150);
    let expected = by_hand(&tokens, true);
    for kind in [(8, 0, 0), (8, 20, 0)] {
        let (session, control) = of_kind(Some(kind));
        for _ in 0..2 {
            assert_eq!(session.save_state(&tokens).unwrap(), expected);
        }
        let run = control.tokens();
        let error = session.load_state(&expected);
        assert!(matches!(error, Err(Error::OutOfMemory(_))), "{error:?}");
        assert_eq!(control.tokens(), run);
        assert_no_page_held(&session);
        assert_eq!(cached(&session, &tokens), 0);
    }
}

/// A state that goes on after what the session has: its beginning is not written again, its end is what was saved.
#[test]
fn a_longer_state_goes_on_after_a_shorter_one() {
    for kind in KINDS {
        let tokens = Random(12).prompt(300);
        let (first, _) = of_kind(kind);
        let states = [90, 300].map(|length| first.save_state(&tokens[..length]).unwrap());
        let (second, control) = of_kind(kind);
        assert_eq!(cached(&second, &tokens[..200]), 0);
        for state in &states {
            second.load_state(state).unwrap();
        }
        let run = control.tokens();
        let longer = [&tokens[..], &[5; 20]].concat();
        assert_eq!(cached(&second, &longer), 288);
        assert_eq!(second.save_state(&tokens).unwrap(), states[1]);
        // 32 of the prompt and 19 new ones, or one more that was queued.
        assert_eq!(control.tokens() - run, 32 + 19);
        assert_eq!(cached(&second, &[&tokens[..70], &[7; 20]].concat()), 64);
        assert_no_page_held(&second);
    }
}
