// Convolutions (convolution.h) in f16 and bf16 by the matrix unit of NVIDIA's compute capability 9.0, as products whose left
// matrix is not there (product_warpgroup.h): a row is a place of out, its columns are taps and channels. A group's channels and
// results are multiples of 8, x has fewer than 2^31 numbers and no gaps (input dilation), there are at most 32 taps of all
// axes together.
//
// Launch: as product_warpgroup.h; tiles of a group after those of another.
#include "convolution.h"
#include "product_warpgroup.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

// The pieces of 16 bytes that a thread copies: of eight rows, at the same tap and channel.
struct LeftPlaces {
    static constexpr bool STORES = false;
    static constexpr u32 ROWS = 8;
    const Convolution &c;
    const u16 *x;
    u16 *result;
    u32 rows;
    // Of a row: its place at the first tap; for each axis a bit for each tap that meets x.
    u32 places[ROWS], seen[ROWS]; // places may be before x
    const u16 *of_group;
    u32 to_piece, channel, t0, t1, t2;

    static METHOD u32 taps_of(i32 first, u32 taps, u32 dilation, u32 size) {
        u32 bits = 0;
        for (u32 t = 0; t < taps; t++) bits |= (u32)(first + (i32)(t * dilation)) < size ? 1u << t : 0;
        return bits;
    }
    METHOD void begin(u32 z, u32 first_row, u32 thread) {
        to_piece = thread / 8 * 128 + (thread % 8 ^ thread / 8 % 8) * 16;
        of_group = x + z * c.group_channels();
        channel = thread % 8 * 8, t0 = t1 = t2 = 0;
        wrap();
        UNROLL for (u32 i = 0; i < ROWS; i++) {
            const u32 row = first_row + thread / 8 + 16 * i, r2 = row / c.o2, r1 = r2 / c.o1, image = r1 / c.o0;
            const i32 p0 = (i32)(r1 % c.o0 * c.s0) - c.l0, p1 = (i32)(r2 % c.o1 * c.s1) - c.l1, p2 = (i32)(row % c.o2 * c.s2) - c.l2;
            places[i] = (((image * c.x0 + (u32)p0) * c.x1 + (u32)p1) * c.x2 + (u32)p2) * c.channels;
            seen[i] = row >= rows ? 0
                                  : taps_of(p0, c.k0, c.d0, c.x0) | taps_of(p1, c.k1, c.d1, c.x1) << c.k0 |
                                        taps_of(p2, c.k2, c.d2, c.x2) << (c.k0 + c.k1);
        }
    }
    // The channels of a tap come before the next tap's.
    METHOD void wrap() {
        const u32 channels = c.group_channels();
        while (channel >= channels) {
            channel -= channels;
            if (++t2 == c.k2) {
                t2 = 0;
                if (++t1 == c.k1) t1 = 0, t0++;
            }
        }
    }
    METHOD void copy(u32 to) {
        const u32 u0 = c.flip ? c.k0 - 1 - t0 : t0, u1 = c.flip ? c.k1 - 1 - t1 : t1, u2 = c.flip ? c.k2 - 1 - t2 : t2;
        // Past the last tap no row has what is needed.
        const u32 needed = t0 < c.k0 ? 1u << u0 | 1u << (c.k0 + u1) | 1u << (c.k0 + c.k1 + u2) : ~0u;
        const u32 at = ((u0 * c.d0 * c.x1 + u1 * c.d1) * c.x2 + u2 * c.d2) * c.channels + channel;
        to += to_piece;
        UNROLL for (u32 i = 0; i < ROWS; i++) {
            const bool there = t0 < c.k0 && (seen[i] & needed) == needed;
            copy16_or_zero(to + 2048 * i, there ? of_group + (places[i] + at) : x, there);
        }
        channel += STEP;
        wrap();
    }
    METHOD u16 *out(u32 z, u32 r) const { return result + (u64)r * c.width + z * c.group_width(); }
};

#define CONVOLUTION_KERNEL(NAME, COLUMNS, STAGES, IS_BF16)                                                       \
    KERNEL_WAVES(384, 3) void NAME(CONVOLUTION_PARAMETERS) {                                                     \
        DYNAMIC_SHARED(memory);                                                                                  \
        const Convolution c = CONVOLUTION_ARGUMENTS;                                                             \
        const u32 base = (shared_address(memory) + 1023) / 1024 * 1024, down = divide_up(rows, 128);             \
        Product p = {};                                                                                          \
        p.right = w, p.m = rows, p.n = c.group_width(), p.k = c.taps() * c.group_channels(), p.across = across;  \
        p.b1 = 1, p.b2 = groups, p.right_stride = p.k, p.r2 = (i64)p.n * p.k, p.alpha = 1.0f;                    \
        const LeftPlaces left = {c, (const u16 *)x, (u16 *)out, rows, {}, {}, nullptr, 0, 0, 0, 0, 0};           \
        Warpgroups<COLUMNS, STAGES, IS_BF16, 0, LeftPlaces>{p, left, base, down, across * down * groups,         \
                                                            divide_up(p.k, STEP)}.run();                         \
        (void)dtype;                                                                                             \
    }
CONVOLUTION_KERNEL(mlxrocm_array_convolution_warpgroup_256_f16, 256, 4, false)
CONVOLUTION_KERNEL(mlxrocm_array_convolution_warpgroup_128_f16, 128, 6, false)
CONVOLUTION_KERNEL(mlxrocm_array_convolution_warpgroup_256_bf16, 256, 4, true)
CONVOLUTION_KERNEL(mlxrocm_array_convolution_warpgroup_128_bf16, 128, 6, true)
#endif
