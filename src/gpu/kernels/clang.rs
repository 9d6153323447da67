//! Compilation by a clang of the user's own (`MLXROCM_CLANG`), where the vendor's run-time compiler
//! is missing or does not know the device.

use crate::driver::Refused;
use crate::{Error, Result};
use std::ffi::{CStr, OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

#[path = "../../../build/arguments.rs"]
mod arguments;

/// What clang does not know without the vendors' headers: the words of HIP's language.
const LANGUAGE: &str = include_str!("../../../hip/common/language.h");

/// A clang with its version.
pub(super) struct Clang {
    program: OsString,
    identity: String,
}

impl Clang {
    /// The program that `MLXROCM_CLANG` names; none if the variable is unset.
    ///
    /// # Errors
    /// `InvalidArgument` if it does not run.
    pub(super) fn named() -> Result<Option<Clang>> {
        match std::env::var_os("MLXROCM_CLANG").filter(|value| !value.is_empty()) {
            Some(program) => Clang::new(program).map(Some),
            None => Ok(None),
        }
    }

    fn new(program: OsString) -> Result<Clang> {
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout);
                let version = text.lines().next().unwrap_or_default();
                Ok(Clang {
                    identity: format!("{} {version}", program.to_string_lossy()),
                    program,
                })
            }
            Ok(output) => Err(wrong(&program, &output.status.to_string())),
            Err(error) => Err(wrong(&program, &error.to_string())),
        }
    }

    /// What its code depends on besides source, options and target.
    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    /// Compiles `source` for `arch`. A source of the application's is in HIP's language, whose words
    /// are defined before it; a built-in one brings all it needs.
    ///
    /// # Errors
    /// The compiler's messages.
    pub(super) fn compile(
        &self,
        arch: &str,
        name: &str,
        source: &CStr,
        options: &[&CStr],
        is_built_in: bool,
    ) -> Result<Vec<u8>, Refused> {
        let folder =
            Scratch::new().map_err(|error| Refused(format!("no temporary folder: {error}")))?;
        let object = folder.path.join("code");
        let mut text = Vec::new();
        if !is_built_in {
            text.extend_from_slice(LANGUAGE.as_bytes());
            let name = name.replace(['"', '\\', '\n'], "_");
            text.extend_from_slice(format!("\n#line 1 \"{name}\"\n").as_bytes());
        }
        text.extend_from_slice(source.to_bytes());
        let mut child = Command::new(&self.program)
            .args(arguments::arguments(arch))
            .args(
                options
                    .iter()
                    .map(|option| OsStr::from_bytes(option.to_bytes())),
            )
            .arg("-o")
            .args([object.as_os_str(), OsStr::new("-")])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Refused(format!("{}: {error}", self.program.to_string_lossy())))?;
        // Closed before the wait. The compiler reads all of it before it writes; one that stops
        // early breaks the pipe and says why on its standard error.
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(&text);
        }
        let output = child
            .wait_with_output()
            .map_err(|error| Refused(error.to_string()))?;
        if !output.status.success() {
            let log = String::from_utf8_lossy(&output.stderr)
                .trim_end()
                .to_owned();
            return Err(Refused(if log.is_empty() {
                output.status.to_string()
            } else {
                log
            }));
        }
        let mut code = std::fs::read(&object)
            .map_err(|error| Refused(format!("its result cannot be read: {error}")))?;
        if arguments::is_nvidia(arch) {
            // The driver takes PTX as a string that ends with a zero.
            code.push(0);
        }
        Ok(code)
    }
}

fn wrong(program: &OsStr, reason: &str) -> Error {
    Error::InvalidArgument(format!(
        "MLXROCM_CLANG={}: {reason}; name a clang++ with the AMDGPU target and lld",
        program.to_string_lossy()
    ))
}

/// A folder of this call's own, deleted at the end.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let root = std::env::temp_dir();
        for _ in 0..1000 {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = Path::new(&root).join(format!("mlxrocm-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
