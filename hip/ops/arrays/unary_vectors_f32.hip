// out[i] = f(x[i]) of f32, 16 bytes at a time, for the functions that programs use most: vectors.h says how x may lie. f is
// the same for the whole launch, and known where the elements are computed.
//
// Launch: 256 threads, a block 1024 elements of out for each of F32_GROUPS.
#include "unary_vectors.h"

KERNEL(256) void mlxrocm_array_unary_f32(UNARY_VECTORS) { UNARY_CASES(F32) }
