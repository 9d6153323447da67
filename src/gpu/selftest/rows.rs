//! The cases of the kernels on rows (`hip/ops/rows`).

use super::case::{Argument, Case, Expected, Trial, bytes_of_floats, bytes_of_words};
use super::random::Random;
use crate::driver::DeviceFacts;

/// Kernels of `hip/ops/rows`.
pub const CASES: &[Case] = &[Case {
    kernel: "mlxrocm_argmax_f32",
    trials: argmax,
}];

/// Blocks of a row.
const ARGMAX_BLOCKS: usize = crate::gpu::constants::rows_argmax::BLOCKS;

fn argmax(random: &mut Random, _: &DeviceFacts) -> Vec<Trial> {
    let trial = |(rows, columns): (usize, usize)| {
        let mut numbers = random.units(rows * columns);
        // The largest one twice: the first of them counts.
        for (row, numbers) in numbers.chunks_mut(columns).enumerate() {
            for at in [columns * (row + 1) / 4, columns - 1] {
                if let Some(number) = numbers.get_mut(at) {
                    *number = 2.0;
                }
            }
        }
        let largest = |part: &[f32]| {
            let later = |best: Option<(usize, f32)>, (at, x): (usize, &f32)| match best {
                Some((_, most)) if *x <= most => best,
                _ => Some((at, *x)),
            };
            part.iter().enumerate().fold(None, later)
        };
        let (mut tokens, mut parts) = (Vec::new(), Vec::new());
        let size = columns.div_ceil(ARGMAX_BLOCKS);
        for row in numbers.chunks(columns) {
            tokens.push(largest(row).map_or(u32::MAX, |(at, _)| at as u32));
            for part in 0..ARGMAX_BLOCKS {
                let begin = part * size;
                let inside = row.get(begin..columns.min(begin + size));
                // Value, index, whether all are finite; a block without columns has none.
                parts.extend(match inside.and_then(largest) {
                    Some((at, x)) => [x.to_bits(), (begin + at) as u32, 1],
                    None => [f32::NEG_INFINITY.to_bits(), u32::MAX, 1],
                });
            }
        }
        // Behind a row's columns lies what is no token, however large.
        const PADDING: [f32; 3] = [9.0; 3];
        let padded = numbers
            .chunks(columns)
            .flat_map(|row| row.iter().chain(&PADDING));
        let padded: Vec<f32> = padded.copied().collect();
        let output = |words: Vec<u32>| Argument::Output {
            size: words.len() * 4,
            skew: 0,
            expected: Expected::Bytes(bytes_of_words(words)),
        };
        let input = |bytes| Argument::Input { bytes, skew: 0 };
        Trial {
            label: format!("{rows} rows of {columns}"),
            grid: [rows as u32, ARGMAX_BLOCKS as u32, 1],
            block: 1024,
            shared: 0,
            args: vec![
                ("logits", input(bytes_of_floats(&padded))),
                ("tokens", output(tokens.clone())),
                ("told", output(tokens)),
                ("parts", output(parts)),
                // Counters: zeros, left zero.
                ("counters", input(vec![0; rows * 4])),
                ("cols", Argument::U32(columns as u32)),
                ("stride", Argument::U32((columns + PADDING.len()) as u32)),
            ],
        }
    };
    [(1, 5), (2, 3001)].into_iter().map(trial).collect()
}
