//! Rows, reductions, orders, places.

use super::*;

#[test]
fn rows_and_reductions() {
    let mut numbers = Numbers(11);
    let shapes: [&[usize]; 6] = [
        &[5],
        &[3, 300],
        &[300, 3],
        &[6, 70, 5],
        &[2, 3, 1100],
        &[5, 40000],
    ];
    for sizes in shapes {
        for (place, dtype) in FLOATS.into_iter().enumerate() {
            for special in [false, true] {
                let x = numbers.array(dtype, sizes, special && place == 0);
                let x = numbers.laid(&x);
                let rank = sizes.len();
                let sets: Vec<SmallVec<[usize; 4]>> = match rank {
                    3 => vec![
                        smallvec![0],
                        smallvec![1],
                        smallvec![2],
                        smallvec![0, 2],
                        smallvec![0, 1, 2],
                    ],
                    2 => vec![smallvec![0], smallvec![1], smallvec![0, 1]],
                    _ => vec![smallvec![0]],
                };
                for axes in sets {
                    let left: Vec<usize> = (0..rank)
                        .filter(|a| !axes.contains(a))
                        .map(|a| sizes[a])
                        .collect();
                    for kind in [Reduce::Sum, Reduce::Min, Reduce::Max, Reduce::LogSumExp] {
                        let op = Op::Reduce(kind, axes.clone());
                        check(&op, std::slice::from_ref(&x), (dtype, &left), 1.0, true);
                    }
                    if axes.len() == 1 {
                        for kind in [ArgReduce::Min, ArgReduce::Max] {
                            let op = Op::ArgReduce(kind, axes[0]);
                            check(
                                &op,
                                std::slice::from_ref(&x),
                                (Dtype::U32, &left),
                                0.0,
                                false,
                            );
                        }
                    }
                }
                let width = sizes[rank - 1];
                check(
                    &Op::Softmax { precise: true },
                    std::slice::from_ref(&x),
                    (dtype, sizes),
                    2.0,
                    false,
                );
                let weight = numbers.array(dtype, &[width], false);
                let bias = numbers.array(dtype, &[width], false);
                let eps = Number::new(1e-5);
                let norm = [x.clone(), weight.clone()];
                check(&Op::RmsNorm(eps), &norm, (dtype, sizes), 4.0, false);
                let op = Op::LayerNorm {
                    eps,
                    weight: true,
                    bias: true,
                };
                check(&op, &[x.clone(), weight, bias], (dtype, sizes), 4.0, true);
            }
        }
    }
}

#[test]
fn orders_and_totals() {
    let mut numbers = Numbers(13);
    let shapes: [&[usize]; 5] = [&[5], &[3, 300], &[70, 6], &[2, 100, 3], &[1, 40000]];
    for sizes in shapes {
        for dtype in [
            Dtype::F32,
            Dtype::F16,
            Dtype::Bf16,
            Dtype::I32,
            Dtype::U8,
            Dtype::I16,
        ] {
            let x = numbers.array(dtype, sizes, true);
            let x = numbers.laid(&x);
            for axis in 0..sizes.len() {
                check(
                    &Op::Sort(axis),
                    std::slice::from_ref(&x),
                    (dtype, sizes),
                    0.0,
                    false,
                );
                check(
                    &Op::ArgSort(axis),
                    std::slice::from_ref(&x),
                    (Dtype::U32, sizes),
                    0.0,
                    false,
                );
            }
        }
        for dtype in [Dtype::F32, Dtype::I32] {
            let x = numbers.array(dtype, sizes, false);
            let x = numbers.laid(&x);
            for (reverse, inclusive) in [(false, true), (true, false)] {
                for axis in 0..sizes.len() {
                    let op = Op::Scan {
                        kind: Scan::Sum,
                        axis,
                        reverse,
                        inclusive,
                    };
                    check(&op, std::slice::from_ref(&x), (dtype, sizes), 0.0, false);
                }
            }
        }
    }
}

#[test]
fn places() {
    let mut numbers = Numbers(17);
    for dtype in [Dtype::F32, Dtype::F16, Dtype::U8, Dtype::I64] {
        let x = numbers.array(dtype, &[20, 7, 30], false);
        let index = |numbers: &mut Numbers, limit: i32, sizes: &[usize]| {
            let count: usize = sizes.iter().product();
            let index: Vec<i32> = (0..count)
                .map(|_| (numbers.next() % (2 * limit as u64)) as i32 - limit)
                .collect();
            Elements::from_slice(&index, Dtype::I32, sizes).unwrap()
        };
        let rows = index(&mut numbers, 20, &[9]);
        let gather = |sizes: [usize; 3]| Op::Gather {
            axes: smallvec![0],
            sizes: sizes.into_iter().collect(),
        };
        check(
            &gather([1, 7, 30]),
            &[x.clone(), rows.clone()],
            (dtype, &[9, 1, 7, 30]),
            0.0,
            false,
        );
        let some = index(&mut numbers, 7, &[9]);
        let op = Op::Gather {
            axes: smallvec![1],
            sizes: smallvec![20, 1, 13],
        };
        check(
            &op,
            &[x.clone(), some],
            (dtype, &[9, 20, 1, 13]),
            0.0,
            false,
        );
        for (axis, sizes) in [(0, [5, 7, 30]), (1, [20, 3, 30]), (2, [20, 7, 40])] {
            let along = index(&mut numbers, [20, 7, 30][axis], &sizes);
            check(
                &Op::GatherAxis(axis),
                &[x.clone(), along],
                (dtype, &sizes),
                0.0,
                false,
            );
        }
        let updates = numbers.array(dtype, &[9, 1, 7, 30], false);
        let op = Op::Scatter(smallvec![0], ScatterReduce::None);
        let inputs = [numbers.laid(&x), rows.clone(), updates.clone()];
        check(&op, &inputs, (dtype, &[20, 7, 30]), 0.0, false);
        if matches!(dtype, Dtype::F32 | Dtype::F16) {
            let op = Op::Scatter(smallvec![0], ScatterReduce::Sum);
            check(&op, &inputs, (dtype, &[20, 7, 30]), 0.0, false);
        }
        let y = numbers.array(dtype, &[20, 4, 30], false);
        let inputs = [numbers.laid(&x), numbers.laid(&y)];
        check(
            &Op::Concatenate(1),
            &inputs,
            (dtype, &[20, 11, 30]),
            0.0,
            false,
        );
    }
}
