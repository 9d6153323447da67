//! Launching a kernel: checks before it, workgroups over threads in shuffled order.

use super::counters::Report;
use super::effect::Effect;
use super::kernel::Kernel;
use super::launch::{Fault, Launch, Probe, Shared};
use super::order::{Order, Random};
use super::race::GlobalRace;
use super::start::{dispatch_packet, kernarg};
use super::visible::Rules;
use super::waves::run_group;
use super::workgroup::Group;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
