//! Bytes in a file of their own, as weights have them.

use mlxrocm::formats::{Bytes, MappedFile};
use std::io::Write;

/// The bytes, mapped.
pub fn mapped(bytes: &[u8]) -> Bytes {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written bytes");
    let file = MappedFile::open(file.path()).expect("a mapped file");
    file.slice(0..bytes.len()).expect("all of it")
}
