/*
 * mlxrocm.h: quantized language models from C. Generated from the sources; this file is the manual.
 *
 * A program loads a model (mlxrocm_model_load), opens a session on it (mlxrocm_session_new), submits
 * requests (mlxrocm_session_submit) and takes their events (mlxrocm_generation_next) until
 * MLXROCM_EVENT_FINISHED. The numbered programs in c_examples/ show each step.
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
 * A compiled chat template. Immutable: any thread.
 */
typedef struct mlxrocm_chat_template mlxrocm_chat_template;

/**
 * A device. Immutable: any thread.
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
 * A loaded model. Immutable: any thread. Sessions, tokenizers and chat templates made from it keep
 * it alive.
 */
typedef struct mlxrocm_model mlxrocm_model;

/**
 * A session: several requests at once over one KV cache. Internally locked: any thread.
 * Generations keep their session alive.
 */
typedef struct mlxrocm_session mlxrocm_session;

/**
 * A tokenizer. Immutable: any thread.
 */
typedef struct mlxrocm_tokenizer mlxrocm_tokenizer;

/**
 * What a function returns: 0 is success, negative values are errors, positive values are expected
 * outcomes that are not errors. Numbers are stable: they are never reused.
 */
typedef int32_t mlxrocm_status;

/**
 * Receives a log line without its newline; `message` is borrowed for the call.
 *
 * It may be called from any thread, from several at once. It may call this library, but must not
 * throw, unwind or jump out.
 */
typedef void (*mlxrocm_log_callback)(uint32_t level, const char *message, void *user_data);

/**
 * Frees a callback's `user_data`.
 */
typedef void (*mlxrocm_user_data_free)(void *user_data);

/**
 * Facts about a device.
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
   * The kernels that run on it: "avx512-vnni", "avx2" or "portable"; borrowed until the device is
   * freed.
   */
  const char *isa;
  /**
   * Logical CPUs this process may run on.
   */
  uint64_t compute_units;
  /**
   * Memory in bytes.
   */
  uint64_t memory_total;
  /**
   * Memory in bytes that could be allocated now.
   */
  uint64_t memory_free;
} mlxrocm_device_info;

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
   * Which device runs the model: 0 means the first GPU that takes it, else the CPU; n means the
   * device that mlxrocm_device_open knows as n - 1 (1: the CPU), and an error if it cannot.
   */
  uint64_t device;
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
   * Bytes of KV cache that one token takes.
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
   * Prompt tokens that are run at once; 0: 512.
   */
  uint32_t prefill_chunk;
  /**
   * Tokens of KV cache that all requests share; when it is full, requests wait for each other.
   * 0: a context for each of `max_requests`, in at most 1 GiB.
   */
  uint64_t kv_tokens;
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

/**
 * Success.
 */
#define MLXROCM_OK 0

/**
 * Nothing happened within the timeout; call again.
 */
#define MLXROCM_PENDING 1

/**
 * Everything was given out; nothing follows.
 */
#define MLXROCM_END 2

/**
 * A parameter has a value outside its documented range, or a handle is not live.
 */
#define MLXROCM_ERROR_INVALID_ARGUMENT -1

/**
 * A pointer that must not be NULL is NULL.
 */
#define MLXROCM_ERROR_NULL_ARGUMENT -2

/**
 * The handle had an internal error before and can only be freed.
 */
#define MLXROCM_ERROR_POISONED -3

/**
 * An allocation failed or would exceed a limit.
 */
#define MLXROCM_ERROR_OUT_OF_MEMORY -4

/**
 * The operating system refused to open, read or map a file.
 */
#define MLXROCM_ERROR_IO -5

/**
 * A file's content is damaged or contradicts itself.
 */
#define MLXROCM_ERROR_INVALID_FILE -6

/**
 * The file or request is valid but asks for something this library does not do.
 */
#define MLXROCM_ERROR_UNSUPPORTED -7

/**
 * The caller's buffer is too small; `needed` says what would be enough.
 */
#define MLXROCM_ERROR_BUFFER_TOO_SMALL -8

/**
 * The prompt does not fit the context.
 */
#define MLXROCM_ERROR_CONTEXT_FULL -9

/**
 * No usable device.
 */
#define MLXROCM_ERROR_NO_DEVICE -10

/**
 * A device failed while it ran.
 */
#define MLXROCM_ERROR_DEVICE_FAILED -11

/**
 * The caller's progress callback ended the operation.
 */
#define MLXROCM_ERROR_CANCELLED -12

/**
 * A defect in this library; the handle it happened in is poisoned.
 */
#define MLXROCM_ERROR_INTERNAL -13

/**
 * The device stopped working and takes no more work in this process.
 */
#define MLXROCM_ERROR_DEVICE_LOST -14

/**
 * The time given for a wait is over; the work goes on.
 */
#define MLXROCM_ERROR_TIMEOUT -15

/**
 * A device gives wrong results: its self-test found them.
 */
#define MLXROCM_ERROR_SELFTEST_FAILED -16

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
 * Counts the devices.
 *
 * - `count`: receives the number, at least 1: the CPU is device 0.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_count(size_t *count, struct mlxrocm_error **error);

/**
 * Opens a device.
 *
 * - `index`: 0 is the CPU, others follow up to the count.
 * - `device`: receives the device, owned: free it with mlxrocm_device_free.
 * - `error`: nullable; receives an owned error object on failure.
 *
 * Errors: NULL_ARGUMENT, NO_DEVICE. Any thread. Since 0.1.
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
 * Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
 */
mlxrocm_status mlxrocm_device_get_info(const struct mlxrocm_device *device,
                                       struct mlxrocm_device_info *info,
                                       struct mlxrocm_error **error);

/**
 * Frees a device.
 *
 * - `device`: consumed; NULL is fine.
 *
 * Any thread. Since 0.1.
 */
void mlxrocm_device_free(struct mlxrocm_device *device);

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
