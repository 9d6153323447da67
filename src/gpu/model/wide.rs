//! Attention that the usual kernels have no form of, by those of `hip/ops/attention/wide.hip` and `widest.hip`: heads of more
//! than 256 columns, soft caps of scores, runs of tokens that see no other run.

use super::attention::PARTS_BYTES;
use super::record::Recorder;
use super::singles::Singles;
use crate::Result;
use crate::gpu::constants::{attention_wide, attention_widest};
use crate::step::{Attend, Attention, Rows};

/// The widest heads of the usual kernels.
pub const MAX_DIM: usize = 256;
/// Columns of the forms of `wide.hip`, and query heads that their blocks take .
const WIDE_COLUMNS: [usize; 2] = [256, 768];
const WIDE_HEADS: usize = attention_wide::HEADS;
/// The widest heads of all: those of `widest.hip`, whose blocks take one. Only latent attention could have wider ones.
pub const WIDEST_COLUMNS: usize = attention_widest::COLUMNS;
pub const THREADS: u32 = attention_wide::THREADS as u32;

/// Whether an attention needs these kernels.
pub fn is_wide(shape: &Attention) -> bool {
    shape.head_dim > MAX_DIM || shape.cap.is_some() || shape.chunk.is_some()
}

/// The form that heads of `dim` columns take: how its kernel's name ends, query heads of a block, columns.
pub struct WideForm {
    pub name: String,
    pub heads: usize,
    pub columns: usize,
}

pub fn wide_form(dim: usize) -> WideForm {
    match WIDE_COLUMNS.into_iter().find(|columns| dim <= *columns) {
        Some(columns) => WideForm {
            name: format!("wide_{columns}"),
            heads: WIDE_HEADS,
            columns,
        },
        None => WideForm {
            name: "widest".into(),
            heads: 1,
            columns: WIDEST_COLUMNS,
        },
    }
}

impl Recorder<'_> {
    /// Records such an attention: keys and values go to the cache first.
    pub(super) fn attend_wide(&mut self, attend: Attend) -> Result<()> {
        self.write_cache(attend, "mlxrocm_attention_wide_write", THREADS)?;
        let Attend { q, out, shape, .. } = attend;
        let (places, byte) = (self.places(), |place: usize| (place * 4) as u64);
        let count = self.rows(q);
        let list = match self.schedule.buffers[q.0].rows {
            Rows::Tokens => None,
            _ => Some(places.wanted),
        };
        let memory = self.memory;
        let singles = Singles::of(&shape, self.kv, &self.weights.device);
        let parts = singles.parts(self.bucket.pages) as u32;
        let at_once = (PARTS_BYTES / singles.part_bytes(self.bucket.pages)).max(1);
        let mut done = 0;
        while done < count {
            let now = at_once.min(count - done);
            // Without a list the queries are the rows from `done` on, and so are their positions.
            let first = if list.is_none() { done } else { 0 };
            let args = crate::gpu::Args::new()
                .buffer("q", &memory.arena, self.at(q, done))
                .buffer("out", &memory.arena, self.at(out, done))
                .buffer("cache", &memory.cache, 0)
                .buffer("positions", self.inputs, byte(places.positions + first))
                .buffer("slots", self.inputs, byte(places.slots + first))
                .buffer("pages", self.inputs, byte(places.pages))
                .buffer_or_null("tokens", list.map(|list| (self.inputs, byte(list + done))));
            let args = self.norm_of(args, "q_norm", attend.q_norm);
            let args = self
                .vector_of(args, "sinks", attend.sinks)
                .buffer("rope", self.rope_table(attend), 0)
                .buffer("parts", &memory.parts, 0)
                .buffer("counters", &memory.counters, 0);
            let args = self
                .attend_shape(args, attend)
                .u32("window", shape.window.unwrap_or(0) as u32)
                .u32("chunk", shape.chunk.unwrap_or(0) as u32)
                .f32("eps", attend.q_norm.map_or(0.0, |norm| norm.eps))
                .f32("scale", shape.scale)
                .f32("cap", shape.cap.unwrap_or(0.0));
            let reads = [
                self.range(q, done, now),
                memory.cache.whole(),
                self.inputs.whole(),
            ];
            let writes = [
                self.range(out, done, now),
                memory.parts.whole(),
                memory.counters.whole(),
            ];
            let grid = [now as u32, singles.groups as u32, parts];
            self.launch(
                &singles.kernel,
                grid,
                singles.threads,
                0,
                args,
                &reads,
                &writes,
            )?;
            done += now;
        }
        Ok(())
    }
}
