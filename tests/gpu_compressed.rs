//! Nets in the packed formats of compressed-tensors on GPUs beside the same numbers in f32 on the CPU.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/compressed.rs"]
mod compressed;
#[path = "support/gguf_writer.rs"]
#[allow(dead_code)]
mod gguf_writer;
#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[allow(dead_code)]
#[path = "support/tiny_tokenizer.rs"]
mod tiny_tokenizer;

use mlxrocm::model::DeviceChoice;
use on_gpu::{TOLERANCE, device, farthest, load, logits};

#[test]
fn nets_give_what_their_numbers_give_on_the_cpu() {
    let tokens: Vec<u32> = (0..40).map(|i| (i * i + 3 * i) % 8).collect();
    for kind in ["nvfp4", "int4_32"] {
        let [packed, plain] = compressed::nets(kind);
        for folder in [&packed, &plain] {
            tiny_tokenizer::write_files(&folder.path);
        }
        let cpu = load(&plain.path, DeviceChoice::Cpu);
        let expected = logits(&cpu, &tokens, &[40]).unwrap();
        let size = expected.iter().fold(1.0, |most: f32, x| most.max(x.abs()));
        for target in gpu::by_turns(&["gfx1151", "gfx942", "gfx1201"]) {
            let gpu = device(target);
            let model = load(&packed.path, DeviceChoice::Gpu(0));
            for steps in [&[40][..], &[21, 3, 1, 7]] {
                let found = logits(&model, &tokens, steps).unwrap();
                let far = farthest(&found, &expected) / size;
                println!("{kind} on {target}, steps {steps:?}: {far:.1e}");
                assert!(
                    far < TOLERANCE,
                    "{kind} on {target}, steps {steps:?}: {far}"
                );
            }
            if !gpu::is_real() {
                assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
            }
        }
    }
}
