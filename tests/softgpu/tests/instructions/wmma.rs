//! WMMA of RDNA 3 and 4 (manuals: "Wave Matrix Multiply Accumulate").

use crate::convert::Small;
use crate::harness::{Case, generation};
use crate::matrix::{Element, Layout, Sum};

/// RDNA 3: each lane of both halves of the wave holds a whole row.
fn wmma11_factor(
    _: &Layout,
    _: usize,
    row: usize,
    k: usize,
    bits: u32,
) -> (usize, u32, Vec<usize>) {
    let in_word = (32 / bits) as usize;
    (
        k / in_word,
        (k % in_word) as u32 * bits,
        vec![row, row + 16],
    )
}

fn wmma11_result(_: &Layout, _: usize, row: usize, column: usize) -> (usize, u32, usize) {
    (row / 2, 0, column + 16 * (row % 2))
}

/// 16-bit results in the high halves.
fn wmma11_result_high(_: &Layout, _: usize, row: usize, column: usize) -> (usize, u32, usize) {
    (row / 2, 16, column + 16 * (row % 2))
}

/// RDNA 4: the halves of the wave hold the halves of k, and rows 0 to 7 and 8 to 15 of the results.
fn wmma12_factor(
    p: &Layout,
    _: usize,
    row: usize,
    k: usize,
    bits: u32,
) -> (usize, u32, Vec<usize>) {
    let (half, j, in_word) = (k / (p.k / 2), k % (p.k / 2), (32 / bits) as usize);
    (
        j / in_word,
        (j % in_word) as u32 * bits,
        vec![row + 16 * half],
    )
}

fn wmma12_result(p: &Layout, _: usize, row: usize, column: usize) -> (usize, u32, usize) {
    let (half, i) = (row / 8, row % 8);
    let lane = column + 16 * half;
    if p.result_bits() == 16 {
        (i / 2, 16 * (i as u32 % 2), lane)
    } else {
        (i, 0, lane)
    }
}

fn wmma(cases: &mut Vec<Case>) {
    let eight = |name: &str| Element::Eight(Small::new(name == "bf8", false));
    let mut all: Vec<(String, usize, [Element; 2], Sum, String, bool)> = Vec::new();
    for (name, e, sum) in [
        ("f32_16x16x16_f16", Element::F16, Sum::F32),
        ("f32_16x16x16_bf16", Element::Bf16, Sum::F32),
        ("f16_16x16x16_f16", Element::F16, Sum::F16),
        ("bf16_16x16x16_bf16", Element::Bf16, Sum::Bf16),
    ] {
        all.push((name.into(), 16, [e, e], sum, String::new(), false));
    }
    for (name, k, bits) in [
        ("i32_16x16x16_iu8", 16, 8),
        ("i32_16x16x16_iu4", 16, 4),
        ("i32_16x16x32_iu4", 32, 4),
    ] {
        for (sa, sb) in [(false, false), (true, false), (false, true), (true, true)] {
            for clamp in [false, true] {
                let tail = format!(
                    " neg_lo:[{},{},0]{}",
                    u8::from(sa),
                    u8::from(sb),
                    if clamp { " clamp" } else { "" }
                );
                let elements = [Element::Int(bits, sa), Element::Int(bits, sb)];
                all.push((name.into(), k, elements, Sum::I32, tail, clamp));
            }
        }
    }
    for a in ["fp8", "bf8"] {
        for b in ["fp8", "bf8"] {
            let name = format!("f32_16x16x16_{a}_{b}");
            all.push((
                name,
                16,
                [eight(a), eight(b)],
                Sum::F32,
                String::new(),
                false,
            ));
        }
    }
    for (name, k, [a, b], sum, tail, clamp) in all {
        for twelve in [false, true] {
            let only_twelve = matches!(a, Element::Eight(_)) || k == 32;
            if only_twelve && !twelve {
                continue;
            }
            let narrow = matches!(sum, Sum::F16 | Sum::Bf16);
            let dwords = k as u32 * a.bits() / 32 / if twelve { 2 } else { 1 };
            let factor = |r: u32| {
                if dwords == 1 {
                    format!("v{r}")
                } else {
                    format!("v[{r}:{}]", r + dwords - 1)
                }
            };
            let results = if narrow && twelve { 4 } else { 8 };
            let operands = format!(
                "v[0:{}], {}, {}, v[24:{}]",
                results - 1,
                factor(8),
                factor(16),
                23 + results
            );
            let highs = if narrow && !twelve {
                vec![false, true]
            } else {
                vec![false]
            };
            for high in highs {
                let select = if high { " op_sel:[0,0,1]" } else { "" };
                let layout = Layout {
                    n: 16,
                    k,
                    blocks: 1,
                    a,
                    b,
                    sum,
                    factor: if twelve { wmma12_factor } else { wmma11_factor },
                    result: match (twelve, high) {
                        (true, _) => wmma12_result,
                        (_, true) => wmma11_result_high,
                        _ => wmma11_result,
                    },
                    clamp,
                };
                let on: fn(&str) -> bool = if twelve {
                    |t| generation(t) == 12
                } else {
                    |t| generation(t) == 11
                };
                cases.push(layout.case(
                    format!("v_wmma_{name} {operands}{tail}{select}"),
                    [0, 8, 16, 24],
                    40,
                    on,
                ));
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    wmma(&mut cases);
    cases
}
