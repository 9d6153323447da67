//! The wire format of protocol buffers (proto2), as far as networks use it: bounded, without recursion of
//! its own.

use std::ops::Range;

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Varint(u64),
    /// Four bytes, as a little-endian number.
    Fixed32(u32),
    /// Eight bytes, which no field of a network has.
    Fixed64,
    /// Bytes, text or a message: a range of the data.
    Bytes(Range<usize>),
}

/// Reads the fields of one message.
pub struct Fields<'a> {
    data: &'a [u8],
    left: Range<usize>,
}

impl<'a> Fields<'a> {
    /// The fields of the message in `range` of `data`.
    pub fn new(data: &'a [u8], range: Range<usize>) -> Fields<'a> {
        let end = range.end.min(data.len());
        Fields {
            data,
            left: range.start.min(end)..end,
        }
    }

    fn take(&mut self, count: u64) -> Result<Range<usize>, String> {
        let left = self.left.len() as u64;
        if count > left {
            return Err(format!("{count} bytes are announced, {left} are left"));
        }
        let start = self.left.start;
        self.left.start += count as usize;
        Ok(start..self.left.start)
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let at = self.take(1).map_err(|_| "it ends inside a number")?;
            let byte = self.data[at.start];
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number has more than 64 bits".into())
    }

    /// The next field's number and value; `None` at the end.
    ///
    /// # Errors
    /// What is wrong, without naming the message.
    pub fn next(&mut self) -> Result<Option<(u64, Value)>, String> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = key >> 3;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                self.take(8).map_err(|e| format!("field {number}: {e}"))?;
                Value::Fixed64
            }
            2 => {
                let length = self.varint()?;
                let range = self.take(length);
                Value::Bytes(range.map_err(|e| format!("field {number}: {e}"))?)
            }
            5 => {
                let range = self.take(4).map_err(|e| format!("field {number}: {e}"))?;
                let bytes = self.data[range].iter().rev();
                Value::Fixed32(bytes.fold(0, |word, &byte| word << 8 | u32::from(byte)))
            }
            wire => return Err(format!("field {number} has wire type {wire}")),
        };
        match number {
            0 => Err("a field has number 0".into()),
            _ => Ok(Some((number, value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(data: &[u8]) -> Result<Vec<(u64, Value)>, String> {
        let mut fields = Fields::new(data, 0..data.len());
        let mut found = Vec::new();
        while let Some(field) = fields.next()? {
            found.push(field);
        }
        Ok(found)
    }

    #[test]
    fn fields_of_every_kind() {
        let data = [
            8, 0xac, 2, 0x12, 2, b'o', b'k', 0x1d, 1, 2, 3, 4, 0x21, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let expected = [
            (1, Value::Varint(300)),
            (2, Value::Bytes(5..7)),
            (3, Value::Fixed32(0x0403_0201)),
            (4, Value::Fixed64),
        ];
        assert_eq!(all(&data).unwrap(), expected);
    }

    #[test]
    fn damage_is_an_error() {
        for bad in [
            &[8][..],
            &[8, 0x80],
            &[0x12, 5, 1],
            &[
                0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
            ],
            &[8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
            &[0x1d, 1, 2, 3],
            &[0x0b],
            &[0, 0],
        ] {
            assert!(all(bad).is_err(), "{bad:?}");
        }
    }
}
