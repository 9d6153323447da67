//! What a kernel's PTX does before it waits for what it follows, on every way that its branches could take.

use std::collections::{BTreeSet, HashMap};

enum Line<'a> {
    Label(&'a str),
    Instruction(Instruction<'a>),
}

struct Instruction<'a> {
    is_conditional: bool,
    name: &'a str,
    operands: &'a str,
}

/// What happens before the wait, parameters as bits.
#[derive(Default)]
pub(super) struct Before {
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Accesses by addresses of no parameter.
    pub(super) unknown: Vec<String>,
    /// Whether a way ends without it.
    pub(super) leaves: bool,
    /// Whether it lets others begin.
    pub(super) begins_others: bool,
}

fn is_word(c: char) -> bool {
    c == '_' || c == '$' || c.is_ascii_alphanumeric()
}

fn lines(body: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for line in body.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let line = line.trim_start_matches('{').trim_end_matches('}');
        for text in line.split(';').map(str::trim) {
            let text = match text.split_once(':') {
                Some((label, rest)) if label.chars().all(is_word) && !rest.starts_with(':') => {
                    lines.push(Line::Label(label));
                    rest.trim()
                }
                _ => text,
            };
            if text.is_empty() || text.starts_with(['.', '"', '%', ')']) {
                continue;
            }
            let end = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
            let is_conditional = text.starts_with('@');
            let text = match is_conditional {
                true => text[end(text)..].trim(),
                false => text,
            };
            let (name, operands) = text.split_at(end(text));
            lines.push(Line::Instruction(Instruction {
                is_conditional,
                name,
                operands,
            }));
        }
    }
    lines
}

/// The 64-bit registers of operands.
fn registers(operands: &str) -> impl Iterator<Item = &str> {
    let words = operands.split(|c: char| c != '%' && !is_word(c));
    words.filter(|word| word.starts_with("%rd"))
}

/// Of which parameters each register holds an address.
fn addresses<'a>(lines: &[Line<'a>]) -> HashMap<&'a str, u64> {
    const PASS_ON: [&str; 12] = [
        "add.s64",
        "add.u64",
        "sub.s64",
        "mad.wide",
        "mad.lo.s64",
        "mov.u64",
        "mov.b64",
        "cvta",
        "selp.b64",
        "or.b64",
        "and.b64",
        "min.u64",
    ];
    let mut of = HashMap::new();
    let mut moves = Vec::new();
    for line in lines {
        let Line::Instruction(Instruction { name, operands, .. }) = line else {
            continue;
        };
        let (to, from) = operands.split_once(',').unwrap_or((operands, ""));
        if name.starts_with("ld.param") {
            let number = from.split_once("_param_").map_or("", |(_, number)| number);
            let number = number.trim_end_matches(|c: char| !c.is_ascii_digit());
            for to in registers(to) {
                *of.entry(to).or_insert(0) |= 1_u64 << number.parse::<u32>().unwrap();
            }
        } else if PASS_ON.iter().any(|begin| name.starts_with(begin)) {
            moves.push((to, from));
        }
    }
    loop {
        let mut is_changed = false;
        for (to, from) in &moves {
            let all = registers(from).map(|from| of.get(from).copied().unwrap_or(0));
            let all = all.fold(0, |all, one| all | one);
            for to in registers(to) {
                let known = of.entry(to).or_insert(0);
                is_changed |= *known | all != *known;
                *known |= all;
            }
        }
        if !is_changed {
            return of;
        }
    }
}

/// The operand that is an address of global memory, or of any, and whether it is written.
fn access<'a>(instruction: &Instruction<'a>) -> Option<(&'a str, bool)> {
    let Instruction { name, operands, .. } = instruction;
    let kind = name.split('.').next()?;
    let is_copy = name.starts_with("cp.async") && !name.starts_with("cp.async.mbarrier");
    let elsewhere = [".shared", ".param", ".local", ".const"];
    let in_shared = !is_copy && elsewhere.iter().any(|space| name.contains(space));
    let is_access = ["ld", "st", "atom", "red"].contains(&kind) || is_copy;
    if !is_access || in_shared {
        return None;
    }
    // Copies go from the second to the first.
    let place = operands.split('[').nth(if is_copy { 2 } else { 1 })?;
    Some((place.split(']').next()?, kind != "ld" && !is_copy))
}

/// Of a kernel's text behind its parameters.
pub(super) fn before_waiting(body: &str) -> Before {
    let lines = lines(body);
    let places = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| match line {
            Line::Label(label) => Some((*label, at)),
            Line::Instruction(_) => None,
        });
    let places: HashMap<&str, usize> = places.collect();
    let mut before = Before::default();
    let (mut seen, mut ways, mut accesses) = (BTreeSet::new(), vec![0], Vec::new());
    while let Some(mut at) = ways.pop() {
        while let Some(line) = lines.get(at).filter(|_| seen.insert(at)) {
            at += 1;
            let Line::Instruction(instruction) = line else {
                continue;
            };
            match instruction.name {
                "griddepcontrol.wait" => break,
                "griddepcontrol.launch_dependents" => before.begins_others = true,
                "trap" => break,
                "ret" | "exit" => {
                    before.leaves = true;
                    if !instruction.is_conditional {
                        break;
                    }
                }
                "bra" | "bra.uni" => {
                    ways.push(places[instruction.operands.trim()]);
                    if !instruction.is_conditional {
                        break;
                    }
                }
                name => {
                    let is_known = !name.starts_with("brx") && !name.starts_with("call");
                    assert!(is_known, "{name}");
                    accesses.extend(access(instruction).map(|access| (access, name)));
                }
            }
        }
    }
    if accesses.is_empty() {
        return before;
    }
    let of = addresses(&lines);
    for ((place, is_written), name) in accesses {
        let roots = registers(place).map(|place| of.get(place).copied().unwrap_or(0));
        let roots = roots.fold(0, |all, one| all | one);
        match is_written {
            true => before.writes |= roots,
            false => before.reads |= roots,
        }
        // Addresses of no space are also those of shared memory.
        if roots == 0 && name.contains("global") {
            before.unknown.push(format!("{name} [{place}]"));
        }
    }
    before
}
