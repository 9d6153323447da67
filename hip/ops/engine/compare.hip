// compare: differs = 1 if a[i] != b[i] for some i < bytes; else differs is left as it is.
//
// Layout: bytes, any alignment; `differs` is one u32. Launch: blocks of 256 threads, any number of blocks:
// they step through the bytes together, each thread by pieces of 16 that are aligned in a. Where b is as far
// from an alignment of 16 as a, a piece is two loads; the first and the last piece may be a part.
#include "common/platform.h"

KERNEL(256)
void mlxrocm_compare_u8(u32 *RESTRICT differs, const u8 *RESTRICT a, const u8 *RESTRICT b, u64 bytes) {
    u64 skew = (u64)a & 15, end = skew + bytes;
    bool alike = (((u64)a ^ (u64)b) & 15) == 0;
    u32 bits = 0;
    u64 piece = ((u64)block_x() * 256 + thread_x()) * 16;
    for (; piece < end; piece += (u64)grid_blocks_x() * 4096) {
        if (alike && piece >= skew && piece + 16 <= end) {
            u32x4 x = load16_stream(a + piece - skew), y = load16_stream(b + piece - skew);
            bits |= (x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w);
        } else {
            for (u64 i = piece; i < piece + 16; i++)
                if (i >= skew && i < end) bits |= a[i - skew] ^ b[i - skew];
        }
    }
    if (bits != 0) atomic_exchange(differs, 1);
}
