// NVIDIA only: operands of matrix_product from shared memory.
#pragma once

#include "platform.h"

#if PLATFORM_NVIDIA
// Four matrices of 8 rows of 16 bytes; lane i names row i % 8 of matrix i / 8.
DEVICE void load_matrices(u32 *m, u32 shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(shared)
                 : "memory");
}
// The same, turned over.
DEVICE void load_matrices_turned(u32 *m, u32 shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(shared)
                 : "memory");
}
#endif
