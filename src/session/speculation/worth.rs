//! How many tokens are worth guessing: how often guesses were right, and how long steps of more rows take.

use super::MOST_ROWS;
use std::time::{Duration, Instant};

/// How likely the tokens of a guess are, in kinds that are counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Likely {
    /// After a match of three tokens.
    #[default]
    Short,
    /// Of up to seven.
    Middle,
    /// Of up to fifteen.
    Long,
    /// Of more.
    Longest,
    /// By a draft model.
    Drafted,
}

impl Likely {
    const KINDS: usize = 5;

    /// After so many tokens that were there before.
    pub fn after(length: usize) -> Likely {
        match length {
            0..=3 => Likely::Short,
            4..=7 => Likely::Middle,
            8..=15 => Likely::Long,
            _ => Likely::Longest,
        }
    }
}

/// Numbers of tokens that are tried: with the last one, devices run 2, 4, 8 and 16 rows.
const COUNTS: [usize; 4] = [1, 3, 7, 14];
/// The weight of what is new in means.
const NEW: f64 = 1.0 / 16.0;
/// How often guesses are thought to be right before any was tried, and how fast those found bad are thought better of.
const AT_FIRST: [f64; Likely::KINDS] = [0.3, 0.5, 0.7, 0.8, 0.7];
const FORGIVES: f64 = 1.0 / 2048.0;
/// How much longer a step is thought to take that has twice the rows of one that is known.
const GROWS: f64 = 1.25;
/// A step of this many others later than the last such step may take another time.
const OLD: u64 = 512;
/// Steps of a size until it is known: the first ones may prepare what later ones have, and the shortest counts.
const WARM: u32 = 2;

/// What steps of a number of rows take.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    seconds: f64,
    seen: u32,
    at: u64,
}

/// What guesses were worth so far, of all sequences of a session. One thread at a time.
#[derive(Debug)]
pub struct Worth {
    /// The share of right ones among the tokens that were guessed, up to the first wrong one.
    right: [f64; Likely::KINDS],
    /// Without and with a draft model's run, by the binary logarithm of rows.
    costs: [[Cost; SIZES]; 2],
    steps: u64,
    ended: Option<Instant>,
}

impl Default for Worth {
    fn default() -> Self {
        Worth {
            right: AT_FIRST,
            costs: Default::default(),
            steps: 0,
            ended: None,
        }
    }
}

const SIZES: usize = MOST_ROWS.ilog2() as usize + 1;

fn size(rows: usize) -> usize {
    rows.next_power_of_two().ilog2() as usize
}

impl Worth {
    /// How many tokens to guess of each sequence at most, where these are the guesses: what gives the most tokens a
    /// second. Without them a step gives `parts` tokens with `rows` rows; with them it may have `most`.
    pub fn count(
        &mut self,
        guesses: &[(Likely, usize)],
        (parts, rows): (usize, usize),
        most: usize,
    ) -> usize {
        let tokens = |count: usize| {
            let each = guesses.iter().map(|(likely, length)| {
                let right = self.right[*likely as usize];
                (1..=count.min(*length) as i32)
                    .map(|i| right.powi(i))
                    .sum::<f64>()
            });
            parts as f64 + each.sum::<f64>()
        };
        let added = |count: usize| {
            guesses
                .iter()
                .map(|(_, length)| count.min(*length))
                .sum::<usize>()
        };
        let drafted = guesses.iter().any(|(likely, _)| *likely == Likely::Drafted);
        let rate = |count: usize| {
            let drafted = drafted && count > 0;
            tokens(count) / self.seconds(rows + added(count), drafted)
        };
        let counts = COUNTS
            .into_iter()
            .filter(|&count| rows + added(count) <= most);
        let best = counts.fold((0, rate(0)), |best, count| match rate(count) {
            rate if rate > best.1 => (count, rate),
            _ => best,
        });
        if best.0 == 0 {
            for (likely, _) in guesses {
                let kind = *likely as usize;
                self.right[kind] += (AT_FIRST[kind] - self.right[kind]) * FORGIVES;
            }
        }
        best.0
    }

    /// Of so many tokens guessed, these were right.
    pub fn found(&mut self, likely: Likely, guessed: usize, right: usize) {
        let mean = &mut self.right[likely as usize];
        for i in 0..guessed.min(right + 1) {
            let found = if i < right { 1.0 } else { 0.0 };
            *mean += (found - *mean) * NEW;
        }
    }

    /// A step is over that was so many rows, some of them `drafted`, if no prompt was in it. The next one follows at once.
    pub fn step(&mut self, rows: Option<usize>, drafted: bool) {
        let now = Instant::now();
        let began = self.ended.replace(now);
        if let (Some(rows), Some(began)) = (rows, began) {
            self.took(rows, drafted, now.saturating_duration_since(began));
        }
    }

    /// There is nothing to do for a while.
    pub fn rest(&mut self) {
        self.ended = None;
    }

    fn took(&mut self, rows: usize, drafted: bool, time: Duration) {
        self.steps += 1;
        let (steps, new) = (self.steps, time.as_secs_f64());
        let Some(cost) = self.costs[usize::from(drafted)].get_mut(size(rows)) else {
            return;
        };
        if cost.at + OLD < steps {
            // What it was by then counts for little.
            cost.seen = 0;
        }
        cost.at = steps;
        cost.seconds = match cost.seen {
            0 => new,
            seen if seen < WARM => cost.seconds.min(new),
            // Something else may have held the step up.
            _ => cost.seconds + (new.min(2.0 * cost.seconds) - cost.seconds) * NEW,
        };
        cost.seen = cost.seen.saturating_add(1);
    }

    /// How long a step of so many rows takes. One that is not known is thought to take a little longer than smaller ones.
    fn seconds(&self, rows: usize, drafted: bool) -> f64 {
        let is_known = |cost: &Cost| cost.seen >= WARM && cost.at + OLD >= self.steps;
        let (plain, own) = (&self.costs[0], &self.costs[usize::from(drafted)]);
        (0..=size(rows).min(SIZES - 1)).fold(1e-9, |smaller, size| {
            let known = [own[size], plain[size]].into_iter().find(is_known);
            known.map_or(smaller * GROWS, |known| known.seconds)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of so many rows took so many milliseconds.
    fn took(worth: &mut Worth, times: &[(usize, u64)]) {
        for (rows, ms) in times {
            (0..40).for_each(|_| worth.took(*rows, false, Duration::from_millis(*ms)));
        }
    }

    #[test]
    fn what_gives_most_tokens_a_second_is_taken() {
        let mut worth = Worth::default();
        let guess = [(Likely::Longest, 14)];
        // No time is known.
        assert_eq!(worth.count(&guess, (1, 1), 16), 7);
        assert_eq!(worth.count(&guess, (1, 1), 8), 7);
        assert_eq!(worth.count(&guess, (1, 1), 1), 0);
        took(&mut worth, &[(1, 10), (2, 11), (4, 12), (8, 24), (15, 60)]);
        (0..200).for_each(|_| worth.found(Likely::Longest, 14, 14));
        // All are right: 8 in 24 ms, 4 in 12, 15 in 60.
        assert!([3, 7].contains(&worth.count(&guess, (1, 1), 16)));
        took(&mut worth, &[(15, 20)]);
        assert_eq!(worth.count(&guess, (1, 1), 16), 14);
        // Half are right: 1.5 in 11 ms, 1.875 in 12.
        (0..400).for_each(|i| worth.found(Likely::Longest, 1, i % 2));
        assert_eq!(worth.count(&guess, (1, 1), 16), 3);
        // None is.
        (0..200).for_each(|_| worth.found(Likely::Longest, 3, 0));
        assert_eq!(worth.count(&guess, (1, 1), 16), 0);
        // Other kinds are counted apart.
        assert!(worth.count(&[(Likely::Short, 3)], (1, 1), 16) > 0);
        // It is tried again, seldom.
        let tries = (0..2000).filter(|_| {
            let count = worth.count(&guess, (1, 1), 16);
            if count > 0 {
                worth.found(Likely::Longest, count, 0);
            }
            count > 0
        });
        assert!((2..200).contains(&tries.count()));
    }

    #[test]
    fn others_rows_count() {
        let mut worth = Worth::default();
        took(&mut worth, &[(1, 10), (2, 11), (4, 12), (8, 13), (16, 40)]);
        (0..100).for_each(|_| worth.found(Likely::Long, 3, 3));
        let guesses = [(Likely::Long, 14); 2];
        // Two and twice three rows are eight; seven would be sixteen.
        assert_eq!(worth.count(&guesses, (2, 2), 16), 3);
        // Seven others and one with a guess are sixteen rows.
        assert_eq!(worth.count(&guesses[..1], (8, 8), 16), 0);
    }

    #[test]
    fn a_draft_model_takes_time_too() {
        let mut worth = Worth::default();
        took(&mut worth, &[(1, 10), (4, 11)]);
        (0..100).for_each(|_| worth.found(Likely::Drafted, 3, 2));
        let guess = [(Likely::Drafted, 3)];
        assert_eq!(worth.count(&guess, (1, 1), 4), 3);
        for _ in 0..40 {
            worth.took(4, true, Duration::from_millis(31));
            worth.took(2, true, Duration::from_millis(21));
        }
        assert_eq!(worth.count(&guess, (1, 1), 4), 0);
        // What is looked up takes none.
        (0..100).for_each(|_| worth.found(Likely::Long, 3, 2));
        assert_eq!(worth.count(&[(Likely::Long, 3)], (1, 1), 4), 3);
    }

    #[test]
    fn old_times_are_forgotten() {
        let mut worth = Worth::default();
        took(&mut worth, &[(1, 10), (4, 100)]);
        let guess = [(Likely::Long, 3)];
        assert_eq!(worth.count(&guess, (1, 1), 4), 1);
        took(&mut worth, &[(2, 90)]);
        assert_eq!(worth.count(&guess, (1, 1), 4), 0);
        (0..OLD + 1).for_each(|_| worth.took(1, false, Duration::from_millis(10)));
        assert_eq!(worth.count(&guess, (1, 1), 4), 3);
    }
}
