// A kernel of one's own, and arrays, on the first GPU: run by test.sh with the software GPU, or by hand with a real one.
#include "check.hpp"

#include <mlxrocm_array.hpp>

#include <cstring>

using mlxrocm::Buffer;
using mlxrocm::In;
using mlxrocm::Out;

static const char *const source = R"(
extern "C" __global__ void scaled_sum(float *c, const float *a, const float *b, float scale, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + scale * b[i];
}
)";
static const std::uint32_t count = 1000;
static const std::size_t bytes = count * sizeof(float);
static const mlxrocm::Size grid{(count + 255) / 256}, block{256};

static std::vector<float> numbers(float added) {
    std::vector<float> made;
    for (std::uint32_t i = 0; i < count; i++) made.push_back(static_cast<float>(i) + added);
    return made;
}

static std::vector<float> floats(const Buffer &buffer) {
    std::vector<float> found(buffer.size() / sizeof(float));
    buffer.read(0, found.data(), found.size() * sizeof(float));
    return found;
}

int main() {
    using namespace std::chrono_literals;
    mlxrocm::Device gpu(1);
    CHECK(gpu.info().kind == MLXROCM_DEVICE_HIP && mlxrocm::Device::why_none(MLXROCM_DEVICE_HIP).empty());
    const mlxrocm::Kernel kernel = mlxrocm::Module(gpu, source, {"-DUNUSED=1"}, "sum.hip").kernel("scaled_sum");
    CHECK(kernel.info().name == std::string("scaled_sum"));
    Buffer a(gpu, bytes), b(gpu, bytes), c(gpu, bytes);
    a.write(0, numbers(0).data(), bytes);
    b.write(0, std::vector<float>(count, 0.25f).data(), bytes);
    mlxrocm::Stream stream(gpu);
    stream.launch(kernel, grid, block, Out{c}, In{a}, In{b}, 2.0f, count);
    stream.wait(60s);
    CHECK(floats(c) == numbers(0.5f));

    mlxrocm::Program program(gpu);
    program.launch(kernel, grid, block, Out{c}, In{a}, In{b}, 2.0f, count);
    program.launch(kernel, grid, block, Out{c}, In{c}, In{b}, 4.0f, count);
    program.end();
    CHECK(program.explain().find("2 launches") != std::string::npos);
    for (int run = 0; run < 2; run++) program.run(stream);
    stream.wait();
    CHECK(floats(c) == numbers(1.5f));

    Buffer target(gpu, 16), pinned(gpu, 16, MLXROCM_BUFFER_PINNED);
    stream.fill(target, 0, 16, 7);
    stream.copy(target, 8, b, 0, 4);
    stream.copy(pinned, 0, target, 0, 16);
    stream.wait();
    CHECK(std::memcmp(pinned.data(), "\7\7\7\7\7\7\7\7\0\0\x80\x3e\7\7\7\7", 16) == 0);

    try {
        mlxrocm::Module(gpu, "nonsense", {}, "wrong.hip");
        CHECK(false);
    } catch (const mlxrocm::InvalidArgumentError &error) {
        CHECK(error.details().find("error") != std::string::npos);
    }
    CHECK_THROWS((stream.launch(kernel, grid, block, Out{c}), 0), mlxrocm::InvalidArgumentError);
    CHECK_THROWS((a.write(bytes, "1234", 4), 0), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(mlxrocm::Stream(mlxrocm::Device(0)), mlxrocm::UnsupportedError);

    // A buffer that was moved from is closed; what is queued keeps its memory.
    const std::uint64_t active = gpu.memory().active;
    {
        Buffer large(gpu, 1 << 20);
        CHECK(gpu.memory().active >= active + (1 << 20));
        const Buffer moved = std::move(large);
        CHECK_THROWS(large.size(), mlxrocm::NullArgumentError); // NOLINT
        CHECK_THROWS((stream.launch(kernel, grid, block, Out{large}, In{a}, In{b}, 2.0f, count), 0), mlxrocm::NullArgumentError);
    }
    CHECK(gpu.memory().active == active);
    {
        const Buffer gone = std::move(a);
        stream.launch(kernel, grid, block, Out{c}, In{gone}, In{b}, 2.0f, count);
    }
    stream.wait();
    CHECK(floats(c) == numbers(0.5f));

    const mlxrocm::Array x = mlxrocm::Array({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}).to_device(gpu);
    CHECK((mlxrocm::ops::matmul(x, x).to_vector<float>() == std::vector<float>{7, 10, 15, 22}));

    // Arrays in a buffer, on a stream, and their memory for a kernel.
    {
        const mlxrocm::Array there = mlxrocm::Array::from_buffer(c, 400, {30, 10}, mlxrocm::DType::float32);
        mlxrocm::Stream other(gpu);
        const mlxrocm::Array twice = there.to_stream(stream) + there;
        const auto [memory, offset] = twice.buffer(other);
        other.launch(kernel, {2}, {256}, Out{b}, In{memory, offset}, In{memory, offset}, 0.5f, 300u);
        other.wait();
        for (std::size_t i = 0; i < 300; i++) CHECK(floats(b)[i] == 3.0f * (static_cast<float>(i + 100) + 0.5f));
        CHECK_THROWS((twice.buffer().first.write(0, "1234", 4), 0), mlxrocm::InvalidArgumentError);
        CHECK_THROWS(mlxrocm::Array::from_buffer(c, 2, {1}, mlxrocm::DType::float32), mlxrocm::InvalidArgumentError);
        CHECK_THROWS(mlxrocm::Array(1.0f).buffer(), mlxrocm::UnsupportedError);
    }
    std::puts("engine: passed");
}
