// AMD: clang's amdgcn target and hiprtc. platform.h says what the names mean.
#pragma once

#define KERNEL(threads) \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads)))
#define KERNEL_WAVES(threads, waves)                                                   \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads), \
                              amdgpu_waves_per_eu(waves)))
#define DEVICE static __attribute__((device, always_inline)) inline
#define METHOD __attribute__((device, always_inline)) inline
#define SHARED __attribute__((shared))
#define DYNAMIC_SHARED(name) extern __attribute__((shared, aligned(16))) u8 name[]
#define CONSTANT_TABLE static __attribute__((device)) const
#define RESTRICT __restrict__
#define UNROLL _Pragma("unroll")

#if defined(__GFX9__)
#define WAVE 64
typedef u64 wave_mask;
#else
#define WAVE 32
typedef u32 wave_mask;
#endif

// gfx940 to gfx942 and gfx950 share the CDNA 3 instructions.
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__) || \
    defined(__gfx9_4_generic__)
#define AMD_CDNA3 1
#else
#define AMD_CDNA3 0
#endif
#if AMD_CDNA3 || defined(__gfx90a__)
#define AMD_CDNA2 1
#else
#define AMD_CDNA2 0
#endif
#if defined(__GFX11__) || defined(__GFX12__)
#define AMD_RDNA3 1
#else
#define AMD_RDNA3 0
#endif
// RDNA 2 and the two RDNA 1 chips with dot products.
#if defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || \
    defined(__gfx1031__) || defined(__gfx1032__) || defined(__gfx1033__) || \
    defined(__gfx1034__) || defined(__gfx1035__) || defined(__gfx1036__) || \
    defined(__gfx10_3_generic__)
#define AMD_RDNA2 1
#else
#define AMD_RDNA2 0
#endif
#if defined(__gfx906__) || defined(__gfx908__)
#define AMD_VEGA_DOT 1
#else
#define AMD_VEGA_DOT 0
#endif

#define HAS_DOT2 (AMD_RDNA3 || AMD_RDNA2 || AMD_CDNA2 || AMD_VEGA_DOT)
#define HAS_DOT4 HAS_DOT2
#define HAS_BF16_DOT2 AMD_RDNA3

typedef _Float16 amd_f16x2 __attribute__((ext_vector_type(2)));
typedef short amd_short2 __attribute__((ext_vector_type(2)));
#if HAS_BF16_DOT2
typedef __bf16 amd_bf16x2 __attribute__((ext_vector_type(2)));
#endif
typedef u32 amd_u32x2 __attribute__((ext_vector_type(2)));
typedef u32 amd_u32x4 __attribute__((ext_vector_type(4)));

// Threads and blocks.

DEVICE u32 thread_x() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 thread_y() { return __builtin_amdgcn_workitem_id_y(); }
DEVICE u32 thread_z() { return __builtin_amdgcn_workitem_id_z(); }
DEVICE u32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE u32 block_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE u32 block_z() { return __builtin_amdgcn_workgroup_id_z(); }

// The hidden arguments of code object version 5: three block counts (u32), three block sizes (u16).
DEVICE u32 amd_block_count(u32 axis) {
    return ((const __attribute__((address_space(4))) u32 *)__builtin_amdgcn_implicitarg_ptr())[axis];
}
DEVICE u32 amd_block_size(u32 axis) {
    return ((const __attribute__((address_space(4))) u16 *)__builtin_amdgcn_implicitarg_ptr())[6 + axis];
}
DEVICE u32 grid_blocks_x() { return amd_block_count(0); }
DEVICE u32 grid_blocks_y() { return amd_block_count(1); }
DEVICE u32 grid_blocks_z() { return amd_block_count(2); }
DEVICE u32 block_size_x() { return amd_block_size(0); }
DEVICE u32 block_size_y() { return amd_block_size(1); }
DEVICE u32 block_size_z() { return amd_block_size(2); }

DEVICE u32 lane_id() {
#if WAVE == 64
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#else
    return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#endif
}

// Synchronisation.

DEVICE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
// The compiler waits for everything in flight before a barrier of its own.
DEVICE void barrier_shared() {
#if defined(__GFX12__)
    asm volatile("s_wait_dscnt 0x0\n\ts_barrier_signal -1\n\ts_barrier_wait -1" ::: "memory");
#else
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
#endif
}
// The lanes of a wave run together: only the compiler must keep the order.
DEVICE void wave_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
DEVICE void fence_block() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }
// What was written before is seen by atomics that follow. Clang 19 leaves out the wait for the
// write-back of a gfx942's L2 where it sees nothing else in flight, so it is written here.
DEVICE void release_device() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
#if defined(__GFX9__)
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#endif
}
DEVICE void fence_device() {
    release_device();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}
DEVICE void grid_dependency_wait() {}
DEVICE void grid_dependency_launch() {}

// Lanes.

DEVICE u32 uniform(u32 value) { return (u32)__builtin_amdgcn_readfirstlane((int)value); }
DEVICE wave_mask ballot(bool predicate) {
#if !__has_builtin(__builtin_amdgcn_ballot_w64) // clang 15 (ROCm 5.2); 33: not equal
    return (wave_mask)__builtin_amdgcn_uicmp((u32)predicate, 0u, 33);
#elif WAVE == 64
    return __builtin_amdgcn_ballot_w64(predicate);
#else
    return __builtin_amdgcn_ballot_w32(predicate);
#endif
}
// The value that lane `lane` (the same number in all lanes) holds.
DEVICE u32 broadcast(u32 value, u32 lane) {
    return (u32)__builtin_amdgcn_readlane((int)value, (int)lane);
}
// The value that lane `lane` (any number, each lane its own) holds.
DEVICE u32 shuffle(u32 value, u32 lane) {
    return (u32)__builtin_amdgcn_ds_bpermute((int)(lane << 2), (int)value);
}
DEVICE u32 shuffle_down(u32 value, u32 distance) {
    u32 from = lane_id() + distance;
    return shuffle(value, from < WAVE ? from : lane_id());
}

// Of every four lanes, the lower two get the value of lane `low` of them, the upper two that of `high`;
// both constants once loops are unrolled.
template <int LOW, int HIGH> DEVICE u32 of_quad(u32 value) {
    return (u32)__builtin_amdgcn_update_dpp(0, (int)value, LOW * 5 | HIGH * 80, 0xf, 0xf, true);
}
DEVICE u32 of_quad(u32 value, u32 low, u32 high) {
    if (low != high) return low == 0 ? of_quad<0, 2>(value) : of_quad<1, 3>(value);
    return low == 0   ? of_quad<0, 0>(value)
           : low == 1 ? of_quad<1, 1>(value)
           : low == 2 ? of_quad<2, 2>(value)
                      : of_quad<3, 3>(value);
}

// Lane i gets the value of lane i ^ MASK: by DPP within rows of 16, by permlanex16 across the two
// rows of 32 lanes; CDNA has neither row_xmask nor permlanex16 and swizzles through the LDS unit.
template <int MASK> DEVICE u32 shuffle_xor(u32 value) {
    static_assert(MASK > 0 && MASK < WAVE, "the mask names a lane");
    if constexpr (MASK < 4) {
        constexpr int quad = (0 ^ MASK) | (1 ^ MASK) << 2 | (2 ^ MASK) << 4 | (3 ^ MASK) << 6;
        return (u32)__builtin_amdgcn_update_dpp(0, (int)value, quad, 0xf, 0xf, true);
    } else if constexpr (MASK == 7) {
        return (u32)__builtin_amdgcn_update_dpp(0, (int)value, 0x141, 0xf, 0xf, true);
    } else if constexpr (MASK == 15) {
        return (u32)__builtin_amdgcn_update_dpp(0, (int)value, 0x140, 0xf, 0xf, true);
    } else if constexpr (MASK < 32) {
#if defined(__GFX9__)
        return (u32)__builtin_amdgcn_ds_swizzle((int)value, MASK << 10 | 0x1f);
#else
        if constexpr (MASK < 16) {
            return (u32)__builtin_amdgcn_update_dpp(0, (int)value, 0x160 + MASK, 0xf, 0xf, true);
        } else {
            u32 across = (u32)__builtin_amdgcn_permlanex16((int)value, (int)value, 0x76543210,
                                                           (int)0xfedcba98, false, false);
            // clang 19 moves the instruction into a later `if` of fewer lanes, where the other row
            // does not take part any more. Nothing is moved past this.
            asm volatile("" : "+v"(across));
            if constexpr (MASK == 16) {
                return across;
            } else {
                return shuffle_xor<MASK ^ 16>(across);
            }
        }
#endif
    } else {
        return shuffle(value, lane_id() ^ MASK);
    }
}

// Arithmetic.

#if __has_builtin(__builtin_amdgcn_exp2f)
DEVICE f32 fast_exp2(f32 x) { return __builtin_amdgcn_exp2f(x); }
DEVICE f32 fast_log2(f32 x) { return __builtin_amdgcn_logf(x); }
#else // clang 15 (ROCm 5.2)
DEVICE f32 fast_exp2(f32 x) { return __builtin_exp2f(x); }
DEVICE f32 fast_log2(f32 x) { return __builtin_log2f(x); }
#endif
DEVICE f32 fast_rcp(f32 x) { return __builtin_amdgcn_rcpf(x); }
DEVICE f32 fast_rsqrt(f32 x) { return __builtin_amdgcn_rsqf(x); }
DEVICE f32 fast_sqrt(f32 x) { return __builtin_amdgcn_sqrtf(x); }
DEVICE f32 mul_add(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
DEVICE f32 maximum(f32 a, f32 b) { return __builtin_fmaxf(a, b); }
DEVICE f32 minimum(f32 a, f32 b) { return __builtin_fminf(a, b); }
DEVICE f32 round_down(f32 x) { return __builtin_floorf(x); }
DEVICE f32 round_even(f32 x) { return __builtin_rintf(x); }
DEVICE f32 absolute(f32 x) { return __builtin_fabsf(x); }
DEVICE u32 f32_bits(f32 x) { return __builtin_bit_cast(u32, x); }
DEVICE f32 bits_f32(u32 x) { return __builtin_bit_cast(f32, x); }
DEVICE u32 popcount(u32 x) { return (u32)__builtin_popcount(x); }
DEVICE u32 popcount(u64 x) { return (u32)__builtin_popcountll(x); }
// 32 for zero.
DEVICE u32 leading_zeros(u32 x) { return x == 0 ? 32 : (u32)__builtin_clz(x); }
// Bytes picked from the eight of (high, low) by the four low bytes of `selector` (0 to 7 each;
// 0 is the lowest byte of `low`).
DEVICE u32 byte_select(u32 high, u32 low, u32 selector) {
    return __builtin_amdgcn_perm(high, low, selector);
}
// One v_and_or_b32.
DEVICE u32 and_or(u32 a, u32 mask, u32 b) { return (a & mask) | b; }
// `width` bits from `offset` on; width below 32.
DEVICE u32 bits(u32 x, u32 offset, u32 width) { return __builtin_amdgcn_ubfe(x, offset, width); }

// 16-bit numbers.

DEVICE f32 to_f32(f16 x) { return (f32)__builtin_bit_cast(_Float16, x); }
DEVICE f16 to_f16(f32 x) { return __builtin_bit_cast(f16, (_Float16)x); }
DEVICE f16x2 pack_f16x2(f32 low, f32 high) {
    amd_f16x2 pair = {(_Float16)low, (_Float16)high};
    return __builtin_bit_cast(f16x2, pair);
}
DEVICE f16x2 add(f16x2 a, f16x2 b) {
    return __builtin_bit_cast(f16x2, __builtin_bit_cast(amd_f16x2, a) + __builtin_bit_cast(amd_f16x2, b));
}
DEVICE f16x2 sub(f16x2 a, f16x2 b) {
    return __builtin_bit_cast(f16x2, __builtin_bit_cast(amd_f16x2, a) - __builtin_bit_cast(amd_f16x2, b));
}
DEVICE f16x2 mul(f16x2 a, f16x2 b) {
    return __builtin_bit_cast(f16x2, __builtin_bit_cast(amd_f16x2, a) * __builtin_bit_cast(amd_f16x2, b));
}
DEVICE f16x2 mul_add(f16x2 a, f16x2 b, f16x2 c) {
    amd_f16x2 x = __builtin_bit_cast(amd_f16x2, a), y = __builtin_bit_cast(amd_f16x2, b),
              z = __builtin_bit_cast(amd_f16x2, c);
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_bit_cast(f16x2, __builtin_elementwise_fma(x, y, z));
#else // clang 15 (ROCm 5.2); -ffp-contract=fast fuses it
    return __builtin_bit_cast(f16x2, x * y + z);
#endif
}
// c + a.low*b.low + a.high*b.high; products exact, one or two roundings.
DEVICE f32 dot2(f16x2 a, f16x2 b, f32 c) {
#if HAS_DOT2
    return __builtin_amdgcn_fdot2(__builtin_bit_cast(amd_f16x2, a),
                                  __builtin_bit_cast(amd_f16x2, b), c, false);
#else
    amd_f16x2 x = __builtin_bit_cast(amd_f16x2, a), y = __builtin_bit_cast(amd_f16x2, b);
    return __builtin_fmaf((f32)x.y, (f32)y.y, __builtin_fmaf((f32)x.x, (f32)y.x, c));
#endif
}
DEVICE f32 dot2(bf16x2 a, bf16x2 b, f32 c) {
#if HAS_BF16_DOT2
    return __builtin_amdgcn_fdot2_f32_bf16(__builtin_bit_cast(amd_bf16x2, a),
                                           __builtin_bit_cast(amd_bf16x2, b), c, false);
#else
    f32 low = __builtin_fmaf(bits_f32(a.bits << 16), bits_f32(b.bits << 16), c);
    return __builtin_fmaf(bits_f32(a.bits & 0xffff0000u), bits_f32(b.bits & 0xffff0000u), low);
#endif
}
DEVICE i32 dot4(u32 a, u32 b, i32 c) {
#if AMD_RDNA3
    return __builtin_amdgcn_sudot4(true, (int)a, true, (int)b, c, false);
#elif HAS_DOT4
    return __builtin_amdgcn_sdot4((int)a, (int)b, c, false);
#else
    for (int i = 0; i < 32; i += 8) c += (i32)(i8)(a >> i) * (i32)(i8)(b >> i);
    return c;
#endif
}

// Memory. Pointers are aligned to the size moved.

DEVICE u32x4 load16(const void *from) {
    return __builtin_bit_cast(u32x4, *(const amd_u32x4 *)from);
}
DEVICE u32x2 load8(const void *from) {
    return __builtin_bit_cast(u32x2, *(const amd_u32x2 *)from);
}
DEVICE u32 load4(const void *from) { return *(const u32 *)from; }
DEVICE u32x4 load16_stream(const void *from) {
    return __builtin_bit_cast(u32x4, __builtin_nontemporal_load((const amd_u32x4 *)from));
}
DEVICE u32x2 load8_stream(const void *from) {
    return __builtin_bit_cast(u32x2, __builtin_nontemporal_load((const amd_u32x2 *)from));
}
DEVICE u32 load4_stream(const void *from) {
    return __builtin_nontemporal_load((const u32 *)from);
}
DEVICE u32x4 load16_constant(const void *from) { return load16(from); }
DEVICE u32x2 load8_constant(const void *from) { return load8(from); }
DEVICE u32 load4_constant(const void *from) { return load4(from); }
DEVICE void store16(void *to, u32x4 value) {
    *(amd_u32x4 *)to = __builtin_bit_cast(amd_u32x4, value);
}
DEVICE void store8(void *to, u32x2 value) {
    *(amd_u32x2 *)to = __builtin_bit_cast(amd_u32x2, value);
}
// Not read again soon by this device.
DEVICE void store16_stream(void *to, u32x4 value) {
    __builtin_nontemporal_store(__builtin_bit_cast(amd_u32x4, value), (amd_u32x4 *)to);
}

// To global memory, where the compiler may not see that `to` is an address of it: flat stores count as LDS's, too.
DEVICE void store_global(f32 *to, f32 value) {
    *(__attribute__((address_space(1))) f32 *)to = value;
}

// The asm keeps the compiler from fusing it with an addition.
DEVICE f32 product(f32 a, f32 b) {
    f32 p = a * b;
    asm("" : "+v"(p));
    return p;
}

DEVICE u32 atomic_add(u32 *to, u32 value) {
    return __hip_atomic_fetch_add(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE u64 atomic_add(u64 *to, u64 value) {
    return __hip_atomic_fetch_add(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE u32 atomic_max(u32 *to, u32 value) {
    return __hip_atomic_fetch_max(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE u32 atomic_exchange(u32 *to, u32 value) {
    return __hip_atomic_exchange(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE u32 atomic_compare_exchange(u32 *to, u32 expected, u32 value) {
    __hip_atomic_compare_exchange_strong(to, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return expected;
}
DEVICE u32 atomic_add_acq_rel(u32 *to, u32 value) {
    release_device();
    return __hip_atomic_fetch_add(to, value, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE u32 load_acquire(const u32 *from) {
    return __hip_atomic_load(from, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
DEVICE void store_release(u32 *to, u32 value) {
    release_device();
    __hip_atomic_store(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// The compiler keeps loads in flight by itself; the copy is done when the barrier is passed.
DEVICE void copy16_async(void *shared, const void *global) { store16(shared, load16(global)); }
DEVICE void copy_commit() {}
template <int PENDING> DEVICE void copy_wait() {}
