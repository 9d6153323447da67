//! Comparing memory.

use crate::gpu::words_of;
use crate::on_every_target;
use crate::plain::seed;
use crate::prng::Prng;
use mlxrocm::gpu::Args;

/// Bytes of each buffer.
const SIZE: usize = 20_000;

/// Any alignment and length, one flipped bit anywhere and none; all that lies beside differs.
#[test]
fn one_flipped_bit_is_found() {
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_compare_u8").unwrap();
        let mut random = Prng::new(seed());
        // Where the sides begin, bytes, blocks.
        for (from, to, count, blocks) in [
            (0, 0, 12_000, 3),
            (16, 32, 5001, 1),
            (3, 3, 100, 1),
            (13, 29, 17_001, 2),
            (1, 2, 4097, 1),
            (15, 15, 2, 1),
            (5, 21, 1, 4),
            (7, 7, 0, 1),
        ] {
            let a = random.bytes(SIZE);
            let mut b: Vec<u8> = (0..SIZE)
                .map(|i| !a.get((i + from).wrapping_sub(to)).unwrap_or(&0))
                .collect();
            b[to..to + count].copy_from_slice(&a[from..from + count]);
            let differs = |b: &[u8]| {
                // What no byte differs from stays.
                let [differs, a, b] =
                    [&[7], &words_of(&a)[..], &words_of(b)].map(|v| bench.buffer(v));
                let args = Args::new()
                    .buffer("differs", &differs, 0)
                    .buffer("a", &a, from as u64)
                    .buffer("b", &b, to as u64)
                    .u64("bytes", count as u64);
                bench.launch(&kernel, [blocks, 1, 1], 256, 0, &args);
                bench.values(&differs)
            };
            assert_eq!(differs(&b), [7], "{from} {to} {count}");
            let last = count.saturating_sub(1);
            let anywhere = random.below(count.max(1) as u64) as usize;
            for at in [0, 12.min(last), anywhere, last] {
                let mut b = b.clone();
                b[to + at] ^= 1 << random.below(8);
                let expected = if count == 0 { 7 } else { 1 };
                assert_eq!(differs(&b), [expected], "{from} {to} {count} {at}");
            }
        }
    });
}
