//! The disk cache of run-time compiled kernels: `$XDG_CACHE_HOME/mlxrocm/kernels` (else
//! `~/.cache/mlxrocm/kernels`; `MLXROCM_CACHE_DIR` names another folder for all of the library's caches).
//!
//! What is read from here is run on the GPU, so the folder must belong to this user alone; if it
//! does not, or cannot be made, the cache is off and everything works without it. An entry's name
//! is the hash of all that decides its content, and the entry says that hash and its content's own,
//! so a damaged or exchanged file is noticed and replaced. Entries appear by a rename: other
//! processes see a whole entry or none.

use crate::log::{self, Level};
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// First bytes of an entry; the digit is the format's version.
const MAGIC: &[u8; 8] = b"MLXROCK1";
/// Magic, key, hash of the content.
const HEADER: usize = 8 + 32 + 32;
/// No code object comes near it.
const LARGEST: u64 = 64 << 20;
/// When the folder has grown beyond this, the entries not used for longest are deleted.
const LIMIT: u64 = 256 << 20;

/// What decides an entry's content.
pub(super) type Key = [u8; 32];

/// The key of a list of parts; no two lists run together.
pub(super) fn key(parts: &[&str]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// A folder of entries, or none. Immutable: any thread, any process.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The user's cache. Nothing is created before the first entry is stored.
    pub(super) fn of_user() -> Cache {
        let variable = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let base = variable("MLXROCM_CACHE_DIR")
            .or_else(|| variable("XDG_CACHE_HOME").map(|path| path.join("mlxrocm")))
            .or_else(|| variable("HOME").map(|path| path.join(".cache/mlxrocm")));
        Cache {
            folder: base.map(|base| base.join("kernels")),
        }
    }

    /// A cache in this folder.
    #[cfg(test)]
    pub(super) fn at(folder: &Path) -> Cache {
        Cache {
            folder: Some(folder.to_path_buf()),
        }
    }

    /// The content stored under `key`, if it is there and undamaged.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let folder = self.folder.as_ref().filter(|folder| is_private(folder))?;
        let path = folder.join(file_name(key));
        let mut file = File::open(&path).ok()?;
        match read(&mut file, key) {
            Ok(content) => {
                // Its age decides what is deleted first.
                let _ = file.set_modified(SystemTime::now());
                Some(content)
            }
            Err(reason) => {
                log::write(Level::Warn, || {
                    format!(
                        "kernel cache: {}: {reason}; it is compiled again",
                        path.display()
                    )
                });
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Stores `content` under `key`. Failing to is no failure of the caller's: it is logged.
    pub(super) fn put(&self, key: &Key, content: &[u8]) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = store(folder, key, content) {
            log::write(Level::Info, || {
                format!(
                    "kernel cache: {}: {error}; kernels are compiled anew next time",
                    folder.display()
                )
            });
        }
    }
}

fn file_name(key: &Key) -> String {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}.bin")
}

/// Whether the folder belongs to this user and nobody else may write into it.
fn is_private(folder: &Path) -> bool {
    let Ok(facts) = fs::symlink_metadata(folder) else {
        return false;
    };
    // SAFETY: geteuid has no preconditions.
    let user = unsafe { libc::geteuid() };
    let private = facts.is_dir() && facts.uid() == user && facts.mode() & 0o022 == 0;
    if !private {
        log::write(Level::Warn, || {
            format!(
                "kernel cache: {} is not used: it must be a folder of this user that nobody else \
                 may write to (chmod 700)",
                folder.display()
            )
        });
    }
    private
}

fn read(file: &mut File, key: &Key) -> Result<Vec<u8>, &'static str> {
    let length = file.metadata().map_err(|_| "cannot be read")?.len();
    if length > LARGEST {
        return Err("is too large");
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).map_err(|_| "is too large")?);
    file.take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(|_| "cannot be read")?;
    let (Some(header), Some(content)) = (bytes.get(..HEADER), bytes.get(HEADER..)) else {
        return Err("is cut off");
    };
    let (magic, hashes) = header.split_at(MAGIC.len());
    let (stored_key, content_hash) = hashes.split_at(key.len());
    if magic != MAGIC || stored_key != key {
        return Err("is not what its name says");
    }
    if content_hash != Sha256::digest(content).as_slice() {
        return Err("is damaged");
    }
    Ok(content.to_vec())
}

fn store(folder: &Path, key: &Key, content: &[u8]) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    if !is_private(folder) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the folder is not private",
        ));
    }
    prune(folder, LIMIT);
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!("draft-{}-{number}", std::process::id()));
    let write = || {
        // A draft of a process that died with our number is in the way: it is nobody's.
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(MAGIC)?;
        file.write_all(key)?;
        file.write_all(&Sha256::digest(content))?;
        file.write_all(content)?;
        fs::rename(&draft, folder.join(file_name(key)))
    };
    let result = write();
    if result.is_err() {
        let _ = fs::remove_file(&draft);
    }
    result
}

/// Deletes the oldest entries until the rest fits into three quarters of `limit`, if all do not fit
/// into it.
fn prune(folder: &Path, limit: u64) {
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let facts = entry.metadata().ok()?;
            Some((facts.modified().ok()?, facts.len(), entry.path()))
        })
        .collect();
    let mut total: u64 = entries.iter().map(|(_, length, _)| length).sum();
    if total <= limit {
        return;
    }
    entries.sort();
    for (_, length, path) in entries {
        if total <= limit / 4 * 3 {
            break;
        }
        if fs::remove_file(&path).is_ok() {
            total -= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn cache() -> (tempfile::TempDir, Cache, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/kernels");
        let cache = Cache::at(&folder);
        (root, cache, folder)
    }

    #[test]
    fn what_is_put_is_got_and_others_cannot_read_it() {
        let (_root, cache, folder) = cache();
        let (a, b) = (key(&["a", "b"]), key(&["ab", ""]));
        assert_ne!(a, b);
        assert_eq!(cache.get(&a), None);
        cache.put(&a, b"code");
        assert_eq!(cache.get(&a).as_deref(), Some(&b"code"[..]));
        assert_eq!(cache.get(&b), None);
        cache.put(&a, b"new");
        assert_eq!(cache.get(&a).as_deref(), Some(&b"new"[..]));
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        let entries: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn every_damaged_byte_is_noticed_and_the_entry_goes() {
        let (_root, cache, folder) = cache();
        let key = key(&["x"]);
        cache.put(&key, b"some code");
        let path = folder.join(file_name(&key));
        let good = fs::read(&path).unwrap();
        for position in 0..good.len() {
            let mut bad = good.clone();
            bad[position] ^= 1;
            fs::write(&path, bad).unwrap();
            assert_eq!(cache.get(&key), None, "byte {position}");
            assert!(!path.exists());
        }
        for length in [0, 1, HEADER - 1, good.len() - 1] {
            fs::write(&path, &good[..length]).unwrap();
            assert_eq!(cache.get(&key), None, "{length} bytes");
        }
        cache.put(&key, b"some code");
        assert!(cache.get(&key).is_some());
    }

    #[test]
    fn another_entry_under_this_name_is_noticed() {
        let (_root, cache, folder) = cache();
        let (mine, other) = (key(&["gfx1100"]), key(&["gfx942"]));
        cache.put(&other, b"for gfx942");
        fs::rename(
            folder.join(file_name(&other)),
            folder.join(file_name(&mine)),
        )
        .unwrap();
        assert_eq!(cache.get(&mine), None);
    }

    #[test]
    fn a_folder_others_may_write_to_is_not_used() {
        let (_root, cache, folder) = cache();
        let key = key(&["x"]);
        cache.put(&key, b"code");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(cache.get(&key), None);
        cache.put(&key, b"other");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(cache.get(&key).as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_cache() {
        let root = tempfile::tempdir().unwrap();
        // A file where the folder should be: refused to root too, unlike a read-only folder.
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for folder in [
            file.join("kernels"),
            file.clone(),
            PathBuf::from("/proc/none/kernels"),
        ] {
            let cache = Cache::at(&folder);
            let key = key(&["x"]);
            cache.put(&key, b"code");
            assert_eq!(cache.get(&key), None);
        }
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let (_root, cache, folder) = cache();
        let keys: Vec<Key> = (0..8).map(|i| key(&[&i.to_string()])).collect();
        for (age, key) in keys.iter().enumerate() {
            cache.put(key, &[0; 1000]);
            let file = File::options()
                .append(true)
                .open(folder.join(file_name(key)))
                .unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 + age as u64);
            file.set_modified(time).unwrap();
        }
        prune(&folder, 1 << 20);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 8);
        prune(&folder, 4 * (1000 + HEADER as u64));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        assert!(cache.get(&keys[7]).is_some() && cache.get(&keys[0]).is_none());
    }
}
