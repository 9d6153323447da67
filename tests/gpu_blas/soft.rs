//! What only the stand-in can show.

use crate::on_gpu::{TOLERANCE, device, farthest, load};
use crate::{
    HIPBLASLT, PRODUCTS, ROCBLAS, SHAPES, file_of, forward, gpu, last, logged, logits_on_gpu, with,
    with_blas, write,
};
use mlxrocm::gpu::BlasPolicy;
use mlxrocm::model::DeviceChoice;
use std::path::{Path, PathBuf};

/// A model in a folder, a device, and what our own kernels give.
fn subject() -> (tempfile::TempDir, PathBuf, gpu::Gpu, Vec<f32>) {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "llama-q4_1.gguf");
    let gpu = device("gfx1151");
    let own = logits_on_gpu(&path);
    (folder, path, gpu, own)
}

#[test]
fn without_a_library_or_memory_the_kernels_are_our_own() {
    let (_folder, path, gpu, own) = subject();
    // No library, and one that does not use the driver.
    for library in [None, Some(Path::new("libm.so.6"))] {
        let device = with_blas(&gpu, BlasPolicy::On);
        gpu.set_blas(library);
        let (got, lines) = logged(|| logits_on_gpu(&path));
        assert!(got == own, "{library:?}");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("our own kernels"), "{lines:?}");
        drop(device);
    }
    // Little memory beside the model.
    let device = with_blas(&gpu, BlasPolicy::On);
    let model = load(&path, DeviceChoice::Gpu(0));
    let mut state = forward(&model);
    let active = device.memory().unwrap().active;
    device.set_memory_limit(active + (3 << 20)).unwrap();
    let (got, lines) = logged(|| last(&mut *state).unwrap());
    assert!(got == own);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].contains("MiB"), "{lines:?}");
    assert_eq!(gpu.calls("rocblas_gemm_ex"), 0);
    drop((state, model, device));
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn a_library_that_fails_is_not_used_again() {
    let (_folder, path, gpu, own) = subject();
    for (library, policy, fault, calls) in [
        (ROCBLAS, BlasPolicy::On, "blas@3", 3),
        // The first is the timing's.
        (ROCBLAS, BlasPolicy::Auto, "blas@1", 1),
        (ROCBLAS, BlasPolicy::Auto, "blas@7", 7),
        (HIPBLASLT, BlasPolicy::On, "blas@3", 3),
        (HIPBLASLT, BlasPolicy::Auto, "blas@7", 7),
    ] {
        let device = with(library, &gpu, policy);
        let model = load(&path, DeviceChoice::Gpu(0));
        let mut state = forward(&model);
        let before = gpu.calls(library[1]);
        gpu.fault(fault);
        let (results, lines) = logged(|| [0, 1].map(|_| last(&mut *state).unwrap()));
        assert!(results.iter().all(|got| *got == own), "{fault}");
        let failed = lines.iter().filter(|line| line.contains("status 6"));
        assert_eq!(failed.count(), 1, "{lines:?}");
        assert_eq!(gpu.calls(library[1]) - before, calls, "{fault}");
        assert!(forward(&model).vocab_size() > 0);
        drop((state, model, device));
        gpu.clean();
        gpu.no_leaks();
    }
}

#[test]
fn refused_memory_leaves_our_own_kernels() {
    let (_folder, path, gpu, own) = subject();
    let mut refused = 0;
    for (site, policy, most) in [
        ("alloc", BlasPolicy::On, usize::MAX),
        ("event", BlasPolicy::Auto, 2),
    ] {
        for call in 1..=most {
            let device = with_blas(&gpu, policy);
            let model = load(&path, DeviceChoice::Gpu(0));
            let mut state = forward(&model);
            device.trim().unwrap();
            let delivered = gpu.report()["faults_delivered"].clone();
            gpu.fault(&format!("{site}@{call}"));
            let first = last(&mut *state);
            gpu.fault("none");
            let struck = gpu.report()["faults_delivered"] != delivered;
            // A refusal that is not the BLAS's comes out; the next call works in any case.
            for logits in first.into_iter().chain([last(&mut *state).unwrap()]) {
                assert!(farthest(&logits, &own) < TOLERANCE, "{site}@{call}");
            }
            refused += usize::from(struck);
            let _ = std::fs::remove_dir_all(gpu.cache().join("mlxrocm/blas"));
            drop((state, model, device));
            gpu.clean();
            gpu.no_leaks();
            if !struck {
                break;
            }
        }
    }
    // The scratch memory's two, the workspace, two events.
    assert!(refused >= 5, "{refused}");
}

/// The files of choices.
fn kept(gpu: &gpu::Gpu) -> Vec<PathBuf> {
    let files = std::fs::read_dir(gpu.cache().join("mlxrocm/blas"));
    let files = files.into_iter().flatten().map(|file| file.unwrap().path());
    files.collect()
}

#[test]
fn what_was_timed_faster_is_kept() {
    let (_folder, path, gpu, own) = subject();
    // A device that is opened again, as by another process: its calls, and whether it opens the library.
    let run = || {
        let device = with_blas(&gpu, BlasPolicy::Auto);
        let before = gpu.calls("rocblas_gemm_ex");
        let (got, lines) = logged(|| logits_on_gpu(&path));
        drop(device);
        gpu.clean();
        gpu.no_leaks();
        let calls = gpu.calls("rocblas_gemm_ex") - before;
        (got, calls, lines.iter().any(|line| line.contains("BLAS: ")))
    };
    // Changes a word of a choice: `own_ns N blas_ns N file BYTES TIME PATH end`.
    let edit = |file: &Path, at: usize, word: &str| {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        let mut words: Vec<&str> = lines[2].split(' ').collect();
        words[at] = word;
        let line = words.join(" ");
        std::fs::write(file, format!("{}\n{}\n{line}\n", lines[0], lines[1])).unwrap();
    };
    let (got, calls, is_opened) = run();
    assert!(farthest(&got, &own) < TOLERANCE);
    // Each shape is run twice to be compared and four times to be timed.
    assert!(calls >= 6 * SHAPES as u64 && is_opened, "{calls}");
    assert_eq!(kept(&gpu).len(), SHAPES);
    for file in kept(&gpu) {
        edit(&file, 1, "2");
        edit(&file, 3, "1");
    }
    let (by_blas, calls, is_opened) = run();
    assert_eq!((calls, is_opened), (PRODUCTS, true));
    assert!(farthest(&by_blas, &own) < TOLERANCE);
    for file in kept(&gpu) {
        edit(&file, 1, "1");
        edit(&file, 3, "2");
    }
    let (got, calls, is_opened) = run();
    assert_eq!((calls, is_opened), (0, false));
    assert!(got == own);
    // Damaged, or about a library that is another one now: that shape is timed again, and kept.
    let changed = kept(&gpu).remove(0);
    for (at, word) in [(4, "files"), (5, "77"), (7, "/none")] {
        edit(&changed, at, word);
        let (_, calls, is_opened) = run();
        assert!((6..=8).contains(&calls) && is_opened, "{word}: {calls}");
        let text = std::fs::read_to_string(&changed).unwrap();
        assert!(text.ends_with(" end\n"), "{text}");
        assert_eq!(run().1, calls - 6, "{word}");
    }
}

/// A device that is opened again; nobody said that this process may try anything.
fn run_untried(path: &Path, gpu: &gpu::Gpu) -> (Vec<f32>, u64, Vec<String>) {
    let device = with_blas(gpu, BlasPolicy::Auto);
    device.set_blas_tries(false);
    let before = gpu.calls("rocblas_gemm_ex");
    let (got, lines) = logged(|| logits_on_gpu(path));
    drop(device);
    (got, gpu.calls("rocblas_gemm_ex") - before, lines)
}

#[test]
fn nothing_is_tried_unasked_on_amd() {
    let (_folder, path, gpu, own) = subject();
    let (got, calls, lines) = run_untried(&path, &gpu);
    assert!(got == own && calls == 0, "{calls}");
    assert!(
        lines.len() == 1 && lines[0].contains("selftest"),
        "{lines:?}"
    );
    assert!(kept(&gpu).is_empty());
}

#[test]
fn sums_that_differ_from_time_to_time_are_not_taken() {
    let (_folder, path, gpu, _) = subject();
    let device = with(HIPBLASLT, &gpu, BlasPolicy::Auto);
    // The second product of the first shape.
    gpu.fault("blas_wrong@2");
    let (_, lines) = logged(|| logits_on_gpu(&path));
    let wrong = lines.iter().filter(|line| line.contains("wrong results"));
    assert_eq!(wrong.count(), 1, "{lines:?}");
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn libraries_are_found_by_their_names_and_their_code() {
    let (folder, path, gpu, own) = subject();
    let (lib, code) = (folder.path().join("lib"), folder.path().join("code"));
    std::fs::create_dir_all(&lib).unwrap();
    let set = |name: &str, value: &Path| {
        // SAFETY: tests take turns, and this one has the GPU.
        unsafe { std::env::set_var(name, value) }
    };
    let unset = |name: &str| {
        // SAFETY: as above.
        unsafe { std::env::remove_var(name) }
    };
    set("ROCM_PATH", folder.path());
    file_of(ROCBLAS, &lib);
    file_of(HIPBLASLT, &lib);
    for (lt, roc, taken) in [
        ("gfx1151", "gfx1151", Some(HIPBLASLT)),
        ("gfx942", "gfx1151", Some(ROCBLAS)),
        ("gfx942", "gfx942", None),
    ] {
        for (name, folder, arch) in [
            ("HIPBLASLT_TENSILE_LIBPATH", "lt", lt),
            ("ROCBLAS_TENSILE_LIBPATH", "roc", roc),
        ] {
            let folder = code.join(folder).join("library");
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("Kernels_{arch}.co")), "").unwrap();
            set(name, folder.parent().unwrap());
        }
        unset("MLXROCM_BLAS_LIBRARY");
        let device = gpu.device();
        device.set_blas_policy(BlasPolicy::On);
        let before = [ROCBLAS, HIPBLASLT].map(|library| gpu.calls(library[1]));
        let (got, lines) = logged(|| logits_on_gpu(&path));
        assert!(farthest(&got, &own) < TOLERANCE);
        for (library, before) in [ROCBLAS, HIPBLASLT].into_iter().zip(before) {
            let expected = if taken == Some(library) { PRODUCTS } else { 0 };
            assert_eq!(gpu.calls(library[1]) - before, expected, "{lines:?}");
        }
        drop(device);
        gpu.clean();
        gpu.no_leaks();
    }
    for name in [
        "ROCM_PATH",
        "HIPBLASLT_TENSILE_LIBPATH",
        "ROCBLAS_TENSILE_LIBPATH",
    ] {
        unset(name);
    }
}

#[test]
fn a_wrong_sum_means_our_own_kernel_for_good() {
    let (_folder, path, gpu, own) = subject();
    let device = with_blas(&gpu, BlasPolicy::Auto);
    gpu.fault("blas_wrong@1+");
    let (got, lines) = logged(|| logits_on_gpu(&path));
    gpu.fault("none");
    drop(device);
    assert!(got == own);
    let wrong = lines.iter().filter(|line| line.contains("wrong results"));
    assert_eq!(wrong.count(), SHAPES, "{lines:?}");
    // Its verdicts are kept: whoever comes later does not open it.
    assert_eq!(kept(&gpu).len(), SHAPES);
    let (got, calls, _) = run_untried(&path, &gpu);
    assert!(got == own && calls == 0, "{calls}");
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn a_late_fault_means_our_own_kernels_for_good() {
    let (_folder, path, gpu, own) = subject();
    let device = with_blas(&gpu, BlasPolicy::Auto);
    let model = load(&path, DeviceChoice::Gpu(0));
    let mut state = forward(&model);
    gpu.fault("blas_late@2");
    assert!(last(&mut *state).is_err());
    gpu.fault("none");
    drop((state, model, device));
    gpu.reset();
    // The first product's verdict may be there, and the mark of the trial; nobody tries again, not if asked.
    let mark = |file: &PathBuf| {
        file.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("a_trial")
    };
    assert!(kept(&gpu).len() <= SHAPES && kept(&gpu).iter().any(mark));
    let asked = || {
        let device = with_blas(&gpu, BlasPolicy::Auto);
        let before = gpu.calls("rocblas_gemm_ex");
        let (got, lines) = logged(|| logits_on_gpu(&path));
        drop(device);
        (got, gpu.calls("rocblas_gemm_ex") - before, lines)
    };
    let (got, calls, lines) = asked();
    assert!(got == own && calls == 0, "{calls}");
    assert!(
        lines.len() == 1 && lines[0].contains("earlier trial"),
        "{lines:?}"
    );
    // Another library than the one that did it, or one that is tried just now.
    let file = kept(&gpu).into_iter().find(mark).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let own_process = format!("process {} ", std::process::id());
    assert!(text.contains(&own_process), "{text}");
    for (from, to) in [(" file ", " file 1"), (&*own_process, "process 1 ")] {
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let (got, calls, _) = asked();
        assert!(farthest(&got, &own) < TOLERANCE && calls > 0, "{to}");
        assert!(!file.exists(), "{to}");
        kept(&gpu)
            .iter()
            .for_each(|file| std::fs::remove_file(file).unwrap());
    }
}
