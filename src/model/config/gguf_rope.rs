//! RoPE scaling of GGUF files: `rope.scaling.*`, and tensors of factors.

use super::gguf::Fields;
use super::{RopeScaling, limits};
use crate::formats::brief;
use crate::{Error, Result};

/// How frequencies are scaled.
pub(super) fn scaling(fields: &Fields) -> Result<RopeScaling> {
    const FACTORS: &str = "rope_freqs.weight";
    const LONG_FACTORS: &str = "rope_factors_long.weight";
    let factor = match fields.number("rope.scaling.factor", limits::ROPE_FACTOR)? {
        Some(factor) => factor as f32,
        None => fields
            .number("rope.scale_linear", limits::ROPE_FACTOR)?
            .unwrap_or(1.0) as f32,
    };
    let kind = match fields.get("rope.scaling.type") {
        Some(value) => value.as_str().ok_or_else(|| {
            fields.bad(
                "rope.scaling.type",
                format_args!("{} where a text is needed", value.kind()),
            )
        })?,
        // Files older than the key have only the factor.
        None if factor == 1.0 => "none",
        None => "linear",
    };
    let long = factors(fields, LONG_FACTORS)?;
    if let Some(factors) = long {
        if !matches!(kind, "none" | "longrope") {
            return Err(Error::Unsupported(format!(
                "{}: tensor {LONG_FACTORS} together with RoPE scaling {:?}",
                fields.gguf.path().display(),
                brief(kind)
            )));
        }
        let magnitude = fields.number("rope.scaling.attn_factor", 1e-3..=1e6)?;
        // As in folders, whatever the length of a text; llama.cpp goes by the context that is asked for.
        return Ok(RopeScaling::Long {
            factors,
            magnitude: magnitude.unwrap_or(1.0) as f32,
        });
    }
    let factors = factors(fields, FACTORS)?;
    let scaling = match kind {
        "none" => RopeScaling::None,
        "linear" if factor == 1.0 => RopeScaling::None,
        "linear" => RopeScaling::Linear { factor },
        "yarn" => yarn(fields, factor)?,
        other => {
            return Err(Error::Unsupported(format!(
                "{}: metadata {}.rope.scaling.type is {:?}; supported are none, linear, yarn and longrope with factors",
                fields.gguf.path().display(),
                fields.architecture,
                brief(other)
            )));
        }
    };
    let Some(factors) = factors else {
        return Ok(scaling);
    };
    if scaling != RopeScaling::None {
        return Err(Error::Unsupported(format!(
            "{}: tensor {FACTORS} together with RoPE scaling {kind:?}",
            fields.gguf.path().display()
        )));
    }
    Ok(RopeScaling::Factors(factors))
}

/// A vector of divisors of frequencies, where the file has it.
fn factors(fields: &Fields, tensor: &str) -> Result<Option<Vec<f32>>> {
    let Some(factors) = fields.gguf.find(tensor)? else {
        return Ok(None);
    };
    if factors.rows != 1 || factors.cols > limits::WIDTH {
        return Err(Error::InvalidFile(format!(
            "{}: tensor {tensor} has shape [{}, {}]; a vector is needed",
            fields.gguf.path().display(),
            factors.rows,
            factors.cols
        )));
    }
    let mut values = vec![0.0; factors.cols];
    factors.dequantize_row(0, &mut values)?;
    if values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return Err(Error::InvalidFile(format!(
            "{}: tensor {tensor} has a factor that is not positive",
            fields.gguf.path().display()
        )));
    }
    Ok(Some(values))
}

fn yarn(fields: &Fields, factor: f32) -> Result<RopeScaling> {
    let original = fields.integer("rope.scaling.original_context_length", limits::CONTEXT)?;
    let original_context = match original {
        Some(original) => original,
        None => fields.needed("context_length", limits::CONTEXT)?,
    };
    // 1 is YaRN's mix of scaled and plain frequencies; other mixes are not in use.
    let mix = fields.number("rope.scaling.yarn_ext_factor", -1.0..=1e6)?;
    if mix.is_some_and(|mix| mix >= 0.0 && mix != 1.0) {
        return Err(Error::Unsupported(format!(
            "{}: metadata {}.rope.scaling.yarn_ext_factor other than 1",
            fields.gguf.path().display(),
            fields.architecture
        )));
    }
    // The file's factor multiplies the standard one.
    let multiplier = match fields.number("rope.scaling.attn_factor", 1e-3..=1e6)? {
        Some(multiplier) => Some(multiplier),
        None => fields.number("rope.scaling.yarn_attn_factor", 1e-3..=1e6)?,
    };
    let attention_factor = match multiplier {
        None => 0.0,
        Some(multiplier) => multiplier as f32 * (0.1 * factor.ln() + 1.0),
    };
    let beta = |key: &str, default: f64| -> Result<f32> {
        Ok(fields.number(key, 1e-3..=1e6)?.unwrap_or(default) as f32)
    };
    Ok(RopeScaling::Yarn {
        factor,
        original_context,
        beta_fast: beta("rope.scaling.yarn_beta_fast", 32.0)?,
        beta_slow: beta("rope.scaling.yarn_beta_slow", 1.0)?,
        // As llama.cpp; the format has no key for it.
        truncate: true,
        attention_factor,
    })
}
