// out[i] = f(x[i]) of bf16, 16 bytes at a time, for the functions that programs use most: vectors.h says how x may lie. f is
// the same for the whole launch, and known where the elements are computed.
//
// Launch: 256 threads, a block 4096 elements of out.
#include "unary_vectors.h"

KERNEL(256) void mlxrocm_array_unary_bf16(UNARY_VECTORS) { UNARY_CASES(BF16) }
