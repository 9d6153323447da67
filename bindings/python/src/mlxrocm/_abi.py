"""Made by bindings/generate.py from include/mlxrocm.json. Do not edit."""

import ctypes as C

SONAME = 'libmlxrocm.so.0'
LIBRARY_VERSION = '0.1.0'

NUL = 18446744073709551615
VERSION_MAJOR = 0
VERSION_MINOR = 1
VERSION_PATCH = 0
VERSION = 100
LOG_ERROR = 1
LOG_WARN = 2
LOG_INFO = 3
LOG_DEBUG = 4
DEVICE_CPU = 1
DEVICE_HIP = 2
DEVICE_CUDA = 3
GRAPHS_AUTO = 0
GRAPHS_ON = 1
GRAPHS_OFF = 2
SELFTEST_QUICK = 1
SELFTEST_NO_MEASUREMENTS = 2
BUFFER_DEVICE = 1
BUFFER_PINNED = 2
ARG_BUFFER = 1
ARG_32 = 2
ARG_64 = 3
ACCESS_READ = 1
ACCESS_WRITE = 2
PROGRAM_DIRECT = 1
PROGRAM_GRAPH = 2
REASON_SETTING = 1
REASON_COMPARED = 2
REASON_NOT_COMPARED = 3
REASON_NOT_BUILT = 4
ENCODE_ADD_SPECIAL = 1
ENCODE_PARSE_SPECIAL = 2
DECODE_SKIP_SPECIAL = 1
NO_TOKEN = 4294967295
RENDER_GENERATION_PROMPT = 1
KV_F16 = 0
KV_Q8 = 1
KV_Q4 = 2
POOLING_NONE = 0
POOLING_MEAN = 1
POOLING_CLS = 2
POOLING_LAST = 3
EMBED_NORMALIZE = 1
REQUEST_IGNORE_EOS = 1
EVENT_PROMPT = 1
EVENT_TOKEN = 2
EVENT_FINISHED = 3
FINISH_STOP_TOKEN = 1
FINISH_STOP_STRING = 2
FINISH_LENGTH = 3
FINISH_CONTEXT = 4
FINISH_CANCELLED = 5
FINISH_ERROR = 6
FINISH_GRAMMAR = 7
CHESS_PLANES = 112
CHESS_MOVES = 1858
CHESS_BATCH = 1024
CHESS_BODY_RESIDUAL = 1
CHESS_BODY_ATTENTION = 2
CHESS_POLICY_CLASSICAL = 1
CHESS_POLICY_CONVOLUTION = 2
CHESS_POLICY_ATTENTION = 3
CHESS_POLICY_HEAD_VANILLA = 0
CHESS_POLICY_HEAD_OPTIMISTIC = 1
CHESS_POLICY_HEAD_SOFT = 2
CHESS_POLICY_HEAD_OPPONENT = 3
CHESS_VALUE_HEAD_WINNER = 0
CHESS_VALUE_HEAD_Q = 1
CHESS_VALUE_HEAD_ST = 2
CHESS_PRECISION_DEFAULT = 0
CHESS_PRECISION_F16 = 1
CHESS_PRECISION_F32 = 2
CHESS_QUEUE_BATCHES = 64
DTYPE_BOOL = 0
DTYPE_UINT8 = 1
DTYPE_UINT16 = 2
DTYPE_UINT32 = 3
DTYPE_UINT64 = 4
DTYPE_INT8 = 5
DTYPE_INT16 = 6
DTYPE_INT32 = 7
DTYPE_INT64 = 8
DTYPE_FLOAT16 = 9
DTYPE_FLOAT32 = 10
DTYPE_FLOAT64 = 11
DTYPE_BFLOAT16 = 12
DTYPE_COMPLEX64 = 13
DTYPE_NONE = 4294967295
AXIS_NONE = -9223372036854775808
PAD_CONSTANT = 0
PAD_EDGE = 1
PAD_REFLECT = 2
PAD_SYMMETRIC = 3
METADATA_NONE = 0
METADATA_TEXT = 1
METADATA_TEXTS = 2
METADATA_ARRAY = 3
TEMPLATE_DTYPE = 1
TEMPLATE_INT = 2
TEMPLATE_BOOL = 3
OK = 0
PENDING = 1
END = 2
ERROR_INVALID_ARGUMENT = -1
ERROR_NULL_ARGUMENT = -2
ERROR_POISONED = -3
ERROR_OUT_OF_MEMORY = -4
ERROR_IO = -5
ERROR_INVALID_FILE = -6
ERROR_UNSUPPORTED = -7
ERROR_BUFFER_TOO_SMALL = -8
ERROR_CONTEXT_FULL = -9
ERROR_NO_DEVICE = -10
ERROR_DEVICE_FAILED = -11
ERROR_CANCELLED = -12
ERROR_INTERNAL = -13
ERROR_DEVICE_LOST = -14
ERROR_TIMEOUT = -15
ERROR_SELFTEST_FAILED = -16

log_callback = C.CFUNCTYPE(None, C.c_uint32, C.c_void_p, C.c_size_t, C.c_void_p)
user_data_free = C.CFUNCTYPE(None, C.c_void_p)
selftest_callback = C.CFUNCTYPE(C.c_int32, C.c_void_p, C.c_size_t, C.c_void_p)
progress_callback = C.CFUNCTYPE(C.c_int32, C.c_uint64, C.c_uint64, C.c_void_p)
logits_processor = C.CFUNCTYPE(C.c_int32, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p)


class device_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("kind", C.c_uint32),
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
        ("isa", C.c_char_p),
        ("isa_length", C.c_size_t),
        ("compute_units", C.c_uint64),
        ("memory_total", C.c_uint64),
        ("memory_free", C.c_uint64),
        ("target", C.c_char_p),
        ("target_length", C.c_size_t),
        ("pci_id", C.c_char_p),
        ("pci_id_length", C.c_size_t),
        ("l2_bytes", C.c_uint64),
        ("lds_bytes", C.c_uint32),
        ("wave_size", C.c_uint32),
        ("max_block_threads", C.c_uint32),
        ("integrated", C.c_uint32),
        ("clock_khz", C.c_uint32),
        ("memory_clock_khz", C.c_uint32),
        ("memory_bus_bits", C.c_uint32),
        ("driver_version", C.c_uint32),
    ]


class device_memory(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("integrated", C.c_uint32),
        ("active", C.c_uint64),
        ("peak", C.c_uint64),
        ("cache", C.c_uint64),
        ("limit", C.c_uint64),
        ("total", C.c_uint64),
        ("free", C.c_uint64),
        ("pinned_active", C.c_uint64),
        ("pinned_cache", C.c_uint64),
    ]


class selftest_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("flags", C.c_uint32),
        ("seed", C.c_uint64),
        ("report", selftest_callback),
        ("user_data", C.c_void_p),
        ("user_data_free", user_data_free),
    ]


class buffer_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("kind", C.c_uint32),
        ("size", C.c_uint64),
        ("address", C.c_uint64),
        ("data", C.c_void_p),
    ]


class arg(C.Structure):
    _fields_ = [
        ("kind", C.c_uint32),
        ("access", C.c_uint32),
        ("value", C.c_uint64),
        ("buffer", C.c_void_p),
        ("size", C.c_uint64),
    ]


class launch(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("dynamic_lds", C.c_uint32),
        ("grid", C.c_uint32 * 3),
        ("block", C.c_uint32 * 3),
        ("args", C.c_void_p),
        ("arg_count", C.c_size_t),
        ("touched", C.c_void_p),
        ("touched_count", C.c_size_t),
    ]


class compile_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("flag_count", C.c_uint32),
        ("flags", C.c_void_p),
        ("flag_lengths", C.c_void_p),
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
    ]


class kernel_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("registers", C.c_uint32),
        ("lds_bytes", C.c_uint32),
        ("scratch_bytes", C.c_uint32),
        ("max_block_threads", C.c_uint32),
        ("wave_size", C.c_uint32),
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
    ]


class program_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("mode", C.c_uint32),
        ("reason", C.c_uint32),
        ("same_bits", C.c_uint32),
        ("nodes", C.c_uint64),
        ("edges", C.c_uint64),
        ("direct_ns", C.c_uint64),
        ("graph_ns", C.c_uint64),
    ]


class model_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("threads", C.c_uint32),
        ("progress", progress_callback),
        ("user_data", C.c_void_p),
        ("user_data_free", user_data_free),
        ("device", C.c_void_p),
        ("gpu_weight_bytes", C.c_uint64),
    ]


class model_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("layers", C.c_uint32),
        ("family", C.c_char_p),
        ("family_length", C.c_size_t),
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
        ("quantization", C.c_char_p),
        ("quantization_length", C.c_size_t),
        ("parameters", C.c_uint64),
        ("weight_bytes", C.c_uint64),
        ("context_length", C.c_uint64),
        ("vocab_size", C.c_uint64),
        ("hidden_size", C.c_uint64),
        ("kv_bytes_per_token", C.c_uint64),
        ("load_seconds", C.c_double),
        ("gpu_weight_bytes", C.c_uint64),
        ("host_weight_bytes", C.c_uint64),
    ]


class tensor_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("rank", C.c_uint32),
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
        ("format", C.c_char_p),
        ("format_length", C.c_size_t),
        ("shape", C.c_void_p),
        ("bytes", C.c_uint64),
    ]


class quantize_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("bits", C.c_uint32),
        ("group_size", C.c_uint32),
        ("threads", C.c_uint32),
        ("mode", C.c_char_p),
        ("mode_length", C.c_size_t),
        ("recipe", C.c_char_p),
        ("recipe_length", C.c_size_t),
        ("dtype", C.c_char_p),
        ("dtype_length", C.c_size_t),
        ("rules", C.c_void_p),
        ("rules_lengths", C.c_void_p),
        ("rules_count", C.c_size_t),
        ("progress", progress_callback),
        ("user_data", C.c_void_p),
        ("user_data_free", user_data_free),
    ]


class quantize_result(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("files", C.c_uint32),
        ("parameters", C.c_uint64),
        ("bytes", C.c_uint64),
        ("resumed_bytes", C.c_uint64),
    ]


class tokenizer_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("vocab_size", C.c_uint32),
        ("bos", C.c_uint32),
        ("eos", C.c_uint32),
    ]


class message(C.Structure):
    _fields_ = [
        ("role", C.c_char_p),
        ("role_length", C.c_size_t),
        ("content", C.c_char_p),
        ("content_length", C.c_size_t),
    ]


class session_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("context", C.c_uint32),
        ("max_requests", C.c_uint32),
        ("prefill_chunk", C.c_uint32),
        ("kv_tokens", C.c_uint64),
        ("kv_type", C.c_uint64),
        ("batch_invariant", C.c_uint64),
        ("prompt_lookup", C.c_uint64),
        ("draft_model", C.c_void_p),
    ]


class session_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("context", C.c_uint32),
        ("running", C.c_uint64),
        ("waiting", C.c_uint64),
        ("kv_tokens", C.c_uint64),
        ("kv_used", C.c_uint64),
        ("kv_cached", C.c_uint64),
        ("kv_bytes", C.c_uint64),
    ]


class request(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("flags", C.c_uint32),
        ("tokens", C.c_void_p),
        ("token_count", C.c_size_t),
        ("text", C.c_char_p),
        ("text_length", C.c_size_t),
        ("messages", C.c_void_p),
        ("message_count", C.c_size_t),
        ("stop", C.c_void_p),
        ("stop_lengths", C.c_void_p),
        ("stop_count", C.c_size_t),
        ("stop_tokens", C.c_void_p),
        ("stop_token_count", C.c_size_t),
        ("bias_tokens", C.c_void_p),
        ("bias_values", C.c_void_p),
        ("bias_count", C.c_size_t),
        ("seed", C.c_uint64),
        ("max_tokens", C.c_uint32),
        ("temperature", C.c_float),
        ("top_k", C.c_uint32),
        ("top_p", C.c_float),
        ("min_p", C.c_float),
        ("repetition_penalty", C.c_float),
        ("presence_penalty", C.c_float),
        ("frequency_penalty", C.c_float),
        ("penalty_window", C.c_uint32),
        ("logprobs", C.c_uint32),
        ("logits_processor", logits_processor),
        ("user_data", C.c_void_p),
        ("user_data_free", user_data_free),
        ("chat_json", C.c_char_p),
        ("chat_json_length", C.c_size_t),
        ("json_schema", C.c_char_p),
        ("json_schema_length", C.c_size_t),
        ("regex", C.c_char_p),
        ("regex_length", C.c_size_t),
        ("grammar", C.c_char_p),
        ("grammar_length", C.c_size_t),
    ]


class embed_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("pooling", C.c_uint32),
        ("positions", C.c_void_p),
        ("position_count", C.c_size_t),
        ("flags", C.c_uint64),
    ]


class token_logprob(C.Structure):
    _fields_ = [
        ("token", C.c_uint32),
        ("logprob", C.c_float),
    ]


class event(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("kind", C.c_uint32),
        ("text", C.c_char_p),
        ("text_length", C.c_size_t),
        ("token", C.c_uint32),
        ("logprob", C.c_float),
        ("top", C.c_void_p),
        ("top_count", C.c_size_t),
        ("prompt_done", C.c_uint64),
        ("prompt_total", C.c_uint64),
        ("finish_reason", C.c_uint32),
        ("error_status", C.c_int32),
        ("error_message", C.c_char_p),
        ("error_message_length", C.c_size_t),
        ("prompt_tokens", C.c_uint64),
        ("cached_tokens", C.c_uint64),
        ("generated_tokens", C.c_uint64),
        ("prompt_seconds", C.c_double),
        ("decode_seconds", C.c_double),
        ("guessed_tokens", C.c_uint64),
        ("accepted_tokens", C.c_uint64),
    ]


class chess_net_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("threads", C.c_uint32),
        ("policy_head", C.c_uint32),
        ("value_head", C.c_uint32),
        ("device", C.c_void_p),
        ("precision", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


class chess_net_info(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("input_format", C.c_uint32),
        ("body", C.c_uint32),
        ("depth", C.c_uint32),
        ("width", C.c_uint32),
        ("policy", C.c_uint32),
        ("has_draws", C.c_uint32),
        ("has_moves_left", C.c_uint32),
        ("parameters", C.c_uint64),
    ]


class chess_move(C.Structure):
    _fields_ = [
        ("policy_index", C.c_uint32),
        ("name_length", C.c_uint32),
        ("name", C.c_char * 8),
    ]


class array_kernel_options(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("strided", C.c_uint32),
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
        ("source", C.c_char_p),
        ("source_length", C.c_size_t),
        ("header", C.c_char_p),
        ("header_length", C.c_size_t),
        ("input_names", C.c_void_p),
        ("input_name_lengths", C.c_void_p),
        ("input_count", C.c_size_t),
        ("output_names", C.c_void_p),
        ("output_name_lengths", C.c_void_p),
        ("output_count", C.c_size_t),
    ]


class array_type(C.Structure):
    _fields_ = [
        ("shape", C.c_void_p),
        ("rank", C.c_size_t),
        ("dtype", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


class array_template(C.Structure):
    _fields_ = [
        ("name", C.c_char_p),
        ("name_length", C.c_size_t),
        ("value", C.c_int64),
        ("kind", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


class array_kernel_call(C.Structure):
    _fields_ = [
        ("struct_size", C.c_uint32),
        ("has_initial", C.c_uint32),
        ("initial", C.c_double),
        ("grid", C.c_uint32 * 3),
        ("block", C.c_uint32 * 3),
        ("inputs", C.c_void_p),
        ("input_count", C.c_size_t),
        ("outputs", C.c_void_p),
        ("output_count", C.c_size_t),
        ("templates", C.c_void_p),
        ("template_count", C.c_size_t),
    ]


# Bytes of each struct and of its fields' offsets, as the compiler of the library lays them out.
LAYOUT = {
    device_info: (136, {'struct_size': 0, 'kind': 4, 'name': 8, 'name_length': 16, 'isa': 24, 'isa_length': 32, 'compute_units': 40, 'memory_total': 48, 'memory_free': 56, 'target': 64, 'target_length': 72, 'pci_id': 80, 'pci_id_length': 88, 'l2_bytes': 96, 'lds_bytes': 104, 'wave_size': 108, 'max_block_threads': 112, 'integrated': 116, 'clock_khz': 120, 'memory_clock_khz': 124, 'memory_bus_bits': 128, 'driver_version': 132}),
    device_memory: (72, {'struct_size': 0, 'integrated': 4, 'active': 8, 'peak': 16, 'cache': 24, 'limit': 32, 'total': 40, 'free': 48, 'pinned_active': 56, 'pinned_cache': 64}),
    selftest_options: (40, {'struct_size': 0, 'flags': 4, 'seed': 8, 'report': 16, 'user_data': 24, 'user_data_free': 32}),
    buffer_info: (32, {'struct_size': 0, 'kind': 4, 'size': 8, 'address': 16, 'data': 24}),
    arg: (32, {'kind': 0, 'access': 4, 'value': 8, 'buffer': 16, 'size': 24}),
    launch: (64, {'struct_size': 0, 'dynamic_lds': 4, 'grid': 8, 'block': 20, 'args': 32, 'arg_count': 40, 'touched': 48, 'touched_count': 56}),
    compile_options: (40, {'struct_size': 0, 'flag_count': 4, 'flags': 8, 'flag_lengths': 16, 'name': 24, 'name_length': 32}),
    kernel_info: (40, {'struct_size': 0, 'registers': 4, 'lds_bytes': 8, 'scratch_bytes': 12, 'max_block_threads': 16, 'wave_size': 20, 'name': 24, 'name_length': 32}),
    program_info: (48, {'struct_size': 0, 'mode': 4, 'reason': 8, 'same_bits': 12, 'nodes': 16, 'edges': 24, 'direct_ns': 32, 'graph_ns': 40}),
    model_options: (48, {'struct_size': 0, 'threads': 4, 'progress': 8, 'user_data': 16, 'user_data_free': 24, 'device': 32, 'gpu_weight_bytes': 40}),
    model_info: (128, {'struct_size': 0, 'layers': 4, 'family': 8, 'family_length': 16, 'name': 24, 'name_length': 32, 'quantization': 40, 'quantization_length': 48, 'parameters': 56, 'weight_bytes': 64, 'context_length': 72, 'vocab_size': 80, 'hidden_size': 88, 'kv_bytes_per_token': 96, 'load_seconds': 104, 'gpu_weight_bytes': 112, 'host_weight_bytes': 120}),
    tensor_info: (56, {'struct_size': 0, 'rank': 4, 'name': 8, 'name_length': 16, 'format': 24, 'format_length': 32, 'shape': 40, 'bytes': 48}),
    quantize_options: (112, {'struct_size': 0, 'bits': 4, 'group_size': 8, 'threads': 12, 'mode': 16, 'mode_length': 24, 'recipe': 32, 'recipe_length': 40, 'dtype': 48, 'dtype_length': 56, 'rules': 64, 'rules_lengths': 72, 'rules_count': 80, 'progress': 88, 'user_data': 96, 'user_data_free': 104}),
    quantize_result: (32, {'struct_size': 0, 'files': 4, 'parameters': 8, 'bytes': 16, 'resumed_bytes': 24}),
    tokenizer_info: (16, {'struct_size': 0, 'vocab_size': 4, 'bos': 8, 'eos': 12}),
    message: (32, {'role': 0, 'role_length': 8, 'content': 16, 'content_length': 24}),
    session_options: (56, {'struct_size': 0, 'context': 4, 'max_requests': 8, 'prefill_chunk': 12, 'kv_tokens': 16, 'kv_type': 24, 'batch_invariant': 32, 'prompt_lookup': 40, 'draft_model': 48}),
    session_info: (56, {'struct_size': 0, 'context': 4, 'running': 8, 'waiting': 16, 'kv_tokens': 24, 'kv_used': 32, 'kv_cached': 40, 'kv_bytes': 48}),
    request: (256, {'struct_size': 0, 'flags': 4, 'tokens': 8, 'token_count': 16, 'text': 24, 'text_length': 32, 'messages': 40, 'message_count': 48, 'stop': 56, 'stop_lengths': 64, 'stop_count': 72, 'stop_tokens': 80, 'stop_token_count': 88, 'bias_tokens': 96, 'bias_values': 104, 'bias_count': 112, 'seed': 120, 'max_tokens': 128, 'temperature': 132, 'top_k': 136, 'top_p': 140, 'min_p': 144, 'repetition_penalty': 148, 'presence_penalty': 152, 'frequency_penalty': 156, 'penalty_window': 160, 'logprobs': 164, 'logits_processor': 168, 'user_data': 176, 'user_data_free': 184, 'chat_json': 192, 'chat_json_length': 200, 'json_schema': 208, 'json_schema_length': 216, 'regex': 224, 'regex_length': 232, 'grammar': 240, 'grammar_length': 248}),
    embed_options: (32, {'struct_size': 0, 'pooling': 4, 'positions': 8, 'position_count': 16, 'flags': 24}),
    token_logprob: (8, {'token': 0, 'logprob': 4}),
    event: (144, {'struct_size': 0, 'kind': 4, 'text': 8, 'text_length': 16, 'token': 24, 'logprob': 28, 'top': 32, 'top_count': 40, 'prompt_done': 48, 'prompt_total': 56, 'finish_reason': 64, 'error_status': 68, 'error_message': 72, 'error_message_length': 80, 'prompt_tokens': 88, 'cached_tokens': 96, 'generated_tokens': 104, 'prompt_seconds': 112, 'decode_seconds': 120, 'guessed_tokens': 128, 'accepted_tokens': 136}),
    chess_net_options: (32, {'struct_size': 0, 'threads': 4, 'policy_head': 8, 'value_head': 12, 'device': 16, 'precision': 24, 'reserved': 28}),
    chess_net_info: (40, {'struct_size': 0, 'input_format': 4, 'body': 8, 'depth': 12, 'width': 16, 'policy': 20, 'has_draws': 24, 'has_moves_left': 28, 'parameters': 32}),
    chess_move: (16, {'policy_index': 0, 'name_length': 4, 'name': 8}),
    array_kernel_options: (104, {'struct_size': 0, 'strided': 4, 'name': 8, 'name_length': 16, 'source': 24, 'source_length': 32, 'header': 40, 'header_length': 48, 'input_names': 56, 'input_name_lengths': 64, 'input_count': 72, 'output_names': 80, 'output_name_lengths': 88, 'output_count': 96}),
    array_type: (24, {'shape': 0, 'rank': 8, 'dtype': 16, 'reserved': 20}),
    array_template: (32, {'name': 0, 'name_length': 8, 'value': 16, 'kind': 24, 'reserved': 28}),
    array_kernel_call: (88, {'struct_size': 0, 'has_initial': 4, 'initial': 8, 'grid': 16, 'block': 28, 'inputs': 40, 'input_count': 48, 'outputs': 56, 'output_count': 64, 'templates': 72, 'template_count': 80}),
}

# Result and parameters of each function.
FUNCTIONS = {
    "mlxrocm_version": (C.c_uint32, ()),
    "mlxrocm_version_string": (C.c_void_p, (C.c_void_p,)),
    "mlxrocm_build_info": (C.c_void_p, (C.c_void_p,)),
    "mlxrocm_status_name": (C.c_void_p, (C.c_int32, C.c_void_p)),
    "mlxrocm_error_status": (C.c_int32, (C.c_void_p,)),
    "mlxrocm_error_message": (C.c_void_p, (C.c_void_p, C.c_void_p)),
    "mlxrocm_error_details": (C.c_void_p, (C.c_void_p, C.c_void_p)),
    "mlxrocm_error_vendor_code": (C.c_int32, (C.c_void_p,)),
    "mlxrocm_error_free": (None, (C.c_void_p,)),
    "mlxrocm_log_set_callback": (C.c_int32, (C.c_uint32, log_callback, C.c_void_p, user_data_free, C.c_void_p)),
    "mlxrocm_device_count": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_device_why_none": (C.c_int32, (C.c_uint32, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_device_open": (C.c_int32, (C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_device_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_device_free": (None, (C.c_void_p,)),
    "mlxrocm_device_get_memory": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_device_set_memory_limit": (C.c_int32, (C.c_void_p, C.c_uint64, C.c_void_p)),
    "mlxrocm_device_reset_peak_memory": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_device_trim": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_device_set_graphs": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_void_p)),
    "mlxrocm_device_selftest": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_buffer_new": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_uint64, C.c_void_p, C.c_void_p)),
    "mlxrocm_buffer_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_buffer_write": (C.c_int32, (C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_buffer_read": (C.c_int32, (C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_buffer_free": (None, (C.c_void_p,)),
    "mlxrocm_stream_new": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_stream_wait": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p)),
    "mlxrocm_stream_query": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_stream_record": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_stream_wait_for": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_stream_write": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_stream_read": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_stream_copy": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_uint64, C.c_void_p, C.c_uint64, C.c_uint64, C.c_void_p)),
    "mlxrocm_stream_fill": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_uint64, C.c_uint64, C.c_uint8, C.c_void_p)),
    "mlxrocm_stream_launch": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_stream_free": (None, (C.c_void_p,)),
    "mlxrocm_gpu_event_new": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_gpu_event_wait": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p)),
    "mlxrocm_gpu_event_query": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_gpu_event_elapsed": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_gpu_event_free": (None, (C.c_void_p,)),
    "mlxrocm_module_compile": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_module_load": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_module_get_kernel": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_module_free": (None, (C.c_void_p,)),
    "mlxrocm_device_get_kernel": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_kernel_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_kernel_free": (None, (C.c_void_p,)),
    "mlxrocm_arg_buffer": (arg, (C.c_void_p, C.c_uint64)),
    "mlxrocm_arg_input": (arg, (C.c_void_p, C.c_uint64)),
    "mlxrocm_arg_output": (arg, (C.c_void_p, C.c_uint64)),
    "mlxrocm_arg_u32": (arg, (C.c_uint32,)),
    "mlxrocm_arg_i32": (arg, (C.c_int32,)),
    "mlxrocm_arg_f32": (arg, (C.c_float,)),
    "mlxrocm_arg_u64": (arg, (C.c_uint64,)),
    "mlxrocm_arg_i64": (arg, (C.c_int64,)),
    "mlxrocm_arg_f64": (arg, (C.c_double,)),
    "mlxrocm_program_new": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_program_launch": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_program_copy": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_uint64, C.c_void_p, C.c_uint64, C.c_uint64, C.c_void_p)),
    "mlxrocm_program_fill": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_uint64, C.c_uint64, C.c_uint8, C.c_void_p)),
    "mlxrocm_program_barrier": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_program_end": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_program_run": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_program_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_program_explain": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_program_free": (None, (C.c_void_p,)),
    "mlxrocm_model_load": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_model_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_model_free": (None, (C.c_void_p,)),
    "mlxrocm_model_file_open": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_model_file_tensor_count": (C.c_size_t, (C.c_void_p,)),
    "mlxrocm_model_file_get_tensor": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_model_file_free": (None, (C.c_void_p,)),
    "mlxrocm_model_quantize": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_model_get_tokenizer": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_encode": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_decode": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_token_bytes": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_find_token": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_is_special": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_tokenizer_free": (None, (C.c_void_p,)),
    "mlxrocm_model_get_chat_template": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chat_template_new": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_char_p, C.c_size_t, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_chat_template_render": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_char_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_chat_template_source": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_chat_template_free": (None, (C.c_void_p,)),
    "mlxrocm_session_new": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_submit": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_logits": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_free": (None, (C.c_void_p,)),
    "mlxrocm_session_logits_at": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_embed": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_generation_next": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_generation_cancel": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_generation_free": (None, (C.c_void_p,)),
    "mlxrocm_generation_wait_any": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_generation_get_fd": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_save_state": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_session_save_state_file": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_char_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_session_load_state": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_session_load_state_file": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_state_get_tokens": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_generation_fork": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_net_load": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_net_get_info": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_net_get_input": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_net_evaluate": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_net_get_chances": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_float, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_net_move_name": (C.c_void_p, (C.c_uint32, C.c_void_p)),
    "mlxrocm_chess_net_free": (None, (C.c_void_p,)),
    "mlxrocm_chess_queue_create": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_queue_submit": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_queue_next": (C.c_int32, (C.c_void_p, C.c_int64, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_chess_queue_free": (None, (C.c_void_p,)),
    "mlxrocm_array_from_data": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_from_borrowed": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, user_data_free, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_clone": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_to_device": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_dtype": (C.c_uint32, (C.c_void_p,)),
    "mlxrocm_array_rank": (C.c_size_t, (C.c_void_p,)),
    "mlxrocm_array_size": (C.c_size_t, (C.c_void_p,)),
    "mlxrocm_array_bytes": (C.c_size_t, (C.c_void_p,)),
    "mlxrocm_array_shape": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_eval": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_eval_async": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_wait": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_read": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_item_f64": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_item_i64": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_free": (None, (C.c_void_p,)),
    "mlxrocm_array_to_stream": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_from_buffer": (C.c_int32, (C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_buffer": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_abs": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arccos": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arccosh": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arcsin": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arcsinh": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arctan": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arctanh": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_bitwise_invert": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_ceil": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conjugate": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_cos": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_cosh": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_erf": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_erfinv": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_exp": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_expm1": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_floor": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_imag": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_log": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_log2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_log10": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_log1p": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logical_not": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_negative": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_real": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_rsqrt": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sigmoid": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sign": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sin": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sinh": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sqrt": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_square": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_tan": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_tanh": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_degrees": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_radians": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_reciprocal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_round": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_trunc": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_isnan": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_isinf": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_isfinite": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_isposinf": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_isneginf": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_nan_to_num": (C.c_int32, (C.c_void_p, C.c_double, C.c_double, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_astype": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_view": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_add": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arctan2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_bitwise_and": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_bitwise_or": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_bitwise_xor": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_left_shift": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_right_shift": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_divide": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_floor_divide": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_equal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_greater": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_greater_equal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_less": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_less_equal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logaddexp": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logical_and": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logical_or": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_maximum": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_minimum": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_multiply": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_not_equal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_power": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_remainder": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_subtract": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logical_xor": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_divmod": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_where": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_clip": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_isclose": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_double, C.c_double, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_allclose": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_double, C.c_double, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_array_equal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_full": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_zeros": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_ones": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_zeros_like": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_ones_like": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_full_like": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_number": (C.c_int32, (C.c_double, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_arange": (C.c_int32, (C.c_double, C.c_double, C.c_double, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linspace": (C.c_int32, (C.c_double, C.c_double, C.c_int64, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_eye": (C.c_int32, (C.c_int64, C.c_int64, C.c_int64, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_identity": (C.c_int32, (C.c_int64, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_tri": (C.c_int32, (C.c_int64, C.c_int64, C.c_int64, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_tril": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_triu": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_diag": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_diagonal": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_trace": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_outer": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_kron": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_all": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_any": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sum": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_prod": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_min": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_max": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logsumexp": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_mean": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_var": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_std": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_median": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_count_nonzero": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_argmin": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_argmax": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_softmax": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_number_of_elements": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_cumsum": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_cumprod": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_cummax": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_cummin": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_logcumsumexp": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_sort": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_argsort": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_partition": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_argpartition": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_topk": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_searchsorted": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_reshape": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_flatten": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_unflatten": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_expand_dims": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_squeeze": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_broadcast_to": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_transpose": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_swapaxes": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_moveaxis": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_atleast_1d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_atleast_2d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_atleast_3d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_as_strided": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_contiguous": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_stop_gradient": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_depends": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_concatenate": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_stack": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_repeat": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_tile": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_pad": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_roll": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_flip": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_split": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_split_parts": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_broadcast_arrays": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_meshgrid": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_take": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_take_along_axis": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_gather": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_dynamic": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_update_dynamic": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_masked_scatter": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_scatter": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_update": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_scatter_add": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_update_add": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_scatter_prod": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_update_prod": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_scatter_max": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_update_max": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_scatter_min": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_slice_update_min": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_put_along_axis": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_scatter_add_axis": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_matmul": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_addmm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_double, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_block_masked_mm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_gather_mm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_segmented_mm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_tensordot": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_inner": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_einsum": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_quantize": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_quantize_float": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_dequantize": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_char_p, C.c_size_t, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_quantized_matmul": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_int32, C.c_int64, C.c_int64, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_gather_qmm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_int32, C.c_int64, C.c_int64, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_qqmm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_gather_qqmm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_to_fp8": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_from_fp8": (C.c_int32, (C.c_void_p, C.c_uint32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv_general": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv_transpose": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv1d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv_transpose1d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv2d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv_transpose2d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv3d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_conv_transpose3d": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_fft": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_ifft": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_rfft": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_irfft": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_fft2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_ifft2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_rfft2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_irfft2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_fftshift": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_ifftshift": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_fftfreq": (C.c_int32, (C.c_int64, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_rfftfreq": (C.c_int32, (C.c_int64, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_fftn": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_ifftn": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_rfftn": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_irfftn": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fft_normed": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_char_p, C.c_size_t, C.c_int32, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_hadamard_transform": (C.c_int32, (C.c_void_p, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fast_rms_norm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fast_layer_norm": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_double, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fast_rope": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int32, C.c_double, C.c_double, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_fast_scaled_dot_product_attention": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_double, C.c_int32, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_qr": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_svd": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_svd_values": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_inv": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_tri_inv": (C.c_int32, (C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_cholesky": (C.c_int32, (C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_cholesky_inv": (C.c_int32, (C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_pinv": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_eigh": (C.c_int32, (C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_eigvalsh": (C.c_int32, (C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_eig": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_eigvals": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_lu": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_lu_factor": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_solve": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_solve_triangular": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_det": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_slogdet": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_cross": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_norm_l2": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_norm": (C.c_int32, (C.c_void_p, C.c_double, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_linalg_norm_matrix": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_size_t, C.c_int32, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_seed": (C.c_int32, (C.c_uint64, C.c_void_p)),
    "mlxrocm_array_random_key": (C.c_int32, (C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_split": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_bits": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_uniform": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_normal": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_multivariate_normal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_randint": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_bernoulli": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_truncated_normal": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_gumbel": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_uint32, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_laplace": (C.c_int32, (C.c_void_p, C.c_size_t, C.c_uint32, C.c_double, C.c_double, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_categorical": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_categorical_num_samples": (C.c_int32, (C.c_void_p, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_categorical_shape": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_size_t, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_permutation": (C.c_int32, (C.c_void_p, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_random_permutation_arange": (C.c_int32, (C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_load": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_save": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_map_new": (C.c_int32, (C.c_void_p, C.c_void_p)),
    "mlxrocm_array_map_load": (C.c_int32, (C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_map_save_safetensors": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_map_save_gguf": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_map_count": (C.c_size_t, (C.c_void_p,)),
    "mlxrocm_array_map_name": (C.c_void_p, (C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_map_get": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_map_set": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_map_free": (None, (C.c_void_p,)),
    "mlxrocm_array_map_metadata_count": (C.c_size_t, (C.c_void_p,)),
    "mlxrocm_array_map_metadata_key": (C.c_void_p, (C.c_void_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_map_metadata_kind": (C.c_uint32, (C.c_void_p, C.c_char_p, C.c_size_t)),
    "mlxrocm_array_map_metadata_text": (C.c_void_p, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_map_metadata_array": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_map_set_metadata": (C.c_int32, (C.c_void_p, C.c_char_p, C.c_size_t, C.c_char_p, C.c_size_t, C.c_void_p)),
    "mlxrocm_array_kernel_new": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_kernel_apply": (C.c_int32, (C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)),
    "mlxrocm_array_kernel_free": (None, (C.c_void_p,)),
}

ERRORS = {
    -1: "INVALID_ARGUMENT",
    -2: "NULL_ARGUMENT",
    -3: "POISONED",
    -4: "OUT_OF_MEMORY",
    -5: "IO",
    -6: "INVALID_FILE",
    -7: "UNSUPPORTED",
    -8: "BUFFER_TOO_SMALL",
    -9: "CONTEXT_FULL",
    -10: "NO_DEVICE",
    -11: "DEVICE_FAILED",
    -12: "CANCELLED",
    -13: "INTERNAL",
    -14: "DEVICE_LOST",
    -15: "TIMEOUT",
    -16: "SELFTEST_FAILED",
}
