/* Measures how fast a model is read and how fast it answers.
 *
 *     bench [--long|--deep] [--kv TYPE] MODEL [device]   a GGUF file or a model folder
 *     bench [--long|--deep] [--kv TYPE] --shape NAME FOLDER [device]
 *                    random 4-bit weights of a real model's shape, which the program writes into FOLDER first
 *
 * `device`: as in mlxrocm_device_open, 0 is the CPU; default: the best GPU, else the CPU. Shapes: tiny, tiny-experts,
 * tiny-delta, tiny-oss, smollm-experts, qwen3-0.6b, qwen3-8b, qwen3-30b-a3b, qwen3.5-0.8b, qwen3.5-4b, qwen3.5-27b, qwen3.5-35b-a3b,
 * gpt-oss-20b, gpt-oss-120b (experts in mxfp4, the rest in 8 bits). Prints the median of three runs: tokens per
 * second of a prompt of 512 tokens and of 128 tokens after a prompt of one, the bytes of weights that such a token
 * reads (of experts all), and what share of the memory bandwidth that is; of the bandwidth of a copy on the GPU,
 * bytes read and written, in the same run. --long: also a prompt of 4,096 tokens, 128 tokens after 8,192, and 8 and
 * 32 requests of 128 tokens at once; --deep: and 128 tokens after 32,768. --kv: f16 (default), q8 or q4. */
#define _POSIX_C_SOURCE 200809L
#include <mlxrocm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct {
    const char *name;
    unsigned layers, hidden, ffn, heads, kv_heads, head_dim, vocab;
    int tied;
    unsigned experts, chosen;        /* of a mixture, whose width is ffn; with a shared expert beside delta nets */
    unsigned key_heads, value_heads; /* of gated delta nets of 128 columns, in all blocks but every fourth */
    int oss;                         /* gpt-oss: sinks, biases, experts in mxfp4, the rest in 8 bits */
} shape;

enum { DELTA_DIM = 128, TAPS = 4, INTERVAL = 4 };

static const shape shapes[] = {
    {"tiny", 2, 256, 512, 4, 2, 64, 320, 1, 0, 0, 0, 0, 0},
    {"tiny-experts", 2, 256, 192, 4, 2, 64, 320, 1, 16, 4, 0, 0, 0},
    {"tiny-delta", 4, 256, 192, 4, 2, 64, 320, 1, 16, 4, 2, 4, 0},
    {"tiny-oss", 2, 256, 192, 4, 2, 64, 320, 0, 16, 4, 0, 0, 1},
    {"smollm-experts", 30, 576, 1536, 9, 3, 64, 49152, 1, 8, 2, 0, 0, 0},
    {"qwen3-0.6b", 28, 1024, 3072, 16, 8, 128, 151936, 1, 0, 0, 0, 0, 0},
    {"qwen3-8b", 36, 4096, 12288, 32, 8, 128, 151936, 0, 0, 0, 0, 0, 0},
    {"qwen3-30b-a3b", 48, 2048, 768, 32, 4, 128, 151936, 0, 128, 8, 0, 0, 0},
    {"qwen3.5-0.8b", 24, 1024, 3584, 8, 2, 256, 248320, 1, 0, 0, 16, 16, 0},
    {"qwen3.5-4b", 32, 2560, 9216, 16, 4, 256, 248320, 1, 0, 0, 16, 32, 0},
    {"qwen3.5-27b", 64, 5120, 17408, 24, 4, 256, 248320, 0, 0, 0, 16, 48, 0},
    {"qwen3.5-35b-a3b", 40, 2048, 512, 16, 2, 256, 248320, 0, 256, 8, 16, 32, 0},
    {"gpt-oss-20b", 24, 2880, 2880, 64, 8, 64, 201088, 0, 32, 4, 0, 0, 1},
    {"gpt-oss-120b", 36, 2880, 2880, 64, 8, 64, 201088, 0, 128, 4, 0, 0, 1},
};

/* Tensors of a safetensors file: the header is written in a first pass, the data in a second. */
typedef struct {
    FILE *file;
    int data;
    uint64_t offset;
    const unsigned char *noise; /* NOISE bytes, used again and again */
} writer;

enum { NOISE = 1 << 24 };

/* `stack`: that many of them in one tensor, 0 for one without such a dimension. */
static void emit(writer *w, const char *name, const char *dtype, unsigned stack, unsigned rows, unsigned cols,
                 unsigned size, int fill) {
    uint64_t bytes = (uint64_t)(stack ? stack : 1) * rows * (cols ? cols : 1) * size;
    if (!w->data) {
        fprintf(w->file, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", w->offset ? "," : "", name, dtype);
        if (stack) fprintf(w->file, "%u,", stack);
        fprintf(w->file, "%u", rows);
        if (cols) fprintf(w->file, ",%u", cols);
        fprintf(w->file, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)w->offset,
                (unsigned long long)(w->offset + bytes));
    } else if (fill < 0) {
        /* Another part of the noise for each tensor, so that no two are alike. */
        uint64_t at = w->offset * 2654435761u % NOISE / 4 * 4, left = bytes;
        while (left > 0) {
            uint64_t now = left < NOISE - at ? left : NOISE - at;
            fwrite(w->noise + at, 1, now, w->file);
            left -= now;
            at = 0;
        }
    } else {
        /* bf16 that differ a little: norms 1, scales 0.004, biases -0.03, scales of 8 bits 0.0002; mxfp4's exponents. */
        static const uint16_t base[] = {0x3f80, 0x3b80, 0xbcf0, 0x3980, 0x7575};
        uint16_t numbers[4096];
        uint64_t left = bytes / 2;
        for (unsigned i = 0; i < 4096; i++) numbers[i] = (uint16_t)(base[fill] + w->noise[i] % (fill % 4 ? 16 : 1));
        while (left > 0) {
            uint64_t now = left < 4096 ? left : 4096;
            fwrite(numbers, 2, now, w->file);
            left -= now;
        }
    }
    w->offset += bytes;
}

static void matrices(writer *w, const shape *s, const char *name, unsigned stack, unsigned rows, unsigned cols) {
    const int is_mxfp4 = s->oss && stack;
    char full[128];
    snprintf(full, sizeof full, "%s.weight", name);
    emit(w, full, "U32", stack, rows, cols / (s->oss && !stack ? 4 : 8), 4, -1);
    snprintf(full, sizeof full, "%s.scales", name);
    if (is_mxfp4) emit(w, full, "U8", stack, rows, cols / 32, 1, 4);
    else emit(w, full, "BF16", stack, rows, cols / 64, 2, s->oss ? 3 : 1);
    snprintf(full, sizeof full, "%s.biases", name);
    if (!is_mxfp4) emit(w, full, "BF16", stack, rows, cols / 64, 2, 2);
}

static int is_delta(const shape *s, unsigned layer) { return s->key_heads && (layer + 1) % INTERVAL != 0; }

static void vector(writer *w, unsigned layer, const char *name, unsigned count) {
    char full[128];
    snprintf(full, sizeof full, "model.layers.%u.%s", layer, name);
    if (count) emit(w, full, "BF16", 0, count, 0, 2, 0);
}

/* One of `parts` is a stack of matrices in a group of a block. */
typedef struct { const char *group, *name; unsigned stack, rows, cols; } part;

static void block(writer *w, const shape *s, unsigned layer, const part *parts, size_t count) {
    char name[128], bias[160];
    for (const part *p = parts; p < parts + count; p++) {
        if (!p->rows) continue;
        snprintf(name, sizeof name, "model.layers.%u.%s.%s", layer, p->group, p->name);
        matrices(w, s, name, p->stack, p->rows, p->cols);
        snprintf(bias, sizeof bias, "%s.bias", name);
        if (s->oss) emit(w, bias, "BF16", p->stack, p->rows, 0, 2, 2);
    }
}

static void tensors(writer *w, const shape *s) {
    char name[128];
    /* Attention beside delta nets has a gate for each query. */
    const unsigned queries = (s->key_heads ? 2 : 1) * s->heads * s->head_dim, width = s->heads * s->head_dim;
    const unsigned keys = s->key_heads * DELTA_DIM, values = s->value_heads * DELTA_DIM;
    const unsigned shared = s->experts && s->key_heads ? s->ffn : 0;
    const char *mlp = s->oss ? "mlp.experts" : s->experts ? "mlp.switch_mlp" : "mlp";
    const part attention[] = {
        {"self_attn", "q_proj", 0, queries, s->hidden},
        {"self_attn", "k_proj", 0, s->kv_heads * s->head_dim, s->hidden},
        {"self_attn", "v_proj", 0, s->kv_heads * s->head_dim, s->hidden},
        {"self_attn", "o_proj", 0, s->hidden, width},
    };
    const part delta[] = {
        {"linear_attn", "in_proj_qkv", 0, 2 * keys + values, s->hidden},
        {"linear_attn", "in_proj_z", 0, values, s->hidden},
        {"linear_attn", "in_proj_b", 0, s->value_heads, s->hidden},
        {"linear_attn", "in_proj_a", 0, s->value_heads, s->hidden},
        {"linear_attn", "out_proj", 0, s->hidden, values},
    };
    const part rest[] = {
        {mlp, "gate_proj", s->experts, s->ffn, s->hidden},
        {mlp, "up_proj", s->experts, s->ffn, s->hidden},
        {mlp, "down_proj", s->experts, s->hidden, s->ffn},
        {"mlp", s->oss ? "router" : "gate", 0, s->experts, s->hidden},
        {"mlp", "shared_expert_gate", 0, shared ? 1 : 0, s->hidden},
        {"mlp", "shared_expert.gate_proj", 0, shared, s->hidden},
        {"mlp", "shared_expert.up_proj", 0, shared, s->hidden},
        {"mlp", "shared_expert.down_proj", 0, shared ? s->hidden : 0, shared},
    };
    matrices(w, s, "model.embed_tokens", 0, s->vocab, s->hidden);
    for (unsigned i = 0; i < s->layers; i++) {
        if (is_delta(s, i)) {
            block(w, s, i, delta, sizeof delta / sizeof *delta);
            snprintf(name, sizeof name, "model.layers.%u.linear_attn.conv1d.weight", i);
            emit(w, name, "BF16", 2 * keys + values, TAPS, 1, 2, 0);
            vector(w, i, "linear_attn.A_log", s->value_heads);
            vector(w, i, "linear_attn.dt_bias", s->value_heads);
            vector(w, i, "linear_attn.norm.weight", DELTA_DIM);
        } else {
            block(w, s, i, attention, sizeof attention / sizeof *attention);
            vector(w, i, "self_attn.q_norm.weight", s->oss ? 0 : s->head_dim);
            vector(w, i, "self_attn.k_norm.weight", s->oss ? 0 : s->head_dim);
            vector(w, i, "self_attn.sinks", s->oss ? s->heads : 0);
        }
        block(w, s, i, rest, sizeof rest / sizeof *rest);
        vector(w, i, "input_layernorm.weight", s->hidden);
        vector(w, i, "post_attention_layernorm.weight", s->hidden);
    }
    emit(w, "model.norm.weight", "BF16", 0, s->hidden, 0, 2, 0);
    if (!s->tied) matrices(w, s, "lm_head", 0, s->vocab, s->hidden);
}

static FILE *open_in(const char *folder, const char *name, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    if (file == NULL && *mode == 'w') perror(path);
    return file;
}

/* Writes an MLX model folder. */
static int write_model(const shape *s, const char *folder) {
    FILE *file = open_in(folder, "config.json", "r");
    if (file != NULL) return fclose(file), 0;
    mkdir(folder, 0777);
    unsigned char *noise = malloc(NOISE);
    if (noise == NULL) return 1;
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < NOISE; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        noise[i] = (unsigned char)(state >> 24);
    }
    if ((file = open_in(folder, "model.safetensors", "wb")) == NULL) return free(noise), 1;
    writer w = {.file = file, .noise = noise};
    unsigned char length[8] = {0};
    fwrite(length, 1, 8, file);
    fputc('{', file);
    tensors(&w, s);
    fputc('}', file);
    while (ftell(file) % 8 != 0) fputc(' ', file);
    uint64_t header = (uint64_t)ftell(file) - 8;
    w.data = 1, w.offset = 0;
    tensors(&w, s);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(header >> 8 * i);
    fseek(file, 0, SEEK_SET);
    fwrite(length, 1, 8, file);
    free(noise);
    if (fclose(file) != 0) return perror(folder), 1;
    if ((file = open_in(folder, "tokenizer.json", "w")) == NULL) return 1;
    fputs("{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
          "\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\","
          "\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"vocab\":{",
          file);
    for (unsigned i = 0; i < s->vocab; i++) fprintf(file, "%s\"t%u\":%u", i ? "," : "", i, i);
    fputs("},\"merges\":[]}}", file);
    fclose(file);
    if ((file = open_in(folder, "config.json", "w")) == NULL) return 1;
    static const char *const types[][2] = {{"qwen3", "qwen3_moe"}, {"qwen3_5_text", "qwen3_5_moe_text"}};
    const char *type = s->oss ? "gpt_oss" : types[s->key_heads > 0][s->experts > 0];
    fprintf(file,
            "{\"model_type\":\"%s\",\"hidden_size\":%u,\"intermediate_size\":%u,\"num_hidden_layers\":%u,"
            "\"num_attention_heads\":%u,\"num_key_value_heads\":%u,\"head_dim\":%u,\"vocab_size\":%u,"
            "\"rms_norm_eps\":1e-6,\"rope_theta\":1000000.0,\"max_position_embeddings\":40960,"
            "\"tie_word_embeddings\":%s,\"quantization\":{\"group_size\":64,\"bits\":%d",
            type, s->hidden, s->ffn, s->layers, s->heads, s->kv_heads, s->head_dim, s->vocab,
            s->tied ? "true" : "false", s->oss ? 8 : 4);
    for (unsigned i = 0; s->oss && i < 3 * s->layers; i++)
        fprintf(file, ",\"model.layers.%u.mlp.experts.%s_proj\":{\"group_size\":32,\"bits\":4,\"mode\":\"mxfp4\"}", i / 3,
                i % 3 == 0 ? "gate" : i % 3 == 1 ? "up" : "down");
    fputc('}', file);
    if (s->oss)
        fprintf(file,
                ",\"num_local_experts\":%u,\"num_experts_per_tok\":%u,\"sliding_window\":128,\"rope_scaling\":{"
                "\"rope_type\":\"yarn\",\"factor\":32.0,\"truncate\":false,\"original_max_position_embeddings\":4096}",
                s->experts, s->chosen);
    else if (s->experts)
        fprintf(file,
                ",\"num_experts\":%u,\"num_experts_per_tok\":%u,\"moe_intermediate_size\":%u,\"norm_topk_prob\":true,"
                "\"decoder_sparse_step\":1,\"mlp_only_layers\":[]",
                s->experts, s->chosen, s->ffn);
    if (s->key_heads)
        fprintf(file,
                ",\"full_attention_interval\":%d,\"linear_num_key_heads\":%u,\"linear_num_value_heads\":%u,"
                "\"linear_key_head_dim\":%d,\"linear_value_head_dim\":%d,\"linear_conv_kernel_dim\":%d,"
                "\"partial_rotary_factor\":0.25",
                INTERVAL, s->key_heads, s->value_heads, DELTA_DIM, DELTA_DIM, TAPS);
    if (s->key_heads && s->experts) fprintf(file, ",\"shared_expert_intermediate_size\":%u", s->ffn);
    fputc('}', file);
    return fclose(file) != 0;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int fail(mlxrocm_error *error) {
    fprintf(stderr, "%s\n", mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

enum { MOST_PROMPT = 32768, MOST_REQUESTS = 32 };

/* Runs requests at once; `end` is the last one's end. Gives the seconds from the first token to the last,
 * negative after an error. */
static double run(mlxrocm_session *session, size_t requests, size_t prompt, uint32_t count, mlxrocm_event *end) {
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generations[MOST_REQUESTS] = {NULL};
    static uint32_t seed = 1, tokens[MOST_PROMPT];
    double seconds = 0;
    for (size_t k = 0; k < requests && seconds >= 0; k++) {
        /* Other tokens every time: nothing is in the cache. */
        for (size_t i = 0; i < prompt; i++) tokens[i] = (seed = seed * 1664525u + 1013904223u) >> 8 & 0xff;
        mlxrocm_request request = {.struct_size = sizeof request,
                                   .flags = MLXROCM_REQUEST_IGNORE_EOS,
                                   .tokens = tokens,
                                   .token_count = prompt,
                                   .max_tokens = count};
        if (mlxrocm_session_submit(session, &request, &generations[k], &error) != MLXROCM_OK)
            seconds = -1, fail(error);
    }
    for (size_t k = 0; k < requests && seconds >= 0; k++) {
        *end = (mlxrocm_event){.struct_size = sizeof *end};
        mlxrocm_status status;
        while ((status = mlxrocm_generation_next(generations[k], -1, end, &error)) == MLXROCM_OK)
            if (end->kind == MLXROCM_EVENT_FINISHED) break;
        if (status != MLXROCM_OK) seconds = -1, fail(error);
        else if (end->finish_reason == MLXROCM_FINISH_ERROR) seconds = -1, fprintf(stderr, "%s\n", end->error_message);
        else if (end->decode_seconds > seconds) seconds = end->decode_seconds;
    }
    for (size_t k = 0; k < requests; k++) mlxrocm_generation_free(generations[k]);
    return seconds;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of three runs after a first one that warms up, in tokens per second: of the prompt if
 * `count` is 1, else of what was generated. Negative after an error. */
static double median(mlxrocm_session *session, size_t requests, size_t prompt, uint32_t count) {
    double speeds[4];
    mlxrocm_event end;
    for (int i = 0; i < 4; i++) {
        double seconds = run(session, requests, prompt, count, &end);
        if (seconds < 0) return -1;
        speeds[i] = count == 1 ? (double)end.prompt_tokens / end.prompt_seconds
                               : (double)requests * (count - 1) / seconds;
    }
    qsort(speeds + 1, 3, sizeof *speeds, by_value);
    return speeds[2];
}

/* Bytes a second that copies on a GPU read and write: the best of five. 0 if it is no GPU. */
static double copy_speed(size_t index) {
    enum { SIZE = 1 << 29, TIMES = 8 };
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    mlxrocm_stream *stream = NULL;
    mlxrocm_buffer *from = NULL, *to = NULL;
    double best = 0;
    if (index == 0 || mlxrocm_device_open(index, &device, NULL) != MLXROCM_OK) return 0;
    if (mlxrocm_stream_new(device, &stream, &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(device, MLXROCM_BUFFER_DEVICE, SIZE, &from, &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(device, MLXROCM_BUFFER_DEVICE, SIZE, &to, &error) != MLXROCM_OK ||
        mlxrocm_stream_fill(stream, from, 0, SIZE, 1, &error) != MLXROCM_OK ||
        mlxrocm_stream_wait(stream, -1, &error) != MLXROCM_OK)
        fail(error);
    for (int i = 0; i < 5 && error == NULL; i++) {
        double begin = now();
        for (int k = 0; k < TIMES && error == NULL; k++)
            if (mlxrocm_stream_copy(stream, to, 0, from, 0, SIZE, &error) != MLXROCM_OK) fail(error);
        if (error == NULL && mlxrocm_stream_wait(stream, -1, &error) != MLXROCM_OK) fail(error);
        double speed = 2.0 * SIZE * TIMES / (now() - begin);
        if (speed > best) best = speed;
    }
    mlxrocm_buffer_free(to);
    mlxrocm_buffer_free(from);
    mlxrocm_stream_free(stream);
    mlxrocm_device_free(device);
    return best;
}

int main(int argc, char **argv) {
    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    int is_deep = argc > 1 && strcmp(argv[1], "--deep") == 0;
    int is_long = is_deep || (argc > 1 && strcmp(argv[1], "--long") == 0);
    argv += is_long, argc -= is_long;
    uint64_t kv_type = MLXROCM_KV_F16;
    if (argc > 2 && strcmp(argv[1], "--kv") == 0) {
        static const char *const types[] = {"f16", "q8", "q4"};
        while (kv_type < 3 && strcmp(types[kv_type], argv[2]) != 0) kv_type++;
        argv += 2, argc -= 2;
    }
    const shape *found = NULL;
    if (argc > 3 && strcmp(argv[1], "--shape") == 0) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            if (strcmp(shapes[i].name, argv[2]) == 0) found = &shapes[i];
        if (found == NULL) return fprintf(stderr, "no shape %s\n", argv[2]), 2;
        if (write_model(found, argv[3]) != 0) return 1;
        argv += 2, argc -= 2;
    }
    if (argc < 2 || argc > 3) return fprintf(stderr, "usage: bench [--long|--deep] [--kv TYPE] [--shape NAME] MODEL [device]\n"), 2;
    mlxrocm_device *device = NULL;
    const size_t index = argc == 3 ? (size_t)strtoull(argv[2], NULL, 10) : 1;
    if (argc == 3 && mlxrocm_device_open(index, &device, &error) != MLXROCM_OK) return fail(error);
    mlxrocm_model_options options = {.struct_size = sizeof options, .device = device};
    double begin = now();
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, &options, &model, &error) != MLXROCM_OK) return fail(error);
    mlxrocm_session_options session_options = {.struct_size = sizeof session_options,
                                               .context = is_deep ? 33024 : is_long ? 8448 : 1024,
                                               .max_requests = MOST_REQUESTS,
                                               .kv_tokens = is_deep ? 33024 : is_long ? 16384 : 8192,
                                               .kv_type = kv_type};
    if (mlxrocm_session_new(model, &session_options, &session, &error) != MLXROCM_OK) return fail(error);
    mlxrocm_model_info info = {.struct_size = sizeof info};
    if (mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK) return fail(error);
    mlxrocm_event end;
    if (run(session, 1, 1, 1, &end) < 0) return 1;
    printf("%s: loaded in %.2f s (%.2f GB/s), first token after %.2f s; ", info.name, info.load_seconds,
           (double)info.weight_bytes / 1e9 / info.load_seconds, now() - begin);
    double prefill = median(session, 1, 512, 1), decode = median(session, 1, 1, 128);
    if (prefill < 0 || decode < 0) return 1;
    /* All weights but the embedding table, which gives a row, unless it is the head too. */
    double bytes = (double)info.weight_bytes;
    if (found != NULL && !found->tied) bytes -= (double)found->vocab * found->hidden * (0.5 + 4.0 / 64);
    printf("prefill 512: %.0f tokens/s; decode 128: %.1f tokens/s, %.0f GB/s of %.3f GB a token", prefill, decode,
           decode * bytes / 1e9, bytes / 1e9);
    double copies = copy_speed(index);
    if (copies > 0) printf(", %.0f %% of a copy's %.0f GB/s", decode * bytes / copies * 100, copies / 1e9);
    printf("\n");
    if (is_long) {
        double prefill_long = median(session, 1, 4096, 1), deep = median(session, 1, 8192, 128);
        double eight = median(session, 8, 1, 128), many = median(session, 32, 1, 128);
        if (prefill_long < 0 || deep < 0 || eight < 0 || many < 0) return 1;
        printf("prefill 4096: %.0f tokens/s; decode 128 at 8192: %.1f tokens/s; of 8 requests: %.1f; of 32: %.1f\n",
               prefill_long, deep, eight, many);
        if (is_deep && (deep = median(session, 1, MOST_PROMPT, 128)) < 0) return 1;
        if (is_deep) printf("decode 128 at %d: %.1f tokens/s\n", MOST_PROMPT, deep);
    }
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    mlxrocm_device_free(device);
    return 0;
}
