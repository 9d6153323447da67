// Where top_k and top_p end, by one block that reads the whole row again and again: for rows so flat that more candidates share a
// bin than are sorted (sample.hip). The k-th largest and the edge of the nucleus are found by histograms: first of the distance from
// the largest logit, then of the bits of those that fall into the edge's bin, until that is one key; then the last of its places.
#pragma once

#include "sample.h"

struct Select {
    u64 bins[BINS];
    u64 before, here;
    u32 found;
};

// Of all whose values together reach a goal: those of larger keys than `key`, and of this one so many.
struct Ties {
    u32 key;
    u64 count;
};

// The bin in which the running sum reaches `goal`: `found`, with the sum before it and its own.
DEVICE void find_bin(u64 goal, Select &s, u64 *waves) {
    barrier();
    const u32 t = thread_x();
    const u64 one = s.bins[2 * t], two = s.bins[2 * t + 1];
    const u64 before = scan(one + two, waves) - one - two;
    if (reaches(before, one, goal)) s.found = 2 * t, s.before = before, s.here = one;
    if (reaches(before + one, two, goal)) s.found = 2 * t + 1, s.before = before + one, s.here = two;
    barrier();
}
DEVICE void clear_bins(Select &s) {
    barrier();
    s.bins[thread_x()] = 0, s.bins[thread_x() + THREADS] = 0;
    barrier();
}

// The shortest run of the largest logits from key `floor` on whose values together reach `goal`, at least 1 and at most the
// sum of all.
template <typename F>
DEVICE Ties select(const f32 *row, const Span &all, f32 max, u32 floor, u64 goal, Select &s, u64 *waves, F value) {
    clear_bins(s);
    each_logit(row, all, [&](u32, f32 l) {
        if (key_of(l) >= floor) atomic_add(&s.bins[bin_of(max, l)], value(l));
    });
    find_bin(goal, s, waves);
    const u32 bin = s.found;
    goal -= s.before;
    // Keys that such a distance can have, and some more.
    u32 high = bin < 2 ? key_of(max) : key_of(max - (f32)(bin - 1) / STEPS);
    u32 low = bin == BINS - 1 ? floor : maximum(floor, key_of(max - (f32)(bin + 2) / STEPS));
    u32 shift;
    do {
        shift = 32 - 11 - minimum(leading_zeros((high - low) | 1), 21u);
        clear_bins(s);
        each_logit(row, all, [&](u32, f32 l) {
            const u32 key = key_of(l);
            if (key >= low && key <= high && bin_of(max, l) == bin) atomic_add(&s.bins[(high - key) >> shift], value(l));
        });
        find_bin(goal, s, waves);
        goal -= s.before;
        high -= s.found << shift;
        low = maximum(low, high - ((1u << shift) - 1));
    } while (shift != 0);
    const u64 a_tie = value(logit_of(high));
    u64 count = 0;
    for (u32 bit = 1u << 24; bit != 0; bit >>= 1)
        if ((count + bit - 1) * a_tie < goal) count += bit;
    return Ties{high, count};
}

// Behind which place the row has so many of a key.
DEVICE u32 last_of(const f32 *row, const Span &all, const Ties &ties, Select &s, u64 *waves) {
    const u32 run = divide_up(all.end, THREADS), begin = minimum(thread_x() * run, all.end), end = minimum(begin + run, all.end);
    u64 own = 0;
    for (u32 c = begin; c < end; c++) own += key_of(row[c]) == ties.key;
    u64 before = scan(own, waves) - own;
    if (reaches(before, own, ties.count))
        for (u32 c = begin; before < ties.count; c++)
            if (key_of(row[c]) == ties.key && ++before == ties.count) s.found = c;
    barrier();
    return s.found;
}

// What top_k and top_p leave of the row.
DEVICE Cut cut_of_row(const f32 *row, u32 cols, f32 max, const Choice &choice, Select &s, u64 *waves) {
    const Span all = {0, cols};
    Cut cut = {0, ALL};
    if (choice.has_k(cols)) {
        const Ties ties = select(row, all, max, 0, choice.top_k, s, waves, [](f32) { return 1ull; });
        cut = {ties.key, last_of(row, all, ties, s, waves)};
    }
    if (choice.has_p()) {
        const auto mass = [&](f32 l) { return weight(l - max); };
        u64 own = 0;
        each_logit(row, all, [&](u32 c, f32 l) { own += cut.has(key_of(l), c) ? mass(l) : 0; });
        const u64 sum = scan(own, waves);
        if (thread_x() == THREADS - 1) s.here = sum;
        barrier();
        const u64 goal = choice.share_of(s.here);
        const Ties ties = select(row, all, max, cut.key, goal, s, waves, mass);
        cut = {ties.key, last_of(row, all, ties, s, waves)};
    }
    return cut;
}
