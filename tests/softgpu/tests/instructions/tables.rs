//! Short forms of the usual cases: a result computed lane by lane, or from scalars.
//!
//! Vector cases write v0 (or v[0:1]) from v2, v4 and v6; scalar cases s0 (or s[0:1]) from s2, s4, s6.

use crate::harness::{Case, Close, Reg, generation};
use crate::numbers::{Kind, Random, any, edge, edges, keys};
use softgpu::isa::testing::State;

pub fn is_wide(kind: Kind) -> bool {
    matches!(kind, Kind::U64 | Kind::F64 | Kind::PF32)
}

pub fn register(letter: char, at: usize, kind: Kind) -> String {
    if is_wide(kind) {
        format!("{letter}[{at}:{}]", at + 1)
    } else {
        format!("{letter}{at}")
    }
}

pub fn read(s: &State, kind: Kind, r: usize, lane: usize) -> u64 {
    let low = u64::from(s.v[r][lane]);
    if is_wide(kind) {
        low | u64::from(s.v[r + 1][lane]) << 32
    } else {
        low
    }
}

pub fn write(s: &mut State, kind: Kind, r: usize, lane: usize, v: u64) {
    s.v[r][lane] = v as u32;
    if is_wide(kind) {
        s.v[r + 1][lane] = (v >> 32) as u32;
    }
}

/// The sources of try `i`: a single one meets every edge, several meet all their key values together, then
/// come mixed ones.
fn sources(kinds: &[Kind], mut i: usize, random: &mut Random) -> Vec<u64> {
    if let [kind] = kinds {
        return vec![if i < edges(*kind) {
            edge(*kind, i, random)
        } else {
            any(*kind, random)
        }];
    }
    // Six of three sources make 216 tries.
    let most = if kinds.len() == 2 { 8 } else { 6 };
    let mut places = Vec::new();
    for kind in kinds {
        let keys = keys(*kind);
        let n = keys.len().min(most);
        places.push(keys[i % n]);
        i /= n;
    }
    let together = i == 0;
    let mut values = Vec::new();
    for (kind, place) in kinds.iter().zip(places) {
        values.push(if together {
            edge(*kind, place, random)
        } else {
            any(*kind, random)
        });
    }
    values
}

/// Fills v2, v4, ... with values of these kinds.
pub fn fill(kinds: &'static [Kind]) -> impl Fn(&mut State, &mut Random, usize) {
    move |s, random, run| {
        for lane in 0..s.lanes {
            let values = sources(kinds, run * s.lanes + lane, random);
            for (k, (kind, v)) in kinds.iter().zip(values).enumerate() {
                write(s, *kind, 2 + 2 * k, lane, v);
            }
        }
    }
}

/// How results of a kind are compared unless a case says otherwise.
fn exactly(kind: Kind, r: usize) -> Vec<(Reg, Close)> {
    match kind {
        Kind::F32 => vec![(Reg::V(r), Close::F32(0))],
        Kind::PF32 => vec![(Reg::V(r), Close::F32(0)), (Reg::V(r + 1), Close::F32(0))],
        Kind::F16 => vec![(Reg::V(r), Close::F16(0))],
        Kind::PF16 => vec![(Reg::V(r), Close::PF16(0))],
        Kind::F64 => vec![(Reg::V(r), Close::F64(0))],
        _ => Vec::new(),
    }
}

fn sixteen(kind: Kind) -> bool {
    matches!(kind, Kind::U16 | Kind::F16)
}

/// The text `name v0, v2, v4 tail`.
pub fn text(name: &str, dst: Kind, src: &[Kind], tail: &str) -> String {
    let sources: Vec<String> = src
        .iter()
        .enumerate()
        .map(|(k, kind)| register('v', 2 + 2 * k, *kind))
        .collect();
    format!(
        "{name} {}, {}{tail}",
        register('v', 0, dst),
        sources.join(", ")
    )
}

/// A vector case with its own text. 16-bit results: gfx10 and later keep the register's high half, gfx9
/// clears it unless `keeps`.
pub fn lanes(
    asm: impl Into<String>,
    dst: Kind,
    src: &'static [Kind],
    keeps: bool,
    f: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
) -> Case {
    let mut case = Case::new(asm, fill(src), move |target, before, after| {
        for lane in 0..before.lanes {
            if before.exec >> lane & 1 == 0 {
                continue;
            }
            let mut values: Vec<u64> = src
                .iter()
                .enumerate()
                .map(|(k, kind)| read(before, *kind, 2 + 2 * k, lane))
                .collect();
            // The old destination, for those that accumulate.
            values.push(read(before, dst, 0, lane));
            let mut v = f(&values);
            if sixteen(dst) {
                v &= 0xffff;
                if keeps || generation(target) >= 10 {
                    v |= read(before, dst, 0, lane) & 0xffff_0000;
                }
            }
            write(after, dst, 0, lane, v);
        }
    });
    case.close = exactly(dst, 0);
    case
}

/// A vector case `name v0, v2, ...`.
pub fn vector(
    name: &str,
    dst: Kind,
    src: &'static [Kind],
    f: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
) -> Case {
    lanes(text(name, dst, src, ""), dst, src, false, f)
}

/// The same where gfx9 keeps the high half of a 16-bit destination.
pub fn keeping(
    name: &str,
    dst: Kind,
    src: &'static [Kind],
    f: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
) -> Case {
    lanes(text(name, dst, src, ""), dst, src, true, f)
}

/// Scalar sources: s2, s4, s6 (pairs where wide).
pub fn scalars(kinds: &'static [Kind]) -> impl Fn(&mut State, &mut Random, usize) {
    move |s, random, run| {
        for (k, (kind, v)) in kinds.iter().zip(sources(kinds, run, random)).enumerate() {
            let r = 2 + 2 * k;
            s.s[r] = v as u32;
            if is_wide(*kind) {
                s.s[r + 1] = (v >> 32) as u32;
            }
        }
    }
}

pub fn pair(s: &State, r: usize) -> u64 {
    u64::from(s.s[r]) | u64::from(s.s[r + 1]) << 32
}

pub fn set_pair(s: &mut State, r: usize, v: u64) {
    s.s[r] = v as u32;
    s.s[r + 1] = (v >> 32) as u32;
}

/// A scalar case `name s0, s2, s4`; the function gets the sources, then the old destination, and the
/// old SCC, and gives the result and the new SCC where it changes.
pub fn scalar(
    name: &str,
    dst: Kind,
    src: &'static [Kind],
    f: impl Fn(&[u64], bool) -> (u64, Option<bool>) + Send + Sync + 'static,
) -> Case {
    let sources: Vec<String> = src
        .iter()
        .enumerate()
        .map(|(k, kind)| format!(", {}", register('s', 2 + 2 * k, *kind)))
        .collect();
    let asm = format!("{name} {}{}", register('s', 0, dst), sources.concat());
    scalar_text(asm, dst, src, f)
}

/// The same with its own text.
pub fn scalar_text(
    asm: String,
    dst: Kind,
    src: &'static [Kind],
    f: impl Fn(&[u64], bool) -> (u64, Option<bool>) + Send + Sync + 'static,
) -> Case {
    let mut case = Case::new(asm, scalars(src), move |_, before, after| {
        let mut values: Vec<u64> = src
            .iter()
            .enumerate()
            .map(|(k, kind)| {
                if is_wide(*kind) {
                    pair(before, 2 + 2 * k)
                } else {
                    u64::from(before.s[2 + 2 * k])
                }
            })
            .collect();
        values.push(pair(before, 0));
        let (v, scc) = f(&values, before.scc);
        if is_wide(dst) {
            set_pair(after, 0, v);
        } else {
            after.s[0] = v as u32;
        }
        after.scc = scc.unwrap_or(before.scc);
    });
    case.close = match dst {
        Kind::F32 => vec![(Reg::S(0), Close::F32(0))],
        Kind::F16 => vec![(Reg::S(0), Close::F16(0))],
        _ => Vec::new(),
    };
    case.runs(if src.len() == 1 { 84 } else { 100 })
}
