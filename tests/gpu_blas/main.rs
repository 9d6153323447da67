//! Prompts whose products go to a BLAS, the one of the software GPU: against the CPU, against our own
//! kernels, where the library fails, and which way is chosen. `MLXROCM_TEST_GPU=real` uses this machine's
//! GPU, whose vendor's BLAS must be there, and skips what is under `soft`: `-- --skip soft::`.

#[path = "../support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/on_gpu.rs"]
mod on_gpu;
#[path = "../support/random_model.rs"]
mod random_model;
mod soft;

use mlxrocm::gpu::{BlasPolicy, Device};
use mlxrocm::log;
use mlxrocm::model::{DeviceChoice, Forward, KvType, Model, Slice, Wanted};
use on_gpu::{TOLERANCE, device, farthest, load};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Tokens of the prompt: more than the rows from which on a BLAS is worth looking for.
const PROMPT: usize = 130;
/// Products of many rows of a model of one form with two layers: q, k and v are one, gate and up are one,
/// and of the last layer only q, k and v are for all rows.
const PRODUCTS: u64 = 5;
/// Distinct ones among them.
const SHAPES: usize = 4;

fn write(folder: &Path, name: &str) -> PathBuf {
    let specs = random_model::all();
    let spec = specs.iter().find(|spec| spec.name.ends_with(name));
    spec.expect(name).write(folder)
}

fn forward(model: &Model) -> Box<dyn Forward> {
    model.new_forward(5, PROMPT, KvType::F16).unwrap()
}

/// Logits of a prompt's last token.
fn last(forward: &mut dyn Forward) -> mlxrocm::Result<Vec<f32>> {
    let tokens: Vec<u32> = (0..PROMPT as u32).map(|i| (i * 77 + 13) % 316).collect();
    let slice = Slice {
        tokens: &tokens,
        start: 0,
        pages: &[3, 0, 4, 2, 1],
        wanted: Wanted::Last,
        slot: 0,
    };
    let mut logits = Vec::new();
    forward.forward(&[slice], &mut logits)?;
    Ok(logits)
}

/// The logits by a new state of a model that is loaded on the GPU.
fn logits_on_gpu(path: &Path) -> Vec<f32> {
    last(&mut *forward(&load(path, DeviceChoice::Gpu(0)))).unwrap()
}

/// The lines about a BLAS that `run` logs.
fn logged<T>(run: impl FnOnce() -> T) -> (T, Vec<String>) {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = lines.clone();
    let sink = move |_, line: &str| kept.lock().unwrap().push(line.to_owned());
    log::set_sink(log::Level::Info, Some(Arc::new(sink)));
    let result = run();
    log::set_sink(log::Level::Info, None);
    let mut lines = std::mem::take(&mut *lines.lock().unwrap());
    lines.retain(|line| line.contains("BLAS"));
    (result, lines)
}

/// The stand-in's libraries, known by their files' names, and the functions of their products.
const ROCBLAS: [&str; 2] = ["librocblas.so.5", "rocblas_gemm_ex"];
const HIPBLASLT: [&str; 2] = ["libhipblaslt.so.1", "hipblasLtMatmul"];

/// The file of one of them in a folder.
fn file_of([name, _]: [&str; 2], folder: &Path) -> PathBuf {
    let path = folder.join(name);
    if !path.exists() {
        std::os::unix::fs::symlink(gpu::library(), &path).unwrap();
    }
    path
}

/// A device with the stand-in's rocBLAS, or its vendor's BLAS.
fn with_blas(gpu: &gpu::Gpu, policy: BlasPolicy) -> Arc<Device> {
    with(ROCBLAS, gpu, policy)
}

/// A device with one of the stand-in's libraries, or its vendor's BLAS.
fn with(library: [&str; 2], gpu: &gpu::Gpu, policy: BlasPolicy) -> Arc<Device> {
    if !gpu::is_real() {
        gpu.set_blas(Some(&file_of(library, gpu.cache())));
    }
    let device = gpu.device();
    device.set_blas_policy(policy);
    device.set_blas_tries(true);
    device
}

#[test]
fn products_by_a_blas_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let targets = gpu::among(&["gfx1151", "gfx942", "gfx1201"]);
    let models = [
        ("llama-q4_1.gguf", Some(PRODUCTS)),
        ("llama-q6_k.gguf", Some(PRODUCTS)),
        // With biases.
        ("qwen2-q4_1.gguf", Some(PRODUCTS)),
        // Not decoded.
        ("-dense-f16", Some(PRODUCTS)),
        ("-dense-bf16", Some(PRODUCTS)),
        ("-dense-f32", Some(PRODUCTS)),
        // Gate and up of two forms.
        ("llama-mlx-mixed", None),
    ];
    for (place, (name, products)) in models.into_iter().enumerate() {
        let target = targets[place % targets.len()];
        let path = write(folder.path(), name);
        let expected = last(&mut *forward(&load(&path, DeviceChoice::Cpu))).unwrap();
        let gpu = device(target);
        let library = [ROCBLAS, HIPBLASLT][place % 2];
        let device = with(library, &gpu, BlasPolicy::On);
        let (got, lines) = logged(|| logits_on_gpu(&path));
        let farthest = farthest(&got, &expected);
        println!("{name} on {target}: {farthest}, {lines:?}");
        assert!(farthest < TOLERANCE, "{name} on {target}: {farthest}");
        let by_own = lines.iter().any(|line| line.contains("our own kernels"));
        assert!(!by_own, "{name} on {target}: {lines:?}");
        let calls = gpu.calls(library[1]);
        match products {
            // Calls are counted by the stand-in.
            _ if gpu::is_real() => {}
            Some(products) => assert_eq!(calls, products, "{name}"),
            None => assert!(calls > PRODUCTS, "{name}: {calls}"),
        }
        drop(device);
        gpu.clean();
        gpu.no_leaks();
    }
}
