// The delta rule whose columns decay on their own (Kimi's linear attention): see delta.h.
#include "ops/recurrent/delta.h"

GATED_DELTA(mlxrocm_gated_delta_columns_64, 64, true, true)
GATED_DELTA(mlxrocm_gated_delta_columns_128, 128, true, true)
GATED_DELTA(mlxrocm_gated_delta_columns_256, 256, true, true)
