#include "device.h"

KERNEL vadd(const float *a, const float *b, float *c, int n) {
    int i = BID * BDIM + TID;
    if (i < n) c[i] = a[i] + b[i];
}

KERNEL reduce(const float *a, float *out, int n) {
    __shared__ float s[256];
    int t = TID;
    float x = 0;
    for (int i = t; i < n; i += 256) x += a[BID * n + i];
    s[t] = x;
    sync();
    for (int k = 128; k; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        sync();
    }
    if (t == 0) out[BID] = s[0];
}

// Transcendentals, division, f64, private memory with dynamic index.
KERNEL misc(float *a, double *d, int n) {
    int i = BID * BDIM + TID;
    float x = a[i];
    float y = __builtin_expf(x) / __builtin_sqrtf(x + 2.f) + __builtin_logf(x * x + 1.f);
    d[i] = d[i] / 3.0 + __builtin_sqrt(d[i]);
    float buf[20];
    for (int k = 0; k < 20; k++) buf[k] = y * k;
    buf[n & 15] = 3;
    float q = 0;
    for (int k = 0; k < 20; k++) q += buf[(k * n) % 20] * (k + 1);
    a[i] = y + q;
}

KERNEL atomics(u32 *counts, float *sum, const float *a, u32 *order) {
    int i = BID * BDIM + TID;
    __atomic_fetch_add(&counts[i % 5], 1u, __ATOMIC_RELAXED);
    __hip_atomic_fetch_add(sum, a[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    u32 k = __hip_atomic_fetch_add(&counts[7], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    order[k] = i;
    u32 expected = counts[8];
    while (!__atomic_compare_exchange_n(&counts[8], &expected, expected * 3 + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

// 4-bit rows, groups of 64 with bf16 scale and bias: one wave a row.
KERNEL gemv4(const u32 *w, const u16 *scales, const u16 *biases, const u16 *x, float *y, int k) {
    int lanes = __builtin_amdgcn_wavefrontsize();
    int row = BID * (BDIM / lanes) + TID / lanes, lane = TID % lanes;
    float sum = 0;
    for (int g = lane; g < k / 8; g += lanes) {
        u32 q = w[row * (k / 8) + g];
        int group = g / 8;
        float s = bf16(scales[row * (k / 64) + group]), b = bf16(biases[row * (k / 64) + group]);
        float dot = 0, xs = 0;
        for (int j = 0; j < 8; j++) {
            float v = bf16(x[g * 8 + j]);
            dot += v * (float)(q >> (4 * j) & 15);
            xs += v;
        }
        sum += s * dot + b * xs;
    }
    for (int m = lanes / 2; m; m >>= 1)
        sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((TID ^ m) << 2, __builtin_bit_cast(int, sum)));
    if (lane == 0) y[row] = sum;
}

__device__ __attribute__((noinline)) int collatz(int n, int depth) {
    if (n <= 1 || depth > 500) return depth;
    return collatz(n & 1 ? 3 * n + 1 : n / 2, depth + 1);
}
KERNEL calls(int *a) { a[TID] = collatz(a[TID], 0); }

// Bad ones.
KERNEL no_barrier(float *out) {
    __shared__ float s[128];
    s[TID] = TID;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    out[TID] = s[127 - TID];
}
KERNEL diverge(float *out, int n) {
    if ((int)TID < n) { sync(); out[TID] = 1; }
    else out[TID] = 2;
}
KERNEL beyond(float *out, int n) { out[TID + n] = 1; }
KERNEL copy(const float *in, float *out) { out[TID] = in[TID]; }
KERNEL forever(int *a) { while (__atomic_load_n(a, __ATOMIC_RELAXED) == 0) {} }
KERNEL global_race(int *a) { a[0] = TID + BID; }
KERNEL lds_over(float *out, int i) { __shared__ float s[64]; s[TID] = 1; s[i] = 2; sync(); out[TID] = s[63 - TID]; }
// The second block's lanes from number -n on meet the first block's.
KERNEL meet(int *a, int n) { a[(BID ? n : 0) + (int)TID] = TID; }
KERNEL meet_short(u16 *a, int n) { a[(BID ? n : 0) + (int)TID] = TID; }
// One word that nobody wrote, or that the other wave wrote, among those that a wave reads.
KERNEL lds_hole(float *out, int hole) {
    __shared__ float s[256];
    if ((int)TID != hole) s[TID] = TID;
    sync();
    out[TID] = s[TID];
}
KERNEL lds_meet(float *out, int n) {
    __shared__ float s[256];
    s[TID] = 0;
    s[128 + TID] = 0;
    sync();
    int i = (int)TID < 64 ? (int)TID : n - ((int)TID - 64);
    s[i] = TID;
    sync();
    out[TID] = s[255 - TID];
}
KERNEL neighbours(u16 *a) { u16 v = a[TID + 1]; a[TID] = v + 1; }

// The last workgroup to arrive adds the parts of all: ordered by the ticket.
KERNEL last_block(const float *a, float *parts, float *out, u32 *ticket) {
    __shared__ float s[128];
    __shared__ u32 mine;
    s[TID] = a[BID * 128 + TID];
    sync();
    for (int k = 64; k; k >>= 1) {
        if ((int)TID < k) s[TID] += s[TID + k];
        sync();
    }
    if (TID == 0) {
        parts[BID] = s[0];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
        mine = __hip_atomic_fetch_add(ticket, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    }
    sync();
    if (mine == 15 && TID == 0) {
        float sum = 0;
        for (int i = 0; i < 16; i++) sum += parts[i];
        *out = sum;
    }
}
KERNEL halfwords(u16 *a) { int i = (BID * 128 + (TID * 37) % 128); a[i] = i; }

// Pointers whose address space only the run knows: global, LDS and private memory, atomics too.
KERNEL generic(int *a, int n) {
    __shared__ int s[64];
    int own[4] = {1, 2, 3, 4};
    s[TID] = 100 + TID;
    sync();
    int *p = n & 1 ? s : a, *q = n & 2 ? own : a + 64;
    p[TID] += q[(TID + n) & 3];
    sync();
    int old = __hip_atomic_fetch_add(p + 63 - TID, 1000, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    own[TID & 3] += old;
    sync();
    a[128 + TID] = p[TID] + own[TID & 3];
}
