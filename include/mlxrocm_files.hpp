// mlxrocm_files.hpp: model files for C++17, what is in them and quantized ones made of them.
//
//     for (const mlxrocm::TensorInfo &tensor : mlxrocm::list_tensors("model.gguf")) std::cout << tensor.name;
//     mlxrocm::quantize("Qwen3-4B", "Qwen3-4B-8bit", {8});
#ifndef MLXROCM_FILES_HPP
#define MLXROCM_FILES_HPP

#include <mlxrocm.hpp>

namespace mlxrocm {

// What a model file says about a tensor.
struct TensorInfo {
    std::string name;
    std::string format;              // as the file spells it: "Q4_K", "BF16", "U32" ...
    std::vector<std::int64_t> shape; // outermost first
    std::uint64_t bytes = 0;
};

// The tensors of a GGUF file, a safetensors file or a model folder, in its order. Nothing is loaded: models that do
// not run here can be looked at.
inline std::vector<TensorInfo> list_tensors(const std::string &path) {
    mlxrocm_model_file *opened = nullptr;
    detail::call(mlxrocm_model_file_open, path.data(), path.size(), &opened);
    const std::unique_ptr<mlxrocm_model_file, void (*)(mlxrocm_model_file *)> file(opened, mlxrocm_model_file_free);
    std::vector<TensorInfo> tensors(mlxrocm_model_file_tensor_count(file.get()));
    for (std::size_t i = 0; i < tensors.size(); i++) {
        mlxrocm_tensor_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_model_file_get_tensor, file.get(), i, &info);
        tensors[i] = {std::string(info.name, info.name_length), std::string(info.format, info.format_length),
                      std::vector<std::int64_t>(info.shape, info.shape + info.rank), info.bytes};
    }
    return tensors;
}

// How to quantize a model; what is not set is the usual: affine, 4 bits in groups of 64.
struct QuantizeOptions {
    std::uint32_t bits = 0;
    std::uint32_t group_size = 0;     // weights that share a scale
    std::string mode{};               // "affine", "mxfp4", "mxfp8" or "nvfp4"
    std::string recipe{};             // one of mlx-lm's, like "mixed_4_6"
    std::string dtype{};              // of scales and of what is not quantized: "float16", "bfloat16" or "float32"
    std::vector<std::string> rules{}; // what modules become, like "*.v_proj=6", "lm_head=8:32"; the first that matches counts
    std::uint32_t threads = 0;        // of the CPU; 0: one for each
};

// Quantizes a model folder or a GGUF file of 16- or 32-bit floats into a new folder in MLX's format, as mlx-lm does.
// `progress` hears bytes of the source. A call that was ended goes on where it was when it is made again.
inline mlxrocm_quantize_result quantize(const std::string &source, const std::string &destination,
                                        const QuantizeOptions &options = {}, const Progress &progress = {}) {
    detail::Report state{progress, nullptr};
    std::vector<const char *> rules;
    std::vector<std::size_t> lengths;
    for (const std::string &rule : options.rules) {
        rules.push_back(rule.data());
        lengths.push_back(rule.size());
    }
    mlxrocm_quantize_options how{};
    how.struct_size = sizeof how;
    how.bits = options.bits;
    how.group_size = options.group_size;
    how.threads = options.threads;
    const auto text = [](const std::string &from, const char *&to, std::size_t &length) {
        if (!from.empty()) to = from.data(), length = from.size();
    };
    text(options.mode, how.mode, how.mode_length);
    text(options.recipe, how.recipe, how.recipe_length);
    text(options.dtype, how.dtype, how.dtype_length);
    how.rules = rules.data();
    how.rules_lengths = lengths.data();
    how.rules_count = rules.size();
    how.progress = progress ? detail::Report::heard : nullptr;
    how.user_data = &state;
    mlxrocm_quantize_result result{};
    result.struct_size = sizeof result;
    try {
        detail::call(mlxrocm_model_quantize, source.data(), source.size(), destination.data(), destination.size(), &how,
                     &result);
    } catch (...) {
        if (state.thrown) std::rethrow_exception(state.thrown);
        throw;
    }
    return result;
}

} // namespace mlxrocm

#endif // MLXROCM_FILES_HPP
