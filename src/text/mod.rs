//! Text in and out: tokenizer, streaming decode, chat templates, stop strings.

pub mod chat_template;
pub mod decode;
pub mod stop;
pub mod tokenizer;

pub use chat_template::{ChatTemplate, Message};
pub use decode::DecodeStream;
pub use stop::StopMatcher;
pub use tokenizer::Tokenizer;
