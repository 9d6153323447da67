//! What was found out about a subject, kept on disk for later processes: a line a file.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// Findings of one kind.
pub(super) struct Kept {
    /// Their folder below the library's own in the user's cache.
    pub folder: &'static str,
    /// First line of their files; a file with another one is not read.
    pub header: &'static str,
}

impl Kept {
    /// What an earlier process found. What cannot be read does not count.
    pub fn load<T>(&self, subject: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = std::fs::read_to_string(self.file(subject)?).ok()?;
        self.parse(&text, subject, parse)
    }

    pub(super) fn parse<T>(
        &self,
        text: &str,
        subject: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let mut lines = text.lines();
        if lines.next() != Some(self.header) || lines.next() != Some(subject) {
            return None;
        }
        parse(lines.next()?)
    }

    /// Keeps a line for later processes. A home that cannot be written is no error.
    pub fn store(&self, subject: &str, line: &str) {
        let _ = self.try_store(subject, line);
    }

    /// Forgets it.
    pub fn remove(&self, subject: &str) {
        if let Some(path) = self.file(subject) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn try_store(&self, subject: &str, line: &str) -> Option<()> {
        let path = self.file(subject)?;
        let folder = path.parent()?;
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder).ok()?;
        // A name of its own, then a rename: two processes at once both leave a whole file.
        let unique = format!("{}.{}", path.display(), std::process::id());
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unique)
            .ok()?;
        let written = writeln!(file, "{}\n{subject}\n{line}", self.header);
        let renamed = written.and_then(|()| std::fs::rename(&unique, &path));
        if renamed.is_err() {
            let _ = std::fs::remove_file(&unique);
        }
        renamed.ok()
    }

    /// `$XDG_CACHE_HOME/mlxrocm/<folder>/<subject>`.
    pub fn file(&self, subject: &str) -> Option<PathBuf> {
        let absolute = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        let cache =
            absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        let name: String = subject
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(200)
            .collect();
        Some(cache.join("mlxrocm").join(self.folder).join(name))
    }
}
