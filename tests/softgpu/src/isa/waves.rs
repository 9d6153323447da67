//! Waves of a workgroup by turns, and barriers.

use super::effect::Effect;
use super::flight::too_early;
use super::launch::{Fault, Probe};
use super::order::Random;
use super::start::start_wave;
use super::visible::{apply, pass_barrier as pass};
use super::wave::{Fail, Flow, Wave};
use super::workgroup::Group;
use std::sync::atomic::{AtomicBool, Ordering};

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

pub(super) fn run_group(
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
