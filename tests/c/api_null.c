/* NULL, freed handles, handles of another type and values out of range: each is an error with a
 * message, for every parameter of every function, and outputs stay as they are. */
#include "check.h"

static const char *model_path;

/* Outputs that must stay untouched point here. */
static char mark;
#define UNTOUCHED ((void *)&mark)

static void without_model(void) {
    size_t count = 7;
    mlxrocm_device *device = UNTOUCHED, *cpu = NULL;
    NULL_ARGUMENT(mlxrocm_device_count(NULL, &error));
    OK(mlxrocm_device_count(&count, &error));
    CHECK(count >= 1);
    NULL_ARGUMENT(mlxrocm_device_open(0, NULL, &error));
    EXPECT(MLXROCM_ERROR_NO_DEVICE, mlxrocm_device_open(count, &device, &error));
    EXPECT(MLXROCM_ERROR_NO_DEVICE, mlxrocm_device_open((size_t)-1, &device, &error));
    CHECK(device == UNTOUCHED);
    OK(mlxrocm_device_open(0, &cpu, &error));
    mlxrocm_device_info info = {0};
    INVALID(mlxrocm_device_get_info(cpu, &info, &error)); /* no struct_size */
    info.struct_size = 5;
    INVALID(mlxrocm_device_get_info(cpu, &info, &error));
    info.struct_size = sizeof info;
    NULL_ARGUMENT(mlxrocm_device_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_device_get_info(cpu, NULL, &error));
    OK(mlxrocm_device_get_info(cpu, &info, &error));
    CHECK(info.kind == MLXROCM_DEVICE_CPU && info.compute_units >= 1 && info.name[0]);
    CHECK(info.struct_size == sizeof info && info.memory_total >= info.memory_free);
    mlxrocm_device_free(cpu);
    INVALID(mlxrocm_device_get_info(cpu, &info, &error)); /* freed */
    mlxrocm_device_free(cpu);                             /* and freed again */
    INVALID(mlxrocm_device_get_info(NO_HANDLE, &info, &error));
    mlxrocm_device_free(NO_HANDLE);
    mlxrocm_device_free(NULL);

    INVALID(mlxrocm_log_set_callback(0, NULL, NULL, NULL, &error));
    INVALID(mlxrocm_log_set_callback(5, NULL, NULL, NULL, &error));
    OK(mlxrocm_log_set_callback(MLXROCM_LOG_WARN, NULL, NULL, NULL, &error));

    CHECK(mlxrocm_error_status(NULL) == MLXROCM_OK && mlxrocm_error_vendor_code(NULL) == 0);
    CHECK(mlxrocm_error_message(NULL, NULL)[0] == '\0');
    CHECK(mlxrocm_error_status(NO_HANDLE) == MLXROCM_ERROR_INVALID_ARGUMENT);
    CHECK(mlxrocm_error_message(NO_HANDLE, NULL)[0] == '\0' && mlxrocm_error_vendor_code(NO_HANDLE) == 0);
    mlxrocm_error_free(NULL);
    mlxrocm_error_free(NO_HANDLE);
    CHECK(mlxrocm_device_count(NULL, NULL) == MLXROCM_ERROR_NULL_ARGUMENT); /* error may be NULL */
    CHECK(strcmp(mlxrocm_status_name(MLXROCM_ERROR_IO, NULL), "MLXROCM_ERROR_IO") == 0);
    CHECK(strcmp(mlxrocm_status_name(-12345, NULL), "MLXROCM_STATUS_UNKNOWN") == 0);
}

static void files(void) {
    mlxrocm_model_file *file = UNTOUCHED;
    mlxrocm_tensor_info info = {0};
    NULL_ARGUMENT(mlxrocm_model_file_open(NULL, MLXROCM_NUL, &file, &error));
    NULL_ARGUMENT(mlxrocm_model_file_open(model_path, MLXROCM_NUL, NULL, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_IO, "/no/such/file: No such file or directory",
                   mlxrocm_model_file_open("/no/such/file", MLXROCM_NUL, &file, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_model_file_open("/dev/null", MLXROCM_NUL, &file, &error));
    CHECK(file == UNTOUCHED);
    OK(mlxrocm_model_file_open(model_path, MLXROCM_NUL, &file, &error));
    const size_t count = mlxrocm_model_file_tensor_count(file);
    CHECK(count > 0 && mlxrocm_model_file_tensor_count(NULL) == 0 && mlxrocm_model_file_tensor_count(NO_HANDLE) == 0);
    INVALID(mlxrocm_model_file_get_tensor(file, 0, &info, &error)); /* no struct_size */
    info.struct_size = sizeof info;
    NULL_ARGUMENT(mlxrocm_model_file_get_tensor(NULL, 0, &info, &error));
    NULL_ARGUMENT(mlxrocm_model_file_get_tensor(file, 0, NULL, &error));
    INVALID(mlxrocm_model_file_get_tensor(NO_HANDLE, 0, &info, &error));
    INVALID(mlxrocm_model_file_get_tensor(file, count, &info, &error));
    INVALID(mlxrocm_model_file_get_tensor(file, (size_t)-1, &info, &error));
    CHECK(info.name == NULL);
    for (size_t i = 0; i < count; i++) {
        OK(mlxrocm_model_file_get_tensor(file, i, &info, &error));
        CHECK(strlen(info.name) == info.name_length && strlen(info.format) == info.format_length);
        CHECK(info.struct_size == sizeof info && info.rank >= 1 && info.shape[info.rank - 1] > 0 && info.bytes > 0);
    }
    mlxrocm_model_file_free(file);
    INVALID(mlxrocm_model_file_get_tensor(file, 0, &info, &error)); /* freed */
    CHECK(mlxrocm_model_file_tensor_count(file) == 0);
    mlxrocm_model_file_free(file);
    mlxrocm_model_file_free(NO_HANDLE);
    mlxrocm_model_file_free(NULL);
}

static void loading(void) {
    mlxrocm_model *model = UNTOUCHED;
    mlxrocm_model_options options = {0};
    NULL_ARGUMENT(mlxrocm_model_load(NULL, MLXROCM_NUL, NULL, &model, &error));
    NULL_ARGUMENT(mlxrocm_model_load(model_path, MLXROCM_NUL, NULL, NULL, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_IO, "/no/such/file: No such file or directory",
                   mlxrocm_model_load("/no/such/file", MLXROCM_NUL, NULL, &model, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "path is empty",
                   mlxrocm_model_load("", MLXROCM_NUL, NULL, &model, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "path is empty",
                   mlxrocm_model_load(NULL, 0, NULL, &model, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_model_load("/\xff\xfe", MLXROCM_NUL, NULL, &model, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_model_load("/dev/null", MLXROCM_NUL, NULL, &model, &error));
    options.threads = 1; /* but no struct_size */
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "struct_size of mlxrocm_model_options is 0",
                   mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    options.struct_size = sizeof options - 1;
    INVALID(mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    options.struct_size = UINT32_MAX;
    INVALID(mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    options.struct_size = sizeof options;
    options.threads = UINT32_MAX;
    INVALID(mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    options.threads = 1;
    options.device = NO_HANDLE;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "options.device",
                   mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    mlxrocm_device *cpu = NULL;
    OK(mlxrocm_device_open(0, &cpu, &error));
    options.device = cpu;
    OK(mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    mlxrocm_device_free(cpu); /* the model keeps what it needs */
    mlxrocm_model_info facts = {.struct_size = sizeof facts};
    OK(mlxrocm_model_get_info(model, &facts, &error));
    mlxrocm_model_free(model);
    model = UNTOUCHED;
    INVALID(mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error)); /* freed */
    options.device = NULL;

    struct {
        mlxrocm_model_options options;
        uint64_t newer;
    } larger = {{0}, 1};
    larger.options.struct_size = sizeof larger;
    larger.options.threads = 1;
    EXPECT(MLXROCM_ERROR_UNSUPPORTED,
           mlxrocm_model_load(model_path, MLXROCM_NUL, &larger.options, &model, &error));
    CHECK(model == UNTOUCHED);
    larger.newer = 0; /* a newer program that asks for nothing new */
    OK(mlxrocm_model_load(model_path, MLXROCM_NUL, &larger.options, &model, &error));
    mlxrocm_model_free(model);
    memset(&options, 0, sizeof options); /* all zero is NULL */
    OK(mlxrocm_model_load(model_path, MLXROCM_NUL, &options, &model, &error));
    mlxrocm_model_free(model);
    mlxrocm_model_free(NULL);
}

static void quantizing(void) {
    mlxrocm_quantize_options options = {.struct_size = sizeof options};
    mlxrocm_quantize_result result = {0};
    const char *const rules[] = {"*=3", "lm_head"}, *const none[] = {NULL};
    const char *target = "/no/such/folder/target";
    NULL_ARGUMENT(mlxrocm_model_quantize(NULL, MLXROCM_NUL, target, MLXROCM_NUL, NULL, NULL, &error));
    NULL_ARGUMENT(mlxrocm_model_quantize(model_path, MLXROCM_NUL, NULL, MLXROCM_NUL, NULL, NULL, &error));
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, NULL, &result, &error)); /* no struct_size */
    result.struct_size = sizeof result;
    EXPECT_MESSAGE(MLXROCM_ERROR_IO, "/no/such/file: No such file or directory",
                   mlxrocm_model_quantize("/no/such/file", MLXROCM_NUL, target, MLXROCM_NUL, NULL, &result, &error));
    CHECK(result.files == 0 && result.bytes == 0);
    options.bits = 7;
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.bits = 4;
    options.group_size = 48;
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.group_size = 0;
    options.threads = 1025;
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.threads = 0;
    options.mode = "int4";
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.mode = "\xff";
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.mode = NULL;
    options.dtype = "float8";
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.dtype = NULL;
    options.rules_count = 2;
    NULL_ARGUMENT(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.rules = rules;
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.rules = none;
    options.rules_count = 1;
    NULL_ARGUMENT(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
    options.struct_size = 8;
    INVALID(mlxrocm_model_quantize(model_path, MLXROCM_NUL, target, MLXROCM_NUL, &options, NULL, &error));
}

static void text(const mlxrocm_model *model) {
    mlxrocm_tokenizer *tokenizer = UNTOUCHED;
    NULL_ARGUMENT(mlxrocm_model_get_tokenizer(NULL, &tokenizer, &error));
    NULL_ARGUMENT(mlxrocm_model_get_tokenizer(model, NULL, &error));
    INVALID(mlxrocm_model_get_tokenizer(NO_HANDLE, &tokenizer, &error));
    CHECK(tokenizer == UNTOUCHED);
    OK(mlxrocm_model_get_tokenizer(model, &tokenizer, &error));
    /* A handle of another type. */
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "mlxrocm_tokenizer",
                   mlxrocm_model_get_tokenizer((const void *)tokenizer, &tokenizer, &error));
    mlxrocm_model_free((void *)tokenizer); /* is ignored */

    mlxrocm_tokenizer_info info = {0};
    info.struct_size = sizeof info;
    NULL_ARGUMENT(mlxrocm_tokenizer_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_get_info(tokenizer, NULL, &error));
    OK(mlxrocm_tokenizer_get_info(tokenizer, &info, &error));
    CHECK(info.vocab_size > 256);

    uint32_t tokens[8] = {0}, value = 77;
    size_t needed = 77;
    NULL_ARGUMENT(mlxrocm_tokenizer_encode(NULL, "a", 1, 0, tokens, 8, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_encode(tokenizer, NULL, 1, 0, tokens, 8, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_encode(tokenizer, "a", 1, 0, NULL, 8, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_encode(tokenizer, "a", 1, 0, tokens, 0, NULL, &error));
    INVALID(mlxrocm_tokenizer_encode(tokenizer, "a", 1, 4, tokens, 8, &needed, &error));
    INVALID(mlxrocm_tokenizer_encode(tokenizer, "a", (size_t)-2, 0, tokens, 8, &needed, &error));
    CHECK(needed == 77);
    OK(mlxrocm_tokenizer_encode(tokenizer, NULL, 0, 0, tokens, 8, &needed, &error));
    CHECK(needed == 0);

    char room[64];
    NULL_ARGUMENT(mlxrocm_tokenizer_decode(NULL, tokens, 1, 0, room, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_decode(tokenizer, NULL, 1, 0, room, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_decode(tokenizer, tokens, 1, 0, NULL, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_decode(tokenizer, tokens, 1, 0, room, 0, NULL, &error));
    INVALID(mlxrocm_tokenizer_decode(tokenizer, tokens, 1, 2, room, 64, &needed, &error));
    INVALID(mlxrocm_tokenizer_decode(tokenizer, tokens, (size_t)-1, 0, room, 64, &needed, &error));
    value = info.vocab_size;
    INVALID(mlxrocm_tokenizer_decode(tokenizer, &value, 1, 0, room, 64, &needed, &error));

    NULL_ARGUMENT(mlxrocm_tokenizer_token_bytes(NULL, 1, room, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_token_bytes(tokenizer, 1, NULL, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_token_bytes(tokenizer, 1, NULL, 0, NULL, &error));
    INVALID(mlxrocm_tokenizer_token_bytes(tokenizer, UINT32_MAX, room, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_find_token(NULL, "a", MLXROCM_NUL, &value, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_find_token(tokenizer, NULL, MLXROCM_NUL, &value, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_find_token(tokenizer, "a", MLXROCM_NUL, NULL, &error));
    INVALID(mlxrocm_tokenizer_find_token(tokenizer, "\xff", MLXROCM_NUL, &value, &error));
    OK(mlxrocm_tokenizer_find_token(tokenizer, "no such token", MLXROCM_NUL, &value, &error));
    CHECK(value == MLXROCM_NO_TOKEN);
    NULL_ARGUMENT(mlxrocm_tokenizer_is_special(NULL, 1, &value, &error));
    NULL_ARGUMENT(mlxrocm_tokenizer_is_special(tokenizer, 1, NULL, &error));
    INVALID(mlxrocm_tokenizer_is_special(tokenizer, info.vocab_size, &value, &error));
    mlxrocm_tokenizer_free(tokenizer);
    mlxrocm_tokenizer_free(tokenizer); /* twice */
    mlxrocm_tokenizer_free(NULL);
    INVALID(mlxrocm_tokenizer_get_info(tokenizer, &info, &error));

    mlxrocm_chat_template *chat = NULL;
    NULL_ARGUMENT(mlxrocm_model_get_chat_template(NULL, &chat, &error));
    NULL_ARGUMENT(mlxrocm_model_get_chat_template(model, NULL, &error));
    OK(mlxrocm_model_get_chat_template(model, &chat, &error));
    mlxrocm_message messages[2] = {{.role = "user", .content = "hi"}, {.content = "x"}};
    NULL_ARGUMENT(mlxrocm_chat_template_render(NULL, messages, 1, 0, NULL, MLXROCM_NUL, room, 64, &needed,
                                               &error));
    NULL_ARGUMENT(mlxrocm_chat_template_render(chat, NULL, 1, 0, NULL, MLXROCM_NUL, room, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_chat_template_render(chat, messages, 2, 0, NULL, MLXROCM_NUL, room, 64, &needed,
                                               &error));
    NULL_ARGUMENT(mlxrocm_chat_template_render(chat, messages, 1, 0, NULL, MLXROCM_NUL, NULL, 64, &needed,
                                               &error));
    NULL_ARGUMENT(mlxrocm_chat_template_render(chat, messages, 1, 0, NULL, MLXROCM_NUL, room, 0, NULL, &error));
    INVALID(mlxrocm_chat_template_render(chat, messages, 1, 2, NULL, MLXROCM_NUL, room, 64, &needed, &error));
    INVALID(mlxrocm_chat_template_render(chat, messages, 1, 0, "not json", MLXROCM_NUL, room, 64, &needed,
                                         &error));
    NULL_ARGUMENT(mlxrocm_chat_template_source(NULL, room, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_chat_template_source(chat, NULL, 64, &needed, &error));
    NULL_ARGUMENT(mlxrocm_chat_template_source(chat, NULL, 0, NULL, &error));
    mlxrocm_chat_template_free(chat);
    mlxrocm_chat_template_free(NULL);
    chat = UNTOUCHED;
    NULL_ARGUMENT(mlxrocm_chat_template_new(NULL, MLXROCM_NUL, NULL, MLXROCM_NUL, NULL, MLXROCM_NUL, &chat,
                                            &error));
    NULL_ARGUMENT(mlxrocm_chat_template_new("x", MLXROCM_NUL, NULL, MLXROCM_NUL, NULL, MLXROCM_NUL, NULL,
                                            &error));
    INVALID(mlxrocm_chat_template_new("\xff", MLXROCM_NUL, NULL, MLXROCM_NUL, NULL, MLXROCM_NUL, &chat,
                                      &error));
    mlxrocm_error *error = NULL;
    CHECK(mlxrocm_chat_template_new("{% if %}", MLXROCM_NUL, NULL, MLXROCM_NUL, NULL, MLXROCM_NUL, &chat,
                                    &error) < 0 && error);
    mlxrocm_error_free(error);
    CHECK(chat == UNTOUCHED);
}

static void sessions(const mlxrocm_model *model) {
    mlxrocm_session *session = UNTOUCHED;
    mlxrocm_session_options options = {0};
    NULL_ARGUMENT(mlxrocm_session_new(NULL, NULL, &session, &error));
    NULL_ARGUMENT(mlxrocm_session_new(model, NULL, NULL, &error));
    /* A field that came later than the struct, and its size is forgotten. */
    options.kv_type = MLXROCM_KV_Q4;
    INVALID(mlxrocm_session_new(model, &options, &session, &error));
    options.struct_size = 1;
    INVALID(mlxrocm_session_new(model, &options, &session, &error));
    options.struct_size = sizeof options;
    options.max_requests = 1025;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "max_requests is 1025",
                   mlxrocm_session_new(model, &options, &session, &error));
    options.max_requests = 0;
    options.kv_type = 3;
    INVALID(mlxrocm_session_new(model, &options, &session, &error));
    CHECK(session == UNTOUCHED);
    session = session_of(model);

    mlxrocm_session_info info = {0};
    INVALID(mlxrocm_session_get_info(session, &info, &error)); /* no struct_size */
    info.struct_size = sizeof info;
    NULL_ARGUMENT(mlxrocm_session_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_session_get_info(session, NULL, &error));
    OK(mlxrocm_session_get_info(session, &info, &error));
    CHECK(info.context == 256 && info.kv_tokens >= 256 && info.running == 0 && info.waiting == 0);

    uint32_t tokens[4] = {1, 2, 3, UINT32_MAX};
    float value;
    size_t needed;
    NULL_ARGUMENT(mlxrocm_session_logits(NULL, tokens, 1, &value, 1, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_logits(session, NULL, 1, &value, 1, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_logits(session, tokens, 1, NULL, 1, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_logits(session, tokens, 1, NULL, 0, NULL, &error));
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_session_logits(session, tokens, 1, &value, 1, &needed, &error));
    CHECK(needed > 256);
    /* More tokens than the context has: whatever the room is, and without looking at them. */
    const uint32_t at[] = {0};
    const size_t counts[] = {257, (size_t)1 << 30, (size_t)1 << 60};
    for (size_t i = 0; i < 2 * (sizeof counts / sizeof *counts); i++) {
        const size_t count = counts[i / 2], room = i % 2; /* 0: measuring */
        needed = 77;
        EXPECT(MLXROCM_ERROR_CONTEXT_FULL,
               mlxrocm_session_logits(session, tokens, count, &value, room, &needed, &error));
        EXPECT(MLXROCM_ERROR_CONTEXT_FULL,
               mlxrocm_session_logits_at(session, tokens, count, at, 1, &value, room, &needed, &error));
        EXPECT(MLXROCM_ERROR_CONTEXT_FULL,
               mlxrocm_session_embed(session, tokens, count, NULL, &value, room, &needed, &error));
        EXPECT(MLXROCM_ERROR_CONTEXT_FULL, mlxrocm_session_save_state(session, tokens, count, (uint8_t *)&value, room,
                                                                      &needed, &error));
        CHECK(needed == 77);
    }
    INVALID(mlxrocm_session_logits(session, tokens, 0, NULL, 0, &needed, &error));

    mlxrocm_generation *generation = UNTOUCHED;
    mlxrocm_request request = {0};
    request.struct_size = sizeof request;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error)); /* no prompt */
    request.text = "a";
    NULL_ARGUMENT(mlxrocm_session_submit(NULL, &request, &generation, &error));
    NULL_ARGUMENT(mlxrocm_session_submit(session, NULL, &generation, &error));
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, NULL, &error));
    request.flags = 2;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.flags = 0;
    request.token_count = 1; /* two prompts */
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.text = NULL; /* one, but without its pointer */
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, &generation, &error));
    request.token_count = 0;
    request.text = "a";
    request.chat_json = "{\"messages\": []}"; /* two prompts */
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.text = NULL;
    const char *const chats[] = {"", "{}", "{\"messages\": []}", "{\"messages\": [{}]}", "{\"messages\": [", "\xff"};
    for (size_t i = 0; i < sizeof chats / sizeof *chats; i++) {
        request.chat_json = chats[i];
        INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    }
    const mlxrocm_message message = {.role = "user", .content = "a"};
    request.messages = &message;
    request.message_count = 1;
    request.chat_json = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}"; /* given twice */
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    const mlxrocm_message half[] = {message, {.role = "user"}};
    request.messages = half;
    request.message_count = 2;
    request.chat_json = NULL;
    EXPECT_MESSAGE(MLXROCM_ERROR_NULL_ARGUMENT, "messages[1].content must not be NULL",
                   mlxrocm_session_submit(session, &request, &generation, &error));
    request.message_count = 0;
    request.chat_json = NULL;
    request.token_count = 1;
    request.tokens = tokens + 3; /* a token that does not exist */
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.tokens = tokens;
    const char *stop[1] = {NULL};
    request.stop_count = 1;
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, &generation, &error));
    request.stop = stop;
    EXPECT_MESSAGE(MLXROCM_ERROR_NULL_ARGUMENT, "stop[0]",
                   mlxrocm_session_submit(session, &request, &generation, &error));
    stop[0] = "\xff";
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "stop[0] is not valid UTF-8",
                   mlxrocm_session_submit(session, &request, &generation, &error));
    request.stop_count = 0;
    request.stop_token_count = 1;
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, &generation, &error));
    request.stop_token_count = 0;
    request.bias_count = 1;
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, &generation, &error));
    request.bias_tokens = tokens + 2;
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, &generation, &error));
    const float biases[] = {-1.0f, 1e300 * 1e300};
    request.bias_values = biases;
    request.bias_count = 2;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "bias_tokens[1] is token 4294967295",
                   mlxrocm_session_submit(session, &request, &generation, &error));
    request.bias_tokens = tokens;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "bias_values[1] of token 2 is inf",
                   mlxrocm_session_submit(session, &request, &generation, &error));
    request.bias_count = 0;
    request.temperature = -1.0f;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.temperature = 0.0f;
    request.top_p = 1.5f;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.top_p = 0.0f;
    request.logprobs = 21;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    request.logprobs = 0;
    request.struct_size = 0;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(generation == UNTOUCHED);

    generation = submit_text(session, "a", 2);
    mlxrocm_event event = {0};
    INVALID(mlxrocm_generation_next(generation, -1, &event, &error)); /* no struct_size */
    event.struct_size = sizeof event;
    NULL_ARGUMENT(mlxrocm_generation_next(NULL, -1, &event, &error));
    NULL_ARGUMENT(mlxrocm_generation_next(generation, -1, NULL, &error));
    INVALID(mlxrocm_generation_next((void *)session, -1, &event, &error));
    NULL_ARGUMENT(mlxrocm_generation_cancel(NULL, &error));
    INVALID(mlxrocm_generation_cancel(NO_HANDLE, &error));
    mlxrocm_generation_free(generation);
    mlxrocm_generation_free(generation);
    INVALID(mlxrocm_generation_next(generation, -1, &event, &error));
    INVALID(mlxrocm_generation_cancel(generation, &error));
    mlxrocm_session_free(session);
    mlxrocm_session_free(session);
    mlxrocm_session_free(NULL);
    mlxrocm_generation_free(NULL);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    model_path = argv[1];
    without_model();
    files();
    loading();
    quantizing();
    mlxrocm_model *model = load(model_path);
    mlxrocm_model_info info = {0};
    info.struct_size = sizeof info;
    NULL_ARGUMENT(mlxrocm_model_get_info(NULL, &info, &error));
    NULL_ARGUMENT(mlxrocm_model_get_info(model, NULL, &error));
    OK(mlxrocm_model_get_info(model, &info, &error));
    CHECK(info.layers > 0 && info.vocab_size > 256 && info.family[0] && info.name[0]);
    text(model);
    sessions(model);
    mlxrocm_model_free(model);
    INVALID(mlxrocm_model_get_info(model, &info, &error));
    return 0;
}
