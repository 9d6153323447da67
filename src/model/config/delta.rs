//! What a config says about gated delta nets.

use super::fields::Fields;
use super::gguf::Fields as GgufFields;
use super::limits;
use crate::Result;
use serde_json::Value;

/// Gated delta nets in place of attention, in all blocks but every `interval`th.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    /// The blocks `interval − 1`, `2 · interval − 1`, … have attention.
    pub interval: usize,
    /// Heads of q and k; divides `value_heads`.
    pub key_heads: usize,
    /// Heads of v.
    pub value_heads: usize,
    /// Width of a head of q and k.
    pub key_dim: usize,
    /// Width of a head of v.
    pub value_dim: usize,
    /// Tokens that the short convolution sees.
    pub taps: usize,
    /// Value head h goes with key head `h mod key_heads`, instead of with its neighbours.
    pub tiled: bool,
    /// The file has `−exp(A_log)` in place of `A_log`.
    pub exponentiated: bool,
}

/// More than any model has.
const TAPS: std::ops::RangeInclusive<u64> = 1..=64;

impl Delta {
    /// Whether a block has attention.
    pub fn is_attention(&self, layer: usize) -> bool {
        (layer + 1).is_multiple_of(self.interval)
    }

    /// The delta nets of a model folder with `layers` blocks.
    pub fn read(fields: &Fields, layers: usize) -> Result<Delta> {
        let interval = fields.integer("full_attention_interval", limits::LAYERS)?;
        let delta = Delta {
            interval: interval.unwrap_or(4),
            key_heads: fields.needed("linear_num_key_heads", limits::HEADS)?,
            value_heads: fields.needed("linear_num_value_heads", limits::HEADS)?,
            key_dim: fields.needed("linear_key_head_dim", limits::HEAD_DIM)?,
            value_dim: fields.needed("linear_value_head_dim", limits::HEAD_DIM)?,
            taps: fields.needed("linear_conv_kernel_dim", TAPS)?,
            tiled: false,
            exponentiated: false,
        };
        if let Some(Value::Array(types)) = fields.get("layer_types") {
            let kind = |layer| match delta.is_attention(layer) {
                true => "full_attention",
                false => "linear_attention",
            };
            let agrees = |(layer, given): (usize, &Value)| given.as_str() == Some(kind(layer));
            if !types.iter().take(layers).enumerate().all(agrees) {
                let what = format_args!(
                    "attention elsewhere than in every block of {} (full_attention_interval)",
                    delta.interval
                );
                return Err(fields.unsupported("layer_types", what));
            }
        }
        match delta.wrong() {
            Some(what) => Err(fields.bad("linear_num_value_heads", what)),
            None => Ok(delta),
        }
    }

    /// The delta nets of a GGUF file.
    pub fn read_gguf(fields: &GgufFields, tiled: bool) -> Result<Delta> {
        let interval = fields.integer("full_attention_interval", limits::LAYERS)?;
        let value_heads = fields.needed("ssm.time_step_rank", limits::HEADS)?;
        let inner = fields.needed("ssm.inner_size", limits::WIDTHS)?;
        if !inner.is_multiple_of(value_heads) {
            let what = format!("{inner} is no multiple of the time step rank {value_heads}");
            return Err(fields.bad("ssm.inner_size", what));
        }
        let delta = Delta {
            interval: interval.unwrap_or(4),
            key_heads: fields.needed("ssm.group_count", limits::HEADS)?,
            value_heads,
            key_dim: fields.needed("ssm.state_size", limits::HEAD_DIM)?,
            value_dim: inner / value_heads,
            taps: fields.needed("ssm.conv_kernel", TAPS)?,
            tiled,
            exponentiated: true,
        };
        match delta.wrong() {
            Some(what) => Err(fields.bad("ssm.time_step_rank", what)),
            None => Ok(delta),
        }
    }

    /// What is wrong with its numbers.
    fn wrong(&self) -> Option<String> {
        let Delta {
            key_heads,
            value_heads,
            ..
        } = *self;
        if !value_heads.is_multiple_of(key_heads) {
            return Some(format!(
                "{value_heads} value heads are no multiple of {key_heads} key heads"
            ));
        }
        let width = 2 * key_heads * self.key_dim + value_heads * self.value_dim;
        (width > limits::WIDTH)
            .then(|| format!("heads {width} wide together; at most {} are", limits::WIDTH))
    }
}
