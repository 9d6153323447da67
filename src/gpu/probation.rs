//! Graphs on probation: used only where a replay gives the same bits as direct launches, faster.

mod compare;
mod copies;
mod trial;

use super::buffer::Range;
use super::device::Device;
use super::kernels::fingerprint;
use super::policy::{Policy, PolicyCell};
use super::program::{Program, ProgramMode};
use super::stream::Stream;
use super::verdict::{self, Found, Verdict};
use crate::driver::DeviceFacts;
use crate::{Result, log};
use compare::{judge, narrowed};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use trial::{MOST_TRIAL_NODES, TRIAL_NODES, judge_trial};

/// What a device knows about its graphs.
pub(super) struct Graphs {
    policy: PolicyCell,
    segment: AtomicUsize,
    /// The device and driver that a verdict is about.
    subject: String,
    found: Mutex<Option<Found>>,
    read: AtomicU8,
    /// One comparison at a time.
    comparing: Mutex<()>,
}

/// Nodes of a graph where long ones were seen to replay stale pointers (gfx12, 200 and more).
const SHORT_SEGMENT: usize = 160;

/// Shorter programs run directly while graphs are not judged: a trial costs more than they.
const FEWEST_NODES: usize = 8;

impl Graphs {
    pub fn new(facts: &DeviceFacts) -> Self {
        let segment = std::env::var("MLXROCM_GRAPH_SEGMENT")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(if facts.arch.starts_with("gfx12") {
                SHORT_SEGMENT
            } else {
                0
            });
        Graphs {
            policy: PolicyCell::from_environment("MLXROCM_GRAPHS"),
            segment: AtomicUsize::new(segment),
            subject: format!(
                "{} {} driver {} segment {segment} kernels {}",
                facts.name,
                facts.target,
                facts.driver_version,
                fingerprint()
            ),
            found: Mutex::default(),
            read: AtomicU8::new(0),
            comparing: Mutex::default(),
        }
    }

    pub fn policy(&self) -> Policy {
        self.policy.get()
    }

    /// The most nodes of a graph; 0 means any number.
    pub fn segment(&self) -> usize {
        self.segment.load(Ordering::Relaxed)
    }

    /// The verdict of this process or an earlier one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.look(|found| found.map(|found| found.verdict))
    }

    /// Whether a program is to be compared before it runs as a graph, if it can be.
    pub fn awaits(&self, program: &Program) -> bool {
        let can = program.len() >= FEWEST_NODES && !program.multiplies();
        let known = |found: &Found| found.awaits(program.structure(), program.len());
        can && self.look(|found| found.is_none_or(known))
    }

    fn look<T>(&self, at: impl FnOnce(Option<&Found>) -> T) -> T {
        let mut found = self.found.lock();
        if found.is_none() && self.read.swap(1, Ordering::Relaxed) == 0 {
            *found = verdict::load(&self.subject);
            if let Some(found) = &*found {
                self.tell("known", &found.verdict);
            }
        }
        at(found.as_ref())
    }

    fn decide(&self, now: Found) {
        let keep = now.verdict.compared;
        if self.verdict() != Some(now.verdict) {
            self.tell(if keep { "found" } else { "assumed" }, &now.verdict);
        }
        if keep {
            verdict::store(&self.subject, &now);
        }
        *self.found.lock() = Some(now);
    }

    fn tell(&self, how: &str, verdict: &Verdict) {
        log::write(log::Level::Info, || {
            format!("{}: graphs {how}: {verdict}", self.subject)
        });
    }
}

impl Device {
    /// When programs run as graphs.
    pub fn graph_policy(&self) -> Policy {
        self.graphs.policy()
    }

    /// Sets when programs run as graphs.
    pub fn set_graph_policy(&self, policy: Policy) {
        self.graphs.policy.set(policy);
    }

    /// Sets the most nodes of one graph for programs whose graphs are not built yet; 0 means any.
    pub fn set_graph_segment(&self, nodes: usize) {
        self.graphs.segment.store(nodes, Ordering::Relaxed);
    }

    /// What graphs were found to be on this device; `None` before the first comparison.
    pub fn graph_verdict(&self) -> Option<Verdict> {
        self.graphs.verdict()
    }
}

/// One run of a program that is awaited ([`Graphs::awaits`]): judges the device's graphs by it, as far as it can be
/// compared, and runs it.
///
/// `touched`: as for [`Program::run_touching`].
///
/// The time is that of a trial of many tiny launches, which is what graphs are for: a long kernel takes
/// as long either way, and chance would decide. The bits are those of the trial and of this program. A driver may fail
/// in graphs of some length only, or of some kernels: the trial is as long as the longest program, and the first
/// programs of different launches are compared, and later ones that are longer.
pub(super) fn run(
    device: &Arc<Device>,
    program: &Program,
    stream: &Stream,
    touched: &[Range],
) -> Result<()> {
    let _one = device.graphs.comparing.lock();
    let before = device.graphs.look(|found| found.cloned());
    // Another thread may have been faster.
    if let Some(before) = &before
        && !device.graphs.awaits(program)
    {
        return program.run_as(stream, before.verdict.mode());
    }
    let nodes = program.len().clamp(TRIAL_NODES, MOST_TRIAL_NODES);
    let trial = match &before {
        Some(before) if before.trial >= nodes => Some(before.verdict),
        before => {
            let known = before.as_ref().map(|before| before.verdict);
            judge_trial(device, stream, nodes)?.or(known)
        }
    };
    let own = match program.written() {
        // Otherwise graphs are wrong already.
        Some(written) if trial.is_none_or(|trial| trial.right) => {
            judge(program, stream, &narrowed(written, touched))?
        }
        _ => None,
    };
    let verdict = match (trial, own) {
        (Some(trial), Some(own)) if own.compared => Verdict {
            right: trial.right && own.right,
            ..trial
        },
        (Some(trial), _) => trial,
        (None, Some(own)) => own,
        // Some other program may tell.
        (None, None) => return program.run_as(stream, ProgramMode::Direct),
    };
    let mut now = before.unwrap_or_else(|| Found::new(verdict));
    now.verdict = Verdict {
        right: verdict.right && now.verdict.right,
        ..verdict
    };
    now.trial = now.trial.max(nodes);
    now.programs.push(program.structure());
    if own.is_some_and(|own| own.compared) {
        now.compared += 1;
        now.longest = now.longest.max(program.len());
    }
    device.graphs.decide(now);
    match own {
        // The comparison has left what one run leaves.
        Some(_) => Ok(()),
        None => program.run_as(stream, verdict.mode()),
    }
}
