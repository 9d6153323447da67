// The products of rows_dense.hip, of matrices whose rows are whole pieces of 16 bytes, with one row (r1) or up to 4 or 8 at once:
// the same arguments and epilogues, all arithmetic in f32. Launch: rows_pieces_amd.h, rows_pieces_nvidia.h.
#include "ops/matmul/rows_pieces_amd.h"
#include "ops/matmul/rows_pieces_nvidia.h"

PIECES_KERNEL(mlxrocm_matmul_rows_f32_r1, f32, 1)
PIECES_KERNEL(mlxrocm_matmul_rows_f32_r4, f32, FOUR_ROWS)
PIECES_KERNEL(mlxrocm_matmul_rows_f32_r8, f32, 8)
PIECES_KERNEL(mlxrocm_matmul_rows_f16_r1, f16, 1)
PIECES_KERNEL(mlxrocm_matmul_rows_f16_r4, f16, FOUR_ROWS)
PIECES_KERNEL(mlxrocm_matmul_rows_f16_r8, f16, 8)
PIECES_KERNEL(mlxrocm_matmul_rows_bf16_r1, bf16, 1)
PIECES_KERNEL(mlxrocm_matmul_rows_bf16_r4, bf16, FOUR_ROWS)
PIECES_KERNEL(mlxrocm_matmul_rows_bf16_r8, bf16, 8)
