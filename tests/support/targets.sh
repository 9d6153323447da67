#!/bin/sh
# Prints the targets whose kernels the tests build: one of the nine that the software GPU executes, and by turns another
# one of RDNA together with NVIDIA's, or one of CDNA, whose code takes twice as long to compile: compiling and executing
# all code takes long. `MLXROCM_GPU_TARGETS` chooses others.
turns="gfx942 gfx1201 gfx90a gfx1030 gfx942 gfx1100 gfx90a gfx1201 gfx942 gfx1103 gfx90a gfx1150 gfx942 gfx1200"
turn=$(echo "$turns" | cut -d ' ' -f $(($(date +%s) / 86400 % 14 + 1)))
case $turn in
gfx9*) others=$turn ;;
*) others="$turn sm_90 sm_90a" ;;
esac
echo "${MLXROCM_GPU_TARGETS-gfx1151 $others}"
