//! How text is cut into words before merging.

use super::vocabulary::SPACE_MARK;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::utils::SysRegex;
use tokenizers::{
    OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, PreTokenizerWrapper,
    SplitDelimiterBehavior,
};

/// One step; each cuts the pieces of the step before.
pub(super) enum Step {
    /// Cuts out the matches of a pattern; they and the text between are pieces.
    Split(SysRegex),
    /// Marks spaces by U+2581.
    SpaceMark(SpaceMark),
    /// Anything else that the crate knows.
    Other(Box<PreTokenizerWrapper>),
}

/// Where text gets a mark in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prepend {
    /// Each piece.
    Always,
    /// The piece at the very beginning of the text.
    First,
    /// None.
    Never,
}

/// Options of [`Step::SpaceMark`].
#[derive(Debug, Clone, Copy)]
pub(super) struct SpaceMark {
    pub(super) prepend: Prepend,
    /// Whether each mark begins a piece.
    pub(super) split: bool,
}

impl Step {
    /// A split at the matches of a pattern.
    pub(super) fn split(pattern: &str) -> Result<Step, String> {
        let pattern = SplitPattern::Regex(pattern.to_string());
        Split::new(pattern, SplitDelimiterBehavior::Isolated, false)
            .map(|split| Step::Split(split.regex))
            .map_err(|error| error.to_string())
    }
}

/// Gives each word of `text` to `word`. `first`: the text begins the whole input.
pub(super) fn cut(
    steps: &[Step],
    text: &str,
    first: bool,
    word: &mut dyn FnMut(&str),
) -> tokenizers::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let Some((step, rest)) = steps.split_first() else {
        word(text);
        return Ok(());
    };
    match step {
        Step::Split(pattern) => {
            let mut done = 0;
            let mut piece = |from: usize, to: usize| {
                let part = text.get(from..to).unwrap_or_default();
                cut(rest, part, first && from == 0, word)
            };
            for (from, to) in pattern.find_iter(text) {
                piece(done, from)?;
                piece(from, to)?;
                done = to;
            }
            piece(done, text.len())
        }
        Step::SpaceMark(options) => {
            let mut marked = String::with_capacity(text.len() + 3);
            let prepend = match options.prepend {
                Prepend::Always => true,
                Prepend::First => first,
                Prepend::Never => false,
            };
            if prepend && !text.starts_with([' ', SPACE_MARK]) {
                marked.push(SPACE_MARK);
            }
            let mark = |c| if c == ' ' { SPACE_MARK } else { c };
            marked.extend(text.chars().map(mark));
            if !options.split {
                return cut(rest, &marked, first, word);
            }
            let mut done = 0;
            for (at, _) in marked.match_indices(SPACE_MARK) {
                let part = marked.get(done..at).unwrap_or_default();
                cut(rest, part, first && done == 0, word)?;
                done = at;
            }
            cut(
                rest,
                marked.get(done..).unwrap_or_default(),
                first && done == 0,
                word,
            )
        }
        Step::Other(other) => {
            let mut pieces = PreTokenizedString::from(text);
            other.pre_tokenize(&mut pieces)?;
            let list = pieces.get_splits(OffsetReferential::Normalized, OffsetType::None);
            for (piece, (from, _), _) in list {
                cut(rest, piece, first && from == 0, word)?;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(steps: &[Step], text: &str, first: bool) -> Vec<String> {
        let mut out = Vec::new();
        cut(steps, text, first, &mut |word| out.push(word.to_string())).unwrap();
        out
    }

    #[test]
    fn splits_follow_one_another() {
        let steps = [Step::split(r"\d").unwrap(), Step::split("[a-z]+").unwrap()];
        assert_eq!(words(&steps, "ab12 cd", true), ["ab", "1", "2", " ", "cd"]);
        assert_eq!(words(&steps, "", true), [""; 0]);
        // A pattern that matches nothing must not loop or cut.
        assert_eq!(
            words(&[Step::split("x*").unwrap()], "ab", true).concat(),
            "ab"
        );
    }

    #[test]
    fn marks() {
        let step = |prepend, split| [Step::SpaceMark(SpaceMark { prepend, split })];
        let always = step(Prepend::Always, true);
        assert_eq!(words(&always, "a b", false), ["▁a", "▁b"]);
        assert_eq!(words(&always, " a  b", false), ["▁a", "▁", "▁b"]);
        let first = step(Prepend::First, false);
        assert_eq!(words(&first, "a b", true), ["▁a▁b"]);
        assert_eq!(words(&first, "a b", false), ["a▁b"]);
        assert_eq!(words(&step(Prepend::Never, true), "a b", true), ["a", "▁b"]);
    }
}
