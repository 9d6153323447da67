//! What the stand-in saw: violations, call counts, execution counts, per-kernel counters.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::isa::{self, Mutant, Verdict};

/// Distinct messages kept per kind of violation; further ones are only counted.
const MESSAGES_KEPT: usize = 32;

/// One kind of violation.
#[derive(Clone, Debug, Default)]
struct Kind {
    count: u64,
    messages: Vec<String>,
}

/// Counts and findings since the start, or since `softgpu_reset` or `softgpu_clear`.
#[derive(Clone, Debug, Default)]
pub struct Report {
    violations: BTreeMap<&'static str, Kind>,
    calls: BTreeMap<&'static str, u64>,
    kernels: BTreeMap<String, isa::Report>,
    /// Operations that were executed, by kind.
    counts: BTreeMap<&'static str, u64>,
    /// Names of operations in the order of execution, newest last, bounded.
    order: std::collections::VecDeque<String>,
    /// Kernels that ran without a wait or fence: by kernel, place and text.
    mutants: BTreeMap<(String, Option<u64>, String), Mutant>,
}

impl Report {
    /// Counts one call of an exported function.
    pub fn count_call(&mut self, name: &'static str) {
        *self.calls.entry(name).or_default() += 1;
    }

    /// Adds a finding. `kind` is a fixed word, `message` says what, where and which object.
    pub fn violation(&mut self, kind: &'static str, message: String) {
        let entry = self.violations.entry(kind).or_default();
        entry.count += 1;
        if entry.messages.len() < MESSAGES_KEPT && !entry.messages.contains(&message) {
            entry.messages.push(message);
        }
    }

    /// Counts one executed operation; `what` names it in the order list.
    pub fn executed(&mut self, kind: &'static str, what: String) {
        *self.counts.entry(kind).or_default() += 1;
        if self.order.len() == 4096 {
            self.order.pop_front();
        }
        self.order.push_back(what);
    }

    /// Adds one kernel launch's counters.
    pub fn count_kernel(&mut self, counters: &isa::Report) {
        self.kernels
            .entry(counters.kernel.clone())
            .or_default()
            .add(counters);
    }

    /// Whether leaving this instruction out was found in an earlier launch.
    pub fn mutant_found(&self, kernel: &str, pc: Option<u64>, text: &str) -> bool {
        let known = self.mutants.get(&(kernel.to_owned(), pc, text.to_owned()));
        known.is_some_and(|m| matches!(m.verdict, Verdict::Found(_)))
    }

    /// Adds what came of leaving out waits and fences; what was found once counts.
    pub fn add_mutants(&mut self, kernel: &str, mutants: &[Mutant]) {
        let rank = |m: &Mutant| match m.verdict {
            Verdict::NotRun => 0,
            Verdict::Idle => 1,
            Verdict::Unneeded => 2,
            Verdict::Found(_) => 3,
        };
        for mutant in mutants {
            let key = (kernel.to_owned(), mutant.pc, mutant.text.clone());
            let known = self.mutants.entry(key).or_insert_with(|| mutant.clone());
            if rank(mutant) > rank(known) {
                known.verdict = mutant.verdict.clone();
            }
            for word in &mutant.did {
                if !known.did.contains(word) {
                    known.did.push(word);
                }
            }
        }
    }

    fn write_mutants(&self, out: &mut String) {
        for (index, ((kernel, pc, text), mutant)) in self.mutants.iter().enumerate() {
            comma(out, index);
            let (verdict, message) = match &mutant.verdict {
                Verdict::Found(message) => ("found", message.as_str()),
                Verdict::Unneeded => ("unneeded", ""),
                Verdict::Idle => ("idle", ""),
                Verdict::NotRun => ("not_run", ""),
            };
            let pc = pc.map_or_else(|| "null".to_owned(), |pc| pc.to_string());
            let _ = write!(
                out,
                "{{\"pc\":{pc},\"verdict\":\"{verdict}\",\"did\":{:?}",
                mutant.did
            );
            for (name, value) in [
                ("kernel", kernel.as_str()),
                ("text", text),
                ("next", &mutant.next),
                ("message", message),
            ] {
                let _ = write!(out, ",\"{name}\":");
                quote(out, value);
            }
            out.push('}');
        }
    }

    /// Whether a violation of this kind was found.
    #[cfg(test)]
    pub fn found(&self, kind: &str) -> u64 {
        self.violations.get(kind).map_or(0, |found| found.count)
    }

    /// Appends the members of the JSON object that this holds (no braces, no trailing comma).
    pub fn write_json(&self, out: &mut String) {
        out.push_str("\"violations\":[");
        for (index, (kind, found)) in self.violations.iter().enumerate() {
            comma(out, index);
            let _ = write!(
                out,
                "{{\"kind\":\"{kind}\",\"count\":{},\"messages\":[",
                found.count
            );
            strings(out, found.messages.iter());
            out.push_str("]}");
        }
        out.push_str("],\"calls\":{");
        numbers(out, self.calls.iter());
        out.push_str("},\"executed\":{");
        numbers(out, self.counts.iter());
        out.push_str("},\"order\":[");
        strings(out, self.order.iter());
        out.push_str("],\"mutants\":[");
        self.write_mutants(out);
        out.push_str("],\"kernels\":{");
        for (index, (name, counters)) in self.kernels.iter().enumerate() {
            comma(out, index);
            quote(out, name);
            out.push(':');
            out.push_str(&counters.to_json());
        }
        out.push('}');
    }
}

/// Appends a comma before every element but the first.
pub fn comma(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

fn strings<'a>(out: &mut String, items: impl Iterator<Item = &'a String>) {
    for (index, item) in items.enumerate() {
        comma(out, index);
        quote(out, item);
    }
}

fn numbers<'a>(out: &mut String, items: impl Iterator<Item = (&'a &'static str, &'a u64)>) {
    for (index, (name, count)) in items.enumerate() {
        comma(out, index);
        let _ = write!(out, "\"{name}\":{count}");
    }
}

/// Appends a JSON string.
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_and_messages_bounded() {
        let mut report = Report::default();
        for number in 0..100 {
            report.violation("use_after_free", format!("message {number}"));
        }
        report.violation("use_after_free", "message 0".to_owned());
        assert_eq!(report.found("use_after_free"), 101);
        let mut text = String::new();
        report.write_json(&mut text);
        assert!(text.contains("\"count\":101"));
        assert!(text.contains("message 31") && !text.contains("message 32"));
    }

    #[test]
    fn strings_are_escaped() {
        let mut text = String::new();
        quote(&mut text, "a\"b\\c\nd\u{1}");
        assert_eq!(text, "\"a\\\"b\\\\c\\nd\\u0001\"");
    }
}
