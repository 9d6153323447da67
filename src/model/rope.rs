//! RoPE frequencies with every scaling kind of the dense families.

use super::config::{Config, RopeScaling};
use crate::step::Rope;
use std::f64::consts::PI;

/// The angle per position of each pair, `base^(−2i/dims)` scaled as the config says.
pub fn rope(config: &Config) -> Rope {
    scaled(config, config.rope_theta, &config.rope_scaling)
}

/// That of layers with a window, where theirs is another one.
pub fn local_rope(config: &Config) -> Option<Rope> {
    let theta = config.form.local_rope_theta?;
    Some(scaled(config, theta, &RopeScaling::None))
}

fn scaled(config: &Config, theta: f32, scaling: &RopeScaling) -> Rope {
    let dims = config.rope_dims;
    let base = f64::from(theta);
    let mut magnitude = 1.0;
    let plain = (0..dims / 2).map(|i| base.powf(-2.0 * i as f64 / dims as f64));
    let inv_freq: Vec<f64> = match scaling {
        RopeScaling::None | RopeScaling::Dynamic => plain.collect(),
        RopeScaling::Linear { factor } => plain.map(|f| f / f64::from(*factor)).collect(),
        RopeScaling::Proportional { share, factor } => {
            let turning = (dims as f64 * f64::from(*share)) as usize / 2;
            let of = |(i, f): (usize, f64)| {
                if i < turning {
                    f / f64::from(*factor)
                } else {
                    0.0
                }
            };
            plain.enumerate().map(of).collect()
        }
        RopeScaling::Long {
            factors,
            magnitude: given,
        } => {
            magnitude = *given;
            plain
                .zip(factors)
                .map(|(f, &by)| f / f64::from(by))
                .collect()
        }
        RopeScaling::Factors(factors) => plain
            .zip(factors)
            .map(|(f, &by)| f / f64::from(by))
            .collect(),
        RopeScaling::Llama3 {
            factor,
            low_freq_factor,
            high_freq_factor,
            original_context,
        } => {
            let (low, high) = (f64::from(*low_freq_factor), f64::from(*high_freq_factor));
            let factor = f64::from(*factor);
            plain
                .map(|f| {
                    // Wavelengths per original context.
                    let turns = *original_context as f64 * f / (2.0 * PI);
                    let smooth = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                    f * smooth + f / factor * (1.0 - smooth)
                })
                .collect()
        }
        RopeScaling::Yarn {
            factor,
            original_context,
            beta_fast,
            beta_slow,
            truncate,
            attention_factor,
        } => {
            let factor = f64::from(*factor);
            magnitude = match attention_factor {
                0.0 => (0.1 * factor.ln() + 1.0) as f32,
                given => *given,
            };
            // The pair that makes `turns` turns over the original context.
            let pair = |turns: f32| {
                let wavelength = *original_context as f64 / (f64::from(turns) * 2.0 * PI);
                dims as f64 * wavelength.ln() / (2.0 * base.ln())
            };
            let (mut low, mut high) = (pair(*beta_fast), pair(*beta_slow));
            if *truncate {
                (low, high) = (low.floor(), high.ceil());
            }
            let low = low.max(0.0);
            let high = high.min(dims as f64 - 1.0).max(low + 0.001);
            plain
                .enumerate()
                .map(|(i, f)| {
                    let ramp = ((i as f64 - low) / (high - low)).clamp(0.0, 1.0);
                    f / factor * ramp + f * (1.0 - ramp)
                })
                .collect()
        }
    };
    Rope {
        inv_freq: inv_freq.into_iter().map(|f| f as f32).collect(),
        interleaved: config.rope_interleaved,
        magnitude,
    }
}
