//! Mutation of real kernels: each wait and each fence is left out in turn, and the checks must say so.
//!
//! What is left out never changes what the kernel computes here (instructions take effect at once), so
//! every run does the same work on the same data; only what counts as ordered differs.

use super::effect::Effect;
use super::execute::execute;
use super::flight::{
    DID, ENDED_ATOMIC, ENDED_LDS_READ, ENDED_LDS_WRITE, ENDED_LOAD, ENDED_SCALAR, ENDED_STORE,
};
use super::launch::{Fault, Launch};
use super::{Footprint, Report};
use std::sync::Arc;

/// What became of a launch without one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The checks found it: the message.
    Found(String),
    /// Nothing was found though the instruction had an effect on the order of these (see [`Mutant::did`]).
    Unneeded,
    /// Each time it ran there was nothing to wait for or to carry on.
    Idle,
    /// It did not run.
    NotRun,
}

/// An instruction (or a group of them) and what its absence gave.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Offset in the code object's text; groups have none.
    pub pc: Option<u64>,
    /// The instruction, or the group's name.
    pub text: String,
    /// The instruction that follows it.
    pub next: String,
    /// What it ended or carried on where it ran: words.
    pub did: Vec<&'static str>,
    pub verdict: Verdict,
}

fn words(did: u8) -> Vec<&'static str> {
    let all = [
        (ENDED_LOAD, "loads"),
        (ENDED_STORE, "stores"),
        (ENDED_LDS_READ, "lds_reads"),
        (ENDED_LDS_WRITE, "lds_writes"),
        (ENDED_SCALAR, "scalar_loads"),
        (ENDED_ATOMIC, "atomics"),
        (DID, "cache"),
    ];
    let set = all.iter().filter(|(bit, _)| did & bit != 0);
    set.map(|(_, word)| *word).collect()
}

/// Contents of all live memory, to run on the same data again.
struct Saved {
    parts: Vec<(u64, Vec<u8>)>,
}

impl Saved {
    fn new(launch: &Launch) -> Saved {
        let snapshot = launch.memory.snapshot();
        let live = snapshot.regions.iter().filter(|r| !r.is_freed());
        let copy = |r: &Arc<crate::memory::Region>| {
            let bytes = (r.end() - r.start()) as usize;
            // SAFETY: a live region, which nothing else uses while its launch is examined.
            let from = unsafe { std::slice::from_raw_parts(r.start() as *const u8, bytes) };
            (r.start(), from.to_vec())
        };
        Saved {
            parts: live.map(copy).collect(),
        }
    }

    /// Puts back what the launch has written.
    fn restore(&self, touched: &Footprint) {
        for (start, end) in touched.written() {
            for (base, bytes) in &self.parts {
                let (from, to) = (start.max(*base), end.min(base + bytes.len() as u64));
                if from < to {
                    let part = &bytes[(from - base) as usize..(to - base) as usize];
                    // SAFETY: inside the live region that was copied.
                    unsafe {
                        std::ptr::copy_nonoverlapping(part.as_ptr(), from as *mut u8, part.len());
                    }
                }
            }
        }
    }
}

/// Groups that leave out all instructions of a kind at once: what is ordered twice shows only there.
type Group = (&'static str, fn(&Effect) -> bool);

const GROUPS: [Group; 3] = [
    ("all waits", |e| e.is_wait()),
    ("all invalidations", |e| {
        matches!(
            e,
            Effect::Invalidate(_) | Effect::InvalidateNear | Effect::InvalidateMiddle
        )
    }),
    ("all write-backs", |e| matches!(e, Effect::WriteBack(_))),
];

/// Which instructions are left out: every `of`-th from number `first` on, and not those that
/// `known` says were found already (by their text offset).
pub struct Part<'p> {
    pub first: usize,
    pub of: usize,
    pub known: &'p (dyn Fn(Option<u64>, &str) -> bool + Sync),
}

/// Runs the launch without each wait and fence in turn, then as it is. Gives that last run's report and
/// the mutants.
///
/// # Errors
/// The fault that the launch has as it is.
pub fn mutants(launch: &Launch, part: &Part) -> Result<(Report, Vec<Mutant>), Fault> {
    let saved = Saved::new(launch);
    let accounted = Launch {
        without: Some(&[]),
        ..*launch
    };
    let report = execute(&accounted)?;
    let kernel = launch.kernel;
    let code = &kernel.program.code;
    let of_kind = |kind: &dyn Fn(&Effect) -> bool| -> Vec<usize> {
        let has = |at: &usize| code[*at].effect.as_ref().is_some_and(kind);
        kernel.range.clone().filter(has).collect()
    };
    // Orders of waves: as given, and another one.
    let run = |without: &[usize]| -> Option<String> {
        [launch.seed, launch.seed ^ 0x5eed_1234_5677]
            .iter()
            .find_map(|seed| {
                saved.restore(&report.touched);
                let mutated = Launch {
                    without: Some(without),
                    seed: *seed,
                    ..*launch
                };
                execute(&mutated).err().map(|fault| fault.to_string())
            })
    };
    let mut found = Vec::new();
    for (i, at) in of_kind(&Effect::is_order).into_iter().enumerate() {
        let inst = &code[at];
        if i % part.of.max(1) != part.first || (part.known)(Some(inst.pc), &inst.text) {
            continue;
        }
        let (ran, did) = report.orders.get(&at).copied().unwrap_or_default();
        let verdict = match (ran, did) {
            (false, _) => Verdict::NotRun,
            (_, 0) => Verdict::Idle,
            _ => run(&[at]).map_or(Verdict::Unneeded, Verdict::Found),
        };
        found.push(Mutant {
            pc: Some(inst.pc),
            text: inst.text.clone(),
            next: code
                .get(at + 1)
                .map_or_else(String::new, |n| n.text.clone()),
            did: words(did),
            verdict,
        });
    }
    for (name, kind) in GROUPS {
        let all = of_kind(&kind);
        if all.is_empty() || (part.known)(None, name) {
            continue;
        }
        let did = all
            .iter()
            .filter_map(|at| report.orders.get(at))
            .fold(0, |d, o| d | o.1);
        found.push(Mutant {
            pc: None,
            text: name.into(),
            next: String::new(),
            did: words(did),
            verdict: run(&all).map_or(Verdict::Unneeded, Verdict::Found),
        });
    }
    saved.restore(&report.touched);
    Ok((execute(launch)?, found))
}
