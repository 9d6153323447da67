// The engine group through the C++ wrapper.
#include <mlxrocm.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);        \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

static_assert(!std::is_copy_constructible<mlxrocm::Buffer>::value, "handles do not copy");
static_assert(std::is_nothrow_move_constructible<mlxrocm::Stream>::value, "handles move");
static_assert(std::is_nothrow_move_assignable<mlxrocm::Program>::value, "handles move");
static_assert(std::is_nothrow_copy_constructible<mlxrocm::Error>::value, "exceptions copy");

template <typename Call> static mlxrocm_status status_of(Call call) {
    try {
        call();
    } catch (const mlxrocm::Error &error) {
        CHECK(std::strlen(error.what()) > 0);
        return error.status();
    }
    return MLXROCM_OK;
}

static const char *const source =
    "extern \"C\" __global__ void scale(float *y, const float *x, float by, unsigned count) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < count) y[i] = by * x[i] + OFFSET;\n"
    "}\n";

int main() {
    using namespace std::chrono_literals;
    CHECK(mlxrocm::Device::count() == 2 && mlxrocm::Device::why_none(MLXROCM_DEVICE_HIP).empty());
    CHECK(!mlxrocm::Device::why_none(MLXROCM_DEVICE_CUDA).empty());
    CHECK(status_of([] { mlxrocm::Stream stream(mlxrocm::Device(0)); }) == MLXROCM_ERROR_UNSUPPORTED);
    mlxrocm::Device gpu(1);
    CHECK(gpu.info().kind == MLXROCM_DEVICE_HIP && gpu.memory().limit > 0);
    gpu.set_memory_limit(gpu.memory().limit);
    gpu.reset_peak_memory();
    gpu.trim();

    std::vector<float> numbers(1000), result(1000);
    for (std::size_t i = 0; i < numbers.size(); i++) numbers[i] = static_cast<float>(i);
    const std::size_t bytes = numbers.size() * sizeof(float);
    const auto count = static_cast<std::uint32_t>(numbers.size());
    mlxrocm::Buffer x(gpu, bytes), y(gpu, bytes), pinned(gpu, bytes, MLXROCM_BUFFER_PINNED);
    CHECK(x.size() == bytes && x.address() != y.address() && !x.data() && pinned.data());
    try {
        mlxrocm::Module broken(gpu, source);
        CHECK(false);
    } catch (const mlxrocm::Error &error) {
        const mlxrocm::Error copy = error;
        CHECK(error.status() == MLXROCM_ERROR_INVALID_ARGUMENT && error.vendor_code() == 0);
        CHECK(copy.details().find("OFFSET") != std::string::npos);
    }
    mlxrocm::Kernel scale = mlxrocm::Module(gpu, source, {"-DOFFSET=1"}, "scale.hip").kernel("scale");
    CHECK(std::string(scale.info().name) == "scale");
    mlxrocm::Stream stream(gpu), other(gpu);
    mlxrocm::GpuEvent start(gpu), end(gpu);
    stream.record(start);
    stream.write(x, 0, numbers.data(), bytes);
    stream.launch(scale, {4}, {256}, mlxrocm::Out{y}, mlxrocm::In{x}, 3.0f, count);
    stream.record(end);
    other.wait_for(end);
    other.copy(pinned, 0, y, 0, bytes);
    other.wait(60s);
    end.wait(60s);
    CHECK(end.is_done() && end.since(start).count() >= 0.0 && stream.is_idle());
    std::memcpy(result.data(), pinned.data(), bytes);
    for (std::size_t i = 0; i < numbers.size(); i++) CHECK(result[i] == 3.0f * numbers[i] + 1.0f);
    CHECK(status_of([&] { stream.launch(scale, {4}, {256}, y, x, 3.0f); }) ==
          MLXROCM_ERROR_INVALID_ARGUMENT);
    CHECK(status_of([&] { stream.launch(scale, {4}, {256}, y, x, 3.0, count); }) ==
          MLXROCM_ERROR_INVALID_ARGUMENT);

    mlxrocm::Program program(gpu);
    mlxrocm::Kernel add(gpu, "mlxrocm_vector_add_f32");
    for (int i = 0; i < 4; i++) {
        program.launch(add, {4}, {256}, mlxrocm::Out{y}, mlxrocm::In{x}, mlxrocm::In{x}, count);
        program.barrier();
        program.launch(scale, {4}, {256}, mlxrocm::Out{x}, mlxrocm::In{y}, 0.5f, count);
    }
    program.copy(y, 0, x, 0, bytes);
    program.fill(x, 0, 4, 0);
    program.end();
    CHECK(program.info().nodes == 10 && program.explain().find("10 launches") == 0);
    gpu.set_graphs(MLXROCM_GRAPHS_ON);
    program.run(stream);
    CHECK(program.info().mode == MLXROCM_PROGRAM_GRAPH);
    stream.read(y, 0, result.data(), bytes);
    for (std::size_t i = 0; i < numbers.size(); i++) CHECK(result[i] == numbers[i] + 4.0f);
    y.write(4, numbers.data(), 4);
    y.read(4, result.data(), 4);
    CHECK(result[0] == 0.0f);
    stream.fill(y, 0, 4, 0);
    stream.wait();

    int lines = 0;
    gpu.selftest([&](std::string_view) { ++lines; }, MLXROCM_SELFTEST_NO_MEASUREMENTS, 3);
    CHECK(lines > 8);
    bool thrown = false;
    try {
        gpu.selftest([](std::string_view) { throw 7; });
    } catch (int seven) {
        thrown = seven == 7;
    }
    CHECK(thrown);
    mlxrocm::Buffer moved = std::move(x);
    moved = mlxrocm::Buffer(gpu, 16);
    CHECK(moved.size() == 16 && !x.get()); // NOLINT
    return 0;
}
