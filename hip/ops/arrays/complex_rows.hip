// softmax of rows of `columns` complex numbers, one after the other in x and out: out[c] = exp(x[c] - max) / Σ exp(x[c] - max),
// max by the real, then the imaginary part. Sums are made in the same order always.
//
// Launch: 256 threads, a block a row.
#include "complex.h"

// The numbers of all threads as one.
template <typename Join> DEVICE Complex over_block(Complex own, Complex *room, const Join &join) {
    room[thread_x()] = own;
    for (u32 half = 128; half > 0; half /= 2) {
        barrier();
        if (thread_x() < half) room[thread_x()] = join(room[thread_x()], room[thread_x() + half]);
    }
    barrier();
    return room[0];
}

KERNEL(256) void mlxrocm_array_complex_softmax(const void *x, void *out, u32 columns) {
    SHARED Complex most_of[256], sum_of[256];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)block_x() * columns;
    Complex most{-infinity(), -infinity()};
    for (u32 c = thread_x(); c < columns; c += 256) most = larger(most, load_complex(x, first + c));
    most = over_block(most, most_of, [](Complex a, Complex b) { return larger(a, b); });
    Complex sum{0.0f, 0.0f};
    for (u32 c = thread_x(); c < columns; c += 256) sum = sum + complex_exp(load_complex(x, first + c) - most);
    sum = over_block(sum, sum_of, [](Complex a, Complex b) { return a + b; });
    for (u32 c = thread_x(); c < columns; c += 256)
        store_complex(out, first + c, complex_exp(load_complex(x, first + c) - most) / sum);
}
