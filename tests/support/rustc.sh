#!/bin/sh
# Cargo runs this instead of rustc for the packages of this tree (tests/support/test.sh): test programs are compiled
# without optimization, which takes a sixth of the time. The library that they are linked with is optimized, and most
# wait for it. Those that compute much themselves stay as the profile says, and those that read times.
optimized="array_tf32 gpu_kernels gpu_load head_sizes"
name=""
is_test=""
before=""
for argument; do
    case $before in --crate-name) name=$argument ;; esac
    # The software GPU lies there too.
    case $argument in
    */src/*) ;;
    tests/*.rs) is_test=yes ;;
    esac
    before=$argument
done
case " $optimized " in *" $name "*) is_test="" ;; esac
case $name in *_alone) is_test="" ;; esac
if [ -n "$is_test" ]; then
    rustc=$1
    shift
    # Checks stay as the profile has them: what cargo says comes later, and it says nothing where they are off.
    set -- "$rustc" -C debug-assertions=off "$@" -C opt-level=0
fi
exec "$@"
