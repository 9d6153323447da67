// NVIDIA's compute capability 9.0 only: matrix products of a warpgroup, four warps (wgmma), f16 operands, f32
// sums. A fence stands before the first product after registers or shared memory were written.
//
// Sums of m64nN: warp w, lane 4g + t: c[i] is of row 16 w + g + 8 (i / 2 % 2), column 8 (i / 4) + 2 t + i % 2. A from
// registers, m64k16: as in matrix_nvidia.h, of the warp's 16 rows. Operands in shared memory are rows of 128
// bytes from an address that is a multiple of 1024 on, their pieces of 16 bytes swapped: piece i of row r
// lies at i ^ (r % 8).
#pragma once

#include "matrix_nvidia.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)
DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING> DEVICE void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
// 16 bytes to an address of shared memory; zeros if they are not `there`: nothing is read then.
DEVICE void copy16_or_zero(u32 shared, const void *global, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(there ? 16 : 0)
                 : "memory");
}

// Arrives once this thread's asynchronous copies so far are done. Another one who waits sees them; for the matrix
// unit to see them he fences.
DEVICE void copy_barrier_arrive_copied(u32 barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// An operand whose rows lie along k, 64 numbers of it each: 8 rows are 1024 bytes.
DEVICE u64 rows_of_128(u32 address) { return (u64)1 << 62 | (u64)64 << 32 | (u64)1 << 16 | (address & 0x3ffff) >> 4; }
// An operand b whose rows are k, each 64 columns; `next`: bytes to the next 64 columns.
DEVICE u64 columns_of_128(u32 address, u32 next) {
    return (u64)1 << 62 | (u64)64 << 32 | (u64)(next >> 4) << 16 | (address & 0x3ffff) >> 4;
}

#define ACCUMULATORS4(c, i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define ACCUMULATORS16(c, i) \
    ACCUMULATORS4(c, i), ACCUMULATORS4(c, i + 4), ACCUMULATORS4(c, i + 8), ACCUMULATORS4(c, i + 12)
#define WGMMA_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define WGMMA_32 WGMMA_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WGMMA_64                                                                                 \
    WGMMA_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                 \
             "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WGMMA_96                                                                                \
    WGMMA_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"               \
             "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define WGMMA_128                                                                               \
    WGMMA_96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"   \
             "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define WGMMA_A(a) "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

// c += a·bᵀ: m64n64k16, a and b rows along k.
DEVICE void wgmma_64(f32 *c, u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" WGMMA_32 "}, %32, %33, 1, 1, 1, 0, 0;"
                 : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16)
                 : "l"(a), "l"(b)
                 : "memory");
}
// The same, m64nNk16.
template <int N> DEVICE void wgmma_shared(f32 *c, u64 a, u64 b) {
    if constexpr (N == 32)
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" WGMMA_16 "}, %16, %17, 1, 1, 1, 0, 0;"
                     : ACCUMULATORS16(c, 0)
                     : "l"(a), "l"(b)
                     : "memory");
    if constexpr (N == 64) wgmma_64(c, a, b);
    if constexpr (N == 128)
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" WGMMA_64 "}, %64, %65, 1, 1, 1, 0, 0;"
                     : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48)
                     : "l"(a), "l"(b)
                     : "memory");
    if constexpr (N == 192)
        asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 {" WGMMA_96 "}, %96, %97, 1, 1, 1, 0, 0;"
                     : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48),
                       ACCUMULATORS16(c, 64), ACCUMULATORS16(c, 80)
                     : "l"(a), "l"(b)
                     : "memory");
    if constexpr (N == 256)
        asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" WGMMA_128 "}, %128, %129, 1, 1, 1, 0, 0;"
                     : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48),
                       ACCUMULATORS16(c, 64), ACCUMULATORS16(c, 80), ACCUMULATORS16(c, 96), ACCUMULATORS16(c, 112)
                     : "l"(a), "l"(b)
                     : "memory");
}
// The same, a from registers; COLUMNS: the rows of b are k.
template <int N, int COLUMNS> DEVICE void wgmma_registers(f32 *c, const u32 *a, u64 b) {
    if constexpr (N == 32)
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" WGMMA_16
                     "}, {%16,%17,%18,%19}, %20, 1, 1, 1, %21;"
                     : ACCUMULATORS16(c, 0)
                     : WGMMA_A(a), "l"(b), "n"(COLUMNS)
                     : "memory");
    if constexpr (N == 64)
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" WGMMA_32
                     "}, {%32,%33,%34,%35}, %36, 1, 1, 1, %37;"
                     : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16)
                     : WGMMA_A(a), "l"(b), "n"(COLUMNS)
                     : "memory");
    if constexpr (N == 128)
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" WGMMA_64
                     "}, {%64,%65,%66,%67}, %68, 1, 1, 1, %69;"
                     : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48)
                     : WGMMA_A(a), "l"(b), "n"(COLUMNS)
                     : "memory");
    if constexpr (N == 256)
        asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" WGMMA_128
                     "}, {%128,%129,%130,%131}, %132, 1, 1, 1, %133;"
                     : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48),
                       ACCUMULATORS16(c, 64), ACCUMULATORS16(c, 80), ACCUMULATORS16(c, 96), ACCUMULATORS16(c, 112)
                     : WGMMA_A(a), "l"(b), "n"(COLUMNS)
                     : "memory");
}
template <int N> DEVICE void wgmma_rows(f32 *c, const u32 *a, u64 b) { wgmma_registers<N, 0>(c, a, b); }
template <int N> DEVICE void wgmma_columns(f32 *c, const u32 *a, u64 b) { wgmma_registers<N, 1>(c, a, b); }
#endif
