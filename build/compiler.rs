//! The clang that compiles the kernels, and its command lines.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::arguments::arguments;
use crate::variable;

/// Names tried in this order when `MLXROCM_CLANG` is unset. Clang 19 is what the tests use.
const NAMES: [&str; 6] = [
    "clang++-19",
    "clang++-20",
    "clang++-21",
    "clang++-22",
    "clang++-18",
    "clang++",
];

/// A kernel small enough to compile in no time, for trying a compiler and a target.
const TRIAL: &str = "extern \"C\" __attribute__((global)) void mlxrocm_trial(int *p) { *p = 1; }\n";

/// A clang and what it says of itself.
pub struct Compiler {
    program: String,
    /// Part of each cached object's key.
    pub version: String,
}

/// What a compilation said.
pub struct Output {
    pub ok: bool,
    pub messages: String,
}

impl Compiler {
    /// The compiler to use, or why there is none. `MLXROCM_CLANG` names one; else the first of the
    /// usual names, and ROCm's own, that compiles for an AMD GPU.
    pub fn find(scratch: &Path) -> Result<Compiler, String> {
        let named = variable("MLXROCM_CLANG");
        if !named.is_empty() {
            let compiler =
                Compiler::named(&named).ok_or(format!("MLXROCM_CLANG={named}: does not run"))?;
            return match compiler.trial("gfx1100", scratch) {
                Output { ok: true, .. } => Ok(compiler),
                Output { messages, .. } => Err(format!(
                    "MLXROCM_CLANG={named}: cannot compile for AMD GPUs (clang with the AMDGPU target and lld are needed):\n{messages}"
                )),
            };
        }
        let mut names: Vec<String> = NAMES.iter().map(|name| name.to_string()).collect();
        let rocm = variable("ROCM_PATH");
        let rocm = if rocm.is_empty() { "/opt/rocm" } else { &rocm };
        names.push(format!("{rocm}/llvm/bin/clang++"));
        for name in names {
            if let Some(compiler) = Compiler::named(&name)
                && compiler.trial("gfx1100", scratch).ok
            {
                return Ok(compiler);
            }
        }
        Err(
            "no clang++ with the AMDGPU target and lld was found (apt-get install clang-19 lld-19)"
                .into(),
        )
    }

    fn named(program: &str) -> Option<Compiler> {
        let output = Command::new(program)
            .arg("--version")
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next()?.trim().to_string();
        (output.status.success() && version.contains("clang")).then(|| Compiler {
            program: program.to_string(),
            version,
        })
    }

    /// Whether this compiler knows `target`.
    pub fn trial(&self, target: &str, scratch: &Path) -> Output {
        let object = scratch.join(format!("trial-{target}-{}", std::process::id()));
        let output = self.compile(TRIAL, target, &object);
        let _ = std::fs::remove_file(object);
        output
    }

    /// Compiles `text` for `target` into `object`: an ELF code object for AMD, PTX for NVIDIA.
    /// The text goes in by standard input, so no path gets into the object.
    pub fn compile(&self, text: &str, target: &str, object: &Path) -> Output {
        let failed = |error: std::io::Error| Output {
            ok: false,
            messages: format!("{}: {error}", self.program),
        };
        let mut command = Command::new(&self.program);
        command
            .args(arguments(target))
            .arg("-o")
            .arg(object)
            .arg("-");
        command
            .env_remove("CPATH")
            .env_remove("CPLUS_INCLUDE_PATH")
            .env_remove("SOURCE_DATE_EPOCH");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return failed(error),
        };
        // Taken out of the child so that it is closed before the wait. The compiler reads all of it
        // before it writes, so the two pipes cannot block each other; a compiler that stops early
        // breaks the pipe and says why on its standard error.
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(text.as_bytes());
        }
        match child.wait_with_output() {
            Ok(output) => Output {
                ok: output.status.success(),
                messages: String::from_utf8_lossy(&output.stderr).into_owned(),
            },
            Err(error) => failed(error),
        }
    }
}
