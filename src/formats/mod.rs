//! Model files as they lie on disk: memory-mapped, validated, never expanded as a whole.
//!
//! Knows nothing of devices or of model families.

mod brief;
pub mod folder;
pub mod gguf;
mod listing;
pub mod mapped;
pub mod npy;
pub mod quantization;
mod regular;
pub mod safetensors;
mod weight;
mod whole;

pub(crate) use brief::{bad_name, brief, one_line};
pub use listing::{Listed, list};
pub use mapped::{Bytes, MappedFile};
pub use quantization::{
    Format, Grid, GroupForm, RowGroups, ScalarType, ScaleForm, Table, Values, e4m3_parts, exact_f16,
};
pub(crate) use regular::missing;
pub use regular::open_regular;
pub(crate) use regular::read_text;
pub use weight::Weight;
pub(crate) use whole::write_whole;
