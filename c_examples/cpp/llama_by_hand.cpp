// A llama written with arrays, operation by operation, in C++: 11_llama_by_hand.c again. Its tokens are those of the model
// API. Weights, sizes and names come from a GGUF file; the text goes to stdout.
//
//     llama_by_hand MODEL.gguf PROMPT [TOKENS [DEVICE]]        DEVICE 1 and up: a GPU
#include <mlxrocm_array.hpp>

#include <cmath>
#include <iostream>
#include <map>

using mlxrocm::Array;
namespace ops = mlxrocm::ops;

class Llama {
  public:
    Llama(const std::string &path, const mlxrocm::Device &device) : device_(device), file_(path) {
        for (const std::string &name : file_.names()) weights_.emplace(name, file_.at(name).to_device(device));
        const auto count = [&](const char *name) { return static_cast<std::int64_t>(fact(name)); };
        heads_ = count("attention.head_count");
        kv_heads_ = count("attention.head_count_kv");
        width_ = count("embedding_length");
        epsilon_ = fact("attention.layer_norm_rms_epsilon");
        base_ = fact("rope.freq_base");
        keys_.resize(static_cast<std::size_t>(count("block_count")));
        values_.resize(keys_.size());
    }

    // The token behind these, which come after what was seen before.
    std::uint32_t next(const std::vector<std::uint32_t> &tokens) {
        const auto count = static_cast<std::int64_t>(tokens.size()), size = width_ / heads_;
        const Array at = Array(seen_).to_device(device_);
        Array x = embed(Array(tokens, {count}).to_device(device_));
        for (std::size_t i = 0; i < keys_.size(); i++) {
            const std::string layer = "blk." + std::to_string(i) + ".";
            const auto split = [&](const Array &rows, std::int64_t heads) {
                return ops::transpose(ops::reshape(rows, {1, count, heads, size}), {0, 2, 1, 3});
            };
            const auto turned = [&](const Array &rows) {
                return ops::fast_rope(rows, size, true, base_, 1, at);
            };
            Array h = norm(x, layer + "attn_norm");
            const Array q = turned(split(linear(h, layer + "attn_q"), heads_));
            const Array k = append(keys_[i], turned(split(linear(h, layer + "attn_k"), kv_heads_)));
            const Array v = append(values_[i], split(linear(h, layer + "attn_v"), kv_heads_));
            h = ops::fast_scaled_dot_product_attention(q, k, v, 1 / std::sqrt(static_cast<double>(size)), true);
            x = x + linear(ops::reshape(ops::transpose(h, {0, 2, 1, 3}), {count, width_}), layer + "attn_output");
            h = norm(x, layer + "ffn_norm");
            const Array gate = linear(h, layer + "ffn_gate");
            x = x + linear(gate * ops::sigmoid(gate) * linear(h, layer + "ffn_up"), layer + "ffn_down");
        }
        x = norm(ops::slice(x, {count - 1, 0}, {count, width_}, {1, 1}), "output_norm");
        x = linear(x, part("output.weight") ? "output" : "token_embd");
        seen_ += static_cast<std::int32_t>(count);
        return static_cast<std::uint32_t>(ops::argmax(x, 1).item());
    }

  private:
    // A number of the file's metadata.
    double fact(const std::string &name) const { return file_.metadata_array("llama." + name).item(); }

    // An array of the file, or none.
    Array part(const std::string &name) const {
        const auto found = weights_.find(name);
        return found == weights_.end() ? Array() : found->second;
    }

    // Bits of a code: words of 32 bits against groups of 32 numbers, which share a scale.
    static std::int64_t bits(const Array &w, const Array &scales) {
        return static_cast<std::int64_t>(w.size() / scales.size());
    }

    // x times a matrix [out, in]: quantized as MLX has it (codes, scales and biases), or numbers.
    Array linear(const Array &x, const std::string &name) const {
        const Array w = part(name + ".weight"), scales = part(name + ".scales");
        if (!scales) return ops::matmul(x, ops::transpose(w));
        return ops::quantized_matmul(x, w, scales, part(name + ".biases"), true, 32, bits(w, scales));
    }

    Array norm(const Array &x, const std::string &name) const {
        return ops::fast_rms_norm(x, part(name + ".weight"), epsilon_);
    }

    // Rows of the table of embeddings.
    Array embed(const Array &tokens) const {
        const auto rows = [&](const char *name) { return ops::take(part(name), tokens, 0); };
        const Array w = part("token_embd.weight"), scales = part("token_embd.scales");
        if (!scales) return ops::astype(rows("token_embd.weight"), mlxrocm::DType::float32);
        return ops::astype(ops::dequantize(rows("token_embd.weight"), rows("token_embd.scales"),
                                           rows("token_embd.biases"), 32, bits(w, scales)),
                           mlxrocm::DType::float32);
    }

    // Keys or values of all tokens so far: [1, heads, tokens, size].
    static Array append(Array &cache, const Array &more) {
        cache = cache ? ops::concatenate({cache, more}, 2) : more;
        return cache;
    }

    const mlxrocm::Device &device_;
    mlxrocm::ArrayMap file_;
    std::map<std::string, Array> weights_;
    std::vector<Array> keys_, values_;
    std::int64_t heads_ = 0, kv_heads_ = 0, width_ = 0;
    double epsilon_ = 0, base_ = 0;
    std::int32_t seen_ = 0;
};

int main(int argc, char **argv) {
    if (argc < 3) {
        std::cerr << "usage: llama_by_hand MODEL.gguf PROMPT [TOKENS [DEVICE]]\n";
        return 2;
    }
    try {
        const mlxrocm::Device device(argc > 4 ? static_cast<std::size_t>(std::atoi(argv[4])) : 0);
        const mlxrocm::Tokenizer tokenizer = mlxrocm::Model(argv[1]).tokenizer();
        Llama llama(argv[1], device);
        std::vector<std::uint32_t> tokens = tokenizer.encode(argv[2], MLXROCM_ENCODE_ADD_SPECIAL), made;
        for (int left = argc > 3 ? std::atoi(argv[3]) : 40; left > 0; left--) {
            made.push_back(llama.next(tokens));
            tokens = {made.back()};
        }
        std::cout << tokenizer.decode(made) << "\n";
        return 0;
    } catch (const mlxrocm::Error &error) {
        std::cerr << error.status_name() << ": " << error.what() << "\n";
        return 1;
    }
}
