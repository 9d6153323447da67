/* Random requests for a while: no wrong token, no growth.
 *
 *     soak MODEL SECONDS [device] [seed]
 *
 * `device`: as in mlxrocm_device_open, 0 is the CPU; default: the first GPU, else the CPU.
 *
 * Every prompt's greedy tokens are first computed alone, each in a session of its own. Then two threads
 * send random requests to a session with too little memory for all: greedy and sampled, cancelled,
 * freed while they run, not read for a while, up to the end of the context and too long for it. The
 * session is closed and opened anew now and then, with requests in it or without.
 *
 * Which tokens must be equal: on the CPU all. On a GPU a row's bits depend on nothing else as long as a
 * step has at most 16 rows. Narrow sessions keep to that (8 requests, 8 tokens of prompts), and there
 * greedy tokens equal those computed alone and a sampled request gives its tokens again. In wide sessions
 * matrix units run the prompts, and another order of sums may turn two tokens of almost the same
 * probability around: there the first token that differs must be one of the most probable ones of
 * the reference, and what follows it is another text. Exits with 1 if anything is wrong.             */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "growth.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum {
    PROMPTS = 24,
    LONGEST = 64, /* tokens of a generation */
    TOP = 5,
    SETTINGS = 9, /* greedy, and four ways to sample with two seeds each */
    THREADS = 2,
    LIVE = 6, /* of a thread, at once */
    REQUESTS = 8,
    ROUND = 50, /* requests of a thread between two looks at the memory */
    LEAST_ROUNDS = 16,
    KINDS = 3,
    CACHES = 2,
    CONTEXT = 320,
    HANG_SECONDS = 600
};
#define NEAR_TIE 0.2f /* nats */

/* Sessions: how they keep keys and values, and how many tokens of prompts a step has. */
static const struct {
    uint64_t kv_type;
    size_t cache;
    uint32_t chunk;
} kinds[KINDS] = {{MLXROCM_KV_F16, 0, 8}, {MLXROCM_KV_F16, 0, 128}, {MLXROCM_KV_Q8, 1, 8}};

static const struct {
    float temperature, top_p, min_p;
    uint32_t top_k;
} samplings[] = {{0.8f, 0, 0, 0}, {1.5f, 0, 0, 20}, {1, 0.9f, 0, 0}, {2, 0, 0.05f, 0}};

/* Around the sizes of pages (32), chunks and steps; the longest ones reach the context's end. */
static const size_t lengths[PROMPTS] = {1,  2,  3,  5,  7,  8,  9,   15,  16,  17,  31,  32,
                                        33, 40, 48, 63, 64, 65, 100, 128, 200, 256, 290, 300};

typedef struct {
    size_t count;
    uint32_t tokens[LONGEST];
    mlxrocm_token_logprob top[LONGEST][TOP];
} reference;

static mlxrocm_model *model;
static mlxrocm_device *device;
static int is_gpu;
static uint32_t context;
static uint32_t prompts[PROMPTS][CONTEXT + 1];
static reference references[CACHES][PROMPTS];
static double deadline;
static uint64_t seeds[THREADS];

/* What both threads use, under `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static mlxrocm_session *session;
static size_t kind;
static int is_over;
static struct {
    size_t count;
    uint32_t tokens[LONGEST];
} sampled[CACHES][PROMPTS][SETTINGS];
static struct {
    size_t requests, tokens, checked, cancelled, dropped, deaf, context_ends, overflows, sessions, short_of_memory,
        near_ties, wrong;
} seen;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t length_of(size_t prompt) {
    return lengths[prompt] < context ? lengths[prompt] : context - 1 - prompt % 8;
}

static mlxrocm_session *open_session(size_t of_kind) {
    mlxrocm_session_options options = {.struct_size = sizeof options,
                                       .context = context,
                                       .max_requests = REQUESTS,
                                       .prefill_chunk = kinds[of_kind].chunk,
                                       .kv_tokens = 2 * context,
                                       .kv_type = kinds[of_kind].kv_type,
                                       .prompt_lookup = of_kind > 0};
    mlxrocm_session *made = NULL;
    OK(mlxrocm_session_new(model, &options, &made, &error));
    return made;
}

/* Another session of the next kind in place of this one. Under `lock`. */
static void renew_session(void) {
    mlxrocm_session_free(session);
    kind = (kind + 1) % KINDS;
    session = open_session(kind);
    seen.sessions++;
}

typedef struct {
    mlxrocm_generation *generation;
    size_t prompt, setting, kind;
    size_t wanted; /* tokens */
    uint32_t reason;
    size_t count;
    uint32_t tokens[LONGEST];
    uint64_t prompt_done;
    size_t cancel_at, drop_at; /* after so many tokens */
    int cancelled;
    double deaf_until;
} job;

/* Computes what a prompt gives alone, in a session that has seen nothing else. */
static void compute_reference(size_t cache, size_t prompt) {
    reference *r = &references[cache][prompt];
    mlxrocm_session *alone = open_session(cache == 0 ? 0 : KINDS - 1);
    mlxrocm_request request = {.struct_size = sizeof request,
                               .flags = MLXROCM_REQUEST_IGNORE_EOS,
                               .tokens = prompts[prompt],
                               .token_count = length_of(prompt),
                               .max_tokens = LONGEST,
                               .logprobs = TOP};
    mlxrocm_generation *generation = NULL;
    OK(mlxrocm_session_submit(alone, &request, &generation, &error));
    mlxrocm_event event = {.struct_size = sizeof event};
    do {
        OK(mlxrocm_generation_next(generation, -1, &event, &error));
        if (event.kind != MLXROCM_EVENT_TOKEN) continue;
        CHECK(r->count < LONGEST && event.top_count == TOP);
        memcpy(r->top[r->count], event.top, sizeof r->top[0]);
        r->tokens[r->count++] = event.token;
    } while (event.kind != MLXROCM_EVENT_FINISHED);
    CHECK(event.finish_reason == MLXROCM_FINISH_LENGTH || event.finish_reason == MLXROCM_FINISH_CONTEXT);
    const size_t room = context - length_of(prompt);
    CHECK(r->count == (room < LONGEST ? room : LONGEST));
    mlxrocm_generation_free(generation);
    mlxrocm_session_free(alone);
}

static void start(uint64_t *state, job *j) {
    *j = (job){.prompt = below(state, PROMPTS), .cancel_at = SIZE_MAX, .drop_at = SIZE_MAX};
    const size_t room = context - length_of(j->prompt);
    mlxrocm_request request = {.struct_size = sizeof request,
                               .flags = MLXROCM_REQUEST_IGNORE_EOS,
                               .tokens = prompts[j->prompt],
                               .token_count = length_of(j->prompt),
                               .max_tokens = 1 + (uint32_t)below(state, LONGEST)};
    if (room <= LONGEST && below(state, 2)) request.max_tokens = 0;
    j->reason = request.max_tokens && request.max_tokens <= room ? MLXROCM_FINISH_LENGTH : MLXROCM_FINISH_CONTEXT;
    j->wanted = j->reason == MLXROCM_FINISH_LENGTH ? request.max_tokens : room;
    if (below(state, 3) == 0) {
        j->setting = 1 + below(state, SETTINGS - 1);
        const size_t way = (j->setting - 1) / 2;
        request.temperature = samplings[way].temperature;
        request.top_p = samplings[way].top_p;
        request.min_p = samplings[way].min_p;
        request.top_k = samplings[way].top_k;
        request.seed = j->setting;
    }
    /* The tokens of all are chosen by the host then. */
    if (below(state, 8) == 0) request.logprobs = 1 + (uint32_t)below(state, TOP);
    const size_t dice = below(state, 20);
    if (dice < 4) j->cancel_at = below(state, j->wanted + 1);
    if (dice == 4) j->drop_at = below(state, j->wanted + 1);
    if (dice == 5) j->deaf_until = now() + (double)below(state, 100) * 1e-3;
    pthread_mutex_lock(&lock);
    if (below(state, 500) == 0) renew_session();
    j->kind = kind;
    seen.requests++;
    seen.deaf += j->deaf_until > 0;
    if (below(state, 40) == 0) {
        /* Too long: it is refused, and nothing came of it. */
        request.token_count = context + below(state, 2);
        EXPECT(MLXROCM_ERROR_CONTEXT_FULL, mlxrocm_session_submit(session, &request, &j->generation, &error));
        CHECK(!j->generation);
        seen.overflows++;
    } else {
        OK(mlxrocm_session_submit(session, &request, &j->generation, &error));
    }
    mlxrocm_session_info info = {.struct_size = sizeof info};
    OK(mlxrocm_session_get_info(session, &info, &error));
    CHECK(info.running <= REQUESTS && info.kv_used + info.kv_cached <= info.kv_tokens);
    seen.short_of_memory += info.waiting > 0 && info.running > 0 && info.running < REQUESTS;
    pthread_mutex_unlock(&lock);
}

static void wrong_token(const job *j, size_t at, uint32_t wanted) {
    if (seen.wrong++ < 10)
        fprintf(stderr, "prompt of %zu tokens, setting %zu, session kind %zu: token %zu is %u, not %u\n",
                length_of(j->prompt), j->setting, j->kind, at, j->tokens[at], wanted);
}

/* Compares the tokens that came, also of one that was cut short. Under `lock`. */
static void compare(const job *j) {
    const int is_exact = !is_gpu || kinds[j->kind].chunk + REQUESTS <= 16;
    const size_t cache = kinds[j->kind].cache;
    const reference *r = &references[cache][j->prompt];
    const uint32_t *wanted = r->tokens;
    size_t known = r->count, at = 0;
    seen.tokens += j->count;
    if (j->setting > 0) {
        if (!is_exact) return;
        wanted = sampled[cache][j->prompt][j->setting].tokens;
        known = sampled[cache][j->prompt][j->setting].count;
    }
    const size_t common = known < j->count ? known : j->count;
    CHECK(j->setting > 0 || common == j->count);
    while (at < common && j->tokens[at] == wanted[at]) at++;
    seen.checked += at;
    if (at < common) {
        const mlxrocm_token_logprob *top = r->top[at];
        int is_near = 0;
        for (size_t i = 0; i < TOP && !is_exact; i++)
            is_near |= top[i].token == j->tokens[at] && top[0].logprob - top[i].logprob < NEAR_TIE;
        if (is_near) seen.near_ties++;
        else wrong_token(j, at, wanted[at]);
    } else if (j->count > known) {
        memcpy(sampled[cache][j->prompt][j->setting].tokens, j->tokens, j->count * sizeof *j->tokens);
        sampled[cache][j->prompt][j->setting].count = j->count;
    }
}

/* A generation is over, or its caller has had enough of it (0). */
static void end(job *j, uint32_t reason) {
    mlxrocm_generation_free(j->generation);
    j->generation = NULL;
    pthread_mutex_lock(&lock);
    seen.dropped += reason == 0;
    seen.cancelled += reason == MLXROCM_FINISH_CANCELLED;
    seen.context_ends += reason == MLXROCM_FINISH_CONTEXT;
    compare(j);
    pthread_mutex_unlock(&lock);
}

/* Takes an event, if there is one; says so. */
static int step(job *j, int64_t timeout_ns) {
    mlxrocm_event event = {.struct_size = sizeof event};
    mlxrocm_error *error = NULL;
    if (j->count >= j->drop_at) {
        end(j, 0);
        return 1;
    }
    if (j->count >= j->cancel_at && !j->cancelled) {
        j->cancelled = 1;
        OK(mlxrocm_generation_cancel(j->generation, &error));
    }
    const mlxrocm_status status = mlxrocm_generation_next(j->generation, timeout_ns, &event, &error);
    CHECK(!error && (status == MLXROCM_OK || status == MLXROCM_PENDING));
    if (status == MLXROCM_PENDING) return 0;
    if (event.kind == MLXROCM_EVENT_PROMPT) {
        CHECK(event.prompt_done > j->prompt_done && event.prompt_done <= event.prompt_total);
        CHECK(event.prompt_total == length_of(j->prompt) && j->count == 0);
        j->prompt_done = event.prompt_done;
    } else if (event.kind == MLXROCM_EVENT_TOKEN) {
        CHECK(j->count < j->wanted);
        j->tokens[j->count++] = event.token;
    } else {
        if (event.finish_reason == MLXROCM_FINISH_ERROR) fprintf(stderr, "%s\n", event.error_message);
        const int is_cut = event.finish_reason == MLXROCM_FINISH_CANCELLED;
        CHECK(is_cut ? j->cancelled : event.finish_reason == j->reason && j->count == j->wanted);
        CHECK(event.generated_tokens == j->count && event.prompt_tokens == length_of(j->prompt));
        end(j, event.finish_reason);
    }
    return 1;
}

/* Without a session the device holds the model and nothing else: as much as ever, once every kind of
 * session was there. */
static void measure_closed(void) {
    static uint64_t active, pinned;
    static size_t closings;
    if (!is_gpu) return;
    mlxrocm_device_memory memory = {.struct_size = sizeof memory};
    OK(mlxrocm_device_trim(device, &error));
    OK(mlxrocm_device_get_memory(device, &memory, &error));
    if (++closings > KINDS && (memory.active > active || memory.pinned_active > pinned)) {
        fprintf(stderr, "without a session: %llu bytes of the device, %llu pinned; once %llu and %llu\n",
                (unsigned long long)memory.active, (unsigned long long)memory.pinned_active,
                (unsigned long long)active, (unsigned long long)pinned);
        exit(1);
    }
    if (memory.active > active) active = memory.active;
    if (memory.pinned_active > pinned) pinned = memory.pinned_active;
}

/* Both threads wait, and nothing runs. */
static void look(uint64_t *state) {
    static size_t rounds;
    alarm(HANG_SECONDS);
    measure(is_gpu ? device : NULL);
    /* Every kind of session early, so that all memory that they need is seen in the first quarter. */
    if (rounds++ < 2 * KINDS || below(state, 4) == 0) {
        mlxrocm_session_free(session);
        session = NULL;
        measure_closed();
        renew_session();
    }
    is_over = now() > deadline && rounds >= LEAST_ROUNDS;
}

static void *thread_main(void *seed) {
    uint64_t state = *(uint64_t *)seed;
    job jobs[LIVE] = {0};
    while (!is_over) {
        size_t started = 0, live = 0;
        do {
            int news = 0;
            live = 0;
            for (size_t i = 0; i < LIVE; i++) {
                if (!jobs[i].generation && started < ROUND) {
                    start(&state, &jobs[i]);
                    started++;
                }
                if (!jobs[i].generation) continue;
                live++;
                if (now() >= jobs[i].deaf_until) news += step(&jobs[i], 0);
            }
            if (!news) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        } while (live > 0 || started < ROUND);
        pthread_barrier_wait(&barrier);
        if (seed == &seeds[0]) look(&state);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc >= 3 && argc <= 5);
    size_t count = 0;
    uint64_t state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    alarm(HANG_SECONDS); /* a hang ends the process */
    OK(mlxrocm_device_count(&count, &error));
    const size_t index = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : count > 1;
    OK(mlxrocm_device_open(index, &device, &error));
    mlxrocm_device_info device_info = {.struct_size = sizeof device_info};
    OK(mlxrocm_device_get_info(device, &device_info, &error));
    is_gpu = device_info.kind != MLXROCM_DEVICE_CPU;
    mlxrocm_model_options options = {.struct_size = sizeof options, .device = device};
    OK(mlxrocm_model_load(argv[1], MLXROCM_NUL, &options, &model, &error));
    mlxrocm_model_info info = {.struct_size = sizeof info};
    OK(mlxrocm_model_get_info(model, &info, &error));
    context = info.context_length < CONTEXT ? (uint32_t)info.context_length : CONTEXT;

    /* Every other prompt begins as the others do: they share pages. */
    uint32_t common[CONTEXT + 1];
    for (size_t i = 0; i <= CONTEXT; i++) common[i] = (uint32_t)below(&state, info.vocab_size);
    for (size_t p = 0; p < PROMPTS; p++)
        for (size_t i = 0; i <= CONTEXT; i++)
            prompts[p][i] = p % 2 ? common[i] : (uint32_t)below(&state, info.vocab_size);
    for (size_t cache = 0; cache < CACHES; cache++)
        for (size_t p = 0; p < PROMPTS; p++) compute_reference(cache, p);

    const double from = now();
    deadline = from + strtod(argv[2], NULL);
    session = open_session(kind);
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        seeds[i] = next_random(&state);
        CHECK(pthread_create(&threads[i], NULL, thread_main, &seeds[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%s, %.0f s: %zu requests, %zu tokens, %zu of them compared, %zu wrong, %zu near ties, %zu cancelled, "
           "%zu freed early, %zu not read for a while, %zu ends of the context, %zu too long, %zu sessions, "
           "%zu times short of KV memory",
           device_info.name, now() - from, seen.requests, seen.tokens, seen.checked, seen.wrong, seen.near_ties,
           seen.cancelled, seen.dropped, seen.deaf, seen.context_ends, seen.overflows, seen.sessions,
           seen.short_of_memory);
    const int grown = judge_growth();
    /* What was not exercised was not tested. */
    CHECK(seen.checked && seen.cancelled && seen.dropped && seen.deaf && seen.context_ends && seen.overflows &&
          seen.short_of_memory);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    mlxrocm_device_free(device);
    free(samples);
    return seen.wrong > 0 || grown > 0;
}
