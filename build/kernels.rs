//! Compiles every kernel source for every target, as far as a compiler is there.
//!
//! `MLXROCM_GPU_TARGETS` is the list of targets (`none`: no code objects); the machine that builds
//! is never asked what it has. Objects are kept by the hash of all that decides them, so an edit of
//! one source compiles that one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::archive::{self, Object};
use crate::arguments::{arguments, is_nvidia};
use crate::compiler::Compiler;
use crate::constants;
use crate::parameters;
use crate::source::{self, Source};
use crate::variable;

/// Built when `MLXROCM_GPU_TARGETS` is unset, as far as the compiler knows them.
const TARGETS: &str = "gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 \
    gfx1200 gfx1201 gfx9-4-generic gfx10-3-generic gfx11-generic gfx12-generic sm_90 sm_90a";

/// Objects that no build used for this long are deleted.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Writes the kernel archive into the output folder.
pub fn build() -> Result<(), String> {
    for name in ["MLXROCM_CLANG", "MLXROCM_GPU_TARGETS", "ROCM_PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=hip");
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("hip");
    let out = PathBuf::from(variable("OUT_DIR"));
    let sources = source::all(&root)?;
    let text = |name: &str| sources.iter().find(|source| source.name == name);
    let module = constants::rust(|name| text(name).map(|source| source.text.as_str()))?;
    fs::write(out.join("constants.rs"), module)
        .map_err(|error| format!("{}: {error}", out.display()))?;
    fs::write(out.join("parameters.rs"), parameters::rust(&sources)?)
        .map_err(|error| format!("{}: {error}", out.display()))?;
    let (list, asked) = targets();
    let store = store(&out)?;
    let compiler = if list.is_empty() {
        Err(String::new())
    } else {
        Compiler::find(&store)
    };
    let compiler = match compiler {
        Ok(compiler) => compiler,
        Err(message) if !list.is_empty() && (asked || !variable("MLXROCM_CLANG").is_empty()) => {
            return Err(message);
        }
        Err(message) => {
            if !message.is_empty() {
                println!("cargo::warning={message}; GPU kernels will be compiled at run time");
                // A compiler that is installed later is noticed.
                println!("cargo::rerun-if-changed=/usr/bin");
            }
            return archive::write(&out, &sources, &[], "", &fingerprint(&sources, ""));
        }
    };
    let known = known_targets(&compiler, &list, asked, &store)?;
    let objects = compile_all(&compiler, &sources, &known, &store)?;
    prune(&store);
    let version = &compiler.version;
    let fingerprint = fingerprint(&sources, version);
    archive::write(&out, &sources, &objects, version, &fingerprint)
}

/// A hash of the sources and of what compiles them.
fn fingerprint(sources: &[Source], compiler: &str) -> String {
    let arguments = [arguments("gfx"), arguments("sm_")].concat().join(" ");
    let mut parts = vec![compiler, &arguments];
    parts.extend(sources.iter().map(|source| source.text.as_str()));
    hash(&parts)[..16].to_string()
}

/// The targets, and whether they were asked for by name.
fn targets() -> (Vec<String>, bool) {
    let named = std::env::var("MLXROCM_GPU_TARGETS").ok();
    let list = named.as_deref().unwrap_or(TARGETS);
    let list = list
        .split([' ', ',', ';', '\n'])
        .filter(|target| !target.is_empty() && *target != "none")
        .map(String::from);
    (list.collect(), named.is_some())
}

/// Where objects are kept: beside the profiles' folders, so that debug and release builds share
/// them; in the output folder itself if cargo's layout is not as it used to be.
fn store(out: &Path) -> Result<PathBuf, String> {
    // <target>/<profile>/build/<package>/out
    let shared = out
        .ancestors()
        .nth(2)
        .filter(|path| path.ends_with("build"))
        .and_then(|path| path.ancestors().nth(2));
    let store = shared.unwrap_or(out).join("kernel-objects");
    fs::create_dir_all(&store).map_err(|error| format!("{}: {error}", store.display()))?;
    Ok(store)
}

/// The targets of the list that the compiler knows; one asked for by name must be known.
fn known_targets(
    compiler: &Compiler,
    list: &[String],
    asked: bool,
    store: &Path,
) -> Result<Vec<String>, String> {
    let mut known = Vec::new();
    for target in list {
        let key = hash(&[&compiler.version, &arguments(target).join(" "), "trial"]);
        let (yes, no) = (
            store.join(format!("{key}.yes")),
            store.join(format!("{key}.no")),
        );
        if !yes.exists() && (asked || !no.exists()) {
            let output = compiler.trial(target, store);
            if !output.ok && asked {
                return Err(format!(
                    "{} cannot compile for {target}:\n{}",
                    compiler.version, output.messages
                ));
            }
            let _ = fs::write(if output.ok { &yes } else { &no }, target);
        }
        if yes.exists() {
            touch(&yes);
            known.push(target.clone());
        } else {
            touch(&no);
        }
    }
    Ok(known)
}

/// Compiles what is not in the store, on as many threads as cargo grants.
fn compile_all(
    compiler: &Compiler,
    sources: &[Source],
    targets: &[String],
    store: &Path,
) -> Result<Vec<Object>, String> {
    let jobs: Vec<(usize, &String)> = targets
        .iter()
        .flat_map(|target| (0..sources.len()).map(move |source| (source, target)))
        .filter(|(source, target)| sources[*source].is_for(target))
        .collect();
    crate::jobs::each(jobs.len(), |number| {
        let (source, target) = jobs[number];
        let bytes = compile(compiler, &sources[source], target, store)?;
        Ok(Object {
            target: target.clone(),
            source,
            bytes,
        })
    })
}

/// One object, from the store or compiled.
fn compile(
    compiler: &Compiler,
    source: &Source,
    target: &str,
    store: &Path,
) -> Result<Vec<u8>, String> {
    let key = hash(&[
        &compiler.version,
        &arguments(target).join(" "),
        &source.text,
    ]);
    let path = store.join(format!("{key}.o"));
    if let Ok(bytes) = fs::read(&path) {
        touch(&path);
        return Ok(bytes);
    }
    // A name of this process' own: two builds may work on one store.
    let draft = store.join(format!("{key}.{}.draft", std::process::id()));
    let output = compiler.compile(&source.text, target, &draft);
    if !output.ok {
        let _ = fs::remove_file(&draft);
        return Err(format!(
            "hip/ops/{}.hip does not compile for {target} (MLXROCM_GPU_TARGETS chooses targets; none: compile at run time):\n{}",
            source.name, output.messages
        ));
    }
    let expected =
        |line: &&str| !line.contains("code object v6") && !line.contains("code object version 6");
    for line in output
        .messages
        .lines()
        .filter(|line| line.contains("warning:"))
        .filter(expected)
    {
        println!("cargo::warning={target}: {line}");
    }
    let mut bytes = fs::read(&draft).map_err(|error| format!("{}: {error}", draft.display()))?;
    if is_nvidia(target) {
        // The driver takes PTX as a string that ends with a zero.
        bytes.push(0);
        fs::write(&draft, &bytes).map_err(|error| format!("{}: {error}", draft.display()))?;
    }
    fs::rename(&draft, &path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(bytes)
}

/// Marks an entry as used now.
fn touch(path: &Path) {
    if let Ok(file) = fs::File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Deletes what no build used for long.
fn prune(store: &Path) {
    for entry in fs::read_dir(store).into_iter().flatten().flatten() {
        let age = entry
            .metadata()
            .and_then(|facts| facts.modified())
            .ok()
            .and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A key of the parts: their FNV-1a sum of 128 bits.
fn hash(parts: &[&str]) -> String {
    let mut sum: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            sum = (sum ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
    format!("{sum:032x}")
}
