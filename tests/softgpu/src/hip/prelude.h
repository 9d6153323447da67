// What hiprtc gives every source without an include: keywords and index built-ins.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

typedef __SIZE_TYPE__ size_t;

struct softgpu_thread_index {
    struct X { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); } };
    struct Y { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_y(); } };
    struct Z { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_z(); } };
    X x; Y y; Z z;
};
struct softgpu_block_index {
    struct X { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_x(); } };
    struct Y { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_y(); } };
    struct Z { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_z(); } };
    X x; Y y; Z z;
};
struct softgpu_block_size {
    struct X { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_x(); } };
    struct Y { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_y(); } };
    struct Z { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_z(); } };
    X x; Y y; Z z;
};
struct softgpu_grid_size {
    struct X { __device__ operator unsigned() const {
        return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(); } };
    struct Y { __device__ operator unsigned() const {
        return __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(); } };
    struct Z { __device__ operator unsigned() const {
        return __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z(); } };
    X x; Y y; Z z;
};
static constexpr __device__ softgpu_thread_index threadIdx{};
static constexpr __device__ softgpu_block_index blockIdx{};
static constexpr __device__ softgpu_block_size blockDim{};
static constexpr __device__ softgpu_grid_size gridDim{};

static __device__ inline void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
