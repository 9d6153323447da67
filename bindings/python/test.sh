#!/bin/sh
# Builds the wheel, installs it in a fresh environment and tests what was installed (called by ../test.sh).
set -eu
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
work=$MLXROCM_BINDINGS_WORK/python
if ! "$PYTHON" -c 'import ensurepip' 2>/dev/null; then
    [ "$(id -u)" = 0 ] || { echo "the tests need: apt-get install python3-venv" >&2; exit 1; }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv >&2
fi
mkdir -p "$work"
if ! [ -x "$work/tools/bin/mypy" ]; then
    "$PYTHON" -m venv "$work/tools"
    "$work/tools/bin/pip" -q --disable-pip-version-check install "mypy<2"
fi
rm -rf "$work/venv" "$work/dist" "$work/tests"
"$PYTHON" -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check wheel --no-deps -w "$work/dist" .
# The tests compare with numpy.
"$work/venv/bin/pip" -q --disable-pip-version-check install "numpy<3" "$work"/dist/mlxrocm-*.whl
unset MLXROCM_LIBRARY LD_LIBRARY_PATH
cp -r tests "$work/tests"
cd "$work"
inside=$(venv/bin/python -c 'import mlxrocm._library as l; print(l.library._name)')
case $inside in
"$work"/venv/*/mlxrocm/libmlxrocm.so.0) ;;
*) echo "not the wheel's library: $inside" >&2; exit 1 ;;
esac
venv/bin/python -X dev -W error::DeprecationWarning -m unittest discover -s tests
sh "$MLXROCM_TREE/bindings/on_gpu.sh" venv/bin/python tests/engine.py
tools/bin/mypy --python-executable venv/bin/python --strict tests/types_of_a_program.py
