"""The library through ctypes: arrays with the operations of the C API."""
import ctypes as C
import re

import numpy as np

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
          "float16", "float32", "float64", "bfloat16", "complex64"]
AXIS_NONE = -(1 << 63)


class Failure(Exception):
    """A function of the library returned an error."""


class Library:
    """The library at a path; arrays are on a device of its list (0: the CPU)."""

    def __init__(self, path, device=0):
        self.c = C.CDLL(path)
        for name, result in [("dtype", C.c_uint32), ("rank", C.c_size_t), ("bytes", C.c_size_t)]:
            function = getattr(self.c, "mlxrocm_array_" + name)
            function.restype, function.argtypes = result, [C.c_void_p]
        self.c.mlxrocm_error_message.restype = C.c_char_p
        self.c.mlxrocm_error_message.argtypes = [C.c_void_p, C.c_void_p]
        self.c.mlxrocm_error_free.argtypes = [C.c_void_p]
        self.c.mlxrocm_array_free.argtypes = [C.c_void_p]
        self.c.mlxrocm_array_map_free.argtypes = [C.c_void_p]
        self.device, self.cpu = None, C.c_void_p()
        self.open(0, self.cpu)
        # Operations that the CPU computed for a GPU, with their dtypes: `(name, dtypes)`; the library says so in its log.
        self.by_cpu = []
        if device:
            self.log = C.CFUNCTYPE(None, C.c_uint32, C.c_void_p, C.c_size_t, C.c_void_p)(self.note)
            self.c.mlxrocm_log_set_callback(C.c_uint32(4), self.log, None, None, None)
            self.device = C.c_void_p()
            self.open(device, self.device)

    def close(self):
        """Ends the log: threads of the library must not come to an interpreter that is leaving."""
        self.c.mlxrocm_log_set_callback(C.c_uint32(1), None, None, None, None)

    def open(self, place, device):
        """Opens a device of the list."""
        error = C.c_void_p()
        if self.c.mlxrocm_device_open(C.c_size_t(place), C.byref(device), C.byref(error)) != 0:
            raise Failure(self.c.mlxrocm_error_message(error, None).decode())

    def note(self, _level, message, length, _data):
        """Takes a line of the log."""
        said = re.match(r"arrays: the CPU computes (\w+) \((.*)\) for a GPU", C.string_at(message, length).decode())
        if said:
            self.by_cpu.append((said[1], said[2].split(", ")))

    def call(self, name, *arguments):
        """Calls a function that ends with an error pointer."""
        error = C.c_void_p()
        function = getattr(self.c, "mlxrocm_array_" + name)
        function.restype = C.c_int32
        if function(*arguments, C.byref(error)) != 0:
            message = self.c.mlxrocm_error_message(error, None).decode()
            self.c.mlxrocm_error_free(error)
            raise Failure(message)

    def array(self, numbers, dtype):
        """An array of numpy's numbers; bfloat16 ones come as their 16 bits."""
        # Asked before: ascontiguousarray makes scalars vectors.
        sizes = list(np.shape(numbers))
        numbers = np.ascontiguousarray(numbers)
        shape = (C.c_int64 * max(len(sizes), 1))(*sizes)
        out = C.c_void_p()
        self.call("from_data", numbers.ctypes.data_as(C.c_void_p), shape, C.c_size_t(len(sizes)),
                  C.c_uint32(DTYPES.index(dtype)), C.byref(out))
        array = Array(self, out)
        if self.device is None:
            return array
        moved = C.c_void_p()
        self.call("to_device", array.handle, self.device, C.byref(moved))
        return Array(self, moved)

    def op(self, name, *arguments, results=1):
        """Calls an operation: arrays, lists of arrays or integers, numbers, dtypes, None."""
        passed, kept = [], []
        for argument in arguments:
            if isinstance(argument, Array):
                passed.append(argument.handle)
            elif isinstance(argument, C.c_void_p):
                passed.append(argument)
            elif argument is None:
                passed.append(C.c_void_p())
            elif isinstance(argument, str):
                passed.append(C.c_uint32(DTYPES.index(argument)))
            elif isinstance(argument, bool):
                passed.append(C.c_int32(argument))
            elif isinstance(argument, float):
                passed.append(C.c_double(argument))
            elif isinstance(argument, int):
                passed.append(C.c_int64(argument))
            elif isinstance(argument, Size):
                passed.append(C.c_size_t(argument.value))
            elif isinstance(argument, Text):
                kept.append(argument.text.encode())
                passed += [kept[-1], C.c_size_t(len(kept[-1]))]
            elif isinstance(argument, Axes):
                if argument.axes is None:
                    passed += [C.c_void_p(), C.c_size_t(0)]
                else:
                    kept.append((C.c_int64 * max(len(argument.axes), 1))(*argument.axes))
                    passed += [kept[-1], C.c_size_t(len(argument.axes))]
            elif argument and isinstance(argument[0], Array):
                kept.append((C.c_void_p * len(argument))(*[a.handle.value for a in argument]))
                passed += [kept[-1], C.c_size_t(len(argument))]
            else:
                kept.append((C.c_int64 * max(len(argument), 1))(*argument))
                passed += [kept[-1], C.c_size_t(len(argument))]
        if isinstance(results, int) and results == 1:
            out = C.c_void_p()
            self.call(name, *passed, C.byref(out))
            return Array(self, out)
        if isinstance(results, int):
            outs = [C.c_void_p() for _ in range(results)]
            self.call(name, *passed, *[C.byref(out) for out in outs])
            return [Array(self, out) for out in outs]
        (count,) = results
        outs = (C.c_void_p * count)()
        self.call(name, *passed, outs)
        return [Array(self, C.c_void_p(out)) for out in outs]


class Size:
    """A count of C."""

    def __init__(self, value):
        self.value = value


class Text:
    """A text, or a path."""

    def __init__(self, text):
        self.text = text


class Axes:
    """A list of axes, or None for all."""

    def __init__(self, axes):
        self.axes = axes


class Array:
    """A handle; freed with the object."""

    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def __del__(self):
        self.library.c.mlxrocm_array_free(self.handle)

    def dtype(self):
        return DTYPES[self.library.c.mlxrocm_array_dtype(self.handle)]

    def shape(self):
        sizes, needed = (C.c_int64 * 64)(), C.c_size_t()
        self.library.call("shape", self.handle, sizes, C.c_size_t(64), C.byref(needed))
        return tuple(sizes[: needed.value])

    def numpy(self):
        """The elements; bfloat16 ones as float32."""
        size = self.library.c.mlxrocm_array_bytes(self.handle)
        data = C.create_string_buffer(max(size, 1))
        self.library.call("read", self.handle, data, C.c_size_t(size))
        dtype = self.dtype()
        if dtype == "bfloat16":
            bits = np.frombuffer(data.raw[:size], np.uint16).astype(np.uint32) << 16
            return bits.view(np.float32).reshape(self.shape())
        return np.frombuffer(data.raw[:size], dtype).reshape(self.shape())
