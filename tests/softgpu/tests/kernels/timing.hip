// Kernels whose time is easy to say: see tests/timing.rs.
#include "device.h"

typedef float float4_t __attribute__((ext_vector_type(4)));

__device__ static void read_four(const float4_t* x, float* y, int first, int threads) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        const float4_t v = x[first + i * threads];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 1.0f) y[first] = sum;
}

KERNEL read(const float4_t* x, float* y, int threads, int) {
    read_four(x, y, (int)(BID * BDIM + TID), threads);
}

KERNEL read_scattered(const float4_t* x, float* y, int threads, int) {
    const int blocks = threads / (int)BDIM;
    const int block = (int)BID * 7 % blocks;
    read_four(x, y, block * (int)BDIM + (int)TID, threads);
}

extern __shared__ float words[];

KERNEL banks(const float* x, float* y, int stride, int n) {
    // Each wave of 32 has its own words.
    const int at = (int)TID / 32 * 1024 + (int)TID % 32 * stride;
    words[at] = x[(int)TID];
    sync();
    float sum = 0;
#pragma unroll 8
    for (int i = 0; i < n; i++) {
        // Else the word would stay in its register.
        asm volatile("" ::: "memory");
        sum += words[at];
    }
    if (sum == 1.0f) y[(int)TID] = sum;
}

KERNEL arithmetic(const float* x, float* y, int n, int) {
    float a[8];
    for (int j = 0; j < 8; j++) a[j] = x[(int)TID + j];
    const float b = x[0];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++) a[j] = a[j] * b + b;
    float sum = 0;
    for (int j = 0; j < 8; j++) sum += a[j];
    if (sum == 1.0f) y[(int)TID] = sum;
}
