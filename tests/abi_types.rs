//! The types of the binary interface: every function and type of the header, compared with the
//! committed baseline by abidiff (docs/abi.md). A library of empty functions is compiled from the
//! header with the debug information that a stripped library does not have; tests/abi.rs sees to it
//! that the real one has these functions, versions and layouts.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/interface.rs"]
mod interface;

use cc::{command, exists, finish, root, scratch, succeed};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// abidiff's exit status is a set of these: a tool failed (1, 2), the interface changed (4), a
/// program that uses it would break (8).
const CHANGED: i32 = 4;
const BROKEN: i32 = 8;

/// A library with the functions of a header, described by abidw.
fn describe(header: &str, name: &str) -> PathBuf {
    assert!(exists("abidw"), "abigail-tools is needed for the tests");
    let folder = scratch().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mlxrocm.h"), header).unwrap();
    let mut code = String::from("#include \"mlxrocm.h\"\nvoid abort(void);\n");
    let interface = interface::read(header);
    for function in interface["functions"].as_array().unwrap() {
        let parameters = function["parameters"].as_array().unwrap().iter();
        let parameters: Vec<String> = parameters
            .map(|p| {
                format!(
                    "{} {}",
                    p["type"].as_str().unwrap(),
                    p["name"].as_str().unwrap()
                )
            })
            .collect();
        let parameters = match parameters.is_empty() {
            true => "void".into(),
            false => parameters.join(", "),
        };
        let (returns, name) = (&function["returns"], &function["name"]);
        let (returns, name) = (returns.as_str().unwrap(), name.as_str().unwrap());
        code += &format!("{returns} {name}({parameters}) {{ abort(); }}\n");
    }
    std::fs::write(folder.join("stubs.c"), code).unwrap();
    // In that folder: names of files get into the debug information.
    let map = root().join("include/mlxrocm.map");
    succeed(
        command("gcc", &["-std=c11", "-g", "-O0", "-w", "-shared", "-fPIC"])
            .arg(format!("-Wl,--version-script={}", map.display()))
            .args([
                "-Wl,-soname,libmlxrocm.so.0",
                "-o",
                "libmlxrocm.so",
                "stubs.c",
            ])
            .current_dir(&folder),
    );
    succeed(
        command(
            "abidw",
            &["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs"],
        )
        .args(["--out-file", "abi.xml", "libmlxrocm.so"])
        .current_dir(&folder),
    );
    folder.join("abi.xml")
}

/// abidiff's exit status and report.
fn difference(old: &Path, new: &Path) -> (i32, String) {
    let mut abidiff = command("abidiff", &["--no-show-locs"]);
    let output = finish(abidiff.args([old, new]), "", Duration::from_secs(60));
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.code().expect("an exit status"), said)
}

fn header() -> String {
    std::fs::read_to_string(root().join("include/mlxrocm.h")).unwrap()
}

#[test]
fn the_interface_is_that_of_the_baseline() {
    let made = describe(&header(), "current");
    let baseline = root().join("tests/golden/abi.xml");
    if std::env::var("MLXROCM_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::copy(&made, &baseline).unwrap();
    }
    let (status, report) = difference(&baseline, &made);
    assert_eq!(
        status, 0,
        "the interface is not that of tests/golden/abi.xml (docs/abi.md says what may change; \
         MLXROCM_BLESS=1 cargo test --test abi_types writes it again):\n{report}"
    );
}

/// The comparison sees what it is for.
#[test]
fn changes_are_found() {
    let header = header();
    let old = describe(&header, "old");
    let changed = |name: &str, from: &str, to: &str| {
        assert_eq!(header.matches(from).count(), 1, "{from}");
        difference(&old, &describe(&header.replace(from, to), name))
    };
    // A function less breaks programs.
    let (status, report) = changed(
        "less",
        "uint32_t mlxrocm_version(void);",
        "uint32_t other(void);",
    );
    assert_eq!(status, CHANGED | BROKEN, "{report}");
    // So does a field's type, at the same size.
    let (status, report) = changed("field", "  float top_p;", "  uint32_t top_p;");
    assert_eq!(status & CHANGED, CHANGED, "{report}");
    assert!(report.contains("top_p"), "{report}");
    // And an order of parameters that the symbols do not show.
    let (status, report) = changed(
        "parameter",
        "mlxrocm_status mlxrocm_device_open(size_t index,",
        "mlxrocm_status mlxrocm_device_open(uint32_t index,",
    );
    assert_eq!(status & CHANGED, CHANGED, "{report}");
    assert!(report.contains("mlxrocm_device_open"), "{report}");
}
