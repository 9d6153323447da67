//! Notices about other people's code in a program: the table of its packages and their licence files.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compares the package's `THIRD-PARTY.md` with its `Cargo.lock`, or writes it.
pub fn check(root: &Path, name: &str, head: &str) {
    let packages = packages(root, name);
    assert!(packages.len() > 20, "{}", packages.len());
    let made = notices(&packages, head);
    let path = root.join("THIRD-PARTY.md");
    if std::env::var("MLXROCM_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&path, &made).expect("write the notices");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = made
        .lines()
        .zip(committed.lines())
        .find(|(made, old)| made != old);
    assert!(
        made == committed,
        "{} is not that of Cargo.lock (first difference: {line:?}): \
         MLXROCM_BLESS=1 cargo test --test notices rewrites it",
        path.display()
    );
    for package in &packages {
        check_licence(package);
    }
}

/// Packages of other people that are part of the package at `root`: not those of tests, build scripts and macros.
fn packages(root: &Path, name: &str) -> Vec<Value> {
    let metadata = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--locked",
            "--offline",
            "--format-version=1",
            "--filter-platform=x86_64-unknown-linux-gnu",
            "--manifest-path",
        ])
        .arg(root.join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&metadata.stderr);
    assert!(metadata.status.success(), "{said}");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        let list = list.as_array().expect("a list").iter();
        list.map(|one| (one["id"].as_str().expect("an id").to_string(), one.clone()))
            .collect()
    };
    let all = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let own = all.values().find(|package| package["name"] == name);
    let own = own.expect("the package")["id"].as_str().unwrap();
    let (mut found, mut open) = (BTreeSet::new(), vec![own.to_string()]);
    while let Some(id) = open.pop() {
        let is_macro = all[&id]["targets"]
            .as_array()
            .unwrap()
            .iter()
            .any(|target| target["kind"][0] == "proc-macro");
        if is_macro || !found.insert(id.clone()) {
            continue;
        }
        for dependency in nodes[&id]["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(dependency["pkg"].as_str().unwrap().to_string());
            }
        }
    }
    let mut packages: Vec<Value> = found.iter().map(|id| all[id].clone()).collect();
    // The project's own come from no registry.
    packages.retain(|package| !package["source"].is_null());
    packages.sort_by_key(|package| (package["name"].to_string(), package["version"].to_string()));
    packages
}

/// Licence files below a package's folder.
fn licence_files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        if path.is_dir() && depth > 0 && !["TARGET", "TESTS"].contains(&&*name) {
            files.extend(licence_files(&path, depth - 1));
        } else if path.is_file() {
            let names = ["LICENSE", "LICENCE", "NOTICE", "COPYRIGHT", "MIT.TXT"];
            if names.iter().any(|start| name.starts_with(start)) {
                files.push(path);
            }
        }
    }
    files
}

/// The files whose terms are used: those of MIT where it may be chosen.
fn texts(package: &Value) -> Vec<String> {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let files = licence_files(manifest.parent().unwrap(), 2);
    let licence = package["license"].as_str().unwrap_or_default();
    let may_be_mit = licence.contains("MIT") && !licence.contains("AND");
    let is_mit = |path: &&PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        ["MIT", "UNICODE"].iter().any(|part| name.contains(part))
            || ["NOTICE", "COPYRIGHT"]
                .iter()
                .any(|start| name.starts_with(start))
    };
    let mit: Vec<&PathBuf> = files.iter().filter(is_mit).collect();
    let chosen = match may_be_mit && !mit.is_empty() {
        true => mit,
        false => files.iter().collect(),
    };
    let read = |path: &&PathBuf| std::fs::read(path).unwrap();
    chosen
        .iter()
        .map(|path| {
            let text = String::from_utf8_lossy(&read(path)).replace("\r\n", "\n");
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            lines.join("\n").trim_matches('\n').to_string()
        })
        .collect()
}

fn notices(packages: &[Value], head: &str) -> String {
    let mut table = String::from("| package | version | licence | authors |\n|---|---|---|---|\n");
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        let (name, version) = (
            package["name"].as_str().unwrap(),
            package["version"].as_str().unwrap(),
        );
        let licence = package["license"].as_str().unwrap_or("see below");
        let authors: Vec<&str> = package["authors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|author| author.as_str().unwrap().split(" <").next().unwrap())
            .collect();
        table += &format!(
            "| {name} | {version} | {licence} | {} |\n",
            authors.join(", ")
        );
        for text in texts(package) {
            users.entry(text).or_default().push(name.to_string());
        }
    }
    let mut texts: Vec<(Vec<String>, String)> = users
        .into_iter()
        .map(|(text, mut names)| {
            names.dedup();
            (names, text)
        })
        .collect();
    texts.sort();
    let mut made = format!("{head}\n{table}");
    for (names, text) in texts {
        made += &format!("\n## {}\n\n```text\n{text}\n```\n", names.join(", "));
    }
    made
}

/// Nothing may be linked under terms that bind the programs that use it.
fn check_licence(package: &Value) {
    let licence = package["license"].as_str().unwrap_or_default();
    let permissive = [
        "MIT",
        "MIT-0",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "Unlicense",
        "CC0-1.0",
        "0BSD",
        "BSL-1.0",
    ];
    // Every part that is not an alternative, and one alternative of each.
    let fits = licence.split(" AND ").all(|part| {
        part.split([' ', '/', '(', ')'])
            .any(|name| permissive.contains(&name))
    });
    assert!(fits, "{}: {licence}", package["name"]);
    // Its terms are in the notices, or it ships none and the table says all there is.
    let mit_only = texts(package).is_empty();
    assert!(
        !mit_only || licence.contains("MIT") || licence.contains("Apache-2.0"),
        "{}",
        package["name"]
    );
}
