//! The public header: it is what the sources say, and every compiler takes it.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/expand.rs"]
mod expand;

use cc::{command, exists, root, scratch, succeed};

/// The files that C sees, in the order of the manual.
const SOURCES: &[&str] = &[
    "strings",
    "version",
    "status",
    "callback",
    "error",
    "log",
    "device_info",
    "device",
    "device_memory",
    "selftest",
    "buffer",
    "stream",
    "gpu_event",
    "module",
    "kernel",
    "launch",
    "program_info",
    "program",
    "model",
    "model_file",
    "quantize",
    "tokenizer",
    "chat_template",
    "session",
    "evaluate",
    "request",
    "event",
    "generation",
    "generation_wait",
    "state",
    "chess_net_options",
    "chess_net",
    "chess_queue",
    "array/dtype",
    "array/data",
    "array/object",
    "array/memory",
    "array/unary",
    "array/binary",
    "array/create",
    "array/reduce",
    "array/order",
    "array/shape",
    "array/lists",
    "array/places",
    "array/products",
    "array/quantized",
    "array/transforms",
    "array/layers",
    "array/linear_algebra",
    "array/random",
    "array/files",
    "array/map",
    "array/map_metadata",
    "array/kernel",
];

/// cbindgen writes every constant as a macro, which has no type: generators of bindings take the
/// statuses for unsigned numbers then. As enumerators (some are negative) they are of the type that
/// functions return.
fn statuses_as_enumerators(header: &str) -> String {
    let source = std::fs::read_to_string(root().join("src/capi/status.rs")).unwrap();
    let is_status = |block: &str| {
        let name = block.split("\n#define ").nth(1);
        let name = name.and_then(|rest| rest.split(' ').next());
        name.is_some_and(|name| source.contains(&format!("pub const {name}: mlxrocm_status = ")))
    };
    let (statuses, others): (Vec<&str>, Vec<&str>) =
        header.split("\n\n").partition(|block| is_status(block));
    assert!(statuses.len() >= 19, "{statuses:?}");
    let enumerators: Vec<String> = statuses
        .iter()
        .map(|block| {
            let (comment, macro_line) = block.split_once("\n#define ").unwrap();
            let (name, value) = macro_line.split_once(' ').unwrap();
            format!("{comment}\n{name} = {value}").replace('\n', "\n  ")
        })
        .collect();
    let typedef = "typedef int32_t mlxrocm_status;";
    let list = format!("{typedef}\nenum {{\n  {}\n}};", enumerators.join(",\n  "));
    let made = others
        .join("\n\n")
        .replace("MLXROCM_NUL UINT64_MAX", "MLXROCM_NUL SIZE_MAX");
    assert_eq!(made.matches(typedef).count(), 1);
    made.replace(typedef, &list)
}

/// A source file with the functions that its macros make.
fn source(name: &str) -> String {
    let path = root().join(format!("src/capi/{name}.rs"));
    // cbindgen knows the ends of the fixed types only.
    let source = expand::expand(&std::fs::read_to_string(path).unwrap());
    source.replace("usize = usize::MAX", "usize = u64::MAX")
}

#[test]
fn the_header_is_what_the_sources_say() {
    let config =
        cbindgen::Config::from_file(root().join("include/cbindgen.toml").to_str().unwrap());
    let mut builder = cbindgen::Builder::new().with_config(config.expect("cbindgen.toml"));
    let folder = scratch().join("header_sources");
    for name in SOURCES {
        let path = folder.join(format!("{name}.rs"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, source(name)).unwrap();
        builder = builder.with_src(path);
    }
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    let made = statuses_as_enumerators(&String::from_utf8(made).unwrap());
    let path = root().join("include/mlxrocm.h");
    if std::env::var("MLXROCM_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&path, &made).expect("write the header");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = made
        .lines()
        .zip(committed.lines())
        .position(|(made, old)| made != old);
    assert!(
        made == committed,
        "include/mlxrocm.h is not what src/capi says (first difference in line {}): \
         MLXROCM_BLESS=1 cargo test --test header rewrites it",
        line.map_or("at the end".into(), |line| (line + 1).to_string())
    );
}

#[test]
fn every_exported_function_is_declared_and_explained() {
    let header = std::fs::read_to_string(root().join("include/mlxrocm.h")).unwrap();
    let mut count = 0;
    for name in SOURCES {
        let source = source(name);
        for (before, after) in source
            .match_indices("extern \"C\" fn mlxrocm_")
            .map(|(at, _)| source.split_at(at))
        {
            let function = &after["extern \"C\" fn ".len()..after.find('(').unwrap()];
            assert!(
                header.contains(&format!("{function}(")),
                "{function} is not in the header"
            );
            let comment = before.rsplit("\n\n").next().unwrap();
            for needed in ["Since 0.1.", "hread"] {
                assert!(
                    comment.contains(needed),
                    "the comment of {function} lacks {needed:?}"
                );
            }
            let parameters = &after[after.find('(').unwrap() + 1..after.find(')').unwrap()];
            for parameter in parameters.split(',').filter_map(|p| p.split_once(':')) {
                let bullet = format!("/// - `{}`:", parameter.0.trim());
                assert!(comment.contains(&bullet), "{function}: no {bullet:?}");
            }
            count += 1;
        }
    }
    let declared = header.matches("mlxrocm_").count();
    assert!(count >= 92 && declared > count, "{count} functions found");
}

#[test]
fn the_header_compiles_alone_twice_and_in_two_files() {
    let c = [
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wstrict-prototypes",
        "-Wshadow",
        "-Wconversion",
        "-Wundef",
        "-Wcast-qual",
        "-Wmissing-prototypes",
        "-Wredundant-decls",
        "-Werror",
    ];
    let cpp = [
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wshadow",
        "-Wconversion",
        "-Wundef",
        "-Wcast-qual",
        "-Wold-style-cast",
        "-Werror",
    ];
    let include = format!("-I{}", root().join("include").display());
    let cases: &[(&str, &[&str], &str, &[&str])] = &[
        ("gcc", &["-std=c99", "-std=c11", "-std=c17"], "c", &c),
        ("clang", &["-std=c99", "-std=c11"], "c", &c),
        (
            "g++",
            &["-std=c++11", "-std=c++17", "-std=c++20"],
            "cpp",
            &cpp,
        ),
        ("clang++", &["-std=c++17"], "cpp", &cpp),
    ];
    let mut compilers = 0;
    for (compiler, standards, extension, warnings) in cases {
        if !exists(compiler) {
            assert!(
                compiler.starts_with("clang"),
                "{compiler} is needed for the tests"
            );
            continue;
        }
        compilers += 1;
        let file = |name: &str, text: &str| {
            let path = scratch().join(format!("{name}_{compiler}.{extension}"));
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_string()
        };
        let once = file(
            "once",
            "#include <mlxrocm.h>\nint one(void);\nint one(void) { return MLXROCM_OK; }\n",
        );
        let twice = file(
            "twice",
            "#include <mlxrocm.h>\n#include <mlxrocm.h>\nint one(void);\nint main(void) { return one(); }\n",
        );
        let program = scratch().join(format!("header_{compiler}"));
        // The wrapper likewise, where the standard is new enough.
        let wrapper = extension == &"cpp" && exists(compiler);
        if wrapper {
            let text = "#include <mlxrocm.hpp>\nint one();\nint two() { return mlxrocm::Device::count() ? 0 : 1; }\n";
            let first = file(
                "wrapper_once",
                &format!("{text}int one() {{ return two(); }}\n"),
            );
            let second = file(
                "wrapper_twice",
                "#include <mlxrocm.hpp>\n#include <mlxrocm.hpp>\nint one();\nint main() { return one(); }\n",
            );
            for standard in ["-std=c++17", "-std=c++20"] {
                let mut arguments = vec![standard, &include, "-c", &first, &second];
                arguments.extend(*warnings);
                succeed(command(compiler, &arguments).current_dir(scratch()));
            }
        }
        for standard in *standards {
            let mut arguments = vec![
                *standard,
                &include,
                "-o",
                program.to_str().unwrap(),
                &once,
                &twice,
            ];
            arguments.extend(*warnings);
            succeed(&mut command(compiler, &arguments));
            succeed(&mut command(&program, &[]));
        }
    }
    assert!(compilers >= 2);
}
