//! The session over a model that detects every mistake with its pages.

mod ends;
mod failures;
mod fake;
mod pipeline;
mod scheduling;
mod stress;
mod tokens;
