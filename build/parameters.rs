//! The parameters of each kernel as its source names them, for the check of launches in debug builds.
//!
//! Code objects do not tell names, so they are read from the text: where a kernel's name stands, the macro around it
//! is expanded until parentheses follow the name, then those in the parentheses.

use crate::conditions::{Conditions, PLATFORMS};
use crate::source::{PREFIX, Source, without_comments};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a parameter is (a variant of the library's `Kind`) and its name.
pub type Parameter = (&'static str, String);

/// A table of Rust, sorted by the kernels' names.
pub fn rust(sources: &[Source]) -> Result<String, String> {
    let mut table = BTreeMap::new();
    for source in sources {
        let at = |error| format!("hip/ops/{}.hip: {error}", source.name);
        let found = of_text(&source.text).map_err(at)?;
        for kernel in &source.kernels {
            let parameters = found.get(kernel);
            let missing = || at(format!("the parameters of {kernel} are not understood"));
            table.insert(kernel, parameters.cloned().ok_or_else(missing)?);
        }
    }
    let mut text = "static KERNELS: &[(&str, &[(Kind, &str)])] = &[\n".to_string();
    for (kernel, parameters) in table {
        let _ = write!(text, "    (\"{kernel}\", &[");
        for (kind, name) in parameters {
            let _ = write!(text, "(Kind::{kind}, \"{name}\"), ");
        }
        text += "]),\n";
    }
    Ok(text + "];\n")
}

/// The kernels of a source with what it includes.
pub fn of_text(text: &str) -> Result<BTreeMap<String, Vec<Parameter>>, String> {
    let text = without_comments(&text.replace("\\\n", " "));
    let mut kernels = BTreeMap::new();
    for platform in 0..PLATFORMS.len() {
        let mut conditions = Conditions::new(platform);
        let mut macros = Macros::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim();
            let sure = match conditions.line(line) {
                Some(false) => continue,
                sure => sure.is_some(),
            };
            if let Some(definition) = line.strip_prefix("#define ") {
                macros.define(definition, sure);
            } else if line.contains(PREFIX) && !line.starts_with('#') {
                let mut tokens = tokens(line);
                while depth(&tokens) > 0 {
                    let Some(next) = lines.next() else { break };
                    tokens.extend(self::tokens(next));
                }
                for name in tokens.iter().filter(|token| token.starts_with(PREFIX)) {
                    let Some(parameters) = macros.parameters(&tokens, name)? else {
                        continue;
                    };
                    let known = kernels.entry(name.clone()).or_insert(parameters.clone());
                    if *known != parameters {
                        return Err(format!("{name} has other parameters on other targets"));
                    }
                }
            }
        }
    }
    Ok(kernels)
}

/// Macros by name: the names of what they take (`None`: no parentheses) and their text.
#[derive(Default)]
struct Macros<'a>(BTreeMap<&'a str, (Option<&'a str>, &'a str)>);

/// Deeper expansion is one that does not end.
const DEEPEST: u32 = 64;

impl<'a> Macros<'a> {
    fn define(&mut self, definition: &'a str, sure: bool) {
        let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let end = definition.find(|c| !is_word(c)).unwrap_or(definition.len());
        let (name, rest) = definition.split_at(end);
        let call = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let (takes, body) = call.map_or((None, rest), |(takes, body)| (Some(takes), body));
        // On targets without a kernel the macro that starts it is empty: others have it.
        if sure || !body.trim().is_empty() {
            self.0.insert(name, (takes, body));
        }
    }

    /// The macro call at a place: what it stands for, and where it ends.
    fn call(&self, tokens: &[String], at: usize) -> Option<(Vec<String>, usize)> {
        let (takes, body) = self.0.get(tokens.get(at)?.as_str())?;
        let body = self::tokens(body);
        let Some(takes) = takes else {
            return Some((body, at + 1));
        };
        let takes: Vec<&str> = takes.split(',').map(str::trim).collect();
        let (given, end) = parentheses(tokens, at + 1)?;
        let mut given = split(given);
        // What `...` takes is one.
        if takes.last() == Some(&"...") && given.len() >= takes.len() {
            let rest = given.split_off(takes.len() - 1);
            given.push(rest.join(&",".to_string()));
        }
        let mut out: Vec<String> = Vec::new();
        let mut joins = false;
        for token in body {
            let word = if token == "__VA_ARGS__" {
                "..."
            } else {
                &token
            };
            let place = takes.iter().position(|name| *name == word);
            let replaced = match place {
                Some(place) => given.get(place).cloned().unwrap_or_default(),
                None if token == "##" => {
                    joins = true;
                    continue;
                }
                None => vec![token],
            };
            let mut replaced = replaced.into_iter();
            if std::mem::take(&mut joins)
                && let (Some(last), Some(first)) = (out.last_mut(), replaced.next())
            {
                last.push_str(&first);
            }
            out.extend(replaced);
        }
        Some((out, end))
    }

    fn parameters(&self, tokens: &[String], name: &str) -> Result<Option<Vec<Parameter>>, String> {
        let mut tokens = tokens.to_vec();
        for _ in 0..DEEPEST {
            let Some(at) = tokens.iter().position(|token| token == name) else {
                return Ok(None);
            };
            if let Some((inside, _)) = parentheses(&tokens, at + 1) {
                let list = split(&self.expand(inside, 0));
                return list
                    .iter()
                    .map(|one| parameter(one, name))
                    .collect::<Result<_, _>>()
                    .map(Some);
            }
            let around = (0..at).find_map(|start| {
                let (out, end) = self.call(&tokens, start)?;
                (end > at).then_some((start, end, out))
            });
            let Some((start, end, out)) = around else {
                return Ok(None);
            };
            tokens.splice(start..end, out);
        }
        Err(format!("the macros around {name} do not end"))
    }

    /// All macros expanded.
    fn expand(&self, tokens: &[String], depth: u32) -> Vec<String> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match self.call(tokens, at).filter(|_| depth < DEEPEST) {
                Some((replaced, end)) => {
                    out.extend(self.expand(&replaced, depth + 1));
                    at = end;
                }
                None => {
                    out.push(token.clone());
                    at += 1;
                }
            }
        }
        out
    }
}

const SCALARS: [(&str, &str); 5] = [
    ("u32", "U32"),
    ("i32", "I32"),
    ("f32", "F32"),
    ("u64", "U64"),
    ("i64", "I64"),
];

/// One of a kernel's parameters. One that it does not use has no name.
fn parameter(tokens: &[String], kernel: &str) -> Result<Parameter, String> {
    let of = |token: &String| SCALARS.iter().find(|(word, _)| token == word);
    let kind = match tokens.iter().find_map(of) {
        _ if tokens.iter().any(|token| token == "*") => "Pointer",
        Some((_, kind)) => kind,
        None => {
            let parameter = tokens.join(" ");
            return Err(format!(
                "{kernel}: the parameter `{parameter}` is not understood"
            ));
        }
    };
    let name = tokens
        .last()
        .filter(|last| *last != "*" && of(last).is_none());
    Ok((kind, name.cloned().unwrap_or_default()))
}

/// Words, `##` and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
        match list.last_mut() {
            Some(last) if (is_word(c) && is_word(before)) || (c == '#' && before == '#') => {
                last.push(c)
            }
            _ if c.is_whitespace() => {}
            _ => list.push(c.to_string()),
        }
        before = c;
    }
    list
}

/// How many parentheses are open at the end.
fn depth(tokens: &[String]) -> usize {
    tokens
        .iter()
        .fold(0, |depth: usize, token| match token.as_str() {
            "(" => depth + 1,
            ")" => depth.saturating_sub(1),
            _ => depth,
        })
}

/// What stands in the parentheses that open at a place, and where they end.
fn parentheses(tokens: &[String], at: usize) -> Option<(&[String], usize)> {
    if tokens.get(at)? != "(" {
        return None;
    }
    let end = (at + 1..=tokens.len()).find(|end| depth(&tokens[at..*end]) == 0)?;
    Some((&tokens[at + 1..end - 1], end))
}

/// The parts between commas.
fn split(tokens: &[String]) -> Vec<Vec<String>> {
    let mut parts = vec![Vec::new()];
    let mut open = 0;
    for token in tokens {
        match token.as_str() {
            "(" => open += 1,
            ")" => open -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(last) if open > 0 || token != "," => last.push(token.clone()),
            _ => parts.push(Vec::new()),
        }
    }
    if parts.len() == 1 && parts[0].is_empty() {
        parts.clear();
    }
    parts
}
