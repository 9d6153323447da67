//! One fusion a file.

mod attention;
mod bias;
mod columns;
mod delta_gates;
mod gated_norm;
mod norm;
mod residual;
mod siblings;
mod swiglu;

use crate::ir::Graph;

/// A fusion.
#[derive(Debug)]
pub struct Rule {
    /// What tests and logs call it.
    pub name: &'static str,
    /// Rewrites a graph; returns how often it did. Nodes that are not needed any more may stay.
    apply: fn(&mut Graph) -> usize,
}

/// All rules, in the order in which they are applied.
pub const RULES: &[Rule] = &[
    Rule {
        name: "bias",
        apply: bias::apply,
    },
    Rule {
        name: "norm",
        apply: norm::apply,
    },
    Rule {
        name: "swiglu",
        apply: swiglu::apply,
    },
    Rule {
        name: "residual",
        apply: residual::apply,
    },
    Rule {
        name: "siblings",
        apply: siblings::apply,
    },
    Rule {
        name: "attention",
        apply: attention::apply,
    },
    Rule {
        name: "columns",
        apply: columns::apply,
    },
    Rule {
        name: "delta_gates",
        apply: delta_gates::apply,
    },
    Rule {
        name: "gated_norm",
        apply: gated_norm::apply,
    },
];

/// Which rules are used: all, or (to compare) not all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rules {
    /// Every one.
    #[default]
    All,
    /// None.
    Nothing,
    /// Every one but this.
    Without(&'static str),
}

impl Rules {
    fn has(self, rule: &Rule) -> bool {
        match self {
            Rules::All => true,
            Rules::Nothing => false,
            Rules::Without(name) => rule.name != name,
        }
    }
}

/// Applies the rules; returns how often each one did something.
pub fn fuse(graph: &mut Graph, rules: Rules) -> Vec<(&'static str, usize)> {
    let mut counts = Vec::with_capacity(RULES.len());
    graph.prune();
    for rule in RULES.iter().filter(|rule| rules.has(rule)) {
        let count = (rule.apply)(graph);
        if count > 0 {
            graph.prune();
        }
        counts.push((rule.name, count));
    }
    counts
}
