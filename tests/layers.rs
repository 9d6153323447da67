//! The rooms of the house: who may call whom, and what the exported functions look like.

#[path = "support/expand.rs"]
mod expand;

use std::path::{Path, PathBuf};

/// Rooms from the top down: each may use those below it.
const STAIRS: &[&str] = &[
    "capi", "session", "model", "chess", "array", "graph", "plan", "gpu", "cpu", "driver", "step",
    "ir",
];

/// Rooms on the same stair: neither knows of the other.
const SIDE_BY_SIDE: &[(&str, &[&str])] = &[
    ("cpu", &["driver"]),
    ("session", &["chess"]),
    ("model", &["chess"]),
    ("chess", &["gpu", "driver"]),
];

/// Rooms beside the stairs and the rooms that they may use.
const BESIDE: &[(&str, &[&str])] = &[("formats", &[]), ("text", &["formats"])];

/// Files that every room may use.
const COMMON: &[&str] = &["error", "log", "panics"];

fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                files.push((path, text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files
        .iter_mut()
        .for_each(|(path, _)| *path = path.strip_prefix(&root).unwrap().to_path_buf());
    files.sort();
    files
}

/// The code without comments; strings stay, no room's name follows `crate::` in one.
fn code(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The rooms that a file uses: the names after each `crate::`, also in braces.
fn used(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect()
    };
    let mut rooms = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let after = &code[at + "crate::".len()..];
        let Some(group) = after.strip_prefix('{') else {
            rooms.push(word(after));
            continue;
        };
        // The first word of each element at the outermost level of the group.
        let (mut depth, mut start) = (0, true);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                c if start && !c.is_whitespace() => {
                    rooms.push(word(&group[at..]));
                    start = false;
                }
                _ => {}
            }
        }
    }
    rooms
}

fn may_use(from: &str, to: &str) -> bool {
    // Types of the crate's root (Error, Result) begin with a capital, macros are everybody's.
    let is_room = STAIRS.contains(&to) || BESIDE.iter().any(|(room, _)| *room == to);
    if from == to || COMMON.contains(&to) || !is_room {
        return true;
    }
    if SIDE_BY_SIDE
        .iter()
        .any(|(room, others)| *room == from && others.contains(&to))
    {
        return false;
    }
    if let Some((_, allowed)) = BESIDE.iter().find(|(room, _)| *room == from) {
        return allowed.contains(&to);
    }
    match (
        STAIRS.iter().position(|room| *room == from),
        STAIRS.iter().position(|room| *room == to),
    ) {
        (Some(from), Some(to)) => from < to,
        // From the stairs to a room beside them.
        (Some(_), None) => true,
        _ => false,
    }
}

#[test]
fn calls_go_down_and_never_up() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in sources() {
        let Some(room) = path.iter().next().filter(|_| path.iter().count() > 1) else {
            if path != Path::new("lib.rs") {
                for used in used(&code(&text)) {
                    if !may_use("formats", &used) {
                        wrong.push(format!(
                            "{} uses {used}: it is a common file",
                            path.display()
                        ));
                    }
                }
            }
            continue;
        };
        let room = room.to_str().unwrap();
        for used in used(&code(&text)) {
            seen += 1;
            if !may_use(room, &used) {
                wrong.push(format!("{} uses {used}: {room} may not", path.display()));
            }
        }
    }
    assert!(seen > 30, "only {seen} uses found: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_search_finds_what_it_should() {
    assert_eq!(used("use crate::session::Session;"), ["session"]);
    assert_eq!(
        used("use crate::{Error, model::{A, b::C}, text};"),
        ["Error", "model", "text"]
    );
    assert_eq!(
        used(&code("// crate::capi\nlet x = crate::cpu::facts();")),
        ["cpu"]
    );
    assert!(may_use("capi", "cpu") && may_use("model", "formats") && may_use("text", "formats"));
    assert!(!may_use("cpu", "plan") && !may_use("model", "session"));
    assert!(!may_use("formats", "text") && !may_use("text", "model") && !may_use("formats", "cpu"));
    assert!(
        may_use("gpu", "driver")
            && may_use("gpu", "step")
            && may_use("plan", "gpu")
            && may_use("step", "ir")
    );
    assert!(!may_use("driver", "gpu") && !may_use("cpu", "gpu") && may_use("gpu", "cpu"));
    assert!(!may_use("ir", "step") && !may_use("step", "driver") && !may_use("cpu", "driver"));
    assert!(may_use("cpu", "log") && may_use("formats", "Error"));
}

#[test]
fn only_capi_exports_and_only_it_and_the_driver_see_c_types() {
    for (path, text) in sources() {
        let code = code(&text);
        let in_capi = path.starts_with("capi");
        for word in ["no_mangle", "export_name"] {
            assert!(
                in_capi || !code.contains(word),
                "{} has {word}",
                path.display()
            );
        }
        let in_driver = path.starts_with("driver");
        for word in ["c_char", "c_void", "extern \"C\" fn"] {
            assert!(
                in_capi || in_driver || !code.contains(word),
                "{} has {word}",
                path.display()
            );
        }
        for word in ["driver::sys::", "driver::sys;", "hipError_t", "CUresult"] {
            assert!(
                in_driver || !code.contains(word),
                "{} has {word}",
                path.display()
            );
        }
        if in_capi {
            continue;
        }
        assert!(
            path == Path::new("lib.rs") || !code.contains("capi::"),
            "{} knows of capi",
            path.display()
        );
    }
}

#[test]
fn every_exported_function_is_a_boundary_with_a_version() {
    let mut count = 0;
    for (path, text) in sources() {
        if !path.starts_with("capi") {
            continue;
        }
        // The macro that makes functions is no function; what it makes is looked at.
        if path == Path::new("capi/array/functions.rs") {
            assert!(
                code(&text).contains("boundary_results([") && text.contains("since_0_1! { $name }")
            );
            continue;
        }
        let code = code(&expand::expand(&text));
        let versions = code.split("since_0_1! {").skip(1);
        let versioned: Vec<_> = versions
            .map(|list| list.split('}').next().unwrap_or_default())
            .collect();
        let versioned = versioned.join(" ");
        let exported = code.matches("no_mangle").count();
        let functions: Vec<_> = code
            .match_indices("extern \"C\" fn mlxrocm_")
            .map(|(at, _)| &code[at..])
            .collect();
        assert_eq!(exported, functions.len(), "{}", path.display());
        for function in functions {
            let name = &function["extern \"C\" fn ".len()..function.find('(').unwrap()];
            let body = function.split_once("{\n").expect("a body").1.trim_start();
            assert!(
                body.trim_start_matches("unsafe { ").starts_with("boundary"),
                "{name} does not begin with a boundary"
            );
            let end = function.find("\n}").expect("the end of the body");
            let outside = function[..end].lines().find(|line| {
                line.ends_with(';') && line.starts_with("    ") && !line.starts_with("     ")
            });
            assert_eq!(outside, None, "{name} does something outside its boundary");
            assert!(
                versioned.split_whitespace().any(|word| word == name),
                "{name} has no version: list it in since_0_1! at the end of {}",
                path.display()
            );
            count += 1;
        }
    }
    assert!(count >= 36, "{count} functions found");
}
