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
 * fields to what you want; zero is always the default. A struct of options that is all zero, its
 * size included, is all defaults, as NULL is where that may be given; else a size of 0, or of less
 * than the struct ever had, is an error. The usual way is an initialiser,
 *     mlxrocm_request request = {.struct_size = sizeof request, .max_tokens = 100};
 * A program compiled with an older header works with a newer library, and the other way round as
 * long as it sets no field that the library does not know.
 *
 * Texts. Beside each text is its length in bytes. One that goes in needs no NUL and may hold some; with
 * MLXROCM_NUL as its length it ends at its NUL. In a struct 0 means that too, zero being every field's
 * default: an empty text there begins with its NUL. A list of texts has a list of lengths, or NULL. A
 * text that comes out has a NUL behind it, which its length does not count.
 *
 * Buffers. Functions that fill a buffer take its capacity and write how much is needed. Capacity 0
 * only measures. With a length of 0 a pointer is not looked at.
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
 * In place of a length in bytes: the text ends at its NUL.
 */
#define MLXROCM_NUL SIZE_MAX

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
 * mlxrocm_embed_options.pooling: a row for each chosen token.
 */
#define MLXROCM_POOLING_NONE 0

/**
 * mlxrocm_embed_options.pooling: the mean of all tokens.
 */
#define MLXROCM_POOLING_MEAN 1

/**
 * mlxrocm_embed_options.pooling: the first token.
 */
#define MLXROCM_POOLING_CLS 2

/**
 * mlxrocm_embed_options.pooling: the last token.
 */
#define MLXROCM_POOLING_LAST 3

/**
 * mlxrocm_embed_options.flags: each row is divided by its Euclidean length; a row of zeros stays.
 */
#define MLXROCM_EMBED_NORMALIZE 1

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
 * Finish reason: by the request's `json_schema`, `regex` or `grammar` the text is complete and nothing may follow.
 */
#define MLXROCM_FINISH_GRAMMAR 7

/**
 * Planes of a position that a network takes.
 */
#define MLXROCM_CHESS_PLANES 112

/**
 * Moves that a network's policy has logits for.
 */
#define MLXROCM_CHESS_MOVES 1858

/**
 * Positions of a batch at most.
 */
#define MLXROCM_CHESS_BATCH 1024

/**
 * Body of a network: convolutions with residual blocks.
 */
#define MLXROCM_CHESS_BODY_RESIDUAL 1

/**
 * Body of a network: encoders over the 64 squares.
 */
#define MLXROCM_CHESS_BODY_ATTENTION 2

/**
 * Policy of a network: one matrix over all squares.
 */
#define MLXROCM_CHESS_POLICY_CLASSICAL 1

/**
 * Policy of a network: planes of moves.
 */
#define MLXROCM_CHESS_POLICY_CONVOLUTION 2

/**
 * Policy of a network: from-squares attend to to-squares.
 */
#define MLXROCM_CHESS_POLICY_ATTENTION 3

/**
 * Policy head: the usual one, which every network has.
 */
#define MLXROCM_CHESS_POLICY_HEAD_VANILLA 0

/**
 * Policy head: what turns out better than expected.
 */
#define MLXROCM_CHESS_POLICY_HEAD_OPTIMISTIC 1

/**
 * Policy head: flatter.
 */
#define MLXROCM_CHESS_POLICY_HEAD_SOFT 2

/**
 * Policy head: what the opponent plays.
 */
#define MLXROCM_CHESS_POLICY_HEAD_OPPONENT 3

/**
 * Value head: who wins; every network has it.
 */
#define MLXROCM_CHESS_VALUE_HEAD_WINNER 0

/**
 * Value head: the search's value.
 */
#define MLXROCM_CHESS_VALUE_HEAD_Q 1

/**
 * Value head: the search's value some plies later.
 */
#define MLXROCM_CHESS_VALUE_HEAD_ST 2

/**
 * What a network computes with: f16 on GPUs, with sums in f32; f32 on the CPU.
 */
#define MLXROCM_CHESS_PRECISION_DEFAULT 0

/**
 * What a network computes with: f16, sums in f32; GPUs only.
 */
#define MLXROCM_CHESS_PRECISION_F16 1

/**
 * What a network computes with: f32.
 */
#define MLXROCM_CHESS_PRECISION_F32 2

/**
 * Batches that a queue holds at most.
 */
#define MLXROCM_CHESS_QUEUE_BATCHES 64

/**
 * Dtype: truth values, one byte of 0 or 1.
 */
#define MLXROCM_DTYPE_BOOL 0

/**
 * Dtype: unsigned integers of 8 bits.
 */
#define MLXROCM_DTYPE_UINT8 1

/**
 * Dtype: unsigned integers of 16 bits.
 */
#define MLXROCM_DTYPE_UINT16 2

/**
 * Dtype: unsigned integers of 32 bits.
 */
#define MLXROCM_DTYPE_UINT32 3

/**
 * Dtype: unsigned integers of 64 bits.
 */
#define MLXROCM_DTYPE_UINT64 4

/**
 * Dtype: signed integers of 8 bits.
 */
#define MLXROCM_DTYPE_INT8 5

/**
 * Dtype: signed integers of 16 bits.
 */
#define MLXROCM_DTYPE_INT16 6

/**
 * Dtype: signed integers of 32 bits.
 */
#define MLXROCM_DTYPE_INT32 7

/**
 * Dtype: signed integers of 64 bits.
 */
#define MLXROCM_DTYPE_INT64 8

/**
 * Dtype: IEEE half precision.
 */
#define MLXROCM_DTYPE_FLOAT16 9

/**
 * Dtype: IEEE single precision.
 */
#define MLXROCM_DTYPE_FLOAT32 10

/**
 * Dtype: IEEE double precision.
 */
#define MLXROCM_DTYPE_FLOAT64 11

/**
 * Dtype: bfloat16.
 */
#define MLXROCM_DTYPE_BFLOAT16 12

/**
 * Dtype: complex numbers, two of single precision.
 */
#define MLXROCM_DTYPE_COMPLEX64 13

/**
 * No dtype.
 */
#define MLXROCM_DTYPE_NONE UINT32_MAX

/**
 * In place of an axis: none; the operation is on the array made flat.
 */
#define MLXROCM_AXIS_NONE INT64_MIN

/**
 * mlxrocm_array_pad.mode: a value around the array.
 */
#define MLXROCM_PAD_CONSTANT 0

/**
 * mlxrocm_array_pad.mode: its outermost elements around the array.
 */
#define MLXROCM_PAD_EDGE 1

/**
 * mlxrocm_array_pad.mode: its mirror image around the array, without the outermost elements.
 */
#define MLXROCM_PAD_REFLECT 2

/**
 * mlxrocm_array_pad.mode: its mirror image around the array.
 */
#define MLXROCM_PAD_SYMMETRIC 3

/**
 * Metadata: there is none of this name.
 */
#define MLXROCM_METADATA_NONE 0

/**
 * Metadata: a text.
 */
#define MLXROCM_METADATA_TEXT 1

/**
 * Metadata: a list of texts.
 */
#define MLXROCM_METADATA_TEXTS 2

/**
 * Metadata: an array, a scalar or a vector.
 */
#define MLXROCM_METADATA_ARRAY 3

/**
 * Template value: a dtype; the name is a type.
 */
#define MLXROCM_TEMPLATE_DTYPE 1

/**
 * Template value: a whole number of 32 bits; the name is a constant.
 */
#define MLXROCM_TEMPLATE_INT 2

/**
 * Template value: 0 or not; the name is a constant of type bool.
 */
#define MLXROCM_TEMPLATE_BOOL 3

/**
 * An n-dimensional array. Operations are lazy: a function checks shapes and dtypes and returns at
 * once, elements are computed by mlxrocm_array_eval or when they are read. Arrays never change: an
 * operation makes a new one. Each keeps what it is made from, so handles may be freed in any order.
 * Internally locked: any thread.
 *
 * The functions of operations have MLX's names and meaning. They promote dtypes and broadcast shapes
 * as MLX does, and their messages name the operation and the shapes.
 */
typedef struct mlxrocm_array mlxrocm_array;

/**
 * A kernel of the application that takes and gives arrays, on a GPU. Immutable: any thread.
 */
typedef struct mlxrocm_array_kernel mlxrocm_array_kernel;

/**
 * Arrays and metadata by their names, in the order of these. Made empty or of a file.
 * Internally locked: any thread.
 */
typedef struct mlxrocm_array_map mlxrocm_array_map;

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
 * A network that evaluates chess positions. Internally locked: any thread.
 */
typedef struct mlxrocm_chess_net mlxrocm_chess_net;

/**
 * Batches of positions that are evaluated one after the other while the application goes on: each thread that
 * searches may have a queue of its own, or several may share one. Internally locked: any thread.
 */
typedef struct mlxrocm_chess_queue mlxrocm_chess_queue;

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
 * What a model file or folder holds, without loading it. Immutable: any thread.
 */
typedef struct mlxrocm_model_file mlxrocm_model_file;

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
 * of the next mlxrocm_stream_wait, once, or of a wait for arrays that were given to the stream
 * (mlxrocm_array_to_stream).
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
 * Receives a log line without its newline; `message` has `length` bytes and a NUL behind them,
 * and is borrowed for the call.
 *
 * It is called only on a thread that is in a call of this library, by several such threads at once;
 * never on a thread of the library: what those write waits for the next call that ends or logs
 * (1,024 lines at most). It may call this library, but must not throw, unwind or jump out.
 */
typedef void (*mlxrocm_log_callback)(uint32_t level,
                                     const char *message,
                                     size_t length,
                                     void *user_data);

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
   * Bytes of `name` without the NUL.
   */
  size_t name_length;
  /**
   * The kernels that run on it. CPU: "avx512-vnni", "avx2" or "portable"; GPU: the target of its
   * code, like "gfx1151" or "sm_90". Borrowed until the device is freed.
   */
  const char *isa;
  /**
   * Bytes of `isa` without the NUL.
   */
  size_t isa_length;
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
   * Bytes of `target` without the NUL.
   */
  size_t target_length;
  /**
   * GPU: its address on the PCI bus, like "0000:03:00.0"; borrowed until the device is freed.
   */
  const char *pci_id;
  /**
   * Bytes of `pci_id` without the NUL.
   */
  size_t pci_id_length;
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
 * Memory counters of a device, in bytes. Freed buffers are kept for reuse: `active + cache` stay at or
 * below `limit`.
 */
typedef struct mlxrocm_device_memory {
  /**
   * Set by the caller to sizeof(mlxrocm_device_memory).
   */
  uint32_t struct_size;
  /**
   * 1 if the device shares the processor's memory, as the CPU itself does.
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
 * Receives one line of a self-test's report without its newline; `line` has `length` bytes and a NUL
 * behind them, and is borrowed for the call. It is called from the thread that tests.
 *
 * Returns 0 to go on, anything else to end the test with MLXROCM_ERROR_CANCELLED. It must not throw,
 * unwind or jump out.
 */
typedef int32_t (*mlxrocm_selftest_callback)(const char *line, size_t length, void *user_data);

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
   * The compiler's options, UTF-8 like "-DROWS=4".
   */
  const char *const *flags;
  /**
   * Bytes of each of `flags`; NULL: they are NUL-terminated.
   */
  const size_t *flag_lengths;
  /**
   * What the source is called in messages, UTF-8; NULL: "kernel source".
   */
  const char *name;
  /**
   * Bytes of `name`; 0: it is NUL-terminated.
   */
  size_t name_length;
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
  /**
   * Bytes of `name` without the NUL.
   */
  size_t name_length;
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
 * Hears how far loading or quantizing is: `done` of `total` bytes; the last call has done == total. It
 * is called from the thread that called.
 *
 * Returns 0 to go on, anything else to end the work with MLXROCM_ERROR_CANCELLED. It must not
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
   * cannot. NULL: the best GPU that passes a short self-test and takes the model, one that holds all
   * of it before others, else the CPU; the log says which.
   */
  const struct mlxrocm_device *device;
  /**
   * The most bytes of a GPU's memory that weights take. What is more stays in host memory, and kernels
   * read it over the bus, which is slow: first a table of embeddings, then experts, then other matrices,
   * of each kind the last layers' first. Experts of up to 16 rows are computed there by `threads` threads
   * where that is found to be faster when the model is loaded. The log says what lies where, and which of
   * both was chosen. KV caches and what a session computes in come on top
   * (mlxrocm_device_set_memory_limit).
   * 0: all of them lie on the GPU if a session with default options fits beside them under its limit, else
   * as many as leave room for one. All of them, or it is an error, where that cannot be: nothing would be
   * left on the GPU, or host memory does not suffice; on a GPU that shares the host's memory; and without
   * `device` if more than a quarter of the weights that a token reads would come over the bus.
   * UINT64_MAX: all, whatever a session needs.
   */
  uint64_t gpu_weight_bytes;
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
   * "llama", "qwen3", "gemma3" and so on.
   */
  const char *family;
  /**
   * Bytes of `family` without the NUL.
   */
  size_t family_length;
  /**
   * The name the file gives itself, or the file's name.
   */
  const char *name;
  /**
   * Bytes of `name` without the NUL.
   */
  size_t name_length;
  /**
   * What most of the weights are stored as, e.g. "Q4_1" or "affine 4-bit g64".
   */
  const char *quantization;
  /**
   * Bytes of `quantization` without the NUL.
   */
  size_t quantization_length;
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
  /**
   * Bytes of matrices in a GPU's memory; 0 on the CPU.
   */
  uint64_t gpu_weight_bytes;
  /**
   * Bytes of matrices in host memory that a GPU reads over the bus (mlxrocm_model_options.gpu_weight_bytes).
   */
  uint64_t host_weight_bytes;
} mlxrocm_model_info;

/**
 * A tensor of a model file. Pointers are borrowed until the model file is freed.
 */
typedef struct mlxrocm_tensor_info {
  /**
   * Set by the caller to sizeof(mlxrocm_tensor_info).
   */
  uint32_t struct_size;
  /**
   * Elements of `shape`.
   */
  uint32_t rank;
  /**
   * Its name in the file.
   */
  const char *name;
  /**
   * Bytes of `name` without the NUL.
   */
  size_t name_length;
  /**
   * How the file spells the format of its numbers: "Q4_K", "BF16", "U32" and so on.
   */
  const char *format;
  /**
   * Bytes of `format` without the NUL.
   */
  size_t format_length;
  /**
   * `rank` sizes, outermost first (GGUF files store them the other way round); never NULL.
   */
  const int64_t *shape;
  /**
   * Bytes of the file that hold it; 0 also of a format whose size is not known.
   */
  uint64_t bytes;
} mlxrocm_tensor_info;

/**
 * How to quantize a model. Zero is each field's default.
 */
typedef struct mlxrocm_quantize_options {
  /**
   * Set by the caller to sizeof(mlxrocm_quantize_options).
   */
  uint32_t struct_size;
  /**
   * Bits of a weight: 2, 3, 4, 5, 6 or 8 in mode "affine"; 0: the mode's usual ones (4, 8 of
   * "mxfp8").
   */
  uint32_t bits;
  /**
   * Weights that share a scale: 32, 64 or 128 in mode "affine"; 0: the mode's usual ones (64, 32
   * of "mxfp4" and "mxfp8", 16 of "nvfp4"). Matrices whose rows are no whole groups stay as they
   * are.
   */
  uint32_t group_size;
  /**
   * CPU threads, at most 1024; 0: one for each CPU that this process may run on.
   */
  uint32_t threads;
  /**
   * Nullable: "affine" (the default), "mxfp4", "mxfp8" or "nvfp4"; borrowed for the call.
   */
  const char *mode;
  /**
   * Bytes of `mode`; 0 or MLXROCM_NUL: it ends at its NUL.
   */
  size_t mode_length;
  /**
   * Nullable: "mixed_2_6", "mixed_3_4", "mixed_3_6" or "mixed_4_6", which give some layers' v_proj
   * and down_proj and the output head the second number of bits and all else the first, as in
   * mlx-lm; borrowed for the call.
   */
  const char *recipe;
  /**
   * Bytes of `recipe`; 0 or MLXROCM_NUL: it ends at its NUL.
   */
  size_t recipe_length;
  /**
   * Nullable: "float16", "bfloat16" or "float32", the type of scales and of what is not
   * quantized. NULL: what the config names, else the source's.
   */
  const char *dtype;
  /**
   * Bytes of `dtype`; 0 or MLXROCM_NUL: it ends at its NUL.
   */
  size_t dtype_length;
  /**
   * What modules become by their paths, e.g. "*.v_proj=6", "lm_head=8:32" (bits and group size),
   * "*.mlp.*=mxfp4" or "model.embed_tokens=none" (stays as it is); '*' stands for any
   * characters, '?' for one. The first rule that matches counts, before the recipe. Borrowed for
   * the call; ignored where `rules_count` is 0.
   */
  const char *const *rules;
  /**
   * Bytes of each of `rules`; NULL: they are NUL-terminated.
   */
  const size_t *rules_lengths;
  /**
   * Strings in `rules`.
   */
  size_t rules_count;
  /**
   * Nullable; hears how far it is, in bytes of the source.
   */
  mlxrocm_progress_callback progress;
  /**
   * Nullable, passed to `progress`.
   */
  void *user_data;
  /**
   * Nullable; called exactly once with `user_data` before mlxrocm_model_quantize returns, unless
   * this struct cannot be read (NULL, a wrong struct_size).
   */
  mlxrocm_user_data_free user_data_free;
} mlxrocm_quantize_options;

/**
 * What mlxrocm_model_quantize made.
 */
typedef struct mlxrocm_quantize_result {
  /**
   * Set by the caller to sizeof(mlxrocm_quantize_result).
   */
  uint32_t struct_size;
  /**
   * Files of tensors.
   */
  uint32_t files;
  /**
   * Numbers in all tensors.
   */
  uint64_t parameters;
  /**
   * Bytes of all tensors of the result.
   */
  uint64_t bytes;
  /**
   * Bytes of the source that an interrupted run had done before.
   */
  uint64_t resumed_bytes;
} mlxrocm_quantize_result;

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
   * "system", "user", "assistant", "tool"...; UTF-8.
   */
  const char *role;
  /**
   * Bytes of `role`; 0: it is NUL-terminated.
   */
  size_t role_length;
  /**
   * The text, UTF-8; bytes that are not UTF-8 become U+FFFD.
   */
  const char *content;
  /**
   * Bytes of `content`; 0: it is NUL-terminated.
   */
  size_t content_length;
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
   * Tokens of context that a request may use, its prompt included; 0: the model's, at most 8192. More
   * than the model was trained for works, with a warning in the log: what is written beyond may be poor. Where its
   * RoPE would follow each text's length there (`rope_scaling` `dynamic`), it is MLXROCM_ERROR_INVALID_ARGUMENT.
   */
  uint32_t context;
  /**
   * Requests that run at once, at most 1,024; more wait for their turn; 0: 8.
   */
  uint32_t max_requests;
  /**
   * Prompt tokens that are run at once; 0: 512, on GPUs 1,024, of mixtures of experts on NVIDIA 2,048.
   */
  uint32_t prefill_chunk;
  /**
   * Tokens of KV cache that all requests share; when it is full, requests wait for each other.
   * 0: a context for each of `max_requests`, but no more bytes than the model's weights have (or 256 MiB,
   * if that is more) and than a quarter of the free memory of the model's device; one context in any
   * case.
   */
  uint64_t kv_tokens;
  /**
   * How the KV cache keeps keys and values: one of MLXROCM_KV_...; 0: MLXROCM_KV_F16.
   */
  uint64_t kv_type;
  /**
   * 1: what a request gives does not depend, to the bit, on what runs beside it (the same seed gives the same tokens)
   * with any number of requests and beside any prompts, on GPUs too. 0: on GPUs so up to 16 requests that run, and
   * not beside another request's prompt; faster with more of them. On the CPU it is always so. With 1 a GPU runs
   * prompts one after the other, and single tokens of 16 requests at a time; a request waits until there is room for
   * all tokens that it may have (set its max_tokens), also while the callers of those that run do not read; prompts that
   * begin alike are computed each for itself; and states are neither saved nor loaded.
   */
  uint64_t batch_invariant;
  /**
   * 1: the next tokens of a request are guessed from what followed the same few tokens earlier in it, its prompt
   * included, and checked in one step: faster where texts are repeated, as in code that is edited, quoted sources and
   * lists. What is generated stays the same, to the token, wherever it does not depend on what runs beside it
   * (`batch_invariant`). How many are guessed depends on how often guesses were right
   * and on how long steps take. None are beside another request's prompt, and none in a batch-invariant session of a
   * model with recurrent layers. 0: nothing is looked up.
   */
  uint64_t prompt_lookup;
  /**
   * A smaller model with the same tokens, on the same or another device, which writes guesses that are checked in the
   * same way: faster where it is right often and much smaller. With `prompt_lookup` it does so where there is no long
   * match. Borrowed for the call; the session keeps what it needs of it. NULL: none.
   */
  const struct mlxrocm_model *draft_model;
} mlxrocm_session_options;

/**
 * What a session is and does right now. A request counts from mlxrocm_session_submit until its
 * MLXROCM_EVENT_FINISHED can be read.
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
 * Edits the logits of a request's next token before one is chosen, for a grammar, a watermark, guidance.
 *
 * - `tokens`: the tokens so far, the prompt's and the generated ones; borrowed for the call.
 * - `token_count`: elements of `tokens`.
 * - `logits`: `vocab_size` numbers, all finite, to be changed in place. −INFINITY bans a token.
 * - `vocab_size`: columns of the model's logits (mlxrocm_model_info). Those that are no token of the tokenizer are
 *   never chosen, whatever is written there.
 * - `user_data`: from the request.
 *
 * Returns 0 to go on. Another number ends the generation with MLXROCM_FINISH_ERROR and MLXROCM_ERROR_CANCELLED;
 * NaN or +INFINITY in `logits`, or no token left, with MLXROCM_ERROR_INVALID_ARGUMENT.
 *
 * Called on the session's own thread, of one session never twice at a time; no step of the model begins meanwhile. In
 * it, nothing may be called that waits for this session: not mlxrocm_session_logits, _logits_at and _embed, and
 * mlxrocm_generation_next only with timeout 0. Freeing and cancelling generations is fine.
 *
 * On GPUs the logits of such requests alone come to the host; the device chooses the others' tokens. If callbacks take
 * a large part of a step's time, the others do not wait for them: a step without such requests is queued before and
 * runs meanwhile, and they are in every second step.
 */
typedef int32_t (*mlxrocm_logits_processor)(const uint32_t *tokens,
                                            size_t token_count,
                                            float *logits,
                                            size_t vocab_size,
                                            void *user_data);

/**
 * A prompt and how to continue it. Zero is each field's default: greedy, until the model stops.
 *
 * The prompt is exactly one of `tokens`, `text` and a chat: `messages`, `chat_json` or both.
 *
 * How a token is chosen, in this order, from the model's logits (of ids that the tokenizer has; padding of
 * the embedding is never chosen):
 * 1. `logits_processor` may change them, then the biases are added;
 * 2. logits of recent tokens get the repetition penalty, then lose the presence and frequency penalties;
 * 3. `json_schema`, `regex` or `grammar` leaves the tokens that may come next;
 * 4. `temperature` 0 or `top_k` 1: the largest logit, of equal ones the lowest id, and that is all;
 * 5. `top_k` keeps the k largest logits;
 * 6. `top_p` keeps the fewest of these that together have that share of their probability, the token that
 *    reaches it included;
 * 7. `min_p` drops those whose probability is less than so much of the largest one;
 * 8. the rest is drawn from at `temperature`, which 6 and 7 do not look at: they take it as 1.
 *
 * What the generated text must be (`json_schema`, `regex` or `grammar`) holds from its first token on. A token that
 * ends the generation is chosen only where the text is complete; where nothing may follow, the generation ends with
 * MLXROCM_FINISH_GRAMMAR. Texts that end otherwise (MLXROCM_FINISH_LENGTH, stop strings and stop tokens that are text
 * themselves, cancelling) are the beginning of one. What the field says is compiled in the call that takes the
 * request; the first such request of a model takes longer, as its tokens are sorted. What the model is asked for
 * should say the same: it knows nothing of the field. On GPUs such requests are as with a logits processor: their
 * tokens are chosen by the host. Control tokens are no text, and are chosen only where a grammar names them.
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
   * The prompt as token ids, run as they are; `token_count` of them. NULL: none.
   */
  const uint32_t *tokens;
  /**
   * Ids in `tokens`; 0: none.
   */
  size_t token_count;
  /**
   * The prompt as plain text, UTF-8; encoded with MLXROCM_ENCODE_ADD_SPECIAL. NULL: none.
   */
  const char *text;
  /**
   * Bytes of `text`; 0: it is NUL-terminated.
   */
  size_t text_length;
  /**
   * The prompt as a chat of `message_count` messages, which the model answers: written with the
   * model's chat template. Special tokens spelled out in a message stay text. NULL: none.
   */
  const struct mlxrocm_message *messages;
  /**
   * Messages in `messages`; 0: none.
   */
  size_t message_count;
  /**
   * Strings that end the generation and are not part of its text; UTF-8. Empty ones end nothing.
   */
  const char *const *stop;
  /**
   * Bytes of each of `stop`; NULL: they are NUL-terminated.
   */
  const size_t *stop_lengths;
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
   * most 20. They are the model's own: before biases, penalties, temperature and every filter, so that
   * they do not depend on how tokens are chosen, and a chosen token may be none of the n.
   */
  uint32_t logprobs;
  /**
   * Nullable; called before each token is chosen. See mlxrocm_logits_processor.
   */
  mlxrocm_logits_processor logits_processor;
  /**
   * Passed to `logits_processor`.
   */
  void *user_data;
  /**
   * Nullable; called exactly once with `user_data` when it is not needed any more, on any thread: before the
   * generation's MLXROCM_EVENT_FINISHED can be read, or before a call that fails with this request returns
   * (unless struct_size cannot be read).
   */
  mlxrocm_user_data_free user_data_free;
  /**
   * The prompt as a chat in JSON, UTF-8: an object of `messages`, `tools` and further
   * variables of the template, as in mlxrocm_chat_template_render. Special tokens spelled out in its
   * texts stay text. With `messages` it has none.
   */
  const char *chat_json;
  /**
   * Bytes of `chat_json`; 0: it is NUL-terminated.
   */
  size_t chat_json_length;
  /**
   * A JSON schema, UTF-8: the generated text is JSON that fits it. `{"type": "object"}`: any object. Keywords of JSON
   * schemas that llguidance cannot follow (`not`, `if`, `uniqueItems`, `contains` …) and formats that it does not know
   * are an error that names them; other words say nothing. Between the parts are at most a space, or two new lines and
   * 20 spaces or tabs, unless the schema has llguidance's `x-guidance`. NULL: none. At most one of this, `regex` and
   * `grammar`.
   */
  const char *json_schema;
  /**
   * Bytes of `json_schema`; 0: it is NUL-terminated.
   */
  size_t json_schema_length;
  /**
   * A regular expression that matches all of the generated text, UTF-8; Rust's syntax, but word boundaries
   * are an error. NULL: none.
   */
  const char *regex;
  /**
   * Bytes of `regex`; 0: it is NUL-terminated.
   */
  size_t regex_length;
  /**
   * A grammar whose rule `start` derives the generated text, UTF-8; Lark's notation, as llguidance reads it. NULL:
   * none.
   */
  const char *grammar;
  /**
   * Bytes of `grammar`; 0: it is NUL-terminated.
   */
  size_t grammar_length;
} mlxrocm_request;

/**
 * What mlxrocm_session_embed gives. Zero is each field's default: the hidden state of every token as it is.
 */
typedef struct mlxrocm_embed_options {
  /**
   * Set by the caller to sizeof(mlxrocm_embed_options).
   */
  uint32_t struct_size;
  /**
   * One of MLXROCM_POOLING_...; 0: MLXROCM_POOLING_NONE. What a model was trained for is said by whoever made
   * it: language models know most in the last token.
   */
  uint32_t pooling;
  /**
   * Without pooling: `position_count` positions of tokens, from 0, each larger than the one before.
   */
  const uint32_t *positions;
  /**
   * Elements of `positions`; 0: all tokens.
   */
  size_t position_count;
  /**
   * MLXROCM_EMBED_NORMALIZE or 0.
   */
  uint64_t flags;
} mlxrocm_embed_options;

/**
 * A token and its natural-log probability. This struct never grows.
 */
typedef struct mlxrocm_token_logprob {
  /**
   * The token.
   */
  uint32_t token;
  /**
   * ln p: the natural logarithm of the softmax of the model's logits, as they are before biases,
   * penalties, temperature and filters (see mlxrocm_request).
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
   * TOKEN: its natural-log probability by the model (see mlxrocm_token_logprob), where the request
   * asked for it.
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
   * Bytes of `error_message` without the NUL.
   */
  size_t error_message_length;
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
  /**
   * FINISHED: tokens that were guessed (mlxrocm_session_options.prompt_lookup).
   */
  uint64_t guessed_tokens;
  /**
   * FINISHED: of these, the ones that the model chose too: each saved a step.
   */
  uint64_t accepted_tokens;
} mlxrocm_event;

/**
 * How to load a network. Zero is each field's default.
 */
typedef struct mlxrocm_chess_net_options {
  /**
   * Set by the caller to sizeof(mlxrocm_chess_net_options).
   */
  uint32_t struct_size;
  /**
   * CPU threads, at most 1024; 0: one for each CPU that this process may run on.
   */
  uint32_t threads;
  /**
   * One of MLXROCM_CHESS_POLICY_HEAD_...; the network must have it.
   */
  uint32_t policy_head;
  /**
   * One of MLXROCM_CHESS_VALUE_HEAD_...; the network must have it.
   */
  uint32_t value_head;
  /**
   * Nullable; the device that evaluates, borrowed for the call. NULL: the CPU.
   */
  const struct mlxrocm_device *device;
  /**
   * One of MLXROCM_CHESS_PRECISION_...
   */
  uint32_t precision;
  /**
   * 0; another number is refused.
   */
  uint32_t reserved;
} mlxrocm_chess_net_options;

/**
 * Facts about a network.
 */
typedef struct mlxrocm_chess_net_info {
  /**
   * Set by the caller to sizeof(mlxrocm_chess_net_info).
   */
  uint32_t struct_size;
  /**
   * The planes that it takes: 1, 2, 3, 4, 132, 5 or 133, as Leela Chess Zero numbers its formats.
   */
  uint32_t input_format;
  /**
   * One of MLXROCM_CHESS_BODY_...
   */
  uint32_t body;
  /**
   * Residual blocks or encoders.
   */
  uint32_t depth;
  /**
   * Channels of a square.
   */
  uint32_t width;
  /**
   * One of MLXROCM_CHESS_POLICY_CLASSICAL, CONVOLUTION and ATTENTION.
   */
  uint32_t policy;
  /**
   * 1 if it tells chances of draws; 0 if only a value.
   */
  uint32_t has_draws;
  /**
   * 1 if it tells how many plies are left.
   */
  uint32_t has_moves_left;
  /**
   * Weights in the file, those of heads that are not used included.
   */
  uint64_t parameters;
} mlxrocm_chess_net_info;

/**
 * A legal move of a position.
 */
typedef struct mlxrocm_chess_move {
  /**
   * Its place in the policy, below MLXROCM_CHESS_MOVES.
   */
  uint32_t policy_index;
  /**
   * Bytes of `name` without the NUL.
   */
  uint32_t name_length;
  /**
   * UCI's name, NUL-terminated: "e2e4", "e7e8q"; castling as the king's two squares ("e1g1"), in
   * games of Chess960 as the king taking its rook.
   */
  char name[8];
} mlxrocm_chess_move;

/**
 * What a kernel on arrays is made of. Zero is each field's default.
 */
typedef struct mlxrocm_array_kernel_options {
  /**
   * Set by the caller to sizeof(mlxrocm_array_kernel_options).
   */
  uint32_t struct_size;
  /**
   * Not 0: inputs are given as they lie; 0: those that do not lie row after row are copied.
   */
  uint32_t strided;
  /**
   * The kernel's name, a name in C, UTF-8.
   */
  const char *name;
  /**
   * Bytes of `name`; 0: it is NUL-terminated.
   */
  size_t name_length;
  /**
   * The body of the function in HIP's language, UTF-8; what it sees is said at mlxrocm_array_kernel_new.
   */
  const char *source;
  /**
   * Bytes of `source`; 0: it is NUL-terminated.
   */
  size_t source_length;
  /**
   * Nullable; what stands before the function, UTF-8.
   */
  const char *header;
  /**
   * Bytes of `header`; 0: it is NUL-terminated.
   */
  size_t header_length;
  /**
   * Names of the inputs, names in C.
   */
  const char *const *input_names;
  /**
   * Bytes of each of `input_names`; NULL: they are NUL-terminated.
   */
  const size_t *input_name_lengths;
  /**
   * Elements of `input_names`.
   */
  size_t input_count;
  /**
   * Names of the outputs, names in C.
   */
  const char *const *output_names;
  /**
   * Bytes of each of `output_names`; NULL: they are NUL-terminated.
   */
  const size_t *output_name_lengths;
  /**
   * Elements of `output_names`, at least 1.
   */
  size_t output_count;
} mlxrocm_array_kernel_options;

/**
 * Dtype and shape of an array.
 */
typedef struct mlxrocm_array_type {
  /**
   * `rank` sizes, outermost first.
   */
  const int64_t *shape;
  /**
   * Elements of `shape`: the number of dimensions.
   */
  size_t rank;
  /**
   * An MLXROCM_DTYPE number.
   */
  uint32_t dtype;
  /**
   * 0.
   */
  uint32_t reserved;
} mlxrocm_array_type;

/**
 * A name in a kernel's source that each call gives a meaning.
 */
typedef struct mlxrocm_array_template {
  /**
   * A name in C.
   */
  const char *name;
  /**
   * Bytes of `name`; 0: it is NUL-terminated.
   */
  size_t name_length;
  /**
   * DTYPE: an MLXROCM_DTYPE number. INT, BOOL: the value.
   */
  int64_t value;
  /**
   * One of MLXROCM_TEMPLATE_...
   */
  uint32_t kind;
  /**
   * 0.
   */
  uint32_t reserved;
} mlxrocm_array_template;

/**
 * How a kernel on arrays is called. Zero is each field's default.
 */
typedef struct mlxrocm_array_kernel_call {
  /**
   * Set by the caller to sizeof(mlxrocm_array_kernel_call).
   */
  uint32_t struct_size;
  /**
   * Not 0: outputs hold `initial` before; 0: whatever lies there.
   */
  uint32_t has_initial;
  /**
   * The number, as each output's dtype.
   */
  double initial;
  /**
   * Work items in x, y and z, as in MLX; 0 in y or z is 1. The last blocks are whole: what is beyond must be left
   * alone by the kernel.
   */
  uint32_t grid[3];
  /**
   * Work items of a block in x, y and z; 0 in y or z is 1.
   */
  uint32_t block[3];
  /**
   * `input_count` arrays, borrowed for the call.
   */
  const struct mlxrocm_array *const *inputs;
  /**
   * Elements of `inputs`: as many as the kernel has names.
   */
  size_t input_count;
  /**
   * Types of the outputs, `output_count` of them, borrowed for the call.
   */
  const struct mlxrocm_array_type *outputs;
  /**
   * Elements of `outputs`: as many as the kernel has names.
   */
  size_t output_count;
  /**
   * Meanings of names, `template_count` of them, borrowed for the call.
   */
  const struct mlxrocm_array_template *templates;
  /**
   * Elements of `templates`.
   */
  size_t template_count;
} mlxrocm_array_kernel_call;

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
 * - `length`: nullable; receives the bytes of the text, its NUL not counted.
 *
 * Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
 */
const char *mlxrocm_version_string(size_t *length);

/**
 * One line about how the library was built: version, target, devices and formats. For bug reports.
 *
 * - `length`: nullable; receives the bytes of the text, its NUL not counted.
 *
 * Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
 */
const char *mlxrocm_build_info(size_t *length);

/**
 * The name of a status, e.g. "MLXROCM_ERROR_IO".
 *
 * - `status`: any number; one that is no status gives "MLXROCM_STATUS_UNKNOWN".
 * - `length`: nullable; receives the bytes of the text, its NUL not counted.
 *
 * Returns a string that is borrowed until the process ends, never NULL. Any thread. Since 0.1.
 */
const char *mlxrocm_status_name(mlxrocm_status status, size_t *length);

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
 * - `length`: nullable; receives the bytes of the text, its NUL not counted.
 *
 * Returns a string that is borrowed until `error` is freed; never NULL, "" for NULL. Any thread.
 * Since 0.1.
 */
const char *mlxrocm_error_message(const struct mlxrocm_error *error, size_t *length);

/**
 * The long form of a message that has one: several lines of UTF-8, e.g. a compiler's log.
 *
 * - `error`: borrowed; NULL means no error.
 * - `length`: nullable; receives the bytes of the text, its NUL not counted.
 *
 * Returns a string that is borrowed until `error` is freed; never NULL, "" where the message says
 * everything. Any thread. Since 0.1.
 */
const char *mlxrocm_error_details(const struct mlxrocm_error *error, size_t *length);

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
 * Reads a device's memory counters. Of the CPU `active` and `peak` are those of the elements of arrays that are the
 * library's own, in all threads; `cache` is memory of arrays that are gone, kept for new ones (256 MiB at most).
 * Nothing but the machine's memory is a limit.
 *
 * - `device`: borrowed.
 * - `memory`: receives the counters; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
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
 * Sets a device's `peak` counter to what is in use now.
 *
 * - `device`: borrowed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, memory of an array), OUT_OF_MEMORY,
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array,
 * another device), OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, both pinned, a target that is
 * memory of an array, another device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array,
 * another device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
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
 * argument that is wrong, missing or too much, a write to memory of an array, another device),
 * DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_stream_launch(const struct mlxrocm_stream *stream,
                                     const struct mlxrocm_kernel *kernel,
                                     const struct mlxrocm_launch *launch,
                                     struct mlxrocm_error **error);

/**
 * Frees a stream. Work that was queued on it still runs, and arrays that were given to it stay usable.
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
 * - `source`: UTF-8, borrowed for the call.
 * - `source_length`: bytes of `source`, or MLXROCM_NUL.
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
                                      size_t source_length,
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
 * - `name`: UTF-8, borrowed for the call; the kernel's name as it is in the code: `extern "C"`.
 * - `name_length`: bytes of `name`, or MLXROCM_NUL.
 * - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name), DEVICE_FAILED, DEVICE_LOST.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_module_get_kernel(const struct mlxrocm_module *module,
                                         const char *name,
                                         size_t name_length,
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
 * - `name`: UTF-8, borrowed for the call.
 * - `name_length`: bytes of `name`, or MLXROCM_NUL.
 * - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU; no such kernel; none for this device
 * and no compiler on this machine), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_get_kernel(const struct mlxrocm_device *device,
                                         const char *name,
                                         size_t name_length,
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, pinned memory, a target
 * that is memory of an array, another device; not in recording). Any thread. Since 0.1.
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array, another
 * device; not in recording). Any thread. Since 0.1.
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
 * - `path`: the file or folder as the operating system spells it; copied.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `options`: borrowed for the call; NULL means defaults.
 * - `model`: receives the model, owned: free it with mlxrocm_model_free.
 * - `error`: nullable; receives an owned error object on failure. It names the file and the field
 *   or tensor.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (an unknown family or
 * format), OUT_OF_MEMORY, CANCELLED. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_load(const char *path,
                                  size_t path_length,
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
 * Opens a GGUF file, a safetensors file or a model folder to see what is in it. Nothing is loaded, and
 * models that mlxrocm_model_load refuses can be looked at. Of a split GGUF model any file stands for all.
 *
 * - `path`: the file or folder as the operating system spells it; copied.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `file`: receives the model file, owned: free it with mlxrocm_model_file_free.
 * - `error`: nullable; receives an owned error object on failure. It names the file and the tensor.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (another version of GGUF). Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_file_open(const char *path,
                                       size_t path_length,
                                       struct mlxrocm_model_file **file,
                                       struct mlxrocm_error **error);

/**
 * The number of tensors of a model file.
 *
 * - `file`: borrowed.
 *
 * Returns 0 also if `file` is NULL or not live. Any thread. Since 0.1.
 */
size_t mlxrocm_model_file_tensor_count(const struct mlxrocm_model_file *file);

/**
 * Tells what a model file says about a tensor.
 *
 * - `file`: borrowed.
 * - `index`: which one, below mlxrocm_model_file_tensor_count; they come in the order of the file.
 * - `info`: receives the facts; its `struct_size` must be set. Pointers in it are borrowed until the model
 *   file is freed.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also where there is no such tensor). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_file_get_tensor(const struct mlxrocm_model_file *file,
                                             size_t index,
                                             struct mlxrocm_tensor_info *info,
                                             struct mlxrocm_error **error);

/**
 * Frees a model file.
 *
 * - `file`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_model_file_free(struct mlxrocm_model_file *file);

/**
 * Quantizes a model into a new folder in MLX's format.
 *
 * The tensors are byte for byte those that mlx-lm 0.32.2 writes. They are converted some rows at a
 * time, so that memory does not grow with the model. Until all is on disk, the result lies in
 * `destination`.partial; when a call was cancelled, failed or ended with the process, the same call
 * goes on there, and files that were finished are not written again. Of a GGUF file the config and
 * the tokenizer's files are made too (families llama, qwen2, qwen3, qwen3_moe and smollm3).
 *
 * - `source`: a model folder of safetensors files, or a GGUF file, of 16- or 32-bit floats, as the
 *   operating system spells it.
 * - `source_length`: bytes of `source`, or MLXROCM_NUL.
 * - `destination`: the folder to make, which must not exist; spelled likewise.
 * - `destination_length`: bytes of `destination`, or MLXROCM_NUL.
 * - `options`: borrowed for the call; NULL means defaults: affine, 4 bits in groups of 64.
 * - `result`: nullable; receives what was made; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure. It names the file and the tensor.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (options that do not fit, a destination that exists or
 * is being written, a partial folder of another source or other options), IO, INVALID_FILE,
 * UNSUPPORTED (an unknown family, a model that is quantized), CANCELLED. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_model_quantize(const char *source,
                                      size_t source_length,
                                      const char *destination,
                                      size_t destination_length,
                                      const struct mlxrocm_quantize_options *options,
                                      struct mlxrocm_quantize_result *result,
                                      struct mlxrocm_error **error);

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
 * - `text`: UTF-8, borrowed for the call. Bytes that are not UTF-8 count as U+FFFD.
 * - `text_length`: bytes of `text`, or MLXROCM_NUL.
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
                                        size_t text_length,
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
 * - `spelling`: UTF-8, borrowed for the call, e.g. "<|im_end|>".
 * - `spelling_length`: bytes of `spelling`, or MLXROCM_NUL.
 * - `token`: receives the id, or MLXROCM_NO_TOKEN when no token is spelled like that.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_tokenizer_find_token(const struct mlxrocm_tokenizer *tokenizer,
                                            const char *spelling,
                                            size_t spelling_length,
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
 * - `source`: UTF-8; copied.
 * - `source_length`: bytes of `source`, or MLXROCM_NUL.
 * - `bos`: spelling of the token that begins a text; UTF-8, copied; NULL: "".
 * - `bos_length`: bytes of `bos`, or MLXROCM_NUL.
 * - `eos`: spelling of the token that ends a text; UTF-8, copied; NULL: "".
 * - `eos_length`: bytes of `eos`, or MLXROCM_NUL.
 * - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (a syntax error). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chat_template_new(const char *source,
                                         size_t source_length,
                                         const char *bos,
                                         size_t bos_length,
                                         const char *eos,
                                         size_t eos_length,
                                         struct mlxrocm_chat_template **chat_template,
                                         struct mlxrocm_error **error);

/**
 * Writes a chat as the text of a prompt. Encode it with MLXROCM_ENCODE_PARSE_SPECIAL and without
 * MLXROCM_ENCODE_ADD_SPECIAL: the template has written all special tokens.
 *
 * - `chat_template`: borrowed.
 * - `messages`: `count` messages, borrowed for the call.
 * - `count`: messages; 0 with messages in `chat_json`.
 * - `flags`: MLXROCM_RENDER_... together.
 * - `chat_json`: a JSON object of variables of the template, UTF-8, borrowed for the call; NULL: none. `messages`
 *   and `tools` are as OpenAI's API writes them: content as a text or as parts of type text, which are put
 *   together; tool_calls, whose arguments may be a text of JSON; tool_call_id; name; reasoning_content (thinking,
 *   where the template says so); a role developer is system where the template does not know it. Others are as
 *   they are, e.g. {"enable_thinking": false}.
 * - `chat_json_length`: bytes of `chat_json`, or MLXROCM_NUL.
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
                                            const char *chat_json,
                                            size_t chat_json_length,
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
 * - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
 *   the context are CONTEXT_FULL.
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
 * Runs a sequence of tokens and gives the raw logits of chosen positions. As mlxrocm_session_logits, but memory
 * and the product with the head of the model are only for these, and tokens after the last one are not run.
 *
 * - `session`: borrowed.
 * - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
 * - `count`: tokens.
 * - `positions`: `position_count` positions in `tokens`, from 0, each larger than the one before; borrowed for the
 *   call.
 * - `position_count`: positions; 0: the last token alone.
 * - `logits`: receives rows of vocab_size numbers (mlxrocm_model_info), one row for each position: that of
 *   position i is about the token that follows the first i + 1.
 * - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
 *   the context are CONTEXT_FULL.
 * - `needed`: receives rows * vocab_size, also when they do not fit; nullable unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL. Any
 * thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_logits_at(const struct mlxrocm_session *session,
                                         const uint32_t *tokens,
                                         size_t count,
                                         const uint32_t *positions,
                                         size_t position_count,
                                         float *logits,
                                         size_t capacity,
                                         size_t *needed,
                                         struct mlxrocm_error **error);

/**
 * Runs a sequence of tokens and gives their hidden states after the model's final norm, those of chosen tokens or
 * pooled to one embedding of the text. It waits for its turn among the requests, and takes as long as a prompt of
 * that length.
 *
 * - `session`: borrowed.
 * - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
 * - `count`: tokens.
 * - `options`: borrowed for the call; NULL means defaults: a row for each token.
 * - `embedding`: receives rows of hidden_size numbers (mlxrocm_model_info): one where tokens are pooled, else one
 *   for each chosen token.
 * - `capacity`: room in `embedding`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
 *   the context are CONTEXT_FULL.
 * - `needed`: receives rows * hidden_size, also when they do not fit; nullable unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL, UNSUPPORTED (a model
 * whose hidden states the device does not give). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_embed(const struct mlxrocm_session *session,
                                     const uint32_t *tokens,
                                     size_t count,
                                     const struct mlxrocm_embed_options *options,
                                     float *embedding,
                                     size_t capacity,
                                     size_t *needed,
                                     struct mlxrocm_error **error);

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

/**
 * Waits until mlxrocm_generation_next has an event of one of several generations, of any sessions.
 *
 * - `generations`: `count` generations, borrowed for the call; NULL ones are passed over.
 * - `count`: elements of `generations`.
 * - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
 * - `index`: receives the place of one that has an event, with MLXROCM_OK; where several have, they take turns.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Returns MLXROCM_OK; MLXROCM_PENDING when none had an event within the timeout; MLXROCM_END when none will have one
 * any more: all have given out their MLXROCM_EVENT_FINISHED, or there are none.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread; where another one takes the events, mlxrocm_generation_next
 * may have nothing any more. Since 0.1.
 */
mlxrocm_status mlxrocm_generation_wait_any(const struct mlxrocm_generation *const *generations,
                                           size_t count,
                                           int64_t timeout_ns,
                                           size_t *index,
                                           struct mlxrocm_error **error);

/**
 * Gives a file descriptor for poll, epoll, libuv and other event loops: it is readable while
 * mlxrocm_generation_next has an event, and not any more when MLXROCM_EVENT_FINISHED was given out.
 *
 * - `generation`: borrowed.
 * - `fd`: receives the descriptor (an eventfd, close-on-exec), the same one however often it is asked for. It is
 *   borrowed until the generation is freed, which closes it: take it out of the event loop before, wait for it to be
 *   readable, but neither read, write nor close it.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO (no descriptor is left). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_generation_get_fd(const struct mlxrocm_generation *generation,
                                         int32_t *fd,
                                         struct mlxrocm_error **error);

/**
 * Saves what the model made of some tokens (keys and values of the KV cache, and what recurrent layers keep), so that
 * a request that begins with them goes on after them without running them again: in this session or another one of
 * the same model, device and kv_type, in this process or another one. Tokens that are not in the cache any more are
 * run before, in turn with the requests.
 *
 * The state holds whole pages of 32 tokens, and the recurrent state after them: what is left over is run again. It
 * says what it is of and has a checksum.
 *
 * - `session`: borrowed.
 * - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context. For what a generation
 *   has seen: the prompt and the tokens of its events.
 * - `count`: tokens.
 * - `state`: receives the state.
 * - `capacity`: room in `state`, in bytes; 0: only measure, nothing is run. Whatever it is, more tokens than the
 *   context are CONTEXT_FULL.
 * - `needed`: receives the state's bytes, also when they do not fit; nullable unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL, UNSUPPORTED (a session
 * with batch_invariant on a GPU). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_save_state(const struct mlxrocm_session *session,
                                          const uint32_t *tokens,
                                          size_t count,
                                          uint8_t *state,
                                          size_t capacity,
                                          size_t *needed,
                                          struct mlxrocm_error **error);

/**
 * mlxrocm_session_save_state to a file. The file is written beside `path` and renamed when it is whole, so that one
 * that was there before is not damaged.
 *
 * - `session`: borrowed.
 * - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
 * - `count`: tokens.
 * - `path`: the file as the operating system spells it; borrowed for the call.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: as mlxrocm_session_save_state, and IO. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_save_state_file(const struct mlxrocm_session *session,
                                               const uint32_t *tokens,
                                               size_t count,
                                               const char *path,
                                               size_t path_length,
                                               struct mlxrocm_error **error);

/**
 * Puts a state into the session's KV cache, as if a request had just run its tokens: a request that begins with them
 * (mlxrocm_state_get_tokens) goes on after them, and its cached_tokens says after how many. It stays until other
 * requests need the room, then its tokens are run again.
 *
 * A state that is damaged, cut, of another model (its weights are compared by a hash), device or kv_type is refused.
 * One that was made with intent to deceive is not: load states only of those whom you would let write the prompt.
 *
 * - `session`: borrowed.
 * - `state`: `size` bytes, borrowed for the call.
 * - `size`: bytes.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_FILE (damaged), INVALID_ARGUMENT (of another model, device, kv_type), CONTEXT_FULL
 * (longer than the session's context), OUT_OF_MEMORY (also where the session has no memory to keep another recurrent
 * state), UNSUPPORTED (of another version of the library; a session with batch_invariant on a GPU). Any thread.
 * Since 0.1.
 */
mlxrocm_status mlxrocm_session_load_state(const struct mlxrocm_session *session,
                                          const uint8_t *state,
                                          size_t size,
                                          struct mlxrocm_error **error);

/**
 * mlxrocm_session_load_state from a file.
 *
 * - `session`: borrowed.
 * - `path`: the file as the operating system spells it, a regular one; borrowed for the call.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: as mlxrocm_session_load_state, and IO. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_session_load_state_file(const struct mlxrocm_session *session,
                                               const char *path,
                                               size_t path_length,
                                               struct mlxrocm_error **error);

/**
 * Gives the tokens of a state, those that are run again after loading included. Needs no session.
 *
 * - `state`: `size` bytes, borrowed for the call.
 * - `size`: bytes.
 * - `tokens`: receives the ids.
 * - `capacity`: room in `tokens`, in ids; 0: only measure.
 * - `needed`: receives the number of ids, also when they do not fit; nullable unless measuring.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_FILE (damaged), UNSUPPORTED (of another version of the library), BUFFER_TOO_SMALL.
 * Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_state_get_tokens(const uint8_t *state,
                                        size_t size,
                                        uint32_t *tokens,
                                        size_t capacity,
                                        size_t *needed,
                                        struct mlxrocm_error **error);

/**
 * Queues a request that goes on where a generation is: after its prompt and the tokens whose events
 * mlxrocm_generation_next has given out. Full pages of the KV cache are used by both; in a model with recurrent layers
 * those up to the last one at whose end their state was kept, and the rest is run again. The generation goes on as
 * it would.
 *
 * - `generation`: borrowed; it may have ended.
 * - `request`: as for mlxrocm_session_submit, but without a prompt; max_tokens and the like are the fork's own.
 *   Borrowed for the call.
 * - `fork`: receives the new generation, owned: free it with mlxrocm_generation_free. Of the same session.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: as mlxrocm_session_submit; INVALID_ARGUMENT also for a request with a prompt. One thread at a time with
 * mlxrocm_generation_next. Since 0.1.
 */
mlxrocm_status mlxrocm_generation_fork(const struct mlxrocm_generation *generation,
                                       const struct mlxrocm_request *request,
                                       struct mlxrocm_generation **fork,
                                       struct mlxrocm_error **error);

/**
 * Loads a network of Leela Chess Zero: a .pb.gz file, or the same unpacked.
 *
 * - `path`: the file as the operating system spells it; copied. It is read once.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `options`: borrowed for the call; NULL means defaults.
 * - `net`: receives the network, owned: free it with mlxrocm_chess_net_free.
 * - `error`: nullable; receives an owned error object on failure. It names the file and the field.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a head that the network does not have), IO, INVALID_FILE,
 * UNSUPPORTED (a kind of network that is not known, F16 on the CPU, a GPU without kernels), OUT_OF_MEMORY,
 * DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_net_load(const char *path,
                                      size_t path_length,
                                      const struct mlxrocm_chess_net_options *options,
                                      struct mlxrocm_chess_net **net,
                                      struct mlxrocm_error **error);

/**
 * Tells facts about a network.
 *
 * - `net`: borrowed.
 * - `info`: receives the facts; its `struct_size` must be set.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_net_get_info(const struct mlxrocm_chess_net *net,
                                          struct mlxrocm_chess_net_info *info,
                                          struct mlxrocm_error **error);

/**
 * Makes a network's input of a position, with the game that led to it, and tells the legal moves. What
 * came before a FEN is taken to be the same position.
 *
 * - `net`: borrowed.
 * - `fen`: where the game begins, UTF-8, borrowed for the call; castling rights as KQkq or as files of
 *   rooks (Chess960). NULL means the usual start.
 * - `fen_length`: bytes of `fen`, or MLXROCM_NUL.
 * - `moves`: `moves_count` names of moves in UCI's notation, borrowed for the call.
 * - `move_lengths`: bytes of each of `moves`, borrowed for the call; NULL: they are NUL-terminated.
 * - `moves_count`: how many, at most 65536.
 * - `masks`: receives 112 masks of squares: bit 0 is a1, bit 63 h8, seen from the side to move.
 * - `values`: receives 112 numbers that the set bits of each mask stand for.
 * - `legal`: receives the legal moves; ignored with capacity 0. No position has more than 218.
 * - `legal_capacity`: moves that `legal` has room for; 0 measures.
 * - `legal_count`: nullable unless measuring; receives how many moves there are: 0 if the game is over.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (no legal position, or a move that is not legal there),
 * BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_net_get_input(const struct mlxrocm_chess_net *net,
                                           const char *fen,
                                           size_t fen_length,
                                           const char *const *moves,
                                           const size_t *move_lengths,
                                           size_t moves_count,
                                           uint64_t *masks,
                                           float *values,
                                           struct mlxrocm_chess_move *legal,
                                           size_t legal_capacity,
                                           size_t *legal_count,
                                           struct mlxrocm_error **error);

/**
 * Evaluates positions. A position gets the same bits alone and in any batch. Calls of several threads
 * run at the same time.
 *
 * - `net`: borrowed.
 * - `masks`: `count` times 112 masks of squares, borrowed for the call.
 * - `values`: `count` times 112 numbers that the set bits stand for, finite, borrowed for the call.
 * - `count`: positions, 1 to 1024.
 * - `policy`: nullable; receives `count` times 1858 logits of moves, legal or not.
 * - `wdl`: nullable; receives `count` times 3 chances of the side to move: win, draw, loss. Of networks
 *   that tell a value q only: (1 + q) / 2, 0, (1 - q) / 2.
 * - `moves_left`: nullable; receives `count` numbers of plies; 0 of networks that do not tell.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_net_evaluate(const struct mlxrocm_chess_net *net,
                                          const uint64_t *masks,
                                          const float *values,
                                          size_t count,
                                          float *policy,
                                          float *wdl,
                                          float *moves_left,
                                          struct mlxrocm_error **error);

/**
 * Turns a position's logits into probabilities of its legal moves.
 *
 * - `policy`: 1858 logits of the position, borrowed for the call.
 * - `moves`: `count` moves, borrowed for the call.
 * - `count`: how many; 0 is fine.
 * - `temperature`: above 0; 1 takes the logits as they are, larger ones make the moves more alike.
 * - `chances`: receives `count` probabilities; their sum is 1.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_net_get_chances(const float *policy,
                                             const struct mlxrocm_chess_move *moves,
                                             size_t count,
                                             float temperature,
                                             float *chances,
                                             struct mlxrocm_error **error);

/**
 * Names a move of the policy as White would play it: "e2e4", "e7e8q"; castling is the king taking its
 * rook, a promotion without a letter is one to a knight. Black's moves, and those of positions that the
 * input format turns over, have other names: mlxrocm_chess_net_get_input tells those.
 *
 * - `policy_index`: below MLXROCM_CHESS_MOVES.
 * - `length`: nullable; receives the bytes of the text, its NUL not counted.
 *
 * Returns the name, borrowed for ever; NULL if there is no such move. Any thread. Since 0.1.
 */
const char *mlxrocm_chess_net_move_name(uint32_t policy_index,
                                        size_t *length);

/**
 * Frees a network. Calls that go on meanwhile end as usual.
 *
 * - `net`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_chess_net_free(struct mlxrocm_chess_net *net);

/**
 * Makes an empty queue. It keeps the network alive, and has a thread of its own.
 *
 * - `net`: borrowed.
 * - `queue`: receives the queue, owned: free it with mlxrocm_chess_queue_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY (no thread is left). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_queue_create(const struct mlxrocm_chess_net *net,
                                          struct mlxrocm_chess_queue **queue,
                                          struct mlxrocm_error **error);

/**
 * Hands in a batch and returns at once. Batches come out of mlxrocm_chess_queue_next in the order in which they
 * were handed in; small ones that wait together are evaluated together, which changes no bit of them.
 *
 * - `queue`: borrowed.
 * - `masks`: `count` times 112 masks of squares, copied.
 * - `values`: `count` times 112 numbers that the set bits stand for, finite, copied.
 * - `count`: positions, 1 to 1024.
 * - `id`: nullable; receives the batch's number: 0, 1, 2, ... of this queue.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Returns MLXROCM_OK; MLXROCM_PENDING when the queue holds MLXROCM_CHESS_QUEUE_BATCHES already, those whose results
 * wait included: the batch was not taken.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_queue_submit(const struct mlxrocm_chess_queue *queue,
                                          const uint64_t *masks,
                                          const float *values,
                                          size_t count,
                                          uint64_t *id,
                                          struct mlxrocm_error **error);

/**
 * Takes the result of the oldest batch of a queue.
 *
 * - `queue`: borrowed.
 * - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
 * - `capacity`: positions that there is room for in each of the next three; 1024 is always enough.
 * - `policy`: nullable; receives `capacity` times 1858 logits at most, as of mlxrocm_chess_net_evaluate.
 * - `wdl`: nullable; receives `capacity` times 3 chances at most.
 * - `moves_left`: nullable; receives `capacity` numbers of plies at most.
 * - `count`: nullable; receives the positions of the batch.
 * - `id`: nullable; receives the batch's number.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Returns MLXROCM_OK with a batch; MLXROCM_PENDING when the oldest one was not done within the timeout; MLXROCM_END
 * when the queue holds none.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL (the batch stays), OUT_OF_MEMORY (the batch is lost).
 * Any thread; where several take batches, each gets others. Since 0.1.
 */
mlxrocm_status mlxrocm_chess_queue_next(const struct mlxrocm_chess_queue *queue,
                                        int64_t timeout_ns,
                                        size_t capacity,
                                        float *policy,
                                        float *wdl,
                                        float *moves_left,
                                        size_t *count,
                                        uint64_t *id,
                                        struct mlxrocm_error **error);

/**
 * Frees a queue. Batches that it holds are dropped; it waits for one that is being evaluated.
 *
 * - `queue`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_chess_queue_free(struct mlxrocm_chess_queue *queue);

/**
 * Makes an array of a copy of numbers.
 *
 * - `data`: the elements row after row, borrowed for the call; NULL is fine if there are none.
 * - `shape`: `rank` sizes, outermost first, borrowed for the call.
 * - `rank`: number of dimensions; 0 makes a scalar.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_from_data(const void *data,
                                       const int64_t *shape,
                                       size_t rank,
                                       uint32_t dtype,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Makes an array of the application's own memory, without a copy.
 *
 * - `data`: the elements row after row, borrowed until `free` is called; they must not change until
 *   then. Truth values are 0 or 1.
 * - `shape`: `rank` sizes, outermost first, borrowed for the call.
 * - `rank`: number of dimensions; 0 makes a scalar.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `free`: nullable; called exactly once with `user_data` when no array needs the memory any more,
 *   on any thread; also if this function fails.
 * - `user_data`: passed to `free`.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_from_borrowed(const void *data,
                                           const int64_t *shape,
                                           size_t rank,
                                           uint32_t dtype,
                                           mlxrocm_user_data_free free,
                                           void *user_data,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * Makes another handle of the same array.
 *
 * - `array`: borrowed.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_clone(const struct mlxrocm_array *array,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Moves an array to a device: operations on what is there are computed there, and those of its results. Arrays of the
 * CPU that an operation has besides are moved too; arrays of two GPUs are refused when the elements are computed. What a
 * GPU has no form of is computed by the CPU in between. Indices outside of their axis, which are an error on the CPU, are
 * the nearest ones inside on a GPU.
 *
 * - `array`: borrowed.
 * - `device`: borrowed; the CPU or a GPU.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_LOST. Lazy as all operations. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_to_device(const struct mlxrocm_array *array,
                                       const struct mlxrocm_device *device,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * The dtype of an array.
 *
 * - `array`: borrowed.
 *
 * Returns an MLXROCM_DTYPE number, MLXROCM_DTYPE_NONE if `array` is NULL or not live. Any thread.
 * Since 0.1.
 */
uint32_t mlxrocm_array_dtype(const struct mlxrocm_array *array);

/**
 * The number of dimensions of an array.
 *
 * - `array`: borrowed.
 *
 * Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
 */
size_t mlxrocm_array_rank(const struct mlxrocm_array *array);

/**
 * The number of elements of an array.
 *
 * - `array`: borrowed.
 *
 * Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
 */
size_t mlxrocm_array_size(const struct mlxrocm_array *array);

/**
 * The number of bytes that mlxrocm_array_read writes.
 *
 * - `array`: borrowed.
 *
 * Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
 */
size_t mlxrocm_array_bytes(const struct mlxrocm_array *array);

/**
 * Tells the shape of an array.
 *
 * - `array`: borrowed.
 * - `shape`: receives the sizes, outermost first.
 * - `capacity`: room of `shape`, in numbers; 0 only measures.
 * - `needed`: nullable unless `capacity` is 0; receives the number of dimensions.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_shape(const struct mlxrocm_array *array,
                                   int64_t *shape,
                                   size_t capacity,
                                   size_t *needed,
                                   struct mlxrocm_error **error);

/**
 * Computes the elements of arrays, all of them in one go.
 *
 * - `arrays`: `count` arrays, borrowed.
 * - `count`: number of arrays.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also for values that an operation refuses; the message
 * names it), UNSUPPORTED, OUT_OF_MEMORY. What was not computed stays as it was. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_eval(const struct mlxrocm_array *const *arrays,
                                  size_t count,
                                  struct mlxrocm_error **error);

/**
 * Computes the elements of arrays as mlxrocm_array_eval does, but what GPUs compute is only queued when the function
 * returns: the caller can go on, with operations on these arrays too. Work of the CPU is done by then.
 *
 * - `arrays`: `count` arrays, borrowed.
 * - `count`: number of arrays.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY, as mlxrocm_array_eval; a fault of queued work is
 * told by mlxrocm_array_wait and by what reads its results. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_eval_async(const struct mlxrocm_array *const *arrays,
                                        size_t count,
                                        struct mlxrocm_error **error);

/**
 * Waits until the elements of arrays are there that mlxrocm_array_eval_async queued. Arrays that nothing was queued for
 * stay as they are.
 *
 * - `arrays`: `count` arrays, borrowed.
 * - `count`: number of arrays.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_wait(const struct mlxrocm_array *const *arrays,
                                  size_t count,
                                  struct mlxrocm_error **error);

/**
 * Reads an array's elements, computing them if they are not there yet.
 *
 * - `array`: borrowed.
 * - `data`: receives `size` bytes, the elements row after row; undefined on failure.
 * - `size`: what mlxrocm_array_bytes says.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, BUFFER_TOO_SMALL, those of mlxrocm_array_eval. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_read(const struct mlxrocm_array *array,
                                  void *data,
                                  size_t size,
                                  struct mlxrocm_error **error);

/**
 * The element of an array that has one, as a number of double precision.
 *
 * - `array`: borrowed; of one element, not complex.
 * - `value`: receives the element.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, those of mlxrocm_array_eval. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_item_f64(const struct mlxrocm_array *array,
                                      double *value,
                                      struct mlxrocm_error **error);

/**
 * The element of an array that has one, as an integer; fractions are cut off.
 *
 * - `array`: borrowed; of one element, not complex.
 * - `value`: receives the element.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, those of mlxrocm_array_eval. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_item_i64(const struct mlxrocm_array *array,
                                      int64_t *value,
                                      struct mlxrocm_error **error);

/**
 * Frees a handle. Arrays made from this one keep what they need of it.
 *
 * - `array`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_array_free(struct mlxrocm_array *array);

/**
 * Gives an array to a stream of a GPU: operations on the result are queued on that stream, in order with the launches and
 * copies that the application queues there, and so are those of what they give. Streams run side by side. Without one, a
 * GPU's arrays have a stream of the library's own (mlxrocm_array_to_device gives them back to it).
 *
 * An operation may have arrays of several streams of one GPU: it is queued on the stream of the first that was given to
 * one, and starts after what makes the others is done; nobody else waits, and no elements are copied. Results are the
 * same to the bit on every stream. mlxrocm_array_eval, _wait and _read wait for the streams of their arrays, and for
 * what the application queued there before. A graph of operations on several streams is computed operation by
 * operation: one that comes again is faster on a single stream.
 *
 * On the CPU there are no streams: its operations run on the threads that ask for their results.
 *
 * - `array`: borrowed; one of the CPU or of another GPU is moved to the stream's GPU.
 * - `stream`: borrowed. The array, and what is computed of it, keeps what it needs of it.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Lazy as all operations. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_to_stream(const struct mlxrocm_array *array,
                                       const struct mlxrocm_stream *stream,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Makes an array whose elements are a part of a buffer, without a copy, on the buffer's device. Operations on it start
 * after the work that was queued with the buffer before this call, on whatever stream: launches that have it among
 * their arguments or say that they touch it, runs of programs, copies and fills. The caller does not wait. A kernel that
 * reaches the buffer by an address that no argument names has to be waited for before.
 *
 * The memory stays as long as an array sees it, also when the buffer is freed. Until then nothing may write the part:
 * not before this array and the views made from it are freed, and what was computed of them is waited for
 * (mlxrocm_array_eval).
 *
 * - `buffer`: borrowed; device memory.
 * - `offset`: byte of the buffer at which the elements begin; a multiple of an element's size.
 * - `shape`: `rank` sizes, outermost first, borrowed for the call. The elements lie row after row; truth values are 0
 *   or 1.
 * - `rank`: number of dimensions; 0 makes a scalar.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, an offset that is not aligned, pinned memory),
 * OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_from_buffer(const struct mlxrocm_buffer *buffer,
                                         uint64_t offset,
                                         const int64_t *shape,
                                         size_t rank,
                                         uint32_t dtype,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Gives the device memory that an array's elements lie in, row after row, for kernels of the application. What is not
 * computed yet is queued; elements that lie otherwise (of a transposition, say) are copied row after row, others are not
 * copied. The memory may only be read: launches take it by mlxrocm_arg_input, everything that would write it is refused.
 *
 * - `array`: borrowed; on a GPU.
 * - `stream`: nullable; borrowed; of the same device. Work that is queued on it from now on starts after the elements are
 *   there. NULL: they are there when this function returns.
 * - `buffer`: receives the buffer, owned: free it with mlxrocm_buffer_free. It may be larger than the array, and keeps
 *   the memory also when the array is freed.
 * - `offset`: receives the byte of the buffer at which the elements begin.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a stream of another device), UNSUPPORTED (an array of the CPU), those of
 * mlxrocm_array_eval. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_buffer(const struct mlxrocm_array *array,
                                    const struct mlxrocm_stream *stream,
                                    struct mlxrocm_buffer **buffer,
                                    uint64_t *offset,
                                    struct mlxrocm_error **error);

/**
 * Absolute value of each element; of complex ones the modulus, as float32.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_abs(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Inverse cosine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arccos(const struct mlxrocm_array *x,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Inverse hyperbolic cosine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arccosh(const struct mlxrocm_array *x,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Inverse sine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arcsin(const struct mlxrocm_array *x,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Inverse hyperbolic sine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arcsinh(const struct mlxrocm_array *x,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Inverse tangent of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arctan(const struct mlxrocm_array *x,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Inverse hyperbolic tangent of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arctanh(const struct mlxrocm_array *x,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Each bit of integers or truth values turned round.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_bitwise_invert(const struct mlxrocm_array *x,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * Each element rounded up.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_ceil(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Complex conjugate of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conjugate(const struct mlxrocm_array *x,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Cosine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_cos(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Hyperbolic cosine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_cosh(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Error function of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_erf(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Inverse of the error function of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_erfinv(const struct mlxrocm_array *x,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Exponential of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_exp(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Exponential minus one of each element, exact near 0.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_expm1(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Each element rounded down.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_floor(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Imaginary part of each element; zeros of real ones.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_imag(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Natural logarithm of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_log(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Logarithm to base 2 of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_log2(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Logarithm to base 10 of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_log10(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Logarithm of one plus each element, exact near 0.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_log1p(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Whether each element is 0.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logical_not(const struct mlxrocm_array *x,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * The negative of each element; not of truth values.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_negative(const struct mlxrocm_array *x,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Real part of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_real(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * One by the square root of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_rsqrt(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * 1 / (1 + exp(-x)) of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sigmoid(const struct mlxrocm_array *x,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * -1, 0 or 1 by the sign of each element; of complex ones x / |x|.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sign(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Sine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sin(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Hyperbolic sine of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sinh(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Square root of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sqrt(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Square of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_square(const struct mlxrocm_array *x,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Tangent of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_tan(const struct mlxrocm_array *x,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Hyperbolic tangent of each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_tanh(const struct mlxrocm_array *x,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Radians as degrees.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_degrees(const struct mlxrocm_array *x,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Degrees as radians.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_radians(const struct mlxrocm_array *x,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * One by each element.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_reciprocal(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Each element rounded to decimals, halves to the even neighbour.
 *
 * - `x`: borrowed.
 * - `decimals`: digits behind the point that stay; negative ones: before it.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_round(const struct mlxrocm_array *x,
                                   int64_t decimals,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Each element without its fraction.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_trunc(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Whether each element is NaN.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_isnan(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Whether each element is infinite.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_isinf(const struct mlxrocm_array *x,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Whether each element is neither NaN nor infinite.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_isfinite(const struct mlxrocm_array *x,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Whether each element is plus infinity.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_isposinf(const struct mlxrocm_array *x,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Whether each element is minus infinity.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_isneginf(const struct mlxrocm_array *x,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Each element, with numbers for NaN and infinities.
 *
 * - `x`: borrowed.
 * - `nan`: instead of NaN.
 * - `posinf`: instead of plus infinity; NaN: the dtype's largest number.
 * - `neginf`: instead of minus infinity; NaN: the dtype's smallest number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_nan_to_num(const struct mlxrocm_array *x,
                                        double nan,
                                        double posinf,
                                        double neginf,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true.
 *
 * - `x`: borrowed.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_astype(const struct mlxrocm_array *x,
                                    uint32_t dtype,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * The same bytes as another dtype; the last axis grows or shrinks with the size of an element.
 *
 * - `x`: borrowed.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_view(const struct mlxrocm_array *x,
                                  uint32_t dtype,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Sum.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_add(const struct mlxrocm_array *a,
                                 const struct mlxrocm_array *b,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Angle of the point (b, a).
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arctan2(const struct mlxrocm_array *a,
                                     const struct mlxrocm_array *b,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * And of the bits of integers or truth values.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_bitwise_and(const struct mlxrocm_array *a,
                                         const struct mlxrocm_array *b,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Or of the bits of integers or truth values.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_bitwise_or(const struct mlxrocm_array *a,
                                        const struct mlxrocm_array *b,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Exclusive or of the bits of integers or truth values.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_bitwise_xor(const struct mlxrocm_array *a,
                                         const struct mlxrocm_array *b,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Bits of integers moved up by b; 0 beyond the dtype's bits.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_left_shift(const struct mlxrocm_array *a,
                                        const struct mlxrocm_array *b,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Bits of integers moved down by b; by more than the dtype's bits as by all of them.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_right_shift(const struct mlxrocm_array *a,
                                         const struct mlxrocm_array *b,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Quotient, a fraction.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_divide(const struct mlxrocm_array *a,
                                    const struct mlxrocm_array *b,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Quotient, rounded down, but of complex numbers. An integer by 0 is 0.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_floor_divide(const struct mlxrocm_array *a,
                                          const struct mlxrocm_array *b,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Whether a = b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_equal(const struct mlxrocm_array *a,
                                   const struct mlxrocm_array *b,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Whether a > b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_greater(const struct mlxrocm_array *a,
                                     const struct mlxrocm_array *b,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Whether a >= b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_greater_equal(const struct mlxrocm_array *a,
                                           const struct mlxrocm_array *b,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * Whether a < b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_less(const struct mlxrocm_array *a,
                                  const struct mlxrocm_array *b,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Whether a <= b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_less_equal(const struct mlxrocm_array *a,
                                        const struct mlxrocm_array *b,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * log(exp(a) + exp(b)) without overflow.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logaddexp(const struct mlxrocm_array *a,
                                       const struct mlxrocm_array *b,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Whether both are not 0.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logical_and(const struct mlxrocm_array *a,
                                         const struct mlxrocm_array *b,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Whether one is not 0.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logical_or(const struct mlxrocm_array *a,
                                        const struct mlxrocm_array *b,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * The larger; NaN if one is NaN.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_maximum(const struct mlxrocm_array *a,
                                     const struct mlxrocm_array *b,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * The smaller; NaN if one is NaN.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_minimum(const struct mlxrocm_array *a,
                                     const struct mlxrocm_array *b,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Product.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_multiply(const struct mlxrocm_array *a,
                                      const struct mlxrocm_array *b,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Whether a and b differ.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_not_equal(const struct mlxrocm_array *a,
                                       const struct mlxrocm_array *b,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * a to the power of b. Integers to a negative power are 0, but 1 and -1.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_power(const struct mlxrocm_array *a,
                                   const struct mlxrocm_array *b,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_remainder(const struct mlxrocm_array *a,
                                       const struct mlxrocm_array *b,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Difference.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_subtract(const struct mlxrocm_array *a,
                                      const struct mlxrocm_array *b,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Whether one is 0 and the other is not.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logical_xor(const struct mlxrocm_array *a,
                                         const struct mlxrocm_array *b,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Quotient, rounded down, and remainder, with b's sign.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `quotient`: receives an array, owned: free it with mlxrocm_array_free.
 * - `remainder`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_divmod(const struct mlxrocm_array *a,
                                    const struct mlxrocm_array *b,
                                    struct mlxrocm_array **quotient,
                                    struct mlxrocm_array **remainder,
                                    struct mlxrocm_error **error);

/**
 * Elements of a where the condition is not 0, of b elsewhere.
 *
 * - `condition`: borrowed.
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_where(const struct mlxrocm_array *condition,
                                   const struct mlxrocm_array *a,
                                   const struct mlxrocm_array *b,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Elements between a minimum and a maximum.
 *
 * - `x`: borrowed.
 * - `minimum`: borrowed; NULL: no minimum.
 * - `maximum`: borrowed; NULL: no maximum.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_clip(const struct mlxrocm_array *x,
                                  const struct mlxrocm_array *minimum,
                                  const struct mlxrocm_array *maximum,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Whether |a - b| <= atol + rtol |b|; equal infinities are close.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `rtol`: relative tolerance.
 * - `atol`: absolute tolerance.
 * - `equal_nan`: not 0: NaN is close to NaN.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_isclose(const struct mlxrocm_array *a,
                                     const struct mlxrocm_array *b,
                                     double rtol,
                                     double atol,
                                     int32_t equal_nan,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Whether all elements are close, as by mlxrocm_array_isclose.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `rtol`: relative tolerance.
 * - `atol`: absolute tolerance.
 * - `equal_nan`: not 0: NaN is close to NaN.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_allclose(const struct mlxrocm_array *a,
                                      const struct mlxrocm_array *b,
                                      double rtol,
                                      double atol,
                                      int32_t equal_nan,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Whether shapes and all elements are equal.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `equal_nan`: not 0: NaN is equal to NaN.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_array_equal(const struct mlxrocm_array *a,
                                         const struct mlxrocm_array *b,
                                         int32_t equal_nan,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * The value, broadcast to a shape.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `value`: borrowed.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_full(const int64_t *shape,
                                  size_t rank,
                                  const struct mlxrocm_array *value,
                                  uint32_t dtype,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Zeros.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_zeros(const int64_t *shape,
                                   size_t rank,
                                   uint32_t dtype,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Ones.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_ones(const int64_t *shape,
                                  size_t rank,
                                  uint32_t dtype,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Zeros of the shape of an array, on its device.
 *
 * - `x`: borrowed.
 * - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_zeros_like(const struct mlxrocm_array *x,
                                        int64_t dtype_or_none,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Ones of the shape of an array, on its device.
 *
 * - `x`: borrowed.
 * - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_ones_like(const struct mlxrocm_array *x,
                                       int64_t dtype_or_none,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * The value, broadcast to the shape of an array, on its device.
 *
 * - `x`: borrowed.
 * - `value`: borrowed.
 * - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_full_like(const struct mlxrocm_array *x,
                                       const struct mlxrocm_array *value,
                                       int64_t dtype_or_none,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * A scalar.
 *
 * - `value`: the number; NaN is one.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_number(double value,
                                    uint32_t dtype,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Start, start + step and so on, before stop; not of truth values.
 *
 * - `start`: the first number.
 * - `stop`: what is not reached.
 * - `step`: from one to the next; negative ones count down.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_arange(double start,
                                    double stop,
                                    double step,
                                    uint32_t dtype,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Numbers from start to stop, evenly spaced.
 *
 * - `start`: the first number.
 * - `stop`: the last number.
 * - `count`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linspace(double start,
                                      double stop,
                                      int64_t count,
                                      uint32_t dtype,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Ones on a diagonal of a matrix of zeros.
 *
 * - `n`: rows.
 * - `m`: columns.
 * - `k`: the diagonal: 0 is the main one, positive ones are above it.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_eye(int64_t n,
                                 int64_t m,
                                 int64_t k,
                                 uint32_t dtype,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * The identity matrix.
 *
 * - `n`: rows and columns.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_identity(int64_t n,
                                      uint32_t dtype,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Ones on and below a diagonal, zeros above.
 *
 * - `n`: rows.
 * - `m`: columns.
 * - `k`: the diagonal.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_tri(int64_t n,
                                 int64_t m,
                                 int64_t k,
                                 uint32_t dtype,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * The last two axes with zeros above a diagonal.
 *
 * - `x`: borrowed.
 * - `k`: the diagonal.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_tril(const struct mlxrocm_array *x,
                                  int64_t k,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * The last two axes with zeros below a diagonal.
 *
 * - `x`: borrowed.
 * - `k`: the diagonal.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_triu(const struct mlxrocm_array *x,
                                  int64_t k,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * A matrix with a vector on a diagonal, or a diagonal of a matrix.
 *
 * - `x`: borrowed.
 * - `k`: the diagonal.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_diag(const struct mlxrocm_array *x,
                                  int64_t k,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Diagonals of the matrices of two axes, as a last axis.
 *
 * - `x`: borrowed.
 * - `offset`: the diagonal: 0 is the main one, positive ones are above it.
 * - `axis1`: the axis of rows.
 * - `axis2`: the axis of columns.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_diagonal(const struct mlxrocm_array *x,
                                      int64_t offset,
                                      int64_t axis1,
                                      int64_t axis2,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Sum of a diagonal.
 *
 * - `x`: borrowed.
 * - `offset`: the diagonal.
 * - `axis1`: the axis of rows.
 * - `axis2`: the axis of columns.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_trace(const struct mlxrocm_array *x,
                                   int64_t offset,
                                   int64_t axis1,
                                   int64_t axis2,
                                   uint32_t dtype,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Products of every element of a with every one of b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_outer(const struct mlxrocm_array *a,
                                   const struct mlxrocm_array *b,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Kronecker product.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_kron(const struct mlxrocm_array *a,
                                  const struct mlxrocm_array *b,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Whether all elements are not 0.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_all(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Whether some element is not 0.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_any(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Sum. Small integers and truth values become 32-bit integers.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sum(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Product. Small integers and truth values become 32-bit integers.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_prod(const struct mlxrocm_array *x,
                                  const int64_t *axes,
                                  size_t axes_count,
                                  int32_t keepdims,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * The smallest; NaN if there is one.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_min(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * The largest; NaN if there is one.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_max(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Logarithm of the sum of exponentials, without overflow.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logsumexp(const struct mlxrocm_array *x,
                                       const int64_t *axes,
                                       size_t axes_count,
                                       int32_t keepdims,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Mean.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_mean(const struct mlxrocm_array *x,
                                  const int64_t *axes,
                                  size_t axes_count,
                                  int32_t keepdims,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Variance.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `ddof`: is taken from the number of elements.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_var(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 int64_t ddof,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Standard deviation.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `ddof`: is taken from the number of elements.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_std(const struct mlxrocm_array *x,
                                 const int64_t *axes,
                                 size_t axes_count,
                                 int32_t keepdims,
                                 int64_t ddof,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Median; the mean of the middle two of an even number.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_median(const struct mlxrocm_array *x,
                                    const int64_t *axes,
                                    size_t axes_count,
                                    int32_t keepdims,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * How many elements are not 0.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_count_nonzero(const struct mlxrocm_array *x,
                                           const int64_t *axes,
                                           size_t axes_count,
                                           int32_t keepdims,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * The place (uint32) of the first smallest element; of NaN if there is one.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_argmin(const struct mlxrocm_array *x,
                                    int64_t axis,
                                    int32_t keepdims,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * The place (uint32) of the first largest element; of NaN if there is one.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_argmax(const struct mlxrocm_array *x,
                                    int64_t axis,
                                    int32_t keepdims,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Softmax: exp(x) over its sum along axes, without overflow.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `precise`: not 0: in float32 within, whatever the dtype.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_softmax(const struct mlxrocm_array *x,
                                     const int64_t *axes,
                                     size_t axes_count,
                                     int32_t precise,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * How many elements axes have, as a scalar.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `inverted`: not 0: one by that.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_number_of_elements(const struct mlxrocm_array *x,
                                                const int64_t *axes,
                                                size_t axes_count,
                                                int32_t inverted,
                                                uint32_t dtype,
                                                struct mlxrocm_array **result,
                                                struct mlxrocm_error **error);

/**
 * Running sum.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `reverse`: not 0: from the end.
 * - `inclusive`: not 0: with the element itself.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_cumsum(const struct mlxrocm_array *x,
                                    int64_t axis,
                                    int32_t reverse,
                                    int32_t inclusive,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Running product.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `reverse`: not 0: from the end.
 * - `inclusive`: not 0: with the element itself.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_cumprod(const struct mlxrocm_array *x,
                                     int64_t axis,
                                     int32_t reverse,
                                     int32_t inclusive,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Running maximum.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `reverse`: not 0: from the end.
 * - `inclusive`: not 0: with the element itself.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_cummax(const struct mlxrocm_array *x,
                                    int64_t axis,
                                    int32_t reverse,
                                    int32_t inclusive,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Running minimum.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `reverse`: not 0: from the end.
 * - `inclusive`: not 0: with the element itself.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_cummin(const struct mlxrocm_array *x,
                                    int64_t axis,
                                    int32_t reverse,
                                    int32_t inclusive,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Running logarithm of the sum of exponentials.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `reverse`: not 0: from the end.
 * - `inclusive`: not 0: with the element itself.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_logcumsumexp(const struct mlxrocm_array *x,
                                          int64_t axis,
                                          int32_t reverse,
                                          int32_t inclusive,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Sorted, NaN last.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_sort(const struct mlxrocm_array *x,
                                  int64_t axis,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * The places (uint32) of the sorted elements; equal ones stay in order.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_argsort(const struct mlxrocm_array *x,
                                     int64_t axis,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * With the kth element where sorting would put it, none larger before it and none smaller behind.
 *
 * - `x`: borrowed.
 * - `kth`: a place; negative ones count from the end.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_partition(const struct mlxrocm_array *x,
                                       int64_t kth,
                                       int64_t axis,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * The places (uint32) that mlxrocm_array_partition takes elements from.
 *
 * - `x`: borrowed.
 * - `kth`: a place; negative ones count from the end.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_argpartition(const struct mlxrocm_array *x,
                                          int64_t kth,
                                          int64_t axis,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * The k largest, in no particular order.
 *
 * - `x`: borrowed.
 * - `k`: how many.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_topk(const struct mlxrocm_array *x,
                                  int64_t k,
                                  int64_t axis,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Where values would be put into a sorted vector (uint32).
 *
 * - `sorted`: borrowed; a vector.
 * - `values`: borrowed.
 * - `right`: not 0: behind equal ones, else before them.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_searchsorted(const struct mlxrocm_array *sorted,
                                          const struct mlxrocm_array *values,
                                          int32_t right,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * The same elements, row after row, in another shape; one size may be -1: what is left.
 *
 * - `x`: borrowed.
 * - `shape`: `rank` numbers, borrowed for the call.
 * - `rank`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_reshape(const struct mlxrocm_array *x,
                                     const int64_t *shape,
                                     size_t rank,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Neighbouring axes as one.
 *
 * - `x`: borrowed.
 * - `start`: the first of them.
 * - `end`: the last of them.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_flatten(const struct mlxrocm_array *x,
                                     int64_t start,
                                     int64_t end,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * An axis as several; one size may be -1: what is left.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end.
 * - `shape`: `rank` numbers, borrowed for the call.
 * - `rank`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_unflatten(const struct mlxrocm_array *x,
                                       int64_t axis,
                                       const int64_t *shape,
                                       size_t rank,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * New axes of size 1.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` places in the result's shape, borrowed for the call.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_expand_dims(const struct mlxrocm_array *x,
                                         const int64_t *axes,
                                         size_t axes_count,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Axes of size 1 taken away.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; NULL: all of size 1.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_squeeze(const struct mlxrocm_array *x,
                                     const int64_t *axes,
                                     size_t axes_count,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Repeated along axes of size 1, and along new ones in front.
 *
 * - `x`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_broadcast_to(const struct mlxrocm_array *x,
                                          const int64_t *shape,
                                          size_t rank,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Axes in another order.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; NULL: turned round.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_transpose(const struct mlxrocm_array *x,
                                       const int64_t *axes,
                                       size_t axes_count,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Two axes in each other's place.
 *
 * - `x`: borrowed.
 * - `axis1`: one.
 * - `axis2`: the other.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_swapaxes(const struct mlxrocm_array *x,
                                      int64_t axis1,
                                      int64_t axis2,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * An axis at another place.
 *
 * - `x`: borrowed.
 * - `source`: the axis.
 * - `destination`: where it goes.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_moveaxis(const struct mlxrocm_array *x,
                                      int64_t source,
                                      int64_t destination,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * At least one axis.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_atleast_1d(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * At least two axes.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_atleast_2d(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * At least three axes.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_atleast_3d(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Elements from start to before stop by step. Negative places count from the end, those beyond
 * the array are its ends; a negative step goes backwards.
 *
 * - `x`: borrowed.
 * - `start`: `start_count` first places, one an axis, borrowed for the call.
 * - `start_count`: how many.
 * - `stop`: `stop_count` places that are not reached, borrowed for the call.
 * - `stop_count`: how many.
 * - `step`: `step_count` steps, not 0, borrowed for the call.
 * - `step_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice(const struct mlxrocm_array *x,
                                   const int64_t *start,
                                   size_t start_count,
                                   const int64_t *stop,
                                   size_t stop_count,
                                   const int64_t *step,
                                   size_t step_count,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Elements at the places, among the array's elements row after row, that strides and an offset give.
 *
 * - `x`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `strides`: `strides_count` strides in elements, borrowed for the call.
 * - `strides_count`: how many.
 * - `offset`: elements before the first.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_as_strided(const struct mlxrocm_array *x,
                                        const int64_t *shape,
                                        size_t rank,
                                        const int64_t *strides,
                                        size_t strides_count,
                                        int64_t offset,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Row after row in memory.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_contiguous(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * The array, as one that derivatives do not pass.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_stop_gradient(const struct mlxrocm_array *x,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * The array, computed after others.
 *
 * - `x`: borrowed.
 * - `others`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_depends(const struct mlxrocm_array *x,
                                     const struct mlxrocm_array *const *others,
                                     size_t count,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Arrays one after the other along an axis.
 *
 * - `arrays`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `axis`: negative ones count from the end.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_concatenate(const struct mlxrocm_array *const *arrays,
                                         size_t count,
                                         int64_t axis,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Arrays of one shape along a new axis.
 *
 * - `arrays`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `axis`: its place in the result's shape.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_stack(const struct mlxrocm_array *const *arrays,
                                   size_t count,
                                   int64_t axis,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Each element several times, one after the other.
 *
 * - `x`: borrowed.
 * - `repeats`: how often.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_repeat(const struct mlxrocm_array *x,
                                    int64_t repeats,
                                    int64_t axis,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * The whole array several times along each axis.
 *
 * - `x`: borrowed.
 * - `reps`: `reps_count` numbers, for the last axes, borrowed for the call.
 * - `reps_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_tile(const struct mlxrocm_array *x,
                                  const int64_t *reps,
                                  size_t reps_count,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Surrounded along every axis.
 *
 * - `x`: borrowed.
 * - `low`: `low_count` numbers of elements before, one an axis, borrowed for the call.
 * - `low_count`: how many.
 * - `high`: `high_count` numbers of elements behind, borrowed for the call.
 * - `high_count`: how many.
 * - `mode`: an MLXROCM_PAD number.
 * - `value`: borrowed; a scalar, for MLXROCM_PAD_CONSTANT; NULL: 0.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_pad(const struct mlxrocm_array *x,
                                 const int64_t *low,
                                 size_t low_count,
                                 const int64_t *high,
                                 size_t high_count,
                                 int64_t mode,
                                 const struct mlxrocm_array *value,
                                 struct mlxrocm_array **result,
                                 struct mlxrocm_error **error);

/**
 * Moved round; what leaves at an end comes in at the other.
 *
 * - `x`: borrowed.
 * - `shifts`: `shifts_count` numbers of places, one an axis or one for all, borrowed for the call.
 * - `shifts_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; NULL: the array made flat.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_roll(const struct mlxrocm_array *x,
                                  const int64_t *shifts,
                                  size_t shifts_count,
                                  const int64_t *axes,
                                  size_t axes_count,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Axes turned round: the last element first.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_flip(const struct mlxrocm_array *x,
                                  const int64_t *axes,
                                  size_t axes_count,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Cuts an array before places of an axis.
 *
 * - `x`: borrowed.
 * - `places`: `places_count` places, ascending, borrowed for the call; negative ones count from the
 *   end.
 * - `places_count`: how many.
 * - `axis`: negative ones count from the end.
 * - `results`: receives `places_count` + 1 arrays, owned: free each with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_split(const struct mlxrocm_array *x,
                                   const int64_t *places,
                                   size_t places_count,
                                   int64_t axis,
                                   struct mlxrocm_array **results,
                                   struct mlxrocm_error **error);

/**
 * Cuts an axis into equal parts.
 *
 * - `x`: borrowed.
 * - `parts`: how many; the axis divides by it.
 * - `axis`: negative ones count from the end.
 * - `results`: receives `parts` arrays, owned: free each with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_split_parts(const struct mlxrocm_array *x,
                                         size_t parts,
                                         int64_t axis,
                                         struct mlxrocm_array **results,
                                         struct mlxrocm_error **error);

/**
 * Broadcasts arrays to the shape that all of them fit.
 *
 * - `arrays`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `results`: receives `count` arrays, owned: free each with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_broadcast_arrays(const struct mlxrocm_array *const *arrays,
                                              size_t count,
                                              struct mlxrocm_array **results,
                                              struct mlxrocm_error **error);

/**
 * Coordinates of a grid: each vector along an axis of its own, repeated along the others.
 *
 * - `arrays`: `count` vectors, borrowed.
 * - `count`: how many.
 * - `sparse`: not 0: of size 1 along the others instead.
 * - `swapped`: not 0: the first two axes change places (MLX's indexing "xy").
 * - `results`: receives `count` arrays, owned: free each with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_meshgrid(const struct mlxrocm_array *const *arrays,
                                      size_t count,
                                      int32_t sparse,
                                      int32_t swapped,
                                      struct mlxrocm_array **results,
                                      struct mlxrocm_error **error);

/**
 * Slices of one axis at indices, which take the axis' place. Negative indices count from the end.
 *
 * - `x`: borrowed.
 * - `indices`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_take(const struct mlxrocm_array *x,
                                  const struct mlxrocm_array *indices,
                                  int64_t axis,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * The element at each index along an axis. Other axes are broadcast.
 *
 * - `x`: borrowed.
 * - `indices`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_take_along_axis(const struct mlxrocm_array *x,
                                             const struct mlxrocm_array *indices,
                                             int64_t axis,
                                             struct mlxrocm_array **result,
                                             struct mlxrocm_error **error);

/**
 * Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes.
 *
 * - `x`: borrowed.
 * - `indices`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
 * - `axes_count`: how many.
 * - `sizes`: `sizes_count` sizes of a slice, one for each axis of x, borrowed for the call.
 * - `sizes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_gather(const struct mlxrocm_array *x,
                                    const struct mlxrocm_array *const *indices,
                                    size_t count,
                                    const int64_t *axes,
                                    size_t axes_count,
                                    const int64_t *sizes,
                                    size_t sizes_count,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * A slice of given sizes that begins at computed places.
 *
 * - `x`: borrowed.
 * - `start`: borrowed; a vector of integers, one for each of the axes.
 * - `axes`: `axes_count` axes, borrowed for the call; along others the slice begins at 0.
 * - `axes_count`: how many.
 * - `sizes`: `sizes_count` sizes, one for each axis of x, borrowed for the call.
 * - `sizes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_dynamic(const struct mlxrocm_array *x,
                                           const struct mlxrocm_array *start,
                                           const int64_t *axes,
                                           size_t axes_count,
                                           const int64_t *sizes,
                                           size_t sizes_count,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * With an update in place of the slice that begins at computed places.
 *
 * - `x`: borrowed.
 * - `update`: borrowed.
 * - `start`: borrowed; a vector of integers, one for each of the axes.
 * - `axes`: `axes_count` axes, borrowed for the call; along others the slice begins at 0.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_update_dynamic(const struct mlxrocm_array *x,
                                                  const struct mlxrocm_array *update,
                                                  const struct mlxrocm_array *start,
                                                  const int64_t *axes,
                                                  size_t axes_count,
                                                  struct mlxrocm_array **result,
                                                  struct mlxrocm_error **error);

/**
 * With elements of source, in order, where the mask is not 0.
 *
 * - `x`: borrowed.
 * - `mask`: borrowed; of x's shape, or without its last axes.
 * - `source`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_masked_scatter(const struct mlxrocm_array *x,
                                            const struct mlxrocm_array *mask,
                                            const struct mlxrocm_array *source,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices
 * of x's rank. Where places meet the last update stays.
 *
 * - `x`: borrowed.
 * - `indices`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `updates`: borrowed.
 * - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_scatter(const struct mlxrocm_array *x,
                                     const struct mlxrocm_array *const *indices,
                                     size_t count,
                                     const struct mlxrocm_array *updates,
                                     const int64_t *axes,
                                     size_t axes_count,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * With the elements of a slice replaced by an update, which is broadcast to it.
 *
 * - `x`: borrowed.
 * - `update`: borrowed.
 * - `start`: `start_count` first places, one an axis, borrowed for the call.
 * - `start_count`: how many.
 * - `stop`: `stop_count` places that are not reached, borrowed for the call.
 * - `stop_count`: how many.
 * - `step`: `step_count` steps, not 0, borrowed for the call.
 * - `step_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_update(const struct mlxrocm_array *x,
                                          const struct mlxrocm_array *update,
                                          const int64_t *start,
                                          size_t start_count,
                                          const int64_t *stop,
                                          size_t stop_count,
                                          const int64_t *step,
                                          size_t step_count,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices
 * of x's rank.
 *
 * - `x`: borrowed.
 * - `indices`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `updates`: borrowed.
 * - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_scatter_add(const struct mlxrocm_array *x,
                                         const struct mlxrocm_array *const *indices,
                                         size_t count,
                                         const struct mlxrocm_array *updates,
                                         const int64_t *axes,
                                         size_t axes_count,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * With the elements of a slice joined by sum with an update, which is broadcast to it.
 *
 * - `x`: borrowed.
 * - `update`: borrowed.
 * - `start`: `start_count` first places, one an axis, borrowed for the call.
 * - `start_count`: how many.
 * - `stop`: `stop_count` places that are not reached, borrowed for the call.
 * - `stop_count`: how many.
 * - `step`: `step_count` steps, not 0, borrowed for the call.
 * - `step_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_update_add(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *update,
                                              const int64_t *start,
                                              size_t start_count,
                                              const int64_t *stop,
                                              size_t stop_count,
                                              const int64_t *step,
                                              size_t step_count,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices
 * of x's rank.
 *
 * - `x`: borrowed.
 * - `indices`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `updates`: borrowed.
 * - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_scatter_prod(const struct mlxrocm_array *x,
                                          const struct mlxrocm_array *const *indices,
                                          size_t count,
                                          const struct mlxrocm_array *updates,
                                          const int64_t *axes,
                                          size_t axes_count,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * With the elements of a slice joined by product with an update, which is broadcast to it.
 *
 * - `x`: borrowed.
 * - `update`: borrowed.
 * - `start`: `start_count` first places, one an axis, borrowed for the call.
 * - `start_count`: how many.
 * - `stop`: `stop_count` places that are not reached, borrowed for the call.
 * - `stop_count`: how many.
 * - `step`: `step_count` steps, not 0, borrowed for the call.
 * - `step_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_update_prod(const struct mlxrocm_array *x,
                                               const struct mlxrocm_array *update,
                                               const int64_t *start,
                                               size_t start_count,
                                               const int64_t *stop,
                                               size_t stop_count,
                                               const int64_t *step,
                                               size_t step_count,
                                               struct mlxrocm_array **result,
                                               struct mlxrocm_error **error);

/**
 * With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices
 * of x's rank.
 *
 * - `x`: borrowed.
 * - `indices`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `updates`: borrowed.
 * - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_scatter_max(const struct mlxrocm_array *x,
                                         const struct mlxrocm_array *const *indices,
                                         size_t count,
                                         const struct mlxrocm_array *updates,
                                         const int64_t *axes,
                                         size_t axes_count,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * With the elements of a slice joined by maximum with an update, which is broadcast to it.
 *
 * - `x`: borrowed.
 * - `update`: borrowed.
 * - `start`: `start_count` first places, one an axis, borrowed for the call.
 * - `start_count`: how many.
 * - `stop`: `stop_count` places that are not reached, borrowed for the call.
 * - `stop_count`: how many.
 * - `step`: `step_count` steps, not 0, borrowed for the call.
 * - `step_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_update_max(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *update,
                                              const int64_t *start,
                                              size_t start_count,
                                              const int64_t *stop,
                                              size_t stop_count,
                                              const int64_t *step,
                                              size_t step_count,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices
 * of x's rank.
 *
 * - `x`: borrowed.
 * - `indices`: `count` arrays, borrowed.
 * - `count`: how many.
 * - `updates`: borrowed.
 * - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_scatter_min(const struct mlxrocm_array *x,
                                         const struct mlxrocm_array *const *indices,
                                         size_t count,
                                         const struct mlxrocm_array *updates,
                                         const int64_t *axes,
                                         size_t axes_count,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * With the elements of a slice joined by minimum with an update, which is broadcast to it.
 *
 * - `x`: borrowed.
 * - `update`: borrowed.
 * - `start`: `start_count` first places, one an axis, borrowed for the call.
 * - `start_count`: how many.
 * - `stop`: `stop_count` places that are not reached, borrowed for the call.
 * - `stop_count`: how many.
 * - `step`: `step_count` steps, not 0, borrowed for the call.
 * - `step_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_slice_update_min(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *update,
                                              const int64_t *start,
                                              size_t start_count,
                                              const int64_t *stop,
                                              size_t stop_count,
                                              const int64_t *step,
                                              size_t step_count,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * With values put at indices along an axis. Values are broadcast to the indices.
 *
 * - `x`: borrowed.
 * - `indices`: borrowed.
 * - `values`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_put_along_axis(const struct mlxrocm_array *x,
                                            const struct mlxrocm_array *indices,
                                            const struct mlxrocm_array *values,
                                            int64_t axis,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * With values added at indices along an axis. Values are broadcast to the indices.
 *
 * - `x`: borrowed.
 * - `indices`: borrowed.
 * - `values`: borrowed.
 * - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_scatter_add_axis(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *indices,
                                              const struct mlxrocm_array *values,
                                              int64_t axis,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * Product of the last two axes; the others are broadcast together. A vector is a row on the left and a
 * column on the right.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_matmul(const struct mlxrocm_array *a,
                                    const struct mlxrocm_array *b,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * alpha · a·b + beta · c; c is broadcast to the product.
 *
 * - `c`: borrowed.
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `alpha`: of the product.
 * - `beta`: of c; 0: c is not looked at.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_addmm(const struct mlxrocm_array *c,
                                   const struct mlxrocm_array *a,
                                   const struct mlxrocm_array *b,
                                   double alpha,
                                   double beta,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Product of matrices whose blocks are multiplied by masks (truth values or numbers) first.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `block_size`: rows and columns of a block, 32 or 64.
 * - `mask_out`: borrowed; of the result's blocks; NULL: none.
 * - `mask_lhs`: borrowed; of the blocks of a; NULL: none.
 * - `mask_rhs`: borrowed; of the blocks of b; NULL: none.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_block_masked_mm(const struct mlxrocm_array *a,
                                             const struct mlxrocm_array *b,
                                             int64_t block_size,
                                             const struct mlxrocm_array *mask_out,
                                             const struct mlxrocm_array *mask_lhs,
                                             const struct mlxrocm_array *mask_rhs,
                                             struct mlxrocm_array **result,
                                             struct mlxrocm_error **error);

/**
 * Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `lhs_indices`: borrowed; NULL: all in order.
 * - `rhs_indices`: borrowed; NULL: all in order.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_gather_mm(const struct mlxrocm_array *a,
                                       const struct mlxrocm_array *b,
                                       const struct mlxrocm_array *lhs_indices,
                                       const struct mlxrocm_array *rhs_indices,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Products of parts of two matrices.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `segments`: borrowed; pairs of the first inner place of a part and one past its last.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_segmented_mm(const struct mlxrocm_array *a,
                                          const struct mlxrocm_array *b,
                                          const struct mlxrocm_array *segments,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Sums of products over pairs of axes.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `axes_a`: `axes_a_count` numbers, borrowed for the call.
 * - `axes_a_count`: how many.
 * - `axes_b`: `axes_b_count` numbers, borrowed for the call.
 * - `axes_b_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_tensordot(const struct mlxrocm_array *a,
                                       const struct mlxrocm_array *b,
                                       const int64_t *axes_a,
                                       size_t axes_a_count,
                                       const int64_t *axes_b,
                                       size_t axes_b_count,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Sums of products over the last axes.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_inner(const struct mlxrocm_array *a,
                                   const struct mlxrocm_array *b,
                                   struct mlxrocm_array **result,
                                   struct mlxrocm_error **error);

/**
 * Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are
 * nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters
 * that appear once, in the order of the alphabet.
 *
 * - `subscripts`: UTF-8, borrowed for the call.
 * - `subscripts_length`: bytes of `subscripts`, or MLXROCM_NUL.
 * - `operands`: `operands_count` arrays, borrowed.
 * - `operands_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_einsum(const char *subscripts,
                                    size_t subscripts_length,
                                    const struct mlxrocm_array *const *operands,
                                    size_t operands_count,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Codes, scales and biases of groups along the last axis, in the affine mode.
 *
 * - `w`: borrowed.
 * - `group_size`: numbers that share a scale; 0: 64.
 * - `bits`: of a code; 0: 4.
 * - `codes`: receives an array, owned: free it with mlxrocm_array_free.
 * - `scales`: receives an array, owned: free it with mlxrocm_array_free.
 * - `biases`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_quantize(const struct mlxrocm_array *w,
                                      int64_t group_size,
                                      int64_t bits,
                                      struct mlxrocm_array **codes,
                                      struct mlxrocm_array **scales,
                                      struct mlxrocm_array **biases,
                                      struct mlxrocm_error **error);

/**
 * Codes and scales of groups along the last axis, in a mode without biases.
 *
 * - `w`: borrowed.
 * - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
 * - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
 * - `global_scale`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
 * - `codes`: receives an array, owned: free it with mlxrocm_array_free.
 * - `scales`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_quantize_float(const struct mlxrocm_array *w,
                                            const char *mode,
                                            size_t mode_length,
                                            const struct mlxrocm_array *global_scale,
                                            struct mlxrocm_array **codes,
                                            struct mlxrocm_array **scales,
                                            struct mlxrocm_error **error);

/**
 * The numbers of codes.
 *
 * - `w`: borrowed.
 * - `scales`: borrowed.
 * - `biases`: borrowed; NULL: none.
 * - `group_size`: numbers that share a scale; 0: the mode's own.
 * - `bits`: of a code; 0: the mode's own.
 * - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
 * - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
 * - `global_scale`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
 * - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the scales, bfloat16 for floating modes.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_dequantize(const struct mlxrocm_array *w,
                                        const struct mlxrocm_array *scales,
                                        const struct mlxrocm_array *biases,
                                        int64_t group_size,
                                        int64_t bits,
                                        const char *mode,
                                        size_t mode_length,
                                        const struct mlxrocm_array *global_scale,
                                        int64_t dtype_or_none,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Product with a quantized matrix.
 *
 * - `x`: borrowed.
 * - `w`: borrowed.
 * - `scales`: borrowed.
 * - `biases`: borrowed; NULL: none.
 * - `transpose`: not 0: w is [out, in], else [in, out].
 * - `group_size`: numbers that share a scale; 0: the mode's own.
 * - `bits`: of a code; 0: the mode's own.
 * - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
 * - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_quantized_matmul(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *w,
                                              const struct mlxrocm_array *scales,
                                              const struct mlxrocm_array *biases,
                                              int32_t transpose,
                                              int64_t group_size,
                                              int64_t bits,
                                              const char *mode,
                                              size_t mode_length,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
 *
 * - `x`: borrowed.
 * - `w`: borrowed.
 * - `scales`: borrowed.
 * - `biases`: borrowed; NULL: none.
 * - `lhs_indices`: borrowed; NULL: all in order.
 * - `rhs_indices`: borrowed; NULL: all in order.
 * - `transpose`: not 0: matrices of w are [out, in], else [in, out].
 * - `group_size`: numbers that share a scale; 0: the mode's own.
 * - `bits`: of a code; 0: the mode's own.
 * - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
 * - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_gather_qmm(const struct mlxrocm_array *x,
                                        const struct mlxrocm_array *w,
                                        const struct mlxrocm_array *scales,
                                        const struct mlxrocm_array *biases,
                                        const struct mlxrocm_array *lhs_indices,
                                        const struct mlxrocm_array *rhs_indices,
                                        int32_t transpose,
                                        int64_t group_size,
                                        int64_t bits,
                                        const char *mode,
                                        size_t mode_length,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales.
 *
 * - `x`: borrowed.
 * - `w`: borrowed.
 * - `scales`: borrowed; of w, if it is quantized; NULL: w is not.
 * - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
 * - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
 * - `global_scale_x`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
 * - `global_scale_w`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_qqmm(const struct mlxrocm_array *x,
                                  const struct mlxrocm_array *w,
                                  const struct mlxrocm_array *scales,
                                  const char *mode,
                                  size_t mode_length,
                                  const struct mlxrocm_array *global_scale_x,
                                  const struct mlxrocm_array *global_scale_w,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * As mlxrocm_array_qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
 *
 * - `x`: borrowed.
 * - `w`: borrowed.
 * - `scales`: borrowed; of w, if it is quantized; NULL: w is not.
 * - `lhs_indices`: borrowed; NULL: all in order.
 * - `rhs_indices`: borrowed; NULL: all in order.
 * - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
 * - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
 * - `global_scale_x`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
 * - `global_scale_w`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_gather_qqmm(const struct mlxrocm_array *x,
                                         const struct mlxrocm_array *w,
                                         const struct mlxrocm_array *scales,
                                         const struct mlxrocm_array *lhs_indices,
                                         const struct mlxrocm_array *rhs_indices,
                                         const char *mode,
                                         size_t mode_length,
                                         const struct mlxrocm_array *global_scale_x,
                                         const struct mlxrocm_array *global_scale_w,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * E4M3 codes (uint8) of numbers.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_to_fp8(const struct mlxrocm_array *x,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Numbers of E4M3 codes (uint8).
 *
 * - `x`: borrowed.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_from_fp8(const struct mlxrocm_array *x,
                                      uint32_t dtype,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial
 * axes. A list holds a number for each of these, one for all, or none for the usual.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: `stride_count` steps of the kernel; 1.
 * - `stride_count`: how many.
 * - `padding_low`: `padding_low_count` zeros before; negative ones cut; 0.
 * - `padding_low_count`: how many.
 * - `padding_high`: `padding_high_count` zeros behind; negative ones cut; 0.
 * - `padding_high_count`: how many.
 * - `kernel_dilation`: `kernel_dilation_count` distances of the kernel's elements; 1.
 * - `kernel_dilation_count`: how many.
 * - `input_dilation`: `input_dilation_count` distances of the input's elements; 1.
 * - `input_dilation_count`: how many.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `flip`: not 0: the kernel is turned round.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv_general(const struct mlxrocm_array *x,
                                          const struct mlxrocm_array *weight,
                                          const int64_t *stride,
                                          size_t stride_count,
                                          const int64_t *padding_low,
                                          size_t padding_low_count,
                                          const int64_t *padding_high,
                                          size_t padding_high_count,
                                          const int64_t *kernel_dilation,
                                          size_t kernel_dilation_count,
                                          const int64_t *input_dilation,
                                          size_t input_dilation_count,
                                          int64_t groups,
                                          int32_t flip,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Transposed convolution: back to the size of what a convolution with these numbers is made of.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: `stride_count` steps of the kernel; 1.
 * - `stride_count`: how many.
 * - `padding`: `padding_count` zeros on both sides; 0.
 * - `padding_count`: how many.
 * - `dilation`: `dilation_count` distances of the kernel's elements; 1.
 * - `dilation_count`: how many.
 * - `output_padding`: `output_padding_count` more elements behind; 0.
 * - `output_padding_count`: how many.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv_transpose(const struct mlxrocm_array *x,
                                            const struct mlxrocm_array *weight,
                                            const int64_t *stride,
                                            size_t stride_count,
                                            const int64_t *padding,
                                            size_t padding_count,
                                            const int64_t *dilation,
                                            size_t dilation_count,
                                            const int64_t *output_padding,
                                            size_t output_padding_count,
                                            int64_t groups,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * Convolution of [batch, length, channels] with [channels out, length, channels / groups].
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: steps of the kernel.
 * - `padding`: zeros on both sides.
 * - `dilation`: distances of the kernel's elements.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv1d(const struct mlxrocm_array *x,
                                    const struct mlxrocm_array *weight,
                                    int64_t stride,
                                    int64_t padding,
                                    int64_t dilation,
                                    int64_t groups,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Transposed convolution of 1 spatial axis: back to the size of what mlxrocm_array_conv1d with these numbers is made of.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: steps of the kernel.
 * - `padding`: zeros on both sides.
 * - `dilation`: distances of the kernel's elements.
 * - `output_padding`: more elements behind.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv_transpose1d(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *weight,
                                              int64_t stride,
                                              int64_t padding,
                                              int64_t dilation,
                                              int64_t output_padding,
                                              int64_t groups,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups].
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: `stride_count` steps of the kernel; 1.
 * - `stride_count`: how many.
 * - `padding`: `padding_count` zeros on both sides; 0.
 * - `padding_count`: how many.
 * - `dilation`: `dilation_count` distances of the kernel's elements; 1.
 * - `dilation_count`: how many.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv2d(const struct mlxrocm_array *x,
                                    const struct mlxrocm_array *weight,
                                    const int64_t *stride,
                                    size_t stride_count,
                                    const int64_t *padding,
                                    size_t padding_count,
                                    const int64_t *dilation,
                                    size_t dilation_count,
                                    int64_t groups,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Transposed convolution of 2 spatial axes: back to the size of what mlxrocm_array_conv2d with these numbers is made of.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: `stride_count` steps of the kernel; 1.
 * - `stride_count`: how many.
 * - `padding`: `padding_count` zeros on both sides; 0.
 * - `padding_count`: how many.
 * - `dilation`: `dilation_count` distances of the kernel's elements; 1.
 * - `dilation_count`: how many.
 * - `output_padding`: `output_padding_count` more elements behind; 0.
 * - `output_padding_count`: how many.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv_transpose2d(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *weight,
                                              const int64_t *stride,
                                              size_t stride_count,
                                              const int64_t *padding,
                                              size_t padding_count,
                                              const int64_t *dilation,
                                              size_t dilation_count,
                                              const int64_t *output_padding,
                                              size_t output_padding_count,
                                              int64_t groups,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups].
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: `stride_count` steps of the kernel; 1.
 * - `stride_count`: how many.
 * - `padding`: `padding_count` zeros on both sides; 0.
 * - `padding_count`: how many.
 * - `dilation`: `dilation_count` distances of the kernel's elements; 1.
 * - `dilation_count`: how many.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv3d(const struct mlxrocm_array *x,
                                    const struct mlxrocm_array *weight,
                                    const int64_t *stride,
                                    size_t stride_count,
                                    const int64_t *padding,
                                    size_t padding_count,
                                    const int64_t *dilation,
                                    size_t dilation_count,
                                    int64_t groups,
                                    struct mlxrocm_array **result,
                                    struct mlxrocm_error **error);

/**
 * Transposed convolution of 3 spatial axes: back to the size of what mlxrocm_array_conv3d with these numbers is made of.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed.
 * - `stride`: `stride_count` steps of the kernel; 1.
 * - `stride_count`: how many.
 * - `padding`: `padding_count` zeros on both sides; 0.
 * - `padding_count`: how many.
 * - `dilation`: `dilation_count` distances of the kernel's elements; 1.
 * - `dilation_count`: how many.
 * - `output_padding`: `output_padding_count` more elements behind; 0.
 * - `output_padding_count`: how many.
 * - `groups`: parts of the channels that do not see each other; 0: one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_conv_transpose3d(const struct mlxrocm_array *x,
                                              const struct mlxrocm_array *weight,
                                              const int64_t *stride,
                                              size_t stride_count,
                                              const int64_t *padding,
                                              size_t padding_count,
                                              const int64_t *dilation,
                                              size_t dilation_count,
                                              const int64_t *output_padding,
                                              size_t output_padding_count,
                                              int64_t groups,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * Discrete Fourier transform along an axis.
 *
 * - `x`: borrowed.
 * - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
 * - `axis`: negative ones count from the end.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_fft(const struct mlxrocm_array *x,
                                     int64_t n,
                                     int64_t axis,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Inverse discrete Fourier transform along an axis.
 *
 * - `x`: borrowed.
 * - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
 * - `axis`: negative ones count from the end.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_ifft(const struct mlxrocm_array *x,
                                      int64_t n,
                                      int64_t axis,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Discrete Fourier transform of real numbers along an axis: half of the frequencies.
 *
 * - `x`: borrowed.
 * - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
 * - `axis`: negative ones count from the end.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_rfft(const struct mlxrocm_array *x,
                                      int64_t n,
                                      int64_t axis,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * The real numbers whose mlxrocm_array_fft_rfft this is.
 *
 * - `x`: borrowed.
 * - `n`: the size of the result; 0: twice one less than the axis has.
 * - `axis`: negative ones count from the end.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_irfft(const struct mlxrocm_array *x,
                                       int64_t n,
                                       int64_t axis,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Discrete Fourier transform along two axes.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_fft2(const struct mlxrocm_array *x,
                                      const int64_t *sizes,
                                      size_t sizes_count,
                                      const int64_t *axes,
                                      size_t axes_count,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Inverse discrete Fourier transform along two axes.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_ifft2(const struct mlxrocm_array *x,
                                       const int64_t *sizes,
                                       size_t sizes_count,
                                       const int64_t *axes,
                                       size_t axes_count,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_rfft2(const struct mlxrocm_array *x,
                                       const int64_t *sizes,
                                       size_t sizes_count,
                                       const int64_t *axes,
                                       size_t axes_count,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * The real numbers whose mlxrocm_array_fft_rfft2 this is.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes of the result; NULL: the array's, of the last axis twice one less.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_irfft2(const struct mlxrocm_array *x,
                                        const int64_t *sizes,
                                        size_t sizes_count,
                                        const int64_t *axes,
                                        size_t axes_count,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Moves the frequency 0 from the first place of axes to the middle.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_fftshift(const struct mlxrocm_array *x,
                                          const int64_t *axes,
                                          size_t axes_count,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Undoes mlxrocm_array_fft_fftshift.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_ifftshift(const struct mlxrocm_array *x,
                                           const int64_t *axes,
                                           size_t axes_count,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * The frequencies of the results of mlxrocm_array_fft_fft, float32.
 *
 * - `n`: samples.
 * - `d`: from one sample to the next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_fftfreq(int64_t n,
                                         double d,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * The frequencies of the results of mlxrocm_array_fft_rfft, float32.
 *
 * - `n`: samples.
 * - `d`: from one sample to the next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_rfftfreq(int64_t n,
                                          double d,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Discrete Fourier transform along axes.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_fftn(const struct mlxrocm_array *x,
                                      const int64_t *sizes,
                                      size_t sizes_count,
                                      const int64_t *axes,
                                      size_t axes_count,
                                      struct mlxrocm_array **result,
                                      struct mlxrocm_error **error);

/**
 * Inverse discrete Fourier transform along axes.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_ifftn(const struct mlxrocm_array *x,
                                       const int64_t *sizes,
                                       size_t sizes_count,
                                       const int64_t *axes,
                                       size_t axes_count,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * Discrete Fourier transform of real numbers; of the last axis only half of the frequencies.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_rfftn(const struct mlxrocm_array *x,
                                       const int64_t *sizes,
                                       size_t sizes_count,
                                       const int64_t *axes,
                                       size_t axes_count,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * The real numbers whose mlxrocm_array_fft_rfftn this is.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes of the result; NULL: the array's, of the last axis twice one less.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_irfftn(const struct mlxrocm_array *x,
                                        const int64_t *sizes,
                                        size_t sizes_count,
                                        const int64_t *axes,
                                        size_t axes_count,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as
 * mlxrocm_array_fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n.
 *
 * - `x`: borrowed.
 * - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
 * - `sizes_count`: how many.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `norm`: UTF-8, borrowed for the call: "backward", "ortho" or "forward".
 * - `norm_length`: bytes of `norm`, or MLXROCM_NUL.
 * - `inverse`: not 0: as mlxrocm_array_fft_ifftn.
 * - `real`: not 0: as mlxrocm_array_fft_rfftn or, inverse, mlxrocm_array_fft_irfftn.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fft_normed(const struct mlxrocm_array *x,
                                        const int64_t *sizes,
                                        size_t sizes_count,
                                        const int64_t *axes,
                                        size_t axes_count,
                                        const char *norm,
                                        size_t norm_length,
                                        int32_t inverse,
                                        int32_t real,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
 *
 * - `x`: borrowed.
 * - `scale`: of the result; NaN: one by the root of the elements.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_hadamard_transform(const struct mlxrocm_array *x,
                                                double scale,
                                                struct mlxrocm_array **result,
                                                struct mlxrocm_error **error);

/**
 * x · rsqrt(mean(x²) + eps) · weight over the last axis.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed; NULL: none.
 * - `eps`: added to the mean.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fast_rms_norm(const struct mlxrocm_array *x,
                                           const struct mlxrocm_array *weight,
                                           double eps,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis.
 *
 * - `x`: borrowed.
 * - `weight`: borrowed; NULL: none.
 * - `bias`: borrowed; NULL: none.
 * - `eps`: added to the variance.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fast_layer_norm(const struct mlxrocm_array *x,
                                             const struct mlxrocm_array *weight,
                                             const struct mlxrocm_array *bias,
                                             double eps,
                                             struct mlxrocm_array **result,
                                             struct mlxrocm_error **error);

/**
 * Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale.
 *
 * - `x`: borrowed.
 * - `dims`: how many dimensions are rotated; even.
 * - `traditional`: not 0: pairs are (2i, 2i + 1), else (i, i + dims / 2).
 * - `base`: pair i turns by position · base^(−2i / dims); NaN: by position / freqs[i].
 * - `scale`: of positions.
 * - `offset`: borrowed; an integer, or one for each of the batch.
 * - `freqs`: borrowed; [dims / 2] instead of base; NULL: none.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fast_rope(const struct mlxrocm_array *x,
                                       int64_t dims,
                                       int32_t traditional,
                                       double base,
                                       double scale,
                                       const struct mlxrocm_array *offset,
                                       const struct mlxrocm_array *freqs,
                                       struct mlxrocm_array **result,
                                       struct mlxrocm_error **error);

/**
 * softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim].
 *
 * - `q`: borrowed.
 * - `k`: borrowed.
 * - `v`: borrowed.
 * - `scale`: of scores.
 * - `causal`: not 0: row i sees keys up to i + keys − rows.
 * - `mask`: borrowed; truth values (seen or not) or numbers (added), broadcast to the scores; NULL: none.
 * - `sinks`: borrowed; one more score for each head, without a value; NULL: none.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_fast_scaled_dot_product_attention(const struct mlxrocm_array *q,
                                                               const struct mlxrocm_array *k,
                                                               const struct mlxrocm_array *v,
                                                               double scale,
                                                               int32_t causal,
                                                               const struct mlxrocm_array *mask,
                                                               const struct mlxrocm_array *sinks,
                                                               struct mlxrocm_array **result,
                                                               struct mlxrocm_error **error);

/**
 * Q with orthogonal columns and R, upper triangular.
 *
 * - `x`: borrowed.
 * - `q`: receives an array, owned: free it with mlxrocm_array_free.
 * - `r`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_qr(const struct mlxrocm_array *x,
                                       struct mlxrocm_array **q,
                                       struct mlxrocm_array **r,
                                       struct mlxrocm_error **error);

/**
 * U, the singular values (the largest first) and Vᴴ.
 *
 * - `x`: borrowed.
 * - `u`: receives an array, owned: free it with mlxrocm_array_free.
 * - `s`: receives an array, owned: free it with mlxrocm_array_free.
 * - `vt`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_svd(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **u,
                                        struct mlxrocm_array **s,
                                        struct mlxrocm_array **vt,
                                        struct mlxrocm_error **error);

/**
 * The singular values, the largest first.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_svd_values(const struct mlxrocm_array *x,
                                               struct mlxrocm_array **result,
                                               struct mlxrocm_error **error);

/**
 * The inverse. Singular matrices fail when they are evaluated.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_inv(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * The inverse of triangular matrices.
 *
 * - `x`: borrowed.
 * - `upper`: not 0: of the upper triangle, else of the lower one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_tri_inv(const struct mlxrocm_array *x,
                                            int32_t upper,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * L of L·Lᵀ. What is not positive definite fails when it is evaluated.
 *
 * - `x`: borrowed.
 * - `upper`: not 0: Lᵀ.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_cholesky(const struct mlxrocm_array *x,
                                             int32_t upper,
                                             struct mlxrocm_array **result,
                                             struct mlxrocm_error **error);

/**
 * The inverse of the matrix whose factor this is.
 *
 * - `x`: borrowed.
 * - `upper`: not 0: the factor is an upper triangle.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_cholesky_inv(const struct mlxrocm_array *x,
                                                 int32_t upper,
                                                 struct mlxrocm_array **result,
                                                 struct mlxrocm_error **error);

/**
 * The pseudoinverse.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_pinv(const struct mlxrocm_array *x,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices.
 *
 * - `x`: borrowed.
 * - `upper`: not 0: the upper triangle is read, else the lower one.
 * - `values`: receives an array, owned: free it with mlxrocm_array_free.
 * - `vectors`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_eigh(const struct mlxrocm_array *x,
                                         int32_t upper,
                                         struct mlxrocm_array **values,
                                         struct mlxrocm_array **vectors,
                                         struct mlxrocm_error **error);

/**
 * Eigenvalues of Hermitian matrices, ascending.
 *
 * - `x`: borrowed.
 * - `upper`: not 0: the upper triangle is read, else the lower one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_eigvalsh(const struct mlxrocm_array *x,
                                             int32_t upper,
                                             struct mlxrocm_array **result,
                                             struct mlxrocm_error **error);

/**
 * Eigenvalues and eigenvectors (columns), complex.
 *
 * - `x`: borrowed.
 * - `values`: receives an array, owned: free it with mlxrocm_array_free.
 * - `vectors`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_eig(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **values,
                                        struct mlxrocm_array **vectors,
                                        struct mlxrocm_error **error);

/**
 * Eigenvalues, complex.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_eigvals(const struct mlxrocm_array *x,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * The row of L·U that each row is, L and U.
 *
 * - `x`: borrowed.
 * - `rows`: receives an array, owned: free it with mlxrocm_array_free.
 * - `l`: receives an array, owned: free it with mlxrocm_array_free.
 * - `u`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_lu(const struct mlxrocm_array *x,
                                       struct mlxrocm_array **rows,
                                       struct mlxrocm_array **l,
                                       struct mlxrocm_array **u,
                                       struct mlxrocm_error **error);

/**
 * L and U in one array, and the row that each step changed places with.
 *
 * - `x`: borrowed.
 * - `lu`: receives an array, owned: free it with mlxrocm_array_free.
 * - `pivots`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_lu_factor(const struct mlxrocm_array *x,
                                              struct mlxrocm_array **lu,
                                              struct mlxrocm_array **pivots,
                                              struct mlxrocm_error **error);

/**
 * x of a·x = b.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_solve(const struct mlxrocm_array *a,
                                          const struct mlxrocm_array *b,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * x of a·x = b with a triangular a.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `upper`: not 0: the upper triangle, else the lower one.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_solve_triangular(const struct mlxrocm_array *a,
                                                     const struct mlxrocm_array *b,
                                                     int32_t upper,
                                                     struct mlxrocm_array **result,
                                                     struct mlxrocm_error **error);

/**
 * The determinant.
 *
 * - `x`: borrowed.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_det(const struct mlxrocm_array *x,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * The determinant's sign and the logarithm of its size.
 *
 * - `x`: borrowed.
 * - `sign`: receives an array, owned: free it with mlxrocm_array_free.
 * - `log`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_slogdet(const struct mlxrocm_array *x,
                                            struct mlxrocm_array **sign,
                                            struct mlxrocm_array **log,
                                            struct mlxrocm_error **error);

/**
 * Vector product along an axis of 2 or 3 elements.
 *
 * - `a`: borrowed.
 * - `b`: borrowed.
 * - `axis`: negative ones count from the end.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_cross(const struct mlxrocm_array *a,
                                          const struct mlxrocm_array *b,
                                          int64_t axis,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Root of the sum of squares.
 *
 * - `x`: borrowed.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_norm_l2(const struct mlxrocm_array *x,
                                            const int64_t *axes,
                                            size_t axes_count,
                                            int32_t keepdims,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * Norm of vectors (one axis) or matrices (two).
 *
 * - `x`: borrowed.
 * - `p`: which: any number for vectors; 1, 2, infinity and their negatives for matrices.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_norm(const struct mlxrocm_array *x,
                                         double p,
                                         const int64_t *axes,
                                         size_t axes_count,
                                         int32_t keepdims,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Norm of matrices.
 *
 * - `x`: borrowed.
 * - `order`: UTF-8, borrowed for the call: "fro" (root of all squares) or "nuc" (sum of singular values).
 * - `order_length`: bytes of `order`, or MLXROCM_NUL.
 * - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
 *   NULL: all axes.
 * - `axes_count`: how many.
 * - `keepdims`: not 0: reduced axes stay, of size 1.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_linalg_norm_matrix(const struct mlxrocm_array *x,
                                                const char *order,
                                                size_t order_length,
                                                const int64_t *axes,
                                                size_t axes_count,
                                                int32_t keepdims,
                                                struct mlxrocm_array **result,
                                                struct mlxrocm_error **error);

/**
 * Starts the sequence of keys again that calls without a key take theirs from. It is the process' own.
 *
 * - `seed`: any number.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: none but INTERNAL. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_seed(uint64_t seed,
                                         struct mlxrocm_error **error);

/**
 * The key of a seed.
 *
 * - `seed`: any number; negative ones are taken as unsigned.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_key(int64_t seed,
                                        struct mlxrocm_array **result,
                                        struct mlxrocm_error **error);

/**
 * New keys of a key: [count, 2].
 *
 * - `key`: borrowed.
 * - `count`: how many.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_split(const struct mlxrocm_array *key,
                                          int64_t count,
                                          struct mlxrocm_array **result,
                                          struct mlxrocm_error **error);

/**
 * Random bits: unsigned integers.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `width`: bytes of each: 1, 2 or 4.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_bits(const int64_t *shape,
                                         size_t rank,
                                         int64_t width,
                                         const struct mlxrocm_array *key,
                                         struct mlxrocm_array **result,
                                         struct mlxrocm_error **error);

/**
 * Numbers evenly spread from low up to, but not, high.
 *
 * - `low`: borrowed.
 * - `high`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_uniform(const struct mlxrocm_array *low,
                                            const struct mlxrocm_array *high,
                                            const int64_t *shape,
                                            size_t rank,
                                            uint32_t dtype,
                                            const struct mlxrocm_array *key,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * Normally distributed numbers.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `loc`: borrowed; their mean; NULL: 0.
 * - `scale`: borrowed; their deviation; NULL: 1.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_normal(const int64_t *shape,
                                           size_t rank,
                                           uint32_t dtype,
                                           const struct mlxrocm_array *loc,
                                           const struct mlxrocm_array *scale,
                                           const struct mlxrocm_array *key,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * Normally distributed vectors.
 *
 * - `mean`: borrowed.
 * - `cov`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_multivariate_normal(const struct mlxrocm_array *mean,
                                                        const struct mlxrocm_array *cov,
                                                        const int64_t *shape,
                                                        size_t rank,
                                                        uint32_t dtype,
                                                        const struct mlxrocm_array *key,
                                                        struct mlxrocm_array **result,
                                                        struct mlxrocm_error **error);

/**
 * Integers from low up to, but not, high.
 *
 * - `low`: borrowed.
 * - `high`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_randint(const struct mlxrocm_array *low,
                                            const struct mlxrocm_array *high,
                                            const int64_t *shape,
                                            size_t rank,
                                            uint32_t dtype,
                                            const struct mlxrocm_array *key,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * Truth values, each true with probability p.
 *
 * - `p`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_bernoulli(const struct mlxrocm_array *p,
                                              const int64_t *shape,
                                              size_t rank,
                                              const struct mlxrocm_array *key,
                                              struct mlxrocm_array **result,
                                              struct mlxrocm_error **error);

/**
 * Normally distributed numbers between two bounds.
 *
 * - `lower`: borrowed.
 * - `upper`: borrowed.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_truncated_normal(const struct mlxrocm_array *lower,
                                                     const struct mlxrocm_array *upper,
                                                     const int64_t *shape,
                                                     size_t rank,
                                                     uint32_t dtype,
                                                     const struct mlxrocm_array *key,
                                                     struct mlxrocm_array **result,
                                                     struct mlxrocm_error **error);

/**
 * Numbers of the standard Gumbel distribution.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_gumbel(const int64_t *shape,
                                           size_t rank,
                                           uint32_t dtype,
                                           const struct mlxrocm_array *key,
                                           struct mlxrocm_array **result,
                                           struct mlxrocm_error **error);

/**
 * Laplace distributed numbers.
 *
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `dtype`: an MLXROCM_DTYPE number.
 * - `loc`: their mean.
 * - `scale`: how far they spread.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_laplace(const int64_t *shape,
                                            size_t rank,
                                            uint32_t dtype,
                                            double loc,
                                            double scale,
                                            const struct mlxrocm_array *key,
                                            struct mlxrocm_array **result,
                                            struct mlxrocm_error **error);

/**
 * A place (uint32) along an axis for each row, with the probability of the softmax of its logits.
 *
 * - `logits`: borrowed.
 * - `axis`: negative ones count from the end.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_categorical(const struct mlxrocm_array *logits,
                                                int64_t axis,
                                                const struct mlxrocm_array *key,
                                                struct mlxrocm_array **result,
                                                struct mlxrocm_error **error);

/**
 * As mlxrocm_array_random_categorical, several places for each row as a last axis.
 *
 * - `logits`: borrowed.
 * - `axis`: negative ones count from the end.
 * - `num_samples`: how many.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_categorical_num_samples(const struct mlxrocm_array *logits,
                                                            int64_t axis,
                                                            int64_t num_samples,
                                                            const struct mlxrocm_array *key,
                                                            struct mlxrocm_array **result,
                                                            struct mlxrocm_error **error);

/**
 * As mlxrocm_array_random_categorical, in a shape that the rows are broadcast to.
 *
 * - `logits`: borrowed.
 * - `axis`: negative ones count from the end.
 * - `shape`: `rank` sizes, borrowed for the call.
 * - `rank`: how many.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_categorical_shape(const struct mlxrocm_array *logits,
                                                      int64_t axis,
                                                      const int64_t *shape,
                                                      size_t rank,
                                                      const struct mlxrocm_array *key,
                                                      struct mlxrocm_array **result,
                                                      struct mlxrocm_error **error);

/**
 * Slices along an axis in random order.
 *
 * - `x`: borrowed.
 * - `axis`: negative ones count from the end.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_permutation(const struct mlxrocm_array *x,
                                                int64_t axis,
                                                const struct mlxrocm_array *key,
                                                struct mlxrocm_array **result,
                                                struct mlxrocm_error **error);

/**
 * The numbers (uint32) below a count in random order.
 *
 * - `count`: how many.
 * - `key`: borrowed; NULL: the process' next.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_random_permutation_arange(int64_t count,
                                                       const struct mlxrocm_array *key,
                                                       struct mlxrocm_array **result,
                                                       struct mlxrocm_error **error);

/**
 * The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it
 * meanwhile; mlxrocm_array_save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and
 * UNSUPPORTED (elements of no dtype).
 *
 * - `path`: as the operating system spells it, borrowed for the call.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `result`: receives an array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_load(const char *path,
                                  size_t path_length,
                                  struct mlxrocm_array **result,
                                  struct mlxrocm_error **error);

/**
 * Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet.
 *
 * - `array`: borrowed.
 * - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, those of mlxrocm_array_eval. bfloat16, which numpy has not, is
 * saved as MLX does, as pairs of bytes. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_save(const struct mlxrocm_array *array,
                                  const char *path,
                                  size_t path_length,
                                  struct mlxrocm_error **error);

/**
 * Makes a map without arrays.
 *
 * - `map`: receives the map, owned: free it with mlxrocm_array_map_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_new(struct mlxrocm_array_map **map, struct mlxrocm_error **error);

/**
 * Loads the arrays of a safetensors or GGUF file; which it is its first bytes say. Names and meaning are MLX's:
 * 8-bit floats of safetensors are uint8 codes; GGUF's Q4_0, Q4_1 and Q8_0 are affine quantization in groups of 32,
 * the codes under the tensor's name, scales and biases with `.scales` and `.biases` in place of its `.weight`;
 * GGUF's other quantized formats are float16 numbers. Elements that need no change stay in the file, which is
 * mapped: do not truncate it meanwhile; the functions that save replace it as a whole.
 *
 * - `path`: as the operating system spells it, borrowed for the call.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `map`: receives the map, owned: free it with mlxrocm_array_map_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE (damaged), UNSUPPORTED (elements of no dtype),
 * OUT_OF_MEMORY. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_load(const char *path,
                                      size_t path_length,
                                      struct mlxrocm_array_map **map,
                                      struct mlxrocm_error **error);

/**
 * Saves arrays and metadata as a safetensors file, which is there whole or not at all. Arrays are computed if they
 * are not yet.
 *
 * - `map`: borrowed.
 * - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (names that the format has not; metadata that is no text), IO, those of
 * mlxrocm_array_eval. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_save_safetensors(const struct mlxrocm_array_map *map,
                                                  const char *path,
                                                  size_t path_length,
                                                  struct mlxrocm_error **error);

/**
 * Saves arrays and metadata as a GGUF file, which is there whole or not at all. Arrays are computed if they are not
 * yet. What mlxrocm_array_map_load made of a quantized tensor is saved as what it is: codes are of no dtype of GGUF.
 *
 * - `map`: borrowed.
 * - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
 * - `path_length`: bytes of `path`, or MLXROCM_NUL.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (names, dtypes and numbers of axes that the format has not), IO, those of
 * mlxrocm_array_eval. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_save_gguf(const struct mlxrocm_array_map *map,
                                           const char *path,
                                           size_t path_length,
                                           struct mlxrocm_error **error);

/**
 * The number of arrays of a map.
 *
 * - `map`: borrowed.
 *
 * Returns 0 also if `map` is NULL or not live. Any thread. Since 0.1.
 */
size_t mlxrocm_array_map_count(const struct mlxrocm_array_map *map);

/**
 * The name of an array of a map.
 *
 * - `map`: borrowed.
 * - `index`: below mlxrocm_array_map_count.
 * - `length`: nullable; receives the bytes of the name without the NUL.
 *
 * Returns the name, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
 */
const char *mlxrocm_array_map_name(const struct mlxrocm_array_map *map,
                                   size_t index,
                                   size_t *length);

/**
 * An array of a map.
 *
 * - `map`: borrowed.
 * - `name`: UTF-8, borrowed for the call.
 * - `name_length`: bytes of `name`, or MLXROCM_NUL.
 * - `result`: receives the array, owned: free it with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_get(const struct mlxrocm_array_map *map,
                                     const char *name,
                                     size_t name_length,
                                     struct mlxrocm_array **result,
                                     struct mlxrocm_error **error);

/**
 * Puts an array into a map, in place of one of the same name.
 *
 * - `map`: borrowed.
 * - `name`: UTF-8, borrowed for the call.
 * - `name_length`: bytes of `name`, or MLXROCM_NUL.
 * - `array`: borrowed; the map keeps what it needs of it. NULL: the name is taken out.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_set(const struct mlxrocm_array_map *map,
                                     const char *name,
                                     size_t name_length,
                                     const struct mlxrocm_array *array,
                                     struct mlxrocm_error **error);

/**
 * Frees a map. Arrays that came from it keep what they need.
 *
 * - `map`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_array_map_free(struct mlxrocm_array_map *map);

/**
 * The number of entries of a map's metadata.
 *
 * - `map`: borrowed.
 *
 * Returns 0 also if `map` is NULL or not live. Any thread. Since 0.1.
 */
size_t mlxrocm_array_map_metadata_count(const struct mlxrocm_array_map *map);

/**
 * The key of an entry of a map's metadata.
 *
 * - `map`: borrowed.
 * - `index`: below mlxrocm_array_map_metadata_count.
 * - `length`: nullable; receives the bytes of the key without the NUL.
 *
 * Returns the key, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
 */
const char *mlxrocm_array_map_metadata_key(const struct mlxrocm_array_map *map,
                                           size_t index,
                                           size_t *length);

/**
 * What kind of metadata a key has.
 *
 * - `map`: borrowed.
 * - `key`: UTF-8, borrowed for the call.
 * - `key_length`: bytes of `key`, or MLXROCM_NUL.
 *
 * Returns one of MLXROCM_METADATA_..., NONE also for what is no map or key. Any thread. Since 0.1.
 */
uint32_t mlxrocm_array_map_metadata_kind(const struct mlxrocm_array_map *map,
                                         const char *key,
                                         size_t key_length);

/**
 * A text of a map's metadata.
 *
 * - `map`: borrowed.
 * - `key`: UTF-8, borrowed for the call; of a text or a list of texts.
 * - `key_length`: bytes of `key`, or MLXROCM_NUL.
 * - `index`: which of a list; 0 of a text.
 * - `length`: nullable; receives the bytes of the text without the NUL.
 *
 * Returns the text, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
 */
const char *mlxrocm_array_map_metadata_text(const struct mlxrocm_array_map *map,
                                            const char *key,
                                            size_t key_length,
                                            size_t index,
                                            size_t *length);

/**
 * Numbers of a map's metadata.
 *
 * - `map`: borrowed.
 * - `key`: UTF-8, borrowed for the call.
 * - `key_length`: bytes of `key`, or MLXROCM_NUL.
 * - `result`: receives an array, a scalar or a vector (of a list of texts its size as int64), owned: free it with
 *   mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there are none of this key). Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_metadata_array(const struct mlxrocm_array_map *map,
                                                const char *key,
                                                size_t key_length,
                                                struct mlxrocm_array **result,
                                                struct mlxrocm_error **error);

/**
 * Puts a text into a map's metadata, in place of what the key had.
 *
 * - `map`: borrowed.
 * - `key`: UTF-8, borrowed for the call.
 * - `key_length`: bytes of `key`, or MLXROCM_NUL.
 * - `text`: UTF-8, borrowed for the call. NULL: the key is taken out.
 * - `text_length`: bytes of `text`, or MLXROCM_NUL.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_map_set_metadata(const struct mlxrocm_array_map *map,
                                              const char *key,
                                              size_t key_length,
                                              const char *text,
                                              size_t text_length,
                                              struct mlxrocm_error **error);

/**
 * Makes a kernel that takes and gives arrays. The source is the body of a function whose parameters are the
 * inputs and outputs by their names: pointers to their elements, row after row. Types of dtypes that the language
 * has none of are `float16`, `bfloat16` (both computed with as float) and `complex64`. Beside `x` the source may use
 * `x_shape[]`, `x_ndim` and, in elements, `x_strides[]` of each input x. It is compiled on this machine when it is
 * called, once for all calls with the same dtypes, ranks and template values.
 *
 * - `device`: borrowed; a GPU. The kernel keeps it alive.
 * - `options`: borrowed for the call.
 * - `kernel`: receives the kernel, owned: free it with mlxrocm_array_kernel_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_kernel_new(const struct mlxrocm_device *device,
                                        const struct mlxrocm_array_kernel_options *options,
                                        struct mlxrocm_array_kernel **kernel,
                                        struct mlxrocm_error **error);

/**
 * Calls a kernel on arrays. The results are lazy, as those of operations; the source is compiled at once.
 *
 * - `kernel`: borrowed; the results keep it alive.
 * - `call`: borrowed for the call.
 * - `results`: receives `call->output_count` arrays, owned: free each with mlxrocm_array_free.
 * - `error`: nullable; receives an owned error object on failure. If the source does not compile its
 *   message has the first error, and mlxrocm_error_details the compiler's log.
 *
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT (the source does not compile; numbers of arrays, grids and blocks that do
 * not fit), UNSUPPORTED (no compiler on this machine), OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_array_kernel_apply(const struct mlxrocm_array_kernel *kernel,
                                          const struct mlxrocm_array_kernel_call *call,
                                          struct mlxrocm_array **results,
                                          struct mlxrocm_error **error);

/**
 * Frees a kernel. Arrays that it makes are computed all the same.
 *
 * - `kernel`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_array_kernel_free(struct mlxrocm_array_kernel *kernel);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MLXROCM_H */
