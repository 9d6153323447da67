//! What NVIDIA's kernels do before they wait for what they follow (`grid_dependency_wait`): `platform_nvidia.h` says what
//! they may do. Found in the PTX, on every way through a kernel that branches could take.

use super::kernels::built_in;
use super::parameters;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What kernels read before they wait, by the beginning of their names. No kernel writes weights, norms, biases, sinks,
/// rotations, positions, slots and pages; what else is here is written by none that the kernel may begin under:
///
/// - `cache`: by this kernel alone, if it reads it before it waits.
/// - `index`, `expert_weights`, `logits`, `runs`, `order`: for down, whose gate and up ([`WAIT_FIRST`], or
///   `mlxrocm_matmul_experts` itself) let it begin when the router in front of them had ended, or when the logits were there.
/// - Places, codes and scales of arrays: if the launch's arguments say that no kernel of the program writes them; what decides
///   about that comes twice, and a way that takes it once so and once so is none.
/// - `x` of networks: each thread waits in its first round; the compiler made a loop of all rounds.
const EARLY: [(&str, &[&str]); 13] = [
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
];

/// Kernels of which some threads end without waiting. Of each launch others wait: the block of a query's last part, and the
/// threads that multiply.
const LEAVE: [&str; 3] = [
    "mlxrocm_attention_paged",
    "mlxrocm_network_conv_warpgroup",
    "mlxrocm_network_product_warpgroup",
];

/// Kernels that wait before they let others begin, which rely on it.
const WAIT_FIRST: [&str; 3] = [
    "mlxrocm_matmul_experts_dense",
    "mlxrocm_matmul_experts_routed",
    "mlxrocm_matmul_experts_tiles_few",
];

enum Line<'a> {
    Label(&'a str),
    Instruction(Instruction<'a>),
}

struct Instruction<'a> {
    is_conditional: bool,
    name: &'a str,
    operands: &'a str,
}

/// What happens before the wait, parameters as bits.
#[derive(Default)]
struct Before {
    reads: u64,
    writes: u64,
    /// Accesses by addresses of no parameter.
    unknown: Vec<String>,
    leaves: bool,
    begins_others: bool,
}

fn is_word(c: char) -> bool {
    c == '_' || c == '$' || c.is_ascii_alphanumeric()
}

fn lines(body: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for line in body.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let line = line.trim_start_matches('{').trim_end_matches('}');
        for text in line.split(';').map(str::trim) {
            let text = match text.split_once(':') {
                Some((label, rest)) if label.chars().all(is_word) && !rest.starts_with(':') => {
                    lines.push(Line::Label(label));
                    rest.trim()
                }
                _ => text,
            };
            if text.is_empty() || text.starts_with(['.', '"', '%', ')']) {
                continue;
            }
            let end = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
            let is_conditional = text.starts_with('@');
            let text = match is_conditional {
                true => text[end(text)..].trim(),
                false => text,
            };
            let (name, operands) = text.split_at(end(text));
            lines.push(Line::Instruction(Instruction {
                is_conditional,
                name,
                operands,
            }));
        }
    }
    lines
}

/// The 64-bit registers of operands.
fn registers(operands: &str) -> impl Iterator<Item = &str> {
    let words = operands.split(|c: char| c != '%' && !is_word(c));
    words.filter(|word| word.starts_with("%rd"))
}

/// Of which parameters each register holds an address.
fn addresses<'a>(lines: &[Line<'a>]) -> HashMap<&'a str, u64> {
    const PASS_ON: [&str; 12] = [
        "add.s64",
        "add.u64",
        "sub.s64",
        "mad.wide",
        "mad.lo.s64",
        "mov.u64",
        "mov.b64",
        "cvta",
        "selp.b64",
        "or.b64",
        "and.b64",
        "min.u64",
    ];
    let mut of = HashMap::new();
    let mut moves = Vec::new();
    for line in lines {
        let Line::Instruction(Instruction { name, operands, .. }) = line else {
            continue;
        };
        let (to, from) = operands.split_once(',').unwrap_or((operands, ""));
        if name.starts_with("ld.param") {
            let number = from.split_once("_param_").map_or("", |(_, number)| number);
            let number = number.trim_end_matches(|c: char| !c.is_ascii_digit());
            for to in registers(to) {
                *of.entry(to).or_insert(0) |= 1_u64 << number.parse::<u32>().unwrap();
            }
        } else if PASS_ON.iter().any(|begin| name.starts_with(begin)) {
            moves.push((to, from));
        }
    }
    loop {
        let mut is_changed = false;
        for (to, from) in &moves {
            let all = registers(from).map(|from| of.get(from).copied().unwrap_or(0));
            let all = all.fold(0, |all, one| all | one);
            for to in registers(to) {
                let known = of.entry(to).or_insert(0);
                is_changed |= *known | all != *known;
                *known |= all;
            }
        }
        if !is_changed {
            return of;
        }
    }
}

/// The operand that is an address of global memory, or of any, and whether it is written.
fn access<'a>(instruction: &Instruction<'a>) -> Option<(&'a str, bool)> {
    let Instruction { name, operands, .. } = instruction;
    let kind = name.split('.').next()?;
    let is_copy = name.starts_with("cp.async") && !name.starts_with("cp.async.mbarrier");
    let elsewhere = [".shared", ".param", ".local", ".const"];
    let in_shared = !is_copy && elsewhere.iter().any(|space| name.contains(space));
    let is_access = ["ld", "st", "atom", "red"].contains(&kind) || is_copy;
    if !is_access || in_shared {
        return None;
    }
    // Copies go from the second to the first.
    let place = operands.split('[').nth(if is_copy { 2 } else { 1 })?;
    Some((place.split(']').next()?, kind != "ld" && !is_copy))
}

fn before_waiting(body: &str) -> Before {
    let lines = lines(body);
    let places = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| match line {
            Line::Label(label) => Some((*label, at)),
            Line::Instruction(_) => None,
        });
    let places: HashMap<&str, usize> = places.collect();
    let mut before = Before::default();
    let (mut seen, mut ways, mut accesses) = (BTreeSet::new(), vec![0], Vec::new());
    while let Some(mut at) = ways.pop() {
        while let Some(line) = lines.get(at).filter(|_| seen.insert(at)) {
            at += 1;
            let Line::Instruction(instruction) = line else {
                continue;
            };
            match instruction.name {
                "griddepcontrol.wait" => break,
                "griddepcontrol.launch_dependents" => before.begins_others = true,
                "trap" => break,
                "ret" | "exit" => {
                    before.leaves = true;
                    if !instruction.is_conditional {
                        break;
                    }
                }
                "bra" | "bra.uni" => {
                    ways.push(places[instruction.operands.trim()]);
                    if !instruction.is_conditional {
                        break;
                    }
                }
                name => {
                    let is_known = !name.starts_with("brx") && !name.starts_with("call");
                    assert!(is_known, "{name}");
                    accesses.extend(access(instruction).map(|access| (access, name)));
                }
            }
        }
    }
    if accesses.is_empty() {
        return before;
    }
    let of = addresses(&lines);
    for ((place, is_written), name) in accesses {
        let roots = registers(place).map(|place| of.get(place).copied().unwrap_or(0));
        let roots = roots.fold(0, |all, one| all | one);
        match is_written {
            true => before.writes |= roots,
            false => before.reads |= roots,
        }
        // Addresses of no space are also those of shared memory.
        if roots == 0 && name.contains("global") {
            before.unknown.push(format!("{name} [{place}]"));
        }
    }
    before
}

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
