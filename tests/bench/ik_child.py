"""One measurement of ik_llama.cpp, in a process of its own.

Run with the Python of a virtual environment that holds the PyPI wheel `ik-llama-cpp-python`; the wheel's
shared library is driven through its own ctypes binding, as ik_llama.cpp's `llama-bench` drives it: a warm-up,
then prompt processing of P tokens in one `llama_decode` call (n_batch = n_ubatch = P), then G decode steps of
one token each, on a cleared cache. Prints one line of JSON.

usage: ik_child.py MODEL --threads N [--prompt 512] [--decode 128] [--flash-attention] [--repack] [--repeat 1]
"""

import argparse
import json
import os
import sys
import time


def proc_status_kib(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--decode", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--flash-attention", action="store_true")
    parser.add_argument("--repack", action="store_true", help="ik's run-time repack (-rtr); turns mmap off")
    args = parser.parse_args()

    # The engine logs to stdout and stderr; the one line of JSON goes to the real stdout.
    real_stdout = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    if not os.environ.get("IK_CHILD_VERBOSE"):
        os.dup2(null, 1)
        os.dup2(null, 2)

    from ik_llama_cpp import _ctypes_api as ik

    began = time.perf_counter()
    ik.llama_backend_init()
    model_params = ik.llama_model_default_params()
    model_params.n_gpu_layers = 0
    if args.repack:
        model_params.repack_tensors = True
        model_params.use_mmap = False
    model = ik.llama_model_load_from_file(args.model.encode(), model_params)
    if not model:
        sys.exit("ik_llama.cpp could not load the model")
    params = ik.llama_context_default_params()
    params.n_ctx = args.prompt + args.decode
    params.n_batch = args.prompt
    params.n_ubatch = args.prompt
    params.n_threads = args.threads
    params.n_threads_batch = args.threads
    params.flash_attn = args.flash_attention
    context = ik.llama_init_from_model(model, params)
    if not context:
        sys.exit("ik_llama.cpp could not make a context")
    vocab = ik.llama_vocab_n_tokens(ik.llama_model_get_vocab(model))
    load_seconds = time.perf_counter() - began

    batch = ik.llama_batch_init(max(args.prompt, 1), 0, 1)
    state = 12345

    def decode(count, start):
        nonlocal state
        batch.n_tokens = count
        for i in range(count):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            batch.token[i] = 20 + (state >> 8) % (vocab - 20)
            batch.pos[i] = start + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = 1 if i + 1 == count else 0
        if ik.llama_decode(context, batch) != 0:
            sys.exit("llama_decode failed")
        # Reading the logits is what makes the engine finish its work.
        if not ik.llama_get_logits_ith(context, -1 if count == 1 else count - 1):
            sys.exit("no logits")

    samples = []
    for number in range(args.repeat):
        sample = {}
        if args.prompt:
            ik.llama_kv_cache_clear(context)
            if number == 0:
                decode(args.prompt, 0)
                ik.llama_kv_cache_clear(context)
            t = time.perf_counter()
            decode(args.prompt, 0)
            sample["prompt_tok_s"] = args.prompt / (time.perf_counter() - t)
        if args.decode:
            ik.llama_kv_cache_clear(context)
            decode(1, 0)
            ik.llama_kv_cache_clear(context)
            t = time.perf_counter()
            for position in range(args.decode):
                decode(1, position)
            sample["decode_tok_s"] = args.decode / (time.perf_counter() - t)
        samples.append(sample)

    best = {key: max(s[key] for s in samples) for key in samples[0]}
    best.update(load_seconds=load_seconds, peak_rss_kib=proc_status_kib("VmHWM"), samples=samples)
    os.write(real_stdout, (json.dumps(best) + "\n").encode())


if __name__ == "__main__":
    main()
