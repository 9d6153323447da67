//! Local memory that kernels read and write 16 bytes at a time must begin at a multiple of 16: `ds_read_b128` faults or
//! is cut in pieces elsewhere, and the compiler takes a pointer's word for it. Code objects do not tell what lies where in
//! local memory, so this looks at the sources: at declarations, and at what the same file does with their names.

use std::path::{Path, PathBuf};

/// What moves 16 bytes at the address behind it.
const WIDE: [&str; 10] = [
    "load16(",
    "store16(",
    "load_f32x4(",
    "store_f32x4(",
    "(f32x4 *)",
    "(const f32x4 *)",
    "(u32x4 *)",
    "(const u32x4 *)",
    "copy16_async(",
    "tile_load_a(",
];

/// Types whose alignment does not do, by their size; those of 16 bytes (f32x4, u32x4) are aligned themselves.
const NARROW: [&str; 5] = ["u8", "i8", "u16", "f16", "bf16"];
const WORDS: [&str; 6] = ["u32", "i32", "f32", "u64", "i64", "f32x2"];

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|e| e == "hip" || e == "h");
        match path.is_dir() {
            true => sources(&path, all),
            false if is_source => all.push(path),
            false => {}
        }
    }
}

/// Whether the text names `name` as a whole word right behind something of [`WIDE`].
fn is_wide(text: &str, name: &str) -> bool {
    WIDE.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let after = text[at + word.len()..].trim_start_matches(['&', '(']);
            let rest = after.strip_prefix(name);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    })
}

/// The arrays in local memory of a text that are not aligned and should be.
fn unaligned(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start) {
        let Some(declared) = line.strip_prefix("SHARED ") else {
            continue;
        };
        let aligned = declared.split_once("aligned(").map(|(_, rest)| rest);
        let aligned = aligned.and_then(|rest| rest.split(')').next()?.parse::<u32>().ok());
        if aligned.is_some_and(|bytes| bytes.is_multiple_of(16)) {
            continue;
        }
        let Some((of, names)) = declared.split_once(' ') else {
            continue;
        };
        // `a[64 * STEP], b[2]`: sizes have no commas.
        let names = names.split(';').next().unwrap_or_default().split(',');
        let arrays = names.filter_map(|name| name.trim().split_once('['));
        for (name, _) in arrays {
            if NARROW.contains(&of) || (WORDS.contains(&of) && is_wide(text, name)) {
                found.push(format!("{of} {name}[]"));
            }
        }
    }
    found
}

#[test]
fn what_is_read_16_bytes_at_a_time_is_aligned() {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("hip"), &mut all);
    let (mut declared, mut wrong) = (0, Vec::new());
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        declared += text.matches(" SHARED ").count();
        let found = unaligned(&text).into_iter();
        wrong.extend(found.map(|array| format!("{}: SHARED {array}", path.display())));
    }
    assert!(declared > 50, "{declared} arrays in local memory");
    assert!(wrong.is_empty(), "not aligned(16): {wrong:#?}");
}

#[test]
fn arrays_that_are_not_aligned_are_found() {
    let text = "    SHARED u16 xs[2 * 64];\n    SHARED f32 a[4], b[8]; \\\n    x = load_f32x4(b + 4);\n\
                SHARED __attribute__((aligned(16))) u16 ws[64];\n    store16(ws, x), load16(&c[4]);\n    SHARED u32 c[8], load;\n";
    assert_eq!(unaligned(text), ["u16 xs[]", "f32 b[]", "u32 c[]"]);
}
