#!/bin/sh
# Refuses a library, a command or a server that is not of these sources:
# current.sh LIBRARY VERSION STAMP COMMAND [SERVER]
#
# `make install` installs what was built and builds nothing itself (it may run as root, without
# Rust). STAMP is what `make` writes after cargo found everything up to date; without one the
# library was built by cargo alone, and its own time counts.
set -eu
file=$1
version=$2
stamp=$3
command=$4
refuse() {
    echo "$file is not what the sources say: $1" >&2
    echo "run make first" >&2
    exit 1
}

[ -f "$file" ] || refuse "it was not built"
grep -aqF "mlxrocm $version for " "$file" || refuse "it is not of version $version"
if [ -e "$stamp" ] && [ ! "$file" -nt "$stamp" ]; then
    newer=$(find Cargo.toml Cargo.lock build.rs build src hip include/mlxrocm.map -type f -newer "$stamp")
else
    newer=$(find build.rs build src hip include/mlxrocm.map -type f -newer "$file")
fi
[ -z "$newer" ] || refuse "$(echo "$newer" | head -n 1) is newer"

file=$command
[ -f "$file" ] || refuse "it was not built"
newer=$(find command include/mlxrocm.h -name '*.[ch]' -newer "$command")
[ -z "$newer" ] || refuse "$(echo "$newer" | head -n 1) is newer"

file=${5:-}
[ -n "$file" ] || exit 0
newer=$(find server bindings/rust -type f ! -path '*/target/*' ! -path '*/tests/*' -newer "$file")
[ -z "$newer" ] || {
    echo "$file is older than $(echo "$newer" | head -n 1)" >&2
    echo "run make server first, or remove it" >&2
    exit 1
}
