//! Several requests submitted.

use crate::fake::Control;
use crate::harness::Random;
use mlxrocm::session::{Generation, Request, Session};
use std::time::Duration;

/// All of them before the model runs a step.
pub fn at_once(session: &Session, control: &Control, requests: &[Request]) -> Vec<Generation> {
    control.shut();
    let submit = |request: &Request| session.submit(request.clone()).unwrap();
    let generations = requests.iter().map(submit).collect();
    control.open();
    generations
}

/// One after another, each up to so many microseconds after the last.
pub fn apart(
    session: &Session,
    random: &mut Random,
    most: usize,
    requests: &[Request],
) -> Vec<Generation> {
    let submit = |request: &Request| {
        std::thread::sleep(Duration::from_micros(random.below(most) as u64));
        session.submit(request.clone()).unwrap()
    };
    requests.iter().map(submit).collect()
}
