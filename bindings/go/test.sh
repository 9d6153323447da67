#!/bin/sh
# Vets and tests the module against the library (called by ../test.sh), with cgo's checks of pointers.
set -eu
cd "$(dirname "$0")"
if ! command -v go >/dev/null; then
    [ "$(id -u)" = 0 ] || { echo "the tests need: apt-get install golang-go" >&2; exit 1; }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends golang-go >&2
fi
export CGO_CFLAGS="-I$MLXROCM_TREE/include -Wall -Wextra -Werror -Wno-unused-parameter" CGO_LDFLAGS="-L$MLXROCM_LIBRARY_DIR"
export GOCACHE="$MLXROCM_BINDINGS_WORK/go" GOFLAGS=-mod=mod GOTOOLCHAIN=local GODEBUG=cgocheck=2
unformatted=$(ls ./*.go | grep -v _generated.go | xargs gofmt -l)
[ -z "$unformatted" ] || { echo "run gofmt -w: $unformatted" >&2; exit 1; }
go vet -tags gpu ./...
go test -count=1 ./...
sh ../on_gpu.sh go test -count=1 -tags gpu -run '^TestGPU' .
