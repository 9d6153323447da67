//! Kernel sources: one `.hip` file and everything it includes, as a single string.
//!
//! The same string is compiled here and, for devices that have no code object, at run time, where
//! no include folder exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::arguments::is_nvidia;

/// One `.hip` file.
pub struct Source {
    /// Path below `hip/ops` without the extension: `engine/fill`.
    pub name: String,
    /// The file with its includes in place.
    pub text: String,
    /// Names of the kernels, in the order of their first mention.
    pub kernels: Vec<String>,
}

impl Source {
    /// Whether the source is compiled for a target. Those of one NVIDIA chip alone ("sm_90a") get only
    /// what asks for the chip; all else is in the objects that every later chip runs too.
    pub fn is_for(&self, target: &str) -> bool {
        let alone = target
            .strip_suffix('a')
            .filter(|_| is_nvidia(target))
            .map(|chip| chip.replace("sm_", "__CUDA_ARCH_FEAT_SM") + "_ALL");
        alone.is_none_or(|feature| self.text.contains(&feature))
    }
}

/// All `.hip` files below `root`/ops, sorted by name.
pub fn all(root: &Path) -> Result<Vec<Source>, String> {
    let mut paths = Vec::new();
    collect(&root.join("ops"), &mut paths)?;
    paths.sort();
    let mut sources = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for path in paths {
        let source = read(root, &path)?;
        for kernel in &source.kernels {
            if !names.insert(kernel.clone()) {
                return Err(format!(
                    "two sources name the kernel {kernel}; the second is {}",
                    source.name
                ));
            }
        }
        sources.push(source);
    }
    Ok(sources)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "hip") {
            paths.push(path);
        }
    }
    Ok(())
}

fn read(root: &Path, path: &Path) -> Result<Source, String> {
    let relative = path.strip_prefix(root.join("ops")).unwrap_or(path);
    let name = relative
        .with_extension("")
        .to_string_lossy()
        .replace('\\', "/");
    let mut text = String::new();
    flatten(root, path, &mut BTreeSet::new(), &mut text)?;
    let own = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let kernels = kernel_names(&own);
    if kernels.is_empty() {
        return Err(format!(
            "{name}.hip names no kernel (a name that starts with {PREFIX})"
        ));
    }
    Ok(Source {
        name,
        text,
        kernels,
    })
}

/// Appends `path` to `text`, each `#include "..."` replaced by the file, each file once.
fn flatten(
    root: &Path,
    path: &Path,
    seen: &mut BTreeSet<PathBuf>,
    text: &mut String,
) -> Result<(), String> {
    let path = normal(path);
    if !seen.insert(path.clone()) {
        return Ok(());
    }
    let shown = path
        .strip_prefix(root)
        .unwrap_or(&path)
        .to_string_lossy()
        .replace('\\', "/");
    let content =
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.push_str(&format!("#line 1 \"{shown}\"\n"));
    for (number, line) in content.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed == "#pragma once" {
            text.push('\n');
        } else if let Some(rest) = trimmed.strip_prefix("#include") {
            let included = rest
                .trim()
                .strip_prefix('"')
                .and_then(|rest| rest.split('"').next());
            let Some(included) = included else {
                return Err(format!(
                    "{shown}:{}: only files of hip/ may be included: {trimmed}",
                    number + 1
                ));
            };
            let beside = path.parent().unwrap_or(root).join(included);
            let found = if beside.is_file() {
                beside
            } else {
                root.join(included)
            };
            flatten(root, &found, seen, text)
                .map_err(|error| format!("{shown}:{}: {error}", number + 1))?;
            text.push_str(&format!("#line {} \"{shown}\"\n", number + 2));
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    Ok(())
}

/// The path without `.` and `..`, so that a file reached on two ways is one file.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            part => result.push(part),
        }
    }
    result
}

/// What every kernel's name starts with, and nothing else in a `.hip` file.
pub const PREFIX: &str = "mlxrocm_";

/// The identifiers with the kernels' prefix outside comments.
fn kernel_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let code = without_comments(text);
    for word in code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        if word.starts_with(PREFIX)
            && word.len() > PREFIX.len()
            && !names.iter().any(|name| name == word)
        {
            names.push(word.to_string());
        }
    }
    names
}

pub fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        let (before, comment) = rest.split_at(start);
        code.push_str(before);
        let end = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else if comment.starts_with("/*") {
            comment.find("*/").map_or(comment.len(), |end| end + 2)
        } else {
            1
        };
        code.push_str(if end == 1 { "/" } else { " " });
        rest = &comment[end..];
    }
    code.push_str(rest);
    code
}
