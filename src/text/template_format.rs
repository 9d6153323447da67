//! Python's `text % values`.

use super::template_meter::{Text, charge, fail};
use super::template_operators::{float, integer, items_of_tuple};
use minijinja::value::ValueKind;
use minijinja::{Error, Value};
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// The largest width and precision: nothing in a chat is wider.
const MAX_WIDTH: usize = 1000;

/// What stands between `%` and the letter.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// The values to put in, and how many are used.
struct Values<'a> {
    list: Vec<Value>,
    next: usize,
    /// Where `%(name)s` looks.
    whole: &'a Value,
}

impl Values<'_> {
    fn take(&mut self) -> Result<Value, Error> {
        let value = self.list.get(self.next).cloned();
        self.next += 1;
        value.ok_or_else(|| fail("not enough values for the format"))
    }

    fn count(&mut self) -> Result<i64, Error> {
        self.take()?
            .as_i64()
            .ok_or_else(|| fail("* in a format takes a whole number"))
    }
}

/// `format % values`.
pub(super) fn format(format: &str, values: &Value) -> Result<String, Error> {
    let tuple = items_of_tuple(values);
    // Python does not mind a list or an object that the format does not use.
    let may_rest = matches!(values.kind(), ValueKind::Map | ValueKind::Seq) && tuple.is_none();
    let mut values = Values {
        list: tuple.unwrap_or_else(|| vec![values.clone()]),
        next: 0,
        whole: values,
    };
    let mut out = Text(String::new());
    charge(format.len())?;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            let mut buffer = [0; 4];
            out.push(c.encode_utf8(&mut buffer))?;
            continue;
        }
        let part = one(&mut chars, &mut values)?;
        out.push(&part)?;
    }
    if values.next < values.list.len() && !may_rest {
        return Err(fail("not all values are used by the format"));
    }
    Ok(out.0)
}

/// What stands for the specification after a `%`.
fn one(chars: &mut Peekable<Chars<'_>>, values: &mut Values<'_>) -> Result<String, Error> {
    let mut named = None;
    if chars.next_if_eq(&'(').is_some() {
        let mut name = String::new();
        loop {
            match chars.next() {
                Some(')') => break,
                Some(c) => name.push(c),
                None => return Err(fail("the format has a name without an end")),
            }
        }
        if values.whole.kind() != ValueKind::Map {
            return Err(fail("the format has a name, but its values have none"));
        }
        let value = values.whole.get_item(&Value::from(name))?;
        if value.is_undefined() {
            return Err(fail("the format has a name that its values have not"));
        }
        // Then all counts as used.
        values.next = values.list.len();
        named = Some(value);
    }
    let mut spec = Spec::default();
    while let Some(flag) = chars.next_if(|c| "#0- +".contains(*c)) {
        match flag {
            '#' => spec.alternate = true,
            '0' => spec.zero = true,
            '-' => spec.left = true,
            ' ' => spec.space = true,
            _ => spec.plus = true,
        }
    }
    if chars.next_if_eq(&'*').is_some() {
        let width = values.count()?;
        spec.left |= width < 0;
        spec.width = limited(width.unsigned_abs())?;
    } else {
        spec.width = digits(chars)?.unwrap_or(0);
    }
    if chars.next_if_eq(&'.').is_some() {
        spec.precision = Some(if chars.next_if_eq(&'*').is_some() {
            limited(u64::try_from(values.count()?).unwrap_or(0))?
        } else {
            digits(chars)?.unwrap_or(0)
        });
    }
    while chars.next_if(|c| "hlL".contains(*c)).is_some() {}
    let Some(kind) = chars.next() else {
        return Err(fail("the format ends after a %"));
    };
    if kind == '%' {
        return Ok("%".into());
    }
    let value = match named {
        Some(value) => value,
        None => values.take()?,
    };
    spec.write(kind, &value)
}

fn limited(number: u64) -> Result<usize, Error> {
    let fits = usize::try_from(number).ok().filter(|n| *n <= MAX_WIDTH);
    fits.ok_or_else(|| fail(format!("the format has a width above {MAX_WIDTH}")))
}

fn digits(chars: &mut Peekable<Chars<'_>>) -> Result<Option<usize>, Error> {
    let mut number: Option<u64> = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        chars.next();
        let next = number.unwrap_or(0).saturating_mul(10);
        number = Some(next.saturating_add(u64::from(digit)));
    }
    number.map(limited).transpose()
}

impl Spec {
    fn write(&self, kind: char, value: &Value) -> Result<String, Error> {
        match kind {
            's' | 'r' | 'a' => {
                let mut text = Text(String::new());
                match kind {
                    's' => text.value(value)?,
                    _ => text.repr(value)?,
                }
                let text = match kind {
                    'a' => ascii(&text.0),
                    _ => text.0,
                };
                let most = self.precision.unwrap_or(usize::MAX);
                Ok(self.pad("", &text.chars().take(most).collect::<String>(), false))
            }
            'c' => {
                let code = integer(value).and_then(|code| u32::try_from(code).ok());
                let text = match (code.and_then(char::from_u32), value.as_str()) {
                    (Some(c), _) => c.to_string(),
                    (None, Some(text)) if text.chars().count() == 1 => text.to_string(),
                    _ => return Err(fail("%c takes a character or its number")),
                };
                Ok(self.pad("", &text, false))
            }
            'd' | 'i' | 'u' => {
                let number = match integer(value) {
                    Some(number) => number,
                    None => truncated(number_of(value)?)?,
                };
                self.integer(number, &number.unsigned_abs().to_string(), "")
            }
            'x' | 'X' | 'o' => {
                let number =
                    integer(value).ok_or_else(|| fail(format!("%{kind} takes a whole number")))?;
                let size = number.unsigned_abs();
                let (digits, prefix) = match kind {
                    'x' => (format!("{size:x}"), "0x"),
                    'X' => (format!("{size:X}"), "0X"),
                    _ => (format!("{size:o}"), "0o"),
                };
                let prefix = if self.alternate { prefix } else { "" };
                self.integer(number, &digits, prefix)
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                let number = number_of(value)?;
                let text = self.float(kind.to_ascii_lowercase(), number.abs());
                let text = match kind.is_ascii_uppercase() {
                    true => text.to_ascii_uppercase(),
                    false => text,
                };
                let sign = self.sign(number.is_sign_negative() && !number.is_nan());
                Ok(self.pad(sign, &text, true))
            }
            _ => Err(fail(format!("the format has %{kind}, which is nothing"))),
        }
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match (is_negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, number: i128, digits: &str, prefix: &str) -> Result<String, Error> {
        let digits = format!("{digits:0>width$}", width = self.precision.unwrap_or(1));
        let before = format!("{}{prefix}", self.sign(number < 0));
        Ok(self.pad(&before, &digits, true))
    }

    /// `before` and `text` at the width; zeros go between them.
    fn pad(&self, before: &str, text: &str, is_number: bool) -> String {
        let count = before.chars().count() + text.chars().count();
        let fill = self.width.saturating_sub(count);
        match (self.left, self.zero && is_number) {
            (true, _) => format!("{before}{text}{}", " ".repeat(fill)),
            (_, true) => format!("{before}{}{text}", "0".repeat(fill)),
            _ => format!("{}{before}{text}", " ".repeat(fill)),
        }
    }

    /// A number of at least 0, or one that is none.
    fn float(&self, kind: char, number: f64) -> String {
        if number.is_nan() {
            return "nan".into();
        }
        if number.is_infinite() {
            return "inf".into();
        }
        let precision = self.precision.unwrap_or(6);
        let point = if self.alternate && precision == 0 {
            "."
        } else {
            ""
        };
        match kind {
            'f' => format!("{number:.precision$}{point}"),
            'e' => exponential(number, precision, point),
            _ => {
                let significant = precision.max(1);
                let power = power_of(number, significant - 1);
                let fixed = (-4..significant as i32).contains(&power);
                let (mut digits, end) = if fixed {
                    let decimals = (significant as i32 - 1 - power).max(0) as usize;
                    (format!("{number:.decimals$}"), String::new())
                } else {
                    let text = exponential(number, significant - 1, "");
                    match text.split_once('e') {
                        Some((digits, end)) => (digits.to_string(), format!("e{end}")),
                        None => (text, String::new()),
                    }
                };
                if !self.alternate && digits.contains('.') {
                    digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
                }
                digits + &end
            }
        }
    }
}

/// `1.5e+03`: a sign and at least two digits of the power.
fn exponential(number: f64, precision: usize, point: &str) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    format!("{digits}{point}e{sign}{power:0>2}")
}

/// The power of ten of a number rounded to `precision` digits after the first.
fn power_of(number: f64, precision: usize) -> i32 {
    let text = format!("{number:.precision$e}");
    let power = text
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok());
    power.unwrap_or(0)
}

fn number_of(value: &Value) -> Result<f64, Error> {
    match value.kind() {
        ValueKind::Number | ValueKind::Bool => float(value),
        kind => Err(fail(format!("the format takes a number, not {kind}"))),
    }
}

fn truncated(number: f64) -> Result<i128, Error> {
    match number.is_finite() && number.abs() < 1e38 {
        true => Ok(number as i128),
        false => Err(fail("the format takes a whole number")),
    }
}

/// Python's `ascii` of a text that is a `repr` already.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let _ = match c as u32 {
            ..0x80 => write!(out, "{c}"),
            code @ ..0x100 => write!(out, "\\x{code:02x}"),
            code @ ..0x1_0000 => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        };
    }
    out
}
