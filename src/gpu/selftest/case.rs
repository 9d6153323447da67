//! What a case of the self-test says: launches, their inputs, and what must come out.

use super::random::Random;
use crate::driver::DeviceFacts;

/// One kernel under test.
pub struct Case {
    /// The built-in kernel.
    pub kernel: &'static str,
    /// Makes the trials: a few sizes each, odd ones among them.
    pub trials: fn(&mut Random, &DeviceFacts) -> Vec<Trial>,
}

/// One launch of the kernel.
pub struct Trial {
    /// The sizes, for the report: "1025 numbers".
    pub label: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Work items of a block.
    pub block: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The kernel's arguments in its order.
    pub args: Vec<(&'static str, Argument)>,
}

/// One argument.
pub enum Argument {
    /// Device memory with this content, which the kernel must leave as it is. Its address is `skew`
    /// bytes past a multiple of 256.
    Input {
        /// The content.
        bytes: Vec<u8>,
        /// Bytes past the alignment.
        skew: u64,
    },
    /// Device memory that is full of NaN when the kernel starts.
    Output {
        /// Its size in bytes.
        size: usize,
        /// Bytes past the alignment.
        skew: u64,
        /// What it must hold afterwards.
        expected: Expected,
    },
    /// A number.
    U32(u32),
    /// A number.
    U64(u64),
    /// A number.
    F32(f32),
    /// No memory.
    Null,
}

/// What a kernel's output must be.
pub enum Expected {
    /// These bytes.
    Bytes(Vec<u8>),
    /// f32 numbers, each with how far from it is still right.
    Near(Vec<(f64, f64)>),
    /// u32 numbers with this sum modulo 2^32.
    Total(u32),
}

impl Expected {
    /// What is wrong with an output; `None` if nothing is.
    pub fn judge(&self, output: &[u8]) -> Option<String> {
        match self {
            Expected::Bytes(bytes) => {
                let at = output.iter().zip(bytes).position(|(a, b)| a != b);
                let at = at.or((output.len() != bytes.len()).then_some(0))?;
                let byte = |bytes: &[u8]| bytes.get(at).copied().unwrap_or_default();
                Some(format!(
                    "byte {at} is {:#04x} instead of {:#04x}",
                    byte(output),
                    byte(bytes)
                ))
            }
            Expected::Near(numbers) => {
                let values = words(output).map(f32::from_bits);
                if output.len() != numbers.len() * 4 {
                    return Some(format!("{} bytes came out", output.len()));
                }
                values.zip(numbers).enumerate().find_map(|(at, (x, near))| {
                    let (expected, tolerance) = *near;
                    let right = if expected.is_finite() {
                        (f64::from(x) - expected).abs() <= tolerance
                    } else {
                        f64::from(x) == expected
                    };
                    (!right).then(|| {
                        format!("number {at} is {x} instead of {expected} (±{tolerance:.1e})")
                    })
                })
            }
            Expected::Total(total) => {
                let sum = words(output).fold(0_u32, u32::wrapping_add);
                (sum != *total).then(|| format!("the total is {sum} instead of {total}"))
            }
        }
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .chunks_exact(4)
        .map(|word| word.try_into().map_or(0, u32::from_le_bytes))
}

/// The bytes of numbers as the device has them.
pub fn bytes_of_words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The bytes of floats as the device has them.
pub fn bytes_of_floats(floats: &[f32]) -> Vec<u8> {
    bytes_of_words(floats.iter().map(|x| x.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_outputs_are_told_from_right_ones() {
        let floats = |x: &[f32]| bytes_of_floats(x);
        let near = Expected::Near(vec![(1.0, 1e-3), (f64::NEG_INFINITY, 0.0)]);
        let infinity = f32::NEG_INFINITY;
        assert_eq!(near.judge(&floats(&[1.0005, infinity])), None);
        assert!(near.judge(&floats(&[1.01, infinity])).is_some());
        assert!(near.judge(&floats(&[f32::NAN, infinity])).is_some());
        assert!(near.judge(&floats(&[1.0, 0.0])).is_some());
        assert!(near.judge(&floats(&[1.0])).is_some());
        assert_eq!(Expected::Bytes(vec![1, 2]).judge(&[1, 2]), None);
        let said = Expected::Bytes(vec![1, 2]).judge(&[1, 3]).unwrap();
        assert_eq!(said, "byte 1 is 0x03 instead of 0x02");
        assert!(Expected::Bytes(vec![1]).judge(&[1, 2]).is_some());
        let total = Expected::Total(1);
        assert_eq!(total.judge(&bytes_of_words([u32::MAX, 2])), None);
        assert!(total.judge(&bytes_of_words([1, 1])).is_some());
    }
}
