// Unquantized rows to the rows of whole tiles: as they are, rows past the matrix zero; `peak` is raised to the largest
// absolute value (see pack.h, whose arguments these are: `kind` is 0 for f16, 1 for bf16, 2 for f32, as in the pairs of
// enum Scales).
//
// Launch: 256 threads; grid: rows of all tiles, a block each.
#include "pack.h"

template <typename T, typename To> DEVICE f32 copy_row(const u8 *from, u8 *to, u32 cols, To to_number) {
    f32 most = 0.0f;
    for (u32 col = thread_x(); col < cols; col += 256) {
        const T bits = from ? ((const T *)from)[col] : 0;
        ((T *)to)[col] = bits;
        most = maximum(most, absolute(to_number(bits)));
    }
    return most;
}

KERNEL(256) void mlxrocm_pack_dense(const u8 *data, const u8 *, const u8 *, u32 *peak, u8 *out, u32 rows, u32 cols, u32,
                                    u32 step, u32 stride, u32, u32 run, u32 jump, u32 kind, u32) {
    const u32 row = block_x(), tile = row / TILE_ROWS;
    const u64 bytes = (u64)cols * (kind == PAIR_F32 ? 4 : 2);
    const u8 *from = row < rows ? data + (u64)(row / run * jump + row % run) * stride : nullptr;
    u8 *to = out + ((u64)tile * step * TILE_ROWS + row % TILE_ROWS) * bytes;
    f32 most;
    if (kind == PAIR_F32) {
        most = copy_row<u32>(from, to, cols, [](u32 bits) { return bits_f32(bits); });
    } else if (kind == PAIR_F16) {
        most = copy_row<u16>(from, to, cols, [](u32 bits) { return low(f16x2{bits}); });
    } else {
        most = copy_row<u16>(from, to, cols, [](u32 bits) { return bits_f32(bits << 16); });
    }
    most = wave_max(most);
    if (lane_id() == 0 && most > 0.0f) atomic_max(peak, f32_bits(most));
}
