//! Single queries: by `hip/ops/attention/paged.hip`, and by `paged_warps.hip` where it is.

use super::world::{EPS, Kind, PAGE, Shape, World};
use super::{HEADS, PARTS, Placed, SPLIT, check_rows, fresh_seed};
use crate::on_every_target;
use crate::prng::Prng;
use mlxrocm::gpu::DeviceBuffer;

/// A kernel for single queries: query heads of a block, the most parts, how it is launched.
pub struct Form {
    name: &'static str,
    heads: usize,
    most: usize,
    threads: u32,
    shared: u32,
    adders: Option<u32>,
}

impl Form {
    const USUAL: Form = Form {
        name: "paged",
        heads: HEADS,
        most: PARTS,
        threads: 256,
        shared: 0,
        adders: None,
    };

    /// With so many parts at most, which so many blocks add.
    fn grouped(dim: usize, most: usize, adders: u32) -> Form {
        Form {
            name: "paged_warps",
            heads: 8,
            most,
            threads: 288,
            shared: 512 * dim.next_power_of_two() as u32,
            adders: Some(adders),
        }
    }
}

impl<'a> Placed<'a> {
    /// The rows alone, each a sequence's only token: what decoding gives its kernel.
    fn alone(&self, rows: &[u32]) -> Placed<'a> {
        let World { shape, .. } = *self.world;
        let floats = |x: &[f32], width: usize| {
            let row = |&row: &u32| &x[row as usize * width..][..width];
            let bits = rows.iter().flat_map(row).map(|x| x.to_bits());
            self.bench.buffer(&bits.collect::<Vec<_>>())
        };
        let slots: Vec<u32> = rows.iter().map(|&r| self.world.slots[r as usize]).collect();
        Placed {
            q: floats(&self.world.q, shape.heads * shape.dim),
            k: floats(&self.world.k, shape.kv_heads * shape.dim),
            v: floats(&self.world.v, shape.kv_heads * shape.dim),
            slots: self.bench.buffer(&slots),
            ..Placed::new(self.bench, self.world)
        }
    }

    /// Attention of `rows` one by one; with their keys and values new if `new`.
    pub fn paged(&self, cache: &DeviceBuffer, rows: &[u32], new: bool) -> Vec<f32> {
        self.paged_by(&Form::USUAL, cache, rows, new)
    }

    pub fn paged_by(&self, form: &Form, cache: &DeviceBuffer, rows: &[u32], new: bool) -> Vec<f32> {
        let World {
            shape, max_pages, ..
        } = *self.world;
        let columns = shape.dim.next_power_of_two().max(32);
        let parts = (max_pages * PAGE).div_ceil(SPLIT).min(form.most);
        let groups = shape.kv_heads * (shape.heads / shape.kv_heads).div_ceil(form.heads);
        let blocks = rows.len() * groups;
        let out = self.out();
        let parts_out = vec![u32::MAX; blocks * parts * form.heads * (2 + columns)];
        let counters = self.bench.buffer(&vec![0; blocks]);
        let positions = match new {
            true => rows
                .iter()
                .map(|&r| self.world.positions[r as usize])
                .collect(),
            false => self.world.positions.clone(),
        };
        let positions = self.bench.buffer(&positions);
        let args = match new {
            true => {
                let list: Vec<u32> = (0..rows.len() as u32).collect();
                let alone = self.alone(rows);
                let args = alone.attend_args(&out, cache, &positions, ("tokens", &list));
                self.norm(args.buffer("k", &alone.k, 0).buffer("v", &alone.v, 0), 1)
            }
            false => {
                let args = self.attend_args(&out, cache, &positions, ("tokens", rows));
                args.null("k").null("v").null("k_norm")
            }
        };
        // Results meet a gate, which is taken away again: the same for all rows.
        let width = shape.heads * shape.dim;
        let gate = |i: usize| (i % width * 7 % 17) as f32 / 4.0 - 2.0;
        let gates: Vec<u32> = (0..self.world.rows * width)
            .map(|i| gate(i).to_bits())
            .collect();
        let args = args
            .buffer("parts", &self.bench.buffer(&parts_out), 0)
            .buffer("counters", &counters, 0);
        let args = self.shape_args(self.strides(args));
        let args = args
            .u32("by_token", 1)
            .f32("eps", EPS)
            .f32("scale", self.world.scale())
            .f32("k_eps", EPS);
        let args = match form.adders {
            Some(adders) => args.u32("most", form.most as u32).u32("adders", adders),
            None => args,
        };
        let args = args.buffer("gate", &self.bench.buffer(&gates), 0);
        let kernel = self.world.kind.name(&format!("{}_{columns}", form.name));
        let kernel = self.bench.device.kernel(&kernel).unwrap();
        let grid = [rows.len() as u32, groups as u32, parts as u32];
        self.bench
            .launch(&kernel, grid, form.threads, form.shared, &args);
        assert!(self.bench.values(&counters).iter().all(|count| *count == 0));
        let mut out = self.floats(&out);
        for (i, x) in out.iter_mut().enumerate() {
            *x = (f64::from(*x) * (1.0 + f64::from(-gate(i)).exp())) as f32;
        }
        if !new {
            return out;
        }
        // Back to their places; the others have none.
        let mut placed = vec![f32::NAN; out.len()];
        for (&row, values) in rows.iter().zip(out.chunks(width)) {
            placed[row as usize * width..][..width].copy_from_slice(values);
        }
        placed
    }
}

/// Single queries of a world: those of decoding, and some of a prompt.
pub fn check_single_queries(placed: &Placed<'_>) {
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
    check_rows(placed, &bytes, &decoded, &rows, 5e-5);
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
    check_rows(placed, &bytes, &prompt, &some, 5e-5);
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
}

/// Single queries of a world by `paged_warps.hip`, with many and with few parts, added by one block and by several, which
/// changes no bit; nor does it whether the last token is in the cache before.
fn check_grouped(placed: &Placed<'_>) {
    let world = placed.world;
    let [first, second] = world.shape.lengths;
    let last = [first - 1, first + second - 1];
    let rows = last.map(|row| row as u32);
    let mut some = vec![0, 5, rows[0], first as u32, rows[1]];
    some.dedup();
    let [cache, whole] = [placed.cache(), placed.cache()];
    placed.write(&cache, |row| !last.contains(&row));
    placed.write(&whole, |_| true);
    let bytes = placed.bytes(&whole);
    let width = world.shape.heads * world.shape.dim;
    let of = |x: &[f32]| -> Vec<u32> {
        let row = |row: &usize| x[row * width..][..width].iter().map(|x| x.to_bits());
        last.iter().flat_map(row).collect()
    };
    for most in [132, 3] {
        let mut bits = None;
        for adders in [1, 2, 3, 8] {
            let form = Form::grouped(world.shape.dim, most, adders);
            let decoded = placed.paged_by(&form, &cache, &rows, true);
            let prompt = placed.paged_by(&form, &whole, &some, false);
            assert!(placed.bytes(&cache) == bytes, "{:?}", world.shape);
            if bits.is_none() {
                check_rows(placed, &bytes, &prompt, &some, 5e-5);
            }
            let bits = bits.get_or_insert_with(|| of(&prompt));
            for result in [&decoded, &prompt] {
                assert!(*bits == of(result), "{:?} {most} {adders}", world.shape);
            }
        }
    }
}

/// Heads of 128 and 256 columns and such as are padded to them, one to eleven of a key head; sequences of one part and
/// of many.
#[test]
fn many_query_heads_of_a_key_head() {
    // Columns, query heads, key heads, window, lengths.
    const CASES: [(usize, usize, usize, usize, [usize; 2]); 10] = [
        (128, 16, 2, 0, [300, 33]),
        (128, 5, 1, 0, [4400, 17]),
        (128, 11, 1, 50, [600, 128]),
        (100, 7, 1, 0, [161, 16]),
        (256, 16, 2, 0, [550, 17]),
        (256, 2, 1, 0, [4300, 1]),
        (256, 8, 2, 70, [300, 257]),
        (256, 1, 1, 0, [140, 32]),
        (255, 3, 1, 0, [150, 31]),
        (160, 10, 2, 130, [700, 513]),
    ];
    let seed = fresh_seed();
    println!("seed {seed}");
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_attention_paged_warps_128");
        if kernel.is_err() {
            return;
        }
        let mut random = Prng::new(seed);
        for (i, (dim, heads, kv_heads, window, lengths)) in CASES.into_iter().enumerate() {
            let shape = Shape {
                dim,
                heads,
                kv_heads,
                window,
                lengths,
                pairs: [dim / 2, 16][i % 2],
                interleaved: i % 3 == 0,
                norm: i % 4 > 0,
                sinks: i % 2 == 0,
            };
            let world = World::new(shape, Kind::F16, &mut random);
            check_grouped(&Placed::new(bench, &world));
        }
    });
}
