//! Convolutions of boards by kernels of 3×3 that were prepared once (see `kernels/winograd`): windows are
//! transformed, multiplied place by place, transformed back.

use super::kernels::{
    FREQUENCIES, GEMM_COLUMNS, GemmTile, Kernels, SQUARES, TILES, WIDTH, WinogradInput,
    WinogradOutput, winograd_kernel,
};
use super::products::{WORTH_SHARING, rows_a_tile};
use super::shared::SharedSlice;
use super::threads::{ThreadPool, spread};
use crate::ir::Conv;

/// Numbers between the places of a tile: at distances of powers of two they would share a few lines of the cache.
const GAP: usize = 16;

/// The prepared kernels: `[panel][place][in][GEMM_COLUMNS]`, zeros behind the last output channel.
pub struct Winograd {
    numbers: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

impl Winograd {
    /// Of a convolution of `[batch, 8, 8, in]` by `w`, `[out, 3, 3, in]` row after row; `None` if it is another.
    pub fn prepare(conv: &Conv, x: &[usize], w_sizes: &[usize], w: &[f32]) -> Option<Winograd> {
        let (&[_, 8, 8, inputs], &[outputs, 3, 3, _]) = (x, w_sizes) else {
            return None;
        };
        let is = |numbers: &[usize]| numbers.iter().all(|&n| n == 1);
        let around = conv.low.iter().chain(&conv.high).all(|&n| n == 1);
        let plain = is(&conv.stride) && is(&conv.kernel_dilation) && is(&conv.input_dilation);
        if !around || !plain || conv.groups != 1 || conv.flip || inputs * outputs == 0 {
            return None;
        }
        let panels = outputs.div_ceil(GEMM_COLUMNS);
        let mut numbers = vec![0.0; panels * FREQUENCIES * inputs * GEMM_COLUMNS];
        for out in 0..outputs {
            let (panel, column) = (out / GEMM_COLUMNS, out % GEMM_COLUMNS);
            for input in 0..inputs {
                let tap = |at: usize| f64::from(w[(out * 9 + at) * inputs + input]);
                let taps =
                    std::array::from_fn(|row| std::array::from_fn(|column| tap(row * 3 + column)));
                for (place, number) in winograd_kernel(&taps).into_iter().enumerate() {
                    let at = (panel * FREQUENCIES + place) * inputs + input;
                    numbers[at * GEMM_COLUMNS + column] = number as f32;
                }
            }
        }
        Some(Winograd {
            numbers,
            inputs,
            outputs,
        })
    }

    /// Numbers of scratch memory for so many boards that workers share, and of each worker's own.
    pub fn scratch(&self, boards: usize) -> (usize, usize) {
        let of = |width: usize| FREQUENCIES * (TILES * boards * width + GAP);
        (of(self.inputs), of(WIDTH))
    }

    /// Boards `[8][8][in]` to `[8][8][out]`, by all workers.
    pub fn run(
        &self,
        kernels: &Kernels,
        x: &[f32],
        out: SharedSlice<'_>,
        (shared, own): (SharedSlice<'_>, &[SharedSlice<'_>]),
        pool: Option<&mut ThreadPool>,
    ) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let boards = x.len() / (SQUARES * inputs);
        let rows = boards * TILES;
        if rows == 0 {
            return;
        }
        let (of_shared, of_own) = self.scratch(boards);
        let (step, sums_step) = (rows * inputs + GAP, rows * WIDTH + GAP);
        let shared = shared.part(0..of_shared);
        let multiplications = FREQUENCIES * rows * inputs * outputs;
        let mut pool = pool.filter(|_| multiplications >= WORTH_SHARING);
        assert!(out.len() >= boards * SQUARES * outputs);
        // Place by place: [place][tile][in].
        spread(pool.as_deref_mut(), rows, &|_, row| {
            let place = shared.part(row * inputs..of_shared);
            let of = WinogradInput {
                board: &x[row / TILES * SQUARES * inputs..][..SQUARES * inputs],
                channels: inputs,
                tile: row % TILES,
                out: place.as_ptr(),
                step,
            };
            // SAFETY: the table is one that this CPU can run; each row is one worker's.
            unsafe { (kernels.winograd_input)(&of) };
        });
        // SAFETY: nobody writes it any more.
        let windows = unsafe { shared.read() };
        let of_panel = FREQUENCIES * inputs * GEMM_COLUMNS;
        let most = rows_a_tile(rows, kernels.gemm_rows[0]);
        spread(pool, outputs.div_ceil(GEMM_COLUMNS), &|worker, panel| {
            // SAFETY: this worker's own.
            let sums = unsafe { own[worker].part(0..of_own).write() };
            let numbers = &self.numbers[panel * of_panel..][..of_panel];
            let places = numbers.chunks_exact(inputs * GEMM_COLUMNS);
            let sides = windows.chunks_exact(step).zip(places);
            for ((windows, panel), sums) in sides.zip(sums.chunks_exact_mut(sums_step)) {
                for row in (0..rows).step_by(most) {
                    let tile = GemmTile {
                        rows: windows[row * inputs..].as_ptr(),
                        stride: inputs,
                        count: most.min(rows - row),
                        panel: panel.as_ptr(),
                        panels: 1,
                        inner: inputs,
                        out: sums[row * WIDTH..].as_mut_ptr(),
                        out_stride: WIDTH,
                    };
                    // SAFETY: the table is one that this CPU can run; rows that are there.
                    unsafe { (kernels.gemm_tile)(&tile) };
                }
            }
            let first = panel * WIDTH;
            for row in 0..rows {
                let board = out.part(row / TILES * SQUARES * outputs + first..out.len());
                let of = WinogradOutput {
                    sums: &sums[row * WIDTH..],
                    step: sums_step,
                    tile: row % TILES,
                    board: board.as_ptr(),
                    channels: outputs,
                    width: WIDTH.min(outputs - first),
                };
                // SAFETY: the table is one that this CPU can run; these channels are this worker's.
                unsafe { (kernels.winograd_output)(&of) };
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::kernels::kernels;
    use crate::cpu::ops::{self, Out, View};
    use crate::cpu::products::tests::elements;
    use crate::ir::{Dtype, Op};
    use smallvec::smallvec;

    fn conv(around: i64) -> Conv {
        Conv {
            stride: smallvec![1; 2],
            low: smallvec![around; 2],
            high: smallvec![around; 2],
            kernel_dilation: smallvec![1; 2],
            input_dilation: smallvec![1; 2],
            groups: 1,
            flip: false,
        }
    }

    #[test]
    fn it_is_the_plain_convolution_for_any_boards_and_workers() {
        for (boards, inputs, outputs) in [(1, 5, 1), (2, 112, 33), (7, 64, 80)] {
            let (x_sizes, w_sizes) = ([boards, 8, 8, inputs], [outputs, 3, 3, inputs]);
            let (x, w) = (elements(&x_sizes, 1), elements(&w_sizes, 2));
            let (x_numbers, w_numbers) = (x.to_vec::<f32>(), w.to_vec::<f32>());
            let count = boards * SQUARES * outputs;
            let mut plain = vec![0.0f32; count];
            let sizes = [boards, 8, 8, outputs];
            let out = Out::new(bytemuck::cast_slice_mut(&mut plain), Dtype::F32, &sizes);
            let views = [View::of(&x), View::of(&w)];
            ops::run(
                &Op::Convolution(Box::new(conv(1))),
                &views,
                &mut [out.unwrap()],
            )
            .unwrap();
            let prepared = Winograd::prepare(&conv(1), &x_sizes, &w_sizes, &w_numbers).unwrap();
            let run = |x: &[f32], mut pool: Option<&mut ThreadPool>| {
                let boards = x.len() / (SQUARES * inputs);
                let workers = pool.as_ref().map_or(1, |pool| pool.threads());
                let (shared, own) = prepared.scratch(boards);
                let mut out = vec![f32::NAN; boards * SQUARES * outputs];
                let mut shared = vec![f32::NAN; shared];
                let mut own = vec![f32::NAN; own * workers];
                let of_one = own.len() / workers;
                let own: Vec<SharedSlice<'_>> =
                    own.chunks_mut(of_one).map(SharedSlice::new).collect();
                let scratch = (SharedSlice::new(&mut shared), own.as_slice());
                let out_slice = SharedSlice::new(&mut out);
                prepared.run(kernels(), x, out_slice, scratch, pool.as_deref_mut());
                out
            };
            let alone = run(&x_numbers, None);
            for (found, exact) in alone.iter().zip(&plain) {
                assert!((found - exact).abs() <= 1e-4, "{found} {exact}");
            }
            assert_eq!(alone, run(&x_numbers, Some(&mut ThreadPool::new(3))));
            let last = run(&x_numbers[(boards - 1) * SQUARES * inputs..], None);
            assert_eq!(last, alone[(boards - 1) * SQUARES * outputs..]);
        }
    }

    #[test]
    fn other_convolutions_are_not_taken() {
        let w = vec![0.0; 9 * 4];
        let prepare = |conv: &Conv, x: [usize; 4], w_sizes: [usize; 4]| {
            Winograd::prepare(conv, &x, &w_sizes, &w).is_some()
        };
        assert!(prepare(&conv(1), [1, 8, 8, 4], [1, 3, 3, 4]));
        assert!(!prepare(&conv(0), [1, 8, 8, 4], [1, 3, 3, 4]));
        assert!(!prepare(&conv(1), [1, 8, 9, 4], [1, 3, 3, 4]));
        assert!(!prepare(&conv(1), [1, 8, 8, 4], [1, 1, 1, 4]));
        let flipped = Conv {
            flip: true,
            ..conv(1)
        };
        assert!(!prepare(&flipped, [1, 8, 8, 4], [1, 3, 3, 4]));
    }
}
