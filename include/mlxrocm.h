/*
 * mlxrocm.h: quantized language models and GPU kernels from C. Generated from the sources; this file
 * is the manual.
 *
 * A program loads a model (mlxrocm_model_load), opens a session on it (mlxrocm_session_new), submits
 * requests (mlxrocm_session_submit) and takes their events (mlxrocm_generation_next) until
 * MLXROCM_EVENT_FINISHED. The numbered programs in c_examples/ show each step.
 *
 * A program that brings its own kernels opens a GPU (mlxrocm_device_open with 1 and up), compiles them
 * (mlxrocm_module_compile), allocates memory (mlxrocm_buffer_new) and queues work on a stream
 * (mlxrocm_stream_new), one launch at a time or as a recorded program (mlxrocm_program_new). The two
 * groups do not need each other.
 *
 * Status and errors. Functions that can fail return mlxrocm_status: 0 is success, negative numbers
 * are errors, positive ones expected outcomes that are no errors. The last parameter, `error`, may
 * be NULL; if not, a failure stores an owned error object there, with the status and a message
 * that says what failed, on which object, and what to do. Success does not touch it. Outputs are
 * written only on success (but `needed` also with MLXROCM_ERROR_BUFFER_TOO_SMALL). A NULL where none
 * may be, a handle that was freed or is of another type: errors, not crashes.
 *
 * Ownership has three words. Owned: the caller frees it, with the function named. Borrowed: the
 * other side keeps it; valid until the event named. Consumed: the callee takes it. Every _free
 * function accepts NULL. What was made from an object keeps it alive, so objects may be freed in any
 * order, also while another thread is in a call on them.
 *
 * Structs that may grow begin with `struct_size`: set it to the sizeof of the struct, and all other
 * fields to what you want; zero is always the default. The usual way is an initialiser,
 *     mlxrocm_request request = {.struct_size = sizeof request, .max_tokens = 100};
 * A program compiled with an older header works with a newer library, and the other way round as
 * long as it sets no field that the library does not know.
 *
 * Buffers. Functions that fill a buffer take its capacity and write how much is needed. Capacity 0
 * only measures.
 *
 * Threads. Each type says what it allows: `immutable: any thread`, `internally locked: any thread`
 * or `one thread at a time`. No function belongs to a particular thread. A child process made by
 * fork() must not use the library's objects.
 *
 * Manners. The library never exits, never writes to stdout, installs no signal handler and changes
 * no environment variable. It logs to a callback only (mlxrocm_log_set_callback), or to stderr if
 * MLXROCM_LOG is set.
 */


#ifndef MLXROCM_H
#define MLXROCM_H

#include <stddef.h>
#include <stdint.h>

/**
 * Major version of this header: the binary interface changes with it.
 */
#define MLXROCM_VERSION_MAJOR 0

/**
 * Minor version of this header: functions and fields are added with it.
 */
#define MLXROCM_VERSION_MINOR 1

/**
 * Patch version of this header.
 */
#define MLXROCM_VERSION_PATCH 0

/**
 * This header's version as one number, major * 10000 + minor * 100 + patch: compare it with
 * mlxrocm_version().
 */
#define MLXROCM_VERSION 100

/**
 * Log level: something failed.
 */
#define MLXROCM_LOG_ERROR 1

/**
 * Log level: something works worse than the user may expect.
 */
#define MLXROCM_LOG_WARN 2

/**
 * Log level: what was chosen (device, kernels, formats).
 */
#define MLXROCM_LOG_INFO 3

/**
 * Log level: details for a bug report.
 */
#define MLXROCM_LOG_DEBUG 4

/**
 * Device kind: the processor itself. Always there, always device 0.
 */
#define MLXROCM_DEVICE_CPU 1

/**
 * Device kind: an AMD GPU, through HIP.
 */
#define MLXROCM_DEVICE_HIP 2

/**
 * Device kind: an NVIDIA GPU, through CUDA's driver.
 */
#define MLXROCM_DEVICE_CUDA 3

/**
 * Graphs: programs run as graphs where these were found right and faster on this device. The
 * default, unless the environment variable MLXROCM_GRAPHS is on or off.
 */
#define MLXROCM_GRAPHS_AUTO 0

/**
 * Graphs: programs always run as graphs, where the driver builds them.
 */
#define MLXROCM_GRAPHS_ON 1

/**
 * Graphs: programs are launched one kernel after another.
 */
#define MLXROCM_GRAPHS_OFF 2

/**
 * Self-test flag: measure with small sizes and few rounds.
 */
#define MLXROCM_SELFTEST_QUICK 1

/**
 * Self-test flag: leave the measurements out.
 */
#define MLXROCM_SELFTEST_NO_MEASUREMENTS 2

/**
 * Buffer kind: memory of the GPU.
 */
#define MLXROCM_BUFFER_DEVICE 1

/**
 * Buffer kind: host memory that the GPU can reach, for copies that go on while the caller does
 * something else.
 */
#define MLXROCM_BUFFER_PINNED 2

/**
 * Argument kind: an address in device memory.
 */
#define MLXROCM_ARG_BUFFER 1

/**
 * Argument kind: a number of 32 bits.
 */
#define MLXROCM_ARG_32 2

/**
 * Argument kind: a number of 64 bits, or an address that the application keeps valid.
 */
#define MLXROCM_ARG_64 3

/**
 * Access: the kernel reads the buffer's part.
 */
#define MLXROCM_ACCESS_READ 1

/**
 * Access: the kernel writes the buffer's part.
 */
#define MLXROCM_ACCESS_WRITE 2

/**
 * Program mode: one launch after another.
 */
#define MLXROCM_PROGRAM_DIRECT 1

/**
 * Program mode: the driver replays the whole program as a graph.
 */
#define MLXROCM_PROGRAM_GRAPH 2

/**
 * Reason of a mode: mlxrocm_device_set_graphs or the environment variable MLXROCM_GRAPHS.
 */
#define MLXROCM_REASON_SETTING 1

/**
 * Reason of a mode: graphs were compared with direct launches on this device, bit for bit and in
 * time.
 */
#define MLXROCM_REASON_COMPARED 2

/**
 * Reason of a mode: graphs were not compared on this device yet. The first run of a program of 8
 * launches or more, all of which say what they write, does it.
 */
#define MLXROCM_REASON_NOT_COMPARED 3

/**
 * Reason of a mode: the driver does not build a graph of this program.
 */
#define MLXROCM_REASON_NOT_BUILT 4

/**
 * Encode flag: add the tokens that the model wants around a raw prompt (begin of text...).
 */
#define MLXROCM_ENCODE_ADD_SPECIAL 1

/**
 * Encode flag: read special tokens that are spelled out in the text as those tokens. Do not set it
 * for text from people you do not trust.
 */
#define MLXROCM_ENCODE_PARSE_SPECIAL 2

/**
 * Decode flag: leave special tokens out.
 */
#define MLXROCM_DECODE_SKIP_SPECIAL 1

/**
 * Stands for a token that a model does not have.
 */
#define MLXROCM_NO_TOKEN UINT32_MAX

/**
 * Render flag: open the assistant's turn at the end, so that the model answers.
 */
#define MLXROCM_RENDER_GENERATION_PROMPT 1

/**
 * mlxrocm_session_options.kv_type: 16-bit floating point numbers.
 */
#define MLXROCM_KV_F16 0

/**
 * mlxrocm_session_options.kv_type: integers of 8 bits with a scale for each 32 of them: 53 % of the
 * memory; hardly any difference in what is generated.
 */
#define MLXROCM_KV_Q8 1

/**
 * mlxrocm_session_options.kv_type: integers of 4 bits with a scale and a minimum for each 32 of
 * them: 31 % of the memory; what is generated differs.
 */
#define MLXROCM_KV_Q4 2

/**
 * Request flag: go on past the model's own stop tokens.
 */
#define MLXROCM_REQUEST_IGNORE_EOS 1

/**
 * Event kind: `prompt_done` of `prompt_total` prompt tokens have been run.
 */
#define MLXROCM_EVENT_PROMPT 1

/**
 * Event kind: a token was chosen.
 */
#define MLXROCM_EVENT_TOKEN 2

/**
 * Event kind: the generation ended; nothing follows.
 */
#define MLXROCM_EVENT_FINISHED 3

/**
 * Finish reason: a stop token of the model or of the request.
 */
#define MLXROCM_FINISH_STOP_TOKEN 1

/**
 * Finish reason: a stop string.
 */
#define MLXROCM_FINISH_STOP_STRING 2

/**
 * Finish reason: max_tokens were generated.
 */
#define MLXROCM_FINISH_LENGTH 3

/**
 * Finish reason: the context is full.
 */
#define MLXROCM_FINISH_CONTEXT 4

/**
 * Finish reason: mlxrocm_generation_cancel was called.
 */
#define MLXROCM_FINISH_CANCELLED 5

/**
 * Finish reason: it failed; `error_status` and `error_message` say why.
 */
#define MLXROCM_FINISH_ERROR 6

/**
 * Memory of a fixed size and address. Internally locked: any thread; its content is the
 * application's to guard. Work that was queued with a buffer keeps its memory, also after it is
 * freed.
 */
typedef struct mlxrocm_buffer mlxrocm_buffer;

/**
 * A compiled chat template. Immutable: any thread.
 */
typedef struct mlxrocm_chat_template mlxrocm_chat_template;

/**
 * A device. Internally locked: any thread. What is made on a device keeps it alive. A GPU that is
 * opened twice is one device with one memory limit.
 */
typedef struct mlxrocm_device mlxrocm_device;

/**
 * What went wrong, in detail. A function that fails stores a new object where its last parameter
 * points, if that is not NULL. Immutable: any thread.
 */
typedef struct mlxrocm_error mlxrocm_error;

/**
 * A running request. Internally locked: any thread; but what an event points to is valid only until
 * the next call of mlxrocm_generation_next, so only one thread at a time should call that.
 */
typedef struct mlxrocm_generation mlxrocm_generation;

/**
 * A mark in a stream, to wait for and to measure time with: mlxrocm_stream_record sets it.
 * Internally locked: any thread.
 */
typedef struct mlxrocm_gpu_event mlxrocm_gpu_event;

/**
 * A function that a GPU runs. Immutable: any thread.
 */
typedef struct mlxrocm_kernel mlxrocm_kernel;

/**
 * A loaded model. Immutable: any thread. Sessions, tokenizers and chat templates made from it keep
 * it alive.
 */
typedef struct mlxrocm_model mlxrocm_model;

/**
 * Code loaded on a GPU. Immutable: any thread. Kernels keep their module loaded.
 */
typedef struct mlxrocm_module mlxrocm_module;

/**
 * A list of launches, copies and fills that is recorded once and run often. Internally locked: any
 * thread.
 *
 * It begins in recording: what is added to it is ordered by what each launch reads and writes.
 * mlxrocm_program_end ends the recording; from then on it can be run. It keeps its buffers and
 * kernels. Runs of one program follow each other, also on different streams.
 */
typedef struct mlxrocm_program mlxrocm_program;

/**
 * A session: several requests at once over one KV cache. Internally locked: any thread.
 * Generations keep their session alive.
 */
typedef struct mlxrocm_session mlxrocm_session;

/**
 * A queue of work that a GPU does in order; different streams run side by side. Internally locked:
 * any thread.
 *
 * Work is queued and not waited for, unless a function says so. What fails while it runs comes out
 * of the next mlxrocm_stream_wait, once.
 */
typedef struct mlxrocm_stream mlxrocm_stream;

/**
 * A tokenizer. Immutable: any thread.
 */
typedef struct mlxrocm_tokenizer mlxrocm_tokenizer;

/**
 * What a function returns: 0 is success, negative values are errors, positive values are expected
 * outcomes that are not errors. Numbers are stable: they are never reused.
 */
typedef int32_t mlxrocm_status;
enum {
  /**
   * Success.
   */
  MLXROCM_OK = 0,
  /**
   * Nothing happened within the timeout; call again.
   */
  MLXROCM_PENDING = 1,
  /**
   * Everything was given out; nothing follows.
   */
  MLXROCM_END = 2,
  /**
   * A parameter has a value outside its documented range, or a handle is not live.
   */
  MLXROCM_ERROR_INVALID_ARGUMENT = -1,
  /**
   * A pointer that must not be NULL is NULL.
   */
  MLXROCM_ERROR_NULL_ARGUMENT = -2,
  /**
   * The handle had an internal error before and can only be freed.
   */
  MLXROCM_ERROR_POISONED = -3,
  /**
   * An allocation failed or would exceed a limit.
   */
  MLXROCM_ERROR_OUT_OF_MEMORY = -4,
  /**
   * The operating system refused to open, read or map a file.
   */
  MLXROCM_ERROR_IO = -5,
  /**
   * A file's content is damaged or contradicts itself.
   */
  MLXROCM_ERROR_INVALID_FILE = -6,
  /**
   * The file or request is valid but asks for something this library does not do.
   */
  MLXROCM_ERROR_UNSUPPORTED = -7,
  /**
   * The caller's buffer is too small; `needed` says what would be enough.
   */
  MLXROCM_ERROR_BUFFER_TOO_SMALL = -8,
  /**
   * The prompt does not fit the context.
   */
  MLXROCM_ERROR_CONTEXT_FULL = -9,
  /**
   * No usable device.
   */
  MLXROCM_ERROR_NO_DEVICE = -10,
  /**
   * A device failed while it ran.
   */
  MLXROCM_ERROR_DEVICE_FAILED = -11,
  /**
   * The caller's progress callback ended the operation.
   */
  MLXROCM_ERROR_CANCELLED = -12,
  /**
   * A defect in this library; the handle it happened in is poisoned.
   */
  MLXROCM_ERROR_INTERNAL = -13,
  /**
   * The device stopped working and takes no more work in this process.
   */
  MLXROCM_ERROR_DEVICE_LOST = -14,
  /**
   * The time given for a wait is over; the work goes on.
   */
  MLXROCM_ERROR_TIMEOUT = -15,
  /**
   * A device gives wrong results: its self-test found them.
   */
  MLXROCM_ERROR_SELFTEST_FAILED = -16
};

/**
 * Receives a log line without its newline; `message` is borrowed for the call.
 *
 * It is called only on a thread that is in a call of this library, by several such threads at once;
 * never on a thread of the library: what those write waits for the next call that ends or logs
 * (1,024 lines at most). It may call this library, but must not throw, unwind or jump out.
 */
typedef void (*mlxrocm_log_callback)(uint32_t level, const char *message, void *user_data);

/**
 * Frees a callback's `user_data`.
 */
typedef void (*mlxrocm_user_data_free)(void *user_data);

/**
 * Facts about a device. What does not apply to a device, or is not known, is 0 or "".
 */
typedef struct mlxrocm_device_info {
  /**
   * Set by the caller to sizeof(mlxrocm_device_info).
   */
  uint32_t struct_size;
  /**
   * One of MLXROCM_DEVICE_...
   */
  uint32_t kind;
  /**
   * The maker's name of it; borrowed until the device is freed.
   */
  const char *name;
  /**
   * The kernels that run on it. CPU: "avx512-vnni", "avx2" or "portable"; GPU: the target of its
   * code, like "gfx1151" or "sm_90". Borrowed until the device is freed.
   */
  const char *isa;
  /**
   * CPU: logical CPUs this process may run on. AMD: compute units (work-group processors where
   * HIP counts those). NVIDIA: multiprocessors.
   */
  uint64_t compute_units;
  /**
   * Memory in bytes; of a GPU that shares the processor's memory, all of that.
   */
  uint64_t memory_total;
  /**
   * Memory in bytes that could be allocated now.
   */
  uint64_t memory_free;
  /**
   * GPU: the target as the driver spells it, like "gfx942:sramecc+:xnack-"; borrowed until the
   * device is freed.
   */
  const char *target;
  /**
   * GPU: its address on the PCI bus, like "0000:03:00.0"; borrowed until the device is freed.
   */
  const char *pci_id;
  /**
   * GPU: bytes of level 2 cache.
   */
  uint64_t l2_bytes;
  /**
   * GPU: bytes of local memory (LDS, shared memory) that one block may use.
   */
  uint32_t lds_bytes;
  /**
   * GPU: work items of a wave (a warp): 32 or 64.
   */
  uint32_t wave_size;
  /**
   * GPU: work items that one block may have.
   */
  uint32_t max_block_threads;
  /**
   * GPU: 1 if it shares the processor's memory.
   */
  uint32_t integrated;
  /**
   * GPU: highest core clock in kHz.
   */
  uint32_t clock_khz;
  /**
   * GPU: highest memory clock in kHz.
   */
  uint32_t memory_clock_khz;
  /**
   * GPU: width of the memory bus in bits.
   */
  uint32_t memory_bus_bits;
  /**
   * GPU: the driver's version. HIP: major * 10000000 + minor * 100000 + patch; CUDA: major * 1000
   * + minor * 10.
   */
  uint32_t driver_version;
} mlxrocm_device_info;

/**
 * Memory counters of a GPU, in bytes. Freed buffers are kept for reuse: `active + cache` stay at or
 * below `limit`.
 */
typedef struct mlxrocm_device_memory {
  /**
   * Set by the caller to sizeof(mlxrocm_device_memory).
   */
  uint32_t struct_size;
  /**
   * 1 if the GPU shares the processor's memory.
   */
  uint32_t integrated;
  /**
   * Held by buffers that are alive.
   */
  uint64_t active;
  /**
   * The highest `active` since the device was opened or mlxrocm_device_reset_peak_memory.
   */
  uint64_t peak;
  /**
   * Freed and kept for reuse.
   */
  uint64_t cache;
  /**
   * The most that `active + cache` may be.
   */
  uint64_t limit;
  /**
   * All memory of the device.
   */
  uint64_t total;
  /**
   * What the driver says is free now.
   */
  uint64_t free;
  /**
   * Pinned host memory held by buffers that are alive.
   */
  uint64_t pinned_active;
  /**
   * Pinned host memory freed and kept for reuse.
   */
  uint64_t pinned_cache;
} mlxrocm_device_memory;

/**
 * Receives one line of a self-test's report without its newline; `line` is borrowed for the call.
 * It is called from the thread that tests.
 *
 * Returns 0 to go on, anything else to end the test with MLXROCM_ERROR_CANCELLED. It must not throw,
 * unwind or jump out.
 */
typedef int32_t (*mlxrocm_selftest_callback)(const char *line, void *user_data);

/**
 * How to test a GPU. Zero is each field's default.
 */
typedef struct mlxrocm_selftest_options {
  /**
   * Set by the caller to sizeof(mlxrocm_selftest_options).
   */
  uint32_t struct_size;
  /**
   * MLXROCM_SELFTEST_... flags together.
   */
  uint32_t flags;
  /**
   * Seed of the random inputs; 0: a new one each time. The report names it.
   */
  uint64_t seed;
  /**
   * Nullable; hears the report, line by line.
   */
  mlxrocm_selftest_callback report;
  /**
   * Nullable, passed to `report`.
   */
  void *user_data;
  /**
   * Nullable; called exactly once with `user_data` before mlxrocm_device_selftest returns, unless
   * this struct cannot be read (NULL, a wrong struct_size) or `device` is not a live device.
   */
  mlxrocm_user_data_free user_data_free;
} mlxrocm_selftest_options;

/**
 * Facts about a buffer.
 */
typedef struct mlxrocm_buffer_info {
  /**
   * Set by the caller to sizeof(mlxrocm_buffer_info).
   */
  uint32_t struct_size;
  /**
   * MLXROCM_BUFFER_DEVICE or MLXROCM_BUFFER_PINNED.
   */
  uint32_t kind;
  /**
   * Bytes, as asked for.
   */
  uint64_t size;
  /**
   * The address at which the GPU sees it. Device memory begins at a multiple of 256.
   */
  uint64_t address;
  /**
   * PINNED: where the application reads and writes it, after waiting for queued work that uses it;
   * borrowed until the buffer is freed. DEVICE: NULL.
   */
  void *data;
} mlxrocm_buffer_info;

/**
 * One argument of a kernel: a pointer or a number of 32 or 64 bits; kernels take no others. The
 * functions mlxrocm_arg_... make them.
 */
typedef struct mlxrocm_arg {
  /**
   * One of MLXROCM_ARG_...
   */
  uint32_t kind;
  /**
   * BUFFER: MLXROCM_ACCESS_READ, MLXROCM_ACCESS_WRITE or both; programs order their launches by
   * it.
   */
  uint32_t access;
  /**
   * BUFFER: the byte offset that the address begins at. Numbers: their bits, the upper 32 of a
   * 32-bit number being 0.
   */
  uint64_t value;
  /**
   * BUFFER: device memory; borrowed for the call that gets the argument.
   */
  const struct mlxrocm_buffer *buffer;
  /**
   * BUFFER: bytes from `value` on that the kernel touches; 0: all to the buffer's end.
   */
  uint64_t size;
} mlxrocm_arg;

/**
 * How to launch a kernel.
 */
typedef struct mlxrocm_launch {
  /**
   * Set by the caller to sizeof(mlxrocm_launch).
   */
  uint32_t struct_size;
  /**
   * Bytes of local memory beyond what the kernel declares.
   */
  uint32_t dynamic_lds;
  /**
   * Blocks in x, y and z; with 0 in x nothing is launched, 0 in y or z is 1.
   */
  uint32_t grid[3];
  /**
   * Work items of a block in x, y and z; 0 in y or z is 1.
   */
  uint32_t block[3];
  /**
   * The kernel's arguments in its order, `arg_count` of them.
   */
  const struct mlxrocm_arg *args;
  /**
   * Elements of `args`, at most 48.
   */
  size_t arg_count;
  /**
   * Arguments of kind BUFFER that the kernel does not take but reaches otherwise, through an
   * address in memory; `touched_count` of them.
   */
  const struct mlxrocm_arg *touched;
  /**
   * Elements of `touched`.
   */
  size_t touched_count;
} mlxrocm_launch;

/**
 * How to compile a source. Zero is each field's default.
 */
typedef struct mlxrocm_compile_options {
  /**
   * Set by the caller to sizeof(mlxrocm_compile_options).
   */
  uint32_t struct_size;
  /**
   * Elements of `flags`.
   */
  uint32_t flag_count;
  /**
   * The compiler's options, NUL-terminated UTF-8 like "-DROWS=4".
   */
  const char *const *flags;
  /**
   * What the source is called in messages; NULL: "kernel source".
   */
  const char *name;
} mlxrocm_compile_options;

/**
 * Facts about a kernel.
 */
typedef struct mlxrocm_kernel_info {
  /**
   * Set by the caller to sizeof(mlxrocm_kernel_info).
   */
  uint32_t struct_size;
  /**
   * Vector registers of a work item.
   */
  uint32_t registers;
  /**
   * Bytes of local memory that it declares.
   */
  uint32_t lds_bytes;
  /**
   * Bytes of private memory of a work item: arrays, and registers that did not fit.
   */
  uint32_t scratch_bytes;
  /**
   * Work items that one block of it may have.
   */
  uint32_t max_block_threads;
  /**
   * Work items of a wave (a warp) on its device: 32 or 64.
   */
  uint32_t wave_size;
  /**
   * Its name; borrowed until the kernel is freed.
   */
  const char *name;
} mlxrocm_kernel_info;

/**
 * Facts about a recorded program.
 */
typedef struct mlxrocm_program_info {
  /**
   * Set by the caller to sizeof(mlxrocm_program_info).
   */
  uint32_t struct_size;
  /**
   * How the next run goes: MLXROCM_PROGRAM_DIRECT or MLXROCM_PROGRAM_GRAPH.
   */
  uint32_t mode;
  /**
   * Why: one of MLXROCM_REASON_...
   */
  uint32_t reason;
  /**
   * COMPARED: 1 if replays gave the same bits as direct launches.
   */
  uint32_t same_bits;
  /**
   * Launches, copies and fills.
   */
  uint64_t nodes;
  /**
   * Pairs of them of which one must wait for the other, without those that others imply.
   */
  uint64_t edges;
  /**
   * COMPARED: nanoseconds of a direct run of the program that was compared.
   */
  uint64_t direct_ns;
  /**
   * COMPARED: nanoseconds of a replay of that program.
   */
  uint64_t graph_ns;
} mlxrocm_program_info;

/**
 * Hears how far loading is: `done` of `total` bytes; the last call has done == total. It is called
 * from the thread that loads.
 *
 * Returns 0 to go on, anything else to end loading with MLXROCM_ERROR_CANCELLED. It must not
 * throw, unwind or jump out.
 */
typedef int32_t (*mlxrocm_progress_callback)(uint64_t done, uint64_t total, void *user_data);

/**
 * How to load a model. Zero is each field's default.
 */
typedef struct mlxrocm_model_options {
  /**
   * Set by the caller to sizeof(mlxrocm_model_options).
   */
  uint32_t struct_size;
  /**
   * CPU threads, at most 1024; 0: one for each CPU that this process may run on.
   */
  uint32_t threads;
  /**
   * Nullable; hears how far loading is.
   */
  mlxrocm_progress_callback progress;
  /**
   * Nullable, passed to `progress`.
   */
  void *user_data;
  /**
   * Nullable; called exactly once with `user_data` before mlxrocm_model_load returns, unless
   * this struct cannot be read (NULL, a wrong struct_size).
   */
  mlxrocm_user_data_free user_data_free;
  /**
   * Nullable; the device that runs the model, borrowed for the call: a GPU or the CPU, as
   * mlxrocm_device_open gave it (the only place where devices have numbers), and an error if it
   * cannot. NULL: the best GPU that passes a short self-test and takes the model, else the CPU;
   * the log says which.
   */
  const struct mlxrocm_device *device;
} mlxrocm_model_options;

/**
 * Facts about a loaded model. Strings are borrowed until the model is freed.
 */
typedef struct mlxrocm_model_info {
  /**
   * Set by the caller to sizeof(mlxrocm_model_info).
   */
  uint32_t struct_size;
  /**
   * Transformer blocks.
   */
  uint32_t layers;
  /**
   * "llama", "qwen2" or "qwen3".
   */
  const char *family;
  /**
   * The name the file gives itself, or the file's name.
   */
  const char *name;
  /**
   * What most of the weights are stored as, e.g. "Q4_1" or "affine 4-bit g64".
   */
  const char *quantization;
  /**
   * Weights in all tensors used.
   */
  uint64_t parameters;
  /**
   * Bytes of the file or files that hold them.
   */
  uint64_t weight_bytes;
  /**
   * Tokens of context the model was trained for.
   */
  uint64_t context_length;
  /**
   * Rows of the embedding table; logits have this many columns.
   */
  uint64_t vocab_size;
  /**
   * Width of the residual stream.
   */
  uint64_t hidden_size;
  /**
   * Bytes of KV cache that one token takes in a session with MLXROCM_KV_F16.
   */
  uint64_t kv_bytes_per_token;
  /**
   * Seconds that loading took.
   */
  double load_seconds;
} mlxrocm_model_info;

/**
 * Facts about a tokenizer.
 */
typedef struct mlxrocm_tokenizer_info {
  /**
   * Set by the caller to sizeof(mlxrocm_tokenizer_info).
   */
  uint32_t struct_size;
  /**
   * Token ids are 0 to `vocab_size` - 1.
   */
  uint32_t vocab_size;
  /**
   * The token that begins a text, or MLXROCM_NO_TOKEN.
   */
  uint32_t bos;
  /**
   * The token that ends a text, or MLXROCM_NO_TOKEN.
   */
  uint32_t eos;
} mlxrocm_tokenizer_info;

/**
 * One message of a chat. This struct never grows.
 */
typedef struct mlxrocm_message {
  /**
   * "system", "user", "assistant", "tool"...; NUL-terminated UTF-8.
   */
  const char *role;
  /**
   * The text, NUL-terminated UTF-8; bytes that are not UTF-8 become U+FFFD.
   */
  const char *content;
} mlxrocm_message;

/**
 * Limits of a session. Zero is each field's default.
 */
typedef struct mlxrocm_session_options {
  /**
   * Set by the caller to sizeof(mlxrocm_session_options).
   */
  uint32_t struct_size;
  /**
   * Tokens of context that a request may use, its prompt included; 0: the model's, at most 8192.
   */
  uint32_t context;
  /**
   * Requests that run at once, more wait for their turn; 0: 8.
   */
  uint32_t max_requests;
  /**
   * Prompt tokens that are run at once; 0: 512, on GPUs 1,024.
   */
  uint32_t prefill_chunk;
  /**
   * Tokens of KV cache that all requests share; when it is full, requests wait for each other.
   * 0: a context for each of `max_requests`, in at most 1 GiB.
   */
  uint64_t kv_tokens;
  /**
   * How the KV cache keeps keys and values: one of MLXROCM_KV_...; 0: MLXROCM_KV_F16.
   */
  uint64_t kv_type;
} mlxrocm_session_options;

/**
 * What a session is and does right now.
 */
typedef struct mlxrocm_session_info {
  /**
   * Set by the caller to sizeof(mlxrocm_session_info).
   */
  uint32_t struct_size;
  /**
   * Tokens of context that a request may use, its prompt included.
   */
  uint32_t context;
  /**
   * Requests that run.
   */
  uint64_t running;
  /**
   * Requests that wait for their turn.
   */
  uint64_t waiting;
  /**
   * Tokens that the KV cache holds.
   */
  uint64_t kv_tokens;
  /**
   * Of these, tokens in pages that running requests hold.
   */
  uint64_t kv_used;
  /**
   * Of these, tokens in pages that are kept in case a prompt begins like an earlier one; they are
   * given up when room is needed.
   */
  uint64_t kv_cached;
  /**
   * Bytes of memory that the KV cache takes.
   */
  uint64_t kv_bytes;
} mlxrocm_session_info;

/**
 * A prompt and how to continue it. Zero is each field's default: greedy, until the model stops.
 *
 * The prompt is exactly one of `tokens`, `text` and `messages`.
 */
typedef struct mlxrocm_request {
  /**
   * Set by the caller to sizeof(mlxrocm_request).
   */
  uint32_t struct_size;
  /**
   * MLXROCM_REQUEST_... together.
   */
  uint32_t flags;
  /**
   * The prompt as token ids, run as they are; `token_count` of them.
   */
  const uint32_t *tokens;
  /**
   * Ids in `tokens`; 0: none.
   */
  size_t token_count;
  /**
   * The prompt as plain text, NUL-terminated UTF-8; encoded with MLXROCM_ENCODE_ADD_SPECIAL.
   */
  const char *text;
  /**
   * The prompt as a chat of `message_count` messages, which the model answers: written with the
   * model's chat template. Special tokens spelled out in a message stay text.
   */
  const struct mlxrocm_message *messages;
  /**
   * Messages in `messages`; 0: none.
   */
  size_t message_count;
  /**
   * Strings that end the generation and are not part of its text; NUL-terminated UTF-8.
   */
  const char *const *stop;
  /**
   * Strings in `stop`.
   */
  size_t stop_count;
  /**
   * Tokens that end the generation besides the model's own.
   */
  const uint32_t *stop_tokens;
  /**
   * Ids in `stop_tokens`.
   */
  size_t stop_token_count;
  /**
   * Tokens whose logits are changed.
   */
  const uint32_t *bias_tokens;
  /**
   * What is added to the logit of the token of the same index; `bias_count` numbers.
   */
  const float *bias_values;
  /**
   * Elements of `bias_tokens` and of `bias_values`.
   */
  size_t bias_count;
  /**
   * Same seed, same tokens; for temperatures above 0.
   */
  uint64_t seed;
  /**
   * Tokens to generate at most; 0: until the context is full.
   */
  uint32_t max_tokens;
  /**
   * 0: greedy, the most probable token; else probabilities are sharpened below 1 and flattened
   * above 1.
   */
  float temperature;
  /**
   * Only the most probable `top_k` tokens; 0: off.
   */
  uint32_t top_k;
  /**
   * Only the most probable tokens that together have this probability; 0 or 1: off.
   */
  float top_p;
  /**
   * Only tokens at least this times as probable as the most probable one; 0: off.
   */
  float min_p;
  /**
   * Divides positive and multiplies negative logits of recent tokens; 0 or 1: off.
   */
  float repetition_penalty;
  /**
   * Subtracted once from the logit of every recent token; 0: off.
   */
  float presence_penalty;
  /**
   * Subtracted from the logit of a token for each time it occurred recently; 0: off.
   */
  float frequency_penalty;
  /**
   * Tokens that count as recent, the prompt's included; 0: 64.
   */
  uint32_t penalty_window;
  /**
   * n above 0: events tell the log-probability of the token and the n most probable tokens; at
   * most 20.
   */
  uint32_t logprobs;
} mlxrocm_request;

/**
 * A token and its natural-log probability. This struct never grows.
 */
typedef struct mlxrocm_token_logprob {
  /**
   * The token.
   */
  uint32_t token;
  /**
   * ln p.
   */
  float logprob;
} mlxrocm_token_logprob;

/**
 * Something that happened. Fields that do not belong to its kind are zero. What the pointers point
 * to is borrowed until the next mlxrocm_generation_next on the same generation or until that is
 * freed.
 */
typedef struct mlxrocm_event {
  /**
   * Set by the caller to sizeof(mlxrocm_event).
   */
  uint32_t struct_size;
  /**
   * One of MLXROCM_EVENT_...
   */
  uint32_t kind;
  /**
   * TOKEN, FINISHED: text that became complete, NUL-terminated UTF-8; may be empty. Never NULL.
   * All texts of a generation together are its text.
   */
  const char *text;
  /**
   * Bytes of `text` without the NUL.
   */
  size_t text_length;
  /**
   * TOKEN: the id.
   */
  uint32_t token;
  /**
   * TOKEN: its natural-log probability, where the request asked for it.
   */
  float logprob;
  /**
   * TOKEN: the most probable tokens, best first; `top_count` of them.
   */
  const struct mlxrocm_token_logprob *top;
  /**
   * TOKEN: elements of `top`; 0 where the request did not ask for them.
   */
  size_t top_count;
  /**
   * PROMPT: prompt tokens run so far.
   */
  uint64_t prompt_done;
  /**
   * PROMPT: prompt tokens to run.
   */
  uint64_t prompt_total;
  /**
   * FINISHED: one of MLXROCM_FINISH_...
   */
  uint32_t finish_reason;
  /**
   * FINISHED with MLXROCM_FINISH_ERROR: the error's status.
   */
  mlxrocm_status error_status;
  /**
   * FINISHED with MLXROCM_FINISH_ERROR: the error's message; else NULL.
   */
  const char *error_message;
  /**
   * FINISHED: tokens of the prompt.
   */
  uint64_t prompt_tokens;
  /**
   * FINISHED: prompt tokens that were in the KV cache already.
   */
  uint64_t cached_tokens;
  /**
   * FINISHED: tokens generated, a stop token included.
   */
  uint64_t generated_tokens;
  /**
   * FINISHED: seconds from the start of the prompt to the first token.
   */
  double prompt_seconds;
  /**
   * FINISHED: seconds from the first token to the last.
   */
  double decode_seconds;
} mlxrocm_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that runs, as one number: major * 10000 + minor * 100 + patch.
 *
 * Any thread. Since 0.1.
 */
uint32_t mlxrocm_version(void);

/**
 * The version of the library that runs, as text: "major.minor.patch".
 *
 * Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
 */
const char *mlxrocm_version_string(void);

/**
 * One line about how the library was built: version, target, devices and formats. For bug reports.
 *
 * Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
 */
const char *mlxrocm_build_info(void);

/**
 * The name of a status, e.g. "MLXROCM_ERROR_IO".
 *
 * - `status`: any number; one that is no status gives "MLXROCM_STATUS_UNKNOWN".
 *
 * Returns a string that is borrowed until the process ends, never NULL. Any thread. Since 0.1.
 */
const char *mlxrocm_status_name(mlxrocm_status status);

/**
 * The status that the failed function returned.
 *
 * - `error`: borrowed; NULL means no error.
 *
 * Returns MLXROCM_OK for NULL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_error_status(const struct mlxrocm_error *error);

/**
 * One line of UTF-8: what failed, which object it was about, and what to do.
 *
 * - `error`: borrowed; NULL means no error.
 *
 * Returns a string that is borrowed until `error` is freed; never NULL, "" for NULL. Any thread.
 * Since 0.1.
 */
const char *mlxrocm_error_message(const struct mlxrocm_error *error);

/**
 * The long form of a message that has one: several lines of UTF-8, e.g. a compiler's log.
 *
 * - `error`: borrowed; NULL means no error.
 *
 * Returns a string that is borrowed until `error` is freed; never NULL, "" where the message says
 * everything. Any thread. Since 0.1.
 */
const char *mlxrocm_error_details(const struct mlxrocm_error *error);

/**
 * The number that the vendor's driver gave for the failure (HIP or CUDA), where there is one.
 *
 * - `error`: borrowed; NULL means no error.
 *
 * Returns 0 where there is none. Any thread. Since 0.1.
 */
int32_t mlxrocm_error_vendor_code(const struct mlxrocm_error *error);

/**
 * Frees an error object.
 *
 * - `error`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_error_free(struct mlxrocm_error *error);

/**
 * Sends the log lines of the whole process to a callback.
 *
 * Without a callback nothing is written, unless the environment variable MLXROCM_LOG is error,
 * warn, info or debug: then lines go to stderr.
 *
 * - `level`: one of MLXROCM_LOG_..., lines of that level and more severe ones are sent.
 * - `callback`: replaces the one before; NULL restores the default.
 * - `user_data`: nullable, passed to `callback`.
 * - `user_data_free`: nullable; called exactly once with `user_data`, when the callback is
 *   replaced and no call of it is running any more, or at once when this call fails or `callback`
 *   is NULL. A callback that is still set when the process ends is not freed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_log_set_callback(uint32_t level,
                                        mlxrocm_log_callback callback,
                                        void *user_data,
                                        mlxrocm_user_data_free user_data_free,
                                        struct mlxrocm_error **error);

/**
 * Counts the devices: the CPU, then AMD's GPUs, then NVIDIA's. The vendors' drivers are opened at
 * the first call; where one is missing its GPUs are not counted, and mlxrocm_device_why_none says
 * why.
 *
 * - `count`: receives the number, at least 1: the CPU is device 0.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_count(size_t *count, struct mlxrocm_error **error);

/**
 * Says why there is no GPU of a kind on this machine, and what to do about it: the library that is
 * missing or too old, the permission, the device.
 *
 * - `kind`: MLXROCM_DEVICE_HIP or MLXROCM_DEVICE_CUDA.
 * - `text`: receives one line of UTF-8 and its NUL; "" if there are GPUs of that kind.
 * - `capacity`: bytes of room in `text`; 0: only measure.
 * - `needed`: receives the bytes of the text and its NUL, also when they do not fit; nullable
 *   unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_why_none(uint32_t kind,
                                       char *text,
                                       size_t capacity,
                                       size_t *needed,
                                       struct mlxrocm_error **error);

/**
 * Opens a device, to work on it or to run a model on it (mlxrocm_model_options.device).
 *
 * - `index`: 0 is the CPU; GPUs follow from 1 up to the count, in the order of
 *   mlxrocm_device_count. Devices have numbers here only: everything else takes the open device.
 * - `device`: receives the device, owned: free it with mlxrocm_device_free.
 * - `error`: nullable; receives an owned error object on failure. With no GPU at all it says why.
 *
 * Errors: NULL_ARGUMENT, NO_DEVICE, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_open(size_t index,
                                   struct mlxrocm_device **device,
                                   struct mlxrocm_error **error);

/**
 * Tells facts about a device.
 *
 * - `device`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set. Strings are borrowed until the
 *   device is freed. Free memory is read at each call.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_get_info(const struct mlxrocm_device *device,
                                       struct mlxrocm_device_info *info,
                                       struct mlxrocm_error **error);

/**
 * Frees a device. What was made on it works on.
 *
 * - `device`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_device_free(struct mlxrocm_device *device);

/**
 * Reads a GPU's memory counters.
 *
 * - `device`: borrowed; a GPU.
 * - `memory`: receives the counters; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_FAILED, DEVICE_LOST. Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_get_memory(const struct mlxrocm_device *device,
                                         struct mlxrocm_device_memory *memory,
                                         struct mlxrocm_error **error);

/**
 * Sets the most device memory that this process uses through the library, and gives back cached
 * memory that is over it.
 *
 * - `device`: borrowed; a GPU.
 * - `bytes`: the limit of active and cached memory together. A device begins with 85 % of its
 *   memory, or 80 % if it shares the processor's.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY (more than that is in
 * use; the limit stays as it was), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_set_memory_limit(const struct mlxrocm_device *device,
                                               uint64_t bytes,
                                               struct mlxrocm_error **error);

/**
 * Sets a GPU's `peak` counter to what is in use now.
 *
 * - `device`: borrowed; a GPU.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_reset_peak_memory(const struct mlxrocm_device *device,
                                                struct mlxrocm_error **error);

/**
 * Gives a GPU's cached memory back to the driver, except what queued work still uses. May take
 * long: drivers wait for the device.
 *
 * - `device`: borrowed; a GPU.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_FAILED, DEVICE_LOST. Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_trim(const struct mlxrocm_device *device,
                                   struct mlxrocm_error **error);

/**
 * Sets when programs run as graphs on a GPU; mlxrocm_program_get_info tells what was chosen.
 *
 * - `device`: borrowed; a GPU.
 * - `graphs`: one of MLXROCM_GRAPHS_...
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_set_graphs(const struct mlxrocm_device *device,
                                         uint32_t graphs,
                                         struct mlxrocm_error **error);

/**
 * Tests a GPU: runs the built-in kernels on random inputs of odd sizes against plain forms on the
 * processor, compares graph replay with direct launches bit for bit, and measures copies, reads,
 * launches and allocations. The report is plain text to attach to a bug report. Takes from seconds to
 * a minute; other work of this process on the device is not disturbed, but makes the measurements
 * worse.
 *
 * - `device`: borrowed; a GPU.
 * - `options`: borrowed for the call; NULL means defaults.
 * - `error`: nullable; receives an owned error object on failure. It names the cases that failed.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), SELFTEST_FAILED (the device gives
 * wrong results), CANCELLED (by the callback), TIMEOUT (the device hangs), OUT_OF_MEMORY,
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_selftest(const struct mlxrocm_device *device,
                                       const struct mlxrocm_selftest_options *options,
                                       struct mlxrocm_error **error);

/**
 * Allocates a buffer. Its content is undefined.
 *
 * - `device`: borrowed; a GPU. The buffer keeps it alive.
 * - `kind`: MLXROCM_BUFFER_DEVICE or MLXROCM_BUFFER_PINNED.
 * - `size`: bytes; 0 is fine.
 * - `buffer`: receives the buffer, owned: free it with mlxrocm_buffer_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY (everything stays
 * usable), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_buffer_new(const struct mlxrocm_device *device,
                                  uint32_t kind,
                                  uint64_t size,
                                  struct mlxrocm_buffer **buffer,
                                  struct mlxrocm_error **error);

/**
 * Tells facts about a buffer.
 *
 * - `buffer`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_buffer_get_info(const struct mlxrocm_buffer *buffer,
                                       struct mlxrocm_buffer_info *info,
                                       struct mlxrocm_error **error);

/**
 * Writes host bytes to a buffer and waits until they are there. It does not wait for work on
 * streams: where such work uses the same part, wait for it first, or use mlxrocm_stream_write.
 *
 * - `buffer`: borrowed.
 * - `offset`: byte of the buffer to begin at.
 * - `bytes`: `size` bytes, borrowed for the call.
 * - `size`: bytes to write; 0 is fine.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer), OUT_OF_MEMORY, DEVICE_FAILED,
 * DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_buffer_write(const struct mlxrocm_buffer *buffer,
                                    uint64_t offset,
                                    const void *bytes,
                                    size_t size,
                                    struct mlxrocm_error **error);

/**
 * Reads bytes of a buffer to the host. It does not wait for work on streams: where such work writes
 * the same part, wait for it first, or use mlxrocm_stream_read.
 *
 * - `buffer`: borrowed.
 * - `offset`: byte of the buffer to begin at.
 * - `bytes`: receives `size` bytes; on failure their content is undefined.
 * - `size`: bytes to read; 0 is fine.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer), OUT_OF_MEMORY, DEVICE_FAILED,
 * DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_buffer_read(const struct mlxrocm_buffer *buffer,
                                   uint64_t offset,
                                   void *bytes,
                                   size_t size,
                                   struct mlxrocm_error **error);

/**
 * Frees a buffer. Work that was queued with it still has its memory.
 *
 * - `buffer`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_buffer_free(struct mlxrocm_buffer *buffer);

/**
 * Makes a stream.
 *
 * - `device`: borrowed; a GPU. The stream keeps it alive.
 * - `stream`: receives the stream, owned: free it with mlxrocm_stream_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_FAILED,
 * DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_new(const struct mlxrocm_device *device,
                                  struct mlxrocm_stream **stream,
                                  struct mlxrocm_error **error);

/**
 * Sleeps until all work queued so far is done.
 *
 * - `stream`: borrowed.
 * - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, TIMEOUT (the work goes on: wait again), DEVICE_FAILED (the
 * first fault of the queued work; mlxrocm_error_vendor_code has the driver's number), DEVICE_LOST.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_wait(const struct mlxrocm_stream *stream,
                                   int64_t timeout_ns,
                                   struct mlxrocm_error **error);

/**
 * Asks whether all work queued so far is done. A fault of it is kept for the next wait.
 *
 * - `stream`: borrowed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Returns MLXROCM_OK when it is done, MLXROCM_PENDING when it is not.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_query(const struct mlxrocm_stream *stream,
                                    struct mlxrocm_error **error);

/**
 * Marks this point of the queue with an event; an earlier mark of the event is forgotten.
 *
 * - `stream`: borrowed.
 * - `event`: borrowed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (of another driver's device), DEVICE_FAILED, DEVICE_LOST.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_record(const struct mlxrocm_stream *stream,
                                     const struct mlxrocm_gpu_event *event,
                                     struct mlxrocm_error **error);

/**
 * Work queued from now on starts after the work before the event's last record, on whatever stream
 * that was. An event that was never recorded is not waited for.
 *
 * - `stream`: borrowed.
 * - `event`: borrowed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (of another driver's device), DEVICE_FAILED, DEVICE_LOST.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_wait_for(const struct mlxrocm_stream *stream,
                                       const struct mlxrocm_gpu_event *event,
                                       struct mlxrocm_error **error);

/**
 * Queues a write of host bytes to device memory. The bytes are taken before this returns.
 *
 * - `stream`: borrowed.
 * - `buffer`: borrowed; device memory.
 * - `offset`: byte of the buffer to begin at.
 * - `bytes`: `size` bytes, borrowed for the call.
 * - `size`: bytes to write; 0 is fine.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, another device),
 * OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_write(const struct mlxrocm_stream *stream,
                                    const struct mlxrocm_buffer *buffer,
                                    uint64_t offset,
                                    const void *bytes,
                                    size_t size,
                                    struct mlxrocm_error **error);

/**
 * Reads device memory to the host, after the work queued so far, and waits for it.
 *
 * - `stream`: borrowed.
 * - `buffer`: borrowed; device memory.
 * - `offset`: byte of the buffer to begin at.
 * - `bytes`: receives `size` bytes; on failure their content is undefined.
 * - `size`: bytes to read; 0 is fine.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, another device),
 * OUT_OF_MEMORY, and as mlxrocm_stream_wait. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_read(const struct mlxrocm_stream *stream,
                                   const struct mlxrocm_buffer *buffer,
                                   uint64_t offset,
                                   void *bytes,
                                   size_t size,
                                   struct mlxrocm_error **error);

/**
 * Queues a copy between two buffers: from device to device, from pinned to device or from device to
 * pinned memory. The application leaves pinned memory alone until the copy is done.
 *
 * - `stream`: borrowed.
 * - `target`: borrowed.
 * - `target_offset`: byte of the target to begin at.
 * - `source`: borrowed; may be the target, if the two parts do not overlap.
 * - `source_offset`: byte of the source to begin at.
 * - `size`: bytes to copy; 0 is fine.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, both pinned, another
 * device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_copy(const struct mlxrocm_stream *stream,
                                   const struct mlxrocm_buffer *target,
                                   uint64_t target_offset,
                                   const struct mlxrocm_buffer *source,
                                   uint64_t source_offset,
                                   uint64_t size,
                                   struct mlxrocm_error **error);

/**
 * Queues a fill of device memory with one byte value.
 *
 * - `stream`: borrowed.
 * - `buffer`: borrowed; device memory.
 * - `offset`: byte of the buffer to begin at.
 * - `size`: bytes to fill; 0 is fine.
 * - `value`: each byte's value.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, another device),
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_fill(const struct mlxrocm_stream *stream,
                                   const struct mlxrocm_buffer *buffer,
                                   uint64_t offset,
                                   uint64_t size,
                                   uint8_t value,
                                   struct mlxrocm_error **error);

/**
 * Queues one launch of a kernel. A program of many launches runs faster than these.
 *
 * - `stream`: borrowed.
 * - `kernel`: borrowed; of the same device.
 * - `launch`: borrowed for the call.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a block or grid too large, too much local memory, an
 * argument that is wrong, missing or too much, another device), DEVICE_FAILED, DEVICE_LOST. Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_launch(const struct mlxrocm_stream *stream,
                                     const struct mlxrocm_kernel *kernel,
                                     const struct mlxrocm_launch *launch,
                                     struct mlxrocm_error **error);

/**
 * Frees a stream. Work that was queued on it still runs.
 *
 * - `stream`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_stream_free(struct mlxrocm_stream *stream);

/**
 * Makes an event.
 *
 * - `device`: borrowed; a GPU. The event keeps it alive.
 * - `event`: receives the event, owned: free it with mlxrocm_gpu_event_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_FAILED,
 * DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_gpu_event_new(const struct mlxrocm_device *device,
                                     struct mlxrocm_gpu_event **event,
                                     struct mlxrocm_error **error);

/**
 * Sleeps until the work before the last record of an event is done; at once if it was never
 * recorded.
 *
 * - `event`: borrowed.
 * - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, TIMEOUT (the work goes on), DEVICE_FAILED (a fault of that
 * work), DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_gpu_event_wait(const struct mlxrocm_gpu_event *event,
                                      int64_t timeout_ns,
                                      struct mlxrocm_error **error);

/**
 * Asks whether the work before the last record of an event is done; it is if it was never recorded.
 *
 * - `event`: borrowed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Returns MLXROCM_OK when it is done, MLXROCM_PENDING when it is not.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED (a fault of that work), DEVICE_LOST. Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_gpu_event_query(const struct mlxrocm_gpu_event *event,
                                       struct mlxrocm_error **error);

/**
 * The GPU's time between two events that are recorded and done.
 *
 * - `earlier`: borrowed.
 * - `later`: borrowed; of the same device.
 * - `milliseconds`: receives the time.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not recorded, not done, of different devices),
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_gpu_event_elapsed(const struct mlxrocm_gpu_event *earlier,
                                         const struct mlxrocm_gpu_event *later,
                                         double *milliseconds,
                                         struct mlxrocm_error **error);

/**
 * Frees an event. Streams that wait for it still do.
 *
 * - `event`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_gpu_event_free(struct mlxrocm_gpu_event *event);

/**
 * Compiles kernels from source for a GPU and loads them. The language is HIP's (and CUDA's):
 * `extern "C" __global__ void name(float *out, unsigned count) { ... }`, without includes. Code that
 * was compiled before comes from a cache on disk.
 *
 * - `device`: borrowed; a GPU. The module keeps it alive.
 * - `source`: NUL-terminated UTF-8, borrowed for the call.
 * - `options`: borrowed for the call; NULL means defaults.
 * - `module`: receives the module, owned: free it with mlxrocm_module_free.
 * - `error`: nullable; receives an owned error object on failure. If the source does not compile its
 *   message has the first error, and mlxrocm_error_details the compiler's log.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (the source does not compile), UNSUPPORTED (the CPU; no
 * compiler on this machine: the message says what to install), INVALID_FILE, OUT_OF_MEMORY,
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_module_compile(const struct mlxrocm_device *device,
                                      const char *source,
                                      const struct mlxrocm_compile_options *options,
                                      struct mlxrocm_module **module,
                                      struct mlxrocm_error **error);

/**
 * Loads code that was compiled for a GPU: an ELF code object of its target (AMD), a cubin or PTX
 * (NVIDIA).
 *
 * - `device`: borrowed; a GPU. The module keeps it alive.
 * - `code`: `size` bytes, borrowed for the call.
 * - `size`: bytes of `code`, at least 1.
 * - `module`: receives the module, owned: free it with mlxrocm_module_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (no code for this device), UNSUPPORTED (the
 * CPU), OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_module_load(const struct mlxrocm_device *device,
                                   const void *code,
                                   size_t size,
                                   struct mlxrocm_module **module,
                                   struct mlxrocm_error **error);

/**
 * Finds a kernel of a module.
 *
 * - `module`: borrowed; the kernel keeps its code loaded.
 * - `name`: NUL-terminated; the kernel's name as it is in the code: `extern "C"`.
 * - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name), DEVICE_FAILED, DEVICE_LOST.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_module_get_kernel(const struct mlxrocm_module *module,
                                         const char *name,
                                         struct mlxrocm_kernel **kernel,
                                         struct mlxrocm_error **error);

/**
 * Frees a module. Its kernels and work that was queued with them keep the code loaded.
 *
 * - `module`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_module_free(struct mlxrocm_module *module);

/**
 * Finds one of the library's own kernels, e.g. "mlxrocm_vector_add_f32". What they take is in the
 * comments of their sources.
 *
 * - `device`: borrowed; a GPU. The kernel keeps it alive.
 * - `name`: NUL-terminated.
 * - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU; no such kernel; none for this device
 * and no compiler on this machine), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_get_kernel(const struct mlxrocm_device *device,
                                         const char *name,
                                         struct mlxrocm_kernel **kernel,
                                         struct mlxrocm_error **error);

/**
 * Tells facts about a kernel.
 *
 * - `kernel`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_kernel_get_info(const struct mlxrocm_kernel *kernel,
                                       struct mlxrocm_kernel_info *info,
                                       struct mlxrocm_error **error);

/**
 * Frees a kernel. Work that was queued with it still runs.
 *
 * - `kernel`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_kernel_free(struct mlxrocm_kernel *kernel);

/**
 * An argument: device memory that the kernel reads and writes. Set `size` of the result if the
 * kernel touches only a part.
 *
 * - `buffer`: borrowed until the call that gets the argument returns.
 * - `offset`: byte of the buffer that the address begins at.
 *
 * Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_buffer(const struct mlxrocm_buffer *buffer, uint64_t offset);

/**
 * An argument: device memory that the kernel only reads. Set `size` of the result if the kernel
 * touches only a part.
 *
 * - `buffer`: borrowed until the call that gets the argument returns.
 * - `offset`: byte of the buffer that the address begins at.
 *
 * Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_input(const struct mlxrocm_buffer *buffer, uint64_t offset);

/**
 * An argument: device memory that the kernel only writes. Set `size` of the result if the kernel
 * touches only a part.
 *
 * - `buffer`: borrowed until the call that gets the argument returns.
 * - `offset`: byte of the buffer that the address begins at.
 *
 * Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_output(const struct mlxrocm_buffer *buffer, uint64_t offset);

/**
 * An argument: a number of 32 bits.
 *
 * - `value`: the number.
 *
 * Returns the argument. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_u32(uint32_t value);

/**
 * An argument: a signed number of 32 bits.
 *
 * - `value`: the number.
 *
 * Returns the argument. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_i32(int32_t value);

/**
 * An argument: a float of 32 bits.
 *
 * - `value`: the number.
 *
 * Returns the argument. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_f32(float value);

/**
 * An argument: a number of 64 bits, or an address that the application keeps valid.
 *
 * - `value`: the number.
 *
 * Returns the argument. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_u64(uint64_t value);

/**
 * An argument: a signed number of 64 bits.
 *
 * - `value`: the number.
 *
 * Returns the argument. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_i64(int64_t value);

/**
 * An argument: a float of 64 bits.
 *
 * - `value`: the number.
 *
 * Returns the argument. Any thread. Since 0.1.
 */
struct mlxrocm_arg mlxrocm_arg_f64(double value);

/**
 * Begins to record a program.
 *
 * - `device`: borrowed; a GPU. The program keeps it alive.
 * - `program`: receives the program, owned: free it with mlxrocm_program_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_new(const struct mlxrocm_device *device,
                                   struct mlxrocm_program **program,
                                   struct mlxrocm_error **error);

/**
 * Records one launch. It runs after the earlier ones that write what it touches or touch what it
 * writes, by the `access` of its arguments; one without buffers runs after all earlier and before
 * all later ones.
 *
 * - `program`: borrowed; in recording.
 * - `kernel`: borrowed; of the same device.
 * - `launch`: borrowed for the call.
 * - `error`: nullable; receives an owned error object on failure. The program stays as it was.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (as mlxrocm_stream_launch; not in recording). Any thread.
 * Since 0.1.
 */
mlxrocm_status mlxrocm_program_launch(const struct mlxrocm_program *program,
                                      const struct mlxrocm_kernel *kernel,
                                      const struct mlxrocm_launch *launch,
                                      struct mlxrocm_error **error);

/**
 * Records a copy between two buffers in device memory.
 *
 * - `program`: borrowed; in recording.
 * - `target`: borrowed; device memory.
 * - `target_offset`: byte of the target to begin at.
 * - `source`: borrowed; device memory; may be the target, if the two parts do not overlap.
 * - `source_offset`: byte of the source to begin at.
 * - `size`: bytes to copy; 0 records nothing.
 * - `error`: nullable; receives an owned error object on failure. The program stays as it was.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, pinned memory, another
 * device; not in recording). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_copy(const struct mlxrocm_program *program,
                                    const struct mlxrocm_buffer *target,
                                    uint64_t target_offset,
                                    const struct mlxrocm_buffer *source,
                                    uint64_t source_offset,
                                    uint64_t size,
                                    struct mlxrocm_error **error);

/**
 * Records a fill of device memory with one byte value.
 *
 * - `program`: borrowed; in recording.
 * - `buffer`: borrowed; device memory.
 * - `offset`: byte of the buffer to begin at.
 * - `size`: bytes to fill; 0 records nothing.
 * - `value`: each byte's value.
 * - `error`: nullable; receives an owned error object on failure. The program stays as it was.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, another device; not in
 * recording). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_fill(const struct mlxrocm_program *program,
                                    const struct mlxrocm_buffer *buffer,
                                    uint64_t offset,
                                    uint64_t size,
                                    uint8_t value,
                                    struct mlxrocm_error **error);

/**
 * Records that everything after this runs after everything before it.
 *
 * - `program`: borrowed; in recording.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not in recording). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_barrier(const struct mlxrocm_program *program,
                                       struct mlxrocm_error **error);

/**
 * Ends the recording. Nothing runs yet.
 *
 * - `program`: borrowed; in recording.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not in recording). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_end(const struct mlxrocm_program *program,
                                   struct mlxrocm_error **error);

/**
 * Queues one run of a program. The first one on a device whose graphs were not compared yet may
 * wait while it compares them; every other one returns at once.
 *
 * - `program`: borrowed; its recording has ended.
 * - `stream`: borrowed; of the same device.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording; another device), OUT_OF_MEMORY, TIMEOUT,
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_run(const struct mlxrocm_program *program,
                                   const struct mlxrocm_stream *stream,
                                   struct mlxrocm_error **error);

/**
 * Tells facts about a program, and how it runs.
 *
 * - `program`: borrowed; its recording has ended.
 * - `info`: receives the facts; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_get_info(const struct mlxrocm_program *program,
                                        struct mlxrocm_program_info *info,
                                        struct mlxrocm_error **error);

/**
 * Says how the next run of a program goes and why, in words, for a log or a bug report.
 *
 * - `program`: borrowed; its recording has ended.
 * - `text`: receives one line of UTF-8 and its NUL.
 * - `capacity`: bytes of room in `text`; 0: only measure.
 * - `needed`: receives the bytes of the text and its NUL, also when they do not fit; nullable
 *   unless measuring. The text may change between two calls.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording), BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_program_explain(const struct mlxrocm_program *program,
                                       char *text,
                                       size_t capacity,
                                       size_t *needed,
                                       struct mlxrocm_error **error);

/**
 * Frees a program. Runs that were queued still end.
 *
 * - `program`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_program_free(struct mlxrocm_program *program);

/**
 * Loads a model from a GGUF file or an MLX model folder.
 *
 * The weights are mapped, not copied: the file must stay as it is while the model lives. A file
 * that another process shortens meanwhile ends the process with SIGBUS.
 *
 * - `path`: the file or folder, NUL-terminated, as the operating system spells it; copied.
 * - `options`: borrowed for the call; NULL means defaults.
 * - `model`: receives the model, owned: free it with mlxrocm_model_free.
 * - `error`: nullable; receives an owned error object on failure. It names the file and the field
 *   or tensor.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (an unknown family or
 * format), OUT_OF_MEMORY, CANCELLED. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_load(const char *path,
                                  const struct mlxrocm_model_options *options,
                                  struct mlxrocm_model **model,
                                  struct mlxrocm_error **error);

/**
 * Tells facts about a model.
 *
 * - `model`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set. Strings are borrowed until the
 *   model is freed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_get_info(const struct mlxrocm_model *model,
                                      struct mlxrocm_model_info *info,
                                      struct mlxrocm_error **error);

/**
 * Frees a model. What was made from it goes on working.
 *
 * - `model`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_model_free(struct mlxrocm_model *model);

/**
 * Gives a model's tokenizer.
 *
 * - `model`: borrowed; the tokenizer keeps what it needs of it.
 * - `tokenizer`: receives the tokenizer, owned: free it with mlxrocm_tokenizer_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_get_tokenizer(const struct mlxrocm_model *model,
                                           struct mlxrocm_tokenizer **tokenizer,
                                           struct mlxrocm_error **error);

/**
 * Tells facts about a tokenizer.
 *
 * - `tokenizer`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_get_info(const struct mlxrocm_tokenizer *tokenizer,
                                          struct mlxrocm_tokenizer_info *info,
                                          struct mlxrocm_error **error);

/**
 * Turns text into token ids.
 *
 * - `tokenizer`: borrowed.
 * - `text`: `length` bytes of UTF-8, which need no NUL; borrowed for the call. Bytes that are not
 *   UTF-8 count as U+FFFD.
 * - `length`: bytes of `text`; 0: `text` is ignored.
 * - `flags`: MLXROCM_ENCODE_... together.
 * - `tokens`: receives the ids; room for `capacity` of them.
 * - `capacity`: 0: only measure.
 * - `needed`: receives the number of ids, also when they do not fit; nullable unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_encode(const struct mlxrocm_tokenizer *tokenizer,
                                        const char *text,
                                        size_t length,
                                        uint32_t flags,
                                        uint32_t *tokens,
                                        size_t capacity,
                                        size_t *needed,
                                        struct mlxrocm_error **error);

/**
 * Turns token ids into text.
 *
 * - `tokenizer`: borrowed.
 * - `tokens`: `count` ids, borrowed for the call.
 * - `count`: 0: `tokens` is ignored.
 * - `flags`: MLXROCM_DECODE_... together.
 * - `text`: receives NUL-terminated UTF-8; bytes that are not UTF-8 become U+FFFD. Text that itself
 *   holds a NUL has it in the middle: its length is `needed` - 1.
 * - `capacity`: bytes of `text`; 0: only measure.
 * - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
 *   measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary), BUFFER_TOO_SMALL.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_decode(const struct mlxrocm_tokenizer *tokenizer,
                                        const uint32_t *tokens,
                                        size_t count,
                                        uint32_t flags,
                                        char *text,
                                        size_t capacity,
                                        size_t *needed,
                                        struct mlxrocm_error **error);

/**
 * Gives the bytes that one token stands for. They may be a part of a UTF-8 character.
 *
 * - `tokenizer`: borrowed.
 * - `token`: the id.
 * - `bytes`: receives the bytes and a NUL behind them; a special token gives its spelling.
 * - `capacity`: room in `bytes`; 0: only measure.
 * - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
 *   measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary), BUFFER_TOO_SMALL.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_token_bytes(const struct mlxrocm_tokenizer *tokenizer,
                                             uint32_t token,
                                             char *bytes,
                                             size_t capacity,
                                             size_t *needed,
                                             struct mlxrocm_error **error);

/**
 * Finds a token by its exact spelling in the vocabulary.
 *
 * - `tokenizer`: borrowed.
 * - `spelling`: NUL-terminated UTF-8, borrowed for the call, e.g. "<|im_end|>".
 * - `token`: receives the id, or MLXROCM_NO_TOKEN when no token is spelled like that.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_find_token(const struct mlxrocm_tokenizer *tokenizer,
                                            const char *spelling,
                                            uint32_t *token,
                                            struct mlxrocm_error **error);

/**
 * Says whether a token is a control token that ordinary text never contains.
 *
 * - `tokenizer`: borrowed.
 * - `token`: the id.
 * - `special`: receives 1 or 0.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary). Any thread.
 * Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_is_special(const struct mlxrocm_tokenizer *tokenizer,
                                            uint32_t token,
                                            uint32_t *special,
                                            struct mlxrocm_error **error);

/**
 * Frees a tokenizer.
 *
 * - `tokenizer`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_tokenizer_free(struct mlxrocm_tokenizer *tokenizer);

/**
 * Gives a model's chat template.
 *
 * - `model`: borrowed; the template keeps what it needs of it.
 * - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the model has none). Any thread.
 * Since 0.1.
 */
mlxrocm_status mlxrocm_model_get_chat_template(const struct mlxrocm_model *model,
                                               struct mlxrocm_chat_template **chat_template,
                                               struct mlxrocm_error **error);

/**
 * Compiles a chat template (Jinja, with Python's string methods).
 *
 * - `source`: NUL-terminated UTF-8; copied.
 * - `bos`: spelling of the token that begins a text; NUL-terminated UTF-8, copied; NULL: "".
 * - `eos`: spelling of the token that ends a text; NUL-terminated UTF-8, copied; NULL: "".
 * - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (a syntax error). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chat_template_new(const char *source,
                                         const char *bos,
                                         const char *eos,
                                         struct mlxrocm_chat_template **chat_template,
                                         struct mlxrocm_error **error);

/**
 * Writes a chat as the text of a prompt. Encode it with MLXROCM_ENCODE_PARSE_SPECIAL and without
 * MLXROCM_ENCODE_ADD_SPECIAL: the template has written all special tokens.
 *
 * - `chat_template`: borrowed.
 * - `messages`: `count` messages, borrowed for the call.
 * - `count`: messages.
 * - `flags`: MLXROCM_RENDER_... together.
 * - `extra`: a JSON object of further template variables, e.g. {"enable_thinking": false};
 *   NUL-terminated UTF-8, borrowed for the call; NULL: none.
 * - `text`: receives NUL-terminated UTF-8.
 * - `capacity`: bytes of `text`; 0: only measure.
 * - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
 *   measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also what the template itself refuses),
 * BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chat_template_render(const struct mlxrocm_chat_template *chat_template,
                                            const struct mlxrocm_message *messages,
                                            size_t count,
                                            uint32_t flags,
                                            const char *extra,
                                            char *text,
                                            size_t capacity,
                                            size_t *needed,
                                            struct mlxrocm_error **error);

/**
 * Gives a chat template's source.
 *
 * - `chat_template`: borrowed.
 * - `text`: receives NUL-terminated UTF-8.
 * - `capacity`: bytes of `text`; 0: only measure.
 * - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
 *   measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chat_template_source(const struct mlxrocm_chat_template *chat_template,
                                            char *text,
                                            size_t capacity,
                                            size_t *needed,
                                            struct mlxrocm_error **error);

/**
 * Frees a chat template.
 *
 * - `chat_template`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_chat_template_free(struct mlxrocm_chat_template *chat_template);

/**
 * Makes a session: allocates its KV cache and starts its scheduler thread.
 *
 * - `model`: borrowed; the session keeps what it needs of it.
 * - `options`: borrowed for the call; NULL means defaults.
 * - `session`: receives the session, owned: free it with mlxrocm_session_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_new(const struct mlxrocm_model *model,
                                   const struct mlxrocm_session_options *options,
                                   struct mlxrocm_session **session,
                                   struct mlxrocm_error **error);

/**
 * Tells what a session is and does right now.
 *
 * - `session`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_get_info(const struct mlxrocm_session *session,
                                        struct mlxrocm_session_info *info,
                                        struct mlxrocm_error **error);

/**
 * Queues a request and returns at once; its events come out of mlxrocm_generation_next.
 *
 * - `session`: borrowed; the generation keeps it alive.
 * - `request`: borrowed for the call: everything it points to is copied.
 * - `generation`: receives the generation, owned: free it with mlxrocm_generation_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a value out of range, a token that the model does not
 * have, no prompt), CONTEXT_FULL (the prompt is longer than the context), UNSUPPORTED (messages,
 * but no chat template). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_submit(const struct mlxrocm_session *session,
                                      const struct mlxrocm_request *request,
                                      struct mlxrocm_generation **generation,
                                      struct mlxrocm_error **error);

/**
 * Runs a sequence of tokens and gives the raw logits of every position, for evaluation. It waits
 * for its turn among the requests, and takes as long as a prompt of that length.
 *
 * - `session`: borrowed.
 * - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
 * - `count`: tokens.
 * - `logits`: receives rows of vocab_size numbers (mlxrocm_model_info), one row for each token: row
 *   i is about the token that follows the first i + 1.
 * - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run.
 * - `needed`: receives count * vocab_size, also when they do not fit; nullable unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL. Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_logits(const struct mlxrocm_session *session,
                                      const uint32_t *tokens,
                                      size_t count,
                                      float *logits,
                                      size_t capacity,
                                      size_t *needed,
                                      struct mlxrocm_error **error);

/**
 * Frees a session. Its generations go on until they are freed.
 *
 * - `session`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_session_free(struct mlxrocm_session *session);

/**
 * Waits for the next event.
 *
 * - `generation`: borrowed.
 * - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
 * - `event`: receives the event; its `struct_size` must be set. What it points to is borrowed
 *   until the next call on this generation or until that is freed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Returns MLXROCM_OK with an event; MLXROCM_PENDING when none came within the timeout; MLXROCM_END
 * when MLXROCM_EVENT_FINISHED was given out before. A request that fails ends with
 * MLXROCM_EVENT_FINISHED and MLXROCM_FINISH_ERROR, not with an error of this function.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. One thread at a time. Since 0.1.
 */
mlxrocm_status mlxrocm_generation_next(const struct mlxrocm_generation *generation,
                                       int64_t timeout_ns,
                                       struct mlxrocm_event *event,
                                       struct mlxrocm_error **error);

/**
 * Ends a generation soon; its MLXROCM_EVENT_FINISHED still comes. Any number of times, also after
 * the end.
 *
 * - `generation`: borrowed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread, also while another one waits for the next
 * event. Since 0.1.
 */
mlxrocm_status mlxrocm_generation_cancel(const struct mlxrocm_generation *generation,
                                         struct mlxrocm_error **error);

/**
 * Frees a generation; one that still runs is cancelled.
 *
 * - `generation`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_generation_free(struct mlxrocm_generation *generation);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MLXROCM_H */
