"""What mlx.core has and the C interface has not, and why: a section of docs/operations.md."""
import re

import mlx.core as mx

# Other names of the library's own, by MLX's.
OTHER_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "concat": "concatenate",
    "conj": "conjugate", "cumulative_prod": "cumprod", "cumulative_sum": "cumsum", "permute_dims": "transpose",
    "pow": "power", "save_safetensors": "map_save_safetensors", "save_gguf": "map_save_gguf", "async_eval": "eval_async",
    "synchronize": "wait", "array": "from_data", "asarray": "from_data", "empty": "zeros", "empty_like": "zeros_like",
}  # fmt: skip
LEFT_OUT = {
    "gradients and function transforms: the library computes, it does not train":
        "checkpoint custom_function grad jvp value_and_grad vjp vmap",
    "compiling: graphs that come again are planned and fused by themselves": "compile disable_compile enable_compile",
    "Python's own objects, printing and exchange": """ArrayAt ArrayIterator ArrayLike Device DeviceType Dtype DtypeCategory
        FunctionExporter PrintOptions Stream StreamContext ThreadLocalStream from_dlpack finfo iinfo get_printoptions
        printoptions set_printoptions get_array_buffer_size""",
    "classes of dtypes and what two of them become: constants of the header, and the dtype of a result": """bool_ can_cast
        complexfloating floating generic inexact integer isdtype issubdtype result_type signedinteger unsignedinteger
        bfloat16 complex64 float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8""",
    "numbers that C has": "e euler_gamma inf nan newaxis pi",
    "devices, streams and memory: `mlxrocm_device_…`; an array is computed where it is (`to_device`, `to_stream`)": """clear_cache clear_streams cpu cuda
        default_device default_stream device_count device_info get_active_memory get_cache_memory get_memory_limit
        get_peak_memory gpu is_available metal new_stream new_thread_local_stream new_thread_unsafe_stream
        reset_peak_memory set_cache_limit set_default_device set_default_stream set_memory_limit set_wired_limit stream""",
    "one or two calls of others": """bartlett blackman hamming hanning broadcast_shapes convolve diff einsum_path matrix_norm
        matrix_transpose minmax positive unstack vecdot fft.stft fft.istft fast.cross_entropy""",
    "results whose size the numbers decide": "unique",
    "files of MLX's own, zip archives": "export_function export_to_dot exporter import_function savez savez_compressed",
    "several machines": "distributed",
    "models' own operations, which the graph of a model has": "fast.gated_delta_update",
    "kernels of the vendors' languages: `mlxrocm_array_kernel_…` takes HIP's":
        "fast.cuda_kernel fast.metal_kernel fast.precompiled_cuda_kernel",
}
MODULES = {"": mx, "fft": mx.fft, "linalg": mx.linalg, "random": mx.random, "fast": mx.fast}


def section(header):
    """The section, and what of it is wrong."""
    ours = set(re.findall(r"mlxrocm_array_(\w+)\(", header.read_text()))
    lacking = set()
    for module, names in MODULES.items():
        for name in dir(names):
            own = f"{module}_{name}" if module else name
            spelled = f"{module}.{name}" if module else name
            if name.startswith("_") or name in MODULES or OTHER_NAMES.get(spelled, own) in ours:
                continue
            lacking.add(spelled)
    said = {name for names in LEFT_OUT.values() for name in names.split()}
    wrong = [f"{name} is said to be left out and is not" for name in sorted(said - lacking)]
    wrong += [f"{name} of mlx.core is neither there nor said to be left out" for name in sorted(lacking - said)]
    lines = ["", "## Left out", "", "What mlx.core has and the C interface has not (compared by `tests/conformance/names.py`):", ""]
    for reason, names in LEFT_OUT.items():
        listed = ", ".join(f"`{name}`" for name in names.split())
        lines.append(f"- {reason}" + (f": {listed}" if listed else ""))
    lines += ["", "Other names: " + ", ".join(f"`{a}` is `{b}`" for a, b in sorted(OTHER_NAMES.items())) + "."]
    return "\n".join(lines) + "\n", wrong
