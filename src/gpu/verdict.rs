//! The verdict on a device's graphs, and its file.

use super::kept::Kept;
use super::program::ProgramMode;
use std::fmt;
use std::time::Duration;

/// What the comparison of direct launches and graph replay found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the comparison was made.
    pub compared: bool,
    /// Whether all replays gave the bits of the direct runs.
    pub right: bool,
    /// Time of a direct run.
    pub direct: Duration,
    /// Time of a replay.
    pub graph: Duration,
}

impl Verdict {
    /// The driver did not build the graph.
    pub(super) const NOT_BUILT: Verdict = Verdict {
        compared: false,
        right: false,
        direct: Duration::ZERO,
        graph: Duration::ZERO,
    };

    /// Direct runs differ among themselves.
    pub(super) const VARIES: Verdict = Verdict::NOT_BUILT;

    pub(super) fn new(right: bool, direct: Duration, graph: Duration) -> Self {
        Verdict {
            compared: true,
            right,
            direct,
            graph,
        }
    }

    /// Graphs only where they are right and faster.
    pub fn mode(&self) -> ProgramMode {
        if self.compared && self.right && self.graph < self.direct {
            ProgramMode::Graph
        } else {
            ProgramMode::Direct
        }
    }

    fn to_line(self) -> String {
        let right = if self.right { "same" } else { "different" };
        let (direct, graph) = (self.direct.as_nanos(), self.graph.as_nanos());
        format!("bits {right} direct_ns {direct} graph_ns {graph}")
    }

    fn from_words(words: &[&str]) -> Option<Verdict> {
        let ["bits", right, "direct_ns", direct, "graph_ns", graph] = words[..] else {
            return None;
        };
        let right = match right {
            "same" => true,
            "different" => false,
            _ => return None,
        };
        let time = |text: &str| Some(Duration::from_nanos(text.parse().ok()?));
        Some(Verdict::new(right, time(direct)?, time(graph)?))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.compared {
            return write!(f, "not comparable, programs run directly");
        }
        let used = match self.mode() {
            ProgramMode::Graph => "used",
            ProgramMode::Direct => "not used",
        };
        let bits = if self.right { "same" } else { "different" };
        let (direct, graph) = (self.direct, self.graph);
        write!(
            f,
            "{used} ({bits} bits, {graph:?} a replay, {direct:?} direct)"
        )
    }
}

/// A verdict, and what it is founded on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub verdict: Verdict,
    /// Launches of the longest trial.
    pub trial: usize,
    /// Programs that were compared themselves, and the nodes of the longest.
    pub compared: usize,
    pub longest: usize,
    /// What programs that had their turn are known by (`Program::structure`).
    pub programs: Vec<u64>,
}

/// Programs of different launches that are compared themselves; after them only longer ones are.
const COMPARED: usize = 3;

/// The most programs that have a turn, those that cannot be compared too.
const MOST_PROGRAMS: usize = 64;

impl Found {
    pub fn new(verdict: Verdict) -> Found {
        Found {
            verdict,
            trial: 0,
            compared: 0,
            longest: 0,
            programs: Vec::new(),
        }
    }

    /// Whether a program of so many nodes is to be compared, too, before it runs as a graph.
    pub fn awaits(&self, structure: u64, nodes: usize) -> bool {
        self.verdict.mode() == ProgramMode::Graph
            && (self.compared < COMPARED || nodes > self.longest)
            && self.programs.len() < MOST_PROGRAMS
            && !self.programs.contains(&structure)
    }

    fn to_line(&self) -> String {
        let Found {
            verdict,
            trial,
            compared,
            longest,
            programs,
        } = self;
        let programs = programs.iter().map(|program| format!(" {program:016x}"));
        let programs: String = programs.collect();
        let line = verdict.to_line();
        format!("{line} trial {trial} compared {compared} longest {longest} programs{programs} end")
    }

    fn from_line(line: &str) -> Option<Found> {
        let words: Vec<&str> = line.strip_suffix(" end")?.split(' ').collect();
        let (verdict, rest) = words.split_at_checked(6)?;
        let [
            "trial",
            trial,
            "compared",
            compared,
            "longest",
            longest,
            "programs",
            programs @ ..,
        ] = rest
        else {
            return None;
        };
        let program = |word: &&str| u64::from_str_radix(word, 16).ok();
        Some(Found {
            verdict: Verdict::from_words(verdict)?,
            trial: trial.parse().ok()?,
            compared: compared.parse().ok()?,
            longest: longest.parse().ok()?,
            programs: programs.iter().map(program).collect::<Option<_>>()?,
        })
    }
}

const KEPT: Kept = Kept {
    folder: "graphs",
    header: "mlxrocm graphs 2",
};

/// What an earlier process found of a subject.
pub(super) fn load(subject: &str) -> Option<Found> {
    KEPT.load(subject, Found::from_line)
}

/// Keeps it for later processes.
pub(super) fn store(subject: &str, found: &Found) {
    KEPT.store(subject, &found.to_line());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_right_and_faster_graphs_are_used() {
        let ms = Duration::from_millis;
        let mode = |right, direct, graph| Verdict::new(right, ms(direct), ms(graph)).mode();
        assert_eq!(mode(true, 5, 4), ProgramMode::Graph);
        assert_eq!(mode(true, 4, 5), ProgramMode::Direct);
        assert_eq!(mode(false, 5, 4), ProgramMode::Direct);
        assert_eq!(Verdict::NOT_BUILT.mode(), ProgramMode::Direct);
    }

    #[test]
    fn a_file_is_read_only_whole_and_for_its_subject() {
        let verdict = Verdict::new(true, Duration::from_micros(812), Duration::from_micros(95));
        let found = Found {
            trial: 320,
            compared: 2,
            longest: 77,
            programs: vec![1, u64::MAX],
            ..Found::new(verdict)
        };
        let parse = |text: &str, subject: &str| KEPT.parse(text, subject, Found::from_line);
        let text = format!("{}\nGPU 1\n{}\n", KEPT.header, found.to_line());
        assert_eq!(parse(&text, "GPU 1"), Some(found));
        let first = Found::new(verdict);
        let text_of = |found: &Found| format!("{}\nGPU 1\n{}\n", KEPT.header, found.to_line());
        assert_eq!(parse(&text_of(&first), "GPU 1"), Some(first));
        assert_eq!(parse(&text, "GPU 2"), None);
        for end in 0..text.len() - 1 {
            assert_eq!(parse(&text[..end], "GPU 1"), None, "{end}");
        }
        assert_eq!(parse(&text.replace("same", "sane"), "GPU 1"), None);
        assert_eq!(parse(&text.replace("graphs 2", "graphs 1"), "GPU 1"), None);
    }

    #[test]
    fn the_first_programs_and_longer_ones_are_awaited() {
        let ms = Duration::from_millis;
        let mut found = Found::new(Verdict::new(true, ms(5), ms(4)));
        for (structure, nodes) in [(1, 30), (2, 10), (3, 20)] {
            assert!(found.awaits(structure, nodes));
            found.programs.push(structure);
            (found.compared, found.longest) = (found.compared + 1, found.longest.max(nodes));
            assert!(!found.awaits(structure, nodes));
        }
        assert!(!found.awaits(4, 30) && found.awaits(4, 31) && !found.awaits(2, 31));
        // What runs directly has nothing to be compared with.
        found.verdict = Verdict::new(false, ms(5), ms(4));
        assert!(!found.awaits(4, 31));
    }
}
