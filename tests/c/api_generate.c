/* Generation: events, limits, stops, seeds, penalties, log-probabilities, cancelling, logits. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>

#define MAX_TOKENS 256

/* What a generation gave. */
typedef struct {
    uint32_t tokens[MAX_TOKENS];
    float logprobs[MAX_TOKENS];
    size_t count;
    char text[8192];
    size_t length;
    mlxrocm_event end;
    uint64_t prompt_total;
} result;

static void collect(mlxrocm_generation *generation, result *r) {
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    memset(r, 0, sizeof *r);
    uint64_t done = 0;
    for (;;) {
        mlxrocm_error *error = NULL;
        const mlxrocm_status status = mlxrocm_generation_next(generation, -1, &event, &error);
        CHECK(status == MLXROCM_OK || status == MLXROCM_END);
        if (status == MLXROCM_END) break;
        CHECK(r->end.kind == 0 && event.struct_size == sizeof event);
        if (event.kind == MLXROCM_EVENT_PROMPT) {
            CHECK(event.prompt_done >= done && event.prompt_done <= event.prompt_total);
            CHECK(r->count == 0);
            done = event.prompt_done;
            r->prompt_total = event.prompt_total;
            continue;
        }
        CHECK(strlen(event.text) <= event.text_length && r->length + event.text_length < sizeof r->text);
        memcpy(r->text + r->length, event.text, event.text_length + 1);
        r->length += event.text_length;
        if (event.kind == MLXROCM_EVENT_TOKEN) {
            CHECK(r->count < MAX_TOKENS);
            for (size_t i = 0; i < event.top_count; i++) {
                CHECK(event.top[i].logprob <= 0.0f);
                CHECK(i == 0 || event.top[i].logprob <= event.top[i - 1].logprob);
            }
            r->logprobs[r->count] = event.logprob;
            r->tokens[r->count++] = event.token;
        } else {
            CHECK(event.kind == MLXROCM_EVENT_FINISHED);
            CHECK((event.error_message != NULL) == (event.finish_reason == MLXROCM_FINISH_ERROR));
            r->end = event;
        }
    }
    CHECK(r->end.kind == MLXROCM_EVENT_FINISHED && done == r->prompt_total);
    EXPECT(MLXROCM_END, mlxrocm_generation_next(generation, 0, &event, &error)); /* still */
    mlxrocm_generation_free(generation);
}

static void run(const mlxrocm_session *session, const mlxrocm_request *request, result *r) {
    mlxrocm_generation *generation = NULL;
    OK(mlxrocm_session_submit(session, request, &generation, &error));
    collect(generation, r);
}

static mlxrocm_request plain(const char *text, uint32_t max_tokens) {
    mlxrocm_request request = {0};
    request.struct_size = sizeof request;
    request.text = text;
    request.max_tokens = max_tokens;
    request.flags = MLXROCM_REQUEST_IGNORE_EOS;
    return request;
}

static int same(const result *a, const result *b) {
    return a->count == b->count && memcmp(a->tokens, b->tokens, a->count * sizeof *a->tokens) == 0 &&
           a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void limits_and_seeds(const mlxrocm_session *session) {
    static result a, b;
    mlxrocm_request request = plain("The hat", 12);
    run(session, &request, &a);
    CHECK(a.count == 12 && a.end.finish_reason == MLXROCM_FINISH_LENGTH);
    CHECK(a.end.generated_tokens == 12 && a.end.prompt_tokens > 0);
    CHECK(a.end.prompt_seconds >= 0 && a.end.decode_seconds >= 0);
    run(session, &request, &b);
    CHECK(same(&a, &b)); /* greedy */
    CHECK(b.end.cached_tokens <= b.end.prompt_tokens);

    request.temperature = 1.5f;
    request.seed = 42;
    run(session, &request, &a);
    run(session, &request, &b);
    CHECK(same(&a, &b)); /* same seed */
    request.seed = 43;
    run(session, &request, &b);
    CHECK(!same(&a, &b));
    request.top_k = 1; /* leaves nothing to chance */
    run(session, &request, &a);
    request = plain("The hat", 12);
    run(session, &request, &b);
    CHECK(same(&a, &b));
    request.top_k = 5;
    request.top_p = 0.9f;
    request.min_p = 0.01f;
    request.temperature = 0.8f;
    request.repetition_penalty = 1.1f;
    request.presence_penalty = 0.5f;
    request.frequency_penalty = 0.5f;
    request.penalty_window = 16;
    run(session, &request, &a);
    run(session, &request, &b);
    CHECK(a.count == 12 && same(&a, &b));
}

static void logprobs_and_bias(const mlxrocm_session *session, size_t vocabulary) {
    static result a, b;
    mlxrocm_request request = plain("The hat", 6);
    request.logprobs = 5;
    run(session, &request, &a);
    for (size_t i = 0; i < a.count; i++) CHECK(a.logprobs[i] < 0.0f && a.logprobs[i] > -20.0f);
    /* A bias that no logit outweighs decides every token. */
    const uint32_t token = 65;
    const float bias = 1000.0f;
    request.bias_tokens = &token;
    request.bias_values = &bias;
    request.bias_count = 1;
    run(session, &request, &b);
    for (size_t i = 0; i < b.count; i++) CHECK(b.tokens[i] == token);

    /* The logits of the prompt give the same first token and log-probability. */
    mlxrocm_generation *generation = NULL;
    const uint32_t prompt[] = {84, 72, 69, 32, 65};
    const size_t length = sizeof prompt / sizeof *prompt;
    request = plain(NULL, 1);
    request.tokens = prompt;
    request.token_count = length;
    request.logprobs = 1;
    OK(mlxrocm_session_submit(session, &request, &generation, &error));
    collect(generation, &a);
    CHECK(a.end.prompt_tokens == length && a.prompt_total == length);
    size_t needed = 0;
    OK(mlxrocm_session_logits(session, prompt, length, NULL, 0, &needed, &error));
    CHECK(needed == length * vocabulary);
    float *logits = malloc(needed * sizeof *logits);
    CHECK(logits);
    OK(mlxrocm_session_logits(session, prompt, length, logits, needed, &needed, &error));
    const float *last = logits + (length - 1) * vocabulary;
    size_t best = 0;
    double sum = 0;
    for (size_t i = 0; i < vocabulary; i++) {
        CHECK(isfinite(last[i]));
        if (last[i] > last[best]) best = i;
    }
    for (size_t i = 0; i < vocabulary; i++) sum += exp((double)last[i] - (double)last[best]);
    CHECK(best == a.tokens[0]);
    CHECK(fabs(-log(sum) - (double)a.logprobs[0]) < 1e-3);
    free(logits);
}

static void stops(const mlxrocm_session *session) {
    static result all, cut;
    mlxrocm_request request = plain("The hat", 24);
    run(session, &request, &all);
    /* A stop token: the generation ends with it. */
    size_t first = 1;
    while (first < all.count && all.tokens[first] == all.tokens[0]) first++;
    if (first < all.count) {
        request.stop_tokens = &all.tokens[first];
        request.stop_token_count = 1;
        run(session, &request, &cut);
        CHECK(cut.end.finish_reason == MLXROCM_FINISH_STOP_TOKEN);
        CHECK(cut.end.generated_tokens == first + 1);
    }
    /* A stop string: the text ends before it. */
    CHECK(all.length > 4);
    char needle[3] = {all.text[all.length / 2], 0, 0};
    if ((unsigned char)needle[0] < 128) {
        const char *stop[] = {"", "never to be found", needle}; /* an empty one ends nothing */
        request = plain("The hat", 24);
        request.stop = stop;
        request.stop_count = 3;
        run(session, &request, &cut);
        CHECK(cut.end.finish_reason == MLXROCM_FINISH_STOP_STRING);
        CHECK(cut.length == (size_t)(strchr(all.text, needle[0]) - all.text));
        CHECK(memcmp(cut.text, all.text, cut.length) == 0);
    }
}

static void context(const mlxrocm_session *session) {
    static result r;
    static uint32_t prompt[300];
    for (size_t i = 0; i < 300; i++) prompt[i] = (uint32_t)(65 + i % 26);
    mlxrocm_generation *generation = NULL;
    mlxrocm_request request = plain(NULL, 0); /* until the context is full */
    request.tokens = prompt;
    request.token_count = 250;
    run(session, &request, &r);
    CHECK(r.end.finish_reason == MLXROCM_FINISH_CONTEXT && r.count >= 5 && r.count <= 7);
    request.token_count = 300;
    EXPECT(MLXROCM_ERROR_CONTEXT_FULL, mlxrocm_session_submit(session, &request, &generation, &error));
    float logit;
    (void)logit;
    size_t needed;
    mlxrocm_error *error = NULL;
    float *logits = malloc(300 * 4096 * sizeof *logits);
    CHECK(logits);
    CHECK(mlxrocm_session_logits(session, prompt, 300, logits, 300 * 4096, &needed, &error) ==
          MLXROCM_ERROR_CONTEXT_FULL);
    mlxrocm_error_free(error);
    free(logits);
}

static void *cancel_later(void *generation) {
    for (int i = 0; i < 3; i++) OK(mlxrocm_generation_cancel(generation, &error));
    return NULL;
}

static void cancelling(const mlxrocm_session *session) {
    size_t tokens;
    mlxrocm_generation *generation = submit_text(session, "The hat", 200);
    OK(mlxrocm_generation_cancel(generation, &error));
    OK(mlxrocm_generation_cancel(generation, &error));
    CHECK(drain(generation, &tokens) == MLXROCM_FINISH_CANCELLED && tokens < 200);
    OK(mlxrocm_generation_cancel(generation, &error)); /* after the end */
    mlxrocm_generation_free(generation);

    /* From another thread, while this one waits. */
    generation = submit_text(session, "The hat", 200);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_later, generation) == 0);
    const uint32_t reason = drain(generation, &tokens);
    CHECK(reason == MLXROCM_FINISH_CANCELLED || reason == MLXROCM_FINISH_LENGTH);
    pthread_join(thread, NULL);
    mlxrocm_generation_free(generation);

    /* Freed while it runs; the session goes on. */
    mlxrocm_generation_free(submit_text(session, "The hat", 200));
    generation = submit_text(session, "The hat", 3);
    CHECK(drain(generation, &tokens) == MLXROCM_FINISH_LENGTH && tokens == 3);
    mlxrocm_generation_free(generation);
}

static void polling_and_batches(const mlxrocm_session *session) {
    static const char *prompts[] = {"The hat", "A", "is in the house of", "2019 or 1920"};
    static result alone[4];
    mlxrocm_generation *together[6];
    for (size_t i = 0; i < 4; i++) {
        mlxrocm_request request = plain(prompts[i], 10 + (uint32_t)i);
        run(session, &request, &alone[i]);
    }
    /* More than run at once: two of them wait for their turn. */
    for (size_t i = 0; i < 6; i++) together[i] = submit_text(session, prompts[i % 4], 10 + (uint32_t)i % 4);
    for (size_t i = 0; i < 6; i++) {
        static result r;
        collect(together[i], &r);
        CHECK(same(&r, &alone[i % 4]));
    }
    /* Looking without waiting: PENDING until something comes. */
    mlxrocm_generation *generation = submit_text(session, "The hat", 5);
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    size_t tokens = 0;
    for (;;) {
        mlxrocm_error *error = NULL;
        const mlxrocm_status status =
            mlxrocm_generation_next(generation, tokens % 2 ? 1000 : 0, &event, &error);
        CHECK(status >= 0 && !error);
        if (status == MLXROCM_END) break;
        if (status == MLXROCM_OK) tokens += event.kind == MLXROCM_EVENT_TOKEN;
    }
    CHECK(tokens == 5);
    mlxrocm_generation_free(generation);
}

/* Quantized KV caches take less memory, are named in errors, and give the same on every run. */
static void kv_types(const mlxrocm_model *model) {
    static const uint64_t types[] = {MLXROCM_KV_F16, MLXROCM_KV_Q8, MLXROCM_KV_Q4};
    mlxrocm_session_options options = {0};
    options.struct_size = sizeof options;
    options.context = 64;
    uint64_t bytes[3];
    for (size_t i = 0; i < 3; i++) {
        result first, second;
        options.kv_type = types[i];
        for (int again = 0; again < 2; again++) {
            mlxrocm_session *session = NULL;
            OK(mlxrocm_session_new(model, &options, &session, &error));
            mlxrocm_session_info info = {0};
            info.struct_size = sizeof info;
            OK(mlxrocm_session_get_info(session, &info, &error));
            CHECK(info.kv_tokens == 8 * 64);
            bytes[i] = info.kv_bytes;
            collect(submit_text(session, "The", 12), again ? &second : &first);
            mlxrocm_session_free(session);
        }
        CHECK(first.count == 12 && memcmp(first.tokens, second.tokens, sizeof first.tokens) == 0);
    }
    /* 32 numbers in 64, 34 and 20 bytes. */
    CHECK(bytes[0] > 0 && bytes[1] * 32 == bytes[0] * 17 && bytes[2] * 16 == bytes[0] * 5);
    mlxrocm_session *session = NULL;
    mlxrocm_error *error = NULL;
    options.kv_type = 3;
    CHECK(mlxrocm_session_new(model, &options, &session, &error) == MLXROCM_ERROR_INVALID_ARGUMENT);
    const char *message = mlxrocm_error_message(error, NULL);
    CHECK(strstr(message, "kv_type is 3") && strstr(message, "MLXROCM_KV_Q8 (1)"));
    mlxrocm_error_free(error);
    /* A program that was compiled before the field was there. */
    options.struct_size = offsetof(mlxrocm_session_options, kv_type);
    OK(mlxrocm_session_new(model, &options, &session, &error));
    mlxrocm_session_free(session);
}

static void chat(const mlxrocm_session *session) {
    static result r;
    const mlxrocm_message messages[] = {{.role = "system", .content = "Be brief."},
                                        {.role = "user", .content = "Hi"}};
    mlxrocm_request request = plain(NULL, 4);
    request.messages = messages;
    request.message_count = 2;
    run(session, &request, &r);
    CHECK(r.count == 4 && r.end.prompt_tokens > 10);
    /* The same in JSON. */
    static result same;
    request = plain(NULL, 4);
    request.chat_json = "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"},"
                        "{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"H\"},"
                        "{\"type\": \"text\", \"text\": \"i\"}]}]}";
    run(session, &request, &same);
    CHECK(same.count == r.count && same.end.prompt_tokens == r.end.prompt_tokens);
    CHECK(memcmp(same.tokens, r.tokens, r.count * sizeof r.tokens[0]) == 0);
    /* A program that was compiled before the field was there. */
    request = plain(NULL, 4);
    request.struct_size = offsetof(mlxrocm_request, chat_json);
    request.messages = messages;
    request.message_count = 2;
    run(session, &request, &same);
    CHECK(same.count == r.count);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    mlxrocm_model_info info = {0};
    info.struct_size = sizeof info;
    OK(mlxrocm_model_get_info(model, &info, &error));
    kv_types(model);
    mlxrocm_session *session = session_of(model);
    mlxrocm_model_free(model); /* the session keeps what it needs */
    limits_and_seeds(session);
    logprobs_and_bias(session, (size_t)info.vocab_size);
    stops(session);
    context(session);
    cancelling(session);
    polling_and_batches(session);
    chat(session);
    mlxrocm_session_free(session);
    return 0;
}
