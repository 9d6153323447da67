//! Arrays: the noun, and the operations on it, one file a family as in `array::ops`.
//!
//! A file of operations is one call of [`functions::array_functions`], which makes each operation an
//! exported function with the parameters that all of them share.

pub mod data;
pub mod dtype;
mod functions;

pub mod binary;
pub mod create;
pub mod files;
pub mod kernel;
pub mod layers;
pub mod linear_algebra;
pub mod lists;
pub mod map;
pub mod map_metadata;
pub mod memory;
pub mod object;
pub mod order;
pub mod places;
pub mod products;
pub mod quantized;
pub mod random;
pub mod reduce;
pub mod shape;
pub mod transforms;
pub mod unary;
