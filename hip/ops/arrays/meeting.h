// What becomes of an update and the element that it meets: scatter.hip, complex_scatter.hip.
#pragma once

enum Meeting { REPLACE, SUM, PROD, MAX, MIN };
