//! Attention with wide heads, soft caps and runs of tokens (`hip/ops/attention/wide.hip`, `widest.hip`) over every kind of cache.

use super::world::{EPS, Kind, PAGE, SHAPES, Shape, World};
use super::{HEADS, PARTS, Placed, SPLIT, check_single_queries, fresh_seed};
use crate::prng::Prng;
use crate::{gpu, on_targets};
use mlxrocm::driver::Platform;
use mlxrocm::gpu::{Args, DeviceBuffer};

/// Of values between 0.5 and 2.5.
const TOLERANCE: f64 = 5e-5;

impl Placed<'_> {
    /// Attention of the rows of `list`, one after the other, or of all rows.
    fn wide(
        &self,
        cache: &DeviceBuffer,
        list: Option<&[u32]>,
        (cap, chunk): (f64, usize),
    ) -> Vec<f32> {
        let (shape, max_pages) = (self.world.shape, self.world.max_pages);
        let (form, columns, heads) = match shape.dim {
            ..=256 => ("wide_256", 256, HEADS),
            257..=768 => ("wide_768", 768, HEADS),
            _ => ("widest", 4096, 1),
        };
        let most = match self.bench.device.facts().platform {
            Platform::Cuda => 33,
            Platform::Hip => PARTS,
        };
        let parts = (max_pages * PAGE).div_ceil(SPLIT).min(most);
        let groups = shape.kv_heads * (shape.heads / shape.kv_heads).div_ceil(heads);
        let count = list.map_or(self.world.rows, <[u32]>::len);
        let counters = self.bench.buffer(&vec![0; count * groups]);
        let sums = vec![u32::MAX; count * groups * parts * heads * (2 + columns)];
        let width = shape.heads * shape.dim;
        let out = self.bench.buffer(&vec![u32::MAX; count * width]);
        // With a list a query's row of q is its place there.
        let rows: Vec<u32> = match list {
            Some(list) => list.to_vec(),
            None => (0..count as u32).collect(),
        };
        let row = |&row: &u32| &self.world.q[row as usize * width..][..width];
        let q: Vec<u32> = rows.iter().flat_map(row).map(|x| x.to_bits()).collect();
        let args = Args::new()
            .buffer("q", &self.bench.buffer(&q), 0)
            .buffer("out", &out, 0)
            .buffer("cache", cache, 0)
            .buffer("positions", &self.positions(|_| true), 0)
            .buffer("slots", &self.slots, 0)
            .buffer("pages", &self.pages, 0);
        let args = match list {
            Some(list) => args.buffer("tokens", &self.bench.buffer(list), 0),
            None => args.null("tokens"),
        };
        let args = self.norm(args, 0);
        let args = match shape.sinks {
            true => args.buffer("sinks", &self.sinks, 0),
            false => args.null("sinks"),
        };
        let args = args
            .buffer("rope", &self.rope, 0)
            .buffer("parts", &self.bench.buffer(&sums), 0)
            .buffer("counters", &counters, 0);
        let args = self
            .shape_args(self.strides(args))
            .u32("chunk", chunk as u32)
            .f32("eps", EPS)
            .f32("scale", self.world.scale())
            .f32("cap", cap as f32);
        let kernel = self.world.kind.name(form);
        let kernel = self.bench.device.kernel(&kernel).unwrap();
        let grid = [count as u32, groups as u32, parts as u32];
        self.bench.launch(&kernel, grid, 256, 0, &args);
        assert!(self.bench.values(&counters).iter().all(|count| *count == 0));
        self.floats(&out)
    }
}

fn check(placed: &Placed<'_>, limits: (f64, usize)) {
    let (world, shape) = (placed.world, placed.world.shape);
    let cache = placed.cache();
    placed.write_by("wide_write", 256, &cache, |_| true);
    let bytes = placed.bytes(&cache);
    for row in 0..world.rows {
        for head in 0..shape.kv_heads {
            world.check_written(&bytes, row, head, 0);
            world.check_written(&bytes, row, head, 1);
        }
    }
    if shape.dim <= 256 {
        // What the usual kernel writes, to the bit.
        let usual = placed.cache();
        placed.write(&usual, |_| true);
        assert!(placed.bytes(&usual) == bytes, "{shape:?}");
    }
    let last = world.rows as u32 - 1;
    let list = [0, 5, 31, 32, shape.lengths[0] as u32 - 1, last];
    let (all, some) = (
        placed.wide(&cache, None, limits),
        placed.wide(&cache, Some(&list), limits),
    );
    let width = shape.heads * shape.dim;
    for (found, &row) in some.chunks(width).zip(&list) {
        let exact = world.limited_attention(&bytes, row as usize, limits.0, limits.1);
        for (i, (exact, found)) in exact.iter().zip(found).enumerate() {
            let far = (exact - f64::from(*found)).abs();
            let what = format!("{:?} {limits:?} row {row} column {i}", world.kind);
            assert!(far <= TOLERANCE, "{shape:?} {what}: {found} for {exact}");
        }
        // The same to the bit whatever else is in the launch.
        assert!(
            all[row as usize * width..][..width] == *found,
            "{shape:?} {row}"
        );
    }
}

#[test]
fn wide_heads_caps_and_runs_over_every_cache() {
    const WIDE: Shape = Shape {
        dim: 576,
        heads: 6,
        kv_heads: 1,
        pairs: 0,
        interleaved: false,
        norm: false,
        window: 0,
        sinks: false,
        lengths: [150, 37],
    };
    let cases = [
        (WIDE, (0.0, 0)),
        (
            Shape {
                dim: 301,
                kv_heads: 2,
                pairs: 150,
                norm: true,
                sinks: true,
                ..WIDE
            },
            (1.5, 0),
        ),
        // Heads of all columns that there are, in parts, and of no multiple of eight.
        (
            Shape {
                dim: 4096,
                heads: 2,
                lengths: [150, 7],
                ..WIDE
            },
            (0.0, 0),
        ),
        (
            Shape {
                dim: 1001,
                heads: 3,
                pairs: 450,
                norm: true,
                sinks: true,
                interleaved: true,
                window: 41,
                ..WIDE
            },
            (1.5, 0),
        ),
        (SHAPES[0], (0.7, 16)),
        (SHAPES[1], (0.0, 24)),
        (SHAPES[5], (2.0, 0)),
    ];
    let targets = gpu::targets();
    let seed = fresh_seed();
    println!("seed {seed}");
    let mut random = Prng::new(seed);
    for (i, (mut shape, limits)) in cases.into_iter().enumerate() {
        // The world's angles need one.
        shape.pairs = shape.pairs.max(1);
        let seed = random.u64();
        on_targets(&[targets[i % targets.len()]], |bench| {
            for kind in [Kind::F16, Kind::Q8, Kind::Q4] {
                let world = World::new(shape, kind, &mut Prng::new(seed));
                check(&Placed::new(bench, &world), limits);
            }
        });
    }
}

/// Without limits it is what the kernel for single queries gives: both against the same form.
#[test]
fn the_usual_kernel_agrees() {
    on_targets(&gpu::targets()[..1], |bench| {
        let world = World::new(SHAPES[2], Kind::F16, &mut Prng::new(fresh_seed()));
        let placed = Placed::new(bench, &world);
        check_single_queries(&placed);
        check(&placed, (0.0, 0));
    });
}
