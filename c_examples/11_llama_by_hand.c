/* 11: a llama written with arrays, operation by operation; its tokens are those of the model API. Weights,
 * sizes and names come from a GGUF file; the text goes to stdout.
 *   11_llama_by_hand MODEL.gguf PROMPT [TOKENS [DEVICE]]        DEVICE 1 and up: a GPU */
#include <math.h>
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
typedef mlxrocm_array array;
enum { MOST_TOKENS = 4096, MOST_LAYERS = 128, MOST_ARRAYS = 1 << 15 };
static array *result, *scope[MOST_ARRAYS];
static size_t in_scope;
static mlxrocm_error *error;
static mlxrocm_array_map *map;

static void check(mlxrocm_status status) {
    if (status == MLXROCM_OK) return;
    fprintf(stderr, "%s: %s\n", mlxrocm_status_name(status, NULL), mlxrocm_error_message(error, NULL));
    exit(1);
}

/* Results of operations are freed together, at the end of a step. */
static array *scoped(mlxrocm_status status) {
    check(in_scope < MOST_ARRAYS ? status : MLXROCM_ERROR_OUT_OF_MEMORY);
    return scope[in_scope++] = result;
}
#define OP(name, ...) scoped(mlxrocm_array_##name(__VA_ARGS__, &result, &error))
#define LIST(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

/* A number of the file's metadata. */
static double fact(const char *name) {
    char key[64];
    double value = 0;
    snprintf(key, sizeof key, "llama.%s", name);
    check(mlxrocm_array_item_f64(OP(map_metadata_array, map, key, MLXROCM_NUL), &value, &error));
    return value;
}

/* An array of the file, or NULL: of a layer, or, below 0, of the whole model. */
static array *part(int layer, const char *name, const char *end) {
    char full[96];
    if (layer < 0) snprintf(full, sizeof full, "%s.%s", name, end);
    else snprintf(full, sizeof full, "blk.%d.%s.%s", layer, name, end);
    const mlxrocm_status status = mlxrocm_array_map_get(map, full, MLXROCM_NUL, &result, NULL);
    return status == MLXROCM_OK ? scoped(status) : NULL;
}

/* Bits of a code: words of 32 bits against groups of 32 numbers, which share a scale. */
static int64_t bits(const array *w, const array *scales) {
    return (int64_t)(mlxrocm_array_size(w) / mlxrocm_array_size(scales));
}

/* x times a matrix [out, in]: quantized as MLX has it (codes, scales and biases), or numbers. */
static array *linear(const array *x, int layer, const char *name) {
    array *w = part(layer, name, "weight"), *scales = part(layer, name, "scales");
    if (!scales) return OP(matmul, x, OP(transpose, w, LIST(1, 0)));
    const array *biases = part(layer, name, "biases");
    return OP(quantized_matmul, x, w, scales, biases, 1, 32, bits(w, scales), "affine", MLXROCM_NUL);
}

static array *norm(const array *x, int layer, const char *name) {
    return OP(fast_rms_norm, x, part(layer, name, "weight"), fact("attention.layer_norm_rms_epsilon"));
}

/* Rows of the table of embeddings. */
static array *embed(const array *tokens) {
    array *w = part(-1, "token_embd", "weight"), *scales = part(-1, "token_embd", "scales");
    array *rows = OP(take, w, tokens, 0);
    if (scales)
        rows = OP(dequantize, rows, OP(take, scales, tokens, 0), OP(take, part(-1, "token_embd", "biases"), tokens, 0),
                  32, bits(w, scales), "affine", MLXROCM_NUL, NULL, -1);
    return OP(astype, rows, MLXROCM_DTYPE_FLOAT32);
}

/* Keys and values of all tokens so far, of each layer: [1, heads, tokens, size]. */
static array *keys[MOST_LAYERS], *values[MOST_LAYERS];
static array *append(array **cache, array *more) {
    array *all = *cache ? OP(concatenate, ((const array *[]){*cache, more}), 2, 2) : more;
    mlxrocm_array_free(*cache);
    check(mlxrocm_array_clone(all, cache, &error));
    return all;
}

/* The token behind these, the first of which is the `place`th. */
static int64_t next(const uint32_t *tokens, int64_t count, int32_t place, mlxrocm_device *device) {
    const int64_t heads = (int64_t)fact("attention.head_count"), kv_heads = (int64_t)fact("attention.head_count_kv");
    const int64_t width = (int64_t)fact("embedding_length"), size = width / heads;
    array *ids = OP(to_device, OP(from_data, tokens, LIST(count), MLXROCM_DTYPE_UINT32), device);
    array *at = OP(to_device, OP(from_data, &place, NULL, 0, MLXROCM_DTYPE_INT32), device);
    array *x = embed(ids);
    for (int i = 0; i < (int)fact("block_count"); i++) {
        array *h = norm(x, i, "attn_norm"), *qkv[3];
        const char *names[] = {"attn_q", "attn_k", "attn_v"};
        for (int j = 0; j < 3; j++) {
            qkv[j] = OP(reshape, linear(h, i, names[j]), LIST(1, count, j ? kv_heads : heads, size));
            qkv[j] = OP(transpose, qkv[j], LIST(0, 2, 1, 3));
            if (j < 2) qkv[j] = OP(fast_rope, qkv[j], size, 1, fact("rope.freq_base"), 1, at, NULL);
        }
        array *k = append(&keys[i], qkv[1]), *v = append(&values[i], qkv[2]);
        h = OP(fast_scaled_dot_product_attention, qkv[0], k, v, 1 / sqrt((double)size), 1, NULL, NULL);
        h = OP(reshape, OP(transpose, h, LIST(0, 2, 1, 3)), LIST(count, width));
        x = OP(add, x, linear(h, i, "attn_output"));
        h = norm(x, i, "ffn_norm");
        array *gate = linear(h, i, "ffn_gate");
        gate = OP(multiply, OP(multiply, gate, OP(sigmoid, gate)), linear(h, i, "ffn_up"));
        x = OP(add, x, linear(gate, i, "ffn_down"));
    }
    int64_t best = 0;
    x = norm(OP(slice, x, LIST(count - 1, 0), LIST(count, width), LIST(1, 1)), -1, "output_norm");
    x = linear(x, -1, part(-1, "output", "weight") ? "output" : "token_embd");
    check(mlxrocm_array_item_i64(OP(argmax, x, 1, 0), &best, &error));
    while (in_scope > 0) mlxrocm_array_free(scope[--in_scope]);
    return best;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: 11_llama_by_hand MODEL.gguf PROMPT [TOKENS [DEVICE]]\n"), 2;
    const int wanted = argc > 3 ? atoi(argv[3]) : 40;
    mlxrocm_model *model = NULL;
    mlxrocm_tokenizer *tokenizer = NULL; /* the model's */
    mlxrocm_device *device = NULL;
    check(mlxrocm_device_open(argc > 4 ? (size_t)atoi(argv[4]) : 0, &device, &error));
    check(mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &model, &error));
    check(mlxrocm_model_get_tokenizer(model, &tokenizer, &error));
    mlxrocm_model_free(model);
    check(mlxrocm_array_map_load(argv[1], MLXROCM_NUL, &map, &error));
    for (size_t i = 0; i < mlxrocm_array_map_count(map); i++) { /* the weights, to where they are computed with */
        const char *name = mlxrocm_array_map_name(map, i, NULL);
        check(mlxrocm_array_map_get(map, name, MLXROCM_NUL, &result, &error));
        check(mlxrocm_array_map_set(map, name, MLXROCM_NUL, OP(to_device, scoped(MLXROCM_OK), device), &error));
    }
    static char text[MOST_TOKENS * 16];
    static uint32_t tokens[MOST_TOKENS];
    size_t count = 0, room = 0;
    check(mlxrocm_tokenizer_encode(tokenizer, argv[2], MLXROCM_NUL, MLXROCM_ENCODE_ADD_SPECIAL, tokens, MOST_TOKENS,
                                   &count, &error));
    const size_t prompt = count;
    if (count == 0) return fprintf(stderr, "an empty prompt\n"), 2;
    for (size_t done = 0; count < MOST_TOKENS && count < prompt + (size_t)wanted; count++) {
        tokens[count] = (uint32_t)next(tokens + done, (int64_t)(count - done), (int32_t)done, device);
        done = count;
    }
    check(mlxrocm_tokenizer_decode(tokenizer, tokens + prompt, count - prompt, 0, text, sizeof text, &room, &error));
    puts(text);
    for (int i = 0; i < MOST_LAYERS; i++) mlxrocm_array_free(keys[i]), mlxrocm_array_free(values[i]);
    mlxrocm_array_map_free(map);
    mlxrocm_tokenizer_free(tokenizer);
    mlxrocm_device_free(device);
    return 0;
}
