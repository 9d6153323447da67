// Arrays in C++, with operators: 10_arrays.c again. Fits a line to noisy points with steps of gradient descent; nothing
// is computed until the numbers are read.
//
//     arrays [DEVICE]        1 and up: the arrays are on a GPU
#include <mlxrocm_array.hpp>

#include <cstdio>
#include <cstdlib>

using mlxrocm::Array;
namespace ops = mlxrocm::ops;

int main(int argc, char **argv) {
    try {
        Array x({0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f}, {8});
        Array y({1.1f, 2.9f, 5.2f, 6.8f, 9.1f, 11.0f, 12.8f, 15.1f}, {8});
        if (argc > 1) {
            const mlxrocm::Device device(static_cast<std::size_t>(std::atoi(argv[1])));
            x = x.to_device(device);
            y = y.to_device(device);
        }

        Array slope(0.0f), start(0.0f);
        for (int step = 0; step < 1500; step++) {
            // How far the line is from the points, and which way is down.
            const Array far = slope * x + start - y;
            slope = slope - 0.05 * ops::mean(far * x);
            start = start - 0.05 * ops::mean(far);
        }
        mlxrocm::eval({slope, start});
        std::printf("y = %.3f x + %.3f\n", slope.item(), start.item());

        // Shapes that do not fit are an exception that says so.
        try {
            x + ops::zeros({3});
        } catch (const mlxrocm::Error &error) {
            std::printf("as it should be: %s\n", error.what());
        }
        return 0;
    } catch (const mlxrocm::Error &error) {
        std::fprintf(stderr, "%s: %s\n", error.status_name(), error.what());
        return 1;
    }
}
