//! The session over a model that detects every mistake with its pages.

mod ends;
mod evaluate;
mod failures;
mod fake;
mod harness;
mod mixed;
mod pipeline;
mod processor;
mod queued;
mod recurrent;
mod scheduling;
mod speculation;
mod state;
mod steps;
mod stress;
mod submit;
mod tokens;
