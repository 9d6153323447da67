//! Graphs of arrays that come again: the second time a plan is made, from then on it is run. What has no plan is
//! computed operation by operation (`eval.rs`), with the same results.

use super::collect::{Calls, Collected};
use super::follow::{Follower, Found, form};
use super::home::{Data, Home};
use crate::gpu::arrays::{Leaf, Place, Replay};
use crate::ir::{Alike, Graph, LeafForm, Met, Next, NodeId, Op};
use crate::log::{self, Level};
use crate::{Result, cpu};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

/// Operations of graphs that are planned: with fewer there is nothing to gain (on the CPU two may become one), more would
/// take too long to compare.
const FEWEST: usize = 4;
const FEWEST_ON_CPU: usize = 2;
const MOST: usize = 16_384;
/// Most bytes that a plan of the CPU keeps.
const MOST_KEPT: usize = 2 << 20;

static MADE: AtomicU64 = AtomicU64::new(0);
static RUN: AtomicU64 = AtomicU64::new(0);
/// `MLXROCM_ARRAY_PLANS=off` turns plans off.
static ON: LazyLock<AtomicBool> = LazyLock::new(|| {
    let is_off = std::env::var("MLXROCM_ARRAY_PLANS").is_ok_and(|said| said == "off");
    AtomicBool::new(!is_off)
});

static ON_CPU: LazyLock<Plans<cpu::Replay>> = LazyLock::new(Mutex::default);

/// Plans of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanCounts {
    /// Made.
    pub made: u64,
    /// Runs of them.
    pub run: u64,
}

/// How many plans were made and run.
pub fn plan_counts() -> PlanCounts {
    PlanCounts {
        made: MADE.load(Ordering::Relaxed),
        run: RUN.load(Ordering::Relaxed),
    }
}

/// Whether graphs are planned, for all threads.
pub fn use_plans(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// The results of a graph by its plan; `None` if it has none.
///
/// # Errors
/// Those of the operations.
pub(super) fn run(collected: &Collected) -> Result<Option<Vec<Data>>> {
    let operations = collected.graph.nodes.len() - collected.leaves.len();
    if !(FEWEST_ON_CPU..=MOST).contains(&operations) || !ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let home = match one_home(collected) {
        Some(home) if *home == Home::Cpu || operations >= FEWEST => home,
        _ => return Ok(None),
    };
    let results = match home {
        Home::Cpu => on_cpu(collected)?,
        Home::Gpu(place) => on_gpu(place, collected)?,
    };
    if results.is_some() {
        RUN.fetch_add(1, Ordering::Relaxed);
    }
    Ok(results)
}

/// Where all operations are computed; `None` if that is in several places. Views on the way from an array of the host
/// to a GPU (a number that is broadcast) may be there as well.
fn one_home(collected: &Collected) -> Option<&Home> {
    let graph = &collected.graph;
    let mut home = &Home::Cpu;
    let mut elsewhere = false;
    for (place, (node, of_node)) in graph.nodes.iter().zip(&collected.homes).enumerate() {
        match of_node {
            _ if matches!(node.op, Op::Leaf(_)) => {}
            Home::Cpu => elsewhere |= !node.op.may_be_view() || graph.is_output(NodeId(place)),
            of_node if *home == Home::Cpu => home = of_node,
            of_node if of_node != home => return None,
            _ => {}
        }
    }
    (*home == Home::Cpu || !elsewhere).then_some(home)
}

/// How the leaves lie.
fn forms(collected: &Collected) -> Vec<LeafForm> {
    collected.leaves.iter().map(form).collect()
}

/// Graphs that came, and their plans.
type Plans<T> = Mutex<Alike<Met<Arc<Mutex<T>>>>>;

/// The plan of a graph, made now if it comes for the second time. Plans are not locked meanwhile: memory that one lacks
/// is taken from others.
fn plan<T>(
    plans: &Plans<T>,
    graph: &Graph,
    leaves: &[LeafForm],
    note: impl FnOnce() -> Vec<u64>,
    make: impl FnOnce(&[u64]) -> Option<T>,
) -> Option<Arc<Mutex<T>>> {
    let next = plans.lock().of(graph, leaves).next(note);
    let before = match next {
        Next::Run(plan) => return Some(plan),
        Next::Without => return None,
        Next::Make(before) => before,
    };
    let plan = Arc::new(Mutex::new(make(&before)?));
    MADE.fetch_add(1, Ordering::Relaxed);
    *plans.lock().of(graph, leaves) = Met::Planned(plan.clone());
    Some(plan)
}

/// A plan, and where it runs.
pub(super) enum Plan {
    Cpu(Arc<Mutex<cpu::Replay>>),
    Gpu(Arc<Place>, Arc<Mutex<Replay>>),
}

/// The plan of `calls`, if what they compute is what a plan of as many operations ran last; no graph is built. What it runs
/// with comes into `found`.
///
/// # Errors
/// As [`Calls::hand`].
pub(super) fn known(calls: &mut Calls<'_>, found: &mut Found) -> Result<Option<Plan>> {
    if !(FEWEST_ON_CPU..=MOST).contains(&calls.len()) || !ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let home = calls.home();
    Ok(match &home {
        Home::Cpu => follow(&ON_CPU, calls, &home, found)?.map(Plan::Cpu),
        Home::Gpu(place) => {
            let plan = follow(place.graphs(), calls, &home, found)?;
            plan.map(|plan| Plan::Gpu(place.clone(), plan))
        }
    })
}

fn follow<T>(
    plans: &Plans<T>,
    calls: &mut Calls<'_>,
    home: &Home,
    found: &mut Found,
) -> Result<Option<Arc<Mutex<T>>>> {
    let mut plans = plans.lock();
    let is_planned = |met: &Met<_>| matches!(met, Met::Planned(_));
    let Some((graph, leaves, Met::Planned(plan))) = plans.latest(calls.len(), is_planned) else {
        return Ok(None);
    };
    let mut follower = Follower::new(graph, leaves, home, found);
    let is_it = calls.hand(&mut follower)? && follower.is_at_end();
    Ok(is_it.then(|| plan.clone()))
}

impl Plan {
    /// The results with these leaves. `None`: another thread runs it, or a leaf is not where it was.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn run(&self, leaves: &[Data]) -> Result<Option<Vec<Data>>> {
        let results = match self {
            Plan::Cpu(plan) => match host(leaves) {
                Some(leaves) => run_on_cpu(plan, &leaves)?,
                None => None,
            },
            Plan::Gpu(place, plan) => match here(place, leaves)? {
                Some(here) => match run_on_gpu(place, plan, leaves, &here)? {
                    Run::Results(results) => Some(results),
                    _ => None,
                },
                None => None,
            },
        };
        if results.is_some() {
            RUN.fetch_add(1, Ordering::Relaxed);
        }
        Ok(results)
    }
}

/// The leaves in host memory; `None` if one is not there.
pub(super) fn host(leaves: &[Data]) -> Option<Vec<cpu::Elements>> {
    let host = |leaf: &Data| match leaf {
        Data::Host(elements) => Some(elements.clone()),
        Data::Device(_) => None,
    };
    leaves.iter().map(host).collect()
}

fn on_cpu(collected: &Collected) -> Result<Option<Vec<Data>>> {
    let Some(leaves) = host(&collected.leaves) else {
        return Ok(None);
    };
    let make = |_: &[u64]| {
        let layouts: Vec<_> = leaves.iter().map(cpu::Elements::layout).collect();
        let plan = cpu::Replay::new(&collected.graph, &layouts);
        plan.filter(|plan| plan.bytes() <= MOST_KEPT)
    };
    match plan(&ON_CPU, &collected.graph, &forms(collected), Vec::new, make) {
        Some(plan) => run_on_cpu(&plan, &leaves),
        None => Ok(None),
    }
}

fn run_on_cpu(plan: &Mutex<cpu::Replay>, leaves: &[cpu::Elements]) -> Result<Option<Vec<Data>>> {
    // Another thread runs it: this one goes without.
    let Some(mut plan) = plan.try_lock() else {
        return Ok(None);
    };
    let leaves: Vec<&cpu::Elements> = leaves.iter().collect();
    let results = plan.run(&leaves)?;
    Ok(Some(results.into_iter().map(Data::Host).collect()))
}

/// The leaves at a place; `None` if one is on another GPU.
fn here<'a>(place: &Arc<Place>, leaves: &'a [Data]) -> Result<Option<Vec<Leaf<'a>>>> {
    let mut here = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        here.push(match leaf {
            Data::Host(x) => Leaf::Host(x.bytes(), x.dtype(), x.layout()),
            Data::Device(x) => match place.join(x)? {
                Some(here) => Leaf::Device(here),
                None => return Ok(None),
            },
        });
    }
    Ok(Some(here))
}

fn on_gpu(place: &Arc<Place>, collected: &Collected) -> Result<Option<Vec<Data>>> {
    let Some(leaves) = here(place, &collected.leaves)? else {
        return Ok(None);
    };
    let make = |before: &[u64]| {
        let plan = place.replay(&collected.graph, &leaves, before);
        plan.unwrap_or_else(|error| {
            // If nothing else goes either, the operations say so; if memory is short they need less of it.
            log::write(Level::Debug, || {
                format!("a graph of arrays that comes again has no plan: {error}")
            });
            None
        })
    };
    let forms = forms(collected);
    let note = || leaves.iter().map(Leaf::address).collect();
    let Some(plan) = plan(place.graphs(), &collected.graph, &forms, note, make) else {
        return Ok(None);
    };
    let note = match run_on_gpu(place, &plan, &collected.leaves, &leaves)? {
        Run::Results(results) => return Ok(Some(results)),
        Run::Elsewhere => return Ok(None),
        // A leaf that was taken for one that stays where it is: the next plan copies it in.
        Run::Moved(staying) => Met::Once(staying),
        Run::NoForm => Met::Unplanned,
    };
    *place.graphs().lock().of(&collected.graph, &forms) = note;
    Ok(None)
}

/// What came of a plan.
enum Run {
    Results(Vec<Data>),
    /// Nothing: another thread runs it.
    Elsewhere,
    /// Nothing: a leaf is not where it was. The addresses of those that are, 0 for others.
    Moved(Vec<u64>),
    /// Nothing, now and ever: operations that are joined have no form here.
    NoForm,
}

fn run_on_gpu(
    place: &Arc<Place>,
    plan: &Mutex<Replay>,
    leaves: &[Data],
    here: &[Leaf<'_>],
) -> Result<Run> {
    let Some(mut plan) = plan.try_lock() else {
        return Ok(Run::Elsewhere);
    };
    if let Some(joined) = plan.joined().cloned() {
        drop(plan);
        let results = super::eval::run_joined(place, &joined, leaves)?;
        return Ok(results.map_or(Run::NoForm, Run::Results));
    }
    Ok(match place.run_replay(&mut plan, here)? {
        Some(results) => Run::Results(results.into_iter().map(Data::Device).collect()),
        None => Run::Moved(plan.staying(here)),
    })
}
