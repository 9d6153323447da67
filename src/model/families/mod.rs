//! Model families: a forward pass each, written with array operations.

pub mod dense;
