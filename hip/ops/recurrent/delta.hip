// The gated delta rule of gated delta nets: see delta.h.
#include "ops/recurrent/delta.h"

GATED_DELTA(mlxrocm_gated_delta_64, 64)
GATED_DELTA(mlxrocm_gated_delta_128, 128)
GATED_DELTA(mlxrocm_gated_delta_256, 256)
