//! Guesses from a sequence's own tokens: what came next where the last few tokens were there before, as in code that is
//! edited, texts that are quoted, and lists. Places are found as LZ77 finds matches, by chains of equal runs.

use super::{Guess, Likely};
use std::collections::HashMap;

/// Tokens of the runs that are looked up.
const RUN: usize = 3;
/// Places that are looked at, the latest ones.
const PLACES: usize = 16;
/// No more tokens before a place are compared.
const LONGEST: usize = 32;

/// Where runs of tokens are in a sequence that only grows. One thread at a time.
#[derive(Debug, Default)]
pub struct Lookup {
    /// The last place that comes after a run…
    last: HashMap<[u32; RUN], u32>,
    /// …and for each place, from the one after the first run on, the one before it with the same run.
    before: Vec<Option<u32>>,
}

impl Lookup {
    /// At most `most` tokens that may follow `tokens`, which begin with all that it was asked about before.
    pub fn guess(&mut self, tokens: &[u32], most: usize) -> Guess {
        self.extend(tokens);
        let last = self.before.last().copied().flatten();
        let next = |place: &u32| self.before[*place as usize - RUN];
        let places = std::iter::successors(last, next).take(PLACES);
        let shared = |place: usize| {
            let pairs = tokens[..place].iter().rev().zip(tokens.iter().rev());
            pairs.take(LONGEST).take_while(|(a, b)| a == b).count()
        };
        let places = places.map(|place| (shared(place as usize), place));
        // Of the same length, the latest.
        let Some((length, place)) = places.max_by_key(|place| *place) else {
            return Guess::default();
        };
        let mut guessed: Vec<u32> = Vec::with_capacity(most);
        for at in place as usize..place as usize + most {
            // What repeats itself goes on as it began.
            let token = tokens.get(at).or_else(|| guessed.get(at - tokens.len()));
            guessed.extend(token.copied());
        }
        Guess {
            length: guessed.len(),
            tokens: guessed,
            likely: Likely::after(length),
        }
    }

    fn extend(&mut self, tokens: &[u32]) {
        for end in self.before.len() + RUN..=tokens.len() {
            if let Some(run) = tokens[..end].last_chunk::<RUN>() {
                // Positions are far below 2^32.
                self.before.push(self.last.insert(*run, end as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_followed_the_longest_match_is_guessed() {
        let mut lookup = Lookup::default();
        let guess = |lookup: &mut Lookup, tokens: &[u32], most| lookup.guess(tokens, most).tokens;
        // Fewer than a run, one run, no match.
        for length in 0..5 {
            assert_eq!(
                guess(&mut lookup, &[1, 2, 3, 4][..length.min(4)], 4),
                [0; 0]
            );
        }
        // 2 3 4 came twice: before 9 after a 1, before 8 after a 7. The longer match wins over the later one.
        let text = [1, 2, 3, 4, 9, 5, 7, 2, 3, 4, 8, 6, 1, 2, 3, 4];
        let mut lookup = Lookup::default();
        assert_eq!(guess(&mut lookup, &text, 3), [9, 5, 7]);
        assert_eq!(lookup.guess(&text, 1).likely, Likely::after(4));
        // Of matches of the same length the later one.
        let text = [5, 2, 3, 4, 9, 6, 2, 3, 4, 8, 7, 2, 3, 4];
        assert_eq!(guess(&mut Lookup::default(), &text, 2), [8, 7]);
        assert_eq!(guess(&mut Lookup::default(), &text, 0), [0; 0]);
    }

    #[test]
    fn what_repeats_itself_goes_on() {
        let text = [9, 1, 2, 1, 2, 1, 2];
        let found = Lookup::default().guess(&text, 5);
        assert_eq!(found.tokens, [1, 2, 1, 2, 1]);
        let same = [7; 5];
        assert_eq!(Lookup::default().guess(&same, 3).tokens, [7; 3]);
    }

    #[test]
    fn asked_seldom_or_often_it_finds_the_same() {
        let text: Vec<u32> = (0u32..400).map(|i| (i * i / 7) % 5).collect();
        let mut often = Lookup::default();
        for end in 0..=text.len() {
            let once = Lookup::default().guess(&text[..end], 4);
            assert_eq!(often.guess(&text[..end], 4), once, "{end}");
        }
    }
}
