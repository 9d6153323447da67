//! Scalar masks, EXEC saves, and comparisons into SCC (manuals: SOP1, SOP2, SOPC, SOPK).

use crate::harness::Case;
use crate::numbers::Kind::{self, U32, U64};
use crate::salu::{bit, i, nonzero};
use crate::tables::{pair, scalar, scalar_text, scalars, set_pair};

const ONE: &[Kind] = &[U32];
const TWO: &[Kind] = &[U32, U32];
const ONE64: &[Kind] = &[U64];
const TWO64: &[Kind] = &[U64, U64];
const SHIFT64: &[Kind] = &[U64, U32];

type Logic = fn(u64, u64) -> u64;

/// Bitwise operations, and the forms that save EXEC and put the result there.
fn masks(cases: &mut Vec<Case>) {
    let plain: [(&str, Logic); 10] = [
        ("s_and", |a, b| a & b),
        ("s_or", |a, b| a | b),
        ("s_xor", |a, b| a ^ b),
        ("s_andn2", |a, b| a & !b),
        ("s_and_not1", |a, b| a & !b),
        ("s_orn2", |a, b| a | !b),
        ("s_or_not1", |a, b| a | !b),
        ("s_nand", |a, b| !(a & b)),
        ("s_nor", |a, b| !(a | b)),
        ("s_xnor", |a, b| !(a ^ b)),
    ];
    for (name, f) in plain {
        cases.push(scalar(&format!("{name}_b32"), U32, TWO, move |s, _| {
            nonzero(f(s[0], s[1]) & 0xffff_ffff)
        }));
        cases.push(scalar(&format!("{name}_b64"), U64, TWO64, move |s, _| {
            nonzero(f(s[0], s[1]))
        }));
    }
    // Of the source and the old EXEC; "not0" negates the source, "not1" EXEC.
    let saves: [(&str, Logic); 14] = [
        ("s_and_saveexec", |a, e| a & e),
        ("s_or_saveexec", |a, e| a | e),
        ("s_xor_saveexec", |a, e| a ^ e),
        ("s_andn1_saveexec", |a, e| !a & e),
        ("s_andn2_saveexec", |a, e| a & !e),
        ("s_orn1_saveexec", |a, e| !a | e),
        ("s_orn2_saveexec", |a, e| a | !e),
        ("s_and_not0_saveexec", |a, e| !a & e),
        ("s_and_not1_saveexec", |a, e| a & !e),
        ("s_or_not0_saveexec", |a, e| !a | e),
        ("s_or_not1_saveexec", |a, e| a | !e),
        ("s_nand_saveexec", |a, e| !(a & e)),
        ("s_nor_saveexec", |a, e| !(a | e)),
        ("s_xnor_saveexec", |a, e| !(a ^ e)),
    ];
    let writes: [(&str, Logic); 4] = [
        ("s_andn1_wrexec", |a, e| !a & e),
        ("s_andn2_wrexec", |a, e| a & !e),
        ("s_and_not0_wrexec", |a, e| !a & e),
        ("s_and_not1_wrexec", |a, e| a & !e),
    ];
    for wide in [false, true] {
        for (name, f) in saves {
            cases.push(exec_case(name, wide, f, |_, old| old));
        }
        for (name, f) in writes {
            cases.push(exec_case(name, wide, f, |new, _| new));
        }
    }
}

/// EXEC becomes `f(source, EXEC)`, the destination what `keep` picks; in waves of 64 with pairs, else
/// with single registers.
fn exec_case(name: &str, wide: bool, f: Logic, keep: fn(u64, u64) -> u64) -> Case {
    if wide {
        let asm = format!("{name}_b64 s[0:1], s[2:3]");
        return Case::new(asm, scalars(ONE64), move |_, before, after| {
            let new = f(pair(before, 2), before.exec);
            set_pair(after, 0, keep(new, before.exec));
            after.exec = new;
            after.scc = new != 0;
        })
        .wave64()
        .runs(30);
    }
    let asm = format!("{name}_b32 s0, s2");
    Case::new(asm, scalars(ONE), move |_, before, after| {
        let new = f(u64::from(before.s[2]), before.exec) & 0xffff_ffff;
        after.s[0] = keep(new, before.exec) as u32;
        after.exec = new;
        after.scc = new != 0;
    })
    .runs(30)
}

/// Comparisons into SCC, with registers and with 16-bit constants.
fn compares(cases: &mut Vec<Case>) {
    type Test = fn(i64, i64) -> bool;
    let tests: [(&str, Test); 6] = [
        ("eq", |a, b| a == b),
        ("lg", |a, b| a != b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
    ];
    for (name, test) in tests {
        for signed in [true, false] {
            let ty = if signed { "i32" } else { "u32" };
            let value = move |v: u64| if signed { i(v) } else { v as i64 };
            cases.push(test_case(
                format!("s_cmp_{name}_{ty} s2, s4"),
                TWO,
                move |s| test(value(s[0]), value(s[1])),
            ));
            // One value compared with itself, for equality.
            cases.push(test_case(
                format!("s_cmp_{name}_{ty} s2, s2"),
                TWO,
                move |s| test(value(s[0]), value(s[0])),
            ));
            let constants: [(i64, &str); 3] = if signed {
                [(-32768, "0x8000"), (-1, "0xffff"), (64, "64")]
            } else {
                [(0x8000, "0x8000"), (0xffff, "0xffff"), (64, "64")]
            };
            for (k, text) in constants {
                cases.push(test_case(
                    format!("s_cmpk_{name}_{ty} s2, {text}"),
                    ONE,
                    move |s| test(value(s[0]), k),
                ));
            }
        }
    }
    cases.push(test_case(
        "s_cmp_eq_u64 s[2:3], s[4:5]".into(),
        TWO64,
        |s| s[0] == s[1],
    ));
    cases.push(test_case(
        "s_cmp_lg_u64 s[2:3], s[4:5]".into(),
        TWO64,
        |s| s[0] != s[1],
    ));
    cases.push(test_case("s_bitcmp0_b32 s2, s4".into(), TWO, |s| {
        !bit(s[0], s[1] as usize % 32)
    }));
    cases.push(test_case("s_bitcmp1_b32 s2, s4".into(), TWO, |s| {
        bit(s[0], s[1] as usize % 32)
    }));
    cases.push(test_case("s_bitcmp0_b64 s[2:3], s4".into(), SHIFT64, |s| {
        !bit(s[0], s[1] as usize % 64)
    }));
    cases.push(test_case("s_bitcmp1_b64 s[2:3], s4".into(), SHIFT64, |s| {
        bit(s[0], s[1] as usize % 64)
    }));
}

/// Only SCC changes.
fn test_case(
    asm: String,
    src: &'static [Kind],
    f: impl Fn(&[u64]) -> bool + Send + Sync + 'static,
) -> Case {
    scalar_text(asm, U64, src, move |s, _| (s[s.len() - 1], Some(f(s))))
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    masks(&mut cases);
    compares(&mut cases);
    cases
}
