//! Writes the kernels into the output folder for `src/gpu/kernels/archive.rs`: compressed groups and
//! a Rust file with their index.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::arguments::is_nvidia;
use crate::source::Source;
use crate::variable;

/// One compiled source for one target.
pub struct Object {
    pub target: String,
    /// Index into the sources.
    pub source: usize,
    pub bytes: Vec<u8>,
}

/// Objects of one instruction set are much alike, so they are compressed as one piece; a device
/// needs only its own piece.
struct Group {
    name: String,
    bytes: Vec<u8>,
}

/// The piece that a target's objects go into.
fn group_of(target: &str) -> String {
    if is_nvidia(target) {
        return "nvidia".into();
    }
    // gfx1100 -> gfx11, gfx90a -> gfx9, gfx10-3-generic -> gfx10.
    let stem = target.split('-').next().unwrap_or(target);
    let digits = if target.contains('-') {
        stem.len()
    } else {
        stem.len().saturating_sub(2)
    };
    stem.get(..digits).unwrap_or(stem).to_string()
}

/// Writes `kernels.rs` and one `<group>.zst` a group into `out`. `fingerprint`: of the kernels.
pub fn write(
    out: &Path,
    sources: &[Source],
    objects: &[Object],
    compiler: &str,
    fingerprint: &str,
) -> Result<(), String> {
    let mut groups: Vec<Group> = vec![Group {
        name: "source".into(),
        bytes: Vec::new(),
    }];
    let mut index = String::new();
    let _ = writeln!(
        index,
        "/// The compiler of the embedded code objects; empty when there are none."
    );
    let _ = writeln!(index, "static COMPILER: &str = {compiler:?};");
    let _ = writeln!(
        index,
        "/// A hash of all that decides what the kernels are.\nstatic FINGERPRINT: &str = {fingerprint:?};"
    );
    let _ = writeln!(index, "/// The kernel sources, sorted by name.");
    let _ = writeln!(index, "pub(super) static SOURCES: &[Source] = &[");
    for source in sources {
        let (group, offset) = append(&mut groups, "source", source.text.as_bytes());
        let _ = writeln!(
            index,
            "    Source {{ name: {:?}, text: Piece {{ group: {group}, offset: {offset}, length: {} }}, kernels: &{:?} }},",
            source.name,
            source.text.len(),
            source.kernels
        );
    }
    let _ = writeln!(
        index,
        "];\n/// The code objects.\npub(super) static OBJECTS: &[Object] = &["
    );
    for object in objects {
        let kernels: Vec<&String> = sources[object.source]
            .kernels
            .iter()
            .filter(|name| has_kernel(object, name))
            .collect();
        // A target may have none of a source's kernels.
        if kernels.is_empty() {
            continue;
        }
        let (group, offset) = append(&mut groups, &group_of(&object.target), &object.bytes);
        let _ = writeln!(
            index,
            "    Object {{ target: {:?}, source: {}, code: Piece {{ group: {group}, offset: {offset}, length: {} }}, kernels: &{:?} }},",
            object.target,
            object.source,
            object.bytes.len(),
            kernels
        );
    }
    let _ = writeln!(
        index,
        "];\n/// The compressed groups.\nstatic GROUPS: &[Group] = &["
    );
    // The best level takes minutes, which only what is shipped is worth.
    let level = if variable("PROFILE") == "release" {
        19
    } else {
        3
    };
    let packed = crate::jobs::each(groups.len(), |number| {
        zstd::bulk::compress(&groups[number].bytes, level).map_err(|error| format!("zstd: {error}"))
    })?;
    for (group, packed) in groups.iter().zip(&packed) {
        let file = format!("{}.zst", group.name);
        put(&out.join(&file), packed)?;
        let _ = writeln!(
            index,
            "    Group {{ name: {:?}, packed: include_bytes!({file:?}), length: {} }},",
            group.name,
            group.bytes.len()
        );
    }
    let _ = writeln!(index, "];");
    put(&out.join("kernels.rs"), index.as_bytes())
}

fn append(groups: &mut Vec<Group>, name: &str, bytes: &[u8]) -> (usize, usize) {
    let position = match groups.iter().position(|group| group.name == name) {
        Some(position) => position,
        None => {
            groups.push(Group {
                name: name.to_string(),
                bytes: Vec::new(),
            });
            groups.len() - 1
        }
    };
    let group = &mut groups[position];
    let offset = group.bytes.len();
    group.bytes.extend_from_slice(bytes);
    (position, offset)
}

/// Whether the object has this kernel: a source may leave a kernel out for some targets.
fn has_kernel(object: &Object, name: &str) -> bool {
    let pattern = if is_nvidia(&object.target) {
        format!(".entry {name}(").into_bytes()
    } else {
        format!("\0{name}.kd\0").into_bytes()
    };
    object
        .bytes
        .windows(pattern.len())
        .any(|window| window == pattern)
}

/// Writes only what changed, so that nothing is rebuilt for nothing.
fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
