//! What is done to text before it is cut into words: one step after the other.

use tokenizers::{NormalizedString, Normalizer as _, NormalizerWrapper};

/// The steps. Immutable: any thread.
#[derive(Debug, Default)]
pub(super) struct Normalizer(Vec<NormalizerWrapper>);

impl Normalizer {
    /// The steps of `whole`; sequences are taken apart.
    pub(super) fn new(whole: NormalizerWrapper) -> Normalizer {
        let mut normalizer = Normalizer::default();
        normalizer.add(whole);
        normalizer
    }

    fn add(&mut self, step: NormalizerWrapper) {
        match step {
            NormalizerWrapper::Sequence(steps) => steps.into_iter().for_each(|s| self.add(s)),
            step => self.0.push(step),
        }
    }

    /// The normalized text; `None` where no step can change it.
    pub(super) fn apply(&self, text: &str) -> tokenizers::Result<Option<String>> {
        let mut done: Option<String> = None;
        for step in &self.0 {
            let text = done.as_deref().unwrap_or(text);
            // Form C of ASCII is itself; most text needs no more than this look.
            if matches!(step, NormalizerWrapper::NFC(_)) && text.is_ascii() {
                continue;
            }
            // Each step gets a string of its own: the crate's follows where each byte came from,
            // and panics where a step inserts text and a later one changes it.
            let mut step_text = NormalizedString::from(text);
            step.normalize(&mut step_text)?;
            done = Some(step_text.get().to_string());
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalizer(json: &str) -> Normalizer {
        Normalizer::new(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn steps_follow_one_another() {
        let n = normalizer(
            r#"{"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "_"},
                {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
                {"type": "Replace", "pattern": {"String": " "}, "content": "_"}]}"#,
        );
        assert_eq!(n.apply("A B").unwrap().as_deref(), Some("_a_b"));
        assert_eq!(n.apply("E\u{301}").unwrap().as_deref(), Some("_\u{e9}"));
        assert_eq!(Normalizer::default().apply("A").unwrap(), None);
        assert_eq!(normalizer(r#"{"type": "NFC"}"#).apply("A").unwrap(), None);
    }

    #[test]
    fn text_inserted_at_the_end_is_changed_by_later_steps() {
        for step in ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"] {
            for pattern in [r#"{"String": ""}"#, r#"{"Regex": "$"}"#] {
                let n = normalizer(&format!(
                    r#"{{"type": "Sequence", "normalizers": [
                    {{"type": "Replace", "pattern": {pattern}, "content": "▁"}},
                    {{"type": "{step}"}}]}}"#
                ));
                let done = n.apply("abc").unwrap().unwrap_or_default();
                assert!(done.ends_with("c▁"), "{step} {pattern}: {done}");
            }
        }
    }
}
