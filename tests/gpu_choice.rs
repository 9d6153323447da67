//! The device of a model that names none: the best GPU that passes the short self-test, else the CPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/log_lines.rs"]
mod log_lines;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::log::Level;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use random_model::{Spec, Storage};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Launches that were executed, but for those that arrange a model's weights: the self-test's.
fn tested(gpu: &gpu::Gpu) -> u64 {
    let report = gpu.report();
    let kernels = report["kernels"].as_object().unwrap().iter();
    let others = kernels.filter(|(name, _)| !name.contains("mlxrocm_pack_"));
    let launches = others.map(|(_, kernel)| kernel["launches"].as_u64().unwrap());
    launches.sum()
}

/// The driver's place of a device of the software GPU.
fn pci(ordinal: usize) -> String {
    mlxrocm::gpu::Device::list().found[ordinal].pci_id.clone()
}

fn path() -> &'static Path {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::Gguf(3, mlxrocm::formats::Format::Q4_0);
        let path = Spec::new("choice", "llama", storage).write(folder.path());
        (folder, path)
    });
    path
}

/// What the log said during a load on `device`.
fn load(device: DeviceChoice) -> Vec<(Level, String)> {
    let lines = log_lines::capture();
    let options = LoadOptions {
        device,
        ..LoadOptions::default()
    };
    Model::load(path(), &options, None).map(drop).unwrap();
    lines.all()
}

/// The one line that says which device was chosen.
fn chosen(lines: &[(Level, String)]) -> &str {
    let said = |(level, line): &&(Level, String)| {
        *level == Level::Info && line.starts_with("the model runs on ")
    };
    let found: Vec<_> = lines.iter().filter(said).collect();
    let [(_, line)] = found[..] else {
        panic!("{lines:?}");
    };
    line
}

fn warnings(lines: &[(Level, String)]) -> Vec<&str> {
    let warning = |(level, _): &&(Level, String)| *level == Level::Warn;
    let lines = lines.iter().filter(warning);
    lines.map(|(_, line)| line.as_str()).collect()
}

/// Files of verdicts that are kept.
fn kept(gpu: &gpu::Gpu) -> Vec<PathBuf> {
    match std::fs::read_dir(gpu.cache().join("mlxrocm/selftest")) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => Vec::new(),
    }
}

/// Launches of the self-test in a load on whatever device is chosen.
fn launches(gpu: &gpu::Gpu) -> u64 {
    let before = tested(gpu);
    load(DeviceChoice::Auto);
    tested(gpu) - before
}

#[test]
fn memory_of_its_own_comes_before_more_memory() {
    let gpu = gpu::soft(
        "devices=gfx1151,gfx1151,gfx1151,gfx1151;integrated=1,0,0,0;vram_mib=4096,512,1024,1024",
    );
    let lines = load(DeviceChoice::Auto);
    assert!(chosen(&lines).contains(&pci(2)), "{lines:?}");
    assert_eq!(warnings(&lines), [""; 0]);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn a_gpu_with_wrong_results_is_passed_over_and_remembered() {
    let gpu = gpu::soft("devices=gfx1151,gfx1151;integrated=0;vram_mib=1024,512");
    gpu.fault("wrong@1");
    let (first, second) = (pci(0), pci(1));
    let expect_second = |lines: &[(Level, String)]| {
        assert!(chosen(lines).contains(&second), "{lines:?}");
        let [warning] = warnings(lines)[..] else {
            panic!("{lines:?}");
        };
        for part in [
            &first,
            "self-test failed: mlxrocm_fill_u32: 1 numbers: byte ",
        ] {
            assert!(warning.contains(part), "{warning}");
        }
    };
    expect_second(&load(DeviceChoice::Auto));
    assert_eq!(kept(&gpu).len(), 2);
    // The fault has passed, but the verdict on both is known.
    let before = tested(&gpu);
    expect_second(&load(DeviceChoice::Auto));
    assert_eq!(tested(&gpu), before);
    // Whoever names it gets it.
    let lines = load(DeviceChoice::Gpu(0));
    assert_eq!(warnings(&lines), [""; 0]);
    // Without the files both are tested again.
    for file in kept(&gpu) {
        std::fs::remove_file(file).unwrap();
    }
    let lines = load(DeviceChoice::Auto);
    assert!(chosen(&lines).contains(&first), "{lines:?}");
    assert!(tested(&gpu) > before);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn without_a_sound_gpu_the_cpu_is_used() {
    let gpu = gpu::soft("devices=gfx1151,gfx1151;integrated=0");
    gpu.fault("wrong@1+");
    let lines = load(DeviceChoice::Auto);
    assert!(chosen(&lines).contains("the CPU"), "{lines:?}");
    let warnings = warnings(&lines);
    assert_eq!(warnings.len(), 2, "{lines:?}");
    for (ordinal, warning) in warnings.iter().enumerate() {
        assert!(warning.contains(&pci(ordinal)), "{lines:?}");
    }
    gpu.no_leaks();
}

#[test]
fn errors_of_the_driver_are_not_remembered() {
    for fault in ["launch@1+", "alloc@1+", "module@1+"] {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        gpu.fault(fault);
        let lines = load(DeviceChoice::Auto);
        assert!(chosen(&lines).contains("the CPU"), "{lines:?}");
        let [warning] = warnings(&lines)[..] else {
            panic!("{lines:?}");
        };
        assert!(
            warning.contains("self-test failed: mlxrocm_fill_u32: "),
            "{warning}"
        );
        assert!(kept(&gpu).is_empty());
        gpu.fault("none");
        let lines = load(DeviceChoice::Auto);
        assert!(chosen(&lines).contains(&pci(0)), "{lines:?}");
        gpu.clean();
        gpu.no_leaks();
    }
}

/// A kernel that faults takes its GPU with it, and no other.
#[test]
fn a_gpu_that_is_lost_in_its_self_test_is_passed_over() {
    let gpu = gpu::soft("devices=gfx1151,gfx1151;integrated=0;vram_mib=1024,512;sticky=1");
    gpu.fault("kernel@2");
    let lines = load(DeviceChoice::Auto);
    assert!(chosen(&lines).contains(&pci(1)), "{lines:?}");
    let first = pci(0);
    let about = |line: &&str| line.contains(&first) && line.contains("mlxrocm_fill_u32: ");
    assert_eq!(
        warnings(&lines).into_iter().filter(about).count(),
        1,
        "{lines:?}"
    );
    assert_eq!(kept(&gpu).len(), 1);
    gpu.reset();
}

#[test]
fn a_verdict_is_read_from_disk_and_a_damaged_one_is_found_again() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    assert!(launches(&gpu) > 0);
    let [file] = &kept(&gpu)[..] else {
        panic!("{:?}", kept(&gpu));
    };
    let whole = std::fs::read_to_string(file).unwrap();
    assert_eq!(launches(&gpu), 0);
    for damaged in [
        "",
        "nonsense",
        &whole[..whole.len() - 2],
        &whole.replace("driver", "drive"),
    ] {
        std::fs::write(file, damaged).unwrap();
        assert!(launches(&gpu) > 0, "{damaged}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), whole);
    }
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn a_gpu_that_is_named_is_not_tested() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    gpu.fault("wrong@1+");
    let before = tested(&gpu);
    let lines = load(DeviceChoice::Gpu(0));
    assert_eq!(warnings(&lines), [""; 0]);
    assert_eq!(tested(&gpu), before);
    assert!(kept(&gpu).is_empty());
    gpu.no_leaks();
}
