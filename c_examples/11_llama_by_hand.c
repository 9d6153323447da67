/* 11: a llama written with arrays, operation by operation; its tokens are those of the model API. Weights, sizes and
 * names come from a GGUF file; the text goes to stdout.
 *   11_llama_by_hand MODEL.gguf PROMPT [TOKENS [DEVICE]]        DEVICE 1 and up: a GPU
 * Every step builds its graph anew. Keys and values have room for the whole text from the beginning, and the place of
 * a token is an array: so the graph of a step is that of the step before, and a GPU replays it. */
#include <math.h>
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
typedef mlxrocm_array array;
enum { MOST_TOKENS = 4096, MOST_LAYERS = 128, MOST_ARRAYS = 1 << 15, PARTS = 9 };
enum { ATTN_NORM, Q, K, V, O, FFN_NORM, GATE, UP, DOWN };
static const char *names[PARTS] = {"attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"};
/* Numbers, or codes with scales and biases; a vector has w alone. */
typedef struct { array *w, *scales, *biases; } weights;
typedef struct { weights parts[PARTS]; array *keys, *values; } layer;
static struct { weights embed, norm, output; layer layers[MOST_LAYERS]; } model;
static int64_t layers, heads, kv_heads, width, size, room; /* of a head; of keys, in tokens */
static double rope_base, epsilon;
static array *result, *kept, *last, *columns, *scope[MOST_ARRAYS], **variables[MOST_ARRAYS]; /* columns: all places */
static size_t in_scope, variable_count;
static mlxrocm_error *error;
static mlxrocm_array_map *map;
static mlxrocm_device *device;

static void check(mlxrocm_status status) {
    if (status == MLXROCM_OK) return;
    fprintf(stderr, "%s: %s\n", mlxrocm_status_name(status, NULL), mlxrocm_error_message(error, NULL));
    exit(1);
}
/* Handles of a step's results are freed together before they are computed: what has none stays inside of kernels. */
static array *scoped(mlxrocm_status status) {
    check(in_scope < MOST_ARRAYS ? status : MLXROCM_ERROR_OUT_OF_MEMORY);
    return scope[in_scope++] = result;
}
static void end_scope(void) {
    while (in_scope > 0) mlxrocm_array_free(scope[--in_scope]);
}
#define OP(name, ...) scoped(mlxrocm_array_##name(__VA_ARGS__, &result, &error))
#define LIST(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define ON_DEVICE(x) OP(to_device, x, device)
/* In place of the array that a variable (of the whole program) held before. */
static void keep(array **variable, const array *x) {
    array *clone = NULL;
    check(mlxrocm_array_clone(x, &clone, &error));
    if (!*variable) variables[variable_count++] = variable;
    mlxrocm_array_free(*variable);
    *variable = clone;
}

/* A number of the file's metadata. */
static double fact(const char *name) {
    char key[64];
    double value = 0;
    snprintf(key, sizeof key, "llama.%s", name);
    check(mlxrocm_array_item_f64(OP(map_metadata_array, map, key, MLXROCM_NUL), &value, &error));
    return value;
}
/* Arrays of the file, moved to where they are computed with: of a layer, or, below 0, of the whole model. */
static void load(weights *to, int of, const char *name) {
    const char *ends[] = {"weight", "scales", "biases"};
    array **parts[] = {&to->w, &to->scales, &to->biases};
    for (int i = 0; i < 3; i++) {
        char full[96];
        if (of < 0) snprintf(full, sizeof full, "%s.%s", name, ends[i]);
        else snprintf(full, sizeof full, "blk.%d.%s.%s", of, name, ends[i]);
        if (mlxrocm_array_map_get(map, full, MLXROCM_NUL, &result, NULL) == MLXROCM_OK)
            keep(parts[i], ON_DEVICE(scoped(MLXROCM_OK)));
    }
}
static void load_all(const char *path) {
    check(mlxrocm_array_map_load(path, MLXROCM_NUL, &map, &error));
    layers = (int64_t)fmin(fact("block_count"), MOST_LAYERS), width = (int64_t)fact("embedding_length");
    heads = (int64_t)fact("attention.head_count"), kv_heads = (int64_t)fact("attention.head_count_kv");
    size = width / heads, rope_base = fact("rope.freq_base"), epsilon = fact("attention.layer_norm_rms_epsilon");
    load(&model.embed, -1, "token_embd"), load(&model.norm, -1, "output_norm"), load(&model.output, -1, "output");
    for (int i = 0; i < layers; i++) {
        layer *of = &model.layers[i];
        for (int j = 0; j < PARTS; j++) load(&of->parts[j], i, names[j]);
        keep(&of->keys, ON_DEVICE(OP(zeros, LIST(1, kv_heads, room, size), MLXROCM_DTYPE_FLOAT32)));
        keep(&of->values, ON_DEVICE(OP(zeros, LIST(1, kv_heads, room, size), MLXROCM_DTYPE_FLOAT32)));
    }
    keep(&columns, ON_DEVICE(OP(arange, 0, (double)room, 1, MLXROCM_DTYPE_INT64)));
    mlxrocm_array_map_free(map);
    end_scope();
}

/* Bits of a code: words of 32 bits against groups of 32 numbers, which share a scale. */
static int64_t bits(const weights *of) { return (int64_t)(mlxrocm_array_size(of->w) / mlxrocm_array_size(of->scales)); }
/* x times a matrix [out, in]: quantized as MLX has it (codes, scales and biases), or numbers. */
static array *linear(const array *x, const weights *of) {
    if (!of->scales) return OP(matmul, x, OP(transpose, of->w, LIST(1, 0)));
    return OP(quantized_matmul, x, of->w, of->scales, of->biases, 1, 32, bits(of), "affine", MLXROCM_NUL);
}
static array *norm(const array *x, const weights *of) { return OP(fast_rms_norm, x, of->w, epsilon); }
/* Rows of the table of embeddings. */
static array *embed(const array *tokens, const weights *of) {
    array *rows = OP(take, of->w, tokens, 0);
    if (of->scales)
        rows = OP(dequantize, rows, OP(take, of->scales, tokens, 0), OP(take, of->biases, tokens, 0), 32, bits(of),
                  "affine", MLXROCM_NUL, NULL, -1);
    return OP(astype, rows, MLXROCM_DTYPE_FLOAT32);
}
/* x [tokens, width] with what attention adds. Of keys and values [1, heads, room, size] those from place `at` on are new. */
static array *attend(array *x, layer *of, int64_t count, const array *at, const array *mask) {
    array *h = norm(x, &of->parts[ATTN_NORM]), *qkv[3];
    for (int j = 0; j < 3; j++) {
        qkv[j] = OP(reshape, linear(h, &of->parts[Q + j]), LIST(1, count, j ? kv_heads : heads, size));
        qkv[j] = OP(transpose, qkv[j], LIST(0, 2, 1, 3));
        if (j < 2) qkv[j] = OP(fast_rope, qkv[j], size, 1, rope_base, 1, at, NULL);
    }
    /* The old ones are held by nobody then: their memory is written into. */
    keep(&of->keys, OP(slice_update_dynamic, of->keys, qkv[1], at, LIST(2)));
    keep(&of->values, OP(slice_update_dynamic, of->values, qkv[2], at, LIST(2)));
    h = OP(fast_scaled_dot_product_attention, qkv[0], of->keys, of->values, 1 / sqrt((double)size), 0, mask, NULL);
    h = OP(reshape, OP(transpose, h, LIST(0, 2, 1, 3)), LIST(count, width));
    return OP(add, x, linear(h, &of->parts[O]));
}
/* Queues a step of tokens [count], the first of which is the `place`th; what comes behind them [1] goes to `kept`. */
static void step(const array *tokens, int64_t count, int64_t place) {
    array *at = ON_DEVICE(OP(from_data, &place, LIST(1), MLXROCM_DTYPE_INT64));
    array *rows = OP(add, at, OP(slice, columns, LIST(0), LIST(count), LIST(1)));
    array *mask = OP(less_equal, columns, OP(reshape, rows, LIST(1, 1, count, 1))), *x = embed(tokens, &model.embed);
    for (int i = 0; i < layers; i++) {
        const weights *parts = model.layers[i].parts;
        x = attend(x, &model.layers[i], count, at, mask);
        array *h = norm(x, &parts[FFN_NORM]), *gate = linear(h, &parts[GATE]);
        gate = OP(multiply, OP(multiply, gate, OP(sigmoid, gate)), linear(h, &parts[UP]));
        x = OP(add, x, linear(gate, &parts[DOWN]));
    }
    x = norm(OP(slice, x, LIST(count - 1, 0), LIST(count, width), LIST(1, 1)), &model.norm);
    keep(&kept, OP(argmax, linear(x, model.output.w ? &model.output : &model.embed), 1, 0));
    end_scope();
    check(mlxrocm_array_eval_async((const array *const *)&kept, 1, &error));
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: 11_llama_by_hand MODEL.gguf PROMPT [TOKENS [DEVICE]]\n"), 2;
    const int wanted = argc > 3 ? atoi(argv[3]) : 40;
    mlxrocm_model *loaded = NULL;
    mlxrocm_tokenizer *tokenizer = NULL; /* the model's */
    check(mlxrocm_device_open(argc > 4 ? (size_t)atoi(argv[4]) : 0, &device, &error));
    check(mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &loaded, &error));
    check(mlxrocm_model_get_tokenizer(loaded, &tokenizer, &error));
    mlxrocm_model_free(loaded);
    static char text[MOST_TOKENS * 16];
    static uint32_t tokens[MOST_TOKENS];
    size_t prompt = 0, text_room = 0;
    check(mlxrocm_tokenizer_encode(tokenizer, argv[2], MLXROCM_NUL, MLXROCM_ENCODE_ADD_SPECIAL, tokens, MOST_TOKENS, &prompt, &error));
    const size_t end = prompt + (size_t)(wanted > 0 ? wanted : 0);
    if (prompt == 0 || end > MOST_TOKENS) return fprintf(stderr, "an empty prompt, or too many tokens\n"), 2;
    room = (int64_t)(end + 255) / 256 * 256;
    load_all(argv[1]);
    step(ON_DEVICE(OP(from_data, tokens, LIST((int64_t)prompt), MLXROCM_DTYPE_UINT32)), (int64_t)prompt, 0);
    for (size_t count = prompt; count < end; count++) {
        int64_t token = 0;
        keep(&last, kept);
        if (count + 1 < end) step(last, 1, (int64_t)count); /* it is computed while its token is read */
        check(mlxrocm_array_item_i64(last, &token, &error));
        tokens[count] = (uint32_t)token;
    }
    check(mlxrocm_tokenizer_decode(tokenizer, tokens + prompt, end - prompt, 0, text, sizeof text, &text_room, &error));
    puts(text);
    while (variable_count > 0) mlxrocm_array_free(*variables[--variable_count]);
    mlxrocm_tokenizer_free(tokenizer);
    mlxrocm_device_free(device);
    return 0;
}
