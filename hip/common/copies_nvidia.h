// NVIDIA only: copies of few bytes to shared memory that go on meanwhile, and what else one instruction does there.
#pragma once

#include "platform.h"

#if PLATFORM_NVIDIA
// 4, 8 or 16 bytes to an address in shared memory (shared_address); copy_commit and copy_wait as of copy16_async.
template <int BYTES> DEVICE void copy_async(u32 shared, const void *global) {
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global), "n"(BYTES) : "memory");
}
DEVICE void store2_shared(u32 shared, u16 value) {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(shared), "h"(value) : "memory");
}
// One lane of the warp, the same each time: what it alone does the compiler writes without a loop over lanes that might differ.
DEVICE bool is_elected() {
    u32 is;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    return is != 0;
}
// The warp's number in its block, known to be the same for all its lanes.
DEVICE u32 warp_number() {
    u32 number;
    asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(number) : "r"(thread_x() / WAVE));
    return number;
}
// Bytes of dynamic shared memory of a block.
DEVICE u32 dynamic_shared_bytes() {
    u32 bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}
// The nearest whole number; of two the even one.
DEVICE i32 round_whole(f32 x) {
    i32 y;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}
// The value, which stays in a register: the compiler would make a constant anew for each use.
DEVICE u32 opaque(u32 value) {
    u32 y;
    asm volatile("{ .reg .u32 a; mov.u32 a, %%nwarpid; shr.u32 a, a, 31; or.b32 %0, %1, a; }" : "=r"(y) : "r"(value));
    return y;
}
#endif
