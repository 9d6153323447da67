//! The values that instructions are tried with.

use crate::numbers::{BF16, F16, Random, d, f, h};

/// What a register holds, which decides the values tried and how results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    U32,
    F32,
    /// 16 bits, with anything above.
    U16,
    F16,
    /// Two 16-bit halves.
    P16,
    PF16,
    PBf16,
    U64,
    F64,
    /// Two f32.
    PF32,
}

const EDGES_U32: [u32; 38] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    23,
    24,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x5555_5555,
    0xaaaa_aaaa,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_8000,
    0xffff_fffe,
    0xffff_ffff,
    0x0d0c_0504,
];

const EDGES_F32: [f32; 40] = [
    0.0,
    1.0,
    0.5,
    1.5,
    2.5,
    3.5,
    0.25,
    0.499_999_97,
    0.999_999_94,
    1.000_000_1,
    127.5,
    255.4,
    255.5,
    256.0,
    32767.5,
    32768.0,
    65504.0,
    65519.99,
    65520.0,
    65535.5,
    65536.0,
    8_388_607.5,
    8_388_609.0,
    2_147_483_520.0,
    2_147_483_648.0,
    4_294_967_040.0,
    4_294_967_296.0,
    1e10,
    f32::MAX,
    f32::INFINITY,
    f32::MIN_POSITIVE,
    1e-45,
    1.175_494_2e-38,
    1e-40,
    5.960_464_5e-8,
    2.980_232_2e-8,
    6.103_515_6e-5,
    6.097e-5,
    std::f32::consts::PI,
    100.3,
];

const EDGES_F16: [u16; 34] = [
    0x0000, 0x0001, 0x0002, 0x0200, 0x03ff, 0x0400, 0x0401, 0x1400, 0x2e66, 0x3400, 0x3555, 0x37ff,
    0x3800, 0x3801, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4000, 0x4100, 0x4248, 0x4900, 0x57f8, 0x5bf8,
    0x5c00, 0x63ff, 0x6400, 0x6401, 0x7700, 0x77ff, 0x7800, 0x7bff, 0x7c00, 0x7e00,
];

const EDGES_F64: [f64; 32] = [
    0.0,
    1.0,
    0.5,
    1.5,
    2.5,
    3.5,
    0.25,
    1.000_000_000_000_000_2,
    0.999_999_999_999_999_9,
    255.5,
    2_147_483_647.0,
    2_147_483_647.5,
    2_147_483_648.0,
    4_294_967_295.0,
    4_294_967_295.9,
    4_294_967_296.0,
    4_503_599_627_370_495.5,
    9_007_199_254_740_993.0,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    5e-324,
    2.225_073_858_507_201e-308,
    1e-310,
    3.402_823_6e38,
    1e-45,
    1.175_494_35e-38,
    1.0 / 3.0,
    std::f64::consts::PI,
    100.3,
];

const EDGES_U64: [u64; 16] = [
    0,
    1,
    2,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_0000_0000,
    0xffff_ffff_ffff_fffe,
    u64::MAX,
    0x5555_5555_5555_5555,
    0xf0f0_0000_0000_0f0f,
    0x0001_0000_0000_0000,
];

/// Number of edge values (floats also with the sign set).
pub fn edges(kind: Kind) -> usize {
    match kind {
        Kind::U32 => EDGES_U32.len(),
        Kind::F32 | Kind::PF32 => 2 * EDGES_F32.len() + 1,
        Kind::U16 | Kind::P16 => EDGES_U32.len(),
        Kind::F16 | Kind::PF16 => 2 * EDGES_F16.len(),
        Kind::PBf16 => EDGES_F32.len(),
        Kind::U64 => EDGES_U64.len(),
        Kind::F64 => 2 * EDGES_F64.len(),
    }
}

fn signed(negative: bool, v: f32) -> u32 {
    (if negative { -v } else { v }).to_bits()
}

/// Edge value `i` (NaNs are quiet).
pub fn edge(kind: Kind, i: usize, random: &mut Random) -> u64 {
    match kind {
        Kind::U32 => u64::from(EDGES_U32[i]),
        Kind::F32 if i == 2 * EDGES_F32.len() => u64::from(f32::NAN.to_bits()),
        Kind::F32 => u64::from(signed(i % 2 == 1, EDGES_F32[i / 2])),
        Kind::U16 => u64::from(EDGES_U32[i] & 0xffff) | random.next() << 48 >> 32,
        Kind::F16 => u64::from(EDGES_F16[i / 2]) ^ (i as u64 % 2) << 15 | random.next() << 48 >> 32,
        Kind::P16 | Kind::PF16 => {
            let one = if kind == Kind::P16 {
                Kind::U16
            } else {
                Kind::F16
            };
            let other = random.below(edges(one));
            edge(one, i, random) & 0xffff | (edge(one, other, random) & 0xffff) << 16
        }
        Kind::PBf16 => {
            let one = |v: f32| u64::from(v.to_bits() >> 16);
            one(EDGES_F32[i]) | one(-EDGES_F32[random.below(EDGES_F32.len())]) << 16
        }
        Kind::PF32 => {
            let other = random.below(edges(Kind::F32));
            edge(Kind::F32, i, random) | edge(Kind::F32, other, random) << 32
        }
        Kind::U64 => EDGES_U64[i],
        Kind::F64 => {
            let v = EDGES_F64[i / 2];
            (if i % 2 == 1 { -v } else { v }).to_bits()
        }
    }
}

/// Places of edges that matter most beside each other: zeros, ones, extremes, infinities, NaN.
pub fn keys(kind: Kind) -> &'static [usize] {
    match kind {
        Kind::U32 | Kind::U16 | Kind::P16 => &[0, 1, 36, 31, 32, 18, 35, 12],
        Kind::F32 | Kind::PF32 => &[0, 1, 2, 80, 58, 59, 3, 62],
        Kind::F16 | Kind::PF16 => &[0, 1, 30, 66, 64, 65, 31, 2],
        Kind::PBf16 => &[0, 1, 29, 28],
        Kind::U64 => &[0, 1, 12, 7, 8, 5, 6],
        Kind::F64 => &[0, 1, 2, 42, 40, 41, 3, 46],
    }
}

/// Any value: mostly edges, else random bits or a number of middling size.
pub fn any(kind: Kind, random: &mut Random) -> u64 {
    let choice = random.below(8);
    if choice < 4 {
        let i = random.below(edges(kind));
        return edge(kind, i, random);
    }
    let middling = |random: &mut Random| (random.next() as i64 >> 40) as f64 / 65536.0;
    let bits = random.next();
    match kind {
        Kind::F32 if choice < 7 => u64::from((middling(random) as f32).to_bits()),
        // Setting the highest fraction bit of a NaN makes it quiet.
        Kind::F32 if f(bits).is_nan() => bits & 0xffff_ffff | 0x40_0000,
        Kind::F16 | Kind::PF16 => {
            let one = |random: &mut Random| match random.below(3) {
                0 => {
                    let v = random.next() & 0xffff;
                    if h(v).is_nan() { v | 0x200 } else { v }
                }
                _ => u64::from(F16.encode(middling(random) / 16.0)),
            };
            one(random) | one(random) << 16
        }
        Kind::PBf16 => {
            let one = |v: f64| u64::from(BF16.encode(v));
            one(middling(random)) | one(middling(random)) << 16
        }
        Kind::PF32 => any(Kind::F32, random) | any(Kind::F32, random) << 32,
        Kind::F64 if choice < 7 => middling(random).to_bits(),
        Kind::F64 if d(bits).is_nan() => bits | 1 << 51,
        Kind::U64 | Kind::F64 => bits,
        _ => bits & 0xffff_ffff,
    }
}
