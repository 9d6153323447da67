"""Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs. Any thread."""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _abi
from ._library import Object, call, filled_text, info, library, new, text
from .model import Device, _plain


class Buffer(Object):
    """Memory of a GPU, or (`pinned`) host memory that it can reach."""

    _free = "mlxrocm_buffer_free"

    def __init__(self, device: Device, size: int, *, pinned: bool = False):
        kind = _abi.BUFFER_PINNED if pinned else _abi.BUFFER_DEVICE
        super().__init__(new("mlxrocm_buffer_new", device.handle, kind, size))
        self.size = size

    @classmethod
    def _own(cls, handle: int) -> Buffer:
        made = cls.__new__(cls)
        made._handle = handle
        made.size = made.info["size"]
        return made

    @property
    def info(self) -> dict[str, Any]:
        """Facts under the names of mlxrocm_buffer_info."""
        return _plain(info(_abi.buffer_info, "mlxrocm_buffer_get_info", self.handle))

    def write(self, data: Any, offset: int = 0) -> None:
        """Copies the bytes of an object with the buffer protocol into it, and waits."""
        content = bytes(memoryview(data).cast("B"))
        call("mlxrocm_buffer_write", self.handle, offset, content, len(content))

    def read(self, size: int | None = None, offset: int = 0) -> bytes:
        """Copies bytes out of it, and waits."""
        target = C.create_string_buffer(self.size - offset if size is None else size)
        call("mlxrocm_buffer_read", self.handle, offset, target, len(target))
        return target.raw


@dataclass(frozen=True)
class In:
    """A buffer that the kernel reads."""

    buffer: Buffer
    offset: int = 0


@dataclass(frozen=True)
class Out:
    """A buffer that the kernel writes."""

    buffer: Buffer
    offset: int = 0


# Numbers are passed with the width of their ctypes type: C.c_uint32(5), C.c_float(0.5).
Argument = Union[Buffer, In, Out, C.c_uint32, C.c_int32, C.c_float, C.c_uint64, C.c_int64, C.c_double]
_WIDTHS = {
    C.c_uint32: "u32", C.c_int32: "i32", C.c_float: "f32", C.c_uint64: "u64", C.c_int64: "i64", C.c_double: "f64",
}  # fmt: skip


def _arg(value: Argument) -> Any:
    if isinstance(value, Buffer):
        return library.mlxrocm_arg_buffer(value.handle, 0)
    if isinstance(value, In):
        return library.mlxrocm_arg_input(value.buffer.handle, value.offset)
    if isinstance(value, Out):
        return library.mlxrocm_arg_output(value.buffer.handle, value.offset)
    width = _WIDTHS.get(type(value))
    if width is None:
        raise TypeError(f"an argument is a buffer or a ctypes number such as c_uint32(5), not {value!r}")
    return getattr(library, f"mlxrocm_arg_{width}")(value)


def _launch(grid: Sequence[int], block: Sequence[int], dynamic_lds: int, arguments: Sequence[Argument]) -> Any:
    launch = _abi.launch(struct_size=C.sizeof(_abi.launch), dynamic_lds=dynamic_lds)
    launch.grid[: len(grid)], launch.block[: len(block)] = grid, block
    args = (_abi.arg * max(len(arguments), 1))(*(_arg(argument) for argument in arguments))
    launch.args, launch.arg_count = C.cast(args, C.c_void_p), len(arguments)
    launch._args = args  # which the struct borrows
    return launch


class Kernel(Object):
    """A function that a GPU runs."""

    _free = "mlxrocm_kernel_free"

    @property
    def info(self) -> dict[str, Any]:
        return _plain(info(_abi.kernel_info, "mlxrocm_kernel_get_info", self.handle))


class Module(Object):
    """Code on a GPU, compiled from a source in HIP's language; an Error's `details` have the compiler's log."""

    _free = "mlxrocm_module_free"

    def __init__(self, device: Device, source: str, *, flags: Sequence[str] = (), name: str = "kernel source"):
        strings = (C.c_char_p * max(len(flags), 1))(*(text(flag, "a flag") for flag in flags))
        options = _abi.compile_options(C.sizeof(_abi.compile_options), len(flags), C.cast(strings, C.c_void_p), None,
                                       text(name))  # fmt: skip
        super().__init__(new("mlxrocm_module_compile", device.handle, text(source, "the source"), _abi.NUL,
                             C.byref(options)))  # fmt: skip

    def kernel(self, name: str) -> Kernel:
        return Kernel(new("mlxrocm_module_get_kernel", self.handle, text(name), _abi.NUL))


class Stream(Object):
    """A queue of work that a GPU does in order. What fails while it runs comes out of the next wait."""

    _free = "mlxrocm_stream_free"

    def __init__(self, device: Device):
        super().__init__(new("mlxrocm_stream_new", device.handle))

    def launch(self, kernel: Kernel, grid: Sequence[int], block: Sequence[int], *arguments: Argument,
               dynamic_lds: int = 0) -> None:  # fmt: skip
        launch = _launch(grid, block, dynamic_lds, arguments)
        call("mlxrocm_stream_launch", self.handle, kernel.handle, C.byref(launch))

    def copy(self, target: Buffer, source: Buffer, size: int, target_offset: int = 0, source_offset: int = 0) -> None:
        call("mlxrocm_stream_copy", self.handle, target.handle, target_offset, source.handle, source_offset, size)

    def fill(self, buffer: Buffer, value: int, offset: int = 0, size: int | None = None) -> None:
        call("mlxrocm_stream_fill", self.handle, buffer.handle, offset, buffer.size - offset if size is None else size, value)

    def wait(self, timeout: float | None = None) -> None:
        """Waits for all queued work; WaitTimeoutError after `timeout` seconds."""
        call("mlxrocm_stream_wait", self.handle, -1 if timeout is None else int(timeout * 1e9))

    def run(self, program: Program) -> None:
        call("mlxrocm_program_run", program.handle, self.handle)


class Program(Object):
    """Launches and copies that are recorded once, ordered by what each reads and writes, and run often."""

    _free = "mlxrocm_program_free"

    def __init__(self, device: Device):
        super().__init__(new("mlxrocm_program_new", device.handle))

    def launch(self, kernel: Kernel, grid: Sequence[int], block: Sequence[int], *arguments: Argument,
               dynamic_lds: int = 0) -> None:  # fmt: skip
        launch = _launch(grid, block, dynamic_lds, arguments)
        call("mlxrocm_program_launch", self.handle, kernel.handle, C.byref(launch))

    def end(self) -> None:
        """Ends the recording; from then on it can be run."""
        call("mlxrocm_program_end", self.handle)

    def explain(self) -> str:
        return filled_text("mlxrocm_program_explain", self.handle)
