//! A metadata value of a GGUF file.

/// A metadata value. Arrays are kept by kind, because vocabularies have hundreds of thousands of
/// elements.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// u8, u16, u32 or u64.
    Unsigned(u64),
    /// i8, i16, i32 or i64.
    Signed(i64),
    /// f32 or f64.
    Float(f64),
    /// A flag.
    Bool(bool),
    /// UTF-8 text (invalid bytes are an error).
    Text(String),
    /// An array of texts.
    Texts(Vec<String>),
    /// An array of integers of any width (values above `i64::MAX` are an error).
    Integers(Vec<i64>),
    /// An array of f32 or f64.
    Floats(Vec<f64>),
    /// An array of flags.
    Bools(Vec<bool>),
}

impl Value {
    /// The text of a `Text`.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of any non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Unsigned(value) => Some(*value),
            Value::Signed(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The value of any integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Unsigned(value) => i64::try_from(*value).ok(),
            Value::Signed(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of any number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Float(value) => Some(*value),
            Value::Unsigned(value) => Some(*value as f64),
            Value::Signed(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// The flag of a `Bool`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array of texts.
    pub fn texts(&self) -> Option<&[String]> {
        match self {
            Value::Texts(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of an array of integers.
    pub fn integers(&self) -> Option<&[i64]> {
        match self {
            Value::Integers(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of an array of floats.
    pub fn floats(&self) -> Option<&[f64]> {
        match self {
            Value::Floats(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of an array of flags.
    pub fn bools(&self) -> Option<&[bool]> {
        match self {
            Value::Bools(values) => Some(values),
            _ => None,
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Unsigned(_) => "an unsigned integer",
            Value::Signed(_) => "a signed integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a flag",
            Value::Text(_) => "a text",
            Value::Texts(_) => "an array of texts",
            Value::Integers(_) => "an array of integers",
            Value::Floats(_) => "an array of floats",
            Value::Bools(_) => "an array of flags",
        }
    }
}
