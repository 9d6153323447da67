//! Models that are larger than what they may take of a GPU's memory: the rest of their weights lies in host memory, and
//! results are the same to the bit. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::Error;
use mlxrocm::gpu::Device;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use on_gpu::{device, logits, tokens};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TOKENS: [u32; 40] = tokens();

fn load(path: &Path, most: Option<u64>) -> mlxrocm::Result<Arc<Model>> {
    let options = LoadOptions {
        device: DeviceChoice::Gpu(0),
        gpu_weight_bytes: most,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None)
}

/// A random model by the name of its file.
fn write(name: &str, folder: &Path) -> PathBuf {
    let all = random_model::all();
    let spec = all.iter().find(|spec| spec.name == name);
    spec.expect(name).write(folder)
}

/// Bytes of buffers that are alive on the device and in pinned memory.
fn in_use(device: &Arc<Device>) -> (u64, u64) {
    (
        device.memory().unwrap().active,
        device.pinned_memory().active,
    )
}

/// Nothing, a part and all of what may leave is in host memory: a prompt and single tokens say the same.
fn says_the_same(path: &Path, targets: &'static [&'static str]) {
    for target in gpu::among(targets) {
        let gpu = device(target);
        let device = gpu.device();
        let run = |model: &Arc<Model>| logits(model, &TOKENS, &[33, 1, 2]).unwrap();
        let model = load(path, None).unwrap();
        let (all, pinned) = in_use(&device);
        assert_eq!(pinned, 0);
        let expected = run(&model);
        drop(model);
        let (mut last, mut parts) = (0, 0);
        for percent in [100, 97, 75, 50, 25, 10] {
            let most = all * percent / 100;
            let what = format!("{} on {target}, {percent} %", path.display());
            let model = load(path, Some(most)).expect(&what);
            let (on_device, in_host) = in_use(&device);
            assert!(on_device <= most, "{what}: {on_device} of {most}");
            assert_eq!(percent == 100, in_host == 0, "{what}: {in_host}");
            assert!(in_host >= last, "{what}");
            parts += usize::from(in_host > last);
            last = in_host;
            assert!(run(&model) == expected, "{what}: other results");
            drop(model);
            assert_eq!(in_use(&device), (0, 0), "{what}");
        }
        assert!(parts >= 3, "{target}: {parts} different places only");
        drop(device);
        gpu.clean();
        gpu.no_leaks();
    }
}

#[test]
fn dense_models_say_the_same_from_host_memory() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["llama-f32.gguf", "llama-q4_k.gguf"] {
        says_the_same(&write(name, folder.path()), &["gfx1151", "gfx90a"]);
    }
}

#[test]
fn too_little_for_norms_is_refused_with_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = write("llama-f32.gguf", folder.path());
    let gpu = device("gfx1151");
    let error = load(&path, Some(256)).expect_err("no room for norms");
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory(_)), "{text}");
    assert!(
        text.contains("at most 256 bytes") && text.contains("allow more"),
        "{text}"
    );
    assert_eq!(in_use(&gpu.device()), (0, 0));
}

/// Host memory that ends while a model is loaded: an error, nothing stays, and the next one loads.
#[test]
fn host_memory_that_ends_frees_everything() {
    if gpu::is_real() {
        // Only the stand-in refuses.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write("llama-f32.gguf", folder.path());
    let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=128");
    let device = gpu.device();
    let whole = load(&path, None).unwrap();
    let half = device.memory().unwrap().active / 2;
    drop(whole);
    device.trim().unwrap();
    // From each of its allocations on: pieces for staging, then matrices.
    let mut number = 1;
    loop {
        gpu.fault(&format!("host_alloc@{number}+"));
        let result = load(&path, Some(half));
        gpu.fault("none");
        let Err(error) = result else {
            break;
        };
        assert!(matches!(error, Error::OutOfMemory(_)), "{number}: {error}");
        assert_eq!(in_use(&device), (0, 0), "{number}");
        device.trim().unwrap();
        number += 1;
    }
    assert!(number > 5, "{number}: none was refused");
    drop(load(&path, Some(half)).unwrap());
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}
