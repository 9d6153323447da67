//! Models on a GPU against the CPU: the small random models of every family and format on every
//! target of the software GPU, and the demo model. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::formats::ScalarType;
use mlxrocm::model::{CHOSEN, Choice, DeviceChoice, Forward, KvType, Model, Slice, Wanted};
use on_gpu::{TOLERANCE, device, farthest, load};
use random_model::Storage;
use std::path::{Path, PathBuf};

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

/// Logits of one more token of each of four sequences, after prompts of these lengths, twice: together or
/// each alone.
fn next_logits(model: &Model, kv: KvType, together: bool) -> Vec<f32> {
    const PROMPTS: [usize; 4] = [5, 17, 33, 20];
    let token = |sequence: usize, i: usize| (i * 77 + sequence * 31 + 13) as u32 % 316;
    let pages = |sequence: usize| [2 * sequence as u32 + 1, 2 * sequence as u32];
    let mut forward = model.new_forward(8, 40, kv).unwrap();
    let mut run = |of: &[(usize, usize, usize)], wanted| {
        let tokens = |&(sequence, from, to): &(usize, usize, usize)| {
            (from..to).map(|i| token(sequence, i)).collect::<Vec<_>>()
        };
        let (tokens, pages): (Vec<_>, Vec<_>) = of.iter().map(|s| (tokens(s), pages(s.0))).unzip();
        let slices: Vec<Slice> = (0..of.len())
            .map(|i| Slice {
                tokens: &tokens[i],
                start: of[i].1,
                pages: &pages[i],
                wanted,
                slot: 0,
            })
            .collect();
        let mut logits = Vec::new();
        forward.forward(&slices, &mut logits).unwrap();
        logits
    };
    let mut all = Vec::new();
    for (sequence, length) in PROMPTS.into_iter().enumerate() {
        run(&[(sequence, 0, length)], Wanted::Nothing);
    }
    for step in 0..2 {
        let at = |s: usize| (s, PROMPTS[s] + step, PROMPTS[s] + step + 1);
        match together {
            true => all.extend(run(&[0, 1, 2, 3].map(at), Wanted::Last)),
            false => (0..4).for_each(|s| all.extend(run(&[at(s)], Wanted::Last))),
        }
    }
    all
}

#[test]
fn quantized_caches_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let tokens: Vec<u32> = (0..43u32).map(|i| (i * 77 + 13) % 316).collect();
    let names = [
        "llama-q4_1.gguf",
        "qwen3-mlx-wide-heads",
        "mistral-mlx-window",
        "qwen3-widest-heads.gguf",
    ];
    let mut specs = random_model::all();
    specs.push(widest_heads());
    let paths = names.map(|name| {
        let spec = specs.iter().find(|spec| spec.name == name).expect(name);
        spec.write(folder.path())
    });
    let run = |model: &Model, kv| {
        let mut forward = model.new_forward(2, 48, kv).unwrap();
        logits(&mut *forward, &tokens, &[37, 5]).unwrap()
    };
    let targets = gpu::among(&["gfx942", "gfx1030", "gfx1151", "gfx1201"]);
    for (place, path) in paths.iter().enumerate() {
        let target = targets[place % targets.len()];
        let gpu = device(target);
        let cpu = load(path, DeviceChoice::Cpu);
        let model = load(path, DeviceChoice::Gpu(0));
        let plain = run(&cpu, KvType::F16);
        for kv in [KvType::Q8, KvType::Q4] {
            let what = format!("{} with {kv:?} on {target}", names[place]);
            let expected = run(&cpu, kv);
            // The GPU's keys and values differ by the rounding of f16, and some of them fall to another
            // code: that is a part of what quantizing them changes at all.
            let off = distance(&run(&model, kv), &expected);
            let effect = distance(&expected, &plain);
            assert!(off < 0.6 * effect, "{what}: {off}, quantizing: {effect}");
            let together = next_logits(&model, kv, true);
            assert!(together == next_logits(&model, kv, false), "{what}");
            check_report(&gpu, &what);
        }
    }
}

fn demo_model() -> PathBuf {
    let path = std::env::var_os("MLXROCM_DEMO_MODEL").map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(".cache/models/SmolLM2-135M-Instruct.Q4_1.gguf")
        },
        PathBuf::from,
    );
    assert!(
        path.is_file(),
        "the demo model is missing: run `make test`, or set MLXROCM_DEMO_MODEL to it"
    );
    path
}

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
