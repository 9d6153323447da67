// Products cut along the columns of x, where a matrix has too few blocks to keep the device busy.
//
// Grid z is the number of splits; block z takes units [units · z / splits, units · (z + 1) / splits). With
// more than one split each block leaves its sums in `parts`, and the last that comes adds those of all, in
// order of z, so that results do not depend on timing.
//
// parts: [blocks][splits][PART_QUADS][PART_THREADS][4] f32, of which those of rows that there are are used;
// counters: [blocks] zeros, left zero. A thread's sums come back to the same thread, whatever they are of.
#pragma once

#include "common/reduce.h"

#define PART_THREADS 256
// Whether a block decodes weights into the registers that the matrix unit reads (block_registers.h): it is twice as wide.
#if AMD_CDNA2 || defined(__GFX12__)
#define WEIGHTS_IN_REGISTERS 1
#define PART_QUADS 32
#else
#define WEIGHTS_IN_REGISTERS 0
#define PART_QUADS 16
#endif

struct Split {
    f32 *parts;
    u32 *counters;
};

DEVICE u32 split_begin(u32 units) { return units * block_z() / grid_blocks_z(); }
DEVICE u32 split_end(u32 units) { return units * (block_z() + 1) / grid_blocks_z(); }

DEVICE u32 split_block() { return block_y() * grid_blocks_x() + block_x(); }

// The first of a thread's sums in part `z`: the next are PART_THREADS · 4 numbers further.
DEVICE f32 *split_part(const Split &s, u32 z) {
    const u64 part = (u64)split_block() * grid_blocks_z() + z;
    return s.parts + (part * PART_QUADS * PART_THREADS + thread_x()) * 4;
}
DEVICE void store_part(f32 *part, u32 quad, const f32 *c) {
    store_f32x4(part + quad * (PART_THREADS * 4), f32x4{c[0], c[1], c[2], c[3]});
}

// COUNT quads from `first` on, summed over all parts; `part` is the first. AHEAD of each are on the way.
template <u32 COUNT, u32 AHEAD> DEVICE void sum_parts(const f32 *part, u32 first, f32x4 *sums) {
    const u32 splits = grid_blocks_z();
    UNROLL for (u32 i = 0; i < COUNT; i++) sums[i] = f32x4{0.0f, 0.0f, 0.0f, 0.0f};
    _Pragma("unroll 1") for (u32 begin = 0; begin < splits; begin += AHEAD) {
        f32x4 some[AHEAD][COUNT];
        UNROLL for (u32 z = 0; z < AHEAD; z++) UNROLL for (u32 i = 0; i < COUNT; i++) {
            some[z][i] = f32x4{0.0f, 0.0f, 0.0f, 0.0f};
            if (begin + z < splits)
                some[z][i] = load_f32x4(part + (((u64)(begin + z) * PART_QUADS + first + i) * PART_THREADS) * 4);
        }
        UNROLL for (u32 z = 0; z < AHEAD; z++) UNROLL for (u32 i = 0; i < COUNT; i++) {
            sums[i].x += some[z][i].x, sums[i].y += some[z][i].y;
            sums[i].z += some[z][i].z, sums[i].w += some[z][i].w;
        }
    }
}
