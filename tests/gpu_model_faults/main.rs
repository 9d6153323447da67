//! A model on the software GPU while things go wrong: every open generation ends with an error event,
//! nothing hangs or leaks, the process lives, and the device is used again where it can be.

#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/random_model.rs"]
mod random_model;

mod allocation;
mod loss;
mod refusal;
mod room;
mod small;
mod steps;
mod subject;
