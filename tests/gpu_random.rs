//! Random use of the whole engine (buffers that come and go, three streams, events, launches, copies,
//! fills, programs) against a model that does one thing after the other.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::gpu::{Args, Device, DeviceBuffer, Event, Kernel, ProgramMode, Stream};
use std::sync::Arc;

/// A buffer, what it must contain, and the stream that last touched it.
struct Slot {
    buffer: DeviceBuffer,
    model: Vec<u32>,
    stream: usize,
}

struct Engine {
    device: Arc<Device>,
    streams: Vec<Stream>,
    events: Vec<Event>,
    kernel: Kernel,
    slots: Vec<Slot>,
    random: prng::Prng,
}

impl Engine {
    fn new(device: &Arc<Device>, seed: u64) -> Self {
        Engine {
            streams: (0..3).map(|_| device.stream().unwrap()).collect(),
            events: (0..3).map(|_| device.event().unwrap()).collect(),
            kernel: gpu::mix_kernel(device),
            device: device.clone(),
            slots: Vec::new(),
            random: prng::Prng::new(seed),
        }
    }

    fn pick(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    /// Orders `stream` after the last use of a slot, as an application must.
    fn follow(&mut self, stream: usize, slot: usize) {
        let last = self.slots[slot].stream;
        if last != stream {
            self.streams[last].record(&self.events[last]).unwrap();
            self.streams[stream].wait_for(&self.events[last]).unwrap();
            self.slots[slot].stream = stream;
        }
    }

    fn create(&mut self) {
        let (stream, len) = (self.pick(3), 1 + self.pick(300));
        let model: Vec<u32> = (0..len).map(|_| self.random.u64() as u32).collect();
        let bytes = model.len() as u64 * 4;
        let own = &self.streams[stream];
        let buffer = if self.random.below(2) == 0 {
            self.device.alloc_for(own, bytes).unwrap()
        } else {
            self.device.alloc(bytes).unwrap()
        };
        own.copy_to_device(&buffer, 0, &gpu::bytes_of(&model))
            .unwrap();
        self.slots.push(Slot {
            buffer,
            model,
            stream,
        });
    }

    fn check(&mut self, slot: usize) {
        let Slot {
            buffer,
            model,
            stream,
        } = &self.slots[slot];
        assert_eq!(&gpu::values(&self.streams[*stream], buffer), model);
    }

    /// `target = mix(target, other, other, k)`, directly or as a program in a random mode.
    fn launch(&mut self) {
        let (target, other) = (self.pick(self.slots.len()), self.pick(self.slots.len()));
        let (stream, k) = (self.pick(3), self.random.u64() as u32);
        self.follow(stream, target);
        self.follow(stream, other);
        let n = self.slots[target]
            .model
            .len()
            .min(self.slots[other].model.len());
        let (to, from) = (&self.slots[target].buffer, &self.slots[other].buffer);
        let args = Args::new()
            .buffer("target", to, 0)
            .buffer("a", from, 0)
            .buffer("b", from, 0);
        let args = args.u32("n", n as u32).u32("k", k);
        let (grid, block) = ([(n as u32).div_ceil(64), 1, 1], [64, 1, 1]);
        let stream = &self.streams[stream];
        let mode = match self.random.below(4) {
            0 => Some(ProgramMode::Graph),
            1 => Some(ProgramMode::Direct),
            _ => None,
        };
        match mode {
            None => stream.launch(&self.kernel, grid, block, 0, &args).unwrap(),
            Some(mode) => {
                let (reads, writes) = ([to.whole(), from.whole()], [to.whole()]);
                let program = self
                    .device
                    .record(|e| e.launch(&self.kernel, grid, block, 0, args, &reads, &writes))
                    .unwrap();
                program.run_as(stream, mode).unwrap();
            }
        }
        for i in 0..n {
            let b = self.slots[other].model[i];
            let a = &mut self.slots[target].model[i];
            *a = gpu::mix(*a, b, b, k);
        }
    }

    fn copy_or_fill(&mut self) {
        let (target, other) = (self.pick(self.slots.len()), self.pick(self.slots.len()));
        let (stream, value) = (self.pick(3), self.random.u64() as u8);
        self.follow(stream, target);
        self.follow(stream, other);
        let n = self.slots[target]
            .model
            .len()
            .min(self.slots[other].model.len());
        let stream = &self.streams[stream];
        let (to, from) = (&self.slots[target].buffer, &self.slots[other].buffer);
        if target == other {
            stream.fill(to, 0, n as u64 * 4, value).unwrap();
            self.slots[target]
                .model
                .fill(u32::from_ne_bytes([value; 4]));
        } else {
            stream.copy_on_device(from, 0, to, 0, n as u64 * 4).unwrap();
            let values = self.slots[other].model[..n].to_vec();
            self.slots[target].model[..n].copy_from_slice(&values);
        }
    }

    fn step(&mut self) {
        if self.slots.len() < 3 {
            return self.create();
        }
        match self.random.below(12) {
            0..=1 => self.create(),
            2..=3 => {
                // While its work may still be queued.
                let gone = self.pick(self.slots.len());
                self.slots.swap_remove(gone);
            }
            4..=7 => self.launch(),
            8..=9 => self.copy_or_fill(),
            10 => {
                let slot = self.pick(self.slots.len());
                self.check(slot);
            }
            _ => {
                let (stream, fresh) = (self.pick(3), self.device.stream().unwrap());
                // A stream goes with its work queued; its buffers are used on another one.
                for slot in 0..self.slots.len() {
                    if self.slots[slot].stream == stream {
                        self.follow((stream + 1) % 3, slot);
                    }
                }
                self.streams[stream] = fresh;
            }
        }
    }
}

#[test]
fn random_use_of_the_engine_gives_what_its_order_says() {
    let seeds = if gpu::is_real() { 60 } else { 40 };
    for seed in 1..=seeds {
        let gpu = if gpu::is_real() {
            gpu::gpu()
        } else {
            // A long quiet time: work piles up before the scheduler begins, in an order of its own.
            gpu::soft(&format!(
                "devices=gfx1151;integrated=0;seed={seed};delay_us=50000"
            ))
        };
        let device = gpu.device();
        let mut engine = Engine::new(&device, seed);
        for _ in 0..150 {
            engine.step();
        }
        (0..engine.slots.len()).for_each(|slot| engine.check(slot));
        drop(engine);
        assert_eq!(device.memory().unwrap().active, 0);
        drop(device);
        gpu.clean();
        gpu.no_leaks();
    }
}
