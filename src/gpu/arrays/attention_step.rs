//! Attention of a step of one decoded token together with the rotations and replaced rows in front of it
//! (`rope_update.rs`): `hip/ops/arrays/attention_step.hip`.

use super::attention::Attention;
use super::layers::{mask_strides, pair_args};
use super::numbers::suffix;
use super::rope_update::RopeUpdate;
use super::{Elements, Place};
use crate::Result;
use crate::ir::Op;
use std::sync::Arc;

impl Place {
    /// What attention gives, keys and values, all in one launch; `None` if operands do not lie well enough, or there is no
    /// attention.
    pub(super) fn attention_step(
        self: &Arc<Self>,
        update: &RopeUpdate,
        inputs: &[&Elements],
    ) -> Result<Option<Vec<Elements>>> {
        let Some((
            Op::ScaledDotProductAttention {
                scale,
                causal,
                mask,
                sinks,
            },
            ty,
        )) = &update.attention
        else {
            return Ok(None);
        };
        let &[q, k, v, offset, start, keys, values, ref more @ ..] = inputs else {
            return Ok(None);
        };
        let mut more = more.iter().copied();
        let mask = mask.then(|| more.next()).flatten();
        let sinks = sinks.then(|| more.next()).flatten();
        let strides = mask.map_or(Some([0; 4]), mask_strides);
        let (Some(at), Some(mask_strides)) = (update.sizes(inputs), strides) else {
            return Ok(None);
        };
        let heads_fit = at.kv_heads > 0 && at.q_heads.is_multiple_of(at.kv_heads);
        let sinks_fit = sinks.is_none_or(|x| x.layout().is_rows() && x.dtype() == ty.dtype);
        if at.rows != 1 || at.k_room != at.v_room || !heads_fit || !sinks_fit {
            return Ok(None);
        }
        let what = |k, v| Attention {
            q,
            k,
            v,
            mask,
            mask_strides,
            sinks,
            causal: *causal,
            scale: scale.get() as f32,
        };
        // Where rows are replaced they lie as copies of these do.
        let before = what(keys, values);
        let Some(sizes) = before.sizes().filter(|sizes| before.lies_well(sizes)) else {
            return Ok(None);
        };
        let Some(parts) = self.parts(&sizes)? else {
            return Ok(None);
        };
        let (Some(keys), Some(values)) = (self.copied(keys)?, self.copied(values)?) else {
            return Ok(None);
        };
        let Some((out, _)) = self.new_rows(&q.layout().sizes, ty.dtype)? else {
            return Ok(None);
        };
        let (rope, what) = (&update.rope, what(&keys, &values));
        let args = what
            .inputs()
            .buffer("new_k", k.buffer(), k.offset())
            .buffer("new_v", v.buffer(), v.offset())
            .buffer("offset", offset.buffer(), offset.offset())
            .buffer("start", start.buffer(), start.offset());
        let args = parts
            .args(args, &out)
            .u32("dims", rope.dims as u32)
            .u32("offset_dtype", offset.dtype() as u32)
            .u32("start_dtype", start.dtype() as u32);
        let args = pair_args(args, rope).f32("rope_scale", rope.scale.get() as f32);
        let args = what.scores(args, &sizes);
        let kernel = format!("mlxrocm_array_attention_step_{}", suffix(ty.dtype));
        self.launch(&kernel, parts.blocks, &args)?;
        super::joined::count(5);
        Ok(Some(vec![out, keys, values]))
    }
}
