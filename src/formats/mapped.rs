//! Memory-mapped files and ranges of them, and memory that stands for a part of one.

use super::regular::{missing, open_regular};
use crate::error::said;
use crate::{Error, Result};
use std::fs::File;
use std::io::ErrorKind;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file mapped read-only. Immutable: any thread.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    /// `None`: the bytes were made from those of the file at `path`.
    file: Option<File>,
    map: memmap2::Mmap,
}

impl MappedFile {
    /// Maps `path`. An empty or missing file is an error that names it.
    pub fn open(path: &Path) -> Result<Arc<MappedFile>> {
        let io = |e: std::io::Error| Error::of_file(path, &e);
        let Some(file) = open_regular(path)? else {
            return Err(missing(path));
        };
        // SAFETY: the map is private and read-only; a file that another process truncates while it
        // is mapped raises SIGBUS, which the documentation of model loading says.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(io)?;
        Ok(Arc::new(MappedFile {
            path: path.to_path_buf(),
            file: Some(file),
            map,
        }))
    }

    /// Numbers that were made from those of the file at `path`, as if they lay in one.
    ///
    /// # Errors
    /// `OutOfMemory` if there is no memory for them.
    pub fn made_of<T: bytemuck::NoUninit>(path: &Path, numbers: &[T]) -> Result<Bytes> {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        let none =
            |e: std::io::Error| Error::OutOfMemory(format!("{}: {}", path.display(), said(&e)));
        let mut map = memmap2::MmapMut::map_anon(bytes.len().max(1)).map_err(none)?;
        map[..bytes.len()].copy_from_slice(bytes);
        let map = map.make_read_only().map_err(none)?;
        let file = Arc::new(MappedFile {
            path: path.to_path_buf(),
            file: None,
            map,
        });
        Ok(Bytes {
            file,
            range: 0..bytes.len(),
        })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole content.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// A range of the file that keeps it mapped; `None` when it does not lie inside the file.
    pub fn slice(self: &Arc<Self>, range: Range<usize>) -> Option<Bytes> {
        (range.start <= range.end && range.end <= self.map.len()).then(|| Bytes {
            file: self.clone(),
            range,
        })
    }
}

/// A range of a mapped file. Immutable: any thread; keeps the file mapped.
#[derive(Debug, Clone)]
pub struct Bytes {
    file: Arc<MappedFile>,
    range: Range<usize>,
}

impl Bytes {
    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Looks whether the file still has what was mapped: a read of what was cut off would end the process.
    ///
    /// # Errors
    /// `InvalidFile` if it was cut since.
    pub fn check(&self) -> Result<()> {
        let Some(file) = &self.file.file else {
            return Ok(());
        };
        let length = file.metadata().map_or(0, |facts| facts.len());
        if length >= self.range.end as u64 {
            return Ok(());
        }
        Err(Error::InvalidFile(format!(
            "{}: was cut to {length} bytes since the model was loaded",
            self.path().display()
        )))
    }

    /// Copies the bytes from `start` on to all of `out`, out of the file where there is one: that is faster than
    /// through the map for bytes that are needed once, as pages that nobody mapped have to be mapped one by one.
    ///
    /// # Errors
    /// `InvalidFile` if the file was cut since; `Io` if it cannot be read.
    pub fn read(&self, start: usize, out: &mut [u8]) -> Result<()> {
        let end = start.checked_add(out.len());
        let inside = end.filter(|end| *end <= self.len());
        let bytes = inside.and_then(|end| self.get(start..end));
        let Some(bytes) = bytes else {
            return Err(Error::Internal(format!(
                "{}: {} bytes from {start} are outside of a part of {} bytes",
                self.path().display(),
                out.len(),
                self.len()
            )));
        };
        let Some(file) = &self.file.file else {
            out.copy_from_slice(bytes);
            return Ok(());
        };
        let place = (self.range.start + start) as u64;
        file.read_exact_at(out, place)
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => self.check().err().unwrap_or_else(|| {
                    Error::Io(format!("{}: ends too early", self.path().display()))
                }),
                _ => Error::of_file(self.path(), &error),
            })
    }

    /// A range of these bytes; `None` when it does not lie inside.
    pub fn part(&self, range: Range<usize>) -> Option<Bytes> {
        let start = self.range.start.checked_add(range.start)?;
        let end = self.range.start.checked_add(range.end)?;
        if range.start > range.end || end > self.range.end {
            return None;
        }
        Some(Bytes {
            file: self.file.clone(),
            range: start..end,
        })
    }

    /// Gives the pages back to the system: they are read again from the file when touched.
    pub fn release(&self) {
        if self.file.file.is_none() {
            return;
        }
        // Only whole pages inside the range, so that neighbours keep theirs.
        const PAGE: usize = 4096;
        let start = self.range.start.next_multiple_of(PAGE);
        let end = self.range.end / PAGE * PAGE;
        if start < end {
            // SAFETY: the map is file-backed, private and read-only: dropped pages come back from
            // the file unchanged.
            let _ = unsafe {
                self.file.map.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    start,
                    end - start,
                )
            };
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.file.map[self.range.clone()]
    }
}
