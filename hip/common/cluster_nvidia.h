// NVIDIA only: blocks of a cluster, which run at the same time and store to each other's shared memory (sm_90).
#pragma once

#include "common/matrix_nvidia.h"

#if PLATFORM_NVIDIA
// The block's number in its cluster.
DEVICE u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// A barrier of all threads of the cluster in two halves, which orders no memory: who has waited knows that all blocks have begun, and that
// their barrier objects are initialised (copy_barrier_fence).
DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
// Where block `rank` has what is at the address `shared` (shared_address) in this one.
DEVICE u32 address_in_block(u32 shared, u32 rank) {
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared), "r"(rank));
    return there;
}
// Stores 4 bytes there, which complete on `barrier` of the same block: who has waited for that sees them. (Behind a barrier of the cluster
// that orders memory, stores take as long as a fence of the device.)
DEVICE void store_in_block(u32 there, f32 value, u32 barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there), "r"(f32_bits(value)), "r"(barrier)
                 : "memory");
}
#endif
