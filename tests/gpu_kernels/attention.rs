//! Attention over every kind of KV cache against f64 forms: what is written, and what is attended to.
//! Data is new on every run; the cache is poisoned, so that what was not written shows.

mod singles;
mod wide;
mod world;

use crate::prng::Prng;
use crate::{Bench, gpu, on_every_target, on_targets};
use mlxrocm::driver::Platform;
use mlxrocm::gpu::{Args, DeviceBuffer};
use singles::check_single_queries;
use world::{EPS, Kind, LAYER, LAYERS, SHAPES, Shape, World};

/// The fewest positions of one part, the most parts (`PARTS` of paged.hip; 33 on NVIDIA), and
/// heads of a block.
const SPLIT: usize = 128;
const PARTS: usize = 64;
const HEADS: usize = 4;

/// The world on a device.
struct Placed<'a> {
    bench: &'a Bench,
    world: &'a World,
    q: DeviceBuffer,
    k: DeviceBuffer,
    v: DeviceBuffer,
    norms: [DeviceBuffer; 2],
    sinks: DeviceBuffer,
    rope: DeviceBuffer,
    slots: DeviceBuffer,
    pages: DeviceBuffer,
}

const UNUSED: u32 = u32::MAX;

impl<'a> Placed<'a> {
    fn new(bench: &'a Bench, world: &'a World) -> Placed<'a> {
        let floats = |x: &[f32]| bench.buffer(&x.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
        let turns: Vec<f32> = world
            .angles
            .iter()
            .flat_map(|a| [a.cos() as f32, a.sin() as f32])
            .collect();
        Placed {
            bench,
            world,
            q: floats(&world.q),
            k: floats(&world.k),
            v: floats(&world.v),
            norms: [floats(&world.norms[0]), floats(&world.norms[1])],
            sinks: floats(&world.sinks),
            rope: floats(&turns),
            slots: bench.buffer(&world.slots),
            pages: bench.buffer(&world.pages),
        }
    }

    fn cache(&self) -> DeviceBuffer {
        self.bench
            .buffer(&vec![u32::MAX; self.world.cache_bytes() / 4])
    }

    fn bytes(&self, cache: &DeviceBuffer) -> Vec<u8> {
        crate::gpu::bytes_of(&self.bench.values(cache))
    }

    fn norm(&self, args: Args, which: usize) -> Args {
        let name = ["q_norm", "k_norm"][which];
        match self.world.shape.norm {
            true => args.buffer(name, &self.norms[which], 0),
            false => args.null(name),
        }
    }

    /// The positions of the rows that `keep` says, else unused.
    fn positions(&self, keep: impl Fn(usize) -> bool) -> DeviceBuffer {
        let position = |row: usize| {
            if keep(row) {
                self.world.positions[row]
            } else {
                UNUSED
            }
        };
        self.bench
            .buffer(&(0..self.world.rows).map(position).collect::<Vec<_>>())
    }

    /// Where the cache is.
    fn strides(&self, args: Args) -> Args {
        let layer = self.world.layer_bytes();
        args.u64("page_stride", (layer * LAYERS) as u64)
            .u64("layer_start", (layer * LAYER) as u64)
            .u32("max_pages", self.world.max_pages as u32)
    }

    fn write(&self, cache: &DeviceBuffer, keep: impl Fn(usize) -> bool) {
        self.write_by("write", 64, cache, keep);
    }

    fn write_by(
        &self,
        kernel: &str,
        threads: u32,
        cache: &DeviceBuffer,
        keep: impl Fn(usize) -> bool,
    ) {
        let shape = self.world.shape;
        let args = Args::new()
            .buffer("k", &self.k, 0)
            .buffer("v", &self.v, 0)
            .buffer("cache", cache, 0)
            .buffer("positions", &self.positions(keep), 0)
            .buffer("slots", &self.slots, 0)
            .buffer("pages", &self.pages, 0);
        let args = self.strides(self.norm(args, 1).buffer("rope", &self.rope, 0));
        let args = args
            .u32("kv_heads", shape.kv_heads as u32)
            .u32("dim", shape.dim as u32)
            .u32("pairs", shape.pairs as u32)
            .u32("interleaved", u32::from(shape.interleaved))
            .f32("eps", EPS);
        let kernel = self.bench.device.kernel(&self.world.kind.name(kernel));
        let grid = [self.world.rows as u32, shape.kv_heads as u32, 1];
        self.bench.launch(&kernel.unwrap(), grid, threads, 0, &args);
    }

    /// The arguments that attention begins with.
    fn attend_args(
        &self,
        out: &DeviceBuffer,
        cache: &DeviceBuffer,
        positions: &DeviceBuffer,
        (name, list): (&'static str, &[u32]),
    ) -> Args {
        let args = Args::new()
            .buffer("q", &self.q, 0)
            .buffer("out", out, 0)
            .buffer("cache", cache, 0)
            .buffer("positions", positions, 0)
            .buffer("slots", &self.slots, 0)
            .buffer("pages", &self.pages, 0)
            .buffer(name, &self.bench.buffer(list), 0);
        let args = self.norm(args, 0);
        let args = match self.world.shape.sinks {
            true => args.buffer("sinks", &self.sinks, 0),
            false => args.null("sinks"),
        };
        args.buffer("rope", &self.rope, 0)
    }

    fn shape_args(&self, args: Args) -> Args {
        let shape = self.world.shape;
        args.u32("heads", shape.heads as u32)
            .u32("kv_heads", shape.kv_heads as u32)
            .u32("dim", shape.dim as u32)
            .u32("pairs", shape.pairs as u32)
            .u32("interleaved", u32::from(shape.interleaved))
            .u32("window", shape.window as u32)
    }

    /// Attention of all rows in tiles of so many: by `flash.hip`, or by `flash_warpgroup.hip`, if it is there.
    fn flash(&self, cache: &DeviceBuffer, tile: usize, warpgroup: bool) -> Option<Vec<f32>> {
        let lengths = self.world.shape.lengths;
        let mut tiles = Vec::new();
        for (slot, length) in lengths.into_iter().enumerate() {
            for first in (0..length).step_by(tile) {
                tiles.push((slot * lengths[0] + first) as u32);
                tiles.push(tile.min(length - first) as u32);
            }
        }
        self.flash_tiles(cache, &tiles, warpgroup)
    }

    /// The same of these tiles: first rows, and how many.
    fn flash_tiles(
        &self,
        cache: &DeviceBuffer,
        tiles: &[u32],
        warpgroup: bool,
    ) -> Option<Vec<f32>> {
        let shape = self.world.shape;
        let columns = shape.dim.next_power_of_two().max(64);
        let name = if warpgroup { "warpgroup" } else { "flash" };
        let kernel = self.world.kind.name(&format!("{name}_{columns}"));
        let kernel = self.bench.device.kernel(&kernel);
        if warpgroup && kernel.is_err() {
            return None;
        }
        let kernel = kernel.unwrap();
        let out = self.out();
        let args = self.attend_args(&out, cache, &self.positions(|_| true), ("tiles", tiles));
        let args = self
            .shape_args(self.strides(args))
            .f32("eps", EPS)
            .f32("scale", self.world.scale());
        let mut grid = [tiles.len() as u32 / 2, shape.heads as u32, 1];
        let is_wide = columns == 256;
        let mut threads = if is_wide { 8 } else { 4 } * self.bench.wave();
        // `Layout<256>::BYTES` of flash.hip.
        let is_cuda = self.bench.device.facts().platform == Platform::Cuda;
        let mut shared = if is_wide && is_cuda { 66048 } else { 0 };
        if warpgroup {
            let groups = match (shape.heads / shape.kv_heads).is_multiple_of(2) {
                true => 2,
                false => 1,
            };
            grid[1] /= groups;
            threads = 128 * groups;
            shared = 1024 + (groups as usize + 4) * 64 * columns * 2;
        }
        self.bench
            .launch(&kernel, grid, threads, shared as u32, &args);
        Some(self.floats(&out))
    }

    fn out(&self) -> DeviceBuffer {
        let shape = self.world.shape;
        self.bench
            .buffer(&vec![u32::MAX; self.world.rows * shape.heads * shape.dim])
    }

    fn floats(&self, buffer: &DeviceBuffer) -> Vec<f32> {
        self.bench
            .values(buffer)
            .into_iter()
            .map(f32::from_bits)
            .collect()
    }
}

fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_nanos() as u64
}

/// Every shape with every kind of cache, on every target.
fn every_case(test: impl Fn(&Placed<'_>)) {
    let seed = fresh_seed();
    println!("seed {seed}");
    on_every_target(|bench| {
        let mut random = Prng::new(seed);
        for shape in SHAPES {
            for kind in [Kind::F16, Kind::Q8, Kind::Q4] {
                let world = World::new(shape, kind, &mut random);
                test(&Placed::new(bench, &world));
            }
        }
    });
}

/// Checks rows of a result; `tolerance` is of values between 0.5 and 2.5.
#[track_caller]
fn check_rows(placed: &Placed<'_>, cache: &[u8], got: &[f32], rows: &[u32], tolerance: f64) {
    let world = placed.world;
    let width = world.shape.heads * world.shape.dim;
    for &row in rows {
        let exact = world.attention(cache, row as usize);
        for (i, (exact, got)) in exact.iter().zip(&got[row as usize * width..]).enumerate() {
            assert!(
                (exact - f64::from(*got)).abs() <= tolerance,
                "{:?} {:?} row {row} column {i}: {got} for {exact}",
                world.kind,
                world.shape
            );
        }
    }
}

#[test]
fn single_queries_over_every_cache() {
    every_case(check_single_queries);
}

/// From as many parts on as there may be, parts are longer.
#[test]
fn long_sequences_have_longer_parts() {
    on_targets(&[gpu::todays(&["gfx1151", "gfx1201"])], |bench| {
        let shape = Shape {
            heads: 2,
            lengths: [SPLIT * PARTS + 33, 1],
            ..SHAPES[0]
        };
        let seed = fresh_seed();
        println!("seed {seed}");
        let world = World::new(shape, Kind::Q8, &mut Prng::new(seed));
        let placed = Placed::new(bench, &world);
        let cache = placed.cache();
        placed.write(&cache, |_| true);
        let last = shape.lengths[0] as u32 - 1;
        // The most parts, and one position more.
        let full = [33, PARTS].map(|parts| (SPLIT * parts) as u32);
        let rows = [full[0] - 1, full[0], full[1] - 1, full[1], last];
        let out = placed.paged(&cache, &rows, false);
        check_rows(&placed, &placed.bytes(&cache), &out, &rows, 5e-5);
    });
}

/// Tiles of queries of a world.
fn check_tiles(placed: &Placed<'_>) {
    let cache = placed.cache();
    placed.write(&cache, |_| true);
    let rows: Vec<u32> = (0..placed.world.rows as u32).step_by(7).collect();
    let results = [false, true].map(|warpgroup| placed.flash(&cache, 64, warpgroup));
    for out in results.iter().flatten() {
        // Queries and weights are rounded to f16.
        check_rows(placed, &placed.bytes(&cache), out, &rows, 8e-3);
    }
    // The same to the bit however a prompt is cut.
    assert!(
        results[0] == placed.flash(&cache, 23, false),
        "{:?} {:?}",
        placed.world.kind,
        placed.world.shape
    );
}

#[test]
fn tiles_of_queries_over_every_cache() {
    every_case(check_tiles);
}

/// Head sizes from the smallest to the widest, odd ones and others that are no multiple of 8 among them; each
/// with every kind of cache on a target, every target with several.
#[test]
fn heads_of_every_size() {
    let targets = gpu::targets();
    const SIZES: [usize; 18] = [
        2, 3, 5, 8, 20, 31, 33, 40, 63, 65, 72, 100, 120, 127, 129, 136, 200, 255,
    ];
    let seed = fresh_seed();
    println!("seed {seed}");
    let mut random = Prng::new(seed);
    for (i, dim) in SIZES.into_iter().enumerate() {
        let shape = Shape {
            dim,
            heads: 3,
            kv_heads: if i % 2 == 0 { 1 } else { 3 },
            pairs: if i % 3 == 0 { 1 } else { dim / 2 },
            interleaved: i % 4 < 2,
            norm: i % 3 > 0,
            window: 0,
            sinks: true,
            lengths: [38, 1],
        };
        let seed = random.u64();
        on_targets(&[targets[i % targets.len()]], |bench| {
            for kind in [Kind::F16, Kind::Q8, Kind::Q4] {
                let world = World::new(shape, kind, &mut Prng::new(seed));
                let placed = Placed::new(bench, &world);
                check_single_queries(&placed);
                check_tiles(&placed);
            }
        });
    }
}

/// A key that is seen 10.5 nats (in base e) better than 2,047 others, which have a nineteenth of the weight
/// together. As f16, the weight of each is below the least normal number.
#[test]
fn weights_beside_a_sink_are_not_lost() {
    on_every_target(|bench| {
        let shape = Shape {
            heads: 1,
            pairs: 1,
            norm: false,
            lengths: [2048, 1],
            ..SHAPES[0]
        };
        let mut world = World::new(shape, Kind::F16, &mut Prng::new(3));
        let first = |i: usize| {
            if i.is_multiple_of(shape.dim) {
                1.0
            } else {
                0.0
            }
        };
        world.angles.fill(0.0);
        world.q = (0..world.q.len()).map(first).collect();
        world.k.fill(0.0);
        // Times 1 / sqrt(64).
        world.k[0] = 84.0;
        world.v[..shape.dim].fill(0.0);
        let placed = Placed::new(bench, &world);
        let cache = placed.cache();
        placed.write(&cache, |_| true);
        let bytes = placed.bytes(&cache);
        for warpgroup in [false, true] {
            let tiles = [2000, 48];
            if let Some(out) = placed.flash_tiles(&cache, &tiles, warpgroup) {
                check_rows(&placed, &bytes, &out, &[2000, 2047], 2e-4);
            }
        }
    });
}

/// Keys and values too large for f16 are kept as the largest there is; what is not finite stays so.
#[test]
fn a_cache_of_f16_saturates() {
    on_targets(
        &gpu::among(&["gfx90a", "gfx1030", "gfx1151", "gfx1201"]),
        |bench| {
            let mut world = World::new(SHAPES[3], Kind::F16, &mut Prng::new(1));
            let width = world.shape.kv_heads * world.shape.dim;
            let put = [7e4, -1e30, f32::INFINITY, f32::NAN, 65_504.0];
            for row in [3, 32] {
                world.v[row * width..][..put.len()].copy_from_slice(&put);
            }
            let placed = Placed::new(bench, &world);
            let cache = placed.cache();
            // The first by the kernel for prompts, the other, its sequence's last, by attention.
            placed.write(&cache, |row| row != 32);
            placed.paged(&cache, &[32], true);
            let bytes = placed.bytes(&cache);
            for row in [3, 32] {
                let kept = world.cached(&bytes, row, 0, 1);
                assert_eq!(kept[..3], [65_504.0, -65_504.0, f64::INFINITY], "{row}");
                assert!(kept[3].is_nan() && kept[4] == 65_504.0, "{row}");
            }
        },
    );
}

#[test]
fn what_is_not_finite_shows_in_its_group() {
    on_targets(&gpu::among(&["gfx942", "gfx1151", "gfx1201"]), |bench| {
        for kind in [Kind::Q8, Kind::Q4] {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut world = World::new(SHAPES[3], kind, &mut Prng::new(1));
                let (dim, row) = (world.shape.dim, 7);
                // Of the second head.
                world.v[(row * world.shape.kv_heads + 1) * dim + 3] = bad;
                let placed = Placed::new(bench, &world);
                let cache = placed.cache();
                placed.write(&cache, |_| true);
                let bytes = placed.bytes(&cache);
                for other in 0..world.rows {
                    for head in 0..2 {
                        let finite = |x: Vec<f64>| x.iter().filter(|x| x.is_finite()).count();
                        let kept = if (other, head) == (row, 1) { 0 } else { dim };
                        assert_eq!(finite(world.cached(&bytes, other, head, 1)), kept);
                        assert_eq!(finite(world.cached(&bytes, other, head, 0)), dim);
                    }
                }
            }
        }
    });
}

/// The first shape's sequences, of which one has two parts.
fn small(bench: &Bench, run: impl Fn(&Placed<'_>, &DeviceBuffer)) {
    let world = World::new(SHAPES[0], Kind::F16, &mut Prng::new(3));
    let placed = Placed::new(bench, &world);
    let cache = placed.cache();
    placed.write(&cache, |_| true);
    run(&placed, &cache);
}

/// A step of decoding, for the tests of waits and fences.
pub fn one_step(bench: &Bench) {
    small(bench, |placed, cache| {
        let [first, second] = placed.world.shape.lengths;
        let rows = [first as u32 - 1, (first + second) as u32 - 1];
        let out = placed.paged(cache, &rows, true);
        check_rows(placed, &placed.bytes(cache), &out, &rows, 5e-5);
    });
}

/// A prompt, for the same.
pub fn one_prompt(bench: &Bench) {
    small(bench, |placed, cache| {
        let out = placed.flash(cache, 64, false).expect("the kernel");
        check_rows(placed, &placed.bytes(cache), &out, &[0, 70, 149], 8e-3);
    });
}
