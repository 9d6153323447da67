//! Writing files so that they are there whole or not at all.

use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file under another name first: arrays that are saved may lie, mapped, in the file that is replaced. What is
/// there and no regular file stays as it is.
///
/// # Errors
/// `Io`; those of `fill`.
pub(crate) fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<std::io::Result<()>>,
) -> Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let failed = |error: std::io::Error| Error::of_file(path, &error);
    // What a link leads to is replaced, not the link; devices and folders are not.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if std::fs::metadata(&target).is_ok_and(|facts| !facts.is_file()) {
        return Err(Error::Io(format!("{}: not a regular file", path.display())));
    }
    let Some(name) = target.file_name() else {
        return Err(Error::Io(format!("{}: names no file", path.display())));
    };
    let mut name = name.to_os_string();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{count}.part", std::process::id()));
    let part = target.with_file_name(name);
    let filled = || -> Result<()> {
        let mut file = BufWriter::new(File::create_new(&part).map_err(failed)?);
        fill(&mut file)?.map_err(failed)?;
        file.flush().map_err(failed)?;
        drop(file);
        std::fs::rename(&part, &target).map_err(failed)
    };
    filled().inspect_err(|_| {
        // It may not be there.
        let _ = std::fs::remove_file(&part);
    })
}
