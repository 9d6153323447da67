//! Experts in host memory that the CPU computes: beside the CPU, beside all of them on the GPU, and where things go wrong.

use crate::{TOKENS, float_mode, folder, gguf, gpu, logits, slice, tokens};
use mlxrocm::Error;
use mlxrocm::formats::Format;
use mlxrocm::gpu::{Device, ExpertPolicy, GraphPolicy};
use mlxrocm::log::Level;
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model};
use mlxrocm::session::{Event, FinishReason, Generation, Next, Request, Session, SessionOptions};
use std::path::Path;
use std::sync::Arc;

#[path = "../support/log_lines.rs"]
mod log_lines;

const COMPUTES: &str = "the CPU computes them";

/// A load with so many bytes on the device, and what the log says of experts.
fn load(path: &Path, most: Option<u64>) -> (Arc<Model>, Vec<String>) {
    let lines = log_lines::capture();
    let options = LoadOptions {
        device: DeviceChoice::Gpu(0),
        gpu_weight_bytes: most,
        ..LoadOptions::default()
    };
    let model = Model::load(path, &options, None).unwrap();
    let all = lines.all().into_iter();
    let lines = all.filter(|(level, line)| *level == Level::Info && line.contains("experts "));
    (model, lines.map(|(_, line)| line).collect())
}

/// So many percent of what all of the model takes lies on the device.
fn part(path: &Path, device: &Arc<Device>, percent: u64) -> (Arc<Model>, Vec<String>) {
    let (whole, lines) = load(path, None);
    assert_eq!(lines, [""; 0]);
    let all = device.memory().unwrap().active;
    drop(whole);
    load(path, Some(all * percent / 100))
}

fn run(model: &Model, steps: &[usize]) -> Vec<f32> {
    let mut forward = model.new_forward(4, 64, KvType::F16).unwrap();
    logits(&mut *forward, steps)
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    crate::farthest(a, b)
}

#[test]
fn the_cpu_gives_what_the_gpu_gives() {
    let folder = folder();
    let path = folder.path();
    let cpu = crate::load(path, DeviceChoice::Cpu);
    let expected = run(&cpu, &[TOKENS]);
    let columns = cpu.info().vocab_size;
    for target in gpu::by_turns(&["gfx1151", "gfx90a", "gfx1201"]) {
        let gpu = crate::device(target);
        let device = gpu.device();
        device.set_host_experts(ExpertPolicy::On);
        const STEPS: [usize; 3] = [40, 3, 16];
        let fetched = run(&load(path, None).0, &STEPS);
        // With an odd number of steps a layer has gate and up on one side and down on the other.
        let mut odd = 0;
        for percent in [92, 84, 76, 68, 60, 52, 20] {
            let what = format!("{target}, {percent} %");
            let (model, lines) = part(path, &device, percent);
            assert!(
                lines.iter().any(|line| line.contains(COMPUTES)),
                "{what}: {lines:?}"
            );
            let steps = lines.iter().find_map(|line| {
                let rest = line.strip_prefix("experts of ")?;
                rest.split(' ').next()?.parse::<usize>().ok()
            });
            odd += steps.expect("how many steps") % 2;
            let found = run(&model, &STEPS);
            let far = farthest(&found, &expected);
            println!("{what}: {far:.1e}");
            assert!(far < crate::TOLERANCE, "{what}: {far}");
            // A prompt's experts come over the bus.
            let prompt = 40 * columns;
            assert!(found[..prompt] == fetched[..prompt], "{what}");
            assert!(found[prompt..] != fetched[prompt..], "{what}: not computed");
            assert!(run(&model, &STEPS) == found, "{what}: other bits");
        }
        assert!(odd > 0, "{target}: whole layers only");
        gpu.clean();
    }
}

/// Up to 16 rows a row's bits do not depend on the others.
#[test]
fn a_row_does_not_depend_on_the_others() {
    let folder = folder();
    let gpu = crate::device(gpu::todays(&["gfx1151", "gfx942"]));
    let device = gpu.device();
    device.set_host_experts(ExpertPolicy::On);
    let (model, _) = part(folder.path(), &device, 20);
    let columns = model.info().vocab_size;
    let forward = || model.new_forward(4, 64, KvType::F16).unwrap();
    let tokens = tokens();
    let (mut alone, mut both) = (Vec::new(), Vec::new());
    for count in [1, 5] {
        let mine = || slice(&tokens[7..7 + count], 0, &[3]);
        forward().forward(&[mine()], &mut alone).unwrap();
        let other = slice(&tokens[20..31], 0, &[2]);
        forward().forward(&[other, mine()], &mut both).unwrap();
        assert_eq!(both[11 * columns..], alone, "{count}");
    }
    gpu.clean();
}

/// Formats that the CPU has kernels for in the GPU's layout, and such that come over the bus and say so.
#[test]
fn experts_in_other_formats() {
    let written = tempfile::tempdir().unwrap();
    let here = [
        Format::Q4K,
        Format::Q6K,
        Format::Q3K,
        Format::Q8_0,
        Format::Iq4Xs,
        Format::Nvfp4,
    ];
    let formats = here.into_iter().chain([Format::Iq2S, Format::Mxfp8]);
    for (case, format) in formats.enumerate() {
        let is_here = here.contains(&format);
        if is_here && !gpu::is_turn(case, 3) {
            continue;
        }
        let folder;
        let path = match format {
            Format::Nvfp4 | Format::Mxfp8 => {
                folder = float_mode(format);
                folder.path().to_owned()
            }
            _ => {
                let folder = written.path().join(format.to_string());
                std::fs::create_dir(&folder).unwrap();
                gguf(&folder, format)
            }
        };
        let expected = run(&crate::load(&path, DeviceChoice::Cpu), &[TOKENS]);
        let gpu = crate::device(gpu::todays(&["gfx1151", "gfx942"]));
        let device = gpu.device();
        device.set_host_experts(ExpertPolicy::On);
        let (model, lines) = part(&path, &device, 30);
        let computes = lines.iter().any(|line| line.contains(COMPUTES));
        let refused = lines
            .iter()
            .any(|line| line.contains("no kernels for their format"));
        assert_eq!(
            (computes, refused),
            (is_here, !is_here),
            "{format}: {lines:?}"
        );
        let far = farthest(&run(&model, &[33, 1, 15]), &expected);
        println!("{format}: {far:.1e}");
        assert!(far < crate::TOLERANCE, "{format}: {far}");
        gpu.clean();
    }
}

fn request(i: u32, max_tokens: usize) -> Request {
    Request {
        prompt: (0..3 + i).map(|j| (i * 31 + j * 17 + 5) % 96).collect(),
        max_tokens,
        ignore_eos: true,
        ..Default::default()
    }
}

/// The tokens of a generation, and how it ended.
fn read(generation: &Generation) -> (Vec<u32>, Option<FinishReason>, Option<Error>) {
    let (mut tokens, mut end) = (Vec::new(), (None, None));
    loop {
        match generation.next(gpu::PATIENCE).unwrap() {
            Next::Event(Event::Token { token, .. }) => tokens.push(token),
            Next::Event(Event::Finished { error, reason, .. }) => end = (Some(reason), error),
            Next::Event(_) => {}
            Next::End => return (tokens, end.0, end.1),
            Next::Pending => panic!("no end of a generation"),
        }
    }
}

/// Eight requests at once say what each says alone, while one more is cancelled in the middle; nothing stays.
#[test]
fn requests_beside_each_other_and_one_that_is_cancelled() {
    let folder = folder();
    let gpu = crate::device("gfx1151");
    let device = gpu.device();
    device.set_host_experts(ExpertPolicy::On);
    let (model, _) = part(folder.path(), &device, 20);
    let session = Session::new(model.clone(), SessionOptions::default()).unwrap();
    let alone = (0..3).map(|i| read(&session.submit(request(i, 4)).unwrap()).0);
    let alone: Vec<Vec<u32>> = alone.collect();
    let cancelled = session.submit(request(9, 200)).unwrap();
    loop {
        if let Next::Event(Event::Token { .. }) = cancelled.next(gpu::PATIENCE).unwrap() {
            break;
        }
    }
    let open: Vec<_> = (0..3)
        .map(|i| session.submit(request(i, 4)).unwrap())
        .collect();
    cancelled.cancel();
    let (_, reason, error) = read(&cancelled);
    assert_eq!((reason, error), (Some(FinishReason::Cancelled), None));
    for (open, alone) in open.iter().zip(&alone) {
        assert_eq!(&read(open).0, alone);
    }
    drop((open, cancelled, session, model));
    assert_eq!(device.memory().unwrap().active, 0);
    assert_eq!(device.pinned_memory().active, 0);
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

/// A device that is lost, at each of some places of a step in pieces: an error that says so, and all can be dropped.
#[test]
fn a_lost_device_ends_a_step() {
    if gpu::is_real() {
        return;
    }
    let folder = folder();
    let mut came = 0;
    for place in [1, 5, 14, 25, 40] {
        let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=4096");
        let device = gpu.device();
        device.set_host_experts(ExpertPolicy::On);
        // By launches, copies and fills.
        device.set_graph_policy(GraphPolicy::Off);
        let (model, _) = part(folder.path(), &device, 20);
        let mut forward = model.new_forward(4, 64, KvType::F16).unwrap();
        let (tokens, mut rows) = (tokens(), Vec::new());
        let mut step = |from: usize| {
            let slice = slice(&tokens[from..from + 1], from, &[1, 0]);
            forward.forward(&[slice], &mut rows)
        };
        step(0).unwrap();
        gpu.fault(&format!("lost@{place}"));
        let result = step(1).and_then(|()| step(2));
        gpu.fault("none");
        if let Err(error) = result {
            assert!(matches!(error, Error::DeviceLost(_)), "{place}: {error}");
            assert!(matches!(step(1), Err(Error::DeviceLost(_))), "{place}");
            came += 1;
        }
        drop((forward, model, device));
        gpu.reset();
    }
    assert!(came >= 4, "{came}");
}

/// What is measured decides, and the log says both figures.
#[test]
fn the_log_says_what_was_measured() {
    let folder = folder();
    let gpu = crate::device("gfx1151");
    let device = gpu.device();
    assert_eq!(device.host_experts(), ExpertPolicy::Auto);
    let (model, lines) = part(folder.path(), &device, 20);
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    let number = |before: &str| -> f64 {
        let text = line.split(before).next().unwrap();
        text.rsplit([' ', '(']).next().unwrap().parse().expect(line)
    };
    let (cpu, bus) = (number(" GB/s by "), number(" GB/s over the bus"));
    assert!(cpu >= 0.0 && bus >= 0.0, "{line}");
    let is_computed = line.contains(COMPUTES);
    assert!(
        is_computed != line.contains("reads them over the bus"),
        "{line}"
    );
    // Turns take time, too.
    assert!(cpu >= bus || !is_computed, "{line}");
    let expected = run(&crate::load(folder.path(), DeviceChoice::Cpu), &[TOKENS]);
    assert!(farthest(&run(&model, &[40]), &expected) < crate::TOLERANCE);
}
