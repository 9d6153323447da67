//! Tokens that are taken back leave no trace: what follows has the logits, to the bit, of a sequence that never had
//! them.

use super::session::prompt_below;
use super::{executor_of, folders, same_bits};
use mlxrocm::Error;
use mlxrocm::graph::Rules;
use mlxrocm::model::{Forward, KvType, Rollback, Slice, StateSize, Wanted};
use std::path::Path;

const PAGES: [u32; 4] = [3, 0, 4, 2];
const SLOT: u32 = 1;

fn forward(model: &Path) -> Box<dyn Forward> {
    let size = StateSize {
        sequences: 2,
        snapshots: 4,
        ..StateSize::any(64, 8, KvType::F16)
    };
    Box::new(executor_of(model, Rules::All, 2, size))
}

/// Runs `tokens[start..]` in one step; the logits of its last token.
fn run(forward: &mut dyn Forward, tokens: &[u32], start: usize) -> Vec<f32> {
    let mut logits = Vec::new();
    let slice = Slice {
        tokens: &tokens[start..],
        start,
        pages: &PAGES,
        wanted: Wanted::Last,
        slot: SLOT,
    };
    forward.forward(&[slice], &mut logits).unwrap();
    logits
}

#[test]
fn tokens_taken_back_leave_no_trace() {
    const PROMPT: usize = 37;
    for (name, model, _place) in folders() {
        let text = prompt_below(61, 1, 120);
        let wrong = prompt_below(61, 2, 120);
        let mut straight = forward(&model);
        run(&mut *straight, &text[..PROMPT], 0);
        let expected: Vec<Vec<f32>> = (PROMPT..100)
            .map(|place| run(&mut *straight, &text[..=place], place))
            .collect();
        // Each number of tokens, in one step or one by one.
        for single in [false, true] {
            let mut forward = forward(&model);
            let mut rollback = Rollback::new(SLOT, [0, 3, 1]);
            run(&mut *forward, &text[..PROMPT], 0);
            assert!(rollback.mark(&mut *forward, PROMPT).unwrap());
            let mut length = PROMPT;
            for back in 1..=Rollback::MOST {
                let astray = [&text[..length], &wrong[..back]].concat();
                match single {
                    false => drop(run(&mut *forward, &astray, length)),
                    true => (length..astray.len()).for_each(|place| {
                        run(&mut *forward, &astray[..=place], place);
                        rollback.mark(&mut *forward, place + 1).unwrap();
                    }),
                }
                rollback
                    .back(&mut *forward, &text[..length], &PAGES)
                    .unwrap();
                let goes_on = 1 + back % 5;
                for place in length..length + goes_on {
                    let logits = run(&mut *forward, &text[..=place], place);
                    let same = same_bits(&logits, &expected[place - PROMPT]);
                    assert!(same, "{name}: {back} tokens taken back, then {place}");
                    rollback.mark(&mut *forward, place + 1).unwrap();
                }
                length += goes_on;
            }
            assert!(length > 80);
        }
    }
}

#[test]
fn what_was_not_kept_is_not_gone_back_to() {
    for (name, model, _place) in folders() {
        let text = prompt_below(61, 1, 60);
        let mut forward = forward(&model);
        let mut rollback = Rollback::new(SLOT, [0, 1, 2]);
        run(&mut *forward, &text[..20], 0);
        rollback.mark(&mut *forward, 20).unwrap();
        let back = rollback.back(&mut *forward, &text[..19], &PAGES);
        match forward.slots() {
            None => back.unwrap(),
            Some(_) => assert!(matches!(back, Err(Error::InvalidArgument(_))), "{name}"),
        }
        if forward.slots().is_some() {
            // A snapshot that is not there, one of nothing, a slot that is not there.
            assert!(forward.keep(SLOT, 9).is_err());
            assert!(forward.restore(3, SLOT).is_err());
            assert!(forward.keep(7, 0).is_err());
        }
    }
}
