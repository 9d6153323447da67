"""mlxrocm: quantized language models and lazy arrays on AMD GPUs, NVIDIA GPUs and the CPU.

    import mlxrocm

    with mlxrocm.Model("model.gguf") as model, mlxrocm.Session(model) as session:
        for piece in session.chat("Hello").texts():
            print(piece, end="", flush=True)

Arrays are in `mlxrocm.core`, kernels of one's own in `mlxrocm.engine`.
"""

from ._abi import LOG_DEBUG, LOG_ERROR, LOG_INFO, LOG_WARN
from ._library import set_log
from .errors import (
    BufferTooSmallError, CancelledError, ContextFullError, DeviceFailedError, DeviceLostError, Error, InternalError,
    InvalidArgumentError, InvalidFileError, IoError, NoDeviceError, NullArgumentError, OutOfMemoryError, PoisonedError,
    SelftestFailedError, UnsupportedError, WaitTimeoutError,
)  # fmt: skip
from .device import Device, build_info, device_count, version, why_no_gpu
from .generation import Event, Finished, Generation, PromptProgress, Token, wait_any
from .model import ChatTemplate, Model, ModelInfo, Tokenizer
from .model_files import Quantized, TensorInfo, list_tensors, quantize
from .request import Request
from .session import Session, state_tokens

__version__ = "0.1.0"

__all__ = [
    "BufferTooSmallError", "CancelledError", "ChatTemplate", "ContextFullError", "Device", "DeviceFailedError",
    "DeviceLostError", "Error", "Event", "Finished", "Generation", "InternalError", "InvalidArgumentError",
    "InvalidFileError", "IoError", "LOG_DEBUG", "LOG_ERROR", "LOG_INFO", "LOG_WARN", "Model", "ModelInfo",
    "NoDeviceError", "NullArgumentError", "OutOfMemoryError", "PoisonedError", "PromptProgress", "Quantized",
    "Request", "SelftestFailedError", "Session", "TensorInfo", "Token", "Tokenizer", "UnsupportedError",
    "WaitTimeoutError", "build_info", "device_count", "list_tensors", "quantize", "set_log", "state_tokens", "version",
    "wait_any", "why_no_gpu",
]  # fmt: skip
