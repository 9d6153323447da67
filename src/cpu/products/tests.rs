//! Products and convolutions beside their plain forms.

use super::*;
use crate::cpu::Elements;
use crate::cpu::ops;
use crate::ir::Layout;

/// Numbers between −1 and 1.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The result of the fast form, by one worker and by three, and of the plain one.
pub fn both_of(
    run: fn(&Op, &[View<'_>], &mut [Out<'_>], Option<&mut ThreadPool>) -> bool,
    op: &Op,
    inputs: &[Elements],
    sizes: &[usize],
) -> (Vec<f32>, Vec<f32>) {
    let views: Vec<View<'_>> = inputs.iter().map(View::of).collect();
    let compute = |run: &mut dyn FnMut(&mut [Out<'_>])| {
        let mut bytes = vec![0u32; sizes.iter().product()];
        let out = Out::new(bytemuck::cast_slice_mut(&mut bytes), Dtype::F32, sizes);
        run(&mut [out.unwrap()]);
        bytes.into_iter().map(f32::from_bits).collect::<Vec<f32>>()
    };
    let fast = compute(&mut |out| assert!(run(op, &views, out, None)));
    let mut pool = ThreadPool::new(3);
    let pooled = compute(&mut |out| assert!(run(op, &views, out, Some(&mut pool))));
    assert_eq!(fast, pooled);
    let plain = compute(&mut |out| ops::run(op, &views, out).unwrap());
    (fast, plain)
}

fn both(op: &Op, inputs: &[Elements], sizes: &[usize]) -> (Vec<f32>, Vec<f32>) {
    both_of(run, op, inputs, sizes)
}

/// They agree; the fast one.
pub fn close((fast, plain): (Vec<f32>, Vec<f32>)) -> Vec<f32> {
    for (at, (a, b)) in fast.iter().zip(&plain).enumerate() {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{at}: {a} {b}");
    }
    fast
}

/// Random ones.
pub fn elements(sizes: &[usize], seed: u64) -> Elements {
    let count = sizes.iter().product();
    Elements::from_slice(&numbers(count, seed), Dtype::F32, sizes).unwrap()
}

#[test]
fn products_are_the_plain_ones() {
    for (m, k, n) in [
        (1, 64, 64),
        (5, 40, 33),
        (6, 1024, 1),
        (97, 100, 50),
        (200, 17, 129),
    ] {
        let (a, b) = (elements(&[m, k], 1), elements(&[k, n], 2));
        let fast = close(both(&Op::Matmul, &[a.clone(), b], &[m, n]));
        // Turned over, and every row alone.
        let turned = elements(&[n, k], 3);
        let layout = Layout {
            sizes: [k, n].into_iter().collect(),
            strides: [1, k as isize].into_iter().collect(),
            offset: 0,
        };
        let turned = turned.with(Dtype::F32, layout).unwrap();
        close(both(&Op::Matmul, &[a.clone(), turned], &[m, n]));
        let numbers = a.to_vec::<f32>();
        let row = Elements::from_slice(&numbers[(m - 1) * k..], Dtype::F32, &[1, k]).unwrap();
        let alone = both(&Op::Matmul, &[row, elements(&[k, n], 2)], &[1, n]).0;
        assert_eq!(alone, fast[(m - 1) * n..]);
    }
    let (a, b) = (elements(&[3, 7, 64], 4), elements(&[3, 64, 20], 5));
    close(both(&Op::Matmul, &[a, b], &[3, 7, 20]));
}

#[test]
fn convolutions_are_the_plain_ones() {
    use crate::ir::Conv;
    use smallvec::smallvec;
    for (stride, low, dilation, flip) in [(1, 1, 1, false), (2, 0, 1, false), (1, 2, 2, true)] {
        let conv = Conv {
            stride: smallvec![stride; 2],
            low: smallvec![low; 2],
            high: smallvec![low; 2],
            kernel_dilation: smallvec![dilation; 2],
            input_dilation: smallvec![1; 2],
            groups: 1,
            flip,
        };
        let place = |size: usize| {
            let room = size + 2 * low as usize - 2 * dilation - 1;
            room / stride + 1
        };
        let sizes = [3, place(8), place(9), 21];
        let inputs = [elements(&[3, 8, 9, 19], 6), elements(&[21, 3, 3, 19], 7)];
        close(both(&Op::Convolution(Box::new(conv)), &inputs, &sizes));
    }
}
