//! A gated delta net's layer of few tokens in one launch (`hip/ops/recurrent/delta_step.hip`) beside the launches that it stands
//! for, bit for bit: results, states and what convolutions keep. (What those say is compared with f64 in `delta.rs` and with
//! references in `tests/gpu_delta.rs`.)

use crate::delta::{BLOCK_ROWS, NAN};
use crate::prng::Prng;
use crate::{Bench, on_every_target};
use mlxrocm::gpu::{Args, DeviceBuffer};

const UNUSED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Case {
    key_heads: usize,
    heads: usize,
    tiled: bool,
    key_dim: usize,
    value_dim: usize,
    taps: usize,
    silu: bool,
    gates: bool,
    norm: bool,
    tokens: &'static [usize],
    unused: usize,
}

const PLAIN: Case = Case {
    key_heads: 2,
    heads: 6,
    tiled: false,
    key_dim: 128,
    value_dim: 128,
    taps: 4,
    silu: true,
    gates: true,
    norm: true,
    tokens: &[1, 1, 1],
    unused: 0,
};

const CASES: [Case; 5] = [
    PLAIN,
    Case {
        key_heads: 3,
        tiled: true,
        key_dim: 100,
        value_dim: 41,
        tokens: &[2, 0, 5],
        unused: 2,
        ..PLAIN
    },
    Case {
        key_dim: 24,
        value_dim: 50,
        taps: 3,
        norm: false,
        tokens: &[4, 1],
        ..PLAIN
    },
    Case {
        key_dim: 64,
        value_dim: 32,
        taps: 1,
        silu: false,
        gates: false,
        tokens: &[3],
        unused: 1,
        ..PLAIN
    },
    Case {
        key_heads: 1,
        heads: 1,
        value_dim: 65,
        taps: 2,
        tokens: &[1, 7],
        ..PLAIN
    },
];

impl Case {
    fn rows(&self) -> usize {
        self.tokens.iter().sum::<usize>() + self.unused
    }
    fn dim(&self) -> usize {
        if self.key_dim <= 64 { 64 } else { 128 }
    }
    fn ratio(&self) -> u32 {
        let ratio = match self.tiled {
            true => self.key_heads,
            false => self.heads / self.key_heads,
        };
        ratio as u32
    }
    fn keys(&self) -> usize {
        self.key_heads * self.key_dim
    }
    fn values(&self) -> usize {
        self.heads * self.value_dim
    }
    /// Columns in front of q that nobody reads, then q, k and v.
    fn channels(&self) -> usize {
        3 + 2 * self.keys() + self.values()
    }
    fn columns(&self) -> [usize; 3] {
        [3, 3 + self.keys(), 3 + 2 * self.keys()]
    }
    /// Numbers of what the convolution keeps, and of the rule's states.
    fn floats(&self) -> [usize; 2] {
        let blocks = self.value_dim.div_ceil(BLOCK_ROWS);
        let tail = ((self.taps - 1) * self.channels()).next_multiple_of(4);
        [tail, self.heads * blocks * BLOCK_ROWS * self.dim()]
    }

    /// Each row's position and sequence, and what layers know of sequences.
    fn places(&self, fresh: bool, second: bool) -> [Vec<u32>; 3] {
        let (mut positions, mut slices, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (slot, &tokens) in self.tokens.iter().enumerate() {
            let is_last = slot + 1 == self.tokens.len();
            let unused = if is_last { self.unused as u32 } else { 0 };
            let flags = u32::from(fresh) | u32::from(second) << 1 | unused << 2;
            words.extend([positions.len() as u32, tokens as u32, slot as u32, flags]);
            positions.extend(0..tokens as u32);
            slices.extend(vec![slot as u32; tokens]);
        }
        positions.extend(vec![UNUSED; self.unused]);
        slices.extend(vec![0; self.unused]);
        [positions, slices, words]
    }
}

/// What a batch gives, on the device.
struct Batch {
    x: DeviceBuffer,
    decay: DeviceBuffer,
    beta: DeviceBuffer,
    z: DeviceBuffer,
    places: [DeviceBuffer; 3],
}

struct World<'a> {
    bench: &'a Bench,
    case: Case,
    taps: DeviceBuffer,
    rate: DeviceBuffer,
    floor: DeviceBuffer,
    norm: DeviceBuffer,
}

impl World<'_> {
    fn gates(&self, args: Args) -> Args {
        match self.case.gates {
            true => args
                .buffer("rate", &self.rate, 0)
                .buffer("floor", &self.floor, 0),
            false => args.null("rate").null("floor"),
        }
    }

    fn state(&self, args: Args, name: &'static str, state: &DeviceBuffer, at: usize) -> Args {
        let floats: usize = self.case.floats().iter().sum();
        args.buffer(name, state, (at * 4) as u64)
            .u32("slots", self.case.tokens.len() as u32)
            .u32("floats", floats as u32)
    }

    /// What the heads are, as both launches with the rule take it.
    fn heads(&self, args: Args) -> Args {
        let case = &self.case;
        args.u32("heads", case.heads as u32)
            .u32("ratio", case.ratio())
            .u32("tiled", u32::from(case.tiled))
            .u32("key_dim", case.key_dim as u32)
            .u32("value_dim", case.value_dim as u32)
            .f32("eps", 1e-6)
    }

    fn launch(&self, kernel: &str, grid: [u32; 3], threads: u32, args: &Args) {
        let kernel = self.bench.device.kernel(kernel).unwrap();
        self.bench.launch(&kernel, grid, threads, 0, args);
    }

    fn values(&self, out: &DeviceBuffer) -> Vec<u32> {
        let mut values = self.bench.values(out);
        assert_eq!(values.pop(), Some(NAN), "written past the end");
        // Rows that are not used are zeros of either sign.
        let signless = |x: u32| if x << 1 == 0 { 0 } else { x };
        values.into_iter().map(signless).collect()
    }

    fn out(&self, width: usize) -> DeviceBuffer {
        self.bench.buffer(&vec![NAN; self.case.rows() * width + 1])
    }

    /// One launch.
    fn together(&self, batch: &Batch, state: &DeviceBuffer) -> Vec<u32> {
        let case = &self.case;
        let out = self.out(case.values());
        let args = Args::new()
            .buffer("x", &batch.x, 0)
            .buffer("taps", &self.taps, 0)
            .buffer("tail", state, 0)
            .buffer("decay", &batch.decay, 0)
            .buffer("beta", &batch.beta, 0);
        let args = self.gates(args);
        let args = match case.norm {
            true => args.buffer("z", &batch.z, 0).buffer("norm", &self.norm, 0),
            false => args.null("z").null("norm"),
        };
        let args = args.buffer("out", &out, 0);
        let args = self.state(args, "state", state, case.floats()[0]);
        let args = args
            .buffer("sequences", &batch.places[2], 0)
            .u32("channels", case.channels() as u32)
            .u32("tap_count", case.taps as u32)
            .u32("with_silu", u32::from(case.silu))
            .u32("q_column", case.columns()[0] as u32)
            .u32("k_column", case.columns()[1] as u32)
            .u32("v_column", case.columns()[2] as u32);
        let args = self.heads(args).f32("norm_eps", 1e-5);
        let grid = [case.heads as u32, case.tokens.len() as u32, 1];
        self.launch(
            &format!("mlxrocm_delta_step_{}", case.dim()),
            grid,
            512,
            &args,
        );
        self.values(&out)
    }

    /// One launch after the other.
    fn apart(&self, batch: &Batch, state: &DeviceBuffer) -> Vec<u32> {
        let (case, slots) = (&self.case, self.case.tokens.len() as u32);
        let rows = case.rows() as u32;
        let convolved = self.out(case.channels());
        let args = Args::new()
            .buffer("x", &batch.x, 0)
            .buffer("weight", &self.taps, 0)
            .buffer("out", &convolved, 0);
        let args = self
            .state(args, "state", state, 0)
            .buffer("positions", &batch.places[0], 0)
            .buffer("slice_of", &batch.places[1], 0)
            .buffer("sequences", &batch.places[2], 0)
            .u32("channels", case.channels() as u32)
            .u32("taps", case.taps as u32)
            .u32("with_silu", u32::from(case.silu));
        let grid = [case.channels().div_ceil(256) as u32, rows, 1];
        self.launch("mlxrocm_short_conv_f32", grid, 256, &args);
        let out = self.out(case.values());
        let mut args = Args::new();
        for (name, column) in ["q", "k", "v"].into_iter().zip(case.columns()) {
            args = args.buffer(name, &convolved, (column * 4) as u64);
        }
        let args = args
            .buffer("decay", &batch.decay, 0)
            .buffer("beta", &batch.beta, 0);
        let args = self.gates(args).buffer("out", &out, 0);
        let args = self.state(args, "state", state, case.floats()[0]);
        let mut args = args.buffer("sequences", &batch.places[2], 0);
        for name in ["q_width", "k_width", "v_width"] {
            args = args.u32(name, case.channels() as u32);
        }
        let args = self.heads(args).u32("most", u32::MAX);
        let blocks = case.value_dim.div_ceil(BLOCK_ROWS) as u32;
        let grid = [blocks, case.heads as u32, slots];
        self.launch(
            &format!("mlxrocm_gated_delta_{}", case.dim()),
            grid,
            128,
            &args,
        );
        if !case.norm {
            return self.values(&out);
        }
        let normed = self.out(case.values());
        let args = Args::new()
            .buffer("x", &out, 0)
            .buffer("weight", &self.norm, 0)
            .buffer("z", &batch.z, 0)
            .buffer("out", &normed, 0)
            .u32("dim", case.value_dim as u32)
            .f32("eps", 1e-5);
        let heads = rows * case.heads as u32;
        self.launch("mlxrocm_gated_norm_f32", [heads, 1, 1], 128, &args);
        self.values(&normed)
    }
}

#[test]
fn a_layer_in_one_launch_is_its_launches() {
    on_every_target(|bench| {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seed = time.map_or(1, |time| time.as_nanos() as u64);
        println!("seed {seed}");
        let random = &mut Prng::new(seed);
        for case in CASES {
            let mut numbers = |count: usize, low: f64, high: f64| -> DeviceBuffer {
                let number = |_| (random.uniform(low, high) as f32).to_bits();
                bench.buffer(&(0..count.max(1)).map(number).collect::<Vec<_>>())
            };
            let world = World {
                bench,
                case,
                taps: numbers(case.taps * case.channels(), -1.0, 1.0),
                rate: numbers(case.heads, -4.0, -0.01),
                floor: numbers(case.heads, 0.0, 1.0),
                norm: numbers(case.value_dim, 0.5, 1.5),
            };
            let floats: usize = case.floats().iter().sum();
            let unwritten = vec![NAN; 2 * case.tokens.len() * floats];
            let states = [bench.buffer(&unwritten), bench.buffer(&unwritten)];
            let (decays, betas) = match case.gates {
                true => ((-4.0, 3.0), (-3.0, 3.0)),
                false => ((0.0, 1.0), (0.0, 1.0)),
            };
            for step in 0..4 {
                let (rows, heads) = (case.rows(), case.heads);
                let batch = Batch {
                    x: numbers(rows * case.channels(), -2.0, 2.0),
                    decay: numbers(rows * heads, decays.0, decays.1),
                    beta: numbers(rows * heads, betas.0, betas.1),
                    z: numbers(rows * case.values(), -3.0, 3.0),
                    places: case
                        .places(step == 0, step % 2 == 1)
                        .map(|words| bench.buffer(&words)),
                };
                let given = world.together(&batch, &states[0]);
                let expected = world.apart(&batch, &states[1]);
                assert!(expected.iter().all(|&x| f32::from_bits(x).is_finite()));
                let same = given.iter().zip(&expected).position(|(a, b)| a != b);
                let width = case.values();
                let place =
                    same.map(|i| (i / width, i % width / case.value_dim, i % case.value_dim));
                assert_eq!(place, None, "{case:?} step {step}: (row, head, column)");
                // Of the columns that nobody convolves for the rule nothing is kept.
                let kept = |state: &DeviceBuffer| -> Vec<u32> {
                    let mut all = bench.values(state);
                    for slot in all.chunks_exact_mut(floats) {
                        for tap in 0..case.taps - 1 {
                            slot[tap * case.channels()..][..3].fill(0);
                        }
                    }
                    all
                };
                assert_eq!(
                    kept(&states[0]),
                    kept(&states[1]),
                    "{case:?} step {step}: states"
                );
            }
        }
    });
}
