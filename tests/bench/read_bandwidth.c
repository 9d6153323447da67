/* How fast this machine reads a buffer again and again: AVX2 loads joined by XOR.
 *
 * usage: read_bandwidth THREADS [MIB=1024] [REPEATS=7]
 * Each thread reads its own share in STREAMS streams, which a core does faster than in one. Prints one line of
 * JSON with the median and the best rate in GB/s (1e9 bytes). */
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define STREAMS 4
#define MAX_THREADS 64
#define MAX_REPEATS 101

struct share {
    const char *begin;
    size_t bytes;
    int repeats;
    uint64_t sink;
    double began[MAX_REPEATS], ended[MAX_REPEATS];
};

static pthread_barrier_t barrier;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `bytes`: a multiple of STREAMS pages, an odd one: streams a power of two apart share the caches' sets. */
static uint64_t read_all(const char *p, size_t bytes) {
    __m256i a[STREAMS][4];
    memset(a, 0, sizeof a);
    for (size_t at = 0; at < bytes / STREAMS; at += 128)
        for (size_t s = 0; s < STREAMS; s++) {
            const __m256i *from = (const __m256i *)(p + s * (bytes / STREAMS) + at);
            for (int i = 0; i < 4; i++) a[s][i] = _mm256_xor_si256(a[s][i], _mm256_load_si256(from + i));
        }
    uint64_t lanes[4], sum = 0;
    for (int i = 0; i < STREAMS * 4; i++) {
        memcpy(lanes, &a[i / 4][i % 4], sizeof lanes);
        sum ^= lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3];
    }
    return sum;
}

static void *reader(void *argument) {
    struct share *share = argument;
    for (int i = 0; i < share->repeats; i++) {
        pthread_barrier_wait(&barrier);
        share->began[i] = now();
        share->sink ^= read_all(share->begin, share->bytes);
        share->ended[i] = now();
    }
    return NULL;
}

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int main(int count, char **values) {
    int threads = count > 1 ? atoi(values[1]) : 1;
    size_t mib = count > 2 ? (size_t)atol(values[2]) : 1024;
    int repeats = count > 3 ? atoi(values[3]) : 7;
    if (threads < 1 || threads > MAX_THREADS || mib < 1 || repeats < 1 || repeats > MAX_REPEATS) {
        fprintf(stderr, "usage: read_bandwidth THREADS [MIB] [REPEATS]\n");
        return 2;
    }
    size_t bytes = mib << 20;
    char *buffer = aligned_alloc(2 << 20, bytes);
    if (!buffer) {
        fprintf(stderr, "read_bandwidth: no memory for %zu MiB\n", mib);
        return 1;
    }
    madvise(buffer, bytes, MADV_HUGEPAGE); /* as the weights are */
    for (size_t i = 0; i < bytes; i += 8) memcpy(buffer + i, &i, 8); /* real pages, not the shared zero page */

    pthread_t ids[MAX_THREADS];
    static struct share shares[MAX_THREADS];
    size_t pages = bytes / (size_t)threads / (STREAMS * 4096), each = ((pages - 1) | 1) * STREAMS * 4096;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        shares[i].begin = buffer + each * (size_t)i;
        shares[i].bytes = each;
        shares[i].repeats = repeats;
        if (pthread_create(&ids[i], NULL, reader, &shares[i])) return 1;
        /* One core each, where that is allowed: a wake-up may otherwise put two readers on one core. */
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET(i, &core);
        pthread_setaffinity_np(ids[i], sizeof core, &core);
    }
    uint64_t sink = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sink ^= shares[i].sink;
    }
    double rates[MAX_REPEATS];
    for (int i = 0; i < repeats; i++) { /* from the first start to the last end */
        double began = shares[0].began[i], ended = shares[0].ended[i];
        for (int t = 1; t < threads; t++) {
            if (shares[t].began[i] < began) began = shares[t].began[i];
            if (shares[t].ended[i] > ended) ended = shares[t].ended[i];
        }
        rates[i] = (double)(each * (size_t)threads) / (ended - began) / 1e9;
    }
    qsort(rates, (size_t)repeats, sizeof rates[0], ascending);
    printf("{\"threads\": %d, \"median_gb_s\": %.3f, \"best_gb_s\": %.3f, \"sink\": %d}\n", threads,
           rates[repeats / 2], rates[repeats - 1], (int)(sink & 1));
    free(buffer);
    return 0;
}
