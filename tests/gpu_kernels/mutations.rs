//! The waits and fences of the library's AMD kernels, each left out in turn: the software GPU must find
//! it, or say why nothing is missed (`tests/softgpu/README.md`).
//!
//! A part of them is tried on every run, another every day, on one target for each kernel (`MLXROCM_TEST_ALL=1`: on all that
//! were built). All of them on nine targets, with the table `tests/softgpu/mutations.tsv`
//! written anew: `MLXROCM_BLESS=1 cargo test --test gpu_kernels mutations -- --ignored --nocapture`.

use crate::{Bench, attention, gpu, matmul, product};
use mlxrocm::formats::{Format, ScalarType};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const TARGETS: [&str; 9] = [
    "gfx1151", "gfx1201", "gfx942", "gfx90a", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1200",
];

/// A kernel by a part of its name, and launches of it that go through its code.
struct Subject {
    kernel: &'static str,
    run: fn(&Bench),
    /// It reduces over blocks, so that without its fences blocks read what others may not have written.
    across: bool,
    /// Of how many waits and fences one is left out in a run of some.
    step: usize,
}

const SUBJECTS: [Subject; 5] = [
    Subject {
        kernel: "matmul_rows_q4",
        run: rows,
        across: false,
        step: 8,
    },
    Subject {
        kernel: "matmul_block_q4",
        run: matmul::products_of_four_bits,
        across: true,
        step: 16,
    },
    Subject {
        kernel: "attention_paged",
        run: attention::one_step,
        across: true,
        step: 12,
    },
    Subject {
        kernel: "attention_flash",
        run: attention::one_prompt,
        across: false,
        step: 12,
    },
    Subject {
        kernel: "argmax",
        run: crate::engine::one_argmax,
        across: true,
        step: 1,
    },
];

/// One row and three.
fn rows(bench: &Bench) {
    let format = Format::Affine {
        bits: 4,
        group: 64,
        scale: ScalarType::BF16,
    };
    // With few columns one row's kernel on CDNA does not come to its loop.
    for (columns, count) in [(5120, 1), (1024, 3)] {
        product::run(&bench.device, format, (40, columns), count);
    }
}

/// What leaving out an instruction gave.
struct Mutant {
    kernel: String,
    text: String,
    next: String,
    verdict: String,
    did: Vec<String>,
    is_group: bool,
}

fn examine(target: &str, subject: &Subject, part: (usize, usize)) -> Vec<Mutant> {
    let (first, step) = part;
    let config = format!(
        "devices={target};mutate={};part={first}/{step}",
        subject.kernel
    );
    let gpu = gpu::soft(&config);
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let bench = Bench { device, stream };
    (subject.run)(&bench);
    drop(bench);
    gpu.clean();
    let report = gpu.report();
    let mutants = report["mutants"].as_array().expect("mutants");
    let text = |m: &Value, key: &str| m[key].as_str().expect("a text").to_owned();
    let read = |m: &Value| Mutant {
        kernel: text(m, "kernel"),
        text: text(m, "text"),
        next: text(m, "next"),
        verdict: text(m, "verdict"),
        did: m["did"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|d| d.as_str().expect("a word").to_owned())
            .collect(),
        is_group: m["pc"].is_null(),
    };
    mutants.iter().map(read).collect()
}

impl Mutant {
    fn is(&self, verdict: &str) -> bool {
        self.verdict == verdict
    }

    fn did_only(&self, words: &[&str]) -> bool {
        self.did.iter().all(|did| words.contains(&did.as_str()))
    }

    fn is_wait(&self) -> bool {
        self.text.starts_with("s_wait")
    }
}

/// Why nothing is missed without it: the causes that `tests/softgpu/README.md` explains.
fn cause(mutant: &Mutant, all: &[Mutant]) -> &'static str {
    let group = |name: &str| {
        let found = |m: &&Mutant| m.is_group && m.text == name && m.kernel == mutant.kernel;
        all.iter().find(found).is_some_and(|m| m.is("found"))
    };
    let is_write_back = mutant.text.contains("wb");
    match mutant.verdict.as_str() {
        "found" => "found",
        "idle" => "idle",
        "not_run" => "not_run",
        _ if mutant.is_group => "nothing shared",
        _ if !mutant.is_wait()
            && group(if is_write_back {
                "all write-backs"
            } else {
                "all invalidations"
            }) =>
        {
            "fenced twice"
        }
        _ if !mutant.is_wait() => "nothing shared",
        _ if mutant.did_only(&["loads", "scalar_loads", "lds_reads", "atomics"]) => {
            "waited for again"
        }
        _ => "not read",
    }
}

/// How often each cause came, by kernel; groups by their names.
fn count(mutants: &[Mutant]) -> BTreeMap<(&str, &str, &'static str), usize> {
    let mut counts = BTreeMap::new();
    for m in mutants {
        let group = if m.is_group { m.text.as_str() } else { "each" };
        *counts
            .entry((m.kernel.as_str(), group, cause(m, mutants)))
            .or_default() += 1;
    }
    counts
}

/// What must be found, whatever the compiler made of the kernels.
fn judge(target: &str, subject: &Subject, mutants: &[Mutant]) {
    let name = format!("{target} {}", subject.kernel);
    fn group<'a>(mutants: &'a [Mutant], name: &'a str) -> impl Iterator<Item = &'a Mutant> {
        mutants.iter().filter(move |m| m.is_group && m.text == name)
    }
    let of_group = |name: &'static str| group(mutants, name);
    assert!(of_group("all waits").count() > 0, "{name}: nothing ran");
    for m in of_group("all waits") {
        assert!(
            m.is("found"),
            "{name} {}: all waits left out, nothing found",
            m.kernel
        );
    }
    // Blocks that read each other's sums need each kind of fence that the target has.
    if subject.across {
        for kind in ["all invalidations", "all write-backs"] {
            let must =
                kind == "all invalidations" || target == "gfx942" || target.starts_with("gfx12");
            assert!(
                !must || of_group(kind).any(|m| m.is("found")),
                "{name}: {kind} not found"
            );
        }
    }
    // A wait that ended something is there for a reason, but for a few.
    let waits = || mutants.iter().filter(|m| !m.is_group && m.is_wait());
    let missed: Vec<_> = waits().filter(|m| m.is("unneeded")).collect();
    for m in &missed {
        println!("{name}: {} then {}: ended {:?}", m.text, m.next, m.did);
    }
    let found = waits().filter(|m| m.is("found")).count();
    // A few of them say nothing about shares.
    let few = found + missed.len() < 10;
    assert!(
        few || 4 * missed.len() <= found,
        "{name}: {found} found, {} not",
        missed.len()
    );
}

/// Each kernel on a target of its own, and of its waits and fences every so many: others every day.
#[test]
fn some_waits_and_fences() {
    if gpu::is_real() {
        return;
    }
    let built = gpu::targets();
    let targets: Vec<&str> = TARGETS
        .into_iter()
        .filter(|target| built.contains(target))
        .collect();
    let day = gpu::day();
    for (i, subject) in SUBJECTS.iter().enumerate() {
        let todays = [targets[(i + day) % targets.len()]];
        let targets = if gpu::is_all() { &targets[..] } else { &todays };
        for target in targets {
            let mutants = examine(target, subject, (day % subject.step, subject.step));
            judge(target, subject, &mutants);
        }
    }
}

#[test]
#[ignore = "all of them: minutes"]
fn every_wait_and_fence() {
    // `MLXROCM_TEST_TARGET`: one target alone; the others' lines stay as they are.
    let only = std::env::var("MLXROCM_TEST_TARGET").ok();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/softgpu/mutations.tsv");
    let (mut lines, mut wrong) = (BTreeMap::<usize, String>::new(), Vec::new());
    for (place, target) in TARGETS.into_iter().enumerate() {
        if only.as_deref().is_some_and(|only| only != target) {
            continue;
        }
        let table = lines.entry(place).or_default();
        for subject in &SUBJECTS {
            let begun = std::time::Instant::now();
            let mutants = examine(target, subject, (0, 1));
            println!("{target} {}: {:.0?}", subject.kernel, begun.elapsed());
            // What one kernel has to say must not keep the others from being looked at.
            let judged = std::panic::catch_unwind(|| judge(target, subject, &mutants));
            wrong.extend(judged.err().map(|_| format!("{target} {}", subject.kernel)));
            for ((kernel, group, cause), n) in count(&mutants) {
                let line = format!("{target}\t{kernel}\t{group}\t{cause}\t{n}\n");
                print!("{line}");
                *table += &line;
            }
        }
    }
    if std::env::var_os("MLXROCM_BLESS").is_some() {
        // Read now: another target may have been written meanwhile.
        for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
            let place = TARGETS
                .iter()
                .position(|t| line.split('\t').next() == Some(t));
            let is_other =
                |place: &usize| only.as_deref().is_some_and(|only| only != TARGETS[*place]);
            if let Some(place) = place.filter(is_other) {
                *lines.entry(place).or_default() += &format!("{line}\n");
            }
        }
        let head = "target\tkernel\tleft out\toutcome\tcount\n";
        let all: String = lines.into_values().collect();
        std::fs::write(path, format!("{head}{all}")).expect("the table");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
