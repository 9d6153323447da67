// A kernel of one's own on arrays, in C++: 12_custom_kernel.c again. It takes the median of three neighbours and says
// what that changed; plain C++ checks it.
//
//     custom_kernel [DEVICE]        (1: the first GPU); exits with 77 when there is no such GPU
#include <mlxrocm_array.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using mlxrocm::Array;
using mlxrocm::DType;

// The body of a function: `x`, `y` and `changed` are pointers to elements, `x_shape` has the sizes of x, and T and
// PERIODIC are what the call says.
static const char *const source = R"(
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = x_shape[0];
    if (i >= n) return; // the last block is whole
    const int before = i > 0 ? i - 1 : PERIODIC ? n - 1 : i, after = i + 1 < n ? i + 1 : PERIODIC ? 0 : i;
    const T a = x[before], b = x[i], c = x[after];
    const T low = a < b ? a : b, high = a < b ? b : a;
    y[i] = c < low ? low : c > high ? high : c;
    changed[i] = y[i] != b;
)";

static std::int32_t median(std::int32_t a, std::int32_t b, std::int32_t c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

int main(int argc, char **argv) {
    const int count = 10000, block = 256, no_gpu = 77;
    try {
        const mlxrocm::Device device(static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 1));
        const mlxrocm::ArrayKernel kernel(device, "median_of_three", {"x"}, {"y", "changed"}, source);

        std::vector<std::int32_t> x(count);
        std::uint32_t random = 1;
        for (std::int32_t &number : x) number = static_cast<std::int32_t>((random = random * 1664525 + 1013904223) >> 24);
        mlxrocm_array_template type{}, periodic{};
        type.name = "T";
        type.kind = MLXROCM_TEMPLATE_DTYPE;
        type.value = MLXROCM_DTYPE_INT32;
        periodic.name = "PERIODIC";
        periodic.kind = MLXROCM_TEMPLATE_BOOL;
        periodic.value = 1;
        const std::vector<Array> results =
            kernel({Array(x, {count})}, {{{count}, DType::int32}, {{count}, DType::bool_}}, // as many work items, in blocks
                   {count, 1, 1}, {block, 1, 1}, {type, periodic});

        // The results are arrays as others: lazy until they are read, and operations take them.
        const auto changed = static_cast<long>(mlxrocm::ops::sum(results[1]).item());
        const std::vector<std::int32_t> y = results[0].to_vector<std::int32_t>();
        int wrong = 0;
        long expected = 0;
        for (int i = 0; i < count; i++) {
            const std::int32_t right = median(x[(i + count - 1) % count], x[i], x[(i + 1) % count]);
            wrong += y[i] != right;
            expected += right != x[i];
        }
        std::printf("%d medians, %d wrong; %ld changed, %ld expected\n", count, wrong, changed, expected);
        return wrong != 0 || changed != expected;
    } catch (const mlxrocm::Error &error) {
        std::fprintf(stderr, "%s: %s\n%s", error.status_name(), error.what(), error.details().c_str());
        return error.status() == MLXROCM_ERROR_NO_DEVICE ? no_gpu : 1;
    }
}
