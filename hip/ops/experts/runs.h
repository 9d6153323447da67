// Runs of pairs (row, choice) of one expert (sort.hip).
#pragma once

#include "common/platform.h"

struct ExpertRun {
    u32 expert, first, pairs; // the first place in the order, and how many from there
    u32 count;                // of all runs
};
