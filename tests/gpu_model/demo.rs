//! The demo model.

use crate::demo_model::demo_model;
use crate::on_gpu::{device, farthest, load};
use crate::{check_report, gpu, largest, logits};
use mlxrocm::model::{CHOSEN, Choice, DeviceChoice, Forward, KvType, Model, Slice, Wanted};

/// Greedy tokens after a prompt, which is computed in one chunk. Where the device chooses them, each
/// step is queued before the token of the one before is known.
fn greedy(forward: &mut dyn Forward, prompt: &[u32], count: usize) -> Vec<u32> {
    let pages: Vec<u32> = (0..forward.page_count() as u32).collect();
    let slice = |start| Slice {
        tokens: &[],
        start,
        pages: &pages,
        wanted: Wanted::Last,
        slot: 0,
    };
    let (mut tokens, mut row, mut chosen) = (prompt.to_vec(), Vec::new(), Vec::new());
    let first = Slice {
        tokens: prompt,
        ..slice(0)
    };
    if forward.queue(&[first], &[Choice::GREEDY]).unwrap() {
        for i in 1..=count {
            if i < count {
                let next = Slice {
                    tokens: &[CHOSEN],
                    ..slice(tokens.len())
                };
                assert!(forward.queue(&[next], &[Choice::GREEDY]).unwrap());
            }
            forward.collect(&mut chosen).unwrap();
            tokens.extend(&chosen);
        }
        return tokens.split_off(prompt.len());
    }
    let mut computed = 0;
    while tokens.len() < prompt.len() + count {
        let slice = Slice {
            tokens: &tokens[computed..],
            ..slice(computed)
        };
        forward.forward(&[slice], &mut row).unwrap();
        computed = tokens.len();
        tokens.push(largest(&row));
    }
    tokens.split_off(prompt.len())
}

#[test]
fn demo_model_says_what_the_cpu_says() {
    let path = demo_model();
    let cpu = load(&path, DeviceChoice::Cpu);
    let prompt = cpu
        .tokenizer()
        .encode("The capital of France is", true, false)
        .unwrap();
    let expected = greedy(
        &mut *cpu.new_forward(2, 32, KvType::F16).unwrap(),
        &prompt,
        16,
    );
    for target in gpu::by_turns(&["gfx1151", "gfx1201", "gfx942"]) {
        let gpu = device(target);
        let model = load(&path, DeviceChoice::Gpu(0));
        let tokens = greedy(
            &mut *model.new_forward(2, 32, KvType::F16).unwrap(),
            &prompt,
            16,
        );
        assert_eq!(tokens, expected, "{target}");
        check_report(&gpu, target);
    }
}

/// Mean KL divergence of rows of logits from others, in nats.
fn divergence(exact: &[f32], got: &[f32], vocab: usize) -> f64 {
    let log_sum = |row: &[f32]| row.iter().map(|x| f64::from(*x).exp()).sum::<f64>().ln();
    let rows = exact.chunks_exact(vocab).zip(got.chunks_exact(vocab));
    let sum: f64 = rows
        .map(|(p, q)| {
            let (p_sum, q_sum) = (log_sum(p), log_sum(q));
            let terms = p.iter().zip(q).map(|(p, q)| {
                let (log_p, log_q) = (f64::from(*p) - p_sum, f64::from(*q) - q_sum);
                log_p.exp() * (log_p - log_q)
            });
            terms.sum::<f64>()
        })
        .sum();
    sum / (exact.len() / vocab) as f64
}

#[test]
fn demo_model_over_a_quantized_cache_is_as_near_as_on_the_cpu() {
    let path = demo_model();
    let cpu = load(&path, DeviceChoice::Cpu);
    let text = "The capital of France is Paris, and the";
    let prompt = cpu.tokenizer().encode(text, true, false).unwrap();
    let run = |model: &Model, kv| {
        let mut forward = model.new_forward(2, 32, kv).unwrap();
        logits(&mut *forward, &prompt, &[prompt.len() - 2]).unwrap()
    };
    let target = gpu::todays(&["gfx1151", "gfx1201", "gfx942"]);
    let gpu = device(target);
    let model = load(&path, DeviceChoice::Gpu(0));
    let vocab = cpu.info().vocab_size;
    let (expected, plain) = (run(&cpu, KvType::Q8), run(&cpu, KvType::F16));
    let got = run(&model, KvType::Q8);
    // As above: GPU and CPU differ by some codes, and are equally far from what is not quantized.
    let between = divergence(&expected, &got, vocab);
    let (here, there) = (
        divergence(&plain, &expected, vocab),
        divergence(&plain, &got, vocab),
    );
    println!("mean KL: CPU {here:.3e}, GPU {there:.3e}, between them {between:.3e}");
    assert!(between < 2e-3 && there < 2e-3, "{between} {there}");
    check_report(&gpu, target);
}

#[test]
fn a_long_prompt_gives_what_the_cpu_gives() {
    let path = demo_model();
    let cpu = load(&path, DeviceChoice::Cpu);
    let text = "The quick brown fox jumps over the lazy dog, and the dog sleeps on. ".repeat(10);
    let mut prompt = cpu.tokenizer().encode(&text, true, false).unwrap();
    prompt.truncate(150);
    let last = |model: &Model| {
        let (mut forward, mut row) = (model.new_forward(5, 160, KvType::F16).unwrap(), Vec::new());
        let slice = Slice {
            tokens: &prompt,
            start: 0,
            pages: &[3, 0, 4, 2, 1],
            wanted: Wanted::Last,
            slot: 0,
        };
        forward.forward(&[slice], &mut row).unwrap();
        row
    };
    let target = gpu::todays(&["gfx942", "gfx1201", "gfx1151"]);
    let gpu = device(target);
    let (here, there) = (last(&cpu), last(&load(&path, DeviceChoice::Gpu(0))));
    let farthest = farthest(&here, &there);
    // Logits of about ±20. The products of many rows take weights and x in f16, 0.05 off; the CPU has up to
    // 0.02 of its own.
    assert!(farthest < 0.07, "{farthest}");
    check_report(&gpu, target);
}
