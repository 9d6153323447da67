//! What the documents say: programs in them work, and what they name exists: files, tests, functions, keys.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu_env.rs"]
mod gpu_env;
#[path = "support/random_model.rs"]
mod random_model;

use cc::{C_WARNINGS, command, finish, library_folder, root, scratch, stdout, succeed};
use mlxrocm::formats::ScalarType;
use random_model::{Spec, Storage};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The README's program, compiled.
fn readme_program() -> PathBuf {
    let text = read("README.md");
    let (_, after) = text
        .split_once("```c\n#include <mlxrocm.h>")
        .expect("a program");
    let (code, _) = after.split_once("```").expect("its end");
    let source = scratch().join("readme.c");
    std::fs::write(&source, format!("#include <mlxrocm.h>{code}")).unwrap();
    let program = scratch().join("readme_program");
    let folder = library_folder();
    let mut gcc = command("gcc", &["-std=c11", "-O1"]);
    gcc.args(C_WARNINGS)
        .arg(format!("-I{}", root().join("include").display()))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg(format!("-L{}", folder.display()))
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-lmlxrocm");
    succeed(&mut gcc);
    program
}

fn answer(program: &Path, model: &Path) -> (Option<i32>, String, String) {
    let mut run = command(program, &[model.to_str().unwrap(), "Hello"]);
    let output = finish(gpu_env::none(&mut run), "", Duration::from_secs(60));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stdout(&output), said)
}

#[test]
fn the_program_of_the_readme_answers_and_reports_failures() {
    let program = readme_program();
    let spec = Spec::new("readme", "llama", Storage::Dense(ScalarType::F32));
    let model = spec.write(scratch());
    let (status, text, said) = answer(&program, &model);
    assert_eq!(status, Some(0), "{said}");
    assert!(!text.is_empty());
    // No file.
    let (status, _, said) = answer(&program, Path::new("/no/such/file"));
    assert_eq!(status, Some(1));
    assert!(said.contains("/no/such/file"), "{said}");
    // A model that loads, but whose numbers are none: the generation fails, not a call.
    let weights = model.join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for number in bytes[start..].chunks_exact_mut(4) {
        number.copy_from_slice(&f32::NAN.to_le_bytes());
    }
    std::fs::write(&weights, bytes).unwrap();
    let (status, _, said) = answer(&program, &model);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("NaN"), "{said}");
}

/// Text files of the project.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_symlink() || name.starts_with('.') || name == "target" || name == "corpus" {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if [
            ".md", ".sh", ".rs", ".toml", ".c", ".h", ".hpp", ".cpp", ".py", ".hip", ".in",
            "Makefile",
        ]
        .iter()
        .any(|end| name.ends_with(end))
        {
            found.push(path);
        }
    }
}

/// The paths from the project's folder that a text names.
fn named(text: &str) -> Vec<&str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let rooms = [
        "src/",
        "tests/",
        "docs/",
        "c_examples/",
        "include/",
        "build/",
        "hip/",
    ];
    let ends = [
        ".rs", ".sh", ".c", ".h", ".hpp", ".cpp", ".md", ".py", ".tsv", ".hip", ".toml", ".map",
        ".json",
    ];
    let mut found = Vec::new();
    for room in rooms {
        for (at, _) in text.match_indices(room) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| is_path(c) || "{}$)@<>".contains(c)) {
                continue; // a part of a longer path
            }
            let length = text[at..].find(|c| !is_path(c)).unwrap_or(text.len() - at);
            let path = text[at..at + length].trim_end_matches(['.', '/']);
            let after = text[at + length..].chars().next();
            if ends.iter().any(|end| path.ends_with(end))
                && !after.is_some_and(|c| "{*<$%".contains(c))
            {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn files_that_are_named_exist() {
    let mut all = Vec::new();
    files(root(), &mut all);
    let (mut missing, mut count) = (Vec::new(), 0);
    for file in all {
        let text = std::fs::read_to_string(&file).unwrap();
        let own = file.strip_prefix(root()).unwrap();
        if own.starts_with("tests/docs.rs") {
            continue;
        }
        // HIP's own headers are in a folder of that name.
        for path in named(&text)
            .into_iter()
            .filter(|path| !path.starts_with("hip/hip_"))
        {
            count += 1;
            // From the project's folder, or from the one of the workspace's other members.
            let bases = [
                root().to_path_buf(),
                root().join("tests/softgpu"),
                root().join("tests/fuzz"),
            ];
            let here = file.parent().unwrap().join(path);
            if !here.exists() && bases.iter().all(|base| !base.join(path).exists()) {
                missing.push(format!("{}: {path}", own.display()));
            }
        }
    }
    assert!(count > 100, "{count} paths found");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Names of several words of a text, whole: tests, functions, fields, keys of files.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./*{}$<>".contains(c);
    let is_word = |word: &str| {
        let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        !word.is_empty() && word.chars().all(is_small)
    };
    let words = text.split(move |c| !is_part(c));
    words.filter(move |name| name.contains('_') && name.split('_').all(is_word))
}

/// The test programs that cargo is asked for.
fn programs(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.split("--test ").skip(1).filter_map(move |after| {
        let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
        Some(&after[..end]).filter(|name| !name.is_empty())
    })
}

/// Names in documents are those of something: a test, function, key or file that is called otherwise now is found.
#[test]
fn names_in_documents_are_of_something() {
    // Examples: of parameters' names, of drills whose code was thrown away, an instruction of AMD's.
    let examples = ["x_length", "drill_llama", "drill_mixed", "flat_store"];
    let mut all = Vec::new();
    files(root(), &mut all);
    let is_document = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let (documents, sources): (Vec<_>, Vec<_>) = all.into_iter().partition(is_document);
    let mut known: HashSet<String> = HashSet::new();
    for source in &sources {
        let text = std::fs::read_to_string(source).unwrap();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if source != &root().join(file!()) {
            known.extend(text.split(|c| !is_part(c)).map(str::to_string));
        }
        // Those of folders too.
        let stems = source.iter().map(Path::new).filter_map(Path::file_stem);
        known.extend(stems.map(|stem| stem.to_string_lossy().into_owned()));
    }
    let (mut missing, mut count) = (Vec::new(), 0);
    for document in &documents {
        let text = std::fs::read_to_string(document).unwrap();
        let own = document.strip_prefix(root()).unwrap().display();
        for quoted in quoted(&text) {
            for name in names(quoted).filter(|name| !examples.contains(name)) {
                count += 1;
                if !known.contains(name) {
                    missing.push(format!("{own}: {name}"));
                }
            }
            let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
            let bases = [root().to_path_buf(), root().join("tests/softgpu")];
            if quoted.starts_with("tests/")
                && quoted.chars().all(is_path)
                && bases.iter().all(|base| !base.join(quoted).exists())
            {
                missing.push(format!("{own}: {quoted}"));
            }
        }
    }
    let asked = sources.iter().filter(|path| {
        let own = path.strip_prefix(root()).unwrap();
        // Node's own tests are asked for by the same word.
        let is_script = own.extension().is_some_and(|end| end == "sh") || own.ends_with("Makefile");
        is_script && !own.starts_with("bindings")
    });
    for path in documents.iter().chain(asked) {
        let text = std::fs::read_to_string(path).unwrap();
        for program in programs(&text) {
            count += 1;
            let tests = root().join("tests");
            if !tests.join(program).is_dir() && !tests.join(format!("{program}.rs")).is_file() {
                missing.push(format!("{}: --test {program}", path.display()));
            }
        }
    }
    assert!(count > 100, "{count} names found");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `make bench-cpu` writes its table into the file that has a place for it.
#[test]
fn the_benchmark_writes_where_its_table_is() {
    let script = read("tests/bench/cpu.sh");
    let (_, after) = script.split_once("--report ").expect("where it writes");
    let report = read(after.split_whitespace().next().unwrap());
    for mark in ["<!-- bench-cpu:begin -->", "<!-- bench-cpu:end -->"] {
        assert!(report.contains(mark) && read("tests/bench/cpu.py").contains(mark));
        assert!(!read("README.md").contains(mark));
    }
}

/// `make docs`: doxygen takes each function's parameters and results without a warning, and has a page for
/// every function.
#[test]
fn the_reference_has_every_function() {
    let folder = scratch().join("docs");
    let make = command("make", &["docs"])
        .current_dir(root())
        .env("CARGO_TARGET_DIR", &folder)
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .expect("make");
    let said = String::from_utf8_lossy(&make.stderr);
    assert!(make.status.success() && said.is_empty(), "{said}");
    let mut pages = String::new();
    for entry in std::fs::read_dir(folder.join("reference")).expect("the reference") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("group__") && name.ends_with(".html")) {
            pages += &std::fs::read_to_string(path).expect("a page");
        }
    }
    let description: serde_json::Value =
        serde_json::from_str(&read("include/mlxrocm.json")).expect("JSON");
    let functions = description["functions"].as_array().expect("functions");
    assert!(functions.len() > 92);
    for function in functions {
        let name = function["name"].as_str().expect("a name");
        let title = format!("</span>{name}()</h2>");
        let (_, page) = pages
            .split_once(&title)
            .unwrap_or_else(|| panic!("{name} is not in the reference"));
        let page = page
            .split("<h2 class=\"memtitle\">")
            .next()
            .expect("a part");
        let rows = page.matches("<td class=\"paramdir\">").count();
        let parameters = function["parameters"].as_array().expect("parameters");
        assert_eq!(rows, parameters.len(), "parameters of {name}");
        let returns = page.contains("<dl class=\"section return\">");
        assert_eq!(returns, function["returns"] != "void", "result of {name}");
    }
}

/// mlxrocm(7) names each environment variable that the library reads, and is a manual page without a fault.
#[test]
fn the_overview_names_the_environment() {
    let page = read("docs/mlxrocm.7");
    let constants = read("include/mlxrocm.json")
        + "\"MLXROCM_STATUS_UNKNOWN\" \"MLXROCM_TARGET\" \"MLXROCM_PROFILE\"";
    let mut seen = 0;
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            // Names alone between quotation marks; others are words of messages.
            for part in source
                .split('"')
                .filter(|part| part.starts_with("MLXROCM_"))
            {
                let is_name = part.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                if !is_name || constants.contains(&format!("\"{part}\"")) {
                    continue;
                }
                assert!(
                    page.contains(part),
                    "{part} of {} is not in mlxrocm(7)",
                    path.display()
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 8, "{seen} variables");
    let man = command("man", &["--warnings", "-l", "docs/mlxrocm.7"])
        .current_dir(root())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("man");
    let said = String::from_utf8_lossy(&man.stderr);
    assert!(man.status.success() && said.is_empty(), "{said}");
    let text = String::from_utf8_lossy(&man.stdout).into_owned();
    for section in ["Objects", "Ownership", "Errors", "Threads", "ENVIRONMENT"] {
        assert!(text.contains(section), "no {section}: {text}");
    }
}
