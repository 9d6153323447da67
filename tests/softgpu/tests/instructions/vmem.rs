//! Vector memory (manuals: "Vector Memory Operations", FLAT, GLOBAL, SCRATCH and MUBUF instructions).

use crate::harness::{Case, On, TARGETS, generation};
use crate::lds::{Half, bytes, gather, lanes, loaded, put, registers, scatter};
use crate::numbers::Random;
use softgpu::isa::testing::State;

pub const BYTES: usize = 4096;
/// Data registers.
pub const DATA: usize = 8;

/// One way to name an address. v2 (or v[2:3]) differs by lane, s[2:3] is the memory's start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// 64-bit addresses in v[2:3].
    Global,
    /// s[2:3] and 32-bit offsets in v2.
    Saddr,
    Flat,
    /// A buffer of bytes with offsets in v2.
    Offen,
    /// A buffer of records of 32 bytes with indexes in v2.
    Idxen,
}

const WAYS: [Way; 5] = [Way::Global, Way::Saddr, Way::Flat, Way::Offen, Way::Idxen];

impl Way {
    pub fn segment(self) -> &'static str {
        match self {
            Way::Global | Way::Saddr => "global",
            Way::Flat => "flat",
            Way::Offen | Way::Idxen => "buffer",
        }
    }

    /// Operand text, immediate offset, and the targets that write it so. Loads and buffer accesses name the
    /// data first.
    pub fn text(self, name: &str, data: &str, data_first: bool) -> Vec<(String, On)> {
        let all: On = |_| true;
        let plain = |address: &str| {
            if data_first {
                format!("{name} {data}, {address}")
            } else {
                format!(
                    "{name} {}",
                    address.replacen(", ", &format!(", {data}, "), 1)
                )
            }
        };
        match self {
            Way::Global => vec![(plain("v[2:3], off offset:16"), all)],
            Way::Saddr => vec![(plain("v2, s[2:3] offset:16"), all)],
            // RDNA 1 and 2 have no offsets here; one text serves all.
            Way::Flat if data_first => vec![(format!("{name} {data}, v[2:3]"), all)],
            Way::Flat => vec![(format!("{name} v[2:3], {data}"), all)],
            Way::Offen | Way::Idxen => {
                let kind = if self == Way::Offen { "offen" } else { "idxen" };
                vec![
                    (
                        format!("{name} {data}, v2, s[4:7], 0 {kind} offset:16"),
                        |t| generation(t) < 12,
                    ),
                    (
                        format!("{name} {data}, v2, s[4:7], null {kind} offset:16"),
                        |t| generation(t) == 12,
                    ),
                ]
            }
        }
    }

    /// Where each lane's access lies in the memory; some buffer lanes lie outside.
    pub fn places(self, s: &State) -> [Option<usize>; 64] {
        std::array::from_fn(|lane| match self {
            Way::Global => Some((s.v[2][lane].wrapping_sub(s.s[2])) as usize + 16),
            Way::Flat => Some((s.v[2][lane].wrapping_sub(s.s[2])) as usize),
            Way::Saddr => Some(s.v[2][lane] as usize + 16),
            Way::Offen => Some(s.v[2][lane] as usize + 16).filter(|at| *at < BYTES - 64),
            Way::Idxen => Some(s.v[2][lane] as usize)
                .filter(|i| *i < 100)
                .map(|i| 32 * i + 16),
        })
    }

    /// Addresses 32 bytes apart in a shuffled order, and the buffer's descriptor.
    pub fn prepare(self, s: &mut State, random: &mut Random) {
        let base = u64::from(s.s[2]) | u64::from(s.s[3]) << 32;
        let turn = random.below(64);
        for lane in 0..64 {
            let n = (lane * 11 + turn) % 64;
            let outside = n % 7 == 3;
            let at = match self {
                Way::Idxen => n as u64 + if outside { 100 } else { 0 },
                Way::Offen => 32 * n as u64 + if outside { 1 << 20 } else { 0 },
                _ => 32 * n as u64,
            };
            let address = if matches!(self, Way::Global | Way::Flat) {
                base + at
            } else {
                at
            };
            (s.v[2][lane], s.v[3][lane]) = (address as u32, (address >> 32) as u32);
        }
        if matches!(self, Way::Offen | Way::Idxen) {
            let stride = if self == Way::Idxen { 32 << 16 } else { 0 };
            s.s[4] = s.s[2];
            s.s[5] = s.s[3] & 0xffff | stride;
            s.s[6] = if self == Way::Idxen {
                100
            } else {
                BYTES as u32 - 64
            };
            s.s[7] = 0;
        }
    }
}

/// Endings of names up to RDNA 2 and since RDNA 3, bytes, sign, half.
const LOADS: [(&str, &str, usize, bool, Half); 14] = [
    ("ubyte", "u8", 1, false, Half::No),
    ("sbyte", "i8", 1, true, Half::No),
    ("ushort", "u16", 2, false, Half::No),
    ("sshort", "i16", 2, true, Half::No),
    ("dword", "b32", 4, false, Half::No),
    ("dwordx2", "b64", 8, false, Half::No),
    ("dwordx3", "b96", 12, false, Half::No),
    ("dwordx4", "b128", 16, false, Half::No),
    ("ubyte_d16", "d16_u8", 1, false, Half::Low),
    ("sbyte_d16", "d16_i8", 1, true, Half::Low),
    ("short_d16", "d16_b16", 2, false, Half::Low),
    ("ubyte_d16_hi", "d16_hi_u8", 1, false, Half::High),
    ("sbyte_d16_hi", "d16_hi_i8", 1, true, Half::High),
    ("short_d16_hi", "d16_hi_b16", 2, false, Half::High),
];

/// The same of stores, with how far the data is shifted right.
const STORES: [(&str, &str, usize, u32); 8] = [
    ("byte", "b8", 1, 0),
    ("short", "b16", 2, 0),
    ("dword", "b32", 4, 0),
    ("dwordx2", "b64", 8, 0),
    ("dwordx3", "b96", 12, 0),
    ("dwordx4", "b128", 16, 0),
    ("byte_d16_hi", "d16_hi_b8", 1, 16),
    ("short_d16_hi", "d16_hi_b16", 2, 16),
];

fn loads_and_stores(cases: &mut Vec<Case>) {
    for way in WAYS {
        for (old, new, n, signed, half) in LOADS {
            for (ending, is_new) in [(old, false), (new, true)] {
                let name = format!("{}_load_{ending}", way.segment());
                let dwords = n.div_ceil(4);
                for (asm, on) in way.text(&name, &registers(DATA, dwords), true) {
                    let expect =
                        move |_: &str, before: &State, after: &mut State, memory: &mut [u8]| {
                            for lane in lanes(before) {
                                let raw =
                                    way.places(before)[lane].map_or(0, |at| bytes(memory, at, n));
                                if dwords > 1 {
                                    scatter(after, DATA, lane, dwords, raw);
                                } else {
                                    after.v[DATA][lane] =
                                        loaded(raw, n, signed, half, before.v[DATA][lane]);
                                }
                            }
                        };
                    let case = Case::with_memory(
                        asm,
                        BYTES,
                        move |s, random, _| way.prepare(s, random),
                        expect,
                    );
                    push(cases, case.runs(3), on, is_new);
                }
            }
        }
        for (old, new, n, shift) in STORES {
            for (ending, is_new) in [(old, false), (new, true)] {
                let name = format!("{}_store_{ending}", way.segment());
                let dwords = n.div_ceil(4);
                let buffer = way.segment() == "buffer";
                for (asm, on) in way.text(&name, &registers(DATA, dwords), buffer) {
                    let expect =
                        move |_: &str, before: &State, _: &mut State, memory: &mut [u8]| {
                            for lane in lanes(before) {
                                if let Some(at) = way.places(before)[lane] {
                                    put(memory, at, n, gather(before, DATA, lane, dwords) >> shift);
                                }
                            }
                        };
                    let case = Case::with_memory(
                        asm,
                        BYTES,
                        move |s, random, _| way.prepare(s, random),
                        expect,
                    );
                    push(cases, case.runs(3), on, is_new);
                }
            }
        }
    }
    // A scalar offset, the same address for all lanes.
    for (name, is_new) in [("buffer_load_dword", false), ("buffer_load_b32", true)] {
        let case = Case::with_memory(
            format!("{name} v8, off, s[4:7], s8 offset:16"),
            BYTES,
            |s, random, _| {
                Way::Offen.prepare(s, random);
                s.s[8] = 128;
            },
            |_, before, after, memory| {
                for lane in lanes(before) {
                    after.v[DATA][lane] = bytes(memory, 144, 4) as u32;
                }
            },
        );
        push(cases, case, |_| true, is_new);
    }
}

/// Keeps a case to its targets and to one spelling.
fn push(cases: &mut Vec<Case>, case: Case, on: On, new: bool) {
    let meant = move |t: &str| on(t) && (generation(t) >= 11) == new;
    if TARGETS.iter().any(|t| meant(t)) {
        cases.push(case.on(meant));
    }
}

/// Private memory: what is stored comes back, by every kind of address.
fn scratch(cases: &mut Vec<Case>) {
    let addresses: [(&str, On); 4] = [
        ("v2, off offset:8", |_| true),
        ("off, s4 offset:8", |_| true),
        ("off, off offset:24", |t| {
            generation(t) >= 10 || t == "gfx942"
        }),
        ("v2, s4 offset:4", |t| generation(t) >= 11 || t == "gfx942"),
    ];
    for (address, on) in addresses {
        for is_new in [false, true] {
            let word = |kind: &str, n: usize| {
                let (old, new) = [
                    ("dword", "b32"),
                    ("dwordx2", "b64"),
                    ("dwordx3", "b96"),
                    ("dwordx4", "b128"),
                ][n - 1];
                format!("scratch_{kind}_{}", if is_new { new } else { old })
            };
            let prepare = |s: &mut State, random: &mut Random, _: usize| {
                s.scratch = 256;
                s.s[4] = 4 * random.below(8) as u32;
                s.v[2] = std::array::from_fn(|_| 4 * random.below(16) as u32);
            };
            let store_address = |data: &str| address.replacen(", ", &format!(", {data}, "), 1);
            for n in 1..=4 {
                let asm = format!(
                    "{} {}\n{} {}, {address}",
                    word("store", n),
                    store_address(&registers(DATA, n)),
                    word("load", n),
                    registers(16, n)
                );
                let case = Case::new(asm, prepare, move |_, before, after| {
                    for lane in lanes(before) {
                        scatter(after, 16, lane, n, gather(before, DATA, lane, n));
                    }
                });
                push(cases, case.runs(3), on, is_new);
            }
            for (old, new, n, signed, half) in LOADS.into_iter().filter(|l| l.2 < 4) {
                let asm = format!(
                    "{} {}\nscratch_load_{} v16, {address}",
                    word("store", 1),
                    store_address("v8"),
                    if is_new { new } else { old }
                );
                let case = Case::new(asm, prepare, move |_, before, after| {
                    for lane in lanes(before) {
                        let raw = u128::from(before.v[DATA][lane]);
                        after.v[16][lane] = loaded(raw, n, signed, half, before.v[16][lane]);
                    }
                });
                push(cases, case.runs(3), on, is_new);
            }
            for (old, new, n, shift) in STORES.into_iter().filter(|s| s.2 < 4) {
                let asm = format!(
                    "{} {}\nscratch_store_{} {}\n{} v16, {address}",
                    word("store", 1),
                    store_address("v9"),
                    if is_new { new } else { old },
                    store_address("v8"),
                    word("load", 1)
                );
                let case = Case::new(asm, prepare, move |_, before, after| {
                    let field = if n == 1 { 0xff } else { 0xffff };
                    for lane in lanes(before) {
                        let new = before.v[DATA][lane] >> shift & field;
                        after.v[16][lane] = before.v[9][lane] & !field | new;
                    }
                });
                push(cases, case.runs(3), on, is_new);
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    loads_and_stores(&mut cases);
    scratch(&mut cases);
    cases
}
