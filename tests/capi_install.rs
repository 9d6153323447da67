//! `make install` and `make uninstall`: what a distribution packages. Programs are built with the
//! installed files only, as pkg-config and CMake say, also after the tree was moved.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu_env.rs"]
mod gpu_env;
#[path = "support/random_model.rs"]
mod random_model;

use cc::{command, finish, library, root, scratch, stdout, succeed};
use mlxrocm::formats::Format;
use random_model::{Spec, Storage};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// `make` with this build's library, without what a `make test` around this set.
fn make(target: &str, variables: &[&str]) -> Command {
    let mut make = command("make", &["-s", "-C", root().to_str().unwrap(), target]);
    make.arg(format!("RELEASE={}", release().display()))
        .args(variables);
    for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CARGO_BUILD_TARGET"] {
        make.env_remove(name);
    }
    // Nothing is built here.
    make.env("CARGO", "false");
    make
}

/// A folder with this build's libraries, as `make` leaves them in `target/release`.
fn release() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch().join("release");
        link_release(&folder);
        let mut script = command("sh", &["build/static_library.sh"]);
        script
            .arg(folder.join("libmlxrocm.a"))
            .arg(folder.join("static/libmlxrocm.a"));
        succeed(script.current_dir(root()));
        build_command(&folder);
        folder
    })
}

/// Builds the command beside the library as `make` does.
fn build_command(folder: &Path) {
    let program = folder.join("mlxrocm");
    let mut make = command("make", &["-s", "-C", root().to_str().unwrap()]);
    make.arg(format!("RELEASE={}", folder.display()))
        .arg(&program);
    for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CARGO_BUILD_TARGET"] {
        make.env_remove(name);
    }
    // The library is there already.
    succeed(make.env("CARGO", "true"));
    std::fs::remove_file(folder.join("libmlxrocm.stamp")).unwrap();
}

fn link_release(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder.join("static")).unwrap();
    for name in ["libmlxrocm.so", "libmlxrocm.a"] {
        std::fs::hard_link(library().with_file_name(name), folder.join(name)).unwrap();
    }
}

/// Runs `make install` into an empty folder.
fn install(name: &str, variables: &[&str]) -> PathBuf {
    let stage = scratch().join(name);
    let _ = std::fs::remove_dir_all(&stage);
    succeed(make("install", variables).arg(format!("DESTDIR={}", stage.display())));
    stage
}

/// What pkg-config says of the installed library. The folders of the .pc file are looked up below
/// `sysroot`, as for a cross compiler, unless that is empty.
fn pkg_config(pc: &Path, sysroot: &Path, arguments: &[&str]) -> Vec<String> {
    let mut pkg_config = command("pkg-config", arguments);
    pkg_config
        .arg("mlxrocm")
        .env("PKG_CONFIG_LIBDIR", pc.parent().unwrap());
    for name in ["PKG_CONFIG_PATH", "PKG_CONFIG_SYSROOT_DIR"] {
        pkg_config.env_remove(name);
    }
    if sysroot != Path::new("") {
        pkg_config.env("PKG_CONFIG_SYSROOT_DIR", sysroot);
    }
    let said = stdout(&succeed(&mut pkg_config));
    said.split_whitespace().map(str::to_string).collect()
}

/// Builds an example and returns it.
fn build(example: &str, name: &str, flags: &[String]) -> PathBuf {
    let program = scratch().join(name);
    succeed(
        Command::new("gcc")
            .arg(root().join(format!("c_examples/{example}.c")))
            .args(["-std=c11", "-o"])
            .arg(&program)
            .args(flags),
    );
    program
}

/// Builds 01_version with `flags` and runs it.
fn build_and_run(name: &str, flags: &[String], libdir: &Path) {
    let program = build("01_version", &format!("01_version_{name}"), flags);
    let mut run = command(&program, &[]);
    let said = stdout(&succeed(run.env("LD_LIBRARY_PATH", libdir)));
    assert!(
        said.starts_with(&format!("library {}", env!("CARGO_PKG_VERSION"))),
        "{said}"
    );
}

const TEXTS: [&str; 3] = [
    "pkgconfig/mlxrocm.pc",
    "cmake/mlxrocm/mlxrocm-config.cmake",
    "cmake/mlxrocm/mlxrocm-config-version.cmake",
];

fn check(name: &str, stage: &Path, libdir: &str, includedir: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let (lib, include) = (stage.join(libdir), stage.join(includedir));
    for name in [
        "mlxrocm.h",
        "mlxrocm.hpp",
        "mlxrocm_array.hpp",
        "mlxrocm_operations.hpp",
    ] {
        let (installed, own) = (include.join(name), root().join("include").join(name));
        assert_eq!(
            std::fs::read(installed).unwrap(),
            std::fs::read(own).unwrap()
        );
    }
    let link = |name: &str| std::fs::read_link(lib.join(name)).unwrap();
    assert!(lib.join(format!("libmlxrocm.so.{version}")).is_file());
    assert_eq!(
        link("libmlxrocm.so.0"),
        Path::new(&format!("libmlxrocm.so.{version}"))
    );
    assert_eq!(link("libmlxrocm.so"), Path::new("libmlxrocm.so.0"));
    for name in TEXTS {
        let text = std::fs::read_to_string(lib.join(name)).unwrap();
        assert!(
            !text.contains(stage.to_str().unwrap()) && !text.contains('@'),
            "{text}"
        );
    }
    let pc = lib.join(TEXTS[0]);
    assert_eq!(pkg_config(&pc, stage, &["--modversion"]), [version]);
    let flags = [
        format!("-I{}", include.display()),
        format!("-L{}", lib.display()),
        "-lmlxrocm".into(),
    ];
    build_and_run(name, &flags, &lib);
}

#[test]
fn installed_files_are_enough_and_may_be_moved() {
    let stage = install("default", &[]);
    let lib = stage.join("usr/local/lib");
    check("default", &stage, "usr/local/lib", "usr/local/include");
    let all = ["--cflags", "--libs"];
    assert_eq!(
        pkg_config(&lib.join(TEXTS[0]), Path::new(""), &all),
        ["-I/usr/local/include", "-L/usr/local/lib", "-lmlxrocm"]
    );
    // In a sysroot.
    let flags = pkg_config(&lib.join(TEXTS[0]), &stage, &all);
    let stage = stage.display();
    assert_eq!(
        flags,
        [
            format!("-I{stage}/usr/local/include"),
            format!("-L{stage}/usr/local/lib"),
            "-lmlxrocm".into()
        ]
    );
    build_and_run("sysroot", &flags, &lib);
    let moved = scratch().join("moved");
    let _ = std::fs::remove_dir_all(&moved);
    std::fs::rename(lib.parent().unwrap(), &moved).unwrap();
    let all = ["--define-prefix", "--cflags", "--libs"];
    let flags = pkg_config(&moved.join("lib").join(TEXTS[0]), Path::new(""), &all);
    assert_eq!(flags[0], format!("-I{}/include", moved.display()));
    build_and_run("moved", &flags, &moved.join("lib"));
}

#[test]
fn distributions_choose_the_folders() {
    let libdir = "usr/lib/x86_64-linux-gnu";
    let stage = install("debian", &["PREFIX=/usr", &format!("LIBDIR=/{libdir}")]);
    check("debian", &stage, libdir, "usr/include");
    // What the compiler knows by itself is not said again.
    let pc = stage.join(libdir).join(TEXTS[0]);
    let said = pkg_config(&pc, Path::new(""), &["--cflags", "--libs"]);
    assert_eq!(said, ["-lmlxrocm"]);
}

/// Builds for a target that is named: cargo puts the library into a folder of that name.
#[test]
fn a_target_may_be_named() {
    let folder = scratch().join("targets");
    let named = folder.join("some-target/release");
    link_release(&named);
    for name in ["static/libmlxrocm.a", "mlxrocm"] {
        std::fs::hard_link(release().join(name), named.join(name)).unwrap();
    }
    let stage = scratch().join("named");
    let _ = std::fs::remove_dir_all(&stage);
    // No RELEASE: the Makefile must find the folder by itself.
    let mut make = command("make", &["-s", "-C", root().to_str().unwrap(), "install"]);
    make.arg(format!("DESTDIR={}", stage.display()))
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_BUILD_TARGET", "some-target")
        .env("CARGO", "false");
    for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        make.env_remove(name);
    }
    succeed(&mut make);
    check("named", &stage, "usr/local/lib", "usr/local/include");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

#[test]
fn what_was_installed_can_be_removed() {
    let stage = install("removed", &["LIBDIR=/usr/lib64"]);
    assert!(files(&stage).len() >= 18, "{:?}", files(&stage));
    let other = stage.join("usr/local/include/other.h");
    std::fs::write(&other, "").unwrap();
    let destination = format!("DESTDIR={}", stage.display());
    succeed(make("uninstall", &["LIBDIR=/usr/lib64"]).arg(&destination));
    assert_eq!(files(&stage), [other]);
    // Once more is no error.
    succeed(make("uninstall", &["LIBDIR=/usr/lib64"]).arg(&destination));
}

/// `make install` must be refused, and nothing installed.
fn refused(name: &str, variables: &[&str], why: &str) {
    let stage = scratch().join(name);
    let _ = std::fs::remove_dir_all(&stage);
    let mut make = make("install", variables);
    make.arg(format!("DESTDIR={}", stage.display()));
    let output = finish(&mut make, "", Duration::from_secs(60));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(why), "{said}");
    assert!(said.contains("run make first"), "{said}");
    assert!(files(&stage).is_empty(), "{:?}", files(&stage));
}

#[test]
fn a_library_of_other_sources_is_not_installed() {
    refused("version", &["VERSION=9.9.9"], "it is not of version 9.9.9");
    let old = scratch().join("old");
    let _ = std::fs::remove_dir_all(&old);
    std::fs::create_dir_all(old.join("static")).unwrap();
    let age = |name: &str| {
        let file = std::fs::File::options().append(true).open(old.join(name));
        let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.unwrap().set_modified(long_ago).unwrap();
    };
    let libraries = ["libmlxrocm.so", "libmlxrocm.a", "static/libmlxrocm.a"];
    for name in libraries.into_iter().chain(["mlxrocm"]) {
        std::fs::copy(release().join(name), old.join(name)).unwrap();
    }
    libraries.into_iter().for_each(age);
    let release = format!("RELEASE={}", old.display());
    refused("stale", &[&release], "is newer");
    // But cargo may have found that nothing had to be built: then make says so.
    std::fs::write(old.join("libmlxrocm.stamp"), "").unwrap();
    install("stamped", &[&release]);
    age("mlxrocm");
    refused("stale_command", &[&release], "is newer");
}

/// The command as installed: it finds the library beside it in the tree, wherever that is, and is
/// built as distributions want it.
#[test]
fn the_command_is_installed() {
    let stage = install("command", &["PREFIX=/opt/mlxrocm"]);
    let opt = stage.join("opt/mlxrocm");
    let own = |path: &str| std::fs::read(root().join("command").join(path)).unwrap();
    for (installed, source) in [
        ("share/man/man1/mlxrocm.1", "mlxrocm.1"),
        (
            "share/bash-completion/completions/mlxrocm",
            "completions/bash",
        ),
        ("share/zsh/site-functions/_mlxrocm", "completions/zsh"),
        (
            "share/fish/vendor_completions.d/mlxrocm.fish",
            "completions/fish",
        ),
    ] {
        assert_eq!(std::fs::read(opt.join(installed)).unwrap(), own(source));
    }
    let overview = std::fs::read(opt.join("share/man/man7/mlxrocm.7")).unwrap();
    assert_eq!(
        overview,
        std::fs::read(root().join("docs/mlxrocm.7")).unwrap()
    );
    let program = opt.join("bin/mlxrocm");
    let version = env!("CARGO_PKG_VERSION");
    let mut run = command(&program, &["--version"]);
    let said = stdout(&succeed(run.env_remove("LD_LIBRARY_PATH")));
    let first = format!("mlxrocm {version} (library {version})\n");
    assert!(said.starts_with(&first), "{said}");
    let elf = stdout(&succeed(command("readelf", &["-hldW"]).arg(&program)));
    for needed in ["DYN (", "GNU_RELRO", "BIND_NOW", "[$ORIGIN:$ORIGIN/../lib]"] {
        assert!(elf.contains(needed), "no {needed}: {elf}");
    }
    if cfg!(target_arch = "x86_64") {
        has_control_flow_protection(&program);
    }
    let bytes = std::fs::read(&program).unwrap();
    let folders = [root().to_path_buf(), release().to_path_buf()];
    for folder in folders.iter().map(|folder| folder.to_str().unwrap()) {
        let found = bytes
            .windows(folder.len())
            .any(|part| part == folder.as_bytes());
        assert!(!found, "{folder} is in the program");
    }
}

/// The program's functions begin with `endbr64`. The linker marks a program (IBT, SHSTK) only where all its parts are
/// so, also the C library's start: Debian's is not, Ubuntu's is.
fn has_control_flow_protection(program: &Path) {
    let code = stdout(&succeed(command("objdump", &["-d"]).arg(program)));
    let marks = code.matches("endbr64").count();
    // The compiler's own start has two or three.
    assert!(marks > 20, "{marks} endbr64 in {}", program.display());
    let is_marked = |file: &Path| {
        let notes = stdout(&succeed(command("readelf", &["-nW"]).arg(file)));
        notes.contains("IBT") && notes.contains("SHSTK")
    };
    let start = stdout(&succeed(&mut command("gcc", &["-print-file-name=Scrt1.o"])));
    if is_marked(Path::new(start.trim())) {
        assert!(is_marked(program), "{} is not marked", program.display());
    }
}

#[test]
fn what_remains_to_be_done_is_said() {
    let prefix = scratch().join("prefix");
    let variable = format!("PREFIX={}", prefix.display());
    let said = stdout(&succeed(&mut make("install", &[&variable])));
    assert!(
        said.contains("ldconfig") && said.contains("LD_LIBRARY_PATH"),
        "{said}"
    );
    succeed(&mut make("uninstall", &[&variable]));
    let stage = format!("DESTDIR={}", scratch().join("silent").display());
    let said = stdout(&succeed(&mut make("install", &[&stage])));
    assert!(!said.contains("ldconfig"), "{said}");
}

#[test]
fn cmake_finds_it() {
    let stage = install(
        "cmake",
        &["PREFIX=/opt/mlxrocm", "LIBDIR=/opt/mlxrocm/lib/there"],
    );
    let source = scratch().join("cmake_source");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(
        source.join("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.16)\nproject(program C)\n\
         find_package(mlxrocm ${WANTED} CONFIG REQUIRED)\n\
         foreach(kind mlxrocm static)\n  \
           add_executable(with_${kind} ${EXAMPLE})\n  \
           target_link_libraries(with_${kind} PRIVATE mlxrocm::${kind})\nendforeach()\n",
    )
    .unwrap();
    let example = root().join("c_examples/01_version.c");
    // The whole tree may be moved.
    let moved = scratch().join("cmake_moved");
    let _ = std::fs::remove_dir_all(&moved);
    std::fs::rename(stage.join("opt/mlxrocm"), &moved).unwrap();
    let configure = |build: &Path, wanted: &str| {
        let _ = std::fs::remove_dir_all(build);
        let mut cmake = command("cmake", &["-S", source.to_str().unwrap(), "-B"]);
        cmake
            .arg(build)
            .arg(format!("-DEXAMPLE={}", example.display()))
            .arg(format!("-DWANTED={wanted}"))
            .arg(format!(
                "-Dmlxrocm_DIR={}/lib/there/cmake/mlxrocm",
                moved.display()
            ));
        cmake
    };
    let build = scratch().join("cmake_build");
    succeed(&mut configure(&build, env!("CARGO_PKG_VERSION")));
    succeed(&mut command("cmake", &["--build", build.to_str().unwrap()]));
    for program in ["with_mlxrocm", "with_static"] {
        let said = stdout(&succeed(&mut command(build.join(program), &[])));
        assert!(said.starts_with("library "), "{said}");
    }
    let build = scratch().join("cmake_too_new");
    for wanted in ["0.99", "1.0"] {
        let output = finish(&mut configure(&build, wanted), "", Duration::from_secs(60));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{wanted}");
        assert!(said.contains("compatible with requested version"), "{said}");
    }
}

/// Functions of the program that the library's own parts have too.
const COLLIDING: &str = "
#include <mlxrocm.h>
#include <stdio.h>
int ZSTD_decompress(void), ZSTD_isError(void), rust_eh_personality(void);
int ZSTD_decompress(void) { return 1; }
int ZSTD_isError(void) { return 2; }
int rust_eh_personality(void) { return 4; }
int main(void) {
    printf(\"%s %d\\n\", mlxrocm_version_string(0), ZSTD_decompress() + ZSTD_isError() + rust_eh_personality());
    return 0;
}
";

#[test]
fn only_the_interface_is_global_in_the_static_library() {
    let stage = install("static", &["PREFIX=/opt/mlxrocm"]);
    let lib = stage.join("opt/mlxrocm/lib");
    let archive = lib.join("libmlxrocm.a");
    let names = stdout(&succeed(&mut command(
        "nm",
        &["-g", "--defined-only", archive.to_str().unwrap()],
    )));
    let mut names: Vec<&str> = names
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    names.sort_unstable();
    let exported = stdout(&succeed(&mut command(
        "nm",
        &["-D", "--defined-only", library().to_str().unwrap()],
    )));
    let mut exported: Vec<&str> = exported
        .lines()
        .filter_map(|line| line.split_once(" T ").map(|(_, name)| name))
        .map(|name| name.split('@').next().unwrap())
        .collect();
    exported.sort_unstable();
    assert_eq!(names, exported);
    // Into a program with functions of the same names, and into a library without version nodes.
    let source = scratch().join("colliding.c");
    std::fs::write(&source, COLLIDING).unwrap();
    for (name, kind) in [("colliding", "-pie"), ("colliding.so", "-shared")] {
        let program = scratch().join(name);
        succeed(
            Command::new("gcc")
                .args(["-std=c11", "-fPIC", kind, "-Wl,-z,defs", "-I"])
                .arg(stage.join("opt/mlxrocm/include"))
                .arg(&source)
                .arg("-o")
                .arg(&program)
                .arg(&archive)
                .args(["-lpthread", "-lm", "-ldl"]),
        );
        if kind == "-pie" {
            let said = stdout(&succeed(&mut command(&program, &[])));
            assert_eq!(said.trim(), format!("{} 7", env!("CARGO_PKG_VERSION")));
        }
    }
}

/// `cc -static`: a program that needs nothing of the system, on the CPU.
#[test]
fn a_program_may_be_static() {
    let stage = install("fully_static", &[]);
    let pc = stage.join("usr/local/lib").join(TEXTS[0]);
    let mut flags = pkg_config(&pc, &stage, &["--static", "--cflags", "--libs"]);
    flags.push("-static".into());
    let program = build("03_generate", "static_03_generate", &flags);
    let segments = stdout(&succeed(command("readelf", &["-lW"]).arg(&program)));
    assert!(!segments.contains("INTERP"), "{segments}");
    let mut spec = Spec::new("static.gguf", "llama", Storage::Gguf(3, Format::Q8_0));
    spec.tied = true;
    let model = spec.write(scratch());
    let mut run = command(&program, &[model.to_str().unwrap(), "Once"]);
    let dynamic = build_dynamic(&stage);
    let lib = stage.join("usr/local/lib");
    let mut reference = command(dynamic, &[model.to_str().unwrap(), "Once"]);
    let expected = succeed(gpu_env::none(&mut reference).env("LD_LIBRARY_PATH", lib));
    assert!(!expected.stdout.is_empty());
    assert_eq!(succeed(gpu_env::none(&mut run)).stdout, expected.stdout);
}

/// What a statically linked program opens crashes: it must not try. One that is linked with the
/// static library alone has its GPU.
#[test]
fn a_static_program_opens_no_driver() {
    let stage = install("no_driver", &[]);
    let pc = stage.join("usr/local/lib").join(TEXTS[0]);
    let flags = pkg_config(&pc, &stage, &["--static", "--cflags", "--libs"]);
    let run = |name: &str, flags: &[String]| {
        let program = build("07_device_info", &format!("{name}_07_device_info"), flags);
        let mut run = command(&program, &[]);
        let run = gpu_env::software(&mut run, "devices=gfx1151;integrated=0");
        let output = finish(run, "", Duration::from_secs(60));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let fully: Vec<String> = flags.iter().cloned().chain(["-static".into()]).collect();
    let (status, said) = run("static", &fully);
    assert_eq!(status, Some(77), "{said}");
    assert!(said.contains("linked statically"), "{said}");
    let archive: Vec<String> = flags
        .iter()
        .map(|flag| flag.replace("-lmlxrocm", "-l:libmlxrocm.a"))
        .collect();
    let (status, said) = run("archive", &archive);
    assert_eq!(status, Some(0), "{said}");
}

fn build_dynamic(stage: &Path) -> PathBuf {
    let pc = stage.join("usr/local/lib").join(TEXTS[0]);
    let flags = pkg_config(&pc, stage, &["--cflags", "--libs"]);
    build("03_generate", "dynamic_03_generate", &flags)
}
