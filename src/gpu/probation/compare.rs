//! Both ways of a program from the same state: the bits that they leave, and their times.

use super::super::buffer::Range;
use super::super::hazards::Part;
use super::super::program::{Program, ProgramMode};
use super::super::stream::Stream;
use super::super::verdict::Verdict;
use super::copies::Copies;
use crate::{Result, log};
use std::time::{Duration, Instant};

/// Runs of each mode; the fastest counts.
const RUNS: usize = 3;

/// The parts, of buffers that are in `touched` only what is there.
pub(super) fn narrowed(written: &[Part], touched: &[Range]) -> Vec<Part> {
    let is_of = |range: &&Range, part: &Part| range.buffer.address() == part.base;
    let mut parts = Vec::new();
    for part in written {
        let mut ranges = touched.iter().filter(|range| is_of(range, part)).peekable();
        if ranges.peek().is_none() {
            parts.push(*part);
        }
        let within = ranges.map(|range| Part {
            base: part.base,
            start: range.offset.max(part.start),
            end: range.offset.saturating_add(range.len).min(part.end),
        });
        parts.extend(within.filter(|part| part.start < part.end));
    }
    parts
}

/// Compares both modes of a program, which writes these parts, from the present state, and leaves the state after one
/// right run. `None` without memory for copies of the parts, or without the kernel that compares them: nothing ran.
pub(super) fn judge(
    program: &Program,
    stream: &Stream,
    written: &[Part],
) -> Result<Option<Verdict>> {
    // Before the copies: the driver takes memory for it.
    if !program.has_graph() {
        program.run_as(stream, ProgramMode::Direct)?;
        return Ok(Some(Verdict::NOT_BUILT));
    }
    let copies = match Copies::new(program, written) {
        Ok(copies) => copies,
        Err(error) => {
            log::write(log::Level::Info, || {
                let bytes: u64 = written.iter().map(|part| part.end - part.start).sum();
                format!(
                    "a program of {} launches is not compared with its graph, which takes two copies of the {bytes} \
                     bytes that it writes: {error}",
                    program.len()
                )
            });
            return Ok(None);
        }
    };
    let verdict = compare(program, stream, &copies);
    copies.free(stream)?;
    verdict.map(Some)
}

/// Runs both ways from the same state. Ends with the state after one right run.
fn compare(program: &Program, stream: &Stream, copies: &Copies) -> Result<Verdict> {
    copies.save(stream, &copies.before)?;
    let mut direct = timed(program, stream, copies, ProgramMode::Direct)?;
    copies.save(stream, &copies.after)?;
    for _ in 1..RUNS {
        direct = direct.min(timed(program, stream, copies, ProgramMode::Direct)?);
        if copies.differs(stream)? {
            // Nothing to compare with. The last run's result stands.
            return Ok(Verdict::VARIES);
        }
    }
    let mut graph = Duration::MAX;
    for _ in 0..RUNS {
        graph = graph.min(timed(program, stream, copies, ProgramMode::Graph)?);
        if copies.differs(stream)? {
            copies.restore(stream, &copies.after)?;
            return Ok(Verdict::new(false, direct, graph));
        }
    }
    Ok(Verdict::new(true, direct, graph))
}

/// The time of one run from the state before.
fn timed(
    program: &Program,
    stream: &Stream,
    copies: &Copies,
    mode: ProgramMode,
) -> Result<Duration> {
    copies.restore(stream, &copies.before)?;
    program.device().wait_step(stream)?;
    let start = Instant::now();
    program.run_as(stream, mode)?;
    program.device().wait_step(stream)?;
    Ok(start.elapsed())
}
