//! Launching a kernel: kernel arguments, workgroups over threads, waves in shuffled order.

use super::code_object::{Kernel, Program};
use super::counters::Report;
use super::effect::Effect;
use super::flight::too_early;
use super::order::{Order, Random};
use super::race::GlobalRace;
use super::start::{dispatch_packet, kernarg, start_wave};
use super::visible::{Rules, apply, pass_barrier as pass};
use super::wave::{Fail, Flow, Wave};
use super::workgroup::Group;
use crate::memory::{Memory, Snapshot};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Which checks run, and the limit after which a wave counts as hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Report reads of device memory that nothing has written.
    pub uninitialised: bool,
    /// Report LDS accesses of two waves that no barrier orders.
    pub lds_race: bool,
    /// Report global memory accesses of two waves that neither barrier nor atomics order (slow).
    pub global_race: bool,
    /// Report registers named before the load that writes them was waited for, and with the race
    /// checks what waits, write-backs and invalidations fail to order.
    pub waits: bool,
    /// Instructions that one wave may execute.
    pub instruction_limit: u64,
}

impl Default for Checks {
    fn default() -> Self {
        Checks {
            uninitialised: true,
            lds_race: true,
            global_race: false,
            waits: true,
            instruction_limit: 2_000_000_000,
        }
    }
}

/// One kernel launch.
pub struct Launch<'a> {
    pub kernel: &'a Arc<Kernel>,
    pub grid_blocks: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_lds: u32,
    /// The explicit arguments as the host packs them; hidden ones are filled here.
    pub kernarg: &'a [u8],
    pub memory: &'a Memory,
    /// Order of workgroups and waves: 0 is the natural order, anything else shuffles.
    pub seed: u64,
    /// Host threads that share the workgroups (at least 1).
    pub threads: usize,
    pub checks: Checks,
    /// Ends the launch with a fault when another thread sets it.
    pub stop: Option<&'a AtomicBool>,
    /// Mutation tests: the waits and fences, by their index in the code, that are left out; the report
    /// then tells what each of the others did.
    pub without: Option<&'a [usize]>,
}

/// Why a launch stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kernel: String,
    pub block: [u32; 3],
    pub wave: u32,
    /// First lane concerned.
    pub lane: u32,
    /// Byte offset in the code object's text.
    pub pc: u64,
    pub instruction: String,
    pub message: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "{}: {} [kernel {} block ({x},{y},{z}) wave {} lane {} pc {:#x}]",
            self.instruction, self.message, self.kernel, self.wave, self.lane, self.pc
        )
    }
}

impl std::error::Error for Fault {}

/// What all threads of a launch share.
pub struct Shared<'l> {
    pub program: &'l Program,
    pub kernel: &'l Kernel,
    pub checks: Checks,
    pub snapshot: Arc<Snapshot>,
    pub lds_bytes: usize,
    pub race: Option<GlobalRace>,
    pub rules: Rules,
    /// Indices of instructions that are left out (mutation tests).
    pub without: Option<&'l [usize]>,
    pub grid_blocks: [u32; 3],
    pub block: [u32; 3],
    pub kernarg: Vec<u64>,
    pub packet: [u64; 8],
    pub(crate) stop: AtomicBool,
}

impl Shared<'_> {
    /// Ranges beside the registered memory: kernargs, dispatch packet, the code object's image.
    pub fn extra_ranges(&self) -> [(u64, u64, bool); 3] {
        let of = |s: &[u64]| {
            (
                s.as_ptr() as u64,
                s.as_ptr() as u64 + 8 * s.len() as u64,
                false,
            )
        };
        [
            of(&self.kernarg),
            of(&self.packet),
            (self.program.base(), self.program.image_end(), true),
        ]
    }
}

fn product(v: [u32; 3]) -> Option<u64> {
    u64::from(v[0])
        .checked_mul(u64::from(v[1]))?
        .checked_mul(u64::from(v[2]))
}

fn refuse(kernel: &Kernel, message: String) -> Fault {
    Fault {
        kernel: kernel.name.clone(),
        block: [0; 3],
        wave: 0,
        lane: 0,
        pc: 0,
        instruction: "launch".into(),
        message,
    }
}

/// Follows each instruction that waves execute, for the timing model. `()` follows nothing and costs nothing.
pub trait Probe {
    /// Before instruction `at` (an index into the code) runs.
    fn before(&mut self, wave: &Wave, group: &Group, at: usize);
    /// After it has run; a memory instruction's addresses are in `wave.addrs`.
    fn after(&mut self, wave: &Wave, group: &Group, at: usize);
}

impl Probe for () {
    #[inline(always)]
    fn before(&mut self, _: &Wave, _: &Group, _: usize) {}
    #[inline(always)]
    fn after(&mut self, _: &Wave, _: &Group, _: usize) {}
}

/// Checks a launch and makes what its workgroups share; also their number and the threads of each.
fn prepare<'l>(launch: &Launch<'l>) -> Result<(Shared<'l>, u64, u64), Fault> {
    let kernel = launch.kernel;
    let fail = |m: String| refuse(kernel, m);
    if let Some((text, pc, why)) = &kernel.missing {
        return Err(Fault {
            pc: *pc,
            instruction: text.clone(),
            ..fail(why.clone())
        });
    }
    let threads = product(launch.block).filter(|n| *n > 0 && *n <= 1024);
    let threads = threads.ok_or_else(|| fail(format!("bad workgroup size {:?}", launch.block)))?;
    if kernel.max_workgroup != 0 && threads > u64::from(kernel.max_workgroup) {
        return Err(fail(format!(
            "{threads} threads in a workgroup, the kernel allows {}",
            kernel.max_workgroup
        )));
    }
    let blocks = product(launch.grid_blocks).filter(|n| *n > 0 && *n < 1 << 32);
    let blocks = blocks.ok_or_else(|| fail(format!("bad grid {:?}", launch.grid_blocks)))?;
    let lds_bytes =
        (kernel.lds_bytes as usize).next_multiple_of(if launch.dynamic_lds > 0 { 16 } else { 4 });
    let lds_bytes = lds_bytes + launch.dynamic_lds as usize;
    if lds_bytes > 64 << 10 {
        return Err(fail(format!(
            "{lds_bytes} bytes of LDS, a workgroup has at most 65536"
        )));
    }
    let mut shared = Shared {
        program: &kernel.program,
        kernel,
        checks: launch.checks,
        snapshot: launch.memory.snapshot(),
        lds_bytes,
        race: None,
        rules: rules(launch, threads),
        without: launch.without,
        grid_blocks: launch.grid_blocks,
        block: launch.block,
        kernarg: kernarg(launch).map_err(fail)?,
        packet: [0; 8],
        stop: AtomicBool::new(false),
    };
    if launch.checks.global_race {
        shared.race = Some(GlobalRace::new(&shared.snapshot));
    }
    shared.packet = dispatch_packet(&shared, launch.dynamic_lds);
    Ok((shared, blocks, threads))
}

/// The workgroup of this number.
fn block_of(grid: [u32; 3], number: u64) -> [u32; 3] {
    let [x, y, _] = grid.map(u64::from);
    [number % x, number / x % y, number / x / y].map(|v| v as u32)
}

/// Runs some workgroups of a launch, one after the other, and shows each of their instructions to `probe`.
///
/// # Errors
/// As [`execute`].
pub fn observe(launch: &Launch, numbers: &[u64], probe: &mut impl Probe) -> Result<(), Fault> {
    let (shared, blocks, threads) = prepare(launch)?;
    let mut group = Group::new(&shared);
    let mut waves = Vec::new();
    for &number in numbers.iter().filter(|n| **n < blocks) {
        group.begin(block_of(launch.grid_blocks, number), number as u32);
        run_group(
            &mut group,
            &mut waves,
            threads as u32,
            None,
            launch.stop,
            probe,
        )?;
    }
    Ok(())
}

/// Waves for which another thread is worth while.
const WAVES: usize = 32;

/// Runs a kernel to its end.
///
/// # Errors
/// The first fault found: bad access, race, divergent barrier, hang, or an instruction that is not implemented.
pub fn execute(launch: &Launch) -> Result<Report, Fault> {
    let kernel = launch.kernel;
    let (shared, blocks, threads) = prepare(launch)?;
    let order = Order::new(blocks, launch.seed);
    let next = AtomicU64::new(0);
    let fault = Mutex::new(None);
    let total = Mutex::new(Report::default());
    let work = || {
        let mut group = Group::new(&shared);
        let mut waves = Vec::new();
        let mut random = Random(launch.seed | 1);
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= blocks || shared.stop.load(Ordering::Relaxed) {
                break;
            }
            let number = order.at(i);
            random.0 = launch
                .seed
                .wrapping_add(number)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                | 1;
            group.begin(block_of(launch.grid_blocks, number), number as u32);
            let shuffle = (launch.seed != 0).then_some(&mut random);
            let run = run_group(
                &mut group,
                &mut waves,
                threads as u32,
                shuffle,
                launch.stop,
                &mut (),
            );
            if let Err(f) = run {
                fault.lock().get_or_insert(f);
                shared.stop.store(true, Ordering::Relaxed);
                break;
            }
        }
        let mut total = total.lock();
        total.add(&partial(&group));
        if launch.without.is_some() {
            account(&group, &mut total);
        }
    };
    // A thread costs more than a few waves.
    let waves = blocks * threads.div_ceil(u64::from(kernel.wave_size));
    let n = launch.threads.min(waves as usize / WAVES);
    let n = n.clamp(1, 64).min(blocks as usize);
    if n == 1 {
        work();
    } else {
        std::thread::scope(|s| {
            for _ in 0..n {
                s.spawn(work);
            }
        });
    }
    if let Some(f) = fault.into_inner() {
        return Err(f);
    }
    let mut report = total.into_inner();
    if let Some(race) = shared.race {
        report.touched = race.footprint(&shared.snapshot);
    }
    report.kernel.clone_from(&kernel.name);
    report.launches = 1;
    report.workgroups = blocks;
    report.waves = waves;
    Ok(report)
}

/// What the kernel's waits and fences did.
fn account(group: &Group, total: &mut Report) {
    let code = &group.shared.program.code;
    for at in group.shared.kernel.range.clone() {
        if code[at].effect.as_ref().is_some_and(Effect::is_order) {
            let (ran, did) = total.orders.entry(at).or_default();
            *ran |= group.counts[at - group.shared.kernel.range.start] > 0;
            *did |= group.visible.did[at];
        }
    }
}

/// Which orders matter in this launch.
fn rules(launch: &Launch, threads: u64) -> Rules {
    let (kernel, checks) = (launch.kernel, launch.checks);
    let generation = kernel.program.target.generation;
    // Bit 29: the workgroup's waves are spread over both units of a pair (WGP mode).
    let pair = generation >= 10 && kernel.descriptor.rsrc1 >> 29 & 1 != 0;
    let several = threads > u64::from(kernel.wave_size);
    Rules {
        lds: checks.waits && checks.lds_race && several,
        global: checks.waits && checks.global_race && (kernel.atomics || pair && several),
        near_caches: pair,
        shared_cache: !pair,
    }
}

fn partial(group: &Group) -> Report {
    let t = group.traffic;
    Report {
        instructions: group.classes(),
        bytes_loaded: t.bytes_loaded,
        bytes_stored: t.bytes_stored,
        last_store: t.last_store,
        lines_64: t.lines_64,
        lines_128: t.lines_128,
        load_widths: t.load_widths,
        load_bytes: t.load_bytes,
        load_lines: t.load_lines,
        lds_conflicts: t.lds_conflicts,
        ..Report::default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Waiting,
    Done,
}

fn fault(g: &Group, w: &Wave, at: usize, fail: &Fail) -> Fault {
    let inst = g.shared.program.code.get(at);
    Fault {
        kernel: g.shared.kernel.name.clone(),
        block: g.block,
        wave: w.index,
        lane: fail.lane,
        pc: inst.map_or(0, |i| i.pc),
        instruction: inst.map_or_else(|| "past the end of the code".into(), |i| i.text.clone()),
        message: fail.message.clone(),
    }
}

/// Instructions before another wave gets its turn (waves that wait for each other in a loop).
const TURN: u64 = 1 << 18;

fn run_group(
    g: &mut Group,
    waves: &mut Vec<Wave>,
    threads: u32,
    mut random: Option<&mut Random>,
    stop: Option<&AtomicBool>,
    probe: &mut impl Probe,
) -> Result<(), Fault> {
    let lanes = g.shared.kernel.wave_size;
    let count = threads.div_ceil(lanes) as usize;
    if waves.len() != count {
        let (rows, scratch) = (g.shared.kernel.rows, g.shared.kernel.scratch_bytes as usize);
        *waves = (0..count)
            .map(|i| Wave::new(lanes as usize, rows, i as u32, scratch))
            .collect();
    }
    for w in waves.iter_mut() {
        start_wave(g, w, threads);
    }
    let mut states = vec![State::Ready; count];
    let mut order: Vec<usize> = (0..count).collect();
    loop {
        if let Some(r) = random.as_deref_mut() {
            for i in (1..count).rev() {
                order.swap(i, (r.next() % (i as u64 + 1)) as usize);
            }
        }
        for &i in &order {
            if states[i] != State::Ready {
                continue;
            }
            let turn = match random.as_deref_mut() {
                Some(r) if count > 1 => 256 + r.next() % 4096,
                _ => TURN,
            };
            states[i] = run_wave(g, &mut waves[i], turn, stop, probe)?;
        }
        if states.iter().all(|s| *s == State::Done) {
            return Ok(());
        }
        if states.contains(&State::Ready) {
            continue;
        }
        pass_barrier(g, waves, &mut states)?;
    }
}

/// All waves wait (or ended): opens the barrier, or reports a divergent one.
fn pass_barrier(g: &mut Group, waves: &mut [Wave], states: &mut [State]) -> Result<(), Fault> {
    let first = states
        .iter()
        .position(|s| *s == State::Waiting)
        .unwrap_or(0);
    for (i, s) in states.iter().enumerate() {
        let message = match s {
            State::Done => {
                format!("divergent barrier: wave {i} ended while wave {first} waits here")
            }
            State::Waiting if waves[i].pc != waves[first].pc => {
                let other = g
                    .shared
                    .program
                    .code
                    .get(waves[i].pc - 1)
                    .map_or(0, |x| x.pc);
                format!("divergent barrier: wave {i} waits at another barrier, pc {other:#x}")
            }
            _ => continue,
        };
        return Err(fault(
            g,
            &waves[first],
            waves[first].pc - 1,
            &Fail { lane: 0, message },
        ));
    }
    if g.visible.rules.lds || g.visible.rules.global {
        pass(g, waves);
    }
    g.epoch += 1;
    for (w, s) in waves.iter_mut().zip(states.iter_mut()) {
        w.signalled = false;
        *s = State::Ready;
    }
    Ok(())
}

fn run_wave(
    g: &mut Group,
    w: &mut Wave,
    turn: u64,
    stop: Option<&AtomicBool>,
    probe: &mut impl Probe,
) -> Result<State, Fault> {
    let program = g.shared.program;
    let end = w.executed + turn;
    let waits = g.shared.checks.waits;
    let range = &g.shared.kernel.range;
    loop {
        let at = w.pc;
        let Some(inst) = program.code.get(at).filter(|_| range.contains(&at)) else {
            return Err(fault(
                g,
                w,
                at,
                &Fail {
                    lane: 0,
                    message: "ran past the end of the code".into(),
                },
            ));
        };
        g.counts[at - range.start] += 1;
        w.executed += 1;
        if w.flight.is_busy() && inst.named.meets(&w.flight.pending) {
            let issue = match &inst.effect {
                Some(Effect::Issue(issue)) => Some(issue),
                _ => None,
            };
            if let Err((register, by)) = w.flight.check(&inst.text, issue) {
                let by = program
                    .code
                    .get(by as usize)
                    .map_or("", |i| i.text.as_str());
                return Err(fault(g, w, at, &too_early(register, by)));
            }
        }
        w.pc = inst.next;
        probe.before(w, g, at);
        let flow = match (inst.run)(w, g) {
            Ok(flow) => flow,
            Err(e) => return Err(fault(g, w, at, &e)),
        };
        probe.after(w, g, at);
        if let Some(effect) = &inst.effect
            && waits
            && !g
                .shared
                .without
                .is_some_and(|without| without.contains(&at))
        {
            apply(g, w, at, effect);
        }
        match flow {
            Flow::Next => {}
            Flow::Barrier => {
                // With a signal of its own it has come already.
                if !w.signalled {
                    w.flight.at_barrier = w.flight.done;
                }
                return Ok(State::Waiting);
            }
            Flow::End => return Ok(State::Done),
        }
        if w.executed >= end {
            if w.executed > g.shared.checks.instruction_limit {
                let message = format!("hang: {} instructions in one wave", w.executed);
                return Err(fault(g, w, at, &Fail { lane: 0, message }));
            }
            if g.shared.stop.load(Ordering::Relaxed)
                || stop.is_some_and(|s| s.load(Ordering::Relaxed))
            {
                return Err(fault(
                    g,
                    w,
                    at,
                    &Fail {
                        lane: 0,
                        message: "stopped from outside".into(),
                    },
                ));
            }
            return Ok(State::Ready);
        }
    }
}
