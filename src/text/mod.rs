//! Text in and out: tokenizer, streaming decode, chat templates, stop strings.

mod added;
mod bpe;
mod chat;
mod chat_functions;
pub mod chat_template;
mod components;
pub mod decode;
mod folder;
pub mod grammar;
mod merger;
mod metadata;
mod metadata_json;
mod normalizer;
mod pre_tokenizer;
mod spm;
pub mod stop;
mod template_format;
mod template_guard;
mod template_json;
mod template_meter;
mod template_methods;
mod template_operators;
mod template_texts;
pub mod tokenizer;
mod tokenizer_json;
mod vocabulary;
mod words;

pub use chat_template::{ChatTemplate, Message};
pub use decode::DecodeStream;
pub use grammar::{Allowed, Grammar, GrammarSource, Grammars};
pub use metadata_json::TokenizerFiles;
pub use stop::StopMatcher;
pub use tokenizer::Tokenizer;
