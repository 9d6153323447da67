// NVIDIA only: matrix products of a warp, and bulk copies to shared memory that complete on a
// barrier object in shared memory (sm_90).
#pragma once

#include "platform.h"

#if PLATFORM_NVIDIA
// c + a·b: m16n8k16, f16 operands, f32 sums. Lane 4g + t: a = rows g, g+8 (alternating) of columns
// 2t, 2t+1, then 2t+8, 2t+9; b = the same of row g; c = (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
#define MATRIX_PRODUCT(type, c, a, b0, b1)                                                        \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                    \
        ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                              \
        : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3])                                  \
        : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))
DEVICE void matrix_product(f32 *c, const u32 *a, u32 b0, u32 b1) { MATRIX_PRODUCT("f16", c, a, b0, b1); }
DEVICE void matrix_product_bf16(f32 *c, const u32 *a, u32 b0, u32 b1) { MATRIX_PRODUCT("bf16", c, a, b0, b1); }
// c + a·b: m16n8k32, signed bytes, 32-bit sums. As above with four columns a register: a = rows g, g+8
// of columns 4t … 4t+3, then 16 further.
DEVICE void matrix_product_i8(i32 *c, const u32 *a, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

DEVICE void copy_barrier_init(u32 barrier, u32 arrivals = 1) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
DEVICE void copy_barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Makes initialised barriers known to the copy engine.
DEVICE void copy_barrier_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void copy_barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void copy_barrier_wait(u32 barrier, u32 parity) {
    asm volatile("{\n.reg .pred done;\nagain_%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n}" ::"r"(barrier), "r"(parity) : "memory");
}
// What threads wrote to shared memory is seen by the matrix unit and the copy engine behind the next barrier.
DEVICE void shared_written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Copies `bytes` (a multiple of 16) that are read once; completes on `barrier`.
DEVICE void copy_bulk(u32 shared, const void *global, u32 bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared), "l"(global), "r"(bytes), "r"(barrier),
                 "l"(0x12f0000000000000ull) : "memory");
}
#endif
