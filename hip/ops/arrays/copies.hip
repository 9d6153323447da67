// out[row][c] = x[row][c]: rows of elements side by side, in units of 16 or 4 bytes, each row wherever it is. Parts of
// arrays that are cut out, put together, repeated.
// transpose: out[o][p][r][c] = x at o · x_outer + p · x_inner + r + c · x_column: what lies side by side along r is written
// side by side along c, through shared memory: elements of 4 bytes, or pairs of 2 bytes.
// take_rows: out[j][c] = x[index[j]][c] in units of 16 bytes; indices as in gather.hip.
//
// Launch: copy_rows, take_rows: 256 threads, a block 1024 units. transpose: 256 threads, grid (tiles of c, tiles of r, outer · inner), a
// tile 64 x 64 (pairs) or 32 x 64 elements, so that 8 loads are on their way.
#include "dtype.h"

#define ROWS const void *x, void *out, u32 count, u32 columns, i32 x_row, i32 out_row
template <typename Unit, Unit (*load)(const void *)> DEVICE void copy_rows(ROWS) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * 1024 + thread_x();
    Unit units[4];
    i64 to[4];
    UNROLL for (u32 j = 0; j < 4; j++) {
        const u32 at = minimum(first + j * 256, count - 1), row = at / columns, column = at - row * columns;
        units[j] = load((const Unit *)x + (i64)row * x_row + column);
        to[j] = (i64)row * out_row + column;
    }
    UNROLL for (u32 j = 0; j < 4; j++)
        if (first + j * 256 < count) ((Unit *)out)[to[j]] = units[j];
}
KERNEL(256) void mlxrocm_array_copy_rows_16(ROWS) { copy_rows<u32x4, load16>(x, out, count, columns, x_row, out_row); }
KERNEL(256) void mlxrocm_array_copy_rows_4(ROWS) { copy_rows<u32, load4>(x, out, count, columns, x_row, out_row); }

KERNEL(256) void mlxrocm_array_take_rows_16(const void *x, const void *index, void *out, u32 count, u32 columns, u32 index_dtype,
                                            u32 limit, i32 x_row) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * 1024 + thread_x();
    i64 from[4];
    u32x4 units[4];
    UNROLL for (u32 j = 0; j < 4; j++) {
        const u32 at = minimum(first + j * 256, count - 1), row = at / columns;
        i64 place = load_whole(index, row, index_dtype);
        if (index_dtype == U64 && place < 0) place = limit;
        if (place < 0) place += limit;
        place = place < 0 ? 0 : place >= (i64)limit ? (i64)limit - 1 : place;
        from[j] = place * x_row + (at - row * columns);
    }
    UNROLL for (u32 j = 0; j < 4; j++) units[j] = load16((const u32x4 *)x + from[j]);
    UNROLL for (u32 j = 0; j < 4; j++)
        if (first + j * 256 < count) store16((u32x4 *)out + first + j * 256, units[j]);
}

#define TRANSPOSED                                                                                                  \
    const void *x, void *out, u32 rows, u32 columns, u32 inner, i64 x_outer, i64 x_inner, i64 x_column, i64 out_outer, \
        i64 out_inner, i64 out_row

KERNEL(256) void mlxrocm_array_transpose_4(TRANSPOSED) {
    SHARED u32 tile[64][33];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 c0 = block_x() * 64, r0 = block_y() * 32, outer = block_z() / inner, middle = block_z() % inner;
    const u32 *from = (const u32 *)x + outer * x_outer + middle * x_inner;
    u32 *to = (u32 *)out + outer * out_outer + middle * out_inner;
    const u32 r = thread_x() % 32, c = thread_x() / 32;
    u32 units[8];
    UNROLL for (u32 j = 0; j < 8; j++)
        units[j] = from[minimum(r0 + r, rows - 1) + minimum(c0 + c + 8 * j, columns - 1) * x_column];
    UNROLL for (u32 j = 0; j < 8; j++) tile[c + 8 * j][r] = units[j];
    barrier();
    const u32 column = thread_x() % 64, row = thread_x() / 64;
    UNROLL for (u32 j = 0; j < 8; j++)
        if (c0 + column < columns && r0 + row + 4 * j < rows)
            to[(r0 + row + 4 * j) * out_row + c0 + column] = tile[column][row + 4 * j];
}

// Rows and columns in pairs: their numbers and steps are even.
KERNEL(256) void mlxrocm_array_transpose_2(TRANSPOSED) {
    SHARED u32 tile[64][33];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 c0 = block_x() * 64, r0 = block_y() * 64, outer = block_z() / inner, middle = block_z() % inner;
    const u16 *from = (const u16 *)x + outer * x_outer + middle * x_inner;
    u16 *to = (u16 *)out + outer * out_outer + middle * out_inner;
    const u32 pair = thread_x() % 32, c = thread_x() / 32;
    u32 units[8];
    UNROLL for (u32 j = 0; j < 8; j++)
        units[j] = *(const u32 *)(from + minimum(r0 + 2 * pair, rows - 2) + minimum(c0 + c + 8 * j, columns - 1) * x_column);
    UNROLL for (u32 j = 0; j < 8; j++) tile[c + 8 * j][pair] = units[j];
    barrier();
    // Two rows and two columns become two columns of two rows.
    UNROLL for (u32 j = 0; j < 4; j++) {
        const u32 row = 2 * (c + 8 * j), column = 2 * pair;
        const u32 left = tile[column][c + 8 * j], right = tile[column + 1][c + 8 * j];
        if (c0 + column < columns && r0 + row < rows) {
            *(u32 *)(to + (r0 + row) * out_row + c0 + column) = (left & 0xffffu) | right << 16;
            *(u32 *)(to + (r0 + row + 1) * out_row + c0 + column) = left >> 16 | (right & 0xffff0000u);
        }
    }
}
