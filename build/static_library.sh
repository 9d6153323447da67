#!/bin/sh
# Makes the static library that is installed: static_library.sh FROM TO
#
# Rust's has every crate's functions as global symbols, zstd's C functions among them, which collide
# with those of the program. This one is a single object file of which only mlxrocm_* can be seen.
# Symbol versions go too: they belong to the shared library, and another library that this one is
# linked into has no such nodes. CC, OBJCOPY, NM and AR name the tools.
set -eu
from=$1
to=$2
# Beside the result, so that the last step replaces it at once.
mkdir -p "$(dirname "$to")"
folder=$(mktemp -d "$to.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# Groups are resolved: a group's symbols must not be local when a linker takes another one's copy.
# Rust's own libraries bring LLVM bitcode, which is of no use and which tools with an older LLVM choke on.
"${CC:-cc}" -r -nostdlib -Wl,--force-group-allocation -Wl,--whole-archive "$from" -o "$folder/all.o"
"${OBJCOPY:-objcopy}" --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd "$folder/all.o"
"${NM:-nm}" --defined-only --extern-only "$folder/all.o" |
    sed -n 's/^.* \(mlxrocm_[a-z0-9_]*\)\(@@*[A-Za-z0-9_.]*\)$/\1\2 \1/p' >"$folder/names"
"${OBJCOPY:-objcopy}" --redefine-syms="$folder/names" \
    --wildcard --keep-global-symbol='mlxrocm_*' "$folder/all.o" "$folder/mlxrocm.o"
(cd "$folder" && "${AR:-ar}" rcsD libmlxrocm.a mlxrocm.o)
mv "$folder/libmlxrocm.a" "$to"
