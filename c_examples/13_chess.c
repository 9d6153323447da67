/* 13: what a chess network of Leela Chess Zero thinks of a position: the best moves, the chances of
 * win, draw and loss of the side to move, and how long the game goes on.
 *
 *     13_chess [--device N] NET [FEN [MOVES...]]      FEN "" or absent: the start; moves like e2e4
 *     13_chess [--device N] --bench NET [THREADS]     positions a second, by batch: of the wall's clock and
 *                                                     of the process's processor time
 *
 * Without a device (see 02_devices) the CPU evaluates; GPUs compute in f16, with --f32 before NET in f32. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLANES = MLXROCM_CHESS_PLANES, MOVES = MLXROCM_CHESS_MOVES, LEGAL = 256, SHOWN = 5 };

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The best moves, one a line; each is taken out of `chances` once it is shown. */
static void print_moves(const mlxrocm_chess_move *moves, float *chances, size_t count) {
    for (size_t line = 0; line < SHOWN && line < count; line++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if (chances[i] > chances[best]) best = i;
        printf("%-6s %6.2f %%\n", moves[best].name, 100 * (double)chances[best]);
        chances[best] = -1;
    }
}

static int show(const mlxrocm_chess_net *net, const char *fen, const char *const *names, size_t count) {
    mlxrocm_error *error = NULL;
    mlxrocm_chess_net_info info = {.struct_size = sizeof info};
    uint64_t masks[PLANES];
    float values[PLANES], policy[MOVES], wdl[3], moves_left, chances[LEGAL];
    mlxrocm_chess_move moves[LEGAL];
    size_t legal = 0;
    if (mlxrocm_chess_net_get_info(net, &info, &error) != MLXROCM_OK) return fail("info", error);
    if (mlxrocm_chess_net_get_input(net, fen, MLXROCM_NUL, names, NULL, count, masks, values, moves, LEGAL,
                                    &legal,
                                    &error) != MLXROCM_OK)
        return fail("position", error);
    if (mlxrocm_chess_net_evaluate(net, masks, values, 1, policy, wdl, &moves_left, &error) !=
            MLXROCM_OK ||
        mlxrocm_chess_net_get_chances(policy, moves, legal, 1.0f, chances, &error) != MLXROCM_OK)
        return fail("evaluate", error);
    if (legal == 0) puts("the game is over");
    print_moves(moves, chances, legal);
    if (info.has_draws)
        printf("win %.1f %%, draw %.1f %%, loss %.1f %%\n", 100 * (double)wdl[0],
               100 * (double)wdl[1], 100 * (double)wdl[2]);
    else
        printf("value %+.3f\n", (double)(wdl[0] - wdl[2]));
    if (info.has_moves_left) printf("%.0f plies left\n", (double)moves_left);
    return 0;
}

/* Evaluates batches of positions after a few moves for a second at least. */
static int bench_batch(const mlxrocm_chess_net *net, size_t batch, const uint64_t *masks, const float *values,
                       float *policy) {
    mlxrocm_error *error = NULL;
    float *wdl = policy + batch * MOVES;
    double start = 0, processor = 0;
    size_t done = 0;
    for (int round = -1; round <= 0 || now(CLOCK_MONOTONIC) - start < 1; round++) {
        if (round == 0) { /* the first one warms up */
            start = now(CLOCK_MONOTONIC);
            processor = now(CLOCK_PROCESS_CPUTIME_ID);
            done = 0;
        }
        if (mlxrocm_chess_net_evaluate(net, masks, values, batch, policy, wdl, NULL, &error) != MLXROCM_OK)
            return fail("evaluate", error);
        done += batch;
    }
    printf("batch %4zu: %.0f positions/s, %.0f a processor second\n", batch,
           (double)done / (now(CLOCK_MONOTONIC) - start),
           (double)done / (now(CLOCK_PROCESS_CPUTIME_ID) - processor));
    return 0;
}

static int bench(const mlxrocm_chess_net *net, size_t most) {
    static const char *const names[] = {"e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6"};
    static const size_t batches[] = {1, 16, 64, 256, 1024};
    mlxrocm_error *error = NULL;
    uint64_t *masks = calloc(most * PLANES, sizeof *masks);
    float *values = calloc(most * PLANES, sizeof *values);
    float *results = calloc(most * (MOVES + 3), sizeof *results);
    int result = masks && values && results ? 0 : 1;
    for (size_t i = 0; i < most && result == 0; i++)
        if (mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, names, NULL, i % 9, masks + i * PLANES,
                                        values + i * PLANES, NULL, 0, NULL, &error) != MLXROCM_OK)
            result = fail("position", error);
    for (size_t i = 0; i < 5 && batches[i] <= most && result == 0; i++)
        result = bench_batch(net, batches[i], masks, values, results);
    free(masks);
    free(values);
    free(results);
    return result;
}

int main(int argc, char **argv) {
    mlxrocm_chess_net_options options = {.struct_size = sizeof options};
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    mlxrocm_chess_net *net = NULL;
    int benches = 0, at = 1, result = 2;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--bench") == 0) {
            benches = 1;
        } else if (strcmp(argv[at], "--f32") == 0) {
            options.precision = MLXROCM_CHESS_PRECISION_F32;
        } else if (strcmp(argv[at], "--device") == 0 && at + 1 < argc) {
            if (mlxrocm_device_open((uint32_t)strtoul(argv[++at], NULL, 10), &device, &error) != MLXROCM_OK)
                return fail("device", error);
        } else {
            break;
        }
    }
    char **rest = argv + at;
    const int count = argc - at;
    if (count < 1 || rest[0][0] == '-') {
        fprintf(stderr, "usage: 13_chess [--device N] [--f32] NET [FEN [MOVES...]]\n"
                        "       13_chess [--device N] [--f32] --bench NET [THREADS]\n");
    } else {
        options.device = device;
        if (benches && count > 1) options.threads = (uint32_t)strtoul(rest[1], NULL, 10);
        if (mlxrocm_chess_net_load(rest[0], MLXROCM_NUL, &options, &net, &error) != MLXROCM_OK)
            result = fail("load", error);
        else if (benches)
            result = bench(net, device ? 1024 : 256);
        else
            result = show(net, count > 1 && rest[1][0] ? rest[1] : NULL, (const char *const *)rest + 2,
                          count > 2 ? (size_t)count - 2 : 0);
    }
    mlxrocm_chess_net_free(net);
    mlxrocm_device_free(device);
    return result;
}
