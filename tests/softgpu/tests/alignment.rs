//! Where loads, stores and accesses of local memory may begin.

use softgpu::isa::Checks;
use softgpu::isa::testing::{State, run_asm_with};
use softgpu::memory::Memory;

/// Whether a text runs with this many bytes added to the addresses of memory (s[2:3], v2) and of LDS (v3).
fn runs(target: &str, text: &str, further: u32) -> bool {
    let memory = Memory::new();
    let base = memory.allocate(4096, "words").unwrap();
    memory.mark_initialised(base, 4096);
    let mut s = State::new(target);
    (s.s[2], s.s[3]) = (base as u32, (base >> 32) as u32);
    for lane in 0..64 {
        s.v[2][lane] = lane as u32 * 16 + further;
        s.v[3][lane] = lane as u32 * 16 + further;
    }
    match run_asm_with(target, text, &s, &memory, Checks::default()) {
        Ok(_) => true,
        Err(what) => {
            assert!(what.contains("misaligned"), "{target}: {text}: {what}");
            false
        }
    }
}

#[test]
fn words_begin_at_words_but_for_loads_of_cdna() {
    for target in ["gfx90a", "gfx942", "gfx1030", "gfx1151", "gfx1201"] {
        let (cdna, old) = (
            target.starts_with("gfx9"),
            !target.starts_with("gfx11") && !target.starts_with("gfx12"),
        );
        let load = if old {
            "global_load_dword"
        } else {
            "global_load_b32"
        };
        let store = if old {
            "global_store_dword"
        } else {
            "global_store_b32"
        };
        let wide = if old {
            "global_load_dwordx4 v[8:11]"
        } else {
            "global_load_b128 v[8:11]"
        };
        let lds = if old { "ds_read_b32" } else { "ds_load_b32" };
        let atomic = if old {
            "global_atomic_add"
        } else {
            "global_atomic_add_u32"
        };
        let wait = if target.starts_with("gfx12") {
            "s_wait_idle"
        } else {
            "s_waitcnt vmcnt(0) lgkmcnt(0)"
        };
        for (further, joined) in [
            (0, true),
            (4, true),
            (2, cdna),
            (6, cdna),
            (1, false),
            (3, false),
        ] {
            let is_word = further % 4 == 0;
            for (access, allowed) in [
                (format!("{load} v8, v2, s[2:3]"), joined),
                (format!("{wide}, v2, s[2:3]"), joined),
                (format!("{store} v2, v8, s[2:3]"), is_word),
                (format!("{atomic} v2, v8, s[2:3]"), is_word),
                (format!("{lds} v8, v3"), is_word),
            ] {
                let found = runs(target, &format!("{access}\n{wait}"), further);
                assert_eq!(found, allowed, "{target} {further}: {access}");
            }
        }
    }
}
