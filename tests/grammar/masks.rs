//! Masks of regular expressions beside an automaton of another library.

use super::{compile, end, random, texts};
use mlxrocm::text::GrammarSource;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::{primitives::StateID, start};
use std::collections::{HashMap, HashSet};

#[test]
fn masks_of_regular_expressions_are_those_of_an_automaton() {
    let (end, texts) = (end(), texts());
    let mut random = random();
    for regex in [
        r"[a-z]+( [a-z]+){0,3}",
        r"-?(0|[1-9][0-9]*)(\.[0-9]{1,3})?",
        r"(yes|no|maybe)!",
        r"[\p{Greek}\p{Cyrillic} ]{2,9}",
        r"(\+[0-9]{1,3} )?\([0-9]{3}\) [0-9]{3}-[0-9]{4}",
        r#"["a-c\\\n]*é?.{0,3}"#,
    ] {
        let dfa = dense::Builder::new()
            .configure(dense::Config::new().start_kind(regex_automata::dfa::StartKind::Anchored))
            .build(&format!(r"(?:{regex})\z"))
            .unwrap();
        let anchored = start::Config::new().anchored(regex_automata::Anchored::Yes);
        let start = dfa.start_state(&anchored).unwrap();
        let alive = alive(&dfa, start);
        let mut complete = 0;
        for _ in 0..6 {
            let mut grammar = compile(GrammarSource::Regex(regex)).unwrap();
            let mut state = start;
            for _ in 0..24 {
                let after = |bytes: &[u8]| {
                    let next = |state, byte: &u8| dfa.next_state(state, *byte);
                    bytes.iter().fold(state, next)
                };
                let may_end = dfa.is_match_state(dfa.next_eoi_state(state));
                complete += usize::from(may_end);
                let allowed = grammar.allowed(&[end]).unwrap();
                assert_eq!(allowed.contains(end), may_end, "{regex}");
                for (id, bytes) in &texts {
                    let text = String::from_utf8_lossy(bytes);
                    assert_eq!(
                        allowed.contains(*id),
                        alive.contains(&after(bytes)),
                        "{regex}: {text:?}"
                    );
                }
                let can: Vec<_> = texts
                    .iter()
                    .filter(|(id, _)| allowed.contains(*id))
                    .collect();
                if grammar.is_complete() || can.is_empty() {
                    break;
                }
                let (id, bytes) = can[random.below(can.len() as u64) as usize];
                state = after(bytes);
                grammar.accept(*id).unwrap();
            }
        }
        assert!(complete > 0, "{regex}");
    }
}

/// The states from which some text leads to a match.
fn alive(dfa: &dense::DFA<Vec<u32>>, start: StateID) -> HashSet<StateID> {
    let (mut to, mut next) = (HashMap::from([(start, Vec::new())]), vec![start]);
    while let Some(state) = next.pop() {
        let mut after: Vec<StateID> = (0..=255).map(|byte| dfa.next_state(state, byte)).collect();
        after.sort();
        after.dedup();
        for new in &after {
            if !to.contains_key(new) {
                to.insert(*new, Vec::new());
                next.push(*new);
            }
        }
        to.insert(state, after);
    }
    let ends = |state: &&StateID| dfa.is_match_state(dfa.next_eoi_state(**state));
    let mut alive: HashSet<StateID> = to.keys().filter(ends).copied().collect();
    loop {
        let more = |(state, after): (&StateID, &Vec<StateID>)| {
            (!alive.contains(state) && after.iter().any(|to| alive.contains(to))).then_some(*state)
        };
        let more: Vec<StateID> = to.iter().filter_map(more).collect();
        if more.is_empty() {
            return alive;
        }
        alive.extend(more);
    }
}
