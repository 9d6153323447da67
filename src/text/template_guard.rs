//! Makes a chat template safe to run: the template is parsed and written out again with every
//! operation that can copy or build values going through a metered function.
//!
//! Fuel counts instructions, but one instruction may double a string, compare two huge lists or
//! multiply text by a billion. After the rewriting no template can take more memory or time than
//! the meter allows, and text between tags is a printed string like any other.

mod expressions;
mod statements;

use minijinja::machinery::{Token, WhitespaceConfig, parse, tokenize};
use minijinja::syntax::SyntaxConfig;
use std::fmt::Write;

/// Names of the metered functions begin so; templates must not use such names.
pub(super) const PREFIX: &str = "mlxrocm_";

/// Tokens in one tag: bounds the depth of an expression, which is walked recursively.
const MAX_TOKENS: usize = 1000;

/// `elif`s in a template: each nests one deeper.
const MAX_ELIFS: usize = 200;

/// What transformers' apply_chat_template sets.
const WHITESPACE: WhitespaceConfig = WhitespaceConfig {
    keep_trailing_newline: false,
    lstrip_blocks: true,
    trim_blocks: true,
};

/// The guarded form of a template, or why there is none.
pub(super) fn guard(source: &str) -> Result<String, String> {
    let source = without_generation(&source.replace("\r\n", "\n").replace('\r', "\n"));
    check_size(&source)?;
    let tree =
        parse(&source, "chat template", SyntaxConfig, WHITESPACE).map_err(|e| format!("{e:#}"))?;
    let mut printer = Printer {
        out: String::with_capacity(source.len() * 2),
        source: &source,
    };
    printer.stmt(&tree)?;
    Ok(printer.out)
}

/// Turns `{% generation %}` … `{% endgeneration %}`, which only marks the assistant's part for
/// training, into `{% if true %}` … `{% endif %}`.
fn without_generation(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let body = tag.get(2..).unwrap_or_default();
        let sign = body.chars().next().filter(|c| matches!(c, '-' | '+'));
        let word = body
            .get(sign.map_or(0, char::len_utf8)..)
            .unwrap_or_default();
        let word = word.trim_start();
        let found = [("endgeneration", "endif"), ("generation", "if true")]
            .into_iter()
            .find_map(|(name, new)| Some((word.strip_prefix(name)?, new)));
        let end = |after: &str| {
            let after = after.trim_start();
            after.starts_with("%}") || after.starts_with("-%}") || after.starts_with("+%}")
        };
        out.push_str("{%");
        rest = match found {
            Some((after, new)) if end(after) => {
                out.extend(sign);
                let _ = write!(out, " {new}");
                after
            }
            _ => body,
        };
    }
    out.push_str(rest);
    out
}

fn check_size(source: &str) -> Result<(), String> {
    let (mut tokens, mut elifs) = (0, 0);
    for token in tokenize(source, false, SyntaxConfig, WHITESPACE) {
        match token.map_err(|error| format!("{error:#}"))?.0 {
            Token::VariableStart | Token::BlockStart => tokens = 0,
            Token::Ident("elif") => elifs += 1,
            _ => tokens += 1,
        }
        if tokens > MAX_TOKENS || elifs > MAX_ELIFS {
            return Err(format!(
                "a tag has more than {MAX_TOKENS} tokens, or there are more than {MAX_ELIFS} elifs"
            ));
        }
    }
    Ok(())
}

type Printed = Result<(), String>;

/// Writes the guarded form.
struct Printer<'s> {
    out: String,
    source: &'s str,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, name: &str) -> Printed {
        if name.starts_with(PREFIX) {
            return Err(format!("the name {name} is reserved"));
        }
        self.text(name);
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            if matches!(c, '"' | '\\') {
                self.out.push('\\');
            }
            self.out.push(c);
        }
        self.out.push('"');
    }
}
