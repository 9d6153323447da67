// fill: to[i] = value for i < count.
//
// Layout: `to` is a dense array of u32, aligned to 4 bytes. Launch: blocks of 256 threads, each
// thread fills 4 numbers: grid = ceil(count / 1024). Where the array is aligned to 16 bytes a thread
// stores once.
#include "common/platform.h"

KERNEL(256) void mlxrocm_fill_u32(u32 *RESTRICT to, u64 count, u32 value) {
    u64 first = ((u64)block_x() * 256 + thread_x()) * 4;
    if (((u64)to & 15) == 0 && first + 4 <= count) {
        store16(to + first, u32x4{value, value, value, value});
    } else {
        UNROLL for (u64 i = 0; i < 4; i++)
            if (first + i < count) to[first + i] = value;
    }
}
