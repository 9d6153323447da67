//! Stop strings in streamed text.

use std::collections::VecDeque;

/// One stop string with its failure table.
#[derive(Debug)]
struct Stop {
    text: Vec<u8>,
    /// `failure[n]`: how many bytes of `text` the longest proper suffix of its first `n + 1` bytes
    /// begins (Knuth, Morris, Pratt 1977).
    failure: Vec<usize>,
    /// How many bytes of `text` the stream ends with now.
    matched: usize,
}

impl Stop {
    fn new(text: String) -> Stop {
        let text = text.into_bytes();
        let mut failure = vec![0; text.len()];
        let mut matched = 0;
        for at in 1..text.len() {
            while matched > 0 && text[at] != text[matched] {
                matched = failure[matched - 1];
            }
            if text[at] == text[matched] {
                matched += 1;
            }
            failure[at] = matched;
        }
        Stop {
            text,
            failure,
            matched: 0,
        }
    }

    /// Follows one byte; true when the stream now ends with the stop string.
    fn follow(&mut self, byte: u8) -> bool {
        // `matched < text.len()`: a full match ends the stream.
        while self.matched > 0 && self.text[self.matched] != byte {
            self.matched = self.failure[self.matched - 1];
        }
        if self.text[self.matched] == byte {
            self.matched += 1;
        }
        self.matched == self.text.len()
    }
}

/// Finds the first of several stop strings in a stream, holding back text that may begin one.
///
/// The match that ends first wins; of those that end together the longest, so the text given out
/// never contains a stop string. Time is linear in the text (times the number of stop strings).
/// One thread at a time.
#[derive(Debug, Default)]
pub struct StopMatcher {
    stops: Vec<Stop>,
    held: VecDeque<u8>,
    found: bool,
}

impl StopMatcher {
    /// Empty stop strings are ignored.
    pub fn new(stops: Vec<String>) -> StopMatcher {
        StopMatcher {
            stops: stops
                .into_iter()
                .filter(|stop| !stop.is_empty())
                .map(Stop::new)
                .collect(),
            held: VecDeque::new(),
            found: false,
        }
    }

    /// Adds text. Returns the text that is safe to give out (without the stop string), and whether
    /// a stop string was found. After a stop string was found all further text is swallowed.
    pub fn push(&mut self, text: &str) -> (String, bool) {
        if self.found {
            return (String::new(), true);
        }
        if self.stops.is_empty() {
            return (text.to_string(), false);
        }
        for &byte in text.as_bytes() {
            self.held.push_back(byte);
            let mut longest = None;
            for stop in &mut self.stops {
                if stop.follow(byte) {
                    longest = longest.max(Some(stop.text.len()));
                }
            }
            if let Some(length) = longest {
                self.found = true;
                let safe = self.take(self.held.len().saturating_sub(length));
                self.held = VecDeque::new();
                return (safe, true);
            }
        }
        let keep = self.stops.iter().map(|stop| stop.matched).max();
        let safe = self.held.len().saturating_sub(keep.unwrap_or(0));
        (self.take(safe), false)
    }

    /// What was held back, at the end of the stream. The matcher then starts afresh.
    pub fn finish(&mut self) -> String {
        let text = self.take(self.held.len());
        for stop in &mut self.stops {
            stop.matched = 0;
        }
        self.found = false;
        text
    }

    /// The first `count` held bytes. Stop strings begin at character boundaries and the input is
    /// whole characters, so the cut always lies between two characters.
    fn take(&mut self, count: usize) -> String {
        let bytes: Vec<u8> = self.held.drain(..count).collect();
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(stops: &[&str]) -> StopMatcher {
        StopMatcher::new(stops.iter().map(|s| s.to_string()).collect())
    }

    /// What must come out: the text before the stop string that ends first (the longest of those).
    fn naive(stops: &[&str], text: &str) -> (String, bool) {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let longest = stops
                .iter()
                .filter(|s| !s.is_empty() && text[..end].ends_with(**s))
                .map(|s| s.len())
                .max();
            if let Some(length) = longest {
                return (text[..end - length].to_string(), true);
            }
        }
        (text.to_string(), false)
    }

    #[test]
    fn inside_one_push_and_across() {
        let mut m = matcher(&["</s>", "User:"]);
        assert_eq!(m.push("Hello </"), ("Hello ".into(), false));
        assert_eq!(m.push("b> U"), ("</b> ".into(), false));
        assert_eq!(m.push("ser:more"), (String::new(), true));
        assert_eq!(m.push("and more"), (String::new(), true));
        assert_eq!(m.finish(), "");
        let mut m = matcher(&["", "ab"]);
        assert_eq!(m.push("xaby"), ("x".into(), true));
    }

    #[test]
    fn held_back_text_comes_at_the_end() {
        let mut m = matcher(&["abcd", "bcx"]);
        assert_eq!(m.push("abc"), (String::new(), false));
        assert_eq!(m.finish(), "abc");
        assert_eq!(m.push("d"), ("d".into(), false));
    }

    #[test]
    fn no_stop_strings() {
        let mut m = matcher(&[""]);
        assert_eq!(m.push("é"), ("é".into(), false));
        assert_eq!(m.finish(), "");
    }

    /// A small generator, so that failures repeat.
    struct Random(u64);
    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) % n
        }
        fn text(&mut self, max: u64) -> String {
            let alphabet = ['a', 'b', 'é', '中', '😀'];
            (0..self.below(max + 1))
                .map(|_| alphabet[self.below(if max > 8 { 3 } else { 5 }) as usize])
                .collect()
        }
    }

    #[test]
    fn equals_a_naive_search_however_the_text_is_cut() {
        let mut random = Random(0x9E3779B97F4A7C15);
        let mut found_some = 0;
        for round in 0..20_000 {
            let stops: Vec<String> = (0..random.below(4)).map(|_| random.text(5)).collect();
            let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
            let text = random.text(30);
            let mut m = matcher(&stops);
            let (mut out, mut found) = (String::new(), false);
            let mut rest: Vec<char> = text.chars().collect();
            while !rest.is_empty() && !found {
                let cut = (1 + random.below(6) as usize).min(rest.len());
                let part: String = rest.drain(..cut).collect();
                let (safe, hit) = m.push(&part);
                out.push_str(&safe);
                found = hit;
                // Nothing that could not still become a stop string is held back.
                assert!(m.held.len() < stops.iter().map(|s| s.len()).max().unwrap_or(1).max(1));
            }
            out.push_str(&m.finish());
            found_some += usize::from(found);
            assert_eq!(
                (out, found),
                naive(&stops, &text),
                "{round} {stops:?} {text:?}"
            );
        }
        assert!(found_some > 2_000, "{found_some}");
    }

    #[test]
    fn linear_time_on_a_periodic_text() {
        let stop = "a".repeat(50_000) + "b";
        let mut m = matcher(&[&stop]);
        let start = std::time::Instant::now();
        let text = "a".repeat(1_000_000);
        let (safe, found) = m.push(&text);
        assert!(!found);
        assert_eq!(safe.len(), 950_000);
        assert_eq!(m.finish().len(), 50_000);
        assert!(start.elapsed().as_secs_f64() < 60.0);
    }
}
