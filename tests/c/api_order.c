/* Objects may be freed in any order, also parents before children, and children go on working.
 *
 *     api_order MODEL [STRIDE]        with a stride only each STRIDE-th order is tried */
#include "check.h"

enum { MODEL, TOKENIZER, TEMPLATE, SESSION, GENERATION, OBJECTS };

static mlxrocm_model *model;
static mlxrocm_tokenizer *tokenizer;
static mlxrocm_chat_template *chat;
static mlxrocm_session *session;
static mlxrocm_generation *generation;

static void make(const char *path) {
    model = load(path);
    OK(mlxrocm_model_get_tokenizer(model, &tokenizer, &error));
    OK(mlxrocm_model_get_chat_template(model, &chat, &error));
    session = session_of(model);
    generation = submit_text(session, "The hat", 6);
}

static void release(int object) {
    switch (object) {
    case MODEL: mlxrocm_model_free(model); break;
    case TOKENIZER: mlxrocm_tokenizer_free(tokenizer); break;
    case TEMPLATE: mlxrocm_chat_template_free(chat); break;
    case SESSION: mlxrocm_session_free(session); break;
    default: mlxrocm_generation_free(generation); break;
    }
}

/* What is not freed yet must work. */
static void use(const int *freed) {
    size_t needed = 0, tokens = 0;
    const mlxrocm_message message = {.role = "user", .content = "hi"};
    if (!freed[TOKENIZER]) {
        OK(mlxrocm_tokenizer_encode(tokenizer, "hat", 3, 0, NULL, 0, &needed, &error));
        CHECK(needed > 0);
    }
    if (!freed[TEMPLATE]) {
        OK(mlxrocm_chat_template_render(chat, &message, 1, 0, NULL, MLXROCM_NUL, NULL, 0, &needed, &error));
        CHECK(needed > 1);
    }
    if (!freed[GENERATION]) {
        mlxrocm_event event = {0};
        event.struct_size = sizeof event;
        mlxrocm_error *error = NULL;
        CHECK(mlxrocm_generation_next(generation, -1, &event, &error) >= 0);
    }
    if (!freed[SESSION]) {
        mlxrocm_generation *other = submit_text(session, "A", 2);
        CHECK(drain(other, &tokens) == MLXROCM_FINISH_LENGTH && tokens == 2);
        mlxrocm_generation_free(other);
    }
}

static int orders, stride = 1;

/* Every permutation from `count` on; frees in its order. */
static void permute(const char *path, int *order, int count) {
    if (count == OBJECTS) {
        int freed[OBJECTS] = {0};
        if (orders++ % stride != 0) return;
        make(path);
        for (int i = 0; i < OBJECTS; i++) {
            release(order[i]);
            freed[order[i]] = 1;
            /* Using what is left takes time: a part of the orders is enough. */
            if (orders % 5 == 0 || stride > 1) use(freed);
        }
        return;
    }
    for (int object = 0; object < OBJECTS; object++) {
        int taken = 0;
        for (int i = 0; i < count; i++) taken |= order[i] == object;
        if (taken) continue;
        order[count] = object;
        permute(path, order, count + 1);
    }
}

int main(int argc, char **argv) {
    int order[OBJECTS];
    CHECK(argc == 2 || argc == 3);
    if (argc == 3) stride = atoi(argv[2]);
    CHECK(stride > 0);
    permute(argv[1], order, 0);
    CHECK(orders == 120);
    return 0;
}
