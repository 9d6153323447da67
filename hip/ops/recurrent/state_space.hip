// State space models whose heads decay as one (Mamba 2): see delta.h, without the correction.
#include "ops/recurrent/delta.h"

GATED_DELTA(mlxrocm_state_space_64, 64, false, false)
GATED_DELTA(mlxrocm_state_space_128, 128, false, false)
GATED_DELTA(mlxrocm_state_space_256, 256, false, false)
