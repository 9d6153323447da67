"""The true KL divergence (whole vocabulary) of libmlxrocm from MLX in float32 over text.txt; the committed
references only hold the 64 best tokens of a position. Run by hand; needs `mlx[cpu]`, `mlx-lm`, `gguf`.

usage: full_kl.py LIBMLXROCM.so DEMO.gguf FOLDERS_DIRECTORY [NAME …]

NAME is demo or a folder's name; default: demo. libmlxrocm is called through its C API (ctypes).
"""

import ctypes as ct
import json
import os
import sys

import numpy as np
from mlx_lm.models.cache import make_prompt_cache

import make_folders as mk
from make_references import HERE, build, run, weights_f32


class SessionOptions(ct.Structure):
    """mlxrocm_session_options."""

    _fields_ = [("struct_size", ct.c_uint32), ("context", ct.c_uint32), ("max_requests", ct.c_uint32),
                ("prefill_chunk", ct.c_uint32), ("kv_tokens", ct.c_uint64)]  # fmt: skip


def our_logits(library, path, ids, vocab):
    lib = ct.CDLL(library)
    lib.mlxrocm_error_message.restype = ct.c_char_p
    lib.mlxrocm_error_message.argtypes = [ct.c_void_p, ct.c_void_p]
    error = ct.c_void_p()

    def check(status):
        if status != 0:
            sys.exit(f"libmlxrocm: {lib.mlxrocm_error_message(error, None).decode()}")

    model, session = ct.c_void_p(), ct.c_void_p()
    check(lib.mlxrocm_model_load(path.encode(), ct.c_size_t(-1), None, ct.byref(model), ct.byref(error)))
    options = SessionOptions(ct.sizeof(SessionOptions), len(ids) + 64, 1, 0, 0)
    check(lib.mlxrocm_session_new(model, ct.byref(options), ct.byref(session), ct.byref(error)))
    tokens = np.asarray(ids, np.uint32)
    out = np.empty((len(ids), vocab), np.float32)
    needed = ct.c_size_t()
    check(
        lib.mlxrocm_session_logits(
            session, tokens.ctypes.data_as(ct.c_void_p), ct.c_size_t(len(ids)), out.ctypes.data_as(ct.c_void_p),
            ct.c_size_t(out.size), ct.byref(needed), ct.byref(error),
        )
    )  # fmt: skip
    lib.mlxrocm_session_free(session)
    lib.mlxrocm_model_free(model)
    return out


def log_softmax(rows):
    x = rows.astype(np.float64)
    x -= x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    library, gguf, folders = sys.argv[1:4]
    demo = mk.Demo(gguf)
    config = json.load(open(os.path.join(folders, "gguf-g32", "config.json")))
    text = json.load(open(os.path.join(HERE, "text.json")))["ids"]
    for name in sys.argv[4:] or ["demo"]:
        folder = None if name == "demo" else os.path.join(folders, name)
        quantization = mk.quantization_of(name, config["num_hidden_layers"]) if folder else None
        model = build(config, weights_f32(demo, folder, quantization))
        theirs = run(model, text, make_prompt_cache(model))
        ours = our_logits(library, folder or gguf, text, theirs.shape[1])
        kl, same = [], 0
        for i in range(0, len(text), 64):  # in parts: float64 copies of everything would be large
            p, q = log_softmax(theirs[i : i + 64]), log_softmax(ours[i : i + 64])
            kl.append((np.exp(p) * (p - q)).sum(-1))
            same += int((theirs[i : i + 64].argmax(-1) == ours[i : i + 64].argmax(-1)).sum())
        kl = np.concatenate(kl)
        print(
            f"{name}: {len(text)} tokens: mean KL {kl.mean():.3e}, median {np.median(kl):.3e}, largest {kl.max():.3e}; "
            f"same best token {100 * same / len(text):.2f} %; largest logit difference {np.abs(ours - theirs).max():.4f}"
        )


if __name__ == "__main__":
    main()
