//! Quantization formats: how a weight's numbers are stored, one file a format.
//!
//! Every quantized format has the *group form* `w = scale·value(q) + bias` with unsigned codes `q` of
//! `bits` bits and one (scale, bias) pair per `group` consecutive weights of a row; a value is the code
//! itself, an entry of a table of 16, an 8-bit float, or comes from a grid. The CPU and GPU kernels are
//! written against the group form; [`crate::formats::Weight::dequantize_row`] is the
//! plain, bit-exact form that everything is compared with.

mod affine;
mod blocks8;
mod dense;
mod floats;
mod format;
mod gguf_mxfp4;
mod gguf_nvfp4;
mod grid;
mod grid_tables;
mod groups;
mod iq1_m;
mod iq1_s;
mod iq2_s;
mod iq2_xs;
mod iq2_xxs;
mod iq3_s;
mod iq3_xxs;
mod iq4_nl;
mod iq4_xs;
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
mod q8_1;
mod row;
mod scalar;
mod spread;
mod tq1_0;
mod tq2_0;
mod transposed;
mod values;

pub use format::{Format, ScalarType};
pub use grid::Grid;
pub use groups::{GroupForm, RowGroups, ScaleForm};
pub(in crate::formats) use row::{
    Parts, Taken, block_scales, dequantize, parts_of, read_groups, sizes,
};
pub use scalar::{bf16_to_f32, exact_f16, f16_to_f32};
pub use values::{Table, Values, e4m3_parts};
