//! Loads that NVIDIA's kernels of arrays have on their way at once, as their sources say. The compiler moves a load behind the
//! branch in front of its use where it may, and then there is one.

use super::kernels::built_in;

/// Kernels that load 16 bytes four times at once, wherever they do, by the beginning of their names.
const FOUR: [&str; 7] = [
    "mlxrocm_array_halves_",
    "mlxrocm_array_logsumexp_",
    "mlxrocm_array_reduce_columns_",
    "mlxrocm_array_reduce_places_",
    "mlxrocm_array_reduce_rows_",
    "mlxrocm_array_reduce_thin_",
    "mlxrocm_array_softmax_",
];

/// How many loads of 16 bytes there are between two places where the way may change, for all such places that have one.
fn together(body: &str) -> Vec<usize> {
    let (mut all, mut loads) = (Vec::new(), 0);
    for line in body.lines().map(str::trim) {
        if line.ends_with(':') || line.starts_with("$L") || line.contains("bra") {
            all.push(std::mem::take(&mut loads));
        }
        loads += usize::from(line.starts_with("ld.global") && line.contains(".v4"));
    }
    all.push(loads);
    all.retain(|&loads| loads > 0);
    all
}

#[test]
fn four_loads_are_on_their_way() {
    let mut seen = Vec::new();
    for object in built_in().unwrap() {
        let text = std::str::from_utf8(object.code).unwrap_or_default();
        for part in text.split(".entry ").skip(1) {
            let (kernel, body) = part.split_once('(').unwrap();
            if let Some(begin) = FOUR.iter().find(|begin| kernel.starts_with(*begin)) {
                let together = together(body);
                assert!(
                    !together.is_empty() && together.iter().all(|&n| n == 4),
                    "{kernel}: {together:?}"
                );
                seen.push(*begin);
            }
        }
    }
    seen.sort_unstable();
    seen.dedup();
    // A build without NVIDIA's targets has none.
    assert!(seen.is_empty() || seen == FOUR, "{seen:?}");
}

#[test]
fn a_load_behind_a_branch_is_found() {
    let four = "ld.global.v4.u32 a;\n".repeat(4);
    assert_eq!(together(&four), [4]);
    let behind = format!("{four}@%p1 bra $L__1;\nld.global.v4.u32 a;\n$L__1:\nret;");
    assert_eq!(together(&behind), [4, 1]);
}
