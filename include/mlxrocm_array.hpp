// mlxrocm_array.hpp: lazy arrays for C++17, with operators and, in mlxrocm::ops, all operations:
//
//     namespace mx = mlxrocm::ops;
//     mlxrocm::Array x({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
//     mlxrocm::Array y = mx::softmax(mx::matmul(x, x) + 1, -1);
//     for (float value : y.to_vector<float>()) std::cout << value << "\n";
//
// Arrays may be used by any thread; they never change. Errors are exceptions. Header only: link with libmlxrocm.
#ifndef MLXROCM_ARRAY_HPP
#define MLXROCM_ARRAY_HPP

#include <mlxrocm.hpp>

#include <array>
#include <complex>
#include <initializer_list>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace mlxrocm {

enum class DType : std::uint32_t {
    bool_ = MLXROCM_DTYPE_BOOL,
    uint8 = MLXROCM_DTYPE_UINT8,
    uint16 = MLXROCM_DTYPE_UINT16,
    uint32 = MLXROCM_DTYPE_UINT32,
    uint64 = MLXROCM_DTYPE_UINT64,
    int8 = MLXROCM_DTYPE_INT8,
    int16 = MLXROCM_DTYPE_INT16,
    int32 = MLXROCM_DTYPE_INT32,
    int64 = MLXROCM_DTYPE_INT64,
    float16 = MLXROCM_DTYPE_FLOAT16,
    float32 = MLXROCM_DTYPE_FLOAT32,
    float64 = MLXROCM_DTYPE_FLOAT64,
    bfloat16 = MLXROCM_DTYPE_BFLOAT16,
    complex64 = MLXROCM_DTYPE_COMPLEX64,
};

namespace detail {

// The dtype of what C++ has of them.
template <typename Element> constexpr DType dtype_of() {
    using E = Element;
    if constexpr (std::is_same_v<E, bool>) return DType::bool_;
    else if constexpr (std::is_same_v<E, float>) return DType::float32;
    else if constexpr (std::is_same_v<E, double>) return DType::float64;
    else if constexpr (std::is_same_v<E, std::complex<float>>) return DType::complex64;
    else {
        static_assert(std::is_integral_v<E>, "an array holds bool, integers, float, double or std::complex<float>");
        constexpr bool is_signed = std::is_signed_v<E>;
        if constexpr (sizeof(E) == 1) return is_signed ? DType::int8 : DType::uint8;
        else if constexpr (sizeof(E) == 2) return is_signed ? DType::int16 : DType::uint16;
        else if constexpr (sizeof(E) == 4) return is_signed ? DType::int32 : DType::uint32;
        else return is_signed ? DType::int64 : DType::uint64;
    }
}

} // namespace detail

// An n-dimensional array. Array() is none: what operations take for a parameter that is not given.
class Array : public detail::Owned<mlxrocm_array, mlxrocm_array_free> {
  public:
    Array() noexcept : Owned(nullptr) {}
    explicit Array(mlxrocm_array *owned) noexcept : Owned(owned) {}
    // A copy of elements, row after row.
    template <typename Element>
    Array(const std::vector<Element> &elements, const std::vector<std::int64_t> &shape)
        : Owned(make(elements, shape)) {}
    template <typename Element>
    Array(std::initializer_list<Element> elements, const std::vector<std::int64_t> &shape)
        : Owned(make(std::vector<Element>(elements), shape)) {}
    // A scalar.
    template <typename Element, typename = std::enable_if_t<std::is_arithmetic_v<Element>>>
    explicit Array(Element value) : Owned(make(std::vector<Element>{value}, {})) {}

    Array(Array &&) noexcept = default;
    Array &operator=(Array &&) noexcept = default;
    // Another handle of the same elements.
    Array(const Array &other) : Owned(clone(other)) {}
    Array &operator=(const Array &other) {
        if (this != &other) *this = Array(other);
        return *this;
    }

    // Whether it is an array at all.
    explicit operator bool() const noexcept { return get() != nullptr; }
    DType dtype() const noexcept { return static_cast<DType>(mlxrocm_array_dtype(get())); }
    std::size_t rank() const noexcept { return mlxrocm_array_rank(get()); }
    std::size_t size() const noexcept { return mlxrocm_array_size(get()); }
    std::vector<std::int64_t> shape() const {
        return detail::filled<std::int64_t>([&](std::int64_t *sizes, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_array_shape, get(), sizes, capacity, needed);
        });
    }
    // The elements, row after row; the element type must be the dtype's (ops::astype converts).
    template <typename Element> std::vector<Element> to_vector() const {
        if (dtype() != detail::dtype_of<Element>()) {
            detail::raise(MLXROCM_ERROR_INVALID_ARGUMENT, "to_vector: the array has another dtype: convert it with astype");
        }
        if constexpr (std::is_same_v<Element, bool>) {
            std::vector<unsigned char> bytes(size());
            detail::call(mlxrocm_array_read, get(), static_cast<void *>(bytes.data()), bytes.size());
            return std::vector<bool>(bytes.begin(), bytes.end());
        } else {
            std::vector<Element> elements(size());
            detail::call(mlxrocm_array_read, get(), static_cast<void *>(elements.data()),
                         elements.size() * sizeof(Element));
            return elements;
        }
    }
    // The only element.
    double item() const {
        double value = 0;
        detail::call(mlxrocm_array_item_f64, get(), &value);
        return value;
    }
    // The array on a device: what is computed of it is computed there. Lazy; reading works wherever it is.
    Array to_device(const Device &device) const {
        mlxrocm_array *moved = nullptr;
        detail::call(mlxrocm_array_to_device, get(), device.get(), &moved);
        return Array(moved);
    }
    // The array on a stream of a GPU: what is computed of it is queued there. Lazy; reading works wherever it is.
    Array to_stream(const Stream &stream) const {
        mlxrocm_array *moved = nullptr;
        detail::call(mlxrocm_array_to_stream, get(), stream.get(), &moved);
        return Array(moved);
    }
    // A part of a buffer, not a copy: nothing may write it as long as arrays see it.
    static Array from_buffer(const Buffer &buffer, std::uint64_t offset, const std::vector<std::int64_t> &shape,
                             DType dtype) {
        const std::int64_t none = 0;
        mlxrocm_array *made = nullptr;
        detail::call(mlxrocm_array_from_buffer, buffer.get(), offset, shape.empty() ? &none : shape.data(),
                     shape.size(), static_cast<std::uint32_t>(dtype), &made);
        return Array(made);
    }
    // The memory of a GPU in which the elements lie row after row, which may only be read (In), and the byte at which
    // they begin. They are there when this returns.
    std::pair<Buffer, std::uint64_t> buffer() const { return buffer_for(nullptr); }
    // The same for work that is queued on a stream from now on; nobody waits here.
    std::pair<Buffer, std::uint64_t> buffer(const Stream &stream) const { return buffer_for(stream.get()); }
    // Computes the elements now.
    const Array &eval() const {
        const mlxrocm_array *self = get();
        detail::call(mlxrocm_array_eval, &self, std::size_t{1});
        return *this;
    }

  private:
    std::pair<Buffer, std::uint64_t> buffer_for(const mlxrocm_stream *stream) const {
        mlxrocm_buffer *memory = nullptr;
        std::uint64_t offset = 0;
        detail::call(mlxrocm_array_buffer, get(), stream, &memory, &offset);
        return {Buffer(memory), offset};
    }
    template <typename Element>
    static mlxrocm_array *make(const std::vector<Element> &elements, const std::vector<std::int64_t> &shape) {
        std::uint64_t count = 1;
        for (const std::int64_t size : shape) {
            const bool fits = size >= 0 && (size == 0 || count <= elements.max_size() / static_cast<std::uint64_t>(size));
            count = fits ? count * static_cast<std::uint64_t>(size) : std::numeric_limits<std::uint64_t>::max();
            if (!fits) break;
        }
        if (count != elements.size()) {
            detail::raise(MLXROCM_ERROR_INVALID_ARGUMENT,
                          "Array: " + std::to_string(elements.size()) + " elements do not fill the shape");
        }
        mlxrocm_array *made = nullptr;
        if constexpr (std::is_same_v<Element, bool>) {
            const std::vector<unsigned char> bytes(elements.begin(), elements.end());
            from_data(bytes.data(), shape, DType::bool_, &made);
        } else {
            from_data(elements.data(), shape, detail::dtype_of<Element>(), &made);
        }
        return made;
    }
    static void from_data(const void *data, const std::vector<std::int64_t> &shape, DType dtype, mlxrocm_array **made) {
        // Some vectors without elements have no address; a shape needs one.
        const std::int64_t none = 0;
        detail::call(mlxrocm_array_from_data, data, shape.empty() ? &none : shape.data(), shape.size(),
                     static_cast<std::uint32_t>(dtype), made);
    }
    static mlxrocm_array *clone(const Array &other) {
        mlxrocm_array *made = nullptr;
        if (other) detail::call(mlxrocm_array_clone, other.get(), &made);
        return made;
    }
};

// Arrays by name, and the texts beside them: what safetensors and GGUF files hold (as MLX has them).
class ArrayMap : public detail::Owned<mlxrocm_array_map, mlxrocm_array_map_free> {
  public:
    ArrayMap() : Owned(make()) {}
    // A safetensors or GGUF file.
    explicit ArrayMap(const std::string &path) : Owned(load(path)) {}
    std::vector<std::string> names() const {
        std::vector<std::string> names(mlxrocm_array_map_count(get()));
        for (std::size_t i = 0; i < names.size(); i++) {
            std::size_t length = 0;
            const char *name = mlxrocm_array_map_name(get(), i, &length);
            names[i].assign(name ? name : "", length);
        }
        return names;
    }
    Array at(const std::string &name) const {
        mlxrocm_array *found = nullptr;
        detail::call(mlxrocm_array_map_get, get(), name.data(), name.size(), &found);
        return Array(found);
    }
    void set(const std::string &name, const Array &array) {
        detail::call(mlxrocm_array_map_set, get(), name.data(), name.size(), array.get());
    }
    // A text of the metadata; "" if there is none.
    std::string metadata(const std::string &key) const {
        std::size_t length = 0;
        const char *text = mlxrocm_array_map_metadata_text(get(), key.data(), key.size(), 0, &length);
        return text ? std::string(text, length) : std::string();
    }
    // A number or numbers of the metadata.
    Array metadata_array(const std::string &key) const {
        mlxrocm_array *found = nullptr;
        detail::call(mlxrocm_array_map_metadata_array, get(), key.data(), key.size(), &found);
        return Array(found);
    }
    void set_metadata(const std::string &key, const std::string &text) {
        detail::call(mlxrocm_array_map_set_metadata, get(), key.data(), key.size(), text.data(), text.size());
    }
    void save_safetensors(const std::string &path) const {
        detail::call(mlxrocm_array_map_save_safetensors, get(), path.data(), path.size());
    }
    void save_gguf(const std::string &path) const {
        detail::call(mlxrocm_array_map_save_gguf, get(), path.data(), path.size());
    }

  private:
    static mlxrocm_array_map *make() {
        mlxrocm_array_map *made = nullptr;
        detail::call(mlxrocm_array_map_new, &made);
        return made;
    }
    static mlxrocm_array_map *load(const std::string &path) {
        mlxrocm_array_map *made = nullptr;
        detail::call(mlxrocm_array_map_load, path.data(), path.size(), &made);
        return made;
    }
};

// A kernel of one's own on arrays of a GPU: `source` is the body of a function in HIP's language.
class ArrayKernel : public detail::Owned<mlxrocm_array_kernel, mlxrocm_array_kernel_free> {
  public:
    struct Type {
        std::vector<std::int64_t> shape;
        DType dtype;
    };
    ArrayKernel(const Device &device, const std::string &name, const std::vector<const char *> &inputs,
                const std::vector<const char *> &outputs, const std::string &source)
        : Owned(make(device, name, inputs, outputs, source)) {}
    // `grid` in work items; `initial`: what the outputs hold before.
    std::vector<Array> operator()(const std::vector<Array> &inputs, const std::vector<Type> &outputs,
                                  const std::array<std::uint32_t, 3> &grid, const std::array<std::uint32_t, 3> &block,
                                  const std::vector<mlxrocm_array_template> &templates = {},
                                  const double *initial = nullptr) const {
        std::vector<const mlxrocm_array *> handles;
        for (const Array &input : inputs) handles.push_back(input.get());
        std::vector<mlxrocm_array_type> types;
        for (const Type &type : outputs) {
            types.push_back({type.shape.data(), type.shape.size(), static_cast<std::uint32_t>(type.dtype), 0});
        }
        mlxrocm_array_kernel_call call{};
        call.struct_size = sizeof call;
        call.has_initial = initial != nullptr;
        call.initial = initial ? *initial : 0;
        for (std::size_t i = 0; i < 3; i++) {
            call.grid[i] = grid[i];
            call.block[i] = block[i];
        }
        call.inputs = handles.data();
        call.input_count = handles.size();
        call.outputs = types.data();
        call.output_count = types.size();
        call.templates = templates.data();
        call.template_count = templates.size();
        std::vector<mlxrocm_array *> results(outputs.size() + 1);
        detail::call(mlxrocm_array_kernel_apply, get(), &call, results.data());
        std::vector<Array> made;
        for (std::size_t i = 0; i < outputs.size(); i++) made.emplace_back(results[i]);
        return made;
    }

  private:
    static mlxrocm_array_kernel *make(const Device &device, const std::string &name,
                                      const std::vector<const char *> &inputs,
                                      const std::vector<const char *> &outputs, const std::string &source) {
        mlxrocm_array_kernel_options options{};
        options.struct_size = sizeof options;
        options.name = name.c_str();
        options.source = source.c_str();
        options.input_names = inputs.data();
        options.input_count = inputs.size();
        options.output_names = outputs.data();
        options.output_count = outputs.size();
        mlxrocm_array_kernel *made = nullptr;
        detail::call(mlxrocm_array_kernel_new, device.get(), &options, &made);
        return made;
    }
};

// Axes, or none of them: which an operation takes as all, or as it says.
class Axes {
  public:
    Axes() = default;
    Axes(std::int64_t axis) : axes_{axis}, given_(true) {}
    Axes(std::initializer_list<std::int64_t> axes) : axes_(axes), given_(true) {}
    Axes(std::vector<std::int64_t> axes) : axes_(std::move(axes)), given_(true) {}
    const std::int64_t *data() const noexcept {
        static const std::int64_t empty = 0;
        return !given_ ? nullptr : axes_.empty() ? &empty : axes_.data();
    }
    std::size_t size() const noexcept { return axes_.size(); }

  private:
    std::vector<std::int64_t> axes_;
    bool given_ = false;
};

// An axis, or none: the operation is on the array made flat.
class Axis {
  public:
    Axis() = default;
    Axis(std::int64_t axis) : axis_(axis) {}
    std::int64_t number() const noexcept { return axis_; }

  private:
    std::int64_t axis_ = MLXROCM_AXIS_NONE;
};

namespace detail {

// A dtype, or what operations take for the one that they find themselves.
inline std::int64_t or_none(std::optional<DType> dtype) noexcept {
    return dtype ? static_cast<std::int64_t>(*dtype) : -1;
}

template <typename... Arguments> Array one(Arguments... arguments) {
    mlxrocm_array *made = nullptr;
    call(arguments..., &made);
    return Array(made);
}

template <typename Function, typename Tuple, std::size_t... Place>
void call_with_places(Function function, const Tuple &arguments, mlxrocm_array **places, std::index_sequence<Place...>) {
    std::apply([&](auto... given) { call(function, given..., (places + Place)...); }, arguments);
}

template <std::size_t Count, typename Function, typename... Arguments>
std::array<Array, Count> several(Function function, Arguments... arguments) {
    std::array<mlxrocm_array *, Count> places{};
    call_with_places(function, std::make_tuple(arguments...), places.data(), std::make_index_sequence<Count>());
    std::array<Array, Count> made;
    for (std::size_t i = 0; i < Count; i++) made[i] = Array(places[i]);
    return made;
}

template <typename Function, typename... Arguments>
std::vector<Array> many(std::size_t count, Function function, Arguments... arguments) {
    if (count > (std::size_t{1} << 24)) raise(MLXROCM_ERROR_INVALID_ARGUMENT, "that is no number of parts");
    std::vector<mlxrocm_array *> places(count + 1);
    call(function, arguments..., places.data());
    std::vector<Array> made;
    for (std::size_t i = 0; i < count; i++) made.emplace_back(places[i]);
    return made;
}

inline std::vector<const mlxrocm_array *> handles(const std::vector<Array> &arrays) {
    std::vector<const mlxrocm_array *> all;
    for (const Array &array : arrays) all.push_back(array.get());
    all.push_back(nullptr); // so that there is an address
    return all;
}

} // namespace detail

// Computes the elements of arrays, all of them in one go.
inline void eval(const std::vector<Array> &arrays) {
    detail::call(mlxrocm_array_eval, detail::handles(arrays).data(), arrays.size());
}
// Queues what GPUs compute; wait() waits for it.
inline void eval_async(const std::vector<Array> &arrays) {
    detail::call(mlxrocm_array_eval_async, detail::handles(arrays).data(), arrays.size());
}
inline void wait(const std::vector<Array> &arrays) {
    detail::call(mlxrocm_array_wait, detail::handles(arrays).data(), arrays.size());
}

} // namespace mlxrocm

#include <mlxrocm_operations.hpp>

namespace mlxrocm {

namespace detail {

// Whether a whole number is one of a dtype of integers (from uint8 to int64).
template <typename Number> bool fits(Number value, DType dtype) {
    const auto place = static_cast<std::uint32_t>(dtype) - MLXROCM_DTYPE_UINT8;
    const bool negative = value < Number{0}, has_sign = dtype >= DType::int8;
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t size = negative ? 0 - bits : bits, largest = ~std::uint64_t{0} >> (64 - (8U << place % 4));
    return size <= (has_sign ? largest / 2 + negative : negative ? 0 : largest);
}

// A number that meets an array is weak, as in MLX: a whole one takes any dtype but bool, which becomes int32, another
// one that of floating point numbers, else float32.
template <typename Number> Array weak(Number value, DType met) {
    if constexpr (std::is_same_v<Number, bool>) return Array(value);
    else {
        // No array: the operation says so.
        if (met > DType::complex64) return Array(value);
        if (met >= DType::float16) return ops::number(static_cast<double>(value), met);
        if constexpr (std::is_floating_point_v<Number>) return ops::number(static_cast<double>(value), DType::float32);
        else {
            const DType dtype = met == DType::bool_ ? DType::int32 : met;
            if (!fits(value, dtype)) {
                raise(MLXROCM_ERROR_INVALID_ARGUMENT, "operator: " + std::to_string(value) +
                                                          " is out of the range of the array's dtype: convert the array with astype");
            }
            // A double does not hold all of 64 bits.
            if constexpr (sizeof(Number) > 4) return ops::astype(Array(value), dtype);
            else return ops::number(static_cast<double>(value), dtype);
        }
    }
}

template <typename Number> using if_number = std::enable_if_t<std::is_arithmetic_v<Number>>;

} // namespace detail

#define MLXROCM_OPERATOR(symbol, name)                                                                                 \
    inline Array operator symbol(const Array &a, const Array &b) { return ops::name(a, b); }                           \
    template <typename Number, typename = detail::if_number<Number>>                                                   \
    Array operator symbol(const Array &a, Number b) { return ops::name(a, detail::weak(b, a.dtype())); }               \
    template <typename Number, typename = detail::if_number<Number>>                                                   \
    Array operator symbol(Number a, const Array &b) { return ops::name(detail::weak(a, b.dtype()), b); }
MLXROCM_OPERATOR(+, add)
MLXROCM_OPERATOR(-, subtract)
MLXROCM_OPERATOR(*, multiply)
MLXROCM_OPERATOR(/, divide)
MLXROCM_OPERATOR(%, remainder)
MLXROCM_OPERATOR(<, less)
MLXROCM_OPERATOR(<=, less_equal)
MLXROCM_OPERATOR(>, greater)
MLXROCM_OPERATOR(>=, greater_equal)
#undef MLXROCM_OPERATOR
inline Array operator-(const Array &a) { return ops::negative(a); }

} // namespace mlxrocm

#endif // MLXROCM_ARRAY_HPP
