// copy: to[i] = from[i] for i < bytes; the two ranges do not overlap.
//
// Layout: bytes, any alignment. Launch: blocks of 256 threads, each thread copies 16 bytes: grid =
// ceil(bytes / 4096). Where both sides are aligned to 16 bytes a thread loads and stores once.
#include "common/platform.h"

KERNEL(256) void mlxrocm_copy_u8(u8 *RESTRICT to, const u8 *RESTRICT from, u64 bytes) {
    u64 first = ((u64)block_x() * 256 + thread_x()) * 16;
    if ((((u64)to | (u64)from) & 15) == 0 && first + 16 <= bytes) {
        store16(to + first, load16_constant(from + first));
    } else {
        u64 left = first < bytes ? bytes - first : 0;
        for (u64 i = 0; i < 16 && i < left; i++) to[first + i] = from[first + i];
    }
}
