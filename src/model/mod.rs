//! Models: what a file describes, its weights, and its forward pass.

pub mod bind;
pub mod config;
mod device;
pub mod families;
mod forward;
mod identity;
mod load;
pub mod quantize;
mod rope;
mod tokens;
mod usual;
pub mod weights;

pub use crate::step::{
    ALL_BANNED, CHOSEN, Choice, KvType, NO_TOKEN, PAGE_TOKENS, Slice, StateSize, Wanted,
};
pub use config::Config;
pub use device::DeviceChoice;
pub use forward::{Forward, StateForm};
pub use identity::Identity;
pub use load::{LoadOptions, Model, ModelInfo};
pub use tokens::TokenSet;
pub use usual::{DEFAULT_CONTEXT, DEFAULT_REQUESTS};
