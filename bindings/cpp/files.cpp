// What is in model files, and quantized ones: the demo model, and a llama of one layer.
#include "check.hpp"

#include <mlxrocm_array.hpp>
#include <mlxrocm_files.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

namespace fs = std::filesystem;
using mlxrocm::Array;
using mlxrocm::QuantizeOptions;
using mlxrocm::TensorInfo;

static void list(const char *path) {
    const mlxrocm::Model model(path, mlxrocm::Device(0));
    const std::vector<TensorInfo> tensors = mlxrocm::list_tensors(path);
    // 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
    CHECK(tensors.size() == 30 * 9 + 2);
    std::uint64_t numbers = 0, bytes = 0, seen = 0;
    for (const TensorInfo &tensor : tensors) {
        std::uint64_t count = 1;
        for (const std::int64_t size : tensor.shape) count *= static_cast<std::uint64_t>(size);
        numbers += count;
        bytes += tensor.bytes;
        if (tensor.name == "output_norm.weight") {
            CHECK(tensor.format == "F32" && tensor.shape == std::vector<std::int64_t>{576} && tensor.bytes == 4 * 576);
            seen++;
        }
        if (tensor.name == "blk.29.ffn_down.weight") {
            CHECK((tensor.shape == std::vector<std::int64_t>{576, 1536}));
            seen++;
        }
    }
    CHECK(seen == 2 && numbers == model.info().parameters && bytes == model.info().weight_bytes);
    CHECK_THROWS(mlxrocm::list_tensors("/nowhere/model.gguf"), mlxrocm::IoError);
}

static std::map<std::string, std::vector<float>> folder(const fs::path &path) {
    fs::create_directory(path);
    std::ofstream(path / "config.json")
        << R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 96, "rms_norm_eps": 1e-5,
        "max_position_embeddings": 128, "tie_word_embeddings": true})";
    std::map<std::string, std::vector<float>> tensors;
    mlxrocm::ArrayMap map;
    std::uint32_t state = 1;
    const auto add = [&](const std::string &name, std::vector<std::int64_t> shape) {
        std::size_t count = 1;
        for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
        std::vector<float> numbers(count);
        for (float &number : numbers) {
            state = state * 1664525u + 1013904223u;
            number = std::ldexp(static_cast<float>(state >> 8), -24) - 0.5f;
        }
        map.set(name + ".weight", Array(numbers, shape));
        tensors[name] = numbers;
    };
    add("model.embed_tokens", {96, 64});
    add("model.norm", {64});
    const std::string layer = "model.layers.0.";
    for (const char *name : {"input_layernorm", "post_attention_layernorm"}) add(layer + name, {64});
    for (const char *name : {"q", "k", "v", "o"}) add(layer + "self_attn." + name + "_proj", {64, 64});
    for (const char *name : {"gate", "up"}) add(layer + "mlp." + name + "_proj", {128, 64});
    add(layer + "mlp.down_proj", {64, 128});
    map.save_safetensors((path / "model.safetensors").string());
    return tensors;
}

static void quantized(const fs::path &place) {
    const fs::path source = place / "model", made = place / "made", other = place / "other";
    const auto tensors = folder(source);
    QuantizeOptions options{8, 32};
    std::uint64_t done = 0, total = 1;
    const auto result = mlxrocm::quantize(source.string(), made.string(), options, [&](std::uint64_t now, std::uint64_t all) {
        done = now, total = all;
        return true;
    });
    CHECK(done == total && result.files == 1 && result.resumed_bytes == 0);
    std::uint64_t bytes = 0;
    for (const TensorInfo &tensor : mlxrocm::list_tensors(made.string())) bytes += tensor.bytes;
    CHECK(result.bytes == bytes);
    const mlxrocm::ArrayMap map((made / "model.safetensors").string());
    const auto floats = [&](const std::string &name) {
        return mlxrocm::ops::astype(map.at(name), mlxrocm::DType::float32).to_vector<float>();
    };
    for (const auto &[name, wanted] : tensors) {
        if (wanted.size() == 64) {
            CHECK(floats(name + ".weight") == wanted);
            continue;
        }
        // By hand: four codes in each number, the lowest bits first, in groups of 32.
        const auto scales = floats(name + ".scales"), biases = floats(name + ".biases");
        const auto codes = map.at(name + ".weight").to_vector<std::uint32_t>();
        for (std::size_t i = 0; i < wanted.size(); i++) {
            const float code = static_cast<float>(codes[i / 4] >> (8 * (i % 4)) & 255);
            // The end of a group may be off by a whole step: 0 is one of the codes' numbers.
            CHECK(std::abs(code * scales[i / 32] + biases[i / 32] - wanted[i]) <= 1.01f * std::abs(scales[i / 32]));
        }
    }
    const auto again = [&](const fs::path &from, const fs::path &to, const QuantizeOptions &how) {
        return mlxrocm::quantize(from.string(), to.string(), how);
    };
    const auto with = [&](const mlxrocm::Progress &progress) {
        return mlxrocm::quantize(source.string(), other.string(), options, progress);
    };
    CHECK_THROWS(with([](std::uint64_t, std::uint64_t) { return false; }), mlxrocm::CancelledError);
    CHECK_THROWS(with([](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("enough"); }), std::runtime_error);
    CHECK(!fs::exists(other));
    QuantizeOptions no_mode, ended, no_rule;
    no_mode.mode = "int4";
    ended.mode = std::string("affine\0", 7);
    no_rule.rules = {"*=4", "nonsense"};
    for (const QuantizeOptions &wrong : {QuantizeOptions{7}, no_mode, ended, no_rule})
        CHECK_THROWS(again(source, place / "none", wrong), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(again(source, made, options), mlxrocm::InvalidArgumentError);
    CHECK_THROWS(again(made, place / "again", options), mlxrocm::UnsupportedError);
    CHECK_THROWS(again("/nowhere", other, options), mlxrocm::IoError);
}

int main() {
    const char *demo = std::getenv("MLXROCM_DEMO_MODEL");
    CHECK(demo);
    list(demo);
    const fs::path place = fs::current_path() / "quantized";
    fs::remove_all(place);
    fs::create_directory(place);
    quantized(place);
    fs::remove_all(place);
    std::puts("files: passed");
}
