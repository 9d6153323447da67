"""Dtypes of arrays, with MLX's names."""

from __future__ import annotations

from dataclasses import dataclass

from . import _abi


@dataclass(frozen=True)
class Dtype:
    name: str
    number: int
    # Bytes of an element.
    size: int
    # numpy's name of it; bfloat16 has none.
    numpy: str
    # DLPack's code: 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool.
    code: int

    @property
    def is_float(self) -> bool:
        return self.code in (2, 4)

    @property
    def is_integer(self) -> bool:
        return self.code in (0, 1)

    def __repr__(self) -> str:
        return f"mlxrocm.core.{self.name}"


bool_ = Dtype("bool_", _abi.DTYPE_BOOL, 1, "bool", 6)
uint8 = Dtype("uint8", _abi.DTYPE_UINT8, 1, "uint8", 1)
uint16 = Dtype("uint16", _abi.DTYPE_UINT16, 2, "uint16", 1)
uint32 = Dtype("uint32", _abi.DTYPE_UINT32, 4, "uint32", 1)
uint64 = Dtype("uint64", _abi.DTYPE_UINT64, 8, "uint64", 1)
int8 = Dtype("int8", _abi.DTYPE_INT8, 1, "int8", 0)
int16 = Dtype("int16", _abi.DTYPE_INT16, 2, "int16", 0)
int32 = Dtype("int32", _abi.DTYPE_INT32, 4, "int32", 0)
int64 = Dtype("int64", _abi.DTYPE_INT64, 8, "int64", 0)
float16 = Dtype("float16", _abi.DTYPE_FLOAT16, 2, "float16", 2)
float32 = Dtype("float32", _abi.DTYPE_FLOAT32, 4, "float32", 2)
float64 = Dtype("float64", _abi.DTYPE_FLOAT64, 8, "float64", 2)
bfloat16 = Dtype("bfloat16", _abi.DTYPE_BFLOAT16, 2, "", 4)
complex64 = Dtype("complex64", _abi.DTYPE_COMPLEX64, 8, "complex64", 5)

ALL = (
    bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32, float64, bfloat16, complex64,
)  # fmt: skip
BY_NUMBER = {dtype.number: dtype for dtype in ALL}
BY_NAME = {dtype.numpy or dtype.name: dtype for dtype in ALL}
BY_DLPACK = {(dtype.code, dtype.size * 8): dtype for dtype in ALL}
