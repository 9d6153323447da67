//! The cases.

use crate::world::{World, finish, text};
use std::fs;
use std::path::Path;

/// "compiled" or "cached", and the fingerprint of the code.
#[track_caller]
fn code_of(said: &str) -> (&str, &str) {
    said.lines()
        .next()
        .and_then(|line| line.split_once(' '))
        .unwrap_or_else(|| panic!("{said}"))
}

pub fn compiled_once(world: &World) {
    let first = world.run("application gfx1100", &[]);
    let second = world.run("application gfx1100", &[]);
    assert_eq!(code_of(&first).0, "compiled", "{first}");
    assert_eq!(code_of(&second), ("cached", code_of(&first).1));
    assert_eq!(world.entries().len(), 1);
    // Other options, another target: other code.
    let other = world.run("offset2 gfx1100", &[]);
    assert_eq!(code_of(&other).0, "compiled");
    assert_ne!(code_of(&other).1, code_of(&first).1);
    assert_eq!(code_of(&world.run("application gfx942", &[])).0, "compiled");
    assert_eq!(world.entries().len(), 3);
    // The folder is the user's alone.
    use std::os::unix::fs::MetadataExt;
    for folder in [world.cache(), world.path("cache/mlxrocm")] {
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }
}

pub fn damaged_entry(world: &World) {
    world.run("application gfx1100", &[]);
    let [entry] = &world.entries()[..] else {
        panic!("one entry")
    };
    let good = fs::read(entry).unwrap();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 0x40;
    for bad in [
        flipped,
        good[..good.len() / 2].to_vec(),
        Vec::new(),
        b"\x7fELF garbage".to_vec(),
    ] {
        fs::write(entry, bad).unwrap();
        let again = world.run("application gfx1100", &[]);
        assert_eq!(code_of(&again).0, "compiled");
        assert!(again.contains("log Warn kernel cache"), "{again}");
        let (how, kept) = code_of(&again);
        assert_eq!(world.entries(), std::slice::from_ref(entry));
        let last = world.run("application gfx1100", &[]);
        assert_eq!((how, code_of(&last)), ("compiled", ("cached", kept)));
    }
}

pub fn wrong_target(world: &World) {
    world.run("application gfx1100", &[]);
    let before = world.entries();
    world.run("application gfx942", &[]);
    let other: Vec<_> = world
        .entries()
        .into_iter()
        .filter(|path| !before.contains(path))
        .collect();
    fs::copy(&other[0], &before[0]).unwrap();
    let again = world.run("application gfx1100", &[]);
    assert_eq!(code_of(&again).0, "compiled");
    assert!(again.contains("mentions true"), "{again}");
}

pub fn no_cache(world: &World) {
    // A file in the way and a folder that nobody can make are refused to root too.
    fs::write(world.path("file"), "").unwrap();
    let in_the_way = world.path("file");
    for place in [text(&in_the_way), "/proc/none", ""] {
        for _ in 0..2 {
            let said = world.run(
                "application gfx1100",
                &[("XDG_CACHE_HOME", place), ("HOME", place)],
            );
            assert_eq!(code_of(&said).0, "compiled", "{place}: {said}");
            assert!(said.contains("mentions true"), "{said}");
        }
    }
    // One that others may write to is left alone.
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir_all(world.cache()).unwrap();
    fs::set_permissions(world.cache(), fs::Permissions::from_mode(0o777)).unwrap();
    let said = world.run("application gfx1100", &[]);
    assert!(
        code_of(&said).0 == "compiled" && said.contains("is not used"),
        "{said}"
    );
    assert!(world.entries().is_empty());
}

pub fn many_processes(world: &World) {
    let children: Vec<_> = (0..6)
        .map(|_| world.start("built-in gfx1010", &[]))
        .collect();
    let said: Vec<String> = children
        .into_iter()
        .map(|child| finish(child, "built-in gfx1010"))
        .collect();
    for said in said {
        assert_eq!(
            said.lines()
                .filter(|line| line.starts_with("code ") && line.ends_with("true true"))
                .count(),
            3,
            "{said}"
        );
    }
    // Whole entries and nothing else; two sources.
    let entries = world.entries();
    assert_eq!(entries.len(), 2, "{entries:?}");
    assert!(
        entries
            .iter()
            .all(|path| path.extension().is_some_and(|extension| extension == "bin"))
    );
    let after = world.run("built-in gfx1010", &[("SOFTGPU_CLANG", "/nonexistent")]);
    assert_eq!(
        after.matches("true true").count(),
        3,
        "all from the cache: {after}"
    );
}

pub fn unlisted_target(world: &World) {
    // No build of this library lists it, and no generic target of the list covers it.
    let said = world.run("built-in gfx1010", &[]);
    assert_eq!(said.matches("true true").count(), 3, "{said}");
    let warnings: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("log Warn"))
        .collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(
        warnings[0].contains("gfx1010") && warnings[0].contains("run time"),
        "{said}"
    );
}

pub fn refused_generic(world: &World) {
    let said = world.run("refuse gfx1034", &[]);
    let generic = mlxrocm::gpu::kernels::built_in()
        .unwrap()
        .iter()
        .any(|object| object.target == "gfx10-3-generic");
    let offered = if generic {
        r#"["generic", "exact"]"#
    } else {
        r#"["exact"]"#
    };
    assert_eq!(said.trim(), format!("{offered} Ok(true)"));
}

pub fn unknown_target(world: &World) {
    let said = world.run("built-in gfx9999", &[]);
    assert_eq!(said.matches("error ").count(), 3, "{said}");
    assert!(said.contains("gfx9999"), "{said}");
    assert!(world.entries().is_empty());
}

/// A hiprtc that behaves as ROCm 5.2's does when it does not know a target.
const ABORTING: &str = r#"
#include <stdlib.h>
#include <string.h>
typedef void *program;
int hiprtcCreateProgram(program *p, const char *s, const char *n, int c, const char **h, const char **i) {
    (void)s, (void)n, (void)c, (void)h, (void)i; *p = malloc(1); return 0; }
int hiprtcCompileProgram(program p, int count, const char **options) {
    (void)p;
    for (int i = 0; i < count; i++) if (strstr(options[i], "gfx1030")) return 0;
    abort(); }
static const char code[] = "\x7f" "ELF gfx1030";
int hiprtcGetCodeSize(program p, size_t *n) { (void)p; *n = sizeof code; return 0; }
int hiprtcGetCode(program p, char *to) { (void)p; memcpy(to, code, sizeof code); return 0; }
int hiprtcGetProgramLogSize(program p, size_t *n) { (void)p; *n = 1; return 0; }
int hiprtcGetProgramLog(program p, char *to) { (void)p; *to = 0; return 0; }
int hiprtcDestroyProgram(program *p) { free(*p); *p = 0; return 0; }
int hiprtcVersion(int *a, int *b) { *a = 9; *b = 0; return 0; }
const char *hiprtcGetErrorString(int code) { (void)code; return "error"; }
"#;

pub fn aborting_compiler(world: &World) {
    let library = world.library("libhiprtc-aborts.so", ABORTING);
    let named = ("MLXROCM_HIPRTC_LIBRARY", text(&library));
    let known = world.run("application gfx1030", &[named]);
    assert_eq!(code_of(&known).0, "compiled", "{known}");
    let unknown = world.run("application gfx1100", &[named]);
    assert!(unknown.starts_with("error -7 "), "{unknown}");
    assert!(
        unknown.contains("gfx1100") && unknown.contains("MLXROCM_CLANG"),
        "{unknown}"
    );
    // With a clang at hand it works all the same.
    let helped = world.run(
        "application gfx1100",
        &[named, ("MLXROCM_CLANG", "clang++-19")],
    );
    assert_eq!(code_of(&helped).0, "compiled", "{helped}");
    assert!(helped.contains("mentions true"), "{helped}");
    let built_in = world.run(
        "built-in gfx1010",
        &[named, ("MLXROCM_CLANG", "clang++-19")],
    );
    assert_eq!(built_in.matches("true true").count(), 3, "{built_in}");
}

/// ROCm's compiler library with a list of one target; a hiprtc that is linked with it.
const COMGR: &str = r#"
#include <stddef.h>
int amd_comgr_get_isa_count(size_t *n) { *n = 1; return 0; }
int amd_comgr_get_isa_name(size_t i, const char **name) { *name = "amdgcn-amd-amdhsa--gfx90a"; return i != 0; }
"#;

pub fn comgr_list(world: &World) {
    let comgr = world.library("libamd_comgr.so.2", COMGR);
    let library = world.library("libhiprtc-aborts.so", ABORTING);
    // In the process before hiprtc is asked, as if hiprtc needed it.
    let variables = [
        ("MLXROCM_HIPRTC_LIBRARY", text(&library)),
        ("LD_PRELOAD", text(&comgr)),
    ];
    let said = world.run("application gfx1030", &variables);
    assert!(
        said.starts_with("error -7 ") && said.contains("does not know gfx1030"),
        "{said}"
    );
}

pub fn log_in_error(world: &World) {
    for (arch, variables) in [
        ("gfx1100", &[][..]),
        (
            "gfx1100",
            &[
                ("MLXROCM_HIPRTC_LIBRARY", "/nonexistent"),
                ("MLXROCM_CLANG", "clang++-19"),
            ][..],
        ),
    ] {
        let said = world.run(&format!("wrong {arch}"), variables);
        assert!(
            said.starts_with("error -1 mine.hip does not compile for gfx1100"),
            "{said}"
        );
        assert!(said.contains("a type specifier is required"), "{said}");
    }
    // The clang path keeps the application's own line numbers.
    let variables = [
        ("MLXROCM_HIPRTC_LIBRARY", "/nonexistent"),
        ("MLXROCM_CLANG", "clang++-19"),
    ];
    assert!(
        world
            .run("wrong gfx1100", &variables)
            .contains("mine.hip:2:")
    );
    assert!(world.entries().is_empty());
}

pub fn clang_for_nvidia(world: &World) {
    let variables = [
        ("MLXROCM_NVRTC_LIBRARY", "/nonexistent"),
        ("MLXROCM_CLANG", "clang++-19"),
    ];
    let said = world.run("application sm_75", &variables);
    assert_eq!(code_of(&said).0, "compiled", "{said}");
    assert!(said.contains("mentions true"), "{said}");
    assert_eq!(
        code_of(&world.run("application sm_75", &variables)).0,
        "cached"
    );
    let said = world.run("built-in sm_75", &variables);
    assert_eq!(said.matches("true true").count(), 3, "{said}");
}

pub fn no_compiler(world: &World) {
    let absent = Path::new("/nonexistent/libhiprtc.so");
    let said = world.run(
        "built-in gfx1010",
        &[("MLXROCM_HIPRTC_LIBRARY", text(absent))],
    );
    assert_eq!(said.matches("error -7 ").count(), 3, "{said}");
    assert!(
        said.contains("MLXROCM_CLANG") && said.contains(text(absent)),
        "{said}"
    );
    let said = world.run("built-in sm_75", &[("MLXROCM_NVRTC_LIBRARY", text(absent))]);
    assert!(
        said.contains("error -7 ") && said.contains("nvrtc"),
        "{said}"
    );
    let said = world.run(
        "built-in gfx1010",
        &[
            ("MLXROCM_HIPRTC_LIBRARY", text(absent)),
            ("MLXROCM_CLANG", "/nonexistent/clang"),
        ],
    );
    assert!(
        said.contains("error -1 MLXROCM_CLANG=/nonexistent/clang"),
        "{said}"
    );
}
