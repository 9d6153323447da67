/* Waiting for several generations: in one call, and by poll and epoll. */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MANY 24

static mlxrocm_event event_of(void) {
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    return event;
}

/* Takes what is there without waiting; 1 with MLXROCM_EVENT_FINISHED, which must be the last. */
static int take(const mlxrocm_generation *generation, size_t *tokens) {
    mlxrocm_event event = event_of();
    mlxrocm_error *error = NULL;
    int finished = 0;
    for (;;) {
        const mlxrocm_status status = mlxrocm_generation_next(generation, 0, &event, &error);
        CHECK(status == MLXROCM_OK || status == MLXROCM_PENDING || status == MLXROCM_END);
        if (status != MLXROCM_OK) return finished;
        CHECK(!finished);
        if (event.kind == MLXROCM_EVENT_TOKEN) ++*tokens;
        finished = event.kind == MLXROCM_EVENT_FINISHED;
    }
}

static void in_one_call(const mlxrocm_session *session) {
    mlxrocm_generation *generations[MANY];
    size_t tokens[MANY] = {0}, turns[MANY] = {0}, index = MANY, left = MANY;
    for (size_t i = 0; i < MANY; i++) generations[i] = submit_text(session, "The hat", 5 + (uint32_t)i);
    while (left > 0) {
        OK(mlxrocm_generation_wait_any((const mlxrocm_generation *const *)generations, MANY, -1, &index, &error));
        CHECK(index < MANY && generations[index]);
        turns[index]++;
        mlxrocm_event event = event_of(); /* there is one, and only one is taken */
        OK(mlxrocm_generation_next(generations[index], 0, &event, &error));
        if (event.kind == MLXROCM_EVENT_TOKEN) tokens[index]++;
        if (event.kind == MLXROCM_EVENT_FINISHED) {
            mlxrocm_generation_free(generations[index]);
            generations[index] = NULL;
            left--;
        }
    }
    for (size_t i = 0; i < MANY; i++) CHECK(tokens[i] == 5 + i && turns[i] >= tokens[i] + 1);
    EXPECT(MLXROCM_END,
           mlxrocm_generation_wait_any((const mlxrocm_generation *const *)generations, MANY, -1, &index, &error));
    EXPECT(MLXROCM_END, mlxrocm_generation_wait_any(NULL, 0, -1, &index, &error));

    /* One that gave out its end, and a freed one. */
    mlxrocm_generation *one = submit_text(session, "A", 3);
    size_t count;
    CHECK(drain(one, &count) == MLXROCM_FINISH_LENGTH);
    const mlxrocm_generation *list[] = {NULL, one, one};
    EXPECT(MLXROCM_END, mlxrocm_generation_wait_any(list, 3, -1, &index, &error));
    NULL_ARGUMENT(mlxrocm_generation_wait_any(list, 3, -1, NULL, &error));
    NULL_ARGUMENT(mlxrocm_generation_wait_any(NULL, 3, -1, &index, &error));
    mlxrocm_generation_free(one);
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "generations[1]",
                   mlxrocm_generation_wait_any(list, 3, 0, &index, &error));
}

static void *cancel_later(void *generation) {
    usleep(50000);
    OK(mlxrocm_generation_cancel(generation, &error));
    return NULL;
}

/* A request that waits behind others for its turn has no event. */
static void timeouts(const mlxrocm_session *session) {
    mlxrocm_generation *busy[4];
    for (size_t i = 0; i < 4; i++) busy[i] = submit_text(session, "The hat", 240);
    mlxrocm_generation *waiting = submit_text(session, "The hat", 3);
    const mlxrocm_generation *list[] = {waiting};
    size_t index, tokens = 0;
    EXPECT(MLXROCM_PENDING, mlxrocm_generation_wait_any(list, 1, 0, &index, &error));
    EXPECT(MLXROCM_PENDING, mlxrocm_generation_wait_any(list, 1, 1000, &index, &error));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_later, waiting) == 0);
    OK(mlxrocm_generation_wait_any(list, 1, -1, &index, &error));
    CHECK(pthread_join(thread, NULL) == 0 && index == 0);
    for (size_t i = 0; i < 4; i++) mlxrocm_generation_free(busy[i]);
    drain(waiting, &tokens);
    mlxrocm_generation_free(waiting);
}

static void by_poll(const mlxrocm_session *session) {
    mlxrocm_generation *generations[MANY];
    struct pollfd fds[MANY];
    size_t tokens[MANY] = {0}, left = MANY;
    for (size_t i = 0; i < MANY; i++) {
        int32_t fd = -1, again = -2;
        generations[i] = submit_text(session, "The hat", 5 + (uint32_t)i);
        OK(mlxrocm_generation_get_fd(generations[i], &fd, &error));
        OK(mlxrocm_generation_get_fd(generations[i], &again, &error));
        CHECK(fd >= 0 && fd == again);
        fds[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    while (left > 0) {
        CHECK(poll(fds, MANY, 60000) > 0);
        for (size_t i = 0; i < MANY; i++) {
            if (!fds[i].revents) continue;
            CHECK(fds[i].revents == POLLIN);
            if (!take(generations[i], &tokens[i])) continue;
            CHECK(poll(&fds[i], 1, 0) == 0); /* nothing any more */
            fds[i].fd = -1;                  /* poll passes it over */
            mlxrocm_generation_free(generations[i]);
            left--;
        }
    }
    for (size_t i = 0; i < MANY; i++) CHECK(tokens[i] == 5 + i);
}

/* Level-triggered: readable as long as an event is there, and one that is asked for late is so at once. */
static void by_epoll(const mlxrocm_session *session) {
    const int loop = epoll_create1(EPOLL_CLOEXEC);
    CHECK(loop >= 0);
    mlxrocm_generation *generation = submit_text(session, "The hat", 8);
    const mlxrocm_generation *list[] = {generation};
    size_t index, events = 0;
    int32_t fd;
    OK(mlxrocm_generation_wait_any(list, 1, -1, &index, &error));
    OK(mlxrocm_generation_get_fd(generation, &fd, &error));
    struct epoll_event interest = {.events = EPOLLIN}, found;
    CHECK(epoll_ctl(loop, EPOLL_CTL_ADD, fd, &interest) == 0);
    for (int finished = 0; !finished;) {
        CHECK(epoll_wait(loop, &found, 1, 60000) == 1 && found.events == EPOLLIN);
        mlxrocm_event event = event_of();
        OK(mlxrocm_generation_next(generation, 0, &event, &error)); /* one at a time */
        events++;
        finished = event.kind == MLXROCM_EVENT_FINISHED;
    }
    CHECK(events >= 1 + 8 + 1 && epoll_wait(loop, &found, 1, 0) == 0);
    mlxrocm_generation_free(generation);
    CHECK(close(loop) == 0);
    NULL_ARGUMENT(mlxrocm_generation_get_fd(NULL, &fd, &error));
    INVALID(mlxrocm_generation_get_fd(generation, &fd, &error));
    generation = submit_text(session, "The hat", 1);
    NULL_ARGUMENT(mlxrocm_generation_get_fd(generation, NULL, &error));
    mlxrocm_generation_free(generation);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    mlxrocm_session *session = session_of(model);
    in_one_call(session);
    timeouts(session);
    by_poll(session);
    by_epoll(session);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return 0;
}
