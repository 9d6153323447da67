//! Gated delta nets on the software GPU (or a real one) beside mlx-lm in f32: however their tokens are cut into
//! steps, beside other sequences, with steps queued ahead, from snapshots on, and with tokens taken back.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;

use mlxrocm::Error;
use mlxrocm::gpu::model::{GpuExecutor, GpuWeights, Room};
use mlxrocm::graph::Rules;
use mlxrocm::model::weights::Source;
use mlxrocm::model::{KvType, Slice, StateSize, Wanted, families};
use mlxrocm::step::{CHOSEN, Choice};
use on_gpu::{TOLERANCE, device, farthest};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TOKENS: [u32; 41] = [
    3, 17, 95, 0, 41, 41, 8, 77, 62, 29, 5, 90, 11, 34, 56, 2, 71, 19, 83, 44, 23, 66, 7, 50, 38,
    92, 14, 1, 60, 27, 73, 9, 85, 31, 48, 12, 69, 20, 54, 36, 88,
];
const VOCABULARY: usize = 96;
/// Of three families; `next` and `shared` are quantized, whose experts GPUs take.
const MODELS: [&str; 4] = ["next", "dense.gguf", "recurrent.gguf", "shared"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/delta")
}

fn executor(gpu: &gpu::Gpu, model: &str, rules: Rules) -> mlxrocm::Result<GpuExecutor> {
    let source = Source::open(&folder().join(model)).unwrap();
    let (bound, schedule) = families::schedule(&source, rules).unwrap();
    let (matrices, vectors) = (&bound.matrices, &bound.vectors);
    let device = gpu.device();
    let weights = GpuWeights::new(
        &device,
        &schedule,
        matrices,
        vectors,
        0,
        Room::All,
        &mut |_| Ok(()),
    )?;
    let size = StateSize {
        sequences: 3,
        snapshots: 4,
        ..StateSize::any(64, 8, KvType::F16)
    };
    GpuExecutor::new(Arc::new(weights), schedule, size)
}

fn slice(range: Range<usize>, pages: &'static [u32], slot: u32) -> Slice<'static> {
    Slice {
        tokens: &TOKENS[range.clone()],
        start: range.start,
        pages,
        wanted: Wanted::All,
        slot,
    }
}

fn reference(model: &str) -> Vec<f32> {
    let bytes = std::fs::read(folder().join("logits.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let data = file.tensor(model).unwrap();
    assert_eq!(data.shape(), [TOKENS.len(), VOCABULARY]);
    let (numbers, _) = data.data().as_chunks::<4>();
    numbers.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// The root of the mean square of the differences.
fn usual(a: &[f32], b: &[f32]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    (squares.sum::<f32>() / a.len() as f32).sqrt()
}

/// Logits of all tokens in steps of these sizes, then one by one.
fn steps(executor: &mut GpuExecutor, steps: &[usize]) -> Vec<f32> {
    let (mut all, mut some, mut start) = (Vec::new(), Vec::new(), 0);
    let mut steps = steps.iter().copied();
    while start < TOKENS.len() {
        let end = (start + steps.next().unwrap_or(1)).min(TOKENS.len());
        let slice = slice(start..end, &[2, 0], 1);
        executor.run(&[slice], &mut some).unwrap();
        all.extend_from_slice(&some);
        start = end;
    }
    all
}

/// Three sequences at different places; slot 0 begins again with another.
fn beside(executor: &mut GpuExecutor, reference: &[f32]) -> f32 {
    let mut rows = Vec::new();
    let mut far = 0.0f32;
    let row = |range: Range<usize>| &reference[range.start * VOCABULARY..range.end * VOCABULARY];
    let other = Slice {
        start: 0,
        ..slice(20..33, &[3], 0)
    };
    executor
        .run(&[other, slice(0..9, &[1], 2)], &mut rows)
        .unwrap();
    far = far.max(farthest(&rows[13 * VOCABULARY..], row(0..9)));
    for (first, second, third) in [(0..20, 9..30, 0..1), (20..21, 30..31, 1..2)] {
        let slices = [
            slice(first.clone(), &[4], 1),
            slice(second.clone(), &[1], 2),
            slice(third.clone(), &[5], 0),
        ];
        executor.run(&slices, &mut rows).unwrap();
        let expected = [row(first), row(second), row(third)].concat();
        far = far.max(farthest(&rows, &expected));
    }
    far
}

/// The tokens that a device chooses with one step queued ahead, and those that it chooses one by one.
fn queued(executor: &mut GpuExecutor) -> (Vec<u32>, Vec<u32>) {
    const COUNT: usize = 6;
    let (mut ahead, mut some) = (Vec::new(), Vec::new());
    let last = |range| Slice {
        wanted: Wanted::Last,
        ..slice(range, &[2, 0], 0)
    };
    assert!(executor.queue(&[last(0..9)], &[Choice::GREEDY]).unwrap());
    for place in 9..9 + COUNT {
        let next = Slice {
            tokens: &[CHOSEN],
            start: place,
            ..last(0..1)
        };
        assert!(executor.queue(&[next], &[Choice::GREEDY]).unwrap());
        executor.collect(&mut some).unwrap();
        ahead.extend_from_slice(&some);
    }
    executor.collect(&mut some).unwrap();
    let (mut one_by_one, mut logits) = (Vec::new(), Vec::new());
    executor.run(&[last(0..9)], &mut logits).unwrap();
    for place in 9..9 + COUNT {
        let largest = (0..VOCABULARY).max_by(|a, b| logits[*a].total_cmp(&logits[*b]));
        one_by_one.push(largest.unwrap() as u32);
        let next = Slice {
            tokens: &one_by_one[one_by_one.len() - 1..],
            start: place,
            ..last(0..1)
        };
        executor.run(&[next], &mut logits).unwrap();
    }
    (ahead, one_by_one)
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|logit| logit.to_bits()).collect()
}

/// What follows a snapshot is what followed the state it was taken of, cut alike, in another slot too; also where it is
/// taken between steps that are queued.
fn snapshots(gpu: &gpu::Gpu, executor: &mut GpuExecutor) {
    let (mut before, mut after, mut some) = (Vec::new(), Vec::new(), Vec::new());
    let run = |executor: &mut GpuExecutor, range, slot, logits: &mut Vec<f32>| {
        executor
            .run(&[slice(range, &[2, 0], slot)], logits)
            .unwrap();
    };
    run(executor, 0..32, 1, &mut some);
    assert!(executor.keep_slot(1, 0).unwrap());
    run(executor, 32..41, 1, &mut before);
    executor.restore_slot(0, 2).unwrap();
    run(executor, 32..41, 2, &mut after);
    assert_eq!(bits(&before), bits(&after));
    // As bytes.
    run(executor, 0..32, 1, &mut some);
    let mut state = vec![7; executor.slot_bytes()];
    executor.copy_slot_out(1, &mut state).unwrap();
    executor.copy_slot_in(0, 32, &state).unwrap();
    run(executor, 32..41, 0, &mut after);
    assert_eq!(bits(&before), bits(&after));
    assert!(executor.copy_slot_out(3, &mut state).is_err());
    assert!(executor.copy_slot_in(0, 32, &state[4..]).is_err());

    let last = |range, slot| Slice {
        wanted: Wanted::Last,
        ..slice(range, &[2, 0], slot)
    };
    let chosen = |slot| Slice {
        tokens: &[CHOSEN],
        start: 9,
        ..last(0..1, slot)
    };
    let greedy = &[Choice::GREEDY];
    let (mut first, mut second, mut again) = (Vec::new(), Vec::new(), Vec::new());
    assert!(executor.queue(&[last(0..9, 0)], greedy).unwrap());
    assert!(executor.keep_slot(0, 1).unwrap());
    assert!(executor.queue(&[chosen(0)], greedy).unwrap());
    executor.collect(&mut first).unwrap();
    executor.restore_slot(1, 1).unwrap();
    executor.collect(&mut second).unwrap();
    let next = Slice {
        tokens: &first,
        ..chosen(1)
    };
    assert!(executor.queue(&[next], greedy).unwrap());
    executor.collect(&mut again).unwrap();
    assert_eq!(second, again);
    assert!(executor.restore_slot(3, 1).is_err());

    // Without memory there are no more of them, but those that have it.
    let device = gpu.device();
    let before = device.memory().unwrap();
    device.set_memory_limit(before.active).unwrap();
    assert!(!executor.keep_slot(1, 3).unwrap());
    assert!(executor.restore_slot(3, 1).is_err());
    assert!(executor.keep_slot(1, 0).unwrap());
    device.set_memory_limit(before.limit).unwrap();
}

fn on(target: &str, models: &[&str]) {
    let gpu = device(target);
    for model in models.iter().copied() {
        let reference = reference(model);
        let mut executor = executor(&gpu, model, Rules::All).unwrap();
        // What is multiplied with 4-bit weights is rounded, and may choose another expert.
        let (most, usually) = match model {
            "next" | "shared" => (0.3, 0.02),
            _ => (TOLERANCE, 5e-3),
        };
        for cut in [&[41][..], &[23, 1, 17], &[2, 30]] {
            let logits = steps(&mut executor, cut);
            let (far, usual) = (farthest(&logits, &reference), usual(&logits, &reference));
            println!("{target} {model} {cut:?}: {far:.1e}, usually {usual:.1e}");
            assert!(usual < usually, "{target} {model} {cut:?}: usually {usual}");
            assert!(far < most, "{target} {model} {cut:?}: {far}");
        }
        let far = beside(&mut executor, &reference);
        assert!(far < most, "{target} {model}, sequences: {far}");
        let (ahead, one_by_one) = queued(&mut executor);
        assert_eq!(ahead, one_by_one, "{target} {model}");
        snapshots(&gpu, &mut executor);
    }
    let mut plain = executor(&gpu, "recurrent.gguf", Rules::Nothing).unwrap();
    let far = farthest(&steps(&mut plain, &[19]), &reference("recurrent.gguf"));
    assert!(far < TOLERANCE, "{target} without rules: {far}");
    let mut rows = Vec::new();
    let lost = plain.run(&[slice(3..5, &[6], 0)], &mut rows);
    match lost {
        Err(Error::InvalidArgument(message)) => assert!(message.contains("slot 0"), "{message}"),
        other => panic!("{other:?}"),
    }
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]");
    }
}

#[test]
fn gated_delta_nets_are_those_of_mlx_lm() {
    if gpu::is_real() {
        return on("", &MODELS);
    }
    let targets = gpu::targets();
    assert!(!targets.is_empty());
    for (place, target) in targets.into_iter().enumerate() {
        // All models on one target by turns, on each other one of them.
        match gpu::is_turn(place, 6) {
            true => on(target, &MODELS),
            false => on(target, &MODELS[place % 3..][..1]),
        }
    }
}
