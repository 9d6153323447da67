//! Packed codes to 16-bit pairs, in registers.

/// Pair `J` of one plane for 16 lanes.
macro_rules! plane_pair {
    ($bits:literal, $plane:expr, $j:expr) => {{
        const PAIRS: usize = 16 / $bits;
        const MASK: i32 = ((1 << $bits) - 1) * 0x0001_0001;
        let vector = _mm512_loadu_si512($plane.add($j / PAIRS * 64).cast());
        _mm512_and_si512(
            _mm512_srli_epi32::<{ ($bits * ($j % PAIRS)) as u32 }>(vector),
            _mm512_set1_epi32(MASK),
        )
    }};
}

/// The 16-bit pairs `J` of the 16 lanes of a block.
macro_rules! code_pair {
    ($bits:expr, $block:expr, $j:expr) => {
        match $bits {
            2 => plane_pair!(2, $block, $j),
            3 => _mm512_or_si512(
                plane_pair!(2, $block, $j),
                _mm512_slli_epi32::<2>(plane_pair!(1, $block.add(128), $j)),
            ),
            4 => plane_pair!(4, $block, $j),
            5 => _mm512_or_si512(
                plane_pair!(4, $block, $j),
                _mm512_slli_epi32::<4>(plane_pair!(1, $block.add(256), $j)),
            ),
            6 => _mm512_or_si512(
                plane_pair!(4, $block, $j),
                _mm512_slli_epi32::<4>(plane_pair!(2, $block.add(256), $j)),
            ),
            _ => plane_pair!(8, $block, $j),
        }
    };
}
