// NVIDIA: clang's nvptx64 target and nvrtc. platform.h says what the names mean.
#pragma once

#if defined(__CUDACC_RTC__)
#pragma nv_diag_suppress 177 // functions of these files that a kernel does not use
#define KERNEL(threads) extern "C" __global__ __launch_bounds__(threads)
#define KERNEL_WAVES(threads, waves) \
    extern "C" __global__ __launch_bounds__(threads, (waves) * 128 / (threads) > 0 ? (waves) * 128 / (threads) : 1)
#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__
#define SHARED __shared__
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) u8 name[]
#define CONSTANT_TABLE static __device__ const
#else
#define KERNEL(threads) extern "C" __attribute__((global, launch_bounds(threads)))
#define KERNEL_WAVES(threads, waves)     \
    extern "C" __attribute__((global, launch_bounds(threads, (waves) * 128 / (threads) > 0 ? (waves) * 128 / (threads) : 1)))
#define DEVICE static __attribute__((device, always_inline)) inline
#define METHOD __attribute__((device, always_inline)) inline
#define SHARED __attribute__((shared))
#define DYNAMIC_SHARED(name) extern __attribute__((shared, aligned(16))) u8 name[]
#define CONSTANT_TABLE static __attribute__((device)) const
#endif
#define RESTRICT __restrict__
#define UNROLL _Pragma("unroll")

#define WAVE 32
typedef u32 wave_mask;

#define HAS_DOT2 0
#define HAS_DOT4 1
#define HAS_BF16_DOT2 0

// Threads and blocks.

#if defined(__CUDACC_RTC__)
DEVICE u32 thread_x() { return threadIdx.x; }
DEVICE u32 thread_y() { return threadIdx.y; }
DEVICE u32 thread_z() { return threadIdx.z; }
DEVICE u32 block_x() { return blockIdx.x; }
DEVICE u32 block_y() { return blockIdx.y; }
DEVICE u32 block_z() { return blockIdx.z; }
DEVICE u32 block_size_x() { return blockDim.x; }
DEVICE u32 block_size_y() { return blockDim.y; }
DEVICE u32 block_size_z() { return blockDim.z; }
DEVICE u32 grid_blocks_x() { return gridDim.x; }
DEVICE u32 grid_blocks_y() { return gridDim.y; }
DEVICE u32 grid_blocks_z() { return gridDim.z; }
#else
DEVICE u32 thread_x() { return (u32)__nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 thread_y() { return (u32)__nvvm_read_ptx_sreg_tid_y(); }
DEVICE u32 thread_z() { return (u32)__nvvm_read_ptx_sreg_tid_z(); }
DEVICE u32 block_x() { return (u32)__nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 block_y() { return (u32)__nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE u32 block_z() { return (u32)__nvvm_read_ptx_sreg_ctaid_z(); }
DEVICE u32 block_size_x() { return (u32)__nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 block_size_y() { return (u32)__nvvm_read_ptx_sreg_ntid_y(); }
DEVICE u32 block_size_z() { return (u32)__nvvm_read_ptx_sreg_ntid_z(); }
DEVICE u32 grid_blocks_x() { return (u32)__nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 grid_blocks_y() { return (u32)__nvvm_read_ptx_sreg_nctaid_y(); }
DEVICE u32 grid_blocks_z() { return (u32)__nvvm_read_ptx_sreg_nctaid_z(); }
#endif

DEVICE u32 lane_id() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Synchronisation.

DEVICE void barrier() { __syncthreads(); }
DEVICE void barrier_shared() { __syncthreads(); }
DEVICE void wave_barrier() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
DEVICE void fence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
DEVICE void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
// Waits until the kernels this one depends on have finished and their writes are visible.
DEVICE void grid_dependency_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// From here on the next kernel may start its own preparation.
DEVICE void grid_dependency_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

// Lanes.

DEVICE u32 uniform(u32 value) { return value; }
DEVICE wave_mask ballot(bool predicate) {
    u32 mask;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(mask)
                 : "r"((u32)predicate));
    return mask;
}
DEVICE u32 shuffle(u32 value, u32 lane) {
    u32 result;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}
DEVICE u32 broadcast(u32 value, u32 lane) { return shuffle(value, lane); }
DEVICE u32 shuffle_down(u32 value, u32 distance) {
    u32 result;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(result)
                 : "r"(value), "r"(distance));
    return result;
}
template <int MASK> DEVICE u32 shuffle_xor(u32 value) {
    static_assert(MASK > 0 && MASK < WAVE, "the mask names a lane");
    u32 result;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "n"(MASK));
    return result;
}

// Arithmetic.

DEVICE f32 fast_exp2(f32 x) {
    f32 y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE f32 fast_log2(f32 x) {
    f32 y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE f32 fast_rcp(f32 x) {
    f32 y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE f32 fast_rsqrt(f32 x) {
    f32 y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE f32 fast_sqrt(f32 x) {
    f32 y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#if defined(__CUDACC_RTC__)
DEVICE f32 mul_add(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
DEVICE f32 maximum(f32 a, f32 b) { return fmaxf(a, b); }
DEVICE f32 minimum(f32 a, f32 b) { return fminf(a, b); }
DEVICE f32 round_down(f32 x) { return floorf(x); }
DEVICE f32 round_even(f32 x) { return rintf(x); }
DEVICE f32 absolute(f32 x) { return fabsf(x); }
DEVICE u32 f32_bits(f32 x) { return __float_as_uint(x); }
DEVICE f32 bits_f32(u32 x) { return __uint_as_float(x); }
#else
DEVICE f32 mul_add(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
DEVICE f32 maximum(f32 a, f32 b) { return __builtin_fmaxf(a, b); }
DEVICE f32 minimum(f32 a, f32 b) { return __builtin_fminf(a, b); }
DEVICE f32 round_down(f32 x) { return __builtin_floorf(x); }
DEVICE f32 round_even(f32 x) { return __builtin_rintf(x); }
DEVICE f32 absolute(f32 x) { return __builtin_fabsf(x); }
DEVICE u32 f32_bits(f32 x) { return __builtin_bit_cast(u32, x); }
DEVICE f32 bits_f32(u32 x) { return __builtin_bit_cast(f32, x); }
#endif
DEVICE u32 popcount(u32 x) {
    u32 y;
    asm("popc.b32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}
DEVICE u32 popcount(u64 x) { return popcount((u32)x) + popcount((u32)(x >> 32)); }
DEVICE u32 leading_zeros(u32 x) {
    u32 y;
    asm("clz.b32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}
// prmt takes one selector a nibble: the low nibbles of the four bytes are gathered.
DEVICE u32 byte_select(u32 high, u32 low, u32 selector) {
    u32 gathered = (selector & 7) | (selector >> 4 & 0x70) | (selector >> 8 & 0x700) | (selector >> 12 & 0x7000);
    u32 y;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(y) : "r"(low), "r"(high), "r"(gathered));
    return y;
}
// Bytes of `high` and `low` by the four low nibbles of a selector; the sign, eight times, of the byte where a nibble is 8 and more.
DEVICE u32 nibble_select(u32 high, u32 low, u32 selector) {
    u32 y;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(y) : "r"(low), "r"(high), "r"(selector));
    return y;
}
DEVICE u32 and_or(u32 a, u32 mask, u32 b) {
    u32 y;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(y) : "r"(a), "r"(mask), "r"(b));
    return y;
}
DEVICE u32 bits(u32 x, u32 offset, u32 width) {
    u32 y;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(offset), "r"(width));
    return y;
}

// 16-bit numbers.

DEVICE f32 to_f32(f16 x) {
    f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
DEVICE f16 to_f16(f32 x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
DEVICE f16x2 pack_f16x2(f32 low, f32 high) {
    f16x2 y;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y.bits) : "f"(high), "f"(low));
    return y;
}
DEVICE f16x2 add(f16x2 a, f16x2 b) {
    f16x2 y;
    asm("add.f16x2 %0, %1, %2;" : "=r"(y.bits) : "r"(a.bits), "r"(b.bits));
    return y;
}
DEVICE f16x2 sub(f16x2 a, f16x2 b) {
    f16x2 y;
    asm("sub.f16x2 %0, %1, %2;" : "=r"(y.bits) : "r"(a.bits), "r"(b.bits));
    return y;
}
DEVICE f16x2 mul(f16x2 a, f16x2 b) {
    f16x2 y;
    asm("mul.f16x2 %0, %1, %2;" : "=r"(y.bits) : "r"(a.bits), "r"(b.bits));
    return y;
}
DEVICE f16x2 mul_add(f16x2 a, f16x2 b, f16x2 c) {
    f16x2 y;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
    return y;
}
DEVICE f32 dot2(f16x2 a, f16x2 b, f32 c) {
    f16 al = {(u16)a.bits}, ah = {(u16)(a.bits >> 16)}, bl = {(u16)b.bits}, bh = {(u16)(b.bits >> 16)};
    return mul_add(to_f32(ah), to_f32(bh), mul_add(to_f32(al), to_f32(bl), c));
}
DEVICE f32 dot2(bf16x2 a, bf16x2 b, f32 c) {
    f32 low = mul_add(bits_f32(a.bits << 16), bits_f32(b.bits << 16), c);
    return mul_add(bits_f32(a.bits & 0xffff0000u), bits_f32(b.bits & 0xffff0000u), low);
}
DEVICE i32 dot4(u32 a, u32 b, i32 c) {
    i32 y;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
    return y;
}

// Memory. Pointers are aligned to the size moved; the streaming and constant forms read global memory.

DEVICE u32x4 load16(const void *from) { return *(const u32x4 *)from; }
DEVICE u32x2 load8(const void *from) { return *(const u32x2 *)from; }
DEVICE u32 load4(const void *from) { return *(const u32 *)from; }
DEVICE u32x4 load16_stream(const void *from) {
    u32x4 y;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y.x), "=r"(y.y), "=r"(y.z), "=r"(y.w)
                 : "l"(from));
    return y;
}
DEVICE u32x2 load8_stream(const void *from) {
    u32x2 y;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0, %1}, [%2];"
                 : "=r"(y.x), "=r"(y.y)
                 : "l"(from));
    return y;
}
DEVICE u32 load4_stream(const void *from) {
    u32 y;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.u32 %0, [%1];" : "=r"(y) : "l"(from));
    return y;
}
DEVICE u32x4 load16_constant(const void *from) {
    u32x4 y;
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y.x), "=r"(y.y), "=r"(y.z), "=r"(y.w)
                 : "l"(from));
    return y;
}
DEVICE u32x2 load8_constant(const void *from) {
    u32x2 y;
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(y.x), "=r"(y.y) : "l"(from));
    return y;
}
DEVICE u32 load4_constant(const void *from) {
    u32 y;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(y) : "l"(from));
    return y;
}
DEVICE void store16(void *to, u32x4 value) { *(u32x4 *)to = value; }
DEVICE void store8(void *to, u32x2 value) { *(u32x2 *)to = value; }
DEVICE void store16_stream(void *to, u32x4 value) {
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

DEVICE f32 product(f32 a, f32 b) {
    f32 p;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(p) : "f"(a), "f"(b));
    return p;
}

DEVICE void store_global(f32 *to, f32 value) { *to = value; }

DEVICE u32 atomic_add(u32 *to, u32 value) {
    u32 old;
    asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(to), "r"(value) : "memory");
    return old;
}
DEVICE u64 atomic_add(u64 *to, u64 value) {
    u64 old;
    asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(to), "l"(value) : "memory");
    return old;
}
DEVICE u32 atomic_max(u32 *to, u32 value) {
    u32 old;
    asm volatile("atom.relaxed.gpu.max.u32 %0, [%1], %2;" : "=r"(old) : "l"(to), "r"(value) : "memory");
    return old;
}
DEVICE u32 atomic_exchange(u32 *to, u32 value) {
    u32 old;
    asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(to), "r"(value) : "memory");
    return old;
}
DEVICE u32 atomic_compare_exchange(u32 *to, u32 expected, u32 value) {
    u32 old;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "l"(to), "r"(expected), "r"(value)
                 : "memory");
    return old;
}
DEVICE u32 atomic_add_acq_rel(u32 *to, u32 value) {
    u32 old;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(to), "r"(value) : "memory");
    return old;
}
DEVICE u32 load_acquire(const u32 *from) {
    u32 value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
DEVICE void store_release(u32 *to, u32 value) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

// The address of shared memory as the instructions with .shared want it.
DEVICE u32 shared_address(const void *shared) {
    u64 address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(shared));
    return (u32)address;
}
DEVICE void copy16_async(void *shared, const void *global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global)
                 : "memory");
}
// Zeros if it is not `there`; nothing is read then.
DEVICE void copy16_async_or_zero(void *shared, const void *global, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
                 "r"(there ? 16 : 0) : "memory");
}
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> DEVICE void copy_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
