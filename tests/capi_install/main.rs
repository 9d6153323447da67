//! `make install` and `make uninstall`: what a distribution packages. Programs are built with the
//! installed files only, as pkg-config and CMake say, also after the tree was moved.

#[path = "../support/cc.rs"]
mod cc;
#[path = "../support/gpu_env.rs"]
mod gpu_env;
mod installed_command;
#[path = "../support/random_model.rs"]
mod random_model;
mod static_library;

use cc::{command, finish, library, root, scratch, stdout, succeed};
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
        "mlxrocm_chess.hpp",
        "mlxrocm_files.hpp",
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
fn what_was_not_built_is_not_installed() {
    let empty = scratch().join("empty");
    let _ = std::fs::remove_dir_all(&empty);
    std::fs::create_dir_all(&empty).unwrap();
    let release = format!("RELEASE={}", empty.display());
    refused("nothing", &[&release], "it was not built");
    for name in ["libmlxrocm.so", "libmlxrocm.a"] {
        std::fs::hard_link(library().with_file_name(name), empty.join(name)).unwrap();
    }
    refused("no_command", &[&release], "it was not built");
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

/// A copy of what `make` and `make install` read, with this build's libraries, and a cargo that writes down with which
/// flags it was to build the server.
fn copy_of_the_tree(tree: &Path) {
    let _ = std::fs::remove_dir_all(tree);
    std::fs::create_dir_all(tree).unwrap();
    let mut copy = command("cp", &["-rp", "--parents", "-t"]);
    copy.arg(tree).current_dir(root());
    let folders = "bindings/rust build c_examples command docs hip include server src";
    let files = "Cargo.lock Cargo.toml LICENSE-APACHE LICENSE-MIT Makefile THIRD-PARTY.md build.rs";
    succeed(copy.args(folders.split(' ')).args(files.split(' ')));
    let made = tree.join("target/release");
    std::fs::create_dir_all(made.join("static")).unwrap();
    for name in ["libmlxrocm.so", "libmlxrocm.a", "static/libmlxrocm.a"] {
        std::fs::hard_link(release().join(name), made.join(name)).unwrap();
    }
    let cargo = "case $* in *server*) ;; *) exit ;; esac\n\
                 printf %s \"$CARGO_ENCODED_RUSTFLAGS\" | tr '\\037' '\\n' >flags\n\
                 mkdir -p target/server/release && : >target/server/release/mlxrocm-serve\n";
    std::fs::write(tree.join("cargo.sh"), cargo).unwrap();
}

/// That of the sources, and that to install into.
#[test]
fn folders_may_have_blanks_in_their_names() {
    let (tree, stage) = (scratch().join("a tree"), scratch().join("a stage"));
    copy_of_the_tree(&tree);
    let destination = format!("DESTDIR={}", stage.display());
    let run = |targets: &[&str]| {
        let mut make = command(
            "make",
            &["-s", "-C", tree.to_str().unwrap(), "CARGO=sh cargo.sh"],
        );
        for name in [
            "MAKEFLAGS",
            "MAKELEVEL",
            "MFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_TARGET_DIR",
        ] {
            make.env_remove(name);
        }
        succeed(
            make.args(targets)
                .arg(&destination)
                .env("RUSTFLAGS", "-C debuginfo=0"),
        );
    };
    run(&["all", "target/release/examples-c/01_version"]);
    succeed(&mut command(
        tree.join("target/release/mlxrocm"),
        &["--version"],
    ));
    succeed(&mut command(
        tree.join("target/release/examples-c/01_version"),
        &[],
    ));
    run(&["server"]);
    let flags = std::fs::read_to_string(tree.join("flags")).unwrap();
    let remapped = format!("--remap-path-prefix={}=.", tree.display());
    let rpath = "-Clink-arg=-Wl,-rpath,$ORIGIN:$ORIGIN/../lib";
    assert_eq!(
        flags.lines().collect::<Vec<_>>(),
        ["-C", "debuginfo=0", &remapped, rpath]
    );
    let _ = std::fs::remove_dir_all(&stage);
    run(&["install"]);
    succeed(&mut command(
        stage.join("usr/local/bin/mlxrocm"),
        &["--version"],
    ));
    run(&["uninstall"]);
    assert!(files(&stage).is_empty(), "{:?}", files(&stage));
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
