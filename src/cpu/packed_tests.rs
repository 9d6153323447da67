//! Whole tiles beside rows one by one.

use super::*;
use crate::formats::{Format, MappedFile};

/// A weight of random bytes, whose scales are no NaN.
fn random(format: Format, rows: usize, cols: usize) -> Weight {
    let mut state = rows as u64 * 7919 + cols as u64;
    let mut part = |bytes: usize| {
        let mut numbers = Vec::new();
        for _ in 0..bytes.div_ceil(4) {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            // Neither half is infinite or NaN in f16 and bf16, nor the whole in f32.
            numbers.push(f32::from_bits((state >> 32) as u32 & 0xbfff_bfff));
        }
        let made = MappedFile::made_of(std::path::Path::new("random"), &numbers).unwrap();
        made.part(0..bytes).unwrap()
    };
    let data = part(rows * format.row_bytes(cols).unwrap());
    let (scales, biases) = match format {
        Format::Affine { group, scale, .. } => {
            let bytes = rows * cols / usize::from(group) * scale.bytes();
            (Some(part(bytes)), Some(part(bytes)))
        }
        _ => (None, None),
    };
    Weight::new("random", format, rows, cols, data, scales, biases).unwrap()
}

#[test]
fn whole_tiles_are_what_rows_give() {
    let affine = |bits, group, scale| Format::Affine { bits, group, scale };
    let formats = [
        Format::Q4_0,
        Format::Q4_1,
        Format::Q8_0,
        Format::Q4K,
        Format::Q6K,
        affine(4, 64, ScalarType::BF16),
        affine(4, 32, ScalarType::F16),
        affine(8, 128, ScalarType::F32),
        affine(8, 64, ScalarType::BF16),
    ];
    for format in formats {
        for (rows, cols) in [(16, 256), (48, 1536), (37, 2304), (16, 14336)] {
            let weight = random(format, rows, cols);
            let form = format.group_form().unwrap();
            let layout = Layout::new(rows, cols, form);
            for tile in 0..rows / TILE_ROWS {
                let mut given = Buffer::new(layout.tile_bytes).unwrap();
                given.as_mut_slice().fill(0xa5);
                given.as_mut_slice()[..layout.scale_bytes].fill(0);
                let mut expected = Buffer::new(layout.tile_bytes).unwrap();
                let first = tile * TILE_ROWS;
                let (scales, codes) = given.as_mut_slice().split_at_mut(layout.scale_bytes);
                let weight = &weight;
                let whole = WholeTile {
                    weight,
                    first,
                    scales,
                    codes,
                };
                assert!(at_best(whole), "{format}");
                let (scales, codes) = expected.as_mut_slice().split_at_mut(layout.scale_bytes);
                let groups = &mut RowGroups::default();
                put_rows(weight, form, layout.blocks, first, groups, scales, codes).unwrap();
                assert!(
                    given.as_slice() == expected.as_slice(),
                    "{format} {rows}x{cols} {tile}"
                );
            }
        }
    }
}
