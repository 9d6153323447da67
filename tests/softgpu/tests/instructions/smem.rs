//! Scalar memory (manuals: "Scalar Memory Operations", SMEM instructions).

use crate::harness::{Case, Close, Reg, generation};
use softgpu::isa::testing::State;

const BYTES: usize = 256;

fn dword(memory: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(memory[at..at + 4].try_into().expect("four bytes"))
}

/// A load into s16 and on from byte 64; `s8` is 16 where a register offset is used.
fn load(name: &str, bytes: usize, signed: bool, address: &str, on: fn(&str) -> bool) -> Case {
    let last = 16 + bytes.div_ceil(4) - 1;
    let dst = if last == 16 {
        "s16".to_string()
    } else {
        format!("s[16:{last}]")
    };
    let buffer = name.starts_with("s_buffer");
    let prepare = move |s: &mut State, random: &mut crate::numbers::Random, _| {
        s.s[8] = 16;
        if buffer {
            // A raw buffer: base, no stride, its size.
            (s.s[4], s.s[5], s.s[6], s.s[7]) = (s.s[2], s.s[3] & 0xffff, BYTES as u32, 0);
        }
        let _ = random;
    };
    Case::with_memory(
        format!("{name} {dst}, {address}"),
        BYTES,
        prepare,
        move |_, _, after, memory| match (bytes, signed) {
            (1, false) => after.s[16] = memory[64].into(),
            (1, true) => after.s[16] = i32::from(memory[64] as i8) as u32,
            (2, false) => after.s[16] = dword(memory, 64) & 0xffff,
            (2, true) => after.s[16] = i32::from(dword(memory, 64) as u16 as i16) as u32,
            _ => (0..bytes / 4).for_each(|i| after.s[16 + i] = dword(memory, 64 + 4 * i)),
        },
    )
    .on(on)
    .runs(4)
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let old = ["dword", "dwordx2", "dwordx4", "dwordx8", "dwordx16"];
    let new = ["b32", "b64", "b128", "b256", "b512"];
    for (segment, base) in [("s_load", "s[2:3]"), ("s_buffer_load", "s[4:7]")] {
        for (i, bytes) in [4, 8, 16, 32, 64].into_iter().enumerate() {
            let old = format!("{segment}_{}", old[i]);
            let new = format!("{segment}_{}", new[i]);
            cases.push(load(&old, bytes, false, &format!("{base}, 0x40"), |t| {
                generation(t) <= 10
            }));
            cases.push(load(&new, bytes, false, &format!("{base}, 0x40"), |t| {
                generation(t) >= 11
            }));
            // A scalar register as well: the offsets add up.
            let both = format!("{base}, s8 offset:0x30");
            cases.push(load(&old, bytes, false, &both, |t| generation(t) <= 10));
            cases.push(load(&new, bytes, false, &both, |t| generation(t) >= 11));
        }
        // RDNA 4 only.
        let twelve: fn(&str) -> bool = |t| generation(t) == 12;
        cases.push(load(
            &format!("{segment}_b96"),
            12,
            false,
            &format!("{base}, 0x40"),
            twelve,
        ));
        for (name, bytes, signed) in [
            ("u8", 1, false),
            ("i8", 1, true),
            ("u16", 2, false),
            ("i16", 2, true),
        ] {
            cases.push(load(
                &format!("{segment}_{name}"),
                bytes,
                signed,
                &format!("{base}, 0x40"),
                twelve,
            ));
        }
    }
    // Clocks: two readings are near each other, the second not before the first.
    for name in ["s_memtime", "s_memrealtime"] {
        let asm = format!(
            "{name} s[16:17]\n{name} s[18:19]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s20, s18, s16\ns_lshr_b32 s0, s20, 20"
        );
        let mut case = Case::new(
            asm,
            |_, _, _| {},
            |_, _, after| {
                after.s[0] = 0;
                after.scc = false;
            },
        );
        case.close = (16..=20).map(|r| (Reg::S(r), Close::Any)).collect();
        cases.push(case);
    }
    cases
}
