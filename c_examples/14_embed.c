/* 14: how alike texts are: the cosine of their embeddings (the mean of the hidden states), each against the first.
 *
 *     14_embed MODEL TEXT TEXT...          (at most 16 texts) */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_TEXTS 16

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

/* The embedding of a text: `width` numbers of length 1, so that a product of two is their cosine. */
static int embed(mlxrocm_session *session, const mlxrocm_tokenizer *tokenizer, const char *text, float *embedding,
                 size_t width) {
    mlxrocm_error *error = NULL;
    size_t count = 0;
    if (mlxrocm_tokenizer_encode(tokenizer, text, MLXROCM_NUL, MLXROCM_ENCODE_ADD_SPECIAL, NULL, 0, &count,
                                 &error) != MLXROCM_OK)
        return fail("encode", error);
    uint32_t *tokens = malloc((count + 1) * sizeof *tokens);
    if (!tokens) return 1;
    const mlxrocm_embed_options options = {.struct_size = sizeof options,
                                           .pooling = MLXROCM_POOLING_MEAN,
                                           .flags = MLXROCM_EMBED_NORMALIZE};
    int result = 0;
    if (mlxrocm_tokenizer_encode(tokenizer, text, MLXROCM_NUL, MLXROCM_ENCODE_ADD_SPECIAL, tokens, count, &count,
                                 &error) != MLXROCM_OK ||
        mlxrocm_session_embed(session, tokens, count, &options, embedding, width, NULL, &error) != MLXROCM_OK)
        result = fail(text, error);
    free(tokens);
    return result;
}

static int run(const mlxrocm_model *model, mlxrocm_session *session, char **texts, size_t count) {
    mlxrocm_error *error = NULL;
    mlxrocm_model_info info = {.struct_size = sizeof info};
    mlxrocm_tokenizer *tokenizer = NULL;
    if (mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK) return fail("info", error);
    if (mlxrocm_model_get_tokenizer(model, &tokenizer, &error) != MLXROCM_OK) return fail("tokenizer", error);
    const size_t width = (size_t)info.hidden_size;
    float *first = malloc(2 * width * sizeof *first), *other = first ? first + width : NULL;
    int result = first ? embed(session, tokenizer, texts[0], first, width) : 1;
    for (size_t i = 1; i < count && result == 0; i++) {
        result = embed(session, tokenizer, texts[i], other, width);
        double cosine = 0;
        for (size_t k = 0; k < width; k++) cosine += (double)first[k] * (double)other[k];
        if (result == 0) printf("%.4f  %s\n", cosine, texts[i]);
    }
    free(first);
    mlxrocm_tokenizer_free(tokenizer);
    return result;
}

int main(int argc, char **argv) {
    if (argc < 4 || argc - 2 > MAX_TEXTS) {
        fprintf(stderr, "usage: 14_embed MODEL TEXT TEXT...   (at most %d texts)\n", MAX_TEXTS);
        return 2;
    }
    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &model, &error) != MLXROCM_OK) return fail("load", error);
    int result = 0;
    if (mlxrocm_session_new(model, NULL, &session, &error) != MLXROCM_OK)
        result = fail("session", error);
    else
        result = run(model, session, argv + 2, (size_t)argc - 2);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return result;
}
