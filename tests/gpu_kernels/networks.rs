//! Kernels of networks (`hip/ops/network`), against forms in f64.

use crate::on_every_target;
use crate::prng::Prng;
use half::f16;
use mlxrocm::gpu::Args;

/// What no number of a result is.
const POISON: u32 = 0xffff_ffff;

/// The number that an f16 and the quarter of a place around it are.
fn finer(number: f16, quarter: u32) -> f64 {
    let bits = number.to_bits();
    let place = 2f64.powi(i32::from(bits >> 10 & 31).max(1) - 25);
    // Towards zero from a power of two, places are half as large.
    let place = match bits & 0x3ff == 0 && quarter < 2 {
        true => place / 2.0,
        false => place,
    };
    let more = (f64::from(quarter) - 1.5) / 4.0 * place;
    f64::from(number) + more.copysign(more * f64::from(number))
}

/// A layer norm of a sum in f16 reads and writes what rounding left: sums of many layers keep 13 bits of each number.
#[test]
fn norms_keep_what_rounding_left() {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = time.map_or(1, |time| time.as_nanos() as u64);
    println!("seed {seed}");
    let mut random = Prng::new(seed);
    // One lane, some of a wave, most of a block, all.
    for (rows, columns) in [(3usize, 8usize), (19, 72), (9, 768), (5, 1024)] {
        let count = rows * columns;
        let mut halves = |low: f64, high: f64| -> Vec<f16> {
            let numbers = (0..count).map(|_| f16::from_f64(random.uniform(low, high)));
            numbers.collect()
        };
        let (mut x, y) = (halves(-2.0, 2.0), halves(-1.0, 1.0));
        let mut low: Vec<u32> = (0..count)
            .map(|_| random.uniform(0.0, 4.0) as u32)
            .collect();
        // Nothing is below 0.
        (x[count / 3], low[count / 3]) = (f16::ZERO, 2);
        let mut vector = |low: f64, high: f64| -> Vec<f32> {
            let numbers = (0..columns).map(|_| random.uniform(low, high) as f32);
            numbers.collect()
        };
        let (mut weight, mut bias) = (vector(0.5, 1.5), vector(-0.2, 0.2));
        (weight[columns - 3], bias[columns - 3]) = (0.0, 0.0);
        let (alpha, eps) = (0.43f32, 1e-3f32);
        let normed = |row: usize, is_finer: bool| -> Vec<f64> {
            let z = (row * columns..(row + 1) * columns).map(|i| {
                let x = match is_finer {
                    true => finer(x[i], low[i]),
                    false => x[i].into(),
                };
                x + f64::from(alpha) * f64::from(y[i])
            });
            let z: Vec<f64> = z.collect();
            let mean = z.iter().sum::<f64>() / columns as f64;
            let variance = z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / columns as f64;
            let scale = 1.0 / (variance + f64::from(eps)).sqrt();
            let columns = z.iter().zip(weight.iter().zip(&bias));
            let result =
                columns.map(|(z, (&w, &b))| (z - mean) * scale * f64::from(w) + f64::from(b));
            result.collect()
        };
        on_every_target(|bench| {
            let pairs = |numbers: &[f16]| {
                let pairs = numbers.chunks(2);
                let words = pairs
                    .map(|pair| u32::from(pair[0].to_bits()) | u32::from(pair[1].to_bits()) << 16);
                bench.buffer(&words.collect::<Vec<_>>())
            };
            let words = low.chunks(16).map(|sixteen| {
                let shifted = sixteen.iter().enumerate().map(|(i, x)| x << (2 * i));
                shifted.sum()
            });
            let (of_x, of_y) = (pairs(&x), pairs(&y));
            let of_low = bench.buffer(&words.collect::<Vec<u32>>());
            let [of_weight, of_bias] = [&weight, &bias].map(|vector| {
                bench.buffer(&vector.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            });
            let waves = 256 / bench.wave();
            let forms = [
                (
                    "mlxrocm_network_norm_finer_f16",
                    (rows as u32).div_ceil(waves),
                    256,
                ),
                ("mlxrocm_network_norm_finer_few_f16", rows as u32, 128),
            ];
            let mut of_waves = (Vec::new(), Vec::new());
            let both = [(true, true), (false, true), (true, false), (false, false)];
            for (at, (reads, writes)) in both.into_iter().flat_map(|of| [(0, of), (1, of)]) {
                let (kernel, blocks, threads) = forms[at];
                let kernel = bench.device.kernel(kernel).unwrap();
                let out = bench.buffer(&vec![POISON; count / 2 + 1]);
                let out_low = bench.buffer(&vec![POISON; count / 16 + 1]);
                let args = Args::new().buffer("x", &of_x, 0);
                let args = match reads {
                    true => args.buffer("x_low", &of_low, 0),
                    false => args.null("x_low"),
                };
                let args = args.buffer("y", &of_y, 0).buffer("weight", &of_weight, 0);
                let args = args.buffer("bias", &of_bias, 0).buffer("out", &out, 0);
                let args = match writes {
                    true => args.buffer("out_low", &out_low, 0),
                    false => args.null("out_low"),
                };
                let args = args.u32("rows", rows as u32).u32("columns", columns as u32);
                let args = args.f32("alpha", alpha).f32("eps", eps);
                bench.launch(&kernel, [blocks, 1, 1], threads, 0, &args);
                let (found, left) = (bench.values(&out), bench.values(&out_low));
                match at {
                    0 => of_waves = (found.clone(), left.clone()),
                    _ => assert!(
                        of_waves == (found.clone(), left.clone()),
                        "not the same bits"
                    ),
                }
                assert_eq!(found[count / 2], POISON, "written past the end");
                let left_of = |i: usize| left[i / 16] >> (2 * (i % 16));
                let past = POISON >> (2 * (count % 16));
                assert_eq!(left_of(count), past, "written past the end");
                for row in 0..rows {
                    for (c, expected) in normed(row, reads).into_iter().enumerate() {
                        let i = row * columns + c;
                        let number = f16::from_bits((found[i / 2] >> (16 * (i % 2))) as u16);
                        let is_below = left_of(i) & 3 < 2;
                        assert!(!writes || number != f16::ZERO || !is_below, "below 0");
                        let (number, bits) = match writes {
                            true => (finer(number, left_of(i) & 3), 13),
                            false => (number.into(), 11),
                        };
                        // An eighth of a place at most.
                        let bound = expected.abs() * 2f64.powi(-bits) * 1.01 + 3e-6;
                        assert!(
                            (number - expected).abs() <= bound,
                            "{rows} rows of {columns}, reads {reads}, writes {writes}, {row} {c}: {number} for {expected}"
                        );
                    }
                }
            }
        });
    }
}
