/* Callbacks: each destructor runs exactly once, whatever happens; progress can end loading. */
#include "check.h"

#include <pthread.h>

typedef struct {
    int calls;
    int freed;
    int stop_at; /* the call that ends loading; 0: none */
    uint64_t last_done, last_total;
} state;

static void count_free(void *data) { ((state *)data)->freed++; }

static int32_t progress(uint64_t done, uint64_t total, void *data) {
    state *s = data;
    CHECK(s->freed == 0 && done <= total && done >= s->last_done);
    s->last_done = done;
    s->last_total = total;
    return ++s->calls == s->stop_at;
}

static void log_line(uint32_t level, const char *message, size_t length, void *data) {
    state *s = data;
    CHECK(s->freed == 0 && level >= MLXROCM_LOG_ERROR && level <= MLXROCM_LOG_DEBUG && length > 0);
    CHECK(strlen(message) == length);
    s->calls++;
}

/* Replaces itself from inside the callback. */
static void log_once(uint32_t level, const char *message, size_t length, void *data) {
    log_line(level, message, length, data);
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_DEBUG, NULL, NULL, NULL, &error));
    CHECK(((state *)data)->freed == 0); /* this call still runs */
}

/* A language that runs a callback only on its main thread: lines come on the thread that calls, so a
 * thread that waits in a call hears all of them before the call returns. */
static pthread_t caller;
static int worker_lines;

static void log_on_caller(uint32_t level, const char *message, size_t length, void *data) {
    log_line(level, message, length, data);
    CHECK(pthread_equal(pthread_self(), caller));
    /* The tokenizer is built by a thread of the library; so are its lines. */
    if (strstr(message, "pre-tokenizer")) worker_lines++;
}

static void logs_on_the_calling_thread(const char *path) {
    state all = {0};
    size_t tokens = 0;
    caller = pthread_self();
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_DEBUG, log_on_caller, &all, count_free, &error));
    mlxrocm_model *model = load(path);
    CHECK(worker_lines > 0); /* before mlxrocm_model_load returned */
    mlxrocm_session *session = session_of(model);
    mlxrocm_generation *generation = submit_text(session, "a", 4);
    (void)drain(generation, &tokens);
    mlxrocm_generation_free(generation);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_DEBUG, NULL, NULL, NULL, &error));
    CHECK(all.calls > 0 && all.freed == 1);
}

static void logs(const char *path) {
    state first = {0}, second = {0}, third = {0}, bad = {0}, none = {0};
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_DEBUG, log_line, &first, count_free, &error));
    mlxrocm_model_free(load(path));
    CHECK(first.calls > 0 && first.freed == 0);
    INVALID(mlxrocm_log_set_callback(9, log_line, &bad, count_free, &error));
    CHECK(bad.freed == 1 && first.freed == 0); /* the old one stays */
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_ERROR, log_line, &second, count_free, &error));
    CHECK(first.freed == 1);
    mlxrocm_model_free(load(path));
    CHECK(second.calls == 0); /* nothing failed */
    mlxrocm_model_free(NO_HANDLE);
    CHECK(second.calls == 1); /* a wrong pointer is worth an error line */
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_INFO, log_once, &third, count_free, &error));
    CHECK(second.freed == 1 && third.freed == 0);
    mlxrocm_model_free(NO_HANDLE);
    CHECK(third.calls == 1 && third.freed == 1);
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_INFO, NULL, &none, count_free, &error));
    CHECK(none.freed == 1 && none.calls == 0);
    CHECK(first.freed == 1 && second.freed == 1 && third.freed == 1);
}

static void loads(const char *path) {
    mlxrocm_model_options options = {0};
    mlxrocm_model *model = NULL;
    state s = {0};
    options.struct_size = sizeof options;
    options.threads = 1;
    options.progress = progress;
    options.user_data = &s;
    options.user_data_free = count_free;
    OK(mlxrocm_model_load(path, MLXROCM_NUL, &options, &model, &error));
    CHECK(s.calls >= 2 && s.freed == 1 && s.last_done == s.last_total && s.last_total > 0);
    mlxrocm_model_free(model);
    const int calls = s.calls;
    model = NULL;
    for (int stop_at = 1; stop_at <= calls; stop_at++) {
        memset(&s, 0, sizeof s);
        s.stop_at = stop_at;
        EXPECT(MLXROCM_ERROR_CANCELLED, mlxrocm_model_load(path, MLXROCM_NUL, &options, &model, &error));
        CHECK(s.freed == 1 && !model);
    }
    memset(&s, 0, sizeof s);
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_model_load("/no/such/file", MLXROCM_NUL, &options, &model, &error));
    CHECK(s.freed == 1);
    NULL_ARGUMENT(mlxrocm_model_load(NULL, MLXROCM_NUL, &options, &model, &error));
    CHECK(s.freed == 2);
    NULL_ARGUMENT(mlxrocm_model_load(path, MLXROCM_NUL, &options, NULL, &error));
    CHECK(s.freed == 3);
    options.struct_size = 3; /* unreadable: nothing is known to be freed */
    INVALID(mlxrocm_model_load(path, MLXROCM_NUL, &options, &model, &error));
    CHECK(s.freed == 3 && s.calls == 0);
    options.struct_size = sizeof options; /* user data without a callback */
    options.progress = NULL;
    OK(mlxrocm_model_load(path, MLXROCM_NUL, &options, &model, &error));
    CHECK(s.freed == 4 && s.calls == 0);
    mlxrocm_model_free(model);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    logs_on_the_calling_thread(argv[1]);
    logs(argv[1]);
    loads(argv[1]);
    return 0;
}
