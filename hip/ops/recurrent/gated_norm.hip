// out[h][c] = x[h][c] · rsqrt(mean(x[h]²) + eps) · weight[c] · silu(z[h][c]), heads h of `dim` columns.
//
// Launch: 8 waves, each with a head of a row; grid (heads / 8).
#include "common/math.h"
#include "common/reduce.h"

#define NORM_WAVES 8
// Numbers that a lane holds meanwhile.
#define HELD 4

KERNEL(NORM_WAVES * WAVE) void mlxrocm_gated_norm_f32(const f32 *x, const f32 *weight, const f32 *z, f32 *out, u32 heads,
                                                      u32 dim, f32 eps) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 head = block_x() * NORM_WAVES + wave_id(), lane = lane_id();
    if (head >= heads) return;
    const u64 first = (u64)head * dim;
    x += first, z += first, out += first;
    f32 held[HELD], squares = 0.0f;
    for (u32 base = 0; base < dim; base += HELD * WAVE) {
        UNROLL for (u32 i = 0; i < HELD; i++) {
            const u32 c = base + i * WAVE + lane;
            held[i] = c < dim ? x[c] : 0.0f;
            squares = mul_add(held[i], held[i], squares);
        }
    }
    const f32 factor = fast_rsqrt(wave_sum(squares) / (f32)dim + eps);
    const bool is_held = dim <= HELD * WAVE;
    for (u32 base = 0; base < dim; base += HELD * WAVE) {
        UNROLL for (u32 i = 0; i < HELD; i++) {
            const u32 c = base + i * WAVE + lane;
            if (c < dim) out[c] = (is_held ? held[i] : x[c]) * factor * weight[c] * silu(z[c]);
        }
    }
}
