// token[r] = a draw from the softmax of what top-k, top-p and min-p leave of logits[r], or the first of
// the largest: of the first `cols` of its numbers; rows are `stride` apart, because an embedding may have more
// rows than there are tokens. Bias and penalties are put into the logits before, and the logits are the model's
// again after, as log-probabilities are made of these. Steps, their order and every rounding are
// those of the host's sampler (src/session/sampling), so the same logits give the same token there.
//
// Launch: 1024 threads, grid (rows, BLOCKS), one kernel after the other; each block has a part of the columns, and the one that
// ends last goes on with what the others found:
//   begin   bias and penalties; the largest logit, which decides if nothing is drawn
//   count   how many logits lie in which distance from it (bins of 1 / STEPS), and their probabilities: the bins in which
//           top-k and top-p end
//   edge    what lies in those bins, sorted: the last one that is left
//   draw    the sum of what is left, and the first place at which a share of it is reached, in the order of the vocabulary
// `choices`: CHOICE_WORDS numbers a row (struct Choice, then the lists). A list's token of CHOSEN is the one that the row itself
// ran: tokens[wanted[r]]. `told`: the draws once more, in the host's memory, or null. `memory`: ROW_BYTES a row. `counters`: a zero
// a row, left zero.
#include "sample_select.h"

// Adds the biases, and takes the penalties of tokens that occurred lately, in the block's part of the row.
DEVICE void edit(f32 *row, const Span &span, const Choice &choice, const u32 *recent, u32 own, Row &of) {
    const u32 i = thread_x();
    const u32 *biases = recent + LIST;
    if (i < choice.biases && span.owns(biases[2 * i])) {
        const u32 token = biases[2 * i];
        Edit done = {NO_TOKEN, 0.0f};
        bool first = true;
        for (u32 j = 0; j < i; j++) first = first && biases[2 * j] != token;
        if (first && is_finite(row[token])) {
            f32 l = row[token];
            done = Edit{token, l};
            for (u32 j = i; j < choice.biases; j++)
                if (biases[2 * j] == token) l = clamp(l + bits_f32(biases[2 * j + 1]));
            row[token] = l;
        }
        of.biases[i] = done;
    }
    barrier();
    const auto token_of = [&](u32 j) { return recent[j] == CHOSEN ? own : recent[j]; };
    if (i < choice.recent && span.owns(token_of(i))) {
        const u32 token = token_of(i);
        Edit done = {NO_TOKEN, 0.0f};
        u32 count = 0;
        bool first = true;
        for (u32 j = 0; j < choice.recent; j++) {
            const bool same = token_of(j) == token;
            count += same;
            first = first && !(same && j < i);
        }
        // What a step before could not choose is no token.
        if (first && token != NO_TOKEN && token != ALL_BANNED && is_finite(row[token])) {
            f32 l = row[token];
            done = Edit{token, l};
            l = l > 0.0f ? l / choice.repetition : product(l, choice.repetition);
            row[token] = clamp(l - (product((f32)count, choice.frequency) + choice.presence));
        }
        of.penalties[i] = done;
    }
    barrier();
}
// Takes the edits back, the last ones first.
DEVICE void restore(f32 *row, const Choice &choice, const Row &of) {
    const auto back = [&](const Edit &edit) {
        if (edit.token != NO_TOKEN) row[edit.token] = edit.old;
    };
    barrier();
    if (thread_x() < choice.recent) back(of.penalties[thread_x()]);
    barrier();
    if (thread_x() < choice.biases) back(of.biases[thread_x()]);
}

KERNEL(THREADS) void mlxrocm_sample_begin(f32 *logits, const u32 *choices, const u32 *tokens, const u32 *wanted, u8 *memory,
                                          u32 *counters, u32 rows, u32 cols, u32 stride) {
    SHARED u64 waves[THREADS / 32];
    SHARED u32 lost;
    grid_dependency_launch();
    grid_dependency_wait();
    Row &of = row_of(memory);
    f32 *row = logits + (u64)block_x() * stride;
    const u32 *words = choices + block_x() * CHOICE_WORDS, thread = thread_x();
    const Choice choice = *(const Choice *)words;
    const Span span = span_of(block_y(), cols);
    if (thread < BINS / BLOCKS) of.counts[block_y() * (BINS / BLOCKS) + thread] = 0, of.masses[block_y() * (BINS / BLOCKS) + thread] = 0;
    if (thread == 0) lost = 0;
    const u32 from = wanted[block_x()];
    edit(row, span, choice, words + 12, from < rows ? tokens[from] : NO_TOKEN, of);

    u64 rank = 0;
    each_logit(row, span, [&](u32 c, f32 l) {
        const u64 other = (u64)key_of(l) << 32 | ~c;
        rank = other > rank ? other : rank;
        if (!is_finite(l)) atomic_max(&lost, 1);
    });
    rank = wave_max64<WAVE / 2>(rank);
    if (lane_id() == 0) waves[wave_id()] = rank;
    barrier();
    rank = wave_max64<THREADS / WAVE / 2>(waves[lane_id() % (THREADS / WAVE)]);
    if (thread == 0) of.tops[block_y()] = Top{rank, lost, 0};
    if (!is_last_block(counters + block_x(), BLOCKS)) return;
    if (thread == 0) lost = 0;
    barrier();
    const Top top = of.tops[thread % BLOCKS];
    if (top.lost) atomic_max(&lost, 1);
    rank = wave_max64<BLOCKS / 2>(top.rank);
    barrier();
    if (thread != 0) return;
    of.top = (u32)(rank >> 32), of.cut = {0, ALL};
    of.bin_k = of.first_p = BINS, of.last_p = of.count_before_k = 0, of.before_k = of.before_p = 0;
    of.token = lost ? NO_TOKEN : logit_of(of.top) <= BANNED ? ALL_BANNED : choice.is_greedy() ? ~(u32)rank : UNDECIDED;
}

// Whether there is something to cut.
DEVICE bool cuts(const Row &of, const Choice &choice, u32 cols) {
    return of.token == UNDECIDED && (choice.has_k(cols) || choice.has_p());
}

KERNEL(THREADS) void mlxrocm_sample_count(const f32 *logits, const u32 *choices, u8 *memory, u32 *counters, u32 cols, u32 stride) {
    SHARED u64 masses[BINS];
    SHARED u32 counts[BINS];
    SHARED u64 waves[THREADS / 32];
    SHARED u64 before_k, through_k, total;
    grid_dependency_launch();
    grid_dependency_wait();
    Row &of = row_of(memory);
    const Choice choice = *(const Choice *)(choices + block_x() * CHOICE_WORDS);
    if (!cuts(of, choice, cols)) return;
    const u32 t = thread_x();
    const f32 max = logit_of(of.top);
    UNROLL for (u32 i = t; i < BINS; i += THREADS) masses[i] = 0, counts[i] = 0;
    if (t == 0) before_k = through_k = 0;
    barrier();
    each_logit(logits + (u64)block_x() * stride, span_of(block_y(), cols), [&](u32, f32 l) {
        const u32 bin = bin_of(max, l);
        atomic_add(&counts[bin], 1);
        const u64 mass = weight(l - max);
        if (mass) atomic_add(&masses[bin], mass);
    });
    barrier();
    UNROLL for (u32 i = t; i < BINS; i += THREADS) {
        if (counts[i]) atomic_add(&of.counts[i], counts[i]);
        if (masses[i]) atomic_add(&of.masses[i], masses[i]);
    }
    if (!is_last_block(counters + block_x(), BLOCKS)) return;

    const u64 count[2] = {of.counts[2 * t], of.counts[2 * t + 1]}, mass[2] = {of.masses[2 * t], of.masses[2 * t + 1]};
    const u64 count_before = scan(count[0] + count[1], waves) - count[0] - count[1];
    const u64 mass_before = scan(mass[0] + mass[1], waves) - mass[0] - mass[1];
    // The sums before bin 2t + i.
    const auto of_counts = [&](u32 i) { return count_before + (i ? count[0] : 0); };
    const auto of_masses = [&](u32 i) { return mass_before + (i ? mass[0] : 0); };
    UNROLL for (u32 i = 0; i < 2; i++) {
        if (!choice.has_k(cols) || !reaches(of_counts(i), count[i], choice.top_k)) continue;
        before_k = of_masses(i), through_k = of_masses(i) + mass[i];
        of.bin_k = 2 * t + i, of.count_before_k = (u32)of_counts(i), of.before_k = of_masses(i);
    }
    if (t == THREADS - 1) total = mass_before + mass[0] + mass[1];
    barrier();
    if (t == 0) of.total = total;
    if (!choice.has_p()) return;
    // Of what is left of the bin in which top-k ends nothing is known yet.
    const u64 least = choice.share_of(choice.has_k(cols) ? before_k : total);
    const u64 most = choice.share_of(choice.has_k(cols) ? through_k : total);
    UNROLL for (u32 i = 0; i < 2; i++) {
        if (reaches(of_masses(i), mass[i], least)) of.first_p = 2 * t + i, of.before_p = of_masses(i);
        if (reaches(of_masses(i), mass[i], most)) of.last_p = 2 * t + i;
    }
}

// Candidates of a row as a block sorts them: the largest key first, of equal ones the first place.
struct Sorted {
    u64 ranks[LISTED];
    u64 before_k, through_k;
    u32 before_bin_k;
    Cut cut;
};
DEVICE void sort(u64 *ranks, u32 count) {
    u32 size = 2;
    while (size < count) size *= 2;
    for (u32 i = thread_x(); i < size; i += THREADS)
        if (i >= count) ranks[i] = ~0ull;
    for (u32 whole = 2; whole <= size; whole *= 2) {
        for (u32 apart = whole / 2; apart > 0; apart /= 2) {
            barrier();
            const u32 i = thread_x() / apart * 2 * apart + thread_x() % apart;
            if (i + apart >= size) continue;
            const u64 a = ranks[i], b = ranks[i + apart];
            if ((a > b) == ((i & whole) == 0)) ranks[i] = b, ranks[i + apart] = a;
        }
    }
    barrier();
}
// Where top-k and top-p end among `count` sorted candidates.
DEVICE Cut cut_of_list(const Row &of, u32 count, u32 cols, f32 max, const Choice &choice, Sorted &s, u64 *waves) {
    const u32 t = thread_x();
    const auto cut_at = [&](u32 i) { return Cut{~(u32)(s.ranks[i] >> 32), (u32)s.ranks[i]}; };
    const auto logit_at = [&](u32 i) { return logit_of(~(u32)(s.ranks[i] >> 32)); };
    if (t == 0) s.before_bin_k = 0, s.before_k = s.through_k = 0;
    barrier();
    const bool has_k = choice.has_k(cols);
    u64 mass[2] = {0, 0};
    UNROLL for (u32 i = 0; i < 2; i++) {
        if (2 * t + i >= count) continue;
        mass[i] = weight(logit_at(2 * t + i) - max);
        if (has_k && bin_of(max, logit_at(2 * t + i)) < of.bin_k) atomic_add(&s.before_bin_k, 1);
    }
    const u64 mass_before = scan(mass[0] + mass[1], waves) - mass[0] - mass[1];
    const u32 first_k = s.before_bin_k, last_k = first_k + choice.top_k - of.count_before_k - 1;
    UNROLL for (u32 i = 0; i < 2; i++) {
        const u64 before = mass_before + (i ? mass[0] : 0);
        if (2 * t + i == first_k) s.before_k = before;
        if (2 * t + i == last_k) s.through_k = before + mass[i];
    }
    barrier();
    if (!choice.has_p()) return cut_at(last_k);
    const u64 goal = choice.share_of(has_k ? of.before_k + s.through_k - s.before_k : of.total);
    UNROLL for (u32 i = 0; i < 2; i++)
        if (reaches(of.before_p + mass_before + (i ? mass[0] : 0), mass[i], goal)) s.cut = cut_at(2 * t + i);
    barrier();
    return s.cut;
}

KERNEL(THREADS) void mlxrocm_sample_edge(const f32 *logits, const u32 *choices, u8 *memory, u32 *counters, u32 cols, u32 stride) {
    SHARED union {
        Sorted sorted;
        Select select;
    } shared;
    SHARED u64 waves[THREADS / 32];
    SHARED u32 found[BLOCKS];
    grid_dependency_launch();
    grid_dependency_wait();
    Row &of = row_of(memory);
    const Choice choice = *(const Choice *)(choices + block_x() * CHOICE_WORDS);
    if (!cuts(of, choice, cols)) return;
    const f32 *row = logits + (u64)block_x() * stride, max = logit_of(of.top);
    const u32 bin_k = of.bin_k, first = of.first_p, last = of.last_p, thread = thread_x();
    if (thread == 0) found[0] = 0;
    barrier();
    each_logit(row, span_of(block_y(), cols), [&](u32 c, f32 l) {
        const u32 bin = bin_of(max, l);
        if (bin != bin_k && (bin < first || bin > last)) return;
        const u32 place = atomic_add(&found[0], 1);
        if (place < BLOCK_LISTED) of.listed[block_y()][place] = (u64)~key_of(l) << 32 | c;
    });
    barrier();
    if (thread == 0) of.found[block_y()] = found[0];
    if (!is_last_block(counters + block_x(), BLOCKS)) return;
    if (thread < BLOCKS) found[thread] = of.found[thread];
    barrier();
    // 32 threads take what a block listed.
    const u32 block = thread / (THREADS / BLOCKS), own = found[block];
    u32 count = 0, before = 0;
    bool fits = true;
    for (u32 b = 0; b < BLOCKS; b++) {
        before += b < block ? found[b] : 0;
        count += found[b], fits = fits && found[b] <= BLOCK_LISTED;
    }
    Cut cut;
    if (fits && count <= LISTED) {
        UNROLL for (u32 k = 0; k < BLOCK_LISTED; k += THREADS / BLOCKS) {
            const u32 i = k + thread % (THREADS / BLOCKS);
            if (i < own) shared.sorted.ranks[before + i] = of.listed[block][i];
        }
        sort(shared.sorted.ranks, count);
        cut = cut_of_list(of, count, cols, max, choice, shared.sorted, waves);
    } else {
        cut = cut_of_row(row, cols, max, choice, shared.select, waves);
    }
    if (thread_x() == 0) of.cut = cut;
}

KERNEL(THREADS) void mlxrocm_sample_draw(f32 *logits, const u32 *choices, u32 *chosen, u32 *told, u8 *memory, u32 *counters,
                                         u32 cols, u32 stride) {
    SHARED u64 waves[THREADS / 32];
    SHARED u32 found;
    grid_dependency_launch();
    grid_dependency_wait();
    Row &of = row_of(memory);
    f32 *row = logits + (u64)block_x() * stride;
    const Choice choice = *(const Choice *)(choices + block_x() * CHOICE_WORDS);
    const auto choose = [&](u32 token) {
        restore(row, choice, of);
        if (thread_x() != 0) return;
        chosen[block_x()] = token;
        if (told) told[block_x()] = token;
    };
    if (of.token != UNDECIDED) {
        if (block_y() == 0) choose(of.token);
        return;
    }
    const f32 max = logit_of(of.top);
    const u32 least = key_of(max + choice.min_p);
    const Cut cut = least > of.cut.key ? Cut{least, ALL} : of.cut;
    const auto mass = [&](u32 c, f32 l) { return cut.has(key_of(l), c) ? weight((l - max) / choice.temperature) : 0; };
    u64 sum = 0;
    each_logit(row, span_of(block_y(), cols), [&](u32 c, f32 l) { sum += mass(c, l); });
    sum = scan(sum, waves);
    if (thread_x() == THREADS - 1) of.sums[block_y()] = sum;
    if (!is_last_block(counters + block_x(), BLOCKS)) return;

    u64 total = 0;
    _Pragma("unroll 4") for (u32 part = 0; part < BLOCKS; part++) total += of.sums[part];
    u64 goal = high_product((u64)choice.random_high << 32 | choice.random_low, total) + 1;
    u32 part = 0;
    _Pragma("unroll 1") for (; part + 1 < BLOCKS && of.sums[part] < goal; part++) goal -= of.sums[part];
    const Span span = span_of(part, cols);
    const u32 run = divide_up(span.end - span.begin, THREADS);
    const u32 begin = minimum(span.begin + thread_x() * run, span.end), end = minimum(begin + run, span.end);
    u64 own = 0;
    for (u32 c = begin; c < end; c++) own += mass(c, row[c]);
    u64 before = scan(own, waves) - own;
    if (reaches(before, own, goal)) {
        for (u32 c = begin; before < goal; c++) {
            before += mass(c, row[c]);
            if (before >= goal) found = c;
        }
    }
    barrier();
    choose(found);
}
