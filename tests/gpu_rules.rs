//! Models without rules on GPUs: operation by operation they give what the CPU gives with all of them.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::graph::{RULES, Rules};
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model, Slice, Wanted};
use on_gpu::{TOLERANCE, device, farthest};
use std::path::Path;

/// Logits of a prompt, of a piece behind it, and of single tokens.
fn logits(path: &Path, device: DeviceChoice, rules: Rules) -> Vec<f32> {
    let options = LoadOptions {
        device,
        threads: 1,
        rules,
        ..LoadOptions::default()
    };
    let model = Model::load(path, &options, None).unwrap();
    let mut forward = model.new_forward(2, 48, KvType::F16).unwrap();
    let tokens: Vec<u32> = (0..30u32).map(|i| (i * 77 + 13) % 316).collect();
    let (mut all, mut some) = (Vec::new(), Vec::new());
    for (from, to, wanted) in [
        (0, 21, Wanted::Last),
        (21, 28, Wanted::All),
        (28, 29, Wanted::Last),
        (29, 30, Wanted::Last),
    ] {
        let slice = Slice {
            tokens: &tokens[from..to],
            start: from,
            pages: &[1, 0],
            wanted,
            slot: 0,
        };
        forward.forward(&[slice], &mut some).unwrap();
        all.extend_from_slice(&some);
    }
    all
}

#[test]
fn models_without_rules_give_what_the_cpu_gives() {
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| random_model::all().into_iter().find(|s| s.name == name);
    // Biases; norms of heads; pairs that lie together.
    let specs = ["qwen2-q4_1.gguf", "qwen3-q4_1.gguf", "llama-q8_0.gguf"];
    let specs = specs.map(|name| named(name).unwrap_or_else(|| panic!("no {name}")));
    // Rule by rule the CPU's test does it; here one rule a run, and none at all.
    let day = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let rule = &RULES[day.map_or(0, |time| time.as_secs() / 60) as usize % RULES.len()];
    let mut turns = vec![(1, Rules::Without(rule.name))];
    turns.extend((0..specs.len()).map(|spec| (spec, Rules::Nothing)));
    let targets = gpu::among(&["gfx1151", "gfx942", "gfx1201"]);
    for (place, (spec, rules)) in turns.into_iter().enumerate() {
        let spec = &specs[spec % specs.len()];
        let path = spec.write(folder.path());
        let expected = logits(&path, DeviceChoice::Cpu, Rules::All);
        let target = targets[place % targets.len()];
        let gpu = device(target);
        let found = logits(&path, DeviceChoice::Gpu(0), rules);
        let far = farthest(&found, &expected);
        assert!(
            far < TOLERANCE,
            "{} {rules:?} on {target}: {far}",
            spec.name
        );
        if !gpu::is_real() {
            let violations = gpu.report()["violations"].to_string();
            assert_eq!(violations, "[]", "{} {rules:?} on {target}", spec.name);
        }
    }
}
