//! gfx90a's matrix and dot instructions of f16 and bf16 flush subnormal factors and sums; gfx942's, f32's
//! and the other chips' do not.

use softgpu::isa::testing::{State, run_asm};

/// One value in every element of A and B, and in C: a result register's first lane. Values are bits of
/// the format, in both halves of a register for 16-bit ones.
fn tile(target: &str, name: &str, registers: usize, a: u32, b: u32, c: f32) -> f32 {
    let mut s = State::new(target);
    for r in 0..registers {
        s.v[2 + r] = [a; 64];
        s.v[6 + r] = [b; 64];
    }
    for r in 0..4 {
        s.v[12 + r] = [c.to_bits(); 64];
    }
    let operand = |first: usize| match registers {
        1 => format!("v{first}"),
        n => format!("v[{first}:{}]", first + n - 1),
    };
    let asm = format!("{name} v[20:23], {}, {}, v[12:15]", operand(2), operand(6));
    let after = run_asm(target, &asm, &s).unwrap();
    f32::from_bits(after.v[20][0])
}

#[test]
fn mfma_of_halves() {
    // 2^-15 (subnormal in f16) and 2^-14 (the least normal) by 2^15; sixteen products.
    let [below, least, large] = [0x0200_0200, 0x0400_0400, 0x7800_7800];
    for (target, name) in [
        ("gfx90a", "v_mfma_f32_16x16x16f16"),
        ("gfx942", "v_mfma_f32_16x16x16_f16"),
    ] {
        let product = |a, b, c| tile(target, name, 2, a, b, c);
        let flushes = target == "gfx90a";
        let sum = 16.0;
        for (a, b) in [(below, large), (large, below)] {
            assert_eq!(product(a, b, 1.0), if flushes { 1.0 } else { 1.0 + sum });
        }
        assert_eq!(product(least, large, 1.0), 1.0 + 2.0 * sum);
        // A sum that comes in and goes out.
        let tiny = f32::from_bits(1 << 20);
        assert_eq!(product(0, large, tiny), if flushes { 0.0 } else { tiny });
        let zero = product(0x8000_8000, large, -tiny);
        assert_eq!(zero == 0.0, flushes);
    }
}

#[test]
fn mfma_of_bfloats_and_floats() {
    // 2^-127, subnormal in bfloat16, by 2^127.
    let (below, large) = (0x0040_0040, 0x7f00_7f00);
    let bf16 = |target, name| tile(target, name, 2, below, large, 1.0);
    assert_eq!(bf16("gfx90a", "v_mfma_f32_16x16x16bf16_1k"), 1.0);
    assert_eq!(bf16("gfx942", "v_mfma_f32_16x16x16_bf16"), 17.0);
    // Forms of f32 keep all.
    for (target, name) in [
        ("gfx90a", "v_mfma_f32_16x16x4f32"),
        ("gfx942", "v_mfma_f32_16x16x4_f32"),
    ] {
        let got = tile(target, name, 1, 0x0040_0000, 0x7f00_0000, 1.0);
        assert_eq!(got, 5.0, "{target}");
    }
}

#[test]
fn dot_products_of_halves() {
    for target in ["gfx90a", "gfx942", "gfx1030", "gfx1151", "gfx1201"] {
        let dot = |a: u32, b: u32, c: f32| {
            let mut s = State::new(target);
            (s.v[2], s.v[4], s.v[6]) = ([a; 64], [b; 64], [c.to_bits(); 64]);
            let after = run_asm(target, "v_dot2_f32_f16 v0, v2, v4, v6", &s).unwrap();
            f32::from_bits(after.v[0][0])
        };
        let flushes = target == "gfx90a";
        assert_eq!(
            dot(0x0200_0200, 0x7800_7800, 1.0),
            if flushes { 1.0 } else { 3.0 }
        );
        assert_eq!(dot(0x0400_0400, 0x7800_7800, 1.0), 5.0);
        let tiny = f32::from_bits(1 << 20);
        assert_eq!(dot(0, 0, tiny), if flushes { 0.0 } else { tiny });
    }
}
