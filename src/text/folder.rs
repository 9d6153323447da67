//! The tokenizer of a model folder (under construction).
use super::tokenizer::Parts;
use crate::{Error, Result};
use std::path::Path;

pub(super) fn read(_folder: &Path) -> Result<Parts> {
    Err(Error::Unsupported("tokenizer.json".into()))
}
