//! LDS memory (manuals: DS instructions): loads, stores, two addresses, atomics.

use crate::atomic::{Operation, operations};
use crate::harness::{Case, On, generation};
use crate::numbers::Random;
use softgpu::isa::testing::State;

/// Names before RDNA 3 (`ds_read`, `ds_write`) and since (`ds_load`, `ds_store`).
fn spellings(old: String, new: String) -> [(String, On); 2] {
    [
        (old, |t| generation(t) <= 10),
        (new, |t| generation(t) >= 11),
    ]
}

/// LDS of 4 KiB, v2 the lanes' addresses, 16 bytes apart in a shuffled order; v4 to v7 and v8 to v11 data.
fn prepare(s: &mut State, random: &mut Random, _: usize) {
    s.lds = (0..4096).map(|_| random.next() as u8).collect();
    let turn = random.next() as u32 & 63;
    s.v[2] = std::array::from_fn(|lane| 16 * ((lane as u32 * 5 + turn) % 64));
}

pub fn lanes(s: &State) -> impl Iterator<Item = usize> + use<> {
    let (exec, n) = (s.exec, s.lanes);
    (0..n).filter(move |l| exec >> l & 1 == 1)
}

pub fn bytes(lds: &[u8], at: usize, n: usize) -> u128 {
    lds[at..at + n]
        .iter()
        .rev()
        .fold(0, |v, b| v << 8 | u128::from(*b))
}

pub fn put(lds: &mut [u8], at: usize, n: usize, v: u128) {
    for (i, b) in lds[at..at + n].iter_mut().enumerate() {
        *b = (v >> (8 * i)) as u8;
    }
}

/// A value of several registers.
pub fn gather(s: &State, r: usize, lane: usize, dwords: usize) -> u128 {
    (0..dwords)
        .rev()
        .fold(0, |v, i| v << 32 | u128::from(s.v[r + i][lane]))
}

pub fn scatter(s: &mut State, r: usize, lane: usize, dwords: usize, v: u128) {
    for i in 0..dwords {
        s.v[r + i][lane] = (v >> (32 * i)) as u32;
    }
}

pub fn registers(r: usize, dwords: usize) -> String {
    if dwords == 1 {
        format!("v{r}")
    } else {
        format!("v[{r}:{}]", r + dwords - 1)
    }
}

/// Where a loaded value goes: whole registers, or a half that leaves the other one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Half {
    No,
    Low,
    High,
}

/// What a load of `n` bytes puts into a register that held `old`.
pub fn loaded(raw: u128, n: usize, signed: bool, half: Half, old: u32) -> u32 {
    let raw = raw as u32;
    let v = match (n, signed) {
        (1, true) => i32::from(raw as u8 as i8) as u32,
        (2, true) => i32::from(raw as u16 as i16) as u32,
        (1, false) => raw & 0xff,
        (2, false) => raw & 0xffff,
        _ => raw,
    };
    match half {
        Half::No => v,
        Half::Low => old & 0xffff_0000 | v & 0xffff,
        Half::High => old & 0xffff | v << 16,
    }
}

fn loads(cases: &mut Vec<Case>) {
    use Half::{High, Low, No};
    let all = [
        ("u8", 1, false, No),
        ("i8", 1, true, No),
        ("u16", 2, false, No),
        ("i16", 2, true, No),
        ("b32", 4, false, No),
        ("b64", 8, false, No),
        ("b96", 12, false, No),
        ("b128", 16, false, No),
        ("u8_d16", 1, false, Low),
        ("i8_d16", 1, true, Low),
        ("u16_d16", 2, false, Low),
        ("u8_d16_hi", 1, false, High),
        ("i8_d16_hi", 1, true, High),
        ("u16_d16_hi", 2, false, High),
    ];
    for (name, n, signed, half) in all {
        let dwords = usize::div_ceil(n, 4);
        for (spelling, on) in spellings(format!("ds_read_{name}"), format!("ds_load_{name}")) {
            for offset in [0usize, 48] {
                let asm = format!("{spelling} {}, v2 offset:{offset}", registers(4, dwords));
                let expect = move |_: &str, before: &State, after: &mut State| {
                    for lane in lanes(before) {
                        let raw = bytes(&before.lds, before.v[2][lane] as usize + offset, n);
                        if dwords > 1 {
                            scatter(after, 4, lane, dwords, raw);
                        } else {
                            after.v[4][lane] = loaded(raw, n, signed, half, before.v[4][lane]);
                        }
                    }
                };
                cases.push(Case::new(asm, prepare, expect).on(on).runs(3));
            }
        }
    }
    for (name, n) in [("b32", 4), ("b64", 8)] {
        for (stride, old, new) in [
            (1, "ds_read2_", "ds_load_2addr_"),
            (64, "ds_read2st64_", "ds_load_2addr_stride64_"),
        ] {
            for (spelling, on) in spellings(format!("{old}{name}"), format!("{new}{name}")) {
                let dwords = n / 4;
                let asm = format!(
                    "{spelling} {}, v2 offset0:1 offset1:4",
                    registers(4, 2 * dwords)
                );
                let expect = move |_: &str, before: &State, after: &mut State| {
                    for lane in lanes(before) {
                        for (i, place) in [1, 4].into_iter().enumerate() {
                            let at = before.v[2][lane] as usize + place * stride * n;
                            scatter(
                                after,
                                4 + i * dwords,
                                lane,
                                dwords,
                                bytes(&before.lds, at, n),
                            );
                        }
                    }
                };
                cases.push(Case::new(asm, prepare, expect).on(on).runs(3));
            }
        }
    }
}

fn stores(cases: &mut Vec<Case>) {
    let all = [
        ("b8", 1, 0),
        ("b16", 2, 0),
        ("b32", 4, 0),
        ("b64", 8, 0),
        ("b96", 12, 0),
        ("b128", 16, 0),
        ("b8_d16_hi", 1, 16),
        ("b16_d16_hi", 2, 16),
    ];
    for (name, n, shift) in all {
        let dwords = usize::div_ceil(n, 4);
        for (spelling, on) in spellings(format!("ds_write_{name}"), format!("ds_store_{name}")) {
            for offset in [0usize, 48] {
                let asm = format!("{spelling} v2, {} offset:{offset}", registers(4, dwords));
                let expect = move |_: &str, before: &State, after: &mut State| {
                    for lane in lanes(before) {
                        let v = gather(before, 4, lane, dwords) >> shift;
                        put(&mut after.lds, before.v[2][lane] as usize + offset, n, v);
                    }
                };
                cases.push(Case::new(asm, prepare, expect).on(on).runs(3));
            }
        }
    }
    for (name, n) in [("b32", 4), ("b64", 8)] {
        for (stride, old, new) in [
            (1, "ds_write2_", "ds_store_2addr_"),
            (16, "ds_write2st64_", "ds_store_2addr_stride64_"),
        ] {
            for (spelling, on) in spellings(format!("{old}{name}"), format!("{new}{name}")) {
                let (dwords, step) = (n / 4, if stride == 1 { 1 } else { 64 });
                let asm = format!(
                    "{spelling} v2, {}, {} offset0:0 offset1:1",
                    registers(4, dwords),
                    registers(8, dwords)
                );
                let expect = move |_: &str, before: &State, after: &mut State| {
                    for (place, r) in [(0, 4), (1, 8)] {
                        for lane in lanes(before) {
                            let at = before.v[2][lane] as usize + place * step * n;
                            put(&mut after.lds, at, n, gather(before, r, lane, dwords));
                        }
                    }
                };
                cases.push(Case::new(asm, prepare, expect).on(on).runs(3));
            }
        }
    }
}

/// One atomic, with and without the old value returned.
fn atomic(
    cases: &mut Vec<Case>,
    name: &str,
    returns: bool,
    op: &Operation,
    compare_first: bool,
    on: fn(&str) -> bool,
) {
    let (n, dwords) = (op.bytes, op.bytes / 4);
    let data = match op.compares {
        true => format!("{}, {}", registers(4, dwords), registers(8, dwords)),
        false => registers(4, dwords),
    };
    let result = if returns {
        format!("{}, ", registers(0, dwords))
    } else {
        String::new()
    };
    let op = op.clone();
    let fill = op.clone();
    let case = Case::new(
        format!("{name} {result}v2, {data} offset:8"),
        move |s, random, run| {
            prepare(s, random, run);
            // Sixteen bytes a lane; some lanes' old values equal what they are compared with.
            for lane in 0..s.lanes {
                let at = s.v[2][lane] as usize + 8;
                let old = u128::from(fill.old_value(random));
                put(&mut s.lds, at, n, old);
                let [a, b] = [fill.value(random), fill.value(random)];
                scatter(s, 4, lane, dwords, a.into());
                scatter(s, 8, lane, dwords, b.into());
                if lane % 2 == 0 && fill.compares {
                    scatter(s, if compare_first { 4 } else { 8 }, lane, dwords, old);
                }
            }
        },
        move |_, before, after| {
            for lane in lanes(before) {
                let at = before.v[2][lane] as usize + 8;
                let old = bytes(&after.lds, at, n) as u64;
                let [first, second] = [4, 8].map(|r| gather(before, r, lane, dwords) as u64);
                let new = match (op.compares, compare_first) {
                    (false, _) => (op.apply)(old, first),
                    (true, true) => {
                        if old == first {
                            second
                        } else {
                            old
                        }
                    }
                    (true, false) => {
                        if old == second {
                            first
                        } else {
                            old
                        }
                    }
                };
                put(&mut after.lds, at, n, new.into());
                if returns {
                    scatter(after, 0, lane, dwords, old.into());
                }
            }
        },
    )
    .on(on)
    .runs(6);
    cases.push(case);
}

fn atomics(cases: &mut Vec<Case>) {
    for op in operations() {
        for (stem, on) in op.ds_names() {
            let (head, ty) = stem.rsplit_once('_').expect("a type");
            let compare_first = head == "cmpst";
            // Exchanges exist only with the old value returned.
            if !op.exchanges {
                atomic(cases, &format!("ds_{stem}"), false, &op, compare_first, on);
            }
            atomic(
                cases,
                &format!("ds_{head}_rtn_{ty}"),
                true,
                &op,
                compare_first,
                on,
            );
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    loads(&mut cases);
    stores(&mut cases);
    atomics(&mut cases);
    cases
}
