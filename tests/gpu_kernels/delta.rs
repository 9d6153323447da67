//! Gated delta rules (`hip/ops/recurrent/delta.h`, `delta_chunks.h`) beside the rule in f64, token by token.

use crate::prng::Prng;
use crate::{Bench, gpu, on_targets};
use mlxrocm::gpu::{Args, DeviceBuffer};

const CHUNK: usize = 64;
const EPS: f64 = 1e-6;
/// A state's rows that a block takes.
pub const BLOCK_ROWS: usize = 32;
pub const NAN: u32 = 0x7fc0_1234;

#[derive(Debug, Clone, Copy)]
struct Case {
    key_heads: usize,
    heads: usize,
    tiled: bool,
    key_dim: usize,
    value_dim: usize,
    /// Whether decays and betas are made of a and b.
    gates: bool,
    /// Tokens of each sequence, and rows behind the last that are not used.
    tokens: &'static [usize],
    unused: usize,
}

const CASES: [Case; 4] = [
    Case {
        key_heads: 2,
        heads: 4,
        tiled: false,
        key_dim: 128,
        value_dim: 64,
        gates: true,
        tokens: &[150, 1, 64, 0, 63, 129],
        unused: 5,
    },
    Case {
        key_heads: 3,
        heads: 6,
        tiled: true,
        key_dim: 100,
        value_dim: 41,
        gates: false,
        tokens: &[65],
        unused: 0,
    },
    Case {
        key_heads: 1,
        heads: 1,
        tiled: false,
        key_dim: 64,
        value_dim: 32,
        gates: true,
        tokens: &[3, 200],
        unused: 1,
    },
    Case {
        key_heads: 2,
        heads: 2,
        tiled: true,
        key_dim: 24,
        value_dim: 50,
        gates: false,
        tokens: &[70, 70],
        unused: 0,
    },
];

/// What a batch of sequences gives; each row of it is `[heads][dim]`.
struct Batch {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    decay: Vec<f32>,
    beta: Vec<f32>,
}

impl Case {
    fn rows(&self) -> usize {
        self.tokens.iter().sum()
    }

    fn dim(&self) -> usize {
        if self.key_dim <= 64 { 64 } else { 128 }
    }

    fn ratio(&self) -> usize {
        match self.tiled {
            true => self.key_heads,
            false => self.heads / self.key_heads,
        }
    }

    fn key_head(&self, head: usize) -> usize {
        match self.tiled {
            true => head % self.ratio(),
            false => head / self.ratio(),
        }
    }

    fn batch(&self, random: &mut Prng) -> Batch {
        let rows = self.rows() + self.unused;
        let mut numbers = |width: usize, low: f64, high: f64| -> Vec<f32> {
            (0..rows * width)
                .map(|_| random.uniform(low, high) as f32)
                .collect()
        };
        let (decays, betas) = match self.gates {
            true => ((-4.0, 3.0), (-3.0, 3.0)),
            false => ((0.0, 1.0), (0.0, 1.0)),
        };
        let mut batch = Batch {
            q: numbers(self.key_heads * self.key_dim, -1.0, 1.0),
            k: numbers(self.key_heads * self.key_dim, -1.0, 1.0),
            // Of a size that f16 would not hold.
            v: numbers(self.heads * self.value_dim, -1e-6, 1e-6),
            decay: numbers(self.heads, decays.0, decays.1),
            beta: numbers(self.heads, betas.0, betas.1),
        };
        for token in 0..rows {
            let key = token * self.key_heads * self.key_dim;
            match token {
                // Keys that are almost the same, one that is zero, and a decay that leaves nothing.
                10..30 => {
                    for i in 0..self.key_heads * self.key_dim {
                        batch.k[key + i] = 0.5 + batch.k[key + i] * 0.01;
                    }
                }
                35 => batch.k[key..][..self.key_dim].fill(0.0),
                40 if !self.gates => batch.decay[token * self.heads] = 0.0,
                _ => {}
            }
        }
        batch
    }
}

/// The rule of a sequence's tokens from `first` on, in f64; `states` [heads][value_dim][key_dim] go on.
fn exact(
    case: &Case,
    batch: &Batch,
    rate: &[f32],
    floor: &[f32],
    range: std::ops::Range<usize>,
    states: &mut [f64],
) -> Vec<f64> {
    let (keys, values) = (case.key_dim, case.value_dim);
    let mut all = Vec::new();
    for token in range {
        for head in 0..case.heads {
            let place = (token * case.key_heads + case.key_head(head)) * keys;
            let unit = |x: &[f32]| -> Vec<f64> {
                let x = x[place..place + keys].iter().map(|&x| f64::from(x));
                let squares: f64 = x.clone().map(|x| x * x).sum();
                x.map(|x| x / (squares + EPS).sqrt()).collect()
            };
            let (q, k) = (unit(&batch.q), unit(&batch.k));
            let at = token * case.heads + head;
            let (mut decay, mut beta) = (f64::from(batch.decay[at]), f64::from(batch.beta[at]));
            if case.gates {
                let sum = decay.exp() + f64::from(floor[head]).exp();
                decay = (f64::from(rate[head]) * sum.ln()).exp();
                beta = 1.0 / (1.0 + (-beta).exp());
            }
            let state = &mut states[head * values * keys..][..values * keys];
            for (row, s) in state.chunks_exact_mut(keys).enumerate() {
                let v = f64::from(batch.v[at * values + row]);
                s.iter_mut().for_each(|s| *s *= decay);
                let known: f64 = s.iter().zip(&k).map(|(s, k)| s * k).sum();
                s.iter_mut()
                    .zip(&k)
                    .for_each(|(s, k)| *s += beta * (v - known) * k);
                let out: f64 = s.iter().zip(&q).map(|(s, q)| s * q).sum();
                all.push(out / (keys as f64).sqrt());
            }
        }
    }
    all
}

/// A case on a device: the states of its sequences lie in the first copy or the second.
struct World<'a> {
    bench: &'a Bench,
    case: Case,
    state: DeviceBuffer,
    floats: usize,
    rate: DeviceBuffer,
    floor: DeviceBuffer,
}

impl World<'_> {
    fn sequences(&self, fresh: bool, second: bool) -> DeviceBuffer {
        let (case, mut words, mut first) = (&self.case, Vec::new(), 0);
        for (slot, &tokens) in case.tokens.iter().enumerate() {
            let last = slot + 1 == case.tokens.len();
            let unused = if last { case.unused as u32 } else { 0 };
            let flags = u32::from(fresh) | u32::from(second) << 1 | unused << 2;
            words.extend([first, tokens as u32, slot as u32, flags]);
            first += tokens as u32;
        }
        self.bench.buffer(&words)
    }

    /// The batch's results: by chunks those sequences that are long enough, or all token by token.
    fn run(&self, batch: &Batch, by_chunks: bool, fresh: bool, second: bool) -> Vec<f32> {
        let (bench, case) = (self.bench, &self.case);
        let put = |values: &[f32]| -> DeviceBuffer {
            bench.buffer(&values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let (q, k, v) = (put(&batch.q), put(&batch.k), put(&batch.v));
        let (decay, beta) = (put(&batch.decay), put(&batch.beta));
        let sequences = self.sequences(fresh, second);
        let rows = case.rows() + case.unused;
        let out = bench.buffer(&vec![NAN; rows * case.heads * case.value_dim + 1]);
        let (heads, slots, dim) = (case.heads as u32, case.tokens.len() as u32, case.dim());
        let blocks = case.value_dim.div_ceil(BLOCK_ROWS) as u32;
        let ratio = case.ratio() as u32;
        let width = (case.key_heads * case.key_dim) as u32;
        let v_width = (case.heads * case.value_dim) as u32;
        let gates = |args: Args| match case.gates {
            true => args
                .buffer("rate", &self.rate, 0)
                .buffer("floor", &self.floor, 0),
            false => args.null("rate").null("floor"),
        };
        let kernel = |name: &str| bench.device.kernel(name).unwrap();
        if by_chunks {
            let chunks = rows / CHUNK + slots as usize;
            // What nothing wrote is no number.
            let poison = |numbers: usize| bench.buffer(&vec![0xffff_ffff; numbers]);
            let keys = poison(chunks * case.key_heads * 6 * CHUNK * dim / 2);
            let squares = poison(chunks * case.heads * 2 * CHUNK * CHUNK);
            let of_gates = poison(chunks * case.heads * 3 * CHUNK);
            let args = Args::new()
                .buffer("q", &q, 0)
                .buffer("k", &k, 0)
                .buffer("keys", &keys, 0)
                .buffer("sequences", &sequences, 0)
                .u32("slots", slots)
                .u32("q_width", width)
                .u32("k_width", width)
                .u32("key_dim", case.key_dim as u32)
                .f32("eps", EPS as f32);
            let grid = [chunks as u32, case.key_heads as u32, 1];
            let of = kernel(&format!("mlxrocm_delta_keys_{dim}"));
            bench.launch(&of, grid, 8 * bench.wave(), 0, &args);
            let args = Args::new()
                .buffer("keys", &keys, 0)
                .buffer("squares", &squares, 0)
                .buffer("gates", &of_gates, 0)
                .buffer("decay", &decay, 0)
                .buffer("beta", &beta, 0);
            let args = gates(args)
                .buffer("sequences", &sequences, 0)
                .u32("slots", slots)
                .u32("key_heads", case.key_heads as u32)
                .u32("ratio", ratio)
                .u32("tiled", u32::from(case.tiled));
            let of = kernel(&format!("mlxrocm_delta_chunks_{dim}"));
            let grid = [chunks as u32, heads, 1];
            bench.launch(&of, grid, 4 * bench.wave(), 0, &args);
            let args = Args::new()
                .buffer("keys", &keys, 0)
                .buffer("squares", &squares, 0)
                .buffer("gates", &of_gates, 0)
                .buffer("v", &v, 0)
                .buffer("out", &out, 0)
                .buffer("state", &self.state, 0)
                .u32("slots", slots)
                .u32("floats", self.floats as u32)
                .buffer("sequences", &sequences, 0)
                .u32("v_width", v_width)
                .u32("heads", heads)
                .u32("key_heads", case.key_heads as u32)
                .u32("ratio", ratio)
                .u32("tiled", u32::from(case.tiled))
                .u32("value_dim", case.value_dim as u32);
            let of = kernel(&format!("mlxrocm_delta_states_{dim}"));
            bench.launch(&of, [blocks, heads, slots], 8 * bench.wave(), 0, &args);
        }
        let args = Args::new()
            .buffer("q", &q, 0)
            .buffer("k", &k, 0)
            .buffer("v", &v, 0)
            .buffer("decay", &decay, 0)
            .buffer("beta", &beta, 0);
        let most = if by_chunks {
            CHUNK as u32 - 1
        } else {
            u32::MAX
        };
        let args = gates(args)
            .buffer("out", &out, 0)
            .buffer("state", &self.state, 0)
            .u32("slots", slots)
            .u32("floats", self.floats as u32)
            .buffer("sequences", &sequences, 0)
            .u32("q_width", width)
            .u32("k_width", width)
            .u32("v_width", v_width)
            .u32("heads", heads)
            .u32("ratio", ratio)
            .u32("tiled", u32::from(case.tiled))
            .u32("key_dim", case.key_dim as u32)
            .u32("value_dim", case.value_dim as u32)
            .f32("eps", EPS as f32)
            .u32("most", most);
        let of = kernel(&format!("mlxrocm_gated_delta_{dim}"));
        bench.launch(&of, [blocks, heads, slots], 128, 0, &args);
        let mut values = bench.values(&out);
        assert_eq!(values.pop(), Some(NAN), "written past the end");
        values.into_iter().map(f32::from_bits).collect()
    }
}

/// Sequences by chunks and token by token, whose states come from one and go to the other.
#[test]
fn chunks_give_what_tokens_give() {
    // Those with a matrix unit.
    let targets: Vec<&str> = gpu::targets();
    let targets: Vec<&str> = targets.into_iter().filter(|&t| t != "gfx1030").collect();
    on_targets(&targets, |bench| {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seed = time.map_or(1, |time| time.as_nanos() as u64);
        println!("seed {seed}");
        let random = &mut Prng::new(seed);
        for case in CASES {
            let floats = case.heads * case.value_dim.next_multiple_of(BLOCK_ROWS) * case.dim();
            let numbers = |random: &mut Prng, low: f64, high: f64| -> Vec<f32> {
                (0..case.heads)
                    .map(|_| random.uniform(low, high) as f32)
                    .collect()
            };
            // No decay above 1: no model has one, and states would grow from token to token with all that was rounded.
            let (rate, floor) = (numbers(random, -4.0, -0.01), numbers(random, 0.0, 1.0));
            let put = |values: &[f32]| -> DeviceBuffer {
                bench.buffer(&values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            let world = World {
                bench,
                case,
                state: bench.buffer(&vec![NAN; 2 * case.tokens.len() * floats]),
                floats,
                rate: put(&rate),
                floor: put(&floor),
            };
            let mut states =
                vec![vec![0.0; case.heads * case.value_dim * case.key_dim]; case.tokens.len()];
            for (step, by_chunks) in [true, true, false, true].into_iter().enumerate() {
                let batch = case.batch(random);
                let given = world.run(&batch, by_chunks, step == 0, step % 2 == 1);
                let mut first = 0;
                for (slot, &tokens) in case.tokens.iter().enumerate() {
                    let range = first..first + tokens;
                    let expected = exact(&case, &batch, &rate, &floor, range, &mut states[slot]);
                    let width = case.heads * case.value_dim;
                    let given = &given[first * width..][..tokens * width];
                    let largest = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                    for (i, (&given, expected)) in given.iter().zip(&expected).enumerate() {
                        let far = (f64::from(given) - expected).abs() / largest;
                        let place = (i / width, i % width / case.value_dim, i % case.value_dim);
                        assert!(
                            far <= 2e-4,
                            "{case:?} step {step} slot {slot} {place:?}: {given} for {expected}, {far:e} of the largest"
                        );
                    }
                    first += tokens;
                }
                let width = case.heads * case.value_dim;
                assert!(given[first * width..].iter().all(|&x| x == 0.0), "unused");
            }
        }
    });
}
