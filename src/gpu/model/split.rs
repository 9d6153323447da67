//! How blocks share the columns of x of a product of many rows (`hip/ops/matmul/split.h`).

use super::matmul::{BLOCK_ROWS, block_tiles, is_cdna};
use super::pack::{BLOCK, TILE_ROWS};
use crate::driver::DeviceFacts;

/// The fewest steps of a block, of [`BLOCK`] columns of x each, that are worth a block.
const FEWEST_STEPS: usize = 4;
/// What it costs that two blocks' sums meet, in steps, about (predicted: docs/amd-timing.md).
const MEETING_STEPS: usize = 5;

/// How often as many blocks with parts as run at once there may be on CDNA.
const PART_TURNS: usize = 2;

/// Blocks that run at once, as products are shared: two a compute unit.
fn places(facts: &DeviceFacts) -> usize {
    2 * facts.compute_units.max(1) as usize
}

/// Bytes of what blocks leave for others.
pub fn split_bytes(facts: &DeviceFacts) -> usize {
    most_parts(facts) * BLOCK_ROWS * block_tiles(facts) * TILE_ROWS * 4
}

/// The most blocks that have a part of the columns only.
fn most_parts(facts: &DeviceFacts) -> usize {
    match is_cdna(facts) {
        true => PART_TURNS * places(facts),
        false => places(facts),
    }
}

/// Counters of a product at most: fewer than blocks with parts.
pub fn split_counters(facts: &DeviceFacts) -> usize {
    most_parts(facts)
}

/// The grid of a product of `rows` rows with a matrix of so many tiles and columns.
pub fn split_grid(facts: &DeviceFacts, rows: usize, (tiles, cols): (usize, usize)) -> [u32; 3] {
    let across = rows.div_ceil(BLOCK_ROWS).max(1);
    let down = tiles.div_ceil(block_tiles(facts)).max(1);
    let (whole, splits) = match is_cdna(facts) {
        true => whole_and_splits(places(facts), (across, down), cols.div_ceil(BLOCK)),
        false => (0, splits(facts, across * down, cols)),
    };
    // Of `splits` columns of blocks that are whole all but one are missing along y.
    let missing = whole / splits * (splits - 1);
    [across as u32, (down - missing) as u32, splits as u32]
}

/// As many as make two blocks a compute unit.
fn splits(facts: &DeviceFacts, blocks: usize, cols: usize) -> usize {
    let by_cols = cols.div_ceil(BLOCK) / FEWEST_STEPS;
    (places(facts) / blocks).min(by_cols).max(1)
}

/// How many of the `down` columns of blocks are not split, a multiple of the other number: among how many blocks each other
/// is split, so that the last blocks to run are about as many as run at once.
fn whole_and_splits(places: usize, (across, down): (usize, usize), steps: usize) -> (usize, usize) {
    let turns = across * down / places;
    // Behind two and more the last blocks, alone in their units, are as fast whole (predicted).
    if turns > 1 {
        return (0, 1);
    }
    let unsplit = ((across * down).div_ceil(places) * steps, (0, 1));
    let cost = |splits: usize| {
        let whole = (turns * places / across).min(down) / splits * splits;
        let parts = (down - whole) * across * splits;
        let meetings = splits.next_power_of_two().trailing_zeros() as usize;
        let cost = (whole * across).div_ceil(places) * steps
            + parts.div_ceil(places) * steps.div_ceil(splits)
            + meetings * MEETING_STEPS;
        (parts > 0 && parts <= PART_TURNS * places).then_some((cost, (whole, splits)))
    };
    let split = (2..=steps / FEWEST_STEPS).filter_map(cost);
    let less = |best: (usize, _), one: (usize, _)| if one.0 < best.0 { one } else { best };
    split.fold(unsplit, less).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `own_share` of `hip/ops/matmul/block_share.h`: column of blocks, part, parts, which of those that are split.
    fn share(down: usize, [y, z]: [usize; 2], [along_y, splits]: [usize; 2]) -> [usize; 4] {
        if splits == 1 {
            return [y, 0, 1, 0];
        }
        let (whole, at) = ((down - along_y) / (splits - 1) * splits, z * along_y + y);
        match at < whole {
            true => [at, 0, 1, 0],
            false => {
                let rest = down - whole;
                let of_rest = (at - whole) % rest;
                [whole + of_rest, (at - whole) / rest, splits, of_rest]
            }
        }
    }

    #[test]
    fn each_column_of_blocks_is_made_once_and_parts_have_room() {
        for places in [208, 608] {
            for across in 1..=17 {
                for (down, steps) in [
                    (1, 1),
                    (3, 4),
                    (16, 64),
                    (24, 64),
                    (112, 64),
                    (16, 224),
                    (501, 64),
                ] {
                    let (whole, splits) = whole_and_splits(places, (across, down), steps);
                    assert!(
                        whole.is_multiple_of(splits)
                            && (splits == 1 || splits * FEWEST_STEPS <= steps)
                    );
                    let along_y = down - whole / splits * (splits - 1);
                    let mut made = vec![0; down];
                    for z in 0..splits {
                        for y in 0..along_y {
                            let [y, part, parts, block] = share(down, [y, z], [along_y, splits]);
                            assert!(part < parts && (parts == 1 || parts == splits));
                            assert!(
                                parts == 1 || (block + 1) * across * parts <= PART_TURNS * places
                            );
                            made[y] += splits / parts;
                        }
                    }
                    assert_eq!(made, vec![splits; down], "{places} {across} {down} {steps}");
                }
            }
        }
    }

    #[test]
    fn only_the_last_turn_of_gate_and_up_is_split() {
        // 1,024 rows of 28,672 x 4,096 on 304 compute units: 608 whole blocks, and 288 of two parts.
        assert_eq!(whole_and_splits(608, (8, 112), 64), (76, 2));
    }
}
