#!/bin/sh
# Makes the environment of the conformance test, once: MLX's CPU build, pinned.
#   make_venv.sh FOLDER        PYTHON= names the interpreter; FOLDER/bin/python is what comes out
set -eu

venv=$1
python=${PYTHON:-python3}
check='import numpy, mlx.core as mx; assert mx.__version__ == "0.32.4", mx.__version__'

if ! "$venv/bin/python" -c "$check" 2>/dev/null; then
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            apt-get update -qq && apt-get install -qq -y python3 python3-venv >&2
            rm -rf "$venv"
            /usr/bin/python3 -m venv "$venv"
        else
            echo "python3 with venv is needed: apt-get install python3-venv" >&2
            exit 1
        fi
    fi
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "mlx[cpu]==0.32.4" "numpy>=1.24,<3" >&2
    "$venv/bin/python" -c "$check"
fi
