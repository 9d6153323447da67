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
        format!("bits {right} direct_ns {direct} graph_ns {graph} end")
    }

    fn from_line(line: &str) -> Option<Verdict> {
        let words: Vec<&str> = line.split(' ').collect();
        let ["bits", right, "direct_ns", direct, "graph_ns", graph, "end"] = words[..] else {
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

const KEPT: Kept = Kept {
    folder: "graphs",
    header: "mlxrocm graphs 1",
};

/// The verdict on a subject that an earlier process found.
pub(super) fn load(subject: &str) -> Option<Verdict> {
    KEPT.load(subject, Verdict::from_line)
}

/// Keeps a verdict for later processes.
pub(super) fn store(subject: &str, verdict: &Verdict) {
    KEPT.store(subject, &verdict.to_line());
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
        let parse = |text: &str, subject: &str| KEPT.parse(text, subject, Verdict::from_line);
        let text = format!("{}\nGPU 1\n{}\n", KEPT.header, verdict.to_line());
        assert_eq!(parse(&text, "GPU 1"), Some(verdict));
        assert_eq!(parse(&text, "GPU 2"), None);
        for end in 0..text.len() - 1 {
            assert_eq!(parse(&text[..end], "GPU 1"), None, "{end}");
        }
        assert_eq!(parse(&text.replace("same", "sane"), "GPU 1"), None);
        assert_eq!(parse(&text.replace("graphs 1", "graphs 2"), "GPU 1"), None);
    }
}
