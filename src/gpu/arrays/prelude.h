// What an application's kernel on arrays sees of dtypes that HIP's language has no type of.
#if defined(__HIP_PLATFORM_AMD__) || defined(__AMDGCN__)
#define MLX_TO_HALF(bits, x) { union { _Float16 f; unsigned short u; } half_ = {(_Float16)(x)}; bits = half_.u; }
#define MLX_FROM_HALF(x, bits) { union { unsigned short u; _Float16 f; } half_ = {bits}; x = (float)half_.f; }
#else
#define MLX_TO_HALF(bits, x) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#define MLX_FROM_HALF(x, bits) asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
#endif
#define MLX_NUMBER(name)                                                                   \
    __device__ name &operator+=(float x) { return *this = name((float)*this + x); }        \
    __device__ name &operator-=(float x) { return *this = name((float)*this - x); }        \
    __device__ name &operator*=(float x) { return *this = name((float)*this * x); }        \
    __device__ name &operator/=(float x) { return *this = name((float)*this / x); }
// 16-bit numbers: computed with as float, rounded to nearest when stored.
struct float16 {
    unsigned short bits;
    float16() = default;
    __device__ float16(float x) { MLX_TO_HALF(bits, x) }
    __device__ operator float() const { float x; MLX_FROM_HALF(x, bits) return x; }
    MLX_NUMBER(float16)
};
struct bfloat16 {
    unsigned short bits;
    bfloat16() = default;
    __device__ bfloat16(float x) {
        union { float f; unsigned u; } word = {x};
        const unsigned rounded = (word.u + 0x7fff + (word.u >> 16 & 1)) >> 16;
        bits = (unsigned short)(x == x ? rounded : word.u >> 16 | 0x40);
    }
    __device__ operator float() const {
        union { unsigned u; float f; } word = {(unsigned)bits << 16};
        return word.f;
    }
    MLX_NUMBER(bfloat16)
};
struct complex64 {
    float real, imag;
};
#undef MLX_TO_HALF
#undef MLX_FROM_HALF
#undef MLX_NUMBER
