//! Products of few rows with matrices of so many columns that x does not fit the local memory of AMD cards, in
//! every form, against sums in f64.

mod products;

use crate::gpu;
use crate::prng::Prng;
use mlxrocm::formats::{Format, ScalarType};
use products::{TOKENS, Wide, float8, formats, logits};

fn is_all() -> bool {
    std::env::var("MLXROCM_TEST_ALL").is_ok_and(|all| all == "1")
}

/// How many of the cases a run takes, others each time; `MLXROCM_TEST_ALL=1`: all of them.
fn turn() -> Box<dyn Fn(usize) -> bool> {
    if is_all() {
        return Box::new(|_| true);
    }
    const RUNS: usize = 9;
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let turn = time.map_or(0, |time| time.as_secs() as usize / 60 % RUNS);
    println!("turn {turn} of {RUNS}");
    Box::new(move |case| (case + case / RUNS) % RUNS == turn)
}

/// Few blocks, so that they take several tiles; of every ninth matrix so many that they take more than are
/// summed up at once. A case is on one target, with `MLXROCM_TEST_ALL=1` on all.
#[test]
fn every_form_takes_wide_matrices() {
    let mut random = Prng::new(14);
    let formats = formats();
    assert!(formats.len() >= 26, "{formats:?}");
    let widths = [32_768, 53_248];
    let cases = widths
        .iter()
        .flat_map(|w| formats.iter().map(move |f| (*f, *w)));
    let (is_on, targets) = (turn(), gpu::targets());
    for (i, (format, cols)) in cases.enumerate().filter(|(i, _)| is_on(*i)) {
        let rows = match format {
            // Words of eight rows.
            Format::Awq { .. } => 24,
            _ if i % 10 == 0 => 84,
            _ => 20,
        };
        let wide = Wide::new(&mut random, format, rows, cols);
        let expected = wide.expected();
        let all = is_all() && !gpu::is_real();
        let own = [targets[i % targets.len()]];
        for target in if all { &targets[..] } else { &own } {
            let what = format!("{format:?} {cols} {target}");
            wide.is_right(&what, target, ";checks=0", &expected);
        }
    }
}

/// Where the matrix unit takes several rows (CDNA), tiles by pairs: with an odd number of tiles, and shares of the columns that
/// are not even, or have none; and so many columns that kernels for more than usual take them (`hip/ops/matmul/wide.h`). On days
/// without CDNA what was built does the same. `MLXROCM_TEST_TARGET`: that target alone.
#[test]
fn several_rows_are_as_alone() {
    let mut random = Prng::new(20);
    let only = std::env::var("MLXROCM_TEST_TARGET").ok();
    let mut cdna = gpu::targets();
    cdna.retain(|target| target.starts_with("gfx9"));
    let targets = match &only {
        Some(target) => vec![target.as_str()],
        None if cdna.is_empty() => gpu::by_turns(&gpu::targets()),
        None => gpu::by_turns(&cdna),
    };
    for (place, format) in formats().into_iter().enumerate() {
        for (size, (rows, cols)) in [(40, 1280), (24, 256), (40, 6400)].into_iter().enumerate() {
            // Of each form some sizes a day.
            if !gpu::is_turn(place + size, 2) {
                continue;
            }
            let wide = Wide::new(&mut random, format, rows, cols);
            let expected = wide.expected();
            for target in &targets {
                wide.is_right(
                    &format!("{format:?} {rows} x {cols} {target}"),
                    target,
                    "",
                    &expected,
                );
            }
        }
    }
}

/// Columns that are whole pieces of 16 bytes, whole steps of a wave, whole chunks of local memory, or none of these.
#[test]
fn unquantized_matrices_give_the_products_of_their_weights() {
    let mut random = Prng::new(17);
    let types = [ScalarType::F32, ScalarType::F16, ScalarType::BF16];
    let shapes = [
        (37, 8),
        (84, 512),
        (20, 1032),
        (140, 1288),
        (33, 331),
        (18, 4104),
    ];
    for target in gpu::targets() {
        for (format, (rows, cols)) in types
            .into_iter()
            .flat_map(|ty| shapes.map(|shape| (Format::Dense(ty), shape)))
        {
            let wide = Wide::new(&mut random, format, rows, cols);
            let expected = wide.expected();
            let what = format!("{format:?} {rows} x {cols} {target}");
            wide.is_right(&what, target, "", &expected);
        }
    }
}

/// Formats other than MLX's affine ones and GGUF's of blocks of numbers, and columns of which they make no whole units.
fn others() -> Vec<(Format, usize)> {
    let centered = |bits, group, scale| Format::Centered { bits, group, scale };
    vec![
        (Format::Q8_1, 352),
        (Format::Mxfp8, 352),
        // Of so many x does not fit the local memory.
        (Format::Mxfp8, 17_440),
        (Format::Nvfp4, 336),
        (Format::GgufNvfp4, 448),
        (Format::Gptq { group: 32, plus: 1 }, 352),
        (Format::Gptq { group: 64, plus: 0 }, 448),
        (Format::Awq { group: 32 }, 352),
        (Format::Awq { group: 128 }, 384),
        (centered(4, 128, ScalarType::BF16), 384),
        (centered(8, 64, ScalarType::F16), 448),
        (centered(4, 32, ScalarType::F32), 352),
        (float8(128, 128, ScalarType::F32), 360),
        (float8(1, 1024, ScalarType::BF16), 360),
        (float8(1 << 20, 1 << 20, ScalarType::F16), 392),
        (Format::Tq1_0, 768),
        (Format::Tq2_0, 768),
        (Format::Iq4Nl, 352),
        (Format::Iq4Xs, 768),
        (Format::Iq3Xxs, 768),
        (Format::Iq3S, 256),
        (Format::Iq2Xxs, 768),
        (Format::Iq2Xs, 256),
        (Format::Iq2S, 768),
        (Format::Iq1S, 256),
        (Format::Iq1M, 768),
    ]
}

/// One row, few, and so many that the matrix unit multiplies them.
#[test]
fn other_formats_give_the_products_of_their_weights() {
    let mut random = Prng::new(16);
    for target in gpu::among(&["gfx1151", "gfx942", "gfx1030"]) {
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => gpu::soft(&format!("devices={target};compute_units=2")),
        };
        let device = gpu.device();
        for (format, cols) in others() {
            let rows = match format {
                Format::Gptq { .. } | Format::Awq { .. } => 40,
                _ => 37,
            };
            let wide = Wide::new(&mut random, format, rows, cols);
            let (expected, mut executor) = (wide.expected(), wide.executor(&device));
            let many: Vec<u32> = (0..20).map(|i| i * 3 % TOKENS as u32).collect();
            // Prompts are multiplied in f16, with weights in f16.
            for (tokens, limit) in [(&[3][..], 1e-3), (&[0, 4, 1, 2], 1e-3), (&many, 5e-3)] {
                let got = logits(&mut executor, tokens);
                for (got, token) in got.chunks(rows).zip(tokens) {
                    let exact = &expected[*token as usize * rows..][..rows];
                    for (got, exact) in got.iter().zip(exact) {
                        let far = (f64::from(*got) - exact).abs();
                        let count = tokens.len();
                        // Gate and up are multiplied with each other.
                        assert!(
                            far < limit * (1.0 + exact.abs()),
                            "{format} {target}, {count} rows: {got} for {exact}"
                        );
                    }
                }
            }
        }
        drop(device);
        gpu.clean();
    }
}

/// A norm's weight of 3,000 at a column that has nearly all of a row: n(x) is 3,000 · √cols there, far more
/// than f16 takes. Prompts are multiplied in f16.
#[test]
fn norms_may_give_more_than_f16_takes() {
    const COLS: usize = 4096;
    let mut random = Prng::new(15);
    for (i, target) in gpu::targets().iter().enumerate() {
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => gpu::soft(&format!("devices={target};checks=0")),
        };
        let mut wide = Wide::new(&mut random, Format::Q8_0, 16, COLS);
        let spike = 7 + 300 * i;
        wide.norm[spike] = 3000.0;
        for x in wide.x.chunks_mut(COLS) {
            x.iter_mut().for_each(|x| *x *= 1e-3);
            x[spike] = 2.0;
        }
        let device = gpu.device();
        let mut executor = wide.executor(&device);
        let tokens: Vec<u32> = (0..20).map(|i| i % TOKENS as u32).collect();
        let got = logits(&mut executor, &tokens);
        let expected = wide.expected();
        let size = expected.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        for (i, got) in got.iter().enumerate() {
            let far = (f64::from(*got) - expected[i % expected.len()]).abs();
            assert!(far < 3e-3 * size, "{target}: {got} of {size}");
        }
        drop((executor, device));
        gpu.clean();
    }
}
