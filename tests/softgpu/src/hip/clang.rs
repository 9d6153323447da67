//! Compilation by the machine's clang, as the `hiprtc` functions ask for it.

use super::hiprtc::{Answer, INVALID_OPTION, Program, forked};
use super::runtime::runtime;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of its own for one compilation, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("softgpu-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Options for clang; the target must be among them.
pub(super) fn clang_options(options: &[String]) -> Answer<Vec<String>> {
    let mut arch = None;
    let mut passed = Vec::new();
    for option in options {
        let target = ["--offload-arch=", "--gpu-architecture="]
            .iter()
            .find_map(|prefix| option.strip_prefix(prefix));
        match target {
            Some(target) => arch = Some(target.to_owned()),
            None => passed.push(option.clone()),
        }
    }
    // The real hiprtc takes the current device's target.
    let arch = match arch {
        Some(arch) => arch,
        None if forked() => return Err(INVALID_OPTION),
        None => runtime()
            .lock()
            .device()
            .map_err(|_| INVALID_OPTION)?
            .facts
            .arch_name
            .to_owned(),
    };
    passed.insert(0, format!("--offload-arch={arch}"));
    Ok(passed)
}

impl Program {
    pub(super) fn compile(&mut self, options: &[String]) -> std::io::Result<bool> {
        let scratch = Scratch::new()?;
        let file = |name: &str| scratch.0.join(name);
        std::fs::write(file("prelude.h"), include_str!("prelude.h"))?;
        std::fs::write(file("program.hip"), &self.source)?;
        for (name, content) in &self.headers {
            let path = file(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, content)?;
        }
        let compiler = std::env::var("SOFTGPU_CLANG").unwrap_or_else(|_| "clang++-19".to_owned());
        let output = Command::new(&compiler)
            .current_dir(&scratch.0)
            .args([
                "-x",
                "hip",
                "--offload-device-only",
                "--no-gpu-bundle-output",
            ])
            .args([
                "-nogpulib",
                "-nogpuinc",
                "-O3",
                "-std=c++17",
                "-D__HIPCC_RTC__=1",
                "-I.",
            ])
            .args(["-include", "prelude.h"])
            .args(options)
            .args(["program.hip", "-o", "program.co"])
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) => {
                self.log = format!("{compiler} cannot be started: {error}");
                return Ok(false);
            }
        };
        self.log = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Ok(false);
        }
        self.code = std::fs::read(file("program.co"))?;
        Ok(true)
    }
}
