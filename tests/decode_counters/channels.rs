//! Whether the streams of a product of decoding are spread over the channels of DRAM.
//!
//! Hundreds of waves read a matrix at once, each a stream of its own. Where the streams begin at the same channel and walk
//! in step, one channel works while the others wait (a Radeon 8060S lost up to 25 % with rows that begin 2,048 bytes
//! apart: ROCm/vllm 989). This takes the addresses from the machine code as it runs.
//!
//! Assumed of the card: neighbouring pieces of 256 bytes (and, as the timing model has gfx1151, of 512) lie in neighbouring
//! channels, the piece's number modulo the number of channels. Cards mix more address bits, which only helps.

use crate::gpu;
use softgpu::isa::{Checks, CodeObject, Launch};
use softgpu::memory::Memory;
use softgpu::timing::{Card, card, trace};

const KERNEL: &str = "mlxrocm_matmul_rows_q4_f16_g64_r1";
/// Rows and columns of the 8B shapes: attention, down of Qwen3 and of Llama 3.1, gate and up (as many rows as suffice).
const SHAPES: [(usize, usize); 4] = [(4096, 4096), (4096, 12288), (4096, 14336), (8192, 4096)];
const THREADS: u32 = 256;
/// Units of 64 columns and 16 rows: codes and scales (`hip/common/quant.h`).
const UNIT_BYTES: usize = 512 + 64;
/// Loads that a wave has on their way (`AHEAD` of `hip/ops/matmul/rows.h`).
const AHEAD: usize = 4;
/// Of the channels' time, the least part that they work if each takes its own share of what is on its way and waits for
/// the last one: 1 if all have the same. Found: 0.70 and more on RDNA; on CDNA 0.56, where blocks take an even number of
/// tiles, which then begin at the same of its channels. Rows that begin at one channel have 0.5 at most on RDNA's 16 and
/// 0.25 on the MI210's 32. (A tile 256 bytes longer would give 0.9 on most; the layout is every platform's.)
fn least(channels: usize) -> f64 {
    if channels < 32 { 0.65 } else { 0.5 }
}

/// Where traces have the second allocation that is touched: x is the first.
const WEIGHTS: u64 = (1 << 40) + (4 << 20);

/// What one wave reads: a load of 16 bytes a lane after the other, the pieces of 128 bytes that it touches.
type Stream = Vec<Vec<u64>>;

/// Blocks, and bytes of local memory, as `src/gpu/model/matmul.rs` has them (which the executor's own tests launch).
fn geometry(card: &Card, rows: usize, cols: usize) -> (u32, u32) {
    let padded = cols.div_ceil(64) * 64;
    let sums = 2 * 4 * 16 * (8 + 4) * 4 + 8 * 4 + 32;
    let lds = sums + 2 * (padded.next_multiple_of(128) + 64) + padded / 64 * 8;
    let (tiles, units) = (rows / 16, card.units as usize);
    let blocks = match card.target.starts_with("gfx9") {
        true => tiles.div_ceil(tiles.div_ceil(units * (65536 / lds).clamp(1, 4))),
        false => tiles.min(units * 8),
    };
    (blocks as u32, lds as u32)
}

/// The streams of all waves.
fn streams(card: &Card, code: &CodeObject, (rows, cols): (usize, usize)) -> Vec<Stream> {
    let kernel = code.kernel(KERNEL).expect("the kernel");
    let (memory, bytes) = (Memory::new(), rows / 16 * cols.div_ceil(64) * UNIT_BYTES);
    let buffer = |bytes: usize| memory.allocate(bytes, "buffer").expect("memory");
    let (weights, x, y) = (buffer(bytes), buffer(cols * 4), buffer(rows * 4));
    let mut kernarg = Vec::new();
    for pointer in [weights, x, 0, 0, 0, y, 0, 0] {
        kernarg.extend(pointer.to_le_bytes());
    }
    let (tiles, width) = ((rows / 16) as u32, rows as u32);
    let numbers = [tiles, tiles, width, 0, 0, 0, 1, cols as u32, tiles, 0];
    kernarg.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    // No fourth output.
    kernarg.extend([0; 16]);
    let (blocks, dynamic_lds) = geometry(card, rows, cols);
    let launch = Launch {
        kernel: &kernel,
        grid_blocks: [blocks, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_lds,
        kernarg: &kernarg,
        memory: &memory,
        seed: 0,
        threads: 1,
        checks: Checks {
            uninitialised: false,
            ..Checks::default()
        },
        stop: None,
        without: None,
    };
    let all: Vec<u64> = (0..u64::from(blocks)).collect();
    let trace = trace::record(&launch, &all, None).unwrap_or_else(|fault| panic!("{fault}"));
    let is_weight = |line: &u64| (WEIGHTS..WEIGHTS + bytes as u64).contains(line);
    let waves = trace.groups.iter().flat_map(|group| &group.waves);
    let streams: Vec<Stream> = waves
        .map(|wave| {
            let loads = wave.accesses.iter().filter(|a| a.bytes >= 32 * 16);
            let lines = loads.map(|a| &wave.lines[a.first as usize..][..usize::from(a.count)]);
            let lines = lines.map(|lines| lines.iter().copied().filter(is_weight).collect());
            lines.filter(|lines: &Vec<u64>| !lines.is_empty()).collect()
        })
        .collect();
    let read: usize = streams.iter().flatten().map(Vec::len).sum();
    let matrix = bytes / 128;
    assert!(
        read > matrix * 3 / 4 && read < matrix * 3 / 2,
        "{} {rows} x {cols}: {read} lines of codes, {matrix} of the matrix",
        card.name
    );
    streams
}

/// How even the channels' work is where all streams walk in step.
fn evenness(streams: &[Stream], channels: usize, piece: u64) -> f64 {
    let steps = streams.iter().map(Vec::len).max().unwrap_or(0);
    let (mut all, mut longest) = (0, 0);
    for first in (0..steps).step_by(AHEAD) {
        let mut work = vec![0_usize; channels];
        for stream in streams {
            for line in stream.iter().skip(first).take(AHEAD).flatten() {
                work[(line / piece) as usize % channels] += 1;
            }
        }
        all += work.iter().sum::<usize>();
        longest += work.iter().max().unwrap_or(&0) * channels;
    }
    all as f64 / longest as f64
}

#[test]
fn streams_of_decoding_are_spread_over_the_channels() {
    let targets = [
        "gfx1151", "gfx1201", "gfx1100", "gfx1030", "gfx90a", "gfx942",
    ];
    let (built, mut wrong) = (mlxrocm::gpu::kernels::built_in().unwrap(), Vec::new());
    for target in gpu::among(&targets) {
        let object = built
            .iter()
            .find(|object| object.target == target && object.kernels.contains(&KERNEL));
        let code = CodeObject::load(object.expect("the kernel's object").code).unwrap();
        let card = card(target).unwrap();
        for shape in SHAPES {
            let streams = streams(card, &code, shape);
            for piece in [256, 512] {
                let even = evenness(&streams, card.channels as usize, piece);
                println!("{} {shape:?} pieces of {piece}: {even:.2}", card.name);
                if even < least(card.channels as usize) {
                    wrong.push(format!("{} {shape:?} {piece}: {even:.2}", card.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Rows one after the other, a wave a row, as long as the channels are wide together: what the bound is there to find. 128 bytes
/// more a row give it back.
#[test]
fn rows_that_begin_at_the_same_channel_are_found() {
    for channels in [16, 24, 32, 128] {
        let apart = |stride: u64| -> Vec<Stream> {
            let lines = |row: u64, k: u64| (0..4).map(move |i| row * stride + k * 512 + i * 128);
            let stream = |row: u64| (0..4).map(|k| lines(row, k).collect()).collect();
            (0..1280).map(stream).collect()
        };
        let stride = channels as u64 * 256;
        let (even, padded) = (
            evenness(&apart(stride), channels, 256),
            evenness(&apart(stride + 128), channels, 256),
        );
        assert!(
            even < 0.51 && padded > 0.95,
            "{channels}: {even:.2}, {padded:.2}"
        );
    }
}
