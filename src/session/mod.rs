//! Sessions: several requests at once over one paged KV cache.

mod generation;
mod request;
pub mod sampling;
mod session;

pub use generation::{Event, FinishReason, Generation, Next, TokenLogprob, Usage};
pub use request::{Request, Sampling};
pub use session::{Session, SessionOptions};
