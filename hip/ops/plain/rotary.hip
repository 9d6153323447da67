// Rotary position embedding that no attention has taken in: pair p of each head of row r turns by the
// angle of position[r]: (a, b) -> (a·cos − b·sin, a·sin + b·cos). x and out are [rows][heads][dim];
// `table` is [positions][pairs] of (cos, sin). Columns behind the pairs, and rows whose position is none
// of the table's (not used), stay as they are.
//
// Launch: 256 threads, a block a row.
#include "common/platform.h"

KERNEL(256) void mlxrocm_rotary_f32(const f32 *x, const u32 *position, const f32x2 *table, f32 *out,
                                    u32 positions, u32 heads, u32 dim, u32 pairs, u32 interleaved) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 at = position[block_x()], width = heads * dim;
    x += (u64)block_x() * width, out += (u64)block_x() * width;
    for (u32 c = thread_x(); c < width; c += 256) {
        const u32 column = c % dim, head = c - column;
        const bool turns = column < 2 * pairs && at < positions;
        const u32 pair = interleaved ? column / 2 : column % (pairs ? pairs : 1);
        const u32 low = head + (interleaved ? 2 * pair : pair), high = low + (interleaved ? 1 : pairs);
        f32 value = x[c];
        if (turns) {
            const f32x2 angle = table[(u64)at * pairs + pair];
            const f32 a = x[low], b = x[high];
            value = c == low ? a * angle.x - b * angle.y : a * angle.y + b * angle.x;
        }
        out[c] = value;
    }
}
