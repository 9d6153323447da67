//! The vendors' constants and structures: output of bindgen, written by `regenerate.sh`.
#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals
)]
#![allow(dead_code, unused_imports, clippy::all)]

pub mod cuda;
pub mod hip;

#[cfg(test)]
mod tests;
