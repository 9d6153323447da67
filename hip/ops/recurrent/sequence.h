// The sequences of a batch, as layers with a state see them.
#pragma once

#include "common/platform.h"

#define SEQUENCE_WORDS 4
// Its state is zero before its first token; the second copy of its slot is the one to read.
#define FRESH 1u
#define SECOND 2u
// Rows behind its last one that are not used, from this bit on.
#define UNUSED_ROWS 2

struct Sequence { // anywhere among the inputs: no more than words are aligned
    u32 first, tokens, slot, flags; // rows of the batch; a place for the state
    METHOD u32 unused() const { return flags >> UNUSED_ROWS; }
    METHOD bool fresh() const { return flags & FRESH; }
};
static_assert(sizeof(Sequence) == 4 * SEQUENCE_WORDS, "what the host writes");

// The copy of a slot's state that is read (and, `other`, the one that is written). Copies lie [2][slots][floats].
DEVICE u64 state_place(Sequence sequence, u32 slots, u32 floats, bool other) {
    const bool second = ((sequence.flags & SECOND) != 0) != other;
    return ((second ? slots : 0) + (u64)sequence.slot) * floats;
}
