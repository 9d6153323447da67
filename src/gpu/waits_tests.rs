//! What NVIDIA's kernels do before they wait for what they follow (`grid_dependency_wait`); `graph.rs` says what
//! they may do.

#[path = "waits_ptx.rs"]
mod ptx;

use super::kernels::built_in;
use super::parameters;
use ptx::before_waiting;
use std::collections::{BTreeMap, BTreeSet};

/// What kernels read before they wait, by the beginning of their names. No kernel writes weights, norms, biases, sinks and
/// rotations; positions, slots, pages and sequences come by a program's first one, which lets no other begin before they are there
/// (`mlxrocm_take_inputs`); what else is here is written by none that the kernel may begin under:
///
/// - `cache`, `state`, `tail`: by this kernel alone, if it reads it before it waits.
/// - `index`, `expert_weights`, `logits`, `runs`, `order`: for down, whose gate and up ([`WAIT_FIRST`], or
///   `mlxrocm_matmul_experts` itself) let it begin when the router in front of them had ended, or when what they chose was there.
/// - Places, codes and scales of arrays: if the launch's arguments say that no kernel of the program writes them; what decides
///   about that comes twice, and a way that takes it once so and once so is none.
/// - `x` of networks: each thread waits in its first round; the compiler made a loop of all rounds.
const EARLY: [(&str, &[&str]); 16] = [
    (
        "mlxrocm_array_product_warps_codes",
        &["left_places", "right_places"],
    ),
    (
        "mlxrocm_array_products_warps_codes",
        &[
            "words_a", "scales_a", "biases_a", "words_b", "scales_b", "biases_b", "words_c",
            "scales_c", "biases_c", "weight",
        ],
    ),
    (
        "mlxrocm_attention_paged",
        &[
            "positions",
            "slots",
            "pages",
            "tokens",
            "cache",
            "layer_start",
            "q_norm",
            "k_norm",
            "rope",
        ],
    ),
    (
        "mlxrocm_delta_step",
        &[
            "taps",
            "tail",
            "rate",
            "floor",
            "norm",
            "state",
            "sequences",
        ],
    ),
    ("mlxrocm_matmul_cluster", &["weights", "norm"]),
    ("mlxrocm_matmul_experts_routed", &["router", "norm"]),
    ("mlxrocm_matmul_experts_tiles", &["weights"]),
    (
        "mlxrocm_matmul_experts_tiles_down",
        &["weights", "runs", "order", "expert_weights"],
    ),
    (
        "mlxrocm_matmul_experts",
        &["weights", "norm", "index", "expert_weights", "logits"],
    ),
    ("mlxrocm_matmul_ro", &["weights", "norm"]),
    ("mlxrocm_matmul_tiles", &["weights"]),
    ("mlxrocm_matmul_warpgroup", &["weights"]),
    ("mlxrocm_network_conv_warpgroup", &["weights", "bias", "x"]),
    (
        "mlxrocm_network_product_warpgroup",
        &["weights", "bias", "x"],
    ),
    ("mlxrocm_network_norm_finer_few", &["weight", "bias"]),
    ("mlxrocm_network_pair", &["first", "second", "bias"]),
];

/// Kernels of which some threads end without waiting. Of each launch others wait: the block of a query's last part, and the
/// threads that multiply.
const LEAVE: [&str; 3] = [
    "mlxrocm_attention_paged",
    "mlxrocm_network_conv_warpgroup",
    "mlxrocm_network_product_warpgroup",
];

/// Kernels that wait before they let others begin, which rely on it.
const WAIT_FIRST: [&str; 5] = [
    "mlxrocm_matmul_experts_bf16",
    "mlxrocm_matmul_experts_f16",
    "mlxrocm_matmul_experts_f32",
    "mlxrocm_matmul_experts_routed",
    "mlxrocm_matmul_experts_tiles_few",
];

#[test]
fn kernels_wait_before_they_read_or_write_what_others_do() {
    let mut wrong = BTreeSet::new();
    let (mut waiting, mut used) = (0, BTreeMap::<&str, BTreeSet<&str>>::new());
    let (mut left, mut first) = (BTreeSet::new(), BTreeSet::new());
    for object in built_in().unwrap() {
        let text = std::str::from_utf8(object.code).unwrap_or_default();
        for part in text.split(".entry ").skip(1) {
            let (kernel, rest) = part.split_once('(').unwrap();
            let body = rest.split_once(')').unwrap().1;
            if !body.contains("griddepcontrol.wait") {
                continue;
            }
            waiting += 1;
            let before = before_waiting(body);
            let fits = |begin: &str| kernel.starts_with(begin);
            let longest = EARLY.iter().filter(|(begin, _)| fits(begin));
            let (begin, early) = longest
                .max_by_key(|(begin, _)| begin.len())
                .unwrap_or(&("", &[]));
            let name_of = |place: usize| parameters::of(kernel).unwrap()[place].1;
            for name in (0..64)
                .filter(|place| before.reads >> place & 1 == 1)
                .map(name_of)
            {
                match early.contains(&name) {
                    true => drop(used.entry(begin).or_default().insert(name)),
                    false => drop(wrong.insert(format!("{kernel} reads {name}"))),
                }
            }
            for name in (0..64)
                .filter(|place| before.writes >> place & 1 == 1)
                .map(name_of)
            {
                wrong.insert(format!("{kernel} writes {name}"));
            }
            wrong.extend(
                before
                    .unknown
                    .iter()
                    .map(|access| format!("{kernel}: {access}")),
            );
            if before.leaves {
                match LEAVE.iter().find(|begin| fits(begin)) {
                    Some(begin) => drop(left.insert(*begin)),
                    None => drop(wrong.insert(format!("{kernel} ends"))),
                }
            }
            if let Some(begin) = WAIT_FIRST.iter().find(|begin| fits(begin)) {
                first.insert(*begin);
                if before.begins_others {
                    wrong.insert(format!("{kernel} lets others begin"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "before waiting:\n{wrong:#?}");
    // Nothing is in the lists that is not so; a build without NVIDIA's targets has none of it.
    if waiting > 0 {
        let listed = EARLY
            .iter()
            .map(|(begin, names)| (*begin, names.iter().copied().collect()));
        assert_eq!(used, listed.collect());
        assert_eq!(left, LEAVE.into());
        assert_eq!(first, WAIT_FIRST.into());
    }
}

/// What it brings is read before others wait, which begin when one thread of each block has let them: all have stored by then.
#[test]
fn inputs_are_there_before_others_begin() {
    for object in built_in().unwrap() {
        let text = std::str::from_utf8(object.code).unwrap_or_default();
        let Some((_, body)) = text.split_once(".entry mlxrocm_take_inputs(") else {
            continue;
        };
        let place = |what: &str| body.find(what).unwrap_or_else(|| panic!("no {what}"));
        let order = [
            "st.global",
            "fence.acq_rel.gpu",
            "bar.sync",
            "griddepcontrol.launch_dependents",
        ];
        assert!(order.map(place).is_sorted());
    }
}

#[test]
fn ways_without_waiting_are_found() {
    let of = |body: &str| before_waiting(body);
    let load = "ld.param.u64 %rd1, [k_param_3];\ncvta.to.global.u64 %rd2, %rd1;\nld.global.u32 %r1, [%rd2+4];";
    let wait = "griddepcontrol.wait;";
    assert_eq!(of(&format!("{load}\n{wait}\nret;\n}}")).reads, 1 << 3);
    assert_eq!(of(&format!("{wait}\n{load}\nret;\n}}")).reads, 0);
    // One of two ways waits.
    let some = of(&format!("@%p1 bra $L;\n{wait}\n$L:\n{load}\nret;\n}}"));
    assert!(some.reads == 1 << 3 && some.leaves);
    // A loop that begins with what is after its wait.
    let round = of(&format!(
        "bra.uni $M;\n$L:\n{load}\n$M:\n{wait}\n@%p1 bra $L;\nret;\n}}"
    ));
    assert!(round.reads == 0 && !round.leaves);
    let store = load.replace("ld.global.u32 %r1, [%rd2+4]", "st.global.u32 [%rd2], %r1");
    assert_eq!(of(&format!("{store}{wait}ret;")).writes, 1 << 3);
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier [%r1], [%rd2], 16, [%r2]";
    let copy = load.replace("ld.global.u32 %r1, [%rd2+4]", copy);
    assert_eq!(of(&format!("{copy}\n{wait}\nret;")).reads, 1 << 3);
    let lost = of("ld.global.u32 %r1, [%rd9];\ngriddepcontrol.wait;\nret;");
    assert_eq!(lost.unknown.len(), 1);
    let begun = of(
        "griddepcontrol.launch_dependents;\n// %bb.1:\n{ .reg .pred p; again_1: @!p bra again_1; }\ngriddepcontrol.wait;\nret;",
    );
    assert!(begun.begins_others && !begun.leaves);
}
