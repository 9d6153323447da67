//! Cache instructions around the atomic by which blocks find the last of them (`is_last_block` of
//! `hip/common/reduce.h`): what other blocks wrote is seen behind it only with these, by the rules of LLVM's memory
//! model for AMDGPU at agent scope.
//!
//! | | before the barrier, and again before the atomic | after the atomic, and again after the next barrier |
//! |---|---|---|
//! | gfx90a | `vmcnt(0)` | `buffer_wbinvl1_vol` |
//! | gfx942 | `buffer_wbl2 sc1`, then `vmcnt(0)` | `buffer_inv sc1` |
//! | gfx10, gfx11 | `s_waitcnt_vscnt null, 0x0` | `buffer_gl1_inv`, `buffer_gl0_inv` |
//! | gfx12 | `global_wb scope:SCOPE_DEV`, then `s_wait_storecnt 0x0` | `global_inv scope:SCOPE_DEV` |
//!
//! Every wave writes before the barrier and reads after the other one; the first thread's atomic is between. What is
//! asked for comes behind the last store before, and ahead of the first load after, in the order of the listing. A
//! wait is not asked for twice: where nothing was stored since the barrier, the compiler leaves the one before the atomic
//! out (on gfx12 also behind a second write-back, which finds nothing: all waves waited for the first before the barrier).

/// What a target needs: each of a list in this order.
struct Rules {
    release: &'static [&'static str],
    acquire: &'static [&'static str],
    /// What an atomic's result is waited for with.
    loaded: &'static str,
}

fn rules(target: &str) -> Rules {
    let rules = |release, acquire, loaded| Rules {
        release,
        acquire,
        loaded,
    };
    match target {
        "gfx90a" => rules(&["vmcnt(0)"], &["buffer_wbinvl1_vol"], "vmcnt(0)"),
        "gfx942" => rules(
            &["buffer_wbl2 sc1", "vmcnt(0)"],
            &["buffer_inv sc1"],
            "vmcnt(0)",
        ),
        _ if target.starts_with("gfx10") || target.starts_with("gfx11") => rules(
            &["s_waitcnt_vscnt null, 0x0"],
            &["buffer_gl1_inv", "buffer_gl0_inv"],
            "vmcnt(0)",
        ),
        _ if target.starts_with("gfx12") => rules(
            &["global_wb scope:SCOPE_DEV", "s_wait_storecnt"],
            &["global_inv scope:SCOPE_DEV"],
            "s_wait_loadcnt",
        ),
        _ => panic!("which cache instructions does {target} need?"),
    }
}

/// Whether a kernel has such an atomic: no other adds to memory and asks for what was there.
pub fn reduces(code: &[String]) -> bool {
    code.iter().any(|line| is_ticket(line))
}

fn is_ticket(line: &str) -> bool {
    const RETURNS: [&str; 3] = [" glc", " sc0", "TH_ATOMIC_RETURN"];
    let adds = ["global_atomic_add", "flat_atomic_add", "buffer_atomic_add"];
    adds.iter().any(|word| line.starts_with(word)) && RETURNS.iter().any(|flag| line.contains(flag))
}

fn is_memory(line: &str, what: &str) -> bool {
    ["global_", "flat_", "buffer_"].iter().any(|kind| {
        line.strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with(what))
    })
}

fn is_barrier(line: &str) -> bool {
    // gfx12 signals, then waits.
    line == "s_barrier" || line.starts_with("s_barrier_wait")
}

/// Which of the instructions do not come in this order; `wait 0x0` and the like only in full.
fn missing(code: &[String], needed: &[&'static str]) -> Option<&'static str> {
    let mut lines = code.iter();
    let does = |line: &String, what: &str| match what {
        "s_wait_storecnt" | "s_wait_loadcnt" => line.starts_with(what) && line.ends_with(" 0x0"),
        "vmcnt(0)" => line.starts_with("s_waitcnt ") && line.contains(what),
        _ => line.starts_with(what),
    };
    needed
        .iter()
        .find(|what| !lines.any(|line| does(line, what)))
        .copied()
}

/// What is missing around each of a kernel's atomics.
pub fn faults(target: &str, code: &[String]) -> Vec<String> {
    let rules = rules(target);
    let mut found = Vec::new();
    let mut note = |at: usize, what: Option<&str>, place: &str| {
        if let Some(what) = what {
            found.push(format!("no {what} {place} the atomic in line {at}"));
        }
    };
    for at in (0..code.len()).filter(|at| is_ticket(&code[*at])) {
        // What is ahead of `end`, back to the barrier before or, behind it, the last store, if there is one.
        let ahead = |end: usize| {
            let barrier = code[..end].iter().rposition(|line| is_barrier(line));
            let start = barrier.map_or(0, |barrier| barrier + 1);
            let mut lines = code[start..end].iter();
            let store = lines.rposition(|line| is_memory(line, "store"));
            let begin = start + store.map_or(0, |store| store + 1);
            (barrier, store.is_some(), &code[begin..end])
        };
        let (barrier, stores, own) = ahead(at);
        let needed = match (stores, target.starts_with("gfx12")) {
            (true, _) => rules.release,
            (false, true) => &rules.release[..1],
            (false, false) if rules.release.len() > 1 => rules.release,
            (false, false) => &[],
        };
        note(at, missing(own, needed), "right before");
        match barrier {
            Some(barrier) => note(
                at,
                missing(ahead(barrier).2, rules.release),
                "before the barrier before",
            ),
            None => note(at, Some("barrier"), "before"),
        }
        let after = &code[at + 1..];
        let next = after.iter().position(|line| is_barrier(line));
        let Some(next) = next else {
            note(at, Some("barrier"), "after");
            continue;
        };
        let acquire: Vec<_> = [&[rules.loaded], rules.acquire].concat();
        note(at, missing(&after[..next], &acquire), "right after");
        let behind = &after[next + 1..];
        let load = behind.iter().position(|line| is_memory(line, "load"));
        let behind = &behind[..load.unwrap_or(behind.len())];
        note(
            at,
            missing(behind, rules.acquire),
            "after the barrier after",
        );
    }
    found
}

/// Kernels as the compiler makes them, shortened; lines that begin with `!` are needed.
const LISTINGS: [(&str, &str); 4] = [
    (
        "gfx90a",
        "global_store_dwordx3 v0, v[2:4], s[4:5]|!s_waitcnt vmcnt(0) lgkmcnt(0)|buffer_wbinvl1_vol|!s_barrier|\
         s_cbranch_execz 33|s_waitcnt vmcnt(0)|s_cbranch_execz 8|global_atomic_add v2, v2, v3, s[4:5] glc|\
         !s_waitcnt vmcnt(0)|!buffer_wbinvl1_vol|global_store_dword v0, v0, s[4:5]|s_waitcnt lgkmcnt(0)|!s_barrier|\
         s_cbranch_vccnz 88|!buffer_wbinvl1_vol|global_load_dwordx3 v[0:2], v[0:1], off|s_waitcnt vmcnt(0)",
    ),
    (
        "gfx942",
        "s_waitcnt vmcnt(0)|global_store_dwordx3 v0, v[2:4], s[6:7]|!buffer_wbl2 sc1|!s_waitcnt vmcnt(0) lgkmcnt(0)|\
         buffer_inv sc1|!s_barrier|s_cbranch_execz 37|!buffer_wbl2 sc1|!s_waitcnt vmcnt(0)|\
         global_atomic_add v2, v2, v3, s[6:7] sc0|!s_waitcnt vmcnt(0)|!buffer_inv sc1|s_waitcnt lgkmcnt(0)|!s_barrier|\
         s_cbranch_vccnz 91|!buffer_inv sc1|global_load_dwordx3 v[0:2], v[0:1], off|buffer_inv sc1",
    ),
    (
        "gfx1151",
        "s_waitcnt_vscnt null, 0x0|buffer_gl1_inv|global_store_b96 v5, v[1:3], s[2:3]|!s_waitcnt_vscnt null, 0x0|\
         buffer_gl1_inv|buffer_gl0_inv|!s_barrier|buffer_gl0_inv|s_waitcnt vmcnt(0) lgkmcnt(0)|\
         s_waitcnt_vscnt null, 0x0|global_atomic_add_u32 v1, v1, v2, s[2:3] glc|!s_waitcnt vmcnt(0)|!buffer_gl1_inv|\
         !buffer_gl0_inv|global_store_b32 v0, v0, s[2:3]|s_waitcnt_vscnt null, 0x0|!s_barrier|!buffer_gl1_inv|\
         !buffer_gl0_inv|global_load_b96 v[0:2], v[0:1], off|buffer_gl1_inv|buffer_gl0_inv",
    ),
    (
        "gfx1201",
        "global_store_b96 v5, v[1:3], s[2:3]|!global_wb scope:SCOPE_DEV|!s_wait_storecnt 0x0|\
         global_inv scope:SCOPE_DEV|global_wb scope:SCOPE_SE|s_barrier_signal -1|!s_barrier_wait 0xffff|\
         global_inv scope:SCOPE_SE|!global_wb scope:SCOPE_DEV|s_wait_loadcnt 0x0|s_wait_storecnt 0x0|\
         global_atomic_add_u32 v1, v1, v2, s[2:3] th:TH_ATOMIC_RETURN scope:SCOPE_DEV|!s_wait_loadcnt 0x0|\
         !global_inv scope:SCOPE_DEV|ds_store_b32 v0, v1 offset:384|global_wb scope:SCOPE_SE|\
         s_wait_storecnt_dscnt 0x0|!s_barrier_wait 0xffff|global_inv scope:SCOPE_SE|!global_inv scope:SCOPE_DEV|\
         global_load_b96 v[0:2], v[0:1], off",
    ),
];

#[test]
fn a_kernel_without_one_of_them_is_found() {
    for (target, listing) in LISTINGS {
        let lines: Vec<&str> = listing.split('|').collect();
        let without = |left_out: Option<usize>| -> Vec<String> {
            let kept = lines.iter().enumerate();
            kept.filter(|(place, _)| Some(*place) != left_out)
                .map(|(_, line)| line.trim_start_matches('!').to_owned())
                .collect()
        };
        assert!(reduces(&without(None)));
        assert_eq!(faults(target, &without(None)), [""; 0], "{target}");
        let needed = (0..lines.len()).filter(|place| lines[*place].starts_with('!'));
        for place in needed {
            let faults = faults(target, &without(Some(place)));
            assert!(!faults.is_empty(), "{target} without {}", lines[place]);
        }
    }
    // One of a smaller scope does not do, and the order counts.
    let gfx1201 = LISTINGS[3].1.replace('!', "");
    let nearer = gfx1201.replace("global_wb scope:SCOPE_DEV", "global_wb scope:SCOPE_SE");
    let gfx942 = LISTINGS[1].1.replace('!', "");
    let turned = gfx942.replace(
        "buffer_wbl2 sc1|s_waitcnt vmcnt(0)",
        "s_waitcnt vmcnt(0)|buffer_wbl2 sc1",
    );
    // Nor does a wait for what was stored before.
    let gfx1151 = LISTINGS[2].1.replace('!', "");
    let later = gfx1151.replace(
        "|global_atomic",
        "|global_store_b32 v0, v0, s[4:5]|global_atomic",
    );
    let stored = gfx1201.replace(
        "|s_wait_loadcnt 0x0|s_wait_storecnt 0x0|global_atomic",
        "|global_store_b32 v0, v0, s[4:5]|global_wb scope:SCOPE_DEV|global_atomic",
    );
    assert_ne!(stored, gfx1201);
    for (target, listing) in [
        ("gfx1201", nearer),
        ("gfx1201", stored),
        ("gfx942", turned),
        ("gfx1151", later),
    ] {
        let code: Vec<String> = listing.split('|').map(String::from).collect();
        assert!(!faults(target, &code).is_empty(), "{target}");
    }
}
