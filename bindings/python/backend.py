"""The wheel's build backend (PEP 517): the package's files and libmlxrocm in a zip.

The library is $MLXROCM_LIBRARY, else target/release/libmlxrocm.so of the tree, else cargo's debug build.
"""

import base64
import hashlib
import os
import platform
import re
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
PROJECT = (HERE / "pyproject.toml").read_text()
NAME = "mlxrocm"
VERSION = re.search(r'^version = "(.*)"$', PROJECT, re.M)[1]
SUMMARY = re.search(r'^description = "(.*)"$', PROJECT, re.M)[1]
TAG = f"py3-none-linux_{platform.machine()}"
INFO = f"{NAME}-{VERSION}.dist-info"


def _library():
    target = Path(os.environ.get("CARGO_TARGET_DIR") or TREE / "target")
    named = os.environ.get("MLXROCM_LIBRARY")
    candidates = [Path(named)] if named else [target / profile / "libmlxrocm.so" for profile in ("release", "debug")]
    for path in candidates:
        if path.is_file():
            return path
    raise SystemExit(f"no library at {' or '.join(map(str, candidates))}: run make, or set MLXROCM_LIBRARY")


def _soname():
    return re.search(r"^SONAME = '(.*)'$", (HERE / f"src/{NAME}/_abi.py").read_text(), re.M)[1]


def _date():
    # No earlier than what a zip can hold.
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return max(time.gmtime(seconds)[:6], (1980, 1, 1, 0, 0, 0))


def _files():
    """Name in the wheel and content of each file, RECORD left out."""
    for path in sorted((HERE / "src" / NAME).glob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"{NAME}/{path.name}", path.read_bytes()
    yield f"{NAME}/{_soname()}", _library().read_bytes()
    metadata = (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nSummary: {SUMMARY}\n"
        "License: MIT OR Apache-2.0\nRequires-Python: >=3.9\nProvides-Extra: numpy\n"
        "Requires-Dist: numpy; extra == 'numpy'\nDescription-Content-Type: text/markdown\n\n"
    )
    yield f"{INFO}/METADATA", metadata.encode() + (HERE / "README.md").read_bytes()
    yield f"{INFO}/WHEEL", f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md"):
        yield f"{INFO}/licenses/{name}", (TREE / name).read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{VERSION}-{TAG}.whl"
    record = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:

        def add(path, content):
            entry = zipfile.ZipInfo(path, _date())
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)

        for path, content in _files():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
            add(path, content)
        record.append(f"{INFO}/RECORD,,\n")
        add(f"{INFO}/RECORD", "".join(record).encode())
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("the package is built from the whole tree: build a wheel")
