/* 05: shows the tokens of a text, and the text of those tokens.
 *
 *     05_tokenize MODEL TEXT */
#include <ctype.h>
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

/* One line for each token: its id and its bytes, those that do not print as \xNN. */
static int print_token(const mlxrocm_tokenizer *tokenizer, uint32_t token) {
    mlxrocm_error *error = NULL;
    char bytes[256];
    size_t needed = 0;
    uint32_t special = 0;
    if (mlxrocm_tokenizer_token_bytes(tokenizer, token, bytes, sizeof bytes, &needed, &error) !=
            MLXROCM_OK ||
        mlxrocm_tokenizer_is_special(tokenizer, token, &special, &error) != MLXROCM_OK)
        return fail("token", error);
    printf("%8u  \"", token);
    for (size_t i = 0; i + 1 < needed; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        if (isprint(byte) && byte != '"' && byte != '\\') putchar(byte);
        else printf("\\x%02x", byte);
    }
    printf("\"%s\n", special ? "  special" : "");
    return 0;
}

/* Text to tokens: measures, allocates, fills. The caller frees the result. */
static uint32_t *encode(const mlxrocm_tokenizer *tokenizer, const char *text, size_t *count) {
    const uint32_t flags = MLXROCM_ENCODE_ADD_SPECIAL | MLXROCM_ENCODE_PARSE_SPECIAL;
    const size_t length = strlen(text);
    mlxrocm_error *error = NULL;
    if (mlxrocm_tokenizer_encode(tokenizer, text, length, flags, NULL, 0, count, &error) !=
        MLXROCM_OK) {
        fail("encode", error);
        return NULL;
    }
    uint32_t *tokens = malloc((*count + 1) * sizeof *tokens);
    if (tokens && *count > 0 &&
        mlxrocm_tokenizer_encode(tokenizer, text, length, flags, tokens, *count, count, &error) !=
            MLXROCM_OK) {
        fail("encode", error);
        free(tokens);
        return NULL;
    }
    return tokens;
}

/* Tokens to text. */
static int print_text(const mlxrocm_tokenizer *tokenizer, const uint32_t *tokens, size_t count) {
    mlxrocm_error *error = NULL;
    size_t needed = 0;
    if (mlxrocm_tokenizer_decode(tokenizer, tokens, count, 0, NULL, 0, &needed, &error) != MLXROCM_OK)
        return fail("decode", error);
    char *text = malloc(needed);
    if (!text) return 1;
    int result = 0;
    if (mlxrocm_tokenizer_decode(tokenizer, tokens, count, 0, text, needed, &needed, &error) ==
        MLXROCM_OK)
        printf("%zu tokens: %s\n", count, text);
    else
        result = fail("decode", error);
    free(text);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: 05_tokenize MODEL TEXT\n");
        return 2;
    }
    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_tokenizer *tokenizer = NULL;
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &model, &error) != MLXROCM_OK) return fail("load",
                                                                                                  error);
    const mlxrocm_status status = mlxrocm_model_get_tokenizer(model, &tokenizer, &error);
    mlxrocm_model_free(model); /* the tokenizer keeps what it needs */
    if (status != MLXROCM_OK) return fail("tokenizer", error);

    size_t count = 0;
    uint32_t *tokens = encode(tokenizer, argv[2], &count);
    int result = tokens ? 0 : 1;
    for (size_t i = 0; i < count && result == 0; i++) result = print_token(tokenizer, tokens[i]);
    if (result == 0) result = print_text(tokenizer, tokens, count);
    free(tokens);
    mlxrocm_tokenizer_free(tokenizer);
    return result;
}
