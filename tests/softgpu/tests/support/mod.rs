//! Compiles HIP sources for a target and launches their kernels on the software GPU.

#![allow(dead_code)]

use softgpu::isa::{Checks, CodeObject, Fault, Launch, Report, execute};
use softgpu::memory::Memory;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

pub const TARGETS: [&str; 9] = [
    "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
];

/// Lanes of a wave.
pub fn wave(target: &str) -> usize {
    if target.starts_with("gfx9") { 64 } else { 32 }
}

/// A file's code for a target; each is compiled once a process.
pub fn compile(file: &str, target: &str, options: &[&str]) -> Arc<CodeObject> {
    static DONE: Mutex<BTreeMap<String, Arc<CodeObject>>> = Mutex::new(BTreeMap::new());
    let key = format!("{file} {target} {options:?}");
    if let Some(code) = DONE.lock().unwrap().get(&key) {
        return code.clone();
    }
    let code = CodeObject::load(&compile_bytes(file, target, options)).unwrap();
    DONE.lock().unwrap().insert(key, code.clone());
    code
}

/// Compiles `tests/kernels/<file>` with `clang++-19` (or `SOFTGPU_CLANG`).
pub fn compile_bytes(file: &str, target: &str, options: &[&str]) -> Vec<u8> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/kernels")
        .join(file);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let out = std::env::temp_dir().join(format!("softgpu-{}-{number}.co", std::process::id()));
    let clang = std::env::var("SOFTGPU_CLANG").unwrap_or_else(|_| "clang++-19".into());
    let output = Command::new(&clang)
        .args([
            "-x",
            "hip",
            "--offload-device-only",
            "--no-gpu-bundle-output",
            "-nogpulib",
            "-nogpuinc",
            "-O3",
        ])
        .arg(format!("--offload-arch={target}"))
        .args(options)
        .arg(&source)
        .arg("-o")
        .arg(&out)
        .output()
        .unwrap_or_else(|e| panic!("cannot run {clang}: {e}; install clang-19 and lld-19"));
    assert!(
        output.status.success(),
        "{file} for {target}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bytes = std::fs::read(&out).unwrap();
    let _ = std::fs::remove_file(&out);
    bytes
}

/// Device memory with typed copies.
pub struct Gpu {
    pub memory: Memory,
    pub seed: u64,
    pub threads: usize,
    pub checks: Checks,
}

impl Gpu {
    pub fn new() -> Gpu {
        Gpu {
            memory: Memory::new(),
            seed: 0,
            threads: 1,
            checks: Checks::default(),
        }
    }

    pub fn alloc<T>(&self, n: usize) -> u64 {
        self.memory.allocate(n * size_of::<T>(), "buffer").unwrap()
    }

    pub fn upload<T: Copy>(&self, data: &[T]) -> u64 {
        let bytes = size_of_val(data);
        let at = self.memory.allocate(bytes, "upload").unwrap();
        // SAFETY: the allocation has these bytes.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().cast::<u8>(), at as *mut u8, bytes) };
        self.memory.mark_initialised(at, bytes);
        at
    }

    pub fn download<T: Copy>(&self, at: u64, n: usize) -> Vec<T> {
        assert!(
            self.memory.check_initialised(at, n * size_of::<T>()),
            "reading device memory that nothing wrote"
        );
        // SAFETY: the allocation has these bytes, and all bit patterns of T are values.
        unsafe { std::slice::from_raw_parts(at as *const T, n).to_vec() }
    }

    pub fn launch(
        &self,
        code: &CodeObject,
        name: &str,
        grid: [u32; 3],
        block: [u32; 3],
        args: &Args,
    ) -> Result<Report, Fault> {
        let kernel = code
            .kernel(name)
            .unwrap_or_else(|| panic!("no kernel {name}"));
        execute(&Launch {
            kernel: &kernel,
            grid_blocks: grid,
            block,
            dynamic_lds: 0,
            kernarg: &args.0,
            memory: &self.memory,
            seed: self.seed,
            threads: self.threads,
            checks: self.checks,
            stop: None,
            without: None,
        })
    }
}

/// Packs kernel arguments with natural alignment.
#[derive(Default)]
pub struct Args(pub Vec<u8>);

impl Args {
    pub fn new() -> Args {
        Args::default()
    }

    pub fn bytes(mut self, v: &[u8]) -> Args {
        while !self.0.len().is_multiple_of(v.len()) {
            self.0.push(0);
        }
        self.0.extend_from_slice(v);
        self
    }

    pub fn ptr(self, v: u64) -> Args {
        self.bytes(&v.to_le_bytes())
    }

    pub fn i32(self, v: i32) -> Args {
        self.bytes(&v.to_le_bytes())
    }

    pub fn f32(self, v: f32) -> Args {
        self.bytes(&v.to_le_bytes())
    }
}

/// Repeatable numbers in [-1, 1).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    pub fn f32(&mut self) -> f32 {
        (self.bits() & 0xff_ffff) as f32 / 8_388_608.0 - 1.0
    }

    pub fn vec(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.f32()).collect()
    }
}
