//! What a step of one decoded token does with q, k and v as one launch: rotations of q and k, k and v in place of their rows of
//! keys and values (`hip/ops/arrays/rope_vectors.hip`), and attention over these if it alone reads q (`attention_step.rs`).
//! Where these lie otherwise the operations run one after the other, with the same bits.

use super::joined::{Found, Part};
use super::layers::{ANGLES, pair_args, rope_groups};
use super::numbers::{is_float, is_known, suffix};
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Graph, NodeId, Op, Rope, Type, Value};
use std::sync::Arc;

/// Rotations and replacements. Inputs: q, k, v, where the rotation and where the rows begin, keys, values, then what attention
/// has besides (mask, sinks); results: q (or attention), keys, values.
pub struct RopeUpdate {
    pub(super) rope: Rope,
    /// Of the replacements.
    update: Op,
    /// Of q, k and v as they come, of keys and of values.
    types: [Type; 5],
    /// And what it gives.
    pub(super) attention: Option<(Op, Type)>,
}

/// Sizes of what one launch takes.
pub(super) struct Sizes {
    /// Of a rotated row.
    groups: usize,
    pub q_heads: usize,
    pub kv_heads: usize,
    pub rows: usize,
    pub columns: usize,
    pub v_columns: usize,
    pub k_room: usize,
    pub v_room: usize,
}

/// x and the offset of a rotation without periods of its own.
fn rotated(graph: &Graph, id: NodeId) -> Option<(&Rope, [Value; 2])> {
    let node = graph.node(id);
    match (&node.op, node.inputs.as_slice()) {
        (Op::Rope(rope), &[x, offset]) if rope.base.is_some() => Some((rope, [x, offset])),
        _ => None,
    }
}

/// What is replaced by what, and where, of rows of `[1, heads, rows, columns]`.
fn replaced(graph: &Graph, id: NodeId) -> Option<(&Op, [Value; 3])> {
    let node = graph.node(id);
    let (Op::DynamicSliceUpdate(axes), &[x, rows, start]) = (&node.op, node.inputs.as_slice())
    else {
        return None;
    };
    let fits = axes.as_slice() == [2] && graph.ty(x).shape.rank() == 4;
    fits.then_some((&node.op, [x, rows, start]))
}

/// What can be joined.
pub(super) fn find(graph: &Graph) -> Vec<Found> {
    let readers = graph.readers();
    let mut taken = vec![false; graph.nodes.len()];
    let mut all = Vec::new();
    for place in 0..graph.nodes.len() {
        let Some(found) = found(graph, &readers, &taken, NodeId(place)) else {
            continue;
        };
        for member in &found.members {
            taken[member.0] = true;
        }
        all.push(found);
    }
    all
}

/// The attention that alone reads a rotated q, over keys and values whose rows were replaced; others read these behind it.
fn attends(graph: &Graph, readers: &[Vec<NodeId>], of: [NodeId; 3]) -> Option<NodeId> {
    let [of_q, of_keys, of_values] = of;
    let &[id] = readers[of_q.0].as_slice() else {
        return None;
    };
    let node = graph.node(id);
    let behind = |of: &NodeId| readers[of.0].iter().all(|reader| *reader >= id);
    let fits = matches!(node.op, Op::ScaledDotProductAttention { .. })
        && node.inputs.len() >= 3
        && node.inputs[..3] == of.map(|node| Value { node, output: 0 })
        && !graph.is_output(of_q)
        && [of_keys, of_values].iter().all(behind);
    fits.then_some(id)
}

/// With the replacement of keys `of_keys`.
fn found(graph: &Graph, readers: &[Vec<NodeId>], taken: &[bool], of_keys: NodeId) -> Option<Found> {
    let (update, [keys, rotated_k, start]) = replaced(graph, of_keys)?;
    let of_k = rotated_k.node;
    let (rope, [k, offset]) = rotated(graph, of_k)?;
    let alone = readers[of_k.0].as_slice() == [of_keys] && !graph.is_output(of_k);
    // Other layers read the same places: those of this one are next to these.
    let distance = |id: &NodeId| id.0.abs_diff(of_keys.0);
    let is_q =
        |id: &NodeId| *id != of_k && rotated(graph, *id).is_some_and(|(other, _)| other == rope);
    let of_q = readers[offset.node.0].iter().copied().filter(is_q);
    let of_q = of_q.min_by_key(distance)?;
    let is_v = |id: &NodeId| {
        *id != of_keys
            && replaced(graph, *id).is_some_and(|(other, [_, rows, at])| {
                other == update && at == start && !matches!(graph.op(rows), Op::Rope(_))
            })
    };
    let of_values = readers[start.node.0].iter().copied().filter(is_v);
    let of_values = of_values.min_by_key(distance)?;
    let (_, [q, of_q_offset]) = rotated(graph, of_q)?;
    let (_, [values, v, _]) = replaced(graph, of_values)?;
    let mut members = vec![of_q, of_k, of_keys, of_values];
    let last = members.iter().copied().max()?;
    // Who reads them comes behind all of them, so they do not read one another.
    let behind = [of_q, of_keys, of_values]
        .iter()
        .all(|id| readers[id.0].iter().all(|reader| *reader > last));
    let dtype = graph.ty(q).dtype;
    let same = [k, v, keys, values]
        .iter()
        .all(|x| graph.ty(*x).dtype == dtype);
    let free = members.iter().all(|id| !taken[id.0]);
    if !alone || !behind || !same || !free || of_q_offset != offset || !is_float(dtype) {
        return None;
    }
    let value = |node| Value { node, output: 0 };
    let mut inputs = vec![q, k, v, offset, start, keys, values];
    let attention = attends(graph, readers, [of_q, of_keys, of_values]);
    if let Some(id) = attention {
        inputs.extend(&graph.node(id).inputs[3..]);
        members.push(id);
    }
    Some(Found {
        place: attention.unwrap_or(last),
        inputs,
        results: [attention.unwrap_or(of_q), of_keys, of_values]
            .map(value)
            .to_vec(),
        members,
        part: Part::RopeUpdate(Arc::new(RopeUpdate {
            rope: *rope,
            update: update.clone(),
            types: [q, k, v, keys, values].map(|x| graph.ty(x).clone()),
            attention: attention.map(|id| (graph.node(id).op.clone(), graph.ty(value(id)).clone())),
        })),
    })
}

impl RopeUpdate {
    /// Sizes, if operands lie well enough for one launch.
    pub(super) fn sizes(&self, inputs: &[&Elements]) -> Option<Sizes> {
        let &[q, k, v, offset, start, keys, values, ..] = inputs else {
            return None;
        };
        let rope = &self.rope;
        let sizes = [q, k, v, keys, values].map(|x| x.layout().sizes.as_slice());
        let [
            &[1, q_heads, rows, columns],
            &[1, kv_heads, k_rows, k_columns],
            &[1, v_heads, v_rows, v_columns],
            &[1, keys_heads, k_room, keys_columns],
            &[1, values_heads, v_room, values_columns],
        ] = sizes
        else {
            return None;
        };
        let width = 16 / q.dtype().size();
        let same = [k_rows, v_rows] == [rows; 2]
            && [v_heads, keys_heads, values_heads] == [kv_heads; 3]
            && [k_columns, keys_columns] == [columns; 2]
            && values_columns == v_columns
            && v_columns.is_multiple_of(width)
            && rows <= k_room.min(v_room)
            && rope.dims.is_multiple_of(2)
            && rope.dims <= columns
            && rows * rope.dims / 2 <= ANGLES;
        let one = |x: &&Elements| x.count() == 1 && is_known(x.dtype()) && !is_float(x.dtype());
        let lie_well = [q, k, v]
            .iter()
            .all(|x| x.layout().is_rows() && x.is_aligned(16));
        let fits = same && lie_well && [offset, start].iter().all(one);
        let groups = rope_groups(q, rope)?;
        fits.then_some(Sizes {
            groups,
            q_heads,
            kv_heads,
            rows,
            columns,
            v_columns,
            k_room,
            v_room,
        })
    }
}

impl Place {
    /// Queues rotations, replacements and attention; `None` if an operation has no form here.
    pub(super) fn rope_update(
        self: &Arc<Self>,
        update: &RopeUpdate,
        inputs: &[&Elements],
    ) -> Result<Option<Vec<Elements>>> {
        if let Some(made) = self.attention_step(update, inputs)? {
            return Ok(Some(made));
        }
        let Some([q, keys, values]) = self.rotated_and_replaced(update, inputs)? else {
            return Ok(None);
        };
        let Some((attention, ty)) = &update.attention else {
            return Ok(Some(vec![q, keys, values]));
        };
        let all = [&[&q, &keys, &values], &inputs[7..]].concat();
        let out = self.run_one(attention, &all, ty)?;
        Ok(out.map(|out| vec![out, keys, values]))
    }

    /// q, keys and values; `None` if an operation has no form here.
    fn rotated_and_replaced(
        self: &Arc<Self>,
        update: &RopeUpdate,
        inputs: &[&Elements],
    ) -> Result<Option<[Elements; 3]>> {
        let &[q, k, v, offset, start, keys, values, ..] = inputs else {
            return Ok(None);
        };
        if let Some(made) = self.rope_update_at_once(update, inputs)? {
            return Ok(Some(made));
        }
        let rope = Op::Rope(update.rope);
        let [of_q, of_k, _, of_keys, of_values] = &update.types;
        let (Some(q), Some(k)) = (
            self.run_one(&rope, &[q, offset], of_q)?,
            self.run_one(&rope, &[k, offset], of_k)?,
        ) else {
            return Ok(None);
        };
        let keys = self.run_one(&update.update, &[keys, &k, start], of_keys)?;
        let values = self.run_one(&update.update, &[values, v, start], of_values)?;
        Ok(keys.zip(values).map(|(keys, values)| [q, keys, values]))
    }

    /// All in one launch; `None` if they do not lie well enough.
    fn rope_update_at_once(
        self: &Arc<Self>,
        update: &RopeUpdate,
        inputs: &[&Elements],
    ) -> Result<Option<[Elements; 3]>> {
        let &[q, k, v, offset, start, keys, values, ..] = inputs else {
            return Ok(None);
        };
        let rope = &update.rope;
        let Some(sizes) = update.sizes(inputs) else {
            return Ok(None);
        };
        let pieces = sizes.kv_heads * sizes.v_columns * q.dtype().size() / 16;
        let threads = sizes.rows * ((sizes.q_heads + sizes.kv_heads) * sizes.groups + pieces);
        if threads == 0 || threads > 1 << 24 {
            return Ok(None);
        }
        let (Some(keys), Some(values)) = (self.copied(keys)?, self.copied(values)?) else {
            return Ok(None);
        };
        let Some((out, _)) = self.new_rows(&q.layout().sizes, q.dtype())? else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer("q", q.buffer(), q.offset())
            .buffer("k", k.buffer(), k.offset())
            .buffer("v", v.buffer(), v.offset())
            .buffer("offset", offset.buffer(), offset.offset())
            .buffer("start", start.buffer(), start.offset())
            .buffer("out", out.buffer(), 0)
            .buffer("keys", keys.buffer(), keys.offset())
            .buffer("values", values.buffer(), values.offset())
            .u32("q_heads", sizes.q_heads as u32)
            .u32("kv_heads", sizes.kv_heads as u32)
            .u32("rows", sizes.rows as u32)
            .u32("columns", sizes.columns as u32)
            .u32("dims", rope.dims as u32)
            .u32("v_columns", sizes.v_columns as u32)
            .u32("k_room", sizes.k_room as u32)
            .u32("v_room", sizes.v_room as u32)
            .u32("offset_dtype", offset.dtype() as u32)
            .u32("start_dtype", start.dtype() as u32);
        let args = pair_args(args, rope).f32("scale", rope.scale.get() as f32);
        let kernel = format!("mlxrocm_array_rope_update_{}", suffix(q.dtype()));
        let grid = [(threads as u32).div_ceil(THREADS), 1, 1];
        self.launch(&kernel, grid, &args)?;
        super::joined::count(4);
        Ok(Some([out, keys, values]))
    }
}
