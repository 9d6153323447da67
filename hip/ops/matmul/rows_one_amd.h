// Products of rows.h for one row of x on CDNA, where a small product's time is what stands before its bytes and behind them.
//
// In order: all arguments; x; the first units of weights; x made into integers; where the first results go and what is added to them;
// the products, each unit's loads behind the sums before. What decides about addresses is worked out while x is asked for. Nothing is
// loaded in one of two ways that meet again: what is on its way there is waited for, weights too. Shares of whole rounds, which most
// matrices have, take no branches. Sums are made in the order of rows.h, so a row has the same bits alone and beside others.
//
// Tried: twice as many units ahead (all of a share of 4,096 columns of 4 bits): 1 to 5 % slower, of K-quants up to 24 %.
//
// Launch: as rows.h.
#pragma once

#include "ops/matmul/rows_one_x_amd.h"

#if PLATFORM_AMD && AMD_CDNA2
// A round: whether all its units are there for all lanes, and whether units of a next one are loaded meanwhile.
template <bool WHOLE_, bool LOADS_> struct Round {
    static constexpr bool WHOLE = WHOLE_, LOADS = LOADS_;
};

// An address of which one part is the same for the wave: it stays in scalar registers.
struct Address {
    const u8 *base;
    u32 offset, constant;
    METHOD Address operator+(u32 further) const { return {base, offset + further, constant}; }
    METHOD Address past(u32 bytes) const { return {base, offset, constant + bytes}; }
    template <typename T> METHOD operator const T *() const { return (const T *)(base + offset + constant); }
};

// Where a thread's number of a batch of tiles goes (null: nowhere) and what is added to it.
struct RowResult {
    f32 *to;
    f32 bias, bias_up, residual;
};
template <typename Q> DEVICE RowResult begin_row(const Rows &p, u32 first, u32 count, u32 wave) {
    static_assert(Shared<Q, 1>::BATCH * TILE_ROWS <= WAVE);
    RowResult result = {nullptr, 0.0f, 0.0f, 0.0f};
    // Where there is none, or no residual, the load is of x.
    const f32 *residual = p.x;
    if (wave == 0) {
        const bool silu = p.to.epilogue == SILU;
        const u32 i = thread_x() / TILE_ROWS, row = thread_x() % TILE_ROWS, of = silu ? i * 2 : i, tile = first + of;
        if (of < count) {
            if (p.to.bias) {
                result.bias = p.to.bias[tile * TILE_ROWS + row];
                if (silu) result.bias_up = p.to.bias[(tile + 1) * TILE_ROWS + row];
            }
            // As `number_place`, of values: addresses of arguments would bring all of them into memory.
            const u32 end0 = p.to.end0, end1 = p.to.end1, width0 = p.to.width0, width1 = p.to.width1, width2 = p.to.width2;
            f32 *const out0 = p.to.out0, *const out1 = p.to.out1, *const out2 = p.to.out2;
            const bool in0 = silu || tile < end0, in1 = tile < end1;
            const u32 column = silu ? tile / 2 * TILE_ROWS + row : (tile - (in0 ? 0 : in1 ? end0 : end1)) * TILE_ROWS + row;
            if (column < (in0 ? width0 : in1 ? width1 : width2)) {
                result.to = (in0 ? out0 : in1 ? out1 : out2) + column;
                if (p.to.epilogue == ADD) residual = p.to.residual + column;
            }
        }
    }
    // Of global memory, where the address may not show that.
    result.residual = *(const __attribute__((address_space(1))) f32 *)residual;
    return result;
}
template <typename Q> DEVICE void finish_row(const Rows &p, const Shared<Q, 1> &s, u32 buffer, const RowResult &result) {
    if (!result.to) return;
    const bool silu = p.to.epilogue == SILU;
    const u32 i = thread_x() / TILE_ROWS, row = thread_x() % TILE_ROWS;
    const f32 *partial = s.partial + ((buffer * s.BATCH + (silu ? i * 2 : i)) * TILE_ROWS + row) * s.STRIDE;
    auto sum = [&](const f32 *of) {
        f32x4 v = *(const f32x4 *)of;
        UNROLL for (u32 i = 4; i < TEAMS; i += 4) {
            const f32x4 more = *(const f32x4 *)(of + i);
            v.x += more.x, v.y += more.y, v.z += more.z, v.w += more.w;
        }
        return (v.x + v.y) + (v.z + v.w);
    };
    const f32 factor = p.norm ? *s.factor : 1.0f;
    const f32 v = mul_add(sum(partial), factor, p.to.epilogue == ADD ? result.bias + result.residual : result.bias);
    if (silu) store_global(result.to, silu_product(p.to, v, mul_add(sum(partial + TILE_ROWS * s.STRIDE), factor, result.bias_up)));
    else store_global(result.to, v);
}

template <typename Q> DEVICE void matmul_row(Rows p, u8 *memory) {
    constexpr u32 BATCH = Shared<Q, 1>::BATCH, LOADED = AHEAD<Q>, UNIT_COLS = Q::UNIT * BLOCK_COLS;
    const u32 thread = thread_x(), wave = uniform(thread / WAVE), half = thread / TEAM % 2;
    const u32 lane = thread % TEAM, g = lane / 4, t = lane % 4;
    // All arguments at once.
    asm volatile("" : : "s"(p.weights), "s"(p.x), "s"(p.norm), "s"(p.to.bias), "s"(p.to.residual), "s"(p.to.out0), "s"(p.to.out1),
                 "s"(p.to.out2));
    asm volatile("" : : "s"(p.to.end0), "s"(p.to.end1), "s"(p.to.width0), "s"(p.to.width1), "s"(p.to.width2), "s"(p.cols),
                 "s"(p.tiles), "s"(p.to.epilogue), "s"(grid_blocks_x()), "s"(grid_blocks_z()));
    u32 units = units_of<Q>(p), first_unit = 0, own = units;
    if (is_split()) {
        first_unit = split_begin(units), own = split_end(units) - first_unit;
        const u32 first = first_unit * UNIT_COLS;
        p.x += first, p.norm += p.norm ? first : 0;
        p.cols = minimum(p.width - first, own * UNIT_COLS);
    }
    f32 x[AT_ONCE<1>][8], norm[AT_ONCE<1>][8];
    auto read = [&](u32 base, u32 from, u32 to) {
        UNROLL for (u32 i = from; i < to; i++) read_row(x, p.x, p, base, i);
        if (p.norm) UNROLL for (u32 i = from; i < to; i++) read_row(norm, p.norm, p, base, i);
    };
    const Table table = table_of<Q>(p.weights);
    // What follows is worked out while the first are asked for.
    read(0, 0, 1);
    asm volatile("" : "+s"(p.tiles), "+s"(units) : : "memory");
    // The wave's two shares of the block's units, which differ by one at most.
    const u32 from = own * (2 * wave) / TEAMS, middle = own * (2 * wave + 1) / TEAMS, to = own * (2 * wave + 2) / TEAMS;
    const u32 most = maximum(middle - from, to - middle), count = half ? to - middle : middle - from;
    // The same for all waves, which meet at the same barriers. `is_part`: not all rounds are whole.
    const u32 rounds = (own + TEAMS * LOADED - 1) / (TEAMS * LOADED);
    u32 is_part = own % (TEAMS * LOADED);
    const u32 pairs = p.to.epilogue == SILU ? 2 : 1, works = p.tiles / pairs;
    const u32 begin = works * block_x() / grid_blocks_x() * pairs, end = works * (block_x() + 1) / grid_blocks_x() * pairs;
    if (is_split()) p.to.out0 += (u64)block_z() * p.to.width0;
    const u64 tile_bytes = (u64)units * Q::UNIT_BYTES;
    // Where the first unit of the round to load is, of the wave's first share; the second share's is further.
    const u8 *next = p.weights + begin * tile_bytes + (u64)(first_unit + from) * Q::UNIT_BYTES;
    const u32 further = half ? (middle - from) * Q::UNIT_BYTES : 0;
    asm volatile("" : : "s"(next), "v"(further) : "memory");
    read(0, 1, AT_ONCE<1>);
    asm volatile("" ::: "memory");
    u32x4 codes[LOADED][Q::FIRST_VECTORS], more_codes[LOADED][Q::SECOND_VECTORS + 1];
    QuadScales<Q> scales[LOADED / QUAD<Q>];
    // Of the round to load: its number, and units of the lane's share from it on.
    u32 ahead = 0;
    // Unit `u` of it; past a share's end its last unit, again.
    const u32 last = count > 0 ? count - 1 : 0;
    auto unit_at = [&](auto how, u32 u) -> Address {
        if constexpr (decltype(how)::WHOLE) return {next, further, u * Q::UNIT_BYTES};
        else return {next - ahead * LOADED * Q::UNIT_BYTES, further + minimum(ahead * LOADED + u, last) * Q::UNIT_BYTES, 0};
    };
    auto load_unit = [&](auto how, u32 u, i32 b) {
        const Address at = unit_at(how, u) + lane * 16;
        UNROLL for (i32 v = 0; v < Q::FIRST_VECTORS; v++)
            if (b < 0 || (4 * v + 3) / Q::FIRST == b) codes[u][v] = load16_stream((const u8 *)at.past(v * 512));
        if constexpr (Q::SECOND > 0) {
            const Address second = at.past(Q::FIRST_VECTORS * 512);
            UNROLL for (i32 v = 0; v < Q::SECOND_VECTORS; v++)
                if (b < 0 || (4 * v + 3) / Q::SECOND == b) more_codes[u][v] = load16_stream((const u8 *)second.past(v * 512));
        }
    };
    auto load_scales = [&](auto how, u32 u) {
        auto at = [&](u32 unit) -> Address {
            // Lanes' units differ.
            if constexpr (decltype(how)::WHOLE) return {next, further + (unit - u) * Q::UNIT_BYTES, u * Q::UNIT_BYTES};
            else return unit_at(how, unit);
        };
        read_scales<Q>(scales[u / QUAD<Q>], at, u, u + QUAD<Q>, g, t);
    };
    // From the last round of a tile to the next tile.
    const i64 skip = (i64)tile_bytes - (i64)(rounds - 1) * LOADED * Q::UNIT_BYTES;
    auto advance = [&] {
        const bool is_last = ++ahead == rounds;
        next += is_last ? skip : LOADED * Q::UNIT_BYTES;
        ahead = is_last ? 0 : ahead;
    };
    UNROLL for (u32 u = 0; u < LOADED; u++) {
        if (u % QUAD<Q> == 0) load_scales(Round<false, true>(), u);
        load_unit(Round<false, true>(), u, -1);
        // In this order.
        asm volatile("" ::: "memory");
    }
    advance();
    const u32 own_from = half ? middle : from, further_rounds = maximum((end - begin) * rounds, 1u) - 1;
    asm volatile("" : "+s"(is_part) : "s"(skip), "s"(further_rounds), "v"(own_from) : "memory");
    const Shared<Q, 1> s = shared_memory<Q, 1>(memory, p.cols, 1);
    f32 squares = 0.0f;
    take_row<Q>(p, s, x, norm, 0, squares);
    for (u32 base = SPAN<1>; base < s.padded; base += SPAN<1>) {
        read(base, 0, AT_ONCE<1>);
        take_row<Q>(p, s, x, norm, base, squares);
        // Else the compiler would wait for these loads, and so for the weights, where there are none.
        __builtin_amdgcn_s_waitcnt(0x0f70);
    }
    make_factor<Q>(p, s, squares);
    // Nobody waits for it: memory has the weights to bring.
    RowResult result = begin_row<Q>(p, begin, minimum(end - begin, BATCH), wave);
    u32 tile = begin, in_batch = 0, buffer = 0, round = 0;
    Sums<1> sums = {};
    // A round of the lane's share.
    auto take = [&](auto how) {
        QuadScales<Q> of_quad;
        Shared<Q, 1> of_x = s;
        const u32 first_block = (own_from + round * LOADED) * Q::UNIT;
        of_x.x.at += first_block * s.x.block, of_x.x.groups += first_block * (BLOCK_COLS / Q::GROUP);
        UNROLL for (u32 u = 0; u < LOADED; u++) {
            if (u % QUAD<Q> == 0) {
                of_quad = scales[u / QUAD<Q>];
                if (how.LOADS) load_scales(how, u);
            }
            UNROLL for (u32 b = 0; b < Q::UNIT; b++) {
                if (how.WHOLE || round * LOADED + u < most) {
                    BlockCodes<Q> of_block;
                    UNROLL for (u32 j = 0; j < Q::FIRST; j++)
                        of_block.first[j] = word(codes[u][(b * Q::FIRST + j) / 4], (b * Q::FIRST + j) % 4);
                    if constexpr (Q::SECOND > 0) {
                        UNROLL for (u32 j = 0; j < Q::SECOND; j++)
                            of_block.second[j] = word(more_codes[u][(b * Q::SECOND + j) / 4], (b * Q::SECOND + j) % 4);
                    }
                    auto words_of = [&](u32 slot) { return scales_of<Q>(of_quad, u % QUAD<Q> * Q::UNIT + b, slot); };
                    auto scale_of = [&](u32 slot) { return quad_scale<Q>(words_of(slot)); };
                    const u32 number = u * Q::UNIT + b;
                    const Sums<1> before = sums;
                    if constexpr (Q::E4M3) add_floats<Q, 1>(of_block, scale_of, number, g, t, 1, of_x, sums);
                    else if constexpr (WHOLE_GROUPS<Q>) add_whole_groups<Q, 1>(table, of_block, words_of, number, t, 1, of_x, sums);
                    else add_block<Q, 1>(table, of_block, scale_of, number, g, t, 1, of_x, sums);
                    // Of the wave's shares one may have a unit less.
                    const bool there = how.WHOLE || round * LOADED + u < count;
                    UNROLL for (u32 h = 0; h < 2; h++) sums.v[h][0] = there ? sums.v[h][0] : before.v[h][0];
                }
                if (!how.LOADS) continue;
                // Not before the sums are there: the compiler would load into other registers, and move them, which waits.
                asm volatile("" : : "v"(sums.v[0][0]), "v"(sums.v[WHOLE_GROUPS<Q> ? 0 : 1][0]) : "memory");
                load_unit(how, u, b);
            }
        }
        if (how.LOADS) advance();
    };
    auto end_tile = [&] {
        store_partial<Q, 1>(s, buffer, in_batch, sums, wave * 2 + half, g, t);
        sums = {}, round = 0, tile++, in_batch++;
        if (in_batch < BATCH && tile < end) return;
        barrier_shared();
        if (wave == 0) {
            finish_row<Q>(p, s, buffer, result);
            if (tile < end) result = begin_row<Q>(p, tile, minimum(end - tile, BATCH), wave);
        }
        in_batch = 0, buffer ^= 1;
    };
    // One way through, for what is on its way where ways meet is waited for.
    for (u32 left = is_part ? 0 : further_rounds; left > 0; left--) {
        take(Round<true, true>());
        if (++round == rounds) end_tile();
    }
    for (u32 left = is_part ? further_rounds : 0; left > 0; left--) {
        take(Round<false, true>());
        if (++round == rounds) end_tile();
    }
    if (is_part) take(Round<false, false>());
    asm volatile("" : "+s"(is_part));
    if (!is_part) take(Round<true, false>());
    end_tile();
}
#endif
