// The kernels of rows.h, for one row or several of more than WIDE_COLS columns, on CDNA alone: blocks of 512 threads, 16 teams.
//
// There a block prepares x while memory has little to bring, and x fills the local memory, so that one block, of rows.h four
// waves, runs on a compute unit. Here twice as many threads prepare x, 32 columns each at a time, and there are eight waves. With
// fewer columns these kernels are slower: registers leave room for one block a unit. (docs/amd-timing.md)
//
// The order of sums is another one than in blocks of 8 teams, so which kernels a product takes depends on its columns, not on its
// rows; rows of x are made into integers by wide_x.hip, whose norm's factor is that of these blocks.
//
// Launch: as rows.h, WIDE_TEAMS · 32 threads.
#pragma once

#define WIDE
#include "ops/matmul/rows.h"
