//! Quantization formats: how a weight's numbers are stored, one file a format.
//!
//! Every quantized format has the *group form* `w = scale·q + bias` with unsigned codes `q` of
//! `bits` bits and one (scale, bias) pair per `group` consecutive weights of a row. The CPU and GPU
//! kernels are written against the group form; [`crate::formats::Weight::dequantize_row`] is the
//! plain, bit-exact form that everything is compared with.

mod affine;
mod dense;
mod format;
mod groups;
mod q2_k;
mod q3_k;
mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod row;
mod scalar;

pub use format::{Format, ScalarType};
pub use groups::{GroupForm, RowGroups, ScaleForm};
pub(in crate::formats) use row::{dequantize, read_groups};
pub use scalar::{bf16_to_f32, f16_to_f32};
