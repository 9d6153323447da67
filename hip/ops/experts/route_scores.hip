// Routers that are no softmax alone (route.h has that one), of rows of logits x [experts]:
//
//   SOFTMAX, SIGMOID: s = softmax(x) or sigmoid(x), rank = s + correction. Of `groups` runs of neighbours the `kept` with the
//     largest sums of their `best` (1 or 2) largest ranks keep theirs; the ranks of the others are 0. index = the `chosen`
//     largest ranks, the largest first and the first of equal ones, NaN last; weight = s of them, divided by their sum
//     if `normalize`, times `factor`. Without correction and groups rank = x: no score that underflows changes the order.
//   BAND (sparsemixer): rank = x; the weight of a chosen logit m is 1 / Σ exp(x[e] − m) over those that were not chosen
//     before it with (m − x[e]) / max(|x[e]|, m) ≤ limit, times `factor`.
//
// `correction` [experts] may be null. index, weight: [rows][chosen].
//
// Launch: 32 threads, a block a row; up to 1,024 logits, 32 chosen, 32 groups. A launch of its own, also for few rows: products
// that run a router themselves (matmul/experts.h) have route.h alone.
#include "ops/experts/route.h"

#define MOST_EXPERTS 1024
// Unrolled, the masks of the lanes that are left spill.
#define ONE_BY_ONE _Pragma("unroll 1")
enum Scores { SOFTMAX, SIGMOID, BAND };

struct Router {
    u32 experts, chosen, normalize, scores, groups, kept, best;
    f32 factor, limit;
};

// Whether the group of this lane is kept. `ranks`: of all experts.
DEVICE bool keeps_group(const Router &r, const f32 *ranks, f32 *sums) {
    const u32 lane = thread_x(), width = r.experts / r.groups;
    f32 first = bits_f32(0xff800000u), second = first;
    ONE_BY_ONE for (u32 i = 0; lane < r.groups && i < width; i++) {
        const f32 rank = ranks[lane * width + i];
        if (rank > first) second = first, first = rank;
        else if (rank > second) second = rank;
    }
    const f32 sum = r.best > 1 ? first + second : first;
    sums[lane] = sum;
    barrier();
    u32 before = 0;
    ONE_BY_ONE for (u32 g = 0; g < r.groups; g++) before += sums[g] > sum || (sums[g] == sum && g < lane);
    return before < r.kept;
}

// By 32 threads, each of which takes the logits at lane + 32 i. `scores` and `ranks`: of all experts, shared memory; a rank is
// NaN once it was chosen.
DEVICE void route_scores(const f32 *x, const f32 *correction, u32 *index, f32 *weight, const Router &r, f32 *scores,
                         f32 *ranks, f32 *sums, u32 *kept) {
    const u32 lane = thread_x();
    const f32 lowest = bits_f32(0xff800000u);
    f32 largest = lowest, total = 0.0f;
    ONE_BY_ONE for (u32 e = lane; e < r.experts; e += ROUTE_LANES) largest = maximum(largest, x[e]);
    largest = wave_max<ROUTE_LANES>(largest);
    ONE_BY_ONE for (u32 e = lane; e < r.experts; e += ROUTE_LANES) total += fast_exp(x[e] - largest);
    total = wave_sum<ROUTE_LANES>(total);
    const bool by_logits = r.scores == BAND || (!correction && r.groups <= 1);
    ONE_BY_ONE for (u32 e = lane; e < r.experts; e += ROUTE_LANES) {
        const f32 score = r.scores == SIGMOID ? sigmoid(x[e]) : fast_exp(x[e] - largest) / total;
        const f32 rank = by_logits ? x[e] : score + (correction ? correction[e] : 0.0f);
        scores[e] = score, ranks[e] = rank == rank ? rank : lowest;
    }
    barrier();
    if (r.groups > 1) {
        kept[lane] = keeps_group(r, ranks, sums);
        barrier();
        ONE_BY_ONE for (u32 e = lane; e < r.experts; e += ROUTE_LANES)
            if (!kept[e / (r.experts / r.groups)]) ranks[e] = 0.0f;
    }
    u32 my_expert = 0;
    f32 mine = 0.0f, sum = 0.0f;
    for (u32 k = 0; k < r.chosen; k++) {
        f32 value = lowest, p;
        u32 at = 0xffffffffu;
        ONE_BY_ONE for (u32 e = lane; e < r.experts; e += ROUTE_LANES) keep_larger(value, at, ranks[e], e);
        keep_larger_of<1>(value, at), keep_larger_of<2>(value, at), keep_larger_of<4>(value, at);
        keep_larger_of<8>(value, at), keep_larger_of<16>(value, at);
        if (r.scores == BAND) {
            f32 inside = 0.0f;
            ONE_BY_ONE for (u32 e = lane; e < r.experts; e += ROUTE_LANES) {
                const f32 far = (value - x[e]) / maximum(absolute(x[e]), value);
                if (ranks[e] == ranks[e] && !(far > r.limit)) inside += fast_exp(x[e] - value);
            }
            p = 1.0f / wave_sum<ROUTE_LANES>(inside);
        } else {
            p = scores[at];
        }
        // Its own lane's: no other looks at it.
        if (at % ROUTE_LANES == lane) ranks[at] = bits_f32(0x7fc00000u);
        sum += p;
        if (k == lane) mine = p, my_expert = at;
    }
    if (lane >= r.chosen) return;
    index[lane] = my_expert;
    // What is not finite makes the whole row so.
    weight[lane] = mine / (r.normalize ? sum : 1.0f) * r.factor * (total / total);
}

KERNEL(ROUTE_LANES) void mlxrocm_route_scores(const f32 *logits, const f32 *correction, u32 *index, f32 *weight,
                                              u32 experts, u32 chosen, u32 normalize, u32 scores, u32 groups,
                                              u32 kept, u32 best, f32 factor, f32 limit) {
    SHARED f32 scores_of[MOST_EXPERTS], ranks[MOST_EXPERTS], sums[ROUTE_LANES];
    SHARED u32 keeps[ROUTE_LANES];
    grid_dependency_launch();
    grid_dependency_wait();
    const u64 row = block_x();
    logits += row * experts, index += row * chosen, weight += row * chosen;
    route_scores(logits, correction, index, weight, {experts, chosen, normalize, scores, groups, kept, best, factor, limit},
                 scores_of, ranks, sums, keeps);
}
