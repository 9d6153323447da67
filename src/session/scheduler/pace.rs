//! Whether steps go on without the sequences whose tokens are chosen here.

use std::time::{Duration, Instant};

/// How many of the last times a mean is about.
const MEMORY: f64 = 8.0;

/// How long a step takes on the device, and how long it takes to choose tokens here: running means, in seconds.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the step that runs began.
    began: Option<Instant>,
    step: f64,
    /// What a row that is brought here takes.
    row: f64,
}

impl Pace {
    /// A step begins on a device that was idle.
    pub fn started(&mut self) {
        self.began = Some(Instant::now());
    }

    /// The step that runs is over. `counts`: it was one token of each sequence. `ahead`: the next one begins.
    pub fn ended(&mut self, counts: bool, ahead: bool) {
        let now = Instant::now();
        if let Some(began) = self.began.filter(|_| counts) {
            mean(&mut self.step, now.saturating_duration_since(began));
        }
        self.began = ahead.then_some(now);
    }

    /// So many rows of a step were brought here, and it took so long to hand out what it gave.
    pub fn chose(&mut self, rows: usize, time: Duration) {
        if rows > 0 {
            mean(
                &mut self.row,
                time / u32::try_from(rows).unwrap_or(u32::MAX),
            );
        }
    }

    /// Whether a step of `device` rows that the device chooses for is worth more than to wait for `here` others: whether
    /// the product of all rates is larger, so that nobody loses more than others gain together. With steps of `t` and
    /// `g` for each row here, each has a token in `t + here · g` where all wait; else `device` of them have one in
    /// `t`, and the others in `2t`.
    pub fn goes_on(&self, device: usize, here: usize) -> bool {
        let waiting = self.row * here as f64 / self.step;
        (device + here) as f64 * waiting.ln_1p() > here as f64 * std::f64::consts::LN_2
    }
}

fn mean(of: &mut f64, new: Duration) {
    let new = new.as_secs_f64();
    *of = match *of {
        0.0 => new,
        old => old + (new - old) / MEMORY,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The products of all sequences' tokens a second, step by step.
    fn products(device: usize, here: usize, step: f64, row: f64) -> (f64, f64) {
        let choosing = row * here as f64;
        let waiting = vec![1.0 / (step + choosing); device + here];
        // The next step runs while the tokens are chosen, and the one after it has to wait for them.
        let two = step + step.max(choosing);
        let going_on = [vec![2.0 / two; device], vec![1.0 / two; here]].concat();
        (waiting.iter().product(), going_on.iter().product())
    }

    #[test]
    fn the_better_way_is_taken() {
        let mut taken = [0; 2];
        for device in 1..9 {
            for here in 1..9 {
                for row in [0.01, 0.04, 0.11, 0.3, 1.3, 20.0] {
                    let pace = Pace {
                        began: None,
                        step: 1.0,
                        row,
                    };
                    let (waiting, going_on) = products(device, here, 1.0, row);
                    let near = (waiting / going_on - 1.0).abs() < 1e-9;
                    let found = pace.goes_on(device, here);
                    assert!(
                        near || found == (going_on > waiting),
                        "{device} {here} {row}"
                    );
                    taken[usize::from(found)] += 1;
                }
            }
        }
        assert!(taken.into_iter().all(|count| count > 50), "{taken:?}");
    }

    #[test]
    fn all_wait_until_it_is_known_what_choosing_takes() {
        let mut pace = Pace::default();
        pace.started();
        pace.ended(true, true);
        assert!(!pace.goes_on(100, 1));
        pace.chose(2, Duration::from_secs(2));
        assert!(pace.goes_on(1, 1));
        // A prompt's step tells nothing.
        pace.began = Instant::now().checked_sub(Duration::from_secs(100));
        pace.ended(false, false);
        assert!(pace.goes_on(1, 1));
    }
}
