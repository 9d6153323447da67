#!/bin/sh
# Builds the Debian packages twice, in two folders with two CARGO_HOMEs, offline, and looks at what came out:
# the same bytes, lintian without a word, hardened programs, no path of the build, and a C program that is built
# and run against what was unpacked. Needs the network once (the crates), about 3 GB, and
#   apt-get install devscripts debhelper lintian doxygen
#   sh build/deb_check.sh FOLDER
# MLXROCM_DEB_PROFILES: build profiles; pkg.mlxrocm.nokernels leaves out the GPU kernels, pkg.mlxrocm.rustup takes
# cargo from PATH. Both are set unless it is. CARGO_PROFILE_RELEASE_OPT_LEVEL=0 builds several times faster.
set -eu
work=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
profiles=${MLXROCM_DEB_PROFILES-pkg.mlxrocm.nokernels,pkg.mlxrocm.rustup}
version=$(dpkg-parsechangelog -S Version)
fail() { echo "deb-check: $*" >&2; exit 1; }

# As committed, so that nothing else gets into it.
first=$work/first/mlxrocm second=$work/second/in/another/place/mlxrocm-$version
for folder in "$first" "$second"; do
    [ -d "$folder" ] || git clone -q . "$folder"
    git -C "$folder" fetch -q "$PWD" HEAD && git -C "$folder" reset -q --hard FETCH_HEAD
done
if [ ! -e "$work/first/vendored" ] || ! cmp -s Cargo.lock "$work/first/vendored"; then
    (cd "$first" && sh debian/make-orig.sh)
    cp Cargo.lock "$work/first/vendored"
    rm -rf "$second/vendor" && cp -r "$first/vendor" "$second/vendor"
fi

build() {
    # No setting of the caller's gets in. The clock is the changelog's (SOURCE_DATE_EPOCH).
    (cd "$1" && rm -f ../*.deb && env -i PATH="$PATH" HOME="$HOME" LANG=C.UTF-8 \
        DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-}" RUSTUP_TOOLCHAIN="${RUSTUP_TOOLCHAIN-stable}" \
        ${CARGO_PROFILE_RELEASE_OPT_LEVEL:+CARGO_PROFILE_RELEASE_OPT_LEVEL="$CARGO_PROFILE_RELEASE_OPT_LEVEL"} \
        dpkg-buildpackage -us -uc -b -d -nc -P"$profiles" >"$work/$2.log" 2>&1) ||
        fail "no build in $1: $(tail -n 20 "$work/$2.log")"
}
build "$first" first
build "$second" second

count=0
for package in "$work"/first/*.deb; do
    cmp "$package" "$(dirname "$second")/$(basename "$package")" ||
        fail "the two builds differ: diffoscope $package $(dirname "$second")/$(basename "$package")"
    count=$((count + 1))
done
[ "$count" = 6 ] || fail "$count packages instead of 6 (library, -dev, -doc, -tools, two of -dbgsym)"
echo "deb-check: $count packages, the same bytes in two builds"

# The address of the maintainer and the bug that the upload closes are the uploader's: there is none before.
theirs=bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs
said=$(lintian -I --profile debian --tag-display-limit 0 --allow-root --suppress-tags "$theirs" \
    "$work"/first/mlxrocm_*.changes 2>&1) || true
# Notes (N:) are no tags, nor is what it says of readelf, which it reads up to 65,279 sections of an object of: the static
# library has more, so that --gc-sections drops what nobody calls.
tags=$(printf '%s\n' "$said" | grep -vE '^N:|Warning while running readelf' || true)
[ -z "$tags" ] || fail "lintian says:
$tags"
echo "deb-check: lintian -I says nothing"

root=$work/root
rm -rf "$root" && mkdir -p "$root"
for package in "$work"/first/*.deb; do dpkg-deb -x "$package" "$root"; done
for file in "$root"/usr/bin/mlxrocm "$root"/usr/lib/*/libmlxrocm.so.0.*; do
    elf=$(LC_ALL=C readelf -dlW "$file")
    for needed in GNU_RELRO NOW DYN; do
        printf '%s' "$elf" | grep -q "$needed" || LC_ALL=C readelf -hW "$file" | grep -q "$needed" ||
            fail "$file has no $needed"
    done
    printf '%s' "$elf" | grep -q 'GNU_STACK.*RWE' && fail "$file has an executable stack"
    printf '%s' "$elf" | grep -qE 'RPATH|RUNPATH|TEXTREL' && fail "$file has RPATH, RUNPATH or TEXTREL"
done
LC_ALL=C readelf -sW --dyn-syms "$root"/usr/bin/mlxrocm | grep -q __stack_chk_fail || fail "no stack protector"
# Control-flow protection of the C code: its functions begin with endbr64; the linker marks the program where the C
# library's start is marked too (Debian's is not).
case $(dpkg-architecture -qDEB_HOST_ARCH) in
amd64)
    count=$(objdump -d "$root"/usr/bin/mlxrocm | grep -c endbr64)
    [ "$count" -gt 20 ] || fail "$count endbr64 in the command"
    for mark in IBT SHSTK; do
        LC_ALL=C readelf -nW "$(cc -print-file-name=Scrt1.o)" | grep -q $mark || continue
        LC_ALL=C readelf -nW "$root"/usr/bin/mlxrocm | grep -q $mark || fail "the command is not marked $mark"
    done
    ;;
esac
echo "deb-check: PIE, RELRO, BIND_NOW, endbr64; no executable stack, no run path"

for path in "$first" "$second" "$HOME/.cargo" "$HOME/.rustup"; do
    found=$(grep -rlaF "$path" "$root" || true)
    [ -z "$found" ] || fail "$path is in: $found"
done
echo "deb-check: no path of the build in any file"

multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
# The package as pkg-config sees it with a sysroot.
flags=$(PKG_CONFIG_PATH=$root/usr/lib/$multiarch/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
    pkg-config --cflags --libs mlxrocm)
# shellcheck disable=SC2086
cc -std=c11 -Wall -Wextra -Werror -I"$root/usr/include" -o "$work/example" \
    "$root"/usr/share/doc/libmlxrocm-dev/examples/01_version.c -L"$root/usr/lib/$multiarch" $flags
LD_LIBRARY_PATH=$root/usr/lib/$multiarch "$work/example" | grep -q "${version%-*}" || fail "the example fails"
LD_LIBRARY_PATH=$root/usr/lib/$multiarch "$root/usr/bin/mlxrocm" devices >/dev/null || fail "the command fails"
for page in man1/mlxrocm.1 man7/mlxrocm.7; do [ -e "$root/usr/share/man/$page.gz" ] || fail "no $page"; done
[ -e "$root/usr/share/doc/libmlxrocm-dev/reference/index.html" ] || fail "no reference"
echo "deb-check: a C program builds and runs against the packages"
