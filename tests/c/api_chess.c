/* Chess networks: wrong arguments are errors and leave outputs as they are; a batch, several threads
 * and a freed device do no harm.
 *
 *     api_chess MODEL NET          NET: one with several heads */
#include "check.h"
#include <pthread.h>

enum { PLANES = MLXROCM_CHESS_PLANES, MOVES = MLXROCM_CHESS_MOVES, BATCH = 7 };

static char mark;
#define UNTOUCHED ((void *)&mark)

static void loading(const char *path) {
    mlxrocm_chess_net *net = UNTOUCHED;
    mlxrocm_chess_net_options options = {0};
    NULL_ARGUMENT(mlxrocm_chess_net_load(NULL, MLXROCM_NUL, NULL, &net, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_load(path, MLXROCM_NUL, NULL, NULL, &error));
    NO_FILE(mlxrocm_chess_net_load("/no/such/file", MLXROCM_NUL, NULL, &net, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "path is empty",
                   mlxrocm_chess_net_load("", MLXROCM_NUL, NULL, &net, &error));
    options.threads = 1;
    INVALID(mlxrocm_chess_net_load(path, MLXROCM_NUL, &options, &net, &error)); /* no struct_size */
    options.struct_size = sizeof options;
    options.threads = 1025;
    INVALID(mlxrocm_chess_net_load(path, MLXROCM_NUL, &options, &net, &error));
    options.threads = 2;
    options.policy_head = 4;
    INVALID(mlxrocm_chess_net_load(path, MLXROCM_NUL, &options, &net, &error));
    options.policy_head = 0;
    options.value_head = 3;
    INVALID(mlxrocm_chess_net_load(path, MLXROCM_NUL, &options, &net, &error));
    options.value_head = MLXROCM_CHESS_VALUE_HEAD_Q;
    options.device = UNTOUCHED;
    INVALID(mlxrocm_chess_net_load(path, MLXROCM_NUL, &options, &net, &error));
    CHECK(net == UNTOUCHED);
    mlxrocm_device *cpu = NULL;
    OK(mlxrocm_device_open(0, &cpu, &error));
    options.device = cpu;
    OK(mlxrocm_chess_net_load(path, MLXROCM_NUL, &options, &net, &error));
    mlxrocm_device_free(cpu);
    mlxrocm_chess_net_free(net);
    mlxrocm_chess_net_info info = {.struct_size = sizeof info};
    INVALID(mlxrocm_chess_net_get_info(net, &info, &error)); /* freed */
    mlxrocm_chess_net_free(net);
    mlxrocm_chess_net_free(NULL);
}

static void facts(const mlxrocm_chess_net *net) {
    mlxrocm_chess_net_info info = {0};
    NULL_ARGUMENT(mlxrocm_chess_net_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_info(net, NULL, &error));
    INVALID(mlxrocm_chess_net_get_info(net, &info, &error));
    info.struct_size = sizeof info;
    OK(mlxrocm_chess_net_get_info(net, &info, &error));
    CHECK(info.input_format == 133 && info.body == MLXROCM_CHESS_BODY_ATTENTION);
    CHECK(info.policy == MLXROCM_CHESS_POLICY_ATTENTION && info.has_draws && info.has_moves_left);
    CHECK(info.depth == 2 && info.width == 32 && info.parameters > 100000);
    CHECK(strcmp(mlxrocm_chess_net_move_name(0, NULL), "a1b1") == 0);
    CHECK(strcmp(mlxrocm_chess_net_move_name(MOVES - 1, NULL), "h7h8b") == 0);
    CHECK(!mlxrocm_chess_net_move_name(MOVES, NULL) && !mlxrocm_chess_net_move_name(UINT32_MAX, NULL));
}

/* The start after 1. e4, its legal moves measured and filled. */
static void input(const mlxrocm_chess_net *net, uint64_t *masks, float *values) {
    const char *const moves[] = {"e2e4"}, *const wrong[] = {"e2e5"}, *const none[] = {"e2e4", NULL};
    mlxrocm_chess_move legal[32];
    size_t count = 0;
    NULL_ARGUMENT(mlxrocm_chess_net_get_input(NULL, NULL, MLXROCM_NUL, NULL, NULL, 0, masks, values, NULL, 0,
                                              NULL, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, NULL, NULL, 1, masks, values, NULL, 0,
                                              NULL, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_NULL_ARGUMENT, "moves[1] must not be NULL",
                   mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, none, NULL, 2, masks, values, NULL, 0,
                                               NULL, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, 1, NULL, values, NULL, 0,
                                              NULL, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, 1, masks, NULL, NULL, 0,
                                              NULL, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, 1, masks, values, NULL, 4,
                                              NULL, &error));
    INVALID(mlxrocm_chess_net_get_input(net, "x", MLXROCM_NUL, NULL, NULL, 0, masks, values, NULL, 0, NULL,
                                        &error));
    INVALID(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, (size_t)-1, masks, values, NULL,
                                        0, NULL, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "e2e5",
                   mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, wrong, NULL, 1, masks, values, NULL, 0,
                                               NULL, &error));
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, 1, masks, values, legal, 3,
                                       &count, &error));
    CHECK(count == 20 && masks[111] == 0); /* nothing was written */
    count = 0;
    OK(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, 1, masks, values, NULL, 0, &count,
                                   &error));
    CHECK(count == 20);
    OK(mlxrocm_chess_net_get_input(net, NULL, MLXROCM_NUL, moves, NULL, 1, masks, values, legal, 32, &count,
                                   &error));
    CHECK(masks[111] == UINT64_MAX && masks[110] == UINT64_MAX && values[111] == 1);
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(legal[i].policy_index < MOVES);
        found += strcmp(legal[i].name, "e7e5") == 0;
    }
    CHECK(found == 1);
    float policy[MOVES] = {0}, chances[20], sum = 0;
    legal[3].policy_index = MOVES;
    INVALID(mlxrocm_chess_net_get_chances(policy, legal, count, 1, chances, &error));
    INVALID(mlxrocm_chess_net_get_chances(policy, legal, 3, 0, chances, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_chances(NULL, legal, 3, 1, chances, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_chances(policy, NULL, 3, 1, chances, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_get_chances(policy, legal, 3, 1, NULL, &error));
    OK(mlxrocm_chess_net_get_chances(policy, NULL, 0, 1, NULL, &error));
    OK(mlxrocm_chess_net_get_chances(policy, legal, 3, 1, chances, &error));
    for (int i = 0; i < 3; i++) sum += chances[i];
    CHECK(sum > 0.999f && sum < 1.001f);
}

struct job {
    const mlxrocm_chess_net *net;
    const uint64_t *masks;
    const float *values, *expected;
};

static void *evaluate(void *data) {
    const struct job *job = data;
    float *policy = calloc((size_t)BATCH * MOVES, sizeof *policy);
    CHECK(policy);
    for (int round = 0; round < 3; round++) {
        OK(mlxrocm_chess_net_evaluate(job->net, job->masks, job->values, BATCH, policy, NULL, NULL, &error));
        for (int i = 0; i < BATCH; i++)
            CHECK(memcmp(policy + i * MOVES, job->expected, MOVES * sizeof *policy) == 0);
    }
    free(policy);
    return NULL;
}

/* Batches come out in order, with the bits that they get without a queue; what does not fit stays. */
static void queues(mlxrocm_chess_net *net, const uint64_t *masks, const float *values, const float *expected) {
    mlxrocm_chess_queue *queue = UNTOUCHED;
    NULL_ARGUMENT(mlxrocm_chess_queue_create(NULL, &queue, &error));
    NULL_ARGUMENT(mlxrocm_chess_queue_create(net, NULL, &error));
    CHECK(queue == UNTOUCHED);
    OK(mlxrocm_chess_queue_create(net, &queue, &error));
    mlxrocm_chess_net_free(net); /* the queue keeps it */
    float *policy = calloc((size_t)BATCH * MOVES, sizeof *policy);
    CHECK(policy);
    uint64_t id = 77;
    size_t count = 77;
    NULL_ARGUMENT(mlxrocm_chess_queue_submit(NULL, masks, values, 1, &id, &error));
    NULL_ARGUMENT(mlxrocm_chess_queue_submit(queue, NULL, values, 1, &id, &error));
    NULL_ARGUMENT(mlxrocm_chess_queue_submit(queue, masks, NULL, 1, &id, &error));
    INVALID(mlxrocm_chess_queue_submit(queue, masks, values, 0, &id, &error));
    INVALID(mlxrocm_chess_queue_submit(queue, masks, values, SIZE_MAX, &id, &error));
    NULL_ARGUMENT(mlxrocm_chess_queue_next(NULL, 0, BATCH, policy, NULL, NULL, &count, &id, &error));
    EXPECT(MLXROCM_END, mlxrocm_chess_queue_next(queue, -1, BATCH, policy, NULL, NULL, &count, &id, &error));
    CHECK(id == 77 && count == 77);
    for (size_t size = 1; size <= BATCH; size++) {
        OK(mlxrocm_chess_queue_submit(queue, masks, values, size, &id, &error));
        CHECK(id == size - 1);
    }
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_chess_queue_next(queue, -1, 0, policy, NULL, NULL, &count, &id, &error));
    INVALID(mlxrocm_chess_queue_next(queue, -1, BATCH, (float *)((char *)policy + 1), NULL, NULL, &count, &id,
                                     &error));
    for (size_t size = 1; size <= BATCH; size++) {
        OK(mlxrocm_chess_queue_next(queue, -1, BATCH, policy, NULL, NULL, &count, &id, &error));
        CHECK(id == size - 1 && count == size);
        for (size_t i = 0; i < size; i++)
            CHECK(memcmp(policy + i * MOVES, expected, MOVES * sizeof *policy) == 0);
    }
    EXPECT(MLXROCM_END, mlxrocm_chess_queue_next(queue, 0, BATCH, NULL, NULL, NULL, NULL, NULL, &error));
    for (uint32_t i = 0; i < MLXROCM_CHESS_QUEUE_BATCHES; i++)
        OK(mlxrocm_chess_queue_submit(queue, masks, values, 1, NULL, &error));
    EXPECT(MLXROCM_PENDING, mlxrocm_chess_queue_submit(queue, masks, values, 1, NULL, &error));
    mlxrocm_chess_queue_free(queue); /* with all that it holds */
    INVALID(mlxrocm_chess_queue_submit(queue, masks, values, 1, NULL, &error));
    mlxrocm_chess_queue_free(NULL);
    free(policy);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    loading(argv[2]);
    mlxrocm_chess_net *net = NULL;
    OK(mlxrocm_chess_net_load(argv[2], MLXROCM_NUL, NULL, &net, &error));
    facts(net);
    static uint64_t masks[BATCH * PLANES];
    static float values[BATCH * PLANES], policy[MOVES];
    float wdl[3] = {0}, moves_left = -1;
    input(net, masks, values);
    for (int i = 1; i < BATCH; i++) {
        memcpy(masks + i * PLANES, masks, PLANES * sizeof *masks);
        memcpy(values + i * PLANES, values, PLANES * sizeof *values);
    }
    NULL_ARGUMENT(mlxrocm_chess_net_evaluate(NULL, masks, values, 1, policy, wdl, NULL, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_evaluate(net, NULL, values, 1, policy, wdl, NULL, &error));
    NULL_ARGUMENT(mlxrocm_chess_net_evaluate(net, masks, NULL, 1, policy, wdl, NULL, &error));
    INVALID(mlxrocm_chess_net_evaluate(net, masks, values, 0, policy, wdl, NULL, &error));
    INVALID(mlxrocm_chess_net_evaluate(net, masks, values, 1025, policy, wdl, NULL, &error));
    CHECK(wdl[0] == 0 && policy[0] == 0);
    OK(mlxrocm_chess_net_evaluate(net, masks, values, 1, policy, wdl, &moves_left, &error));
    CHECK(wdl[0] + wdl[1] + wdl[2] > 0.999f && moves_left >= 0);

    const struct job job = {net, masks, values, policy};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, evaluate, (void *)(uintptr_t)&job) == 0);
    for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    queues(net, masks, values, policy);
    return 0;
}
