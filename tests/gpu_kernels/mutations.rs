//! The waits and fences of the library's AMD kernels, each left out in turn: the software GPU must find
//! it, or say why nothing is missed (`tests/softgpu/README.md`).
//!
//! A part of them is tried on every run. All of them, with the table `tests/softgpu/mutations.tsv`
//! written anew: `MLXROCM_BLESS=1 cargo test --test gpu_kernels mutations -- --ignored --nocapture`.

use crate::{Bench, attention, gpu, matmul, product};
use mlxrocm::formats::{Format, ScalarType};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const TARGETS: [&str; 5] = ["gfx1151", "gfx1201", "gfx942", "gfx90a", "gfx1030"];

/// A kernel by a part of its name, and launches of it that go through its code.
struct Subject {
    kernel: &'static str,
    run: fn(&Bench),
    /// It reduces over blocks, so that without its fences blocks read what others may not have written.
    across: bool,
}

const SUBJECTS: [Subject; 5] = [
    Subject {
        kernel: "matmul_rows_q4",
        run: rows,
        across: false,
    },
    Subject {
        kernel: "matmul_block_q4",
        run: matmul::two_products,
        across: true,
    },
    Subject {
        kernel: "attention_paged",
        run: attention::one_step,
        across: true,
    },
    Subject {
        kernel: "attention_flash",
        run: attention::one_prompt,
        across: false,
    },
    Subject {
        kernel: "argmax",
        run: crate::engine::one_argmax,
        across: true,
    },
];

/// One row and three.
fn rows(bench: &Bench) {
    let format = Format::Affine {
        bits: 4,
        group: 64,
        scale: ScalarType::BF16,
    };
    for count in [1, 3] {
        product::run(&bench.device, format, (40, 1024), count);
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
    let config = format!("devices={target};mutate={};part={first}/{step}", subject.kernel);
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
        did: m["did"].as_array().expect("a list").iter().map(|d| d.as_str().expect("a word").to_owned()).collect(),
        is_group: m["pc"].is_null(),
    };
    mutants.iter().map(read).collect()
}

/// Why nothing was found without a wait or a fence that had something to do.
fn cause(mutant: &Mutant) -> Option<&'static str> {
    let only = |words: &[&str]| mutant.did.iter().all(|did| words.contains(&did.as_str()));
    let results = ["loads", "scalar_loads", "lds_reads", "atomics"];
    if mutant.is_group {
        return Some("no block reads what another one wrote");
    }
    if mutant.did == ["cache"] {
        return Some("fenced twice, or nothing shared behind it");
    }
    if only(&results) {
        return Some("what it waited for is waited for again before it is named");
    }
    if only(&["stores", "loads", "scalar_loads", "lds_reads", "atomics"]) {
        return Some("no other wave reads these stores before they are waited for again");
    }
    Some("no other wave reads this LDS before it is waited for again")
}

/// One line a kernel and target: how many were left out, and what came of it.
fn summary(target: &str, mutants: &[Mutant]) -> String {
    let mut kernels: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for m in mutants {
        let what = match m.verdict.as_str() {
            "unneeded" => cause(m).expect("a cause").to_owned(),
            verdict => verdict.to_owned(),
        };
        let what = if m.is_group { format!("{}: {what}", m.text) } else { what };
        *kernels.entry(&m.kernel).or_default().entry(what).or_default() += 1;
    }
    let mut out = String::new();
    for (kernel, counts) in kernels {
        for (what, count) in counts {
            writeln!(out, "{target}\t{kernel}\t{what}\t{count}").expect("a line");
        }
    }
    out
}

#[test]
#[ignore = "all of them: minutes"]
fn every_wait_and_fence() {
    let mut table = String::new();
    for target in TARGETS {
        for subject in &SUBJECTS {
            let mutants = examine(target, subject, (0, 1));
            for m in mutants.iter().filter(|m| m.verdict == "unneeded") {
                println!("{target} {} [{}] -> [{}] did {:?}", m.kernel, m.text, m.next, m.did);
            }
            let lines = summary(target, &mutants);
            print!("{lines}");
            table += &lines;
        }
    }
}
