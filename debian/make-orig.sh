#!/bin/sh
# Makes the two source tarballs of the package beside the project's folder: the project as committed,
# and the crates of Cargo.lock, so that the package builds offline. Needs the network once.
#   sh debian/make-orig.sh && dpkg-buildpackage -us -uc
set -eu
cd "$(dirname "$0")/.."
version=$(dpkg-parsechangelog -S Version | sed 's/-[^-]*$//')
time=$(git log -1 --format=%ct)
pack() {
    tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner -C "$1" -cJf "$2" "$3"
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

git archive --prefix="mlxrocm-$version/" HEAD -- . ':!debian' | tar -x -C "$folder"
pack "$folder" "../mlxrocm_$version.orig.tar.xz" "mlxrocm-$version"
cargo vendor --locked --versioned-dirs "$folder/vendor" >/dev/null
# Crates for Windows bring compiled files: without them, and without the sums that would miss them.
find "$folder/vendor" -path '*/windows*' \( -name '*.a' -o -name '*.lib' \) -delete
sed -i 's/"files":{[^}]*}/"files":{}/' "$folder"/vendor/windows*/.cargo-checksum.json
pack "$folder" "../mlxrocm_$version.orig-vendor.tar.xz" vendor
rm -rf vendor && cp -r "$folder/vendor" vendor
