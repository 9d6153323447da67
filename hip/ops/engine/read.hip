// read: partial[block] = sum of the block's share of from[0 .. count), modulo 2^32. The self-test
// measures read bandwidth with it and compares the total with the CPU's, which is exact.
//
// Layout: `from` is a dense array of u32, aligned to 16 bytes, `count` a multiple of 4; `partial`
// has one u32 a block. Launch: blocks of 256 threads, any number of blocks (about 8 a compute unit):
// the blocks step through the array together, each thread with four 16-byte loads in flight.
#include "common/platform.h"

KERNEL(256)
void mlxrocm_read_u32(u32 *RESTRICT partial, const u32 *RESTRICT from, u64 count, u32 blocks) {
    SHARED u32 sums[256 / WAVE];
    u64 pieces = count / 4;
    u64 stride = (u64)blocks * 256;
    u64 piece = (u64)block_x() * 256 + thread_x();
    u32 sum = 0;
    for (; piece + 3 * stride < pieces; piece += 4 * stride) {
        u32x4 v[4];
        UNROLL for (int i = 0; i < 4; i++) v[i] = load16_stream(from + (piece + i * stride) * 4);
        UNROLL for (int i = 0; i < 4; i++) sum += v[i].x + v[i].y + v[i].z + v[i].w;
    }
    for (; piece < pieces; piece += stride) {
        u32x4 v = load16_stream(from + piece * 4);
        sum += v.x + v.y + v.z + v.w;
    }
    sum += shuffle_xor<1>(sum);
    sum += shuffle_xor<2>(sum);
    sum += shuffle_xor<4>(sum);
    sum += shuffle_xor<8>(sum);
    sum += shuffle_xor<16>(sum);
    if constexpr (WAVE == 64) sum += shuffle(sum, lane_id() ^ 32);
    if (lane_id() == 0) sums[wave_id()] = sum;
    barrier();
    if (thread_x() == 0) {
        u32 total = 0;
        UNROLL for (int i = 0; i < 256 / WAVE; i++) total += sums[i];
        partial[block_x()] = total;
    }
}
