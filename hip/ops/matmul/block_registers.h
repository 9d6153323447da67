// Products of block.h where the matrix unit outruns the shared memory (CDNA, RDNA 4): weights go from memory to the
// registers that the unit reads and never through shared memory.
//
// Each wave makes all rows of the block times WAVE_TILES tiles of W. A lane has 4g + t of teams (quant.h)
// twice, for the tile lane % ACROSS / 8: g = lane % 8, t = lane / ACROSS and t + 2. So it holds rows g and g + 8 of its
// tile, a column of a product each: product h has rows g + 8h of the wave's tiles. Columns of x are
// multiplied in the order in which lanes have their codes; x is permuted alike where it is read: sixteen bytes
// are the factors of two products on CDNA, of one on RDNA.
//
// x lies in shared memory twice, that of the next 64 columns is written while these are multiplied: one barrier
// for 64 columns. 16-byte piece i of row r is at i ^ (r % 8): eight lanes that are served together read all banks.
#pragma once

// Rows of x, and of W, of a product: two lanes share one.
#define ACROSS (WAVE / 2)
#define WAVE_TILES (ACROSS / 8)
// Numbers of a product that a lane has.
#define LANE_SUMS (ACROSS * ACROSS / WAVE)
// Pieces of 16 bytes of a row of x in shared memory.
#define PIECES (BLOCK_COLS / 8)

typedef f32 amd_sums __attribute__((ext_vector_type(LANE_SUMS)));

#include "ops/matmul/block_share.h"

// Adds 16 bytes of a row of x, times those of a row of W.
#if AMD_CDNA2
#define PIECE_STEPS 2
typedef _Float16 amd_factors __attribute__((ext_vector_type(4)));
DEVICE amd_sums multiply_step(u32 step, u32x4 x, const u32 *w, amd_sums sums) {
    const u32x2 a = step ? u32x2{x.z, x.w} : u32x2{x.x, x.y}, b = {w[2 * step], w[2 * step + 1]};
    return __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(amd_factors, a), __builtin_bit_cast(amd_factors, b), sums, 0, 0, 0);
}
// The row of number `i` of a lane.
DEVICE u32 sum_row(u32 lane, u32 i) { return i / 4 * 8 + lane / 32 * 4 + i % 4; }
#else
#define PIECE_STEPS 1
typedef _Float16 amd_factors __attribute__((ext_vector_type(8)));
DEVICE amd_sums multiply_step(u32, u32x4 x, const u32 *w, amd_sums sums) {
    const u32x4 b = {w[0], w[1], w[2], w[3]};
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(__builtin_bit_cast(amd_factors, x), __builtin_bit_cast(amd_factors, b), sums);
}
DEVICE u32 sum_row(u32 lane, u32 i) { return lane / 16 * 8 + i; }
#endif

// A lane's part of the wave's four tiles of a quantized matrix: slots t and t + 2.
template <typename Q> struct TileOf {
    static constexpr u32 UNIT = Q::UNIT, GROUPS = BLOCK_COLS / Q::GROUP;
    // Of RDNA's registers fewer are left.
    static constexpr bool TABLE = Q::TABLE, CROWDED = UNIT > 1;
    u32x4 first[2][Q::FIRST_VECTORS], second[2][Q::SECOND_VECTORS > 0 ? Q::SECOND_VECTORS : 1];
    ScaleWords words[GROUPS];
    Table table;

    DEVICE void begin(TileOf &w, const u8 *weights) { w.table = table_of<Q>(weights); }

    DEVICE u64 tile_bytes(u32 cols) {
        return (u64)((cols + UNIT * BLOCK_COLS - 1) / (UNIT * BLOCK_COLS)) * Q::UNIT_BYTES;
    }

    // Loads the codes of slot `j` of `unit` that block `b` is the first to use.
    DEVICE void load_codes(TileOf &w, const u8 *tile, u32 unit, u32 b, u32 j, u32, u32 lane) {
        const u8 *at = tile + (u64)unit * Q::UNIT_BYTES + (lane % 8 * 4 + lane / ACROSS + 2 * j) * 16;
        UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++)
            if (4 * v / Q::FIRST == b) w.first[j][v] = load16(at + v * 512);
        if constexpr (Q::SECOND > 0) {
            UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++)
                if (4 * v / Q::SECOND == b) w.second[j][v] = load16(at + (Q::FIRST_VECTORS + v) * 512);
        }
    }
    // Loads the scales of block `b`.
    DEVICE void load_scales(TileOf &w, const u8 *tile, u32 unit, u32 b, u32 lane) {
        const u8 *at = tile + (u64)unit * Q::UNIT_BYTES + Q::CODE_BYTES;
        UNROLL for (u32 i = 0; i < GROUPS; i++) w.words[i] = scale_words<Q>(at, b * GROUPS + i, lane % 8);
    }

    // Decodes the eight columns of slot `j` and half `half` of block `b`: pairs of row g, then of row g + 8.
    DEVICE void decode(const TileOf &w, u32 (*pairs)[4], u32 b, u32 j, u32 half, f32 factor) {
        const u32 group = Q::GROUP == 64 ? 0 : Q::GROUP == 32 ? half : half * 2 + j;
        const GroupScale s = decode_scale<Q>(w.words[group]);
        UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 i = 0; i < 4; i++) {
            const f16x2 q = pair_f16<Q>(w.table, w.first[j], w.second[j], b * 16 + half * 8 + 2 * i + h);
            pairs[h][i] = weight_pair<Q>(q, s.scale[h] * factor, s.bias[h] * factor);
        }
    }
};

// The same of an unquantized matrix: rows of T one after the other, `cols` a multiple of 8.
template <typename T> struct DenseTile {
    static constexpr u32 UNIT = 1, WORDS = sizeof(T) / 2;
    static constexpr bool TABLE = false, CROWDED = true;
    u32x4 v[2][2][2][WORDS]; // slot, half, row

    DEVICE void begin(DenseTile &, const u8 *) {}

    DEVICE u64 tile_bytes(u32 cols) { return (u64)16 * cols * sizeof(T); }

    DEVICE void load_codes(DenseTile &w, const u8 *tile, u32 unit, u32, u32 j, u32 cols, u32 lane) {
        UNROLL for (u32 half = 0; half < 2; half++) {
            // Past the end, where x is 0, the last ones again.
            const u32 column = minimum(unit * BLOCK_COLS + half * 32 + (lane / ACROSS + 2 * j) * 8, cols - 8);
            UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 i = 0; i < WORDS; i++)
                w.v[j][half][h][i] = load16(tile + (u32)(((lane % 8 + 8 * h) * cols + column) * sizeof(T) + i * 16));
        }
    }
    DEVICE void load_scales(DenseTile &, const u8 *, u32, u32, u32) {}

    DEVICE void decode(const DenseTile &w, u32 (*pairs)[4], u32, u32 j, u32 half, f32 factor) {
        UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 i = 0; i < 4; i++) {
            const u32x4 *v = w.v[j][half][h];
            if constexpr (WORDS == 2) {
                const f32 first = bits_f32(word(v[i / 2], i % 2 * 2)), second = bits_f32(word(v[i / 2], i % 2 * 2 + 1));
                pairs[h][i] = pack_f16x2(first * factor, second * factor).bits;
            } else {
                pairs[h][i] = dense_pair(word(v[0], i), factor, T{});
            }
        }
    }
};

template <u32 B> struct BlockOfUnit {
    static constexpr u32 NUMBER = B;
};

// The product of a block with up to ROWS rows; xs: [2][ROWS][64].
template <typename W, u32 ROWS, typename R> DEVICE void matmul_rows(const Block &p, u16 *xs, const R &rows_of) {
    // Groups of rows of a product, and of those that threads load.
    constexpr u32 GROUPS = ROWS / ACROSS, LOADS = ROWS / 32;
    const u32 thread = thread_x(), lane = lane_id(), wave_tile = uniform(thread / WAVE) * WAVE_TILES;
    const u32 first_row = R::CHOSEN ? 0 : block_x() * BLOCK_ROWS;
    const Share own = R::CHOSEN ? Share{block_y(), 0, 1, 0} : own_share((p.tiles + BLOCK_TILES - 1) / BLOCK_TILES);
    const u32 first_tile = own.y * BLOCK_TILES + wave_tile;
    const u32 all_units = (p.cols + W::UNIT * BLOCK_COLS - 1) / (W::UNIT * BLOCK_COLS);
    const u32 first_unit = all_units * own.part / own.parts, units = all_units * (own.part + 1) / own.parts;
    const u32 stride = (p.cols + 255) / 256 * 256;
    const f32 factor = 1.0f / p.back;
    // Tiles and rows past the end are those at the end again; nobody stores them.
    const u32 own_tile = first_tile + lane % ACROSS / 8;
    const u8 *tile = p.weights + (own_tile < p.tiles ? own_tile : p.tiles - 1) * W::tile_bytes(p.cols);
    u32 from[LOADS]; // in pieces
    UNROLL for (u32 i = 0; i < LOADS; i++) {
        const u32 row = first_row + thread / 8 + 32 * i;
        from[i] = R::of_x(rows_of, row < p.rows ? row : p.rows - 1) * (stride / 8) + thread % 8;
    }
    auto load_x = [&](u32 i, u32 block) { return load16(p.x + (u64)(from[i] + block * PIECES) * 8); };
    u16 *to = xs + thread / 8 * BLOCK_COLS + (thread % 8 ^ thread / 8 % 8) * 8;
    const u16 *lane_x = xs + lane % ACROSS * BLOCK_COLS;
    W w;
    W::begin(w, p.weights);
    u32x4 x[LOADS];
    UNROLL for (u32 i = 0; i < LOADS; i++) x[i] = load_x(i, first_unit * W::UNIT);
    UNROLL for (u32 j = 0; j < 2; j++) W::load_codes(w, tile, first_unit, 0, j, p.cols, lane);
    W::load_scales(w, tile, first_unit, 0, lane);
    amd_sums sums[GROUPS][2];
    UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 h = 0; h < 2; h++) sums[m][h] = 0.0f;

    u32 buffer = 0, unit = first_unit;
    auto multiply = [&](auto of_unit) __attribute__((always_inline)) {
        constexpr u32 b = of_unit.NUMBER, next_b = (b + 1) % W::UNIT;
        // The last loads itself again.
        const u32 next_unit = next_b > 0 || unit + 1 == units ? unit : unit + 1;
        UNROLL for (u32 i = 0; i < LOADS; i++) store16(to + buffer + i * 32 * BLOCK_COLS, x[i]);
        UNROLL for (u32 i = 0; i < LOADS; i++) x[i] = load_x(i, next_unit * W::UNIT + next_b);
        barrier_shared();
        UNROLL for (u32 j = 0; j < 2; j++) UNROLL for (u32 half = 0; half < 2; half++) {
            u32 pairs[2][4];
            W::decode(w, pairs, b, j, half, factor);
            // Looked up ahead, too, they would take more registers than there are.
            if constexpr (W::TABLE || (!AMD_CDNA2 && W::CROWDED)) __builtin_amdgcn_sched_barrier(0);
            u32x4 rows[GROUPS];
            const u32 piece = (half * 4 + j * 2 + lane / ACROSS) ^ lane % 8;
            UNROLL for (u32 m = 0; m < GROUPS; m++) rows[m] = load16(lane_x + buffer + m * ACROSS * BLOCK_COLS + piece * 8);
            // What is used up is loaded for the next turn.
            if (half == 1) W::load_codes(w, tile, next_unit, next_b, j, p.cols, lane);
            if (half == 1 && j == 1) {
                W::load_scales(w, tile, next_unit, next_b, lane);
                // Else the compiler makes them loads of that turn, which waits for them.
                asm volatile("" ::: "memory");
            }
            UNROLL for (u32 s = 0; s < PIECE_STEPS; s++) UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 h = 0; h < 2; h++)
                sums[m][h] = multiply_step(s, rows[m], pairs[h], sums[m][h]);
        }
        buffer ^= ROWS * BLOCK_COLS;
        // The scheduler would decode blocks ahead, into more registers than there are.
        __builtin_amdgcn_sched_barrier(0);
    };
    for (; unit < units; unit++) {
        multiply(BlockOfUnit<0>());
        if constexpr (W::UNIT > 1) multiply(BlockOfUnit<1>());
        if constexpr (W::UNIT > 2) multiply(BlockOfUnit<2>()), multiply(BlockOfUnit<3>());
    }
    const u32 g = lane % 8, is_up = lane / 8 % 2, tile_there = minimum(own_tile, p.tiles - 1);
    const f32 bias[2] = {add_bias(p.to, tile_there, g, 0.0f), add_bias(p.to, tile_there, g + 8, 0.0f)};
    const bool is_silu = p.to.epilogue == SILU;
    // Gates are eight lanes from their ups: rows g are made by the lanes of gates, rows g + 8 by those of ups.
    OutputColumn columns[2] = {
        is_silu ? silu_column(p.to, tile_there / 2, g + is_up * 8) : number_column(p.to, tile_there, g),
        number_column(p.to, tile_there, g + 8),
    };
    // Products with experts are never split.
    if constexpr (!R::CHOSEN)
        if (own.parts > 1 && !add_parts<GROUPS>(p.split, own, sums, (u32 *)xs)) return;
    // What is added is read before anything is stored: else each number waits for memory.
    const bool is_added = !R::CHOSEN && p.to.epilogue == ADD;
    const f32 *added[2];
    UNROLL for (u32 h = 0; h < 2; h++) {
        // Of columns that go nowhere any number.
        added[h] = columns[h].out ? columns[h].residual : p.to.residual;
        columns[h].residual = nullptr;
    }
    UNROLL for (u32 m = 0; m < GROUPS; m++) {
        f32 scale[LANE_SUMS], residual[2][LANE_SUMS];
        UNROLL for (u32 i = 0; i < LANE_SUMS; i++) {
            const u32 r = minimum(first_row + m * ACROSS + sum_row(lane, i), p.rows - 1);
            scale[i] = p.scales[R::of_x(rows_of, r)] * p.back;
            const u64 result = R::of_result(rows_of, r);
            UNROLL for (u32 h = 0; h < 2; h++)
                residual[h][i] = is_added ? added[h][columns[h].out ? result * columns[h].width : 0] : 0.0f;
        }
        UNROLL for (u32 i = 0; i < LANE_SUMS; i++) {
            const u32 r = first_row + m * ACROSS + sum_row(lane, i);
            const f32 low = sums[m][0][i] * scale[i] + bias[0], high = sums[m][1][i] * scale[i] + bias[1];
            const f32 other = is_silu ? shuffle_xor<8>(is_up ? low : high) : 0.0f;
            if (r >= p.rows || own_tile >= p.tiles) continue;
            const u32 result = R::of_result(rows_of, r);
            if (is_silu) {
                store_column(columns[0], result, silu_product(p.to, is_up ? other : low, is_up ? high : other));
            } else {
                store_column(columns[0], result, low + residual[0][i]);
                store_column(columns[1], result, high + residual[1][i]);
            }
        }
    }
}

template <typename W, typename R> DEVICE void matmul_block(const Block &p, u32 rows, const R &rows_of) {
    SHARED __attribute__((aligned(16))) u16 xs[2 * BLOCK_ROWS * BLOCK_COLS];
    if (rows <= 32) matmul_rows<W, 32>(p, xs, rows_of);
    else if (rows <= 64) matmul_rows<W, 64>(p, xs, rows_of);
    else matmul_rows<W, BLOCK_ROWS>(p, xs, rows_of);
}
