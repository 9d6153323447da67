"""Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs. Any thread."""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _abi
from ._library import Object, call, filled_text, info, library, memory_of, nanoseconds, new, plain, utf8, utf8_list
from .device import Device


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
        return plain(info(_abi.buffer_info, "mlxrocm_buffer_get_info", self.handle))

    def write(self, data: Any, offset: int = 0) -> None:
        """Copies the bytes of an object with the buffer protocol into it, and waits."""
        call("mlxrocm_buffer_write", self.handle, offset, *memory_of(data))

    def read(self, size: int | None = None, offset: int = 0) -> bytes:
        """Copies bytes out of it, and waits."""
        target = C.create_string_buffer(_rest(self, offset, size))
        call("mlxrocm_buffer_read", self.handle, offset, target, len(target))
        return target.raw


def _rest(buffer: Buffer, offset: int, size: int | None) -> int:
    """Bytes from an offset on, where no size is given."""
    return max(buffer.size - offset, 0) if size is None else size


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


_MODES = {_abi.PROGRAM_DIRECT: "direct", _abi.PROGRAM_GRAPH: "graph"}
_REASONS = {
    _abi.REASON_SETTING: "setting", _abi.REASON_COMPARED: "compared", _abi.REASON_NOT_COMPARED: "not compared",
    _abi.REASON_NOT_BUILT: "not built",
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

    @classmethod
    def of_library(cls, device: Device, name: str) -> Kernel:
        """One of the library's own, like "mlxrocm_vector_add_f32"; what it takes is in the comment of its source."""
        return cls(new("mlxrocm_device_get_kernel", device.handle, *utf8(name)))

    @property
    def info(self) -> dict[str, Any]:
        return plain(info(_abi.kernel_info, "mlxrocm_kernel_get_info", self.handle))


class Module(Object):
    """Code on a GPU, compiled from a source in HIP's language; an Error's `details` have the compiler's log."""

    _free = "mlxrocm_module_free"

    def __init__(self, device: Device, source: str, *, flags: Sequence[str] = (), name: str = "kernel source"):
        strings, lengths, count = utf8_list(flags)
        options = _abi.compile_options(C.sizeof(_abi.compile_options), count, C.cast(strings, C.c_void_p),
                                       C.cast(lengths, C.c_void_p), *utf8(name))  # fmt: skip
        super().__init__(new("mlxrocm_module_compile", device.handle, *utf8(source), C.byref(options)))

    @classmethod
    def load(cls, device: Device, code: Any) -> Module:
        """Code that was compiled for the device: an ELF code object (AMD), a cubin or PTX (NVIDIA), in any memory."""
        made = cls.__new__(cls)
        made._handle = new("mlxrocm_module_load", device.handle, *memory_of(code))
        return made

    def kernel(self, name: str) -> Kernel:
        return Kernel(new("mlxrocm_module_get_kernel", self.handle, *utf8(name)))


class Event(Object):
    """A mark in a stream's queue: `stream.record(event)`."""

    _free = "mlxrocm_gpu_event_free"

    def __init__(self, device: Device):
        super().__init__(new("mlxrocm_gpu_event_new", device.handle))

    def wait(self, timeout: float | None = None) -> None:
        """Waits until the work before the mark is done; WaitTimeoutError after `timeout` seconds."""
        call("mlxrocm_gpu_event_wait", self.handle, nanoseconds(timeout))

    @property
    def done(self) -> bool:
        """Whether the work before the mark is done."""
        return call("mlxrocm_gpu_event_query", self.handle) == _abi.OK

    def seconds_since(self, earlier: Event) -> float:
        """The GPU's time between two marks that it has passed."""
        milliseconds = C.c_double()
        call("mlxrocm_gpu_event_elapsed", earlier.handle, self.handle, C.byref(milliseconds))
        return milliseconds.value / 1e3


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
        call("mlxrocm_stream_fill", self.handle, buffer.handle, offset, _rest(buffer, offset, size), value)

    def write(self, buffer: Buffer, data: Any, offset: int = 0) -> None:
        """Queues a write of an object with the buffer protocol, whose bytes are taken at once."""
        call("mlxrocm_stream_write", self.handle, buffer.handle, offset, *memory_of(data))

    def read(self, buffer: Buffer, size: int | None = None, offset: int = 0) -> bytes:
        """Bytes of a buffer after the work that is queued, for which it waits."""
        target = C.create_string_buffer(_rest(buffer, offset, size))
        call("mlxrocm_stream_read", self.handle, buffer.handle, offset, target, len(target))
        return target.raw

    def record(self, event: Event) -> None:
        """Marks this point of the queue; an earlier mark of the event is forgotten."""
        call("mlxrocm_stream_record", self.handle, event.handle)

    def wait_for(self, event: Event) -> None:
        """What is queued from now on starts after the work before the event's mark, on whatever stream that was."""
        call("mlxrocm_stream_wait_for", self.handle, event.handle)

    @property
    def done(self) -> bool:
        """Whether all queued work is done. A fault of it is kept for the next wait."""
        return call("mlxrocm_stream_query", self.handle) == _abi.OK

    def wait(self, timeout: float | None = None) -> None:
        """Waits for all queued work; WaitTimeoutError after `timeout` seconds."""
        call("mlxrocm_stream_wait", self.handle, nanoseconds(timeout))

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

    def copy(self, target: Buffer, source: Buffer, size: int, target_offset: int = 0, source_offset: int = 0) -> None:
        """Records a copy between two buffers in device memory."""
        call("mlxrocm_program_copy", self.handle, target.handle, target_offset, source.handle, source_offset, size)

    def fill(self, buffer: Buffer, value: int, offset: int = 0, size: int | None = None) -> None:
        """Records a fill of device memory with one byte value."""
        call("mlxrocm_program_fill", self.handle, buffer.handle, offset, _rest(buffer, offset, size), value)

    def barrier(self) -> None:
        """What is recorded after this runs after all that was before."""
        call("mlxrocm_program_barrier", self.handle)

    def end(self) -> None:
        """Ends the recording; from then on it can be run."""
        call("mlxrocm_program_end", self.handle)

    @property
    def info(self) -> dict[str, Any]:
        """How the next run goes, and why, under the names of mlxrocm_program_info; `mode` is "direct" or "graph",
        `reason` "setting", "compared", "not compared" or "not built"."""
        facts = plain(info(_abi.program_info, "mlxrocm_program_get_info", self.handle))
        return facts | {"mode": _MODES[facts["mode"]], "reason": _REASONS[facts["reason"]]}

    def explain(self) -> str:
        """How the next run goes and why, in words."""
        return filled_text("mlxrocm_program_explain", self.handle)
