"""Kernels of one's own that take and give arrays, on a GPU."""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence
from typing import Any, Union

from . import _abi
from ._array import ArrayLike, _array, _arrays, _dtype, _ints, _many, array
from ._library import Object, new, utf8, utf8_list
from .device import Device
from .dtypes import Dtype

# What a name in the source means: a type, a constant of type bool, or a whole number of 32 bits.
Meaning = Union[Dtype, bool, int]


class ArrayKernel(Object):
    """A kernel that takes and gives arrays: call it."""

    _free = "mlxrocm_array_kernel_free"

    def __call__(self, *, inputs: Sequence[ArrayLike], output_shapes: Sequence[Sequence[int]],
                 output_dtypes: Sequence[Dtype], grid: Sequence[int], threadgroup: Sequence[int],
                 template: Sequence[tuple[str, Meaning]] = (),
                 init_value: float | None = None) -> list[array]:  # fmt: skip
        """Lazy arrays of the shapes and dtypes; the source is compiled at once, for each new dtypes, ranks, `template`.

        `grid`: work items in all, in x, y and z; the last blocks of `threadgroup` items are whole, and what is beyond
        the grid must be left alone. `init_value`: what outputs hold before; None: whatever lies there.
        """
        if len(output_shapes) != len(output_dtypes):
            raise ValueError(f"{len(output_shapes)} shapes and {len(output_dtypes)} dtypes of outputs")
        shapes = [_ints(shape) for shape in output_shapes]
        types = (_abi.array_type * max(len(shapes), 1))(*(
            _abi.array_type(C.cast(sizes, C.c_void_p), rank, _dtype(dtype))
            for (sizes, rank), dtype in zip(shapes, output_dtypes)
        ))  # fmt: skip
        meanings = (_abi.array_template * max(len(template), 1))(*(_meaning(*pair) for pair in template))
        handles, count = _arrays([_array(value) for value in inputs])
        call = _abi.array_kernel_call(struct_size=C.sizeof(_abi.array_kernel_call), has_initial=init_value is not None)
        call.initial = 0.0 if init_value is None else init_value
        call.grid[: len(grid)], call.block[: len(threadgroup)] = grid, threadgroup
        call.inputs, call.input_count = handles._as_parameter_, count
        call.outputs, call.output_count = C.cast(types, C.c_void_p), len(shapes)
        call.templates, call.template_count = C.cast(meanings, C.c_void_p), len(template)
        return _many(len(shapes), "mlxrocm_array_kernel_apply", self.handle, C.byref(call))


def _meaning(name: str, value: Meaning) -> Any:
    kind, number = _abi.TEMPLATE_INT, value
    if isinstance(value, Dtype):
        kind, number = _abi.TEMPLATE_DTYPE, value.number
    elif isinstance(value, bool):
        kind = _abi.TEMPLATE_BOOL
    return _abi.array_template(*utf8(name), number, kind)


def hip_kernel(name: str, input_names: Sequence[str], output_names: Sequence[str], source: str, header: str = "",
               ensure_row_contiguous: bool = True, *, device: Device) -> ArrayKernel:  # fmt: skip
    """A kernel of one's own on a GPU, in the form of MLX's `metal_kernel` and `cuda_kernel`.

    `source` is the body of a function in HIP's language, whose parameters are the inputs and outputs by their names:
    pointers to elements, row after row. Beside an input x it may use `x_shape[]`, `x_ndim` and `x_strides[]`. Types that
    the language has not are `float16`, `bfloat16` and `complex64`. `header` stands before the function.
    """
    options = _abi.array_kernel_options(C.sizeof(_abi.array_kernel_options), not ensure_row_contiguous, *utf8(name),
                                        *utf8(source), *utf8(header or None))  # fmt: skip
    inputs, input_lengths, options.input_count = utf8_list(input_names)
    outputs, output_lengths, options.output_count = utf8_list(output_names)
    options.input_names = C.cast(inputs, C.c_void_p)
    options.input_name_lengths = C.cast(input_lengths, C.c_void_p)
    options.output_names = C.cast(outputs, C.c_void_p)
    options.output_name_lengths = C.cast(output_lengths, C.c_void_p)
    return ArrayKernel(new("mlxrocm_array_kernel_new", device.handle, C.byref(options)))
