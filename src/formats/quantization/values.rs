//! What codes stand for, where they are not numbers themselves.

use super::Grid;

/// What the codes of a group form stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Values {
    /// The code itself.
    Code,
    /// One of 16 values; codes of 4 bits.
    Table(Table),
    /// An 8-bit float: sign, 4 bits of exponent, 3 of mantissa, no infinities; codes of 8 bits.
    E4M3,
    /// Codes of 4 bits for a table, several at once named by an entry of a grid.
    Grid(Grid),
}

/// 16 values that 4-bit codes stand for: integers times a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// 4-bit floats: sign, 2 bits of exponent, 1 of mantissa (MXFP4, NVFP4).
    E2M1,
    /// IQ4_NL, IQ4_XS.
    Iq4,
    /// IQ2_XXS, IQ2_XS, IQ2_S: three magnitudes.
    Iq2,
    /// IQ3_XXS: eight magnitudes.
    Iq3Xxs,
    /// IQ3_S: eight magnitudes.
    Iq3S,
    /// IQ1_S, IQ1_M: −1, 0, 1, moved by an eighth up or (bit 3) down.
    Iq1,
}

impl Table {
    /// The integers.
    pub const fn integers(self) -> [i8; 16] {
        match self {
            Table::E2M1 => [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12],
            Table::Iq4 => [
                -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
            ],
            Table::Iq2 => signed([8, 25, 43, 0, 0, 0, 0, 0]),
            Table::Iq3Xxs => signed([4, 12, 20, 28, 36, 44, 52, 62]),
            Table::Iq3S => signed([1, 3, 5, 7, 9, 11, 13, 15]),
            Table::Iq1 => [-7, 1, 9, 0, 0, 0, 0, 0, -9, -1, 7, 0, 0, 0, 0, 0],
        }
    }

    /// What an integer is multiplied with.
    pub const fn unit(self) -> f32 {
        match self {
            Table::E2M1 => 0.5,
            Table::Iq2 | Table::Iq1 => 0.125,
            Table::Iq3Xxs => 0.25,
            Table::Iq4 | Table::Iq3S => 1.0,
        }
    }
}

/// Magnitudes, then their negatives.
const fn signed(magnitudes: [i8; 8]) -> [i8; 16] {
    let mut all = [0; 16];
    let mut i = 0;
    while i < 8 {
        all[i] = magnitudes[i];
        all[i + 8] = -magnitudes[i];
        i += 1;
    }
    all
}

impl Values {
    /// The table of 4-bit codes.
    pub fn table(self) -> Option<Table> {
        match self {
            Values::Table(table) => Some(table),
            Values::Grid(grid) => Some(grid.table()),
            Values::Code | Values::E4M3 => None,
        }
    }

    /// The integer that a code stands for, in units of [`Values::unit`].
    pub fn integer(self, code: u8) -> i32 {
        match self.table() {
            Some(table) => table.integers()[usize::from(code & 15)].into(),
            None if self == Values::E4M3 => {
                let (high, low) = e4m3_parts(code);
                256 * i32::from(high) + i32::from(low)
            }
            None => code.into(),
        }
    }

    /// What integers are multiplied with: a power of two.
    pub fn unit(self) -> f32 {
        match self {
            Values::Code => 1.0,
            Values::E4M3 => 1.0 / 512.0,
            Values::Table(_) | Values::Grid(_) => self.table().map_or(1.0, Table::unit),
        }
    }

    /// The number that a code stands for.
    pub fn value(self, code: u8) -> f32 {
        self.integer(code) as f32 * self.unit()
    }
}

/// An E4M3 number in units of its smallest, 2^-9, as `256·high + low`, one of which is 0. The NaN
/// patterns, which no weight may have, count as 480.
pub fn e4m3_parts(code: u8) -> (i16, i16) {
    let (exponent, mantissa) = (code >> 3 & 15, i16::from(code & 7));
    let mantissa = if exponent > 0 { mantissa | 8 } else { mantissa };
    let signed = if code & 0x80 != 0 {
        -mantissa
    } else {
        mantissa
    };
    match exponent {
        0 => (0, signed),
        1..=8 => (0, signed << (exponent - 1)),
        _ => (signed << (exponent - 9), 0),
    }
}

/// An E4M3 number, exact; the two NaN patterns are NaN.
pub(super) fn e4m3(code: u8) -> f32 {
    if code & 0x7f == 0x7f {
        return f32::NAN;
    }
    let magnitude = Values::E4M3.value(code & 0x7f);
    if code & 0x80 != 0 {
        -magnitude
    } else {
        magnitude
    }
}

/// A power of two by its E8M0 exponent; 255 is infinity.
pub(super) fn e8m0(exponent: u8) -> f32 {
    match exponent {
        0 => f32::from_bits(1 << 22),
        exponent => f32::from_bits(u32::from(exponent) << 23),
    }
}

/// An E2M1 number, with negative zero.
pub(super) fn e2m1(code: u8) -> f32 {
    let magnitude = f32::from(Table::E2M1.integers()[usize::from(code & 7)]) * 0.5;
    if code & 8 != 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_eight_bits() {
        for code in 0..=255u8 {
            // IEEE-like with bias 7, no infinities.
            let (e, m) = (i32::from(code >> 3 & 15), f64::from(code & 7));
            let magnitude = match e {
                0 => m / 8.0 * 2f64.powi(-6),
                e => (1.0 + m / 8.0) * 2f64.powi(e - 7),
            };
            let value = e4m3(code);
            if code & 0x7f == 0x7f {
                assert!(value.is_nan());
            } else {
                assert_eq!(f64::from(value.abs()), magnitude);
                assert_eq!(value.is_sign_negative(), code >= 0x80);
            }
            if code < 255 {
                assert_eq!(f64::from(e8m0(code)), 2f64.powi(i32::from(code) - 127));
            }
        }
        assert_eq!(e8m0(255), f32::INFINITY);
        assert!(e2m1(8) == 0.0 && e2m1(8).is_sign_negative());
        assert_eq!((e2m1(1), e2m1(15)), (0.5, -6.0));
    }
}
