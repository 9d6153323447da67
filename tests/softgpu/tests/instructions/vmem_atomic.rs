//! Atomics on device memory, and loads that go to LDS (manuals: FLAT, GLOBAL and MUBUF instructions).

use crate::atomic::operations;
use crate::harness::{Case, On, TARGETS, generation};
use crate::lds::{Half, bytes, gather, lanes, loaded, put, registers, scatter};
use crate::vmem::{BYTES, DATA, Way};

/// Atomics; the new value of a compare-and-swap stands before the compared one.
fn atomics(cases: &mut Vec<Case>) {
    for op in operations() {
        let (n, dwords) = (op.bytes, op.bytes / 4);
        for (ending, named_on) in op.names() {
            for way in [Way::Global, Way::Saddr, Way::Flat, Way::Offen] {
                for returns in [false, true] {
                    // The old one always returns.
                    if ending.starts_with("csub") && !returns {
                        continue;
                    }
                    let buffer = way == Way::Offen;
                    let name = format!("{}_atomic_{ending}", way.segment());
                    let data = registers(DATA, if op.compares { 2 * dwords } else { dwords });
                    for (asm, on) in way.text(&name, &data, buffer) {
                        let asm = match (returns, buffer) {
                            (true, false) => {
                                asm.replacen(' ', &format!(" {}, ", registers(16, dwords)), 1)
                            }
                            _ => asm,
                        };
                        let first = if buffer { DATA } else { 16 };
                        let words: [(&str, On); 3] = [
                            (" glc", |t| generation(t) <= 11 && t != "gfx942"),
                            (" sc0", |t| t == "gfx942"),
                            (" th:TH_ATOMIC_RETURN", |t| generation(t) == 12),
                        ];
                        let words = if returns {
                            words.to_vec()
                        } else {
                            vec![("", (|_| true) as On)]
                        };
                        for (word, word_on) in words {
                            let (op, fill, content) = (op.clone(), op.clone(), op.clone());
                            let case = Case::with_memory(
                                format!("{asm}{word}"),
                                BYTES,
                                move |s, random, _| {
                                    way.prepare(s, random);
                                    for lane in 0..64 {
                                        let v = fill.value(random);
                                        scatter(s, DATA, lane, dwords, v.into());
                                        let v = fill.old_value(random);
                                        scatter(s, DATA + dwords, lane, dwords, v.into());
                                    }
                                },
                                move |_, before, after, memory| {
                                    for lane in lanes(before) {
                                        let Some(at) = way.places(before)[lane] else {
                                            continue;
                                        };
                                        let old = bytes(memory, at, n) as u64;
                                        let [value, compare] = [DATA, DATA + dwords]
                                            .map(|r| gather(before, r, lane, dwords) as u64);
                                        let new = match op.compares {
                                            true if old != compare => old,
                                            _ => (op.apply)(old, value),
                                        };
                                        put(memory, at, n, new.into());
                                        if returns {
                                            scatter(after, first, lane, dwords, old.into());
                                        }
                                    }
                                },
                            )
                            .content(move |memory, random| {
                                for at in (0..memory.len()).step_by(n) {
                                    put(memory, at, n, content.old_value(random).into());
                                }
                            })
                            .runs(2);
                            let exists: On = match (ending.as_str(), way) {
                                ("csub", Way::Flat) => |_| false,
                                ("csub_u32", Way::Flat) => |t| generation(t) == 12,
                                ("pk_add_f16", Way::Flat) => {
                                    |t| t == "gfx942" || generation(t) == 12
                                }
                                ("pk_add_bf16", Way::Offen) => |t| generation(t) == 12,
                                ("pk_add_bf16", _) => |t| t == "gfx942" || generation(t) == 12,
                                _ => |_| true,
                            };
                            let meant =
                                move |t: &str| named_on(t) && on(t) && word_on(t) && exists(t);
                            if TARGETS.iter().any(|t| meant(t)) {
                                cases.push(case.on(meant));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Memory straight to LDS (CDNA): lane after lane from M0's byte on, four bytes each.
fn to_lds(cases: &mut Vec<Case>) {
    for (ending, n, signed) in [
        ("dword", 4, false),
        ("ubyte", 1, false),
        ("sbyte", 1, true),
        ("ushort", 2, false),
        ("sshort", 2, true),
    ] {
        let case = Case::with_memory(
            format!("global_load_lds_{ending} v[2:3], off offset:16"),
            BYTES,
            |s, random, _| {
                Way::Global.prepare(s, random);
                s.lds = vec![0x5a; 1024];
                s.m0 = 64;
            },
            move |_, before, after, memory| {
                for lane in lanes(before) {
                    let raw = bytes(memory, Way::Global.places(before)[lane].expect("inside"), n);
                    let v = loaded(raw, n, signed, Half::No, 0);
                    put(&mut after.lds, 64 + 16 + 4 * lane, 4, v.into());
                }
            },
        );
        cases.push(case);
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    atomics(&mut cases);
    to_lds(&mut cases);
    cases
}
