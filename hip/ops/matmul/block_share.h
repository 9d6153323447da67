// What each block of block_registers.h makes where blocks share the columns of x, and how their sums meet.
//
// As split.h says, but of `down` columns of blocks the first may be whole while the others are split, so that the last
// blocks to run are about as many as run at once: grid y is then less than `down` by splits - 1 for each `splits` that are
// whole, and blocks are counted along y, then z.
//
// parts: [blocks that are split][splits][PART_QUADS][PART_THREADS][4] f32; counters: [blocks that are split]
// [splits - 1] zeros, left zero.
#pragma once

struct Share {
    u32 y, part, parts;
    u32 block; // which of those that are split
};

DEVICE Share own_share(u32 down) {
    const u32 splits = grid_blocks_z();
    if (splits == 1) return {block_y(), 0, 1, 0};
    const u32 whole = (down - grid_blocks_y()) / (splits - 1) * splits, at = block_z() * grid_blocks_y() + block_y();
    if (at < whole) return {at, 0, 1, 0};
    const u32 rest = down - whole, y = (at - whole) % rest;
    return {whole + y, (at - whole) / rest, splits, y * grid_blocks_x() + block_x()};
}

DEVICE f32 *share_part(const Split &s, const Share &own, u32 part) {
    return s.parts + (((u64)own.block * own.parts + part) * PART_QUADS * PART_THREADS + thread_x()) * 4;
}

// Adds the parts of a block, two at a time: of two that meet the first leaves its sums, the other adds them to its own
// and goes on. Which of them that is changes no bit. Whether this one has all.
template <u32 GROUPS> DEVICE bool add_parts(const Split &s, const Share &own, amd_sums (*sums)[2], u32 *last) {
    constexpr u32 QUADS = LANE_SUMS / 4;
    for (u32 span = 1; span < own.parts; span *= 2) {
        const u32 first = own.part / (2 * span) * (2 * span), second = first + span;
        if (second >= own.parts) continue;
        const bool is_first = own.part < second;
        f32 *to = share_part(s, own, is_first ? first : second);
        UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 i = 0; i < 2 * QUADS; i++) {
            const amd_sums &c = sums[m][i / QUADS];
            const u32 k = i % QUADS * 4;
            const f32 four[4] = {c[k], c[k + 1], c[k + 2], c[k + 3]};
            store_part(to, m * 2 * QUADS + i, four);
        }
        if (!is_last_block(s.counters + own.block * (own.parts - 1) + second - 1, 2, last)) return false;
        const f32 *from = share_part(s, own, is_first ? second : first);
        UNROLL for (u32 m = 0; m < GROUPS; m++) {
            // No more on their way than there are registers for.
            __builtin_amdgcn_sched_barrier(0);
            UNROLL for (u32 i = 0; i < 2 * QUADS; i++) {
                const f32x4 four = load_f32x4(from + (m * 2 * QUADS + i) * (PART_THREADS * 4));
                amd_sums &c = sums[m][i / QUADS];
                const u32 k = i % QUADS * 4;
                c[k] += four.x, c[k + 1] += four.y, c[k + 2] += four.z, c[k + 3] += four.w;
            }
        }
    }
    return true;
}
