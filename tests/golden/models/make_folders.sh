#!/bin/sh
# Makes the MLX model folders of the tests from the demo GGUF (make_folders.py), once.
#   make_folders.sh DEMO.gguf FOLDERS_DIRECTORY       PYTHON= names the interpreter
# An interpreter that has numpy and gguf is used as it is; else an environment beside the folders gets them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
demo=$1
folders=$2
python=${PYTHON:-python3}
mkdir -p "$folders"

if ! "$python" -c "import numpy, gguf" 2>/dev/null; then
    venv=$folders/.venv
    if ! "$venv/bin/python" -c "import numpy, gguf" 2>/dev/null; then
        rm -rf "$venv"
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
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "numpy>=1.24" gguf==0.19.0 >&2
    fi
    python=$venv/bin/python
fi
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/make_folders.py" "$demo" "$folders" >&2
