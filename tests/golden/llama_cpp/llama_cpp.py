"""llama.cpp's CPU build through its C interface: logits of a GGUF file. The structures are those of v0.5.0, which npm's
package @node-llama-cpp/linux-x64 3.22.1 carries in its folder bins/linux-x64 (built on Ubuntu 22.04; nothing is
installed: `npm pack` and `tar` are enough)."""

import ctypes
import os

import numpy as np


def pointers(*names):
    return [(name, ctypes.c_void_p) for name in names]


def of(kind, *names):
    return [(name, kind) for name in names]


class ModelOptions(ctypes.Structure):
    _fields_ = [("all", ctypes.c_uint32 * 64)]


class Options(ctypes.Structure):
    _fields_ = [
        *of(ctypes.c_uint32, "n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max", "n_outputs_each"),
        *of(ctypes.c_int32, "n_threads", "n_threads_batch", "ctx_type", "rope_scaling", "pooling", "attention"),
        *of(ctypes.c_int32, "flash_attention"),
        *of(ctypes.c_float, "rope_base", "rope_scale", "yarn_ext", "yarn_attn", "yarn_fast", "yarn_slow"),
        *of(ctypes.c_uint32, "yarn_original"),
        *of(ctypes.c_float, "defrag"),
        *pointers("eval_call", "eval_data"),
        *of(ctypes.c_int32, "type_k", "type_v"),
        *of(ctypes.c_uint32, *(f"rest_{i}" for i in range(64))),
    ]


class Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32), *pointers("token", "embd", "pos", "n_seq_id", "seq_id", "logits")]


LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Library:
    def __init__(self, folder):
        load = lambda start: ctypes.CDLL(
            next(os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith(start)),
            ctypes.RTLD_GLOBAL,
        )
        load("libggml-base.so"), load("libggml.v")
        self.llama = llama = load("libllama.v")
        ggml = load("libggml.v")
        self.lines = []
        self.log = LOG(lambda level, text, _: self.lines.append(text.decode(errors="replace")))
        llama.llama_log_set(self.log, None)
        ggml.ggml_backend_load.restype = ctypes.c_void_p
        # The plainest form, the same on every machine.
        assert ggml.ggml_backend_load(os.path.join(folder, "libggml-cpu-x64.so").encode())
        llama.llama_model_default_params.restype = ModelOptions
        llama.llama_context_default_params.restype = Options
        llama.llama_model_load_from_file.restype = ctypes.c_void_p
        llama.llama_model_load_from_file.argtypes = [ctypes.c_char_p, ModelOptions]
        llama.llama_init_from_model.restype = ctypes.c_void_p
        llama.llama_init_from_model.argtypes = [ctypes.c_void_p, Options]
        llama.llama_decode.argtypes = [ctypes.c_void_p, Batch]
        llama.llama_get_logits_ith.restype = ctypes.POINTER(ctypes.c_float)
        llama.llama_get_logits_ith.argtypes = [ctypes.c_void_p, ctypes.c_int32]
        llama.llama_free.argtypes = llama.llama_model_free.argtypes = [ctypes.c_void_p]

    def logits(self, path, tokens, vocabulary):
        """`[tokens, vocabulary]`, with keys and values in f32, without flash attention, in one batch."""
        llama = self.llama
        self.lines.clear()
        model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        if not model:
            raise ValueError("".join(self.lines[-6:]))
        options = llama.llama_context_default_params()
        assert (options.type_k, options.type_v, options.defrag) == (1, 1, -1.0), "another version's structure"
        options.n_ctx, options.n_outputs_max, options.n_outputs_each = 256, 256, 256
        options.n_threads = options.n_threads_batch = 1
        options.type_k = options.type_v = options.flash_attention = 0
        context = llama.llama_init_from_model(model, options)
        if not context:
            raise ValueError("".join(self.lines[-6:]))
        count = len(tokens)
        ints = lambda numbers: (ctypes.c_int32 * count)(*numbers)
        parts = [ints(tokens), ints(range(count)), ints([1] * count)]
        zero = ctypes.c_int32(0)
        sequences = (ctypes.c_void_p * count)(*[ctypes.addressof(zero)] * count)
        every = (ctypes.c_int8 * count)(*[1] * count)
        address = ctypes.addressof
        batch = Batch(
            count, address(parts[0]), None, address(parts[1]), address(parts[2]), address(sequences), address(every)
        )
        assert llama.llama_decode(context, batch) == 0, "".join(self.lines[-6:])
        rows = [llama.llama_get_logits_ith(context, i)[:vocabulary] for i in range(count)]
        llama.llama_free(context)
        llama.llama_model_free(model)
        return np.array(rows, dtype=np.float32)
