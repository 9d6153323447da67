/* Logits of chosen positions, hidden states, embeddings. */
#include "check.h"

#include <math.h>

#define TOKENS 20

static uint32_t text[TOKENS];
static size_t vocabulary, width;

static float *numbers(size_t count) {
    float *all = malloc(count * sizeof *all);
    CHECK(all);
    return all;
}

static void chosen_logits(const mlxrocm_session *session) {
    float *all = numbers(TOKENS * vocabulary), *some = numbers(3 * vocabulary);
    size_t needed = 0;
    OK(mlxrocm_session_logits(session, text, TOKENS, all, TOKENS * vocabulary, &needed, &error));
    const uint32_t positions[] = {2, 3, 11};
    OK(mlxrocm_session_logits_at(session, text, TOKENS, positions, 3, NULL, 0, &needed, &error));
    CHECK(needed == 3 * vocabulary);
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_session_logits_at(session, text, TOKENS, positions, 3, some, needed - 1, &needed, &error));
    OK(mlxrocm_session_logits_at(session, text, TOKENS, positions, 3, some, needed, &needed, &error));
    for (size_t i = 0; i < 3; i++) /* the same to the bit on the CPU */
        CHECK(!memcmp(some + i * vocabulary, all + positions[i] * vocabulary, vocabulary * sizeof *all));
    OK(mlxrocm_session_logits_at(session, text, TOKENS, NULL, 0, some, vocabulary, &needed, &error));
    CHECK(needed == vocabulary);
    CHECK(!memcmp(some, all + (TOKENS - 1) * vocabulary, vocabulary * sizeof *all));

    const uint32_t falling[] = {3, 2}, outside[] = {TOKENS};
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "must rise",
                   mlxrocm_session_logits_at(session, text, TOKENS, falling, 2, some, 3 * vocabulary, &needed,
                                             &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "there are 20 tokens",
                   mlxrocm_session_logits_at(session, text, TOKENS, outside, 1, some, 3 * vocabulary, &needed,
                                             &error));
    INVALID(mlxrocm_session_logits_at(session, text, 0, NULL, 0, some, vocabulary, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_logits_at(session, NULL, 2, NULL, 0, some, vocabulary, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_logits_at(session, text, 2, NULL, 2, some, vocabulary, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_logits_at(NULL, text, 2, NULL, 0, some, vocabulary, &needed, &error));
    free(all);
    free(some);
}

static double distance(const float *a, const float *b) {
    double most = 0;
    for (size_t i = 0; i < width; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static void embeddings(const mlxrocm_session *session) {
    float *all = numbers(TOKENS * width), *one = numbers(width), *mean = numbers(width);
    size_t needed = 0;
    OK(mlxrocm_session_embed(session, text, TOKENS, NULL, NULL, 0, &needed, &error));
    CHECK(needed == TOKENS * width);
    OK(mlxrocm_session_embed(session, text, TOKENS, NULL, all, needed, &needed, &error));
    mlxrocm_embed_options options = {0};
    options.struct_size = sizeof options;
    options.pooling = MLXROCM_POOLING_LAST;
    OK(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    CHECK(needed == width && distance(one, all + (TOKENS - 1) * width) == 0);
    options.pooling = MLXROCM_POOLING_CLS;
    OK(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    CHECK(distance(one, all) == 0);
    options.pooling = MLXROCM_POOLING_MEAN;
    OK(mlxrocm_session_embed(session, text, TOKENS, &options, mean, width, &needed, &error));
    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (size_t t = 0; t < TOKENS; t++) sum += (double)all[t * width + i];
        CHECK(fabs(sum / TOKENS - (double)mean[i]) < 1e-5);
    }
    options.flags = MLXROCM_EMBED_NORMALIZE;
    OK(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    double squares = 0, length = 0;
    for (size_t i = 0; i < width; i++) {
        squares += (double)one[i] * (double)one[i];
        length += (double)mean[i] * (double)mean[i];
    }
    CHECK(fabs(squares - 1) < 1e-5 && length > 0);
    for (size_t i = 0; i < width; i++) CHECK(fabs((double)mean[i] / sqrt(length) - (double)one[i]) < 1e-5);

    const uint32_t position = 5;
    options.flags = 0;
    options.positions = &position;
    options.position_count = 1;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "without pooling",
                   mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    options.pooling = MLXROCM_POOLING_NONE;
    OK(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    CHECK(distance(one, all + position * width) == 0);
    options.pooling = 4;
    INVALID(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    options.pooling = 0;
    options.flags = 2;
    INVALID(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    options.flags = 0;
    options.positions = NULL;
    NULL_ARGUMENT(mlxrocm_session_embed(session, text, TOKENS, &options, one, width, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_embed(NULL, text, TOKENS, NULL, one, width, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_embed(session, NULL, TOKENS, NULL, one, width, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_embed(session, text, TOKENS, NULL, NULL, width, &needed, &error));
    static uint32_t longer[300];
    EXPECT(MLXROCM_ERROR_CONTEXT_FULL,
           mlxrocm_session_embed(session, longer, 300, &(mlxrocm_embed_options){
               .struct_size = sizeof options, .pooling = MLXROCM_POOLING_MEAN}, one, width, &needed, &error));
    free(all);
    free(one);
    free(mean);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    mlxrocm_model_info info = {0};
    info.struct_size = sizeof info;
    OK(mlxrocm_model_get_info(model, &info, &error));
    vocabulary = (size_t)info.vocab_size;
    width = (size_t)info.hidden_size;
    for (uint32_t i = 0; i < TOKENS; i++) text[i] = (i * 7 + 3) % (uint32_t)vocabulary;
    mlxrocm_session *session = session_of(model);
    chosen_logits(session);
    embeddings(session);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return 0;
}
