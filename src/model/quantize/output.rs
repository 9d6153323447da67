//! The folder that is written: under another name until it is complete, so that no half of a model looks like one,
//! and with a record of what is done, so that an interrupted run goes on.
//!
//! `TARGET.partial/` holds finished files under their own names, the one in work as `NAME.part`, and `progress.json`:
//! which run it is of, and how many tensors are safely on disk. config.json comes last but for the name of the folder.

use super::layout::Layout;
use crate::{Error, Result};
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const PROGRESS: &str = "progress.json";
const LOCK: &str = "lock";
/// A copy of the result with holes in place of numbers, to see whether it would load.
const REHEARSAL: &str = "rehearsal";

/// An error about a file.
pub(super) fn io(path: &Path, error: std::io::Error) -> Error {
    Error::of_file(path, &error)
}

/// A folder that is being written. Only one at a time in the whole system.
pub(super) struct Output {
    target: PathBuf,
    folder: PathBuf,
    /// What tells this run from others.
    run: String,
    _lock: File,
}

impl Output {
    /// Where the result will be, if that is possible; no file is made.
    ///
    /// # Errors
    /// `InvalidArgument` if there is something, or if the source lies where this will be written.
    pub(super) fn check(source: &Path, target: &Path) -> Result<PathBuf> {
        let bad = |what: &str| Error::InvalidArgument(format!("{}: {what}", target.display()));
        if fs::symlink_metadata(target).is_ok() {
            return Err(bad("exists already; choose another name for the result"));
        }
        let Some(name) = target.file_name() else {
            return Err(bad("no name of a folder"));
        };
        let mut name = name.to_os_string();
        name.push(".partial");
        let folder = target.with_file_name(name);
        if let (Ok(source), Ok(folder)) = (fs::canonicalize(source), fs::canonicalize(&folder))
            && source.starts_with(folder)
        {
            return Err(bad("the source lies where this would be written"));
        }
        Ok(folder)
    }

    /// Opens the folder of a run; gives how many tensors are done.
    ///
    /// # Errors
    /// `Io`; `InvalidArgument` if it is of another run, or in use.
    pub(super) fn open(target: &Path, folder: PathBuf, run: String) -> Result<(Output, usize)> {
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(io(&folder, error));
            }
            _ => {}
        }
        let lock = folder.join(LOCK);
        let mut options = OpenOptions::new();
        let lock_file = options.create(true).truncate(false).write(true).open(&lock);
        let lock_file = lock_file.map_err(|error| io(&lock, error))?;
        match lock_file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let what = "another process is writing this folder";
                return Err(Error::InvalidArgument(format!(
                    "{}: {what}",
                    folder.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(io(&lock, error)),
        }
        let output = Output {
            target: target.to_path_buf(),
            folder,
            run,
            _lock: lock_file,
        };
        let done = output.recorded()?;
        if done.is_none() {
            output.record(0)?;
        }
        Ok((output, done.unwrap_or(0)))
    }

    /// What the record of an earlier run says.
    fn recorded(&self) -> Result<Option<usize>> {
        let other = |what: &str| {
            Error::InvalidArgument(format!(
                "{}: {what}; delete this folder to begin anew",
                self.folder.display()
            ))
        };
        let path = self.folder.join(PROGRESS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let entries =
                    fs::read_dir(&self.folder).map_err(|error| io(&self.folder, error))?;
                let begun = format!("{PROGRESS}.part");
                let is_ours = |name: &std::ffi::OsStr| name == LOCK || name == begun.as_str();
                for entry in entries {
                    if !is_ours(&entry.map_err(|error| io(&self.folder, error))?.file_name()) {
                        return Err(other("exists and is no interrupted run"));
                    }
                }
                return Ok(None);
            }
            Err(error) => return Err(io(&path, error)),
        };
        let record: Value = serde_json::from_str(&text).unwrap_or_default();
        let done = record.get("done").and_then(Value::as_u64);
        let Some(done) = done.and_then(|done| usize::try_from(done).ok()) else {
            return Err(other("its progress.json is damaged"));
        };
        match record.get("run").and_then(Value::as_str) {
            Some(run) if run == self.run => Ok(Some(done)),
            _ => Err(other(
                "an interrupted run of another source or other options",
            )),
        }
    }

    /// Writes down that so many tensors are safely on disk.
    pub(super) fn record(&self, done: usize) -> Result<()> {
        let record = json!({"run": self.run, "done": done});
        self.write(PROGRESS, record.to_string().as_bytes())
    }

    /// Writes a whole file: under another name first.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let part = self.folder.join(format!("{name}.part"));
        let failed = |error| io(&part, error);
        let mut file = File::create(&part).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        self.name(&part, name)
    }

    /// Copies a file: under another name first.
    pub(super) fn copy(&self, mut from: File, name: &str) -> Result<()> {
        let part = self.folder.join(format!("{name}.part"));
        let failed = |error| io(&part, error);
        let mut file = File::create(&part).map_err(failed)?;
        std::io::copy(&mut from, &mut file).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        self.name(&part, name)
    }

    /// Gives a file, which is on disk, its own name.
    fn name(&self, part: &Path, name: &str) -> Result<()> {
        fs::rename(part, self.folder.join(name)).map_err(|error| io(part, error))?;
        synced(&self.folder)
    }

    /// The file of a shard, to be gone on with if `resumed`.
    pub(super) fn shard(&self, layout: &Layout, shard: usize, resumed: bool) -> Result<ShardFile> {
        let name = layout.name(shard);
        let path = self.folder.join(format!("{name}.part"));
        let failed = |error| io(&path, error);
        let file = if resumed {
            OpenOptions::new().write(true).open(&path)
        } else {
            File::create(&path)
        };
        let file = file.map_err(failed)?;
        let shard = &layout.shards[shard];
        if resumed && file.metadata().map_err(failed)?.len() != shard.bytes {
            return Err(Error::InvalidFile(format!(
                "{}: not of {} bytes; delete the folder to begin anew",
                path.display(),
                shard.bytes
            )));
        }
        if !resumed {
            file.set_len(shard.bytes).map_err(failed)?;
            file.write_all_at(&shard.header, 0).map_err(failed)?;
        }
        Ok(ShardFile { file, path, name })
    }

    /// Checks that a finished shard is there.
    pub(super) fn check_shard(&self, layout: &Layout, shard: usize) -> Result<()> {
        let path = self.folder.join(layout.name(shard));
        let found = fs::metadata(&path).map_err(|error| io(&path, error))?;
        if found.len() == layout.shards[shard].bytes {
            return Ok(());
        }
        Err(Error::InvalidFile(format!(
            "{}: not of {} bytes; delete the folder to begin anew",
            path.display(),
            layout.shards[shard].bytes
        )))
    }

    /// A finished shard gets its name. One that got it right before the end of an earlier run keeps it.
    pub(super) fn close(&self, shard: ShardFile) -> Result<()> {
        shard.sync()?;
        self.name(&shard.path, &shard.name)
    }

    /// Whether a shard has its name already.
    pub(super) fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// A folder with the headers of all files and this config, to try how it loads; the numbers are holes.
    pub(super) fn rehearse<T>(
        &self,
        layout: &Layout,
        config: &[u8],
        look: impl FnOnce(&Path) -> Result<T>,
    ) -> Result<T> {
        let folder = self.folder.join(REHEARSAL);
        let make = || {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("config.json"), config)?;
            for (index, shard) in layout.shards.iter().enumerate() {
                let file = File::create(folder.join(layout.name(index)))?;
                file.set_len(shard.bytes)?;
                file.write_all_at(&shard.header, 0)?;
            }
            Ok(())
        };
        let seen = make()
            .map_err(|error| io(&folder, error))
            .and_then(|()| look(&folder));
        fs::remove_dir_all(&folder).map_err(|error| io(&folder, error))?;
        seen
    }

    /// Bytes that can still be written where the folder lies.
    pub(super) fn room(&self) -> Option<u64> {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::CString::new(self.folder.as_os_str().as_bytes()).ok()?;
        // SAFETY: all-zero bytes are a statvfs.
        let mut facts: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: a NUL-terminated path and a struct to be filled.
        let done = unsafe { libc::statvfs(path.as_ptr(), &mut facts) } == 0;
        done.then(|| facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// Takes the folder away, in which nothing is done.
    pub(super) fn discard(&self) {
        // What stays is found by the next run, which says so.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// All is written: the folder gets its name.
    pub(super) fn publish(self) -> Result<()> {
        synced(&self.folder)?;
        if fs::symlink_metadata(&self.target).is_ok() {
            return Err(Error::Io(format!(
                "{}: was made by another meanwhile; the result is complete in {}",
                self.target.display(),
                self.folder.display()
            )));
        }
        fs::rename(&self.folder, &self.target).map_err(|error| io(&self.target, error))?;
        // Not before: a run that ends here must find them, or the result.
        for name in [PROGRESS, LOCK] {
            let path = self.target.join(name);
            fs::remove_file(&path).map_err(|error| io(&path, error))?;
        }
        synced(&self.target)?;
        match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => synced(parent),
            _ => synced(Path::new(".")),
        }
    }
}

/// Puts the names of a folder's files on disk.
fn synced(folder: &Path) -> Result<()> {
    let file = File::open(folder).map_err(|error| io(folder, error))?;
    file.sync_all().map_err(|error| io(folder, error))
}

/// A file that is being written.
pub(super) struct ShardFile {
    file: File,
    path: PathBuf,
    name: String,
}

impl ShardFile {
    /// Writes bytes at a place. Any thread.
    pub(super) fn write(&self, bytes: &[u8], place: u64) -> Result<()> {
        let written = self.file.write_all_at(bytes, place);
        written.map_err(|error| io(&self.path, error))
    }

    /// Waits until what was written is on disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| io(&self.path, error))
    }
}
