//! A bucket's program: in one piece, or in several with experts between them that the CPU computes.

use super::host::HostRun;
use crate::Result;
use crate::gpu::Program;
use std::ops::Range;

/// The steps of a piece, and what the CPU computes before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub steps: Range<usize>,
    pub after: Option<HostRun>,
    pub before: Option<HostRun>,
}

/// The pieces of a schedule of so many steps around these runs, which are in order.
pub fn pieces(runs: Vec<HostRun>, steps: usize) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(runs.len() + 1);
    let (mut start, mut after) = (0, None);
    for run in runs {
        let end = run.steps.end;
        pieces.push(Piece {
            steps: start..run.steps.start,
            after: after.take(),
            before: Some(run.clone()),
        });
        (start, after) = (end, Some(run));
    }
    pieces.push(Piece {
        steps: start..steps,
        after,
        before: None,
    });
    pieces
}

/// The programs of a bucket, each with what the CPU computes when it is done.
pub struct Recorded {
    pub pieces: Vec<(Program, Option<HostRun>)>,
}

impl Recorded {
    /// Records each piece.
    pub fn new(
        pieces: Vec<Piece>,
        mut record: impl FnMut(&Piece) -> Result<Program>,
    ) -> Result<Recorded> {
        let pieces = pieces.into_iter().map(|piece| {
            let program = record(&piece)?;
            Ok((program, piece.before))
        });
        Ok(Recorded {
            pieces: pieces.collect::<Result<_>>()?,
        })
    }

    fn programs(&self) -> impl Iterator<Item = &Program> {
        self.pieces.iter().map(|(program, _)| program)
    }

    /// Whether there are products by the vendor's BLAS in it.
    pub fn multiplies(&self) -> bool {
        self.programs().any(Program::multiplies)
    }

    /// Whether the next run compares graphs with direct launches, and waits.
    pub fn is_awaited(&self) -> bool {
        self.programs().any(Program::is_awaited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::BufferId;

    #[test]
    fn pieces_lie_around_what_the_cpu_computes() {
        let run = |steps: Range<usize>| HostRun {
            steps,
            reads: Vec::new(),
            gives: (BufferId(1), 0),
            bytes: 4,
        };
        let runs = vec![run(3..5), run(5..6), run(8..10)];
        let found = pieces(runs.clone(), 12);
        let steps: Vec<_> = found.iter().map(|piece| piece.steps.clone()).collect();
        assert_eq!(steps, [0..3, 5..5, 6..8, 10..12]);
        for (i, run) in runs.iter().enumerate() {
            assert_eq!(found[i].before.as_ref(), Some(run));
            assert_eq!(found[i + 1].after.as_ref(), Some(run));
        }
        assert_eq!((&found[0].after, &found[3].before), (&None, &None));
        assert_eq!(pieces(Vec::new(), 4).len(), 1);
    }
}
