//! The MessagePack note of AMD code objects (`NT_AMDGPU_METADATA`).

/// A decoded MessagePack value (the kinds that the note uses).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// A map's value by text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(m) => m
                .iter()
                .find(|(k, _)| matches!(k, Value::Text(t) if t == key))
                .map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(t) = self {
            Some(t)
        } else {
            None
        }
    }

    pub fn int(&self) -> Option<i64> {
        if let Value::Int(v) = self {
            Some(*v)
        } else {
            None
        }
    }

    pub fn list(&self) -> &[Value] {
        if let Value::List(l) = self { l } else { &[] }
    }

    /// An unsigned number of a map, 0 when absent.
    pub fn number(&self, key: &str) -> u32 {
        self.get(key)
            .and_then(Value::int)
            .and_then(|v| u32::try_from(v).ok())
            .unwrap_or(0)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(head)
    }

    fn big_endian(&mut self, n: usize) -> Option<u64> {
        Some(self.take(n)?.iter().fold(0, |v, b| v << 8 | u64::from(*b)))
    }

    fn text(&mut self, n: usize) -> Option<Value> {
        Some(Value::Text(
            String::from_utf8_lossy(self.take(n)?).into_owned(),
        ))
    }

    fn list(&mut self, n: usize, depth: u32) -> Option<Value> {
        (0..n)
            .map(|_| self.value(depth + 1))
            .collect::<Option<_>>()
            .map(Value::List)
    }

    fn map(&mut self, n: usize, depth: u32) -> Option<Value> {
        (0..n)
            .map(|_| Some((self.value(depth + 1)?, self.value(depth + 1)?)))
            .collect::<Option<_>>()
            .map(Value::Map)
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if depth > 32 {
            return None;
        }
        let tag = self.big_endian(1)? as u8;
        match tag {
            0x00..=0x7f => Some(Value::Int(i64::from(tag))),
            0x80..=0x8f => self.map(usize::from(tag & 15), depth),
            0x90..=0x9f => self.list(usize::from(tag & 15), depth),
            0xa0..=0xbf => self.text(usize::from(tag & 31)),
            0xc0 => Some(Value::Nil),
            0xc2 => Some(Value::Bool(false)),
            0xc3 => Some(Value::Bool(true)),
            0xcc..=0xcf => Some(Value::Int(self.big_endian(1 << (tag - 0xcc))? as i64)),
            0xd0 => Some(Value::Int(i64::from(self.big_endian(1)? as i8))),
            0xd1 => Some(Value::Int(i64::from(self.big_endian(2)? as i16))),
            0xd2 => Some(Value::Int(i64::from(self.big_endian(4)? as i32))),
            0xd3 => Some(Value::Int(self.big_endian(8)? as i64)),
            0xd9..=0xdb => {
                let n = self.big_endian(1 << (tag - 0xd9))?;
                self.text(usize::try_from(n).ok()?)
            }
            0xdc | 0xdd => {
                let n = self.big_endian(if tag == 0xdc { 2 } else { 4 })?;
                self.list(usize::try_from(n).ok()?, depth)
            }
            0xde | 0xdf => {
                let n = self.big_endian(if tag == 0xde { 2 } else { 4 })?;
                self.map(usize::try_from(n).ok()?, depth)
            }
            0xe0..=0xff => Some(Value::Int(i64::from(tag as i8))),
            _ => None,
        }
    }
}

/// Decodes one value.
pub fn decode(bytes: &[u8]) -> Option<Value> {
    Reader { bytes }.value(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_damage_is_none() {
        let v = decode(&[0x82, 0xa1, b'a', 0x05, 0xa1, b'b', 0x92, 0xcd, 1, 0, 0xc3]).unwrap();
        assert_eq!(v.number("a"), 5);
        assert_eq!(
            v.get("b").unwrap().list(),
            [Value::Int(256), Value::Bool(true)]
        );
        assert_eq!(decode(&[0x82, 0xa1]), None);
        assert_eq!(decode(&[0xdf, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
