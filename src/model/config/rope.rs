//! RoPE parameters of `config.json`: `rope_theta` + `rope_scaling`, or `rope_parameters`.

use super::hf::{Fields, Rope};
use super::{RopeScaling, limits};
use crate::Result;
use crate::formats::brief;

/// Reads the parameters; `context_length` is the fallback for the original context.
pub(super) fn read(fields: &Fields, context_length: usize) -> Result<Rope> {
    let scaling = match fields.fields("rope_parameters")? {
        Some(parameters) => Some(parameters),
        None => fields.fields("rope_scaling")?,
    };
    let inner = |key: &str, range| match &scaling {
        Some(scaling) => scaling.number(key, range),
        None => Ok(None),
    };
    let theta = match inner("rope_theta", limits::ROPE_THETA)? {
        Some(theta) => Some(theta),
        None => fields.number("rope_theta", limits::ROPE_THETA)?,
    };
    Ok(Rope {
        theta: theta.unwrap_or(10_000.0),
        scaling: match &scaling {
            Some(scaling) => read_scaling(scaling, context_length)?,
            None => RopeScaling::None,
        },
    })
}

fn read_scaling(fields: &Fields, context_length: usize) -> Result<RopeScaling> {
    let kind = match fields.text("rope_type")? {
        Some(kind) => Some(kind),
        None => fields.text("type")?,
    };
    let needed = |key: &str| match fields.number(key, limits::ROPE_FACTOR)? {
        Some(value) => Ok(value as f32),
        None => Err(fields.bad(key, "missing")),
    };
    let original = |default| -> Result<usize> {
        let original = fields.integer("original_max_position_embeddings", limits::CONTEXT)?;
        original
            .or(default)
            .ok_or_else(|| fields.bad("original_max_position_embeddings", "missing"))
    };
    match kind {
        None | Some("default" | "none") => Ok(RopeScaling::None),
        Some("linear") => Ok(match needed("factor")? {
            1.0 => RopeScaling::None,
            factor => RopeScaling::Linear { factor },
        }),
        Some("llama3") => {
            let scaling = RopeScaling::Llama3 {
                factor: needed("factor")?,
                low_freq_factor: needed("low_freq_factor")?,
                high_freq_factor: needed("high_freq_factor")?,
                original_context: original(None)?,
            };
            if let RopeScaling::Llama3 {
                low_freq_factor: low,
                high_freq_factor: high,
                ..
            } = scaling
                && high <= low
            {
                return Err(fields.bad(
                    "high_freq_factor",
                    format_args!("{high} is not above low_freq_factor {low}"),
                ));
            }
            Ok(scaling)
        }
        Some("yarn") => {
            if fields.flag("truncate")? == Some(false) {
                return Err(fields.unsupported("truncate", "false is not supported"));
            }
            let factor = needed("factor")?;
            let number = |key: &str, default: f64| -> Result<f32> {
                Ok(fields.number(key, 1e-3..=1e6)?.unwrap_or(default) as f32)
            };
            Ok(RopeScaling::Yarn {
                factor,
                original_context: original(Some(context_length))?,
                beta_fast: number("beta_fast", 32.0)?,
                beta_slow: number("beta_slow", 1.0)?,
                attention_factor: attention_factor(fields, factor)?,
            })
        }
        Some(other) => Err(fields.unsupported(
            "rope_type",
            format_args!(
                "{:?}; supported are default, linear, llama3 and yarn",
                brief(other)
            ),
        )),
    }
}

/// YaRN's multiplier of cos and sin; 0 asks for the standard one.
fn attention_factor(fields: &Fields, factor: f32) -> Result<f32> {
    let number = |key: &str| fields.number(key, 0.0..=1e6);
    if let Some(given) = number("attention_factor")? {
        return Ok(given as f32);
    }
    let mscale = |weight: f64| match factor {
        factor if factor <= 1.0 => 1.0,
        factor => 0.1 * weight * f64::from(factor).ln() + 1.0,
    };
    match (number("mscale")?, number("mscale_all_dim")?) {
        (Some(above), Some(below)) if above > 0.0 && below > 0.0 => {
            Ok((mscale(above) / mscale(below)) as f32)
        }
        _ => Ok(mscale(1.0) as f32),
    }
}
