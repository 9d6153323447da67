//! A GPU for the engine's tests: the software AMD GPU, or with `MLXROCM_TEST_GPU=real` the one of
//! this machine.
#![allow(dead_code)] // each test program uses a part

use mlxrocm::gpu::{Device, DeviceBuffer, Kernel, Module, Stream};
use serde_json::Value;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Longer than anything that does not hang.
pub const PATIENCE: Option<Duration> = Some(Duration::from_secs(120));

/// The targets that the software GPU executes.
const EXECUTED: [&str; 9] = [
    "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
];

/// Those of them that the library was built for (`tests/support/test.sh`: some by turns); all if none was.
pub fn targets() -> Vec<&'static str> {
    // Asked for once: it unpacks the kernels of all targets.
    static TARGETS: OnceLock<Vec<&str>> = OnceLock::new();
    let targets = TARGETS.get_or_init(|| {
        let built = mlxrocm::gpu::kernels::built_in().expect("the archive of kernels");
        let is_built = |target: &&str| built.iter().any(|object| object.target == *target);
        EXECUTED.into_iter().filter(is_built).collect()
    });
    match targets.is_empty() {
        true => EXECUTED.to_vec(),
        false => targets.clone(),
    }
}

/// Those of `wanted` that the library was built for.
pub fn among(wanted: &[&'static str]) -> Vec<&'static str> {
    let mut built = targets();
    built.retain(|target| wanted.contains(target));
    assert!(
        !built.is_empty(),
        "the library was built for none of {wanted:?}"
    );
    built
}

/// Those of `wanted` that the library was built for: one of them, another every day.
pub fn todays(wanted: &[&'static str]) -> &'static str {
    let built = among(wanted);
    built[day() % built.len()]
}

/// As [`todays`]; with `MLXROCM_TEST_ALL=1` all that the library was built for.
pub fn by_turns(wanted: &[&'static str]) -> Vec<&'static str> {
    match is_all() {
        true => among(wanted),
        false => vec![todays(wanted)],
    }
}

/// Days since the epoch.
pub fn day() -> usize {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() / 86_400) as usize
}

/// Whether a case's turn is today, of so many days; always with `MLXROCM_TEST_ALL=1`.
pub fn is_turn(case: usize, days: usize) -> bool {
    is_all() || case % days == day() % days
}

/// Whether nothing takes turns.
pub fn is_all() -> bool {
    std::env::var("MLXROCM_TEST_ALL").is_ok_and(|all| all == "1")
}

/// Whether the tests run on this machine's own GPU. Faults cannot be injected there.
pub fn is_real() -> bool {
    std::env::var_os("MLXROCM_TEST_GPU").is_some_and(|value| value == "real")
}

/// The stand-in's shared library, which cargo builds with these tests.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let library = test.with_file_name("libsoftgpu.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// The stand-in's control functions, in the library that the engine opens.
struct Control {
    library: libloading::Library,
    cache: tempfile::TempDir,
}

fn control() -> &'static Control {
    static CONTROL: OnceLock<Control> = OnceLock::new();
    CONTROL.get_or_init(|| {
        let cache = tempfile::tempdir().expect("a folder for caches");
        // SAFETY: tests take turns, and the first one is here.
        unsafe {
            std::env::set_var("MLXROCM_HIP_LIBRARY", library());
            std::env::set_var("MLXROCM_CUDA_LIBRARY", "/nonexistent/libcuda.so.1");
            std::env::set_var("XDG_CACHE_HOME", cache.path());
            std::env::remove_var("MLXROCM_GRAPHS");
            std::env::remove_var("MLXROCM_BLAS");
        }
        Control {
            // SAFETY: the stand-in's own library.
            library: unsafe { libloading::Library::new(library()) }.expect("the stand-in"),
            cache,
        }
    })
}

impl Control {
    fn text(&self, function: &str, text: &str) {
        let text = CString::new(text).unwrap();
        // SAFETY: the function takes a C string.
        let code = unsafe {
            let function: libloading::Symbol<unsafe extern "C" fn(*const c_char) -> c_int> =
                self.library.get(function.as_bytes()).expect("a function");
            function(text.as_ptr())
        };
        assert_eq!(code, 0, "{function}");
    }
}

/// The GPU belongs to one test as long as this lives.
pub struct Gpu {
    _turn: MutexGuard<'static, ()>,
}

impl Drop for Gpu {
    /// A test that failed says what the stand-in saw.
    fn drop(&mut self) {
        if std::thread::panicking() && !is_real() {
            eprintln!("{}", self.report()["violations"]);
        }
    }
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A fresh stand-in with a configuration (see `tests/softgpu/src/hip/config.rs`), and empty caches.
pub fn soft(config: &str) -> Gpu {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let control = control();
    control.text("softgpu_configure", config);
    let _ = std::fs::remove_dir_all(control.cache.path().join("mlxrocm"));
    let gpu = Gpu { _turn: turn };
    gpu.set_blas(None);
    gpu
}

/// This machine's GPU if asked for, else a stand-in.
pub fn gpu() -> Gpu {
    if is_real() {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        return Gpu { _turn: turn };
    }
    soft("devices=gfx1151;integrated=0")
}

impl Gpu {
    /// The first device.
    pub fn device(&self) -> Arc<Device> {
        Device::open(0).expect("a device")
    }

    /// Injects faults (see `tests/softgpu/src/hip/faults.rs`).
    pub fn fault(&self, text: &str) {
        control().text("softgpu_fault", text);
    }

    /// The driver itself, as another program's calls would reach it.
    pub fn driver(&self) -> &'static libloading::Library {
        &control().library
    }

    /// Everything starts again; hung and lost devices are whole.
    pub fn reset(&self) {
        // SAFETY: takes nothing.
        unsafe {
            let function: libloading::Symbol<unsafe extern "C" fn() -> c_int> =
                control().library.get(b"softgpu_reset").expect("a function");
            assert_eq!(function(), 0);
        }
    }

    /// The library file that devices opened from now on have as their BLAS; without one, none is found.
    pub fn set_blas(&self, library: Option<&Path>) {
        let library = library.unwrap_or(Path::new("/nonexistent/librocblas.so"));
        // SAFETY: tests take turns, and this one has the GPU.
        unsafe { std::env::set_var("MLXROCM_BLAS_LIBRARY", library) };
    }

    /// Where the engine keeps what it found out about the device.
    pub fn cache(&self) -> &Path {
        control().cache.path()
    }

    /// What the stand-in saw.
    pub fn report(&self) -> Value {
        // SAFETY: the function fills at most the buffer.
        let bytes = unsafe {
            let function: libloading::Symbol<unsafe extern "C" fn(*mut c_char, usize) -> usize> =
                control()
                    .library
                    .get(b"softgpu_report")
                    .expect("a function");
            let mut bytes = vec![0_u8; function(std::ptr::null_mut(), 0) + 4096];
            let size = function(bytes.as_mut_ptr().cast(), bytes.len());
            assert!(size <= bytes.len());
            bytes.truncate(size - 1);
            bytes
        };
        serde_json::from_slice(&bytes).expect("a JSON report")
    }

    /// How often a driver function was called.
    pub fn calls(&self, function: &str) -> u64 {
        if is_real() {
            return 0;
        }
        self.report()["calls"][function].as_u64().unwrap_or(0)
    }

    /// Nothing that a program must not do was seen.
    #[track_caller]
    pub fn clean(&self) {
        if !is_real() {
            assert_eq!(self.report()["violations"], serde_json::json!([]));
        }
    }

    /// Nothing of a closed device is left at the driver.
    #[track_caller]
    pub fn no_leaks(&self) {
        if !is_real() {
            let report = self.report();
            assert_eq!(report["live"], leak_free(&report["live"]), "{report}");
        }
    }
}

/// The same object with all counts zero.
fn leak_free(live: &Value) -> Value {
    let object = live.as_object().expect("an object of counts");
    object
        .keys()
        .map(|key| (key.clone(), Value::from(0)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Kernels of the tests: compiled with clang as the build script compiles the library's own, on a real
/// GPU by the run-time compiler.
pub fn module(device: &Arc<Device>, source: &str) -> Module {
    let source = with_prelude(source);
    if is_real() {
        return Module::compile(device, "test", &source, &[]).expect("a compiled kernel");
    }
    Module::from_code(device, &compile(&source, &device.facts().arch)).expect("a code object")
}

/// A source with what it needs of the language.
pub fn with_prelude(source: &str) -> String {
    format!("{PRELUDE}\n{source}")
}

/// Compiles a kernel source for an AMD target with clang. Kept by content.
pub fn compile(source: &str, arch: &str) -> Vec<u8> {
    type Compiled = HashMap<(String, String), Vec<u8>>;
    static DONE: Mutex<Option<Compiled>> = Mutex::new(None);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    let done = done.get_or_insert_with(HashMap::new);
    let key = (source.to_owned(), arch.to_owned());
    if let Some(code) = done.get(&key) {
        return code.clone();
    }
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("kernels.hip"), folder.path().join("out"));
    std::fs::write(&input, source).unwrap();
    let mut clang = Command::new("clang++-19");
    clang.args(["-std=c++17", "-O2"]);
    clang.args([
        "-x",
        "hip",
        "--offload-device-only",
        "--no-gpu-bundle-output",
    ]);
    clang.args(["-nogpulib", "-nogpuinc"]);
    clang.arg(format!("--offload-arch={arch}"));
    clang.arg(&input).arg("-o").arg(&output);
    let result = clang
        .output()
        .expect("clang++-19 (apt-get install clang-19 lld-19)");
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    let code = std::fs::read(&output).unwrap();
    done.insert(key, code.clone());
    code
}

/// What the kernels of the tests need of the language.
const PRELUDE: &str = r#"
typedef unsigned int u32;
#if defined(__clang__) && defined(__AMDGCN__)
#define KERNEL extern "C" __attribute__((global)) void
__attribute__((device)) static inline u32 index() {
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x()
        + __builtin_amdgcn_workitem_id_x();
}
#else
#define KERNEL extern "C" __global__ void
__device__ static inline u32 index() { return blockIdx.x * blockDim.x + threadIdx.x; }
#endif
// For launches that may begin while the one before them drains.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WAIT_FOR_BEFORE() asm volatile("griddepcontrol.wait;" ::: "memory")
#define LET_NEXT_BEGIN() asm volatile("griddepcontrol.launch_dependents;")
#else
#define WAIT_FOR_BEFORE()
#define LET_NEXT_BEGIN()
#endif
"#;

/// `target[i] = target[i] * 5 + a[i] * 3 + b[i] + k`: no two orders of it give the same.
pub const MIX: &str = r#"
KERNEL mix(u32 *target, const u32 *a, const u32 *b, u32 n, u32 k) {
    u32 i = index();
    LET_NEXT_BEGIN();
    WAIT_FOR_BEFORE();
    if (i < n) target[i] = target[i] * 5 + a[i] * 3 + b[i] + k;
}
"#;

/// What [`MIX`] does.
pub fn mix(target: u32, a: u32, b: u32, k: u32) -> u32 {
    target
        .wrapping_mul(5)
        .wrapping_add(a.wrapping_mul(3))
        .wrapping_add(b)
        .wrapping_add(k)
}

/// The kernel [`MIX`].
pub fn mix_kernel(device: &Arc<Device>) -> Kernel {
    module(device, MIX).kernel("mix").expect("the kernel")
}

/// A buffer of numbers.
pub fn filled(device: &Arc<Device>, stream: &Stream, values: &[u32]) -> DeviceBuffer {
    let buffer = device.alloc(values.len() as u64 * 4).expect("memory");
    stream
        .copy_to_device(&buffer, 0, &bytes_of(values))
        .expect("a copy");
    buffer
}

/// The numbers of a buffer, after all queued work.
pub fn values(stream: &Stream, buffer: &DeviceBuffer) -> Vec<u32> {
    let mut bytes = vec![0; usize::try_from(buffer.len()).unwrap()];
    stream.copy_to_host(buffer, 0, &mut bytes).expect("a copy");
    words_of(&bytes)
}

pub fn words_of(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
        .collect()
}

pub fn bytes_of(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect()
}
