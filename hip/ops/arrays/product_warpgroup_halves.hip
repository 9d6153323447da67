// Products of f32 matrices of numbers rounded to f16 (product_halves.h), by NVIDIA's warpgroups (product_warpgroup.h).
#include "product_halves.h"
#include "product_warpgroup.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct LeftHalves : LeftMatrix {
    static constexpr bool STORES = true;
    const i32 *left_powers, *right_powers;

    // Sums of a warp's 16 rows.
    template <u32 COLUMNS> METHOD void store(const f32 *c, u32 z, u32 first_row, u32 first_column) const {
        const u32 row = first_row + lane_id() / 4, column = first_column + lane_id() % 4 * 2;
        const Powers powers(p, left_powers, right_powers, z);
        const i64 of_plus = p.plus_offset(z);
        UNROLL for (u32 half = 0; half < 2; half++) {
            const u32 r = row + half * 8;
            if (r >= p.m) continue;
            const i32 of_row = powers.left[r];
            f32 *out = (f32 *)p.out + ((i64)z * p.m + r) * p.n;
            UNROLL for (u32 i = 0; i < COLUMNS / 8; i++) {
                const u32 o = column + i * 8;
                if (o >= p.n) continue;
                f32 v[2];
                UNROLL for (u32 j = 0; j < 2; j++) {
                    v[j] = p.alpha * taken_back(c[i * 4 + half * 2 + j], of_row + powers.right[o + j]);
                    if (p.beta != 0.0f) v[j] += p.beta * ((const f32 *)p.plus)[of_plus + r * p.plus_row + (o + j) * p.plus_column];
                }
                store8(out + o, u32x2{f32_bits(v[0]), f32_bits(v[1])});
            }
        }
    }
};

#define HALVES_KERNEL(NAME, COLUMNS, STAGES, ACROSS)                                                               \
    KERNEL_WAVES(384, 3) void NAME(PRODUCT_PARAMETERS, const i32 *left_powers, const i32 *right_powers) {         \
        DYNAMIC_SHARED(memory);                                                                                    \
        const Product p = PRODUCT_ARGUMENTS;                                                                       \
        const u32 base = (shared_address(memory) + 1023) / 1024 * 1024, down = divide_up(m, 128);                  \
        Warpgroups<COLUMNS, STAGES, false, ACROSS, LeftHalves>{                                                    \
            p, {{p, nullptr, 0, 0, 0}, left_powers, right_powers}, base, down, across * down * group,              \
            alpha == 0.0f ? 0 : divide_up(k, STEP)}.run();                                                         \
    }
HALVES_KERNEL(mlxrocm_array_product_warpgroup_256_halves_f32, 256, 4, 0)
HALVES_KERNEL(mlxrocm_array_product_warpgroup_128_halves_f32, 128, 6, 0)
HALVES_KERNEL(mlxrocm_array_product_warpgroup_256_across_halves_f32, 256, 4, 1)
HALVES_KERNEL(mlxrocm_array_product_warpgroup_128_across_halves_f32, 128, 6, 1)
#endif
