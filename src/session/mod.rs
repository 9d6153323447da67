//! Sessions: several requests at once over one paged KV cache.

mod channel;
mod evaluate;
mod evaluation;
mod generating;
mod generation;
mod limits;
mod pages;
mod processor;
mod ready;
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
mod snapshots;
mod speculation;
mod state;
mod state_format;
mod text;

pub use evaluate::{Embedding, Pooling};
pub use generation::{Event, FinishReason, Generation, Next, TokenLogprob, Usage};
pub use processor::LogitsProcessor;
pub use ready::{Ready, wait_any};
pub use request::{Request, Sampling};
pub use session::{Session, SessionOptions, SessionStatus};
pub use state::state_tokens;
pub use text::{Detokenizer, TextStream};
