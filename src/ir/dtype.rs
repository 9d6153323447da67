//! The 14 element types, in MLX's order, and how two of them meet.

use std::fmt;

/// The type of an array's elements. The numbers are part of the C ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Dtype {
    /// One byte, 0 or 1.
    Bool = 0,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// IEEE half.
    F16,
    /// IEEE single.
    F32,
    /// IEEE double (CPU only).
    F64,
    /// bfloat16.
    Bf16,
    /// Two singles: real, imaginary.
    C64,
}

/// What numbers a dtype holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Unsigned integers.
    Unsigned,
    /// Signed integers.
    Signed,
    /// Floating point.
    Float,
    /// Complex.
    Complex,
}

use Dtype::*;

impl Dtype {
    /// All of them, in order.
    pub const ALL: [Dtype; 14] = [
        Bool, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, F64, Bf16, C64,
    ];

    /// The dtype of a number of the C ABI.
    pub fn from_number(number: u32) -> Option<Dtype> {
        Dtype::ALL.get(number as usize).copied()
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Bool | U8 | I8 => 1,
            U16 | I16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 | C64 => 8,
        }
    }

    /// What numbers it holds.
    pub fn kind(self) -> Kind {
        match self {
            Bool => Kind::Bool,
            U8 | U16 | U32 | U64 => Kind::Unsigned,
            I8 | I16 | I32 | I64 => Kind::Signed,
            F16 | F32 | F64 | Bf16 => Kind::Float,
            C64 => Kind::Complex,
        }
    }

    /// Whether it is floating point or complex.
    pub fn is_inexact(self) -> bool {
        self.kind() >= Kind::Float
    }

    /// Whether it is an integer (not bool).
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Unsigned | Kind::Signed)
    }

    /// The dtype that holds results of both: MLX's promotion table.
    pub fn promote(self, other: Dtype) -> Dtype {
        if self == other {
            return self;
        }
        // The one of the higher kind is `b`.
        let (a, b) = match self.kind() <= other.kind() {
            true => (self, other),
            false => (other, self),
        };
        match (a.kind(), b.kind()) {
            (_, Kind::Complex) => C64,
            (Kind::Float, Kind::Float) => match (a, b) {
                (F64, _) | (_, F64) => F64,
                // Also of f16 and bf16.
                _ => F32,
            },
            (_, Kind::Float) | (Kind::Bool, _) => b,
            (Kind::Unsigned, Kind::Signed) => match (a.size(), b.size()) {
                (8, _) => F32,
                (from, to) if from < to => b,
                (from, _) => [I16, I32, I64][from.trailing_zeros() as usize],
            },
            // Of one kind: the wider.
            _ if a.size() > b.size() => a,
            _ => b,
        }
    }

    /// The dtype of functions that give fractions: itself if inexact, else f32.
    pub fn inexact(self) -> Dtype {
        if self.is_inexact() { self } else { F32 }
    }

    /// Its name, as MLX prints it.
    pub fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            U8 => "uint8",
            U16 => "uint16",
            U32 => "uint32",
            U64 => "uint64",
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            F16 => "float16",
            F32 => "float32",
            F64 => "float64",
            Bf16 => "bfloat16",
            C64 => "complex64",
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dtype of MLX 0.32.4's sum of each pair, rows and columns in order of [`Dtype::ALL`]
    /// (`mx.zeros(1, a) + mx.zeros(1, b)`, dtype numbers in hexadecimal).
    const MLX: [&str; 14] = [
        "0123456789abcd",
        "1123466789abcd",
        "2223477789abcd",
        "3333488889abcd",
        "44444aaaa9abcd",
        "5678a56789abcd",
        "6678a66789abcd",
        "7778a77789abcd",
        "8888a88889abcd",
        "9999999999abad",
        "aaaaaaaaaaabad",
        "bbbbbbbbbbbbbd",
        "cccccccccaabcd",
        "dddddddddddddd",
    ];

    #[test]
    fn pairs_promote_as_in_mlx() {
        for (row, a) in MLX.iter().zip(Dtype::ALL) {
            for (expected, b) in row.chars().zip(Dtype::ALL) {
                let number = expected.to_digit(16).unwrap();
                assert_eq!(a.promote(b) as u32, number, "{a} and {b}");
                assert_eq!(b.promote(a) as u32, number, "{b} and {a}");
            }
        }
    }
}
