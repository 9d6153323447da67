//! Experts in host memory that the CPU computes where they lie, in the GPU's layout: for few rows that is faster than the bus on
//! most machines. `choose.rs` measures, `work.rs` and below compute, `run.rs` says what goes to and fro.

mod choose;
mod form;
mod lanes;
mod run;
mod tile;
mod work;

pub use choose::choose;
pub use form::HostForm;
pub use run::{HostExperts, HostRun};
pub use work::HostStack;
