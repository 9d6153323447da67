//! Records attentions: the KV cache's layout, and which kernel attends to which tokens.

use super::inputs::QUERIES;
use super::record::Recorder;
use super::singles::Singles;
use super::wide::{MAX_DIM, is_wide};
use crate::Result;
use crate::driver::{Overlap, Platform};
use crate::gpu::constants::attention_flash;
use crate::gpu::{Args, DeviceBuffer, LaunchOptions};
use crate::step::{Attend, BufferId, KvType, Rows};

/// Bytes that the parts of attentions may take: longer batches go in several launches.
pub const PARTS_BYTES: usize = 32 << 20;

/// How the names of kernels for a kind of cache end.
pub(super) fn suffix(kv: KvType) -> &'static str {
    match kv {
        KvType::F16 => "",
        KvType::Q8 => "_q8",
        KvType::Q4 => "_q4",
    }
}

impl Recorder<'_> {
    /// Records an attention, of a batch of single tokens with a gate that its results meet.
    pub(super) fn attend(&mut self, attend: Attend, gate: Option<BufferId>) -> Result<()> {
        if is_wide(&attend.shape) {
            return self.attend_wide(attend);
        }
        let places = self.places();
        let by_token = self.schedule.buffers[attend.q.0].rows == Rows::Tokens;
        if self.bucket.decode {
            // The queries' kernel puts the new keys into the cache itself.
            let list = if by_token {
                places.singles
            } else {
                places.wanted
            };
            return self.attend_each((attend, gate), list, self.bucket.rows, by_token);
        }
        self.write_cache(attend, "mlxrocm_attention_write", 64)?;
        if !by_token {
            let wanted = self.bucket.wanted;
            return self.attend_each((attend, gate), places.wanted, wanted, false);
        }
        if self.bucket.tiled {
            self.attend_tiles(attend)?;
        }
        match self.bucket.singles {
            0 => Ok(()),
            singles => self.attend_each((attend, gate), places.singles, singles, true),
        }
    }

    /// Puts keys and values of the new tokens into the cache, by a kernel of so many threads a token and head.
    pub(super) fn write_cache(&mut self, attend: Attend, kernel: &str, threads: u32) -> Result<()> {
        let Attend {
            k,
            v,
            k_norm,
            state,
            shape,
            ..
        } = attend;
        let (places, byte) = (self.places(), |place: usize| (place * 4) as u64);
        let memory = self.memory;
        let args = Args::new()
            .buffer("k", &memory.arena, self.at(k, 0))
            .buffer("v", &memory.arena, self.at(v, 0))
            .buffer("cache", &memory.cache, 0)
            .buffer("positions", self.inputs, byte(places.positions))
            .buffer("slots", self.inputs, byte(places.slots))
            .buffer("pages", self.inputs, byte(places.pages));
        let args = self
            .norm_of(args, "k_norm", k_norm)
            .buffer("rope", self.rope_table(attend), 0)
            .u64("page_stride", self.schedule.page_bytes(self.kv) as u64)
            .u64(
                "layer_start",
                self.schedule.state_offset(state, self.kv) as u64,
            )
            .u32("max_pages", self.bucket.pages as u32)
            .u32("kv_heads", shape.kv_heads as u32)
            .u32("dim", shape.head_dim as u32);
        let args = self
            .rope_shape(args, attend)
            .f32("eps", k_norm.map_or(0.0, |n| n.eps));
        let tokens = self.bucket.rows;
        let reads = [
            self.range(k, 0, tokens),
            self.range(v, 0, tokens),
            self.inputs.whole(),
        ];
        let grid = [tokens as u32, shape.kv_heads as u32, 1];
        let writes = [memory.cache.whole()];
        let kernel = format!("{kernel}{}", suffix(self.kv));
        self.launch(&kernel, grid, threads, 0, args, &reads, &writes)
    }

    /// Attention of tiles of queries: by `flash_warpgroup.hip` where it is, else by `flash.hip`.
    fn attend_tiles(&mut self, attend: Attend) -> Result<()> {
        let dim = tile_dim(attend.shape.head_dim);
        let tokens = self.bucket.rows;
        let args = self.attend_args(attend, 0, ("tiles", self.places().tiles));
        let args = self.attend_shape(args, attend);
        let args = args
            .u32("window", attend.shape.window.unwrap_or(0) as u32)
            .f32("eps", attend.q_norm.map_or(0.0, |n| n.eps))
            .f32("scale", attend.shape.scale);
        let memory = self.memory;
        let reads = [
            self.range(attend.q, 0, tokens),
            memory.cache.whole(),
            self.inputs.whole(),
        ];
        let writes = [self.range(attend.out, 0, tokens)];
        let (tiles, heads) = (self.bucket.tiles() as u32, attend.shape.heads as u32);
        let device = &self.weights.device;
        let warpgroup = format!("mlxrocm_attention_warpgroup_{dim}{}", suffix(self.kv));
        if device.facts().arch == "sm_90" && device.kernel(&warpgroup).is_ok() {
            // Two heads that share keys and values, if there are.
            let groups = match (attend.shape.heads / attend.shape.kv_heads).is_multiple_of(2) {
                true => 2,
                false => 1,
            };
            let shared = 1024 + (groups + 4) * QUERIES * dim * 2;
            let (grid, threads) = ([tiles, heads / groups as u32, 1], 128 * groups as u32);
            return self.launch(&warpgroup, grid, threads, shared, args, &reads, &writes);
        }
        let kernel = format!("mlxrocm_attention_flash_{dim}{}", suffix(self.kv));
        let waves = if dim > 128 { 8 } else { 4 };
        let threads = waves * device.facts().wave_size;
        let shared = match device.facts().platform {
            Platform::Cuda if dim > 128 => attention_flash::WIDE_BYTES,
            _ => 0,
        };
        let grid = [tiles, heads, 1];
        self.launch(&kernel, grid, threads, shared, args, &reads, &writes)
    }

    /// Attention of the queries of a list, each for itself.
    fn attend_each(
        &mut self,
        (attend, gate): (Attend, Option<BufferId>),
        list: usize,
        count: usize,
        by_token: bool,
    ) -> Result<()> {
        let Attend { q, out, shape, .. } = attend;
        let (memory, device) = (self.memory, &self.weights.device);
        let singles = Singles::of(&shape, self.kv, device);
        let parts = singles.parts(self.bucket.pages) as u32;
        let at_once = (PARTS_BYTES / singles.part_bytes(self.bucket.pages)).max(1);
        let mut done = 0;
        while done < count {
            let now = at_once.min(count - done);
            // Rows of the launch, if they lie together.
            let (row, rows) = match by_token {
                true => (0, self.rows(q)),
                false => (done, now),
            };
            let args = self.attend_args(attend, row, ("tokens", list + done));
            let mut reads = vec![
                self.range(q, row, rows),
                memory.cache.whole(),
                self.inputs.whole(),
            ];
            let mut writes = vec![
                self.range(out, row, rows),
                memory.parts.whole(),
                memory.counters.whole(),
            ];
            let args = match self.bucket.decode {
                true => {
                    let tokens = self.bucket.rows;
                    reads.push(self.range(attend.k, 0, tokens));
                    reads.push(self.range(attend.v, 0, tokens));
                    writes.push(memory.cache.whole());
                    let args = args
                        .buffer("k", &memory.arena, self.at(attend.k, 0))
                        .buffer("v", &memory.arena, self.at(attend.v, 0));
                    self.norm_of(args, "k_norm", attend.k_norm)
                }
                false => args.null("k").null("v").null("k_norm"),
            };
            let args =
                args.buffer("parts", &memory.parts, 0)
                    .buffer("counters", &memory.counters, 0);
            let args = self.attend_shape(args, attend);
            let args = args
                .u32("window", shape.window.unwrap_or(0) as u32)
                .u32("by_token", u32::from(by_token))
                .f32("eps", attend.q_norm.map_or(0.0, |n| n.eps))
                .f32("scale", shape.scale)
                .f32("k_eps", attend.k_norm.map_or(0.0, |n| n.eps));
            let args = match singles.is_shared {
                true => args
                    .u32("most", singles.most as u32)
                    .u32("adders", singles.adders(now, device) as u32),
                false => args,
            };
            let args = match gate {
                Some(gate) => {
                    reads.push(self.range(gate, row, rows));
                    args.buffer("gate", &memory.arena, self.at(gate, row))
                }
                None => args.null("gate"),
            };
            let grid = [now as u32, singles.groups as u32, parts];
            let block = (singles.threads, singles.shared);
            let options = LaunchOptions {
                overlap: Overlap::All,
                works: None,
                wants_room: true,
                ..LaunchOptions::default()
            };
            self.launch_with(options, &singles.kernel, grid, block, args, &reads, &writes)?;
            done += now;
        }
        Ok(())
    }

    /// The arguments that attention kernels begin with: queries from `row` on, those of a list.
    fn attend_args(&self, attend: Attend, row: usize, (name, list): (&'static str, usize)) -> Args {
        let (places, byte) = (self.places(), |place: usize| (place * 4) as u64);
        let args = Args::new()
            .buffer("q", &self.memory.arena, self.at(attend.q, row))
            .buffer("out", &self.memory.arena, self.at(attend.out, row))
            .buffer("cache", &self.memory.cache, 0)
            .buffer("positions", self.inputs, byte(places.positions))
            .buffer("slots", self.inputs, byte(places.slots))
            .buffer("pages", self.inputs, byte(places.pages))
            .buffer(name, self.inputs, byte(list));
        let args = self.norm_of(args, "q_norm", attend.q_norm);
        self.vector_of(args, "sinks", attend.sinks)
            .buffer("rope", self.rope_table(attend), 0)
    }

    /// Angles of the attention's rotation; any table where there is none.
    pub(super) fn rope_table(&self, attend: Attend) -> &DeviceBuffer {
        let table = attend.rope.and_then(|rope| self.memory.ropes.get(rope));
        table.unwrap_or(&self.memory.counters)
    }

    /// How many pairs turn, and which lie together.
    fn rope_shape(&self, args: Args, attend: Attend) -> Args {
        let rope = attend.rope.and_then(|rope| self.schedule.ropes.get(rope));
        args.u32("pairs", rope.map_or(0, |rope| rope.inv_freq.len()) as u32)
            .u32(
                "interleaved",
                u32::from(rope.is_some_and(|rope| rope.interleaved)),
            )
    }

    /// Those that say where the cache is and what the heads are.
    pub(super) fn attend_shape(&self, args: Args, attend: Attend) -> Args {
        let shape = attend.shape;
        let args = args
            .u64("page_stride", self.schedule.page_bytes(self.kv) as u64)
            .u64(
                "layer_start",
                self.schedule.state_offset(attend.state, self.kv) as u64,
            )
            .u32("max_pages", self.bucket.pages as u32)
            .u32("heads", shape.heads as u32)
            .u32("kv_heads", shape.kv_heads as u32)
            .u32("dim", shape.head_dim as u32);
        self.rope_shape(args, attend)
    }
}

/// Columns that the kernel for tiles of queries has for heads of `dim`; of the widest there is, if none has
/// so many.
fn tile_dim(dim: usize) -> usize {
    dim.next_power_of_two().clamp(64, MAX_DIM)
}
