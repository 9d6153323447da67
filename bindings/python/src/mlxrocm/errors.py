"""Exceptions: one class for each status of the library, all of them an `Error`."""

from __future__ import annotations


class Error(Exception):
    """A failed call. `status` is the library's number, `details` the long form (a compiler's log) or ""."""

    status = 0

    def __init__(self, message: str, details: str = "", vendor_code: int = 0):
        super().__init__(message)
        self.message = message
        self.details = details
        # What HIP or CUDA said, or 0.
        self.vendor_code = vendor_code

    def __str__(self) -> str:
        return self.message


class InvalidArgumentError(Error, ValueError):
    """A value outside its range, shapes that do not fit, an object that was closed."""

    status = -1


class NullArgumentError(Error, ValueError):
    """None where an object is needed."""

    status = -2


class PoisonedError(Error, RuntimeError):
    """The object had an internal error before and can only be closed."""

    status = -3


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed or would exceed a limit."""

    status = -4


class IoError(Error, OSError):
    """The operating system refused to open, read or map a file."""

    status = -5


class InvalidFileError(Error, ValueError):
    """A file's content is damaged or contradicts itself."""

    status = -6


class UnsupportedError(Error, NotImplementedError):
    """Valid, but this library does not do it."""

    status = -7


class BufferTooSmallError(Error, BufferError):
    """A buffer is too small."""

    status = -8


class ContextFullError(Error, ValueError):
    """The prompt does not fit the context."""

    status = -9


class NoDeviceError(Error, RuntimeError):
    """No usable device."""

    status = -10


class DeviceFailedError(Error, RuntimeError):
    """A device failed while it ran."""

    status = -11


class CancelledError(Error, RuntimeError):
    """A callback of the program ended the operation."""

    status = -12


class InternalError(Error, RuntimeError):
    """A defect in the library; the object it happened in is poisoned."""

    status = -13


class DeviceLostError(Error, RuntimeError):
    """The device stopped working and takes no more work in this process."""

    status = -14


class WaitTimeoutError(Error, TimeoutError):
    """The time given for a wait is over; the work goes on."""

    status = -15


class SelftestFailedError(Error, RuntimeError):
    """A device computes wrong results."""

    status = -16


CLASSES: dict[int, type[Error]] = {kind.status: kind for kind in Error.__subclasses__()}


def make(status: int, message: str, details: str = "", vendor_code: int = 0) -> Error:
    kind = CLASSES.get(status)
    if kind is not None:
        return kind(message, details, vendor_code)
    # A newer library has more of them.
    error = Error(message, details, vendor_code)
    error.status = status
    return error
