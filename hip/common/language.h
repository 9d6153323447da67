// The words of HIP's language for an application's own kernels, where a compiler has no vendor
// header (plain clang; hiprtc and nvrtc define these themselves). The built-in kernels do not use it.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

#define MLX_INLINE static __attribute__((device, always_inline)) inline

#if defined(__AMDGCN__)
#define MLX_INDEX(axis, amd, nvidia) MLX_INLINE unsigned mlx_##nvidia##_##axis() { return __builtin_amdgcn_##amd##_##axis(); }
MLX_INDEX(x, workitem_id, tid) MLX_INDEX(y, workitem_id, tid) MLX_INDEX(z, workitem_id, tid)
MLX_INDEX(x, workgroup_id, ctaid) MLX_INDEX(y, workgroup_id, ctaid) MLX_INDEX(z, workgroup_id, ctaid)
MLX_INDEX(x, workgroup_size, ntid) MLX_INDEX(y, workgroup_size, ntid) MLX_INDEX(z, workgroup_size, ntid)
// The hidden arguments of code object version 5 begin with the block counts.
#define MLX_COUNT(axis, number) MLX_INLINE unsigned mlx_nctaid_##axis() { return ((const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr())[number]; }
MLX_COUNT(x, 0) MLX_COUNT(y, 1) MLX_COUNT(z, 2)
MLX_INLINE void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
MLX_INLINE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent"); }
MLX_INLINE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }
template <typename T> MLX_INLINE T mlx_add(T *to, T value) {
    return __hip_atomic_fetch_add(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
#else
#define MLX_INDEX(axis, nvidia) MLX_INLINE unsigned mlx_##nvidia##_##axis() { return (unsigned)__nvvm_read_ptx_sreg_##nvidia##_##axis(); }
MLX_INDEX(x, tid) MLX_INDEX(y, tid) MLX_INDEX(z, tid)
MLX_INDEX(x, ctaid) MLX_INDEX(y, ctaid) MLX_INDEX(z, ctaid)
MLX_INDEX(x, ntid) MLX_INDEX(y, ntid) MLX_INDEX(z, ntid)
MLX_INDEX(x, nctaid) MLX_INDEX(y, nctaid) MLX_INDEX(z, nctaid)
MLX_INLINE void __threadfence() { __nvvm_membar_gl(); }
MLX_INLINE void __threadfence_block() { __nvvm_membar_cta(); }
template <typename T> MLX_INLINE T mlx_add(T *to, T value) { return __atomic_fetch_add(to, value, __ATOMIC_RELAXED); }
#endif
#undef MLX_INDEX
#undef MLX_COUNT

// threadIdx.x and its kin read registers: fields that are functions.
#define MLX_TRIPLE(name, register)                                                       \
    struct mlx_##name {                                                                  \
        __declspec(property(get = get_x)) unsigned x;                                    \
        __declspec(property(get = get_y)) unsigned y;                                    \
        __declspec(property(get = get_z)) unsigned z;                                    \
        MLX_INLINE unsigned get_x() { return mlx_##register##_x(); }                     \
        MLX_INLINE unsigned get_y() { return mlx_##register##_y(); }                     \
        MLX_INLINE unsigned get_z() { return mlx_##register##_z(); }                     \
    };                                                                                   \
    extern const __attribute__((device, weak)) mlx_##name name;
MLX_TRIPLE(threadIdx, tid)
MLX_TRIPLE(blockIdx, ctaid)
MLX_TRIPLE(blockDim, ntid)
MLX_TRIPLE(gridDim, nctaid)
#undef MLX_TRIPLE

MLX_INLINE int atomicAdd(int *to, int value) { return mlx_add(to, value); }
MLX_INLINE unsigned atomicAdd(unsigned *to, unsigned value) { return mlx_add(to, value); }

MLX_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
MLX_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MLX_INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
MLX_INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
MLX_INLINE float floorf(float x) { return __builtin_floorf(x); }
MLX_INLINE float ceilf(float x) { return __builtin_ceilf(x); }
MLX_INLINE float rintf(float x) { return __builtin_rintf(x); }
MLX_INLINE float sqrtf(float x) { return __builtin_sqrtf(x); }
MLX_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
#if defined(__AMDGCN__)
MLX_INLINE float expf(float x) { return __builtin_expf(x); }
MLX_INLINE float exp2f(float x) { return __builtin_exp2f(x); }
MLX_INLINE float logf(float x) { return __builtin_logf(x); }
MLX_INLINE float log2f(float x) { return __builtin_log2f(x); }
#endif
MLX_INLINE int min(int a, int b) { return a < b ? a : b; }
MLX_INLINE int max(int a, int b) { return a > b ? a : b; }
MLX_INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
MLX_INLINE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
