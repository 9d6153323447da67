//! Chess networks of Leela Chess Zero: their files, the networks as operations on arrays, and what goes in
//! and comes out (planes of a position, moves of the policy).
//!
//! Written from the format's facts, not from lc0's sources.

mod body;
mod encoder;
mod file;
mod format;
mod game;
mod heads;
mod layers;
mod moves;
mod net;
mod planes;
mod position;
mod protobuf;
mod queue;
mod runs;
mod schema;
mod transform;

pub use file::File;
pub use format::{Activation, Body, Embedding, Format, InputFormat, PolicyFormat, ValueFormat};
pub use game::{Game, LegalMove};
pub use moves::{MOVES, move_name, probabilities};
pub use net::{ChessNet, Evaluation, NetInfo, NetOptions, PolicyHead, Results, ValueHead};
pub use planes::{PLANES, Planes, planes};
pub use queue::{MOST_BATCHES, Queue, Taken};
