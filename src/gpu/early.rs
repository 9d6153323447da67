//! Multiprocessors that a launch leaves to the one behind it, so that it can begin early (NVIDIA).
//!
//! A block of a product of few rows takes a multiprocessor's registers. Where such blocks lie on all of them, blocks of a small
//! launch behind, which could begin meanwhile (programmatic dependent launch), find no place before the first ones end, and what
//! they could prepare is waited for: attention of one sequence took 2 us a layer longer (docs/performance.md).

/// Of how many multiprocessors at most one is left.
const SHARE: u32 = 4;
/// How many blocks of the launch behind may share a multiprocessor.
const TOGETHER: u32 = 2;

/// How many blocks share out `works` equal works of a launch on `units` multiprocessors, so that `behind` blocks find room beside
/// them; `None` if they have none to leave: for so many, or where a block would have two works more than before.
pub(super) fn blocks_in_front(units: u32, works: u32, behind: u32) -> Option<u32> {
    let most = units / SHARE;
    if works < units || behind > TOGETHER * most {
        return None;
    }
    let longest = works.div_ceil(units) + 1;
    let fewest = works.div_ceil(longest).max(units - behind.min(most));
    let left = units - fewest;
    (left * TOGETHER >= behind.min(most)).then_some(fewest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_launches_find_room() {
        // q, k and v of shapes with 256, 384 and 320 tiles; a block of attention a key head, or four.
        assert_eq!(blocks_in_front(132, 256, 8), Some(124));
        assert_eq!(blocks_in_front(132, 384, 32), Some(100));
        assert_eq!(blocks_in_front(132, 320, 4), Some(128));
        // Two share a multiprocessor where there are too few.
        assert_eq!(blocks_in_front(132, 256, 64), Some(99));
    }

    #[test]
    fn nobody_waits_for_a_block_of_many_works() {
        // Logits of 151,936 tokens.
        assert_eq!(blocks_in_front(132, 9496, 32), None);
        // One of eight would be left.
        assert_eq!(blocks_in_front(132, 132 * 40, 8), None);
        for (units, works, behind) in [(132, 256, 64), (132, 700, 20), (78, 400, 9), (16, 33, 3)] {
            let blocks = blocks_in_front(units, works, behind).unwrap();
            assert!(works.div_ceil(blocks) <= works.div_ceil(units) + 1);
            assert!(blocks < units && (units - blocks) * TOGETHER >= behind.min(units / SHARE));
        }
    }

    #[test]
    fn launches_as_large_as_the_device_get_nothing() {
        assert_eq!(blocks_in_front(132, 256, 128), None);
        assert_eq!(blocks_in_front(132, 256, 67), None);
        // There is room already.
        assert_eq!(blocks_in_front(132, 64, 8), None);
        assert_eq!(blocks_in_front(2, 8, 1), None);
    }
}
