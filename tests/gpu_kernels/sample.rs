//! The kernel that samples, against the steps of the chain written from their formulas in f64, and
//! against the host's sampler, whose result it must be whatever is near.

use crate::prng::Prng;
use crate::{Bench, on_every_target};
use mlxrocm::gpu::Args;
use mlxrocm::session::Sampling;
use mlxrocm::session::sampling::{Sampler, Scratch};
use std::collections::HashMap;

const LIST: usize = 64;
const BLOCKS: u32 = 32;
const ROW_BYTES: usize = 59_392;
const NO_TOKEN: u32 = u32::MAX;
const ALL_BANNED: u32 = u32::MAX - 1;
const OWN: u32 = 1 << 31;

/// A row's parameters.
#[derive(Debug, Clone)]
struct Choice {
    temperature: f32,
    top_k: u32,
    top_p: f32,
    min_p: f32,
    random: u64,
    repetition: f32,
    presence: f32,
    frequency: f32,
    recent: Vec<u32>,
    biases: Vec<(u32, f32)>,
}

impl Choice {
    fn new(temperature: f32, top_k: u32, top_p: f32, min_p: f32, random: u64) -> Self {
        Choice {
            temperature,
            top_k,
            top_p,
            min_p,
            random: random >> 11 << 11,
            repetition: 1.0,
            presence: 0.0,
            frequency: 0.0,
            recent: Vec::new(),
            biases: Vec::new(),
        }
    }

    /// As the kernel's comment says.
    fn words(&self) -> Vec<u32> {
        let mut words = vec![
            self.temperature.to_bits(),
            self.top_k,
            match self.top_p < 1.0 {
                true => (f64::from(self.top_p) * 4_294_967_296.0) as u32,
                false => 0,
            },
            self.min_p.ln().to_bits(),
            (self.random >> 32) as u32,
            self.random as u32,
            self.repetition.to_bits(),
            self.presence.to_bits(),
            self.frequency.to_bits(),
            self.recent.len() as u32,
            self.biases.len() as u32,
            0,
        ];
        words.extend(&self.recent);
        words.resize(12 + LIST, 7);
        words.extend(self.biases.iter().flat_map(|(t, b)| [*t, b.to_bits()]));
        words.resize(12 + 3 * LIST, 7);
        words
    }

    /// What the host's sampler says.
    fn host_token(&self, logits: &[f32], own: u32) -> u32 {
        let recent = self.recent.iter();
        let recent: Vec<u32> = recent.map(|t| if *t == OWN { own } else { *t }).collect();
        let sampling = Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition,
            presence_penalty: self.presence,
            frequency_penalty: self.frequency,
            logit_bias: self.biases.clone(),
            ..Default::default()
        };
        let sampler = Sampler::new(sampling, logits.len(), &recent).unwrap();
        let mut scratch = Scratch::default();
        let sampled = sampler.sample_by(&mut logits.to_vec(), self.random, None, &mut scratch);
        sampled.unwrap().token
    }

    /// The token, or none where rounding may decide.
    fn token(&self, logits: &[f32], own: u32) -> Option<u32> {
        let mut l = logits.to_vec();
        for &(token, bias) in &self.biases {
            l[token as usize] = (l[token as usize] + bias).max(f32::MIN);
        }
        let mut counts = HashMap::new();
        for &token in &self.recent {
            let token = if token == OWN { own } else { token };
            *counts.entry(token as usize).or_insert(0) += 1;
        }
        for (&token, &count) in &counts {
            let old = l[token];
            let scaled = match old > 0.0 {
                true => old / self.repetition,
                false => old * self.repetition,
            };
            l[token] = scaled - (count as f32 * self.frequency + self.presence);
        }
        let mut all: Vec<(u32, f64)> = (0..).zip(l.iter().map(|l| f64::from(*l))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let max = all[0].1;
        if self.temperature == 0.0 || self.top_k == 1 {
            return Some(all[0].0);
        }
        const NEAR: f64 = 2e-6;
        if self.top_k > 0 {
            all.truncate(self.top_k as usize);
        }
        if self.top_p < 1.0 {
            let masses: Vec<f64> = all.iter().map(|c| (c.1 - max).exp()).collect();
            let total: f64 = masses.iter().sum();
            let (mut sum, mut n) = (0.0, 0);
            for mass in masses {
                if sum >= f64::from(self.top_p) * total {
                    break;
                }
                sum += mass;
                n += 1;
                if (sum / total - f64::from(self.top_p)).abs() < NEAR {
                    return None;
                }
            }
            all.truncate(n);
        }
        if self.min_p > 0.0 {
            let least = max + f64::from(self.min_p).ln();
            if all.iter().any(|c| (c.1 - least).abs() < NEAR * max.abs()) {
                return None;
            }
            all.retain(|c| c.1 >= least);
        }
        all.sort_by_key(|c| c.0);
        let weight = |c: &(u32, f64)| ((c.1 - max) / f64::from(self.temperature)).exp();
        let total: f64 = all.iter().map(weight).sum();
        let share = self.random as f64 / 2f64.powi(64);
        let mut sum = 0.0;
        for candidate in &all {
            sum += weight(candidate) / total;
            if (sum - share).abs() < NEAR {
                return None;
            }
            if sum > share {
                return Some(candidate.0);
            }
        }
        None
    }
}

/// Launches one row a choice; the row runs token 5 + row, and is row `rows - 1 - row` of the batch. The logits are as
/// before then.
fn sample(bench: &Bench, logits: &[f32], choices: &[Choice]) -> Vec<u32> {
    let (rows, columns) = (choices.len(), logits.len() / choices.len());
    let words: Vec<u32> = choices.iter().flat_map(Choice::words).collect();
    // Rows of a padded embedding: nobody looks at what lies behind the tokens.
    let padding = [f32::NAN; 5];
    let rows_of = logits.chunks(columns);
    let padded = rows_of.flat_map(|row| row.iter().chain(&padding));
    let bits: Vec<u32> = padded.map(|l| l.to_bits()).collect();
    let wanted: Vec<u32> = (0..rows as u32).rev().collect();
    let tokens: Vec<u32> = wanted.iter().map(|row| 5 + row).collect();
    let [logits, words, tokens, wanted] =
        [&bits, &words, &tokens, &wanted].map(|values| bench.buffer(values));
    let [chosen, told] = [0, 1].map(|_| bench.buffer(&vec![0; rows]));
    // Some rows at a time have room, and it comes as others leave it.
    const ROOM: usize = 5;
    let memory = bench.buffer(&vec![0x7fc0_1234; ROOM * ROW_BYTES / 4]);
    let counters = bench.buffer(&[0; ROOM]);
    for first in (0..rows).step_by(ROOM) {
        let at = |words: usize| (first * words * 4) as u64;
        let given = || {
            let args = Args::new().buffer("logits", &logits, at(columns + padding.len()));
            args.buffer("choices", &words, at(12 + 3 * LIST))
        };
        let rest = |args: Args| {
            args.buffer("memory", &memory, 0)
                .buffer("counters", &counters, 0)
        };
        let begin = given().buffer("tokens", &tokens, 0);
        let begin = rest(begin.buffer("wanted", &wanted, at(1))).u32("rows", rows as u32);
        let draw = given().buffer("chosen", &chosen, at(1));
        let draw = rest(draw.buffer("told", &told, at(1)));
        for (name, args) in [
            ("begin", begin),
            ("count", rest(given())),
            ("edge", rest(given())),
            ("draw", draw),
        ] {
            let args = args
                .u32("cols", columns as u32)
                .u32("stride", (columns + padding.len()) as u32);
            let name = format!("mlxrocm_sample_{name}");
            let kernel = bench.device.kernel(&name).unwrap();
            let grid = [ROOM.min(rows - first) as u32, BLOCKS, 1];
            bench.launch(&kernel, grid, 1024, 0, &args);
        }
    }
    assert_eq!(bench.values(&counters), [0; ROOM]);
    assert!(bench.values(&logits) == bits, "the logits are others");
    assert_eq!(bench.values(&told), bench.values(&chosen));
    bench.values(&chosen)
}

/// Bell-shaped like a model's, some of them standing out; `levels`: in steps of 1/levels.
fn row(random: &mut Prng, columns: usize, levels: Option<f32>) -> Vec<f32> {
    let mut uniform = || (random.u64() >> 40) as f32 / 16_777_216.0;
    let mut bell = || (0..4).map(|_| uniform() - 0.5).sum::<f32>() * 8.0;
    let row = (0..columns).map(|_| bell());
    row.map(|l| levels.map_or(l, |levels| (l * levels).round() / levels))
        .collect()
}

/// Each filter alone and all together; with equal logits, and without.
#[test]
fn draws_are_those_of_the_formulas() {
    let filters = [
        (0, 1.0, 0.0),
        (40, 1.0, 0.0),
        (0, 0.9, 0.0),
        (0, 0.05, 0.0),
        (0, 0.9999, 0.0),
        (0, 1.0, 0.05),
        (300, 0.8, 0.02),
        (2, 0.95, 0.0),
        (7, 1.0, 0.6),
        (1_000_000, 1.0, 0.0),
    ];
    on_every_target(|bench| {
        let mut random = Prng::new(21);
        let mut unsure = 0;
        let mut draws = 0;
        for columns in [61, 2_000, 9_001, 33_000] {
            let (mut logits, mut choices) = (Vec::new(), Vec::new());
            for (top_k, top_p, min_p) in filters {
                for (temperature, levels) in [(0.8, None), (1.7, Some(4.0))] {
                    let random_bits = random.u64();
                    logits.extend(row(&mut random, columns, levels));
                    choices.push(Choice::new(temperature, top_k, top_p, min_p, random_bits));
                }
            }
            let chosen = sample(bench, &logits, &choices);
            for ((choice, row), token) in choices.iter().zip(logits.chunks(columns)).zip(chosen) {
                draws += 1;
                assert_eq!(token, choice.host_token(row, 0), "{columns} {choice:?}");
                match choice.token(row, 0) {
                    Some(expected) => assert_eq!(token, expected, "{columns} {choice:?}"),
                    None => unsure += 1,
                }
            }
        }
        assert!(unsure * 5 < draws, "{unsure} of {draws} tell nothing");
    });
}

#[test]
fn biases_and_penalties_come_first() {
    on_every_target(|bench| {
        let mut random = Prng::new(22);
        let columns = 300;
        let (mut logits, mut choices) = (Vec::new(), Vec::new());
        for i in 0..12 {
            let mut choice = Choice::new(0.7, 30, 0.95, 0.0, random.u64());
            if i % 3 == 0 {
                choice.temperature = 0.0;
            }
            choice.repetition = 1.5;
            choice.presence = 0.5 * (i % 2) as f32;
            choice.frequency = 0.25 * (i % 4) as f32;
            let count = [0, 1, 20, LIST][i % 4];
            let token = |random: &mut Prng| (random.u64() % columns as u64) as u32;
            // Few different ones, so that many occur more than once; the row's own among them.
            let few: Vec<u32> = (0..5).map(|_| token(&mut random)).chain([OWN]).collect();
            choice.recent = (0..count).map(|j| few[j * 7 % 6]).collect();
            let count = [0, LIST, 3][i % 3];
            choice.biases = (0..count)
                .map(|j| match j % 5 {
                    0 => (token(&mut random), f32::NEG_INFINITY),
                    1 => (few[j % 5], 1.5),
                    _ => (token(&mut random), (j % 7) as f32 - 2.0),
                })
                .collect();
            choices.push(choice);
            logits.extend(row(&mut random, columns, None));
        }
        let chosen = sample(bench, &logits, &choices);
        let rows = choices.iter().zip(logits.chunks(columns)).zip(chosen);
        let mut sure = 0;
        for (i, ((choice, row), token)) in rows.enumerate() {
            // The row's place in the batch is counted from the end, twice.
            let own = 5 + i as u32;
            assert_eq!(token, choice.host_token(row, own), "{choice:?}");
            if let Some(expected) = choice.token(row, own) {
                assert_eq!(token, expected, "{choice:?}");
                sure += 1;
            }
        }
        assert!(sure >= 11, "{sure}");
    });
}

/// Where filters end lie many that are nearly equal: more and more, until they are not sorted any more.
#[test]
fn draws_of_flat_rows() {
    on_every_target(|bench| {
        let mut random = Prng::new(23);
        let columns = 20_000;
        let (mut logits, mut choices) = (Vec::new(), Vec::new());
        for spread in [0.1, 0.02, 0.008, 0.001] {
            for (top_k, top_p) in [(9_000, 1.0), (0, 0.6), (12_000, 0.7), (30, 0.95)] {
                let flat = row(&mut random, columns, None);
                logits.extend(flat.iter().map(|l| l * spread));
                choices.push(Choice::new(0.9, top_k, top_p, 0.0, random.u64()));
            }
        }
        let chosen = sample(bench, &logits, &choices);
        for ((choice, row), token) in choices.iter().zip(logits.chunks(columns)).zip(chosen) {
            assert_eq!(token, choice.host_token(row, 0), "{choice:?}");
        }
    });
}

/// Rows that no model gives, and parameters at their ends.
#[test]
fn extreme_rows() {
    on_every_target(|bench| {
        let columns = 9_000;
        let flat = vec![0.25; columns];
        let with = |at: &[(usize, f32)]| {
            let mut row: Vec<f32> = (0..columns).map(|i| -((i % 97) as f32)).collect();
            at.iter().for_each(|(i, l)| row[*i] = *l);
            row
        };
        let half = 1 << 63;
        let cold = f32::from_bits(1);
        let huge = [(8_500, f32::MAX), (3, f32::MIN), (4_000, f32::MAX)];
        let cases = [
            (
                with(&[(8_999, f32::NAN)]),
                Choice::new(1.0, 0, 1.0, 0.0, 0),
                NO_TOKEN,
            ),
            (
                with(&[(0, f32::INFINITY)]),
                Choice::new(0.0, 0, 1.0, 0.0, 0),
                NO_TOKEN,
            ),
            (
                with(&[(70, f32::NEG_INFINITY)]),
                Choice::new(1.0, 5, 0.5, 0.0, 0),
                NO_TOKEN,
            ),
            // Every wave sees some.
            (
                vec![f32::NAN; columns],
                Choice::new(1.0, 5, 0.5, 0.0, 0),
                NO_TOKEN,
            ),
            (
                vec![f32::MIN; columns],
                Choice::new(1.0, 5, 0.5, 0.0, 0),
                ALL_BANNED,
            ),
            // All are equal: the middle one of all, of the first forty, of the first half.
            (flat.clone(), Choice::new(1.0, 0, 1.0, 0.0, half), 4_500),
            (flat.clone(), Choice::new(1.0, 40, 1.0, 0.0, half), 20),
            (flat.clone(), Choice::new(1.0, 0, 0.5, 0.0, half), 2_250),
            (
                flat.clone(),
                Choice::new(1.0, 8_400, 0.5, 1.0, u64::MAX),
                4_199,
            ),
            (flat.clone(), Choice::new(0.0, 0, 1.0, 0.0, half), 0),
            (with(&huge), Choice::new(1.0, 0, 1.0, 0.0, half), 8_500),
            (with(&huge), Choice::new(1.0, 0, 1.0, 0.0, half - 1), 4_000),
            (with(&huge), Choice::new(1.0, 3, 0.99, 0.5, 0), 4_000),
            (
                with(&[(9, 0.5), (90, 0.5)]),
                Choice::new(cold, 0, 1.0, 0.0, half),
                90,
            ),
            // Both zeros are one number.
            (
                with(&[(0, -0.0), (97, 0.0)]),
                Choice::new(0.0, 0, 1.0, 0.0, 0),
                0,
            ),
            (
                with(&[(0, -9.0), (97, 1e-40)]),
                Choice::new(0.5, 1, 1.0, 0.0, half),
                97,
            ),
            (
                with(&[(8_192, 30.0)]),
                Choice::new(1.0, 0, 0.01, 0.0, u64::MAX),
                8_192,
            ),
        ];
        let logits: Vec<f32> = cases.iter().flat_map(|c| c.0.clone()).collect();
        let choices: Vec<Choice> = cases.iter().map(|c| c.1.clone()).collect();
        let expected: Vec<u32> = cases.iter().map(|c| c.2).collect();
        assert_eq!(sample(bench, &logits, &choices), expected);
    });
}
