//! The self-test of a device: every built-in kernel against a plain form on the processor, graph
//! replay against direct launches, and measurements for a bug report.
//!
//! A kernel gets its place here by a [`case::Case`] in the table of its family ([`engine::CASES`]),
//! and the table by its line in [`run::TABLES`]. A few of them are the short test that a device passes
//! before it is chosen without being named ([`brief()`]).

mod brief;
mod case;
mod engine;
mod measure;
mod products;
mod random;
mod rows;
mod run;
mod trial;

pub(super) use brief::Health;
pub use brief::brief;
pub use run::{SelftestOptions, run};
