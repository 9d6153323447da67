// Kernels that lack a wait or a fence. Memory instructions are written by hand: the compiler, which does
// not see them, places no wait for them.
#include "device.h"

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx1030__)
#define LOAD "global_load_dword "
#define STORE "global_store_dword "
#define LDS_STORE "ds_write_b32 "
#define LDS_LOAD "ds_read_b32 "
#define SCALAR "s_load_dword "
#else
#define LOAD "global_load_b32 "
#define STORE "global_store_b32 "
#define LDS_STORE "ds_store_b32 "
#define LDS_LOAD "ds_load_b32 "
#define SCALAR "s_load_b32 "
#endif

#if defined(__gfx1200__) || defined(__gfx1201__)
#define WAIT_LOADS(N) "s_wait_loadcnt " #N
#define WAIT_STORES "s_wait_storecnt 0"
#define WAIT_LDS(N) "s_wait_dscnt " #N
#define WAIT_SCALAR "s_wait_kmcnt 0"
#define BARRIER "s_barrier_signal -1\ns_barrier_wait -1"
#define NEAR "global_inv scope:SCOPE_SE"
#else
#define WAIT_LOADS(N) "s_waitcnt vmcnt(" #N ")"
#define WAIT_LDS(N) "s_waitcnt lgkmcnt(" #N ")"
#define WAIT_SCALAR "s_waitcnt lgkmcnt(0)"
#define BARRIER "s_barrier"
#if defined(__gfx90a__) || defined(__gfx942__)
#define WAIT_STORES "s_waitcnt vmcnt(0)"
#define NEAR "s_nop 0"
#else
#define WAIT_STORES "s_waitcnt_vscnt null, 0"
#define NEAR "buffer_gl0_inv"
#endif
#endif
#define NOTHING "s_nop 0"

// Two loads; the first is used when one may still be in flight, the second when none may.
#define USE(NAME, FIRST, SECOND)                                                                        \
    KERNEL NAME(const u32 *in, u32 *out) {                                                              \
        const u32 *p = in + TID;                                                                        \
        u32 a, b;                                                                                       \
        asm volatile(LOAD "%0, %2, off\n" LOAD "%1, %2, off offset:256\n" FIRST "\nv_mov_b32 %0, %0\n"  \
                     SECOND "\nv_mov_b32 %1, %1\n" WAIT_LOADS(0)                                        \
                     : "=&v"(a), "=&v"(b) : "v"(p) : "memory");                                         \
        out[TID] = a + 2 * b;                                                                           \
    }
USE(loads_waited, WAIT_LOADS(1), WAIT_LOADS(0))
USE(load_used_early, NOTHING, WAIT_LOADS(0))
USE(load_waited_too_little, WAIT_LOADS(1), WAIT_LOADS(1))

// The register is overwritten while the load may still write it; by another load it may be.
#define OVERWRITE(NAME, HOW)                                                                             \
    KERNEL NAME(const u32 *in, u32 *out) {                                                              \
        const u32 *p = in + TID;                                                                        \
        u32 a;                                                                                          \
        asm volatile(LOAD "%0, %1, off\n" HOW "\n" WAIT_LOADS(0) : "=&v"(a) : "v"(p) : "memory");       \
        out[TID] = a;                                                                                   \
    }
OVERWRITE(load_overwritten, "v_mov_b32 %0, 7")
OVERWRITE(load_after_load, LOAD "%0, %1, off offset:4")

#define SCALARS(NAME, WAIT)                                                                             \
    KERNEL NAME(const u32 *in, u32 *out) {                                                              \
        u32 a, b;                                                                                       \
        asm volatile(SCALAR "%0, %2, 0x0\n" WAIT "\ns_add_i32 %1, %0, 1\n" WAIT_SCALAR                  \
                     : "=&s"(a), "=&s"(b) : "s"(in) : "memory", "scc");                                 \
        out[TID] = a + b;                                                                               \
    }
SCALARS(scalar_waited, WAIT_SCALAR)
SCALARS(scalar_used_early, NOTHING)

// A wave writes LDS, another one reads it behind a barrier, a third time it is overwritten.
#define EXCHANGE(NAME, WRITTEN, READ)                                                                   \
    KERNEL NAME(u32 *out) {                                                                             \
        __shared__ u32 s[256];                                                                          \
        u32 mine = (u32)(u64)(__attribute__((address_space(3))) u32 *)(s + TID);                        \
        u32 other = (u32)(u64)(__attribute__((address_space(3))) u32 *)(s + (255 - TID));               \
        u32 v = TID;                                                                                    \
        asm volatile(LDS_STORE "%1, %2\n" WRITTEN "\n" BARRIER "\n" LDS_LOAD "%0, %3\n" READ "\n"       \
                     BARRIER "\n" LDS_STORE "%1, %3\n" WAIT_LDS(0) "\n"                                 \
                     : "=&v"(v) : "v"(mine), "v"(v), "v"(other) : "memory");                            \
        out[BID * 256 + TID] = v;                                                                       \
    }
EXCHANGE(lds_waited, WAIT_LDS(0), WAIT_LDS(0))
EXCHANGE(lds_write_not_waited, NOTHING, WAIT_LDS(0))
EXCHANGE(lds_read_not_waited, WAIT_LDS(0), NOTHING)

// The same through global memory.
#define GLOBAL(NAME, WRITTEN, FRESH)                                                                    \
    KERNEL NAME(u32 *data, u32 *out) {                                                                  \
        u32 *mine = data + BID * 256 + TID, *other = data + BID * 256 + 255 - TID;                      \
        u32 v = TID;                                                                                    \
        asm volatile(STORE "%1, %2, off\n" WRITTEN "\n" BARRIER "\n" FRESH "\n" LOAD "%0, %3, off\n"    \
                     WAIT_LOADS(0) : "=&v"(v) : "v"(mine), "v"(v), "v"(other) : "memory");              \
        out[BID * 256 + TID] = v;                                                                       \
    }
GLOBAL(global_waited, WAIT_STORES, NEAR)
GLOBAL(global_not_waited, NOTHING, NEAR)
GLOBAL(global_not_fresh, WAIT_STORES, NOTHING)

// The last block sums what all have written.
enum { RELEASE = 1, ACQUIRE = 2, LATE_BARRIER = 4 };
template <int FENCES> static __device__ inline void last(u32 *parts, u32 *counter, u32 *out, u32 blocks) {
    __shared__ u32 is_last;
    parts[BID * 256 + TID] = BID + TID;
    if (FENCES & RELEASE) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    sync();
    if (TID == 0) {
        u32 before = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        is_last = before == blocks - 1;
    }
    sync();
    if (!is_last) return;
    if (FENCES & ACQUIRE) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    u32 sum = 0;
    for (u32 i = 0; i < blocks; i++) sum += parts[i * 256 + TID];
    out[TID] = sum;
}
KERNEL last_fenced(u32 *parts, u32 *counter, u32 *out, u32 blocks) { last<RELEASE | ACQUIRE>(parts, counter, out, blocks); }
KERNEL last_no_release(u32 *parts, u32 *counter, u32 *out, u32 blocks) { last<ACQUIRE>(parts, counter, out, blocks); }
KERNEL last_no_acquire(u32 *parts, u32 *counter, u32 *out, u32 blocks) { last<RELEASE>(parts, counter, out, blocks); }

// A scalar load of what the same launch wrote: the scalar cache does not follow stores.
KERNEL scalar_after_store(u32 *data, u32 *out) {
    u32 v = TID, a;
    asm volatile(STORE "%1, %2, off\n" WAIT_STORES "\n" SCALAR "%0, %3, 0x0\n" WAIT_SCALAR
                 : "=&s"(a) : "v"(data + TID), "v"(v), "s"(data) : "memory");
    out[TID] = a;
}
