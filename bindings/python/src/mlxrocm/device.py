"""Devices, and what the library says about itself. Any thread."""

from __future__ import annotations

import ctypes as C
from collections.abc import Callable
from typing import Any

from . import _abi, errors
from ._library import Object, call, filled_text, info, new, plain, said

_KINDS = {_abi.DEVICE_CPU: "cpu", _abi.DEVICE_HIP: "hip", _abi.DEVICE_CUDA: "cuda"}
_GRAPHS = {"auto": _abi.GRAPHS_AUTO, "on": _abi.GRAPHS_ON, "off": _abi.GRAPHS_OFF}


def version() -> str:
    """The library's version, like "0.1.0"."""
    return said("mlxrocm_version_string") or ""


def build_info() -> str:
    """One line about how the library was built, for bug reports."""
    return said("mlxrocm_build_info") or ""


def device_count() -> int:
    """Devices of this machine: the CPU, then GPUs."""
    count = C.c_size_t()
    call("mlxrocm_device_count", C.byref(count))
    return count.value


def why_no_gpu(kind: str) -> str:
    """Why there is no GPU of "hip" or "cuda", and what to do about it; "" if there is one."""
    numbers = {name: number for number, name in _KINDS.items()}
    return filled_text("mlxrocm_device_why_none", numbers.get(kind, 0))


class Device(Object):
    """An open device: 0 is the CPU, GPUs follow from 1."""

    _free = "mlxrocm_device_free"

    def __init__(self, index: int):
        if index < 0:
            raise errors.NoDeviceError(f"there is no device {index}: the CPU is 0, GPUs follow")
        super().__init__(new("mlxrocm_device_open", index))

    @property
    def info(self) -> dict[str, Any]:
        """Facts under the names of mlxrocm_device_info; `kind` is "cpu", "hip" or "cuda"."""
        facts = plain(info(_abi.device_info, "mlxrocm_device_get_info", self.handle))
        return facts | {"kind": _KINDS.get(facts["kind"], str(facts["kind"]))}

    @property
    def memory(self) -> dict[str, Any]:
        """A GPU's counters, in bytes, under the names of mlxrocm_device_memory."""
        return plain(info(_abi.device_memory, "mlxrocm_device_get_memory", self.handle))

    def set_memory_limit(self, size: int) -> None:
        """Sets the most memory of a GPU that this process uses through the library, in bytes."""
        call("mlxrocm_device_set_memory_limit", self.handle, size)

    def reset_peak_memory(self) -> None:
        """Sets the counter `peak` to what is in use now."""
        call("mlxrocm_device_reset_peak_memory", self.handle)

    def trim(self) -> None:
        """Gives freed memory back to the driver."""
        call("mlxrocm_device_trim", self.handle)

    def set_graphs(self, graphs: str) -> None:
        """When programs run as graphs on a GPU: "auto" (where these were found right and faster), "on" or "off"."""
        if graphs not in _GRAPHS:
            raise errors.InvalidArgumentError(f"graphs are one of {', '.join(_GRAPHS)}, not {graphs!r}")
        call("mlxrocm_device_set_graphs", self.handle, _GRAPHS[graphs])

    def selftest(self, report: Callable[[str], object] | None = None, *, quick: bool = False, measure: bool = True,
                 seed: int = 0) -> None:  # fmt: skip
        """Compares the built-in kernels of a GPU with plain forms; SelftestFailedError if it computes wrong results.

        `report` hears lines of a text to attach to a bug; what it raises ends the test and comes out here. `quick`:
        measurements of small sizes and few rounds; `seed`: of the inputs, 0 is a new one each time.
        """
        raised: list[BaseException] = []

        def hear(line: int, length: int, _: object) -> int:
            try:
                assert report is not None
                report(C.string_at(line, length).decode(errors="replace"))
            except BaseException as error:  # nothing may be raised into the library
                raised.append(error)
                return 1
            return 0

        options = _abi.selftest_options(struct_size=C.sizeof(_abi.selftest_options), seed=seed)
        options.flags = _abi.SELFTEST_QUICK * quick | _abi.SELFTEST_NO_MEASUREMENTS * (not measure)
        if report is not None:
            options.report = _abi.selftest_callback(hear)
        try:
            call("mlxrocm_device_selftest", self.handle, C.byref(options))
        except errors.CancelledError:
            if raised:
                raise raised[0] from None
            raise
