#!/bin/sh
# Refuses a library that is not of these sources: current.sh LIBRARY VERSION STAMP
#
# `make install` installs what was built and builds nothing itself (it may run as root, without
# Rust). STAMP is what `make` writes after cargo found everything up to date; without one the
# library was built by cargo alone, and its own time counts.
set -eu
library=$1
version=$2
stamp=$3
refuse() {
    echo "$library is not what the sources say: $1" >&2
    echo "run make first" >&2
    exit 1
}

[ -f "$library" ] || refuse "it was not built"
grep -aqF "mlxrocm $version for " "$library" || refuse "it is not of version $version"
if [ -e "$stamp" ] && [ ! "$library" -nt "$stamp" ]; then
    newer=$(find Cargo.toml Cargo.lock build.rs build src hip include/mlxrocm.map -type f -newer "$stamp")
else
    newer=$(find build.rs build src hip include/mlxrocm.map -type f -newer "$library")
fi
[ -z "$newer" ] || refuse "$(echo "$newer" | head -n 1) is newer"
