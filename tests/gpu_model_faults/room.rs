//! A model or a session that the device has no room for.

use crate::subject::*;
use crate::{gpu, random_model};
use libloading::Symbol;
use mlxrocm::Error;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use mlxrocm::session::{Session, SessionOptions};
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};

/// A model of 5.6 MiB (f32), and its file.
fn large(folder: &Path) -> PathBuf {
    let all = random_model::all();
    let spec = all.iter().find(|spec| spec.name == "llama-f32.gguf");
    spec.unwrap().write(folder)
}

fn load(path: &Path, device: DeviceChoice, steps: &mut Vec<u64>) -> mlxrocm::Result<()> {
    let options = LoadOptions {
        device,
        threads: 1,
        ..LoadOptions::default()
    };
    let mut progress = |done, _| {
        steps.push(done);
        true
    };
    Model::load(path, &options, Some(&mut progress)).map(drop)
}

#[test]
fn a_model_that_does_not_fit_is_refused_before_it_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = large(folder.path());
    let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=128");
    let device = gpu.device();
    device.set_memory_limit(4 << 20).unwrap();
    let mut steps = Vec::new();
    let error = load(&path, DeviceChoice::Gpu(0), &mut steps).unwrap_err();
    let Error::OutOfMemory(text) = &error else {
        panic!("{error:?}");
    };
    for part in ["need 5 MiB", "limit of 4 MiB", "smaller model"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(steps, [0], "it was begun");
    assert_eq!(gpu.calls("hipMalloc"), 0);
    // By default it is on the CPU then.
    load(&path, DeviceChoice::Auto, &mut steps).unwrap();
    assert_eq!(device.memory().unwrap().active, 0);
    // And a smaller one on this device, with room for what it computes.
    device.set_memory_limit(64 << 20).unwrap();
    works();
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn a_cache_that_does_not_fit_is_refused_with_the_numbers() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=64");
    let device = gpu.device();
    let model = load_on_gpu().unwrap();
    device.trim().unwrap();
    let weights = device.memory().unwrap().active;
    // 2 layers · 2 heads · 64 numbers · 4 bytes: 1 KiB of keys and as much of values each token, in
    // f16 half of that.
    let options = SessionOptions {
        kv_tokens: 1 << 20,
        ..Default::default()
    };
    let error = Session::new(model.clone(), options).err().unwrap();
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory(_)), "{text}");
    let limit = device.memory().unwrap().limit;
    assert!(text.contains(&format!("limit of {limit} bytes")), "{text}");
    assert_in_use(&device, weights);
    assert_eq!(run_all(&session(&model).unwrap()), []);
    drop((model, device));
    gpu.clean();
    gpu.no_leaks();
}

/// Memory of another program.
struct Other<'a>(&'a gpu::Gpu, *mut c_void);

impl<'a> Other<'a> {
    fn new(gpu: &'a gpu::Gpu, bytes: usize) -> Self {
        let mut memory = std::ptr::null_mut();
        // SAFETY: as HIP declares it.
        let code = unsafe {
            let alloc: Symbol<unsafe extern "C" fn(*mut *mut c_void, usize) -> c_int> =
                gpu.driver().get(b"hipMalloc").unwrap();
            alloc(&mut memory, bytes)
        };
        assert_eq!(code, 0);
        Other(gpu, memory)
    }
}

impl Drop for Other<'_> {
    fn drop(&mut self) {
        // SAFETY: as HIP declares it; the memory is this value's.
        unsafe {
            let free: Symbol<unsafe extern "C" fn(*mut c_void) -> c_int> =
                self.0.driver().get(b"hipFree").unwrap();
            free(self.1);
        }
    }
}

/// Memory that other programs use is no room either, whatever the limit says.
#[test]
fn memory_of_others_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = large(folder.path());
    let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=64");
    let device = gpu.device();
    let other = Other::new(&gpu, 60 << 20);
    let mut steps = Vec::new();
    let error = load(&path, DeviceChoice::Gpu(0), &mut steps).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory(_)), "{text}");
    assert!(
        text.contains("need 5 MiB") && text.contains("4 MiB"),
        "{text}"
    );
    assert_eq!(steps, [0], "it was begun");
    drop(other);
    load(&path, DeviceChoice::Gpu(0), &mut steps).unwrap();
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}
