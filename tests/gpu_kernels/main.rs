//! The words of `hip/common` and the engine's own kernels, executed: on the software GPU for its nine
//! targets, or with `MLXROCM_TEST_GPU=real` on this machine's GPU.

mod attention;
mod blas;
mod compare;
mod delta;
mod delta_step;
mod engine;
#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/mapped.rs"]
mod mapped;
mod matmul;
mod mutations;
mod networks;
mod pieces;
mod plain;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/prng.rs"]
mod prng;
#[allow(dead_code)] // the counters are another test's
#[path = "../decode_counters/product.rs"]
mod product;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/random_formats.rs"]
mod random_formats;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/random_matrix.rs"]
mod random_matrix;
mod routers;
mod sample;
mod wide;
mod words;

use mlxrocm::gpu::{Args, Device, DeviceBuffer, Kernel, Stream};
use std::sync::Arc;

/// A device with a stream.
struct Bench {
    device: Arc<Device>,
    stream: Stream,
}

/// Runs `test` on each target.
#[track_caller]
fn on_every_target(test: impl Fn(&Bench)) {
    on_targets(&gpu::targets(), test);
}

/// Runs `test` on each of these targets.
#[track_caller]
fn on_targets(targets: &[&str], test: impl Fn(&Bench)) {
    let targets = if gpu::is_real() { &["real"] } else { targets };
    for target in targets {
        let gpu = match *target {
            "real" => gpu::gpu(),
            target => gpu::soft(&format!("devices={target}")),
        };
        let device = gpu.device();
        let stream = device.stream().unwrap();
        let bench = Bench { device, stream };
        println!("{target}");
        test(&bench);
        drop(bench);
        gpu.clean();
        gpu.no_leaks();
    }
}

impl Bench {
    fn wave(&self) -> u32 {
        self.device.facts().wave_size
    }

    fn buffer(&self, values: &[u32]) -> DeviceBuffer {
        gpu::filled(&self.device, &self.stream, values)
    }

    fn values(&self, buffer: &DeviceBuffer) -> Vec<u32> {
        gpu::values(&self.stream, buffer)
    }

    #[track_caller]
    fn launch(&self, kernel: &Kernel, grid: [u32; 3], threads: u32, lds: u32, args: &Args) {
        self.stream
            .launch(kernel, grid, [threads, 1, 1], lds, args)
            .unwrap();
        self.stream.wait(gpu::PATIENCE).unwrap();
    }
}
