#!/bin/sh
# Tests a copy of the package with what npm installs for it (called by ../test.sh).
set -eu
cd "$(dirname "$0")"
if ! command -v npm >/dev/null; then
    [ "$(id -u)" = 0 ] || { echo "the tests need: apt-get install nodejs npm" >&2; exit 1; }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends nodejs npm >&2
fi
work=$MLXROCM_BINDINGS_WORK/node
mkdir -p "$work"
if ! cmp -s package.json "$work/package.json"; then
    rm -rf "$work/node_modules"
    (cp package.json "$work/package.new" && cd "$work" && cp package.new package.json &&
        npm install --no-audit --no-fund --no-package-lock --loglevel=error >&2) || { rm -f "$work/package.json"; exit 1; }
fi
rm -rf "$work/test" "$work"/*.js "$work"/*.ts
cp -r ./*.js ./*.ts test "$work"
cd "$work"
node --expose-gc --test test/*.test.js >test.log 2>&1 || { cat test.log; exit 1; }
tail -n 8 test.log
sh "$MLXROCM_TREE/bindings/on_gpu.sh" node --test test/engine.js >test.log 2>&1 || { cat test.log; exit 1; }
grep "NOT RUN\|^# pass" test.log
npx --no-install tsc --noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext \
    --lib es2022,esnext.disposable --types node test/types.ts
