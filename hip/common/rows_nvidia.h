// NVIDIA's compute capability 9.0 only: sums of a warp's 16 rows, as warpgroup_nvidia.h has them, to memory in 16 bits. By way of
// shared memory eight lanes store 128 bytes that follow each other (of 32 columns four lanes 64 bytes): a lane's own sums are pairs.
#pragma once

#include "platform.h"

// What a warp's sums take on the way, of 64 columns at a time; half of it where columns are an odd number of 32s.
#define STAGED_BYTES 2048

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr u32 staged_bytes(u32 columns) { return columns % 64 == 0 ? STAGED_BYTES : STAGED_BYTES / 2; }

// `staged`: an address of staged_bytes of shared memory, the warp's own, a multiple of 16. pack(a, b): two numbers as a word.
// to(row, column): where eight numbers go, null: nowhere.
template <u32 COLUMNS, typename PACK, typename TO> DEVICE void store_rows(const f32 *c, u32 staged, const PACK &pack, const TO &to) {
    constexpr u32 PIECES = COLUMNS % 64 == 0 ? 8 : 4;
    // Eight rows' pieces lie in different banks.
    auto place = [&](u32 row, u32 piece) {
        return staged + row * PIECES * 16 + (piece ^ (PIECES == 8 ? row % 8 : row / 2 % 4)) * 16;
    };
    const u32 lane = lane_id();
    UNROLL for (u32 first = 0; first < COLUMNS / 8; first += PIECES) {
        UNROLL for (u32 piece = 0; piece < PIECES; piece += 2) {
            const f32 *v = c + (first + piece) * 4;
            const u32 w[4] = {pack(v[0], v[1]), pack(v[2], v[3]), pack(v[4], v[5]), pack(v[6], v[7])};
            // Four matrices of 8 by 8: both halves of the rows, of two pieces.
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(place(lane % 16, piece + lane / 16)),
                         "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                         : "memory");
        }
        asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
        UNROLL for (u32 i = 0; i < PIECES / 2; i++) {
            const u32 row = (i * 32 + lane) / PIECES, piece = lane % PIECES;
            u32 v[4];
            asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                         : "r"(place(row, piece)));
            u16 *out = to(row, (first + piece) * 8);
            if (out) store16(out, u32x4{v[0], v[1], v[2], v[3]});
        }
        asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    }
}
#endif
