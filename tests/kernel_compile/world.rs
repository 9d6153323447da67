//! The surroundings of a case: a cache folder, libraries, and child processes in them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Variables that a child must not inherit from the developer.
const CLEARED: [&str; 9] = [
    "MLXROCM_HIP_LIBRARY",
    "MLXROCM_HIPRTC_LIBRARY",
    "MLXROCM_NVRTC_LIBRARY",
    "MLXROCM_CLANG",
    "MLXROCM_CACHE_DIR",
    "MLXROCM_LOG",
    "ROCM_PATH",
    "SOFTGPU_CLANG",
    "SOFTGPU_CONFIG",
];

/// A folder of the case's own.
pub struct World {
    root: tempfile::TempDir,
}

impl World {
    pub fn new() -> World {
        World {
            root: tempfile::tempdir().unwrap(),
        }
    }

    /// A path in the case's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Where the library keeps compiled kernels.
    pub fn cache(&self) -> PathBuf {
        self.path("cache/mlxrocm/kernels")
    }

    /// The entries of the cache, sorted.
    pub fn entries(&self) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(self.cache()).into_iter().flatten();
        let mut entries: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries
    }

    /// A process that runs `step` with the software GPU's hiprtc, this cache, and `variables`.
    pub fn start(&self, step: &str, variables: &[(&str, &str)]) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--step", step]);
        CLEARED.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.env("MLXROCM_HIP_LIBRARY", softgpu());
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.env("HOME", self.path("home"));
        command.envs(variables.iter().copied());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs `step` to its end and returns what it printed.
    #[track_caller]
    pub fn run(&self, step: &str, variables: &[(&str, &str)]) -> String {
        finish(self.start(step, variables), step)
    }

    /// Builds a shared library from C.
    pub fn library(&self, name: &str, source: &str) -> PathBuf {
        let (input, output) = (self.path(&format!("{name}.c")), self.path(name));
        std::fs::write(&input, source).unwrap();
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror"])
            .arg(format!("-Wl,-soname,{name}"))
            .arg(&input)
            .arg("-o")
            .arg(&output)
            .status()
            .expect("a C compiler");
        assert!(status.success());
        output
    }
}

/// Waits for a child; its step must have succeeded.
#[track_caller]
pub fn finish(child: Child, step: &str) -> String {
    let output = child.wait_with_output().unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{step}: {}\n{said}{wrong}",
        output.status
    );
    said.into_owned()
}

/// The stand-in's shared library, which cargo builds with these tests.
fn softgpu() -> PathBuf {
    let library = std::env::current_exe()
        .unwrap()
        .with_file_name("libsoftgpu.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// A path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
