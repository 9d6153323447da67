//! A timing model: how long a named card takes for a kernel, and what it waits for.
//!
//! Two steps. [`trace`] executes a few workgroups and notes for each wave the instructions in order, with
//! the cache lines and LDS passes of memory instructions. [`replay`] sends such waves through a model of the
//! card ([`card`]): in-order issue over the ports of each SIMD, waits for counters as the code has them,
//! [`memory`] with its caches and DRAM channels, barriers, occupancy. Where the traces of several
//! workgroups differ only by addresses that are linear in the block's coordinates, the other workgroups need
//! not be executed at all; what is not simulated is extrapolated from the rate of the steady state.
//!
//! [`predict`] does both. `README.md` says how far it can be believed.

mod affine;
mod cache;
pub mod card;
mod cards;
mod class;
mod dispatch;
pub mod memory;
mod occupancy;
mod predict;
pub mod replay;
mod report;
pub mod trace;

pub use card::{Card, card, cards};
pub use occupancy::Occupancy;
pub use predict::{Options, predict};
pub use report::{Prediction, Waits};
