//! Codes of any number of bits to bytes, eight at a time, by a few operations on one word.

/// Eight codes of `BITS` bits one after the other, the first lowest, as eight bytes.
#[inline(always)]
pub(super) fn spread<const BITS: u32>(codes: u64) -> u64 {
    const { assert!(BITS > 0 && BITS <= 8) };
    // Halves of the codes move apart, then quarters, then each from its neighbour.
    let low = |bits: u32| (1u64 << bits) - 1;
    let apart = |codes: u64, half: u64, by: u32| codes & half | (codes & !half) << by;
    let codes = apart(codes, low(4 * BITS), 32 - 4 * BITS);
    let half = low(2 * BITS) * 0x0000_0001_0000_0001;
    let codes = apart(codes, half, 16 - 2 * BITS);
    let half = low(BITS) * 0x0001_0001_0001_0001;
    apart(codes, half, 8 - BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const BITS: u32>() {
        let codes: [u8; 8] = std::array::from_fn(|i| (i * 37 + 11) as u8);
        let mask = (1u32 << BITS) - 1;
        let codes = codes.map(|code| code & mask as u8);
        let stream = codes.iter().rev();
        let stream = stream.fold(0u64, |stream, code| stream << BITS | u64::from(*code));
        assert_eq!(spread::<BITS>(stream).to_le_bytes(), codes, "{BITS}");
    }

    #[test]
    fn codes_of_every_width() {
        check::<1>();
        check::<2>();
        check::<3>();
        check::<4>();
        check::<5>();
        check::<6>();
        check::<7>();
        check::<8>();
    }
}
