//! The C interface of libmlxrocm, as it is: `include/mlxrocm.h` is the manual.

// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

#![no_std]
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_void};

/// What a function returns: 0 is success, negative values are errors, positive values are expected
/// outcomes that are not errors. Numbers are stable: they are never reused.
pub type mlxrocm_status = i32;

/// In place of a length in bytes: the text ends at its NUL.
pub const MLXROCM_NUL: usize = 18446744073709551615;
/// Major version of this header: the binary interface changes with it.
pub const MLXROCM_VERSION_MAJOR: u32 = 0;
/// Minor version of this header: functions and fields are added with it.
pub const MLXROCM_VERSION_MINOR: u32 = 1;
/// Patch version of this header.
pub const MLXROCM_VERSION_PATCH: u32 = 0;
/// This header's version as one number, major * 10000 + minor * 100 + patch: compare it with
/// mlxrocm_version().
pub const MLXROCM_VERSION: u32 = 100;
/// Log level: something failed.
pub const MLXROCM_LOG_ERROR: u32 = 1;
/// Log level: something works worse than the user may expect.
pub const MLXROCM_LOG_WARN: u32 = 2;
/// Log level: what was chosen (device, kernels, formats).
pub const MLXROCM_LOG_INFO: u32 = 3;
/// Log level: details for a bug report.
pub const MLXROCM_LOG_DEBUG: u32 = 4;
/// Device kind: the processor itself. Always there, always device 0.
pub const MLXROCM_DEVICE_CPU: u32 = 1;
/// Device kind: an AMD GPU, through HIP.
pub const MLXROCM_DEVICE_HIP: u32 = 2;
/// Device kind: an NVIDIA GPU, through CUDA's driver.
pub const MLXROCM_DEVICE_CUDA: u32 = 3;
/// Graphs: programs run as graphs where these were found right and faster on this device. The
/// default, unless the environment variable MLXROCM_GRAPHS is on or off.
pub const MLXROCM_GRAPHS_AUTO: u32 = 0;
/// Graphs: programs always run as graphs, where the driver builds them.
pub const MLXROCM_GRAPHS_ON: u32 = 1;
/// Graphs: programs are launched one kernel after another.
pub const MLXROCM_GRAPHS_OFF: u32 = 2;
/// Self-test flag: measure with small sizes and few rounds.
pub const MLXROCM_SELFTEST_QUICK: u32 = 1;
/// Self-test flag: leave the measurements out.
pub const MLXROCM_SELFTEST_NO_MEASUREMENTS: u32 = 2;
/// Buffer kind: memory of the GPU.
pub const MLXROCM_BUFFER_DEVICE: u32 = 1;
/// Buffer kind: host memory that the GPU can reach, for copies that go on while the caller does
/// something else.
pub const MLXROCM_BUFFER_PINNED: u32 = 2;
/// Argument kind: an address in device memory.
pub const MLXROCM_ARG_BUFFER: u32 = 1;
/// Argument kind: a number of 32 bits.
pub const MLXROCM_ARG_32: u32 = 2;
/// Argument kind: a number of 64 bits, or an address that the application keeps valid.
pub const MLXROCM_ARG_64: u32 = 3;
/// Access: the kernel reads the buffer's part.
pub const MLXROCM_ACCESS_READ: u32 = 1;
/// Access: the kernel writes the buffer's part.
pub const MLXROCM_ACCESS_WRITE: u32 = 2;
/// Program mode: one launch after another.
pub const MLXROCM_PROGRAM_DIRECT: u32 = 1;
/// Program mode: the driver replays the whole program as a graph.
pub const MLXROCM_PROGRAM_GRAPH: u32 = 2;
/// Reason of a mode: mlxrocm_device_set_graphs or the environment variable MLXROCM_GRAPHS.
pub const MLXROCM_REASON_SETTING: u32 = 1;
/// Reason of a mode: graphs were compared with direct launches on this device, bit for bit and in
/// time.
pub const MLXROCM_REASON_COMPARED: u32 = 2;
/// Reason of a mode: graphs were not compared on this device yet. The first run of a program of 8
/// launches or more, all of which say what they write, does it.
pub const MLXROCM_REASON_NOT_COMPARED: u32 = 3;
/// Reason of a mode: the driver does not build a graph of this program.
pub const MLXROCM_REASON_NOT_BUILT: u32 = 4;
/// Encode flag: add the tokens that the model wants around a raw prompt (begin of text...).
pub const MLXROCM_ENCODE_ADD_SPECIAL: u32 = 1;
/// Encode flag: read special tokens that are spelled out in the text as those tokens. Do not set it
/// for text from people you do not trust.
pub const MLXROCM_ENCODE_PARSE_SPECIAL: u32 = 2;
/// Decode flag: leave special tokens out.
pub const MLXROCM_DECODE_SKIP_SPECIAL: u32 = 1;
/// Stands for a token that a model does not have.
pub const MLXROCM_NO_TOKEN: u32 = 4294967295;
/// Render flag: open the assistant's turn at the end, so that the model answers.
pub const MLXROCM_RENDER_GENERATION_PROMPT: u32 = 1;
/// mlxrocm_session_options.kv_type: 16-bit floating point numbers.
pub const MLXROCM_KV_F16: u64 = 0;
/// mlxrocm_session_options.kv_type: integers of 8 bits with a scale for each 32 of them: 53 % of the
/// memory; hardly any difference in what is generated.
pub const MLXROCM_KV_Q8: u64 = 1;
/// mlxrocm_session_options.kv_type: integers of 4 bits with a scale and a minimum for each 32 of
/// them: 31 % of the memory; what is generated differs.
pub const MLXROCM_KV_Q4: u64 = 2;
/// mlxrocm_embed_options.pooling: a row for each chosen token.
pub const MLXROCM_POOLING_NONE: u32 = 0;
/// mlxrocm_embed_options.pooling: the mean of all tokens.
pub const MLXROCM_POOLING_MEAN: u32 = 1;
/// mlxrocm_embed_options.pooling: the first token.
pub const MLXROCM_POOLING_CLS: u32 = 2;
/// mlxrocm_embed_options.pooling: the last token.
pub const MLXROCM_POOLING_LAST: u32 = 3;
/// mlxrocm_embed_options.flags: each row is divided by its Euclidean length; a row of zeros stays.
pub const MLXROCM_EMBED_NORMALIZE: u64 = 1;
/// Request flag: go on past the model's own stop tokens.
pub const MLXROCM_REQUEST_IGNORE_EOS: u32 = 1;
/// Event kind: `prompt_done` of `prompt_total` prompt tokens have been run.
pub const MLXROCM_EVENT_PROMPT: u32 = 1;
/// Event kind: a token was chosen.
pub const MLXROCM_EVENT_TOKEN: u32 = 2;
/// Event kind: the generation ended; nothing follows.
pub const MLXROCM_EVENT_FINISHED: u32 = 3;
/// Finish reason: a stop token of the model or of the request.
pub const MLXROCM_FINISH_STOP_TOKEN: u32 = 1;
/// Finish reason: a stop string.
pub const MLXROCM_FINISH_STOP_STRING: u32 = 2;
/// Finish reason: max_tokens were generated.
pub const MLXROCM_FINISH_LENGTH: u32 = 3;
/// Finish reason: the context is full.
pub const MLXROCM_FINISH_CONTEXT: u32 = 4;
/// Finish reason: mlxrocm_generation_cancel was called.
pub const MLXROCM_FINISH_CANCELLED: u32 = 5;
/// Finish reason: it failed; `error_status` and `error_message` say why.
pub const MLXROCM_FINISH_ERROR: u32 = 6;
/// Finish reason: by the request's `json_schema`, `regex` or `grammar` the text is complete and nothing may follow.
pub const MLXROCM_FINISH_GRAMMAR: u32 = 7;
/// Planes of a position that a network takes.
pub const MLXROCM_CHESS_PLANES: u32 = 112;
/// Moves that a network's policy has logits for.
pub const MLXROCM_CHESS_MOVES: u32 = 1858;
/// Positions of a batch at most.
pub const MLXROCM_CHESS_BATCH: u32 = 1024;
/// Body of a network: convolutions with residual blocks.
pub const MLXROCM_CHESS_BODY_RESIDUAL: u32 = 1;
/// Body of a network: encoders over the 64 squares.
pub const MLXROCM_CHESS_BODY_ATTENTION: u32 = 2;
/// Policy of a network: one matrix over all squares.
pub const MLXROCM_CHESS_POLICY_CLASSICAL: u32 = 1;
/// Policy of a network: planes of moves.
pub const MLXROCM_CHESS_POLICY_CONVOLUTION: u32 = 2;
/// Policy of a network: from-squares attend to to-squares.
pub const MLXROCM_CHESS_POLICY_ATTENTION: u32 = 3;
/// Policy head: the usual one, which every network has.
pub const MLXROCM_CHESS_POLICY_HEAD_VANILLA: u32 = 0;
/// Policy head: what turns out better than expected.
pub const MLXROCM_CHESS_POLICY_HEAD_OPTIMISTIC: u32 = 1;
/// Policy head: flatter.
pub const MLXROCM_CHESS_POLICY_HEAD_SOFT: u32 = 2;
/// Policy head: what the opponent plays.
pub const MLXROCM_CHESS_POLICY_HEAD_OPPONENT: u32 = 3;
/// Value head: who wins; every network has it.
pub const MLXROCM_CHESS_VALUE_HEAD_WINNER: u32 = 0;
/// Value head: the search's value.
pub const MLXROCM_CHESS_VALUE_HEAD_Q: u32 = 1;
/// Value head: the search's value some plies later.
pub const MLXROCM_CHESS_VALUE_HEAD_ST: u32 = 2;
/// What a network computes with: f16 on GPUs, with sums in f32; f32 on the CPU.
pub const MLXROCM_CHESS_PRECISION_DEFAULT: u32 = 0;
/// What a network computes with: f16, sums in f32; GPUs only.
pub const MLXROCM_CHESS_PRECISION_F16: u32 = 1;
/// What a network computes with: f32.
pub const MLXROCM_CHESS_PRECISION_F32: u32 = 2;
/// Batches that a queue holds at most.
pub const MLXROCM_CHESS_QUEUE_BATCHES: u32 = 64;
/// Dtype: truth values, one byte of 0 or 1.
pub const MLXROCM_DTYPE_BOOL: u32 = 0;
/// Dtype: unsigned integers of 8 bits.
pub const MLXROCM_DTYPE_UINT8: u32 = 1;
/// Dtype: unsigned integers of 16 bits.
pub const MLXROCM_DTYPE_UINT16: u32 = 2;
/// Dtype: unsigned integers of 32 bits.
pub const MLXROCM_DTYPE_UINT32: u32 = 3;
/// Dtype: unsigned integers of 64 bits.
pub const MLXROCM_DTYPE_UINT64: u32 = 4;
/// Dtype: signed integers of 8 bits.
pub const MLXROCM_DTYPE_INT8: u32 = 5;
/// Dtype: signed integers of 16 bits.
pub const MLXROCM_DTYPE_INT16: u32 = 6;
/// Dtype: signed integers of 32 bits.
pub const MLXROCM_DTYPE_INT32: u32 = 7;
/// Dtype: signed integers of 64 bits.
pub const MLXROCM_DTYPE_INT64: u32 = 8;
/// Dtype: IEEE half precision.
pub const MLXROCM_DTYPE_FLOAT16: u32 = 9;
/// Dtype: IEEE single precision.
pub const MLXROCM_DTYPE_FLOAT32: u32 = 10;
/// Dtype: IEEE double precision.
pub const MLXROCM_DTYPE_FLOAT64: u32 = 11;
/// Dtype: bfloat16.
pub const MLXROCM_DTYPE_BFLOAT16: u32 = 12;
/// Dtype: complex numbers, two of single precision.
pub const MLXROCM_DTYPE_COMPLEX64: u32 = 13;
/// No dtype.
pub const MLXROCM_DTYPE_NONE: u32 = 4294967295;
/// In place of an axis: none; the operation is on the array made flat.
pub const MLXROCM_AXIS_NONE: i64 = -9223372036854775808;
/// mlxrocm_array_pad.mode: a value around the array.
pub const MLXROCM_PAD_CONSTANT: i64 = 0;
/// mlxrocm_array_pad.mode: its outermost elements around the array.
pub const MLXROCM_PAD_EDGE: i64 = 1;
/// mlxrocm_array_pad.mode: its mirror image around the array, without the outermost elements.
pub const MLXROCM_PAD_REFLECT: i64 = 2;
/// mlxrocm_array_pad.mode: its mirror image around the array.
pub const MLXROCM_PAD_SYMMETRIC: i64 = 3;
/// Metadata: there is none of this name.
pub const MLXROCM_METADATA_NONE: u32 = 0;
/// Metadata: a text.
pub const MLXROCM_METADATA_TEXT: u32 = 1;
/// Metadata: a list of texts.
pub const MLXROCM_METADATA_TEXTS: u32 = 2;
/// Metadata: an array, a scalar or a vector.
pub const MLXROCM_METADATA_ARRAY: u32 = 3;
/// Template value: a dtype; the name is a type.
pub const MLXROCM_TEMPLATE_DTYPE: u32 = 1;
/// Template value: a whole number of 32 bits; the name is a constant.
pub const MLXROCM_TEMPLATE_INT: u32 = 2;
/// Template value: 0 or not; the name is a constant of type bool.
pub const MLXROCM_TEMPLATE_BOOL: u32 = 3;
/// Success.
pub const MLXROCM_OK: mlxrocm_status = 0;
/// Nothing happened within the timeout; call again.
pub const MLXROCM_PENDING: mlxrocm_status = 1;
/// Everything was given out; nothing follows.
pub const MLXROCM_END: mlxrocm_status = 2;
/// A parameter has a value outside its documented range, or a handle is not live.
pub const MLXROCM_ERROR_INVALID_ARGUMENT: mlxrocm_status = -1;
/// A pointer that must not be NULL is NULL.
pub const MLXROCM_ERROR_NULL_ARGUMENT: mlxrocm_status = -2;
/// The handle had an internal error before and can only be freed.
pub const MLXROCM_ERROR_POISONED: mlxrocm_status = -3;
/// An allocation failed or would exceed a limit.
pub const MLXROCM_ERROR_OUT_OF_MEMORY: mlxrocm_status = -4;
/// The operating system refused to open, read or map a file.
pub const MLXROCM_ERROR_IO: mlxrocm_status = -5;
/// A file's content is damaged or contradicts itself.
pub const MLXROCM_ERROR_INVALID_FILE: mlxrocm_status = -6;
/// The file or request is valid but asks for something this library does not do.
pub const MLXROCM_ERROR_UNSUPPORTED: mlxrocm_status = -7;
/// The caller's buffer is too small; `needed` says what would be enough.
pub const MLXROCM_ERROR_BUFFER_TOO_SMALL: mlxrocm_status = -8;
/// The prompt does not fit the context.
pub const MLXROCM_ERROR_CONTEXT_FULL: mlxrocm_status = -9;
/// No usable device.
pub const MLXROCM_ERROR_NO_DEVICE: mlxrocm_status = -10;
/// A device failed while it ran.
pub const MLXROCM_ERROR_DEVICE_FAILED: mlxrocm_status = -11;
/// The caller's progress callback ended the operation.
pub const MLXROCM_ERROR_CANCELLED: mlxrocm_status = -12;
/// A defect in this library; the handle it happened in is poisoned.
pub const MLXROCM_ERROR_INTERNAL: mlxrocm_status = -13;
/// The device stopped working and takes no more work in this process.
pub const MLXROCM_ERROR_DEVICE_LOST: mlxrocm_status = -14;
/// The time given for a wait is over; the work goes on.
pub const MLXROCM_ERROR_TIMEOUT: mlxrocm_status = -15;
/// A device gives wrong results: its self-test found them.
pub const MLXROCM_ERROR_SELFTEST_FAILED: mlxrocm_status = -16;

/// An n-dimensional array. Operations are lazy: a function checks shapes and dtypes and returns at
/// once, elements are computed by mlxrocm_array_eval or when they are read. Arrays never change: an
/// operation makes a new one. Each keeps what it is made from, so handles may be freed in any order.
/// Internally locked: any thread.
///
/// The functions of operations have MLX's names and meaning. They promote dtypes and broadcast shapes
/// as MLX does, and their messages name the operation and the shapes.
#[repr(C)]
pub struct mlxrocm_array {
    _private: [u8; 0],
}

/// A kernel of the application that takes and gives arrays, on a GPU. Immutable: any thread.
#[repr(C)]
pub struct mlxrocm_array_kernel {
    _private: [u8; 0],
}

/// Arrays and metadata by their names, in the order of these. Made empty or of a file.
/// Internally locked: any thread.
#[repr(C)]
pub struct mlxrocm_array_map {
    _private: [u8; 0],
}

/// Memory of a fixed size and address. Internally locked: any thread; its content is the
/// application's to guard. Work that was queued with a buffer keeps its memory, also after it is
/// freed.
#[repr(C)]
pub struct mlxrocm_buffer {
    _private: [u8; 0],
}

/// A compiled chat template. Immutable: any thread.
#[repr(C)]
pub struct mlxrocm_chat_template {
    _private: [u8; 0],
}

/// A network that evaluates chess positions. Internally locked: any thread.
#[repr(C)]
pub struct mlxrocm_chess_net {
    _private: [u8; 0],
}

/// Batches of positions that are evaluated one after the other while the application goes on: each thread that
/// searches may have a queue of its own, or several may share one. Internally locked: any thread.
#[repr(C)]
pub struct mlxrocm_chess_queue {
    _private: [u8; 0],
}

/// A device. Internally locked: any thread. What is made on a device keeps it alive. A GPU that is
/// opened twice is one device with one memory limit.
#[repr(C)]
pub struct mlxrocm_device {
    _private: [u8; 0],
}

/// What went wrong, in detail. A function that fails stores a new object where its last parameter
/// points, if that is not NULL. Immutable: any thread.
#[repr(C)]
pub struct mlxrocm_error {
    _private: [u8; 0],
}

/// A running request. Internally locked: any thread; but what an event points to is valid only until
/// the next call of mlxrocm_generation_next, so only one thread at a time should call that.
#[repr(C)]
pub struct mlxrocm_generation {
    _private: [u8; 0],
}

/// A mark in a stream, to wait for and to measure time with: mlxrocm_stream_record sets it.
/// Internally locked: any thread.
#[repr(C)]
pub struct mlxrocm_gpu_event {
    _private: [u8; 0],
}

/// A function that a GPU runs. Immutable: any thread.
#[repr(C)]
pub struct mlxrocm_kernel {
    _private: [u8; 0],
}

/// A loaded model. Immutable: any thread. Sessions, tokenizers and chat templates made from it keep
/// it alive.
#[repr(C)]
pub struct mlxrocm_model {
    _private: [u8; 0],
}

/// What a model file or folder holds, without loading it. Immutable: any thread.
#[repr(C)]
pub struct mlxrocm_model_file {
    _private: [u8; 0],
}

/// Code loaded on a GPU. Immutable: any thread. Kernels keep their module loaded.
#[repr(C)]
pub struct mlxrocm_module {
    _private: [u8; 0],
}

/// A list of launches, copies and fills that is recorded once and run often. Internally locked: any
/// thread.
///
/// It begins in recording: what is added to it is ordered by what each launch reads and writes.
/// mlxrocm_program_end ends the recording; from then on it can be run. It keeps its buffers and
/// kernels. Runs of one program follow each other, also on different streams.
#[repr(C)]
pub struct mlxrocm_program {
    _private: [u8; 0],
}

/// A session: several requests at once over one KV cache. Internally locked: any thread.
/// Generations keep their session alive.
#[repr(C)]
pub struct mlxrocm_session {
    _private: [u8; 0],
}

/// A queue of work that a GPU does in order; different streams run side by side. Internally locked:
/// any thread.
///
/// Work is queued and not waited for, unless a function says so. What fails while it runs comes out
/// of the next mlxrocm_stream_wait, once, or of a wait for arrays that were given to the stream
/// (mlxrocm_array_to_stream).
#[repr(C)]
pub struct mlxrocm_stream {
    _private: [u8; 0],
}

/// A tokenizer. Immutable: any thread.
#[repr(C)]
pub struct mlxrocm_tokenizer {
    _private: [u8; 0],
}

/// Receives a log line without its newline; `message` has `length` bytes and a NUL behind them,
/// and is borrowed for the call.
///
/// It is called only on a thread that is in a call of this library, by several such threads at once;
/// never on a thread of the library: what those write waits for the next call that ends or logs
/// (1,024 lines at most). It may call this library, but must not throw, unwind or jump out.
pub type mlxrocm_log_callback = Option<unsafe extern "C" fn(level: u32, message: *const c_char, length: usize, user_data: *mut c_void)>;

/// Frees a callback's `user_data`.
pub type mlxrocm_user_data_free = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// Receives one line of a self-test's report without its newline; `line` has `length` bytes and a NUL
/// behind them, and is borrowed for the call. It is called from the thread that tests.
///
/// Returns 0 to go on, anything else to end the test with MLXROCM_ERROR_CANCELLED. It must not throw,
/// unwind or jump out.
pub type mlxrocm_selftest_callback = Option<unsafe extern "C" fn(line: *const c_char, length: usize, user_data: *mut c_void) -> i32>;

/// Hears how far loading or quantizing is: `done` of `total` bytes; the last call has done == total. It
/// is called from the thread that called.
///
/// Returns 0 to go on, anything else to end the work with MLXROCM_ERROR_CANCELLED. It must not
/// throw, unwind or jump out.
pub type mlxrocm_progress_callback = Option<unsafe extern "C" fn(done: u64, total: u64, user_data: *mut c_void) -> i32>;

/// Edits the logits of a request's next token before one is chosen, for a grammar, a watermark, guidance.
///
/// - `tokens`: the tokens so far, the prompt's and the generated ones; borrowed for the call.
/// - `token_count`: elements of `tokens`.
/// - `logits`: `vocab_size` numbers, all finite, to be changed in place. −INFINITY bans a token.
/// - `vocab_size`: columns of the model's logits (mlxrocm_model_info). Those that are no token of the tokenizer are
///   never chosen, whatever is written there.
/// - `user_data`: from the request.
///
/// Returns 0 to go on. Another number ends the generation with MLXROCM_FINISH_ERROR and MLXROCM_ERROR_CANCELLED;
/// NaN or +INFINITY in `logits`, or no token left, with MLXROCM_ERROR_INVALID_ARGUMENT.
///
/// Called on the session's own thread, of one session never twice at a time; no step of the model begins meanwhile. In
/// it, nothing may be called that waits for this session: not mlxrocm_session_logits, _logits_at and _embed, and
/// mlxrocm_generation_next only with timeout 0. Freeing and cancelling generations is fine.
///
/// On GPUs the logits of such requests alone come to the host; the device chooses the others' tokens. If callbacks take
/// a large part of a step's time, the others do not wait for them: a step without such requests is queued before and
/// runs meanwhile, and they are in every second step.
pub type mlxrocm_logits_processor = Option<unsafe extern "C" fn(tokens: *const u32, token_count: usize, logits: *mut f32, vocab_size: usize, user_data: *mut c_void) -> i32>;

/// Facts about a device. What does not apply to a device, or is not known, is 0 or "".
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_device_info {
    /// Set by the caller to sizeof(mlxrocm_device_info).
    pub struct_size: u32,
    /// One of MLXROCM_DEVICE_...
    pub kind: u32,
    /// The maker's name of it; borrowed until the device is freed.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
    /// The kernels that run on it. CPU: "avx512-vnni", "avx2" or "portable"; GPU: the target of its code, like "gfx1151" or "sm_90". Borrowed until the device is freed.
    pub isa: *const c_char,
    /// Bytes of `isa` without the NUL.
    pub isa_length: usize,
    /// CPU: logical CPUs this process may run on. AMD: compute units (work-group processors where HIP counts those). NVIDIA: multiprocessors.
    pub compute_units: u64,
    /// Memory in bytes; of a GPU that shares the processor's memory, all of that.
    pub memory_total: u64,
    /// Memory in bytes that could be allocated now.
    pub memory_free: u64,
    /// GPU: the target as the driver spells it, like "gfx942:sramecc+:xnack-"; borrowed until the device is freed.
    pub target: *const c_char,
    /// Bytes of `target` without the NUL.
    pub target_length: usize,
    /// GPU: its address on the PCI bus, like "0000:03:00.0"; borrowed until the device is freed.
    pub pci_id: *const c_char,
    /// Bytes of `pci_id` without the NUL.
    pub pci_id_length: usize,
    /// GPU: bytes of level 2 cache.
    pub l2_bytes: u64,
    /// GPU: bytes of local memory (LDS, shared memory) that one block may use.
    pub lds_bytes: u32,
    /// GPU: work items of a wave (a warp): 32 or 64.
    pub wave_size: u32,
    /// GPU: work items that one block may have.
    pub max_block_threads: u32,
    /// GPU: 1 if it shares the processor's memory.
    pub integrated: u32,
    /// GPU: highest core clock in kHz.
    pub clock_khz: u32,
    /// GPU: highest memory clock in kHz.
    pub memory_clock_khz: u32,
    /// GPU: width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// GPU: the driver's version. HIP: major * 10000000 + minor * 100000 + patch; CUDA: major * 1000 + minor * 10.
    pub driver_version: u32,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_device_info>() == 136);
    assert!(core::mem::offset_of!(mlxrocm_device_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_device_info, kind) == 4);
    assert!(core::mem::offset_of!(mlxrocm_device_info, name) == 8);
    assert!(core::mem::offset_of!(mlxrocm_device_info, name_length) == 16);
    assert!(core::mem::offset_of!(mlxrocm_device_info, isa) == 24);
    assert!(core::mem::offset_of!(mlxrocm_device_info, isa_length) == 32);
    assert!(core::mem::offset_of!(mlxrocm_device_info, compute_units) == 40);
    assert!(core::mem::offset_of!(mlxrocm_device_info, memory_total) == 48);
    assert!(core::mem::offset_of!(mlxrocm_device_info, memory_free) == 56);
    assert!(core::mem::offset_of!(mlxrocm_device_info, target) == 64);
    assert!(core::mem::offset_of!(mlxrocm_device_info, target_length) == 72);
    assert!(core::mem::offset_of!(mlxrocm_device_info, pci_id) == 80);
    assert!(core::mem::offset_of!(mlxrocm_device_info, pci_id_length) == 88);
    assert!(core::mem::offset_of!(mlxrocm_device_info, l2_bytes) == 96);
    assert!(core::mem::offset_of!(mlxrocm_device_info, lds_bytes) == 104);
    assert!(core::mem::offset_of!(mlxrocm_device_info, wave_size) == 108);
    assert!(core::mem::offset_of!(mlxrocm_device_info, max_block_threads) == 112);
    assert!(core::mem::offset_of!(mlxrocm_device_info, integrated) == 116);
    assert!(core::mem::offset_of!(mlxrocm_device_info, clock_khz) == 120);
    assert!(core::mem::offset_of!(mlxrocm_device_info, memory_clock_khz) == 124);
    assert!(core::mem::offset_of!(mlxrocm_device_info, memory_bus_bits) == 128);
    assert!(core::mem::offset_of!(mlxrocm_device_info, driver_version) == 132);
};

/// Memory counters of a device, in bytes. Freed buffers are kept for reuse: `active + cache` stay at or
/// below `limit`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_device_memory {
    /// Set by the caller to sizeof(mlxrocm_device_memory).
    pub struct_size: u32,
    /// 1 if the device shares the processor's memory, as the CPU itself does.
    pub integrated: u32,
    /// Held by buffers that are alive.
    pub active: u64,
    /// The highest `active` since the device was opened or mlxrocm_device_reset_peak_memory.
    pub peak: u64,
    /// Freed and kept for reuse.
    pub cache: u64,
    /// The most that `active + cache` may be.
    pub limit: u64,
    /// All memory of the device.
    pub total: u64,
    /// What the driver says is free now.
    pub free: u64,
    /// Pinned host memory held by buffers that are alive.
    pub pinned_active: u64,
    /// Pinned host memory freed and kept for reuse.
    pub pinned_cache: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_device_memory>() == 72);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, integrated) == 4);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, active) == 8);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, peak) == 16);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, cache) == 24);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, limit) == 32);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, total) == 40);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, free) == 48);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, pinned_active) == 56);
    assert!(core::mem::offset_of!(mlxrocm_device_memory, pinned_cache) == 64);
};

/// How to test a GPU. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_selftest_options {
    /// Set by the caller to sizeof(mlxrocm_selftest_options).
    pub struct_size: u32,
    /// MLXROCM_SELFTEST_... flags together.
    pub flags: u32,
    /// Seed of the random inputs; 0: a new one each time. The report names it.
    pub seed: u64,
    /// Nullable; hears the report, line by line.
    pub report: mlxrocm_selftest_callback,
    /// Nullable, passed to `report`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` before mlxrocm_device_selftest returns, unless this struct cannot be read (NULL, a wrong struct_size) or `device` is not a live device.
    pub user_data_free: mlxrocm_user_data_free,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_selftest_options>() == 40);
    assert!(core::mem::offset_of!(mlxrocm_selftest_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_selftest_options, flags) == 4);
    assert!(core::mem::offset_of!(mlxrocm_selftest_options, seed) == 8);
    assert!(core::mem::offset_of!(mlxrocm_selftest_options, report) == 16);
    assert!(core::mem::offset_of!(mlxrocm_selftest_options, user_data) == 24);
    assert!(core::mem::offset_of!(mlxrocm_selftest_options, user_data_free) == 32);
};

/// Facts about a buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_buffer_info {
    /// Set by the caller to sizeof(mlxrocm_buffer_info).
    pub struct_size: u32,
    /// MLXROCM_BUFFER_DEVICE or MLXROCM_BUFFER_PINNED.
    pub kind: u32,
    /// Bytes, as asked for.
    pub size: u64,
    /// The address at which the GPU sees it. Device memory begins at a multiple of 256.
    pub address: u64,
    /// PINNED: where the application reads and writes it, after waiting for queued work that uses it; borrowed until the buffer is freed. DEVICE: NULL.
    pub data: *mut c_void,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_buffer_info>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_buffer_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_buffer_info, kind) == 4);
    assert!(core::mem::offset_of!(mlxrocm_buffer_info, size) == 8);
    assert!(core::mem::offset_of!(mlxrocm_buffer_info, address) == 16);
    assert!(core::mem::offset_of!(mlxrocm_buffer_info, data) == 24);
};

/// One argument of a kernel: a pointer or a number of 32 or 64 bits; kernels take no others. The
/// functions mlxrocm_arg_... make them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_arg {
    /// One of MLXROCM_ARG_...
    pub kind: u32,
    /// BUFFER: MLXROCM_ACCESS_READ, MLXROCM_ACCESS_WRITE or both; programs order their launches by it.
    pub access: u32,
    /// BUFFER: the byte offset that the address begins at. Numbers: their bits, the upper 32 of a 32-bit number being 0.
    pub value: u64,
    /// BUFFER: device memory; borrowed for the call that gets the argument.
    pub buffer: *const mlxrocm_buffer,
    /// BUFFER: bytes from `value` on that the kernel touches; 0: all to the buffer's end.
    pub size: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_arg>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_arg, kind) == 0);
    assert!(core::mem::offset_of!(mlxrocm_arg, access) == 4);
    assert!(core::mem::offset_of!(mlxrocm_arg, value) == 8);
    assert!(core::mem::offset_of!(mlxrocm_arg, buffer) == 16);
    assert!(core::mem::offset_of!(mlxrocm_arg, size) == 24);
};

/// How to launch a kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_launch {
    /// Set by the caller to sizeof(mlxrocm_launch).
    pub struct_size: u32,
    /// Bytes of local memory beyond what the kernel declares.
    pub dynamic_lds: u32,
    /// Blocks in x, y and z; with 0 in x nothing is launched, 0 in y or z is 1.
    pub grid: [u32; 3],
    /// Work items of a block in x, y and z; 0 in y or z is 1.
    pub block: [u32; 3],
    /// The kernel's arguments in its order, `arg_count` of them.
    pub args: *const mlxrocm_arg,
    /// Elements of `args`, at most 48.
    pub arg_count: usize,
    /// Arguments of kind BUFFER that the kernel does not take but reaches otherwise, through an address in memory; `touched_count` of them.
    pub touched: *const mlxrocm_arg,
    /// Elements of `touched`.
    pub touched_count: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_launch>() == 64);
    assert!(core::mem::offset_of!(mlxrocm_launch, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_launch, dynamic_lds) == 4);
    assert!(core::mem::offset_of!(mlxrocm_launch, grid) == 8);
    assert!(core::mem::offset_of!(mlxrocm_launch, block) == 20);
    assert!(core::mem::offset_of!(mlxrocm_launch, args) == 32);
    assert!(core::mem::offset_of!(mlxrocm_launch, arg_count) == 40);
    assert!(core::mem::offset_of!(mlxrocm_launch, touched) == 48);
    assert!(core::mem::offset_of!(mlxrocm_launch, touched_count) == 56);
};

/// How to compile a source. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_compile_options {
    /// Set by the caller to sizeof(mlxrocm_compile_options).
    pub struct_size: u32,
    /// Elements of `flags`.
    pub flag_count: u32,
    /// The compiler's options, UTF-8 like "-DROWS=4".
    pub flags: *const *const c_char,
    /// Bytes of each of `flags`; NULL: they are NUL-terminated.
    pub flag_lengths: *const usize,
    /// What the source is called in messages, UTF-8; NULL: "kernel source".
    pub name: *const c_char,
    /// Bytes of `name`; 0: it is NUL-terminated.
    pub name_length: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_compile_options>() == 40);
    assert!(core::mem::offset_of!(mlxrocm_compile_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_compile_options, flag_count) == 4);
    assert!(core::mem::offset_of!(mlxrocm_compile_options, flags) == 8);
    assert!(core::mem::offset_of!(mlxrocm_compile_options, flag_lengths) == 16);
    assert!(core::mem::offset_of!(mlxrocm_compile_options, name) == 24);
    assert!(core::mem::offset_of!(mlxrocm_compile_options, name_length) == 32);
};

/// Facts about a kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_kernel_info {
    /// Set by the caller to sizeof(mlxrocm_kernel_info).
    pub struct_size: u32,
    /// Vector registers of a work item.
    pub registers: u32,
    /// Bytes of local memory that it declares.
    pub lds_bytes: u32,
    /// Bytes of private memory of a work item: arrays, and registers that did not fit.
    pub scratch_bytes: u32,
    /// Work items that one block of it may have.
    pub max_block_threads: u32,
    /// Work items of a wave (a warp) on its device: 32 or 64.
    pub wave_size: u32,
    /// Its name; borrowed until the kernel is freed.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_kernel_info>() == 40);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, registers) == 4);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, lds_bytes) == 8);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, scratch_bytes) == 12);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, max_block_threads) == 16);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, wave_size) == 20);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, name) == 24);
    assert!(core::mem::offset_of!(mlxrocm_kernel_info, name_length) == 32);
};

/// Facts about a recorded program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_program_info {
    /// Set by the caller to sizeof(mlxrocm_program_info).
    pub struct_size: u32,
    /// How the next run goes: MLXROCM_PROGRAM_DIRECT or MLXROCM_PROGRAM_GRAPH.
    pub mode: u32,
    /// Why: one of MLXROCM_REASON_...
    pub reason: u32,
    /// COMPARED: 1 if replays gave the same bits as direct launches.
    pub same_bits: u32,
    /// Launches, copies and fills.
    pub nodes: u64,
    /// Pairs of them of which one must wait for the other, without those that others imply.
    pub edges: u64,
    /// COMPARED: nanoseconds of a direct run of the program that was compared.
    pub direct_ns: u64,
    /// COMPARED: nanoseconds of a replay of that program.
    pub graph_ns: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_program_info>() == 48);
    assert!(core::mem::offset_of!(mlxrocm_program_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_program_info, mode) == 4);
    assert!(core::mem::offset_of!(mlxrocm_program_info, reason) == 8);
    assert!(core::mem::offset_of!(mlxrocm_program_info, same_bits) == 12);
    assert!(core::mem::offset_of!(mlxrocm_program_info, nodes) == 16);
    assert!(core::mem::offset_of!(mlxrocm_program_info, edges) == 24);
    assert!(core::mem::offset_of!(mlxrocm_program_info, direct_ns) == 32);
    assert!(core::mem::offset_of!(mlxrocm_program_info, graph_ns) == 40);
};

/// How to load a model. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_model_options {
    /// Set by the caller to sizeof(mlxrocm_model_options).
    pub struct_size: u32,
    /// CPU threads, at most 1024; 0: one for each CPU that this process may run on.
    pub threads: u32,
    /// Nullable; hears how far loading is.
    pub progress: mlxrocm_progress_callback,
    /// Nullable, passed to `progress`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` before mlxrocm_model_load returns, unless this struct cannot be read (NULL, a wrong struct_size).
    pub user_data_free: mlxrocm_user_data_free,
    /// Nullable; the device that runs the model, borrowed for the call: a GPU or the CPU, as mlxrocm_device_open gave it (the only place where devices have numbers), and an error if it cannot. NULL: the best GPU that passes a short self-test and takes the model, one that holds all of it before others, else the CPU; the log says which.
    pub device: *const mlxrocm_device,
    /// The most bytes of a GPU's memory that weights take. What is more stays in host memory, and kernels read it over the bus, which is slow: first a table of embeddings, then experts, then other matrices, of each kind the last layers' first. Experts of up to 16 rows are computed there by `threads` threads where that is found to be faster when the model is loaded. The log says what lies where, and which of both was chosen. KV caches and what a session computes in come on top (mlxrocm_device_set_memory_limit). 0: all of them lie on the GPU if a session with default options fits beside them under its limit, else as many as leave room for one. All of them, or it is an error, where that cannot be: nothing would be left on the GPU, or host memory does not suffice; on a GPU that shares the host's memory; and without `device` if more than a quarter of the weights that a token reads would come over the bus. UINT64_MAX: all, whatever a session needs.
    pub gpu_weight_bytes: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_model_options>() == 48);
    assert!(core::mem::offset_of!(mlxrocm_model_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_model_options, threads) == 4);
    assert!(core::mem::offset_of!(mlxrocm_model_options, progress) == 8);
    assert!(core::mem::offset_of!(mlxrocm_model_options, user_data) == 16);
    assert!(core::mem::offset_of!(mlxrocm_model_options, user_data_free) == 24);
    assert!(core::mem::offset_of!(mlxrocm_model_options, device) == 32);
    assert!(core::mem::offset_of!(mlxrocm_model_options, gpu_weight_bytes) == 40);
};

/// Facts about a loaded model. Strings are borrowed until the model is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_model_info {
    /// Set by the caller to sizeof(mlxrocm_model_info).
    pub struct_size: u32,
    /// Transformer blocks.
    pub layers: u32,
    /// "llama", "qwen3", "gemma3" and so on.
    pub family: *const c_char,
    /// Bytes of `family` without the NUL.
    pub family_length: usize,
    /// The name the file gives itself, or the file's name.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
    /// What most of the weights are stored as, e.g. "Q4_1" or "affine 4-bit g64".
    pub quantization: *const c_char,
    /// Bytes of `quantization` without the NUL.
    pub quantization_length: usize,
    /// Weights in all tensors used.
    pub parameters: u64,
    /// Bytes of the file or files that hold them.
    pub weight_bytes: u64,
    /// Tokens of context the model was trained for.
    pub context_length: u64,
    /// Rows of the embedding table; logits have this many columns.
    pub vocab_size: u64,
    /// Width of the residual stream.
    pub hidden_size: u64,
    /// Bytes of KV cache that one token takes in a session with MLXROCM_KV_F16.
    pub kv_bytes_per_token: u64,
    /// Seconds that loading took.
    pub load_seconds: f64,
    /// Bytes of matrices in a GPU's memory; 0 on the CPU.
    pub gpu_weight_bytes: u64,
    /// Bytes of matrices in host memory that a GPU reads over the bus (mlxrocm_model_options.gpu_weight_bytes).
    pub host_weight_bytes: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_model_info>() == 128);
    assert!(core::mem::offset_of!(mlxrocm_model_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_model_info, layers) == 4);
    assert!(core::mem::offset_of!(mlxrocm_model_info, family) == 8);
    assert!(core::mem::offset_of!(mlxrocm_model_info, family_length) == 16);
    assert!(core::mem::offset_of!(mlxrocm_model_info, name) == 24);
    assert!(core::mem::offset_of!(mlxrocm_model_info, name_length) == 32);
    assert!(core::mem::offset_of!(mlxrocm_model_info, quantization) == 40);
    assert!(core::mem::offset_of!(mlxrocm_model_info, quantization_length) == 48);
    assert!(core::mem::offset_of!(mlxrocm_model_info, parameters) == 56);
    assert!(core::mem::offset_of!(mlxrocm_model_info, weight_bytes) == 64);
    assert!(core::mem::offset_of!(mlxrocm_model_info, context_length) == 72);
    assert!(core::mem::offset_of!(mlxrocm_model_info, vocab_size) == 80);
    assert!(core::mem::offset_of!(mlxrocm_model_info, hidden_size) == 88);
    assert!(core::mem::offset_of!(mlxrocm_model_info, kv_bytes_per_token) == 96);
    assert!(core::mem::offset_of!(mlxrocm_model_info, load_seconds) == 104);
    assert!(core::mem::offset_of!(mlxrocm_model_info, gpu_weight_bytes) == 112);
    assert!(core::mem::offset_of!(mlxrocm_model_info, host_weight_bytes) == 120);
};

/// A tensor of a model file. Pointers are borrowed until the model file is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_tensor_info {
    /// Set by the caller to sizeof(mlxrocm_tensor_info).
    pub struct_size: u32,
    /// Elements of `shape`.
    pub rank: u32,
    /// Its name in the file.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
    /// How the file spells the format of its numbers: "Q4_K", "BF16", "U32" and so on.
    pub format: *const c_char,
    /// Bytes of `format` without the NUL.
    pub format_length: usize,
    /// `rank` sizes, outermost first (GGUF files store them the other way round); never NULL.
    pub shape: *const i64,
    /// Bytes of the file that hold it; 0 also of a format whose size is not known.
    pub bytes: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_tensor_info>() == 56);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, rank) == 4);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, name) == 8);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, name_length) == 16);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, format) == 24);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, format_length) == 32);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, shape) == 40);
    assert!(core::mem::offset_of!(mlxrocm_tensor_info, bytes) == 48);
};

/// How to quantize a model. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_quantize_options {
    /// Set by the caller to sizeof(mlxrocm_quantize_options).
    pub struct_size: u32,
    /// Bits of a weight: 2, 3, 4, 5, 6 or 8 in mode "affine"; 0: the mode's usual ones (4, 8 of "mxfp8").
    pub bits: u32,
    /// Weights that share a scale: 32, 64 or 128 in mode "affine"; 0: the mode's usual ones (64, 32 of "mxfp4" and "mxfp8", 16 of "nvfp4"). Matrices whose rows are no whole groups stay as they are.
    pub group_size: u32,
    /// CPU threads, at most 1024; 0: one for each CPU that this process may run on.
    pub threads: u32,
    /// Nullable: "affine" (the default), "mxfp4", "mxfp8" or "nvfp4"; borrowed for the call.
    pub mode: *const c_char,
    /// Bytes of `mode`; 0 or MLXROCM_NUL: it ends at its NUL.
    pub mode_length: usize,
    /// Nullable: "mixed_2_6", "mixed_3_4", "mixed_3_6" or "mixed_4_6", which give some layers' v_proj and down_proj and the output head the second number of bits and all else the first, as in mlx-lm; borrowed for the call.
    pub recipe: *const c_char,
    /// Bytes of `recipe`; 0 or MLXROCM_NUL: it ends at its NUL.
    pub recipe_length: usize,
    /// Nullable: "float16", "bfloat16" or "float32", the type of scales and of what is not quantized. NULL: what the config names, else the source's.
    pub dtype: *const c_char,
    /// Bytes of `dtype`; 0 or MLXROCM_NUL: it ends at its NUL.
    pub dtype_length: usize,
    /// What modules become by their paths, e.g. "*.v_proj=6", "lm_head=8:32" (bits and group size), "*.mlp.*=mxfp4" or "model.embed_tokens=none" (stays as it is); '*' stands for any characters, '?' for one. The first rule that matches counts, before the recipe. Borrowed for the call; ignored where `rules_count` is 0.
    pub rules: *const *const c_char,
    /// Bytes of each of `rules`; NULL: they are NUL-terminated.
    pub rules_lengths: *const usize,
    /// Strings in `rules`.
    pub rules_count: usize,
    /// Nullable; hears how far it is, in bytes of the source.
    pub progress: mlxrocm_progress_callback,
    /// Nullable, passed to `progress`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` before mlxrocm_model_quantize returns, unless this struct cannot be read (NULL, a wrong struct_size).
    pub user_data_free: mlxrocm_user_data_free,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_quantize_options>() == 112);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, bits) == 4);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, group_size) == 8);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, threads) == 12);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, mode) == 16);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, mode_length) == 24);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, recipe) == 32);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, recipe_length) == 40);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, dtype) == 48);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, dtype_length) == 56);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, rules) == 64);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, rules_lengths) == 72);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, rules_count) == 80);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, progress) == 88);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, user_data) == 96);
    assert!(core::mem::offset_of!(mlxrocm_quantize_options, user_data_free) == 104);
};

/// What mlxrocm_model_quantize made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_quantize_result {
    /// Set by the caller to sizeof(mlxrocm_quantize_result).
    pub struct_size: u32,
    /// Files of tensors.
    pub files: u32,
    /// Numbers in all tensors.
    pub parameters: u64,
    /// Bytes of all tensors of the result.
    pub bytes: u64,
    /// Bytes of the source that an interrupted run had done before.
    pub resumed_bytes: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_quantize_result>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_quantize_result, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_quantize_result, files) == 4);
    assert!(core::mem::offset_of!(mlxrocm_quantize_result, parameters) == 8);
    assert!(core::mem::offset_of!(mlxrocm_quantize_result, bytes) == 16);
    assert!(core::mem::offset_of!(mlxrocm_quantize_result, resumed_bytes) == 24);
};

/// Facts about a tokenizer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_tokenizer_info {
    /// Set by the caller to sizeof(mlxrocm_tokenizer_info).
    pub struct_size: u32,
    /// Token ids are 0 to `vocab_size` - 1.
    pub vocab_size: u32,
    /// The token that begins a text, or MLXROCM_NO_TOKEN.
    pub bos: u32,
    /// The token that ends a text, or MLXROCM_NO_TOKEN.
    pub eos: u32,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_tokenizer_info>() == 16);
    assert!(core::mem::offset_of!(mlxrocm_tokenizer_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_tokenizer_info, vocab_size) == 4);
    assert!(core::mem::offset_of!(mlxrocm_tokenizer_info, bos) == 8);
    assert!(core::mem::offset_of!(mlxrocm_tokenizer_info, eos) == 12);
};

/// One message of a chat. This struct never grows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_message {
    /// "system", "user", "assistant", "tool"...; UTF-8.
    pub role: *const c_char,
    /// Bytes of `role`; 0: it is NUL-terminated.
    pub role_length: usize,
    /// The text, UTF-8; bytes that are not UTF-8 become U+FFFD.
    pub content: *const c_char,
    /// Bytes of `content`; 0: it is NUL-terminated.
    pub content_length: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_message>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_message, role) == 0);
    assert!(core::mem::offset_of!(mlxrocm_message, role_length) == 8);
    assert!(core::mem::offset_of!(mlxrocm_message, content) == 16);
    assert!(core::mem::offset_of!(mlxrocm_message, content_length) == 24);
};

/// Limits of a session. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_session_options {
    /// Set by the caller to sizeof(mlxrocm_session_options).
    pub struct_size: u32,
    /// Tokens of context that a request may use, its prompt included; 0: the model's, at most 8192. More than the model was trained for works, with a warning in the log: what is written beyond may be poor. Where its RoPE would follow each text's length there (`rope_scaling` `dynamic`), it is MLXROCM_ERROR_INVALID_ARGUMENT.
    pub context: u32,
    /// Requests that run at once, at most 1,024; more wait for their turn; 0: 8.
    pub max_requests: u32,
    /// Prompt tokens that are run at once; 0: 512, on GPUs 1,024, of mixtures of experts on NVIDIA 2,048.
    pub prefill_chunk: u32,
    /// Tokens of KV cache that all requests share; when it is full, requests wait for each other. 0: a context for each of `max_requests`, but no more bytes than the model's weights have (or 256 MiB, if that is more) and than a quarter of the free memory of the model's device; one context in any case.
    pub kv_tokens: u64,
    /// How the KV cache keeps keys and values: one of MLXROCM_KV_...; 0: MLXROCM_KV_F16.
    pub kv_type: u64,
    /// 1: what a request gives does not depend, to the bit, on what runs beside it (the same seed gives the same tokens) with any number of requests and beside any prompts, on GPUs too. 0: on GPUs so up to 16 requests that run, and not beside another request's prompt; faster with more of them. On the CPU it is always so. With 1 a GPU runs prompts one after the other, and single tokens of 16 requests at a time; a request waits until there is room for all tokens that it may have (set its max_tokens), also while the callers of those that run do not read; prompts that begin alike are computed each for itself; and states are neither saved nor loaded.
    pub batch_invariant: u64,
    /// 1: the next tokens of a request are guessed from what followed the same few tokens earlier in it, its prompt included, and checked in one step: faster where texts are repeated, as in code that is edited, quoted sources and lists. What is generated stays the same, to the token, wherever it does not depend on what runs beside it (`batch_invariant`). How many are guessed depends on how often guesses were right and on how long steps take. None are beside another request's prompt, and none in a batch-invariant session of a model with recurrent layers. 0: nothing is looked up.
    pub prompt_lookup: u64,
    /// A smaller model with the same tokens, on the same or another device, which writes guesses that are checked in the same way: faster where it is right often and much smaller. With `prompt_lookup` it does so where there is no long match. Borrowed for the call; the session keeps what it needs of it. NULL: none.
    pub draft_model: *const mlxrocm_model,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_session_options>() == 56);
    assert!(core::mem::offset_of!(mlxrocm_session_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_session_options, context) == 4);
    assert!(core::mem::offset_of!(mlxrocm_session_options, max_requests) == 8);
    assert!(core::mem::offset_of!(mlxrocm_session_options, prefill_chunk) == 12);
    assert!(core::mem::offset_of!(mlxrocm_session_options, kv_tokens) == 16);
    assert!(core::mem::offset_of!(mlxrocm_session_options, kv_type) == 24);
    assert!(core::mem::offset_of!(mlxrocm_session_options, batch_invariant) == 32);
    assert!(core::mem::offset_of!(mlxrocm_session_options, prompt_lookup) == 40);
    assert!(core::mem::offset_of!(mlxrocm_session_options, draft_model) == 48);
};

/// What a session is and does right now. A request counts from mlxrocm_session_submit until its
/// MLXROCM_EVENT_FINISHED can be read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_session_info {
    /// Set by the caller to sizeof(mlxrocm_session_info).
    pub struct_size: u32,
    /// Tokens of context that a request may use, its prompt included.
    pub context: u32,
    /// Requests that run.
    pub running: u64,
    /// Requests that wait for their turn.
    pub waiting: u64,
    /// Tokens that the KV cache holds.
    pub kv_tokens: u64,
    /// Of these, tokens in pages that running requests hold.
    pub kv_used: u64,
    /// Of these, tokens in pages that are kept in case a prompt begins like an earlier one; they are given up when room is needed.
    pub kv_cached: u64,
    /// Bytes of memory that the KV cache takes.
    pub kv_bytes: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_session_info>() == 56);
    assert!(core::mem::offset_of!(mlxrocm_session_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_session_info, context) == 4);
    assert!(core::mem::offset_of!(mlxrocm_session_info, running) == 8);
    assert!(core::mem::offset_of!(mlxrocm_session_info, waiting) == 16);
    assert!(core::mem::offset_of!(mlxrocm_session_info, kv_tokens) == 24);
    assert!(core::mem::offset_of!(mlxrocm_session_info, kv_used) == 32);
    assert!(core::mem::offset_of!(mlxrocm_session_info, kv_cached) == 40);
    assert!(core::mem::offset_of!(mlxrocm_session_info, kv_bytes) == 48);
};

/// A prompt and how to continue it. Zero is each field's default: greedy, until the model stops.
///
/// The prompt is exactly one of `tokens`, `text` and a chat: `messages`, `chat_json` or both.
///
/// How a token is chosen, in this order, from the model's logits (of ids that the tokenizer has; padding of
/// the embedding is never chosen):
/// 1. `logits_processor` may change them, then the biases are added;
/// 2. logits of recent tokens get the repetition penalty, then lose the presence and frequency penalties;
/// 3. `json_schema`, `regex` or `grammar` leaves the tokens that may come next;
/// 4. `temperature` 0 or `top_k` 1: the largest logit, of equal ones the lowest id, and that is all;
/// 5. `top_k` keeps the k largest logits;
/// 6. `top_p` keeps the fewest of these that together have that share of their probability, the token that
///    reaches it included;
/// 7. `min_p` drops those whose probability is less than so much of the largest one;
/// 8. the rest is drawn from at `temperature`, which 6 and 7 do not look at: they take it as 1.
///
/// What the generated text must be (`json_schema`, `regex` or `grammar`) holds from its first token on. A token that
/// ends the generation is chosen only where the text is complete; where nothing may follow, the generation ends with
/// MLXROCM_FINISH_GRAMMAR. Texts that end otherwise (MLXROCM_FINISH_LENGTH, stop strings and stop tokens that are text
/// themselves, cancelling) are the beginning of one. What the field says is compiled in the call that takes the
/// request; the first such request of a model takes longer, as its tokens are sorted. What the model is asked for
/// should say the same: it knows nothing of the field. On GPUs such requests are as with a logits processor: their
/// tokens are chosen by the host. Control tokens are no text, and are chosen only where a grammar names them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_request {
    /// Set by the caller to sizeof(mlxrocm_request).
    pub struct_size: u32,
    /// MLXROCM_REQUEST_... together.
    pub flags: u32,
    /// The prompt as token ids, run as they are; `token_count` of them. NULL: none.
    pub tokens: *const u32,
    /// Ids in `tokens`; 0: none.
    pub token_count: usize,
    /// The prompt as plain text, UTF-8; encoded with MLXROCM_ENCODE_ADD_SPECIAL. NULL: none.
    pub text: *const c_char,
    /// Bytes of `text`; 0: it is NUL-terminated.
    pub text_length: usize,
    /// The prompt as a chat of `message_count` messages, which the model answers: written with the model's chat template. Special tokens spelled out in a message stay text. NULL: none.
    pub messages: *const mlxrocm_message,
    /// Messages in `messages`; 0: none.
    pub message_count: usize,
    /// Strings that end the generation and are not part of its text; UTF-8. Empty ones end nothing.
    pub stop: *const *const c_char,
    /// Bytes of each of `stop`; NULL: they are NUL-terminated.
    pub stop_lengths: *const usize,
    /// Strings in `stop`.
    pub stop_count: usize,
    /// Tokens that end the generation besides the model's own.
    pub stop_tokens: *const u32,
    /// Ids in `stop_tokens`.
    pub stop_token_count: usize,
    /// Tokens whose logits are changed.
    pub bias_tokens: *const u32,
    /// What is added to the logit of the token of the same index; `bias_count` numbers.
    pub bias_values: *const f32,
    /// Elements of `bias_tokens` and of `bias_values`.
    pub bias_count: usize,
    /// Same seed, same tokens; for temperatures above 0.
    pub seed: u64,
    /// Tokens to generate at most; 0: until the context is full.
    pub max_tokens: u32,
    /// 0: greedy, the most probable token; else probabilities are sharpened below 1 and flattened above 1.
    pub temperature: f32,
    /// Only the most probable `top_k` tokens; 0: off.
    pub top_k: u32,
    /// Only the most probable tokens that together have this probability; 0 or 1: off.
    pub top_p: f32,
    /// Only tokens at least this times as probable as the most probable one; 0: off.
    pub min_p: f32,
    /// Divides positive and multiplies negative logits of recent tokens; 0 or 1: off.
    pub repetition_penalty: f32,
    /// Subtracted once from the logit of every recent token; 0: off.
    pub presence_penalty: f32,
    /// Subtracted from the logit of a token for each time it occurred recently; 0: off.
    pub frequency_penalty: f32,
    /// Tokens that count as recent, the prompt's included; 0: 64.
    pub penalty_window: u32,
    /// n above 0: events tell the log-probability of the token and the n most probable tokens; at most 20. They are the model's own: before biases, penalties, temperature and every filter, so that they do not depend on how tokens are chosen, and a chosen token may be none of the n.
    pub logprobs: u32,
    /// Nullable; called before each token is chosen. See mlxrocm_logits_processor.
    pub logits_processor: mlxrocm_logits_processor,
    /// Passed to `logits_processor`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` when it is not needed any more, on any thread: before the generation's MLXROCM_EVENT_FINISHED can be read, or before a call that fails with this request returns (unless struct_size cannot be read).
    pub user_data_free: mlxrocm_user_data_free,
    /// The prompt as a chat in JSON, UTF-8: an object of `messages`, `tools` and further variables of the template, as in mlxrocm_chat_template_render. Special tokens spelled out in its texts stay text. With `messages` it has none.
    pub chat_json: *const c_char,
    /// Bytes of `chat_json`; 0: it is NUL-terminated.
    pub chat_json_length: usize,
    /// A JSON schema, UTF-8: the generated text is JSON that fits it. `{"type": "object"}`: any object. Keywords of JSON schemas that llguidance cannot follow (`not`, `if`, `uniqueItems`, `contains` …) and formats that it does not know are an error that names them; other words say nothing. Between the parts are at most a space, or two new lines and 20 spaces or tabs, unless the schema has llguidance's `x-guidance`. NULL: none. At most one of this, `regex` and `grammar`.
    pub json_schema: *const c_char,
    /// Bytes of `json_schema`; 0: it is NUL-terminated.
    pub json_schema_length: usize,
    /// A regular expression that matches all of the generated text, UTF-8; Rust's syntax, but word boundaries are an error. NULL: none.
    pub regex: *const c_char,
    /// Bytes of `regex`; 0: it is NUL-terminated.
    pub regex_length: usize,
    /// A grammar whose rule `start` derives the generated text, UTF-8; Lark's notation, as llguidance reads it. NULL: none.
    pub grammar: *const c_char,
    /// Bytes of `grammar`; 0: it is NUL-terminated.
    pub grammar_length: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_request>() == 256);
    assert!(core::mem::offset_of!(mlxrocm_request, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_request, flags) == 4);
    assert!(core::mem::offset_of!(mlxrocm_request, tokens) == 8);
    assert!(core::mem::offset_of!(mlxrocm_request, token_count) == 16);
    assert!(core::mem::offset_of!(mlxrocm_request, text) == 24);
    assert!(core::mem::offset_of!(mlxrocm_request, text_length) == 32);
    assert!(core::mem::offset_of!(mlxrocm_request, messages) == 40);
    assert!(core::mem::offset_of!(mlxrocm_request, message_count) == 48);
    assert!(core::mem::offset_of!(mlxrocm_request, stop) == 56);
    assert!(core::mem::offset_of!(mlxrocm_request, stop_lengths) == 64);
    assert!(core::mem::offset_of!(mlxrocm_request, stop_count) == 72);
    assert!(core::mem::offset_of!(mlxrocm_request, stop_tokens) == 80);
    assert!(core::mem::offset_of!(mlxrocm_request, stop_token_count) == 88);
    assert!(core::mem::offset_of!(mlxrocm_request, bias_tokens) == 96);
    assert!(core::mem::offset_of!(mlxrocm_request, bias_values) == 104);
    assert!(core::mem::offset_of!(mlxrocm_request, bias_count) == 112);
    assert!(core::mem::offset_of!(mlxrocm_request, seed) == 120);
    assert!(core::mem::offset_of!(mlxrocm_request, max_tokens) == 128);
    assert!(core::mem::offset_of!(mlxrocm_request, temperature) == 132);
    assert!(core::mem::offset_of!(mlxrocm_request, top_k) == 136);
    assert!(core::mem::offset_of!(mlxrocm_request, top_p) == 140);
    assert!(core::mem::offset_of!(mlxrocm_request, min_p) == 144);
    assert!(core::mem::offset_of!(mlxrocm_request, repetition_penalty) == 148);
    assert!(core::mem::offset_of!(mlxrocm_request, presence_penalty) == 152);
    assert!(core::mem::offset_of!(mlxrocm_request, frequency_penalty) == 156);
    assert!(core::mem::offset_of!(mlxrocm_request, penalty_window) == 160);
    assert!(core::mem::offset_of!(mlxrocm_request, logprobs) == 164);
    assert!(core::mem::offset_of!(mlxrocm_request, logits_processor) == 168);
    assert!(core::mem::offset_of!(mlxrocm_request, user_data) == 176);
    assert!(core::mem::offset_of!(mlxrocm_request, user_data_free) == 184);
    assert!(core::mem::offset_of!(mlxrocm_request, chat_json) == 192);
    assert!(core::mem::offset_of!(mlxrocm_request, chat_json_length) == 200);
    assert!(core::mem::offset_of!(mlxrocm_request, json_schema) == 208);
    assert!(core::mem::offset_of!(mlxrocm_request, json_schema_length) == 216);
    assert!(core::mem::offset_of!(mlxrocm_request, regex) == 224);
    assert!(core::mem::offset_of!(mlxrocm_request, regex_length) == 232);
    assert!(core::mem::offset_of!(mlxrocm_request, grammar) == 240);
    assert!(core::mem::offset_of!(mlxrocm_request, grammar_length) == 248);
};

/// What mlxrocm_session_embed gives. Zero is each field's default: the hidden state of every token as it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_embed_options {
    /// Set by the caller to sizeof(mlxrocm_embed_options).
    pub struct_size: u32,
    /// One of MLXROCM_POOLING_...; 0: MLXROCM_POOLING_NONE. What a model was trained for is said by whoever made it: language models know most in the last token.
    pub pooling: u32,
    /// Without pooling: `position_count` positions of tokens, from 0, each larger than the one before.
    pub positions: *const u32,
    /// Elements of `positions`; 0: all tokens.
    pub position_count: usize,
    /// MLXROCM_EMBED_NORMALIZE or 0.
    pub flags: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_embed_options>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_embed_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_embed_options, pooling) == 4);
    assert!(core::mem::offset_of!(mlxrocm_embed_options, positions) == 8);
    assert!(core::mem::offset_of!(mlxrocm_embed_options, position_count) == 16);
    assert!(core::mem::offset_of!(mlxrocm_embed_options, flags) == 24);
};

/// A token and its natural-log probability. This struct never grows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_token_logprob {
    /// The token.
    pub token: u32,
    /// ln p: the natural logarithm of the softmax of the model's logits, as they are before biases, penalties, temperature and filters (see mlxrocm_request).
    pub logprob: f32,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_token_logprob>() == 8);
    assert!(core::mem::offset_of!(mlxrocm_token_logprob, token) == 0);
    assert!(core::mem::offset_of!(mlxrocm_token_logprob, logprob) == 4);
};

/// Something that happened. Fields that do not belong to its kind are zero. What the pointers point
/// to is borrowed until the next mlxrocm_generation_next on the same generation or until that is
/// freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_event {
    /// Set by the caller to sizeof(mlxrocm_event).
    pub struct_size: u32,
    /// One of MLXROCM_EVENT_...
    pub kind: u32,
    /// TOKEN, FINISHED: text that became complete, NUL-terminated UTF-8; may be empty. Never NULL. All texts of a generation together are its text.
    pub text: *const c_char,
    /// Bytes of `text` without the NUL.
    pub text_length: usize,
    /// TOKEN: the id.
    pub token: u32,
    /// TOKEN: its natural-log probability by the model (see mlxrocm_token_logprob), where the request asked for it.
    pub logprob: f32,
    /// TOKEN: the most probable tokens, best first; `top_count` of them.
    pub top: *const mlxrocm_token_logprob,
    /// TOKEN: elements of `top`; 0 where the request did not ask for them.
    pub top_count: usize,
    /// PROMPT: prompt tokens run so far.
    pub prompt_done: u64,
    /// PROMPT: prompt tokens to run.
    pub prompt_total: u64,
    /// FINISHED: one of MLXROCM_FINISH_...
    pub finish_reason: u32,
    /// FINISHED with MLXROCM_FINISH_ERROR: the error's status.
    pub error_status: mlxrocm_status,
    /// FINISHED with MLXROCM_FINISH_ERROR: the error's message; else NULL.
    pub error_message: *const c_char,
    /// Bytes of `error_message` without the NUL.
    pub error_message_length: usize,
    /// FINISHED: tokens of the prompt.
    pub prompt_tokens: u64,
    /// FINISHED: prompt tokens that were in the KV cache already.
    pub cached_tokens: u64,
    /// FINISHED: tokens generated, a stop token included.
    pub generated_tokens: u64,
    /// FINISHED: seconds from the start of the prompt to the first token.
    pub prompt_seconds: f64,
    /// FINISHED: seconds from the first token to the last.
    pub decode_seconds: f64,
    /// FINISHED: tokens that were guessed (mlxrocm_session_options.prompt_lookup).
    pub guessed_tokens: u64,
    /// FINISHED: of these, the ones that the model chose too: each saved a step.
    pub accepted_tokens: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_event>() == 144);
    assert!(core::mem::offset_of!(mlxrocm_event, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_event, kind) == 4);
    assert!(core::mem::offset_of!(mlxrocm_event, text) == 8);
    assert!(core::mem::offset_of!(mlxrocm_event, text_length) == 16);
    assert!(core::mem::offset_of!(mlxrocm_event, token) == 24);
    assert!(core::mem::offset_of!(mlxrocm_event, logprob) == 28);
    assert!(core::mem::offset_of!(mlxrocm_event, top) == 32);
    assert!(core::mem::offset_of!(mlxrocm_event, top_count) == 40);
    assert!(core::mem::offset_of!(mlxrocm_event, prompt_done) == 48);
    assert!(core::mem::offset_of!(mlxrocm_event, prompt_total) == 56);
    assert!(core::mem::offset_of!(mlxrocm_event, finish_reason) == 64);
    assert!(core::mem::offset_of!(mlxrocm_event, error_status) == 68);
    assert!(core::mem::offset_of!(mlxrocm_event, error_message) == 72);
    assert!(core::mem::offset_of!(mlxrocm_event, error_message_length) == 80);
    assert!(core::mem::offset_of!(mlxrocm_event, prompt_tokens) == 88);
    assert!(core::mem::offset_of!(mlxrocm_event, cached_tokens) == 96);
    assert!(core::mem::offset_of!(mlxrocm_event, generated_tokens) == 104);
    assert!(core::mem::offset_of!(mlxrocm_event, prompt_seconds) == 112);
    assert!(core::mem::offset_of!(mlxrocm_event, decode_seconds) == 120);
    assert!(core::mem::offset_of!(mlxrocm_event, guessed_tokens) == 128);
    assert!(core::mem::offset_of!(mlxrocm_event, accepted_tokens) == 136);
};

/// How to load a network. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_chess_net_options {
    /// Set by the caller to sizeof(mlxrocm_chess_net_options).
    pub struct_size: u32,
    /// CPU threads, at most 1024; 0: one for each CPU that this process may run on.
    pub threads: u32,
    /// One of MLXROCM_CHESS_POLICY_HEAD_...; the network must have it.
    pub policy_head: u32,
    /// One of MLXROCM_CHESS_VALUE_HEAD_...; the network must have it.
    pub value_head: u32,
    /// Nullable; the device that evaluates, borrowed for the call. NULL: the CPU.
    pub device: *const mlxrocm_device,
    /// One of MLXROCM_CHESS_PRECISION_...
    pub precision: u32,
    /// 0; another number is refused.
    pub reserved: u32,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_chess_net_options>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, threads) == 4);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, policy_head) == 8);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, value_head) == 12);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, device) == 16);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, precision) == 24);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_options, reserved) == 28);
};

/// Facts about a network.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_chess_net_info {
    /// Set by the caller to sizeof(mlxrocm_chess_net_info).
    pub struct_size: u32,
    /// The planes that it takes: 1, 2, 3, 4, 132, 5 or 133, as Leela Chess Zero numbers its formats.
    pub input_format: u32,
    /// One of MLXROCM_CHESS_BODY_...
    pub body: u32,
    /// Residual blocks or encoders.
    pub depth: u32,
    /// Channels of a square.
    pub width: u32,
    /// One of MLXROCM_CHESS_POLICY_CLASSICAL, CONVOLUTION and ATTENTION.
    pub policy: u32,
    /// 1 if it tells chances of draws; 0 if only a value.
    pub has_draws: u32,
    /// 1 if it tells how many plies are left.
    pub has_moves_left: u32,
    /// Weights in the file, those of heads that are not used included.
    pub parameters: u64,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_chess_net_info>() == 40);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, input_format) == 4);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, body) == 8);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, depth) == 12);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, width) == 16);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, policy) == 20);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, has_draws) == 24);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, has_moves_left) == 28);
    assert!(core::mem::offset_of!(mlxrocm_chess_net_info, parameters) == 32);
};

/// A legal move of a position.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_chess_move {
    /// Its place in the policy, below MLXROCM_CHESS_MOVES.
    pub policy_index: u32,
    /// Bytes of `name` without the NUL.
    pub name_length: u32,
    /// UCI's name, NUL-terminated: "e2e4", "e7e8q"; castling as the king's two squares ("e1g1"), in games of Chess960 as the king taking its rook.
    pub name: [c_char; 8],
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_chess_move>() == 16);
    assert!(core::mem::offset_of!(mlxrocm_chess_move, policy_index) == 0);
    assert!(core::mem::offset_of!(mlxrocm_chess_move, name_length) == 4);
    assert!(core::mem::offset_of!(mlxrocm_chess_move, name) == 8);
};

/// What a kernel on arrays is made of. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_kernel_options {
    /// Set by the caller to sizeof(mlxrocm_array_kernel_options).
    pub struct_size: u32,
    /// Not 0: inputs are given as they lie; 0: those that do not lie row after row are copied.
    pub strided: u32,
    /// The kernel's name, a name in C, UTF-8.
    pub name: *const c_char,
    /// Bytes of `name`; 0: it is NUL-terminated.
    pub name_length: usize,
    /// The body of the function in HIP's language, UTF-8; what it sees is said at mlxrocm_array_kernel_new.
    pub source: *const c_char,
    /// Bytes of `source`; 0: it is NUL-terminated.
    pub source_length: usize,
    /// Nullable; what stands before the function, UTF-8.
    pub header: *const c_char,
    /// Bytes of `header`; 0: it is NUL-terminated.
    pub header_length: usize,
    /// Names of the inputs, names in C.
    pub input_names: *const *const c_char,
    /// Bytes of each of `input_names`; NULL: they are NUL-terminated.
    pub input_name_lengths: *const usize,
    /// Elements of `input_names`.
    pub input_count: usize,
    /// Names of the outputs, names in C.
    pub output_names: *const *const c_char,
    /// Bytes of each of `output_names`; NULL: they are NUL-terminated.
    pub output_name_lengths: *const usize,
    /// Elements of `output_names`, at least 1.
    pub output_count: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_array_kernel_options>() == 104);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, strided) == 4);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, name) == 8);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, name_length) == 16);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, source) == 24);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, source_length) == 32);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, header) == 40);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, header_length) == 48);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, input_names) == 56);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, input_name_lengths) == 64);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, input_count) == 72);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, output_names) == 80);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, output_name_lengths) == 88);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_options, output_count) == 96);
};

/// Dtype and shape of an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_type {
    /// `rank` sizes, outermost first.
    pub shape: *const i64,
    /// Elements of `shape`: the number of dimensions.
    pub rank: usize,
    /// An MLXROCM_DTYPE number.
    pub dtype: u32,
    /// 0.
    pub reserved: u32,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_array_type>() == 24);
    assert!(core::mem::offset_of!(mlxrocm_array_type, shape) == 0);
    assert!(core::mem::offset_of!(mlxrocm_array_type, rank) == 8);
    assert!(core::mem::offset_of!(mlxrocm_array_type, dtype) == 16);
    assert!(core::mem::offset_of!(mlxrocm_array_type, reserved) == 20);
};

/// A name in a kernel's source that each call gives a meaning.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_template {
    /// A name in C.
    pub name: *const c_char,
    /// Bytes of `name`; 0: it is NUL-terminated.
    pub name_length: usize,
    /// DTYPE: an MLXROCM_DTYPE number. INT, BOOL: the value.
    pub value: i64,
    /// One of MLXROCM_TEMPLATE_...
    pub kind: u32,
    /// 0.
    pub reserved: u32,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_array_template>() == 32);
    assert!(core::mem::offset_of!(mlxrocm_array_template, name) == 0);
    assert!(core::mem::offset_of!(mlxrocm_array_template, name_length) == 8);
    assert!(core::mem::offset_of!(mlxrocm_array_template, value) == 16);
    assert!(core::mem::offset_of!(mlxrocm_array_template, kind) == 24);
    assert!(core::mem::offset_of!(mlxrocm_array_template, reserved) == 28);
};

/// How a kernel on arrays is called. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_kernel_call {
    /// Set by the caller to sizeof(mlxrocm_array_kernel_call).
    pub struct_size: u32,
    /// Not 0: outputs hold `initial` before; 0: whatever lies there.
    pub has_initial: u32,
    /// The number, as each output's dtype.
    pub initial: f64,
    /// Work items in x, y and z, as in MLX; 0 in y or z is 1. The last blocks are whole: what is beyond must be left alone by the kernel.
    pub grid: [u32; 3],
    /// Work items of a block in x, y and z; 0 in y or z is 1.
    pub block: [u32; 3],
    /// `input_count` arrays, borrowed for the call.
    pub inputs: *const *const mlxrocm_array,
    /// Elements of `inputs`: as many as the kernel has names.
    pub input_count: usize,
    /// Types of the outputs, `output_count` of them, borrowed for the call.
    pub outputs: *const mlxrocm_array_type,
    /// Elements of `outputs`: as many as the kernel has names.
    pub output_count: usize,
    /// Meanings of names, `template_count` of them, borrowed for the call.
    pub templates: *const mlxrocm_array_template,
    /// Elements of `templates`.
    pub template_count: usize,
}
const _: () = {
    use core::mem::size_of;
    assert!(size_of::<mlxrocm_array_kernel_call>() == 88);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, struct_size) == 0);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, has_initial) == 4);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, initial) == 8);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, grid) == 16);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, block) == 28);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, inputs) == 40);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, input_count) == 48);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, outputs) == 56);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, output_count) == 64);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, templates) == 72);
    assert!(core::mem::offset_of!(mlxrocm_array_kernel_call, template_count) == 80);
};

unsafe extern "C" {
    /// The version of the library that runs, as one number: major * 10000 + minor * 100 + patch.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_version() -> u32;

    /// The version of the library that runs, as text: "major.minor.patch".
    ///
    /// - `length`: nullable; receives the bytes of the text, its NUL not counted.
    ///
    /// Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
    pub fn mlxrocm_version_string(length: *mut usize) -> *const c_char;

    /// One line about how the library was built: version, target, devices and formats. For bug reports.
    ///
    /// - `length`: nullable; receives the bytes of the text, its NUL not counted.
    ///
    /// Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
    pub fn mlxrocm_build_info(length: *mut usize) -> *const c_char;

    /// The name of a status, e.g. "MLXROCM_ERROR_IO".
    ///
    /// - `status`: any number; one that is no status gives "MLXROCM_STATUS_UNKNOWN".
    /// - `length`: nullable; receives the bytes of the text, its NUL not counted.
    ///
    /// Returns a string that is borrowed until the process ends, never NULL. Any thread. Since 0.1.
    pub fn mlxrocm_status_name(status: mlxrocm_status, length: *mut usize) -> *const c_char;

    /// The status that the failed function returned.
    ///
    /// - `error`: borrowed; NULL means no error.
    ///
    /// Returns MLXROCM_OK for NULL. Any thread. Since 0.1.
    pub fn mlxrocm_error_status(error: *const mlxrocm_error) -> mlxrocm_status;

    /// One line of UTF-8: what failed, which object it was about, and what to do.
    ///
    /// - `error`: borrowed; NULL means no error.
    /// - `length`: nullable; receives the bytes of the text, its NUL not counted.
    ///
    /// Returns a string that is borrowed until `error` is freed; never NULL, "" for NULL. Any thread.
    /// Since 0.1.
    pub fn mlxrocm_error_message(error: *const mlxrocm_error, length: *mut usize) -> *const c_char;

    /// The long form of a message that has one: several lines of UTF-8, e.g. a compiler's log.
    ///
    /// - `error`: borrowed; NULL means no error.
    /// - `length`: nullable; receives the bytes of the text, its NUL not counted.
    ///
    /// Returns a string that is borrowed until `error` is freed; never NULL, "" where the message says
    /// everything. Any thread. Since 0.1.
    pub fn mlxrocm_error_details(error: *const mlxrocm_error, length: *mut usize) -> *const c_char;

    /// The number that the vendor's driver gave for the failure (HIP or CUDA), where there is one.
    ///
    /// - `error`: borrowed; NULL means no error.
    ///
    /// Returns 0 where there is none. Any thread. Since 0.1.
    pub fn mlxrocm_error_vendor_code(error: *const mlxrocm_error) -> i32;

    /// Frees an error object.
    ///
    /// - `error`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_error_free(error: *mut mlxrocm_error);

    /// Sends the log lines of the whole process to a callback.
    ///
    /// Without a callback nothing is written, unless the environment variable MLXROCM_LOG is error,
    /// warn, info or debug: then lines go to stderr.
    ///
    /// - `level`: one of MLXROCM_LOG_..., lines of that level and more severe ones are sent.
    /// - `callback`: replaces the one before; NULL restores the default.
    /// - `user_data`: nullable, passed to `callback`.
    /// - `user_data_free`: nullable; called exactly once with `user_data`, when the callback is
    ///   replaced and no call of it is running any more, or at once when this call fails or `callback`
    ///   is NULL. A callback that is still set when the process ends is not freed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_log_set_callback(level: u32, callback: mlxrocm_log_callback, user_data: *mut c_void, user_data_free: mlxrocm_user_data_free, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Counts the devices: the CPU, then AMD's GPUs, then NVIDIA's. The vendors' drivers are opened at
    /// the first call; where one is missing its GPUs are not counted, and mlxrocm_device_why_none says
    /// why.
    ///
    /// - `count`: receives the number, at least 1: the CPU is device 0.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_device_count(count: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Says why there is no GPU of a kind on this machine, and what to do about it: the library that is
    /// missing or too old, the permission, the device.
    ///
    /// - `kind`: MLXROCM_DEVICE_HIP or MLXROCM_DEVICE_CUDA.
    /// - `text`: receives one line of UTF-8 and its NUL; "" if there are GPUs of that kind.
    /// - `capacity`: bytes of room in `text`; 0: only measure.
    /// - `needed`: receives the bytes of the text and its NUL, also when they do not fit; nullable
    ///   unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_device_why_none(kind: u32, text: *mut c_char, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Opens a device, to work on it or to run a model on it (mlxrocm_model_options.device).
    ///
    /// - `index`: 0 is the CPU; GPUs follow from 1 up to the count, in the order of
    ///   mlxrocm_device_count. Devices have numbers here only: everything else takes the open device.
    /// - `device`: receives the device, owned: free it with mlxrocm_device_free.
    /// - `error`: nullable; receives an owned error object on failure. With no GPU at all it says why.
    ///
    /// Errors: NULL_ARGUMENT, NO_DEVICE, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_device_open(index: usize, device: *mut *mut mlxrocm_device, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a device.
    ///
    /// - `device`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set. Strings are borrowed until the
    ///   device is freed. Free memory is read at each call.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_device_get_info(device: *const mlxrocm_device, info: *mut mlxrocm_device_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a device. What was made on it works on.
    ///
    /// - `device`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_device_free(device: *mut mlxrocm_device);

    /// Reads a device's memory counters. Of the CPU `active` and `peak` are those of the elements of arrays that are the
    /// library's own, in all threads; `cache` is memory of arrays that are gone, kept for new ones (256 MiB at most).
    /// Nothing but the machine's memory is a limit.
    ///
    /// - `device`: borrowed.
    /// - `memory`: receives the counters; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_device_get_memory(device: *const mlxrocm_device, memory: *mut mlxrocm_device_memory, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sets the most device memory that this process uses through the library, and gives back cached
    /// memory that is over it.
    ///
    /// - `device`: borrowed; a GPU.
    /// - `bytes`: the limit of active and cached memory together. A device begins with 85 % of its
    ///   memory, or 80 % if it shares the processor's.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY (more than that is in
    /// use; the limit stays as it was), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_device_set_memory_limit(device: *const mlxrocm_device, bytes: u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sets a device's `peak` counter to what is in use now.
    ///
    /// - `device`: borrowed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_device_reset_peak_memory(device: *const mlxrocm_device, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives a GPU's cached memory back to the driver, except what queued work still uses. May take
    /// long: drivers wait for the device.
    ///
    /// - `device`: borrowed; a GPU.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_FAILED, DEVICE_LOST. Any
    /// thread. Since 0.1.
    pub fn mlxrocm_device_trim(device: *const mlxrocm_device, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sets when programs run as graphs on a GPU; mlxrocm_program_get_info tells what was chosen.
    ///
    /// - `device`: borrowed; a GPU.
    /// - `graphs`: one of MLXROCM_GRAPHS_...
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU). Any thread. Since 0.1.
    pub fn mlxrocm_device_set_graphs(device: *const mlxrocm_device, graphs: u32, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tests a GPU: runs the built-in kernels on random inputs of odd sizes against plain forms on the
    /// processor, compares graph replay with direct launches bit for bit, and measures copies, reads,
    /// launches and allocations. The report is plain text to attach to a bug report. Takes from seconds to
    /// a minute; other work of this process on the device is not disturbed, but makes the measurements
    /// worse.
    ///
    /// - `device`: borrowed; a GPU.
    /// - `options`: borrowed for the call; NULL means defaults.
    /// - `error`: nullable; receives an owned error object on failure. It names the cases that failed.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), SELFTEST_FAILED (the device gives
    /// wrong results), CANCELLED (by the callback), TIMEOUT (the device hangs), OUT_OF_MEMORY,
    /// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_device_selftest(device: *const mlxrocm_device, options: *const mlxrocm_selftest_options, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Allocates a buffer. Its content is undefined.
    ///
    /// - `device`: borrowed; a GPU. The buffer keeps it alive.
    /// - `kind`: MLXROCM_BUFFER_DEVICE or MLXROCM_BUFFER_PINNED.
    /// - `size`: bytes; 0 is fine.
    /// - `buffer`: receives the buffer, owned: free it with mlxrocm_buffer_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY (everything stays
    /// usable), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_buffer_new(device: *const mlxrocm_device, kind: u32, size: u64, buffer: *mut *mut mlxrocm_buffer, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a buffer.
    ///
    /// - `buffer`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_buffer_get_info(buffer: *const mlxrocm_buffer, info: *mut mlxrocm_buffer_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Writes host bytes to a buffer and waits until they are there. It does not wait for work on
    /// streams: where such work uses the same part, wait for it first, or use mlxrocm_stream_write.
    ///
    /// - `buffer`: borrowed.
    /// - `offset`: byte of the buffer to begin at.
    /// - `bytes`: `size` bytes, borrowed for the call.
    /// - `size`: bytes to write; 0 is fine.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, memory of an array), OUT_OF_MEMORY,
    /// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_buffer_write(buffer: *const mlxrocm_buffer, offset: u64, bytes: *const c_void, size: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Reads bytes of a buffer to the host. It does not wait for work on streams: where such work writes
    /// the same part, wait for it first, or use mlxrocm_stream_read.
    ///
    /// - `buffer`: borrowed.
    /// - `offset`: byte of the buffer to begin at.
    /// - `bytes`: receives `size` bytes; on failure their content is undefined.
    /// - `size`: bytes to read; 0 is fine.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer), OUT_OF_MEMORY, DEVICE_FAILED,
    /// DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_buffer_read(buffer: *const mlxrocm_buffer, offset: u64, bytes: *mut c_void, size: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a buffer. Work that was queued with it still has its memory.
    ///
    /// - `buffer`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_buffer_free(buffer: *mut mlxrocm_buffer);

    /// Makes a stream.
    ///
    /// - `device`: borrowed; a GPU. The stream keeps it alive.
    /// - `stream`: receives the stream, owned: free it with mlxrocm_stream_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_FAILED,
    /// DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_stream_new(device: *const mlxrocm_device, stream: *mut *mut mlxrocm_stream, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sleeps until all work queued so far is done.
    ///
    /// - `stream`: borrowed.
    /// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, TIMEOUT (the work goes on: wait again), DEVICE_FAILED (the
    /// first fault of the queued work; mlxrocm_error_vendor_code has the driver's number), DEVICE_LOST.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_stream_wait(stream: *const mlxrocm_stream, timeout_ns: i64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Asks whether all work queued so far is done. A fault of it is kept for the next wait.
    ///
    /// - `stream`: borrowed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Returns MLXROCM_OK when it is done, MLXROCM_PENDING when it is not.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_stream_query(stream: *const mlxrocm_stream, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Marks this point of the queue with an event; an earlier mark of the event is forgotten.
    ///
    /// - `stream`: borrowed.
    /// - `event`: borrowed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (of another driver's device), DEVICE_FAILED, DEVICE_LOST.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_stream_record(stream: *const mlxrocm_stream, event: *const mlxrocm_gpu_event, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Work queued from now on starts after the work before the event's last record, on whatever stream
    /// that was. An event that was never recorded is not waited for.
    ///
    /// - `stream`: borrowed.
    /// - `event`: borrowed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (of another driver's device), DEVICE_FAILED, DEVICE_LOST.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_stream_wait_for(stream: *const mlxrocm_stream, event: *const mlxrocm_gpu_event, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues a write of host bytes to device memory. The bytes are taken before this returns.
    ///
    /// - `stream`: borrowed.
    /// - `buffer`: borrowed; device memory.
    /// - `offset`: byte of the buffer to begin at.
    /// - `bytes`: `size` bytes, borrowed for the call.
    /// - `size`: bytes to write; 0 is fine.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array,
    /// another device), OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_stream_write(stream: *const mlxrocm_stream, buffer: *const mlxrocm_buffer, offset: u64, bytes: *const c_void, size: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Reads device memory to the host, after the work queued so far, and waits for it.
    ///
    /// - `stream`: borrowed.
    /// - `buffer`: borrowed; device memory.
    /// - `offset`: byte of the buffer to begin at.
    /// - `bytes`: receives `size` bytes; on failure their content is undefined.
    /// - `size`: bytes to read; 0 is fine.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, another device),
    /// OUT_OF_MEMORY, and as mlxrocm_stream_wait. Any thread. Since 0.1.
    pub fn mlxrocm_stream_read(stream: *const mlxrocm_stream, buffer: *const mlxrocm_buffer, offset: u64, bytes: *mut c_void, size: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues a copy between two buffers: from device to device, from pinned to device or from device to
    /// pinned memory. The application leaves pinned memory alone until the copy is done.
    ///
    /// - `stream`: borrowed.
    /// - `target`: borrowed.
    /// - `target_offset`: byte of the target to begin at.
    /// - `source`: borrowed; may be the target, if the two parts do not overlap.
    /// - `source_offset`: byte of the source to begin at.
    /// - `size`: bytes to copy; 0 is fine.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, both pinned, a target that is
    /// memory of an array, another device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_stream_copy(stream: *const mlxrocm_stream, target: *const mlxrocm_buffer, target_offset: u64, source: *const mlxrocm_buffer, source_offset: u64, size: u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues a fill of device memory with one byte value.
    ///
    /// - `stream`: borrowed.
    /// - `buffer`: borrowed; device memory.
    /// - `offset`: byte of the buffer to begin at.
    /// - `size`: bytes to fill; 0 is fine.
    /// - `value`: each byte's value.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array,
    /// another device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_stream_fill(stream: *const mlxrocm_stream, buffer: *const mlxrocm_buffer, offset: u64, size: u64, value: u8, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues one launch of a kernel. A program of many launches runs faster than these.
    ///
    /// - `stream`: borrowed.
    /// - `kernel`: borrowed; of the same device.
    /// - `launch`: borrowed for the call.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a block or grid too large, too much local memory, an
    /// argument that is wrong, missing or too much, a write to memory of an array, another device),
    /// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_stream_launch(stream: *const mlxrocm_stream, kernel: *const mlxrocm_kernel, launch: *const mlxrocm_launch, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a stream. Work that was queued on it still runs, and arrays that were given to it stay usable.
    ///
    /// - `stream`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_stream_free(stream: *mut mlxrocm_stream);

    /// Makes an event.
    ///
    /// - `device`: borrowed; a GPU. The event keeps it alive.
    /// - `event`: receives the event, owned: free it with mlxrocm_gpu_event_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_FAILED,
    /// DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_gpu_event_new(device: *const mlxrocm_device, event: *mut *mut mlxrocm_gpu_event, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sleeps until the work before the last record of an event is done; at once if it was never
    /// recorded.
    ///
    /// - `event`: borrowed.
    /// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, TIMEOUT (the work goes on), DEVICE_FAILED (a fault of that
    /// work), DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_gpu_event_wait(event: *const mlxrocm_gpu_event, timeout_ns: i64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Asks whether the work before the last record of an event is done; it is if it was never recorded.
    ///
    /// - `event`: borrowed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Returns MLXROCM_OK when it is done, MLXROCM_PENDING when it is not.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED (a fault of that work), DEVICE_LOST. Any
    /// thread. Since 0.1.
    pub fn mlxrocm_gpu_event_query(event: *const mlxrocm_gpu_event, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The GPU's time between two events that are recorded and done.
    ///
    /// - `earlier`: borrowed.
    /// - `later`: borrowed; of the same device.
    /// - `milliseconds`: receives the time.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not recorded, not done, of different devices),
    /// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_gpu_event_elapsed(earlier: *const mlxrocm_gpu_event, later: *const mlxrocm_gpu_event, milliseconds: *mut f64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees an event. Streams that wait for it still do.
    ///
    /// - `event`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_gpu_event_free(event: *mut mlxrocm_gpu_event);

    /// Compiles kernels from source for a GPU and loads them. The language is HIP's (and CUDA's):
    /// `extern "C" __global__ void name(float *out, unsigned count) { ... }`, without includes. Code that
    /// was compiled before comes from a cache on disk.
    ///
    /// - `device`: borrowed; a GPU. The module keeps it alive.
    /// - `source`: UTF-8, borrowed for the call.
    /// - `source_length`: bytes of `source`, or MLXROCM_NUL.
    /// - `options`: borrowed for the call; NULL means defaults.
    /// - `module`: receives the module, owned: free it with mlxrocm_module_free.
    /// - `error`: nullable; receives an owned error object on failure. If the source does not compile its
    ///   message has the first error, and mlxrocm_error_details the compiler's log.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (the source does not compile), UNSUPPORTED (the CPU; no
    /// compiler on this machine: the message says what to install), INVALID_FILE, OUT_OF_MEMORY,
    /// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_module_compile(device: *const mlxrocm_device, source: *const c_char, source_length: usize, options: *const mlxrocm_compile_options, module: *mut *mut mlxrocm_module, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Loads code that was compiled for a GPU: an ELF code object of its target (AMD), a cubin or PTX
    /// (NVIDIA).
    ///
    /// - `device`: borrowed; a GPU. The module keeps it alive.
    /// - `code`: `size` bytes, borrowed for the call.
    /// - `size`: bytes of `code`, at least 1.
    /// - `module`: receives the module, owned: free it with mlxrocm_module_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (no code for this device), UNSUPPORTED (the
    /// CPU), OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_module_load(device: *const mlxrocm_device, code: *const c_void, size: usize, module: *mut *mut mlxrocm_module, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Finds a kernel of a module.
    ///
    /// - `module`: borrowed; the kernel keeps its code loaded.
    /// - `name`: UTF-8, borrowed for the call; the kernel's name as it is in the code: `extern "C"`.
    /// - `name_length`: bytes of `name`, or MLXROCM_NUL.
    /// - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name), DEVICE_FAILED, DEVICE_LOST.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_module_get_kernel(module: *const mlxrocm_module, name: *const c_char, name_length: usize, kernel: *mut *mut mlxrocm_kernel, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a module. Its kernels and work that was queued with them keep the code loaded.
    ///
    /// - `module`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_module_free(module: *mut mlxrocm_module);

    /// Finds one of the library's own kernels, e.g. "mlxrocm_vector_add_f32". What they take is in the
    /// comments of their sources.
    ///
    /// - `device`: borrowed; a GPU. The kernel keeps it alive.
    /// - `name`: UTF-8, borrowed for the call.
    /// - `name_length`: bytes of `name`, or MLXROCM_NUL.
    /// - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU; no such kernel; none for this device
    /// and no compiler on this machine), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_device_get_kernel(device: *const mlxrocm_device, name: *const c_char, name_length: usize, kernel: *mut *mut mlxrocm_kernel, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a kernel.
    ///
    /// - `kernel`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_kernel_get_info(kernel: *const mlxrocm_kernel, info: *mut mlxrocm_kernel_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a kernel. Work that was queued with it still runs.
    ///
    /// - `kernel`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_kernel_free(kernel: *mut mlxrocm_kernel);

    /// An argument: device memory that the kernel reads and writes. Set `size` of the result if the
    /// kernel touches only a part.
    ///
    /// - `buffer`: borrowed until the call that gets the argument returns.
    /// - `offset`: byte of the buffer that the address begins at.
    ///
    /// Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
    pub fn mlxrocm_arg_buffer(buffer: *const mlxrocm_buffer, offset: u64) -> mlxrocm_arg;

    /// An argument: device memory that the kernel only reads. Set `size` of the result if the kernel
    /// touches only a part.
    ///
    /// - `buffer`: borrowed until the call that gets the argument returns.
    /// - `offset`: byte of the buffer that the address begins at.
    ///
    /// Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
    pub fn mlxrocm_arg_input(buffer: *const mlxrocm_buffer, offset: u64) -> mlxrocm_arg;

    /// An argument: device memory that the kernel only writes. Set `size` of the result if the kernel
    /// touches only a part.
    ///
    /// - `buffer`: borrowed until the call that gets the argument returns.
    /// - `offset`: byte of the buffer that the address begins at.
    ///
    /// Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
    pub fn mlxrocm_arg_output(buffer: *const mlxrocm_buffer, offset: u64) -> mlxrocm_arg;

    /// An argument: a number of 32 bits.
    ///
    /// - `value`: the number.
    ///
    /// Returns the argument. Any thread. Since 0.1.
    pub fn mlxrocm_arg_u32(value: u32) -> mlxrocm_arg;

    /// An argument: a signed number of 32 bits.
    ///
    /// - `value`: the number.
    ///
    /// Returns the argument. Any thread. Since 0.1.
    pub fn mlxrocm_arg_i32(value: i32) -> mlxrocm_arg;

    /// An argument: a float of 32 bits.
    ///
    /// - `value`: the number.
    ///
    /// Returns the argument. Any thread. Since 0.1.
    pub fn mlxrocm_arg_f32(value: f32) -> mlxrocm_arg;

    /// An argument: a number of 64 bits, or an address that the application keeps valid.
    ///
    /// - `value`: the number.
    ///
    /// Returns the argument. Any thread. Since 0.1.
    pub fn mlxrocm_arg_u64(value: u64) -> mlxrocm_arg;

    /// An argument: a signed number of 64 bits.
    ///
    /// - `value`: the number.
    ///
    /// Returns the argument. Any thread. Since 0.1.
    pub fn mlxrocm_arg_i64(value: i64) -> mlxrocm_arg;

    /// An argument: a float of 64 bits.
    ///
    /// - `value`: the number.
    ///
    /// Returns the argument. Any thread. Since 0.1.
    pub fn mlxrocm_arg_f64(value: f64) -> mlxrocm_arg;

    /// Begins to record a program.
    ///
    /// - `device`: borrowed; a GPU. The program keeps it alive.
    /// - `program`: receives the program, owned: free it with mlxrocm_program_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_program_new(device: *const mlxrocm_device, program: *mut *mut mlxrocm_program, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Records one launch. It runs after the earlier ones that write what it touches or touch what it
    /// writes, by the `access` of its arguments; one without buffers runs after all earlier and before
    /// all later ones.
    ///
    /// - `program`: borrowed; in recording.
    /// - `kernel`: borrowed; of the same device.
    /// - `launch`: borrowed for the call.
    /// - `error`: nullable; receives an owned error object on failure. The program stays as it was.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (as mlxrocm_stream_launch; not in recording). Any thread.
    /// Since 0.1.
    pub fn mlxrocm_program_launch(program: *const mlxrocm_program, kernel: *const mlxrocm_kernel, launch: *const mlxrocm_launch, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Records a copy between two buffers in device memory.
    ///
    /// - `program`: borrowed; in recording.
    /// - `target`: borrowed; device memory.
    /// - `target_offset`: byte of the target to begin at.
    /// - `source`: borrowed; device memory; may be the target, if the two parts do not overlap.
    /// - `source_offset`: byte of the source to begin at.
    /// - `size`: bytes to copy; 0 records nothing.
    /// - `error`: nullable; receives an owned error object on failure. The program stays as it was.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, pinned memory, a target
    /// that is memory of an array, another device; not in recording). Any thread. Since 0.1.
    pub fn mlxrocm_program_copy(program: *const mlxrocm_program, target: *const mlxrocm_buffer, target_offset: u64, source: *const mlxrocm_buffer, source_offset: u64, size: u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Records a fill of device memory with one byte value.
    ///
    /// - `program`: borrowed; in recording.
    /// - `buffer`: borrowed; device memory.
    /// - `offset`: byte of the buffer to begin at.
    /// - `size`: bytes to fill; 0 records nothing.
    /// - `value`: each byte's value.
    /// - `error`: nullable; receives an owned error object on failure. The program stays as it was.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array, another
    /// device; not in recording). Any thread. Since 0.1.
    pub fn mlxrocm_program_fill(program: *const mlxrocm_program, buffer: *const mlxrocm_buffer, offset: u64, size: u64, value: u8, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Records that everything after this runs after everything before it.
    ///
    /// - `program`: borrowed; in recording.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not in recording). Any thread. Since 0.1.
    pub fn mlxrocm_program_barrier(program: *const mlxrocm_program, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Ends the recording. Nothing runs yet.
    ///
    /// - `program`: borrowed; in recording.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not in recording). Any thread. Since 0.1.
    pub fn mlxrocm_program_end(program: *const mlxrocm_program, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues one run of a program. The first one on a device whose graphs were not compared yet may
    /// wait while it compares them; every other one returns at once.
    ///
    /// - `program`: borrowed; its recording has ended.
    /// - `stream`: borrowed; of the same device.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording; another device), OUT_OF_MEMORY, TIMEOUT,
    /// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_program_run(program: *const mlxrocm_program, stream: *const mlxrocm_stream, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a program, and how it runs.
    ///
    /// - `program`: borrowed; its recording has ended.
    /// - `info`: receives the facts; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording). Any thread. Since 0.1.
    pub fn mlxrocm_program_get_info(program: *const mlxrocm_program, info: *mut mlxrocm_program_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Says how the next run of a program goes and why, in words, for a log or a bug report.
    ///
    /// - `program`: borrowed; its recording has ended.
    /// - `text`: receives one line of UTF-8 and its NUL.
    /// - `capacity`: bytes of room in `text`; 0: only measure.
    /// - `needed`: receives the bytes of the text and its NUL, also when they do not fit; nullable
    ///   unless measuring. The text may change between two calls.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (in recording), BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_program_explain(program: *const mlxrocm_program, text: *mut c_char, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a program. Runs that were queued still end.
    ///
    /// - `program`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_program_free(program: *mut mlxrocm_program);

    /// Loads a model from a GGUF file or an MLX model folder.
    ///
    /// The weights are mapped, not copied: the file must stay as it is while the model lives. A file
    /// that another process shortens meanwhile ends the process with SIGBUS.
    ///
    /// - `path`: the file or folder as the operating system spells it; copied.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `options`: borrowed for the call; NULL means defaults.
    /// - `model`: receives the model, owned: free it with mlxrocm_model_free.
    /// - `error`: nullable; receives an owned error object on failure. It names the file and the field
    ///   or tensor.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (an unknown family or
    /// format), OUT_OF_MEMORY, CANCELLED. Any thread. Since 0.1.
    pub fn mlxrocm_model_load(path: *const c_char, path_length: usize, options: *const mlxrocm_model_options, model: *mut *mut mlxrocm_model, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a model.
    ///
    /// - `model`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set. Strings are borrowed until the
    ///   model is freed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_model_get_info(model: *const mlxrocm_model, info: *mut mlxrocm_model_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a model. What was made from it goes on working.
    ///
    /// - `model`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_model_free(model: *mut mlxrocm_model);

    /// Opens a GGUF file, a safetensors file or a model folder to see what is in it. Nothing is loaded, and
    /// models that mlxrocm_model_load refuses can be looked at. Of a split GGUF model any file stands for all.
    ///
    /// - `path`: the file or folder as the operating system spells it; copied.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `file`: receives the model file, owned: free it with mlxrocm_model_file_free.
    /// - `error`: nullable; receives an owned error object on failure. It names the file and the tensor.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (another version of GGUF). Any
    /// thread. Since 0.1.
    pub fn mlxrocm_model_file_open(path: *const c_char, path_length: usize, file: *mut *mut mlxrocm_model_file, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The number of tensors of a model file.
    ///
    /// - `file`: borrowed.
    ///
    /// Returns 0 also if `file` is NULL or not live. Any thread. Since 0.1.
    pub fn mlxrocm_model_file_tensor_count(file: *const mlxrocm_model_file) -> usize;

    /// Tells what a model file says about a tensor.
    ///
    /// - `file`: borrowed.
    /// - `index`: which one, below mlxrocm_model_file_tensor_count; they come in the order of the file.
    /// - `info`: receives the facts; its `struct_size` must be set. Pointers in it are borrowed until the model
    ///   file is freed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also where there is no such tensor). Any thread. Since 0.1.
    pub fn mlxrocm_model_file_get_tensor(file: *const mlxrocm_model_file, index: usize, info: *mut mlxrocm_tensor_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a model file.
    ///
    /// - `file`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_model_file_free(file: *mut mlxrocm_model_file);

    /// Quantizes a model into a new folder in MLX's format.
    ///
    /// The tensors are byte for byte those that mlx-lm 0.32.2 writes. They are converted some rows at a
    /// time, so that memory does not grow with the model. Until all is on disk, the result lies in
    /// `destination`.partial; when a call was cancelled, failed or ended with the process, the same call
    /// goes on there, and files that were finished are not written again. Of a GGUF file the config and
    /// the tokenizer's files are made too (families llama, qwen2, qwen3, qwen3_moe and smollm3).
    ///
    /// - `source`: a model folder of safetensors files, or a GGUF file, of 16- or 32-bit floats, as the
    ///   operating system spells it.
    /// - `source_length`: bytes of `source`, or MLXROCM_NUL.
    /// - `destination`: the folder to make, which must not exist; spelled likewise.
    /// - `destination_length`: bytes of `destination`, or MLXROCM_NUL.
    /// - `options`: borrowed for the call; NULL means defaults: affine, 4 bits in groups of 64.
    /// - `result`: nullable; receives what was made; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure. It names the file and the tensor.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (options that do not fit, a destination that exists or
    /// is being written, a partial folder of another source or other options), IO, INVALID_FILE,
    /// UNSUPPORTED (an unknown family, a model that is quantized), CANCELLED. Any thread. Since 0.1.
    pub fn mlxrocm_model_quantize(source: *const c_char, source_length: usize, destination: *const c_char, destination_length: usize, options: *const mlxrocm_quantize_options, result: *mut mlxrocm_quantize_result, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives a model's tokenizer.
    ///
    /// - `model`: borrowed; the tokenizer keeps what it needs of it.
    /// - `tokenizer`: receives the tokenizer, owned: free it with mlxrocm_tokenizer_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_model_get_tokenizer(model: *const mlxrocm_model, tokenizer: *mut *mut mlxrocm_tokenizer, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a tokenizer.
    ///
    /// - `tokenizer`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_tokenizer_get_info(tokenizer: *const mlxrocm_tokenizer, info: *mut mlxrocm_tokenizer_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Turns text into token ids.
    ///
    /// - `tokenizer`: borrowed.
    /// - `text`: UTF-8, borrowed for the call. Bytes that are not UTF-8 count as U+FFFD.
    /// - `text_length`: bytes of `text`, or MLXROCM_NUL.
    /// - `flags`: MLXROCM_ENCODE_... together.
    /// - `tokens`: receives the ids; room for `capacity` of them.
    /// - `capacity`: 0: only measure.
    /// - `needed`: receives the number of ids, also when they do not fit; nullable unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_tokenizer_encode(tokenizer: *const mlxrocm_tokenizer, text: *const c_char, text_length: usize, flags: u32, tokens: *mut u32, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Turns token ids into text.
    ///
    /// - `tokenizer`: borrowed.
    /// - `tokens`: `count` ids, borrowed for the call.
    /// - `count`: 0: `tokens` is ignored.
    /// - `flags`: MLXROCM_DECODE_... together.
    /// - `text`: receives NUL-terminated UTF-8; bytes that are not UTF-8 become U+FFFD. Text that itself
    ///   holds a NUL has it in the middle: its length is `needed` - 1.
    /// - `capacity`: bytes of `text`; 0: only measure.
    /// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
    ///   measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary), BUFFER_TOO_SMALL.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_tokenizer_decode(tokenizer: *const mlxrocm_tokenizer, tokens: *const u32, count: usize, flags: u32, text: *mut c_char, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives the bytes that one token stands for. They may be a part of a UTF-8 character.
    ///
    /// - `tokenizer`: borrowed.
    /// - `token`: the id.
    /// - `bytes`: receives the bytes and a NUL behind them; a special token gives its spelling.
    /// - `capacity`: room in `bytes`; 0: only measure.
    /// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
    ///   measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary), BUFFER_TOO_SMALL.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_tokenizer_token_bytes(tokenizer: *const mlxrocm_tokenizer, token: u32, bytes: *mut c_char, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Finds a token by its exact spelling in the vocabulary.
    ///
    /// - `tokenizer`: borrowed.
    /// - `spelling`: UTF-8, borrowed for the call, e.g. "<|im_end|>".
    /// - `spelling_length`: bytes of `spelling`, or MLXROCM_NUL.
    /// - `token`: receives the id, or MLXROCM_NO_TOKEN when no token is spelled like that.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_tokenizer_find_token(tokenizer: *const mlxrocm_tokenizer, spelling: *const c_char, spelling_length: usize, token: *mut u32, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Says whether a token is a control token that ordinary text never contains.
    ///
    /// - `tokenizer`: borrowed.
    /// - `token`: the id.
    /// - `special`: receives 1 or 0.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary). Any thread.
    /// Since 0.1.
    pub fn mlxrocm_tokenizer_is_special(tokenizer: *const mlxrocm_tokenizer, token: u32, special: *mut u32, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a tokenizer.
    ///
    /// - `tokenizer`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_tokenizer_free(tokenizer: *mut mlxrocm_tokenizer);

    /// Gives a model's chat template.
    ///
    /// - `model`: borrowed; the template keeps what it needs of it.
    /// - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the model has none). Any thread.
    /// Since 0.1.
    pub fn mlxrocm_model_get_chat_template(model: *const mlxrocm_model, chat_template: *mut *mut mlxrocm_chat_template, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Compiles a chat template (Jinja, with Python's string methods).
    ///
    /// - `source`: UTF-8; copied.
    /// - `source_length`: bytes of `source`, or MLXROCM_NUL.
    /// - `bos`: spelling of the token that begins a text; UTF-8, copied; NULL: "".
    /// - `bos_length`: bytes of `bos`, or MLXROCM_NUL.
    /// - `eos`: spelling of the token that ends a text; UTF-8, copied; NULL: "".
    /// - `eos_length`: bytes of `eos`, or MLXROCM_NUL.
    /// - `chat_template`: receives the template, owned: free it with mlxrocm_chat_template_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (a syntax error). Any thread. Since 0.1.
    pub fn mlxrocm_chat_template_new(source: *const c_char, source_length: usize, bos: *const c_char, bos_length: usize, eos: *const c_char, eos_length: usize, chat_template: *mut *mut mlxrocm_chat_template, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Writes a chat as the text of a prompt. Encode it with MLXROCM_ENCODE_PARSE_SPECIAL and without
    /// MLXROCM_ENCODE_ADD_SPECIAL: the template has written all special tokens.
    ///
    /// - `chat_template`: borrowed.
    /// - `messages`: `count` messages, borrowed for the call.
    /// - `count`: messages; 0 with messages in `chat_json`.
    /// - `flags`: MLXROCM_RENDER_... together.
    /// - `chat_json`: a JSON object of variables of the template, UTF-8, borrowed for the call; NULL: none. `messages`
    ///   and `tools` are as OpenAI's API writes them: content as a text or as parts of type text, which are put
    ///   together; tool_calls, whose arguments may be a text of JSON; tool_call_id; name; reasoning_content (thinking,
    ///   where the template says so); a role developer is system where the template does not know it. Others are as
    ///   they are, e.g. {"enable_thinking": false}.
    /// - `chat_json_length`: bytes of `chat_json`, or MLXROCM_NUL.
    /// - `text`: receives NUL-terminated UTF-8.
    /// - `capacity`: bytes of `text`; 0: only measure.
    /// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
    ///   measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also what the template itself refuses),
    /// BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_chat_template_render(chat_template: *const mlxrocm_chat_template, messages: *const mlxrocm_message, count: usize, flags: u32, chat_json: *const c_char, chat_json_length: usize, text: *mut c_char, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives a chat template's source.
    ///
    /// - `chat_template`: borrowed.
    /// - `text`: receives NUL-terminated UTF-8.
    /// - `capacity`: bytes of `text`; 0: only measure.
    /// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
    ///   measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_chat_template_source(chat_template: *const mlxrocm_chat_template, text: *mut c_char, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a chat template.
    ///
    /// - `chat_template`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_chat_template_free(chat_template: *mut mlxrocm_chat_template);

    /// Makes a session: allocates its KV cache and starts its scheduler thread.
    ///
    /// - `model`: borrowed; the session keeps what it needs of it.
    /// - `options`: borrowed for the call; NULL means defaults.
    /// - `session`: receives the session, owned: free it with mlxrocm_session_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_session_new(model: *const mlxrocm_model, options: *const mlxrocm_session_options, session: *mut *mut mlxrocm_session, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells what a session is and does right now.
    ///
    /// - `session`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_session_get_info(session: *const mlxrocm_session, info: *mut mlxrocm_session_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues a request and returns at once; its events come out of mlxrocm_generation_next.
    ///
    /// - `session`: borrowed; the generation keeps it alive.
    /// - `request`: borrowed for the call: everything it points to is copied.
    /// - `generation`: receives the generation, owned: free it with mlxrocm_generation_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a value out of range, a token that the model does not
    /// have, no prompt), CONTEXT_FULL (the prompt is longer than the context), UNSUPPORTED (messages,
    /// but no chat template). Any thread. Since 0.1.
    pub fn mlxrocm_session_submit(session: *const mlxrocm_session, request: *const mlxrocm_request, generation: *mut *mut mlxrocm_generation, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Runs a sequence of tokens and gives the raw logits of every position, for evaluation. It waits
    /// for its turn among the requests, and takes as long as a prompt of that length.
    ///
    /// - `session`: borrowed.
    /// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
    /// - `count`: tokens.
    /// - `logits`: receives rows of vocab_size numbers (mlxrocm_model_info), one row for each token: row
    ///   i is about the token that follows the first i + 1.
    /// - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
    ///   the context are CONTEXT_FULL.
    /// - `needed`: receives count * vocab_size, also when they do not fit; nullable unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL. Any
    /// thread. Since 0.1.
    pub fn mlxrocm_session_logits(session: *const mlxrocm_session, tokens: *const u32, count: usize, logits: *mut f32, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a session. Its generations go on until they are freed.
    ///
    /// - `session`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_session_free(session: *mut mlxrocm_session);

    /// Runs a sequence of tokens and gives the raw logits of chosen positions. As mlxrocm_session_logits, but memory
    /// and the product with the head of the model are only for these, and tokens after the last one are not run.
    ///
    /// - `session`: borrowed.
    /// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
    /// - `count`: tokens.
    /// - `positions`: `position_count` positions in `tokens`, from 0, each larger than the one before; borrowed for the
    ///   call.
    /// - `position_count`: positions; 0: the last token alone.
    /// - `logits`: receives rows of vocab_size numbers (mlxrocm_model_info), one row for each position: that of
    ///   position i is about the token that follows the first i + 1.
    /// - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
    ///   the context are CONTEXT_FULL.
    /// - `needed`: receives rows * vocab_size, also when they do not fit; nullable unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL. Any
    /// thread. Since 0.1.
    pub fn mlxrocm_session_logits_at(session: *const mlxrocm_session, tokens: *const u32, count: usize, positions: *const u32, position_count: usize, logits: *mut f32, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Runs a sequence of tokens and gives their hidden states after the model's final norm, those of chosen tokens or
    /// pooled to one embedding of the text. It waits for its turn among the requests, and takes as long as a prompt of
    /// that length.
    ///
    /// - `session`: borrowed.
    /// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
    /// - `count`: tokens.
    /// - `options`: borrowed for the call; NULL means defaults: a row for each token.
    /// - `embedding`: receives rows of hidden_size numbers (mlxrocm_model_info): one where tokens are pooled, else one
    ///   for each chosen token.
    /// - `capacity`: room in `embedding`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
    ///   the context are CONTEXT_FULL.
    /// - `needed`: receives rows * hidden_size, also when they do not fit; nullable unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL, UNSUPPORTED (a model
    /// whose hidden states the device does not give). Any thread. Since 0.1.
    pub fn mlxrocm_session_embed(session: *const mlxrocm_session, tokens: *const u32, count: usize, options: *const mlxrocm_embed_options, embedding: *mut f32, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Waits for the next event.
    ///
    /// - `generation`: borrowed.
    /// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
    /// - `event`: receives the event; its `struct_size` must be set. What it points to is borrowed
    ///   until the next call on this generation or until that is freed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Returns MLXROCM_OK with an event; MLXROCM_PENDING when none came within the timeout; MLXROCM_END
    /// when MLXROCM_EVENT_FINISHED was given out before. A request that fails ends with
    /// MLXROCM_EVENT_FINISHED and MLXROCM_FINISH_ERROR, not with an error of this function.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. One thread at a time. Since 0.1.
    pub fn mlxrocm_generation_next(generation: *const mlxrocm_generation, timeout_ns: i64, event: *mut mlxrocm_event, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Ends a generation soon; its MLXROCM_EVENT_FINISHED still comes. Any number of times, also after
    /// the end.
    ///
    /// - `generation`: borrowed.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread, also while another one waits for the next
    /// event. Since 0.1.
    pub fn mlxrocm_generation_cancel(generation: *const mlxrocm_generation, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a generation; one that still runs is cancelled.
    ///
    /// - `generation`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_generation_free(generation: *mut mlxrocm_generation);

    /// Waits until mlxrocm_generation_next has an event of one of several generations, of any sessions.
    ///
    /// - `generations`: `count` generations, borrowed for the call; NULL ones are passed over.
    /// - `count`: elements of `generations`.
    /// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
    /// - `index`: receives the place of one that has an event, with MLXROCM_OK; where several have, they take turns.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Returns MLXROCM_OK; MLXROCM_PENDING when none had an event within the timeout; MLXROCM_END when none will have one
    /// any more: all have given out their MLXROCM_EVENT_FINISHED, or there are none.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread; where another one takes the events, mlxrocm_generation_next
    /// may have nothing any more. Since 0.1.
    pub fn mlxrocm_generation_wait_any(generations: *const *const mlxrocm_generation, count: usize, timeout_ns: i64, index: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives a file descriptor for poll, epoll, libuv and other event loops: it is readable while
    /// mlxrocm_generation_next has an event, and not any more when MLXROCM_EVENT_FINISHED was given out.
    ///
    /// - `generation`: borrowed.
    /// - `fd`: receives the descriptor (an eventfd, close-on-exec), the same one however often it is asked for. It is
    ///   borrowed until the generation is freed, which closes it: take it out of the event loop before, wait for it to be
    ///   readable, but neither read, write nor close it.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO (no descriptor is left). Any thread. Since 0.1.
    pub fn mlxrocm_generation_get_fd(generation: *const mlxrocm_generation, fd: *mut i32, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Saves what the model made of some tokens (keys and values of the KV cache, and what recurrent layers keep), so that
    /// a request that begins with them goes on after them without running them again: in this session or another one of
    /// the same model, device and kv_type, in this process or another one. Tokens that are not in the cache any more are
    /// run before, in turn with the requests.
    ///
    /// The state holds whole pages of 32 tokens, and the recurrent state after them: what is left over is run again. It
    /// says what it is of and has a checksum.
    ///
    /// - `session`: borrowed.
    /// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context. For what a generation
    ///   has seen: the prompt and the tokens of its events.
    /// - `count`: tokens.
    /// - `state`: receives the state.
    /// - `capacity`: room in `state`, in bytes; 0: only measure, nothing is run. Whatever it is, more tokens than the
    ///   context are CONTEXT_FULL.
    /// - `needed`: receives the state's bytes, also when they do not fit; nullable unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL, UNSUPPORTED (a session
    /// with batch_invariant on a GPU). Any thread. Since 0.1.
    pub fn mlxrocm_session_save_state(session: *const mlxrocm_session, tokens: *const u32, count: usize, state: *mut u8, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// mlxrocm_session_save_state to a file. The file is written beside `path` and renamed when it is whole, so that one
    /// that was there before is not damaged.
    ///
    /// - `session`: borrowed.
    /// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
    /// - `count`: tokens.
    /// - `path`: the file as the operating system spells it; borrowed for the call.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: as mlxrocm_session_save_state, and IO. Any thread. Since 0.1.
    pub fn mlxrocm_session_save_state_file(session: *const mlxrocm_session, tokens: *const u32, count: usize, path: *const c_char, path_length: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Puts a state into the session's KV cache, as if a request had just run its tokens: a request that begins with them
    /// (mlxrocm_state_get_tokens) goes on after them, and its cached_tokens says after how many. It stays until other
    /// requests need the room, then its tokens are run again.
    ///
    /// A state that is damaged, cut, of another model (its weights are compared by a hash), device or kv_type is refused.
    /// One that was made with intent to deceive is not: load states only of those whom you would let write the prompt.
    ///
    /// - `session`: borrowed.
    /// - `state`: `size` bytes, borrowed for the call.
    /// - `size`: bytes.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_FILE (damaged), INVALID_ARGUMENT (of another model, device, kv_type), CONTEXT_FULL
    /// (longer than the session's context), OUT_OF_MEMORY (also where the session has no memory to keep another recurrent
    /// state), UNSUPPORTED (of another version of the library; a session with batch_invariant on a GPU). Any thread.
    /// Since 0.1.
    pub fn mlxrocm_session_load_state(session: *const mlxrocm_session, state: *const u8, size: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// mlxrocm_session_load_state from a file.
    ///
    /// - `session`: borrowed.
    /// - `path`: the file as the operating system spells it, a regular one; borrowed for the call.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: as mlxrocm_session_load_state, and IO. Any thread. Since 0.1.
    pub fn mlxrocm_session_load_state_file(session: *const mlxrocm_session, path: *const c_char, path_length: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives the tokens of a state, those that are run again after loading included. Needs no session.
    ///
    /// - `state`: `size` bytes, borrowed for the call.
    /// - `size`: bytes.
    /// - `tokens`: receives the ids.
    /// - `capacity`: room in `tokens`, in ids; 0: only measure.
    /// - `needed`: receives the number of ids, also when they do not fit; nullable unless measuring.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_FILE (damaged), UNSUPPORTED (of another version of the library), BUFFER_TOO_SMALL.
    /// Any thread. Since 0.1.
    pub fn mlxrocm_state_get_tokens(state: *const u8, size: usize, tokens: *mut u32, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Queues a request that goes on where a generation is: after its prompt and the tokens whose events
    /// mlxrocm_generation_next has given out. Full pages of the KV cache are used by both; in a model with recurrent layers
    /// those up to the last one at whose end their state was kept, and the rest is run again. The generation goes on as
    /// it would.
    ///
    /// - `generation`: borrowed; it may have ended.
    /// - `request`: as for mlxrocm_session_submit, but without a prompt; max_tokens and the like are the fork's own.
    ///   Borrowed for the call.
    /// - `fork`: receives the new generation, owned: free it with mlxrocm_generation_free. Of the same session.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: as mlxrocm_session_submit; INVALID_ARGUMENT also for a request with a prompt. One thread at a time with
    /// mlxrocm_generation_next. Since 0.1.
    pub fn mlxrocm_generation_fork(generation: *const mlxrocm_generation, request: *const mlxrocm_request, fork: *mut *mut mlxrocm_generation, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Loads a network of Leela Chess Zero: a .pb.gz file, or the same unpacked.
    ///
    /// - `path`: the file as the operating system spells it; copied. It is read once.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `options`: borrowed for the call; NULL means defaults.
    /// - `net`: receives the network, owned: free it with mlxrocm_chess_net_free.
    /// - `error`: nullable; receives an owned error object on failure. It names the file and the field.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a head that the network does not have), IO, INVALID_FILE,
    /// UNSUPPORTED (a kind of network that is not known, F16 on the CPU, a GPU without kernels), OUT_OF_MEMORY,
    /// DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_load(path: *const c_char, path_length: usize, options: *const mlxrocm_chess_net_options, net: *mut *mut mlxrocm_chess_net, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tells facts about a network.
    ///
    /// - `net`: borrowed.
    /// - `info`: receives the facts; its `struct_size` must be set.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_get_info(net: *const mlxrocm_chess_net, info: *mut mlxrocm_chess_net_info, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Makes a network's input of a position, with the game that led to it, and tells the legal moves. What
    /// came before a FEN is taken to be the same position.
    ///
    /// - `net`: borrowed.
    /// - `fen`: where the game begins, UTF-8, borrowed for the call; castling rights as KQkq or as files of
    ///   rooks (Chess960). NULL means the usual start.
    /// - `fen_length`: bytes of `fen`, or MLXROCM_NUL.
    /// - `moves`: `moves_count` names of moves in UCI's notation, borrowed for the call.
    /// - `move_lengths`: bytes of each of `moves`, borrowed for the call; NULL: they are NUL-terminated.
    /// - `moves_count`: how many, at most 65536.
    /// - `masks`: receives 112 masks of squares: bit 0 is a1, bit 63 h8, seen from the side to move.
    /// - `values`: receives 112 numbers that the set bits of each mask stand for.
    /// - `legal`: receives the legal moves; ignored with capacity 0. No position has more than 218.
    /// - `legal_capacity`: moves that `legal` has room for; 0 measures.
    /// - `legal_count`: nullable unless measuring; receives how many moves there are: 0 if the game is over.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (no legal position, or a move that is not legal there),
    /// BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_get_input(net: *const mlxrocm_chess_net, fen: *const c_char, fen_length: usize, moves: *const *const c_char, move_lengths: *const usize, moves_count: usize, masks: *mut u64, values: *mut f32, legal: *mut mlxrocm_chess_move, legal_capacity: usize, legal_count: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Evaluates positions. A position gets the same bits alone and in any batch. Calls of several threads
    /// run at the same time.
    ///
    /// - `net`: borrowed.
    /// - `masks`: `count` times 112 masks of squares, borrowed for the call.
    /// - `values`: `count` times 112 numbers that the set bits stand for, finite, borrowed for the call.
    /// - `count`: positions, 1 to 1024.
    /// - `policy`: nullable; receives `count` times 1858 logits of moves, legal or not.
    /// - `wdl`: nullable; receives `count` times 3 chances of the side to move: win, draw, loss. Of networks
    ///   that tell a value q only: (1 + q) / 2, 0, (1 - q) / 2.
    /// - `moves_left`: nullable; receives `count` numbers of plies; 0 of networks that do not tell.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_evaluate(net: *const mlxrocm_chess_net, masks: *const u64, values: *const f32, count: usize, policy: *mut f32, wdl: *mut f32, moves_left: *mut f32, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Turns a position's logits into probabilities of its legal moves.
    ///
    /// - `policy`: 1858 logits of the position, borrowed for the call.
    /// - `moves`: `count` moves, borrowed for the call.
    /// - `count`: how many; 0 is fine.
    /// - `temperature`: above 0; 1 takes the logits as they are, larger ones make the moves more alike.
    /// - `chances`: receives `count` probabilities; their sum is 1.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_get_chances(policy: *const f32, moves: *const mlxrocm_chess_move, count: usize, temperature: f32, chances: *mut f32, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Names a move of the policy as White would play it: "e2e4", "e7e8q"; castling is the king taking its
    /// rook, a promotion without a letter is one to a knight. Black's moves, and those of positions that the
    /// input format turns over, have other names: mlxrocm_chess_net_get_input tells those.
    ///
    /// - `policy_index`: below MLXROCM_CHESS_MOVES.
    /// - `length`: nullable; receives the bytes of the text, its NUL not counted.
    ///
    /// Returns the name, borrowed for ever; NULL if there is no such move. Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_move_name(policy_index: u32, length: *mut usize) -> *const c_char;

    /// Frees a network. Calls that go on meanwhile end as usual.
    ///
    /// - `net`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_chess_net_free(net: *mut mlxrocm_chess_net);

    /// Makes an empty queue. It keeps the network alive, and has a thread of its own.
    ///
    /// - `net`: borrowed.
    /// - `queue`: receives the queue, owned: free it with mlxrocm_chess_queue_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY (no thread is left). Any thread. Since 0.1.
    pub fn mlxrocm_chess_queue_create(net: *const mlxrocm_chess_net, queue: *mut *mut mlxrocm_chess_queue, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Hands in a batch and returns at once. Batches come out of mlxrocm_chess_queue_next in the order in which they
    /// were handed in; small ones that wait together are evaluated together, which changes no bit of them.
    ///
    /// - `queue`: borrowed.
    /// - `masks`: `count` times 112 masks of squares, copied.
    /// - `values`: `count` times 112 numbers that the set bits stand for, finite, copied.
    /// - `count`: positions, 1 to 1024.
    /// - `id`: nullable; receives the batch's number: 0, 1, 2, ... of this queue.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Returns MLXROCM_OK; MLXROCM_PENDING when the queue holds MLXROCM_CHESS_QUEUE_BATCHES already, those whose results
    /// wait included: the batch was not taken.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_chess_queue_submit(queue: *const mlxrocm_chess_queue, masks: *const u64, values: *const f32, count: usize, id: *mut u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Takes the result of the oldest batch of a queue.
    ///
    /// - `queue`: borrowed.
    /// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
    /// - `capacity`: positions that there is room for in each of the next three; 1024 is always enough.
    /// - `policy`: nullable; receives `capacity` times 1858 logits at most, as of mlxrocm_chess_net_evaluate.
    /// - `wdl`: nullable; receives `capacity` times 3 chances at most.
    /// - `moves_left`: nullable; receives `capacity` numbers of plies at most.
    /// - `count`: nullable; receives the positions of the batch.
    /// - `id`: nullable; receives the batch's number.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Returns MLXROCM_OK with a batch; MLXROCM_PENDING when the oldest one was not done within the timeout; MLXROCM_END
    /// when the queue holds none.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL (the batch stays), OUT_OF_MEMORY (the batch is lost).
    /// Any thread; where several take batches, each gets others. Since 0.1.
    pub fn mlxrocm_chess_queue_next(queue: *const mlxrocm_chess_queue, timeout_ns: i64, capacity: usize, policy: *mut f32, wdl: *mut f32, moves_left: *mut f32, count: *mut usize, id: *mut u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a queue. Batches that it holds are dropped; it waits for one that is being evaluated.
    ///
    /// - `queue`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_chess_queue_free(queue: *mut mlxrocm_chess_queue);

    /// Makes an array of a copy of numbers.
    ///
    /// - `data`: the elements row after row, borrowed for the call; NULL is fine if there are none.
    /// - `shape`: `rank` sizes, outermost first, borrowed for the call.
    /// - `rank`: number of dimensions; 0 makes a scalar.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_from_data(data: *const c_void, shape: *const i64, rank: usize, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Makes an array of the application's own memory, without a copy.
    ///
    /// - `data`: the elements row after row, borrowed until `free` is called; they must not change until
    ///   then. Truth values are 0 or 1.
    /// - `shape`: `rank` sizes, outermost first, borrowed for the call.
    /// - `rank`: number of dimensions; 0 makes a scalar.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `free`: nullable; called exactly once with `user_data` when no array needs the memory any more,
    ///   on any thread; also if this function fails.
    /// - `user_data`: passed to `free`.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_from_borrowed(data: *const c_void, shape: *const i64, rank: usize, dtype: u32, free: mlxrocm_user_data_free, user_data: *mut c_void, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Makes another handle of the same array.
    ///
    /// - `array`: borrowed.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_clone(array: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Moves an array to a device: operations on what is there are computed there, and those of its results. Arrays of the
    /// CPU that an operation has besides are moved too; arrays of two GPUs are refused when the elements are computed. What a
    /// GPU has no form of is computed by the CPU in between. Indices outside of their axis, which are an error on the CPU, are
    /// the nearest ones inside on a GPU.
    ///
    /// - `array`: borrowed.
    /// - `device`: borrowed; the CPU or a GPU.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_LOST. Lazy as all operations. Any thread. Since 0.1.
    pub fn mlxrocm_array_to_device(array: *const mlxrocm_array, device: *const mlxrocm_device, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The dtype of an array.
    ///
    /// - `array`: borrowed.
    ///
    /// Returns an MLXROCM_DTYPE number, MLXROCM_DTYPE_NONE if `array` is NULL or not live. Any thread.
    /// Since 0.1.
    pub fn mlxrocm_array_dtype(array: *const mlxrocm_array) -> u32;

    /// The number of dimensions of an array.
    ///
    /// - `array`: borrowed.
    ///
    /// Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
    pub fn mlxrocm_array_rank(array: *const mlxrocm_array) -> usize;

    /// The number of elements of an array.
    ///
    /// - `array`: borrowed.
    ///
    /// Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
    pub fn mlxrocm_array_size(array: *const mlxrocm_array) -> usize;

    /// The number of bytes that mlxrocm_array_read writes.
    ///
    /// - `array`: borrowed.
    ///
    /// Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
    pub fn mlxrocm_array_bytes(array: *const mlxrocm_array) -> usize;

    /// Tells the shape of an array.
    ///
    /// - `array`: borrowed.
    /// - `shape`: receives the sizes, outermost first.
    /// - `capacity`: room of `shape`, in numbers; 0 only measures.
    /// - `needed`: nullable unless `capacity` is 0; receives the number of dimensions.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
    pub fn mlxrocm_array_shape(array: *const mlxrocm_array, shape: *mut i64, capacity: usize, needed: *mut usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Computes the elements of arrays, all of them in one go.
    ///
    /// - `arrays`: `count` arrays, borrowed.
    /// - `count`: number of arrays.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also for values that an operation refuses; the message
    /// names it), UNSUPPORTED, OUT_OF_MEMORY. What was not computed stays as it was. Any thread. Since 0.1.
    pub fn mlxrocm_array_eval(arrays: *const *const mlxrocm_array, count: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Computes the elements of arrays as mlxrocm_array_eval does, but what GPUs compute is only queued when the function
    /// returns: the caller can go on, with operations on these arrays too. Work of the CPU is done by then.
    ///
    /// - `arrays`: `count` arrays, borrowed.
    /// - `count`: number of arrays.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY, as mlxrocm_array_eval; a fault of queued work is
    /// told by mlxrocm_array_wait and by what reads its results. Any thread. Since 0.1.
    pub fn mlxrocm_array_eval_async(arrays: *const *const mlxrocm_array, count: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Waits until the elements of arrays are there that mlxrocm_array_eval_async queued. Arrays that nothing was queued for
    /// stay as they are.
    ///
    /// - `arrays`: `count` arrays, borrowed.
    /// - `count`: number of arrays.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_array_wait(arrays: *const *const mlxrocm_array, count: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Reads an array's elements, computing them if they are not there yet.
    ///
    /// - `array`: borrowed.
    /// - `data`: receives `size` bytes, the elements row after row; undefined on failure.
    /// - `size`: what mlxrocm_array_bytes says.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, BUFFER_TOO_SMALL, those of mlxrocm_array_eval. Any thread. Since 0.1.
    pub fn mlxrocm_array_read(array: *const mlxrocm_array, data: *mut c_void, size: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The element of an array that has one, as a number of double precision.
    ///
    /// - `array`: borrowed; of one element, not complex.
    /// - `value`: receives the element.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, those of mlxrocm_array_eval. Any thread. Since 0.1.
    pub fn mlxrocm_array_item_f64(array: *const mlxrocm_array, value: *mut f64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The element of an array that has one, as an integer; fractions are cut off.
    ///
    /// - `array`: borrowed; of one element, not complex.
    /// - `value`: receives the element.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, those of mlxrocm_array_eval. Any thread. Since 0.1.
    pub fn mlxrocm_array_item_i64(array: *const mlxrocm_array, value: *mut i64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a handle. Arrays made from this one keep what they need of it.
    ///
    /// - `array`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_array_free(array: *mut mlxrocm_array);

    /// Gives an array to a stream of a GPU: operations on the result are queued on that stream, in order with the launches and
    /// copies that the application queues there, and so are those of what they give. Streams run side by side. Without one, a
    /// GPU's arrays have a stream of the library's own (mlxrocm_array_to_device gives them back to it).
    ///
    /// An operation may have arrays of several streams of one GPU: it is queued on the stream of the first that was given to
    /// one, and starts after what makes the others is done; nobody else waits, and no elements are copied. Results are the
    /// same to the bit on every stream. mlxrocm_array_eval, _wait and _read wait for the streams of their arrays, and for
    /// what the application queued there before. A graph of operations on several streams is computed operation by
    /// operation: one that comes again is faster on a single stream.
    ///
    /// On the CPU there are no streams: its operations run on the threads that ask for their results.
    ///
    /// - `array`: borrowed; one of the CPU or of another GPU is moved to the stream's GPU.
    /// - `stream`: borrowed. The array, and what is computed of it, keeps what it needs of it.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Lazy as all operations. Any thread. Since 0.1.
    pub fn mlxrocm_array_to_stream(array: *const mlxrocm_array, stream: *const mlxrocm_stream, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Makes an array whose elements are a part of a buffer, without a copy, on the buffer's device. Operations on it start
    /// after the work that was queued with the buffer before this call, on whatever stream: launches that have it among
    /// their arguments or say that they touch it, runs of programs, copies and fills. The caller does not wait. A kernel that
    /// reaches the buffer by an address that no argument names has to be waited for before.
    ///
    /// The memory stays as long as an array sees it, also when the buffer is freed. Until then nothing may write the part:
    /// not before this array and the views made from it are freed, and what was computed of them is waited for
    /// (mlxrocm_array_eval).
    ///
    /// - `buffer`: borrowed; device memory.
    /// - `offset`: byte of the buffer at which the elements begin; a multiple of an element's size.
    /// - `shape`: `rank` sizes, outermost first, borrowed for the call. The elements lie row after row; truth values are 0
    ///   or 1.
    /// - `rank`: number of dimensions; 0 makes a scalar.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, an offset that is not aligned, pinned memory),
    /// OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_array_from_buffer(buffer: *const mlxrocm_buffer, offset: u64, shape: *const i64, rank: usize, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Gives the device memory that an array's elements lie in, row after row, for kernels of the application. What is not
    /// computed yet is queued; elements that lie otherwise (of a transposition, say) are copied row after row, others are not
    /// copied. The memory may only be read: launches take it by mlxrocm_arg_input, everything that would write it is refused.
    ///
    /// - `array`: borrowed; on a GPU.
    /// - `stream`: nullable; borrowed; of the same device. Work that is queued on it from now on starts after the elements are
    ///   there. NULL: they are there when this function returns.
    /// - `buffer`: receives the buffer, owned: free it with mlxrocm_buffer_free. It may be larger than the array, and keeps
    ///   the memory also when the array is freed.
    /// - `offset`: receives the byte of the buffer at which the elements begin.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a stream of another device), UNSUPPORTED (an array of the CPU), those of
    /// mlxrocm_array_eval. Any thread. Since 0.1.
    pub fn mlxrocm_array_buffer(array: *const mlxrocm_array, stream: *const mlxrocm_stream, buffer: *mut *mut mlxrocm_buffer, offset: *mut u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Absolute value of each element; of complex ones the modulus, as float32.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_abs(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse cosine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arccos(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse hyperbolic cosine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arccosh(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse sine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arcsin(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse hyperbolic sine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arcsinh(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse tangent of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arctan(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse hyperbolic tangent of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arctanh(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each bit of integers or truth values turned round.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_bitwise_invert(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each element rounded up.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_ceil(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Complex conjugate of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conjugate(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Cosine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_cos(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Hyperbolic cosine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_cosh(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Error function of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_erf(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse of the error function of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_erfinv(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Exponential of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_exp(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Exponential minus one of each element, exact near 0.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_expm1(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each element rounded down.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_floor(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Imaginary part of each element; zeros of real ones.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_imag(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Natural logarithm of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_log(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Logarithm to base 2 of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_log2(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Logarithm to base 10 of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_log10(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Logarithm of one plus each element, exact near 0.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_log1p(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether each element is 0.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logical_not(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The negative of each element; not of truth values.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_negative(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Real part of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_real(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// One by the square root of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_rsqrt(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// 1 / (1 + exp(-x)) of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sigmoid(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// -1, 0 or 1 by the sign of each element; of complex ones x / |x|.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sign(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sin(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Hyperbolic sine of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sinh(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Square root of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sqrt(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Square of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_square(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Tangent of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_tan(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Hyperbolic tangent of each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_tanh(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Radians as degrees.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_degrees(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Degrees as radians.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_radians(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// One by each element.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_reciprocal(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each element rounded to decimals, halves to the even neighbour.
    ///
    /// - `x`: borrowed.
    /// - `decimals`: digits behind the point that stay; negative ones: before it.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_round(x: *const mlxrocm_array, decimals: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each element without its fraction.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_trunc(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether each element is NaN.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_isnan(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether each element is infinite.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_isinf(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether each element is neither NaN nor infinite.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_isfinite(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether each element is plus infinity.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_isposinf(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether each element is minus infinity.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_isneginf(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each element, with numbers for NaN and infinities.
    ///
    /// - `x`: borrowed.
    /// - `nan`: instead of NaN.
    /// - `posinf`: instead of plus infinity; NaN: the dtype's largest number.
    /// - `neginf`: instead of minus infinity; NaN: the dtype's smallest number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_nan_to_num(x: *const mlxrocm_array, nan: f64, posinf: f64, neginf: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true.
    ///
    /// - `x`: borrowed.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_astype(x: *const mlxrocm_array, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The same bytes as another dtype; the last axis grows or shrinks with the size of an element.
    ///
    /// - `x`: borrowed.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_view(x: *const mlxrocm_array, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sum.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_add(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Angle of the point (b, a).
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arctan2(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// And of the bits of integers or truth values.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_bitwise_and(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Or of the bits of integers or truth values.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_bitwise_or(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Exclusive or of the bits of integers or truth values.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_bitwise_xor(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Bits of integers moved up by b; 0 beyond the dtype's bits.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_left_shift(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Bits of integers moved down by b; by more than the dtype's bits as by all of them.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_right_shift(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Quotient, a fraction.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_divide(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Quotient, rounded down, but of complex numbers. An integer by 0 is 0.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_floor_divide(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether a = b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_equal(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether a > b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_greater(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether a >= b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_greater_equal(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether a < b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_less(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether a <= b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_less_equal(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// log(exp(a) + exp(b)) without overflow.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logaddexp(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether both are not 0.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logical_and(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether one is not 0.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logical_or(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The larger; NaN if one is NaN.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_maximum(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The smaller; NaN if one is NaN.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_minimum(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Product.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_multiply(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether a and b differ.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_not_equal(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// a to the power of b. Integers to a negative power are 0, but 1 and -1.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_power(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_remainder(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Difference.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_subtract(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether one is 0 and the other is not.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logical_xor(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Quotient, rounded down, and remainder, with b's sign.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `quotient`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `remainder`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_divmod(a: *const mlxrocm_array, b: *const mlxrocm_array, quotient: *mut *mut mlxrocm_array, remainder: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Elements of a where the condition is not 0, of b elsewhere.
    ///
    /// - `condition`: borrowed.
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_where(condition: *const mlxrocm_array, a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Elements between a minimum and a maximum.
    ///
    /// - `x`: borrowed.
    /// - `minimum`: borrowed; NULL: no minimum.
    /// - `maximum`: borrowed; NULL: no maximum.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_clip(x: *const mlxrocm_array, minimum: *const mlxrocm_array, maximum: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether |a - b| <= atol + rtol |b|; equal infinities are close.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `rtol`: relative tolerance.
    /// - `atol`: absolute tolerance.
    /// - `equal_nan`: not 0: NaN is close to NaN.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_isclose(a: *const mlxrocm_array, b: *const mlxrocm_array, rtol: f64, atol: f64, equal_nan: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether all elements are close, as by mlxrocm_array_isclose.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `rtol`: relative tolerance.
    /// - `atol`: absolute tolerance.
    /// - `equal_nan`: not 0: NaN is close to NaN.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_allclose(a: *const mlxrocm_array, b: *const mlxrocm_array, rtol: f64, atol: f64, equal_nan: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether shapes and all elements are equal.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `equal_nan`: not 0: NaN is equal to NaN.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_array_equal(a: *const mlxrocm_array, b: *const mlxrocm_array, equal_nan: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The value, broadcast to a shape.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `value`: borrowed.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_full(shape: *const i64, rank: usize, value: *const mlxrocm_array, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Zeros.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_zeros(shape: *const i64, rank: usize, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Ones.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_ones(shape: *const i64, rank: usize, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Zeros of the shape of an array, on its device.
    ///
    /// - `x`: borrowed.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_zeros_like(x: *const mlxrocm_array, dtype_or_none: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Ones of the shape of an array, on its device.
    ///
    /// - `x`: borrowed.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_ones_like(x: *const mlxrocm_array, dtype_or_none: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The value, broadcast to the shape of an array, on its device.
    ///
    /// - `x`: borrowed.
    /// - `value`: borrowed.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_full_like(x: *const mlxrocm_array, value: *const mlxrocm_array, dtype_or_none: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// A scalar.
    ///
    /// - `value`: the number; NaN is one.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_number(value: f64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Start, start + step and so on, before stop; not of truth values.
    ///
    /// - `start`: the first number.
    /// - `stop`: what is not reached.
    /// - `step`: from one to the next; negative ones count down.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_arange(start: f64, stop: f64, step: f64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Numbers from start to stop, evenly spaced.
    ///
    /// - `start`: the first number.
    /// - `stop`: the last number.
    /// - `count`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linspace(start: f64, stop: f64, count: i64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Ones on a diagonal of a matrix of zeros.
    ///
    /// - `n`: rows.
    /// - `m`: columns.
    /// - `k`: the diagonal: 0 is the main one, positive ones are above it.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_eye(n: i64, m: i64, k: i64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The identity matrix.
    ///
    /// - `n`: rows and columns.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_identity(n: i64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Ones on and below a diagonal, zeros above.
    ///
    /// - `n`: rows.
    /// - `m`: columns.
    /// - `k`: the diagonal.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_tri(n: i64, m: i64, k: i64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The last two axes with zeros above a diagonal.
    ///
    /// - `x`: borrowed.
    /// - `k`: the diagonal.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_tril(x: *const mlxrocm_array, k: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The last two axes with zeros below a diagonal.
    ///
    /// - `x`: borrowed.
    /// - `k`: the diagonal.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_triu(x: *const mlxrocm_array, k: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// A matrix with a vector on a diagonal, or a diagonal of a matrix.
    ///
    /// - `x`: borrowed.
    /// - `k`: the diagonal.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_diag(x: *const mlxrocm_array, k: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Diagonals of the matrices of two axes, as a last axis.
    ///
    /// - `x`: borrowed.
    /// - `offset`: the diagonal: 0 is the main one, positive ones are above it.
    /// - `axis1`: the axis of rows.
    /// - `axis2`: the axis of columns.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_diagonal(x: *const mlxrocm_array, offset: i64, axis1: i64, axis2: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sum of a diagonal.
    ///
    /// - `x`: borrowed.
    /// - `offset`: the diagonal.
    /// - `axis1`: the axis of rows.
    /// - `axis2`: the axis of columns.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_trace(x: *const mlxrocm_array, offset: i64, axis1: i64, axis2: i64, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Products of every element of a with every one of b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_outer(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Kronecker product.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_kron(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether all elements are not 0.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_all(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Whether some element is not 0.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_any(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sum. Small integers and truth values become 32-bit integers.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sum(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Product. Small integers and truth values become 32-bit integers.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_prod(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The smallest; NaN if there is one.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_min(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The largest; NaN if there is one.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_max(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Logarithm of the sum of exponentials, without overflow.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logsumexp(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Mean.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_mean(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Variance.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `ddof`: is taken from the number of elements.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_var(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, ddof: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Standard deviation.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `ddof`: is taken from the number of elements.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_std(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, ddof: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Median; the mean of the middle two of an even number.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_median(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// How many elements are not 0.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_count_nonzero(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The place (uint32) of the first smallest element; of NaN if there is one.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_argmin(x: *const mlxrocm_array, axis: i64, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The place (uint32) of the first largest element; of NaN if there is one.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_argmax(x: *const mlxrocm_array, axis: i64, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Softmax: exp(x) over its sum along axes, without overflow.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `precise`: not 0: in float32 within, whatever the dtype.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_softmax(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, precise: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// How many elements axes have, as a scalar.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `inverted`: not 0: one by that.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_number_of_elements(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, inverted: i32, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Running sum.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_cumsum(x: *const mlxrocm_array, axis: i64, reverse: i32, inclusive: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Running product.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_cumprod(x: *const mlxrocm_array, axis: i64, reverse: i32, inclusive: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Running maximum.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_cummax(x: *const mlxrocm_array, axis: i64, reverse: i32, inclusive: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Running minimum.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_cummin(x: *const mlxrocm_array, axis: i64, reverse: i32, inclusive: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Running logarithm of the sum of exponentials.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `reverse`: not 0: from the end.
    /// - `inclusive`: not 0: with the element itself.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_logcumsumexp(x: *const mlxrocm_array, axis: i64, reverse: i32, inclusive: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sorted, NaN last.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_sort(x: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The places (uint32) of the sorted elements; equal ones stay in order.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_argsort(x: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With the kth element where sorting would put it, none larger before it and none smaller behind.
    ///
    /// - `x`: borrowed.
    /// - `kth`: a place; negative ones count from the end.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_partition(x: *const mlxrocm_array, kth: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The places (uint32) that mlxrocm_array_partition takes elements from.
    ///
    /// - `x`: borrowed.
    /// - `kth`: a place; negative ones count from the end.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_argpartition(x: *const mlxrocm_array, kth: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The k largest, in no particular order.
    ///
    /// - `x`: borrowed.
    /// - `k`: how many.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_topk(x: *const mlxrocm_array, k: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Where values would be put into a sorted vector (uint32).
    ///
    /// - `sorted`: borrowed; a vector.
    /// - `values`: borrowed.
    /// - `right`: not 0: behind equal ones, else before them.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_searchsorted(sorted: *const mlxrocm_array, values: *const mlxrocm_array, right: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The same elements, row after row, in another shape; one size may be -1: what is left.
    ///
    /// - `x`: borrowed.
    /// - `shape`: `rank` numbers, borrowed for the call.
    /// - `rank`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_reshape(x: *const mlxrocm_array, shape: *const i64, rank: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Neighbouring axes as one.
    ///
    /// - `x`: borrowed.
    /// - `start`: the first of them.
    /// - `end`: the last of them.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_flatten(x: *const mlxrocm_array, start: i64, end: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// An axis as several; one size may be -1: what is left.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end.
    /// - `shape`: `rank` numbers, borrowed for the call.
    /// - `rank`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_unflatten(x: *const mlxrocm_array, axis: i64, shape: *const i64, rank: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// New axes of size 1.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` places in the result's shape, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_expand_dims(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Axes of size 1 taken away.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; NULL: all of size 1.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_squeeze(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Repeated along axes of size 1, and along new ones in front.
    ///
    /// - `x`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_broadcast_to(x: *const mlxrocm_array, shape: *const i64, rank: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Axes in another order.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; NULL: turned round.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_transpose(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Two axes in each other's place.
    ///
    /// - `x`: borrowed.
    /// - `axis1`: one.
    /// - `axis2`: the other.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_swapaxes(x: *const mlxrocm_array, axis1: i64, axis2: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// An axis at another place.
    ///
    /// - `x`: borrowed.
    /// - `source`: the axis.
    /// - `destination`: where it goes.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_moveaxis(x: *const mlxrocm_array, source: i64, destination: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// At least one axis.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_atleast_1d(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// At least two axes.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_atleast_2d(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// At least three axes.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_atleast_3d(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Elements from start to before stop by step. Negative places count from the end, those beyond
    /// the array are its ends; a negative step goes backwards.
    ///
    /// - `x`: borrowed.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `start_count`: how many.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `stop_count`: how many.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    /// - `step_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice(x: *const mlxrocm_array, start: *const i64, start_count: usize, stop: *const i64, stop_count: usize, step: *const i64, step_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Elements at the places, among the array's elements row after row, that strides and an offset give.
    ///
    /// - `x`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `strides`: `strides_count` strides in elements, borrowed for the call.
    /// - `strides_count`: how many.
    /// - `offset`: elements before the first.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_as_strided(x: *const mlxrocm_array, shape: *const i64, rank: usize, strides: *const i64, strides_count: usize, offset: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Row after row in memory.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_contiguous(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The array, as one that derivatives do not pass.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_stop_gradient(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The array, computed after others.
    ///
    /// - `x`: borrowed.
    /// - `others`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_depends(x: *const mlxrocm_array, others: *const *const mlxrocm_array, count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Arrays one after the other along an axis.
    ///
    /// - `arrays`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `axis`: negative ones count from the end.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_concatenate(arrays: *const *const mlxrocm_array, count: usize, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Arrays of one shape along a new axis.
    ///
    /// - `arrays`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `axis`: its place in the result's shape.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_stack(arrays: *const *const mlxrocm_array, count: usize, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Each element several times, one after the other.
    ///
    /// - `x`: borrowed.
    /// - `repeats`: how often.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_repeat(x: *const mlxrocm_array, repeats: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The whole array several times along each axis.
    ///
    /// - `x`: borrowed.
    /// - `reps`: `reps_count` numbers, for the last axes, borrowed for the call.
    /// - `reps_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_tile(x: *const mlxrocm_array, reps: *const i64, reps_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Surrounded along every axis.
    ///
    /// - `x`: borrowed.
    /// - `low`: `low_count` numbers of elements before, one an axis, borrowed for the call.
    /// - `low_count`: how many.
    /// - `high`: `high_count` numbers of elements behind, borrowed for the call.
    /// - `high_count`: how many.
    /// - `mode`: an MLXROCM_PAD number.
    /// - `value`: borrowed; a scalar, for MLXROCM_PAD_CONSTANT; NULL: 0.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_pad(x: *const mlxrocm_array, low: *const i64, low_count: usize, high: *const i64, high_count: usize, mode: i64, value: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Moved round; what leaves at an end comes in at the other.
    ///
    /// - `x`: borrowed.
    /// - `shifts`: `shifts_count` numbers of places, one an axis or one for all, borrowed for the call.
    /// - `shifts_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; NULL: the array made flat.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_roll(x: *const mlxrocm_array, shifts: *const i64, shifts_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Axes turned round: the last element first.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_flip(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Cuts an array before places of an axis.
    ///
    /// - `x`: borrowed.
    /// - `places`: `places_count` places, ascending, borrowed for the call; negative ones count from the
    ///   end.
    /// - `places_count`: how many.
    /// - `axis`: negative ones count from the end.
    /// - `results`: receives `places_count` + 1 arrays, owned: free each with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_split(x: *const mlxrocm_array, places: *const i64, places_count: usize, axis: i64, results: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Cuts an axis into equal parts.
    ///
    /// - `x`: borrowed.
    /// - `parts`: how many; the axis divides by it.
    /// - `axis`: negative ones count from the end.
    /// - `results`: receives `parts` arrays, owned: free each with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_split_parts(x: *const mlxrocm_array, parts: usize, axis: i64, results: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Broadcasts arrays to the shape that all of them fit.
    ///
    /// - `arrays`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `results`: receives `count` arrays, owned: free each with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_broadcast_arrays(arrays: *const *const mlxrocm_array, count: usize, results: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Coordinates of a grid: each vector along an axis of its own, repeated along the others.
    ///
    /// - `arrays`: `count` vectors, borrowed.
    /// - `count`: how many.
    /// - `sparse`: not 0: of size 1 along the others instead.
    /// - `swapped`: not 0: the first two axes change places (MLX's indexing "xy").
    /// - `results`: receives `count` arrays, owned: free each with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_meshgrid(arrays: *const *const mlxrocm_array, count: usize, sparse: i32, swapped: i32, results: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Slices of one axis at indices, which take the axis' place. Negative indices count from the end.
    ///
    /// - `x`: borrowed.
    /// - `indices`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_take(x: *const mlxrocm_array, indices: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The element at each index along an axis. Other axes are broadcast.
    ///
    /// - `x`: borrowed.
    /// - `indices`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_take_along_axis(x: *const mlxrocm_array, indices: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes.
    ///
    /// - `x`: borrowed.
    /// - `indices`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `sizes`: `sizes_count` sizes of a slice, one for each axis of x, borrowed for the call.
    /// - `sizes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_gather(x: *const mlxrocm_array, indices: *const *const mlxrocm_array, count: usize, axes: *const i64, axes_count: usize, sizes: *const i64, sizes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// A slice of given sizes that begins at computed places.
    ///
    /// - `x`: borrowed.
    /// - `start`: borrowed; a vector of integers, one for each of the axes.
    /// - `axes`: `axes_count` axes, borrowed for the call; along others the slice begins at 0.
    /// - `axes_count`: how many.
    /// - `sizes`: `sizes_count` sizes, one for each axis of x, borrowed for the call.
    /// - `sizes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_dynamic(x: *const mlxrocm_array, start: *const mlxrocm_array, axes: *const i64, axes_count: usize, sizes: *const i64, sizes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With an update in place of the slice that begins at computed places.
    ///
    /// - `x`: borrowed.
    /// - `update`: borrowed.
    /// - `start`: borrowed; a vector of integers, one for each of the axes.
    /// - `axes`: `axes_count` axes, borrowed for the call; along others the slice begins at 0.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_update_dynamic(x: *const mlxrocm_array, update: *const mlxrocm_array, start: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With elements of source, in order, where the mask is not 0.
    ///
    /// - `x`: borrowed.
    /// - `mask`: borrowed; of x's shape, or without its last axes.
    /// - `source`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_masked_scatter(x: *const mlxrocm_array, mask: *const mlxrocm_array, source: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices
    /// of x's rank. Where places meet the last update stays.
    ///
    /// - `x`: borrowed.
    /// - `indices`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `updates`: borrowed.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_scatter(x: *const mlxrocm_array, indices: *const *const mlxrocm_array, count: usize, updates: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With the elements of a slice replaced by an update, which is broadcast to it.
    ///
    /// - `x`: borrowed.
    /// - `update`: borrowed.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `start_count`: how many.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `stop_count`: how many.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    /// - `step_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_update(x: *const mlxrocm_array, update: *const mlxrocm_array, start: *const i64, start_count: usize, stop: *const i64, stop_count: usize, step: *const i64, step_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    ///
    /// - `x`: borrowed.
    /// - `indices`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `updates`: borrowed.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_scatter_add(x: *const mlxrocm_array, indices: *const *const mlxrocm_array, count: usize, updates: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With the elements of a slice joined by sum with an update, which is broadcast to it.
    ///
    /// - `x`: borrowed.
    /// - `update`: borrowed.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `start_count`: how many.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `stop_count`: how many.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    /// - `step_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_update_add(x: *const mlxrocm_array, update: *const mlxrocm_array, start: *const i64, start_count: usize, stop: *const i64, stop_count: usize, step: *const i64, step_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    ///
    /// - `x`: borrowed.
    /// - `indices`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `updates`: borrowed.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_scatter_prod(x: *const mlxrocm_array, indices: *const *const mlxrocm_array, count: usize, updates: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With the elements of a slice joined by product with an update, which is broadcast to it.
    ///
    /// - `x`: borrowed.
    /// - `update`: borrowed.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `start_count`: how many.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `stop_count`: how many.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    /// - `step_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_update_prod(x: *const mlxrocm_array, update: *const mlxrocm_array, start: *const i64, start_count: usize, stop: *const i64, stop_count: usize, step: *const i64, step_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    ///
    /// - `x`: borrowed.
    /// - `indices`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `updates`: borrowed.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_scatter_max(x: *const mlxrocm_array, indices: *const *const mlxrocm_array, count: usize, updates: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With the elements of a slice joined by maximum with an update, which is broadcast to it.
    ///
    /// - `x`: borrowed.
    /// - `update`: borrowed.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `start_count`: how many.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `stop_count`: how many.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    /// - `step_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_update_max(x: *const mlxrocm_array, update: *const mlxrocm_array, start: *const i64, start_count: usize, stop: *const i64, stop_count: usize, step: *const i64, step_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    ///
    /// - `x`: borrowed.
    /// - `indices`: `count` arrays, borrowed.
    /// - `count`: how many.
    /// - `updates`: borrowed.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_scatter_min(x: *const mlxrocm_array, indices: *const *const mlxrocm_array, count: usize, updates: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With the elements of a slice joined by minimum with an update, which is broadcast to it.
    ///
    /// - `x`: borrowed.
    /// - `update`: borrowed.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `start_count`: how many.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `stop_count`: how many.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    /// - `step_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_slice_update_min(x: *const mlxrocm_array, update: *const mlxrocm_array, start: *const i64, start_count: usize, stop: *const i64, stop_count: usize, step: *const i64, step_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With values put at indices along an axis. Values are broadcast to the indices.
    ///
    /// - `x`: borrowed.
    /// - `indices`: borrowed.
    /// - `values`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_put_along_axis(x: *const mlxrocm_array, indices: *const mlxrocm_array, values: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// With values added at indices along an axis. Values are broadcast to the indices.
    ///
    /// - `x`: borrowed.
    /// - `indices`: borrowed.
    /// - `values`: borrowed.
    /// - `axis`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_scatter_add_axis(x: *const mlxrocm_array, indices: *const mlxrocm_array, values: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Product of the last two axes; the others are broadcast together. A vector is a row on the left and a
    /// column on the right.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_matmul(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// alpha · a·b + beta · c; c is broadcast to the product.
    ///
    /// - `c`: borrowed.
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `alpha`: of the product.
    /// - `beta`: of c; 0: c is not looked at.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_addmm(c: *const mlxrocm_array, a: *const mlxrocm_array, b: *const mlxrocm_array, alpha: f64, beta: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Product of matrices whose blocks are multiplied by masks (truth values or numbers) first.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `block_size`: rows and columns of a block, 32 or 64.
    /// - `mask_out`: borrowed; of the result's blocks; NULL: none.
    /// - `mask_lhs`: borrowed; of the blocks of a; NULL: none.
    /// - `mask_rhs`: borrowed; of the blocks of b; NULL: none.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_block_masked_mm(a: *const mlxrocm_array, b: *const mlxrocm_array, block_size: i64, mask_out: *const mlxrocm_array, mask_lhs: *const mlxrocm_array, mask_rhs: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `lhs_indices`: borrowed; NULL: all in order.
    /// - `rhs_indices`: borrowed; NULL: all in order.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_gather_mm(a: *const mlxrocm_array, b: *const mlxrocm_array, lhs_indices: *const mlxrocm_array, rhs_indices: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Products of parts of two matrices.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `segments`: borrowed; pairs of the first inner place of a part and one past its last.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_segmented_mm(a: *const mlxrocm_array, b: *const mlxrocm_array, segments: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sums of products over pairs of axes.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `axes_a`: `axes_a_count` numbers, borrowed for the call.
    /// - `axes_a_count`: how many.
    /// - `axes_b`: `axes_b_count` numbers, borrowed for the call.
    /// - `axes_b_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_tensordot(a: *const mlxrocm_array, b: *const mlxrocm_array, axes_a: *const i64, axes_a_count: usize, axes_b: *const i64, axes_b_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sums of products over the last axes.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_inner(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are
    /// nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters
    /// that appear once, in the order of the alphabet.
    ///
    /// - `subscripts`: UTF-8, borrowed for the call.
    /// - `subscripts_length`: bytes of `subscripts`, or MLXROCM_NUL.
    /// - `operands`: `operands_count` arrays, borrowed.
    /// - `operands_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_einsum(subscripts: *const c_char, subscripts_length: usize, operands: *const *const mlxrocm_array, operands_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Codes, scales and biases of groups along the last axis, in the affine mode.
    ///
    /// - `w`: borrowed.
    /// - `group_size`: numbers that share a scale; 0: 64.
    /// - `bits`: of a code; 0: 4.
    /// - `codes`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `scales`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `biases`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_quantize(w: *const mlxrocm_array, group_size: i64, bits: i64, codes: *mut *mut mlxrocm_array, scales: *mut *mut mlxrocm_array, biases: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Codes and scales of groups along the last axis, in a mode without biases.
    ///
    /// - `w`: borrowed.
    /// - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
    /// - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
    /// - `global_scale`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `codes`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `scales`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_quantize_float(w: *const mlxrocm_array, mode: *const c_char, mode_length: usize, global_scale: *const mlxrocm_array, codes: *mut *mut mlxrocm_array, scales: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The numbers of codes.
    ///
    /// - `w`: borrowed.
    /// - `scales`: borrowed.
    /// - `biases`: borrowed; NULL: none.
    /// - `group_size`: numbers that share a scale; 0: the mode's own.
    /// - `bits`: of a code; 0: the mode's own.
    /// - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
    /// - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
    /// - `global_scale`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the scales, bfloat16 for floating modes.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_dequantize(w: *const mlxrocm_array, scales: *const mlxrocm_array, biases: *const mlxrocm_array, group_size: i64, bits: i64, mode: *const c_char, mode_length: usize, global_scale: *const mlxrocm_array, dtype_or_none: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Product with a quantized matrix.
    ///
    /// - `x`: borrowed.
    /// - `w`: borrowed.
    /// - `scales`: borrowed.
    /// - `biases`: borrowed; NULL: none.
    /// - `transpose`: not 0: w is [out, in], else [in, out].
    /// - `group_size`: numbers that share a scale; 0: the mode's own.
    /// - `bits`: of a code; 0: the mode's own.
    /// - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
    /// - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_quantized_matmul(x: *const mlxrocm_array, w: *const mlxrocm_array, scales: *const mlxrocm_array, biases: *const mlxrocm_array, transpose: i32, group_size: i64, bits: i64, mode: *const c_char, mode_length: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
    ///
    /// - `x`: borrowed.
    /// - `w`: borrowed.
    /// - `scales`: borrowed.
    /// - `biases`: borrowed; NULL: none.
    /// - `lhs_indices`: borrowed; NULL: all in order.
    /// - `rhs_indices`: borrowed; NULL: all in order.
    /// - `transpose`: not 0: matrices of w are [out, in], else [in, out].
    /// - `group_size`: numbers that share a scale; 0: the mode's own.
    /// - `bits`: of a code; 0: the mode's own.
    /// - `mode`: UTF-8, borrowed for the call: "affine", "mxfp4", "mxfp8" or "nvfp4".
    /// - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_gather_qmm(x: *const mlxrocm_array, w: *const mlxrocm_array, scales: *const mlxrocm_array, biases: *const mlxrocm_array, lhs_indices: *const mlxrocm_array, rhs_indices: *const mlxrocm_array, transpose: i32, group_size: i64, bits: i64, mode: *const c_char, mode_length: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales.
    ///
    /// - `x`: borrowed.
    /// - `w`: borrowed.
    /// - `scales`: borrowed; of w, if it is quantized; NULL: w is not.
    /// - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
    /// - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
    /// - `global_scale_x`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `global_scale_w`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_qqmm(x: *const mlxrocm_array, w: *const mlxrocm_array, scales: *const mlxrocm_array, mode: *const c_char, mode_length: usize, global_scale_x: *const mlxrocm_array, global_scale_w: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// As mlxrocm_array_qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
    ///
    /// - `x`: borrowed.
    /// - `w`: borrowed.
    /// - `scales`: borrowed; of w, if it is quantized; NULL: w is not.
    /// - `lhs_indices`: borrowed; NULL: all in order.
    /// - `rhs_indices`: borrowed; NULL: all in order.
    /// - `mode`: UTF-8, borrowed for the call: "mxfp4", "mxfp8" or "nvfp4".
    /// - `mode_length`: bytes of `mode`, or MLXROCM_NUL.
    /// - `global_scale_x`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `global_scale_w`: borrowed; a float32 scalar for "nvfp4"; NULL: none.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_gather_qqmm(x: *const mlxrocm_array, w: *const mlxrocm_array, scales: *const mlxrocm_array, lhs_indices: *const mlxrocm_array, rhs_indices: *const mlxrocm_array, mode: *const c_char, mode_length: usize, global_scale_x: *const mlxrocm_array, global_scale_w: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// E4M3 codes (uint8) of numbers.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_to_fp8(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Numbers of E4M3 codes (uint8).
    ///
    /// - `x`: borrowed.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_from_fp8(x: *const mlxrocm_array, dtype: u32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial
    /// axes. A list holds a number for each of these, one for all, or none for the usual.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `stride_count`: how many.
    /// - `padding_low`: `padding_low_count` zeros before; negative ones cut; 0.
    /// - `padding_low_count`: how many.
    /// - `padding_high`: `padding_high_count` zeros behind; negative ones cut; 0.
    /// - `padding_high_count`: how many.
    /// - `kernel_dilation`: `kernel_dilation_count` distances of the kernel's elements; 1.
    /// - `kernel_dilation_count`: how many.
    /// - `input_dilation`: `input_dilation_count` distances of the input's elements; 1.
    /// - `input_dilation_count`: how many.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `flip`: not 0: the kernel is turned round.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv_general(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: *const i64, stride_count: usize, padding_low: *const i64, padding_low_count: usize, padding_high: *const i64, padding_high_count: usize, kernel_dilation: *const i64, kernel_dilation_count: usize, input_dilation: *const i64, input_dilation_count: usize, groups: i64, flip: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Transposed convolution: back to the size of what a convolution with these numbers is made of.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `stride_count`: how many.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `padding_count`: how many.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `dilation_count`: how many.
    /// - `output_padding`: `output_padding_count` more elements behind; 0.
    /// - `output_padding_count`: how many.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv_transpose(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: *const i64, stride_count: usize, padding: *const i64, padding_count: usize, dilation: *const i64, dilation_count: usize, output_padding: *const i64, output_padding_count: usize, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Convolution of [batch, length, channels] with [channels out, length, channels / groups].
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: steps of the kernel.
    /// - `padding`: zeros on both sides.
    /// - `dilation`: distances of the kernel's elements.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv1d(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: i64, padding: i64, dilation: i64, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Transposed convolution of 1 spatial axis: back to the size of what mlxrocm_array_conv1d with these numbers is made of.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: steps of the kernel.
    /// - `padding`: zeros on both sides.
    /// - `dilation`: distances of the kernel's elements.
    /// - `output_padding`: more elements behind.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv_transpose1d(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: i64, padding: i64, dilation: i64, output_padding: i64, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups].
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `stride_count`: how many.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `padding_count`: how many.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `dilation_count`: how many.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv2d(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: *const i64, stride_count: usize, padding: *const i64, padding_count: usize, dilation: *const i64, dilation_count: usize, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Transposed convolution of 2 spatial axes: back to the size of what mlxrocm_array_conv2d with these numbers is made of.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `stride_count`: how many.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `padding_count`: how many.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `dilation_count`: how many.
    /// - `output_padding`: `output_padding_count` more elements behind; 0.
    /// - `output_padding_count`: how many.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv_transpose2d(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: *const i64, stride_count: usize, padding: *const i64, padding_count: usize, dilation: *const i64, dilation_count: usize, output_padding: *const i64, output_padding_count: usize, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups].
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `stride_count`: how many.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `padding_count`: how many.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `dilation_count`: how many.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv3d(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: *const i64, stride_count: usize, padding: *const i64, padding_count: usize, dilation: *const i64, dilation_count: usize, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Transposed convolution of 3 spatial axes: back to the size of what mlxrocm_array_conv3d with these numbers is made of.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed.
    /// - `stride`: `stride_count` steps of the kernel; 1.
    /// - `stride_count`: how many.
    /// - `padding`: `padding_count` zeros on both sides; 0.
    /// - `padding_count`: how many.
    /// - `dilation`: `dilation_count` distances of the kernel's elements; 1.
    /// - `dilation_count`: how many.
    /// - `output_padding`: `output_padding_count` more elements behind; 0.
    /// - `output_padding_count`: how many.
    /// - `groups`: parts of the channels that do not see each other; 0: one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_conv_transpose3d(x: *const mlxrocm_array, weight: *const mlxrocm_array, stride: *const i64, stride_count: usize, padding: *const i64, padding_count: usize, dilation: *const i64, dilation_count: usize, output_padding: *const i64, output_padding_count: usize, groups: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Discrete Fourier transform along an axis.
    ///
    /// - `x`: borrowed.
    /// - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
    /// - `axis`: negative ones count from the end.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_fft(x: *const mlxrocm_array, n: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse discrete Fourier transform along an axis.
    ///
    /// - `x`: borrowed.
    /// - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
    /// - `axis`: negative ones count from the end.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_ifft(x: *const mlxrocm_array, n: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Discrete Fourier transform of real numbers along an axis: half of the frequencies.
    ///
    /// - `x`: borrowed.
    /// - `n`: the size that the axis is cut or padded with zeros to; 0: its own.
    /// - `axis`: negative ones count from the end.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_rfft(x: *const mlxrocm_array, n: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The real numbers whose mlxrocm_array_fft_rfft this is.
    ///
    /// - `x`: borrowed.
    /// - `n`: the size of the result; 0: twice one less than the axis has.
    /// - `axis`: negative ones count from the end.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_irfft(x: *const mlxrocm_array, n: i64, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Discrete Fourier transform along two axes.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_fft2(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse discrete Fourier transform along two axes.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_ifft2(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes that the axes are cut or padded with zeros to; NULL: their own.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_rfft2(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The real numbers whose mlxrocm_array_fft_rfft2 this is.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes of the result; NULL: the array's, of the last axis twice one less.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end; NULL: the last two.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_irfft2(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Moves the frequency 0 from the first place of axes to the middle.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_fftshift(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Undoes mlxrocm_array_fft_fftshift.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_ifftshift(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The frequencies of the results of mlxrocm_array_fft_fft, float32.
    ///
    /// - `n`: samples.
    /// - `d`: from one sample to the next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_fftfreq(n: i64, d: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The frequencies of the results of mlxrocm_array_fft_rfft, float32.
    ///
    /// - `n`: samples.
    /// - `d`: from one sample to the next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_rfftfreq(n: i64, d: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Discrete Fourier transform along axes.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_fftn(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Inverse discrete Fourier transform along axes.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_ifftn(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Discrete Fourier transform of real numbers; of the last axis only half of the frequencies.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_rfftn(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The real numbers whose mlxrocm_array_fft_rfftn this is.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes of the result; NULL: the array's, of the last axis twice one less.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_irfftn(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as
    /// mlxrocm_array_fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n.
    ///
    /// - `x`: borrowed.
    /// - `sizes`: `sizes_count` sizes, a number for each axis, cut or padded with zeros to; NULL: the array's.
    /// - `sizes_count`: how many.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `norm`: UTF-8, borrowed for the call: "backward", "ortho" or "forward".
    /// - `norm_length`: bytes of `norm`, or MLXROCM_NUL.
    /// - `inverse`: not 0: as mlxrocm_array_fft_ifftn.
    /// - `real`: not 0: as mlxrocm_array_fft_rfftn or, inverse, mlxrocm_array_fft_irfftn.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fft_normed(x: *const mlxrocm_array, sizes: *const i64, sizes_count: usize, axes: *const i64, axes_count: usize, norm: *const c_char, norm_length: usize, inverse: i32, real: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
    ///
    /// - `x`: borrowed.
    /// - `scale`: of the result; NaN: one by the root of the elements.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_hadamard_transform(x: *const mlxrocm_array, scale: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// x · rsqrt(mean(x²) + eps) · weight over the last axis.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed; NULL: none.
    /// - `eps`: added to the mean.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fast_rms_norm(x: *const mlxrocm_array, weight: *const mlxrocm_array, eps: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis.
    ///
    /// - `x`: borrowed.
    /// - `weight`: borrowed; NULL: none.
    /// - `bias`: borrowed; NULL: none.
    /// - `eps`: added to the variance.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fast_layer_norm(x: *const mlxrocm_array, weight: *const mlxrocm_array, bias: *const mlxrocm_array, eps: f64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale.
    ///
    /// - `x`: borrowed.
    /// - `dims`: how many dimensions are rotated; even.
    /// - `traditional`: not 0: pairs are (2i, 2i + 1), else (i, i + dims / 2).
    /// - `base`: pair i turns by position · base^(−2i / dims); NaN: by position / freqs[i].
    /// - `scale`: of positions.
    /// - `offset`: borrowed; an integer, or one for each of the batch.
    /// - `freqs`: borrowed; [dims / 2] instead of base; NULL: none.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fast_rope(x: *const mlxrocm_array, dims: i64, traditional: i32, base: f64, scale: f64, offset: *const mlxrocm_array, freqs: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim].
    ///
    /// - `q`: borrowed.
    /// - `k`: borrowed.
    /// - `v`: borrowed.
    /// - `scale`: of scores.
    /// - `causal`: not 0: row i sees keys up to i + keys − rows.
    /// - `mask`: borrowed; truth values (seen or not) or numbers (added), broadcast to the scores; NULL: none.
    /// - `sinks`: borrowed; one more score for each head, without a value; NULL: none.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_fast_scaled_dot_product_attention(q: *const mlxrocm_array, k: *const mlxrocm_array, v: *const mlxrocm_array, scale: f64, causal: i32, mask: *const mlxrocm_array, sinks: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Q with orthogonal columns and R, upper triangular.
    ///
    /// - `x`: borrowed.
    /// - `q`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `r`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_qr(x: *const mlxrocm_array, q: *mut *mut mlxrocm_array, r: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// U, the singular values (the largest first) and Vᴴ.
    ///
    /// - `x`: borrowed.
    /// - `u`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `s`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `vt`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_svd(x: *const mlxrocm_array, u: *mut *mut mlxrocm_array, s: *mut *mut mlxrocm_array, vt: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The singular values, the largest first.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_svd_values(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The inverse. Singular matrices fail when they are evaluated.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_inv(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The inverse of triangular matrices.
    ///
    /// - `x`: borrowed.
    /// - `upper`: not 0: of the upper triangle, else of the lower one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_tri_inv(x: *const mlxrocm_array, upper: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// L of L·Lᵀ. What is not positive definite fails when it is evaluated.
    ///
    /// - `x`: borrowed.
    /// - `upper`: not 0: Lᵀ.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_cholesky(x: *const mlxrocm_array, upper: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The inverse of the matrix whose factor this is.
    ///
    /// - `x`: borrowed.
    /// - `upper`: not 0: the factor is an upper triangle.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_cholesky_inv(x: *const mlxrocm_array, upper: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The pseudoinverse.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_pinv(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices.
    ///
    /// - `x`: borrowed.
    /// - `upper`: not 0: the upper triangle is read, else the lower one.
    /// - `values`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `vectors`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_eigh(x: *const mlxrocm_array, upper: i32, values: *mut *mut mlxrocm_array, vectors: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Eigenvalues of Hermitian matrices, ascending.
    ///
    /// - `x`: borrowed.
    /// - `upper`: not 0: the upper triangle is read, else the lower one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_eigvalsh(x: *const mlxrocm_array, upper: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Eigenvalues and eigenvectors (columns), complex.
    ///
    /// - `x`: borrowed.
    /// - `values`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `vectors`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_eig(x: *const mlxrocm_array, values: *mut *mut mlxrocm_array, vectors: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Eigenvalues, complex.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_eigvals(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The row of L·U that each row is, L and U.
    ///
    /// - `x`: borrowed.
    /// - `rows`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `l`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `u`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_lu(x: *const mlxrocm_array, rows: *mut *mut mlxrocm_array, l: *mut *mut mlxrocm_array, u: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// L and U in one array, and the row that each step changed places with.
    ///
    /// - `x`: borrowed.
    /// - `lu`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `pivots`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_lu_factor(x: *const mlxrocm_array, lu: *mut *mut mlxrocm_array, pivots: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// x of a·x = b.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_solve(a: *const mlxrocm_array, b: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// x of a·x = b with a triangular a.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `upper`: not 0: the upper triangle, else the lower one.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_solve_triangular(a: *const mlxrocm_array, b: *const mlxrocm_array, upper: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The determinant.
    ///
    /// - `x`: borrowed.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_det(x: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The determinant's sign and the logarithm of its size.
    ///
    /// - `x`: borrowed.
    /// - `sign`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `log`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_slogdet(x: *const mlxrocm_array, sign: *mut *mut mlxrocm_array, log: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Vector product along an axis of 2 or 3 elements.
    ///
    /// - `a`: borrowed.
    /// - `b`: borrowed.
    /// - `axis`: negative ones count from the end.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_cross(a: *const mlxrocm_array, b: *const mlxrocm_array, axis: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Root of the sum of squares.
    ///
    /// - `x`: borrowed.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_norm_l2(x: *const mlxrocm_array, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Norm of vectors (one axis) or matrices (two).
    ///
    /// - `x`: borrowed.
    /// - `p`: which: any number for vectors; 1, 2, infinity and their negatives for matrices.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_norm(x: *const mlxrocm_array, p: f64, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Norm of matrices.
    ///
    /// - `x`: borrowed.
    /// - `order`: UTF-8, borrowed for the call: "fro" (root of all squares) or "nuc" (sum of singular values).
    /// - `order_length`: bytes of `order`, or MLXROCM_NUL.
    /// - `axes`: `axes_count` axes, borrowed for the call; negative ones count from the end;
    ///   NULL: all axes.
    /// - `axes_count`: how many.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_linalg_norm_matrix(x: *const mlxrocm_array, order: *const c_char, order_length: usize, axes: *const i64, axes_count: usize, keepdims: i32, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Starts the sequence of keys again that calls without a key take theirs from. It is the process' own.
    ///
    /// - `seed`: any number.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: none but INTERNAL. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_seed(seed: u64, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The key of a seed.
    ///
    /// - `seed`: any number; negative ones are taken as unsigned.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_key(seed: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// New keys of a key: [count, 2].
    ///
    /// - `key`: borrowed.
    /// - `count`: how many.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_split(key: *const mlxrocm_array, count: i64, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Random bits: unsigned integers.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `width`: bytes of each: 1, 2 or 4.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_bits(shape: *const i64, rank: usize, width: i64, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Numbers evenly spread from low up to, but not, high.
    ///
    /// - `low`: borrowed.
    /// - `high`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_uniform(low: *const mlxrocm_array, high: *const mlxrocm_array, shape: *const i64, rank: usize, dtype: u32, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Normally distributed numbers.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `loc`: borrowed; their mean; NULL: 0.
    /// - `scale`: borrowed; their deviation; NULL: 1.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_normal(shape: *const i64, rank: usize, dtype: u32, loc: *const mlxrocm_array, scale: *const mlxrocm_array, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Normally distributed vectors.
    ///
    /// - `mean`: borrowed.
    /// - `cov`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_multivariate_normal(mean: *const mlxrocm_array, cov: *const mlxrocm_array, shape: *const i64, rank: usize, dtype: u32, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Integers from low up to, but not, high.
    ///
    /// - `low`: borrowed.
    /// - `high`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_randint(low: *const mlxrocm_array, high: *const mlxrocm_array, shape: *const i64, rank: usize, dtype: u32, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Truth values, each true with probability p.
    ///
    /// - `p`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_bernoulli(p: *const mlxrocm_array, shape: *const i64, rank: usize, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Normally distributed numbers between two bounds.
    ///
    /// - `lower`: borrowed.
    /// - `upper`: borrowed.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_truncated_normal(lower: *const mlxrocm_array, upper: *const mlxrocm_array, shape: *const i64, rank: usize, dtype: u32, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Numbers of the standard Gumbel distribution.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_gumbel(shape: *const i64, rank: usize, dtype: u32, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Laplace distributed numbers.
    ///
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `dtype`: an MLXROCM_DTYPE number.
    /// - `loc`: their mean.
    /// - `scale`: how far they spread.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_laplace(shape: *const i64, rank: usize, dtype: u32, loc: f64, scale: f64, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// A place (uint32) along an axis for each row, with the probability of the softmax of its logits.
    ///
    /// - `logits`: borrowed.
    /// - `axis`: negative ones count from the end.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_categorical(logits: *const mlxrocm_array, axis: i64, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// As mlxrocm_array_random_categorical, several places for each row as a last axis.
    ///
    /// - `logits`: borrowed.
    /// - `axis`: negative ones count from the end.
    /// - `num_samples`: how many.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_categorical_num_samples(logits: *const mlxrocm_array, axis: i64, num_samples: i64, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// As mlxrocm_array_random_categorical, in a shape that the rows are broadcast to.
    ///
    /// - `logits`: borrowed.
    /// - `axis`: negative ones count from the end.
    /// - `shape`: `rank` sizes, borrowed for the call.
    /// - `rank`: how many.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_categorical_shape(logits: *const mlxrocm_array, axis: i64, shape: *const i64, rank: usize, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Slices along an axis in random order.
    ///
    /// - `x`: borrowed.
    /// - `axis`: negative ones count from the end.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_permutation(x: *const mlxrocm_array, axis: i64, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The numbers (uint32) below a count in random order.
    ///
    /// - `count`: how many.
    /// - `key`: borrowed; NULL: the process' next.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_random_permutation_arange(count: i64, key: *const mlxrocm_array, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it
    /// meanwhile; mlxrocm_array_save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and
    /// UNSUPPORTED (elements of no dtype).
    ///
    /// - `path`: as the operating system spells it, borrowed for the call.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `result`: receives an array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_load(path: *const c_char, path_length: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet.
    ///
    /// - `array`: borrowed.
    /// - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, those of mlxrocm_array_eval. bfloat16, which numpy has not, is
    /// saved as MLX does, as pairs of bytes. Any thread. Since 0.1.
    pub fn mlxrocm_array_save(array: *const mlxrocm_array, path: *const c_char, path_length: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Makes a map without arrays.
    ///
    /// - `map`: receives the map, owned: free it with mlxrocm_array_map_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_new(map: *mut *mut mlxrocm_array_map, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Loads the arrays of a safetensors or GGUF file; which it is its first bytes say. Names and meaning are MLX's:
    /// 8-bit floats of safetensors are uint8 codes; GGUF's Q4_0, Q4_1 and Q8_0 are affine quantization in groups of 32,
    /// the codes under the tensor's name, scales and biases with `.scales` and `.biases` in place of its `.weight`;
    /// GGUF's other quantized formats are float16 numbers. Elements that need no change stay in the file, which is
    /// mapped: do not truncate it meanwhile; the functions that save replace it as a whole.
    ///
    /// - `path`: as the operating system spells it, borrowed for the call.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `map`: receives the map, owned: free it with mlxrocm_array_map_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE (damaged), UNSUPPORTED (elements of no dtype),
    /// OUT_OF_MEMORY. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_load(path: *const c_char, path_length: usize, map: *mut *mut mlxrocm_array_map, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Saves arrays and metadata as a safetensors file, which is there whole or not at all. Arrays are computed if they
    /// are not yet.
    ///
    /// - `map`: borrowed.
    /// - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (names that the format has not; metadata that is no text), IO, those of
    /// mlxrocm_array_eval. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_save_safetensors(map: *const mlxrocm_array_map, path: *const c_char, path_length: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Saves arrays and metadata as a GGUF file, which is there whole or not at all. Arrays are computed if they are not
    /// yet. What mlxrocm_array_map_load made of a quantized tensor is saved as what it is: codes are of no dtype of GGUF.
    ///
    /// - `map`: borrowed.
    /// - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
    /// - `path_length`: bytes of `path`, or MLXROCM_NUL.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (names, dtypes and numbers of axes that the format has not), IO, those of
    /// mlxrocm_array_eval. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_save_gguf(map: *const mlxrocm_array_map, path: *const c_char, path_length: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// The number of arrays of a map.
    ///
    /// - `map`: borrowed.
    ///
    /// Returns 0 also if `map` is NULL or not live. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_count(map: *const mlxrocm_array_map) -> usize;

    /// The name of an array of a map.
    ///
    /// - `map`: borrowed.
    /// - `index`: below mlxrocm_array_map_count.
    /// - `length`: nullable; receives the bytes of the name without the NUL.
    ///
    /// Returns the name, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_name(map: *const mlxrocm_array_map, index: usize, length: *mut usize) -> *const c_char;

    /// An array of a map.
    ///
    /// - `map`: borrowed.
    /// - `name`: UTF-8, borrowed for the call.
    /// - `name_length`: bytes of `name`, or MLXROCM_NUL.
    /// - `result`: receives the array, owned: free it with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name). Any thread. Since 0.1.
    pub fn mlxrocm_array_map_get(map: *const mlxrocm_array_map, name: *const c_char, name_length: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Puts an array into a map, in place of one of the same name.
    ///
    /// - `map`: borrowed.
    /// - `name`: UTF-8, borrowed for the call.
    /// - `name_length`: bytes of `name`, or MLXROCM_NUL.
    /// - `array`: borrowed; the map keeps what it needs of it. NULL: the name is taken out.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_set(map: *const mlxrocm_array_map, name: *const c_char, name_length: usize, array: *const mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a map. Arrays that came from it keep what they need.
    ///
    /// - `map`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_array_map_free(map: *mut mlxrocm_array_map);

    /// The number of entries of a map's metadata.
    ///
    /// - `map`: borrowed.
    ///
    /// Returns 0 also if `map` is NULL or not live. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_metadata_count(map: *const mlxrocm_array_map) -> usize;

    /// The key of an entry of a map's metadata.
    ///
    /// - `map`: borrowed.
    /// - `index`: below mlxrocm_array_map_metadata_count.
    /// - `length`: nullable; receives the bytes of the key without the NUL.
    ///
    /// Returns the key, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_metadata_key(map: *const mlxrocm_array_map, index: usize, length: *mut usize) -> *const c_char;

    /// What kind of metadata a key has.
    ///
    /// - `map`: borrowed.
    /// - `key`: UTF-8, borrowed for the call.
    /// - `key_length`: bytes of `key`, or MLXROCM_NUL.
    ///
    /// Returns one of MLXROCM_METADATA_..., NONE also for what is no map or key. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_metadata_kind(map: *const mlxrocm_array_map, key: *const c_char, key_length: usize) -> u32;

    /// A text of a map's metadata.
    ///
    /// - `map`: borrowed.
    /// - `key`: UTF-8, borrowed for the call; of a text or a list of texts.
    /// - `key_length`: bytes of `key`, or MLXROCM_NUL.
    /// - `index`: which of a list; 0 of a text.
    /// - `length`: nullable; receives the bytes of the text without the NUL.
    ///
    /// Returns the text, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_metadata_text(map: *const mlxrocm_array_map, key: *const c_char, key_length: usize, index: usize, length: *mut usize) -> *const c_char;

    /// Numbers of a map's metadata.
    ///
    /// - `map`: borrowed.
    /// - `key`: UTF-8, borrowed for the call.
    /// - `key_length`: bytes of `key`, or MLXROCM_NUL.
    /// - `result`: receives an array, a scalar or a vector (of a list of texts its size as int64), owned: free it with
    ///   mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there are none of this key). Any thread. Since 0.1.
    pub fn mlxrocm_array_map_metadata_array(map: *const mlxrocm_array_map, key: *const c_char, key_length: usize, result: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Puts a text into a map's metadata, in place of what the key had.
    ///
    /// - `map`: borrowed.
    /// - `key`: UTF-8, borrowed for the call.
    /// - `key_length`: bytes of `key`, or MLXROCM_NUL.
    /// - `text`: UTF-8, borrowed for the call. NULL: the key is taken out.
    /// - `text_length`: bytes of `text`, or MLXROCM_NUL.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
    pub fn mlxrocm_array_map_set_metadata(map: *const mlxrocm_array_map, key: *const c_char, key_length: usize, text: *const c_char, text_length: usize, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Makes a kernel that takes and gives arrays. The source is the body of a function whose parameters are the
    /// inputs and outputs by their names: pointers to their elements, row after row. Types of dtypes that the language
    /// has none of are `float16`, `bfloat16` (both computed with as float) and `complex64`. Beside `x` the source may use
    /// `x_shape[]`, `x_ndim` and, in elements, `x_strides[]` of each input x. It is compiled on this machine when it is
    /// called, once for all calls with the same dtypes, ranks and template values.
    ///
    /// - `device`: borrowed; a GPU. The kernel keeps it alive.
    /// - `options`: borrowed for the call.
    /// - `kernel`: receives the kernel, owned: free it with mlxrocm_array_kernel_free.
    /// - `error`: nullable; receives an owned error object on failure.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_array_kernel_new(device: *const mlxrocm_device, options: *const mlxrocm_array_kernel_options, kernel: *mut *mut mlxrocm_array_kernel, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Calls a kernel on arrays. The results are lazy, as those of operations; the source is compiled at once.
    ///
    /// - `kernel`: borrowed; the results keep it alive.
    /// - `call`: borrowed for the call.
    /// - `results`: receives `call->output_count` arrays, owned: free each with mlxrocm_array_free.
    /// - `error`: nullable; receives an owned error object on failure. If the source does not compile its
    ///   message has the first error, and mlxrocm_error_details the compiler's log.
    ///
    /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (the source does not compile; numbers of arrays, grids and blocks that do
    /// not fit), UNSUPPORTED (no compiler on this machine), OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
    pub fn mlxrocm_array_kernel_apply(kernel: *const mlxrocm_array_kernel, call: *const mlxrocm_array_kernel_call, results: *mut *mut mlxrocm_array, error: *mut *mut mlxrocm_error) -> mlxrocm_status;

    /// Frees a kernel. Arrays that it makes are computed all the same.
    ///
    /// - `kernel`: consumed; NULL is fine.
    ///
    /// Any thread. Since 0.1.
    pub fn mlxrocm_array_kernel_free(kernel: *mut mlxrocm_array_kernel);
}
