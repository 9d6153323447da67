//! Saved states of models with recurrent layers: what goes on after one, in another session, gives the bits of what was
//! never interrupted.

use super::folders;
use super::reuse::{VOCABULARY, ask, session};
use super::session::prompt_below;

#[test]
fn what_goes_on_after_a_loaded_state_changes_no_bit() {
    for (name, model, place) in folders() {
        let prompt = prompt_below(VOCABULARY, 11, 150);
        let (tokens, logits, cached) = ask(&session(&model, 0), &prompt, 40).answer();
        assert_eq!(cached, 0);
        // In the middle of the prompt, of what was generated, at a page's end and beside it.
        let text = [&prompt[..], &tokens].concat();
        for length in [33, 128, 187] {
            let first = session(&model, 8);
            let state = first.save_state(&text[..length]).unwrap();
            assert_eq!(state.len(), first.state_size(length).unwrap(), "{name}");
            assert!(
                first.save_state(&text[..length]).unwrap() == state,
                "{name}"
            );
            let second = session(&model, 2);
            let file = place.path().join("state");
            first.save_state_file(&text[..length], &file).unwrap();
            assert_eq!(second.load_state_file(&file).unwrap(), text[..length]);
            for session in [&second, &first] {
                let start = length.max(prompt.len());
                let seen = (start - prompt.len()) * logits.len() / tokens.len();
                let rest = ask(session, &text[..start], text.len() - start).answer();
                assert_eq!(rest.2, length / 32 * 32, "{name}");
                assert_eq!(rest.0, text[start..], "{name}, {length}");
                assert!(rest.1 == logits[seen..], "{name}, {length}: other logits");
            }
            assert!(
                second.save_state(&text[..length]).unwrap() == state,
                "{name}"
            );
        }
    }
}

/// A changed byte of the state's end, where the recurrent state is, is noticed as any other is.
#[test]
fn damage_is_refused() {
    for (name, model, _place) in folders() {
        let text = prompt_below(VOCABULARY, 12, 70);
        let session = session(&model, 2);
        let state = session.save_state(&text).unwrap();
        let step = state.len() / 50 + 1;
        for at in (0..80)
            .chain((80..state.len()).step_by(step))
            .chain(state.len() - 40..state.len())
        {
            let mut changed = state.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(session.load_state(&changed).is_err(), "{name}: byte {at}");
            assert!(
                session.load_state(&state[..at]).is_err(),
                "{name}: {at} bytes"
            );
        }
        assert_eq!(session.load_state(&state).unwrap(), text);
    }
}
