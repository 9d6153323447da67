//! Traces: what the waves of a workgroup executed, in order, with the cache lines they touched.

use super::class::{Op, Unit, op};
use crate::isa::wave::{Wave, lanes_of};
use crate::isa::workgroup::{Group, PRIVATE_APERTURE, SHARED_APERTURE};
use crate::isa::{Fault, Launch, Probe, observe};
use std::sync::Arc;

/// Bytes of a line, the unit in which traces count memory.
pub const LINE: u64 = 128;

/// One memory instruction that was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Its lines, in [`Stream::lines`].
    pub first: u32,
    pub count: u16,
    /// Passes over the LDS banks, conflicts included.
    pub passes: u16,
    /// Bytes that the active lanes moved.
    pub bytes: u32,
}

/// What one wave did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Indices into [`Trace::ops`]; the top bit marks a branch that was taken.
    pub ops: Vec<u32>,
    /// One for each memory instruction among them.
    pub accesses: Vec<Access>,
    /// Byte addresses: the first touched in each line.
    pub lines: Vec<u64>,
}

/// The mark of a taken branch in [`Stream::ops`].
pub const TAKEN: u32 = 1 << 31;

/// The waves of one workgroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupTrace {
    pub number: u64,
    pub waves: Vec<Stream>,
}

impl GroupTrace {
    /// Instructions of all waves.
    pub fn instructions(&self) -> usize {
        self.waves.iter().map(|w| w.ops.len()).sum()
    }
}

/// What executing some workgroups gave.
#[derive(Clone, Debug)]
pub struct Trace {
    /// All instructions of the code object, as the model sees them.
    pub ops: Arc<Vec<Op>>,
    pub groups: Vec<GroupTrace>,
    addresses: Addresses,
}

/// Where allocations lie in the traces: one behind the other in the order of the first touch, so that a
/// prediction does not depend on where the host happened to put them.
#[derive(Clone, Debug)]
struct Addresses {
    /// Start in the host's memory and in the traces.
    known: Vec<(u64, u64, u64)>,
    next: u64,
}

/// Where the first allocation lies, and what they are aligned to.
const FIRST: u64 = 1 << 40;
const ALIGNED: u64 = 2 << 20;
/// Where kernel arguments, dispatch packet and code lie.
const EXTRA: u64 = 1 << 36;

impl Addresses {
    fn translate(&mut self, g: &Group, addr: u64) -> u64 {
        if let Some((start, _, base)) = self.known.iter().find(|(s, e, _)| (*s..*e).contains(&addr))
        {
            return base + (addr - start);
        }
        for (i, (start, end, _)) in g.shared.extra_ranges().into_iter().enumerate() {
            if (start..end).contains(&addr) {
                return EXTRA + ((i as u64) << 32) + (addr - start);
            }
        }
        let Some((_, region)) = g.shared.snapshot.find_index(addr) else {
            return addr;
        };
        let base = self.next;
        self.next += (region.end() - region.start()).next_multiple_of(ALIGNED) + ALIGNED;
        self.known.push((region.start(), region.end(), base));
        base + (addr - region.start())
    }
}

struct Recorder {
    ops: Arc<Vec<Op>>,
    groups: Vec<GroupTrace>,
    addresses: Addresses,
    conflicts: u64,
    exec: u64,
}

impl Recorder {
    fn lines(&self, w: &Wave, op: &Op, out: &mut Vec<u64>) {
        let start = out.len();
        for lane in lanes_of(self.exec) {
            let a = w.addrs[lane];
            let last = a + u64::from(op.bytes) - 1;
            for at in [a, last] {
                let line = at / LINE;
                // Neighbours mostly share their line: look at the latest first.
                if !out[start..].iter().rev().any(|l| l / LINE == line) {
                    out.push(if at == a { a } else { line * LINE });
                }
            }
        }
    }
}

impl Probe for Recorder {
    fn before(&mut self, wave: &Wave, group: &Group, _: usize) {
        self.conflicts = group.traffic.lds_conflicts;
        self.exec = wave.exec();
    }

    fn after(&mut self, w: &Wave, g: &Group, at: usize) {
        if self
            .groups
            .last()
            .is_none_or(|t| t.number != u64::from(g.number))
        {
            self.groups.push(GroupTrace {
                number: u64::from(g.number),
                waves: Vec::new(),
            });
        }
        let ops = self.ops.clone();
        let op = &ops[at];
        let Some(trace) = self.groups.last_mut() else {
            return;
        };
        let index = w.index as usize;
        if trace.waves.len() <= index {
            trace.waves.resize(index + 1, Stream::default());
        }
        let mut stream = std::mem::take(&mut trace.waves[index]);
        let falls = g.shared.program.code[at].next;
        let taken = op.unit == Unit::Branch && w.pc != falls;
        stream.ops.push(at as u32 | if taken { TAKEN } else { 0 });
        if op.issue.is_some() {
            let mut access = Access {
                first: stream.lines.len() as u32,
                ..Access::default()
            };
            let active = self.exec.count_ones();
            access.bytes = active * op.bytes;
            match op.unit {
                Unit::Lds => {
                    let halves = w.lanes as u64 / 32;
                    let ways = 1 + u64::from(op.twice);
                    let base = halves * u64::from(op.bytes.div_ceil(4)) * ways;
                    access.passes =
                        (base + (g.traffic.lds_conflicts - self.conflicts) * ways) as u16;
                    access.bytes *= ways as u32;
                }
                Unit::Smem => {
                    stream.lines.push(w.addrs[0]);
                    access.bytes = op.bytes;
                }
                Unit::Vmem => {
                    // With no lane active nothing moves.
                    let first = lanes_of(self.exec).next().map_or(u64::MAX, |l| w.addrs[l]);
                    let high = (first >> 32) as u32;
                    let text = &g.shared.program.code[at].text;
                    let scratch =
                        text.starts_with("scratch_") || text.starts_with("buffer_") && high == 0;
                    if high == SHARED_APERTURE {
                        access.passes = (w.lanes as u32 / 32 * op.bytes.div_ceil(4)) as u16;
                    } else if self.exec != 0 && (scratch || high == PRIVATE_APERTURE) {
                        // Private memory is interleaved: a dword of all lanes is one or two lines.
                        let n =
                            (w.lanes as u64 * 4 / LINE).max(1) * u64::from(op.bytes.div_ceil(4));
                        let offset = w.addrs[0] & 0xffff_ffff;
                        let base =
                            1 << 52 | (u64::from(g.number) << 28) | (u64::from(w.index) << 22);
                        for i in 0..n {
                            stream
                                .lines
                                .push(base + offset / 4 * (w.lanes as u64 * 4) + i * LINE);
                        }
                    } else if self.exec != 0 {
                        self.lines(w, op, &mut stream.lines);
                    }
                }
                _ => {}
            }
            if op.unit != Unit::Lds {
                for line in &mut stream.lines[access.first as usize..] {
                    *line = self.addresses.translate(g, *line);
                }
            }
            access.count = (stream.lines.len() - access.first as usize) as u16;
            stream.accesses.push(access);
        }
        if let Some(trace) = self.groups.last_mut() {
            trace.waves[index] = stream;
        }
    }
}

/// Executes workgroups of a launch and notes what they did; `earlier` is a trace of the same launch.
///
/// # Errors
/// The fault in which one of them ended.
pub fn record(launch: &Launch, numbers: &[u64], earlier: Option<&Trace>) -> Result<Trace, Fault> {
    let (ops, addresses) = match earlier {
        Some(t) => (t.ops.clone(), t.addresses.clone()),
        None => {
            let code = &launch.kernel.program.code;
            let addresses = Addresses {
                known: Vec::new(),
                next: FIRST,
            };
            (Arc::new(code.iter().map(op).collect()), addresses)
        }
    };
    let mut recorder = Recorder {
        ops,
        groups: Vec::new(),
        addresses,
        conflicts: 0,
        exec: 0,
    };
    observe(launch, numbers, &mut recorder)?;
    Ok(Trace {
        ops: recorder.ops,
        groups: recorder.groups,
        addresses: recorder.addresses,
    })
}
