//! Text of files in messages: one line, not too long.

use std::fmt::{Display, Write};

/// Most characters shown of a value.
const LONGEST: usize = 120;

/// Most characters shown of a message that a file's content makes up.
const LONGEST_MESSAGE: usize = 1000;

/// Longest name of a tensor or metadata key that is accepted.
pub(crate) const MAX_NAME: usize = 1024;

/// `text` in one line without control characters, cut after 120 characters.
pub(crate) fn brief(text: impl Display) -> String {
    shorten(text, LONGEST)
}

/// As [`brief`], cut after 1000 characters: for whole messages, such as a template's own.
pub(crate) fn one_line(text: impl Display) -> String {
    shorten(text, LONGEST_MESSAGE)
}

fn shorten(text: impl Display, longest: usize) -> String {
    let mut cut = Cut(String::new(), longest);
    // An error only says that the text was cut.
    if write!(cut, "{text}").is_err() {
        cut.0.push('…');
    }
    cut.0
}

/// Takes so many characters and then refuses, so that a long value is not even formatted.
struct Cut(String, usize);

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for character in text.chars() {
            self.1 = self.1.checked_sub(1).ok_or(std::fmt::Error)?;
            match character.is_control() {
                true => self.0.extend(character.escape_default()),
                false => self.0.push(character),
            }
        }
        Ok(())
    }
}

/// What is wrong with a name of a tensor or key, if anything.
pub(crate) fn bad_name(name: &str) -> Option<String> {
    if name.is_empty() {
        Some("empty".to_string())
    } else if name.len() > MAX_NAME {
        Some(format!(
            "{} bytes long, at most {MAX_NAME} are accepted",
            name.len()
        ))
    } else if name.contains(char::is_control) {
        Some(format!("control characters in {:?}", brief(name)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_odd_texts_become_short_lines() {
        assert_eq!(brief("a\nb\0"), "a\\nb\\u{0}");
        let long = brief("ü".repeat(5000));
        assert_eq!(long.chars().count(), 121);
        assert!(long.ends_with('…'));
        assert_eq!(bad_name("blk.0"), None);
        assert!(bad_name("").is_some() && bad_name("a\tb").is_some());
        assert!(bad_name(&"x".repeat(2000)).is_some());
    }
}
