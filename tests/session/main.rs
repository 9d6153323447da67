//! The session over a model that detects every mistake with its pages.

mod ends;
mod evaluate;
mod failures;
mod fake;
mod mixed;
mod pipeline;
mod processor;
mod recurrent;
mod scheduling;
mod state;
mod stress;
mod submit;
mod tokens;
