//! The kernels that the build embedded: sources, and code objects for the targets its compiler knew.
//!
//! Code objects of one instruction set are compressed as one piece and decompressed when the first
//! of them is asked for.

use crate::{Error, Result};
use std::sync::OnceLock;

/// Bytes within a decompressed group.
struct Piece {
    group: usize,
    offset: usize,
    length: usize,
}

/// One kernel source, flattened.
pub(super) struct Source {
    /// Path below `hip/ops` without the extension: "engine/fill".
    pub(super) name: &'static str,
    text: Piece,
    /// The kernels it defines.
    pub(super) kernels: &'static [&'static str],
}

/// One source compiled for one target.
pub(super) struct Object {
    /// "gfx1100", "gfx11-generic", "sm_90".
    pub(super) target: &'static str,
    /// Index into [`SOURCES`].
    pub(super) source: usize,
    code: Piece,
    /// The kernels in it: those of the source that exist for this target.
    pub(super) kernels: &'static [&'static str],
}

/// Pieces compressed together.
struct Group {
    name: &'static str,
    packed: &'static [u8],
    length: usize,
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// A hash of the built-in kernels' sources and their compiler: what was found about kernels is found anew for
/// others.
pub fn fingerprint() -> &'static str {
    FINGERPRINT
}

/// A built-in code object, for tools and tests that inspect all of them.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// "gfx1100", "gfx11-generic", "sm_90".
    pub target: &'static str,
    /// The source's path below `hip/ops` without the extension.
    pub source: &'static str,
    /// The kernels in it.
    pub kernels: &'static [&'static str],
    /// All kernels of the source, in this object or not.
    pub source_kernels: &'static [&'static str],
    /// ELF (AMD) or PTX with a zero at its end (NVIDIA).
    pub code: &'static [u8],
}

/// All embedded code objects, sorted by the build's list of targets, then by source.
///
/// # Errors
/// `Internal` if the archive is damaged.
pub fn built_in() -> Result<Vec<BuiltIn>> {
    let convert = |object: &'static Object| {
        let source = SOURCES.get(object.source).ok_or_else(damaged)?;
        Ok(BuiltIn {
            target: object.target,
            source: source.name,
            kernels: object.kernels,
            source_kernels: source.kernels,
            code: object.code()?,
        })
    };
    OBJECTS.iter().map(convert).collect()
}

/// The compiler of the embedded code objects; empty when there are none.
pub fn built_in_compiler() -> &'static str {
    COMPILER
}

/// The index and the source that defines the kernel `name`.
pub(super) fn source_of(name: &str) -> Option<(usize, &'static Source)> {
    let has = |(_, source): &(usize, &Source)| source.kernels.contains(&name);
    SOURCES.iter().enumerate().find(has)
}

/// The object of source number `source` for `target`.
pub(super) fn object(source: usize, target: &str) -> Option<&'static Object> {
    OBJECTS
        .iter()
        .find(|object| object.source == source && object.target == target)
}

/// The targets that have code objects, each once.
pub(super) fn targets() -> Vec<&'static str> {
    let mut targets: Vec<&str> = OBJECTS.iter().map(|object| object.target).collect();
    targets.dedup();
    targets
}

impl Source {
    /// The text.
    ///
    /// # Errors
    /// `Internal` if the archive is damaged.
    pub(super) fn text(&self) -> Result<&'static str> {
        std::str::from_utf8(self.text.bytes()?).map_err(|_| damaged())
    }
}

impl Object {
    /// The code.
    ///
    /// # Errors
    /// `Internal` if the archive is damaged.
    pub(super) fn code(&self) -> Result<&'static [u8]> {
        self.code.bytes()
    }
}

impl Piece {
    fn bytes(&self) -> Result<&'static [u8]> {
        let end = self.offset.checked_add(self.length).ok_or_else(damaged)?;
        group(self.group)?.get(self.offset..end).ok_or_else(damaged)
    }
}

/// The decompressed group. Kept for the life of the process: a few megabytes, and devices are opened
/// again and again.
fn group(number: usize) -> Result<&'static [u8]> {
    static OPEN: [OnceLock<Option<Vec<u8>>>; GROUPS.len()] =
        [const { OnceLock::new() }; GROUPS.len()];
    let (Some(group), Some(open)) = (GROUPS.get(number), OPEN.get(number)) else {
        return Err(damaged());
    };
    let unpack = || {
        let bytes = zstd::bulk::decompress(group.packed, group.length).ok()?;
        (bytes.len() == group.length).then_some(bytes)
    };
    open.get_or_init(unpack).as_deref().ok_or_else(|| {
        Error::Internal(format!(
            "the embedded kernels ({}) are damaged; reinstall the library",
            group.name
        ))
    })
}

fn damaged() -> Error {
    Error::Internal("the index of the embedded kernels is damaged; reinstall the library".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_unpacks_and_is_flat() {
        assert!(!SOURCES.is_empty());
        for source in SOURCES {
            let text = source.text().unwrap();
            assert!(text.starts_with("#line 1 \"ops/"), "{}", source.name);
            let includes = text
                .lines()
                .any(|line| line.trim_start().starts_with("#include"));
            assert!(!includes, "{}", source.name);
            for kernel in source.kernels {
                assert!(text.contains(kernel), "{}: {kernel}", source.name);
                assert!(source_of(kernel).is_some_and(|(_, found)| found.name == source.name));
            }
        }
        assert!(source_of("mlxrocm_no_such_kernel").is_none());
    }

    #[test]
    fn every_object_is_of_its_target() {
        for object in built_in().unwrap() {
            let nvidia = object.target.starts_with("sm_");
            if nvidia {
                let text = std::str::from_utf8(object.code).unwrap();
                assert!(text.ends_with('\0'), "{}", object.source);
                assert!(
                    text.contains(&format!(".target {}", object.target)),
                    "{}",
                    object.source
                );
            } else {
                assert!(
                    object.code.starts_with(b"\x7fELF"),
                    "{} {}",
                    object.target,
                    object.source
                );
                let needle = format!("amdgcn-amd-amdhsa--{}", object.target);
                let found = object
                    .code
                    .windows(needle.len())
                    .any(|w| w == needle.as_bytes());
                assert!(found, "{} {}", object.target, object.source);
            }
            assert!(
                !object.kernels.is_empty(),
                "{} {}",
                object.target,
                object.source
            );
        }
    }

    #[test]
    fn wrong_pieces_are_errors() {
        let wrong = [
            (GROUPS.len(), 0, 1),
            (0, usize::MAX, 2),
            (0, GROUPS[0].length, 1),
        ];
        for (group, offset, length) in wrong {
            let piece = Piece {
                group,
                offset,
                length,
            };
            assert!(matches!(piece.bytes(), Err(Error::Internal(_))));
        }
    }
}
