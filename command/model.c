/* Devices, models and sessions as the options say. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

static void log_line(uint32_t level, const char *message, size_t length, void *user_data) {
    (void)length, (void)user_data;
    progress_end();
    if (level <= MLXROCM_LOG_WARN) {
        warn("%s", message);
        return;
    }
    set_style(stderr, STYLE_DIM);
    fprintf(stderr, "%s", message);
    set_style(stderr, STYLE_PLAIN);
    fputc('\n', stderr);
}

void start_log(const struct settings *settings) {
    /* Who sets MLXROCM_LOG gets the library's own lines. */
    const char *own = getenv("MLXROCM_LOG");
    if (settings->quiet || (own != NULL && own[0] != '\0')) return;
    mlxrocm_log_set_callback(settings->verbose ? MLXROCM_LOG_INFO : MLXROCM_LOG_WARN, log_line, NULL, NULL, NULL);
}

const char *device_kind(uint32_t kind) {
    switch (kind) {
    case MLXROCM_DEVICE_CPU: return "CPU";
    case MLXROCM_DEVICE_HIP: return "AMD GPU";
    case MLXROCM_DEVICE_CUDA: return "NVIDIA GPU";
    default: return "device";
    }
}

bool open_device(const struct settings *settings, mlxrocm_device **device) {
    const char *name = settings->device;
    mlxrocm_error *error = NULL;
    size_t index = 0;
    if (name == NULL || strcmp(name, "auto") == 0) return true;
    if (strcmp(name, "cpu") != 0) {
        const size_t digits = strspn(name, "0123456789");
        if (digits == 0 || name[digits] != '\0') {
            fail("--device: '%s' is neither auto nor cpu nor a number; `mlxrocm devices` lists them", name);
            return false;
        }
        index = strtoul(name, NULL, 10);
    }
    if (mlxrocm_device_open(index, device, &error) == MLXROCM_OK) return true;
    fail_with(error);
    return false;
}

/* How far loading is; anything but 0 ends it. */
static int32_t on_progress(uint64_t done, uint64_t total, void *user_data) {
    const struct settings *settings = user_data;
    if (!settings->quiet) progress("loading", done, total);
    return interrupts() > 0;
}

bool load_model(const struct settings *settings, mlxrocm_device *device, const char *path, mlxrocm_model **model) {
    mlxrocm_error *error = NULL;
    const mlxrocm_model_options options = {.struct_size = sizeof options,
                                           .threads = (uint32_t)settings->threads,
                                           .progress = on_progress,
                                           .user_data = (void *)(uintptr_t)settings,
                                           .device = device,
                                           .gpu_weight_bytes = settings->gpu_weights << 20};
    const mlxrocm_status status = mlxrocm_model_load(path, MLXROCM_NUL, &options, model, &error);
    progress_end();
    if (status != MLXROCM_OK) fail_with(error);
    return status == MLXROCM_OK;
}

bool new_session(const struct settings *settings, const mlxrocm_model *model, mlxrocm_session_options options,
                 mlxrocm_session **session) {
    mlxrocm_error *error = NULL;
    options.struct_size = sizeof options;
    if (settings->context != 0) options.context = (uint32_t)settings->context;
    if (settings->kv != NULL && strcmp(settings->kv, "q8") == 0) options.kv_type = MLXROCM_KV_Q8;
    if (settings->kv != NULL && strcmp(settings->kv, "q4") == 0) options.kv_type = MLXROCM_KV_Q4;
    if (mlxrocm_session_new(model, &options, session, &error) == MLXROCM_OK) return true;
    fail_with(error);
    return false;
}

bool open_model(const struct settings *settings, const char *path, mlxrocm_model **model, mlxrocm_session **session) {
    mlxrocm_device *device = NULL;
    mlxrocm_model *draft = NULL;
    mlxrocm_session_options options = {.max_requests = 1, .prompt_lookup = settings->prompt_lookup};
    struct settings whole = *settings; /* of a draft model all lies on the GPU */
    whole.gpu_weights = 0;
    bool done = open_device(settings, &device) && load_model(settings, device, path, model) &&
                (settings->draft_model == NULL || load_model(&whole, device, settings->draft_model, &draft));
    options.draft_model = draft;
    done = done && new_session(settings, *model, options, session);
    /* The models keep the device, and the session the draft model. */
    mlxrocm_model_free(draft);
    mlxrocm_device_free(device);
    return done;
}

int has_chat_template(const mlxrocm_model *model) {
    mlxrocm_error *error = NULL;
    mlxrocm_chat_template *chat_template = NULL;
    const mlxrocm_status status = mlxrocm_model_get_chat_template(model, &chat_template, &error);
    mlxrocm_chat_template_free(chat_template);
    if (status == MLXROCM_ERROR_UNSUPPORTED) {
        mlxrocm_error_free(error);
        return 0;
    }
    if (status == MLXROCM_OK) return 1;
    fail_with(error);
    return -1;
}

uint32_t *encode(const mlxrocm_model *model, const char *bytes, size_t length, uint32_t flags, size_t *count) {
    mlxrocm_error *error = NULL;
    mlxrocm_tokenizer *tokenizer = NULL;
    uint32_t *tokens = NULL;
    if (mlxrocm_model_get_tokenizer(model, &tokenizer, &error) == MLXROCM_OK &&
        mlxrocm_tokenizer_encode(tokenizer, bytes, length, flags, NULL, 0, count, &error) == MLXROCM_OK) {
        tokens = must_allocate(NULL, *count, sizeof *tokens);
        if (*count > 0)
            mlxrocm_tokenizer_encode(tokenizer, bytes, length, flags, tokens, *count, count, &error);
    }
    mlxrocm_tokenizer_free(tokenizer);
    if (error != NULL) {
        fail_with(error);
        free(tokens);
        return NULL;
    }
    return tokens;
}
