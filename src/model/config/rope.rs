//! RoPE parameters of `config.json`: `rope_theta` + `rope_scaling`, or `rope_parameters`.

use super::fields::Fields;
use super::hf::Rope;
use super::{RopeScaling, limits};
use crate::Result;
use crate::formats::brief;

/// Reads the parameters; `context_length` is the fallback for the original context, `theta` that for the base.
pub(super) fn read(fields: &Fields, context_length: usize, theta: f64) -> Result<Rope> {
    let mut scaling = match fields.fields("rope_parameters")? {
        Some(parameters) => Some(parameters),
        None => fields.fields("rope_scaling")?,
    };
    // Parameters for each kind of layer.
    let mut local_theta = None;
    let full = match &scaling {
        Some(kinds) => kinds.fields("full_attention")?,
        None => None,
    };
    if let (Some(kinds), Some(full)) = (&scaling, full) {
        if let Some(sliding) = kinds.fields("sliding_attention")? {
            local_theta = sliding.number("rope_theta", limits::ROPE_THETA)?;
            if !matches!(sliding.text("rope_type")?, None | Some("default")) {
                return Err(sliding.unsupported("rope_type", "only default is supported"));
            }
        }
        scaling = Some(full);
    }
    let inner = |key: &str, range| match &scaling {
        Some(scaling) => scaling.number(key, range),
        None => Ok(None),
    };
    let given = match inner("rope_theta", limits::ROPE_THETA)? {
        Some(theta) => Some(theta),
        None => fields.number("rope_theta", limits::ROPE_THETA)?,
    };
    let mut base = given.unwrap_or(theta);
    // Hunyuan's: the base is multiplied by a power of it.
    if let Some(alpha) = inner("alpha", 1.0..=1e6)? {
        let dims = match fields.integer("head_dim", limits::HEAD_DIM)? {
            Some(dims) => dims,
            None => {
                let heads = fields.needed("num_attention_heads", limits::HEADS)?;
                fields.needed("hidden_size", limits::WIDTHS)? / heads
            }
        } as f64;
        base *= alpha.powf(dims / (dims - 2.0).max(1.0));
    }
    Ok(Rope {
        theta: base,
        local_theta,
        scaling: match &scaling {
            Some(scaling) => read_scaling(scaling, fields, context_length)?,
            None => RopeScaling::None,
        },
    })
}

fn read_scaling(fields: &Fields, outer: &Fields, context_length: usize) -> Result<RopeScaling> {
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
        Some("yarn" | "deepseek_yarn") => {
            let factor = needed("factor")?;
            let number = |key: &str, default: f64| -> Result<f32> {
                Ok(fields.number(key, 1e-3..=1e6)?.unwrap_or(default) as f32)
            };
            Ok(RopeScaling::Yarn {
                factor,
                original_context: original(Some(context_length))?,
                beta_fast: number("beta_fast", 32.0)?,
                beta_slow: number("beta_slow", 1.0)?,
                truncate: fields.flag("truncate")?.unwrap_or(true),
                attention_factor: attention_factor(fields, factor)?,
            })
        }
        Some("proportional") => {
            let share = fields.number("partial_rotary_factor", 0.0..=1.0)?;
            let factor = fields.number("factor", limits::ROPE_FACTOR)?;
            Ok(RopeScaling::Proportional {
                share: share.unwrap_or(1.0) as f32,
                factor: factor.unwrap_or(1.0) as f32,
            })
        }
        // Hunyuan's: its base was made larger once and for all.
        Some("dynamic") if fields.get("alpha").is_some() => Ok(RopeScaling::None),
        Some("dynamic") => Ok(RopeScaling::Dynamic),
        Some("longrope" | "su") if fields.get("long_factor").is_some() => {
            long_rope(fields, outer, context_length)
        }
        Some(other) => Err(fields.unsupported(
            "rope_type",
            format_args!(
                "{:?}; supported are default, linear, llama3, yarn, dynamic, proportional and longrope with factors",
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

/// The long factors, as mlx-lm has them for texts of any length.
fn long_rope(fields: &Fields, outer: &Fields, context_length: usize) -> Result<RopeScaling> {
    const ORIGINAL: &str = "original_max_position_embeddings";
    let original = match fields.integer(ORIGINAL, limits::CONTEXT)? {
        Some(original) => original,
        None => outer.integer(ORIGINAL, limits::CONTEXT)?.unwrap_or(4096),
    };
    let list = fields.get("long_factor").and_then(|list| list.as_array());
    let numbers = list.map(|list| {
        let factor = |n: &serde_json::Value| {
            let n = n.as_f64().filter(|n| limits::ROPE_FACTOR.contains(n));
            n.map(|n| n as f32)
        };
        list.iter().map(factor).collect::<Option<Vec<f32>>>()
    });
    let Some(factors) = numbers.flatten() else {
        return Err(fields.bad("long_factor", "not a list of factors above 0"));
    };
    let factor = context_length as f64 / original as f64;
    let given = fields.number("long_mscale", limits::ROPE_FACTOR)?;
    let magnitude = match factor {
        _ if given.is_some_and(|given| given > 0.0) => given.unwrap_or(1.0),
        factor if factor <= 1.0 => 1.0,
        factor => (1.0 + factor.ln() / (original as f64).ln()).sqrt(),
    };
    Ok(RopeScaling::Long {
        factors,
        magnitude: magnitude as f32,
    })
}
