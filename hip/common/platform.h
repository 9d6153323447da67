// What differs between the platforms, behind one set of names. Every kernel includes this file.
//
// AMD: clang for amdgcn, hiprtc. NVIDIA: clang for nvptx64, nvrtc. No header of either vendor is
// used. The two files included below define the same names:
//
//   KERNEL(threads)                     starts a kernel: KERNEL(256) void mlxrocm_op_types(...) {...}
//                                       `threads`: the largest block it is launched with
//   KERNEL_WAVES(threads, waves)        same, and registers are limited so that `waves` waves of 32
//                                       (64 on CDNA) fit on a SIMD of AMD (a quarter of an SM)
//   DEVICE (functions), METHOD (of structs), SHARED, DYNAMIC_SHARED(name), UNROLL, RESTRICT, CONSTANT_TABLE
//   PLATFORM_AMD | PLATFORM_NVIDIA      1 or 0
//   WAVE                                lanes of a wave: 64 on CDNA, else 32 (a constant expression)
//   HAS_DOT2 HAS_DOT4 HAS_BF16_DOT2     1 where one instruction does it (the functions always work)
//   thread_x() block_x() block_size_x() grid_blocks_x()   (and _y, _z), lane_id(), wave_id()
//   barrier()                           all threads of the block; shared and global writes visible
//   barrier_shared()                    the same of shared memory only: loads from global memory stay in flight
//   wave_barrier()                      the lanes of one wave; shared memory writes visible
//   fence_block() fence_device()        memory order without waiting (acquire and release)
//   shuffle_xor<M>(v) shuffle(v, lane) shuffle_down(v, n) broadcast(v, lane)   u32, i32, f32, f16x2
//   ballot(bool) -> wave_mask, uniform(u32) (value known equal in all lanes), popcount, leading_zeros
//   fast_exp2 fast_log2 fast_rcp fast_rsqrt fast_sqrt     about 1 ulp, denormals may be flushed
//   mul_add (fused), product (rounded: never fused), minimum, maximum (f32, u32, i32), round_down, round_even, absolute
//   to_f32(f16 | bf16), to_f16, to_bf16 (round to nearest even), and pairs: low, high, pack_f16x2,
//   pack_bf16x2, f16x2 arithmetic add, sub, mul, mul_add; dot2(f16x2 | bf16x2, same, f32)
//   dot4(u32 a, u32 b, i32 c)           c + sum of four products of signed bytes
//   load16 load8 load4, store16 store8  plain; load16_stream, load8_stream, load4_stream: read once
//                                       (weights); load16_constant...: not written by this kernel
//   store_global(to, f32)               to global memory, where the address may not show that
//   atomic_add, atomic_max, atomic_exchange, atomic_compare_exchange (u32, device scope, relaxed;
//   atomic_add also u64), atomic_add_acq_rel, load_acquire, store_release
//   copy16_async(shared, global), copy_commit(), copy_wait<N>()   asynchronous copy to shared memory
//   grid_dependency_wait(), grid_dependency_launch()   programmatic dependent launch; nothing on AMD
//   and_or(a, mask, b) = (a & mask) | b, byte_select, bits(x, offset, width)
#pragma once

#include "types.h"

#if defined(__AMDGCN__)
#define PLATFORM_AMD 1
#define PLATFORM_NVIDIA 0
#include "platform_amd.h"
#else
#define PLATFORM_AMD 0
#define PLATFORM_NVIDIA 1
#include "platform_nvidia.h"
#endif

#include "portable.h"
