//! Opening files without trusting what they are.

use crate::{Error, Result};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// What Git leaves in place of a large file where Git LFS has not fetched it begins with this.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Opens a regular file to read it; `None` where there is none. Anything else (a FIFO, a device, a
/// folder) is an error: opening or reading it could wait for ever. So is a pointer of Git LFS.
pub fn open_regular(path: &Path) -> Result<Option<File>> {
    let io = |error: std::io::Error| Error::of_file(path, &error);
    // Without O_NONBLOCK, opening a FIFO waits for somebody who writes. Regular files ignore it.
    let options = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    let file = match options {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    if !file.metadata().map_err(io)?.is_file() {
        return Err(Error::Io(format!("{}: not a regular file", path.display())));
    }
    let mut begin = [0; POINTER.len()];
    if file.read_exact_at(&mut begin, 0).is_ok() && begin == POINTER {
        return Err(Error::InvalidFile(format!(
            "{}: a pointer of Git LFS, not the file; `git lfs pull` fetches it",
            path.display()
        )));
    }
    Ok(Some(file))
}

/// The error where [`open_regular`] found nothing and something is needed.
pub fn missing(path: &Path) -> Error {
    Error::of_file(path, &std::io::Error::from_raw_os_error(libc::ENOENT))
}

/// Reads a file of at most `limit` bytes as text; `None` where there is no such file.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<String>> {
    let Some(file) = open_regular(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::of_file(path, &error))?;
    if bytes.len() as u64 > limit {
        return Err(Error::InvalidFile(format!(
            "{}: longer than the {limit} bytes that are read",
            path.display()
        )));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(Error::InvalidFile(format!(
            "{}: not UTF-8 at byte {}",
            path.display(),
            error.utf8_error().valid_up_to()
        ))),
    }
}
