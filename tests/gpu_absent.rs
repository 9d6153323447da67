//! No GPU, no driver, or one that cannot be used: the status, and what to do about it.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu.rs"]
mod gpu;

use mlxrocm::driver::{self, Platform};
use mlxrocm::{Error, gpu::Device};
use std::ffi::OsStr;
use std::process::Command;

/// The message of the error that opening a library must give.
fn refused(platform: Platform, library: &OsStr) -> String {
    match driver::open_library(platform, Some(library)).err() {
        Some(Error::NoDevice(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_library_without_devices_says_what_stands_in_the_way() {
    for absent in [100, 101] {
        let gpu = gpu::soft(&format!("devices=;absent={absent}"));
        let message = refused(Platform::Hip, gpu::library().as_os_str());
        assert!(message.contains("no AMD GPU"), "{message}");
        assert!(message.contains("/dev/kfd"), "{message}");
        drop(gpu);
    }
}

/// Debian's own library, which says 101 or 100 where there is no device.
#[test]
fn debians_hip_library_finds_no_device() {
    let library = OsStr::new("libamdhip64.so.5");
    let message = refused(Platform::Hip, library);
    assert!(
        !message.contains("cannot be loaded"),
        "install libamdhip64-5: {message}"
    );
    let has_gpu = std::path::Path::new("/dev/kfd").exists();
    assert!(
        has_gpu || message.contains("/dev/kfd is missing"),
        "{message}"
    );
}

#[test]
fn a_library_that_is_too_old_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("old.c");
    let library = folder.path().join("libamdhip64.so.4");
    std::fs::write(
        &source,
        "int hipInit(unsigned f) { return (int)f; }\n\
         int hipDriverGetVersion(int *v) { *v = 40000000; return 0; }\n",
    )
    .unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
    assert!(compiler.arg(&source).status().unwrap().success());
    let message = refused(Platform::Hip, library.as_os_str());
    assert!(message.contains("too old"), "{message}");
    assert!(message.contains("hipGetDeviceCount"), "{message}");
    assert!(message.contains("ROCm 5.2"), "{message}");
    let message = refused(Platform::Cuda, library.as_os_str());
    assert!(message.contains("cuInit"), "{message}");
    // A file that is no library.
    let message = refused(Platform::Hip, source.as_os_str());
    assert!(message.contains("cannot be loaded"), "{message}");
    assert!(message.contains("MLXROCM_HIP_LIBRARY"), "{message}");
}

/// A later major version whose numbers mean something else is not trusted.
#[test]
fn answers_that_make_no_sense_are_not_relied_on() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("new.c");
    let library = folder.path().join("libamdhip64.so.9");
    // All functions of the stand-in, but attributes have moved.
    let text = "#include <dlfcn.h>\n\
        int hipDeviceGetAttribute(int *value, unsigned attribute, int device)\n\
        { (void)attribute; (void)device; *value = 77; return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    compiler.arg("-Wl,--no-as-needed").arg(gpu::library());
    compiler.arg(format!(
        "-Wl,-rpath,{}",
        gpu::library().parent().unwrap().display()
    ));
    assert!(compiler.status().unwrap().success());
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let message = refused(Platform::Hip, library.as_os_str());
    assert!(message.contains("wave size 77"), "{message}");
    drop(gpu);
}

#[test]
fn the_list_tells_why_a_platform_has_no_devices() {
    let gpu = gpu::soft("devices=gfx1151,gfx942,gfx1201;integrated=0");
    let devices = Device::list();
    let arch: Vec<_> = devices.found.iter().map(|d| d.arch.as_str()).collect();
    assert_eq!(arch, ["gfx1151", "gfx942", "gfx1201"]);
    let waves: Vec<_> = devices.found.iter().map(|d| d.wave_size).collect();
    assert_eq!(waves, [32, 64, 32]);
    for facts in &devices.found {
        assert!(facts.target.starts_with(&facts.arch) && !facts.name.is_empty());
        assert!(facts.compute_units > 0 && facts.lds_bytes >= 65536);
        assert!(facts.max_block_threads == 1024 && facts.memory_total == 2048 << 20);
        assert_eq!(facts.platform, Platform::Hip);
        assert!(facts.pci_id.contains(':'), "{}", facts.pci_id);
    }
    let [(Platform::Cuda, Error::NoDevice(message))] = devices.missing.as_slice() else {
        panic!("{:?}", devices.missing);
    };
    assert!(message.contains("MLXROCM_CUDA_LIBRARY"), "{message}");
    let error = Device::open(3).err().unwrap();
    assert!(
        matches!(&error, Error::NoDevice(text) if text.contains("has 3")),
        "{error}"
    );
    let (one, again) = (Device::open(1).unwrap(), Device::open(1).unwrap());
    assert!(std::sync::Arc::ptr_eq(&one, &again));
    assert_eq!(one.facts().arch, "gfx942");
    drop((one, again));
    gpu.clean();
    gpu.no_leaks();
}
