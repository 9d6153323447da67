//! Models on a GPU against the CPU: the small random models of every family and format on every
//! target of the software GPU, and the demo model. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

mod caches;
mod demo;
#[path = "../support/demo_model.rs"]
mod demo_model;
#[path = "../support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/on_gpu.rs"]
mod on_gpu;
#[path = "../support/random_model.rs"]
mod random_model;

use mlxrocm::formats::ScalarType;
use mlxrocm::model::{Choice, DeviceChoice, Forward, KvType, Model, Slice, Wanted};
use on_gpu::{TOLERANCE, device, farthest, load};
use random_model::Storage;
use std::path::PathBuf;

/// Logits of every token of a prompt, in chunks of these sizes, then of single tokens.
fn logits(
    forward: &mut dyn Forward,
    tokens: &[u32],
    chunks: &[usize],
) -> mlxrocm::Result<Vec<f32>> {
    let pages: Vec<u32> = (0..forward.page_count() as u32).rev().collect();
    let (mut all, mut some, mut start) = (Vec::new(), Vec::new(), 0);
    let mut sizes = chunks.iter().copied();
    while start < tokens.len() {
        let size = sizes.next().unwrap_or(1).min(tokens.len() - start);
        let slice = Slice {
            tokens: &tokens[start..start + size],
            start,
            pages: &pages,
            wanted: Wanted::All,
            slot: 0,
        };
        forward.forward(&[slice], &mut some)?;
        all.extend_from_slice(&some);
        start += size;
    }
    Ok(all)
}

/// The first of the largest logits.
fn largest(row: &[f32]) -> u32 {
    let best = |best: usize, at: usize| if row[at] > row[best] { at } else { best };
    (0..row.len()).reduce(best).unwrap() as u32
}

/// The greedy token after each token of a prompt, chosen by the device.
fn greedy_rows(forward: &mut dyn Forward, tokens: &[u32]) -> Vec<u32> {
    let pages: Vec<u32> = (0..forward.page_count() as u32).collect();
    let slice = Slice {
        tokens,
        start: 0,
        pages: &pages,
        wanted: Wanted::All,
        slot: 0,
    };
    let mut chosen = Vec::new();
    let rated = |row: usize| Choice {
        rated: !row.is_multiple_of(3),
        ..Choice::GREEDY
    };
    let choices: Vec<Choice> = (0..tokens.len()).map(rated).collect();
    assert!(forward.queue(&[slice], &choices).unwrap());
    forward.collect(&mut chosen).unwrap();
    let (mut rows, columns) = (Vec::new(), forward.vocab_size());
    forward.rated(&mut rows);
    // The rows are those that the tokens were chosen from.
    let asked = chosen
        .iter()
        .zip(&choices)
        .filter(|(_, choice)| choice.rated);
    let asked: Vec<u32> = asked.map(|(token, _)| *token).collect();
    let best: Vec<u32> = rows.chunks(columns).map(largest).collect();
    assert_eq!(best, asked);
    chosen
}

/// Root of the mean square of the differences.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    (squares.sum::<f32>() / a.len() as f32).sqrt()
}

/// What the software GPU found wrong, in words.
fn violations(gpu: &gpu::Gpu) -> String {
    match gpu::is_real() {
        true => "[]".into(),
        false => gpu.report()["violations"].to_string(),
    }
}

fn check_report(gpu: &gpu::Gpu, what: &str) {
    assert_eq!(violations(gpu), "[]", "{what}");
}

#[test]
fn random_models_of_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let tokens: Vec<u32> = (0..43u32).map(|i| (i * 77 + 13) % 320).collect();
    // A third of the models a day: minutes.
    let specs = random_model::all().into_iter();
    let expected: Vec<(random_model::Spec, PathBuf, Vec<f32>)> = specs
        .chain(random_model::later_formats())
        .enumerate()
        .filter(|(place, _)| gpu::is_turn(*place, 3) || gpu::is_real())
        .map(|(_, spec)| {
            let path = spec.write(folder.path());
            let model = load(&path, DeviceChoice::Cpu);
            let mut forward = model.new_forward(2, 48, KvType::F16).unwrap();
            let logits = logits(&mut *forward, &tokens, &[37, 5]).unwrap();
            (spec, path, logits)
        })
        .collect();
    // Every model on one target, every target with some; `MLXROCM_TEST_TARGET` names a target
    // that takes all of them.
    let only = std::env::var("MLXROCM_TEST_TARGET").ok();
    let targets = match &only {
        Some(target) => vec![target.as_str()],
        None => gpu::targets(),
    };
    for (place, target) in targets.iter().enumerate() {
        let gpu = device(target);
        for (spec, path, expected) in expected.iter().skip(place).step_by(targets.len()) {
            let model = load(path, DeviceChoice::Gpu(0));
            let mut forward = model.new_forward(2, 48, KvType::F16).unwrap();
            let logits = logits(&mut *forward, &tokens, &[37, 5]).unwrap_or_else(|e| {
                panic!("{} on {target}: {e}: {}", spec.name, violations(&gpu));
            });
            let farthest = farthest(&logits, expected);
            assert!(
                farthest < TOLERANCE,
                "{} on {target}: {farthest}",
                spec.name
            );
            // What the device itself chooses of these logits.
            let chosen = greedy_rows(
                &mut *model.new_forward(2, 48, KvType::F16).unwrap(),
                &tokens[..37],
            );
            let rows = logits.chunks(forward.vocab_size()).take(37);
            let best: Vec<u32> = rows.map(largest).collect();
            assert_eq!(chosen, best, "{} on {target}", spec.name);
            check_report(&gpu, &format!("{} on {target}", spec.name));
        }
    }
}

/// A model with the widest heads that the usual kernels take; it has no references of its own.
fn widest_heads() -> random_model::Spec {
    let mut specs = random_model::all().into_iter();
    let mut spec = specs.find(|s| s.name == "qwen3-wide-heads.gguf").unwrap();
    spec.name = "qwen3-widest-heads.gguf".into();
    spec.head_dim = 256;
    spec
}

#[test]
fn widest_heads_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let path = widest_heads().write(folder.path());
    let tokens: Vec<u32> = (0..70u32).map(|i| (i * 77 + 13) % 316).collect();
    let run = |model: &Model| {
        let mut forward = model.new_forward(3, 96, KvType::F16).unwrap();
        logits(&mut *forward, &tokens, &[65, 4]).unwrap()
    };
    let expected = run(&load(&path, DeviceChoice::Cpu));
    for target in gpu::among(&["gfx942", "gfx1030", "gfx1151"]) {
        let gpu = device(target);
        let farthest = farthest(&run(&load(&path, DeviceChoice::Gpu(0))), &expected);
        assert!(farthest < TOLERANCE, "{target}: {farthest}");
        check_report(&gpu, target);
    }
}

/// Heads whose widths are no multiples of 16, over each kind of cache.
#[test]
fn odd_heads_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let tokens: Vec<u32> = (0..26u32).map(|i| (i * 77 + 13) % 316).collect();
    let run = |model: &Model, kv| {
        let mut forward = model.new_forward(2, 48, kv).unwrap();
        logits(&mut *forward, &tokens, &[21, 3]).unwrap()
    };
    let target = gpu::todays(&["gfx1151", "gfx942", "gfx1201"]);
    let gpu = device(target);
    let kinds = [Some(KvType::Q8), Some(KvType::Q4), None, None, None];
    for (dim, kind) in [20, 100, 40, 72, 120].into_iter().zip(kinds) {
        let storage = Storage::Dense(ScalarType::F16);
        let mut spec = random_model::Spec::new(format!("heads-{dim}"), "qwen3", storage);
        spec.head_dim = dim;
        let path = spec.write(folder.path());
        let cpu = load(&path, DeviceChoice::Cpu);
        let model = load(&path, DeviceChoice::Gpu(0));
        let plain = run(&cpu, KvType::F16);
        let far = farthest(&run(&model, KvType::F16), &plain);
        assert!(far < TOLERANCE, "heads of {dim} on {target}: {far}");
        check_report(&gpu, &format!("heads of {dim} on {target}"));
        let Some(kv) = kind else { continue };
        let (found, expected) = (run(&model, kv), run(&cpu, kv));
        // As in `quantized_caches_give_what_the_cpu_gives`.
        let (off, effect) = (distance(&found, &expected), distance(&expected, &plain));
        let what = format!("heads of {dim}, {kv:?}, {target}");
        assert!(off < 0.6 * effect, "{what}: {off}, quantizing: {effect}");
    }
    check_report(&gpu, target);
}

/// The widest that a configuration may ask for, too, prompt and token by token.
#[test]
fn heads_of_a_thousand_columns_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let tokens: Vec<u32> = (0..26u32).map(|i| (i * 77 + 13) % 316).collect();
    let run = |model: &Model, kv| {
        let mut forward = model.new_forward(2, 48, kv).unwrap();
        logits(&mut *forward, &tokens, &[21, 3]).unwrap()
    };
    let target = gpu::todays(&["gfx1151", "gfx942", "gfx1201"]);
    let gpu = device(target);
    // A whole model of 4,096 columns takes a software GPU too long: the kernel's test has them there.
    let mut cases = vec![(776, KvType::Q8), (1000, KvType::Q4)];
    cases.extend(gpu::is_real().then_some((4096, KvType::F16)));
    for (dim, kv) in cases {
        let storage = Storage::Dense(ScalarType::F16);
        let mut spec = random_model::Spec::new(format!("heads-{dim}"), "qwen3", storage);
        spec.head_dim = dim;
        let path = spec.write(folder.path());
        let (cpu, model) = (
            load(&path, DeviceChoice::Cpu),
            load(&path, DeviceChoice::Gpu(0)),
        );
        let plain = run(&cpu, KvType::F16);
        let what = format!("heads of {dim}, {kv:?}, {target}");
        let far = farthest(&run(&model, KvType::F16), &plain);
        assert!(far < TOLERANCE, "{what}: {far}");
        if kv != KvType::F16 {
            let (found, expected) = (run(&model, kv), run(&cpu, kv));
            // As in `quantized_caches_give_what_the_cpu_gives`.
            let (off, effect) = (distance(&found, &expected), distance(&expected, &plain));
            assert!(off < 0.6 * effect, "{what}: {off}, quantizing: {effect}");
        }
        check_report(&gpu, &what);
    }
}

/// What only the software GPU can show.
mod soft {
    use super::*;

    /// The first step of decoding is what graphs are judged by, however large the cache is that it writes to:
    /// besides the trial, its own graph is compared with direct launches.
    #[test]
    fn the_first_step_of_decoding_judges_graphs() {
        let folder = tempfile::tempdir().unwrap();
        let mut specs = random_model::all().into_iter();
        let path = specs.next().unwrap().write(folder.path());
        let run = |gpu: &gpu::Gpu, pages: usize| {
            let model = load(&path, DeviceChoice::Gpu(0));
            let mut forward = model.new_forward(pages, 4, KvType::F16).unwrap();
            gpu.fault("direct_slow=2000");
            let all = logits(&mut *forward, &[5, 6, 7, 8], &[1]).unwrap();
            let verdict = gpu.device().graph_verdict().expect("a verdict");
            assert!(verdict.compared && verdict.right, "{verdict}");
            gpu.fault("none");
            (all, gpu.calls("hipGraphLaunch"))
        };
        let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=4096");
        // About 2 MB of cache, and 330.
        let small = run(&gpu, 64);
        drop(gpu);
        let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=4096");
        assert!(run(&gpu, 10_000) == small);
        // Three runs each of the trial and of the step in the comparison, then one a token.
        assert_eq!(small.1, 3 + 3 + 3);
        gpu.clean();
    }
}
