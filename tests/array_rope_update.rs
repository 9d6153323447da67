//! What a step of one token does with q, k and v in graphs that come again: rotations of q and k, k and v in place of their
//! rows of keys and values, and attention over these, become one launch, with the same bits as operation by operation.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::array::{Array, Home, eval, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, joined_counts, use_chains};
use mlxrocm::ir::{Binary, Dtype, Number, Rope};
use prng::Prng;

struct Case {
    heads: usize,
    kv_heads: usize,
    rows: usize,
    columns: usize,
    v_columns: usize,
    room: usize,
    dims: usize,
    traditional: bool,
    dtype: Dtype,
    /// Where the rows begin.
    starts: &'static [i64],
    attention: Option<Attention>,
    /// How many operations a kernel takes at once; 0: none does.
    joined: u64,
}

#[derive(Clone, Copy)]
struct Attention {
    mask: Mask,
    sinks: bool,
    causal: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Mask {
    None,
    Truth,
    Addend,
}

fn there(random: &mut Prng, home: &Home, dtype: Dtype, sizes: &[usize]) -> Array {
    let count = sizes.iter().product();
    let numbers: Vec<f32> = (0..count).map(|_| random.normal() as f32).collect();
    let array = Elements::from_slice(&numbers, Dtype::F32, sizes).unwrap();
    let array = Array::from_elements(array).astype(dtype).at(home);
    eval(std::slice::from_ref(&array)).unwrap();
    array
}

fn bits(array: &Array) -> Vec<u32> {
    let numbers: Vec<f32> = array.astype(Dtype::F32).read().unwrap().to_vec();
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Of q, k and v [tokens, heads · columns] each, caches, what is added to scores and sinks: what steps leave.
fn steps(
    case: &Case,
    home: &Home,
    of: &[[Array; 3]],
    caches: [&Array; 2],
    [mask, sinks]: [&Array; 2],
) -> Vec<Vec<u32>> {
    let rope = Rope {
        dims: case.dims,
        traditional: case.traditional,
        base: Some(Number::new(10_000.0)),
        scale: Number::new(0.5),
    };
    // Copies, which nobody else holds.
    let [mut keys, mut values] = caches.map(|cache| cache.times(cache).unwrap());
    eval(&[keys.clone(), values.clone()]).unwrap();
    let mut all = Vec::new();
    for (turn, start) in case.starts.iter().enumerate() {
        let start = Elements::from_slice(&[*start], Dtype::I64, &[1]).unwrap();
        let start = Array::from_elements(start).at(home);
        let heads = [case.heads, case.kv_heads, case.kv_heads];
        let columns = [case.columns, case.columns, case.v_columns];
        let mut made = Vec::new();
        for (number, x) in of[turn % of.len()].iter().enumerate() {
            // Something that makes it, so that it is no leaf.
            let x = x.plus(x).unwrap();
            let sizes = [1, case.rows, heads[number], columns[number]].map(|size| size as i64);
            let x = x.reshape_to(&sizes).unwrap();
            let x = x.transpose(&[0, 2, 1, 3]).unwrap();
            made.push(match number {
                2 => x,
                _ => x.rope(rope, &start, None).unwrap(),
            });
        }
        keys = keys.dynamic_slice_update(&made[1], &start, &[2]).unwrap();
        values = values.dynamic_slice_update(&made[2], &start, &[2]).unwrap();
        let q = made.swap_remove(0);
        drop(made);
        let q = match case.attention {
            None => q,
            Some(attention) => {
                let mask = match attention.mask {
                    Mask::None => None,
                    Mask::Addend => Some(mask.clone()),
                    Mask::Truth => Some(
                        mask.binary(Binary::Less, &mask.times(mask).unwrap())
                            .unwrap(),
                    ),
                };
                let sinks = attention.sinks.then_some(sinks);
                let causal = attention.causal;
                let made = q.scaled_dot_product_attention(
                    &keys,
                    &values,
                    0.3,
                    causal,
                    mask.as_ref(),
                    sinks,
                );
                // Who holds it needs it by itself.
                drop(q);
                made.unwrap()
            }
        };
        // Who reads all of them.
        let sum = keys.plus(&keys).unwrap();
        let results = [q, sum, keys.clone(), values.clone()];
        eval(&results).unwrap();
        let [q, sum, ..] = results;
        all.extend([bits(&q), bits(&sum)]);
    }
    all.extend([bits(&keys), bits(&values)]);
    all
}

#[test]
fn rotations_and_replaced_rows_at_once_have_the_bits_of_single_ones() {
    use_chains(Chains::Off);
    if gpu::is_real() {
        return check(gpu::gpu());
    }
    // One of them a day; all with MLXROCM_TEST_ALL=1.
    for target in gpu::by_turns(&[
        "gfx1151", "gfx90a", "gfx1201", "gfx942", "gfx1103", "gfx1030", "gfx1100", "gfx1150",
        "gfx1200",
    ]) {
        println!("{target}");
        check(gpu::soft(&format!("devices={target};vram_mib=512")));
    }
}

/// On a GPU's first device.
fn check(gpu: gpu::Gpu) {
    let device = Device::open(0).unwrap();
    let home = Home::of(&device).unwrap();
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut random = Prng::new(seed);
    let case = |(heads, kv_heads, rows), (columns, v_columns, dims), traditional, dtype| Case {
        heads,
        kv_heads,
        rows,
        columns,
        v_columns,
        room: 24,
        dims,
        traditional,
        dtype,
        starts: &[0, 1, 5, 23, 40, -2],
        attention: None,
        joined: if rows == 1 { 4 } else { 0 },
    };
    let attends = |mask, sinks, causal, room, joined, case: Case| Case {
        attention: Some(Attention {
            mask,
            sinks,
            causal,
        }),
        room,
        joined,
        starts: &[0, 63, 64, 23, 400, -2],
        ..case
    };
    use Dtype::{Bf16, F16, F32};
    let mut cases = vec![
        case((32, 8, 1), (128, 128, 128), false, F32),
        case((9, 3, 1), (64, 64, 64), true, F32),
        case((3, 1, 1), (80, 40, 32), false, F16),
        case((4, 4, 1), (96, 32, 64), true, Bf16),
        case((40, 1, 1), (16, 512, 8), false, F32),
        // Rows of several tokens lie head after head only once they were copied.
        case((4, 2, 3), (64, 64, 64), false, F32),
    ];
    // Pairs that 16 bytes do not hold.
    cases.push(Case {
        joined: 0,
        ..case((4, 2, 1), (20, 20, 12), false, F32)
    });
    use Mask::{Addend, None as NoMask, Truth};
    cases.extend([
        attends(
            Truth,
            false,
            false,
            300,
            5,
            case((32, 8, 1), (128, 128, 128), false, F32),
        ),
        attends(
            NoMask,
            true,
            true,
            150,
            5,
            case((9, 1, 1), (64, 64, 64), true, F32),
        ),
        attends(
            Addend,
            false,
            false,
            77,
            5,
            case((10, 2, 1), (80, 80, 32), false, F16),
        ),
        attends(
            Truth,
            true,
            false,
            65,
            5,
            case((4, 4, 1), (96, 96, 64), true, Bf16),
        ),
        attends(
            Addend,
            true,
            false,
            300,
            5,
            case((5, 1, 1), (128, 128, 48), false, Bf16),
        ),
        attends(
            NoMask,
            false,
            false,
            24,
            5,
            case((8, 2, 1), (16, 16, 8), true, F16),
        ),
        // Attention of wide heads comes behind; values that are not as wide as keys.
        attends(
            Truth,
            false,
            false,
            70,
            4,
            case((4, 2, 1), (256, 256, 128), false, F32),
        ),
        attends(
            NoMask,
            true,
            false,
            70,
            4,
            case((4, 2, 1), (64, 32, 64), false, Bf16),
        ),
        attends(
            NoMask,
            false,
            true,
            70,
            0,
            case((4, 2, 3), (64, 64, 64), false, F32),
        ),
    ]);
    for (number, case) in cases.iter().enumerate() {
        let row = |random: &mut Prng, heads: usize, columns: usize| {
            there(random, &home, case.dtype, &[case.rows, heads * columns])
        };
        let of: Vec<[Array; 3]> = (0..2)
            .map(|_| {
                [
                    row(&mut random, case.heads, case.columns),
                    row(&mut random, case.kv_heads, case.columns),
                    row(&mut random, case.kv_heads, case.v_columns),
                ]
            })
            .collect();
        let caches = [case.columns, case.v_columns].map(|columns| {
            let sizes = [1, case.kv_heads, case.room, columns];
            there(&mut random, &home, case.dtype, &sizes)
        });
        let caches = [&caches[0], &caches[1]];
        let mask = there(
            &mut random,
            &home,
            case.dtype,
            &[1, 1, case.rows, case.room],
        );
        let sinks = there(&mut random, &home, case.dtype, &[case.heads]);
        let beside = [&mask, &sinks];
        use_plans(false);
        let expected = steps(case, &home, &of, caches, beside);
        use_plans(true);
        let before = joined_counts();
        for time in 0..3 {
            let found = steps(case, &home, &of, caches, beside);
            assert!(found == expected, "case {number}, time {time}");
        }
        let after = joined_counts();
        let (launches, operations) = (after.0 - before.0, after.1 - before.1);
        assert_eq!(launches > 0, case.joined > 0, "case {number}");
        assert_eq!(operations, launches * case.joined, "case {number}");
    }
    drop((device, home));
    gpu.clean();
}
