//! Text in and out: tokenizer, streaming decode, chat templates, stop strings.

mod added;
mod bpe;
mod chat_functions;
pub mod chat_template;
pub mod decode;
mod folder;
mod metadata;
mod pre_tokenizer;
mod spm;
pub mod stop;
pub mod tokenizer;
mod tokenizer_json;
mod vocabulary;

pub use chat_template::{ChatTemplate, Message};
pub use decode::DecodeStream;
pub use stop::StopMatcher;
pub use tokenizer::Tokenizer;
