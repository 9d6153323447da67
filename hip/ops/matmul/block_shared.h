// Products of block.h with weights and x in shared memory.
//
// For every 64 columns of x, each team of 32 lanes decodes a tile of W to shared memory, all threads copy the rows of
// x beside it, and each wave multiplies every second group of 16 rows with a part of the tiles; what comes next is
// loaded to registers meanwhile.
#pragma once

#define BLOCK_WAVES (256 / WAVE)
// Tiles of a wave.
#define WAVE_TILES (16 / BLOCK_WAVES)
// Numbers from row to row in shared memory: rows that are read together lie in different banks.
#define STRIDE (PLATFORM_NVIDIA ? 80 : 72)

// A team's tile of a quantized matrix.
template <typename Q> struct TileOf {
    static constexpr u32 UNIT = Q::UNIT;
    u32x4 first[Q::FIRST_VECTORS], second[Q::SECOND_VECTORS + 1];
    ScaleWords words[2];
    Table table;

    DEVICE void begin(TileOf &w, const u8 *weights) { w.table = table_of<Q>(weights); }

    DEVICE u64 tile_bytes(u32 cols) {
        return (u64)((cols + UNIT * BLOCK_COLS - 1) / (UNIT * BLOCK_COLS)) * Q::UNIT_BYTES;
    }

    // Loads block `b` of the unit at `unit`: its scales, and with the first all codes.
    DEVICE void load(TileOf &w, const u8 *tile, u32 unit, u32 b, u32, u32 lane) {
        const u8 *at = tile + (u64)unit * Q::UNIT_BYTES;
        if (b == 0) {
            UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++) w.first[v] = load16(at + v * 512 + lane * 16);
            UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++)
                w.second[v] = load16(at + (Q::FIRST_VECTORS + v) * 512 + lane * 16);
        }
        const u32 g = lane / 4, t = lane % 4;
        UNROLL for (u32 half = 0; half < (Q::GROUP == 64 ? 1 : 2); half++) {
            const u32 group = Q::GROUP == 64   ? b
                              : Q::GROUP == 32 ? b * 2 + half
                                               : (b * 2 + half) * 2 + t / 2;
            w.words[half] = scale_words<Q>(at + Q::CODE_BYTES, group, g);
        }
    }

    // Decodes block `b` to 16 rows of 64 numbers.
    DEVICE void store(const TileOf &w, u16 *to, u32 b, f32 factor, u32 lane) {
        const u32 g = lane / 4, t = lane % 4;
        GroupScale s;
        UNROLL for (u32 half = 0; half < 2; half++) {
            if (half == 0 || Q::GROUP != 64) s = decode_scale<Q>(w.words[half]);
            UNROLL for (u32 h = 0; h < 2; h++) {
                const f32 scale = s.scale[h] * factor, bias = s.bias[h] * factor;
                u32 pairs[4];
                UNROLL for (u32 i = 0; i < 4; i++) {
                    const f16x2 q = pair_f16<Q>(w.table, w.first, w.second, b * 16 + half * 8 + 2 * i + h);
                    pairs[i] = weight_pair<Q>(q, scale, bias);
                }
                store16(to + (g + 8 * h) * STRIDE + half * 32 + t * 8, u32x4{pairs[0], pairs[1], pairs[2], pairs[3]});
            }
        }
    }
};

// A team's tile of an unquantized matrix: rows of T one after the other, `cols` a multiple of 8.
template <typename T> struct DenseTile {
    static constexpr u32 UNIT = 1, WORDS = sizeof(T) / 2;
    u32x4 v[4 * WORDS]; // rows lane / 8 + 4 i, columns 8 (lane % 8) and on

    DEVICE void begin(DenseTile &, const u8 *) {}

    DEVICE u64 tile_bytes(u32 cols) { return (u64)16 * cols * sizeof(T); }

    DEVICE void load(DenseTile &w, const u8 *tile, u32 unit, u32, u32 cols, u32 lane) {
        const u32 column = unit * BLOCK_COLS + lane % 8 * 8;
        UNROLL for (u32 i = 0; i < 4; i++) UNROLL for (u32 j = 0; j < WORDS; j++) {
            w.v[i * WORDS + j] = u32x4{0, 0, 0, 0};
            if (column < cols)
                w.v[i * WORDS + j] = load16(tile + ((u64)(lane / 8 + 4 * i) * cols + column) * sizeof(T) + j * 16);
        }
    }

    DEVICE void store(const DenseTile &w, u16 *to, u32, f32 factor, u32 lane) {
        UNROLL for (u32 i = 0; i < 4; i++) {
            u32 out[4];
            if constexpr (WORDS == 2) {
                const u32x4 a = w.v[2 * i], b = w.v[2 * i + 1];
                out[0] = pack_f16x2(bits_f32(a.x) * factor, bits_f32(a.y) * factor).bits;
                out[1] = pack_f16x2(bits_f32(a.z) * factor, bits_f32(a.w) * factor).bits;
                out[2] = pack_f16x2(bits_f32(b.x) * factor, bits_f32(b.y) * factor).bits;
                out[3] = pack_f16x2(bits_f32(b.z) * factor, bits_f32(b.w) * factor).bits;
            } else {
                const u32x4 a = w.v[i];
                out[0] = dense_pair(a.x, factor, T{}), out[1] = dense_pair(a.y, factor, T{});
                out[2] = dense_pair(a.z, factor, T{}), out[3] = dense_pair(a.w, factor, T{});
            }
            store16(to + (lane / 8 + 4 * i) * STRIDE + lane % 8 * 8, u32x4{out[0], out[1], out[2], out[3]});
        }
    }
};

// The product of a block with up to ROWS rows.
template <typename W, u32 ROWS, typename R>
DEVICE void matmul_rows(const Block &p, u16 *ws, u16 *xs, const R &rows_of) {
    // Groups of 16 rows of a wave, and quads of its sums of a group.
    constexpr u32 GROUPS = ROWS / 32, QUADS = WAVE_TILES * TILE_C / 4;
    const u32 thread = thread_x(), team = thread / TEAM, lane = thread % TEAM;
    const u32 wave = uniform(thread / WAVE), wave_row = wave % 2 * 16, wave_tile = wave / 2 * WAVE_TILES;
    const u32 first_row = R::CHOSEN ? 0 : block_x() * BLOCK_ROWS, first_tile = block_y() * BLOCK_TILES;
    const u32 all_units = (p.cols + W::UNIT * BLOCK_COLS - 1) / (W::UNIT * BLOCK_COLS);
    const u32 first_unit = split_begin(all_units), units = split_end(all_units);
    const u32 stride = (p.cols + 255) / 256 * 256;
    const f32 factor = 1.0f / p.back;
    // Tiles and rows past the end are those at the end again; nobody stores them.
    const u32 tile_index = first_tile + team < p.tiles ? first_tile + team : p.tiles - 1;
    const u8 *tile = p.weights + tile_index * W::tile_bytes(p.cols);
    const u16 *from[GROUPS];
    UNROLL for (u32 i = 0; i < GROUPS; i++) {
        const u32 row = first_row + thread / 8 + 32 * i;
        from[i] = p.x + (u64)R::of_x(rows_of, row < p.rows ? row : p.rows - 1) * stride + thread % 8 * 8;
    }
    W w;
    W::begin(w, p.weights);
    u32x4 x[GROUPS];
    W::load(w, tile, first_unit, 0, p.cols, lane);
    UNROLL for (u32 i = 0; i < GROUPS; i++) x[i] = load16(from[i] + first_unit * W::UNIT * BLOCK_COLS);
    TileC sums[GROUPS][WAVE_TILES];
    UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 n = 0; n < WAVE_TILES; n++) sums[m][n] = tile_zero();

    for (u32 unit = first_unit; unit < units; unit++) {
        UNROLL for (u32 b = 0; b < W::UNIT; b++) {
            barrier();
            W::store(w, ws + team * 16 * STRIDE, b, factor, lane);
            UNROLL for (u32 i = 0; i < GROUPS; i++)
                store16(xs + (thread / 8 + 32 * i) * STRIDE + thread % 8 * 8, x[i]);
            barrier();
            const bool more = b + 1 < W::UNIT || unit + 1 < units;
            if (more) {
                W::load(w, tile, b + 1 < W::UNIT ? unit : unit + 1, (b + 1) % W::UNIT, p.cols, lane);
                UNROLL for (u32 i = 0; i < GROUPS; i++)
                    x[i] = load16(from[i] + (unit * W::UNIT + b + 1) * BLOCK_COLS);
            }
            // Rolled: unrolled, tiles loaded ahead take more registers than there are.
            _Pragma("unroll 1") for (u32 k = 0; k < BLOCK_COLS; k += 16) {
                Tile16 tiles[WAVE_TILES];
                UNROLL for (u32 n = 0; n < WAVE_TILES; n++)
                    tiles[n] = tile_load_b(ws + (wave_tile + n) * 16 * STRIDE + k, STRIDE);
                UNROLL for (u32 m = 0; m < GROUPS; m++) {
                    const Tile16 rows = tile_load_a(xs + (wave_row + m * 32) * STRIDE + k, STRIDE);
                    UNROLL for (u32 n = 0; n < WAVE_TILES; n++) tile_multiply_f16(sums[m][n], rows, tiles[n]);
                }
            }
        }
    }
    if (grid_blocks_z() > 1) {
        auto is_there = [&](u32 m) { return first_row + wave_row + m * 32 < p.rows; };
        f32 *part = split_part(p.split, block_z());
        UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 i = 0; i < QUADS; i++)
            if (is_there(m)) store_part(part, m * QUADS + i, sums[m][i / (TILE_C / 4)].c + i % (TILE_C / 4) * 4);
        if (!is_last_block(p.split.counters + split_block(), grid_blocks_z())) return;
        part = split_part(p.split, 0);
        UNROLL for (u32 m = 0; m < GROUPS; m++) {
            if (!is_there(m)) continue;
            f32x4 all[QUADS];
            sum_parts<QUADS, 4>(part, m * QUADS, all);
            UNROLL for (u32 i = 0; i < QUADS; i++) {
                f32 *c = sums[m][i / (TILE_C / 4)].c + i % (TILE_C / 4) * 4;
                c[0] = all[i].x, c[1] = all[i].y, c[2] = all[i].z, c[3] = all[i].w;
            }
        }
    }
    const u32 in_wave = lane_id();
    UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        const u32 r = first_row + wave_row + m * 32 + tile_c_row(in_wave, i), column = tile_c_column(in_wave, i);
        if (r >= p.rows) continue;
        const u32 to = R::of_result(rows_of, r);
        const f32 scale = p.scales[R::of_x(rows_of, r)] * p.back;
        UNROLL for (u32 n = 0; n < WAVE_TILES; n += 2) {
            const u32 t = first_tile + wave_tile + n;
            if (t >= p.tiles) continue;
            const f32 v0 = add_bias(p.to, t, column, sums[m][n].c[i] * scale);
            if (p.to.epilogue != SILU) store_number(p.to, to, t, column, v0);
            if (t + 1 >= p.tiles) continue;
            const f32 v1 = add_bias(p.to, t + 1, column, sums[m][n + 1].c[i] * scale);
            if (p.to.epilogue == SILU) store_silu(p.to, to, t / 2, column, v0, v1);
            else store_number(p.to, to, t + 1, column, v1);
        }
    }
}

template <typename W, typename R> DEVICE void matmul_block(const Block &p, u32 rows, const R &rows_of) {
    SHARED __attribute__((aligned(16))) u16 ws[BLOCK_TILES * 16 * STRIDE];
    SHARED __attribute__((aligned(16))) u16 xs[BLOCK_ROWS * STRIDE];
    if (rows <= 32) matmul_rows<W, 32>(p, ws, xs, rows_of);
    else if (rows <= 64) matmul_rows<W, 64>(p, ws, xs, rows_of);
    else matmul_rows<W, BLOCK_ROWS>(p, ws, xs, rows_of);
}
