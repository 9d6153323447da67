//! Rules only make things faster: models give the same logits with each of them off, and with all.

#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::graph::{RULES, Rules};
use mlxrocm::model::weights::Source;
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model, Slice, Wanted, families};
use mlxrocm::step::{Epilogue, Schedule, Step};
use random_model::{CONTEXT, Spec, VOCABULARY};
use std::path::Path;

/// Every seventh model of the collection, and one of each family.
fn specs() -> Vec<Spec> {
    let mut families = Vec::new();
    let first = |spec: &Spec, families: &mut Vec<&'static str>| {
        let is_new = !families.contains(&spec.family);
        families.push(spec.family);
        is_new
    };
    let all = random_model::all().into_iter().enumerate();
    let chosen = all.filter(|(place, spec)| first(spec, &mut families) || place % 7 == 3);
    chosen.map(|(_, spec)| spec).collect()
}

fn schedule(path: &Path, rules: Rules) -> Schedule {
    let source = Source::open(path).unwrap();
    families::schedule(&source, rules).unwrap().1
}

/// Logits of a prompt in two pieces beside another sequence, and of a token after it.
fn logits(path: &Path, rules: Rules) -> Vec<f32> {
    let options = LoadOptions {
        device: DeviceChoice::Cpu,
        threads: 1,
        rules,
        ..LoadOptions::default()
    };
    let model = Model::load(path, &options, None).unwrap();
    let mut forward = model.new_forward(8, 64, KvType::F16).unwrap();
    let tokens: Vec<u32> = (0..75).map(|i| (i * 37 + 11) % VOCABULARY as u32).collect();
    let (mut all, mut some) = (Vec::new(), Vec::new());
    let mut run = |slices: &[Slice<'_>]| {
        forward.forward(slices, &mut some).unwrap();
        all.extend_from_slice(&some);
    };
    let slice = |from: usize, to: usize, pages: &'static [u32], wanted| Slice {
        tokens: &tokens[from..to],
        start: from,
        pages,
        wanted,
        slot: 0,
    };
    run(&[slice(0, 45, &[3, 1, 5], Wanted::Nothing)]);
    let other = slice(0, 7, &[2], Wanted::Last);
    run(&[slice(45, 70, &[3, 1, 5], Wanted::All), other]);
    let other = slice(7, 8, &[2], Wanted::Last);
    run(&[slice(70, 71, &[3, 1, 5], Wanted::Last), other]);
    assert!(tokens.len() < CONTEXT);
    all
}

#[test]
fn models_give_the_same_logits_without_each_rule() {
    let folder = tempfile::tempdir().unwrap();
    for spec in specs() {
        let path = spec.write(folder.path());
        let expected = logits(&path, Rules::All);
        let rules = RULES.iter().map(|rule| Rules::Without(rule.name));
        for rules in rules.chain([Rules::Nothing]) {
            let found = logits(&path, rules);
            assert_eq!(found.len(), expected.len());
            let pairs = found.iter().zip(&expected);
            let farthest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // Logits have a standard deviation of 2; a sum in another order rounds some keys and values to
            // the next f16, which is 5e-4 of them.
            assert!(farthest < 6e-3, "{} {rules:?}: {farthest}", spec.name);
        }
    }
}

#[test]
fn every_rule_saves_steps() {
    let folder = tempfile::tempdir().unwrap();
    let mut saved = vec![0; RULES.len()];
    let delta = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/delta/dense.gguf");
    let paths = specs().into_iter().map(|spec| spec.write(folder.path()));
    for path in paths.chain([delta]) {
        let steps = schedule(&path, Rules::All).steps.len();
        for (rule, saved) in RULES.iter().zip(&mut saved) {
            let without = schedule(&path, Rules::Without(rule.name)).steps.len();
            let name = path.display();
            assert!(without >= steps, "{} makes {name} longer", rule.name);
            *saved += without - steps;
        }
    }
    for (rule, saved) in RULES.iter().zip(saved) {
        assert!(saved > 0, "{} does nothing", rule.name);
    }
}

#[test]
fn a_dense_block_is_five_steps() {
    let folder = tempfile::tempdir().unwrap();
    for spec in specs() {
        let schedule = schedule(&spec.write(folder.path()), Rules::All);
        let kind = |step: &Step| match step {
            Step::Embed { .. } => "embed".to_owned(),
            Step::Matmul {
                norm,
                products,
                epilogue,
                ..
            } => {
                let norm = if norm.is_some() { "norm " } else { "" };
                let ending = match epilogue {
                    Epilogue::Store => "",
                    Epilogue::Add(_) => " add",
                    Epilogue::SwiGlu => " swiglu",
                };
                format!("{norm}{}{ending}", products.len())
            }
            Step::Attend(attend) => {
                assert!(attend.rope.is_some());
                "attend".to_owned()
            }
            Step::SelectWanted { .. } => "select".to_owned(),
            step => panic!("{}: {step:?}", spec.name),
        };
        let kinds: Vec<String> = schedule.steps.iter().map(kind).collect();
        let rest = ["attend", "1 add", "norm 2 swiglu", "1 add"];
        let mut expected = vec!["embed", "norm 3"];
        expected.extend(rest);
        expected.extend(["norm 2", "select", "norm 1"]);
        expected.extend(rest);
        expected.push("norm 1");
        assert_eq!(kinds, expected, "{}", spec.name);
    }
}
