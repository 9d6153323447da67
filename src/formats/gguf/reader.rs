//! A bounded reader over the mapped bytes: every length is checked against what is left before
//! anything is allocated, and every error names the file, the field and the place.

use super::Value;
use crate::formats::bad_name;
use crate::{Error, Result};
use std::path::Path;

/// Elements of one metadata array; vocabularies have up to a few hundred thousand.
const MAX_ARRAY: u64 = 1 << 24;

/// Reads fields one after another.
pub(super) struct Reader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    position: usize,
    /// Version 1 has 32-bit lengths and counts.
    pub(super) short_lengths: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Reader<'a> {
        Reader {
            path,
            bytes,
            position: 0,
            short_lengths: false,
        }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Bytes left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// An error about `field`.
    pub(super) fn bad(&self, field: &str, what: impl std::fmt::Display) -> Error {
        Error::InvalidFile(format!(
            "{}: {field} (at byte {}): {what}",
            self.path.display(),
            self.position
        ))
    }

    fn take(&mut self, len: usize, field: &str) -> Result<&'a [u8]> {
        match self
            .bytes
            .get(self.position..)
            .and_then(|rest| rest.get(..len))
        {
            Some(bytes) => {
                self.position += len;
                Ok(bytes)
            }
            None => Err(self.bad(
                field,
                format_args!(
                    "needs {len} bytes but the file has {} left; it is truncated or damaged",
                    self.left()
                ),
            )),
        }
    }

    fn array<const N: usize>(&mut self, field: &str) -> Result<[u8; N]> {
        let bytes = self.take(N, field)?;
        bytes
            .first_chunk::<N>()
            .copied()
            .ok_or_else(|| self.bad(field, "truncated"))
    }

    pub(super) fn u32(&mut self, field: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    pub(super) fn u64(&mut self, field: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// A length or count: 32 bits in version 1, 64 later.
    pub(super) fn length(&mut self, field: &str) -> Result<u64> {
        if self.short_lengths {
            self.u32(field).map(u64::from)
        } else {
            self.u64(field)
        }
    }

    /// A count of things that take at least `min_bytes` each, so that it cannot exceed what is left.
    pub(super) fn count(&mut self, min_bytes: usize, field: &str) -> Result<usize> {
        let count = self.length(field)?;
        let fits = usize::try_from(count).ok().filter(|count| {
            count
                .checked_mul(min_bytes)
                .is_some_and(|n| n <= self.left())
        });
        fits.ok_or_else(|| {
            self.bad(
                field,
                format_args!(
                    "a count of {count} does not fit the {} bytes left; the file is truncated or damaged",
                    self.left()
                ),
            )
        })
    }

    /// Bytes of the smallest string: its length.
    pub(super) fn min_string(&self) -> usize {
        if self.short_lengths { 4 } else { 8 }
    }

    /// A length-prefixed UTF-8 string.
    pub(super) fn text(&mut self, field: &str) -> Result<&'a str> {
        let len = self.count(1, field)?;
        let bytes = self.take(len, field)?;
        std::str::from_utf8(bytes).map_err(|e| {
            self.bad(
                field,
                format_args!("not UTF-8 (byte {} of the text)", e.valid_up_to()),
            )
        })
    }

    /// A metadata key or tensor name.
    pub(super) fn key(&mut self, field: &str) -> Result<&'a str> {
        let text = self.text(field)?;
        match bad_name(text) {
            Some(what) => Err(self.bad(field, what)),
            None => Ok(text),
        }
    }

    /// A metadata value with its type.
    pub(super) fn value(&mut self, field: &str) -> Result<Value> {
        Ok(match self.u32(field)? {
            0 => Value::Unsigned(self.array::<1>(field)?[0].into()),
            1 => Value::Signed(i8::from_le_bytes(self.array(field)?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.array(field)?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.array(field)?).into()),
            4 => Value::Unsigned(self.u32(field)?.into()),
            5 => Value::Signed(i32::from_le_bytes(self.array(field)?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array(field)?).into()),
            7 => match self.array::<1>(field)?[0] {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => return Err(self.bad(field, format_args!("flag of value {other}"))),
            },
            8 => Value::Text(self.text(field)?.to_string()),
            9 => self.values(field)?,
            10 => Value::Unsigned(self.u64(field)?),
            11 => Value::Signed(i64::from_le_bytes(self.array(field)?)),
            12 => Value::Float(f64::from_le_bytes(self.array(field)?)),
            other => return Err(self.bad(field, format_args!("unknown value type {other}"))),
        })
    }

    /// The body of an array: element type, count, elements.
    fn values(&mut self, field: &str) -> Result<Value> {
        let kind = self.u32(field)?;
        let size = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 => self.min_string(),
            9 => return Err(self.bad(field, "an array of arrays, which is not supported")),
            10..=12 => 8,
            _ => return Err(self.bad(field, format_args!("unknown element type {kind}"))),
        };
        let count = self.count(size, field)?;
        if count as u64 > MAX_ARRAY {
            return Err(self.bad(
                field,
                format_args!("{count} elements; at most {MAX_ARRAY} are supported"),
            ));
        }
        if kind == 8 {
            let mut texts = Vec::with_capacity(count);
            for _ in 0..count {
                texts.push(self.text(field)?.to_string());
            }
            return Ok(Value::Texts(texts));
        }
        // `count` ensured that the product fits.
        let bytes = self.take(count * size, field)?;
        let value = match kind {
            0 => Value::Integers(bytes.iter().map(|b| i64::from(*b)).collect()),
            1 => Value::Integers(numbers(bytes, |b| i8::from_le_bytes(b).into())),
            2 => Value::Integers(numbers(bytes, |b| u16::from_le_bytes(b).into())),
            3 => Value::Integers(numbers(bytes, |b| i16::from_le_bytes(b).into())),
            4 => Value::Integers(numbers(bytes, |b| u32::from_le_bytes(b).into())),
            5 => Value::Integers(numbers(bytes, |b| i32::from_le_bytes(b).into())),
            6 => Value::Floats(numbers(bytes, |b| f32::from_le_bytes(b).into())),
            7 => {
                if bytes.iter().any(|b| *b > 1) {
                    return Err(self.bad(field, "a flag that is neither 0 nor 1"));
                }
                Value::Bools(bytes.iter().map(|b| *b == 1).collect())
            }
            10 => {
                let values: Vec<u64> = numbers(bytes, u64::from_le_bytes);
                let values: std::result::Result<Vec<i64>, _> =
                    values.into_iter().map(i64::try_from).collect();
                Value::Integers(values.map_err(|_| self.bad(field, "an element above 2^63"))?)
            }
            11 => Value::Integers(numbers(bytes, i64::from_le_bytes)),
            _ => Value::Floats(numbers(bytes, f64::from_le_bytes)),
        };
        Ok(value)
    }
}

/// The elements of an array of `N`-byte numbers.
fn numbers<const N: usize, T>(bytes: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes
        .as_chunks::<N>()
        .0
        .iter()
        .map(|chunk| convert(*chunk))
        .collect()
}
