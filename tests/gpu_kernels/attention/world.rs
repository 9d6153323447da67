//! Random sequences, what a kind of cache keeps of them, and attention in f64.

use crate::prng::Prng;
use half::f16;

/// Tokens of a page, layers of the cache, and the layer in use.
pub const PAGE: usize = 32;
pub const LAYERS: usize = 2;
pub const LAYER: usize = 1;

/// A kind of cache, from the comment at the head of `hip/ops/attention/cache.h`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    F16,
    Q8,
    Q4,
}

impl Kind {
    pub fn name(self, kernel: &str) -> String {
        let suffix = match self {
            Kind::F16 => "",
            Kind::Q8 => "_q8",
            Kind::Q4 => "_q4",
        };
        format!("mlxrocm_attention_{kernel}{suffix}")
    }

    pub fn padded(self, dim: usize) -> usize {
        dim.next_multiple_of(if self == Kind::F16 { 8 } else { 32 })
    }

    /// Bytes of a head's keys, or values, in a page: codes, all.
    pub fn bytes(self, dim: usize) -> (usize, usize) {
        let (columns, groups) = (self.padded(dim), dim.div_ceil(32));
        let (codes, scales) = match self {
            Kind::F16 => (columns * 2, 0),
            Kind::Q8 => (columns, groups * 2),
            Kind::Q4 => (columns / 2, groups * 4),
        };
        (PAGE * codes, PAGE * (codes + scales))
    }

    /// Scale, minimum and codes of a group of a token; f16 has neither.
    pub fn group(
        self,
        half: &[u8],
        dim: usize,
        token: usize,
        group: usize,
    ) -> (f64, f64, Vec<f64>) {
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
pub struct Shape {
    pub dim: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub pairs: usize,
    pub interleaved: bool,
    pub norm: bool,
    pub window: usize,
    pub sinks: bool,
    pub lengths: [usize; 2],
}

pub const SHAPES: [Shape; 6] = [
    Shape {
        dim: 64,
        heads: 3,
        kv_heads: 1,
        pairs: 32,
        interleaved: false,
        norm: true,
        window: 0,
        sinks: true,
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
        sinks: false,
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
        sinks: true,
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
        sinks: false,
        lengths: [33, 1],
    },
    Shape {
        dim: 160,
        heads: 3,
        kv_heads: 1,
        pairs: 40,
        interleaved: true,
        norm: false,
        window: 20,
        sinks: true,
        lengths: [35, 64],
    },
    Shape {
        dim: 256,
        heads: 2,
        kv_heads: 2,
        pairs: 128,
        interleaved: false,
        norm: true,
        window: 0,
        sinks: true,
        lengths: [70, 33],
    },
];

pub const EPS: f32 = 1e-5;

/// Two sequences of random queries, keys and values; rows are the tokens of both.
pub struct World {
    pub shape: Shape,
    pub kind: Kind,
    pub rows: usize,
    pub max_pages: usize,
    pub q: Vec<f32>,
    pub k: Vec<f32>,
    pub v: Vec<f32>,
    pub norms: [Vec<f32>; 2],
    /// Of each head: far below, among and far above its scores.
    pub sinks: Vec<f32>,
    pub angles: Vec<f64>,
    pub positions: Vec<u32>,
    pub slots: Vec<u32>,
    pub pages: Vec<u32>,
}

impl World {
    pub fn new(shape: Shape, kind: Kind, random: &mut Prng) -> World {
        let rows = shape.lengths.iter().sum();
        let mut vector = |count: usize, size: f32| -> Vec<f32> {
            let unit = |random: &mut Prng| (random.u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
            (0..count).map(|_| unit(random) * size).collect()
        };
        let q = vector(rows * shape.heads * shape.dim, 2.0);
        let k = vector(rows * shape.kv_heads * shape.dim, 2.0);
        // Far from 0, so that a minimum that is not the columns' own shows.
        let v = vector(rows * shape.kv_heads * shape.dim, 1.0);
        let v = v.iter().map(|v| v + 1.5).collect();
        let norms = [0, 1].map(|_| vector(shape.dim, 0.5).iter().map(|x| x + 1.0).collect());
        let sinks = (0..shape.heads).map(|h| [-3.0, 2.5, 0.0, 9.0][h % 4] + vector(1, 0.5)[0]);
        let sinks = sinks.collect();
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
            sinks,
            angles: (0..longest * shape.pairs).map(angle).collect(),
            positions,
            slots,
            pages: order,
        }
    }

    /// A head after norm and rotation.
    pub fn prepared(&self, x: &[f32], norm: &[f32], position: usize) -> Vec<f64> {
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

    pub fn key(&self, row: usize, head: usize) -> Vec<f64> {
        let Shape { dim, kv_heads, .. } = self.shape;
        let x = &self.k[(row * kv_heads + head) * dim..][..dim];
        self.prepared(x, &self.norms[1], self.positions[row] as usize)
    }

    pub fn value(&self, row: usize, head: usize) -> Vec<f64> {
        let Shape { dim, kv_heads, .. } = self.shape;
        let x = &self.v[(row * kv_heads + head) * dim..][..dim];
        x.iter().copied().map(f64::from).collect()
    }

    /// Keys (0) or values (1) of a head in the page of a row's token, and the token's place there.
    pub fn half<'a>(
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
    pub fn cached(&self, cache: &[u8], row: usize, head: usize, which: usize) -> Vec<f64> {
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
    pub fn check_written(&self, cache: &[u8], row: usize, head: usize, which: usize) {
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
            // Half a step of the least numbers of f16: a group can be one column.
            let least_step = 2f64.powi(-25);
            let near = |a: f64, b: f64, of: f64| (a - b).abs() <= of * 1e-3 + least_step;
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
                let slack = 0.51 * step + size * 1.5e-3 + 127.0 * least_step;
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
    pub fn attention(&self, cache: &[u8], row: usize) -> Vec<f64> {
        self.limited_attention(cache, row, 0.0, 0)
    }

    /// The same with a soft cap of scores and runs of so many tokens that see no other; 0: there is none.
    pub fn limited_attention(&self, cache: &[u8], row: usize, cap: f64, chunk: usize) -> Vec<f64> {
        let Shape {
            dim,
            heads,
            kv_heads,
            window,
            ..
        } = self.shape;
        let position = self.positions[row] as usize;
        let mut first = if window > 0 {
            (position + 1).saturating_sub(window)
        } else {
            0
        };
        if let Some(run) = position.checked_div(chunk) {
            first = first.max(run * chunk);
        }
        let mut out = Vec::new();
        for head in 0..heads {
            let q = &self.q[(row * heads + head) * dim..][..dim];
            let q = self.prepared(q, &self.norms[0], position);
            let kv_head = head / (heads / kv_heads);
            let sink = f64::from(self.sinks[head]).exp();
            let total = if self.shape.sinks { sink } else { 0.0 };
            let (mut sum, mut total) = (vec![0.0; dim], total);
            for back in 0..=position - first {
                let k = self.cached(cache, row - back, kv_head, 0);
                let score: f64 = q.iter().zip(&k).map(|(q, k)| q * k).sum();
                let mut score = score * f64::from(self.scale());
                if cap > 0.0 {
                    score = cap * (score / cap).tanh();
                }
                let weight = score.exp();
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

    pub fn scale(&self) -> f32 {
        1.0 / (self.shape.dim as f32).sqrt()
    }

    pub fn cache_bytes(&self) -> usize {
        self.pages.len() * self.layer_bytes() * LAYERS
    }

    pub fn layer_bytes(&self) -> usize {
        self.shape.kv_heads * 2 * self.kind.bytes(self.shape.dim).1
    }
}
