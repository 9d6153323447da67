// token[r] = a draw from the softmax of what top-k, top-p and min-p leave of logits[r], or the first of
// the largest: of the first `cols` of its numbers; rows are `stride` apart, because an embedding may have more
// rows than there are tokens. Bias and penalties are put into the logits before, and the logits are the model's
// again after, as log-probabilities are made of these. Steps, their order and every rounding are
// those of the host's sampler (src/session/sampling), so the same logits give the same token there.
//
// Launch: 1024 threads, a block a row. `choices`: CHOICE_WORDS numbers a row (struct Choice, then the
// lists). A list's token of CHOSEN is the one that the row itself ran: tokens[wanted[r]]. `told`: the draws once more, in the
// host's memory, or null.
//
// All sums are integers: weights are fixed-point numbers, so their order does not matter and every run
// gives the same bits. The k-th largest and the edge of the nucleus are found by histograms: first of the
// distance from the largest logit, where neighbours are spread over many counters, then of the bits of
// those that fall into the edge's counter. The token is found by sums of tiles and then inside one tile,
// in the order of the vocabulary.
#include "common/reduce.h"

#define NO_TOKEN 0xffffffffu
#define ALL_BANNED 0xfffffffeu
#define CHOSEN 0x80000000u
#define BANNED bits_f32(0xff7fffffu)
#define ALL 0xffffffffu

#define THREADS 1024
#define EACH 8
#define TILE (THREADS * EACH)
#define TILES 128
#define BINS (2 * THREADS)
// Counters a logit of the first histogram.
#define STEPS 64.0f
#define LIST 64
#define CHOICE_WORDS (12 + 3 * LIST)

struct Choice {
    f32 temperature; // 0: the first of the largest
    u32 top_k;       // 0: off
    u32 top_p;       // of 2^32; 0: off
    f32 min_p;       // its logarithm; -infinity: off
    u32 random_high, random_low; // of 2^64
    f32 repetition, presence, frequency;
    u32 recent, biases, unused;
};

// Logits from a key on, and of those with that very key the first `ties`.
struct Cut {
    u32 key, ties;
};

struct Shared {
    u64 bins[BINS];
    u64 tiles[TILES];
    u64 waves[THREADS / 32];
    u64 before, here;
    u32 found;
};

// Larger logits have larger keys; both zeros are one.
DEVICE u32 key_of(f32 l) {
    const u32 raw = f32_bits(l + 0.0f);
    return raw ^ ((u32)((i32)raw >> 31) | 0x80000000u);
}
DEVICE f32 logit_of(u32 key) { return bits_f32(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu)); }

// e^x of x <= 0 in units of 2^-40, 0 from e^-29 on: the exponential of src/session/sampling/exp.rs.
DEVICE u64 weight(f32 x) {
    const f32 clamped = x > -40.0f ? x : -40.0f;
    const f32 n = round_even(product(clamped, 1.44269504f));
    const f32 r = clamped - product(n, 0.693359375f) - product(n, -2.12194440e-4f);
    f32 e = 1.0f / 5040.0f;
    e = product(e, r) + 1.0f / 720.0f, e = product(e, r) + 1.0f / 120.0f, e = product(e, r) + 1.0f / 24.0f;
    e = product(e, r) + 1.0f / 6.0f, e = product(e, r) + 0.5f, e = product(e, r) + 1.0f, e = product(e, r) + 1.0f;
    return ((u64)(u32)product(e, 1073741824.0f) << 10) >> (u32)(i32)-n;
}

DEVICE u64 high_product(u64 a, u64 b) {
    const u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    const u64 middle = ah * bl + (al * bl >> 32), other = al * bh + (u32)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

DEVICE u64 shuffle64(u64 v, u32 lane) {
    return (u64)shuffle((u32)(v >> 32), lane) << 32 | shuffle((u32)v, lane);
}

template <int MASK = WAVE / 2> DEVICE u64 wave_sum64(u64 v) {
    v += (u64)shuffle_xor<MASK>((u32)(v >> 32)) << 32 | shuffle_xor<MASK>((u32)v);
    if constexpr (MASK > 1) v = wave_sum64<MASK / 2>(v);
    return v;
}

// The sum over the threads up to and with this one. The barriers are inside.
DEVICE u64 scan(u64 value, Shared &shared) {
    const u32 lane = lane_id();
    UNROLL for (u32 d = 1; d < WAVE; d *= 2) {
        const u64 other = shuffle64(value, lane >= d ? lane - d : 0);
        value += lane >= d ? other : 0;
    }
    barrier();
    if (lane == WAVE - 1) shared.waves[wave_id()] = value;
    barrier();
    u64 before = 0;
    for (u32 w = 0; w < wave_id(); w++) before += shared.waves[w];
    return before + value;
}

// Calls `with(index, logit)` for the row, tile by tile, each thread EACH of a tile.
template <typename F> DEVICE void each_tile(const f32 *row, u32 cols, F with) {
    for (u32 base = 0; base < cols; base += TILE) {
        f32 l[EACH];
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = base + i * THREADS + thread_x();
            l[i] = row[c < cols ? c : 0];
        }
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = base + i * THREADS + thread_x();
            if (c < cols) with(c, l[i]);
        }
    }
}

// Sums of `value(logit)` by tile, into shared.tiles; gives the sum of all.
template <typename F> DEVICE u64 sum_tiles(const f32 *row, u32 cols, Shared &shared, F value) {
    barrier();
    if (thread_x() < TILES) shared.tiles[thread_x()] = 0;
    barrier();
    for (u32 base = 0; base < cols; base += TILE) {
        u64 sum = 0;
        f32 l[EACH];
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = base + i * THREADS + thread_x();
            l[i] = row[c < cols ? c : 0];
        }
        UNROLL for (u32 i = 0; i < EACH; i++)
            if (base + i * THREADS + thread_x() < cols) sum += value(base + i * THREADS + thread_x(), l[i]);
        sum = wave_sum64(sum);
        if (lane_id() == 0) atomic_add(&shared.tiles[base / TILE], sum);
    }
    barrier();
    u64 total = 0;
    for (u32 t = 0; t * TILE < cols; t++) total += shared.tiles[t];
    return total;
}

// The first index at which the running sum of `value` reaches `goal`, at least 1 and at most the sum of
// all; behind sum_tiles of the same value.
template <typename F> DEVICE u32 locate(const f32 *row, u32 cols, u64 goal, Shared &shared, F value) {
    u32 tile = 0;
    for (; (tile + 1) * TILE < cols && shared.tiles[tile] < goal; tile++) goal -= shared.tiles[tile];
    const u32 first = tile * TILE + thread_x() * EACH;
    u64 sum = 0;
    UNROLL for (u32 i = 0; i < EACH; i++)
        if (first + i < cols) sum += value(first + i, row[first + i]);
    u64 before = scan(sum, shared) - sum;
    if (before < goal && before + sum >= goal) {
        for (u32 i = 0; i < EACH && before < goal; i++) {
            before += value(first + i, row[first + i]);
            if (before >= goal) shared.found = first + i;
        }
    }
    barrier();
    return shared.found;
}

// The counter in which the running sum reaches `goal`, from counter 0 on: shared.found, with the sum
// before it and its own.
DEVICE void find_bin(u64 goal, Shared &shared) {
    barrier();
    const u32 t = thread_x();
    const u64 one = shared.bins[2 * t], two = shared.bins[2 * t + 1];
    const u64 before = scan(one + two, shared) - one - two;
    if (before < goal && before + one >= goal)
        shared.found = 2 * t, shared.before = before, shared.here = one;
    else if (before + one < goal && before + one + two >= goal)
        shared.found = 2 * t + 1, shared.before = before + one, shared.here = two;
    barrier();
}

DEVICE void clear_bins(Shared &shared) {
    barrier();
    shared.bins[thread_x()] = 0, shared.bins[thread_x() + THREADS] = 0;
    barrier();
}

// The shortest run of the largest logits from `floor` on whose values together reach `goal`, at least 1
// and at most the sum of all.
template <typename F>
DEVICE Cut select(const f32 *row, u32 cols, f32 max, u32 floor, u64 goal, Shared &shared, F value) {
    const auto distance = [&](f32 l) { return (u32)minimum((max - l) * STEPS, (f32)(BINS - 1)); };
    clear_bins(shared);
    each_tile(row, cols, [&](u32, f32 l) {
        if (key_of(l) >= floor) atomic_add(&shared.bins[distance(l)], value(l));
    });
    find_bin(goal, shared);
    const u32 bin = shared.found;
    goal -= shared.before;
    // Keys that such a distance can have, and some more.
    u32 high = bin < 2 ? key_of(max) : key_of(max - (f32)(bin - 1) / STEPS);
    u32 low = bin == BINS - 1 ? floor : maximum(floor, key_of(max - (f32)(bin + 2) / STEPS));
    u32 shift;
    do {
        shift = 32 - 11 - minimum(leading_zeros((high - low) | 1), 21u);
        clear_bins(shared);
        each_tile(row, cols, [&](u32, f32 l) {
            const u32 key = key_of(l);
            if (key >= low && key <= high && distance(l) == bin)
                atomic_add(&shared.bins[(high - key) >> shift], value(l));
        });
        find_bin(goal, shared);
        goal -= shared.before;
        high -= shared.found << shift;
        low = maximum(low, high - ((1u << shift) - 1));
    } while (shift != 0);
    // How many of the equal ones are needed.
    const u64 here = shared.here, a_tie = value(logit_of(high));
    u32 ties = 0;
    for (u32 bit = 1u << 24; bit != 0; bit >>= 1)
        if ((ties + bit - 1) * a_tie < goal) ties += bit;
    return Cut{high, ties * a_tie >= here ? ALL : ties};
}

DEVICE bool is_finite(f32 x) { return (f32_bits(x) & 0x7f800000u) != 0x7f800000u; }
DEVICE f32 clamp(f32 x) { return x < BANNED ? BANNED : x > -BANNED ? -BANNED : x; }

// What a thread put another logit in place of; nothing: at NO_TOKEN.
struct Edit {
    u32 token;
    f32 old;
};

// Adds the biases, and takes the penalties of tokens that occurred lately: the thread's edits of both.
DEVICE void edit(f32 *row, const Choice &choice, const u32 *recent, u32 own, Edit &bias, Edit &penalty) {
    const u32 i = thread_x();
    const u32 *biases = recent + LIST;
    if (i < choice.biases) {
        const u32 token = biases[2 * i];
        bool first = true;
        for (u32 j = 0; j < i; j++) first = first && biases[2 * j] != token;
        if (first && is_finite(row[token])) {
            f32 l = row[token];
            bias = Edit{token, l};
            for (u32 j = i; j < choice.biases; j++)
                if (biases[2 * j] == token) l = clamp(l + bits_f32(biases[2 * j + 1]));
            row[token] = l;
        }
    }
    barrier();
    if (i < choice.recent) {
        const u32 token = recent[i] == CHOSEN ? own : recent[i];
        u32 count = 0;
        bool first = true;
        for (u32 j = 0; j < choice.recent; j++) {
            const bool same = (recent[j] == CHOSEN ? own : recent[j]) == token;
            count += same;
            first = first && !(same && j < i);
        }
        // What a step before could not choose is no token.
        if (first && token != NO_TOKEN && token != ALL_BANNED && is_finite(row[token])) {
            f32 l = row[token];
            penalty = Edit{token, l};
            l = l > 0.0f ? l / choice.repetition : product(l, choice.repetition);
            row[token] = clamp(l - (product((f32)count, choice.frequency) + choice.presence));
        }
    }
    barrier();
}

// Takes the edits back, the last ones first.
DEVICE void restore(f32 *row, const Edit &bias, const Edit &penalty) {
    barrier();
    if (penalty.token != NO_TOKEN) row[penalty.token] = penalty.old;
    barrier();
    if (bias.token != NO_TOKEN) row[bias.token] = bias.old;
}

KERNEL(1024) void mlxrocm_sample_f32(f32 *logits, const u32 *choices, const u32 *tokens, const u32 *wanted,
                                     u32 *chosen, u32 *told, u32 rows, u32 cols, u32 stride) {
    SHARED Shared shared;
    grid_dependency_launch();
    grid_dependency_wait();
    f32 *row = logits + (u64)block_x() * stride;
    const u32 *words = choices + block_x() * CHOICE_WORDS;
    const Choice choice = *(const Choice *)words;
    const u32 from = wanted[block_x()];
    Edit bias = {NO_TOKEN, 0.0f}, penalty = {NO_TOKEN, 0.0f};
    edit(row, choice, words + 12, from < rows ? tokens[from] : NO_TOKEN, bias, penalty);

    u32 top = 0, lost = 0;
    each_tile(row, cols, [&](u32, f32 l) { lost |= !is_finite(l), top = maximum(top, key_of(l)); });
    if (thread_x() == 0) shared.found = 0, shared.before = 0;
    barrier();
    atomic_max(&shared.found, top);
    // Several may have lost something.
    if (lost) atomic_add(&shared.before, (u64)1);
    barrier();
    top = shared.found, lost = shared.before != 0;
    barrier();
    const f32 max = logit_of(top);
    const auto choose = [&](u32 token) {
        if (thread_x() != 0) return;
        chosen[block_x()] = token;
        if (told) told[block_x()] = token;
    };
    if (lost || max <= BANNED) {
        restore(row, bias, penalty);
        choose(lost ? NO_TOKEN : ALL_BANNED);
        return;
    }

    const f32 temperature = choice.temperature;
    const bool greedy = temperature == 0.0f || choice.top_k == 1;
    Cut cut = {greedy ? top : 0, greedy ? 1 : ALL};
    if (!greedy && choice.top_k != 0 && choice.top_k < cols)
        cut = select(row, cols, max, 0, choice.top_k, shared, [](f32) { return 1ull; });
    if (!greedy && choice.top_p != 0) {
        const auto mass = [&](f32 l) { return weight(l - max); };
        u64 total = sum_tiles(row, cols, shared, [&](u32, f32 l) {
            const u32 key = key_of(l);
            return key > cut.key || (key == cut.key && cut.ties == ALL) ? mass(l) : 0;
        });
        if (cut.ties != ALL) total += cut.ties * mass(logit_of(cut.key));
        const u64 goal = (total >> 32) * choice.top_p + ((u64)(u32)total * choice.top_p >> 32);
        cut = select(row, cols, max, cut.key, goal ? goal : 1, shared, mass);
    }
    const u32 least = key_of(max + choice.min_p);
    if (least > cut.key) cut = Cut{least, ALL};

    // The last of the equal ones that are in.
    u32 last = ALL;
    if (cut.ties != ALL) {
        const auto is_tie = [&](u32, f32 l) { return key_of(l) == cut.key ? 1ull : 0; };
        sum_tiles(row, cols, shared, is_tie);
        last = locate(row, cols, cut.ties, shared, is_tie);
    }
    const auto mass = [&](u32 c, f32 l) {
        const u32 key = key_of(l);
        const bool in = key > cut.key || (key == cut.key && c <= last);
        return in ? greedy ? 1ull : weight((l - max) / temperature) : 0;
    };
    const u64 total = sum_tiles(row, cols, shared, mass);
    const u64 random = (u64)choice.random_high << 32 | choice.random_low;
    const u32 token = locate(row, cols, high_product(random, total) + 1, shared, mass);
    restore(row, bias, penalty);
    choose(token);
}
