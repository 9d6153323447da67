// Arrays against plain loops.
#include "check.hpp"

#include <mlxrocm_array.hpp>

#include <cmath>
#include <cstdio>
#include <thread>

namespace mx = mlxrocm::ops;
using mlxrocm::Array;
using mlxrocm::DType;

template <typename Element> static void there_and_back(std::vector<Element> elements, DType dtype) {
    const Array x(elements, {static_cast<std::int64_t>(elements.size())});
    CHECK(x.dtype() == dtype);
    CHECK(x.to_vector<Element>() == elements);
}

static void near(const Array &x, const std::vector<double> &wanted) {
    const std::vector<float> found = x.to_vector<float>();
    CHECK(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); i++) CHECK(std::abs(found[i] - wanted[i]) < 1e-5);
}

static void elements() {
    there_and_back<bool>({true, false}, DType::bool_);
    there_and_back<std::uint8_t>({0, 255}, DType::uint8);
    there_and_back<std::uint16_t>({1, 65535}, DType::uint16);
    there_and_back<std::uint32_t>({1, 4294967295U}, DType::uint32);
    there_and_back<std::uint64_t>({1, ~std::uint64_t{0}}, DType::uint64);
    there_and_back<std::int8_t>({-128, 127}, DType::int8);
    there_and_back<std::int16_t>({-5, 5}, DType::int16);
    there_and_back<std::int32_t>({-5, 5}, DType::int32);
    there_and_back<std::int64_t>({INT64_MIN, 5}, DType::int64);
    there_and_back<float>({-1.5F, 3}, DType::float32);
    there_and_back<double>({0.1, -1e300}, DType::float64);
    there_and_back<std::complex<float>>({{1, 2}, {0, -1}}, DType::complex64);
    there_and_back<float>({}, DType::float32);
    CHECK(Array(7).rank() == 0 && Array(7).item() == 7);
}

static void products() {
    const std::int64_t rows = 5, inner = 7, columns = 3;
    const Array key = mx::random_key(7);
    const Array x = mx::random_uniform(Array(-0.5F), Array(0.5F), {rows, inner}, DType::float32, key);
    const Array y = mx::random_normal({inner, columns}, DType::float32, {}, {}, key);
    const std::vector<float> a = x.to_vector<float>(), b = y.to_vector<float>();
    std::vector<double> wanted, sums, shares;
    for (std::size_t i = 0; i < rows; i++) {
        double sum = 0, total = 0;
        for (std::size_t j = 0; j < columns; j++) {
            double product = 0;
            for (std::size_t k = 0; k < inner; k++) product += double(a[i * inner + k]) * double(b[k * columns + j]);
            wanted.push_back(product);
            sum += product;
            total += std::exp(product);
        }
        sums.push_back(sum);
        for (std::size_t j = 0; j < columns; j++) shares.push_back(std::exp(wanted[i * columns + j]) / total);
    }
    const Array product = mx::matmul(x, y);
    CHECK((product.shape() == std::vector<std::int64_t>{rows, columns}));
    near(product, wanted);
    near(mx::sum(product, -1), sums);
    near(mx::softmax(product, {1}), shares);
}

static void operators() {
    using Ints = std::vector<std::int32_t>;
    const Array x({5, 3, 1, 4, 2, 0}, {2, 3});
    const auto ints = [](const Array &array) { return array.to_vector<std::int32_t>(); };
    CHECK((ints(x + x) == Ints{10, 6, 2, 8, 4, 0}));
    CHECK((ints(2 * x - x + 1) == Ints{6, 4, 2, 5, 3, 1}));
    CHECK((ints(-x) == Ints{-5, -3, -1, -4, -2, 0}));
    CHECK((ints(x % 2) == Ints{1, 1, 1, 0, 0, 0}));
    CHECK(((x >= 3).to_vector<bool>() == std::vector<bool>{true, true, false, true, false, false}));
    CHECK((ints(mx::sort(x, {})) == Ints{0, 1, 2, 3, 4, 5}));
    CHECK((ints(mx::sort(x, 0)) == Ints{4, 2, 0, 5, 3, 1}));
    CHECK((ints(mx::transpose(x)) == Ints{5, 4, 3, 2, 1, 0}));
    const std::vector<Array> parts = mx::split(x, {1}, 1);
    CHECK(parts.size() == 2);
    CHECK((ints(mx::concatenate({parts[1], parts[0]}, 1)) == Ints{3, 1, 5, 2, 0, 4}));
    CHECK((ints(mx::clip(x, {}, Array(3))) == Ints{3, 3, 1, 3, 2, 0}));
    CHECK((ints(mx::slice(x, {0, 2}, {2, -4}, {1, -2})) == Ints{1, 5, 0, 4}));
    const auto [quotient, remainder] = mx::divmod(x, Array(2));
    mlxrocm::eval({quotient, remainder});
    CHECK((ints(quotient) == Ints{2, 1, 0, 2, 1, 0}));
    CHECK((ints(remainder) == Ints{1, 1, 1, 0, 0, 0}));
    CHECK(mx::sum(x).item() == 15);
    near(mx::linalg_inv(Array({2.0F, 0.0F, 0.0F, 4.0F}, {2, 2})), {0.5, 0, 0, 0.25});
    Array copy = x;
    copy = copy + x;
    CHECK((ints(x) == Ints{5, 3, 1, 4, 2, 0}));
    const Array none;
    CHECK(!none && x && none.size() == 0);
}

static void numbers_are_weak() {
    const Array whole({1, 2, 3}, {3}), bytes(std::vector<std::uint8_t>{250, 2}, {2}), truths({true, false}, {2});
    const auto both = [](const Array &x, DType dtype, const std::vector<double> &wanted) {
        CHECK(x.dtype() == dtype);
        CHECK(mx::astype(x, DType::float64).to_vector<double>() == wanted);
    };
    both(whole + 1, DType::int32, {2, 3, 4});
    both(whole + 1.5, DType::float32, {2.5, 3.5, 4.5});
    both(1.5F * whole, DType::float32, {1.5, 3, 4.5});
    both(whole < 2.5, DType::bool_, {1, 1, 0});
    both(truths + 1, DType::int32, {2, 1});
    both(truths + true, DType::bool_, {1, 1});
    both(bytes + 10, DType::uint8, {4, 12});
    both(255U - bytes, DType::uint8, {5, 253});
    both(mx::astype(whole, DType::float16) * 2.5, DType::float16, {2.5, 5, 7.5});
    both(mx::astype(whole, DType::complex64) * 2, DType::complex64, {2, 4, 6});
    const Array wide = mx::astype(whole, DType::int64) + (std::int64_t{1} << 53);
    CHECK(wide.to_vector<std::int64_t>()[0] == (std::int64_t{1} << 53) + 1);
    const Array least(std::vector<std::int8_t>{-128}, {1});
    CHECK(mx::all(mx::equal(least, least + 0)).item() == 1 && (least - 127 + -128).dtype() == DType::int8);
    CHECK((Array(~std::uint64_t{0}) - ~std::uint64_t{0}).item() == 0);
    CHECK_THROWS(Array() + 1, mlxrocm::NullArgumentError);
    CHECK_THROWS(bytes + 256, mlxrocm::InvalidArgumentError);
    CHECK_THROWS(bytes > -1, mlxrocm::InvalidArgumentError);
    CHECK_THROWS(least + 128, mlxrocm::InvalidArgumentError);
    CHECK_THROWS(whole + 2147483648U, mlxrocm::InvalidArgumentError);
    CHECK_THROWS(whole + (INT32_MIN - std::int64_t{1}), mlxrocm::InvalidArgumentError);
}

// Where an operation finds the dtype itself, one may be given.
static void found_dtypes() {
    const Array x(std::vector<float>(64, 0.5F), {1, 64});
    CHECK(mx::zeros_like(x).dtype() == DType::float32 && mx::ones_like(x, DType::int8).dtype() == DType::int8);
    const auto [codes, scales, biases] = mx::quantize(x, 64, 4);
    CHECK(mx::dequantize(codes, scales, biases, 64, 4).dtype() == DType::float32);
    CHECK(mx::dequantize(codes, scales, biases, 64, 4, "affine", {}, DType::float16).dtype() == DType::float16);
}

static void devices() {
    const Array x({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
    mlxrocm::Device cpu(0);
    const Array moved = x.to_device(cpu);
    CHECK(moved.dtype() == DType::float32 && moved.rank() == 2);
    near(moved, {1, 2, 3, 4});
    CHECK_THROWS(Array().to_device(cpu), mlxrocm::NullArgumentError);
    const mlxrocm::Device elsewhere = std::move(cpu);
    CHECK_THROWS(x.to_device(cpu), mlxrocm::NullArgumentError);
    near(mx::matmul(moved.to_device(elsewhere), x) + 1, {8, 11, 16, 23});
}

static void mistakes() {
    const Array x({1.0F, 2.0F, 3.0F}, {3}), y({1.0F, 2.0F}, {2});
    CHECK_THROWS(x + y, mlxrocm::InvalidArgumentError);
    CHECK_THROWS(x + Array(), mlxrocm::NullArgumentError);
    CHECK_THROWS(Array({1.0F}, {2}), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(Array({1.0F}, {-1}), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(Array(std::vector<float>{}, {INT64_MAX, INT64_MAX}), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(x.to_vector<double>(), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(mx::split_parts(x, SIZE_MAX), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(mx::linalg_cholesky(Array({-1.0F}, {1, 1})).eval(), mlxrocm::Error);
}

static void threads() {
    const Array x({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
    const Array lazy = mx::matmul(x, x);
    std::vector<std::thread> all;
    for (int i = 0; i < 8; i++) {
        all.emplace_back([&] {
            for (int round = 0; round < 50; round++) near(-Array(lazy), {-7, -10, -15, -22});
        });
    }
    for (std::thread &thread : all) thread.join();
}

static void files() {
    mlxrocm::ArrayMap named;
    named.set("a.weight", Array({1.5F, -2.0F}, {2, 1}));
    named.set_metadata("format", "mlx");
    named.save_safetensors("arrays.safetensors");
    const mlxrocm::ArrayMap again("arrays.safetensors");
    CHECK(again.names() == std::vector<std::string>{"a.weight"});
    CHECK(again.metadata("format") == "mlx" && again.metadata("none").empty());
    near(again.at("a.weight"), {1.5, -2});
    CHECK((again.at("a.weight").shape() == std::vector<std::int64_t>{2, 1}));
    mx::save(Array({1, 2, 3}, {3}), "arrays.npy");
    CHECK((mx::load("arrays.npy").to_vector<int>() == std::vector<int>{1, 2, 3}));
    near(mx::einsum("ij,j->i", {Array({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2}), Array({1.0F, -1.0F}, {2})}), {-1, -1});
    std::remove("arrays.safetensors");
    std::remove("arrays.npy");
}

int main() {
    elements();
    files();
    products();
    operators();
    numbers_are_weak();
    found_dtypes();
    devices();
    mistakes();
    threads();
    std::puts("arrays: passed");
}
