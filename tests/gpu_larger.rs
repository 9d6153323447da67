//! Models that are larger than a GPU's memory where nobody says how much of it weights may take: as much as leaves room
//! for a session lies there, the rest in host memory, and results are the same to the bit.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/log_lines.rs"]
mod log_lines;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::Error;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::model::{GpuExecutor, GpuWeights, Room, state_bytes};
use mlxrocm::graph::Rules;
use mlxrocm::log::Level;
use mlxrocm::model::weights::Source;
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model, StateSize, families};
use mlxrocm::session::{Event, Next, Request, Session, SessionOptions};
use on_gpu::{logits, tokens};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MIB: u64 = 1 << 20;

const TOKENS: [u32; 24] = tokens();

/// A GPU with memory of its own, or one that shares the host's.
fn device(integrated: u32) -> gpu::Gpu {
    match gpu::is_real() {
        true => gpu::gpu(),
        false => gpu::soft(&format!(
            "devices=gfx1151;integrated={integrated};vram_mib=4096"
        )),
    }
}

/// A random model of 5.6 MiB, unquantized.
fn write(folder: &Path) -> PathBuf {
    let all = random_model::all();
    let spec = all.iter().find(|spec| spec.name == "llama-f32.gguf");
    spec.unwrap().write(folder)
}

/// A load, and what the log says of it.
fn load(path: &Path, device: DeviceChoice) -> (mlxrocm::Result<Arc<Model>>, Vec<(Level, String)>) {
    let lines = log_lines::capture();
    let options = LoadOptions {
        device,
        ..LoadOptions::default()
    };
    (Model::load(path, &options, None), lines.all())
}

fn said<'a>(lines: &'a [(Level, String)], level: Level, what: &str) -> Vec<&'a str> {
    let lines = lines
        .iter()
        .filter(|(of, line)| *of == level && line.contains(what));
    lines.map(|(_, line)| line.as_str()).collect()
}

/// What is said where weights stay in host memory by themselves.
const LEFT: &str = "(gpu_weight_bytes says how much lies on the GPU)";

/// The MiB of a session in the line that says `LEFT`.
fn told_session(lines: &[(Level, String)]) -> u64 {
    let [line] = said(lines, Level::Warn, LEFT)[..] else {
        panic!("{lines:?}");
    };
    let rest = line.split(" tokens ").nth(1).expect(line);
    rest.split(' ').next().unwrap().parse().expect(line)
}

/// Eight requests at once in a session with default options.
fn generate(model: &Arc<Model>) -> Vec<Vec<u32>> {
    let session = Session::new(model.clone(), SessionOptions::default()).expect("a session");
    let request = |i: u32| Request {
        prompt: (0..3 + i).map(|j| (i * 31 + j * 17 + 5) % 96).collect(),
        max_tokens: 3,
        ignore_eos: true,
        ..Default::default()
    };
    let open: Vec<_> = (0..8)
        .map(|i| session.submit(request(i)).expect("a generation"))
        .collect();
    let tokens = open.iter().map(|generation| {
        let mut tokens = Vec::new();
        loop {
            match generation.next(gpu::PATIENCE).unwrap() {
                Next::Event(Event::Token { token, .. }) => tokens.push(token),
                Next::Event(Event::Finished { error, .. }) => assert_eq!(error, None),
                Next::Event(_) => {}
                Next::End => return tokens,
                other => panic!("no end of a generation: {other:?}"),
            }
        }
    });
    let tokens: Vec<_> = tokens.collect();
    assert!(tokens.iter().all(|tokens| tokens.len() == 3));
    tokens
}

fn in_use(device: &Arc<Device>) -> (u64, u64) {
    let active = device.memory().unwrap().active;
    (active, device.pinned_memory().active)
}

/// Weights of a model on the device, and in host memory.
fn placed(model: &Model) -> (u64, u64) {
    let info = model.info();
    (info.gpu_weight_bytes, info.host_weight_bytes)
}

/// The highest limit, to a quarter of a MiB, under which a part of the model stays in host memory.
fn tight(path: &Path, device: &Arc<Device>) -> u64 {
    let is_tight = |limit| {
        device.trim().unwrap();
        device.set_memory_limit(limit).unwrap();
        placed(&load(path, DeviceChoice::Gpu(0)).0.unwrap()).1 > 0
    };
    // By less than the weights have: further down there is no room for any of them.
    let mut limit = 128 * MIB;
    while !is_tight(limit) {
        limit -= 4 * MIB;
    }
    while is_tight(limit + MIB / 4) {
        limit += MIB / 4;
    }
    device.set_memory_limit(limit).unwrap();
    limit
}

/// From a limit that holds all of it down to one that holds nothing beside a session.
#[test]
fn a_larger_model_leaves_room_for_a_session_and_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path());
    let gpu = device(0);
    let device = gpu.device();
    let (model, lines) = load(&path, DeviceChoice::Gpu(0));
    assert_eq!(said(&lines, Level::Warn, ""), [""; 0], "{lines:?}");
    let model = model.unwrap();
    let (whole, nothing) = placed(&model);
    assert_eq!(nothing, 0);
    let (all, _) = in_use(&device);
    let say = |model: &Arc<Model>| {
        (
            logits(model, &TOKENS, &[17, 1, 2]).unwrap(),
            generate(model),
        )
    };
    let expected = say(&model);
    drop(model);
    device.trim().unwrap();

    // A session needs 32 MiB for parts of attentions alone: with 24 and the weights none fits, with 4 not even they.
    let (mut last, mut session) = (0, 0);
    let mut limit = all + 128 * MIB;
    let mut places = Vec::new();
    while limit > all + 24 * MIB {
        device.set_memory_limit(limit).unwrap();
        let (model, lines) = load(&path, DeviceChoice::Gpu(0));
        let what = format!("a limit of {limit}: {lines:?}");
        let model = model.expect(&what);
        let (on_device, in_host) = placed(&model);
        assert_eq!(on_device + in_host, whole, "{what}");
        let left = said(&lines, Level::Warn, LEFT).len();
        assert_eq!(left, usize::from(in_host > 0), "{what}");
        if in_host > 0 {
            assert!(in_use(&device).1 >= in_host, "{what}");
            session = told_session(&lines);
        } else if !places.is_empty() {
            // No room for any weight beside a session: as without one.
            assert_eq!(
                said(&lines, Level::Info, "no room for weights").len(),
                1,
                "{what}"
            );
            break;
        }
        assert!(in_host >= last, "{what}");
        if in_host > last {
            assert!(say(&model) == expected, "{what}: other results");
            places.push(in_host);
        }
        last = in_host;
        drop(model);
        device.trim().unwrap();
        // All of it, then matrix by matrix.
        limit -= match places.is_empty() {
            true => MIB,
            false => MIB / 2,
        };
    }
    assert!(places.len() >= 4, "{places:?}");
    assert!(
        limit > all + 24 * MIB && limit < all + session * MIB,
        "{limit}"
    );

    device.trim().unwrap();
    device.set_memory_limit(4 * MIB).unwrap();
    let (error, lines) = load(&path, DeviceChoice::Gpu(0));
    let error = error.expect_err("it does not fit");
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory(_)), "{text}");
    for part in [
        "the weights need 5 MiB",
        "limit of 4 MiB",
        "a session needs",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(said(&lines, Level::Warn, LEFT), [""; 0]);
    assert_eq!(in_use(&device), (0, 0));
    // The device is as good as before.
    device.set_memory_limit(all + 128 * MIB).unwrap();
    let model = load(&path, DeviceChoice::Gpu(0)).0.unwrap();
    assert_eq!(placed(&model), (whole, 0));
    assert!(say(&model) == expected);
    drop((model, device));
    gpu.clean();
    gpu.no_leaks();
}

/// A number larger than the model asks for all of it on the GPU, whatever a session needs.
#[test]
fn a_number_that_is_given_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path());
    let gpu = device(0);
    let device = gpu.device();
    tight(&path, &device);
    let (model, lines) = load(&path, DeviceChoice::Gpu(0));
    let (on_device, in_host) = placed(&model.unwrap());
    assert!(on_device > 0 && in_host > 0, "{lines:?}");
    let options = LoadOptions {
        device: DeviceChoice::Gpu(0),
        gpu_weight_bytes: Some(u64::MAX),
        ..LoadOptions::default()
    };
    let model = Model::load(&path, &options, None).unwrap();
    assert_eq!(placed(&model), (on_device + in_host, 0));
    drop((model, device));
    gpu.clean();
    gpu.no_leaks();
}

/// Nothing is gained by host memory where it is the device's.
#[test]
fn shared_memory_leaves_nothing_behind() {
    if gpu::is_real() {
        // Most have memory of their own.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path());
    let gpu = device(1);
    let device = gpu.device();
    device.set_memory_limit(42 * MIB).unwrap();
    let (model, lines) = load(&path, DeviceChoice::Gpu(0));
    let (on_device, in_host) = placed(&model.unwrap());
    assert!(on_device > 5 * MIB && in_host == 0, "{lines:?}");
    device.trim().unwrap();
    device.set_memory_limit(4 * MIB).unwrap();
    let (error, _) = load(&path, DeviceChoice::Gpu(0));
    let text = error.expect_err("it does not fit").to_string();
    assert!(
        text.contains("the weights need 5 MiB") && text.contains("the GPU's memory is the host's"),
        "{text}"
    );
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

/// The line that says which device was chosen.
fn chosen(lines: &[(Level, String)]) -> &str {
    let [line] = said(lines, Level::Info, "the model runs on ")[..] else {
        panic!("{lines:?}");
    };
    line
}

/// Where no device is named a quarter of what a token reads may come over the bus: a matrix may, half of them may not,
/// and then all of it lies on the GPU as far as it fits.
#[test]
fn a_device_that_was_not_named_reads_little_over_the_bus() {
    if gpu::is_real() {
        // By other numbers.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path());
    let gpu = device(0);
    let device = gpu.device();
    let tight = tight(&path, &device);
    let (model, lines) = load(&path, DeviceChoice::Auto);
    assert!(chosen(&lines).contains("GPU AMD"), "{lines:?}");
    let (_, in_host) = placed(&model.unwrap());
    assert!(in_host > 0 && in_host < 3 * MIB / 2, "{in_host}");
    assert!(told_session(&lines) * MIB < tight);

    device.trim().unwrap();
    device.set_memory_limit(tight - 2 * MIB).unwrap();
    let (model, _) = load(&path, DeviceChoice::Gpu(0));
    let (_, in_host) = placed(&model.unwrap());
    assert!(in_host > 3 * MIB / 2, "{in_host}");
    let (model, lines) = load(&path, DeviceChoice::Auto);
    assert!(chosen(&lines).contains("GPU AMD"), "{lines:?}");
    assert_eq!(placed(&model.unwrap()).1, 0);
    let why = said(&lines, Level::Info, "over the bus: name the device");
    assert_eq!(why.len(), 1, "{lines:?}");

    device.trim().unwrap();
    device.set_memory_limit(4 * MIB).unwrap();
    let (model, lines) = load(&path, DeviceChoice::Auto);
    assert!(chosen(&lines).contains("the CPU"), "{lines:?}");
    assert_eq!(placed(&model.unwrap()), (0, 0));
    let warned = said(&lines, Level::Warn, "cannot run the model");
    assert_eq!(warned.len(), 1, "{lines:?}");
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

/// A GPU that takes all of it comes before a better one that would leave a part in host memory.
#[test]
fn a_gpu_with_room_comes_first() {
    if gpu::is_real() {
        // One GPU.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path());
    let gpu = gpu::soft("devices=gfx1151,gfx1151;integrated=0;vram_mib=2048,1024");
    let devices = Device::list().found;
    let first = Device::open(0).unwrap();
    tight(&path, &first);
    let (model, lines) = load(&path, DeviceChoice::Auto);
    assert!(chosen(&lines).contains(&devices[1].pci_id), "{lines:?}");
    assert_eq!(said(&lines, Level::Warn, ""), [""; 0], "{lines:?}");
    assert_eq!(placed(&model.unwrap()).1, 0);
    let second = Device::open(1).unwrap();
    second.set_memory_limit(4 * MIB).unwrap();
    let (model, lines) = load(&path, DeviceChoice::Auto);
    assert!(chosen(&lines).contains(&devices[0].pci_id), "{lines:?}");
    assert!(placed(&model.unwrap()).1 > 0);
    drop((first, second));
    gpu.clean();
    gpu.no_leaks();
}

/// The room that is left is what a state takes: of dense models, of experts, of recurrent layers.
#[test]
fn a_state_takes_what_is_left_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mixed = random_model::all();
    let mixed = mixed.iter().filter(|spec| spec.name == "llama-mlx-mixed");
    let mut paths: Vec<_> = mixed.map(|spec| spec.write(folder.path())).collect();
    paths.push(write(folder.path()));
    let others = ["experts", "delta/next", "delta/recurrent.gguf"];
    paths.extend(others.map(|name| golden.join(name)));
    for path in paths {
        let gpu = device(0);
        let device = gpu.device();
        let source = Source::open(&path).unwrap();
        let (bound, schedule) = families::schedule(&source, Rules::All).unwrap();
        let (matrices, vectors) = (&bound.matrices, &bound.vectors);
        let mut progress = |_| Ok(());
        let weights = GpuWeights::new(
            &device,
            &schedule,
            matrices,
            vectors,
            0,
            Room::All,
            &mut progress,
        );
        let weights = Arc::new(weights.unwrap());
        for (requests, chunk, context) in [(8, 512, 512), (1, 1, 16), (3, 70, 5000)] {
            let size = StateSize::of_session((requests, chunk), context, context / 8, KvType::F16);
            let needed = state_bytes(&device, &schedule, matrices, &size).unwrap();
            let before = in_use(&device).0;
            device.trim().unwrap();
            let state = GpuExecutor::new(weights.clone(), schedule.clone(), size).unwrap();
            let taken = in_use(&device).0 - before;
            assert_eq!(taken, needed, "{}: {size:?}", path.display());
            drop(state);
        }
        drop((weights, device));
        gpu.no_leaks();
    }
}
