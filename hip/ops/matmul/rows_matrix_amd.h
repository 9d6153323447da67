// Products of rows.h for several rows by the matrix unit of CDNA.
//
// Its i8 products of 16 x 16 have rows g of two tiles (then rows g + 8) on one side; their 16 columns are the high and the
// low bytes of the eight rows of x that rows_x.hip made. So each lane loads 16 bytes of x where four multiply-adds an instruction
// (dot4) take 256, and one wave has two tiles. Sums of a group are exact integers, and all that follows is in the order of the
// kernel for one row: TEAMS shares of the columns, of which a wave takes two, a block of each in turn.
//
// Lane 16·t + n (n < 16, t < 4) has the codes of lane 4·(n % 8) + t of tile n / 8 (quant.h), and of x the 16 bytes t of
// row n / 2, hi for even n, lo for odd. Of the results it gets column n of rows 4t … 4t + 3 of both products: after an
// exchange with lane n ^ 1, of tile t / 2, rows g, g + 1, g + 8 and g + 9 from g = 4·(t % 2) + 2·(n % 2) on.
//
// Launch: as rows.h; each pair of tiles is best a block of its own.
#pragma once

#if PLATFORM_AMD && AMD_CDNA2
typedef i32 amd_i32x4 __attribute__((ext_vector_type(4)));

// c += a · b of half a block, its steps 2 · half and the next: 32 columns.
DEVICE void matrix_product_i8(amd_i32x4 &c, const u32 *a, u32x4 b, u32 half) {
#if AMD_CDNA3
    const u64 of_a = a[0] | (u64)a[1] << 32, of_b = word(b, half * 2) | (u64)word(b, half * 2 + 1) << 32;
    c = __builtin_amdgcn_mfma_i32_16x16x32_i8((long)of_a, (long)of_b, c, 0, 0, 0);
#else
    UNROLL for (u32 i = 0; i < 2; i++)
        c = __builtin_amdgcn_mfma_i32_16x16x16i8((int)a[i], (int)word(b, half * 2 + i), c, 0, 0, 0);
#endif
}

// What a lane has of a block.
template <typename Q> struct MatrixBlock {
    static constexpr u32 GROUPS = BLOCK_COLS / Q::GROUP;
    BlockCodes<Q> codes;
    u32x4 x;
    f32x2 of_x[GROUPS];
    ScaleWords scales[GROUPS][2]; // of rows g and g + 8, and of the next ones
};

// Reads a plane of block `b` of a unit; `from`: the lane's first vector of the plane.
template <int BITS> DEVICE void read_plane(u32 *words, const u8 *from, u32 lane, u32 b) {
    const u32 at = b * BITS / 4 * 512 + b * BITS * 4 % 16;
    if constexpr (BITS >= 4) {
        UNROLL for (u32 v = 0; v < BITS / 4; v++) {
            const u32x4 vector = load16_stream(from + at + v * 512 + lane);
            UNROLL for (u32 i = 0; i < 4; i++) words[v * 4 + i] = word(vector, i);
        }
    }
    if constexpr (BITS == 2) {
        const u32x2 pair = load8(from + at + lane);
        words[0] = pair.x, words[1] = pair.y;
    }
    if constexpr (BITS == 1) words[0] = load4(from + at + lane);
}

// Adds a block's products; `part`: n % 2.
template <typename Q>
DEVICE void add_block_matrix(const Table &table, const MatrixBlock<Q> &block, u32 part, f32 (*sums)[2][2]) {
    amd_i32x4 c[2] = {};
    UNROLL for (u32 half = 0; half < 2; half++) {
        UNROLL for (u32 h = 0; h < 2; h++) {
            const u32 a[2] = {quad<Q>(table, block.codes, half * 2, h), quad<Q>(table, block.codes, half * 2 + 1, h)};
            matrix_product_i8(c[h], a, block.x, half);
        }
        if (Q::GROUP == 64 && half == 0) continue;
        const u32 group = half % block.GROUPS;
        // rows_x.hip makes quarters of the sums of x.
        const f32x2 of_x = {block.of_x[group].x, block.of_x[group].y * 4.0f};
        UNROLL for (u32 i = 0; i < 2; i++) {
            const GroupScale w = quad_scale<Q>(block.scales[group][i]);
            UNROLL for (u32 h = 0; h < 2; h++) {
                // Of rows g + i and g + 2 + i the lane keeps one, and the other lane's half of it.
                const i32 first = c[h][i], second = c[h][i + 2];
                const i32 other = (i32)shuffle_xor<1>((u32)(part ? first : second)), own = part ? second : first;
                const i32 whole = part ? other * 256 + own : own * 256 + other;
                add_whole<Q>(sums[group][i][h], whole, w.scale[h], w.bias[h], of_x);
            }
        }
        c[0] = c[1] = amd_i32x4{0, 0, 0, 0};
    }
}

template <typename Q> DEVICE void matmul_rows_matrix(Rows p, u8 *memory) {
    constexpr u32 R = MANY_ROWS, GROUPS = MatrixBlock<Q>::GROUPS;
    static_assert(WAVE == 2 * TEAM && Shared<Q, R>::BATCH == 2 && Shared<Q, R>::BUFFERS == 1);
    const Prepared columns = {};
    const u32 lane = lane_id(), wave = uniform(thread_x() / WAVE), n = lane % 16, t = lane / 16, part = n % 2, r = n / 2;
    const u32 units = padded_columns<Q>(p.width) / (Q::UNIT * BLOCK_COLS);
    const u32 begin_unit = is_split() ? split_begin(units) : 0, own = (is_split() ? split_end(units) : units) - begin_unit;
    if (is_split()) p.to.out0 += (u64)block_z() * p.rows * p.to.width0;
    const Shared<Q, R> s = prepared_memory<Q, R>(memory, p);
    // The wave's two shares, in blocks: where they begin, how many (of which the second may have a unit more), and
    // the last one that is read for each.
    u32 from[2], count[2], last[2];
    UNROLL for (u32 k = 0; k < 2; k++) {
        const u32 team = wave * 2 + k, begin = own * team / TEAMS, end = own * (team + 1) / TEAMS;
        from[k] = (begin_unit + begin) * Q::UNIT, count[k] = (end - begin) * Q::UNIT;
        last[k] = (begin_unit + maximum(end, 1u)) * Q::UNIT - 1;
    }
    const u32 whole = minimum(count[0], count[1]), most = maximum(count[0], count[1]), row = t % 2 * 4 + part * 2;
    const u32 tile_bytes = units * Q::UNIT_BYTES;
    // All lanes' addresses are one of the wave and a distance of the lane.
    const u32 of_x = r * s.x.row + part * s.x.low + t * 16, of_group = r * s.x.group_row;
    const Table table = table_of<Q>(p.weights);
    // Two tiles at a time; a silu's are gate and up.
    const u32 pairs = (p.tiles + 1) / 2;
    const u32 begin = Prepared::begin(columns, pairs) * 2, end = minimum(Prepared::end(columns, pairs) * 2, p.tiles);
    for (u32 tile = begin; tile < end; tile += 2) {
        // Of an odd number of tiles the last one stands for the one after it.
        const u32 second = tile + 1 < p.tiles ? tile_bytes : 0;
        const u32 of_codes = n / 8 * second + (4 * (n % 8) + t) * 16, of_scales = t / 2 * second;
        const u8 *weights = p.weights + (u64)tile * tile_bytes;
        MatrixBlock<Q> block[2];
        auto load = [&](MatrixBlock<Q> &to, u32 k, u32 i) {
            const u32 at = minimum(from[k] + i, last[k]), b = at % Q::UNIT;
            const u8 *unit = weights + (u64)(at / Q::UNIT) * Q::UNIT_BYTES, *x = s.x.at + (u64)at * s.x.block;
            const f32x2 *groups = s.x.groups + (u64)(at * GROUPS) * s.x.group_step;
            to.x = load16(x + of_x);
            UNROLL for (u32 group = 0; group < GROUPS; group++) {
                to.of_x[group] = (groups + group * s.x.group_step)[of_group];
                UNROLL for (u32 i = 0; i < 2; i++)
                    to.scales[group][i] = scale_words<Q>(unit + Q::CODE_BYTES + of_scales, b * GROUPS + group, row + i);
            }
            read_plane<Q::FIRST>(to.codes.first, unit, of_codes, b);
            if constexpr (Q::SECOND > 0) read_plane<Q::SECOND>(to.codes.second, unit + Q::FIRST_VECTORS * 512, of_codes, b);
        };
        f32 sums[2][GROUPS][2][2] = {};
        UNROLL for (u32 k = 0; k < 2; k++) load(block[k], k, 0);
        asm volatile("" ::: "memory");
        const Result result = begin_result<R>(p, columns, tile, minimum(end - tile, 2u));
        auto take = [&](auto how, u32 i) {
            UNROLL for (u32 k = 0; k < 2; k++) {
                asm volatile("" ::: "memory");
                if (how.WHOLE || i < count[k]) add_block_matrix<Q>(table, block[k], part, sums[k]);
                asm volatile("" ::: "memory");
                load(block[k], k, i + 1);
            }
        };
        // Blocks that both shares have take no branches.
        u32 i = 0;
        for (; i < whole; i++) take(WholeRound(), i);
        for (; i < most; i++) take(PartOfRound(), i);
        // The pair before is still read.
        if (tile > begin) barrier_shared();
        UNROLL for (u32 i = 0; i < 2; i++) UNROLL for (u32 h = 0; h < 2; h++) {
            f32 *partial = s.partial + ((t / 2 * TILE_ROWS + row + i + 8 * h) * R + r) * s.STRIDE + wave * 2;
            f32 v[2];
            UNROLL for (u32 k = 0; k < 2; k++) v[k] = GROUPS == 2 ? sums[k][0][i][h] + sums[k][GROUPS - 1][i][h] : sums[k][0][i][h];
            *(f32x2 *)partial = f32x2{v[0], v[1]};
        }
        barrier_shared();
        finish<Prepared, Q, R>(p, s, 0, result);
    }
}
#endif
