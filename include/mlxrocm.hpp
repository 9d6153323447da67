// mlxrocm.hpp: mlxrocm.h for C++17. Errors are exceptions, handles free themselves and move, events
// come out of a loop:
//
//     mlxrocm::Model model("model.gguf"); // or ("model.gguf", mlxrocm::Device(1))
//     mlxrocm::Session session(model);
//     auto generation = session.submit(mlxrocm::Request().chat({{"user", "Hello"}}));
//     for (const mlxrocm::Event &event : generation) std::cout << event.text();
//
// and kernels of one's own run on a GPU:
//
//     mlxrocm::Device gpu(1);
//     mlxrocm::Stream stream(gpu);
//     mlxrocm::Kernel add = mlxrocm::Module(gpu, source).kernel("add");
//     stream.launch(add, {blocks}, {256}, mlxrocm::Out{c}, mlxrocm::In{a}, mlxrocm::In{b}, count);
//     stream.read(c, 0, result.data(), bytes);
//
// Types are as thread-safe as the C types they wrap. Header only: link with libmlxrocm. Lazy arrays are in
// mlxrocm_array.hpp, model files in mlxrocm_files.hpp.
#ifndef MLXROCM_HPP
#define MLXROCM_HPP

#include <mlxrocm.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mlxrocm {

// A failed call: what() is the library's message.
class Error : public std::runtime_error {
  public:
    Error(mlxrocm_status status, const std::string &message, const std::string &details = "",
          std::int32_t vendor_code = 0)
        : std::runtime_error(message), status_(status), vendor_code_(vendor_code),
          details_(std::make_shared<const std::string>(details)) {}
    mlxrocm_status status() const noexcept { return status_; }
    const char *status_name() const noexcept { return mlxrocm_status_name(status_, nullptr); }
    // The number that HIP or CUDA gave, or 0.
    std::int32_t vendor_code() const noexcept { return vendor_code_; }
    // Several lines, e.g. a compiler's log, or "".
    const std::string &details() const noexcept { return *details_; }

  private:
    mlxrocm_status status_;
    std::int32_t vendor_code_;
    std::shared_ptr<const std::string> details_; // copies of exceptions must not throw
};

// An error of one status, to catch: catch (const mlxrocm::ContextFullError &error).
template <mlxrocm_status Status> class StatusError : public Error {
  public:
    explicit StatusError(const std::string &message, const std::string &details = "",
                         std::int32_t vendor_code = 0)
        : Error(Status, message, details, vendor_code) {}
};
using InvalidArgumentError = StatusError<MLXROCM_ERROR_INVALID_ARGUMENT>;
using NullArgumentError = StatusError<MLXROCM_ERROR_NULL_ARGUMENT>;
using PoisonedError = StatusError<MLXROCM_ERROR_POISONED>;
using OutOfMemoryError = StatusError<MLXROCM_ERROR_OUT_OF_MEMORY>;
using IoError = StatusError<MLXROCM_ERROR_IO>;
using InvalidFileError = StatusError<MLXROCM_ERROR_INVALID_FILE>;
using UnsupportedError = StatusError<MLXROCM_ERROR_UNSUPPORTED>;
using BufferTooSmallError = StatusError<MLXROCM_ERROR_BUFFER_TOO_SMALL>;
using ContextFullError = StatusError<MLXROCM_ERROR_CONTEXT_FULL>;
using NoDeviceError = StatusError<MLXROCM_ERROR_NO_DEVICE>;
using DeviceFailedError = StatusError<MLXROCM_ERROR_DEVICE_FAILED>;
using CancelledError = StatusError<MLXROCM_ERROR_CANCELLED>;
using InternalError = StatusError<MLXROCM_ERROR_INTERNAL>;
using DeviceLostError = StatusError<MLXROCM_ERROR_DEVICE_LOST>;
using TimeoutError = StatusError<MLXROCM_ERROR_TIMEOUT>;
using SelftestFailedError = StatusError<MLXROCM_ERROR_SELFTEST_FAILED>;

namespace detail {

// Throws the class of the status, Error itself for one that a newer library has.
[[noreturn]] inline void raise(mlxrocm_status status, const std::string &message,
                               const std::string &details = "", std::int32_t vendor_code = 0) {
    switch (status) {
    case MLXROCM_ERROR_INVALID_ARGUMENT: throw InvalidArgumentError(message, details, vendor_code);
    case MLXROCM_ERROR_NULL_ARGUMENT: throw NullArgumentError(message, details, vendor_code);
    case MLXROCM_ERROR_POISONED: throw PoisonedError(message, details, vendor_code);
    case MLXROCM_ERROR_OUT_OF_MEMORY: throw OutOfMemoryError(message, details, vendor_code);
    case MLXROCM_ERROR_IO: throw IoError(message, details, vendor_code);
    case MLXROCM_ERROR_INVALID_FILE: throw InvalidFileError(message, details, vendor_code);
    case MLXROCM_ERROR_UNSUPPORTED: throw UnsupportedError(message, details, vendor_code);
    case MLXROCM_ERROR_BUFFER_TOO_SMALL: throw BufferTooSmallError(message, details, vendor_code);
    case MLXROCM_ERROR_CONTEXT_FULL: throw ContextFullError(message, details, vendor_code);
    case MLXROCM_ERROR_NO_DEVICE: throw NoDeviceError(message, details, vendor_code);
    case MLXROCM_ERROR_DEVICE_FAILED: throw DeviceFailedError(message, details, vendor_code);
    case MLXROCM_ERROR_CANCELLED: throw CancelledError(message, details, vendor_code);
    case MLXROCM_ERROR_INTERNAL: throw InternalError(message, details, vendor_code);
    case MLXROCM_ERROR_DEVICE_LOST: throw DeviceLostError(message, details, vendor_code);
    case MLXROCM_ERROR_TIMEOUT: throw TimeoutError(message, details, vendor_code);
    case MLXROCM_ERROR_SELFTEST_FAILED: throw SelftestFailedError(message, details, vendor_code);
    default: throw Error(status, message, details, vendor_code);
    }
}

// Calls `function` with the arguments and a place for an error; throws if there was one.
template <typename Function, typename... Arguments>
mlxrocm_status call(Function function, Arguments... arguments) {
    mlxrocm_error *error = nullptr;
    const mlxrocm_status status = function(arguments..., &error);
    if (status >= 0) return status;
    const std::unique_ptr<mlxrocm_error, void (*)(mlxrocm_error *)> owner(error, mlxrocm_error_free);
    std::size_t length = 0, details_length = 0;
    const char *message = mlxrocm_error_message(error, &length);
    const char *details = mlxrocm_error_details(error, &details_length);
    raise(status, std::string(message, length), std::string(details, details_length),
          mlxrocm_error_vendor_code(error));
}

// An owned handle: moves, does not copy, frees itself.
template <typename Handle, void (*Free)(Handle *)> class Owned {
  public:
    Handle *get() const noexcept { return handle_.get(); }

  protected:
    explicit Owned(Handle *handle) noexcept : handle_(handle) {}

  private:
    struct Deleter {
        void operator()(Handle *handle) const noexcept { Free(handle); }
    };
    std::unique_ptr<Handle, Deleter> handle_;
};

// Measures, then fills: `fill(pointer, capacity, needed)` is one of the C calls.
template <typename Element, typename Fill> std::vector<Element> filled(Fill fill) {
    std::size_t needed = 0;
    fill(static_cast<Element *>(nullptr), std::size_t{0}, &needed);
    std::vector<Element> elements(needed);
    if (needed > 0) fill(elements.data(), elements.size(), &needed);
    elements.resize(needed);
    return elements;
}

template <typename Fill> std::string filled_text(Fill fill) {
    const std::vector<char> text = filled<char>(fill);
    return std::string(text.data(), text.empty() ? 0 : text.size() - 1);
}

} // namespace detail

inline std::string version() { return mlxrocm_version_string(nullptr); }
inline std::string build_info() { return mlxrocm_build_info(nullptr); }

// Sends the process's log lines to `callback`; an empty one restores the default.
inline void set_log(std::uint32_t level, std::function<void(std::uint32_t, std::string_view)> callback) {
    using Callback = std::function<void(std::uint32_t, std::string_view)>;
    if (!callback) {
        detail::call(mlxrocm_log_set_callback, level, nullptr, nullptr, nullptr);
        return;
    }
    detail::call(
        mlxrocm_log_set_callback, level,
        [](std::uint32_t line_level, const char *message, std::size_t length, void *data) {
            try {
                (*static_cast<Callback *>(data))(line_level, std::string_view(message, length));
            } catch (...) { // nothing may be thrown into the library
            }
        },
        new Callback(std::move(callback)), [](void *data) { delete static_cast<Callback *>(data); });
}

class Device : public detail::Owned<mlxrocm_device, mlxrocm_device_free> {
  public:
    static std::size_t count() {
        std::size_t count = 0;
        detail::call(mlxrocm_device_count, &count);
        return count;
    }
    // Why there is no GPU of MLXROCM_DEVICE_HIP or MLXROCM_DEVICE_CUDA; "" if there is one.
    static std::string why_none(std::uint32_t kind) {
        return detail::filled_text([&](char *text, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_device_why_none, kind, text, capacity, needed);
        });
    }
    explicit Device(std::size_t index) : Owned(open(index)) {}
    // Strings in it live as long as the device.
    mlxrocm_device_info info() const {
        mlxrocm_device_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_device_get_info, get(), &info);
        return info;
    }
    mlxrocm_device_memory memory() const {
        mlxrocm_device_memory memory{};
        memory.struct_size = sizeof memory;
        detail::call(mlxrocm_device_get_memory, get(), &memory);
        return memory;
    }
    void set_memory_limit(std::uint64_t bytes) {
        detail::call(mlxrocm_device_set_memory_limit, get(), bytes);
    }
    void reset_peak_memory() { detail::call(mlxrocm_device_reset_peak_memory, get()); }
    void trim() { detail::call(mlxrocm_device_trim, get()); }
    // `graphs`: MLXROCM_GRAPHS_...
    void set_graphs(std::uint32_t graphs) { detail::call(mlxrocm_device_set_graphs, get(), graphs); }

    // Throws an Error of MLXROCM_ERROR_SELFTEST_FAILED if results are wrong. `report` hears the lines;
    // what it throws ends the test and comes out here. `flags`: MLXROCM_SELFTEST_...
    void selftest(const std::function<void(std::string_view)> &report = {}, std::uint32_t flags = 0,
                  std::uint64_t seed = 0) {
        struct State {
            const std::function<void(std::string_view)> &report;
            std::exception_ptr thrown;
        } state{report, nullptr};
        mlxrocm_selftest_options options{};
        options.struct_size = sizeof options;
        options.flags = flags;
        options.seed = seed;
        options.user_data = &state;
        if (report) {
            options.report = [](const char *line, std::size_t length, void *data) -> std::int32_t {
                State &hears = *static_cast<State *>(data);
                try {
                    hears.report(std::string_view(line, length));
                    return 0;
                } catch (...) {
                    hears.thrown = std::current_exception();
                    return 1;
                }
            };
        }
        try {
            detail::call(mlxrocm_device_selftest, get(), &options);
        } catch (...) {
            if (state.thrown) std::rethrow_exception(state.thrown);
            throw;
        }
    }

  private:
    static mlxrocm_device *open(std::size_t index) {
        mlxrocm_device *device = nullptr;
        detail::call(mlxrocm_device_open, index, &device);
        return device;
    }
};

// Device memory (the default) or MLXROCM_BUFFER_PINNED host memory.
class Buffer : public detail::Owned<mlxrocm_buffer, mlxrocm_buffer_free> {
  public:
    Buffer(const Device &device, std::uint64_t size, std::uint32_t kind = MLXROCM_BUFFER_DEVICE)
        : Owned(make(device, size, kind)) {}
    explicit Buffer(mlxrocm_buffer *owned) noexcept : Owned(owned) {}
    mlxrocm_buffer_info info() const {
        mlxrocm_buffer_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_buffer_get_info, get(), &info);
        return info;
    }
    std::uint64_t size() const { return info().size; }
    std::uint64_t address() const { return info().address; }
    // Pinned memory as the host sees it; nullptr for device memory.
    void *data() const { return info().data; }
    void write(std::uint64_t offset, const void *bytes, std::size_t size) {
        detail::call(mlxrocm_buffer_write, get(), offset, bytes, size);
    }
    void read(std::uint64_t offset, void *bytes, std::size_t size) const {
        detail::call(mlxrocm_buffer_read, get(), offset, bytes, size);
    }

  private:
    static mlxrocm_buffer *make(const Device &device, std::uint64_t size, std::uint32_t kind) {
        mlxrocm_buffer *buffer = nullptr;
        detail::call(mlxrocm_buffer_new, device.get(), kind, size, &buffer);
        return buffer;
    }
};

// A mark in a stream. (mlxrocm::Event is an event of a generation.)
class GpuEvent : public detail::Owned<mlxrocm_gpu_event, mlxrocm_gpu_event_free> {
  public:
    explicit GpuEvent(const Device &device) : Owned(make(device)) {}
    // A negative timeout waits for ever.
    void wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) const {
        detail::call(mlxrocm_gpu_event_wait, get(), std::int64_t{timeout.count()});
    }
    bool is_done() const { return detail::call(mlxrocm_gpu_event_query, get()) == MLXROCM_OK; }
    std::chrono::duration<double, std::milli> since(const GpuEvent &earlier) const {
        double milliseconds = 0.0;
        detail::call(mlxrocm_gpu_event_elapsed, earlier.get(), get(), &milliseconds);
        return std::chrono::duration<double, std::milli>(milliseconds);
    }

  private:
    static mlxrocm_gpu_event *make(const Device &device) {
        mlxrocm_gpu_event *event = nullptr;
        detail::call(mlxrocm_gpu_event_new, device.get(), &event);
        return event;
    }
};

class Kernel : public detail::Owned<mlxrocm_kernel, mlxrocm_kernel_free> {
  public:
    explicit Kernel(mlxrocm_kernel *owned) noexcept : Owned(owned) {}
    // One of the library's own.
    Kernel(const Device &device, const std::string &name) : Owned(find(device, name)) {}
    // The name in it lives as long as the kernel.
    mlxrocm_kernel_info info() const {
        mlxrocm_kernel_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_kernel_get_info, get(), &info);
        return info;
    }

  private:
    static mlxrocm_kernel *find(const Device &device, const std::string &name) {
        mlxrocm_kernel *kernel = nullptr;
        detail::call(mlxrocm_device_get_kernel, device.get(), name.data(), name.size(), &kernel);
        return kernel;
    }
};

class Module : public detail::Owned<mlxrocm_module, mlxrocm_module_free> {
  public:
    // Compiles a source in HIP's language; an Error's details() has the compiler's log.
    Module(const Device &device, const std::string &source, const std::vector<std::string> &flags = {},
           const std::string &name = "kernel source")
        : Owned(compile(device, source, flags, name)) {}
    // Loads code.
    Module(const Device &device, const void *code, std::size_t size) : Owned(load(device, code, size)) {}
    Kernel kernel(const std::string &name) const {
        mlxrocm_kernel *kernel = nullptr;
        detail::call(mlxrocm_module_get_kernel, get(), name.data(), name.size(), &kernel);
        return Kernel(kernel);
    }

  private:
    static mlxrocm_module *compile(const Device &device, const std::string &source,
                                   const std::vector<std::string> &flags, const std::string &name) {
        std::vector<const char *> borrowed;
        std::vector<std::size_t> lengths;
        for (const std::string &flag : flags) {
            borrowed.push_back(flag.data());
            lengths.push_back(flag.size());
        }
        mlxrocm_compile_options options{};
        options.struct_size = sizeof options;
        options.flag_count = static_cast<std::uint32_t>(borrowed.size());
        options.flags = borrowed.data();
        options.flag_lengths = lengths.data();
        options.name = name.c_str();
        options.name_length = name.size();
        mlxrocm_module *module = nullptr;
        detail::call(mlxrocm_module_compile, device.get(), source.data(), source.size(), &options,
                     &module);
        return module;
    }
    static mlxrocm_module *load(const Device &device, const void *code, std::size_t size) {
        mlxrocm_module *module = nullptr;
        detail::call(mlxrocm_module_load, device.get(), code, size, &module);
        return module;
    }
};

// One argument of a kernel: a number, or a buffer that it reads (In), writes (Out) or both.
struct In {
    const Buffer &buffer;
    std::uint64_t offset = 0;
};
struct Out {
    const Buffer &buffer;
    std::uint64_t offset = 0;
};

namespace detail {
inline mlxrocm_arg arg(const Buffer &buffer) noexcept { return mlxrocm_arg_buffer(buffer.get(), 0); }
inline mlxrocm_arg arg(const In &in) noexcept { return mlxrocm_arg_input(in.buffer.get(), in.offset); }
inline mlxrocm_arg arg(const Out &out) noexcept {
    return mlxrocm_arg_output(out.buffer.get(), out.offset);
}
inline mlxrocm_arg arg(std::uint32_t value) noexcept { return mlxrocm_arg_u32(value); }
inline mlxrocm_arg arg(std::int32_t value) noexcept { return mlxrocm_arg_i32(value); }
inline mlxrocm_arg arg(float value) noexcept { return mlxrocm_arg_f32(value); }
inline mlxrocm_arg arg(std::uint64_t value) noexcept { return mlxrocm_arg_u64(value); }
inline mlxrocm_arg arg(std::int64_t value) noexcept { return mlxrocm_arg_i64(value); }
inline mlxrocm_arg arg(double value) noexcept { return mlxrocm_arg_f64(value); }
inline mlxrocm_arg arg(const mlxrocm_arg &value) noexcept { return value; }
} // namespace detail

// Blocks or work items in x, y and z.
struct Size {
    std::uint32_t x = 1, y = 1, z = 1;
};

namespace detail {
// Calls `launch` with a C struct that borrows from the arguments.
template <typename Launch, typename... Arguments>
void with_launch(Launch launch, Size grid, Size block, std::uint32_t dynamic_lds,
                 const Arguments &...arguments) {
    const std::vector<mlxrocm_arg> args{arg(arguments)...};
    mlxrocm_launch how{};
    how.struct_size = sizeof how;
    how.dynamic_lds = dynamic_lds;
    how.grid[0] = grid.x, how.grid[1] = grid.y, how.grid[2] = grid.z;
    how.block[0] = block.x, how.block[1] = block.y, how.block[2] = block.z;
    how.args = args.data();
    how.arg_count = args.size();
    launch(static_cast<const mlxrocm_launch *>(&how));
}
} // namespace detail

class Stream : public detail::Owned<mlxrocm_stream, mlxrocm_stream_free> {
  public:
    explicit Stream(const Device &device) : Owned(make(device)) {}
    // A negative timeout waits for ever. Throws what the queued work failed with.
    void wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) {
        detail::call(mlxrocm_stream_wait, get(), std::int64_t{timeout.count()});
    }
    bool is_idle() const { return detail::call(mlxrocm_stream_query, get()) == MLXROCM_OK; }
    void record(const GpuEvent &event) { detail::call(mlxrocm_stream_record, get(), event.get()); }
    void wait_for(const GpuEvent &event) { detail::call(mlxrocm_stream_wait_for, get(), event.get()); }
    void write(const Buffer &buffer, std::uint64_t offset, const void *bytes, std::size_t size) {
        detail::call(mlxrocm_stream_write, get(), buffer.get(), offset, bytes, size);
    }
    void read(const Buffer &buffer, std::uint64_t offset, void *bytes, std::size_t size) {
        detail::call(mlxrocm_stream_read, get(), buffer.get(), offset, bytes, size);
    }
    void copy(const Buffer &target, std::uint64_t target_offset, const Buffer &source,
              std::uint64_t source_offset, std::uint64_t size) {
        detail::call(mlxrocm_stream_copy, get(), target.get(), target_offset, source.get(), source_offset,
                     size);
    }
    void fill(const Buffer &buffer, std::uint64_t offset, std::uint64_t size, std::uint8_t value) {
        detail::call(mlxrocm_stream_fill, get(), buffer.get(), offset, size, value);
    }
    // `arguments`: numbers of the kernel's own types, Buffer, In, Out or mlxrocm_arg.
    template <typename... Arguments>
    void launch(const Kernel &kernel, Size grid, Size block, const Arguments &...arguments) {
        launch_lds(kernel, grid, block, 0, arguments...);
    }
    template <typename... Arguments>
    void launch_lds(const Kernel &kernel, Size grid, Size block, std::uint32_t dynamic_lds,
                    const Arguments &...arguments) {
        detail::with_launch(
            [&](const mlxrocm_launch *how) {
                detail::call(mlxrocm_stream_launch, get(), kernel.get(), how);
            },
            grid, block, dynamic_lds, arguments...);
    }

  private:
    static mlxrocm_stream *make(const Device &device) {
        mlxrocm_stream *stream = nullptr;
        detail::call(mlxrocm_stream_new, device.get(), &stream);
        return stream;
    }
};

// A recorded list of launches: add to it, end(), then run() it often.
class Program : public detail::Owned<mlxrocm_program, mlxrocm_program_free> {
  public:
    explicit Program(const Device &device) : Owned(make(device)) {}
    template <typename... Arguments>
    void launch(const Kernel &kernel, Size grid, Size block, const Arguments &...arguments) {
        launch_lds(kernel, grid, block, 0, arguments...);
    }
    template <typename... Arguments>
    void launch_lds(const Kernel &kernel, Size grid, Size block, std::uint32_t dynamic_lds,
                    const Arguments &...arguments) {
        detail::with_launch(
            [&](const mlxrocm_launch *how) {
                detail::call(mlxrocm_program_launch, get(), kernel.get(), how);
            },
            grid, block, dynamic_lds, arguments...);
    }
    void copy(const Buffer &target, std::uint64_t target_offset, const Buffer &source,
              std::uint64_t source_offset, std::uint64_t size) {
        detail::call(mlxrocm_program_copy, get(), target.get(), target_offset, source.get(),
                     source_offset, size);
    }
    void fill(const Buffer &buffer, std::uint64_t offset, std::uint64_t size, std::uint8_t value) {
        detail::call(mlxrocm_program_fill, get(), buffer.get(), offset, size, value);
    }
    void barrier() { detail::call(mlxrocm_program_barrier, get()); }
    void end() { detail::call(mlxrocm_program_end, get()); }
    void run(Stream &stream) { detail::call(mlxrocm_program_run, get(), stream.get()); }
    mlxrocm_program_info info() const {
        mlxrocm_program_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_program_get_info, get(), &info);
        return info;
    }
    // How the next run goes, and why.
    std::string explain() const {
        return detail::filled_text([&](char *text, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_program_explain, get(), text, capacity, needed);
        });
    }

  private:
    static mlxrocm_program *make(const Device &device) {
        mlxrocm_program *program = nullptr;
        detail::call(mlxrocm_program_new, device.get(), &program);
        return program;
    }
};

using Token = std::uint32_t;

class Tokenizer : public detail::Owned<mlxrocm_tokenizer, mlxrocm_tokenizer_free> {
  public:
    explicit Tokenizer(mlxrocm_tokenizer *owned) noexcept : Owned(owned) {}
    mlxrocm_tokenizer_info info() const {
        mlxrocm_tokenizer_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_tokenizer_get_info, get(), &info);
        return info;
    }
    // `flags`: MLXROCM_ENCODE_...
    std::vector<Token> encode(std::string_view text, std::uint32_t flags = 0) const {
        return detail::filled<Token>([&](Token *tokens, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_tokenizer_encode, get(), text.data(), text.size(), flags, tokens,
                         capacity, needed);
        });
    }
    // `flags`: MLXROCM_DECODE_...
    std::string decode(const std::vector<Token> &tokens, std::uint32_t flags = 0) const {
        return detail::filled_text([&](char *text, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_tokenizer_decode, get(), tokens.data(), tokens.size(), flags, text,
                         capacity, needed);
        });
    }
    std::string token_bytes(Token token) const {
        return detail::filled_text([&](char *bytes, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_tokenizer_token_bytes, get(), token, bytes, capacity, needed);
        });
    }
    std::optional<Token> find(const std::string &spelling) const {
        Token token = 0;
        detail::call(mlxrocm_tokenizer_find_token, get(), spelling.data(), spelling.size(), &token);
        return token == MLXROCM_NO_TOKEN ? std::nullopt : std::optional<Token>(token);
    }
    bool is_special(Token token) const {
        std::uint32_t special = 0;
        detail::call(mlxrocm_tokenizer_is_special, get(), token, &special);
        return special != 0;
    }
};

struct Message {
    std::string role;
    std::string content;
};

namespace detail {
// Borrows from `messages`.
inline std::vector<mlxrocm_message> borrowed(const std::vector<Message> &messages) {
    std::vector<mlxrocm_message> all;
    for (const Message &message : messages)
        all.push_back({message.role.c_str(), message.role.size(), message.content.c_str(),
                       message.content.size()});
    return all;
}
} // namespace detail

class ChatTemplate : public detail::Owned<mlxrocm_chat_template, mlxrocm_chat_template_free> {
  public:
    explicit ChatTemplate(mlxrocm_chat_template *owned) noexcept : Owned(owned) {}
    explicit ChatTemplate(const std::string &source, const std::string &bos = "",
                          const std::string &eos = "")
        : Owned(compile(source, bos, eos)) {}
    // `chat_json`: a JSON object of messages, tools and further template variables, or "".
    std::string render(const std::vector<Message> &messages,
                       std::uint32_t flags = MLXROCM_RENDER_GENERATION_PROMPT,
                       const std::string &chat_json = "") const {
        const std::vector<mlxrocm_message> all = detail::borrowed(messages);
        return detail::filled_text([&](char *text, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_chat_template_render, get(), all.data(), all.size(), flags,
                         chat_json.data(), chat_json.size(), text, capacity, needed);
        });
    }
    std::string source() const {
        return detail::filled_text([&](char *text, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_chat_template_source, get(), text, capacity, needed);
        });
    }

  private:
    static mlxrocm_chat_template *compile(const std::string &source, const std::string &bos,
                                          const std::string &eos) {
        mlxrocm_chat_template *made = nullptr;
        detail::call(mlxrocm_chat_template_new, source.data(), source.size(), bos.data(), bos.size(),
                     eos.data(), eos.size(), &made);
        return made;
    }
};

// `done` of `total` bytes; returning false ends the call with MLXROCM_ERROR_CANCELLED. What it throws ends the call
// too and comes out of it.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

namespace detail {
struct Report {
    const Progress &progress;
    std::exception_ptr thrown;
    static std::int32_t heard(std::uint64_t done, std::uint64_t total, void *data) {
        Report &report = *static_cast<Report *>(data);
        try {
            return report.progress(done, total) ? 0 : 1;
        } catch (...) {
            report.thrown = std::current_exception();
            return 1;
        }
    }
};
} // namespace detail

class Model : public detail::Owned<mlxrocm_model, mlxrocm_model_free> {
  public:
    using Progress = mlxrocm::Progress;

    // On the best GPU, else the CPU.
    explicit Model(const std::string &path, std::uint32_t threads = 0, const Progress &progress = {})
        : Owned(load(path, nullptr, threads, progress)) {}
    // On this device; an Error if it cannot. The model keeps what it needs of it.
    Model(const std::string &path, const Device &device, std::uint32_t threads = 0,
          const Progress &progress = {})
        : Owned(load(path, device.get(), threads, progress)) {}
    // Strings in it live as long as the model.
    mlxrocm_model_info info() const {
        mlxrocm_model_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_model_get_info, get(), &info);
        return info;
    }
    Tokenizer tokenizer() const {
        mlxrocm_tokenizer *made = nullptr;
        detail::call(mlxrocm_model_get_tokenizer, get(), &made);
        return Tokenizer(made);
    }
    ChatTemplate chat_template() const {
        mlxrocm_chat_template *made = nullptr;
        detail::call(mlxrocm_model_get_chat_template, get(), &made);
        return ChatTemplate(made);
    }

  private:
    static mlxrocm_model *load(const std::string &path, const mlxrocm_device *device,
                               std::uint32_t threads, const Progress &progress) {
        detail::Report state{progress, nullptr};
        mlxrocm_model_options options{};
        options.struct_size = sizeof options;
        options.threads = threads;
        options.device = device;
        options.progress = progress ? detail::Report::heard : nullptr;
        options.user_data = &state;
        mlxrocm_model *model = nullptr;
        try {
            detail::call(mlxrocm_model_load, path.data(), path.size(), &options, &model);
        } catch (...) {
            if (state.thrown) std::rethrow_exception(state.thrown);
            throw;
        }
        return model;
    }
};

// A prompt and how to continue it. `options` are the fields of mlxrocm_request that are numbers; the
// functions set those that point to something.
class Request {
  public:
    mlxrocm_request options{};

    Request &text(std::string prompt) {
        text_ = std::move(prompt);
        return *this;
    }
    Request &tokens(std::vector<Token> prompt) {
        tokens_ = std::move(prompt);
        return *this;
    }
    Request &chat(std::vector<Message> messages) {
        messages_ = std::move(messages);
        return *this;
    }
    // A JSON object: messages as OpenAI's API writes them, tools, further template variables.
    Request &chat_json(std::string object) {
        chat_json_ = std::move(object);
        return *this;
    }
    Request &stop(std::vector<std::string> strings) {
        stop_ = std::move(strings);
        return *this;
    }
    Request &stop_tokens(std::vector<Token> tokens) {
        stop_tokens_ = std::move(tokens);
        return *this;
    }
    Request &bias(Token token, float value) {
        bias_tokens_.push_back(token);
        bias_values_.push_back(value);
        return *this;
    }
    // Changes the logits of the next token before it is chosen (see mlxrocm_logits_processor); what it throws ends
    // the generation and comes out of its loop.
    using LogitsProcessor = std::function<void(const Token *tokens, std::size_t token_count, float *logits,
                                               std::size_t vocab_size)>;
    Request &logits_processor(LogitsProcessor processor) {
        processor_ = std::move(processor);
        return *this;
    }
    // What the generated text must be, at most one: JSON that fits a JSON schema; what a regular expression matches, all
    // of it; what the rule start of a grammar in Lark's notation derives. See mlxrocm_request.
    Request &json_schema(std::string schema) {
        json_schema_ = std::move(schema);
        return *this;
    }
    Request &regex(std::string expression) {
        regex_ = std::move(expression);
        return *this;
    }
    Request &grammar(std::string grammar) {
        grammar_ = std::move(grammar);
        return *this;
    }
    Request &max_tokens(std::uint32_t count) {
        options.max_tokens = count;
        return *this;
    }

    // Calls `use` with a C struct that borrows from this object. Returns where what the processor throws is kept.
    template <typename Use> std::shared_ptr<std::exception_ptr> with(Use use) const {
        std::shared_ptr<std::exception_ptr> thrown;
        const std::vector<mlxrocm_message> messages = detail::borrowed(messages_);
        std::vector<const char *> stop;
        std::vector<std::size_t> stop_lengths;
        for (const std::string &string : stop_) {
            stop.push_back(string.data());
            stop_lengths.push_back(string.size());
        }
        mlxrocm_request request = options;
        request.struct_size = sizeof request;
        request.tokens = tokens_.data();
        request.token_count = tokens_.size();
        request.text = text_ ? text_->c_str() : nullptr;
        request.text_length = text_ ? text_->size() : 0;
        request.messages = messages.data();
        request.message_count = messages.size();
        request.chat_json = chat_json_ ? chat_json_->c_str() : nullptr;
        request.chat_json_length = chat_json_ ? chat_json_->size() : 0;
        request.json_schema = json_schema_ ? json_schema_->c_str() : nullptr;
        request.json_schema_length = json_schema_ ? json_schema_->size() : 0;
        request.regex = regex_ ? regex_->c_str() : nullptr;
        request.regex_length = regex_ ? regex_->size() : 0;
        request.grammar = grammar_ ? grammar_->c_str() : nullptr;
        request.grammar_length = grammar_ ? grammar_->size() : 0;
        request.stop = stop.data();
        request.stop_lengths = stop_lengths.data();
        request.stop_count = stop.size();
        request.stop_tokens = stop_tokens_.data();
        request.stop_token_count = stop_tokens_.size();
        request.bias_tokens = bias_tokens_.data();
        request.bias_values = bias_values_.data();
        request.bias_count = bias_tokens_.size();
        if (processor_) {
            request.logits_processor = process;
            thrown = std::make_shared<std::exception_ptr>();
            request.user_data = new Processor{processor_, thrown}; // the library frees it in any case
            request.user_data_free = [](void *data) { delete static_cast<Processor *>(data); };
        }
        use(&request);
        return thrown;
    }

  private:
    struct Processor {
        LogitsProcessor function;
        std::shared_ptr<std::exception_ptr> thrown;
    };
    static std::int32_t process(const Token *tokens, std::size_t token_count, float *logits,
                                std::size_t vocab_size, void *data) {
        const Processor &processor = *static_cast<Processor *>(data);
        try {
            processor.function(tokens, token_count, logits, vocab_size);
            return 0;
        } catch (...) {
            *processor.thrown = std::current_exception();
            return 1;
        }
    }
    LogitsProcessor processor_;
    std::optional<std::string> text_, chat_json_, json_schema_, regex_, grammar_;
    std::vector<Token> tokens_;
    std::vector<Message> messages_;
    std::vector<std::string> stop_;
    std::vector<Token> stop_tokens_;
    std::vector<Token> bias_tokens_;
    std::vector<float> bias_values_;
};

// Something that happened. What it points to lives until the generation's next event.
class Event : public mlxrocm_event {
  public:
    Event() : mlxrocm_event{} { struct_size = sizeof(mlxrocm_event); }
    std::string_view text() const noexcept {
        return mlxrocm_event::text ? std::string_view(mlxrocm_event::text, text_length)
                                   : std::string_view();
    }
    bool is_token() const noexcept { return kind == MLXROCM_EVENT_TOKEN; }
    bool is_finished() const noexcept { return kind == MLXROCM_EVENT_FINISHED; }
};

// A running request. A loop over it takes events until the end; one that ends with an error throws
// that as an Error, or what its logits processor threw.
class Generation : public detail::Owned<mlxrocm_generation, mlxrocm_generation_free> {
  public:
    explicit Generation(mlxrocm_generation *owned, std::shared_ptr<std::exception_ptr> thrown = {}) noexcept
        : Owned(owned), thrown_(std::move(thrown)) {}

    // MLXROCM_OK with an event, MLXROCM_PENDING or MLXROCM_END; a negative timeout waits for ever.
    mlxrocm_status next(Event &event,
                        std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) {
        return detail::call(mlxrocm_generation_next, get(), std::int64_t{timeout.count()},
                            static_cast<mlxrocm_event *>(&event));
    }
    void cancel() { detail::call(mlxrocm_generation_cancel, get()); }
    // Goes on after the tokens whose events were taken; `request` has no prompt.
    Generation fork(const Request &request) {
        mlxrocm_generation *made = nullptr;
        auto thrown = request.with([&](const mlxrocm_request *borrowed) {
            detail::call(mlxrocm_generation_fork, get(), borrowed, &made);
        });
        return Generation(made, std::move(thrown));
    }
    // Readable while there is an event, for poll and event loops; closed with the generation.
    int fd() const {
        std::int32_t fd = -1;
        detail::call(mlxrocm_generation_get_fd, get(), &fd);
        return fd;
    }
    // The place of one that has an event, if one has within the timeout (negative: for ever) or will ever have.
    static std::optional<std::size_t>
    wait_any(const std::vector<Generation> &generations,
             std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) {
        std::vector<const mlxrocm_generation *> all;
        for (const Generation &generation : generations) all.push_back(generation.get());
        std::size_t index = 0;
        const mlxrocm_status status = detail::call(mlxrocm_generation_wait_any, all.data(), all.size(),
                                                   std::int64_t{timeout.count()}, &index);
        return status == MLXROCM_OK ? std::optional<std::size_t>(index) : std::nullopt;
    }

    class Iterator {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Event;
        using difference_type = std::ptrdiff_t;
        using pointer = const Event *;
        using reference = const Event &;

        Iterator() noexcept = default;
        explicit Iterator(Generation &generation) : generation_(&generation) { ++*this; }
        const Event &operator*() const noexcept { return event_; }
        const Event *operator->() const noexcept { return &event_; }
        Iterator &operator++() {
            if (generation_->next(event_) == MLXROCM_END) {
                generation_ = nullptr;
            } else if (event_.is_finished() && event_.finish_reason == MLXROCM_FINISH_ERROR) {
                // Written before this event could be read.
                if (generation_->thrown_ && *generation_->thrown_) std::rethrow_exception(*generation_->thrown_);
                detail::raise(event_.error_status,
                              std::string(event_.error_message, event_.error_message_length));
            }
            return *this;
        }
        void operator++(int) { ++*this; } // what std::ranges asks of an input iterator
        bool operator==(const Iterator &other) const noexcept {
            return generation_ == other.generation_;
        }
        bool operator!=(const Iterator &other) const noexcept { return !(*this == other); }

      private:
        Generation *generation_ = nullptr;
        Event event_;
    };
    Iterator begin() { return Iterator(*this); }
    Iterator end() noexcept { return Iterator(); }

    // Waits for the end: all text that is still to come.
    std::string text() {
        std::string all;
        for (const Event &event : *this) all += event.text();
        return all;
    }

  private:
    std::shared_ptr<std::exception_ptr> thrown_; // null without a logits processor
};

// The tokens of a saved state.
inline std::vector<Token> state_tokens(const std::vector<std::uint8_t> &state) {
    return detail::filled<Token>([&](Token *tokens, std::size_t capacity, std::size_t *needed) {
        detail::call(mlxrocm_state_get_tokens, state.data(), state.size(), tokens, capacity, needed);
    });
}

class Session : public detail::Owned<mlxrocm_session, mlxrocm_session_free> {
  public:
    // `options`: zero is each field's default; its struct_size need not be set.
    explicit Session(const Model &model, mlxrocm_session_options options = {})
        : Owned(open(model, options)) {}
    Generation submit(const Request &request) {
        mlxrocm_generation *generation = nullptr;
        auto thrown = request.with([&](const mlxrocm_request *borrowed) {
            detail::call(mlxrocm_session_submit, get(), borrowed, &generation);
        });
        return Generation(generation, std::move(thrown));
    }
    // On a thread of its own: the whole text, or what the generation failed with.
    std::future<std::string> submit_async(const Request &request) {
        return std::async(std::launch::async,
                          [generation = submit(request)]() mutable { return generation.text(); });
    }
    // Runs all requests at once and waits: their texts in order. If one fails, the others are cancelled.
    std::vector<std::string> batch(const std::vector<Request> &requests) {
        std::vector<Generation> generations;
        for (const Request &request : requests) generations.push_back(submit(request));
        std::vector<std::string> texts;
        for (Generation &generation : generations) texts.push_back(generation.text());
        return texts;
    }
    mlxrocm_session_info info() const {
        mlxrocm_session_info info{};
        info.struct_size = sizeof info;
        detail::call(mlxrocm_session_get_info, get(), &info);
        return info;
    }
    // Rows of vocab_size numbers, one for each token.
    std::vector<float> logits(const std::vector<Token> &tokens) {
        return detail::filled<float>([&](float *logits, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_session_logits, get(), tokens.data(), tokens.size(), logits,
                         capacity, needed);
        });
    }
    // What was computed of these tokens, to go on after them in another session (mlxrocm_session_save_state).
    std::vector<std::uint8_t> save_state(const std::vector<Token> &tokens) {
        return detail::filled<std::uint8_t>(
            [&](std::uint8_t *state, std::size_t capacity, std::size_t *needed) {
                detail::call(mlxrocm_session_save_state, get(), tokens.data(), tokens.size(), state,
                             capacity, needed);
            });
    }
    void save_state(const std::vector<Token> &tokens, const std::string &path) {
        detail::call(mlxrocm_session_save_state_file, get(), tokens.data(), tokens.size(),
                     path.data(), path.size());
    }
    void load_state(const std::vector<std::uint8_t> &state) {
        detail::call(mlxrocm_session_load_state, get(), state.data(), state.size());
    }
    void load_state(const std::string &path) {
        detail::call(mlxrocm_session_load_state_file, get(), path.data(), path.size());
    }
    // Rows of logits of some positions, which rise; of none: the last token's row.
    std::vector<float> logits_at(const std::vector<Token> &tokens,
                                 const std::vector<std::uint32_t> &positions = {}) {
        return detail::filled<float>([&](float *logits, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_session_logits_at, get(), tokens.data(), tokens.size(),
                         positions.data(), positions.size(), logits, capacity, needed);
        });
    }
    // One embedding of the text (hidden_size numbers), or with MLXROCM_POOLING_NONE a row for each token.
    std::vector<float> embed(const std::vector<Token> &tokens,
                             std::uint32_t pooling = MLXROCM_POOLING_MEAN,
                             std::uint64_t flags = MLXROCM_EMBED_NORMALIZE) {
        mlxrocm_embed_options options{};
        options.struct_size = sizeof options;
        options.pooling = pooling;
        options.flags = flags;
        return detail::filled<float>([&](float *row, std::size_t capacity, std::size_t *needed) {
            detail::call(mlxrocm_session_embed, get(), tokens.data(), tokens.size(),
                         static_cast<const mlxrocm_embed_options *>(&options), row, capacity,
                         needed);
        });
    }

  private:
    static mlxrocm_session *open(const Model &model, mlxrocm_session_options options) {
        options.struct_size = sizeof options;
        mlxrocm_session *session = nullptr;
        detail::call(mlxrocm_session_new, model.get(), &options, &session);
        return session;
    }
};

} // namespace mlxrocm

#endif // MLXROCM_HPP
