//! Which instructions there are: the names that the decoder's sources hold, put together as the decoder
//! takes them apart, as far as decoder and assembler know them; and those in compiled kernels.

use crate::harness::{TARGETS, generation};
use crate::kernels::compiled;
use softgpu::isa::testing::{assemble, decodes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub type Pairs = BTreeSet<(&'static str, String)>;

/// Covered by tests of their own.
const ELSEWHERE: [(&str, &str); 2] = [
    ("s_trap", "control::traps_stop_the_wave"),
    ("s_setreg_b32", "control::other_modes_are_refused"),
];

/// All words in quotes in the interpreter's sources.
fn words() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/isa");
    let mut words = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("text");
        let quoted = text.split('"').skip(1).step_by(2);
        // Quotes in comments or characters shift the parity: take the other half as well.
        let rest = text.split('"').step_by(2);
        for word in quoted.chain(rest) {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            let encoding = word.ends_with("_e32") || word.ends_with("_e64");
            if !word.is_empty() && word.len() < 40 && word.chars().all(plain) && !encoding {
                words.insert(word.trim_matches('_').to_string());
            }
        }
    }
    words
}

const TYPES: [&str; 13] = [
    "b16", "b32", "b64", "f16", "bf16", "f32", "f64", "i16", "i32", "i64", "u16", "u32", "u64",
];

/// Whole names stand for themselves, other words are parts of names.
fn is_whole(word: &str) -> bool {
    ["v_", "s_", "ds_", "buffer_", "global_"]
        .iter()
        .any(|p| word.starts_with(p))
}

/// Names put together from words as the decoder takes them apart.
fn candidates() -> BTreeSet<String> {
    let words = words();
    let (mut names, words): (BTreeSet<String>, BTreeSet<String>) =
        words.into_iter().partition(|word| is_whole(word));
    let mut prefixes = vec!["ds_".to_string(), "s_cmp_".into(), "s_cmpk_".into()];
    for segment in ["global", "flat", "scratch", "buffer", "s", "s_buffer", "ds"] {
        for verb in ["load", "store", "load_lds", "atomic", "read", "write"] {
            prefixes.push(format!("{segment}_{verb}_"));
        }
    }
    for name in names.clone() {
        names.extend(["b32", "b64"].map(|ty| format!("{name}_{ty}")));
    }
    for word in &words {
        for prefix in &prefixes {
            names.insert(format!("{prefix}{word}"));
        }
        for ty in TYPES {
            for prefix in ["s_cmp_", "s_cmpk_", "v_cmp_", "v_cmpx_", "ds_"] {
                names.insert(format!("{prefix}{word}_{ty}"));
            }
            names.insert(format!("ds_{word}_rtn_{ty}"));
            for segment in ["global", "flat", "buffer"] {
                names.insert(format!("{segment}_atomic_{word}_{ty}"));
            }
        }
        for segment in ["global", "flat", "buffer"] {
            names.insert(format!("{segment}_atomic_{word}_x2"));
        }
    }
    for stem in ["ds_read2", "ds_write2", "ds_read2st64", "ds_write2st64"] {
        names.extend(["b32", "b64"].map(|ty| format!("{stem}_{ty}")));
    }
    for stem in ["ds_load_2addr", "ds_store_2addr"] {
        for ty in ["b32", "b64"] {
            names.extend([format!("{stem}_{ty}"), format!("{stem}_stride64_{ty}")]);
        }
    }
    names.extend(matrices());
    // Those that the decoder takes by their beginning.
    let counters = ["vmcnt", "vscnt", "expcnt", "lgkmcnt", "depctr"];
    names.extend(counters.map(|c| format!("s_waitcnt_{c}")));
    let waits = [
        "loadcnt",
        "storecnt",
        "samplecnt",
        "bvhcnt",
        "expcnt",
        "dscnt",
        "kmcnt",
        "loadcnt_dscnt",
        "storecnt_dscnt",
        "event",
        "idle",
        "alu",
    ];
    names.extend(waits.map(|c| format!("s_wait_{c}")));
    for kind in ["inv", "wb", "inv_vol", "wb_vol", "discard", "discard_x2"] {
        names.extend([format!("s_dcache_{kind}"), format!("s_gl1_{kind}")]);
    }
    names
}

/// Names of matrix instructions by every shape and type.
fn matrices() -> Vec<String> {
    let mut names = Vec::new();
    let types = ["f32", "f16", "bf16", "i8", "iu8", "iu4", "fp8", "bf8"];
    for out in ["f32", "f16", "bf16", "i32"] {
        for n in [4, 16, 32] {
            for k in [1, 2, 4, 8, 16, 32] {
                let shape = format!("{out}_{n}x{n}x{k}");
                for a in types {
                    names.push(format!("v_wmma_{shape}_{a}"));
                    names.push(format!("v_mfma_{shape}{a}"));
                    names.push(format!("v_mfma_{shape}{a}_1k"));
                    names.push(format!("v_mfma_{shape}_{a}"));
                    for b in types {
                        names.push(format!("v_wmma_{shape}_{a}_{b}"));
                        names.push(format!("v_mfma_{shape}_{a}_{b}"));
                    }
                    for blocks in [2, 4, 16] {
                        names.push(format!("v_mfma_{shape}_{blocks}b_{a}"));
                    }
                }
            }
        }
    }
    names
}

/// Whether the decoder knows a name (whatever it then says to the missing operands).
fn decoder_knows(target: &str, name: &str) -> bool {
    match decodes(target, name) {
        Ok(()) => true,
        Err(why) => why != format!("instruction {name} is not implemented"),
    }
}

/// The names of a list that a target's assembler knows: of the others it says that there is no such
/// instruction, of these at most that operands are missing.
fn assembler_knows(target: &str, names: &[String]) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    if let Err(message) = assemble(target, false, &names.join("\n")) {
        for line in message.lines() {
            let Some((place, what)) = line.split_once(": error: ") else {
                continue;
            };
            if what.starts_with("invalid instruction") || what.contains("not supported on this GPU")
            {
                let line = place
                    .split(':')
                    .nth(1)
                    .and_then(|n| n.parse::<usize>().ok());
                unknown.insert(line.expect("a line number") - 1);
            }
        }
    }
    let known = names
        .iter()
        .enumerate()
        .filter(|(i, _)| !unknown.contains(i));
    known.map(|(_, name)| name.clone()).collect()
}

/// Decoder and assembler agree on these.
fn known() -> Pairs {
    let candidates = candidates();
    let mut pairs = Pairs::new();
    let mut decoded: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for target in TARGETS {
        // The decoder's names depend on the generation only.
        let names = decoded.entry(generation(target)).or_insert_with(|| {
            let known = candidates.iter().filter(|name| decoder_knows(target, name));
            known.cloned().collect()
        });
        let mut names = names.clone();
        // Both halves of a dual issue are decoded by their plain names.
        let dual: Vec<String> = names
            .iter()
            .filter_map(|name| Some(format!("v_dual_{}", name.strip_prefix("v_")?)))
            .collect();
        names.extend(dual);
        pairs.extend(
            assembler_knows(target, &names)
                .into_iter()
                .map(|name| (target, name)),
        );
    }
    pairs
}

/// An old spelling that the assembler still takes: it ran on an earlier generation.
fn is_alias(ran: &Pairs, target: &str, name: &str) -> bool {
    let earlier = |t: &&&str| generation(t) < generation(target);
    TARGETS
        .iter()
        .filter(earlier)
        .any(|t| ran.contains(&(*t, name.to_string())))
}

/// Names in the sources that the decoder takes although no target has them: no test could run them.
fn unreachable(known: &Pairs) -> Vec<String> {
    let exists = |name: &String| known.iter().any(|(_, k)| k.starts_with(name.as_str()));
    let decoded = |name: &String| TARGETS.iter().any(|t| decoder_knows(t, name));
    words()
        .into_iter()
        .filter(|name| is_whole(name) && decoded(name) && !exists(name))
        .collect()
}

/// Fails with the names that no case ran.
pub fn check(ran: &Pairs) {
    let known = known();
    // Far fewer would mean that the names were not found, not that all of them have cases.
    assert!(known.len() > 8000, "only {} names found", known.len());
    assert_eq!(
        unreachable(&known),
        Vec::<String>::new(),
        "decoded, but no target has them"
    );
    let mut missing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let known = known
        .iter()
        .filter(|(target, name)| !is_alias(ran, target, name));
    for (target, name) in known.chain(&compiled()) {
        let elsewhere = ELSEWHERE.iter().any(|(n, _)| n == name);
        if !elsewhere && !ran.contains(&(*target, name.clone())) {
            missing.entry(name.clone()).or_default().push(target);
        }
    }
    let list: Vec<String> = missing
        .iter()
        .map(|(name, on)| format!("{name}: {}", on.join(" ")))
        .collect();
    assert!(
        list.is_empty(),
        "{} instructions without a case:\n{}",
        list.len(),
        list.join("\n")
    );
}
