//! Random programs beside a model that runs one operation after the other.

use crate::{MODES, gpu, mix, prng};
use mlxrocm::gpu::{Device, DeviceBuffer, Encoder, Kernel};
use std::sync::Arc;

/// The memory of a random program: buffers of numbers, on the device and in the model.
struct World {
    device: Arc<Device>,
    kernel: Kernel,
    buffers: Vec<DeviceBuffer>,
    model: Vec<Vec<u32>>,
}

/// Numbers of a buffer.
const SIZE: u64 = 96;

impl World {
    /// Records one random operation and does it in the model.
    fn step(&mut self, encoder: &mut Encoder, random: &mut prng::Prng) {
        let n = 1 + random.below(SIZE / 2);
        let mut place = || {
            let buffer = random.below(self.buffers.len() as u64) as usize;
            (buffer, random.below(SIZE - n + 1))
        };
        let (target, a, b) = (place(), place(), place());
        let k = random.u64() as u32;
        let meet = |x: (usize, u64), y: (usize, u64)| x.0 == y.0 && x.1 < y.1 + n && y.1 < x.1 + n;
        let part = |(_, at): (usize, u64)| at as usize..(at + n) as usize;
        match random.below(6) {
            0 => {
                let (buffer, value) = (&self.buffers[target.0], k as u8);
                encoder.fill(buffer, target.1 * 4, n * 4, value).unwrap();
                let word = u32::from_ne_bytes([value; 4]);
                self.model[target.0][part(target)].fill(word);
            }
            1 if !meet(target, a) => {
                let (from, to) = (&self.buffers[a.0], &self.buffers[target.0]);
                encoder
                    .copy(from, a.1 * 4, to, target.1 * 4, n * 4)
                    .unwrap();
                let values = self.model[a.0][part(a)].to_vec();
                self.model[target.0][part(target)].copy_from_slice(&values);
            }
            // Work items of a launch have no order: a target beside its sources, or the same.
            _ if (!meet(target, a) || target == a) && (!meet(target, b) || target == b) => {
                let buffers = [target, a, b].map(|(buffer, at)| (&self.buffers[buffer], at));
                mix(encoder, &self.kernel, buffers, n, k);
                for i in 0..n as usize {
                    let at = |(buffer, at): (usize, u64)| self.model[buffer][at as usize + i];
                    let value = gpu::mix(at(target), at(a), at(b), k);
                    self.model[target.0][target.1 as usize + i] = value;
                }
            }
            _ => {}
        }
    }
}

/// A thousand random programs, each run in both modes from the same state, give the model's bits.
#[test]
fn a_thousand_random_programs_do_what_their_order_says() {
    let mut random = prng::Prng::new(20_26);
    let mut edges = 0;
    for batch in 0..10 {
        let gpu = if gpu::is_real() {
            gpu::gpu()
        } else {
            gpu::soft(&format!("devices=gfx1151;integrated=0;seed={}", batch + 1))
        };
        let device = gpu.device();
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let kernel = gpu::mix_kernel(&device);
        for _ in 0..100 {
            let model: Vec<Vec<u32>> = (0..4)
                .map(|_| (0..SIZE).map(|_| random.u64() as u32).collect())
                .collect();
            let stream = &streams[random.below(2) as usize];
            let mut world = World {
                buffers: model
                    .iter()
                    .map(|values| gpu::filled(&device, stream, values))
                    .collect(),
                device: device.clone(),
                kernel: kernel.clone(),
                model: model.clone(),
            };
            let steps = 1 + random.below(12);
            let segment = random.below(3) as usize * 3;
            device.set_graph_segment(segment);
            let program = world
                .device
                .clone()
                .record(|encoder| {
                    (0..steps).for_each(|_| world.step(encoder, &mut random));
                    Ok(())
                })
                .unwrap();
            edges += program.edges().len();
            for mode in MODES {
                for (buffer, values) in world.buffers.iter().zip(&model) {
                    let bytes = gpu::bytes_of(values);
                    stream.copy_to_device(buffer, 0, &bytes).unwrap();
                }
                program.run_as(stream, mode).unwrap();
                for (buffer, expected) in world.buffers.iter().zip(&world.model) {
                    assert_eq!(&gpu::values(stream, buffer), expected, "{mode:?}");
                }
            }
        }
        device.set_graph_segment(0);
        drop((kernel, streams, device));
        gpu.clean();
        gpu.no_leaks();
    }
    assert!(edges > 2000, "{edges} edges in all: nothing was ordered");
}
