//! Python's methods of texts, as chat templates call them.

use super::template_meter::{Text, charge, fail, weigh};
use super::template_operators::tuple;
use minijinja::value::from_args;
use minijinja::{Error, ErrorKind, State, Value};

/// The part of `text` between two character positions, as Python's optional `start` and `end`
/// arguments mean it, with the number of characters before it.
fn range(text: &str, start: Option<i64>, end: Option<i64>) -> (&str, usize) {
    if start.is_none() && end.is_none() {
        return (text, 0);
    }
    let count = text.chars().count() as i64;
    let clamp = |at: i64| (if at < 0 { at.saturating_add(count) } else { at }).clamp(0, count);
    let (start, end) = (clamp(start.unwrap_or(0)), clamp(end.unwrap_or(count)));
    let byte = |at: i64| {
        let mut places = text.char_indices();
        places.nth(at as usize).map_or(text.len(), |(at, _)| at)
    };
    let part = text.get(byte(start)..byte(end).max(byte(start)));
    (part.unwrap_or_default(), start as usize)
}

pub(super) fn string(
    state: &State,
    value: &Value,
    text: &str,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let trim = |args: &[Value], left: bool, right: bool| -> Result<Value, Error> {
        let (chars,): (Option<Value>,) = from_args(args)?;
        let chars = chars.as_ref().and_then(Value::as_str);
        if chars.is_some_and(|chars| chars.len() > 1000) {
            return Err(fail("strip: too many characters"));
        }
        let strips = |c: char| match chars {
            Some(chars) => chars.contains(c),
            None => is_space(c),
        };
        let text = if left {
            text.trim_start_matches(strips)
        } else {
            text
        };
        let text = if right {
            text.trim_end_matches(strips)
        } else {
            text
        };
        Ok(Value::from(text))
    };
    match method {
        "strip" => trim(args, true, true),
        "lstrip" => trim(args, true, false),
        "rstrip" => trim(args, false, true),
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_prefix(prefix).unwrap_or(text)))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_suffix(suffix).unwrap_or(text)))
        }
        "replace" => {
            let (old, new, count): (&str, &str, Option<i64>) = from_args(args)?;
            replace(text, old, new, count).map(Value::from)
        }
        "find" | "rfind" | "index" | "rindex" => {
            let (what, start, end): (&str, Option<i64>, Option<i64>) = from_args(args)?;
            let (part, before) = range(text, start, end);
            let at = if method.starts_with('r') {
                part.rfind(what)
            } else {
                part.find(what)
            };
            let chars = |at: usize| part.get(..at).unwrap_or_default().chars().count();
            match at.map(|at| before + chars(at)) {
                Some(at) => Ok(Value::from(at)),
                None if method.ends_with("find") => Ok(Value::from(-1)),
                None => Err(fail("index: the text does not hold the part")),
            }
        }
        "count" => {
            let (what,): (&str,) = from_args(args)?;
            Ok(Value::from(text.matches(what).count()))
        }
        "startswith" | "endswith" => {
            let (what, start, end): (&Value, Option<i64>, Option<i64>) = from_args(args)?;
            let (part, _) = range(text, start, end);
            let holds = |what: &str| match method {
                "startswith" => part.starts_with(what),
                _ => part.ends_with(what),
            };
            if let Some(what) = what.as_str() {
                return Ok(Value::from(holds(what)));
            }
            weigh(what)?;
            let mut any = false;
            for what in what.try_iter()? {
                let what = what.as_str();
                any |= holds(what.ok_or_else(|| fail(format!("{method}: not a text")))?);
            }
            Ok(Value::from(any))
        }
        "join" => {
            let (values,): (&Value,) = from_args(args)?;
            join(values, text).map(Value::from)
        }
        "split" | "rsplit" => {
            let options: (Option<Value>, Option<i64>) = split_args(args)?;
            split(text, options.0, options.1, method == "rsplit")
        }
        "partition" | "rpartition" => {
            let (sep,): (&str,) = from_args(args)?;
            let found = match method {
                "partition" => text.split_once(sep),
                _ => text.rsplit_once(sep),
            };
            let parts = match (found, method) {
                (Some((before, after)), _) => [before, sep, after],
                (None, "partition") => [text, "", ""],
                _ => ["", "", text],
            };
            Ok(tuple(parts.map(Value::from).to_vec()))
        }
        "rjust" | "ljust" | "center" => {
            let (width, fill): (i64, Option<&str>) = from_args(args)?;
            let mut fill = fill.unwrap_or(" ").chars();
            let (Some(fill), None) = (fill.next(), fill.next()) else {
                return Err(fail(format!("{method}: one character fills")));
            };
            let side = match method {
                "rjust" => Side::Left,
                "ljust" => Side::Right,
                _ => Side::Both,
            };
            justify(text, width, fill, side).map(Value::from)
        }
        "zfill" => {
            let (width,): (i64,) = from_args(args)?;
            let digits = text.trim_start_matches(['+', '-']);
            let (sign, digits) = match text.len() - digits.len() {
                0 => ("", text),
                _ => text.split_at(1),
            };
            let width = width.saturating_sub(sign.len() as i64);
            let digits = justify(digits, width, '0', Side::Left)?;
            Ok(Value::from(format!("{sign}{digits}")))
        }
        "format" => {
            // The template's author could ask for a width of a billion.
            if has_long_number(text) {
                return Err(fail("format: a width of more than three digits"));
            }
            args.iter().try_for_each(weigh)?;
            minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
        }
        "upper" | "lower" | "title" | "capitalize" | "splitlines" | "islower" | "isupper"
        | "isspace" | "isdigit" | "isnumeric" | "isalnum" | "isalpha" | "isascii" => {
            charge(text.len() * 8)?;
            minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// Where a text is filled.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Right,
    Both,
}

/// `text` filled to `width` characters.
pub(super) fn justify(text: &str, width: i64, fill: char, side: Side) -> Result<String, Error> {
    let width = usize::try_from(width).unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    charge(missing.saturating_mul(4).saturating_add(text.len()))?;
    let left = match side {
        Side::Left => missing,
        Side::Right => 0,
        // As Python has it: of an odd rest, the left gets more where the width is odd too.
        Side::Both => missing / 2 + (missing & width & 1),
    };
    let filling = |count: usize| std::iter::repeat_n(fill, count).collect::<String>();
    Ok(format!(
        "{}{text}{}",
        filling(left),
        filling(missing - left)
    ))
}

/// What Python's `strip` and `split` take for a space: also four separators that Unicode does not.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

pub(super) fn has_long_number(text: &str) -> bool {
    let mut digits = 0;
    text.bytes().any(|byte| {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        digits > 3
    })
}

/// `text.replace(old, new, count)`, charged by what comes out.
pub(super) fn replace(
    text: &str,
    old: &str,
    new: &str,
    count: Option<i64>,
) -> Result<String, Error> {
    charge(text.len())?;
    let limit = usize::try_from(count.unwrap_or(-1)).unwrap_or(usize::MAX);
    let found = text.matches(old).take(limit).count();
    charge(found.saturating_mul(new.len() + 1))?;
    Ok(text.replacen(old, new, limit))
}

/// `separator.join(values)`.
pub(super) fn join(values: &Value, separator: &str) -> Result<String, Error> {
    let mut out = Text(String::new());
    for (index, value) in values.try_iter()?.enumerate() {
        if index > 0 {
            out.push(separator)?;
        }
        charge(8)?;
        out.value(&value)?;
    }
    Ok(out.0)
}

/// `sep` and `maxsplit`, by position or by name.
fn split_args(args: &[Value]) -> Result<(Option<Value>, Option<i64>), Error> {
    use minijinja::value::Kwargs;
    let (sep, count, names): (Option<Value>, Option<Value>, Kwargs) = from_args(args)?;
    let sep = match sep {
        Some(sep) => Some(sep),
        None => names.get::<Option<Value>>("sep")?,
    };
    let count = match count {
        Some(count) => Some(count),
        None => names.get::<Option<Value>>("maxsplit")?,
    };
    names.assert_all_used()?;
    Ok((sep, count.and_then(|count| count.as_i64())))
}

fn split(text: &str, sep: Option<Value>, count: Option<i64>, right: bool) -> Result<Value, Error> {
    let limit = usize::try_from(count.unwrap_or(-1)).unwrap_or(usize::MAX);
    let sep = sep.filter(|sep| !sep.is_none());
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = match sep {
        None => text.trim_matches(is_space),
        Some(_) => text,
    };
    let sep = match &sep {
        None => None,
        Some(sep) => match sep.as_str() {
            Some("") | None => return Err(fail("split: the separator must be a text, not empty")),
            Some(sep) => Some(sep),
        },
    };
    while parts.len() < limit && !(sep.is_none() && rest.is_empty()) {
        charge(64)?;
        let cut = match (sep, right) {
            (Some(sep), false) => rest.split_once(sep),
            (Some(sep), true) => rest.rsplit_once(sep).map(|(a, b)| (b, a)),
            (None, false) => rest
                .split_once(is_space)
                .map(|(a, b)| (a, b.trim_start_matches(is_space))),
            (None, true) => rest
                .rsplit_once(is_space)
                .map(|(a, b)| (b, a.trim_end_matches(is_space))),
        };
        let Some((part, after)) = cut else {
            break;
        };
        parts.push(part);
        rest = after;
    }
    if sep.is_some() || !rest.is_empty() {
        parts.push(rest);
    }
    if right {
        parts.reverse();
    }
    Ok(parts.into_iter().map(Value::from).collect())
}
