//! Each step of the chain against a slow form written from the formulas, and the limits.

use super::super::philox::uniform;
use super::*;

fn row(n: usize, seed: u64) -> Vec<f32> {
    // Sum of uniforms: bell-shaped like real logits, a few standing out.
    (0..n as u64)
        .map(|i| {
            let bell: f64 = (0..4).map(|j| uniform(seed + j, i) - 0.5).sum();
            (bell * 8.0) as f32
        })
        .collect()
}

fn sample(params: &Sampling, history: &[u32], logits: &[f32], position: u64) -> Sampled {
    Sampler::new(params.clone(), logits.len(), history)
        .unwrap()
        .sample(
            &mut logits.to_vec(),
            position,
            None,
            &mut Scratch::default(),
        )
        .unwrap()
}

/// The chain in f64 with full sorts; `logits` have no history.
fn reference(params: &Sampling, logits: &[f32]) -> Vec<(u32, f64)> {
    let mut c: Vec<(u32, f64)> = (0..).zip(logits.iter().map(|&l| f64::from(l))).collect();
    c.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap().then(a.0.cmp(&b.0)));
    if params.top_k > 0 {
        c.truncate(params.top_k as usize);
    }
    let max = c[0].1;
    if params.top_p > 0.0 && params.top_p < 1.0 {
        let total: f64 = c.iter().map(|x| (x.1 - max).exp()).sum();
        let mut sum = 0.0;
        let mut n = 0;
        for x in &c {
            sum += (x.1 - max).exp() / total;
            n += 1;
            if sum >= f64::from(params.top_p) {
                break;
            }
        }
        c.truncate(n);
    }
    if params.min_p > 0.0 {
        c.retain(|x| (x.1 - max).exp() >= f64::from(params.min_p));
    }
    let t = f64::from(params.temperature);
    let total: f64 = c.iter().map(|x| ((x.1 - max) / t).exp()).sum();
    c.iter()
        .map(|x| (x.0, ((x.1 - max) / t).exp() / total))
        .collect()
}

#[test]
fn distribution_matches_the_formulas() {
    let filters = [
        (0, 1.0, 0.0),
        (5, 1.0, 0.0),
        (0, 0.7, 0.0),
        (0, 0.999, 0.0),
        (0, 1.0, 0.1),
        (40, 0.9, 0.05),
        (0, 0.8, 0.2),
        (1000, 0.3, 0.0),
    ];
    let draws = 20_000u64;
    for (i, (top_k, top_p, min_p)) in filters.into_iter().enumerate() {
        for temperature in [0.7, 1.5] {
            let params = Sampling {
                temperature,
                top_k,
                top_p,
                min_p,
                seed: 99 + i as u64,
                ..Default::default()
            };
            let logits = row(300, 1000 + i as u64);
            let want = reference(&params, &logits);
            let sampler = Sampler::new(params.clone(), logits.len(), &[]).unwrap();
            let mut scratch = Scratch::default();
            let mut seen = vec![0u64; logits.len()];
            for position in 0..draws {
                let s = sampler
                    .sample(&mut logits.clone(), position, None, &mut scratch)
                    .unwrap();
                seen[s.token as usize] += 1;
            }
            let mut chi = 0.0;
            let mut outside = draws;
            for &(id, p) in &want {
                let expected = p * draws as f64;
                outside -= seen[id as usize];
                if expected > 5.0 {
                    chi += (seen[id as usize] as f64 - expected).powi(2) / expected;
                }
            }
            assert_eq!(outside, 0, "{params:?}: tokens that the filters exclude");
            // Mean n, deviation sqrt(2n): five deviations above the mean.
            let n = want.len() as f64;
            assert!(
                chi < n + 5.0 * (2.0 * n).sqrt() + 5.0,
                "{params:?}: chi² {chi} of {n}"
            );
        }
    }
}

#[test]
fn greedy_takes_the_lowest_of_equals() {
    let mut logits = row(500, 5);
    logits[123] = 50.0;
    logits[321] = 50.0;
    assert_eq!(sample(&Sampling::default(), &[], &logits, 0).token, 123);
    let k1 = Sampling {
        temperature: 2.0,
        top_k: 1,
        ..Default::default()
    };
    assert_eq!(sample(&k1, &[], &logits, 0).token, 123);
    // A temperature that is almost nothing draws only among the equals.
    let cold = Sampling {
        temperature: f32::from_bits(1),
        ..Default::default()
    };
    let mut seen = std::collections::BTreeSet::new();
    for position in 0..50 {
        seen.insert(sample(&cold, &[], &logits, position).token);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [123, 321]);
}

#[test]
fn same_seed_same_tokens() {
    let logits = row(2000, 6);
    let run = |seed| -> Vec<u32> {
        let params = Sampling {
            temperature: 1.0,
            seed,
            ..Default::default()
        };
        (0..50)
            .map(|p| sample(&params, &[], &logits, p).token)
            .collect()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    assert_ne!(run(1), run(1 << 32 | 1));
}

#[test]
fn penalties_follow_the_formulas() {
    let logits = [4.0f32, 3.0, -1.0, 3.9, 3.8, 2.0];
    let edited = |params: &Sampling, history: &[u32]| -> Vec<f32> {
        let sampler = Sampler::new(params.clone(), logits.len(), history).unwrap();
        let mut row = logits;
        sampler.edit(&mut row, &mut Scratch::default()).unwrap();
        row.to_vec()
    };
    let params = Sampling {
        repetition_penalty: 2.0,
        presence_penalty: 0.5,
        frequency_penalty: 0.25,
        penalty_window: 4,
        ..Default::default()
    };
    // Token 5 is older than the window.
    assert_eq!(
        edited(&params, &[5, 0, 0, 2, 0]),
        [2.0 - 1.25, 3.0, -2.0 - 0.75, 3.9, 3.8, 2.0]
    );
    assert_eq!(sample(&params, &[5, 0, 0, 2, 0], &logits, 0).token, 3);
    // The window moves with accepted tokens.
    let mut sampler = Sampler::new(params, logits.len(), &[5, 0, 0, 2, 0]).unwrap();
    for token in [3, 3, 1, 3] {
        sampler.accept(token);
    }
    let mut row = logits;
    sampler.edit(&mut row, &mut Scratch::default()).unwrap();
    assert_eq!(row, [4.0, 1.5 - 0.75, -1.0, 3.9 / 2.0 - 1.25, 3.8, 2.0]);
    // Zero is off, like one.
    let off = Sampling {
        repetition_penalty: 0.0,
        ..Default::default()
    };
    assert_eq!(edited(&off, &[0, 1, 2]), logits);
    // The default window is 64 tokens.
    let window = Sampling {
        presence_penalty: 1.0,
        ..Default::default()
    };
    let mut history = vec![0];
    history.extend([1; 64]);
    assert_eq!(edited(&window, &history)[..2], [4.0, 2.0]);
    assert_eq!(edited(&window, &history[..64])[..2], [3.0, 2.0]);
}

#[test]
fn bias_moves_and_bans() {
    let logits = [4.0f32, 3.0, -1.0];
    let bias = |logit_bias: Vec<(u32, f32)>| Sampling {
        logit_bias,
        ..Default::default()
    };
    assert_eq!(sample(&bias(vec![(2, 5.5)]), &[], &logits, 0).token, 2);
    assert_eq!(
        sample(&bias(vec![(1, 0.6), (1, 0.6)]), &[], &logits, 0).token,
        1
    );
    let ban = bias(vec![(0, f32::NEG_INFINITY), (1, f32::NEG_INFINITY)]);
    assert_eq!(sample(&ban, &[], &logits, 0).token, 2);
    for top_k in [0, 2] {
        let hot = Sampling {
            temperature: 100.0,
            top_k,
            ..ban.clone()
        };
        for position in 0..200 {
            assert_eq!(sample(&hot, &[], &logits, position).token, 2);
        }
    }
    let all = bias((0..3).map(|t| (t, f32::NEG_INFINITY)).collect());
    let error = Sampler::new(all, 3, &[])
        .unwrap()
        .sample(&mut logits.to_vec(), 0, None, &mut Scratch::default())
        .unwrap_err();
    assert!(matches!(&error, Error::InvalidArgument(m) if m.contains("by biases")));
}

#[test]
fn logprobs_are_of_the_raw_logits() {
    let logits = row(1000, 8);
    let max = logits.iter().copied().fold(f32::MIN, f32::max);
    let sum: f64 = logits
        .iter()
        .map(|&l| f64::from(l - max).exp())
        .sum::<f64>();
    let ln = |id: u32| f64::from(logits[id as usize] - max) - sum.ln();
    let mut order: Vec<u32> = (0..1000).collect();
    order.sort_by(|&a, &b| {
        logits[b as usize]
            .partial_cmp(&logits[a as usize])
            .unwrap()
            .then(a.cmp(&b))
    });
    let best = order[0];
    for params in [
        Sampling {
            logprobs: 5,
            ..Default::default()
        },
        Sampling {
            logprobs: 20,
            temperature: 1.3,
            top_k: 30,
            ..Default::default()
        },
        Sampling {
            logprobs: 1,
            // Twice the same token: the first old value is the one to restore.
            logit_bias: vec![(best, -3.0), (best, -300.0), (7, 1.0)],
            repetition_penalty: 1.5,
            ..Default::default()
        },
    ] {
        let s = sample(&params, &[7, best], &logits, 3);
        let logprob = s.logprob.unwrap();
        assert!((f64::from(logprob) - ln(s.token)).abs() < 1e-5);
        assert_eq!(s.top.len(), params.logprobs as usize);
        for (top, &id) in s.top.iter().zip(&order) {
            assert_eq!(top.token, id);
            assert!((f64::from(top.logprob) - ln(id)).abs() < 1e-5);
        }
    }
    let none = sample(&Sampling::default(), &[], &logits, 0);
    assert_eq!((none.logprob, none.top), (None, vec![]));
}

#[test]
fn bad_logits_are_an_error() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for params in [
            Sampling::default(),
            Sampling {
                temperature: 0.8,
                top_k: 40,
                ..Default::default()
            },
            Sampling {
                logit_bias: vec![(77, 1.0)],
                ..Default::default()
            },
            Sampling {
                logit_bias: vec![(77, f32::NEG_INFINITY)],
                ..Default::default()
            },
            Sampling {
                presence_penalty: 1.0,
                logprobs: 2,
                ..Default::default()
            },
        ] {
            let mut logits = row(1000, 9);
            logits[77] = bad;
            let error = Sampler::new(params, 1000, &[77])
                .unwrap()
                .sample(&mut logits, 0, None, &mut Scratch::default())
                .unwrap_err();
            assert!(
                matches!(&error, Error::InvalidFile(m) if m.contains("token 77")),
                "{error:?}"
            );
        }
    }
    let short = Sampler::new(Sampling::default(), 10, &[]).unwrap().sample(
        &mut [1.0],
        0,
        None,
        &mut Scratch::default(),
    );
    assert!(matches!(short, Err(Error::Internal(_))));
}

#[test]
fn extreme_values_do_not_break() {
    let logits = [f32::MAX, f32::MIN, 0.0, -0.0, 1e38];
    for params in [
        Sampling {
            temperature: f32::MAX,
            min_p: f32::from_bits(1),
            ..Default::default()
        },
        Sampling {
            temperature: f32::from_bits(1),
            top_p: 1e-30,
            ..Default::default()
        },
        Sampling {
            repetition_penalty: f32::MAX,
            presence_penalty: -f32::MAX,
            frequency_penalty: f32::MAX,
            penalty_window: u32::MAX,
            logprobs: 20,
            logit_bias: vec![(0, f32::MAX), (1, f32::MIN)],
            ..Default::default()
        },
        Sampling {
            repetition_penalty: 1e-38,
            temperature: 1.0,
            top_k: u32::MAX,
            min_p: 1.0,
            ..Default::default()
        },
    ] {
        let s = sample(&params, &[0, 1, 2, 3, 4, 0], &logits, u64::MAX);
        assert!((s.token as usize) < logits.len());
        assert!(s.logprob.is_none_or(|p| p <= 0.0));
    }
    // A vocabulary of one token.
    let one = Sampling {
        temperature: 1.0,
        top_p: 0.5,
        logprobs: 3,
        ..Default::default()
    };
    let s = sample(&one, &[], &[-5.0], 0);
    assert_eq!((s.token, s.logprob, s.top.len()), (0, Some(0.0), 1));
}

#[test]
fn parameters_are_checked() {
    let nan = f32::NAN;
    type Change = Box<dyn Fn(&mut Sampling)>;
    let cases: Vec<(&str, Change)> = vec![
        ("temperature is NaN", Box::new(move |s| s.temperature = nan)),
        ("temperature is -0.5", Box::new(|s| s.temperature = -0.5)),
        (
            "temperature is inf",
            Box::new(|s| s.temperature = f32::INFINITY),
        ),
        ("top_p is 1.5", Box::new(|s| s.top_p = 1.5)),
        ("top_p is NaN", Box::new(move |s| s.top_p = nan)),
        ("min_p is -1", Box::new(|s| s.min_p = -1.0)),
        (
            "repetition_penalty is -2",
            Box::new(|s| s.repetition_penalty = -2.0),
        ),
        (
            "presence_penalty is NaN",
            Box::new(move |s| s.presence_penalty = nan),
        ),
        (
            "frequency_penalty is inf",
            Box::new(|s| s.frequency_penalty = f32::INFINITY),
        ),
        ("logprobs is 21", Box::new(|s| s.logprobs = 21)),
        (
            "bias_tokens[1] is token 100",
            Box::new(|s| s.logit_bias = vec![(99, 1.0), (100, 1.0)]),
        ),
        (
            "bias_values[0] of token 4 is NaN",
            Box::new(move |s| s.logit_bias = vec![(4, nan)]),
        ),
        (
            "bias_values[0] of token 4 is inf",
            Box::new(|s| s.logit_bias = vec![(4, f32::INFINITY)]),
        ),
    ];
    for (message, change) in cases {
        let mut params = Sampling::default();
        change(&mut params);
        match Sampler::new(params, 100, &[]) {
            Err(Error::InvalidArgument(m)) => assert!(m.contains(message), "{m} / {message}"),
            other => panic!("{message}: {other:?}"),
        }
    }
    assert!(Sampler::new(Sampling::default(), 100, &[]).is_ok());
}
