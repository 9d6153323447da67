//! Sessions: several requests at once over one paged KV cache.

mod channel;
mod generating;
mod generation;
mod pages;
mod request;
pub mod sampling;
mod scheduler;
mod sequence;
#[expect(
    clippy::module_inception,
    reason = "one file a noun, and the room has its noun's name"
)]
mod session;
mod shared;
mod text;

pub use generation::{Event, FinishReason, Generation, Next, TokenLogprob, Usage};
pub use request::{Request, Sampling};
pub use session::{Session, SessionOptions, SessionStatus};
pub use text::{Detokenizer, TextStream};
