//! The tensor types of GGUF: their numbers, names, and which of them this library reads.

use crate::formats::{Format, ScalarType};

/// What a tensor's type number stands for.
pub(super) enum TensorType {
    /// A format that weights may have.
    Known(Format),
    /// A type that is not read; the name for messages.
    Unsupported(String),
}

/// The type with this number.
pub(super) fn tensor_type(number: u32) -> TensorType {
    let format = match number {
        0 => Format::Dense(ScalarType::F32),
        1 => Format::Dense(ScalarType::F16),
        2 => Format::Q4_0,
        3 => Format::Q4_1,
        6 => Format::Q5_0,
        7 => Format::Q5_1,
        8 => Format::Q8_0,
        10 => Format::Q2K,
        11 => Format::Q3K,
        12 => Format::Q4K,
        13 => Format::Q5K,
        14 => Format::Q6K,
        9 => Format::Q8_1,
        16 => Format::Iq2Xxs,
        17 => Format::Iq2Xs,
        18 => Format::Iq3Xxs,
        19 => Format::Iq1S,
        20 => Format::Iq4Nl,
        21 => Format::Iq3S,
        22 => Format::Iq2S,
        23 => Format::Iq4Xs,
        29 => Format::Iq1M,
        34 => Format::Tq1_0,
        35 => Format::Tq2_0,
        39 => Format::GgufMxfp4,
        40 => Format::GgufNvfp4,
        30 => Format::Dense(ScalarType::BF16),
        _ => return TensorType::Unsupported(name(number)),
    };
    TensorType::Known(format)
}

/// Bytes of a number of a type that weights do not have.
pub(super) fn plain_size(name: &str) -> Option<usize> {
    Some(match name {
        "I8" => 1,
        "I16" => 2,
        "I32" => 4,
        "I64" | "F64" => 8,
        _ => return None,
    })
}

fn name(number: u32) -> String {
    let name = match number {
        4 => "Q4_2",
        5 => "Q4_3",
        15 => "Q8_K",
        24 => "I8",
        25 => "I16",
        26 => "I32",
        27 => "I64",
        28 => "F64",
        31 => "Q4_0_4_4",
        32 => "Q4_0_4_8",
        33 => "Q4_0_8_8",
        36 => "IQ4_NL_4_4",
        37 => "IQ4_NL_4_8",
        38 => "IQ4_NL_8_8",
        41 => "Q1_0",
        _ => return format!("number {number}"),
    };
    name.to_string()
}
