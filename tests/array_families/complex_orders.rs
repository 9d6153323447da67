//! Sorts, searches, running totals, softmax and meeting updates of complex numbers on a GPU beside the CPU's plain forms.

use crate::forms::{both, random_seed, within};
use crate::prng::Prng;
use mlxrocm::Result;
use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, Scan, ScatterReduce, Shape};

fn complex(sizes: &[usize], mut part: impl FnMut() -> f32) -> Array {
    let count = 2 * sizes.iter().product::<usize>();
    let values: Vec<f32> = (0..count).map(|_| part()).collect();
    let pairs: &[[f32; 2]] = bytemuck::cast_slice(&values);
    Array::from_elements(Elements::from_slice(pairs, Dtype::C64, sizes).unwrap())
}

/// Many ties, both zeros, infinities and NaN.
fn mixed(random: &mut Prng, sizes: &[usize]) -> Array {
    complex(sizes, || match random.below(24) {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2 => -0.0,
        3 => 0.0,
        4 => [f32::NAN, -f32::NAN, 1.0, 2.0][random.below(4) as usize],
        5..20 => random.uniform(-2.0, 2.0).round() as f32,
        _ => random.normal() as f32,
    })
}

/// As they lie, with rows and columns turned round, or every other one.
fn lying(random: &mut Prng, x: &Array) -> Array {
    match random.below(3) {
        0 => x.clone(),
        1 => x.contiguous().transpose(&[1, 0, 2]).unwrap(),
        _ => {
            let stop: Vec<i64> = x
                .shape()
                .numbers()
                .unwrap()
                .iter()
                .map(|&n| n as i64)
                .collect();
            x.slice(&[0, 0, 0], &stop, &[1, 2, 1]).unwrap()
        }
    }
}

/// Parts side by side, as real numbers.
fn parts(x: Result<Array>) -> Result<Array> {
    x?.contiguous().view(Dtype::F32)
}

#[test]
fn complex_numbers_are_sorted_and_found_as_on_the_cpu() {
    let mut random = Prng::new(random_seed());
    let sizes = [
        [1, 1, 1],
        [3, 7, 2],
        [2, 255, 1],
        [1, 2048, 2],
        [2, 2049, 1],
        [1, 9000, 1],
        [2, 0, 3],
    ];
    for sizes in sizes {
        let x = mixed(&mut random, &sizes);
        let x = lying(&mut random, &x);
        let count = x.shape().numbers().unwrap()[1] as i64;
        let exactly = |_: Dtype| 0.0;
        for axis in [Some(1), Some(-1), None] {
            let what = format!("{sizes:?} along {axis:?}");
            let x = [x.clone()];
            within(&format!("sorted {what}"), &x, exactly, |x| {
                parts(x[0].sort(axis))
            });
            within(&format!("places {what}"), &x, exactly, |x| {
                x[0].argsort(axis)
            });
        }
        if count > 2 {
            let x = [x.clone()];
            within(&format!("topk {sizes:?}"), &x, exactly, |x| {
                parts(x[0].topk(2, Some(1))?.sort(Some(1)))
            });
        }
        let sorted = mixed(&mut random, &[sizes[1]]).sort(None).unwrap();
        for right in [false, true] {
            let inputs = [sorted.clone(), x.clone()];
            within(
                &format!("search {sizes:?} {right}"),
                &inputs,
                exactly,
                |x| x[0].searchsorted(&x[1], right),
            );
        }
    }
}

/// Of sizes near 1 and any angle.
fn turning(random: &mut Prng, sizes: &[usize]) -> Array {
    let mut next = None;
    complex(sizes, || match next.take() {
        Some(imaginary) => imaginary,
        None => {
            let (size, angle) = (random.uniform(0.95, 1.05), random.uniform(-3.1, 3.1));
            next = Some((size * angle.sin()) as f32);
            (size * angle.cos()) as f32
        }
    })
}

#[test]
fn running_totals_of_complex_numbers_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for sizes in [
        [1, 1, 1],
        [3, 7, 2],
        [2, 256, 1],
        [1, 257, 3],
        [2, 1300, 1],
        [1, 0, 2],
    ] {
        for (reverse, inclusive) in [(false, true), (true, true), (false, false), (true, false)] {
            let how = format!("{sizes:?} {reverse} {inclusive}");
            let mixed = mixed(&mut random, &sizes);
            let turning = turning(&mut random, &sizes);
            // Many turns, and where all is as large as one term.
            let wound = complex(&sizes, || random.uniform(-30.0, 30.0) as f32);
            let even = complex(&sizes, || random.uniform(-4.0, 4.0) as f32);
            for (kind, x, room) in [
                (Scan::Min, &mixed, 0.0),
                (Scan::Max, &mixed, 0.0),
                // The CPU rounds at every step.
                (Scan::Sum, &even, 1e-3),
                (Scan::Prod, &turning, 1e-3),
                // Sums that nearly cancel have few digits.
                (Scan::LogAddExp, &wound, 1e-3),
                (Scan::LogAddExp, &even, 1e-3),
            ] {
                let x = [lying(&mut random, x)];
                within(
                    &format!("{kind:?} {how}"),
                    &x,
                    |_| room,
                    |x| parts(x[0].scan(kind, Some(1), reverse, inclusive)),
                );
            }
        }
    }
    // Infinities and NaN.
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    for special in [
        [
            [-inf, 1.0],
            [-inf, 3.0],
            [-inf, 2.0],
            [0.5, 9.0],
            [-inf, 0.0],
        ],
        [[1.0, 2.0], [inf, 2.0], [inf, 5.0], [3.0, 9.0], [inf, -1.0]],
        [[0.0, 0.0], [0.0, 7.0], [1.0, 100.0], [nan, 0.0], [inf, 1.0]],
        [[0.0, 7.0], [0.0, 0.0], [0.0, 50.0], [1.0, nan], [2.0, 1.0]],
    ] {
        let x = Elements::from_slice(&special, Dtype::C64, &[5]).unwrap();
        for inclusive in [false, true] {
            let what = format!("{special:?} {inclusive}");
            both(&what, &[Array::from_elements(x.clone())], |x| {
                parts(x[0].scan(Scan::LogAddExp, Some(0), false, inclusive))
            });
        }
    }
}

#[test]
fn softmax_and_meeting_updates_of_complex_numbers_are_those_of_the_cpu() {
    let mut random = Prng::new(random_seed());
    for sizes in [[1, 1, 1], [3, 7, 2], [2, 300, 1], [1, 5, 700], [2, 0, 3]] {
        // One is much larger, so that no sum is near 0.
        let mut count = 0;
        let x = complex(&sizes, || {
            count += 1;
            let first = if count % 9 == 1 { 6.0 } else { 0.0 };
            (first + random.uniform(-2.0, 2.0)) as f32
        });
        for axes in [&[1][..], &[-1], &[0, 1]] {
            let x = [lying(&mut random, &x)];
            let what = format!("softmax {sizes:?} {axes:?}");
            within(
                &what,
                &x,
                |_| 1e-4,
                |x| parts(x[0].softmax(Some(axes), false)),
            );
        }
    }
    let special = mixed(&mut random, &[40, 6, 1]);
    both("softmax of specials", std::slice::from_ref(&special), |x| {
        parts(x[0].softmax(Some(&[1]), true))
    });
    for reduce in [
        ScatterReduce::Sum,
        ScatterReduce::Prod,
        ScatterReduce::Max,
        ScatterReduce::Min,
    ] {
        let x = turning(&mut random, &[9, 4, 3]);
        let x = lying(&mut random, &x);
        let numbers = x.shape().numbers().unwrap();
        let updates = turning(&mut random, &[11, 1, numbers[1], numbers[2]]);
        let places: Vec<i32> = (0..11).map(|_| random.below(4) as i32 - 1).collect();
        let places = Elements::from_slice(&places, Dtype::I32, &[11]).unwrap();
        let inputs = [x.clone(), Array::from_elements(places), updates];
        both(&format!("scatter {reduce:?}"), &inputs, |x| {
            parts(x[0].scatter(&x[1..2], &x[2], &[0], reduce))
        });
        let update = turning(&mut random, &[numbers[0], 1, 3]);
        let ends = [numbers[0] as i64, 2, 3];
        both(&format!("slice {reduce:?}"), &[x, update], |x| {
            parts(x[0].slice_update(&x[1], (&[0, 1, 0], &ends, &[1, 1, 1]), reduce))
        });
        let (x, update) = (mixed(&mut random, &[30]), mixed(&mut random, &[30]));
        if matches!(reduce, ScatterReduce::Max | ScatterReduce::Min) {
            within(
                &format!("slice of specials {reduce:?}"),
                &[x, update],
                |_| 0.0,
                |x| parts(x[0].slice_update(&x[1], (&[0], &[30], &[1]), reduce)),
            );
        }
    }
}

#[test]
fn a_row_everywhere_is_made_on_the_gpu() {
    let mut random = Prng::new(random_seed());
    let row = mixed(&mut random, &[5]);
    let shape = Shape::new([3, 5]);
    both("full", std::slice::from_ref(&row), |x| {
        parts(Array::full(shape.clone(), &x[0], Dtype::C64))
    });
}
