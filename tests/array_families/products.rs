//! Products of matrices and contractions.

use crate::goldens::{TYPES, all_used, golden as g, paired, same};
use mlxrocm::ir::Dtype;

#[test]
fn products_are_those_of_mlx() {
    for case in ["plain", "outer", "row", "column", "dot", "flat"] {
        for (name, _) in TYPES {
            let of = |part| format!("matmul.{case}.{name}/{part}");
            same(&of("out"), g(&of("a")).matmul(&g(&of("b"))));
        }
    }
    let complex = |part| paired(&format!("matmul.complex/{part}"), Dtype::C64);
    same("matmul.complex/out", complex("a").matmul(&complex("b")));
    for case in ["matrix", "bias", "row", "column", "batch"] {
        let of = |part| format!("addmm.{case}/{part}");
        let (c, a, b) = (g(&of("c")), g(&of("a")), g(&of("b")));
        same(&of("out"), c.addmm(&a, &b, 0.5, -2.0));
    }
    let (a, b) = (g("block.truth/a"), g("block.truth/b"));
    for case in ["truth", "numbers"] {
        let mask = |i| g(&format!("block.{case}/mask{i}"));
        let (out, left, right) = (mask(0), mask(1), mask(2));
        let product = a.block_masked_mm(&b, 32, Some(&out), Some(&left), Some(&right));
        same(&format!("block.{case}/out"), product);
    }
    let left = g("block.numbers/mask1");
    same(
        "block.left/out",
        a.block_masked_mm(&b, 32, None, Some(&left), None),
    );
    let (a, b) = (g("segmented_mm/a"), g("segmented_mm/b"));
    same(
        "segmented_mm/out",
        a.segmented_mm(&b, &g("segmented_mm/segments")),
    );
    let (a, b) = (g("tensordot/a"), g("tensordot/b"));
    same("tensordot/out", a.tensordot(&b, &[1, 2], &[1, 0]));
    let (a, b) = (g("kron/a"), g("kron/b"));
    same("kron/inner", a.inner(&b));
    all_used(&["matmul", "addmm", "block", "segmented_mm", "tensordot"]);
}

#[test]
fn gathered_products_are_those_of_mlx() {
    let of = |part: &str| g(&format!("gather_mm/{part}"));
    let (a, b, left, right) = (of("a"), of("b"), of("left"), of("right"));
    same("gather_mm/out", a.gather_mm(&b, Some(&left), Some(&right)));
    let zero = mlxrocm::cpu::Elements::from_slice(&[0u32], Dtype::U32, &[1]).unwrap();
    let zero = mlxrocm::array::Array::from_elements(zero);
    let first = b.take(&zero, 0).unwrap().squeeze(&[0]).unwrap();
    let order = mlxrocm::cpu::Elements::from_slice(&[1i32, 0, 1], Dtype::I32, &[3]).unwrap();
    let order = mlxrocm::array::Array::from_elements(order);
    same("gather_mm/only", a.gather_mm(&first, None, Some(&order)));
    let (a, b) = (g("kron/a"), g("kron/b"));
    same("kron/out", a.kron(&b));
    same("kron/outer", a.outer(&b));
    let row = a.take(&zero, 0).unwrap().squeeze(&[0]).unwrap();
    same("kron/line", row.kron(&b));
}
