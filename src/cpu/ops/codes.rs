//! Numbers of few bits: E4M3, E2M1 and E8M0, and streams of codes, low bits first.

/// E4M3 of a number: the nearest, ties to even, at most 448; NaN becomes 448.
pub fn to_e4m3(x: f32) -> u8 {
    let sign = x.to_bits() & 0x8000_0000;
    let bits = x.to_bits() ^ sign;
    let code = if bits >= 543 << 21 {
        0x7e
    } else if bits < 121 << 23 {
        // Below 2^−6: a large number added moves the rounding to the last of the three bits.
        let magic = 141u32 << 23;
        let sum = f32::from_bits(bits) + f32::from_bits(magic);
        sum.to_bits().wrapping_sub(magic) as u8
    } else {
        let odd = (bits >> 20) & 1;
        let bias = (7u32.wrapping_sub(127) << 23).wrapping_add(0x7_ffff);
        (bits.wrapping_add(bias).wrapping_add(odd) >> 20) as u8
    };
    code | (sign >> 24) as u8
}

/// The number of an E4M3 code; 0x7f is NaN.
pub fn from_e4m3(code: u8) -> f32 {
    if code & 127 == 127 {
        return f32::NAN;
    }
    let size = half::f16::from_bits(u16::from(code & 127) << 7).to_f32() * 256.0;
    if code & 128 != 0 { -size } else { size }
}

/// The numbers of E2M1 codes.
pub const E2M1: [f32; 16] = [
    0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0,
];

/// E2M1 of a number: the nearest, ties to even codes; NaN becomes 6.
pub fn to_e2m1(x: f32) -> u8 {
    if x.is_nan() {
        return 7;
    }
    let size = x.abs();
    let code = match size {
        s if s > 5.0 => 7,
        s if s >= 3.5 => 6,
        s if s > 2.5 => 5,
        s if s >= 1.75 => 4,
        s if s > 1.25 => 3,
        s if s >= 0.75 => 2,
        s if s > 0.25 => 1,
        _ => 0,
    };
    code | u8::from(x.is_sign_negative()) << 3
}

/// E2M1 as MLX's CPU stores it: the first of the nearest codes; the first of all for NaN and infinities.
pub fn nearest_e2m1(x: f32, round: impl Fn(f32) -> f32) -> u8 {
    let distance = |code: usize| round(x - E2M1[code]).abs();
    let mut best = 0;
    for code in 1..E2M1.len() {
        if distance(code) < distance(best) {
            best = code;
        }
    }
    best as u8
}

/// E8M0 of a scale: the next power of two that is no less, as MLX 0.32.4 has it.
pub fn to_e8m0(x: f32) -> u8 {
    if !x.is_finite() {
        return 0xff;
    }
    if x < 0.0 {
        return 0;
    }
    // −∞ of 0 saturates.
    let exponent = (x.log2().ceil() as i32).clamp(-127, 127);
    (exponent + 127) as u8
}

/// The number of an E8M0 code.
pub fn from_e8m0(code: u8) -> f32 {
    2f32.powi(i32::from(code) - 127)
}

/// Appends codes of `bits` bits, low bits first, to words.
pub fn pack(codes: impl Iterator<Item = u8>, bits: usize, words: &mut [u32]) {
    for (place, code) in codes.enumerate() {
        let bit = place * bits;
        let wide = u64::from(code) << (bit % 32);
        words[bit / 32] |= wide as u32;
        if bit % 32 + bits > 32 {
            words[bit / 32 + 1] |= (wide >> 32) as u32;
        }
    }
}

/// Code `place` of a stream.
pub fn unpack(words: &[u32], bits: usize, place: usize) -> u8 {
    let bit = place * bits;
    let low = u64::from(words[bit / 32]);
    let high = words.get(bit / 32 + 1).map_or(0, |&word| u64::from(word));
    ((low | high << 32) >> (bit % 32)) as u8 & (((1u16 << bits) - 1) as u8)
}
