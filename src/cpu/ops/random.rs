//! Random bits: Threefry-2x32, as MLX counts it.

use super::{Out, View, input, missing, output};
use crate::ir::Op;
use crate::{Error, Result};

/// Twenty rounds of Threefry over two counters.
pub fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const TURNS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1bd1_1bda];
    let (mut a, mut b) = (
        counter[0].wrapping_add(keys[0]),
        counter[1].wrapping_add(keys[1]),
    );
    for round in 0..5 {
        for turn in TURNS[round % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(turn) ^ a;
        }
        a = a.wrapping_add(keys[(round + 1) % 3]);
        b = b
            .wrapping_add(keys[(round + 2) % 3])
            .wrapping_add(round as u32 + 1);
    }
    [a, b]
}

/// `count` words of a key: counters i and i + ⌈count / 2⌉ give words i and i + ⌈count / 2⌉.
pub fn words(key: [u32; 2], count: usize) -> Vec<u32> {
    let half = count / 2;
    let odd = count % 2;
    let mut words = vec![0; count];
    for i in 0..half {
        let [low, high] = threefry(key, [i as u32, (i + half + odd) as u32]);
        words[i] = low;
        words[i + half + odd] = high;
    }
    if odd == 1 {
        // The word in the middle has no partner.
        words[half] = threefry(key, [half as u32, 0])[0];
    }
    words
}

/// Bits of each key.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let Op::RandomBits { width } = op else {
        return Err(missing(op));
    };
    let keys = input(op, inputs, 0)?.values::<u32>();
    let out = output(op, outputs)?;
    let bytes = out.sizes().iter().product::<usize>() * width;
    let each = bytes / (keys.len() / 2).max(1);
    if each == 0 {
        return Ok(());
    }
    let out: &mut [u8] = match width {
        1 => out.values::<u8>(),
        2 => bytemuck::cast_slice_mut(out.values::<u16>()),
        4 => bytemuck::cast_slice_mut(out.values::<u32>()),
        _ => return Err(Error::Internal(format!("random bits of {width} bytes"))),
    };
    for (key, out) in keys.chunks_exact(2).zip(out.chunks_exact_mut(each)) {
        let words = words([key[0], key[1]], each.div_ceil(4));
        out.copy_from_slice(&bytemuck::cast_slice(&words)[..each]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of Random123 for 20 rounds.
    #[test]
    fn threefry_gives_its_known_answers() {
        assert_eq!(threefry([0; 2], [0; 2]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([!0; 2], [!0; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        let key = [0x1319_8a2e, 0x0370_7344];
        let counter = [0x243f_6a88, 0x85a3_08d3];
        assert_eq!(threefry(key, counter), [0xc492_3a9c, 0x483d_f7a0]);
    }
}
