//! Attention over every kind of KV cache against f64 forms: what is written, and what is attended to.
//! Data is new on every run; the cache is poisoned, so that what was not written shows.

use crate::prng::Prng;
use crate::{Bench, on_targets};
use half::f16;
use mlxrocm::gpu::{Args, DeviceBuffer};

const PAGE: usize = 32;
const LAYERS: usize = 2;
const LAYER: usize = 1;
/// Positions of one part (`SPLIT` of paged.hip), and heads of a block.
const SPLIT: usize = 128;
const HEADS: usize = 4;

/// A kind of cache, from the comment at the head of `hip/ops/attention/cache.h`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    F16,
    Q8,
    Q4,
}

impl Kind {
    fn name(self, kernel: &str) -> String {
        let suffix = match self {
            Kind::F16 => "",
            Kind::Q8 => "_q8",
            Kind::Q4 => "_q4",
        };
        format!("mlxrocm_attention_{kernel}{suffix}")
    }

    fn padded(self, dim: usize) -> usize {
        dim.next_multiple_of(if self == Kind::F16 { 8 } else { 32 })
    }

    /// Bytes of a head's keys, or values, in a page: codes, all.
    fn bytes(self, dim: usize) -> (usize, usize) {
        let (columns, groups) = (self.padded(dim), dim.div_ceil(32));
        let (codes, scales) = match self {
            Kind::F16 => (columns * 2, 0),
            Kind::Q8 => (columns, groups * 2),
            Kind::Q4 => (columns / 2, groups * 4),
        };
        (PAGE * codes, PAGE * (codes + scales))
    }

    /// Scale, minimum and codes of a group of a token; f16 has neither.
    fn group(self, half: &[u8], dim: usize, token: usize, group: usize) -> (f64, f64, Vec<f64>) {
        let number = |at: usize| f16::from_le_bytes([half[at], half[at + 1]]).to_f64();
        let (columns, groups) = (self.padded(dim), dim.div_ceil(32));
        let scales = self.bytes(dim).0;
        let of = group * 32..dim.min(group * 32 + 32);
        match self {
            Kind::F16 => {
                let numbers = of.map(|c| number((token * columns + c) * 2));
                (1.0, 0.0, numbers.collect())
            }
            Kind::Q8 => {
                let codes = of.map(|c| f64::from(half[token * columns + c] as i8));
                (
                    number(scales + (token * groups + group) * 2),
                    0.0,
                    codes.collect(),
                )
            }
            Kind::Q4 => {
                let at = scales + (token * groups + group) * 4;
                let codes = of.map(|c| {
                    let at = token * columns / 2 + c / 8 * 4;
                    let word = u32::from_le_bytes(half[at..at + 4].try_into().unwrap());
                    f64::from(word >> (16 * (c % 2) + 4 * (c % 8 / 2)) & 15)
                });
                (number(at), number(at + 2), codes.collect())
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    dim: usize,
    heads: usize,
    kv_heads: usize,
    pairs: usize,
    interleaved: bool,
    norm: bool,
    window: usize,
    lengths: [usize; 2],
}

const SHAPES: [Shape; 4] = [
    Shape {
        dim: 64,
        heads: 3,
        kv_heads: 1,
        pairs: 32,
        interleaved: false,
        norm: true,
        window: 0,
        lengths: [150, 37],
    },
    Shape {
        dim: 80,
        heads: 5,
        kv_heads: 1,
        pairs: 16,
        interleaved: true,
        norm: false,
        window: 20,
        lengths: [35, 64],
    },
    Shape {
        dim: 128,
        heads: 4,
        kv_heads: 2,
        pairs: 64,
        interleaved: false,
        norm: true,
        window: 0,
        lengths: [70, 33],
    },
    Shape {
        dim: 20,
        heads: 2,
        kv_heads: 2,
        pairs: 5,
        interleaved: false,
        norm: false,
        window: 0,
        lengths: [33, 1],
    },
];

const EPS: f32 = 1e-5;

/// Two sequences of random queries, keys and values; rows are the tokens of both.
struct World {
    shape: Shape,
    kind: Kind,
    rows: usize,
    max_pages: usize,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    norms: [Vec<f32>; 2],
    angles: Vec<f64>,
    positions: Vec<u32>,
    slots: Vec<u32>,
    pages: Vec<u32>,
}

impl World {
    fn new(shape: Shape, kind: Kind, random: &mut Prng) -> World {
        let rows = shape.lengths.iter().sum();
        let mut vector = |count: usize, size: f32| -> Vec<f32> {
            let unit = |random: &mut Prng| (random.u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
            (0..count).map(|_| unit(random) * size).collect()
        };
        let q = vector(rows * shape.heads * shape.dim, 2.0);
        let k = vector(rows * shape.kv_heads * shape.dim, 2.0);
        let v = vector(rows * shape.kv_heads * shape.dim, 1.0);
        let norms = [0, 1].map(|_| vector(shape.dim, 0.5).iter().map(|x| x + 1.0).collect());
        let angle = |i: usize| (i / shape.pairs) as f64 / 1.3f64.powi((i % shape.pairs) as i32);
        let longest = shape.lengths.into_iter().max().unwrap();
        let max_pages = longest.div_ceil(PAGE);
        // Pages in an order of their own, some of them unused.
        let mut order: Vec<u32> = (0..2 * max_pages as u32).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.u64() as usize % (i + 1));
        }
        let tokens = |slot: usize| (0..shape.lengths[slot] as u32).map(move |p| (p, slot as u32));
        let (positions, slots) = tokens(0).chain(tokens(1)).unzip();
        World {
            shape,
            kind,
            rows,
            max_pages,
            q,
            k,
            v,
            norms,
            angles: (0..longest * shape.pairs).map(angle).collect(),
            positions,
            slots,
            pages: order,
        }
    }

    /// A head after norm and rotation.
    fn prepared(&self, x: &[f32], norm: &[f32], position: usize) -> Vec<f64> {
        let Shape { dim, pairs, .. } = self.shape;
        let mut x: Vec<f64> = x.iter().copied().map(f64::from).collect();
        if self.shape.norm {
            let mean = x.iter().map(|x| x * x).sum::<f64>() / dim as f64;
            for (x, w) in x.iter_mut().zip(norm) {
                *x *= f64::from(*w) / (mean + f64::from(EPS)).sqrt();
            }
        }
        for i in 0..pairs {
            let (sin, cos) = self.angles[position * pairs + i].sin_cos();
            let (a, b) = match self.shape.interleaved {
                true => (2 * i, 2 * i + 1),
                false => (i, i + pairs),
            };
            (x[a], x[b]) = (x[a] * cos - x[b] * sin, x[a] * sin + x[b] * cos);
        }
        x
    }

    fn key(&self, row: usize, head: usize) -> Vec<f64> {
        let Shape { dim, kv_heads, .. } = self.shape;
        let x = &self.k[(row * kv_heads + head) * dim..][..dim];
        self.prepared(x, &self.norms[1], self.positions[row] as usize)
    }

    fn value(&self, row: usize, head: usize) -> Vec<f64> {
        let Shape { dim, kv_heads, .. } = self.shape;
        let x = &self.v[(row * kv_heads + head) * dim..][..dim];
        x.iter().copied().map(f64::from).collect()
    }

    /// Keys (0) or values (1) of a head in the page of a row's token, and the token's place there.
    fn half<'a>(
        &self,
        cache: &'a [u8],
        row: usize,
        head: usize,
        which: usize,
    ) -> (&'a [u8], usize) {
        let (slot, position) = (self.slots[row] as usize, self.positions[row] as usize);
        let page = self.pages[slot * self.max_pages + position / PAGE] as usize;
        let bytes = self.kind.bytes(self.shape.dim).1;
        let at = (page * LAYERS + LAYER) * self.shape.kv_heads + head;
        (&cache[(2 * at + which) * bytes..][..bytes], position % PAGE)
    }

    /// What the cache has for a token, as kernels round it.
    fn cached(&self, cache: &[u8], row: usize, head: usize, which: usize) -> Vec<f64> {
        let (half, token) = self.half(cache, row, head, which);
        let groups = 0..self.shape.dim.div_ceil(32);
        let numbers = groups.flat_map(|g| {
            let (scale, least, codes) = self.kind.group(half, self.shape.dim, token, g);
            codes
                .into_iter()
                .map(move |code| f16::from_f64(code * scale + least).to_f64())
        });
        numbers.collect()
    }

    /// Checks what the cache has for a token against what was to be kept.
    fn check_written(&self, cache: &[u8], row: usize, head: usize, which: usize) {
        let (half, token) = self.half(cache, row, head, which);
        let exact = match which {
            0 => self.key(row, head),
            _ => self.value(row, head),
        };
        for (g, x) in exact.chunks(32).enumerate() {
            let (scale, least, codes) = self.kind.group(half, self.shape.dim, token, g);
            let largest = x.iter().copied().fold(f64::MIN, f64::max);
            let smallest = x.iter().copied().fold(f64::MAX, f64::min);
            let size = largest.max(-smallest);
            let near = |a: f64, b: f64, of: f64| (a - b).abs() <= of * 1e-3;
            let (right, step, range) = match self.kind {
                Kind::F16 => (true, size * 2e-3, f64::MIN..=f64::MAX),
                Kind::Q8 => (near(scale, size / 127.0, scale), scale, -127.0..=127.0),
                Kind::Q4 => {
                    let right = near(least, smallest, size)
                        && near(scale, (largest - least) / 15.0, scale + size / 15.0);
                    (right, scale, 0.0..=15.0)
                }
            };
            assert!(
                right,
                "{:?} {row} {head} {which}: scale {scale}, minimum {least}",
                self.shape
            );
            for (x, code) in x.iter().zip(codes) {
                // Half a step, and what rounding the scale and the minimum leaves at the range's ends.
                let number = code * scale + least;
                let slack = 0.51 * step + size * 1.5e-3;
                assert!(
                    range.contains(&code) && (number - x).abs() <= slack,
                    "{:?} {:?} row {row}, head {head}, {which}: {number} for {x}",
                    self.kind,
                    self.shape
                );
            }
        }
    }

    /// Attention of a row over what the cache has.
    fn attention(&self, cache: &[u8], row: usize) -> Vec<f64> {
        let Shape {
            dim,
            heads,
            kv_heads,
            window,
            ..
        } = self.shape;
        let position = self.positions[row] as usize;
        let first = if window > 0 {
            (position + 1).saturating_sub(window)
        } else {
            0
        };
        let mut out = Vec::new();
        for head in 0..heads {
            let q = &self.q[(row * heads + head) * dim..][..dim];
            let q = self.prepared(q, &self.norms[0], position);
            let kv_head = head / (heads / kv_heads);
            let (mut sum, mut total) = (vec![0.0; dim], 0.0);
            for back in 0..=position - first {
                let k = self.cached(cache, row - back, kv_head, 0);
                let score: f64 = q.iter().zip(&k).map(|(q, k)| q * k).sum();
                let weight = (score * f64::from(self.scale())).exp();
                total += weight;
                let v = self.cached(cache, row - back, kv_head, 1);
                sum.iter_mut()
                    .zip(&v)
                    .for_each(|(sum, v)| *sum += weight * v);
            }
            out.extend(sum.iter().map(|sum| sum / total));
        }
        out
    }

    fn scale(&self) -> f32 {
        1.0 / (self.shape.dim as f32).sqrt()
    }

    fn cache_bytes(&self) -> usize {
        self.pages.len() * self.layer_bytes() * LAYERS
    }

    fn layer_bytes(&self) -> usize {
        self.shape.kv_heads * 2 * self.kind.bytes(self.shape.dim).1
    }
}

/// The world on a device.
struct Placed<'a> {
    bench: &'a Bench,
    world: &'a World,
    q: DeviceBuffer,
    k: DeviceBuffer,
    v: DeviceBuffer,
    norms: [DeviceBuffer; 2],
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
        match self.world.shape.norm {
            true => args.buffer(&self.norms[which], 0),
            false => args.null(),
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
        args.u64((layer * LAYERS) as u64)
            .u64((layer * LAYER) as u64)
            .u32(self.world.max_pages as u32)
    }

    fn write(&self, cache: &DeviceBuffer, keep: impl Fn(usize) -> bool) {
        let shape = self.world.shape;
        let args = Args::new()
            .buffer(&self.k, 0)
            .buffer(&self.v, 0)
            .buffer(cache, 0)
            .buffer(&self.positions(keep), 0)
            .buffer(&self.slots, 0)
            .buffer(&self.pages, 0);
        let args = self.strides(self.norm(args, 1).buffer(&self.rope, 0));
        let args = args
            .u32(shape.kv_heads as u32)
            .u32(shape.dim as u32)
            .u32(shape.pairs as u32)
            .u32(u32::from(shape.interleaved))
            .f32(EPS);
        let kernel = self
            .bench
            .device
            .kernel(&self.world.kind.name("write"))
            .unwrap();
        let grid = [self.world.rows as u32, shape.kv_heads as u32, 1];
        self.bench.launch(&kernel, grid, 64, 0, &args);
    }

    /// The arguments that attention begins with.
    fn attend_args(&self, out: &DeviceBuffer, cache: &DeviceBuffer, list: &[u32]) -> Args {
        let args = Args::new()
            .buffer(&self.q, 0)
            .buffer(out, 0)
            .buffer(cache, 0)
            .buffer(&self.positions(|_| true), 0)
            .buffer(&self.slots, 0)
            .buffer(&self.pages, 0)
            .buffer(&self.bench.buffer(list), 0);
        self.norm(args, 0).buffer(&self.rope, 0)
    }

    fn shape_args(&self, args: Args) -> Args {
        let shape = self.world.shape;
        args.u32(shape.heads as u32)
            .u32(shape.kv_heads as u32)
            .u32(shape.dim as u32)
            .u32(shape.pairs as u32)
            .u32(u32::from(shape.interleaved))
            .u32(shape.window as u32)
    }

    /// Attention of `rows` one by one; with their keys and values new if `new`.
    fn paged(&self, cache: &DeviceBuffer, rows: &[u32], new: bool) -> Vec<f32> {
        let World {
            shape, max_pages, ..
        } = *self.world;
        let columns = shape.dim.next_power_of_two();
        let parts = (max_pages * PAGE).div_ceil(SPLIT);
        let groups = shape.kv_heads * (shape.heads / shape.kv_heads).div_ceil(HEADS);
        let blocks = rows.len() * groups;
        let out = self.out();
        let parts_out = vec![u32::MAX; blocks * parts * HEADS * (2 + shape.dim)];
        let counters = self.bench.buffer(&vec![0; blocks]);
        let args = self.attend_args(&out, cache, rows);
        let args = match new {
            true => self.norm(args.buffer(&self.k, 0).buffer(&self.v, 0), 1),
            false => args.null().null().null(),
        };
        let args = args
            .buffer(&self.bench.buffer(&parts_out), 0)
            .buffer(&counters, 0);
        let args = self.shape_args(self.strides(args));
        let args = args.u32(1).f32(EPS).f32(self.world.scale()).f32(EPS);
        let kernel = self.world.kind.name(&format!("paged_{columns}"));
        let kernel = self.bench.device.kernel(&kernel).unwrap();
        let grid = [rows.len() as u32, groups as u32, parts as u32];
        self.bench.launch(&kernel, grid, 256, 0, &args);
        assert!(self.bench.values(&counters).iter().all(|count| *count == 0));
        self.floats(&out)
    }

    /// Attention of all rows in tiles.
    fn flash(&self, cache: &DeviceBuffer) -> Vec<f32> {
        let shape = self.world.shape;
        let columns = if shape.dim <= 64 { 64 } else { 128 };
        let mut tiles = Vec::new();
        for (slot, length) in shape.lengths.into_iter().enumerate() {
            for first in (0..length).step_by(64) {
                tiles.push((slot * shape.lengths[0] + first) as u32);
                tiles.push(64.min(length - first) as u32);
            }
        }
        let out = self.out();
        let args = self.attend_args(&out, cache, &tiles);
        let args = self
            .shape_args(self.strides(args))
            .f32(EPS)
            .f32(self.world.scale());
        let kernel = self.world.kind.name(&format!("flash_{columns}"));
        let kernel = self.bench.device.kernel(&kernel).unwrap();
        let grid = [tiles.len() as u32 / 2, shape.heads as u32, 1];
        self.bench
            .launch(&kernel, grid, 4 * self.bench.wave(), 0, &args);
        self.floats(&out)
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

/// Every shape with every kind of cache, on targets of each wave size and matrix unit.
fn every_case(targets: &[&str], test: impl Fn(&Placed<'_>)) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    on_targets(targets, |bench| {
        let mut random = Prng::new(seed);
        for shape in SHAPES {
            for kind in [Kind::F16, Kind::Q8, Kind::Q4] {
                let world = World::new(shape, kind, &mut random);
                test(&Placed::new(bench, &world));
            }
        }
    });
}

/// Checks rows of a result; `tolerance` is of values between -1 and 1.
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
    every_case(&["gfx942", "gfx1030", "gfx1100", "gfx1201"], |placed| {
        let world = placed.world;
        let [first, second] = world.shape.lengths;
        let last = [first - 1, first + second - 1];
        // All but the last token of each sequence by the kernel for prompts, the last one by attention.
        let cache = placed.cache();
        placed.write(&cache, |row| !last.contains(&row));
        let rows = last.map(|row| row as u32);
        let decoded = placed.paged(&cache, &rows, true);
        let bytes = placed.bytes(&cache);
        for row in 0..world.rows {
            for head in 0..world.shape.kv_heads {
                world.check_written(&bytes, row, head, 0);
                world.check_written(&bytes, row, head, 1);
            }
        }
        check_rows(placed, &bytes, &decoded, &rows, 2e-5);
        // The cache is the same if all came as a prompt, and so is the result.
        let whole = placed.cache();
        placed.write(&whole, |_| true);
        assert!(
            placed.bytes(&whole) == bytes,
            "{:?} {:?}",
            world.kind,
            world.shape
        );
        let mut some = [0, 5, 31, 32, last[0], first, last[1]]
            .map(|row| row as u32)
            .to_vec();
        some.dedup();
        let prompt = placed.paged(&whole, &some, false);
        check_rows(placed, &bytes, &prompt, &some, 2e-5);
        let width = world.shape.heads * world.shape.dim;
        for row in last {
            let of = |x: &[f32]| x[row * width..][..width].to_vec();
            assert!(
                of(&prompt) == of(&decoded),
                "{:?} {:?}",
                world.kind,
                world.shape
            );
        }
    });
}

#[test]
fn tiles_of_queries_over_every_cache() {
    every_case(&["gfx942", "gfx1100", "gfx1201"], |placed| {
        let cache = placed.cache();
        placed.write(&cache, |_| true);
        let out = placed.flash(&cache);
        let rows: Vec<u32> = (0..placed.world.rows as u32).step_by(7).collect();
        // Queries and weights are rounded to f16.
        check_rows(placed, &placed.bytes(&cache), &out, &rows, 4e-3);
    });
}
