//! A kernel of one's own, and arrays, on the first GPU: run by test.sh with the software GPU, or by hand with a real one.

use mlxrocm_rs::engine::{Arg, Buffer, GpuEvent, Grid, Kernel, Module, Program, Stream};
use mlxrocm_rs::{Array, Device, DeviceKind, Graphs, SelftestOptions, Status, build_info, version};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

const SOURCE: &str = r#"
extern "C" __global__ void scaled_sum(float *c, const float *a, const float *b, float scale, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + scale * b[i];
}
"#;
const COUNT: usize = 1000;

struct Engine {
    gpu: Device,
    kernel: Kernel,
    stream: Stream,
    a: Buffer,
    b: Buffer,
    c: Buffer,
}

impl Engine {
    fn new() -> Engine {
        let gpu = Device::open(1).unwrap();
        let kernel = Module::compile(&gpu, "sum.hip", SOURCE, &["-DUNUSED=1"]).unwrap().kernel("scaled_sum").unwrap();
        let [a, b, c] = [(); 3].map(|()| Buffer::new(&gpu, 4 * COUNT).unwrap());
        a.write(0, &numbers(0.0)).unwrap();
        b.write(0, &[0.25f32; COUNT]).unwrap();
        Engine { kernel, stream: Stream::new(&gpu).unwrap(), a, b, c, gpu }
    }

    /// c = from + scale * b.
    fn arguments<'a>(&'a self, from: &'a Buffer, scale: f32) -> [Arg<'a>; 5] {
        [self.c.output(), from.input(), self.b.input(), scale.into(), (COUNT as u32).into()]
    }

    fn grid() -> Grid {
        Grid::line(COUNT.div_ceil(256) as u32, 256)
    }

    fn launch(&self, args: &[Arg]) -> mlxrocm_rs::Result<()> {
        // SAFETY: the kernel stays within COUNT.
        unsafe { self.stream.launch(&self.kernel, Engine::grid(), args) }
    }
}

fn numbers(added: f32) -> Vec<f32> {
    (0..COUNT).map(|i| i as f32 + added).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn launch() {
    let e = Engine::new();
    e.launch(&e.arguments(&e.a, 2.0)).unwrap();
    e.stream.wait_within(Duration::from_secs(60)).unwrap();
    assert_eq!(e.c.read::<f32>(0, COUNT).unwrap(), numbers(0.5));
    // From a byte on: c[0] = a[1] + 2 b[0].
    let args = [e.c.output(), e.a.input().from_byte(4), e.b.input(), 2.0f32.into(), 1u32.into()];
    e.launch(&args).unwrap();
    e.stream.wait().unwrap();
    assert_eq!(e.c.read::<f32>(0, 2).unwrap(), [1.5, 1.5]);
    let info = e.kernel.info().unwrap();
    assert_eq!((&*info.name, info.wave_size), ("scaled_sum", 32));
    let device = e.gpu.info().unwrap();
    assert_eq!((device.kind, device.wave_size), (DeviceKind::Hip, 32));
    assert_eq!(Device::why_none(DeviceKind::Hip).unwrap(), "");
}

#[test]
#[ignore = "needs a GPU"]
fn program() {
    let e = Engine::new();
    let program = Program::new(&e.gpu).unwrap();
    // SAFETY: the kernel stays within COUNT.
    unsafe {
        program.launch(&e.kernel, Engine::grid(), &e.arguments(&e.a, 2.0)).unwrap();
        program.launch(&e.kernel, Engine::grid(), &e.arguments(&e.c, 4.0)).unwrap();
    }
    assert_eq!(e.stream.run(&program).unwrap_err().status, Status::InvalidArgument);
    program.end().unwrap();
    assert!(program.explain().unwrap().contains("2 launches"));
    for _ in 0..2 {
        e.stream.run(&program).unwrap();
    }
    e.stream.wait().unwrap();
    assert_eq!(e.c.read::<f32>(0, COUNT).unwrap(), numbers(1.5));
}

#[test]
#[ignore = "needs a GPU"]
fn fill_and_copy() {
    let e = Engine::new();
    let (target, pinned) = (Buffer::new(&e.gpu, 16).unwrap(), Buffer::pinned(&e.gpu, 16).unwrap());
    e.stream.fill(&target, 0, 16, 7).unwrap();
    e.stream.copy((&target, 8), (&e.b, 0), 4).unwrap();
    e.stream.copy((&pinned, 0), (&target, 0), 16).unwrap();
    e.stream.wait().unwrap();
    let mut wanted = [7u8; 16];
    wanted[8..12].copy_from_slice(&0.25f32.to_ne_bytes());
    assert_eq!(target.read::<u8>(0, 16).unwrap(), wanted);
    assert_eq!(pinned.read::<u8>(0, 16).unwrap(), wanted);
}

#[test]
#[ignore = "needs a GPU"]
fn queued_writes_and_reads_and_events() {
    let e = Engine::new();
    let (before, after) = (GpuEvent::new(&e.gpu).unwrap(), GpuEvent::new(&e.gpu).unwrap());
    assert!(before.is_done().unwrap());
    assert_eq!(after.since(&before).unwrap_err().status, Status::InvalidArgument);
    e.stream.record(&before).unwrap();
    e.stream.write(&e.a, 0, &numbers(7.0)).unwrap();
    e.launch(&e.arguments(&e.a, 2.0)).unwrap();
    e.stream.record(&after).unwrap();
    // Another stream reads after it.
    let other = Stream::new(&e.gpu).unwrap();
    other.wait_for(&after).unwrap();
    assert_eq!(other.read::<f32>(&e.c, 8, COUNT - 2).unwrap(), numbers(7.5)[2..]);
    after.wait_within(Duration::from_secs(60)).unwrap();
    after.wait().unwrap();
    e.stream.wait().unwrap();
    assert!(after.is_done().unwrap() && e.stream.is_idle().unwrap() && other.is_idle().unwrap());
    assert!(after.since(&before).unwrap() < Duration::from_secs(60));
    assert_eq!(e.stream.read::<f32>(&e.c, 4, COUNT).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(e.stream.write(&e.c, 4 * COUNT, b"1").unwrap_err().status, Status::InvalidArgument);
    let cpu = Device::open(0).unwrap();
    assert_eq!(GpuEvent::new(&cpu).map(drop).unwrap_err().status, Status::Unsupported);
}

#[test]
#[ignore = "needs a GPU"]
fn recorded_copies_and_fills() {
    let e = Engine::new();
    let program = Program::new(&e.gpu).unwrap();
    program.fill(&e.c, 0, 16, 7).unwrap();
    program.copy((&e.c, 8), (&e.b, 0), 4).unwrap();
    program.barrier().unwrap();
    program.fill(&e.a, 4, 4, 1).unwrap();
    assert_eq!(program.info().unwrap_err().status, Status::InvalidArgument);
    program.end().unwrap();
    let info = program.info().unwrap();
    assert_eq!((info.nodes, info.edges), (3, 2));
    e.gpu.set_graphs(Graphs::Off).unwrap();
    assert!(!program.info().unwrap().is_graph);
    e.gpu.set_graphs(Graphs::On).unwrap();
    assert!(program.info().unwrap().is_graph);
    e.gpu.set_graphs(Graphs::Auto).unwrap();
    e.stream.run(&program).unwrap();
    let mut wanted = [7u8; 16];
    wanted[8..12].copy_from_slice(&0.25f32.to_ne_bytes());
    assert_eq!(e.stream.read::<u8>(&e.c, 0, 16).unwrap(), wanted);
    assert_eq!(e.stream.read::<u8>(&e.a, 0, 8).unwrap(), [0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
#[ignore = "needs a GPU"]
fn addresses_and_the_librarys_kernels() {
    let e = Engine::new();
    assert!(e.a.address().unwrap() % 256 == 0 && e.a.host_memory().unwrap().is_none());
    let pinned = Buffer::pinned(&e.gpu, 16).unwrap();
    let place = pinned.host_memory().unwrap().unwrap();
    // SAFETY: it has 16 bytes, which nothing else uses.
    unsafe { place.as_ptr().cast::<[u8; 16]>().write([3; 16]) };
    let target = Buffer::new(&e.gpu, 16).unwrap();
    e.stream.copy((&target, 0), (&pinned, 0), 16).unwrap();
    assert_eq!(e.stream.read::<u8>(&target, 0, 16).unwrap(), [3; 16]);
    let add = Kernel::of_library(&e.gpu, "mlxrocm_vector_add_f32").unwrap();
    assert_eq!(add.info().unwrap().name, "mlxrocm_vector_add_f32");
    assert_eq!(Kernel::of_library(&e.gpu, "none").map(drop).unwrap_err().status, Status::Unsupported);
    assert_eq!(Module::load(&e.gpu, b"no code").map(drop).unwrap_err().status, Status::InvalidFile);
}

#[test]
#[ignore = "needs a GPU"]
fn selftests_and_counters() {
    let gpu = Device::open(1).unwrap();
    drop(Buffer::new(&gpu, 1 << 20).unwrap());
    assert!(gpu.memory().unwrap().peak >= 1 << 20);
    gpu.reset_peak_memory().unwrap();
    let memory = gpu.memory().unwrap();
    assert_eq!(memory.peak, memory.active);
    let options = SelftestOptions { quick: true, no_measurements: true, seed: 1 };
    let mut heard = 0;
    let ended = gpu.selftest(options, |line| {
        heard += usize::from(!line.is_empty());
        false
    });
    assert_eq!((ended.unwrap_err().status, heard), (Status::Cancelled, 1));
    let panicked = catch_unwind(AssertUnwindSafe(|| gpu.selftest(options, |_| resume_unwind(Box::new("enough")))));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"enough"));
    assert!(build_info().contains(&version()));
}

#[test]
#[ignore = "needs a GPU"]
fn mistakes() {
    let e = Engine::new();
    let error = Module::compile(&e.gpu, "wrong.hip", "nonsense", &[]).map(drop).unwrap_err();
    assert_eq!(error.status, Status::InvalidArgument);
    assert!(error.details.contains("error"), "{error:?}");
    let error = e.launch(&[e.c.output()]).unwrap_err();
    assert!(error.message.contains("5 arguments"), "{error}");
    assert_eq!(e.a.write(4 * COUNT, b"1234").unwrap_err().status, Status::InvalidArgument);
    assert_eq!(e.a.read::<f32>(4, COUNT).unwrap_err().status, Status::InvalidArgument);
    assert_eq!(e.a.read::<f64>(0, usize::MAX).unwrap_err().status, Status::InvalidArgument);
    let cpu = Device::open(0).unwrap();
    assert_eq!(Stream::new(&cpu).map(drop).unwrap_err().status, Status::Unsupported);
}

#[test]
#[ignore = "needs a GPU"]
fn dropped_buffers() {
    let Engine { gpu, kernel, stream, a, b, c } = Engine::new();
    let before = gpu.memory().unwrap();
    let large = Buffer::new(&gpu, 1 << 20).unwrap();
    assert!(gpu.memory().unwrap().peak >= before.active + (1 << 20));
    drop(large);
    gpu.trim().unwrap();
    gpu.set_memory_limit(before.limit).unwrap();
    // What is queued keeps its memory.
    let args = [c.output(), a.input(), b.input(), 2.0f32.into(), (COUNT as u32).into()];
    // SAFETY: the kernel stays within COUNT.
    unsafe { stream.launch(&kernel, Engine::grid(), &args) }.unwrap();
    drop((a, b, kernel));
    stream.wait().unwrap();
    assert_eq!(c.read::<f32>(0, COUNT).unwrap(), numbers(0.5));
}

#[test]
#[ignore = "needs a GPU"]
fn arrays() {
    let gpu = Device::open(1).unwrap();
    let x = Array::new(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap().to_device(&gpu).unwrap();
    assert_eq!(x.matmul(&x).unwrap().to_vec::<f32>().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}
