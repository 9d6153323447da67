//! CPU kernels: one table of functions per SIMD level, chosen once at run time.
//!
//! `portable` is the plain form and the oracle of the others. Within one level every output row is
//! computed by the same operations in the same order however many rows a call has, so a request
//! gives the same bits alone and in a batch.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod body;
mod columns;
mod elements;
mod gemm;
mod kv;
mod portable;
mod recurrent;
#[cfg(test)]
mod tests;
mod vector;
mod winograd;

use super::activations::{FourRowsTarget, Group, RowTarget, SPAN};
use super::packed::{BLOCK, TILE_ROWS};
use crate::formats::{GroupForm, ScalarType, ScaleForm, Values};
use crate::step::{Function, KvType};
pub use columns::{COLUMNS, Column};
pub use elements::Side;
pub use gemm::{GEMM_COLUMNS, GEMM_ROWS, GEMM_ROWS_MOST, GemmTile};
pub use kv::KvGroup;
pub use recurrent::{Decay, DeltaToken};
use std::sync::OnceLock;
pub use winograd::{
    FREQUENCIES, SQUARES, TILES, WIDTH, WinogradInput, WinogradOutput, kernel as winograd_kernel,
};

/// The instruction sets the kernels use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// Plain Rust.
    Portable,
    /// AVX2, FMA, F16C.
    Avx2,
    /// AVX-512 F/BW/VL with VNNI.
    Avx512,
}

impl SimdLevel {
    /// The name that logs and device facts show.
    pub fn name(self) -> &'static str {
        match self {
            SimdLevel::Portable => "portable",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512-vnni",
        }
    }
}

/// A norm of a row x.
pub type LayerNorm = unsafe fn(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, out: &mut [f32]);
/// Scale and bias of one block of a tile: `[scale, bias][row]`.
pub type ScaleEntry = [[f32; TILE_ROWS]; 2];

/// One tile of 16 weight rows, as `packed` lays it out.
pub struct Tile<'a> {
    /// Bits, group and kind of scales.
    pub form: GroupForm,
    /// The scale section.
    pub section: &'a [u8],
    /// Codes of all blocks.
    pub codes: &'a [u8],
}

impl Tile<'_> {
    /// No rows, no columns.
    pub const EMPTY: Tile<'static> = Tile {
        form: GroupForm {
            bits: 4,
            group: BLOCK,
            values: Values::Code,
            scale: ScaleForm::Stored(ScalarType::F16),
        },
        section: &[],
        codes: &[],
    };

    /// Groups of 16 columns: two scale entries a block.
    pub fn halves(&self) -> bool {
        self.form.group < BLOCK
    }
}

/// The most tiles that `rows_tiles` multiplies at once, each from a stream of its own through memory.
pub const STREAMS: usize = 4;

/// Products of a row with each tile.
pub type RowOut = [[f32; TILE_ROWS]; STREAMS];

/// The scales of a span of blocks of each tile.
pub type SpanScales = [[ScaleEntry; 2 * SPAN]; STREAMS];

/// What the products need of memory, kept between calls.
#[derive(Default)]
pub struct TileScratch {
    scales: Vec<ScaleEntry>,
    span_scales: Option<Box<SpanScales>>,
    words: Words,
    sums: Vec<[f32; TILE_ROWS]>,
}

/// The parts of a `TileScratch`.
struct TileParts<'a> {
    scales: &'a mut [ScaleEntry],
    words: &'a mut Words,
    /// Sums of a span's products, for each row of the group, in units of its activations' scale.
    sums: &'a mut [[f32; TILE_ROWS]],
}

impl TileScratch {
    /// Room for the scales of a span and for a block's codes.
    fn row_parts(&mut self) -> (&mut SpanScales, &mut Words) {
        let scales = self.span_scales.get_or_insert_with(Box::default);
        (scales, &mut self.words)
    }

    /// Room for a tile's product with a group.
    fn parts(&mut self, tile: &Tile<'_>, x: &Group<'_>) -> TileParts<'_> {
        let entries = x.blocks * if tile.halves() { 2 } else { 1 };
        if self.scales.len() < entries {
            self.scales.resize(entries, [[0.0; TILE_ROWS]; 2]);
        }
        if self.sums.len() < x.rows {
            self.sums.resize(x.rows, [0.0; TILE_ROWS]);
        }
        TileParts {
            scales: &mut self.scales[..entries],
            words: &mut self.words,
            sums: &mut self.sums[..x.rows],
        }
    }
}

/// Codes of one block as 16-bit pairs: `[pair][row][2]`.
#[repr(C, align(64))]
pub struct Words(pub [i16; 512]);

impl Default for Words {
    fn default() -> Words {
        Words([0; 512])
    }
}

/// Row-major dense weights: up to 16 rows of a tile.
pub struct DenseTile<'a> {
    pub ty: ScalarType,
    /// `rows` rows of `cols` values.
    pub data: &'a [u8],
    pub rows: usize,
    pub cols: usize,
}

/// The functions of one SIMD level. All are `unsafe` because they need the CPU to have that level.
pub struct Kernels {
    pub level: SimdLevel,
    /// Token rows of a panel.
    pub panel: usize,
    /// A row of activations to 16-bit integers.
    pub quantize_row: unsafe fn(x: &[f32], out: RowTarget<'_>),
    /// The same for four rows that lie side by side in a panel.
    pub quantize_four: unsafe fn(x: [&[f32]; 4], out: FourRowsTarget<'_>),
    /// `out[row][lane] = Σ_k w[lane][k]·x[row][k]` for the rows of the group.
    pub matmul_tile:
        unsafe fn(&Tile<'_>, &Group<'_>, &mut TileScratch, out: &mut [[f32; TILE_ROWS]]),
    /// `out[r][i][lane] = Σ_k w[lane][k]·x[k]` for tile `i` and the only row of group `r`: up to [`STREAMS`]
    /// tiles, few rows of as many blocks. The same bits as `matmul_tile` gives.
    pub rows_tiles: unsafe fn(&[Tile<'_>], &[Group<'_>], &mut TileScratch, out: &mut [RowOut]),
    /// The same as `matmul_tile` for dense weights and f32 rows `x[rows][cols]`.
    pub dense_tile: unsafe fn(&DenseTile<'_>, x: &[f32], out: &mut [[f32; TILE_ROWS]]),
    /// Rows of a tile of a product of f32 matrices by one panel, by two, by four (0: no such tiles).
    pub gemm_rows: [usize; 3],
    /// Up to `gemm_rows` rows by so many panels, all f32; sums in the order of the inner places.
    pub gemm_tile: unsafe fn(&GemmTile),
    /// A tile of a board before the products of a convolution (see `winograd`).
    pub winograd_input: unsafe fn(&WinogradInput<'_>),
    /// A tile of a board behind them.
    pub winograd_output: unsafe fn(&WinogradOutput<'_>),
    /// A function of each element.
    pub elements: unsafe fn(Function, a: Side<'_>, b: Side<'_>, out: &mut [f32]),
    /// `out = (x − mean) · rsqrt(variance + eps) · weight + bias`.
    pub layer_norm: LayerNorm,
    /// A row to its softmax.
    pub softmax: unsafe fn(x: &mut [f32]),
    /// `out = x · rsqrt(mean(x²) + eps) · weight`.
    pub rms_norm: unsafe fn(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]),
    /// `gate = silu(gate) · up`.
    pub swiglu: unsafe fn(gate: &mut [f32], up: &[f32]),
    /// The same with gpt-oss' function (see `body::swiglu_clamped`).
    pub swiglu_clamped: unsafe fn(gate: &mut [f32], up: &[f32], limit: f32),
    /// `out += a · b`.
    pub multiply_add: unsafe fn(a: &[f32], b: &[f32], out: &mut [f32]),
    /// `x = silu(x)`.
    pub silu: unsafe fn(x: &mut [f32]),
    /// A token of the gated delta rule (see `recurrent::gated_delta`).
    pub gated_delta: unsafe fn(&mut DeltaToken<'_>),
    /// f32 to f16, as far as it goes: what is finite stays so.
    pub narrow: unsafe fn(src: &[f32], dst: &mut [u16]),
    /// Up to 32 columns of one token for a quantized KV cache.
    pub kv_group: unsafe fn(KvType, x: &[f32]) -> KvGroup,
    /// Keys of a page of the KV cache to `[head_dim][PAGE_TOKENS]`.
    pub kv_keys: unsafe fn(KvType, page: &[u16], out: &mut [f32]),
    /// Values of a page of the KV cache to `[PAGE_TOKENS][head_dim]`.
    pub kv_values: unsafe fn(KvType, page: &[u16], out: &mut [f32]),
    /// One page of flash attention for up to 6 query rows (see `body::attend_page`).
    pub attend_page: unsafe fn(&mut AttendPage<'_>),
    /// Up to 16 query rows `[rows][head_dim]` to columns `[head_dim]`; lanes without a row become 0.
    pub to_columns: unsafe fn(rows: &[f32], columns: &mut [Column]),
    /// Columns back to up to 16 rows.
    pub to_rows: unsafe fn(columns: &[Column], rows: &mut [f32]),
    /// `attend_page` for 16 query rows, rows in lanes.
    pub attend_columns: unsafe fn(&mut AttendColumns<'_>),
}

/// Keys `[head_dim][PAGE_TOKENS]` and values `[PAGE_TOKENS][head_dim]` of a page.
#[derive(Clone, Copy)]
pub enum KeysValues<'a> {
    F32(&'a [f32], &'a [f32]),
    /// f16 bits: a page as an f16 cache has it.
    F16(&'a [u16], &'a [u16]),
}

/// Operands of one page of attention.
pub struct AttendPage<'a> {
    /// Query rows `[rows][head_dim]`, scaled.
    pub q: &'a [f32],
    pub kv: KeysValues<'a>,
    /// For each row the tokens of this page it sees, as a range.
    pub seen: &'a [(usize, usize)],
    /// Scores become `cap · tanh(score / cap)`; 0: they stay.
    pub cap: f32,
    /// Running maximum and sum of each row.
    pub state: &'a mut [(f32, f32)],
    /// Running outputs `[rows][head_dim]`, not yet divided by the sum.
    pub out: &'a mut [f32],
}

/// Operands of one page of attention, rows in lanes.
pub struct AttendColumns<'a> {
    /// Query rows `[head_dim]`, scaled.
    pub q: &'a [Column],
    /// Keys `[head_dim][PAGE_TOKENS]`.
    pub k: &'a [f32],
    /// Values `[PAGE_TOKENS][head_dim]`.
    pub v: &'a [f32],
    /// For each row the tokens of this page it sees, as a range.
    pub seen: &'a [(usize, usize); COLUMNS],
    /// Scores become `cap · tanh(score / cap)`; 0: they stay.
    pub cap: f32,
    /// Running maximum and sum.
    pub state: &'a mut [Column; 2],
    /// Running outputs `[head_dim]`, not yet divided by the sum.
    pub out: &'a mut [Column],
}

/// The best level this CPU has (`MLXROCM_CPU_SIMD=portable|avx2` lowers it, for tests).
pub fn simd_level() -> SimdLevel {
    kernels().level
}

/// The table of the level in use.
pub fn kernels() -> &'static Kernels {
    static CHOSEN: OnceLock<&'static Kernels> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let limit = match std::env::var("MLXROCM_CPU_SIMD").as_deref() {
            Ok("portable") => SimdLevel::Portable,
            Ok("avx2") => SimdLevel::Avx2,
            _ => SimdLevel::Avx512,
        };
        available()
            .into_iter()
            .rfind(|k| k.level <= limit)
            .unwrap_or(&portable::KERNELS)
    })
}

/// The tables this CPU can run, lowest level first.
pub fn available() -> Vec<&'static Kernels> {
    let mut tables: Vec<&'static Kernels> = vec![&portable::KERNELS];
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        if avx2 {
            tables.push(&avx2::KERNELS);
        }
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni");
        if avx2 && avx512 {
            tables.push(&avx512::KERNELS);
        }
    }
    tables
}
